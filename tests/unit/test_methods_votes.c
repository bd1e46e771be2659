/* methods: new points of fits whose labels were refined. */
#include "model/model.h"
#include "refined_fits.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>

enum { K = 5, QUERIES = 400 };

typedef struct ballot {
    int32_t label;      /* of most votes */
    int32_t unweighted; /* if all neighbours counted the same */
    bool close;         /* rounding may decide */
} ballot;

/* Sorts the training rows of a fit by their distance from a point, by selection of the first k + 1;
 * returns by which votes the point is labelled. */
static ballot vote(const hd_fit *f, const float *point, int k) {
    double distance[N], votes[C] = {0}, heads[C] = {0}, far = 0;
    int64_t order[N], n = f->rows.n;
    const huddle_points *x = &f->prepared.points;
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
        distance[i] = hypot((double)point[0] - (double)x->values[i * x->stride],
                            (double)point[1] - (double)x->values[i * x->stride + 1]);
    }
    for (int t = 0; t <= k; t++)
        for (int64_t i = n - 1; i > t; i--)
            if (distance[order[i]] < distance[order[i - 1]]) {
                int64_t held = order[i];
                order[i] = order[i - 1];
                order[i - 1] = held;
            }
    far = distance[order[k - 1]];
    for (int t = 0; t < k; t++) {
        int64_t i = order[t];
        double copies = f->rows.nodes.n > 0 ? (double)(1 + f->rows.nodes.copies[i]) / 2 : 1;
        int32_t label = f->clusters.labels[i];
        votes[label] += copies * huddle_graph_weight(&f->graph.scale, i, far, distance[i]);
        heads[label] += 1;
    }
    ballot b = {0, 0, distance[order[k]] - far < 1e-5};
    for (int32_t l = 1; l < C; l++) {
        b.label = votes[l] > votes[b.label] ? l : b.label;
        b.unweighted = heads[l] > heads[b.unweighted] ? l : b.unweighted;
    }
    for (int32_t l = 0; l < C; l++)
        b.close = b.close || (l != b.label && votes[l] > .999 * votes[b.label]);
    return b;
}

static void new_points_get_the_label_of_most_votes(void **state) {
    (void)state;
    huddle_points plain = clouds(N, 1), copied = clouds_with_copies(), y = clouds(QUERIES, 9);
    for (int m = 0; m < N_METHODS; m++)
        for (int merged = 0; merged < 2; merged++) {
            const huddle_points *x = merged ? &copied : &plain;
            huddle_model *model = fit_with(methods[m], x, "graph");
            int k = strcmp(methods[m], "selftune-sc") == 0 ? 7 : K, compared = 0, weighted = 0;
            int32_t labels[QUERIES];
            assert_true((model->fit.rows.nodes.n > 0) == (merged == 1));
            assert_true(model->fit.refined.present);
            assert_ok(huddle_model_predict(NULL, model, &y, labels));
            for (int64_t i = 0; i < QUERIES; i++) {
                ballot b = vote(&model->fit, y.values + 2 * i, k);
                if (b.close)
                    continue;
                compared++;
                weighted += b.label != b.unweighted;
                assert_int_equal(labels[i], b.label);
            }
            assert_true(compared > QUERIES * 9 / 10);
            assert_true(weighted > 0); /* else votes without weights would pass */
            huddle_model_free(model);
        }
    huddle_points_free(&plain);
    huddle_points_free(&copied);
    huddle_points_free(&y);
}

/* The labels of the k training rows nearest a point, the nearest first. */
static void nearest_labels(const huddle_points *x, const int32_t *known, const float *point, int k,
                           int32_t *labels) {
    bool used[N] = {false};
    for (int t = 0; t < k; t++) {
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t i = 0; i < N; i++) {
            double distance = hypot((double)point[0] - (double)x->values[2 * i],
                                    (double)point[1] - (double)x->values[2 * i + 1]);
            if (!used[i] && distance < least) {
                least = distance;
                best = i;
            }
        }
        used[best] = true;
        labels[t] = known[best];
    }
}

/* Far from all points the weights have their smallest value, and all neighbours count the same. Of
 * labels with equally many neighbours that of the nearest is taken. */
