#include "matrix/collect.h"

#include "base/check.h"
#include "matrix/points.h"

#include <string.h>

/* ---- rows of bytes -------------------------------------------------------------------------- */

huddle_status hd_collect_rows(huddle_context *context, int32_t to, int64_t n, const void *rows,
                              size_t row_size, int64_t *total, void **all) {
    huddle_status status =
        hd_slabs_gather(context, to, n * (int64_t)row_size, rows, NULL, total, all);
    *total /= (int64_t)row_size;
    if (status != HUDDLE_OK) { /* of another process: these rows may have come */
        huddle_free(*all);
        *all = NULL;
    }
    return status;
}

/* The owner of the rows learns how many each process has, and sends them. */
huddle_status hd_scatter_rows(huddle_context *context, int32_t from, const void *all, int64_t n,
                              size_t row_size, void *rows) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context);
    int64_t *sizes = NULL, *came = NULL, total, size = n * (int64_t)row_size;
    void *counts = NULL, *received = NULL;
    ALLOC_ZERO(sizes, count);
    ALLOC_ZERO(came, count);
    TRY(hd_slabs_gather(context, from, sizeof size, &size, NULL, &total, &counts));
    for (int32_t r = 0; r < count && counts != NULL; r++)
        sizes[r] = ((const int64_t *)counts)[r];
    TRY(hd_slabs_exchange(context, sizes, all, came, &received));
    if (size > 0)
        memcpy(rows, received, (size_t)size);
done:
    FREE(sizes, came, counts, received);
    return hd_agree(context, status);
}

/* ---- points --------------------------------------------------------------------------------- */

/* The own rows among those that are asked for. */
static huddle_status take_own(huddle_context *context, const huddle_points *x, const int64_t *index,
                              int64_t count, huddle_points *own) {
    huddle_status status = HUDDLE_OK;
    int64_t *mine = NULL, n = 0;
    hd_slab slab;
    TRY(hd_slab_locate(context, x->n, &slab));
    ALLOC(mine, x->n);
    for (int64_t k = 0; k < count; k++)
        if (index[k] >= slab.first && index[k] < slab.first + x->n)
            mine[n++] = index[k] - slab.first;
    TRY(huddle_points_take(x, mine, n, own));
done:
    huddle_free(mine);
    return status;
}

/* huddle_points_take() leaves rows without gaps. */
static huddle_status collect_dense_points(huddle_context *context, const huddle_points *own,
                                          int32_t to, huddle_points *y) {
    huddle_status status = HUDDLE_OK;
    void *all = NULL;
    int64_t n;
    TRY(hd_collect_rows(context, to, own->n, own->values, (size_t)own->d * sizeof *own->values, &n,
                        &all));
    if (all == NULL)
        goto done;
    *y = (huddle_points){.n = n, .d = own->d, .stride = own->d, .values = all};
    TRY(hd_copy_numbers(own->d, own->shift, &y->shift));
done:
    return status;
}

/* Sparse rows; all NULL on processes that do not get them. */
typedef struct entries {
    int64_t n, *offsets;
    void *columns, *values;
} entries;

static huddle_status collect_entries(huddle_context *context, int64_t n, const int64_t *offsets,
                                     const int32_t *columns, const void *values, size_t value_size,
                                     int32_t to, entries *e) {
    huddle_status status = HUDDLE_OK;
    int64_t *lengths = NULL, count;
    void *all = NULL;
    ALLOC(lengths, n);
    for (int64_t i = 0; i < n; i++)
        lengths[i] = offsets[i + 1] - offsets[i];
    TRY(hd_collect_rows(context, to, n, lengths, sizeof *lengths, &e->n, &all));
    TRY(hd_collect_rows(context, to, offsets[n], columns, sizeof *columns, &count, &e->columns));
    TRY(hd_collect_rows(context, to, offsets[n], values, value_size, &count, &e->values));
    if (all == NULL)
        goto done;
    ALLOC_ZERO(e->offsets, e->n + 1);
    for (int64_t i = 0; i < e->n; i++)
        e->offsets[i + 1] = e->offsets[i] + ((const int64_t *)all)[i];
done:
    FREE(lengths, all);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        FREE(e->offsets, e->columns, e->values);
    return status;
}

static huddle_status collect_sparse_points(huddle_context *context, const huddle_points *own,
                                           int32_t to, huddle_points *y) {
    huddle_status status = HUDDLE_OK;
    entries e = {0};
    TRY(collect_entries(context, own->n, own->offsets, own->columns, own->values,
                        sizeof *own->values, to, &e));
    if (e.offsets != NULL)
        *y = (huddle_points){
            .n = e.n, .d = own->d, .offsets = e.offsets, .columns = e.columns, .values = e.values};
done:
    return status;
}

huddle_status hd_collect_points(huddle_context *context, const huddle_points *x,
                                const int64_t *index, int64_t count, int32_t to, huddle_points *y) {
    huddle_status status = HUDDLE_OK;
    huddle_points own = {0};
    memset(y, 0, sizeof *y);
    TRY(index != NULL ? take_own(context, x, index, count, &own) : huddle_points_copy(x, &own));
    TRY(own.offsets != NULL ? collect_sparse_points(context, &own, to, y)
                            : collect_dense_points(context, &own, to, y));
done:
    huddle_points_free(&own);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_points_free(y);
    return status;
}

huddle_status hd_collect_csr(huddle_context *context, const huddle_csr *matrix, int32_t to,
                             huddle_csr *whole) {
    huddle_status status = HUDDLE_OK;
    entries e = {0};
    memset(whole, 0, sizeof *whole);
    TRY(huddle_csr_fetch(matrix));
    TRY(collect_entries(context, matrix->rows, matrix->offsets, matrix->columns, matrix->values,
                        sizeof *matrix->values, to, &e));
    if (e.offsets != NULL)
        *whole = (huddle_csr){.rows = e.n,
                              .cols = matrix->cols,
                              .offsets = e.offsets,
                              .columns = e.columns,
                              .values = e.values};
done:
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_csr_free(whole);
    return status;
}
