/* Conjugate gradients preconditioned by a randomised approximate Cholesky factor.
 *
 * The matrix is the Laplacian of the graph with one more vertex, the ground, connected to each
 * vertex by an edge whose weight is its excess. Eliminating a vertex v of total weight d exactly
 * adds a clique on its neighbours, with the weight w_a w_b / d between a and b. Instead, each
 * neighbour but the heaviest gets one random edge to a heavier one, drawn and weighted so that the
 * expectation of the result is the clique (Kyng and Sachdeva 2016, in the form of approxChol in
 * Laplacians.jl). So the number of edges never grows; vertices with the fewest edges are eliminated
 * first. The number of iterations hardly depends on n.
 *
 * The factor is that of the rows of this process. The sums of conjugate gradients are over all
 * processes, so that several of them, with no edges between them, perform the same iterations. */
#include "shrink/linear.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/slabs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 2048,          /* rows per chunk */
    MAX_ITERATIONS = 1000, /* a certificate does not depend on the solve, so this is no error */
    FEW_ROWS = 4096,       /* below, all columns are preconditioned by one thread */
    MIN_COLUMNS = 4,       /* per thread: fewer do not pay for reading the factor once more */
    MAX_KEYS = 1024, /* vertices with more edges than that are queued as if they had that many */
};

/* Half of an edge, in the singly linked list of one end. A weight of 0 marks a half that is no
 * longer there: removing it from the list would need a second link. */
typedef struct half {
    int32_t to;
    int32_t next; /* in the same list, or -1 */
    double weight;
} half; /* the other half of k is k ^ 1 */

/* A bucket queue of vertices by their number of edges (with multiplicity): one doubly linked list
 * per number, so that every operation takes constant time. */
typedef struct queue {
    int32_t *first, *next, *previous, *key;
    int32_t lowest;
} queue;

typedef struct neighbour {
    double weight;
    int32_t to;   /* n: the ground */
    int32_t half; /* -1 for the ground */
} neighbour;

/* More than 20 fields: the graph under elimination, the factor, and the vectors of the conjugate
 * gradients, all of one solver. */
typedef struct approximate {
    huddle_context *context;
    hd_shrink_linear_graph graph;
    const double *weight; /* of the matrix at hand; the caller's, valid between factor and solve */
    double *excess;       /* n: as given */
    double *ground;       /* n: as elimination proceeds */
    half *halves;         /* 2 m */
    int32_t *list;        /* n: first half of each vertex */
    queue queue;
    neighbour *around; /* n + 1: of the vertex being eliminated */
    int64_t *start;    /* n + 1: columns of L in the order of elimination */
    int32_t *row;      /* places of rows in that order */
    double *value;
    int64_t row_room, value_room;
    double *pivot;                                 /* n */
    int32_t *order;                                /* n: vertex at each place */
    int32_t *place;                                /* n */
    double *residual, *direction, *image, *solved; /* n x c */
    double *x;                                     /* n x c: the caller's */
    double *work;                                  /* n x c: in the order of elimination */
    double *partial;                               /* chunks x (c + 1) */
    double *alpha, *product, *sums;                /* c */
} approximate;

static void approximate_free(void *state) {
    approximate *a = state;
    FREE(a->excess, a->ground, a->halves, a->list, a->queue.first, a->queue.next, a->queue.previous,
         a->queue.key, a->around, a->start, a->row, a->value, a->pivot, a->order, a->place,
         a->residual, a->direction, a->image, a->solved, a->work, a->partial, a->alpha, a->product,
         a->sums, a);
}

static huddle_status approximate_analyse(huddle_context *context,
                                         const hd_shrink_linear_graph *graph, void **state) {
    huddle_status status = HUDDLE_OK;
    approximate *a = NULL;
    int64_t n = graph->n, m = graph->m, c = graph->c;
    ALLOC_ZERO(a, 1);
    *state = a;
    a->context = context;
    a->graph = *graph;
    ALLOC(a->excess, n);
    ALLOC(a->ground, n);
    ALLOC(a->halves, 2 * m);
    ALLOC(a->list, n);
    ALLOC(a->queue.first, MAX_KEYS + 1);
    ALLOC(a->queue.next, n);
    ALLOC(a->queue.previous, n);
    ALLOC(a->queue.key, n);
    ALLOC(a->around, n + 1);
    ALLOC(a->start, n + 1);
    ALLOC(a->pivot, n);
    ALLOC(a->order, n);
    ALLOC(a->place, n);
    ALLOC(a->residual, n * c);
    ALLOC(a->direction, n * c);
    ALLOC(a->image, n * c);
    ALLOC(a->solved, n * c);
    ALLOC(a->work, n * c);
    ALLOC(a->partial, hd_chunks(n, GRAIN) * (c + 1));
    ALLOC(a->alpha, c);
    ALLOC(a->product, c);
    ALLOC(a->sums, c);
done:
    return status;
}

