/* New points of a fit whose rows are distributed over processes: what their neighbours on other
 * processes have. */
#ifndef HUDDLE_SRC_STEPS_NEAR_H
#define HUDDLE_SRC_STEPS_NEAR_H

#include "fit/fit.h"

/* A fit whose arrays of training rows have, after the own rows, those of other processes that lists
 * of neighbours name. Without slabs it is the fit itself. */
typedef struct hd_step_near {
    hd_fit view;      /* labels, scales, degrees and, if wanted, eigenvectors are extended */
    int32_t *numbers; /* of the rows of the view among those of all processes; NULL without slabs */
    int64_t total;    /* training rows of all processes */
    bool owns;        /* the extended arrays */
} hd_step_near;

/* Rewrites the indices of the lists, which are numbers among all training rows, to rows of the
 * view. All processes call it. */
huddle_status hd_step_near_open(huddle_context *context, const hd_fit *fit, bool vectors,
                                huddle_neighbors *neighbors, hd_step_near *near);
void hd_step_near_close(hd_step_near *near);

/* Renumbers the columns of a matrix, which are rows of the view, by `numbers`. */
void hd_step_near_number(const hd_step_near *near, huddle_csr *w);

#endif
