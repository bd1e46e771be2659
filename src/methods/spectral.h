/* What the spectral methods share: points to graph to embedding, and back for new points. */
#ifndef HUDDLE_SRC_SPECTRAL_H
#define HUDDLE_SRC_SPECTRAL_H

#include "methods/method.h"

/* Begins the options struct of every spectral method. */
typedef struct hd_spectral_options {
    hd_common common;
    const char *affinity; /* what x is: features, distances, precomputed,
                             precomputed_nearest_neighbors */
    huddle_prepare_options prepare;
    huddle_knn_options knn;
    huddle_weight_options weight;
    huddle_connect_options connect;
    huddle_embed_options embed;
    huddle_kmeans_options kmeans;
} hd_spectral_options;

/* The table of `affinity`, with offsets in hd_spectral_options. */
const huddle_option *hd_affinity_table(void);

/* K-means' options where tol and max_iter could mean the embedding's. */
extern const hd_rename hd_kmeans_names[];

/* The preparation of methods that choose it themselves unless told. */
extern const hd_rename hd_prepare_auto[];

/* The sections of the struct above, for a method whose options begin with it; and those for a
 * method that needs features and takes them as they are. */
#define HD_SPECTRAL_SECTIONS                                                                       \
    {hd_affinity_table, 0, NULL},                                                                  \
        {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), hd_prepare_auto},   \
        HD_GRAPH_SECTIONS
#define HD_FEATURE_SECTIONS                                                                        \
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), NULL}, HD_GRAPH_SECTIONS
#define HD_GRAPH_SECTIONS                                                                          \
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},                          \
        {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},                \
        {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL}, {            \
        huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL                     \
    }

/* From the input to the eigenvectors: fills in points, graph, scale and embedding.vectors of the
 * fit (or embedding.rows, if an embedding was given), and settles n_clusters if it is auto. */
huddle_status hd_spectral_embed(huddle_context *context, const hd_input *input,
                                const hd_spectral_options *options, hd_fit *fit,
                                huddle_range *n_clusters);

/* The same from the points that the fit holds, prepared and reduced already, for *n_clusters. What
 * an earlier call left is replaced. cache is used if fit->key names those points; else NULL. */
huddle_status hd_spectral_embed_points(huddle_context *context, huddle_cache *cache,
                                       const hd_spectral_options *options, hd_fit *fit,
                                       huddle_range *n_clusters);

/* Warns if the graph was joined, or has more components than clusters. */
void hd_warn_components(huddle_context *context, const hd_fit *fit, int32_t n_clusters);

/* Warns if the eigenvectors did not converge, could not be verified, or are one choice of many at
 * the number of clusters asked for. Every method that embeds calls it once it knows. */
void hd_warn_embedding(huddle_context *context, const huddle_embed_options *options,
                       const huddle_embed_info *info, huddle_range n_clusters);

/* The neighbours of the fit's points; with ties where rows of x were merged. Such data sit on a
 * grid, where many rows are equally near. */
huddle_status hd_find_neighbors(huddle_context *context, hd_fit *fit,
                                const huddle_knn_options *options, huddle_neighbors *neighbors);

/* The same for new points, prepared already, among those of the fit. */
huddle_status hd_query_neighbors(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                                 const huddle_knn_options *options, huddle_neighbors *neighbors);

/* The training row that new row i equals, or -1, by the lists of hd_query_neighbors(). Equal but
 * for rounding is enough: a row that was prepared in other company may differ in the last bit. */
int64_t hd_same_row(const huddle_points *x, int64_t i, const huddle_knn_options *options,
                    const huddle_neighbors *neighbors);

/* Makes embedding.rows out of the first n_clusters vectors, or all if there are fewer; a given
 * embedding stays. */
huddle_status hd_spectral_rows(const hd_spectral_options *options, int32_t n_clusters, hd_fit *fit);

/* The step of hd_fit_range() that most share: rows, then K-means on them. options is the method's
 * struct, which begins with hd_spectral_options. */
huddle_status hd_spectral_cluster(huddle_context *context, void *options, int32_t n_clusters,
                                  hd_fit *fit);

/* The fit's points if it has any, to judge labels by; else NULL. */
const huddle_points *hd_spectral_points(const hd_fit *fit);

/* Rows of the embedding for new points, by the neighbours among the training points they have:
 *
 *     f(x) = sum_j w_xj / sqrt(d_x d_j) v_j / (1 - lambda), then the row rule,
 *
 * w_xj with the copies of j as in the graph.
 *
 * same[i] is the training row that new row i equals, or -1. rows and same (n) are the caller's. */
huddle_status hd_spectral_new_rows(huddle_context *context, const hd_fit *fit,
                                   const hd_spectral_options *options, const huddle_points *x,
                                   huddle_dense *rows, int64_t *same);

/* The scale that a point's own distances to k neighbours give it; only selftune asks. */
double hd_own_scale(const huddle_scale *scale, const double *distance, int32_t k);

/* Lists of neighbours as a sparse matrix with the weights that a graph of this scale over the fit's
 * points would give new ones. */
huddle_status hd_weigh_new(const huddle_neighbors *neighbors, const huddle_scale *scale,
                           const hd_fit *fit, huddle_csr *w);

/* Labels new rows by the nearest centre, or by the training row they equal. */
huddle_status hd_spectral_assign(huddle_context *context, const hd_fit *fit,
                                 const huddle_dense *rows, const int64_t *same, int32_t *labels);

/* The two above together: the predict of a method that clusters the embedding by K-means. */
huddle_status hd_spectral_predict(huddle_context *context, const hd_fit *fit, const void *options,
                                  const huddle_points *x, int32_t *labels);

/* n_clusters by the eigengap of the points' neighbour graph, for methods without one. */
huddle_status hd_choose_clusters(huddle_context *context, const huddle_points *points,
                                 uint64_t seed, hd_fit *fit, huddle_range *n_clusters);

#endif
