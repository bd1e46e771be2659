/* The neighbours of a cluster that has very many of them: weights by neighbour, and a heap of the
 * gains of its pairs. A cluster with a list reads all of it at every merge; a hub only looks at the
 * neighbours that change. */
#ifndef HUDDLE_SRC_REFINE_HUB_H
#define HUDDLE_SRC_REFINE_HUB_H

#include "refine/heap.h"

/* A neighbour's id is that of a cluster, which may have been merged into another since. */
typedef struct hd_refine_hub {
    int64_t capacity; /* of the table: a power of 2; and of the heap */
    int64_t used;
    int32_t *ids; /* -1: empty */
    double *weights;
    hd_refine_heap pairs; /* by neighbour; an id may occur several times */
} hd_refine_hub;

/* Space for `count` neighbours; more are refused by hd_refine_hub_is_full(). */
huddle_status hd_refine_hub_new(int64_t count, hd_refine_hub *hub);
void hd_refine_hub_free(hd_refine_hub *hub);

/* Whether there may be no slot for one more id or item. */
bool hd_refine_hub_is_full(const hd_refine_hub *hub);

/* The weight of a neighbour; 0: it is none. */
double hd_refine_hub_weight(const hd_refine_hub *hub, int32_t id);

/* Sets the weight of a neighbour and adds the key of its pair. There must be space. */
void hd_refine_hub_put(hd_refine_hub *hub, int32_t id, double weight, uint32_t key);

#endif
