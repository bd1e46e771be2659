/* Equal rows of x: one row of the arrays for all of them, and what that means for the others. */
#include "methods/spectral.h"

#include "base/check.h"
#include "base/rng.h"
#include "huddle/metrics.h"

#include <string.h>

int64_t hd_fit_rows(const hd_fit *fit) {
    return fit->nodes.n > 0 ? fit->nodes.n : fit->n;
}

int64_t hd_fit_copies(const hd_fit *fit, int64_t i) {
    return fit->nodes.n > 0 ? fit->nodes.copies[i] : 1;
}

int64_t hd_fit_node(const hd_fit *fit, int64_t i) {
    return fit->nodes.n > 0 ? fit->nodes.of[i] : i;
}

int64_t hd_fit_point(const hd_fit *fit, const huddle_points *points, int64_t node) {
    return fit->nodes.n > 0 && points->n == fit->nodes.n ? fit->nodes.first[node] : node;
}

huddle_status hd_fit_weights(const hd_fit *fit, double **weights) {
    huddle_status status = HUDDLE_OK;
    *weights = NULL;
    if (fit->nodes.n == 0)
        return status;
    ALLOC(*weights, fit->n);
    for (int64_t i = 0; i < fit->n; i++)
        (*weights)[i] = (double)fit->nodes.copies[i];
done:
    return status;
}

/* ---- merging ------------------------------------------------------------------------------- */

/* A few pairs of equal rows do no harm to the graph of all rows, and merging them does it no good:
 * on UMIST, where 10 of 575 images are repeated and take .7 % of the places in the lists of
 * neighbours, ACC is .690 with them and .660 merged. Above this share they are merged. */
static const double harmless_share = .02;

bool hd_copies_matter(const huddle_distinct *nodes, int32_t n_neighbors) {
    double taken = 0;
    for (int64_t k = 0; k < nodes->count; k++) {
        int64_t copies = nodes->copies[k];
        if (copies > n_neighbors)
            return true;
        taken += (double)copies * (double)(copies - 1);
    }
    return taken > harmless_share * n_neighbors * (double)nodes->n;
}

/* The rows that x's distinct rows became, and which of those are equal in turn. */
static huddle_status compose(const huddle_distinct *x, const huddle_distinct *prepared,
                             huddle_distinct *both) {
    huddle_status status = HUDDLE_OK;
    *both = (huddle_distinct){.n = x->n, .count = prepared->count};
    ALLOC(both->of, both->n);
    ALLOC(both->first, both->count);
    ALLOC_ZERO(both->copies, both->count);
    for (int64_t k = 0; k < both->count; k++) {
        int64_t kept = prepared->first != NULL ? prepared->first[k] : k;
        both->first[k] = x->first != NULL ? x->first[kept] : kept;
    }
    for (int64_t i = 0; i < both->n; i++) {
        int32_t kept = x->of != NULL ? x->of[i] : (int32_t)i;
        both->of[i] = prepared->of != NULL ? prepared->of[kept] : kept;
        both->copies[both->of[i]]++;
    }
done:
    return status;
}

/* Which rows of the fit's points to keep; nodes stays empty if all. */
static huddle_status find_nodes(huddle_context *context, const hd_fit *fit, int32_t n_neighbors,
                                huddle_distinct *nodes) {
    huddle_status status = HUDDLE_OK;
    huddle_points taken = {0};
    const huddle_points *kept = &fit->points;
    huddle_distinct prepared = {.n = fit->equal.count, .count = fit->equal.count};
    bool unprepared = fit->points_borrowed; /* then the points are x, which has been looked at */
    if (fit->equal.count < fit->equal.n && !unprepared) {
        TRY(huddle_points_take(&fit->points, fit->equal.first, fit->equal.count, &taken));
        kept = &taken;
    }
    if (!unprepared)
        TRY(huddle_points_distinct(context, kept, &prepared));
    if (prepared.count < fit->equal.n)
        TRY(compose(&fit->equal, &prepared, nodes));
    if (nodes->n > 0 && !hd_copies_matter(nodes, n_neighbors))
        huddle_distinct_free(nodes);
done:
    huddle_points_free(&taken);
    huddle_distinct_free(&prepared);
    return status;
}

