/* Are the clusters of the neighbour graph better, or those of K-means on the same points?
 * (docs/method.md, "Tables")
 *
 * On tables of few rows and many kinds of columns a graph of five neighbours often cuts off a few
 * outliers, where K-means finds the groups; on curved clusters K-means fails. No score of one
 * labelling distinguishes the two cases. What does is how the labels change if a fifth of the rows
 * is left out: the labels that change less are kept. Images, texts and other points of many
 * features in one unit are not examined: K-means is stable there even where it is wrong. */
#include "decide/labels.h"

#include "base/check.h"
#include "base/engine.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/merge.h"
#include "steps/refine.h"
#include "steps/slabs.h"

#include <math.h>
#include <string.h>

/* All constants were set on 14 tables, 12 shapes of the plane and about 100 generated sets
 * (docs/results.md). Four samples decide as six do; margins of 0 to .1 differ by .003. */
enum {
    MIN_FEATURES = 10,     /* points of fewer features are examined even if they are no table */
    SAMPLES = 4,           /* on which labels are compared, */
    SAMPLED_POINTS = 2500, /* drawn from at most so many rows */
    MIN_ROWS = 2,          /* rows per cluster that a sample must have */
    RESTARTS = 20,         /* of K-means on the points, */
    SAMPLE_RESTARTS = 10   /* and of each K-means on a sample */
};
static const double sample_share = .8;

/* The graph is clearly better: at most half the cut of K-means, and at least half its divergence.
 * The latter is far less where the graph only cuts off a few points (.03 to .23 on three of the
 * sets), and not much less where a long cluster beside a short one could be halved (rings and
 * chains: .81 to .94). */
static const double clear_divergence = .5, clear_cut = 2;

/* K-means may be less stable by the allowance if its divergence on the graph is larger: labels that
 * only cut off a few points are stable, but say little. */
static const double better_divergence = 1.1, stability_allowance = .1;

/* If both are less stable than this, labels of commute rows are considered. */
static const double unstable = .5;

/* ---- labels of the points ------------------------------------------------------------------ */

static huddle_kmeans_options kmeans_options(const hd_spectral_options *options, int32_t n_clusters,
                                            int32_t restarts) {
    huddle_kmeans_options kmeans = hd_spectral_kmeans_options(options, n_clusters);
    kmeans.n_init = kmeans.n_init < restarts ? kmeans.n_init : restarts;
    return kmeans;
}

/* K-means on the points of the rows, with their copies as weights. */
static huddle_status cluster_points(huddle_context *context, const huddle_kmeans_options *kmeans,
                                    const hd_fit_rows *rows, const huddle_points *points,
                                    huddle_kmeans_result *result, bool *complete) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_info info = {0};
    double *weights = NULL;
    TRY(hd_fit_rows_weights(rows, &weights));
    TRY(huddle_kmeans(context, points, weights, kmeans, result, &info));
    *complete = info.n_distinct >= kmeans->n_clusters;
done:
    huddle_kmeans_info_free(&info);
    huddle_free(weights);
    return status;
}

/* ---- stability ----------------------------------------------------------------------------- */

/* The rows among which samples are drawn, and their labels. */
typedef struct stability_pass {
    huddle_context *context;
    hd_spectral_options options; /* of the clusterings of samples */
    int32_t n_clusters;
    const hd_fit_rows *rows; /* of the fit */
    const huddle_points *points;
    int64_t n;                          /* rows of x among which samples are drawn: */
    int64_t *index;                     /* these */
    int32_t *labels[HD_FIT_LABELLINGS]; /* n, of the rows above */
    double agreement[SAMPLES][HD_FIT_LABELLINGS];
} stability_pass;

/* What one clustering of a sample needs. */
typedef struct sample_parts {
    hd_fit fit; /* its clusters are those of F */
    hd_fit_clusters commute;
    huddle_kmeans_result kmeans;
    int32_t *refined;
} sample_parts;

