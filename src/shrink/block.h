/* One block of the problem under way: the state that every solver moves, and the passes over its
 * vertices and edges from which the solvers are made.
 *
 * The state is h = G - F and x = BG, both carried along (h += a d, x += a B d) and never computed
 * from G again: that difference of nearly equal rows would put a floor of about 1e-6 under the
 * gap. All passes run in parallel and give the same bits for any number of threads. */
#ifndef HUDDLE_SRC_SHRINK_BLOCK_H
#define HUDDLE_SRC_SHRINK_BLOCK_H

#include "shrink/linear.h"
#include "shrink/problem.h"

enum { HD_PAIRS = 5 /* steps that Anderson acceleration looks back */ };

/* Arrays for the whole problem, cut into blocks. Rows of fixed vertices stay 0. */
typedef struct hd_arrays {
    double *h, *best_h, *delta, *step, *right; /* n x c */
    double *x, *z, *best_z;                    /* live x c */
    double *hh, *xx;                           /* ||h_i||^2, ||x_e||^2 */
    double *pull, *hold;                       /* lambda_e / r_e, m_i / rho_i */
    double *excess;                            /* free */
    double *norm;                              /* free: ||(B'Z)_i|| / m_i */
    double *scratch;                           /* 2 free */
    double *partial;                           /* sums of the chunks of every block */
    float *past;                               /* Anderson: (2 HD_PAIRS + 1) x free x c, or NULL */
    double *unit_x;                            /* Newton: z_e / lambda_e, live x c, or NULL */
    double *unit_h;                            /* Newton: n x c */
    double *conjugate;                         /* Newton: 4 x n x c */
    double *anchor_h;                          /* PDHG: start of the round, n x c */
    double *anchor_z;                          /* live x c */
} hd_arrays;

typedef struct hd_block {
    huddle_context *context;
    const hd_problem *problem;
    const hd_arrays *arrays;
    hd_range range;
    int32_t n; /* vertices of the block */
    int64_t m; /* edges */
    hd_linear_system linear;
    double *z, *best_z; /* m x c: the block's rows; they change places */
    double *partial;
    double tau; /* the smoothing: eps_h = tau P / sum m_i, eps_d = tau P / sum lambda */
    double eps_h, eps_d;
    double sum_mass, sum_lambda;
    double primal, dual; /* the best of each so far */
    double now;          /* the objective at the present point */
    double smooth;       /* the smoothed objective at the present point */
    double scale;        /* of best_z in its bound */
    double dual_now;     /* the bound of the present z */
    double target;       /* the gap (absolute) at which the block may rest */
    int32_t waiting;     /* steps since tau changed */
    int32_t pairs, next; /* Anderson: pairs held, and where the next one goes */
    int64_t n_solves;
    bool newton;                          /* in the Newton tail */
    bool wants_newton;                    /* would begin the tail if its arrays were there */
    bool spent;                           /* the Newton tail was tried and stopped helping */
    double mark;                          /* the gap when it last fell by a hundredth */
    int32_t since;                        /* steps since then */
    bool resting;                         /* its gap is small enough, for now */
    bool exact;                           /* a closed form gave the answer */
    bool collapsed;                       /* namely that all its rows are one point */
    bool stalled;                         /* no progress is possible in this arithmetic */
    int32_t batch;                        /* PDHG: iterations of a step */
    bool begun;                           /* PDHG */
    int64_t round, iterations;            /* of the round, of all */
    double balance;                       /* dual steps over primal steps */
    double first_residual, last_residual; /* of the round */
} hd_block;

/* A step of a solver: at most one new point, one new bound. */
typedef huddle_status (*hd_step)(hd_block *block);

/* What a solver needs beyond the arrays that all use. */
enum { HD_NEEDS_PAST = 1, HD_NEEDS_ROUNDS = 2 };

huddle_status hd_arrays_new(const hd_problem *problem, int needs, hd_arrays *arrays);

/* Adds the arrays of the Newton tail, unless they are there. */
huddle_status hd_arrays_add_newton(const hd_problem *problem, hd_arrays *arrays);
void hd_arrays_free(hd_arrays *arrays);

/* h, x, hh and xx of a G, given in the caller's order, or of F if start is NULL. */
void hd_arrays_start(const hd_problem *problem, const huddle_dense *start, hd_arrays *arrays);

/* All blocks of the problem at their start. linear: the name of a linear solver, or NULL. */
huddle_status hd_blocks_new(huddle_context *context, const hd_problem *problem,
                            const hd_arrays *arrays, const char *linear, uint64_t seed,
                            hd_block **blocks);
void hd_blocks_free(hd_block *blocks, int64_t count);

/* eps from tau and the best objective (0 if there is none yet); pull and hold; now and smooth from
 * hh and xx. Copies h if it is the best so far. */
huddle_status hd_block_weigh(hd_block *block);

/* right = - gradient of the smoothed objective, excess = hold and the pull of anchored edges. */
huddle_status hd_block_gradient(hd_block *block);

/* delta = the reweighted step: factors and solves M delta = right. */
huddle_status hd_block_solve(hd_block *block);

/* z_e = pull (x + B delta)_e, clipped to its ball, and the bound it proves. */
huddle_status hd_block_bound(hd_block *block);

/* The bound that the present z proves, kept in dual_now; z becomes best_z if no bound was better.
 * Uses step as scratch. */
huddle_status hd_block_prove(hd_block *block);

/* Moves by `step` (h += step, x += B step, hh and xx follow). smooth[0] gets the smoothed
 * objective there and smooth[1] what it would be at h + factor * delta. */
huddle_status hd_block_move(hd_block *block, double factor, double smooth[2]);

/* Adds up entry `which` of the `width` that each chunk of a pass over `count` items left. */
double hd_block_sum(const hd_block *block, int64_t count, int64_t width, int64_t which);

/* Shrinks tau if the gap has followed; true if tau changed. */
bool hd_block_tighten(hd_block *block);

/* Chunk of a pass. */
enum { HD_GRAIN = 2048, HD_PARTS = 32 };

#endif
