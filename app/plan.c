/* The plan of an experiment: reading and checking it. */
#include "experiment.h"

#include "talk.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const plan_data_members[] = {"name",    "source", "x",       "y",         "transpose",
                                         "missing", "encode", "classes", "per_class", "n",
                                         "noise",   "seed",   NULL};
const char *const plan_method_members[] = {"method", "label", "options", "grid", "keep", NULL};
static const char *const plan_members[] = {"name", "data", "methods", "seeds", "n_init", NULL};
static const char *const keep_names[] = {"trace", "ends", NULL};

/* ---- sentences ------------------------------------------------------------------------------ */

/* "plan.json: methods[2].grid.gamma: ..." */
__attribute__((format(printf, 3, 4))) static int wrong(const char *file, const char *place,
                                                       const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return failed("%s: %s%s%s", file, place, place[0] == '\0' ? "" : ": ", text);
}

static int check_members(const char *file, const char *place, const json_t *object,
                         const char *const *known) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return wrong(file, place, "must be an object");
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        const char *best = NULL;
        int distance = NEAR;
        int found = 0;
        for (int i = 0; known[i] != NULL; i++) {
            found |= strcmp(known[i], key) == 0;
            nearer(key, known[i], &distance, &best);
        }
        if (!found && best != NULL)
            return wrong(file, place, "nothing is named '%s' here; did you mean '%s'?", key, best);
        if (!found)
            return wrong(file, place, "nothing is named '%s' here", key);
    }
    return EXIT_DONE;
}

/* ---- loading -------------------------------------------------------------------------------- */

json_t *plan_load(const char *file) {
    json_error_t error;
    if (access(file, R_OK) != 0) {
        (void)failed("%s: the plan cannot be opened: %s", file, strerror(errno));
        return NULL;
    }
    json_t *plan = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    if (plan == NULL && error.line < 0)
        (void)failed("%s: %s", file, error.text);
    else if (plan == NULL)
        (void)failed("%s: line %d, column %d: %s", file, error.line, error.column, error.text);
    return plan;
}

/* ---- data ----------------------------------------------------------------------------------- */

static bool is_made(const char *source) {
    for (const char *const *kind = huddle_data_kinds(); *kind != NULL; kind++)
        if (strcmp(*kind, source) == 0)
            return true;
    return false;
}

/* Texts of a string or of an array of strings; ends with NULL; freed by free(). */
static const char **texts_of(const json_t *value, int64_t *count) {
    size_t n = json_is_array(value) ? json_array_size(value) : json_is_string(value) ? 1 : 0;
    const char **texts = must(calloc(n + 1, sizeof *texts));
    for (size_t i = 0; i < n; i++)
        texts[i] = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
    *count = (int64_t)n;
    return texts;
}

static int64_t whole(const json_t *entry, const char *name) {
    return (int64_t)json_integer_value(json_object_get(entry, name));
}

int plan_read(huddle_context *context, const char *source, const json_t *entry, huddle_data *data) {
    const json_t *noise = json_object_get(entry, "noise");
    huddle_read_options options = {.transpose = json_is_true(json_object_get(entry, "transpose")),
                                   .classes = json_string_value(json_object_get(entry, "classes")),
                                   .per_class = whole(entry, "per_class"),
                                   .n = whole(entry, "n"),
                                   .noise = noise == NULL ? HUDDLE_AUTO : json_number_value(noise),
                                   .seed = (uint64_t)whole(entry, "seed"),
                                   .missing = json_string_value(json_object_get(entry, "missing")),
                                   .encode = json_is_true(json_object_get(entry, "encode"))};
    const char **x = texts_of(json_object_get(entry, "x"), &options.n_x);
    const char **y = texts_of(json_object_get(entry, "y"), &options.n_y);
    options.x = x;
    options.y = y;
    huddle_status status = huddle_data_read(context, source, &options, data);
    free(x);
    free(y);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, source);
}

/* Two sums of Fowler, Noll and Vo's kind over the same words, as 32 hexadecimal digits. */
typedef struct digest {
    uint64_t a, b;
} digest;

static void digest_add(digest *d, const void *bytes, size_t size) {
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size; i++) {
        d->a = (d->a ^ in[i]) * 0x100000001b3; /* NOLINT: all bytes are set */
        d->b = (d->b + in[i]) * 0x9e3779b97f4a7c15;
        d->b ^= d->b >> 29;
    }
}

static void digest_text(digest d, char text[33]) {
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)d.a, (unsigned long long)d.b);
}

static const digest digest_start = {0xcbf29ce484222325, 0x2545f4914f6cdd1d};

