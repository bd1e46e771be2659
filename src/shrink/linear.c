#include "shrink/linear.h"

#include "base/check.h"

#include <string.h>

/* The solvers of this build, in the order in which "auto" tries them. */
static const hd_shrink_linear_solver *const solvers[] = {
#if HUDDLE_GPL
    &hd_shrink_cholmod,
#endif
    &hd_shrink_approximate,
};
enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

const char *const hd_shrink_linear_names[] = {"auto",
#if HUDDLE_GPL
                                              "cholmod",
#endif
                                              "approximate", NULL};

/* Whether edges lead to rows of other processes, on any of them. */
static huddle_status find_ghosts(huddle_context *context, const hd_shrink_linear_graph *graph,
                                 bool *found) {
    huddle_status status = HUDDLE_OK;
    double ghosts = graph->halo == NULL ? 0 : (double)graph->halo->ghosts;
    TRY(hd_reduce_max(context, 1, &ghosts));
    *found = ghosts > 0;
done:
    return status;
}

static huddle_status open_by_name(huddle_context *context, const char *name,
                                  const hd_shrink_linear_graph *graph,
                                  hd_shrink_linear_system *system) {
    for (int k = 0; k < N_SOLVERS; k++)
        if (strcmp(solvers[k]->name, name) == 0) {
            system->solver = solvers[k];
            return solvers[k]->analyse(context, graph, &system->state);
        }
    return hd_fail(HUDDLE_UNSUPPORTED, "linear_solver = %s is not part of this build", name);
}

/* Whether "auto" tries the next solver after this status. Running out of memory is not among them:
 * the caller should learn of it. */
static bool is_declined(huddle_status status) {
    return status == HUDDLE_UNSUPPORTED || status == HUDDLE_NUMERIC;
}

/* The first solver whose analysis succeeds and predicts an affordable cost. The last one is used in
 * any case: it has no limits of its own. */
static huddle_status open_first_fit(huddle_context *context, const hd_shrink_linear_graph *graph,
                                    hd_shrink_linear_system *system) {
    huddle_status status = HUDDLE_INTERNAL;
    for (int k = 0; k < N_SOLVERS; k++) {
        bool last = k == N_SOLVERS - 1;
        status = open_by_name(context, solvers[k]->name, graph, system);
        if (status == HUDDLE_OK && (last || solvers[k]->fits(system->state)))
            break;
        if (last || (status != HUDDLE_OK && !is_declined(status)))
            break;
        hd_shrink_linear_close(system);
    }
    return status;
}

/* The first of the engine's solvers that takes the graph: of those of one kind, unless any will do.
 * A solver may decline, by a status or by fits(). No solver: HUDDLE_OK, and the system is empty. */
static huddle_status open_of_engine(huddle_context *context, const hd_shrink_linear_graph *graph,
                                    bool any, bool direct, hd_shrink_linear_system *system) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_linear_solver *solver = hd_context_engine(context)->linear_solver;
    for (; solver != NULL; solver = solver->next) {
        if (!any && solver->is_direct != direct)
            continue;
        system->solver = solver;
        status = solver->analyse(context, graph, &system->state);
        if (status == HUDDLE_OK && (!any || solver->fits == NULL || solver->fits(system->state)))
            goto done;
        if (status != HUDDLE_OK && !is_declined(status))
            goto done;
        hd_shrink_linear_close(system);
        status = HUDDLE_OK;
    }
done:
    return status;
}

/* A named solver overrides the engine: the option would otherwise have no effect there. The solvers
 * above work on the rows of one process, which is correct as long as no edge leads to another. */
huddle_status hd_shrink_linear_open(huddle_context *context, const char *name,
                                    const hd_shrink_linear_graph *graph,
                                    hd_shrink_linear_system *system) {
    huddle_status status = HUDDLE_OK;
    bool is_auto = strcmp(name, "auto") == 0, ghosts;
    *system = (hd_shrink_linear_system){0};
    TRY(find_ghosts(context, graph, &ghosts));
    if (is_auto || ghosts)
        TRY(open_of_engine(context, graph, is_auto, strcmp(name, "cholmod") == 0, system));
    if (system->solver != NULL)
        goto done;
    if (ghosts)
        FAIL(HUDDLE_UNSUPPORTED,
             "linear_solver: this engine cannot solve linear systems whose rows are spread over "
             "several processes; use solver = pdhg");
    TRY(is_auto ? open_first_fit(context, graph, system)
                : open_by_name(context, name, graph, system));
done:
    return status;
}

/* Also after a failed analysis, which leaves no state. */
void hd_shrink_linear_close(hd_shrink_linear_system *system) {
    if (system->solver != NULL && system->state != NULL)
        system->solver->free(system->state);
    *system = (hd_shrink_linear_system){0};
}
