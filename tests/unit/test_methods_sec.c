/* Spectral embedded clustering: NumPy, the ridge regression and the eigensolver on their own, and
 * the cases at the edges. */
#include "base/rng.h"
#include "clouds.h"
#include "embedding_fits.h"
#include "steps/filtered.h"
#include "steps/ridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NumPy --------------------------------------------------------------------------------- */

static void check_problem(const numpy_problem *p) {
    char neighbors[32], mu[32], gamma[32];
    snprintf(neighbors, sizeof neighbors, "%d", (int)p->k);
    snprintf(mu, sizeof mu, "%.17g", p->parameters[0]);
    snprintf(gamma, sizeof gamma, "%.17g", p->parameters[1]);
    check_numpy_problem(p, "sec", 1e-8,
                        (const char *const[]){"prepare", "none", "refine", "none", "rows", "sym",
                                              "tol", "1e-9", "n_neighbors", neighbors, "scale",
                                              "binary", "mu", mu, "gamma",
                                              p->parameters[1] < 0 ? "auto" : gamma, NULL});
}

static void vectors_and_new_rows_are_those_of_numpy(void **state) {
    (void)state;
    assert_int_equal(for_each_problem("sec.txt", check_problem), 6);
}

/* ---- regression ---------------------------------------------------------------------------- */

/* The fitted values of the map at the training points are those of the projection and the means; a
 * shift of the points changes nothing; and W'W gamma + X'(X W - F) = 0, X centred. */
static void both_forms_solve_the_normal_equations(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        int64_t n = k % 2 == 0 ? 30 : 12, d = k % 2 == 0 ? 7 : 25, c = 3;
        double *f = calloc((size_t)(n * c), sizeof *f), *half = calloc(200, sizeof *half);
        double *out = calloc((size_t)(n * c), sizeof *out), shift[25];
        huddle_points x;
        huddle_dense map = {0}, fitted = {0}, given = {n, c, c, f, NULL};
        hd_step_ridge ridge = {0};
        hd_rng rng = hd_rng_stream(3, (uint64_t)k);
        assert_ok(huddle_points_new(n, d, &x));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < d; j++)
                x.values[i * x.stride + j] = (float)hd_rng_normal(&rng);
        for (int64_t e = 0; e < n * c; e++)
            f[e] = 1 + hd_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++)
            shift[j] = 1000;
        x.shift = k < 2 ? NULL : shift;
        assert_ok(hd_step_ridge_new(NULL, &x, .7, &ridge));
        assert_ok(hd_step_ridge_fit(NULL, &ridge, &given, &map));
        assert_ok(hd_step_ridge_project(NULL, &ridge, f, c, c, half, out, c));
        assert_ok(huddle_dense_new(n, c, &fitted));
        assert_ok(hd_step_ridge_apply(NULL, &map, &x, &fitted));
        for (int64_t a = 0; a < c; a++) {
            double mean = map.values[d * map.stride + a];
            for (int64_t i = 0; i < n; i++)
                assert_close(fitted.values[i * fitted.stride + a], out[i * c + a] + mean, 1e-9);
            for (int64_t j = 0; j < d; j++) {
                double sum = .7 * map.values[j * map.stride + a], centre = 0;
                for (int64_t i = 0; i < n; i++)
                    centre += (double)x.values[i * x.stride + j] / (double)n;
                for (int64_t i = 0; i < n; i++)
                    sum += ((double)x.values[i * x.stride + j] - centre) *
                           (fitted.values[i * fitted.stride + a] - f[i * c + a]);
                assert_close(sum, 0, 1e-6);
            }
        }
        x.shift = NULL;
        huddle_points_free(&x);
        huddle_dense_free(&map);
        huddle_dense_free(&fitted);
        hd_step_ridge_free(&ridge);
        free(f);
        free(half);
        free(out);
    }
}

static void a_factor_that_is_too_large_is_refused(void **state) {
    (void)state;
    enum { SIDE = HD_STEP_RIDGE_MOST + 1 };
    int64_t *offsets = calloc(SIDE + 1, sizeof *offsets);
    float value = 1;
    int32_t column = 0;
    huddle_points x = {
        .n = SIDE, .d = SIDE, .values = &value, .offsets = offsets, .columns = &column};
    hd_step_ridge ridge = {0};
    assert_refused(hd_step_ridge_new(NULL, &x, 1, &ridge), HUDDLE_UNSUPPORTED, "10001 x 10001");
    hd_step_ridge_free(&ridge);
    free(offsets);
}

/* ---- eigenpairs ---------------------------------------------------------------------------- */

enum { SIZE = 1000, FEW = 90, WANTED = 6 };

/* 2 I + the path of so many vertices: eigenvalues 4 cos^2, with small gaps and known vectors. */
static huddle_status times_path(huddle_context *context, void *self, const double *v, int64_t b,
                                int64_t ldv, double *out, int64_t ldo) {
    (void)context;
    const int64_t size = *(const int64_t *)self;
    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k < b; k++)
            out[i * ldo + k] = 2 * v[i * ldv + k] + (i > 0 ? v[(i - 1) * ldv + k] : 0) +
                               (i + 1 < size ? v[(i + 1) * ldv + k] : 0);
    return HUDDLE_OK;
}

