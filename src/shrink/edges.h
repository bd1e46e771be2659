/* The unordered edges of a symmetric graph, and what follows from them alone. */
#ifndef HUDDLE_SRC_SHRINK_EDGES_H
#define HUDDLE_SRC_SHRINK_EDGES_H

#include "base/union.h"
#include "huddle/matrix.h"

/* Edge e joins i[e] < j[e]. Edges come in the order in which W stores its upper triangle. */
typedef struct hd_edges {
    int64_t count;
    int32_t *i, *j;
    double *weight;
    int32_t *at; /* for each stored entry of W its edge; -1 on the diagonal. Only with `places` */
} hd_edges;

/* Reads W, checking that it is square, symmetric, finite and not negative. */
huddle_status hd_edges_read(const huddle_csr *w, bool places, hd_edges *edges);
void hd_edges_free(hd_edges *edges);

/* The connected components under edges of positive weight, numbered by their first vertex. Writes
 * n numbers. `count` gets how many there are. */
huddle_status hd_edges_components(const hd_edges *edges, int64_t n, int32_t *component,
                                  int32_t *count);

/* HUDDLE_INVALID, naming the place, unless f is a finite n x c matrix with n = rows, c >= 1. */
huddle_status hd_check_rows(const huddle_dense *f, const char *name, int64_t rows);

/* Numbers 0 .. count - 1 in place of the names in `label` (n of them, each in 0 .. n - 1), in
 * the order of first appearance. */
huddle_status hd_number_by_first(int32_t *label, int64_t n, int32_t *count);

#endif
