/* model: files of models whose rows are distributed over processes (team.h). A file is that of one
 * process, whoever saves it; a process that loads it has its share of the rows only, and predicts
 * as one that has them all. */
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/team.h"
#include "model/model.h"
#include "support/support.h"
#include "unit/zip_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 220, D = 5, PIECE = 700 };

/* Where the slabs of fitted and of new points begin. */
static const struct {
    int size;
    int64_t first[TEAM_MAX + 1];
} layouts[] = {{1, {0, N}}, {2, {0, 150, N}}, {3, {0, 0, 100, N}}, {4, {0, 3, 120, N, N}}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* What is saved: methods with and without graphs, G, trials and scales of single points. Two cases
 * are loaded by processes but not fitted: spectral methods refuse sparse points of several
 * processes, and with a small gamma, which leaves many groups, the solver of one process records no
 * history while theirs does. */
static const struct {
    const char *method;
    const char *options[8];
    bool sparse, only_loaded;
} cases[] = {{"ssc", {"n_clusters", "3", "refine", "none"}, false, false},
             {"ssc", {"n_clusters", "3", "scale", "selftune"}, false, false},
             {"ssc", {"n_clusters", "3", "refine", "none", "gamma", "1e-7"}, false, true},
             {"sc", {"n_clusters", "2-4", "prepare", "none", "n_neighbors", "20"}, true, true},
             {"sc", {"n_clusters", "2-4", "prepare", "none"}, false, false},
             {"kmeans", {"n_clusters", "3"}, false, false}};
enum { CASES = sizeof cases / sizeof *cases };

static float coordinate(uint64_t seed, int64_t i, int64_t j) {
    hd_rng rng = hd_rng_stream(seed, (uint64_t)(i * D + j));
    return (float)(4 * cos((double)(5 * (i % 3) + j)) + hd_rng_normal(&rng));
}

/* Three clouds; sparse ones have no entry in every seventh place. */
static huddle_status make_clouds(uint64_t seed, int64_t begin, int64_t end, bool sparse,
                                 huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    int64_t n = end - begin, count = 0;
    if (sparse)
        TRY(huddle_points_new_sparse(n, D, n * D, x));
    else
        TRY(huddle_points_new(n, D, x));
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < D; j++) {
            if (sparse && (i * D + j) % 7 == 0)
                continue;
            if (sparse)
                x->columns[count] = (int32_t)j;
            x->values[count++] = coordinate(seed, i, j);
        }
        if (sparse)
            x->offsets[i - begin + 1] = count;
    }
done:
    return status;
}

static huddle_points clouds(uint64_t seed, int64_t n, bool sparse) {
    huddle_points x;
    assert_ok(make_clouds(seed, 0, n, sparse, &x));
    return x;
}

static huddle_status make_model(int k, huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_model_new(cases[k].method, model));
    for (int o = 0; o < 8 && cases[k].options[o] != NULL; o += 2)
        TRY(huddle_model_set_option(*model, cases[k].options[o], cases[k].options[o + 1]));
done:
    return status;
}

/* Fits on one process, saves, and labels N new points. */
static huddle_model *fit_one(int k, const char *path, int32_t *predicted) {
    huddle_model *model = NULL;
    huddle_points x = clouds(1, N, cases[k].sparse), y = clouds(2, N, cases[k].sparse);
    assert_ok(make_model(k, &model));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_predict(NULL, model, &y, predicted));
    huddle_points_free(&x);
    huddle_points_free(&y);
    return model;
}

/* ---- load, predict, save again --------------------------------------------------------------- */

enum { MOST_MEDOIDS = 16 };

typedef struct job {
    int k, layout;
    const char *from, *to; /* the file that is loaded, and the one that is written; or NULL */
    const char *alone_path;
    int64_t n[TEAM_MAX]; /* rows of the members */
    int64_t medoids[TEAM_MAX][MOST_MEDOIDS];
    int32_t predicted[N];
    huddle_status alone[TEAM_MAX]; /* of saving without the others */
} job;

static huddle_status load_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    job *t = argument;
    huddle_model *model = NULL;
    huddle_points y = {0};
    int64_t begin = layouts[t->layout].first[rank], end = layouts[t->layout].first[rank + 1];
    TRY(huddle_model_load_distributed(context, t->from, &model));
    (void)huddle_model_labels(model, &t->n[rank]);
    for (int64_t k = 0; k < model->fit.clusters.centres.rows && k < MOST_MEDOIDS; k++)
        t->medoids[rank][k] = model->fit.clusters.medoids[k];
    TRY(make_clouds(2, begin, end, cases[t->k].sparse, &y));
    TRY(huddle_model_predict(context, model, &y, t->predicted + begin));
    if (t->to != NULL) {
        t->alone[rank] = huddle_model_save(model, t->alone_path);
        TRY(hd_model_save_pieces(context, model, t->to, PIECE));
    }
done:
    huddle_points_free(&y);
    huddle_model_free(model);
    return status;
}

