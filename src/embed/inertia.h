/* How many eigenvalues lie above a number: by the signs of the pivots of a sparse L D L'. */
#ifndef HUDDLE_SRC_EMBED_INERTIA_H
#define HUDDLE_SRC_EMBED_INERTIA_H

#include "embed/operator.h"

typedef struct hd_embed_inertia {
    bool affordable; /* false: the factorisation would take more than `most_work`; nothing was done
                      */
    int64_t above;   /* eigenvalues of the operator, deflated ones included, above the shift */
    double error;    /* the count is right for some shift within this of the given one */
} hd_embed_inertia;

/* most_work is in multiplications. */
huddle_status hd_embed_count_above(huddle_context *context, const hd_embed_operator *op,
                                   double shift, double most_work, hd_embed_inertia *inertia);

#endif
