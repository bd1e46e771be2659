/* What the trees of this stage are built with: orders, and the division of points at a place of
 * theirs. */
#ifndef HUDDLE_SRC_GRAPH_SPLIT_H
#define HUDDLE_SRC_GRAPH_SPLIT_H

#include <stdint.h>

/* Moves the smaller points of begin .. end - 1 by (key, id) in front of middle. order contains
 * the ids. They make the order strict, so that the two sets are unique even if many keys are
 * equal. */
void hd_graph_split_at(double *keys, int32_t *order, int64_t begin, int64_t end, int64_t middle);

/* <a, b> by four sums in a fixed order, which let the compiler use vector registers. */
double hd_graph_dot(const double *a, const double *b, int64_t d);

/* For qsort(): ascending doubles, and ascending int32_t. */
int hd_graph_by_value(const void *a, const void *b);
int hd_graph_by_number(const void *a, const void *b);

#endif
