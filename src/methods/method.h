/* Methods: the only place that knows the order of the stages.
 *
 * A method is one file of this folder, NAME.c, that defines `const hd_method hd_method_NAME`; the
 * build collects them, and the tool, the model and the documents find it by its name. Files that
 * begin with common_ hold what several methods share. */
#ifndef HUDDLE_SRC_METHOD_H
#define HUDDLE_SRC_METHOD_H

#include "base/context.h"
#include "huddle/embed.h"
#include "huddle/graph.h"
#include "huddle/kmeans.h"
#include "huddle/methods.h"
#include "huddle/prepare.h"
#include "huddle/shrink.h"

/* ---- options ------------------------------------------------------------------------------- */

/* Every method's options struct begins with these. */
typedef struct hd_common {
    huddle_range n_clusters;
    uint64_t seed;
} hd_common;

const huddle_option *hd_common_table(void);

/* A stage's option under another name, with another default or explanation (NULL: the stage's). */
typedef struct hd_rename {
    const char *from, *to; /* from == NULL ends the list */
    const char *default_text, *help;
} hd_rename;

/* A stage's options inside a method's. All of the stage's table is taken, except n_clusters,
 * n_components and seed, which are the method's own; with `renames`, only what it lists. */
typedef struct hd_section {
    const huddle_option *(*table)(void); /* NULL ends the list */
    size_t offset;                       /* of the stage's struct in the method's */
    const hd_rename *renames;
} hd_section;

/* ---- what a fit leaves behind -------------------------------------------------------------- */

/* One number of clusters out of several tried. */
typedef struct hd_trial {
    int32_t n_clusters;
    double inertia, silhouette;
    double ncut, eigengap; /* NaN without a graph */
    double alignment;      /* NaN unless the method aligns */
} hd_trial;

/* How two steps that take turns got on. */
typedef struct hd_alternation {
    int32_t n_iter; /* rounds; 0 if the method has none */
    huddle_stop stop;
    int32_t n_history; /* length of objective */
    double *objective; /* before the first round and after each */
} hd_alternation;

/* One preparation that `auto` tried. */
typedef struct hd_prepare_trial {
    huddle_rule rule;
    double modularity; /* of its spectral clustering on its own graph; the mean over a range */
    int64_t n;         /* points it was last judged by */
} hd_prepare_trial;

/* The numbers of clusters at which preparations are compared. */
typedef struct hd_prepare_clusters {
    int32_t count, at[5];
} hd_prepare_clusters;

/* The features that hold nearly all the variance of the prepared points, largest first. */
enum { HD_MOST_DOMINANT = 3 };
typedef struct hd_dominant {
    int count;
    int64_t features[HD_MOST_DOMINANT];
    double share; /* of the variance that they hold together */
} hd_dominant;

/* The name of a shared result, built option by option (methods/cache.h). */
typedef struct hd_key {
    char text[1024];
    bool too_long; /* for the text: such a result is not shared */
} hd_key;

/* Everything a fit found. What a method does not use stays empty. */
typedef struct hd_fit {
    int64_t n, d;          /* n: rows of the arrays below; after merging the distinct ones only */
    huddle_distinct equal; /* which rows of x are equal; hd_fit_prepare() finds out */
    huddle_distinct nodes; /* after merging: the row of the arrays for each row of x; else empty */
    double *shift; /* d: of dense points as they were given, zeros if none; NULL if not known */
    const char *const *feature_names; /* d, or NULL; borrowed, and only while fitting */
    int32_t n_clusters;
    int32_t *labels;
    huddle_dense centres;
    int64_t *medoids;    /* for each cluster the row nearest its centre; -1 if empty */
    bool *is_medoid_row; /* n: K-means saw the row as equal to the medoid of its cluster; or NULL */

    hd_common common;              /* as the method's options have it */
    hd_prepare_trial *auto_trials; /* when prepare was auto: what was tried */
    int32_t n_auto_trials;
    hd_prepare_clusters auto_clusters;
    double auto_seconds;
    huddle_preparation preparation;
    hd_dominant dominant;       /* none if the preparation scaled the features or mixed them */
    huddle_points points;       /* prepared; kept by methods that need them to predict */
    bool points_borrowed;       /* they are still x itself; hd_fit_own_points() ends that */
    huddle_csr graph;           /* A */
    huddle_scale scale;         /* of A's weights */
    huddle_embedding embedding; /* F and the raw vectors */
    double *extents;            /* of each raw vector, if its eigenvalues may choose n_clusters */
    huddle_csr shrink_graph;    /* W */
    huddle_scale shrink_scale;  /* of W's weights */
    huddle_shrunk shrunk;       /* G */

    huddle_preparation reduction;  /* a linear map after the preparation: PCA, LDA; or empty */
    huddle_points landmarks;       /* prepared points that stand for all */
    huddle_dense landmark_vectors; /* shares of the landmarks times this is a row of F */
    hd_alternation alternation;

    bool graph_per_trial; /* each n_clusters has a graph of its own: eigengaps do not compare */
    bool has_alignment;
    double alignment; /* how near the rows of F come to the axes of a rotation; 1: on them */

    bool has_graph, has_embedding, has_shrink; /* which stages ran */
    bool guarded; /* the labels are those of the embedding, not of the shrunk rows */
    huddle_prepare_info prepare_info;
    huddle_knn_info knn_info;
    huddle_connect_info connect_info;
    huddle_embed_info embed_info;
    huddle_shrink_info shrink_info;
    huddle_kmeans_info kmeans_info;
    double graph_seconds; /* A; W's time counts as shrink's */
    double shrink_seconds;
    double total_seconds;

    hd_trial *trials; /* when a range of n_clusters was asked for */
    int32_t n_trials;
    int32_t *trial_labels; /* rows of x, merged or not, x n_trials */

    hd_key key;                 /* names graph and embedding among shared results */
    huddle_embed_choice choice; /* when n_clusters was auto: the best candidates */

    bool keep_starts; /* K-means leaves the labels of every restart in kmeans_info */
    bool judged;
    double silhouette, ncut, stability; /* NaN where there is none */
    hd_warnings warnings;
} hd_fit;

