/* Huddle, model: the simple interface. A model has a method and options, both given by name, and,
 * after huddle_model_fit(), all results of the method.
 *
 *     huddle_model *model;
 *     huddle_model_new("ssc", &model);
 *     huddle_model_set_option(model, "n_clusters", "10");
 *     huddle_model_fit(NULL, model, &points);
 *     const int32_t *labels = huddle_model_labels(model, NULL);
 *     huddle_model_free(model);
 *
 * Models in different threads are independent of each other. To run a single stage, use its header
 * instead.
 */
#ifndef HUDDLE_MODEL_H
#define HUDDLE_MODEL_H

#include "huddle/fit.h"
#include "huddle/methods.h"
#include "huddle/refine.h"

typedef struct huddle_model huddle_model;

/* A model with every option at its default. HUDDLE_INVALID, with the nearest name, if there is no
 * such method. */
HUDDLE_API huddle_status huddle_model_new(const char *method, huddle_model **model);
HUDDLE_API void huddle_model_free(huddle_model *model);

HUDDLE_API const char *huddle_model_method(const huddle_model *model);

/* The method's options: table, setting and reading as text (see huddle/base.h). An option that is
 * set after a fit applies to the next one: predicting, reporting and saving use those of the fit.
 */
HUDDLE_API const huddle_option *huddle_model_options(const huddle_model *model);
HUDDLE_API huddle_status huddle_model_set_option(huddle_model *model, const char *name,
                                                 const char *text);
HUDDLE_API huddle_status huddle_model_get_option(const huddle_model *model, const char *name,
                                                 char *text, size_t size);

/* A graph to use instead of one made from points (option affinity specifies the meaning of its
 * entries), or an embedding to use instead of eigenvectors. Copied. HUDDLE_UNSUPPORTED if the
 * method takes none. With either, huddle_model_fit() may be called with x == NULL. */
HUDDLE_API huddle_status huddle_model_set_graph(huddle_model *model, const huddle_csr *graph);
HUDDLE_API huddle_status huddle_model_set_embedding(huddle_model *model,
                                                    const huddle_dense *embedding);

/* Names of the features, for warnings and the model's info; copied. They are used by fits to points
 * with n features. n = 0 removes them. */
HUDDLE_API huddle_status huddle_model_set_feature_names(huddle_model *model, int64_t n,
                                                        const char *const *names);

/* Shares results with other models of the same points (huddle/methods.h); NULL shares nothing. */
HUDDLE_API void huddle_model_set_cache(huddle_model *model, huddle_cache *cache);

/* Whether fits keep the labels of every restart of the last K-means, as array start_labels. */
HUDDLE_API void huddle_model_keep_starts(huddle_model *model, bool keep);

/* Whether a fitted model may go on using the points of huddle_model_fit() instead of a copy, where
 * its preparation leaves them as they are. They must then stay unchanged until the model is freed
 * or fitted again. */
HUDDLE_API void huddle_model_borrow_points(huddle_model *model, bool borrow);

/* Clusters x. A second fit replaces the first. If it fails, the model is as it was before. */
HUDDLE_API huddle_status huddle_model_fit(huddle_context *context, huddle_model *model,
                                          const huddle_points *x);

/* Clusters points of which there are several views: n_views matrices of the same rows, such as the
 * pixels and the spectra of the same images, each with features of its own, dense or sparse, one
 * struct after the other. What a view is to the methods that take several is in docs/method.md,
 * "Views"; the weights that they have are in the info. What concerns the points as such is that of
 * the first view: array points, medoids, silhouettes, names of features, huddle_model_shift(). Rows
 * are equal if they are in every view. One view is huddle_model_fit(). HUDDLE_INVALID if the views
 * have different numbers of rows, or there are more than 16; HUDDLE_UNSUPPORTED if the method takes
 * one view, if a graph or an embedding is given, or if rows are distributed over processes. */
HUDDLE_API huddle_status huddle_model_fit_views(huddle_context *context, huddle_model *model,
                                                int32_t n_views, const huddle_points *views);

