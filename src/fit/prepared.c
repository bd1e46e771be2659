/* From x to the points that are clustered: preparation, reduction, and how prepare = auto made its
 * choice.
 *
 * Two maps are applied in sequence to training points and to new ones: the preparation (the option
 * `prepare`) and the reduction (PCA, LDA or the subspace of spls), which is empty for most methods.
 * Points are floats relative to a shift per column, so that large means do not cost digits; the
 * shift of x is kept, because new points must be rounded relative to the same shift before they are
 * compared with training points. */
#include "fit/fit.h"

#include "base/check.h"
#include "matrix/points.h"
#include "matrix/resident.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

/* Saves or loads one candidate. */
static void walk_trial(hd_walk *walk, int32_t k, huddle_prepare_trial *trial) {
    char prefix[32], name[HD_WALK_NAME];
    snprintf(prefix, sizeof prefix, "prepare_trial_%d", k);
    hd_walk_rule(walk, prefix, &trial->rule);
    hd_walk_real(walk, hd_walk_join(name, prefix, "modularity"), &trial->modularity);
    hd_walk_real(walk, hd_walk_join(name, prefix, "divergence"), &trial->divergence);
    hd_walk_int(walk, hd_walk_join(name, prefix, "n"), &trial->n);
}

/* Saves or loads the candidates and their numbers of clusters. */
static void walk_trial_list(hd_walk *walk, hd_fit_prepare_trials *trials) {
    char name[HD_WALK_NAME], part[32];
    int32_t score = (int32_t)trials->score;
    hd_walk_count(walk, "prepare_trials_count", HD_FIT_MAX_PREPARE_TRIALS, &trials->count);
    if (walk->mode == HD_WALK_LOAD && trials->count > 0) {
        trials->items = hd_alloc_zero(trials->count, sizeof *trials->items);
        if (trials->items == NULL)
            walk->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %d trials", trials->count);
    }
    for (int32_t k = 0; k < trials->count && walk->status == HUDDLE_OK; k++)
        walk_trial(walk, k, &trials->items[k]);
    hd_walk_count(walk, "prepare_trials_n_clusters", HD_FIT_MAX_PREPARE_CLUSTERS,
                  &trials->n_clusters);
    for (int32_t k = 0; k < trials->n_clusters && walk->status == HUDDLE_OK; k++) {
        snprintf(part, sizeof part, "clusters_%d", k);
        hd_walk_int32(walk, hd_walk_join(name, "prepare_trials", part), &trials->clusters[k]);
    }
    hd_walk_count(walk, "prepare_trials_score", HUDDLE_PREPARE_BY_LARGEST_MODULARITY, &score);
    trials->score = (huddle_prepare_score)score;
    hd_walk_bool(walk, "prepare_trials_separate", &trials->separate);
    hd_walk_real(walk, "prepare_trials_seconds", &trials->seconds);
}

/* Structs with members of different types, so that they are not an array in a file. */
static void walk_trials(hd_walk *walk, hd_fit_prepare_trials *trials) {
    if (walk->mode == HD_WALK_FREE)
        huddle_free(trials->items);
    else if (walk->mode == HD_WALK_COPY)
        trials->items =
            hd_walk_copy_block(walk, trials->items, trials->count, sizeof *trials->items);
    else if (walk->mode == HD_WALK_SAVE || walk->mode == HD_WALK_LOAD)
        walk_trial_list(walk, trials);
}

/* All members; files have the shift elsewhere, whose length belongs to the whole fit. Borrowed
 * points are not freed, and a copy is never borrowed: a cache outlives the fit that filled it. */
