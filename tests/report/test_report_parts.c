/* Parts of a page: moving points, the circle of clusters, features, distances. */
#include "pages.h"

#include <math.h>

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

/* Mean and deviation of all points, and the share of the squares that lies between the clusters. */
static void check_spread(const fixture *f, const json_t *row, int j, const double *means) {
    double mean = 0, squares = 0, between = 0;
    for (int i = 0; i < N; i++)
        mean += f->values[i * D + j] / (double)N;
    for (int i = 0; i < N; i++)
        squares += pow(f->values[i * D + j] - mean, 2);
    for (int k = 0; k < CLUSTERS; k++)
        between += N / 3.0 * pow(means[k] - mean, 2);
    assert_close(json_number_value(json_object_get(row, "mean")), mean, 1e-5);
    assert_close(json_number_value(json_object_get(row, "deviation")), sqrt(squares / N), 1e-5);
    assert_close(json_number_value(json_object_get(row, "separation")), between / squares, 1e-5);
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The colours of the sampled points: 0 and 255 are the 2 % and the 98 % quantile. */
static void check_colours(const fixture *f, const json_t *shared, const char *const *names) {
    const json_t *colours = json_array_get(json_object_get(shared, "features"), 0);
    unsigned char index[4 * N + 4], bytes[N + 4];
    double sorted[N];
    int j = 0;
    while (strcmp(names[j], text_of(colours, "name")) != 0)
        j++;
    for (int i = 0; i < N; i++)
        sorted[i] = f->values[i * D + j];
    qsort(sorted, N, sizeof *sorted, compare_numbers);
    double low = sorted[N / 50], high = sorted[N - 1 - N / 50];
    assert_close(json_number_value(json_object_get(colours, "low")), low, 1e-6);
    assert_close(json_number_value(json_object_get(colours, "high")), high, 1e-6);
    assert_close(json_number_value(json_object_get(colours, "least")), sorted[0], 1e-6);
    assert_close(json_number_value(json_object_get(colours, "most")), sorted[N - 1], 1e-6);
    assert_int_equal(decode_bytes(text_of(json_object_get(shared, "points"), "index"), index),
                     4 * N);
    assert_int_equal(decode_bytes(text_of(colours, "data"), bytes), N);
    for (int i = 0; i < N; i++) {
        double share = (f->values[int32_at(index, i) * D + j] - low) / (high - low);
        assert_close(bytes[i], 255 * fmin(fmax(share, 0), 1), 0.51);
    }
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
        check_spread(f, row, j, mean);
        double separation = json_number_value(json_object_get(row, "separation"));
        assert_true(r < D - 1 ? separation > 0.9 : separation < 0.5);
    }
    const json_t *shared = json_object_get(data, "shared");
    assert_int_equal(json_array_size(json_object_get(shared, "features")), D);
    check_colours(f, shared, names);
    json_decref(data);
}

static double distance_of(const fixture *f, int64_t a, int64_t b) {
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += pow(f->values[a * D + k] - f->values[b * D + k], 2);
    return sqrt(sum);
}

/* The mean distance of a point from the others of a cluster. */
static double mean_distance(const fixture *f, const int32_t *labels, int64_t i, int32_t cluster) {
    double sum = 0;
    int count = 0;
    for (int j = 0; j < N; j++)
        if (labels[j] == cluster && j != i) {
            sum += distance_of(f, i, j);
            count++;
        }
    return sum / count;
}

/* The matrix has a byte per pair, in the order of the clusters and the most typical points of each
 * first; 255 is the 98 % quantile. */
static void check_matrix(const fixture *f, const json_t *block, const int32_t *labels) {
    const json_t *index = json_object_get(block, "index");
    unsigned char bytes[N * N];
    double all[N * (N - 1) / 2], last = 0;
    size_t at = 0;
    assert_int_equal(json_array_size(index), N);
    assert_int_equal(decode_bytes(text_of(block, "data"), bytes), N * (N - 1) / 2);
    double high = json_number_value(json_object_get(block, "high"));
    for (size_t i = 0; i < N; i++) {
        int64_t a = json_integer_value(json_array_get(index, i));
        double spread = mean_distance(f, labels, a, labels[a]);
        assert_int_equal(labels[a], i / (N / CLUSTERS));
        assert_true(i % (N / CLUSTERS) == 0 || spread >= last - 1e-6);
        last = spread;
        for (size_t j = 0; j < i; j++, at++) {
            all[at] = distance_of(f, a, json_integer_value(json_array_get(index, j)));
            assert_close(bytes[at] / 255.0, fmin(1, all[at] / high), 0.003);
        }
    }
    qsort(all, at, sizeof *all, compare_numbers);
    assert_close(high, all[at - 1 - at / 50], 1e-5);
}