/* The number of views that the model was fitted to; 0 before a fit, 1 after huddle_model_fit(). */
HUDDLE_API int32_t huddle_model_views(const huddle_model *model);

/* The labels, 0 .. n_clusters - 1; n may be NULL. NULL before a fit. Owned by the model.
 *
 * Clusters are numbered by their first member: cluster 0 contains the first row, cluster 1 the
 * first row that is not in cluster 0, and so on; empty clusters come last. On several processes the
 * rows are those of all. Range labels and restarts are numbered likewise, each for itself;
 * unrefined_labels, centres, medoids and sizes have the numbers of the labels, and so do predicted
 * labels and columns of distances. */
HUDDLE_API const int32_t *huddle_model_labels(const huddle_model *model, int64_t *n);

/* Computes scores of the fit that need no classes (see huddle_fit_scores); they are in the info
 * from then on. x is what was given to the fit; without it, a score that needs it stays NaN. */
HUDDLE_API huddle_status huddle_model_score(huddle_context *context, huddle_model *model,
                                            const huddle_points *x);

/* How certain each label is, from 0 (as near to another cluster) to 1 (at the mean of its own), one
 * value for each row that was fitted (docs/method.md, "Scores"). With a the distance of a row to
 * the mean of its cluster and b that to the nearest mean of another, it is 1 - a / b, or 0 if
 * a >= b. Means are those of the final labels. Distances are those of the rows that the labels come
 * from: G, the shrunk embedding, or F without a shrink step or if the guard discarded it; the
 * prepared points if the method clusters points or K-means was preferred to the graph. x is what
 * was given to the fit; methods that keep no points (kmeans) need it. On several processes every
 * one gets the values of its rows. HUDDLE_INVALID before a fit, or if x is needed and missing. */
HUDDLE_API huddle_status huddle_model_confidence(huddle_context *context, const huddle_model *model,
                                                 const huddle_points *x, double *confidence);

/* The silhouette of each row that was fitted, among all of them, with distances of the prepared
 * points (huddle_metrics_silhouette_samples()); x as above. HUDDLE_INVALID without points. */
HUDDLE_API huddle_status huddle_model_silhouettes(huddle_context *context,
                                                  const huddle_model *model, const huddle_points *x,
                                                  double *silhouettes);

/* Any result by name, as a view that is valid until the next fit: points (prepared), graph,
 * embedding, eigenvalues, shrink_graph, shrunk, groups, objective and dual (one number per
 * iteration of the shrinking), labels, unrefined_labels (of the method itself, if they
 * were refined), centres (of the method's own step, also where labels were refined), start_labels
 * (one row per restart, if they are kept; methods that do not end with K-means have none, and one
 * whose K-means continues from given centres has one), range_labels (one column per number of
 * clusters tried). HUDDLE_INVALID, with the names there are, if the method made no such array. */
HUDDLE_API huddle_status huddle_model_array(const huddle_model *model, const char *name,
                                            huddle_array *view);

/* The names that huddle_model_array() takes now; ends with NULL. Owned by the model. */
HUDDLE_API const char *const *huddle_model_arrays(huddle_model *model);

/* Results of the stages, of a fitted or a loaded model; NULL if the method has no such stage, and
 * before a fit. Owned by the model and valid until its next fit. */
HUDDLE_API const huddle_prepare_info *huddle_model_prepare_info(const huddle_model *model);
HUDDLE_API const huddle_knn_info *huddle_model_knn_info(const huddle_model *model);
HUDDLE_API const huddle_connect_info *huddle_model_connect_info(const huddle_model *model);
HUDDLE_API const huddle_embed_info *huddle_model_embed_info(const huddle_model *model);
HUDDLE_API const huddle_shrink_info *huddle_model_shrink_info(const huddle_model *model);
HUDDLE_API const huddle_kmeans_info *huddle_model_kmeans_info(const huddle_model *model);
HUDDLE_API const huddle_refine_info *huddle_model_refine_info(const huddle_model *model);
HUDDLE_API const huddle_rotation_info *huddle_model_rotation_info(const huddle_model *model);
HUDDLE_API const huddle_alternation_info *huddle_model_alternation_info(const huddle_model *model);

