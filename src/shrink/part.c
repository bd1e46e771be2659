#include "shrink/part.h"

#include "base/blas.h"
#include "base/check.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Rotating pays only if it leaves at most this share of the columns. */
static const double worthwhile_share = .75;

/* LAPACK's eigenvectors are orthonormal to within a small multiple of the rounding unit times their
 * number; this covers it for the columns that are rotated at all (split.c). */
static const double orthonormal_margin = 1e-11;

/* ---- sums and directions ------------------------------------------------------------------- */

static double weight_of(const hd_shrink_part *p, int64_t i) {
    return hd_shrink_row_weight(p->whole->weights, p->rows[i]);
}

static const double *row_of(const hd_shrink_part *p, int64_t i) {
    return p->whole->f->values + p->rows[i] * p->whole->f->stride;
}

/* The mean of the rows and, from it, the objective of the collapse. In two passes: rows that are
 * nearly equal differ from their mean in the last digits, which sums of squares less the square of
 * the mean would lose. */
static void add_rows(hd_shrink_part *p, double *centred) {
    int64_t c = p->whole->f->cols;
    double error = 0, farthest = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double *row = row_of(p, i);
        double weight = weight_of(p, i);
        p->mass += weight;
        for (int64_t k = 0; k < c; k++)
            p->mean[k] += weight * row[k];
    }
    for (int64_t k = 0; k < c; k++)
        p->mean[k] /= p->mass;
    for (int64_t i = 0; i < p->n; i++) {
        const double *row = row_of(p, i);
        for (int64_t k = 0; k < c; k++)
            centred[k] = row[k] - p->mean[k];
        double length = hd_shrink_norm(centred, c), weight = weight_of(p, i);
        p->collapsed += weight * (p->whole->squared ? length * length : length);
        farthest = fmax(farthest, length);
        /* A row in the directions kept is a sum of c products of rounded differences. */
        error += weight * (double)(c + 8) * DBL_EPSILON *
                 (hd_shrink_norm(row, c) + hd_shrink_norm(p->mean, c) + length);
    }
    /* Moving each f_i by e_i changes the optimum by at most sum m_i |e_i|; squared distances, none
     * of which exceeds twice `farthest`, by at most that times their sum and e_i itself. */
    p->lost = p->whole->squared ? error * 5 * farthest : error;
}

/* Rows that are centred, and whose outer products are added, at a time. */
enum { PANEL = 256 };

/* gram = sum_i m_i x_i x_i' over the centred rows x_i, lower triangle. Rows are multiplied by the
 * roots of their weights, so that the product of a panel with itself has the weights in it; centred
 * rows are kept for one panel only. */
static void add_gram(const hd_shrink_part *p, double *panel, double *gram) {
    int64_t c = p->whole->f->cols;
    memset(gram, 0, (size_t)(c * c) * sizeof *gram);
    for (int64_t first = 0; first < p->n; first += PANEL) {
        int64_t count = p->n - first < PANEL ? p->n - first : PANEL;
        for (int64_t i = 0; i < count; i++) {
            const double *row = row_of(p, first + i);
            double root = sqrt(weight_of(p, first + i));
            for (int64_t k = 0; k < c; k++)
                panel[i * c + k] = root * (row[k] - p->mean[k]);
        }
        hd_blas_enter();
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)c, (int)count, 1, panel, (int)c, 1,
                    gram, (int)c);
        hd_blas_leave();
    }
}

/* The principal directions, the one of the largest sum of squares first. The Gram matrix has the
 * squares of the singular values, and directions below about 1e-8 of the largest are not resolved
 * in it. That does no harm: with any orthonormal columns the bound is valid, and what is left out
 * is measured with the columns that were found. */
static huddle_status find_directions(hd_shrink_part *p) {
    huddle_status status = HUDDLE_OK;
    int64_t c = p->whole->f->cols;
    double *panel = NULL, *gram = NULL, *value = NULL;
    ALLOC(panel, PANEL * c);
    ALLOC(gram, c * c);
    ALLOC(value, c);
    ALLOC(p->direction, c * c);
    add_gram(p, panel, gram);
    hd_blas_enter();
    lapack_int failed =
        LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', (lapack_int)c, gram, (lapack_int)c, value);
    hd_blas_leave();
    if (failed != 0)
        FAIL(HUDDLE_NUMERIC, "LAPACK's dsyev failed on the rows of a component");
    /* Eigenvalues ascend. */
    for (int64_t r = 0; r < c; r++)
        for (int64_t k = 0; k < c; k++)
            p->direction[k * c + r] = gram[k * c + (c - 1 - r)];
done:
    FREE(panel, gram, value);
    return status;
}

huddle_status hd_shrink_part_open(hd_shrink_part *p, bool rotate) {
    huddle_status status = HUDDLE_OK;
    int64_t c = p->whole->f->cols;
    double *centred = NULL;
    p->kept = c;
    ALLOC_ZERO(p->mean, c);
    ALLOC(centred, c);
    add_rows(p, centred);
    if (rotate)
        TRY(find_directions(p));
done:
    huddle_free(centred);
    return status;
}

void hd_shrink_part_close(hd_shrink_part *p) {
    FREE(p->mean, p->direction);
    p->mean = p->direction = NULL;
}

/* to[r] = the coordinate of a row of the caller's along direction r, from the mean, r < count. */
static void turn_row(const hd_shrink_part *p, const double *row, int64_t count,
                     double *restrict to) {
    int64_t c = p->whole->f->cols;
    memset(to, 0, (size_t)count * sizeof *to);
    for (int64_t k = 0; k < c; k++) {
        const double *direction = p->direction + k * c;
        double x = row[k] - p->mean[k];
        for (int64_t r = 0; r < count; r++)
            to[r] += x * direction[r];
    }
}

