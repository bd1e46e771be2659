/* Comparisons of packed points tile by tile; pairs that are near enough are reported to a function.
 */
#ifndef HUDDLE_SRC_GRAPH_TILES_H
#define HUDDLE_SRC_GRAPH_TILES_H

#include "base/context.h"
#include "graph/panels.h"

/* Called for a pair whose value is not above tau. The value is that of the kernel, in packed units.
 */
typedef void (*hd_graph_hit_function)(void *argument, int64_t i, int64_t j, float value);

typedef struct hd_graph_tiles {
    const hd_graph_panels *rows, *columns; /* the same in a tournament and in blocks */
    hd_graph_tile_function kernel;
    float *tau; /* per row; -infinity for padding, because rounding can make
                   distances negative. The hit function may lower it */
    hd_graph_hit_function hit;
    void (*fetch)(void *argument, int64_t j); /* j will be reported soon; may be NULL */
    void *argument;
} hd_graph_tiles;

/* The kernel for these panels and this CPU. */
hd_graph_tile_function hd_graph_tiles_kernel(const hd_graph_packing *packing);

/* Rows begin .. end - 1, multiples of the tile's, against all columns, by ascending column. Pairs
 * not above the tau of the row are hits. */
void hd_graph_tiles_sweep(const hd_graph_tiles *tiles, int64_t begin, int64_t end);

/* The pairs within each block of `block` points, a multiple of the tile's columns, in parallel. */
huddle_status hd_graph_tiles_blocks(huddle_context *context, const hd_graph_tiles *tiles,
                                    int64_t block);

/* Every pair i < j of the columns once, by one thread, of which i is one of the rows: the columns,
 * or the first of them. A hit is not above the larger tau of the two. */
void hd_graph_tiles_pairs(const hd_graph_tiles *tiles);

/* Every pair i < j of the points once, in parallel; a hit is not above the larger tau of the two.
 * Blocks of points are paired like the players of a tournament: no block occurs twice in a round,
 * so the hit function may write whatever belongs to i and j without locks. After each round
 * `may_continue` (may be NULL) is called with the number of pairs compared so far; if it returns
 * false, the comparison ends and *stopped is set. */
typedef bool (*hd_graph_continue_function)(void *argument, double pairs);
huddle_status hd_graph_tiles_tournament(huddle_context *context, const hd_graph_tiles *tiles,
                                        hd_graph_continue_function may_continue, bool *stopped);

#endif
