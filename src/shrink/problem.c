#include "shrink/problem.h"

#include "base/check.h"
#include "shrink/certificate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A vertex is fixed if its degree is below its weight by this relative margin: the degree is a sum
 * of rounded numbers, and a vertex that could move must never be fixed. */
static const double degree_margin = 1e-12;

/* Work arrays of hd_shrink_problem_new(), all in the numbering of the caller. */
typedef struct builder {
    const hd_shrink_input *input;
    const hd_shrink_edges *edges; /* of the input */
    double smallest_lambda;
    double *lambda;     /* m */
    bool *fixed;        /* n + ghosts */
    int32_t *number;    /* n + ghosts: new number of a vertex, -1 while it has none */
    int32_t *component; /* n */
} builder;

huddle_status hd_shrink_total_weight(huddle_context *context, const double *weights, int64_t n,
                                     double *total) {
    *total = weights != NULL ? 0 : (double)n;
    for (int64_t i = 0; i < n && weights != NULL; i++)
        *total += weights[i];
    return hd_reduce_sum(context, 1, total);
}

/* Distances scale with the unit, squared ones with its square; lambda is scaled so that both terms
 * of (6) have the same factor. */
double hd_shrink_value(const hd_shrink_problem *problem, double value) {
    return value * problem->unit * (problem->squared ? problem->unit : 1);
}

huddle_status hd_shrink_fetch(const hd_shrink_problem *problem, double *rows) {
    return hd_halo_fetch(problem->halo, rows, (size_t)problem->c * sizeof *rows);
}

static double weight_of(const builder *d, int64_t v) {
    return hd_shrink_row_weight(d->input->weights, v);
}

/* ---- scale and forces ---------------------------------------------------------------------- */

/* The power of two nearest to the root mean square of the rows' distances from their mean. The
 * problem does not change if F is shifted, so its unit must not either; dividing by a power of two
 * is exact. Entries are divided by the largest first, so that no square overflows or underflows. */
static huddle_status choose_unit(huddle_context *context, const huddle_dense *f, double *unit) {
    huddle_status status = HUDDLE_OK;
    double largest = 0, sum = 0, count = (double)f->rows, *mean = NULL;
    *unit = 1;
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            largest = fmax(largest, fabs(f->values[i * f->stride + k]));
    TRY(hd_reduce_max(context, 1, &largest));
    TRY(hd_reduce_sum(context, 1, &count));
    /* All rows are practically zero, and no unit would help. */
    if (largest < 1e-290)
        goto done;
    ALLOC_ZERO(mean, f->cols);
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            mean[k] += f->values[i * f->stride + k] / largest / count;
    TRY(hd_reduce_sum(context, f->cols, mean));
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++) {
            double v = f->values[i * f->stride + k] / largest - mean[k];
            sum += v * v;
        }
    TRY(hd_reduce_sum(context, 1, &sum));
    *unit = exp2(round(log2(largest * fmax(sqrt(sum / count), DBL_EPSILON))));
done:
    huddle_free(mean);
    return status;
}

/* An edge that a solver must consider: strong enough, and not between two fixed vertices. */
static bool is_live(const builder *d, int64_t e) {
    return d->lambda[e] >= d->smallest_lambda &&
           !(d->fixed[d->edges->i[e]] && d->fixed[d->edges->j[e]]);
}

/* Sets lambda_e = gamma w_e, and finds the vertices that are fixed. With `fix`, these are the rows
 * with gamma sum_j w_ij < m_i ("The two ends of gamma"): at g_i = f_i every vector of length up to
 * m_i is a subgradient of the loss, and the edges can exert no more than the degree. Otherwise only
 * vertices without an edge that exerts a force are fixed. Rows that are distributed over processes
 * are never fixed, because all vertices must then keep their order.
 *
 * In the squared loss, scaling F by 1/unit scales the first term of (6) by 1/unit^2 but the second
 * by 1/unit; dividing lambda by the unit corrects this. */
