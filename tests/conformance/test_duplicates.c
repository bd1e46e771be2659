/* Data full of equal rows: what every method promises about them. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "promises.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 600, D = 4, C = 3 };

/* Three clouds rounded to halves: 600 rows, of which about 150 differ; most of them occur more
 * often than a point has neighbours, and the last column says nothing. */
static huddle_points rounded_clouds(int64_t n, uint64_t seed) {
    static const float centres[C][2] = {{0, 0}, {7, 0}, {3.5f, 6}};
    huddle_points x;
    assert_ok(huddle_points_new(n, D, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int j = 0; j < 2; j++) {
            double value = (double)centres[i % C][j] + hd_rng_normal(&rng);
            x.values[i * D + j] = (float)(round(2 * value) / 2);
        }
        x.values[i * D + 2] = x.values[i * D] - x.values[i * D + 1];
        x.values[i * D + 3] = 1;
    }
    return x;
}

static huddle_model *new_model(const char *method, const char *prepare) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", prepare));
    /* It compares the neighbours of vertices: those of a cloud need common ones, or its labels are
     * arbitrary. */
    if (strcmp(method, "graphencoder") == 0)
        assert_ok(huddle_model_set_option(model, "n_neighbors", "50"));
    return model;
}

/* Equal rows have equal labels. */
static void check_equal_labels(const huddle_points *x, const int32_t *labels) {
    huddle_distinct distinct;
    assert_ok(huddle_points_distinct(NULL, x, &distinct));
    assert_true(distinct.count < x->n);
    for (int64_t i = 0; i < x->n; i++)
        assert_int_equal(labels[i], labels[distinct.first[distinct.of[i]]]);
    huddle_distinct_free(&distinct);
}

static double accuracy(const int32_t *labels) {
    int32_t truth[N];
    huddle_scores scores;
    for (int i = 0; i < N; i++)
        truth[i] = i % C;
    assert_ok(huddle_metrics_scores(NULL, N, truth, labels, &scores));
    return scores.acc;
}

/* ---- the promises -------------------------------------------------------------------------- */

