/* Comparisons of packed points tile by tile; pairs that are near enough are reported to a function.
 */
#ifndef HUDDLE_SRC_GRAPH_TILES_H
#define HUDDLE_SRC_GRAPH_TILES_H

#include "base/context.h"
#include "graph/panels.h"

#include <float.h>

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

/* An entry of a list of candidates: the k points of smallest value, sorted by (value, index). Empty
 * places contain FLT_MAX and INT32_MAX. */
typedef struct hd_graph_candidate {
    float value;
    int32_t index;
} hd_graph_candidate;

/* Enters j into a list of k candidates if it belongs there. *tau is the last value of the list. */
static inline void hd_graph_candidates_offer(hd_graph_candidate *list, int32_t k, float value,
                                             int64_t j, float *tau) {
    int32_t at = k - 1, index = (int32_t)j;
    if (value > *tau || (value == *tau && index >= list[at].index))
        return;
    for (; at > 0 && (value < list[at - 1].value ||
                      (value == list[at - 1].value && index < list[at - 1].index));
         at--)
        list[at] = list[at - 1];
    list[at] = (hd_graph_candidate){value, index};
    *tau = list[k - 1].value;
}

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
