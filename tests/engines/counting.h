/* An engine for tests that owns every stage: a second implementation of each, in plain loops that
 * follow the definitions in the public headers and share no code with the library's. It counts its
 * calls, so that a test can show that a method reaches each of its stages through the seam. Slow,
 * and meant for a few hundred rows.
 *
 * Options of open():
 *
 *   ""            results are in ordinary arrays
 *   "resident"    the engine computes in a memory of its own: results stay there (containers have
 *                 `resident` set and NULL arrays, so that code which reads them without fetching
 *                 crashes), inputs are sent there and adopted where there is a place for them
 *   "decline"     every function returns HUDDLE_UNSUPPORTED
 *   "fail:STAGE"  the function of that name returns HUDDLE_NO_MEMORY
 *   "spoil:STAGE" the function of that name returns what cannot be a result
 *   "memory:N"    N bytes of memory, which every stage of a fit needs n bytes of for each row
 *   "forge"       shrink returns the rows of F and a dual point of zeros, as a broken engine may */
#ifndef HUDDLE_TESTS_COUNTING_H
#define HUDDLE_TESTS_COUNTING_H

#include "base/engine.h"
#include "huddle/embed.h"
#include "huddle/graph.h"
#include "huddle/kmeans.h"
#include "huddle/model.h"
#include "huddle/shrink.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum counting_stage {
    COUNTING_NEIGHBORS,     /* find_neighbors: points among themselves */
    COUNTING_ROW_NEIGHBORS, /* rows of doubles among themselves */
    COUNTING_QUERIES,       /* new points among points */
    COUNTING_ROW_QUERIES,   /* new rows among rows */
    COUNTING_BRIDGES,       /* the nearest of another part */
    COUNTING_WEIGH,
    COUNTING_COMPONENTS,
    COUNTING_EIGENPAIRS,
    COUNTING_SHRINK,
    COUNTING_SHRINK_POINTS,
    COUNTING_ROUND_ROWS,
    COUNTING_CLUSTER_ROWS,
    COUNTING_ASSIGN_ROWS,
    COUNTING_GRAM,
    COUNTING_MAP,
    COUNTING_DISTINCT,
    COUNTING_MOVE,
    COUNTING_SCORES,
    COUNTING_SILHOUETTES,
    COUNTING_MEMORY,
    N_COUNTING_STAGES
} counting_stage;

/* The kinds of containers. */
typedef enum counting_kind {
    COUNTING_POINTS,
    COUNTING_DENSE,
    COUNTING_CSR,
    COUNTING_LISTS,
    N_COUNTING_KINDS
} counting_kind;

/* Containers that went from one memory to the other, and their bytes. */
typedef struct counting_transfers {
    atomic_llong count[N_COUNTING_KINDS], bytes[N_COUNTING_KINDS];
} counting_transfers;

typedef struct counting_state {
    atomic_llong calls[N_COUNTING_STAGES];
    atomic_llong kept;                /* containers that were left resident */
    atomic_llong reused;              /* inputs that the engine found in its memory */
    atomic_llong stale;               /* of those, that differ from the arrays on the host: 0 */
    counting_transfers sent, fetched; /* to the engine's memory, and from there; "resident" only */
    bool resident, decline, forge;
    char failing[32];       /* the stage that fails, or "" */
    char spoiling[32];      /* the stage that returns nonsense, or "" */
    long long memory;       /* bytes that the engine has */
    pthread_t owner;        /* the thread that opened the engine, */
    atomic_llong elsewhere; /* and calls from others: 0 */
} counting_state;

extern const hd_engine counting_engine;

/* "find_neighbors", ... */
const char *counting_stage_name(counting_stage stage);

/* A context with this engine, or with the CPU if options is NULL. */
huddle_context *counting_context(const char *options);

/* A context of three threads with any engine, or with the CPU if engine is NULL. */
huddle_context *counting_context_with(const hd_engine *engine, const char *options);

/* The counters of a context with this engine, and how often it was asked. */
counting_state *counting_state_of(const huddle_context *context);
long long counting_calls(const huddle_context *context, counting_stage stage);

/* Sums over the kinds, and back to 0. */
long long counting_transferred(const counting_transfers *transfers);
void counting_forget(counting_state *state);

/* Engines of this table that are open, in contexts or kept by containers. */
int counting_open_engines(void);

