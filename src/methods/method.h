/* Methods: the only place that knows the order of the stages.
 *
 * A method is one file of this folder, NAME.c, that defines `const hd_method hd_method_NAME`; the
 * build collects them, and the tool, the model and the documents find it by its name. Files whose
 * names begin with common_ contain what several methods share. What a fit leaves behind is in
 * fit/fit.h. */
#ifndef HUDDLE_SRC_METHOD_H
#define HUDDLE_SRC_METHOD_H

#include "fit/fit.h"
#include "huddle/methods.h"

/* ---- options ------------------------------------------------------------------------------- */

/* Every method's options struct begins with these. */
typedef struct hd_common {
    huddle_range n_clusters;
    uint64_t seed;
} hd_common;

const huddle_option *hd_common_table(void);

/* A stage's option under another name, with another default or help text (NULL: the stage's). */
typedef struct hd_rename {
    const char *from, *to; /* from == NULL ends the list */
    const char *value, *help;
} hd_rename;

/* A stage's options inside a method's. All of the stage's table is taken, except n_clusters,
 * n_components and seed, which are the method's own; with `renames`, only what it lists. */
typedef struct hd_section {
    const huddle_option *(*table)(void); /* NULL ends the list */
    size_t offset;                       /* of the stage's struct in the method's */
    const hd_rename *renames;
} hd_section;

/* ---- methods ------------------------------------------------------------------------------- */

/* What a fit is given. x is NULL only if a graph or an embedding is there instead. */
typedef struct hd_fit_job {
    const huddle_points *x;
    const huddle_csr *graph;
    const huddle_dense *embedding;
    huddle_cache *cache; /* to share results with other fits of the same x, or NULL */
    hd_common common;    /* as the method's options have it */
    /* Of a method that may refine its labels: prepare = auto then compares refined labels. Or
     * NULL. */
    const struct hd_spectral_options *spectral;
    bool keep_starts; /* K-means keeps the labels of every restart */
} hd_fit_job;

struct hd_memory_case;
struct hd_memory_plan;

typedef struct hd_method {
    huddle_method_text text;
    size_t options_size;
    const hd_section *sections;
    bool takes_graph; /* a graph or an embedding can be given */
    bool spreads;     /* rows can be spread over processes */
    huddle_status (*fit)(huddle_context *context, const hd_fit_job *job, const void *options,
                         hd_fit *fit);
    huddle_status (*predict)(huddle_context *context, const hd_fit *fit, const void *options,
                             const huddle_points *x, int32_t *labels);
    /* Rows of the embedding for new points. same[i] (n) is the training row that new row i equals
     * and whose row of the embedding it has, or -1. NULL: the method has no embedding. */
    huddle_status (*place)(huddle_context *context, const hd_fit *fit, const void *options,
                           const huddle_points *x, huddle_dense *rows, int64_t *same);
    /* Predicts the memory of a fit (methods/planning.h); NULL: preparation and K-means. */
    void (*plan)(const struct hd_memory_case *x, const void *options, struct hd_memory_plan *plan);
    /* Changes options that are "auto" so that less memory is needed: the step-th way to do so, in
     * the order in which they are tried. Returns what it changed, "" if that does not apply, NULL
     * if there is no such step. NULL: there are none. */
    const char *(*economise)(void *options, int32_t step);
} hd_method;

/* The method of that name, or NULL. */
const hd_method *hd_method_find(const char *name);

/* The method's whole table, to be freed by huddle_free(). */
huddle_status hd_method_options(const hd_method *method, huddle_option **table);

/* ---- preparing ----------------------------------------------------------------------------- */

/* Prepares job->x. view is the prepared points and never freed. With `keep` they are also
 * fit->prepared.points, which borrows x if the preparation changes nothing; without, the fit has
 * points only if the preparation made new ones. */
huddle_status hd_fit_prepare(huddle_context *context, const hd_fit_job *job,
                             const huddle_prepare_options *options, bool keep, hd_fit *fit,
                             huddle_points *view);

/* Finds the few features, if there are any, that contain nearly all the variance of the prepared
 * points x though the preparation could have changed that; hd_fit_prepare() calls it. */
huddle_status hd_fit_find_dominant(huddle_context *context, const huddle_preparation *preparation,
                                   const huddle_points *x, hd_fit_dominant *dominant);

/* Warns of the features found; names (d, or NULL) are those of the features. Called once for each
 * fit and not by the preparation, which fits can share. */
void hd_fit_warn_dominant(huddle_context *context, const hd_fit *fit, const char *const *names);

/* The preparation whose labels have the largest score on its own graph, all compared at the same
 * numbers of clusters. spectral: options of a method that may refine its labels, or NULL; it
 * determines the labels and the score (common_auto.c). trials receives the candidates; it stays
 * empty if there is nothing to choose from. */
huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                const struct hd_spectral_options *spectral, huddle_rule *rule,
                                hd_fit_prepare_trials *trials);

/* Applies a fitted map to points; owned is to be freed, view never. An empty map, or one that
 * changes nothing, leaves a view of x. */
huddle_status hd_fit_apply_map(huddle_context *context, const huddle_preparation *map,
                               const huddle_points *x, huddle_points *owned, huddle_points *view);

/* Applies the fit's preparation and its reduction, if it has one, to new points; owned is to be
 * freed, view never. HUDDLE_INVALID if they have not as many features as the fit's. */
huddle_status hd_fit_prepare_new(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                                 huddle_points *owned, huddle_points *view);

/* ---- equal rows ---------------------------------------------------------------------------- */

