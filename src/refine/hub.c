/* A table with open addressing and linear probing, in which nothing is ever removed. */
#include "refine/hub.h"

#include "base/check.h"

#include <string.h>

/* The table is at most half full, and the heap has as many places as the table: a rebuilt hub has
 * one item per id, so that at least as many more can be added before it is full. */
enum { LEAST_CAPACITY = 16 };

huddle_status hd_refine_hub_new(int64_t count, hd_refine_hub *hub) {
    huddle_status status = HUDDLE_OK;
    memset(hub, 0, sizeof *hub);
    hub->capacity = LEAST_CAPACITY;
    /* At most a quarter full: the table takes as many ids again before it is rebuilt, so that
     * rebuilding adds a constant number of insertions to each. */
    while (hub->capacity < 4 * count)
        hub->capacity *= 2;
    ALLOC(hub->ids, hub->capacity);
    ALLOC(hub->weights, hub->capacity);
    TRY(hd_refine_heap_new(hub->capacity, false, &hub->pairs));
    for (int64_t k = 0; k < hub->capacity; k++)
        hub->ids[k] = -1;
done:
    if (status != HUDDLE_OK)
        hd_refine_hub_free(hub);
    return status;
}

void hd_refine_hub_free(hd_refine_hub *hub) {
    FREE(hub->ids, hub->weights);
    hd_refine_heap_free(&hub->pairs);
    memset(hub, 0, sizeof *hub);
}

bool hd_refine_hub_is_full(const hd_refine_hub *hub) {
    return 2 * hub->used >= hub->capacity || hub->pairs.count >= hub->capacity;
}

/* The slot of an id, or the empty one where it belongs. Multiplication by the golden ratio
 * scatters consecutive ids. From bit 32 on, the bits of the product depend on all bits of the id,
 * low ones only on its low ones. At least half of the slots are empty, so that the search ends
 * after at most 1.5 slots on average for an id that is there, 2.5 for one that is not (Knuth).
 * Nothing is removed, so that an empty slot proves that the id is not there. */
static int64_t find_slot(const hd_refine_hub *hub, int32_t id) {
    uint64_t mask = (uint64_t)hub->capacity - 1;
    uint64_t slot = ((uint64_t)id * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (hub->ids[slot] >= 0 && hub->ids[slot] != id)
        slot = (slot + 1) & mask;
    return (int64_t)slot;
}

double hd_refine_hub_weight(const hd_refine_hub *hub, int32_t id) {
    int64_t slot = find_slot(hub, id);
    return hub->ids[slot] == id ? hub->weights[slot] : 0;
}

/* Items of the same id that were added before stay in the heap: one of them may have too large a
 * key now, which is found out when it is on top (read_hub() of the merger), and looking for it
 * would take positions of all items. */
void hd_refine_hub_put(hd_refine_hub *hub, int32_t id, double weight, uint32_t key) {
    int64_t slot = find_slot(hub, id);
    hub->used += hub->ids[slot] < 0;
    hub->ids[slot] = id;
    hub->weights[slot] = weight;
    hd_refine_heap_push(&hub->pairs, id, key);
}
