/* graph: every solver against brute force, on points of any size float can hold: squares that
 * underflow or overflow float, columns of very different sizes, offsets, duplicates, near ties. */
#include "base/rng.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"brute", "pcabound", "kdtree"};
enum { N_SOLVERS = sizeof solvers / sizeof *solvers, K = 5 };

/* ---- brute force --------------------------------------------------------------------------- */

/* Rows of doubles, as the library should see them. */
typedef struct table {
    int64_t n, d;
    double *values;
} table;

typedef struct pair {
    long double distance2;
    int32_t index;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->distance2 != q->distance2)
        return p->distance2 < q->distance2 ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* More digits and a wider range than double. */
static long double distance2(const table *a, int64_t i, const table *b, int64_t j) {
    long double sum = 0;
    for (int64_t f = 0; f < a->d; f++) {
        long double difference =
            (long double)a->values[i * a->d + f] - (long double)b->values[j * b->d + f];
        sum += difference * difference;
    }
    return sum;
}

/* List i must hold the nearest by (distance, index); only points whose distances double cannot
 * tell apart may stand for each other. If `exact`, there are none of those. */
static void check_list(const table *train, const table *query, int64_t i, bool exact,
                       const huddle_neighbors *out, const char *what) {
    const long double slack = 4 * (long double)(train->d + 8) * DBL_EPSILON;
    bool self = train == query;
    int64_t count = 0;
    pair *all = malloc((size_t)train->n * sizeof *all);
    for (int64_t j = 0; j < train->n; j++)
        if (!self || j != i)
            all[count++] = (pair){distance2(query, i, train, j), (int32_t)j};
    qsort(all, (size_t)count, sizeof *all, compare_pairs);
    for (int32_t c = 0; c < out->k; c++) {
        int32_t index = out->index[i * out->k + c];
        double distance = out->distance[i * out->k + c];
        long double found2 = distance2(query, i, train, index);
        if (fabsl((long double)distance - sqrtl(found2)) > slack * sqrtl(found2))
            fail_msg("%s: point %lld, neighbour %d: %g away, not %g", what, (long long)i, c,
                     (double)sqrtl(found2), distance);
        if (fabsl(found2 - all[c].distance2) > slack * all[c].distance2)
            fail_msg("%s: point %lld, neighbour %d: %d at %.17g, brute force %d at %.17g", what,
                     (long long)i, c, index, distance, all[c].index,
                     (double)sqrtl(all[c].distance2));
        if (exact && index != all[c].index)
            fail_msg("%s: point %lld, neighbour %d: %d, brute force %d", what, (long long)i, c,
                     index, all[c].index);
        if (c > 0 && (distance < out->distance[i * out->k + c - 1] ||
                      (distance == out->distance[i * out->k + c - 1] &&
                       index <= out->index[i * out->k + c - 1])))
            fail_msg("%s: point %lld: neighbour %d is out of order", what, (long long)i, c);
    }
    free(all);
}

static void check_lists(const table *train, const table *query, bool exact,
                        const huddle_neighbors *out, const char *what) {
    int64_t step = query->n > 60 ? 13 : 1;
    for (int64_t i = 0; i < query->n; i += step)
        check_list(train, query, i, exact, out, what);
}

static void check_same(const huddle_neighbors *a, const huddle_neighbors *b, const char *what) {
    for (int64_t e = 0; e < a->n * a->k; e++)
        if (a->index[e] != b->index[e] || a->distance[e] != b->distance[e])
            fail_msg("%s: place %lld: %d at %.17g, but brute has %d at %.17g", what, (long long)e,
                     b->index[e], b->distance[e], a->index[e], a->distance[e]);
}

/* ---- data ---------------------------------------------------------------------------------- */

typedef void (*family)(hd_rng *rng, int64_t n, int64_t d, double *values);

static void normal(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t e = 0; e < n * d; e++)
        values[e] = hd_rng_normal(rng);
}

/* Seven heaps, points of one heap a few roundings of float apart. */
static void near_ties(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            values[i * d + j] =
                sin((double)(i % 7 * d + j)) * (1 + 0x1p-22 * (double)(hd_rng_below(rng, 5) - 2));
}

static void duplicates(hd_rng *rng, int64_t n, int64_t d, double *values) {
    normal(rng, n, d, values);
    for (int64_t i = 0; i < n; i++)
        if (i % 3 > 0)
            memcpy(values + i * d, values + i % 11 * d, (size_t)d * sizeof *values);
}

