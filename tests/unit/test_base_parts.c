#define _GNU_SOURCE
/* base: small parts, each against what it must return by definition. */
#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/union.h"
#include "support/support.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the BLAS: one that only remembers its setting ------------------------------------------ */

static int blas_threads = 5, blas_changes;

void openblas_set_num_threads(int count);
int openblas_get_num_threads(void);

void openblas_set_num_threads(int count) {
    blas_threads = count;
    blas_changes++;
}

int openblas_get_num_threads(void) {
    return blas_threads;
}

static void the_callers_blas_threads_return(void **state) {
    (void)state;
    hd_blas_enter();
    assert_int_equal(blas_threads, 1);
    hd_blas_enter();
    hd_blas_leave();
    assert_int_equal(blas_threads, 1); /* the outer one is still inside */
    hd_blas_leave();
    assert_int_equal(blas_threads, 5);
    assert_int_equal(blas_changes, 2);
}

/* ---- sets ----------------------------------------------------------------------------------- */

static void sets_are_named_after_their_smallest(void **state) {
    (void)state;
    enum { N = 40 };
    int32_t parent[N], label[N];
    hd_rng rng = hd_rng_stream(1, 0);
    for (int32_t v = 0; v < N; v++)
        parent[v] = label[v] = v;
    for (int step = 0; step < 30; step++) {
        int32_t a = (int32_t)hd_rng_below(&rng, N), b = (int32_t)hd_rng_below(&rng, N);
        int32_t from = label[a] > label[b] ? label[a] : label[b];
        int32_t to = label[a] > label[b] ? label[b] : label[a];
        hd_unite(parent, a, b);
        for (int32_t v = 0; v < N; v++)
            label[v] = label[v] == from ? to : label[v];
        for (int32_t v = 0; v < N; v++)
            assert_int_equal(hd_find_root(parent, v), label[v]);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static void arrays_have_room_and_zeros(void **state) {
    (void)state;
    for (int64_t count = 0; count < 200; count++) {
        int32_t *array = hd_alloc(count, sizeof *array);
        assert_non_null(array);
        assert_true(malloc_usable_size(array) >= (size_t)count * sizeof *array);
        memset(array, 0x5a, (size_t)count * sizeof *array);
        huddle_free(array);
        array = hd_alloc_zero(count, sizeof *array); /* most likely the same bytes */
        for (int64_t k = 0; k < count; k++)
            assert_int_equal(array[k], 0);
        huddle_free(array);
    }
}

static void growing_keeps_the_values(void **state) {
    (void)state;
    int64_t capacity = 0;
    double *array = NULL;
    assert_true(hd_grow(&array, &capacity, 20, sizeof *array));
    assert_true(capacity >= 20);
    for (int64_t k = 0; k < capacity; k++)
        array[k] = (double)k;
    int64_t before = capacity;
    assert_true(hd_grow(&array, &capacity, before + 1, sizeof *array));
    assert_true(capacity >= 2 * before && capacity <= 2 * before + 16);
    assert_true(malloc_usable_size(array) >= (size_t)capacity * sizeof *array);
    for (int64_t k = 0; k < before; k++)
        assert_true(array[k] == (double)k);
    assert_true(hd_grow(&array, &capacity, 1000, sizeof *array));
    assert_true(capacity >= 1000);
    huddle_free(array);
}

/* ---- random streams ------------------------------------------------------------------------- */

static void both_halves_of_seed_and_stream_count(void **state) {
    (void)state;
    const uint64_t high = (uint64_t)1 << 32;
    hd_rng plain = hd_rng_stream(7, 1), seed = hd_rng_stream(7 + high, 1),
           stream = hd_rng_stream(7, 1 + high);
    uint64_t first = hd_rng_bits(&plain);
    assert_true(first != hd_rng_bits(&seed) && first != hd_rng_bits(&stream));
}

/* The third part of 2^64 that exceeds two times the bound would make small numbers likelier: 3/4
 * of them instead of 2/3 would be in the lower 2/3. */
static void large_bounds_are_drawn_evenly(void **state) {
    (void)state;
    const int64_t bound = (int64_t)3 << 61;
    hd_rng rng = hd_rng_stream(2, 0);
    int low = 0;
    for (int i = 0; i < 20000; i++)
        low += hd_rng_below(&rng, bound) < (int64_t)1 << 62;
    assert_close(low / 20000.0, 2.0 / 3, 0.02); /* 6 standard deviations */
}

/* ---- names and messages --------------------------------------------------------------------- */

static void codes_out_of_range_have_names(void **state) {
    (void)state;
    assert_string_equal(huddle_status_name(HUDDLE_INTERNAL), "internal");
    assert_string_equal(huddle_status_name((huddle_status)(HUDDLE_INTERNAL + 1)), "unknown");
    assert_string_equal(huddle_status_name((huddle_status)-1), "unknown");
    assert_string_equal(huddle_warning_name(HUDDLE_WARNING_SINGULAR), "singular");
    assert_string_equal(huddle_warning_name((huddle_warning_code)(HUDDLE_WARNING_SINGULAR + 1)),
                        "none");
}

static void texts_are_cut_between_characters(void **state) {
    (void)state;
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC"; /* characters of one, two and three bytes */
    static const int whole[] = {0, 1, 1, 3, 3, 3, 6, 6};
    for (int limit = 0; limit < 8; limit++)
        assert_int_equal(hd_cut_text(text, 6, limit), whole[limit]);
}

static void a_long_place_leaves_room_for_the_message(void **state) {
    (void)state;
    char place[2000];
    memset(place, 'x', sizeof place - 1);
    place[sizeof place - 1] = '\0';
    (void)hd_fail(HUDDLE_IO, "the reason");
    assert_int_equal(hd_fail_at(HUDDLE_FORMAT, "%s", place), HUDDLE_FORMAT);
    assert_non_null(strstr(huddle_last_error(), "x: the reason"));
    (void)hd_fail(HUDDLE_FORMAT, "'2\r3\x1b[2J\x7f': a\n\tb"); /* from a file to a terminal */
    assert_string_equal(huddle_last_error(), "'2\\r3\\x1b[2J\\x7f': a\n\tb");
}

/* ---- context, engine, threads --------------------------------------------------------------- */

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int count_reports(void *user, const char *stage, double done, double total) {
    (void)stage, (void)total;
    ((double *)user)[0]++;
    ((double *)user)[1] = done;
    return 0;
}

static void progress_is_reported_now_and_then_and_at_the_end(void **state) {
    (void)state;
    huddle_context *context;
    double seen[2] = {0, 0};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, count_reports, seen);
    double before = clock_now();
    assert_true(hd_seconds() >= before);
    for (int i = 1; i <= 2000; i++)
        assert_ok(hd_progress(context, "adding", i, 2000));
    assert_true(hd_seconds() <= clock_now());
    assert_true(seen[0] <= 2 + (clock_now() - before) / .1); /* every tenth of a second, and last */
    assert_true(seen[1] == 2000);
    huddle_context_free(context);
}

static void threads_have_an_upper_bound(void **state) {
    (void)state;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 1024));
    assert_int_equal(huddle_context_threads(context), 1024);
    assert_refused(huddle_context_set_threads(context, 1025), HUDDLE_INVALID, "[1, 1024]");
    huddle_context_free(context);
}

