#include "shrink/problem.h"

#include "base/check.h"
#include "shrink/certificate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Work of hd_problem_new: everything by the caller's numbers. */
typedef struct draft {
    const huddle_csr *w;
    const hd_edges *edges;
    const double *weights; /* of the rows, or NULL */
    double negligible, smallest_lambda;
    double *lambda;     /* m */
    bool *fixed;        /* n */
    int32_t *number;    /* n: new number of a vertex, -1 while it has none */
    int32_t *component; /* n */
} draft;

static void draft_free(draft *d) {
    huddle_free(d->lambda);
    huddle_free(d->fixed);
    huddle_free(d->number);
    huddle_free(d->component);
}

double hd_total_weight(const double *weights, int64_t n) {
    double sum = weights != NULL ? 0 : (double)n;
    for (int64_t i = 0; i < n && weights != NULL; i++)
        sum += weights[i];
    return sum;
}

double hd_problem_value(const hd_problem *problem, double value) {
    return value * problem->unit * (problem->squared ? problem->unit : 1);
}

static double weight_of(const draft *d, int64_t v) {
    return d->weights != NULL ? d->weights[v] : 1;
}

/* The power of two next to the root mean square of the rows' distances to their mean: the problem
 * does not change when F is shifted, so its unit must not either. */
static huddle_status choose_unit(const huddle_dense *f, double *unit) {
    huddle_status status = HUDDLE_OK;
    double largest = 0, sum = 0, *mean = NULL;
    *unit = 1;
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            largest = fmax(largest, fabs(f->values[i * f->stride + k]));
    if (largest < 1e-290)
        goto done;
    ALLOC_ZERO(mean, f->cols);
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            mean[k] += f->values[i * f->stride + k] / largest / (double)f->rows;
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++) {
            double v = f->values[i * f->stride + k] / largest - mean[k];
            sum += v * v;
        }
    *unit = exp2(round(log2(largest * fmax(sqrt(sum / (double)f->rows), DBL_EPSILON))));
done:
    huddle_free(mean);
    return status;
}

static bool is_live(const draft *d, int64_t e) {
    return d->lambda[e] >= d->smallest_lambda &&
           !(d->fixed[d->edges->i[e]] && d->fixed[d->edges->j[e]]);
}

/* lambda, and which vertices stay: those whose edges cannot outweigh their own term ("l21"), or
 * only those without an edge worth a force. */
static huddle_status weigh(draft *d, int64_t n, double gamma, bool fix, hd_problem *p) {
    huddle_status status = HUDDLE_OK;
    const hd_edges *edges = d->edges;
    double *degree = NULL, lightest = weight_of(d, 0);
    ALLOC_ZERO(degree, n);
    for (int64_t v = 1; v < n; v++)
        lightest = fmin(lightest, weight_of(d, v));
    d->smallest_lambda = d->negligible * lightest;
    for (int64_t e = 0; e < edges->count; e++) {
        d->lambda[e] = gamma * edges->weight[e] / (p->squared ? p->unit : 1);
        if (isinf(d->lambda[e]))
            FAIL(HUDDLE_NUMERIC, "gamma = %g times the weight %g is beyond double precision", gamma,
                 edges->weight[e]);
        double force = !fix && d->lambda[e] < d->smallest_lambda ? 0 : d->lambda[e];
        degree[edges->i[e]] += force;
        degree[edges->j[e]] += force;
    }
    /* A relative margin keeps the rounding of the sum on the safe side. */
    for (int64_t v = 0; v < n; v++)
        d->fixed[v] = fix ? degree[v] < (1 - 1e-12) * weight_of(d, v) : degree[v] == 0;
done:
    huddle_free(degree);
    return status;
}

/* Numbers the block of `first` in breadth-first order; p->vertex is the queue. */
static void number_block(draft *d, int32_t first, hd_problem *p) {
    const huddle_csr *w = d->w;
    int32_t done = p->free;
    d->number[first] = p->free;
    p->vertex[p->free++] = first;
    for (; done < p->free; done++) {
        int32_t v = p->vertex[done];
        for (int64_t at = w->offsets[v]; at < w->offsets[v + 1]; at++) {
            int32_t u = w->columns[at];
            if (u == v || d->fixed[u] || d->number[u] >= 0 || !is_live(d, d->edges->at[at]))
                continue;
            d->number[u] = p->free;
            p->vertex[p->free++] = u;
        }
    }
}

static huddle_status number_vertices(draft *d, hd_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t capacity = 0;
    memset(d->number, -1, (size_t)p->n * sizeof *d->number);
    for (int32_t v = 0; v < p->n; v++) {
        if (d->fixed[v] || d->number[v] >= 0)
            continue;
        if (!hd_grow(&p->blocks, &capacity, p->n_blocks + 1, sizeof *p->blocks))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld blocks", (long long)p->n_blocks + 1);
        int32_t begin = p->free;
        number_block(d, v, p);
        p->blocks[p->n_blocks++] = (hd_range){.v0 = begin, .v1 = p->free};
    }
    int32_t next = p->free;
    for (int32_t v = 0; v < p->n; v++)
        if (d->fixed[v]) {
            d->number[v] = next;
            p->vertex[next++] = v;
        }
done:
    return status;
}

static void put_edge(const draft *d, int32_t e, int32_t head, hd_problem *p, int64_t place) {
    int32_t i = d->edges->i[e], j = d->edges->j[e];
    p->edge[place] = e;
    p->turned[place] = d->number[i] != head;
    p->head[place] = head;
    p->tail[place] = d->number[i] == head ? d->number[j] : d->number[i];
    p->lambda[place] = d->lambda[e];
}

