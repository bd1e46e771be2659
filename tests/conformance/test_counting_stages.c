/* Every stage on the counting engine, beside the CPU: two implementations that share nothing must
 * agree, whether results are on the host or stay in the engine's memory. */
#include "base/context.h"
#include "base/rng.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 80, D = 4, C = 3 };

static const char *const modes[] = {"", "resident"};

/* Three clouds that touch. */
static huddle_points clouds(int64_t n, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, D, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)(3.0 * (double)(i % C == j) + hd_rng_normal(&rng));
    }
    return x;
}

static huddle_dense rows_of(const huddle_points *x) {
    huddle_dense f;
    assert_ok(huddle_dense_new(x->n, x->d, &f));
    for (int64_t i = 0; i < x->n * x->d; i++)
        f.values[i] = (double)x->values[i];
    return f;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void check_same_lists(const huddle_neighbors *a, const huddle_neighbors *b) {
    assert_ok(huddle_neighbors_fetch(a));
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    assert_memory_equal(a->index, b->index, (size_t)(a->n * a->k) * sizeof *a->index);
    for (int64_t e = 0; e < a->n * a->k; e++)
        if (a->index[e] >= 0) /* an absent one is at infinity */
            assert_close(a->distance[e], b->distance[e], 1e-12);
}

static void check_neighbors(const char *mode, const char *metric) {
    huddle_context *context = counting_context(mode);
    huddle_points x = clouds(N, 1), y = clouds(17, 2);
    huddle_dense f = rows_of(&x), g = rows_of(&y);
    huddle_neighbors a, b;
    huddle_knn_options options = huddle_knn_defaults();
    huddle_knn_info info;
    options.n_neighbors = 7;
    options.metric = metric;
    assert_ok(huddle_graph_knn(context, &x, &options, &a, &info));
    assert_ok(huddle_graph_knn(NULL, &x, &options, &b, NULL));
    assert_string_equal(info.solver, "counting");
    check_same_lists(&a, &b);
    huddle_neighbors_free(&a);
    huddle_neighbors_free(&b);
    assert_ok(huddle_graph_query(context, &x, &y, &options, &a, NULL));
    assert_ok(huddle_graph_query(NULL, &x, &y, &options, &b, NULL));
    check_same_lists(&a, &b);
    huddle_neighbors_free(&a);
    huddle_neighbors_free(&b);
    if (strcmp(metric, "euclidean") == 0) {
        assert_ok(huddle_graph_knn_dense(context, &f, &options, &a, NULL));
        assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &b, NULL));
        check_same_lists(&a, &b);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        assert_ok(huddle_graph_query_dense(context, &f, &g, &options, &a, NULL));
        assert_ok(huddle_graph_query_dense(NULL, &f, &g, &options, &b, NULL));
        check_same_lists(&a, &b);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        assert_int_equal(counting_calls(context, COUNTING_ROW_NEIGHBORS), 1);
        assert_int_equal(counting_calls(context, COUNTING_ROW_QUERIES), 1);
    }
    assert_int_equal(counting_calls(context, COUNTING_NEIGHBORS), 1);
    assert_int_equal(counting_calls(context, COUNTING_QUERIES), 1);
    huddle_dense_free(&f);
    huddle_dense_free(&g);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_context_free(context);
}

static void neighbors_agree(void **state) {
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        check_neighbors(modes[m], "euclidean");
        check_neighbors(modes[m], "cosine");
    }
}

/* Whole numbers have many equal distances: the lists with ties come from the same searches. */
static void ties_agree(void **state) {
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        huddle_context *context = counting_context(modes[m]);
        huddle_points x = clouds(N, 3), y = clouds(20, 4);
        huddle_neighbors a, b;
        huddle_knn_options options = huddle_knn_defaults();
        options.n_neighbors = 5;
        for (int64_t i = 0; i < x.n * D; i++)
            x.values[i] = roundf(x.values[i]);
        for (int64_t i = 0; i < y.n * D; i++)
            y.values[i] = roundf(y.values[i]);
        assert_ok(huddle_graph_knn_ties(context, &x, &options, &a, NULL));
        assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &b, NULL));
        check_same_lists(&a, &b);
        assert_true(a.k > 5);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        assert_ok(huddle_graph_query_ties(context, &x, &y, &options, &a, NULL));
        assert_ok(huddle_graph_query_ties(NULL, &x, &y, &options, &b, NULL));
        check_same_lists(&a, &b);
        assert_true(counting_calls(context, COUNTING_NEIGHBORS) >= 1);
        assert_true(counting_calls(context, COUNTING_QUERIES) >= 1);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        huddle_points_free(&x);
        huddle_points_free(&y);
        huddle_context_free(context);
    }
}