/* The points of some rows of x, equal ones merged as in a fit. */
static huddle_status take_sample(const stability_pass *p, int64_t count, const int64_t *index,
                                 sample_parts *s) {
    huddle_status status = HUDDLE_OK;
    int64_t *point = NULL;
    ALLOC(point, count);
    for (int64_t i = 0; i < count; i++)
        point[i] = hd_fit_rows_point(p->rows, p->points, hd_fit_rows_node(p->rows, index[i]));
    TRY(hd_fit_rows_begin(p->context, count, &s->fit.rows));
    TRY(huddle_points_take(p->points, point, count, &s->fit.prepared.points));
    TRY(hd_step_merge(p->context, p->options.knn.n_neighbors, &s->fit));
    hd_fit_offer(p->context, &s->fit); /* the points: for the graph and K-means */
done:
    huddle_free(point);
    return status;
}

/* The labels that are compared, for the vertices of the sample's graph. They are found as those of
 * the fit, but without shrinking, the costly part of ssc, which hardly changes refined labels. */
static huddle_status cluster_vertices(const stability_pass *p, sample_parts *s) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = p->context;
    const hd_spectral_options *options = &p->options;
    hd_fit *fit = &s->fit;
    const hd_fit_rows *rows = &fit->rows;
    int32_t c = p->n_clusters < rows->n ? p->n_clusters : (int32_t)rows->n;
    huddle_range range = {c, c};
    huddle_kmeans_options kmeans = kmeans_options(options, c, SAMPLE_RESTARTS);
    bool complete;
    TRY(cluster_points(context, &kmeans, rows, &fit->prepared.points, &s->kmeans, &complete));
    TRY(hd_spectral_make_graph(context, options, range, fit));
    TRY(huddle_csr_fetch(&fit->graph.matrix));
    TRY(hd_spectral_find_vectors(context, options, range, fit));
    TRY(hd_spectral_make_rows(options->embed.rows, c, &fit->embedding));
    TRY(hd_step_kmeans_dense(context, &fit->embedding.f.rows, &kmeans, rows, &fit->clusters));
    TRY(hd_step_cluster_commute(context, options, c, rows, &fit->embedding, &s->commute));
    ALLOC(s->refined, rows->n);
    const huddle_refine_start own[] = {{"embedding", fit->clusters.labels},
                                       {"commute", s->commute.labels}};
    TRY(hd_step_refine_labels(context, options, c, rows, &fit->graph.matrix, NULL, NULL, 2, own,
                              s->refined, &fit->refined.info));
done:
    return status;
}

/* Labels of some rows of x, clustered without the others. */
static huddle_status cluster_rows(const stability_pass *p, int64_t count, const int64_t *index,
                                  int32_t *labels[HD_FIT_LABELLINGS]) {
    huddle_status status = HUDDLE_OK;
    sample_parts *s = NULL;
    ALLOC_ZERO(s, 1);
    TRY(take_sample(p, count, index, s));
    TRY(cluster_vertices(p, s));
    for (int64_t i = 0; i < count; i++) {
        int64_t vertex = hd_fit_rows_node(&s->fit.rows, i);
        labels[HD_FIT_KMEANS][i] = s->kmeans.labels[vertex];
        labels[HD_FIT_GRAPH][i] = s->refined[vertex];
        labels[HD_FIT_COMMUTE][i] = s->commute.labels[vertex];
    }
done:
    if (s != NULL) {
        hd_fit_free(&s->fit);
        hd_fit_clusters_free(&s->commute);
        huddle_kmeans_result_free(&s->kmeans);
        FREE(s->refined, s);
    }
    return status;
}

/* Clusters one sample and compares its labels with those it was drawn from. */
static huddle_status compare_sample(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    stability_pass *p = argument;
    int64_t size = (int64_t)(sample_share * (double)p->n), sample = chunk.begin;
    int64_t *drawn = NULL, *index = NULL;
    int32_t *found = NULL, *expected = NULL, *labels[HD_FIT_LABELLINGS];
    hd_rng rng = hd_rng_stream(p->options.common.seed, (uint64_t)sample + 1);
    ALLOC(drawn, size);
    ALLOC(index, size);
    ALLOC(found, size * HD_FIT_LABELLINGS);
    ALLOC(expected, size);
    hd_rng_sample(&rng, p->n, size, drawn);
    for (int64_t i = 0; i < size; i++)
        index[i] = p->index[drawn[i]];
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        labels[k] = found + k * size;
    TRY(cluster_rows(p, size, index, labels));
    for (int k = 0; k < HD_FIT_LABELLINGS; k++) {
        huddle_scores scores;
        for (int64_t i = 0; i < size; i++)
            expected[i] = p->labels[k][drawn[i]];
        TRY(huddle_metrics_scores(p->context, size, expected, labels[k], &scores));
        p->agreement[sample][k] = scores.ari;
    }
done:
    FREE(drawn, index, found, expected);
    return status;
}

