/* model: new points in several views, files, and what is refused. */
#include "view_fits.h"

#include "base/rng.h"
#include "engines/team.h"
#include "huddle/huddle.h"
#include "steps/views.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- new points ---------------------------------------------------------------------------- */

static void training_points_keep_their_labels_and_rows(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc"}, *const refine[] = {"auto", "none"};
    huddle_points views[2];
    int32_t predicted[N];
    make_views(N, 11, views);
    for (int m = 0; m < 4; m++) {
        huddle_model *model = new_model(methods[m % 2], NULL);
        huddle_dense rows = {0};
        assert_ok(huddle_model_set_option(model, "refine", refine[m / 2]));
        assert_ok(huddle_model_set_option(model, "prepare", m == 0 ? "standard" : "unit"));
        assert_ok(huddle_model_fit_views(NULL, model, 2, views));
        assert_ok(huddle_model_predict_views(NULL, model, 2, views, predicted));
        assert_memory_equal(predicted, huddle_model_labels(model, NULL), sizeof predicted);
        assert_ok(huddle_model_transform_views(NULL, model, 2, views, &rows));
        const huddle_dense *f = &model->fit.embedding.f.rows;
        for (int64_t i = 0; i < N; i++)
            assert_memory_equal(rows.values + i * rows.stride, f->values + i * f->stride,
                                (size_t)f->cols * sizeof(double));
        huddle_dense_free(&rows);
        huddle_model_free(model);
    }
    free_views(views, 2);
}

/* New points find the clusters, each by itself, and a model from a file gives the same labels. */
static void new_points_are_labelled_one_by_one(void **state) {
    (void)state;
    enum { NEW = 80 };
    huddle_points views[2], new[2], one[2];
    int32_t predicted[NEW], again[NEW];
    huddle_model *loaded;
    make_views(N, 12, views);
    make_views(NEW, 77, new);
    huddle_model *model = fitted("ssc", NULL, views);
    assert_ok(huddle_model_predict_views(NULL, model, 2, new, predicted));
    for (int64_t i = 0; i < NEW; i++) {
        int32_t label;
        for (int v = 0; v < 2; v++)
            assert_ok(huddle_points_take(&new[v], &i, 1, &one[v]));
        assert_ok(huddle_model_predict_views(NULL, model, 2, one, &label));
        assert_int_equal(label, predicted[i]);
        free_views(one, 2);
    }
    assert_true(accuracy_of(NEW, predicted) > .8);
    const char *path = test_path_of("views.model");
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_int_equal(huddle_model_views(loaded), 2);
    assert_ok(huddle_model_predict_views(NULL, loaded, 2, new, again));
    assert_memory_equal(predicted, again, sizeof again);
    huddle_model_free(loaded);
    huddle_model_free(model);
    free_views(views, 2);
    free_views(new, 2);
}

/* The edges of new points are linear in the weights of the views, and a row of one view's edges
 * is w / sqrt(sum w) / sqrt(d_j). */
