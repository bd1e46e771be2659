/* kmeans: what the caller gives in place of random numbers, and what it can ask for beside the
 * labels. */
#include "kmeans_points.h"

#include <stdio.h>

enum { N = 900, D = 5, C = 7, RESTARTS = 4 };

static double weight_of(const double *weights, int64_t i) {
    return weights != NULL ? weights[i] : 1;
}

/* The first row at which the running sum of weight * closest exceeds u times the total. */
static int64_t plain_draw(const double *weights, const double *closest, double u) {
    double total = 0, sum = 0;
    for (int64_t i = 0; i < N; i++)
        total += weight_of(weights, i) * closest[i];
    for (int64_t i = 0; i < N; i++) {
        sum += weight_of(weights, i) * closest[i];
        if (sum > u * total)
            return i;
    }
    return N - 1;
}

/* Greedy k-means++ by plain loops in double, with scikit-learn's order of draws. */
static void plain_seeds(const huddle_points *x, const double *weights, const double *draws,
                        double *centres) {
    static double closest[N], trial[N], best[N];
    int32_t trials = hd_kmeans_trials(C);
    for (int64_t i = 0; i < N; i++)
        closest[i] = 1;
    for (int32_t k = 0; k < C; k++) {
        double lowest = INFINITY;
        int64_t winner = -1;
        for (int32_t t = 0; t < (k == 0 ? 1 : trials); t++) {
            int64_t row = plain_draw(weights, closest, *draws++);
            double centre[D], sum = 0;
            for (int64_t j = 0; j < D; j++)
                centre[j] = (double)x->values[row * D + j];
            for (int64_t i = 0; i < N; i++) {
                double distance = plain_distance(x, i, centre);
                trial[i] = k == 0 ? distance : fmin(distance, closest[i]);
                sum += weight_of(weights, i) * trial[i];
            }
            if (sum < lowest) {
                lowest = sum;
                winner = row;
                memcpy(best, trial, sizeof best);
            }
        }
        memcpy(closest, best, sizeof closest);
        for (int64_t j = 0; j < D; j++)
            centres[k * D + j] = (double)x->values[winner * D + j];
    }
}

static void assert_same_run(const huddle_kmeans_result *a, const huddle_kmeans_info *a_info,
                            const huddle_kmeans_result *b, const huddle_kmeans_info *b_info) {
    assert_int_equal(a_info->n_restarts, b_info->n_restarts);
    assert_int_equal(a_info->best, b_info->best);
    assert_int_equal(a_info->n_iter, b_info->n_iter);
    assert_memory_equal(a->labels, b->labels, N * sizeof *a->labels);
    for (int32_t r = 0; r < a_info->n_restarts; r++)
        assert_true(a_info->inertias[r] == b_info->inertias[r]);
}

static void draws_decide_the_first_centres(void **state) {
    (void)state;
    huddle_points x = make_groups(N, D, 9, 1.5, 3);
    double weights[N], starts[RESTARTS * C * D], *draws = NULL;
    int64_t count = huddle_kmeans_n_draws(C);
    assert_int_equal(count, 1 + (C - 1) * 3);
    assert_non_null(draws = calloc((size_t)(RESTARTS * count), sizeof *draws));
    hd_rng rng = hd_rng_stream(8, 0);
    for (int64_t i = 0; i < N; i++)
        weights[i] = .1 + hd_rng_uniform(&rng);
    for (int64_t i = 0; i < RESTARTS * count; i++)
        draws[i] = hd_rng_uniform(&rng);
    for (int weighted = 0; weighted < 2; weighted++) {
        const double *w = weighted ? weights : NULL;
        huddle_dense start = {RESTARTS * C, D, D, starts, NULL};
        huddle_kmeans_options options = with_clusters(C);
        huddle_kmeans_result drawn, given;
        huddle_kmeans_info drawn_info, given_info;
        for (int64_t r = 0; r < RESTARTS; r++)
            plain_seeds(&x, w, draws + r * count, starts + r * C * D);
        options.n_init = RESTARTS;
        options.draws = draws;
        assert_ok(huddle_kmeans(NULL, &x, w, &options, &drawn, &drawn_info));
        options.draws = NULL;
        options.start = &start;
        assert_ok(huddle_kmeans(NULL, &x, w, &options, &given, &given_info));
        assert_int_equal(given_info.n_restarts, RESTARTS);
        assert_same_run(&drawn, &drawn_info, &given, &given_info);
        huddle_kmeans_result_free(&drawn);
        huddle_kmeans_result_free(&given);
        huddle_kmeans_info_free(&drawn_info);
        huddle_kmeans_info_free(&given_info);
    }
    free(draws);
    huddle_points_free(&x);
}

