/* A 4-ary heap: half the levels of a binary one, and the four children share a cache line. Items of
 * equal keys differ by the number of the cluster, so that what is on top does not depend on the
 * order in which items came. */
#include "refine/heap.h"

#include "base/check.h"

#include <string.h>

enum { CHILDREN = 4 };

/* Positions need no first value: put() sets that of every item that is in the heap, and those of
 * others are not read. */
huddle_status hd_refine_heap_new(int64_t n, bool with_positions, hd_refine_heap *heap) {
    huddle_status status = HUDDLE_OK;
    memset(heap, 0, sizeof *heap);
    ALLOC(heap->items, n);
    if (with_positions)
        ALLOC(heap->position, n);
done:
    if (status != HUDDLE_OK)
        hd_refine_heap_free(heap);
    return status;
}

void hd_refine_heap_free(hd_refine_heap *heap) {
    FREE(heap->items, heap->position);
    memset(heap, 0, sizeof *heap);
}

static int32_t cluster_of(uint64_t item) {
    return (int32_t) ~(uint32_t)item;
}

static uint64_t make_item(int32_t cluster, uint32_t key) {
    return (uint64_t)key << 32 | ~(uint32_t)cluster;
}

/* A pair in a hub is found on top only, and needs no position. */
static void put(hd_refine_heap *heap, int64_t at, uint64_t item) {
    heap->items[at] = item;
    if (heap->position != NULL)
        heap->position[cluster_of(item)] = (int32_t)at;
}

/* Ancestors move down into the gap that the item leaves, so that a level costs one write. */
static void move_up(hd_refine_heap *heap, int64_t at, uint64_t item) {
    while (at > 0 && heap->items[(at - 1) / CHILDREN] < item) {
        put(heap, at, heap->items[(at - 1) / CHILDREN]);
        at = (at - 1) / CHILDREN;
    }
    put(heap, at, item);
}

/* The largest child moves up into the gap, until none is above the item. */
static void move_down(hd_refine_heap *heap, int64_t at, uint64_t item) {
    for (;;) {
        int64_t first = at * CHILDREN + 1, largest = at;
        int64_t end = first + CHILDREN < heap->count ? first + CHILDREN : heap->count;
        uint64_t most = item;
        for (int64_t child = first; child < end; child++)
            if (heap->items[child] > most) {
                largest = child;
                most = heap->items[child];
            }
        if (largest == at)
            break;
        put(heap, at, most);
        at = largest;
    }
    put(heap, at, item);
}

/* Another item in the place of one, above or below which it may belong. */
static void replace(hd_refine_heap *heap, int64_t at, uint64_t item) {
    if (item > heap->items[at])
        move_up(heap, at, item);
    else
        move_down(heap, at, item);
}

/* The last item takes the place of the one that is removed. It comes from another branch, and may
 * have to move either way. The removed item is still in its place when replace() compares the two,
 * which tells the way. Its position is wrong from then on; a cluster that was merged is not looked
 * up again. */
static void remove_at(hd_refine_heap *heap, int64_t at) {
    uint64_t last = heap->items[--heap->count];
    if (at < heap->count)
        replace(heap, at, last);
}

void hd_refine_heap_add(hd_refine_heap *heap, int32_t cluster, uint32_t key) {
    put(heap, heap->count++, make_item(cluster, key));
}

/* Each parent is moved down, the last first (Floyd): linear time, where adding one item after the
 * other would take n log n. The last parent is that of item count - 1; for less than two items the
 * division, which rounds towards 0, would give place 0. */
void hd_refine_heap_order(hd_refine_heap *heap) {
    for (int64_t at = (heap->count - 2) / CHILDREN; at >= 0 && heap->count > 1; at--)
        move_down(heap, at, heap->items[at]);
}

void hd_refine_heap_push(hd_refine_heap *heap, int32_t cluster, uint32_t key) {
    move_up(heap, heap->count++, make_item(cluster, key));
}

int32_t hd_refine_heap_top(const hd_refine_heap *heap) {
    return cluster_of(heap->items[0]);
}

uint32_t hd_refine_heap_top_key(const hd_refine_heap *heap) {
    return (uint32_t)(heap->items[0] >> 32);
}

void hd_refine_heap_change_top(hd_refine_heap *heap, uint32_t key) {
    replace(heap, 0, make_item(hd_refine_heap_top(heap), key));
}

void hd_refine_heap_remove_top(hd_refine_heap *heap) {
    remove_at(heap, 0);
}

void hd_refine_heap_change(hd_refine_heap *heap, int32_t cluster, uint32_t key) {
    replace(heap, heap->position[cluster], make_item(cluster, key));
}

void hd_refine_heap_remove(hd_refine_heap *heap, int32_t cluster) {
    remove_at(heap, heap->position[cluster]);
}
