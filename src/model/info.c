/* The info of a fit as JSON: what was computed and how accurately. Each part of the fit writes
 * its own members (src/fit/). */
#include "model/model.h"

#include "base/check.h"
#include "base/machine.h"

#include <stdlib.h>
#include <string.h>

/* 15 digits: every decimal number of that length is printed as it was entered. */
static const hd_json_style info_style = {.indent = 2, .digits = 15};

/* Booleans and numbers as such, everything else, such as "auto" or a range, as text. "1e-4" is a
 * number only for options of type REAL. */
static void write_option(const huddle_model *model, const huddle_option *option,
                         hd_json_writer *json) {
    char text[HUDDLE_OPTION_TEXT], *end;
    if (huddle_options_get(model->table, model->fitted_options, option->name, text, sizeof text) !=
        HUDDLE_OK) {
        hd_json_set_string(json, option->name, NULL);
        return;
    }
    double real = strtod(text, &end);
    bool is_real = *end == '\0';
    long long integer = strtoll(text, &end, 10);
    bool is_integer = *end == '\0' && end != text;
    if (option->type == HUDDLE_OPTION_BOOL)
        hd_json_set_bool(json, option->name, strcmp(text, "true") == 0);
    else if (option->type == HUDDLE_OPTION_REAL && is_real)
        hd_json_set_real(json, option->name, real);
    else if (option->type != HUDDLE_OPTION_REAL && is_integer)
        hd_json_set_integer(json, option->name, integer);
    else
        hd_json_set_string(json, option->name, text);
}

static void write_options(const huddle_model *model, hd_json_writer *json) {
    hd_json_set_object(json, "options");
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++)
        write_option(model, o, json);
    hd_json_close_object(json);
}

/* Names that are not UTF-8 cannot be written as JSON; all are left out then, since their positions
 * matter. */
static void write_names(const huddle_model *model, hd_json_writer *json) {
    for (int64_t j = 0; j < model->n_names; j++)
        if (!hd_json_is_utf8(model->feature_names[j]))
            return;
    hd_json_set_array(json, "feature_names");
    for (int64_t j = 0; j < model->n_names; j++)
        hd_json_string(json, model->feature_names[j]);
    hd_json_close_array(json);
}

static void write_info(const huddle_model *model, hd_json_writer *json) {
    const hd_fit *fit = &model->fit;
    hd_json_open_object(json);
    hd_fit_part_rows.write_json(fit, json);
    hd_json_set_string(json, "method", model->method->text.name);
    write_options(model, json);
    hd_fit_write_seconds(fit, json);
    hd_json_set_integer(json, "peak_bytes", hd_machine_peak()); /* of the process */
    hd_fit_write_memory(fit, json);
    hd_fit_write_traffic(fit, json);
    hd_fit_write_json(fit, json);
    if (model->n_names > 0 && model->n_names == fit->d)
        write_names(model, json);
    hd_fit_write_warnings(fit, json);
    hd_json_close_object(json);
}

static huddle_status compare_member(const hd_json_value *info, const hd_json_value *known,
                                    const char *name) {
    huddle_status status = HUDDLE_OK;
    char *stored = NULL, *right = NULL;
    TRY(hd_json_print(hd_json_get(info, name), (hd_json_style){0}, &stored));
    TRY(hd_json_print(hd_json_get(known, name), (hd_json_style){0}, &right));
    if (strcmp(stored, right) != 0)
        FAIL(HUDDLE_FORMAT,
             "the model file is damaged: \"%s\" of its report is %.60s, but its arrays have %.60s",
             name, stored, right);
done:
    FREE(stored, right);
    return status;
}

/* What the arrays say is written by the parts themselves. Of rows on other processes the sizes are
 * not known here. */
huddle_status hd_model_check_info(const huddle_model *model, const hd_json_value *info) {
    static const char *const names[] = {"n", "d", "n_clusters", "medoids", "sizes"};
    int count = model->fit.rows.elsewhere > 0 ? 4 : 5;
    huddle_status status = HUDDLE_OK;
    hd_json_writer json = hd_json_begin((hd_json_style){0});
    hd_json_document known = {0};
    char *text = NULL;
    hd_json_open_object(&json);
    hd_fit_part_rows.write_json(&model->fit, &json);
    hd_fit_part_clusters.write_json(&model->fit, &json);
    hd_json_close_object(&json);
    TRY(hd_json_finish(&json, &text));
    TRY(hd_json_parse(text, (int64_t)strlen(text), &known));
    for (int k = 0; k < count; k++)
        TRY(compare_member(info, known.root, names[k]));
done:
    hd_json_discard(&json);
    hd_json_document_free(&known);
    huddle_free(text);
    return status;
}

