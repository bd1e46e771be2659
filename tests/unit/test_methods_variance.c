/* methods: the warning that names a feature which holds nearly all the variance. */
#include "base/rng.h"
#include "huddle/io.h"
#include "huddle/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 600 };

/* Three clouds in d columns; column `wide` is noise of that scale. */
static void make_points(int64_t d, int64_t wide, double scale, huddle_points *points) {
    hd_rng rng = hd_rng_stream(7, 0);
    assert_ok(huddle_points_new(N, d, points));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < d; j++) {
            double noise = hd_rng_normal(&rng);
            points->values[i * d + j] =
                (float)(j == wide ? scale * noise : noise + 8 * (double)((i + j) % 3));
        }
}

/* The info's warnings as JSON text; freed by free(). */
static char *fit(const char *method, const char *prepare, const huddle_points *points,
                 const char *const *names) {
    huddle_model *model = NULL;
    char *json = NULL;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", prepare));
    if (names != NULL)
        assert_ok(huddle_model_set_feature_names(model, points->d, names));
    assert_ok(huddle_model_fit(NULL, model, points));
    assert_ok(huddle_model_info_json(model, &json));
    const char *warnings = strstr(json, "\"warnings\"");
    assert_non_null(warnings);
    char *copy = strdup(warnings);
    huddle_free(json);
    huddle_model_free(model);
    return copy;
}

static void assert_warning(const char *method, const char *prepare, const huddle_points *points,
                           const char *const *names, const char *expected) {
    char *warnings = fit(method, prepare, points, names);
    const char *found = strstr(warnings, expected != NULL ? expected : "of the variance");
    if ((found != NULL) != (expected != NULL))
        fail_msg("%s, %s: %s", method, prepare, warnings);
    free(warnings);
}

static void features_with_nearly_all_variance_are_named(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "noise", "d", "e"};
    static const char *const methods[] = {"kmeans", "sc", "ssc", "lsc", "pca-kmeans"};
    huddle_points points;
    make_points(5, 2, 1000, &points);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        assert_warning(methods[k], "none", &points, NULL, "feature 3 holds 99.9 % of the variance");
        assert_warning(methods[k], "none", &points, names,
                       "feature 3 (noise) holds 99.9 % of the variance");
        assert_warning(methods[k], "standard", &points, names, NULL);
    }
    assert_warning("kmeans", "pca:3", &points, NULL, NULL);
    assert_warning("kmeans", "none", &points, NULL, "prepare = standard");
    huddle_points_free(&points);
}

/* The share is that of the sum of all columns' variances, wherever the column lies. */
static void the_share_is_exact(void **state) {
    (void)state;
    huddle_points points;
    for (int64_t d = 2; d <= 13; d++) {
        double low = 0, total = 0;
        char expected[80];
        make_points(d, d - 1, 60, &points);
        for (int64_t j = 0; j < d; j++) {
            double mean = 0, variance = 0;
            for (int64_t i = 0; i < N; i++)
                mean += (double)points.values[i * d + j] / N;
            for (int64_t i = 0; i < N; i++)
                variance += pow((double)points.values[i * d + j] - mean, 2) / N;
            total += variance;
            low = variance;
        }
        snprintf(expected, sizeof expected, "feature %lld holds %.1f %% of the variance",
                 (long long)d, fmin(100 * low / total, 99.9));
        assert_warning("kmeans", "none", &points, NULL,
                       low / total > (d == 2 ? .99 : .95) ? expected : NULL);
        huddle_points_free(&points);
    }
}

/* Columns that do not vary are no features that others outweigh. */
static void constant_features_do_not_count(void **state) {
    (void)state;
    huddle_points points;
    /* One that varies beside constants. */
    make_points(3, 0, 50, &points);
    for (int64_t i = 0; i < N; i++) {
        points.values[i * 3 + 1] = 7;
        points.values[i * 3 + 2] = 1e6F;
    }
    assert_warning("kmeans", "none", &points, NULL, NULL);
    /* Two that vary are a plane, where .97 is no mistake. */
    for (int64_t i = 0; i < N; i++)
        points.values[i * 3 + 2] = points.values[(N - 1 - i) * 3] / 6;
    assert_warning("kmeans", "none", &points, NULL, NULL);
    for (int64_t i = 0; i < N; i++)
        points.values[i * 3 + 2] /= 10;
    assert_warning("kmeans", "none", &points, NULL, "so that the other hardly counts;");
    huddle_points_free(&points);
    /* Two of 21 that vary may be named, but not two of 19. */
    make_points(30, 3, 1000, &points);
    for (int64_t i = 0; i < N; i++) {
        points.values[i * 30 + 23] = 2000 * (float)(i % 7);
        for (int64_t j = 24; j < 30; j++)
            points.values[i * 30 + j] = 1;
    }
    assert_warning("kmeans", "none", &points, NULL, "features 24 and 4 hold 99.9 %");
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 4; j < 9; j++)
            points.values[i * 30 + j] = (float)j;
    assert_warning("kmeans", "none", &points, NULL, NULL);
    huddle_points_free(&points);
}

static void ordinary_points_are_not_warned_of(void **state) {
    (void)state;
    static const char *const kinds[] = {"moons", "rings", "spirals", "blobs", "swissroll"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        huddle_data data;
        assert_ok(huddle_data_read(NULL, kinds[k], NULL, &data));
        assert_warning("kmeans", "none", &data.points, NULL, NULL);
        huddle_data_free(&data);
    }
    huddle_points points;
    make_points(3, 0, 20, &points); /* 20 against 6.6: the others count */
    assert_warning("kmeans", "none", &points, NULL, NULL);
    huddle_points_free(&points);
    make_points(1, 0, 1000, &points); /* there are no others */
    assert_warning("kmeans", "none", &points, NULL, NULL);
    huddle_points_free(&points);
}

