/* What a fit to equal rows holds: degrees, weights, inertia, new rows, shared work. */
#include "base/rng.h"
#include "model/model.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/place.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, C = 3, K = 5 };

/* Three clouds in the plane, rounded to whole numbers. */
static huddle_points rounded_clouds(void) {
    static const double centres[C][2] = {{0, 0}, {9, 0}, {4, 8}};
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(21, (uint64_t)i);
        for (int j = 0; j < 2; j++)
            x.values[2 * i + j] = (float)round(centres[i % C][j] + 1.4 * hd_rng_normal(&rng));
    }
    return x;
}

static huddle_model *fit_with(const char *method, const huddle_points *x, huddle_cache *cache,
                              const char *option, const char *value) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    if (option != NULL)
        assert_ok(huddle_model_set_option(model, option, value));
    huddle_model_set_cache(model, cache);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static double distance(const float *a, const float *b) {
    double u = (double)a[0] - (double)b[0], v = (double)a[1] - (double)b[1];
    return sqrt(u * u + v * v);
}

/* Whether distinct row j is among the nearest of i, ties included. */
static bool is_near(const huddle_points *nodes, int64_t i, int64_t j) {
    int64_t nearer = 0;
    double d = distance(nodes->values + 2 * i, nodes->values + 2 * j);
    for (int64_t q = 0; q < nodes->n; q++)
        nearer += q != i && distance(nodes->values + 2 * i, nodes->values + 2 * q) < d;
    return nearer < K;
}

/* Clouds without equal rows, but for the first `copies`, which are all like row 0. */
static huddle_points clouds_with_copies(int64_t copies) {
    huddle_points x = rounded_clouds();
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(22, (uint64_t)i);
        for (int j = 0; j < 2; j++)
            x.values[2 * i + j] =
                i < copies ? x.values[j] : x.values[2 * i + j] + .1f * (float)hd_rng_normal(&rng);
    }
    return x;
}

/* Two equal rows take 2 of 2000 places in the lists of neighbours and leave the graph alone; six
 * have only each other. Both times their labels are equal. */
