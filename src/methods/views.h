/* The points and the graph of several views. */
#ifndef HUDDLE_SRC_METHODS_VIEWS_H
#define HUDDLE_SRC_METHODS_VIEWS_H

#include "methods/method.h"

/* The table of `view_weights`, with offsets in hd_spectral_options. */
const huddle_option *hd_method_views_table(void);

/* Prepares every view as it would be alone, merges rows that are equal in all of them, and makes
 * the graph that is the mean of theirs. */
huddle_status hd_method_make_views(hd_method_run *run, const hd_spectral_options *options);

#endif