static void new_edges_are_those_of_the_mean(void **state) {
    (void)state;
    static const char *const weights[] = {"1,0", "0,1", "3,1"};
    huddle_points views[2], new[2];
    huddle_csr w[3];
    int64_t same[20];
    make_views(N, 13, views);
    make_views(20, 78, new);
    for (int k = 0; k < 3; k++) {
        huddle_model *model = fitted("sc", weights[k], views);
        huddle_knn_options knn = huddle_knn_defaults();
        assert_ok(hd_spectral_weigh_new_views(NULL, &model->fit, &knn, new, &w[k], same));
        const double *degrees = model->fit.views.items[0].degrees;
        double root = 0; /* sum of w_xj / sqrt(d_x), which is sqrt(d_x), squared below */
        for (int64_t e = w[k].offsets[0]; k == 0 && e < w[k].offsets[1]; e++)
            root += w[k].values[e] * sqrt(degrees[w[k].columns[e]]);
        const hd_fit_one_view *view = &model->fit.views.items[0];
        huddle_neighbors list;
        assert_ok(huddle_graph_query(NULL, &views[0], &new[0], &knn, &list, NULL));
        double degree = 0;
        for (int32_t j = 0; j < list.k; j++)
            degree += huddle_graph_weight(&view->graph.scale, list.index[j],
                                          list.distance[list.k - 1], list.distance[j]);
        if (k == 0)
            assert_close(root * root, degree, 1e-12);
        huddle_neighbors_free(&list);
        huddle_model_free(model);
    }
    for (int64_t i = 0; i < 20; i++) {
        assert_int_equal(same[i], -1);
        for (int64_t j = 0; j < N; j++)
            assert_close(entry(&w[2], i, j), .75 * entry(&w[0], i, j) + .25 * entry(&w[1], i, j),
                         1e-12);
    }
    for (int k = 0; k < 3; k++)
        huddle_csr_free(&w[k]);
    free_views(views, 2);
    free_views(new, 2);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void what_cannot_be_fitted_is_refused(void **state) {
    (void)state;
    huddle_points views[17], few[2];
    make_views(N, 14, views);
    make_views(N - 1, 14, few);
    for (int v = 2; v < 17; v++)
        views[v] = views[1];
    huddle_model *kmeans, *sc = new_model("sc", NULL);
    assert_ok(huddle_model_new("kmeans", &kmeans));
    assert_refused(huddle_model_fit_views(NULL, kmeans, 2, views), HUDDLE_UNSUPPORTED,
                   "method kmeans takes one view of the points, not 2; ");
    assert_refused(huddle_model_fit_views(NULL, sc, 17, views), HUDDLE_INVALID,
                   "17 views are more than 16");
    assert_refused(huddle_model_fit_views(NULL, sc, 0, views), HUDDLE_INVALID, "no points");
    huddle_points mixed[] = {views[0], few[1]};
    assert_refused(huddle_model_fit_views(NULL, sc, 2, mixed), HUDDLE_INVALID,
                   "view 2 has 239 rows, but the first has 240");
    float value = views[1].values[7];
    views[1].values[7] = NAN;
    assert_refused(huddle_model_fit_views(NULL, sc, 2, views), HUDDLE_INVALID, "view 2: ");
    views[1].values[7] = value;
    assert_ok(huddle_model_set_option(sc, "view_weights", "1,2,3"));
    assert_refused(huddle_model_fit_views(NULL, sc, 2, views), HUDDLE_INVALID,
                   "view_weights has 3 numbers for 2 views");
    assert_ok(huddle_model_set_option(sc, "view_weights", "0,0"));
    assert_refused(huddle_model_fit_views(NULL, sc, 2, views), HUDDLE_INVALID,
                   "view_weights = 0 for all 2 views");
    assert_refused(huddle_model_set_option(sc, "view_weights", "1,-2"), HUDDLE_INVALID,
                   "view_weights = 1,-2: expected one of auto|equal|numbers");
    assert_ok(huddle_model_set_option(sc, "view_weights", "auto"));
    assert_ok(huddle_model_set_option(sc, "affinity", "distances"));
    assert_refused(huddle_model_fit_views(NULL, sc, 2, views), HUDDLE_INVALID,
                   "affinity = distances takes one matrix");
    huddle_model_free(kmeans);
    huddle_model_free(sc);
    free_views(views, 2);
    free_views(few, 2);
}

static void a_graph_and_views_exclude_each_other(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 14, views);
    huddle_model *made = fitted("sc", NULL, views), *sc = new_model("sc", NULL);
    assert_ok(huddle_model_set_graph(sc, &made->fit.graph.matrix));
    assert_refused(huddle_model_fit_views(NULL, sc, 2, views), HUDDLE_UNSUPPORTED,
                   "several views and a given graph or embedding exclude each other");
    huddle_model_free(made);
    huddle_model_free(sc);
    free_views(views, 2);
}

static void new_points_must_have_the_views_of_the_fit(void **state) {
    (void)state;
    huddle_points views[2], few[2];
    int32_t labels[N];
    make_views(N, 15, views);
    make_views(N - 1, 15, few);
    huddle_model *model = fitted("sc", NULL, views);
    assert_refused(huddle_model_predict(NULL, model, views, labels), HUDDLE_INVALID,
                   "the model was fitted to 2 views of its points, but there is 1");
    huddle_points three[] = {views[0], views[1], views[1]};
    assert_refused(huddle_model_predict_views(NULL, model, 3, three, labels), HUDDLE_INVALID,
                   "the model was fitted to 2 views of its points, but there are 3");
    huddle_points swapped[] = {views[0], views[0]}, mixed[] = {views[0], few[1]};
    huddle_points first[] = {views[1], views[1]};
    assert_refused(huddle_model_predict_views(NULL, model, 2, first, labels), HUDDLE_INVALID,
                   "view 1: there are 6 features, the model was fitted to 4");
    assert_refused(huddle_model_predict_views(NULL, model, 2, swapped, labels), HUDDLE_INVALID,
                   "view 2: there are 4 features, the model was fitted to 6");
    assert_refused(huddle_model_predict_views(NULL, model, 2, mixed, labels), HUDDLE_INVALID,
                   "view 2: there are 239 rows, but 240 in the first");
    huddle_model_free(model);
    free_views(views, 2);
    free_views(few, 2);
}

/* Two processes with all rows of both views, which the engine would take for different rows. */
typedef struct views_job {
    const huddle_model *model;
    const huddle_points *views;
    int32_t labels[2][N];
} views_job;

static huddle_status predict_member(huddle_context *context, int rank, void *argument) {
    views_job *job = argument;
    return huddle_model_predict_views(context, job->model, 2, job->views, job->labels[rank]);
}

static void several_processes_do_not_predict_views(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 15, views);
    huddle_model *model = fitted("sc", NULL, views);
    views_job job = {.model = model, .views = views};
    assert_refused(team_run(2, &team_engine, predict_member, &job), HUDDLE_UNSUPPORTED,
                   "labelling points in several views needs all rows on one process");
    huddle_model_free(model);
    free_views(views, 2);
}

