/* graph: the approximate neighbour search: its recall against brute force, the estimate of it, more
 * work for a higher target, the same lists for any number of threads. */
#include "unit/graph_brute.h"

#include "base/context.h"

#include <float.h>

/* ---- searches ------------------------------------------------------------------------------ */

static huddle_knn_options with_recall(double recall, int32_t k, const char *metric) {
    huddle_knn_options options = huddle_knn_defaults();
    options.knn_solver = "approximate";
    options.recall = recall;
    options.n_neighbors = k;
    options.metric = metric;
    return options;
}

/* The share of returned neighbours that are as near as the true k-th. Lists must be well formed:
 * ascending by (distance, index), without the point itself, and with the very distances of brute
 * force. */
static double true_recall(const huddle_points *x, const huddle_knn_options *options,
                          const huddle_neighbors *out) {
    huddle_knn_options exact = *options;
    huddle_neighbors truth;
    int64_t found = 0, k = out->k;
    exact.knn_solver = "brute";
    assert_ok(huddle_graph_knn(NULL, x, &exact, &truth, NULL));
    assert_int_equal(truth.k, k);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t c = 0; c < k; c++) {
            int64_t e = i * k + c;
            assert_true(out->index[e] >= 0 && out->index[e] < x->n && out->index[e] != i);
            if (c > 0)
                assert_true(out->distance[e - 1] < out->distance[e] ||
                            (out->distance[e - 1] == out->distance[e] &&
                             out->index[e - 1] < out->index[e]));
            assert_true(out->distance[e] >= truth.distance[e]);
            found += out->distance[e] <= truth.distance[i * k + k - 1];
        }
    huddle_neighbors_free(&truth);
    return (double)found / (double)(x->n * k);
}

/* Searches and compares: the recall reaches the target, up to the error of the estimate, and lies
 * in the interval that is reported. */
static void check_recall(const char *what, huddle_points *x, int32_t k, const char *metric) {
    huddle_knn_options options = with_recall(0.995, k, metric);
    huddle_neighbors out;
    huddle_knn_info info;
    assert_ok(huddle_graph_knn(NULL, x, &options, &out, &info));
    assert_string_equal(info.solver, "approximate");
    double recall = true_recall(x, &options, &out);
    if (!(recall >= 0.99) || !(info.recall >= 0.995) || info.n_rounds < 1)
        fail_msg("%s: recall %.4f, estimate %.4f", what, recall, info.recall);
    /* Fewer points than queries are all asked, and the estimate is the recall itself. */
    if (!(info.recall_low <= recall && recall <= info.recall_high))
        fail_msg("%s: recall %.4f outside %.4f .. %.4f", what, recall, info.recall_low,
                 info.recall_high);
    assert_true(info.recall_low < info.recall && info.recall <= info.recall_high &&
                info.recall_high <= 1);
    huddle_neighbors_free(&out);
    huddle_points_free(x);
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Points near curved surfaces of two dimensions. */
static huddle_points curved_points(int64_t n, int64_t d) {
    huddle_points x, map = normal_points(8, d, 3);
    hd_rng rng = hd_rng_stream(4, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        double s = hd_rng_uniform(&rng), t = hd_rng_uniform(&rng);
        double basis[8] = {s, t, s * s, t * t, s * t, sin(6 * s), sin(6 * t), 1};
        for (int64_t j = 0; j < d; j++) {
            double sum = 0.01 * hd_rng_normal(&rng);
            for (int64_t b = 0; b < 8; b++)
                sum += basis[b] * (double)map.values[b * d + j];
            x.values[i * d + j] = (float)sum;
        }
    }
    huddle_points_free(&map);
    return x;
}

/* Half of the points are equal, a quarter lies within a millionth of them, the rest anywhere. */
static huddle_points blob_points(int64_t n, int64_t d) {
    huddle_points x = normal_points(n, d, 8);
    for (int64_t e = 0; e < n * d; e++) {
        int64_t kind = e / d % 4;
        if (kind < 3)
            x.values[e] = 1 + (kind == 2 ? 1e-6f * x.values[e] : 0);
    }
    return x;
}

static huddle_points scaled_points(int64_t n, int64_t d, float factor) {
    huddle_points x = curved_points(n, d);
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] *= factor;
    return x;
}

/* The corners of a simplex, of equal distances in float, with a last coordinate whose differences
 * only double sees: no number of trees and rounds finds the nearest among hundreds of ties. */
static huddle_points simplex_points(int64_t n) {
    huddle_points x;
    assert_ok(huddle_points_new(n, n + 1, &x));
    memset(x.values, 0, (size_t)(n * (n + 1)) * sizeof *x.values);
    for (int64_t i = 0; i < n; i++) {
        x.values[i * (n + 1) + i] = 1;
        x.values[i * (n + 1) + n] = 0x1p-21f * (float)i;
    }
    return x;
}

/* ---- recall -------------------------------------------------------------------------------- */

