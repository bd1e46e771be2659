/* Where a symmetric matrix has its eigenvalues, and the same matrix with them in [-1, 1]. */
#ifndef HUDDLE_SRC_EMBED_SPECTRUM_H
#define HUDDLE_SRC_EMBED_SPECTRUM_H

#include "embed/operator.h"

typedef struct hd_spectrum {
    double least, most;  /* Ritz values: the spectrum reaches at least this far */
    double lower, upper; /* estimated ends: upper is close, lower is on the safe side */
} hd_spectrum;

/* Estimates the ends of the spectrum by a few steps of Lanczos, within Gershgorin's bounds and
 * [lower, upper], which may be infinite. Needs only the operator's n, offsets, columns and values.
 */
huddle_status hd_estimate_spectrum(const hd_operator *op, double lower, double upper,
                                   hd_spectrum *spectrum);

#endif
