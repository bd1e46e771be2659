/* Builds the inverted index of sparse rows (sparse_index.h). */
#include "graph/sparse_index.h"

#include "base/check.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CLASSES = HD_GRAPH_SPARSE_CLASSES,
    GROUP = HD_GRAPH_SPARSE_GROUP,
    BLOCK_ROWS = 16384,   /* their sums are 128 kB, a quarter of a usual second-level cache */
    ROWS_PER_CHUNK = 2048 /* of the loops that build the index */
};

/* The largest share of the rows that have a column of each class. Finer where most of the products
 * are: a search decides between two classes whether to go on. */
static const double largest_share[CLASSES - 1] = {1. / 1024, 1. / 256, 1. / 128, 1. / 64, 1. / 45,
                                                  1. / 32,   1. / 23,  1. / 16,  1. / 11, 1. / 8,
                                                  .18,       .25,      .35,      .5};

/* Norms are rounded up by this share. It covers the rounding to float, and the rounding errors of
 * the sums of squares of both rows: of fewer than 2^31 terms in double, less than 2^-21. */
static const double norm_margin = 0x1p-20;

/* ---- classes ------------------------------------------------------------------------------- */

/* The class of a column is the first whose share its rows do not exceed. Columns of class 0 get no
 * number: a search always adds them through the index, so that completing a row never needs them.
 * In text they are most columns, and few of the products. */
static huddle_status classify_columns(hd_graph_sparse_index *t) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = t->rows->x;
    int64_t *count = NULL;
    ALLOC_ZERO(count, x->d);
    ALLOC(t->class_of, x->d);
    ALLOC(t->common, x->d);
    for (int64_t e = 0; e < x->offsets[x->n]; e++)
        count[x->columns[e]]++;
    for (int64_t f = 0; f < x->d; f++) {
        int c = 0;
        while (c < CLASSES - 1 && (double)count[f] > largest_share[c] * (double)x->n)
            c++;
        t->class_of[f] = (uint8_t)c;
        t->common[f] = c > 0 ? (int32_t)t->n_common++ : -1;
    }
done:
    huddle_free(count);
    return status;
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* A value of the index: a float, although the scale of the cosine is a double. The search accounts
 * for the rounding. */
static float scaled_value(const hd_graph_sparse_rows *rows, int64_t i, int64_t e) {
    return (float)(rows->scale[i] * (double)rows->x->values[e]);
}

/* Stores the rows of a block by columns: a counting sort, in which rows of a column stay ascending.
 * Time and memory are proportional to the columns and the values of the block. */
static huddle_status invert_block(const hd_graph_sparse_rows *rows, hd_graph_sparse_block *b) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = rows->x;
    int64_t first = x->offsets[b->begin], nonzeros = x->offsets[b->end] - first;
    ALLOC_ZERO(b->offsets, x->d + 1);
    ALLOC(b->lists, nonzeros);
    for (int64_t e = first; e < first + nonzeros; e++)
        b->offsets[x->columns[e] + 1]++;
    for (int64_t f = 0; f < x->d; f++)
        b->offsets[f + 1] += b->offsets[f];
    for (int64_t i = b->begin; i < b->end; i++)
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            b->lists[b->offsets[x->columns[e]]++] =
                (hd_graph_sparse_entry){(int32_t)i, scaled_value(rows, i, e)};
    /* Every offset is now the end of its column, where the next one begins. */
    memmove(b->offsets + 1, b->offsets, (size_t)x->d * sizeof *b->offsets);
    b->offsets[0] = 0;
done:
    return status;
}

static huddle_status invert_blocks(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    hd_graph_sparse_index *t = argument;
    for (int64_t b = chunk.begin; b < chunk.end && status == HUDDLE_OK; b++)
        status = invert_block(t->rows, &t->blocks[b]);
    return status;
}

/* Every block has offsets for all columns. With many columns blocks become larger, so that all
 * offsets together are not more than the values. An offset and an entry of a list take eight bytes
 * each. Blocks begin with whole groups, whose bounds are compared together. */
