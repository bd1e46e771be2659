/* What the methods of local learning share. Around each point a small problem is solved on its
 * neighbours; together these give a positive semidefinite matrix T, the eigenvectors of whose
 * smallest eigenvalues are the embedding, and a rule that predicts the row of any point from
 * those of its neighbours. */
#ifndef HUDDLE_SRC_METHODS_LOCAL_H
#define HUDDLE_SRC_METHODS_LOCAL_H

#include "methods/spectral.h"

/* What rows learn from. All of it is read only. */
typedef struct hd_method_learning {
    const huddle_points *points; /* training */
    const huddle_scale *scale;
    const huddle_neighbors *neighbors; /* of each row among them */
    const huddle_csr *bridges;         /* more neighbours and their distances, or NULL */
    const void *options;               /* of the method; they begin with hd_spectral_options */
} hd_method_learning;

/* The number of neighbours of a row, bridges included, and the largest of any row. */
int64_t hd_method_local_count(const hd_method_learning *learning, int64_t row);
int64_t hd_method_local_most(const hd_method_learning *learning);

/* The neighbours of a row and their distances, followed by those over bridges; their number. */
int32_t hd_method_local_neighbors(const hd_method_learning *learning, int64_t row, int32_t *index,
                                  double *distances);

/* The coefficients by which a row is predicted from its `count` neighbours. values has their
 * distances before; scratch has room for (count + 1)^2 numbers. */
typedef void hd_method_local_row(const hd_method_learning *learning, int64_t row, int32_t count,
                                 const int32_t *index, double *values, double *scratch);

/* All of them: one row for each list of neighbours, one column for each training point. */
huddle_status hd_method_local_predictors(huddle_context *context,
                                         const hd_method_learning *learning,
                                         hd_method_local_row *rule, huddle_csr *a);

typedef struct hd_method_local {
    /* I - T, symmetric to the last bit, and a lower bound of its spectrum. */
    huddle_status (*matrix)(huddle_context *context, const hd_method_learning *learning,
                            huddle_csr *matrix, double *lower);
    /* The predictors of new rows. */
    huddle_status (*predictors)(huddle_context *context, const hd_method_learning *learning,
                                huddle_csr *a);
} hd_method_local;

/* Fits and places new points; options begin with hd_spectral_options, of which a fit settles what
 * is "auto". New rows are predicted from the training rows around them. */
huddle_status hd_method_local_fit(hd_method_run *run, const hd_method_local *how, void *options);
huddle_status hd_method_local_place(huddle_context *context, const hd_fit *fit,
                                    const hd_method_local *how, const void *options,
                                    const huddle_points *x, huddle_dense *rows, int64_t *same);

/* The first and the last step of a fit whose embedding is not that of its graph: points, merged,
 * and the number of clusters; then clusters by the embedding, refined on the graph, whose
 * eigenvectors are computed for that. by_gap: of a range of numbers the eigengap chooses, not the
 * silhouette. */
huddle_status hd_method_local_begin(hd_method_run *run, hd_spectral_options *options);
huddle_status hd_method_local_cluster(hd_method_run *run, const hd_spectral_options *options,
                                      bool by_gap);

/* Converts eigenvalues of upper I - T to those of T. Degrees of 1 make the row rule `rw` equal to
 * `sym`: new points have no degree. */
huddle_status hd_method_local_set_eigenvalues(double upper, hd_fit_embedding *embedding);

/* The sections of a method whose own options are in `table`. */
#define HD_METHOD_LOCAL_SECTIONS(table)                                                            \
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare),                         \
     hd_method_prepare_names},                                                                     \
        {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},                      \
        {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},                \
        {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL},              \
        {table, 0, NULL},                                                                          \
        {huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL},                  \
        {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans),                       \
         hd_method_kmeans_names},                                                                  \
    {                                                                                              \
        hd_method_refine_table, 0, NULL                                                            \
    }

#endif