/* A crafted file must not lead out of the arrays. */
static void damaged_views_are_refused(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 16, views);
    huddle_model *model = fitted("sc", NULL, views);
    hd_fit *fit = &model->fit;
    hd_fit_one_view *view = &fit->views.items[1];
    double *degrees = view->degrees, degree = degrees[3], weight = view->weight;
    assert_ok(hd_fit_check(fit));
    view->degrees = NULL;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "view_degrees");
    view->degrees = degrees;
    degrees[3] = NAN;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "view_degrees");
    degrees[3] = degree;
    view->weight = 2;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "view_weight");
    view->weight = weight;
    view->d++;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "d");
    view->d--;
    view->prepared.points.n--;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "points_n");
    view->prepared.points.n++;
    huddle_scale scale = view->graph.scale;
    view->graph.scale = (huddle_scale){0};
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "view_graph_scale_rule = 2");
    view->graph.scale = scale;
    assert_null(view->graph.matrix.offsets);
    assert_ok(huddle_csr_new(N, N, 1, &view->graph.matrix));
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "view_graph = 2");
    huddle_csr_free(&view->graph.matrix);
    fit->views.count = 1;
    assert_refused(hd_fit_check(fit), HUDDLE_FORMAT, "views");
    fit->views.count = 2;
    assert_ok(hd_fit_check(fit));
    huddle_model_free(model);
    free_views(views, 2);
}

/* ---- sparse and dense, shifts -------------------------------------------------------------- */

/* The first view as a sparse matrix and with a large mean: the same labels. */
static void views_may_be_sparse_or_shifted(void **state) {
    (void)state;
    huddle_points views[2], other[2];
    double values[N * D1];
    int32_t predicted[N];
    make_views(N, 17, views);
    huddle_model *dense = fitted("sc", NULL, views);
    assert_ok(huddle_points_new_sparse(N, D0, N * D0, &other[0]));
    for (int64_t e = 0; e < N * D0; e++) {
        other[0].offsets[e / D0 + 1] = e / D0 * D0 + D0;
        other[0].columns[e] = (int32_t)(e % D0);
        other[0].values[e] = views[0].values[e];
    }
    for (int64_t e = 0; e < N * D1; e++)
        values[e] = (double)views[1].values[e] + 1e6;
    assert_ok(huddle_points_from_double(NULL, N, D1, values, D1, 1, &other[1]));
    assert_non_null(other[1].shift);
    huddle_model *model = fitted("sc", NULL, other);
    assert_memory_equal(huddle_model_labels(model, NULL), huddle_model_labels(dense, NULL),
                        sizeof predicted);
    assert_ok(huddle_model_predict_views(NULL, model, 2, other, predicted));
    assert_memory_equal(huddle_model_labels(model, NULL), predicted, sizeof predicted);
    int64_t d = 0;
    assert_null(huddle_model_view_shift(model, 0, &d));
    assert_non_null(huddle_model_view_shift(model, 1, &d));
    assert_int_equal(d, D1);
    assert_null(huddle_model_view_shift(model, 2, &d));
    assert_int_equal(d, 0);
    huddle_model_free(dense);
    huddle_model_free(model);
    free_views(views, 2);
    free_views(other, 2);
}

static huddle_status fit_and_predict(void *argument) {
    huddle_points *views = argument;
    int32_t labels[24];
    huddle_model *model = NULL;
    huddle_context *context = NULL;
    huddle_status status = huddle_context_new(&context);
    if (status == HUDDLE_OK)
        status = huddle_context_set_threads(context, 1);
    if (status == HUDDLE_OK)
        status = huddle_model_new("sc", &model);
    if (status == HUDDLE_OK)
        status = huddle_model_set_option(model, "n_clusters", "2");
    if (status == HUDDLE_OK)
        status = huddle_model_set_option(model, "prepare", "unit");
    if (status == HUDDLE_OK)
        status = huddle_model_fit_views(context, model, 2, views);
    if (status == HUDDLE_OK)
        status = huddle_model_predict_views(context, model, 2, views, labels);
    huddle_model_free(model);
    huddle_context_free(context);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points views[2], copies[2];
    make_views(N, 18, views);
    for (int v = 0; v < 2; v++)
        copies[v] = repeated(&views[v], 8, 24);
    test_each_allocation(fit_and_predict, copies);
    free_views(views, 2);
    free_views(copies, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_points_keep_their_labels_and_rows),
        cmocka_unit_test(new_points_are_labelled_one_by_one),
        cmocka_unit_test(new_edges_are_those_of_the_mean),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(a_graph_and_views_exclude_each_other),
        cmocka_unit_test(new_points_must_have_the_views_of_the_fit),
        cmocka_unit_test(several_processes_do_not_predict_views),
        cmocka_unit_test(damaged_views_are_refused),
        cmocka_unit_test(views_may_be_sparse_or_shifted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
