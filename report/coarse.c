#include "report/coarse.h"

#include "report/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows per aggregate, on average and at most. Measured on 50,000 x 20 points: the path then takes a
 * tenth of the time, its levels from n / (4 c) on are proven within 3 %. Larger aggregates have
 * weak edges inside, which cannot carry the flows that prove the bound. */
enum { MEAN_ROWS = 5, MAX_ROWS = 20 };

#define NEW(array, count)                                                                          \
    do {                                                                                           \
        (array) = calloc((size_t)(count) + 1, sizeof *(array));                                    \
        if ((array) == NULL) {                                                                     \
            status = report_no_memory();                                                           \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

static double *row_of(const huddle_dense *x, int64_t i) {
    return x->values + i * x->stride;
}

/* ---- aggregates --------------------------------------------------------------------------- */

static huddle_status list_edges(coarse_problem *p) {
    huddle_status status = HUDDLE_OK;
    NEW(p->edges, p->w.offsets[p->w.rows]);
    for (int64_t i = 0; i < p->w.rows; i++)
        for (int64_t k = p->w.offsets[i]; k < p->w.offsets[i + 1]; k++) {
            int32_t j = p->w.columns[k];
            if (j <= i)
                continue;
            coarse_edge *e = &p->edges[p->n_edges++];
            *e = (coarse_edge){.i = (int32_t)i, .j = j, .weight = p->w.values[k], .link = -1};
            const double *a = row_of(&p->f, i), *b = row_of(&p->f, j);
            for (int64_t d = 0; d < p->f.cols; d++)
                e->length += (a[d] - b[d]) * (a[d] - b[d]);
        }
done:
    return status;
}

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

int32_t coarse_root(int32_t *parent, int32_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Kruskal's algorithm with sets of bounded size. merged lists the edges that were used: they are a
 * spanning tree of each aggregate. p->aggregate is used as the forest of sets. */
static huddle_status merge_rows(coarse_problem *p, int64_t *merged, int64_t *n_merged) {
    huddle_status status = HUDDLE_OK;
    int32_t *parent = p->aggregate, *size = NULL;
    ranked_edge *ranked = NULL;
    int64_t n = p->f.rows, most = n - n / MEAN_ROWS;
    NEW(ranked, p->n_edges);
    NEW(size, n);
    for (int64_t e = 0; e < p->n_edges; e++)
        ranked[e] = (ranked_edge){p->edges[e].length / p->edges[e].weight, e};
    qsort(ranked, (size_t)p->n_edges, sizeof *ranked, by_length);
    for (int64_t i = 0; i < n; i++) {
        parent[i] = (int32_t)i;
        size[i] = 1;
    }
    for (int64_t k = 0; k < p->n_edges && *n_merged < most; k++) {
        const coarse_edge *e = &p->edges[ranked[k].edge];
        int32_t a = coarse_root(parent, e->i), b = coarse_root(parent, e->j);
        if (a == b || size[a] + size[b] > MAX_ROWS || !(e->weight > 0))
            continue;
        parent[b] = a;
        size[a] += size[b];
        merged[(*n_merged)++] = ranked[k].edge;
    }
done:
    free(size);
    free(ranked);
    return status;
}

/* Numbers the aggregates by their first row, then sums up masses and means. */
static huddle_status number_aggregates(coarse_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t n = p->f.rows, c = p->f.cols;
    int32_t *number = NULL;
    NEW(number, n);
    for (int64_t i = 0; i < n; i++)
        p->aggregate[i] = coarse_root(p->aggregate, (int32_t)i);
    for (int64_t i = 0; i < n; i++) {
        int32_t root = p->aggregate[i];
        if (number[root] == 0)
            number[root] = ++p->count;
    }
    for (int64_t i = 0; i < n; i++)
        p->aggregate[i] = number[p->aggregate[i]] - 1;
    NEW(p->mass, p->count);
    NEW(p->group, p->count);
    TRY(huddle_dense_new(p->count, c, &p->mean));
    memset(p->mean.values, 0, (size_t)(p->count * p->mean.stride) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        double *mean = row_of(&p->mean, p->aggregate[i]);
        p->mass[p->aggregate[i]]++;
        for (int64_t d = 0; d < c; d++)
            mean[d] += row_of(&p->f, i)[d];
    }
    for (int64_t a = 0; a < p->count; a++)
        for (int64_t d = 0; d < c; d++)
            row_of(&p->mean, a)[d] /= p->mass[a];
done:
    free(number);
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
 * numbers the rows of z. */
static void sum_edges(coarse_problem *p, const half_edge *halves, int64_t n_halves) {
    huddle_csr *graph = &p->graph;
    int64_t count = 0, links = -1;
    for (int64_t k = 0; k < n_halves; k++) {
        const half_edge *h = &halves[k];
        coarse_edge *e = &p->edges[h->edge];
        if (k == 0 || h->from != h[-1].from || h->to != h[-1].to) {
            graph->columns[count] = h->to;
            graph->values[count++] = 0;
            links += h->from < h->to;
        }
        graph->values[count - 1] += e->weight;
        graph->offsets[h->from + 1] = count;
        if (h->from < h->to)
            e->link = links;
    }
    for (int64_t a = 0; a < p->count; a++)
        if (graph->offsets[a + 1] < graph->offsets[a])
            graph->offsets[a + 1] = graph->offsets[a];
}

/* The share of each edge in the edge of the aggregates that it belongs to. */
static huddle_status set_shares(coarse_problem *p) {
    huddle_status status = HUDDLE_OK;
    double *sums = NULL;
    NEW(sums, p->n_edges);
    for (int64_t e = 0; e < p->n_edges; e++)
        if (p->edges[e].link >= 0)
            sums[p->edges[e].link] += p->edges[e].weight;
    for (int64_t e = 0; e < p->n_edges; e++) {
        coarse_edge *edge = &p->edges[e];
        if (edge->link < 0 || !(sums[edge->link] > 0))
            continue;
        edge->share = edge->weight / sums[edge->link];
        if (p->aggregate[edge->i] > p->aggregate[edge->j])
            edge->share = -edge->share;
    }
done:
    free(sums);
    return status;
}

static huddle_status contract_graph(coarse_problem *p) {
    huddle_status status = HUDDLE_OK;
    half_edge *halves = NULL;
    int64_t count = 0;
    NEW(halves, 2 * p->n_edges);
    for (int64_t e = 0; e < p->n_edges; e++) {
        int32_t a = p->aggregate[p->edges[e].i], b = p->aggregate[p->edges[e].j];
        if (a == b)
            continue;
        halves[count++] = (half_edge){a, b, e};
        halves[count++] = (half_edge){b, a, e};
    }
    qsort(halves, (size_t)count, sizeof *halves, by_ends);
    p->graph.rows = p->graph.cols = p->count;
    NEW(p->graph.offsets, p->count + 1);
    NEW(p->graph.columns, count);
    NEW(p->graph.values, count);
    sum_edges(p, halves, count);
    TRY(set_shares(p));
done:
    free(halves);
    return status;
}

/* ---- trees -------------------------------------------------------------------------------- */

/* Orders the edges of the trees such that each comes after all edges below it: leaves are cut off
 * one after the other. `sum` of a row is the exclusive or of its edges, which is the last one once
 * the others are cut. */
static huddle_status order_flows(coarse_problem *p, const int64_t *merged, int64_t n_merged) {
    huddle_status status = HUDDLE_OK;
    int32_t *degree = NULL;
    int64_t *sum = NULL;
    NEW(degree, p->f.rows);
    NEW(sum, p->f.rows);
    NEW(p->flows, n_merged);
    for (int64_t k = 0; k < n_merged; k++) {
        const coarse_edge *e = &p->edges[merged[k]];
        degree[e->i]++;
        degree[e->j]++;
        sum[e->i] ^= merged[k];
        sum[e->j] ^= merged[k];
    }
    for (int64_t first = 0; first < p->f.rows; first++)
        for (int32_t i = (int32_t)first; degree[i] == 1;) {
            int64_t edge = sum[i];
            int32_t next = p->edges[edge].i == i ? p->edges[edge].j : p->edges[edge].i;
            p->flows[p->n_flows++] = (coarse_flow){i, next, edge};
            degree[i] = 0;
            degree[next]--;
            sum[next] ^= edge;
            i = next;
        }
done:
    free(sum);
    free(degree);
    return status;
}

/* ---- solutions ---------------------------------------------------------------------------- */

/* The dual of all edges. y is the force on each row, B^T z of the edges between aggregates; what
 * makes it equal for all rows of an aggregate is passed on from row to row. */
static huddle_status expand_dual(coarse_problem *p, const huddle_dense *dual) {
    huddle_status status = HUDDLE_OK;
    int64_t n = p->f.rows, c = p->f.cols;
    double *y = NULL, *total = NULL;
    NEW(y, n * c);
    NEW(total, p->count * c);
    memset(p->z.values, 0, (size_t)(p->z.rows * p->z.stride) * sizeof(double));
    for (int64_t e = 0; e < p->n_edges; e++) {
        const coarse_edge *edge = &p->edges[e];
        for (int64_t d = 0; d < c && edge->link >= 0; d++) {
            double z = edge->share * row_of(dual, edge->link)[d];
            row_of(&p->z, e)[d] = z;
            y[edge->i * c + d] += z;
            y[edge->j * c + d] -= z;
            total[p->aggregate[edge->i] * c + d] += z;
            total[p->aggregate[edge->j] * c + d] -= z;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < c; d++)
            y[i * c + d] = total[p->aggregate[i] * c + d] / p->mass[p->aggregate[i]] - y[i * c + d];
    for (int64_t k = 0; k < p->n_flows; k++) {
        const coarse_flow *flow = &p->flows[k];
        double sign = p->edges[flow->edge].i == flow->row ? 1 : -1;
        for (int64_t d = 0; d < c; d++) {
            row_of(&p->z, flow->edge)[d] = sign * y[flow->row * c + d];
            y[flow->next * c + d] += y[flow->row * c + d];
        }
    }
done:
    free(total);
    free(y);
    return status;
}

huddle_status coarse_solve(coarse_problem *p, double gap, huddle_path_level *level) {
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

huddle_status coarse_open(huddle_context *context, const huddle_dense *f, const huddle_csr *w,
                          const char *loss, coarse_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t *merged = NULL, n_merged = 0;
    *p = (coarse_problem){.context = context, .f = *f, .w = *w, .loss = loss};
    NEW(p->aggregate, f->rows);
    NEW(merged, f->rows);
    TRY(list_edges(p));
    TRY(merge_rows(p, merged, &n_merged));
    TRY(number_aggregates(p));
    TRY(contract_graph(p));
    TRY(order_flows(p, merged, n_merged));
    TRY(huddle_dense_new(f->rows, f->cols, &p->g));
    TRY(huddle_dense_new(p->n_edges, f->cols, &p->z));
done:
    free(merged);
    return status;
}

void coarse_close(coarse_problem *p) {
    huddle_dense *const matrices[] = {&p->mean, &p->g, &p->z, &p->start};
    void *const arrays[] = {p->edges,         p->aggregate,    p->mass,  p->graph.offsets,
                            p->graph.columns, p->graph.values, p->flows, p->group};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++)
        huddle_dense_free(matrices[k]);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
    *p = (coarse_problem){0};
}
