/* The data sets of a plan: checking their entries, reading them, and their fingerprints. */
#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Members of an entry of the plan's data; they are those of huddle_read_options. */
static const char *const data_members[] = {"name",   "source",  "x",      "y",       "transpose",
                                           "header", "missing", "encode", "classes", "per_class",
                                           "draw",   "n",       "noise",  "seed",    NULL};

/* ---- digests -------------------------------------------------------------------------------- */

/* Two multiplicative hashes over the same bytes: FNV-1a, and one with another multiplier and a
 * shift that carries high bits down. Together they make accidental collisions negligible; they
 * are not meant to resist an attacker. Keys of finished results depend on both, so they must
 * not change. */
typedef struct digest {
    uint64_t a, b;
} digest;

static const digest digest_start = {0xcbf29ce484222325, 0x2545f4914f6cdd1d};

/* Byte by byte: keys are the same on every machine of the same byte order. */
static void digest_add(digest *d, const void *bytes, size_t size) {
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size; i++) {
        d->a = (d->a ^ in[i]) * 0x100000001b3; /* NOLINT: all bytes are set */
        d->b = (d->b + in[i]) * 0x9e3779b97f4a7c15;
        d->b ^= d->b >> 29;
    }
}

static void format_digest(digest d, char text[KEY_SIZE]) {
    snprintf(text, KEY_SIZE, "%016llx%016llx", (unsigned long long)d.a, (unsigned long long)d.b);
}

void plan_make_digest(const void *bytes, size_t size, char key[KEY_SIZE]) {
    digest d = digest_start;
    digest_add(&d, bytes, size);
    format_digest(d, key);
}

void plan_make_key(const char *text, char key[KEY_SIZE]) {
    plan_make_digest(text, strlen(text), key);
}

/* The digest of points and labels, as they are after reading: neither the file's name nor its
 * format matters. Rows of dense points are added one by one, because the padding between them
 * is not part of the data. */
static void set_fingerprint(experiment_data *data) {
    const huddle_points *x = &data->data.points;
    digest d = digest_start;
    /* The shape too: the same bytes may be 2 x 6 or 3 x 4. */
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
    if (data->data.labels != NULL)
        digest_add(&d, data->data.labels, (size_t)x->n * sizeof *data->data.labels);
    format_digest(d, data->fingerprint);
}

/* ---- checking ------------------------------------------------------------------------------- */

/* Generators are no files: they have neither folder nor ending. */
static bool is_generator(const char *source) {
    return is_listed(source, huddle_data_kinds());
}

/* A file's name without folders and ending, for tables. */
static char *short_name(const char *source) {
    const char *name = base_name(source);
    return is_generator(source) ? strdup(source) : strndup(name, (size_t)stem_length(name));
}

/* The source relative to the plan's folder, so that a plan can be moved together with its
 * data. */
static char *find_source(const char *folder, const char *source) {
    bool alone = folder[0] == '\0' || source[0] == '/' || is_generator(source);
    return alone ? strdup(source) : join_path(folder, source);
}

typedef enum member_kind { POSITIVE, COUNT, AMOUNT, NAMES, STRING, BOOLEAN } member_kind;

static const char *const kind_texts[] = {[POSITIVE] = "an integer of at least 1",
                                         [COUNT] = "an integer of at least 0",
                                         [AMOUNT] = "a number of at least 0",
                                         [NAMES] = "a name or a list of names",
                                         [STRING] = "a string",
                                         [BOOLEAN] = "true or false"};

static bool has_kind(const json_t *value, member_kind kind) {
    switch (kind) {
    case POSITIVE:
    case COUNT:
        return json_is_integer(value) && json_integer_value(value) >= (kind == POSITIVE);
    case AMOUNT:
        return json_is_number(value) && json_number_value(value) >= 0;
    case STRING:
        return json_is_string(value);
    case BOOLEAN:
        return json_is_boolean(value);
    case NAMES: /* several for parts to be concatenated */
        break;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_string(value) || json_array_size(value) > 0;
}

/* The readers check again, but their messages would not name the place in the plan. */
static huddle_status check_types(const char *file, const char *place, const json_t *entry) {
    static const struct {
        const char *name;
        member_kind kind;
    } members[] = {{"per_class", POSITIVE}, {"n", POSITIVE},        {"noise", AMOUNT},
                   {"seed", COUNT},         {"x", NAMES},           {"y", NAMES},
                   {"name", STRING},        {"classes", STRING},    {"header", STRING},
                   {"missing", STRING},     {"transpose", BOOLEAN}, {"encode", BOOLEAN},
                   {"draw", BOOLEAN}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *value = json_object_get(entry, members[i].name);
        if (value != NULL && !has_kind(value, members[i].kind))
            return plan_fail(file, place, "%s must be %s", members[i].name,
                             kind_texts[members[i].kind]);
    }
    return HUDDLE_OK;
}

/* Names identify data sets in tables and records, so each may occur only once. */
static huddle_status check_name(const experiment *e, const char *place, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(e->data[i].name, e->data[index].name) == 0)
            return plan_fail(e->file, place, "the name '%s' is already used by data[%d]",
                             e->data[index].name, i);
    return HUDDLE_OK;
}

