/* Entry points: options, checks, and the calls of the steps. */
#include "huddle/refine.h"

#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "base/slabs.h"
#include "matrix/collect.h"
#include "matrix/labels.h"
#include "refine/refine.h"

#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

/* The defaults of cut_slack and least_gain lie between wrong starts and those that help, measured
 * from the given start with the smallest cut (bench/quality.py). On rings with a column of noise a
 * wrong start is taken in one of 12 draws with a gain of .35 %, in none with .4 %; the right start
 * of MNIST gains .55 % with a cut 14 % larger. Image sets are the same with a slack of .15 to .3.
 */
static const huddle_option table[] = {
    HD_CHOICE(huddle_refine_options, objective, "map", hd_refine_objective_names,
              "what the moves of vertices minimise: map equation, 1 - modularity, normalised cut"),
    HD_BOOL(huddle_refine_options, merge, "true", "whether to try starts made by merging clusters"),
    HD_INT(huddle_refine_options, max_sweeps, "30", 0, INT32_MAX,
           "maximum number of sweeps over all vertices"),
    HD_REAL(huddle_refine_options, cut_slack, "0.2", 0, INFINITY,
            "by what share the normalised cut may exceed that of the given start with the smallest "
            "one"),
    HD_REAL(huddle_refine_options, least_gain, "0.004", 0, INFINITY,
            "share of the description length that replacing that start must gain"),
    HD_SEED(huddle_refine_options, seed, "seed of the order in which vertices are visited"),
    {0}};

const huddle_option *huddle_refine_options_table(void) {
    return table;
}

huddle_refine_options huddle_refine_defaults(void) {
    huddle_refine_options options = {.n_clusters = HUDDLE_AUTO};
    huddle_options_default(table, &options);
    return options;
}

/* ---- checks -------------------------------------------------------------------------------- */

/* With more clusters than vertices some would be empty, and no move could fill them: vertices go to
 * clusters of their neighbours only. */
huddle_status hd_refine_check_clusters(int32_t n_clusters, int64_t n) {
    if (n_clusters < 1 || n_clusters > n)
        return hd_fail(HUDDLE_INVALID,
                       "n_clusters = %d is outside [1, %lld], the number of vertices", n_clusters,
                       (long long)n);
    return HUDDLE_OK;
}

/* Merging adds up to four starts of its own (trials.c), which need places in the info. The starts
 * are otherwise any labels: ranks take their place before they are used as indices. */
static huddle_status check_starts(int32_t n_starts, const huddle_refine_start *starts, bool merge) {
    huddle_status status = HUDDLE_OK;
    int32_t most = HUDDLE_REFINE_MAX_TRIALS - (merge ? 4 : 0);
    if (n_starts < 1 || n_starts > most)
        FAIL(HUDDLE_INVALID, "%d starts, not 1 to %d", n_starts, most);
    if (starts == NULL)
        FAIL(HUDDLE_INVALID, "the starts are missing");
    for (int32_t k = 0; k < n_starts; k++)
        if (starts[k].labels == NULL)
            FAIL(HUDDLE_INVALID, "start %d has no labels", k + 1);
done:
    return status;
}

/* The number of different labels, not the largest one: a start may be numbered as its caller likes.
 * The first start decides, because the numbers of the result are matched to it as well. */
huddle_status hd_refine_complete(int64_t n, const huddle_refine_start *start,
                                 huddle_refine_options *options) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL;
    int64_t count;
    if (options->n_clusters == HUDDLE_AUTO) {
        ALLOC(ranks, n);
        TRY(hd_rank_labels(NULL, n, start->labels, ranks, &count, NULL));
        options->n_clusters = (int32_t)count;
    }
    TRY(hd_refine_check_clusters(options->n_clusters, n));
done:
    huddle_free(ranks);
    return status;
}

/* ---- entry points -------------------------------------------------------------------------- */

