/* model: several views of the same points. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "matrix/points.h"
#include "model/model.h"
#include "steps/views.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 240, C = 4, D0 = 4, D1 = 6 };

/* Clusters i % 4 at the corners of a square, which overlap in each view, but not at the same points.
 */
static void make_views(int64_t n, uint64_t seed, huddle_points views[2]) {
    static const int64_t d[] = {D0, D1};
    for (int v = 0; v < 2; v++) {
        assert_ok(huddle_points_new(n, d[v], &views[v]));
        for (int64_t i = 0; i < n; i++) {
            hd_rng rng = hd_rng_stream(seed + (uint64_t)v, (uint64_t)i);
            for (int64_t j = 0; j < d[v]; j++)
                views[v].values[i * d[v] + j] =
                    (float)((j < 2 ? 3.2 * (double)(i % C >> j & 1) : 0) + hd_rng_normal(&rng));
        }
    }
}

static void free_views(huddle_points *views, int count) {
    for (int v = 0; v < count; v++)
        huddle_points_free(&views[v]);
}

static huddle_model *new_model(const char *method, const char *weights) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "n_init", "5"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    if (weights != NULL)
        assert_ok(huddle_model_set_option(model, "view_weights", weights));
    return model;
}

static huddle_model *fitted(const char *method, const char *weights, const huddle_points *views) {
    huddle_model *model = new_model(method, weights);
    assert_ok(huddle_model_fit_views(NULL, model, 2, views));
    return model;
}

static double entry(const huddle_csr *m, int64_t i, int64_t j) {
    for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        if (m->columns[e] == j)
            return m->values[e];
    return 0;
}

/* A / sqrt(d_i d_j), d divided by the copies, dense. */
static double *normalised(const hd_fit *fit) {
    int64_t n = fit->rows.n;
    double *dense = calloc((size_t)(n * n), sizeof *dense), *degree = calloc((size_t)n, sizeof *degree);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            degree[i] += entry(&fit->graph.matrix, i, j) / (double)hd_fit_rows_copies(&fit->rows, i);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            dense[i * n + j] = entry(&fit->graph.matrix, i, j) / sqrt(degree[i] * degree[j]);
    free(degree);
    return dense;
}

/* ---- the graph ----------------------------------------------------------------------------- */

/* Both views alone, and together with weights 3 and 1. */
static void compare_mean(const huddle_points *views, int64_t vertices) {
    huddle_model *both = fitted("sc", "3,1", views), *alone[2];
    double *parts[2];
    const hd_fit *fit = &both->fit;
    assert_int_equal(fit->rows.n, vertices);
    for (int v = 0; v < 2; v++) {
        alone[v] = new_model("sc", NULL);
        assert_ok(huddle_model_fit(NULL, alone[v], &views[v]));
        assert_int_equal(alone[v]->fit.rows.n, vertices);
        assert_int_equal(alone[v]->fit.graph.connect.bridges, 0);
        parts[v] = normalised(&alone[v]->fit);
    }
    for (int64_t i = 0; i < vertices; i++)
        for (int64_t j = 0; j < vertices; j++) {
            double expected = .75 * parts[0][i * vertices + j] + .25 * parts[1][i * vertices + j];
            assert_close(entry(&fit->graph.matrix, i, j), expected, 1e-12);
            assert_true(entry(&fit->graph.matrix, i, j) == entry(&fit->graph.matrix, j, i));
        }
    for (int v = 0; v < 2; v++) {
        free(parts[v]);
        huddle_model_free(alone[v]);
    }
    huddle_model_free(both);
}

static void the_graph_is_the_mean_of_the_normalised_graphs(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 1, views);
    compare_mean(views, N);
    free_views(views, 2);
}

/* Row i of n is row i % distinct. */
static huddle_points repeated(const huddle_points *x, int64_t distinct, int64_t n) {
    huddle_points y;
    int64_t *index = malloc((size_t)n * sizeof *index);
    for (int64_t i = 0; i < n; i++)
        index[i] = i % distinct;
    assert_ok(huddle_points_take(x, index, n, &y));
    free(index);
    return y;
}

