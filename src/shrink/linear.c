#include "shrink/linear.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The first of the solvers of this build, in the order in which "auto" tries them. */
static const hd_shrink_linear_solver *const own_solvers =
#if HUDDLE_GPL
    &hd_shrink_cholmod;
#else
    &hd_shrink_approximate;
#endif

const char *const hd_shrink_linear_names[] = {"auto",
#if HUDDLE_GPL
                                              "cholmod",
#endif
                                              "approximate", NULL};

/* Whether the next solver is tried after this status. Running out of memory is not among them: the
 * caller should learn of it. */
static bool is_declined(huddle_status status) {
    return status == HUDDLE_UNSUPPORTED || status == HUDDLE_NUMERIC;
}

/* The first solver from this one on that takes the graph. "auto" also asks fits(), which predicts
 * whether the cost is affordable; the names stand for the solvers of a kind. The status is that of
 * the last one that declined, HUDDLE_UNSUPPORTED if there was none. fits() comes after the
 * analysis, since what a factor costs is known only then. The log names each of the engine's that
 * declined, also if the next one of the engine then takes the graph. */
static huddle_status open_first(huddle_context *context, const hd_shrink_linear_solver *solver,
                                const char *name, const hd_shrink_linear_graph *graph,
                                hd_shrink_linear_system *system) {
    huddle_status status = HUDDLE_UNSUPPORTED;
    bool is_auto = strcmp(name, "auto") == 0, direct = strcmp(name, "cholmod") == 0;
    bool of_engine = solver != own_solvers;
    for (; solver != NULL && is_declined(status); solver = solver->next) {
        if (!is_auto && solver->is_direct != direct)
            continue;
        system->solver = solver;
        status = solver->analyse(context, graph, &system->state);
        if (status == HUDDLE_OK && is_auto && solver->fits != NULL && !solver->fits(system->state))
            status = hd_fail(HUDDLE_UNSUPPORTED, "the factor would take too much memory or time");
        if (of_engine && is_declined(status)) /* HUDDLE_NUMERIC is a decline here as well */
            (void)hd_engine_declined(context, solver->name, HUDDLE_UNSUPPORTED);
        if (status != HUDDLE_OK)
            hd_shrink_linear_close(system);
    }
    return status;
}

/* A named solver overrides the engine: the option would otherwise have no effect there. The solvers
 * of this build work on the rows of one process, which is correct as long as no edge leads to
 * another. */
huddle_status hd_shrink_linear_open(huddle_context *context, const char *name,
                                    const hd_shrink_linear_graph *graph,
                                    hd_shrink_linear_system *system) {
    huddle_status status = HUDDLE_OK;
    double ghosts = graph->halo == NULL ? 0 : (double)graph->halo->ghosts;
    *system = (hd_shrink_linear_system){0};
    TRY(hd_reduce_max(context, 1, &ghosts)); /* whether edges lead to others, on any process */
    status = HUDDLE_UNSUPPORTED;
    if (ghosts > 0 || strcmp(name, "auto") == 0)
        status =
            open_first(context, hd_context_engine(context)->linear_solver, name, graph, system);
    if (!is_declined(status))
        goto done;
    if (ghosts > 0)
        FAIL(HUDDLE_UNSUPPORTED,
             "linear_solver: this engine cannot solve linear systems whose rows are distributed "
             "over several processes; use solver = pdhg");
    if (strcmp(name, "cholmod") == 0 && !own_solvers->is_direct)
        FAIL(HUDDLE_UNSUPPORTED, "linear_solver = %s is not part of this build", name);
    TRY(open_first(context, own_solvers, name, graph, system));
done:
    return status;
}

/* A symmetric matrix is factorised row by row, which leaves what is above its diagonal alone. The
 * test of a pivot fails for a NaN as well, so that matrices that are not finite count as
 * indefinite. */
bool hd_shrink_solve_small(int64_t n, int64_t stride, double *a, double shift, double smallest,
                           double *x) {
    for (int64_t p = 0; p < n; p++) {
        a[p * stride + p] += shift;
        for (int64_t q = 0; q <= p; q++) {
            for (int64_t k = 0; k < q; k++)
                a[p * stride + q] -= a[p * stride + k] * a[q * stride + k];
            if (q < p)
                a[p * stride + q] /= a[q * stride + q];
        }
        if (!(a[p * stride + p] > smallest))
            return false;
        a[p * stride + p] = sqrt(a[p * stride + p]);
    }
    for (int64_t p = 0; p < n; p++) {
        for (int64_t k = 0; k < p; k++)
            x[p] -= a[p * stride + k] * x[k];
        x[p] /= a[p * stride + p];
    }
    for (int64_t p = n; p-- > 0;) {
        for (int64_t k = p + 1; k < n; k++)
            x[p] -= a[k * stride + p] * x[k];
        x[p] /= a[p * stride + p];
    }
    return true;
}

/* Also after a failed analysis, which may leave a state that is not complete. */
void hd_shrink_linear_close(hd_shrink_linear_system *system) {
    if (system->solver != NULL && system->state != NULL)
        system->solver->free(system->state);
    *system = (hd_shrink_linear_system){0};
}
