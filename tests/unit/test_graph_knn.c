/* graph: neighbours against brute force in double, for every solver and instruction set. */
#include "base/rng.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"auto", "brute", "pcabound", "kdtree"};
enum { N_SOLVERS = 4 };

/* ---- brute force in double ------------------------------------------------------------------ */

static double coordinate(const huddle_points *x, int64_t i, int64_t j) {
    if (x->offsets == NULL)
        return (double)x->values[i * x->stride + j] + (x->shift != NULL ? x->shift[j] : 0);
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->columns[e] == j)
            return (double)x->values[e];
    return 0;
}

static double norm(const huddle_points *x, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++)
        sum += coordinate(x, i, j) * coordinate(x, i, j);
    return sqrt(sum);
}

static double true_distance(const huddle_points *a, int64_t i, const huddle_points *b, int64_t j,
                            bool cosine) {
    double s = 1, t = 1, sum = 0;
    if (cosine) {
        s = norm(a, i);
        t = norm(b, j);
        if (s == 0 || t == 0)
            return s == t ? 0 : 1;
    }
    for (int64_t f = 0; f < a->d; f++) {
        double difference = coordinate(a, i, f) / s - coordinate(b, j, f) / t;
        sum += difference * difference;
    }
    return cosine ? sum / 2 : sqrt(sum);
}

typedef struct pair {
    double distance;
    int32_t index;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->distance != q->distance)
        return p->distance < q->distance ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* Fails unless list i of out is that of brute force: distances to 1e-5 of the true ones, each
 * index at the distance it claims, and the very same indices if `ties` says that distances are
 * exact. */
static void check_list(const huddle_points *train, const huddle_points *query, int64_t i,
                       bool cosine, bool ties, const huddle_neighbors *out) {
    bool self = train == query;
    pair *all = malloc((size_t)train->n * sizeof *all);
    int64_t count = 0;
    for (int64_t j = 0; j < train->n; j++)
        if (!self || j != i)
            all[count++] = (pair){true_distance(query, i, train, j, cosine), (int32_t)j};
    qsort(all, (size_t)count, sizeof *all, compare_pairs);
    for (int32_t c = 0; c < out->k; c++) {
        int32_t index = out->index[i * out->k + c];
        double distance = out->distance[i * out->k + c];
        assert_true(index >= 0 && index < train->n && !(self && index == i));
        if (fabs(distance - all[c].distance) > 1e-9 * (1e-3 + all[c].distance))
            fail_msg("point %lld, neighbour %d: %.12g, brute force %.12g", (long long)i, c,
                     distance, all[c].distance);
        if (fabs(distance - true_distance(query, i, train, index, cosine)) >
            1e-9 * distance + 1e-15)
            fail_msg("point %lld: neighbour %d is not at %.12g", (long long)i, index, distance);
        if (ties && index != all[c].index)
            fail_msg("point %lld, neighbour %d: index %d, brute force %d", (long long)i, c, index,
                     all[c].index);
    }
    free(all);
}

static void check_lists(const huddle_points *train, const huddle_points *query, bool cosine,
                        bool ties, const huddle_neighbors *out) {
    assert_int_equal(out->n, query->n);
    /* A prime step: lists of every place in a tile and a block are among those checked. */
    int64_t step = query->n > 60 ? 13 : 1;
    for (int64_t i = 0; i < query->n; i += step)
        check_list(train, query, i, cosine, ties, out);
}

static void check_knn(const huddle_points *x, int32_t k, bool cosine, bool ties) {
    for (int s = 0; s < N_SOLVERS; s++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        huddle_knn_info info;
        options.knn_solver = solvers[s];
        options.n_neighbors = k;
        options.metric = cosine ? "cosine" : "euclidean";
        assert_ok(huddle_graph_knn(NULL, x, &options, &out, &info));
        assert_int_equal(out.k, k < x->n ? k : x->n - 1);
        assert_true(info.recall == 1 && info.solver != NULL);
        check_lists(x, x, cosine, ties, &out);
        huddle_neighbors_free(&out);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

static huddle_points normal_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)hd_rng_normal(&rng);
    return x;
}

/* `clusters` tight heaps far apart. */
static huddle_points clustered_points(int64_t n, int64_t d, int64_t clusters, double width) {
    huddle_points x = normal_points(n, d, 5), centres = normal_points(clusters, d, 6);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(width * (double)x.values[i * d + j] +
                                          10 * (double)centres.values[i % clusters * d + j]);
    huddle_points_free(&centres);
    return x;
}

