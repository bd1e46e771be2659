/* Block Krylov subspaces from a random start (Halko, Martinsson, Tropp, SIAM Review 2011; Musco and
 * Musco, NIPS 2015), restarted with the best vectors when the basis is full. Unlike plain subspace
 * iteration, the basis keeps all powers of A times the start between two restarts, which converges
 * much faster where the eigenvalues decay slowly.
 *
 * V is an orthonormal basis, AV its image, H = V'AV. A round appends the image of the newest block
 * to V, orthonormalised, until there is no more room; then it solves the small problem H y = theta
 * y and begins again with the leading vectors V y and their residuals A V y - theta V y, which
 * continue the same Krylov space. */
#include "prepare/eigen.h"

#include "base/check.h"
#include "base/context.h"
#include "base/rng.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* What orthogonalisation leaves of a vector below this share is rounding; so is an eigenvalue of
 * the Gram matrix below this share of the largest. */
static const double rank_tolerance = 1e-12;

/* Vectors beyond those wanted (Halko et al. recommend 5 to 10), blocks in a full basis, and rounds
 * before the iteration ends without convergence. A rough solution has one round of more, narrower
 * blocks: a basis of the same size reaches a higher power of A, and finds most of the space, but
 * of equal eigenvalues only as many vectors as a block has. */
enum { EXTRA = 8, BLOCKS = 6, MAX_ROUNDS = 12, ROUGH_PARTS = 4, ROUGH_BLOCKS = 12, ROUGH_MIN = 8 };

/* A residual is small when it is below `tolerance` times its eigenvalue, or below the rounding
 * error of products with the largest eigenvalue. */
static const double tolerance = 1e-6;
static const double floor_of_largest = 1e-13;

typedef struct basis {
    const hd_prepare_operator *a;
    int64_t m, r;    /* size, wanted */
    int64_t kept, b; /* wanted and a little more, and the columns of a block: at most kept */
    bool rough;      /* one round */
    uint64_t seed;
    int64_t max, size;      /* columns allocated, and in use */
    double *v, *av;         /* m x max */
    double *h, *y, *theta;  /* max x max, max x max (vector k in row k), max */
    double *w, *spare;      /* m x kept, m x kept */
    double *small, *values; /* (max + kept) x kept, 2 kept */
} basis;

/* ---- orthonormal blocks --------------------------------------------------------------------- */

/* c (rows x cols) = alpha op(a) b + beta c, all row-major. */
static void multiply_matrices(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t cols, int64_t depth,
                              double alpha, const double *a, int64_t lda, const double *b,
                              int64_t ldb, double beta, double *c, int64_t ldc) {
    cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, (int)rows, (int)cols, (int)depth, alpha, a,
                (int)lda, b, (int)ldb, beta, c, (int)ldc);
}

static void copy_columns(int64_t rows, int64_t count, const double *from, int64_t ldf, double *to,
                         int64_t ldt) {
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * ldt, from + i * ldf, (size_t)count * sizeof *to);
}

/* Norms of the first columns of w, by rows: w is row-major. */
static void column_norms(const basis *s, int64_t count, double *norms) {
    memset(norms, 0, (size_t)count * sizeof *norms);
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t k = 0; k < count; k++)
            norms[k] += s->w[i * s->kept + k] * s->w[i * s->kept + k];
    for (int64_t k = 0; k < count; k++)
        norms[k] = sqrt(norms[k]);
}

/* Removes from w what lies in the basis and scales its columns to norm 1, so that small ones count
 * as much as large ones. A column becomes 0 if no more than `min_norm` or rounding error remains.
 * (1e-12 of the norm before is the rounding error of the projection.) */
static void project_out(const basis *s, int64_t count, double min_norm) {
    double *before = s->values, *after = s->values + count;
    column_norms(s, count, before);
    if (s->size > 0) {
        multiply_matrices(CblasTrans, s->size, count, s->m, 1, s->v, s->max, s->w, s->kept, 0,
                          s->small, count);
        multiply_matrices(CblasNoTrans, s->m, count, s->size, -1, s->v, s->max, s->small, count, 1,
                          s->w, s->kept);
    }
    column_norms(s, count, after);
    for (int64_t k = 0; k < count; k++)
        after[k] = after[k] > fmax(min_norm, rank_tolerance * before[k]) ? 1 / after[k] : 0;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t k = 0; k < count; k++)
            s->w[i * s->kept + k] *= after[k];
}

/* Makes the columns of w orthonormal, to each other and to the basis, by the eigenvectors of w'w,
 * dropping directions that are only rounding error. *kept columns remain. What is kept of w'w has a
 * condition of at most 1e12, which the second pass of append_block() can repair. */
