/* Iterative reweighting: at Q, with s_ij = sqrt(||q_i - q_j||^2 + eps^2),
 *
 *     sqrt(||p_i - p_j||^2 + eps^2) <= s_ij / 2 + (||p_i - p_j||^2 + eps^2) / (2 s_ij)
 *
 * for every P, with equality at P = Q: 2 a b <= a^2 + b^2, divided by 2 b. The sum of the right
 * sides over the edges is, up to a constant, tr P'L P / 2 with the Laplacian L of the weights
 * w_ij / s_ij. Its minimum over P'M P = I are the vectors of the c smallest eigenvalues of L v =
 * lambda M v, where the bound, and therefore J below it, is at most J(Q). Without eps a row that
 * meets another would have an infinite weight and could never leave it.
 *
 * Where rows nearly coincide, weights are up to 1 / epsilon times as large as elsewhere, and the
 * wanted eigenvalues are tiny shares of the largest: a polynomial of L would not find them. They
 * are the largest of
 *
 *     sigma M^1/2 (L + sigma M)^-1 M^1/2 = sigma / (lambda + sigma),
 *
 * by block Krylov subspaces (prepare/krylov.c), with the linear solvers of the shrink stage: L +
 * sigma M is positive definite with no positive entry off its diagonal, for which a Cholesky factor
 * is accurate whatever the range of the weights. sigma is the mean of x'L x / x'M x over the
 * present columns, which bounds the mean of the wanted eigenvalues from above. */
#include "steps/l1_rows.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"
#include "huddle/graph.h"
#include "prepare/eigen.h"
#include "shrink/linear.h"
#include "steps/filtered.h"

#include <math.h>
#include <string.h>

/* sigma is at least this share of the largest diagonal entry of L: less is lost in its rounding. */
static const double least_sigma = 1e-13;

/* What iterative solvers leave of a right-hand side of norm 1. */
static const double solver_tolerance = 1e-10;

/* Rounds for a new row, and the step, relative to eps, at which they end. */
enum { PLACE_ROUNDS = 1000 };
static const double place_tolerance = 1e-3;

typedef struct reweighting {
    const hd_step_l1_rows *problem;
    int64_t n, c, m; /* edges */
    int64_t width;   /* columns of a right-hand side */
    int32_t *head, *tail;
    double *weight; /* m: of the graph, */
    double *now;    /* and divided by the distances */
    int64_t *incident_at;
    uint32_t *incident;
    double *mass, *root; /* n: M and its root */
    double *excess;      /* n: sigma M */
    double *right, *solution;
    double sigma, eps;
    hd_shrink_linear_system system;
} reweighting;

static void reweighting_free(reweighting *r) {
    hd_shrink_linear_close(&r->system);
    FREE(r->head, r->tail, r->weight, r->now, r->incident_at, r->incident, r->mass, r->root,
         r->excess, r->right, r->solution);
}

/* ---- the graph ----------------------------------------------------------------------------- */

