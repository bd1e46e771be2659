/* Compute engines (backends). An engine is one table of functions; docs/design.md, "Engines",
 * explains the two kinds it is made for. Every member may be NULL: the CPU then does the work, and
 * the CPU is the engine whose table is empty.
 *
 * Stages do not know which engines exist. The registry (src/engines/) hands a table to the context,
 * and a stage's public function, after checking its arguments, asks
 *
 *     const hd_engine *engine = hd_context_engine(context);
 *     if (engine->find_neighbors != NULL)
 *         status = engine->find_neighbors(context, &request, out, info);
 *
 * An engine that cannot serve a request (a metric it lacks, a matrix beyond its memory) returns
 * HUDDLE_UNSUPPORTED with a message that says why, and the stage computes on the CPU
 * (hd_engine_declined() writes the message to the log). Any other failure is returned to the
 * caller, with the engine's message. An engine is called from one thread at a time.
 *
 * What divides a problem is above the engine and comes first: distinct rows, components and their
 * few directions (src/shrink/split.h), samples of K-means. The engine is asked for each part.
 *
 * What all engines share is done by the stage and not by the engine: argument checks, components,
 * signs and rows of the embedding, verification, the final evaluation of the certificate, groups,
 * timing and the info structs. The containers of a request may be in the memory of this engine, of
 * another one, or on the host; src/matrix/resident.h says how an engine finds out, and how it keeps
 * a copy of what it will need again. */
#ifndef HUDDLE_SRC_ENGINE_H
#define HUDDLE_SRC_ENGINE_H

#include "huddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct huddle_points;
struct huddle_dense;
struct huddle_csr;
struct huddle_neighbors;
struct huddle_knn_options;
struct huddle_knn_info;
struct huddle_weight_options;
struct huddle_scale;
struct huddle_kmeans_options;
struct huddle_kmeans_result;
struct huddle_kmeans_info;
struct hd_shrink_linear_solver;

/* ---- engines whose processes each hold some of the rows -------------------------------------- */

typedef enum hd_reduction { HD_REDUCE_SUM, HD_REDUCE_MIN, HD_REDUCE_MAX } hd_reduction;

/* Hooks of an engine with several processes, each of which runs the same code on its own
 * consecutive rows (its slab). Stages call them through base/slabs.h, never directly. All processes
 * make the same calls in the same order, on the thread that called the library. Every hook that
 * communicates (all but place and the closing ones) may return the failure of another process that
 * all have agreed on; see agree(). For the same reason a stage of the engine that declines a
 * request (HUDDLE_UNSUPPORTED) must decline it on all processes alike, even if only one of them
 * cannot serve it: otherwise some would compute with the code of the CPU and wait for the others.
 */
typedef struct hd_engine_slabs {
    /* The number of this process, from 0, and how many there are. */
    void (*place)(const void *state, int32_t *rank, int32_t *count);

    /* The number of the first of this process's n rows, and the number of rows of all. */
    huddle_status (*locate)(void *state, int64_t n, int64_t *first, int64_t *total);

    /* Replaces values[k] by its sum, minimum or maximum over the processes. Sums are added in the
     * order of the processes, so that every process gets the same bits. */
    huddle_status (*reduce)(void *state, hd_reduction operation, int64_t count, double *values);

    /* The status of the first process that failed, with its message, or HUDDLE_OK if none did. A
     * process that fails calls this at once, while others may wait in any other hook that
     * communicates: these then return that status too. */
    huddle_status (*agree)(void *state, huddle_status status);

    /* Plans the exchange of rows for a matrix whose `count` column indices are global row numbers:
     * rewrites them to local ones, own rows first (0 .. n - 1), then `ghosts` rows of other
     * processes (n .. n + ghosts - 1). */
    huddle_status (*open_halo)(void *state, int64_t n, int64_t count, int32_t *columns,
                               int64_t *ghosts, void **halo);

    /* Fills in the ghost rows of an array of n + ghosts rows of row_size bytes. */
    huddle_status (*fetch_halo)(void *halo, void *rows, size_t row_size);
    void (*close_halo)(void *halo);

    /* Sends sizes[r] bytes to process r, for each r; `send` has them in the order of the processes.
     * received_sizes gets how many bytes came from each process; *received has them in that order
     * and is freed by huddle_free(). A process may send to itself. */
    huddle_status (*exchange)(void *state, const int64_t *sizes, const void *send,
                              int64_t *received_sizes, void **received);

    /* Starts to send bytes to the next process (rank + 1, the last to the first) and to receive
     * from the one before; the caller computes meanwhile, without another call that communicates,
     * and neither changes `send` nor reads `received` before finish_pass(). The size that arrives
     * is the one that was sent. finish_pass() is called in any case, and then frees the transfer.
     */
    huddle_status (*start_pass)(void *state, const void *send, int64_t size, void *received,
                                int64_t received_size, void **transfer);
    huddle_status (*finish_pass)(void *transfer);

    /* A problem of at most this many rows is better solved by one process alone, because messages
     * would take longer than the arithmetic. NULL: 0. */
    int64_t (*few_rows)(const void *state);

    /* A process for each of this process's n rows, such that few edges of the symmetric graph
     * (offsets and columns as in huddle_csr, columns global) join rows of different processes and
     * each process gets about the same number of rows. NULL: rows stay where they are. */
    huddle_status (*partition)(void *state, int64_t n, const int64_t *offsets,
                               const int32_t *columns, int32_t *owner);
} hd_engine_slabs;