static void rows_are_merged_where_copies_matter(void **state) {
    (void)state;
    static const int64_t copies[] = {2, K, K + 1};
    for (int k = 0; k < 3; k++) {
        huddle_points x = clouds_with_copies(copies[k]);
        huddle_model *model = fit_with("ssc", &x, NULL, NULL, NULL);
        const int32_t *labels = huddle_model_labels(model, NULL);
        assert_int_equal(model->fit.rows.n, copies[k] > K ? N - copies[k] + 1 : N);
        for (int64_t i = 1; i < copies[k]; i++)
            assert_int_equal(labels[i], labels[0]);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Every row is there twice: no list is full of copies, but a fifth of all places is taken. */
static void many_small_sets_of_copies_are_merged(void **state) {
    (void)state;
    huddle_points x = rounded_clouds();
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < 2; j++)
            x.values[2 * i + j] = (float)(i / 2) + .25f * (float)j;
    huddle_model *model = fit_with("sc", &x, NULL, NULL, NULL);
    assert_int_equal(model->fit.rows.n, N / 2);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Binary weights, so that the graph can be written down: every degree from its definition. */
static void degrees_are_those_of_distinct_rows_with_their_copies(void **state) {
    (void)state;
    huddle_points x = rounded_clouds();
    huddle_model *model = fit_with("sc", &x, NULL, "scale", "binary");
    const hd_fit *fit = &model->fit;
    int64_t total = 0;
    assert_int_equal(fit->rows.n, fit->rows.nodes.count);
    assert_true(fit->rows.n < N / 2);
    for (int64_t i = 0; i < fit->rows.n; i++) {
        double m = (double)fit->rows.nodes.copies[i], degree = m * fmin(m - 1, K);
        for (int64_t j = 0; j < fit->rows.n; j++)
            if (j != i &&
                (is_near(&fit->prepared.points, i, j) || is_near(&fit->prepared.points, j, i)))
                degree += (m + (double)fit->rows.nodes.copies[j]) / 2;
        assert_close(fit->embedding.f.degrees[i], degree, 1e-12);
        total += fit->rows.nodes.copies[i];
    }
    assert_int_equal(total, N);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Inertia and centres are those of all rows. */
static void kmeans_counts_copies(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc", "llc", "ldmgi", "spls", "rmsc"};
    huddle_points x = rounded_clouds();
    for (int k = 0; k < 6; k++) {
        huddle_model *model = fit_with(methods[k], &x, NULL, NULL, NULL);
        huddle_array rows;
        const huddle_dense *centres = &model->fit.clusters.centres;
        const int32_t *labels = huddle_model_labels(model, NULL);
        double inertia = 0, sums[C][8] = {{0}};
        int64_t sizes[C] = {0}, c;
        bool shrunk =
            model->fit.shrunk.g.g.values != NULL && !model->fit.shrunk.labels_from_embedding;
        assert_ok(huddle_model_array(model, shrunk ? "shrunk" : "embedding", &rows));
        c = rows.cols;
        for (int64_t i = 0; i < N; i++) {
            sizes[labels[i]]++;
            for (int64_t q = 0; q < c; q++) {
                double v = ((const double *)rows.values)[i * rows.stride + q];
                sums[labels[i]][q] += v;
                inertia += pow(v - centres->values[labels[i] * centres->stride + q], 2);
            }
        }
        assert_true(fabs(inertia - model->fit.clusters.kmeans.inertia) < 1e-6 * (1 + inertia));
        for (int l = 0; l < C; l++)
            for (int64_t q = 0; q < c; q++)
                assert_true(fabs(sums[l][q] / (double)sizes[l] -
                                 centres->values[l * centres->stride + q]) < 1e-5);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* A new row from its definition: neighbours with ties, weights with the copies. */
static void new_rows_count_the_copies_of_their_neighbours(void **state) {
    (void)state;
    huddle_points x = rounded_clouds(), fresh;
    huddle_model *model = fit_with("sc", &x, NULL, "scale", "binary");
    const hd_fit *fit = &model->fit;
    huddle_dense rows = {0};
    int64_t same[2];
    assert_ok(huddle_points_new(2, 2, &fresh));
    fresh.values[0] = 0.5f;
    fresh.values[1] = 0.5f;
    fresh.values[2] = x.values[40];
    fresh.values[3] = x.values[41];
    assert_ok(hd_spectral_place(NULL, fit, model->fitted_options, &fresh, &rows, same));
    assert_int_equal(same[0], -1);
    assert_int_equal(same[1], fit->rows.nodes.of[20]);
    double row[C] = {0}, squares = 0;
    /* From the middle of a square the rows lie on circles: take the smallest that holds K. */
    double radii[N];
    int64_t count = 0;
    for (int64_t j = 0; j < fit->rows.n; j++)
        radii[count++] = distance(fresh.values, fit->prepared.points.values + 2 * j);
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = a + 1; b < count; b++)
            if (radii[b] < radii[a]) {
                double held = radii[a];
                radii[a] = radii[b];
                radii[b] = held;
            }
    for (int64_t j = 0; j < fit->rows.n; j++) {
        if (distance(fresh.values, fit->prepared.points.values + 2 * j) > radii[K - 1] * (1 + 1e-9))
            continue;
        double weight = (1 + (double)fit->rows.nodes.copies[j]) / 2;
        for (int l = 0; l < C; l++)
            row[l] += weight / sqrt(fit->embedding.f.degrees[j]) *
                      fit->embedding.f.vectors.values[j * fit->embedding.f.vectors.stride + l] /
                      (1 - fit->embedding.f.eigenvalues[l]);
    }
    for (int l = 0; l < C; l++)
        squares += row[l] * row[l];
    for (int l = 0; l < C; l++)
        assert_true(fabs(rows.values[l] - row[l] / sqrt(squares)) < 1e-9);
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&fresh);
    huddle_points_free(&x);
}

/* Rows that only the preparation makes equal are one vertex too. */
static void rows_made_equal_by_the_preparation_are_merged(void **state) {
    (void)state;
    huddle_points x;
    huddle_model *model;
    assert_ok(huddle_points_new(90, 2, &x));
    for (int64_t i = 0; i < 90; i++) { /* on 9 rays; powers of two leave no rounding */
        double angle = 0.3 * (double)(i % 9);
        x.values[2 * i] = (float)cos(angle) * (float)(1 << (i / 9));
        x.values[2 * i + 1] = (float)sin(angle) * (float)(1 << (i / 9));
    }
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "unit"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_int_equal(model->fit.rows.n, 9);
    assert_int_equal(model->fit.rows.equal.count, 90);
    for (int i = 9; i < 90; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i],
                         huddle_model_labels(model, NULL)[i % 9]);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Fits that share work have the labels of fits that do not. */
static void shared_work_is_the_same(void **state) {
    (void)state;
    static const char *const methods[] = {
        "sc",     "ssc",  "ncut", "selftune-sc", "llc",       "pca-sc", "lda-sc", "spls", "ssc",
        "pca-sc", "spls", "llc",  "nsc",         "bipartite", "ldmgi",  "l1sc",   "rmsc"};
    huddle_points x = rounded_clouds();
    huddle_cache *cache;
    assert_ok(huddle_cache_new(&cache));
    for (int k = 0; k < 17; k++) {
        huddle_model *alone = fit_with(methods[k], &x, NULL, NULL, NULL);
        huddle_model *shared = fit_with(methods[k], &x, cache, NULL, NULL);
        assert_memory_equal(huddle_model_labels(alone, NULL), huddle_model_labels(shared, NULL),
                            N * sizeof(int32_t));
        huddle_model_free(alone);
        huddle_model_free(shared);
    }
    huddle_cache_free(cache);
    huddle_points_free(&x);
}

/* The subspace sees all rows: what the alternation reports is the objective of all rows. */
static void the_subspace_is_that_of_all_rows(void **state) {
    (void)state;
    huddle_points x = rounded_clouds();
    huddle_model *model = fit_with("spls", &x, NULL, "dim", "1");
    const hd_fit *fit = &model->fit;
    huddle_array g, w;
    double mean[2] = {0}, total = 0, objective = 0, gamma = fit->shrunk.info.gamma;
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < 2; j++)
            mean[j] += (double)x.values[2 * i + j] / N;
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < 2; j++)
            total += pow((double)x.values[2 * i + j] - mean[j], 2) / N;
    assert_ok(huddle_model_array(model, "shrunk", &g));
    assert_ok(huddle_model_array(model, "shrink_graph", &w));
    const double *row = g.values, *weight = w.values,
                 *p = fit->prepared.reduction.projection.values;
    double norm = hypot(p[0], p[1]); /* the scale of X is in the projection */
    for (int64_t i = 0; i < N; i++) {
        for (int j = 0; j < 2; j++)
            objective += pow(
                ((double)x.values[2 * i + j] - mean[j]) / sqrt(total) - row[i] * p[j] / norm, 2);
        for (int64_t e = w.offsets[i]; e < w.offsets[i + 1]; e++)
            objective += gamma * weight[e] * fabs(row[i] - row[w.columns[e]]) / 2;
    }
    assert_close(objective,
                 fit->clusters.alternation.objective[fit->clusters.alternation.n_history - 1],
                 1e-5);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* K-means of all rows may tell equal ones apart that were prepared to differ in the last bit. */
static void equal_rows_are_given_the_label_of_the_first(void **state) {
    (void)state;
    int32_t labels[] = {2, 0, 1, 0, 1}, starts[] = {2, 0, 1, 0, 1, 0, 1, 1, 0, 0},
            of[] = {0, 1, 0, 2, 1};
    int32_t expected[] = {2, 0, 2, 0, 0}, expected_starts[] = {2, 0, 2, 0, 0, 0, 1, 0, 0, 1};
    int64_t first[] = {0, 1, 3}, copies[] = {2, 2, 1};
    hd_fit_rows rows = {.n = 5, .equal = {5, 3, of, first, copies}};
    hd_fit_clusters clusters = {.labels = labels};
    clusters.kmeans = (huddle_kmeans_info){.n_restarts = 2, .start_labels = starts};
    hd_step_unify_labels(&rows, &clusters);
    assert_memory_equal(labels, expected, sizeof labels);
    assert_memory_equal(starts, expected_starts, sizeof starts);
}

/* Rows 0 and 5 are equal in x, but K-means sees them in two clusters, and row 5 as the nearest to
 * the centre of its own: once it has the label of row 0, another must be the medoid there. */
static void medoids_belong_to_their_clusters_when_labels_are_unified(void **state) {
    (void)state;
    static const double values[] = {0, 1, 2, 10, 14, 12};
    for (int way = 0; way < 2; way++) {
        int32_t of[] = {0, 1, 2, 3, 4, 0};
        int64_t first[] = {0, 1, 2, 3, 4}, copies[] = {2, 1, 1, 1, 1};
        huddle_points points;
        huddle_dense rows;
        huddle_kmeans_options options = huddle_kmeans_defaults();
        hd_fit fit = {.d = 1, .rows = {.n = 6, .equal = {6, 5, of, first, copies}}};
        options.n_clusters = 2;
        assert_ok(huddle_points_from_double(NULL, 6, 1, values, 1, 1, &points));
        assert_ok(huddle_dense_new(6, 1, &rows));
        memcpy(rows.values, values, sizeof values);
        assert_ok(way == 0 ? hd_step_kmeans(NULL, &points, &options, &fit.rows, &fit.clusters)
                           : hd_step_kmeans_dense(NULL, &rows, &options, &fit.rows, &fit.clusters));
        assert_ok(hd_step_choose_medoids(NULL, &points, NULL, &fit));
        assert_int_equal(fit.clusters.labels[5], fit.clusters.labels[0]);
        assert_int_not_equal(fit.clusters.labels[3], fit.clusters.labels[0]);
        assert_int_equal(fit.clusters.medoids[fit.clusters.labels[0]], 1);
        assert_int_equal(fit.clusters.medoids[fit.clusters.labels[3]], 3);
        fit.rows.equal = (huddle_distinct){0};
        hd_fit_free(&fit);
        huddle_points_free(&points);
        huddle_dense_free(&rows);
    }
}

/* Different rows on a few rays: made unit, they are as many as the rays, but not as they came. */
static void rows_are_counted_as_they_came_and_vertices_apart(void **state) {
    (void)state;
    enum { RAYS = 6, ROWS = 300 };
    huddle_points x;
    huddle_model *model;
    char *json;
    assert_ok(huddle_points_new(ROWS, 2, &x));
    for (int64_t i = 0; i < ROWS; i++) {
        static const float rays[RAYS][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
        float length = ldexpf(1, (int)(i / RAYS)); /* powers of two: the directions are exact */
        x.values[2 * i] = rays[i % RAYS][0] * length;
        x.values[2 * i + 1] = rays[i % RAYS][1] * length;
    }
    assert_ok(huddle_model_new("sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "unit"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_info_json(model, &json));
    assert_null(strstr(json, "\"n_distinct\""));
    assert_non_null(strstr(json, "\"vertices\": 6,"));
    huddle_free(json);
    memcpy(x.values, x.values + 2 * RAYS, 2 * RAYS * sizeof *x.values); /* six equal pairs */
    assert_ok(huddle_model_fit(NULL, model, &x));
    assert_ok(huddle_model_info_json(model, &json));
    assert_non_null(strstr(json, "\"n_distinct\": 294,"));
    assert_non_null(strstr(json, "\"vertices\": 6,"));
    huddle_free(json);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* One rule for points and for their distances: a single pair of equal rows is not merged. */
static void distances_are_merged_where_copies_matter(void **state) {
    (void)state;
    for (int64_t copies = 2; copies <= 12; copies += 10) {
        huddle_points x = clouds_with_copies(copies), distances;
        assert_ok(huddle_points_new(N, N, &distances));
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                distances.values[i * N + j] = (float)distance(x.values + 2 * i, x.values + 2 * j);
        huddle_model *given = fit_with("sc", &distances, NULL, "affinity", "distances");
        huddle_model *features = fit_with("sc", &x, NULL, NULL, NULL);
        assert_int_equal(given->fit.rows.nodes.n, features->fit.rows.nodes.n);
        assert_int_equal(given->fit.rows.nodes.n, copies == 2 ? 0 : N);
        assert_int_equal(given->fit.rows.n, features->fit.rows.n);
        assert_int_equal(given->fit.rows.equal.count, N - copies + 1);
        const int32_t *labels = huddle_model_labels(given, NULL);
        for (int64_t i = 1; i < copies; i++)
            assert_int_equal(labels[i], labels[0]);
        huddle_model_free(given);
        huddle_model_free(features);
        huddle_points_free(&distances);
        huddle_points_free(&x);
    }
}

static void models_with_merged_rows_are_saved_and_loaded(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/version.model", test_directory());
    for (int merged = 0; merged < 2; merged++) {
        huddle_points x = merged ? rounded_clouds() : clouds_with_copies(1);
        huddle_model *model = fit_with("sc", &x, NULL, NULL, NULL), *loaded;
        int64_t n;
        assert_int_equal(model->fit.rows.nodes.n, merged ? N : 0);
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        assert_memory_equal(huddle_model_labels(loaded, &n), huddle_model_labels(model, NULL),
                            N * sizeof(int32_t));
        assert_int_equal(n, N);
        assert_int_equal(loaded->fit.rows.nodes.n, model->fit.rows.nodes.n);
        huddle_model_free(model);
        huddle_model_free(loaded);
        huddle_points_free(&x);
    }
}

static void impossible_numbers_of_copies_are_refused(void **state) {
    (void)state;
    static const int64_t wrong[] = {INT64_MIN, INT64_MAX, 0, -1, N + 1, 2 * N};
    char path[512];
    huddle_points x = rounded_clouds();
    huddle_model *model = fit_with("sc", &x, NULL, NULL, NULL), *loaded;
    snprintf(path, sizeof path, "%s/copies.model", test_directory());
    int64_t right = model->fit.rows.nodes.copies[3];
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_ok(huddle_model_save(model, path));
        assert_ok(huddle_model_load(path, &loaded));
        assert_int_equal(loaded->fit.rows.nodes.copies[3], right);
        loaded->fit.rows.nodes.copies[3] = wrong[k];
        assert_ok(huddle_model_save(loaded, path));
        huddle_model_free(loaded);
        assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "copies.model: ");
    }
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_merged_where_copies_matter),
        cmocka_unit_test(many_small_sets_of_copies_are_merged),
        cmocka_unit_test(degrees_are_those_of_distinct_rows_with_their_copies),
        cmocka_unit_test(kmeans_counts_copies),
        cmocka_unit_test(new_rows_count_the_copies_of_their_neighbours),
        cmocka_unit_test(rows_made_equal_by_the_preparation_are_merged),
        cmocka_unit_test(shared_work_is_the_same),
        cmocka_unit_test(the_subspace_is_that_of_all_rows),
        cmocka_unit_test(equal_rows_are_given_the_label_of_the_first),
        cmocka_unit_test(medoids_belong_to_their_clusters_when_labels_are_unified),
        cmocka_unit_test(rows_are_counted_as_they_came_and_vertices_apart),
        cmocka_unit_test(distances_are_merged_where_copies_matter),
        cmocka_unit_test(models_with_merged_rows_are_saved_and_loaded),
        cmocka_unit_test(impossible_numbers_of_copies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
