#include "shrink/certificate.h"

#include "base/check.h"
#include "huddle/shrink.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the bound of one piece ---------------------------------------------------------------- */

/* A row that breaks its constraint: {||y_i||, R_i}. */
static int by_norm(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hd_dual_l21(double inner, int64_t n, const double *norm, const double *radius,
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
    /* Below s = 1 / ||y_i|| row i costs nothing: walk down the breakpoints until the slope, taken
     * from the left, is no longer negative. */
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

double hd_dual_l2(double inner, double energy, double *scale) {
    *scale = inner <= 0 ? 0 : 2 * inner >= energy ? 1 : 2 * inner / energy;
    return *scale * inner - *scale * *scale * energy / 4;
}

huddle_status hd_radii(int64_t n, int64_t c, const double *f, int64_t stride,
                       const int32_t *component, int32_t n_components, double *radius) {
    huddle_status status = HUDDLE_OK;
    double *mean = NULL, *farthest = NULL;
    int64_t *size = NULL;
    ALLOC_ZERO(mean, n_components * c);
    ALLOC_ZERO(farthest, n_components);
    ALLOC_ZERO(size, n_components);
    for (int64_t i = 0; i < n; i++) {
        size[component[i]]++;
        for (int64_t k = 0; k < c; k++)
            mean[component[i] * c + k] += f[i * stride + k];
    }
    for (int64_t i = 0; i < n_components * c; i++)
        mean[i] /= (double)size[i / c];
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = 0; k < c; k++) {
            double d = f[i * stride + k] - mean[component[i] * c + k];
            sum += d * d;
        }
        radius[i] = sqrt(sum);
        farthest[component[i]] = fmax(farthest[component[i]], radius[i]);
    }
    for (int64_t i = 0; i < n; i++)
        radius[i] = (radius[i] + farthest[component[i]]) * (1 + 1e-12);
done:
    huddle_free(size);
    huddle_free(farthest);
    huddle_free(mean);
    return status;
}

double hd_relative_gap(double objective, double dual) {
    /* Below the normal range rounding is no longer small beside the number itself. */
    double rounding = objective < DBL_MIN / DBL_EPSILON ? 2 * DBL_TRUE_MIN : 0;
    return objective > 0 ? fmax(0, objective - dual + rounding) / objective : 0;
}

/* ---- the public certificate ---------------------------------------------------------------- */

/* Everything here is in long double, and the bound allows for its rounding: the sums B'Z cancel,
 * so that in double a strong pull would hide more than the gap. Where long double is no wider than
 * double the bound is a little lower, and still true. */
typedef long double wide;

static wide row_distance(const huddle_dense *a, int64_t i, const huddle_dense *b, int64_t j) {
    wide sum = 0;
    for (int64_t k = 0; k < a->cols; k++) {
        wide d = (wide)a->values[i * a->stride + k] - b->values[j * b->stride + k];
        sum += d * d;
    }
    return sqrtl(sum);
}

static double weight_of(const double *weights, int64_t i) {
    return weights != NULL ? weights[i] : 1;
}

huddle_status hd_check_weights(const double *weights, int64_t n) {
    for (int64_t i = 0; i < n && weights != NULL; i++)
        if (!(weights[i] > 0) || isinf(weights[i]))
            return hd_fail(HUDDLE_INVALID, "row %lld: the weight %g is not a positive number",
                           (long long)i + 1, weights[i]);
    return HUDDLE_OK;
}

static double primal(const huddle_dense *f, const hd_edges *edges, const double *weights,
                     double gamma, bool squared, const huddle_dense *g) {
    wide loss = 0, pull = 0;
    for (int64_t i = 0; i < f->rows; i++) {
        wide d = row_distance(g, i, f, i);
        loss += weight_of(weights, i) * (squared ? d * d : d);
    }
    for (int64_t e = 0; e < edges->count; e++)
        pull += edges->weight[e] * row_distance(g, edges->i[e], g, edges->j[e]);
    return (double)(loss + gamma * pull);
}

/* A sum, what the additions have lost of it, and the sum of what was added, without signs. */
typedef struct careful {
    wide sum, lost, size;
} careful;

