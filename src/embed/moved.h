/* A request whose rows were moved to other processes before the solve (matrix/arrange.h), so that
 * joined rows are on one process and near each other in memory. The eigenvectors are moved back:
 * the stage's callers see the rows that they gave.
 *
 * Without slabs, and if the engine cannot tell joined rows apart (it has no partition()), the
 * request stays as it is, and moving back does nothing. A problem that needs all rows in one
 * process and is small is gathered on process 0 and solved there, as without processes. */
#ifndef HUDDLE_SRC_EMBED_MOVED_H
#define HUDDLE_SRC_EMBED_MOVED_H

#include "embed/solver.h"
#include "matrix/arrange.h"

typedef struct hd_embed_moved {
    bool active;   /* rows were moved */
    bool gathered; /* all of them to process 0 */
    hd_arrangement rows;
    double *scale, *known;
    int32_t *component;
} hd_embed_moved;

/* Moves the rows of the problem's request, which becomes that of the moved rows; its arrays belong
 * to `moved`. The problem, which is about to be solved, has no operator yet. */
huddle_status hd_embed_move(huddle_context *context, const hd_embed_problem *problem,
                            hd_eigen_request *request, hd_embed_moved *moved);

/* Solves a request that was gathered, on process 0; the others get its values, and no
 * vectors. On success op has the shift and unit on all processes. */
huddle_status hd_embed_solve_gathered(huddle_context *context, const hd_eigen_request *request,
                                      int32_t n_extra, hd_embed_operator *op,
                                      hd_embed_pairs *pairs);

/* Replaces the vectors of the moved rows by those of the rows that were given. */
huddle_status hd_embed_move_back(const hd_embed_moved *moved, huddle_dense *vectors);

void hd_embed_moved_free(hd_embed_moved *moved);

/* A small graph whose rows are distributed over processes (gathered.c): as huddle_embed(), computed
 * by process 0, on which the graph is gathered, or as hd_embed_trial(). out and info are zeroed
 * before. */
huddle_status hd_embed_gathered(huddle_context *context, const huddle_csr *graph,
                                const huddle_embed_options *options, bool trial,
                                huddle_embedding *out, huddle_embed_info *info);

#endif
