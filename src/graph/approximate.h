/* The parts of the approximate neighbour search (approximate.c): random trees whose leaves are
 * compared pair by pair, neighbour descent, and the estimate of the recall.
 *
 * Points are numbered by their positions in the order of the first tree, so that near points are
 * near in memory. Distances are differences in float between coordinates times a power of two: the
 * value of a pair has the same bits wherever it is computed, in whichever order and lane. A list
 * contains the smallest (value, position) that it was offered, hence its content does not depend on
 * the order of the offers, nor on the number of threads. */
#ifndef HUDDLE_SRC_GRAPH_APPROXIMATE_H
#define HUDDLE_SRC_GRAPH_APPROXIMATE_H

#include "graph/search.h"
#include "graph/tiles.h"

#include <string.h>

/* ---- points in the order of a tree ------------------------------------------------------------
 */

typedef struct hd_graph_ordered_points {
    const hd_graph_rows *rows;
    int64_t n, d;
    const float *values; /* rows of coordinates, stride apart */
    int64_t stride;
    const int32_t *pick;      /* which of them belongs to each position; NULL: in order */
    int32_t *order;           /* the point at each position */
    float *copy;              /* what values points to, if it was allocated here */
    hd_graph_packing packing; /* differences, no centre; all coordinates are in [-1, 1] */
    hd_graph_tile_function kernel;
} hd_graph_ordered_points;

/* Every point at the position of its number. Under cosine the rows are copied, normalised. No
 * coordinate that these points are compared with exceeds reach; 0: they are compared among
 * themselves. */
huddle_status hd_graph_ordered_points_new(huddle_context *context, const hd_graph_rows *rows,
                                          double reach, hd_graph_ordered_points *points);
void hd_graph_ordered_points_free(hd_graph_ordered_points *points);

/* Moves the points: position p gets the point that was at order[p]. Called once. Rows of few cache
 * lines are copied in the new order; longer ones remain where they are. */
huddle_status hd_graph_ordered_points_permute(huddle_context *context,
                                              hd_graph_ordered_points *points,
                                              const int32_t *order);

static inline const float *hd_graph_ordered_row(const hd_graph_ordered_points *x,
                                                int64_t position) {
    return x->values + (x->pick != NULL ? x->pick[position] : position) * x->stride;
}

/* Packs `count` points into values (panels.h), which have room for a multiple of 16 points; what is
 * left of the last panel becomes 0. base, for whole tiles, becomes 0 and beyond the points
 * infinity. */
hd_graph_panels hd_graph_ordered_points_pack(const hd_graph_ordered_points *x,
                                             const int32_t *position, int64_t count, float *values,
                                             float *base);

/* ---- lists --------------------------------------------------------------------------------- */

/* An entry is one number, so that entries are compared and moved at once: the bits of the value,
 * which is not negative, then the position, then whether the entry is new to the descent. */
typedef struct hd_graph_lists {
    int64_t n;
    int32_t k;
    uint64_t *entries;   /* n x k, ascending */
    _Atomic float *tau;  /* n: the last value of each list, above which nothing can enter it */
    atomic_flag *locked; /* n */
} hd_graph_lists;

huddle_status hd_graph_lists_new(int64_t n, int32_t k, hd_graph_lists *lists);
void hd_graph_lists_free(hd_graph_lists *lists);

/* Makes the lists longer; the entries that are added are empty. */
huddle_status hd_graph_lists_extend(hd_graph_lists *lists, int32_t k);

static inline int32_t hd_graph_entry_position(uint64_t entry) {
    return (int32_t)((entry & UINT32_MAX) >> 1);
}

