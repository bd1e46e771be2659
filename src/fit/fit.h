/* What a fit leaves behind, in parts: one for each step of the data flow. A part is a struct of
 * this header and a file src/fit/PART.c, which contains everything the library does with the part
 * as a whole: freeing, copying, saving and loading (one walk, fit/walk.h), the checks of a loaded
 * file, and its JSON.
 *
 * To add a field to a result: declare it in the part's struct below, and add it to the walk in the
 * part's file and, if users are to see it, to its JSON or to the arrays of fit.c. Nothing else
 * needs to know. To add a part: a struct, a file that defines its hd_fit_part, and a row of the
 * table in fit.c.
 *
 * Parts that a method does not use stay empty (all zero). What a fit is given and what is needed
 * only while it runs is elsewhere (steps/options.h). */
#ifndef HUDDLE_SRC_FIT_H
#define HUDDLE_SRC_FIT_H

#include "base/context.h"
#include "base/stages.h"
#include "fit/walk.h"
#include "huddle/fit.h"
#include "huddle/refine.h"

typedef struct hd_fit hd_fit;

/* ---- rows ---------------------------------------------------------------------------------- */

/* Which rows of x the rows of the fit's arrays represent. Methods that connect neighbours work on
 * distinct rows: more than n_neighbors equal ones would be connected only with each other. After
 * merging every array has one row for each distinct row of x, and `nodes` has the way back. */
typedef struct hd_fit_rows {
    int64_t n;             /* rows of the arrays */
    int64_t elsewhere;     /* rows of x on other processes (base/slabs.h); else 0 */
    huddle_distinct equal; /* which rows of x are equal; empty if not known */
    huddle_distinct nodes; /* after merging: the row of the arrays for each row of x; else empty */
} hd_fit_rows;

void hd_fit_rows_free(hd_fit_rows *rows);

/* Rows of x: those of this process, and those of all processes. Decisions depend on the latter, so
 * that all processes decide alike. */
int64_t hd_fit_rows_total(const hd_fit_rows *rows);
int64_t hd_fit_rows_everywhere(const hd_fit_rows *rows);

/* Begins with n rows of this process. All processes call it. */
huddle_status hd_fit_rows_begin(huddle_context *context, int64_t n, hd_fit_rows *rows);

/* How many rows of x row i of the arrays represents, and which row of the arrays row i of x has. */
int64_t hd_fit_rows_copies(const hd_fit_rows *rows, int64_t i);
int64_t hd_fit_rows_node(const hd_fit_rows *rows, int64_t i);

/* The row of `points`, which are those of the arrays or those of x, that represents a row of the
 * arrays. */
int64_t hd_fit_rows_point(const hd_fit_rows *rows, const huddle_points *points, int64_t node);

/* The copies as weights of the rows; *weights stays NULL if nothing was merged. To be freed. */
huddle_status hd_fit_rows_weights(const hd_fit_rows *rows, double **weights);

/* A copy with arrays of its own; to owns nothing before. */
huddle_status hd_fit_copy_distinct(const huddle_distinct *from, huddle_distinct *to);

/* ---- prepared: from x to the points that are clustered ----------------------------------------
 */

/* Features that contain nearly all the variance of the prepared points, largest first. */
enum { HD_FIT_MAX_DOMINANT = 3 };
typedef struct hd_fit_dominant {
    int count; /* 0 if the preparation scaled or mixed the features */
    int64_t features[HD_FIT_MAX_DOMINANT];
    int64_t others; /* features that vary besides them */
    double share;   /* of the variance that they contain together */
} hd_fit_dominant;

/* The candidates of prepare = auto, best first, and the numbers of clusters at which the last round
 * compared them. */
enum { HD_FIT_MAX_PREPARE_TRIALS = 32, HD_FIT_MAX_PREPARE_CLUSTERS = 5 };
typedef struct hd_fit_prepare_trials {
    huddle_prepare_trial *items;
    int32_t count; /* at most HD_FIT_MAX_PREPARE_TRIALS */
    int32_t n_clusters, clusters[HD_FIT_MAX_PREPARE_CLUSTERS];
    huddle_prepare_score score; /* by which they are ordered */
    bool separate; /* nothing was tried: the clusters are separate without preparation */
    double seconds;
} hd_fit_prepare_trials;

