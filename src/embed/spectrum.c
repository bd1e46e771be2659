/* Estimates the ends of the spectrum by Lanczos iteration without reorthogonalisation. Rounding
 * errors produce copies of Ritz values that have converged, which does not affect the two ends.
 * From a random start the largest Ritz value is after k steps within about .1 (log(n k^4) / k)^2 of
 * the spectrum's width of the largest eigenvalue, whatever the spectrum (Kuczynski and
 * Wozniakowski, 1992): 3 % for n = 1,000, 6 % for a million. */
#include "base/check.h"
#include "base/rng.h"
#include "embed/solver.h"

#include <lapacke.h>
#include <math.h>

enum { STEPS = 40 };

/* An eigenvalue below the lower end of the filter's interval would be magnified like a wanted one,
 * so that this end gets a margin, as a share of the width found: more than the 6 % above. */
static const double margin = .1;

/* Off-diagonal entries below this part of the largest are rounding errors: the Krylov space is
 * exhausted. */
static const double exhausted = 1e-13;

/* The tridiagonal matrix of Lanczos, and three vectors of the recurrence; x has room for ghost
 * rows, and so have the others, since they change places. */
typedef struct lanczos {
    lapack_int size;
    double diagonal[STEPS], beside[STEPS];
    double *x, *before, *y;
} lanczos;

/* y = op x; *product = x'y. */
static huddle_status multiply_vector(huddle_context *context, const hd_embed_operator *op,
                                     double *x, double *y, double *product) {
    huddle_status status = HUDDLE_OK;
    *product = 0;
    TRY(hd_halo_fetch(&op->halo, x, sizeof *x));
    hd_embed_multiply_vector(op, x, y);
    for (int64_t i = 0; i < op->n; i++)
        *product += y[i] * x[i];
    TRY(hd_reduce_sum(context, 1, product));
done:
    return status;
}

/* A random vector of norm 1. A normal number takes one output of the counter-based generator, so
 * that the counter is the row's number among all processes. */
static huddle_status draw_start(huddle_context *context, const hd_embed_operator *op, double *x) {
    huddle_status status = HUDDLE_OK;
    hd_rng rng = hd_rng_stream(0, 0);
    double square = 0;
    for (int64_t i = 0; i < op->n; i++) {
        int64_t row = op->number != NULL ? op->number[i] : op->slab.first + i;
        rng.counter[0] = (uint32_t)row;
        rng.counter[1] = (uint32_t)((uint64_t)row >> 32);
        x[i] = hd_rng_normal(&rng);
        square += x[i] * x[i];
    }
    TRY(hd_reduce_sum(context, 1, &square));
    for (int64_t i = 0; i < op->n; i++)
        x[i] /= sqrt(square);
done:
    return status;
}

/* One step: extends the tridiagonal matrix; *beside is the norm of the next vector, which becomes
 * x. beta_k q_{k+1} = A q_k - alpha_k q_k - beta_{k-1} q_{k-1}. The three arrays change places
 * instead of being copied. */
static huddle_status extend_lanczos(huddle_context *context, const hd_embed_operator *op,
                                    lanczos *t, double *beside) {
    huddle_status status = HUDDLE_OK;
    int k = (int)t->size;
    double diagonal, last = k > 0 ? t->beside[k - 1] : 0, square = 0, *swap = t->before;
    TRY(multiply_vector(context, op, t->x, t->y, &diagonal));
    for (int64_t i = 0; i < op->n; i++) {
        t->y[i] -= diagonal * t->x[i] + last * t->before[i];
        square += t->y[i] * t->y[i];
    }
    TRY(hd_reduce_sum(context, 1, &square));
    *beside = sqrt(square);
    t->diagonal[k] = diagonal;
    t->beside[k] = *beside;
    t->size = k + 1;
    t->before = t->x;
    t->x = t->y;
    t->y = swap;
done:
    return status;
}

/* The recurrence ends early where the Krylov space is exhausted; Ritz values are then
 * eigenvalues. */
static huddle_status run_lanczos(huddle_context *context, const hd_embed_operator *op, lanczos *t) {
    huddle_status status = HUDDLE_OK;
    double largest = 0, beside;
    int64_t length = op->n + op->halo.ghosts;
    ALLOC(t->x, length);
    ALLOC(t->y, length);
    ALLOC_ZERO(t->before, length);
    TRY(draw_start(context, op, t->x));
    while (t->size < STEPS && t->size < op->slab.total) {
        TRY(extend_lanczos(context, op, t, &beside));
        largest = fmax(largest, fabs(t->diagonal[t->size - 1]) + beside);
        if (beside <= exhausted * largest) /* an invariant subspace: both ends are exact */
            break;
        for (int64_t i = 0; i < op->n; i++)
            t->x[i] /= beside;
    }
done:
    FREE(t->x, t->y, t->before);
    return status;
}

/* Gershgorin: every eigenvalue is at most as far from some diagonal entry as the sum of the other
 * magnitudes of that row. These bounds are safe, but for many matrices too wide. */
static huddle_status bound_rows(huddle_context *context, const hd_embed_operator *op, double *lower,
                                double *upper) {
    *lower = INFINITY;
    *upper = -INFINITY;
    for (int64_t i = 0; i < op->n; i++) {
        double centre = 0, radius = 0;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            if (op->columns[e] == i)
                centre += op->values[e];
            else
                radius += fabs(op->values[e]);
        *lower = fmin(*lower, centre - radius);
        *upper = fmax(*upper, centre + radius);
    }
    huddle_status status = hd_reduce_min(context, 1, lower);
    return status == HUDDLE_OK ? hd_reduce_max(context, 1, upper) : status;
}

/* Outer bounds of the spectrum from three sources, of which the tightest is used: the bounds of the
 * caller, Gershgorin's discs, and the Ritz values with their residuals. The lower end must not be
 * too high, or the filter would magnify what lies below; the upper end may, because the iteration
 * corrects it by its own Ritz values. */
huddle_status hd_embed_estimate_spectrum(huddle_context *context, const hd_embed_operator *op,
                                         double lower, double upper, hd_embed_spectrum *spectrum) {
    huddle_status status = HUDDLE_OK;
    lanczos t = {0};
    double vectors[STEPS * STEPS], first, last;
    TRY(run_lanczos(context, op, &t));
    lapack_int k = t.size;
    double rest = t.beside[k - 1];
    TRY(hd_embed_check_lapack(
        LAPACKE_dstev(LAPACK_COL_MAJOR, 'V', k, t.diagonal, t.beside, vectors, k), k));
    spectrum->min_ritz = t.diagonal[0];
    spectrum->max_ritz = t.diagonal[k - 1];
    double width = spectrum->max_ritz - spectrum->min_ritz;
    double below = rest * fabs(vectors[k - 1]), above = rest * fabs(vectors[k * k - 1]);
    /* An eigenvalue lies within the residual of a Ritz value, which is the last component of its
     * vector times the next off-diagonal entry. */
    TRY(bound_rows(context, op, &first, &last));
    spectrum->lower =
        fmax(fmax(lower, first), spectrum->min_ritz - fmin(rest, below + margin * width));
    spectrum->upper = fmin(fmin(upper, last), spectrum->max_ritz + above);
    spectrum->lower = fmin(spectrum->lower, spectrum->min_ritz);
    spectrum->upper = fmax(spectrum->upper, spectrum->max_ritz);
done:
    return status;
}