static huddle_status set_forces(builder *d, bool fix, double negligible, hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = d->edges;
    double gamma = d->input->gamma, *degree = NULL, lightest = INFINITY;
    ALLOC_ZERO(degree, p->rows);
    for (int64_t v = 0; v < p->n; v++)
        lightest = fmin(lightest, weight_of(d, v));
    TRY(hd_reduce_min(d->input->context, 1, &lightest));
    d->smallest_lambda = negligible * lightest;
    for (int64_t e = 0; e < edges->count; e++) {
        d->lambda[e] = gamma * edges->weight[e] / (p->squared ? p->unit : 1);
        if (isinf(d->lambda[e]))
            FAIL(HUDDLE_NUMERIC, "gamma = %g times the weight %g is beyond double precision", gamma,
                 edges->weight[e]);
        /* A vertex is fixed only if all of its edges together, negligible ones included, cannot
         * move it. Without `fix`, negligible edges do not count as edges. */
        double force = !fix && d->lambda[e] < d->smallest_lambda ? 0 : d->lambda[e];
        degree[edges->i[e]] += force;
        degree[edges->j[e]] += force;
    }
    for (int64_t v = 0; v < p->n; v++) {
        d->fixed[v] = fix ? degree[v] < (1 - degree_margin) * weight_of(d, v) : degree[v] == 0;
        d->fixed[v] = d->fixed[v] && !hd_shrink_is_distributed(p);
    }
done:
    huddle_free(degree);
    return status;
}

/* ---- numbering ----------------------------------------------------------------------------- */

/* Numbers the block of `first` in breadth-first order; p->vertex serves as the queue. Neighbours
 * then get nearby numbers, which makes passes over edges read nearby memory, and the first vertices
 * of a block form a connected set (cuts_suffice() in ends.c relies on few leaving edges). */
static void number_block(builder *d, int32_t first, hd_shrink_problem *p) {
    const huddle_csr *w = d->input->w;
    int32_t done = p->n_free;
    d->number[first] = p->n_free;
    p->vertex[p->n_free++] = first;
    for (; done < p->n_free; done++) {
        int32_t v = p->vertex[done];
        for (int64_t at = w->offsets[v]; at < w->offsets[v + 1]; at++) {
            int32_t u = w->columns[at];
            if (u == v || d->fixed[u] || d->number[u] >= 0 || !is_live(d, d->edges->at[at]))
                continue;
            d->number[u] = p->n_free;
            p->vertex[p->n_free++] = u;
        }
    }
}

/* Block after block, in the order of their first vertices, then the fixed vertices. */
static huddle_status number_vertices(builder *d, hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t capacity = 0;
    memset(d->number, -1, (size_t)p->n * sizeof *d->number);
    for (int32_t v = 0; v < p->n; v++) {
        if (d->fixed[v] || d->number[v] >= 0)
            continue;
        if (!hd_grow(&p->blocks, &capacity, p->n_blocks + 1, sizeof *p->blocks))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld blocks", (long long)p->n_blocks + 1);
        /* n_free counts the vertices numbered so far; a block is what one search reaches. */
        int32_t begin = p->n_free;
        number_block(d, v, p);
        p->blocks[p->n_blocks++] = (hd_shrink_range){.v0 = begin, .v1 = p->n_free};
    }
    int32_t next = p->n_free;
    for (int32_t v = 0; v < p->n; v++)
        if (d->fixed[v]) {
            d->number[v] = next;
            p->vertex[next++] = v;
        }
done:
    return status;
}

/* Keeps all vertices in their order, as one block: the exchange of rows between processes uses this
 * order. */
static huddle_status number_distributed_vertices(builder *d, hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    for (int32_t v = 0; v < p->rows; v++)
        d->number[v] = v;
    memcpy(p->vertex, d->number, (size_t)p->n * sizeof *p->vertex);
    ALLOC_ZERO(p->blocks, 1);
    p->n_blocks = 1;
    p->n_free = (int32_t)p->n;
    p->blocks[0].v1 = p->n_free;
done:
    return status;
}

/* Stores edge e at `place`, from `head` to its other end; `flipped` records whether the caller's
 * orientation is the opposite, for the sign of z_e. */
