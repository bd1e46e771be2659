/* Eigenvectors of a matrix that falls into blocks. */
#ifndef HUDDLE_SRC_METHODS_BLOCKS_H
#define HUDDLE_SRC_METHODS_BLOCKS_H

#include "huddle/embed.h"

/* As huddle_embed_symmetric(), for a matrix in which rows i and j of different components have no
 * entry in common. As in the embedding of a graph, every component comes first with one vector, its
 * largest eigenpair, the component with the most rows before the others; what is left of c is
 * filled with the largest of all further eigenpairs. So no component is without a vector unless
 * there are more than c. Eigenvalues are in the order of the columns. component numbers n rows
 * 0 .. count - 1. */
huddle_status hd_embed_blocks(huddle_context *context, const huddle_csr *matrix,
                              const int32_t *component, int32_t count, double lower, double upper,
                              const huddle_embed_options *options, huddle_embedding *out,
                              huddle_embed_info *info);

#endif
