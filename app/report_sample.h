/* What a page shows of the points: a random sample of them, as coordinates and as pictures. */
#ifndef HUDDLE_APP_REPORT_SAMPLE_H
#define HUDDLE_APP_REPORT_SAMPLE_H

#include "fitting.h"

#include <huddle/prepare.h>

/* A run to be shown. */
typedef struct report_run {
    const fitting *fit;
    int64_t n;
    const int32_t *labels; /* n in 0 .. n_clusters - 1 */
    int32_t n_clusters;
    int64_t *rows; /* the sample in random order: its first so many are a sample as well */
    int64_t count;
    huddle_preparation plane; /* the components of F, for its path */
} report_run;

/* Most points in the scatter plots, and in the path. */
enum { VIEW_POINTS = 5000, PATH_POINTS = 2000 };

/* Draws the sample: every cluster has at least some points in it. */
void run_sample(report_run *run);
void run_free(report_run *run);

/* {total, count, index, label, class?, classes?, thumbs?}: who the points of the sample are. */
json_t *points_json(const report_run *run);

/* The principal components of x, without the scaling of rows that follows in a method. */
huddle_status fit_plane(const report_run *run, const huddle_points *x, huddle_preparation *plane);

/* The sample of x in the plane: {name, title, cols, span, low, share, data}. */
json_t *view_json(const report_run *run, const char *name, const char *title,
                  const huddle_points *x);
json_t *dense_view_json(report_run *run, const char *name, const char *title,
                        const huddle_dense *x);

/* `count` rows of a dense matrix as points: all of them if rows is NULL. */
huddle_status dense_points(huddle_context *context, const huddle_dense *x, const int64_t *rows,
                           int64_t count, huddle_points *points);

/* Numbers on a grid of 65536 steps from low[j] on, `span` wide. */
typedef struct number_grid {
    double low[8], span;
} number_grid;
number_grid grid_of(const huddle_points *x);
void grid_put(const number_grid *grid, const huddle_points *x, int32_t cols, uint16_t *out);
json_t *grid_json(const number_grid *grid, int32_t cols);

/* Are the points images? */
bool has_images(const report_run *run);

/* {height, width, count, data}: the first images of the sample, small. */
json_t *thumbs_json(const report_run *run);

/* A sheet of images a cluster, medoid first: {height, width, data, rows: [{cluster, index,
 * odd}]}. medoids may be NULL. */
json_t *sheet_json(const report_run *run, const json_t *medoids, const huddle_confusion *confusion);

#endif
