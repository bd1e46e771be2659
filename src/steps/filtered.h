/* The largest eigenpairs of an operator that is not a sparse matrix. */
#ifndef HUDDLE_SRC_STEPS_FILTERED_H
#define HUDDLE_SRC_STEPS_FILTERED_H

#include "huddle/embed.h"
#include "prepare/eigen.h"

/* The c largest eigenpairs of a symmetric operator whose spectrum is within [0, upper]: vectors
 * with the signs of huddle_embed(), and their eigenvalues, descending, with the one after the last
 * if there is one. Fills in the info but for components; nothing is verified. tol is relative to
 * half of upper; a residual is also below a tenth of the gap after c, where that can be reached. */
huddle_status hd_step_filtered_pairs(huddle_context *context, const hd_prepare_operator *a,
                                     double upper, int64_t c, double tol, uint64_t seed,
                                     huddle_embedding *out, huddle_embed_info *info);

/* The first entry of the largest magnitude in a column becomes positive, as in every embedding. */
void hd_step_set_sign(huddle_dense *vectors, int64_t column);

#endif