/* ---- vertices by their number of edges ----------------------------------------------------- */

/* Vertices with very many edges share the last bucket: their order matters little. */
static int32_t bucket_of(int32_t key) {
    return key < MAX_KEYS ? key : MAX_KEYS;
}

/* Lowering `lowest` here and raising it in queue_pop() costs constant time on average: a key
 * changes by one at a time. */
static void queue_insert(queue *q, int32_t v) {
    int32_t k = bucket_of(q->key[v]), first = q->first[k];
    q->next[v] = first;
    q->previous[v] = -1;
    if (first >= 0)
        q->previous[first] = v;
    q->first[k] = v;
    if (k < q->lowest)
        q->lowest = k;
}

static void queue_take(queue *q, int32_t v) {
    int32_t next = q->next[v], previous = q->previous[v];
    if (next >= 0)
        q->previous[next] = previous;
    if (previous >= 0)
        q->next[previous] = next;
    else
        q->first[bucket_of(q->key[v])] = next;
}

static void queue_change(queue *q, int32_t v, int32_t by) {
    queue_take(q, v);
    q->key[v] += by;
    queue_insert(q, v);
}

static int32_t queue_pop(queue *q) {
    while (q->first[q->lowest] < 0)
        q->lowest++;
    int32_t v = q->first[q->lowest];
    queue_take(q, v);
    return v;
}

/* ---- elimination --------------------------------------------------------------------------- */

/* Builds the lists of the whole graph with the new weights. The two halves of edge e are 2 e and 2
 * e + 1; elimination reuses them for the edges that it adds. */
static void set_graph(approximate *a, const double *excess, const double *weight) {
    const hd_shrink_linear_graph *g = &a->graph;
    a->weight = weight;
    memcpy(a->excess, excess, (size_t)g->n * sizeof *excess);
    memcpy(a->ground, excess, (size_t)g->n * sizeof *excess);
    memset(a->list, -1, (size_t)g->n * sizeof *a->list);
    memset(a->queue.key, 0, (size_t)g->n * sizeof *a->queue.key);
    memset(a->queue.first, -1, (MAX_KEYS + 1) * sizeof *a->queue.first);
    a->queue.lowest = MAX_KEYS;
    for (int64_t e = 0; e < g->m; e++) {
        int32_t i = g->head[e] - g->base, j = g->tail[e] - g->base, k = (int32_t)(2 * e);
        a->halves[k] = (half){j, a->list[i], weight[e]};
        a->list[i] = k;
        a->halves[k + 1] = (half){i, a->list[j], weight[e]};
        a->list[j] = k + 1;
        a->queue.key[i]++;
        a->queue.key[j]++;
    }
    /* From the last to the first, so that each list begins with its smallest number. */
    for (int32_t v = g->n; v-- > 0;)
        queue_insert(&a->queue, v);
}

/* Both orders are total, so that qsort(), which is not stable, has one possible result. */
static int by_vertex(const void *x, const void *y) {
    const neighbour *a = x, *b = y;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->half > b->half) - (a->half < b->half);
}

