/* From the best point of a solve to the result: G and Z in the numbering and units of the caller,
 * groups, snapping, the certificate of exactly this G and Z, and the reason why the solve ended. */
#include "base/check.h"
#include "shrink/certificate.h"
#include "shrink/solve.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* An edge counts as fused only if closing it costs less than this share of the gap, so that several
 * of them do not use up the gap. */
static const double closing_share = .05;

/* Rows are equal but for rounding if the objective is at most this many times the change that
 * rounding can cause. */
static const double trivial_factor = 16;

/* ---- G and Z ------------------------------------------------------------------------------- */

/* G = F + unit h. The unit is a power of two, so the product is exact, and a row that does not move
 * (h = 0) is returned bit for bit. */
static huddle_status write_rows(const hd_shrink_solve *s, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    const huddle_dense *f = s->input.f;
    TRY(huddle_dense_new(p->n, p->c, g));
    for (int64_t v = 0; v < p->n; v++)
        for (int64_t k = 0; k < p->c; k++) {
            double at = f->values[p->vertex[v] * f->stride + k];
            g->values[p->vertex[v] * p->c + k] = at + s->arrays.best_h[v * p->c + k] * p->unit;
        }
    /* The rows of a collapsed block are one point in exact arithmetic; f + h rounds them
     * differently. */
    for (int64_t b = 0; b < p->n_blocks; b++) {
        const hd_shrink_range *block = &p->blocks[b];
        for (int32_t v = block->v0 + 1; s->blocks[b].progress.is_collapsed && v < block->v1; v++)
            memcpy(g->values + p->vertex[v] * p->c, g->values + p->vertex[block->v0] * p->c,
                   (size_t)p->c * sizeof(double));
    }
done:
    return status;
}

/* Z in the caller's order and orientation, each block scaled by the s of its bound (10). The z of
 * idle edges is as long as allowed, along the difference of the rows of g, which makes its product
 * with that difference equal to the cost of the edge. This violates no constraint of (7) at fixed
 * rows, whose degree is below their weight, and almost none elsewhere, where lambda is
 * negligible. */
static huddle_status write_dual(const hd_shrink_solve *s, const huddle_dense *g, huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    const hd_shrink_edges *edges = s->input.edges;
    int64_t c = p->c;
    hd_shrink_rows rows = {0};
    TRY(huddle_dense_new(p->m, c, z));
    TRY(hd_shrink_rows_open(p->halo, g, &rows));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        const hd_shrink_block *b = &s->blocks[k];
        double scale = b->point.scale * (p->squared ? p->unit : 1);
        for (int64_t e = 0; e < b->m; e++) {
            double *to = z->values + p->edge[b->range.e0 + e] * c;
            double factor = p->flipped[b->range.e0 + e] ? -scale : scale;
            for (int64_t q = 0; q < c; q++)
                to[q] = factor * b->point.best_z[e * c + q];
        }
    }
    for (int64_t e = p->n_live; e < p->m; e++) {
        int32_t edge = p->edge[e];
        const double *a = rows.values + edges->i[edge] * rows.stride;
        const double *b = rows.values + edges->j[edge] * rows.stride;
        double lambda = p->lambda[e] * (p->squared ? p->unit : 1);
        double norm = hd_shrink_distance2(a, b, c);
        for (int64_t q = 0; q < c && norm > 0; q++)
            z->values[edge * c + q] = lambda * (a[q] - b[q]) / sqrt(norm);
    }
done:
    hd_shrink_rows_close(&rows);
    return status;
}

/* Moves groups to one point if the gap remains within the requested one: (9) is at most `gap` if
 * and only if P <= D / (1 - gap). If the solve did not reach the requested gap, the objective may
 * rise by at most that. Z does not change, so D is still valid. */
