/* model: files whose checksums are right but whose numbers are not. Every number and every array of
 * indices is changed in turn: loading must refuse the file, or what is loaded must be usable, also
 * for a page. */
#include "archive/json.h"
#include "archive/npy.h"
#include "base/rng.h"
#include "huddle/report.h"
#include "model/model.h"
#include "support/support.h"
#include "unit/zip_files.h"

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

/* One thread: thousands of models are loaded, of a few rows each. */
static huddle_context *shared_context(void) {
    static huddle_context *context;
    if (context == NULL) {
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, 1));
    }
    return context;
}

/* Without the path of gamma, which takes long and depends on the arrays alone. */
static void write_page(const huddle_model *model, const huddle_points *x) {
    huddle_report_options options = huddle_report_defaults();
    options.follow_path = false;
    if (huddle_report_write(shared_context(), model, x, &options, "/dev/null") != HUDDLE_OK)
        assert_true(huddle_last_error()[0] != '\0');
}

/* The page and the JSON of a path of one level, without fusions. */
static void write_path(const huddle_model *model, const huddle_points *x) {
    huddle_path_level level = {.gamma = 1, .n_groups = 1};
    huddle_path path = {.n_levels = 1, .levels = &level};
    huddle_report_walk walk = {.path = &path, .n_clusters = N};
    char *json = NULL;
    walk.labels = huddle_model_labels(model, &path.n);
    if (huddle_report_write_path(shared_context(), model, x, &walk, NULL, "/dev/null") != HUDDLE_OK)
        assert_true(huddle_last_error()[0] != '\0');
    if (huddle_report_path_json(model, &walk, &json) != HUDDLE_OK)
        assert_true(huddle_last_error()[0] != '\0');
    huddle_free(json);
}

