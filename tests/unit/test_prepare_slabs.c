/* prepare on rows that are distributed over processes: the numbers are those of all rows. */
#include "base/rng.h"
#include "engines/mirror.h"
#include "engines/team.h"
#include "huddle/prepare.h"
#include "prepare/pca.h"
#include "support/support.h"

#include <math.h>

static huddle_prepare_options options_of(const char *rule) {
    huddle_prepare_options options = huddle_prepare_defaults();
    assert_ok(huddle_options_set(huddle_prepare_options_table(), &options, "prepare", rule));
    return options;
}

/* n different rows, then the same again; every column has its own deviation and mean. Row 3 is 0.
 */
static huddle_points two_copies(int64_t n, int64_t d) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(7, 0);
    assert_ok(huddle_points_new(2 * n, d, &x));
    for (int64_t e = 0; e < n * d; e++) {
        double value = hd_rng_normal(&rng) * (double)(1 + e % d) + (double)(e % d);
        x.values[e] = x.values[n * d + e] = e / d == 3 ? 0 : (float)value;
    }
    return x;
}

/* The same rows as sparse points: every value below 0 is left out. */
static huddle_points sparse_copies(const huddle_points *x) {
    huddle_points s;
    int64_t at = 0;
    assert_ok(huddle_points_new_sparse(x->n, x->d, x->n * x->d, &s));
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < x->d; j++)
            if (x->values[i * x->stride + j] > 0) {
                s.columns[at] = (int32_t)j;
                s.values[at++] = x->values[i * x->stride + j];
            }
        s.offsets[i + 1] = at;
    }
    return s;
}

static void assert_same_numbers(const double *a, const double *b, int64_t count) {
    assert_true((a == NULL) == (b == NULL));
    for (int64_t k = 0; k < count && a != NULL; k++)
        assert_close(a[k], b[k], 1e-9);
}

/* Fits and applies a rule to the first half under the mirror, and to both halves without. */
static void compare_with_mirror(const huddle_points *x, const char *rule) {
    huddle_context *mirror = mirror_context();
    huddle_prepare_options options = options_of(rule);
    huddle_preparation half_fit, fit;
    huddle_points half = *x, half_y, y;
    huddle_prepare_info half_info, info;
    half.n = x->n / 2;
    assert_non_null(mirror);
    assert_ok(huddle_prepare_fit(NULL, x, &options, &fit, NULL));
    assert_ok(huddle_prepare_fit(mirror, &half, &options, &half_fit, NULL));
    assert_int_equal(half_fit.d_out, fit.d_out);
    assert_same_numbers(half_fit.centre, fit.centre, x->d);
    assert_same_numbers(half_fit.scale, fit.scale, x->d);
    assert_same_numbers(half_fit.projection.values, fit.projection.values, x->d * fit.d_out);
    assert_close(half_fit.variance_kept, fit.variance_kept, 1e-12);
    assert_ok(huddle_prepare_apply(NULL, &fit, x, &y, &info));
    assert_ok(huddle_prepare_apply(mirror, &half_fit, &half, &half_y, &half_info));
    assert_int_equal(half_info.zero_rows, info.zero_rows);
    for (int64_t e = 0; e < half_y.n * half_y.d && half_y.offsets == NULL; e++)
        assert_close((double)half_y.values[e], (double)y.values[e], 1e-6);
    assert_true(mirror_counts_of(mirror)->agreements > 0);
    huddle_preparation_free(&fit);
    huddle_preparation_free(&half_fit);
    huddle_points_free(&y);
    huddle_points_free(&half_y);
    huddle_context_free(mirror);
}

static void rules_see_both_copies(void **state) {
    (void)state;
    static const char *const rules[] = {"none",           "standard", "unit",    "center-rows",
                                        "center-columns", "pca:4",    "whiten:4"};
    huddle_points x = two_copies(300, 9);
    for (int r = 0; r < 7; r++)
        compare_with_mirror(&x, rules[r]);
    huddle_points_free(&x);
}

/* More columns than rows: one process would decompose the products of rows, which are not there. */
static void wide_points_are_decomposed_by_columns(void **state) {
    (void)state;
    huddle_points x = two_copies(12, 40);
    compare_with_mirror(&x, "pca:5");
    compare_with_mirror(&x, "whiten:30"); /* clipped to the rank, 11 */
    huddle_points_free(&x);
}

