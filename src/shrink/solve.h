/* A solve under way: the loop over the blocks of the problem, or the calls of an engine that solves
 * it whole, and the answer in the caller's numbers. */
#ifndef HUDDLE_SRC_SHRINK_SOLVE_H
#define HUDDLE_SRC_SHRINK_SOLVE_H

#include "shrink/solver.h"

/* More than 20 fields: what is asked for, the state of the solver or the engine, and the answer
 * of one solve, which its steps read and write in turn. */
typedef struct hd_shrink_solve {
    hd_shrink_input input;
    huddle_shrink_options options;
    const hd_shrink_solver *solver; /* NULL: the engine solves */
    void *state;                    /* of the solver; NULL if no block needs it */
    hd_shrink_problem problem;
    hd_shrink_arrays arrays;
    hd_shrink_block *blocks;
    int64_t *small, n_small; /* blocks that are solved side by side */
    huddle_dense engine_g, engine_z;
    int64_t n_rows;      /* over all processes */
    double started;      /* seconds */
    double target_gap;   /* relative gap to reach: tighter than asked for if snapping needs it */
    double primal, dual; /* of the whole problem */
    double outside;      /* of a component (split.h): share of the bound of others, or 0 */
    bool is_draft;       /* of a component: only shows which rows move */
    bool is_trivial;     /* the rows are equal but for rounding: a gap means nothing */
    int32_t max_iter;
    huddle_shrink_info *info;
    int64_t history_room; /* of info's arrays */
} hd_shrink_solve;

/* Prepares the problem and its blocks, closed forms tried; with an engine also its first result.
 * input and options are set. */
huddle_status hd_shrink_solve_open(hd_shrink_solve *solve);
void hd_shrink_solve_close(hd_shrink_solve *solve);

/* Continues until the wanted gap is reached, or nothing can be improved, or max_iter. */
huddle_status hd_shrink_solve_iterate(hd_shrink_solve *solve);

/* G, Z, groups and the certificate of the best point so far, into out and info. */
huddle_status hd_shrink_solve_answer(hd_shrink_solve *solve, huddle_shrunk *out);

/* is_trivial, and what is left of info: why the solve ended, solver names, counts. */
huddle_status hd_shrink_solve_report(hd_shrink_solve *solve, const huddle_shrunk *out);

/* The problem of a part: its rows, graph (without edges), weights and start (empty: none). */
hd_shrink_solve hd_shrink_solve_of(const hd_shrink_solve *whole, const huddle_dense *f,
                                   const huddle_csr *w, const double *weights,
                                   const huddle_dense *start, huddle_shrink_info *info);

/* Best objective and bound, and seconds, after step k of a solve or after its last one. */
void hd_shrink_read_history(const huddle_shrink_info *info, int32_t k, double at[3]);

/* Appends primal and dual of the solve, in the caller's units, and the time to the history. */
huddle_status hd_shrink_record_history(hd_shrink_solve *solve);

/* Counts of a part, added to those of the whole; and what follows from the sums of all parts. */
void hd_shrink_add_counts(huddle_shrink_info *info, const huddle_shrink_info *part);
void hd_shrink_report_sum(hd_shrink_solve *solve, const huddle_shrunk *out, int32_t n_components);

/* Whether the context's engine has a solver of its own, and the caller names none. */
bool hd_shrink_asks_engine(const hd_shrink_solve *solve);

/* groups.c: which rows have fused, by the caller's numbers. An edge is fused when its dual is
 * slack, ||z_e|| < .99 lambda_e, and closing what is left of it at best_h would cost at most
 * `negligible`: before the solve has converged the two can disagree. An idle edge is fused when it
 * joins equal rows. */
huddle_status hd_shrink_find_groups(huddle_context *context, const hd_shrink_problem *problem,
                                    const hd_shrink_block *blocks, const hd_shrink_arrays *arrays,
                                    double negligible, int32_t *group, int32_t *n_groups);

/* Moves each group of g to its mean, weighted by the rows' weights, or to its fixed row if it has
 * one. Groups with two different fixed rows stay as they are. */
huddle_status hd_shrink_snap(const hd_shrink_input *input, const hd_shrink_problem *problem,
                             const int32_t *group, int32_t n_groups, huddle_dense *g);

/* engine_calls.c: asks the context's engine. HUDDLE_UNSUPPORTED if there is none for this, no
 * iteration is left, or it declines, which the log then has. */
huddle_status hd_shrink_call_engine(hd_shrink_solve *solve, const huddle_dense *start,
                                    huddle_dense *g, huddle_dense *z);

/* Puts a primal and a dual point, in the caller's numbers, into the blocks. */
huddle_status hd_shrink_load_point(hd_shrink_solve *solve, const huddle_dense *g,
                                   const huddle_dense *z);

#endif