/* Uses everything that a loaded model offers. */
static void use_model(const char *path, const huddle_points *x, int64_t *refused) {
    huddle_context *context = shared_context();
    huddle_model *model;
    huddle_array view;
    huddle_dense rows = {0};
    int32_t labels[N];
    double values[N];
    char *json = NULL;
    if (huddle_model_load(path, &model) != HUDDLE_OK) {
        assert_null(model);
        assert_true(huddle_last_error()[0] != '\0');
        ++*refused;
        return;
    }
    for (const char *const *name = huddle_model_arrays(model); *name != NULL; name++)
        (void)huddle_model_array(model, *name, &view);
    (void)huddle_model_predict(context, model, x, labels);
    (void)huddle_model_transform(context, model, x, &rows);
    (void)huddle_model_confidence(context, model, x, values);
    (void)huddle_model_score(context, model, x);
    (void)huddle_model_info_json(model, &json);
    write_page(model, x);
    write_path(model, x);
    huddle_free(json);
    huddle_dense_free(&rows);
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

/* The length of the JSON value that begins here: to the end of its line, or of an array. */
static size_t value_length(const char *value) {
    if (*value != '[')
        return strcspn(value, ",\n}");
    size_t length = 0;
    for (int depth = 0; length == 0 || depth > 0; length++)
        depth += value[length] == '[' ? 1 : value[length] == ']' ? -1 : 0;
    return length;
}

/* Every number, flag and array in "values" and in the info. */
static int64_t craft_values(const hd_zip *zip, const huddle_points *x, int64_t *refused) {
    static const char *const wrong[] = {"-1", "0",    "3",  "4000000000", "9223372036854775807",
                                        "[]", "-0.0", "{}", "2147483647", "true"};
    int64_t tried = 0;
    char *json;
    assert_ok(hd_zip_read(zip, hd_zip_find(zip, "model.json"), &json));
    char *begin = strstr(json, "\"values\""), *info = strstr(json, "\"report\"");
    assert_true(begin != NULL && info != NULL);
    for (char *at = strstr(begin, "\": "); at != NULL; at = strstr(at + 1, "\": ")) {
        char *value = at + 3;
        size_t length = value_length(value);
        /* Members of the info that only texts depend on are changed less often. */
        size_t few = at < info || strstr(at - 12, "n_clusters\"") == at - 10 ? 0 : 5;
        if (*value == '"' || *value == '{')
            continue;
        if (*value == 't' || *value == 'f') {
            try_value(zip, json, value, length, *value == 't' ? "false" : "true", x, refused);
            tried++;
            continue;
        }
        if (memchr(value, '.', length) != NULL || memchr(value, 'e', length) != NULL) {
            try_value(zip, json, value, length, at < info ? "-1e300" : "[]", x, refused);
            tried++;
            continue;
        }
        for (size_t k = few; k < sizeof wrong / sizeof *wrong; k++, tried++)
            try_value(zip, json, value, length, wrong[k], x, refused);
    }
    huddle_free(json);
    return tried;
}

/* Changes one member of a section of model.json; the message that refuses it names it. */
static void assert_member_refused(const hd_zip *zip, const char *section, const char *member,
                                  const char *value, const huddle_points *x, const char *message) {
    char path[256], name[64];
    huddle_model *model;
    char *json;
    int64_t refused = 0;
    snprintf(path, sizeof path, "%s/crafted.huddle", test_directory());
    snprintf(name, sizeof name, "\n  \"%s\": ", member); /* a member of the section itself */
    assert_ok(hd_zip_read(zip, hd_zip_find(zip, "model.json"), &json));
    char *at = strstr(strstr(json, section), name);
    assert_non_null(at);
    at += strlen(name);
    try_value(zip, json, at, value_length(at), value, x, &refused);
    assert_int_equal(refused, 1);
    assert_refused(huddle_model_load(path, &model), HUDDLE_FORMAT, message);
    assert_refused(huddle_model_load(path, &model), HUDDLE_FORMAT, "crafted.huddle: ");
    huddle_free(json);
}

/* What the info repeats of the arrays must be the same there: pages are made from both. */
static void report_must_agree_with_arrays(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"n_clusters", "2147483647",
         "\"n_clusters\" of its report is 2147483647, but its arrays have 2"},
        {"n_clusters", "1", "\"n_clusters\" of its report is 1, but its arrays have 2"},
        {"n_clusters", "[]", "\"n_clusters\" of its report is [], but its arrays have 2"},
        {"n", "61", "\"n\" of its report is 61, but its arrays have 60"},
        {"d", "-0.0", "\"d\" of its report is -0.0, but its arrays have 3"},
        {"sizes", "[]", "\"sizes\" of its report is [], but its arrays have ["},
        {"medoids", "[60, 0, 1]", "\"medoids\" of its report is [60, 0, 1], but"},
    };
    char path[256];
    huddle_points x = grid_points(false);
    hd_zip zip;
    snprintf(path, sizeof path, "%s/fitted.huddle", test_directory());
    save_model("kmeans", NULL, &x, path);
    assert_ok(zip_open(path, &zip));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_member_refused(&zip, "\"report\"", cases[k][0], cases[k][1], &x, cases[k][2]);
    zip_close(&zip);
    huddle_points_free(&x);
}

/* Numbers that no array of the file has as a length, and what is not a number. */
static void messages_name_member_and_value(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"points_d", "2147483647", "points_d = 2147483647 does not agree with the rest of it"},
        {"n_clusters", "-0.0", "n_clusters = -0.0 is wrong"},
        {"n_clusters", "1e300", "n_clusters = 1e300 is wrong"},
        {"n_clusters", "4000000000", "n_clusters = 4000000000 is wrong"},
        {"n_clusters", "true", "n_clusters = true is wrong"},
        {"n_clusters", "\"3\"", "n_clusters = \"3\" is wrong"},
        {"n_clusters", "-1", "n_clusters = -1 does not agree with the rest of it"},
        {"n_clusters", "1", "rows of centres.npy = 2 does not agree"},
        {"n", "[]", "n = [] is wrong"},
        {"n", "59", "labels.npy has "},
        {"graph_cols", "7", "graph_cols = 7 does not agree"},
        {"n_trials", "2147483647", "trials is missing or wrong"},
        {"n_eigenvalues", "0", "eigenvalues.npy has "},
    };
    char path[256];
    huddle_points x = grid_points(true);
    hd_zip zip;
    snprintf(path, sizeof path, "%s/fitted.huddle", test_directory());
    save_model("llc", NULL, &x, path);
    assert_ok(zip_open(path, &zip));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_member_refused(&zip, "\"values\"", cases[k][0], cases[k][1], &x, cases[k][2]);
    zip_close(&zip);
    huddle_points_free(&x);
}

