/* Solvers of the shrink problem, as one table of functions each. A solver owns its state: what it
 * keeps for every block beyond the best point and bound (block.h). */
#ifndef HUDDLE_SRC_SHRINK_SOLVER_H
#define HUDDLE_SRC_SHRINK_SOLVER_H

#include "shrink/block.h"

typedef struct hd_shrink_solver {
    const char *name;
    bool uses_systems; /* solves linear systems */
    int32_t batch;     /* iterations per step: between two looks at the gap */
    int32_t max_idle;  /* steps without progress after which a block has stalled */
    int32_t max_iter;  /* the meaning of "auto" for the option */

    /* Makes the state for all blocks, at the h of their arrays. */
    huddle_status (*open)(const hd_shrink_problem *problem, const hd_shrink_arrays *arrays,
                          void **state);

    /* Before a step of some blocks, called by one thread: allocates what they have asked for. May
     * be NULL. */
    huddle_status (*prepare)(void *state);

    /* One step of one block: at most progress.batch iterations, one new point and one new bound.
     * Called from several threads for different blocks. HUDDLE_NUMERIC: the block cannot go on;
     * its best point and bound are kept. */
    huddle_status (*step)(void *state, hd_shrink_block *block);

    void (*close)(void *state);
} hd_shrink_solver;

extern const hd_shrink_solver hd_shrink_irls;
extern const hd_shrink_solver hd_shrink_newton;
extern const hd_shrink_solver hd_shrink_pdhg;
extern const hd_shrink_solver hd_shrink_reweighted;

/* The values of the option solver: "auto", every solver, and the two of published.c; ends with
 * NULL. */
extern const char *const hd_shrink_solver_names[];

/* The solver of that name. "auto" is newton, or pdhg where linear systems would have to be solved
 * across processes and the engine has no linear solver for that. */
huddle_status hd_shrink_find_solver(huddle_context *context, const hd_shrink_edges *edges,
                                    const char *name, const hd_shrink_solver **solver);

#endif
