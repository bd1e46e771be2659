/* The plan of an experiment: reading it and checking its methods. */
#include "experiment/experiment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Members that a plan may have; an unknown one is an error, since a misspelt option would
 * silently not apply. */
static const char *const plan_members[] = {"name", "data", "methods", "seeds", "n_init", NULL};
static const char *const method_members[] = {"method", "label", "options",  "grid",
                                             "keep",   "seeds", "optional", NULL};
static const char *const keep_names[] = {"trace", "ends", NULL};

/* ---- failures ------------------------------------------------------------------------------- */

/* Readers of the library begin their messages with the file name, other functions do not: the name
 * is added where it is missing. Cancellation is not about a file. */
huddle_status experiment_fail_about(huddle_status status, const char *about) {
    const char *message = huddle_last_error();
    if (status == HUDDLE_OK || status == HUDDLE_CANCELLED ||
        strncmp(message, about, strlen(about)) == 0)
        return status;
    return set_error(status, "%s: %s", about, message);
}

huddle_status experiment_no_memory(void) {
    return huddle_set_error(HUDDLE_NO_MEMORY, "out of memory");
}

/* place is the path of the member inside the plan, so that the user finds it without line
 * numbers. */
huddle_status plan_fail(const char *file, const char *place, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return set_error(HUDDLE_INVALID, "%s: %s%s%s", file, place, place[0] == '\0' ? "" : ": ", text);
}

/* Refuses unknown members: a misspelt one would silently run another experiment. */
huddle_status plan_check_members(const char *file, const char *place, const json_t *object,
                                 const char *const *known) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return plan_fail(file, place, "must be an object");
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        const char *best = NULL;
        int distance = HUDDLE_SUGGEST_DISTANCE;
        if (is_listed(key, known))
            continue;
        for (int i = 0; known[i] != NULL; i++)
            huddle_suggest_name(key, known[i], &distance, &best);
        if (best != NULL)
            return plan_fail(file, place, "unknown member '%s'; did you mean '%s'?", key, best);
        return plan_fail(file, place, "unknown member '%s'", key);
    }
    return HUDDLE_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Options are set as text, like those of the command line. Two values depend on the data: "c", the
 * number of classes, and "3 n/c", a multiple of points per class. Without data (while the plan is
 * checked) any plausible numbers do. */
bool plan_format_value(const json_t *value, const huddle_data *data, char *text, size_t size) {
    double c = data == NULL || data->n_classes == 0 ? 2 : data->n_classes;
    double n = data == NULL ? 100 : (double)data->points.n;
    if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        huddle_format_real(json_real_value(value), text, size);
    else if (json_is_string(value)) {
        const char *given = json_string_value(value);
        char *rest;
        /* "3 n/c": a factor before the formula. */
        double factor = strtod(given, &rest);
        factor = rest == given ? 1 : factor;
        rest += strspn(rest, " *");
        if (strcmp(rest, "n/c") == 0)
            huddle_format_real(factor * n / c, text, size);
        else if (strcmp(given, "c") == 0)
            snprintf(text, size, "%.0f", c);
        else
            snprintf(text, size, "%s", given);
    } else
        return false;
    return true;
}

/* Sets the option in a model of the method, which checks the value; the model is thrown away. */
static huddle_status check_value(const char *file, const char *place, huddle_model *model,
                                 const char *name, const json_t *value) {
    char text[128];
    if (!plan_format_value(value, NULL, text, sizeof text))
        return plan_fail(file, place, "must be a number, a string, true or false");
    if (huddle_model_set_option(model, name, text) != HUDDLE_OK)
        return plan_fail(file, place, "%s", huddle_last_error());
    return HUDDLE_OK;
}

/* The seed belongs to the plan, so that all methods run with the same seeds. */
static huddle_status check_option(const char *file, const char *place, const huddle_model *model,
                                  const char *name) {
    if (strcmp(name, "seed") == 0)
        return plan_fail(file, place, "cannot be set here; use the plan's member 'seeds'");
    if (huddle_option_find(huddle_model_options(model), name) == NULL)
        return plan_fail(file, place, "method %s has no option '%s'; see huddle options %s",
                         huddle_model_method(model), name, huddle_model_method(model));
    return HUDDLE_OK;
}

/* ---- methods -------------------------------------------------------------------------------- */

const json_t *experiment_entry(const experiment *e, int index) {
    return json_array_get(json_object_get(e->plan, "methods"), (size_t)index);
}

int experiment_entry_count(const experiment *e) {
    return (int)json_array_size(json_object_get(e->plan, "methods"));
}

/* The entry was checked, so that "method" is a text. */
const char *experiment_method(const experiment *e, int index) {
    return json_string_value(json_object_get(experiment_entry(e, index), "method"));
}

const char *experiment_label(const experiment *e, int index) {
    const char *label = json_string_value(json_object_get(experiment_entry(e, index), "label"));
    return label != NULL ? label : experiment_method(e, index);
}

/* The options of an entry, or those of its grid, which have a list of values each. An option that
 * is both fixed and varied is a mistake: which of the two is meant cannot be known. */