/* A file of sc with the method and options of another one. */
static void only_methods_that_refine_have_refined_labels(void **state) {
    (void)state;
    static const char *const others[] = {"lsc", "pca-sc", "kmeans"};
    char path[256];
    huddle_points x = grid_points(false);
    snprintf(path, sizeof path, "%s/fitted.huddle", test_directory());
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        huddle_model *model;
        hd_zip zip;
        char *header, *json, text[65536];
        save_model(others[k], NULL, &x, path);
        assert_ok(zip_open(path, &zip));
        assert_ok(hd_zip_read(&zip, hd_zip_find(&zip, "model.json"), &header));
        zip_close(&zip);
        save_model("sc", NULL, &x, path);
        assert_ok(zip_open(path, &zip));
        assert_ok(hd_zip_read(&zip, hd_zip_find(&zip, "model.json"), &json));
        int length =
            snprintf(text, sizeof text, "%.*s%s", (int)(strstr(header, "\"values\"") - header),
                     header, strstr(json, "\"values\""));
        assert_in_range(length, 1, sizeof text - 1);
        replace_entry(&zip, path, "model.json", text, length);
        assert_refused(huddle_model_load(path, &model), HUDDLE_FORMAT,
                       "refine_present = 1 does not agree with the rest of it");
        zip_close(&zip);
        huddle_free(header);
        huddle_free(json);
    }
    huddle_points_free(&x);
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

/* What is loaded has been checked; these are checked again where they are used. */
static void spaces_are_compared_where_they_meet(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "spls"};
    huddle_points x = grid_points(false);
    for (int k = 0; k < 2; k++) {
        huddle_model *model;
        huddle_dense rows = {0};
        assert_ok(huddle_model_new(methods[k], &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
        assert_ok(huddle_model_fit(NULL, model, &x));
        huddle_dense *other = k == 0 ? &model->fit.clusters.centres : &model->fit.embedding.f.rows;
        assert_ok(huddle_model_transform(NULL, model, &x, &rows));
        huddle_dense_free(&rows);
        other->cols--;
        assert_refused(huddle_model_transform(NULL, model, &x, &rows), HUDDLE_INVALID, "columns");
        other->cols++;
        if (k == 0) {
            assert_null(model->all_rows);
            model->fit.clusters.labels[7] = 2;
            assert_refused(huddle_report_write(NULL, model, &x, NULL, "/dev/null"), HUDDLE_INVALID,
                           "label 2 of point 7 is outside [0, 1]");
        }
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

static huddle_model *fit_model(const char *method, const char *option, const char *value,
                               const huddle_points *x) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, option, value));
    assert_ok(huddle_model_fit(NULL, model, x));
    assert_ok(hd_fit_check(&model->fit));
    return model;
}

/* With an embedding the centres might have its columns, and new points have fewer. */
static void means_of_a_mixture_have_the_columns_of_points(void **state) {
    (void)state;
    enum { WIDE = D + 5 };
    huddle_points x = grid_points(false);
    huddle_model *model = fit_model("mixture", "covariance", "diagonal", &x);
    hd_fit *fit = &model->fit;
    huddle_dense *parts[] = {&fit->clusters.centres, &fit->mixture.scales, &fit->embedding.f.rows};
    for (int k = 0; k < 3; k++) {
        huddle_dense_free(parts[k]);
        assert_ok(huddle_dense_new(k < 2 ? 2 : fit->rows.n, WIDE, parts[k]));
    }
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "columns of centres.npy = 8");
    /* The number of rows first: a product with so many columns would overflow. */
    fit->clusters.centres.rows = 0;
    fit->clusters.centres.cols = fit->embedding.f.rows.cols = INT64_MAX;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "rows of centres.npy = 0");
    fit->clusters.centres.rows = 2;
    fit->clusters.centres.cols = fit->embedding.f.rows.cols = WIDE;
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* A file may have the rows of an embedding without its eigenvectors, as models of a given embedding
 * do. */
