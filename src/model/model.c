/* Models: a method, its options, and the fit. A fit is built apart and replaces the previous one
 * only when it is complete, so that a failed or cancelled fit leaves the model as it was.
 *
 * The model knows nothing about the stages: it checks what it is given, calls the method, and keeps
 * the result. Everything that a user may do with any method is here, so that all methods check
 * their input, collect warnings, and treat equal rows and shifts in the same way. */
#include "model/model.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/options.h"
#include "base/slabs.h"
#include "decide/memory.h"
#include "matrix/resident.h"
#include "steps/dominant.h"

#include <stdio.h>
#include <string.h>

/* ---- making, options ----------------------------------------------------------------------- */

static huddle_status unknown_method(const char *name) {
    const char *nearest = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++)
        huddle_suggest_name(name, (*text)->name, &distance, &nearest);
    if (nearest != NULL)
        return hd_fail(HUDDLE_INVALID, "no method named '%s'; did you mean '%s'?", name, nearest);
    return hd_fail(HUDDLE_INVALID, "no method named '%s'", name);
}

/* The options struct is known to the method only, by its size; the table has the offsets. */
huddle_status huddle_model_new(const char *method, huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    huddle_model *made = NULL;
    *model = NULL;
    const hd_method *found = hd_method_find(method);
    if (found == NULL)
        return unknown_method(method);
    ALLOC_ZERO(made, 1);
    made->method = found;
    TRY(hd_method_options(found, &made->table));
    made->options = hd_alloc_zero(1, found->options_size);
    if (made->options == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for the options");
    huddle_options_default(made->table, made->options);
    ALLOC_ZERO(made->given, hd_options_count(made->table));
    *model = made;
    made = NULL;
done:
    huddle_model_free(made);
    return status;
}

static void free_names(char **names, int64_t n) {
    for (int64_t j = 0; names != NULL && j < n; j++)
        huddle_free(names[j]);
    huddle_free(names);
}

void huddle_model_free(huddle_model *model) {
    if (model == NULL)
        return;
    hd_fit_free(&model->fit);
    hd_model_rows_free(model->all_rows);
    huddle_csr_free(&model->given_graph);
    huddle_dense_free(&model->given_embedding);
    free_names(model->feature_names, model->n_names);
    FREE(model->table, model->options, model->given, model->fitted_options, model->array_names,
         model->info, model);
}

huddle_status hd_model_check_fitted(const huddle_model *model) {
    return model->fitted ? HUDDLE_OK : hd_fail(HUDDLE_INVALID, "the model has not been fitted");
}

/* Centres, which are all that some methods keep, are the same on all processes. */
huddle_status hd_model_check_whole(const huddle_context *context, const huddle_model *model,
                                   const char *what) {
    if (model->fit.rows.elsewhere == 0 || hd_slabs_distributed(context) ||
        !model->fit.graph.present)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_UNSUPPORTED,
                   "this model has a part of its rows only, those of one process, and cannot %s "
                   "without the others",
                   what);
}

const char *huddle_model_method(const huddle_model *model) {
    return model->method->text.name;
}

const huddle_option *huddle_model_options(const huddle_model *model) {
    return model->table;
}

/* Every option that was not set gets the value of the preset, or its default: the order in which
 * options and preset are set does not matter, and a preset leaves nothing behind. */
static huddle_status apply_preset(huddle_model *model, const char *name) {
    huddle_status status = HUDDLE_OK;
    const huddle_preset *preset = model->method->presets;
    while (preset->name != NULL && strcmp(preset->name, name) != 0)
        preset++;
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++) {
        const char *text = o->default_text;
        if (model->given[o - model->table])
            continue;
        for (const huddle_setting *s = preset->settings; s != NULL && s->option != NULL; s++)
            text = strcmp(s->option, o->name) == 0 ? s->value : text;
        TRY(huddle_options_set(model->table, model->options, o->name, text));
    }
done:
    return status;
}

huddle_status huddle_model_set_option(huddle_model *model, const char *name, const char *text) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_set(model->table, model->options, name, text));
    model->given[huddle_option_find(model->table, name) - model->table] = true;
    if (strcmp(name, "preset") == 0)
        TRY(apply_preset(model, text));