static huddle_status try_snap(const hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = s->info;
    huddle_dense g = {0};
    double objective, unused, allowed = info->objective * (1 + s->options.gap);
    if (info->gap <= s->options.gap)
        allowed = fmax(info->objective, info->dual / (1 - s->options.gap));
    TRY(huddle_dense_copy(&out->g, &g));
    TRY(hd_shrink_snap(&s->input, &s->problem, out->group, out->n_groups, &g));
    TRY(hd_shrink_certify(&s->input, &g, NULL, &objective, &unused));
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

/* Everything that is reported is evaluated for the arrays that are returned, after rounding to the
 * units of the caller, not for the iterate of the solver. */
huddle_status hd_shrink_solve_answer(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    huddle_shrink_info *info = s->info;
    /* Before convergence the remaining gap is the measure of what is negligible, afterwards the
     * requested one. */
    double open = fmax(s->options.gap * s->primal, s->primal - s->dual);
    huddle_shrunk_free(out);
    if (s->solver != NULL) {
        TRY(write_rows(s, &out->g));
        TRY(write_dual(s, &out->g, &out->z));
    } else { /* an engine's are returned as they are; only the certificate is computed here */
        TRY(huddle_dense_copy(&s->engine_g, &out->g));
        TRY(huddle_dense_copy(&s->engine_z, &out->z));
    }
    TRY(hd_shrink_certify(&s->input, &out->g, &out->z, &info->objective, &info->dual));
    info->gap = hd_shrink_relative_gap(info->objective, info->dual);
    ALLOC(out->group, p->n);
    TRY(hd_shrink_find_groups(s->input.context, p, s->blocks, &s->arrays, closing_share * open,
                              out->group, &out->n_groups));
    if (s->options.snap && out->n_groups < s->n_rows)
        TRY(try_snap(s, out));
    info->gap = hd_shrink_relative_gap(info->objective, info->dual);
done:
    return status;
}

/* ---- why the solve ended ------------------------------------------------------------------- */

static double row_norm(const hd_shrink_rows *m, int64_t i, int64_t c) {
    const double *row = m->values + i * m->stride;
    return sqrt(hd_shrink_dot(row, row, c));
}

/* Bounds how much the loss at G and the pull of its edges change if the entries of G are rounded.
 * Rows at one point remain there. rounding[0] is that of the loss, rounding[1] that of the pull. A
 * norm changes by no more than its argument, which changes by DBL_EPSILON of the row at most. */
static huddle_status bound_rounding(const hd_shrink_solve *s, const huddle_dense *g,
                                    double rounding[2]) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_input *in = &s->input;
    const huddle_dense *f = in->f;
    int64_t c = g->cols;
    hd_shrink_rows rows = {0};
    double loss = 0, pull = 0;
    TRY(hd_shrink_rows_open(s->problem.halo, g, &rows));
    for (int64_t i = 0; i < g->rows; i++) {
        double ulp = DBL_EPSILON * row_norm(&rows, i, c);
        double weight = hd_shrink_row_weight(in->weights, i);
        double square =
            hd_shrink_distance2(g->values + i * g->stride, f->values + i * f->stride, c);
        loss += weight * (in->squared ? (2 * sqrt(square) + ulp) * ulp : ulp);
    }
    for (int64_t e = 0; e < in->edges->count; e++) {
        int64_t i = in->edges->i[e], j = in->edges->j[e];
        const double *a = rows.values + i * rows.stride, *b = rows.values + j * rows.stride;
        /* An edge of length 0 stays closed: both ends are rounded alike. */
        if (memcmp(a, b, (size_t)c * sizeof *a) != 0)
            pull += hd_shrink_edge_share(in->edges, e) * in->edges->weight[e] * DBL_EPSILON *
                    (row_norm(&rows, i, c) + row_norm(&rows, j, c));
    }
    rounding[0] = loss;
    rounding[1] = in->gamma * pull;
    TRY(hd_reduce_sum(in->context, 2, rounding));
done:
    hd_shrink_rows_close(&rows);
    return status;
}

/* Success is reported only for a gap that was proven for the returned G. A gap within the effect of
 * rounding cannot be reduced in double precision, whatever the solver. It is the absolute gap that
 * is compared with rounding, in the units of the objective. */
static huddle_stop choose_stop(const hd_shrink_solve *s, const double rounding[2], bool is_exact) {
    const huddle_shrink_info *info = s->info;
    if (info->gap <= s->options.gap)
        return is_exact ? HUDDLE_STOP_EXACT : HUDDLE_STOP_CONVERGED;
    if (info->objective - info->dual <= rounding[0] + rounding[1])
        return HUDDLE_STOP_ROUNDING;
    return info->n_iter >= s->max_iter ? HUDDLE_STOP_MAX_ITER : HUDDLE_STOP_STALLED;
}