/* The graph is checked once, before anything is computed. Rows of several processes need no tree
 * here: process 0 makes that of the graph that it gets. Of a given tree only the size is compared
 * here; whether it is a tree shows when it is put in order and cut (tree.c), where each merge is
 * read anyway. */
static huddle_status refine(huddle_context *context, const huddle_csr *matrix,
                            const huddle_refine_tree *tree, int32_t n_starts,
                            const huddle_refine_start *starts, const huddle_refine_options *options,
                            int32_t *labels, huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options own = options != NULL ? *options : huddle_refine_defaults();
    hd_refine_graph graph = {0};
    huddle_refine_tree made = {0};
    TRY(huddle_options_check(table, &own));
    TRY(check_starts(n_starts, starts, own.merge));
    if (labels == NULL)
        FAIL(HUDDLE_INVALID, "the place for the labels is missing");
    if (tree != NULL)
        TRY(hd_slabs_refuse(context, "refining labels with a given merge tree"));
    if (hd_slabs_distributed(context) && matrix != NULL)
        return hd_refine_distributed(context, matrix, HD_REFINE_BUDGET, n_starts, starts, &own,
                                     labels, info);
    TRY(hd_refine_graph_new(context, matrix, &graph));
    TRY(hd_refine_complete(graph.n, &starts[0], &own));
    if (tree != NULL && tree->n != graph.n)
        FAIL(HUDDLE_INVALID, "a tree of %lld vertices does not fit a graph of %lld",
             (long long)tree->n, (long long)graph.n);
    /* Without `merge` no start is cut from a tree, and nothing else needs one. */
    if (tree == NULL && own.merge) {
        TRY(hd_refine_tree_new(context, &graph, &made));
        tree = &made;
    }
    TRY(hd_refine_run(context, &graph, tree, n_starts, starts, &own, labels, info));
done:
    huddle_refine_tree_free(&made);
    hd_refine_graph_free(&graph);
    return status;
}

huddle_status huddle_refine_with_tree(huddle_context *context, const huddle_csr *graph,
                                      const huddle_refine_tree *tree, int32_t n_starts,
                                      const huddle_refine_start *starts,
                                      const huddle_refine_options *options, int32_t *labels,
                                      huddle_refine_info *info) {
    huddle_refine_info ignored = {0};
    double begun = hd_seconds();
    info = info != NULL ? info : &ignored;
    memset(info, 0, sizeof *info);
    huddle_status status = refine(context, graph, tree, n_starts, starts, options, labels, info);
    info->seconds = hd_seconds() - begun;
    return hd_agree(context, status);
}

huddle_status huddle_refine(huddle_context *context, const huddle_csr *graph, int32_t n_starts,
                            const huddle_refine_start *starts, const huddle_refine_options *options,
                            int32_t *labels, huddle_refine_info *info) {
    return huddle_refine_with_tree(context, graph, NULL, n_starts, starts, options, labels, info);
}

/* Labels are indices from here on, and are checked first. Clusters without vertices are allowed:
 * they stay empty, as K-means may leave them. */
static huddle_status move_vertices(huddle_context *context, const huddle_csr *matrix,
                                   const huddle_refine_options *options, int32_t *labels,
                                   int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options own = options != NULL ? *options : huddle_refine_defaults();
    hd_refine_graph graph = {0};
    TRY(huddle_options_check(table, &own));
    if (labels == NULL)
        FAIL(HUDDLE_INVALID, "the labels are missing");
    TRY(hd_refine_graph_new(context, matrix, &graph));
    if (own.n_clusters == HUDDLE_AUTO) {
        int32_t most = 0;
        for (int64_t i = 0; i < graph.n; i++)
            most = labels[i] > most ? labels[i] : most;
        /* A label of INT32_MAX has no number after it, and is refused below. */
        own.n_clusters = most < INT32_MAX ? most + 1 : most;
    }
    TRY(hd_refine_check_clusters(own.n_clusters, graph.n));
    for (int64_t i = 0; i < graph.n; i++)
        if (labels[i] < 0 || labels[i] >= own.n_clusters)
            FAIL(HUDDLE_INVALID, "vertex %lld has the label %d, not one of 0 to %d",
                 (long long)i + 1, labels[i], own.n_clusters - 1);
    TRY(hd_refine_move(context, &graph, hd_refine_objective_find(own.objective), own.n_clusters,
                       own.max_sweeps, own.seed, labels, n_sweeps));
done:
    hd_refine_graph_free(&graph);
    return status;
}

