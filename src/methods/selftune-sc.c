/* Self-tuning spectral clustering (Zelnik-Manor and Perona, NIPS 2004): local scales, and the
 * number of clusters for which the eigenvectors can be rotated closest to the axes.
 *
 * Departures from the paper: the graph of nearest neighbours instead of all pairs of points, and
 * labels by K-means on the rows instead of the largest entry after the rotation. */
#include "base/check.h"
#include "decide/memory.h"
#include "methods/range.h"
#include "methods/spectral.h"
#include "steps/refine.h"
#include "steps/rotation.h"

#include <math.h>
#include <string.h>

/* Rows that an alignment is computed from, and starts of its rotation. The alignment is a mean over
 * rows, which a sample estimates well enough; it is computed up to 29 times. */
enum { SAMPLE = 4000, ROTATIONS = 3 };

/* The scale is the method's own: the distance to the last neighbour of each list. */
static const hd_method_rename knn_names[] = {
    {"knn_solver", "knn_solver", NULL, NULL},
    {"n_neighbors", "n_neighbors", "7",
     "number of neighbours per point; the distance to the last one is its scale"},
    {"metric", "metric", NULL, NULL},
    {"recall", "recall", NULL, NULL},
    {0}};

static const hd_method_section sections[] = {
    {hd_method_affinity_table, 0, NULL},
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), knn_names},
    {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL},
    {huddle_embed_options_table, offsetof(hd_spectral_options, embed), NULL},
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), hd_method_kmeans_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* How well the first c columns of vectors, with rows scaled to norm 1, align with axes; computed on
 * evenly spaced rows if there are many. Yu and Shi's rotation provides the start: the cost has
 * local minima, in which gradient descent from the identity could end. */
static huddle_status compute_alignment(huddle_context *context, const huddle_dense *vectors,
                                       int32_t c, uint64_t seed, double *quality) {
    huddle_status status = HUDDLE_OK;
    c = c < vectors->cols ? c : (int32_t)vectors->cols; /* fewer distinct rows than clusters */
    int64_t n = vectors->rows, count = n < SAMPLE ? n : SAMPLE;
    huddle_dense rows = {0}, rotation = {0};
    int32_t *labels = NULL;
    TRY(huddle_dense_new(count, c, &rows));
    ALLOC(labels, count);
    for (int64_t i = 0; i < count; i++)
        /* Rows i n / count are all rows if there are few. */
        memcpy(rows.values + i * c, vectors->values + i * n / count * vectors->stride,
               (size_t)c * sizeof *rows.values);
    TRY(huddle_embed_rows(&rows, NULL, "unit", &rows));
    TRY(hd_step_rotation_find(context, &rows, ROTATIONS, seed, labels, &rotation, NULL, NULL));
    TRY(hd_step_rotation_align(context, &rows, &rotation, quality));
done:
    huddle_dense_free(&rows);
    huddle_dense_free(&rotation);
    huddle_free(labels);
    return status;
}

/* The alignment is computed even for a single number of clusters, because the info contains
 * it. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    if (fit->embedding.present) {
        TRY_STAGE(run->context, HD_STAGE_CHOOSE,
                  compute_alignment(run->context, &fit->embedding.f.vectors, n_clusters, run->seed,
                                    &fit->clusters.alignment));
        fit->clusters.has_alignment = true;
    }
    TRY(hd_method_cluster_rows(run, argument, n_clusters));
done:
    return status;
}

/* Ranks the numbers of clusters: first the largest number that is as good as the best (see
 * hd_method_alignment_as_good()), then the others by their alignment. alignments[t] belongs to t +
 * 2 clusters and is overwritten. */
static void rank_numbers(int32_t count, double *alignments, huddle_embed_choice *choice) {
    enum { MAX_CANDIDATES = sizeof choice->scores / sizeof *choice->scores };
    double largest = -INFINITY;
    for (int32_t t = 0; t < count; t++)
        largest = fmax(largest, alignments[t]);
    memset(choice, 0, sizeof *choice);
    while (choice->count < MAX_CANDIDATES && choice->count < count) {
        int32_t best = -1;
        for (int32_t t = 0; t < count; t++) {
            bool good = choice->count == 0 ? hd_method_alignment_as_good(alignments[t], largest)
                                           : best < 0 || alignments[t] > alignments[best];
            if (alignments[t] > -INFINITY && good)
                best = t;
        }
        choice->candidates[choice->count] = best + 2;
        choice->scores[choice->count++] = alignments[best];
        alignments[best] = -INFINITY;
    }
}

/* Chooses n_clusters by the alignment cost among 2 .. the number of eigenvectors. It replaces the
 * choice that hd_method_embed() made by eigengaps. */
static huddle_status choose_clusters(hd_method_run *run) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    double *alignments = NULL;
    const huddle_dense *vectors = &run->fit->embedding.f.vectors;
    huddle_embed_choice *choice = &run->fit->trials.choice;
    int32_t last = huddle_embed_max_clusters(hd_fit_rows_everywhere(&run->fit->rows)), count = 0;
    last = last > vectors->cols ? (int32_t)vectors->cols : last;
    if (last < 2) /* too few points for a choice: that of the eigengap rule stays */
        return status;
    ALLOC(alignments, last);
    for (int32_t c = 2; c <= last; c++) {
        TRY(hd_progress(context, "alignment", c - 2, (double)last - 1));
        TRY_STAGE(context, HD_STAGE_CHOOSE,
                  compute_alignment(context, vectors, c, run->seed, &alignments[count++]));
    }
    rank_numbers(count, alignments, choice);
    run->n_clusters = (huddle_range){choice->candidates[0], choice->candidates[0]};
done:
    huddle_free(alignments);
    return status;
}

/* For a range, hd_method_cluster() compares the alignments that cluster() computes. */
static huddle_status fit_selftune_sc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    /* The method has no option `scale`: local scaling is what defines it. */
    o.weight = huddle_weight_defaults();
    o.weight.scale = "selftune";
    TRY(hd_step_settle_refine(run->context, run->job, &o, &run->fit->refined));
    TRY(hd_method_prepare_graph(run, &o));
    TRY(hd_method_embed(run, &o));
    if (o.common.n_clusters.first == HUDDLE_AUTO && run->fit->embedding.present)
        TRY(choose_clusters(run));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &o, &o);
    how.measures_stability = false;
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

const hd_method hd_method_selftune_sc = {
    .text = {"selftune-sc", "self-tuning spectral clustering",
             "Spectral clustering in which each point has its own scale, the distance to its "
             "seventh neighbour. n_clusters = auto chooses the number whose eigenvectors can be "
             "rotated closest to the axes."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_selftune_sc,
    .place = hd_spectral_place,
    .memory = {hd_decide_memory_of_spectral, hd_decide_economise_spectral}};
