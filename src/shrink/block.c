#include "shrink/block.h"

#include "base/check.h"
#include "base/parallel.h"
#include "shrink/certificate.h"

#include <math.h>
#include <string.h>

/* ---- passes -------------------------------------------------------------------------------- */

/* A pass in progress. Sums are taken per chunk and added in the order of the chunks; since the
 * chunks depend on the number of items alone, results do not depend on the number of threads. */
typedef struct pass {
    hd_shrink_body body;
    const void *argument;
    int32_t width;
    double *partial;
    int64_t shared; /* items from here on count half */
} pass;

/* Runs the body on one chunk. A chunk that contains both kinds of edges is split, because those to
 * other processes count half: the other process adds the other half. Half is a power of two, so
 * that nothing is rounded. */
static huddle_status run_chunk(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    double *sums = p->partial + chunk.index * p->width;
    if (chunk.end <= p->shared) {
        p->body(p->argument, chunk.begin, chunk.end, sums);
        return HUDDLE_OK;
    }
    int64_t middle = chunk.begin > p->shared ? chunk.begin : p->shared;
    double half[HD_SHRINK_MAX_SUMS] = {0};
    p->body(p->argument, chunk.begin, middle, sums);
    p->body(p->argument, middle, chunk.end, half);
    for (int32_t k = 0; k < p->width; k++)
        sums[k] += .5 * half[k];
    return HUDDLE_OK;
}

/* Runs all chunks and adds their partial sums in order to `sums`. */
static huddle_status run_pass(hd_shrink_block *b, pass *p, int64_t count, double *sums) {
    huddle_status status = HUDDLE_OK;
    /* Chunks and their order depend on `count` alone, which fixes the order of all additions. */
    int64_t chunks = hd_chunks(count, HD_SHRINK_GRAIN);
    p->partial = b->partial;
    TRY(hd_parallel(b->context, NULL, count, HD_SHRINK_GRAIN, run_chunk, p));
    for (int32_t k = 0; k < p->width; k++) {
        double sum = 0;
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            sum += b->partial[chunk * p->width + k];
        sums[k] += sum;
    }
done:
    return status;
}

huddle_status hd_shrink_over_vertices(hd_shrink_block *b, hd_shrink_body body, const void *argument,
                                      int32_t width, double *sums) {
    pass p = {.body = body, .argument = argument, .width = width, .shared = INT64_MAX};
    return run_pass(b, &p, b->n, sums);
}

/* Edges to other processes lie between `ghost` and `anchor`. With several processes there are no
 * anchored edges, so all edges from `ghost` on count half. */
huddle_status hd_shrink_over_edges(hd_shrink_block *b, hd_shrink_body body, const void *argument,
                                   int32_t width, double *sums) {
    bool has_ghosts = b->range.ghost < b->range.anchor;
    pass p = {.body = body,
              .argument = argument,
              .width = width,
              .shared = has_ghosts ? b->range.ghost - b->range.e0 : INT64_MAX};
    return run_pass(b, &p, b->m, sums);
}

/* ---- objective ----------------------------------------------------------------------------- */

/* The first sum of (6), or its squared form. */
static void sum_losses(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_block *b = argument;
    const hd_shrink_problem *p = b->problem;
    double loss = 0;
    for (int64_t i = b->range.v0 + begin; i < b->range.v0 + end; i++) {
        const double *h = b->arrays->h + i * p->c;
        double square = hd_shrink_dot(h, h, p->c);
        loss += p->mass[i] * (p->squared ? square : sqrt(square));
    }
    sums[0] = loss;
}

/* The second sum of (6). */
static void sum_pulls(const void *argument, int64_t begin, int64_t end, double *sums) {
    const hd_shrink_block *b = argument;
    const hd_shrink_problem *p = b->problem;
    double cost = 0;
    for (int64_t e = b->range.e0 + begin; e < b->range.e0 + end; e++)
        cost += p->lambda[e] * sqrt(hd_shrink_edge_square(p, e, b->arrays->h));
    sums[0] = cost;
}

/* Best point and best bound are kept independently of each other: any G and any feasible Z certify
 * each other, so their gap is at most that of each iterate. A NaN objective is never the best. */
