/* kmeans: many rows, whose restarts begin on a sample. */
#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/memory.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest number of rows that is sampled, for up to 64 clusters. */
enum { N = 1 << 16, D = 3 };

/* c normal groups around points of a cube of side 10, in random order. */
static huddle_points make_groups(int64_t n, int32_t c, double deviation) {
    huddle_points x;
    assert_ok(huddle_points_new(n, D, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng noise = hd_rng_stream(2, (uint64_t)i);
        hd_rng centre = hd_rng_stream(1, (uint64_t)hd_rng_below(&noise, c));
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] =
                (float)(10 * hd_rng_uniform(&centre) + deviation * hd_rng_normal(&noise));
    }
    return x;
}

static huddle_kmeans_options make_options(int32_t c, int32_t n_init) {
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = c;
    options.n_init = n_init;
    options.seed = 4;
    return options;
}

typedef struct answer {
    huddle_kmeans_result result;
    huddle_kmeans_info info;
} answer;

static answer solve(huddle_context *context, const huddle_points *x, const double *weights,
                    const huddle_kmeans_options *options) {
    answer a;
    assert_ok(huddle_kmeans(context, x, weights, options, &a.result, &a.info));
    return a;
}

static void answer_free(answer *a) {
    huddle_kmeans_result_free(&a->result);
    huddle_kmeans_info_free(&a->info);
}

static double squared_distance(const huddle_points *x, int64_t i, const double *centre) {
    double square = 0;
    for (int64_t j = 0; j < x->d; j++)
        square += pow((double)x->values[i * x->d + j] - centre[j], 2);
    return square;
}

/* The objective from its definition, and labels that are the nearest centres. */
static void check_answer(const huddle_points *x, const double *weights, const answer *a) {
    const huddle_dense *centres = &a->result.centres;
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++) {
        double own = squared_distance(x, i, centres->values + a->result.labels[i] * D);
        sum += own * (weights != NULL ? weights[i] : 1);
        for (int64_t k = 0; k < centres->rows; k++)
            assert_true(own <= squared_distance(x, i, centres->values + k * D) * (1 + 1e-12));
    }
    assert_close(a->info.inertia, sum, 1e-9);
    assert_true(a->info.inertia == a->info.inertias[a->info.best]);
}

/* Groups that touch: as good as all restarts on all rows. The inertias of the restarts that ended
 * on the sample are estimates for all rows. */
static void sample_finds_the_same_minimum(void **state) {
    (void)state;
    enum { C = 20 };
    huddle_points x = make_groups(N, C, .7);
    huddle_kmeans_options options = make_options(C, 12);
    answer sampled = solve(NULL, &x, NULL, &options);
    options.full_restarts = true;
    answer full = solve(NULL, &x, NULL, &options);
    check_answer(&x, NULL, &sampled);
    assert_int_equal(sampled.info.n_restarts, 12);
    assert_int_equal(sampled.info.n_distinct, C);
    assert_true(sampled.info.inertia <= full.info.inertia * (1 + 1e-4));
    for (int32_t r = 0; r < 12; r++)
        assert_true(sampled.info.inertias[r] >= .9 * full.info.inertia &&
                    sampled.info.inertias[r] <= 3 * full.info.inertia);
    answer_free(&full);
    answer_free(&sampled);
    huddle_points_free(&x);
}

/* One row less, labels of restarts, or the option: every restart is what it is alone. */
static void full_restarts_see_all_rows(void **state) {
    (void)state;
    enum { C = 6 };
    huddle_points x = make_groups(N, C, 2);
    huddle_kmeans_options options = make_options(C, 3), first = options;
    first.n_init = 1;
    answer alone = solve(NULL, &x, NULL, &first);
    for (int way = 0; way < 2; way++) {
        options.full_restarts = way == 0;
        options.keep_starts = way == 1;
        answer all = solve(NULL, &x, NULL, &options);
        assert_true(all.info.inertias[0] == alone.info.inertias[0]);
        answer_free(&all);
    }
    answer_free(&alone);
    x.n--;
    alone = solve(NULL, &x, NULL, &first);
    options = make_options(C, 3);
    answer all = solve(NULL, &x, NULL, &options);
    assert_true(all.info.inertias[0] == alone.info.inertias[0]);
    answer_free(&all);
    answer_free(&alone);
    huddle_points_free(&x);
}

/* Two groups at 0 and 10, and at 100 a row with half of the weight of all others. Two clusters
 * separate it, on the sample too, and would separate the groups if it counted once. */
static void heavy_rows_keep_their_weight(void **state) {
    (void)state;
    enum { C = 2, RESTARTS = 6 };
    huddle_points x = make_groups(N, 1, .1);
    double *weights = malloc(N * sizeof *weights);
    assert_non_null(weights);
    for (int64_t i = 0; i < N; i++) {
        weights[i] = 1;
        x.values[i * D] = (float)(10 * (i % 2));
    }
    weights[N / 3] = N / 2;
    x.values[N / 3 * D] = 100;
    huddle_kmeans_options options = make_options(C, RESTARTS);
    answer a = solve(NULL, &x, weights, &options);
    check_answer(&x, weights, &a);
    assert_close(a.info.inertia, N * (25 + 2 * .1 * .1), .01);
    for (int32_t r = 0; r < RESTARTS; r++)
        assert_close(a.info.inertias[r], a.info.inertia, .05);
    answer_free(&a);
    free(weights);
    huddle_points_free(&x);
}

/* Nearly all rows are equal, and the others follow each other, so that a sample of every fourth row
 * has at most three of them: fewer distinct rows than clusters. Of its empty clusters, two would
 * be given to the two rows that are farthest away, which belong together. */
