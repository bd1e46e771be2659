/* Clustering with adaptive neighbours (Nie, Wang and Huang, Clustering and projected clustering
 * with adaptive neighbors, KDD 2014). Points, graph and eigenvectors are not computed one after the
 * other: the weights of a graph and its c first eigenvectors are found together, and the weight
 * lambda of the eigenvectors is raised until the graph has c components, which are the clusters.
 * steps/can.c has the problem and its two steps.
 *
 * Departures from the publication. The parameter gamma that makes k neighbours is one for each
 * point, not their mean: with one for all, points in sparse regions keep a single neighbour, and
 * small groups of them are components from the beginning. Neighbours are chosen among the 2k
 * nearest points, so that S is sparse. After the first step that was too large, lambda changes by
 * smaller factors than 2. What is to be done if there are too many components before lambda is
 * used, or still too few after all rounds, is not said: here k is doubled, and F is clustered by
 * K-means, with a warning. */
#include "steps/can.h"
#include "base/check.h"
#include "base/options.h"
#include "decide/eigengap.h"
#include "methods/cluster.h"
#include "methods/prepare.h"
#include "methods/spectral.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/place.h"
#include "steps/prepare.h"

#include <string.h>

/* A round computes eigenvectors from the beginning, and there may be dozens. */
enum { MAX_ROWS = 20000 };

/* Of all lists of neighbours. With weights, S, its transpose and the Laplacian an entry takes up to
 * 40 bytes. */
enum { MAX_ENTRIES = 50000000 };

typedef struct can_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    int32_t n_neighbors;
    int32_t max_iter;
    huddle_kmeans_options kmeans;
} can_options;

static const huddle_option *own_table(void) {
    static const huddle_option table[] = {
        HD_INT(can_options, n_neighbors, "10", 1, 1000,
               "neighbours with weight of each point before they are adapted"),
        HD_INT(can_options, max_iter, "50", 1, 100000,
               "maximum number of rounds in which the neighbours are adapted"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(can_options, prepare), NULL},
    {own_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(can_options, kmeans), hd_method_kmeans_names},
    {0}};

/* Centres are the means of the points, which play no part in the method; empty clusters repeat the
 * first. */
static huddle_status set_centres(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points = &fit->prepared.points;
    hd_fit_clusters *clusters = &fit->clusters;
    double *means = NULL;
    int64_t c = clusters->n_clusters, d = points->d;
    huddle_dense_free(&clusters->centres);
    TRY(huddle_points_fetch(points));
    TRY(hd_step_cluster_means(context, &fit->rows, clusters->labels, NULL, points, c, &means));
    TRY(huddle_dense_new(c, d, &clusters->centres));
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d; j++)
            clusters->centres.values[k * d + j] = means[(means[c * d + k] > 0 ? k : 0) * d + j] +
                                                  (points->shift != NULL ? points->shift[j] : 0);
    TRY(hd_step_medoids_of_points(context, points, NULL, fit->rows.n, clusters));
done:
    huddle_free(means);
    return status;
}

/* One cluster, or no more distinct rows than clusters. */
static huddle_status label_trivially(int32_t n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    int64_t n = fit->rows.n;
    ALLOC_ZERO(clusters->labels, n);
    for (int64_t i = 0; i < n && n_clusters > 1; i++)
        clusters->labels[i] = (int32_t)i;
    clusters->kmeans.n_distinct = n < n_clusters ? (int32_t)n : n_clusters;
    clusters->kmeans.stop = HUDDLE_STOP_EXACT;
done:
    return status;
}

/* The components, or clusters of the rows of F. */
static huddle_status label_rows(hd_method_run *run, const can_options *options,
                                int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    hd_fit_clusters *clusters = &fit->clusters;
    hd_step_can can = {0};
    hd_step_can_options how = {n_clusters, options->n_neighbors, options->max_iter, run->seed,
                               "auto",     MAX_ENTRIES};
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &options->kmeans, n_clusters);
    TRY(hd_step_can_run(run->context, &fit->prepared.points, &how, &can));
    if (can.n_components == n_clusters) {
        clusters->labels = can.component;
        can.component = NULL;
        clusters->kmeans.inertia = can.objective;
        clusters->kmeans.n_distinct = n_clusters;
        clusters->kmeans.stop = HUDDLE_STOP_CONVERGED;
        hd_step_unify_labels(&fit->rows, clusters);
    } else {
        hd_warn(run->context, HUDDLE_WARNING_NOT_CONVERGED,
                "the graph has %d components after %d rounds, not %d: the clusters are those of "
                "K-means on its eigenvectors; try another n_neighbors or a larger max_iter",
                can.n_components, can.n_iter, n_clusters);
        TRY(hd_step_kmeans_dense(run->context, &can.f, &kmeans, &fit->rows, clusters));
        clusters->kmeans.stop = HUDDLE_STOP_MAX_ITER;
    }
    clusters->kmeans.n_iter = can.n_iter + 1; /* graphs: the one before all rounds is the first */