/* Sparse points form their matrix by products up to 500 columns, and iterate beyond. */
static void sparse_points_too(void **state) {
    (void)state;
    huddle_points narrow = two_copies(200, 20), wide = two_copies(600, 520);
    huddle_points a = sparse_copies(&narrow), b = sparse_copies(&wide);
    compare_with_mirror(&a, "pca:3");
    compare_with_mirror(&a, "unit");
    compare_with_mirror(&b, "pca:3");
    huddle_points_free(&narrow);
    huddle_points_free(&wide);
    huddle_points_free(&a);
    huddle_points_free(&b);
}

static void products_of_rows_are_refused(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    huddle_points x = two_copies(4, 3);
    double mean[3] = {0}, gram[64];
    hd_prepare_centred centred = {.x = &x, .offset = mean};
    assert_refused(hd_prepare_centred_gram(mirror, &centred, false, gram), HUDDLE_UNSUPPORTED,
                   "needs all rows on one process; the engine mirror");
    assert_ok(hd_prepare_centred_gram(mirror, &centred, true, gram));
    huddle_points_free(&x);
    huddle_context_free(mirror);
}

/* ---- members with different rows ----------------------------------------------------------- */

typedef struct division {
    huddle_points x; /* of all */
    int64_t begins[4];
    huddle_prepare_options options;
    huddle_preparation fits[3];
    huddle_prepare_info infos[3];
    huddle_points prepared[3];
} division;

static huddle_status prepare_part(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    huddle_status status = HUDDLE_OK;
    huddle_points own = team_points(&all->x, all->begins, rank);
    TRY(huddle_prepare_fit(context, &own, &all->options, &all->fits[rank], NULL));
    TRY(huddle_prepare_apply(context, &all->fits[rank], &own, &all->prepared[rank],
                             &all->infos[rank]));
done:
    return status;
}

static void three_members_prepare_as_one(void **state) {
    (void)state;
    static const char *const rules[] = {"standard", "center-columns", "pca:4", "whiten:3"};
    for (int r = 0; r < 4; r++) {
        division all = {.x = two_copies(100, 6), .begins = {0, 30, 31, 200}};
        huddle_preparation fit;
        huddle_prepare_info info;
        huddle_points y;
        all.options = options_of(rules[r]);
        assert_ok(huddle_prepare_fit(NULL, &all.x, &all.options, &fit, NULL));
        assert_ok(huddle_prepare_apply(NULL, &fit, &all.x, &y, &info));
        assert_ok(team_run(3, &team_engine, prepare_part, &all));
        for (int m = 0; m < 3; m++) {
            assert_same_numbers(all.fits[m].centre, fit.centre, 6);
            assert_int_equal(all.infos[m].zero_rows, info.zero_rows);
            for (int64_t e = 0; e < all.prepared[m].n * y.d; e++)
                assert_close((double)all.prepared[m].values[e],
                             (double)y.values[all.begins[m] * y.d + e], 2e-6);
            huddle_preparation_free(&all.fits[m]);
            huddle_points_free(&all.prepared[m]);
        }
        huddle_preparation_free(&fit);
        huddle_points_free(&y);
        huddle_points_free(&all.x);
    }
}

/* A failure of one member is that of all, also of those that wait for a sum. */
static void one_failure_ends_all(void **state) {
    (void)state;
    division all = {.x = two_copies(100, 6), .begins = {0, 30, 31, 200}};
    all.options = options_of("standard");
    all.x.values[30 * 6 + 2] = NAN; /* the only row of the second member */
    assert_refused(team_run(3, &team_engine, prepare_part, &all), HUDDLE_INVALID,
                   "row 1, column 3");
    huddle_points_free(&all.x);
}

/* The rank of a value depends on all values of its column. */
static void ranks_are_refused(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    huddle_points x = two_copies(10, 3);
    huddle_prepare_options options = options_of("ranks");
    huddle_preparation p;
    assert_refused(huddle_prepare_fit(mirror, &x, &options, &p, NULL), HUDDLE_UNSUPPORTED,
                   "prepare = ranks needs all rows on one process; the engine mirror");
    assert_null(p.knot_offsets);
    huddle_points_free(&x);
    huddle_context_free(mirror);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_see_both_copies),
        cmocka_unit_test(wide_points_are_decomposed_by_columns),
        cmocka_unit_test(sparse_points_too),
        cmocka_unit_test(products_of_rows_are_refused),
        cmocka_unit_test(ranks_are_refused),
        cmocka_unit_test(three_members_prepare_as_one),
        cmocka_unit_test(one_failure_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
