/* The preparation chosen without labels (docs/method.md, "Preparation"). */
#ifndef HUDDLE_SRC_DECIDE_PREPARATION_H
#define HUDDLE_SRC_DECIDE_PREPARATION_H

#include "steps/options.h"

/* prepare = auto: "clip" if x is a table (prepared->table) and its columns are to be scaled; else
 * the preparation whose labels have the largest score on its own graph, all compared at the same
 * numbers of clusters. spectral: the options of the method, which determine labels and score if it
 * refines its labels; hd_spectral_defaults() for a method without such options. The candidates are
 * left in prepared->trials, which stays empty if there is nothing to choose from. */
huddle_status hd_decide_preparation(huddle_context *context, const huddle_points *x,
                                    const hd_spectral_options *spectral, hd_fit_prepared *prepared,
                                    huddle_rule *rule);

#endif