/* Whether x is a table of columns in different units (decide/table.h). */
typedef struct hd_fit_table {
    const char *kind;                /* "units", "categories"; NULL: no, or not examined */
    int64_t n_columns, n_categories; /* that are not constant; of those, categories */
    double n_effective;              /* columns by their shares of the variance */
    bool is_scaled;                  /* prepare = auto became "clip" for this reason */
} hd_fit_table;

typedef struct hd_fit_prepared {
    double *shift; /* d: of dense points as they were given, zeros if none; NULL if not known */
    hd_fit_table table;
    hd_fit_prepare_trials trials;
    huddle_preparation preparation;
    huddle_preparation reduction; /* a linear map after the preparation: PCA, LDA; or empty */
    hd_fit_dominant dominant;
    huddle_points points; /* prepared; kept by methods that need them to predict */
    bool borrows_points;  /* they are x, which the caller owns; see hd_fit_own_points() */
    huddle_prepare_info info;
} hd_fit_prepared;

void hd_fit_prepared_free(hd_fit_prepared *prepared);

/* Its walk, with the shift, of d columns; the checks of a loaded one, with n rows; and its JSON. */
void hd_fit_prepared_walk(hd_walk *walk, int64_t d, hd_fit_prepared *prepared);
huddle_status hd_fit_prepared_fits(const hd_fit_prepared *prepared, int64_t n, int64_t d);
huddle_status hd_fit_prepared_check(const hd_fit_prepared *prepared, int64_t d, bool elsewhere);
void hd_fit_prepared_write(const hd_fit_prepared *prepared, hd_json_writer *json);

/* Columns of the points that are clustered: those of x after preparation and reduction. */
int64_t hd_fit_prepared_columns(const hd_fit_prepared *prepared);

/* Whether a map leaves points as they are. */
bool hd_fit_is_identity(const huddle_preparation *map);

/* The points become x: its arrays are borrowed, the copy that an engine may keep is shared. Of
 * points that only an engine has there is nothing to borrow; what is fetched is then the fit's. */
huddle_status hd_fit_borrow_points(const huddle_points *x, hd_fit_prepared *prepared);

/* Frees points, or leaves borrowed ones to their owner. */
void hd_fit_free_points(huddle_points *points, bool borrowed);

/* Copies borrowed points, so that the fit can outlive x. Called last: while the stages need memory
 * there is no copy yet. An engine's copy is kept. */
huddle_status hd_fit_own_points(hd_fit_prepared *prepared);

/* ---- graph --------------------------------------------------------------------------------- */

/* A weighted neighbour graph: A of the points, W of the rows of F. */
typedef struct hd_fit_graph {
    bool present;
    huddle_csr matrix;
    int64_t elsewhere;  /* entries on other processes; else 0 */
    huddle_scale scale; /* of the weights */
    huddle_knn_info knn;
    huddle_connect_info connect;
    double seconds;
} hd_fit_graph;

void hd_fit_graph_free(hd_fit_graph *graph);

/* Counts the entries that other processes have. All processes call it. */
huddle_status hd_fit_graph_count(huddle_context *context, hd_fit_graph *graph);

/* The graph's members under names that begin with prefix. */
void hd_fit_graph_walk(hd_walk *walk, const char *prefix, hd_fit_graph *graph);
huddle_status hd_fit_graph_fits(const char *prefix, const hd_fit_graph *graph,
                                const hd_fit_rows *rows);

/* ---- views: several matrices that describe the same points ------------------------------------
 */

/* One of them. What the first has of `prepared` is that of the fit, and empty here. */
typedef struct hd_fit_one_view {
    int64_t d; /* its features */
    hd_fit_prepared prepared;
    hd_fit_graph graph; /* of its points; the matrix is only there until that of the fit is made */
    double *degrees;    /* n: in its graph, of one copy of each row */
    double weight;      /* of its graph in the mean; the weights add up to 1 */
    double score;       /* by which the weight was chosen; NaN: not measured */
} hd_fit_one_view;