void hd_shrink_block_keep_best(hd_shrink_block *b) {
    int64_t first = hd_shrink_first(b);
    if (!(b->point.objective < b->point.primal))
        return;
    b->point.primal = b->point.objective;
    memcpy(b->arrays->best_h + first, b->arrays->h + first,
           (size_t)hd_shrink_size(b) * sizeof(double));
}

/* The objective from scratch. Solvers that know it from their own passes call
 * hd_shrink_block_keep_best() instead. */
huddle_status hd_shrink_block_evaluate(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    b->point.objective = 0;
    TRY(hd_shrink_fetch(b->problem, b->arrays->h));
    TRY(hd_shrink_over_vertices(b, sum_losses, b, 1, &b->point.objective));
    TRY(hd_shrink_over_edges(b, sum_pulls, b, 1, &b->point.objective));
    TRY(hd_reduce_sum(b->context, 1, &b->point.objective));
    hd_shrink_block_keep_best(b);
done:
    return status;
}

/* ---- the bound ----------------------------------------------------------------------------- */

/* The bound is evaluated in double here, to steer the iteration; the reported one is computed again
 * by the certificate in extended precision. A new best Z is kept by swapping pointers: z has m x c
 * entries and is written anew in each step. A worse one is discarded: bounds do not rise steadily
 * from step to step. */
huddle_status hd_shrink_block_bound(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_point *point = &b->point;
    int32_t v0 = b->range.v0;
    double sums[2] = {0}, scale;
    TRY(hd_shrink_over_edges(b, HD_SHRINK_BODY(hd_shrink_sum_inner), b, 1, &sums[0]));
    TRY(hd_shrink_over_vertices(b, HD_SHRINK_BODY(hd_shrink_sum_energy), b, 1, &sums[1]));
    TRY(hd_reduce_sum(b->context, 2, sums));
    if (b->problem->squared)
        point->bound = hd_shrink_dual_l2(sums[0], sums[1], &scale);
    else
        TRY(hd_shrink_dual_l21(b->context, sums[0], b->n, b->arrays->norm + v0,
                               b->problem->radius + v0, b->arrays->scratch + 2 * (int64_t)v0,
                               &scale, &point->bound));
    /* The best bound so far is at least 0, that of Z = 0. */
    if (point->bound > point->dual) {
        double *swap = point->best_z;
        point->dual = point->bound;
        point->scale = scale;
        point->best_z = point->z;
        point->z = swap;
    }
done:
    return status;
}

/* ---- arrays and blocks --------------------------------------------------------------------- */

/* The room that a block needs for partial sums. Each block has its own, because small blocks run
 * side by side. */
static int64_t count_partials(const hd_shrink_range *range) {
    int64_t edges = range->e1 - range->e0, vertices = range->v1 - range->v0;
    return HD_SHRINK_MAX_SUMS * hd_chunks(edges > vertices ? edges : vertices, HD_SHRINK_GRAIN);
}

/* h and z start at 0: G = F, and a Z that is feasible. Rows of fixed vertices and of ghosts are
 * included, so that passes over edges need no case distinction. */
huddle_status hd_shrink_arrays_new(const hd_shrink_problem *p, bool systems, hd_shrink_arrays *a) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = p->rows * p->c, edges = p->n_live * p->c, partials = 0;
    *a = (hd_shrink_arrays){0};
    for (int64_t b = 0; b < p->n_blocks; b++)
        partials += count_partials(&p->blocks[b]);
    ALLOC_ZERO(a->h, rows);
    ALLOC_ZERO(a->best_h, rows);
    ALLOC_ZERO(a->z, edges);
    ALLOC_ZERO(a->best_z, edges);
    ALLOC(a->norm, p->n_free);
    ALLOC(a->scratch, 2 * (int64_t)p->n_free);
    ALLOC(a->partial, partials);
    if (systems) {
        ALLOC(a->excess, p->n_free);
        ALLOC(a->edge_weight, p->n_live);
        ALLOC_ZERO(a->right, rows);
        ALLOC_ZERO(a->delta, rows);
    }
done:
    return status;
}