static huddle_points whole_points(int64_t n, int64_t d, int64_t values, float step) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(9, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = step * (float)hd_rng_below(&rng, values);
    return x;
}

/* A third of the entries, the rest zero; some rows empty. */
static huddle_points sparse_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    int64_t at = 0;
    assert_ok(huddle_points_new_sparse(n, d, n * d, &x));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d && i % 17 != 3; j++)
            if (hd_rng_below(&rng, 3) == 0) {
                x.columns[at] = (int32_t)j;
                x.values[at++] = (float)hd_rng_normal(&rng);
            }
        x.offsets[i + 1] = at;
    }
    return x;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void random_points(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{2, 1},   {3, 5},    {49, 3},    {97, 40},
                                       {500, 8}, {700, 64}, {200, 500}, {900, 33}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = normal_points(sizes[s][0], sizes[s][1], s);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void one_point_has_no_neighbours(void **state) {
    (void)state;
    huddle_points x = normal_points(1, 4, 0);
    huddle_neighbors out;
    assert_ok(huddle_graph_knn(NULL, &x, NULL, &out, NULL));
    assert_int_equal(out.k, 0);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
}

static void more_neighbours_than_points(void **state) {
    (void)state;
    huddle_points x = normal_points(40, 50, 3);
    check_knn(&x, 39, false, true);
    check_knn(&x, 1000, false, true);
    huddle_points_free(&x);
}

static void duplicated_points(void **state) {
    (void)state;
    for (int64_t d = 3; d <= 83; d += 40) {
        huddle_points x = normal_points(600, d, 4);
        for (int64_t i = 300; i < 600; i++)
            memcpy(x.values + i * d, x.values + i % 37 * d, (size_t)d * sizeof *x.values);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void constant_points(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new(700, 40, &x));
    for (int64_t e = 0; e < 700 * 40; e++)
        x.values[e] = 0.1f * (float)(e % 40);
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, false);
    huddle_points_free(&x);
}

static void clustered(void **state) {
    (void)state;
    for (int w = 0; w < 3; w++) {
        huddle_points x = clustered_points(900, 48, 7, pow(10, -2 * w));
        check_knn(&x, 5, false, false);
        huddle_points_free(&x);
    }
}

static void whole_numbers_tie_by_index(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{800, 2, 5}, {800, 16, 3}, {600, 64, 2}, {300, 100, 300}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = whole_points(sizes[s][0], sizes[s][1], sizes[s][2], 1);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
        /* Too large for float to be exact, and tied all the same. */
        x = whole_points(sizes[s][0], sizes[s][1], sizes[s][2], 4099);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void one_hot_rows_all_tie(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new(120, 120, &x));
    for (int64_t i = 0; i < 120; i++)
        x.values[i * 121] = 1;
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, true);
    huddle_points_free(&x);
}

static void large_offsets_and_sizes(void **state) {
    (void)state;
    static const double offsets[] = {1e4, -1e6, 0, 0}, factors[] = {1, 1, 1e-20, 1e30};
    for (int t = 0; t < 4; t++)
        for (int64_t d = 4; d <= 64; d += 60) {
            huddle_points x = normal_points(500, d, 8);
            for (int64_t e = 0; e < 500 * d; e++)
                x.values[e] = (float)((double)x.values[e] * factors[t] + offsets[t]);
            if (factors[t] == 1)
                check_knn(&x, 5, false, true);
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors a, b;
            options.knn_solver = "brute";
            assert_ok(huddle_graph_knn(NULL, &x, &options, &a, NULL));
            options.knn_solver = "kdtree";
            assert_ok(huddle_graph_knn(NULL, &x, &options, &b, NULL));
            assert_memory_equal(a.index, b.index, 2500 * sizeof *a.index);
            huddle_neighbors_free(&a);
            huddle_neighbors_free(&b);
            huddle_points_free(&x);
        }
}

static void cosine_distances(void **state) {
    (void)state;
    for (int64_t d = 3; d <= 60; d += 57) {
        huddle_points x = normal_points(400, d, 11);
        check_knn(&x, 5, true, true);
        for (int64_t i = 0; i < 400; i += 50)
            memset(x.values + i * d, 0, (size_t)d * sizeof *x.values);
        check_knn(&x, 5, true, true);
        double *shift = calloc((size_t)d, sizeof *shift);
        shift[0] = 3;
        shift[d - 1] = -1;
        x.shift = shift;
        check_knn(&x, 5, true, true);
        check_knn(&x, 5, false, true);
        x.shift = NULL;
        free(shift);
        huddle_points_free(&x);
    }
}

