/* Spectral clustering on bipartite graphs against NumPy, SciPy and its own definition. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "model/model.h"
#include "steps/supernodes.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the steps against bipartite.txt --------------------------------------------------------- */

enum { N = 40, S = 7, K = 4, COLUMNS = 3, GRAPHS = 4 };

typedef struct golden {
    const double *graph, *seeds, *of, *links, *singular, *projection, *embedding, *halves;
    int64_t count;
} golden;

/* The next graph; *at moves behind it. */
static golden next_graph(const double **at) {
    golden g = {.graph = *at};
    g.seeds = g.graph + N * N;
    g.of = g.seeds + S;
    g.count = (int64_t)g.of[N];
    g.links = g.of + N + 1;
    g.singular = g.links + N * g.count;
    g.projection = g.singular + K;
    g.embedding = g.projection + N * N;
    g.halves = g.embedding + N * COLUMNS;
    *at = g.halves + 2 * N * COLUMNS;
    return g;
}

static void for_each_graph(void (*check)(const golden *g, const huddle_csr *graph)) {
    int64_t count;
    double *numbers = test_golden("bipartite.txt", &count);
    const double *at = numbers;
    for (int k = 0; k < GRAPHS; k++) {
        golden g = next_graph(&at);
        huddle_csr graph;
        int64_t edges = 0;
        assert_ok(huddle_csr_new(N, N, N * N, &graph));
        for (int64_t e = 0; e < N * N; e++) {
            if (g.graph[e] != 0) {
                graph.columns[edges] = (int32_t)(e % N);
                graph.values[edges++] = g.graph[e];
            }
            graph.offsets[e / N + 1] = edges;
        }
        check(&g, &graph);
        huddle_csr_free(&graph);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* Every entry of links, and none twice or out of order. */
static void check_links(const huddle_csr *links, int64_t cols, const double *expected) {
    assert_int_equal(links->rows, N);
    assert_int_equal(links->cols, cols);
    for (int64_t i = 0; i < N; i++) {
        int64_t e = links->offsets[i];
        for (int64_t k = 0; k < cols; k++) {
            bool stored = e < links->offsets[i + 1] && links->columns[e] == k;
            assert_close(stored ? links->values[e] : 0, expected[i * cols + k], 1e-12);
            e += stored;
        }
        assert_int_equal(e, links->offsets[i + 1]);
    }
}

static void check_supernodes(const golden *g, const huddle_csr *graph) {
    int64_t seeds[S], count;
    int32_t of[N];
    huddle_csr r, links;
    for (int k = 0; k < S; k++)
        seeds[k] = (int64_t)g->seeds[k];
    assert_ok(hd_step_supernodes_grow(NULL, graph, S, seeds, of, &count));
    assert_int_equal(count, g->count);
    for (int i = 0; i < N; i++)
        assert_int_equal(of[i], g->of[i]);
    assert_ok(hd_step_supernodes_of(N, count, of, &r));
    assert_ok(hd_step_supernodes_link(NULL, graph, &r, &links));
    check_links(&links, count, g->links);
    huddle_csr_free(&r);
    huddle_csr_free(&links);
}

static void supernodes_are_those_of_scipy(void **state) {
    (void)state;
    for_each_graph(check_supernodes);
}

static void check_halves(const golden *g, const huddle_csr *graph) {
    huddle_csr r, links;
    huddle_dense embedding;
    /* A constant column between the others, but for rounding, has no halves. */
    assert_ok(huddle_dense_new(N, COLUMNS + 1, &embedding));
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k <= COLUMNS; k++)
            embedding.values[i * (COLUMNS + 1) + k] =
                k == 1 ? 7 + 1e-9 * (double)(i % 2)
                       : g->embedding[i * COLUMNS + (k > 1 ? k - 1 : k)];
    assert_ok(hd_step_supernodes_split(&embedding, &r));
    assert_ok(hd_step_supernodes_link(NULL, graph, &r, &links));
    check_links(&links, 2 * COLUMNS, g->halves);
    huddle_csr_free(&r);
    huddle_csr_free(&links);
    embedding.cols = 1; /* constant columns only: one supernode for all */
    for (int64_t i = 0; i < N; i++)
        embedding.values[i * embedding.stride] = -2;
    assert_ok(hd_step_supernodes_split(&embedding, &r));
    assert_int_equal(r.cols, 1);
    assert_int_equal(r.offsets[N], N);
    huddle_csr_free(&r);
    huddle_dense_free(&embedding);
}

static void later_supernodes_are_halves(void **state) {
    (void)state;
    for_each_graph(check_halves);
}

static void check_vectors(const golden *g, const huddle_csr *graph) {
    huddle_csr links;
    huddle_embedding e = {0};
    int64_t entries = 0;
    (void)graph;
    assert_ok(huddle_csr_new(N, g->count, N * g->count, &links));
    for (int64_t i = 0; i < N * g->count; i++) {
        if (g->links[i] != 0) {
            links.columns[entries] = (int32_t)(i % g->count);
            links.values[entries++] = g->links[i];
        }
        links.offsets[i / g->count + 1] = entries;
    }
    assert_ok(hd_step_supernodes_vectors(NULL, &links, K, &e));
    assert_int_equal(e.vectors.cols, K);
    assert_int_equal(e.n_eigenvalues, K);
    for (int k = 0; k < K; k++)
        assert_close(e.eigenvalues[k], 1 - g->singular[k], 1e-10);
    for (int64_t i = 0; i < N; i++) {
        double degree = 0;
        for (int64_t k = 0; k < g->count; k++)
            degree += g->links[i * g->count + k];
        assert_close(e.degrees[i], degree, 1e-12);
        for (int64_t j = 0; j < N; j++) {
            double product = 0;
            for (int k = 0; k < K; k++)
                product += e.vectors.values[i * K + k] * e.vectors.values[j * K + k];
            assert_close(product, g->projection[i * N + j], 1e-8);
        }
    }
    huddle_csr_free(&links);
    huddle_embedding_free(&e);
}

static void vectors_are_those_of_numpy(void **state) {
    (void)state;
    for_each_graph(check_vectors);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* c clouds in d dimensions; `spread` of each relative to the distances between them. */
static huddle_points clouds(int64_t n, int64_t d, int64_t c, double spread, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng place = hd_rng_stream(seed, (uint64_t)(i % c));
        hd_rng noise = hd_rng_stream(seed + 9, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(3 * hd_rng_normal(&place) + spread * hd_rng_normal(&noise));
    }
    return x;
}

/* A model with options, a list of names and values that ends with NULL. */
static huddle_model *new_model(const char *n_clusters, const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new("bipartite", &model));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    return model;
}

/* How well labels agree with i % c. */
static double accuracy(const huddle_model *model, int64_t n, int64_t c) {
    int32_t *truth = malloc((size_t)n * sizeof *truth);
    huddle_scores scores;
    for (int64_t i = 0; i < n; i++)
        truth[i] = (int32_t)(i % c);
    assert_ok(huddle_metrics_scores(NULL, n, truth, huddle_model_labels(model, NULL), &scores));
    free(truth);
    return scores.acc;
}

/* With few and many supernodes, connected or not, and over generations. */
static void separate_clouds_are_found(void **state) {
    (void)state;
    static const char *const options[][5] = {{"n_supernodes", "12", "connect", "true", NULL},
                                             {"n_supernodes", "12", "connect", "false", NULL},
                                             {"n_supernodes", "400", "rows", "rw", NULL},
                                             {"generations", "2", "connect", "true", NULL},
                                             {"generations", "3", "scale", "binary", NULL},
                                             {NULL}};
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        huddle_points x = clouds(200, 6, 4, .3, t);
        huddle_model *model = new_model("4", options[t]);
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_close(accuracy(model, 200, 4), 1, 0);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* If every vertex is a supernode, links are A, whose normalised singular values are the absolute
 * eigenvalues of D^-1/2 A D^-1/2: without negative ones among the first, those of sc. */
static void all_vertices_as_supernodes_are_sc(void **state) {
    (void)state;
    huddle_points x = clouds(90, 3, 3, 1.2, 4);
    huddle_model *model = new_model("3", (const char *const[]){"n_supernodes", "90", NULL}), *sc;
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_new("sc", &sc));
    assert_ok(huddle_model_set_option(sc, "prepare", "none"));
    assert_ok(huddle_model_set_option(sc, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(sc, "embed_solver", "dense"));
    assert_ok(huddle_model_fit(NULL, sc, &x));
    for (int k = 0; k < 3; k++)
        assert_close(model->fit.embedding.f.eigenvalues[k], sc->fit.embedding.f.eigenvalues[k],
                     1e-7);
    huddle_model_free(model);
    huddle_model_free(sc);
    huddle_points_free(&x);
}

/* The second generation has the halves of the first's vectors, each entry divided by the root of
 * its degree: as many columns as clusters. All vertices are seeds, so that nothing is drawn. */
static void the_second_generation_follows_the_first(void **state) {
    (void)state;
    huddle_points x = clouds(80, 3, 4, 2, 3);
    huddle_model *first = new_model("4", (const char *const[]){"n_supernodes", "80", NULL});
    huddle_model *second =
        new_model("4", (const char *const[]){"n_supernodes", "80", "generations", "2", NULL});
    assert_ok(huddle_model_fit(NULL, first, &x));
    assert_ok(huddle_model_fit(NULL, second, &x));
    const huddle_embedding *e = &first->fit.embedding.f;
    huddle_dense rows;
    huddle_csr r, links;
    huddle_embedding expected = {0};
    assert_ok(huddle_dense_new(80, 4, &rows));
    for (int64_t i = 0; i < 80; i++)
        for (int64_t k = 0; k < 4; k++)
            rows.values[i * 4 + k] =
                e->vectors.values[i * e->vectors.stride + k] / sqrt(e->degrees[i]);
    assert_ok(hd_step_supernodes_split(&rows, &r));
    assert_ok(hd_step_supernodes_link(NULL, &first->fit.graph.matrix, &r, &links));
    assert_ok(hd_step_supernodes_vectors(NULL, &links, 5, &expected));
    assert_true(second->fit.embedding.f.n_eigenvalues >= 3);
    for (int k = 1; k < second->fit.embedding.f.n_eigenvalues; k++)
        assert_close(second->fit.embedding.f.eigenvalues[k], expected.eigenvalues[k], 1e-9);
    huddle_dense_free(&rows);
    huddle_csr_free(&r);
    huddle_csr_free(&links);
    huddle_embedding_free(&expected);
    huddle_model_free(first);
    huddle_model_free(second);
    huddle_points_free(&x);
}

/* A given graph is clustered; without points nothing can be predicted. */
static void a_given_graph_is_clustered(void **state) {
    (void)state;
    huddle_points x = clouds(120, 4, 3, .4, 2);
    huddle_model *model = new_model("3", (const char *const[]){NULL});
    int32_t labels[120];
    huddle_csr graph;
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_csr_copy(&model->fit.graph.matrix, &graph));
    huddle_model_free(model);
    model = new_model("3", (const char *const[]){NULL});
    assert_ok(huddle_model_set_graph(model, &graph));
    assert_ok(huddle_model_fit(NULL, model, NULL));
    assert_close(accuracy(model, 120, 3), 1, 0);
    assert_refused(huddle_model_predict(NULL, model, &x, labels), HUDDLE_UNSUPPORTED,
                   "given graph");
    huddle_csr_free(&graph);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void few_supernodes_are_refused(void **state) {
    (void)state;
    huddle_points x = clouds(60, 4, 3, .4, 2);
    huddle_model *model = new_model("9", (const char *const[]){"n_supernodes", "7", NULL});
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID,
                   "n_supernodes = 7 is fewer than n_clusters = 9");
    assert_refused(huddle_model_set_option(model, "n_supernodes", "5001"), HUDDLE_INVALID,
                   "n_supernodes = 5001");
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* A later generation has two supernodes for each column of the embedding, but no more columns than
 * there are vertices; copies are one. */
static void many_supernodes_of_later_generations_are_refused(void **state) {
    (void)state;
    static const char *const options[] = {"generations", "2", NULL};
    huddle_points x = clouds(2600, 2, 5, 1, 3), copies = clouds(2600, 2, 60, 0, 3);
    huddle_model *model = new_model("2501", options);
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_UNSUPPORTED,
                   "two supernodes for each of 2501 columns of the embedding, but 5000");
    assert_ok(huddle_model_fit(NULL, model, &copies));
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&copies);
}

