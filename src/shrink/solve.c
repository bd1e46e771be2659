#include "shrink/solve.h"

#include "base/check.h"
#include "base/parallel.h"
#include "shrink/certificate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A block of at least this many edges is stepped alone, on all threads: four chunks of a pass. */
enum { LARGE_BLOCK = 4 * HD_SHRINK_GRAIN };

/* Small blocks per chunk of the parallel loop over them; a step of one of them is short. */
enum { SMALL_GRAIN = 8 };

/* Idle edges (problem.h) leave a gap of their own, which has to be well below the requested one. */
static const double largest_negligible = 1e-9, negligible_per_gap = 1e-5;

/* A closed form is accepted within this share of the requested gap: then the block leaves no more
 * than its own target in update_progress(). */
static const double closed_form_share = .5;

/* What an engine is asked for in a draft of a component: so many times the gap, but no more than
 * this. The 25 steps of the CPU (split.c) end at 12 to 47 times the gap on components of 5,000
 * rows of generated data. */
static const double draft_gap = 30, largest_draft_gap = .01;

/* A block makes progress while its gap falls by this factor within max_idle steps. */
static const double progress_factor = .99;

/* ---- solvers by name ------------------------------------------------------------------------ */

/* The solvers of blocks. "auto" is not one of them (hd_shrink_find_solver); "published" and
 * "printed" know no blocks (published.c). */
static const hd_shrink_solver *const solvers[] = {&hd_shrink_irls, &hd_shrink_newton,
                                                  &hd_shrink_pdhg, &hd_shrink_reweighted};
enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

const char *const hd_shrink_solver_names[] = {"auto",       "irls",      "newton",  "pdhg",
                                              "reweighted", "published", "printed", NULL};

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

/* ---- closed forms -------------------------------------------------------------------------- */

/* An estimate of how much the objective of a block changes if the entries of its rows of F are
 * rounded. */
static huddle_status rounding_of_block(const hd_shrink_block *b, double *sum) {
    const hd_shrink_problem *p = b->problem;
    *sum = 0;
    for (int64_t v = b->range.v0; v < b->range.v1; v++) {
        double square = hd_shrink_dot(p->f + v * p->c, p->f + v * p->c, p->c);
        square *= DBL_EPSILON * DBL_EPSILON;
        *sum += p->mass[v] * (p->squared ? square : sqrt(square));
    }
    return hd_reduce_sum(b->context, 1, sum);
}

/* Tries the two ends of gamma on a block. It is left at F, or becomes one point, if that is within
 * half of the requested gap; it also stays as it is if its rows are equal but for rounding. This
 * costs a median and at most one linear solve. */
static huddle_status try_closed_forms(const hd_shrink_solve *s, hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_progress *progress = &b->progress;
    double rounding, allowed;
    TRY(hd_shrink_try_fit(b));
    if (progress->is_exact)
        goto done;
    status = hd_shrink_try_collapse(b);
    if (status == HUDDLE_NUMERIC) /* a matrix that is singular in this arithmetic proves nothing */
        status = HUDDLE_OK;
    /* The requested gap can be smaller than the tolerance within which a collapse counts as proven;
     * then the block is iterated like any other, and keeps this point and bound as its best. */
    allowed = closed_form_share * s->options.gap * b->point.primal;
    progress->is_exact = progress->is_exact && hd_shrink_block_gap(b) <= allowed;
    progress->is_collapsed = progress->is_exact;
    if (status != HUDDLE_OK || progress->is_exact)
        goto done;
    /* If the objective is of the size of rounding errors, no iteration can improve it. */
    TRY(rounding_of_block(b, &rounding));
    progress->is_exact = b->point.primal <= 4 * rounding;
done:
    return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Allocates arrays and blocks and tries closed forms. *all_exact: nothing is left to be solved. */
static huddle_status open_blocks(hd_shrink_solve *s, bool *all_exact) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    bool systems = s->solver->uses_systems;
    *all_exact = true;
    TRY(hd_shrink_arrays_new(p, systems, &s->arrays));
    TRY(hd_shrink_arrays_start(p, s->options.start, &s->arrays));
    TRY(hd_shrink_blocks_new(s->input.context, p, &s->arrays,
                             systems ? s->options.linear_solver : NULL, s->options.seed,
                             &s->blocks));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        TRY(try_closed_forms(s, &s->blocks[k]));
        *all_exact = *all_exact && s->blocks[k].progress.is_exact;
    }
done:
    return status;
}

/* The state of the solver is the largest part of the memory: it is created only if no engine has
 * solved the problem and some block needs it. */
static huddle_status open_solver(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    ALLOC(s->small, p->n_blocks);
    for (int64_t k = 0; k < p->n_blocks; k++) {
        if (s->solver->uses_systems && !s->blocks[k].progress.is_exact)
            TRY(hd_shrink_block_open_linear(&s->blocks[k]));
        /* Across processes every step contains collective calls, which all processes must make in
         * the same order: one thread makes them, block by block. */
        if (s->blocks[k].m < LARGE_BLOCK && !hd_shrink_is_distributed(p))
            s->small[s->n_small++] = k;
    }
    TRY(s->solver->open(p, &s->arrays, &s->state));
done:
    return status;
}

