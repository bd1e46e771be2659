#include "base/union.h"

int32_t hd_find_root(int32_t *parent, int32_t v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]]; /* path halving keeps the trees flat */
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