/* No two chunks that run at the same time have the same worker. */
static huddle_status hold_worker(void *argument, hd_chunk chunk) {
    atomic_int *busy = argument;
    const struct timespec moment = {0, 1000000};
    if (chunk.worker < 0 || chunk.worker > 2 || atomic_exchange(&busy[chunk.worker], 1) != 0)
        return hd_fail(HUDDLE_INTERNAL, "worker %d is busy", chunk.worker);
    nanosleep(&moment, NULL);
    atomic_store(&busy[chunk.worker], 0);
    return HUDDLE_OK;
}

static void workers_have_numbers_of_their_own(void **state) {
    (void)state;
    huddle_context *context;
    atomic_int busy[3] = {0};
    double seen[2] = {0, 0};
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 3));
    huddle_context_set_progress(context, count_reports, seen);
    assert_ok(hd_parallel(context, "holding", 30, 1, hold_worker, busy));
    assert_true(seen[1] == 30); /* the end is reported whatever the interval */
    huddle_context_free(context);
}

/* Chunk 0 fails after chunk 1, if there is a second thread to run it. */
static huddle_status fail_in_turn(void *argument, hd_chunk chunk) {
    atomic_int *failed = argument;
    const struct timespec moment = {0, 1000000};
    for (int wait = 0; chunk.index == 0 && wait < 3000 && !atomic_load(failed); wait++)
        nanosleep(&moment, NULL);
    if (chunk.index == 1)
        atomic_store(failed, 1);
    return hd_fail(HUDDLE_NUMERIC, "chunk %lld failed", (long long)chunk.index);
}

static void the_first_chunk_is_reported_though_it_fails_last(void **state) {
    (void)state;
    huddle_context *context;
    atomic_int failed = 0;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 2));
    assert_refused(hd_parallel(context, NULL, 2, 1, fail_in_turn, &failed), HUDDLE_NUMERIC,
                   "chunk 0 failed");
    huddle_context_free(context);
}

