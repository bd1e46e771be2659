/* The numbers of clusters of a range that were tried, and the candidates of n_clusters = auto.
 *
 * Both may be absent (one given number). A range has trials with labels of their own. auto has the
 * ranking that led to the choice and, if labels are refined, the scores of every number as trials
 * without labels. Labels of trials refer to rows of x, unlike those of the fit, because the merged
 * rows may differ from trial to trial. */
#include "fit/fit.h"

#include "base/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

/* All members of the struct are doubles but the first, n_clusters, which takes the space of one
 * because of the alignment. */
enum { N_COLUMNS = sizeof(huddle_trial) / sizeof(double) };

/* In a file the trials are one table with a row per trial, which NumPy can read; scores that do not
 * apply are NaN. */
static void save_items(hd_walk *walk, const hd_fit_trials *trials) {
    huddle_dense table = {0};
    if (trials->items != NULL && walk->status == HUDDLE_OK)
        walk->status = huddle_dense_new(trials->count, N_COLUMNS, &table);
    for (int32_t t = 0; t < trials->count && table.values != NULL; t++) {
        double *row = table.values + t * table.stride;
        memcpy(row, &trials->items[t], sizeof *trials->items);
        row[0] = trials->items[t].n_clusters;
    }
    hd_walk_dense(walk, "trials", &table);
    huddle_dense_free(&table);
}

/* Files of Huddle 0.3 have no BIC, the last column. A number of clusters that is no valid int32
 * becomes 0, and check_labels() then refuses every label: converting an out-of-range double to
 * int32_t is undefined behaviour. */
static void load_items(hd_walk *walk, hd_fit_trials *trials) {
    huddle_dense table = {0};
    hd_walk_dense(walk, "trials", &table);
    if (table.values != NULL &&
        (table.rows != trials->count || table.cols > N_COLUMNS || table.cols < N_COLUMNS - 1))
        hd_walk_fail(walk, "trials");
    if (table.values != NULL && walk->status == HUDDLE_OK) {
        trials->items = hd_alloc_zero(trials->count, sizeof *trials->items);
        if (trials->items == NULL)
            walk->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %d trials", trials->count);
    }
    for (int32_t t = 0; table.values != NULL && trials->items != NULL && t < trials->count; t++) {
        const double *row = table.values + t * table.stride;
        trials->items[t].bic = NAN;
        memcpy(&trials->items[t], row, (size_t)table.cols * sizeof *row);
        trials->items[t].n_clusters = row[0] >= 1 && row[0] < INT32_MAX ? (int32_t)row[0] : 0;
    }
    huddle_dense_free(&table);
}

/* A struct with members of different types, so that each mode has its own function. */
static void walk_items(hd_walk *walk, hd_fit_trials *trials) {
    if (walk->mode == HD_WALK_FREE)
        huddle_free(trials->items);
    else if (walk->mode == HD_WALK_SAVE)
        save_items(walk, trials);
    else if (walk->mode == HD_WALK_LOAD)
        load_items(walk, trials);
}

static void walk_choice(hd_walk *walk, huddle_embed_choice *choice) {
    enum { MAX_CANDIDATES = sizeof choice->scores / sizeof *choice->scores };
    char prefix[32], name[HD_WALK_NAME];
    hd_walk_count(walk, "choice_count", MAX_CANDIDATES, &choice->count);
    hd_walk_int32(walk, "choice_n_clear", &choice->n_clear);
    for (int32_t k = 0; k < choice->count && walk->status == HUDDLE_OK; k++) {
        snprintf(prefix, sizeof prefix, "choice_%d", k);
        hd_walk_int32(walk, hd_walk_join(name, prefix, "n_clusters"), &choice->candidates[k]);
        hd_walk_real(walk, hd_walk_join(name, prefix, "score"), &choice->scores[k]);
        hd_walk_int32(walk, hd_walk_join(name, prefix, "small_components"),
                      &choice->small_components[k]);
    }
}

/* Fits that are copied have no trials. */
static void walk_part(hd_walk *walk, hd_fit *fit) {
    hd_fit_trials *trials = &fit->trials;
    hd_walk_count(walk, "n_trials", INT32_MAX, &trials->count);
    walk_items(walk, trials);
    hd_walk_row_int_matrix(walk, "range_labels", hd_fit_rows_total(&fit->rows), trials->count,
                           &trials->labels);
    walk_choice(walk, &trials->choice);
    hd_walk_bool(walk, "choice_by_modularity", &trials->by_modularity);
}

/* ---- a loaded file ------------------------------------------------------------------------- */

static huddle_status sizes_fit(const hd_fit *fit) {
    HD_FIT_REQUIRE(fit->trials.count == 0 || fit->trials.items != NULL, "n_trials",
                   fit->trials.count);
    return HUDDLE_OK;
}

