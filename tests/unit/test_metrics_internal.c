/* metrics: scores without known classes, beside scikit-learn and NumPy. */
#include "huddle/metrics.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double *take_labels(const double *at, int64_t n, int32_t *labels) {
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t)at[i];
    return at + n;
}

static huddle_points sparse_copy(const huddle_points *x) {
    huddle_points sparse;
    int64_t place = 0;
    assert_ok(huddle_points_new_sparse(x->n, x->d, x->n * x->d, &sparse));
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < x->d; j++)
            if (x->values[i * x->stride + j] != 0) {
                sparse.columns[place] = (int32_t)j;
                sparse.values[place++] = x->values[i * x->stride + j];
            }
        sparse.offsets[i + 1] = place;
    }
    return sparse;
}

static double distance(const huddle_points *x, int64_t i, int64_t j) {
    double square = 0;
    for (int64_t k = 0; k < x->d; k++)
        square +=
            pow((double)x->values[i * x->stride + k] - (double)x->values[j * x->stride + k], 2);
    return sqrt(square);
}

/* Mean distance of point i to the other points with that label, or -1 if there are none. */
static double mean_distance(const huddle_points *x, const int32_t *labels, int64_t i,
                            int32_t label) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < x->n; j++)
        if (j != i && labels[j] == label) {
            sum += distance(x, i, j);
            count++;
        }
    return count > 0 ? sum / (double)count : -1;
}

static double silhouette_of(const huddle_points *x, const int32_t *labels, int64_t i) {
    double a = mean_distance(x, labels, i, labels[i]), b = INFINITY;
    for (int64_t j = 0; j < x->n; j++)
        if (labels[j] != labels[i])
            b = fmin(b, mean_distance(x, labels, i, labels[j]));
    return a < 0 || isinf(b) || fmax(a, b) == 0 ? 0 : (b - a) / fmax(a, b);
}

/* Each point's silhouette, dense and sparse, by the definition. */
static void compare_samples(const huddle_points *x, const huddle_points *sparse,
                            const int32_t *labels) {
    double *values = malloc((size_t)x->n * sizeof *values);
    double *others = malloc((size_t)x->n * sizeof *others);
    assert_ok(huddle_metrics_silhouette_samples(NULL, x, labels, values));
    assert_ok(huddle_metrics_silhouette_samples(NULL, sparse, labels, others));
    for (int64_t i = 0; i < x->n; i++) {
        double expected = silhouette_of(x, labels, i);
        assert_close(values[i], expected, 1e-7);
        assert_close(others[i], expected, 1e-7);
    }
    free(values);
    free(others);
}

static void silhouettes_agree_with_scikit_learn(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("metrics_silhouette.txt", &count);
    const double *at = numbers;
    for (int64_t cases = (int64_t)*at++; cases > 0; cases--) {
        int64_t n = (int64_t)*at++, d = (int64_t)*at++;
        huddle_points x;
        int32_t *labels = malloc((size_t)n * sizeof *labels);
        double dense, sparse;
        assert_ok(huddle_points_from_double(NULL, n, d, at, d, 1, &x));
        at = take_labels(at + n * d, n, labels);
        huddle_points s = sparse_copy(&x);
        assert_ok(huddle_metrics_silhouette(NULL, &x, labels, n, 0, &dense));
        assert_ok(huddle_metrics_silhouette(NULL, &s, labels, 10000, 0, &sparse));
        assert_close(dense, *at, 1e-8);
        assert_close(sparse, *at, 1e-8);
        compare_samples(&x, &s, labels);
        at++;
        huddle_points_free(&x);
        huddle_points_free(&s);
        free(labels);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* n points in three heaps far apart. */
static huddle_points heaps(int64_t n, int64_t d, int32_t *labels) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)(i % 3);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(labels[i] == j ? 10 : 0) + (float)((i * 7 + j * 13) % 11) / 20;
    }
    return x;
}