static void methods_need_their_eigenvectors(void **state) {
    (void)state;
    static const char *const cases[][3] = {{"l1graph", "rows", "rw"},
                                           {"nsc", "discrimination", "0"},
                                           {"sec", "rows", "commute"},
                                           {"l1sc", "epsilon", "1e-3"}};
    huddle_points x = grid_points(false);
    huddle_dense rows = {0};
    int32_t labels[N];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_model *model = fit_model(cases[k][0], cases[k][1], cases[k][2], &x);
        huddle_embedding *f = &model->fit.embedding.f;
        huddle_dense_free(&f->vectors);
        huddle_free(f->degrees);
        huddle_free(f->eigenvalues);
        f->degrees = f->eigenvalues = NULL;
        f->n_eigenvalues = 0;
        model->fit.embedding.present = false;
        assert_ok(hd_fit_check(&model->fit));
        const char *message = "a model without eigenvectors cannot label new points";
        assert_refused(huddle_model_transform(NULL, model, &x, &rows), HUDDLE_UNSUPPORTED, message);
        if (!model->fit.refined.present) /* refined labels do not need them */
            assert_refused(huddle_model_predict(NULL, model, &x, labels), HUDDLE_UNSUPPORTED,
                           message);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* The number of the largest column is a label. */
static void indicators_are_at_most_as_many_as_clusters(void **state) {
    (void)state;
    enum { MORE = 3 };
    huddle_points x = grid_points(false);
    int32_t labels[N];
    huddle_model *model = fit_model("nsc", "discrimination", "0", &x);
    huddle_embedding *f = &model->fit.embedding.f;
    huddle_dense *parts[] = {&f->rows, &f->vectors, &model->fit.clusters.centres};
    huddle_free(f->eigenvalues);
    f->eigenvalues = calloc(MORE, sizeof *f->eigenvalues);
    f->n_eigenvalues = MORE;
    for (int k = 0; k < 3; k++) {
        huddle_dense_free(parts[k]);
        assert_ok(huddle_dense_new(k < 2 ? model->fit.rows.n : 2, MORE, parts[k]));
    }
    assert_ok(hd_fit_check(&model->fit));
    assert_refused(huddle_model_predict(NULL, model, &x, labels), HUDDLE_FORMAT,
                   "the model file is damaged: 3 indicators of 2 clusters");
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Its place in the file may be null. */
static void a_scale_may_lack_its_rule(void **state) {
    (void)state;
    huddle_points x = grid_points(false), other;
    int32_t labels[N];
    huddle_model *model = fit_model("sc", "prepare", "none", &x);
    assert_ok(huddle_points_copy(&x, &other));
    for (int64_t e = 0; e < N * D; e++)
        other.values[e] += 0.25F;
    huddle_scale_free(&model->fit.graph.scale);
    assert_ok(hd_fit_check(&model->fit));
    assert_ok(huddle_model_predict(NULL, model, &other, labels));
    for (int64_t i = 0; i < N; i++)
        assert_in_range(labels[i], 0, 1);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&other);
}

static void crafted_models_do_no_harm(void **state) {
    (void)state;
    static const struct {
        const char *method, *prepare;
        bool sparse;
    } cases[] = {{"ssc", NULL, false}, {"ncut", NULL, false}, {"lsc", "ranks", false},
                 {"llc", NULL, true},  {"spls", NULL, false}, {"mixture", "standard", false}};
    char path[256];
    snprintf(path, sizeof path, "%s/fitted.huddle", test_directory());
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_points x = grid_points(cases[k].sparse);
        hd_zip zip;
        int64_t refused = 0, tried = 0;
        save_model(cases[k].method, cases[k].prepare, &x, path);
        use_model(path, &x, &refused);
        assert_int_equal(refused, 0);
        assert_ok(zip_open(path, &zip));
        tried += craft_values(&zip, &x, &refused);
        tried += craft_indices(&zip, &x, &refused);
        assert_true(tried > 200);
        assert_true(refused > tried / 4); /* most numbers only describe how the fit went */
        zip_close(&zip);
        huddle_points_free(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_must_agree_with_arrays),
        cmocka_unit_test(messages_name_member_and_value),
        cmocka_unit_test(only_methods_that_refine_have_refined_labels),
        cmocka_unit_test(spaces_are_compared_where_they_meet),
        cmocka_unit_test(means_of_a_mixture_have_the_columns_of_points),
        cmocka_unit_test(methods_need_their_eigenvectors),
        cmocka_unit_test(indicators_are_at_most_as_many_as_clusters),
        cmocka_unit_test(a_scale_may_lack_its_rule),
        cmocka_unit_test(crafted_models_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
