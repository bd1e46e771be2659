/* The evaluation of one candidate of prepare = auto: its points, their graph and embedding, and the
 * scores of clusters on them (docs/method.md, "Preparation"). */
#include "decide/candidate.h"

#include "base/check.h"
#include "decide/count.h"
#include "decide/eigengap.h"
#include "huddle/metrics.h"
#include "matrix/resident.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/merge.h"
#include "steps/refine.h"

#include <math.h>
#include <string.h>

bool hd_decide_projects(const huddle_rule *rule) {
    return rule->r > 0;
}

/* ---- points -------------------------------------------------------------------------------- */

/* A row shorter than this share of the whitened row that it is a part of consists of rounding
 * errors. */
static const double least_part = 1e-12;

/* The first columns of a row times factors, with norm 1. */
static void narrow_row(int64_t r, const float *wide, const double *factors, float *row) {
    double squares = 0;
    for (int64_t j = 0; j < r; j++) {
        double value = (double)wide[j] * factors[j];
        squares += value * value;
    }
    double scale = squares > least_part * least_part ? 1 / sqrt(squares) : 0;
    for (int64_t j = 0; j < r; j++)
        row[j] = (float)((double)wide[j] * factors[j] * scale);
}

/* Derives the points of a projection from those of the widest whitening, so that all of them share
 * one decomposition and one product with the points. Column j of a whitening is principal component
 * j divided by its standard deviation, which is the inverse norm of the direction's column. So the
 * first r columns are the whitening to r components, and undoing the division gives the PCA. That
 * the rows have norm 1 does no harm: those of the result have it as well. */
static huddle_status narrow_points(const huddle_preparation *widest, const huddle_points *whitened,
                                   const huddle_rule *rule, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *directions = &widest->projection;
    bool pca = strcmp(rule->name, "pca:R") == 0;
    double *factors = NULL;
    ALLOC_ZERO(factors, rule->r);
    TRY(huddle_points_new(whitened->n, rule->r, points));
    for (int64_t i = 0; i < directions->rows && pca; i++)
        for (int64_t j = 0; j < rule->r; j++) {
            double value = directions->values[i * directions->stride + j];
            factors[j] += value * value;
        }
    /* Relative to the first, the largest standard deviation: the scale of the points must not
     * matter. */
    double first = factors[0];
    for (int64_t j = 0; j < rule->r; j++)
        factors[j] = pca && factors[j] > 0 ? sqrt(first / factors[j]) : 1;
    for (int64_t i = 0; i < whitened->n; i++)
        narrow_row(rule->r, whitened->values + i * whitened->stride, factors,
                   points->values + i * points->stride);
done:
    huddle_free(factors);
    return status;
}

/* Applies a candidate to the points of the round. Projections come from the widest one; the others
 * are fitted. */
static huddle_status prepare_candidate(const hd_decide_round *judge, const huddle_rule *rule,
                                       huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation preparation = {0};
    huddle_prepare_options options = {*rule, judge->options.common.seed};
    if (hd_decide_projects(rule))
        return narrow_points(judge->widest, judge->whitened, rule, points);
    TRY(huddle_prepare_fit(judge->context, judge->x, &options, &preparation, NULL));
    TRY(huddle_prepare_apply(judge->context, &preparation, judge->x, points, NULL));
    if (hd_fit_is_identity(&preparation) && points->resident == NULL)
        points->resident = hd_resident_hold(judge->x->resident); /* the same values */
done:
    huddle_preparation_free(&preparation);
    return status;
}

/* ---- graph and embedding ------------------------------------------------------------------- */

/* rows.equal is left empty because equality in x is not known here; equal prepared rows are merged
 * all the same. */
static huddle_status make_graph(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = &judge->options;
    hd_fit *fit = &c->fit;
    TRY(hd_fit_rows_begin(judge->context, judge->x->n, &fit->rows));
    TRY(prepare_candidate(judge, &c->trial.rule, &fit->prepared.points));
    TRY(hd_step_merge_by(judge->context, options, fit));
    hd_fit_offer(judge->context, fit); /* the points: for neighbours and bridges */
    TRY(hd_spectral_make_graph(judge->context, options, judge->n_clusters, fit));
    c->trial.n = hd_fit_rows_everywhere(&fit->rows);
done:
    hd_fit_prepared_free(&fit->prepared);
    return status;
}

huddle_status hd_decide_embed(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    huddle_range n_clusters = judge->n_clusters;
    if (!c->fit.graph.present)
        TRY(make_graph(judge, c));
    if (c->fit.embedding.present || judge->trials->score == HUDDLE_PREPARE_BY_LARGEST_MODULARITY)
        goto done; /* merging needs no eigenvectors */
    TRY(hd_spectral_find_vectors(judge->context, &judge->options, n_clusters, &c->fit));
    TRY(hd_spectral_measure_extents(judge->context, &c->fit));
    TRY(hd_decide_eigengap(&c->fit, &n_clusters));
done:
    return status;
}

/* ---- scores -------------------------------------------------------------------------------- */