static void more_copies_than_neighbours_do_not_shatter_the_graph(const char *method) {
    huddle_points x = rounded_clouds(N, 1);
    huddle_model *model = new_model(method, "none");
    char *json;
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_true(accuracy(huddle_model_labels(model, NULL)) >= 0.98);
    assert_ok(huddle_model_info_json(model, &json));
    const char *before = strstr(json, "\"components_before\": ");
    if (before != NULL)
        assert_true(atoi(before + 21) <= C);
    assert_non_null(strstr(json, "\"n\": 600"));
    assert_non_null(strstr(json, "\"n_distinct\": "));
    huddle_free(json);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void identical_points_get_one_label(const char *method) {
    static const char *const ways[] = {"none", "standard", "ranks", "whiten:2", "unit"};
    for (int k = 0; k < 5; k++) {
        huddle_points x = rounded_clouds(N, 2);
        huddle_model *model = new_model(method, ways[k]);
        assert_ok(huddle_model_fit(NULL, model, &x));
        check_equal_labels(&x, huddle_model_labels(model, NULL));
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* As a batch, in another order, and one at a time. */
static void training_rows_keep_their_labels(const char *method) {
    static const char *const ways[] = {"none", "ranks", "whiten:2"};
    for (int k = 0; k < 3; k++) {
        huddle_points x = rounded_clouds(N, 3), turned;
        int64_t order[N];
        int32_t again[N];
        huddle_model *model = new_model(method, ways[k]);
        assert_ok(huddle_model_fit(NULL, model, &x));
        const int32_t *labels = huddle_model_labels(model, NULL);
        assert_ok(huddle_model_predict(NULL, model, &x, again));
        assert_memory_equal(again, labels, sizeof again);
        for (int i = 0; i < N; i++)
            order[i] = (7 * i + 3) % N;
        assert_ok(huddle_points_take(&x, order, N, &turned));
        assert_ok(huddle_model_predict(NULL, model, &turned, again));
        for (int i = 0; i < N; i++)
            assert_int_equal(again[i], labels[order[i]]);
        for (int i = 0; i < 20; i++) {
            huddle_points one = x;
            one.n = 1;
            one.values += (int64_t)(29 * i) * D;
            assert_ok(huddle_model_predict(NULL, model, &one, again));
            assert_int_equal(again[0], labels[29 * i]);
        }
        huddle_points_free(&turned);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

static void equal_new_rows_get_one_label(const char *method) {
    huddle_points x = rounded_clouds(N, 4), fresh = rounded_clouds(900, 5);
    int32_t labels[900];
    huddle_model *model = new_model(method, "whiten:2");
    for (int64_t e = 0; e < 900 * D; e++)
        fresh.values[e] += 0.125f; /* no row of the training data */
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
    check_equal_labels(&fresh, labels);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

static void labels_do_not_depend_on_threads(const char *method) {
    huddle_points x = rounded_clouds(N, 6);
    int32_t one[N];
    for (int32_t threads = 1; threads <= 3; threads++) {
        huddle_context *context;
        huddle_model *model = new_model(method, "none");
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_model_fit(context, model, &x));
        if (threads == 1)
            memcpy(one, huddle_model_labels(model, NULL), sizeof one);
        assert_memory_equal(huddle_model_labels(model, NULL), one, sizeof one);
        huddle_model_free(model);
        huddle_context_free(context);
    }
    huddle_points_free(&x);
}

/* In another order the same rows are the same clusters. */
static void shuffled_copies_make_the_same_clusters(const char *method) {
    huddle_points x = rounded_clouds(N, 7), turned;
    int64_t order[N];
    int32_t back[N];
    huddle_scores scores;
    huddle_model *model = new_model(method, "none"), *other = new_model(method, "none");
    for (int i = 0; i < N; i++)
        order[i] = (11 * i + 5) % N;
    assert_ok(huddle_points_take(&x, order, N, &turned));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_fit(NULL, other, &turned));
    check_equal_labels(&turned, huddle_model_labels(other, NULL));
    for (int i = 0; i < N; i++)
        back[order[i]] = huddle_model_labels(other, NULL)[i];
    assert_ok(huddle_metrics_scores(NULL, N, huddle_model_labels(model, NULL), back, &scores));
    assert_true(scores.acc > 0.99);
    huddle_model_free(model);
    huddle_model_free(other);
    huddle_points_free(&x);
    huddle_points_free(&turned);
}

static void fewer_distinct_rows_than_clusters_are_clustered(const char *method) {
    huddle_points x;
    int32_t again[40];
    huddle_model *model;
    assert_ok(huddle_points_new(40, 3, &x));
    for (int64_t i = 0; i < 40; i++)
        x.values[i * 3 + i % 2] = 5;
    for (int c = 1; c <= 5; c += 2) {
        char text[16];
        assert_ok(huddle_model_new(method, &model));
        snprintf(text, sizeof text, "%d", c);
        assert_ok(huddle_model_set_option(model, "n_clusters", text));
        assert_ok(huddle_model_fit(NULL, model, &x));
        const int32_t *labels = huddle_model_labels(model, NULL);
        check_equal_labels(&x, labels);
        assert_true((labels[0] == labels[1]) == (c == 1));
        assert_ok(huddle_model_predict(NULL, model, &x, again));
        assert_memory_equal(again, labels, sizeof again);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

static void a_range_of_clusters_is_tried(const char *method) {
    huddle_points x = rounded_clouds(N, 8);
    huddle_array view;
    int32_t column[N];
    huddle_model *model = new_model(method, "none");
    assert_ok(huddle_model_set_option(model, "n_clusters", "2-4"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_array(model, "range_labels", &view));
    assert_int_equal(view.rows, N);
    assert_int_equal(view.cols, 3);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++)
            column[i] = ((const int32_t *)view.values)[i * 3 + t];
        check_equal_labels(&x, column);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Every array that a fit hands out has a row for each row of x, before and after saving. */
static void arrays_have_a_row_for_every_row(const char *method) {
    static const char *const per_row[] = {"points", "graph",  "embedding", "shrink_graph",
                                          "shrunk", "groups", "labels"};
    huddle_points x = rounded_clouds(N, 9), fresh = rounded_clouds(2 * N, 10);
    char path[256];
    int32_t before[2 * N], after[2 * N];
    huddle_array view, loaded_view;
    huddle_model *model = new_model(method, "standard"), *loaded;
    snprintf(path, sizeof path, "%s/%s-copies.huddle", test_directory(), method);
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    int64_t n;
    assert_memory_equal(huddle_model_labels(model, NULL), huddle_model_labels(loaded, &n),
                        N * sizeof *before);
    assert_int_equal(n, N);
    for (size_t k = 0; k < sizeof per_row / sizeof *per_row; k++) {
        if (huddle_model_array(model, per_row[k], &view) != HUDDLE_OK)
            continue;
        assert_int_equal(view.rows, N);
        assert_ok(huddle_model_array(loaded, per_row[k], &loaded_view));
        assert_int_equal(loaded_view.rows, N);
        if (view.type == HUDDLE_ARRAY_F64)
            assert_memory_equal(view.values, loaded_view.values,
                                (size_t)(N * view.cols) * sizeof(double));
        if (view.type == HUDDLE_ARRAY_CSR) {
            assert_int_equal(view.cols, N);
            assert_memory_equal(view.values, loaded_view.values,
                                (size_t)view.offsets[N] * sizeof(double));
        }
    }
    assert_ok(huddle_model_predict(NULL, model, &fresh, before));
    assert_ok(huddle_model_predict(NULL, loaded, &fresh, after));
    assert_memory_equal(before, after, sizeof before);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

typedef struct faulty {
    const char *method;
    const huddle_points *x;
} faulty;

static huddle_status skip_shared_steps(huddle_model *model) {
    huddle_status status = huddle_model_set_option(model, "prepare", "standard");
    if (status == HUDDLE_OK && huddle_option_find(huddle_model_options(model), "refine") != NULL)
        status = huddle_model_set_option(model, "refine", "none");
    return status;
}

static huddle_status use_everything(void *argument) {
    const faulty *f = argument;
    static const char *const arrays[] = {"points", "graph",  "embedding", "shrink_graph",
                                         "shrunk", "groups", "labels"};
    int32_t labels[60];
    huddle_array view;
    huddle_context *context = NULL;
    huddle_model *model = NULL;
    huddle_status status = new_on_one_thread(f->method, "3", &context, &model);
    /* The same code chooses the preparation and refines for all methods: that ssc runs it is
     * enough, with its thousands of allocations. */
    if (status == HUDDLE_OK && strcmp(f->method, "ssc") != 0)
        status = skip_shared_steps(model);
    if (status == HUDDLE_OK)
        status = huddle_model_fit(context, model, f->x);
    for (int k = 0; k < 7 && status == HUDDLE_OK; k++) {
        status = huddle_model_array(model, arrays[k], &view);
        if (status == HUDDLE_INVALID) /* this method has none */
            status = HUDDLE_OK;
    }
    if (status == HUDDLE_OK)
        status = huddle_model_score(context, model, f->x);
    if (status == HUDDLE_OK)
        status = huddle_model_predict(context, model, f->x, labels);
    huddle_model_free(model);
    huddle_context_free(context);
    return status;
}

static void each_allocation_may_fail(const char *method) {
    huddle_points x = rounded_clouds(60, 11);
    for (int64_t e = 0; e < 60 * D; e++)
        x.values[e] = roundf(x.values[e]);
    faulty f = {method, &x};
    test_each_allocation(use_everything, &f);
    huddle_points_free(&x);
}

/* ---- every promise for every method -------------------------------------------------------- */

PROMISE(more_copies_than_neighbours_do_not_shatter_the_graph)
PROMISE(identical_points_get_one_label)
PROMISE(training_rows_keep_their_labels)
PROMISE(equal_new_rows_get_one_label)
PROMISE(labels_do_not_depend_on_threads)
PROMISE(shuffled_copies_make_the_same_clusters)
PROMISE(fewer_distinct_rows_than_clusters_are_clustered)
PROMISE(a_range_of_clusters_is_tried)
PROMISE(arrays_have_a_row_for_every_row)
PROMISE(each_allocation_may_fail)

/* ---- what is handed out -------------------------------------------------------------------- */

static huddle_model *fit_rounded(const char *method, const char *option, const char *value) {
    huddle_points x = rounded_clouds(N, 12);
    huddle_model *model = new_model(method, "none");
    if (option != NULL)
        assert_ok(huddle_model_set_option(model, option, value));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_score(NULL, model, &x));
    huddle_points_free(&x);
    return model;
}

static double number(const huddle_model *model, const char *name) {
    char *json, pattern[64];
    assert_ok(huddle_model_info_json(model, &json));
    snprintf(pattern, sizeof pattern, "\"%s\": ", name);
    const char *place = strstr(json, pattern);
    assert_non_null(place);
    double value = atof(place + strlen(pattern));
    huddle_free(json);
    return value;
}

static huddle_csr get_graph(const huddle_model *model, const char *name) {
    huddle_array view;
    assert_ok(huddle_model_array(model, name, &view));
    huddle_csr graph = {view.rows, view.cols, (int64_t *)view.offsets, (int32_t *)view.columns,
                        (double *)view.values};
    assert_ok(huddle_csr_check(&graph));
    for (int64_t i = 0; i < graph.rows; i++)
        for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; e++)
            assert_int_not_equal(graph.columns[e], i);
    return graph;
}

static huddle_dense get_dense(const huddle_model *model, const char *name) {
    huddle_array view;
    assert_ok(huddle_model_array(model, name, &view));
    return (huddle_dense){view.rows, view.cols, view.stride, (double *)view.values};
}

/* A with a vertex for every row: symmetric, no loops, and cuts and volumes as in the graph used. */
static void the_graph_handed_out_has_the_cut_of_the_graph_used(void **state) {
    (void)state;
    huddle_model *model = fit_rounded("sc", NULL, NULL);
    huddle_csr graph = get_graph(model, "graph"), transpose;
    int32_t component[N], count;
    double ncut;
    assert_ok(huddle_csr_transpose(&graph, &transpose));
    assert_memory_equal(transpose.values, graph.values, (size_t)graph.offsets[N] * sizeof(double));
    huddle_csr_free(&transpose);
    assert_ok(huddle_metrics_ncut(NULL, &graph, huddle_model_labels(model, NULL), &ncut));
    assert_close(ncut, number(model, "ncut"), 1e-12);
    assert_ok(huddle_graph_components(NULL, &graph, component, &count));
    assert_int_equal(count, (int)number(model, "components"));
    huddle_model_free(model);
}

/* A matrix of all distances knows which points are equal. */
static void copies_are_known_by_their_distances(void **state) {
    (void)state;
    huddle_points x = rounded_clouds(N, 13), distances;
    huddle_model *model = new_model("sc", "none"), *features = new_model("sc", "none");
    assert_ok(huddle_points_new(N, N, &distances));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t q = 0; q < D; q++)
                sum += pow((double)x.values[i * D + q] - (double)x.values[j * D + q], 2);
            distances.values[i * N + j] = (float)sqrt(sum);
        }
    assert_ok(huddle_model_set_option(model, "affinity", "distances"));
    assert_ok(huddle_model_fit(NULL, model, &distances));
    assert_ok(huddle_model_fit(NULL, features, &x));
    check_equal_labels(&x, huddle_model_labels(model, NULL));
    assert_true(accuracy(huddle_model_labels(model, NULL)) >= 0.98);
    assert_true(number(model, "n_distinct") == number(features, "n_distinct"));
    assert_true(number(model, "edges") == number(features, "edges"));
    huddle_model_free(model);
    huddle_model_free(features);
    huddle_points_free(&distances);
    huddle_points_free(&x);
}

/* F, G and W of all rows: the reported objective is theirs, and shrinking them anew finds nothing
 * better than the reported bound allows, for both losses. */
static void the_shrink_problem_of_all_rows_has_the_reported_optimum(void **state) {
    (void)state;
    static const char *const losses[] = {"l21", "l2"}, *const gammas[] = {"auto", "0.05"};
    for (int k = 0; k < 4; k++) {
        huddle_points x = rounded_clouds(N, 12);
        huddle_model *model = new_model("ssc", "none");
        huddle_shrink_options o = huddle_shrink_defaults();
        huddle_shrunk out;
        huddle_shrink_info info;
        double objective;
        assert_ok(huddle_model_set_option(model, "loss", losses[k % 2]));
        assert_ok(huddle_model_set_option(model, "gamma", gammas[k / 2]));
        assert_ok(huddle_model_fit(NULL, model, &x));
        huddle_dense f = get_dense(model, "embedding"), g = get_dense(model, "shrunk");
        huddle_csr w = get_graph(model, "shrink_graph");
        /* The rows, not the distinct ones, over c. */
        o.gamma = k / 2 == 0 ? N / (double)C : 0.05;
        o.loss = losses[k % 2];
        assert_ok(huddle_shrink_certificate(NULL, &f, &w, NULL, o.gamma, o.loss, &g, NULL,
                                            &objective, NULL));
        assert_close(objective, number(model, "objective"), 1e-9);
        assert_ok(huddle_shrink(NULL, &f, &w, &o, &out, &info));
        assert_true(info.objective >= number(model, "dual") * (1 - 1e-9));
        assert_true(objective >= info.dual * (1 - 1e-9));
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_more_copies_than_neighbours_do_not_shatter_the_graph),
        cmocka_unit_test(all_identical_points_get_one_label),
        cmocka_unit_test(all_training_rows_keep_their_labels),
        cmocka_unit_test(all_equal_new_rows_get_one_label),
        cmocka_unit_test(all_labels_do_not_depend_on_threads),
        cmocka_unit_test(all_shuffled_copies_make_the_same_clusters),
        cmocka_unit_test(all_fewer_distinct_rows_than_clusters_are_clustered),
        cmocka_unit_test(all_a_range_of_clusters_is_tried),
        cmocka_unit_test(all_arrays_have_a_row_for_every_row),
        cmocka_unit_test(the_graph_handed_out_has_the_cut_of_the_graph_used),
        cmocka_unit_test(copies_are_known_by_their_distances),
        cmocka_unit_test(the_shrink_problem_of_all_rows_has_the_reported_optimum),
        cmocka_unit_test(all_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
