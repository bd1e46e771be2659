#include "shrink/certificate.h"

#include "base/check.h"
#include "huddle/shrink.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the best scale of a dual point -------------------------------------------------------- */

static int by_norm(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Maximises s inner - sum_i radius_i max(0, s norm_i - 1) over s in [0, 1], which is (10) with
 * norm_i = ||y_i|| / m_i and radius_i = m_i R_i.
 *
 * The function is concave and piecewise linear, with a breakpoint at s = 1 / norm_i for each row
 * that violates its constraint at s = 1 (norm_i > 1). Starting with the slope to the left of s = 1,
 * the breakpoints are visited from the largest s downwards; below its breakpoint a row costs
 * nothing, so its term leaves the slope and the constant. The first breakpoint at which the slope
 * to the left is not negative is a maximiser. If there is none, the slope at 0 is inner < 0 and s =
 * 0 is best, with the trivial bound 0. */
static double maximise_l21(double inner, int64_t n, const double *norm, const double *radius,
                           double *scratch, double *scale) {
    int64_t count = 0;
    double slope = inner, constant = 0;
    for (int64_t i = 0; i < n; i++)
        if (norm[i] > 1) {
            scratch[2 * count] = norm[i];
            scratch[2 * count + 1] = radius[i];
            count++;
            slope -= norm[i] * radius[i];
            constant += radius[i];
        }
    *scale = 1;
    if (slope >= 0)
        return slope + constant;
    qsort(scratch, (size_t)count, 2 * sizeof *scratch, by_norm);
    for (int64_t k = 0; k < count; k++) {
        *scale = 1 / scratch[2 * k];
        slope += scratch[2 * k] * scratch[2 * k + 1];
        constant -= scratch[2 * k + 1];
        if (slope >= 0)
            return *scale * slope + constant;
    }
    *scale = 0;
    return 0;
}

/* Sums and neighbours of a value t among the norms of all processes, for the bisection below. */
typedef struct breakpoints {
    double sums[2];    /* over norms > t: norm * radius, and radius */
    double below;      /* the largest norm <= t, or 0 */
    double next_above; /* the smallest norm > floor, or infinity */
} breakpoints;

static huddle_status scan_breakpoints(huddle_context *context, int64_t n, const double *norm,
                                      const double *radius, double floor, double t,
                                      breakpoints *out) {
    huddle_status status = HUDDLE_OK;
    /* Both extremes are found by one reduction: the minimum as the maximum of the negated
     * values. */
    double extremes[2] = {0, -INFINITY};
    out->sums[0] = out->sums[1] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (norm[i] > t) {
            out->sums[0] += norm[i] * radius[i];
            out->sums[1] += radius[i];
        } else {
            extremes[0] = fmax(extremes[0], norm[i]);
        }
        if (norm[i] > floor)
            extremes[1] = fmax(extremes[1], -norm[i]);
    }
    TRY(hd_reduce_sum(context, 2, out->sums));
    TRY(hd_reduce_max(context, 2, extremes));
    out->below = extremes[0];
    out->next_above = -extremes[1];
done:
    return status;
}

/* The same maximisation for rows that are distributed over processes, where sorting all norms would
 * need all of them in one place. It bisects for the smallest norm t > 1 at which the slope inner -
 * sum_{norm_i > t} norm_i radius_i is not negative; the slope grows with t, because terms only
 * leave the sum.
 *
 * Invariant: the slope at `low` is negative; `high` is one of the norms, and the slope there is not
 * negative. Each step replaces `high` by the largest norm at or below the midpoint, or `low` by the
 * midpoint. The loop ends when no norm lies strictly between them (next_above is `high`). All
 * processes see the same reduced numbers, so they take the same branches. */
