/* The refinement of the labels: the trials, which of them was chosen, and the labels before.
 *
 * The labels themselves are those of the clusters, because everything that uses labels uses the
 * refined ones. */
#include "fit/fit.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

/* Where labels may come from, as a table, so that no other text can be loaded. */
static const char *const sources[] = {"graph", "kmeans", "commute", NULL};

/* A name is an array of characters in the struct and a text in files. */
static void walk_name(hd_walk *walk, const char *name, huddle_refine_trial *trial) {
    const char *text = trial->name;
    hd_walk_text(walk, name, &text);
    if (walk->mode != HD_WALK_LOAD || walk->status != HUDDLE_OK)
        return;
    if (text == NULL || strlen(text) >= sizeof trial->name)
        hd_walk_fail(walk, name);
    else
        snprintf(trial->name, sizeof trial->name, "%s", text);
}

static void walk_trial(hd_walk *walk, const char *prefix, huddle_refine_trial *trial) {
    char name[HD_WALK_NAME];
    huddle_graph_scores *s = &trial->scores;
    walk_name(walk, hd_walk_join(name, prefix, "name"), trial);
    hd_walk_real(walk, hd_walk_join(name, prefix, "inside"), &s->inside);
    hd_walk_real(walk, hd_walk_join(name, prefix, "expected"), &s->expected);
    hd_walk_real(walk, hd_walk_join(name, prefix, "divergence"), &s->divergence);
    hd_walk_real(walk, hd_walk_join(name, prefix, "information"), &s->information);
    hd_walk_real(walk, hd_walk_join(name, prefix, "map"), &s->map);
    hd_walk_real(walk, hd_walk_join(name, prefix, "entropy"), &s->entropy);
    hd_walk_real(walk, hd_walk_join(name, prefix, "modularity"), &s->modularity);
    hd_walk_real(walk, hd_walk_join(name, prefix, "ncut"), &s->ncut);
    hd_walk_int32(walk, hd_walk_join(name, prefix, "n_sweeps"), &trial->n_sweeps);
    hd_walk_bool(walk, hd_walk_join(name, prefix, "allowed"), &trial->allowed);
}

static void walk_info(hd_walk *walk, huddle_refine_info *info) {
    char prefix[32];
    hd_walk_count(walk, "refine_n_trials", HUDDLE_REFINE_MAX_TRIALS, &info->n_trials);
    for (int32_t k = 0; k < info->n_trials && walk->status == HUDDLE_OK; k++) {
        snprintf(prefix, sizeof prefix, "refine_%d", k);
        walk_trial(walk, prefix, &info->trials[k]);
    }
    hd_walk_int32(walk, "refine_reference", &info->reference);
    hd_walk_int32(walk, "refine_best", &info->best);
    hd_walk_int(walk, "refine_n_changed", &info->n_changed);
    hd_walk_real(walk, "refine_stage_seconds", &info->seconds);
}

/* The tree is needed only while the fit runs: freed, never copied or saved. */
static void walk_part(hd_walk *walk, hd_fit *fit) {
    hd_fit_refined *refined = &fit->refined;
    hd_walk_bool(walk, "refine_present", &refined->present);
    hd_walk_choice(walk, "refine_from", sources, &refined->from);
    hd_walk_text(walk, "refine_skipped", &refined->skipped);
    hd_walk_row_ints(walk, "unrefined_labels", fit->rows.n, &refined->own);
    hd_walk_dense(walk, "refine_centres", &refined->centres);
    walk_info(walk, &refined->info);
    hd_fit_walk_decision(walk, &refined->decision);
    hd_walk_real(walk, "refine_seconds", &refined->seconds);
    if (walk->mode == HD_WALK_FREE)
        huddle_refine_tree_free(&refined->tree);
}