void hd_shrink_arrays_free(hd_shrink_arrays *a) {
    FREE(a->h, a->best_h, a->z, a->best_z, a->norm, a->scratch, a->partial, a->excess,
         a->edge_weight, a->right, a->delta);
    *a = (hd_shrink_arrays){0};
}

/* The only difference G - F of a solve: solvers update h by their steps from here on. */
huddle_status hd_shrink_arrays_start(const hd_shrink_problem *p, const huddle_dense *g,
                                     hd_shrink_arrays *a) {
    for (int64_t v = 0; v < p->n_free && g != NULL; v++)
        for (int64_t k = 0; k < p->c; k++)
            a->h[v * p->c + k] =
                g->values[p->vertex[v] * g->stride + k] / p->unit - p->f[v * p->c + k];
    return hd_shrink_fetch(p, a->h);
}

/* The matrix of a block contains the edges between free vertices only. Anchored edges, from
 * `anchor` on, add to its diagonal (excess), since their other end does not move. */
huddle_status hd_shrink_block_open_linear(hd_shrink_block *b) {
    const hd_shrink_problem *p = b->problem;
    hd_shrink_linear_graph graph = {.n = b->n,
                                    .m = b->range.anchor - b->range.e0,
                                    .c = p->c,
                                    .head = p->head + b->range.e0,
                                    .tail = p->tail + b->range.e0,
                                    .base = b->range.v0,
                                    .incident_at = p->incident_at + b->range.v0,
                                    .incident = p->incident,
                                    .first_edge = b->range.e0,
                                    .seed = b->seed,
                                    .halo = p->halo};
    if (b->linear.solver != NULL)
        return HUDDLE_OK;
    return hd_shrink_linear_open(b->context, b->linear_name, &graph, &b->linear);
}

/* Prepares a block: its slices of the arrays, the sums that scale its smoothing, and the objective
 * at the start. */
static huddle_status open_block(hd_shrink_block *b) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = b->problem;
    double sums[2] = {0};
    b->n = b->range.v1 - b->range.v0;
    b->m = b->range.e1 - b->range.e0;
    b->point.z = b->arrays->z + b->range.e0 * p->c;
    b->point.best_z = b->arrays->best_z + b->range.e0 * p->c;
    b->point.primal = b->progress.mark = INFINITY;
    for (int64_t v = b->range.v0; v < b->range.v1; v++)
        sums[0] += p->mass[v];
    for (int64_t e = b->range.e0; e < b->range.e1; e++)
        /* Edges to other processes count half here as well. Both sums set the scale of the
         * smoothing (irls.h). */
        sums[1] += e < b->range.ghost || e >= b->range.anchor ? p->lambda[e] : .5 * p->lambda[e];
    TRY(hd_reduce_sum(b->context, 2, sums));
    b->sum_mass = sums[0];
    b->sum_lambda = sums[1];
    TRY(hd_shrink_block_evaluate(b));
done:
    return status;
}

/* Opens all blocks. Each gets a part of the array of partial sums, and a seed that depends on its
 * index only. */
huddle_status hd_shrink_blocks_new(huddle_context *context, const hd_shrink_problem *p,
                                   const hd_shrink_arrays *arrays, const char *linear,
                                   uint64_t seed, hd_shrink_block **blocks) {
    huddle_status status = HUDDLE_OK;
    double *partial = arrays->partial;
    ALLOC_ZERO(*blocks, p->n_blocks);
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_shrink_block *b = &(*blocks)[k];
        b->context = context;
        b->problem = p;
        b->arrays = arrays;
        b->index = k;
        b->range = p->blocks[k];
        b->linear_name = linear;
        b->seed = seed + (uint64_t)k;
        b->partial = partial;
        partial += count_partials(&b->range);
        TRY(hd_check_cancel(context));
        TRY(open_block(b));
    }
done:
    if (status != HUDDLE_OK) {
        hd_shrink_blocks_free(*blocks, p->n_blocks);
        *blocks = NULL;
    }
    return status;
}

void hd_shrink_blocks_free(hd_shrink_block *blocks, int64_t count) {
    for (int64_t k = 0; blocks != NULL && k < count; k++)
        hd_shrink_linear_close(&blocks[k].linear);
    huddle_free(blocks);
}