/* Whole numbers: all distances are exact in double and many are equal. */
static void grid(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t e = 0; e < n * d; e++)
        values[e] = (double)hd_rng_below(rng, 4);
}

/* Far from the origin, whole numbers again, some features constant. */
static void offset(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t e = 0; e < n * d; e++)
        values[e] = 0x1p22 + (double)(e % d % 3 > 0 ? hd_rng_below(rng, 9) : 0);
}

/* The first feature decides unless it ties, as it mostly does; then the tiny ones do. */
static void mixed(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t e = 0; e < n * d; e++)
        values[e] =
            e % d == 0 ? 0x1p50 * (double)hd_rng_below(rng, 3) : 0x1p-50 * hd_rng_normal(rng);
}

/* Near a subspace of four dimensions, where lower bounds are good enough to be used. */
static void subspace(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t i = 0; i < n; i++) {
        double latent[4];
        for (int l = 0; l < 4; l++)
            latent[l] = hd_rng_normal(rng);
        for (int64_t j = 0; j < d; j++)
            values[i * d + j] =
                latent[j % 4] * cos((double)j) + latent[j * 7 % 4] + 0.02 * hd_rng_normal(rng);
    }
}

/* One row beyond all others. */
static void outlier(hd_rng *rng, int64_t n, int64_t d, double *values) {
    normal(rng, n, d, values);
    for (int64_t j = 0; j < d; j++)
        values[n / 2 * d + j] *= 0x1p40;
}

typedef struct named_family {
    const char *name;
    family make;
    bool exact;          /* brute force in double makes no rounding error */
    int lowest, highest; /* powers of two that float holds without loss or overflow */
} named_family;

static const named_family families[] = {
    {"normal", normal, false, -145, 124},         {"near ties", near_ties, false, -120, 127},
    {"duplicates", duplicates, false, -145, 124}, {"grid", grid, true, -148, 125},
    {"offset", offset, true, -148, 104},          {"mixed", mixed, false, -70, 75},
    {"subspace", subspace, false, -145, 124},     {"outlier", outlier, false, -145, 84}};
enum { N_FAMILIES = sizeof families / sizeof *families };

static const int exponents[] = {-145, -100, -73, 0, 64, 100, 124};
enum { N_EXPONENTS = sizeof exponents / sizeof *exponents };

static huddle_points as_points(const table *t) {
    huddle_points x;
    assert_ok(huddle_points_new(t->n, t->d, &x));
    for (int64_t e = 0; e < t->n * t->d; e++) {
        x.values[e] = (float)t->values[e];
        assert_true(isfinite(x.values[e]));
        t->values[e] = (double)x.values[e];
    }
    return x;
}

static table make_table(const named_family *f, int64_t n, int64_t d, int exponent, uint64_t seed) {
    table t = {n, d, malloc((size_t)(n * d) * sizeof *t.values)};
    hd_rng rng = hd_rng_stream(seed, 0);
    int e = exponent < f->lowest ? f->lowest : exponent > f->highest ? f->highest : exponent;
    f->make(&rng, n, d, t.values);
    for (int64_t k = 0; k < n * d; k++)
        t.values[k] = ldexp(t.values[k], e);
    return t;
}

/* ---- points -------------------------------------------------------------------------------- */

static huddle_knn_options with_solver(const char *solver) {
    huddle_knn_options options = huddle_knn_defaults();
    options.knn_solver = solver;
    options.n_neighbors = K;
    return options;
}

/* The solvers among the rows of a table and for a quarter of them: the first one against all
 * distances, the others against the first. x: the table as points; NULL: rows of doubles. */
static void compare_solvers(const named_family *f, const table *t, const huddle_points *x,
                            int n_solvers, int exponent) {
    int64_t n = t->n, d = t->d;
    table queries = {n / 4, d, t->values};
    huddle_dense rows = {n, d, d, t->values}, some_rows = {n / 4, d, d, t->values};
    huddle_points some = {.n = n / 4, .d = d, .stride = d, .values = x != NULL ? x->values : NULL};
    huddle_neighbors first, first_query;
    for (int s = 0; s < n_solvers; s++) {
        char what[200];
        huddle_knn_options options = with_solver(solvers[s]);
        huddle_neighbors out, near;
        snprintf(what, sizeof what, "%s%s, %lld x %lld, 2^%d, %s", x == NULL ? "doubles, " : "",
                 f->name, (long long)n, (long long)d, exponent, solvers[s]);
        if (x != NULL) {
            assert_ok(huddle_graph_knn(NULL, x, &options, &out, NULL));
            assert_ok(huddle_graph_query(NULL, x, &some, &options, &near, NULL));
        } else {
            assert_ok(huddle_graph_knn_dense(NULL, &rows, &options, &out, NULL));
            assert_ok(huddle_graph_query_dense(NULL, &rows, &some_rows, &options, &near, NULL));
        }
        if (s == 0) {
            check_lists(t, t, f->exact, &out, what);
            check_lists(t, &queries, f->exact, &near, what);
            first = out;
            first_query = near;
            continue;
        }
        check_same(&first, &out, what);
        check_same(&first_query, &near, what);
        huddle_neighbors_free(&out);
        huddle_neighbors_free(&near);
    }
    huddle_neighbors_free(&first);
    huddle_neighbors_free(&first_query);
}

