/* Disjoint sets. The smaller index becomes the root, not the root of the larger tree, so that the
 * name of a set does not depend on the order of unions. Path halving alone bounds the amortised
 * cost by O(log n). */
#include "base/union.h"

int32_t hd_find_root(int32_t *parent, int32_t v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

void hd_unite(int32_t *parent, int32_t a, int32_t b) {
    a = hd_find_root(parent, a);
    b = hd_find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}
