/* What single methods promise beside their labels: seeds, automatic values, medoids, numbers of
 * clusters, and the way of new points through preparation and projection. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "steps/dominant.h"
#include "steps/rotation.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 6, C = 3 };

/* C clouds around points of the first axes; noise: their width. Column j is in units of unit[j]. */
static huddle_points make_clouds(double noise, double offset, const double *unit, uint64_t seed) {
    double values[N * D];
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    for (int64_t e = 0; e < N * D; e++)
        values[e] = offset + (unit != NULL ? unit[e % D] : 1) *
                                 ((e % D == e / D % C ? 4 : 0) + noise * hd_rng_normal(&rng));
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &x));
    return x;
}

/* options: names and values, ending with NULL. */
static huddle_model *fit(const char *method, const huddle_points *x, huddle_cache *cache,
                         const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    if (huddle_option_find(huddle_model_options(model), "refine") != NULL)
        assert_ok(huddle_model_set_option(model, "refine", "none"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* ---- K-means ----------------------------------------------------------------------------------
 */

/* One start without iterations depends on the seed; that of the stage with the same seed is the
 * same. */
static void the_seed_is_that_of_kmeans(void **state) {
    (void)state;
    huddle_points x = make_clouds(3, 0, NULL, 1);
    for (int seed = 0; seed < 3; seed++) {
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        huddle_model *model =
            fit("kmeans", &x, NULL,
                (const char *const[]){"n_clusters", "7", "n_init", "1", "max_iter", "2", "seed",
                                      text, "prepare", "none", NULL});
        huddle_kmeans_options o = huddle_kmeans_defaults();
        huddle_kmeans_result result;
        huddle_kmeans_info info;
        o.n_clusters = 7;
        o.n_init = 1;
        o.max_iter = 2;
        o.seed = (uint64_t)seed;
        assert_ok(huddle_kmeans(NULL, &x, NULL, &o, &result, &info));
        assert_true(model->fit.clusters.kmeans.inertia == info.inertia);
        assert_ok(hd_fit_number_labels(NULL, N, 7, result.labels)); /* fits number clusters anew */
        assert_memory_equal(model->fit.clusters.labels, result.labels, N * sizeof(int32_t));
        huddle_kmeans_result_free(&result);
        huddle_kmeans_info_free(&info);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Methods that contain K-means hand their seed on: of three seeds two give different clusters. */
static void seeds_matter_to_every_method_with_kmeans(void **state) {
    (void)state;
    static const char *const methods[] = {"pca-kmeans", "lda-kmeans", "diskmeans", "spls",
                                          "lsc",        "nsc",        "bipartite", "l1sc"};
    huddle_points x = make_clouds(3, 0, NULL, 2);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        huddle_model *models[3];
        int differing = 0;
        for (int k = 0; k < 3; k++)
            models[k] = fit(methods[m], &x, NULL,
                            (const char *const[]){"n_clusters", "9", "n_init", "1", "seed",
                                                  (const char *const[]){"1", "2", "3"}[k],
                                                  "prepare", "none", NULL});
        for (int k = 1; k < 3; k++)
            differing +=
                models[k]->fit.clusters.kmeans.inertia != models[0]->fit.clusters.kmeans.inertia;
        assert_true(differing > 0);
        for (int k = 0; k < 3; k++)
            huddle_model_free(models[k]);
    }
    huddle_points_free(&x);
}

/* ---- automatic values --------------------------------------------------------------------------
 */

/* 1/50 of the total scatter: the sum of the squared distances to the mean. */
static void alpha_is_a_share_of_the_scatter(void **state) {
    (void)state;
    huddle_points x = make_clouds(1, 0, NULL, 3);
    double scatter = 0;
    char alpha[32];
    for (int64_t j = 0; j < D; j++) {
        double mean = 0;
        for (int64_t i = 0; i < N; i++)
            mean += (double)x.values[i * x.stride + j] / N;
        for (int64_t i = 0; i < N; i++)
            scatter += pow((double)x.values[i * x.stride + j] - mean, 2);
    }
    snprintf(alpha, sizeof alpha, "%.17g", scatter / 50);
    huddle_model *own =
        fit("diskmeans", &x, NULL, (const char *const[]){"n_clusters", "3", "alpha", alpha, NULL});
    huddle_model *automatic =
        fit("diskmeans", &x, NULL, (const char *const[]){"n_clusters", "3", "alpha", "auto", NULL});
    for (int64_t k = 0; k < C * D; k++)
        assert_close(automatic->fit.clusters.centres.values[k], own->fit.clusters.centres.values[k],
                     1e-5);
    assert_close(automatic->fit.clusters.kmeans.inertia, own->fit.clusters.kmeans.inertia, 1e-6);
    huddle_model_free(own);
    huddle_model_free(automatic);
    huddle_points_free(&x);
}

static void as_many_landmarks_as_clusters_are_enough(void **state) {
    (void)state;
    huddle_points x = make_clouds(.3, 0, NULL, 4);
    huddle_model *model = fit("lsc", &x, NULL,
                              (const char *const[]){"n_clusters", "3", "n_landmarks", "3",
                                                    "landmark_neighbors", "2", NULL});
    assert_int_equal(model->fit.embedding.landmarks.n, 3);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Of 40 features three have nearly all the variance: named in descending order with their share.
 * Rows of several chunks, far from the origin. */
static void features_with_the_variance_are_named(void **state) {
    (void)state;
    enum { ROWS = 700, FEATURES = 40 };
    const huddle_preparation preparation = {0};
    huddle_points x;
    hd_fit_dominant found;
    double variance[FEATURES] = {0}, total = 0;
    hd_rng rng = hd_rng_stream(11, 0);
    assert_ok(huddle_points_new(ROWS, FEATURES, &x));
    for (int64_t e = 0; e < ROWS * FEATURES; e++) {
        int64_t j = e % FEATURES;
        double unit = j == 7 ? 40 : j == 31 ? 60 : j == 12 ? 50 : 1;
        x.values[e] = (float)(1000 + unit * hd_rng_normal(&rng));
    }
    for (int64_t j = 0; j < FEATURES; j++) {
        double mean = 0;
        for (int64_t i = 0; i < ROWS; i++)
            mean += (double)x.values[i * FEATURES + j] / ROWS;
        for (int64_t i = 0; i < ROWS; i++)
            variance[j] += pow((double)x.values[i * FEATURES + j] - mean, 2);
        total += variance[j];
    }
    assert_ok(hd_step_find_dominant(NULL, &preparation, &x, &found));
    assert_int_equal(found.count, 3);
    assert_true(found.features[0] == 31 && found.features[1] == 12 && found.features[2] == 7);
    assert_close(found.share, (variance[7] + variance[12] + variance[31]) / total, 1e-9);
    huddle_points_free(&x);
}

/* ---- rotations ---------------------------------------------------------------------------------
 */

/* Unit rows of the first c eigenvectors. */
static huddle_dense unit_rows(const huddle_dense *vectors, int64_t c) {
    huddle_dense rows;
    assert_ok(huddle_dense_new(vectors->rows, c, &rows));
    for (int64_t i = 0; i < rows.rows; i++) {
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += pow(vectors->values[i * vectors->stride + k], 2);
        for (int64_t k = 0; k < c; k++)
            rows.values[i * c + k] = vectors->values[i * vectors->stride + k] / sqrt(square);
    }
    return rows;
}

/* The medoid of a cluster of ncut is the row with the smallest angle to its axis. */
static void medoids_of_ncut_are_nearest_to_their_axes(void **state) {
    (void)state;
    huddle_points x = make_clouds(1, 0, NULL, 5);
    huddle_model *model = fit("ncut", &x, NULL, (const char *const[]){"n_clusters", "3", NULL});
    const hd_fit *f = &model->fit;
    huddle_dense rows = unit_rows(&f->embedding.f.rows, C);
    for (int32_t k = 0; k < C; k++) {
        const double *axis = f->clusters.centres.values + k * f->clusters.centres.stride;
        double largest = -INFINITY, own = 0;
        for (int64_t i = 0; i < N; i++) {
            double product = 0;
            for (int64_t j = 0; j < C; j++)
                product += rows.values[i * C + j] * axis[j];
            own = i == f->clusters.medoids[k] ? product : own;
            largest = f->clusters.labels[i] == k ? fmax(largest, product) : largest;
        }
        assert_int_equal(f->clusters.labels[f->clusters.medoids[k]], k);
        assert_close(own, largest, 1e-12);
    }
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The scores of selftune-sc are the alignments of as many eigenvectors as clusters, and clearly
 * separate clouds are found. */
static void alignments_are_those_of_their_numbers_of_clusters(void **state) {
    (void)state;
    huddle_points x = make_clouds(1, 0, NULL, 6);
    huddle_model *model = fit("selftune-sc", &x, NULL,
                              (const char *const[]){"n_clusters", "auto", "seed", "4", NULL});
    const huddle_embed_choice *choice = &model->fit.trials.choice;
    assert_true(choice->count >= 3);
    assert_int_equal(model->fit.clusters.n_clusters, C);
    for (int32_t t = 0; t < choice->count; t++) {
        huddle_dense rows = unit_rows(&model->fit.embedding.f.vectors, choice->candidates[t]);
        huddle_dense rotation = {0};
        int32_t labels[N];
        double quality;
        assert_ok(hd_step_rotation_find(NULL, &rows, 3, 4, labels, &rotation, NULL, NULL));
        assert_ok(hd_step_rotation_align(NULL, &rows, &rotation, &quality));
        assert_true(fabs(choice->scores[t] - quality) < 5e-3);
        huddle_dense_free(&rows);
        huddle_dense_free(&rotation);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* ---- numbers of clusters ------------------------------------------------------------------------
 */

/* Methods that refine their labels score every number before they choose one. */
static void every_number_is_scored_before_the_choice(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ncut", "ssc"};
    huddle_points x = make_clouds(1, 0, NULL, 10);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        huddle_model *model = fit(
            methods[m], &x, NULL,
            (const char *const[]){"n_clusters", "auto", "refine", "graph", "n_init", "2", NULL});
        const hd_fit_trials *trials = &model->fit.trials;
        assert_true(trials->count > 1 && trials->choice.count > 0);
        for (int32_t t = 0; t < trials->count; t++) {
            assert_int_equal(trials->items[t].n_clusters, t + 2);
            assert_true(isfinite(trials->items[t].modularity));
        }
        assert_int_equal(model->fit.clusters.n_clusters, trials->choice.candidates[0]);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* ---- new points --------------------------------------------------------------------------------
 */

/* Points that differ from x by much less than its clouds, and are no rows of it. */
static huddle_points jitter(const huddle_points *x, const double *unit) {
    double values[N * D];
    huddle_points y;
    hd_rng rng = hd_rng_stream(9, 0);
    for (int64_t e = 0; e < N * D; e++)
        values[e] = (double)x->values[e / D * x->stride + e % D] +
                    (x->shift != NULL ? x->shift[e % D] : 0) +
                    1e-3 * (unit != NULL ? unit[e % D] : 1) * hd_rng_normal(&rng);
    assert_ok(huddle_points_from_double(NULL, N, D, values, D, 1, &y));
    return y;
}

/* Every method whose centres are in a subspace, on columns of very different units that a
 * preparation removes, and on points far from the origin. */
static void new_points_are_prepared_and_projected(void **state) {
    (void)state;
    static const char *const methods[] = {"kmeans", "pca-kmeans", "lda-kmeans", "diskmeans", "spls",
                                          "lsc",    "nsc",        "bipartite",  "l1sc"};
    static const double unit[D] = {1000, .01, 1, 30, .5, 200};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int far = 0; far < 2; far++) {
            huddle_points x = make_clouds(.3, far ? 1e6 : 0, far ? NULL : unit, 7), y;
            int32_t labels[N];
            huddle_model *model = fit(methods[m], &x, NULL,
                                      (const char *const[]){"n_clusters", "3", "prepare",
                                                            far ? "none" : "standard", NULL});
            y = jitter(&x, far ? NULL : unit);
            assert_ok(huddle_model_predict(NULL, model, &y, labels));
            assert_memory_equal(labels, model->fit.clusters.labels, sizeof labels);
            huddle_model_free(model);
            huddle_points_free(&x);
            huddle_points_free(&y);
        }
}

/* spls places new points beside the rows of its training points. */
static void new_points_are_placed_beside_old_ones(void **state) {
    (void)state;
    huddle_points x = make_clouds(.3, 1e5, NULL, 8), y = jitter(&x, NULL);
    huddle_model *model =
        fit("spls", &x, NULL, (const char *const[]){"n_clusters", "3", "prepare", "none", NULL});
    const huddle_dense *known = &model->fit.embedding.f.rows;
    huddle_dense rows;
    assert_ok(huddle_model_transform(NULL, model, &y, &rows));
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < rows.cols; k++)
            assert_true(fabs(rows.values[i * rows.stride + k] -
                             known->values[i * known->stride + k]) < .02);
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seed_is_that_of_kmeans),
        cmocka_unit_test(seeds_matter_to_every_method_with_kmeans),
        cmocka_unit_test(alpha_is_a_share_of_the_scatter),
        cmocka_unit_test(as_many_landmarks_as_clusters_are_enough),
        cmocka_unit_test(features_with_the_variance_are_named),
        cmocka_unit_test(medoids_of_ncut_are_nearest_to_their_axes),
        cmocka_unit_test(alignments_are_those_of_their_numbers_of_clusters),
        cmocka_unit_test(every_number_is_scored_before_the_choice),
        cmocka_unit_test(new_points_are_prepared_and_projected),
        cmocka_unit_test(new_points_are_placed_beside_old_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
