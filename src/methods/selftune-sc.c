#include "base/check.h"
#include "methods/rotation.h"
#include "methods/spectral.h"

#include <math.h>
#include <string.h>

/* Rows that the choice of n_clusters looks at, and how many numbers it tries. */
enum { SAMPLE = 4000, MOST_CLUSTERS = 30, POINTS_PER_CLUSTER = 5, ROTATIONS = 3 };

/* The scale is the method's own: the distance to the last neighbour of each list. */
static const hd_rename knn_names[] = {
    {"knn_solver", "knn_solver", NULL, NULL},
    {"n_neighbors", "n_neighbors", "7",
     "neighbours of each point in A; the distance to the last is its scale"},
    {"metric", "metric", NULL, NULL},
    {0}};

static const hd_section sections[] = {
    {hd_affinity_table, 0, NULL},
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), hd_prepare_auto},
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), knn_names},
    {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL},
    {huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL},
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_kmeans_names},
    {0}};

/* How well the first c columns of vectors, rows scaled to norm 1, align with axes; judged on evenly
 * spaced rows if there are many. */
static huddle_status judge_alignment(huddle_context *context, const huddle_dense *vectors,
                                     int32_t c, uint64_t seed, double *quality) {
    huddle_status status = HUDDLE_OK;
    c = c < vectors->cols ? c : (int32_t)vectors->cols; /* fewer distinct rows than clusters */
    int64_t n = vectors->rows, count = n < SAMPLE ? n : SAMPLE;
    huddle_dense rows = {0}, rotation = {0};
    int32_t *labels = NULL;
    TRY(huddle_dense_new(count, c, &rows));
    ALLOC(labels, count);
    for (int64_t i = 0; i < count; i++)
        memcpy(rows.values + i * c, vectors->values + i * n / count * vectors->stride,
               (size_t)c * sizeof *rows.values);
    TRY(huddle_embed_rows(&rows, NULL, "unit", &rows));
    TRY(hd_rotate(context, &rows, ROTATIONS, seed, labels, &rotation, NULL));
    TRY(hd_align(context, &rows, &rotation, quality));
done:
    huddle_dense_free(&rows);
    huddle_dense_free(&rotation);
    huddle_free(labels);
    return status;
}

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = argument;
    if (fit->embedding.vectors.values != NULL) {
        TRY(judge_alignment(context, &fit->embedding.vectors, n_clusters, options->common.seed,
                            &fit->alignment));
        fit->has_alignment = true;
    }
    TRY(hd_spectral_cluster(context, argument, n_clusters, fit));
done:
    return status;
}

/* The largest number that is as good as the best comes first, then the others by their alignment.
 * alignments[t] is that of t + 2 clusters and is used up. */
static void rank(int32_t count, double *alignments, huddle_embed_choice *choice) {
    enum { MOST = sizeof choice->scores / sizeof *choice->scores };
    double most = -INFINITY;
    for (int32_t t = 0; t < count; t++)
        most = fmax(most, alignments[t]);
    memset(choice, 0, sizeof *choice);
    while (choice->count < MOST && choice->count < count) {
        int32_t best = -1;
        for (int32_t t = 0; t < count; t++) {
            bool good = choice->count == 0 ? hd_alignment_as_good(alignments[t], most)
                                           : best < 0 || alignments[t] > alignments[best];
            if (alignments[t] > -INFINITY && good)
                best = t;
        }
        choice->candidates[choice->count] = best + 2;
        choice->scores[choice->count++] = alignments[best];
        alignments[best] = -INFINITY;
    }
}

/* n_clusters by the alignment cost, out of as many eigenvectors as there are. */
static huddle_status choose(huddle_context *context, const hd_spectral_options *options,
                            hd_fit *fit, huddle_range *n_clusters) {
    huddle_status status = HUDDLE_OK;
    double alignments[MOST_CLUSTERS];
    int64_t most = hd_fit_rows(fit) / POINTS_PER_CLUSTER;
    int32_t count = 0;
    most = most > MOST_CLUSTERS ? MOST_CLUSTERS : most;
    most = most > fit->embedding.vectors.cols ? fit->embedding.vectors.cols : most;
    for (int32_t c = 2; c <= most; c++) {
        TRY(hd_progress(context, "alignment", c - 2, (double)most - 1));
        TRY(judge_alignment(context, &fit->embedding.vectors, c, options->common.seed,
                            &alignments[count++]));
    }
    if (count == 0) /* too few points for a choice: what the eigengap rule said stays */
        goto done;
    rank(count, alignments, &fit->choice);
    n_clusters->first = n_clusters->last = fit->choice.candidates[0];
done:
    return status;
}

static huddle_status fit_selftune_sc(huddle_context *context, const hd_input *input,
                                     const void *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    huddle_range n_clusters;
    o.weight = huddle_weight_defaults();
    o.weight.scale = "selftune";
    TRY(hd_spectral_embed(context, input, &o, fit, &n_clusters));
    if (o.common.n_clusters.first == HUDDLE_AUTO && fit->embedding.vectors.values != NULL)
        TRY(choose(context, &o, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, hd_spectral_points(fit),
                     fit->has_graph ? &fit->graph : NULL, cluster, &o, fit));
done:
    return status;
}

const hd_method hd_method_selftune_sc = {
    .text = {"selftune-sc", "self-tuning spectral clustering",
             "Spectral clustering in which every point has a scale of its own, the distance to its "
             "seventh neighbour. If n_clusters is not given it is the number whose eigenvectors "
             "can be rotated nearest to the axes."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_selftune_sc,
    .predict = hd_spectral_predict};
