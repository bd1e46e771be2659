/* Rows spread over processes: the wrappers do nothing without such an engine, and pass everything
 * on with one. */
#include "base/slabs.h"
#include "engines/mirror.h"
#include "support/support.h"

#include <string.h>

static void check_without_slabs(huddle_context *context) {
    hd_slab slab;
    hd_halo halo;
    double values[3] = {1, -2, 0.5}, before[3];
    int32_t columns[2] = {7, 9};
    int64_t count = 11;
    memcpy(before, values, sizeof before);
    assert_ok(hd_slab_locate(context, 5, &slab));
    assert_int_equal(slab.first, 0);
    assert_int_equal(slab.total, 5);
    assert_ok(hd_reduce_sum(context, 3, values));
    assert_ok(hd_reduce_min(context, 3, values));
    assert_ok(hd_reduce_max(context, 3, values));
    assert_ok(hd_reduce_count(context, &count));
    assert_memory_equal(values, before, sizeof before);
    assert_int_equal(count, 11);
    assert_int_equal(hd_agree(context, HUDDLE_OK), HUDDLE_OK);
    assert_int_equal(hd_agree(context, HUDDLE_NUMERIC), HUDDLE_NUMERIC);
    assert_ok(hd_halo_open(context, 5, 2, columns, &halo));
    assert_int_equal(columns[1], 9);
    assert_int_equal(halo.ghosts, 0);
    assert_ok(hd_halo_fetch(&halo, values, sizeof *values));
    assert_memory_equal(values, before, sizeof before);
    hd_halo_close(&halo);
}

static void one_process_needs_no_exchange(void **state) {
    (void)state;
    huddle_context *context;
    check_without_slabs(NULL);
    assert_ok(huddle_context_new(&context));
    check_without_slabs(context);
    huddle_context_free(context);
}

static void values_are_combined_over_processes(void **state) {
    (void)state;
    huddle_context *context = mirror_context();
    const mirror_counts *counts = mirror_counts_of(context);
    double values[3] = {1, -2, 0.5};
    int64_t count = 11;
    hd_slab slab;
    assert_ok(hd_slab_locate(context, 5, &slab));
    assert_int_equal(slab.total, 10);
    assert_ok(hd_reduce_sum(context, 3, values));
    assert_true(values[0] == 2 && values[1] == -4 && values[2] == 1);
    assert_ok(hd_reduce_min(context, 3, values));
    assert_ok(hd_reduce_max(context, 3, values));
    assert_true(values[0] == 2 && values[1] == -4 && values[2] == 1);
    assert_ok(hd_reduce_count(context, &count));
    assert_int_equal(count, 22);
    assert_int_equal(counts->reductions, 4);
    /* Nothing to combine is nothing to send. */
    assert_ok(hd_reduce_sum(context, 0, NULL));
    assert_int_equal(counts->reductions, 4);
    assert_int_equal(hd_agree(context, HUDDLE_NUMERIC), HUDDLE_NUMERIC);
    assert_int_equal(counts->agreements, 1);
    huddle_context_free(context);
}

static void halos_are_opened_fetched_and_closed(void **state) {
    (void)state;
    huddle_context *context = mirror_context();
    const mirror_counts *counts = mirror_counts_of(context);
    int32_t columns[2] = {0, 4}, beyond = 5;
    double rows[5] = {0};
    hd_halo halo;
    assert_ok(hd_halo_open(context, 5, 2, columns, &halo));
    assert_int_equal(counts->open_halos, 1);
    assert_ok(hd_halo_fetch(&halo, rows, sizeof *rows));
    assert_int_equal(counts->fetches, 1);
    hd_halo_close(&halo);
    hd_halo_close(&halo); /* a closed one may be closed again */
    assert_int_equal(counts->open_halos, 0);
    /* A halo that could not be opened needs no closing, and has nothing to fetch. */
    assert_refused(hd_halo_open(context, 5, 1, &beyond, &halo), HUDDLE_INTERNAL, "column 5");
    assert_ok(hd_halo_fetch(&halo, rows, sizeof *rows));
    hd_halo_close(&halo);
    assert_int_equal(counts->open_halos, 0);
    huddle_context_free(context);
}

static void a_process_can_be_alone(void **state) {
    (void)state;
    huddle_context *context = mirror_context(), *plain;
    const mirror_counts *counts = mirror_counts_of(context);
    int64_t count = 11;
    assert_true(huddle_context_set_alone(context, true));
    assert_true(huddle_context_set_alone(context, true)); /* it is already */
    assert_int_equal(huddle_context_processes(context), 1);
    assert_ok(hd_reduce_count(context, &count));
    assert_int_equal(count, 11);
    assert_true(huddle_context_set_alone(context, false));
    assert_true(huddle_context_set_alone(context, false));
    assert_ok(hd_reduce_count(context, &count));
    assert_int_equal(count, 22);
    assert_int_equal(counts->reductions, 1);
    assert_true(huddle_context_set_alone(context, true)); /* freed with its engine all the same */
    huddle_context_free(context);
    assert_ok(huddle_context_new(&plain));
    assert_false(huddle_context_set_alone(plain, true));
    huddle_context_free(plain);
    assert_false(huddle_context_set_alone(NULL, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_needs_no_exchange),
        cmocka_unit_test(values_are_combined_over_processes),
        cmocka_unit_test(halos_are_opened_fetched_and_closed),
        cmocka_unit_test(a_process_can_be_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