/* Stopped after two iterations, the labels are no longer those that the centres came from. */
static void centres_are_means_of_averaged(void **state) {
    (void)state;
    huddle_points x = make_groups(N, D, 9, 1, 4);
    double weights[N], sums[C * D] = {0}, mass[C] = {0};
    huddle_kmeans_options options = with_clusters(C);
    huddle_kmeans_result result;
    int64_t differ = 0;
    for (int64_t i = 0; i < N; i++)
        weights[i] = 1 + (double)(i % 3);
    options.max_iter = 2;
    options.keep_averaged = true;
    assert_ok(huddle_kmeans(NULL, &x, weights, &options, &result, NULL));
    assert_non_null(result.averaged);
    for (int64_t i = 0; i < N; i++) {
        int32_t k = result.averaged[i];
        differ += k != result.labels[i];
        mass[k] += weights[i];
        for (int64_t j = 0; j < D; j++)
            sums[k * D + j] += weights[i] * (double)x.values[i * D + j];
    }
    assert_true(differ > 0);
    for (int64_t e = 0; e < (int64_t)C * D; e++)
        assert_close(result.centres.values[e], sums[e] / mass[e / D], 1e-10);
    huddle_kmeans_result_free(&result);
    options.keep_averaged = false;
    assert_ok(huddle_kmeans(NULL, &x, weights, &options, &result, NULL));
    assert_null(result.averaged);
    huddle_kmeans_result_free(&result);
    huddle_points_free(&x);
}

typedef struct lines {
    int starts, iterations, ends;
    double last;
} lines;

static void count_line(void *user, huddle_log_level level, huddle_warning_code code,
                       const char *text) {
    lines *found = user;
    int number;
    double inertia;
    (void)level;
    (void)code;
    found->starts += strcmp(text, "Initialization complete") == 0;
    found->ends += strstr(text, "Converged at iteration") != NULL;
    if (sscanf(text, "Iteration %d, inertia %lf.", &number, &inertia) == 2) {
        assert_true(number == 0 || inertia <= found->last);
        found->last = inertia;
        found->iterations++;
    }
}

static void iterations_are_logged(void **state) {
    (void)state;
    huddle_points x = make_groups(N, D, C, 3, 5);
    huddle_context *context = NULL;
    huddle_kmeans_options options = with_clusters(C);
    huddle_kmeans_result result;
    huddle_kmeans_info info;
    lines found = {0};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_line, &found);
    options.n_init = 1;
    options.tol = 0;
    assert_ok(huddle_kmeans(context, &x, NULL, &options, &result, &info));
    assert_int_equal(found.iterations, 0);
    huddle_kmeans_result_free(&result);
    huddle_kmeans_info_free(&info);
    options.log_iterations = true;
    assert_ok(huddle_kmeans(context, &x, NULL, &options, &result, &info));
    assert_int_equal(found.starts, 1);
    assert_int_equal(found.iterations, info.n_iter);
    assert_int_equal(found.ends, 1);
    assert_close(found.last, info.inertia, 1e-9);
    huddle_kmeans_result_free(&result);
    huddle_kmeans_info_free(&info);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void bad_draws_are_refused(void **state) {
    (void)state;
    huddle_points x = make_groups(20, 2, 2, 3, 6);
    double draws[] = {.5, .25, 1};
    huddle_kmeans_options options = with_clusters(2);
    huddle_kmeans_result result;
    options.n_init = 1;
    options.draws = draws;
    assert_refused(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL), HUDDLE_INVALID,
                   "draw 3 is 1, outside [0, 1)");
    draws[2] = .75;
    options.init = "sample";
    assert_refused(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL), HUDDLE_INVALID,
                   "draws are for init = k-means++, not sample");
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_decide_the_first_centres),
        cmocka_unit_test(centres_are_means_of_averaged),
        cmocka_unit_test(iterations_are_logged),
        cmocka_unit_test(bad_draws_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
