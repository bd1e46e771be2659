/* The preparation chosen without labels.
 *
 * Each candidate is tried: spectral clustering of the points it gives, and Newman's modularity of
 * the labels on the graph those points have. The largest wins, ties the simpler; of many points, a
 * sample chooses the finalists, which are judged once more by a larger one. Modularity asks
 * how much more weight lies inside clusters than chance would put there; a preparation that blurs
 * clusters lowers it on its own graph. Points of fewer than ten features are left as they are:
 * scaling rows of a plane to norm 1 folds it into a circle.
 *
 * Modularity depends on the number of clusters, so all candidates of a round are judged at the same
 * numbers: the one that was asked for; of a range, up to five evenly spaced ones, whose mean
 * counts. With auto each candidate's eigengaps propose a number first. The largest that is clear is
 * the one to judge at; if none is clear, the range that the rule chooses from is judged like any
 * other. The number of clusters itself is chosen afterwards, on the winner. One embedding of a
 * candidate serves all of these. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/rng.h"
#include "huddle/metrics.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_FEATURES = 10,
    FIRST_ROUND = 2500, /* all candidates are judged by so many points, */
    FINALISTS = 4,      /* the best of them once more */
    LAST_ROUND = 10000, /* by so many */
    JUDGING_STARTS = 5, /* restarts of K-means */
    MOST_COMPONENTS = 150,
    MOST_CLUSTERS = 30,    /* what the eigengap rule chooses from: 2 .. this, */
    POINTS_PER_CLUSTER = 5 /* if there are so many points for each */
};

/* The candidates, simple before complicated. */
static const huddle_rule candidates[] = {
    {"none", 0},   {"unit", 0},      {"center-rows", 0}, {"center-columns", 0}, {"pca:R", 20},
    {"pca:R", 40}, {"whiten:R", 20}, {"whiten:R", 40},   {"whiten:R", 80},      {"whiten:R", 150},
};

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static bool is_projection(const huddle_rule *rule) {
    return rule->r > 0;
}

/* The points to judge by: all, or a sample of `most`. owned is to be freed. */
static huddle_status sample_points(const huddle_points *x, int64_t most, uint64_t seed,
                                   huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL;
    *view = *x;
    if (x->n <= most)
        return status;
    hd_rng rng = hd_rng_stream(seed, 0);
    ALLOC(index, most);
    hd_rng_sample(&rng, x->n, most, index);
    TRY(huddle_points_take(x, index, most, owned));
    *view = *owned;
done:
    huddle_free(index);
    return status;
}

/* The first r columns of the widest whitening; for pca each column back to norm 1. */
static huddle_status narrow(const huddle_preparation *widest, const huddle_rule *rule,
                            huddle_preparation *narrowed) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *wide = &widest->projection;
    bool pca = strcmp(rule->name, "pca:R") == 0;
    *narrowed = *widest;
    narrowed->rule = *rule;
    narrowed->d_out = rule->r;
    TRY(huddle_dense_new(wide->rows, rule->r, &narrowed->projection));
    for (int64_t j = 0; j < rule->r; j++) {
        double squares = 0;
        for (int64_t i = 0; i < wide->rows; i++)
            squares += wide->values[i * wide->stride + j] * wide->values[i * wide->stride + j];
        double factor = pca && squares > 0 ? 1 / sqrt(squares) : 1;
        for (int64_t i = 0; i < wide->rows; i++)
            narrowed->projection.values[i * rule->r + j] =
                factor * wide->values[i * wide->stride + j];
    }
done:
    return status;
}

static huddle_status prepare_candidate(huddle_context *context, const huddle_points *x,
                                       const huddle_rule *rule, const huddle_preparation *widest,
                                       uint64_t seed, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation preparation = {0};
    huddle_prepare_options options = {*rule, seed};
    if (is_projection(rule)) {
        TRY(narrow(widest, rule, &preparation));
    } else {
        TRY(huddle_prepare_fit(context, x, &options, &preparation, NULL));
    }
    TRY(huddle_prepare_apply(context, &preparation, x, points, NULL));
done:
    if (is_projection(rule))
        huddle_dense_free(&preparation.projection); /* the rest is the widest's */
    else
        huddle_preparation_free(&preparation);
    return status;
}

/* ---- one candidate ------------------------------------------------------------------------- */

/* A candidate in a round: what its points led to. */
typedef struct contestant {
    hd_prepare_trial trial;
    hd_fit fit; /* graph and embedding, no points */
} contestant;

