#include "fitting.h"

#include "cli/catalogue.h"
#include "cli/text.h"
#include "commands.h"
#include "json.h"
#include "processes.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* The default is taken from the library, so that --help cannot differ from it. */
const cli_flag method_flags[] = {{"method", 'm', FLAG_CHOICE, "METHOD",
                                  "clustering method; huddle methods describes them",
                                  .choices = method_names, .get_default = huddle_default_method},
                                 {0}};

const cli_flag compute_flags[] = {
    {"graph", 0, FLAG_FILE, "FILE",
     "use this graph (SciPy's .npz, MatrixMarket, MAT) instead of building one; DATA may be "
     "omitted; of one that is not symmetric, (A + A')/2 is used, with a warning",
     .reads = true},
    {"embedding", 0, FLAG_FILE, "FILE",
     "use this embedding, one row per point, instead of computing one", .reads = true},
    THREADS_FLAG("number of threads; default: one per CPU available to the process; labels do not "
                 "depend on it"),
    {"memory", 0, FLAG_TEXT, "LIMIT",
     "most memory to use, such as 500M or 4G; a fit that would need more uses leaner algorithms or "
     "is refused before it begins; default: what the system has available"},
    ENGINE_FLAG,
    {0}};

/* ---- the model ---------------------------------------------------------------------------- */

/* Options are set before any file is read, so that a wrong value is reported at once. The
 * option's own table checks it and words the message. The command accepts the options of all
 * methods, so the parser lets those pass that this method does not have. */
int fitting_configure(fitting *fit, const char *method) {
    const cli_arguments *arguments = fit->arguments;
    char flag[64];
    int result = call_result(huddle_model_new(method, &fit->model), NULL);
    for (int i = 0; i < arguments->n_settings && result == EXIT_DONE; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if (setting->option == NULL)
            continue;
        option_flag(setting->option, flag, sizeof flag);
        if (huddle_option_find(huddle_model_options(fit->model), setting->option) == NULL)
            result = usage_error("method %s has no option --%s; see huddle options %s", method,
                                 flag, method);
        else if (huddle_model_set_option(fit->model, setting->option, setting->value) != HUDDLE_OK)
            result = usage_error("%s", huddle_last_error());
    }
    return result;
}

/* ---- the data ----------------------------------------------------------------------------- */

/* The exit status after a graph or an embedding was passed to the model. A method that cannot
 * use it is a usage error: the user chose both. */
static int check_given(huddle_status status, const char *path) {
    if (status == HUDDLE_UNSUPPORTED)
        return usage_error("%s: %s", path, huddle_last_error());
    return call_result(status, path);
}

/* The model copies what it needs, so the file's matrix is freed at once. */
static int read_graph(fitting *fit, const char *path) {
    huddle_csr graph = {0};
    huddle_status status = huddle_csr_read(fit->context, path, &graph);
    if (status == HUDDLE_OK)
        status = huddle_model_set_graph(fit->model, &graph);
    huddle_csr_free(&graph);
    return check_given(status, path);
}

static int read_embedding(fitting *fit, const char *path) {
    huddle_dense embedding = {0};
    huddle_status status = huddle_dense_read(fit->context, path, &embedding);
    if (status == HUDDLE_OK)
        status = huddle_model_set_embedding(fit->model, &embedding);
    huddle_dense_free(&embedding);
    return check_given(status, path);
}

/* Reads classes from a file of their own, for points that are given by their graph or
 * embedding only. */
static int read_classes(fitting *fit) {
    const char *path = argument(fit->arguments, "y");
    huddle_data *data = &fit->data;
    /* "none" means no labels, as for data. */
    if (path == NULL || strcmp(path, "none") == 0)
        return EXIT_DONE;
    huddle_status status = huddle_labels_read(fit->context, path, &data->points.n, &data->labels,
                                              &data->n_classes, &data->classes);
    return call_result(status, path);
}

/* DATA may be absent if a graph or an embedding takes its place; the labels to score against
 * then come from a file of their own. */
