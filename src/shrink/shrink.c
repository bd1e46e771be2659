#include "huddle/shrink.h"

#include "base/check.h"
#include "base/options.h"
#include "base/parallel.h"
#include "shrink/certificate.h"
#include "shrink/ends.h"
#include "shrink/groups.h"
#include "shrink/irls.h"
#include "shrink/newton.h"
#include "shrink/pdhg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

typedef huddle_shrink_options O;

static const char *const losses[] = {"l21", "l2", NULL};
static const char *const solver_names[] = {"auto", "irls", "newton", "pdhg", "plain", NULL};
static const char *const linear_names[] = {"auto", "cholmod", "approximate", NULL};

const huddle_option *huddle_shrink_options_table(void) {
    static const huddle_option table[] = {
        HD_REAL_AUTO(O, gamma, "auto", 0, 1e15, "strength of the pull; auto is n / n_clusters"),
        HD_CHOICE(O, loss, "l21", losses, "what holds a row: its distance, or its square"),
        HD_CHOICE(O, solver, "auto", solver_names, "how to shrink"),
        HD_CHOICE(O, linear_solver, "auto", linear_names, "how to solve the linear systems"),
        HD_REAL(O, gap, "1e-4", 1e-12, 1, "relative duality gap to stop at"),
        HD_BOOL(O, snap, "true", "put each group of fused rows at one point"),
        {.name = "shrink_max_iter",
         .type = HUDDLE_OPTION_INT,
         .offset = offsetof(O, max_iter),
         .default_text = "auto",
         .min = 1,
         .max = INT32_MAX,
         .allows_auto = true,
         .help = "most iterations of the shrink; auto suits the solver"},
        {0}};
    return table;
}

huddle_shrink_options huddle_shrink_defaults(void) {
    huddle_shrink_options options = {0};
    huddle_options_default(huddle_shrink_options_table(), &options);
    options.n_clusters = HUDDLE_AUTO;
    return options;
}

/* ---- solvers ------------------------------------------------------------------------------- */

typedef struct solver {
    const char *name;
    hd_step step;
    bool systems;     /* solves linear systems */
    int needs;        /* HD_NEEDS_... */
    int32_t batch;    /* iterations between two looks at the gap */
    int32_t idle;     /* steps without progress after which a block has stalled */
    int32_t max_iter; /* when the caller leaves it open */
} solver;

static const solver solvers[] = {
    {"newton", hd_newton_step, true, HD_NEEDS_PAST, 1, 150, 1000},
    {"irls", hd_irls_step, true, HD_NEEDS_PAST, 1, 150, 1000},
    {"plain", hd_plain_step, true, 0, 1, 1500, 10000},
    {"pdhg", hd_pdhg_step, false, HD_NEEDS_ROUNDS, 20, 1500, 200000},
};

static const solver *find_solver(const char *name) {
    if (strcmp(name, "auto") == 0)
        name = "newton";
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        if (strcmp(solvers[k].name, name) == 0)
            return &solvers[k];
    return &solvers[0];
}

/* ---- a solve ------------------------------------------------------------------------------- */

/* Edges from which on a block uses all threads for itself. */
enum { LARGE_BLOCK = 4 * HD_GRAIN };

typedef struct solve {
    huddle_context *context;
    const huddle_dense *f;
    const hd_edges *edges;
    huddle_shrink_options options;
    const solver *solver;
    hd_problem problem;
    hd_arrays arrays;
    hd_block *blocks;
    int64_t *small, n_small; /* blocks that are solved side by side */
    double started;
    double wanted; /* relative gap to reach: tighter than asked for if snapping needs it */
    double primal, dual;
    huddle_shrink_info *info;
    int64_t history; /* room in info's arrays */
} solve;

static void solve_free(solve *s) {
    hd_blocks_free(s->blocks, s->problem.n_blocks);
    hd_arrays_free(&s->arrays);
    huddle_free(s->small);
    hd_problem_free(&s->problem);
}

/* What the objective of a block can change by when the entries of its rows of F are rounded. */
static double rounding_of_block(const hd_problem *p, const hd_block *b) {
    double sum = 0;
    for (int64_t v = b->range.v0; v < b->range.v1; v++) {
        double square = 0;
        for (int64_t k = 0; k < p->c; k++)
            square += p->f[v * p->c + k] * p->f[v * p->c + k];
        square *= DBL_EPSILON * DBL_EPSILON;
        sum += p->mass[v] * (p->squared ? square : sqrt(square));
    }
    return sum;
}

