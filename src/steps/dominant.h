/* Features that contain nearly all the variance of the points. */
#ifndef HUDDLE_SRC_STEPS_DOMINANT_H
#define HUDDLE_SRC_STEPS_DOMINANT_H

#include "fit/fit.h"

/* Finds the few features, if there are any, that contain nearly all the variance of the prepared
 * points x though the preparation could have changed that; hd_step_prepare() calls it. */
huddle_status hd_step_find_dominant(huddle_context *context, const huddle_preparation *preparation,
                                    const huddle_points *x, hd_fit_dominant *dominant);

/* Warns of the features found; names (d, or NULL) are those of the features. Called once for each
 * fit and not by the preparation, which fits can share. */
void hd_step_warn_dominant(huddle_context *context, const hd_fit *fit, const char *const *names);

#endif