static void walk_prepared(hd_walk *walk, hd_fit_prepared *prepared) {
    hd_fit_walk_table(walk, &prepared->table);
    walk_trials(walk, &prepared->trials);
    hd_walk_preparation(walk, "prepare", &prepared->preparation);
    hd_walk_preparation(walk, "reduce", &prepared->reduction);
    if (prepared->borrows_points && walk->mode == HD_WALK_FREE)
        hd_fit_free_points(&prepared->points, true);
    else
        hd_walk_row_points(walk, "points", &prepared->points);
    if (walk->mode == HD_WALK_FREE)
        huddle_free(prepared->shift);
    if (walk->mode == HD_WALK_COPY)
        prepared->borrows_points = false;
    if (walk->mode == HD_WALK_COPY || walk->mode == HD_WALK_FREE)
        prepared->shift = NULL; /* of a copy the model sets it when the fit is complete */
    hd_walk_real(walk, "prepare_info_variance_kept", &prepared->info.variance_kept);
    hd_walk_int(walk, "prepare_info_zero_rows", &prepared->info.zero_rows);
    hd_walk_real(walk, "prepare_info_seconds", &prepared->info.seconds);
}

void hd_fit_prepared_walk(hd_walk *walk, int64_t d, hd_fit_prepared *prepared) {
    walk_prepared(walk, prepared);
    hd_walk_reals(walk, "shift", d, &prepared->shift);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    hd_fit_prepared_walk(walk, fit->d, &fit->prepared);
}

HD_FIT_COPIER(hd_fit_prepared, walk_prepared);

/* ---- points -------------------------------------------------------------------------------- */

/* Rules such as `none` leave all members empty, so that the name of the rule need not be
 * compared. */
bool hd_fit_is_identity(const huddle_preparation *p) {
    return p->centre == NULL && p->scale == NULL && !hd_dense_present(&p->projection) &&
           !hd_dense_present(&p->knots) && !p->center_rows && !p->unit_rows;
}

huddle_status hd_fit_borrow_points(const huddle_points *x, hd_fit_prepared *prepared) {
    huddle_status status = HUDDLE_OK;
    prepared->borrows_points = !hd_points_away(x);
    prepared->points = *x;
    prepared->points.resident = hd_resident_hold(x->resident);
    if (!prepared->borrows_points) {
        prepared->points.shift = NULL;
        TRY(hd_copy_numbers(prepared->points.d, x->shift, &prepared->points.shift));
    }
done:
    return status;
}

void hd_fit_free_points(huddle_points *points, bool borrowed) {
    if (!borrowed) {
        huddle_points_free(points);
        return;
    }
    hd_resident_release(&points->resident);
    memset(points, 0, sizeof *points);
}

/* The arrays of the old struct belong to the caller of the fit; the place goes to the copy, which
 * has the same values. */
huddle_status hd_fit_own_points(hd_fit_prepared *prepared) {
    huddle_status status = HUDDLE_OK;
    huddle_points copy = {0};
    if (!prepared->borrows_points)
        return status;
    TRY(huddle_points_copy(&prepared->points, &copy));
    copy.resident = prepared->points.resident;
    prepared->points = copy;
    prepared->borrows_points = false;
done:
    return status;
}

/* ---- a loaded file ------------------------------------------------------------------------- */

int64_t hd_fit_prepared_columns(const hd_fit_prepared *prepared) {
    return prepared->reduction.rule.name != NULL ? prepared->reduction.d_out
                                                 : prepared->preparation.d_out;
}

/* A product with a projection of other dimensions would read outside of it. Only a projection
 * changes the number of columns. */
static huddle_status projection_fits(const char *prefix, const huddle_preparation *p) {
    char name[HD_WALK_NAME];
    const huddle_dense *projection = &p->projection;
    HD_FIT_REQUIRE(projection->values != NULL ? projection->rows == p->d_in && p->centre != NULL
                                              : p->d_out == p->d_in,
                   hd_walk_join(name, prefix, "d_in"), p->d_in);
    HD_FIT_REQUIRE(projection->values == NULL || projection->cols == p->d_out,
                   hd_walk_join(name, prefix, "d_out"), p->d_out);
    return HUDDLE_OK;
}

/* Every column has a knot, and the values of a column ascend: the search for a value and the
 * interpolation rely on both. */