static void rare_rows_are_found(void **state) {
    (void)state;
    enum { C = 5, RARE = 7 };
    static const float rare[RARE] = {10, 1000, 1000.5f, 20, 10.1f, 20.1f, 30};
    for (uint64_t seed = 0; seed < 4; seed++) {
        huddle_points x;
        assert_ok(huddle_points_new(N, D, &x));
        for (int64_t k = 0; k < RARE; k++)
            x.values[(40000 + k) * D] = rare[k];
        huddle_kmeans_options options = make_options(C, 8);
        options.seed = seed;
        answer a = solve(NULL, &x, NULL, &options);
        assert_close(a.info.inertia, .125 + 2 * .005, 1e-4);
        answer_free(&a);
        huddle_points_free(&x);
    }
}

/* Rows in the order of a period that divides the distance of the strata. */
static void order_of_rows_does_not_matter(void **state) {
    (void)state;
    enum { C = 4 };
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)(i % C == j + 1 ? 1 : 0) + 1e-3f * (float)(i / C % 32);
    huddle_kmeans_options options = make_options(C, 3);
    answer a = solve(NULL, &x, NULL, &options);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(a.result.labels[i], a.result.labels[i % C]);
    for (int32_t r = 0; r < 3; r++) /* each restart, on the sample, has found all four */
        assert_true(a.info.inertias[r] < N * 1e-3);
    answer_free(&a);
    huddle_points_free(&x);
}

/* Three rounds: two samples and all rows. */
static void threads_do_not_matter(void **state) {
    (void)state;
    enum { C = 7, MANY = 4 * N };
    huddle_points x = make_groups(MANY, C, 2);
    double *weights = malloc(MANY * sizeof *weights);
    assert_non_null(weights);
    for (int64_t i = 0; i < MANY; i++)
        weights[i] = 1 + (double)(i % 3);
    static const int32_t threads[] = {2, 3, 8};
    huddle_context *context;
    for (int weighted = 0; weighted < 2; weighted++) {
        huddle_kmeans_options options = make_options(C, 6);
        options.max_iter = 20;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, 1));
        answer one = solve(context, &x, weighted ? weights : NULL, &options);
        for (int t = 0; t < 3; t++) {
            assert_ok(huddle_context_set_threads(context, threads[t]));
            answer a = solve(context, &x, weighted ? weights : NULL, &options);
            assert_memory_equal(a.result.labels, one.result.labels, MANY * sizeof(int32_t));
            assert_memory_equal(a.result.centres.values, one.result.centres.values,
                                C * D * sizeof(double));
            assert_memory_equal(a.info.inertias, one.info.inertias, 6 * sizeof(double));
            assert_int_equal(a.info.best, one.info.best);
            answer_free(&a);
        }
        answer_free(&one);
        huddle_context_free(context);
    }
    free(weights);
    huddle_points_free(&x);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Sanitizers keep memory that has been freed, and their own tables. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* A number of /proc/self/status in bytes, or -1 where there is no such file. */
static double process_memory(const char *name) {
    char line[256], format[32];
    double kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    snprintf(format, sizeof format, "%s: %%lf", name);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, format, &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kilobytes < 0 ? -1 : 1024 * kilobytes;
}

/* The first test, while the peak of the process is below that of K-means. */
static void memory_is_predicted(void **state) {
    (void)state;
    huddle_points x = make_groups(8 * N, 8, 1);
    huddle_kmeans_options options = make_options(8, 4);
    options.max_iter = 2;
    double before = process_memory("VmRSS");
    answer a = solve(NULL, &x, NULL, &options);
    double taken = process_memory("VmHWM") - before;
    double predicted = (double)hd_kmeans_predict_memory(x.n, x.d, &options, 1);
    answer_free(&a);
    huddle_points_free(&x);
    if (before < 0 || SANITIZED)
        skip();
    assert_true(predicted >= .9 * taken - 1e6 && predicted <= 1.3 * taken + 1e6);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static int stop_after(void *user, const char *stage, double done, double total) {
    assert_string_equal(stage, "kmeans");
    assert_true(done >= 0 && done <= total);
    return --*(int *)user < 0;
}

/* At the first report, which is of the sample, and later. */
static void cancelling_is_honoured(void **state) {
    (void)state;
    huddle_points x = make_groups(N, 5, 3);
    huddle_kmeans_options options = make_options(5, 6);
    for (int reports = 0; reports < 3; reports++) {
        huddle_context *context;
        answer a;
        int left = reports;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, 2));
        huddle_context_set_progress(context, stop_after, &left);
        assert_refused(huddle_kmeans(context, &x, NULL, &options, &a.result, &a.info),
                       HUDDLE_CANCELLED, "cancelled");
        assert_true(a.result.labels == NULL && a.info.inertias == NULL);
        huddle_context_free(context);
    }
    huddle_points_free(&x);
}

typedef struct work {
    huddle_points x;
    double *weights;
    huddle_kmeans_options options;
} work;

static huddle_status cluster(void *argument) {
    work *w = argument;
    answer a;
    huddle_status status = huddle_kmeans(NULL, &w->x, w->weights, &w->options, &a.result, &a.info);
    answer_free(&a);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    work w = {.x = make_groups(N, 2, .1), .options = make_options(2, 2)};
    w.options.max_iter = 2;
    test_each_allocation(cluster, &w);
    huddle_points_free(&w.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_predicted),
        cmocka_unit_test(sample_finds_the_same_minimum),
        cmocka_unit_test(full_restarts_see_all_rows),
        cmocka_unit_test(heavy_rows_keep_their_weight),
        cmocka_unit_test(rare_rows_are_found),
        cmocka_unit_test(order_of_rows_does_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
