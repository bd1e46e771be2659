/* The weights of several views in their common graph (docs/method.md, "Views"). */
#ifndef HUDDLE_SRC_DECIDE_VIEWS_H
#define HUDDLE_SRC_DECIDE_VIEWS_H

#include "steps/options.h"

/* The option view_weights: values that are given, one for each view and not all 0, equal ones, or
 * with auto those of the scores that clusters have in the graph of each view alone. Sets weight and
 * score of every view, whose graphs are there. HUDDLE_INVALID if there are not as many values as
 * views. */
huddle_status hd_decide_view_weights(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, hd_fit *fit);

#endif
