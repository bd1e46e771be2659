/* The cells of a plan: every data set with every point of every grid and every seed. */
#include "experiment/experiment.h"

#include <stdlib.h>

/* The grid of an entry is the Cartesian product of its lists; without lists it is one point. */
int experiment_grid_size(const experiment *e, int entry) {
    const char *name;
    json_t *values;
    size_t size = 1;
    json_object_foreach(json_object_get(experiment_entry(e, entry), "grid"), name, values) {
        size *= json_array_size(values);
    }
    return (int)size;
}

/* Values of a plan may depend on the data ("n/c"), so they become text only here, per data set. */
static void set_value(json_t *settings, const char *name, const json_t *value,
                      const huddle_data *data) {
    char text[128];
    (void)plan_format_value(value, data, text, sizeof text); /* the plan has been checked */
    json_object_set_new(settings, name, json_string(text));
}

/* The settings of one point of the grid. Its index is a number in mixed radix whose digits are
 * the positions in the lists, the option named last being the last digit. */
static void add_grid_point(const experiment *e, const experiment_cell *cell, json_t *settings) {
    const char *name;
    json_t *values;
    size_t stride = (size_t)experiment_grid_size(e, cell->entry), rest = (size_t)cell->point;
    json_object_foreach(json_object_get(experiment_entry(e, cell->entry), "grid"), name, values) {
        stride /= json_array_size(values);
        set_value(settings, name, json_array_get(values, rest / stride), &e->data[cell->data].data);
        rest %= stride;
    }
}

/* Later settings win: what an entry sets replaces what the plan sets for all. n_clusters is
 * the number of classes unless an entry sets it, and n_init applies to methods that have it. */
static json_t *make_settings(const experiment *e, const experiment_cell *cell,
                             const huddle_model *model) {
    const json_t *entry = experiment_entry(e, cell->entry),
                 *n_init = json_object_get(e->plan, "n_init");
    const huddle_data *data = &e->data[cell->data].data;
    json_t *settings = json_object(), *value;
    const char *name;
    if (data->labels != NULL)
        json_object_set_new(settings, "n_clusters", json_sprintf("%d", data->n_classes));
    if (n_init != NULL && huddle_option_find(huddle_model_options(model), "n_init") != NULL)
        set_value(settings, "n_init", n_init, data);
    json_object_foreach(json_object_get(entry, "options"), name, value) {
        set_value(settings, name, value, data);
    }
    add_grid_point(e, cell, settings);
    json_object_set_new(settings, "seed", json_sprintf("%llu", (unsigned long long)cell->seed));
    return settings;
}

/* The key covers everything that the cell's numbers depend on: the version, the data, the
 * method with every option (defaults included), and what is recorded. Results of another
 * version are therefore computed again. */
static void set_key(const experiment *e, const huddle_model *model, experiment_cell *cell) {
    char text[8192], value[HUDDLE_OPTION_TEXT];
    snprintf(text, sizeof text, "%s;%s;%s;", huddle_version(), e->data[cell->data].fingerprint,
             huddle_model_method(model));
    for (const huddle_option *o = huddle_model_options(model); o->type != HUDDLE_OPTION_END; o++)
        if (huddle_model_get_option(model, o->name, value, sizeof value) == HUDDLE_OK)
            append_text(text, sizeof text, "%s=%s;", o->name, value);
    for (size_t i = 0; i < json_array_size(cell->keep); i++)
        append_text(text, sizeof text, "%s;", json_string_value(json_array_get(cell->keep, i)));
    plan_make_key(text, cell->key);
}

/* Sets up one cell. A model is made only to check its settings and to read back all options for the
 * key; the fit makes its own. */
static huddle_status make_cell(const experiment *e, experiment_cell *cell) {
    huddle_status status = HUDDLE_OK;
    huddle_model *model = NULL;
    const char *name;
    json_t *value;
    TRY(huddle_model_new(experiment_method(e, cell->entry), &model));
    cell->keep = json_object_get(experiment_entry(e, cell->entry), "keep");
    TRY_POINTER(cell->settings = make_settings(e, cell, model));
    json_object_foreach(cell->settings, name, value) {
        TRY(huddle_model_set_option(model, name, json_string_value(value)));
    }
    set_key(e, model, cell);
done:
    huddle_model_free(model);
    if (status != HUDDLE_OK)
        return set_error(status, "%s: methods[%d] with %s: %s", e->file, cell->entry,
                         e->data[cell->data].name, huddle_last_error());
    return HUDDLE_OK;
}

/* An entry runs with all seeds of the plan unless it names some of them. */
static bool has_seed(const experiment *e, int entry, const json_t *seed) {
    const json_t *seeds = json_object_get(experiment_entry(e, entry), "seeds");
    for (size_t i = 0; i < json_array_size(seeds); i++)
        if (json_equal(json_array_get(seeds, i), seed))
            return true;
    return seeds == NULL;
}

/* By data set, then seed, entry and grid point. The order is that of tables; run.c chooses its
 * own. */
huddle_status experiment_list_cells(experiment *e) {
    huddle_status status = HUDDLE_OK;
    const json_t *seeds = json_object_get(e->plan, "seeds");
    int n_entries = experiment_entry_count(e), n_seeds = (int)json_array_size(seeds), n_points = 0;
    for (int k = 0; k < n_entries; k++)
        n_points += experiment_grid_size(e, k);
    e->cells = calloc((size_t)(e->n_data * n_seeds * n_points) + 1, sizeof *e->cells);
    TRY_POINTER(e->cells);
    for (int i = 0; i < e->n_data; i++)
        for (int s = 0; s < n_seeds; s++)
            for (int k = 0; k < n_entries; k++)
                for (int p = 0; p < experiment_grid_size(e, k); p++) {
                    const json_t *seed = json_array_get(seeds, (size_t)s);
                    if (!has_seed(e, k, seed))
                        continue;
                    experiment_cell *cell = &e->cells[e->n_cells++];
                    *cell = (experiment_cell){.data = i, .entry = k, .point = p};
                    cell->seed = (uint64_t)json_integer_value(seed);
                    TRY(make_cell(e, cell));
                }
done:
    return status;
}