static huddle_status orthonormalise(const basis *s, int64_t count, double min_norm, int64_t *kept) {
    double *gram = s->small, *values = s->values;
    int64_t m = s->m, dropped = 0;
    project_out(s, count, min_norm);
    multiply_matrices(CblasTrans, count, count, m, 1, s->w, s->kept, s->w, s->kept, 0, gram, count);
    if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)count, gram, (lapack_int)count,
                      values) != 0)
        return hd_fail(HUDDLE_NUMERIC, "LAPACK's dsyev failed on a block of the PCA");
    while (dropped < count && values[dropped] <= rank_tolerance * values[count - 1])
        dropped++;
    *kept = count - dropped;
    for (int64_t k = dropped; k < count; k++)
        cblas_dscal((int)count, 1 / sqrt(values[k]), gram + k * count, 1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)*kept, (int)count, 1, s->w,
                (int)s->kept, gram + dropped * count, (int)count, 0, s->spare, (int)s->kept);
    copy_columns(m, *kept, s->spare, s->kept, s->w, s->kept);
    return HUDDLE_OK;
}

/* Appends the first `count` columns of w to the basis, orthonormalised twice for full accuracy, and
 * their image. A basis that cannot grow has *grown = 0. The first pass leaves errors of the size of
 * the rounding times the condition of w; the second one works on a well-conditioned block. H grows
 * by the products with the new columns; its other half follows from symmetry, which makes it
 * symmetric to the last bit. */
static huddle_status append_block(huddle_context *context, basis *s, int64_t count, double min_norm,
                                  int64_t *grown) {
    huddle_status status = HUDDLE_OK;
    int64_t at = s->size;
    count = count < s->m - at ? count : s->m - at;
    *grown = 0;
    if (count > 0)
        TRY(orthonormalise(s, count, min_norm, &count));
    if (count > 0)
        TRY(orthonormalise(s, count, 0, &count));
    if (count == 0)
        goto done;
    copy_columns(s->m, count, s->w, s->kept, s->v + at, s->max);
    TRY(s->a->times(context, s->a->self, s->v + at, count, s->max, s->av + at, s->max));
    s->size += count;
    /* The new columns of H = V'AV. */
    multiply_matrices(CblasTrans, s->size, count, s->m, 1, s->v, s->max, s->av + at, s->max, 0,
                      s->h + at, s->max);
    for (int64_t i = 0; i < s->size; i++)
        for (int64_t k = at; k < s->size; k++)
            s->h[k * s->max + i] = s->h[i * s->max + k];
    *grown = count;
done:
    return status;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* H y = theta y, largest first: theta[k] with y in row k. H is small, so that all of its eigenpairs
 * are computed, and LAPACK's ascending order is reversed. */
static huddle_status solve_small(basis *s) {
    int64_t size = s->size;
    copy_columns(size, size, s->h, s->max, s->y, size);
    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)size, s->y, (lapack_int)size,
                       s->theta) != 0)
        return hd_fail(HUDDLE_NUMERIC, "LAPACK's dsyevd failed in the PCA");
    for (int64_t k = 0; k < size / 2; k++) {
        int64_t other = size - 1 - k;
        double swap = s->theta[k];
        s->theta[k] = s->theta[other];
        s->theta[other] = swap;
        cblas_dswap((int)size, s->y + k * size, 1, s->y + other * size, 1);
    }
    return HUDDLE_OK;
}

/* to (m x count, leading dimension ldt) = from * y for the leading vectors. */
static void combine_basis(const basis *s, const double *from, int64_t count, double *to,
                          int64_t ldt) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->m, (int)count, (int)s->size, 1,
                from, (int)s->max, s->y, (int)s->size, 0, to, (int)ldt);
}

/* w = A V y - V y theta for the leading `count`; true if the wanted ones are small. AV is stored,
 * so that no product with A is needed. */
static bool compute_residuals(basis *s, int64_t count) {
    bool small = true;
    combine_basis(s, s->av, count, s->w, s->kept);
    combine_basis(s, s->v, count, s->spare, s->kept);
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int64_t i = 0; i < s->m; i++) {
            double value = s->w[i * s->kept + k] -= s->theta[k] * s->spare[i * s->kept + k];
            sum += value * value;
        }
        if (k < s->r && sqrt(sum) > fmax(tolerance * s->theta[k], floor_of_largest * s->theta[0]))
            small = false;
    }
    return small;
}

/* The basis becomes its leading `count` vectors; w stays. With Ritz vectors as basis, H is the
 * diagonal matrix of the Ritz values, and the image of the basis is a combination of the old
 * one. */
static void restart_basis(basis *s, int64_t count) {
    double *pair[] = {s->v, s->av};
    for (int k = 0; k < 2; k++) {
        combine_basis(s, pair[k], count, s->spare, s->kept);
        copy_columns(s->m, count, s->spare, s->kept, pair[k], s->max);
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < count; k++)
            s->h[i * s->max + k] = i == k ? s->theta[k] : 0;
    s->size = count;
}

/* One random stream per row, so that the start does not depend on the order of the work. Every
 * process draws the same numbers, as the operator requires. */