done:
    return status;
}

huddle_status huddle_model_get_option(const huddle_model *model, const char *name, char *text,
                                      size_t size) {
    return huddle_options_get(model->table, model->options, name, text, size);
}

/* ---- what may be given instead of points --------------------------------------------------- */

static huddle_status check_takes_graph(const huddle_model *model, const char *what) {
    if (model->method->takes_graph)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_UNSUPPORTED, "method %s does not accept %s", model->method->text.name,
                   what);
}

/* Copied, so that the caller may free it before the fit, and checked at once, so that the error is
 * reported by the call that caused it. */
huddle_status huddle_model_set_graph(huddle_model *model, const huddle_csr *graph) {
    huddle_status status = HUDDLE_OK;
    huddle_csr copy = {0};
    TRY(check_takes_graph(model, "a graph"));
    TRY(huddle_csr_check(graph));
    TRY(huddle_csr_copy(graph, &copy));
    huddle_csr_free(&model->given_graph);
    model->given_graph = copy;
done:
    return status;
}

/* With an embedding, the stages before it are skipped: the method clusters its rows. */
huddle_status huddle_model_set_embedding(huddle_model *model, const huddle_dense *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_dense copy = {0};
    TRY(check_takes_graph(model, "an embedding"));
    TRY(huddle_dense_copy(embedding, &copy));
    huddle_dense_free(&model->given_embedding);
    model->given_embedding = copy;
done:
    return status;
}

/* Used in warnings and in the info only. A number of names that is not the number of features is
 * ignored by the fit: it is known only there. */