static huddle_status divide_rows(hd_graph_sparse_index *t) {
    huddle_status status = HUDDLE_OK;
    int64_t n = t->rows->x->n, most = t->rows->x->offsets[n] / (t->rows->x->d + 1);
    most = most < 1 ? 1 : most;
    t->block_rows = (n + most - 1) / most;
    t->block_rows = (t->block_rows + GROUP - 1) / GROUP * GROUP;
    if (t->block_rows < BLOCK_ROWS)
        t->block_rows = BLOCK_ROWS;
    int64_t n_blocks = (n + t->block_rows - 1) / t->block_rows;
    ALLOC_ZERO(t->blocks, n_blocks);
    t->n_blocks = n_blocks;
    for (int64_t b = 0; b < n_blocks; b++) {
        int64_t end = (b + 1) * t->block_rows;
        t->blocks[b].begin = b * t->block_rows;
        t->blocks[b].end = end < n ? end : n;
    }
done:
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* |x'| |y'| bounds a sum of products only if neither norm is too small; an infinite one excludes
 * nothing. 0 is exact: without values in these classes the score cannot grow. */
static float round_up(double norm) {
    if (norm == 0)
        return 0;
    double value = norm * (1 + norm_margin);
    return value < (double)FLT_MAX ? nextafterf((float)value, INFINITY) : INFINITY;
}

/* The number of values of a row in each class, for the start of each. */
static huddle_status count_classes(void *argument, hd_chunk chunk) {
    hd_graph_sparse_index *t = argument;
    const huddle_points *x = t->rows->x;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t *counts = t->starts + i * CLASSES + 1; /* shifted by one, for the sums */
        memset(counts, 0, CLASSES * sizeof *counts);
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            counts[t->class_of[x->columns[e]]]++;
        counts[0] = 0; /* class 0 is not stored */
    }
    return HUDDLE_OK;
}

/* Places the common values of the rows, and sums the squares of each class from the last to the
 * first. The squares are those of the floats of the index, since it is their products that the
 * norms bound; float times float is exact in double. */
static huddle_status place_values(void *argument, hd_chunk chunk) {
    hd_graph_sparse_index *t = argument;
    const huddle_points *x = t->rows->x;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double squares[CLASSES] = {0}, sum = 0;
        int64_t place[CLASSES];
        memcpy(place, t->starts + i * CLASSES, sizeof place);
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
            int c = t->class_of[x->columns[e]];
            float value = scaled_value(t->rows, i, e);
            squares[c] += (double)value * (double)value;
            if (c == 0)
                continue;
            t->entries[place[c]++] = (hd_graph_sparse_entry){t->common[x->columns[e]], value};
        }
        for (int c = CLASSES - 1; c >= 0; c--) {
            sum += squares[c];
            t->rest[c * t->padded + i] = round_up(sqrt(sum));
        }
        t->origin[i] = -t->rows->norm2[i] / 2;
    }
    return HUDDLE_OK;
}

static huddle_status store_rows(huddle_context *context, hd_graph_sparse_index *t) {
    huddle_status status = HUDDLE_OK;
    int64_t n = t->rows->x->n;
    t->padded = (n + GROUP - 1) / GROUP * GROUP;
    ALLOC_ZERO(t->starts, n * CLASSES + 1);
    ALLOC_ZERO(t->rest, t->padded * CLASSES);
    ALLOC(t->origin, t->padded);
    ALLOC(t->highest, t->padded / GROUP);
    /* Any finite bound excludes padding; otherwise the search leaves it out. */
    for (int64_t i = n; i < t->padded; i++)
        t->origin[i] = -INFINITY;
    TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, count_classes, t));
    for (int64_t e = 0; e < n * CLASSES; e++)
        t->starts[e + 1] += t->starts[e];
    ALLOC(t->entries, t->starts[n * CLASSES]);
    TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, place_values, t));
    for (int64_t e = 0; e < n * CLASSES; e++)
        t->mean_length[e % CLASSES] += (double)(t->starts[e + 1] - t->starts[e]) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double *highest = &t->highest[i / GROUP];
        *highest = i % GROUP == 0 ? t->origin[i] : fmax(*highest, t->origin[i]);
        t->longest = fmax(t->longest, (double)hd_graph_sparse_length(t->rows, i));
    }
done:
    return status;
}

huddle_status hd_graph_sparse_index_new(huddle_context *context, const hd_graph_sparse_rows *rows,
                                        hd_graph_sparse_index *index) {
    huddle_status status = HUDDLE_OK;
    *index = (hd_graph_sparse_index){.rows = rows};
    TRY(classify_columns(index));
    TRY(divide_rows(index));
    TRY(hd_parallel(context, NULL, index->n_blocks, 1, invert_blocks, index));
    TRY(store_rows(context, index));
done:
    return status;
}

void hd_graph_sparse_index_free(hd_graph_sparse_index *index) {
    for (int64_t b = 0; b < index->n_blocks; b++)
        FREE(index->blocks[b].offsets, index->blocks[b].lists);
    FREE(index->blocks, index->class_of, index->common, index->starts, index->entries, index->rest,
         index->origin, index->highest);
    *index = (hd_graph_sparse_index){0};
}
