/* The published iteration (Chang, Nie, Ma, Yang and Zhou, A Convex Formulation for Spectral Shrunk
 * Clustering, AAAI 2015), to the letter. From a random or given G_0, in every step
 *
 *     S = diag(1 / 2 ||g_i - f_i||),  W~_ij = w_ij / 2 ||g_i - g_j||,  L~ = D~ - W~
 *     G = (S + gamma L~)^-1 S F
 *
 * "published" is this iteration, as the text derives it; "printed" is the listed algorithm, which
 * computes W~ once, at G_0, and has W~ in the place of L~. Its X must be F, or the sizes do not
 * match. Nothing is added but epsilon: a norm below it is replaced by it before something is
 * divided by it. With the squared loss S is the identity; a row that represents m_i equal rows
 * counts m_i times.
 *
 * No row is fixed, no norm smoothed, no component solved apart, no closed form tried, no group
 * moved to one point. The objective of every step is recorded as it is, and G is that of the last
 * step. The iteration ends when the objective changes by less than shrink_tol of itself. The
 * certificate is computed for this G like any other, but once and at the end: it decides nothing.
 *
 * docs/method.md, section 4, says what the two do. */
#include "shrink/published.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/rng.h"
#include "base/union.h"
#include "shrink/certificate.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

const char *const hd_shrink_start_names[] = {"random", "embedding", NULL};

/* Steps of "auto": `published` changes the objective by less than 1e-6 after 60 to 150 of them on
 * embeddings of images; `printed` does not converge unless it stays where it is. */
enum { PUBLISHED_STEPS = 1000, PRINTED_STEPS = 100 };

/* Stream of the random start: others use small numbers of the same seed. */
enum { START_STREAM = 0x5eed };

/* Residual of an iterative linear solver, as a share of the sum of the weights m_i: the right-hand
 * sides of a row have about the length m_i. */
static const double residual_share = 1e-10;

/* As for other solvers (groups.c, answer.c): an edge has fused if its dual vector is below this
 * share of its largest length, and closing it costs less than this share of the gap. */
static const double slack_share = .99, closing_share = .05;

typedef struct iteration {
    const hd_shrink_input *input;
    int64_t n, m, c;
    double epsilon;
    bool is_printed;
    huddle_dense g;
    double *distance; /* n: ||g_i - f_i|| */
    double *length;   /* m: ||g_i - g_j|| */
    double *s, *w;    /* S; gamma W~ of every edge */
    double *right, *step;
    double *matrix; /* printed: S + gamma W~, n x n */
    lapack_int *pivot;
    int64_t *incident_at;
    uint32_t *incident;
    hd_shrink_linear_system linear; /* published: S + gamma L~ */
    double objective;
} iteration;

bool hd_shrink_is_published(const char *solver) {
    return strcmp(solver, "published") == 0 || strcmp(solver, "printed") == 0;
}

static double *row_of(const iteration *t, int64_t i) {
    return t->g.values + i * t->c;
}

static const double *f_of(const iteration *t, int64_t i) {
    return t->input->f->values + i * t->input->f->stride;
}

/* ---- norms, objective, weights ------------------------------------------------------------- */

/* All norms at G, and the objective (6) from them. */
static void measure(iteration *t) {
    const hd_shrink_input *in = t->input;
    double loss = 0, pull = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double square = hd_shrink_distance2(row_of(t, i), f_of(t, i), t->c);
        t->distance[i] = sqrt(square);
        loss += hd_shrink_row_weight(in->weights, i) * (in->squared ? square : t->distance[i]);
    }
    for (int64_t e = 0; e < t->m; e++) {
        t->length[e] =
            sqrt(hd_shrink_distance2(row_of(t, in->edges->i[e]), row_of(t, in->edges->j[e]), t->c));
        pull += in->edges->weight[e] * t->length[e];
    }
    t->objective = loss + in->gamma * pull;
}

static void set_s(iteration *t) {
    for (int64_t i = 0; i < t->n; i++) {
        double weight = hd_shrink_row_weight(t->input->weights, i);
        t->s[i] = t->input->squared ? weight : weight / (2 * fmax(t->distance[i], t->epsilon));
    }
}

static void set_w(iteration *t) {
    for (int64_t e = 0; e < t->m; e++)
        t->w[e] =
            t->input->gamma * t->input->edges->weight[e] / (2 * fmax(t->length[e], t->epsilon));
}