/* ---- what a stage asks of an engine ---------------------------------------------------------- */

/* The k nearest rows of `train` for every row of `query`, by ascending (distance, index), as
 * brute force in double would find them. Either points or rows of doubles are given. query NULL:
 * the rows of train themselves, each without itself. The stage has limited options->n_neighbors to
 * the rows there are; the answer has exactly that k. Under slabs `train` is this process's part of
 * the training rows, and indices are numbers among all of them. */
typedef struct hd_neighbor_request {
    const struct huddle_points *train, *query;
    const struct huddle_dense *train_rows, *query_rows;
    const struct huddle_knn_options *options;
    const int32_t *part; /* if not NULL (query NULL): only rows of another part count */
} hd_neighbor_request;

/* The largest eigenpairs of S = diag(scale) matrix diag(scale) (scale NULL: of the matrix), whose
 * spectrum lies in [lower, upper], in the orthogonal complement of the known eigenvectors: one for
 * each component q, with the entries known[i] of the rows i of component[i] == q. */
typedef struct hd_eigen_request {
    const struct huddle_csr *matrix; /* symmetric, both triangles */
    const double *scale;             /* n, or NULL */
    double lower, upper;
    const int32_t *component; /* n, or NULL: nothing is known */
    const double *known;      /* n */
    int32_t n_components;
    int32_t n_wanted;
    int32_t max_iter;
    double tol; /* of the residuals, relative to half of upper - lower */
    uint64_t seed;
} hd_eigen_request;

/* At least n_wanted pairs, largest first. The arrays are the caller's to free. The stage takes the
 * span of the vectors only: it computes eigenvalues, orthonormal vectors and residuals itself, so
 * values and residual may be left out. One pair more than wanted shows the gap. */
typedef struct hd_eigen_result {
    int32_t count;
    double *values;               /* count */
    struct huddle_dense *vectors; /* n x count, filled in by the engine */
    double residual;              /* largest over the wanted pairs */
    int32_t n_iter;
    int64_t n_products;
    huddle_stop stop;
} hd_eigen_result;

/* The shrink problem (huddle/shrink.h) with all defaults replaced by numbers. */
typedef struct hd_shrink_request {
    const struct huddle_dense *f;
    const struct huddle_csr *w;
    const double *weights; /* of the rows, or NULL */
    double gamma;
    bool squared; /* loss "l2" */
    double gap;   /* relative duality gap to reach */
    int32_t max_iter;
    const struct huddle_dense *start; /* first guess of G, or NULL */
    uint64_t seed;
    double outside; /* of a part: the gap to reach is gap (objective + outside) */
} hd_shrink_request;

/* A primal and a dual point; the stage computes the certificate from them. */
typedef struct hd_shrink_result {
    struct huddle_dense *g, *z; /* n x c; one row per edge i < j in the order W stores them */
    int32_t n_iter;
    int64_t n_solves;
} hd_shrink_result;

/* New rows that are shrunk towards fixed anchors (huddle_shrink_points). */
typedef struct hd_shrink_points_request {
    const struct huddle_dense *f, *anchors;
    const struct huddle_csr *w;
    double gamma;
    bool squared;
} hd_shrink_points_request;

/* The requests below are made only where one process holds all rows. The stage checks sizes, ranges
 * and that numbers are finite; what is not so is an error of the engine. */

/* gram (m x m, row-major) = C'C if by_columns (m = d), else CC' (m = n), of the points less a row
 * vector: c_ij = x_ij - offset_j of the stored values, whatever the shift of the points. Sums in
 * double. */
typedef struct hd_gram_request {
    const struct huddle_points *x;
    const double *offset; /* d */
    bool by_columns;
} hd_gram_request;

/* A fitted preparation, row by row, in double: subtract the offset from the stored values, multiply
 * by `scale`, limit to [-limit, limit], project; then subtract the mean of the row over its
 * columns, and divide it by its norm. Each step only if it is given. A row whose norm is at most
 * zero_share times that of its stored values, plus zero_norm, becomes 0 instead (its digits are
 * rounding errors) and is counted. A value beyond single precision is declined: the CPU names it.
 */
