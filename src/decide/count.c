/* The number of clusters for labels that are refined (docs/method.md, "How many clusters?").
 *
 * A clear eigengap decides as for all spectral methods. Without one, the number is the smallest
 * whose clusters have nearly the largest modularity, if they are stable. Modularity has a maximum
 * over the number of clusters, unlike the other scores, but a flat one: beyond the number of groups
 * that are well separated it changes little, hence the smallest of nearly equal ones.
 *
 * One merge tree and one embedding serve all numbers. */
#include "decide/count.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "matrix/resident.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/slabs.h"

#include <math.h>
#include <string.h>

/* Modularities within this distance of the largest count as equally good. Chosen on image data sets
 * of 10 to 40 classes (docs/results.md, "The number of clusters"). */
static const double modularity_tolerance = 0.005;

/* Components are evidence for a number of clusters if they are of comparable size: their modularity
 * must be at least this share of 1 - 1 / c, which c equal ones have. Two rings of which one has
 * twice as many points have .89. Image data often have a few small groups far from all others. */
static const double balanced_share = 0.6;

/* Clusters by modularity count only if those of samples agree with them so well. The neighbour
 * graph of a single cluster also has divisions of large modularity, but each sample has others:
 * their agreement is .2 to .5, that of image data sets is .58 and more (docs/results.md). */
static const double min_stability = 0.5;

enum {
    RESTARTS = 5,        /* of K-means */
    KMEANS_ROWS = 10000, /* with more vertices only the clusters found by merging are compared */
    /* Stability: of so many numbers, by the agreement with so many samples. */
    STABILITY_NUMBERS = 5,
    STABILITY_SAMPLES = 5,
    STABILITY_POINTS = 2500,
    STABILITY_ROWS = 2 /* points per cluster that a sample must have */
};
static const double sample_share = 0.8;

/* ---- one graph ----------------------------------------------------------------------------- */

/* What the labels of one graph are computed from. */
typedef struct source {
    huddle_context *context;
    const hd_spectral_options *options;
    const hd_fit *fit; /* its rows, graph, tree of merges, trials, */
    bool embedded;     /* and embedding; else clusters are found by merging only */
} source;

/* Moves vertices of a labelling, scores it and keeps it as the best if its modularity is larger.
 * trial is overwritten; best and scores receive the result. */
static huddle_status consider(const source *s, int32_t n_clusters, int32_t *trial, bool is_first,
                              int32_t *best, huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options move = huddle_refine_defaults();
    huddle_graph_scores found;
    move.n_clusters = n_clusters;
    move.seed = s->options->common.seed;
    TRY(huddle_refine_move(s->context, &s->fit->graph.matrix, &move, trial, NULL));
    TRY(huddle_metrics_graph_scores(s->context, &s->fit->graph.matrix, trial, &found));
    if (is_first || found.modularity > scores->modularity) {
        *scores = found;
        memcpy(best, trial, (size_t)s->fit->rows.n * sizeof *best);
    }
done:
    return status;
}

/* K-means on rows of its own: numbers of clusters are processed side by side. Sets *complete to
 * false if there are fewer distinct rows than clusters. */
static huddle_status cluster_rows(const source *s, int32_t n_clusters, int32_t *labels,
                                  bool *complete) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_options kmeans = s->options->kmeans;
    hd_fit_clusters clusters = {0};
    hd_fit_embedding own = s->fit->embedding;
    memset(&own.f.rows, 0, sizeof own.f.rows);
    if (kmeans.init == NULL) /* a method whose labels come from a rotation */
        kmeans = huddle_kmeans_defaults();
    kmeans.n_clusters = n_clusters;
    kmeans.n_init = kmeans.n_init < RESTARTS ? kmeans.n_init : RESTARTS;
    kmeans.seed = s->options->common.seed;
    kmeans.keep_starts = false;
    TRY(hd_spectral_make_rows(s->options->embed.rows, n_clusters, &own));
    TRY(hd_step_kmeans_dense(s->context, &own.f.rows, &kmeans, &s->fit->rows, &clusters));
    *complete = clusters.kmeans.n_distinct >= n_clusters;
    memcpy(labels, clusters.labels, (size_t)s->fit->rows.n * sizeof *labels);
done:
    huddle_dense_free(&own.f.rows); /* all else belongs to the original */
    hd_fit_clusters_free(&clusters);
    return status;
}