static void draw_block(basis *s) {
    for (int64_t i = 0; i < s->m; i++) {
        hd_rng rng = hd_rng_stream(s->seed + (uint64_t)s->size, (uint64_t)i);
        for (int64_t k = 0; k < s->b; k++)
            s->w[i * s->kept + k] = hd_rng_normal(&rng);
    }
}

/* Appends blocks until the basis is full, or *closed: its image lies within it. An image within the
 * basis means that the space is invariant: its Ritz pairs are eigenpairs. A space of fewer vectors
 * than are kept, which narrow blocks may find, is continued at random. */
static huddle_status fill_basis(huddle_context *context, basis *s, int64_t grown, double min_norm,
                                bool *closed) {
    huddle_status status = HUDDLE_OK;
    while (grown > 0 && s->size + grown <= s->max && s->size < s->m) {
        TRY(hd_check_cancel(context));
        /* The image of the newest vectors is what makes the space a Krylov space. */
        copy_columns(s->m, grown, s->av + s->size - grown, s->max, s->w, s->kept);
        TRY(append_block(context, s, grown, min_norm, &grown));
        if (grown == 0 && s->size < s->kept) {
            draw_block(s);
            TRY(append_block(context, s, s->b, 0, &grown));
        }
    }
    *closed = grown == 0 || s->size == s->m;
done:
    return status;
}

/* Rounds until the wanted residuals are small, or the space is invariant: then they are exact.
 * `min_norm` is the size of a residual that is rounding error only; such a column must not be
 * normalised into the basis. Ritz vectors together with their residuals continue the Krylov space
 * (thick restart; Wu and Simon, SIAM J. Matrix Analysis and Applications 22, 2000). */
static huddle_status iterate_restarts(huddle_context *context, basis *s, bool *converged) {
    huddle_status status = HUDDLE_OK;
    int64_t grown;
    double min_norm = 0;
    *converged = false;
    TRY(append_block(context, s, s->b, 0, &grown));
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool closed;
        TRY(hd_progress(context, "prepare", round, MAX_ROUNDS));
        TRY(fill_basis(context, s, grown, min_norm, &closed));
        TRY(solve_small(s));
        if (s->rough) {
            *converged = true; /* as far as it was asked for */
            break;
        }
        int64_t count = s->b < s->size ? s->b : s->size;
        /* Computes the residuals in any case: the restart needs them in w. */
        *converged = compute_residuals(s, count) || closed;
        if (*converged || round + 1 == MAX_ROUNDS)
            break;
        min_norm = floor_of_largest * s->theta[0];
        restart_basis(s, count);
        TRY(append_block(context, s, count, min_norm, &grown));
    }
done:
    return status;
}

/* A little more than r, which speeds up the convergence of the last vectors. */
int64_t hd_prepare_eigen_block(int64_t m, int64_t r) {
    int64_t wished = r + (r / 10 > EXTRA ? r / 10 : EXTRA);
    return wished < m ? wished : m;
}

/* BLOCKS blocks bound the memory at 2 BLOCKS b columns. */
static void choose_sizes(basis *s) {
    int64_t blocks = BLOCKS;
    s->kept = s->b = hd_prepare_eigen_block(s->m, s->r);
    if (s->rough && s->kept > ROUGH_PARTS * ROUGH_MIN) {
        s->b = s->kept / ROUGH_PARTS;
        blocks = ROUGH_BLOCKS;
    }
    s->max = blocks * s->b < s->m ? blocks * s->b : s->m;
}

huddle_status hd_prepare_eigen_krylov(huddle_context *context, const hd_prepare_operator *a,
                                      int64_t r, bool rough, uint64_t seed, double *values,
                                      double *vectors, bool *converged) {
    huddle_status status = HUDDLE_OK;
    basis s = {.a = a, .m = a->m, .r = r, .rough = rough, .seed = seed};
    choose_sizes(&s);
    ALLOC(s.v, s.m * s.max);
    ALLOC(s.av, s.m * s.max);
    ALLOC(s.h, s.max * s.max);
    ALLOC(s.y, s.max * s.max);
    ALLOC(s.theta, s.max);
    ALLOC(s.w, s.m * s.kept);
    ALLOC(s.spare, s.m * s.kept);
    ALLOC(s.small, (s.max + s.kept) * s.kept);
    ALLOC(s.values, 2 * s.kept);
    draw_block(&s);
    TRY(iterate_restarts(context, &s, converged));
    memset(vectors, 0, (size_t)(s.m * r) * sizeof *vectors);
    combine_basis(&s, s.v, r < s.size ? r : s.size, vectors, r);
    for (int64_t k = 0; k < r; k++)
        values[k] = k < s.size ? s.theta[k] : 0;
done:
    FREE(s.v, s.av, s.h, s.y, s.theta, s.w, s.spare, s.small, s.values);
    return status;
}
