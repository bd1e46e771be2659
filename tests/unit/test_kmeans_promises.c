/* kmeans: promises. Same seed, same labels; any number of threads and any instruction set, the
 * same labels; cancelling; failing allocations. */
#define _XOPEN_SOURCE 700
#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/restart.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static huddle_points make_points(int64_t n, int64_t d, double apart) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng centre = hd_rng_stream(1, (uint64_t)(i % 8)), noise = hd_rng_stream(2, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(apart * hd_rng_normal(&centre) + hd_rng_normal(&noise));
    }
    return x;
}

/* Every third value kept: sparse rows of the same kind. */
static huddle_points make_sparse(int64_t n, int64_t d) {
    huddle_points x = make_points(n, d, 3), y;
    assert_ok(huddle_points_new_sparse(n, d, n * ((d + 2) / 3), &y));
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i % 8 % 3; j < d; j += 3) {
            y.columns[e] = (int32_t)j;
            y.values[e++] = x.values[i * d + j];
        }
        y.offsets[i + 1] = e;
    }
    huddle_points_free(&x);
    return y;
}

/* Everything an answer says, for comparison by bytes. */
typedef struct answer {
    int64_t n, cells;
    huddle_kmeans_result result;
    huddle_kmeans_info info;
} answer;

static answer solve(huddle_context *context, const huddle_points *x,
                    const huddle_kmeans_options *options) {
    answer a = {.n = x->n, .cells = options->n_clusters * x->d};
    assert_ok(huddle_kmeans(context, x, NULL, options, &a.result, &a.info));
    return a;
}

static void answer_free(answer *a) {
    huddle_kmeans_result_free(&a->result);
    huddle_kmeans_info_free(&a->info);
}

static void assert_same_bits(const answer *a, const answer *b) {
    assert_memory_equal(a->result.labels, b->result.labels, (size_t)a->n * sizeof(int32_t));
    assert_memory_equal(a->result.centres.values, b->result.centres.values,
                        (size_t)a->cells * sizeof(double));
    assert_int_equal(a->info.n_restarts, b->info.n_restarts);
    assert_memory_equal(a->info.inertias, b->info.inertias,
                        (size_t)a->info.n_restarts * sizeof(double));
    assert_int_equal(a->info.best, b->info.best);
    assert_int_equal(a->info.n_iter, b->info.n_iter);
}

static huddle_context *context_with(int32_t threads) {
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, threads));
    return context;
}

static huddle_kmeans_options small_options(int32_t c, int32_t n_init) {
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = c;
    options.n_init = n_init;
    options.max_iter = 8;
    options.seed = 3;
    return options;
}

