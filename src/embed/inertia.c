/* shift I - op = L D L' has as many negative pivots as op has eigenvalues above the shift
 * (Sylvester's law of inertia). There is no pivoting, so growth of the factors must be bounded
 * afterwards: they are the exact factors of a matrix that differs by at most k eps |L||D||L'| entry
 * by entry, k the longest row of L (Higham, Accuracy and Stability of Numerical Algorithms, chapter
 * 11), and no eigenvalue moves by more than the norm of that (Weyl). The factorisation is row by
 * row, along the elimination tree (Davis, Algorithm 849, ACM TOMS 31, 2005). */
#include "base/check.h"
#include "base/context.h"
#include "embed/verify.h"

#include <amd.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* The factorisation, rows and columns in elimination order. */
typedef struct factor {
    int64_t n;
    int64_t *order, *place; /* from elimination order to the operator's, and back */
    int64_t *parent;        /* elimination tree */
    int64_t *count;         /* entries of each column of L below the diagonal, so far */
    int64_t *offsets;       /* n + 1: where the columns of L begin */
    int32_t *rows;
    double *values;
    double *pivots;
    /* Scratch of the elimination. */
    int64_t *mark, *pattern;
    double *sum;
    int64_t longest; /* row of L */
} factor;

static huddle_status new_factor(int64_t n, factor *f) {
    huddle_status status = HUDDLE_OK;
    f->n = n;
    ALLOC(f->order, n);
    ALLOC(f->place, n);
    ALLOC(f->parent, n);
    ALLOC_ZERO(f->count, n);
    ALLOC_ZERO(f->offsets, n + 1);
    ALLOC(f->mark, n);
    ALLOC(f->pattern, n);
    ALLOC_ZERO(f->sum, n);
    ALLOC(f->pivots, n);
done:
    return status;
}

/* An order with little fill, by approximate minimum degree. Without pivoting, the order may be
 * chosen for sparsity alone. */
static huddle_status find_order(const hd_embed_operator *op, factor *f) {
    huddle_status status = HUDDLE_OK;
    SuiteSparse_long *columns = NULL;
    int64_t entries = op->offsets[op->n];
    ALLOC(columns, entries);
    for (int64_t e = 0; e < entries; e++)
        columns[e] = op->columns[e];
    SuiteSparse_long answer =
        amd_l_order((SuiteSparse_long)op->n, (const SuiteSparse_long *)op->offsets, columns,
                    (SuiteSparse_long *)f->order, NULL, NULL);
    if (answer == AMD_OUT_OF_MEMORY)
        FAIL(HUDDLE_NO_MEMORY, "no memory to order %lld vertices", (long long)op->n);
    if (answer < 0)
        FAIL(HUDDLE_INTERNAL, "the ordering of %lld vertices failed (amd: %ld)", (long long)op->n,
             (long)answer);
    for (int64_t k = 0; k < op->n; k++)
        f->place[f->order[k]] = k;
done:
    huddle_free(columns);
    return status;
}

/* Elimination tree and column counts, row by row (Liu, SIAM J. Matrix Analysis and Applications 11,
 * 1990): row k of L has its entries on the paths in the tree from the entries of row k of the
 * matrix up to k. mark[] ends a path where an earlier one has passed, so that the work is
 * proportional to the entries of L. Returns the number of multiplications of the elimination, which
 * decides whether it is affordable before L is allocated. */
static double analyse_pattern(const hd_embed_operator *op, factor *f) {
    double work = 0;
    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->order[k], length = 0;
        f->parent[k] = -1;
        f->mark[k] = k;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            for (int64_t j = f->place[op->columns[e]]; j < k && f->mark[j] != k; j = f->parent[j]) {
                if (f->parent[j] < 0)
                    f->parent[j] = k;
                f->count[j]++;
                f->mark[j] = k;
                length++;
            }
        f->longest = length > f->longest ? length : f->longest;
    }
    for (int64_t j = 0; j < f->n; j++) {
        f->offsets[j + 1] = f->offsets[j] + f->count[j];
        work += (double)f->count[j] * (double)f->count[j];
    }
    return work;
}

/* Scatters row k of shift I - op into sum and lists where L's row k is not zero, in an order in
 * which it can be eliminated: pattern[first .. n - 1]. Each path is listed from its lower end and
 * put in front of those found before: a column then comes before all columns that depend on it. */
