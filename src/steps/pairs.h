/* Distances of single pairs of points. */
#ifndef HUDDLE_SRC_STEPS_PAIRS_H
#define HUDDLE_SRC_STEPS_PAIRS_H

#include "huddle/matrix.h"

/* Distance as the graph stage defines it, "euclidean" or "cosine", of rows a and b. Neighbours of a
 * point need not be neighbours of each other, so their distances are not in the lists. */
double hd_step_pair_distance(const huddle_points *x, const char *metric, int64_t a, int64_t b);

#endif
