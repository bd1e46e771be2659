/* Principal components from the smaller of two matrices. With C the centred points, C'C (d x d) has
 * the components as eigenvectors; if n < d, the eigenvectors u of CC' (n x n) are computed instead,
 * and the components are C'u / |C'u|. A matrix of moderate size is formed and decomposed; a larger
 * one is only multiplied with (krylov.c). If rows are distributed over processes it is always C'C,
 * which every process then has.
 *
 * Squaring the matrix loses components of variance below eps times the largest, which are noise in
 * single-precision data anyway. */
#include "prepare/pca.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "prepare/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The largest matrix that is decomposed directly: beyond, iterating is faster (`./dev bench
 * prepare`). Forming the matrix of sparse points costs more, so their limit is lower. */
enum { DENSE_LIMIT = 3000, SPARSE_LIMIT = 500 };

typedef struct side {
    const hd_prepare_centred *c;
    bool by_columns;
    double *half; /* C v or C'v: the other dimension x the widest block so far */
    int64_t width;
} side;

/* out = C'C v or CC'v, as two products: neither matrix is formed. */
static huddle_status multiply_both(huddle_context *context, void *self, const double *v, int64_t b,
                                   int64_t ldv, double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    side *s = self;
    if (b > s->width) {
        huddle_free(s->half);
        s->half = NULL;
        s->width = b;
        ALLOC(s->half, (s->by_columns ? s->c->x->n : s->c->x->d) * b);
    }
    TRY(hd_prepare_centred_times_both(context, s->c, s->by_columns, v, b, ldv, s->half, out, ldo));
done:
    return status;
}

/* Only multiplies with the matrix. Components that have not converged fully still span nearly the
 * same space, hence a warning and not an error. */
static huddle_status find_by_iteration(huddle_context *context, const hd_prepare_centred *c,
                                       bool by_columns, int64_t r, bool rough, uint64_t seed,
                                       double *values, double *vectors) {
    huddle_status status = HUDDLE_OK;
    side s = {c, by_columns, NULL, 0};
    hd_prepare_operator a = {by_columns ? c->x->d : c->x->n, multiply_both, &s};
    bool converged;
    TRY(hd_prepare_eigen_krylov(context, &a, r, rough, seed, values, vectors, &converged));
    if (!converged)
        hd_warn(context, HUDDLE_WARNING_NOT_CONVERGED,
                "prepare: the principal components did not converge fully");
done:
    huddle_free(s.half);
    return status;
}

/* Loops over components run along the rows, as these lie in memory: a hundred thousand features
 * would be as many cache misses per component. */
static void scale_columns(int64_t d, int64_t r, const double *factor, double *components) {
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < r; k++)
            components[j * r + k] *= factor[k];
}

/* From eigenvectors of CC' to unit components by C'; those beyond the rank become zero. |C'u| is
 * the root of the eigenvalue; dividing by the computed norm makes the components unit vectors to
 * full accuracy. */
static huddle_status map_to_components(huddle_context *context, const hd_prepare_centred *c,
                                       int64_t r, int64_t rank, const double *vectors,
                                       double *components) {
    huddle_status status = HUDDLE_OK;
    int64_t d = c->x->d;
    double *factor = NULL;
    ALLOC_ZERO(factor, r);
    TRY(hd_prepare_centred_times_transpose(context, c, vectors, r, r, components, r));
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < r; k++)
            factor[k] += components[j * r + k] * components[j * r + k];
    for (int64_t k = 0; k < r; k++)
        factor[k] = k < rank && factor[k] > 0 ? 1 / sqrt(factor[k]) : 0;
    scale_columns(d, r, factor, components);
done:
    huddle_free(factor);
    return status;
}

/* Makes the largest entry of every component positive, so that the signs do not depend on the
 * solver, and components beyond the rank zero. */
static huddle_status fix_signs(int64_t d, int64_t r, int64_t rank, double *components) {
    huddle_status status = HUDDLE_OK;
    double *largest = NULL;
    ALLOC_ZERO(largest, r);
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < r; k++)
            if (fabs(components[j * r + k]) > fabs(largest[k]))
                largest[k] = components[j * r + k];
    for (int64_t k = 0; k < r; k++)
        largest[k] = k >= rank ? 0 : largest[k] < 0 ? -1 : 1;
    scale_columns(d, r, largest, components);
done:
    huddle_free(largest);
    return status;
}

/* Eigenvalues of C'C below its rounding error count as 0: the error of a sum of n products, or of
 * d, relative to the largest. Centring costs one rank: at most n - 1. The factor 16 is a margin for
 * the rounding errors of the decomposition. */
static int64_t count_rank(int64_t n, int64_t d, int64_t r, const double *values) {
    double smallest = 16 * (double)(n > d ? n : d) * DBL_EPSILON * values[0];
    int64_t rank = 0;
    while (rank < r && rank < n - 1 && values[rank] > smallest)
        rank++;
    return rank;
}

/* The dense decomposition also serves where a large share of the components is wanted: the basis of
 * the iteration would be as large as the matrix. */
huddle_status hd_prepare_pca(huddle_context *context, hd_prepare_centred *c, int64_t r, bool rough,
                             uint64_t seed, double *components, double *variances, int64_t *rank) {
    huddle_status status = HUDDLE_OK;
    int64_t n = c->x->n, d = c->x->d;
    double *vectors = NULL, *gram = NULL, *values = variances;
    int64_t limit = c->x->offsets == NULL ? DENSE_LIMIT : SPARSE_LIMIT;
    bool distributed = hd_context_engine(context)->slabs != NULL;
    hd_blas_enter();
    TRY(hd_blas_reserve(context));
    TRY(hd_reduce_count(context, &n));
    bool by_columns = d <= n || distributed;
    int64_t m = by_columns ? d : n;
    ALLOC(vectors, m * r);
    TRY(hd_prepare_centred_transpose(c));
    if (m <= limit || 4 * r >= m) {
        ALLOC(gram, m * m);
        TRY(hd_prepare_centred_gram(context, c, by_columns, gram));
        TRY(hd_prepare_eigen_dense(m, gram, r, values, vectors));
        huddle_free(gram);
        gram = NULL;
    } else {
        TRY(find_by_iteration(context, c, by_columns, r, rough, seed, values, vectors));
    }
    /* values and variances share their memory: the rank needs eigenvalues, before they are divided
     * by n. */
    *rank = count_rank(n, d, r, values);
    if (by_columns)
        memcpy(components, vectors, (size_t)(d * r) * sizeof *components);
    else
        TRY(map_to_components(context, c, r, *rank, vectors, components));
    TRY(fix_signs(d, r, *rank, components));
    for (int64_t k = 0; k < r; k++)
        variances[k] = fmax(values[k], 0) / (double)n;
done:
    hd_blas_leave();
    FREE(vectors, gram);
    return status;
}
