#include "shrink/allot.h"

#include "base/check.h"
#include "shrink/split.h"

#include <math.h>
#include <stdlib.h>

/* A component of n / P rows is what a process holds anyway; a fifth more keeps whole what is hardly
 * larger. Up to 50,000 rows the arrays of a solve are small on any machine, and a solve by one
 * process is faster than one by several, which exchange rows in every step. */
hd_shrink_limits hd_shrink_engine_limits(const huddle_context *context) {
    hd_shrink_limits limits = {.numbers = HD_SHRINK_SMALLEST_SPLIT, .share = 1.2, .rows = 50000};
    const hd_engine_slabs *slabs = hd_context_engine(context)->slabs;
    if (slabs != NULL && slabs->few_rows != NULL && hd_slabs_few_rows(context) == 0)
        limits.numbers = 0, limits.rows = 0;
    return limits;
}

/* A component that lies on one process stays there if it is below this share of what a process
 * should have. All of these together are no more than the rows a process has. */
static const double staying_share = 1. / 64;

/* The time of a component grows with its size and with how far its rows have to move, measured by
 * its share of the sum over all components of what moving rows to their means costs. From
 * full_share on a component counts as what it is; with a smaller share as moving_part of that; and
 * rows that are one point but for idle_share, which a closed form solves, as idle_part. Set by
 * one run on sheets of 1,000,000 points, c = 40, on a busy machine: about 72, 29 and .3
 * microseconds per row and edge, with a factor of three between components of the first kind. */
static const double full_share = .01, idle_share = 1e-7, moving_part = .4, idle_part = .01;

/* So many components, the largest, are looked at in this way; the others have little work. */
enum { MAX_WEIGHED = 4096 };

/* What all processes know of a component. */
typedef struct measure {
    double rows, edges;
    double work;  /* an estimate, in rows and edges */
    bool is_idle; /* next to no work */
    int32_t home; /* the process that has all of its rows, or -1 */
    int32_t index;
} measure;

static int by_work(const void *a, const void *b) {
    const measure *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Rows, edges and home of each component, over all processes. The sums are counts, exact in double,
 * so that a process with as many rows as all together has all of them. Edges between processes
 * count half on each side. */
static huddle_status measure_components(const hd_shrink_input *in, const hd_shrink_allotment *a,
                                        measure *all) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = in->edges;
    double *sums = NULL, *own = NULL, *home = NULL;
    ALLOC_ZERO(sums, 2 * (int64_t)a->count);
    ALLOC(own, a->count);
    ALLOC(home, a->count);
    for (int64_t v = 0; v < in->f->rows; v++)
        sums[2 * a->component[v]]++;
    for (int64_t e = 0; e < edges->count; e++)
        if (edges->weight[e] > 0)
            sums[2 * a->component[edges->i[e]] + 1] += hd_shrink_edge_share(edges, e);
    for (int32_t q = 0; q < a->count; q++)
        own[q] = sums[2 * q];
    TRY(hd_reduce_sum(in->context, 2 * (int64_t)a->count, sums));
    for (int32_t q = 0; q < a->count; q++)
        home[q] = own[q] == sums[2 * q] ? hd_slabs_rank(in->context) : -1;
    TRY(hd_reduce_max(in->context, a->count, home));
    for (int32_t q = 0; q < a->count; q++)
        all[q] = (measure){.rows = sums[2 * q],
                           .edges = sums[2 * q + 1],
                           .work = sums[2 * q] + sums[2 * q + 1],
                           .home = (int32_t)home[q],
                           .index = q};
done:
    FREE(sums, own, home);
    return status;
}

/* cost[q] = the objective if all rows of the component are moved to their mean. */
static huddle_status add_costs(const hd_shrink_input *in, const hd_shrink_allotment *a,
                               const int32_t *slot, int64_t count, const double *mean,
                               double *cost) {
    const huddle_dense *f = in->f;
    for (int64_t v = 0; v < f->rows; v++) {
        int32_t q = slot[a->component[v]];
        if (q < 0)
            continue;
        double square = hd_shrink_distance2(f->values + v * f->stride, mean + q * f->cols, f->cols);
        cost[q] += hd_shrink_row_weight(in->weights, v) * (in->squared ? square : sqrt(square));
    }
    return hd_reduce_sum(in->context, count, cost);
}

