/* The points and the graph of several views. */
#ifndef HUDDLE_SRC_METHODS_VIEWS_H
#define HUDDLE_SRC_METHODS_VIEWS_H

#include "methods/method.h"

/* The table of `view_weights`, with offsets in hd_spectral_options. */
const huddle_option *hd_method_views_table(void);

/* Prepares every view as it would be alone, merges rows that are equal in all of them, and makes
 * their graphs and weights; the fit's graph, the mean of theirs, unless the method makes its own.
 */
huddle_status hd_method_make_views(hd_method_run *run, const hd_spectral_options *options);

#endif