/* The rows among which samples are drawn: all with the labels of the fit, or some of them with
 * labels of their own, because labels of few points differ from those of many. */
static huddle_status draw_rows(stability_pass *p, const int32_t *labels[HD_FIT_LABELLINGS]) {
    huddle_status status = HUDDLE_OK;
    int64_t total = hd_fit_rows_total(p->rows);
    hd_rng rng = hd_rng_stream(p->options.common.seed, 0);
    ALLOC(p->index, p->n);
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        ALLOC(p->labels[k], p->n);
    hd_rng_sample(&rng, total, p->n, p->index);
    if (labels[HD_FIT_COMMUTE] == NULL) { /* not made for a sample */
        TRY(cluster_rows(p, p->n, p->index, p->labels));
    } else {
        for (int64_t i = 0; i < p->n; i++)
            for (int k = 0; k < HD_FIT_LABELLINGS; k++)
                p->labels[k][i] = labels[k][hd_fit_rows_node(p->rows, i)];
    }
done:
    return status;
}

/* The mean agreement, as adjusted Rand index, with labels of samples. */
static huddle_status measure_stability(stability_pass *p, const int32_t *labels[HD_FIT_LABELLINGS],
                                       double stability[HD_FIT_LABELLINGS]) {
    huddle_status status = HUDDLE_OK;
    TRY(draw_rows(p, labels));
    TRY(hd_engine_loop(p->context, "stability", SAMPLES, compare_sample, p));
    for (int k = 0; k < HD_FIT_LABELLINGS; k++) {
        stability[k] = 0;
        for (int sample = 0; sample < SAMPLES; sample++)
            stability[k] += p->agreement[sample][k] / SAMPLES;
    }
done:
    huddle_free(p->index);
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        huddle_free(p->labels[k]);
    return status;
}

/* The same if rows are distributed over processes: process 0 gets the rows among which samples are
 * drawn, with the labels of the fit if these are all rows, and measures alone. */
static huddle_status measure_distributed(const stability_pass *p,
                                         const int32_t *labels[HD_FIT_LABELLINGS],
                                         double stability[HD_FIT_LABELLINGS]) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = p->context;
    huddle_points owned = {0}, sample;
    void *collected[HD_FIT_LABELLINGS] = {0};
    int64_t total;
    TRY(hd_step_sample(context, p->points, p->n, p->options.common.seed, &owned, &sample));
    for (int k = 0; k < HD_FIT_LABELLINGS && labels[HD_FIT_COMMUTE] != NULL; k++)
        TRY(hd_collect_rows(context, 0, p->rows->n, labels[k], sizeof *labels[k], &total,
                            &collected[k]));
    const int32_t *own[HD_FIT_LABELLINGS];
    hd_fit_rows rows = {.n = p->n};
    stability_pass alone = *p;
    alone.rows = &rows;
    alone.points = &sample;
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        own[k] = collected[k];
    TRY_ON_FIRST(context, measure_stability(&alone, own, stability));
    TRY(hd_slabs_broadcast(context, 0, HD_FIT_LABELLINGS * sizeof *stability, stability));
done:
    huddle_points_free(&owned);
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        huddle_free(collected[k]);
    return status;
}

/* ---- the decision -------------------------------------------------------------------------- */

static int64_t rows_to_sample(const hd_fit_rows *rows) {
    int64_t total = hd_fit_rows_everywhere(rows);
    return total < SAMPLED_POINTS ? total : SAMPLED_POINTS;
}

/* Whether every cluster has a row: labels of fewer clusters cannot be compared. */
static huddle_status has_all_clusters(huddle_context *context, const hd_fit *fit, bool *all) {
    huddle_status status = HUDDLE_OK;
    int32_t c = fit->clusters.n_clusters, count, *numbers = NULL;
    ALLOC(numbers, c);
    TRY(hd_fit_order_labels(context, fit->rows.n, fit->clusters.labels, c, numbers, &count));
    *all = fit->clusters.centres.rows == c && count == c;
done:
    huddle_free(numbers);
    return status;
}

