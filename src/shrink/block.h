/* Blocks: the parts of the problem that are solved on their own, the best point and bound of each,
 * and the passes over vertices and edges from which the solvers are made.
 *
 * Three structs keep apart what belongs to whom: hd_shrink_arrays are the arrays that all solvers
 * share, for the whole problem; hd_shrink_block is one block with its iterate (point) and how far
 * it has come (progress); everything else is a solver's own (solver.h).
 *
 * The iterate is h = G - F, which solvers carry along (h += step) and never compute from G again:
 * the difference of nearly equal rows would limit the gap to about 1e-6. All passes run in parallel
 * and give the same bits for any number of threads. */
#ifndef HUDDLE_SRC_SHRINK_BLOCK_H
#define HUDDLE_SRC_SHRINK_BLOCK_H

#include "base/cpu.h"
#include "shrink/linear.h"
#include "shrink/problem.h"

/* Items per chunk of a pass, and the largest number of sums that a chunk can have. */
enum { HD_SHRINK_GRAIN = 2048, HD_SHRINK_MAX_SUMS = 32 };

/* Arrays that all solvers share. Rows of fixed vertices stay 0. */
typedef struct hd_shrink_arrays {
    double *h, *best_h; /* rows x c: the present point, and that of the best objective */
    double *z, *best_z; /* live x c: the present dual point, and that of the best bound */
    double *norm;       /* free: ||(B'Z)_i|| / m_i */
    double *scratch;    /* 2 free: for the bound */
    double *partial;    /* sums of the chunks of every block */
    /* Linear systems M delta = right, where the solver has any; else NULL. */
    double *excess;        /* free: diagonal of M beyond the edges */
    double *edge_weight;   /* live */
    double *right, *delta; /* rows x c */
} hd_shrink_arrays;

/* The iterate of a block and what is known of it. */
typedef struct hd_shrink_point {
    double *z, *best_z;  /* m x c: the block's rows of the arrays; they are swapped */
    double primal, dual; /* best objective and best bound so far */
    double scale;        /* of best_z in its bound */
    double objective;    /* at the present h */
    double bound;        /* that the present z proves */
} hd_shrink_point;

/* How far a block has come; kept by the loop over all blocks (solve.h). */
typedef struct hd_shrink_progress {
    double target;     /* gap (absolute) at which the block may stop */
    double mark;       /* the gap when it last fell by a hundredth */
    int32_t since;     /* steps since then */
    int32_t batch;     /* iterations that the next step may take */
    bool is_done;      /* no step is needed for now */
    bool is_exact;     /* a closed form gave the answer */
    bool is_collapsed; /* all its rows are one point, by a closed form */
} hd_shrink_progress;

typedef struct hd_shrink_block {
    huddle_context *context;
    const hd_shrink_problem *problem;
    const hd_shrink_arrays *arrays;
    int64_t index; /* in problem->blocks */
    hd_shrink_range range;
    int32_t n;                   /* free vertices */
    int64_t m;                   /* edges */
    double sum_mass, sum_lambda; /* over all processes */
    double *partial;             /* the block's part of arrays->partial */
    const char *linear_name;     /* of the solver of its systems, or NULL: it has none */
    uint64_t seed;
    hd_shrink_linear_system linear; /* opened when the first system is to be solved */
    int64_t n_solves;
    hd_shrink_point point;
    hd_shrink_progress progress;
} hd_shrink_block;

/* systems: with the arrays of linear systems. */
huddle_status hd_shrink_arrays_new(const hd_shrink_problem *problem, bool systems,
                                   hd_shrink_arrays *arrays);
void hd_shrink_arrays_free(hd_shrink_arrays *arrays);

/* Sets h to that of a G in the caller's order, or of F if g is NULL. */
huddle_status hd_shrink_arrays_start(const hd_shrink_problem *problem, const huddle_dense *g,
                                     hd_shrink_arrays *arrays);

/* All blocks of the problem with the objective at h. linear: the name of a linear solver, which
 * must outlive the blocks, or NULL. */
huddle_status hd_shrink_blocks_new(huddle_context *context, const hd_shrink_problem *problem,
                                   const hd_shrink_arrays *arrays, const char *linear,
                                   uint64_t seed, hd_shrink_block **blocks);
