/* Any bytes as a model file: loading ends in a message, or in a model with which everything can be
 * done: predicting, transforming, scoring, arrays, JSON, and its page. */
#include "base/memory.h"
#include "huddle/report.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_VALUES = 1 << 14, NEW_ROWS = 3 };

/* One thread, which is faster for models of a few rows. */
static huddle_context *shared_context(void) {
    static huddle_context *context;
    if (context == NULL && (huddle_context_new(&context) != HUDDLE_OK ||
                            huddle_context_set_threads(context, 1) != HUDDLE_OK))
        abort();
    return context;
}

static void must_explain(huddle_status status) {
    if (status != HUDDLE_OK && (huddle_last_error()[0] == '\0' || status == HUDDLE_INTERNAL))
        abort();
}

static huddle_points make_points(int64_t n, int64_t d) {
    huddle_points x;
    if (huddle_points_new(n, d, &x) != HUDDLE_OK)
        abort();
    for (int64_t i = 0; i < n * d; i++)
        x.values[i] = (float)(i * 7 % 13);
    return x;
}

/* New points of the right number of features, and of another. */
static void use_new_points(huddle_context *context, const huddle_model *model, int64_t d) {
    int32_t labels[NEW_ROWS];
    huddle_dense rows = {0};
    huddle_points x = make_points(NEW_ROWS, d);
    huddle_status status = huddle_model_predict(context, model, &x, labels);
    must_explain(status);
    for (int64_t i = 0; status == HUDDLE_OK && i < NEW_ROWS; i++)
        if (labels[i] < 0 || labels[i] >= model->fit.clusters.n_clusters)
            abort();
    must_explain(huddle_model_transform(context, model, &x, &rows));
    huddle_dense_free(&rows);
    huddle_points_free(&x);
}

/* The same for a model of several views, each of the number of features that it has in the file. */
static void use_new_views(huddle_context *context, const huddle_model *model) {
    const hd_fit_views *views = &model->fit.views;
    int32_t labels[NEW_ROWS], count = 0;
    huddle_points x[HD_FIT_MAX_VIEWS];
    for (; count < views->count; count++) {
        int64_t d = views->items[count].d;
        if (d < 1 || d > MAX_VALUES)
            break;
        x[count] = make_points(NEW_ROWS, d);
    }
    huddle_status status = HUDDLE_OK;
    if (count > 0)
        must_explain(status = huddle_model_predict_views(context, model, count, x, labels));
    for (int64_t i = 0; count > 0 && status == HUDDLE_OK && i < NEW_ROWS; i++)
        if (labels[i] < 0 || labels[i] >= model->fit.clusters.n_clusters)
            abort();
    for (int32_t v = 0; v < count; v++)
        huddle_points_free(&x[v]);
}

static void use_scores(huddle_context *context, huddle_model *model, int64_t n,
                       const huddle_points *x) {
    double *values = malloc((size_t)(n + 1) * sizeof *values);
    must_explain(huddle_model_confidence(context, model, x, values));
    must_explain(huddle_model_silhouettes(context, model, x, values));
    must_explain(huddle_model_score(context, model, x));
    free(values);
}

/* Everything that has a length of its own is read to its end. */
static void use_arrays(huddle_model *model) {
    int32_t count;
    double sum = 0;
    const huddle_trial *trials = huddle_model_trials(model, &count);
    for (int32_t t = 0; t < count; t++)
        sum += trials[t].inertia;
    const huddle_shrink_info *shrink = huddle_model_shrink_info(model);
    for (int32_t k = 0; shrink != NULL && k < shrink->n_history; k++)
        sum += shrink->history_objective[k] + shrink->history_dual[k];
    const huddle_kmeans_info *kmeans = huddle_model_kmeans_info(model);
    for (int32_t k = 0; kmeans != NULL && k < kmeans->n_restarts; k++)
        sum += kmeans->inertias[k];
    volatile double kept = sum;
    (void)kept;
    for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++) {
        huddle_array view;
        must_explain(huddle_model_array(model, *name, &view));
    }
}

/* The page and the JSON of a path of one level, without fusions. */
static void use_path(huddle_context *context, const huddle_model *model) {
    huddle_path_level level = {.gamma = 1, .n_groups = 1};
    huddle_path path = {.n_levels = 1, .levels = &level};
    huddle_report_walk walk = {.path = &path, .n_clusters = model->fit.clusters.n_clusters};
    char *json = NULL;
    walk.labels = huddle_model_labels(model, &path.n);
    must_explain(huddle_report_write_path(context, model, NULL, &walk, NULL, "/dev/null"));
    must_explain(huddle_report_path_json(model, &walk, &json));
    huddle_free(json);
}

/* The path of gamma takes most of the time of a page: only some have it. */
static void use_model(huddle_model *model, bool follow_path) {
    huddle_context *context = shared_context();
    huddle_report_options options = huddle_report_defaults();
    huddle_points x = {0};
    char *json = NULL;
    int64_t n, d = model->fit.d;
    options.follow_path = follow_path;
    (void)huddle_model_labels(model, &n);
    use_arrays(model);
    use_new_points(context, model, 1);
    if (d > 1 && d <= MAX_VALUES)
        use_new_points(context, model, d);
    use_new_views(context, model);
    bool small = d >= 1 && d <= MAX_VALUES && n <= MAX_VALUES / d;
    if (small)
        x = make_points(n, d);
    use_scores(context, model, n, small ? &x : NULL);
    must_explain(huddle_model_info_json(model, &json));
    must_explain(huddle_report_write(context, model, small ? &x : NULL, &options, "/dev/null"));
    use_path(context, model);
    huddle_points_free(&x);
    huddle_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *copy = malloc(size + 1); /* of the exact size but for one byte: malloc(0) may be NULL */
    huddle_model *model;
    if (size > 0)
        memcpy(copy, bytes, size);
    huddle_status status = hd_model_read(NULL, copy, (int64_t)size, &model);
    must_explain(status);
    if (status == HUDDLE_OK)
        use_model(model, size % 4 == 0);
    huddle_model_free(model);
    free(copy);
    return 0;
}