static huddle_status maximise_l21_distributed(huddle_context *context, double inner, int64_t n,
                                              const double *norm, const double *radius,
                                              double *scale, double *bound) {
    huddle_status status = HUDDLE_OK;
    double low = 1, high = INFINITY;
    breakpoints at;
    TRY(scan_breakpoints(context, n, norm, radius, low, low, &at));
    *scale = 1;
    *bound = inner - at.sums[0] + at.sums[1];
    if (inner - at.sums[0] >= 0)
        goto done;
    *scale = *bound = 0;
    if (inner < 0)
        goto done;
    TRY(scan_breakpoints(context, n, norm, radius, low, DBL_MAX, &at));
    for (high = at.below; at.next_above < high;) {
        double middle = low + .5 * (high - low);
        TRY(scan_breakpoints(context, n, norm, radius, low, middle, &at));
        if (inner - at.sums[0] >= 0)
            high = at.below;
        else
            low = middle;
        TRY(scan_breakpoints(context, n, norm, radius, low, high, &at));
    }
    TRY(scan_breakpoints(context, n, norm, radius, low, high, &at));
    *scale = 1 / high;
    *bound = *scale * (inner - at.sums[0]) + at.sums[1];
done:
    return status;
}

huddle_status hd_shrink_dual_l21(huddle_context *context, double inner, int64_t n,
                                 const double *norm, const double *radius, double *scratch,
                                 double *scale, double *bound) {
    if (hd_context_engine(context)->slabs != NULL)
        return maximise_l21_distributed(context, inner, n, norm, radius, scale, bound);
    *bound = maximise_l21(inner, n, norm, radius, scratch, scale);
    return HUDDLE_OK;
}

/* The right-hand side of (8) for s Z is the parabola s inner - s^2 energy / 4, whose maximum at s =
 * 2 inner / energy is cut to [0, 1]. */
double hd_shrink_dual_l2(double inner, double energy, double *scale) {
    *scale = inner <= 0 ? 0 : 2 * inner >= energy ? 1 : 2 * inner / energy;
    return *scale * inner - *scale * *scale * energy / 4;
}

/* ---- radii, gap and checks ---------------------------------------------------------------- */

/* Covers the rounding of the distances below, which are sums of at most 2^20 squares. */
static const double radius_margin = 1e-12;

/* The triangle inequality through the mean: every point of the convex hull is at most `farthest`
 * away from the mean, since a ball is convex. Means and maxima are over all processes, because a
 * component may extend over several of them. */
huddle_status hd_shrink_radii(huddle_context *context, const huddle_dense *f,
                              const int32_t *component, int32_t n_components, double *radius) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, c = f->cols;
    double *mean = NULL, *farthest = NULL;
    ALLOC_ZERO(mean, n_components * c);
    ALLOC_ZERO(farthest, n_components);
    TRY(hd_shrink_find_means(context, f, NULL, component, NULL, n_components, n_components, mean));
    for (int64_t i = 0; i < n; i++) {
        const double *row = f->values + i * f->stride;
        radius[i] = sqrt(hd_shrink_distance2(row, mean + component[i] * c, c));
        farthest[component[i]] = fmax(farthest[component[i]], radius[i]);
    }
    TRY(hd_reduce_max(context, n_components, farthest));
    for (int64_t i = 0; i < n; i++)
        radius[i] = (radius[i] + farthest[component[i]]) * (1 + radius_margin);
done:
    FREE(farthest, mean);
    return status;
}

double hd_shrink_relative_gap(double objective, double dual) {
    /* Below the normal range the spacing of numbers is fixed, so a relative error bound does not
     * cover the rounding of the objective and of the bound: two units of that spacing do. */
    double rounding = objective < DBL_MIN / DBL_EPSILON ? 2 * DBL_TRUE_MIN : 0;
    return objective > 0 ? fmax(0, objective - dual + rounding) / objective : 0;
}

huddle_status hd_shrink_check_weights(const double *weights, int64_t n) {
    for (int64_t i = 0; i < n && weights != NULL; i++)
        if (!(weights[i] > 0) || isinf(weights[i]))
            return hd_fail(HUDDLE_INVALID, "row %lld: the weight %g is not a positive number",
                           (long long)i + 1, weights[i]);
    return HUDDLE_OK;
}