/* A block may be left at F, or be one point, if that is within half of the gap asked for; or stay
 * as it is where its rows are equal but for rounding. */
static huddle_status try_closed_forms(const solve *s, hd_block *b) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_block_fit(b));
    if (b->exact)
        goto done;
    status = hd_block_collapse(b);
    if (status == HUDDLE_NUMERIC) /* a matrix that is singular in this arithmetic proves nothing */
        status = HUDDLE_OK;
    b->exact = b->exact && b->primal - b->dual <= .5 * s->options.gap * b->primal;
    b->collapsed = b->exact;
    if (!b->exact) /* no iteration can improve on what rounding decides */
        b->exact = b->primal <= 4 * rounding_of_block(&s->problem, b);
done:
    return status;
}

static huddle_status open_blocks(solve *s) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = &s->problem;
    TRY(hd_arrays_new(p, s->solver->needs, &s->arrays));
    hd_arrays_start(p, s->options.start, &s->arrays);
    TRY(hd_blocks_new(s->context, p, &s->arrays,
                      s->solver->systems ? s->options.linear_solver : NULL, s->options.seed,
                      &s->blocks));
    ALLOC(s->small, p->n_blocks);
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_block *b = &s->blocks[k];
        b->mark = INFINITY;
        b->tau = s->options.start == NULL ? .3 : .03;
        TRY(try_closed_forms(s, b));
        if (b->m < LARGE_BLOCK)
            s->small[s->n_small++] = k;
    }
done:
    return status;
}

/* Objective and bound of the whole; what each block may leave open: half in proportion to its own
 * objective, half to its size, so that all of them together leave at most the wanted gap. */
static void take_stock(solve *s) {
    const hd_problem *p = &s->problem;
    s->primal = s->dual = p->idle;
    for (int64_t k = 0; k < p->n_blocks; k++) {
        s->primal += s->blocks[k].primal;
        s->dual += s->blocks[k].dual;
    }
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_block *b = &s->blocks[k];
        double share = (double)b->m / (double)p->live;
        double gap = b->primal - b->dual;
        b->since++;
        if (gap < .99 * b->mark) {
            b->mark = gap;
            b->since = 0;
        }
        b->stalled = b->since >= s->solver->idle;
        b->target = s->wanted * .5 * (b->primal + s->dual * share);
        b->resting = b->exact || b->stalled || gap <= b->target;
    }
}

/* A step; one that the numbers defeat is the block's last, and its best point and bound stand. */
static huddle_status step_block(const solve *s, hd_block *b) {
    huddle_status status = s->solver->step(b);
    if (status != HUDDLE_NUMERIC)
        return status;
    b->since = s->solver->idle;
    return HUDDLE_OK;
}

static huddle_status step_small(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    solve *s = argument;
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        hd_block *b = &s->blocks[s->small[k]];
        if (!b->resting)
            TRY(step_block(s, b));
    }
done:
    return status;
}

/* One step of every block that needs it: large blocks one after the other, each on all threads,
 * small ones side by side. */
static huddle_status step_all(solve *s) {
    huddle_status status = HUDDLE_OK;
    for (int64_t k = 0; k < s->problem.n_blocks; k++) {
        hd_block *b = &s->blocks[k];
        if (!b->resting && b->m >= LARGE_BLOCK)
            TRY(step_block(s, b));
    }
    TRY(hd_parallel(s->context, NULL, s->n_small, 8, step_small, s));
done:
    return status;
}

/* Memory for the Newton tail, once a block asks for it: many solves never do. */
static huddle_status make_room(solve *s) {
    for (int64_t k = 0; k < s->problem.n_blocks; k++)
        if (s->blocks[k].wants_newton)
            return hd_arrays_add_newton(&s->problem, &s->arrays);
    return HUDDLE_OK;
}