/* ---- the derived step ---------------------------------------------------------------------- */

/* The edges of every vertex, for the iterative solver: 2 e at the first end, 2 e + 1 at the
 * second. */
static huddle_status list_incident(iteration *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    ALLOC_ZERO(t->incident_at, t->n + 1);
    ALLOC(t->incident, 2 * t->m);
    for (int64_t e = 0; e < t->m; e++) {
        t->incident_at[edges->i[e] + 1]++;
        t->incident_at[edges->j[e] + 1]++;
    }
    for (int64_t v = 0; v < t->n; v++)
        t->incident_at[v + 1] += t->incident_at[v];
    for (int64_t e = 0; e < t->m; e++) {
        t->incident[t->incident_at[edges->i[e]]++] = (uint32_t)(2 * e);
        t->incident[t->incident_at[edges->j[e]]++] = (uint32_t)(2 * e + 1);
    }
    memmove(t->incident_at + 1, t->incident_at, (size_t)t->n * sizeof *t->incident_at);
    t->incident_at[0] = 0;
done:
    return status;
}

static huddle_status open_derived(const hd_shrink_solve *s, iteration *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    TRY(list_incident(t));
    const hd_shrink_linear_graph graph = {.n = (int32_t)t->n,
                                          .m = t->m,
                                          .c = t->c,
                                          .head = edges->i,
                                          .tail = edges->j,
                                          .incident_at = t->incident_at,
                                          .incident = t->incident,
                                          .seed = s->options.seed};
    TRY(hd_shrink_linear_open(t->input->context, s->options.linear_solver, &graph, &t->linear));
done:
    return status;
}

/* (S + gamma L~) G_next = S F, solved for G_next - G, whose right-hand side is
 * S (F - G) - gamma L~ G: the solution is the same. Entries of S F grow to 1 / epsilon where a row
 * has come to rest, and a solver that looks at the residual would see nothing else beside them;
 * here every row's right-hand side has at most about the length m_i. */
static huddle_status step_derived(iteration *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    const hd_shrink_linear_solver *solver = t->linear.solver;
    double total = 0;
    set_s(t);
    set_w(t);
    for (int64_t i = 0; i < t->n; i++) {
        total += hd_shrink_row_weight(t->input->weights, i);
        for (int64_t k = 0; k < t->c; k++)
            t->right[i * t->c + k] = t->s[i] * (f_of(t, i)[k] - row_of(t, i)[k]);
    }
    for (int64_t e = 0; e < t->m; e++) {
        int64_t i = edges->i[e], j = edges->j[e];
        for (int64_t k = 0; k < t->c; k++) {
            double pull = t->w[e] * (row_of(t, i)[k] - row_of(t, j)[k]);
            t->right[i * t->c + k] -= pull;
            t->right[j * t->c + k] += pull;
        }
    }
    TRY(solver->factor(t->linear.state, t->s, t->w));
    TRY(solver->solve(t->linear.state, t->right, residual_share * total, t->step));
    for (int64_t k = 0; k < t->n * t->c; k++)
        t->g.values[k] += t->step[k];
done:
    return status;
}

/* ---- the printed step ---------------------------------------------------------------------- */

/* The matrix S + gamma W~ has no diagonal beside S, and is indefinite where W~ is large: no
 * Cholesky factor. */
static huddle_status step_printed(iteration *t) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    int64_t n = t->n, c = t->c;
    set_s(t);
    memset(t->matrix, 0, (size_t)(n * n) * sizeof *t->matrix);
    for (int64_t e = 0; e < t->m; e++)
        t->matrix[edges->i[e] * n + edges->j[e]] = t->w[e]; /* column by column: the lower half */
    for (int64_t i = 0; i < n; i++) {
        t->matrix[i * n + i] = t->s[i];
        for (int64_t k = 0; k < c; k++)
            t->right[k * n + i] = t->s[i] * f_of(t, i)[k];
    }
    hd_blas_enter();
    int answer = LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', (lapack_int)n, (lapack_int)c, t->matrix,
                               (lapack_int)n, t->pivot, t->right, (lapack_int)n);
    hd_blas_leave();
    if (answer == LAPACK_WORK_MEMORY_ERROR)
        FAIL(HUDDLE_NO_MEMORY, "no memory to solve a dense system of %lld rows", (long long)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k++)
            t->g.values[i * c + k] = t->right[k * n + i];
    if (answer != 0)
        FAIL(HUDDLE_NUMERIC,
             "solver = printed: the matrix S + gamma W~ is singular; solver = published has the "
             "Laplacian in the place of W~");