huddle_status hd_shrink_check_loss(const char *loss, double gamma, bool *squared) {
    *squared = strcmp(loss, "l2") == 0;
    if (!*squared && strcmp(loss, "l21") != 0)
        return hd_fail(HUDDLE_INVALID, "loss = %s: expected one of l21|l2", loss);
    if (!(gamma >= 0) || isinf(gamma))
        return hd_fail(HUDDLE_INVALID, "gamma = %g: expected number >= 0", gamma);
    return HUDDLE_OK;
}

huddle_status hd_shrink_check_shape(const huddle_dense *m, const char *name, int64_t rows,
                                    int64_t cols) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_fetch(m));
    TRY(hd_shrink_check_rows(m, name, rows));
    if (m->cols != cols)
        FAIL(HUDDLE_INVALID, "%s has %lld columns, f has %lld", name, (long long)m->cols,
             (long long)cols);
done:
    return status;
}

/* ---- the certificate ----------------------------------------------------------------------- */

/* Everything here is in long double, because the sums B'Z cancel: at a large gamma the z of a row
 * are much longer than their sum, whose error in double would exceed the gap.
 *
 * The bound remains valid under rounding, because each quantity that enters it is replaced by one
 * that is certainly on the safe side. Norms are rounded up by the relative error of a sum of c
 * squares (at most c + 4 operations) and by the error that the summation of y_i may have (collected
 * per vertex, below); the inner product is reduced by the error of its terms. Where long double is
 * no wider than double the bound is a little lower, but still valid.
 *
 * All loops run in the order of rows and edges on one thread, so that the reported numbers do not
 * depend on the number of threads. */
typedef long double wide;

static wide row_distance(const hd_shrink_rows *a, int64_t i, const hd_shrink_rows *b, int64_t j,
                         int64_t c) {
    const double *u = a->values + i * a->stride, *v = b->values + j * b->stride;
    wide sum = 0;
    for (int64_t k = 0; k < c; k++) {
        wide d = (wide)u[k] - v[k];
        sum += d * d;
    }
    return sqrtl(sum);
}

/* P(G) of (6), on every edge of W: the edges that the solvers ignore are included, so that the
 * certificate refers to the problem as it was given. */
static huddle_status evaluate_objective(const hd_shrink_input *in, const hd_shrink_rows *f,
                                        const hd_shrink_rows *g, double *objective) {
    const hd_shrink_edges *edges = in->edges;
    int64_t c = in->f->cols;
    wide loss = 0, pull = 0;
    for (int64_t i = 0; i < in->f->rows; i++) {
        wide d = row_distance(g, i, f, i, c);
        loss += hd_shrink_row_weight(in->weights, i) * (in->squared ? d * d : d);
    }
    for (int64_t e = 0; e < edges->count; e++)
        pull += hd_shrink_edge_share(edges, e) * edges->weight[e] *
                row_distance(g, edges->i[e], g, edges->j[e], c);
    *objective = (double)(loss + in->gamma * pull);
    return hd_reduce_sum(in->context, 1, objective);
}

/* A compensated sum (Neumaier 1974): the sum, the accumulated rounding errors of its additions, and
 * the sum of the absolute values of the terms. The error of sum + lost is a few units of the last
 * place of the sum of absolute values, independent of the number of terms, apart from a
 * second-order term. */
typedef struct compensated {
    wide sum, lost, size;
} compensated;

static void add_compensated(compensated *total, wide value, wide size) {
    /* What an addition loses can be computed exactly if the operand of larger magnitude comes first
     * (Dekker). */
    wide sum = total->sum + value, big = total->sum, small = value;
    if (fabsl(big) < fabsl(small)) {
        big = value;
        small = total->sum;
    }
    total->lost += (big - sum) + small;
    total->sum = sum;
    total->size += size;
}

/* Per vertex: the sum of the lengths of its z_e, which bounds every partial sum of y_i, and the
 * error bound that follows from it. */
