/* The preparation chosen without labels (prepare = auto; docs/method.md, "Preparation").
 *
 * Each candidate is evaluated by spectral clustering of its points and Newman's modularity (21) of
 * the labels on its own neighbour graph. The candidate with the largest modularity is chosen, of
 * equal ones the simplest. If there are many points, a sample selects a few candidates, which are
 * evaluated once more on a larger sample. Modularity measures how much more weight lies inside
 * clusters than would be expected by chance; a preparation that blurs clusters lowers it. Points
 * with fewer than ten features are not changed: scaling the rows of a plane to norm 1 folds it into
 * a circle.
 *
 * Modularity depends on the number of clusters, so all candidates of a round are evaluated at the
 * same numbers: the given one or, for a range, the mean over up to five evenly spaced ones. With
 * n_clusters = auto the eigengaps of each candidate propose a number first. The largest clear one
 * is used; if none is clear, the range of the eigengap rule is treated like any other range. The
 * number of clusters itself is chosen afterwards, on the graph of the chosen preparation. One
 * embedding per candidate is sufficient for all numbers. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "huddle/metrics.h"

#include <math.h>
#include <string.h>

/* Two rounds bound the cost: without them, each of the ten candidates would need a neighbour search
 * over all points. The first round only has to keep the winner among the finalists, which needs far
 * fewer points than ranking the finalists does. MIN_FEATURES is the guard described above. */
enum {
    MIN_FEATURES = 10,
    FIRST_ROUND = 2500, /* points on which all candidates are evaluated, */
    LAST_ROUND = 10000, /* and on which the best are evaluated again */
    FINALISTS = 4,      /* so many of them */
    RESTARTS = 5,       /* of K-means */
    MAX_COMPONENTS = 150
};

/* The candidates, simple ones first: equal scores are resolved by this order. whiten:R with few and
 * with many components are separate candidates because no single R is good for all data: whitening
 * amplifies the components of small variance, which carry the classes in some image data (faces
 * under changing light) and noise in others. */
static const huddle_rule candidates[] = {
    {"none", 0},   {"unit", 0},      {"center-rows", 0}, {"center-columns", 0}, {"pca:R", 20},
    {"pca:R", 40}, {"whiten:R", 20}, {"whiten:R", 40},   {"whiten:R", 80},      {"whiten:R", 150},
};

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };
_Static_assert((int)N_CANDIDATES <= (int)HD_FIT_MAX_PREPARE_TRIALS, "a model file holds them all");

static bool is_projection(const huddle_rule *rule) {
    return rule->r > 0;
}

/* All points, or a random sample of `most` of them. owned is to be freed, view never. */
static huddle_status sample_points(const huddle_points *x, int64_t limit, uint64_t seed,
                                   huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL;
    *view = *x;
    if (x->n <= limit)
        return status;
    hd_rng rng = hd_rng_stream(seed, 0);
    ALLOC(index, limit);
    hd_rng_sample(&rng, x->n, limit, index);
    TRY(huddle_points_take(x, index, limit, owned));
    *view = *owned;
done:
    huddle_free(index);
    return status;
}

/* Derives a projection from the widest whitening, so that all of them share one decomposition.
 * Column j of a whitening is principal direction j divided by a standard deviation, so its first r
 * columns are the whitening to r components, and scaling each column to norm 1 gives the PCA.
 * narrowed shares the other arrays with widest; only its projection is to be freed. */
