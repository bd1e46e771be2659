/* What the spectral methods share: from points to a graph to an embedding, for new points too. */
#ifndef HUDDLE_SRC_SPECTRAL_H
#define HUDDLE_SRC_SPECTRAL_H

#include "methods/cache.h"

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
    const char *refine; /* auto, none, graph; NULL: a method without refinement (refining.h) */
    bool few_vectors;   /* refinement has no eigenvectors beyond those of F, to save memory */
} hd_spectral_options;

/* The table of `affinity`, with offsets in hd_spectral_options. */
const huddle_option *hd_spectral_affinity_table(void);

/* The table of `refine`, likewise. */
const huddle_option *hd_spectral_refine_table(void);

/* K-means' options where tol and max_iter could mean the embedding's. */
extern const hd_rename hd_spectral_kmeans_names[];

/* The preparation of methods whose default is to choose it themselves. */
extern const hd_rename hd_spectral_prepare_names[];

/* The sections of the struct above, for a method whose options begin with it; and those for a
 * method that needs features and takes them as they are. */
#define HD_SPECTRAL_SECTIONS                                                                       \
    {hd_spectral_affinity_table, 0, NULL},                                                         \
        {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare),                     \
         hd_spectral_prepare_names},                                                               \
        HD_GRAPH_SECTIONS
#define HD_FEATURE_SECTIONS                                                                        \
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), NULL}, HD_GRAPH_SECTIONS
#define HD_GRAPH_SECTIONS                                                                          \
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},                          \
        {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},                \
        {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL}, {            \
        huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL                     \
    }

/* The default options of every stage, for choices that a method makes on the side. */
hd_spectral_options hd_spectral_defaults(huddle_range n_clusters, uint64_t seed);

/* ---- the whole way ------------------------------------------------------------------------- */

/* From what the fit is given to the eigenvectors: fills in points, graph and eigenvectors of the
 * fit (or embedding.f.rows, if an embedding was given), and settles n_clusters if it is auto. key,
 * empty but for its cache, names the embedding afterwards. */
huddle_status hd_spectral_embed(huddle_context *context, const hd_fit_job *job,
                                const hd_spectral_options *options, hd_cache_key *key, hd_fit *fit,
                                huddle_range *n_clusters);

/* The same from the points that the fit has, prepared and reduced already, for *n_clusters. What
 * an earlier call left is replaced. key names those points. */
huddle_status hd_spectral_embed_points(huddle_context *context, const hd_spectral_options *options,
                                       hd_cache_key *key, hd_fit *fit, huddle_range *n_clusters);

/* A plan (hd_fit_range) that scores trials by the fit's points and graph, if it has them. */
hd_fit_trial_plan hd_spectral_plan(const hd_fit *fit,
                                   huddle_status (*cluster)(huddle_context *context, void *argument,
                                                            int32_t n_clusters, hd_fit *fit),
                                   void *argument);

/* The clustering step that most share: rows, then K-means on them. options is the method's struct,
 * which begins with hd_spectral_options. */
huddle_status hd_spectral_cluster(huddle_context *context, void *options, int32_t n_clusters,
                                  hd_fit *fit);

/* n_clusters by the eigengap of the points' neighbour graph, for methods without one. */
huddle_status hd_spectral_choose_clusters(huddle_context *context, const huddle_points *points,
                                          uint64_t seed, huddle_embed_choice *choice,
                                          huddle_range *n_clusters);

/* The same for a method with option refine: the graph has short bridges unless it is none. */
huddle_status hd_spectral_choose_for_refined(huddle_context *context, const huddle_points *points,
                                             uint64_t seed, const char *refine,
                                             huddle_embed_choice *choice, huddle_range *n_clusters);

/* Adds the options that determine the choice of prepare = auto by refined labels, besides those of
 * the graph. */
void hd_spectral_add_choice_to_key(const hd_spectral_options *options, hd_cache_key *key);

/* ---- its steps, on parts of a fit --------------------------------------------------------------
 */

/* The neighbours of points; with ties where rows of x were merged. Such data lie on a grid, where
 * many rows are equally near. */
huddle_status hd_spectral_find_neighbors(huddle_context *context, const hd_fit_rows *rows,
                                         const huddle_points *points,
                                         const huddle_knn_options *options,
                                         huddle_neighbors *neighbors, huddle_knn_info *info);

/* A of the points, which are those of the rows: neighbours, weights, bridges, copies. graph is
 * replaced. */
huddle_status hd_spectral_make_graph(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, const hd_fit_rows *rows,
                                     const huddle_points *points, hd_fit_graph *graph);

/* A of the square matrix that the job has: given graph, distances or similarities. Equal points of
 * a matrix of all distances are merged. */
huddle_status hd_spectral_make_matrix_graph(huddle_context *context, const hd_fit_job *job,
                                            const hd_spectral_options *options,
                                            huddle_range n_clusters, hd_fit_rows *rows,
                                            hd_fit_graph *graph);