/* Labels for one number of clusters, and their scores. */
static huddle_status cluster_number(const source *s, int32_t n_clusters, int32_t *labels,
                                    huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    int32_t *trial = NULL;
    bool complete = false;
    ALLOC(trial, s->fit->rows.n);
    TRY(huddle_refine_cut_tree(&s->fit->refined.tree, n_clusters, trial));
    TRY(consider(s, n_clusters, trial, true, labels, scores));
    if (s->embedded && s->fit->rows.n <= KMEANS_ROWS)
        TRY(cluster_rows(s, n_clusters, trial, &complete));
    if (complete)
        TRY(consider(s, n_clusters, trial, false, labels, scores));
done:
    huddle_free(trial);
    return status;
}

/* ---- scores over a range ------------------------------------------------------------------- */

static huddle_status score_number(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    const source *s = argument;
    huddle_trial *trial = &s->fit->trials.items[chunk.begin];
    huddle_graph_scores scores;
    int32_t *labels = NULL;
    ALLOC(labels, s->fit->rows.n);
    TRY(cluster_number(s, trial->n_clusters, labels, &scores));
    trial->ncut = scores.ncut;
    trial->modularity = scores.modularity;
    trial->divergence = scores.divergence;
done:
    huddle_free(labels);
    return status;
}

/* Trials without labels of their own and without scores yet. A graph has no more clusters than
 * vertices, and its embedding may have fewer columns than the range asks for. */
static huddle_status begin_trials(huddle_range range, bool embedded, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t limit = embedded ? fit->embedding.f.vectors.cols : fit->rows.n;
    int32_t last = range.last < limit ? range.last : (int32_t)limit;
    int32_t first = range.first < last ? range.first : last;
    huddle_spectrum spectrum = hd_fit_spectrum(fit);
    ALLOC(fit->trials.items, last - first + 1);
    fit->trials.count = last - first + 1;
    for (int32_t c = first; c <= last; c++)
        fit->trials.items[c - first] =
            (huddle_trial){.n_clusters = c,
                           .inertia = NAN,
                           .silhouette = NAN,
                           .ncut = NAN,
                           .eigengap = embedded ? huddle_embed_gap(&spectrum, c) : NAN,
                           .alignment = NAN,
                           .modularity = NAN,
                           .divergence = NAN,
                           .stability = NAN};
done:
    return status;
}

huddle_status hd_decide_score_numbers(huddle_context *context, const hd_spectral_options *options,
                                      huddle_range range, bool embedded, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    source s = {context, options, fit, embedded};
    TRY(begin_trials(range, embedded, fit));
    TRY(huddle_csr_fetch(&fit->graph.matrix));
    if (embedded)
        TRY(huddle_dense_fetch(vectors));
    if (fit->refined.tree.n != fit->rows.n)
        TRY(huddle_refine_merge(context, &fit->graph.matrix, &fit->refined.tree));
    TRY(hd_engine_loop(context, "numbers", fit->trials.count, score_number, &s));
done:
    return status;
}

/* ---- rows on several processes --------------------------------------------------------------- */

/* Vertices of all processes up to which process 0 gets the whole graph, as in the refinement. */
enum { WHOLE_ROWS = 1 << 18 };

/* Eigenvectors and degrees of all rows on process 0, in place of own ones. */
static huddle_status collect_embedding(huddle_context *context, const hd_fit_embedding *embedding,
                                       hd_fit_embedding *whole) {
    huddle_status status = HUDDLE_OK;
    huddle_dense own = {0};
    void *values = NULL, *degrees = NULL;
    int64_t total = 0;
    TRY(huddle_dense_copy(&embedding->f.vectors, &own)); /* without gaps */
    TRY(hd_collect_rows(context, 0, own.rows, own.values, (size_t)own.cols * sizeof *own.values,
                        &total, &values));
    whole->f.vectors =
        (huddle_dense){.rows = total, .cols = own.cols, .stride = own.cols, .values = values};
    TRY(hd_collect_rows(context, 0, own.rows, embedding->f.degrees, sizeof(double), &total,
                        &degrees));
    whole->f.degrees = degrees;
done:
    huddle_dense_free(&own);
    return hd_agree(context, status);
}

