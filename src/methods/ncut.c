/* Normalised cuts by rotation (Yu and Shi, Multiclass spectral clustering, ICCV 2003). Finds a
 * rotation R and labels such that the rows of F R are near the unit vectors of their labels. The
 * rows of F are those of the random-walk Laplacian, scaled to norm 1; the rotation itself is in
 * steps/rotation.h. The centres of the fit are the columns of R: a new row is labelled by the
 * largest entry of its row of F R. */
#include "base/check.h"
#include "decide/count.h"
#include "decide/memory.h"
#include "methods/spectral.h"
#include "steps/embed.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/refine.h"
#include "steps/rotation.h"

/* The row rule is fixed by the method, and of the options of K-means only the restarts apply. */
static const hd_method_rename embed_names[] = {{"embed_solver", "embed_solver", NULL, NULL},
                                               {"embed_max_iter", "embed_max_iter", NULL, NULL},
                                               {"tol", "tol", NULL, NULL},
                                               {"verify", "verify", NULL, NULL},
                                               {0}};
static const hd_method_rename restart_names[] = {
    {"n_init", "n_init", "10", "restarts of the rotation; the best one is kept"}, {0}};

static const hd_method_section sections[] = {
    {hd_method_affinity_table, 0, NULL},
    {huddle_prepare_options_table, offsetof(hd_spectral_options, prepare), hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(hd_spectral_options, knn), NULL},
    {huddle_weight_options_table, offsetof(hd_spectral_options, weight), NULL},
    {huddle_connect_options_table, offsetof(hd_spectral_options, connect), NULL},
    {huddle_embed_options_table, offsetof(hd_spectral_options, embed), embed_names},
    {huddle_kmeans_options_table, offsetof(hd_spectral_options, kmeans), restart_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* Entry k of a row of F R; the rows of centres are the columns of R. */
static double rotated_entry(const huddle_dense *centres, const double *row, int64_t k) {
    double product = 0;
    for (int64_t j = 0; j < centres->cols; j++)
        product += row[j] * centres->values[k * centres->stride + j];
    return product;
}

/* The columns of the rotation become the centres: the directions of the clusters. */
static huddle_status set_centres(const huddle_dense *rotation, huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    int64_t c = rotation->cols;
    huddle_dense_free(centres);
    TRY(huddle_dense_new(c, c, centres));
    for (int64_t k = 0; k < c; k++)
        for (int64_t j = 0; j < c; j++)
            centres->values[k * c + j] = rotation->values[j * c + k];
done:
    return status;
}

/* Unit rows and the axes of their clusters. */
typedef struct axes {
    const huddle_dense *unit, *centres;
} axes;

/* The row nearest an axis is, for unit rows, the one with the largest entry. */
static double distance_from_axis(const void *of, int64_t row, int32_t cluster) {
    const axes *a = of;
    return -rotated_entry(a->centres, a->unit->values + row * a->unit->stride, cluster);
}

/* Scales rows to norm 1, finds the rotation, and stores its columns as centres. A given
 * embedding must have one column per cluster; a computed one may have fewer if there are few
 * distinct rows. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = argument;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    hd_fit_clusters *clusters = &fit->clusters;
    huddle_dense unit = {0}, rotation = {0};
    double begin = hd_seconds();
    TRY_STAGE(context, HD_STAGE_ROWS,
              hd_spectral_make_rows(options->embed.rows, n_clusters, &fit->embedding));
    const huddle_dense *rows = &fit->embedding.f.rows;
    if (rows->cols != n_clusters && !fit->embedding.present)
        FAIL(HUDDLE_INVALID, "an embedding of %lld columns was given for n_clusters = %d",
             (long long)rows->cols, n_clusters);
    TRY(huddle_dense_new(rows->rows, rows->cols, &unit));
    TRY(huddle_embed_rows(rows, NULL, "unit", &unit));
    if (clusters->labels == NULL)
        ALLOC(clusters->labels, fit->rows.n);
    clusters->n_clusters = n_clusters;
    clusters->has_rotation = true;
    TRY_STAGE(context, HD_STAGE_KMEANS,
              hd_step_rotation_find(context, &unit, options->kmeans.n_init, options->common.seed,
                                    clusters->labels, &rotation, &clusters->rotation,
                                    &clusters->alternation));
    TRY(set_centres(&rotation, &clusters->centres));
    hd_step_unify_labels(&fit->rows, clusters);
    const axes of = {&unit, &clusters->centres};
    TRY(hd_step_find_medoids(context, unit.rows, distance_from_axis, &of, clusters));
    clusters->rotation.seconds = hd_seconds() - begin;
    const huddle_refine_start own = {"rotation", clusters->labels};
    TRY(hd_step_refine(context, options, &fit->embedding, 1, &own, &unit, fit));
done:
    huddle_dense_free(&unit);
    huddle_dense_free(&rotation);
    return status;
}

/* The row rule rw divides by the root of the degree, as the derivation of the normalised cut
 * requires; prediction must use the same rule. */
static huddle_status fit_ncut(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options o = *(const hd_spectral_options *)options;
    o.embed.rows = "rw";
    TRY(hd_step_settle_refine(run->context, run->job, &o, &run->fit->refined));
    TRY(hd_method_prepare_graph(run, &o));
    TRY(hd_method_embed(run, &o));
    TRY(hd_decide_count(run->context, &o, run->fit, &run->n_clusters));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &o, &o);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* The rows are those of the fit, whatever the option says. */
static huddle_status place_ncut(huddle_context *context, const hd_fit *fit, const void *options,
                                const huddle_points *x, huddle_dense *rows, int64_t *same) {
    hd_spectral_options o = *(const hd_spectral_options *)options;
    o.embed.rows = "rw";
    return hd_spectral_place(context, fit, &o, x, rows, same);
}

/* Rows need not be scaled to norm 1 here: a positive factor does not change which entry is
 * largest. */
static huddle_status assign_ncut(huddle_context *context, const hd_fit *fit, const void *options,
                                 huddle_dense *rows, const int64_t *same, int32_t *labels) {
    (void)context;
    (void)options;
    const huddle_dense *centres = &fit->clusters.centres;
    for (int64_t i = 0; i < rows->rows; i++) {
        const double *row = rows->values + i * rows->stride;
        labels[i] = 0;
        for (int32_t k = 1; k < centres->rows; k++)
            if (rotated_entry(centres, row, k) > rotated_entry(centres, row, labels[i]))
                labels[i] = k;
        if (same[i] >= 0)
            labels[i] = fit->clusters.labels[same[i]];
    }
    return HUDDLE_OK;
}

const hd_method hd_method_ncut = {
    .text = {"ncut", "normalised cut by rotation",
             "Spectral clustering without K-means: rotates the eigenvectors to minimise the "
             "distance of each point from the nearest of n_clusters axes, that of its cluster."},
    .options_size = sizeof(hd_spectral_options),
    .sections = sections,
    .takes_graph = true,
    .fit = fit_ncut,
    .place = place_ncut,
    .assign = assign_ncut,
    .memory = {hd_decide_memory_of_spectral, hd_decide_economise_spectral}};
