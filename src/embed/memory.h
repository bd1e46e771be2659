/* The memory of an embedding, before it is computed. */
#ifndef HUDDLE_SRC_EMBED_MEMORY_H
#define HUDDLE_SRC_EMBED_MEMORY_H

#include "huddle/embed.h"

/* Bytes that huddle_embed() needs at its peak for a graph of n vertices and `entries` stored
 * weights, with the result but without the graph, for options->n_components vectors; NULL: the
 * defaults. An upper bound if the graph has several components, whose vectors need no iteration;
 * a factorisation (verify = inertia) is not included. */
int64_t hd_embed_predict_memory(int64_t n, int64_t entries, const huddle_embed_options *options);

#endif
