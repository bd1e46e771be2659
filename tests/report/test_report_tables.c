/* Tables and lists of a page against plain counts: clusters and classes, the sample, convergence,
 * times, options and the ends of the path. */
#include "pages.h"

#include <huddle/shrink.h>

#include <math.h>

/* The last cluster has no class of its own: points 0, 3, 6, ... are of class 1, of the others some
 * are of class 0. */
static void mix_classes(int32_t classes[N]) {
    for (int i = 0; i < N; i++)
        classes[i] = i % CLUSTERS == 0 ? 1 : i % CLUSTERS == 1 ? 2 : i % 4 == 0 ? 1 : 0;
}

static int count_both(const int32_t *labels, int32_t label, const int32_t *classes, int32_t class) {
    int count = 0;
    for (int i = 0; i < N; i++)
        count += labels[i] == label && classes[i] == class;
    return count;
}

/* The size of each cluster, its most frequent class and that class's share. */
static void check_clusters(const json_t *data, const int32_t *labels, const int32_t *classes) {
    const json_t *rows = json_object_get(find_block(data, "clusters"), "rows");
    assert_int_equal(json_array_size(rows), CLUSTERS);
    for (int32_t k = 0; k < CLUSTERS; k++) {
        const json_t *row = json_array_get(rows, (size_t)k);
        int total = 0, best = 0;
        for (int32_t c = 0; c < CLUSTERS; c++) {
            int count = count_both(labels, k, classes, c);
            total += count;
            best = count > best ? count : best;
        }
        int32_t main = (int32_t)json_integer_value(json_object_get(row, "class_number"));
        assert_int_equal(json_integer_value(json_object_get(row, "size")), total);
        assert_int_equal(count_both(labels, k, classes, main), best);
        assert_close(json_number_value(json_object_get(row, "share")), (double)best / total, 1e-6);
    }
}

/* Counts of classes and clusters, the clusters in the order of the classes that they match. */
static void check_confusion(const json_t *data, const int32_t *labels, const int32_t *classes) {
    const json_t *block = find_block(data, "confusion");
    const json_t *clusters = json_object_get(block, "clusters");
    const json_t *counts = json_object_get(block, "counts");
    assert_int_equal(json_array_size(clusters), CLUSTERS);
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < CLUSTERS; j++) {
            int32_t cluster = (int32_t)json_integer_value(json_array_get(clusters, j));
            int64_t count = json_integer_value(json_array_get(json_array_get(counts, c), j));
            assert_int_equal(count, count_both(labels, cluster, classes, (int32_t)c));
            assert_true(c != j || count > N / 6);
        }
}

static void test_classes(void **state) {
    fixture *f = *state;
    int32_t classes[N];
    huddle_report_options options = huddle_report_defaults();
    const int32_t *labels = huddle_model_labels(f->model, NULL);
    mix_classes(classes);
    options.follow_path = false;
    options.classes = classes;
    options.n_classes = CLUSTERS;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    check_clusters(data, labels, classes);
    check_confusion(data, labels, classes);
    json_decref(data);
}

/* Every row is in the sample once, and the first 24 are eight of each cluster. */
static void test_sample(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    const int32_t *labels = huddle_model_labels(f->model, NULL);
    unsigned char index[4 * N + 4];
    int seen[N] = {0}, sizes[CLUSTERS] = {0}, moved = 0;
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *points = json_object_get(json_object_get(data, "shared"), "points");
    assert_int_equal(decode_bytes(text_of(points, "index"), index), 4 * N);
    for (int i = 0; i < N; i++) {
        int32_t row = int32_at(index, i);
        assert_in_range(row, 0, N - 1);
        assert_int_equal(seen[row]++, 0);
        moved += row != i;
        if (i < 8 * CLUSTERS)
            sizes[labels[row]]++;
    }
    assert_true(moved > N / 2);
    for (int k = 0; k < CLUSTERS; k++)
        assert_int_equal(sizes[k], 8);
    json_decref(data);
}

/* The history of the objective and of the bound, as the model has them; groups that overlap, so
 * that there are several steps. */
static void test_convergence(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"objective", "dual"};
    float values[N * D];
    huddle_points x = {.n = N, .d = D, .stride = D, .values = values};
    huddle_model *model = NULL;
    huddle_report_options options = huddle_report_defaults();
    for (int i = 0; i < N * D; i++)
        values[i] = f->values[i] - (i / D % CLUSTERS == i % D ? 9.0f : 0.0f);
    options.follow_path = false;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_report_write(NULL, model, &x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *block = find_block(data, "convergence");
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(block, names[k]);
        huddle_array array;
        assert_ok(huddle_model_array(model, names[k], &array));
        assert_true(array.rows >= 2);
        assert_int_equal(json_array_size(list), array.rows);
        for (int64_t i = 0; i < array.rows; i++) {
            double expected = ((const double *)array.values)[i * array.stride];
            if (isfinite(expected))
                assert_close(json_number_value(json_array_get(list, (size_t)i)), expected,
                             1e-6 * fabs(expected));
            else
                assert_true(json_is_null(json_array_get(list, (size_t)i)));
        }
    }
    json_decref(data);
    huddle_model_free(model);
}