static int by_weight(const void *x, const void *y) {
    const neighbour *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Collects the neighbours of v in `around`, parallel edges merged, the ground among them, by
 * ascending weight. Parallel edges arise from sampling. Of a merged pair, the half at the
 * neighbour's end is marked as gone; the first one is left to be reused by join_neighbours() or
 * removed by eliminate_vertex(), and its weight is not read again before. */
static int32_t gather_neighbours(approximate *a, int32_t v) {
    int32_t count = 0, kept = 0;
    for (int32_t k = a->list[v]; k >= 0; k = a->halves[k].next)
        if (a->halves[k].weight > 0)
            a->around[count++] = (neighbour){a->halves[k].weight, a->halves[k].to, k};
    qsort(a->around, (size_t)count, sizeof *a->around, by_vertex);
    for (int32_t k = 0; k < count; k++) {
        if (kept > 0 && a->around[kept - 1].to == a->around[k].to) {
            a->around[kept - 1].weight += a->around[k].weight;
            a->halves[a->around[k].half ^ 1].weight = 0;
            queue_change(&a->queue, a->around[k].to, -1);
        } else {
            a->around[kept++] = a->around[k];
        }
    }
    if (a->ground[v] > 0)
        a->around[kept++] = (neighbour){a->ground[v], a->graph.n, -1};
    qsort(a->around, (size_t)kept, sizeof *a->around, by_weight);
    return kept;
}

/* Adds the sampled edge between the neighbours u and t, in the two halves of u's edge to the
 * eliminated vertex: the half in u's list now leads to t, and the half of the eliminated vertex
 * moves to t's list. u keeps its number of edges and t gains one. An edge to the ground needs no
 * halves, only a number. */
static void join_neighbours(approximate *a, const neighbour *u, const neighbour *t, double weight) {
    int32_t n = a->graph.n;
    if (u->to == n) {
        a->ground[t->to] += weight;
        return;
    }
    half *back = &a->halves[u->half ^ 1], *mine = &a->halves[u->half];
    if (t->to == n) {
        a->ground[u->to] += weight;
        back->weight = 0;
        queue_change(&a->queue, u->to, -1);
        return;
    }
    back->to = t->to;
    back->weight = weight;
    *mine = (half){u->to, a->list[t->to], weight};
    a->list[t->to] = u->half;
    queue_change(&a->queue, t->to, 1);
}

/* Draws a neighbour after `k` with probability weight / left, where `left` is the sum of the
 * weights after k. The last one absorbs what rounding leaves over. */
static int32_t draw_neighbour(const neighbour *around, int32_t count, int32_t k, double left,
                              hd_rng *rng) {
    double mark = hd_rng_uniform(rng) * left;
    for (int32_t t = k + 1; t < count - 1; t++) {
        mark -= around[t].weight;
        if (mark < 0)
            return t;
    }
    return count - 1;
}

/* Eliminates v as number `step`: stores its column of L, and samples one edge for each neighbour k
 * but the heaviest. The partner t is drawn from the heavier neighbours with probability w_t / left,
 * and the edge gets the weight w_k left / total, so that its expected weight is w_k w_t / total:
 * the entry of the exact Schur complement.
 *
 * `left` is obtained by subtraction; it is kept from falling below the heaviest weight, which it
 * still contains. Each vertex has a random stream of its own, so that a factor depends on the seed
 * and the matrix only. */
static huddle_status eliminate_vertex(approximate *a, int32_t v, int32_t step) {
    int32_t count = gather_neighbours(a, v);
    neighbour *around = a->around;
    int64_t at = a->start[step];
    hd_rng rng = hd_rng_stream(a->graph.seed, (uint64_t)v);
    double total = 0;
    if (!hd_grow(&a->row, &a->row_room, at + count, sizeof *a->row) ||
        !hd_grow(&a->value, &a->value_room, at + count, sizeof *a->value))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a factor of %lld entries",
                       (long long)at + count);
    for (int32_t k = 0; k < count; k++)
        total += around[k].weight;
    a->pivot[step] = total;
    for (int32_t k = 0; k < count; k++)
        if (around[k].to < a->graph.n) {
            a->row[at] = around[k].to;
            a->value[at++] = around[k].weight / total;
        }
    a->start[step + 1] = at;
    double left = total;
    for (int32_t k = 0; k + 1 < count; k++) {
        left = fmax(left - around[k].weight, around[count - 1].weight);
        int32_t t = draw_neighbour(around, count, k, left, &rng);
        join_neighbours(a, &around[k], &around[t], around[k].weight * left / total);
    }
    if (count > 0 && around[count - 1].to < a->graph.n) {
        a->halves[around[count - 1].half ^ 1].weight = 0;
        queue_change(&a->queue, around[count - 1].to, -1);
    }
    return HUDDLE_OK;
}

/* Eliminates all vertices, then renumbers the rows of L by their place in the elimination, which is
 * not known before. */
