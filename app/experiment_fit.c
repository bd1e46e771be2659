/* One cell: a fit, its scores, and what else the plan wants to keep. */
#include "arrays.h"
#include "experiment.h"
#include "output.h"
#include "talk.h"

#include <huddle/shrink.h>

#include <math.h>
#include <string.h>
#include <time.h>

static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void copy_member(json_t *to, const char *name, const json_t *from, const char *member) {
    json_t *value = json_object_get(from, member);
    json_object_set(to, name, value == NULL ? json_null() : value);
}

/* What the model itself reports. */
static huddle_status add_report(const huddle_model *model, json_t *record) {
    char *text = NULL;
    huddle_status status = huddle_model_info_json(model, &text);
    if (status != HUDDLE_OK)
        return status;
    json_t *info = must(json_loads(text, 0, NULL));
    huddle_free(text);
    const json_t *shrink = json_object_get(info, "shrink"),
                 *kmeans = json_object_get(info, "kmeans");
    const json_t *turns = json_object_get(info, "alternation");
    copy_member(record, "options", info, "options");
    copy_member(record, "n_clusters", info, "n_clusters");
    copy_member(record, "prepare", json_object_get(info, "prepare"), "rule");
    copy_member(record, "inertia", kmeans, "inertia");
    copy_member(record, "restarts", kmeans, "restarts");
    copy_member(record, "gamma", shrink, "gamma");
    copy_member(record, "loss", shrink, "loss");
    copy_member(record, "objective", turns != NULL ? turns : shrink, "objective");
    copy_member(record, "gap", shrink, "gap");
    copy_member(record, "groups", shrink, "groups");
    copy_member(record, "n_iter", turns != NULL ? turns : shrink, "n_iter");
    copy_member(record, "stages", info, "seconds");
    copy_member(record, "warnings", info, "warnings");
    json_decref(info);
    return HUDDLE_OK;
}

/* ---- scores --------------------------------------------------------------------------------- */

enum { N_METRICS = 4 };
static const char *const metric_names[N_METRICS] = {"acc", "nmi", "ari", "purity"};

static void metrics_of(const huddle_scores *scores, double values[N_METRICS]) {
    values[0] = scores->acc;
    values[1] = scores->nmi;
    values[2] = scores->ari;
    values[3] = scores->purity;
}

/* Mean and spread over the single starts; a method without them counts as one start. */
static huddle_status add_starts(const huddle_model *model, const huddle_data *data,
                                json_t *record) {
    huddle_array starts = {0};
    double sum[N_METRICS] = {0}, squares[N_METRICS] = {0}, values[N_METRICS];
    if (huddle_model_array(model, "start_labels", &starts) != HUDDLE_OK)
        starts = (huddle_array){.rows = 1, .values = huddle_model_labels(model, NULL)};
    for (int64_t r = 0; r < starts.rows; r++) {
        huddle_scores scores;
        huddle_status status =
            huddle_metrics_scores(data->points.n, data->labels,
                                  (const int32_t *)starts.values + r * starts.stride, &scores);
        if (status != HUDDLE_OK)
            return status;
        metrics_of(&scores, values);
        for (int k = 0; k < N_METRICS; k++) {
            sum[k] += values[k];
            squares[k] += values[k] * values[k];
        }
    }
    for (int k = 0; k < N_METRICS; k++) {
        char name[32];
        double count = (double)starts.rows, mean = sum[k] / count;
        snprintf(name, sizeof name, "%s_mean", metric_names[k]);
        json_object_set_new(record, name, real(mean));
        snprintf(name, sizeof name, "%s_std", metric_names[k]);
        json_object_set_new(record, name, real(sqrt(fmax(squares[k] / count - mean * mean, 0))));
    }
    json_object_set_new(record, "starts", json_integer(starts.rows));
    return HUDDLE_OK;
}

static huddle_status add_scores(const huddle_model *model, const huddle_data *data,
                                json_t *record) {
    huddle_scores scores;
    double values[N_METRICS];
    if (data->labels == NULL)
        return HUDDLE_OK;
    huddle_status status = huddle_metrics_scores(data->points.n, data->labels,
                                                 huddle_model_labels(model, NULL), &scores);
    if (status != HUDDLE_OK)
        return status;
    metrics_of(&scores, values);
    for (int k = 0; k < N_METRICS; k++)
        json_object_set_new(record, metric_names[k], real(values[k]));
    return add_starts(model, data, record);
}

