#include "embed/operator.h"

#include "base/check.h"

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

huddle_status hd_operator_from_csr(const huddle_csr *matrix, double lower, double upper,
                                   hd_operator *op) {
    huddle_status status = HUDDLE_OK;
    int64_t nonzeros = matrix->offsets[matrix->rows];
    TRY(new_operator(matrix->rows, nonzeros, op));
    memcpy(op->offsets, matrix->offsets, (size_t)(matrix->rows + 1) * sizeof *op->offsets);
    for (int64_t e = 0; e < nonzeros; e++) {
        op->columns[e] = matrix->columns[e];
        op->values[e] = matrix->values[e];
        op->rounded[e] = (float)matrix->values[e];
    }
    op->lower = lower;
    op->upper = upper;
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
    TRY(set_null_vectors(laplacian, op));
done:
    huddle_free(place_of);
    huddle_free(inverse);
    if (status != HUDDLE_OK)
        hd_operator_free(op);
    return status;
}