/* A small graph is gathered, and process 0 moves its vertices one after the other: the labels are
 * those of one process. */
static huddle_status move_gathered(huddle_context *context, const huddle_csr *matrix,
                                   const huddle_refine_options *options, int32_t *labels,
                                   int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    huddle_csr whole = {0};
    void *all = NULL;
    int64_t total;
    int32_t sweeps = 0;
    TRY(hd_collect_csr(context, matrix, 0, &whole));
    TRY(hd_collect_rows(context, 0, matrix->rows, labels, sizeof *labels, &total, &all));
    TRY_ON_FIRST(context, move_vertices(context, &whole, options, all, &sweeps));
    TRY(hd_scatter_rows(context, 0, all, matrix->rows, sizeof *labels, labels));
    TRY(hd_slabs_broadcast(context, 0, sizeof sweeps, &sweeps));
    if (n_sweeps != NULL)
        *n_sweeps = sweeps;
done:
    huddle_csr_free(&whole);
    huddle_free(all);
    return status;
}

/* Every process moves its own vertices. The labels of all processes are numbered from 0 to the
 * largest, unless their number is given. Both extremes are reduced before they are tested, so that
 * all processes accept or refuse the labels alike; labels are exact in double, in which reductions
 * are made. The message names no vertex, since only its own process knows which it is. */
static huddle_status move_distributed(huddle_context *context, const huddle_csr *matrix,
                                      const huddle_refine_options *options, int32_t *labels,
                                      int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options own = options != NULL ? *options : huddle_refine_defaults();
    double extremes[2] = {0, 0}; /* the largest label, and the smallest one's negative */
    TRY(huddle_options_check(table, &own));
    TRY(huddle_csr_check(matrix));
    for (int64_t i = 0; i < matrix->rows; i++) {
        extremes[0] = labels[i] > extremes[0] ? labels[i] : extremes[0];
        extremes[1] = -(double)labels[i] > extremes[1] ? -(double)labels[i] : extremes[1];
    }
    TRY(hd_reduce_max(context, 2, extremes));
    if (own.n_clusters == HUDDLE_AUTO)
        own.n_clusters = extremes[0] < INT32_MAX ? (int32_t)extremes[0] + 1 : INT32_MAX;
    TRY(hd_refine_check_clusters(own.n_clusters, matrix->cols));
    if (extremes[1] > 0 || extremes[0] >= own.n_clusters)
        FAIL(HUDDLE_INVALID, "there is a label %.0f, not one of 0 to %d",
             extremes[1] > 0 ? -extremes[1] : extremes[0], own.n_clusters - 1);
    TRY(hd_refine_move_distributed(context, matrix, hd_refine_objective_find(own.objective),
                                   own.n_clusters, own.max_sweeps, own.seed, labels, n_sweeps));
done:
    return status;
}

huddle_status huddle_refine_move(huddle_context *context, const huddle_csr *graph,
                                 const huddle_refine_options *options, int32_t *labels,
                                 int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    /* What is missing is reported by the checks of move_vertices(). The columns of a graph count
     * the vertices of all processes, so that all of them take the same branch below. */
    bool distributed = hd_slabs_distributed(context) && graph != NULL && labels != NULL;
    if (!distributed)
        return hd_agree(context, move_vertices(context, graph, options, labels, n_sweeps));
    TRY(huddle_csr_fetch(graph));
    TRY(graph->cols <= HD_REFINE_BUDGET
            ? move_gathered(context, graph, options, labels, n_sweeps)
            : move_distributed(context, graph, options, labels, n_sweeps));
done:
    return hd_agree(context, status);
}