/* ---- what else to keep ---------------------------------------------------------------------- */

static bool keeps(const experiment_cell *cell, const char *name) {
    for (size_t i = 0; i < json_array_size(cell->keep); i++)
        if (strcmp(json_string_value(json_array_get(cell->keep, i)), name) == 0)
            return true;
    return false;
}

/* Objective and dual bound, iteration by iteration. */
static void add_trace(const huddle_model *model, json_t *record) {
    static const char *const names[] = {"objective", "dual"};
    json_t *trace = json_object();
    for (int k = 0; k < 2; k++) {
        huddle_array view = {0};
        json_t *values = json_array();
        (void)huddle_model_array(model, names[k], &view); /* none: an empty list */
        for (int64_t i = 0; i < view.rows; i++)
            json_array_append_new(values, real(((const double *)view.values)[i]));
        json_object_set_new(trace, names[k], values);
    }
    json_object_set_new(record, "trace", trace);
}

/* The two ends of gamma for the loss of the fit, if the method shrinks an embedding. */
static huddle_status add_ends(huddle_context *context, const huddle_model *model, json_t *record) {
    const char *loss = json_string_value(json_object_get(record, "loss"));
    huddle_array f, w;
    double fit, up;
    if (loss == NULL || huddle_model_array(model, "embedding", &f) != HUDDLE_OK ||
        huddle_model_array(model, "shrink_graph", &w) != HUDDLE_OK)
        return HUDDLE_OK;
    huddle_dense rows = array_dense(&f);
    huddle_csr graph = array_csr(&w);
    huddle_status status = huddle_shrink_ends(context, &rows, &graph, loss, &fit, &up);
    if (status == HUDDLE_OK) {
        json_object_set_new(record, "gamma_fit", real(fit));
        json_object_set_new(record, "gamma_up", real(up));
    }
    return status;
}

/* ---- the cell ------------------------------------------------------------------------------- */

static json_t *new_record(const experiment *e, const experiment_cell *cell) {
    const experiment_data *data = &e->data[cell->data];
    json_t *record = json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:i, s:s, s:O}", "key", cell->key,
                               "version", huddle_version(), "data", text_json(data->name), "source",
                               text_json(data->source), "n", (json_int_t)data->data.points.n, "d",
                               (json_int_t)data->data.points.d, "n_classes", data->data.n_classes,
                               "method", plan_method(e, cell->entry), "settings", cell->settings);
    json_object_set_new(record, "seed", json_integer((json_int_t)cell->seed));
    return record;
}

static huddle_status fit_and_score(huddle_context *context, const experiment *e,
                                   const experiment_cell *cell, huddle_model *model,
                                   json_t *record) {
    const huddle_data *data = &e->data[cell->data].data;
    const char *name;
    json_t *value;
    huddle_status status = HUDDLE_OK;
    double began = talk_seconds(), cpu = thread_seconds();
    json_object_foreach(cell->settings, name, value) {
        if (status == HUDDLE_OK)
            status = huddle_model_set_option(model, name, json_string_value(value));
    }
    if (status == HUDDLE_OK)
        status = huddle_model_fit(context, model, &data->points);
    json_object_set_new(record, "seconds", real(talk_seconds() - began));
    json_object_set_new(record, "cpu_seconds", real(thread_seconds() - cpu));
    if (status == HUDDLE_OK)
        status = add_report(model, record);
    if (status == HUDDLE_OK)
        status = add_scores(model, data, record);
    if (status == HUDDLE_OK && keeps(cell, "trace"))
        add_trace(model, record);
    if (status == HUDDLE_OK && keeps(cell, "ends"))
        status = add_ends(context, model, record);
    return status;
}

json_t *cell_fit(huddle_context *context, huddle_cache *cache, const experiment *e,
                 const experiment_cell *cell) {
    huddle_model *model = NULL;
    json_t *record = new_record(e, cell);
    huddle_status status = huddle_model_new(plan_method(e, cell->entry), &model);
    if (status == HUDDLE_OK) {
        huddle_model_set_cache(model, cache);
        huddle_model_keep_starts(model, true);
        status = fit_and_score(context, e, cell, model, record);
    }
    huddle_model_free(model);
    if (status == HUDDLE_CANCELLED || talk_cancelled()) {
        json_decref(record);
        return NULL;
    }
    if (status != HUDDLE_OK)
        json_object_set_new(record, "error", text_json(huddle_last_error()));
    return record;
}
