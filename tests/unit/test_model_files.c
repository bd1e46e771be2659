/* model: files that are damaged, of other versions or with wrong entries; typed results. */
#include "base/rng.h"
#include "model/model.h"
#include "unit/model_fits.h"
#include "unit/zip_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files --------------------------------------------------------------------------------- */

static void write_bytes(const char *path, const char *bytes, int64_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, (size_t)size, file);
    fclose(file);
}

/* Damage in a place that a zip archive does not use, such as a time stamp, may go unnoticed: then
 * the model must be the one that was saved. */
static void refused_or_unchanged(const char *path, const huddle_model *model, int64_t *refused) {
    huddle_model *loaded;
    char *before, *after;
    if (huddle_model_load(path, &loaded) != HUDDLE_OK) {
        assert_null(loaded);
        assert_non_null(strstr(huddle_last_error(), "model.huddle: "));
        ++*refused;
        return;
    }
    same_labels(model, loaded);
    assert_ok(huddle_model_info_json(model, &before));
    assert_ok(huddle_model_info_json(loaded, &after));
    /* Up to the peak memory, which grows while the program runs. */
    assert_memory_equal(before, after, (size_t)(strstr(before, "\"peak_bytes\"") - before));
    huddle_free(before);
    huddle_free(after);
    huddle_model_free(loaded);
}

static void damaged_models_are_refused(void **state) {
    (void)state;
    char path[256];
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("ssc", &x), *loaded;
    int64_t size;
    int64_t tried = 0, refused = 0;
    snprintf(path, sizeof path, "%s/model.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    char *bytes = test_read_file(path, &size);
    for (int64_t cut = 0; cut < size; cut += size / 50 + 1) {
        write_bytes(path, bytes, cut);
        assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "model.huddle: ");
    }
    write_bytes(path, "not a model at all", 18);
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "this is not a Huddle model");
    /* One byte at a time, all over the file. */
    for (int64_t at = 0; at < size; at += size / 500 + 1, tried++) {
        bytes[at] ^= 0x10;
        write_bytes(path, bytes, size);
        refused_or_unchanged(path, model, &refused);
        bytes[at] ^= 0x10;
    }
    /* What remains are bytes of the archive that no reader needs. */
    assert_true((double)refused > 0.97 * (double)tried);
    snprintf(path, sizeof path, "%s/absent.huddle", test_directory());
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_IO, "absent.huddle");
    assert_refused(huddle_model_save(model, "/nowhere/model"), HUDDLE_IO, "/nowhere/model");
    free(bytes);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void models_of_other_versions_are_refused(void **state) {
    (void)state;
    static const char old[] = "\x89HDF\r\n\x1a\n ... huddle model v1\n01234567";
    static const char later[] = "{\"format\": \"huddle model\", \"version\": 99}";
    static const char other[] = "{\"format\": \"something else\", \"version\": 3}";
    char path[256];
    huddle_model *loaded;
    hd_zip_writer zip = {0};
    snprintf(path, sizeof path, "%s/other.huddle", test_directory());
    write_bytes(path, old, sizeof old - 1);
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_UNSUPPORTED,
                   "other.huddle: a model of Huddle 0.1 (HDF5); fit it again with this version");
    assert_ok(hd_zip_create(path, &zip));
    assert_ok(
        hd_zip_close(&zip, hd_zip_add(&zip, "model.json", HD_ZIP_STORED, later, sizeof later - 1)));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_UNSUPPORTED, "another version");
    assert_ok(hd_zip_create(path, &zip));
    assert_ok(
        hd_zip_close(&zip, hd_zip_add(&zip, "model.json", HD_ZIP_STORED, other, sizeof other - 1)));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "this is not a Huddle model");
    assert_ok(hd_zip_create(path, &zip));
    assert_ok(
        hd_zip_close(&zip, hd_zip_add(&zip, "other.json", HD_ZIP_STORED, other, sizeof other - 1)));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "it contains no model.json");
}

/* Copies the archive entry by entry, except one: left out, or with its content replaced. */
static void copy_archive(const char *from, const char *to, const char *except, const char *content,
                         int64_t size) {
    hd_zip zip;
    hd_zip_writer copy = {0};
    assert_ok(zip_open(from, &zip));
    assert_ok(hd_zip_create(to, &copy));
    for (int64_t k = 0; k < zip.count; k++) {
        const hd_zip_entry *entry = &zip.entries[k];
        char *bytes;
        if (strcmp(entry->name, except) == 0) {
            if (content != NULL)
                assert_ok(hd_zip_add(&copy, entry->name, HD_ZIP_STORED, content, size));
            continue;
        }
        assert_ok(hd_zip_read(&zip, entry, &bytes));
        assert_ok(hd_zip_add(&copy, entry->name, HD_ZIP_STORED, bytes, entry->size));
        huddle_free(bytes);
    }
    assert_ok(hd_zip_close(&copy, HUDDLE_OK));
    zip_close(&zip);
}

