/* Pages of fitted models: what they contain, which arguments are refused, and that a file is
 * written completely or not at all. */
#include "pages.h"

#include <unistd.h>

static void test_defaults(void **state) {
    fixture *f = *state;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *shrunk = find_block(data, "path"), *views = find_block(data, "views");
    assert_string_equal(text_of(data, "title"), "spectral shrunk clustering");
    assert_string_equal(text_of(data, "subtitle"), "clustering");
    assert_int_equal(json_array_size(json_object_get(views, "views")), 3);
    assert_true(json_array_size(json_object_get(shrunk, "levels")) >= 12);
    assert_null(find_block(data, "confusion"));
    assert_null(find_block(data, "sheet"));
    assert_null(find_block(data, "command"));
    json_decref(data);
}

static void test_options(void **state) {
    static const char *const names[] = {"first", "second", "</script>"};
    static const huddle_report_command commands[] = {{"As given", "make clusters"}};
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    options.title = "A & <B>";
    options.source = "points.csv";
    options.classes = f->classes;
    options.n_classes = CLUSTERS;
    options.class_names = names;
    options.image_height = options.image_width = 2;
    options.follow_path = false;
    options.commands = commands;
    options.n_commands = 1;
    options.details = "{\"warnings\": [\"from the caller\"], \"extra\": 7}";
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    char *text = read_page(f);
    assert_non_null(strstr(text, "<title>A &amp; &lt;B> "));
    free(text);
    json_t *data = read_data(f);
    const json_t *report = json_object_get(find_block(data, "summary"), "report");
    assert_string_equal(text_of(data, "title"), "A & <B>");
    assert_string_equal(text_of(data, "subtitle"), "clustering of points.csv");
    assert_string_equal(text_of(report, "file"), "points.csv");
    assert_int_equal(json_integer_value(json_object_get(report, "extra")), 7);
    assert_close(json_number_value(json_object_get(json_object_get(report, "scores"), "acc")), 1,
                 1e-12);
    const json_t *classes = json_object_get(find_block(data, "confusion"), "classes");
    assert_string_equal(json_string_value(json_array_get(classes, 2)), "</script>");
    const json_t *warnings = json_object_get(find_block(data, "warnings"), "warnings");
    assert_string_equal(json_string_value(json_array_get(warnings, 0)), "from the caller");
    assert_int_equal(json_integer_value(json_object_get(find_block(data, "sheet"), "width")), 2);
    assert_non_null(find_block(data, "command"));
    assert_null(find_block(data, "path"));
    json_decref(data);
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* Two-dimensional points are shown by their own coordinates, to 16 bits. */
static void test_coordinates(void **state) {
    fixture *f = *state;
    huddle_model *model = NULL;
    huddle_points plane = {.n = N, .d = 2, .stride = D, .values = f->values};
    unsigned char index[4 * N + 4], steps[4 * N + 4];
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &plane));
    assert_ok(huddle_report_write(NULL, model, &plane, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *points = json_object_get(json_object_get(data, "shared"), "points");
    const json_t *view = json_array_get(json_object_get(find_block(data, "views"), "views"), 0);
    assert_int_equal(decode_bytes(text_of(points, "index"), index), 4 * N);
    assert_int_equal(decode_bytes(text_of(view, "data"), steps), 4 * N);
    double span = json_number_value(json_object_get(view, "span"));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2; j++) {
            int step = steps[4 * i + 2 * j] | steps[4 * i + 2 * j + 1] << 8;
            double low = json_number_value(json_array_get(json_object_get(view, "low"), (size_t)j));
            assert_close(low + span * step / 65535, f->values[int32_at(index, i) * D + j], 2e-4);
        }
    json_decref(data);
    huddle_model_free(model);
}

/* All principal components together have all of the variance; images range from black to white
 * over the whole sample. */