void hd_fit_free(hd_fit *fit);

/* What a fit is given. x is NULL only if a graph or an embedding is there instead. */
typedef struct hd_input {
    const huddle_points *x;
    const huddle_csr *graph;
    const huddle_dense *embedding;
    huddle_cache *cache; /* to share work with other fits of the same x, or NULL */
} hd_input;

/* ---- methods ------------------------------------------------------------------------------- */

typedef struct hd_method {
    huddle_method_text text;
    size_t options_size;
    const hd_section *sections;
    bool takes_graph; /* a graph or an embedding can be given */
    huddle_status (*fit)(huddle_context *context, const hd_input *input, const void *options,
                         hd_fit *fit);
    huddle_status (*predict)(huddle_context *context, const hd_fit *fit, const void *options,
                             const huddle_points *x, int32_t *labels);
} hd_method;

/* The method of that name, or NULL. */
const hd_method *hd_method_find(const char *name);

/* The method's whole table, to be freed by huddle_free(). */
huddle_status hd_method_options(const hd_method *method, huddle_option **table);

/* ---- shared by methods --------------------------------------------------------------------- */

/* Prepares x into fit->points. When there is nothing to do they are x itself, borrowed, if `keep`
 * is asked for, and stay empty if not. view is the prepared points either way and is never freed.
 */
huddle_status hd_fit_prepare(huddle_context *context, const huddle_points *x,
                             const huddle_prepare_options *options, bool keep, hd_fit *fit,
                             huddle_points *view);

/* Finds the few features, if there are such, that hold nearly all the variance of the prepared
 * points x though the preparation could have seen to it; hd_fit_prepare() does. */
huddle_status hd_find_dominant(huddle_context *context, const huddle_preparation *preparation,
                               const huddle_points *x, hd_dominant *dominant);

/* Warns of the features found. Not part of a stage: a fit inside a fit has nothing to say, and a
 * fit that shares a stage with another has. */
void hd_warn_dominant(huddle_context *context, const hd_fit *fit);

/* The preparation whose spectral clustering has the largest modularity on its own graph, all
 * compared at the same numbers of clusters; leaves what was tried in the fit. */
huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                huddle_rule *rule, hd_fit *fit);

/* ---- equal rows ---------------------------------------------------------------------------- */

/* Methods that join neighbours do so among distinct rows: more than n_neighbors equal ones would
 * have only each other. Merging keeps of fit->points one row for each distinct row of x, and of
 * those one for each distinct prepared row; fit->n becomes their number, and every array that
 * follows has that many rows. Without equal rows, or with too few of them to matter for the graph,
 * nothing changes; hd_fit_unify_labels() then sees to it that equal rows have equal labels.
 * `whole`, if not NULL, receives the points as they were when rows were merged; *borrowed says that
 * they are not to be freed. */
huddle_status hd_fit_merge(huddle_context *context, int32_t n_neighbors, hd_fit *fit);
huddle_status hd_fit_merge_keeping(huddle_context *context, int32_t n_neighbors, hd_fit *fit,
                                   huddle_points *whole, bool *borrowed);

/* Whether equal rows would fill the lists of neighbours of a row, or many places in all of them;
 * else they are not merged. */
bool hd_copies_matter(const huddle_distinct *nodes, int32_t n_neighbors);

/* Rows of x. */
int64_t hd_fit_rows(const hd_fit *fit);

