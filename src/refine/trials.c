/* Starts, given and made by merging, and the choice among them. */
#include "base/check.h"
#include "refine/refine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    COARSEST = 8,    /* the levels begin at this many times the number of clusters, */
    LEVEL_SWEEPS = 8 /* with this many sweeps before the last level: a study of image sets */
};

/* The planted partition's resolution assumes at least this share of weight inside clusters. */
static const double least_inside = .5;

/* A cut of 0 is 0 up to the rounding errors of its sum. */
static const double cut_rounding = 1e-12;

typedef struct run {
    huddle_context *context;
    const hd_refine_graph *graph; /* in the order of the tree if there is one */
    const int32_t *order;         /* its vertex k is this one of the caller's; NULL: k */
    const hd_refine_objective *objective;
    const huddle_refine_options *options;
    int32_t n_clusters;
    int32_t n_trials; /* planned */
    int32_t *labels;  /* of the trial */
    int32_t *best;    /* of the best trial so far */
    double lowest;    /* its objective */
    huddle_refine_info *info;
} run;

/* Labels of the caller's order in that of the graph. */
static void take_labels(const run *r, const int32_t *from, int32_t *to) {
    for (int64_t k = 0; k < r->graph->n; k++)
        to[k] = from[r->order != NULL ? r->order[k] : k];
}

/* ---- one trial ----------------------------------------------------------------------------- */

/* Whether trial t may replace the first one: its objective is clearly smaller, (30), and its cut
 * not much larger, (31). */
static bool is_allowed(const run *r, const huddle_graph_scores *scores) {
    const huddle_graph_scores *base = &r->info->trials[0].scores;
    const huddle_refine_options *o = r->options;
    double needed = o->least_gain * r->objective->scale(base, r->n_clusters);
    double bound = (1 + o->cut_slack) * base->ncut + cut_rounding * r->n_clusters;
    return r->objective->value(scores) < r->objective->value(base) - needed &&
           scores->ncut <= bound;
}

/* Moves, scores and compares the labels of a trial. */
static huddle_status finish_trial(run *r, const char *name) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_trial *trial = &r->info->trials[r->info->n_trials];
    const huddle_refine_options *o = r->options;
    TRY(hd_refine_move(r->context, r->graph, r->objective, r->n_clusters, o->max_sweeps, o->seed,
                       r->labels, &trial->n_sweeps));
    TRY(huddle_metrics_graph_scores(r->context, r->graph->matrix, r->labels, &trial->scores));
    (void)snprintf(trial->name, sizeof trial->name, "%s", name != NULL ? name : "start");
    double value = r->objective->value(&trial->scores);
    trial->allowed = r->info->n_trials == 0 || is_allowed(r, &trial->scores);
    if (r->info->n_trials == 0 || (trial->allowed && value < r->lowest)) {
        r->lowest = value;
        r->info->best = r->info->n_trials;
        memcpy(r->best, r->labels, (size_t)r->graph->n * sizeof *r->best);
    }
    r->info->n_trials++;
    TRY(hd_progress(r->context, "refine", r->info->n_trials, r->n_trials));
done:
    return status;
}

/* A given start, with more clusters merged down. */
static huddle_status try_start(run *r, const huddle_refine_start *start) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL;
    int64_t count;
    ALLOC(ranks, r->graph->n);
    TRY(hd_refine_rank_labels(r->graph->n, start->labels, ranks, &count));
    take_labels(r, ranks, r->labels);
    if (count < r->n_clusters)
        FAIL(HUDDLE_INVALID, "start '%s' has %lld different labels, fewer than n_clusters = %d",
             start->name != NULL ? start->name : "start", (long long)count, r->n_clusters);
    TRY(hd_refine_merge_labels(r->context, r->graph, 1, r->n_clusters, r->labels, &count));
    TRY(finish_trial(r, start->name));
done:
    huddle_free(ranks);
    return status;
}

/* ---- levels -------------------------------------------------------------------------------- */

/* The resolution (28) at which modularity is the likelihood of a planted partition with equal
 * clusters. Its limit is 0 if all weight is inside. */