static bool knots_fit(const huddle_preparation *p) {
    const int64_t *offsets = p->knot_offsets;
    const huddle_dense *knots = &p->knots;
    if (offsets == NULL || knots->values == NULL)
        return offsets == NULL && knots->values == NULL;
    if (p->projection.values != NULL || knots->cols != 2 || offsets[0] != 0)
        return false;
    for (int64_t j = 0; j < p->d_in; j++)
        if (offsets[j] >= offsets[j + 1] || offsets[j + 1] > knots->rows)
            return false;
    for (int64_t j = 0; j < p->d_in; j++)
        for (int64_t k = offsets[j] + 1; k < offsets[j + 1]; k++)
            if (!(knots->values[2 * (k - 1)] < knots->values[2 * k]))
                return false;
    return offsets[p->d_in] == knots->rows;
}

static huddle_status map_fits(const char *prefix, const huddle_preparation *p) {
    huddle_status status = HUDDLE_OK;
    char name[HD_WALK_NAME];
    TRY(projection_fits(prefix, p));
    HD_FIT_REQUIRE(knots_fit(p), hd_walk_join(name, prefix, "knots.npy, rows"), p->knots.rows);
    /* A map without a name is not applied, and must not look like one that is. */
    HD_FIT_REQUIRE(p->rule.name != NULL || hd_fit_is_identity(p),
                   hd_walk_join(name, prefix, "d_in"), p->d_in);
done:
    return status;
}

/* The preparation is applied to points with the features of x, the reduction to its output. Points
 * are kept from before or after the reduction. Sparse ones have columns that are not stored, so
 * that a large number of them, which costs nothing in the file, would cost memory. */
huddle_status hd_fit_prepared_fits(const hd_fit_prepared *p, int64_t n, int64_t d) {
    huddle_status status = HUDDLE_OK;
    TRY(map_fits("prepare", &p->preparation));
    TRY(map_fits("reduce", &p->reduction));
    HD_FIT_REQUIRE(p->preparation.d_in == 0 || p->preparation.d_in == d, "prepare_d_in",
                   p->preparation.d_in);
    HD_FIT_REQUIRE(p->reduction.rule.name == NULL || p->reduction.d_in == p->preparation.d_out,
                   "reduce_d_in", p->reduction.d_in);
    HD_FIT_REQUIRE(p->points.values == NULL || p->points.n == n, "points_n", p->points.n);
    HD_FIT_REQUIRE(p->points.values == NULL || p->points.d == p->preparation.d_out ||
                       p->points.d == hd_fit_prepared_columns(p),
                   "points_d", p->points.d);
done:
    return status;
}

static huddle_status sizes_fit(const hd_fit *fit) {
    return hd_fit_prepared_fits(&fit->prepared, fit->rows.n, fit->d);
}

/* NaN or infinity in a shift would make every distance NaN, and with it every comparison false. */
static bool are_finite(const double *values, int64_t count) {
    for (int64_t j = 0; values != NULL && j < count; j++)
        if (!isfinite(values[j]))
            return false;
    return true;
}

/* Shifts must be finite, and only dense points have one. Points that were not prepared still have
 * the shift that x was given with; prediction compares them with new points at that shift, so that
 * another one would move all training points. */
static bool shifts_fit(const hd_fit_prepared *prepared, int64_t d) {
    const huddle_points *points = &prepared->points;
    const huddle_preparation *p = &prepared->preparation;
    const double *shift = prepared->shift;
    /* Whether the points are x itself, so that both shifts must agree. */
    bool same = points->values != NULL && points->offsets == NULL && shift != NULL &&
                points->d == d && hd_fit_is_identity(p) && prepared->reduction.rule.name == NULL;
    if (!are_finite(shift, d) || !are_finite(p->shift, p->d_in) ||
        !are_finite(points->shift, points->d) || (shift != NULL && points->offsets != NULL))
        return false;
    for (int64_t j = 0; same && j < d; j++)
        if (shift[j] != (points->shift != NULL ? points->shift[j] : 0))
            return false;
    return true;
}

