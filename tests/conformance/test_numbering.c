/* The numbers of clusters, for every method: by first member, and everything that is indexed by
 * clusters under the same numbers. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "promises.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 160, D = 5, SEEDS = 3 };

/* Five clouds of different sizes in a random order, every tenth row a copy of an earlier one. */
static huddle_points clouds(uint64_t seed) {
    static const int cloud_of[] = {0, 1, 1, 2, 2, 3, 3, 3, 4, 4};
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)(i % 10 == 9 ? i / 2 : i));
        int cloud = cloud_of[hd_rng_below(&rng, 10)];
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)(5 * (j == cloud) + .4 * hd_rng_normal(&rng));
    }
    return x;
}

/* Four overlapping clouds of the plane: refinement changes many labels, and K-means may be
 * preferred to the graph. */
static huddle_points overlapping(uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t cloud = hd_rng_below(&rng, 4);
        x.values[2 * i] = (float)(2.5 * (double)(cloud % 2) + hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(2.5 * (double)(cloud / 2) + hd_rng_normal(&rng));
    }
    return x;
}

static bool has_option(const huddle_model *model, const char *name) {
    return huddle_option_find(huddle_model_options(model), name) != NULL;
}

/* `refine` is ignored by methods without this option. */
static huddle_model *fit(const char *method, const char *n_clusters, const char *refine,
                         const huddle_points *x) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    if (has_option(model, "n_init"))
        assert_ok(huddle_model_set_option(model, "n_init", "4"));
    if (has_option(model, "refine"))
        assert_ok(huddle_model_set_option(model, "refine", refine));
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* Row i of a labelling is labels[i * stride]; the numbers occur in ascending order. */
static int32_t check_numbers(const char *method, const char *what, const int32_t *labels,
                             int64_t stride) {
    int32_t next = 0;
    for (int64_t i = 0; i < N; i++) {
        if (labels[i * stride] > next)
            fail_msg("%s, %s: row %lld has label %d, but no row before it has %d", method, what,
                     (long long)i, labels[i * stride], next);
        next += labels[i * stride] == next;
    }
    return next;
}

static bool find_array(huddle_model *model, const char *name, huddle_array *array) {
    for (const char *const *known = huddle_model_arrays(model); *known != NULL; known++)
        if (strcmp(*known, name) == 0) {
            assert_ok(huddle_model_array(model, name, array));
            return true;
        }
    return false;
}

/* ---- one number of clusters ------------------------------------------------------------------ */

static void check_starts(const char *method, huddle_model *model) {
    huddle_array starts;
    if (!find_array(model, "start_labels", &starts))
        return;
    for (int64_t r = 0; r < starts.rows; r++)
        check_numbers(method, "a restart", (const int32_t *)starts.values + r * starts.stride, 1);
}

/* The labels that the centres belong to: those of the method's own step. Refinement changes some of
 * them; more would differ if the numbers of both did not correspond. */
static const int32_t *own_labels(const char *method, huddle_model *model) {
    const int32_t *labels = huddle_model_labels(model, NULL);
    huddle_array own;
    int64_t changed = 0;
    if (!find_array(model, "unrefined_labels", &own))
        return labels;
    for (int64_t i = 0; i < N; i++)
        changed += ((const int32_t *)own.values)[i] != labels[i];
    if (changed > N / 2)
        fail_msg("%s: %lld of %d labels differ from those before refinement", method,
                 (long long)changed, N);
    return own.values;
}

static double value_at(const huddle_array *rows, int64_t i, int64_t j) {
    return rows->type == HUDDLE_ARRAY_F32
               ? (double)((const float *)rows->values)[i * rows->stride + j]
               : ((const double *)rows->values)[i * rows->stride + j];
}

