/* The preparation chosen without labels.
 *
 * Each candidate is tried: spectral clustering of the points it gives, and Newman's modularity of
 * the labels on the graph those points have. The largest wins, ties the simpler; of many points, a
 * sample chooses the finalists, which are judged once more by a larger one. Modularity asks
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
    FIRST_ROUND = 2500, /* all candidates are judged by so many points, */
    FINALISTS = 4,      /* the best of them once more */
    LAST_ROUND = 10000, /* by so many */
    JUDGING_STARTS = 5, /* restarts of K-means */
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

/* Judges the first `count` trials by these points and puts the better ones first; equals keep
 * their order, so that the simpler wins. */
static huddle_status run_round(huddle_context *context, const huddle_points *x, int32_t count,
                               const huddle_preparation *widest, huddle_range n_clusters,
                               uint64_t seed, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_prepare_trial *trials = fit->auto_trials;
    for (int32_t k = 0; k < count; k++) {
        hd_prepare_trial trial = trials[k];
        int32_t place = k;
        TRY(hd_progress(context, "prepare", k, count));
        TRY(try_candidate(context, x, &trial.rule, widest, n_clusters, seed, &trial.modularity));
        trial.n = x->n;
        for (; place > 0 && trials[place - 1].modularity < trial.modularity; place--)
            trials[place] = trials[place - 1];
        trials[place] = trial;
    }
done:
    return status;
}

/* The range as a sample can hold it. */
static huddle_range clusters_in_sample(huddle_range n_clusters, int64_t n) {
    if (n_clusters.first == HUDDLE_AUTO)
        return n_clusters;
    int32_t c = n_clusters.first < n ? n_clusters.first : (int32_t)n;
    return (huddle_range){c, c};
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
    TRY(run_round(context, &few, fit->n_auto_trials, &widest,
                  clusters_in_sample(common.n_clusters, few.n), common.seed, fit));
    if (many.n > few.n)
        TRY(run_round(context, &many,
                      fit->n_auto_trials < FINALISTS ? fit->n_auto_trials : FINALISTS, &widest,
                      clusters_in_sample(common.n_clusters, many.n), common.seed, fit));
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