static void rows_that_are_equal_in_all_views_are_merged(void **state) {
    (void)state;
    huddle_points views[2], copies[2];
    make_views(N, 2, views);
    for (int v = 0; v < 2; v++)
        copies[v] = repeated(&views[v], 100, 780); /* 7 or 8 times each */
    compare_mean(copies, 100);
    huddle_model *model = fitted("ssc", NULL, copies);
    const int32_t *labels = huddle_model_labels(model, NULL);
    for (int64_t i = 100; i < 780; i++)
        assert_int_equal(labels[i], labels[i % 100]);
    int32_t predicted[780];
    assert_ok(huddle_model_predict_views(NULL, model, 2, copies, predicted));
    assert_memory_equal(predicted, labels, sizeof predicted);
    huddle_model_free(model);
    free_views(views, 2);
    free_views(copies, 2);
}

/* The second view has three different rows only, the first 60: 60 in all. */
static void rows_that_are_equal_in_one_view_are_not(void **state) {
    (void)state;
    huddle_points views[2], copies[2];
    make_views(N, 3, views);
    copies[0] = repeated(&views[0], N, N);
    copies[1] = repeated(&views[1], 3, N);
    huddle_model *model = fitted("sc", "equal", copies);
    assert_int_equal(model->fit.rows.n, N);
    assert_int_equal(model->fit.rows.nodes.n, 0);
    int32_t predicted[N];
    assert_ok(huddle_model_predict_views(NULL, model, 2, copies, predicted));
    assert_memory_equal(predicted, huddle_model_labels(model, NULL), sizeof predicted);
    huddle_model_free(model);
    free_views(views, 2);
    free_views(copies, 2);
}

/* The first view consists of two far parts and the second of two others: together they are joined.
 */
static void bridges_are_added_where_the_views_together_need_them(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 4, views);
    for (int v = 0; v < 2; v++)
        for (int64_t i = 0; i < N; i++)
            views[v].values[i * views[v].d] =
                (float)(100 * (v == 0 ? i % C / 2 : i % 2)) + views[v].values[i * views[v].d + 1];
    huddle_model *model = new_model("sc", "equal");
    assert_ok(huddle_model_set_option(model, "n_clusters", "1"));
    assert_ok(huddle_model_fit_views(NULL, model, 2, views));
    assert_int_equal(model->fit.graph.connect.bridges, 0);
    assert_int_equal(model->fit.graph.connect.before, 1);
    assert_int_equal(model->fit.graph.connect.after, 1);
    for (int64_t i = 0; i < N * D1; i += D1) /* now as the first */
        views[1].values[i] = 100 * (float)(i / D1 % C / 2);
    assert_ok(huddle_model_fit_views(NULL, model, 2, views));
    assert_int_equal(model->fit.graph.connect.before, 2);
    assert_int_equal(model->fit.graph.connect.bridges, 2);
    assert_int_equal(model->fit.graph.connect.after, 1);
    huddle_model_free(model);
    free_views(views, 2);
}

/* ---- weights ------------------------------------------------------------------------------- */

static void check_weights(const char *text, double first) {
    huddle_points views[2];
    make_views(N, 1, views);
    huddle_model *model = fitted("sc", text, views);
    const hd_fit_one_view *items = model->fit.views.items;
    assert_close(items[0].weight + items[1].weight, 1, 1e-14);
    if (first >= 0) {
        assert_close(items[0].weight, first, 1e-14);
        assert_true(isnan(items[0].score) && isnan(items[1].score));
    } else {
        double ratio = pow(items[0].score / items[1].score, 4);
        assert_true(items[0].score > 0 && items[1].score > 0);
        assert_close(items[0].weight / items[1].weight, ratio, 1e-12);
    }
    huddle_model_free(model);
    free_views(views, 2);
}