static void sparse(void **state) {
    (void)state;
    huddle_points x = sparse_points(400, 60, 12), y = sparse_points(50, 60, 13);
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, true);
    for (int64_t e = 0; e < x.offsets[x.n]; e++)
        x.values[e] = 1;
    check_knn(&x, 5, false, true);
    for (int cosine = 0; cosine < 2; cosine++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        huddle_knn_info info;
        options.metric = cosine ? "cosine" : "euclidean";
        assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, &info));
        assert_string_equal(info.solver, "sparse");
        check_lists(&x, &y, cosine, false, &out);
        huddle_neighbors_free(&out);
    }
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void queries(void **state) {
    (void)state;
    for (int64_t d = 2; d <= 52; d += 25)
        for (int s = 0; s < N_SOLVERS; s++)
            for (int cosine = 0; cosine < 2; cosine++) {
                huddle_points x = normal_points(600, d, 1), y = normal_points(77, d, 2);
                double shift[64] = {0};
                shift[1] = 0.5;
                memcpy(y.values, x.values, (size_t)d * sizeof *y.values);
                huddle_knn_options options = huddle_knn_defaults();
                huddle_neighbors out;
                options.knn_solver = solvers[s];
                options.metric = cosine ? "cosine" : "euclidean";
                assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, NULL));
                assert_int_equal(out.index[0], 0);
                assert_close(out.distance[0], 0, 1e-15);
                check_lists(&x, &y, cosine, true, &out);
                huddle_neighbors_free(&out);
                x.shift = shift;
                assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, NULL));
                check_lists(&x, &y, cosine, true, &out);
                huddle_neighbors_free(&out);
                x.shift = NULL;
                huddle_points_free(&x);
                huddle_points_free(&y);
            }
}

static void a_query_of_the_points_themselves_finds_them(void **state) {
    (void)state;
    huddle_points x = normal_points(100, 3, 1);
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = 500;
    assert_ok(huddle_graph_query(NULL, &x, &x, &options, &out, NULL));
    assert_int_equal(out.k, 100);
    for (int32_t i = 0; i < 100; i++)
        assert_int_equal(out.index[i * 100], i);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
}

/* ---- rows of doubles ------------------------------------------------------------------------- */

static void check_dense(const huddle_dense *f, const huddle_neighbors *out) {
    for (int64_t i = 0; i < f->rows; i += f->rows / 40 + 1) {
        pair *all = malloc((size_t)f->rows * sizeof *all);
        int64_t count = 0;
        for (int64_t j = 0; j < f->rows; j++) {
            double sum = 0;
            for (int64_t c = 0; c < f->cols; c++) {
                double difference = f->values[i * f->stride + c] - f->values[j * f->stride + c];
                sum += difference * difference;
            }
            if (i != j)
                all[count++] = (pair){sqrt(sum), (int32_t)j};
        }
        qsort(all, (size_t)count, sizeof *all, compare_pairs);
        for (int32_t c = 0; c < out->k; c++) {
            double d = all[c].distance;
            assert_true(fabs(out->distance[i * out->k + c] - d) <= 1e-9 * d);
            if (c + 1 < out->k && all[c + 1].distance > d * (1 + 1e-12) &&
                (c == 0 || all[c - 1].distance < d * (1 - 1e-12)))
                assert_int_equal(out->index[i * out->k + c], all[c].index);
        }
        free(all);
    }
}

/* Rows close together around few places, a tenth of them equal: what embeddings look like. */
static void embeddings(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{500, 2}, {900, 10}, {4500, 10}, {900, 40}, {4500, 40}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        huddle_dense f;
        int64_t n = sizes[t][0], c = sizes[t][1];
        hd_rng rng = hd_rng_stream(t, 3);
        assert_ok(huddle_dense_new(n, c, &f));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < c; j++)
                f.values[i * c + j] = i % 10 == 9 ? f.values[(i % 70) * c + j]
                                                  : (i % c == j) + 1e-7 * hd_rng_normal(&rng);
        for (int s = 0; s < N_SOLVERS; s++) {
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors out;
            options.knn_solver = solvers[s];
            assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL));
            check_dense(&f, &out);
            huddle_neighbors_free(&out);
        }
        huddle_dense_free(&f);
    }
}