void hd_shrink_blocks_free(hd_shrink_block *blocks, int64_t count);

/* Analyses the matrix of a block, unless that has been done. Not part of hd_shrink_blocks_new(),
 * because most closed forms need no matrix, and the analysis would take longer than they do. */
huddle_status hd_shrink_block_open_linear(hd_shrink_block *block);

/* The part of a pass: items begin .. end - 1, counted from the block's first vertex or edge. Sets
 * its sums, `width` of them. */
typedef void (*hd_shrink_body)(const void *argument, int64_t begin, int64_t end, double *sums);

/* A body that is compiled for each instruction set (*.simd.c), and the one for this CPU. */
#define HD_SHRINK_PASS(name)                                                                       \
    HD_SIMD_DECLARE(void, name, const void *argument, int64_t begin, int64_t end, double *sums)
#define HD_SHRINK_BODY(name) (((const hd_shrink_body[])HD_SIMD_TABLE(name))[hd_cpu_isa()])

/* Those of the bound; the argument is the block. */
HD_SHRINK_PASS(hd_shrink_sum_inner);
HD_SHRINK_PASS(hd_shrink_sum_energy);

/* Passes over all vertices or edges of the block. What the parts leave is added in the order of the
 * chunks, and that to sums[0 .. width - 1]; edges that another process counts as well count half.
 * The sums of one process: hd_reduce_sum() makes them those of all. */
huddle_status hd_shrink_over_vertices(hd_shrink_block *block, hd_shrink_body body,
                                      const void *argument, int32_t width, double *sums);
huddle_status hd_shrink_over_edges(hd_shrink_block *block, hd_shrink_body body,
                                   const void *argument, int32_t width, double *sums);

/* Computes the objective at h and keeps h if it is the best. Fetches the ghost rows of h. */
huddle_status hd_shrink_block_evaluate(hd_shrink_block *block);

/* Keeps h as best_h if point.objective is the best so far. */
void hd_shrink_block_keep_best(hd_shrink_block *block);

/* Computes the bound that the present z proves; z becomes best_z if no bound was better. z must
 * lie in its balls, ||z_e|| <= lambda_e. */
huddle_status hd_shrink_block_bound(hd_shrink_block *block);

/* ends.c: the two ends of gamma (docs/method.md, "The two ends of gamma"), as closed forms. */

/* If G = F is the solution of the block ("l21"), sets is_exact; best_h and best_z are then the
 * solution and its proof. */
huddle_status hd_shrink_try_fit(hd_shrink_block *block);

/* If one point is the solution of the block, sets is_exact and is_collapsed; best_h and best_z are
 * then the solution and its proof. Otherwise the point and the bound are kept if they are better
 * than what the block has. Does nothing for a block with anchored edges, without a linear system,
 * or whose rows are distributed over processes: such a block need not be connected. */
huddle_status hd_shrink_try_collapse(hd_shrink_block *block);

/* The geometric median of n rows of c with weights mass: the point of least total distance. */
huddle_status hd_shrink_median(int64_t n, int64_t c, const double *rows, const double *mass,
                               double *median);

static inline double hd_shrink_block_gap(const hd_shrink_block *block) {
    return block->point.primal - block->point.dual;
}

/* Where the block's rows begin in an array of c numbers per vertex, and how many there are. */
static inline int64_t hd_shrink_first(const hd_shrink_block *block) {
    return block->range.v0 * block->problem->c;
}

static inline int64_t hd_shrink_size(const hd_shrink_block *block) {
    return block->n * block->problem->c;
}

/* The squared length of an edge at g = f + h. The difference of two rows of g is taken as that of f
 * plus that of h: h can be tiny beside f, and f + h would round it away. */
static inline double hd_shrink_edge_square(const hd_shrink_problem *p, int64_t e, const double *h) {
    int64_t i = p->head[e] * p->c, j = p->tail[e] * p->c;
    double square = 0;
    for (int64_t k = 0; k < p->c; k++) {
        double x = (p->f[i + k] - p->f[j + k]) + (h[i + k] - h[j + k]);
        square += x * x;
    }
    return square;
}

static inline double hd_shrink_dot(const double *a, const double *b, int64_t c) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < c; k++)
        sum += a[k] * b[k];
    return sum;
}

#endif