static void check_points(const named_family *f, int64_t n, int64_t d, int exponent, uint64_t seed) {
    table t = make_table(f, n, d, exponent, seed);
    huddle_points x = as_points(&t);
    /* A tree sees all of many points in many dimensions. */
    compare_solvers(f, &t, &x, n * d > 20000 ? N_SOLVERS - 1 : N_SOLVERS, exponent);
    huddle_points_free(&x);
    free(t.values);
}

static void exact_neighbours_at_any_scale(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{90, 1},   {150, 2},  {300, 7},   {280, 24},
                                       {290, 33}, {240, 64}, {150, 200}, {120, 800}};
    for (int f = 0; f < N_FAMILIES; f++)
        for (int e = 0; e < N_EXPONENTS; e++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                check_points(&families[f], sizes[s][0], sizes[s][1], exponents[e], s);
}

/* The lower bounds decide here, and with them distances in float beside the k-th. */
static void exact_neighbours_by_bounds_at_any_scale(void **state) {
    (void)state;
    static const named_family f = {"subspace", subspace, false, -145, 124};
    static const int sizes[] = {0, -110, -75, -74, -73, -72, -70, 63, 66, 120};
    enum { N = 1000, D = 64 };
    int64_t n_distances = 0;
    for (size_t e = 0; e < sizeof sizes / sizeof *sizes; e++) {
        char what[100];
        table t = make_table(&f, N, D, sizes[e], 5);
        huddle_points x = as_points(&t);
        huddle_knn_options options = with_solver("pcabound");
        huddle_neighbors out;
        huddle_knn_info info;
        snprintf(what, sizeof what, "bounds, 2^%d", sizes[e]);
        assert_ok(huddle_graph_knn(NULL, &x, &options, &out, &info));
        assert_string_equal(info.solver, "pcabound");
        /* The same floats but for a power of two: the bounds are as good. */
        if (e == 0)
            n_distances = info.n_distances;
        else if (sizes[e] > -90)
            assert_int_equal(info.n_distances, n_distances);
        check_lists(&t, &t, false, &out, what);
        huddle_neighbors_free(&out);
        huddle_points_free(&x);
        free(t.values);
    }
}

/* ---- rows of doubles ----------------------------------------------------------------------- */

/* Rows around a few places, closer to each other than float can tell. */
static void below_float(hd_rng *rng, int64_t n, int64_t d, double *values) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            values[i * d + j] = (double)(i % 4 == j % 4) + 1e-11 * hd_rng_normal(rng);
}

static void check_dense(const named_family *f, int64_t n, int64_t d, int exponent) {
    table t = make_table(f, n, d, exponent, 3);
    compare_solvers(f, &t, NULL, N_SOLVERS, exponent);
    free(t.values);
}

static void rows_of_doubles_are_compared_as_doubles(void **state) {
    (void)state;
    static const named_family more[] = {{"below float", below_float, false, -980, 1000},
                                        {"normal", normal, false, -980, 1010},
                                        {"grid", grid, true, -1000, 1015},
                                        {"mixed", mixed, false, -900, 900},
                                        {"duplicates", duplicates, false, -980, 1010}};
    static const int wide[] = {-1070, -530, 0, 505, 1020};
    static const int64_t sizes[][2] = {{200, 2}, {300, 10}, {280, 40}, {150, 200}};
    for (size_t f = 0; f < sizeof more / sizeof *more; f++)
        for (size_t e = 0; e < sizeof wide / sizeof *wide; e++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                check_dense(&more[f], sizes[s][0], sizes[s][1], wide[e]);
}

/* ---- sparse points ------------------------------------------------------------------------- */

/* The entries of t that are not 0. */
static huddle_points as_sparse(const table *t) {
    huddle_points x;
    int64_t at = 0;
    assert_ok(huddle_points_new_sparse(t->n, t->d, t->n * t->d, &x));
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t j = 0; j < t->d; j++) {
            float v = (float)t->values[i * t->d + j];
            t->values[i * t->d + j] = (double)v;
            if (v == 0)
                continue;
            x.columns[at] = (int32_t)j;
            x.values[at++] = v;
        }
        x.offsets[i + 1] = at;
    }
    return x;
}