/* K-means takes part up to KMEANS_ROWS vertices; with more the vectors stay where they are. */
static huddle_status score_distributed(huddle_context *context, const hd_spectral_options *options,
                                       huddle_range range, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t total = hd_fit_rows_everywhere(&fit->rows);
    hd_fit whole = {.rows = {.n = total}, .embedding = fit->embedding};
    if (total > WHOLE_ROWS)
        FAIL(
            HUDDLE_UNSUPPORTED,
            "n_clusters = auto with refinement chooses among at most %d rows on several processes; "
            "give a number, or refine = none",
            WHOLE_ROWS);
    TRY(hd_collect_csr(context, &fit->graph.matrix, 0, &whole.graph.matrix));
    if (total <= KMEANS_ROWS)
        TRY(collect_embedding(context, &fit->embedding, &whole.embedding));
    if (hd_slabs_rank(context) == 0) {
        hd_alone before = hd_alone_begin(context);
        status = hd_decide_score_numbers(context, options, range, true, &whole);
        hd_alone_end(context, before);
        fit->trials.items = whole.trials.items;
        fit->trials.count = whole.trials.count;
    } else {
        status = begin_trials(range, true, fit);
    }
    TRY(hd_agree(context, status));
    TRY(hd_slabs_broadcast(context, 0, fit->trials.count * (int64_t)sizeof *fit->trials.items,
                           fit->trials.items));
done:
    huddle_csr_free(&whole.graph.matrix);
    huddle_refine_tree_free(&whole.refined.tree);
    if (whole.embedding.f.degrees != fit->embedding.f.degrees)
        huddle_free(whole.embedding.f.degrees);
    if (whole.embedding.f.vectors.values != fit->embedding.f.vectors.values)
        huddle_free(whole.embedding.f.vectors.values);
    return hd_agree(context, status);
}

int32_t hd_decide_smallest(int32_t count, const huddle_trial *trials) {
    double largest = -INFINITY;
    for (int32_t t = 0; t < count; t++)
        largest = fmax(largest, trials[t].modularity);
    int32_t smallest = 0; /* if none has a modularity */
    for (int32_t t = count - 1; t >= 0; t--)
        if (trials[t].modularity >= largest - modularity_tolerance)
            smallest = t;
    return smallest;
}

/* Components of the graph, counted before some of them were joined by short bridges. A graph with
 * more components than any number of clusters was joined altogether, and its gaps are its own. */
static int32_t count_pieces(const hd_fit *fit) {
    int32_t before = fit->graph.connect.before, after = fit->embedding.info.components;
    return before <= huddle_embed_max_clusters(hd_fit_rows_everywhere(&fit->rows)) ? before : after;
}

/* Whether the eigengap rule has a clear answer. The gap after the components of a graph is 1 by
 * construction and therefore counts only if they are balanced. So do gaps that were made by
 * components before short bridges joined them. */
static bool is_gap_clear(const hd_fit *fit, const huddle_embed_choice *choice) {
    const hd_fit_trials *trials = &fit->trials;
    int32_t c = choice->candidates[0];
    if (choice->n_clear == 0 || c > count_pieces(fit))
        return choice->n_clear > 0;
    for (int32_t t = 0; t < trials->count; t++)
        if (trials->items[t].n_clusters == c)
            return trials->items[t].modularity >= balanced_share * (1 - 1 / (double)c);
    return true;
}

/* A graph that was given has no points, and its modularity is taken as it is. */
bool hd_decide_by_modularity(const hd_fit *fit, const huddle_embed_choice *choice) {
    const huddle_points *points = &fit->prepared.points;
    return (!hd_points_present(points) || points->d >= HD_DECIDE_MIN_FEATURES) &&
           !is_gap_clear(fit, choice);
}

/* ---- stability ----------------------------------------------------------------------------- */

/* The numbers whose stability is measured, and the labels of all points for each. */
typedef struct stability_pass {
    huddle_context *context;
    const hd_spectral_options *options;
    const huddle_points *points;
    int32_t count, numbers[STABILITY_NUMBERS];
    int32_t *labels;   /* points->n for each number */
    double *agreement; /* count for each sample */
} stability_pass;

