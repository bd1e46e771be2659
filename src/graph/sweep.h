/* Lists that have begun elsewhere, continued with all points of a set by tiles: for points of many
 * columns, and for few points. */
#ifndef HUDDLE_SRC_GRAPH_SWEEP_H
#define HUDDLE_SRC_GRAPH_SWEEP_H

#include "graph/panels.h"
#include "graph/projection.h"
#include "graph/search.h"

typedef struct hd_graph_sweep {
    const hd_graph_rows *train;
    hd_graph_projection projection; /* empty: the panels are of the points themselves */
    hd_graph_packing packing;
    hd_graph_panels panels;
} hd_graph_sweep;

/* Packs train, which must exist as long as the sweep does; `project`: only projections of it, whose
 * distances are lower bounds. reach: as for hd_graph_leaf_points_new(), never 0. */
huddle_status hd_graph_sweep_new(huddle_context *context, const hd_graph_rows *train, bool project,
                                 uint64_t seed, double reach, hd_graph_sweep *sweep);
void hd_graph_sweep_free(hd_graph_sweep *sweep);

/* Continues the lists of search->query with the points of search->train. */
huddle_status hd_graph_sweep_continue(huddle_context *context, const hd_graph_sweep *sweep,
                                      hd_graph_search *search);

#endif