static huddle_status record(solve *s) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = s->info;
    double *const *arrays[] = {&info->history_objective, &info->history_dual,
                               &info->history_seconds};
    for (int k = 0; k < 3; k++) {
        int64_t room = s->history;
        if (!hd_grow((void *)arrays[k], &room, info->n_history + 1, sizeof(double)))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %d steps of history", info->n_history + 1);
        if (k == 2)
            s->history = room;
    }
    info->history_objective[info->n_history] = hd_problem_value(&s->problem, s->primal);
    info->history_dual[info->n_history] = hd_problem_value(&s->problem, s->dual);
    info->history_seconds[info->n_history++] = hd_seconds() - s->started;
done:
    return status;
}

static bool all_resting(const solve *s) {
    for (int64_t k = 0; k < s->problem.n_blocks; k++)
        if (!s->blocks[k].resting)
            return false;
    return true;
}

static int32_t most_iterations(const solve *s) {
    return s->options.max_iter == HUDDLE_AUTO ? s->solver->max_iter : s->options.max_iter;
}

static huddle_status iterate(solve *s) {
    huddle_status status = HUDDLE_OK;
    int32_t most = most_iterations(s);
    take_stock(s);
    while (!all_resting(s) && s->info->n_iter < most) {
        double gap = hd_relative_gap(s->primal, s->dual);
        TRY(hd_progress(s->context, "shrink", log(fmin(gap, 1)) / log(.5 * s->options.gap), 1));
        int32_t left = most - s->info->n_iter;
        int32_t batch = left < s->solver->batch ? left : s->solver->batch;
        for (int64_t k = 0; k < s->problem.n_blocks; k++)
            s->blocks[k].batch = batch;
        TRY(make_room(s));
        TRY(step_all(s));
        s->info->n_iter += batch;
        take_stock(s);
        TRY(record(s));
        if (hd_relative_gap(s->primal, s->dual) <= s->wanted)
            break;
    }
done:
    return status;
}

/* ---- the answer ---------------------------------------------------------------------------- */

static huddle_status write_rows(const solve *s, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = &s->problem;
    const huddle_dense *f = s->f;
    TRY(huddle_dense_new(p->n, p->c, g));
    for (int64_t v = 0; v < p->n; v++)
        for (int64_t k = 0; k < p->c; k++) {
            double at = f->values[p->vertex[v] * f->stride + k];
            g->values[p->vertex[v] * p->c + k] = at + s->arrays.best_h[v * p->c + k] * p->unit;
        }
    /* Rounded one by one, the rows of a collapsed block would not be one point any more. */
    for (int64_t b = 0; b < p->n_blocks; b++)
        for (int32_t v = p->blocks[b].v0 + 1; s->blocks[b].collapsed && v < p->blocks[b].v1; v++)
            memcpy(g->values + p->vertex[v] * p->c, g->values + p->vertex[p->blocks[b].v0] * p->c,
                   (size_t)p->c * sizeof(double));
done:
    return status;
}

/* Z in the caller's order, each block scaled as in its bound. Idle edges pull as hard as they can,
 * along the rows handed out. */
static huddle_status write_dual(const solve *s, const huddle_dense *g, huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = &s->problem;
    int64_t c = p->c;
    TRY(huddle_dense_new(p->m, c, z));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        const hd_block *b = &s->blocks[k];
        double scale = b->scale * (p->squared ? p->unit : 1);
        for (int64_t e = 0; e < b->m; e++) {
            double *to = z->values + p->edge[b->range.e0 + e] * c;
            for (int64_t q = 0; q < c; q++)
                to[q] = (p->turned[b->range.e0 + e] ? -scale : scale) * b->best_z[e * c + q];
        }
    }
    for (int64_t e = p->live; e < p->m; e++) {
        int32_t edge = p->edge[e];
        const double *a = g->values + s->edges->i[edge] * c, *b = g->values + s->edges->j[edge] * c;
        double norm = 0, lambda = p->lambda[e] * (p->squared ? p->unit : 1);
        for (int64_t q = 0; q < c; q++)
            norm += (a[q] - b[q]) * (a[q] - b[q]);
        for (int64_t q = 0; q < c && norm > 0; q++)
            z->values[edge * c + q] = lambda * (a[q] - b[q]) / sqrt(norm);
    }
done:
    return status;
}

/* Puts groups at one point, if that leaves the gap within what was asked for; where the solve fell
 * short of it, if the objective rises by no more than that. */
