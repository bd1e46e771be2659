/* Queries that travel round the ring of processes. Every process keeps its training rows; the
 * queries of each visit all others, with their lists, and come back with the lists of all rows. */
#ifndef HUDDLE_SRC_GRAPH_RING_H
#define HUDDLE_SRC_GRAPH_RING_H

#include "graph/dense_rows.h"
#include "huddle/graph.h"

/* Consecutive queries, as bytes, and their lists. */
typedef struct hd_graph_block {
    int64_t n;
    const char *bytes;
    int64_t size;
    int32_t *index; /* n x k */
    double *distance2;
} hd_graph_block;

typedef struct hd_graph_ring {
    int64_t n; /* queries of this process */
    int32_t k;
    int64_t unit;    /* blocks begin at multiples of so many queries; 0: of 1 */
    int64_t largest; /* bytes that a block should not exceed; 0: the default */
    /* The bytes of queries begin .. end - 1, and what to write there. */
    int64_t (*measure)(const void *argument, int64_t begin, int64_t end);
    void (*pack)(const void *argument, int64_t begin, int64_t end, char *bytes);
    /* Their lists, n x k: they travel, and come back when they are complete. */
    int32_t *index;
    double *distance2;
    const int32_t *order; /* query i has list order[i]; NULL: list i */
    /* Continues the lists of another process's queries with the rows of this one; it must not
     * communicate. */
    huddle_status (*compare)(void *argument, const hd_graph_block *block);
    void *argument;
} hd_graph_ring;

huddle_status hd_graph_ring_run(huddle_context *context, const hd_graph_ring *ring);

/* Dense rows as bytes: the values of row pick[i], i = begin .. end - 1 (pick NULL: row i). Shift
 * and scale are not sent; they are the same everywhere, or can be computed again. */
int64_t hd_graph_rows_measure(const hd_graph_rows *rows, int64_t count);
void hd_graph_rows_pack(const hd_graph_rows *rows, const int32_t *pick, int64_t begin, int64_t end,
                        char *bytes);

/* A view of n rows in bytes that is like another one in all else. It is the caller's to free. */
huddle_status hd_graph_rows_unpack(huddle_context *context, const hd_graph_rows *like, int64_t n,
                                   const char *bytes, hd_graph_rows *rows);

#endif
