/* From a request to the operator that the CPU solvers use. */
#include "embed/operator.h"

#include "base/check.h"
#include "base/context.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* A given bound may be exceeded by this share, which covers the rounding of the estimate; and a
 * spectrum whose radius is below this share is that of a multiple of the identity. */
static const double bound_slack = 1e-9, flat_spectrum = 1e-13;

void hd_embed_operator_free(hd_embed_operator *op) {
    hd_halo_close(&op->halo);
    FREE(op->offsets, op->columns, op->values, op->rounded, op->component, op->known);
    memset(op, 0, sizeof *op);
}

/* ---- entries ------------------------------------------------------------------------------- */

/* The exponent that brings the largest magnitude into [1/2, 1), so that no sum of entries overflows
 * or underflows. Scaling by a power of two is exact. */
static huddle_status find_exponent(huddle_context *context, const huddle_csr *matrix,
                                   int *exponent) {
    double largest = 0;
    *exponent = 0;
    for (int64_t e = 0; e < matrix->offsets[matrix->rows]; e++)
        largest = fmax(largest, fabs(matrix->values[e]));
    huddle_status status = hd_reduce_max(context, 1, &largest);
    if (status == HUDDLE_OK && largest > 0)
        frexp(largest, exponent);
    return status;
}

/* What copying a graph reads and writes. */
typedef struct graph_copy {
    const huddle_csr *graph;
    const int32_t *order, *place_of;
    hd_embed_operator *op;
} graph_copy;

/* Entries of each row, without explicit zeros, into offsets[row + 1]. A vertex without edges gets
 * one, on the diagonal. */
static huddle_status count_entries(void *argument, hd_chunk chunk) {
    const graph_copy *c = argument;
    for (int64_t place = chunk.begin; place < chunk.end; place++) {
        int64_t i = c->order != NULL ? c->order[place] : place, count = 0;
        for (int64_t e = c->graph->offsets[i]; e < c->graph->offsets[i + 1]; e++)
            count += c->graph->values[e] != 0;
        c->op->offsets[place + 1] = count > 0 ? count : 1;
    }
    return HUDDLE_OK;
}

/* Columns are places of the operator; under slabs, which have no order of their own, row numbers
 * among all processes. */
static huddle_status copy_rows(void *argument, hd_chunk chunk) {
    const graph_copy *c = argument;
    for (int64_t place = chunk.begin; place < chunk.end; place++) {
        int64_t i = c->order != NULL ? c->order[place] : place, at = c->op->offsets[place];
        for (int64_t e = c->graph->offsets[i]; e < c->graph->offsets[i + 1]; e++) {
            if (c->graph->values[e] == 0)
                continue;
            int32_t j = c->graph->columns[e];
            c->op->columns[at] = c->place_of != NULL ? c->place_of[j] : j;
            c->op->values[at++] = c->graph->values[e];
        }
        /* A vertex without edges is an eigenvector by itself, of eigenvalue 1 as for any other
         * component; so a count of eigenvalues finds one for each. */
        if (at == c->op->offsets[place]) {
            c->op->columns[at] = (int32_t)(c->op->slab.first + place);
            c->op->values[at] = 1;
        }
    }
    return HUDDLE_OK;
}

/* The rows of any matrix times 2^-exponent, in their own order, with an entry at every place of the
 * diagonal, from which the shift is subtracted later. */
static void copy_matrix(const huddle_csr *matrix, int exponent, hd_embed_operator *op) {
    int64_t count = 0;
    for (int64_t i = 0; i < op->n; i++) {
        bool has_diagonal = false;
        for (int64_t e = matrix->offsets[i]; e < matrix->offsets[i + 1]; e++) {
            has_diagonal |= matrix->columns[e] == op->slab.first + i;
            op->columns[count] = matrix->columns[e];
            op->values[count++] = ldexp(matrix->values[e], -exponent);
        }
        if (!has_diagonal) {
            op->columns[count] = (int32_t)(op->slab.first + i);
            op->values[count++] = 0;
        }
        op->offsets[i + 1] = count;
    }
}

/* Entry (i, j) becomes scale_i a_ij scale_j. The scale of ghost rows comes from their owners. With
 * scale = D^-1/2 this is N = D^-1/2 A D^-1/2 of (3). */
static huddle_status scale_entries(const double *scale, const int32_t *order,
                                   hd_embed_operator *op) {
    huddle_status status = HUDDLE_OK;
    double *by_place = NULL;
    ALLOC(by_place, op->n + op->halo.ghosts);
    for (int64_t place = 0; place < op->n; place++)
        by_place[place] = scale[order != NULL ? order[place] : place];
    TRY(hd_halo_fetch(&op->halo, by_place, sizeof *by_place));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            op->values[e] = op->values[e] * by_place[i] * by_place[op->columns[e]];
done:
    huddle_free(by_place);
    return status;
}

/* op becomes (op - middle I) / radius. The shift is subtracted in double: in the floats of the
 * filter, a narrow spectrum far from 0 would lose its digits. */
static void scale_spectrum(double middle, double radius, hd_embed_operator *op) {
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++) {
            double value = op->columns[e] == i ? op->values[e] - middle : op->values[e];
            op->values[e] = value / radius;
        }
}

/* ---- the two kinds of requests ------------------------------------------------------------- */

