#include "embed/operator.h"

#include "base/check.h"
#include "embed/spectrum.h"

#include <math.h>
#include <string.h>

void hd_operator_free(hd_operator *op) {
    huddle_free(op->offsets);
    huddle_free(op->columns);
    huddle_free(op->values);
    huddle_free(op->rounded);
    huddle_free(op->component);
    huddle_free(op->null);
    memset(op, 0, sizeof *op);
}

static huddle_status new_operator(int64_t n, int64_t nonzeros, hd_operator *op) {
    huddle_status status = HUDDLE_OK;
    memset(op, 0, sizeof *op);
    op->n = n;
    ALLOC_ZERO(op->offsets, n + 1);
    ALLOC(op->columns, nonzeros);
    ALLOC(op->values, nonzeros);
    ALLOC(op->rounded, nonzeros);
done:
    return status;
}

/* The exponent that brings the largest magnitude into [1/2, 1), so that no sum of entries overflows
 * or underflows. */
static int largest_exponent(const huddle_csr *matrix) {
    double largest = 0;
    int exponent = 0;
    for (int64_t e = 0; e < matrix->offsets[matrix->rows]; e++)
        largest = fmax(largest, fabs(matrix->values[e]));
    if (largest > 0)
        frexp(largest, &exponent);
    return exponent;
}

/* The matrix times 2^-exponent, with an entry for every place of the diagonal. */
static void copy_rows(const huddle_csr *matrix, int exponent, hd_operator *op) {
    int64_t count = 0;
    for (int64_t i = 0; i < op->n; i++) {
        bool has_diagonal = false;
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            has_diagonal |= matrix->columns[e] == i;
            op->columns[count] = matrix->columns[e];
            op->values[count++] = ldexp(matrix->values[e], -exponent);
        }
        if (!has_diagonal) {
            op->columns[count] = (int32_t)i;
            op->values[count++] = 0;
        }
        op->offsets[i + 1] = count;
    }
}

/* op becomes (op - middle I) / radius. The shift is subtracted in double: the filter's floats would
 * not keep a small spectrum far from 0. */
static void normalise(double middle, double radius, hd_operator *op) {
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++) {
            double value = op->columns[e] == i ? op->values[e] - middle : op->values[e];
            op->values[e] = value / radius;
            op->rounded[e] = (float)op->values[e];
        }
    op->lower = -1;
    op->upper = 1;
}

huddle_status hd_operator_from_csr(const huddle_csr *matrix, double lower, double upper,
                                   hd_operator *op) {
    huddle_status status = HUDDLE_OK;
    hd_spectrum s;
    int exponent = largest_exponent(matrix);
    TRY(new_operator(matrix->rows, matrix->offsets[matrix->rows] + matrix->rows, op));
    copy_rows(matrix, exponent, op);
    TRY(hd_estimate_spectrum(op, ldexp(lower, -exponent), ldexp(upper, -exponent), &s));
    double size = fmax(fabs(s.least), fabs(s.most)), slack = ldexp(1e-9 * size, exponent);
    double least = ldexp(s.least, exponent), most = ldexp(s.most, exponent);
    if (least < lower - slack || most > upper + slack)
        FAIL(HUDDLE_INVALID, "the spectrum reaches from %g to %g, beyond the bounds [%g, %g]",
             least, most, lower, upper);
    double middle = .5 * (s.lower + s.upper), radius = .5 * (s.upper - s.lower);
    /* A multiple of the identity but for rounding has no width to be relative to. */
    if (radius <= 1e-13 * size)
        radius = size > 0 ? size : 1;
    normalise(middle, radius, op);
    op->shift = ldexp(middle, exponent);
    op->unit = ldexp(radius, exponent);
done:
    if (status != HUDDLE_OK)
        hd_operator_free(op);
    return status;
}

double hd_degree_root(double degree) {
    return degree > 0 ? sqrt(degree) : 1;
}

/* Each component's roots become a vector of norm 1. */
static huddle_status set_null_vectors(const hd_laplacian *laplacian, hd_operator *op) {
    huddle_status status = HUDDLE_OK;
    double *squares = NULL;
    ALLOC_ZERO(squares, laplacian->n_components);
    ALLOC(op->component, op->n);
    ALLOC(op->null, op->n);
    for (int64_t place = 0; place < op->n; place++) {
        int32_t vertex = laplacian->order[place];
        op->component[place] = laplacian->component[vertex];
        op->null[place] = hd_degree_root(laplacian->degrees[vertex]);
        squares[op->component[place]] += op->null[place] * op->null[place];
    }
    for (int64_t place = 0; place < op->n; place++)
        op->null[place] /= sqrt(squares[op->component[place]]);
    op->n_null = laplacian->n_components;
done:
    huddle_free(squares);
    return status;
}

huddle_status hd_operator_from_graph(const huddle_csr *graph, const hd_laplacian *laplacian,
                                     hd_operator *op) {
    huddle_status status = HUDDLE_OK;
    int32_t *place_of = NULL;
    double *inverse = NULL;
    int64_t n = graph->rows, count = 0;
    /* One place more for each vertex without edges: its diagonal is 1. */
    TRY(new_operator(n, graph->offsets[n] + laplacian->n_components, op));
    ALLOC(place_of, n);
    ALLOC(inverse, n);
    for (int64_t place = 0; place < n; place++)
        place_of[laplacian->order[place]] = (int32_t)place;
    for (int64_t i = 0; i < n; i++)
        inverse[i] = 1 / hd_degree_root(laplacian->degrees[i]);
    for (int64_t place = 0; place < n; place++) {
        int32_t i = laplacian->order[place];
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            if (graph->values[e] == 0)
                continue;
            int32_t j = graph->columns[e];
            op->columns[count] = place_of[j];
            op->values[count++] = graph->values[e] * inverse[i] * inverse[j];
        }
        if (laplacian->degrees[i] == 0) {
            op->columns[count] = (int32_t)place;
            op->values[count++] = 1;
        }
        op->offsets[place + 1] = count;
    }
    for (int64_t e = 0; e < count; e++)
        op->rounded[e] = (float)op->values[e];
    op->lower = -1;
    op->upper = 1;
    op->unit = 1;
    TRY(set_null_vectors(laplacian, op));
done:
    huddle_free(place_of);
    huddle_free(inverse);
    if (status != HUDDLE_OK)
        hd_operator_free(op);
    return status;
}