/* Labels by K-means on the first columns of the embedding, refined or not, and their scores. */
static huddle_status score_number(const hd_decide_round *judge, int32_t n_clusters, hd_fit *fit,
                                  huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = judge->options;
    hd_fit_clusters *clusters = &fit->clusters;
    huddle_refine_info *info = &fit->refined.info;
    const huddle_csr *graph = &fit->graph.matrix;
    options.kmeans.n_clusters = n_clusters;
    TRY(hd_spectral_make_rows(options.embed.rows, n_clusters, &fit->embedding));
    TRY(hd_step_kmeans_dense(judge->context, &fit->embedding.f.rows, &options.kmeans, &fit->rows,
                             clusters));
    if (judge->refines) {
        huddle_refine_start own = {"kmeans", clusters->labels};
        TRY(hd_step_refine_labels(judge->context, &options, n_clusters, &fit->rows, graph,
                                  &fit->embedding, &fit->refined.tree, 1, &own, clusters->labels,
                                  info));
        /* A single cluster has nothing to refine; its divergence is 0. */
        if (info->n_trials > 0)
            *scores = info->trials[info->best].scores;
        else
            *scores = (huddle_graph_scores){0};
    } else {
        TRY(huddle_metrics_modularity(judge->context, graph, clusters->labels,
                                      &scores->modularity));
    }
done:
    return status;
}

huddle_range hd_decide_all_numbers(int64_t n) {
    int32_t last = huddle_embed_max_clusters(n);
    return (huddle_range){2, last > 2 ? last : 2};
}

/* The mean scores over the numbers of clusters of the round. The number only selects the first
 * columns of the embedding and where the merging stops, so that one embedding and one tree are
 * sufficient for all numbers. */
static huddle_status score_mean(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_prepare_trials *at = judge->trials;
    double modularity = 0, divergence = 0;
    if (judge->refines && c->fit.refined.tree.n == 0)
        TRY(huddle_refine_merge(judge->context, &c->fit.graph.matrix, &c->fit.refined.tree));
    for (int32_t k = 0; k < at->n_clusters; k++) {
        huddle_graph_scores scores = {.divergence = NAN};
        TRY(score_number(judge, at->clusters[k], &c->fit, &scores));
        modularity += scores.modularity;
        divergence += scores.divergence;
    }
    c->trial.modularity = modularity / at->n_clusters;
    c->trial.divergence = divergence / at->n_clusters;
done:
    return status;
}

/* The largest modularity over all numbers, for refined labels with n_clusters = auto. Clusters are
 * found by merging alone: the maximum is flat, and K-means for every number would take most of the
 * time. */
static huddle_status score_largest(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_trials *trials = &c->fit.trials;
    TRY(hd_decide_score_numbers(judge->context, &judge->options, hd_decide_all_numbers(c->trial.n),
                                false, &c->fit));
    for (int32_t k = 0; k < trials->count; k++)
        if (k == 0 || trials->items[k].modularity > c->trial.modularity) {
            c->trial.modularity = trials->items[k].modularity;
            c->trial.divergence = trials->items[k].divergence;
        }
done:
    return status;
}

/* The best of the clusters found by merging: those with the largest divergence, whatever their cut,
 * because only those of K-means could limit it. */
huddle_status hd_decide_score_merged(huddle_context *context, uint64_t seed, int32_t n_clusters,
                                     hd_fit *fit, huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options refine = huddle_refine_defaults();
    huddle_refine_info *info = &fit->refined.info;
    const huddle_refine_tree *tree = &fit->refined.tree;
    int32_t *labels = NULL;
    refine.n_clusters = n_clusters < fit->rows.n ? n_clusters : (int32_t)fit->rows.n;
    refine.seed = seed;
    ALLOC(labels, fit->rows.n);
    TRY(huddle_refine_cut_tree(tree, refine.n_clusters, labels));
    huddle_refine_start start = {"merged", labels};
    TRY(huddle_refine_with_tree(context, &fit->graph.matrix, tree, 1, &start, &refine, labels,
                                info));
    *scores = info->trials[0].scores;
    for (int32_t k = 1; k < info->n_trials; k++)
        if (info->trials[k].scores.divergence > scores->divergence)
            *scores = info->trials[k].scores;
done:
    huddle_free(labels);
    return status;
}

huddle_status hd_decide_screen(const hd_decide_round *judge, hd_decide_candidate *c) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_prepare_trials *at = judge->trials;
    if (!c->fit.graph.present)
        TRY(make_graph(judge, c));
    TRY(huddle_refine_merge(judge->context, &c->fit.graph.matrix, &c->fit.refined.tree));
    c->trial.modularity = c->trial.divergence = 0;
    for (int32_t k = 0; k < at->n_clusters; k++) {
        huddle_graph_scores scores;
        TRY(hd_decide_score_merged(judge->context, judge->options.common.seed, at->clusters[k],
                                   &c->fit, &scores));
        c->trial.modularity += scores.modularity / at->n_clusters;
        c->trial.divergence += scores.divergence / at->n_clusters;
    }
done:
    return status;
}

/* The ways to score a candidate, and the score by which candidates are ranked. */
static const struct {
    huddle_status (*run)(const hd_decide_round *judge, hd_decide_candidate *c);
    bool by_divergence;
} scorings[] = {[HUDDLE_PREPARE_BY_MODULARITY] = {score_mean, false},
                [HUDDLE_PREPARE_BY_DIVERGENCE] = {score_mean, true},
                [HUDDLE_PREPARE_BY_LARGEST_MODULARITY] = {score_largest, false}};

double hd_decide_score_of(const huddle_prepare_trial *trial, huddle_prepare_score score) {
    return scorings[score].by_divergence ? trial->divergence : trial->modularity;
}

huddle_status hd_decide_score(const hd_decide_round *judge, hd_decide_candidate *c) {
    return scorings[judge->trials->score].run(judge, c);
}