/* Sparse points must have ascending columns within range, and all values must be finite: the
 * neighbour search relies on both. */
huddle_status hd_fit_prepared_check(const hd_fit_prepared *prepared, int64_t d, bool elsewhere) {
    if (!shifts_fit(prepared, d))
        return hd_fail(HUDDLE_FORMAT,
                       "the model file is damaged: its shift is not that of its points");
    /* Of several processes some may have no rows. */
    bool none = prepared->points.values == NULL || (prepared->points.n == 0 && elsewhere);
    return none ? HUDDLE_OK : huddle_points_check(NULL, &prepared->points);
}

static huddle_status check_prepared(const hd_fit *fit) {
    return hd_fit_prepared_check(&fit->prepared, fit->d, fit->rows.elsewhere > 0);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* "pca:40" for the rule pca:R with R = 40, as the option is written. */
static void set_rule(hd_json_writer *json, const huddle_rule *rule) {
    char text[64];
    size_t length = rule->name == NULL ? 0 : strlen(rule->name);
    if (length > 2 && strcmp(rule->name + length - 2, ":R") == 0) {
        snprintf(text, sizeof text, "%.*s:%d", (int)length - 2, rule->name, rule->r);
        hd_json_set_string(json, "rule", text);
    } else {
        hd_json_set_string(json, "rule", length == 0 ? "none" : rule->name);
    }
}

static void write_trials(const hd_fit_prepare_trials *trials, hd_json_writer *json) {
    static const char *const scores[] = {[HUDDLE_PREPARE_BY_MODULARITY] = "modularity",
                                         [HUDDLE_PREPARE_BY_DIVERGENCE] = "divergence",
                                         [HUDDLE_PREPARE_BY_LARGEST_MODULARITY] =
                                             "largest modularity"};
    hd_json_set_string(json, "score", scores[trials->score]);
    hd_json_set_array(json, "tried");
    for (int32_t k = 0; k < trials->count; k++) {
        hd_json_open_object(json);
        set_rule(json, &trials->items[k].rule);
        hd_json_set_real(json, "modularity", trials->items[k].modularity);
        if (trials->score != HUDDLE_PREPARE_BY_MODULARITY)
            hd_json_set_real(json, "divergence", trials->items[k].divergence);
        hd_json_set_integer(json, "n", trials->items[k].n);
        hd_json_close_object(json);
    }
    hd_json_close_array(json);
    hd_json_set_array(json, "tried_clusters");
    for (int32_t k = 0; k < trials->n_clusters; k++)
        hd_json_integer(json, trials->clusters[k]);
    hd_json_close_array(json);
}

/* The reduction is a separate member, because its dimension is an option of the method. */
void hd_fit_prepared_write(const hd_fit_prepared *p, hd_json_writer *json) {
    hd_json_set_object(json, "prepare");
    set_rule(json, &p->preparation.rule);
    if (p->trials.count > 0)
        write_trials(&p->trials, json);
    if (p->trials.separate)
        hd_json_set_bool(json, "separate", true);
    hd_fit_write_table(&p->table, json);
    hd_json_set_integer(json, "d", p->preparation.d_out);
    hd_json_set_real(json, "variance_kept", p->info.variance_kept);
    hd_json_set_integer(json, "zero_rows", p->info.zero_rows);
    hd_json_close_object(json);
    if (p->reduction.rule.name == NULL)
        return;
    hd_json_set_object(json, "reduce");
    hd_json_set_integer(json, "dim", p->reduction.d_out);
    hd_json_set_real(json, "variance_kept", p->reduction.variance_kept);
    hd_json_close_object(json);
}

static void write_prepared(const hd_fit *fit, hd_json_writer *json) {
    hd_fit_prepared_write(&fit->prepared, json);
}

const hd_fit_part hd_fit_part_prepared = {
    .walk = walk_part, .fits = sizes_fit, .check = check_prepared, .write_json = write_prepared};
