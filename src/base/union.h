/* Union-find in an array of the caller's, initialised to parent[v] = v. A parent is never larger
 * than its children, so the root of a tree is its smallest member. */
#ifndef HUDDLE_SRC_UNION_H
#define HUDDLE_SRC_UNION_H

#include <stdint.h>

/* The smallest member of the set of v. */
int32_t hd_find_root(int32_t *parent, int32_t v);
/* Joins the sets of a and b. */
void hd_unite(int32_t *parent, int32_t a, int32_t b);

#endif