static void samples_are_seeded_and_any_thread_count_agrees(void **state) {
    (void)state;
    enum { N = 1000, D = 20 };
    static int32_t labels[N];
    huddle_points x = heaps(N, D, labels);
    double all, part, again, other, threaded;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 5));
    assert_ok(huddle_metrics_silhouette(NULL, &x, labels, N, 1, &all));
    assert_ok(huddle_metrics_silhouette(NULL, &x, labels, 300, 1, &part));
    assert_ok(huddle_metrics_silhouette(context, &x, labels, 300, 1, &again));
    assert_ok(huddle_metrics_silhouette(NULL, &x, labels, 300, 2, &other));
    assert_ok(huddle_metrics_silhouette(context, &x, labels, N, 3, &threaded));
    assert_true(part == again && part != other && all == threaded);
    assert_close(part, all, 0.01);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void degenerate_silhouettes_are_zero(void **state) {
    (void)state;
    static int32_t labels[6] = {4, 4, 4, 4, 4, 4}, each[6] = {0, 1, 2, 3, 4, 5};
    int32_t heap[6];
    huddle_points x = heaps(6, 3, heap);
    double value = 1, values[6] = {1, 1, 1, 1, 1, 1};
    assert_ok(huddle_metrics_silhouette(NULL, &x, labels, 6, 0, &value));
    assert_true(value == 0);
    assert_ok(huddle_metrics_silhouette_samples(NULL, &x, labels, values));
    assert_true(values[0] == 0 && values[5] == 0);
    value = 1;
    assert_ok(huddle_metrics_silhouette(NULL, &x, each, 6, 0, &value));
    assert_true(value == 0);
    value = 1;
    for (int64_t e = 0; e < 18; e++)
        x.values[e] = 0.1f; /* all points equal */
    assert_ok(huddle_metrics_silhouette(NULL, &x, heap, 6, 0, &value));
    assert_true(value == 0);
    huddle_points_free(&x);
}

static huddle_csr graph_of(const double *weights, int64_t n) {
    huddle_csr graph;
    int64_t place = 0;
    assert_ok(huddle_csr_new(n, n, n * n, &graph));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (weights[i * n + j] != 0) {
                graph.columns[place] = (int32_t)j;
                graph.values[place++] = weights[i * n + j];
            }
        graph.offsets[i + 1] = place;
    }
    return graph;
}

static void graph_scores_agree_with_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("metrics_graph.txt", &count);
    const double *at = numbers;
    for (int64_t cases = (int64_t)*at++; cases > 0; cases--) {
        int64_t n = (int64_t)*at++;
        int32_t labels[64];
        double ncut, modularity;
        huddle_csr graph = graph_of(at, n);
        at = take_labels(at + n * n, n, labels);
        assert_ok(huddle_metrics_ncut(NULL, &graph, labels, &ncut));
        assert_ok(huddle_metrics_modularity(NULL, &graph, labels, &modularity));
        assert_close(ncut, at[0], 1e-12);
        assert_close(modularity, at[1], 1e-12);
        at += 2;
        huddle_csr_free(&graph);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* The members of huddle_graph_scores, in their order. */
enum { N_SCORES = sizeof(huddle_graph_scores) / sizeof(double) };

static void all_graph_scores_agree_with_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("metrics_graph_scores.txt", &count), own[N_SCORES];
    const double *at = numbers;
    for (int64_t cases = (int64_t)*at++; cases > 0; cases--) {
        int64_t n = (int64_t)*at++;
        int32_t labels[64];
        huddle_graph_scores scores;
        double ncut, modularity;
        huddle_csr graph = graph_of(at, n);
        at = take_labels(at + n * n, n, labels);
        assert_ok(huddle_metrics_graph_scores(NULL, &graph, labels, &scores));
        memcpy(own, &scores, sizeof own);
        for (int k = 0; k < N_SCORES; k++)
            assert_close(own[k], at[k], 1e-12);
        at += N_SCORES;
        assert_ok(huddle_metrics_ncut(NULL, &graph, labels, &ncut));
        assert_ok(huddle_metrics_modularity(NULL, &graph, labels, &modularity));
        assert_true(ncut == scores.ncut && modularity == scores.modularity);
        huddle_csr_free(&graph);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* Clusters that are components have f = 1, and J = ln(1 / s). A cluster without volume changes
 * nothing, and one cluster has no information. */
static void extreme_labellings_have_finite_scores(void **state) {
    (void)state;
    static const double weights[] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                                     1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static const int32_t components[] = {3, 3, 7, 7, 9}, one[5] = {0}, single[] = {0, 1, 2, 3, 4};
    huddle_graph_scores scores;
    huddle_csr graph = graph_of(weights, 5);
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, components, &scores));
    assert_true(scores.inside == 1 && scores.ncut == 0);
    assert_close(scores.divergence, log(2), 1e-15);
    assert_close(scores.information, log(2), 1e-15);
    assert_close(scores.map, -log(2), 1e-15);
    assert_close(scores.entropy, log(4), 1e-15);
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, one, &scores));
    assert_true(scores.divergence == 0 && scores.information == 0 && scores.map == 0);
    assert_true(scores.expected == 1 && scores.modularity == 0);
    /* Nothing inside: f = 0, q_k = v_k = 1/4 for four vertices. */
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, single, &scores));
    assert_true(scores.inside == 0 && scores.ncut == 4);
    assert_close(scores.divergence, -log(.75), 1e-15);
    assert_close(scores.map, 2 * log(4) + 2 * log(.5), 1e-15);
    huddle_csr_free(&graph);
}

