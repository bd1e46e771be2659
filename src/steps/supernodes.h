/* Supernodes of a graph and the bipartite graph of vertices and supernodes (methods/bipartite.c).
 */
#ifndef HUDDLE_SRC_STEPS_SUPERNODES_H
#define HUDDLE_SRC_STEPS_SUPERNODES_H

#include "huddle/embed.h"

/* Assigns each vertex to the seed with the shortest path to it, an edge of weight w having the
 * length -log(w / largest weight); of equally near ones to the first seed. of[v] numbers the
 * supernodes as the seeds, which must differ. A component without a seed is a further supernode.
 * *count is their number. */
huddle_status hd_step_supernodes_grow(huddle_context *context, const huddle_csr *graph,
                                      int64_t n_seeds, const int64_t *seeds, int32_t *of,
                                      int64_t *count);

/* R, n x count, of that assignment: one entry per row. */
huddle_status hd_step_supernodes_of(int64_t n, int64_t count, const int32_t *of, huddle_csr *r);

/* R of an embedding, n x k: two supernodes for each column, the vertices whose entry is at least
 * the mean of the column and the others, so that each vertex is in k of them. Columns that are
 * constant but for rounding have none; without any other column there is one for all vertices. */
huddle_status hd_step_supernodes_split(const huddle_dense *embedding, huddle_csr *r);

/* The links of vertices and supernodes, A R. A vertex without edges is linked to its own supernodes
 * by weight 1. */
huddle_status hd_step_supernodes_link(huddle_context *context, const huddle_csr *graph,
                                      const huddle_csr *r, huddle_csr *links);

/* The n_wanted first left singular vectors of D1^-1/2 links D2^-1/2, D1 and D2 the sums of its rows
 * and columns; fewer if its rank is smaller. Eigenvalues are 1 - singular value, degrees are D1. Of
 * out only vectors, eigenvalues and degrees are set. */
huddle_status hd_step_supernodes_vectors(huddle_context *context, const huddle_csr *links,
                                         int64_t n_wanted, huddle_embedding *out);

#endif
