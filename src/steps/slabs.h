/* Steps of a fit whose rows are distributed over processes (base/slabs.h): numbers of all rows, and
 * samples of them on process 0, which decides alone and tells the others. */
#ifndef HUDDLE_SRC_STEPS_SLABS_H
#define HUDDLE_SRC_STEPS_SLABS_H

#include "base/slabs.h"
#include "fit/fit.h"
#include "matrix/collect.h"

/* A random sample of at most `limit` rows, or all of them; owned is to be freed, view never. If
 * rows are distributed, process 0 gets the sample that one process would draw, the others none. */
huddle_status hd_step_sample(huddle_context *context, const huddle_points *x, int64_t limit,
                             uint64_t seed, huddle_points *owned, huddle_points *view);

/* Rows of a matrix, equal ones merged over all processes. */
typedef struct hd_step_distinct {
    int64_t count;   /* distinct rows that are first on this process, */
    int64_t *first;  /* which they are among its rows (NULL: all, without slabs), */
    double *weights; /* and how many rows of all processes each stands for */
    int32_t *of;     /* for each own row its distinct row: numbered over all processes if `merged`,
                        else over those of this one; NULL where first is */
    bool merged;     /* rows of different processes were compared */
} hd_step_distinct;

/* rows: for the copies. Where there are too many distinct rows to compare them in one place, equal
 * rows of different processes stay apart. */
huddle_status hd_step_find_distinct(huddle_context *context, const huddle_dense *matrix,
                                    const hd_fit_rows *rows, hd_step_distinct *distinct);
void hd_step_distinct_free(hd_step_distinct *distinct);

/* From a label for each distinct row that is first on this process to labels of its n rows. */
huddle_status hd_step_expand_labels(huddle_context *context, const hd_step_distinct *distinct,
                                    const int32_t *found, int64_t n, int32_t *labels);

#endif