/* What a thread of the library finds: its stack, which does not depend on the limit of the process,
 * and its argument. */
static void *measure_stack(void *argument) {
    pthread_attr_t attributes;
    void *begin;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        (void)pthread_attr_getstack(&attributes, &begin, &size);
        pthread_attr_destroy(&attributes);
    }
    *(size_t *)argument = size;
    return argument;
}

static void threads_have_stacks_of_8_megabytes(void **state) {
    (void)state;
    const size_t megabyte = (size_t)1 << 20;
    pthread_attr_t before, small;
    pthread_t thread;
    size_t size = 0;
    void *result;
    /* As if the program had been started with a limit of 2 MB. */
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_getattr_default_np(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 2 * megabyte), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    assert_true(hd_thread_start(&thread, measure_stack, &size));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&before);
    pthread_attr_destroy(&small);
    assert_ptr_equal(result, &size);
    assert_in_range(size, 8 * megabyte, 9 * megabyte);
}

static int opened, closed;

static huddle_status open_counted(huddle_context *context, const char *options, void **engine) {
    (void)context;
    if (strcmp(options, "broken") == 0)
        return hd_fail(HUDDLE_IO, "cannot be opened");
    *engine = &opened;
    opened++;
    return HUDDLE_OK;
}

static void close_counted(void *engine) {
    assert_ptr_equal(engine, &opened);
    closed++;
}

static void engines_are_opened_named_and_closed(void **state) {
    (void)state;
    static const hd_engine counted = {
        .text = {"counted", ""}, .open = open_counted, .close = close_counted};
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_string_equal(huddle_context_engine(context), "cpu");
    assert_refused(hd_context_use_engine(context, &hd_engine_cpu, "x"), HUDDLE_INVALID,
                   "takes no options");
    assert_ok(hd_context_use_engine(context, &counted, "some:options"));
    assert_string_equal(huddle_context_engine(context), "counted:some:options");
    assert_refused(hd_context_use_engine(context, &counted, "broken"), HUDDLE_IO, "cannot");
    assert_int_equal(closed, 0); /* nothing changed */
    assert_ok(hd_context_use_engine(context, &hd_engine_cpu, ""));
    assert_string_equal(huddle_context_engine(context), "cpu");
    assert_int_equal(closed, 1);
    assert_int_equal(opened, 1);
    huddle_context_free(context);
}

/* ---- options -------------------------------------------------------------------------------- */

typedef struct example {
    int32_t count;
    huddle_rule rule;
} example;

static const char *const rules[] = {"none", "pca:R", NULL};
static const huddle_option table[] = {HD_INT(example, count, "5", 1, 100, "how many"),
                                      HD_RULE(example, rule, "none", rules, "which"),
                                      {0}};

static void bounds_are_allowed_values(void **state) {
    (void)state;
    example e;
    char text[32];
    huddle_options_default(table, &e);
    assert_int_equal(hd_options_count(table), 2);
    assert_ok(huddle_options_set(table, &e, "count", "1"));
    assert_ok(huddle_options_set(table, &e, "count", "100"));
    assert_refused(huddle_options_set(table, &e, "count", "101"), HUDDLE_INVALID, "[1, 100]");
    assert_ok(huddle_options_set(table, &e, "rule", "pca:7"));
    assert_ok(huddle_options_get(table, &e, "rule", text, sizeof text));
    assert_string_equal(text, "pca:7");
    assert_refused(huddle_options_set(table, &e, "rule", "pca:7x"), HUDDLE_INVALID, "pca:7x");
    assert_refused(huddle_options_set(table, &e, "rule", "pcax:7"), HUDDLE_INVALID, "pcax:7");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* First: stacks of threads that have ended are used again, whatever their size. */
        cmocka_unit_test(threads_have_stacks_of_8_megabytes),
        cmocka_unit_test(the_callers_blas_threads_return),
        cmocka_unit_test(sets_are_named_after_their_smallest),
        cmocka_unit_test(arrays_have_room_and_zeros),
        cmocka_unit_test(growing_keeps_the_values),
        cmocka_unit_test(both_halves_of_seed_and_stream_count),
        cmocka_unit_test(large_bounds_are_drawn_evenly),
        cmocka_unit_test(codes_out_of_range_have_names),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(a_long_place_leaves_room_for_the_message),
        cmocka_unit_test(progress_is_reported_now_and_then_and_at_the_end),
        cmocka_unit_test(threads_have_an_upper_bound),
        cmocka_unit_test(workers_have_numbers_of_their_own),
        cmocka_unit_test(the_first_chunk_is_reported_though_it_fails_last),
        cmocka_unit_test(engines_are_opened_named_and_closed),
        cmocka_unit_test(bounds_are_allowed_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