/* Each column contains labels of its own number of clusters. Sizes have been checked, so items
 * exists if there are labels. */
static huddle_status check_labels(const hd_fit *fit) {
    const hd_fit_trials *trials = &fit->trials;
    int64_t count = trials->count, cells = count * hd_fit_rows_total(&fit->rows);
    for (int64_t i = 0; trials->labels != NULL && i < cells; i++)
        if (trials->labels[i] < 0 || trials->labels[i] >= trials->items[i % count].n_clusters)
            return hd_fail(HUDDLE_FORMAT, "the model file is damaged: a trial has label %d",
                           trials->labels[i]);
    return HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Trials without labels of their own were not clustered by the method and have neither inertia nor
 * silhouette. */
static void write_range(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_trials *trials = &fit->trials;
    /* Whether the trials were scored as refined labels are. */
    bool scored = trials->count > 0 && !isnan(trials->items[0].modularity);
    hd_json_set_array(json, "range");
    for (int32_t t = 0; t < trials->count; t++) {
        const huddle_trial *trial = &trials->items[t];
        hd_json_open_object(json);
        hd_json_set_integer(json, "n_clusters", trial->n_clusters);
        if (trials->labels != NULL) {
            hd_json_set_real(json, "inertia", trial->inertia);
            hd_json_set_real(json, "silhouette", trial->silhouette);
        }
        hd_json_set_real(json, "ncut", trial->ncut);
        hd_json_set_real(json, "relative_gap", trial->eigengap);
        if (scored) {
            hd_json_set_real(json, "modularity", trial->modularity);
            hd_json_set_real(json, "divergence", trial->divergence);
            hd_json_set_real(json, "stability", trial->stability);
        }
        if (fit->clusters.has_alignment)
            hd_json_set_real(json, "alignment", trial->alignment);
        if (fit->mixture.covariance != NULL)
            hd_json_set_real(json, "bic", trial->bic);
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
}

/* The trial of this number of clusters, or NULL. */
static const huddle_trial *find_trial(const hd_fit_trials *trials, int32_t n_clusters) {
    for (int32_t t = 0; t < trials->count; t++)
        if (trials->items[t].n_clusters == n_clusters)
            return &trials->items[t];
    return NULL;
}

/* Candidates, best first. The first member after the number is the score by which they are ranked;
 * the other scores of that number follow, if it was tried. */
static void write_choice(const hd_fit *fit, hd_json_writer *json) {
    const huddle_embed_choice *choice = &fit->trials.choice;
    bool aligned = fit->clusters.has_alignment, by_modularity = fit->trials.by_modularity;
    bool by_bic = fit->mixture.covariance != NULL, by_gap = !aligned && !by_modularity && !by_bic;
    const char *score = by_bic          ? "bic"
                        : aligned       ? "alignment"
                        : by_modularity ? "modularity"
                                        : "relative_gap";
    hd_json_set_array(json, "choice");
    for (int32_t i = 0; i < choice->count; i++) {
        const huddle_trial *trial = find_trial(&fit->trials, choice->candidates[i]);
        hd_json_open_object(json);
        hd_json_set_integer(json, "n_clusters", choice->candidates[i]);
        hd_json_set_real(json, score, choice->scores[i]);
        if (by_gap)
            hd_json_set_integer(json, "small_components", choice->small_components[i]);
        if (trial != NULL && by_modularity)
            hd_json_set_real(json, "relative_gap", trial->eigengap);
        else if (trial != NULL && !by_bic)
            hd_json_set_real(json, "modularity", trial->modularity);
        if (trial != NULL && !by_bic) {
            hd_json_set_real(json, "divergence", trial->divergence);
            hd_json_set_real(json, "stability", trial->stability);
        }
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
}

/* The rule that chose the number of clusters, where that is not obvious from the scores. */
static void write_rule(const hd_fit *fit, hd_json_writer *json) {
    if (fit->trials.by_modularity)
        hd_json_set_string(json, "chosen_by", "modularity");
    else if (fit->mixture.covariance != NULL && fit->trials.count > 0)
        hd_json_set_string(json, "chosen_by", "bic");
    else if (fit->trials.choice.count > 0)
        hd_json_set_string(json, "chosen_by",
                           fit->clusters.has_alignment ? "alignment" : "eigengap");
}

static void write_trials(const hd_fit *fit, hd_json_writer *json) {
    write_rule(fit, json);
    if (fit->trials.count > 0)
        write_range(fit, json);
    if (fit->trials.choice.count > 0)
        write_choice(fit, json);
}

const hd_fit_part hd_fit_part_trials = {
    .walk = walk_part, .fits = sizes_fit, .check = check_labels, .write_json = write_trials};
