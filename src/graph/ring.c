/* The ring. A block of queries is passed on while it is compared; its lists follow when they have
 * been continued, so that the k-th distance of the next process excludes more. */
#include "graph/ring.h"

#include "base/check.h"
#include "base/slabs.h"

#include <string.h>

/* Two blocks are in memory, apart from the rows of the process itself. */
static const int64_t largest_block = (int64_t)1 << 26;

/* A block and the buffers behind it. */
typedef struct block_buffer {
    hd_graph_block block;
    char *bytes, *lists;
} block_buffer;

typedef struct circulation {
    huddle_context *context;
    const hd_graph_ring *ring;
    int32_t count, rank;
    double *rows, *sizes; /* of the current block of each process */
    block_buffer current, next;
} circulation;

/* ---- rows as bytes ------------------------------------------------------------------------- */

static size_t row_size(const hd_graph_rows *rows) {
    return (size_t)rows->d * (rows->singles != NULL ? sizeof(float) : sizeof(double));
}

int64_t hd_graph_rows_measure(const hd_graph_rows *rows, int64_t count) {
    return count * (int64_t)row_size(rows);
}

void hd_graph_rows_pack(const hd_graph_rows *rows, const int32_t *pick, int64_t begin, int64_t end,
                        char *bytes) {
    size_t size = row_size(rows);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = pick != NULL ? pick[i] : i;
        int64_t at = (rows->pick != NULL ? rows->pick[row] : row) * rows->stride;
        const void *from = rows->singles != NULL ? (const void *)(rows->singles + at)
                                                 : (const void *)(rows->doubles + at);
        memcpy(bytes + (size_t)(i - begin) * size, from, size);
    }
}

/* Scales are computed again instead of being sent: from the same values, with the same bits. */
huddle_status hd_graph_rows_unpack(huddle_context *context, const hd_graph_rows *like, int64_t n,
                                   const char *bytes, hd_graph_rows *rows) {
    const void *values = bytes; /* aligned as malloc() aligns */
    *rows = *like;
    rows->n = n;
    rows->stride = like->d;
    rows->singles = like->singles != NULL ? values : NULL;
    rows->doubles = like->singles != NULL ? NULL : values;
    rows->pick = NULL;
    rows->scale = rows->owned_shift = rows->owned_values = NULL;
    return like->scale != NULL ? hd_graph_rows_normalise(context, rows) : HUDDLE_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Distances first, then indices. Both are then aligned, whatever n and k are. */
static int64_t lists_size(const circulation *r, int64_t n) {
    return n * r->ring->k * (int64_t)(sizeof(double) + sizeof(int32_t));
}

/* Makes the block of process `owner` out of the buffers. */
static void describe_block(const circulation *r, int32_t owner, block_buffer *c) {
    int64_t n = (int64_t)r->rows[owner];
    void *distances = c->lists, *indices = c->lists + (size_t)(n * r->ring->k) * sizeof(double);
    c->block = (hd_graph_block){.n = n, .bytes = c->bytes, .size = (int64_t)r->sizes[owner]};
    c->block.distance2 = distances;
    c->block.index = indices;
}

/* How many blocks there are: those of the process that needs most. Fewer blocks on one process
 * would leave the others waiting for a call that it does not make. */
static huddle_status count_blocks(const circulation *r, int64_t *blocks) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_ring *ring = r->ring;
    int64_t largest = ring->largest > 0 ? ring->largest : largest_block;
    int64_t size = ring->measure(ring->argument, 0, ring->n) + lists_size(r, ring->n);
    double most = (double)((size + largest - 1) / largest);
    TRY(hd_reduce_max(r->context, 1, &most));
    *blocks = (int64_t)most;
done:
    return status;
}

/* Where block b begins. The last block ends at n, the only end that need not be a multiple. Blocks
 * may be empty. */
static int64_t block_begin(const hd_graph_ring *ring, int64_t b, int64_t blocks) {
    int64_t unit = ring->unit > 0 ? ring->unit : 1;
    return b == blocks ? ring->n : ring->n * b / blocks / unit * unit;
}

/* Copies the lists of queries begin .. end - 1 to the current block, or back. */
static void copy_lists(const circulation *r, int64_t begin, int64_t end, bool back) {
    const hd_graph_ring *ring = r->ring;
    const hd_graph_block *block = &r->current.block;
    size_t k = (size_t)ring->k;
    for (int64_t i = begin; i < end; i++) {
        int64_t own = (ring->order != NULL ? ring->order[i] : i) * ring->k;
        int32_t *index = ring->index + own, *other = block->index + (i - begin) * ring->k;
        double *near = ring->distance2 + own, *far = block->distance2 + (i - begin) * ring->k;
        memcpy(back ? index : other, back ? other : index, k * sizeof *index);
        memcpy(back ? near : far, back ? far : near, k * sizeof *near);
    }
}

