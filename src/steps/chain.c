/* The chain P of several graphs with transitions P_v, v = 1 .. m, is the P of
 *
 *     minimise over P, Q, E_v   ||Q||_* + lambda sum_v ||E_v||_1
 *     subject to P_v = P + E_v, P = Q, P >= 0, P 1 = 1,
 *
 * found by the method of multipliers. With mu in a round and T_v = P_v - P - Y_v / mu it is
 *
 *     P    <- the rows of (Q - Z / mu + sum_v (P_v - E_v - Y_v / mu)) / (m + 1), projected,
 *     E_v  <- T_v with its entries moved towards 0 by lambda / mu,
 *     Q    <- P + Z / mu with its singular values lowered by 1 / mu,
 *     Y_v  <- Y_v + mu (P + E_v - P_v),   Z <- Z + mu (P - Q),   mu <- growth mu.
 *
 * Given P, the steps for E_v and Q do not depend on each other: two blocks alternate, which
 * converges for a fixed mu. E_v is not kept. Y_v becomes -mu times T_v limited to lambda / mu, and
 * the next round needs the sum of P_v - E_v only. */
#include "steps/chain.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "prepare/eigen.h"
#include "steps/can.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Rows of a chunk: its products with a matrix are large enough for BLAS. */
enum { ROWS_PER_CHUNK = 64 };

/* Singular values are the roots of eigenvalues of X'X, which have an error of 1e-16: below 1e-8
 * they are rounding. mu does not grow beyond this, and its inverse, the limit, stays far above. */
static const double max_penalty = 1e5;

/* The probability of a return to the start: far below what joins clusters, so that it decides only
 * between classes that are not joined, and far above rounding. */
static const double return_share = 1e-6;

/* lambda = auto is this many times the smallest value at which a group of points is worth a rank of
 * its own (docs/method.md). */
static const double auto_factor = 3;

void hd_step_chain_free(hd_step_chain *chain) {
    huddle_free(chain->p);
    memset(chain, 0, sizeof *chain);
}

/* ---- transitions --------------------------------------------------------------------------- */

huddle_status hd_step_chain_transitions(const huddle_csr *graph, huddle_csr *transitions) {
    huddle_status status = HUDDLE_OK;
    int64_t n = graph->rows, end = 0;
    TRY(huddle_csr_new(n, n, graph->offsets[n] + n, transitions));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            sum += graph->values[e];
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1] && sum > 0; e++) {
            transitions->columns[end] = graph->columns[e];
            transitions->values[end++] = graph->values[e] / sum;
        }
        if (sum <= 0) {
            transitions->columns[end] = (int32_t)i;
            transitions->values[end++] = 1;
        }
        transitions->offsets[i + 1] = end;
    }
done:
    return status;
}

/* A group of points that all transitions keep together, larger than the neighbourhoods, adds 1 to
 * the nuclear norm if P has it, and takes about 2 k from the errors of each view, k the entries of
 * a row, whatever its size. */
double hd_step_chain_auto(int32_t count, const huddle_csr *transitions) {
    double neighbors = 0;
    int64_t n = transitions[0].rows;
    for (int32_t v = 0; v < count; v++)
        neighbors += (double)transitions[v].offsets[n] / (double)n;
    return auto_factor / (2 * neighbors);
}

/* ---- singular values ----------------------------------------------------------------------- */

typedef struct product {
    int64_t n, r;
    const double *x;
    double *gram, *vectors, *factors, *q;
} product;

/* Rows of X'X up to the diagonal. */
static huddle_status multiply_gram(void *argument, hd_chunk chunk) {
    const product *p = argument;
    int n = (int)p->n, rows = (int)(chunk.end - chunk.begin);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, (int)chunk.end, n, 1,
                p->x + chunk.begin, n, p->x, n, 0, p->gram + chunk.begin * n, n);
    return HUDDLE_OK;
}