static void fingerprint(const huddle_data *data, char text[33]) {
    const huddle_points *x = &data->points;
    digest d = digest_start;
    int64_t shape[2] = {x->n, x->d};
    digest_add(&d, shape, sizeof shape);
    if (x->offsets != NULL) {
        digest_add(&d, x->offsets, (size_t)(x->n + 1) * sizeof *x->offsets);
        digest_add(&d, x->columns, (size_t)x->offsets[x->n] * sizeof *x->columns);
        digest_add(&d, x->values, (size_t)x->offsets[x->n] * sizeof *x->values);
    }
    for (int64_t i = 0; i < x->n && x->offsets == NULL; i++)
        digest_add(&d, x->values + i * x->stride, (size_t)x->d * sizeof *x->values);
    if (x->shift != NULL)
        digest_add(&d, x->shift, (size_t)x->d * sizeof *x->shift);
    if (data->labels != NULL)
        digest_add(&d, data->labels, (size_t)x->n * sizeof *data->labels);
    digest_text(d, text);
}

void plan_key(const char *text, char key[33]) {
    digest d = digest_start;
    digest_add(&d, text, strlen(text));
    digest_text(d, key);
}

/* A file's name without folders and ending. */
static char *short_name(const char *source) {
    const char *slash = strrchr(source, '/');
    char *name = must(strdup(slash == NULL || slash[1] == '\0' ? source : slash + 1));
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name && !is_made(source))
        *dot = '\0';
    return name;
}