huddle_status huddle_model_set_feature_names(huddle_model *model, int64_t n,
                                             const char *const *names) {
    huddle_status status = HUDDLE_OK;
    char **copies = NULL;
    if (n < 0)
        FAIL(HUDDLE_INVALID, "n = %lld is negative", (long long)n);
    if (n > 0)
        ALLOC_ZERO(copies, n);
    for (int64_t j = 0; j < n; j++) {
        copies[j] = hd_copy_text(names[j]);
        if (copies[j] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a feature's name");
    }
    free_names(model->feature_names, model->n_names);
    model->feature_names = copies;
    model->n_names = n;
    copies = NULL;
done:
    free_names(copies, n);
    return status;
}

void huddle_model_set_cache(huddle_model *model, huddle_cache *cache) {
    model->cache = cache;
}

void huddle_model_keep_starts(huddle_model *model, bool keep) {
    model->keep_starts = keep;
}

void huddle_model_borrow_points(huddle_model *model, bool borrow) {
    model->borrows_points = borrow;
}

/* ---- fitting and predicting ---------------------------------------------------------------- */

/* The caller's context, or a temporary one with all threads. */
huddle_status hd_model_borrow_context(huddle_context *given, huddle_context **made,
                                      huddle_context **context) {
    *made = NULL;
    *context = given;
    if (given != NULL)
        return HUDDLE_OK;
    huddle_status status = huddle_context_new(made);
    *context = *made;
    return status;
}

/* A graph and an embedding must belong to the same points, and to those of x if there are any; all
 * views have the rows of the first. */
static huddle_status check_sizes(const hd_step_job *job) {
    int64_t n = hd_step_job_rows(job);
    for (int32_t v = 1; v < job->n_views; v++)
        if (job->x[v].n != n)
            return hd_fail(HUDDLE_INVALID, "view %d has %lld rows, but the first has %lld", v + 1,
                           (long long)job->x[v].n, (long long)n);
    if (job->graph != NULL && job->graph->rows != n)
        return hd_fail(HUDDLE_INVALID, "the graph joins %lld points, but there are %lld",
                       (long long)job->graph->rows, (long long)n);
    if (job->embedding != NULL && job->embedding->rows != n)
        return hd_fail(HUDDLE_INVALID, "the embedding has %lld rows, but there are %lld points",
                       (long long)job->embedding->rows, (long long)n);
    return HUDDLE_OK;
}

/* Collects what the fit is given, and checks it. NaN and infinity are refused here, before any
 * stage. */
static huddle_status check_job(huddle_context *context, const huddle_model *model, int32_t n_views,
                               const huddle_points *x, hd_step_job *job) {
    job->x = x;
    job->n_views = n_views;
    job->cache = model->cache;
    if (model->given_graph.offsets != NULL)
        job->graph = &model->given_graph;
    if (model->given_embedding.values != NULL)
        job->embedding = &model->given_embedding;
    if (x == NULL && job->graph == NULL && job->embedding == NULL)
        return hd_fail(HUDDLE_INVALID, "there are no points to cluster");
    huddle_status status = check_sizes(job);
    for (int32_t v = 0; v < n_views && status == HUDDLE_OK; v++) {
        status = huddle_points_check(context, &x[v]);
        if (status != HUDDLE_OK && n_views > 1)
            status = hd_fail_at(status, "view %d", v + 1);
    }
    return status;
}

huddle_status hd_model_copy_options(const huddle_model *model, void **copy) {
    *copy = hd_alloc(1, model->method->options_size);
    if (*copy == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the options");
    memcpy(*copy, model->options, model->method->options_size);
    return HUDDLE_OK;
}

/* The shift of dense points, zeros if they have none; NULL means that it is not known. New points
 * are brought to it before they are compared. */
static huddle_status copy_shift(const huddle_points *x, double **shift) {
    huddle_status status = HUDDLE_OK;
    if (x == NULL || x->offsets != NULL)
        return status;
    ALLOC_ZERO(*shift, x->d);
    if (x->shift != NULL)
        memcpy(*shift, x->shift, (size_t)x->d * sizeof **shift);
done:
    return status;
}

/* The names, if there is one for each of d features. */
static const char *const *feature_names(const huddle_model *model, int64_t d) {
    return model->n_names > 0 && model->n_names == d ? (const char *const *)model->feature_names
                                                     : NULL;
}

/* Under an engine that distributes rows a method must be able to work on a part of them, and
 * no more than points may be given: the rows of a graph would have to be distributed likewise. */
static huddle_status check_distributed(const huddle_context *context, const huddle_model *model,
                                       const hd_step_job *job) {
    if (!hd_slabs_distributed(context))
        return HUDDLE_OK;
    if (!model->method->distributes)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "method %s needs all rows in one process; engine %s runs kmeans, sc and ssc",
                       model->method->text.name, hd_context_engine(context)->text.name);
    if (job->graph != NULL || job->embedding != NULL)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "a given graph or embedding needs all rows in one process");
    return HUDDLE_OK;
}

/* The medoids by their numbers among all rows; one process has each. */
static huddle_status number_medoids(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    int64_t count = clusters->centres.rows;
    double *numbers = NULL;
    hd_slab slab;
    TRY(hd_slab_locate(context, fit->rows.n, &slab));
    ALLOC(numbers, count);
    ALLOC(clusters->all_medoids, count);
    for (int64_t k = 0; k < count; k++)
        numbers[k] = clusters->medoids == NULL || clusters->medoids[k] < 0
                         ? -1
                         : (double)(slab.first + clusters->medoids[k]);
    TRY(hd_reduce_max(context, count, numbers));
    for (int64_t k = 0; k < count; k++)
        clusters->all_medoids[k] = (int64_t)numbers[k];
done:
    huddle_free(numbers);
    return status;
}

/* The rows of each cluster and its medoid on all processes, for the info of each. */
static huddle_status count_everywhere(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters *clusters = &fit->clusters;
    int32_t c = clusters->n_clusters;
    double *sizes = NULL;
    if (!hd_slabs_distributed(context))
        return status;
    ALLOC_ZERO(sizes, c);
    ALLOC(clusters->all_sizes, c);
    for (int64_t i = 0; i < fit->rows.n; i++)
        sizes[clusters->labels[i]]++;
    TRY(hd_reduce_sum(context, c, sizes));
    for (int32_t k = 0; k < c; k++)
        clusters->all_sizes[k] = (int64_t)sizes[k];
    TRY(number_medoids(context, fit));
done:
    huddle_free(sizes);
    return status;
}

