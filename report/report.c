/* The page of a clustering, and what every page of a model begins and ends with: checking the
 * arguments, collecting what the page describes, writing the file. */
#include <huddle/report.h>

#include "report/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of gamma is on by default: it is what the page is for. */
huddle_report_options huddle_report_defaults(void) {
    return (huddle_report_options){.follow_path = true};
}

/* ---- helpers ------------------------------------------------------------------------------ */

huddle_status report_invalid(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return huddle_set_error(HUDDLE_INVALID, text);
}

/* One message for every allocation of a page. */
huddle_status report_no_memory(void) {
    return huddle_set_error(HUDDLE_NO_MEMORY, "no memory for the page");
}

void *report_zeros(int64_t count, size_t size) {
    return calloc((size_t)count + 1, size);
}

void report_free_all(void *const *pointers, size_t size) {
    for (size_t k = 0; k < size / sizeof *pointers; k++)
        free(pointers[k]);
}

/* A method without such an array is not an error here: the section that needs it is left out. */
huddle_array report_array(const report_run *run, const char *name) {
    huddle_array array = {0};
    if (huddle_model_array(run->model, name, &array) != HUDDLE_OK)
        array = (huddle_array){0};
    return array;
}

/* Classes without names are shown by their numbers. */
const char *report_class_name(const report_run *run, int32_t k, char buffer[16]) {
    if (run->options->class_names != NULL)
        return run->options->class_names[k];
    snprintf(buffer, 16, "%d", k);
    return buffer;
}

const char *report_method_title(const report_run *run) {
    const char *name = huddle_model_method(run->model);
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        if (strcmp((*method)->name, name) == 0)
            return (*method)->title;
    return name;
}

/* ---- what the page is made from ----------------------------------------------------------- */

huddle_status report_check_labels(const char *what, int64_t n, const int32_t *labels,
                                  int32_t count) {
    for (int64_t i = 0; i < n; i++)
        if (labels[i] < 0 || labels[i] >= count)
            return report_invalid("%s %d of point %lld is outside [0, %d]", what, labels[i],
                                  (long long)i, count - 1);
    return HUDDLE_OK;
}

/* The points must be those of the fit: a page that combines the labels of one data set with
 * the picture of another would look plausible. */
static huddle_status check_points(const report_run *run) {
    const huddle_points *x = run->x;
    const huddle_report_options *o = run->options;
    if (x == NULL)
        return HUDDLE_OK;
    huddle_status status = huddle_points_check(run->context, x);
    if (status != HUDDLE_OK)
        return status;
    if (x->n != run->n)
        return report_invalid("%lld points, but the model was fitted to %lld", (long long)x->n,
                              (long long)run->n);
    double d = number_of(run->info, "d");
    if (d > 0 && (double)x->d != d)
        return report_invalid("points with %lld features, but the model was fitted to %.0f",
                              (long long)x->d, d);
    if (o->image_height != 0 || o->image_width != 0)
        if (o->image_height < 1 || o->image_width < 1 ||
            ((int64_t)o->image_height * o->image_width != x->d &&
             3 * (int64_t)o->image_height * o->image_width != x->d))
            return report_invalid("images of %d x %d pixels do not fit points with %lld features",
                                  o->image_height, o->image_width, (long long)x->d);
    return HUDDLE_OK;
}

/* The model's information as JSON, preceded by the source, as the tool's --json prints it. */
static huddle_status read_info(report_run *run) {
    char *text = NULL;
    huddle_status status = huddle_model_info_json(run->model, &text);
    if (status != HUDDLE_OK)
        return status;
    json_t *info = json_loads(text, 0, NULL);
    huddle_free(text);
    run->info = json_object();
    if (run->options->source != NULL)
        page_set(run->info, "file", page_text(run->options->source));
    int updated = json_object_update(run->info, info);
    json_decref(info);
    return updated == 0 ? HUDDLE_OK : report_no_memory();
}

static huddle_status read_details(report_run *run) {
    json_error_t error;
    if (run->options->details == NULL)
        return HUDDLE_OK;
    run->details = json_loads(run->options->details, 0, &error);
    if (run->details == NULL)
        return report_invalid("the details are not a JSON object: %s", error.text);
    return json_is_object(run->details) ? HUDDLE_OK
                                        : report_invalid("the details are not a JSON object");
}

/* Scores of the labels against the classes, those of the caller if the details have them, and the
 * confusion table; both are left out without classes. */
static huddle_status score_labels(report_run *run) {
    const huddle_report_options *o = run->options;
    json_t *given = json_object_get(run->details, "scores");
    huddle_scores scores;
    huddle_status status = HUDDLE_OK;
    if (o->classes == NULL)
        return HUDDLE_OK;
    TRY(huddle_metrics_confusion(NULL, run->n, o->classes, run->labels, &run->confusion));
    page_set(run->info, "n_classes", json_integer(o->n_classes));
    if (given != NULL) {
        page_set(run->info, "scores", json_incref(given));
        goto done;
    }
    TRY(huddle_metrics_scores(NULL, run->n, o->classes, run->labels, &scores));
    page_set(run->info, "scores",
             json_pack("{s:f, s:f, s:f, s:f}", "acc", scores.acc, "nmi", scores.nmi, "ari",
                       scores.ari, "purity", scores.purity));
done:
    return status;
}

