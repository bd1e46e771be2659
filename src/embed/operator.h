/* The matrix whose largest eigenpairs are wanted, in the form that the CPU solvers use.
 *
 * It is symmetric, and its spectrum lies within [lower, upper], which is about [-1, 1]: tolerances
 * and thresholds are made for an operator of that size, so any other matrix is shifted and scaled
 * first. Rows are in an order of the operator's own (breadth first, so that neighbours are close to
 * each other in memory). Eigenvectors known beforehand, with disjoint supports, are deflated:
 * solvers work in their orthogonal complement and never return them.
 *
 * Under an engine with slabs the operator has the rows that were moved to this process (moved.c),
 * in their order there, or its own rows in their given order. Column indices beyond n refer to
 * ghost rows, which halo fetches from other processes. */
#ifndef HUDDLE_SRC_EMBED_OPERATOR_H
#define HUDDLE_SRC_EMBED_OPERATOR_H

#include "base/slabs.h"
#include "huddle/embed.h"

typedef struct hd_embed_operator {
    int64_t n;             /* own rows */
    hd_slab slab;          /* where they are among the rows of all processes */
    hd_halo halo;          /* ghost rows; halo.slabs is NULL if this process holds all rows */
    const int64_t *number; /* n: of each row, for random draws; NULL: slab.first + its place */
    int64_t *offsets;      /* n + 1 */
    int32_t *columns;      /* own rows by their place, then ghosts; not sorted */
    double *values;        /* in double */
    float *rounded;        /* the same in float, for the filter */
    double lower, upper;   /* upper may be a few percent too small, lower is safe */
    double shift, unit;    /* the matrix it was made from is shift I + unit op */
    int64_t n_known;       /* vectors to deflate */
    int32_t *component;    /* n: the known vector whose support contains this row */
    double *known;         /* n: its entry in this row; each vector has norm 1 */
} hd_embed_operator;

/* Rows per chunk of loops that do little for each row: about a millisecond. */
enum { HD_EMBED_LOOP_ROWS = 1 << 13 };

void hd_embed_operator_free(hd_embed_operator *op);

/* y = op x in double; x has the ghost rows too. */
static inline void hd_embed_multiply_vector(const hd_embed_operator *op, const double *x,
                                            double *y) {
    for (int64_t i = 0; i < op->n; i++) {
        double sum = 0;
        for (int64_t e = op->offsets[i]; e < op->offsets[i + 1]; e++)
            sum += op->values[e] * x[op->columns[e]];
        y[i] = sum;
    }
}

/* The operator of a request (base/engine.h). `order` lists the rows by their place in the operator;
 * NULL: their own order. `number`, which must outlive the operator, becomes op->number; it may be
 * NULL. request->lower and request->upper bound the spectrum as far as the caller
 * knows; if the request has no scale, they may be infinite and are replaced by estimates, and
 * HUDDLE_INVALID is returned if the spectrum is found to extend beyond them. */
huddle_status hd_embed_operator_new(huddle_context *context, hd_eigen_request *request,
                                    const int32_t *order, const int64_t *number,
                                    hd_embed_operator *op);

typedef struct hd_embed_spectrum {
    double min_ritz, max_ritz; /* Ritz values: the spectrum extends at least this far */
    double lower, upper;       /* estimated ends: upper is close, lower is on the safe side */
} hd_embed_spectrum;

/* Estimates the ends of the spectrum by a few steps of Lanczos (spectrum.c), within Gershgorin's
 * bounds and [lower, upper], which may be infinite. Uses only the operator's rows, offsets,
 * columns, values and halo. */
huddle_status hd_embed_estimate_spectrum(huddle_context *context, const hd_embed_operator *op,
                                         double lower, double upper, hd_embed_spectrum *spectrum);

/* What the stage derives from a graph before any solver runs. */
typedef struct hd_embed_laplacian {
    int64_t n;
    hd_slab slab;
    double *degrees;
    double *scale; /* n: 1 / root of the degree */
    int64_t n_components;
    int32_t *component; /* n, by vertex: 0 is the component with the most vertices */
    double *known;      /* n: the entries of the vectors D^1/2 1_C, each of norm 1 */
    int32_t *order;     /* n: the vertices breadth first; NULL under slabs */
} hd_embed_laplacian;

/* Checks the graph; finds degrees, components and an order. */
huddle_status hd_embed_laplacian_new(huddle_context *context, const huddle_csr *graph,
                                     hd_embed_laplacian *laplacian);
void hd_embed_laplacian_free(hd_embed_laplacian *laplacian);

/* Connected components (components.c): component[i], numbered by falling size, ties by the first
 * vertex, and the vertices of this process breadth first. */
huddle_status hd_embed_find_components(huddle_context *context, const huddle_csr *graph,
                                       hd_slab slab, int32_t *component, int32_t *order,
                                       int64_t *count);

/* The root of a degree; a vertex without edges is treated as one of degree 1. */
double hd_embed_degree_root(double degree);

/* HUDDLE_INVALID if a matrix is not square, or not symmetric to one part in 1e9. Under slabs only
 * entries between own rows are compared. */
huddle_status hd_embed_check_symmetric(huddle_context *context, const huddle_csr *matrix,
                                       hd_slab slab);

#endif
