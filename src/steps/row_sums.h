/* Sparse matrices whose rows are sums of sparse rows. */
#ifndef HUDDLE_SRC_STEPS_ROW_SUMS_H
#define HUDDLE_SRC_STEPS_ROW_SUMS_H

#include "huddle/matrix.h"

/* One row of the sum at a time: values by column, and which columns occur. */
typedef struct hd_step_row_sum hd_step_row_sum;

/* Adds factor times the entries of a sparse row. */
void hd_step_row_add(hd_step_row_sum *sum, double factor, int64_t count, const int32_t *columns,
                     const double *values);

/* Adds whatever row `row` of the sum consists of; it is called twice for each row. */
typedef void hd_step_row_rule(const void *of, int64_t row, hd_step_row_sum *sum);

/* The rows x cols matrix of these rows, columns ascending. An entry is added up in the order of the
 * calls. */
huddle_status hd_step_sum_rows(huddle_context *context, int64_t rows, int64_t cols,
                               hd_step_row_rule *rule, const void *of, huddle_csr *matrix);

#endif
