/* Labels, centres and medoids, and how K-means or a rotation found them.
 *
 * All arrays refer to the rows of the fit, which are distinct rows of x if equal ones were merged;
 * users see expanded arrays (model/rows.c). Sizes in the info are counted in rows of x. Exactly
 * one of kmeans and rotation describes how labels were assigned; alternation and alignment are
 * additional results of methods that have them. */
#include "fit/fit.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

/* The names are those of the model file: changing one makes older files unreadable. */
static void walk_kmeans(hd_walk *walk, int64_t n, huddle_kmeans_info *info) {
    if (walk->mode == HD_WALK_FREE) {
        huddle_kmeans_info_free(info);
        return;
    }
    hd_walk_real(walk, "kmeans_inertia", &info->inertia);
    hd_walk_int32(walk, "kmeans_n_restarts", &info->n_restarts);
    hd_walk_all_reals(walk, "kmeans_n_restarts", "kmeans_inertias", info->n_restarts,
                      &info->inertias);
    /* Only if the caller asked to keep the labels of all restarts, which have a column per row. */
    hd_walk_int_matrix(walk, hd_walk_if_whole(walk, "start_labels"), info->n_restarts, n,
                       &info->start_labels);
    hd_walk_int32(walk, "kmeans_best", &info->best);
    hd_walk_int32(walk, "kmeans_n_iter", &info->n_iter);
    hd_walk_int32(walk, "kmeans_n_distinct", &info->n_distinct);
    hd_walk_stop(walk, "kmeans_stop", &info->stop);
    hd_walk_real(walk, "kmeans_seconds", &info->seconds);
}

static void walk_rotation(hd_walk *walk, huddle_rotation_info *info) {
    hd_walk_real(walk, "rotation_objective", &info->objective);
    hd_walk_int32(walk, "rotation_n_restarts", &info->n_restarts);
    hd_walk_all_reals(walk, "rotation_n_restarts", "rotation_objectives", info->n_restarts,
                      &info->objectives);
    hd_walk_int32(walk, "rotation_best", &info->best);
    hd_walk_int32(walk, "rotation_n_iter", &info->n_iter);
    hd_walk_stop(walk, "rotation_stop", &info->stop);
    hd_walk_real(walk, "rotation_seconds", &info->seconds);
}

static void walk_alternation(hd_walk *walk, huddle_alternation_info *info) {
    hd_walk_int32(walk, "alternation_n_iter", &info->n_iter);
    hd_walk_stop(walk, "alternation_stop", &info->stop);
    hd_walk_int32(walk, "alternation_n_history", &info->n_history);
    hd_walk_all_reals(walk, "alternation_n_history", "alternation_objective", info->n_history,
                      &info->objective);
}

/* Medoids in a file are rows of all processes, those in memory own rows, or -1. */
static void walk_distributed_medoids(hd_walk *walk, hd_fit_clusters *clusters) {
    const hd_walk_slab *slab = walk->slab;
    int64_t count = clusters->centres.rows;
    hd_walk_longs(walk, "medoids", count, &clusters->all_medoids);
    if (walk->mode != HD_WALK_LOAD || clusters->all_medoids == NULL)
        return;
    clusters->medoids =
        hd_walk_copy_block(walk, clusters->all_medoids, count, sizeof *clusters->medoids);
    for (int64_t k = 0; k < count && walk->status == HUDDLE_OK; k++) {
        int64_t row = clusters->all_medoids[k] - slab->first;
        if (clusters->all_medoids[k] < -1 || clusters->all_medoids[k] >= slab->total)
            hd_walk_fail(walk, "medoids");
        clusters->medoids[k] = row >= 0 && row < slab->n ? row : -1;
    }
}

/* There is one medoid per centre; centres come first, because their number is the length of
 * medoids. */
static void walk_clusters(hd_walk *walk, int64_t n, hd_fit_clusters *clusters) {
    hd_walk_int32(walk, "n_clusters", &clusters->n_clusters);
    hd_walk_row_ints(walk, "labels", n, &clusters->labels);
    hd_walk_dense(walk, "centres", &clusters->centres);
    if (walk->slab != NULL)
        walk_distributed_medoids(walk, clusters);
    else
        hd_walk_longs(walk, "medoids", clusters->centres.rows, &clusters->medoids);
    /* Not saved; is_medoid_row is needed only while medoids are chosen. */
    if (walk->mode == HD_WALK_FREE)
        FREE(clusters->all_sizes, clusters->all_medoids, clusters->is_medoid_row);
    hd_walk_bool(walk, "has_rotation", &clusters->has_rotation);
    walk_kmeans(walk, n, &clusters->kmeans);
    walk_rotation(walk, &clusters->rotation);
    walk_alternation(walk, &clusters->alternation);
    hd_walk_bool(walk, "has_alignment", &clusters->has_alignment);
    hd_walk_real(walk, "alignment", &clusters->alignment);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_clusters(walk, fit->rows.n, &fit->clusters);
}

