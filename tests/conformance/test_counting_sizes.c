/* Every method with its own choices (prepare = auto, refine = auto) on the counting engine and
 * beside the CPU, with sizes on both sides of the thresholds at which stages change their
 * algorithms, many features, equal rows and several components. An engine that declines everything
 * leaves the bits of the CPU; one that computes, its clusters. */
#include "base/context.h"
#include "base/rng.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { C = 3 };

/* ---- data ------------------------------------------------------------------------------------ */

/* Clouds around the corners of a simplex, far from each other; the last rows lie between two of
 * them, if they are linked. */
typedef struct data {
    const char *name;
    int64_t n, d;
    int copies;  /* of each row */
    bool linked; /* otherwise each cloud is a component, and one is two of them */
} data;

static huddle_points make_points(const data *of) {
    huddle_points x;
    assert_ok(huddle_points_new(of->n, of->d, &x));
    for (int64_t i = 0; i < of->n; i++) {
        int64_t kind = i / of->copies;
        hd_rng rng = hd_rng_stream(5, (uint64_t)kind);
        int64_t own = kind % C, other = (kind / C + own) % C;
        double way = of->linked && kind % 16 == 15 ? .36 : 0;
        for (int64_t j = 0; j < of->d; j++) {
            double place = (1 - way) * (double)(j % C == own) + way * (double)(j % C == other);
            place += !of->linked && own == 0 && kind % 2 == 1 && j % C == 0 ? .45 : 0;
            x.values[i * of->d + j] = (float)(8 * place + .6 * hd_rng_normal(&rng) + 3);
        }
    }
    return x;
}

/* ---- fits ------------------------------------------------------------------------------------ */

/* Random starts of K-means are not the same on both engines. Landmarks are drawn, therefore, and
 * the starts are so many that one of them leads to the best clusters of codes whose components are
 * at similar distances (graphencoder). */
static huddle_model *fit_model(huddle_context *context, const char *method,
                               const huddle_points *x) {
    static const char *const options[][2] = {{"n_clusters", "3"},     {"n_init", "20"},
                                             {"landmarks", "random"}, {"n_landmarks", "20"},
                                             {"prepare", "auto"},     {"refine", "auto"}};
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (huddle_option_find(huddle_model_options(model), options[k][0]) != NULL)
            assert_ok(huddle_model_set_option(model, options[k][0], options[k][1]));
    assert_ok(huddle_model_fit(context, model, x));
    return model;
}

static void compare(const char *method, const data *of, const char *mode, huddle_model *a,
                    huddle_model *b) {
    const int32_t *one = huddle_model_labels(a, NULL), *two = huddle_model_labels(b, NULL);
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, of->n, one, two, &scores));
    /* The rows between the clouds of llc's graph have several local optima: which one single moves
     * find depends on their order, which is the engine's. */
    bool is_exact = strcmp(mode, "decline") == 0 || strcmp(method, "llc") != 0;
    if (scores.ari < (is_exact ? 1 : .9))
        fail_msg("%s, %s, '%s': ARI %g", method, of->name, mode, scores.ari);
}

static void check_method(const char *method, const data *of, const char *const *modes) {
    huddle_context *cpu = counting_context(NULL);
    huddle_points x = make_points(of);
    huddle_model *b = fit_model(cpu, method, &x);
    for (; *modes != NULL; modes++) {
        huddle_context *context = counting_context(*modes);
        huddle_model *a = fit_model(context, method, &x);
        int64_t calls = 0;
        for (int k = 0; k < N_COUNTING_STAGES; k++)
            calls += atomic_load(&counting_state_of(context)->calls[k]);
        assert_true(calls > 0);
        compare(method, of, *modes, a, b);
        if (strcmp(*modes, "decline") == 0)
            counting_check_same_bits(of->name, a, b);
        assert_int_equal(atomic_load(&counting_state_of(context)->stale), 0);
        huddle_model_free(a);
        huddle_context_free(context);
    }
    huddle_model_free(b);
    huddle_points_free(&x);
    huddle_context_free(cpu);
}

