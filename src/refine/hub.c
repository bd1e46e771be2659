/* A table with open addressing and linear probing, in which nothing is ever removed, and a 4-ary
 * heap. */
#include "refine/hub.h"

#include "base/check.h"

#include <string.h>

/* The table is at most half full, and the heap has as many places as the table: a rebuilt hub has
 * one item per id, so that at least as many more can be added before it is full. */
enum { CHILDREN = 4, LEAST_CAPACITY = 16 };

huddle_status hd_refine_hub_new(int64_t count, hd_refine_hub *hub) {
    huddle_status status = HUDDLE_OK;
    memset(hub, 0, sizeof *hub);
    hub->capacity = LEAST_CAPACITY;
    while (hub->capacity < 4 * count)
        hub->capacity *= 2;
    hub->max_items = hub->capacity;
    ALLOC(hub->ids, hub->capacity);
    ALLOC(hub->weights, hub->capacity);
    ALLOC(hub->items, hub->max_items);
    for (int64_t k = 0; k < hub->capacity; k++)
        hub->ids[k] = -1;
done:
    if (status != HUDDLE_OK)
        hd_refine_hub_free(hub);
    return status;
}

void hd_refine_hub_free(hd_refine_hub *hub) {
    FREE(hub->ids, hub->weights, hub->items);
    memset(hub, 0, sizeof *hub);
}

bool hd_refine_hub_is_full(const hd_refine_hub *hub) {
    return 2 * hub->used >= hub->capacity || hub->n_items >= hub->max_items;
}

/* The slot of an id, or the empty one where it belongs. Multiplication by the golden ratio
 * scatters consecutive ids. */
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

static uint64_t make_item(int32_t id, uint32_t key) {
    return (uint64_t)key << 32 | ~(uint32_t)id;
}

void hd_refine_hub_put(hd_refine_hub *hub, int32_t id, double weight, uint32_t key) {
    int64_t slot = find_slot(hub, id), at = hub->n_items++;
    uint64_t item = make_item(id, key);
    hub->used += hub->ids[slot] < 0;
    hub->ids[slot] = id;
    hub->weights[slot] = weight;
    for (; at > 0 && hub->items[(at - 1) / CHILDREN] < item; at = (at - 1) / CHILDREN)
        hub->items[at] = hub->items[(at - 1) / CHILDREN];
    hub->items[at] = item;
}

int32_t hd_refine_hub_top(const hd_refine_hub *hub, uint32_t *key) {
    *key = (uint32_t)(hub->items[0] >> 32);
    return (int32_t) ~(uint32_t)hub->items[0];
}

/* Puts an item that is not above the top in its place. */
static void replace_top(hd_refine_hub *hub, uint64_t item) {
    int64_t at = 0;
    for (;;) {
        int64_t first = at * CHILDREN + 1, largest = at;
        int64_t end = first + CHILDREN < hub->n_items ? first + CHILDREN : hub->n_items;
        uint64_t most = item;
        for (int64_t child = first; child < end; child++)
            if (hub->items[child] > most) {
                largest = child;
                most = hub->items[child];
            }
        if (largest == at)
            break;
        hub->items[at] = most;
        at = largest;
    }
    hub->items[at] = item;
}

void hd_refine_hub_remove_top(hd_refine_hub *hub) {
    if (--hub->n_items > 0)
        replace_top(hub, hub->items[hub->n_items]);
}

void hd_refine_hub_lower_top(hd_refine_hub *hub, uint32_t key) {
    uint32_t before;
    replace_top(hub, make_item(hd_refine_hub_top(hub, &before), key));
}
