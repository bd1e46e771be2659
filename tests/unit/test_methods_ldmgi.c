/* Local discriminant models: NumPy, the definition of a clique's Laplacian, and the cases at the
 * edges. */
#include "base/rng.h"
#include "clouds.h"
#include "embedding_fits.h"
#include "steps/ldmgi_matrix.h"
#include "steps/row_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NumPy --------------------------------------------------------------------------------- */

static const char *solver;

static void check_problem(const numpy_problem *p) {
    char neighbors[32], lambda[32];
    snprintf(neighbors, sizeof neighbors, "%d", (int)p->k);
    snprintf(lambda, sizeof lambda, "%.17g", p->parameters[0]);
    check_numpy_problem(p, "ldmgi", 1e-7,
                        (const char *const[]){"prepare", "none", "refine", "none", "rows", "sym",
                                              "tol", "1e-9", "n_neighbors", neighbors, "metric",
                                              p->parameters[1] != 0 ? "cosine" : "euclidean",
                                              "alpha", p->parameters[0] < 0 ? "auto" : lambda,
                                              "embed_solver", solver, NULL});
}

static void vectors_and_new_rows_are_those_of_numpy(void **state) {
    (void)state;
    solver = "dense";
    assert_int_equal(for_each_problem("ldmgi.txt", check_problem), 6);
    solver = "chebyshev";
    assert_int_equal(for_each_problem("ldmgi.txt", check_problem), 6);
}

/* ---- cliques ------------------------------------------------------------------------------- */

enum { MOST = 9, DIMENSIONS = 4 };

/* K of m random points in so many dimensions, and their squared distances. */
static void random_clique(int32_t m, int dimensions, uint64_t seed, double *k, double *squares) {
    double x[MOST][DIMENSIONS] = {{0}}, mean[DIMENSIONS] = {0};
    hd_rng rng = hd_rng_stream(seed, 0);
    for (int32_t i = 0; i < m; i++)
        for (int j = 0; j < dimensions; j++) {
            x[i][j] = 100 + hd_rng_normal(&rng);
            mean[j] += x[i][j] / m;
        }
    for (int32_t r = 0; r < m; r++)
        for (int32_t c = 0; c < m; c++) {
            k[r * m + c] = squares[r * m + c] = 0;
            for (int j = 0; j < dimensions; j++) {
                k[r * m + c] += (x[r][j] - mean[j]) * (x[c][j] - mean[j]);
                squares[r * m + c] += (x[r][j] - x[c][j]) * (x[r][j] - x[c][j]);
            }
        }
}

/* (K + lambda I) L = unit H, as L 1 = 0 and K 1 = 0; and L is symmetric, to the last bit. */
static void blocks_invert_what_they_should(void **state) {
    (void)state;
    static const double lambdas[] = {1e-6, 1e-2, 1, 1e3, 1e12};
    double k[MOST * MOST], block[MOST * MOST], means[MOST];
    for (uint64_t seed = 0; seed < 60; seed++) {
        int32_t m = 2 + (int32_t)(seed % (MOST - 1));
        double lambda = lambdas[seed % 5], unit = lambda + 2;
        random_clique(m, 1 + (int)(seed % DIMENSIONS), seed, k, block);
        hd_step_ldmgi_block(m, lambda, unit, block, means);
        for (int32_t r = 0; r < m; r++) {
            double row = 0;
            for (int32_t c = 0; c < m; c++) {
                double product = lambda * block[r * m + c];
                row += block[r * m + c];
                assert_true(block[r * m + c] == block[c * m + r]);
                for (int32_t j = 0; j < m; j++)
                    product += k[r * m + j] * block[j * m + c];
                assert_close(product / unit, (r == c) - 1.0 / m, 1e-8);
            }
            assert_close(row, 0, 1e-8 * unit / lambda);
        }
    }
}

/* A clique of equal points has K = 0: H, times unit / lambda. A lambda that rounding would lose is
 * raised to a share of the trace. */
static void blocks_are_finite_at_the_ends_of_lambda(void **state) {
    (void)state;
    double block[16] = {0}, means[4], k[16];
    hd_step_ldmgi_block(4, .5, 2, block, means);
    for (int e = 0; e < 16; e++)
        assert_close(block[e], 4 * ((e % 5 == 0) - .25), 1e-12);
    random_clique(4, 2, 5, k, block);
    double trace = k[0] + k[5] + k[10] + k[15];
    hd_step_ldmgi_block(4, 1e-30, 1, block, means);
    double sum = 0, norm = 0;
    for (int e = 0; e < 16; e++)
        norm = fmax(norm, fabs(block[e]));
    for (int r = 0; r < 4; r++)
        sum += block[5 * r];
    /* Two directions of K, and one that only lambda holds. */
    assert_close(sum * 1e-10 * trace, 1, 1e-4);
    assert_true(norm < 2e10 / trace);
}