static huddle_status try_snap(const solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = s->info;
    huddle_dense g = {0};
    double objective, unused, allowed = info->objective * (1 + s->options.gap);
    if (info->gap <= s->options.gap)
        allowed = fmax(info->objective, info->dual / (1 - s->options.gap));
    TRY(huddle_dense_new(s->problem.n, s->problem.c, &g));
    memcpy(g.values, out->g.values, (size_t)(g.rows * g.cols) * sizeof *g.values);
    TRY(hd_snap(&s->problem, s->f, s->options.weights, out->group, out->n_groups, &g));
    TRY(hd_certify(s->f, s->edges, s->options.weights, info->gamma, s->problem.squared, &g, NULL,
                   &objective, &unused));
    if (objective <= allowed) {
        huddle_dense swap = out->g;
        out->g = g;
        g = swap;
        info->objective = objective;
        info->snapped = true;
    }
done:
    huddle_dense_free(&g);
    return status;
}

/* G, Z, groups and the certificate of the best point so far. */
static huddle_status write_answer(const solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    const hd_problem *p = &s->problem;
    huddle_shrink_info *info = s->info;
    double open = fmax(s->options.gap * s->primal, s->primal - s->dual);
    huddle_shrunk_free(out);
    TRY(write_rows(s, &out->g));
    TRY(write_dual(s, &out->g, &out->z));
    TRY(hd_certify(s->f, s->edges, s->options.weights, info->gamma, p->squared, &out->g, &out->z,
                   &info->objective, &info->dual));
    info->gap = hd_relative_gap(info->objective, info->dual);
    ALLOC(out->group, p->n);
    TRY(hd_groups(p, s->blocks, s->arrays.best_h, .05 * open, out->group, &out->n_groups));
    if (s->options.snap && out->n_groups < p->n)
        TRY(try_snap(s, out));
    info->gap = hd_relative_gap(info->objective, info->dual);
done:
    return status;
}

/* Solves; and if the groups do not yet bear snapping, goes on a little. */
static huddle_status solve_and_snap(solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    s->wanted = s->options.gap;
    for (int attempt = 0; attempt < 3; attempt++) {
        TRY(iterate(s));
        TRY(write_answer(s, out));
        if (s->info->snapped || !s->options.snap || out->n_groups == s->problem.n ||
            s->info->gap > s->options.gap)
            break;
        s->wanted *= .3;
    }
done:
    return status;
}

static double row_norm(const huddle_dense *m, int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < m->cols; k++)
        sum += m->values[i * m->stride + k] * m->values[i * m->stride + k];
    return sqrt(sum);
}

/* What the loss at G, and the pull of its edges, can change by when the entries of G are rounded;
 * rows at one point stay there. */
static double rounding_of_loss(const solve *s, const huddle_dense *g) {
    double loss = 0;
    for (int64_t i = 0; i < g->rows; i++) {
        double ulp = DBL_EPSILON * row_norm(g, i), square = 0;
        for (int64_t k = 0; k < g->cols && s->problem.squared; k++) {
            double h = g->values[i * g->stride + k] - s->f->values[i * s->f->stride + k];
            square += h * h;
        }
        double weight = s->options.weights != NULL ? s->options.weights[i] : 1;
        loss += weight * (s->problem.squared ? (2 * sqrt(square) + ulp) * ulp : ulp);
    }
    return loss;
}

static double rounding_of_pull(const solve *s, const huddle_dense *g) {
    double pull = 0;
    for (int64_t e = 0; e < s->edges->count; e++) {
        int64_t i = s->edges->i[e], j = s->edges->j[e];
        const double *a = g->values + i * g->stride, *b = g->values + j * g->stride;
        if (memcmp(a, b, (size_t)g->cols * sizeof *a) != 0)
            pull += s->edges->weight[e] * DBL_EPSILON * (row_norm(g, i) + row_norm(g, j));
    }
    return s->info->gamma * pull;
}

/* How the solve ended. Success is said only of the gap that was proven for the answer itself. */
static huddle_stop choose_stop(const solve *s, const huddle_dense *g, bool exact) {
    const huddle_shrink_info *info = s->info;
    if (info->gap <= s->options.gap)
        return exact ? HUDDLE_STOP_EXACT : HUDDLE_STOP_CONVERGED;
    if (info->objective - info->dual <= rounding_of_loss(s, g) + rounding_of_pull(s, g))
        return HUDDLE_STOP_ROUNDING;
    return info->n_iter >= most_iterations(s) ? HUDDLE_STOP_MAX_ITER : HUDDLE_STOP_STALLED;
}

