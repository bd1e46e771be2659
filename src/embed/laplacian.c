/* The checks and quantities that precede any solver: symmetry, degrees, components, and the
 * eigenvectors of the Laplacian (3) that follow from the components. */
#include "base/check.h"
#include "base/parallel.h"
#include "embed/operator.h"

#include <math.h>
#include <string.h>

/* Two entries that should be equal may differ by this part: graphs are often written as text. */
static const double symmetry_tolerance = 1e-9;

void hd_embed_laplacian_free(hd_embed_laplacian *laplacian) {
    FREE(laplacian->degrees, laplacian->scale, laplacian->component, laplacian->known,
         laplacian->order);
    memset(laplacian, 0, sizeof *laplacian);
}

/* An isolated vertex is a component with the eigenvector e_i; a root of 1 avoids the division by
 * 0. */
double hd_embed_degree_root(double degree) {
    return degree > 0 ? sqrt(degree) : 1;
}

/* What the check of symmetry reads. */
typedef struct symmetry {
    const huddle_csr *matrix;
    int64_t first; /* of the own rows */
} symmetry;

/* The entry in row i and column `column`, 0 if there is none. Columns ascend. */
static double find_entry(const huddle_csr *matrix, int64_t i, int64_t column) {
    int64_t begin = matrix->offsets[i], end = matrix->offsets[i + 1];
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (matrix->columns[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    bool found = begin < matrix->offsets[i + 1] && matrix->columns[begin] == column;
    return found ? matrix->values[begin] : 0;
}

/* Compares each entry (i, j) with (j, i). Explicit zeros need no partner, and the partner of a
 * column of another process is not here. */
static huddle_status check_rows(void *argument, hd_chunk chunk) {
    const symmetry *s = argument;
    const huddle_csr *matrix = s->matrix;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            int64_t j = matrix->columns[e] - s->first;
            double value = matrix->values[e];
            if (value == 0 || j < 0 || j >= matrix->rows)
                continue;
            double other = find_entry(matrix, j, s->first + i);
            if (fabs(value - other) > symmetry_tolerance * fabs(value))
                return hd_fail(
                    HUDDLE_INVALID,
                    "not symmetric: row %lld, column %lld is %g, row %lld, column %lld is %g",
                    (long long)(s->first + i) + 1, (long long)(s->first + j) + 1, value,
                    (long long)(s->first + j) + 1, (long long)(s->first + i) + 1, other);
        }
    return HUDDLE_OK;
}

huddle_status hd_embed_check_symmetric(huddle_context *context, const huddle_csr *matrix,
                                       hd_slab slab) {
    huddle_status status = HUDDLE_OK;
    symmetry s = {matrix, slab.first};
    if (matrix->cols != slab.total)
        FAIL(HUDDLE_INVALID, "a matrix of %lld x %lld is not square", (long long)slab.total,
             (long long)matrix->cols);
    TRY(huddle_csr_check(matrix));
    TRY(hd_parallel(context, NULL, matrix->rows, HD_EMBED_LOOP_ROWS, check_rows, &s));
done:
    return status;
}

/* Degrees are sums of rows; a self-loop counts once. The loops of merged points (docs/method.md,
 * "Duplicate points") contribute in this way. */
static huddle_status add_degrees(const huddle_csr *graph, int64_t first, double *degrees) {
    for (int64_t i = 0; i < graph->rows; i++) {
        double sum = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            if (graph->values[e] < 0)
                return hd_fail(HUDDLE_INVALID, "row %lld, column %d: the weight %g is negative",
                               (long long)(first + i) + 1, graph->columns[e] + 1, graph->values[e]);
            sum += graph->values[e];
        }
        if (!isfinite(sum))
            return hd_fail(HUDDLE_INVALID, "row %lld: the weights sum to infinity",
                           (long long)(first + i) + 1);
        degrees[i] = sum;
    }
    return HUDDLE_OK;
}

/* The eigenvectors of eigenvalue 1 of N are D^1/2 1_C, one for each component C. They are scaled to
 * norm 1; squares are added in the operator's order, as its solvers add. */
static huddle_status set_known_vectors(huddle_context *context, hd_embed_laplacian *laplacian) {
    huddle_status status = HUDDLE_OK;
    double *squares = NULL;
    ALLOC_ZERO(squares, laplacian->n_components);
    ALLOC(laplacian->known, laplacian->n);
    ALLOC(laplacian->scale, laplacian->n);
    for (int64_t place = 0; place < laplacian->n; place++) {
        int64_t i = laplacian->order != NULL ? laplacian->order[place] : place;
        double root = hd_embed_degree_root(laplacian->degrees[i]);
        laplacian->known[i] = root;
        laplacian->scale[i] = 1 / root;
        squares[laplacian->component[i]] += root * root;
    }
    TRY(hd_reduce_sum(context, laplacian->n_components, squares));
    for (int64_t i = 0; i < laplacian->n; i++)
        laplacian->known[i] /= sqrt(squares[laplacian->component[i]]);
done:
    huddle_free(squares);
    return status;
}

/* Symmetry is checked before anything else: on an unsymmetric matrix every later stage would return
 * plausible but wrong results. */
huddle_status hd_embed_laplacian_new(huddle_context *context, const huddle_csr *graph,
                                     hd_embed_laplacian *laplacian) {
    huddle_status status = HUDDLE_OK;
    memset(laplacian, 0, sizeof *laplacian);
    laplacian->n = graph->rows;
    TRY(hd_slab_locate(context, graph->rows, &laplacian->slab));
    TRY(hd_embed_check_symmetric(context, graph, laplacian->slab));
    ALLOC(laplacian->degrees, graph->rows);
    ALLOC(laplacian->component, graph->rows);
    ALLOC(laplacian->order, graph->rows);
    TRY(add_degrees(graph, laplacian->slab.first, laplacian->degrees));
    TRY(hd_embed_find_components(context, graph, laplacian->slab, laplacian->component,
                                 laplacian->order, &laplacian->n_components));
    /* Rows are exchanged by their own numbers, so slabs keep their order. */
    if (hd_context_engine(context)->slabs != NULL) {
        huddle_free(laplacian->order);
        laplacian->order = NULL;
    }
    TRY(set_known_vectors(context, laplacian));
done:
    if (status != HUDDLE_OK)
        hd_embed_laplacian_free(laplacian);
    return status;
}
