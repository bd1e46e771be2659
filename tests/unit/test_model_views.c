/* model: several views of the same points, their graph, weights and labels. */
#include "view_fits.h"

#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A / sqrt(d_i d_j), d divided by the copies, dense. */
static double *normalised(const hd_fit *fit) {
    int64_t n = fit->rows.n;
    double *dense = calloc((size_t)(n * n), sizeof *dense),
           *degree = calloc((size_t)n, sizeof *degree);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            degree[i] +=
                entry(&fit->graph.matrix, i, j) / (double)hd_fit_rows_copies(&fit->rows, i);
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

static void rows_that_are_equal_in_all_views_are_merged(void **state) {
    (void)state;
    huddle_points views[2], copies[2];
    make_views(N, 2, views);
    for (int v = 0; v < 2; v++)
        copies[v] = repeated(&views[v], 100, 780); /* 7 or 8 times each */
    compare_mean(copies, 100);
    huddle_model *model = fitted("ssc", NULL, copies);
    assert_int_equal(model->fit.rows.equal.count, 100);
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

/* 15 and 16 different rows: no two of 240 are equal in both, but each view has more copies of a row
 * than neighbours. */
static void rows_that_are_equal_in_one_view_are_not(void **state) {
    (void)state;
    huddle_points views[2], copies[2];
    make_views(N, 3, views);
    for (int v = 0; v < 2; v++)
        copies[v] = repeated(&views[v], 15 + v, N);
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
    check_weights("1e308,1e308", .5); /* whose sum is infinite */
    check_weights("1.5e308,0.5e308", .75);
    check_weights("1e-310,3e-310", .25);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
