/* prepare: products with centred points, dense and sparse, beside plain loops. */
#include "base/blas.h"
#include "base/rng.h"
#include "prepare/pca.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum { B = 7, LD = 9 };

typedef struct scene {
    huddle_points dense, sparse;
    double *offset;  /* d */
    double *centred; /* n x d */
    double *v, *t;   /* d x LD, n x LD */
    double *out;     /* room for both shapes */
} scene;

static double *random_numbers(int64_t count, uint64_t stream) {
    double *numbers = malloc((size_t)count * sizeof *numbers);
    hd_rng rng = hd_rng_stream(9, stream);
    for (int64_t k = 0; k < count; k++)
        numbers[k] = hd_rng_normal(&rng);
    return numbers;
}

static scene make_scene(int64_t n, int64_t d) {
    scene s = {.offset = random_numbers(d, 1)};
    int64_t longer = n > d ? n : d, place = 0;
    hd_rng rng = hd_rng_stream(9, 0);
    assert_ok(huddle_points_new(n, d, &s.dense));
    assert_ok(huddle_points_new_sparse(n, d, n * d, &s.sparse));
    s.centred = malloc((size_t)(n * d) * sizeof *s.centred);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++) {
            float value = hd_rng_uniform(&rng) < 0.4 ? (float)hd_rng_normal(&rng) : 0;
            s.dense.values[i * d + j] = value;
            s.centred[i * d + j] = (double)value - s.offset[j];
            if (value == 0)
                continue;
            s.sparse.columns[place] = (int32_t)j;
            s.sparse.values[place++] = value;
        }
        s.sparse.offsets[i + 1] = place;
    }
    s.v = random_numbers(d * LD, 2);
    s.t = random_numbers(n * LD, 3);
    s.out = malloc((size_t)(longer * LD) * sizeof *s.out);
    return s;
}

static void free_scene(scene *s) {
    huddle_points_free(&s->dense);
    huddle_points_free(&s->sparse);
    free(s->offset);
    free(s->centred);
    free(s->v);
    free(s->t);
    free(s->out);
}

static void check_products(const scene *s, const huddle_points *x) {
    int64_t n = x->n, d = x->d;
    hd_prepare_centred c = {.x = x, .offset = s->offset};
    assert_ok(hd_prepare_centred_transpose(&c));
    assert_ok(hd_prepare_centred_times(NULL, &c, s->v, B, LD, s->out, LD));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < B; k++) {
            double sum = 0;
            for (int64_t j = 0; j < d; j++)
                sum += s->centred[i * d + j] * s->v[j * LD + k];
            assert_close(s->out[i * LD + k], sum, 1e-11);
        }
    assert_ok(hd_prepare_centred_times_transpose(NULL, &c, s->t, B, LD, s->out, LD));
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < B; k++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += s->centred[i * d + j] * s->t[i * LD + k];
            assert_close(s->out[j * LD + k], sum, 1e-11);
        }
    hd_prepare_centred_free(&c);
}

static void check_gram(const scene *s, const huddle_points *x, bool by_columns) {
    int64_t n = x->n, d = x->d, m = by_columns ? d : n, depth = by_columns ? n : d;
    int64_t step = by_columns ? 1 : d, stride = by_columns ? d : 1;
    double *gram = malloc((size_t)(m * m) * sizeof *gram);
    hd_prepare_centred c = {.x = x, .offset = s->offset};
    assert_ok(hd_prepare_centred_transpose(&c));
    assert_ok(hd_prepare_centred_gram(NULL, &c, by_columns, gram));
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++) {
            double sum = 0;
            for (int64_t e = 0; e < depth; e++)
                sum += s->centred[a * step + e * stride] * s->centred[b * step + e * stride];
            assert_close(gram[a * m + b], sum, 1e-11);
        }
    hd_prepare_centred_free(&c);
    free(gram);
}

/* Sizes on both sides of every tile, square and segment. */
static void products_agree_with_plain_loops(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {3, 140}, {65, 513}, {2100, 5}, {600, 130}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        scene s = make_scene(shapes[k][0], shapes[k][1]);
        check_products(&s, &s.dense);
        check_products(&s, &s.sparse);
        bool by_columns = shapes[k][1] <= shapes[k][0];
        check_gram(&s, &s.dense, by_columns);
        check_gram(&s, &s.sparse, by_columns);
        free_scene(&s);
    }
}

static void moments_agree_for_both_kinds(void **state) {
    (void)state;
    enum { N = 700, D = 6 };
    scene s = make_scene(N, D);
    double mean[D], variance[D], sparse_mean[D], sparse_variance[D];
    assert_ok(hd_prepare_column_moments(NULL, &s.dense, mean, variance));
    assert_ok(hd_prepare_column_moments(NULL, &s.sparse, sparse_mean, sparse_variance));
    for (int64_t j = 0; j < D; j++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < N; i++)
            sum += (double)s.dense.values[i * D + j];
        for (int64_t i = 0; i < N; i++)
            squares += pow((double)s.dense.values[i * D + j] - sum / N, 2);
        assert_close(mean[j], sum / N, 1e-14);
        assert_close(variance[j], squares / N, 1e-14);
        assert_close(sparse_mean[j], mean[j], 1e-14);
        assert_close(sparse_variance[j], variance[j], 1e-14);
    }
    free_scene(&s);
}

/* Rows of norm 1 up to the rounding of floats, or 0. */
static void unit_rows_are_recognised(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 2, 5};
    int32_t columns[] = {0, 3, 1, 2, 3};
    float third = (float)sqrt(1. / 3), values[] = {.6F, -.8F, third, third, -third};
    huddle_points x = {.n = 3, .d = 4, .values = values, .offsets = offsets, .columns = columns};
    assert_true(hd_prepare_has_unit_rows(&x));
    values[4] *= 1.001F;
    assert_false(hd_prepare_has_unit_rows(&x));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_plain_loops),
        cmocka_unit_test(moments_agree_for_both_kinds),
        cmocka_unit_test(unit_rows_are_recognised),
    };
    hd_blas_enter(); /* as the callers of the products do */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hd_blas_leave();
    return failed;
}
