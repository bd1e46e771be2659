/* A heap of clusters: the one with the largest key is on top, among equal keys the one with the
 * smallest number. A cluster is in it at most once, and its key can change. */
#ifndef HUDDLE_SRC_REFINE_HEAP_H
#define HUDDLE_SRC_REFINE_HEAP_H

#include "huddle/base.h"

/* An item is the key in the upper 32 bits and the complement of the cluster's number in the lower
 * ones, so that one comparison of integers orders by both. */
typedef struct hd_refine_heap {
    uint64_t *items;
    int64_t count;
    int32_t *position; /* of each cluster in items */
} hd_refine_heap;

huddle_status hd_refine_heap_new(int64_t n, hd_refine_heap *heap);
void hd_refine_heap_free(hd_refine_heap *heap);

/* Adds an item anywhere; hd_refine_heap_order() must follow the last one. */
void hd_refine_heap_add(hd_refine_heap *heap, int32_t cluster, uint32_t key);
void hd_refine_heap_order(hd_refine_heap *heap);

/* There must be one. */
int32_t hd_refine_heap_top(const hd_refine_heap *heap);

void hd_refine_heap_change(hd_refine_heap *heap, int32_t cluster, uint32_t key);
void hd_refine_heap_remove(hd_refine_heap *heap, int32_t cluster);

#endif