/* Rows of Q = X V diag(factors) V'. The Gram matrix is not needed any more and has X V. */
static huddle_status multiply_rows(void *argument, hd_chunk chunk) {
    const product *p = argument;
    int n = (int)p->n, r = (int)p->r, rows = (int)(chunk.end - chunk.begin);
    double *xv = p->gram + chunk.begin * n, *q = p->q + chunk.begin * n;
    if (r == 0) {
        memset(q, 0, (size_t)rows * (size_t)n * sizeof *q);
        return HUDDLE_OK;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, r, n, 1, p->x + chunk.begin * n, n,
                p->vectors, n, 0, xv, r);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < r; k++)
            xv[i * r + k] *= p->factors[k];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n, r, 1, xv, r, p->vectors, n, 0,
                q, n);
    return HUDDLE_OK;
}

/* Only singular values above the limit are needed, and with them their right vectors: of X = U S V'
 * the result is X V (1 - limit / S) V'. The eigenvectors of X'X are those of the decomposition to
 * tridiagonal form, of which the ones below the limit are not transformed back; dgesdd computes all
 * of U and V from a bidiagonal form and takes more than twice as long. */
huddle_status hd_step_chain_threshold(huddle_context *context, int64_t n, const double *x,
                                      double limit, hd_step_chain_room *room, double *q,
                                      int64_t *rank, double *sum) {
    huddle_status status = HUDDLE_OK;
    product p = {n, 0, x, room->gram, room->vectors, room->values, q};
    hd_blas_enter();
    TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, multiply_gram, &p));
    /* LAPACK reads what it calls the lower half of a matrix by columns. */
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            p.gram[j * n + i] = p.gram[i * n + j];
    TRY(hd_prepare_eigen_above(n, p.gram, limit * limit, p.factors, p.vectors, room->work, &p.r));
    *rank = p.r;
    *sum = 0;
    for (int64_t k = 0; k < p.r; k++) {
        double value = sqrt(p.factors[k]);
        *sum += value - limit;
        p.factors[k] = 1 - limit / value;
    }
    TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, multiply_rows, &p));
done:
    hd_blas_leave();
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Arrays of n x n, but for scratch. */
typedef struct solver {
    int64_t n;
    int32_t count;
    const huddle_csr *transitions;
    double lambda, mu;
    double *p, *q, *z;           /* z: P + Z / mu while Q is found */
    double *rest;                /* sum_v (P_v - E_v) */
    double *y[HD_FIT_MAX_VIEWS]; /* Y_v */
    hd_step_chain_room room;
    double *scratch;   /* 2 n for each worker */
    double *violation; /* of each chunk */
} solver;

static void solver_free(solver *s) {
    for (int32_t v = 0; v < s->count; v++)
        huddle_free(s->y[v]);
    FREE(s->q, s->z, s->rest, s->room.gram, s->room.vectors, s->room.values, s->room.work,
         s->scratch, s->violation);
}

/* Row i of P_v, dense. */
static void spread_row(const huddle_csr *transitions, int64_t i, double *row) {
    memset(row, 0, (size_t)transitions->cols * sizeof *row);
    for (int64_t e = transitions->offsets[i]; e < transitions->offsets[i + 1]; e++)
        row[transitions->columns[e]] = transitions->values[e];
}

/* P and Q begin as the mean of the P_v, everything else as 0. */
static huddle_status begin_rows(void *argument, hd_chunk chunk) {
    const solver *s = argument;
    int64_t n = s->n;
    double *row = s->scratch + 2 * n * chunk.worker;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int32_t v = 0; v < s->count; v++) {
            spread_row(&s->transitions[v], i, row);
            for (int64_t e = i * n; e < (i + 1) * n; e++) {
                s->rest[e] += row[e - i * n];
                s->q[e] += row[e - i * n] / s->count;
            }
        }
    return HUDDLE_OK;
}

