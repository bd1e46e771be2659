/* From x to the prepared points, with the preparation that was asked for or chosen. */
#ifndef HUDDLE_SRC_METHODS_PREPARE_H
#define HUDDLE_SRC_METHODS_PREPARE_H

#include "methods/method.h"

/* Prepares x. spectral: options of a method that may refine its labels, whose input is
 * examined for tables and whose prepare = auto compares refined labels; or NULL. view is the
 * prepared points and never freed. With `keep` they are also fit->prepared.points, which borrows x
 * if the preparation changes nothing; without, the fit has points only if the preparation made new
 * ones. */
huddle_status hd_method_prepare(const hd_method_run *run, const huddle_prepare_options *options,
                                const hd_spectral_options *spectral, bool keep,
                                huddle_points *view);

/* hd_method_prepare() with `keep`, shared: fit->prepared.points are the prepared points. */
huddle_status hd_method_prepare_shared(hd_method_run *run, const huddle_prepare_options *options,
                                       const hd_spectral_options *spectral);

/* Adds the options that determine the choice of prepare = auto by refined labels, besides those of
 * the graph. */
void hd_method_add_choice_to_key(const hd_spectral_options *options, hd_cache_key *key);

/* Those of the graph. */
void hd_method_add_graph_to_key(const hd_spectral_options *options, hd_cache_key *key);

#endif
