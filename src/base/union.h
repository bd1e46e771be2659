/* Union-find in an array of the caller's, initialised to parent[v] = v. The smaller index becomes
 * the root, not the root of the larger tree, so that the name of a set does not depend on the order
 * of unions: it is its smallest member. Path halving alone bounds the amortised cost by O(log n).
 */
#ifndef HUDDLE_SRC_UNION_H
#define HUDDLE_SRC_UNION_H

#include <stdint.h>

/* The smallest member of the set of v. */
static inline int32_t hd_find_root(int32_t *parent, int32_t v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Joins the sets of a and b. */
static inline void hd_unite(int32_t *parent, int32_t a, int32_t b) {
    a = hd_find_root(parent, a);
    b = hd_find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
