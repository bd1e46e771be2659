/* Points seen through a few principal directions, with distances that never exceed the true ones.
 *
 * V has p orthonormal rows; any would do, principal directions make the bound tight. With y = V x
 * and rho = sqrt(|x|^2 - |y|^2), what V does not see,
 *
 *     |x - x'|^2 >= |y - y'|^2 + (rho - rho')^2,
 *
 * so (y, rho) are p + 1 coordinates whose distances are lower bounds. They are computed in double:
 * rho cancels. */
#ifndef HUDDLE_SRC_GRAPH_PROJECTION_H
#define HUDDLE_SRC_GRAPH_PROJECTION_H

#include "graph/dense_rows.h"

typedef struct hd_graph_projection {
    huddle_dense y; /* n x (p + 1) */
    double blur;    /* no row is farther than this from where exact arithmetic would put it */
} hd_graph_projection;

/* Projects to p directions found on a sample; p must be less than the rows' width. */
huddle_status hd_graph_projection_new(huddle_context *context, const hd_graph_rows *rows, int64_t p,
                                      uint64_t seed, hd_graph_projection *projection);
void hd_graph_projection_free(hd_graph_projection *projection);

#endif
