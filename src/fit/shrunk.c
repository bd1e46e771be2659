/* The shrunk rows G, the graph W along which they were shrunk, and the certificate. */
#include "fit/fit.h"

#include "base/check.h"

/* ---- walk ---------------------------------------------------------------------------------- */

/* Freeing uses the stage's own function, which knows about members that are not saved. */
static void walk_info(hd_walk *walk, huddle_shrink_info *info) {
    const char *count = "shrink_n_history";
    if (walk->mode == HD_WALK_FREE) {
        huddle_shrink_info_free(info);
        return;
    }
    hd_walk_stop(walk, "shrink_stop", &info->stop);
    hd_walk_real(walk, "shrink_gamma", &info->gamma);
    hd_walk_real(walk, "shrink_objective", &info->objective);
    hd_walk_real(walk, "shrink_dual", &info->dual);
    hd_walk_real(walk, "shrink_gap", &info->gap);
    hd_walk_int32(walk, "shrink_n_groups", &info->n_groups);
    hd_walk_int32(walk, "shrink_n_components", &info->n_components);
    hd_walk_int(walk, "shrink_n_fixed", &info->n_fixed);
    hd_walk_int32(walk, "shrink_n_iter", &info->n_iter);
    hd_walk_int(walk, "shrink_n_solves", &info->n_solves);
    hd_walk_bool(walk, "shrink_snapped", &info->snapped);
    hd_walk_text(walk, "shrink_loss", &info->loss);
    hd_walk_text(walk, "shrink_solver", &info->solver);
    hd_walk_text(walk, "shrink_linear_solver", &info->linear_solver);
    hd_walk_int32(walk, count, &info->n_history);
    hd_walk_all_reals(walk, count, "objective", info->n_history, &info->history_objective);
    hd_walk_all_reals(walk, count, "dual", info->n_history, &info->history_dual);
    hd_walk_all_reals(walk, count, "history_seconds", info->n_history, &info->history_seconds);
    hd_walk_real(walk, "shrink_solve_seconds", &info->seconds);
}

/* The dual vectors z, if they were kept, are saved as well: with F, G, W and gamma they allow
 * anybody to verify the certificate (9) from the file. They have a row for each edge and are left
 * out if the edges are distributed over processes. */
static void walk_part(hd_walk *walk, hd_fit *fit) {
    hd_fit_shrunk *shrunk = &fit->shrunk;
    hd_walk_bool(walk, "shrink_present", &shrunk->present);
    hd_walk_bool(walk, "labels_from_embedding", &shrunk->labels_from_embedding);
    hd_fit_graph_walk(walk, "shrink_graph", &shrunk->w);
    hd_walk_row_dense(walk, "shrunk", &shrunk->g.g);
    hd_walk_row_ints(walk, "groups", fit->rows.n, &shrunk->g.group);
    hd_walk_int32(walk, "n_groups", &shrunk->g.n_groups);
    hd_walk_dense(walk, hd_walk_if_whole(walk, "shrink_dual_vectors"), &shrunk->g.z);
    walk_info(walk, &shrunk->info);
    hd_walk_real(walk, "shrink_seconds", &shrunk->seconds);
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* G has the size of F: new rows of F are compared with rows of G in (16). */
static huddle_status sizes_fit(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *g = &fit->shrunk.g.g;
    TRY(hd_fit_graph_fits("shrink_graph", &fit->shrunk.w, &fit->rows));
    HD_FIT_REQUIRE(fit->shrunk.present == (g->values != NULL), "shrink_present",
                   fit->shrunk.present);
    HD_FIT_REQUIRE(g->values == NULL || g->rows == fit->rows.n, "rows of shrunk.npy", g->rows);
    HD_FIT_REQUIRE(g->values == NULL || g->cols == fit->embedding.f.rows.cols,
                   "columns of shrunk.npy", g->cols);
done:
    return status;
}

/* Groups are at most as many as rows. W must be a valid sparse matrix: a column out of range would
 * be read when it is expanded or used again. */
static huddle_status check_shrunk(const hd_fit *fit) {
    const int32_t *group = fit->shrunk.g.group;
    int64_t all = fit->rows.n + fit->rows.elsewhere;
    for (int64_t i = 0; group != NULL && i < fit->rows.n; i++)
        if (group[i] < 0 || group[i] >= all)
            return hd_fail(HUDDLE_FORMAT, "the model file is damaged: row %lld is in group %d",
                           (long long)i + 1, group[i]);
    const huddle_csr *w = &fit->shrunk.w.matrix;
    return w->offsets != NULL ? huddle_csr_check(w) : HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* "guarded" and "labels_from" state that the certificate does not refer to the labels
 * (docs/method.md, "The guard"). */
static void write_shrunk(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_shrunk *shrunk = &fit->shrunk;
    const huddle_shrink_info *info = &shrunk->info;
    if (!shrunk->present)
        return;
    hd_json_set_object(json, "shrink");
    hd_json_set_real(json, "gamma", info->gamma);
    hd_json_set_string(json, "loss", info->loss);
    hd_json_set_real(json, "objective", info->objective);
    hd_json_set_real(json, "dual", info->dual);
    hd_json_set_real(json, "gap", info->gap);
    hd_json_set_integer(json, "groups", info->n_groups);
    hd_json_set_integer(json, "components", info->n_components);
    hd_json_set_integer(json, "n_iter", info->n_iter);
    hd_json_set_integer(json, "n_solves", info->n_solves);
    hd_json_set_string(json, "stop", huddle_stop_name(info->stop));
    hd_json_set_string(json, "solver", info->solver);
    hd_json_set_string(json, "linear_solver", info->linear_solver);
    hd_json_set_bool(json, "snapped", info->snapped);
    hd_json_set_bool(json, "guarded", shrunk->labels_from_embedding);
    hd_json_set_string(json, "labels_from", shrunk->labels_from_embedding ? "embedding" : "shrunk");
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_shrunk = {
    .walk = walk_part, .fits = sizes_fit, .check = check_shrunk, .write_json = write_shrunk};
