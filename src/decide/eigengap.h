/* The number of clusters by eigengaps (docs/method.md, "How many clusters?"). */
#ifndef HUDDLE_SRC_DECIDE_EIGENGAP_H
#define HUDDLE_SRC_DECIDE_EIGENGAP_H

#include "steps/options.h"

/* n_clusters by the eigengap rule, if it is auto. */
huddle_status hd_decide_eigengap(const hd_fit_embedding *embedding, const hd_fit_rows *rows,
                                 huddle_embed_choice *choice, huddle_range *n_clusters);

/* n_clusters, if it is auto, by the eigengap of the points' neighbour graph, for methods without
 * one. */
huddle_status hd_decide_eigengap_of_points(huddle_context *context, const huddle_points *points,
                                           uint64_t seed, huddle_embed_choice *choice,
                                           huddle_range *n_clusters);

/* The same for a method with option refine: the graph has short bridges unless it is none. */
huddle_status hd_decide_eigengap_for_refined(huddle_context *context, const huddle_points *points,
                                             uint64_t seed, const char *refine,
                                             huddle_embed_choice *choice, huddle_range *n_clusters);

#endif
