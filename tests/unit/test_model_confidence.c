/* model: the confidence of labels and the silhouette of each row, beside sums over all pairs. */
#include "engines/team.h"
#include "model/model.h"
#include "unit/model_fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by hand -------------------------------------------------------------------------------- */

typedef struct numbers {
    int64_t n, d;
    double *values; /* n x d */
} numbers;

static numbers numbers_of(const huddle_array *view) {
    numbers to = {view->rows, view->cols, NULL};
    to.values = malloc((size_t)(to.n * to.d) * sizeof *to.values);
    for (int64_t i = 0; i < to.n; i++)
        for (int64_t j = 0; j < to.d; j++) {
            int64_t at = i * view->stride + j;
            to.values[i * to.d + j] = view->type == HUDDLE_ARRAY_F32
                                          ? (double)((const float *)view->values)[at]
                                          : ((const double *)view->values)[at];
        }
    return to;
}

static numbers numbers_in(const huddle_model *model, const char *name) {
    huddle_array view;
    assert_ok(huddle_model_array(model, name, &view));
    return numbers_of(&view);
}

static numbers numbers_from(const huddle_points *x) {
    huddle_array view = {HUDDLE_ARRAY_F32, x->n, x->d, x->stride, x->values, NULL, NULL};
    return numbers_of(&view);
}

static double distance(const numbers *rows, int64_t i, const double *to) {
    double square = 0;
    for (int64_t j = 0; j < rows->d; j++)
        square += pow(rows->values[i * rows->d + j] - to[j], 2);
    return sqrt(square);
}

static void mean_of(const numbers *rows, const int32_t *labels, int32_t cluster, double *mean) {
    int64_t count = 0;
    memset(mean, 0, (size_t)rows->d * sizeof *mean);
    for (int64_t i = 0; i < rows->n; i++)
        if (labels[i] == cluster) {
            count++;
            for (int64_t j = 0; j < rows->d; j++)
                mean[j] += rows->values[i * rows->d + j];
        }
    for (int64_t j = 0; j < rows->d; j++)
        mean[j] /= (double)count;
}

/* Returns how many are below 1: rows that all lie on their means would prove nothing. */
static int compare_confidence(const numbers *rows, const int32_t *labels, int32_t c,
                              const double *confidence) {
    int below = 0;
    double *means = malloc((size_t)(c * rows->d) * sizeof *means);
    for (int32_t k = 0; k < c; k++)
        mean_of(rows, labels, k, means + k * rows->d);
    for (int64_t i = 0; i < rows->n; i++) {
        double own = distance(rows, i, means + labels[i] * rows->d), other = INFINITY;
        for (int32_t k = 0; k < c; k++)
            if (k != labels[i])
                other = fmin(other, distance(rows, i, means + k * rows->d));
        assert_close(confidence[i], own < other ? (other - own) / other : 0,
                     1e-4); /* rows are rounded */
        assert_true(confidence[i] >= 0 && confidence[i] <= 1);
        below += confidence[i] < .99;
    }
    free(means);
    return below;
}

static void compare_silhouettes(const numbers *rows, const int32_t *labels, int32_t c,
                                const double *silhouettes) {
    double *sums = malloc((size_t)c * sizeof *sums);
    int64_t *sizes = malloc((size_t)c * sizeof *sizes);
    for (int64_t i = 0; i < rows->n; i++) {
        double b = INFINITY;
        memset(sums, 0, (size_t)c * sizeof *sums);
        memset(sizes, 0, (size_t)c * sizeof *sizes);
        for (int64_t j = 0; j < rows->n; j++) {
            sums[labels[j]] += distance(rows, i, rows->values + j * rows->d);
            sizes[labels[j]]++;
        }
        for (int32_t k = 0; k < c; k++)
            if (k != labels[i] && sizes[k] > 0)
                b = fmin(b, sums[k] / (double)sizes[k]);
        double a = sums[labels[i]] / (double)(sizes[labels[i]] - 1);
        assert_close(silhouettes[i], sizes[labels[i]] > 1 ? (b - a) / fmax(a, b) : 0, 1e-6);
    }
    free(sums);
    free(sizes);
}