bool hd_shrink_asks_engine(const hd_shrink_solve *s) {
    return strcmp(s->options.solver, "auto") == 0 &&
           hd_context_engine(s->input.context)->shrink != NULL;
}

/* An engine uses a method of its own, so it is called unless the caller names a solver, for what
 * closed forms have left; blocks that have one count as open again in its result. The steps
 * of a draft are those of the CPU; an engine, whose steps may be anything, is asked for a larger
 * gap instead, and has then come to the end of the draft. */
static huddle_status try_engine(hd_shrink_solve *s) {
    int32_t max_iter = s->max_iter;
    if (!hd_shrink_asks_engine(s))
        return HUDDLE_OK;
    if (s->is_draft) {
        s->max_iter = s->solver->max_iter;
        s->target_gap = fmax(s->target_gap, fmin(largest_draft_gap, draft_gap * s->target_gap));
    }
    huddle_status status = hd_shrink_call_engine(s, s->options.start, &s->engine_g, &s->engine_z);
    s->target_gap = s->options.gap;
    s->max_iter = s->is_draft && status == HUDDLE_OK ? s->info->n_iter : max_iter;
    if (status == HUDDLE_OK) {
        s->solver = NULL;
        for (int64_t k = 0; k < s->problem.n_blocks; k++)
            s->blocks[k].progress.is_exact = s->blocks[k].progress.is_collapsed = false;
    }
    return status == HUDDLE_UNSUPPORTED ? HUDDLE_OK : status;
}

huddle_status hd_shrink_solve_open(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    bool all_exact;
    hd_slab slab;
    double negligible = fmin(largest_negligible, negligible_per_gap * s->options.gap);
    s->target_gap = s->options.gap;
    s->max_iter = s->options.shrink_max_iter;
    TRY(hd_shrink_find_solver(s->input.context, s->input.edges, s->options.solver, &s->solver));
    if (s->max_iter == HUDDLE_AUTO)
        s->max_iter = s->solver->max_iter;
    TRY(hd_slab_locate(s->input.context, s->input.f->rows, &slab));
    s->n_rows = slab.total;
    TRY(hd_shrink_problem_new(&s->input, true, negligible, &s->problem));
    TRY(open_blocks(s, &all_exact));
    if (!all_exact)
        TRY(try_engine(s));
    if (!all_exact && s->solver != NULL)
        TRY(open_solver(s));
done:
    return status;
}

void hd_shrink_solve_close(hd_shrink_solve *s) {
    if (s->state != NULL)
        s->solver->close(s->state);
    hd_shrink_blocks_free(s->blocks, s->problem.n_blocks);
    hd_shrink_arrays_free(&s->arrays);
    huddle_free(s->small);
    hd_shrink_problem_free(&s->problem);
    huddle_dense_free(&s->engine_g);
    huddle_dense_free(&s->engine_z);
}

/* ---- iterating ----------------------------------------------------------------------------- */

/* Updates objective and bound of the whole problem, and the gap that each block may leave: half in
 * proportion to its own objective, half to its number of edges. The targets add up to at most the
 * wanted gap times the objective. The second half lets blocks with a tiny objective stop, whose
 * relative gap could take very long. */
static void update_progress(hd_shrink_solve *s) {
    const hd_shrink_problem *p = &s->problem;
    s->primal = s->dual = p->idle_cost;
    for (int64_t k = 0; k < p->n_blocks; k++) {
        s->primal += s->blocks[k].point.primal;
        s->dual += s->blocks[k].point.dual;
    }
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_shrink_block *b = &s->blocks[k];
        hd_shrink_progress *progress = &b->progress;
        double share = (double)b->m / (double)p->n_live, gap = hd_shrink_block_gap(b);
        progress->since++;
        if (gap < progress_factor * progress->mark) {
            progress->mark = gap;
            progress->since = 0;
        }
        bool is_stalled = s->solver != NULL && progress->since >= s->solver->max_idle;
        if (p->n_blocks == 1) /* 0 / 0 on a process without edges */
            share = 1;
        progress->target =
            s->target_gap * (.5 * (b->point.primal + s->dual * share) + s->outside * share);
        progress->is_done = progress->is_exact || is_stalled || gap <= progress->target;
    }
}

/* One step of a block. If it fails numerically (a matrix that cannot be factorised), the block
 * counts as stalled, and its best point and bound are kept: they are valid, and the gap reports how
 * good they are. All processes must agree on this. */
static huddle_status step_block(const hd_shrink_solve *s, hd_shrink_block *b) {
    huddle_status status = s->solver->step(s->state, b);
    if (status == HUDDLE_NUMERIC)
        status = hd_agree(b->context, status);
    if (status != HUDDLE_NUMERIC)
        return status;
    b->progress.since = s->solver->max_idle;
    return HUDDLE_OK;
}

/* Small blocks of one chunk, one after the other. They share no data that is written, so the order
 * in which threads run does not matter. */
