/* Huddle, model: the simple way in. A model is a method by name, its options by name, and after
 * huddle_model_fit() everything the method found.
 *
 *     huddle_model *model;
 *     huddle_model_new("ssc", &model);
 *     huddle_model_set_option(model, "n_clusters", "10");
 *     huddle_model_fit(NULL, model, &points);
 *     const int32_t *labels = huddle_model_labels(model, NULL);
 *     huddle_model_free(model);
 *
 * Two models in two threads do not meet. Who wants a single stage uses its header instead.
 */
#ifndef HUDDLE_MODEL_H
#define HUDDLE_MODEL_H

#include "huddle/methods.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct huddle_model huddle_model;

/* A model with every option at its default. HUDDLE_INVALID, with the nearest name, if there is no
 * such method. */
HUDDLE_API huddle_status huddle_model_new(const char *method, huddle_model **model);
HUDDLE_API void huddle_model_free(huddle_model *model);

HUDDLE_API const char *huddle_model_method(const huddle_model *model);

/* The method's options: table, setting and reading as text (see huddle/base.h). What is set after a
 * fit is for the next one: predicting, reporting and saving go by the options of the fit. */
HUDDLE_API const huddle_option *huddle_model_options(const huddle_model *model);
HUDDLE_API huddle_status huddle_model_set_option(huddle_model *model, const char *name,
                                                 const char *text);
HUDDLE_API huddle_status huddle_model_get_option(const huddle_model *model, const char *name,
                                                 char *text, size_t size);

/* Gives the method a graph instead of letting it build one (option affinity says what its numbers
 * mean), or an embedding instead of letting it find one. Copied. HUDDLE_UNSUPPORTED if the method
 * has no use for it. With either, huddle_model_fit() may be called with x == NULL. */
HUDDLE_API huddle_status huddle_model_set_graph(huddle_model *model, const huddle_csr *graph);
HUDDLE_API huddle_status huddle_model_set_embedding(huddle_model *model,
                                                    const huddle_dense *embedding);

/* Names of the features, for warnings and the report; copied. They are used by fits to points with
 * n features. n = 0 forgets them. */
HUDDLE_API huddle_status huddle_model_set_feature_names(huddle_model *model, int64_t n,
                                                        const char *const *names);

/* Shares work with other models of the same points (huddle/methods.h); NULL shares nothing. */
HUDDLE_API void huddle_model_set_cache(huddle_model *model, huddle_cache *cache);

/* Whether fits keep the labels of every restart of the last K-means, as array start_labels. */
HUDDLE_API void huddle_model_keep_starts(huddle_model *model, bool keep);

/* Clusters x. A second fit forgets the first. If it fails, the model is as it was before. */
HUDDLE_API huddle_status huddle_model_fit(huddle_context *context, huddle_model *model,
                                          const huddle_points *x);

/* The labels, 0 .. n_clusters - 1; n may be NULL. NULL before a fit. Owned by the model. */
HUDDLE_API const int32_t *huddle_model_labels(const huddle_model *model, int64_t *n);

/* Label-free scores of the fit (silhouette of the prepared points, normalised cut on the graph
 * if there is one, stability under other seeds); they appear in the report from then on. x is
 * what was given to the fit; without it, a score that needs it stays unknown. */
HUDDLE_API huddle_status huddle_model_score(huddle_context *context, huddle_model *model,
                                            const huddle_points *x);

/* An array inside the model. */
typedef enum huddle_array_type {
    HUDDLE_ARRAY_NONE = 0,
    HUDDLE_ARRAY_F32,
    HUDDLE_ARRAY_F64,
    HUDDLE_ARRAY_I32,
    HUDDLE_ARRAY_CSR /* values are double, with offsets and columns */
} huddle_array_type;

typedef struct huddle_array {
    huddle_array_type type;
    int64_t rows, cols, stride;
    const void *values;
    const int64_t *offsets; /* sparse only */
    const int32_t *columns; /* sparse only */
} huddle_array;

/* Any intermediate by name, as a view that lives until the next fit: points (prepared), graph,
 * embedding, eigenvalues, shrink_graph, shrunk, groups, labels, centres, objective and dual (one
 * number an iteration of the shrinking), range_labels (a column for each number of clusters
 * tried), start_labels (a row for each restart, if they are kept; methods that do not end with
 * K-means have none, and one whose K-means goes on from given centres has one). HUDDLE_INVALID,
 * with the names there are, if the method made no such thing. */
HUDDLE_API huddle_status huddle_model_array(const huddle_model *model, const char *name,
                                            huddle_array *view);

/* The names huddle_model_array() would take now; ends with NULL. Owned by the model. */
HUDDLE_API const char *const *huddle_model_arrays(huddle_model *model);

/* What was done and how well, as a JSON object; freed by huddle_free(). */
HUDDLE_API huddle_status huddle_model_info_json(const huddle_model *model, char **json);

/* The shift of the points the model was fitted to (d doubles, owned by the model), or NULL if they
 * had none. *d (d may be NULL) is their number of features, or 0 if the shift is not known: before
 * a fit, after a fit to sparse points or none, in a file of version 0.1. New points made with it
 * (huddle_points_from_double_shifted(), huddle_read_options) are rounded as the training points
 * were. */
HUDDLE_API const double *huddle_model_shift(const huddle_model *model, int64_t *d);

/* Labels for new points, one for each row of x, whose label does not depend on the other rows.
 * Points with another shift than the model's are brought to the model's first. */
HUDDLE_API huddle_status huddle_model_predict(huddle_context *context, const huddle_model *model,
                                              const huddle_points *x, int32_t *labels);

/* A fitted model in a file: HDF5 with a version and a checksum. Loading refuses a damaged or
 * foreign file with a sentence. */
HUDDLE_API huddle_status huddle_model_save(const huddle_model *model, const char *path);
HUDDLE_API huddle_status huddle_model_load(const char *path, huddle_model **model);

#ifdef __cplusplus
}
#endif

#endif