/* "sc and ssc", for a message. */
static void list_view_methods(char *text, size_t size) {
    const char *names[HD_FIT_MAX_VIEWS];
    int count = 0;
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++)
        if (hd_method_find((*m)->name)->views != HD_METHOD_ONE_VIEW && count < HD_FIT_MAX_VIEWS)
            names[count++] = (*m)->name;
    text[0] = '\0';
    for (int k = 0; k < count; k++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s",
                 k == 0           ? ""
                 : k + 1 == count ? " and "
                                  : ", ",
                 names[k]);
    }
}

/* Whether the method, the engine and what else is given allow for several views. */
static huddle_status check_views(const huddle_context *context, const huddle_model *model,
                                 int32_t n_views, const huddle_points *views) {
    char methods[256];
    if (n_views < 1 || views == NULL)
        return hd_fail(HUDDLE_INVALID, "there are no points to cluster");
    if (n_views == 1)
        return HUDDLE_OK;
    if (n_views > HD_FIT_MAX_VIEWS)
        return hd_fail(HUDDLE_INVALID, "%d views are more than %d", n_views, HD_FIT_MAX_VIEWS);
    list_view_methods(methods, sizeof methods);
    if (model->method->views == HD_METHOD_ONE_VIEW)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "method %s takes one view of the points, not %d; %s take several",
                       model->method->text.name, n_views, methods);
    if (hd_slabs_distributed(context))
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "several views need all rows in one process; engine %s distributes them",
                       hd_context_engine(context)->text.name);
    if (model->given_graph.offsets != NULL || model->given_embedding.values != NULL)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "several views and a given graph or embedding exclude each other");
    return HUDDLE_OK;
}

/* Before the work begins. Methods without a prediction of their memory are preparation and K-means,
 * of which only some preparations use BLAS; these reserve it themselves. */
huddle_status hd_model_reserve_blas(const huddle_context *context, const hd_method *method) {
    return method->memory.predict != NULL ? hd_blas_reserve(context) : HUDDLE_OK;
}

/* The fit's own structs of x, which may have a place for the copy of an engine: x is const. */
static void open_points(const huddle_context *context, int32_t n_views, const huddle_points *x,
                        huddle_points *own) {
    for (int32_t v = 0; v < n_views; v++) {
        own[v] = x[v];
        hd_resident_hold(own[v].resident);
        hd_resident_offer(context, &own[v].resident);
    }
}

/* Points that only an engine has may have been fetched into the structs. */
static void close_points(int32_t n_views, const huddle_points *x, huddle_points *own) {
    for (int32_t v = 0; v < n_views; v++) {
        if (hd_points_away(&x[v]))
            FREE(own[v].values, own[v].offsets, own[v].columns);
        hd_resident_release(&own[v].resident);
    }
}

/* After the method: a copy of x during the fit would increase the peak of memory. What only an
 * engine has stays there until it is asked for; its copies of the graphs, which no prediction
 * needs, go where the host has them. */
static huddle_status finish_fit(huddle_context *context, const huddle_model *model,
                                const huddle_points *x, hd_fit *fit, hd_model_rows **all_rows) {
    huddle_status status = HUDDLE_OK;
    for (int32_t v = 0; v < hd_fit_count_views(fit); v++) {
        hd_fit_prepared *prepared = hd_fit_prepared_of(fit, v);
        if (!model->borrows_points || (x != NULL && hd_points_away(&x[v])))
            TRY(hd_fit_own_points(prepared));
        TRY(copy_shift(x != NULL ? &x[v] : NULL, &prepared->shift));
    }
    hd_fit_release_graphs(fit);
    TRY(hd_fit_graph_count(context, &fit->graph));
    TRY(hd_model_rows_new(fit, all_rows));
done:
    return status;
}

/* Takes over the fit, which is empty afterwards, its rows and its options. */
static void keep_fit(huddle_model *model, hd_fit *fit, hd_model_rows *all_rows, void *options) {
    hd_fit_free(&model->fit);
    hd_model_rows_free(model->all_rows);
    FREE(model->info, model->fitted_options);
    model->all_rows = all_rows;
    model->info = NULL;
    model->fitted_options = options;
    model->fit = *fit;
    model->fitted = true;
    memset(fit, 0, sizeof *fit);
}