/* Two areas among thirty measures, as in the table of breast cancer. */
static void a_few_of_many_features_are_named_together(void **state) {
    (void)state;
    huddle_points points;
    make_points(30, 3, 1000, &points);
    for (int64_t i = 0; i < N; i++)
        points.values[i * 30 + 23] = points.values[i * 30 + 3] * 1.5f + (float)(i % 7);
    assert_warning("kmeans", "none", &points, NULL,
                   "features 24 and 4 hold 99.9 % of the variance");
    huddle_points_free(&points);
    make_points(12, 3, 1000, &points); /* two of twelve are too many to name */
    for (int64_t i = 0; i < N; i++)
        points.values[i * 12 + 7] = points.values[i * 12 + 3] * 1.1f;
    assert_warning("kmeans", "none", &points, NULL, NULL);
    huddle_points_free(&points);
}

/* How often a warning about the variance is in the info of a fit. */
static int count_warnings(const char *method, const char *const options[][2],
                          const huddle_points *points, huddle_cache *cache) {
    huddle_model *model = NULL;
    char *json = NULL;
    int count = 0;
    assert_ok(huddle_model_new(method, &model));
    for (; (*options)[0] != NULL; options++)
        assert_ok(huddle_model_set_option(model, (*options)[0], (*options)[1]));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_fit(NULL, model, points));
    assert_ok(huddle_model_info_json(model, &json));
    for (const char *at = json; (at = strstr(at, "of the variance")) != NULL; at++)
        count++;
    huddle_free(json);
    huddle_model_free(model);
    return count;
}

/* Also where the fit runs another on its points to choose n_clusters, and where it reduces them to
 * principal components, of which the first holds most of the variance by nature. */
static void the_features_are_warned_of_once(void **state) {
    (void)state;
    huddle_points points;
    make_points(5, 2, 1000, &points);
    for (const huddle_method_text *const *m = huddle_methods(); *m != NULL; m++) {
        static const char *const none[][2] = {
            {"n_clusters", "auto"}, {"prepare", "none"}, {NULL, NULL}};
        static const char *const range[][2] = {
            {"n_clusters", "2-3"}, {"prepare", "none"}, {NULL, NULL}};
        static const char *const standard[][2] = {
            {"n_clusters", "auto"}, {"prepare", "standard"}, {NULL, NULL}};
        int automatic = count_warnings((*m)->name, none, &points, NULL);
        int tried = count_warnings((*m)->name, range, &points, NULL);
        int scaled = count_warnings((*m)->name, standard, &points, NULL);
        if (automatic != 1 || tried != 1 || scaled != 0)
            fail_msg("%s: %d, %d and %d warnings", (*m)->name, automatic, tried, scaled);
    }
    huddle_points_free(&points);
}

/* Features alike, but one direction across them: only the first component would be named. */
static void components_are_not_warned_of(void **state) {
    (void)state;
    static const char *const methods[] = {"pca-kmeans", "lda-kmeans", "lda-sc", "pca-sc"};
    static const char *const options[][2] = {
        {"n_clusters", "auto"}, {"prepare", "none"}, {"dim", "3"}, {NULL, NULL}};
    huddle_points points;
    make_points(5, 0, 100, &points);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 1; j < 5; j++)
            points.values[i * 5 + j] += points.values[i * 5];
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        assert_int_equal(count_warnings(methods[k], options, &points, NULL), 0);
    huddle_points_free(&points);
}

static void fits_that_share_their_points_all_warn(void **state) {
    (void)state;
    static const char *const methods[] = {"sc",  "ssc",   "pca-kmeans", "pca-sc",
                                          "llc", "ldmgi", "spls"};
    static const char *const options[][2] = {
        {"n_clusters", "3"}, {"prepare", "none"}, {NULL, NULL}};
    huddle_points points;
    make_points(5, 2, 1000, &points);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        huddle_cache *cache;
        int64_t hits, misses;
        assert_ok(huddle_cache_new(&cache));
        assert_int_equal(count_warnings(methods[k], options, &points, cache), 1);
        assert_int_equal(count_warnings(methods[k], options, &points, cache), 1);
        huddle_cache_counts(cache, &hits, &misses);
        assert_true(hits > 0);
        huddle_cache_free(cache);
    }
    huddle_points_free(&points);
}

static void names_that_are_not_utf8_do_not_hide_the_warning(void **state) {
    (void)state;
    char name[120] = "";
    huddle_points points;
    const char *names[] = {"a", "b", "caf\xe9", "d", "e"};
    make_points(5, 2, 1000, &points);
    assert_warning("kmeans", "none", &points, names, "feature 3 (caf?) holds");
    memset(name, 'x', 99); /* a character of two bytes, of which one is too many */
    memcpy(name + 99, "\xc3\xa9yz", 4);
    names[2] = name;
    char *warnings = fit("kmeans", "none", &points, names);
    name[99] = '\0';
    assert_non_null(strstr(warnings, name));
    assert_non_null(strstr(warnings, "x) holds"));
    free(warnings);
    huddle_points_free(&points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_with_nearly_all_variance_are_named),
        cmocka_unit_test(the_share_is_exact),
        cmocka_unit_test(constant_features_do_not_count),
        cmocka_unit_test(ordinary_points_are_not_warned_of),
        cmocka_unit_test(a_few_of_many_features_are_named_together),
        cmocka_unit_test(the_features_are_warned_of_once),
        cmocka_unit_test(components_are_not_warned_of),
        cmocka_unit_test(fits_that_share_their_points_all_warn),
        cmocka_unit_test(names_that_are_not_utf8_do_not_hide_the_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
