/* Products of the predictors of local learning clustering. */
#ifndef HUDDLE_SRC_STEPS_LLC_MATRIX_H
#define HUDDLE_SRC_STEPS_LLC_MATRIX_H

#include "huddle/matrix.h"

/* A + A' - A'A, symmetric to the last bit; t is the transpose of a. */
huddle_status hd_step_llc_matrix(huddle_context *context, const huddle_csr *a, const huddle_csr *t,
                                 huddle_csr *matrix);

#endif
