/* The number of clusters by eigengaps (docs/method.md, "How many clusters?"). */
#ifndef HUDDLE_SRC_DECIDE_EIGENGAP_H
#define HUDDLE_SRC_DECIDE_EIGENGAP_H

#include "steps/options.h"

/* n_clusters by the eigengap rule on the embedding of the fit, if it is auto. The candidates are
 * left in the fit's trials. */
huddle_status hd_decide_eigengap(hd_fit *fit, huddle_range *n_clusters);

/* The same on the graph that sc would make of the points, for methods without one. refine: the
 * option of that name; the graph has short bridges unless it is NULL or "none". */
huddle_status hd_decide_eigengap_of_points(huddle_context *context, const huddle_points *points,
                                           uint64_t seed, const char *refine, hd_fit *fit,
                                           huddle_range *n_clusters);

#endif