/* The info of a loaded model is the one it was saved with, with scores computed since in place
 * of the saved ones. It is not generated anew: times and warnings of the fit are known from it
 * alone. */
static huddle_status write_loaded(const huddle_model *model, hd_json_writer *json) {
    huddle_status status = HUDDLE_OK;
    hd_json_document document = {0};
    TRY(hd_json_parse(model->info, (int64_t)strlen(model->info), &document));
    bool replaced = false;
    hd_json_open_object(json);
    for (const hd_json_value *member = document.root->first; member != NULL;
         member = member->next) {
        if (strcmp(member->name, "internal") == 0) {
            hd_fit_write_scores(&model->fit, json);
            replaced = true;
            continue;
        }
        hd_json_key(json, member->name);
        hd_json_write(json, member);
    }
    if (!replaced)
        hd_fit_write_scores(&model->fit, json);
    hd_json_close_object(json);
done:
    hd_json_document_free(&document);
    return status;
}

/* A loaded model has its info as text, a fitted one writes it from its parts. */
huddle_status huddle_model_info_json(const huddle_model *model, char **text) {
    huddle_status status = HUDDLE_OK;
    hd_json_writer json = hd_json_begin(info_style);
    *text = NULL;
    TRY(hd_model_check_fitted(model));
    /* Nothing has been added since the model was saved. */
    if (model->info != NULL && !model->fit.scored) {
        *text = hd_copy_text(model->info);
        if (*text == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for the info of the model");
        goto done;
    }
    if (model->info != NULL)
        TRY(write_loaded(model, &json));
    else
        write_info(model, &json);
    TRY(hd_json_finish(&json, text));
done:
    hd_json_discard(&json);
    return status;
}

/* ---- typed results ------------------------------------------------------------------------- */

/* The struct if the model has been fitted and the stage was run, else NULL. */
#define INFO(model, condition, info) ((model)->fitted && (condition) ? &(model)->fit.info : NULL)

const huddle_prepare_info *huddle_model_prepare_info(const huddle_model *model) {
    return INFO(model, model->fit.prepared.preparation.d_in > 0, prepared.info);
}

const huddle_knn_info *huddle_model_knn_info(const huddle_model *model) {
    return INFO(model, model->fit.graph.present, graph.knn);
}

const huddle_connect_info *huddle_model_connect_info(const huddle_model *model) {
    return INFO(model, model->fit.graph.present, graph.connect);
}

const huddle_embed_info *huddle_model_embed_info(const huddle_model *model) {
    return INFO(model, model->fit.embedding.present, embedding.info);
}

const huddle_shrink_info *huddle_model_shrink_info(const huddle_model *model) {
    return INFO(model, model->fit.shrunk.present, shrunk.info);
}

const huddle_kmeans_info *huddle_model_kmeans_info(const huddle_model *model) {
    return INFO(model, !model->fit.clusters.has_rotation, clusters.kmeans);
}

const huddle_refine_info *huddle_model_refine_info(const huddle_model *model) {
    return INFO(model, model->fit.refined.present, refined.info);
}

const huddle_rotation_info *huddle_model_rotation_info(const huddle_model *model) {
    return INFO(model, model->fit.clusters.has_rotation, clusters.rotation);
}

const huddle_alternation_info *huddle_model_alternation_info(const huddle_model *model) {
    return INFO(model, model->fit.clusters.alternation.n_history > 0, clusters.alternation);
}

const huddle_embed_choice *huddle_model_choice(const huddle_model *model) {
    return INFO(model, model->fit.trials.choice.count > 0, trials.choice);
}

const huddle_fit_scores *huddle_model_scores(const huddle_model *model) {
    return INFO(model, model->fit.scored, scores);
}

const huddle_trial *huddle_model_trials(const huddle_model *model, int32_t *count) {
    *count = model->fitted ? model->fit.trials.count : 0;
    return *count > 0 ? model->fit.trials.items : NULL;
}