static huddle_status check_settings(const char *file, const char *place, huddle_model *model,
                                    const json_t *entry, bool is_grid) {
    huddle_status status = HUDDLE_OK;
    const json_t *settings = json_object_get(entry, is_grid ? "grid" : "options");
    const char *name;
    json_t *value;
    if (settings != NULL && !json_is_object(settings))
        return plan_fail(file, place, is_grid ? "must be an object of lists" : "must be an object");
    json_object_foreach((json_t *)(uintptr_t)settings, name, value) {
        char where[160], item[192];
        snprintf(where, sizeof where, "%s.%s", place, name);
        TRY(check_option(file, where, model, name));
        if (!is_grid)
            TRY(check_value(file, where, model, name, value));
        else if (json_array_size(value) == 0)
            TRY(plan_fail(file, where, "must be a list of values"));
        else if (json_object_get(json_object_get(entry, "options"), name) != NULL)
            TRY(plan_fail(file, where, "%s is also set in options", name));
        for (size_t i = 0; is_grid && i < json_array_size(value); i++) {
            snprintf(item, sizeof item, "%s[%zu]", where, i);
            TRY(check_value(file, item, model, name, json_array_get(value, i)));
        }
    }
done:
    return status;
}

/* What else to record: the trace of objective and bound per iteration, or gamma at the two ends. */
static huddle_status check_keep(const char *file, const char *place, const json_t *keep) {
    if (keep != NULL && !json_is_array(keep))
        return plan_fail(file, place, "must be a list");
    for (size_t i = 0; i < json_array_size(keep); i++) {
        const char *name = json_string_value(json_array_get(keep, i));
        if (name == NULL || !is_listed(name, keep_names))
            return plan_fail(file, place, "can contain only 'trace' and 'ends'");
    }
    return HUDDLE_OK;
}

/* Everything that can be checked without data is, before hours of computation depend on it. n
 * and c of the formulas are unknown here; plan_format_value() substitutes plausible numbers. */
static huddle_status check_entry(const experiment *e, const char *place, const json_t *entry) {
    huddle_status status = HUDDLE_OK;
    char where[96];
    const char *method = json_string_value(json_object_get(entry, "method"));
    const json_t *label = json_object_get(entry, "label"),
                 *optional = json_object_get(entry, "optional");
    huddle_model *model = NULL;
    if (method == NULL)
        return plan_fail(e->file, place, "the member 'method' is missing");
    if (label != NULL && !json_is_string(label))
        return plan_fail(e->file, place, "label must be a string");
    if (optional != NULL && !json_is_boolean(optional))
        return plan_fail(e->file, place, "optional must be true or false");
    if (huddle_model_new(method, &model) != HUDDLE_OK)
        return plan_fail(e->file, place, "%s", huddle_last_error());
    snprintf(where, sizeof where, "%s.options", place);
    TRY(check_settings(e->file, where, model, entry, false));
    snprintf(where, sizeof where, "%s.grid", place);
    TRY(check_settings(e->file, where, model, entry, true));
    snprintf(where, sizeof where, "%s.keep", place);
    TRY(check_keep(e->file, where, json_object_get(entry, "keep")));
done:
    huddle_model_free(model);
    return status;
}

/* The list is changed in place, so that later code meets one form of entries only. */
static huddle_status check_methods(experiment *e) {
    huddle_status status = HUDDLE_OK;
    json_t *list = json_object_get(e->plan, "methods");
    if (json_array_size(list) == 0)
        return plan_fail(e->file, "methods", "must be a list of methods");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char place[64];
        snprintf(place, sizeof place, "methods[%zu]", i);
        if (json_is_string(json_array_get(list, i))) /* short for {"method": ...} */
            json_array_set_new(list, i, json_pack("{s:O}", "method", json_array_get(list, i)));
        TRY(plan_check_members(e->file, place, json_array_get(list, i), method_members));
        TRY(check_entry(e, place, json_array_get(list, i)));
    }
done:
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* A plan that is being read, which may come from a pipe. A device or a pipe that never ends, or
 * another file by mistake, is refused when it becomes longer than any plan. */
typedef struct plan_input {
    FILE *file;
    size_t size; /* read so far */
} plan_input;

enum { MAX_SIZE = 64 << 20 };

static size_t read_some(void *buffer, size_t size, void *data) {
    plan_input *in = data;
    size_t got = in->size > MAX_SIZE ? 0 : fread(buffer, 1, size, in->file);
    in->size += got;
    return got;
}

