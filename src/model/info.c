/* What was done and how well: the JSON of a fit. */
#include "model/model.h"

#include "base/check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* JSON has no NaN or infinity: they become null. */
static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *reals(int64_t n, const double *values) {
    json_t *array = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(array, real(values[i]));
    return array;
}

static json_t *option_json(const huddle_model *model, const huddle_option *option) {
    char text[128];
    char *end;
    if (huddle_options_get(model->table, model->fitted_options, option->name, text, sizeof text) !=
        HUDDLE_OK)
        return json_null();
    if (option->type == HUDDLE_OPTION_BOOL)
        return json_boolean(strcmp(text, "true") == 0);
    if (option->type == HUDDLE_OPTION_REAL) {
        double value = strtod(text, &end);
        return *end == '\0' ? json_real(value) : json_string(text);
    }
    long long value = strtoll(text, &end, 10);
    return *end == '\0' && end != text ? json_integer(value) : json_string(text);
}

static json_t *options_json(const huddle_model *model) {
    json_t *object = json_object();
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++)
        json_object_set_new(object, o->name, option_json(model, o));
    return object;
}

static json_t *seconds_json(const hd_fit *fit) {
    json_t *object = json_object();
    json_object_set_new(object, "prepare", real(fit->prepare_info.seconds));
    if (fit->has_graph)
        json_object_set_new(object, "graph", real(fit->graph_seconds));
    if (fit->has_embedding)
        json_object_set_new(object, "embed", real(fit->embed_info.seconds));
    if (fit->has_shrink)
        json_object_set_new(object, "shrink", real(fit->shrink_seconds));
    json_object_set_new(object, "kmeans", real(fit->kmeans_info.seconds));
    json_object_set_new(object, "total", real(fit->total_seconds));
    return object;
}

static json_t *rule_json(const huddle_rule *rule) {
    size_t length = rule->name == NULL ? 0 : strlen(rule->name);
    if (length > 2 && strcmp(rule->name + length - 2, ":R") == 0)
        return json_sprintf("%.*s:%d", (int)length - 2, rule->name, rule->r);
    return json_string(length == 0 ? "none" : rule->name);
}

/* What `auto` tried. */
static json_t *tried_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int32_t k = 0; k < fit->n_auto_trials; k++) {
        json_t *object = json_object();
        json_object_set_new(object, "rule", rule_json(&fit->auto_trials[k].rule));
        json_object_set_new(object, "modularity", real(fit->auto_trials[k].modularity));
        json_object_set_new(object, "n", json_integer(fit->auto_trials[k].n));
        json_array_append_new(array, object);
    }
    return array;
}

/* The numbers of clusters at which the last round of `auto` compared them. */
static json_t *tried_clusters_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int32_t k = 0; k < fit->auto_clusters.count; k++)
        json_array_append_new(array, json_integer(fit->auto_clusters.at[k]));
    return array;
}

static json_t *prepare_json(const hd_fit *fit) {
    json_t *object = json_object();
    json_object_set_new(object, "rule", rule_json(&fit->preparation.rule));
    if (fit->n_auto_trials > 0)
        json_object_set_new(object, "tried", tried_json(fit));
    if (fit->n_auto_trials > 0)
        json_object_set_new(object, "tried_clusters", tried_clusters_json(fit));
    json_object_set_new(object, "d", json_integer(fit->preparation.d_out));
    json_object_set_new(object, "variance_kept", real(fit->prepare_info.variance_kept));
    json_object_set_new(object, "zero_rows", json_integer(fit->prepare_info.zero_rows));
    return object;
}

static json_t *reduce_json(const hd_fit *fit) {
    json_t *object = json_object();
    json_object_set_new(object, "dim", json_integer(fit->reduction.d_out));
    json_object_set_new(object, "variance_kept", real(fit->reduction.variance_kept));
    return object;
}

