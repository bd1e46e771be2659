/* The hooks of the engine mpi, run by mpirun with any number of processes: what a process gets is
 * what plain loops over all processes' inputs give, and a failure on one process is one failure of
 * all, wherever the others are, after which they can go on.
 *
 * Prints "ok" on process 0; a process that finds a mistake says so and ends the job. */
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "matrix/arrange.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What process r has at place k: numbers whose sum depends on the order of addition. */
static double value_of(int32_t r, int64_t k) {
    return (r % 2 == 0 ? 1e16 : -1e16) + (double)(k % 1000) * (r + 1) / 3;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Processes that share CPUs share the threads of the machine: the tests bind no process. */
static void check_threads(void) {
    huddle_context *other = NULL;
    CHECK_OK(huddle_context_new(&other));
    CHECK_OK(huddle_context_set_threads(other, 12));
    CHECK_OK(huddle_context_set_engine(other, "mpi"));
    CHECK(other->n_sharing >= 1 && other->n_sharing <= count);
    CHECK(huddle_context_threads(other) == 12 / other->n_sharing);
    huddle_context_free(other);
}

/* Options are read one after the other; the last one counts. */
static void check_options(void) {
    static const char *const refused[] = {"mpi:few_rows=-1", "mpi:few_rows=7x",
                                          "mpi:few_rows=", "mpi:rows=7",
                                          "mpi:few_rows=7;few_rows=9"};
    huddle_context *other = NULL;
    CHECK_OK(huddle_context_new(&other));
    CHECK_OK(huddle_context_set_engine(other, "mpi:few_rows=7"));
    CHECK(hd_slabs_few_rows(other) == 7);
    CHECK_OK(huddle_context_set_engine(other, "mpi:few_rows=7,few_rows=11"));
    CHECK(hd_slabs_few_rows(other) == 11);
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        CHECK(huddle_context_set_engine(other, refused[k]) == HUDDLE_INVALID);
    huddle_context_free(other);
}

/* ---- reductions ---------------------------------------------------------------------------- */

static void check_sums(int64_t n) {
    double *values = malloc((size_t)n * sizeof *values);
    CHECK(values != NULL);
    for (int64_t k = 0; k < n; k++)
        values[k] = value_of(rank, k);
    CHECK_OK(hd_reduce_sum(context, n, values));
    for (int64_t k = 0; k < n; k++) {
        double sum = value_of(0, k);
        for (int32_t r = 1; r < count; r++)
            sum += value_of(r, k);
        CHECK(values[k] == sum);
    }
    free(values);
}

static void check_reductions(void) {
    double least = rank == count - 1 ? -7 : 3, most = (double)rank;
    int64_t n = rank + 1;
    hd_slab slab;
    check_sums(1);
    check_sums(4096);
    check_sums(5003);
    CHECK_OK(hd_reduce_min(context, 1, &least));
    CHECK_OK(hd_reduce_max(context, 1, &most));
    CHECK(least == -7 && most == count - 1);
    CHECK_OK(hd_reduce_count(context, &n));
    CHECK(n == (int64_t)count * (count + 1) / 2);
    /* Process r has r rows: the first none. */
    CHECK_OK(hd_slab_locate(context, rank, &slab));
    CHECK(slab.first == (int64_t)rank * (rank - 1) / 2);
    CHECK(slab.total == (int64_t)count * (count - 1) / 2);
}

/* ---- exchange, gather, share, ring ----------------------------------------------------------- */

/* Process r sends 100 r + 10 to + size bytes of that value to each; nothing to itself + 1. */
static int64_t size_between(int32_t from, int32_t to, int64_t scale) {
    return to == (from + 1) % count && count > 1 ? 0 : (from + 2 * to + 1) * scale;
}

static void check_exchange(int64_t scale) {
    int64_t sizes[64], came[64], total = 0;
    void *received = NULL;
    for (int32_t r = 0; r < count; r++)
        total += sizes[r] = size_between(rank, r, scale);
    char *send = malloc((size_t)total + 1), *at = send;
    CHECK(send != NULL);
    for (int32_t r = 0; r < count; at += sizes[r], r++)
        memset(at, 10 * rank + r, (size_t)sizes[r]);
    CHECK_OK(hd_slabs_exchange(context, sizes, send, came, &received));
    at = received;
    for (int32_t r = 0; r < count; at += came[r], r++) {
        CHECK(came[r] == size_between(r, rank, scale));
        for (int64_t k = 0; k < came[r]; k++)
            CHECK(at[k] == (char)(10 * r + rank));
    }
    huddle_free(received);
    free(send);
}

static void check_gather_and_share(void) {
    int32_t own[3] = {rank, -rank, 7};
    int64_t sizes[64], total;
    void *all = NULL;
    CHECK_OK(hd_slabs_gather(context, count - 1, rank % 2 == 0 ? (int64_t)sizeof own : 0, own,
                             sizes, &total, &all));
    const int32_t *values = all;
    CHECK((all != NULL) == (rank == count - 1));
    for (int32_t r = 0, k = 0; r < count && all != NULL; r += 2, k += 3)
        CHECK(values[k] == r && values[k + 1] == -r && values[k + 2] == 7);
    huddle_free(all);
    own[0] = rank == 0 ? 41 : 0;
    CHECK_OK(hd_slabs_broadcast(context, 0, sizeof own, own));
    CHECK(own[0] == 41 && own[1] == 0);
}

/* A block travels once around the ring. */
static void check_ring(int64_t size) {
    char *block = malloc((size_t)size), *next = malloc((size_t)size);
    CHECK(block != NULL && next != NULL);
    memset(block, rank + 1, (size_t)size);
    for (int32_t step = 1; step <= count; step++) {
        hd_pass pass;
        CHECK_OK(hd_pass_start(context, block, size, next, size, &pass));
        CHECK_OK(hd_pass_finish(&pass));
        char *kept = block;
        block = next;
        next = kept;
        int32_t from = (rank - step + count) % count;
        for (int64_t k = 0; k < size; k++)
            CHECK(block[k] == (char)(from + 1));
    }
    CHECK(block[0] == (char)(rank + 1));
    free(block);
    free(next);
}

/* ---- halo ---------------------------------------------------------------------------------- */

/* Rows are numbered over all processes, process r has 5 r + 3; row i refers to 7 i + 1, 3 i and
 * itself. A fetched row has the number of the row in every place. */
static void check_halo(int64_t own, size_t width) {
    hd_slab slab;
    hd_halo halo;
    CHECK_OK(hd_slab_locate(context, own, &slab));
    int32_t *columns = malloc((size_t)(3 * own + 1) * sizeof *columns);
    int32_t *before = malloc((size_t)(3 * own + 1) * sizeof *before);
    CHECK(columns != NULL && before != NULL);
    for (int64_t i = 0; i < own; i++) {
        int64_t number = slab.first + i;
        columns[3 * i] = (int32_t)((7 * number + 1) % slab.total);
        columns[3 * i + 1] = (int32_t)(3 * number % slab.total);
        columns[3 * i + 2] = (int32_t)number;
    }
    memcpy(before, columns, (size_t)(3 * own) * sizeof *before);
    CHECK_OK(hd_halo_open(context, own, 3 * own, columns, &halo));
    float *rows = calloc((size_t)(own + halo.ghosts + 1) * width, sizeof *rows);
    CHECK(rows != NULL);
    for (int repeat = 0; repeat < 2; repeat++) {
        for (int64_t k = 0; k < own * (int64_t)width; k++)
            rows[k] = (float)(slab.first + k / (int64_t)width + repeat);
        CHECK_OK(hd_halo_fetch(&halo, rows, width * sizeof *rows));
        for (int64_t e = 0; e < 3 * own; e++)
            for (size_t j = 0; j < width; j++)
                CHECK(rows[(size_t)columns[e] * width + j] == (float)(before[e] + repeat));
    }
    hd_halo_close(&halo);
    free(rows);
    free(columns);
    free(before);
}

/* ---- partition and moved rows ---------------------------------------------------------------- */

/* Chains of 400 vertices whose members are dealt out among the processes: a partition puts each
 * chain together, so that few edges are left between processes. */
static void check_partition(void) {
    const int64_t n = 400, total = n * count;
    huddle_csr graph;
    hd_arrangement a;
    int64_t entries = 0, cut = 0;
    hd_slab slab;
    CHECK_OK(huddle_csr_new(n, total, 2 * n, &graph));
    for (int64_t i = 0; i < n; i++) {
        int64_t number = rank * n + i, chain = number % count, place = number / count;
        if (place > 0)
            graph.columns[entries++] = (int32_t)((place - 1) * count + chain);
        if (place < n - 1)
            graph.columns[entries++] = (int32_t)((place + 1) * count + chain);
        graph.offsets[i + 1] = entries;
    }
    for (int64_t e = 0; e < entries; e++)
        graph.values[e] = 1;
    CHECK_OK(hd_arrange_open(context, &graph, NULL, true, &a));
    CHECK_OK(hd_slab_locate(context, a.moved, &slab));
    CHECK(slab.total == total && a.moved > n * 9 / 10 && a.moved < n * 11 / 10);
    for (int64_t e = 0; e < a.graph.offsets[a.moved]; e++)
        cut += a.graph.columns[e] < slab.first || a.graph.columns[e] >= slab.first + a.moved;
    CHECK_OK(hd_reduce_count(context, &cut));
    CHECK(cut <= 40 * count);
    int64_t *back = malloc((size_t)n * sizeof *back);
    CHECK(back != NULL);
    CHECK_OK(hd_arrange_back(&a, a.number, sizeof *a.number, back));
    for (int64_t i = 0; i < n; i++)
        CHECK(back[i] == rank * n + i);
    free(back);
    hd_arrange_close(&a);
    huddle_csr_free(&graph);
}

/* Graphs of a few rows stay where they are. */
static void check_small_partition(void) {
    huddle_csr graph;
    hd_arrangement a;
    CHECK_OK(huddle_csr_new(3, 3 * count, 3, &graph));
    for (int32_t i = 0; i < 3; i++) {
        graph.columns[i] = (3 * rank + i + 1) % (3 * count);
        graph.values[i] = 1;
        graph.offsets[i + 1] = i + 1;
    }
    CHECK_OK(hd_arrange_open(context, &graph, NULL, true, &a));
    CHECK(a.moved == 3);
    for (int32_t i = 0; i < 3; i++)
        CHECK(a.number[i] == 3 * rank + i);
    hd_arrange_close(&a);
    huddle_csr_free(&graph);
}

/* ---- failures ------------------------------------------------------------------------------ */

/* A function that owns its failure: process `bad` fails before call number `when`, the others wait
 * in that call. */
static huddle_status work(int32_t bad, int when) {
    huddle_status status = HUDDLE_OK;
    double value = 1;
    hd_slab slab;
    hd_halo halo = {0};
    int32_t columns[1] = {0};
    int64_t sizes[64] = {0}, came[64];
    void *received = NULL;
    hd_pass pass;
    if (rank == bad && when == 0)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 0", rank);
    TRY(hd_slab_locate(context, 2, &slab));
    if (rank == bad && when == 1)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 1", rank);
    TRY(hd_reduce_sum(context, 1, &value));
    if (rank == bad && when == 2)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 2", rank);
    TRY(hd_slabs_exchange(context, sizes, NULL, came, &received));
    if (rank == bad && when == 3)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 3", rank);
    TRY(hd_halo_open(context, 2, 1, columns, &halo));
    if (rank == bad && when == 4)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 4", rank);
    TRY(hd_pass_start(context, &value, sizeof value, &slab, sizeof value, &pass));
    TRY(hd_pass_finish(&pass));
    if (rank == bad && when == 5)
        FAIL(HUDDLE_NUMERIC, "process %d cannot do 5", rank);
done:
    huddle_free(received);
    hd_halo_close(&halo);
    return hd_agree(context, status);
}

static huddle_status call_work(int32_t bad, int when) {
    return hd_agree(context, work(bad, when));
}

static void check_failures(void) {
    char message[64];
    for (int32_t bad = 0; bad < count; bad++)
        for (int when = 0; when < 6; when++) {
            CHECK(call_work(bad, when) == HUDDLE_NUMERIC);
            snprintf(message, sizeof message, "process %d cannot do %d", bad, when);
            CHECK(strncmp(huddle_last_error(), message, strlen(message)) == 0);
            if (when % 2 == 0) /* a failure right after another one too */
                CHECK_OK(call_work(-1, 0));
        }
}

/* Processes in different calls, or in the same one with different sizes: an error of all, after
 * which they can go on. */
static void check_out_of_step(void) {
    double values[2] = {1, 1};
    hd_slab slab;
    if (count == 1)
        return;
    CHECK(hd_reduce_sum(context, rank == 0 ? 1 : 2, values) == HUDDLE_INTERNAL);
    CHECK(strstr(huddle_last_error(), "out of step") != NULL);
    CHECK((rank == 0 ? hd_agree(context, HUDDLE_OK) : hd_slab_locate(context, 1, &slab)) ==
          HUDDLE_INTERNAL);
    CHECK_OK(hd_agree(context, HUDDLE_OK));
    check_sums(5);
}

int main(int argument_count, char **arguments) {
    if (huddle_context_new(&context) != HUDDLE_OK ||
        huddle_context_set_engine(context, argument_count > 1 ? arguments[1] : "mpi") !=
            HUDDLE_OK) {
        fprintf(stderr, "%s\n", huddle_last_error());
        return EXIT_FAILURE;
    }
    rank = huddle_context_process(context);
    count = huddle_context_processes(context);
    CHECK(count <= 64);
    check_threads();
    check_options();
    check_reductions();
    check_exchange(1);
    check_exchange(100003);
    check_gather_and_share();
    check_ring(1);
    check_ring(300007);
    check_halo(5 * rank + 3, 1);
    check_halo(rank == 0 && count > 1 ? 0 : 40, 3);
    check_partition();
    check_small_partition();
    check_failures();
    check_out_of_step();
    huddle_context_free(context);
    if (rank == 0)
        printf("ok %d\n", count);
    return EXIT_SUCCESS;
}
