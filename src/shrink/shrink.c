#include "huddle/shrink.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/options.h"
#include "shrink/certificate.h"
#include "shrink/distributed.h"
#include "shrink/published.h"
#include "shrink/solve.h"
#include "shrink/split.h"

#include <string.h>

/* If snapping would raise the gap above the requested one, the solve continues to a gap smaller by
 * this factor, with at most this many solves in all: the groups are then closer to one point, and
 * there is more room below the requested gap. */
enum { MAX_ATTEMPTS = 3 };
static const double tighter_gap = .5;

/* ---- options ------------------------------------------------------------------------------- */

typedef huddle_shrink_options O;

static const char *const losses[] = {"l21", "l2", NULL};

const huddle_option *huddle_shrink_options_table(void) {
    static const huddle_option table[] = {
        HD_REAL_AUTO(O, gamma, "auto", 0, 1e15, "strength of the shrinking; auto: n / n_clusters"),
        HD_CHOICE(O, loss, "l21", losses,
                  "data term: sum of row distances (l21) or of squared row distances (l2)"),
        HD_CHOICE(O, solver, "auto", hd_shrink_solver_names, "algorithm of the shrink step"),
        HD_CHOICE(O, linear_solver, "auto", hd_shrink_linear_names,
                  "solver for the linear systems of the shrink step"),
        HD_REAL(O, gap, "1e-4", 1e-12, 1, "relative duality gap at which the solver stops"),
        HD_BOOL(O, snap, "true", "move the rows of each fused group to one point"),
        HD_INT_AUTO(O, shrink_max_iter, "auto", 1, INT32_MAX,
                    "maximum number of iterations of the shrink step; auto: depends on the solver"),
        HD_CHOICE(O, shrink_start, "random", hd_shrink_start_names,
                  "where the solvers published and printed start"),
        HD_REAL(O, shrink_tol, "1e-6", 0, 1,
                "relative change of the objective at which published and printed stop; 0: never"),
        HD_REAL(O, shrink_epsilon, "1e-12", 1e-30, 1,
                "published and printed divide by no norm smaller than this"),
        {0}};
    return table;
}

huddle_shrink_options huddle_shrink_defaults(void) {
    huddle_shrink_options options = {0};
    huddle_options_default(huddle_shrink_options_table(), &options);
    options.n_clusters = HUDDLE_AUTO;
    return options;
}

/* ---- the stage ----------------------------------------------------------------------------- */

/* Solves, and continues to a smaller gap while the groups cannot be snapped. There is nothing to
 * snap if every row is a group of its own, and nothing to gain if the solver could not reach the
 * requested gap. What snapping adds to the objective grows with the distances within groups, which
 * fall with the gap, while what is allowed stays the same. */
static huddle_status solve_and_snap(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        TRY(hd_shrink_solve_iterate(s));
        TRY(hd_shrink_solve_answer(s, out));
        if (s->info->snapped || !s->options.snap || out->n_groups == s->n_rows ||
            s->info->gap > s->options.gap)
            break;
        /* The solve continues from its present state; nothing is restarted. */
        s->target_gap *= tighter_gap;
    }
done:
    return status;
}

/* From checked arguments and the edges of the graph to the result. Z is needed for the certificate
 * in any case, and is freed afterwards unless it is requested. */
static huddle_status solve_whole(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_shrink_solve_open(s));
    TRY(solve_and_snap(s, out));
    if (!s->options.keep_dual)
        huddle_dense_free(&out->z);
    TRY(hd_shrink_solve_report(s, out));
done:
    /* Closing frees linear systems, which processes that share them must do together. */
    status = hd_agree(s->input.context, status);
    hd_shrink_solve_close(s);
    return status;
}

huddle_status hd_shrink_solve_part(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_edges edges = {0};
    TRY(hd_shrink_edges_read(s->input.context, s->input.w, &edges));
    s->input.edges = &edges;
    TRY(solve_whole(s, out));
done:
    s->input.edges = NULL;
    hd_shrink_edges_free(&edges);
    return status;
}

/* Whether the engine can move rows, and does not solve the problem itself. */
static bool can_distribute(const hd_shrink_solve *s) {
    const hd_engine *engine = hd_context_engine(s->input.context);
    return engine->slabs != NULL && engine->slabs->exchange != NULL && !hd_shrink_asks_engine(s);
}

/* Whether the problem is large, and nothing is asked for that needs it whole: the dual point, rows
 * distributed over processes. */
static bool split_pays(const hd_shrink_solve *s) {
    const hd_shrink_input *in = &s->input;
    return hd_shrink_is_large(in->f->rows, in->edges->count, in->f->cols) &&
           !s->options.keep_dual && hd_context_engine(in->context)->slabs == NULL;
}

/* Solves the problem whole, or component by component, on this process or on those of the
 * engine. */