typedef struct collected {
    wide length, error;
} collected;

static void add_length(collected *at, wide length) {
    /* An addition to y_i is off by at most half a unit of the partial sum; 4 * length covers the
     * rounding of z_e itself (its clipping: a division, a product) and of these bounds. */
    at->length += length;
    at->error += LDBL_EPSILON * (at->length + 4 * length);
}

/* Work arrays of the bound. The bound is a sum over pieces, each with a scale s of its own. A piece
 * is a component of W (the problem separates over components), or all rows if they are distributed
 * over processes: one scale for all gives a weaker, but still valid bound. */
typedef struct bounding {
    const hd_shrink_input *in;
    bool distributed;
    double processes;                 /* how many there are */
    double n_rows;                    /* of all of them */
    int32_t *component, n_components; /* of the rows */
    int32_t n_pieces;
    int64_t *first;     /* n_pieces + 1 */
    compensated *inner; /* n_pieces: <Z, BF> */
    wide *y;            /* (n + ghosts) x c: B'Z */
    collected *vertex;  /* n + ghosts */
    double *radius;     /* n, by row */
    wide *norms;        /* n, piece by piece */
    double *radii;      /* n, piece by piece */
    double *rounded;    /* n */
    double *scratch;    /* 2 n */
} bounding;

static huddle_status bounding_open(const hd_shrink_input *in, bounding *b) {
    huddle_status status = HUDDLE_OK;
    int64_t n = in->f->rows, rows = n + in->edges->halo.ghosts;
    *b = (bounding){.in = in,
                    .distributed = in->edges->halo.slabs != NULL,
                    .processes = 1,
                    .n_rows = (double)n};
    TRY(hd_reduce_sum(in->context, 1, &b->processes));
    TRY(hd_reduce_sum(in->context, 1, &b->n_rows));
    ALLOC(b->component, n);
    TRY(hd_shrink_components(in->context, in->edges, n, b->component, &b->n_components));
    b->n_pieces = b->distributed ? 1 : b->n_components;
    ALLOC_ZERO(b->inner, b->n_pieces);
    ALLOC_ZERO(b->first, b->n_pieces + 1);
    ALLOC_ZERO(b->y, rows * in->f->cols);
    ALLOC_ZERO(b->vertex, rows);
    ALLOC(b->radius, n);
    ALLOC(b->norms, n);
    ALLOC(b->radii, n);
    ALLOC(b->rounded, n);
    ALLOC(b->scratch, 2 * n);
    TRY(hd_shrink_radii(in->context, in->f, b->component, b->n_components, b->radius));
done:
    return status;
}

static int32_t piece_of(const bounding *b, int64_t row) {
    return b->distributed ? 0 : b->component[row];
}

/* inner += <Z, BF> and y += B'Z, with Z clipped to its balls: then Z satisfies the first
 * constraints of (7) exactly, whatever the caller passed. */
static void apply_dual(bounding *b, const hd_shrink_rows *f, const huddle_dense *z) {
    const hd_shrink_edges *edges = b->in->edges;
    int64_t c = b->in->f->cols;
    for (int64_t e = 0; e < edges->count; e++) {
        const double *row = z->values + e * z->stride;
        wide lambda = (wide)b->in->gamma * edges->weight[e], norm = 0, product = 0, size = 0;
        int64_t i = edges->i[e], j = edges->j[e];
        const double *fi = f->values + i * f->stride, *fj = f->values + j * f->stride;
        wide *yi = b->y + i * c, *yj = b->y + j * c, share = hd_shrink_edge_share(edges, e);
        for (int64_t k = 0; k < c; k++)
            norm += (wide)row[k] * row[k];
        /* Rounded up, so that the clipped z_e is inside its ball in exact arithmetic. */
        norm = sqrtl(norm) * (1 + (wide)(c + 4) * LDBL_EPSILON);
        wide clip = norm > lambda ? lambda / norm : 1;
        for (int64_t k = 0; k < c; k++) {
            wide v = clip * row[k];
            wide x = (wide)fi[k] - fj[k];
            product += v * x;
            size += fabsl(v * x);
            yi[k] += v;
            yj[k] -= v;
        }
        /* Both processes of an edge between them add half of its product. y needs no such factor,
         * since each process uses y of its own rows only, and holds all of their edges. */
        add_compensated(&b->inner[piece_of(b, i)], share * product, share * size);
        add_length(&b->vertex[i], clip * norm);
        add_length(&b->vertex[j], clip * norm);
    }
}

