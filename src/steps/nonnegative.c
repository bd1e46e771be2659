/* Multiplicative updates that decrease
 *
 *     J(F) = tr F'(L + mu (I - u u' - Z Z')) F + xi / 2 ||F'F - I||^2   over F >= 0.
 *
 * With S = I - L and Q = (1 + xi) I + S + mu (u u' + Z Z') the objective is, up to the constant
 * xi c / 2,
 *
 *     J(F) = (2 + mu) ||F||^2 - tr F'Q F + xi / 2 tr F F'F F'.
 *
 * Each term has an upper bound that is equal to it at the present P > 0 and a sum over entries:
 *
 *     - tr F'Q F <= tr P'Q P - 2 tr F'B,  B = Q P, because Q is positive semidefinite: the
 *         eigenvalues of S are in [-1, 1], since its graph has no negative weight;
 *     - 2 b f <= - 2 b p (1 + log(f / p)) where b > 0, because 1 + log t <= t;
 *     tr F F'F F' <= sum_ik (P P'P)_ik f_ik^4 / p_ik^3: with f_ik = r_ik p_ik the left side is a
 *         sum of products r_ik r_jk r_jl r_il with weights that are symmetric in the four, and each
 *         product is at most the mean of the fourth powers.
 *
 * The sum of the bounds is, for one entry f = r p, convex in f,
 *
 *     (2 + mu) p^2 r^2 - 2 b p log r + xi / 2 q p r^4,   q = (P P'P)_ik,
 *
 * and least where xi q r^4 + (2 + mu) p r^2 = b. Where b <= 0 the bound - 2 b f is kept, and the
 * minimum is at f = 0, which no product would leave again: r is therefore at least min_factor. By
 * convexity the bound at such an r > r* is still below that at 1. So J never rises. Splitting the
 * matrix itself into its positive and negative entries, as it is usual, gives such a bound too, but
 * a looser one, and the entries of Z Z' would be needed one by one; here Z occurs in products
 * only, which cost O(n r c).
 *
 * Sums over rows are added in the order of the chunks, which depend on n alone. */
#include "steps/nonnegative.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Chunks are so large that a loop over them is worth the start of threads: about a millisecond. */
enum { MAX_CHUNKS = 32, WORK_PER_CHUNK = 1 << 21 };

/* How much an entry may shrink in one update, and what it shrinks to at last, which is as good as 0
 * but can grow again. By convexity this cannot raise the bound either. */
static const double min_factor = .1, least_entry = 1e-20;

/* The sums over rows: Z'F (r x c), u'F (c), F'F (c x c), tr F'S F. */
typedef struct row_sums {
    double *zf, *uf, *ff, *fsf;
} row_sums;

typedef struct updating {
    const hd_step_nonnegative *problem;
    int64_t n, c, r, size; /* size: of the sums */
    int64_t grain;
    double *roots; /* 1 / sqrt(degree); 0 for a vertex without edges */
    double *unit;  /* u */
    double *sf;    /* S F */
    double *gf;    /* Z Z'F */
    double *parts; /* the sums of each chunk */
    double *sums;  /* of all */
    double *f;
} updating;

static row_sums view_sums(const updating *u, double *values) {
    double *uf = values + u->r * u->c, *ff = uf + u->c;
    return (row_sums){values, uf, ff, ff + u->c * u->c};
}

static void updating_free(updating *u) {
    FREE(u->roots, u->unit, u->sf, u->gf, u->parts, u->sums);
}

static huddle_status updating_new(const hd_step_nonnegative *problem, const huddle_dense *f,
                                  updating *u) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = problem->graph;
    double total = 0;
    int64_t n = f->rows, c = f->cols;
    int64_t r = problem->discrimination > 0 ? problem->components->cols : 0;
    int64_t grain = (n + MAX_CHUNKS - 1) / MAX_CHUNKS, least = WORK_PER_CHUNK / (c * (c + r)) + 1;
    *u = (updating){.problem = problem, .n = n, .c = c, .r = r, .f = f->values};
    u->grain = grain < least ? least : grain;
    u->size = (r + 1 + c) * c + 1;
    ALLOC(u->roots, n);
    ALLOC(u->unit, n);
    ALLOC(u->sf, n * c);
    ALLOC_ZERO(u->gf, n * c);
    ALLOC(u->parts, hd_chunks(n, u->grain) * u->size);
    ALLOC(u->sums, u->size);
    for (int64_t i = 0; i < n; i++) {
        double degree = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            degree += graph->values[e];
        u->roots[i] = degree > 0 ? 1 / sqrt(degree) : 0;
        total += u->unit[i] = problem->copies != NULL ? problem->copies[i] : 1;
    }
    for (int64_t i = 0; i < n; i++)
        u->unit[i] = sqrt(u->unit[i] / total);
done:
    return status;
}

/* Row i of S F. */
static void spread_row(const updating *u, int64_t i, double *row) {
    const huddle_csr *graph = u->problem->graph;
    memset(row, 0, (size_t)u->c * sizeof *row);
    for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
        int64_t j = graph->columns[e];
        double s = graph->values[e] * u->roots[i] * u->roots[j];
        for (int64_t k = 0; k < u->c; k++)
            row[k] += s * u->f[j * u->c + k];
    }
}

