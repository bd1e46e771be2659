/* Huddle, path: the shrink problem for every gamma, from exact fit to collapse.
 *
 * At small gamma every row of G stays at its row of F, at large gamma each component of W is one
 * point; both ends are computed (huddle_shrink_ends). Between them the groups of fused rows form a
 * tree, from small to large gamma. Groups may split again as gamma grows, so the
 * fusion of two rows is defined by
 *
 *     fused-at(i, j) = the smallest gamma of the path from which on i and j remain together
 *
 * which always forms a tree.
 */
#ifndef HUDDLE_PATH_H
#define HUDDLE_PATH_H

#include "huddle/shrink.h"

/* Start from huddle_path_defaults(). */
typedef struct huddle_path_options {
    int32_t n_gamma;              /* levels, evenly spaced in log gamma */
    huddle_shrink_options shrink; /* gap, loss, solver ...; gamma and start are set by the path */
    const double *gammas;         /* n_gamma positive numbers, ascending, to use instead; or NULL */
    bool keep_shrunk;             /* keep G of every level */
} huddle_path_options;

/* One gamma. */
typedef struct huddle_path_level {
    double gamma, objective, dual, gap;
    int32_t n_groups, n_iter;
    huddle_stop stop;
} huddle_path_level;

/* Two trees become one: a and b are rows (0 .. n - 1) or earlier fusions (n + their index). */
typedef struct huddle_path_fusion {
    int32_t a, b;
    double gamma;
    int64_t size; /* rows in it */
} huddle_path_fusion;

typedef struct huddle_path {
    int64_t n;
    int32_t n_levels;
    double gamma_fit, gamma_up;  /* the two ends */
    huddle_path_level *levels;   /* ascending gamma */
    int32_t *groups;             /* n_levels x n: groups of level l from groups + l * n; or NULL */
    huddle_dense *shrunk;        /* with keep_shrunk: G of each level; else NULL */
    huddle_path_fusion *fusions; /* ascending gamma; many rows fused at once are several entries */
    int64_t n_fusions;           /* n minus the number of trees that remain at the last level */
} huddle_path;

/* The level from which labels were taken. */
typedef struct huddle_path_choice {
    int32_t level;   /* of the path; -1 if no level has n_clusters large groups */
    double gamma;    /* of that level, 0 if there is none */
    int32_t n_found; /* large groups there; if level is -1, the most that any level has */
} huddle_path_choice;

/* The path's own options; the others are those of shrink. */
HUDDLE_API const huddle_option *huddle_path_options_table(void);
HUDDLE_API huddle_path_options huddle_path_defaults(void);

/* Solves the levels in turn, each from the one before. Without a grid of your own they run from
 * gamma_fit ("l2": 1e-4 gamma_up) to gamma_up or 1e3 n / c, whichever is smaller, c =
 * options->shrink.n_clusters or the columns of f. Fails as huddle_shrink() does, and with
 * HUDDLE_UNSUPPORTED under an engine that distributes the rows over processes. */
HUDDLE_API huddle_status huddle_shrink_path(huddle_context *context, const huddle_dense *f,
                                            const huddle_csr *w, const huddle_path_options *options,
                                            huddle_path *out);

/* The path of many rows: the levels options->gammas, which must be given, are solved on aggregates
 * of about five neighbouring rows, and G of each is kept. Objective, bound and gap are those of all
 * rows; levels whose gap is larger than max_gap are left out. Levels of `known`, which may be NULL,
 * are not solved: they are taken from there, with their G. Of the other options loss and gap have
 * an effect.
 * The ends of gamma are not computed, and out->groups is NULL. The tree is that of the levels
 * solved here; the rows of an aggregate fuse at the first of them. Fails as huddle_shrink_path().
 */
HUDDLE_API huddle_status huddle_shrink_path_coarse(huddle_context *context, const huddle_dense *f,
                                                   const huddle_csr *w,
                                                   const huddle_path_options *options,
                                                   const huddle_path *known, double max_gap,
                                                   huddle_path *out, int32_t *n_aggregates);

/* Labels for n_clusters groups, without K-means. Taken from the coarsest level that has at least
 * n_clusters groups of at least max(2, .05 n / n_clusters) rows: the n_clusters largest are the
 * clusters, and every other row joins the one whose mean row of x is nearest (x: F, or G of that
 * level). If no level has that many, the level with the most is used, labels are 0 .. n_found - 1
 * and choice->level is -1. Clusters are numbered by their first member. */
HUDDLE_API huddle_status huddle_path_labels(huddle_context *context, const huddle_path *path,
                                            const huddle_dense *x, int32_t n_clusters,
                                            int32_t *labels, huddle_path_choice *choice);

/* The tree of the path as a linkage matrix of SciPy (scipy.cluster.hierarchy): n - 1 rows of the
 * two parts, gamma, and the number of rows. Trees that remain separate at the end of the path are
 * joined at ten times its last gamma, because a linkage is one tree of finite height.
 * HUDDLE_INVALID if the path is empty; HUDDLE_NO_MEMORY. */
HUDDLE_API huddle_status huddle_path_linkage(const huddle_path *path, huddle_dense *linkage);

HUDDLE_API void huddle_path_free(huddle_path *path);

#endif