static void close_eigenvalues_are_found_through_filters(void **state) {
    (void)state;
    int64_t size = SIZE;
    const hd_prepare_operator a = {SIZE, times_path, &size};
    huddle_embedding e = {0};
    huddle_embed_info info;
    double angle = acos(-1) / (SIZE + 1);
    assert_ok(hd_step_filtered_pairs(NULL, &a, 4, WANTED, 1e-8, 7, &e, &info));
    assert_int_equal(info.stop, HUDDLE_STOP_CONVERGED);
    assert_true(info.n_iter > 1);
    assert_true(info.residual < 1e-8);
    assert_int_equal(e.n_eigenvalues, WANTED + 1);
    assert_false(info.cuts_cluster);
    for (int k = 0; k < WANTED; k++) {
        double largest = 0;
        int64_t first = 0;
        assert_close(e.eigenvalues[k], 2 + 2 * cos((k + 1) * angle), 1e-12);
        for (int64_t i = 0; i < SIZE; i++) {
            double value = fabs(e.vectors.values[i * e.vectors.stride + k]);
            double expected = fabs(sin((double)((k + 1) * (i + 1)) * angle));
            assert_close(value, sqrt(2. / (SIZE + 1)) * expected, 1e-4);
            largest = fmax(largest, value);
        }
        while (fabs(e.vectors.values[first * e.vectors.stride + k]) < (1 - 1e-6) * largest)
            first++;
        assert_true(e.vectors.values[first * e.vectors.stride + k] > 0);
    }
    assert_close(info.gap, 2 * (cos(WANTED * angle) - cos((WANTED + 1) * angle)), 1e-9);
    huddle_embedding_free(&e);
}

static huddle_status pairs_of_a_path(void *argument) {
    int64_t size = FEW;
    const hd_prepare_operator a = {FEW, times_path, &size};
    huddle_embedding e = {0};
    huddle_embed_info info;
    (void)argument;
    huddle_status status = hd_step_filtered_pairs(NULL, &a, 4, 2, 1e-12, 7, &e, &info);
    huddle_embedding_free(&e);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_each_allocation(pairs_of_a_path, NULL);
}

/* ---- clusters ------------------------------------------------------------------------------ */

enum { CLOUDS = 3, EACH = 40, ROWS = CLOUDS * EACH };

/* Also from a file, and where no new point has a neighbour of its own cluster nearby. */
static void clouds_are_found_and_new_points_join_them(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        huddle_points x = clouds_on_axes(ROWS, 3, CLOUDS, 2.2, k < 2 ? 1 : 10),
                      y = clouds_on_axes(ROWS, 3, CLOUDS, 2.8, 1);
        int32_t labels[ROWS], again[ROWS], loaded[ROWS];
        const char *path = test_path_of("sec.npz");
        huddle_model *model =
            fit("sec", &x, k == 1 ? "2-4" : "3",
                (const char *const[]){"prepare", "none", "refine", k == 3 ? "auto" : "none", "rows",
                                      k % 2 == 0 ? "unit" : "sym", NULL});
        memcpy(labels, huddle_model_labels(model, NULL), sizeof labels);
        assert_true(cloud_accuracy(ROWS, CLOUDS, labels) == 1);
        assert_ok(huddle_model_predict(NULL, model, &x, again));
        assert_memory_equal(labels, again, sizeof labels);
        assert_ok(huddle_model_predict(NULL, model, &y, again));
        assert_true(cloud_accuracy(ROWS, CLOUDS, again) == 1);
        assert_ok(huddle_model_save(model, path));
        huddle_model_free(model);
        assert_ok(huddle_model_load(path, &model));
        assert_ok(huddle_model_predict(NULL, model, &y, loaded));
        assert_memory_equal(again, loaded, sizeof loaded);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* More features than points. */
static void degenerate_points_are_clustered(void **state) {
    (void)state;
    check_degenerate_points("sec", 40);
}

/* A linear map that does not fit the points is not used. */
static void a_map_of_another_size_is_refused(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        huddle_points x = clouds_on_axes(ROWS, 3, CLOUDS, 2.2, 1);
        const char *path = test_path_of("map.npz");
        huddle_model *model = fit("sec", &x, "3", (const char *const[]){"prepare", "none", NULL});
        huddle_dense *map = &model->fit.embedding.linear_map;
        huddle_dense_free(map);
        assert_ok(huddle_dense_new(k == 0 ? 3 : 4, k == 0 ? 4 : 3, map));
        assert_ok(huddle_model_save(model, path));
        huddle_model_free(model);
        assert_refused(huddle_model_load(path, &model), HUDDLE_FORMAT,
                       k == 0 ? "rows of linear_map.npy" : "columns of linear_map.npy");
        huddle_points_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_new_rows_are_those_of_numpy),
        cmocka_unit_test(both_forms_solve_the_normal_equations),
        cmocka_unit_test(a_factor_that_is_too_large_is_refused),
        cmocka_unit_test(close_eigenvalues_are_found_through_filters),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(clouds_are_found_and_new_points_join_them),
        cmocka_unit_test(degenerate_points_are_clustered),
        cmocka_unit_test(a_map_of_another_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