static void add_edge(const builder *d, int32_t e, int32_t head, hd_shrink_problem *p,
                     int64_t place) {
    int32_t i = d->edges->i[e], j = d->edges->j[e];
    p->edge[place] = e;
    p->flipped[place] = d->number[i] != head;
    p->head[place] = head;
    p->tail[place] = d->number[i] == head ? d->number[j] : d->number[i];
    p->lambda[place] = d->lambda[e];
}

/* Appends the live edges between v and vertices of larger numbers that are free, or, with
 * `anchored`, fixed. Fixed vertices have the largest numbers, so a free end is always the head. */
static int64_t add_edges_of(const builder *d, int32_t v, bool anchored, hd_shrink_problem *p,
                            int64_t place) {
    const huddle_csr *w = d->input->w;
    int32_t old = p->vertex[v];
    for (int64_t at = w->offsets[old]; at < w->offsets[old + 1]; at++) {
        int32_t u = w->columns[at];
        if (u != old && d->fixed[u] == anchored && d->number[u] > v && is_live(d, d->edges->at[at]))
            add_edge(d, d->edges->at[at], v, p, place++);
    }
    return place;
}

/* Edges in the order of their heads: passes over edges read the rows of heads sequentially. */
static void number_edges(const builder *d, hd_shrink_problem *p) {
    int64_t place = 0;
    for (int64_t b = 0; b < p->n_blocks; b++) {
        hd_shrink_range *block = &p->blocks[b];
        block->e0 = place;
        for (int32_t v = block->v0; v < block->v1; v++)
            place = add_edges_of(d, v, false, p, place);
        block->ghost = block->anchor = place;
        for (int32_t v = block->v0; v < block->v1; v++)
            place = add_edges_of(d, v, true, p, place);
        block->e1 = place;
    }
    p->n_live = place;
}

/* The same for rows that are distributed over processes: the live edges in their order, inner ones,
 * then those to ghosts; after them the idle ones. */
static void number_distributed_edges(const builder *d, hd_shrink_problem *p) {
    const hd_shrink_edges *edges = d->edges;
    hd_shrink_range *block = &p->blocks[0];
    int64_t place = 0;
    for (int64_t e = 0; e < edges->count; e++) {
        if (e == edges->own)
            block->ghost = place;
        if (is_live(d, e))
            add_edge(d, (int32_t)e, edges->i[e], p, place++);
    }
    if (edges->own == edges->count)
        block->ghost = place;
    p->n_live = block->anchor = block->e1 = place;
}

/* Idle edges follow in the order of the caller. */
static void number_idle_edges(const builder *d, hd_shrink_problem *p) {
    int64_t place = p->n_live;
    for (int64_t e = 0; e < d->edges->count; e++)
        if (!is_live(d, e))
            add_edge(d, (int32_t)e, d->number[d->edges->i[e]], p, place++);
}

/* For each free vertex the list of its live edges, by a counting sort that keeps the order of
 * edges: vertices gather sums over their edges in a fixed order, without atomic additions. */
static huddle_status list_incident(hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t *at = NULL;
    ALLOC_ZERO(p->incident_at, (int64_t)p->n_free + 1);
    ALLOC(p->incident, 2 * p->n_live);
    at = p->incident_at;
    /* Ghosts and fixed vertices have no list: they only occur as tails, and do not move here. */
    for (int64_t e = 0; e < p->n_live; e++) {
        at[p->head[e] + 1]++;
        if (p->tail[e] < p->n_free)
            at[p->tail[e] + 1]++;
    }
    for (int32_t v = 0; v < p->n_free; v++)
        at[v + 1] += at[v];
    for (int64_t e = 0; e < p->n_live; e++) {
        p->incident[at[p->head[e]]++] = (uint32_t)(2 * e);
        if (p->tail[e] < p->n_free)
            p->incident[at[p->tail[e]]++] = (uint32_t)(2 * e + 1);
    }
    memmove(at + 1, at, (size_t)p->n_free * sizeof *at);
    at[0] = 0;
done:
    return status;
}

/* The cost of the idle edges at F. Edges between fixed vertices have it at every G considered; that
 * of negligible edges changes by less than the gap allows. It is added to the objective and to the
 * bound alike (solve.c), so that it leaves the gap as it is. */
