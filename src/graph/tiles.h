/* Walks over the tiles of a comparison and hands out what is near. */
#ifndef HUDDLE_SRC_GRAPH_TILES_H
#define HUDDLE_SRC_GRAPH_TILES_H

#include "base/context.h"
#include "graph/panels.h"

/* Told of a pair whose value is not above tau. The value is the kernel's, in packed units. */
typedef void (*hd_graph_hit_function)(void *argument, int64_t i, int64_t j, float value);

typedef struct hd_graph_tiles {
    const hd_graph_panels *rows, *columns; /* the same in a tournament */
    hd_graph_tile_function kernel;
    float *tau;                /* of the rows, padded with -infinity: rounding makes distances
                                  negative; the hit function lowers it */
    hd_graph_hit_function hit; /* */
    void (*fetch)(void *argument, int64_t j); /* j will be told of soon; may be NULL */
    void *argument;
} hd_graph_tiles;

/* The kernel for these panels on this CPU. */
hd_graph_tile_function hd_graph_tiles_kernel(const hd_graph_packing *packing);

/* Rows begin .. end - 1, multiples of the tile's, against all columns, by ascending column. Told of
 * pairs not above the row's tau. */
void hd_graph_tiles_sweep(const hd_graph_tiles *tiles, int64_t begin, int64_t end);

/* The pairs within each block of `block` points, a multiple of the tile's columns, in parallel. */
huddle_status hd_graph_tiles_blocks(huddle_context *context, const hd_graph_tiles *tiles,
                                    int64_t block);

/* Every pair i < j of the points once, in parallel, told of if not above either's tau. Blocks of
 * points are matched as in a tournament: in no round does a block play twice, so the hit function
 * may write whatever belongs to i and j without locks. After each round `go_on` (may be NULL) is
 * asked with the number of pairs compared so far; *stopped tells that it said no. */
typedef bool (*hd_graph_continue_function)(void *argument, double pairs);
huddle_status hd_graph_tiles_tournament(huddle_context *context, const hd_graph_tiles *tiles,
                                        hd_graph_continue_function go_on, bool *stopped);

#endif