static void equal_votes_are_decided_by_the_nearest(void **state) {
    (void)state;
    enum { DIRECTIONS = 360, TWO = 2 };
    huddle_points x = clouds(N, 1), y;
    huddle_model *model = fit("sc", &x, OPTIONS("refine", "graph", "n_neighbors", "2"));
    int32_t labels[DIRECTIONS];
    int equal = 0;
    assert_ok(huddle_points_new(DIRECTIONS, 2, &y));
    for (int i = 0; i < DIRECTIONS; i++) {
        y.values[2 * i] = (float)(200 * cos(.0175 * i));
        y.values[2 * i + 1] = (float)(200 * sin(.0175 * i));
    }
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    for (int i = 0; i < DIRECTIONS; i++) {
        int32_t near[TWO], expected = -1;
        int counts[C] = {0}, most = 0, with_most = 0;
        nearest_labels(&x, huddle_model_labels(model, NULL), y.values + 2 * i, TWO, near);
        for (int t = 0; t < TWO; t++)
            most = ++counts[near[t]] > most ? counts[near[t]] : most;
        for (int t = TWO - 1; t >= 0; t--)
            expected = counts[near[t]] == most ? near[t] : expected;
        for (int32_t l = 0; l < C; l++)
            with_most += counts[l] == most;
        equal += with_most > 1;
        assert_int_equal(labels[i], expected);
    }
    assert_true(equal > 0);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static huddle_points as_sparse(const huddle_points *x) {
    huddle_points y;
    assert_ok(huddle_points_new_sparse(x->n, 2, 2 * x->n, &y));
    for (int64_t e = 0; e < 2 * x->n; e++) {
        y.columns[e] = (int32_t)(e % 2);
        y.values[e] = x->values[e] + 5;
        y.offsets[e / 2 + 1] = e + 1;
    }
    return y;
}

/* Training rows keep their labels, dense or sparse, merged or not, under either metric, and from a
 * file too. */
static void training_rows_keep_their_labels(void **state) {
    (void)state;
    huddle_points plain = clouds(N, 1), copied = clouds_with_copies(), sparse = as_sparse(&plain);
    const huddle_points *const inputs[] = {&plain, &copied, &sparse};
    char path[256];
    snprintf(path, sizeof path, "%s/refined.huddle", test_directory());
    for (int m = 0; m < N_METHODS; m++)
        for (int input = 0; input < 3; input++)
            for (int cosine = 0; cosine < 2; cosine++) {
                huddle_model *loaded,
                    *model =
                        fit(methods[m], inputs[input],
                            OPTIONS("refine", "graph", "metric", cosine ? "cosine" : "euclidean"));
                const int32_t *known = huddle_model_labels(model, NULL);
                int32_t labels[N], again[N];
                assert_ok(huddle_model_predict(NULL, model, inputs[input], labels));
                assert_memory_equal(labels, known, sizeof labels);
                assert_ok(huddle_model_save(model, path));
                assert_ok(huddle_model_load(path, &loaded));
                assert_ok(huddle_model_predict(NULL, loaded, inputs[input], again));
                assert_memory_equal(again, known, sizeof again);
                assert_memory_equal(huddle_model_refine_info(loaded),
                                    huddle_model_refine_info(model), sizeof(huddle_refine_info));
                assert_memory_equal(loaded->fit.refined.own, model->fit.refined.own,
                                    (size_t)model->fit.rows.n * sizeof(int32_t));
                huddle_model_free(loaded);
                huddle_model_free(model);
            }
    huddle_points_free(&plain);
    huddle_points_free(&copied);
    huddle_points_free(&sparse);
}

/* Labels that come from K-means on the points are predicted by its centres. */
static void labels_of_kmeans_are_predicted_by_centres(void **state) {
    (void)state;
    huddle_points x = clouds(N, 1), y = clouds(QUERIES, 9);
    huddle_model *model = fit_with("sc", &x, "graph"),
                 *kmeans = fit("kmeans", &x, OPTIONS("seed", "0")), *loaded;
    int32_t labels[QUERIES], expected[QUERIES];
    char path[256];
    snprintf(path, sizeof path, "%s/kmeans.huddle", test_directory());
    hd_fit_refined *refined = &model->fit.refined;
    refined->from = "kmeans";
    refined->decision.reason = "stability";
    assert_ok(huddle_dense_copy(&kmeans->fit.clusters.centres, &refined->centres));
    assert_ok(huddle_model_predict(NULL, kmeans, &y, expected));
    assert_ok(huddle_model_predict(NULL, model, &y, labels));
    assert_memory_equal(labels, expected, sizeof labels);
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_predict(NULL, loaded, &y, labels));
    assert_memory_equal(labels, expected, sizeof labels);
    huddle_model_free(loaded);
    /* One centre too many would be a label that does not exist. */
    model->fit.clusters.n_clusters = C - 1;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "damaged");
    huddle_model_free(model);
    huddle_model_free(kmeans);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_points_get_the_label_of_most_votes),
        cmocka_unit_test(equal_votes_are_decided_by_the_nearest),
        cmocka_unit_test(training_rows_keep_their_labels),
        cmocka_unit_test(labels_of_kmeans_are_predicted_by_centres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
