/* The embedding F: scaled rows of eigenvectors of A, rows given by the user, or rows computed from
 * landmarks.
 *
 * f.vectors are the raw eigenvectors, at least as many as clusters; f.rows are the first columns of
 * them after scaling, those that were clustered. Both are kept: (15) extends the raw eigenvectors,
 * and centres are in the space of the rows. `present` is false for an embedding that the user gave:
 * it has rows, but neither eigenvectors nor eigenvalues, and new points cannot be placed in it. */
#include "fit/fit.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

static void walk_info(hd_walk *walk, huddle_embed_info *info) {
    hd_walk_stop(walk, "embed_stop", &info->stop);
    hd_walk_int32(walk, "embed_n_iter", &info->n_iter);
    hd_walk_int(walk, "embed_n_products", &info->n_products);
    hd_walk_real(walk, "embed_residual", &info->residual);
    hd_walk_real(walk, "embed_unit", &info->unit);
    hd_walk_real(walk, "embed_gap", &info->gap);
    hd_walk_bool(walk, "embed_cuts_cluster", &info->cuts_cluster);
    hd_walk_int32(walk, "embed_components", &info->components);
    hd_walk_text(walk, "embed_verified", &info->verified);
    hd_walk_int32(walk, "embed_proven_pairs", &info->proven_pairs);
    hd_walk_text(walk, "embed_solver", &info->solver);
    hd_walk_real(walk, "embed_seconds", &info->seconds);
}

/* Lengths precede the arrays that have them. "landmark_vectors" is the name in files; landmark_map
 * is its meaning here. */
static void walk_embedding(hd_walk *walk, hd_fit_embedding *embedding) {
    huddle_embedding *f = &embedding->f;
    hd_walk_bool(walk, "embed_present", &embedding->present);
    hd_walk_row_dense(walk, "embedding", &f->rows);
    hd_walk_row_dense(walk, "eigenvectors", &f->vectors);
    hd_walk_row_reals(walk, "degrees", f->vectors.rows, &f->degrees);
    hd_walk_int32(walk, "n_eigenvalues", &f->n_eigenvalues);
    hd_walk_all_reals(walk, "n_eigenvalues", "eigenvalues", f->n_eigenvalues, &f->eigenvalues);
    hd_walk_reals(walk, "extents", f->vectors.cols, &embedding->extents);
    hd_walk_points(walk, "landmarks", &embedding->landmarks);
    hd_walk_dense(walk, "landmark_vectors", &embedding->landmark_map);
    hd_walk_dense(walk, "linear_map", &embedding->linear_map);
    walk_info(walk, &embedding->info);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_embedding(walk, &fit->embedding);
}

/* degrees and extents take their lengths from the eigenvectors, which the walk has replaced by
 * their copy at that point; the copy has the same sizes. */
HD_FIT_COPIER(hd_fit_embedding, walk_embedding);

/* n counts rows of x, because the bound n/5 and the small components of the eigengap rule refer to
 * points, not to merged rows. */
