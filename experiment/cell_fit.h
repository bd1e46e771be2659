/* One cell: a fit, its scores, and what else the plan asks for. */
#ifndef HUDDLE_EXPERIMENT_CELL_FIT_H
#define HUDDLE_EXPERIMENT_CELL_FIT_H

#include "experiment/experiment.h"

/* Fits a cell and makes its record. A fit that fails gives a record with the member "error"; NULL
 * if the context was cancelled or there is no memory. */
json_t *cell_fit(huddle_context *context, huddle_cache *cache, const experiment *e,
                 const experiment_cell *cell);

/* Seconds on a clock that never goes back. */
double wall_seconds(void);

#endif