static huddle_status narrow_projection(const huddle_preparation *widest, const huddle_rule *rule,
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

/* Applies a candidate to x. Projections come from the widest one; the others are fitted to x. */
static huddle_status prepare_candidate(huddle_context *context, const huddle_points *x,
                                       const huddle_rule *rule, const huddle_preparation *widest,
                                       uint64_t seed, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    huddle_preparation preparation = {0};
    huddle_prepare_options options = {*rule, seed};
    if (is_projection(rule)) {
        TRY(narrow_projection(widest, rule, &preparation));
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

/* A candidate in a round, with the results for its points. */
typedef struct candidate {
    huddle_prepare_trial trial;
    hd_fit_rows rows;
    hd_fit_graph graph;
    hd_fit_embedding embedding;
    huddle_embed_choice choice; /* with n_clusters = auto */
} candidate;

static void candidate_free(candidate *c) {
    hd_fit_rows_free(&c->rows);
    hd_fit_graph_free(&c->graph);
    hd_fit_embedding_free(&c->embedding);
}

/* The defaults of sc with fewer restarts, whatever method the preparation is chosen for: the choice
 * depends on the points, not on the options of the method. */
static hd_spectral_options trial_options(huddle_range n_clusters, uint64_t seed) {
    hd_spectral_options options = hd_spectral_defaults(n_clusters, seed);
    options.embed.verify = "none"; /* a missed eigenvector would cost a little modularity only */
    options.kmeans.n_init = RESTARTS;
    options.kmeans.seed = seed;
    return options;
}

/* Computes graph and embedding of the points that a candidate produces, for these numbers of
 * clusters; with auto also the numbers that its eigengaps suggest. The prepared points are not
 * kept: scoring needs the graph and the eigenvectors only. rows.equal is left empty because
 * equality in x is not known here; equal prepared rows are merged all the same. */
static huddle_status embed_candidate(huddle_context *context, const huddle_points *x,
                                     const huddle_preparation *widest, huddle_range n_clusters,
                                     uint64_t seed, candidate *c) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = trial_options(n_clusters, seed);
    hd_fit_prepared prepared = {0};
    candidate_free(c);
    TRY(hd_fit_rows_begin(context, x->n, &c->rows));
    TRY(prepare_candidate(context, x, &c->trial.rule, widest, seed, &prepared.points));
    TRY(hd_fit_merge(context, options.knn.n_neighbors, &c->rows, &prepared));
    TRY(hd_spectral_make_graph(context, &options, n_clusters, &c->rows, &prepared.points,
                               &c->graph));
    TRY(hd_spectral_find_vectors(context, &options,
                                 hd_spectral_count_vectors(&options, n_clusters, &c->rows),
                                 &c->graph.matrix, &c->embedding));
    TRY(hd_spectral_measure_extents(context, &c->rows, &c->embedding));
    TRY(hd_spectral_choose(&c->embedding, &c->rows, &c->choice, &n_clusters));
done:
    hd_fit_prepared_free(&prepared);
    return status;
}

/* Modularity of spectral clustering on the candidate's own graph, the mean over the numbers of
 * clusters. The number of clusters only selects the first columns of the embedding, so that one
 * embedding is sufficient for all numbers. */
static huddle_status score_candidate(huddle_context *context, const hd_fit_prepare_trials *at,
                                     uint64_t seed, candidate *c) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options options = trial_options((huddle_range){0, 0}, seed);
    hd_fit_clusters clusters = {0};
    double sum = 0;
    for (int32_t k = 0; k < at->n_clusters; k++) {
        double modularity;
        options.kmeans.n_clusters = at->clusters[k];
        TRY(hd_spectral_make_rows(&options, at->clusters[k], &c->embedding));
        TRY(hd_fit_kmeans_dense(context, &c->embedding.f.rows, &options.kmeans, &c->rows,
                                &clusters));
        TRY(huddle_metrics_modularity(context, &c->graph.matrix, clusters.labels, &modularity));
        sum += modularity;
    }
    c->trial.modularity = sum / at->n_clusters;
done:
    hd_fit_clusters_free(&clusters);
    return status;
}

/* Whether a rule can be applied to these points, given the rank of the widest whitening: a
 * projection needs as many components as it keeps, and centring would make sparse points dense. */
static bool is_possible(const huddle_rule *rule, const huddle_points *x, int64_t rank) {
    if (is_projection(rule))
        return rule->r <= rank;
    bool centres = strncmp(rule->name, "center", 6) == 0;
    return x->offsets == NULL || !centres;
}

/* Lists the candidates that can be applied, not yet evaluated. */
static huddle_status list_trials(const huddle_points *x, int64_t rank,
                                 hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    ALLOC(trials->items, N_CANDIDATES);
    for (int k = 0; k < N_CANDIDATES; k++)
        if (is_possible(&candidates[k], x, rank))
            trials->items[trials->count++] = (huddle_prepare_trial){candidates[k], NAN, 0};
done:
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static int32_t clamp_to(int64_t number, int64_t limit) {
    return (int32_t)(number < limit ? number : limit);
}

/* Up to five numbers of a range, evenly spaced, including both ends. */
static void choose_numbers(huddle_range range, hd_fit_prepare_trials *trials) {
    const int32_t limit = sizeof trials->clusters / sizeof *trials->clusters;
    int32_t width = range.last - range.first, count = width + 1 < limit ? width + 1 : limit;
    trials->n_clusters = count;
    for (int32_t k = 0; k < count; k++)
        trials->clusters[k] = range.first + (count > 1 ? width * k / (count - 1) : 0);
}

/* With auto: the largest number for which some candidate's eigengap is clear, or without a clear
 * one the whole range that the eigengap rule chooses from. The largest is taken because a
 * preparation that blurs clusters merges some of them, and its clear eigengap is at a smaller
 * number. */
static huddle_range propose_clusters(const candidate *tried, int32_t count, int64_t n) {
    int32_t clear = 0;
    for (int32_t k = 0; k < count; k++) {
        const huddle_embed_choice *choice = &tried[k].choice;
        if (choice->n_clear > 0 && choice->candidates[0] > clear)
            clear = choice->candidates[0];
    }
    if (clear > 0)
        return (huddle_range){clear, clear};
    int32_t last = huddle_embed_max_clusters(n);
    return (huddle_range){2, last > 2 ? last : 2};
}

/* Scores candidates that were embedded for auto. A candidate whose graph has more components than
 * the agreed number of clusters is embedded again, connected as in a fit with that number. */
static huddle_status score_at_proposal(huddle_context *context, const huddle_points *x,
                                       const huddle_preparation *widest, uint64_t seed,
                                       candidate *tried, int32_t count,
                                       hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    huddle_range range = propose_clusters(tried, count, hd_fit_rows_everywhere(&tried->rows));
    choose_numbers(range, trials);
    for (int32_t k = 0; k < count; k++) {
        if (tried[k].embedding.info.components > range.first)
            TRY(embed_candidate(context, x, widest, range, seed, &tried[k]));
        TRY(score_candidate(context, trials, seed, &tried[k]));
    }
done:
    return status;
}

/* Sorts by decreasing modularity. The insertion sort is stable, so that of equal candidates the
 * simpler one is chosen. */
static void rank_trials(const candidate *tried, int32_t count, huddle_prepare_trial *trials) {
    for (int32_t k = 0; k < count; k++) {
        huddle_prepare_trial trial = tried[k].trial;
        int32_t place = k;
        for (; place > 0 && trials[place - 1].modularity < trial.modularity; place--)
            trials[place] = trials[place - 1];
        trials[place] = trial;
    }
}

/* Evaluates the first `count` trials on these points and ranks them. For a given number of clusters
 * each candidate is scored and freed before the next one. With auto the common number is known only
 * after all candidates were embedded, so they are scored in a second pass. */
static huddle_status run_round(huddle_context *context, const huddle_points *x, int32_t count,
                               const huddle_preparation *widest, hd_common common,
                               hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    bool is_auto = common.n_clusters.first == HUDDLE_AUTO;
    candidate *tried = NULL;
    ALLOC_ZERO(tried, count);
    choose_numbers(common.n_clusters, trials);
    for (int32_t k = 0; k < count; k++) {
        candidate *c = &tried[k];
        TRY(hd_progress(context, "prepare", k, count));
        c->trial = trials->items[k];
        TRY(embed_candidate(context, x, widest, common.n_clusters, common.seed, c));
        c->trial.n = hd_fit_rows_everywhere(&c->rows);
        if (is_auto)
            continue;
        TRY(score_candidate(context, trials, common.seed, c));
        candidate_free(c); /* with many clusters all embeddings would be a lot of memory */
    }
    if (is_auto)
        TRY(score_at_proposal(context, x, widest, common.seed, tried, count, trials));
    rank_trials(tried, count, trials->items);
done:
    for (int32_t k = 0; tried != NULL && k < count; k++)
        candidate_free(&tried[k]);
    huddle_free(tried);
    return status;
}

/* Limits the range to the n points of a sample; more clusters than points would be invalid.
 * HUDDLE_AUTO is negative and remains unchanged. */
static hd_common clusters_in_sample(hd_common common, int64_t n) {
    huddle_range *range = &common.n_clusters;
    range->first = clamp_to(range->first, n);
    range->last = clamp_to(range->last, n);
    return common;
}

/* Two rounds: all candidates on few points, the best on many. The whitening is fitted to the small
 * sample once and reused in the second round: the choice of the rule does not need an accurate
 * basis, and the chosen rule is fitted again to all points. */
static huddle_status run_rounds(huddle_context *context, const huddle_points *x, hd_common common,
                                hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    huddle_points few_owned = {0}, few, many_owned = {0}, many;
    huddle_preparation widest = {0};
    huddle_prepare_options options = {{"whiten:R", MAX_COMPONENTS}, common.seed};
    hd_slab few_slab, many_slab;
    TRY(sample_points(x, FIRST_ROUND, common.seed, &few_owned, &few));
    TRY(sample_points(x, LAST_ROUND, common.seed, &many_owned, &many));
    TRY(hd_slab_locate(context, few.n, &few_slab));
    TRY(hd_slab_locate(context, many.n, &many_slab));
    int64_t side = few_slab.total < x->d ? few_slab.total : x->d;
    options.prepare.r = clamp_to(side, MAX_COMPONENTS);
    TRY(huddle_prepare_fit(context, &few, &options, &widest, NULL));
    TRY(list_trials(x, widest.d_out, trials));
    TRY(run_round(context, &few, trials->count, &widest, clusters_in_sample(common, few_slab.total),
                  trials));
    if (many_slab.total > few_slab.total)
        TRY(run_round(context, &many, clamp_to(trials->count, FINALISTS), &widest,
                      clusters_in_sample(common, many_slab.total), trials));
done:
    huddle_preparation_free(&widest);
    huddle_points_free(&few_owned);
    huddle_points_free(&many_owned);
    return status;
}

/* The trials share the context of the fit, and with it threads, progress and cancelling; only their
 * messages are suppressed. */
huddle_status hd_choose_prepare(huddle_context *context, const huddle_points *x, hd_common common,
                                huddle_rule *rule, hd_fit_prepare_trials *trials) {
    huddle_status status = HUDDLE_OK;
    double begin = hd_seconds();
    hd_slab slab;
    *rule = (huddle_rule){"none", 0};
    /* Two points have one neighbour each in any preparation: nothing can be compared. */
    TRY(hd_slab_locate(context, x->n, &slab));
    if (x->d < MIN_FEATURES || slab.total < 3)
        return status;
    /* Warnings of a trial are not about the result. */
    hd_silence before = hd_silence_begin(context);
    status = run_rounds(context, x, common, trials);
    hd_silence_end(context, before);
    TRY(status);
    *rule = trials->items[0].rule;
    trials->seconds = hd_seconds() - begin;
done:
    return status;
}
