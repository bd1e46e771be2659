#include "shrink/allot.h"

#include "base/check.h"
#include "shrink/split.h"

#include <math.h>
#include <stdlib.h>

/* A component of n / P rows is what a process holds anyway; a fifth more keeps whole what is hardly
 * larger. Up to 50,000 rows the arrays of a solve are small on any machine, and a solve by one
 * process is faster than one by several, which exchange rows in every step. */
const hd_shrink_limits hd_shrink_default_limits = {
    .numbers = HD_SHRINK_SMALLEST_SPLIT, .share = 1.2, .rows = 50000};

/* A component that lies on one process stays there if it is below this share of what a process
 * should have. All of these together are no more than the rows a process has. */
static const double staying_share = 1. / 64;

/* What all processes know of a component. */
typedef struct measure {
    double rows, edges;
    int32_t home; /* the process that has all of its rows, or -1 */
    int32_t index;
} measure;

static int by_size(const void *a, const void *b) {
    const measure *x = a, *y = b;
    if (x->edges != y->edges)
        return x->edges > y->edges ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Rows, edges and home of each component, over all processes. */
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
        all[q] = (measure){sums[2 * q], sums[2 * q + 1], (int32_t)home[q], q};
done:
    huddle_free(sums);
    huddle_free(own);
    huddle_free(home);
    return status;
}

/* The process with the least work so far, the first of several. */
static int32_t find_idlest(const double *load, int32_t count) {
    int32_t best = 0;
    for (int32_t r = 1; r < count; r++)
        if (load[r] < load[best])
            best = r;
    return best;
}

/* Sets the owners; `all` is sorted. */
static huddle_status choose_owners(const hd_shrink_input *in, const hd_shrink_limits *limits,
                                   const measure *all, hd_shrink_allotment *a) {
    huddle_status status = HUDDLE_OK;
    int32_t processes = hd_slabs_count(in->context);
    double most = fmax(limits->share * a->n / processes, (double)limits->rows), *load = NULL;
    double staying = staying_share * (a->n + a->edges) / processes;
    ALLOC_ZERO(load, processes);
    for (int32_t q = 0; q < a->count; q++) {
        const measure *m = &all[q];
        bool stays = m->home >= 0 && m->rows + m->edges < staying;
        a->owner[m->index] = m->rows > most ? HD_SHRINK_TOGETHER : stays ? m->home : processes;
        if (stays && m->rows <= most)
            load[m->home] += m->rows + m->edges;
    }
    for (int32_t q = 0; q < a->count; q++)
        if (a->owner[all[q].index] == processes) {
            int32_t r = find_idlest(load, processes);
            a->owner[all[q].index] = r;
            load[r] += all[q].rows + all[q].edges;
        }
done:
    huddle_free(load);
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
    qsort(all, (size_t)a->count, sizeof *all, by_size);
    TRY(choose_owners(in, limits, all, a));
done:
    huddle_free(all);
    return status;
}

void hd_shrink_allotment_free(hd_shrink_allotment *a) {
    huddle_free(a->component);
    huddle_free(a->owner);
    *a = (hd_shrink_allotment){0};
}