static json_t *alternation_json(const hd_alternation *a) {
    json_t *object = json_object();
    json_object_set_new(object, "objective", real(a->objective[a->n_history - 1]));
    json_object_set_new(object, "n_iter", json_integer(a->n_iter));
    json_object_set_new(object, "stop", json_string(huddle_stop_name(a->stop)));
    return object;
}

static json_t *graph_json(const hd_fit *fit) {
    json_t *object = json_object();
    int64_t entries = fit->graph.offsets != NULL ? fit->graph.offsets[fit->graph.rows] : 0;
    for (int64_t i = 0; i < fit->graph.rows && fit->nodes.n > 0; i++)
        entries -= fit->nodes.copies[i] > 1; /* on the diagonal */
    json_object_set_new(object, "components", json_integer(fit->connect_info.after));
    json_object_set_new(object, "components_before", json_integer(fit->connect_info.before));
    json_object_set_new(object, "bridges", json_integer(fit->connect_info.bridges));
    if (fit->nodes.n > 0)
        json_object_set_new(object, "vertices", json_integer(fit->nodes.count));
    json_object_set_new(object, "edges", json_integer(entries / 2));
    json_object_set_new(object, "recall", real(fit->knn_info.recall));
    json_object_set_new(object, "solver",
                        fit->knn_info.solver == NULL ? json_null()
                                                     : json_string(fit->knn_info.solver));
    return object;
}

/* lambda_{c+1} - lambda_c at the number of clusters chosen, which may be fewer than the
 * eigenvectors found; NaN if it is not known. */
static double eigengap(const hd_fit *fit) {
    const huddle_embedding *e = &fit->embedding;
    if (fit->n_clusters == e->vectors.cols)
        return fit->embed_info.gap;
    return fit->n_clusters < e->n_eigenvalues
               ? e->eigenvalues[fit->n_clusters] - e->eigenvalues[fit->n_clusters - 1]
               : NAN;
}

/* The relative eigengap after 1, 2, ... clusters, as the choice of n_clusters sees it. */
static json_t *relative_gaps_json(const hd_fit *fit) {
    huddle_spectrum spectrum = hd_fit_spectrum(fit);
    json_t *array = json_array();
    for (int32_t k = 1; k < spectrum.n_eigenvalues; k++)
        json_array_append_new(array, real(huddle_embed_gap(&spectrum, k)));
    return array;
}

static json_t *embed_json(const hd_fit *fit) {
    const huddle_embed_info *info = &fit->embed_info;
    json_t *object = json_object();
    json_object_set_new(object, "eigenvalues",
                        reals(fit->embedding.n_eigenvalues, fit->embedding.eigenvalues));
    json_object_set_new(object, "relative_gaps", relative_gaps_json(fit));
    json_object_set_new(object, "residual", real(info->residual));
    json_object_set_new(object, "gap", real(eigengap(fit)));
    json_object_set_new(object, "verified", json_string(info->verified));
    json_object_set_new(object, "proven_pairs", json_integer(info->proven_pairs));
    json_object_set_new(object, "stop", json_string(huddle_stop_name(info->stop)));
    json_object_set_new(object, "solver", json_string(info->solver));
    json_object_set_new(object, "n_iter", json_integer(info->n_iter));
    json_object_set_new(object, "n_products", json_integer(info->n_products));
    return object;
}

