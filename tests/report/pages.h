/* What the tests of pages share: a fitted model, and access to the data of a page. */
#ifndef HUDDLE_TESTS_REPORT_PAGES_H
#define HUDDLE_TESTS_REPORT_PAGES_H

#include "support/page_data.h"
#include "support/support.h"

#include <huddle/report.h>
#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, D = 4, CLUSTERS = 3 };

/* Three groups of 20 points, and a model fitted to them. */
typedef struct fixture {
    float values[N * D];
    int32_t classes[N];
    huddle_points x;
    huddle_model *model;
    char page[512];
} fixture;

static inline int set_up(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    for (int i = 0; i < N; i++) {
        f.classes[i] = i % CLUSTERS;
        for (int j = 0; j < D; j++)
            f.values[i * D + j] =
                (float)(10 * (i % CLUSTERS == j) + (i * 7 + j * 13) % 11 * 0.1 + 0.01 * i);
    }
    f.x = (huddle_points){.n = N, .d = D, .stride = D, .values = f.values};
    snprintf(f.page, sizeof f.page, "%s/page.html", test_directory());
    (void)unlink(f.page);
    assert_ok(huddle_model_new("ssc", &f.model));
    assert_ok(huddle_model_set_option(f.model, "n_clusters", "3"));
    assert_ok(huddle_model_fit(NULL, f.model, &f.x));
    *state = &f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    huddle_model_free(f->model);
    return 0;
}

static inline char *read_page(const fixture *f) {
    FILE *file = fopen(f->page, "rb");
    if (file == NULL)
        return NULL;
    char *text = calloc(1, 4000000);
    assert_non_null(text);
    text[fread(text, 1, 3999999, file)] = '\0';
    fclose(file);
    return text;
}

/* The JSON of the page; the caller releases it. */
static inline json_t *read_data(const fixture *f) {
    char *text = read_page(f);
    assert_non_null(text);
    json_t *data = parse_page(text);
    free(text);
    return data;
}

/* The first block of that kind, or NULL. Borrowed. */
static inline const json_t *find_block(const json_t *data, const char *kind) {
    const json_t *sections = json_object_get(data, "sections");
    for (size_t i = 0; i < json_array_size(sections); i++) {
        const json_t *blocks = json_object_get(json_array_get(sections, i), "blocks");
        for (size_t j = 0; j < json_array_size(blocks); j++) {
            const json_t *block = json_array_get(blocks, j);
            if (strcmp(json_string_value(json_object_get(block, "kind")), kind) == 0)
                return block;
        }
    }
    return NULL;
}

static inline const char *text_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

/* The section of that name, or NULL. Borrowed. */
static inline const json_t *find_section(const json_t *data, const char *id) {
    const json_t *sections = json_object_get(data, "sections");
    for (size_t i = 0; i < json_array_size(sections); i++)
        if (strcmp(text_of(json_array_get(sections, i), "id"), id) == 0)
            return json_array_get(sections, i);
    return NULL;
}

static inline const json_t *first_block(const json_t *section) {
    return json_array_get(json_object_get(section, "blocks"), 0);
}

/* Decodes base64 into bytes; returns how many. */
static inline size_t decode_bytes(const char *text, unsigned char *bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = 0;
    uint32_t bits = 0;
    for (size_t i = 0; text[i] != '\0' && text[i] != '='; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
        if (i % 4 != 0)
            bytes[count++] = (unsigned char)(bits >> (6 - 2 * (i % 4)) & 255);
    }
    return count;
}

static inline int32_t int32_at(const unsigned char *bytes, int64_t i) {
    const unsigned char *b = bytes + 4 * i;
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                     (uint32_t)b[3] << 24);
}

/* Bytes of base64 as 16-bit numbers; the caller frees them. */
static inline uint16_t *numbers_of(const json_t *object, const char *name, size_t *count) {
    const char *text = text_of(object, name);
    unsigned char *bytes = calloc(1, strlen(text) + 4);
    assert_non_null(bytes);
    *count = decode_bytes(text, bytes) / 2;
    uint16_t *made = calloc(*count + 1, sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < *count; i++)
        made[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    free(bytes);
    return made;
}

/* A model of groups that overlap, so that G differs from F; values has room for its points. */
static inline huddle_model *fit_overlapping(const fixture *f, float *values) {
    huddle_points x = {.n = N, .d = D, .stride = D, .values = values};
    huddle_model *model = NULL;
    for (int i = 0; i < N * D; i++)
        values[i] = f->values[i] - (i / D % CLUSTERS == i % D ? 9.0f : 0.0f);
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    return model;
}

/* A path of n_gamma levels from the model's embedding, with its labels. */
static inline void make_walk(const fixture *f, int32_t n_gamma, huddle_path *path, int32_t *labels,
                             huddle_report_walk *walk) {
    huddle_array array;
    huddle_path_options options = huddle_path_defaults();
    assert_ok(huddle_model_array(f->model, "embedding", &array));
    huddle_dense rows = {array.rows, array.cols, array.stride, (double *)(uintptr_t)array.values};
    assert_ok(huddle_model_array(f->model, "shrink_graph", &array));
    huddle_csr graph = {array.rows, array.cols, (int64_t *)(uintptr_t)array.offsets,
                        (int32_t *)(uintptr_t)array.columns, (double *)(uintptr_t)array.values};
    options.n_gamma = n_gamma;
    options.keep_shrunk = true;
    *walk = (huddle_report_walk){path, labels, CLUSTERS, {0}, 0.5};
    assert_ok(huddle_shrink_path(NULL, &rows, &graph, &options, path));
    assert_ok(huddle_path_labels(NULL, path, &rows, CLUSTERS, labels, &walk->choice));
}

#endif