/* The least squares of a row of P are a projection; its weights in CAN are those of distances. */
static void project_row(const solver *s, int64_t i, double *scratch) {
    int64_t n = s->n;
    for (int64_t j = 0; j < n; j++) {
        int64_t e = i * n + j;
        double sum = s->q[e] - s->z[e] / s->mu + s->rest[e];
        for (int32_t v = 0; v < s->count; v++)
            sum -= s->y[v][e] / s->mu;
        scratch[j] = -sum / (s->count + 1);
    }
    hd_step_can_project((int32_t)n, scratch, .5, scratch + n, s->p + i * n);
}

/* E_v of row i, of which Y_v and the sum remain. */
static double split_row(const solver *s, int32_t v, int64_t i, double *row) {
    double most = 0, limit = s->lambda / s->mu;
    spread_row(&s->transitions[v], i, row);
    for (int64_t j = 0; j < s->n; j++) {
        int64_t e = i * s->n + j;
        double target = row[j] - s->p[e] - s->y[v][e] / s->mu;
        double within = fmin(fmax(target, -limit), limit);
        double error = target - within;
        most = fmax(most, fabs(s->p[e] + error - row[j]));
        s->rest[e] += row[j] - error;
        s->y[v][e] = -s->mu * within;
    }
    return most;
}

/* P, the errors and their multipliers, and P + Z / mu. */
static huddle_status update_rows(void *argument, hd_chunk chunk) {
    const solver *s = argument;
    int64_t n = s->n;
    double *scratch = s->scratch + 2 * n * chunk.worker, most = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        project_row(s, i, scratch);
        memset(s->rest + i * n, 0, (size_t)n * sizeof *s->rest);
        for (int32_t v = 0; v < s->count; v++)
            most = fmax(most, split_row(s, v, i, scratch));
        for (int64_t e = i * n; e < (i + 1) * n; e++)
            s->z[e] = s->p[e] + s->z[e] / s->mu;
    }
    s->violation[chunk.index] = most;
    return HUDDLE_OK;
}

/* Z + mu (P - Q) is mu times what was cut off. */
static huddle_status update_multipliers(void *argument, hd_chunk chunk) {
    const solver *s = argument;
    double most = s->violation[chunk.index];
    for (int64_t e = chunk.begin * s->n; e < chunk.end * s->n; e++) {
        most = fmax(most, fabs(s->p[e] - s->q[e]));
        s->z[e] = s->mu * (s->z[e] - s->q[e]);
    }
    s->violation[chunk.index] = most;
    return HUDDLE_OK;
}

static double largest(const double *values, int64_t count) {
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, values[k]);
    return most;
}

static huddle_status begin(huddle_context *context, solver *s) {
    huddle_status status = HUDDLE_OK;
    int64_t size = s->n * s->n;
    ALLOC_ZERO(s->q, size);
    ALLOC_ZERO(s->z, size);
    ALLOC_ZERO(s->rest, size);
    for (int32_t v = 0; v < s->count; v++)
        ALLOC_ZERO(s->y[v], size);
    ALLOC(s->room.gram, size);
    ALLOC(s->room.vectors, size);
    ALLOC(s->room.values, s->n);
    ALLOC(s->room.work, hd_prepare_eigen_room(s->n));
    ALLOC(s->scratch, 2 * s->n * hd_workers(context));
    ALLOC_ZERO(s->violation, hd_chunks(s->n, ROWS_PER_CHUNK));
    TRY(hd_parallel(context, NULL, s->n, ROWS_PER_CHUNK, begin_rows, s));
done:
    return status;
}

/* How far P is from every P_v. */
static void measure_deviations(const solver *s, hd_step_chain *chain) {
    for (int32_t v = 0; v < s->count; v++) {
        chain->deviation[v] = 0;
        for (int64_t i = 0; i < s->n; i++) {
            spread_row(&s->transitions[v], i, s->scratch);
            for (int64_t j = 0; j < s->n; j++)
                chain->deviation[v] += fabs(s->scratch[j] - s->p[i * s->n + j]) / (double)s->n;
        }
    }
}

