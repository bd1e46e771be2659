/* Union-find inside an array of the caller's, parent[v] = v at first. Parents are never larger than
 * their children, so a root is the smallest member of its tree. */
#ifndef HUDDLE_SRC_UNION_H
#define HUDDLE_SRC_UNION_H

#include <stdint.h>

int32_t hd_find_root(int32_t *parent, int32_t v);
void hd_unite(int32_t *parent, int32_t a, int32_t b);

#endif