/* Seeds are drawn by the seed, and the automatic number is a fifth of the vertices within bounds:
 * it is seen by the labels being those of that number. */
static void the_number_of_supernodes_is_chosen(void **state) {
    (void)state;
    static const int64_t sizes[] = {300, 800};
    static const char *const numbers[] = {"100", "160"};
    for (int t = 0; t < 2; t++) {
        huddle_points x = clouds(sizes[t], 2, 5, 2, 6);
        huddle_model *a = new_model("5", (const char *const[]){NULL});
        huddle_model *b = new_model("5", (const char *const[]){"n_supernodes", numbers[t], NULL});
        huddle_model *c = new_model("5", (const char *const[]){"seed", "1", NULL});
        assert_ok(huddle_model_fit(NULL, a, &x));
        assert_ok(huddle_model_fit(NULL, b, &x));
        assert_ok(huddle_model_fit(NULL, c, &x));
        double last = a->fit.embedding.f.eigenvalues[4];
        assert_true(last == b->fit.embedding.f.eigenvalues[4]);
        assert_true(last != c->fit.embedding.f.eigenvalues[4]);
        huddle_model_free(a);
        huddle_model_free(b);
        huddle_model_free(c);
        huddle_points_free(&x);
    }
}

/* As many clusters as points, one cluster, equal points, a constant column. */
static void degenerate_points_are_clustered(void **state) {
    (void)state;
    huddle_points x = clouds(6, 3, 6, .1, 1);
    for (int generations = 1; generations < 3; generations++) {
        const char *const options[] = {"generations", generations == 1 ? "1" : "2", NULL};
        huddle_model *model = new_model("1", options);
        assert_ok(huddle_model_fit(NULL, model, &x));
        for (int32_t i = 0; i < 6; i++)
            assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
        huddle_model_free(model);
        huddle_points equal;
        assert_ok(huddle_points_new(20, 2, &equal));
        model = new_model("3", options);
        assert_ok(huddle_model_fit(NULL, model, &equal));
        for (int32_t i = 0; i < 20; i++)
            assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
        huddle_model_free(model);
        huddle_points_free(&equal);
    }
    huddle_model *model = new_model("6", (const char *const[]){NULL});
    assert_ok(huddle_model_fit(NULL, model, &x));
    for (int32_t i = 0; i < 6; i++)
        assert_in_range(huddle_model_labels(model, NULL)[i], 0, 5);
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supernodes_are_those_of_scipy),
        cmocka_unit_test(later_supernodes_are_halves),
        cmocka_unit_test(vectors_are_those_of_numpy),
        cmocka_unit_test(separate_clouds_are_found),
        cmocka_unit_test(all_vertices_as_supernodes_are_sc),
        cmocka_unit_test(the_second_generation_follows_the_first),
        cmocka_unit_test(a_given_graph_is_clustered),
        cmocka_unit_test(few_supernodes_are_refused),
        cmocka_unit_test(many_supernodes_of_later_generations_are_refused),
        cmocka_unit_test(the_number_of_supernodes_is_chosen),
        cmocka_unit_test(degenerate_points_are_clustered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