/* A member has the medoids among its own rows, numbered from its first. */
static void assert_medoids(const hd_fit_clusters *one, const int64_t *medoids, int64_t first,
                           int64_t n) {
    assert_in_range(one->centres.rows, 1, MOST_MEDOIDS);
    for (int64_t k = 0; k < one->centres.rows; k++) {
        int64_t row = one->medoids[k] - first;
        assert_int_equal(medoids[k], row >= 0 && row < n ? row : -1);
    }
}

/* Bytes, not only values: the processes write the same file that they have read. */
static void files_pass_through_processes_unchanged(void **state) {
    (void)state;
    const char *one = test_path_of("one.huddle"), *copy = test_path_of("copy.huddle");
    const char *alone = test_path_of("alone.huddle");
    for (int k = 0; k < CASES; k++) {
        int32_t predicted[N];
        huddle_model *model = fit_one(k, one, predicted);
        int64_t size, again;
        char *expected = test_read_file(one, &size);
        assert_int_equal(model->fit.rows.nodes.n, 0);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            int members = layouts[layout].size;
            job t = {.k = k, .layout = layout, .from = one, .to = copy, .alone_path = alone};
            assert_ok(team_run(members, &team_engine, load_member, &t));
            for (int r = 0; r < members; r++) {
                assert_int_equal(t.n[r], N * (r + 1) / members - N * r / members);
                assert_medoids(&model->fit.clusters, t.medoids[r], N * r / members, t.n[r]);
                assert_int_equal(t.alone[r], members > 1 ? HUDDLE_UNSUPPORTED : HUDDLE_OK);
            }
            assert_memory_equal(t.predicted, predicted, sizeof predicted);
            char *bytes = test_read_file(copy, &again);
            assert_int_equal(again, size);
            assert_memory_equal(bytes, expected, (size_t)size);
            free(bytes);
        }
        free(expected);
        huddle_model_free(model);
    }
}

/* Without processes it is huddle_model_load(). */
static void one_process_loads_all_rows(void **state) {
    (void)state;
    const char *one = test_path_of("one.huddle");
    int32_t predicted[N];
    huddle_model *model = fit_one(0, one, predicted), *loaded = NULL;
    huddle_context *context;
    int64_t n;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_model_load_distributed(context, one, &loaded));
    assert_memory_equal(huddle_model_labels(loaded, &n), huddle_model_labels(model, NULL),
                        N * sizeof(int32_t));
    assert_int_equal(n, N);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_context_free(context);
}