/* ---- how many directions ------------------------------------------------------------------- */

/* cost[r] += what leaving out all but the first r directions adds to the term of a row. All rows
 * share one point in the directions left out, so no edge has a length there, and only the distance
 * of the row from its f grows: from `moved`, in the directions kept, by the length outside of
 * them. The row's term grows from sqrt(moved) to sqrt(moved + outside), little if it has moved
 * far. */
static void add_costs(const hd_shrink_part *p, double weight, const double *along,
                      const double *moved, double *cost) {
    int64_t c = p->whole->f->cols;
    double outside = 0;
    for (int64_t r = c; r-- > 0;) {
        outside += along[r] * along[r];
        cost[r] +=
            weight * (p->whole->squared ? outside : sqrt(moved[r] + outside) - sqrt(moved[r]));
    }
}

/* Squared distances of a row from its f in the first r directions, for each r: measured in the
 * directions of `rows`; if these are NULL, those of a row that moves to the mean. */
static void set_moved(const hd_shrink_part *p, const double *along, const double *row,
                      double *moved) {
    int64_t c = p->whole->f->cols;
    double sum = 0;
    for (int64_t r = 0; row != NULL && r < p->kept; r++)
        sum += (along[r] - row[r]) * (along[r] - row[r]);
    for (int64_t r = 0; r < c; r++) {
        moved[r] = sum;
        sum += row == NULL ? along[r] * along[r] : 0;
    }
}

huddle_status hd_shrink_part_costs(const hd_shrink_part *p, const huddle_dense *rows,
                                   double *cost) {
    huddle_status status = HUDDLE_OK;
    int64_t c = p->whole->f->cols;
    double *along = NULL, *moved = NULL;
    memset(cost, 0, ((size_t)c + 1) * sizeof *cost);
    if (p->direction == NULL)
        goto done;
    ALLOC(along, c);
    ALLOC(moved, c);
    for (int64_t i = 0; i < p->n; i++) {
        turn_row(p, row_of(p, i), c, along);
        set_moved(p, along, rows != NULL ? rows->values + i * rows->stride : NULL, moved);
        add_costs(p, weight_of(p, i), along, moved, cost);
    }
done:
    FREE(along, moved);
    return status;
}

/* Costs fall as r grows, since less is outside and the rows may have moved farther inside: the
 * first r from above at which the cost is too large ends the search. */
void hd_shrink_part_reduce(hd_shrink_part *p, const double *cost, double allowed) {
    int64_t c = p->whole->f->cols;
    p->kept = c;
    if (p->direction == NULL)
        return;
    while (p->kept > 1 && cost[p->kept - 1] <= allowed)
        p->kept--;
    /* Rows of whole vectors: the directions added take no time. */
    p->kept = (p->kept + 3) / 4 * 4;
    if ((double)p->kept > worthwhile_share * (double)c)
        p->kept = c;
}

/* With exactly orthonormal directions the bound in them is one of the component. Those of LAPACK
 * may lengthen the rows, and with them the bound, by the margin; and rounding moves the rows, which
 * `lost` accounts for. No bound is below 0, that of Z = 0. */
double hd_shrink_part_bound(const hd_shrink_part *p, double dual) {
    if (p->kept == p->whole->f->cols)
        return dual;
    return fmax(0, dual * (1 - orthonormal_margin) - p->lost);
}

/* ---- to the component and back ------------------------------------------------------------- */

huddle_status hd_shrink_part_rows(const hd_shrink_part *p, const huddle_dense *from,
                                  huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    int64_t c = from->cols;
    TRY(huddle_dense_new(p->n, p->kept, rows));
    for (int64_t i = 0; i < p->n; i++) {
        const double *row = from->values + p->rows[i] * from->stride;
        double *restrict to = rows->values + i * p->kept;
        if (p->kept == c)
            memcpy(to, row, (size_t)c * sizeof *to);
        else
            turn_row(p, row, p->kept, to);
    }
done:
    return status;
}

huddle_status hd_shrink_part_graph(const hd_shrink_part *p, huddle_csr *w, double **weights) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *from = p->whole->w;
    int64_t count = 0;
    *weights = NULL;
    for (int64_t i = 0; i < p->n; i++)
        count += from->offsets[p->rows[i] + 1] - from->offsets[p->rows[i]];
    TRY(huddle_csr_new(p->n, p->n, count, w));
    if (p->whole->weights != NULL)
        ALLOC(*weights, p->n);
    count = 0;
    w->offsets[0] = 0;
    /* An edge of weight 0 may lead to another component; it has no effect, and is left out. */
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t at = from->offsets[p->rows[i]]; at < from->offsets[p->rows[i] + 1]; at++)
            if (from->values[at] > 0) {
                w->columns[count] = p->local[from->columns[at]];
                w->values[count++] = from->values[at];
            }
        w->offsets[i + 1] = count;
        if (*weights != NULL)
            (*weights)[i] = weight_of(p, i);
    }
done:
    return status;
}

void hd_shrink_part_return(const hd_shrink_part *p, const huddle_dense *rows, huddle_dense *g) {
    int64_t c = g->cols;
    for (int64_t i = 0; i < p->n; i++) {
        double *restrict to = g->values + p->rows[i] * g->stride;
        if (rows != NULL && p->kept == c) {
            memcpy(to, rows->values + i * rows->stride, (size_t)c * sizeof *to);
            continue;
        }
        memcpy(to, p->mean, (size_t)c * sizeof *to);
        for (int64_t k = 0; k < c && rows != NULL; k++)
            for (int64_t r = 0; r < p->kept; r++)
                to[k] += p->direction[k * c + r] * rows->values[i * rows->stride + r];
    }
}
