/* The matrix whose largest eigenpairs are wanted, as the solvers see it.
 *
 * Symmetric, its spectrum within [lower, upper], which is about [-1, 1]: tolerances and thresholds
 * are for an operator of that size. Any other matrix is shifted and scaled first. Vertices are in
 * an order of the operator's own (breadth first, so that neighbours are near each other in memory);
 * whoever made it knows the way back. Eigenvectors known beforehand, with disjoint supports, are
 * deflated: solvers work in their orthogonal complement and never return them. */
#ifndef HUDDLE_SRC_EMBED_OPERATOR_H
#define HUDDLE_SRC_EMBED_OPERATOR_H

#include "huddle/embed.h"

typedef struct hd_operator {
    int64_t n;
    int64_t *offsets;    /* n + 1 */
    int32_t *columns;    /* not sorted */
    double *values;      /* as they are */
    float *rounded;      /* for the filter */
    double lower, upper; /* upper may be a few percent too small, lower is safe */
    double shift, unit;  /* the matrix it was made from is shift I + unit op */
    int64_t n_null;      /* vectors to deflate */
    int32_t *component;  /* n: which of them has its support here */
    double *null;        /* n: its entry here; each vector has norm 1 */
} hd_operator;

void hd_operator_free(hd_operator *op);

/* A symmetric matrix in its own order, nothing deflated, shifted and scaled so that its spectrum
 * fills [-1, 1]. [lower, upper] holds the spectrum as far as the caller knows; HUDDLE_INVALID if it
 * is found to reach beyond. */
huddle_status hd_operator_from_csr(const huddle_csr *matrix, double lower, double upper,
                                   hd_operator *op);

/* What the stage derives from a graph before any solver runs. */
typedef struct hd_laplacian {
    int64_t n;
    double *degrees;
    int64_t n_components;
    int32_t *component; /* n, by vertex: 0 is the component with the most vertices */
    int32_t *order;     /* n: the vertex at each place of the operator */
} hd_laplacian;

/* Checks the graph; degrees, components, order. */
huddle_status hd_laplacian_new(const huddle_csr *graph, hd_laplacian *laplacian);
void hd_laplacian_free(hd_laplacian *laplacian);

/* N of the graph in the laplacian's order, D^1/2 1_C deflated for every component. */
huddle_status hd_operator_from_graph(const huddle_csr *graph, const hd_laplacian *laplacian,
                                     hd_operator *op);

/* The root of a degree; a vertex without edges counts as one of degree 1. */
double hd_degree_root(double degree);

/* Refuses a matrix that is not square or not symmetric to one part in 1e9. */
huddle_status hd_check_symmetric(const huddle_csr *matrix);

#endif