/* Fewer rows than processes: some have none of the model's. */
static void processes_without_training_rows_predict(void **state) {
    (void)state;
    const char *one = test_path_of("few.huddle");
    huddle_points x = clouds(1, 3, false), y = clouds(2, N, false);
    int32_t predicted[N];
    huddle_model *model;
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_save(model, one));
    assert_ok(huddle_model_predict(NULL, model, &y, predicted));
    for (int layout = 0; layout < LAYOUTS; layout++) {
        job t = {.layout = layout, .from = one};
        assert_ok(team_run(layouts[layout].size, &team_engine, load_member, &t));
        assert_memory_equal(t.predicted, predicted, sizeof predicted);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* Merged rows and methods that need all rows: every process has the whole model. */
static void other_models_are_loaded_whole(void **state) {
    (void)state;
    const char *one = test_path_of("whole.huddle");
    for (int k = 0; k < 2; k++) {
        huddle_points x = clouds(1, N, false), y = clouds(2, N, false);
        int32_t predicted[N];
        huddle_model *model;
        for (int64_t e = 0; k == 0 && e < 60 * D; e++)
            x.values[e] = x.values[e % (3 * D)]; /* twenty copies of three rows */
        assert_ok(huddle_model_new(k == 0 ? "sc" : "lsc", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_int_equal(model->fit.rows.nodes.n, k == 0 ? N : 0);
        assert_ok(huddle_model_save(model, one));
        assert_ok(huddle_model_predict(NULL, model, &y, predicted));
        job t = {.layout = 3, .from = one};
        assert_ok(team_run(4, &team_engine, load_member, &t));
        for (int r = 0; r < 4; r++)
            assert_int_equal(t.n[r], N);
        assert_memory_equal(t.predicted, predicted, sizeof predicted);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* ---- fit, save ------------------------------------------------------------------------------- */

typedef struct fit_job {
    int k, layout;
    const char *path;
    int32_t labels[N];
    float points[N * D];
    int64_t entries; /* of the graphs of all */
} fit_job;

static huddle_status fit_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    fit_job *t = argument;
    int64_t first = layouts[t->layout].first[rank];
    huddle_model *model = NULL;
    huddle_points x = {0};
    TRY(make_clouds(1, first, layouts[t->layout].first[rank + 1], cases[t->k].sparse, &x));
    TRY(make_model(t->k, &model));
    TRY(huddle_model_fit(context, model, &x));
    memcpy(t->labels + first, huddle_model_labels(model, NULL), (size_t)x.n * sizeof *t->labels);
    const huddle_points *points = &model->fit.prepared.points;
    for (int64_t i = 0; points->values != NULL && points->offsets == NULL && i < x.n; i++)
        memcpy(t->points + (first + i) * D, points->values + i * points->stride,
               (size_t)points->d * sizeof *t->points);
    int64_t entries = model->fit.graph.matrix.offsets != NULL
                          ? model->fit.graph.matrix.offsets[model->fit.graph.matrix.rows]
                          : 0;
    TRY(hd_reduce_count(context, &entries));
    if (rank == 0)
        t->entries = entries;
    TRY(hd_model_save_pieces(context, model, t->path, PIECE));
done:
    huddle_points_free(&x);
    huddle_model_free(model);
    return status;
}

static void compare_csr(const huddle_csr *a, const huddle_csr *b) {
    assert_int_equal(a->offsets != NULL, b->offsets != NULL);
    if (a->offsets == NULL)
        return;
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    assert_memory_equal(a->columns, b->columns, (size_t)a->offsets[a->rows] * sizeof *a->columns);
    for (int64_t e = 0; e < a->offsets[a->rows]; e++)
        assert_close(a->values[e], b->values[e], 1e-9);
}

/* The number that follows "NAME": in an info, or -1. */
static double number_of(const huddle_model *model, const char *name) {
    char *info, key[64];
    assert_ok(huddle_model_info_json(model, &info));
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(info, key);
    double number = at != NULL ? strtod(at + strlen(key), NULL) : -1;
    huddle_free(info);
    return number;
}

/* Arrays of the file against those that the members had, and against those of one process. */
static void compare_file(const fit_job *t, const huddle_model *one) {
    huddle_model *loaded;
    int64_t n;
    assert_ok(huddle_model_load(t->path, &loaded));
    const hd_fit *a = &loaded->fit, *b = &one->fit;
    assert_memory_equal(huddle_model_labels(loaded, &n), t->labels, sizeof t->labels);
    assert_int_equal(n, N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            assert_int_equal(a->clusters.labels[i] == a->clusters.labels[j],
                             b->clusters.labels[i] == b->clusters.labels[j]);
    const huddle_points *p = &a->prepared.points, *q = &b->prepared.points;
    assert_int_equal(p->n, q->n);
    assert_int_equal(p->offsets != NULL, q->offsets != NULL);
    int64_t count = p->offsets != NULL ? p->offsets[p->n] : p->n * p->d;
    for (int64_t e = 0; q->values != NULL && e < count; e++)
        assert_close(p->values[e], q->values[e], 1e-6);
    for (int64_t i = 0; q->values != NULL && p->offsets == NULL && i < N; i++)
        assert_memory_equal(p->values + i * p->d, t->points + i * D,
                            (size_t)p->d * sizeof *p->values);
    compare_csr(&a->graph.matrix, &b->graph.matrix);
    assert_int_equal(a->graph.scale.n, b->graph.scale.n);
    for (int64_t i = 0; i < N && b->embedding.f.degrees != NULL; i++)
        assert_close(a->embedding.f.degrees[i], b->embedding.f.degrees[i], 1e-9);
    assert_int_equal(a->shrunk.g.g.rows, b->shrunk.g.g.rows);
    assert_int_equal(a->shrunk.g.g.cols, b->shrunk.g.g.cols);
    /* Medoids are rows of their clusters, and the info counts all edges. */
    for (int64_t c = 0; c < a->clusters.centres.rows; c++)
        assert_true(a->clusters.medoids[c] >= 0 &&
                    a->clusters.labels[a->clusters.medoids[c]] == (int32_t)c);
    assert_true(number_of(loaded, "edges") == number_of(one, "edges"));
    assert_true(number_of(loaded, "n") == N);
    if (t->entries > 0)
        assert_int_equal(a->graph.matrix.offsets[N], t->entries);
    huddle_model_free(loaded);
}

static void fits_of_processes_are_saved_as_one(void **state) {
    (void)state;
    const char *one = test_path_of("one.huddle"), *copy = test_path_of("copy.huddle");
    for (int k = 0; k < CASES; k++) {
        if (cases[k].only_loaded)
            continue;
        int32_t predicted[N];
        huddle_model *model = fit_one(k, one, predicted);
        hd_zip expected, found;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            fit_job *t = calloc(1, sizeof *t);
            *t = (fit_job){.k = k, .layout = layout, .path = copy};
            assert_ok(team_run(layouts[layout].size, &team_engine, fit_member, t));
            compare_file(t, model);
            assert_ok(zip_open(one, &expected));
            assert_ok(zip_open(copy, &found));
            assert_int_equal(found.count, expected.count);
            for (int64_t e = 0; e < found.count; e++)
                assert_string_equal(found.entries[e].name, expected.entries[e].name);
            zip_close(&expected);
            zip_close(&found);
            free(t);
        }
        huddle_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_pass_through_processes_unchanged),
        cmocka_unit_test(one_process_loads_all_rows),
        cmocka_unit_test(processes_without_training_rows_predict),
        cmocka_unit_test(other_models_are_loaded_whole),
        cmocka_unit_test(fits_of_processes_are_saved_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