static huddle_status approximate_factor(void *state, const double *excess, const double *weight) {
    huddle_status status = HUDDLE_OK;
    approximate *a = state;
    int32_t n = a->graph.n;
    set_graph(a, excess, weight);
    a->start[0] = 0;
    for (int32_t step = 0; step < n; step++) {
        if ((step & 0xffff) == 0)
            TRY(hd_check_cancel(a->context));
        int32_t v = queue_pop(&a->queue);
        a->order[step] = v;
        a->place[v] = step;
        TRY(eliminate_vertex(a, v, step));
    }
    for (int64_t at = 0; at < a->start[n]; at++)
        a->row[at] = a->place[a->row[at]];
done:
    return status;
}

/* ---- conjugate gradients ------------------------------------------------------------------- */

/* Columns chunk.begin .. chunk.end - 1 of solved = (L D L')^-1 residual: substitution forwards,
 * division by the pivots and substitution backwards in the order of elimination. Entries of L are
 * stored without their sign. Substitution is sequential in the rows, so threads share the
 * columns. */
static huddle_status solve_columns(void *argument, hd_chunk chunk) {
    approximate *a = argument;
    int64_t c = a->graph.c, first = chunk.begin, count = chunk.end - chunk.begin;
    int32_t n = a->graph.n;
    double *work = a->work;
    for (int32_t s = 0; s < n; s++)
        memcpy(work + s * c + first, a->residual + a->order[s] * c + first,
               (size_t)count * sizeof *work);
    for (int32_t s = 0; s < n; s++) {
        const double *restrict from = work + s * c + first;
        for (int64_t at = a->start[s]; at < a->start[s + 1]; at++) {
            double *restrict to = work + a->row[at] * c + first;
            for (int64_t k = 0; k < count; k++)
                to[k] += a->value[at] * from[k];
        }
    }
    for (int32_t s = n; s-- > 0;) {
        double *restrict to = work + s * c + first, pivot = 1 / a->pivot[s];
        for (int64_t k = 0; k < count; k++)
            to[k] *= pivot;
        for (int64_t at = a->start[s]; at < a->start[s + 1]; at++) {
            const double *restrict from = work + a->row[at] * c + first;
            for (int64_t k = 0; k < count; k++)
                to[k] += a->value[at] * from[k];
        }
        memcpy(a->solved + a->order[s] * c + first, to, (size_t)count * sizeof *to);
    }
    return HUDDLE_OK;
}

/* image = M direction, as sum_e w_e (p_i - p_j): differences lose fewer digits than a diagonal with
 * off-diagonal entries would. Also the products of both, column by column. Edges beyond m are
 * anchored, and part of the excess. */
static huddle_status apply_matrix(void *argument, hd_chunk chunk) {
    approximate *a = argument;
    const hd_shrink_linear_graph *g = &a->graph;
    int64_t c = g->c;
    double *sums = a->partial + chunk.index * (c + 1);
    memset(sums, 0, (size_t)(c + 1) * sizeof *sums);
    for (int64_t v = chunk.begin; v < chunk.end; v++) {
        const double *p = a->direction + v * c;
        double *restrict q = a->image + v * c;
        for (int64_t k = 0; k < c; k++)
            q[k] = a->excess[v] * p[k];
        for (int64_t at = g->incident_at[v]; at < g->incident_at[v + 1]; at++) {
            int64_t e = (int64_t)(g->incident[at] >> 1) - g->first_edge;
            if (e >= g->m)
                continue;
            int32_t u = (g->incident[at] & 1 ? g->head[e] : g->tail[e]) - g->base;
            const double *other = a->direction + u * c;
            for (int64_t k = 0; k < c; k++)
                q[k] += a->weight[e] * (p[k] - other[k]);
        }
        for (int64_t k = 0; k < c; k++)
            sums[k] += p[k] * q[k];
    }
    return HUDDLE_OK;
}

/* x += alpha direction, residual -= alpha image; partial sums of the norms of the rows of the
 * residual, which the tolerance refers to. */
static huddle_status advance_rows(void *argument, hd_chunk chunk) {
    approximate *a = argument;
    int64_t c = a->graph.c;
    double sum = 0;
    for (int64_t v = chunk.begin; v < chunk.end; v++) {
        double *restrict x = a->x + v * c, *restrict r = a->residual + v * c, norm = 0;
        const double *p = a->direction + v * c, *q = a->image + v * c;
        for (int64_t k = 0; k < c; k++) {
            x[k] += a->alpha[k] * p[k];
            r[k] -= a->alpha[k] * q[k];
            norm += r[k] * r[k];
        }
        sum += sqrt(norm);
    }
    a->partial[chunk.index * (c + 1)] = sum;
    return HUDDLE_OK;
}

