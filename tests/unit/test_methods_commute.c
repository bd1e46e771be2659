/* Row rule commute in the methods: number of columns, the formula, new points. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 240, C = 3 };

/* The methods with an option `rows`; ncut has a rule of its own. */
static const char *const methods[] = {"sc",  "ssc", "selftune-sc", "llc",    "ldmgi",
                                      "sec", "lsc", "pca-sc",      "lda-sc", "bipartite"};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* Three noisy arcs, `apart` from each other; `moved` is added to every value. */
static huddle_points make_arcs(double noise, double apart, double moved) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)i);
        int64_t arc = i % C;
        double radius = 1.0 + (double)arc * (1 + apart), angle = 0.03 * (double)(i / C);
        x.values[2 * i] = (float)(radius * cos(angle) + noise * hd_rng_normal(&rng) + moved);
        x.values[2 * i + 1] = (float)(radius * sin(angle) + noise * hd_rng_normal(&rng) + moved);
    }
    return x;
}

static huddle_model *fit(const char *method, const huddle_points *x, const char *n_clusters,
                         const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "rows", "commute"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static huddle_model *fit_plainly(const char *method, const huddle_points *x,
                                 const char *n_clusters) {
    return fit(method, x, n_clusters, (const char *const[]){NULL});
}

/* Rows are v / sqrt(max(lambda, .1 lambda_middle)) of norm 1, out of the first `columns` vectors.
 */
static void assert_commute_rows(const hd_fit *f, int64_t columns) {
    const huddle_dense *rows = &f->embedding.f.rows, *vectors = &f->embedding.f.vectors;
    const double *lambda = f->embedding.f.eigenvalues;
    double floor = fmax(.1 * lambda[(columns + 1) / 2 - 1], 1e-7);
    assert_int_equal(rows->cols, columns);
    for (int64_t i = 0; i < rows->rows; i++) {
        double squares = 0;
        for (int64_t k = 0; k < columns; k++) {
            double v = vectors->values[i * vectors->stride + k];
            squares += v * v / fmax(lambda[k], floor);
        }
        for (int64_t k = 0; k < columns; k++) {
            double v = vectors->values[i * vectors->stride + k];
            assert_close(rows->values[i * rows->stride + k],
                         v / sqrt(fmax(lambda[k], floor) * squares), 1e-12);
        }
    }
}

static void every_method_makes_them_of_two_vectors_per_cluster(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.1, 0, 0);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit_plainly(methods[m], &x, "3");
        assert_commute_rows(&model->fit, 2 * C);
        assert_int_equal(model->fit.clusters.centres.cols, 2 * C);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* A range has one embedding for its largest number; each number has rows of its own. */
static void each_number_of_a_range_has_its_own(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.1, 0, 0);
    static const char *const ranges[] = {"2-5", "auto"};
    for (int m = 0; m < N_METHODS; m++)
        for (int r = 0; r < 2; r++) {
            huddle_model *model = fit_plainly(methods[m], &x, ranges[r]);
            assert_true(model->fit.embedding.f.vectors.cols >= 2 * model->fit.clusters.n_clusters);
            assert_commute_rows(&model->fit, 2 * (int64_t)model->fit.clusters.n_clusters);
            huddle_model_free(model);
        }
    huddle_points_free(&x);
}

/* Training points have their labels, and points beside them, which go through the extension of the
 * embedding, nearly always. */
static void new_points_are_labelled_like_training_points(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.3, 0, 0), beside = make_arcs(0.3, 0, 1e-3);
    for (int m = 0; m < N_METHODS; m++) {
        huddle_model *model = fit_plainly(methods[m], &x, "3");
        int32_t labels[N];
        int different = 0;
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        assert_memory_equal(labels, model->fit.clusters.labels, sizeof labels);
        assert_ok(huddle_model_predict(NULL, model, &beside, labels));
        for (int i = 0; i < N; i++)
            different += labels[i] != model->fit.clusters.labels[i];
        if (different > N / 50)
            fail_msg("%s: %d of %d labels differ", methods[m], different, N);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
    huddle_points_free(&beside);
}

/* Columns are limited by the number of vertices. */
static void few_points_have_fewer_columns(void **state) {
    (void)state;
    huddle_points x = {0};
    assert_ok(huddle_points_new(5, 1, &x));
    for (int i = 0; i < 5; i++)
        x.values[i] = (float)(i * i);
    huddle_model *model = fit_plainly("sc", &x, "4");
    assert_commute_rows(&model->fit, 5);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* The eigenvalues of a ring are 0 and pairs of equal ones. Six vectors cut a pair, three do not. */
static void a_cut_after_the_last_vector_is_reported(void **state) {
    (void)state;
    static const char *const rules[] = {"unit", "commute"};
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int i = 0; i < N; i++) {
        x.values[2 * i] = (float)cos(2 * 3.14159265358979 * i / N);
        x.values[2 * i + 1] = (float)sin(2 * 3.14159265358979 * i / N);
    }
    for (int r = 0; r < 2; r++) {
        huddle_model *model = fit(
            "sc", &x, "3",
            (const char *const[]){"rows", rules[r], "n_neighbors", "4", "scale", "binary", NULL});
        char *json;
        assert_ok(huddle_model_info_json(model, &json));
        assert_true((strstr(json, "the eigengap after the last eigenvector") != NULL) == (r == 1));
        huddle_free(json);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
}

/* Three components for three clusters: lambda_3 = 0, and the labels are the components. */
static void components_are_the_clusters(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.1, 3, 0);
    huddle_model *model = fit("sc", &x, "3", (const char *const[]){"n_neighbors", "5", NULL});
    assert_int_equal(model->fit.embedding.info.components, C);
    for (int i = C; i < N; i++)
        assert_int_equal(model->fit.clusters.labels[i], model->fit.clusters.labels[i % C]);
    assert_commute_rows(&model->fit, 2 * C);
    huddle_model_free(model);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_makes_them_of_two_vectors_per_cluster),
        cmocka_unit_test(each_number_of_a_range_has_its_own),
        cmocka_unit_test(new_points_are_labelled_like_training_points),
        cmocka_unit_test(few_points_have_fewer_columns),
        cmocka_unit_test(a_cut_after_the_last_vector_is_reported),
        cmocka_unit_test(components_are_the_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
