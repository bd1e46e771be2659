/* model: coordinates of new points. */
#include "engines/mirror.h"
#include "model/model.h"
#include "unit/model_fits.h"

#include <string.h>

/* Training points have their rows of the fit, alone as in a batch; a point beside one is near it.
 */
static void training_points_have_their_rows(void **state) {
    (void)state;
    int placed = 0;
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++) {
        if (hd_method_find((*m)->name)->place == NULL)
            continue;
        huddle_points x = arcs(0.05, 1);
        huddle_model *model = fitted((*m)->name, &x);
        huddle_array f;
        huddle_dense rows, single;
        assert_ok(huddle_model_array(model, "embedding", &f));
        assert_ok(huddle_model_transform(NULL, model, &x, &rows));
        assert_true(rows.rows == N && rows.cols == f.cols);
        double spread = 0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < f.cols; j++) {
                double expected = ((const double *)f.values)[i * f.stride + j];
                /* lsc computes them anew, the others copy them. */
                if (strcmp((*m)->name, "lsc") == 0)
                    assert_close(rows.values[i * rows.stride + j], expected, 1e-6);
                else
                    assert_true(rows.values[i * rows.stride + j] == expected);
                spread = fmax(spread, fabs(expected));
            }
        huddle_points one = {.n = 1, .d = 2, .stride = 2, .values = x.values + 2 * 7};
        one.values[0] += 1e-4F;
        assert_ok(huddle_model_transform(NULL, model, &one, &single));
        double distance = 0;
        for (int64_t j = 0; j < f.cols; j++)
            distance = fmax(distance, fabs(single.values[j] - rows.values[7 * rows.stride + j]));
        assert_true(distance < .3 * spread);
        huddle_dense_free(&single);
        huddle_dense_free(&rows);
        huddle_model_free(model);
        huddle_points_free(&x);
        placed++;
    }
    assert_true(placed >= 8);
}

/* Points far from the origin have a shift, which cancels. */
static void points_have_distances_to_centres(void **state) {
    (void)state;
    static double far[N][2];
    huddle_points plane = arcs(0.05, 1), x;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2; j++)
            far[i][j] = 1e6 + (double)plane.values[2 * i + j];
    assert_ok(huddle_points_from_double(NULL, N, 2, far[0], 2, 1, &x));
    assert_non_null(x.shift);
    huddle_model *model = fitted("kmeans", &x);
    huddle_array centres;
    huddle_dense rows;
    assert_ok(huddle_model_array(model, "centres", &centres));
    assert_ok(huddle_model_transform(NULL, model, &x, &rows));
    assert_true(rows.rows == N && rows.cols == 3);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < 3; k++) {
            const double *centre = (const double *)centres.values + k * centres.stride;
            assert_close(rows.values[i * rows.stride + k],
                         hypot(far[i][0] - centre[0], far[i][1] - centre[1]), 1e-6);
        }
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&plane);
}

static void sparse_points_have_distances_to_centres(void **state) {
    (void)state;
    huddle_points plane = arcs(0.05, 1), x;
    assert_ok(huddle_points_new_sparse(N, 2, 2 * (int64_t)N, &x));
    for (int64_t e = 0; e < 2 * (int64_t)N; e++) {
        x.columns[e] = (int32_t)(e % 2);
        x.values[e] = plane.values[e];
        x.offsets[e / 2 + 1] = e + 1;
    }
    huddle_model *model = fitted("kmeans", &x);
    huddle_array centres;
    huddle_dense rows;
    assert_ok(huddle_model_array(model, "centres", &centres));
    assert_ok(huddle_model_transform(NULL, model, &x, &rows));
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < 3; k++) {
            const double *centre = (const double *)centres.values + k * centres.stride;
            double distance = hypot((double)plane.values[2 * i] - centre[0],
                                    (double)plane.values[2 * i + 1] - centre[1]);
            assert_true(fabs(rows.values[i * rows.stride + k] - distance) < 1e-5);
        }
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&plane);
}

static void what_cannot_be_transformed_is_refused(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("sc", &x), *given;
    huddle_dense rows = {0};
    huddle_array view;
    huddle_context *mirror = mirror_context();
    assert_refused(huddle_model_transform(mirror, model, &x, &rows), HUDDLE_UNSUPPORTED,
                   "transforming new points");
    huddle_points wide = {.n = 1, .d = 3, .stride = 3, .values = x.values};
    assert_refused(huddle_model_transform(NULL, model, &wide, &rows), HUDDLE_INVALID,
                   "3 features, the model was fitted to 2");
    assert_ok(huddle_model_array(model, "graph", &view));
    huddle_csr graph = as_csr(&view);
    assert_ok(huddle_model_new("sc", &given));
    assert_refused(huddle_model_transform(NULL, given, &x, &rows), HUDDLE_INVALID,
                   "not been fitted");
    assert_ok(huddle_model_set_graph(given, &graph));
    assert_ok(huddle_model_fit(NULL, given, NULL));
    assert_refused(huddle_model_transform(NULL, given, &x, &rows), HUDDLE_UNSUPPORTED,
                   "given graph");
    assert_null(rows.values);
    huddle_context_free(mirror);
    huddle_model_free(given);
    huddle_model_free(model);
    huddle_points_free(&x);
}

typedef struct job {
    huddle_model *models[2];
    huddle_points x;
} job;

static huddle_status transform_all(void *argument) {
    const job *t = argument;
    huddle_status status = HUDDLE_OK;
    for (int m = 0; m < 2 && status == HUDDLE_OK; m++) {
        huddle_dense rows = {0};
        status = huddle_model_transform(NULL, t->models[m], &t->x, &rows);
        huddle_dense_free(&rows);
    }
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points x = arcs(0.05, 1);
    job t = {{fitted("sc", &x), fitted("kmeans", &x)}, x};
    t.x.n = 5;
    test_each_allocation(transform_all, &t);
    huddle_model_free(t.models[0]);
    huddle_model_free(t.models[1]);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_points_have_their_rows),
        cmocka_unit_test(points_have_distances_to_centres),
        cmocka_unit_test(sparse_points_have_distances_to_centres),
        cmocka_unit_test(what_cannot_be_transformed_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