/* n is irrelevant when arrays are freed. */
void hd_fit_clusters_free(hd_fit_clusters *clusters) {
    hd_walk walk = {.mode = HD_WALK_FREE};
    walk_clusters(&walk, 0, clusters);
    memset(clusters, 0, sizeof *clusters);
}

/* ---- alternation --------------------------------------------------------------------------- */

void hd_fit_alternation_reset(huddle_alternation_info *alternation) {
    huddle_free(alternation->objective);
    memset(alternation, 0, sizeof *alternation);
}

/* The first number is the objective of the start, so that n_iter is one less than n_history unless
 * the method counts otherwise (steps/autoencoder.c). */
huddle_status hd_fit_alternation_add(huddle_alternation_info *alternation, double objective) {
    huddle_alternation_info *a = alternation;
    int64_t capacity = a->n_history;
    if (!hd_grow(&a->objective, &capacity, a->n_history + 1, sizeof *a->objective))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the objective of %d rounds",
                       a->n_history + 1);
    a->objective[a->n_history++] = objective;
    a->n_iter = a->n_history - 1;
    return HUDDLE_OK;
}

/* Both objectives decrease with better labels, so that the info and trials need not distinguish
 * them. */
double hd_fit_inertia(const hd_fit_clusters *clusters) {
    return clusters->has_rotation ? clusters->rotation.objective : clusters->kmeans.inertia;
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* The number of a restart, or 0 if there was none. */
static bool is_restart(int32_t best, int32_t n_restarts) {
    return best >= 0 && (best < n_restarts || best == 0);
}

/* n_clusters is the length of arrays that labels index, and at most the number of rows of x. There
 * may be fewer centres than clusters if K-means had too few distinct rows. Centres without an
 * embedding, which checks its own, are compared with prepared points. */
static huddle_status sizes_fit(const hd_fit *fit) {
    const hd_fit_clusters *c = &fit->clusters;
    if (c->labels == NULL)
        return hd_fit_lacks("labels.npy");
    HD_FIT_REQUIRE(c->n_clusters >= 1 && c->n_clusters <= hd_fit_rows_everywhere(&fit->rows),
                   "n_clusters", c->n_clusters);
    HD_FIT_REQUIRE(c->centres.rows <= c->n_clusters, "rows of centres.npy", c->centres.rows);
    HD_FIT_REQUIRE(c->centres.values == NULL || fit->embedding.f.rows.values != NULL ||
                       c->centres.cols == hd_fit_prepared_columns(&fit->prepared),
                   "columns of centres.npy", c->centres.cols);
    HD_FIT_REQUIRE(is_restart(c->kmeans.best, c->kmeans.n_restarts), "kmeans_best", c->kmeans.best);
    HD_FIT_REQUIRE(is_restart(c->rotation.best, c->rotation.n_restarts), "rotation_best",
                   c->rotation.best);
    return HUDDLE_OK;
}

/* Every index that later code uses without checking: medoids are printed as rows of x, labels index
 * arrays of n_clusters elements. A crafted file could otherwise read or write outside of them. */
static huddle_status check_clusters(const hd_fit *fit) {
    const hd_fit_clusters *c = &fit->clusters;
    const huddle_kmeans_info *info = &c->kmeans;
    for (int64_t k = 0; k < c->centres.rows && c->medoids != NULL; k++)
        if (c->medoids[k] < -1 || c->medoids[k] >= fit->rows.n)
            return hd_fail(HUDDLE_FORMAT, "the model file is damaged: cluster %lld has medoid %lld",
                           (long long)k + 1, (long long)c->medoids[k]);
    for (int64_t i = 0; info->start_labels != NULL && i < info->n_restarts * fit->rows.n; i++)
        if (info->start_labels[i] < 0 || info->start_labels[i] >= c->n_clusters)
            return hd_fail(HUDDLE_FORMAT, "the model file is damaged: a restart has label %d",
                           info->start_labels[i]);
    for (int64_t i = 0; i < fit->rows.n; i++)
        if (c->labels[i] < 0 || c->labels[i] >= c->n_clusters)
            return hd_fail(HUDDLE_FORMAT, "the model file is damaged: row %lld has label %d",
                           (long long)i + 1, c->labels[i]);
    return HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Methods that iterate have a history of their objective. */
static void write_alternation(const huddle_alternation_info *a, hd_json_writer *json) {
    if (a->n_history == 0)
        return;
    hd_json_set_object(json, "alternation");
    hd_json_set_real(json, "objective", a->objective[a->n_history - 1]);
    hd_json_set_integer(json, "n_iter", a->n_iter);
    hd_json_set_string(json, "stop", huddle_stop_name(a->stop));
    hd_json_close_object(json);
}

/* How many restarts ended at the best objective; those that ended on a sample have only estimates,
 * which may be below it. If it is one of many, others are nearly as good, and rounding, which
 * differs between CPUs, may choose another. */
static int32_t count_reached(int32_t n_restarts, const double *objectives, double best) {
    static const double same = 1e-5;
    int32_t count = 0;
    for (int32_t k = 0; k < n_restarts; k++)
        count += fabs(objectives[k] - best) <= same * fabs(best);
    return count;
}

/* The member is called "kmeans" whatever assigned the labels, so that readers of the info find it
 * under one name. */
static void write_restarts(const hd_fit_clusters *c, hd_json_writer *json) {
    const huddle_kmeans_info *k = &c->kmeans;
    const huddle_rotation_info *r = &c->rotation;
    bool rotated = c->has_rotation;
    hd_json_set_object(json, "kmeans");
    hd_json_set_real(json, "inertia", hd_fit_inertia(c));
    hd_json_set_integer(json, "n_iter", rotated ? r->n_iter : k->n_iter);
    hd_json_set_integer(json, "restarts", rotated ? r->n_restarts : k->n_restarts);
    hd_json_set_integer(json, "best", rotated ? r->best : k->best);
    hd_json_set_integer(json, "reached",
                        rotated ? count_reached(r->n_restarts, r->objectives, r->objective)
                                : count_reached(k->n_restarts, k->inertias, k->inertia));
    hd_json_set_string(json, "stop", huddle_stop_name(rotated ? r->stop : k->stop));
    hd_json_close_object(json);
}

/* Number of rows of x in each cluster. An allocation failure is recorded in the writer, which
 * reports it at the end. */
static void write_sizes(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_clusters *c = &fit->clusters;
    int64_t *sizes = hd_alloc_zero(c->n_clusters, sizeof *sizes);
    json->failed = json->failed || sizes == NULL;
    for (int64_t i = 0; i < fit->rows.n && sizes != NULL; i++)
        sizes[c->labels[i]] += hd_fit_rows_copies(&fit->rows, i);
    hd_json_set_array(json, "sizes");
    for (int32_t k = 0; k < c->n_clusters && sizes != NULL; k++)
        hd_json_integer(json, c->all_sizes != NULL ? c->all_sizes[k] : sizes[k]);
    hd_json_close_array(json);
    huddle_free(sizes);
}

/* Medoids are reported as rows of x: the first of the merged rows. Empty clusters have null. */
static void write_medoids(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_clusters *c = &fit->clusters;
    const huddle_distinct *nodes = &fit->rows.nodes;
    const int64_t *medoids = c->all_medoids != NULL ? c->all_medoids : c->medoids;
    hd_json_set_array(json, "medoids");
    for (int32_t k = 0; k < c->n_clusters; k++) {
        bool known = medoids != NULL && k < c->centres.rows && medoids[k] >= 0;
        if (known)
            hd_json_integer(json, nodes->n > 0 ? nodes->first[medoids[k]] : medoids[k]);
        else
            hd_json_null(json);
    }
    hd_json_close_array(json);
}

static void write_clusters(const hd_fit *fit, hd_json_writer *json) {
    write_alternation(&fit->clusters.alternation, json);
    write_restarts(&fit->clusters, json);
    write_sizes(fit, json);
    write_medoids(fit, json);
}

const hd_fit_part hd_fit_part_clusters = {
    .walk = walk_part, .fits = sizes_fit, .check = check_clusters, .write_json = write_clusters};
