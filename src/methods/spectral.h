/* What the spectral methods share: from points to a graph to an embedding. */
#ifndef HUDDLE_SRC_METHODS_SPECTRAL_H
#define HUDDLE_SRC_METHODS_SPECTRAL_H

#include "methods/cluster.h"

/* ---- options ------------------------------------------------------------------------------- */

/* The table of `affinity`, with offsets in hd_spectral_options (steps/options.h). */
const huddle_option *hd_method_affinity_table(void);

/* The tables of `duplicates` and `refine`, likewise. */
const huddle_option *hd_method_duplicates_table(void);
const huddle_option *hd_method_refine_table(void);

/* K-means' options where tol and max_iter could mean the embedding's. */
extern const hd_method_rename hd_method_kmeans_names[];

/* The preparation of methods whose default is to choose it themselves. */
extern const hd_method_rename hd_method_prepare_names[];

/* The sections of that struct, for a method whose options begin with it; and those for a
 * method that needs features and takes them as they are. */
#define HD_METHOD_SPECTRAL_SECTIONS                                                                \
    {hd_method_affinity_table, 0, NULL},                                                           \
        {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare),                     \
         hd_method_prepare_names},                                                                 \
        {hd_method_duplicates_table, 0, NULL}, HD_METHOD_GRAPH_SECTIONS
#define HD_METHOD_FEATURE_SECTIONS                                                                 \
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), NULL},                  \
        HD_METHOD_GRAPH_SECTIONS
#define HD_METHOD_GRAPH_SECTIONS                                                                   \
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},                          \
        {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},                \
        {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL}, {            \
        huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL                     \
    }

/* ---- steps --------------------------------------------------------------------------------- */

/* Prepares x and makes its graph, or the graph of a given matrix, which has no points; does neither
 * if an embedding was given. Of several views a method with HD_METHOD_VIEW_GRAPHS gets the graph of
 * each and none of the fit. */
huddle_status hd_method_prepare_graph(hd_method_run *run, const hd_spectral_options *options);

/* The eigenvectors of the fit's graph (or embedding.f.rows, if an embedding was given), and the
 * number of clusters, chosen by the eigengap if it is auto. */
huddle_status hd_method_embed(hd_method_run *run, const hd_spectral_options *options);

/* Graph and eigenvectors of the points that the fit has, prepared and reduced already. What an
 * earlier call left is replaced. */
huddle_status hd_method_embed_points(hd_method_run *run, const hd_spectral_options *options);

/* How the method clusters (methods/cluster.h): trials are scored by the fit's points and graph, if
 * it has them. refined: options of a method that may refine its labels, by the eigenvectors of the
 * fit unless another laplacian is set; or NULL. */
hd_method_clustering hd_method_clustering_of(const hd_fit *fit, hd_method_cluster_step *cluster,
                                             void *argument, const hd_spectral_options *refined);

/* The clustering step that most share: rows, then K-means on them. options is the method's struct,
 * which begins with hd_spectral_options. */
hd_method_cluster_step hd_method_cluster_rows;

#endif
