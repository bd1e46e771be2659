/* From x to the prepared points, for training points and for new ones. */
#ifndef HUDDLE_SRC_STEPS_PREPARE_H
#define HUDDLE_SRC_STEPS_PREPARE_H

#include "fit/fit.h"

/* Fits a preparation, which is not "auto", to x and applies it; also finds the equal rows of x.
 * view is the prepared points and never freed. With `keep` they are also fit->prepared.points,
 * which borrows x if the preparation changes nothing; without, the fit has points only if the
 * preparation made new ones. */
huddle_status hd_step_prepare(huddle_context *context, const huddle_points *x,
                              const huddle_prepare_options *options, bool keep, hd_fit *fit,
                              huddle_points *view);

/* Applies a fitted map to points; owned is to be freed, view never. An empty map, or one that
 * changes nothing, leaves a view of x. */
huddle_status hd_step_apply_map(huddle_context *context, const huddle_preparation *map,
                                const huddle_points *x, huddle_points *owned, huddle_points *view);

/* Applies the fit's preparation and its reduction, if it has one, to new points; owned is to be
 * freed, view never. HUDDLE_INVALID if they have not as many features as the fit's. */
huddle_status hd_step_prepare_new(huddle_context *context, const hd_fit *fit,
                                  const huddle_points *x, huddle_points *owned,
                                  huddle_points *view);

#endif