done:
    hd_step_can_free(&can);
    return status;
}

static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    hd_fit_clusters_free(&fit->clusters);
    fit->clusters.n_clusters = n_clusters;
    if (n_clusters == 1 || fit->rows.n <= n_clusters)
        TRY(label_trivially(n_clusters, fit));
    else
        TRY_STAGE(run->context, HD_STAGE_GRAPH, label_rows(run, argument, n_clusters));
    TRY(set_centres(run->context, fit));
done:
    return status;
}

static huddle_status fit_can(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    can_options o = *(const can_options *)options;
    hd_fit *fit = run->fit;
    huddle_points points;
    const huddle_points *kept = &fit->prepared.points;
    hd_method_clustering how = {.cluster = cluster, .argument = &o, .points = kept};
    if (run->job->x->n > MAX_ROWS)
        FAIL(HUDDLE_UNSUPPORTED, "method can is limited to %d points, not %lld; sc has no limit",
             MAX_ROWS, (long long)run->job->x->n);
    TRY(hd_method_prepare(run, &o.prepare, NULL, true, &points));
    TRY(hd_decide_eigengap_of_points(run->context, kept, run->seed, NULL, fit, &run->n_clusters));
    TRY(hd_progress(run->context, "can", 0, 1));
    TRY(hd_step_merge(run->context, o.n_neighbors, fit));
    TRY(hd_method_cluster(run, &how));
    hd_step_warn_few_distinct(run->context, &fit->clusters);
done:
    return status;
}

/* ---- new points ------------------------------------------------------------------------------ */

/* The label with the largest sum of weights, of equal ones that of the nearest point. */
static int32_t elect_label(int32_t count, const int32_t *index, const double *weights,
                           const int32_t *labels) {
    int32_t elected = labels[index[0]];
    double most = 0;
    for (int32_t j = 0; j < count; j++) {
        double votes = 0;
        for (int32_t l = 0; l < count; l++)
            votes += labels[index[l]] == labels[index[j]] ? weights[l] : 0;
        if (votes > most) {
            most = votes;
            elected = labels[index[j]];
        }
    }
    return elected;
}

/* The weights that a new point would have before neighbours are adapted: the nearest get those of
 * (47), the last of the list none. */
static int32_t label_new(const huddle_neighbors *to, int64_t i, double *weights,
                         const int32_t *labels) {
    const int32_t *index = to->index + i * to->k;
    const double *distance = to->distance + i * to->k;
    int32_t count = 0;
    while (count < to->k && index[count] >= 0)
        count++;
    double last = distance[count - 1];
    for (int32_t j = 0; j < count; j++)
        weights[j] = last * last - distance[j] * distance[j];
    return elect_label(count, index, weights, labels);
}

static huddle_status predict_can(huddle_context *context, const hd_fit *fit, const void *options,
                                 const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    const can_options *o = options;
    const int32_t *known = fit->clusters.labels;
    huddle_points owned = {0}, view;
    huddle_neighbors to = {0};
    huddle_knn_options knn = huddle_knn_defaults();
    double *weights = NULL;
    knn.n_neighbors = o->n_neighbors + 1;
    if ((int64_t)knn.n_neighbors > fit->rows.n)
        knn.n_neighbors = (int32_t)fit->rows.n;
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(hd_spectral_query_neighbors(context, fit, &view, &knn, &to));
    TRY(huddle_neighbors_fetch(&to));
    ALLOC(weights, to.k);
    for (int64_t i = 0; i < x->n; i++) {
        int64_t same = hd_spectral_same_row(&view, i, &knn, &to);
        labels[i] = same >= 0 ? known[same] : label_new(&to, i, weights, known);
    }
done:
    huddle_free(weights);
    huddle_points_free(&owned);
    huddle_neighbors_free(&to);
    return status;
}

/* Candidates and their weights, S, its transpose and the Laplacian, and the vectors. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const can_options *o = options;
    int64_t k = o->n_neighbors, entry = (int64_t)(sizeof(double) + sizeof(int32_t));
    hd_decide_memory_of_points(x, options, needed);
    needed->stages[HD_STAGE_GRAPH] =
        needed->kept + x->n * (4 * k * entry + 2 * k * (int64_t)sizeof(double) + 4 * k * entry +
                               6 * x->n_clusters * (int64_t)sizeof(double));
}

const hd_method hd_method_can = {
    .text = {"can", "clustering with adaptive neighbours",
             "Learns the weights of a neighbour graph together with its eigenvectors until the "
             "graph has n_clusters components, which are the clusters; for up to 20000 points."},
    .options_size = sizeof(can_options),
    .sections = sections,
    .fit = fit_can,
    .predict = predict_can,
    .memory = {.predict = predict_memory}};