/* The graph of a fit of several views is the weighted mean of their normalised graphs, unless the
 * method makes its own of them (hd_method_views). */
enum { HD_FIT_MAX_VIEWS = 16 };
typedef struct hd_fit_views {
    int32_t count; /* 0: one view, which is no different from points */
    hd_fit_one_view *items;
} hd_fit_views;

void hd_fit_views_free(hd_fit_views *views);

/* How many matrices the points of the fit are: 1 without views. */
int32_t hd_fit_count_views(const hd_fit *fit);

/* The fit as if view v were all: its features, preparation and graph, with the rows and everything
 * else of the fit. It owns nothing. */
hd_fit hd_fit_of_view(const hd_fit *fit, int32_t v);

/* The prepared points of view v. */
hd_fit_prepared *hd_fit_prepared_of(hd_fit *fit, int32_t v);

/* ---- embedding ----------------------------------------------------------------------------- */

typedef struct hd_fit_embedding {
    bool present;              /* it was computed; else it was given, or there is none */
    huddle_embedding f;        /* F and the eigenvectors */
    double *extents;           /* of each eigenvector, if eigenvalues may choose n_clusters */
    huddle_points landmarks;   /* prepared points that represent all others */
    huddle_dense landmark_map; /* shares of the landmarks times this is a row of F */
    huddle_dense linear_map;   /* of prepared points to rows of eigenvectors or F (steps/ridge.h) */
    huddle_embed_info info;
} hd_fit_embedding;

void hd_fit_embedding_free(hd_fit_embedding *embedding);

/* The eigenvalues as the eigengap rule sees them; a view. */
huddle_spectrum hd_fit_spectrum(const hd_fit *fit);

/* ---- shrunk -------------------------------------------------------------------------------- */

typedef struct hd_fit_shrunk {
    bool present;
    bool labels_from_embedding; /* G was too uneven: F was clustered instead */
    hd_fit_graph w;
    huddle_shrunk g;
    huddle_shrink_info info;
    double seconds; /* W, the solve, and what alternates with it */
} hd_fit_shrunk;

/* ---- clusters ------------------------------------------------------------------------------ */

typedef struct hd_fit_clusters {
    int32_t n_clusters;
    int32_t *labels;
    huddle_dense centres;
    int64_t *medoids;    /* for each cluster the row nearest its centre; -1 if empty */
    bool *is_medoid_row; /* n: K-means saw the row as equal to the medoid of its cluster; or NULL */
    int64_t *all_sizes;  /* rows of each cluster if some are on other processes; else NULL */
    int64_t *all_medoids; /* likewise, by their numbers among all rows; `medoids` are own rows */
    bool has_rotation;    /* a rotation assigned the labels, not K-means */
    huddle_kmeans_info kmeans;
    huddle_rotation_info rotation;
    huddle_alternation_info alternation;
    bool has_alignment;
    double alignment; /* how near the rows of F come to the axes of a rotation; 1: on them */
} hd_fit_clusters;

void hd_fit_clusters_free(hd_fit_clusters *clusters);

/* Adds a number to the alternation, or begins it anew. */
huddle_status hd_fit_alternation_add(huddle_alternation_info *alternation, double objective);
void hd_fit_alternation_reset(huddle_alternation_info *alternation);

/* The objective of whatever assigned the labels. */
double hd_fit_inertia(const hd_fit_clusters *clusters);

/* ---- refined ------------------------------------------------------------------------------- */

/* The labels among which decide/labels.h chooses. */
enum { HD_FIT_KMEANS, HD_FIT_GRAPH, HD_FIT_COMMUTE, HD_FIT_LABELLINGS };