done:
    return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* G_0: what the caller gave, the rows of F, or standard normal numbers. The first step is the same
 * for all multiples of a G_0 that is far from F, so that the unit of the numbers hardly matters. */
static void set_start(const huddle_shrink_options *o, iteration *t) {
    bool is_random = strcmp(o->shrink_start, "random") == 0;
    const huddle_dense *from = o->start != NULL ? o->start : t->input->f;
    hd_rng rng = hd_rng_stream(o->seed, START_STREAM);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t k = 0; k < t->c; k++)
            row_of(t, i)[k] = o->start == NULL && is_random ? hd_rng_normal(&rng)
                                                            : from->values[i * from->stride + k];
}

huddle_status hd_shrink_published_check(const huddle_context *context, const char *solver,
                                        int64_t n) {
    if (hd_slabs_distributed(context))
        return hd_fail(HUDDLE_UNSUPPORTED, "solver = %s needs all rows in one process", solver);
    if (strcmp(solver, "printed") == 0 && n > HD_SHRINK_PRINTED_ROWS)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "solver = printed needs a dense matrix and takes at most %d rows, not %lld",
                       HD_SHRINK_PRINTED_ROWS, (long long)n);
    return HUDDLE_OK;
}

static huddle_status open_iteration(const hd_shrink_solve *s, iteration *t) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(t->n, t->c, &t->g));
    ALLOC(t->distance, t->n);
    ALLOC(t->length, t->m);
    ALLOC(t->s, t->n);
    ALLOC(t->w, t->m);
    ALLOC(t->right, t->n * t->c);
    set_start(&s->options, t);
    measure(t);
    if (t->is_printed) {
        ALLOC(t->matrix, t->n * t->n);
        ALLOC(t->pivot, t->n);
        set_w(t); /* once */
    } else {
        ALLOC(t->step, t->n * t->c);
        TRY(open_derived(s, t));
    }
done:
    return status;
}

static void close_iteration(iteration *t) {
    hd_shrink_linear_close(&t->linear);
    huddle_dense_free(&t->g);
    FREE(t->distance, t->length, t->s, t->w, t->right, t->step, t->matrix, t->pivot, t->incident_at,
         t->incident);
}

/* ---- the result ---------------------------------------------------------------------------- */

/* Z from the norms at the last but one G, as the optimality of the step has it:
 * z_e = 2 gamma W~_e (g_i - g_j), put into its ball; then B'Z = -2 S (G - F). `printed` solves no
 * such equation: the norms at its G are as good as any. */
static huddle_status make_dual(iteration *t, huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    if (t->is_printed)
        set_w(t);
    TRY(huddle_dense_new(t->m, t->c, z));
    for (int64_t e = 0; e < t->m; e++) {
        double lambda = t->input->gamma * edges->weight[e], *to = z->values + e * t->c;
        for (int64_t k = 0; k < t->c; k++)
            to[k] = 2 * t->w[e] * (row_of(t, edges->i[e])[k] - row_of(t, edges->j[e])[k]);
        double norm = hd_shrink_norm(to, t->c);
        for (int64_t k = 0; k < t->c && norm > lambda; k++)
            to[k] *= lambda / norm;
    }
done:
    return status;
}

/* Groups of fused rows, as hd_shrink_find_groups() has them; `open` is the gap, absolute. The rows
 * of a group are near each other, but no two need be equal. */
static huddle_status find_groups(const iteration *t, const huddle_dense *z, double open,
                                 huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = t->input->edges;
    double *cost = NULL, gamma = t->input->gamma;
    ALLOC(cost, t->n);
    ALLOC(out->group, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        cost[i] = hd_shrink_row_weight(t->input->weights, i);
        out->group[i] = (int32_t)i;
    }
    for (int64_t e = 0; e < t->m; e++) {
        cost[edges->i[e]] += gamma * edges->weight[e];
        cost[edges->j[e]] += gamma * edges->weight[e];
    }
    for (int64_t e = 0; e < t->m; e++) {
        double norm = hd_shrink_norm(z->values + e * t->c, t->c);
        double cheaper = fmin(cost[edges->i[e]], cost[edges->j[e]]);
        if (norm < slack_share * gamma * edges->weight[e] &&
            cheaper * t->length[e] <= closing_share * open)
            hd_unite(out->group, edges->i[e], edges->j[e]);
    }
    TRY(hd_shrink_label_sets(t->input->context, &edges->halo, t->n, out->group, out->group,
                             &out->n_groups));
done:
    huddle_free(cost);
    return status;
}

