/* The preparation chosen without labels (docs/method.md, "Preparation"). */
#ifndef HUDDLE_SRC_DECIDE_PREPARATION_H
#define HUDDLE_SRC_DECIDE_PREPARATION_H

#include "steps/options.h"

/* prepare = auto: "clip" if x is a table (prepared->table) and its columns are to be scaled; else
 * the preparation whose labels have the largest score on its own graph, all compared at the same
 * numbers of clusters. spectral: options of a method that may refine its labels, which determine
 * labels and score; or NULL. The candidates are left in prepared->trials, which stays empty if
 * there is nothing to choose from. */
huddle_status hd_decide_preparation(huddle_context *context, const huddle_points *x,
                                    hd_step_common common, const hd_spectral_options *spectral,
                                    hd_fit_prepared *prepared, huddle_rule *rule);

#endif