huddle_status hd_fit_merge_keeping(huddle_context *context, int32_t n_neighbors, hd_fit *fit,
                                   huddle_points *whole, bool *borrowed) {
    huddle_status status = HUDDLE_OK;
    huddle_points kept = {0};
    fit->n = hd_fit_rows(fit);
    huddle_distinct_free(&fit->nodes);
    if (fit->equal.n == 0) /* nobody has looked at x: the points are all there is */
        fit->equal = (huddle_distinct){.n = fit->n, .count = fit->n};
    TRY(find_nodes(context, fit, n_neighbors, &fit->nodes));
    if (fit->nodes.n == 0)
        goto done;
    TRY(huddle_points_take(&fit->points, fit->nodes.first, fit->nodes.count, &kept));
    if (whole != NULL) {
        *whole = fit->points;
        *borrowed = fit->points_borrowed;
    } else if (!fit->points_borrowed) {
        huddle_points_free(&fit->points);
    }
    fit->points = kept;
    fit->points_borrowed = false;
    fit->n = fit->nodes.count;
done:
    if (status != HUDDLE_OK)
        huddle_distinct_free(&fit->nodes);
    return status;
}

huddle_status hd_fit_merge(huddle_context *context, int32_t n_neighbors, hd_fit *fit) {
    return hd_fit_merge_keeping(context, n_neighbors, fit, NULL, NULL);
}

/* ---- neighbours ---------------------------------------------------------------------------- */

huddle_status hd_find_neighbors(huddle_context *context, hd_fit *fit,
                                const huddle_knn_options *options, huddle_neighbors *neighbors) {
    return fit->nodes.n > 0
               ? huddle_graph_knn_ties(context, &fit->points, options, neighbors, &fit->knn_info)
               : huddle_graph_knn(context, &fit->points, options, neighbors, &fit->knn_info);
}

huddle_status hd_query_neighbors(huddle_context *context, const hd_fit *fit, const huddle_points *x,
                                 const huddle_knn_options *options, huddle_neighbors *neighbors) {
    return fit->nodes.n > 0
               ? huddle_graph_query_ties(context, &fit->points, x, options, neighbors, NULL)
               : huddle_graph_query(context, &fit->points, x, options, neighbors, NULL);
}

/* ---- labels -------------------------------------------------------------------------------- */

void hd_fit_unify_labels(hd_fit *fit) {
    const huddle_distinct *equal = &fit->equal;
    huddle_kmeans_info *info = &fit->kmeans_info;
    if (fit->nodes.n > 0 || equal->of == NULL || equal->n != fit->n)
        return;
    for (int64_t i = 0; i < fit->n; i++) {
        int64_t first = equal->first[equal->of[i]];
        fit->labels[i] = fit->labels[first];
        for (int64_t r = 0; r < info->n_restarts && info->start_labels != NULL; r++)
            info->start_labels[r * fit->n + i] = info->start_labels[r * fit->n + first];
    }
}

huddle_status hd_fit_silhouette(huddle_context *context, const hd_fit *fit,
                                const huddle_points *points, int64_t sample, double *silhouette) {
    huddle_status status = HUDDLE_OK;
    huddle_points taken = {0};
    int64_t *index = NULL, rows = hd_fit_rows(fit), count = rows < sample ? rows : sample;
    int32_t *labels = NULL;
    hd_rng rng = hd_rng_stream(0, 0);
    if (fit->nodes.n == 0)
        return huddle_metrics_silhouette(context, points, fit->labels, sample, 0, silhouette);
    ALLOC(index, count);
    ALLOC(labels, count);
    hd_rng_sample(&rng, rows, count, index);
    for (int64_t i = 0; i < count; i++) {
        int64_t node = hd_fit_node(fit, index[i]);
        labels[i] = fit->labels[node];
        index[i] = points->n == rows ? index[i] : node;
    }
    TRY(huddle_points_take(points, index, count, &taken));
    TRY(huddle_metrics_silhouette(context, &taken, labels, sample, 0, silhouette));
done:
    huddle_points_free(&taken);
    huddle_free(index);
    huddle_free(labels);
    return status;
}