/* The rows of the table of options that have this name. */
static int count_options(const json_t *data, const char *name) {
    const json_t *blocks = json_object_get(find_section(data, "repeat"), "blocks");
    const json_t *rows =
        json_object_get(json_array_get(blocks, json_array_size(blocks) - 1), "rows");
    int count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        count += strcmp(json_string_value(json_array_get(json_array_get(rows, i), 0)), name) == 0;
    return count;
}

/* A bar for each stage but not for the total, and a row for each option. */
static void test_repeat(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *report = json_object_get(find_block(data, "summary"), "report");
    const json_t *seconds = json_object_get(report, "seconds");
    const json_t *bars = json_object_get(find_block(data, "bars"), "bars");
    assert_int_equal(json_array_size(bars), json_object_size(seconds) - 1);
    for (size_t k = 0; k < json_array_size(bars); k++) {
        const json_t *bar = json_array_get(bars, k);
        assert_string_not_equal(text_of(bar, "label"), "total");
        assert_close(json_number_value(json_object_get(bar, "value")),
                     json_number_value(json_object_get(seconds, text_of(bar, "label"))), 1e-12);
    }
    assert_int_equal(count_options(data, "gamma"), 1);
    assert_int_equal(count_options(data, "n_clusters"), 1);
    json_decref(data);
}

/* Levels of equal ratio from gamma_fit, or a tenth of the last, to gamma_up; one more for the run.
 * A page of a path leaves out the options that it does not use, and its time includes the fit. */
static void test_ends_of_path(void **state) {
    fixture *f = *state;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, NULL, f->page));
    json_t *data = read_data(f);
    const json_t *path = find_block(data, "path"), *levels = json_object_get(path, "levels");
    size_t count = json_array_size(levels);
    double fit = json_number_value(json_object_get(path, "gamma_fit"));
    double used = json_number_value(json_object_get(path, "used"));
    double high = fmin(json_number_value(json_object_get(path, "gamma_up")), 1e3 * N / CLUSTERS);
    double low = fmin(fit > 0 ? fmin(fit, high / 10) : 1e-4 * high, used);
    high = fmax(high, used);
    assert_close(json_number_value(json_object_get(path, "mean_size")), N / 3.0, 1e-9);
    assert_close(json_number_value(json_object_get(json_array_get(levels, 0), "gamma")), low,
                 1e-6 * low);
    assert_close(json_number_value(json_object_get(json_array_get(levels, count - 1), "gamma")),
                 high, 1e-6 * high);
    json_decref(data);
}

static void test_page_of_path(void **state) {
    fixture *f = *state;
    huddle_path path = {0};
    int32_t labels[N];
    char *text = NULL;
    huddle_report_walk walk;
    make_walk(f, 5, &path, labels, &walk);
    assert_ok(huddle_report_write_path(NULL, f->model, &f->x, &walk, NULL, f->page));
    assert_ok(huddle_model_info_json(f->model, &text));
    json_t *data = read_data(f), *info = json_loads(text, 0, NULL);
    double fitted = json_number_value(json_object_get(json_object_get(info, "seconds"), "total"));
    const json_t *report = json_object_get(find_block(data, "walk"), "report");
    assert_close(json_number_value(json_object_get(json_object_get(report, "seconds"), "total")),
                 fitted + 0.5, 1e-6);
    const json_t *table = json_object_get(first_block(find_section(data, "levels")), "rows");
    for (size_t l = 0; l < 5; l++) {
        const json_t *row = json_array_get(table, l);
        assert_close(json_number_value(json_array_get(row, 0)), path.levels[l].gamma,
                     1e-6 * path.levels[l].gamma);
        assert_int_equal(json_integer_value(json_array_get(row, 3)), path.levels[l].n_groups);
    }
    assert_int_equal(count_options(data, "gamma"), 0);
    assert_int_equal(count_options(data, "n_clusters"), 1);
    json_decref(info);
    json_decref(data);
    huddle_free(text);
    huddle_path_free(&path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_sample),
        cmocka_unit_test(test_convergence),  cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_ends_of_path), cmocka_unit_test(test_page_of_path)};
    return cmocka_run_group_tests_name("report_tables", tests, set_up, tear_down);
}