/* Keeps of prepared->points one row for each distinct row of x, and of those one for each distinct
 * prepared row (see hd_fit_rows); rows->n becomes their number. Without equal rows, or with too few
 * of them to matter for the graph, nothing changes; hd_fit_unify_labels() then makes the labels of
 * equal rows equal. */
huddle_status hd_fit_merge(huddle_context *context, int32_t n_neighbors, hd_fit_rows *rows,
                           hd_fit_prepared *prepared);

/* The same; `whole` receives the points as they were if rows were merged, and *borrowed whether
 * they are not to be freed. */
huddle_status hd_fit_merge_keeping(huddle_context *context, int32_t n_neighbors, hd_fit_rows *rows,
                                   hd_fit_prepared *prepared, huddle_points *whole, bool *borrowed);

/* Whether equal rows would fill the neighbour lists of a row, or many places in all of them; else
 * they are not merged. */
bool hd_fit_copies_matter(const huddle_distinct *nodes, int32_t n_neighbors);

/* If rows were not merged: equal rows of x get the labels of the first of them, where K-means on
 * prepared rows that differ in the last bit may have separated them. Before the medoids are chosen,
 * which must belong to their clusters; hd_fit_kmeans() and hd_fit_kmeans_dense() call it. */
void hd_fit_unify_labels(const hd_fit_rows *rows, hd_fit_clusters *clusters);

/* Silhouette of the labels at the points, which are those of the fit or all rows of x; of a sample
 * if there are many. */
huddle_status hd_fit_silhouette(huddle_context *context, const hd_fit *fit,
                                const huddle_points *points, double *silhouette);

/* ---- clustering ---------------------------------------------------------------------------- */

/* HUDDLE_INVALID if there are more clusters than rows on all processes. */
huddle_status hd_fit_check_clusters(huddle_range n_clusters, const hd_fit_rows *rows);

/* If rows are spread over processes: of the rows that the processes have found, each at a distance
 * from its centre (infinity if there is none), the nearest stays the medoid, of equally near ones
 * the first of all rows. The others become -1, so that a cluster has its medoid on one process. */
huddle_status hd_fit_reduce_medoids(huddle_context *context, int64_t n, double *distances,
                                    hd_fit_clusters *clusters);

/* Runs K-means on points, leaving labels, centres, medoids and info in clusters (replacing what was
 * there; the alternation stays). */
huddle_status hd_fit_kmeans(huddle_context *context, const huddle_points *points,
                            const huddle_kmeans_options *options, const hd_fit_rows *rows,
                            hd_fit_clusters *clusters);

/* The same for the rows of a matrix of doubles, on its distinct rows with their counts. Warns if
 * there are fewer distinct rows than clusters. */
huddle_status hd_fit_kmeans_dense(huddle_context *context, const huddle_dense *matrix,
                                  const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                  hd_fit_clusters *clusters);

/* Warns that there are empty clusters, if K-means had too few distinct rows. */
void hd_fit_warn_few_distinct(huddle_context *context, const hd_fit_clusters *clusters);

/* Makes the clusters of `other` those of `clusters`: labels, centres, medoids and K-means' info. */
void hd_fit_take_clusters(hd_fit_clusters *clusters, hd_fit_clusters *other);

/* Adds row i of x, as stored, times the number of its copies. */
void hd_fit_add_row(const huddle_points *x, int64_t i, double copies, double *sum);

/* Squared distance of row i from a centre, d doubles without the points' shift. centre_norm is the
 * centre's squared norm and needed for sparse points only; to compare rows with one centre, any
 * number will do. */
double hd_fit_distance_to(const huddle_points *x, int64_t i, const double *centre,
                          double centre_norm);

/* Chooses each medoid among the rows that K-means saw as equal: the row nearest their mean in the
 * points, or without points (NULL) the one of the largest degree in the graph. Without either the
 * medoid stays the first of them. */
huddle_status hd_fit_choose_medoids(huddle_context *context, const huddle_points *points,
                                    const huddle_csr *graph, hd_fit *fit);

/* Predicts by the nearest centre in the prepared and reduced points. */
huddle_status hd_fit_predict_centres(huddle_context *context, const hd_fit *fit,
                                     const void *options, const huddle_points *x, int32_t *labels);

/* ---- a range of n_clusters ----------------------------------------------------------------- */

/* How a method makes labels for one number of clusters, and what trials are scored by. */
typedef struct hd_fit_trial_plan {
    huddle_status (*cluster)(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit);
    void *argument;
    const huddle_points *points; /* for silhouettes and medoids; or NULL */
    const huddle_csr *graph;     /* for normalised cuts; or NULL */
    bool graph_per_trial;        /* every n_clusters has its own: eigengaps cannot be compared */
    const struct hd_spectral_options *spectral; /* to measure the stability of refined labels; or
                                                   NULL */
    const struct hd_spectral_options *deciding; /* to choose between the graph and K-means
                                                   (deciding.h); or NULL */
    const hd_fit_embedding *laplacian;          /* for that: eigenvectors of the graph */
} hd_fit_trial_plan;

/* Calls cluster() for n_clusters; for a range, for each number in it, keeping their labels and
 * scores as trials, and once more for the best: the best alignment if the method aligns, else by
 * the eigengap rule (huddle_embed_choose) if it embeds, unless no gap is clear and labels are
 * refined: then by modularity; else the largest silhouette of the points; without points, of the
 * embedding that was given. Only the last call warns: warnings of the trials are not about the
 * result. */
huddle_status hd_fit_range(huddle_context *context, huddle_range n_clusters,
                           const hd_fit_trial_plan *plan, hd_fit *fit);

/* Of several alignments the largest number of clusters that is as good as the best is taken. */
bool hd_fit_alignment_as_good(double alignment, double best);

#endif
