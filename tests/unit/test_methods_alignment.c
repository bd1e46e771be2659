/* methods: the alignment of rows with axes, its gradient and its minima. */
#include "base/rng.h"
#include "steps/rotation.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { MAX_N = 60, MAX_C = 4 };

static void random_rows(hd_rng *rng, int64_t n, int64_t c, double *values) {
    for (int64_t i = 0; i < n; i++) {
        double norm = 0;
        for (int64_t j = 0; j < c; j++) {
            values[i * c + j] = hd_rng_normal(rng);
            norm += values[i * c + j] * values[i * c + j];
        }
        for (int64_t j = 0; j < c; j++)
            values[i * c + j] /= sqrt(norm);
    }
}

/* J by its definition. For a matrix that is not orthogonal the norm of a row is not kept, and the
 * library's cost is 1 / max_j z_ij^2, which differs; the rows have norm 1. */
static double cost_of(const huddle_dense *rows, const double *rotation) {
    double sum = 0;
    int64_t c = rows->cols;
    for (int64_t i = 0; i < rows->rows; i++) {
        double largest = 0;
        for (int64_t k = 0; k < c; k++) {
            double z = 0;
            for (int64_t j = 0; j < c; j++)
                z += rows->values[i * c + j] * rotation[j * c + k];
            largest = fmax(largest, z * z);
        }
        sum += 1 / largest;
    }
    return sum;
}

/* Against differences of the cost in every entry of R. */
static void the_gradient_is_that_of_the_cost(void **state) {
    (void)state;
    double values[MAX_N * MAX_C], rotation[MAX_C * MAX_C], gradient[MAX_C * MAX_C], cost;
    hd_rng rng = hd_rng_stream(3, 0);
    for (int64_t c = 2; c <= MAX_C; c++) {
        huddle_dense rows = {MAX_N, c, c, values, NULL};
        random_rows(&rng, MAX_N, c, values);
        memset(rotation, 0, sizeof rotation);
        for (int64_t k = 0; k < c; k++)
            rotation[k * c + k] = 1;
        assert_ok(hd_step_rotation_cost(NULL, &rows, rotation, gradient, &cost));
        assert_close(cost, cost_of(&rows, rotation), 1e-10);
        for (int64_t e = 0; e < c * c; e++) {
            const double step = 1e-6, kept = rotation[e];
            rotation[e] = kept + step;
            double above = cost_of(&rows, rotation);
            rotation[e] = kept - step;
            double below = cost_of(&rows, rotation);
            rotation[e] = kept;
            assert_close(gradient[e], (above - below) / (2 * step), 1e-5);
        }
    }
}

/* After the first step, one of twice its length leads to nearly the mirrored direction, at nearly
 * the same cost, and must be shortened. */
static void one_direction_is_turned_onto_an_axis(void **state) {
    (void)state;
    double values[2 * MAX_N], quality;
    for (int k = 1; k <= 7; k++) {
        double rotation[] = {1, 0, 0, 1};
        huddle_dense rows = {MAX_N, 2, 2, values, NULL}, r = {2, 2, 2, rotation, NULL};
        for (int64_t i = 0; i < MAX_N; i++) {
            values[2 * i] = cos(.1 * k);
            values[2 * i + 1] = sin(.1 * k);
        }
        assert_ok(hd_step_rotation_align(NULL, &rows, &r, &quality));
        assert_close(quality, 1, 1e-6);
        assert_close(fabs(rotation[0]), cos(.1 * k), 1e-3);
    }
}

/* The cost never grows, R stays a rotation, and the quality is that of R. */
static void alignments_are_better_than_their_start(void **state) {
    (void)state;
    double values[MAX_N * MAX_C], rotation[MAX_C * MAX_C], quality;
    hd_rng rng = hd_rng_stream(4, 0);
    for (int trial = 0; trial < 300; trial++) {
        int64_t n = 3 + trial % 40, c = 2 + trial % 3;
        huddle_dense rows = {n, c, c, values, NULL}, r = {c, c, c, rotation, NULL};
        random_rows(&rng, n, c, values);
        memset(rotation, 0, sizeof rotation);
        for (int64_t k = 0; k < c; k++)
            rotation[k * c + k] = 1;
        double start = cost_of(&rows, rotation);
        assert_ok(hd_step_rotation_align(NULL, &rows, &r, &quality));
        double cost = cost_of(&rows, rotation);
        assert_close(quality, 1 - (cost / (double)n - 1) / (double)c, 1e-12);
        assert_true(cost <= start * (1 + 1e-12));
        for (int64_t k = 0; k < c; k++)
            for (int64_t l = 0; l < c; l++) {
                double product = 0;
                for (int64_t j = 0; j < c; j++)
                    product += rotation[j * c + k] * rotation[j * c + l];
                assert_close(product, k == l, 1e-12);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_cost),
        cmocka_unit_test(one_direction_is_turned_onto_an_axis),
        cmocka_unit_test(alignments_are_better_than_their_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