/* N = D^-1/2 A D^-1/2, whose spectrum is known to lie in [-1, 1]. The columns are renumbered to the
 * order of the operator first; scaling then works on its own numbering. */
static huddle_status build_normalised(huddle_context *context, const hd_eigen_request *request,
                                      const int32_t *order, hd_embed_operator *op) {
    huddle_status status = HUDDLE_OK;
    int32_t *place_of = NULL;
    if (order != NULL) {
        ALLOC(place_of, op->n);
        for (int64_t place = 0; place < op->n; place++)
            place_of[order[place]] = (int32_t)place;
    }
    graph_copy copy = {request->matrix, order, place_of, op};
    TRY(hd_parallel(context, NULL, op->n, HD_EMBED_LOOP_ROWS, count_entries, &copy));
    for (int64_t place = 0; place < op->n; place++)
        op->offsets[place + 1] += op->offsets[place];
    TRY(hd_parallel(context, NULL, op->n, HD_EMBED_LOOP_ROWS, copy_rows, &copy));
    TRY(hd_halo_open(context, op->n, op->offsets[op->n], op->columns, &op->halo));
    TRY(scale_entries(request->scale, order, op));
    op->lower = request->lower;
    op->upper = request->upper;
    op->unit = 1;
done:
    huddle_free(place_of);
    return status;
}

/* Any symmetric matrix, shifted and scaled so that its spectrum fills [-1, 1]; the request gets the
 * bounds that were found. The exponent is taken out first and returned at the end, so that no
 * intermediate result overflows. Ritz values are inside the true spectrum: if one lies beyond the
 * caller's bounds, those are wrong. */
static huddle_status build_general(huddle_context *context, hd_eigen_request *request,
                                   hd_embed_operator *op) {
    huddle_status status = HUDDLE_OK;
    hd_embed_spectrum s;
    int exponent = 0;
    double lower = request->lower, upper = request->upper;
    TRY(find_exponent(context, request->matrix, &exponent));
    copy_matrix(request->matrix, exponent, op);
    TRY(hd_halo_open(context, op->n, op->offsets[op->n], op->columns, &op->halo));
    TRY(hd_embed_estimate_spectrum(context, op, ldexp(lower, -exponent), ldexp(upper, -exponent),
                                   &s));
    double size = fmax(fabs(s.min_ritz), fabs(s.max_ritz)),
           slack = ldexp(bound_slack * size, exponent);
    double min_ritz = ldexp(s.min_ritz, exponent), max_ritz = ldexp(s.max_ritz, exponent);
    if (min_ritz < lower - slack || max_ritz > upper + slack)
        FAIL(HUDDLE_INVALID, "the spectrum extends from %g to %g, beyond the bounds [%g, %g]",
             min_ritz, max_ritz, lower, upper);
    double middle = .5 * (s.lower + s.upper), radius = .5 * (s.upper - s.lower);
    /* A multiple of the identity, up to rounding, has a spectrum without width, and nothing to
     * divide by. */
    if (radius <= flat_spectrum * size)
        radius = size > 0 ? size : 1;
    scale_spectrum(middle, radius, op);
    op->lower = -1;
    op->upper = 1;
    op->shift = ldexp(middle, exponent);
    op->unit = ldexp(radius, exponent);
    request->lower = op->shift - op->unit;
    request->upper = op->shift + op->unit;
done:
    return status;
}

/* The known vectors in the operator's order. Null vectors of a graph have disjoint supports, so
 * that one array holds the entries of all of them and `component` the vector that each entry
 * belongs to. */
static huddle_status copy_known(const hd_eigen_request *request, const int32_t *order,
                                hd_embed_operator *op) {
    huddle_status status = HUDDLE_OK;
    if (request->component == NULL)
        goto done;
    ALLOC(op->component, op->n);
    ALLOC(op->known, op->n);
    for (int64_t place = 0; place < op->n; place++) {
        int64_t i = order != NULL ? order[place] : place;
        op->component[place] = request->component[i];
        op->known[place] = request->known[i];
    }
    op->n_known = request->n_components;
done:
    return status;
}

/* Room for one additional entry per row: a missing diagonal entry, or that of an isolated
 * vertex. The values are kept in double for Rayleigh-Ritz steps and rounded once to float for
 * the filter. */
huddle_status hd_embed_operator_new(huddle_context *context, hd_eigen_request *request,
                                    const int32_t *order, const int64_t *number,
                                    hd_embed_operator *op) {
    huddle_status status = HUDDLE_OK;
    int64_t n = request->matrix->rows, entries = request->matrix->offsets[n] + n;
    memset(op, 0, sizeof *op);
    op->n = n;
    op->number = number;
    TRY(hd_slab_locate(context, n, &op->slab));
    ALLOC_ZERO(op->offsets, n + 1);
    ALLOC(op->columns, entries);
    ALLOC(op->values, entries);
    if (request->scale != NULL)
        TRY(build_normalised(context, request, order, op));
    else
        TRY(build_general(context, request, op));
    ALLOC(op->rounded, entries);
    for (int64_t e = 0; e < op->offsets[n]; e++)
        op->rounded[e] = (float)op->values[e];
    TRY(copy_known(request, order, op));
done:
    if (status != HUDDLE_OK)
        hd_embed_operator_free(op);
    return status;
}
