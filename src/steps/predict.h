/* Labels of new points. */
#ifndef HUDDLE_SRC_STEPS_PREDICT_H
#define HUDDLE_SRC_STEPS_PREDICT_H

#include "steps/place.h"

/* Labels the rows of new points, which may be changed; same as hd_step_place() gives it. */
typedef huddle_status hd_step_assign(huddle_context *context, const hd_fit *fit,
                                     const void *options, huddle_dense *rows, const int64_t *same,
                                     int32_t *labels);

/* By the nearest centre, or by the training row they equal. */
hd_step_assign hd_spectral_assign;

/* Labels of new points for a method with an embedding: those of the rows that `place` gives them.
 *
 * If the labels of the fit were refined, the neighbours of a point among the training points vote,
 * each with the weight that the graph would give its edge; of equal votes that of the nearest
 * neighbour counts. A point that equals a training point gets its label. If the labels of the fit
 * are those of K-means on the points, the nearest centre decides. */
huddle_status hd_step_predict(huddle_context *context, const hd_fit *fit, const void *options,
                              hd_step_place *place, hd_step_assign *assign, const huddle_points *x,
                              int32_t *labels);

/* Predicts by the nearest centre in the prepared and reduced points. */
huddle_status hd_step_predict_centres(huddle_context *context, const hd_fit *fit,
                                      const void *options, const huddle_points *x, int32_t *labels);

#endif
