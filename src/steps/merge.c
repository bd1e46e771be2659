/* Equal points (docs/method.md, "Duplicate points"): merges equal rows where they would distort the
 * graph, and gives equal rows equal labels where they are not merged. */
#include "steps/merge.h"

#include "base/check.h"
#include "base/engine.h"
#include "base/rng.h"
#include "huddle/metrics.h"

#include <string.h>

/* Rows of x that a silhouette is computed from: its cost grows with their square. */
enum { SILHOUETTE_SAMPLE = 2000 };

/* ---- merging ------------------------------------------------------------------------------- */

/* Share of the places in all lists of neighbours that copies may take before rows are merged. A few
 * pairs of equal rows do not harm the graph, and merging them does not improve it: on UMIST, where
 * 10 of 575 images are repeated and take .7 % of the places, ACC is .690 without merging and .660
 * with it. */
static const double harmless_share = .02;

/* A row with more than k copies has only copies among its k neighbours, and its copies become a
 * component of their own. A row with m copies takes m - 1 places in each of the m lists of
 * neighbours, of n k places in all; for m <= k this is exact. */
bool hd_step_copies_matter(const huddle_distinct *nodes, int32_t n_neighbors) {
    double taken = 0;
    for (int64_t k = 0; k < nodes->count; k++) {
        int64_t copies = nodes->copies[k];
        if (copies > n_neighbors)
            return true;
        taken += (double)copies * (double)(copies - 1);
    }
    return taken > harmless_share * n_neighbors * (double)nodes->n;
}

/* Composes two partitions: which rows of x are equal, and which of the distinct ones became equal
 * by the preparation (two rows in the same direction, say, which `unit` maps to one). A partition
 * without equal rows has no arrays. */
