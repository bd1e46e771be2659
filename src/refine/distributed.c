/* Refinement of rows that are distributed over processes (docs/method.md, "Refinement"). Process 0
 * does what one process alone would do, on the graph itself if it is small enough, otherwise on a
 * contracted one; the labels go back to the processes, which then move single vertices. */
#include "base/check.h"
#include "base/slabs.h"
#include "matrix/arrange.h"
#include "matrix/collect.h"
#include "refine/refine.h"

#include <math.h>
#include <string.h>

/* ---- process 0 ------------------------------------------------------------------------------ */

/* Rows whose graph process 0 gets. */
typedef struct task {
    const huddle_csr *graph; /* this process's rows */
    double hidden;           /* of hd_refine_graph */
    int32_t n_starts;
    const huddle_refine_start *starts; /* the names */
    int32_t *const *labels;            /* n_starts: of this process's rows */
    huddle_refine_options *options;    /* n_clusters is completed */
} task;

static huddle_status run_alone(huddle_context *context, const task *t, const huddle_csr *whole,
                               const huddle_refine_start *starts, int32_t *labels,
                               huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_refine_graph graph = {0};
    huddle_refine_tree tree = {0};
    TRY(hd_refine_graph_new(context, whole, &graph));
    graph.hidden = t->hidden;
    TRY(hd_refine_complete(graph.n, &starts[0], t->options));
    if (t->options->merge)
        TRY(hd_refine_tree_new(context, &graph, &tree));
    TRY(hd_refine_run(context, &graph, t->options->merge ? &tree : NULL, t->n_starts, starts,
                      t->options, labels, info));
done:
    huddle_refine_tree_free(&tree);
    hd_refine_graph_free(&graph);
    return status;
}

/* Everything that process 0 has: the graph and the starts of all rows. */
static huddle_status run_collected(huddle_context *context, const task *t, const huddle_csr *whole,
                                   void *const *collected, int32_t **labels,
                                   huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_start starts[HUDDLE_REFINE_MAX_TRIALS];
    for (int32_t k = 0; k < t->n_starts; k++)
        starts[k] = (huddle_refine_start){t->starts[k].name, collected[k]};
    ALLOC(*labels, whole->rows);
    TRY(run_alone(context, t, whole, starts, *labels, info));
done:
    return status;
}

/* Labels and info are those of process 0 on all processes. */
static huddle_status run_on_first(huddle_context *context, const task *t, int32_t *labels,
                                  huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_csr whole = {0};
    void *collected[HUDDLE_REFINE_MAX_TRIALS] = {0};
    int32_t *all = NULL;
    int64_t n = t->graph->rows, total;
    TRY(hd_collect_csr(context, t->graph, 0, &whole));
    for (int32_t k = 0; k < t->n_starts; k++)
        TRY(hd_collect_rows(context, 0, n, t->labels[k], sizeof(int32_t), &total, &collected[k]));
    TRY_ON_FIRST(context, run_collected(context, t, &whole, collected, &all, info));
    huddle_csr_free(&whole);
    TRY(hd_slabs_broadcast(context, 0, sizeof *info, info));
    TRY(hd_slabs_broadcast(context, 0, sizeof t->options->n_clusters, &t->options->n_clusters));
    TRY(hd_scatter_rows(context, 0, all, n, sizeof *labels, labels));
done:
    huddle_csr_free(&whole);
    for (int32_t k = 0; k < t->n_starts; k++)
        huddle_free(collected[k]);
    huddle_free(all);
    return status;
}

/* ---- more vertices than process 0 may have ---------------------------------------------------
 */

/* The labels as hd_refine_number() numbers them, of all processes. */
static huddle_status number_labels(huddle_context *context, int64_t n, int32_t n_clusters,
                                   const int32_t *reference, int32_t *labels, int64_t *n_changed) {
    huddle_status status = HUDDLE_OK;
    double *first = NULL, outside = 0;
    int32_t *number = NULL;
    hd_slab slab;
    TRY(hd_slab_locate(context, n, &slab));
    ALLOC(first, 2 * (int64_t)n_clusters);
    ALLOC(number, n_clusters);
    for (int64_t k = 0; k < 2 * (int64_t)n_clusters; k++)
        first[k] = INFINITY;
    for (int64_t i = n - 1; i >= 0; i--) {
        first[labels[i]] = (double)(slab.first + i);
        if (reference[i] >= 0 && reference[i] < n_clusters)
            first[n_clusters + reference[i]] = 0;
        else
            outside = 1;
    }
    TRY(hd_reduce_min(context, 2 * (int64_t)n_clusters, first));
    TRY(hd_reduce_max(context, 1, &outside));
    bool by_reference = outside == 0;
    for (int32_t k = 0; k < n_clusters; k++)
        by_reference = by_reference && isfinite(first[n_clusters + k]);
    *n_changed = 0;
    if (by_reference) {
        TRY(huddle_metrics_renumber(context, n, reference, labels));
        for (int64_t i = 0; i < n; i++)
            *n_changed += labels[i] != reference[i];
        TRY(hd_reduce_count(context, n_changed));
        goto done;
    }
    for (int32_t k = 0; k < n_clusters; k++) {
        number[k] = 0;
        for (int32_t m = 0; m < n_clusters; m++)
            number[k] += first[m] < first[k];
    }
    for (int64_t i = 0; i < n; i++)
        labels[i] = number[labels[i]];
done:
    FREE(first, number);
    return status;
}