static hd_spectral_options judging_options(huddle_range n_clusters, uint64_t seed) {
    hd_spectral_options options = {.common = {n_clusters, seed},
                                   .affinity = "features",
                                   .prepare = huddle_prepare_defaults(),
                                   .knn = huddle_knn_defaults(),
                                   .weight = huddle_weight_defaults(),
                                   .connect = huddle_connect_defaults(),
                                   .embed = huddle_embed_defaults(),
                                   .kmeans = huddle_kmeans_defaults()};
    options.embed.verify = "none"; /* a miss would cost a little modularity, no more */
    options.kmeans.n_init = JUDGING_STARTS;
    return options;
}

/* Graph and embedding of the points that a candidate gives; with auto also the choice of the number
 * of clusters that these suggest. */
static huddle_status embed_candidate(huddle_context *context, const huddle_points *x,
                                     const huddle_preparation *widest, huddle_range n_clusters,
                                     uint64_t seed, contestant *c) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = judging_options(n_clusters, seed);
    hd_fit_free(&c->fit);
    c->fit = (hd_fit){.n = x->n, .d = x->d};
    TRY(prepare_candidate(context, x, &c->trial.rule, widest, seed, &c->fit.points));
    TRY(hd_spectral_embed_points(context, NULL, &options, &c->fit, &n_clusters));
    huddle_points_free(&c->fit.points);
done:
    return status;
}

/* Modularity of spectral clustering on the candidate's own graph, the mean over the numbers of
 * clusters. */
static huddle_status judge(huddle_context *context, const hd_prepare_clusters *clusters,
                           uint64_t seed, contestant *c) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = judging_options((huddle_range){0, 0}, seed);
    double sum = 0;
    for (int32_t k = 0; k < clusters->count; k++) {
        double modularity;
        TRY(hd_spectral_cluster(context, &options, clusters->at[k], &c->fit));
        TRY(huddle_metrics_modularity(context, &c->fit.graph, c->fit.labels, &modularity));
        sum += modularity;
    }
    c->trial.modularity = sum / clusters->count;
done:
    return status;
}

/* Whether a rule makes sense for these points, given the rank of the widest whitening. */
static bool is_possible(const huddle_rule *rule, const huddle_points *x, int64_t rank) {
    if (is_projection(rule))
        return rule->r <= rank;
    bool centres = strncmp(rule->name, "center", 6) == 0;
    return x->offsets == NULL || !centres;
}

