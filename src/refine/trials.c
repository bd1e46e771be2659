/* Starts, given and made by merging, and the choice among them. */
#include "base/check.h"
#include "base/engine.h"
#include "base/parallel.h"
#include "matrix/labels.h"
#include "refine/refine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    COARSEST = 8,    /* the levels begin at this many times the number of clusters, */
    LEVEL_SWEEPS = 8 /* with this many sweeps before the last level: a study of image sets */
};

/* The planted partition's resolution (28) assumes at least this share of weight inside clusters:
 * the labels before the merges have more clusters, and thus less inside, than those that are
 * wanted. */
static const double least_inside = .5;

/* A cut of 0 is 0 up to the rounding errors of its sum, of one term for each cluster: bounds get
 * this much for each. */
static const double cut_rounding = 1e-12;

/* The trials are independent of each other and made side by side; each has labels of its own. */
typedef struct run {
    huddle_context *context;
    const hd_refine_graph *graph; /* in the order of the tree if there is one */
    const int32_t *order;         /* its vertex k is this one of the caller's; NULL: k */
    const hd_refine_objective *objective;
    const huddle_refine_options *options;
    int32_t n_clusters;
    const huddle_refine_tree *tree;    /* of the merges, or NULL */
    const huddle_refine_start *starts; /* the given ones, which are the first trials */
    int32_t n_starts;
    int64_t n_many;  /* clusters at which the levels begin, */
    int32_t *many;   /* and their labels */
    int32_t *labels; /* n for each trial */
    huddle_refine_info *info;
} run;

/* Labels of the caller's order in that of the graph. */
static void take_labels(const run *r, const int32_t *from, int32_t *to) {
    for (int64_t k = 0; k < r->graph->n; k++)
        to[k] = from[r->order != NULL ? r->order[k] : k];
}

/* ---- one trial ----------------------------------------------------------------------------- */

/* Of the given starts the one with the smallest cut; the first if cuts differ by rounding only.
 * None of the starts that are made here: they minimise the objective, whose preference for clusters
 * of equal size is what (31) limits. Cuts are sums in the order of the clusters' numbers: starts
 * that are equal but for these differ by rounding. */
static int32_t find_reference(const run *r) {
    const huddle_refine_trial *trials = r->info->trials;
    double rounding = cut_rounding * r->n_clusters;
    int32_t reference = 0;
    for (int32_t k = 1; k < r->n_starts; k++)
        if (trials[k].scores.ncut < trials[reference].scores.ncut - rounding)
            reference = k;
    return reference;
}

/* Whether a trial may replace the reference: its objective is clearly smaller, (30), and its cut
 * not much larger, (31). */
static bool is_allowed(const run *r, const huddle_graph_scores *scores) {
    const huddle_graph_scores *base = &r->info->trials[r->info->reference].scores;
    const huddle_refine_options *o = r->options;
    double needed = o->least_gain * r->objective->scale(base, r->n_clusters);
    double bound = (1 + o->cut_slack) * base->ncut + cut_rounding * r->n_clusters;
    return r->objective->value(scores) < r->objective->value(base) - needed &&
           scores->ncut <= bound;
}

/* The reference, or of those that may replace it the one with the lowest objective. */
static void choose_trial(const run *r) {
    huddle_refine_info *info = r->info;
    info->best = info->reference = find_reference(r);
    for (int32_t k = 0; k < info->n_trials; k++) {
        double value = r->objective->value(&info->trials[k].scores);
        double lowest = r->objective->value(&info->trials[info->best].scores);
        info->trials[k].allowed = k == info->reference || is_allowed(r, &info->trials[k].scores);
        if (info->trials[k].allowed && value < lowest)
            info->best = k;
    }
}

/* A given start, with more clusters merged down by (27) with r = 1, plain modularity. Fewer are an
 * error, because nothing here divides a cluster. */
static huddle_status take_start(const run *r, const huddle_refine_start *start, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL;
    int64_t count;
    ALLOC(ranks, r->graph->n);
    TRY(hd_rank_labels(NULL, r->graph->n, start->labels, ranks, &count, NULL));
    take_labels(r, ranks, labels);
    if (count < r->n_clusters)
        FAIL(HUDDLE_INVALID, "start '%s' has %lld different labels, fewer than n_clusters = %d",
             start->name != NULL ? start->name : "start", (long long)count, r->n_clusters);
    TRY(hd_refine_merge_labels(r->context, r->graph, 1, r->n_clusters, labels, &count));
done:
    huddle_free(ranks);
    return status;
}

/* The tree, cut at so many clusters. Its vertices are numbered as the caller's. */
static huddle_status take_cut(const run *r, int64_t n_clusters, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *cut = NULL;
    ALLOC(cut, r->graph->n);
    TRY(huddle_refine_cut_tree(r->tree, (int32_t)n_clusters, cut));
    take_labels(r, cut, labels);
done:
    huddle_free(cut);
    return status;
}

/* ---- levels -------------------------------------------------------------------------------- */

/* The resolution (28) at which modularity is the likelihood of a planted partition with equal
 * clusters: a is `within`, the density of edges inside clusters, and b `between`, that outside,
 * both relative to a random graph. The limit for b -> 0 (all weight inside) is 0, for b -> a it is
 * a: the quotient would be 0 / 0. In the log-likelihood weight inside counts ln a - ln b, and
 * weight that is expected inside -(a - b): r is the ratio of the two. */