/* The labels of process 0 for the sets, given to their vertices and improved by moves. */
static huddle_status refine_contracted(huddle_context *context, const huddle_csr *matrix,
                                       int64_t budget, const task *t, int32_t *labels,
                                       huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_refine_contraction c = {0};
    int32_t *of_sets[HUDDLE_REFINE_MAX_TRIALS] = {0}, *found = NULL, n_sweeps;
    const hd_refine_objective *objective = hd_refine_objective_find(t->options->objective);
    TRY(hd_refine_contract(context, matrix, budget, t->n_starts, t->labels, &c));
    ALLOC(found, c.n);
    for (int32_t k = 0; k < t->n_starts; k++) {
        ALLOC(of_sets[k], c.n);
        for (int64_t i = 0; i < c.n; i++)
            of_sets[k][i] = t->labels[k][c.member[i]];
    }
    task coarse = *t;
    coarse.graph = &c.graph;
    coarse.hidden = c.entropy;
    coarse.labels = of_sets;
    TRY(run_on_first(context, &coarse, found, info));
    for (int64_t i = 0; i < matrix->rows; i++)
        labels[i] = found[c.set[i]];
    TRY(hd_refine_move_distributed(context, matrix, objective, t->options->n_clusters,
                                   t->options->max_sweeps, t->options->seed, labels, &n_sweeps));
    huddle_refine_trial *best = &info->trials[info->best];
    best->n_sweeps += n_sweeps;
    TRY(huddle_metrics_graph_scores(context, matrix, labels, &best->scores));
done:
    hd_refine_contraction_free(&c);
    for (int32_t k = 0; k < t->n_starts; k++)
        huddle_free(of_sets[k]);
    huddle_free(found);
    return hd_agree(context, status);
}

/* Rows are moved first to where their neighbours are: only neighbours on one process can be
 * contracted. */
static huddle_status refine_arranged(huddle_context *context, const huddle_csr *matrix,
                                     int64_t budget, const task *t, int32_t *labels,
                                     huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_arrangement a = {0};
    int32_t *moved[HUDDLE_REFINE_MAX_TRIALS] = {0}, *found = NULL;
    TRY(hd_arrange_open(context, matrix, NULL, true, &a));
    ALLOC(found, a.moved);
    for (int32_t k = 0; k < t->n_starts; k++) {
        ALLOC(moved[k], a.moved);
        TRY(hd_arrange_rows(&a, t->labels[k], sizeof(int32_t), moved[k]));
    }
    task here = *t;
    here.labels = moved;
    TRY(refine_contracted(context, &a.graph, budget, &here, found, info));
    TRY(hd_arrange_back(&a, found, sizeof *found, labels));
    TRY(number_labels(context, matrix->rows, t->options->n_clusters, t->starts[0].labels, labels,
                      &info->n_changed));
done:
    hd_arrange_close(&a);
    for (int32_t k = 0; k < t->n_starts; k++)
        huddle_free(moved[k]);
    huddle_free(found);
    return hd_agree(context, status);
}

/* ---- the whole ------------------------------------------------------------------------------ */

huddle_status hd_refine_distributed(huddle_context *context, const huddle_csr *matrix,
                                    int64_t budget, int32_t n_starts,
                                    const huddle_refine_start *starts,
                                    const huddle_refine_options *options, int32_t *labels,
                                    huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options own = *options;
    int32_t *given[HUDDLE_REFINE_MAX_TRIALS] = {0};
    task t = {
        .graph = matrix, .n_starts = n_starts, .starts = starts, .labels = given, .options = &own};
    TRY(huddle_csr_fetch(matrix));
    TRY(huddle_csr_check(matrix));
    for (int32_t k = 0; k < n_starts; k++) {
        ALLOC(given[k], matrix->rows);
        if (matrix->rows > 0)
            memcpy(given[k], starts[k].labels, (size_t)matrix->rows * sizeof *given[k]);
    }
    TRY(matrix->cols <= budget ? run_on_first(context, &t, labels, info)
                               : refine_arranged(context, matrix, budget, &t, labels, info));
done:
    for (int32_t k = 0; k < n_starts; k++)
        huddle_free(given[k]);
    return hd_agree(context, status);
}