/* Every candidate that can be, not yet judged. */
static huddle_status list_trials(const huddle_points *x, int64_t rank, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    ALLOC(fit->auto_trials, N_CANDIDATES);
    for (int k = 0; k < N_CANDIDATES; k++)
        if (is_possible(&candidates[k], x, rank))
            fit->auto_trials[fit->n_auto_trials++] = (hd_prepare_trial){candidates[k], NAN, 0};
done:
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static int32_t at_most(int64_t number, int64_t most) {
    return (int32_t)(number < most ? number : most);
}

/* Up to five numbers of a range, evenly spaced, both ends among them. */
static hd_prepare_clusters spread_over(huddle_range range) {
    hd_prepare_clusters clusters = {0};
    const int32_t most = sizeof clusters.at / sizeof *clusters.at;
    int32_t width = range.last - range.first;
    clusters.count = width + 1 < most ? width + 1 : most;
    for (int32_t k = 0; k < clusters.count; k++)
        clusters.at[k] = range.first + (clusters.count > 1 ? width * k / (clusters.count - 1) : 0);
    return clusters;
}

/* With auto: the largest number for which some candidate's eigengap is clear, or without a clear
 * one the whole range that the eigengap rule chooses from. */
static huddle_range proposed_clusters(const contestant *contestants, int32_t count, int64_t n) {
    int32_t clear = 0;
    for (int32_t k = 0; k < count; k++) {
        const huddle_embed_choice *choice = &contestants[k].fit.choice;
        if (choice->n_clear > 0 && choice->candidates[0] > clear)
            clear = choice->candidates[0];
    }
    if (clear > 0)
        return (huddle_range){clear, clear};
    int32_t most = at_most(n / POINTS_PER_CLUSTER, MOST_CLUSTERS);
    return (huddle_range){2, most > 2 ? most : 2};
}

/* Judges candidates that have been embedded for auto. One whose graph has more components than the
 * numbers agreed on is embedded again, joined as a fit with that many clusters would join it. */
static huddle_status judge_auto(huddle_context *context, const huddle_points *x,
                                const huddle_preparation *widest, uint64_t seed,
                                contestant *contestants, int32_t count,
                                hd_prepare_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_range range = proposed_clusters(contestants, count, x->n);
    *clusters = spread_over(range);
    for (int32_t k = 0; k < count; k++) {
        if (contestants[k].fit.embed_info.components > range.first)
            TRY(embed_candidate(context, x, widest, range, seed, &contestants[k]));
        TRY(judge(context, clusters, seed, &contestants[k]));
    }
done:
    return status;
}

/* Puts the better ones first; equals keep their order, so that the simpler wins. */
static void rank_trials(const contestant *contestants, int32_t count, hd_prepare_trial *trials) {
    for (int32_t k = 0; k < count; k++) {
        hd_prepare_trial trial = contestants[k].trial;
        int32_t place = k;
        for (; place > 0 && trials[place - 1].modularity < trial.modularity; place--)
            trials[place] = trials[place - 1];
        trials[place] = trial;
    }
}

/* Judges the first `count` trials by these points and ranks them. */
static huddle_status run_round(huddle_context *context, const huddle_points *x, int32_t count,
                               const huddle_preparation *widest, hd_common common, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    bool is_auto = common.n_clusters.first == HUDDLE_AUTO;
    contestant *contestants = NULL;
    ALLOC_ZERO(contestants, count);
    fit->auto_clusters = spread_over(common.n_clusters);
    for (int32_t k = 0; k < count; k++) {
        contestant *c = &contestants[k];
        TRY(hd_progress(context, "prepare", k, count));
        c->trial = fit->auto_trials[k];
        c->trial.n = x->n;
        TRY(embed_candidate(context, x, widest, common.n_clusters, common.seed, c));
        if (is_auto)
            continue;
        TRY(judge(context, &fit->auto_clusters, common.seed, c));
        hd_fit_free(&c->fit); /* with many clusters all embeddings would be a lot of memory */
    }
    if (is_auto)
        TRY(judge_auto(context, x, widest, common.seed, contestants, count, &fit->auto_clusters));
    rank_trials(contestants, count, fit->auto_trials);
done:
    for (int32_t k = 0; contestants != NULL && k < count; k++)
        hd_fit_free(&contestants[k].fit);
    huddle_free(contestants);
    return status;
}

/* The range as a sample of n points can hold it. */
static hd_common clusters_in_sample(hd_common common, int64_t n) {
    huddle_range *range = &common.n_clusters;
    range->first = at_most(range->first, n);
    range->last = at_most(range->last, n);
    return common;
}

/* Two rounds: everything on few points, the best on many. */
static huddle_status hold_rounds(huddle_context *context, const huddle_points *x, hd_common common,
                                 hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_points few_owned = {0}, few, many_owned = {0}, many;
    huddle_preparation widest = {0};
    huddle_prepare_options options = {{"whiten:R", MOST_COMPONENTS}, common.seed};
    TRY(sample_points(x, FIRST_ROUND, common.seed, &few_owned, &few));
    TRY(sample_points(x, LAST_ROUND, common.seed, &many_owned, &many));
    int64_t side = few.n < x->d ? few.n : x->d;
    options.prepare.r = side < MOST_COMPONENTS ? (int32_t)side : MOST_COMPONENTS;
    TRY(huddle_prepare_fit(context, &few, &options, &widest, NULL));
    TRY(list_trials(x, widest.d_out, fit));
    TRY(run_round(context, &few, fit->n_auto_trials, &widest, clusters_in_sample(common, few.n),
                  fit));
    if (many.n > few.n)
        TRY(run_round(context, &many,
                      fit->n_auto_trials < FINALISTS ? fit->n_auto_trials : FINALISTS, &widest,
                      clusters_in_sample(common, many.n), fit));
done:
    huddle_preparation_free(&widest);
    huddle_points_free(&few_owned);
    huddle_points_free(&many_owned);
    return status;
}

huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                huddle_rule *rule, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    double begin = hd_seconds();
    *rule = (huddle_rule){"none", 0};
    if (x->d < FEWEST_FEATURES || x->n < 3)
        return status;
    /* What a trial has to say is not about the result. */
    hd_silence before = hd_silence_begin(context);
    status = hold_rounds(context, x, common, fit);
    hd_silence_end(context, before);
    TRY(status);
    *rule = fit->auto_trials[0].rule;
    fit->auto_seconds = hd_seconds() - begin;
done:
    return status;
}