static void add_to(careful *total, wide value, wide size) {
    wide sum = total->sum + value, big = total->sum, small = value;
    if (fabsl(big) < fabsl(small)) {
        big = value;
        small = total->sum;
    }
    total->lost += (big - sum) + small;
    total->sum = sum;
    total->size += size;
}

/* What a vertex collects: the lengths of its z, and how far rounding can have moved their sum. */
typedef struct collected {
    wide length, error;
} collected;

static void collect(collected *at, wide length) {
    at->length += length;
    at->error += LDBL_EPSILON * (at->length + 4 * length);
}

/* inner[C] += <Z, BF> and y += B'Z with Z clipped to its balls. */
static void apply_dual(const huddle_dense *f, const hd_edges *edges, double gamma,
                       const huddle_dense *z, const int32_t *component, careful *inner, wide *y,
                       collected *vertex) {
    int64_t c = f->cols;
    for (int64_t e = 0; e < edges->count; e++) {
        const double *row = z->values + e * z->stride;
        wide lambda = (wide)gamma * edges->weight[e], norm = 0, product = 0, size = 0;
        int64_t i = edges->i[e], j = edges->j[e];
        for (int64_t k = 0; k < c; k++)
            norm += (wide)row[k] * row[k];
        norm = sqrtl(norm) * (1 + (wide)(c + 4) * LDBL_EPSILON);
        wide clip = norm > lambda ? lambda / norm : 1;
        for (int64_t k = 0; k < c; k++) {
            wide v = clip * row[k];
            wide x = (wide)f->values[i * f->stride + k] - f->values[j * f->stride + k];
            product += v * x;
            size += fabsl(v * x);
            y[i * c + k] += v;
            y[j * c + k] -= v;
        }
        add_to(&inner[component[i]], product, size);
        collect(&vertex[i], clip * norm);
        collect(&vertex[j], clip * norm);
    }
}

/* The vertices of one component: bounds on ||y_i||, and their radii. */
typedef struct piece {
    int64_t n;
    const wide *norm;
    const double *radius;
    wide inner;
} piece;

/* The best bound of a component. The scale is found in double; any scale gives a bound. */
static wide bound_piece(const piece *q, bool squared, double *rounded, double *scratch) {
    wide energy = 0, loss = 0;
    double scale;
    for (int64_t i = 0; i < q->n; i++) {
        energy += q->norm[i] * q->norm[i];
        rounded[i] = (double)q->norm[i];
    }
    if (squared) {
        hd_dual_l2((double)q->inner, (double)energy, &scale);
        loss = (wide)scale * scale * energy / 4;
    } else {
        hd_dual_l21((double)q->inner, q->n, rounded, q->radius, scratch, &scale);
        for (int64_t i = 0; i < q->n; i++)
            loss += q->radius[i] * fmaxl(0, scale * q->norm[i] - 1);
    }
    return fmaxl(0, scale * q->inner - loss * (1 + (wide)q->n * LDBL_EPSILON));
}

/* A number that ||y_i|| is certainly not above. */
static wide bound_norm(const wide *y, int64_t c, const collected *vertex) {
    wide sum = 0;
    for (int64_t k = 0; k < c; k++)
        sum += y[k] * y[k];
    return sqrtl(sum) * (1 + (wide)(c + 4) * LDBL_EPSILON) + vertex->error;
}

