/* The number of eigenvalues above a shift, by the signs of the pivots of a sparse factorisation. */
#ifndef HUDDLE_SRC_EMBED_INERTIA_H
#define HUDDLE_SRC_EMBED_INERTIA_H

#include "embed/operator.h"

typedef struct hd_embed_inertia {
    bool affordable; /* false: it would take more than max_work, and nothing was done */
    int64_t above;   /* eigenvalues of the operator, deflated ones included, above the shift */
    double error;    /* the count is exact for some shift within this distance of the given one */
} hd_embed_inertia;

/* max_work is a number of multiplications. Needs all rows in one process. */
huddle_status hd_embed_count_above(huddle_context *context, const hd_embed_operator *op,
                                   double shift, double max_work, hd_embed_inertia *inertia);

#endif
