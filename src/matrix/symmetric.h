/* Whether a graph is symmetric. */
#ifndef HUDDLE_SRC_MATRIX_SYMMETRIC_H
#define HUDDLE_SRC_MATRIX_SYMMETRIC_H

#include "huddle/matrix.h"

#include <stdbool.h>

/* Two entries that should be equal, (row, column) and (column, row), but differ. */
typedef struct hd_asymmetry {
    bool found;
    int64_t row, column;
    double value, other;
} hd_asymmetry;

/* Finds one in a square matrix that is valid (huddle_csr_check()), if there is one. */
huddle_status hd_csr_find_asymmetry(const huddle_csr *matrix, hd_asymmetry *asymmetry);

/* huddle_csr_symmetric_part() of such a matrix; what: "the graph is", in the warning. */
huddle_status hd_csr_make_symmetric(huddle_context *context, const char *what,
                                    const huddle_csr *matrix, huddle_csr *part);

#endif