static huddle_status is_to_decide(huddle_context *context, const hd_spectral_options *options,
                                  const huddle_points *points, const hd_fit *fit, bool *decide) {
    huddle_status status = HUDDLE_OK;
    double sample = floor(sample_share * (double)rows_to_sample(&fit->rows));
    *decide = hd_spectral_refines(options) && strcmp(options->refine, "auto") == 0 &&
              fit->refined.present && points != NULL && points->offsets == NULL &&
              fit->views.count == 0 && strcmp(options->knn.metric, "euclidean") == 0 &&
              (fit->prepared.table.kind != NULL || fit->d < MIN_FEATURES) &&
              sample >= (double)MIN_ROWS * fit->clusters.n_clusters;
    if (*decide)
        TRY(has_all_clusters(context, fit, decide));
done:
    return status;
}

/* Scores of the labels of K-means after moves on the graph: without them the ragged borders of the
 * cells would count, not the clusters. */
static huddle_status score_on_graph(huddle_context *context, const hd_spectral_options *options,
                                    const int32_t *labels, const hd_fit *fit,
                                    huddle_graph_scores *scores) {
    huddle_status status = HUDDLE_OK;
    huddle_refine_options move = huddle_refine_defaults();
    int32_t *moved = NULL;
    move.n_clusters = fit->clusters.n_clusters;
    move.seed = options->common.seed;
    ALLOC(moved, fit->rows.n);
    memcpy(moved, labels, (size_t)fit->rows.n * sizeof *moved);
    TRY(hd_fit_number_labels(context, fit->rows.n, move.n_clusters, moved));
    TRY(huddle_refine_move(context, &fit->graph.matrix, &move, moved, NULL));
    TRY(huddle_metrics_graph_scores(context, &fit->graph.matrix, moved, scores));
done:
    huddle_free(moved);
    return status;
}

/* A table is not decided by the cut: categories make small cuts that mean nothing. */
bool hd_decide_is_clear(const hd_fit_table *table, const hd_fit_decision *d) {
    return table->kind == NULL && d->graph.divergence >= clear_divergence * d->kmeans.divergence &&
           d->kmeans.ncut >= clear_cut * d->graph.ncut;
}

int hd_decide_labelling(hd_fit_decision *d) {
    double kmeans = d->stability[HD_FIT_KMEANS], graph = d->stability[HD_FIT_GRAPH];
    bool fits_better = d->kmeans.divergence >= better_divergence * d->graph.divergence;
    if (fmax(kmeans, graph) < unstable && d->stability[HD_FIT_COMMUTE] > fmax(kmeans, graph)) {
        d->reason = "commute";
        return HD_FIT_COMMUTE;
    }
    d->reason = fits_better && kmeans <= graph && kmeans > graph - stability_allowance
                    ? "divergence"
                    : "stability";
    return kmeans > graph - (fits_better ? stability_allowance : 0) ? HD_FIT_KMEANS : HD_FIT_GRAPH;
}

/* Makes other labels those of the fit, numbered as similarly as possible, so that those that
 * changed can be counted. Every row becomes a candidate for the medoid of its cluster, of which
 * hd_step_choose_medoids() chooses the one nearest the mean. */
static huddle_status take_labels(huddle_context *context, const char *from, const int32_t *labels,
                                 hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    int64_t n = fit->rows.n;
    int32_t *taken = NULL;
    ALLOC(taken, n);
    memcpy(taken, labels, (size_t)n * sizeof *taken);
    TRY(hd_fit_number_labels(context, n, clusters->n_clusters, taken));
    TRY(huddle_metrics_renumber(context, n, clusters->labels, taken));
    if (clusters->is_medoid_row == NULL)
        ALLOC(clusters->is_medoid_row, n);
    memcpy(clusters->labels, taken, (size_t)n * sizeof *taken);
    hd_step_unify_labels(&fit->rows, clusters);
    for (int64_t i = 0; i < n; i++) {
        clusters->is_medoid_row[i] = true;
        clusters->medoids[clusters->labels[i]] = i;
    }
    fit->refined.from = from;
done:
    huddle_free(taken);
    return status;
}

/* The centres of K-means under the numbers that its labels have in the fit. Every process knows the
 * numbers of its own labels. */
