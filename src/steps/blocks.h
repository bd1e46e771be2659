/* Eigenvectors of a matrix that falls into blocks. */
#ifndef HUDDLE_SRC_STEPS_BLOCKS_H
#define HUDDLE_SRC_STEPS_BLOCKS_H

#include "huddle/embed.h"

/* As huddle_embed_symmetric(), for a matrix in which rows i and j of different components have no
 * entry in common. As in the embedding of a graph, every component is there with one vector, that
 * of its largest eigenvalue, and what is left of c is filled with the largest of all further
 * eigenpairs. So no component is without a vector unless there are more than c; then those with the
 * most rows have one. component numbers the rows' components 0 .. count - 1.
 *
 * The columns are ordered by eigenvalue. With `prefixes` the vectors of the components come first,
 * the component with the most rows before the others, so that the first columns are the embedding
 * in fewer dimensions; eigenvalues are in the order of the columns then. */
huddle_status hd_spectral_embed_blocks(huddle_context *context, const huddle_csr *matrix,
                                       const int32_t *component, int32_t count, double lower,
                                       double upper, const huddle_embed_options *options,
                                       bool prefixes, huddle_embedding *out,
                                       huddle_embed_info *info);

#endif