/* What was clustered: shrunk rows, rows of the embedding or prepared points. */
static bool find_rows(huddle_model *model, int64_t cols, huddle_array *rows) {
    static const char *const names[] = {"shrunk", "embedding", "points"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (find_array(model, names[k], rows) && rows->cols == cols)
            return true;
    return false;
}

/* The cosine for ncut, whose centres are directions, else the negative distance. */
static double nearness(const huddle_array *rows, int64_t i, const huddle_array *centres, int64_t k,
                       bool direction) {
    double product = 0, norm = 0, square = 0;
    for (int64_t j = 0; j < centres->cols; j++) {
        double a = value_at(rows, i, j), b = value_at(centres, k, j);
        product += a * b;
        norm += a * a;
        square += (a - b) * (a - b);
    }
    return direction ? product / sqrt(norm) : -square;
}

/* Most rows are nearest the centre with the number of their label. */
static void check_centres(const char *method, huddle_model *model, const int32_t *own) {
    huddle_array centres, rows;
    int64_t wrong = 0;
    if (!find_array(model, "centres", &centres) || !find_rows(model, centres.cols, &rows))
        return;
    for (int64_t i = 0; i < N; i++) {
        int64_t best = 0;
        bool direction = strcmp(method, "ncut") == 0;
        for (int64_t k = 1; k < centres.rows; k++)
            if (nearness(&rows, i, &centres, k, direction) >
                nearness(&rows, i, &centres, best, direction))
                best = k;
        wrong += best != own[i];
    }
    if (wrong > N / 10)
        fail_msg("%s: %lld of %d rows are nearer another centre", method, (long long)wrong, N);
}

/* Medoids are rows of the arrays, which are numbered by the first row of x that they stand for. */
static void check_medoids(const char *method, const huddle_model *model) {
    const hd_fit_clusters *clusters = &model->fit.clusters;
    for (int64_t k = 0; k < clusters->centres.rows; k++)
        if (clusters->medoids[k] >= 0 && clusters->labels[clusters->medoids[k]] != k)
            fail_msg("%s: the medoid of cluster %lld is in cluster %d", method, (long long)k,
                     clusters->labels[clusters->medoids[k]]);
}

/* K-means that was preferred to the graph has centres of its own. */
static void check_prediction(const char *method, const huddle_model *model,
                             const huddle_points *x) {
    const int32_t *labels = huddle_model_labels(model, NULL);
    int32_t again[N];
    assert_ok(huddle_model_predict(NULL, model, x, again));
    for (int64_t i = 0; i < N; i++)
        if (again[i] != labels[i])
            fail_msg("%s: row %lld has label %d, predicted %d", method, (long long)i, labels[i],
                     again[i]);
}

static huddle_model *fit_and_check(const char *method, const char *n_clusters, const char *refine,
                                   const huddle_points *x) {
    huddle_model *model = fit(method, n_clusters, refine, x);
    assert_int_equal(check_numbers(method, "labels", huddle_model_labels(model, NULL), 1),
                     n_clusters[0] - '0');
    check_starts(method, model);
    check_centres(method, model, own_labels(method, model));
    check_medoids(method, model);
    check_prediction(method, model, x);
    return model;
}

static void clusters_are_numbered_by_first_member(const char *method) {
    static const char *const refine[] = {"auto", "graph", "none"};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (size_t r = 0; r < sizeof refine / sizeof *refine; r++) {
            huddle_points x = clouds(seed);
            huddle_model_free(fit_and_check(method, "5", refine[r], &x));
            huddle_points_free(&x);
        }
}

/* Labels that replace those of the method's own step have other first members. */
static void refined_clusters_are_numbered_by_first_member(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ncut", "selftune-sc"};
    int by_kmeans = 0, by_graph = 0;
    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        huddle_points x = overlapping(seed);
        huddle_model *model = fit_and_check(methods[seed % 3], "4", "auto", &x);
        by_kmeans += strcmp(model->fit.refined.from, "kmeans") == 0;
        by_graph += strcmp(model->fit.refined.from, "graph") == 0;
        huddle_model_free(model);
        huddle_points_free(&x);
    }
    assert_true(by_kmeans > 1 && by_graph > 1);
}

/* ---- others ---------------------------------------------------------------------------------- */

/* Every number of a range has labels of its own, and those of the chosen one are the labels. */
static void labels_of_a_range_are_numbered_by_first_member(const char *method) {
    huddle_points x = clouds(SEEDS);
    huddle_model *model = fit(method, "2-7", "graph", &x);
    huddle_array range;
    const int32_t *labels = huddle_model_labels(model, NULL);
    assert_ok(huddle_model_array(model, "range_labels", &range));
    for (int64_t t = 0; t < range.cols; t++) {
        const int32_t *tried = (const int32_t *)range.values + t;
        check_numbers(method, "a trial", tried, range.stride);
        for (int64_t i = 0; i < N && t + 2 == model->fit.clusters.n_clusters; i++)
            assert_int_equal(tried[i * range.stride], labels[i]);
    }
    check_numbers(method, "labels", labels, 1);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Fewer different points than clusters: those that stay empty have the last numbers. */
static void empty_clusters_come_last(const char *method) {
    static const float places[] = {3, 9, 1};
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++)
        x.values[2 * i] = x.values[2 * i + 1] = places[i * i % 7 % 3];
    huddle_model *model = fit(method, "5", "none", &x);
    check_numbers(method, "labels", huddle_model_labels(model, NULL), 1);
    check_medoids(method, model);
    huddle_model_free(model);
    huddle_points_free(&x);
}

PROMISE(clusters_are_numbered_by_first_member)
PROMISE(labels_of_a_range_are_numbered_by_first_member)
PROMISE(empty_clusters_come_last)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_clusters_are_numbered_by_first_member),
        cmocka_unit_test(refined_clusters_are_numbered_by_first_member),
        cmocka_unit_test(all_labels_of_a_range_are_numbered_by_first_member),
        cmocka_unit_test(all_empty_clusters_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