static int read_files(fitting *fit) {
    const cli_arguments *arguments = fit->arguments;
    const char *graph = argument(arguments, "graph");
    const char *embedding = argument(arguments, "embedding");
    bool has_data = arguments->n_operands == 1;
    fit->source = has_data ? arguments->operands[0] : graph != NULL ? graph : embedding;
    int result = has_data ? input_read(fit->context, arguments, fit->source, NULL, &fit->data)
                          : read_classes(fit);
    if (has_data)
        STEP(views_read(fit->context, arguments, fit->source, &fit->data, NULL, &fit->views));
    if (graph != NULL)
        STEP(read_graph(fit, graph));
    if (embedding != NULL)
        STEP(read_embedding(fit, embedding));
    return result;
}

/* Warnings while reading are collected instead of printed, because they are part of the
 * info. If -c is not given and the classes are known, their number is used: the user's own
 * answer is better than an estimate. */
int fitting_read(fitting *fit) {
    double began = read_clock(CLOCK_MONOTONIC);
    fit->warnings = json_array();
    session_collect_warnings(fit->warnings);
    int result = streams_read_input();
    STEP(read_files(fit));
    session_collect_warnings(NULL);
    fit->read_seconds = read_clock(CLOCK_MONOTONIC) - began;
    if (fit->data.features != NULL)
        STEP(check_given(huddle_model_set_feature_names(fit->model, fit->data.points.d,
                                                        (const char *const *)fit->data.features),
                         fit->source));
    if (result != EXIT_DONE || argument(fit->arguments, "n_clusters") != NULL ||
        fit->data.labels == NULL)
        return result;
    char count[16];
    snprintf(count, sizeof count, "%d", fit->data.n_classes);
    fit->counted_classes = true;
    return call_result(huddle_model_set_option(fit->model, "n_clusters", count), fit->source);
}

/* Labels of a graph's vertices may be known without any points. */
const huddle_points *fitting_points(const fitting *fit) {
    return fit->data.points.values == NULL ? NULL : &fit->data.points;
}

/* ---- the fit ------------------------------------------------------------------------------ */

/* A graph without data has its classes from --y, whose number is only now known to fit or not. */
int fitting_score(fitting *fit, int64_t n, const int32_t *labels) {
    if (fit->data.labels == NULL)
        return EXIT_DONE;
    if (n != fit->data.points.n)
        return failed("%s: %lld points, but %lld labels", fit->source, (long long)n,
                      (long long)fit->data.points.n);
    double began = read_clock(CLOCK_MONOTONIC);
    huddle_status status =
        huddle_metrics_scores(fit->context, n, fit->data.labels, labels, &fit->scores);
    fit->score_seconds += read_clock(CLOCK_MONOTONIC) - began;
    return call_result(status, fit->source);
}

/* A cancelled computation may have been complete already; its result is not used either. */
int fitting_fit(fitting *fit) {
    /* The summary prints the warnings that the model keeps, so they are not printed here as
     * well. With --json they are printed to stderr, where a person may see them. */
    bool json = argument(fit->arguments, "json") != NULL;
    json_t *collected = json ? NULL : json_array();
    session_collect_warnings(collected);
    huddle_model_borrow_points(fit->model, true); /* fitting_free() frees the data last */
    huddle_status status =
        fit->views.count > 1 ? huddle_model_fit_views(fit->context, fit->model,
                                                      (int32_t)fit->views.count, fit->views.points)
                             : huddle_model_fit(fit->context, fit->model, fitting_points(fit));
    session_collect_warnings(NULL);
    json_decref(collected);
    if (status == HUDDLE_UNSUPPORTED && fit->views.count > 1)
        return usage_error("%s", huddle_last_error());
    if (status != HUDDLE_OK)
        return call_result(status, fit->source);
    int result = session_cancelled() ? failed("cancelled") : EXIT_DONE;
    return processes_agree(fit->context, result);
}

