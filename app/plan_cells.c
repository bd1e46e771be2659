/* The cells of a plan: every data set with every point of every grid and every seed. */
#include "experiment.h"

#include "talk.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const json_t *entry_of(const experiment *e, int index) {
    return json_array_get(json_object_get(e->plan, "methods"), (size_t)index);
}

int grid_size(const experiment *e, int entry) {
    const char *name;
    json_t *values;
    size_t size = 1;
    json_object_foreach(json_object_get(entry_of(e, entry), "grid"), name, values) {
        size *= json_array_size(values);
    }
    return (int)size;
}

/* The settings of one point of the grid; the axis named last runs fastest. */
static void add_grid_point(const json_t *grid, int point, const huddle_data *data,
                           json_t *settings) {
    const char *name;
    json_t *values;
    char text[128];
    size_t left = 1, place = (size_t)point;
    json_object_foreach((json_t *)(uintptr_t)grid, name, values) {
        left *= json_array_size(values);
    }
    json_object_foreach((json_t *)(uintptr_t)grid, name, values) {
        left /= json_array_size(values);
        (void)plan_value(json_array_get(values, place / left), data, text, sizeof text);
        json_object_set_new(settings, name, json_string(text));
        place %= left;
    }
}

static json_t *settings_of(const experiment *e, const experiment_cell *cell,
                           const huddle_model *model) {
    const json_t *entry = entry_of(e, cell->entry), *n_init = json_object_get(e->plan, "n_init");
    const huddle_data *data = &e->data[cell->data].data;
    json_t *settings = json_object(), *value;
    const char *name;
    char text[128];
    if (data->labels != NULL)
        json_object_set_new(settings, "n_clusters", json_sprintf("%d", data->n_classes));
    if (n_init != NULL && huddle_option_find(huddle_model_options(model), "n_init") != NULL) {
        (void)plan_value(n_init, data, text, sizeof text);
        json_object_set_new(settings, "n_init", json_string(text));
    }
    json_object_foreach(json_object_get(entry, "options"), name, value) {
        (void)plan_value(value, data, text, sizeof text);
        json_object_set_new(settings, name, json_string(text));
    }
    add_grid_point(json_object_get(entry, "grid"), cell->point, data, settings);
    json_object_set_new(settings, "seed", json_sprintf("%llu", (unsigned long long)cell->seed));
    return settings;
}

/* Everything that the cell's numbers depend on, as one text. */
static void set_key(const experiment *e, const huddle_model *model, experiment_cell *cell) {
    char text[8192], value[128];
    snprintf(text, sizeof text, "%s;%s;%s;", huddle_version(), e->data[cell->data].fingerprint,
             huddle_model_method(model));
    for (const huddle_option *o = huddle_model_options(model); o->type != HUDDLE_OPTION_END; o++)
        if (huddle_model_get_option(model, o->name, value, sizeof value) == HUDDLE_OK)
            append_text(text, sizeof text, "%s=%s;", o->name, value);
    for (size_t i = 0; i < json_array_size(cell->keep); i++)
        append_text(text, sizeof text, "%s;", json_string_value(json_array_get(cell->keep, i)));
    plan_key(text, cell->key);
}

static int make_cell(const experiment *e, experiment_cell *cell) {
    huddle_model *model = NULL;
    const char *name;
    json_t *value;
    huddle_status status = huddle_model_new(plan_method(e, cell->entry), &model);
    if (status != HUDDLE_OK)
        return failed_call(status, e->file);
    cell->keep = json_object_get(entry_of(e, cell->entry), "keep");
    cell->settings = settings_of(e, cell, model);
    json_object_foreach(cell->settings, name, value) {
        if (status == HUDDLE_OK)
            status = huddle_model_set_option(model, name, json_string_value(value));
    }
    if (status == HUDDLE_OK)
        set_key(e, model, cell);
    huddle_model_free(model);
    if (status == HUDDLE_OK)
        return EXIT_DONE;
    return failed("%s: methods[%d] with %s: %s", e->file, cell->entry, e->data[cell->data].name,
                  huddle_last_error());
}

int plan_cells(experiment *e) {
    int n_entries = (int)json_array_size(json_object_get(e->plan, "methods"));
    const json_t *seeds = json_object_get(e->plan, "seeds");
    int n_seeds = (int)json_array_size(seeds), points = 0, result = EXIT_DONE;
    for (int k = 0; k < n_entries; k++)
        points += grid_size(e, k);
    e->cells = must(calloc((size_t)(e->n_data * n_seeds * points) + 1, sizeof *e->cells));
    for (int i = 0; i < e->n_data; i++)
        for (int s = 0; s < n_seeds; s++)
            for (int k = 0; k < n_entries; k++)
                for (int p = 0; p < grid_size(e, k) && result == EXIT_DONE; p++) {
                    experiment_cell *cell = &e->cells[e->n_cells++];
                    *cell = (experiment_cell){.data = i, .entry = k, .point = p};
                    cell->seed = (uint64_t)json_integer_value(json_array_get(seeds, (size_t)s));
                    result = make_cell(e, cell);
                }
    return result;
}
