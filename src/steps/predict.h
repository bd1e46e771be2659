/* Labels of new points. */
#ifndef HUDDLE_SRC_STEPS_PREDICT_H
#define HUDDLE_SRC_STEPS_PREDICT_H

#include "steps/place.h"

/* Labels new rows by the nearest centre, or by the training row they equal. */
huddle_status hd_spectral_assign(huddle_context *context, const hd_fit *fit,
                                 const huddle_dense *rows, const int64_t *same, int32_t *labels);

/* Labels of new points if those of the fit were refined: the neighbours of a point among the
 * training points vote, each with the weight that the graph would give its edge; of equal votes
 * that of the nearest neighbour counts. A point that equals a training point gets its label. If the
 * labels of the fit are those of K-means on the points, the nearest centre decides. */
huddle_status hd_step_predict_refined(huddle_context *context, const hd_fit *fit,
                                      const hd_spectral_options *options, const huddle_points *x,
                                      int32_t *labels);

/* Places new points and labels their rows by hd_spectral_assign(). */
huddle_status hd_step_predict_placed(huddle_context *context, const hd_fit *fit,
                                     const void *options, hd_step_place *place,
                                     const huddle_points *x, int32_t *labels);

/* The predict of a method that clusters the embedding by K-means: by votes if its labels were
 * refined, else by the places of the points. */
huddle_status hd_spectral_predict(huddle_context *context, const hd_fit *fit, const void *options,
                                  const huddle_points *x, int32_t *labels);

/* Predicts by the nearest centre in the prepared and reduced points. */
huddle_status hd_step_predict_centres(huddle_context *context, const hd_fit *fit,
                                      const void *options, const huddle_points *x, int32_t *labels);

#endif