static void finds_nearly_all_neighbors(void **state) {
    (void)state;
    huddle_points x = clustered_points(6000, 16, 20, 1);
    check_recall("clusters", &x, 5, "euclidean");
    x = curved_points(5000, 32);
    check_recall("surfaces", &x, 10, "euclidean");
    x = curved_points(5000, 32);
    check_recall("surfaces, cosine", &x, 10, "cosine");
    x = normal_points(8000, 2, 1);
    check_recall("two features", &x, 5, "euclidean");
    x = normal_points(9000, 1, 1);
    check_recall("one feature", &x, 3, "euclidean");
    x = curved_points(3000, 200);
    check_recall("200 features", &x, 5, "euclidean");
    x = curved_points(3000, 200);
    check_recall("200 features, cosine", &x, 5, "cosine");
    x = normal_points(1500, 200, 2);
    check_recall("no structure", &x, 5, "euclidean");
    x = curved_points(400, 20);
    check_recall("fewer points than queries", &x, 60, "euclidean");
}

static void handles_equal_points(void **state) {
    (void)state;
    huddle_points x = whole_points(5000, 3, 4, 1);
    check_recall("64 different points", &x, 5, "euclidean");
    x = whole_points(5000, 3, 4, 1);
    check_recall("rows of zeros", &x, 5, "cosine");
    x = whole_points(3000, 5, 1, 1);
    check_recall("all equal", &x, 7, "euclidean");
    x = blob_points(6000, 12);
    check_recall("a heavy blob", &x, 5, "euclidean");
    x = blob_points(9000, 40);
    check_recall("a heavy blob, cosine", &x, 5, "cosine");
}

/* The squares of coordinates beyond 2^64 overflow, those below 2^-75 vanish. */
static void scale_does_not_matter(void **state) {
    (void)state;
    huddle_points x = scaled_points(3000, 20, 0x1p120f);
    check_recall("huge", &x, 5, "euclidean");
    x = scaled_points(3000, 20, 0x1p-110f);
    check_recall("tiny", &x, 5, "euclidean");
    x = scaled_points(3000, 20, 1);
    for (int64_t e = 0; e < 3000 * 20; e++)
        x.values[e] += 1000;
    check_recall("far from the origin", &x, 5, "euclidean");
}

/* ---- more work ----------------------------------------------------------------------------- */

/* Without structure one attempt finds too little; each step of the target needs another one. */
static void a_higher_target_takes_more_work(void **state) {
    (void)state;
    static const double targets[] = {0, 0.9, 0.999};
    huddle_points x = normal_points(5000, 50, 2);
    double recall[3];
    int32_t rounds[3];
    for (int t = 0; t < 3; t++) {
        huddle_knn_options options = with_recall(targets[t], 3, "euclidean");
        huddle_neighbors out;
        huddle_knn_info info;
        assert_ok(huddle_graph_knn(NULL, &x, &options, &out, &info));
        recall[t] = true_recall(&x, &options, &out);
        rounds[t] = info.n_rounds;
        assert_true(info.recall_low <= recall[t] && recall[t] <= info.recall_high);
        assert_true(info.recall >= targets[t]);
        huddle_neighbors_free(&out);
    }
    assert_true(recall[0] < 0.9 && recall[1] > recall[0] && recall[2] > recall[1]);
    assert_true(rounds[0] < rounds[1] && rounds[1] < rounds[2]);
    huddle_points_free(&x);
}

/* A target of 1 is an exact search. */
static void a_target_of_one_is_exact(void **state) {
    (void)state;
    huddle_points x = normal_points(2000, 24, 2);
    huddle_knn_options options = with_recall(1, 5, "euclidean");
    huddle_neighbors out;
    huddle_knn_info info;
    assert_ok(huddle_graph_knn(NULL, &x, &options, &out, &info));
    assert_string_equal(info.solver, "brute");
    assert_true(info.recall == 1 && info.recall_low == 1 && info.recall_high == 1);
    assert_true(info.n_rounds == 0 && true_recall(&x, &options, &out) == 1);
    huddle_neighbors_free(&out);
    options.recall = 1.01;
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, &info), HUDDLE_INVALID, "recall");
    options.recall = -0.01;
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, &info), HUDDLE_INVALID, "recall");
    huddle_points_free(&x);
}

static void count_warnings(void *user, huddle_log_level level, huddle_warning_code code,
                           const char *text) {
    int *count = user;
    if (level != HUDDLE_LOG_WARNING)
        return;
    assert_int_equal(code, HUDDLE_WARNING_LOW_RECALL);
    assert_string_equal(huddle_warning_name(code), "low_recall");
    assert_non_null(strstr(text, "99.50 % were asked for"));
    ++*count;
}

