/* Linear systems M X = R with M = diag(excess) + sum_e weight_e (e_head - e_tail)(...)', the
 * matrix of every reweighted step: the graph stays, the numbers change. A solver is one table of
 * functions. */
#ifndef HUDDLE_SRC_SHRINK_LINEAR_H
#define HUDDLE_SRC_SHRINK_LINEAR_H

#include "base/context.h"

typedef struct hd_linear_graph {
    int32_t n; /* unknowns */
    int64_t m; /* edges */
    int64_t c; /* right-hand sides, side by side in rows */
    const int32_t *head, *tail;
    int32_t base; /* head and tail are numbered from here */
    /* The edges of vertex v: 2 e if it is the head, 2 e + 1 if the tail, e counted from first_edge
     * on; edges beyond the m above are not part of the matrix. */
    const int64_t *incident_at;
    const uint32_t *incident;
    int64_t first_edge;
    uint64_t seed;
} hd_linear_graph;

typedef struct hd_linear {
    const char *name;

    /* Prepares for a graph. The arrays of `graph` must outlive the state. HUDDLE_UNSUPPORTED or
     * HUDDLE_NUMERIC if the solver cannot take this graph; then "auto" tries the next. */
    huddle_status (*analyse)(huddle_context *context, const hd_linear_graph *graph, void **state);

    /* Takes new numbers: excess (n, positive) and weight (m, not negative). */
    huddle_status (*factor)(void *state, const double *excess, const double *weight);

    /* Solves for x, n x c in rows like r, so that the lengths of the rows of the residual sum to
     * at most `tolerance`; a direct solver does what it does. */
    huddle_status (*solve)(void *state, const double *r, double tolerance, double *x);

    /* After analyse: whether this solver is worth its price here. Unused in the last of the table,
     * which takes what no other does. */
    bool (*fits)(const void *state);

    void (*free)(void *state);
} hd_linear;

extern const hd_linear hd_linear_approximate;
extern const hd_linear hd_linear_cholmod;

/* A solver with its state. */
typedef struct hd_linear_system {
    const hd_linear *solver;
    void *state;
} hd_linear_system;

/* Prepares a system by the solver of that name. "auto" takes the direct one unless its analysis
 * fails, or predicts a factor that costs more operations than the iterative solves it saves, or
 * more memory than 4 GB or half of the machine's. HUDDLE_UNSUPPORTED for a solver this build lacks
 * or, by name, one that cannot take a graph of this size; HUDDLE_NO_MEMORY. */
huddle_status hd_linear_open(huddle_context *context, const char *name,
                             const hd_linear_graph *graph, hd_linear_system *system);
void hd_linear_close(hd_linear_system *system);

#endif