double hd_refine_planted_resolution(double inside, int64_t n_clusters) {
    double f = inside > least_inside ? inside : least_inside, s = 1 / (double)n_clusters;
    if (n_clusters == 1 || f >= 1)
        return n_clusters == 1;
    double within = f / s, between = (1 - f) / (1 - s);
    return fabs(within - between) < 1e-12 * within
               ? within
               : (within - between) / (log(within) - log(between));
}

/* From many clusters, which are in r->labels, down to the wanted number in steps of two, with moves
 * at each level. resolution 0: the planted partition's. */
static huddle_status try_levels(run *r, const char *name, int64_t n_labels, double resolution) {
    huddle_status status = HUDDLE_OK;
    huddle_graph_scores scores;
    for (int64_t factor = COARSEST / 2; factor >= 1; factor /= 2) {
        int64_t wanted = factor * r->n_clusters;
        double at = resolution;
        if (n_labels > wanted && resolution == 0) {
            TRY(huddle_metrics_graph_scores(r->context, r->graph->matrix, r->labels, &scores));
            at = hd_refine_planted_resolution(scores.inside, wanted);
        }
        TRY(hd_refine_merge_labels(r->context, r->graph, at, wanted, r->labels, &n_labels));
        if (factor > 1)
            TRY(hd_refine_move(r->context, r->graph, r->objective, n_labels, LEVEL_SWEEPS,
                               r->options->seed, r->labels, NULL));
    }
    TRY(finish_trial(r, name));
done:
    return status;
}

/* The starts that are made here. */
static huddle_status try_merging(run *r, const huddle_refine_tree *tree) {
    static const struct {
        const char *name;
        double resolution;
    } levels[] = {{"levels1", 1}, {"levels2", 2}, {"levelsT", 0}};
    huddle_status status = HUDDLE_OK;
    int32_t *cut = NULL, *many = NULL;
    int64_t n = r->graph->n, wanted = (int64_t)COARSEST * r->n_clusters;
    int64_t n_many = wanted < n ? wanted : n;
    ALLOC(cut, n);
    ALLOC(many, n);
    TRY(huddle_refine_cut_tree(tree, r->n_clusters, cut));
    take_labels(r, cut, r->labels);
    TRY(finish_trial(r, "sum"));
    TRY(huddle_refine_cut_tree(tree, (int32_t)n_many, cut));
    take_labels(r, cut, many);
    TRY(hd_refine_move(r->context, r->graph, r->objective, n_many, LEVEL_SWEEPS, r->options->seed,
                       many, NULL));
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        memcpy(r->labels, many, (size_t)n * sizeof *many);
        TRY(try_levels(r, levels[k].name, n_many, levels[k].resolution));
    }
done:
    huddle_free(cut);
    huddle_free(many);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* All trials of a graph in any order. The best labels are in r->best. */
static huddle_status try_all(run *r, const huddle_refine_tree *tree, int32_t n_starts,
                             const huddle_refine_start *starts) {
    huddle_status status = HUDDLE_OK;
    ALLOC(r->labels, r->graph->n);
    ALLOC(r->best, r->graph->n);
    for (int32_t k = 0; k < n_starts; k++)
        TRY(try_start(r, &starts[k]));
    if (r->options->merge)
        TRY(try_merging(r, tree));
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
             .n_trials = n_starts + (options->merge ? 4 : 0),
             .info = info};
    if (tree != NULL) {
        ALLOC(order, graph->n);
        TRY(hd_refine_tree_order(tree, order));
        TRY(hd_refine_graph_order(graph, order, &ordered));
        r.graph = &ordered;
        r.order = order;
    }
    TRY(try_all(&r, tree, n_starts, starts));
    for (int64_t k = 0; k < graph->n; k++)
        labels[order != NULL ? order[k] : k] = r.best[k];
    TRY(hd_refine_number(graph->n, r.n_clusters, starts[0].labels, labels, &info->n_changed));
done:
    huddle_free(order);
    huddle_free(r.labels);
    huddle_free(r.best);
    hd_refine_graph_free(&ordered);
    return status;
}
