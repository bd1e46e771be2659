/* K-means as a step of a fit: on points, or on the distinct rows of a matrix. */
#include "steps/kmeans.h"

#include "base/check.h"
#include "matrix/points.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/slabs.h"

#include <string.h>

/* Frees the results of an earlier K-means run; alternation and alignment belong to the method. */
static void forget_clusters(hd_fit_clusters *clusters) {
    huddle_free(clusters->labels);
    clusters->labels = NULL;
    huddle_free(clusters->medoids);
    clusters->medoids = NULL;
    huddle_free(clusters->is_medoid_row);
    clusters->is_medoid_row = NULL;
    huddle_dense_free(&clusters->centres);
    huddle_kmeans_info_free(&clusters->kmeans);
}

void hd_step_warn_few_distinct(huddle_context *context, const hd_fit_clusters *clusters) {
    int32_t distinct = clusters->kmeans.n_distinct, empty = clusters->n_clusters - distinct;
    if (empty > 0)
        hd_warn(context, HUDDLE_WARNING_FEW_DISTINCT,
                "only %d distinct row%s for %d clusters: %d cluster%s empty", distinct,
                distinct == 1 ? "" : "s", clusters->n_clusters, empty,
                empty == 1 ? " is" : "s are");
}

/* points->n differs from rows->n where the points are all rows of x although the fit has merged
 * rows; labels are then those of points, and rows does not apply to them. */
huddle_status hd_step_kmeans(huddle_context *context, const huddle_points *points,
                             const huddle_kmeans_options *options, const hd_fit_rows *rows,
                             hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_result result = {0};
    hd_stage before = hd_stage_enter(context, HD_STAGE_KMEANS);
    forget_clusters(clusters);
    TRY(huddle_kmeans(context, points, NULL, options, &result, &clusters->kmeans));
    clusters->n_clusters = options->n_clusters;
    clusters->labels = result.labels;
    clusters->centres = result.centres;
    /* The arrays belong to clusters now. */
    memset(&result, 0, sizeof result);
    if (points->n == rows->n)
        hd_step_unify_labels(rows, clusters);
    TRY(hd_step_medoids_of_points(context, points, NULL, points->n, clusters));
    hd_stage_leave(context, before);
done:
    huddle_kmeans_result_free(&result);
    return status;
}

/* Translates the labels of every restart from distinct rows to all rows. */
static huddle_status expand_starts(const hd_step_distinct *distinct, int64_t n,
                                   huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t *all = NULL;
    if (info->start_labels == NULL || distinct->of == NULL)
        return status;
    ALLOC(all, info->n_restarts * n);
    for (int64_t r = 0; r < info->n_restarts; r++)
        for (int64_t i = 0; i < n; i++)
            all[r * n + i] = info->start_labels[r * distinct->count + distinct->of[i]];
    huddle_free(info->start_labels);
    info->start_labels = all;
done:
    return status;
}

/* Shrunk rows fuse: K-means on their few distinct values, weighted, is the same problem. If rows
 * are distributed over processes, those that K-means gets are in the same order as on one process,
 * so that its random numbers choose the same ones. */
static huddle_status cluster_distinct(huddle_context *context, const huddle_dense *matrix,
                                      const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                      hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    hd_step_distinct distinct = {0};
    huddle_points points = {0};
    huddle_kmeans_result result = {0};
    huddle_kmeans_options few = *options;
    bool distributed = hd_slabs_distributed(context);
    hd_slab slab;
    int64_t n = matrix->rows;
    if (distributed) /* labels of every restart are not kept for rows of other processes */
        few.keep_starts = false;
    TRY(hd_step_find_distinct(context, matrix, rows, &distinct));
    TRY(hd_points_from_rows(context, matrix, distinct.first, distinct.count, &points));
    TRY(hd_slab_locate(context, distinct.count, &slab));
    /* Complete fusion can leave fewer distinct rows than clusters. The remaining clusters stay
     * empty, and a warning reports this. */
    if (few.n_clusters > slab.total)
        few.n_clusters = (int32_t)slab.total;
    TRY(huddle_kmeans(context, &points, distinct.weights, &few, &result, &clusters->kmeans));
    TRY(expand_starts(&distinct, n, &clusters->kmeans));
    clusters->n_clusters = options->n_clusters;
    ALLOC(clusters->labels, n);
    TRY(hd_step_expand_labels(context, &distinct, result.labels, n, clusters->labels));
    hd_step_unify_labels(rows, clusters);
    clusters->centres = result.centres;
    memset(&result.centres, 0, sizeof result.centres);
    if (distributed) { /* the distinct row of an own one may be on another process */
        huddle_points_free(&points);
        TRY(hd_points_from_rows(context, matrix, NULL, n, &points));
    }
    TRY(hd_step_medoids_of_points(context, &points, distributed ? NULL : distinct.of, n, clusters));
done:
    hd_step_distinct_free(&distinct);
    huddle_points_free(&points);
    huddle_kmeans_result_free(&result);
    return hd_agree(context, status);
}

/* Equal rows get equal labels by construction: only distinct rows are clustered. */
huddle_status hd_step_kmeans_dense(huddle_context *context, const huddle_dense *matrix,
                                   const huddle_kmeans_options *options, const hd_fit_rows *rows,
                                   hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    hd_stage before = hd_stage_enter(context, HD_STAGE_KMEANS);
    forget_clusters(clusters);
    TRY(huddle_dense_fetch(matrix));
    TRY(cluster_distinct(context, matrix, options, rows, clusters));
    TRY(hd_step_mark_medoids(context, matrix, clusters));
    hd_stage_leave(context, before);
    hd_step_warn_few_distinct(context, clusters);
done:
    return status;
}
