/* The division of points at a place of their order, by which the trees of this stage are built. */
#ifndef HUDDLE_SRC_GRAPH_SPLIT_H
#define HUDDLE_SRC_GRAPH_SPLIT_H

#include <stdint.h>

/* Moves the smaller points of begin .. end - 1 by (key, id) in front of middle. order contains
 * the ids. They make the order strict, so that the two sets are unique even if many keys are
 * equal. */
void hd_graph_split_at(double *keys, int32_t *order, int64_t begin, int64_t end, int64_t middle);

#endif