/* Adds the live edges whose first end in the new order is v and whose other end is free, or
 * fixed. */
static int64_t put_edges_of(const draft *d, int32_t v, bool anchored, hd_problem *p,
                            int64_t place) {
    const huddle_csr *w = d->w;
    int32_t old = p->vertex[v];
    for (int64_t at = w->offsets[old]; at < w->offsets[old + 1]; at++) {
        int32_t u = w->columns[at];
        if (u != old && d->fixed[u] == anchored && d->number[u] > v && is_live(d, d->edges->at[at]))
            put_edge(d, d->edges->at[at], v, p, place++);
    }
    return place;
}

static void number_edges(const draft *d, hd_problem *p) {
    int64_t place = 0;
    for (int64_t b = 0; b < p->n_blocks; b++) {
        hd_range *block = &p->blocks[b];
        block->e0 = place;
        for (int32_t v = block->v0; v < block->v1; v++)
            place = put_edges_of(d, v, false, p, place);
        block->anchor = place;
        for (int32_t v = block->v0; v < block->v1; v++)
            place = put_edges_of(d, v, true, p, place);
        block->e1 = place;
    }
    p->live = place;
    for (int64_t e = 0; e < d->edges->count; e++)
        if (!is_live(d, e))
            put_edge(d, (int32_t)e, d->number[d->edges->i[e]], p, place++);
}

static huddle_status list_incident(hd_problem *p) {
    huddle_status status = HUDDLE_OK;
    int64_t *at = NULL;
    ALLOC_ZERO(p->incident_at, (int64_t)p->free + 1);
    ALLOC(p->incident, 2 * p->live);
    at = p->incident_at;
    for (int64_t e = 0; e < p->live; e++) {
        at[p->head[e] + 1]++;
        if (p->tail[e] < p->free)
            at[p->tail[e] + 1]++;
    }
    for (int32_t v = 0; v < p->free; v++)
        at[v + 1] += at[v];
    for (int64_t e = 0; e < p->live; e++) {
        p->incident[at[p->head[e]]++] = (uint32_t)(2 * e);
        if (p->tail[e] < p->free)
            p->incident[at[p->tail[e]]++] = (uint32_t)(2 * e + 1);
    }
    memmove(at + 1, at, (size_t)p->free * sizeof *at);
    at[0] = 0;
done:
    return status;
}

/* Rows, radii and the constants, in the new order. */
static huddle_status copy_rows(const draft *d, const huddle_dense *f, hd_problem *p) {
    huddle_status status = HUDDLE_OK;
    int32_t *component = NULL;
    ALLOC(component, p->n);
    for (int64_t v = 0; v < p->n; v++) {
        for (int64_t k = 0; k < p->c; k++)
            p->f[v * p->c + k] = f->values[p->vertex[v] * f->stride + k] / p->unit;
        p->mass[v] = weight_of(d, p->vertex[v]);
        component[v] = d->component[p->vertex[v]];
    }
    TRY(hd_radii(p->n, p->c, p->f, p->c, component, p->n_components, p->radius));
    for (int64_t v = 0; v < p->n; v++)
        p->radius[v] *= p->mass[v];
    for (int64_t e = p->live; e < p->m; e++) {
        double sum = 0;
        for (int64_t k = 0; k < p->c; k++) {
            double x = p->f[p->head[e] * p->c + k] - p->f[p->tail[e] * p->c + k];
            sum += x * x;
        }
        p->idle += p->lambda[e] * sqrt(sum);
    }
done:
    huddle_free(component);
    return status;
}

huddle_status hd_problem_new(const huddle_dense *f, const huddle_csr *w, const hd_edges *edges,
                             const double *weights, double gamma, bool squared, bool fix,
                             double negligible, hd_problem *p) {
    huddle_status status = HUDDLE_OK;
    draft d = {.w = w, .edges = edges, .weights = weights, .negligible = negligible};
    *p = (hd_problem){.n = f->rows, .m = edges->count, .c = f->cols, .squared = squared};
    TRY(choose_unit(f, &p->unit));
    ALLOC(d.lambda, p->m);
    ALLOC(d.fixed, p->n);
    ALLOC(d.number, p->n);
    ALLOC(d.component, p->n);
    ALLOC(p->vertex, p->n);
    ALLOC(p->edge, p->m);
    ALLOC(p->turned, p->m);
    ALLOC(p->head, p->m);
    ALLOC(p->tail, p->m);
    ALLOC(p->lambda, p->m);
    ALLOC(p->f, p->n * p->c);
    ALLOC(p->mass, p->n);
    ALLOC(p->radius, p->n);
    TRY(weigh(&d, p->n, gamma, fix && !squared, p));
    TRY(hd_edges_components(edges, p->n, d.component, &p->n_components));
    TRY(number_vertices(&d, p));
    number_edges(&d, p);
    TRY(list_incident(p));
    TRY(copy_rows(&d, f, p));
done:
    draft_free(&d);
    if (status != HUDDLE_OK)
        hd_problem_free(p);
    return status;
}

void hd_problem_free(hd_problem *p) {
    huddle_free(p->blocks);
    huddle_free(p->vertex);
    huddle_free(p->edge);
    huddle_free(p->turned);
    huddle_free(p->head);
    huddle_free(p->tail);
    huddle_free(p->lambda);
    huddle_free(p->f);
    huddle_free(p->mass);
    huddle_free(p->radius);
    huddle_free(p->incident_at);
    huddle_free(p->incident);
    memset(p, 0, sizeof *p);
}