huddle_status hd_step_chain_find(huddle_context *context, int32_t count,
                                 const huddle_csr *transitions,
                                 const hd_step_chain_options *options, hd_step_chain *chain,
                                 huddle_alternation_info *rounds) {
    huddle_status status = HUDDLE_OK;
    int64_t n = transitions[0].rows, chunks = hd_chunks(n, ROWS_PER_CHUNK);
    bool is_auto = options->sparsity == HUDDLE_AUTO;
    solver s = {.n = n, .count = count, .transitions = transitions, .mu = options->penalty};
    chain->n = n;
    chain->sparsity = is_auto ? hd_step_chain_auto(count, transitions) : options->sparsity;
    s.lambda = chain->sparsity;
    ALLOC(chain->p, n * n);
    s.p = chain->p;
    TRY(begin(context, &s));
    hd_fit_alternation_reset(rounds);
    TRY(hd_fit_alternation_add(rounds, 1)); /* the largest that an entry can be */
    rounds->stop = HUDDLE_STOP_MAX_ITER;
    for (int32_t round = 0; round < options->max_iter; round++) {
        TRY(hd_progress(context, "chain", round, options->max_iter));
        TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, update_rows, &s));
        TRY(hd_step_chain_threshold(context, n, s.z, 1 / s.mu, &s.room, s.q, &chain->rank,
                                    &chain->nuclear));
        TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, update_multipliers, &s));
        TRY(hd_fit_alternation_add(rounds, largest(s.violation, chunks)));
        if (rounds->objective[rounds->n_iter] <= options->tol) {
            rounds->stop = HUDDLE_STOP_CONVERGED;
            break;
        }
        s.mu = fmin(s.mu * options->growth, fmax(max_penalty, options->penalty));
    }
    measure_deviations(&s, chain);
done:
    solver_free(&s);
    return status;
}

/* ---- the graph of the chain ---------------------------------------------------------------- */

/* pi = a start + (1 - a) P' pi with a the probability of a return. LAPACK, by columns, sees the
 * transpose of rows of P. */
huddle_status hd_step_chain_stationary(const hd_step_chain *chain, const double *start,
                                       double *pi) {
    huddle_status status = HUDDLE_OK;
    int64_t n = chain->n;
    double *matrix = NULL, sum = 0;
    lapack_int *pivots = NULL, size = (lapack_int)n, info;
    hd_blas_enter();
    ALLOC(matrix, n * n);
    ALLOC(pivots, n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            matrix[i * n + j] = (i == j) - (1 - return_share) * chain->p[i * n + j];
        pi[i] = return_share * start[i];
    }
    info = LAPACKE_dgesv_work(LAPACK_COL_MAJOR, size, 1, matrix, size, pivots, pi, size);
    if (info != 0)
        FAIL(HUDDLE_NUMERIC,
             "LAPACK could not find the distribution of a chain of %lld states (info %d)",
             (long long)n, (int)info);
    for (int64_t i = 0; i < n; i++) {
        pi[i] = fmax(pi[i], return_share * start[i]); /* which rounding may miss */
        sum += pi[i];
    }
    for (int64_t i = 0; i < n; i++)
        pi[i] /= sum;
done:
    hd_blas_leave();
    FREE(matrix, pivots);
    return status;
}

huddle_status hd_step_chain_graph(const hd_step_chain *chain, const double *pi, double total,
                                  huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    int64_t n = chain->n, count = 0;
    const double *p = chain->p;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            if (p[i * n + j] > 0 || p[j * n + i] > 0)
                count += i == j ? 1 : 2;
    TRY(huddle_csr_new(n, n, count, graph));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (p[i * n + j] > 0 || p[j * n + i] > 0) {
                int64_t low = i < j ? i : j, high = i < j ? j : i; /* one sum for both entries */
                graph->columns[count] = (int32_t)j;
                graph->values[count++] =
                    (pi[low] * p[low * n + high] + pi[high] * p[high * n + low]) * (total / 2);
            }
        graph->offsets[i + 1] = count;
    }
done:
    return status;
}