/* The candidates when n_clusters was auto; the trials when it was a range (*count of them); the
 * scores after huddle_model_score(). NULL if there are none. */
HUDDLE_API const huddle_embed_choice *huddle_model_choice(const huddle_model *model);
HUDDLE_API const huddle_trial *huddle_model_trials(const huddle_model *model, int32_t *count);
HUDDLE_API const huddle_fit_scores *huddle_model_scores(const huddle_model *model);

/* The model's info: all of these as a JSON object, with options, times, cluster sizes, medoids and
 * warnings (as strings, and as the names of their codes); freed by huddle_free(). */
HUDDLE_API huddle_status huddle_model_info_json(const huddle_model *model, char **json);

/* The shift of the points the model was fitted to (d doubles, owned by the model), or NULL if they
 * had none. *d (d may be NULL) is their number of features, or 0 if the shift is not known: before
 * a fit, after a fit to sparse points or without points. New points made with it
 * (huddle_points_from_double_shifted(), huddle_read_options) are rounded as the training points
 * were. */
HUDDLE_API const double *huddle_model_shift(const huddle_model *model, int64_t *d);

/* The same of a view, counted from 0. */
HUDDLE_API const double *huddle_model_view_shift(const huddle_model *model, int32_t view,
                                                 int64_t *d);

/* Labels for new points, one for each row of x, whose label does not depend on the other rows.
 * Points with another shift than the model's are converted to the model's first. */
HUDDLE_API huddle_status huddle_model_predict(huddle_context *context, const huddle_model *model,
                                              const huddle_points *x, int32_t *labels);

/* The same for new points with the views of the fit, in its order. HUDDLE_INVALID if there are not
 * as many, or one has other features. */
HUDDLE_API huddle_status huddle_model_predict_views(huddle_context *context,
                                                    const huddle_model *model, int32_t n_views,
                                                    const huddle_points *views, int32_t *labels);

/* Coordinates of new points, one row for each row of x, which does not depend on the others: for
 * methods with an embedding their rows of it (docs/method.md, "New points"), where a point that
 * equals a training point has the row of that; for methods that cluster points the distances to the
 * centres, one column for each. rows owns nothing before and is to be freed. HUDDLE_UNSUPPORTED for
 * a model fitted to a graph, and if rows are distributed over processes. */
HUDDLE_API huddle_status huddle_model_transform(huddle_context *context, const huddle_model *model,
                                                const huddle_points *x, huddle_dense *rows);

/* The same for new points with the views of the fit. */
HUDDLE_API huddle_status huddle_model_transform_views(huddle_context *context,
                                                      const huddle_model *model, int32_t n_views,
                                                      const huddle_points *views,
                                                      huddle_dense *rows);

/* A fitted model in a file: a zip archive of NPY arrays and model.json; numpy.load() opens the
 * arrays. Loading checks versions, checksums and sizes: HUDDLE_FORMAT for a damaged or foreign
 * file, HUDDLE_UNSUPPORTED for one of another version. */
HUDDLE_API huddle_status huddle_model_save(const huddle_model *model, const char *path);
HUDDLE_API huddle_status huddle_model_load(const char *path, huddle_model **model);

/* The same for a model with distributed rows (engine mpi); all processes call it. No
 * process ever has the rows of all: process 0 writes the file and gets the rows of the others in
 * pieces; a process that loads the file reads the rows that it would have of a data file, and the
 * model predicts with those of all. The file is the same as that of one process, and either can
 * load what the other has saved. Dual vectors and the labels of single restarts are left out. Every
 * process gets a whole model where methods or files do not allow for parts: methods other than
 * kmeans, sc and ssc, and files of one process in which equal rows were merged. Without processes
 * these are huddle_model_save() and huddle_model_load(). */
HUDDLE_API huddle_status huddle_model_save_distributed(huddle_context *context,
                                                       const huddle_model *model, const char *path);
HUDDLE_API huddle_status huddle_model_load_distributed(huddle_context *context, const char *path,
                                                       huddle_model **model);

#endif