/* The best bound of each component, added up. Vertices are visited component by component. */
static huddle_status bound(const huddle_dense *f, const hd_edges *edges, const double *weights,
                           double gamma, bool squared, const huddle_dense *z, double *dual) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, c = f->cols;
    int32_t *component = NULL, count = 0;
    int64_t *first = NULL;
    careful *inner = NULL;
    collected *vertex = NULL;
    wide *y = NULL, *norms = NULL, total = 0;
    double *radius = NULL, *radii = NULL, *rounded = NULL, *scratch = NULL;
    ALLOC(component, n);
    TRY(hd_edges_components(edges, n, component, &count));
    ALLOC_ZERO(inner, count);
    ALLOC_ZERO(first, count + 1);
    ALLOC_ZERO(y, n * c);
    ALLOC_ZERO(vertex, n);
    ALLOC(radius, n);
    ALLOC(norms, n);
    ALLOC(radii, n);
    ALLOC(rounded, n);
    ALLOC(scratch, 2 * n);
    TRY(hd_radii(n, c, f->values, f->stride, component, count, radius));
    apply_dual(f, edges, gamma, z, component, inner, y, vertex);
    for (int64_t i = 0; i < n; i++)
        first[component[i] + 1]++;
    for (int32_t q = 0; q < count; q++)
        first[q + 1] += first[q];
    for (int64_t i = 0; i < n; i++) {
        int64_t place = first[component[i]]++;
        /* The row of weight m resists as m rows do; a touch more covers the rounding. */
        double weight = weight_of(weights, i);
        wide resistance = squared ? sqrtl(weight) : (wide)weight;
        norms[place] = bound_norm(y + i * c, c, &vertex[i]) / resistance * (1 + 4 * LDBL_EPSILON);
        radii[place] = weight * radius[i] * (1 + 2 * DBL_EPSILON);
    }
    for (int32_t q = 0; q < count; q++) {
        int64_t begin = q == 0 ? 0 : first[q - 1];
        wide lost = (wide)(c + 8) * LDBL_EPSILON * inner[q].size;
        piece part = {first[q] - begin, norms + begin, radii + begin,
                      inner[q].sum + inner[q].lost - lost};
        total += bound_piece(&part, squared, rounded, scratch);
    }
    *dual = (double)total;
done:
    huddle_free(scratch);
    huddle_free(rounded);
    huddle_free(radii);
    huddle_free(norms);
    huddle_free(radius);
    huddle_free(vertex);
    huddle_free(y);
    huddle_free(first);
    huddle_free(inner);
    huddle_free(component);
    return status;
}

huddle_status hd_certify(const huddle_dense *f, const hd_edges *edges, const double *weights,
                         double gamma, bool squared, const huddle_dense *g, const huddle_dense *z,
                         double *objective, double *dual) {
    *objective = primal(f, edges, weights, gamma, squared, g);
    return z == NULL ? HUDDLE_OK : bound(f, edges, weights, gamma, squared, z, dual);
}

huddle_status huddle_shrink_certificate(huddle_context *context, const huddle_dense *f,
                                        const huddle_csr *w, double gamma, const char *loss,
                                        const huddle_dense *g, const huddle_dense *z,
                                        double *objective, double *dual) {
    return huddle_shrink_certificate_weighted(context, f, w, NULL, gamma, loss, g, z, objective,
                                              dual);
}

huddle_status huddle_shrink_certificate_weighted(huddle_context *context, const huddle_dense *f,
                                                 const huddle_csr *w, const double *weights,
                                                 double gamma, const char *loss,
                                                 const huddle_dense *g, const huddle_dense *z,
                                                 double *objective, double *dual) {
    huddle_status status = HUDDLE_OK;
    hd_edges edges = {0};
    bool squared = strcmp(loss, "l2") == 0;
    (void)context;
    if (!squared && strcmp(loss, "l21") != 0)
        FAIL(HUDDLE_INVALID, "loss = %s is not one of l21|l2", loss);
    if (!(gamma >= 0) || isinf(gamma))
        FAIL(HUDDLE_INVALID, "gamma = %g is not a number from 0", gamma);
    TRY(hd_edges_read(w, false, &edges));
    TRY(hd_check_rows(f, "f", w->rows));
    TRY(hd_check_weights(weights, w->rows));
    TRY(hd_check_rows(g, "g", w->rows));
    if (g->cols != f->cols)
        FAIL(HUDDLE_INVALID, "g has %lld columns, f has %lld", (long long)g->cols,
             (long long)f->cols);
    if (dual == NULL)
        z = NULL;
    if (z != NULL) {
        TRY(hd_check_rows(z, "z", edges.count));
        if (z->cols != f->cols)
            FAIL(HUDDLE_INVALID, "z has %lld columns, f has %lld", (long long)z->cols,
                 (long long)f->cols);
    }
    TRY(hd_certify(f, &edges, weights, gamma, squared, g, z, objective, dual));
done:
    hd_edges_free(&edges);
    return status;
}
