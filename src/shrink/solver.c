#include "shrink/solver.h"

#include "base/check.h"

#include <string.h>

/* Every solver of the option `solver`; "auto" is not one of them (hd_shrink_find_solver). */
static const hd_shrink_solver *const solvers[] = {&hd_shrink_irls, &hd_shrink_newton,
                                                  &hd_shrink_pdhg, &hd_shrink_plain};
enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

const char *const hd_shrink_solver_names[] = {"auto", "irls", "newton", "pdhg", "plain", NULL};

/* newton contains irls, and its tail costs nothing unless it is needed, hence it is the default.
 * The reduction makes all processes choose alike, including those without ghosts. */
huddle_status hd_shrink_find_solver(huddle_context *context, const hd_shrink_edges *edges,
                                    const char *name, const hd_shrink_solver **solver) {
    huddle_status status = HUDDLE_OK;
    double ghosts = (double)edges->halo.ghosts;
    TRY(hd_reduce_max(context, 1, &ghosts));
    *solver = ghosts > 0 && hd_context_engine(context)->linear_solver == NULL ? &hd_shrink_pdhg
                                                                              : &hd_shrink_newton;
    for (int k = 0; k < N_SOLVERS; k++)
        if (strcmp(solvers[k]->name, name) == 0)
            *solver = solvers[k];
done:
    return status;
}