static void check_same_graphs(const huddle_csr *a, const huddle_csr *b) {
    assert_ok(huddle_csr_fetch(a));
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    int64_t count = a->offsets[a->rows];
    assert_memory_equal(a->columns, b->columns, (size_t)count * sizeof *a->columns);
    for (int64_t e = 0; e < count; e++)
        assert_close(a->values[e], b->values[e], 1e-12);
}

static void weights_agree(void **state) {
    (void)state;
    static const char *const rules[] = {"selftune", "mean", "knn", "global", "binary"};
    for (size_t r = 0; r < 2 * sizeof rules / sizeof *rules; r++) {
        huddle_context *context = counting_context(modes[r % 2]);
        huddle_points x = clouds(N, 5);
        huddle_neighbors lists, host;
        huddle_csr a, b;
        huddle_scale s, t;
        huddle_weight_options options = huddle_weight_defaults();
        options.scale = rules[r / 2];
        options.mean_distance = 2.5;
        assert_ok(huddle_graph_knn(context, &x, NULL, &lists, NULL));
        assert_ok(huddle_graph_knn(NULL, &x, NULL, &host, NULL));
        assert_ok(huddle_graph_weigh(context, &lists, &options, &a, &s));
        assert_ok(huddle_graph_weigh(NULL, &host, &options, &b, &t));
        check_same_graphs(&a, &b);
        assert_string_equal(s.rule, t.rule);
        assert_close(s.delta2, t.delta2, 1e-12);
        assert_close(s.smallest, t.smallest, 1e-12);
        assert_int_equal(s.n, t.n);
        for (int64_t i = 0; i < s.n; i++)
            assert_close(s.local[i], t.local[i], 1e-12);
        assert_int_equal(counting_calls(context, COUNTING_WEIGH), 1);
        huddle_scale_free(&s);
        huddle_scale_free(&t);
        huddle_csr_free(&a);
        huddle_csr_free(&b);
        huddle_neighbors_free(&lists);
        huddle_neighbors_free(&host);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* The graph of points by the given context. */
static huddle_csr graph_of(huddle_context *context, const huddle_points *x, huddle_scale *scale) {
    huddle_neighbors lists;
    huddle_csr graph;
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = 6;
    assert_ok(huddle_graph_knn(context, x, &options, &lists, NULL));
    assert_ok(huddle_graph_weigh(context, &lists, NULL, &graph, scale));
    huddle_neighbors_free(&lists);
    return graph;
}

/* Two far groups: bridges are found between them, and the engine's copy of the graph is replaced.
 */
static void bridges_agree(void **state) {
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        huddle_context *context = counting_context(modes[m]);
        huddle_points x = clouds(N, 6);
        for (int64_t i = 0; i < N; i++)
            x.values[i * D + D - 1] += i % 2 == 0 ? 40 : 0;
        huddle_scale s, t;
        huddle_csr a = graph_of(context, &x, &s), b = graph_of(NULL, &x, &t);
        huddle_connect_options options = huddle_connect_defaults();
        huddle_connect_info info;
        options.connect = "true";
        options.n_clusters = 2;
        assert_ok(huddle_graph_connect(context, &x, &options, &s, &a, &info));
        assert_ok(huddle_graph_connect(NULL, &x, &options, &t, &b, NULL));
        assert_int_equal(info.after, 1);
        assert_true(info.bridges > 0);
        check_same_graphs(&a, &b);
        assert_true(counting_calls(context, COUNTING_BRIDGES) > 0);
        huddle_scale_free(&s);
        huddle_scale_free(&t);
        huddle_csr_free(&a);
        huddle_csr_free(&b);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* ---- the embedding --------------------------------------------------------------------------- */

static void check_same_embeddings(const huddle_embedding *a, const huddle_embedding *b, int32_t c) {
    assert_ok(huddle_dense_fetch(&a->vectors));
    assert_ok(huddle_dense_fetch(&a->rows));
    assert_true(a->n_eigenvalues >= c);
    for (int32_t k = 0; k < c; k++)
        assert_close(a->eigenvalues[k], b->eigenvalues[k], 1e-8);
    for (int64_t i = 0; i < b->vectors.rows; i++)
        for (int64_t k = 0; k < c; k++) {
            assert_close(a->vectors.values[i * a->vectors.stride + k],
                         b->vectors.values[i * b->vectors.stride + k], 1e-6);
            assert_close(a->rows.values[i * a->rows.stride + k],
                         b->rows.values[i * b->rows.stride + k], 1e-5);
        }
}

static void embeddings_agree(void **state) {
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        huddle_context *context = counting_context(modes[m]);
        huddle_points x = clouds(N, 7);
        huddle_csr a = graph_of(context, &x, NULL), b = graph_of(NULL, &x, NULL);
        huddle_embedding e, f;
        huddle_embed_info info;
        huddle_embed_options options = huddle_embed_defaults();
        options.n_components = 4;
        assert_ok(huddle_embed(context, &a, &options, &e, &info));
        assert_string_equal(info.solver, "counting");
        assert_true(isfinite(info.gap));
        assert_true(info.residual < 1e-8);
        assert_ok(huddle_embed(NULL, &b, &options, &f, NULL));
        check_same_embeddings(&e, &f, 4);
        huddle_embedding_free(&e);
        huddle_embedding_free(&f);
        assert_int_equal(counting_calls(context, COUNTING_EIGENPAIRS), 1);
        assert_ok(huddle_csr_fetch(&a));
        assert_ok(huddle_embed_symmetric(context, &a, -INFINITY, INFINITY, &options, &e, &info));
        assert_string_equal(info.solver, "counting");
        assert_ok(huddle_embed_symmetric(NULL, &b, -INFINITY, INFINITY, &options, &f, NULL));
        check_same_embeddings(&e, &f, 4);
        assert_int_equal(counting_calls(context, COUNTING_EIGENPAIRS), 2);
        huddle_embedding_free(&e);
        huddle_embedding_free(&f);
        huddle_csr_free(&a);
        huddle_csr_free(&b);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* The shrink objective from its definition. */
static double objective(const huddle_dense *f, const huddle_csr *w, const double *weights,
                        double gamma, bool squared, const huddle_dense *g) {
    double sum = 0;
    for (int64_t i = 0; i < f->rows; i++) {
        const double *row = g->values + i * g->stride;
        double d = counting_distance(row, f->values + i * f->stride, f->cols);
        sum += (weights != NULL ? weights[i] : 1) * (squared ? d * d : d);
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
            if (w->columns[e] > i)
                sum += gamma * w->values[e] *
                       counting_distance(row, g->values + w->columns[e] * g->stride, f->cols);
    }
    return sum;
}

static void check_shrink(const char *mode, const char *loss, const double *weights) {
    huddle_context *context = counting_context(mode);
    huddle_points x = clouds(N, 8);
    huddle_dense f = rows_of(&x);
    huddle_csr a = graph_of(context, &x, NULL), b = graph_of(NULL, &x, NULL);
    huddle_shrunk g, h;
    huddle_shrink_info info, cpu;
    huddle_shrink_options options = huddle_shrink_defaults();
    options.loss = loss;
    options.gamma = 3;
    options.weights = weights;
    options.gap = 1e-5;
    options.keep_dual = true;
    assert_ok(huddle_shrink(context, &f, &a, &options, &g, &info));
    assert_ok(huddle_shrink(NULL, &f, &b, &options, &h, &cpu));
    assert_string_equal(info.solver, "counting");
    assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    assert_true(info.gap <= 1e-5);
    assert_int_equal(counting_calls(context, COUNTING_SHRINK), 1);
    /* Each objective is above the other's bound. */
    assert_true(info.objective >= cpu.dual && cpu.objective >= info.dual);
    assert_close(info.objective, cpu.objective, 2e-5);
    /* The objective is that of the rows handed out, on every edge. */
    assert_ok(huddle_dense_fetch(&g.g));
    assert_ok(huddle_dense_fetch(&g.z));
    assert_int_equal(g.z.rows, b.offsets[b.rows] / 2);
    assert_close(info.objective, objective(&f, &b, weights, 3, strcmp(loss, "l2") == 0, &g.g),
                 1e-12);
    huddle_shrink_info_free(&info);
    huddle_shrink_info_free(&cpu);
    huddle_shrunk_free(&g);
    huddle_shrunk_free(&h);
    huddle_csr_free(&a);
    huddle_csr_free(&b);
    huddle_dense_free(&f);
    huddle_points_free(&x);
    huddle_context_free(context);
}

static void shrinking_agrees(void **state) {
    (void)state;
    double weights[N];
    for (int i = 0; i < N; i++)
        weights[i] = 1 + i % 3;
    for (size_t m = 0; m < 2; m++) {
        check_shrink(modes[m], "l21", NULL);
        check_shrink(modes[m], "l2", NULL);
        check_shrink(modes[m], "l21", weights);
    }
}

/* The certificate is the stage's: an engine that returns anything at all cannot forge one. */
static void a_wrong_answer_is_not_certified(void **state) {
    (void)state;
    huddle_context *context = counting_context("forge");
    huddle_points x = clouds(N, 8);
    huddle_dense f = rows_of(&x);
    huddle_csr w = graph_of(context, &x, NULL);
    huddle_shrunk g;
    huddle_shrink_info info;
    huddle_shrink_options options = huddle_shrink_defaults();
    options.gamma = 3;
    assert_ok(huddle_shrink(context, &f, &w, &options, &g, &info));
    assert_int_equal(counting_calls(context, COUNTING_SHRINK), 1);
    assert_true(info.stop != HUDDLE_STOP_CONVERGED && info.stop != HUDDLE_STOP_EXACT);
    assert_true(info.gap > 0.5);
    huddle_shrink_info_free(&info);
    huddle_shrunk_free(&g);
    huddle_csr_free(&w);
    huddle_dense_free(&f);
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* The objective of one new row. */
static double row_objective(const huddle_dense *f, const huddle_csr *w, const huddle_dense *anchors,
                            double gamma, bool squared, const huddle_dense *g, int64_t i) {
    const double *at = g->values + i * g->stride;
    double d = counting_distance(at, f->values + i * f->stride, f->cols);
    double sum = squared ? d * d : d;
    for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
        sum += gamma * w->values[e] *
               counting_distance(at, anchors->values + w->columns[e] * anchors->stride, f->cols);
    return sum;
}

static void new_rows_agree(void **state) {
    (void)state;
    enum { M = 30, PULLS = 4 };
    huddle_points x = clouds(M, 9), y = clouds(N, 10);
    huddle_dense f = rows_of(&x), anchors = rows_of(&y), g, h;
    huddle_csr w;
    assert_ok(huddle_csr_new(M, N, M * PULLS, &w));
    for (int64_t e = 0; e < M * PULLS; e++) {
        w.columns[e] = (int32_t)(e % PULLS * 19 + e / PULLS % 7);
        w.values[e] = 0.2 + 0.1 * (double)(e % 5);
        w.offsets[e / PULLS + 1] = e + 1;
    }
    for (int mode = 0; mode < 4; mode++) {
        huddle_context *context = counting_context(modes[mode % 2]);
        const char *loss = mode < 2 ? "l21" : "l2";
        assert_ok(huddle_dense_new(M, D, &g));
        assert_ok(huddle_dense_new(M, D, &h));
        assert_ok(huddle_shrink_points(context, &f, &w, &anchors, 1.5, loss, &g));
        assert_ok(huddle_shrink_points(NULL, &f, &w, &anchors, 1.5, loss, &h));
        assert_ok(huddle_dense_fetch(&g));
        for (int64_t i = 0; i < M; i++)
            assert_close(row_objective(&f, &w, &anchors, 1.5, mode >= 2, &g, i),
                         row_objective(&f, &w, &anchors, 1.5, mode >= 2, &h, i), 1e-9);
        assert_int_equal(counting_calls(context, COUNTING_SHRINK_POINTS), 1);
        huddle_dense_free(&g);
        huddle_dense_free(&h);
        huddle_context_free(context);
    }
    huddle_csr_free(&w);
    huddle_dense_free(&f);
    huddle_dense_free(&anchors);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* ---- K-means --------------------------------------------------------------------------------- */

/* Equal up to the numbers of the clusters. */
static void check_same_partition(const int32_t *a, const int32_t *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            assert_int_equal(a[i] == a[j], b[i] == b[j]);
}

static void check_clustering(const char *mode, const huddle_points *x, const double *weights,
                             const huddle_dense *start) {
    huddle_context *context = counting_context(mode);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    huddle_kmeans_result a, b;
    huddle_kmeans_info info, cpu;
    int32_t labels[N];
    options.n_clusters = C;
    options.n_init = 3;
    options.tol = 0;
    options.start = start;
    options.keep_starts = true;
    assert_ok(huddle_kmeans(context, x, weights, &options, &a, &info));
    assert_ok(huddle_kmeans(NULL, x, weights, &options, &b, &cpu));
    check_same_partition(a.labels, b.labels, x->n);
    assert_close(info.inertia, cpu.inertia, 1e-9);
    assert_int_equal(info.n_restarts, start != NULL ? 1 : 3);
    assert_non_null(info.start_labels);
    assert_int_equal(info.n_distinct, cpu.n_distinct);
    assert_int_equal(counting_calls(context, COUNTING_CLUSTER_ROWS), 1);
    /* The labels are those of the centres, whichever engine assigns them. */
    assert_ok(huddle_kmeans_assign(context, x, &a.centres, labels));
    assert_memory_equal(labels, a.labels, (size_t)x->n * sizeof *labels);
    assert_int_equal(counting_calls(context, COUNTING_ASSIGN_ROWS), 1);
    assert_ok(huddle_dense_fetch(&a.centres));
    assert_ok(huddle_kmeans_assign(NULL, x, &a.centres, labels));
    assert_memory_equal(labels, a.labels, (size_t)x->n * sizeof *labels);
    huddle_kmeans_info_free(&info);
    huddle_kmeans_info_free(&cpu);
    huddle_kmeans_result_free(&a);
    huddle_kmeans_result_free(&b);
    huddle_context_free(context);
}

static void clusterings_agree(void **state) {
    (void)state;
    double weights[N];
    huddle_points x = clouds(N, 11), shifted = {0};
    huddle_dense start;
    double *values = malloc((size_t)(N * D) * sizeof *values);
    for (int i = 0; i < N; i++)
        weights[i] = 0.5 + i % 4;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < C; j++)
            x.values[i * D + j] += i % C == j ? 6 : 0;
    for (int64_t e = 0; e < N * D; e++)
        values[e] = 1e9 + (double)x.values[e];
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &shifted));
    assert_non_null(shifted.shift);
    assert_ok(huddle_dense_new(C, D, &start));
    for (int64_t k = 0; k < C; k++)
        for (int64_t j = 0; j < D; j++)
            start.values[k * D + j] = (double)x.values[k * D + j];
    for (size_t m = 0; m < 2; m++) {
        check_clustering(modes[m], &x, NULL, NULL);
        check_clustering(modes[m], &x, weights, NULL);
        check_clustering(modes[m], &x, NULL, &start);
        check_clustering(modes[m], &shifted, NULL, NULL);
    }
    free(values);
    huddle_dense_free(&start);
    huddle_points_free(&x);
    huddle_points_free(&shifted);
}

/* ---- residents ------------------------------------------------------------------------------- */

static void results_stay_with_the_engine(void **state) {
    (void)state;
    huddle_context *context = counting_context("resident");
    counting_state *counters = counting_state_of(context);
    huddle_points x = clouds(N, 12);
    huddle_neighbors lists;
    huddle_csr graph;
    assert_ok(huddle_graph_knn(context, &x, NULL, &lists, NULL));
    assert_null(lists.index);
    assert_non_null(lists.resident);
    assert_ok(huddle_graph_weigh(context, &lists, NULL, &graph, NULL));
    assert_null(graph.offsets);
    /* From one stage to the next nothing was copied. */
    assert_int_equal(atomic_load(&counters->reused), 1);
    assert_int_equal(counting_transferred(&counters->fetched), 0);
    assert_ok(huddle_csr_fetch(&graph));
    assert_ok(huddle_csr_fetch(&graph));
    assert_int_equal(counting_transferred(&counters->fetched), 1);
    assert_int_equal(graph.columns[graph.offsets[0]] > 0, 1);
    huddle_csr_free(&graph);
    assert_null(graph.resident);
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbors_agree),
        cmocka_unit_test(ties_agree),
        cmocka_unit_test(weights_agree),
        cmocka_unit_test(bridges_agree),
        cmocka_unit_test(embeddings_agree),
        cmocka_unit_test(shrinking_agrees),
        cmocka_unit_test(a_wrong_answer_is_not_certified),
        cmocka_unit_test(new_rows_agree),
        cmocka_unit_test(clusterings_agree),
        cmocka_unit_test(results_stay_with_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