static void fill_info(const solve *s, const huddle_shrunk *out) {
    const hd_problem *p = &s->problem;
    huddle_shrink_info *info = s->info;
    bool exact = true;
    info->n_groups = out->n_groups;
    info->n_components = p->n_components;
    info->n_fixed = p->n - p->free;
    info->loss = p->squared ? "l2" : "l21";
    info->solver = s->solver->name;
    info->linear_solver = "none";
    for (int64_t k = 0; k < p->n_blocks; k++) {
        const hd_block *b = &s->blocks[k];
        exact = exact && b->exact;
        info->n_solves += b->n_solves;
        if (b->linear.solver != NULL && !b->exact)
            info->linear_solver = b->linear.solver->name;
    }
    if (exact)
        info->solver = "exact";
    info->stop = choose_stop(s, &out->g, exact);
    /* Where the rows of a component are equal but for their last digits nothing is amiss. */
    bool trivial =
        info->stop == HUDDLE_STOP_ROUNDING && info->objective <= 16 * rounding_of_loss(s, &out->g);
    if (info->stop > HUDDLE_STOP_EXACT && !trivial)
        hd_warn(s->context, HUDDLE_WARNING_NOT_CONVERGED,
                "the shrinking stopped (%s) after %d iterations at a gap of %.2g, not %.2g",
                huddle_stop_name(info->stop), info->n_iter, info->gap, s->options.gap);
}

static huddle_status run(solve *s, const huddle_csr *w, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    hd_edges edges = {0};
    TRY(hd_edges_read(w, true, &edges));
    s->edges = &edges;
    /* Edges set aside leave a gap of their own, which has to stay well below the one asked for. */
    double negligible = fmin(1e-9, 1e-5 * s->options.gap);
    TRY(hd_problem_new(s->f, w, &edges, s->options.weights, s->info->gamma,
                       strcmp(s->options.loss, "l2") == 0, true, negligible, &s->problem));
    TRY(open_blocks(s));
    TRY(solve_and_snap(s, out));
    if (!s->options.keep_dual)
        huddle_dense_free(&out->z);
    fill_info(s, out);
done:
    solve_free(s);
    hd_edges_free(&edges);
    return status;
}

/* ---- the entry ----------------------------------------------------------------------------- */

static huddle_status check(const huddle_dense *f, const huddle_csr *w,
                           const huddle_shrink_options *options) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(huddle_shrink_options_table(), options));
    if (options->n_clusters != HUDDLE_AUTO && options->n_clusters < 1)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is less than 1", options->n_clusters);
    if (w->rows < 1)
        FAIL(HUDDLE_INVALID, "the graph has no vertices");
    TRY(hd_check_rows(f, "f", w->rows));
    TRY(hd_check_weights(options->weights, w->rows));
    if (options->start != NULL) {
        TRY(hd_check_rows(options->start, "start", w->rows));
        if (options->start->cols != f->cols)
            FAIL(HUDDLE_INVALID, "start has %lld columns, f has %lld",
                 (long long)options->start->cols, (long long)f->cols);
    }
done:
    return status;
}

huddle_status huddle_shrink(huddle_context *context, const huddle_dense *f, const huddle_csr *w,
                            const huddle_shrink_options *options, huddle_shrunk *out,
                            huddle_shrink_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info own = {0};
    solve s = {.context = context, .f = f, .info = &own, .started = hd_seconds()};
    memset(out, 0, sizeof *out);
    if (info != NULL)
        memset(info, 0, sizeof *info);
    s.options = options == NULL ? huddle_shrink_defaults() : *options;
    TRY(check(f, w, &s.options));
    own.gamma = s.options.gamma;
    if (own.gamma == HUDDLE_AUTO)
        own.gamma = hd_total_weight(s.options.weights, f->rows) /
                    (s.options.n_clusters == HUDDLE_AUTO ? (double)f->cols : s.options.n_clusters);
    s.solver = find_solver(s.options.solver);
    TRY(run(&s, w, out));
    own.seconds = hd_seconds() - s.started;
done:
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
    huddle_free(info->history_objective);
    huddle_free(info->history_dual);
    huddle_free(info->history_seconds);
    memset(info, 0, sizeof *info);
}
