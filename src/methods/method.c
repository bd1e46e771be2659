/* The list of methods, and the option table of a method, composed from the tables of its stages. */
#include "methods/method.h"

#include "base/check.h"
#include "base/options.h"

#include <string.h>

/* Made by CMake from the files of this folder: METHOD(name) for each. */
#define METHOD(name) extern const hd_method hd_method_##name;
#include "methods.inc"
#undef METHOD

static const hd_method *const methods[] = {
#define METHOD(name) &hd_method_##name,
#include "methods.inc"
#undef METHOD
};

enum { N_METHODS = sizeof methods / sizeof *methods };

const hd_method *hd_method_find(const char *name) {
    for (int i = 0; i < N_METHODS; i++)
        if (strcmp(methods[i]->text.name, name) == 0)
            return methods[i];
    return NULL;
}

const huddle_preset *huddle_method_presets(const char *name) {
    const hd_method *method = hd_method_find(name);
    return method != NULL ? method->presets : NULL;
}

const huddle_method_text *const *huddle_methods(void) {
    static const huddle_method_text *const texts[] = {
#define METHOD(name) &hd_method_##name.text,
#include "methods.inc"
#undef METHOD
        NULL};
    return texts;
}

/* Methods are collected from the files of the folder; kmeans is the default where ssc is
 * missing. */
const char *huddle_default_method(void) {
    return hd_method_find("ssc") != NULL ? "ssc" : "kmeans";
}

/* Every struct of options begins with the common ones. */
huddle_status hd_method_fit(const hd_method *method, huddle_context *context,
                            const hd_step_job *job, const void *options, hd_fit *fit) {
    const hd_step_common *common = options;
    hd_method_run run = {context,      job,          fit, {.cache = job->cache}, common->n_clusters,
                         common->seed, method->views};
    int64_t n = hd_fit_rows_everywhere(&fit->rows);
    if (run.n_clusters.last > n)
        return hd_fail(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld]", run.n_clusters.last,
                       (long long)n);
    return method->fit(&run, options);
}

huddle_status hd_method_predict(const hd_method *method, huddle_context *context, const hd_fit *fit,
                                const void *options, const huddle_points *x, int32_t *labels) {
    hd_step_assign *assign = method->assign != NULL ? method->assign : hd_spectral_assign;
    if (method->predict != NULL)
        return method->predict(context, fit, options, x, labels);
    if (method->place == NULL)
        return hd_fail(HUDDLE_UNSUPPORTED, "method %s cannot label new points", method->text.name);
    return hd_step_predict(context, fit, options, method->place, assign, x, labels);
}

/* ---- a method's table out of its sections -------------------------------------------------- */

/* Applies the renames of a section to an option of the stage; false if the method does not have it.
 * Renaming avoids that two stages contribute an option of the same name (tol, n_neighbors). */
static bool take_option(const hd_method_section *section, huddle_option *option) {
    /* The method sets these itself: n_clusters and seed are common to all stages. */
    if (section->renames == NULL)
        return strcmp(option->name, "n_clusters") != 0 && strcmp(option->name, "seed") != 0 &&
               strcmp(option->name, "n_components") != 0;
    for (const hd_method_rename *rename = section->renames; rename->from != NULL; rename++) {
        if (strcmp(rename->from, option->name) != 0)
            continue;
        option->name = rename->to;
        option->default_text = rename->value != NULL ? rename->value : option->default_text;
        option->help = rename->help != NULL ? rename->help : option->help;
        return true;
    }
    return false;
}

/* Adds a section's options at table, or only counts them if table is NULL. */
static int64_t add_section(const hd_method_section *section, huddle_option *table) {
    int64_t count = 0;
    for (const huddle_option *row = section->table(); row->type != HUDDLE_OPTION_END; row++) {
        huddle_option option = *row;
        if (!take_option(section, &option))
            continue;
        option.offset += section->offset;
        if (table != NULL)
            table[count] = option;
        count++;
    }
    return count;
}

static const huddle_option *common_table(void) {
    static const huddle_option table[] = {
        HD_RANGE_AUTO(
            hd_step_common, n_clusters, "auto", 1, INT32_MAX,
            "number of clusters; auto: chosen by the eigengap or, if none is clear and labels "
            "are refined, by modularity"),
        HD_SEED(hd_step_common, seed, "seed of the random numbers"),
        {0}};
    return table;
}

/* Common options first, then the stages in the order of the data flow. Offsets are relative to the
 * method's struct, so that one table can set options of all stages. */
huddle_status hd_method_options(const hd_method *method, huddle_option **table) {
    huddle_status status = HUDDLE_OK;
    const huddle_option *common = common_table();
    int64_t n_common = hd_options_count(common), count = n_common;
    for (const hd_method_section *section = method->sections; section->table != NULL; section++)
        count += add_section(section, NULL);
    ALLOC_ZERO(*table, count + 1);
    memcpy(*table, common, (size_t)n_common * sizeof **table);
    count = n_common;
    for (const hd_method_section *section = method->sections; section->table != NULL; section++)
        count += add_section(section, *table + count);
done:
    return status;
}
