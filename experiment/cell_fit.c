#include "experiment/work.h"

#include <huddle/metrics.h>
#include <huddle/shrink.h>

#include <math.h>
#include <string.h>

/* Members of the model's own info that tables and figures use; the rest can be computed
 * again from the settings. null where there is none, so that all records have the same members and
 * tables need no special cases. */
static huddle_status add_info(const huddle_model *model, json_t *record) {
    static const char *const members[][3] = {{"options", NULL, "options"},
                                             {"n_clusters", NULL, "n_clusters"},
                                             {"prepare", "prepare", "rule"},
                                             {"inertia", "kmeans", "inertia"},
                                             {"restarts", "kmeans", "restarts"},
                                             {"gamma", "shrink", "gamma"},
                                             {"loss", "shrink", "loss"},
                                             {"objective", "alternation", "objective"},
                                             {"gap", "shrink", "gap"},
                                             {"groups", "shrink", "groups"},
                                             {"n_iter", "alternation", "n_iter"},
                                             {"stages", NULL, "seconds"},
                                             {"warnings", NULL, "warnings"}};
    json_t *info = NULL;
    huddle_status status = model_info(model, &info);
    if (status != HUDDLE_OK)
        return status;
    /* A method that alternates reports the objective of the whole under "alternation". */
    if (json_object_get(info, "alternation") == NULL && json_object_get(info, "shrink") != NULL)
        json_object_set(info, "alternation", json_object_get(info, "shrink"));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *part = members[i][1] == NULL ? info : json_object_get(info, members[i][1]);
        json_t *value = json_object_get(part, members[i][2]);
        json_object_set(record, members[i][0], value == NULL ? json_null() : value);
    }
    json_decref(info);
    return HUDDLE_OK;
}

/* ---- scores --------------------------------------------------------------------------------- */

enum { N_METRICS = 4 };
static const char *const metric_names[N_METRICS] = {"acc", "nmi", "ari", "purity"};

/* Mean and standard deviation over the single restarts, as the paper reports them. A method
 * without restarts counts as one. */
static huddle_status add_starts(const huddle_model *model, const huddle_data *data,
                                json_t *record) {
    huddle_array starts = {0};
    double sum[N_METRICS] = {0}, squares[N_METRICS] = {0};
    /* Kept on request only (cell_fit), because they take n_init times the memory of the labels. */
    if (huddle_model_array(model, "start_labels", &starts) != HUDDLE_OK)
        starts = (huddle_array){.rows = 1, .values = huddle_model_labels(model, NULL)};
    for (int64_t r = 0; r < starts.rows; r++) {
        huddle_scores scores;
        huddle_status status =
            huddle_metrics_scores(NULL, data->points.n, data->labels,
                                  (const int32_t *)starts.values + r * starts.stride, &scores);
        if (status != HUDDLE_OK)
            return status;
        const double values[] = {scores.acc, scores.nmi, scores.ari, scores.purity};
        for (int k = 0; k < N_METRICS; k++) {
            sum[k] += values[k];
            squares[k] += values[k] * values[k];
        }
    }
    /* The variance as a difference of moments: scores lie in [0, 1], so that cancellation
     * costs about 1e-16. It may come out below zero by that much. */
    for (int k = 0; k < N_METRICS; k++) {
        char name[32];
        double count = (double)starts.rows, mean = sum[k] / count;
        snprintf(name, sizeof name, "%s_mean", metric_names[k]);
        json_object_set_new(record, name, page_real(mean));
        snprintf(name, sizeof name, "%s_std", metric_names[k]);
        json_object_set_new(record, name,
                            page_real(sqrt(fmax(squares[k] / count - mean * mean, 0))));
    }
    json_object_set_new(record, "starts", json_integer(starts.rows));
    return HUDDLE_OK;
}

/* A digest of the labels, by which tables find results that are the same. */
static void add_labels(const huddle_model *model, const huddle_data *data, json_t *record) {
    char key[KEY_SIZE];
    plan_make_digest(huddle_model_labels(model, NULL), (size_t)data->points.n * sizeof(int32_t),
                     key);
    json_object_set_new(record, "labels", json_string(key));
}

/* Without labels the record has no scores, and the cell is left out of tables of scores. */
static huddle_status add_scores(const huddle_model *model, const huddle_data *data,
                                json_t *record) {
    huddle_scores scores;
    if (data->labels == NULL)
        return HUDDLE_OK;
    huddle_status status = huddle_metrics_scores(NULL, data->points.n, data->labels,
                                                 huddle_model_labels(model, NULL), &scores);
    if (status != HUDDLE_OK)
        return status;
    const double values[] = {scores.acc, scores.nmi, scores.ari, scores.purity};
    for (int k = 0; k < N_METRICS; k++)
        json_object_set_new(record, metric_names[k], page_real(values[k]));
    return add_starts(model, data, record);
}

/* ---- what the plan asks to keep ------------------------------------------------------------- */

