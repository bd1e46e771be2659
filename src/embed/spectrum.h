/* Estimates of the ends of a symmetric matrix's spectrum. */
#ifndef HUDDLE_SRC_EMBED_SPECTRUM_H
#define HUDDLE_SRC_EMBED_SPECTRUM_H

#include "embed/operator.h"

typedef struct hd_embed_spectrum {
    double min_ritz, max_ritz; /* Ritz values: the spectrum extends at least this far */
    double lower, upper;       /* estimated ends: upper is close, lower is on the safe side */
} hd_embed_spectrum;

/* Estimates the ends of the spectrum by a few steps of Lanczos, within Gershgorin's bounds and
 * [lower, upper], which may be infinite. Uses only the operator's
 * rows, offsets, columns, values and halo. */
huddle_status hd_embed_estimate_spectrum(huddle_context *context, const hd_embed_operator *op,
                                         double lower, double upper, hd_embed_spectrum *spectrum);

#endif
