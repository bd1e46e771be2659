/* Rows distributed over processes: the wrappers do nothing without such an engine, and pass
 * everything on with one. */
#include "base/slabs.h"
#include "base/stages.h"
#include "engines/mirror.h"
#include "engines/team.h"
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

/* ---- three processes ------------------------------------------------------------------------ */

/* Process r has r + 2 bytes, all r; everything received is counted by the stage. */
static huddle_status gather_and_share(huddle_context *context, int rank) {
    huddle_status status = HUDDLE_OK;
    char bytes[4], shared[5] = {9, 9, 9, 9, 9};
    int64_t sizes[3], total;
    void *all = NULL;
    memset(bytes, rank, sizeof bytes);
    TRY(hd_slabs_gather(context, 1, rank + 2, bytes, sizes, &total, &all));
    if (rank == 1 ? total != 9 || memcmp(all, "\0\0\1\1\1\2\2\2\2", 9) != 0 || sizes[2] != 4
                  : all != NULL)
        FAIL(HUDDLE_INTERNAL, "process %d gathered %lld bytes", rank, (long long)total);
    if (rank == 2)
        memcpy(shared, "share", sizeof shared);
    TRY(hd_slabs_broadcast(context, 2, sizeof shared, shared));
    if (memcmp(shared, "share", sizeof shared) != 0)
        FAIL(HUDDLE_INTERNAL, "process %d was not told", rank);
done:
    huddle_free(all);
    return status;
}

/* Process r has 2 rows of 8 bytes and asks for the rows of all others. */
static huddle_status fetch_others(huddle_context *context, int rank) {
    huddle_status status = HUDDLE_OK;
    int32_t columns[6] = {0, 1, 2, 3, 4, 5};
    double rows[6] = {10 + rank, 20 + rank};
    hd_halo halo;
    TRY(hd_halo_open(context, 2, 6, columns, &halo));
    TRY(hd_halo_fetch(&halo, rows, sizeof *rows));
    for (int k = 0; k < 6; k++)
        if (rows[columns[k]] != 10 * (k % 2 + 1) + k / 2)
            FAIL(HUDDLE_INTERNAL, "row %d came as %g", k, rows[columns[k]]);
done:
    hd_halo_close(&halo);
    return status;
}

static huddle_status count_bytes(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    hd_stages stages;
    double values[4] = {rank, 1, 2, 3};
    (void)argument;
    hd_stages_begin(&stages);
    context->stages = &stages;
    TRY(hd_reduce_sum(context, 4, values));
    TRY(gather_and_share(context, rank));
    TRY(fetch_others(context, rank));
    /* 4 numbers of each of the other two; the bytes gathered; 5 shared; 4 rows. */
    int64_t expected = 64 + (rank == 1 ? 2 + 4 : 0) + (rank == 2 ? 0 : 5) + 32;
    if (stages.received[HD_STAGE_OTHER] != expected || stages.calls[HD_STAGE_OTHER] != 4)
        FAIL(HUDDLE_INTERNAL, "process %d counted %lld bytes in %lld calls", rank,
             (long long)stages.received[HD_STAGE_OTHER], (long long)stages.calls[HD_STAGE_OTHER]);
done:
    context->stages = NULL;
    return hd_agree(context, status);
}

static void bytes_of_other_processes_are_counted(void **state) {
    (void)state;
    assert_ok(team_run(3, &team_engine, count_bytes, NULL));
}

/* Also where the products of the definition would overflow. */
static void rows_are_divided_evenly(void **state) {
    (void)state;
    int64_t first, n, end = 0;
    for (int64_t total = 0; total <= 40; total++)
        for (int32_t count = 1; count <= 7; count++)
            for (int32_t rank = 0; rank < count; rank++) {
                hd_slab_share_of(total, rank, count, &first, &n);
                assert_int_equal(first, total * rank / count);
                assert_int_equal(first + n, total * (rank + 1) / count);
            }
    for (int32_t rank = 0; rank < 1000; rank++) {
        hd_slab_share_of(INT64_MAX, rank, 1000, &first, &n);
        assert_int_equal(first, end);
        assert_true(n == INT64_MAX / 1000 || n == INT64_MAX / 1000 + 1);
        end = first + n;
    }
    assert_true(end == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_needs_no_exchange),
        cmocka_unit_test(values_are_combined_over_processes),
        cmocka_unit_test(halos_are_opened_fetched_and_closed),
        cmocka_unit_test(a_process_can_be_alone),
        cmocka_unit_test(bytes_of_other_processes_are_counted),
        cmocka_unit_test(rows_are_divided_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
