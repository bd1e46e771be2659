/* How much memory the shrink stage needs, before it runs. */
#ifndef HUDDLE_SRC_SHRINK_PREDICT_H
#define HUDDLE_SRC_SHRINK_PREDICT_H

#include "huddle/shrink.h"

/* The size of a problem. Before the graph of the rows is there, edges is about 3.5 n for five
 * neighbours, and nothing is known of components: largest_n = n and largest_edges = edges give the
 * most that can happen; those of A are a good guess, because rows of F that are near each other are
 * nearly always in one component of A. */
typedef struct hd_shrink_extent {
    int64_t n, edges, c;
    int64_t largest_n, largest_edges; /* of the largest component of W */
    int32_t threads;                  /* components are solved side by side */
} hd_shrink_extent;

/* The most bytes that huddle_shrink() allocates at a time, beyond F and W themselves, for the
 * linear solver that the options name; "auto" counts the larger of a factor that "auto" may use and
 * the approximate solver. The directions that a component keeps are not known before, so all
 * columns are counted: the actual peak of an embedding is often a few times smaller. */
double hd_shrink_predict_memory(const hd_shrink_extent *size, const huddle_shrink_options *options);

#endif
