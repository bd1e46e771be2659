/* Parts of a page: moving points, the circle of clusters, features, distances. */
#include "pages.h"

#include <math.h>

/* Bytes of base64 as 16-bit numbers; the caller frees them. */
static uint16_t *numbers_of(const json_t *object, const char *name, size_t *count) {
    const char *text = text_of(object, name);
    unsigned char *bytes = calloc(1, strlen(text) + 4);
    assert_non_null(bytes);
    *count = decode_bytes(text, bytes) / 2;
    uint16_t *made = calloc(*count + 1, sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < *count; i++)
        made[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    free(bytes);
    return made;
}

/* A model of groups that overlap, so that G differs from F. */
static huddle_model *fit_overlapping(const fixture *f, float *values) {
    huddle_points x = {.n = N, .d = D, .stride = D, .values = values};
    huddle_model *model = NULL;
    for (int i = 0; i < N * D; i++)
        values[i] = f->values[i] - (i / D % CLUSTERS == i % D ? 9.0f : 0.0f);
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    return model;
}

/* Points that have fused lead to the same node of G, and there
 * are as many of these as groups. */
static void test_moves(void **state) {
    fixture *f = *state;
    float values[N * D];
    huddle_model *model = fit_overlapping(f, values);
    huddle_report_options options = huddle_report_defaults();
    huddle_array g;
    size_t n_maps, n_places;
    unsigned char index[4 * N + 4];
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, model, NULL, &options, f->page));
    json_t *data = read_data(f);
    const json_t *shared = json_object_get(data, "shared"), *ends = json_object_get(shared, "ends");
    const json_t *nodes = json_object_get(ends, "nodes");
    const json_t *circle = json_array_get(json_object_get(ends, "projections"), 0);
    assert_int_equal(json_array_size(nodes), 2);
    assert_string_equal(text_of(circle, "kind"), "circle");
    size_t first = (size_t)json_integer_value(json_array_get(nodes, 0));
    size_t last = (size_t)json_integer_value(json_array_get(nodes, 1));
    uint16_t *maps = numbers_of(ends, "maps", &n_maps),
             *places = numbers_of(circle, "data", &n_places);
    assert_int_equal(n_maps, N + first);
    assert_int_equal(n_places, 2 * (first + last));
    assert_int_equal(decode_bytes(text_of(json_object_get(shared, "points"), "index"), index),
                     4 * N);
    assert_ok(huddle_model_array(model, "shrunk", &g));
    const double *rows = g.values;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            const double *a = rows + int32_at(index, i) * g.stride;
            const double *b = rows + int32_at(index, j) * g.stride;
            bool fused = memcmp(a, b, (size_t)g.cols * sizeof *a) == 0;
            assert_int_equal(fused, maps[N + maps[i]] == maps[N + maps[j]]);
        }
    assert_true(first > last);
    assert_int_equal(last, huddle_model_shrink_info(model)->n_groups);
    huddle_model_free(model);
    free(places);
    free(maps);
    json_decref(data);
}

/* The three clusters are at the corners of a triangle: no two of them are nearer to each other
 * than half of the extent. */
static void test_circle(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    size_t count;
    unsigned char labels[4 * N + 4];
    double x[CLUSTERS] = {0}, y[CLUSTERS] = {0};
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *shared = json_object_get(data, "shared"), *ends = json_object_get(shared, "ends");
    const json_t *circle = json_array_get(json_object_get(ends, "projections"), 0);
    uint16_t *maps = numbers_of(ends, "maps", &count), *places = numbers_of(circle, "data", &count);
    assert_int_equal(decode_bytes(text_of(json_object_get(shared, "points"), "label"), labels),
                     4 * N);
    for (int i = 0; i < N; i++) {
        x[int32_at(labels, i)] += places[2 * maps[i]] / (N / 3.0);
        y[int32_at(labels, i)] += places[2 * maps[i] + 1] / (N / 3.0);
    }
    for (int a = 0; a < CLUSTERS; a++)
        for (int b = 0; b < a; b++)
            assert_true(hypot(x[a] - x[b], y[a] - y[b]) > 32768);
    free(places);
    free(maps);
    json_decref(data);
}

/* Means of the clusters, and features in the order of their separation. */
static void test_features(void **state) {
    fixture *f = *state;
    static const char *const names[D] = {"one", "two", "three", "four"};
    huddle_report_options options = huddle_report_defaults();
    const int32_t *labels = huddle_model_labels(f->model, NULL);
    options.follow_path = false;
    options.feature_names = names;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *rows = json_object_get(find_block(data, "features"), "rows");
    assert_int_equal(json_array_size(rows), D);
    /* The fourth feature is the same in all groups. */
    assert_string_equal(text_of(json_array_get(rows, D - 1), "name"), "four");
    for (int r = 0; r < D; r++) {
        const json_t *row = json_array_get(rows, (size_t)r);
        double mean[CLUSTERS] = {0};
        int j = 0;
        while (strcmp(names[j], text_of(row, "name")) != 0)
            j++;
        for (int i = 0; i < N; i++)
            mean[labels[i]] += f->values[i * D + j] / (N / 3.0);
        for (size_t k = 0; k < CLUSTERS; k++)
            assert_close(json_number_value(json_array_get(json_object_get(row, "means"), k)),
                         mean[k], 1e-5);
        double separation = json_number_value(json_object_get(row, "separation"));
        assert_true(r < D - 1 ? separation > 0.9 : separation < 0.5);
    }
    assert_int_equal(json_array_size(json_object_get(json_object_get(data, "shared"), "features")),
                     D);
    json_decref(data);
}

/* The matrix has a byte per pair, in the order of the clusters. */
static void test_distances(void **state) {
    fixture *f = *state;
    huddle_report_options options = huddle_report_defaults();
    unsigned char bytes[N * N];
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, f->model, &f->x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *block = find_block(data, "distances"), *index = json_object_get(block, "index");
    assert_int_equal(json_array_size(index), N);
    assert_int_equal(decode_bytes(text_of(block, "data"), bytes), N * (N - 1) / 2);
    double high = json_number_value(json_object_get(block, "high"));
    size_t at = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++, at++) {
            int64_t a = json_integer_value(json_array_get(index, i));
            int64_t b = json_integer_value(json_array_get(index, j));
            double sum = 0;
            for (int k = 0; k < D; k++)
                sum += pow(f->values[a * D + k] - f->values[b * D + k], 2);
            double share = fmin(1, sqrt(sum) / high);
            assert_close(bytes[at] / 255.0, share, 0.003);
        }
    const json_t *silhouettes = json_object_get(block, "silhouettes");
    assert_int_equal(json_integer_value(json_object_get(silhouettes, "count")), N);
    assert_true(json_number_value(json_object_get(silhouettes, "mean")) > 0.8);
    json_decref(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moves), cmocka_unit_test(test_circle),
                                       cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_distances)};
    return cmocka_run_group_tests_name("report_parts", tests, set_up, tear_down);
}