/* Several processes have the values of their own rows only, of which nothing is reported. */
huddle_status fitting_measure_confidence(fitting *fit) {
    int64_t n = 0;
    (void)huddle_model_labels(fit->model, &n);
    if (huddle_context_processes(fit->context) > 1)
        return HUDDLE_OK;
    double *values = check_allocation(calloc((size_t)n + 1, sizeof *values));
    huddle_status status =
        huddle_model_confidence(fit->context, fit->model, fitting_points(fit), values);
    if (status == HUDDLE_OK)
        fit->confidence = values;
    else
        free(values);
    return status;
}

void fitting_free(fitting *fit) {
    free(fit->confidence);
    json_decref(fit->warnings);
    huddle_model_free(fit->model);
    views_free(&fit->views);
    huddle_data_free(&fit->data);
    session_end(fit->context);
}

/* ---- the info ----------------------------------------------------------------------------- */

/* The total stays the last member. */
void fitting_add_seconds(json_t *info, const char *stage, double seconds) {
    json_t *times = json_object_get(info, "seconds");
    double total = json_number_value(json_object_get(times, "total"));
    if (seconds > 0)
        json_object_set_new(times, stage, json_real(seconds));
    json_object_del(times, "total");
    json_object_set_new(times, "total", json_real(total + seconds));
}

/* Inserts the times of what the tool does before and after the model's stages, and adds them to the
 * total. A new object, because members keep the order in which they are set. */
static void add_own_seconds(json_t *info, const fitting *fit) {
    json_t *seconds = json_pack("{s:f}", "read", fit->read_seconds);
    json_object_update(seconds, json_object_get(info, "seconds"));
    json_object_set_new(info, "seconds", seconds);
    fitting_add_seconds(info, "read", fit->read_seconds);
    fitting_add_seconds(info, "score", fit->score_seconds);
}

static json_t *confidence_json(const fitting *fit) {
    int64_t n = 0;
    const int32_t *labels = huddle_model_labels(fit->model, &n);
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count = labels[i] >= count ? labels[i] + 1 : count;
    double *sums = check_allocation(calloc(2 * (size_t)count + 1, sizeof *sums)), total = 0;
    json_t *clusters = json_array();
    for (int64_t i = 0; i < n; i++) {
        total += fit->confidence[i];
        sums[labels[i]] += fit->confidence[i];
        sums[count + labels[i]]++;
    }
    for (int32_t k = 0; k < count; k++)
        json_array_append_new(clusters, sums[count + k] > 0 ? json_real(sums[k] / sums[count + k])
                                                            : json_null());
    free(sums);
    return json_pack("{s:f, s:o}", "mean", total / (double)n, "clusters", clusters);
}

/* The library's info, with what only the tool knows: the source, the time for reading, the columns
 * of the table, the scores. */
json_t *fitting_json(const fitting *fit) {
    json_t *own = NULL, *info = json_pack("{s:o}", "file", text_json(fit->source));
    if (call_result(model_info(fit->model, &own), fit->source) != EXIT_DONE) {
        json_decref(info);
        return NULL;
    }
    json_object_update(info, own);
    add_own_seconds(info, fit);
    if (fit->data.labels != NULL)
        json_object_set_new(info, "n_classes", json_integer(fit->data.n_classes));
    input_add_json(&fit->data, info);
    input_add_medoid_names_json(&fit->data, info);
    if (fit->counted_classes)
        json_object_set_new(info, "n_clusters_from", json_string("classes"));
    if (fit->data.labels != NULL)
        json_object_set_new(info, "scores", scores_json(&fit->scores));
    if (fit->confidence != NULL && argument(fit->arguments, "json") != NULL)
        json_object_set_new(info, "confidence", confidence_json(fit));
    json_t *warnings = json_copy(fit->warnings);
    json_array_extend(warnings, json_object_get(own, "warnings"));
    json_object_set_new(info, "warnings", warnings);
    json_decref(own);
    return info;
}