static huddle_status compose_distinct(const huddle_distinct *x, const huddle_distinct *prepared,
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

/* Determines which of the prepared points to keep; nodes remains empty if all are kept. Equal rows
 * of x are taken as equal even if their prepared values differ by rounding, which depends on the
 * position in a batch; prepared rows are compared only among one row of each kind. */
static huddle_status find_nodes(huddle_context *context, const huddle_distinct *equal,
                                const hd_fit_prepared *prepared, int32_t n_neighbors,
                                huddle_distinct *nodes) {
    huddle_status status = HUDDLE_OK;
    huddle_points taken = {0};
    const huddle_points *kept = &prepared->points;
    huddle_distinct among = {.n = equal->count, .count = equal->count};
    bool unprepared = prepared->borrows_points; /* then they are x, whose rows are known */
    if (equal->count < equal->n && !unprepared) {
        TRY(huddle_points_take(&prepared->points, equal->first, equal->count, &taken));
        kept = &taken;
    }
    if (!unprepared)
        TRY(huddle_points_distinct(context, kept, &among));
    if (among.count < equal->n)
        TRY(compose_distinct(equal, &among, nodes));
    /* Decided on the composed partition: copies in x and rows made equal by the preparation count
     * alike. */
    if (nodes->n > 0 && !hd_step_copies_matter(nodes, n_neighbors))
        huddle_distinct_free(nodes);
done:
    huddle_points_free(&taken);
    huddle_distinct_free(&among);
    return status;
}

/* Undoes an earlier merge first: lda-sc merges once per number of clusters. */
huddle_status hd_step_merge_keeping(huddle_context *context, int32_t n_neighbors, hd_fit *fit,
                                    huddle_points *whole, bool *borrowed) {
    huddle_status status = HUDDLE_OK;
    hd_fit_rows *rows = &fit->rows;
    hd_fit_prepared *prepared = &fit->prepared;
    huddle_points kept = {0};
    rows->n = hd_fit_rows_total(rows);
    huddle_distinct_free(&rows->nodes);
    if (rows->equal.n == 0) /* the rows of x are not known: the points are all there is */
        rows->equal = (huddle_distinct){.n = rows->n, .count = rows->n};
    /* One process does not know the copies on others, and all must merge or none. */
    if (hd_context_engine(context)->slabs != NULL)
        return status;
    TRY(find_nodes(context, &rows->equal, prepared, n_neighbors, &rows->nodes));
    if (rows->nodes.n == 0)
        goto done;
    TRY(huddle_points_take(&prepared->points, rows->nodes.first, rows->nodes.count, &kept));
    if (whole != NULL) {
        *whole = prepared->points;
        *borrowed = prepared->borrows_points;
    } else {
        hd_fit_free_points(&prepared->points, prepared->borrows_points);
    }
    prepared->points = kept;
    prepared->borrows_points = false;
    rows->n = rows->nodes.count;
done:
    if (status != HUDDLE_OK)
        huddle_distinct_free(&rows->nodes);
    return status;
}

huddle_status hd_step_merge(huddle_context *context, int32_t n_neighbors, hd_fit *fit) {
    hd_stage before = hd_stage_enter(context, HD_STAGE_DISTINCT);
    huddle_status status = hd_step_merge_keeping(context, n_neighbors, fit, NULL, NULL);
    hd_stage_leave(context, before);
    return status;
}

bool hd_step_keeps_copies(const hd_spectral_options *options) {
    return options->duplicates != NULL && strcmp(options->duplicates, "keep") == 0;
}

static void keep_copies(hd_fit_rows *rows) {
    rows->n = hd_fit_rows_total(rows);
    huddle_distinct_free(&rows->nodes);
    huddle_distinct_free(&rows->equal);
    rows->equal = (huddle_distinct){.n = rows->n, .count = rows->n};
}

huddle_status hd_step_merge_by(huddle_context *context, const hd_spectral_options *options,
                               hd_fit *fit) {
    if (!hd_step_keeps_copies(options))
        return hd_step_merge(context, options->knn.n_neighbors, fit);
    keep_copies(&fit->rows);
    return HUDDLE_OK;
}

/* Which of the rows that differ in x the preparations have made equal in every view. */
static huddle_status find_among_views(huddle_context *context, hd_fit *fit,
                                      huddle_distinct *among) {
    huddle_status status = HUDDLE_OK;
    const huddle_distinct *equal = &fit->rows.equal;
    huddle_distinct parts[HD_FIT_MAX_VIEWS] = {0};
    huddle_points taken = {0};
    int32_t count = fit->views.count;
    for (int32_t v = 0; v < count; v++) {
        const huddle_points *points = &hd_fit_prepared_of(fit, v)->points;
        if (equal->first != NULL)
            TRY(huddle_points_take(points, equal->first, equal->count, &taken));
        TRY(huddle_points_distinct(context, equal->first != NULL ? &taken : points, &parts[v]));
        huddle_points_free(&taken);
    }
    TRY(huddle_distinct_join(context, count, parts, among));
done:
    huddle_points_free(&taken);
    for (int32_t v = 0; v < count; v++)
        huddle_distinct_free(&parts[v]);
    return status;
}

huddle_status hd_step_merge_views(huddle_context *context, const hd_spectral_options *options,
                                  const huddle_distinct *equal, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_rows *rows = &fit->rows;
    huddle_distinct among = {0}, *nodes = &rows->nodes;
    huddle_points kept = {0};
    if (hd_step_keeps_copies(options)) {
        keep_copies(rows);
        return status;
    }
    TRY(huddle_distinct_join(context, fit->views.count, equal, &rows->equal));
    TRY(find_among_views(context, fit, &among));
    if (among.count < rows->equal.n)
        TRY(compose_distinct(&rows->equal, &among, nodes));
    if (nodes->n == 0 || !hd_step_copies_matter(nodes, options->knn.n_neighbors)) {
        huddle_distinct_free(nodes);
        goto done;
    }
    for (int32_t v = 0; v < fit->views.count; v++) {
        hd_fit_prepared *prepared = hd_fit_prepared_of(fit, v);
        TRY(huddle_points_take(&prepared->points, nodes->first, nodes->count, &kept));
        hd_fit_free_points(&prepared->points, prepared->borrows_points);
        prepared->points = kept;
        prepared->borrows_points = false;
    }
    rows->n = nodes->count;
done:
    huddle_distinct_free(&among);
    return status;
}

/* ---- labels -------------------------------------------------------------------------------- */

/* The first of equal rows is visited before its copies, so that its label has its final value. */
void hd_step_unify_labels(const hd_fit_rows *rows, hd_fit_clusters *clusters) {
    const huddle_distinct *equal = &rows->equal;
    huddle_kmeans_info *info = &clusters->kmeans;
    int64_t n = rows->n;
    if (rows->nodes.n > 0 || equal->of == NULL || equal->n != n)
        return;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = equal->first[equal->of[i]];
        clusters->labels[i] = clusters->labels[first];
        /* Labels of the restarts are compared with each other, so they must follow the same
         * rule. */
        for (int64_t r = 0; r < info->n_restarts && info->start_labels != NULL; r++)
            info->start_labels[r * n + i] = info->start_labels[r * n + first];
    }
}

/* The seed is fixed, not the user's: silhouettes of different trials refer to the same sample and
 * can be compared. */
huddle_status hd_step_silhouette(huddle_context *context, const hd_fit *fit,
                                 const huddle_points *points, double *silhouette) {
    huddle_status status = HUDDLE_OK;
    huddle_points taken = {0};
    const int32_t *node_labels = fit->clusters.labels;
    int64_t *index = NULL, rows = hd_fit_rows_total(&fit->rows);
    int64_t count = rows < SILHOUETTE_SAMPLE ? rows : SILHOUETTE_SAMPLE;
    int32_t *labels = NULL;
    hd_rng rng = hd_rng_stream(0, 0);
    if (fit->rows.nodes.n == 0)
        return huddle_metrics_silhouette(context, points, node_labels, SILHOUETTE_SAMPLE, 0,
                                         silhouette);
    /* The sample is one of all rows of x, so that copies count as often as they occur. */
    ALLOC(index, count);
    ALLOC(labels, count);
    hd_rng_sample(&rng, rows, count, index);
    for (int64_t i = 0; i < count; i++) {
        int64_t node = hd_fit_rows_node(&fit->rows, index[i]);
        labels[i] = node_labels[node];
        index[i] = points->n == rows ? index[i] : node;
    }
    TRY(huddle_points_take(points, index, count, &taken));
    TRY(huddle_metrics_silhouette(context, &taken, labels, SILHOUETTE_SAMPLE, 0, silhouette));
done:
    huddle_points_free(&taken);
    FREE(index, labels);
    return status;
}