/* What the experiment writes must not replace what it reads. */
static huddle_status check_not_output(const experiment *e, const char *place, const char *source) {
    huddle_status status = HUDDLE_OK;
    static const char *const files[] = {"results.jsonl", "results.csv", "index.html"};
    char *path = NULL;
    struct stat about;
    if (is_generator(source) || stat(source, &about) != 0)
        return HUDDLE_OK;
    if (e->report != NULL && huddle_file_same(source, e->report))
        return plan_fail(e->file, place, "%s would be overwritten by the page", source);
    for (size_t k = 0; k < sizeof files / sizeof *files && e->output != NULL; k++) {
        free(path);
        TRY_POINTER(path = join_path(e->output, files[k]));
        if (huddle_file_same(source, path))
            TRY(plan_fail(e->file, place, "%s would be overwritten by the results", source));
    }
done:
    free(path);
    return status;
}

/* Checks an entry and normalises it to an object, without opening the file. */
huddle_status plan_check_data(experiment *e, int index) {
    huddle_status status = HUDDLE_OK;
    char place[64];
    json_t *list = json_object_get(e->plan, "data"), *entry = json_array_get(list, (size_t)index);
    experiment_data *data = &e->data[index];
    snprintf(place, sizeof place, "data[%d]", index);
    if (json_is_string(entry)) { /* short for {"source": ...} */
        json_array_set_new(list, (size_t)index, json_pack("{s:O}", "source", entry));
        entry = json_array_get(list, (size_t)index);
    }
    TRY(plan_check_members(e->file, place, entry, data_members));
    const char *source = json_string_value(json_object_get(entry, "source"));
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (source == NULL || source[0] == '\0')
        return plan_fail(e->file, place, "the member 'source' is missing");
    TRY(check_types(e->file, place, entry));
    data->entry = entry;
    data->source = find_source(e->folder, source);
    data->name = name != NULL ? strdup(name) : short_name(source);
    TRY_POINTER(data->source);
    TRY_POINTER(data->name);
    TRY(check_not_output(e, place, data->source));
    TRY(check_name(e, place, index));
done:
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The strings of a string or of an array of strings; freed by free(). NULL without memory. The
 * strings belong to the plan. */
static const char **list_strings(const json_t *value, int64_t *count) {
    size_t n = json_is_array(value) ? json_array_size(value) : json_is_string(value) ? 1 : 0;
    const char **strings = calloc(n + 1, sizeof *strings);
    for (size_t i = 0; i < n && strings != NULL; i++)
        strings[i] = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
    *count = (int64_t)n;
    return strings;
}

/* Absent members are 0, the default of huddle_read_options. */
static int64_t integer_member(const json_t *entry, const char *name) {
    return (int64_t)json_integer_value(json_object_get(entry, name));
}

/* The fingerprint is taken at once: it is part of the key of every cell of this data set. */
huddle_status plan_read_data(huddle_context *context, experiment_data *data) {
    huddle_status status = HUDDLE_OK;
    const json_t *entry = data->entry, *noise = json_object_get(entry, "noise");
    huddle_read_options options = {.transpose = json_is_true(json_object_get(entry, "transpose")),
                                   .classes = json_string_value(json_object_get(entry, "classes")),
                                   .per_class = integer_member(entry, "per_class"),
                                   .n = integer_member(entry, "n"),
                                   .noise = noise == NULL ? HUDDLE_AUTO : json_number_value(noise),
                                   .seed = (uint64_t)integer_member(entry, "seed"),
                                   .missing = json_string_value(json_object_get(entry, "missing")),
                                   .encode = json_is_true(json_object_get(entry, "encode")),
                                   .draw = json_is_true(json_object_get(entry, "draw")),
                                   .header = json_string_value(json_object_get(entry, "header"))};
    const char **x = list_strings(json_object_get(entry, "x"), &options.n_x);
    const char **y = list_strings(json_object_get(entry, "y"), &options.n_y);
    TRY_POINTER(x);
    TRY_POINTER(y);
    options.x = x;
    options.y = y;
    TRY(experiment_fail_about(huddle_data_read(context, data->source, &options, &data->data),
                              data->source));
    set_fingerprint(data);
done:
    free(x);
    free(y);
    return status;
}