/* The file name of a path; a path that ends with a slash is kept. */
static const char *file_name(const char *path) {
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

/* The subtitle names the data where the title does not; without a title the source, or else
 * the method, serves as one. */
static huddle_status begin_page(report_run *run, const char *kind) {
    const char *title = run->options->title, *source = file_name(run->options->source);
    char subtitle[256];
    if (source == NULL || title == NULL || strcmp(title, source) == 0)
        snprintf(subtitle, sizeof subtitle, "%s", kind);
    else
        snprintf(subtitle, sizeof subtitle, "%s of %.200s", kind, source);
    if (title == NULL)
        title = source != NULL ? source : report_method_title(run);
    run->page = page_new(title, subtitle);
    return run->page == NULL ? report_no_memory() : HUDDLE_OK;
}

/* Everything that can be refused without looking at the points is refused here. */
huddle_status report_begin(report_run *run, const char *kind, const char *path) {
    if (run->model == NULL || path == NULL)
        return report_invalid("a report needs a model and a file name");
    if (huddle_model_labels(run->model, NULL) == NULL)
        return report_invalid("the model is not fitted");
    huddle_status status = HUDDLE_OK;
    TRY(begin_page(run, kind));
    TRY(read_details(run));
    TRY(read_info(run));
done:
    return status;
}

/* The caller's details replace members of the same name: the caller knows more, for example the
 * time for reading the data. */
huddle_status report_prepare(report_run *run) {
    huddle_status status = HUDDLE_OK;
    if (run->options->classes != NULL)
        TRY(report_check_labels("class", run->n, run->options->classes, run->options->n_classes));
    TRY(check_points(run));
    TRY(score_labels(run));
    if (run->details != NULL && json_object_update(run->info, run->details) != 0)
        return report_no_memory();
    run->embedding = report_array(run, "embedding");
    run->shrunk = report_array(run, "shrunk");
    run->shrink_graph = report_array(run, "shrink_graph");
    TRY(report_draw_sample(run));
done:
    return status;
}

/* The last chance to cancel; afterwards the file is written completely. */
huddle_status report_write(const report_run *run, const char *path) {
    huddle_status status = huddle_context_progress(run->context, "report", 1, 1);
    return status == HUDDLE_OK ? page_write(run->page, path) : status;
}

void report_free(report_run *run) {
    free(run->rows);
    huddle_confusion_free(&run->confusion);
    page_free(run->page);
    json_decref(run->details);
    json_decref(run->info);
}

/* ---- the page of a clustering ------------------------------------------------------------- */

/* The sections in the order of the page: the result first, then how it was found, then how to
 * repeat it. Only views and path take time; progress is reported between them and the rest. */
static huddle_status fill_cluster_page(report_run *run) {
    static const char *const hidden[] = {NULL};
    huddle_status status = HUDDLE_OK;
    page_share(run->page, "points", report_points_json(run));
    report_add_summary(run);
    report_add_clusters(run);
    TRY(report_add_views(run));
    if (run->options->follow_path)
        TRY(report_follow_path(run));
    TRY(report_share_ends(run));
    TRY(huddle_context_progress(run->context, "report", 0, 1));
    report_add_sheet(run);
    TRY(report_add_features(run));
    report_add_confusion(run);
    TRY(report_add_distances(run));
    report_add_refinement(run);
    report_add_spectrum(run);
    report_add_convergence(run);
    report_add_trials(run);
    report_add_repeat(run, hidden);
done:
    return status;
}

/* The labels before the refinement, if there was one and it changed any. They are drawn with the
 * colours of the clusters, so they must be as valid as the labels are. */
static const int32_t *unrefined_labels(const report_run *run) {
    huddle_array array = report_array(run, "unrefined_labels");
    const int32_t *before = array.values;
    bool differs = false;
    if (array.type != HUDDLE_ARRAY_I32 || array.rows != run->n || array.stride > 1)
        return NULL;
    for (int64_t i = 0; i < run->n; i++) {
        if (before[i] < 0 || before[i] >= run->n_clusters)
            return NULL;
        differs = differs || before[i] != run->labels[i];
    }
    return differs ? before : NULL;
}

/* The labels and the number of clusters are the model's own here; the page of a path brings
 * its own. */
huddle_status huddle_report_write(huddle_context *context, const huddle_model *model,
                                  const huddle_points *x, const huddle_report_options *options,
                                  const char *path) {
    huddle_report_options defaults = huddle_report_defaults();
    report_run run = {.context = context,
                      .model = model,
                      .x = x,
                      .options = options == NULL ? &defaults : options};
    huddle_status status = HUDDLE_OK;
    TRY(report_begin(&run, "clustering", path));
    run.labels = huddle_model_labels(model, &run.n);
    run.n_clusters = (int32_t)json_integer_value(json_object_get(run.info, "n_clusters"));
    TRY(report_check_labels("label", run.n, run.labels, run.n_clusters));
    run.unrefined = unrefined_labels(&run);
    TRY(report_prepare(&run));
    TRY(fill_cluster_page(&run));
    TRY(report_write(&run, path));
done:
    report_free(&run);
    return status;
}
