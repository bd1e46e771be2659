/* The inside of a model. */
#ifndef HUDDLE_SRC_MODEL_H
#define HUDDLE_SRC_MODEL_H

#include "huddle/model.h"
#include "methods/method.h"

/* The arrays of a merged fit with a row for each row of x; see rows.c. */
typedef struct hd_model_rows hd_model_rows;

struct huddle_model {
    const hd_method *method;
    huddle_option *table;
    void *options;        /* as they are set now */
    bool *given;          /* of every row of the table: it was set, and no preset replaces it */
    void *fitted_options; /* as they were in the fit; NULL before */
    huddle_csr given_graph;
    huddle_dense given_embedding;
    huddle_cache *cache;  /* not owned; NULL: share nothing */
    char **feature_names; /* n_names, or NULL */
    int64_t n_names;
    bool keep_starts;
    bool borrows_points; /* of the caller, who keeps them */
    bool fitted;
    hd_fit fit;
    hd_model_rows *all_rows;  /* if equal rows were merged; else NULL */
    char *info;               /* of a loaded model: its JSON as it was saved; else NULL */
    const char **array_names; /* what huddle_model_arrays() returned last */
};

/* HUDDLE_FORMAT unless what the info of a loaded model repeats of its arrays is the same there:
 * n, d, n_clusters, sizes and medoids, which readers of the info use as sizes and indices. */
huddle_status hd_model_check_info(const huddle_model *model, const hd_json_value *info);

/* The caller's context, or a temporary one with all threads, which is to be freed: *made. */
huddle_status hd_model_borrow_context(huddle_context *given, huddle_context **made,
                                      huddle_context **context);

/* Reserves the threads of BLAS, before the work begins, for methods that use it. */
huddle_status hd_model_reserve_blas(const huddle_context *context, const hd_method *method);

/* HUDDLE_INVALID if the model has not been fitted. */
huddle_status hd_model_check_fitted(const huddle_model *model);

/* HUDDLE_UNSUPPORTED if rows of the fit are on other processes and the context does not reach them;
 * `what` cannot be done then. */
huddle_status hd_model_check_whole(const huddle_context *context, const huddle_model *model,
                                   const char *what);

/* Whether the rows of the fit are distributed over the processes, all of which call it. */
huddle_status hd_model_is_distributed(huddle_context *context, const huddle_model *model,
                                      bool *distributed);

/* huddle_model_save_distributed() with the bytes that process 0 gets from the others at a time. */
huddle_status hd_model_save_pieces(huddle_context *context, const huddle_model *model,
                                   const char *path, int64_t piece);

/* A copy of the options as they are set now; freed by huddle_free(). */
huddle_status hd_model_copy_options(const huddle_model *model, void **copy);

/* Stays NULL if no rows were merged. */
huddle_status hd_model_rows_new(const hd_fit *fit, hd_model_rows **rows);
void hd_model_rows_free(hd_model_rows *rows);
const int32_t *hd_model_rows_labels(hd_model_rows *rows);

/* Points with a row for each row of x, from those of the fit. */
huddle_status hd_model_expand_points(const hd_fit *fit, const huddle_points *points,
                                     huddle_points *to);

/* New points in all views, with the shifts of the fit's; they refer to those that were given, or to
 * `rebased`. */
typedef struct hd_model_new {
    int32_t count;
    huddle_points points[HD_FIT_MAX_VIEWS], rebased[HD_FIT_MAX_VIEWS];
} hd_model_new;

/* HUDDLE_INVALID unless there are as many views as the fit has, with their features and as many
 * rows each. To be closed also after a failure. */
huddle_status hd_model_open_new(huddle_context *context, const hd_fit *fit, int32_t n_views,
                                const huddle_points *x, hd_model_new *opened);
void hd_model_close_new(hd_model_new *opened);

/* The prepared points of the fit. Methods that do not keep them need x again, which is prepared
 * like new points; *points is NULL if there are none. It refers to the model, or to view; owned is
 * to be freed. */
huddle_status hd_model_find_points(huddle_context *context, const huddle_model *model,
                                   const huddle_points *x, huddle_points *owned,
                                   huddle_points *view, const huddle_points **points);

/* The rows that the method clustered: G, F or the prepared points, which may be NULL; d stays 0 if
 * there are none. owned is to be freed. */
huddle_status hd_model_clustered_rows(huddle_context *context, const hd_fit *fit,
                                      const huddle_points *points, huddle_points *owned,
                                      huddle_points *rows);

/* An archive in memory as a model; messages do not contain a file name. For huddle_model_load() and
 * the fuzz target. */
huddle_status hd_model_read(huddle_context *context, const char *bytes, int64_t size,
                            huddle_model **model);

#endif