/* An upper bound of ||y_i||. */
static wide bound_norm(const wide *y, int64_t c, const collected *vertex) {
    wide sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += y[k] * y[k];
    return sqrtl(sum) * (1 + (wide)(c + 4) * LDBL_EPSILON) + vertex->error;
}

/* Groups norms and radii by piece, with a counting sort. Afterwards first[q] is the end of piece q,
 * because the second pass uses it as a cursor. */
static void sort_rows(bounding *b) {
    const hd_shrink_input *in = b->in;
    int64_t n = in->f->rows, c = in->f->cols;
    for (int64_t i = 0; i < n; i++)
        b->first[piece_of(b, i) + 1]++;
    for (int32_t q = 0; q < b->n_pieces; q++)
        b->first[q + 1] += b->first[q];
    for (int64_t i = 0; i < n; i++) {
        int64_t place = b->first[piece_of(b, i)]++;
        /* For the bounds, a row of weight m counts as m equal rows: norm_i is ||y_i|| / m_i in
         * (10), and ||y_i|| / sqrt(m_i) in (8), where the norms are squared. The last factors cover
         * rounding. */
        double weight = hd_shrink_row_weight(in->weights, i);
        wide resistance = in->squared ? sqrtl(weight) : (wide)weight;
        b->norms[place] =
            bound_norm(b->y + i * c, c, &b->vertex[i]) / resistance * (1 + 4 * LDBL_EPSILON);
        b->radii[place] = weight * b->radius[i] * (1 + 2 * DBL_EPSILON);
    }
}

/* Sums a number that is not negative over the processes, rounded up. The reduction is in double,
 * and loses at most DBL_EPSILON of the sum per process. */
static huddle_status sum_over_processes(const bounding *b, wide *value) {
    huddle_status status = HUDDLE_OK;
    double sum = (double)*value;
    if (!b->distributed)
        goto done;
    TRY(hd_reduce_sum(b->in->context, 1, &sum));
    *value = (wide)sum * (1 + (b->processes + 2) * DBL_EPSILON);
done:
    return status;
}

/* A lower bound of <Z, BF> of the piece: the compensated sum minus its error, that of the products
 * (c terms each) and of the summation. Across processes the sum is in double, which can lose
 * DBL_EPSILON of the size of the terms per process. */
static huddle_status bound_inner(const bounding *b, int32_t piece, wide *inner) {
    huddle_status status = HUDDLE_OK;
    const compensated *sum = &b->inner[piece];
    double sums[2] = {(double)(sum->sum + sum->lost), (double)sum->size};
    wide lost = (wide)(b->in->f->cols + 8) * LDBL_EPSILON * sum->size;
    *inner = sum->sum + sum->lost - lost;
    if (!b->distributed)
        goto done;
    TRY(hd_reduce_sum(b->in->context, 2, sums));
    lost = ((wide)(b->in->f->cols + 8) * LDBL_EPSILON + (b->processes + 3) * DBL_EPSILON) * sums[1];
    *inner = sums[0] - lost;
done:
    return status;
}

/* The best bound of a piece. The scale is found in double, since any scale in [0, 1] gives a valid
 * bound; only the value at this scale is computed in extended precision. A bound below 0 is
 * replaced by 0, because P is never negative. */
