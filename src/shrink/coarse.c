#include "shrink/coarse.h"

#include "base/check.h"
#include "base/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows per aggregate, on average and at most. Measured on 50,000 x 20 points: the path then takes a
 * tenth of the time, its levels from n / (4 c) on are proven within 3 %. Larger aggregates have
 * weak edges inside, which cannot carry the flows that prove the bound. */
enum { MEAN_ROWS = 5, MAX_ROWS = 20 };

static double *row_of(const huddle_dense *x, int64_t i) {
    return x->values + i * x->stride;
}

/* ---- aggregates --------------------------------------------------------------------------- */

/* An edge in the order in which it may merge rows: short ones first, ties as stored. */
typedef struct ranked_edge {
    double length;
    int64_t edge;
} ranked_edge;

static int by_length(const void *x, const void *y) {
    const ranked_edge *a = x, *b = y;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

/* Kruskal's algorithm with sets of bounded size, by the edges of positive weight: those of weight 0
 * carry no flow, and 0 / 0 has no place in an order. merged lists the edges that were used: they
 * are a spanning tree of each aggregate. p->aggregate is used as the forest of sets. Short and
 * heavy edges come first: merging the ends of a short one changes the problem little, and a heavy
 * one, which may carry up to lambda = gamma w, carries the flow of its tree (expand_dual()) more
 * easily. */
static huddle_status merge_rows(hd_shrink_coarse *p, int64_t *merged, int64_t *n_merged) {
    huddle_status status = HUDDLE_OK;
    int32_t *parent = p->aggregate, *size = NULL;
    ranked_edge *ranked = NULL;
    int64_t n = p->f.rows, most = n - n / MEAN_ROWS, n_ranked = 0;
    const hd_shrink_edges *edges = &p->edges;
    ALLOC(ranked, edges->count);
    ALLOC(size, n);
    for (int64_t e = 0; e < edges->count; e++) {
        if (!(edges->weight[e] > 0)) /* absent, and 0 / 0 is in no order */
            continue;
        double length =
            hd_shrink_distance2(row_of(&p->f, edges->i[e]), row_of(&p->f, edges->j[e]), p->f.cols);
        ranked[n_ranked++] = (ranked_edge){length / edges->weight[e], e};
    }
    qsort(ranked, (size_t)n_ranked, sizeof *ranked, by_length);
    for (int64_t i = 0; i < n; i++) {
        parent[i] = (int32_t)i;
        size[i] = 1;
    }
    for (int64_t k = 0; k < n_ranked && *n_merged < most; k++) {
        int64_t e = ranked[k].edge;
        int32_t a = hd_find_root(parent, edges->i[e]), b = hd_find_root(parent, edges->j[e]);
        if (a == b || size[a] + size[b] > MAX_ROWS)
            continue;
        hd_unite(parent, a, b);
        size[a < b ? a : b] = size[a] + size[b];
        merged[(*n_merged)++] = e;
    }
done:
    FREE(size, ranked);
    return status;
}

/* Numbers the aggregates by their first row, then sums up masses and means. Each row counts once,
 * as the certificate without weights has it. The norm is convex, so that mass ||g - mean|| is at
 * most the sum of the distances of the rows from g. */
static huddle_status number_aggregates(hd_shrink_coarse *p) {
    huddle_status status = HUDDLE_OK;
    int64_t n = p->f.rows;
    TRY(hd_shrink_label_sets(p->context, &p->edges.halo, n, p->aggregate, p->aggregate, &p->count));
    ALLOC_ZERO(p->mass, p->count);
    ALLOC_ZERO(p->group, p->count);
    for (int64_t i = 0; i < n; i++)
        p->mass[p->aggregate[i]]++;
    TRY(huddle_dense_new(p->count, p->f.cols, &p->mean));
    TRY(hd_shrink_find_means(NULL, &p->f, NULL, p->aggregate, NULL, p->count, 0, p->mean.values));
done:
    return status;
}

/* ---- the graph of the aggregates ---------------------------------------------------------- */

/* One direction of an edge between two aggregates. */
typedef struct half_edge {
    int32_t from, to;
    int64_t edge;
} half_edge;

static int by_ends(const void *x, const void *y) {
    const half_edge *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

/* Adds up the edges between each two aggregates; both directions in the same order, so that the
 * matrix is symmetric to the last bit. Edges above the diagonal are numbered as huddle_shrink()
 * numbers the rows of z. z of the joint edge is divided in proportion to the weights: then ||z_e||
 * <= lambda_e for each edge if it holds for the joint one, whose lambda is the sum of theirs. */
static void sum_edges(hd_shrink_coarse *p, const half_edge *halves, int64_t n_halves) {
    huddle_csr *graph = &p->graph;
    int64_t count = 0, links = 0;
    for (int64_t first = 0, end = 0; first < n_halves; first = end) {
        int32_t from = halves[first].from, to = halves[first].to;
        double sum = 0;
        for (; end < n_halves && halves[end].from == from && halves[end].to == to; end++)
            sum += p->edges.weight[halves[end].edge];
        for (int64_t k = first; k < end && from < to; k++) {
            int64_t e = halves[k].edge;
            double share = sum > 0 ? p->edges.weight[e] / sum : 0;
            p->link[e] = links;
            p->share[e] = p->aggregate[p->edges.i[e]] == from ? share : -share;
        }
        links += from < to;
        graph->columns[count] = to;
        graph->values[count++] = sum;
        graph->offsets[from + 1] = count;
    }
    for (int64_t a = 0; a < p->count; a++)
        if (graph->offsets[a + 1] < graph->offsets[a])
            graph->offsets[a + 1] = graph->offsets[a];
}

static huddle_status contract_graph(hd_shrink_coarse *p) {
    huddle_status status = HUDDLE_OK;
    half_edge *halves = NULL;
    int64_t count = 0;
    ALLOC(halves, 2 * p->edges.count);
    ALLOC(p->link, p->edges.count);
    ALLOC_ZERO(p->share, p->edges.count);
    for (int64_t e = 0; e < p->edges.count; e++) {
        int32_t a = p->aggregate[p->edges.i[e]], b = p->aggregate[p->edges.j[e]];
        p->link[e] = -1;
        if (a == b)
            continue;
        halves[count++] = (half_edge){a, b, e};
        halves[count++] = (half_edge){b, a, e};
    }
    qsort(halves, (size_t)count, sizeof *halves, by_ends);
    TRY(huddle_csr_new(p->count, p->count, count, &p->graph));
    sum_edges(p, halves, count);
done:
    huddle_free(halves);
    return status;
}

/* ---- trees -------------------------------------------------------------------------------- */

/* Orders the edges of the trees such that each comes after all edges below it: leaves are cut off
 * one after the other. `sum` of a row is the exclusive or of its edges, which is the last one once
 * the others are cut. A row that becomes a leaf by a cut is followed at once, so that one pass over
 * the rows cuts all edges, in linear time. */
static huddle_status order_flows(hd_shrink_coarse *p, const int64_t *merged, int64_t n_merged) {
    huddle_status status = HUDDLE_OK;
    int32_t *degree = NULL;
    int64_t *sum = NULL;
    ALLOC_ZERO(degree, p->f.rows);
    ALLOC_ZERO(sum, p->f.rows);
    ALLOC(p->flows, n_merged);
    for (int64_t k = 0; k < n_merged; k++) {
        const int32_t ends[] = {p->edges.i[merged[k]], p->edges.j[merged[k]]};
        for (int side = 0; side < 2; side++) {
            degree[ends[side]]++;
            sum[ends[side]] ^= merged[k];
        }
    }
    for (int64_t first = 0; first < p->f.rows; first++)
        for (int32_t i = (int32_t)first; degree[i] == 1;) {
            int64_t edge = sum[i];
            int32_t next = p->edges.i[edge] == i ? p->edges.j[edge] : p->edges.i[edge];
            p->flows[p->n_flows++] = (hd_shrink_flow){i, next, edge};
            degree[i] = 0;
            degree[next]--;
            sum[next] ^= edge;
            i = next;
        }
done:
    FREE(sum, degree);
    return status;
}

/* ---- solutions ---------------------------------------------------------------------------- */

/* The dual of all edges. y is the force on each row, B^T z of the edges between aggregates; what
 * makes it equal for all rows of an aggregate is passed on from row to row.
 *
 * Equal shares y_a / mass_a of the force on an aggregate a are the ones to aim at. Their length is
 * at most 1 where the constraint of a holds in (7), ||y_a|| <= mass_a; and <Z, BF> = sum_i (B'Z)_i
 * f_i, which they make sum_a y_a mean_a, the product of the aggregates. So D(Z) of all rows is that
 * of the aggregates, and Z is as feasible, unless an edge of a tree has to carry more than its
 * lambda: that one is clipped by the certificate. */
static huddle_status expand_dual(hd_shrink_coarse *p, const huddle_dense *dual) {
    huddle_status status = HUDDLE_OK;
    int64_t n = p->f.rows, c = p->f.cols;
    double *y = NULL, *total = NULL;
    ALLOC_ZERO(y, n * c);
    ALLOC_ZERO(total, p->count * c);
    memset(p->z.values, 0, (size_t)(p->z.rows * p->z.stride) * sizeof(double));
    for (int64_t e = 0; e < p->edges.count; e++) {
        int32_t i = p->edges.i[e], j = p->edges.j[e];
        for (int64_t d = 0; d < c && p->link[e] >= 0; d++) {
            double z = p->share[e] * row_of(dual, p->link[e])[d];
            row_of(&p->z, e)[d] = z;
            y[i * c + d] += z;
            y[j * c + d] -= z;
            total[p->aggregate[i] * c + d] += z;
            total[p->aggregate[j] * c + d] -= z;
        }
    }
    /* What each row lacks. Over the rows of an aggregate this adds up to 0, so that nothing is left
     * for the root when all others have passed on what they lack. */
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < c; d++)
            y[i * c + d] = total[p->aggregate[i] * c + d] / p->mass[p->aggregate[i]] - y[i * c + d];
    for (int64_t k = 0; k < p->n_flows; k++) {
        const hd_shrink_flow *flow = &p->flows[k];
        double sign = p->edges.i[flow->edge] == flow->row ? 1 : -1;
        for (int64_t d = 0; d < c; d++) {
            row_of(&p->z, flow->edge)[d] = sign * y[flow->row * c + d];
            y[flow->next * c + d] += y[flow->row * c + d];
        }
    }
done:
    FREE(total, y);
    return status;
}

/* The gap that is reported is that of all rows, larger than that of the aggregates by what merging
 * rows costs; it is what decides whether the level is kept (path.c). */
huddle_status hd_shrink_coarse_solve(hd_shrink_coarse *p, double gap, huddle_path_level *level) {
    huddle_status status = HUDDLE_OK;
    huddle_shrink_options options = huddle_shrink_defaults();
    huddle_shrunk shrunk = {0};
    huddle_shrink_info info = {0};
    options.gamma = level->gamma;
    options.gap = gap;
    options.loss = p->loss;
    options.weights = p->mass;
    options.keep_dual = true;
    options.start = p->start.values != NULL ? &p->start : NULL;
    TRY(huddle_shrink(p->context, &p->mean, &p->graph, &options, &shrunk, &info));
    for (int64_t i = 0; i < p->f.rows; i++)
        memcpy(row_of(&p->g, i), row_of(&shrunk.g, p->aggregate[i]),
               (size_t)p->f.cols * sizeof(double));
    TRY(expand_dual(p, &shrunk.z));
    TRY(huddle_shrink_certificate(p->context, &p->f, &p->w, NULL, level->gamma, p->loss, &p->g,
                                  &p->z, &level->objective, &level->dual));
    level->gap =
        level->objective != 0 ? fmax(0, level->objective - level->dual) / level->objective : 0;
    memcpy(p->group, shrunk.group, (size_t)p->count * sizeof *p->group);
    level->n_groups = shrunk.n_groups;
    level->n_iter = info.n_iter;
    level->stop = info.stop;
    huddle_dense_free(&p->start);
    p->start = shrunk.g;
    shrunk.g = (huddle_dense){0};
done:
    huddle_shrunk_free(&shrunk);
    huddle_shrink_info_free(&info);
    return status;
}

huddle_status hd_shrink_coarse_open(huddle_context *context, const huddle_dense *f,
                                    const huddle_csr *w, const char *loss, hd_shrink_coarse *p) {
    huddle_status status = HUDDLE_OK;
    int64_t *merged = NULL, n_merged = 0;
    *p = (hd_shrink_coarse){.context = context, .f = *f, .w = *w, .loss = loss};
    TRY(hd_shrink_edges_read(context, w, &p->edges));
    TRY(hd_shrink_check_rows(f, "f", w->rows));
    ALLOC(p->aggregate, f->rows);
    ALLOC(merged, f->rows);
    TRY(merge_rows(p, merged, &n_merged));
    TRY(number_aggregates(p));
    TRY(contract_graph(p));
    TRY(order_flows(p, merged, n_merged));
    TRY(huddle_dense_new(f->rows, f->cols, &p->g));
    TRY(huddle_dense_new(p->edges.count, f->cols, &p->z));
done:
    huddle_free(merged);
    return status;
}

void hd_shrink_coarse_close(hd_shrink_coarse *p) {
    huddle_dense *const matrices[] = {&p->mean, &p->g, &p->z, &p->start};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++)
        huddle_dense_free(matrices[k]);
    FREE(p->link, p->share, p->aggregate, p->mass, p->flows, p->group);
    huddle_csr_free(&p->graph);
    hd_shrink_edges_free(&p->edges);
    *p = (hd_shrink_coarse){0};
}
