/* Every method on sparse points, on points far from the origin, and with shared work. */
#include "base/rng.h"
#include "huddle/methods.h"
#include "huddle/metrics.h"
#include "model/model.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 12, C = 3 };

/* Three clouds; most values are 0, so that they can be sparse. */
static void make_values(double *values, double offset) {
    hd_rng rng = hd_rng_stream(3, 0);
    for (int64_t e = 0; e < N * D; e++) {
        int64_t i = e / D, j = e % D;
        double noise = 1 + 0.2 * hd_rng_normal(&rng);
        values[e] = offset + (j / 4 == i % C ? 2 * noise : j == i % D ? 0.3 * noise : 0);
    }
}

static huddle_points dense_points(double offset) {
    double *values = malloc(N * D * sizeof *values);
    huddle_points x;
    make_values(values, offset);
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &x));
    free(values);
    return x;
}

static huddle_points sparse_points(void) {
    double *values = malloc(N * D * sizeof *values);
    huddle_points x;
    make_values(values, 0);
    assert_ok(huddle_points_new_sparse(N, D, N * D, &x));
    int64_t at = 0;
    for (int64_t e = 0; e < N * D; e++) {
        if (values[e] != 0) {
            x.columns[at] = (int32_t)(e % D);
            x.values[at++] = (float)values[e];
        }
        x.offsets[e / D + 1] = at;
    }
    free(values);
    return x;
}

static huddle_model *fit(const char *method, const huddle_points *x, huddle_cache *cache,
                         const char *dim) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    if (dim != NULL)
        assert_ok(huddle_model_set_option(model, "dim", dim));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static void assert_finds_clouds(const huddle_model *model) {
    int32_t truth[N];
    huddle_scores scores;
    for (int i = 0; i < N; i++)
        truth[i] = i % C;
    assert_ok(huddle_metrics_scores(NULL, N, truth, model->fit.clusters.labels, &scores));
    assert_true(scores.acc > 0.95);
}

/* Fits each method to x and predicts the same points. by_direction: whether the clusters can be
 * told apart by the directions of their points from the origin. */
static void assert_all_work(const huddle_points *x, bool by_direction) {
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++) {
        int32_t again[N], differing = 0;
        if (!by_direction && strcmp((*text)->name, "l1graph") == 0)
            continue; /* it scales points to norm 1 */
        print_message("    %s\n", (*text)->name);
        huddle_model *model = fit((*text)->name, x, NULL, NULL);
        assert_finds_clouds(model);
        assert_ok(huddle_model_predict(NULL, model, x, again));
        for (int i = 0; i < N; i++)
            differing += again[i] != model->fit.clusters.labels[i];
        assert_int_equal(differing, 0);
        huddle_model_free(model);
    }
}

static void sparse_points_are_clustered(void **state) {
    (void)state;
    huddle_points x = sparse_points();
    assert_all_work(&x, true);
    huddle_points_free(&x);
}

static void points_far_from_the_origin_are_clustered(void **state) {
    (void)state;
    huddle_points x = dense_points(1e7);
    assert_non_null(x.shift);
    assert_all_work(&x, false);
    huddle_points_free(&x);
}

static void shared_work_changes_nothing(void **state) {
    (void)state;
    static const char *const methods[] = {"pca-kmeans", "pca-sc", "lda-kmeans", "lda-sc"};
    static const char *const dims[] = {"2", "5", "auto"};
    huddle_points x = dense_points(0);
    huddle_cache *cache;
    int64_t hits, misses;
    assert_ok(huddle_cache_new(&cache));
    for (int m = 0; m < 4; m++)
        for (int d = 0; d < 3; d++) {
            huddle_model *alone = fit(methods[m], &x, NULL, dims[d]);
            huddle_model *shared = fit(methods[m], &x, cache, dims[d]);
            assert_memory_equal(alone->fit.clusters.labels, shared->fit.clusters.labels,
                                N * sizeof(int32_t));
            assert_int_equal(alone->fit.prepared.reduction.d_out,
                             shared->fit.prepared.reduction.d_out);
            huddle_model_free(alone);
            huddle_model_free(shared);
        }
    huddle_cache_counts(cache, &hits, &misses);
    /* One PCA for all twelve; a graph and an embedding for each dim of pca-sc, auto being 2. */
    assert_int_equal(hits, 11 + 2);
    assert_int_equal(misses, 1 + 4);
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

static void points_and_graphs_are_shared_too(void **state) {
    (void)state;
    static const char *const methods[] = {"llc", "spls", "sc", "ssc"};
    huddle_points x = dense_points(0);
    huddle_cache *cache;
    int64_t hits, misses;
    assert_ok(huddle_cache_new(&cache));
    for (int m = 0; m < 4; m++) {
        huddle_model *alone = fit(methods[m], &x, NULL, NULL);
        for (int again = 0; again < 2; again++) {
            huddle_model *shared = fit(methods[m], &x, cache, NULL);
            assert_memory_equal(alone->fit.clusters.labels, shared->fit.clusters.labels,
                                N * sizeof(int32_t));
            huddle_model_free(shared);
        }
        huddle_model_free(alone);
    }
    huddle_cache_counts(cache, &hits, &misses);
    assert_true(hits > misses);
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

static huddle_model *fit_auto(const char *method, const huddle_points *x, huddle_cache *cache,
                              const char *n_clusters) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "prepare", "auto"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* Numbers of clusters that join the graph alike, but judge preparations differently. */
static void preparations_are_shared_only_where_they_were_judged_alike(void **state) {
    (void)state;
    static const char *const numbers[] = {"auto", "24", "24-25", "auto"};
    huddle_points x = dense_points(0);
    huddle_cache *cache;
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < 8; k++) {
        /* llc shares the points, sc the points with their graph. */
        const char *method = k < 4 ? "sc" : "llc";
        huddle_model *alone = fit_auto(method, &x, NULL, numbers[k % 4]);
        huddle_model *shared = fit_auto(method, &x, cache, numbers[k % 4]);
        assert_int_equal(alone->fit.prepared.trials.count, shared->fit.prepared.trials.count);
        for (int32_t t = 0; t < alone->fit.prepared.trials.count; t++)
            assert_true(alone->fit.prepared.trials.items[t].modularity ==
                        shared->fit.prepared.trials.items[t].modularity);
        assert_memory_equal(alone->fit.clusters.labels, shared->fit.clusters.labels,
                            N * sizeof(int32_t));
        huddle_model_free(alone);
        huddle_model_free(shared);
    }
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_points_are_clustered),
        cmocka_unit_test(points_far_from_the_origin_are_clustered),
        cmocka_unit_test(shared_work_changes_nothing),
        cmocka_unit_test(points_and_graphs_are_shared_too),
        cmocka_unit_test(preparations_are_shared_only_where_they_were_judged_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
