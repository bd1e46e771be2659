#include "base/check.h"
#include "methods/rotation.h"
#include "methods/spectral.h"

#include <math.h>
#include <string.h>

/* The rows' rule is the method's own, and of K-means only the restarts remain. */
static const hd_rename embed_names[] = {{"embed_solver", "embed_solver", NULL, NULL},
                                        {"embed_max_iter", "embed_max_iter", NULL, NULL},
                                        {"tol", "tol", NULL, NULL},
                                        {"verify", "verify", NULL, NULL},
                                        {0}};
static const hd_rename restart_names[] = {
    {"n_init", "n_init", "10", "restarts of the rotation; the best one is kept"}, {0}};

static const hd_section sections[] = {
    {hd_affinity_table, 0, NULL},
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), hd_prepare_auto},
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},
    {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},
    {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL},
    {huddle_embed_options_table, offsetof(hd_spectral_options, embed), embed_names},
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), restart_names},
    {0}};

/* F x R_k for each cluster k, centres being the columns of R in rows. */
static double towards(const hd_fit *fit, const double *row, int64_t k) {
    double product = 0;
    for (int64_t j = 0; j < fit->centres.cols; j++)
        product += row[j] * fit->centres.values[k * fit->centres.stride + j];
    return product;
}

/* Columns of the rotation become centres: the directions that stand for the clusters. */
static huddle_status take_rotation(const huddle_dense *rotation, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t c = rotation->cols;
    huddle_dense_free(&fit->centres);
    TRY(huddle_dense_new(c, c, &fit->centres));
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < c; j++)
            fit->centres.values[k * c + j] = rotation->values[j * c + k];
done:
    return status;
}

/* The row nearest each direction among the cluster's own, ties by the smaller index. */
static huddle_status find_medoids(const huddle_dense *unit, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t c = fit->centres.rows;
    double *best = NULL;
    huddle_free(fit->medoids);
    fit->medoids = NULL;
    ALLOC(best, c);
    ALLOC(fit->medoids, c);
    for (int64_t k = 0; k < c; k++) {
        best[k] = -INFINITY;
        fit->medoids[k] = -1;
    }
    for (int64_t i = 0; i < unit->rows; i++) {
        int32_t k = fit->labels[i];
        double product = towards(fit, unit->values + i * unit->stride, k);
        if (product > best[k]) {
            best[k] = product;
            fit->medoids[k] = i;
        }
    }
done:
    huddle_free(best);
    return status;
}

static huddle_status cluster(huddle_context *context, void *argument, int32_t n_clusters,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = argument;
    huddle_dense unit = {0}, rotation = {0};
    double begin = hd_seconds();
    TRY(hd_spectral_rows(options, n_clusters, fit));
    const huddle_dense *rows = &fit->embedding.rows;
    if (rows->cols != n_clusters && fit->embedding.vectors.values == NULL)
        FAIL(HUDDLE_INVALID, "an embedding of %lld columns was given for n_clusters = %d",
             (long long)rows->cols, n_clusters);
    TRY(huddle_dense_new(rows->rows, rows->cols, &unit));
    TRY(huddle_embed_rows(rows, NULL, "unit", &unit));
    if (fit->labels == NULL)
        ALLOC(fit->labels, fit->n);
    fit->n_clusters = n_clusters;
    TRY(hd_rotate(context, &unit, options->kmeans.n_init, options->common.seed, fit->labels,
                  &rotation, fit));
    TRY(take_rotation(&rotation, fit));
    hd_fit_unify_labels(fit);
    TRY(find_medoids(&unit, fit));
    fit->kmeans_info.seconds = hd_seconds() - begin;
done:
    huddle_dense_free(&unit);
    huddle_dense_free(&rotation);
    return status;
}

static huddle_status fit_ncut(huddle_context *context, const hd_input *input, const void *options,
                              hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    huddle_range n_clusters;
    o.embed.rows = "rw";
    TRY(hd_spectral_embed(context, input, &o, fit, &n_clusters));
    TRY(hd_fit_range(context, n_clusters, hd_spectral_points(fit),
                     fit->has_graph ? &fit->graph : NULL, cluster, &o, fit));
done:
    return status;
}

static huddle_status predict_ncut(huddle_context *context, const hd_fit *fit, const void *options,
                                  const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    huddle_dense rows = {0};
    int64_t *same = NULL;
    o.embed.rows = "rw";
    ALLOC(same, x->n);
    TRY(hd_spectral_new_rows(context, fit, &o, x, &rows, same));
    for (int64_t i = 0; i < x->n; i++) {
        const double *row = rows.values + i * rows.stride;
        labels[i] = 0;
        for (int32_t k = 1; k < fit->centres.rows; k++)
            if (towards(fit, row, k) > towards(fit, row, labels[i]))
                labels[i] = k;
        if (same[i] >= 0)
            labels[i] = fit->labels[same[i]];
    }
done:
    huddle_dense_free(&rows);
    huddle_free(same);
    return status;
}

const hd_method hd_method_ncut = {
    .text = {"ncut", "normalised cut by rotation",
             "Spectral clustering without K-means: the eigenvectors are rotated until each point "
             "lies as near as can be to one of n_clusters axes, and the axis is its cluster."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_ncut,
    .predict = predict_ncut};