static void test_shares_and_images(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    unsigned char index[4 * N + 4], shades[N * D + 4];
    double total = 0, black = f->values[0], white = f->values[0];
    options.image_height = options.image_width = 2;
    options.image_column_major = true;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *view = json_array_get(json_object_get(find_block(data, "views"), "views"), 0);
    for (size_t k = 0; k < json_array_size(json_object_get(view, "share")); k++)
        total += json_number_value(json_array_get(json_object_get(view, "share"), k));
    assert_close(total, 1, 1e-6);

    const json_t *points = json_object_get(json_object_get(data, "shared"), "points");
    assert_int_equal(decode_bytes(text_of(points, "index"), index), 4 * N);
    assert_int_equal(decode_bytes(text_of(json_object_get(points, "thumbs"), "data"), shades),
                     N * D);
    for (int i = 0; i < N * D; i++) {
        black = f->values[i] < black ? f->values[i] : black;
        white = f->values[i] > white ? f->values[i] : white;
    }
    static const int pixel_of[D] = {0, 2, 1, 3}; /* column by column */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            double shade = 255 * (f->values[int32_at(index, i) * D + j] - black) / (white - black);
            assert_in_range((int)(shade - shades[i * D + pixel_of[j]] + 100.5), 99, 101);
        }
    json_decref(data);
}

/* The gamma of the run is one of the levels. The groups overlap, so that it lies between both ends
 * of the path. */