/* The sum of blocks against a dense sum, bit for bit symmetric. */
static void blocks_are_added_where_their_members_are(void **state) {
    (void)state;
    enum { N = 12, M = 4 };
    int64_t offsets[N + 1], begin[N];
    int32_t columns[N * M];
    double blocks[N * M * M], dense[N][N] = {{0}}, k[M * M], means[M], unused[N * M] = {0};
    for (int i = 0; i < N; i++) {
        offsets[i + 1] = (int64_t)(i + 1) * M;
        begin[i] = (int64_t)i * M * M;
        for (int j = 0; j < M; j++) /* i, then further ones, in ascending order */
            columns[i * M + j] = (int32_t)((i % 3) + 3 * j - (j == 3 ? i % 3 : 0) + (j == 3) * 2);
        random_clique(M, 3, (uint64_t)i, k, blocks + begin[i]);
        hd_step_ldmgi_block(M, .3, 1, blocks + begin[i], means);
        for (int r = 0; r < M; r++)
            for (int c = 0; c < M; c++)
                dense[columns[i * M + r]][columns[i * M + c]] += blocks[begin[i] + r * M + c];
    }
    offsets[0] = 0;
    const hd_step_cliques cliques = {{N, N, offsets, columns, unused}, begin, blocks};
    huddle_csr m;
    assert_ok(hd_step_ldmgi_matrix(NULL, &cliques, &m));
    double full[N][N] = {{0}};
    for (int i = 0; i < N; i++)
        for (int64_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
            assert_true(e == m.offsets[i] || m.columns[e] > m.columns[e - 1]);
            full[i][m.columns[e]] = m.values[e];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            assert_close(full[i][j], (i == j) - dense[i][j], 1e-12);
            assert_true(full[i][j] == full[j][i]);
        }
    huddle_csr_free(&m);
}

/* ---- clusters ------------------------------------------------------------------------------ */

enum { CLOUDS = 3, EACH = 40, ROWS = CLOUDS * EACH };

static void clouds_are_found_and_new_points_join_them(void **state) {
    (void)state;
    for (int copies = 1; copies <= 10; copies += 9)
        for (int auto_too = 0; auto_too < 2; auto_too++) {
            huddle_points x = clouds_on_axes(ROWS, 3, CLOUDS, 2.2, copies),
                          y = clouds_on_axes(ROWS, 3, CLOUDS, 2.2, 1);
            int32_t labels[ROWS], again[ROWS];
            huddle_model *model =
                fit("ldmgi", &x, "3",
                    (const char *const[]){"prepare", "none", "refine", auto_too ? "auto" : "none",
                                          "rows", auto_too ? "unit" : "sym", NULL});
            memcpy(labels, huddle_model_labels(model, NULL), sizeof labels);
            assert_true(cloud_accuracy(ROWS, CLOUDS, labels) == 1);
            assert_ok(huddle_model_predict(NULL, model, &y, again));
            assert_true(cloud_accuracy(ROWS, CLOUDS, again) == 1);
            assert_ok(huddle_model_predict(NULL, model, &x, again));
            assert_memory_equal(labels, again, sizeof labels);
            huddle_model_free(model);
            huddle_points_free(&x);
            huddle_points_free(&y);
        }
}

/* Two clouds that touch only by a bridge: without the bridge in the cliques of its ends, L would
 * fall apart, and its smallest eigenvalue would be 0 twice. */
static void bridges_are_members_of_cliques(void **state) {
    (void)state;
    huddle_points x = clouds_on_axes(ROWS, 3, CLOUDS, 6, 1);
    huddle_model *model =
        fit("ldmgi", &x, "2",
            (const char *const[]){"prepare", "none", "refine", "none", "embed_solver", "dense",
                                  "connect", "true", NULL});
    assert_int_equal(model->fit.graph.connect.before, 3);
    assert_true(model->fit.graph.connect.bridges > 0);
    assert_int_equal(model->fit.embedding.info.components, 1);
    const double *values = model->fit.embedding.f.eigenvalues;
    assert_close(values[0], 0, 1e-10);
    assert_true(values[1] > 1e-6);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void degenerate_points_are_clustered(void **state) {
    (void)state;
    check_degenerate_points("ldmgi", 4);
}

typedef struct cancelling {
    huddle_context *context;
    int64_t when, calls; /* cancels in this call */
} cancelling;

static void add_one(const void *of, int64_t row, hd_step_row_sum *sum) {
    cancelling *c = *(cancelling *const *)of;
    const int32_t column = (int32_t)row;
    const double one = 1;
    if (c->calls++ == c->when)
        huddle_context_cancel(c->context);
    hd_step_row_add(sum, 1, 1, &column, &one);
}

/* In both passes over the rows, long before their ends. */
static void sums_of_rows_can_be_cancelled(void **state) {
    (void)state;
    enum { SUMS = 50000 };
    for (int64_t when = 5000; when < 2 * SUMS; when += SUMS) {
        cancelling c = {.when = when}, *at = &c;
        huddle_csr matrix = {0};
        assert_ok(huddle_context_new(&c.context));
        assert_refused(hd_step_sum_rows(c.context, SUMS, SUMS, add_one, &at, &matrix),
                       HUDDLE_CANCELLED, "cancelled");
        assert_true(c.calls < when + 5000);
        huddle_csr_free(&matrix);
        huddle_context_free(c.context);
    }
}

static void alpha_has_a_range(void **state) {
    (void)state;
    huddle_model *model;
    assert_ok(huddle_model_new("ldmgi", &model));
    assert_refused(huddle_model_set_option(model, "alpha", "0"), HUDDLE_INVALID, "alpha");
    assert_refused(huddle_model_set_option(model, "alpha", "-1"), HUDDLE_INVALID, "alpha");
    assert_ok(huddle_model_set_option(model, "alpha", "1e-12"));
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_new_rows_are_those_of_numpy),
        cmocka_unit_test(blocks_invert_what_they_should),
        cmocka_unit_test(blocks_are_finite_at_the_ends_of_lambda),
        cmocka_unit_test(blocks_are_added_where_their_members_are),
        cmocka_unit_test(clouds_are_found_and_new_points_join_them),
        cmocka_unit_test(bridges_are_members_of_cliques),
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(sums_of_rows_can_be_cancelled),
        cmocka_unit_test(alpha_has_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