/* Three separate clouds, and from row 84 on a few points between each two of them, so that the
 * graph is connected. */
huddle_points counting_clouds(int64_t n, int64_t d, uint64_t seed);

/* c groups of normal points, noise wide, whose centres are 4 wide. */
huddle_points counting_groups(int64_t n, int64_t d, int64_t c, double noise);

/* Fails unless two fits have the same labels and arrays of doubles, bit for bit. */
void counting_check_same_bits(const char *what, huddle_model *a, huddle_model *b);

/* ---- for the files of this engine ------------------------------------------------------------ */

/* Counts a call; fails if the options say so. */
huddle_status counting_enter(huddle_context *context, counting_stage stage);

/* Whether the options say that the stage returns nonsense. */
bool counting_spoils(const huddle_context *context, counting_stage stage);

/* Inputs as they are in the engine's memory, where they are brought if necessary, or else as they
 * are on the host. */
huddle_status counting_points(huddle_context *context, const huddle_points *x, huddle_points *own);
huddle_status counting_dense(huddle_context *context, const huddle_dense *x, huddle_dense *own);
huddle_status counting_csr(huddle_context *context, const huddle_csr *x, huddle_csr *own);
huddle_status counting_neighbors(huddle_context *context, const huddle_neighbors *x,
                                 huddle_neighbors *own);

/* Under "resident": moves the arrays of a result into the engine's memory. Tests make points that
 * only the engine has. */
huddle_status counting_keep_points(huddle_context *context, huddle_points *x);
huddle_status counting_keep_dense(huddle_context *context, huddle_dense *x);
huddle_status counting_keep_csr(huddle_context *context, huddle_csr *x);
huddle_status counting_keep_neighbors(huddle_context *context, huddle_neighbors *x);

/* Under "resident": leaves a copy of a matrix that the engine has made in its place. */
huddle_status counting_adopt_dense(huddle_context *context, const huddle_dense *x);

/* Row i of points as d doubles, dense or sparse, the shift added. */
void counting_row(const huddle_points *x, int64_t i, double *row);

/* sqrt(sum (a_k - b_k)^2). */
double counting_distance(const double *a, const double *b, int64_t count);

/* The stage functions. */
huddle_status counting_find_neighbors(huddle_context *context, const hd_neighbor_request *request,
                                      huddle_neighbors *out, huddle_knn_info *info);
huddle_status counting_weigh(huddle_context *context, const huddle_neighbors *neighbors,
                             const huddle_weight_options *options, huddle_csr *graph,
                             huddle_scale *scale);
huddle_status counting_find_components(huddle_context *context, const huddle_csr *graph,
                                       int32_t *component, int32_t *count);
huddle_status counting_find_eigenpairs(huddle_context *context, const hd_eigen_request *request,
                                       hd_eigen_result *result);
huddle_status counting_shrink(huddle_context *context, const hd_shrink_request *request,
                              hd_shrink_result *result);
huddle_status counting_shrink_points(huddle_context *context,
                                     const hd_shrink_points_request *request, huddle_dense *g);
huddle_status counting_round_rows(huddle_context *context, const huddle_dense *matrix,
                                  const int64_t *index, const huddle_points *points);
huddle_status counting_cluster_rows(huddle_context *context, const huddle_points *x,
                                    const double *row_weights, const huddle_kmeans_options *options,
                                    huddle_kmeans_result *result, huddle_kmeans_info *info);
huddle_status counting_assign_rows(huddle_context *context, const huddle_points *x,
                                   const huddle_dense *centres, int32_t *labels);
huddle_status counting_find_gram(huddle_context *context, const hd_gram_request *request,
                                 double *gram);
huddle_status counting_map_points(huddle_context *context, const hd_map_request *request,
                                  hd_map_result *result);
huddle_status counting_find_distinct(huddle_context *context, const hd_distinct_request *request,
                                     int32_t *first);
huddle_status counting_move_vertices(huddle_context *context, const hd_move_request *request,
                                     int32_t *labels, int32_t *n_sweeps);
huddle_status counting_score_graph(huddle_context *context, const hd_score_request *request,
                                   hd_score_result *result);
huddle_status counting_find_silhouettes(huddle_context *context,
                                        const hd_silhouette_request *request, double *silhouettes);
huddle_status counting_predict_memory(huddle_context *context, const hd_memory_request *request,
                                      hd_memory_answer *answer);

#endif