static void check_model(const huddle_model *model, const huddle_points *x, const numbers *rows,
                        const numbers *points) {
    int64_t n;
    const int32_t *labels = huddle_model_labels(model, &n);
    int32_t c = model->fit.clusters.n_clusters;
    double *values = malloc((size_t)n * sizeof *values);
    assert_int_equal(n, rows->n);
    assert_ok(huddle_model_confidence(NULL, model, x, values));
    assert_true(compare_confidence(rows, labels, c, values) > 5);
    assert_ok(huddle_model_silhouettes(NULL, model, x, values));
    compare_silhouettes(points, labels, c, values);
    free(values);
}

/* ---- methods -------------------------------------------------------------------------------- */

/* Nine rows occur many times, so that equal rows are merged. */
static huddle_points arcs_with_copies(void) {
    huddle_points x = arcs(0.2, 4);
    for (int64_t i = 0; i < 120; i++)
        memcpy(x.values + 2 * i, x.values + 2 * (120 + i % 9), 2 * sizeof *x.values);
    return x;
}

static void rows_are_those_the_labels_come_from(void **state) {
    (void)state;
    static const struct {
        const char *method, *refine, *guard, *array;
        bool copies;
    } cases[] = {{"ssc", "none", "false", "shrunk", false},
                 {"ssc", "graph", "false", "shrunk", true},
                 {"sc", "none", NULL, "embedding", true},
                 {"sc", "graph", NULL, "embedding", false},
                 {"ncut", "graph", NULL, "embedding", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_points x = cases[k].copies ? arcs_with_copies() : arcs(0.25, 4);
        huddle_model *model;
        assert_ok(huddle_model_new(cases[k].method, &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
        assert_ok(huddle_model_set_option(model, "refine", cases[k].refine));
        if (cases[k].guard != NULL) {
            assert_ok(huddle_model_set_option(model, "guard", cases[k].guard));
            assert_ok(huddle_model_set_option(model, "gamma", "0.5"));
        }
        assert_ok(huddle_model_fit(NULL, model, &x));
        assert_int_equal(model->all_rows != NULL, cases[k].copies);
        numbers rows = numbers_in(model, cases[k].array), points = numbers_in(model, "points");
        check_model(model, NULL, &rows, &points);
        free(rows.values);
        free(points.values);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* kmeans keeps no points: they are given again. */
static void kmeans_needs_its_points(void **state) {
    (void)state;
    double values[N];
    huddle_points x = arcs_with_copies();
    huddle_model *model = fitted("kmeans", &x);
    numbers rows = numbers_from(&x);
    check_model(model, &x, &rows, &rows);
    assert_refused(huddle_model_confidence(NULL, model, NULL, values), HUDDLE_INVALID,
                   "does not keep the points");
    assert_refused(huddle_model_silhouettes(NULL, model, NULL, values), HUDDLE_INVALID,
                   "need the points");
    assert_refused(huddle_model_confidence(NULL, model, &x, NULL), HUDDLE_INVALID, "missing");
    x.n--;
    assert_refused(huddle_model_confidence(NULL, model, &x, values), HUDDLE_INVALID,
                   "299 points are not the 300");
    huddle_model_free(model);
    assert_ok(huddle_model_new("kmeans", &model));
    assert_refused(huddle_model_confidence(NULL, model, &x, values), HUDDLE_INVALID,
                   "not been fitted");
    huddle_model_free(model);
    free(rows.values);
    huddle_points_free(&x);
}

/* K-means is preferred to the graph: the prepared points count, not the embedding. */
static void tables_are_measured_in_prepared_points(void **state) {
    (void)state;
    huddle_points x;
    huddle_model *model;
    assert_ok(huddle_points_new(N, 6, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(4, (uint64_t)i);
        for (int64_t j = 0; j < 6; j++)
            x.values[i * 6 + j] = (float)((hd_rng_normal(&rng) + 3 * (double)(i % 3 == j % 3)) *
                                          pow(30, (double)(j % 3)));
    }
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_string_equal(model->fit.refined.from, "kmeans");
    numbers points = numbers_in(model, "points");
    check_model(model, NULL, &points, &points);
    free(points.values);
    huddle_model_free(model);
    huddle_points_free(&x);
}

static void one_cluster_is_certain(void **state) {
    (void)state;
    double values[N];
    huddle_points x = arcs(0.1, 4);
    huddle_model *model;
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "1"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_confidence(NULL, model, &x, values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] == 1);
    assert_ok(huddle_model_silhouettes(NULL, model, &x, values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] == 0);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The same bits for any number of threads, and after saving and loading. */
static void threads_and_files_change_nothing(void **state) {
    (void)state;
    static double one[2][N], many[2][N];
    char path[256];
    huddle_context *context;
    huddle_points x = arcs(0.2, 4);
    huddle_model *model = fitted("ssc", &x), *loaded;
    snprintf(path, sizeof path, "%s/confidence.huddle", test_directory());
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 5));
    assert_ok(huddle_model_confidence(NULL, model, NULL, one[0]));
    assert_ok(huddle_model_silhouettes(NULL, model, NULL, one[1]));
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_confidence(context, loaded, NULL, many[0]));
    assert_ok(huddle_model_silhouettes(context, loaded, NULL, many[1]));
    assert_memory_equal(one, many, sizeof one);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_context_free(context);
    huddle_points_free(&x);
}

/* ---- rows on several processes --------------------------------------------------------------- */

typedef struct division {
    const char *method;
    huddle_points x;
    int64_t begins[4];
    int32_t labels[N];
    double confidence[N], silhouettes[N];
    huddle_status alone[3];
} division;

static huddle_status fit_member(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    int64_t begin = all->begins[rank];
    huddle_points x = team_points(&all->x, all->begins, rank);
    huddle_model *model = NULL;
    huddle_status status = huddle_model_new(all->method, &model);
    if (status == HUDDLE_OK && strcmp(all->method, "kmeans") != 0)
        status = huddle_model_set_option(model, "n_neighbors", "10");
    if (status == HUDDLE_OK)
        status = huddle_model_fit(context, model, &x);
    if (status == HUDDLE_OK)
        status = huddle_model_confidence(context, model, &x, all->confidence + begin);
    if (status == HUDDLE_OK)
        status = huddle_model_silhouettes(context, model, &x, all->silhouettes + begin);
    if (status == HUDDLE_OK) {
        double values[N];
        memcpy(all->labels + begin, huddle_model_labels(model, NULL),
               (size_t)x.n * sizeof *all->labels);
        all->alone[rank] = huddle_model_confidence(NULL, model, &x, values);
    }
    huddle_model_free(model);
    return status;
}

static void three_members_measure_as_one(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "sc", "ssc"};
    static division all;
    static double values[N];
    for (int m = 0; m < 3; m++) {
        huddle_model *one;
        all = (division){.method = methods[m], .x = arcs(0.5, 4), .begins = {0, 100, 100, N}};
        assert_ok(team_run(3, &team_engine, fit_member, &all));
        assert_ok(huddle_model_new(methods[m], &one));
        if (strcmp(methods[m], "kmeans") != 0)
            assert_ok(huddle_model_set_option(one, "n_neighbors", "10"));
        assert_ok(huddle_model_fit(NULL, one, &all.x));
        assert_memory_equal(huddle_model_labels(one, NULL), all.labels, sizeof all.labels);
        assert_ok(huddle_model_confidence(NULL, one, &all.x, values));
        for (int i = 0; i < N; i++)
            assert_close(all.confidence[i], values[i], 1e-3); /* embeddings differ by as much */
        assert_ok(huddle_model_silhouettes(NULL, one, &all.x, values));
        for (int i = 0; i < N; i++)
            assert_close(all.silhouettes[i], values[i], 1e-6);
        for (int r = 0; r < 3; r++)
            assert_int_equal(all.alone[r], HUDDLE_UNSUPPORTED);
        huddle_model_free(one);
        huddle_points_free(&all.x);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

typedef struct measured {
    const huddle_model *model;
    double values[N];
} measured;

static huddle_status measure_all(void *argument) {
    measured *m = argument;
    huddle_status status = huddle_model_confidence(NULL, m->model, NULL, m->values);
    return status == HUDDLE_OK ? huddle_model_silhouettes(NULL, m->model, NULL, m->values) : status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static measured m;
    huddle_points x = arcs_with_copies();
    huddle_model *model = fitted("ssc", &x);
    m.model = model;
    test_each_allocation(measure_all, &m);
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_the_labels_come_from),
        cmocka_unit_test(kmeans_needs_its_points),
        cmocka_unit_test(tables_are_measured_in_prepared_points),
        cmocka_unit_test(one_cluster_is_certain),
        cmocka_unit_test(threads_and_files_change_nothing),
        cmocka_unit_test(three_members_measure_as_one),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