/* Labels of points for each of the numbers: graph, embedding, then as cluster_number(). */
static huddle_status cluster_points(const stability_pass *p, const huddle_points *points,
                                    int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_fit fit = {0};
    hd_spectral_options options = *p->options;
    source s = {p->context, &options, &fit, true};
    huddle_range range = {p->numbers[0], p->numbers[0]};
    huddle_graph_scores scores;
    for (int32_t k = 1; k < p->count; k++) {
        range.first = p->numbers[k] < range.first ? p->numbers[k] : range.first;
        range.last = p->numbers[k] > range.last ? p->numbers[k] : range.last;
    }
    options.embed.verify = "none";
    TRY(hd_fit_borrow_points(points, &fit.prepared));
    TRY(hd_fit_rows_begin(p->context, points->n, &fit.rows));
    TRY(hd_spectral_make_graph(p->context, &options, range, &fit));
    TRY(hd_spectral_find_vectors(p->context, &options, range, &fit));
    TRY(huddle_csr_fetch(&fit.graph.matrix));
    TRY(huddle_refine_merge(p->context, &fit.graph.matrix, &fit.refined.tree));
    for (int32_t k = 0; k < p->count; k++)
        TRY(cluster_number(&s, p->numbers[k], labels + k * points->n, &scores));
done:
    hd_fit_free(&fit);
    return status;
}

static int64_t sample_size(int64_t n) {
    return (int64_t)(sample_share * (double)n);
}

/* Clusters one sample and compares its labels with those of all points. */
static huddle_status compare_sample(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    stability_pass *p = argument;
    int64_t n = p->points->n, size = sample_size(n), sample = chunk.begin;
    int64_t *index = NULL;
    int32_t *own = NULL, *all = NULL;
    huddle_points points = {0};
    hd_rng rng = hd_rng_stream(p->options->common.seed, (uint64_t)sample + 1);
    ALLOC(index, size);
    ALLOC(own, size * p->count);
    ALLOC(all, size);
    hd_rng_sample(&rng, n, size, index);
    TRY(huddle_points_take(p->points, index, size, &points));
    TRY(cluster_points(p, &points, own));
    for (int32_t k = 0; k < p->count; k++) {
        huddle_scores scores;
        for (int64_t i = 0; i < size; i++)
            all[i] = p->labels[k * n + index[i]];
        TRY(huddle_metrics_scores(p->context, size, all, own + k * size, &scores));
        p->agreement[sample * p->count + k] = scores.ari;
    }
done:
    huddle_points_free(&points);
    FREE(index, own, all);
    return status;
}

/* The trial with the largest modularity among those not taken; of equal ones the smaller number. */
static int32_t next_best(const hd_fit_trials *trials, int32_t n_taken, const int32_t *taken) {
    int32_t best = -1;
    for (int32_t t = 0; t < trials->count; t++) {
        bool is_taken = false;
        for (int32_t k = 0; k < n_taken; k++)
            is_taken = is_taken || taken[k] == t;
        if (!is_taken && (best < 0 || trials->items[t].modularity > trials->items[best].modularity))
            best = t;
    }
    return best;
}

/* The places of the trials whose stability is measured: the chosen number, if it is among them, and
 * those with the largest modularities, among the numbers that a sample has points for. */
static void choose_best(const hd_fit_trials *trials, stability_pass *p, int32_t *places) {
    hd_fit_trials few = *trials;
    int32_t chosen = 0;
    while (few.count > 0 &&
           few.items[few.count - 1].n_clusters > sample_size(p->points->n) / STABILITY_ROWS)
        few.count--;
    while (chosen < few.count && few.items[chosen].n_clusters != few.choice.candidates[0])
        chosen++;
    for (p->count = 0; p->count < STABILITY_NUMBERS && p->count < few.count; p->count++) {
        places[p->count] =
            p->count == 0 && chosen < few.count ? chosen : next_best(&few, p->count, places);
        p->numbers[p->count] = trials->items[places[p->count]].n_clusters;
    }
}

/* Copies of merged points are not counted here: a stability is a rough number in any case. */
static huddle_status measure_stability(huddle_context *context, const hd_spectral_options *options,
                                       const huddle_points *points, hd_fit_trials *trials) {
    huddle_status status = HUDDLE_OK;
    stability_pass p = {.context = context, .options = options, .points = points};
    int32_t places[STABILITY_NUMBERS];
    choose_best(trials, &p, places);
    if (p.count == 0)
        return status;
    ALLOC(p.labels, p.count * p.points->n);
    ALLOC(p.agreement, p.count * STABILITY_SAMPLES);
    TRY(cluster_points(&p, p.points, p.labels));
    TRY(hd_engine_loop(context, "stability", STABILITY_SAMPLES, compare_sample, &p));
    for (int32_t k = 0; k < p.count; k++) {
        double sum = 0;
        for (int32_t r = 0; r < STABILITY_SAMPLES; r++)
            sum += p.agreement[r * p.count + k];
        trials->items[places[k]].stability = sum / STABILITY_SAMPLES;
    }
done:
    FREE(p.labels, p.agreement);
    return status;
}

