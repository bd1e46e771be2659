/* What is shared by the files that put a page together: the run that the page describes, and the
 * functions that add one section each or make one part of a block.
 *
 * A function that returns json_t * returns NULL if there is no memory; the page reports it when it
 * is written (report/page.h). Functions that call the library return its status.
 */
#ifndef HUDDLE_REPORT_RUN_H
#define HUDDLE_REPORT_RUN_H

#include "report/page.h"
#include "report/text.h"

#include <huddle/prepare.h>
#include <huddle/report.h>
#include <stdlib.h>

/* Allocates an array of `count` zeros, freed by free(), or goes to `done`. */
#define NEW(array, count)                                                                          \
    do {                                                                                           \
        (array) = calloc((size_t)(count) + 1, sizeof *(array));                                    \
        if ((array) == NULL) {                                                                     \
            status = report_no_memory();                                                           \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* free() of each of these. */
#define FREE(...) report_free_all((void *const[]){__VA_ARGS__}, sizeof(void *[]){__VA_ARGS__})
void report_free_all(void *const *pointers, size_t size);

/* A run to be shown. */
typedef struct report_run {
    huddle_context *context;
    const huddle_model *model;
    const huddle_points *x; /* or NULL */
    const huddle_report_options *options;
    report_page *page;
    json_t *info; /* of the model, scores and the caller's details included */

    int64_t n;
    const int32_t *labels; /* n in 0 .. n_clusters - 1 */
    int32_t n_clusters;
    int64_t *sizes; /* points of each cluster */
    int64_t *rows;  /* all rows in random order: the first `count` are the sample, and any shorter
                       beginning is a sample as well */
    int64_t count;

    huddle_confusion confusion;                   /* n_classes is 0 if no classes are known */
    huddle_array embedding, shrunk, shrink_graph; /* type HUDDLE_ARRAY_NONE if there is none */
    const int32_t *unrefined;                     /* n labels before the refinement, or NULL */
    bool has_path;                                /* the page has the path of gamma */
} report_run;

/* Maximum number of points in the scatter plots: their numbers fit 16 bits. Of more than
 * MANY_POINTS fewer projections are stored, so that 50,000 take a few megabytes. */
enum { MAX_VIEW_POINTS = 50000, MANY_POINTS = 10000 };

/* ---- report.c ---- */

/* HUDDLE_INVALID unless labels are in 0 .. count - 1, the rows of tables in every section. `what`
 * they are, for the message: "class", "label". */
huddle_status report_check_labels(const char *what, int64_t n, const int32_t *labels,
                                  int32_t count);

/* HUDDLE_NO_MEMORY with a message. */
huddle_status report_no_memory(void);

/* An array of the model, of type HUDDLE_ARRAY_NONE if the method has none of that name. */
huddle_array report_array(const report_run *run, const char *name);

/* The title of the model's method: "spectral clustering". */
const char *report_method_title(const report_run *run);

/* The name of a class. */
json_t *report_class_name(const report_run *run, int32_t k);

/* ---- sample.c ---- */

/* Draws the sample, with at least some points of every cluster in it. */
huddle_status report_draw_sample(report_run *run);

/* {total, count, clusters, index, label, before?, class?, classes?, thumbs?}: the sampled
 * points. */
json_t *report_points_json(const report_run *run);

/* ---- views.c ---- */

/* X, F and G in scatter plots. A view that cannot be computed is replaced by a warning. */
huddle_status report_add_views(report_run *run);

/* Principal components of x, not scaled to unit rows; x itself if it has at most two columns. */
huddle_status report_fit_plane(const report_run *run, const huddle_points *x,
                               huddle_preparation *plane);

/* The given rows of a dense matrix as points; all of them if rows is NULL. */
huddle_status report_dense_points(huddle_context *context, const huddle_dense *x,
                                  const int64_t *rows, int64_t count, huddle_points *points);

/* Principal components that the page lets the user choose from; coordinates of all projections. */
enum { MAX_COMPONENTS = 6, MAX_COORDS = 2 + MAX_COMPONENTS };

/* Coordinates quantised to 16 bits: value = low[j] + span[j / group] * step / 65535. */
typedef struct report_grid {
    int32_t n_coords, group; /* axes, and how many of them have a common span */
    double low[MAX_COORDS], span[MAX_COORDS];
} report_grid;

/* Chooses low and span for count x n_coords coordinates; the steps of the first `cols` of them. */
void report_fit_grid(report_grid *grid, const double *coords, int64_t count);
void report_quantise(const report_grid *grid, const double *coords, int64_t count, int32_t cols,
                     uint16_t *steps);

/* ---- circle.c, moves.c ---- */

/* Whether there are enough clusters for the projection that maps their centres to a circle, and
 * its axes: columns of F x 2, freed by free(). */
bool report_has_circle(const report_run *run);
huddle_status report_circle_axes(const report_run *run, double **axes);

/* The sampled rows of each level, matrices of the size of F: {count, projections, nodes, maps,
 * stray_counts, strays}. */
huddle_status report_moves_json(const report_run *run, const huddle_dense *levels, int32_t n_levels,
                                json_t **moves);

/* Shares F and G under the name "ends" if the page has no path. */
huddle_status report_share_ends(report_run *run);

/* ---- images.c ---- */

/* Whether the points are images that can be shown. */
bool report_has_images(const report_run *run);

/* {height, width, count, data}: the first images of the sample, reduced. */
json_t *report_thumbs_json(const report_run *run);

/* Images of each cluster, the medoid first. */
void report_add_sheet(report_run *run);

/* ---- features.c, distances.c ---- */

/* Whether the columns of x are features: not if the rows of a graph or of distances were given. */
bool report_has_features(const report_run *run);

/* The mean of each feature in each cluster, and the values of the most distinctive features of the
 * sampled points for colouring them. Nothing for images. */
huddle_status report_add_features(report_run *run);

/* For qsort(). */
int report_compare_doubles(const void *a, const void *b);

/* The points as the method saw them, if the model keeps them, and true; otherwise as they were
 * given, if they were. */
bool report_find_points(const report_run *run, huddle_points *x);

/* The distances of a small sample, ordered by cluster, and their silhouettes. */
huddle_status report_add_distances(report_run *run);

/* ---- clusters.c, trials.c ---- */

/* The position of a cluster's most frequent class in the confusion table, or -1 if the table does
 * not have the cluster; how many of its points are of this class, and how many it has. */
int64_t report_main_class(const report_run *run, int32_t cluster, int64_t *hits, int64_t *total);

void report_add_summary(report_run *run);
void report_add_clusters(report_run *run);
void report_add_confusion(report_run *run);
void report_add_spectrum(report_run *run);
void report_add_convergence(report_run *run);
void report_add_trials(report_run *run);

/* ---- refined.c ---- */

/* The starts of the refinement and their scores, if the method refined its labels. */
void report_add_refinement(report_run *run);

/* The name of a start in words: "K-means on commute rows" for "commute". */
const char *report_start_text(const char *name);

/* Warnings of the run in a section, if there are any. */
void report_add_warnings(const report_run *run, report_section *section);

/* ---- path.c, follow.c, tree.c ---- */

/* HUDDLE_INVALID unless the path is one of the model's points and the labels are valid; all
 * sections of the page of a path. */
huddle_status report_check_walk(const huddle_report_walk *walk, const huddle_model *model);
huddle_status report_fill_walk(report_run *run, const huddle_report_walk *walk);

/* Follows the path of gamma from the model's embedding and adds it. */
huddle_status report_follow_path(report_run *run);

/* Adds a path as moving points and the number of groups. `used` is a gamma to mark, or NAN, and
 * `used_label` completes "the gamma of". Nothing if the path does not have the shrunk rows of every
 * level. */
huddle_status report_add_path(report_run *run, const huddle_path *path, double used,
                              const char *used_label, const char *lead);

/* [{gamma, objective, dual, gap, groups, n_iter, stop}] of every level. */
json_t *report_levels_json(const huddle_path *path);

/* {branches: [...], least}: the tree of the larger groups. */
json_t *report_tree_json(const report_run *run, const huddle_path *path);

/* ---- repeat.c ---- */

/* Time, commands and options. Options in `hidden` (ends with NULL) are omitted. */
void report_add_repeat(report_run *run, const char *const *hidden);

#endif