void hd_fit_refined_reset(hd_fit_refined *refined) {
    hd_fit_refined kept = {.skipped = refined->skipped, .tree = refined->tree};
    huddle_free(refined->own);
    huddle_dense_free(&refined->centres);
    *refined = kept;
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* Centres are compared with the prepared points of new rows, and their number becomes the label. */
static huddle_status centres_fit(const hd_fit *fit) {
    const hd_fit_refined *refined = &fit->refined;
    const huddle_dense *centres = &refined->centres;
    bool by_kmeans = refined->present && strcmp(refined->from, "kmeans") == 0;
    HD_FIT_REQUIRE(by_kmeans == (centres->values != NULL), "rows of refine_centres.npy",
                   centres->rows);
    HD_FIT_REQUIRE(!by_kmeans || (centres->rows >= 1 && centres->rows <= fit->clusters.n_clusters),
                   "rows of refine_centres.npy", centres->rows);
    HD_FIT_REQUIRE(!by_kmeans || centres->cols == fit->prepared.points.d,
                   "columns of refine_centres.npy", centres->cols);
    return HUDDLE_OK;
}

/* Prediction by votes needs the scale of the graph. */
static huddle_status sizes_fit(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_refined *refined = &fit->refined;
    const huddle_refine_info *info = &refined->info;
    int32_t n_trials = info->n_trials > 0 ? info->n_trials : 1;
    HD_FIT_REQUIRE(refined->present == (refined->own != NULL), "refine_present", refined->present);
    if (refined->present && refined->from == NULL)
        return hd_fit_lacks("refine_from");
    if (refined->present && (!fit->graph.present || fit->graph.matrix.offsets == NULL))
        return hd_fit_lacks("graph_offsets.npy");
    TRY(centres_fit(fit));
    TRY(hd_fit_decision_fits(fit));
    HD_FIT_REQUIRE(info->best >= 0 && info->best < n_trials, "refine_best", info->best);
    HD_FIT_REQUIRE(info->reference >= 0 && info->reference < n_trials, "refine_reference",
                   info->reference);
done:
    return status;
}

static huddle_status check_refined(const hd_fit *fit) {
    const int32_t *own = fit->refined.own;
    for (int64_t i = 0; own != NULL && i < fit->rows.n; i++)
        if (own[i] < 0 || own[i] >= fit->clusters.n_clusters)
            return hd_fail(HUDDLE_FORMAT,
                           "the model file is damaged: row %lld had label %d before refinement",
                           (long long)i + 1, own[i]);
    return HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

int64_t hd_fit_refined_changed(const hd_fit *fit) {
    int64_t changed = 0;
    for (int64_t i = 0; fit->refined.own != NULL && i < fit->rows.n; i++)
        if (fit->refined.own[i] != fit->clusters.labels[i])
            changed += hd_fit_rows_copies(&fit->rows, i);
    return changed;
}

static void write_trials(const huddle_refine_info *info, hd_json_writer *json) {
    hd_json_set_array(json, "trials");
    for (int32_t k = 0; k < info->n_trials; k++) {
        const huddle_refine_trial *trial = &info->trials[k];
        hd_json_open_object(json);
        hd_json_set_string(json, "name", trial->name);
        hd_json_set_real(json, "map", trial->scores.map);
        hd_json_set_real(json, "divergence", trial->scores.divergence);
        hd_json_set_real(json, "information", trial->scores.information);
        hd_json_set_real(json, "modularity", trial->scores.modularity);
        hd_json_set_real(json, "ncut", trial->scores.ncut);
        hd_json_set_integer(json, "n_sweeps", trial->n_sweeps);
        hd_json_set_bool(json, "allowed", trial->allowed);
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
}

static void write_refined(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_refined *refined = &fit->refined;
    const huddle_refine_info *info = &refined->info;
    char decision[512];
    hd_fit_describe_decision(fit, decision, sizeof decision);
    if (decision[0] != '\0')
        hd_json_set_string(json, "decision", decision);
    if (!refined->present && refined->skipped == NULL)
        return;
    hd_json_set_object(json, "refine");
    if (refined->present) {
        if (info->n_trials > 0) {
            hd_json_set_string(json, "start", info->trials[info->best].name);
            hd_json_set_string(json, "reference", info->trials[info->reference].name);
        }
        hd_json_set_string(json, "from", refined->from);
        hd_json_set_integer(json, "n_changed",
                            fit->rows.elsewhere > 0 ? info->n_changed
                                                    : hd_fit_refined_changed(fit));
        write_trials(info, json);
        hd_fit_write_decision(&refined->decision, json);
        hd_json_set_real(json, "seconds", refined->seconds);
    } else {
        hd_json_set_string(json, "skipped", refined->skipped);
    }
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_refined = {
    .walk = walk_part, .fits = sizes_fit, .check = check_refined, .write_json = write_refined};