/* The products of residual and solved, column by column. */
static huddle_status multiply(void *argument, hd_chunk chunk) {
    approximate *a = argument;
    int64_t c = a->graph.c;
    double *sums = a->partial + chunk.index * (c + 1);
    memset(sums, 0, (size_t)(c + 1) * sizeof *sums);
    for (int64_t v = chunk.begin; v < chunk.end; v++)
        for (int64_t k = 0; k < c; k++)
            sums[k] += a->residual[v * c + k] * a->solved[v * c + k];
    return HUDDLE_OK;
}

/* direction = solved + alpha direction, where alpha holds the beta of conjugate gradients. */
static huddle_status update_direction(void *argument, hd_chunk chunk) {
    approximate *a = argument;
    int64_t c = a->graph.c;
    for (int64_t v = chunk.begin; v < chunk.end; v++)
        for (int64_t k = 0; k < c; k++)
            a->direction[v * c + k] = a->solved[v * c + k] + a->alpha[k] * a->direction[v * c + k];
    return HUDDLE_OK;
}

/* sums[k] = the sum of entry k over the chunks, in their order, and over all processes, for k <
 * count. */
static huddle_status add_chunks(const approximate *a, int64_t count, double *sums) {
    for (int64_t k = 0; k < count; k++) {
        sums[k] = 0;
        for (int64_t chunk = 0; chunk < hd_chunks(a->graph.n, GRAIN); chunk++)
            sums[k] += a->partial[chunk * (a->graph.c + 1) + k];
    }
    return hd_reduce_sum(a->context, count, sums);
}

/* A column whose product has vanished is solved: with a coefficient of 0 it no longer changes. */
static double safe_ratio(double above, double below) {
    return below > 0 && isfinite(above / below) ? above / below : 0;
}

/* solved = preconditioned residual; alpha = ratio of the new products to the old, which is beta;
 * product = the new ones. */
static huddle_status next_products(approximate *a) {
    huddle_status status = HUDDLE_OK;
    int64_t c = a->graph.c;
    /* Columns are independent, so any cut gives the same bits. */
    int64_t together = a->graph.n < FEW_ROWS ? c : c / hd_workers(a->context);
    TRY(hd_parallel(a->context, NULL, c, together < MIN_COLUMNS ? MIN_COLUMNS : together + 1,
                    solve_columns, a));
    TRY(hd_parallel(a->context, NULL, a->graph.n, GRAIN, multiply, a));
    TRY(add_chunks(a, c, a->sums));
    for (int64_t k = 0; k < c; k++) {
        a->alpha[k] = safe_ratio(a->sums[k], a->product[k]);
        a->product[k] = a->sums[k];
    }
done:
    return status;
}

/* Conjugate gradients for all columns at once, each with coefficients of its own: the matrix is
 * read once per iteration instead of once per column. In the first iteration the old products are
 * 0, hence beta is 0 and the direction is the preconditioned residual. */
static huddle_status approximate_solve(void *state, const double *r, double tolerance, double *x) {
    huddle_status status = HUDDLE_OK;
    approximate *a = state;
    int64_t n = a->graph.n, c = a->graph.c;
    a->x = x;
    memset(x, 0, (size_t)(n * c) * sizeof *x);
    memset(a->direction, 0, (size_t)(n * c) * sizeof *a->direction);
    memset(a->product, 0, (size_t)c * sizeof *a->product);
    memcpy(a->residual, r, (size_t)(n * c) * sizeof *r);
    for (int32_t iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        TRY(next_products(a));
        TRY(hd_parallel(a->context, NULL, n, GRAIN, update_direction, a));
        TRY(hd_parallel(a->context, NULL, n, GRAIN, apply_matrix, a));
        TRY(add_chunks(a, c, a->sums));
        for (int64_t k = 0; k < c; k++)
            a->alpha[k] = safe_ratio(a->product[k], a->sums[k]);
        TRY(hd_parallel(a->context, NULL, n, GRAIN, advance_rows, a));
        TRY(add_chunks(a, 1, a->sums));
        if (a->sums[0] <= tolerance)
            break;
    }
done:
    return status;
}

const hd_shrink_linear_solver hd_shrink_approximate = {.name = "approximate",
                                                       .analyse = approximate_analyse,
                                                       .factor = approximate_factor,
                                                       .solve = approximate_solve,
                                                       .free = approximate_free};