static json_t *shrink_json(const hd_fit *fit) {
    const huddle_shrink_info *info = &fit->shrink_info;
    json_t *object = json_object();
    json_object_set_new(object, "gamma", real(info->gamma));
    json_object_set_new(object, "loss", json_string(info->loss));
    json_object_set_new(object, "objective", real(info->objective));
    json_object_set_new(object, "dual", real(info->dual));
    json_object_set_new(object, "gap", real(info->gap));
    json_object_set_new(object, "groups", json_integer(info->n_groups));
    json_object_set_new(object, "components", json_integer(info->n_components));
    json_object_set_new(object, "n_iter", json_integer(info->n_iter));
    json_object_set_new(object, "n_solves", json_integer(info->n_solves));
    json_object_set_new(object, "stop", json_string(huddle_stop_name(info->stop)));
    json_object_set_new(object, "solver", json_string(info->solver));
    json_object_set_new(object, "linear_solver",
                        info->linear_solver == NULL ? json_null()
                                                    : json_string(info->linear_solver));
    json_object_set_new(object, "snapped", json_boolean(info->snapped));
    json_object_set_new(object, "guarded", json_boolean(fit->guarded));
    json_object_set_new(object, "labels_from", json_string(fit->guarded ? "embedding" : "shrunk"));
    return object;
}

static json_t *kmeans_json(const hd_fit *fit) {
    const huddle_kmeans_info *info = &fit->kmeans_info;
    json_t *object = json_object();
    json_object_set_new(object, "inertia", real(info->inertia));
    json_object_set_new(object, "n_iter", json_integer(info->n_iter));
    json_object_set_new(object, "restarts", json_integer(info->n_restarts));
    json_object_set_new(object, "best", json_integer(info->best));
    json_object_set_new(object, "stop", json_string(huddle_stop_name(info->stop)));
    return object;
}

/* Rows of x that differ, as they came: the preparation may have made more of them equal. A matrix
 * of distances is not prepared; if its rows were merged, those are the equal ones. */
static int64_t count_distinct(const hd_fit *fit) {
    return fit->equal.n > 0 ? fit->equal.count : fit->n;
}

static json_t *sizes_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int32_t k = 0; k < fit->n_clusters; k++)
        json_array_append_new(array, json_integer(0));
    for (int64_t i = 0; i < fit->n; i++) {
        json_t *size = json_array_get(array, (size_t)fit->labels[i]);
        json_integer_set(size, json_integer_value(size) + hd_fit_copies(fit, i));
    }
    return array;
}

static json_t *medoids_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int32_t k = 0; k < fit->n_clusters; k++) {
        bool known = fit->medoids != NULL && k < fit->centres.rows && fit->medoids[k] >= 0;
        int64_t row = known ? fit->medoids[k] : 0;
        if (fit->nodes.n > 0)
            row = fit->nodes.first[row];
        json_array_append_new(array, known ? json_integer(row) : json_null());
    }
    return array;
}

static json_t *internal_json(const hd_fit *fit) {
    json_t *object = json_object();
    json_object_set_new(object, "silhouette", real(fit->silhouette));
    json_object_set_new(object, "ncut", real(fit->ncut));
    json_object_set_new(object, "stability", real(fit->stability));
    return object;
}

static json_t *range_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int32_t t = 0; t < fit->n_trials; t++) {
        const hd_trial *trial = &fit->trials[t];
        json_t *object = json_object();
        json_object_set_new(object, "n_clusters", json_integer(trial->n_clusters));
        json_object_set_new(object, "inertia", real(trial->inertia));
        json_object_set_new(object, "silhouette", real(trial->silhouette));
        json_object_set_new(object, "ncut", real(trial->ncut));
        json_object_set_new(object, "relative_gap", real(trial->eigengap));
        if (fit->has_alignment)
            json_object_set_new(object, "alignment", real(trial->alignment));
        json_array_append_new(array, object);
    }
    return array;
}

/* Candidates by what they were chosen by. */
static json_t *choice_json(const hd_fit *fit) {
    const huddle_embed_choice *choice = &fit->choice;
    json_t *array = json_array();
    for (int32_t i = 0; i < choice->count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "n_clusters", json_integer(choice->candidates[i]));
        json_object_set_new(object, fit->has_alignment ? "alignment" : "relative_gap",
                            real(choice->scores[i]));
        if (!fit->has_alignment)
            json_object_set_new(object, "small_components",
                                json_integer(choice->small_components[i]));
        json_array_append_new(array, object);
    }
    return array;
}