/* Clusters for which the graph should be connected: the first of the range. */
int32_t hd_spectral_connect_clusters(huddle_range n_clusters, const hd_fit_rows *rows);

/* Whether the graph has short bridges (huddle/graph.h): the number of clusters is to be chosen, and
 * a cluster may have fallen into several components. */
bool hd_spectral_joins_pieces(const hd_spectral_options *options, huddle_range n_clusters);

/* Columns of the embedding for n_clusters: one per cluster, two with row rule "commute". */
int64_t hd_spectral_count_columns(const char *row_rule, int32_t n_clusters);

/* Eigenvectors to find: those of the columns; if there is a choice, one more than could be chosen,
 * for the eigengap after the last. Refinement needs those of commute rows. */
int32_t hd_spectral_count_vectors(const hd_spectral_options *options, huddle_range n_clusters,
                                  const hd_fit_rows *rows);

huddle_status hd_spectral_find_vectors(huddle_context *context, const hd_spectral_options *options,
                                       int32_t n_components, const huddle_csr *graph,
                                       hd_fit_embedding *embedding);

/* Measures the extents of the eigenvectors, for the eigengap rule. */
huddle_status hd_spectral_measure_extents(huddle_context *context, const hd_fit_rows *rows,
                                          hd_fit_embedding *embedding);

/* n_clusters by the eigengap rule, if it is auto. */
huddle_status hd_spectral_choose(const hd_fit_embedding *embedding, const hd_fit_rows *rows,
                                 huddle_embed_choice *choice, huddle_range *n_clusters);

/* Makes embedding.f.rows for n_clusters out of the first vectors, or all if there are fewer than
 * columns; a given embedding stays. */
huddle_status hd_spectral_make_rows(const hd_spectral_options *options, int32_t n_clusters,
                                    hd_fit_embedding *embedding);

/* Applies a row rule to vectors whose degrees are all 1, so that "rw" is "sym"; f may be vectors.
 * eigenvalues is needed for "commute" only, at least one per column of f. */
huddle_status hd_spectral_apply_rule(const char *rule, const huddle_dense *vectors,
                                     const double *eigenvalues, huddle_dense *f);

/* Warns if the graph was joined, or has more components than clusters. */
void hd_spectral_warn_components(huddle_context *context, const huddle_connect_info *info,
                                 int32_t n_clusters);

/* Warns if the eigenvectors did not converge, could not be verified, or depend on an arbitrary
 * choice at the number of clusters asked for (with row rule "commute": after the last of them). */
void hd_spectral_warn_embedding(huddle_context *context, const huddle_embed_options *options,
                                const huddle_embed_info *info, huddle_range n_clusters);

/* ---- new points ---------------------------------------------------------------------------- */

/* As hd_spectral_find_neighbors(), for new points, prepared already, among those of the fit. */
huddle_status hd_spectral_query_neighbors(huddle_context *context, const hd_fit *fit,
                                          const huddle_points *x, const huddle_knn_options *options,
                                          huddle_neighbors *neighbors);

/* The training row that new row i equals, or -1, by the lists of the call above. Equal but for
 * rounding is sufficient: a row that was prepared in another batch may differ in the last bit. */
int64_t hd_spectral_same_row(const huddle_points *x, int64_t i, const huddle_knn_options *options,
                             const huddle_neighbors *neighbors);

/* Rows of the embedding for new points, by the neighbours among the training points they have:
 *
 *     f(x) = sum_j w_xj / sqrt(d_x d_j) v_j / (1 - lambda), then the row rule,
 *
 * w_xj with the copies of j as in the graph.
 *
 * same[i] is the training row that new row i equals, or -1; if rows are spread over processes, the
 * label of that row. rows and same (n) are the caller's. */
huddle_status hd_spectral_new_rows(huddle_context *context, const hd_fit *fit,
                                   const hd_spectral_options *options, const huddle_points *x,
                                   huddle_dense *rows, int64_t *same);

/* The same as the place of a method. */
huddle_status hd_spectral_place(huddle_context *context, const hd_fit *fit, const void *options,
                                const huddle_points *x, huddle_dense *rows, int64_t *same);

/* The scale that a point's own distances to k neighbours give it; only selftune uses it. */
double hd_spectral_own_scale(const huddle_scale *scale, const double *distance, int32_t k);

/* Lists of neighbours as a sparse matrix with the weights that a graph of this scale over the fit's
 * points would give new ones. */
huddle_status hd_spectral_weigh_new(const huddle_neighbors *neighbors, const huddle_scale *scale,
                                    const hd_fit *fit, huddle_csr *w);

/* Labels new rows by the nearest centre, or by the training row they equal. */
huddle_status hd_spectral_assign(huddle_context *context, const hd_fit *fit,
                                 const huddle_dense *rows, const int64_t *same, int32_t *labels);

/* hd_spectral_new_rows() and hd_spectral_assign() together: the predict of a method that clusters
 * the embedding by K-means. */
huddle_status hd_spectral_predict(huddle_context *context, const hd_fit *fit, const void *options,
                                  const huddle_points *x, int32_t *labels);

#endif