/* Silhouettes of a cluster in descending order, 0 is -1 and 254 is 1. */
static double check_silhouettes(const fixture *f, const json_t *block, const int32_t *labels,
                                int32_t cluster) {
    double values[N], sum = 0;
    unsigned char bytes[N + 4];
    size_t count = 0;
    for (int i = 0; i < N; i++) {
        double within = mean_distance(f, labels, i, cluster), beside = INFINITY;
        for (int32_t k = 0; k < CLUSTERS; k++)
            beside = k == cluster ? beside : fmin(beside, mean_distance(f, labels, i, k));
        if (labels[i] == cluster)
            sum += values[count++] = (beside - within) / fmax(beside, within);
    }
    qsort(values, count, sizeof *values, compare_numbers);
    assert_int_equal(json_integer_value(json_object_get(block, "count")), count);
    assert_close(json_number_value(json_object_get(block, "mean")), sum / (double)count, 1e-5);
    assert_int_equal(decode_bytes(text_of(block, "data"), bytes), count);
    for (size_t k = 0; k < count; k++)
        assert_close(bytes[k], 127 * (values[count - 1 - k] + 1), 0.51);
    return sum;
}

static void check_distances(const fixture *f, const huddle_model *model, const huddle_points *x) {
    huddle_report_options options = huddle_report_defaults();
    const int32_t *labels = huddle_model_labels(model, NULL);
    double sum = 0;
    options.follow_path = false;
    assert_ok(huddle_report_write(NULL, model, x, &options, f->page));
    json_t *data = read_data(f);
    const json_t *block = find_block(data, "distances");
    const json_t *silhouettes = json_object_get(block, "silhouettes");
    check_matrix(f, block, labels);
    for (int32_t k = 0; k < CLUSTERS; k++)
        sum += check_silhouettes(
            f, json_array_get(json_object_get(silhouettes, "clusters"), (size_t)k), labels, k);
    assert_int_equal(json_integer_value(json_object_get(silhouettes, "count")), N);
    assert_close(json_number_value(json_object_get(silhouettes, "mean")), sum / N, 1e-5);
    json_decref(data);
}

static void test_distances(void **state) {
    fixture *f = *state;
    check_distances(f, f->model, &f->x);
}

/* The values of the points, without the small ones, as sparse rows. */
static void test_sparse_distances(void **state) {
    fixture sparse = *(const fixture *)*state, *f = &sparse;
    int64_t offsets[N + 1] = {0}, count = 0;
    int32_t columns[N * D];
    float values[N * D];
    huddle_model *model = NULL;
    for (int i = 0; i < N * D; i++) {
        if (f->values[i] < 0.8f)
            f->values[i] = 0;
        else {
            columns[count] = i % D;
            values[count++] = f->values[i];
        }
        offsets[i / D + 1] = count;
    }
    huddle_points x = {.n = N, .d = D, .values = values, .offsets = offsets, .columns = columns};
    assert_true(count < N * D - N);
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    check_distances(f, model, &x);
    json_t *data = read_data(f);
    const json_t *rows = json_object_get(find_block(data, "features"), "rows");
    for (size_t r = 0; r < D; r++) {
        const json_t *row = json_array_get(rows, r);
        double means[CLUSTERS];
        for (size_t k = 0; k < CLUSTERS; k++)
            means[k] = json_number_value(json_array_get(json_object_get(row, "means"), k));
        check_spread(f, row, text_of(row, "name")[strlen("feature ")] - '0', means);
    }
    json_decref(data);
    huddle_model_free(model);
}

/* Images of 2 x 2 pixels in colour, the channels of a pixel side by side or plane by plane: the
 * bytes of the page are by pixels. */
static void test_planes(void **state) {
    fixture *f = *state;
    enum { IMAGES = 6, PIXELS = 4, CHANNELS = 3 };
    float values[IMAGES * PIXELS * CHANNELS];
    huddle_points x = {
        .n = IMAGES, .d = PIXELS * CHANNELS, .stride = PIXELS * CHANNELS, .values = values};
    huddle_model *model = NULL;
    huddle_report_options options = huddle_report_defaults();
    for (int k = 0; k < IMAGES * PIXELS * CHANNELS; k++)
        values[k] = (float)(k * 29 % 71);
    values[0] = 0;
    values[1] = 255;
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    options.image_height = options.image_width = 2;
    for (int planes = 0; planes < 2; planes++) {
        unsigned char index[4 * IMAGES + 4], bytes[IMAGES * PIXELS * CHANNELS + 4];
        options.image_planes = planes == 1;
        assert_ok(huddle_report_write(NULL, model, &x, &options, f->page));
        json_t *data = read_data(f);
        const json_t *points = json_object_get(json_object_get(data, "shared"), "points");
        const json_t *thumbs = json_object_get(points, "thumbs");
        assert_int_equal(decode_bytes(text_of(points, "index"), index), 4 * IMAGES);
        assert_int_equal(decode_bytes(text_of(thumbs, "data"), bytes), sizeof values / 4);
        for (int k = 0; k < IMAGES * PIXELS * CHANNELS; k++) {
            int image = int32_at(index, k / (PIXELS * CHANNELS));
            int pixel = k / CHANNELS % PIXELS, channel = k % CHANNELS;
            int j = planes == 1 ? channel * PIXELS + pixel : pixel * CHANNELS + channel;
            assert_close(bytes[k], values[image * PIXELS * CHANNELS + j], 0);
        }
        json_decref(data);
    }
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moves),
                                       cmocka_unit_test(test_circle),
                                       cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_distances),
                                       cmocka_unit_test(test_sparse_distances),
                                       cmocka_unit_test(test_planes)};
    return cmocka_run_group_tests_name("report_parts", tests, set_up, tear_down);
}
