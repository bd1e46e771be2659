/* The preparation chosen without labels.
 *
 * Each candidate is tried: spectral clustering of the points it gives, and Newman's modularity of
 * the labels on the graph those points have. The largest wins, ties the simpler. Modularity asks
 * how much more weight lies inside clusters than chance would put there; a preparation that blurs
 * clusters lowers it on its own graph. Points of fewer than ten features are left as they are:
 * scaling rows of a plane to norm 1 folds it into a circle. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/rng.h"
#include "huddle/metrics.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_FEATURES = 10,
    MOST_POINTS = 10000, /* more points or more values than this are judged by a sample, */
    MOST_VALUES = 6000000,
    FEWEST_POINTS = 2000, /* but of no fewer points than this */
    JUDGING_STARTS = 3,   /* restarts of K-means */
    MOST_COMPONENTS = 150
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

/* Points to judge by at most, so that trying everything costs less than five single runs. */
static int64_t sample_size(int64_t d) {
    int64_t most = MOST_VALUES / d;
    return most > MOST_POINTS ? MOST_POINTS : most < FEWEST_POINTS ? FEWEST_POINTS : most;
}

/* The points to judge by: all, or a sample. owned is to be freed. */
static huddle_status sample_points(const huddle_points *x, uint64_t seed, huddle_points *owned,
                                   huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL, most = sample_size(x->d);
    *view = *x;
    if (x->n <= most)
        return status;
    hd_rng rng = hd_rng_stream(seed, 0);
    ALLOC(index, most);
    for (int64_t i = 0, taken = 0; taken < most; i++)
        if (hd_rng_below(&rng, x->n - i) < most - taken)
            index[taken++] = i;
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

/* Modularity of spectral clustering of these points on their own graph. */
static huddle_status judge(huddle_context *context, huddle_range n_clusters, uint64_t seed,
                           hd_fit *scratch, double *modularity) {
    huddle_status status = HUDDLE_OK;
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
    TRY(hd_spectral_embed_points(context, NULL, &options, scratch, &n_clusters));
    TRY(hd_spectral_cluster(context, &options, n_clusters.first, scratch));
    TRY(huddle_metrics_modularity(&scratch->graph, scratch->labels, modularity));
done:
    return status;
}

static huddle_status try_candidate(huddle_context *context, const huddle_points *x,
                                   const huddle_rule *rule, const huddle_preparation *widest,
                                   huddle_range n_clusters, uint64_t seed, double *modularity) {
    huddle_status status = HUDDLE_OK;
    hd_fit scratch = {.n = x->n, .d = x->d};
    TRY(prepare_candidate(context, x, rule, widest, seed, &scratch.points));
    TRY(judge(context, n_clusters, seed, &scratch, modularity));
done:
    hd_fit_free(&scratch);
    return status;
}

/* Whether a rule makes sense for these points, given the rank of the widest whitening. */
static bool is_possible(const huddle_rule *rule, const huddle_points *x, int64_t rank) {
    if (is_projection(rule))
        return rule->r <= rank;
    bool centres = strncmp(rule->name, "center", 6) == 0;
    return x->offsets == NULL || !centres;
}

static huddle_status try_all(huddle_context *context, const huddle_points *x,
                             huddle_range n_clusters, uint64_t seed, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation widest = {0};
    huddle_prepare_options options = {{"whiten:R", MOST_COMPONENTS}, seed};
    int64_t side = x->n < x->d ? x->n : x->d;
    options.prepare.r = side < MOST_COMPONENTS ? (int32_t)side : MOST_COMPONENTS;
    TRY(huddle_prepare_fit(context, x, &options, &widest, NULL));
    ALLOC(fit->auto_trials, N_CANDIDATES);
    for (int k = 0; k < N_CANDIDATES; k++) {
        hd_prepare_trial trial = {candidates[k], NAN};
        TRY(hd_progress(context, "prepare", k, N_CANDIDATES));
        if (!is_possible(&trial.rule, x, widest.d_out))
            continue;
        TRY(try_candidate(context, x, &trial.rule, &widest, n_clusters, seed, &trial.modularity));
        fit->auto_trials[fit->n_auto_trials++] = trial;
    }
done:
    huddle_preparation_free(&widest);
    return status;
}

static huddle_rule best_rule(const hd_fit *fit) {
    hd_prepare_trial best = {{"none", 0}, -INFINITY};
    for (int32_t k = 0; k < fit->n_auto_trials; k++)
        if (fit->auto_trials[k].modularity > best.modularity)
            best = fit->auto_trials[k];
    return best.rule;
}

/* The range as a sample can hold it. */
static huddle_range clusters_in_sample(huddle_range n_clusters, int64_t n) {
    if (n_clusters.first == HUDDLE_AUTO)
        return n_clusters;
    int32_t c = n_clusters.first < n ? n_clusters.first : (int32_t)n;
    return (huddle_range){c, c};
}

huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                huddle_rule *rule, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, sample;
    huddle_log_function log = NULL;
    hd_texts *warnings = NULL;
    double begin = hd_seconds();
    *rule = (huddle_rule){"none", 0};
    if (x->d < FEWEST_FEATURES || x->n < 3)
        return status;
    /* What a trial has to say is not about the result. */
    if (context != NULL) {
        log = context->log;
        warnings = context->warnings;
        context->log = NULL;
        context->warnings = NULL;
    }
    TRY(sample_points(x, common.seed, &owned, &sample));
    TRY(try_all(context, &sample, clusters_in_sample(common.n_clusters, sample.n), common.seed,
                fit));
    *rule = best_rule(fit);
    fit->auto_seconds = hd_seconds() - begin;
done:
    if (context != NULL) {
        context->log = log;
        context->warnings = warnings;
    }
    huddle_points_free(&owned);
    return status;
}