/* The edges in the order of the upper triangle, and those of each vertex. */
static huddle_status read_edges(const huddle_csr *graph, reweighting *r) {
    huddle_status status = HUDDLE_OK;
    int64_t n = graph->rows, entries = graph->offsets[n], m = 0;
    ALLOC(r->head, entries / 2 + 1);
    ALLOC(r->tail, entries / 2 + 1);
    ALLOC(r->weight, entries / 2 + 1);
    ALLOC(r->now, entries / 2 + 1);
    ALLOC_ZERO(r->incident_at, n + 2);
    ALLOC(r->incident, entries + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            if (graph->columns[e] > i && graph->values[e] > 0) {
                r->head[m] = (int32_t)i;
                r->tail[m] = graph->columns[e];
                r->weight[m++] = graph->values[e];
            }
    r->m = m;
    for (int64_t e = 0; e < m; e++) {
        r->incident_at[r->head[e] + 2]++;
        r->incident_at[r->tail[e] + 2]++;
    }
    for (int64_t v = 0; v < n; v++)
        r->incident_at[v + 2] += r->incident_at[v + 1];
    for (int64_t e = 0; e < m; e++) {
        r->incident[r->incident_at[r->head[e] + 1]++] = (uint32_t)(2 * e);
        r->incident[r->incident_at[r->tail[e] + 1]++] = (uint32_t)(2 * e + 1);
    }
done:
    return status;
}

static huddle_status open_system(huddle_context *context, reweighting *r) {
    huddle_status status = HUDDLE_OK;
    int64_t n = r->n;
    r->width = hd_prepare_eigen_block(n, r->c);
    hd_shrink_linear_graph graph = {.n = (int32_t)n,
                                    .m = r->m,
                                    .c = r->width,
                                    .head = r->head,
                                    .tail = r->tail,
                                    .incident_at = r->incident_at,
                                    .incident = r->incident,
                                    .seed = r->problem->seed};
    ALLOC(r->excess, n);
    ALLOC(r->right, n * r->width);
    ALLOC(r->solution, n * r->width);
    TRY(hd_shrink_linear_open(context, r->problem->linear_solver, &graph, &r->system));
done:
    return status;
}

/* ---- one step ------------------------------------------------------------------------------ */

double hd_step_l1_rows_eps(double epsilon, int64_t c, double points) {
    return epsilon * sqrt(2 * (double)c / points);
}

static double squared_distance(const double *a, const double *b, int64_t c) {
    double sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Divides the weights by the distances, which are taken relative to eps / epsilon so that the
 * result has the scale of the weights, and finds sigma. Returns J. */
static double reweigh(reweighting *r, const huddle_dense *q) {
    double objective = 0, trace = 0, most = 0, unit = r->eps / r->problem->epsilon;
    for (int64_t e = 0; e < r->m; e++) {
        const double *a = q->values + r->head[e] * q->stride;
        const double *b = q->values + r->tail[e] * q->stride;
        double square = squared_distance(a, b, r->c), s = sqrt(square + r->eps * r->eps);
        r->now[e] = r->weight[e] * unit / s;
        objective += r->weight[e] * s;
        trace += r->now[e] * square;
        most = fmax(most, r->now[e]);
    }
    r->sigma = fmax(trace / (double)r->c, least_sigma * most);
    return objective;
}

/* out = sigma M^1/2 (L + sigma M)^-1 M^1/2 v. The solver always has the same number of columns. */
static huddle_status times(huddle_context *context, void *self, const double *v, int64_t b,
                           int64_t ldv, double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    const reweighting *r = self;
    TRY(hd_check_cancel(context));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < r->width; k++)
            r->right[i * r->width + k] = k < b ? r->root[i] * v[i * ldv + k] : 0;
    TRY(r->system.solver->solve(r->system.state, r->right, solver_tolerance, r->solution));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < b; k++)
            out[i * ldo + k] = r->sigma * r->root[i] * r->solution[i * r->width + k];
done:
    return status;
}

/* Q of the present weights. */
static huddle_status find_vectors(huddle_context *context, reweighting *r, huddle_dense *q) {
    huddle_status status = HUDDLE_OK;
    const hd_prepare_operator inverse = {r->n, times, r};
    double *values = NULL, *vectors = NULL;
    bool converged;
    ALLOC(values, r->c);
    ALLOC(vectors, r->n * r->c);
    for (int64_t i = 0; i < r->n; i++)
        r->excess[i] = r->sigma * r->mass[i];
    TRY(r->system.solver->factor(r->system.state, r->excess, r->now));
    TRY(hd_prepare_eigen_krylov(context, &inverse, r->c, false, r->problem->seed, values, vectors,
                                &converged));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < r->c; k++)
            q->values[i * q->stride + k] = vectors[i * r->c + k] / r->root[i];
    for (int64_t k = 0; k < r->c; k++)
        hd_step_set_sign(q, k);
    if (!converged)
        hd_log(context, "l1: the eigenvectors of this step are not accurate");
done:
    FREE(values, vectors);
    return status;
}

/* ---- the iteration ------------------------------------------------------------------------- */

/* As many components as columns, or more: the indicators of the largest ones, of which no edge has
 * ends in two, are a minimum. */
static huddle_status set_indicators(const reweighting *r, const int32_t *component, int32_t count,
                                    huddle_dense *q) {
    huddle_status status = HUDDLE_OK;
    double *sum = NULL;
    int32_t *column = NULL;
    ALLOC_ZERO(sum, count);
    ALLOC(column, count);
    for (int64_t i = 0; i < r->n; i++)
        sum[component[i]] += r->mass[i];
    memset(column, -1, (size_t)count * sizeof *column);
    for (int32_t k = 0; k < r->c; k++) {
        int32_t largest = -1;
        for (int32_t g = 0; g < count; g++)
            if (column[g] < 0 && (largest < 0 || sum[g] > sum[largest]))
                largest = g;
        column[largest] = k;
    }
    for (int64_t i = 0; i < r->n; i++)
        if (column[component[i]] >= 0)
            q->values[i * q->stride + column[component[i]]] = 1 / sqrt(sum[component[i]]);
done:
    FREE(sum, column);
    return status;
}