double hd_refine_planted_resolution(double inside, int64_t n_clusters) {
    double f = inside > least_inside ? inside : least_inside, s = 1 / (double)n_clusters;
    if (n_clusters == 1 || f >= 1)
        return n_clusters == 1;
    double within = f / s, between = (1 - f) / (1 - s);
    return fabs(within - between) < 1e-12 * within
               ? within
               : (within - between) / (log(within) - log(between));
}

/* From many clusters down to the wanted number in steps of two, with moves at each level but the
 * last, which all trials get. Moves between merges correct what a merge of whole clusters cannot:
 * vertices at their borders. resolution 0: the planted partition's, for each level by the labels
 * before its merges. */
static huddle_status take_levels(const run *r, double resolution, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_graph_scores scores;
    int64_t n_labels = r->n_many;
    memcpy(labels, r->many, (size_t)r->graph->n * sizeof *labels);
    for (int64_t factor = COARSEST / 2; factor >= 1; factor /= 2) {
        int64_t wanted = factor * r->n_clusters;
        double at = resolution;
        if (n_labels > wanted && resolution == 0) {
            TRY(huddle_metrics_graph_scores(r->context, r->graph->matrix, labels, &scores));
            at = hd_refine_planted_resolution(scores.inside, wanted);
        }
        TRY(hd_refine_merge_labels(r->context, r->graph, at, wanted, labels, &n_labels));
        if (factor > 1)
            TRY(hd_refine_move(r->context, r->graph, r->objective, n_labels, LEVEL_SWEEPS,
                               r->options->seed, labels, NULL));
    }
done:
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The starts made here, which follow the given ones. */
static const struct {
    const char *name;
    bool levels;
    double resolution;
} made[] = {{"sum", false, 0}, {"levels1", true, 1}, {"levels2", true, 2}, {"levelsT", true, 0}};
enum { N_MADE = sizeof made / sizeof *made };

/* Makes, moves and scores one trial: the body of a parallel loop. */
static huddle_status make_trial(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    const run *r = argument;
    const huddle_refine_options *o = r->options;
    int64_t k = chunk.begin, own = k - r->n_starts;
    int32_t *labels = r->labels + k * r->graph->n;
    huddle_refine_trial *trial = &r->info->trials[k];
    const char *name = own >= 0 ? made[own].name : r->starts[k].name;
    if (own < 0)
        TRY(take_start(r, &r->starts[k], labels));
    else if (made[own].levels)
        TRY(take_levels(r, made[own].resolution, labels));
    else
        TRY(take_cut(r, r->n_clusters, labels));
    /* All trials visit the vertices by one seed: they differ by their starts only. */
    TRY(hd_refine_move(r->context, r->graph, r->objective, r->n_clusters, o->max_sweeps, o->seed,
                       labels, &trial->n_sweeps));
    TRY(huddle_metrics_graph_scores(r->context, r->graph->matrix, labels, &trial->scores));
    trial->scores.entropy += r->graph->hidden;
    (void)snprintf(trial->name, sizeof trial->name, "%s", name != NULL ? name : "start");
done:
    return status;
}

/* All trials of a graph in any order of its vertices. The labels of the coarsest level do not
 * depend on the resolution, and are made once for all trials that begin there. */
static huddle_status make_trials(run *r) {
    huddle_status status = HUDDLE_OK;
    int64_t n = r->graph->n, wanted = (int64_t)COARSEST * r->n_clusters;
    int32_t n_trials = r->n_starts + (r->options->merge ? N_MADE : 0);
    ALLOC(r->labels, n_trials * n);
    if (r->options->merge) {
        r->n_many = wanted < n ? wanted : n;
        ALLOC(r->many, n);
        TRY(take_cut(r, r->n_many, r->many));
        TRY(hd_refine_move(r->context, r->graph, r->objective, r->n_many, LEVEL_SWEEPS,
                           r->options->seed, r->many, NULL));
    }
    const hd_engine *engine = hd_context_engine(r->context);
    /* An engine is called from one thread at a time; on the CPU the trials run side by side. */
    bool asks = engine->move_vertices != NULL || engine->score_graph != NULL;
    TRY(asks ? hd_engine_loop(r->context, "refine", n_trials, make_trial, r)
             : hd_parallel(r->context, "refine", n_trials, 1, make_trial, r));
    r->info->n_trials = n_trials;
    choose_trial(r);
done:
    return status;
}

/* With a tree, the trials are made on a copy of the graph in the order of its leaves: neighbours
 * are then near each other in memory, which makes passes over a large graph several times as fast.
 */
huddle_status hd_refine_run(huddle_context *context, const hd_refine_graph *graph,
                            const huddle_refine_tree *tree, int32_t n_starts,
                            const huddle_refine_start *starts, const huddle_refine_options *options,
                            int32_t *labels, huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_refine_graph ordered = {0};
    int32_t *order = NULL;
    run r = {.context = context,
             .graph = graph,
             .objective = hd_refine_objective_find(options->objective),
             .options = options,
             .n_clusters = options->n_clusters,
             .tree = tree,
             .starts = starts,
             .n_starts = n_starts,
             .info = info};
    if (tree != NULL) {
        ALLOC(order, graph->n);
        TRY(hd_refine_tree_order(tree, order));
        TRY(hd_refine_graph_order(graph, order, &ordered));
        r.graph = &ordered;
        r.order = order;
    }
    TRY(make_trials(&r));
    for (int64_t k = 0; k < graph->n; k++)
        labels[order != NULL ? order[k] : k] = r.labels[info->best * graph->n + k];
    TRY(hd_refine_number(context, graph->n, r.n_clusters, starts[0].labels, labels,
                         &info->n_changed));
done:
    FREE(order, r.many, r.labels);
    hd_refine_graph_free(&ordered);
    return status;
}