/* As when components give the embedding: a handful of distinct rows. */
static void few_distinct_rows_are_quick(void **state) {
    (void)state;
    enum { N = 30000 };
    huddle_dense f;
    huddle_neighbors out;
    huddle_knn_info info;
    assert_ok(huddle_dense_new(N, 10, &f));
    for (int64_t i = 0; i < N; i++)
        f.values[i * 10 + i % 7] = 1;
    assert_ok(huddle_graph_knn_dense(NULL, &f, NULL, &out, &info));
    for (int32_t i = 0; i < N; i += 997)
        for (int32_t c = 0; c < 5; c++) {
            int32_t first = i % 7 + 7 * c;
            assert_true(out.distance[i * 5 + c] == 0);
            assert_int_equal(out.index[i * 5 + c], i <= first ? first + 7 : first);
        }
    assert_true(info.n_distances < 20 * N);
    huddle_neighbors_free(&out);
    huddle_dense_free(&f);
}

/* A tree is no use in a round cloud of ten dimensions, nor a bound in one of forty. */
static void solvers_that_do_not_pay_give_way(void **state) {
    (void)state;
    for (int64_t c = 10; c <= 40; c += 30) {
        huddle_dense f;
        hd_rng rng = hd_rng_stream(1, 1);
        assert_ok(huddle_dense_new(4500, c, &f));
        for (int64_t e = 0; e < 4500 * c; e++)
            f.values[e] = hd_rng_normal(&rng);
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors a, b;
        huddle_knn_info info;
        assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &a, &info));
        assert_string_equal(info.solver, "brute");
        options.knn_solver = "kdtree";
        assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &b, &info));
        assert_string_equal(info.solver, "kdtree");
        assert_memory_equal(a.index, b.index, 4500 * 5 * sizeof *a.index);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        huddle_dense_free(&f);
    }
}

/* ---- promises -------------------------------------------------------------------------------- */

static void threads_and_instruction_sets_agree(void **state) {
    (void)state;
    static const char *const isas[] = {"base", "avx2", "avx512"};
    for (int64_t d = 6; d <= 70; d += 64)
        for (int s = 1; s < N_SOLVERS; s++) {
            huddle_points x = clustered_points(1300, d, 5, 1);
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors first, again;
            options.knn_solver = solvers[s];
            setenv("HUDDLE_ISA", "base", 1);
            assert_ok(huddle_graph_knn(NULL, &x, &options, &first, NULL));
            for (int32_t t = 0; t < 3; t++) {
                huddle_context *context;
                assert_ok(huddle_context_new(&context));
                assert_ok(huddle_context_set_threads(context, 1 + 2 * t));
                setenv("HUDDLE_ISA", isas[t], 1);
                options.seed = (uint64_t)t;
                assert_ok(huddle_graph_knn(context, &x, &options, &again, NULL));
                assert_memory_equal(first.index, again.index,
                                    (size_t)(x.n * 5) * sizeof *again.index);
                for (int64_t e = 0; e < x.n * 5; e++)
                    assert_close(again.distance[e], first.distance[e], 1e-14);
                huddle_neighbors_free(&again);
                assert_ok(huddle_context_set_threads(context, 4 - t));
                huddle_neighbors more;
                assert_ok(huddle_graph_knn(context, &x, &options, &again, NULL));
                assert_ok(huddle_graph_knn(context, &x, &options, &more, NULL));
                assert_memory_equal(more.distance, again.distance,
                                    (size_t)(x.n * 5) * sizeof *again.distance);
                huddle_neighbors_free(&again);
                huddle_neighbors_free(&more);
                huddle_context_free(context);
            }
            unsetenv("HUDDLE_ISA");
            huddle_neighbors_free(&first);
            huddle_points_free(&x);
        }
}

static void matches_scikit_learn(void **state) {
    (void)state;
    int64_t count;
    double *golden = test_golden("graph_knn.txt", &count);
    int64_t n = (int64_t)golden[0], d = (int64_t)golden[1], k = (int64_t)golden[2];
    const double *at = golden + 3 + n * d;
    huddle_points x;
    assert_int_equal(count, 3 + n * d + 4 * n * k);
    assert_ok(huddle_points_from_double(NULL, n, d, golden + 3, d, 1, &x));
    for (int metric = 0; metric < 2; metric++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        options.n_neighbors = (int32_t)k;
        options.metric = metric ? "cosine" : "euclidean";
        assert_ok(huddle_graph_knn(NULL, &x, &options, &out, NULL));
        for (int64_t e = 0; e < n * k; e++) {
            assert_int_equal(out.index[e], (int32_t)at[e]);
            assert_close(out.distance[e], at[n * k + e], 1e-6);
        }
        at += 2 * n * k;
        huddle_neighbors_free(&out);
    }
    huddle_points_free(&x);
    free(golden);
}

