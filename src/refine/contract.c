/* A smaller graph for process 0: every process merges its own vertices, by the rule of the merge
 * tree, as long as they have the same labels in all starts. The scores of the starts are then the
 * same on both graphs, and a move of a set is a move of all its vertices. */
#include "base/check.h"
#include "base/slabs.h"
#include "matrix/labels.h"
#include "refine/refine.h"

#include <stdlib.h>
#include <string.h>

void hd_refine_contraction_free(hd_refine_contraction *c) {
    huddle_csr_free(&c->graph);
    FREE(c->set, c->member);
    memset(c, 0, sizeof *c);
}

/* The vertices of this process and what is known about them. */
typedef struct slab_rows {
    huddle_context *context;
    hd_refine_graph graph; /* columns are numbers among the vertices of all processes */
    hd_slab slab;
    int32_t n_starts;
    const huddle_refine_start *starts;
} slab_rows;

static bool have_same_labels(const slab_rows *s, int64_t i, int64_t j) {
    for (int32_t k = 0; k < s->n_starts; k++)
        if (s->starts[k].labels[i] != s->starts[k].labels[j])
            return false;
    return true;
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* The edges along which vertices may be merged: between own vertices, so that no process waits for
 * another, and between equal labels, so that every start is a labelling of the sets too. */
static huddle_status list_edges(const slab_rows *s, hd_refine_quotient *q) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *a = s->graph.matrix;
    int64_t n = s->graph.n, at = 0;
    TRY(hd_refine_quotient_allocate(n, a->offsets[n], q));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            int64_t j = a->columns[e] - s->slab.first;
            if (j < 0 || j >= n || j == i || a->values[e] <= 0 || !have_same_labels(s, i, j))
                continue;
            q->columns[at] = (int32_t)j;
            q->weights[at++] = a->values[e] * s->graph.unit;
        }
        q->offsets[i + 1] = at;
        q->volumes[i] = s->graph.degree[i];
        q->sizes[i] = 1;
    }
done:
    return status;
}

/* Where edges were not enough: up to `times` sets with the same labels become one, in their order:
 * what is left is the share, and at most one set more for each combination of labels. The last open
 * set of each combination is found by hashing. At most half of the places are taken, as there are
 * no more combinations than sets. The first member of a set stands for its labels, which are those
 * of all members. */
static huddle_status join_apart(const slab_rows *s, int64_t times, hd_refine_contraction *c) {
    huddle_status status = HUDDLE_OK;
    int64_t size = 64, count = 0;
    int32_t *open = NULL, *joined = NULL, *first = NULL;
    int64_t *filled = NULL;
    while (size < 2 * c->n)
        size *= 2;
    ALLOC_ZERO(open, size); /* 1 + a joined set, or 0 */
    ALLOC(joined, c->n);
    ALLOC(first, c->n);
    ALLOC_ZERO(filled, c->n);
    for (int64_t k = 0; k < c->n; k++) {
        uint64_t hash = 0;
        for (int32_t t = 0; t < s->n_starts; t++)
            hash = (hash ^ (uint32_t)s->starts[t].labels[c->member[k]]) * 0x9E3779B97F4A7C15u;
        int64_t at = (int64_t)(hash >> 32) & (size - 1);
        while (open[at] != 0 && !have_same_labels(s, first[open[at] - 1], c->member[k]))
            at = (at + 1) & (size - 1);
        if (open[at] == 0 || filled[open[at] - 1] == times) {
            first[count] = c->member[k];
            open[at] = (int32_t)++count;
        }
        joined[k] = open[at] - 1;
        filled[joined[k]]++;
    }
    for (int64_t i = 0; i < s->graph.n; i++)
        c->set[i] = joined[c->set[i]];
    memcpy(c->member, first, (size_t)count * sizeof *first);
    c->n = count;
done:
    FREE(open, joined, first, filled);
    return status;
}

/* This process's share of the budget is that of its vertices. The rule (26) keeps the sets of
 * similar size: a large one would be a vertex that can hardly move. The agglomeration ends when no
 * edge is left (n_merges is asked for): it would go on by sizes alone, and merge vertices of
 * different labels. */
static huddle_status make_sets(const slab_rows *s, int64_t budget, hd_refine_contraction *c) {
    huddle_status status = HUDDLE_OK;
    hd_refine_quotient q = {0};
    int32_t *first = NULL, *second = NULL;
    int64_t n_merges = 0, count = 0, n = s->graph.n;
    int64_t share = (int64_t)((double)budget * (double)n / (double)s->slab.total);
    share = share < 1 ? 1 : share;
    ALLOC(c->set, n);
    ALLOC(c->member, n);
    ALLOC(first, n);
    ALLOC(second, n);
    if (n > share) {
        TRY(list_edges(s, &q));
        TRY(hd_refine_agglomerate(s->context, &q, NULL, hd_refine_rule_sum(), share, first, second,
                                  &n_merges));
    }
    TRY(hd_refine_cut(n, n_merges, first, second, c->set));
    for (int64_t i = 0; i < n; i++) /* sets are numbered by their first vertex */
        if (c->set[i] == count)
            c->member[count++] = (int32_t)i;
    c->n = count;
    if (count > share)
        TRY(join_apart(s, (count + share - 1) / share, c));
done:
    hd_refine_quotient_free(&q);
    FREE(first, second);
    return status;
}

