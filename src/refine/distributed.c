/* Refinement of rows that are distributed over processes (docs/method.md, "Refinement"). Process 0
 * does what one process alone would do, on the graph itself if it is small enough, otherwise on a
 * contracted one; the labels go back to the processes, which then move single vertices. */
#include "base/check.h"
#include "base/slabs.h"
#include "matrix/arrange.h"
#include "matrix/collect.h"
#include "refine/refine.h"

/* ---- process 0 ------------------------------------------------------------------------------ */

/* Rows whose graph process 0 gets. */
typedef struct task {
    const huddle_csr *graph; /* this process's rows */
    double hidden;           /* of hd_refine_graph */
    int32_t n_starts;
    const huddle_refine_start *starts; /* of this process's rows */
    huddle_refine_options *options;    /* n_clusters is completed */
} task;

/* What process 0 does with the graph and the starts of all rows. These are the calls of refine() in
 * refine.c, in the same order: up to the budget the labels are those of one process. */
static huddle_status run_collected(huddle_context *context, const task *t, const huddle_csr *whole,
                                   void *const *collected, int32_t **labels,
                                   huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_start starts[HUDDLE_REFINE_MAX_TRIALS];
    hd_refine_graph graph = {0};
    huddle_refine_tree tree = {0};
    for (int32_t k = 0; k < t->n_starts; k++)
        starts[k] = (huddle_refine_start){t->starts[k].name, collected[k]};
    ALLOC(*labels, whole->rows);
    TRY(hd_refine_graph_new(context, whole, &graph));
    graph.hidden = t->hidden;
    TRY(hd_refine_complete(graph.n, &starts[0], t->options));
    if (t->options->merge)
        TRY(hd_refine_tree_new(context, &graph, &tree));
    TRY(hd_refine_run(context, &graph, t->options->merge ? &tree : NULL, t->n_starts, starts,
                      t->options, *labels, info));
done:
    huddle_refine_tree_free(&tree);
    hd_refine_graph_free(&graph);
    return status;
}

/* Labels and info are those of process 0 on all processes. n_clusters is sent too: if it was to be
 * counted, only process 0 has seen all labels. */
static huddle_status run_on_first(huddle_context *context, const task *t, int32_t *labels,
                                  huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_csr whole = {0};
    void *collected[HUDDLE_REFINE_MAX_TRIALS] = {0};
    int32_t *all = NULL;
    int64_t n = t->graph->rows, total;
    TRY(hd_collect_csr(context, t->graph, 0, &whole));
    for (int32_t k = 0; k < t->n_starts; k++)
        TRY(hd_collect_rows(context, 0, n, t->starts[k].labels, sizeof(int32_t), &total,
                            &collected[k]));
    TRY_ON_FIRST(context, run_collected(context, t, &whole, collected, &all, info));
    huddle_csr_free(&whole); /* the largest array; it would be kept while others wait */
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

/* The labels of process 0 for the sets, given to their vertices and improved by moves: borders of
 * clusters run along borders of sets until then. Trials are compared by the scores of the
 * contracted graph, which are those of the whole one; only the best has them measured again. */
static huddle_status refine_contracted(huddle_context *context, const huddle_csr *matrix,
                                       int64_t budget, const task *t, int32_t *labels,
                                       huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_refine_contraction c = {0};
    huddle_refine_start starts[HUDDLE_REFINE_MAX_TRIALS];
    int32_t *of_sets = NULL, *found = NULL, n_sweeps;
    const hd_refine_objective *objective = hd_refine_objective_find(t->options->objective);
    TRY(hd_refine_contract(context, matrix, budget, t->n_starts, t->starts, &c));
    ALLOC(found, c.n);
    ALLOC(of_sets, t->n_starts * c.n);
    for (int32_t k = 0; k < t->n_starts; k++) {
        int32_t *to = of_sets + k * c.n;
        /* Any member will do: all members of a set have the same labels. */
        for (int64_t i = 0; i < c.n; i++)
            to[i] = t->starts[k].labels[c.member[i]];
        starts[k] = (huddle_refine_start){t->starts[k].name, to};
    }
    task coarse = *t;
    coarse.graph = &c.graph;
    coarse.hidden = c.entropy;
    coarse.starts = starts;
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
    FREE(of_sets, found);
    return hd_agree(context, status);
}

/* Rows are moved first to where their neighbours are: only neighbours on one process can be
 * contracted. Labels go back with them, and are numbered where the caller's starts are. */
static huddle_status refine_arranged(huddle_context *context, const huddle_csr *matrix,
                                     int64_t budget, const task *t, int32_t *labels,
                                     huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_arrangement a = {0};
    huddle_refine_start starts[HUDDLE_REFINE_MAX_TRIALS];
    int32_t *moved = NULL, *found = NULL;
    TRY(hd_arrange_open(context, matrix, NULL, true, &a));
    ALLOC(found, a.moved);
    ALLOC(moved, t->n_starts * a.moved);
    for (int32_t k = 0; k < t->n_starts; k++) {
        int32_t *to = moved + k * a.moved;
        TRY(hd_arrange_rows(&a, t->starts[k].labels, sizeof *to, to));
        starts[k] = (huddle_refine_start){t->starts[k].name, to};
    }
    task here = *t;
    here.starts = starts;
    TRY(refine_contracted(context, &a.graph, budget, &here, found, info));
    TRY(hd_arrange_back(&a, found, sizeof *found, labels));
    TRY(hd_refine_number(context, matrix->rows, t->options->n_clusters, t->starts[0].labels, labels,
                         &info->n_changed));
done:
    hd_arrange_close(&a);
    FREE(moved, found);
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
    task t = {.graph = matrix, .n_starts = n_starts, .starts = starts, .options = &own};
    TRY(huddle_csr_fetch(matrix));
    TRY(huddle_csr_check(matrix));
    TRY(matrix->cols <= budget ? run_on_first(context, &t, labels, info)
                               : refine_arranged(context, matrix, budget, &t, labels, info));
done:
    return hd_agree(context, status);
}