static huddle_status shrink_checked(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_edges edges = {0};
    const huddle_shrink_info *info = s->info;
    hd_shrink_limits limits = hd_shrink_engine_limits(s->input.context);
    bool is_published = hd_shrink_is_published(s->options.solver);
    if (is_published)
        TRY(hd_shrink_published_check(s->input.context, s->options.solver, s->input.f->rows));
    TRY(hd_shrink_edges_read(s->input.context, s->input.w, &edges));
    s->input.edges = &edges;
    if (is_published) {
        TRY(hd_shrink_published(s, out));
        if (!s->options.keep_dual)
            huddle_dense_free(&out->z);
        goto done;
    }
    if (can_distribute(s))
        TRY(hd_shrink_distributed(s, &limits, out));
    else if (split_pays(s))
        TRY(hd_shrink_split(s, out));
    else
        TRY(solve_whole(s, out));
    if (!s->is_trivial && info->stop > HUDDLE_STOP_EXACT)
        hd_warn(s->input.context, HUDDLE_WARNING_NOT_CONVERGED,
                "the shrinking stopped (%s) after %d iterations at a gap of %.2g, not %.2g",
                huddle_stop_name(info->stop), info->n_iter, info->gap, s->options.gap);
done:
    s->input.edges = NULL;
    hd_shrink_edges_free(&edges);
    return status;
}

/* Fetches what is in the memory of an engine, and checks everything but the graph itself, which
 * hd_shrink_edges_read() checks while it reads it. */
static huddle_status check_arguments(huddle_context *context, const huddle_dense *f,
                                     const huddle_csr *w, const huddle_shrink_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    TRY(huddle_options_check(huddle_shrink_options_table(), options));
    if (options->n_clusters != HUDDLE_AUTO && options->n_clusters < 1)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is less than 1", options->n_clusters);
    TRY(huddle_csr_fetch(w));
    TRY(hd_slab_locate(context, w->rows, &slab));
    if (slab.total < 1)
        FAIL(HUDDLE_INVALID, "the graph has no vertices");
    TRY(hd_shrink_check_shape(f, "f", w->rows, f->cols));
    TRY(hd_shrink_check_weights(options->weights, w->rows));
    if (options->start != NULL)
        TRY(hd_shrink_check_shape(options->start, "start", w->rows, f->cols));
done:
    return status;
}

/* gamma, or for "auto" n / c, the mean weight of a cluster (docs/method.md, "The two ends of
 * gamma"). The number of columns is used for c if it is not given, since F has one column per
 * cluster. */
static huddle_status choose_gamma(huddle_context *context, const huddle_dense *f,
                                  const huddle_shrink_options *options, double *gamma) {
    huddle_status status = HUDDLE_OK;
    double c = options->n_clusters == HUDDLE_AUTO ? (double)f->cols : options->n_clusters, total;
    *gamma = options->gamma;
    if (*gamma == HUDDLE_AUTO) {
        TRY(hd_shrink_total_weight(context, options->weights, f->rows, &total));
        *gamma = total / c;
    }
done:
    return status;
}

/* The public entry point. On failure out and info are empty; all processes return the same
 * status. */
huddle_status huddle_shrink(huddle_context *context, const huddle_dense *f, const huddle_csr *w,
                            const huddle_shrink_options *options, huddle_shrunk *out,
                            huddle_shrink_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info own = {0};
    hd_shrink_solve s = {.info = &own, .started = hd_seconds()};
    memset(out, 0, sizeof *out);
    if (info != NULL)
        memset(info, 0, sizeof *info);
    s.options = options == NULL ? huddle_shrink_defaults() : *options;
    TRY(check_arguments(context, f, w, &s.options));
    TRY(hd_blas_reserve(context)); /* for CHOLMOD and the Gram matrices of parts */
    TRY(choose_gamma(context, f, &s.options, &own.gamma));
    s.input = (hd_shrink_input){.context = context,
                                .f = f,
                                .w = w,
                                .weights = s.options.weights,
                                .gamma = own.gamma,
                                .squared = strcmp(s.options.loss, "l2") == 0};
    TRY(shrink_checked(&s, out));
    own.seconds = hd_seconds() - s.started;
done:
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_shrunk_free(out);
    if (status == HUDDLE_OK && info != NULL)
        *info = own;
    else
        huddle_shrink_info_free(&own);
    return status;
}

void huddle_shrunk_free(huddle_shrunk *shrunk) {
    huddle_dense_free(&shrunk->g);
    huddle_dense_free(&shrunk->z);
    huddle_free(shrunk->group);
    memset(shrunk, 0, sizeof *shrunk);
}

void huddle_shrink_info_free(huddle_shrink_info *info) {
    FREE(info->history_objective, info->history_dual, info->history_seconds);
    memset(info, 0, sizeof *info);
}
