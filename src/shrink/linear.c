#include "shrink/linear.h"

#include "base/check.h"

#include <string.h>

/* In the order in which "auto" tries them. */
static const hd_linear *const solvers[] = {
#if HUDDLE_GPL
    &hd_linear_cholmod,
#endif
    &hd_linear_approximate,
};
enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

static huddle_status open_by_name(huddle_context *context, const char *name,
                                  const hd_linear_graph *graph, hd_linear_system *system) {
    for (int k = 0; k < N_SOLVERS; k++)
        if (strcmp(solvers[k]->name, name) == 0) {
            system->solver = solvers[k];
            return solvers[k]->analyse(context, graph, &system->state);
        }
    return hd_fail(HUDDLE_UNSUPPORTED, "linear_solver = %s is not part of this build", name);
}

huddle_status hd_linear_open(huddle_context *context, const char *name,
                             const hd_linear_graph *graph, hd_linear_system *system) {
    huddle_status status = HUDDLE_INTERNAL;
    *system = (hd_linear_system){0};
    if (strcmp(name, "auto") != 0)
        return open_by_name(context, name, graph, system);
    for (int k = 0; k < N_SOLVERS; k++) {
        bool last = k == N_SOLVERS - 1;
        status = open_by_name(context, solvers[k]->name, graph, system);
        if (status == HUDDLE_OK && (last || solvers[k]->fits(system->state)))
            break;
        if (last || status == HUDDLE_NO_MEMORY || status == HUDDLE_CANCELLED)
            break;
        hd_linear_close(system);
    }
    return status;
}

void hd_linear_close(hd_linear_system *system) {
    if (system->solver != NULL && system->state != NULL)
        system->solver->free(system->state);
    *system = (hd_linear_system){0};
}