typedef struct hd_map_request {
    const struct huddle_points *x;
    const double *offset;                  /* d, or NULL */
    const double *scale;                   /* d, or NULL */
    double limit;                          /* 0: none */
    const struct huddle_dense *projection; /* d x columns, or NULL: columns = d */
    int64_t columns;
    bool center_rows, unit_rows;
    double zero_share, zero_norm;
} hd_map_request;

/* Dense points without a shift, filled in by the engine, and the number of rows that became 0. The
 * values are on the host, where several steps read them; the engine may keep its copy too. */
typedef struct hd_map_result {
    struct huddle_points *y;
    int64_t zero_rows;
} hd_map_result;

/* first[i] = the smallest row equal to row i, by the values of points or rows of doubles; -0 equals
 * 0, and a stored zero of sparse points one that is not stored. */
typedef struct hd_distinct_request {
    const struct huddle_points *points;
    const struct huddle_dense *rows; /* one of these two */
} hd_distinct_request;

/* Moves of single vertices to clusters of their neighbours that lower an objective of
 * docs/method.md, "Refinement": common + the sum over the clusters, from shares of the total
 * weight, as src/refine/move.c defines them by name. No cluster may become empty. The stage
 * computes the objective of the labels before and after, and refuses a result that is worse. */
typedef struct hd_move_request {
    const struct huddle_csr *graph; /* symmetric, not negative; loops count as inside */
    const double *degree;           /* of each vertex, as a share */
    double unit;                    /* the share of an entry is its value times this */
    const char *objective;          /* "map", "modularity", "ncut" */
    int64_t n_clusters;
    int32_t max_sweeps;
    uint64_t seed;
} hd_move_request;

/* Sums over a graph from which the scores of labels 0 .. n_clusters - 1 follow (huddle/metrics.h).
 */
typedef struct hd_score_request {
    const struct huddle_csr *graph;
    const int32_t *labels;
    int64_t n_clusters;
    bool all; /* entropy and information too */
} hd_score_request;

typedef struct hd_score_result {
    double *inside; /* n_clusters, to be filled in: sum of the entries within each cluster, */
    double *volume; /* and of all entries of its rows */
    double entropy; /* H and MI of huddle_graph_scores */
    double information;
} hd_score_result;

/* The silhouette of every point (huddle/metrics.h), with labels 0 .. n_clusters - 1, all of which
 * occur, n_clusters > 1. */
typedef struct hd_silhouette_request {
    const struct huddle_points *x;
    const int32_t *labels;
    int64_t n_clusters;
} hd_silhouette_request;

/* A stage of a fit that is about to begin; sizes as far as they are known. */
typedef struct hd_memory_request {
    const char *stage; /* "distinct", "prepare", "graph", "embed", "shrink", ... (base/stages.h) */
    int64_t n, d;      /* of the points; d = 0: a graph or an embedding was given */
    int64_t nonzeros;  /* of sparse points; dense: -1 */
    int64_t graph_edges; /* entries of a graph that was given; else 0 */
    int64_t n_clusters;
    int64_t host; /* bytes that the CPU would need for the stage */
} hd_memory_request;

/* Bytes of the engine's own memory: what the stage needs, and what there is. */
typedef struct hd_memory_answer {
    int64_t needed, available;
} hd_memory_answer;

/* ---- the table ------------------------------------------------------------------------------- */