/* Whether the labels of the graph or those of K-means on the points are better, and why. */
typedef struct hd_fit_decision {
    const char *reason; /* "cut", "stability", "divergence" or "commute"; NULL: not examined */
    huddle_graph_scores kmeans, graph;   /* of K-means after moves on the graph; of the graph */
    double stability[HD_FIT_LABELLINGS]; /* NaN if not measured */
    double seconds;
} hd_fit_decision;

/* What refinement (steps/refine.h) did to the labels. clusters.labels are the refined ones;
 * centres, K-means and rotation in hd_fit_clusters describe the method's own step before. */
typedef struct hd_fit_refined {
    bool present;
    const char *from;     /* "graph": refined on it; "kmeans": K-means on the prepared points;
                             "commute": K-means on commute rows */
    const char *skipped;  /* why labels were not refined although that was the default; or NULL */
    int32_t *own;         /* n: the method's own labels */
    huddle_dense centres; /* in the prepared points; "kmeans" only */
    hd_fit_decision decision;
    huddle_refine_tree tree; /* of the graph; only while the fit runs */
    huddle_refine_info info;
    double seconds; /* all of it, with the starts */
} hd_fit_refined;

/* Frees what belongs to one number of clusters; the tree and `skipped` stay. */
void hd_fit_refined_reset(hd_fit_refined *refined);

/* What was decided and why, as one sentence; empty if there was no question. The text is cut if
 * there is too little space. */
void hd_fit_describe_decision(const hd_fit *fit, char *text, size_t size);

/* Members of the walk, of the check of a loaded file, and of the JSON. */
void hd_fit_walk_table(hd_walk *walk, hd_fit_table *table);
void hd_fit_walk_decision(hd_walk *walk, hd_fit_decision *decision);
huddle_status hd_fit_decision_fits(const hd_fit *fit);
void hd_fit_write_table(const hd_fit_table *table, hd_json_writer *json);
void hd_fit_write_decision(const hd_fit_decision *decision, hd_json_writer *json);

/* Rows of x whose label the refinement changed. */
int64_t hd_fit_refined_changed(const hd_fit *fit);

/* ---- mixture ------------------------------------------------------------------------------- */

/* The Gaussians of a mixture; their means are the centres of the clusters. */
typedef struct hd_fit_mixture {
    const char *covariance; /* "full", "tied", "diagonal", "spherical"; NULL: there is no mixture */
    bool is_chosen;         /* by covariance = auto */
    double *weights;        /* n_clusters; 0: a component without rows */
    huddle_dense scales;    /* factors of the inverse covariances (steps/mixture.h) */
    double log_likelihood, bic;
    double n_parameters; /* free ones */
    int32_t n_floored;   /* covariances in which a variance had to be raised */
} hd_fit_mixture;

void hd_fit_mixture_free(hd_fit_mixture *mixture);

/* ---- encoder ------------------------------------------------------------------------------- */

/* Layers that encode rows of similarities to the rows of the fit (steps/autoencoder.h). */
typedef struct hd_fit_encoder {
    int32_t n_layers; /* 0: there is no encoder */
    int32_t *widths;  /* of the layers */
    /* One layer after the other, each with a row for every input and one of constants, in the first
     * columns of a matrix as wide as the widest. */
    huddle_dense weights;
} hd_fit_encoder;

void hd_fit_encoder_free(hd_fit_encoder *encoder);

/* ---- trials -------------------------------------------------------------------------------- */

typedef struct hd_fit_trials {
    huddle_trial *items; /* for each number of clusters of a range, or considered by auto */
    int32_t count;
    int32_t *labels;            /* rows of x, merged or not, x count; NULL with auto */
    huddle_embed_choice choice; /* when n_clusters was auto: the best candidates */
    bool by_modularity;         /* the number was chosen by modularity */
} hd_fit_trials;

/* ---- numbers of clusters ------------------------------------------------------------------- */

/* numbers[k] becomes the number of the cluster with label k: by first member among the rows of all
 * processes, empty ones last. *count (may be NULL): those that are not empty. All processes call
 * these functions. */
huddle_status hd_fit_order_labels(huddle_context *context, int64_t n, const int32_t *labels,
                                  int32_t n_clusters, int32_t *numbers, int32_t *count);