static void bad_input_is_named(void **state) {
    (void)state;
    huddle_points x = normal_points(20, 4, 0), y = normal_points(5, 3, 0);
    huddle_points s = sparse_points(20, 4, 0);
    huddle_dense f = {.rows = 2, .cols = 2, .stride = 2, .values = (double[]){0, 1, INFINITY, 2}};
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = 0;
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "n_neighbors = 0");
    options.n_neighbors = 5;
    options.metric = "manhattan";
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "metric = manhattan");
    options.metric = "cosine";
    options.knn_solver = "magic";
    assert_refused(huddle_graph_knn(NULL, &x, &options, &out, NULL), HUDDLE_INVALID,
                   "knn_solver = magic");
    x.values[6] = NAN;
    assert_refused(huddle_graph_knn(NULL, &x, NULL, &out, NULL), HUDDLE_INVALID,
                   "row 2, column 3: the value is not a number");
    x.values[6] = 0;
    assert_refused(huddle_graph_query(NULL, &x, &y, NULL, &out, NULL), HUDDLE_INVALID,
                   "the new points have 3 features, the training points 4");
    assert_refused(huddle_graph_query(NULL, &x, &s, NULL, &out, NULL), HUDDLE_INVALID,
                   "both dense or both sparse");
    assert_refused(huddle_graph_knn_dense(NULL, &f, NULL, &out, NULL), HUDDLE_INVALID,
                   "row 2, column 1: the value is infinite");
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&s);
}

static int cancel_at_once(void *user, const char *stage, double done, double total) {
    (void)user, (void)done, (void)total;
    assert_string_equal(stage, "graph");
    return 1;
}

static void searches_can_be_cancelled(void **state) {
    (void)state;
    huddle_points x = normal_points(1500, 60, 0);
    for (int s = 1; s < N_SOLVERS; s++) {
        huddle_context *context;
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        options.knn_solver = solvers[s];
        assert_ok(huddle_context_new(&context));
        huddle_context_set_progress(context, cancel_at_once, NULL);
        assert_refused(huddle_graph_knn(context, &x, &options, &out, NULL), HUDDLE_CANCELLED,
                       "cancelled");
        huddle_context_free(context);
    }
    huddle_points_free(&x);
}

typedef struct attempt {
    huddle_points *x;
    huddle_dense *f;
    const char *solver, *metric;
} attempt;

static huddle_status try_all(void *argument) {
    const attempt *a = argument;
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.knn_solver = a->solver;
    options.metric = a->metric;
    huddle_status status = huddle_graph_knn(NULL, a->x, &options, &out, NULL);
    huddle_neighbors_free(&out);
    if (status == HUDDLE_OK) {
        status = huddle_graph_query(NULL, a->x, a->x, &options, &out, NULL);
        huddle_neighbors_free(&out);
    }
    if (status == HUDDLE_OK) {
        status = huddle_graph_knn_dense(NULL, a->f, &options, &out, NULL);
        huddle_neighbors_free(&out);
    }
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points dense = normal_points(120, 30, 0), few = sparse_points(50, 20, 1);
    huddle_dense f;
    assert_ok(huddle_dense_new(120, 3, &f));
    for (int64_t e = 0; e < 360; e++)
        f.values[e] = (double)(e * e % 31);
    for (int s = 1; s < N_SOLVERS; s++)
        for (int cosine = 0; cosine < 2; cosine++)
            test_each_allocation(
                try_all, &(attempt){&dense, &f, solvers[s], cosine ? "cosine" : "euclidean"});
    test_each_allocation(try_all, &(attempt){&few, &f, "auto", "cosine"});
    huddle_dense_free(&f);
    huddle_points_free(&dense);
    huddle_points_free(&few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(one_point_has_no_neighbours),
        cmocka_unit_test(more_neighbours_than_points),
        cmocka_unit_test(duplicated_points),
        cmocka_unit_test(constant_points),
        cmocka_unit_test(clustered),
        cmocka_unit_test(whole_numbers_tie_by_index),
        cmocka_unit_test(one_hot_rows_all_tie),
        cmocka_unit_test(large_offsets_and_sizes),
        cmocka_unit_test(cosine_distances),
        cmocka_unit_test(sparse),
        cmocka_unit_test(queries),
        cmocka_unit_test(a_query_of_the_points_themselves_finds_them),
        cmocka_unit_test(embeddings),
        cmocka_unit_test(few_distinct_rows_are_quick),
        cmocka_unit_test(solvers_that_do_not_pay_give_way),
        cmocka_unit_test(threads_and_instruction_sets_agree),
        cmocka_unit_test(matches_scikit_learn),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(searches_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