/* More than 20 fields: a function for each thing that a stage may ask. */
typedef struct hd_engine {
    huddle_engine_text text; /* name and summary */

    /* open() is called when a context chooses the engine; the options are the text after the colon
     * of "NAME:OPTIONS", or "". hd_context_engine_state() returns the state. An engine without
     * open() takes no options. close() is called, by any thread, when the context has chosen
     * another engine or was freed and the last copy in the engine's memory is gone. */
    huddle_status (*open)(huddle_context *context, const char *options, void **state);
    void (*close)(void *state);

    const hd_engine_slabs *slabs; /* NULL: one process holds all rows */

    /* Stages. Results may stay where the engine keeps them (huddle/matrix.h, "resident"). */
    huddle_status (*find_neighbors)(huddle_context *context, const hd_neighbor_request *request,
                                    struct huddle_neighbors *out, struct huddle_knn_info *info);
    huddle_status (*weigh)(huddle_context *context, const struct huddle_neighbors *neighbors,
                           const struct huddle_weight_options *options, struct huddle_csr *graph,
                           struct huddle_scale *scale);

    /* Components of a graph, joined by entries other than 0 and numbered by their first vertices,
     * as huddle_graph_components() does. Asked only for graphs in the memory of the engine. */
    huddle_status (*find_components)(huddle_context *context, const struct huddle_csr *graph,
                                     int32_t *component, int32_t *count);
    huddle_status (*find_eigenpairs)(huddle_context *context, const hd_eigen_request *request,
                                     hd_eigen_result *result);
    huddle_status (*shrink)(huddle_context *context, const hd_shrink_request *request,
                            hd_shrink_result *result);

    /* Fills in the rows of g, which has host arrays, and may adopt a copy of them. */
    huddle_status (*shrink_points)(huddle_context *context, const hd_shrink_points_request *request,
                                   struct huddle_dense *g);

    /* Points whose rows are those of a matrix in the memory of the engine: values[j] of point i is
     * row index[i] (NULL: i), column j, minus the shift, rounded. The host has them already; the
     * engine adopts a copy that it makes of the matrix, so that nothing is sent. */
    huddle_status (*round_rows)(huddle_context *context, const struct huddle_dense *matrix,
                                const int64_t *index, const struct huddle_points *points);

    /* K-means. x has no shift, and start and centres are in its coordinates: the stage subtracts
     * and adds the shift. A start of several times n_clusters rows is one of several restarts. The
     * info gets inertia, n_iter and stop, and, if there are several restarts, inertias, n_restarts,
     * best and, with keep_starts, start_labels. Points that only the engine has are not looked at
     * before: it declines if they have fewer distinct rows than clusters. */
    huddle_status (*cluster_rows)(huddle_context *context, const struct huddle_points *x,
                                  const double *row_weights,
                                  const struct huddle_kmeans_options *options,
                                  struct huddle_kmeans_result *result,
                                  struct huddle_kmeans_info *info);
    huddle_status (*assign_rows)(huddle_context *context, const struct huddle_points *x,
                                 const struct huddle_dense *centres, int32_t *labels);

    /* Preparation; distinct rows; moves and scores of labels. */
    huddle_status (*find_gram)(huddle_context *context, const hd_gram_request *request,
                               double *gram);
    huddle_status (*map_points)(huddle_context *context, const hd_map_request *request,
                                hd_map_result *result);
    huddle_status (*find_distinct)(huddle_context *context, const hd_distinct_request *request,
                                   int32_t *first);
    huddle_status (*move_vertices)(huddle_context *context, const hd_move_request *request,
                                   int32_t *labels, int32_t *n_sweeps);
    huddle_status (*score_graph)(huddle_context *context, const hd_score_request *request,
                                 hd_score_result *result);
    huddle_status (*find_silhouettes)(huddle_context *context, const hd_silhouette_request *request,
                                      double *silhouettes);

    /* Asked before a fit, for the stages whose functions the engine has. A failure, or more
     * needed than available: the stage is predicted for the host. NULL: the stages need no
     * memory of the host beyond their results and what remains its work. */
    huddle_status (*predict_memory)(huddle_context *context, const hd_memory_request *request,
                                    hd_memory_answer *answer);

    /* Takes the place of the linear solver "auto" of shrink (src/shrink/linear.h). */
    const struct hd_shrink_linear_solver *linear_solver;
} hd_engine;

/* The empty table. */
extern const hd_engine hd_engine_cpu;

/* Chooses an engine for the context: closes the one before, opens this one. */
huddle_status hd_context_use_engine(huddle_context *context, const hd_engine *engine,
                                    const char *options);

/* The context's table, never NULL, and the state made by its open(). */
const hd_engine *hd_context_engine(const huddle_context *context);
void *hd_context_engine_state(const huddle_context *context);

/* What a stage does with the status of an engine's function, or of one of its linear solvers, whose
 * name is `function`. True if the engine has declined: the reason, the last message of this thread,
 * is written to the log, once for each function and reason, up to HD_MAX_DECLINED of them; what a
 * trial asks for in silence is not. */
bool hd_engine_declined(huddle_context *context, const char *function, huddle_status status);

/* hd_parallel() with one item in a chunk for bodies whose stages may ask the engine: side by side
 * on the CPU; with another engine, which is called from one thread at a time, one after the other.
 */
struct hd_chunk;
huddle_status hd_engine_loop(huddle_context *context, const char *stage, int64_t n,
                             huddle_status (*body)(void *argument, struct hd_chunk chunk),
                             void *argument);

/* ---- open engines ---------------------------------------------------------------------------- */

/* A table and the state that its open() made. The context holds it, and so does every copy in the
 * engine's memory (src/matrix/resident.h): the last one to let it go closes it. Containers can
 * therefore be fetched and freed after their context chose another engine or was freed. */
typedef struct hd_open_engine hd_open_engine;

/* That of the context; NULL: the CPU. */
hd_open_engine *hd_context_open_engine(const huddle_context *context);

/* Another user, returned; and one less. */
hd_open_engine *hd_open_engine_hold(hd_open_engine *opened);
void hd_open_engine_release(hd_open_engine *opened);

/* Whether a context still computes with it. */
bool hd_open_engine_serves(const hd_open_engine *opened);

#ifdef __cplusplus
}
#endif

#endif