/* Gives labels these numbers. */
huddle_status hd_fit_number_labels(huddle_context *context, int64_t n, int32_t n_clusters,
                                   int32_t *labels);

/* The same for the clusters of a fit; everything of it that is indexed by clusters follows. */
huddle_status hd_fit_number_clusters(huddle_context *context, hd_fit *fit);

/* ---- memory -------------------------------------------------------------------------------- */

/* What was predicted before the fit began (decide/memory.h). */
enum { HD_FIT_MAX_ECONOMIES = 8 };
typedef struct hd_fit_memory {
    int64_t base;                   /* private bytes of the process before the fit */
    int64_t stages[HD_STAGE_COUNT]; /* that each stage adds at its peak; 0: not predicted */
    int64_t available;              /* what may be added; INT64_MAX: not known */
    const char *economies[HD_FIT_MAX_ECONOMIES]; /* what was changed to need less; static texts */
    int32_t n_economies;
} hd_fit_memory;

/* The stage that needs most. */
hd_stage hd_fit_memory_peak(const hd_fit_memory *memory);

/* ---- the whole ----------------------------------------------------------------------------- */

struct hd_fit {
    int64_t d; /* features of x */
    hd_fit_rows rows;
    hd_fit_prepared prepared;
    hd_fit_graph graph; /* A */
    hd_fit_views views;
    hd_fit_embedding embedding;
    hd_fit_shrunk shrunk;
    hd_fit_clusters clusters;
    hd_fit_mixture mixture;
    hd_fit_encoder encoder;
    hd_fit_refined refined;
    hd_fit_trials trials;
    bool scored;
    huddle_fit_scores scores;
    double seconds;
    hd_stages stages; /* where they went */
    hd_fit_memory memory;
    hd_warnings warnings;
    char *texts; /* of a loaded fit; else its info structs point to static texts */
};

void hd_fit_free(hd_fit *fit);

/* How an array that is offered by name changes when merged rows are expanded to all rows of x. */
typedef enum hd_fit_expansion {
    HD_FIT_KEEP,         /* not at all */
    HD_FIT_EXPAND_ROWS,  /* a row for each row of x */
    HD_FIT_EXPAND_COLS,  /* a column for each */
    HD_FIT_EXPAND_GRAPH, /* a vertex for each, edges as in A */
    HD_FIT_EXPAND_SHRINK /* the same, edges as in W */
} hd_fit_expansion;

/* Where an array is in a fit. Only containers may be in the memory of an engine. */
typedef enum hd_fit_storage {
    HD_FIT_DENSE,
    HD_FIT_CSR,
    HD_FIT_POINTS,
    HD_FIT_LABELS, /* an integer for each row of the fit */
    HD_FIT_REALS,  /* as many as an int32_t says */
    HD_FIT_VIEWED  /* by a function */
} hd_fit_storage;

typedef struct hd_fit_array {
    const char *name;
    hd_fit_expansion expansion;
    hd_fit_storage storage;
    size_t offset;                           /* in hd_fit, of the container or of the pointer, */
    size_t length;                           /* and of the number of reals */
    huddle_array (*view)(const hd_fit *fit); /* HD_FIT_VIEWED */
} hd_fit_array;

/* A view of the array: type HUDDLE_ARRAY_NONE if there is none; values NULL if an engine keeps it,
 * until it is fetched to the host. */
huddle_array hd_fit_view(const hd_fit *fit, const hd_fit_array *array);
huddle_status hd_fit_fetch_array(const hd_fit *fit, const hd_fit_array *array);

/* What is done with every part alike. */
typedef struct hd_fit_part {
    void (*walk)(hd_walk *walk, hd_fit *fit);
    huddle_status (*fits)(const hd_fit *fit);  /* sizes of a loaded part agree with the others */
    huddle_status (*check)(const hd_fit *fit); /* further checks, after all sizes; or NULL */
    void (*write_json)(const hd_fit *fit, hd_json_writer *json); /* members of the info */
} hd_fit_part;