/* A text that may quote a name from a file; what is not ASCII becomes '?' if it is not UTF-8. */
static json_t *text_json(const char *text) {
    json_t *made = json_string(text);
    char *plain = made == NULL ? hd_copy_text(text) : NULL;
    for (char *c = plain; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    if (plain != NULL)
        made = json_string(plain);
    huddle_free(plain);
    return made;
}

static json_t *warnings_json(const hd_fit *fit) {
    json_t *array = json_array();
    for (int64_t i = 0; i < fit->warnings.count; i++)
        json_array_append_new(array, text_json(fit->warnings.items[i].text));
    return array;
}

static json_int_t peak_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (json_int_t)usage.ru_maxrss * 1024;
}

/* NULL if a name is not UTF-8. */
static json_t *names_json(const huddle_model *model) {
    json_t *array = json_array();
    for (int64_t j = 0; j < model->n_names; j++)
        if (json_array_append_new(array, json_string(model->feature_names[j])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *model_json(const huddle_model *model) {
    const hd_fit *fit = &model->fit;
    json_t *object = json_object();
    json_object_set_new(object, "n", json_integer(hd_fit_rows(fit)));
    if (count_distinct(fit) < hd_fit_rows(fit))
        json_object_set_new(object, "n_distinct", json_integer(count_distinct(fit)));
    json_object_set_new(object, "d", json_integer(fit->d));
    json_object_set_new(object, "n_clusters", json_integer(fit->n_clusters));
    json_object_set_new(object, "method", json_string(model->method->text.name));
    json_object_set_new(object, "options", options_json(model));
    json_object_set_new(object, "seconds", seconds_json(fit));
    json_object_set_new(object, "peak_bytes", json_integer(peak_bytes()));
    json_object_set_new(object, "prepare", prepare_json(fit));
    if (fit->reduction.rule.name != NULL)
        json_object_set_new(object, "reduce", reduce_json(fit));
    if (fit->has_graph)
        json_object_set_new(object, "graph", graph_json(fit));
    if (fit->has_embedding)
        json_object_set_new(object, "embed", embed_json(fit));
    if (fit->has_shrink)
        json_object_set_new(object, "shrink", shrink_json(fit));
    if (fit->alternation.n_history > 0)
        json_object_set_new(object, "alternation", alternation_json(&fit->alternation));
    json_object_set_new(object, "kmeans", kmeans_json(fit));
    json_object_set_new(object, "sizes", sizes_json(fit));
    json_object_set_new(object, "medoids", medoids_json(fit));
    if (fit->judged)
        json_object_set_new(object, "internal", internal_json(fit));
    if (fit->n_trials > 0)
        json_object_set_new(object, "range", range_json(fit));
    if (fit->choice.count > 0)
        json_object_set_new(object, "choice", choice_json(fit));
    if (model->n_names > 0 && model->n_names == fit->d)
        (void)json_object_set_new(object, "feature_names", names_json(model));
    json_object_set_new(object, "warnings", warnings_json(fit));
    return object;
}

/* What a loaded model had to say when it was saved, and what it was judged since. */
static json_t *loaded_json(const huddle_model *model) {
    json_t *object = json_loads(model->report, 0, NULL);
    if (object != NULL && model->fit.judged)
        json_object_set_new(object, "internal", internal_json(&model->fit));
    return object;
}

huddle_status huddle_model_info_json(const huddle_model *model, char **json) {
    *json = NULL;
    if (!model->fitted)
        return hd_fail(HUDDLE_INVALID, "the model has not been fitted");
    if (model->report != NULL && !model->fit.judged) {
        *json = hd_copy_text(model->report);
        return *json != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for a report");
    }
    json_t *object = model->report != NULL ? loaded_json(model) : model_json(model);
    *json = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(object);
    return *json != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for the JSON text");
}