static void check_sparse(const table *t, bool exact, const char *what) {
    huddle_points x = as_sparse(t);
    huddle_points some = x;
    table queries = {t->n / 4, t->d, t->values};
    huddle_knn_options options = with_solver("auto");
    huddle_neighbors out;
    huddle_knn_info info;
    some.n = queries.n;
    assert_ok(huddle_graph_knn(NULL, &x, &options, &out, &info));
    assert_string_equal(info.solver, "sparse");
    check_lists(t, t, exact, &out, what);
    huddle_neighbors_free(&out);
    assert_ok(huddle_graph_query(NULL, &x, &some, &options, &out, NULL));
    check_lists(t, &queries, exact, &out, what);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
}

/* Row 0 is short and of norm 1. Row 1 is long: a thousand values whose squares are just above half
 * a unit in the last place of the sum they are added to, so that its norm, and with it the distance
 * by products, comes out too large by a thousand roundings that row 0 knows nothing of. The other
 * rows are a little farther from row 0 than row 1, by few values. */
static void the_sparse_bound_counts_the_rounding_of_both_rows(void **state) {
    (void)state;
    enum { N = 30, LONG = 1000, D = 1 + LONG + N };
    table t = {N, D, calloc((size_t)N * D, sizeof *t.values)};
    double small = 0x1.6b8p-27; /* its square: 2^-53 (1 + .0081) */
    for (int64_t i = 0; i < N; i++)
        t.values[i * D] = 1;
    for (int64_t j = 1; j <= LONG; j++)
        t.values[D + j] = small;
    for (int64_t i = 2; i < N; i++)
        t.values[i * D + LONG + i] = sqrt(1.2 + 0.01 * (double)i) * sqrt(LONG * 0x1p-53);
    huddle_points x = as_sparse(&t);
    huddle_knn_options options = with_solver("auto");
    huddle_neighbors out;
    assert_ok(huddle_graph_knn(NULL, &x, &options, &out, NULL));
    assert_int_equal(out.index[0], 1);
    check_lists(&t, &t, false, &out, "a long row");
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
    free(t.values);
}

/* Rows of very different lengths around a few large ones, a few roundings of double apart. */
static void near_duplicates_among_sparse_rows(void **state) {
    (void)state;
    enum { DRAWS = 60, N = 70, D = 300 };
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        hd_rng rng = hd_rng_stream(draw, 1);
        char what[100];
        table t = {N, D, calloc((size_t)N * D, sizeof *t.values)};
        int exponent = (int)(draw % 5) * 25 - 50;
        for (int64_t i = 0; i < N; i++) {
            t.values[i * D + i % 3] = ldexp(1 + 0.5 * (double)(i % 3), exponent);
            for (int64_t j = 3; j < D; j++)
                if (hd_rng_below(&rng, 1 + i % 20) == 0)
                    t.values[i * D + j] =
                        ldexp(1 + hd_rng_uniform(&rng), exponent - 23 - (int)(draw % 6));
        }
        snprintf(what, sizeof what, "near duplicates, draw %d", (int)draw);
        check_sparse(&t, false, what);
        free(t.values);
    }
}

static void sparse_points_at_any_scale(void **state) {
    (void)state;
    for (int f = 0; f < N_FAMILIES; f++)
        for (int e = 0; e < N_EXPONENTS; e++) {
            char what[100];
            table t = make_table(&families[f], 150, 40, exponents[e], 9);
            snprintf(what, sizeof what, "sparse, %s, 2^%d", families[f].name, exponents[e]);
            for (int64_t k = 0; k < t.n * t.d; k++)
                t.values[k] = k * 7 % 11 < 7 ? 0 : t.values[k];
            check_sparse(&t, families[f].exact, what);
            free(t.values);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_neighbours_at_any_scale),
        cmocka_unit_test(exact_neighbours_by_bounds_at_any_scale),
        cmocka_unit_test(rows_of_doubles_are_compared_as_doubles),
        cmocka_unit_test(the_sparse_bound_counts_the_rounding_of_both_rows),
        cmocka_unit_test(near_duplicates_among_sparse_rows),
        cmocka_unit_test(sparse_points_at_any_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
