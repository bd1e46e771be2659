/* Linear systems of the shrink stage: M X = R with
 *
 *     M = diag(excess) + sum_e weight_e (u_head - u_tail)(u_head - u_tail)'
 *
 * (u_v the unit vector of vertex v), the matrix of every reweighted step. The graph stays the same
 * during a solve, the numbers change. A linear solver is one table of functions; an engine can
 * bring one of its own (engine.h, linear_solver), which then takes the place of "auto". */
#ifndef HUDDLE_SRC_SHRINK_LINEAR_H
#define HUDDLE_SRC_SHRINK_LINEAR_H

#include "base/context.h"
#include "base/slabs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_shrink_linear_graph {
    int32_t n; /* unknowns */
    int64_t m; /* edges */
    int64_t c; /* right-hand sides; X and R store them as rows of c numbers */
    const int32_t *head, *tail;
    int32_t base; /* head and tail are numbered from here */
    /* The edges of vertex v: 2 e if it is the head, 2 e + 1 if the tail, e counted from first_edge
     * on. Edges beyond the m above are not part of the matrix. */
    const int64_t *incident_at;
    const uint32_t *incident;
    int64_t first_edge;
    uint64_t seed;
    /* Rows of other processes: vertices n .. n + ghosts - 1, only ever as tails. NULL or without
     * slabs: there are none. */
    const hd_halo *halo;
} hd_shrink_linear_graph;

typedef struct hd_shrink_linear_solver {
    const char *name;

    /* Prepares for a graph, whose arrays must outlive the state. HUDDLE_UNSUPPORTED or
     * HUDDLE_NUMERIC, with a message (hd_fail()), if the solver cannot handle this graph; "auto"
     * then tries the next solver. A failure leaves NULL or a state that free() takes. Called, like
     * the functions below, from several threads at a time for different states. */
    huddle_status (*analyse)(huddle_context *context, const hd_shrink_linear_graph *graph,
                             void **state);

    /* Sets new numbers: excess (n, positive) and weight (m, not negative). */
    huddle_status (*factor)(void *state, const double *excess, const double *weight);

    /* Solves for x, n x c like r. Iterative solvers stop when the norms of the rows of the residual
     * sum to at most `tolerance`, over all processes; direct solvers ignore it. */
    huddle_status (*solve)(void *state, const double *r, double tolerance, double *x);

    /* After analyse: whether "auto" should use this solver for this graph. NULL: always. */
    bool (*fits)(const void *state);

    void (*free)(void *state);

    /* Whether it is a direct solver, and the one to try if this one declines, or NULL. */
    bool is_direct;
    const struct hd_shrink_linear_solver *next;
} hd_shrink_linear_solver;

extern const hd_shrink_linear_solver hd_shrink_approximate;
extern const hd_shrink_linear_solver hd_shrink_cholmod;

/* The values of the option linear_solver: "auto" and the solvers of this build; ends with NULL. */
extern const char *const hd_shrink_linear_names[];

/* A solver with its state. */
typedef struct hd_shrink_linear_system {
    const hd_shrink_linear_solver *solver;
    void *state;
} hd_shrink_linear_system;

/* Prepares a system for the solver of that name. "auto" takes the first of the engine's solvers
 * that does not decline, then the direct solver unless its analysis fails or its fits() is false,
 * then the iterative one. Where edges lead to other processes, "cholmod" and "approximate" stand
 * for the engine's direct and its iterative solver.
 * HUDDLE_UNSUPPORTED for a solver that this build lacks or that cannot handle this graph;
 * HUDDLE_NO_MEMORY. */
huddle_status hd_shrink_linear_open(huddle_context *context, const char *name,
                                    const hd_shrink_linear_graph *graph,
                                    hd_shrink_linear_system *system);
void hd_shrink_linear_close(hd_shrink_linear_system *system);

/* x = (A + shift I)^-1 x for a small symmetric matrix A, n rows of `stride` numbers of which the
 * lower triangle is used, by Cholesky in place; false if it is not definite: a pivot is not above
 * `smallest`. */
bool hd_shrink_solve_small(int64_t n, int64_t stride, double *a, double shift, double smallest,
                           double *x);

#ifdef __cplusplus
}
#endif

#endif