static void test_levels(void **state) {
    fixture *f = *state;
    float values[N * D];
    huddle_points x = {.n = N, .d = D, .stride = D, .values = values};
    huddle_model *model = fit_overlapping(f, values);
    assert_ok(huddle_report_write(NULL, model, &x, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *path = find_block(data, "path"), *levels = json_object_get(path, "levels");
    double used = json_number_value(json_object_get(path, "used"));
    size_t below = 0, equal = 0, count = json_array_size(levels);
    for (size_t k = 0; k < count; k++) {
        double gamma = json_number_value(json_object_get(json_array_get(levels, k), "gamma"));
        below += gamma < used;
        equal += gamma == used;
    }
    assert_close(used, (double)N / CLUSTERS, 1e-12);
    assert_int_equal(equal, 1);
    assert_true(below > 1 && below + 2 < count);
    json_decref(data);
    huddle_model_free(model);
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* The model as it comes back from a file. */
static huddle_model *reload_model(const fixture *f) {
    char saved[512];
    huddle_model *loaded = NULL;
    snprintf(saved, sizeof saved, "%s/model", test_directory());
    assert_ok(huddle_model_save(f->model, saved));
    assert_ok(huddle_model_load(saved, &loaded));
    return loaded;
}

/* Without the points a page has what the model itself keeps. */
static void test_without_points(void **state) {
    fixture *f = *state;
    huddle_model *loaded = reload_model(f);
    huddle_report_options options = huddle_report_defaults();
    options.image_height = options.image_width = 2;
    assert_ok(huddle_report_write(NULL, loaded, NULL, &options, f->page));
    json_t *data = read_data(f);
    assert_non_null(find_block(data, "views"));
    assert_non_null(find_block(data, "path"));
    assert_null(find_block(data, "sheet"));
    json_decref(data);
    huddle_model_free(loaded);
}

/* The page is refused with a message that contains `part`, and no file is written. */
static void assert_refused_page(const fixture *f, const huddle_model *model, const huddle_points *x,
                                const huddle_report_options *options, const char *part) {
    (void)unlink(f->page);
    assert_refused(huddle_report_write(NULL, model, x, options, f->page), HUDDLE_INVALID, part);
    assert_int_not_equal(access(f->page, F_OK), 0);
}

static void test_arguments(void **state) {
    fixture *f = *state;
    huddle_model *unfitted = NULL;
    huddle_points fewer = f->x, wider = f->x;
    huddle_report_options options = huddle_report_defaults();
    assert_ok(huddle_model_new("kmeans", &unfitted));
    assert_refused_page(f, unfitted, &f->x, NULL, "not fitted");
    huddle_model_free(unfitted);
    assert_refused_page(f, NULL, &f->x, NULL, "needs a model");
    fewer.n = N - 1;
    assert_refused_page(f, f->model, &fewer, NULL, "59 points, but the model was fitted to 60");
    wider.d = D - 1;
    assert_refused_page(f, f->model, &wider, NULL, "3 features, but the model was fitted to 4");
    options.image_height = 2;
    options.image_width = 3;
    assert_refused_page(f, f->model, &f->x, &options, "2 x 3 pixels");
    options = huddle_report_defaults();
    options.classes = f->classes;
    options.n_classes = 2;
    assert_refused_page(f, f->model, &f->x, &options, "class 2 of point 2 is outside [0, 1]");
    options = huddle_report_defaults();
    options.details = "{oops";
    assert_refused_page(f, f->model, &f->x, &options, "not a JSON object");
    options.details = "[1]";
    assert_refused_page(f, f->model, &f->x, &options, "not a JSON object");
    assert_refused(huddle_report_write(NULL, f->model, &f->x, NULL, "/absent/page.html"), HUDDLE_IO,
                   "/absent");
}

/* ---- cancelling --------------------------------------------------------------------------- */

static int stop_at_stage(void *user, const char *stage, double done, double total) {
    (void)done;
    (void)total;
    return strcmp(stage, user) == 0;
}

/* The file of an earlier page stays as it is. */
static void test_cancelled(void **state) {
    static char stages[][10] = {"prepare", "report"};
    fixture *f = *state;
    huddle_context *context = NULL;
    FILE *file = fopen(f->page, "wb");
    assert_non_null(file);
    fputs("earlier", file);
    fclose(file);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, stop_at_stage, stages[i]);
        assert_refused(huddle_report_write(context, f->model, &f->x, NULL, f->page),
                       HUDDLE_CANCELLED, "cancelled");
        huddle_context_free(context);
        char *text = read_page(f);
        assert_string_equal(text, "earlier");
        free(text);
    }
}

/* ---- memory ------------------------------------------------------------------------------- */

static huddle_status write_page(void *argument) {
    fixture *f = argument;
    huddle_report_options options = huddle_report_defaults();
    options.classes = f->classes;
    options.n_classes = CLUSTERS;
    options.image_height = options.image_width = 2;
    options.follow_path = false;
    (void)unlink(f->page);
    return huddle_report_write(NULL, f->model, &f->x, &options, f->page);
}

static void test_allocations_of_the_library(void **state) {
    test_each_allocation(write_page, *state);
}

/* jansson's allocations: number `failing` of them fails, counted from 0. */
static long n_allocated, failing = -1;

static void *allocate(size_t size) {
    return n_allocated++ == failing ? NULL : malloc(size);
}

/* How many allocations come before the page is filled: a page of images of another size is refused
 * there. They include the parsing of the model's info, where jansson 2.14 itself writes beyond its
 * buffer when it has no memory. */
static long count_first_allocations(const fixture *f) {
    huddle_report_options options = huddle_report_defaults();
    options.image_height = options.image_width = 3;
    n_allocated = 0;
    assert_refused_page(f, f->model, &f->x, &options, "3 x 3 pixels");
    return n_allocated;
}

/* Whichever allocation of jansson fails, there is an error and no file, or a complete page. The
 * model is a loaded one, whose info is text that is not built again. */
static void test_allocations_of_json(void **state) {
    fixture *f = *state, other = *f;
    other.model = reload_model(f);
    f = &other;
    json_set_alloc_funcs(allocate, free);
    n_allocated = 0;
    assert_ok(write_page(f));
    char *whole = read_page(f), *text = NULL;
    long count = n_allocated, first = count_first_allocations(f), refused = 0;
    for (long k = first; k < count; k++) {
        n_allocated = 0;
        failing = k;
        huddle_status status = write_page(f);
        failing = -1;
        text = read_page(f);
        if (status == HUDDLE_OK)
            assert_string_equal(text, whole);
        else
            assert_null(text);
        refused += status == HUDDLE_NO_MEMORY;
        free(text);
    }
    json_set_alloc_funcs(malloc, free);
    free(whole);
    huddle_model_free(other.model);
    assert_true(refused > 100);
}

/* ---- the page of a path ------------------------------------------------------------------- */

/* A page of a path to write. */
typedef struct path_page {
    fixture *f;
    huddle_report_walk walk;
} path_page;

static huddle_status write_path_page(void *argument) {
    path_page *p = argument;
    (void)unlink(p->f->page);
    return huddle_report_write_path(NULL, p->f->model, &p->f->x, &p->walk, NULL, p->f->page);
}

static huddle_status write_path_json(void *argument) {
    path_page *p = argument;
    char *text = NULL;
    huddle_status status = huddle_report_path_json(p->f->model, &p->walk, &text);
    assert_int_equal(status == HUDDLE_OK, text != NULL);
    huddle_free(text);
    return status;
}

/* The JSON of a path is that of its page. */
static void check_path_json(fixture *f, const huddle_report_walk *walk) {
    char *text = NULL;
    assert_ok(huddle_report_path_json(f->model, walk, &text));
    json_t *info = json_loads(text, 0, NULL), *data = read_data(f);
    const json_t *shown = json_object_get(find_block(data, "walk"), "report");
    static const char *const members[] = {"n", "d", "n_clusters", "fusions"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        assert_true(
            json_equal(json_object_get(info, members[i]), json_object_get(shown, members[i])));
    const json_t *level = json_array_get(json_object_get(info, "levels"), 6);
    assert_true(json_number_value(json_object_get(level, "gamma")) == walk->path->levels[6].gamma);
    assert_true(json_number_value(json_object_get(level, "dual")) == walk->path->levels[6].dual);
    json_decref(data);
    json_decref(info);
    huddle_free(text);
    test_each_allocation(write_path_json, &(path_page){f, *walk});
}

static void test_path(void **state) {
    fixture *f = *state;
    huddle_path path = {0};
    int32_t labels[N];
    char *text;
    huddle_report_walk walk;
    make_walk(f, 7, &path, labels, &walk);
    assert_ok(huddle_report_write_path(NULL, f->model, &f->x, &walk, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *report = json_object_get(find_block(data, "walk"), "report");
    assert_int_equal(json_array_size(json_object_get(report, "levels")), 7);
    assert_close(json_number_value(json_object_get(json_object_get(report, "seconds"), "path")),
                 0.5, 1e-12);
    assert_non_null(find_block(data, "tree"));
    assert_non_null(find_block(data, "path"));
    json_decref(data);
    test_each_allocation(write_path_page, &(path_page){f, walk});
    check_path_json(f, &walk);
    (void)unlink(f->page);
    labels[5] = CLUSTERS;
    assert_refused(huddle_report_write_path(NULL, f->model, &f->x, &walk, NULL, f->page),
                   HUDDLE_INVALID, "label 3 of point 5 is outside [0, 2]");
    assert_refused(huddle_report_path_json(f->model, &walk, &text), HUDDLE_INVALID,
                   "label 3 of point 5 is outside [0, 2]");
    assert_null(text);
    path.n = N - 1;
    assert_refused(huddle_report_write_path(NULL, f->model, &f->x, &walk, NULL, f->page),
                   HUDDLE_INVALID, "a path of 59 points, but the model was fitted to 60");
    path.n = N;
    assert_int_not_equal(access(f->page, F_OK), 0);
    huddle_path_free(&path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_options),
                                       cmocka_unit_test(test_coordinates),
                                       cmocka_unit_test(test_shares_and_images),
                                       cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_without_points),
                                       cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_cancelled),
                                       cmocka_unit_test(test_allocations_of_the_library),
                                       cmocka_unit_test(test_allocations_of_json),
                                       cmocka_unit_test(test_path)};
    return cmocka_run_group_tests_name("report", tests, set_up, tear_down);
}
