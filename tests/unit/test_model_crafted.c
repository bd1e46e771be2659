/* model: files whose checksums are right but whose numbers are not. Every number and every array of
 * indices is changed in turn: loading must refuse the file, or what is loaded must be usable. */
#include "archive/json.h"
#include "archive/npy.h"
#include "base/rng.h"
#include "model/model.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 3 };

/* Integers in a small box, many of them equal, so that rows are merged. */
static huddle_points grid_points(bool sparse) {
    huddle_points x, y;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)hd_rng_below(&rng, 2) + (float)(i % 2 == j ? 4 : 0);
    }
    if (!sparse)
        return x;
    assert_ok(huddle_points_new_sparse(N, D, N * D, &y));
    for (int64_t e = 0; e < N * D; e++) {
        y.columns[e] = (int32_t)(e % D);
        y.values[e] = x.values[e] + 1;
        y.offsets[e / D + 1] = e + 1;
    }
    huddle_points_free(&x);
    return y;
}

static void save_model(const char *method, const char *prepare, const huddle_points *x,
                       const char *path) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2-3"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    if (prepare != NULL)
        assert_ok(huddle_model_set_option(model, "prepare", prepare));
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, x));
    assert_ok(huddle_model_save(model, path));
    huddle_model_free(model);
}

/* Uses everything that a loaded model offers. */
static void use_model(const char *path, const huddle_points *x, int64_t *refused) {
    huddle_model *model;
    huddle_array view;
    int32_t labels[N];
    char *json = NULL;
    if (huddle_model_load(path, &model) != HUDDLE_OK) {
        assert_null(model);
        assert_true(huddle_last_error()[0] != '\0');
        ++*refused;
        return;
    }
    for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++)
        (void)huddle_model_array(model, *name, &view);
    (void)huddle_model_predict(NULL, model, x, labels);
    (void)huddle_model_score(NULL, model, x);
    (void)huddle_model_info_json(model, &json);
    huddle_free(json);
    huddle_model_free(model);
}

/* The archive with one entry replaced. */
static void replace_entry(const hd_zip *zip, const char *path, const char *name, const char *bytes,
                          int64_t size) {
    hd_zip_writer copy = {0};
    assert_ok(hd_zip_create(path, &copy));
    for (int64_t k = 0; k < zip->count; k++) {
        const hd_zip_entry *entry = &zip->entries[k];
        char *content;
        if (strcmp(entry->name, name) == 0) {
            assert_ok(hd_zip_add(&copy, name, HD_ZIP_STORED, bytes, size));
            continue;
        }
        assert_ok(hd_zip_read(zip, entry, &content));
        assert_ok(hd_zip_add(&copy, entry->name, HD_ZIP_STORED, content, entry->size));
        huddle_free(content);
    }
    assert_ok(hd_zip_close(&copy, HUDDLE_OK));
}

/* model.json with another text for the value that begins at `at` and is `length` long. */
static void try_value(const hd_zip *zip, const char *json, const char *at, size_t length,
                      const char *value, const huddle_points *x, int64_t *refused) {
    char path[256];
    size_t size = strlen(json) + 64;
    char *text = malloc(size);
    snprintf(path, sizeof path, "%s/crafted.huddle", test_directory());
    snprintf(text, size, "%.*s%s%s", (int)(at - json), json, value, at + length);
    replace_entry(zip, path, "model.json", text, (int64_t)strlen(text));
    use_model(path, x, refused);
    free(text);
}

/* Every number and flag in "values". */
static int64_t craft_values(const hd_zip *zip, const huddle_points *x, int64_t *refused) {
    static const char *const wrong[] = {"-1", "0", "3", "4000000000", "9223372036854775807"};
    int64_t tried = 0;
    char *json;
    assert_ok(hd_zip_read(zip, hd_zip_find(zip, "model.json"), &json));
    char *begin = strstr(json, "\"values\""), *end = strstr(json, "\"arrays\"");
    assert_true(begin != NULL && end != NULL);
    for (char *at = strstr(begin, "\": "); at != NULL && at < end; at = strstr(at + 1, "\": ")) {
        char *value = at + 3;
        size_t length = strcspn(value, ",\n}");
        if (*value == '"' || *value == '{')
            continue;
        if (*value == 't' || *value == 'f') {
            try_value(zip, json, value, length, *value == 't' ? "false" : "true", x, refused);
            tried++;
            continue;
        }
        bool real = memchr(value, '.', length) != NULL || memchr(value, 'e', length) != NULL;
        for (size_t k = 0; k < (real ? 1 : sizeof wrong / sizeof *wrong); k++, tried++)
            try_value(zip, json, value, length, real ? "-1e300" : wrong[k], x, refused);
    }
    huddle_free(json);
    return tried;
}

/* One element of every array of integers, at its beginning, middle and end. */
static int64_t craft_indices(const hd_zip *zip, const huddle_points *x, int64_t *refused) {
    static const int64_t wrong[] = {-1, -2, 1, N, INT32_MAX};
    int64_t tried = 0;
    char path[256];
    snprintf(path, sizeof path, "%s/crafted.huddle", test_directory());
    for (int64_t k = 0; k < zip->count; k++) {
        const hd_zip_entry *entry = &zip->entries[k];
        hd_npy npy;
        char *bytes;
        if (strcmp(entry->name, "model.json") == 0)
            continue;
        assert_ok(hd_npy_peek(zip, entry, &npy));
        if (npy.kind != 'i' || npy.count == 0)
            continue;
        assert_ok(hd_zip_read(zip, entry, &bytes));
        for (int place = 0; place < 3; place++)
            for (size_t w = 0; w <= sizeof wrong / sizeof *wrong; w++, tried++) {
                char *element = bytes + npy.offset + (npy.count - 1) * place / 2 * npy.width;
                int64_t before = 0, refused_before = *refused;
                memcpy(&before, element, (size_t)npy.width);
                int64_t value = w < sizeof wrong / sizeof *wrong ? wrong[w] : before - 1;
                memcpy(element, &value, (size_t)npy.width); /* little-endian, as the format */
                replace_entry(zip, path, entry->name, bytes, entry->size);
                use_model(path, x, refused);
                /* The last offset is the length of the arrays that it points into. */
                if (place == 2 && strstr(entry->name, "_offsets.npy") != NULL)
                    assert_true(*refused > refused_before || value == before);
                memcpy(element, &before, (size_t)npy.width);
            }
        huddle_free(bytes);
    }
    return tried;
}

static void crafted_models_do_no_harm(void **state) {
    (void)state;
    static const struct {
        const char *method, *prepare;
        bool sparse;
    } cases[] = {{"ssc", NULL, false},
                 {"ncut", NULL, false},
                 {"lsc", "ranks", false},
                 {"llc", NULL, true},
                 {"spls", NULL, false}};
    char path[256];
    snprintf(path, sizeof path, "%s/fitted.huddle", test_directory());
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_points x = grid_points(cases[k].sparse);
        hd_zip zip;
        int64_t refused = 0, tried = 0;
        save_model(cases[k].method, cases[k].prepare, &x, path);
        use_model(path, &x, &refused);
        assert_int_equal(refused, 0);
        assert_ok(hd_zip_open(path, &zip));
        tried += craft_values(&zip, &x, &refused);
        tried += craft_indices(&zip, &x, &refused);
        assert_true(tried > 200);
        assert_true(refused > tried / 4); /* most numbers only describe how the fit went */
        hd_zip_free(&zip);
        huddle_points_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(crafted_models_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