static void check_all_methods(const data *of, const char *const *modes) {
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        check_method((*method)->name, of, modes);
}

static const char *const all_modes[] = {"decline", "", "resident", NULL};

/* Up to 500 rows the CPU's eigenvectors come from LAPACK. The engine declines more than it can
 * diagonalise. */
static void rows_around_the_dense_solver(void **state) {
    (void)state;
    static const data few = {"500 rows", 500, 4, 1, true}, many = {"501 rows", 501, 4, 1, true};
    check_all_methods(&few, all_modes);
    check_all_methods(&many, all_modes);
}

/* Beyond 64 features searches and K-means have other kernels. */
static void many_features(void **state) {
    (void)state;
    static const data wide = {"70 features", 99, 70, 1, true};
    check_all_methods(&wide, all_modes);
}

static void equal_rows(void **state) {
    (void)state;
    static const data copies = {"copies", 132, 12, 2, true};
    check_all_methods(&copies, all_modes);
}

static void several_components(void **state) {
    (void)state;
    static const data apart = {"components", 132, 12, 1, false};
    check_all_methods(&apart, all_modes);
}

/* ---- larger sizes ------------------------------------------------------------------------------
 */

/* The engine computes all but eigenvectors, which it declines at these sizes. */
static const char *const computing[] = {"decline", "", NULL};

/* Up to 3000 rows LAPACK helps where eigenvalues are close; up to 2500 the iteration begins with
 * random vectors; from 3000 rows and 33 features on, and beyond 4000 rows, searches have an index;
 * labels of more than 5000 rows are compared on a sample; preparations of more than 10000 rows are
 * judged by one. */
static void rows_around_other_thresholds(void **state) {
    (void)state;
    static const data sizes[] = {{"2500 rows", 2500, 4, 1, true},  {"2501 rows", 2501, 4, 1, true},
                                 {"2999 rows", 2999, 34, 1, true}, {"3001 rows", 3001, 34, 1, true},
                                 {"4001 rows", 4001, 4, 1, true},  {"5001 rows", 5001, 4, 1, true},
                                 {"10001 rows", 10001, 4, 1, true}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check_method("ssc", &sizes[k], computing);
}

/* The engine's loops over all pairs of rows would take most of the time of this test: it declines
 * at the last sizes below the last three thresholds, and at larger sizes. Beyond 20000 rows of two
 * features searches have a tree; beyond 50000 eigenvectors that only the refinement needs are less
 * accurate. */
static void rows_around_thresholds_of_the_cpu(void **state) {
    (void)state;
    static const char *const declining[] = {"decline", NULL};
    static const data sizes[] = {
        {"4000 rows", 4000, 4, 1, true},   {"5000 rows", 5000, 4, 1, true},
        {"10000 rows", 10000, 4, 1, true}, {"20000 rows", 20000, 2, 1, true},
        {"20001 rows", 20001, 2, 1, true}, {"50000 rows", 50000, 2, 1, true},
        {"50001 rows", 50001, 2, 1, true}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check_method("ssc", &sizes[k], declining);
}

/* From 65536 rows on restarts of K-means run on samples, up to 32768 side by side. */
static void rows_around_samples(void **state) {
    (void)state;
    static const data sizes[] = {{"32768 rows", 32768, 2, 1, true},
                                 {"32769 rows", 32769, 2, 1, true},
                                 {"65535 rows", 65535, 2, 1, true},
                                 {"65536 rows", 65536, 2, 1, true}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check_method("kmeans", &sizes[k], computing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_around_the_dense_solver),
        cmocka_unit_test(many_features),
        cmocka_unit_test(equal_rows),
        cmocka_unit_test(several_components),
        cmocka_unit_test(rows_around_other_thresholds),
        cmocka_unit_test(rows_around_thresholds_of_the_cpu),
        cmocka_unit_test(rows_around_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
