/* The division of points at a place of their order, by which the trees of this stage are built. */
#include "graph/split.h"

#include <stdbool.h>

static bool is_before(double key, int32_t id, double other_key, int32_t other_id) {
    return key < other_key || (key == other_key && id < other_id);
}

/* Quickselect (Hoare) with the median of three as pivot. */
void hd_graph_split_at(double *keys, int32_t *order, int64_t begin, int64_t end, int64_t middle) {
    int64_t low = begin, high = end - 1;
    while (low < high) {
        int64_t centre = low + (high - low) / 2, pick = centre;
        bool first = is_before(keys[low], order[low], keys[centre], order[centre]);
        bool second = is_before(keys[centre], order[centre], keys[high], order[high]);
        bool outer = is_before(keys[low], order[low], keys[high], order[high]);
        if (first != second)
            pick = first == outer ? high : low;
        double key = keys[pick];
        int32_t id = order[pick];
        int64_t p = low, q = high;
        while (p <= q) {
            while (is_before(keys[p], order[p], key, id))
                p++;
            while (is_before(key, id, keys[q], order[q]))
                q--;
            if (p > q)
                break;
            double swapped_key = keys[p];
            int32_t swapped = order[p];
            keys[p] = keys[q];
            order[p++] = order[q];
            keys[q] = swapped_key;
            order[q--] = swapped;
        }
        if (middle <= q)
            high = q;
        else if (middle >= p)
            low = p;
        else
            break;
    }
}