static void a_target_that_is_missed_is_reported(void **state) {
    (void)state;
    huddle_points x = simplex_points(700), easy = curved_points(700, 20);
    huddle_knn_options options = with_recall(0.995, 5, "euclidean");
    huddle_context *context;
    huddle_neighbors out;
    huddle_knn_info info;
    int warnings = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_warnings, &warnings);
    assert_ok(huddle_graph_knn(context, &easy, &options, &out, &info));
    assert_int_equal(warnings, 0);
    huddle_neighbors_free(&out);
    assert_ok(huddle_graph_knn(context, &x, &options, &out, &info));
    assert_int_equal(warnings, 1);
    double recall = true_recall(&x, &options, &out);
    assert_true(info.recall < 0.9 && info.recall_low <= recall && recall <= info.recall_high);
    huddle_neighbors_free(&out);
    huddle_context_free(context);
    huddle_points_free(&x);
    huddle_points_free(&easy);
}

/* ---- promises ------------------------------------------------------------------------------ */

/* 20,000 points: levels of several nodes, subtrees, and many leaves for each thread. */
static void lists_do_not_depend_on_threads(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    for (int cosine = 0; cosine < 2; cosine++) {
        huddle_points x = cosine ? curved_points(3000, 140) : normal_points(20000, 12, 3);
        huddle_knn_options options = with_recall(0.98, 5, cosine ? "cosine" : "euclidean");
        huddle_neighbors first, again;
        huddle_knn_info one, other;
        size_t size = (size_t)(x.n * 5);
        for (int t = 0; t < 4; t++) {
            huddle_context *context;
            assert_ok(huddle_context_new(&context));
            assert_ok(huddle_context_set_threads(context, threads[t]));
            assert_ok(huddle_graph_knn(context, &x, &options, t == 0 ? &first : &again,
                                       t == 0 ? &one : &other));
            huddle_context_free(context);
            if (t == 0)
                continue;
            assert_memory_equal(first.index, again.index, size * sizeof *first.index);
            assert_memory_equal(first.distance, again.distance, size * sizeof *first.distance);
            assert_true(one.recall == other.recall && one.recall_low == other.recall_low);
            assert_true(one.n_rounds == other.n_rounds && one.n_distances == other.n_distances);
            huddle_neighbors_free(&again);
        }
        /* Another seed has other trees: it misses other neighbours, and estimates on others. */
        options.seed = 1;
        assert_ok(huddle_graph_knn(NULL, &x, &options, &again, &other));
        assert_true(cosine || memcmp(first.index, again.index, size * sizeof *first.index) != 0);
        huddle_neighbors_free(&first);
        huddle_neighbors_free(&again);
        huddle_points_free(&x);
    }
}

typedef struct stopping {
    int calls, limit;
} stopping;

static int cancel_later(void *user, const char *stage, double done, double total) {
    stopping *s = user;
    assert_string_equal(stage, "graph");
    assert_true(done >= 0 && done <= total);
    return ++s->calls > s->limit;
}

static void can_be_cancelled(void **state) {
    (void)state;
    huddle_points x = normal_points(12000, 30, 1);
    for (int limit = 0; limit < 2; limit++) {
        stopping s = {.limit = limit};
        huddle_knn_options options = with_recall(0.995, 5, "euclidean");
        huddle_context *context;
        huddle_neighbors out;
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, cancel_later, &s);
        huddle_status status = huddle_graph_knn(context, &x, &options, &out, NULL);
        /* Reports come every tenth of a second, so that a fast machine may need one only. */
        assert_true(status == HUDDLE_CANCELLED || (limit > 0 && status == HUDDLE_OK));
        huddle_neighbors_free(&out);
        huddle_context_free(context);
    }
    huddle_points_free(&x);
}

typedef struct trial {
    huddle_points *x;
    const char *metric;
} trial;

static huddle_status try_search(void *argument) {
    const trial *t = argument;
    huddle_knn_options options = with_recall(0.995, 5, t->metric);
    huddle_neighbors out;
    huddle_status status = huddle_graph_knn_ties(NULL, t->x, &options, &out, NULL);
    huddle_neighbors_free(&out);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points few = curved_points(700, 4), many = curved_points(500, 150);
    huddle_points grid = whole_points(600, 2, 30, 1), hard = normal_points(900, 30, 1);
    test_each_allocation(try_search, &(trial){&few, "euclidean"});
    test_each_allocation(try_search, &(trial){&few, "cosine"});
    test_each_allocation(try_search, &(trial){&many, "euclidean"});
    test_each_allocation(try_search, &(trial){&grid, "euclidean"});
    test_each_allocation(try_search, &(trial){&hard, "euclidean"}); /* several attempts */
    huddle_points_free(&few);
    huddle_points_free(&many);
    huddle_points_free(&grid);
    huddle_points_free(&hard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nearly_all_neighbors),
        cmocka_unit_test(handles_equal_points),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(a_higher_target_takes_more_work),
        cmocka_unit_test(a_target_of_one_is_exact),
        cmocka_unit_test(a_target_that_is_missed_is_reported),
        cmocka_unit_test(lists_do_not_depend_on_threads),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