static huddle_status bound_piece(const bounding *b, int32_t piece, wide *bound) {
    huddle_status status = HUDDLE_OK;
    int64_t begin = piece == 0 ? 0 : b->first[piece - 1], n = b->first[piece] - begin;
    const wide *norm = b->norms + begin;
    const double *radius = b->radii + begin;
    wide energy = 0, loss = 0, inner;
    double scale, unused;
    TRY(bound_inner(b, piece, &inner));
    for (int64_t i = 0; i < n; i++) {
        energy += norm[i] * norm[i];
        b->rounded[i] = (double)norm[i];
    }
    if (b->in->squared) {
        TRY(sum_over_processes(b, &energy));
        hd_shrink_dual_l2((double)inner, (double)energy, &scale);
        loss = (wide)scale * scale * energy / 4;
    } else {
        TRY(hd_shrink_dual_l21(b->in->context, (double)inner, n, b->rounded, radius, b->scratch,
                               &scale, &unused));
        for (int64_t i = 0; i < n; i++)
            loss += radius[i] * fmaxl(0, scale * norm[i] - 1);
        TRY(sum_over_processes(b, &loss));
    }
    /* The rounding of the sum over rows: one unit per term. Across processes the total number of
     * rows is used, so that all of them compute the same bound. */
    wide terms = b->distributed ? (wide)b->n_rows : (wide)n;
    *bound = fmaxl(0, scale * inner - loss * (1 + terms * LDBL_EPSILON));
done:
    return status;
}

/* D(Z): the sum of the bounds of the pieces. */
static huddle_status evaluate_dual(const hd_shrink_input *in, const hd_shrink_rows *f,
                                   const huddle_dense *z, double *dual) {
    huddle_status status = HUDDLE_OK;
    bounding b = {0};
    wide total = 0;
    TRY(bounding_open(in, &b));
    apply_dual(&b, f, z);
    sort_rows(&b);
    for (int32_t q = 0; q < b.n_pieces; q++) {
        wide bound;
        TRY(bound_piece(&b, q, &bound));
        total += bound;
    }
    *dual = (double)total;
done:
    FREE(b.component, b.first, b.inner, b.y, b.vertex, b.radius, b.norms, b.radii, b.rounded,
         b.scratch);
    return status;
}

huddle_status hd_shrink_certify(const hd_shrink_input *in, const huddle_dense *g,
                                const huddle_dense *z, double *objective, double *dual) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_rows f_rows = {0}, g_rows = {0};
    TRY(hd_shrink_rows_open(&in->edges->halo, in->f, &f_rows));
    TRY(hd_shrink_rows_open(&in->edges->halo, g, &g_rows));
    TRY(evaluate_objective(in, &f_rows, &g_rows, objective));
    if (z != NULL)
        TRY(evaluate_dual(in, &f_rows, z, dual));
done:
    hd_shrink_rows_close(&f_rows);
    hd_shrink_rows_close(&g_rows);
    return status;
}

/* The public entry point: anyone can check a G and Z, of whatever origin, without a solver. Only
 * validation happens here. */
huddle_status huddle_shrink_certificate(huddle_context *context, const huddle_dense *f,
                                        const huddle_csr *w, const double *weights, double gamma,
                                        const char *loss, const huddle_dense *g,
                                        const huddle_dense *z, double *objective, double *dual) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_edges edges = {0};
    hd_shrink_input input = {context, f, w, &edges, weights, gamma, false};
    TRY(hd_shrink_check_loss(loss, gamma, &input.squared));
    TRY(huddle_csr_fetch(w));
    TRY(hd_shrink_edges_read(context, w, &edges));
    TRY(hd_shrink_check_shape(f, "f", w->rows, f->cols));
    TRY(hd_shrink_check_weights(weights, w->rows));
    TRY(hd_shrink_check_shape(g, "g", w->rows, f->cols));
    if (dual == NULL)
        z = NULL;
    if (z != NULL)
        TRY(hd_shrink_check_shape(z, "z", edges.count, f->cols));
    TRY(hd_shrink_certify(&input, g, z, objective, dual));
done:
    hd_shrink_edges_free(&edges);
    return hd_agree(context, status);
}