static int64_t begin_row(const hd_embed_operator *op, double shift, int64_t k, factor *f) {
    int64_t i = f->order[k], first = f->n;
    f->mark[k] = k;
    f->sum[k] = shift;
    for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++) {
        int64_t j = f->place[op->columns[e]], length = 0;
        if (j > k)
            continue;
        f->sum[j] -= op->values[e];
        for (; f->mark[j] != k; j = f->parent[j]) {
            f->pattern[length++] = j;
            f->mark[j] = k;
        }
        while (length > 0)
            f->pattern[--first] = f->pattern[--length];
    }
    return first;
}

/* Row k of L by a sparse triangular solve with the rows before it; its inner product with D
 * completes the pivot. A pivot of 0 ends the elimination: the shift is an eigenvalue of a leading
 * block, and the count is unknown. */
static huddle_status eliminate_rows(huddle_context *context, const hd_embed_operator *op,
                                    double shift, factor *f) {
    memset(f->count, 0, (size_t)f->n * sizeof *f->count);
    memset(f->mark, -1, (size_t)f->n * sizeof *f->mark);
    for (int64_t k = 0; k < f->n; k++) {
        int64_t first = begin_row(op, shift, k, f);
        double pivot = f->sum[k];
        f->sum[k] = 0;
        for (int64_t at = first; at < f->n; at++) {
            int64_t j = f->pattern[at], end = f->offsets[j] + f->count[j];
            /* sum is (L D)_kj, entry is L_kj; column j of L updates the rest of row k. */
            double sum = f->sum[j], entry = sum / f->pivots[j];
            f->sum[j] = 0;
            for (int64_t e = f->offsets[j]; e < end; e++)
                f->sum[f->rows[e]] -= f->values[e] * sum;
            pivot -= entry * sum;
            f->rows[end] = (int32_t)k;
            f->values[end] = entry;
            f->count[j]++;
        }
        f->pivots[k] = pivot;
        if (pivot == 0)
            break;
        if (k % 256 == 0) {
            huddle_status status = hd_check_cancel(context);
            if (status != HUDDLE_OK)
                return status;
        }
    }
    return HUDDLE_OK;
}

/* The largest row sum of |L||D||L'|, which bounds the spectral norm of a symmetric matrix, times
 * the rounding of a sum as long as the longest row. Overwrites the pivots and `sum`, which are no
 * longer needed. */
static double rounding_bound(factor *f) {
    double norm = 0, *weight = f->sum;
    for (int64_t j = 0; j < f->n; j++) {
        double column = 1;
        for (int64_t e = f->offsets[j]; e < f->offsets[j + 1]; e++)
            column += fabs(f->values[e]);
        weight[j] = column * fabs(f->pivots[j]);
    }
    /* weight = |D||L'| 1; the row sums are |L| weight, where L has a unit diagonal that is not
     * stored. */
    for (int64_t j = 0; j < f->n; j++)
        f->pivots[j] = weight[j];
    for (int64_t j = 0; j < f->n; j++)
        for (int64_t e = f->offsets[j]; e < f->offsets[j + 1]; e++)
            f->pivots[f->rows[e]] += fabs(f->values[e]) * weight[j];
    for (int64_t j = 0; j < f->n; j++)
        norm = fmax(norm, f->pivots[j]);
    return (double)(f->longest + 3) * DBL_EPSILON * norm;
}

/* The count is valid for any shift within `error` of the given one, that is, for every eigenvalue
 * that is farther away than that. */
huddle_status hd_embed_count_above(huddle_context *context, const hd_embed_operator *op,
                                   double shift, double max_work, hd_embed_inertia *inertia) {
    huddle_status status = HUDDLE_OK;
    factor f = {0};
    *inertia = (hd_embed_inertia){0};
    TRY(new_factor(op->n, &f));
    TRY(find_order(op, &f));
    if (analyse_pattern(op, &f) > max_work)
        goto done;
    ALLOC(f.rows, f.offsets[f.n]);
    ALLOC(f.values, f.offsets[f.n]);
    TRY(eliminate_rows(context, op, shift, &f));
    inertia->affordable = true;
    bool singular = false;
    for (int64_t k = 0; k < f.n && !singular; k++) {
        inertia->above += f.pivots[k] < 0;
        singular = f.pivots[k] == 0;
    }
    inertia->error = singular ? INFINITY : rounding_bound(&f);
    if (isnan(inertia->error))
        inertia->error = INFINITY;
done:
    FREE(f.order, f.place, f.parent, f.count, f.offsets, f.rows, f.values, f.pivots, f.mark,
         f.pattern, f.sum);
    return status;
}