/* Sizes of the blocks of all processes, room for the largest, and the own block. A sum to which
 * each process adds in its own place only is a gather. The buffers have room for the largest block,
 * because in the course of a round every process holds the block of every other. */
static huddle_status begin_block(circulation *r, int64_t begin, int64_t end) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_ring *ring = r->ring;
    block_buffer *both[] = {&r->current, &r->next};
    double most_rows = 0, most_bytes = 0;
    memset(r->rows, 0, (size_t)r->count * sizeof *r->rows);
    memset(r->sizes, 0, (size_t)r->count * sizeof *r->sizes);
    r->rows[r->rank] = (double)(end - begin);
    r->sizes[r->rank] = (double)ring->measure(ring->argument, begin, end);
    TRY(hd_reduce_sum(r->context, r->count, r->rows));
    TRY(hd_reduce_sum(r->context, r->count, r->sizes));
    for (int32_t p = 0; p < r->count; p++) {
        most_rows = r->rows[p] > most_rows ? r->rows[p] : most_rows;
        most_bytes = r->sizes[p] > most_bytes ? r->sizes[p] : most_bytes;
    }
    for (int c = 0; c < 2; c++) {
        FREE(both[c]->bytes, both[c]->lists);
        both[c]->lists = NULL;
        ALLOC(both[c]->bytes, (int64_t)most_bytes);
        ALLOC(both[c]->lists, lists_size(r, (int64_t)most_rows));
    }
    describe_block(r, r->rank, &r->current);
    ring->pack(ring->argument, begin, end, r->current.bytes);
    copy_lists(r, begin, end, false);
done:
    return status;
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* Compares the current block with the rows of this process. Empty blocks travel too: all processes
 * make the same calls. The own block is left out (step 0): its lists begin with the own rows before
 * the ring does. */
static huddle_status compare_block(const circulation *r, int32_t step) {
    if (step == 0 || r->current.block.n == 0)
        return HUDDLE_OK;
    hd_alone before = hd_alone_begin(r->context);
    huddle_status status = r->ring->compare(r->ring->argument, &r->current.block);
    hd_alone_end(r->context, before);
    return status;
}

/* One step: the current block is passed on and compared, then its lists are passed on. The last
 * step returns the own lists; the rows are not needed for it. In step s a process gets the block of
 * process rank - s - 1; 2 count is added so that the remainder is not negative. A transfer is
 * finished even if the comparison failed, because it still reads and writes the buffers. */
static huddle_status take_step(circulation *r, int32_t step) {
    huddle_status status = HUDDLE_OK, compared;
    int32_t before = (r->rank - step - 1 + 2 * r->count) % r->count;
    bool is_last = step + 1 == r->count;
    hd_pass pass = {0};
    describe_block(r, before, &r->next);
    int64_t size = is_last ? 0 : r->current.block.size,
            next_size = is_last ? 0 : r->next.block.size;
    status = hd_pass_start(r->context, r->current.bytes, size, r->next.bytes, next_size, &pass);
    compared = status == HUDDLE_OK ? compare_block(r, step) : status;
    status = hd_pass_finish(&pass); /* in any case */
    TRY(compared != HUDDLE_OK ? compared : status);
    status = hd_pass_start(r->context, r->current.lists, lists_size(r, r->current.block.n),
                           r->next.lists, lists_size(r, r->next.block.n), &pass);
    compared = hd_pass_finish(&pass);
    TRY(status != HUDDLE_OK ? status : compared);
    block_buffer left = r->current;
    r->current = r->next;
    r->next = left;
done:
    return status;
}

huddle_status hd_graph_ring_run(huddle_context *context, const hd_graph_ring *ring) {
    huddle_status status = HUDDLE_OK;
    circulation r = {.context = context,
                     .ring = ring,
                     .count = hd_slabs_count(context),
                     .rank = hd_slabs_rank(context)};
    int64_t blocks = 0;
    if (r.count == 1)
        return status;
    ALLOC(r.rows, r.count);
    ALLOC(r.sizes, r.count);
    TRY(count_blocks(&r, &blocks));
    for (int64_t b = 0; b < blocks; b++) {
        int64_t begin = block_begin(ring, b, blocks), end = block_begin(ring, b + 1, blocks);
        TRY(begin_block(&r, begin, end));
        for (int32_t step = 0; step < r.count; step++)
            TRY(take_step(&r, step));
        copy_lists(&r, begin, end, true);
    }
done:
    FREE(r.rows, r.sizes, r.current.bytes, r.current.lists, r.next.bytes, r.next.lists);
    return status;
}