/* The options are copied before the fit, and the copy is kept for prediction: options that are
 * set afterwards apply to the next fit. Warnings go to the fit instead of an outer list while it
 * runs. */
static huddle_status fit_points(huddle_context *context, huddle_model *model, int32_t n_views,
                                const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    huddle_context *own = NULL;
    hd_warnings *outer = NULL;
    hd_stages *outer_stages = NULL;
    hd_step_job job = {.common = *(const hd_step_common *)model->options,
                       .keep_starts = model->keep_starts};
    hd_fit fit = {0};
    hd_model_rows *all_rows = NULL;
    huddle_points own_points[HD_FIT_MAX_VIEWS] = {0};
    void *options = NULL;
    double begin = hd_seconds();
    TRY(hd_model_borrow_context(context, &own, &context));
    outer = context->warnings;
    /* The fit collects its warnings for the info; nested models restore the outer list. */
    context->warnings = &fit.warnings;
    outer_stages = context->stages;
    hd_stages_begin(&fit.stages);
    fit.stages.processes = hd_slabs_count(context);
    context->stages = &fit.stages;
    hd_blas_enter();
    open_points(context, n_views, x, own_points);
    TRY_STAGE(context, HD_STAGE_CHECK,
              check_job(context, model, n_views, x != NULL ? own_points : NULL, &job));
    TRY(huddle_options_check(model->table, model->options));
    TRY(check_distributed(context, model, &job));
    TRY(hd_fit_rows_begin(context, hd_step_job_rows(&job), &fit.rows));
    fit.d = x != NULL ? x->d : 0;
    TRY(hd_model_copy_options(model, &options));
    TRY_STAGE(context, HD_STAGE_CHECK,
              hd_decide_settle_memory(context, &model->method->memory, &job, options,
                                      model->method->options_size, &fit.memory));
    TRY(hd_model_reserve_blas(context, model->method));
    TRY(hd_method_fit(model->method, context, &job, options, &fit));
    hd_step_warn_dominant(context, &fit, feature_names(model, fit.d));
    TRY(count_everywhere(context, &fit));
    TRY_STAGE(context, HD_STAGE_FINISH, finish_fit(context, model, x, &fit, &all_rows));
    hd_stages_update(&fit.stages);
    fit.seconds = hd_seconds() - begin;
    TRY(hd_agree(context, HUDDLE_OK)); /* no process keeps a fit that another does not have */
    keep_fit(model, &fit, all_rows, options);
    all_rows = NULL;
    options = NULL;
done:
    if (context != NULL) {
        status = status != HUDDLE_OK ? hd_agree(context, status) : status;
        context->warnings = outer;
        context->stages = outer_stages;
        hd_blas_leave();
    }
    hd_fit_free(&fit);
    close_points(n_views, x, own_points);
    hd_model_rows_free(all_rows);
    huddle_free(options);
    huddle_context_free(own);
    return status;
}

huddle_status huddle_model_fit(huddle_context *context, huddle_model *model,
                               const huddle_points *x) {
    return fit_points(context, model, x != NULL ? 1 : 0, x);
}

huddle_status huddle_model_fit_views(huddle_context *context, huddle_model *model, int32_t n_views,
                                     const huddle_points *views) {
    huddle_status status = hd_agree(context, check_views(context, model, n_views, views));
    return status == HUDDLE_OK ? fit_points(context, model, n_views, views) : status;
}

int32_t huddle_model_views(const huddle_model *model) {
    return model->fitted ? hd_fit_count_views(&model->fit) : 0;
}

/* One label per row of x, whether rows were merged or not. */
const int32_t *huddle_model_labels(const huddle_model *model, int64_t *n) {
    if (n != NULL)
        *n = model->fitted ? hd_fit_rows_total(&model->fit.rows) : 0;
    return model->all_rows != NULL ? hd_model_rows_labels(model->all_rows)
                                   : model->fit.clusters.labels;
}