extern const hd_fit_part hd_fit_part_rows, hd_fit_part_prepared, hd_fit_part_graph,
    hd_fit_part_views, hd_fit_part_embedding, hd_fit_part_shrunk, hd_fit_part_clusters,
    hd_fit_part_mixture, hd_fit_part_encoder, hd_fit_part_refined, hd_fit_part_trials;

/* Walks over all parts and the scores. */
void hd_fit_walk(hd_walk *walk, hd_fit *fit);

/* Offers places for copies of an engine (matrix/resident.h) to what the fit has by now and several
 * stages read: points, both graphs, rows of the embedding and shrunk rows. */
void hd_fit_offer(const huddle_context *context, hd_fit *fit);

/* Frees the copies that an engine has of graphs which are on the host too. */
void hd_fit_release_graphs(hd_fit *fit);

/* HUDDLE_FORMAT unless the sizes of a loaded fit agree, every index points into something and the
 * shifts are those of the points. A checksum detects accidents; this keeps a crafted file from
 * doing harm. */
huddle_status hd_fit_check(const hd_fit *fit);

/* For the checks of a loaded part: returns HUDDLE_FORMAT from the function, with the name of the
 * member in the file and its value, unless the condition holds. */
#define HD_FIT_REQUIRE(condition, name, value)                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return hd_walk_misfit(name, (long long)(value));                                       \
    } while (0)

/* The same for arrays that must exist. */
huddle_status hd_fit_lacks(const char *name);

/* All arrays, in the order in which they are listed; the one of that name, or NULL. */
enum { HD_FIT_N_ARRAYS = 14 };
extern const hd_fit_array hd_fit_arrays[HD_FIT_N_ARRAYS];
const hd_fit_array *hd_fit_find_array(const char *name);

/* A view of a graph. */
huddle_array hd_fit_view_csr(const huddle_csr *matrix);

/* The members of the info that belong to parts: "seconds" first, the others in their order. */
void hd_fit_write_seconds(const hd_fit *fit, hd_json_writer *json);
void hd_fit_write_json(const hd_fit *fit, hd_json_writer *json);
void hd_fit_write_memory(const hd_fit *fit, hd_json_writer *json);
void hd_fit_write_traffic(const hd_fit *fit, hd_json_writer *json);
void hd_fit_write_scores(const hd_fit *fit, hd_json_writer *json);
void hd_fit_write_warnings(const hd_fit *fit, hd_json_writer *json);

/* ---- parts that fits share ------------------------------------------------------------------- */

/* How a cache copies and frees a part. */
typedef struct hd_fit_copier {
    size_t size;
    huddle_status (*copy)(const void *from, void *to); /* to is empty */
    void (*free)(void *part);
} hd_fit_copier;

extern const hd_fit_copier hd_fit_rows_copier, hd_fit_prepared_copier, hd_fit_graph_copier,
    hd_fit_views_copier, hd_fit_embedding_copier;

/* Defines TYPE_free() and the copier of a part from a function walk_part(hd_walk *, TYPE *). */
#define HD_FIT_COPIER(type, walk_part)                                                             \
    void type##_free(type *part) {                                                                 \
        hd_walk walk = {.mode = HD_WALK_FREE};                                                     \
        walk_part(&walk, part);                                                                    \
        memset(part, 0, sizeof *part);                                                             \
    }                                                                                              \
    static huddle_status copy_##type(const void *from, void *to) {                                 \
        hd_walk walk = {.mode = HD_WALK_COPY, .from = from, .to = to};                             \
        *(type *)to = *(const type *)from;                                                         \
        walk_part(&walk, to);                                                                      \
        if (walk.status != HUDDLE_OK)                                                              \
            type##_free(to);                                                                       \
        return walk.status;                                                                        \
    }                                                                                              \
    static void free_##type(void *part) {                                                          \
        type##_free(part);                                                                         \
    }                                                                                              \
    const hd_fit_copier type##_copier = {sizeof(type), copy_##type, free_##type}

#endif
