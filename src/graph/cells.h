/* The index of the search leaf against leaf (cells.c), for several sets of queries. */
#ifndef HUDDLE_SRC_GRAPH_CELLS_H
#define HUDDLE_SRC_GRAPH_CELLS_H

#include "graph/leaf_points.h"
#include "graph/projection.h"
#include "graph/search.h"

typedef struct hd_graph_cells {
    const hd_graph_rows *train;
    hd_graph_projection projection; /* empty: the boxes are those of the points */
    hd_graph_rows projected;
    const hd_graph_rows *space; /* the rows that the tree divides */
    int64_t width;              /* its columns */
    double position_error;      /* of a row of it */
    double factor;              /* hd_graph_boxes_factor() */
    hd_graph_leaves leaves;
    hd_graph_leaf_points points;
} hd_graph_cells;

/* Builds the index over train, which must exist as long as it does; it must not be moved in memory.
 * reach: as for hd_graph_leaf_points_new(). */
huddle_status hd_graph_cells_new(huddle_context *context, const hd_graph_rows *train, uint64_t seed,
                                 double reach, hd_graph_cells *cells);
void hd_graph_cells_free(hd_graph_cells *cells);

/* The predicted cost of searching the rows of search->train among themselves, in multiply-adds. */
huddle_status hd_graph_cells_predict(huddle_context *context, hd_graph_search *search,
                                     double *cost);

/* Continues lists that have begun (search->ids) with the points of the index, search->train.
 * Consecutive queries of search->order are searched together. */
huddle_status hd_graph_cells_continue(huddle_context *context, const hd_graph_cells *cells,
                                      hd_graph_search *search);

#endif
