/* Rows of some components of W, moved to the processes that solve them, and the answer moved back
 * (distributed.h). */
#ifndef HUDDLE_SRC_SHRINK_SUBSET_H
#define HUDDLE_SRC_SHRINK_SUBSET_H

#include "matrix/arrange.h"
#include "shrink/problem.h"

typedef struct hd_shrink_subset {
    const hd_shrink_input *from; /* the problem as it was given, its rows where they were */
    int64_t n;                   /* rows of the subset that this process had */
    int32_t *row;                /* n: which they are, ascending */
    huddle_csr graph;            /* n rows, columns numbered among the rows of the subset; */
    int32_t *edge;               /* for each entry its edge of from->edges: with keep_dual only */
    hd_arrangement moved;        /* moved.graph is the graph where it is solved */
    int64_t *origin;             /* moved.moved: the number of each row among all rows */
    huddle_dense f, start;       /* moved.moved rows */
    double *weights;             /* or NULL */
} hd_shrink_subset;

/* Takes the rows v with chosen[v], which must be whole components, and moves them and their rows of
 * F, weights and start to the processes owner[component[v]]. owner NULL: to those of
 * the engine's partition, in an order along the edges; otherwise they are in the order of their
 * numbers, and every process has whole components: moved.graph is then numbered from its own first
 * row. */
huddle_status hd_shrink_subset_open(const hd_shrink_input *from, const bool *chosen,
                                    const int32_t *component, const int32_t *owner,
                                    const huddle_shrink_options *options, hd_shrink_subset *subset);
void hd_shrink_subset_close(hd_shrink_subset *subset);

/* Frees F and start, which are not needed to return the answer. */
void hd_shrink_subset_drop_rows(hd_shrink_subset *subset);

/* Moves rows of G back into the rows of g that they belong to. */
huddle_status hd_shrink_subset_return(const hd_shrink_subset *subset, const huddle_dense *rows,
                                      huddle_dense *g);

/* Moves Z back: z of the moved edges, into the rows of the edges of the problem as it was given. */
huddle_status hd_shrink_subset_return_dual(const hd_shrink_subset *subset,
                                           const hd_shrink_edges *moved_edges,
                                           const huddle_dense *moved_z, huddle_dense *z);

#endif