static huddle_status take_centres(huddle_context *context, const huddle_kmeans_result *kmeans,
                                  hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *from = &kmeans->centres;
    huddle_dense *to = &fit->refined.centres;
    double *number = NULL;
    TRY(huddle_dense_fetch(from));
    TRY(huddle_dense_new(from->rows, from->cols, to));
    ALLOC(number, from->rows);
    for (int64_t k = 0; k < from->rows; k++)
        number[k] = -1;
    for (int64_t i = 0; i < fit->rows.n; i++)
        number[kmeans->labels[i]] = fit->clusters.labels[i];
    TRY(hd_reduce_max(context, from->rows, number));
    for (int64_t k = 0; k < from->rows; k++)
        if (number[k] >= 0)
            memcpy(to->values + (int64_t)number[k] * to->stride, from->values + k * from->stride,
                   (size_t)from->cols * sizeof *to->values);
done:
    huddle_free(number);
    return status;
}

/* Measures the stability of all labels and takes the best. */
static huddle_status decide_by_stability(huddle_context *context,
                                         const hd_spectral_options *options,
                                         const hd_fit_embedding *laplacian,
                                         const huddle_points *points,
                                         const huddle_kmeans_result *kmeans, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_decision *decision = &fit->refined.decision;
    hd_fit_clusters commute = {0};
    int32_t c = fit->clusters.n_clusters;
    stability_pass pass = {context, *options, c, &fit->rows, points, rows_to_sample(&fit->rows)};
    pass.options.embed.verify = "none";
    pass.options.kmeans = kmeans_options(options, c, SAMPLE_RESTARTS);
    /* A sample of many rows has labels of its own; those of all rows are then computed if needed.
     */
    if (pass.n == hd_fit_rows_everywhere(&fit->rows))
        TRY(hd_step_cluster_commute(context, options, c, &fit->rows, laplacian, &commute));
    const int32_t *labels[] = {[HD_FIT_KMEANS] = kmeans->labels,
                               [HD_FIT_GRAPH] = fit->clusters.labels,
                               [HD_FIT_COMMUTE] = commute.labels};
    /* Warnings would be about samples. */
    TRY_SILENT(context, hd_slabs_distributed(context)
                            ? measure_distributed(&pass, labels, decision->stability)
                            : measure_stability(&pass, labels, decision->stability));
    int choice = hd_decide_labelling(decision);
    if (choice == HD_FIT_KMEANS) {
        TRY(take_labels(context, "kmeans", kmeans->labels, fit));
        TRY(take_centres(context, kmeans, fit));
    } else if (choice == HD_FIT_COMMUTE) {
        if (commute.labels == NULL)
            TRY(hd_step_cluster_commute(context, options, c, &fit->rows, laplacian, &commute));
        TRY(take_labels(context, "commute", commute.labels, fit));
    }
done:
    hd_fit_clusters_free(&commute);
    return status;
}

/* Called once, for the final number of clusters. The numbers of a range are compared by the labels
 * of the graph, which all of them have. */
huddle_status hd_decide_labels(huddle_context *context, const hd_spectral_options *options,
                               const hd_fit_embedding *laplacian, const huddle_points *points,
                               hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    double begin = hd_seconds();
    hd_fit_refined *refined = &fit->refined;
    hd_fit_decision *decision = &refined->decision;
    huddle_kmeans_result kmeans = {0};
    bool decide, complete;
    TRY(is_to_decide(context, options, points, fit, &decide));
    if (!decide)
        goto done;
    huddle_kmeans_options own = kmeans_options(options, fit->clusters.n_clusters, RESTARTS);
    TRY(huddle_points_fetch(points));
    TRY(cluster_points(context, &own, &fit->rows, points, &kmeans, &complete));
    if (!complete)
        goto done;
    TRY(score_on_graph(context, options, kmeans.labels, fit, &decision->kmeans));
    decision->graph = refined->info.trials[refined->info.best].scores;
    for (int k = 0; k < HD_FIT_LABELLINGS; k++)
        decision->stability[k] = NAN;
    if (hd_decide_is_clear(&fit->prepared.table, decision))
        decision->reason = "cut";
    else
        TRY(decide_by_stability(context, options, laplacian, points, &kmeans, fit));
    if (hd_slabs_distributed(context)) { /* one process counts when the info is written */
        refined->info.n_changed = hd_fit_refined_changed(fit);
        TRY(hd_reduce_count(context, &refined->info.n_changed));
    }
    decision->seconds = hd_seconds() - begin;
    refined->seconds += decision->seconds;
done:
    huddle_kmeans_result_free(&kmeans);
    return status;
}