static void a_graph_without_edges_scores_zero(void **state) {
    (void)state;
    static const int32_t labels[] = {0, 1};
    static const double none[4] = {0};
    double ncut = 1, modularity = 1, all[N_SCORES], zero[N_SCORES] = {0};
    huddle_graph_scores scores;
    huddle_csr graph = graph_of(none, 2);
    assert_ok(huddle_metrics_ncut(NULL, &graph, labels, &ncut));
    assert_ok(huddle_metrics_modularity(NULL, &graph, labels, &modularity));
    assert_true(ncut == 0 && modularity == 0);
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, labels, &scores));
    memcpy(all, &scores, sizeof all);
    assert_memory_equal(all, zero, sizeof all);
    huddle_csr_free(&graph);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    static const double weights[] = {0, -1, -1, 0};
    int32_t labels[3] = {0, 1, 2};
    double value;
    huddle_points x = heaps(3, 2, labels), empty = {0};
    huddle_csr graph = graph_of(weights, 2), oblong = {0}, nothing = {0};
    assert_ok(huddle_csr_new(2, 3, 0, &oblong));
    assert_ok(huddle_csr_new(0, 0, 0, &nothing));
    assert_refused(huddle_metrics_silhouette(NULL, &x, labels, 0, 0, &value), HUDDLE_INVALID,
                   "sample = 0");
    assert_refused(huddle_metrics_silhouette(NULL, &empty, labels, 9, 0, &value), HUDDLE_INVALID,
                   "0 points");
    assert_refused(huddle_metrics_silhouette(NULL, &x, NULL, 9, 0, &value), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_metrics_silhouette_samples(NULL, &x, labels, NULL), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_metrics_ncut(NULL, &graph, labels, &value), HUDDLE_INVALID,
                   "row 1, column 2: the weight -1 is negative");
    assert_refused(huddle_metrics_modularity(NULL, &oblong, labels, &value), HUDDLE_INVALID,
                   "2 x 3 is not a graph");
    assert_refused(huddle_metrics_modularity(NULL, &nothing, labels, &value), HUDDLE_INVALID,
                   "0 x 0");
    assert_refused(huddle_metrics_graph_scores(NULL, &graph, labels, NULL), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_metrics_ncut(NULL, NULL, labels, &value), HUDDLE_INVALID, "missing");
    huddle_csr_free(&graph);
    huddle_csr_free(&oblong);
    huddle_csr_free(&nothing);
    huddle_points_free(&x);
}

typedef struct scene {
    huddle_points x, sparse;
    huddle_csr graph;
    int32_t labels[12];
} scene;

static huddle_status use_all(void *argument) {
    const scene *s = argument;
    double value;
    huddle_status status = huddle_metrics_silhouette(NULL, &s->x, s->labels, 8, 0, &value);
    if (status == HUDDLE_OK)
        status = huddle_metrics_silhouette(NULL, &s->sparse, s->labels, 8, 0, &value);
    huddle_graph_scores scores;
    if (status == HUDDLE_OK)
        status = huddle_metrics_graph_scores(NULL, &s->graph, s->labels, &scores);
    if (status == HUDDLE_OK)
        status = huddle_metrics_ncut(NULL, &s->graph, s->labels, &value);
    return status == HUDDLE_OK ? huddle_metrics_modularity(NULL, &s->graph, s->labels, &value)
                               : status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const double weights[] = {0, 1, 1, 0};
    scene s = {.graph = graph_of(weights, 2)};
    s.x = heaps(12, 3, s.labels);
    s.sparse = sparse_copy(&s.x);
    test_each_allocation(use_all, &s);
    huddle_points_free(&s.x);
    huddle_points_free(&s.sparse);
    huddle_csr_free(&s.graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silhouettes_agree_with_scikit_learn),
        cmocka_unit_test(samples_are_seeded_and_any_thread_count_agrees),
        cmocka_unit_test(degenerate_silhouettes_are_zero),
        cmocka_unit_test(graph_scores_agree_with_numpy),
        cmocka_unit_test(all_graph_scores_agree_with_numpy),
        cmocka_unit_test(extreme_labellings_have_finite_scores),
        cmocka_unit_test(a_graph_without_edges_scores_zero),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