static void weights_are_given_equal_or_by_scores(void **state) {
    (void)state;
    check_weights("equal", .5);
    check_weights("1,4", .2);
    check_weights("0,1", 0);
    check_weights("auto", -1);
}

/* The divergence of the clusters that merging and moves find in the view's own graph. */
static void scores_are_those_of_the_view_alone(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 5, views);
    huddle_model *model = fitted("sc", "auto", views);
    for (int v = 0; v < 2; v++) {
        huddle_model *alone = new_model("sc", NULL);
        huddle_refine_options options = huddle_refine_defaults();
        huddle_refine_tree tree = {0};
        huddle_refine_info info;
        int32_t labels[N];
        double best = -INFINITY;
        assert_ok(huddle_model_fit(NULL, alone, &views[v]));
        assert_ok(huddle_refine_merge(NULL, &alone->fit.graph.matrix, &tree));
        assert_ok(huddle_refine_cut_tree(&tree, C, labels));
        huddle_refine_start start = {"merged", labels};
        options.n_clusters = C;
        assert_ok(huddle_refine_with_tree(NULL, &alone->fit.graph.matrix, &tree, 1, &start,
                                          &options, labels, &info));
        for (int32_t k = 0; k < info.n_trials; k++)
            best = fmax(best, info.trials[k].scores.divergence);
        assert_close(model->fit.views.items[v].score, best, 1e-12);
        huddle_refine_tree_free(&tree);
        huddle_model_free(alone);
    }
    huddle_model_free(model);
    free_views(views, 2);
}

/* Also where the number of clusters is a range or is chosen. */
static void a_view_of_noise_counts_little(void **state) {
    (void)state;
    static const char *const numbers[] = {"4", "3-9", "auto"};
    huddle_points views[2];
    make_views(N, 6, views);
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(99, (uint64_t)i);
        views[0].values[i * D0 + 1] = 8 * (float)(i % C);
        for (int64_t j = 0; j < D1; j++)
            views[1].values[i * D1 + j] = (float)hd_rng_normal(&rng);
    }
    for (int k = 0; k < 3; k++) {
        huddle_model *model = new_model("sc", NULL);
        assert_ok(huddle_model_set_option(model, "n_clusters", numbers[k]));
        assert_ok(huddle_model_fit_views(NULL, model, 2, views));
        assert_true(model->fit.views.items[0].weight > .6);
        huddle_model_free(model);
    }
    free_views(views, 2);
}

/* ---- labels -------------------------------------------------------------------------------- */

static double accuracy_of(int64_t n, const int32_t *labels) {
    huddle_scores scores;
    int32_t truth[N];
    for (int i = 0; i < n; i++)
        truth[i] = i % C;
    assert_ok(huddle_metrics_scores(NULL, n, truth, labels, &scores));
    return scores.acc;
}

static double accuracy(const huddle_model *model) {
    return accuracy_of(N, huddle_model_labels(model, NULL));
}

/* No view alone tells all four apart. */
static void views_together_are_better_than_each(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc"};
    huddle_points views[2];
    make_views(N, 7, views);
    for (int m = 0; m < 2; m++) {
        huddle_model *both = fitted(methods[m], NULL, views);
        assert_int_equal(huddle_model_views(both), 2);
        for (int v = 0; v < 2; v++) {
            huddle_model *alone = new_model(methods[m], NULL);
            assert_ok(huddle_model_fit(NULL, alone, &views[v]));
            assert_int_equal(huddle_model_views(alone), 1);
            assert_true(accuracy(both) > accuracy(alone) + .04);
            huddle_model_free(alone);
        }
        huddle_model_free(both);
    }
    free_views(views, 2);
}

static void one_view_is_points(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 8, views);
    huddle_model *a = new_model("sc", NULL), *b = new_model("sc", NULL);
    assert_ok(huddle_model_fit(NULL, a, views));
    assert_ok(huddle_model_fit_views(NULL, b, 1, views));
    assert_memory_equal(huddle_model_labels(a, NULL), huddle_model_labels(b, NULL),
                        N * sizeof(int32_t));
    assert_int_equal(b->fit.views.count, 0);
    huddle_model_free(a);
    huddle_model_free(b);
    free_views(views, 2);
}

