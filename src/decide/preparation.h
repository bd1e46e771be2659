/* The preparation chosen without labels (docs/method.md, "Preparation"). */
#ifndef HUDDLE_SRC_DECIDE_PREPARATION_H
#define HUDDLE_SRC_DECIDE_PREPARATION_H

#include "steps/options.h"

/* The preparation whose labels have the largest score on its own graph, all compared at the same
 * numbers of clusters. spectral: options of a method that may refine its labels, or NULL; it
 * determines the labels and the score. trials receives the candidates; it stays
 * empty if there is nothing to choose from. */
huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                const hd_spectral_options *spectral, huddle_rule *rule,
                                hd_fit_prepare_trials *trials);

#endif
