/* The page of a clustering, and what every page of a model begins and ends with: checking the
 * arguments, collecting what the page describes, writing the file. */
#include "report/run.h"
#include "report/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of gamma is on by default: it is what the page is for. */
huddle_report_options huddle_report_defaults(void) {
    return (huddle_report_options){.follow_path = true};
}

/* ---- helpers ------------------------------------------------------------------------------ */

/* One message for every allocation of a page. */
huddle_status report_no_memory(void) {
    return huddle_set_error(HUDDLE_NO_MEMORY, "no memory for the page");
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
json_t *report_class_name(const report_run *run, int32_t k) {
    return run->options->class_names != NULL ? page_text(run->options->class_names[k])
                                             : json_sprintf("%d", k);
}

const char *report_method_title(const report_run *run) {
    const char *name = huddle_model_method(run->model);
    const huddle_method_text *method = find_method(name);
    return method == NULL ? name : method->title;
}

/* ---- what the page is made from ----------------------------------------------------------- */

huddle_status report_check_labels(const char *what, int64_t n, const int32_t *labels,
                                  int32_t count) {
    for (int64_t i = 0; i < n; i++)
        if (labels[i] < 0 || labels[i] >= count)
            return set_error(HUDDLE_INVALID, "%s %d of point %lld is outside [0, %d]", what,
                             labels[i], (long long)i, count - 1);
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
        return set_error(HUDDLE_INVALID, "%lld points, but the model was fitted to %lld",
                         (long long)x->n, (long long)run->n);
    double d = number_of(run->info, "d");
    if (d > 0 && (double)x->d != d)
        return set_error(HUDDLE_INVALID,
                         "points with %lld features, but the model was fitted to %.0f",
                         (long long)x->d, d);
    if (o->image_height != 0 || o->image_width != 0)
        if (o->image_height < 1 || o->image_width < 1 ||
            ((int64_t)o->image_height * o->image_width != x->d &&
             3 * (int64_t)o->image_height * o->image_width != x->d))
            return set_error(HUDDLE_INVALID,
                             "images of %d x %d pixels do not fit points with %lld features",
                             o->image_height, o->image_width, (long long)x->d);
    return HUDDLE_OK;
}

/* The model's information, preceded by the source, as the tool's --json prints it. */
static huddle_status read_info(report_run *run, const huddle_report_walk *walk) {
    huddle_status status = HUDDLE_OK;
    json_t *own = NULL, *info = json_object();
    TRY(model_info(run->model, &own));
    if (run->options->source != NULL)
        page_set(info, "file", page_text(run->options->source));
    if (json_object_update(info, own) != 0)
        TRY(report_no_memory());
    run->info = walk == NULL ? json_incref(info) : huddle_report_path_info(info, walk);
done:
    json_decref(info);
    json_decref(own);
    return status;
}

/* The caller's details replace members of the same name: the caller knows more, for example the
 * time for reading the data. */
static huddle_status add_details(report_run *run) {
    json_error_t error = {.text = ""};
    huddle_status status = HUDDLE_OK;
    if (run->options->details == NULL)
        return HUDDLE_OK;
    json_t *details = json_loads(run->options->details, 0, &error);
    if (!json_is_object(details))
        status = set_error(HUDDLE_INVALID, "the details are not a JSON object%s%s",
                           details == NULL ? ": " : "", error.text);
    else if (json_object_update(run->info, details) != 0)
        status = report_no_memory();
    json_decref(details);
    return status;
}

/* The confusion table, and the scores unless the caller has them; both need classes. */
static huddle_status score_labels(report_run *run) {
    const huddle_report_options *o = run->options;
    huddle_scores scores;
    huddle_status status = HUDDLE_OK;
    if (o->classes == NULL)
        return HUDDLE_OK;
    TRY(huddle_metrics_confusion(NULL, run->n, o->classes, run->labels, &run->confusion));
    if (!json_is_null(json_object_get(run->info, "scores")))
        return HUDDLE_OK;
    TRY(huddle_metrics_scores(NULL, run->n, o->classes, run->labels, &scores));
    page_set(run->info, "scores", scores_json(&scores));
done:
    return status;
}

/* The subtitle names the data where the title does not; without a title the source, or else
 * the method, serves as one. */
static report_page *begin_page(const report_run *run, const char *kind) {
    const char *title = run->options->title, *source = run->options->source;
    char subtitle[256];
    source = source == NULL ? NULL : base_name(source);
    if (source == NULL || title == NULL || strcmp(title, source) == 0)
        snprintf(subtitle, sizeof subtitle, "%s", kind);
    else
        snprintf(subtitle, sizeof subtitle, "%s of %.200s", kind, source);
    if (title == NULL)
        title = source != NULL ? source : report_method_title(run);
    return page_new(title, subtitle);
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

/* Members of the info that only a caller who has it already does not need. Scores are null until
 * the labels are scored. */
static huddle_status complete_info(report_run *run) {
    if (run->options->classes != NULL) {
        page_set(run->info, "n_classes", json_integer(run->options->n_classes));
        page_set(run->info, "scores", json_null());
    }
    return add_details(run);
}

/* Everything that can be refused is refused before the first section is made. */
static huddle_status prepare(report_run *run, const huddle_report_walk *walk, bool has_info) {
    const huddle_report_options *o = run->options;
    huddle_status status = HUDDLE_OK;
    if (!has_info)
        TRY(read_info(run, walk));
    run->labels = huddle_model_labels(run->model, &run->n);
    if (walk != NULL) {
        run->labels = walk->labels;
        run->n_clusters = walk->n_clusters;
    } else {
        run->n_clusters = (int32_t)json_integer_value(json_object_get(run->info, "n_clusters"));
        TRY(report_check_labels("label", run->n, run->labels, run->n_clusters));
        run->unrefined = unrefined_labels(run);
    }
    if (o->classes != NULL)
        TRY(report_check_labels("class", run->n, o->classes, o->n_classes));
    TRY(check_points(run));
    if (!has_info)
        TRY(complete_info(run));
    TRY(score_labels(run));
    run->embedding = report_array(run, "embedding");
    run->shrunk = report_array(run, "shrunk");
    run->shrink_graph = report_array(run, "shrink_graph");
    NEW(run->sizes, run->n_clusters);
    for (int64_t i = 0; i < run->n; i++)
        run->sizes[run->labels[i]]++;
    TRY(report_draw_sample(run));
done:
    return status;
}

huddle_status huddle_report_write_info(huddle_context *context, const huddle_model *model,
                                       const huddle_points *x, const huddle_report_walk *walk,
                                       const huddle_report_options *options, json_t *info,
                                       const char *path) {
    huddle_report_options defaults = huddle_report_defaults();
    report_run run = {.context = context,
                      .model = model,
                      .x = x,
                      .options = options == NULL ? &defaults : options,
                      .info = json_incref(info)};
    huddle_status status = HUDDLE_OK;
    if (model == NULL || path == NULL)
        TRY(set_error(HUDDLE_INVALID, "a report needs a model and a file name"));
    if (huddle_model_labels(model, NULL) == NULL)
        TRY(set_error(HUDDLE_INVALID, "the model is not fitted"));
    if (walk != NULL)
        TRY(report_check_walk(walk, model));
    run.page = begin_page(&run, walk == NULL ? "clustering" : "regularisation path");
    TRY(prepare(&run, walk, info != NULL));
    TRY(walk == NULL ? fill_cluster_page(&run) : report_fill_walk(&run, walk));
    /* The last chance to cancel; afterwards the file is written completely. */
    TRY(huddle_context_progress(context, "report", 1, 1));
    TRY(page_write(run.page, path));
done:
    FREE(run.sizes, run.rows);
    huddle_confusion_free(&run.confusion);
    json_decref(run.page);
    json_decref(run.info);
    return status;
}

huddle_status huddle_report_write(huddle_context *context, const huddle_model *model,
                                  const huddle_points *x, const huddle_report_options *options,
                                  const char *path) {
    return huddle_report_write_info(context, model, x, NULL, options, NULL, path);
}