/* Duplicate members are rejected, because one of them would silently be ignored. */
huddle_status experiment_load_plan(const char *file, json_t **plan) {
    huddle_status status = HUDDLE_OK;
    json_error_t error;
    char rest[4096];
    plan_input in = {.file = fopen(file, "re")};
    *plan = NULL;
    if (in.file == NULL)
        return set_error(HUDDLE_IO, "%s: the plan cannot be opened: %s", file, strerror(errno));
    *plan = json_load_callback(read_some, &in, JSON_REJECT_DUPLICATES, &error);
    /* What is too long may also end for the parser before its end. */
    while (read_some(rest, sizeof rest, &in) > 0) {
    }
    if (ferror(in.file) != 0)
        status = set_error(HUDDLE_IO, "%s: the plan cannot be read: %s", file, strerror(errno));
    else if (in.size > MAX_SIZE)
        status = set_error(HUDDLE_FORMAT, "%s: is longer than 64 MB, so it is not a plan", file);
    else if (*plan == NULL && error.line < 0)
        status = set_error(HUDDLE_FORMAT, "%s: %s", file, error.text);
    else if (*plan == NULL)
        status = set_error(HUDDLE_FORMAT, "%s: line %d, column %d: %s", file, error.line,
                           error.column, error.text);
    if (status != HUDDLE_OK) {
        json_decref(*plan);
        *plan = NULL;
    }
    fclose(in.file);
    return status;
}

/* An entry may leave out seeds of the plan. A seed of its own would not be found by the loops over
 * those of the plan. */
static huddle_status check_entry_seeds(const experiment *e, int index) {
    const json_t *seeds = json_object_get(experiment_entry(e, index), "seeds"),
                 *all = json_object_get(e->plan, "seeds");
    char place[64];
    size_t n_found = 0;
    for (size_t i = 0; i < json_array_size(seeds); i++)
        for (size_t k = 0; k < json_array_size(all); k++)
            n_found += (size_t)json_equal(json_array_get(seeds, i), json_array_get(all, k));
    snprintf(place, sizeof place, "methods[%d].seeds", index);
    if (seeds != NULL && (n_found == 0 || n_found != json_array_size(seeds)))
        return plan_fail(e->file, place, "must be a list of seeds of the plan");
    return HUDDLE_OK;
}

/* Seeds are added if there are none, so that later loops need no special case. */
static huddle_status check_numbers(const experiment *e) {
    huddle_status status = HUDDLE_OK;
    const json_t *seeds = json_object_get(e->plan, "seeds"),
                 *n_init = json_object_get(e->plan, "n_init");
    if (seeds == NULL)
        json_object_set_new(e->plan, "seeds", json_pack("[i]", 0));
    else if (json_array_size(seeds) == 0)
        return plan_fail(e->file, "seeds", "must be a list of non-negative integers");
    for (size_t i = 0; i < json_array_size(seeds); i++)
        if (!json_is_integer(json_array_get(seeds, i)) ||
            json_integer_value(json_array_get(seeds, i)) < 0)
            return plan_fail(e->file, "seeds", "must be a list of non-negative integers");
    if (n_init != NULL && (!json_is_integer(n_init) || json_integer_value(n_init) < 1 ||
                           json_integer_value(n_init) > INT32_MAX))
        return plan_fail(e->file, "n_init", "must be an integer from 1 to %d", INT32_MAX);
    for (int k = 0; k < experiment_entry_count(e); k++)
        TRY(check_entry_seeds(e, k));
done:
    return status;
}

/* The folder of a file; "" for the working folder. */
static char *folder_of(const char *file) {
    char *folder = strdup(file);
    char *slash = folder == NULL ? NULL : strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0'; /* "/" keeps its slash */
    else if (folder != NULL)
        folder[0] = '\0';
    return folder;
}

/* Takes ownership of the plan even if it fails: experiment_free() releases it. */
huddle_status experiment_open_plan(huddle_context *context, const char *file, json_t *plan,
                                   experiment *e) {
    huddle_status status = HUDDLE_OK;
    e->file = file;
    e->plan = plan;
    TRY_POINTER(plan);
    TRY_POINTER(e->folder = folder_of(file));
    TRY(plan_check_members(file, "", plan, plan_members));
    size_t n_data = json_array_size(json_object_get(plan, "data"));
    if (n_data == 0)
        return plan_fail(file, "data", "must be a list of data sets");
    /* Everything that needs no data is checked first: reading may take long. */
    TRY(check_methods(e));
    TRY(check_numbers(e));
    TRY_POINTER(e->data = calloc(n_data, sizeof *e->data));
    e->n_data = (int)n_data;
    for (int i = 0; i < e->n_data; i++)
        TRY(plan_check_data(e, i));
    /* One after the other: reading uses all threads of the context by itself. */
    for (int i = 0; i < e->n_data; i++)
        TRY(plan_read_data(context, &e->data[i]));
done:
    return status;
}

/* Accepts an experiment at any stage. */
void experiment_free(experiment *e) {
    for (int i = 0; i < e->n_data; i++) {
        huddle_data_free(&e->data[i].data);
        free(e->data[i].name);
        free(e->data[i].source);
    }
    for (int i = 0; i < e->n_cells; i++) {
        json_decref(e->cells[i].settings);
        json_decref(e->cells[i].record);
        free(e->cells[i].refusal);
    }
    free(e->data);
    free(e->cells);
    free(e->folder);
    json_decref(e->plan);
    *e = (experiment){0};
}
