/* A heap of clusters, or of pairs of one cluster with others, by the keys of their gains: the
 * largest key is on top, of equal keys that of the smallest number. */
#ifndef HUDDLE_SRC_REFINE_HEAP_H
#define HUDDLE_SRC_REFINE_HEAP_H

#include "huddle/base.h"

/* An item is the key in the upper 32 bits and the complement of the cluster's number in the lower
 * ones, so that one comparison of integers orders by both. */
typedef struct hd_refine_heap {
    uint64_t *items;
    int64_t count;
    int32_t *position; /* of each cluster in items; NULL: a cluster may be there several times */
} hd_refine_heap;

/* Room for n items; with_positions: of clusters 0 .. n - 1, each in the heap at most once, so that
 * its key can be changed. */
huddle_status hd_refine_heap_new(int64_t n, bool with_positions, hd_refine_heap *heap);
void hd_refine_heap_free(hd_refine_heap *heap);

/* Adds an item anywhere; hd_refine_heap_order() must follow the last one. */
void hd_refine_heap_add(hd_refine_heap *heap, int32_t cluster, uint32_t key);
void hd_refine_heap_order(hd_refine_heap *heap);

/* Adds an item to a heap that is in order. */
void hd_refine_heap_push(hd_refine_heap *heap, int32_t cluster, uint32_t key);

/* What is on top. There must be something, as below. */
int32_t hd_refine_heap_top(const hd_refine_heap *heap);
uint32_t hd_refine_heap_top_key(const hd_refine_heap *heap);

void hd_refine_heap_change_top(hd_refine_heap *heap, uint32_t key);
void hd_refine_heap_remove_top(hd_refine_heap *heap);

/* The same at the position of a cluster. */
void hd_refine_heap_change(hd_refine_heap *heap, int32_t cluster, uint32_t key);
void hd_refine_heap_remove(hd_refine_heap *heap, int32_t cluster);

#endif
