/* Is x a table of columns in different units (docs/method.md, "Tables")? Such columns have to be
 * scaled before distances mean anything. */
#ifndef HUDDLE_SRC_DECIDE_TABLE_H
#define HUDDLE_SRC_DECIDE_TABLE_H

#include "steps/options.h"

/* Whether x is a table of columns in different units. Sparse points are not examined; if rows are
 * distributed over processes, process 0 examines all or many of them. */
huddle_status hd_decide_table(huddle_context *context, const huddle_points *x, hd_fit_table *table);

/* Whether prepare = auto scales the columns of a table: for methods that refine their labels, and
 * Euclidean distances. */
bool hd_decide_is_to_scale(const hd_spectral_options *options, const hd_fit_table *table);

#endif