static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = must(malloc(size));
    if (folder[0] == '\0' || name[0] == '/' || is_made(name))
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static int check_read_members(const char *file, const char *place, const json_t *entry) {
    static const struct {
        const char *name;
        double least;
        bool fraction;
    } numbers[] = {
        {"per_class", 1, false}, {"n", 1, false}, {"noise", 0, true}, {"seed", 0, false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(entry, numbers[i].name);
        if (value != NULL &&
            (!json_is_number(value) || (!numbers[i].fraction && !json_is_integer(value)) ||
             json_number_value(value) < numbers[i].least))
            return wrong(file, place, "%s must be a %s from %g", numbers[i].name,
                         numbers[i].fraction ? "number" : "whole number", numbers[i].least);
    }
    for (const char *const *name = (const char *const[]){"x", "y", NULL}; *name != NULL; name++) {
        const json_t *value = json_object_get(entry, *name);
        bool fits = value == NULL || json_is_string(value) || json_array_size(value) > 0;
        for (size_t i = 0; fits && i < json_array_size(value); i++)
            fits = json_is_string(json_array_get(value, i));
        if (!fits)
            return wrong(file, place, "%s must be a name or a list of names", *name);
    }
    for (const char *const *name = (const char *const[]){"name", "classes", "missing", NULL};
         *name != NULL; name++)
        if (json_object_get(entry, *name) != NULL && !json_is_string(json_object_get(entry, *name)))
            return wrong(file, place, "%s must be a text", *name);
    for (const char *const *name = (const char *const[]){"transpose", "encode", NULL};
         *name != NULL; name++)
        if (json_object_get(entry, *name) != NULL &&
            !json_is_boolean(json_object_get(entry, *name)))
            return wrong(file, place, "%s must be true or false", *name);
    return EXIT_DONE;
}

/* An entry of the plan's data, which may be just the source. */
static int check_data(experiment *e, int index) {
    char place[64];
    json_t *list = json_object_get(e->plan, "data"), *entry = json_array_get(list, (size_t)index);
    experiment_data *data = &e->data[index];
    snprintf(place, sizeof place, "data[%d]", index);
    if (json_is_string(entry)) {
        json_array_set_new(list, (size_t)index, json_pack("{s:O}", "source", entry));
        entry = json_array_get(list, (size_t)index);
    }
    int result = check_members(e->file, place, entry, plan_data_members);
    if (result != EXIT_DONE)
        return result;
    const char *source = json_string_value(json_object_get(entry, "source"));
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (source == NULL || source[0] == '\0')
        return wrong(e->file, place, "there is no source");
    result = check_read_members(e->file, place, entry);
    data->entry = entry;
    data->source = join(e->folder, source);
    data->name = name != NULL ? must(strdup(name)) : short_name(source);
    for (int i = 0; i < index && result == EXIT_DONE; i++)
        if (strcmp(e->data[i].name, data->name) == 0)
            result = wrong(e->file, place, "'%s' is the name of data[%d] too", data->name, i);
    return result;
}

static int read_data(huddle_context *context, experiment *e) {
    for (int i = 0; i < e->n_data; i++) {
        experiment_data *data = &e->data[i];
        int result = plan_read(context, data->source, data->entry, &data->data);
        if (result != EXIT_DONE)
            return result;
        fingerprint(&data->data, data->fingerprint);
    }
    return EXIT_DONE;
}

/* ---- methods -------------------------------------------------------------------------------- */

const char *plan_method(const experiment *e, int index) {
    const json_t *entry = json_array_get(json_object_get(e->plan, "methods"), (size_t)index);
    return json_string_value(json_object_get(entry, "method"));
}

const char *plan_label(const experiment *e, int index) {
    const json_t *entry = json_array_get(json_object_get(e->plan, "methods"), (size_t)index);
    const char *label = json_string_value(json_object_get(entry, "label"));
    return label != NULL ? label : plan_method(e, index);
}

bool plan_value(const json_t *value, const huddle_data *data, char *text, size_t size) {
    double c = data == NULL || data->n_classes == 0 ? 2 : data->n_classes;
    double n = data == NULL ? 100 : (double)data->points.n;
    if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        format_real(json_real_value(value), text, size);
    else if (json_is_string(value)) {
        const char *given = json_string_value(value);
        char *rest;
        double factor = strtod(given, &rest);
        factor = rest == given ? 1 : factor;
        rest += strspn(rest, " *");
        if (strcmp(rest, "n/c") == 0)
            format_real(factor * n / c, text, size);
        else if (strcmp(given, "c") == 0)
            snprintf(text, size, "%.0f", c);
        else
            snprintf(text, size, "%s", given);
    } else
        return false;
    return true;
}

static int check_value(const char *file, const char *place, huddle_model *model, const char *name,
                       const json_t *value) {
    char text[128];
    if (!plan_value(value, NULL, text, sizeof text))
        return wrong(file, place, "must be a number, a text or true or false");
    if (huddle_model_set_option(model, name, text) != HUDDLE_OK)
        return wrong(file, place, "%s", huddle_last_error());
    return EXIT_DONE;
}

static int check_settable(const char *file, const char *place, const huddle_model *model,
                          const char *name) {
    if (strcmp(name, "seed") == 0)
        return wrong(file, place, "seeds are given by the plan's member seeds");
    if (huddle_option_find(huddle_model_options(model), name) == NULL)
        return wrong(file, place, "method %s has no option '%s'; see huddle options %s",
                     huddle_model_method(model), name, huddle_model_method(model));
    return EXIT_DONE;
}

static int check_grid(const char *file, const char *place, huddle_model *model,
                      const json_t *entry) {
    const json_t *grid = json_object_get(entry, "grid"), *values;
    const char *name;
    int result = EXIT_DONE;
    if (grid != NULL && !json_is_object(grid))
        return wrong(file, place, "must be an object of lists");
    json_object_foreach((json_t *)(uintptr_t)grid, name, values) {
        char where[160];
        snprintf(where, sizeof where, "%s.%s", place, name);
        result = check_settable(file, where, model, name);
        if (result == EXIT_DONE && json_array_size(values) == 0)
            result = wrong(file, where, "must be a list of values");
        if (result == EXIT_DONE && json_object_get(json_object_get(entry, "options"), name) != NULL)
            result = wrong(file, where, "%s stands among the options too", name);
        for (size_t i = 0; i < json_array_size(values) && result == EXIT_DONE; i++) {
            snprintf(where, sizeof where, "%s.%s[%zu]", place, name, i);
            result = check_value(file, where, model, name, json_array_get(values, i));
        }
        if (result != EXIT_DONE)
            break;
    }
    return result;
}

static int check_options(const char *file, const char *place, huddle_model *model,
                         const json_t *options) {
    const char *name;
    json_t *value;
    int result = EXIT_DONE;
    if (options != NULL && !json_is_object(options))
        return wrong(file, place, "must be an object");
    json_object_foreach((json_t *)(uintptr_t)options, name, value) {
        char where[160];
        snprintf(where, sizeof where, "%s.%s", place, name);
        result = check_settable(file, where, model, name);
        if (result == EXIT_DONE)
            result = check_value(file, where, model, name, value);
        if (result != EXIT_DONE)
            break;
    }
    return result;
}

static int check_keep(const char *file, const char *place, const json_t *keep) {
    if (keep != NULL && !json_is_array(keep))
        return wrong(file, place, "must be a list");
    for (size_t i = 0; i < json_array_size(keep); i++) {
        const char *name = json_string_value(json_array_get(keep, i));
        bool known = false;
        for (int k = 0; name != NULL && keep_names[k] != NULL; k++)
            known |= strcmp(keep_names[k], name) == 0;
        if (!known)
            return wrong(file, place, "only trace and ends can be kept");
    }
    return EXIT_DONE;
}

static int check_entry(const experiment *e, const char *place, const json_t *entry) {
    char where[96];
    const char *method = json_string_value(json_object_get(entry, "method"));
    const json_t *label = json_object_get(entry, "label");
    huddle_model *model = NULL;
    if (method == NULL)
        return wrong(e->file, place, "there is no method");
    if (label != NULL && !json_is_string(label))
        return wrong(e->file, place, "label must be a text");
    if (huddle_model_new(method, &model) != HUDDLE_OK)
        return wrong(e->file, place, "%s", huddle_last_error());
    snprintf(where, sizeof where, "%s.options", place);
    int result = check_options(e->file, where, model, json_object_get(entry, "options"));
    snprintf(where, sizeof where, "%s.grid", place);
    if (result == EXIT_DONE)
        result = check_grid(e->file, where, model, entry);
    snprintf(where, sizeof where, "%s.keep", place);
    if (result == EXIT_DONE)
        result = check_keep(e->file, where, json_object_get(entry, "keep"));
    huddle_model_free(model);
    return result;
}

static int check_methods(experiment *e) {
    json_t *list = json_object_get(e->plan, "methods");
    if (json_array_size(list) == 0)
        return wrong(e->file, "methods", "must be a list of methods");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char place[64];
        snprintf(place, sizeof place, "methods[%zu]", i);
        if (json_is_string(json_array_get(list, i)))
            json_array_set_new(list, i, json_pack("{s:O}", "method", json_array_get(list, i)));
        int result = check_members(e->file, place, json_array_get(list, i), plan_method_members);
        if (result == EXIT_DONE)
            result = check_entry(e, place, json_array_get(list, i));
        if (result != EXIT_DONE)
            return result;
    }
    return EXIT_DONE;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_numbers(experiment *e) {
    json_t *seeds = json_object_get(e->plan, "seeds"), *n_init = json_object_get(e->plan, "n_init");
    if (seeds == NULL)
        json_object_set_new(e->plan, "seeds", json_pack("[i]", 0));
    else if (json_array_size(seeds) == 0)
        return wrong(e->file, "seeds", "must be a list of whole numbers");
    for (size_t i = 0; i < json_array_size(seeds); i++)
        if (!json_is_integer(json_array_get(seeds, i)) ||
            json_integer_value(json_array_get(seeds, i)) < 0)
            return wrong(e->file, "seeds", "must be a list of whole numbers from 0");
    if (n_init != NULL && (!json_is_integer(n_init) || json_integer_value(n_init) < 1 ||
                           json_integer_value(n_init) > INT32_MAX))
        return wrong(e->file, "n_init", "must be a whole number from 1");
    return EXIT_DONE;
}

/* The folder that a file stands in; "" for the working folder. */
static char *folder_of(const char *file) {
    char *folder = must(strdup(file));
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        folder[0] = '\0';
    else
        slash[slash == folder] = '\0';
    return folder;
}

int plan_open(huddle_context *context, const char *file, json_t *plan, experiment *made) {
    made->file = file;
    made->plan = plan;
    made->folder = folder_of(file);
    int result = check_members(file, "", plan, plan_members);
    json_t *data = json_object_get(plan, "data");
    if (result == EXIT_DONE && json_array_size(data) == 0)
        result = wrong(file, "data", "must be a list of data sets");
    if (result == EXIT_DONE)
        result = check_methods(made);
    if (result == EXIT_DONE)
        result = check_numbers(made);
    made->n_data = result == EXIT_DONE ? (int)json_array_size(data) : 0;
    made->data = must(calloc((size_t)made->n_data + 1, sizeof *made->data));
    for (int i = 0; i < made->n_data && result == EXIT_DONE; i++)
        result = check_data(made, i);
    return result == EXIT_DONE ? read_data(context, made) : result;
}

void experiment_free(experiment *e) {
    for (int i = 0; i < e->n_data; i++) {
        huddle_data_free(&e->data[i].data);
        free(e->data[i].name);
        free(e->data[i].source);
    }
    for (int i = 0; i < e->n_cells; i++) {
        json_decref(e->cells[i].settings);
        json_decref(e->cells[i].record);
    }
    free(e->data);
    free(e->cells);
    free(e->folder);
    json_decref(e->plan);
    *e = (experiment){0};
}