/* Fills in the names of the solvers and the number of linear solves; returns whether closed forms
 * solved all blocks. */
static bool report_solvers(const hd_shrink_solve *s) {
    huddle_shrink_info *info = s->info;
    const hd_engine *engine = hd_context_engine(s->input.context);
    bool is_exact = true;
    info->solver = s->solver == NULL ? engine->text.name : s->solver->name;
    info->linear_solver = "none";
    for (int64_t k = 0; k < s->problem.n_blocks; k++) {
        const hd_shrink_block *b = &s->blocks[k];
        is_exact = is_exact && b->progress.is_exact;
        info->n_solves += b->n_solves;
        if (b->linear.solver != NULL && !b->progress.is_exact)
            info->linear_solver = b->linear.solver->name;
    }
    if (is_exact)
        info->solver = "exact";
    return is_exact;
}

huddle_status hd_shrink_solve_report(hd_shrink_solve *s, const huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    huddle_shrink_info *info = s->info;
    double rounding[2];
    info->n_groups = out->n_groups;
    info->n_components = p->n_components;
    info->n_fixed = p->n - p->n_free;
    info->loss = p->squared ? "l2" : "l21";
    TRY(hd_reduce_count(s->input.context, &info->n_fixed));
    TRY(bound_rounding(s, &out->g, rounding));
    info->stop = choose_stop(s, rounding, report_solvers(s));
    /* If the rows of a component are equal but for their last digits there is nothing to warn
     * about: a relative gap has no meaning there. */
    s->is_trivial =
        info->stop == HUDDLE_STOP_ROUNDING && info->objective <= trivial_factor * rounding[0];
done:
    return status;
}

/* ---- a problem that is solved in parts ------------------------------------------------------- */

hd_shrink_solve hd_shrink_solve_of(const hd_shrink_solve *whole, const huddle_dense *f,
                                   const huddle_csr *w, const double *weights,
                                   const huddle_dense *start, huddle_shrink_info *info) {
    hd_shrink_solve s = {
        .input = whole->input, .options = whole->options, .info = info, .started = whole->started};
    s.input.f = f;
    s.input.w = w;
    s.input.edges = NULL;
    s.input.weights = s.options.weights = weights;
    s.options.start = start->values != NULL ? start : NULL;
    info->gamma = s.input.gamma;
    return s;
}

void hd_shrink_read_history(const huddle_shrink_info *info, int32_t k, double at[3]) {
    int32_t last = k < info->n_history ? k : info->n_history - 1;
    at[0] = last < 0 ? info->objective : info->history_objective[last];
    at[1] = last < 0 ? info->dual : info->history_dual[last];
    at[2] = last < 0 ? 0 : info->history_seconds[last];
}

void hd_shrink_add_counts(huddle_shrink_info *info, const huddle_shrink_info *part) {
    info->n_solves += part->n_solves;
    info->n_fixed += part->n_fixed;
    info->n_iter = part->n_iter > info->n_iter ? part->n_iter : info->n_iter;
    info->snapped = info->snapped || part->snapped;
    if (part->stop > HUDDLE_STOP_EXACT && part->stop > info->stop)
        info->stop = part->stop;
}

void hd_shrink_report_sum(hd_shrink_solve *s, const huddle_shrunk *out, int32_t n_components) {
    huddle_shrink_info *info = s->info;
    info->gap = hd_shrink_relative_gap(info->objective, info->dual);
    info->loss = s->input.squared ? "l2" : "l21";
    info->n_components = n_components;
    info->n_groups = out->n_groups;
    if (info->gap <= s->options.gap)
        info->stop = strcmp(info->solver, "exact") == 0 ? HUDDLE_STOP_EXACT : HUDDLE_STOP_CONVERGED;
    else if (info->stop <= HUDDLE_STOP_EXACT)
        info->stop = HUDDLE_STOP_STALLED;
}
