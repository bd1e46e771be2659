/* Which process solves which component of W, where rows are distributed over processes. */
#ifndef HUDDLE_SRC_SHRINK_ALLOT_H
#define HUDDLE_SRC_SHRINK_ALLOT_H

#include "shrink/problem.h"

/* What fits on one process. */
typedef struct hd_shrink_limits {
    double numbers; /* (n + edges) c: a problem below this is solved whole by the first process */
    double share;   /* components of more than share n / P rows, */
    int64_t rows;   /* and of more than so many, are solved by all processes together */
} hd_shrink_limits;

/* Those of huddle_shrink(): nothing but the share if the engine wants small problems to use all
 * processes too. Smaller ones serve the tests. */
hd_shrink_limits hd_shrink_engine_limits(const huddle_context *context);

/* The owner of a component that all processes solve together. */
enum { HD_SHRINK_TOGETHER = -1 };

typedef struct hd_shrink_allotment {
    double n, edges;    /* of all processes; edges of weight 0 are not counted */
    bool is_small;      /* below limits.numbers: one process has all */
    int32_t *component; /* of this process's rows */
    int32_t count;      /* components */
    int32_t *owner;     /* count: a process, or HD_SHRINK_TOGETHER */
} hd_shrink_allotment;

/* All processes compute the same owners. Components that lie on one process and are small against
 * the share of a process stay there; the others go, in the order of the work that they are expected
 * to be, to the process that has least, or, if they are next to none, fewest rows. */
huddle_status hd_shrink_allot(const hd_shrink_input *input, const hd_shrink_limits *limits,
                              hd_shrink_allotment *allotment);
void hd_shrink_allotment_free(hd_shrink_allotment *allotment);

#endif