/* How many rows of x row i of the arrays stands for, and which row of the arrays row i of x has. */
int64_t hd_fit_copies(const hd_fit *fit, int64_t i);
int64_t hd_fit_node(const hd_fit *fit, int64_t i);

/* The row of `points`, which are those of the arrays or those of x, that stands for a row of the
 * arrays. */
int64_t hd_fit_point(const hd_fit *fit, const huddle_points *points, int64_t node);

/* The copies as weights of the rows; *weights stays NULL if there are none. To be freed. */
huddle_status hd_fit_weights(const hd_fit *fit, double **weights);

/* For fits that were not merged: equal rows of x get the labels of the first of them, where K-means
 * on prepared rows that differ in the last bit may have told them apart. Before the medoids are
 * chosen, which must belong to their clusters; hd_fit_kmeans() and hd_fit_kmeans_dense() do it. */
void hd_fit_unify_labels(hd_fit *fit);

/* Silhouette of the labels at the points, which are those of the fit or all rows of x; of at most
 * `sample` rows of x. */
huddle_status hd_fit_silhouette(huddle_context *context, const hd_fit *fit,
                                const huddle_points *points, int64_t sample, double *silhouette);

/* Copies borrowed points, so that the fit can outlive x. Done last: the copy is not there yet while
 * the stages need memory. */
huddle_status hd_fit_own_points(hd_fit *fit);

/* Applies the fit's preparation and its reduction, if it has one, to new points; owned is to be
 * freed, view never. HUDDLE_INVALID if they have not as many features as the fit's. */
huddle_status hd_prepare_new(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                             huddle_points *owned, huddle_points *view);

/* Whether a map leaves points as they are. */
bool hd_does_nothing(const huddle_preparation *map);

/* Applies a fitted map to points; owned is to be freed, view never. An empty or idle map looks at
 * x itself. */
huddle_status hd_apply(huddle_context *context, const huddle_preparation *map,
                       const huddle_points *x, huddle_points *owned, huddle_points *view);

/* HUDDLE_INVALID unless first <= last <= n. */
huddle_status hd_check_clusters(huddle_range n_clusters, int64_t n);

/* Runs K-means on rows, leaving labels, centres, medoids and info in the fit (replacing what was
 * there). */
huddle_status hd_fit_kmeans(huddle_context *context, const huddle_points *rows,
                            const huddle_kmeans_options *options, hd_fit *fit);

/* The same for the rows of a matrix of doubles, on its distinct rows with their counts. */
huddle_status hd_fit_kmeans_dense(huddle_context *context, const huddle_dense *rows,
                                  const huddle_kmeans_options *options, hd_fit *fit);

/* Chooses each medoid among the rows that K-means saw as equal: the row nearest their mean in the
 * points, or without points (NULL) the one of the largest degree in the graph. Without either the
 * medoid stays the first of them. */
huddle_status hd_fit_settle_medoids(const huddle_points *points, const huddle_csr *graph,
                                    hd_fit *fit);

/* Measures the extents of the embedding's vectors, for hd_fit_spectrum(). */
huddle_status hd_fit_measure_extents(huddle_context *context, hd_fit *fit);

/* The embedding's eigenvalues as the eigengap rule sees them; a view of the fit. */
huddle_spectrum hd_fit_spectrum(const hd_fit *fit);

/* Says that there are empty clusters, if K-means had too few distinct rows; the call above does. */
void hd_warn_few_distinct(huddle_context *context, const hd_fit *fit);

/* Makes the clusters of `other` those of the fit: labels, centres, medoids and K-means' info. */
void hd_fit_take_clusters(hd_fit *fit, hd_fit *other);

/* Adds a number to the fit's alternation, or begins it anew. */
huddle_status hd_alternation_add(hd_fit *fit, double objective);
void hd_alternation_reset(hd_fit *fit);

/* Fills in labels and the rest of the fit for one number of clusters. */
typedef huddle_status (*hd_cluster_step)(huddle_context *context, void *argument,
                                         int32_t n_clusters, hd_fit *fit);

/* Runs step for n_clusters; for a range, for each number in it, keeping their labels and scores
 * as trials, and once more for the best: the best alignment if the step aligns, else by the
 * eigengap rule (huddle_embed_choose) if it embeds, else the largest silhouette of the points;
 * without points, of the embedding that was given. What the trials have to say is not about the
 * result: only the last run warns. */
huddle_status hd_fit_range(huddle_context *context, huddle_range n_clusters,
                           const huddle_points *points, const huddle_csr *graph,
                           hd_cluster_step step, void *argument, hd_fit *fit);

/* Of several alignments the largest number of clusters that is as good as the best is taken. */
bool hd_alignment_as_good(double alignment, double best);

#endif