/* The sums of a chunk's rows. */
static huddle_status sum_rows(void *argument, hd_chunk chunk) {
    const updating *u = argument;
    const huddle_dense *z = u->problem->components;
    double *values = u->parts + chunk.index * u->size;
    row_sums s = view_sums(u, values);
    int64_t c = u->c;
    memset(values, 0, (size_t)u->size * sizeof *values);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const double *f = u->f + i * c;
        double *sf = u->sf + i * c;
        spread_row(u, i, sf);
        for (int64_t k = 0; k < c; k++) {
            s.uf[k] += u->unit[i] * f[k];
            *s.fsf += f[k] * sf[k];
            for (int64_t l = 0; l < c; l++)
                s.ff[k * c + l] += f[k] * f[l];
        }
    }
    if (u->r > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)u->r, (int)c,
                    (int)(chunk.end - chunk.begin), 1, z->values + chunk.begin * z->stride,
                    (int)z->stride, u->f + chunk.begin * c, (int)c, 0, s.zf, (int)c);
    return HUDDLE_OK;
}

static double squares(int64_t count, const double *values) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += values[k] * values[k];
    return sum;
}

/* J from the sums alone. */
static double objective(const updating *u) {
    const hd_step_nonnegative *p = u->problem;
    row_sums s = view_sums(u, u->sums);
    double trace = 0, distance = 0;
    for (int64_t k = 0; k < u->c; k++) {
        trace += s.ff[k * u->c + k];
        for (int64_t l = 0; l < u->c; l++) {
            double difference = s.ff[k * u->c + l] - (k == l);
            distance += difference * difference;
        }
    }
    double spread = trace - *s.fsf;
    double unexplained = trace - squares(u->c, s.uf) - squares(u->r * u->c, s.zf);
    if (p->discrimination == 0)
        unexplained = 0;
    return spread + p->discrimination * unexplained + p->orthogonality / 2 * distance;
}

/* What one update needs of F, and J. */
static huddle_status measure(huddle_context *context, updating *u, double *value) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_parallel(context, NULL, u->n, u->grain, sum_rows, u));
    memset(u->sums, 0, (size_t)u->size * sizeof *u->sums);
    for (int64_t part = 0; part < hd_chunks(u->n, u->grain); part++)
        for (int64_t k = 0; k < u->size; k++)
            u->sums[k] += u->parts[part * u->size + k];
    *value = objective(u);
done:
    return status;
}

/* r for one entry: the root of quartic r^4 + quadratic r^2 = b, written so that nothing cancels. */
static double factor(double quadratic, double quartic, double b) {
    if (b <= 0)
        return min_factor;
    double root = sqrt(quadratic * quadratic + 4 * quartic * b);
    return fmax(sqrt(2 * b / (quadratic + root)), min_factor);
}

static huddle_status update_rows(void *argument, hd_chunk chunk) {
    const updating *u = argument;
    const hd_step_nonnegative *p = u->problem;
    const huddle_dense *z = p->components;
    const row_sums s = view_sums(u, u->sums);
    double mu = p->discrimination, xi = p->orthogonality;
    int64_t c = u->c;
    double *before = u->parts + chunk.index * u->size; /* not needed any more */
    if (u->r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(chunk.end - chunk.begin),
                    (int)c, (int)u->r, 1, z->values + chunk.begin * z->stride, (int)z->stride, s.zf,
                    (int)c, 0, u->gf + chunk.begin * c, (int)c);
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double *f = u->f + i * c;
        memcpy(before, f, (size_t)c * sizeof *f);
        for (int64_t k = 0; k < c; k++) {
            double q = 0, explained = u->unit[i] * s.uf[k] + u->gf[i * c + k];
            for (int64_t l = 0; l < c; l++)
                q += before[l] * s.ff[l * c + k];
            double b = (1 + xi) * before[k] + u->sf[i * c + k] + mu * explained;
            f[k] = before[k] * factor((2 + mu) * before[k], xi * q, b);
            f[k] = fmax(f[k], least_entry);
        }
    }
    return HUDDLE_OK;
}

/* Below the rounding of its terms J may rise by chance; then nothing is left to gain. */
huddle_status hd_step_nonnegative_minimise(huddle_context *context,
                                           const hd_step_nonnegative *problem, huddle_dense *f,
                                           huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    updating u = {0};
    double last = INFINITY, value;
    bool stopped = false;
    hd_blas_enter();
    hd_fit_alternation_reset(alternation);
    TRY(updating_new(problem, f, &u));
    for (int32_t t = 0; !stopped; t++) {
        TRY(hd_progress(context, "updates", t, problem->max_iter));
        TRY(measure(context, &u, &value));
        stopped = !(value < last);
        if (!stopped) {
            TRY(hd_fit_alternation_add(alternation, value));
            stopped = last - value <= problem->tol * (double)u.c;
        }
        alternation->stop = stopped ? HUDDLE_STOP_CONVERGED : HUDDLE_STOP_MAX_ITER;
        if (stopped || t == problem->max_iter)
            break;
        last = value;
        TRY(hd_parallel(context, NULL, u.n, u.grain, update_rows, &u));
    }
done:
    hd_blas_leave();
    updating_free(&u);
    return status;
}
