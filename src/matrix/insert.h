/* Building a sparse matrix row by row in any order of the columns. */
#ifndef HUDDLE_SRC_MATRIX_INSERT_H
#define HUDDLE_SRC_MATRIX_INSERT_H

#include "huddle/matrix.h"

/* Inserts an entry into a row that has room for it and whose entries so far end at *end, so that
 * columns stay ascending. Meant for short rows: insertion is linear in their length. */
static inline void hd_csr_insert(huddle_csr *matrix, int64_t row, int64_t *end, int32_t column,
                                 double value) {
    int64_t at = (*end)++;
    for (; at > matrix->offsets[row] && matrix->columns[at - 1] > column; at--) {
        matrix->columns[at] = matrix->columns[at - 1];
        matrix->values[at] = matrix->values[at - 1];
    }
    matrix->columns[at] = column;
    matrix->values[at] = value;
}

#endif