static huddle_status begin(const hd_step_l1_rows *problem, int64_t c, reweighting *r) {
    huddle_status status = HUDDLE_OK;
    double total = 0;
    r->problem = problem;
    r->n = problem->graph->rows;
    r->c = c;
    ALLOC(r->mass, r->n);
    ALLOC(r->root, r->n);
    for (int64_t i = 0; i < r->n; i++) {
        r->mass[i] = problem->copies != NULL ? problem->copies[i] : 1;
        r->root[i] = sqrt(r->mass[i]);
        total += r->mass[i];
    }
    r->eps = hd_step_l1_rows_eps(problem->epsilon, r->c, total);
    TRY(read_edges(problem->graph, r));
done:
    return status;
}

/* Steps from the weights that r has, until J no longer falls. A step in which rounding raises J is
 * not taken. */
static huddle_status iterate(huddle_context *context, reweighting *r, huddle_dense *q,
                             huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    const hd_step_l1_rows *p = r->problem;
    huddle_dense next = {0};
    double before = INFINITY;
    TRY(huddle_dense_new(r->n, r->c, &next));
    alternation->stop = HUDDLE_STOP_MAX_ITER;
    for (int32_t t = 0; t <= p->max_iter; t++) {
        TRY(hd_progress(context, "l1", t, p->max_iter + 1.0));
        TRY(find_vectors(context, r, &next));
        double now = reweigh(r, &next);
        bool falls = now <= before;
        if (falls) {
            huddle_dense swap = *q;
            *q = next;
            next = swap;
            TRY(hd_fit_alternation_add(alternation, now));
        }
        if (!falls || (t > 0 && before - now <= p->tol * before)) {
            alternation->stop = HUDDLE_STOP_CONVERGED;
            break;
        }
        before = now;
    }
done:
    huddle_dense_free(&next);
    return status;
}

huddle_status hd_step_l1_rows_minimise(huddle_context *context, const hd_step_l1_rows *problem,
                                       huddle_dense *q, huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    reweighting r = {0};
    int32_t *component = NULL, count = 0;
    hd_blas_enter();
    TRY(hd_blas_reserve(context));
    hd_fit_alternation_reset(alternation);
    TRY(huddle_csr_fetch(problem->graph));
    TRY(begin(problem, q->cols, &r));
    ALLOC(component, r.n);
    TRY(huddle_graph_components(context, problem->graph, component, &count));
    if (count >= r.c) {
        memset(q->values, 0, (size_t)(q->rows * q->stride) * sizeof *q->values);
        TRY(set_indicators(&r, component, count, q));
        TRY(hd_fit_alternation_add(alternation, reweigh(&r, q)));
        alternation->stop = HUDDLE_STOP_EXACT;
        goto done;
    }
    TRY(open_system(context, &r));
    reweigh(&r, q);
    TRY(iterate(context, &r, q, alternation));
done:
    hd_blas_leave();
    huddle_free(component);
    reweighting_free(&r);
    return status;
}

/* ---- new rows ------------------------------------------------------------------------------ */

/* row becomes the mean of its neighbours, each with its weight divided by its distance (at first,
 * by 1). Returns the squared distance by which it moved. */
static double move_to_mean(const huddle_dense *q, double eps, int64_t count, const int32_t *columns,
                           const double *weights, bool first, double *row, double *mean) {
    double total = 0, moved = 0;
    memset(mean, 0, (size_t)q->cols * sizeof *mean);
    for (int64_t j = 0; j < count; j++) {
        const double *other = q->values + columns[j] * q->stride;
        double s = first ? 1 : sqrt(squared_distance(row, other, q->cols) + eps * eps);
        total += weights[j] / s;
        for (int64_t k = 0; k < q->cols; k++)
            mean[k] += weights[j] / s * other[k];
    }
    for (int64_t k = 0; k < q->cols; k++) {
        double value = total > 0 ? mean[k] / total : 0;
        moved += (value - row[k]) * (value - row[k]);
        row[k] = value;
    }
    return moved;
}

/* The iteration of Weiszfeld, whose limit is the geometric median of the neighbours as eps -> 0. */
void hd_step_l1_rows_place(const huddle_dense *q, double eps, int64_t count, const int32_t *columns,
                           const double *weights, double *row, double *scratch) {
    double small = place_tolerance * eps, moved = INFINITY;
    memset(row, 0, (size_t)q->cols * sizeof *row);
    for (int t = 0; t < PLACE_ROUNDS && moved > small * small; t++)
        moved = move_to_mean(q, eps, count, columns, weights, t == 0, row, scratch);
}