/* ---- files of Huddle 0.3 ------------------------------------------------------------------- */

/* Options that came later. */
static bool is_new(const char *name) {
    static const char *const names[] = {"preset",       "delta",          "duplicates",
                                        "shrink_delta", "shrink_start",   "shrink_tol",
                                        "view_weights", "shrink_epsilon", NULL};
    for (int k = 0; names[k] != NULL; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return false;
}

/* The options of 0.3 but one, with its name of a solver. */
static void write_old_options(hd_json_writer *json, const hd_json_value *options,
                              const char *except) {
    hd_json_set_object(json, "options");
    for (const hd_json_value *o = options->first; o != NULL; o = o->next)
        if (!is_new(o->name) && strcmp(o->name, except) != 0)
            hd_json_set_string(json, o->name,
                               strcmp(o->text, "reweighted") == 0 ? "plain" : o->text);
    hd_json_close_object(json);
}

/* Copies a file as Huddle 0.3 would have written it, without the option `except`. */
static void write_old_file(const char *from, const char *to, const char *except) {
    hd_json_writer json = hd_json_begin((hd_json_style){.indent = 1});
    hd_json_document document;
    hd_zip zip;
    char *text;
    assert_ok(zip_open(from, &zip));
    const hd_zip_entry *entry = hd_zip_find(&zip, "model.json");
    assert_ok(hd_zip_read(&zip, entry, &text));
    assert_ok(hd_json_parse(text, entry->size, &document));
    huddle_free(text);
    hd_json_open_object(&json);
    for (const hd_json_value *v = document.root->first; v != NULL; v = v->next)
        if (strcmp(v->name, "options") == 0) {
            write_old_options(&json, v, except);
        } else {
            hd_json_key(&json, v->name);
            hd_json_write(&json, v);
        }
    hd_json_close_object(&json);
    assert_ok(hd_json_finish(&json, &text));
    copy_archive(from, to, "model.json", text, (int64_t)strlen(text));
    huddle_free(text);
    hd_json_document_free(&document);
    zip_close(&zip);
}

/* Their options have the values of the fit, the later ones their defaults. */
static void files_without_later_options_are_read(void **state) {
    (void)state;
    static const char *const methods[] = {"ssc", "sc", "spls", "llc", "kmeans"};
    const char *path = test_path_of("new.huddle"), *old = test_path_of("old.huddle");
    huddle_points x = arcs(0.03, 1);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        char before[HUDDLE_OPTION_TEXT], after[HUDDLE_OPTION_TEXT];
        int32_t expected[N], labels[N];
        huddle_model *model, *loaded;
        assert_ok(huddle_model_new(methods[k], &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        if (huddle_option_find(model->table, "solver") != NULL)
            assert_ok(huddle_model_set_option(model, "solver", "reweighted"));
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_ok(huddle_model_save(model, path));
        write_old_file(path, old, "");
        assert_ok(huddle_model_load(old, &loaded));
        same_labels(model, loaded);
        for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++) {
            assert_ok(huddle_model_get_option(model, o->name, before, sizeof before));
            assert_ok(huddle_model_get_option(loaded, o->name, after, sizeof after));
            assert_string_equal(before, after);
        }
        assert_ok(huddle_model_predict(NULL, model, &x, expected));
        assert_ok(huddle_model_predict(NULL, loaded, &x, labels));
        assert_memory_equal(labels, expected, sizeof labels);
        huddle_model_free(loaded);
        write_old_file(path, old, "n_clusters");
        assert_refused(huddle_model_load(old, &loaded), HUDDLE_FORMAT,
                       "option n_clusters is missing");
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* ---- wrong entries ------------------------------------------------------------------------- */

/* The array without its last row. */
static char *shorten_array(const hd_zip *zip, const hd_zip_entry *entry, int64_t *size) {
    hd_npy npy;
    char *bytes, *header, type[16], *shorter;
    int64_t length;
    assert_ok(hd_npy_read(zip, entry, &npy, &bytes));
    snprintf(type, sizeof type, "<%c%d", npy.kind, (int)npy.width % 10);
    int64_t left = npy.bytes - npy.bytes / npy.dims[0];
    npy.dims[0]--;
    assert_ok(hd_npy_header(type, npy.rank, npy.dims, &header, &length));
    *size = length + left;
    shorter = malloc((size_t)*size);
    memcpy(shorter, header, (size_t)length);
    memcpy(shorter + length, bytes, (size_t)left);
    huddle_free(header);
    huddle_free(bytes);
    return shorter;
}

/* Every entry of an archive whose checksums are right: missing, empty, of another shape or type. */
static void models_with_wrong_entries_are_refused(void **state) {
    (void)state;
    static const int64_t dims[] = {2, 3, 1};
    static const double numbers[6] = {0};
    char path[256], wrong[256], *header;
    int64_t length;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fitted("ssc", &x), *loaded;
    hd_zip zip;
    snprintf(path, sizeof path, "%s/whole.huddle", test_directory());
    snprintf(wrong, sizeof wrong, "%s/wrong.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    assert_ok(hd_npy_header("<f8", 3, dims, &header, &length));
    char *cube = malloc((size_t)length + sizeof numbers);
    memcpy(cube, header, (size_t)length);
    memcpy(cube + length, numbers, sizeof numbers);
    assert_ok(zip_open(path, &zip));
    for (int64_t k = 0; k < zip.count; k++) {
        const char *name = zip.entries[k].name;
        copy_archive(path, wrong, name, NULL, 0);
        assert_refused(huddle_model_load(wrong, &loaded), HUDDLE_FORMAT, name);
        copy_archive(path, wrong, name, "", 0);
        assert_refused(huddle_model_load(wrong, &loaded), HUDDLE_FORMAT, "wrong.huddle: ");
        copy_archive(path, wrong, name, cube, length + (int64_t)sizeof numbers);
        assert_refused(huddle_model_load(wrong, &loaded), HUDDLE_FORMAT, "wrong.huddle: ");
        if (strcmp(name, "model.json") == 0)
            continue;
        int64_t size;
        char *shorter = shorten_array(&zip, &zip.entries[k], &size);
        copy_archive(path, wrong, name, shorter, size);
        assert_refused(huddle_model_load(wrong, &loaded), HUDDLE_FORMAT, "wrong.huddle: ");
        free(shorter);
    }
    zip_close(&zip);
    free(cube);
    huddle_free(header);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- typed results ------------------------------------------------------------------------- */

/* What a loaded model reports is what the fitted one did. */
static void typed_results_survive_a_file(void **state) {
    (void)state;
    char path[256];
    huddle_points x = arcs(0.3, 2);
    huddle_model *model = fitted("ssc", &x), *loaded;
    snprintf(path, sizeof path, "%s/typed.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    const huddle_shrink_info *a = huddle_model_shrink_info(model),
                             *b = huddle_model_shrink_info(loaded);
    assert_memory_equal(&a->gamma, &b->gamma, sizeof a->gamma);
    assert_true(a->dual > 0);
    assert_memory_equal(&a->dual, &b->dual, sizeof a->dual);
    assert_string_equal(a->solver, b->solver);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->n_history, b->n_history);
    assert_memory_equal(a->history_dual, b->history_dual,
                        (size_t)a->n_history * sizeof *a->history_dual);
    assert_string_equal(huddle_model_knn_info(model)->solver,
                        huddle_model_knn_info(loaded)->solver);
    assert_int_equal(huddle_model_connect_info(model)->after,
                     huddle_model_connect_info(loaded)->after);
    assert_string_equal(huddle_model_embed_info(model)->verified,
                        huddle_model_embed_info(loaded)->verified);
    assert_int_equal(huddle_model_embed_info(model)->n_products,
                     huddle_model_embed_info(loaded)->n_products);
    const huddle_kmeans_info *k = huddle_model_kmeans_info(loaded);
    assert_int_equal(k->n_restarts, 5);
    assert_memory_equal(k->inertias, huddle_model_kmeans_info(model)->inertias,
                        5 * sizeof *k->inertias);
    assert_non_null(huddle_model_prepare_info(loaded));
    assert_null(huddle_model_rotation_info(loaded));
    assert_null(huddle_model_alternation_info(loaded));
    assert_null(huddle_model_choice(loaded));
    assert_null(huddle_model_scores(loaded));
    huddle_model_free(model);
    huddle_model_free(loaded);
    huddle_points_free(&x);
}

/* Scores computed before saving are results of the loaded model too, those that do not apply
 * included, and the info is the same. */
static void scores_survive_a_file(void **state) {
    (void)state;
    static const char *const methods[] = {"ssc", "kmeans"};
    char path[256], *before, *after;
    huddle_points x = arcs(0.03, 1);
    snprintf(path, sizeof path, "%s/scored.huddle", test_directory());
    for (size_t m = 0; m < 2; m++) {
        huddle_model *model = fitted(methods[m], &x), *loaded;
        assert_ok(huddle_model_score(NULL, model, &x));
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        const huddle_fit_scores *a = huddle_model_scores(model), *b = huddle_model_scores(loaded);
        assert_non_null(b);
        assert_memory_equal(&a->silhouette, &b->silhouette, sizeof a->silhouette);
        assert_memory_equal(&a->stability, &b->stability, sizeof a->stability);
        assert_int_equal(isnan(b->ncut), m == 1);
        if (m == 0)
            assert_memory_equal(&a->ncut, &b->ncut, sizeof a->ncut);
        assert_ok(huddle_model_info_json(model, &before));
        assert_ok(huddle_model_info_json(loaded, &after));
        const char *scores = strstr(before, "\"internal\""), *end = strchr(scores, '}');
        assert_non_null(strstr(after, "\"internal\""));
        assert_memory_equal(scores, strstr(after, "\"internal\""), (size_t)(end - scores));
        huddle_free(before);
        huddle_free(after);
        huddle_model_free(model);
        huddle_model_free(loaded);
    }
    huddle_points_free(&x);
}

/* Points of two clouds in twelve features, enough of them for prepare = auto to compare. */
static huddle_points wide_clouds(int64_t n) {
    huddle_points x;
    assert_ok(huddle_points_new(n, 12, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)i);
        for (int64_t j = 0; j < x.d; j++)
            x.values[i * x.stride + j] = (float)(hd_rng_normal(&rng) + (i % 2 == 0 ? 6 : 0));
    }
    return x;
}

/* What prepare = auto compared is in the file, not only in the info. */
static void prepare_trials_survive_a_file(void **state) {
    (void)state;
    char path[256];
    huddle_points x = wide_clouds(80);
    huddle_model *model, *loaded;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2-3"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    snprintf(path, sizeof path, "%s/trials.huddle", test_directory());
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    const hd_fit_prepare_trials *a = &model->fit.prepared.trials, *b = &loaded->fit.prepared.trials;
    assert_true(a->count > 3);
    assert_int_equal(a->count, b->count);
    for (int32_t k = 0; k < a->count; k++) {
        assert_string_equal(a->items[k].rule.name, b->items[k].rule.name);
        assert_int_equal(a->items[k].rule.r, b->items[k].rule.r);
        assert_memory_equal(&a->items[k].modularity, &b->items[k].modularity, sizeof(double));
        assert_int_equal(a->items[k].n, b->items[k].n);
    }
    assert_int_equal(b->n_clusters, 2);
    assert_memory_equal(a->clusters, b->clusters, 2 * sizeof *a->clusters);
    assert_memory_equal(&a->seconds, &b->seconds, sizeof a->seconds);
    huddle_model_free(model);
    huddle_model_free(loaded);
    huddle_points_free(&x);
}

/* A rotation has results of its own; a range has trials; no stage, no info. */
static void methods_report_what_they_did(void **state) {
    (void)state;
    huddle_points x = arcs(0.03, 1);
    huddle_model *model;
    int32_t count;
    assert_ok(huddle_model_new("ncut", &model));
    assert_null(huddle_model_kmeans_info(model)); /* not fitted */
    assert_ok(huddle_model_set_option(model, "n_clusters", "2-4"));
    assert_ok(huddle_model_set_option(model, "n_init", "4"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    const huddle_rotation_info *rotation = huddle_model_rotation_info(model);
    const huddle_alternation_info *turns = huddle_model_alternation_info(model);
    assert_null(huddle_model_kmeans_info(model));
    assert_int_equal(rotation->n_restarts, 4);
    assert_close(rotation->objective, rotation->objectives[rotation->best], 0);
    assert_close(rotation->objective, turns->objective[turns->n_history - 1], 0);
    assert_int_equal(rotation->n_iter, turns->n_iter);
    const huddle_trial *trials = huddle_model_trials(model, &count);
    assert_int_equal(count, 3);
    assert_int_equal(trials[1].n_clusters, 3);
    assert_close(trials[model->fit.clusters.n_clusters - 2].inertia, rotation->objective, 0);
    assert_ok(huddle_model_score(NULL, model, &x));
    assert_true(huddle_model_scores(model)->ncut >= 0);
    huddle_model_free(model);
    model = fitted("kmeans", &x);
    assert_null(huddle_model_knn_info(model));
    assert_null(huddle_model_embed_info(model));
    assert_null(huddle_model_shrink_info(model));
    assert_null(huddle_model_trials(model, &count));
    assert_int_equal(count, 0);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void lose_centre(hd_fit *fit) {
    huddle_free(fit->prepared.preparation.centre);
    fit->prepared.preparation.centre = NULL;
}

static void lose_scale(hd_fit *fit) {
    huddle_free(fit->graph.scale.local);
    fit->graph.scale.local = NULL;
}

static void lose_eigenvectors(hd_fit *fit) {
    huddle_dense_free(&fit->embedding.f.vectors);
}

static void lose_landmark_vectors(hd_fit *fit) {
    huddle_dense_free(&fit->embedding.landmark_map);
}

static void claim_more_clusters(hd_fit *fit) {
    fit->clusters.n_clusters = N + 1;
}

/* Rows of F without columns would be compared with centres that have some. */
static void lose_embedding(hd_fit *fit) {
    huddle_dense_free(&fit->embedding.f.rows);
}

static void narrow_centres(hd_fit *fit) {
    int64_t rows = fit->clusters.centres.rows;
    huddle_dense_free(&fit->clusters.centres);
    assert_ok(huddle_dense_new(rows, 1, &fit->clusters.centres));
}

static void claim_more_features(hd_fit *fit) {
    huddle_free(fit->prepared.shift);
    fit->prepared.shift = NULL;
    fit->d++;
}

static void claim_more_columns(hd_fit *fit) {
    fit->prepared.preparation.d_out++;
}

static void claim_another_best(hd_fit *fit) {
    fit->clusters.kmeans.best = -1;
}

static void claim_a_restart_too_many(hd_fit *fit) {
    fit->clusters.kmeans.best = fit->clusters.kmeans.n_restarts;
}

static void impossible_models_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *method, *prepare;
        void (*spoil)(hd_fit *fit);
        const char *message;
    } cases[] = {
        {"kmeans", "pca:1", lose_centre, "prepare_d_in = 2 does not agree with the rest of it"},
        {"sc", "none", lose_scale, "graph_scale_n = "},
        {"llc", "none", lose_eigenvectors, "embed_present = 1 does not agree"},
        {"lsc", "none", lose_landmark_vectors, "landmarks_n = "},
        {"ncut", "none", claim_more_clusters, "n_clusters = "},
        {"ncut", "none", lose_embedding, "embedding.npy, eigenvectors.npy, degrees.npy or"},
        {"kmeans", "none", narrow_centres, "columns of centres.npy = 1 does not agree"},
        {"kmeans", "none", claim_more_features, "prepare_d_in = 2 does not agree"},
        {"kmeans", "none", claim_more_columns, "prepare_d_in = 2 does not agree"},
        {"kmeans", "none", claim_another_best, "kmeans_best = -1 does not agree"},
        {"kmeans", "none", claim_a_restart_too_many, "kmeans_best = "},
    };
    char path[256];
    huddle_points x = arcs(0.03, 1);
    snprintf(path, sizeof path, "%s/impossible.huddle", test_directory());
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_model *model, *loaded;
        assert_ok(huddle_model_new(cases[k].method, &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        assert_ok(huddle_model_set_option(model, "prepare", cases[k].prepare));
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        /* The info is then that of the file, whatever becomes of the fit. */
        cases[k].spoil(&loaded->fit);
        assert_ok(huddle_model_save(loaded, path));
        huddle_model_free(loaded);
        assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, cases[k].message);
        assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, path);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_models_are_refused),
        cmocka_unit_test(models_of_other_versions_are_refused),
        cmocka_unit_test(files_without_later_options_are_read),
        cmocka_unit_test(models_with_wrong_entries_are_refused),
        cmocka_unit_test(typed_results_survive_a_file),
        cmocka_unit_test(scores_survive_a_file),
        cmocka_unit_test(prepare_trials_survive_a_file),
        cmocka_unit_test(methods_report_what_they_did),
        cmocka_unit_test(impossible_models_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