static huddle_status add_idle_cost(const builder *d, hd_shrink_problem *p) {
    for (int64_t e = p->n_live; e < p->m; e++) {
        double square =
            hd_shrink_distance2(p->f + p->head[e] * p->c, p->f + p->tail[e] * p->c, p->c);
        p->idle_cost += hd_shrink_edge_share(d->edges, p->edge[e]) * p->lambda[e] * sqrt(square);
    }
    return hd_reduce_sum(d->input->context, 1, &p->idle_cost);
}

/* Copies rows, weights and radii into the new order. Radii refer to components of the whole W, idle
 * edges included, because that is the graph the certificate refers to. */
static huddle_status copy_rows(const builder *d, hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *f = d->input->f;
    int32_t *component = NULL;
    ALLOC(component, p->n);
    for (int64_t v = 0; v < p->n; v++) {
        for (int64_t k = 0; k < p->c; k++)
            p->f[v * p->c + k] = f->values[p->vertex[v] * f->stride + k] / p->unit;
        p->mass[v] = weight_of(d, p->vertex[v]);
        component[v] = d->component[p->vertex[v]];
    }
    TRY(hd_shrink_fetch(p, p->f));
    /* The radii are in the unit of the problem, and include the weight m_i, as (10) needs them. */
    huddle_dense rows = {.rows = p->n, .cols = p->c, .stride = p->c, .values = p->f};
    TRY(hd_shrink_radii(d->input->context, &rows, component, p->n_components, p->radius));
    for (int64_t v = 0; v < p->n; v++)
        p->radius[v] *= p->mass[v];
    TRY(add_idle_cost(d, p));
done:
    huddle_free(component);
    return status;
}

/* Arrays of the draft and of the problem whose sizes are known before numbering. */
static huddle_status allocate_arrays(builder *d, hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    ALLOC(d->lambda, p->m);
    ALLOC_ZERO(d->fixed, p->rows);
    ALLOC(d->number, p->rows);
    ALLOC(d->component, p->n);
    ALLOC(p->vertex, p->n);
    ALLOC(p->edge, p->m);
    ALLOC(p->flipped, p->m);
    ALLOC(p->head, p->m);
    ALLOC(p->tail, p->m);
    ALLOC(p->lambda, p->m);
    ALLOC(p->f, p->rows * p->c);
    ALLOC(p->mass, p->n);
    ALLOC(p->radius, p->n);
done:
    return status;
}

/* The steps depend on each other in this order: the unit scales lambda of "l2", lambda decides
 * which vertices are fixed and which edges are live, these determine the numbering. */
huddle_status hd_shrink_problem_new(const hd_shrink_input *input, bool fix, double negligible,
                                    hd_shrink_problem *p) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = input->edges;
    builder d = {.input = input, .edges = edges};
    *p = (hd_shrink_problem){.n = input->f->rows,
                             .m = edges->count,
                             .c = input->f->cols,
                             .rows = input->f->rows + edges->halo.ghosts,
                             .squared = input->squared,
                             .halo = &edges->halo};
    TRY(choose_unit(input->context, input->f, &p->unit));
    TRY(allocate_arrays(&d, p));
    /* The squared loss has no kink at F, so that every row with a force moves. */
    TRY(set_forces(&d, fix && !input->squared, negligible, p));
    TRY(hd_shrink_components(input->context, edges, p->n, d.component, &p->n_components));
    if (hd_shrink_is_distributed(p)) {
        TRY(number_distributed_vertices(&d, p));
        number_distributed_edges(&d, p);
    } else {
        TRY(number_vertices(&d, p));
        number_edges(&d, p);
    }
    number_idle_edges(&d, p);
    TRY(list_incident(p));
    TRY(copy_rows(&d, p));
done:
    FREE(d.lambda, d.fixed, d.number, d.component);
    if (status != HUDDLE_OK)
        hd_shrink_problem_free(p);
    return status;
}

void hd_shrink_problem_free(hd_shrink_problem *p) {
    FREE(p->blocks, p->vertex, p->edge, p->flipped, p->head, p->tail, p->lambda, p->f, p->mass,
         p->radius, p->incident_at, p->incident);
    memset(p, 0, sizeof *p);
}