static void labels_do_not_depend_on_threads(void **state) {
    (void)state;
    huddle_points views[2];
    make_views(N, 9, views);
    huddle_model *first = fitted("ssc", NULL, views);
    for (int32_t threads = 1; threads <= 3; threads++) {
        huddle_context *context;
        huddle_model *model = new_model("ssc", NULL);
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_model_fit_views(context, model, 2, views));
        assert_memory_equal(huddle_model_labels(first, NULL), huddle_model_labels(model, NULL),
                            N * sizeof(int32_t));
        huddle_model_free(model);
        huddle_context_free(context);
    }
    huddle_model_free(first);
    free_views(views, 2);
}

static void fits_share_the_graph_of_views(void **state) {
    (void)state;
    huddle_points views[2];
    huddle_cache *cache;
    int64_t hits, misses, before;
    make_views(N, 10, views);
    assert_ok(huddle_cache_new(&cache));
    huddle_model *models[3];
    static const char *const weights[] = {"auto", "auto", "equal"};
    for (int k = 0; k < 3; k++) {
        models[k] = new_model("sc", weights[k]);
        huddle_model_set_cache(models[k], cache);
        huddle_cache_counts(cache, &before, &misses);
        assert_ok(huddle_model_fit_views(NULL, models[k], 2, views));
        huddle_cache_counts(cache, &hits, &misses);
        assert_int_equal(hits > before, k == 1);
    }
    int32_t predicted[N];
    assert_ok(huddle_model_predict_views(NULL, models[1], 2, views, predicted));
    assert_memory_equal(predicted, huddle_model_labels(models[0], NULL), sizeof predicted);
    for (int k = 0; k < 3; k++)
        huddle_model_free(models[k]);
    huddle_cache_free(cache);
    free_views(views, 2);
}

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
        assert_ok(hd_views_weigh_new(NULL, &model->fit, &knn, new, &w[k], same));
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
    huddle_points swapped[] = {views[0], views[0]}, mixed[] = {views[0], few[1]};
    assert_refused(huddle_model_predict_views(NULL, model, 2, swapped, labels), HUDDLE_INVALID,
                   "view 2: there are 4 features, the model was fitted to 6");
    assert_refused(huddle_model_predict_views(NULL, model, 2, mixed, labels), HUDDLE_INVALID,
                   "view 2: there are 239 rows, but 240 in the first");
    huddle_model_free(model);
    free_views(views, 2);
    free_views(few, 2);
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
        cmocka_unit_test(the_graph_is_the_mean_of_the_normalised_graphs),
        cmocka_unit_test(rows_that_are_equal_in_all_views_are_merged),
        cmocka_unit_test(rows_that_are_equal_in_one_view_are_not),
        cmocka_unit_test(bridges_are_added_where_the_views_together_need_them),
        cmocka_unit_test(weights_are_given_equal_or_by_scores),
        cmocka_unit_test(scores_are_those_of_the_view_alone),
        cmocka_unit_test(a_view_of_noise_counts_little),
        cmocka_unit_test(views_together_are_better_than_each),
        cmocka_unit_test(one_view_is_points),
        cmocka_unit_test(labels_do_not_depend_on_threads),
        cmocka_unit_test(fits_share_the_graph_of_views),
        cmocka_unit_test(training_points_keep_their_labels_and_rows),
        cmocka_unit_test(new_points_are_labelled_one_by_one),
        cmocka_unit_test(new_edges_are_those_of_the_mean),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(a_graph_and_views_exclude_each_other),
        cmocka_unit_test(new_points_must_have_the_views_of_the_fit),
        cmocka_unit_test(damaged_views_are_refused),
        cmocka_unit_test(views_may_be_sparse_or_shifted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