/* Points are sampled once if there are many, and the sample takes the place of all of them. If they
 * are distributed, process 0 measures. */
huddle_status hd_decide_stability(huddle_context *context, const hd_spectral_options *options,
                                  const huddle_points *points, hd_fit_trials *trials) {
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, sample;
    uint64_t seed = options->common.seed;
    if (points == NULL || trials->count == 0)
        return status;
    TRY(hd_step_sample(context, points, STABILITY_POINTS, seed, &owned, &sample));
    if (hd_slabs_distributed(context)) {
        TRY_ON_FIRST(context, measure_stability(context, options, &sample, trials));
        TRY(hd_slabs_broadcast(context, 0, trials->count * (int64_t)sizeof *trials->items,
                               trials->items));
    } else {
        TRY(measure_stability(context, options, &sample, trials));
    }
done:
    huddle_points_free(&owned);
    return status;
}

/* ---- the choice ---------------------------------------------------------------------------- */

/* Without a clear gap: the chosen number first, then the others by decreasing modularity. */
static void rank_by_modularity(const hd_fit_trials *trials, huddle_embed_choice *choice) {
    enum { MAX_CANDIDATES = sizeof choice->scores / sizeof *choice->scores };
    int32_t places[MAX_CANDIDATES] = {hd_decide_smallest(trials->count, trials->items)};
    memset(choice, 0, sizeof *choice);
    for (choice->count = 0; choice->count < MAX_CANDIDATES && choice->count < trials->count;
         choice->count++) {
        if (choice->count > 0)
            places[choice->count] = next_best(trials, choice->count, places);
        const huddle_trial *trial = &trials->items[places[choice->count]];
        choice->candidates[choice->count] = trial->n_clusters;
        choice->scores[choice->count] = trial->modularity;
    }
}

/* Whether the number chosen by modularity has clusters that samples do not reproduce. Without
 * points nothing is known about that. */
static bool is_unstable(const hd_fit_trials *trials) {
    for (int32_t t = 0; t < trials->count; t++)
        if (trials->items[t].n_clusters == trials->choice.candidates[0])
            return trials->items[t].stability < min_stability; /* false for NAN */
    return false;
}

/* The decision between eigengap and modularity, given the scores of all numbers. */
static huddle_status decide(huddle_context *context, const hd_spectral_options *options,
                            hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_trials *trials = &fit->trials;
    const huddle_embed_choice by_gaps = trials->choice;
    const huddle_points *points = &fit->prepared.points;
    if (!hd_points_present(points) || fit->views.count > 0)
        points = NULL; /* of several views samples would not have the graph */
    trials->by_modularity = hd_decide_by_modularity(fit, &by_gaps);
    if (trials->by_modularity)
        rank_by_modularity(trials, &trials->choice);
    TRY(hd_decide_stability(context, options, points, trials));
    if (!trials->by_modularity || !is_unstable(trials))
        goto done;
    trials->by_modularity = false;
    trials->choice = by_gaps;
    TRY(hd_decide_stability(context, options, points, trials)); /* of the new choice */
done:
    return status;
}

/* All numbers are scored also where the eigengap decides, for the info. Too few points for a
 * choice leave that of the eigengap rule. */
huddle_status hd_decide_count(huddle_context *context, const hd_spectral_options *options,
                              hd_fit *fit, huddle_range *n_clusters) {
    huddle_range range = {2, huddle_embed_max_clusters(hd_fit_rows_everywhere(&fit->rows))};
    if (options->common.n_clusters.first != HUDDLE_AUTO || !hd_spectral_refines(options) ||
        !fit->embedding.present || range.last < 2)
        return HUDDLE_OK;
    hd_stage stage = hd_stage_enter(context, HD_STAGE_CHOOSE);
    hd_silence before = hd_silence_begin(context);
    huddle_status status = hd_slabs_distributed(context)
                               ? score_distributed(context, options, range, fit)
                               : hd_decide_score_numbers(context, options, range, true, fit);
    if (status == HUDDLE_OK)
        status = decide(context, options, fit);
    hd_silence_end(context, before);
    hd_stage_leave(context, stage);
    if (status == HUDDLE_OK)
        n_clusters->first = n_clusters->last = fit->trials.choice.candidates[0];
    return status;
}
