/* The shortest edges that leave the parts of a graph whose rows are distributed over processes:
 * what boruvka.h does for the rows of one process. */
#ifndef HUDDLE_SRC_GRAPH_BRIDGES_H
#define HUDDLE_SRC_GRAPH_BRIDGES_H

#include "base/slabs.h"
#include "graph/boruvka.h"
#include "graph/cells.h"
#include "graph/sweep.h"

/* Rows of this process, with all that is kept from round to round. */
typedef struct hd_graph_bridges {
    huddle_context *context;
    int64_t n, first; /* own rows, and the number of the first */
    int32_t *ids;     /* of the own rows */
    hd_graph_rows rows;
    hd_graph_boruvka tree; /* over the own rows, if there are two */
    bool by_cells;         /* which of these answers for rows of other processes */
    hd_graph_cells cells;
    hd_graph_sweep sweep;
} hd_graph_bridges;

/* points are dense, the rows of this process. */
huddle_status hd_graph_bridges_new(huddle_context *context, const huddle_points *points,
                                   bool cosine, hd_graph_bridges *bridges);
void hd_graph_bridges_free(hd_graph_bridges *bridges);

/* best[p] becomes the shortest edge from part p to another part, between numbers of rows of all
 * processes, and target[p] that other part, for every p of the n_parts with searching[p]. `query`
 * are the `count` own rows of these parts; part is that of each own row. */
huddle_status hd_graph_bridges_find(hd_graph_bridges *bridges, const int32_t *part, int32_t n_parts,
                                    const bool *searching, const int32_t *query, int64_t count,
                                    hd_graph_edge *best, int32_t *target);

/* Adds the bridges, whose distances are those of the metric, to the own rows of the graph, with the
 * weights that the scale gives them. */
huddle_status hd_graph_bridges_add(huddle_context *context, const hd_graph_edge *bridges,
                                   int32_t count, const huddle_scale *scale, huddle_csr *graph);

#endif
