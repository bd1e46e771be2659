/* An inverted index of sparse rows, with what bounds their inner products from above.
 *
 * Columns are divided into classes by the number of rows that have them, rare columns first. A few
 * common columns make up most of an index: in text, the words found in every tenth document are one
 * word in five hundred, but account for five sixths of all products. Yet they carry little of the
 * norm of a row. A search therefore adds up the products class by class, and bounds the sum over
 * the remaining classes by Cauchy and Schwarz from the norms of both rows over these classes.
 *
 * Rows are indexed in blocks, so that the sums of a block stay in the cache. */
#ifndef HUDDLE_SRC_GRAPH_SPARSE_INDEX_H
#define HUDDLE_SRC_GRAPH_SPARSE_INDEX_H

#include "graph/distance_kernels.h"
#include "graph/sparse_rows.h"

enum { HD_GRAPH_SPARSE_CLASSES = 15 };

/* A value and its row in a list of a column, or its column in a row: one place in memory. */
typedef struct hd_graph_sparse_entry {
    int32_t index;
    float value; /* scaled as the metric requires */
} hd_graph_sparse_entry;

/* The rows begin .. end - 1 by columns. */
typedef struct hd_graph_sparse_block {
    int64_t begin, end; /* begin is a multiple of HD_GRAPH_SPARSE_GROUP */
    int64_t *offsets;   /* d + 1: where the list of each column begins */
    hd_graph_sparse_entry *lists;
} hd_graph_sparse_block;

typedef struct hd_graph_sparse_index {
    const hd_graph_sparse_rows *rows;
    hd_graph_sparse_block *blocks;
    int64_t n_blocks, block_rows;
    uint8_t *class_of; /* d: of each column */
    int32_t *common;   /* d: the number of a column among those of class 1 and above, else -1 */
    int64_t n_common;
    /* The values of the rows in common columns, row by row and class by class: those of row i in
     * class c are starts[i * CLASSES + c] .. starts[i * CLASSES + c + 1] - 1. */
    int64_t *starts;
    hd_graph_sparse_entry *entries;              /* index: the number among the common columns */
    double mean_length[HD_GRAPH_SPARSE_CLASSES]; /* of the rows in each class */
    int64_t padded; /* n rounded up to whole groups: the length of the following arrays */
    float *rest; /* CLASSES x padded: norm of a row over columns of class c and above, rounded up */
    double *origin;  /* -|y|^2 / 2, with which the sum of a row begins; -infinity beyond n */
    double *highest; /* the largest of these in each group */
    double longest;  /* number of values of the longest row */
} hd_graph_sparse_index;

huddle_status hd_graph_sparse_index_new(huddle_context *context, const hd_graph_sparse_rows *rows,
                                        hd_graph_sparse_index *index);
void hd_graph_sparse_index_free(hd_graph_sparse_index *index);

static inline int64_t hd_graph_sparse_length(const hd_graph_sparse_rows *rows, int64_t i) {
    return rows->x->offsets[i + 1] - rows->x->offsets[i];
}

#endif