/* "converged" only if the certificate says so; "stalled" is the end that the iteration knows. */
static huddle_stop choose_stop(const hd_shrink_solve *s, bool is_still) {
    if (s->info->gap <= s->options.gap)
        return HUDDLE_STOP_CONVERGED;
    return is_still ? HUDDLE_STOP_STALLED : HUDDLE_STOP_MAX_ITER;
}

/* Everything is evaluated for the G that is returned. */
static huddle_status report(hd_shrink_solve *s, iteration *t, bool is_still, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_info *info = s->info;
    int32_t *component = NULL;
    TRY(make_dual(t, &out->z));
    out->g = t->g;
    t->g = (huddle_dense){0};
    TRY(hd_shrink_certify(t->input, &out->g, &out->z, &info->objective, &info->dual));
    info->gap = hd_shrink_relative_gap(info->objective, info->dual);
    TRY(find_groups(t, &out->z,
                    fmax(s->options.gap * info->objective, info->objective - info->dual), out));
    ALLOC(component, t->n);
    TRY(hd_shrink_components(t->input->context, t->input->edges, t->n, component,
                             &info->n_components));
    if (info->n_history > 0)
        info->history_dual[info->n_history - 1] = info->dual;
    info->n_groups = out->n_groups;
    info->loss = t->input->squared ? "l2" : "l21";
    info->solver = t->is_printed ? "printed" : "published";
    info->linear_solver = t->is_printed ? "none" : t->linear.solver->name;
    info->n_solves = info->n_iter;
    info->stop = choose_stop(s, is_still);
    if (!is_still && s->options.shrink_tol > 0) /* an end that was asked for needs no warning */
        hd_warn(t->input->context, HUDDLE_WARNING_NOT_CONVERGED,
                "solver = %s: after %d steps the objective still changes by more than %g of itself "
                "(gap %.2g)",
                info->solver, info->n_iter, s->options.shrink_tol, info->gap);
done:
    huddle_free(component);
    return status;
}

/* The objective as it is; the bound is not computed in every step, and 0 is always one. */
static huddle_status record(hd_shrink_solve *s, double objective) {
    s->primal = objective;
    s->dual = 0;
    return hd_shrink_record_history(s);
}

huddle_status hd_shrink_published(hd_shrink_solve *s, huddle_shrunk *out) {
    huddle_status status = HUDDLE_OK;
    const huddle_shrink_options *o = &s->options;
    iteration t = {.input = &s->input,
                   .n = s->input.f->rows,
                   .m = s->input.edges->count,
                   .c = s->input.f->cols,
                   .epsilon = o->shrink_epsilon,
                   .is_printed = strcmp(o->solver, "printed") == 0};
    bool is_still = false;
    s->problem = (hd_shrink_problem){.unit = 1}; /* numbers here are the caller's */
    s->max_iter = o->shrink_max_iter;
    if (s->max_iter == HUDDLE_AUTO)
        s->max_iter = t.is_printed ? PRINTED_STEPS : PUBLISHED_STEPS;
    TRY(open_iteration(s, &t));
    while (!is_still && s->info->n_iter < s->max_iter) {
        double before = t.objective;
        TRY(hd_progress(s->input.context, "shrink", s->info->n_iter, s->max_iter));
        TRY(t.is_printed ? step_printed(&t) : step_derived(&t));
        measure(&t);
        if (!isfinite(t.objective))
            FAIL(HUDDLE_NUMERIC, "solver = %s: the objective of step %d is not a finite number",
                 o->solver, s->info->n_iter + 1);
        s->info->n_iter++;
        TRY(record(s, t.objective));
        is_still = o->shrink_tol > 0 && fabs(before - t.objective) <= o->shrink_tol * t.objective;
    }
    TRY(report(s, &t, is_still, out));
done:
    close_iteration(&t);
    return status;
}