static inline float hd_graph_entry_value(uint64_t entry) {
    uint32_t bits = (uint32_t)(entry >> 32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Enters the distances of what list `list` contains, positions of these points, into the list of
 * query i. */
void hd_graph_lists_verify(const hd_graph_lists *lists, int64_t list,
                           const hd_graph_ordered_points *points, int64_t i,
                           const hd_graph_search *search);

/* Inserts a new entry unless it is there already or belongs behind the last one; returns whether it
 * was inserted. The caller is the only one who works on list i. */
bool hd_graph_lists_insert(hd_graph_lists *lists, int64_t i, float value, int64_t position);

/* The same where other threads may work on list i. */
void hd_graph_lists_offer(hd_graph_lists *lists, int64_t i, float value, int64_t position);

/* Points that tiles compare for lists. */
typedef struct hd_graph_list_pairs {
    hd_graph_lists *lists;
    const int32_t *rows;    /* the list of each row */
    const int32_t *columns; /* the position of each column; equal to rows: pairs of the columns, of
                               which the rows are the first */
    float *tau;             /* room for one of each row and column */
} hd_graph_list_pairs;

/* Compares all rows with all columns, or every pair of the columns once. Hits are pairs that the
 * tau of their lists does not exclude; the argument of `hit` is `pairs`. */
void hd_graph_lists_compare(hd_graph_list_pairs *pairs, const hd_graph_ordered_points *points,
                            const hd_graph_panels *rows, const hd_graph_panels *columns,
                            hd_graph_hit_function hit);

/* ---- trees --------------------------------------------------------------------------------- */

typedef struct hd_graph_forest {
    const hd_graph_ordered_points *points;
    int64_t leaves;   /* of a tree: leaf l begins at l n / leaves of its order */
    int64_t capacity; /* points of the largest leaf, padded */
    uint64_t seed;
    int32_t *order;    /* of the tree that was grown last */
    uint64_t *keys;    /* of the points being split */
    float *directions; /* one per worker */
    float *routes;     /* not NULL: leaves x (d + 1), where the next tree leaves directions and
                          thresholds; the caller's */
} hd_graph_forest;

/* Where leaf `leaf` begins. */
static inline int64_t hd_graph_forest_begin(const hd_graph_forest *f, int64_t leaf) {
    return leaf * f->points->n / f->leaves;
}

/* Leaves have at most `leaf` points, and at least half as many if there are so many points. */
huddle_status hd_graph_forest_new(huddle_context *context, const hd_graph_ordered_points *points,
                                  int64_t leaf, uint64_t seed, hd_graph_forest *forest);
void hd_graph_forest_free(hd_graph_forest *forest);

/* Grows tree number `tree`, of which only the order remains. */
huddle_status hd_graph_forest_grow(huddle_context *context, hd_graph_forest *forest, int64_t tree);

/* The leaf of a tree, of which the routes were kept, to which a row of coordinates as those of the
 * points belongs. */
int64_t hd_graph_forest_find(const hd_graph_forest *forest, const float *routes, const float *row);

/* Enters all pairs within leaves of the tree that was grown last into the lists. */
huddle_status hd_graph_forest_join(huddle_context *context, const hd_graph_forest *forest,
                                   hd_graph_lists *lists);

/* ---- descent ------------------------------------------------------------------------------- */

/* One round of neighbour descent, which has converged if few entries changed. */
huddle_status hd_graph_descend(huddle_context *context, const hd_graph_ordered_points *points,
                               uint64_t seed, int32_t round, hd_graph_lists *lists,
                               bool *converged);

/* ---- recall -------------------------------------------------------------------------------- */

/* Random queries and the distance of the k-th true neighbour of each. */
typedef struct hd_graph_sample {
    int64_t count;     /* those of this process */
    int32_t *row;      /* their numbers here */
    int32_t *position; /* likewise among the ordered points, ascending; NULL across processes */
    double *kth2;      /* squared; NULL: not computed yet */
} hd_graph_sample;

huddle_status hd_graph_sample_new(const hd_graph_ordered_points *points, uint64_t seed,
                                  hd_graph_sample *sample);

/* Among rows that are distributed over processes: draws rows, the same for any number of processes,
 * and answers them exactly, by all processes. search: the rows of this process among themselves,
 * their ids, k, seed and reach. */
huddle_status hd_graph_sample_distributed(huddle_context *context, const hd_graph_search *search,
                                          hd_graph_sample *sample);
void hd_graph_sample_free(hd_graph_sample *sample);

/* Computes kth2, given the lists of the sample. */
huddle_status hd_graph_sample_answer(huddle_context *context, const hd_graph_ordered_points *points,
                                     const hd_graph_search *search, hd_graph_sample *sample);

/* Estimates the recall of the k nearest in the lists of all processes, of which those of the sample
 * must be final. */
huddle_status hd_graph_sample_measure(huddle_context *context, const hd_graph_sample *sample,
                                      const hd_graph_search *search, hd_graph_recall *recall);

/* The interval for a mean share of `count` queries of k neighbours whose squares add up to sum2. */
hd_graph_recall hd_graph_recall_interval(double sum, double sum2, double count, double k);

/* The number of queries of a sample of n rows, and the numbers of these rows, ascending. */
int64_t hd_graph_sample_size(int64_t n);
void hd_graph_sample_draw(uint64_t seed, int64_t n, int64_t *rows);

/* ---- one search, step by step -------------------------------------------------------------- */

/* HD_GRAPH_ATTEMPTS attempts at most, each with longer lists and more trees than the one before;
 * the first HD_GRAPH_KEPT_TREES trees may be kept. */
enum { HD_GRAPH_ATTEMPTS = 4, HD_GRAPH_KEPT_TREES = 2 };

typedef struct hd_graph_approximation {
    hd_graph_search *search;
    hd_graph_ordered_points points;
    hd_graph_forest forest;
    hd_graph_lists lists;
    hd_graph_sample sample;
    int64_t trees;
    bool keep;                            /* trees */
    float *routes[HD_GRAPH_KEPT_TREES];   /* hd_graph_forest_find() */
    int32_t *orders[HD_GRAPH_KEPT_TREES]; /* positions, leaf by leaf */
} hd_graph_approximation;

/* Whether brute force among n points takes longer than an attempt. */
bool hd_graph_approximation_pays(int64_t n, int attempt);

/* Begins with one tree, which orders the points. search and keep are set. */
huddle_status hd_graph_approximation_begin(huddle_context *context, hd_graph_approximation *a);
void hd_graph_approximation_free(hd_graph_approximation *a);

/* Trees and rounds of an attempt; the lists of positions are then what it found. */
huddle_status hd_graph_approximation_attempt(huddle_context *context, hd_graph_approximation *a,
                                             int attempt);

/* Computes the lists of the search, by its ids, from those of the positions. */
huddle_status hd_graph_approximation_verify(huddle_context *context, hd_graph_approximation *a);

/* Continues the lists of search->query with the points of the approximation, by the trees that it
 * has kept and its lists. A query with near[i] false is left out; near may be NULL. */
huddle_status hd_graph_approximation_continue(huddle_context *context,
                                              const hd_graph_approximation *a, const bool *near,
                                              hd_graph_search *search);

/* Warns that no attempt met the target. */
void hd_graph_approximation_warn(huddle_context *context, const hd_graph_search *search);

#endif