static huddle_status step_small_blocks(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_solve *s = argument;
    for (int64_t k = chunk.begin; k < chunk.end; k++) {
        hd_shrink_block *b = &s->blocks[s->small[k]];
        if (!b->progress.is_done)
            TRY(step_block(s, b));
    }
done:
    return status;
}

/* One step of every block that needs it: large blocks one after the other, each on all threads;
 * then small ones in parallel, each on one thread. */
static huddle_status step_blocks(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    bool distributed = hd_shrink_is_distributed(&s->problem);
    if (s->solver->prepare != NULL)
        TRY(s->solver->prepare(s->state));
    for (int64_t k = 0; k < s->problem.n_blocks; k++) {
        hd_shrink_block *b = &s->blocks[k];
        if (!b->progress.is_done && (b->m >= LARGE_BLOCK || distributed))
            TRY(step_block(s, b));
    }
    TRY(hd_parallel(s->input.context, NULL, s->n_small, SMALL_GRAIN, step_small_blocks, s));
done:
    return status;
}

/* The three arrays grow together; hd_grow() sets the new room each time, so the old one is passed
 * to all of them. */
huddle_status hd_shrink_record_history(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = s->info;
    double *const *arrays[] = {&info->history_objective, &info->history_dual,
                               &info->history_seconds};
    for (int k = 0; k < 3; k++) {
        int64_t room = s->history_room;
        if (!hd_grow((void *)arrays[k], &room, info->n_history + 1, sizeof(double)))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %d steps of history", info->n_history + 1);
        if (k == 2)
            s->history_room = room;
    }
    info->history_objective[info->n_history] = hd_shrink_value(&s->problem, s->primal);
    info->history_dual[info->n_history] = hd_shrink_value(&s->problem, s->dual);
    info->history_seconds[info->n_history++] = hd_seconds() - s->started;
done:
    return status;
}

/* Whether the sum of all gaps is small enough. */
static bool is_reached(const hd_shrink_solve *s) {
    if (s->outside > 0)
        return s->primal - s->dual <= s->target_gap * (s->primal + s->outside);
    return hd_shrink_relative_gap(s->primal, s->dual) <= s->target_gap;
}

static bool is_done(const hd_shrink_solve *s) {
    for (int64_t k = 0; k < s->problem.n_blocks; k++)
        if (!s->blocks[k].progress.is_done)
            return false;
    return true;
}

/* Progress is reported on the scale of log gap, on which most of the solve is about linear. The
 * loop also ends when the sum of all gaps is small enough, although some blocks are above their
 * targets. */
static huddle_status iterate_blocks(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    update_progress(s);
    while (!is_done(s) && s->info->n_iter < s->max_iter) {
        double gap = hd_shrink_relative_gap(s->primal, s->dual);
        TRY(hd_progress(s->input.context, "shrink", log(fmin(gap, 1)) / log(.5 * s->options.gap),
                        1));
        int32_t left = s->max_iter - s->info->n_iter;
        int32_t batch = left < s->solver->batch ? left : s->solver->batch;
        for (int64_t k = 0; k < s->problem.n_blocks; k++)
            s->blocks[k].progress.batch = batch;
        TRY(step_blocks(s));
        s->info->n_iter += batch;
        update_progress(s);
        TRY(hd_shrink_record_history(s));
        if (is_reached(s))
            break;
    }
done:
    return status;
}

/* ---- an engine's result -------------------------------------------------------------------- */

/* The results of an engine. The first one was computed when the problem was opened; later ones,
 * for a smaller gap, start from it and replace it if their objective is not larger. Blocks are used
 * only to evaluate the result, which is certified like any other. */
static huddle_status iterate_engine(hd_shrink_solve *s) {
    huddle_status status = HUDDLE_OK;
    huddle_dense g = {0}, z = {0};
    double before = s->primal, objective = s->problem.idle_cost;
    bool is_first = s->info->n_history == 0;
    if (!is_first)
        TRY(hd_shrink_call_engine(s, &s->engine_g, &g, &z));
    for (int64_t k = 0; k < s->problem.n_blocks && is_first; k++)
        s->blocks[k].point.primal = INFINITY; /* the start is not a result */
    TRY(hd_shrink_load_point(s, is_first ? &s->engine_g : &g, is_first ? &s->engine_z : &z));
    for (int64_t k = 0; k < s->problem.n_blocks; k++)
        objective += s->blocks[k].point.objective;
    update_progress(s);
    TRY(hd_shrink_record_history(s));
    if (!is_first && objective <= before) {
        huddle_dense swap_g = s->engine_g, swap_z = s->engine_z;
        s->engine_g = g;
        s->engine_z = z;
        g = swap_g;
        z = swap_z;
    }
done:
    huddle_dense_free(&g);
    huddle_dense_free(&z);
    return status == HUDDLE_UNSUPPORTED ? HUDDLE_OK : status;
}

huddle_status hd_shrink_solve_iterate(hd_shrink_solve *s) {
    return s->solver == NULL ? iterate_engine(s) : iterate_blocks(s);
}