/* Estimates the work of the largest components; `all` is sorted by size. */
static huddle_status estimate_work(const hd_shrink_input *in, const hd_shrink_allotment *a,
                                   measure *all) {
    huddle_status status = HUDDLE_OK;
    int64_t count = a->count < MAX_WEIGHED ? a->count : MAX_WEIGHED;
    double *mean = NULL, *cost = NULL, total = 0;
    int32_t *slot = NULL;
    ALLOC_ZERO(mean, count * in->f->cols);
    ALLOC_ZERO(cost, count);
    ALLOC(slot, a->count);
    for (int32_t q = 0; q < a->count; q++)
        slot[all[q].index] = q < count ? q : -1;
    TRY(hd_shrink_find_means(in->context, in->f, in->weights, a->component, slot, count, count,
                             mean));
    TRY(add_costs(in, a, slot, count, mean, cost));
    for (int64_t q = 0; q < count; q++)
        total += cost[q];
    for (int32_t q = 0; q < a->count; q++) {
        double share = q < count && total > 0 ? cost[q] / total : 0;
        all[q].is_idle = share < idle_share;
        all[q].work *= all[q].is_idle ? idle_part : share < full_share ? moving_part : 1;
    }
done:
    FREE(mean, cost, slot);
    return status;
}

/* The process with the smallest number, the first of several. */
static int32_t find_least(const double *numbers, int32_t count) {
    int32_t best = 0;
    for (int32_t r = 1; r < count; r++)
        if (numbers[r] < numbers[best])
            best = r;
    return best;
}

/* Sets the owners; `all` is sorted. Components without work even out the rows, that is, the memory
 * of the processes. What stays is given out first, because the second pass evens out the work: the
 * largest component first, each to the process with least (Graham 1969), so that what is left at
 * the end is small. */
static huddle_status choose_owners(const hd_shrink_input *in, const hd_shrink_limits *limits,
                                   const measure *all, hd_shrink_allotment *a) {
    huddle_status status = HUDDLE_OK;
    int32_t processes = hd_slabs_count(in->context);
    double most = fmax(limits->share * a->n / processes, (double)limits->rows);
    double staying = staying_share * (a->n + a->edges) / processes, *work = NULL, *rows = NULL;
    ALLOC_ZERO(work, processes);
    ALLOC_ZERO(rows, processes);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t q = 0; q < a->count; q++) {
            const measure *m = &all[q];
            int32_t *owner = &a->owner[m->index];
            bool stays = m->home >= 0 && m->rows + m->edges < staying;
            if (stays != (pass == 0) && m->rows <= most)
                continue;
            *owner = stays ? m->home : find_least(m->is_idle ? rows : work, processes);
            if (m->rows > most) {
                *owner = HD_SHRINK_TOGETHER;
                continue;
            }
            work[*owner] += m->work;
            rows[*owner] += m->rows;
        }
done:
    FREE(work, rows);
    return status;
}

huddle_status hd_shrink_allot(const hd_shrink_input *in, const hd_shrink_limits *limits,
                              hd_shrink_allotment *a) {
    huddle_status status = HUDDLE_OK;
    measure *all = NULL;
    *a = (hd_shrink_allotment){0};
    ALLOC(a->component, in->f->rows);
    TRY(hd_shrink_components(in->context, in->edges, in->f->rows, a->component, &a->count));
    ALLOC_ZERO(a->owner, a->count);
    ALLOC(all, a->count);
    TRY(measure_components(in, a, all));
    for (int32_t q = 0; q < a->count; q++) {
        a->n += all[q].rows;
        a->edges += all[q].edges;
    }
    a->is_small = (a->n + a->edges) * (double)in->f->cols < limits->numbers;
    if (a->is_small) /* all of it by process 0 */
        goto done;
    /* By size first, to find the largest ones, whose work is estimated; then by that. */
    qsort(all, (size_t)a->count, sizeof *all, by_work);
    TRY(estimate_work(in, a, all));
    qsort(all, (size_t)a->count, sizeof *all, by_work);
    TRY(choose_owners(in, limits, all, a));
done:
    huddle_free(all);
    return status;
}

void hd_shrink_allotment_free(hd_shrink_allotment *a) {
    FREE(a->component, a->owner);
    *a = (hd_shrink_allotment){0};
}