/* The plan has been checked: every element is a text. */
static bool is_kept(const experiment_cell *cell, const char *name) {
    for (size_t i = 0; i < json_array_size(cell->keep); i++)
        if (strcmp(json_string_value(json_array_get(cell->keep, i)), name) == 0)
            return true;
    return false;
}

/* Objective and dual bound of every iteration, for figures of convergence. */
static void add_trace(const huddle_model *model, json_t *record) {
    static const char *const names[] = {"objective", "dual"};
    json_t *trace = json_object();
    for (int k = 0; k < 2; k++) {
        huddle_array view = {0};
        (void)huddle_model_array(model, names[k], &view); /* a method without it: an empty list */
        json_object_set_new(trace, names[k], page_reals(&view));
    }
    json_object_set_new(record, "trace", trace);
}

/* The two ends of gamma for the loss of the fit (below gamma_fit no row moves, from gamma_up
 * on all rows of a component coincide), if the method shrinks an embedding. */
static huddle_status add_ends(huddle_context *context, const huddle_model *model, json_t *record) {
    const char *loss = json_string_value(json_object_get(record, "loss"));
    huddle_array f, w;
    double fit, up;
    if (loss == NULL || huddle_model_array(model, "embedding", &f) != HUDDLE_OK ||
        huddle_model_array(model, "shrink_graph", &w) != HUDDLE_OK)
        return HUDDLE_OK;
    /* Views that are only read; the containers have no const. */
    huddle_dense rows = {f.rows, f.cols, f.stride, (double *)(uintptr_t)f.values};
    huddle_csr graph = {w.rows, w.cols, (int64_t *)(uintptr_t)w.offsets,
                        (int32_t *)(uintptr_t)w.columns, (double *)(uintptr_t)w.values};
    huddle_status status = huddle_shrink_ends(context, &rows, &graph, NULL, loss, &fit, &up);
    if (status == HUDDLE_OK) {
        json_object_set_new(record, "gamma_fit", page_real(fit));
        json_object_set_new(record, "gamma_up", page_real(up));
    }
    return status;
}

/* ---- the cell ------------------------------------------------------------------------------- */

/* A record with what is known before the fit; "key" is what a later run finds it by. */
static json_t *new_record(const experiment *e, const experiment_cell *cell) {
    const experiment_data *data = &e->data[cell->data];
    json_t *record =
        json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:i, s:s, s:O}", "key", cell->key, "version",
                  huddle_version(), "data", page_text(data->name), "source",
                  page_text(data->source), "n", (json_int_t)data->data.points.n, "d",
                  (json_int_t)data->data.points.d, "n_classes", data->data.n_classes, "method",
                  experiment_method(e, cell->entry), "settings", cell->settings);
    json_object_set_new(record, "seed", json_integer((json_int_t)cell->seed));
    return record;
}

/* `seconds` covers the fit alone; CPU time is that of this thread, which is the only one of
 * the fit: each worker's context has one thread. */
static huddle_status fit_and_score(huddle_context *context, const experiment *e,
                                   const experiment_cell *cell, huddle_model *model,
                                   json_t *record) {
    const huddle_data *data = &e->data[cell->data].data;
    const char *name;
    json_t *value;
    huddle_status status = HUDDLE_OK;
    double began = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    /* The settings were checked when the cell was made. */
    json_object_foreach(cell->settings, name, value) {
        if (status == HUDDLE_OK)
            status = huddle_model_set_option(model, name, json_string_value(value));
    }
    if (status == HUDDLE_OK)
        status = huddle_model_fit(context, model, &data->points);
    json_object_set_new(record, "seconds", page_real(read_clock(CLOCK_MONOTONIC) - began));
    json_object_set_new(record, "cpu_seconds",
                        page_real(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu));
    TRY(status);
    TRY(add_info(model, record));
    add_labels(model, data, record);
    TRY(add_scores(model, data, record));
    if (is_kept(cell, "trace"))
        add_trace(model, record);
    if (is_kept(cell, "ends"))
        TRY(add_ends(context, model, record));
done:
    return status;
}

/* Always returns a record unless cancelled: that of a failed cell contains the message, so that the
 * others go on and the failure can be read afterwards. */
json_t *cell_fit(huddle_context *context, huddle_cache *cache, const experiment *e,
                 const experiment_cell *cell) {
    huddle_model *model = NULL;
    json_t *record = new_record(e, cell);
    huddle_status status = huddle_model_new(experiment_method(e, cell->entry), &model);
    if (status == HUDDLE_OK) {
        huddle_model_set_cache(model, cache);
        huddle_model_keep_starts(model, true);
        status = fit_and_score(context, e, cell, model, record);
    }
    huddle_model_free(model);
    if (status == HUDDLE_CANCELLED) {
        json_decref(record);
        return NULL;
    }
    if (status != HUDDLE_OK)
        json_object_set_new(record, "error", page_text(huddle_last_error()));
    return record;
}