static void check_threads(const huddle_points *x, const huddle_kmeans_options *options) {
    answer alone = solve(NULL, x, options);
    for (int32_t threads = 1; threads <= 5; threads += 4) {
        huddle_context *context = context_with(threads);
        answer together = solve(context, x, options);
        assert_same_bits(&alone, &together);
        answer_free(&together);
        huddle_context_free(context);
    }
    answer_free(&alone);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    static const struct {
        int64_t n, d;
        int32_t c, n_init;
    } sizes[] = {{500, 4, 6, 9}, {2500, 40, 30, 3}, {33000, 3, 8, 2}, {33000, 3, 8, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = make_points(sizes[s].n, sizes[s].d, 1);
        huddle_kmeans_options options = small_options(sizes[s].c, sizes[s].n_init);
        check_threads(&x, &options);
        options.init = "sample";
        check_threads(&x, &options);
        huddle_points_free(&x);
    }
    huddle_points y = make_sparse(2500, 20);
    huddle_kmeans_options options = small_options(30, 3);
    check_threads(&y, &options);
    huddle_points_free(&y);
}

/* A restart alone (rows shared out) gives the bits it gives among others (restarts shared out). */
static void restarts_do_not_see_each_other(void **state) {
    (void)state;
    huddle_points x = make_points(3000, 5, 1);
    huddle_kmeans_options options = small_options(7, 5);
    huddle_context *context = context_with(3);
    answer all = solve(context, &x, &options);
    options.n_init = 1;
    answer first = solve(context, &x, &options);
    assert_true(first.info.inertias[0] == all.info.inertias[0]);
    answer_free(&first);
    answer_free(&all);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void seeds_repeat_and_differ(void **state) {
    (void)state;
    huddle_points x = make_points(800, 3, 0.2);
    huddle_kmeans_options options = small_options(12, 2);
    answer a = solve(NULL, &x, &options), b = solve(NULL, &x, &options);
    assert_same_bits(&a, &b);
    options.seed = 4;
    answer c = solve(NULL, &x, &options);
    assert_true(memcmp(a.result.labels, c.result.labels, 800 * sizeof(int32_t)) != 0);
    answer_free(&a);
    answer_free(&b);
    answer_free(&c);
    huddle_points_free(&x);
}

/* Large data do not remember the distances to candidates; the rows chosen are the same. */
static void seeding_needs_no_memory_of_trials(void **state) {
    (void)state;
    enum { C = 25 };
    huddle_points x = make_points(3000, 7, 2);
    hd_kmeans_data data;
    hd_kmeans_run run;
    int32_t chosen[C];
    assert_ok(hd_kmeans_data_new(NULL, &x, NULL, C, &data));
    assert_ok(hd_kmeans_run_new(&data, 1, &run));
    assert_non_null(run.trial);
    hd_kmeans_source source = {.rng = hd_rng_stream(5, 5)}, again = source;
    assert_ok(hd_kmeans_seed(&run, "k-means++", &source));
    memcpy(chosen, run.chosen, sizeof chosen);
    huddle_free(run.trial);
    run.trial = NULL;
    assert_ok(hd_kmeans_seed(&run, "k-means++", &again));
    assert_memory_equal(chosen, run.chosen, sizeof chosen);
    hd_kmeans_run_free(&run);
    hd_kmeans_data_free(&data);
    huddle_points_free(&x);
}

/* While seeding, rows passed over must not hide a nearer chosen row. */
static void seeding_knows_the_nearest_chosen_row(void **state) {
    (void)state;
    enum { C = 30 };
    huddle_points x = make_points(2000, 3, 2);
    hd_kmeans_data data;
    hd_kmeans_run run;
    hd_kmeans_source source = {.rng = hd_rng_stream(6, 6)};
    assert_ok(hd_kmeans_data_new(NULL, &x, NULL, C, &data));
    assert_ok(hd_kmeans_run_new(&data, 1, &run));
    assert_ok(hd_kmeans_seed(&run, "k-means++", &source));
    hd_kmeans_centres_set(&data, C, run.centres, &run.ready);
    double scale = (double)data.scale * (double)data.scale;
    for (int64_t i = 0; i < x.n; i++) {
        double least = 1e300;
        for (int32_t k = 0; k < C; k++) {
            double distance = hd_kmeans_exact(&data, &run.ready, i, k) * scale;
            least = distance < least ? distance : least;
        }
        assert_close((double)run.upper[i], least, 1e-5);
    }
    hd_kmeans_run_free(&run);
    hd_kmeans_data_free(&data);
    huddle_points_free(&x);
}

/* 25 tight clusters: a seeding that takes the best of its candidates seldom misses one. */
static void seeding_takes_the_best_candidate(void **state) {
    (void)state;
    enum { SIDE = 5, C = SIDE * SIDE, N = 20 * C };
    huddle_points x;
    int hits = 0;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(7, (uint64_t)i);
        x.values[2 * i] = (float)(10.0 * (double)(i % SIDE) + hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(10.0 * (double)(i / SIDE % SIDE) + hd_rng_normal(&rng));
    }
    for (uint64_t seed = 0; seed < 60; seed++) {
        huddle_kmeans_options options = huddle_kmeans_defaults();
        options.n_clusters = C;
        options.n_init = 1;
        options.max_iter = 1;
        options.seed = seed;
        answer a = solve(NULL, &x, &options);
        hits += a.info.inertia < 1.5 * 2 * N; /* a missed cluster alone costs 2000 */
        answer_free(&a);
    }
    assert_true(hits >= 30);
    huddle_points_free(&x);
}

static void instruction_sets_agree(void **state) {
    (void)state;
    static const char *const names[] = {"base", "avx2", "avx512"};
    static const struct {
        int64_t n, d;
        int32_t c;
        double apart;
    } sizes[] = {{900, 3, 8, 20}, {1500, 70, 8, 5}, {300, 300, 8, 5}, {1500, 40, 60, 0.5}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = make_points(sizes[s].n, sizes[s].d, sizes[s].apart);
        huddle_kmeans_options options = small_options(sizes[s].c, 1);
        huddle_dense start;
        assert_ok(huddle_dense_new(sizes[s].c, sizes[s].d, &start));
        for (int64_t e = 0; e < sizes[s].c * sizes[s].d; e++)
            start.values[e] = (double)x.values[e];
        answer answers[3];
        for (int i = 0; i < 3; i++) {
            assert_int_equal(setenv("HUDDLE_ISA", names[i], 1), 0);
            if (sizes[s].apart < 1)
                options.start = &start; /* seeds may differ in the last bit, labels may not */
            answers[i] = solve(NULL, &x, &options);
            assert_memory_equal(answers[i].result.labels, answers[0].result.labels,
                                (size_t)x.n * sizeof(int32_t));
        }
        assert_same_bits(&answers[1], &answers[2]);
        for (int i = 0; i < 3; i++)
            answer_free(&answers[i]);
        huddle_dense_free(&start);
        huddle_points_free(&x);
    }
    unsetenv("HUDDLE_ISA");
}

/* ---- cancelling ------------------------------------------------------------------------------ */

static int stop_at_once(void *user, const char *stage, double done, double total) {
    assert_string_equal(stage, "kmeans");
    assert_true(done >= 0 && done <= total);
    ++*(int *)user;
    return 1;
}

static void cancelling_is_honoured(void **state) {
    (void)state;
    static const int64_t rows[] = {2000, 33000};
    for (int i = 0; i < 2; i++) {
        huddle_points x = make_points(rows[i], 4, 0.1);
        huddle_kmeans_options options = small_options(20, 4);
        huddle_kmeans_result result;
        huddle_kmeans_info info;
        huddle_context *context = context_with(2);
        int reports = 0;
        huddle_context_set_progress(context, stop_at_once, &reports);
        assert_refused(huddle_kmeans(context, &x, NULL, &options, &result, &info), HUDDLE_CANCELLED,
                       "cancelled");
        assert_true(reports > 0 && result.labels == NULL && info.inertias == NULL);
        huddle_context_resume(context);
        huddle_context_set_progress(context, NULL, NULL);
        huddle_context_cancel(context);
        assert_refused(huddle_kmeans(context, &x, NULL, &options, &result, &info), HUDDLE_CANCELLED,
                       "cancelled");
        huddle_context_free(context);
        huddle_points_free(&x);
    }
}

/* ---- failing allocations --------------------------------------------------------------------- */

typedef struct work {
    huddle_context *context;
    huddle_points x;
    huddle_kmeans_options options;
    huddle_dense centres;
    int32_t labels[200];
} work;

static huddle_status cluster(void *argument) {
    work *w = argument;
    huddle_kmeans_result result;
    huddle_kmeans_info info;
    huddle_status status = huddle_kmeans(w->context, &w->x, NULL, &w->options, &result, &info);
    huddle_kmeans_result_free(&result);
    huddle_kmeans_info_free(&info);
    return status;
}

static huddle_status assign(void *argument) {
    work *w = argument;
    return huddle_kmeans_assign(w->context, &w->x, &w->centres, w->labels);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    double values[12] = {0};
    for (int sparse = 0; sparse < 2; sparse++) {
        work w = {.x = sparse ? make_sparse(200, 6) : make_points(200, 6, 1),
                  .options = small_options(4, 3),
                  .centres = {2, 6, 6, values}};
        test_each_allocation(cluster, &w);
        test_each_allocation(assign, &w);
        w.options.n_init = 1;
        w.options.init = "sample";
        test_each_allocation(cluster, &w);
        memset(w.x.values, 0, (size_t)(sparse ? w.x.offsets[200] : 1200) * sizeof(float));
        test_each_allocation(cluster, &w);
        huddle_points_free(&w.x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(restarts_do_not_see_each_other),
        cmocka_unit_test(seeds_repeat_and_differ),
        cmocka_unit_test(seeding_needs_no_memory_of_trials),
        cmocka_unit_test(seeding_knows_the_nearest_chosen_row),
        cmocka_unit_test(seeding_takes_the_best_candidate),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