huddle_spectrum hd_fit_spectrum(const hd_fit *fit) {
    const huddle_embedding *f = &fit->embedding.f;
    return (huddle_spectrum){.n = hd_fit_rows_everywhere(&fit->rows),
                             .components = fit->embedding.info.components,
                             .n_eigenvalues = f->n_eigenvalues,
                             .eigenvalues = f->eigenvalues,
                             .n_extents = (int32_t)f->vectors.cols,
                             .extents = fit->embedding.extents};
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* The map is indexed by landmark and by column of the embedding in predict. */
static huddle_status landmarks_fit(const hd_fit_embedding *e) {
    const huddle_dense *map = &e->landmark_map;
    if (map->values == NULL) { /* an embedding by landmarks cannot be without their map */
        HD_FIT_REQUIRE(e->landmarks.values == NULL || !e->present, "landmarks_n", e->landmarks.n);
        return HUDDLE_OK;
    }
    if (e->landmarks.values == NULL)
        return hd_fit_lacks("landmarks.npy");
    HD_FIT_REQUIRE(map->rows >= 1 && map->rows == e->landmarks.n, "rows of landmark_vectors.npy",
                   map->rows);
    HD_FIT_REQUIRE(map->cols >= e->f.rows.cols, "columns of landmark_vectors.npy", map->cols);
    return HUDDLE_OK;
}

/* The map has a row for each feature and one more, a column for each of F and one more. */
static huddle_status linear_fits(const hd_fit *fit) {
    const huddle_dense *map = &fit->embedding.linear_map;
    if (map->values == NULL)
        return HUDDLE_OK;
    HD_FIT_REQUIRE(map->rows == hd_fit_prepared_columns(&fit->prepared) + 1,
                   "rows of linear_map.npy", map->rows);
    HD_FIT_REQUIRE(map->cols > fit->embedding.f.rows.cols, "columns of linear_map.npy", map->cols);
    return HUDDLE_OK;
}

/* An eigenvalue and a degree for everything that (15) divides by, and a column of the eigenvectors
 * for every column of F. */
static huddle_status vectors_fit(const hd_fit *fit) {
    const huddle_embedding *f = &fit->embedding.f;
    HD_FIT_REQUIRE(fit->embedding.present == (f->vectors.values != NULL), "embed_present",
                   fit->embedding.present);
    if (f->vectors.values == NULL && fit->embedding.landmark_map.values == NULL)
        return HUDDLE_OK;
    if (f->rows.values == NULL || f->vectors.values == NULL || f->degrees == NULL ||
        f->eigenvalues == NULL)
        return hd_fit_lacks("embedding.npy, eigenvectors.npy, degrees.npy or eigenvalues.npy");
    HD_FIT_REQUIRE(f->vectors.rows == fit->rows.n, "rows of eigenvectors.npy", f->vectors.rows);
    HD_FIT_REQUIRE(f->rows.cols <= f->vectors.cols, "columns of eigenvectors.npy", f->vectors.cols);
    HD_FIT_REQUIRE(f->rows.cols <= f->n_eigenvalues, "n_eigenvalues", f->n_eigenvalues);
    return HUDDLE_OK;
}

/* All sizes that prediction relies on: one row of F and of the eigenvectors per row of the fit, and
 * centres in the space of F, or vectors of different lengths would be compared. */
static huddle_status sizes_fit(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *rows = &fit->embedding.f.rows;
    TRY(landmarks_fit(&fit->embedding));
    TRY(linear_fits(fit));
    HD_FIT_REQUIRE(fit->embedding.landmarks.values == NULL ||
                       fit->embedding.landmarks.d == hd_fit_prepared_columns(&fit->prepared),
                   "landmarks_d", fit->embedding.landmarks.d);
    TRY(vectors_fit(fit));
    HD_FIT_REQUIRE(rows->values == NULL || rows->rows == fit->rows.n, "rows of embedding.npy",
                   rows->rows);
    HD_FIT_REQUIRE(rows->values == NULL || rows->cols == fit->clusters.centres.cols,
                   "columns of embedding.npy", rows->cols);
done:
    return status;
}

/* Landmarks are searched like any points: their columns must be in range and their values
 * finite. */
static huddle_status check_embedding(const hd_fit *fit) {
    const huddle_points *landmarks = &fit->embedding.landmarks;
    return landmarks->values != NULL ? huddle_points_check(NULL, landmarks) : HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* lambda_{c+1} - lambda_c at the chosen number of clusters, which may be smaller than the number of
 * eigenvectors found; NaN if it is not known. The solver's own gap is used where it applies: it may
 * know the next eigenvalue without returning it. */
static double eigengap(const hd_fit *fit) {
    const huddle_embedding *f = &fit->embedding.f;
    int32_t c = fit->clusters.n_clusters;
    if (c == f->vectors.cols)
        return fit->embedding.info.gap;
    return c < f->n_eigenvalues ? f->eigenvalues[c] - f->eigenvalues[c - 1] : NAN;
}

/* The eigenvalues allow users to check the choice of n_clusters by eye. */
static void write_spectrum(const hd_fit *fit, hd_json_writer *json) {
    huddle_spectrum spectrum = hd_fit_spectrum(fit);
    hd_json_set_array(json, "eigenvalues");
    for (int32_t k = 0; k < spectrum.n_eigenvalues; k++)
        hd_json_real(json, spectrum.eigenvalues[k]);
    hd_json_close_array(json);
    /* The relative eigengap after 1, 2, ... clusters, as the choice of n_clusters sees it. */
    hd_json_set_array(json, "relative_gaps");
    for (int32_t k = 1; k < spectrum.n_eigenvalues; k++)
        hd_json_real(json, huddle_embed_gap(&spectrum, k));
    hd_json_close_array(json);
}

static void write_embedding(const hd_fit *fit, hd_json_writer *json) {
    const huddle_embed_info *info = &fit->embedding.info;
    if (!fit->embedding.present)
        return;
    hd_json_set_object(json, "embed");
    write_spectrum(fit, json);
    hd_json_set_real(json, "residual", info->residual);
    hd_json_set_real(json, "gap", eigengap(fit));
    hd_json_set_string(json, "verified", info->verified);
    hd_json_set_integer(json, "proven_pairs", info->proven_pairs);
    hd_json_set_string(json, "stop", huddle_stop_name(info->stop));
    hd_json_set_string(json, "solver", info->solver);
    hd_json_set_integer(json, "n_iter", info->n_iter);
    hd_json_set_integer(json, "n_products", info->n_products);
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_embedding = {
    .walk = walk_part, .fits = sizes_fit, .check = check_embedding, .write_json = write_embedding};
