/* Steps of a fit whose rows are spread over processes (base/slabs.h): numbers of all rows, and
 * samples of them on process 0, which decides alone and tells the others. */
#ifndef HUDDLE_SRC_SPREADING_H
#define HUDDLE_SRC_SPREADING_H

#include "base/slabs.h"
#include "matrix/collect.h"
#include "methods/spectral.h"

/* Which of 0 .. n_clusters - 1 occur among the labels of all processes: names[k] is the k-th of
 * *count. names has space for n_clusters. */
huddle_status hd_spread_list_labels(huddle_context *context, int64_t n, const int32_t *labels,
                                    int32_t n_clusters, int32_t *names, int32_t *count);

/* Sets is_medoid_row where a row equals the medoid of its cluster, which one process has. */
huddle_status hd_spread_mark_medoids(huddle_context *context, const huddle_dense *matrix,
                                     hd_fit_clusters *clusters);

/* A random sample of at most `limit` of all rows on process 0, drawn as one process would; all rows
 * if there are no more. Empty on the other processes. */
huddle_status hd_spread_sample(huddle_context *context, const huddle_points *x, int64_t limit,
                               uint64_t seed, huddle_points *sample);

/* Rows of a matrix, equal ones merged over all processes. */
typedef struct hd_spread_distinct {
    int64_t count;   /* distinct rows that are first on this process, */
    int64_t *first;  /* which they are among its rows, */
    double *weights; /* and how many rows of all processes each stands for */
    int32_t *of;     /* for each own row its distinct row: numbered over all processes if `merged`,
                        else over those of this one */
    bool merged;     /* rows of different processes were compared */
} hd_spread_distinct;

/* rows: for the copies. Where there are too many distinct rows to compare them in one place, equal
 * rows of different processes stay apart. */
huddle_status hd_spread_find_distinct(huddle_context *context, const huddle_dense *matrix,
                                      const hd_fit_rows *rows, hd_spread_distinct *distinct);
void hd_spread_distinct_free(hd_spread_distinct *distinct);

/* From a label for each distinct row that is first on this process to labels of its n rows. */
huddle_status hd_spread_expand_labels(huddle_context *context, const hd_spread_distinct *distinct,
                                      const int32_t *found, int64_t n, int32_t *labels);

/* ---- new points ---------------------------------------------------------------------------- */

/* A fit whose arrays of training rows have, after the own rows, those of other processes that lists
 * of neighbours name. Without slabs it is the fit itself. */
typedef struct hd_spread_near {
    hd_fit view;      /* labels, scales, degrees and, if wanted, eigenvectors are extended */
    int32_t *numbers; /* of the rows of the view among those of all processes; NULL without slabs */
    int64_t total;    /* training rows of all processes */
    bool owns;        /* the extended arrays */
} hd_spread_near;

/* Rewrites the indices of the lists, which are numbers among all training rows, to rows of the
 * view. All processes call it. */
huddle_status hd_spread_near_open(huddle_context *context, const hd_fit *fit, bool vectors,
                                  huddle_neighbors *neighbors, hd_spread_near *near);
void hd_spread_near_close(hd_spread_near *near);

/* Renumbers the columns of a matrix, which are rows of the view, by `numbers`. */
void hd_spread_near_number(const hd_spread_near *near, huddle_csr *w);

#endif