/* ---- their graph ---------------------------------------------------------------------------- */

/* H of (25) of the vertices less that of the sets: merging vertices changes this term of the map
 * equation by a constant, which is added again so that both graphs have the same values. L needs no
 * correction, but (30) measures its gains with L + H. */
static huddle_status add_entropy(const slab_rows *s, hd_refine_contraction *c) {
    huddle_status status = HUDDLE_OK;
    double *volume = NULL;
    ALLOC_ZERO(volume, c->n);
    for (int64_t i = 0; i < s->graph.n; i++) {
        volume[c->set[i]] += s->graph.degree[i];
        c->entropy -= hd_refine_h(s->graph.degree[i]);
    }
    for (int64_t k = 0; k < c->n; k++)
        c->entropy += hd_refine_h(volume[k]);
    TRY(hd_reduce_sum(s->context, 1, &c->entropy));
done:
    huddle_free(volume);
    return status;
}

/* Sets of other processes are known to their owners only, hence the halo. For each entry of the
 * matrix the set that it leads to, numbered among those of all processes. Fetched is one number for
 * each vertex at the border. */
static huddle_status find_targets(const slab_rows *s, hd_refine_contraction *c, int32_t **targets) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *a = s->graph.matrix;
    int64_t n = s->graph.n, entries = a->offsets[n];
    int32_t *number = NULL;
    hd_halo halo = {0};
    hd_slab sets;
    TRY(hd_slab_locate(s->context, c->n, &sets));
    c->total = sets.total;
    ALLOC(*targets, entries);
    if (entries > 0)
        memcpy(*targets, a->columns, (size_t)entries * sizeof **targets);
    TRY(hd_halo_open(s->context, n, entries, *targets, &halo));
    ALLOC(number, n + halo.ghosts);
    for (int64_t i = 0; i < n; i++)
        number[i] = (int32_t)(sets.first + c->set[i]);
    TRY(hd_halo_fetch(&halo, number, sizeof *number));
    for (int64_t e = 0; e < entries; e++)
        (*targets)[e] = number[(*targets)[e]];
done:
    hd_halo_close(&halo);
    huddle_free(number);
    return status;
}

static int compare_columns(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Adds the entries of some vertices by target; the row is written with ascending columns, as the
 * checks of the graph on process 0 require. `weight` has a place for every set of all processes. It
 * is 0 between rows, for which only what a row has touched is cleared: a row costs as much as its
 * entries, not as there are sets. */
static void write_row(const slab_rows *s, int64_t count, const int32_t *members,
                      const int32_t *targets, double *weight, int64_t row, huddle_csr *to) {
    const huddle_csr *a = s->graph.matrix;
    int64_t begin = to->offsets[row], end = begin;
    for (int64_t t = 0; t < count; t++)
        for (int64_t e = a->offsets[members[t]]; e < a->offsets[members[t] + 1]; e++) {
            if (a->values[e] <= 0)
                continue;
            if (weight[targets[e]] == 0)
                to->columns[end++] = targets[e];
            weight[targets[e]] += a->values[e];
        }
    qsort(to->columns + begin, (size_t)(end - begin), sizeof *to->columns, compare_columns);
    for (int64_t e = begin; e < end; e++) {
        to->values[e] = weight[to->columns[e]];
        weight[to->columns[e]] = 0;
    }
    to->offsets[row + 1] = end;
}

/* Edges inside a set become its loop, which counts once, as both of their entries do. The share f
 * of a start is then that of the vertices, and so are the sums of (29). */
static huddle_status join_rows(const slab_rows *s, hd_refine_contraction *c) {
    huddle_status status = HUDDLE_OK;
    int32_t *targets = NULL, *members = NULL;
    int64_t *begin = NULL;
    double *weight = NULL;
    TRY(find_targets(s, c, &targets));
    ALLOC(members, s->graph.n);
    ALLOC(begin, c->n + 2);
    ALLOC_ZERO(weight, c->total);
    TRY(huddle_csr_new(c->n, c->total, s->graph.matrix->offsets[s->graph.n], &c->graph));
    hd_list_members(s->graph.n, c->set, c->n, begin, members);
    for (int64_t k = 0; k < c->n; k++)
        write_row(s, begin[k + 1] - begin[k], members + begin[k], targets, weight, k, &c->graph);
done:
    FREE(targets, members, begin, weight);
    return status;
}

/* Processes merge without messages; what they exchange are the numbers of the sets at their borders
 * and two sums: the weight of the graph, in which all of them measure gains, and the entropy. */
huddle_status hd_refine_contract(huddle_context *context, const huddle_csr *matrix, int64_t budget,
                                 int32_t n_starts, const huddle_refine_start *starts,
                                 hd_refine_contraction *c) {
    huddle_status status = HUDDLE_OK;
    slab_rows s = {.context = context,
                   .graph = {.matrix = matrix, .n = matrix->rows},
                   .n_starts = n_starts,
                   .starts = starts};
    double total;
    memset(c, 0, sizeof *c);
    TRY(hd_slab_locate(context, matrix->rows, &s.slab));
    TRY(hd_refine_graph_weigh(context, &s.graph, &total));
    TRY(make_sets(&s, budget, c));
    TRY(add_entropy(&s, c));
    TRY(join_rows(&s, c));
done:
    hd_refine_graph_free(&s.graph);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        hd_refine_contraction_free(c);
    return status;
}
