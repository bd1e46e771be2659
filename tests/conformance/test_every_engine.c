/* The promises every engine of the build keeps: for every method the labels of the CPU, in fits and
 * predictions, for dense and sparse points, and no label that depends on the number of threads. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <string.h>

enum { N = 120, D = 6, C = 4 };

/* Four clouds; the last two columns are zero for most rows. */
static huddle_points clouds(void) {
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(9, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] =
                j < 4 ? (float)(5.0 * (double)((i % C) >> (j % 2) & 1) + 0.5 * hd_rng_normal(&rng))
                      : (float)(i % 7 == j);
    }
    return x;
}

static huddle_points sparse_copy(const huddle_points *x) {
    huddle_points y;
    int64_t count = 0;
    for (int64_t e = 0; e < N * D; e++)
        count += x->values[e] != 0;
    assert_ok(huddle_points_new_sparse(N, D, count, &y));
    count = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++)
            if (x->values[i * D + j] != 0) {
                y.columns[count] = (int32_t)j;
                y.values[count++] = x->values[i * D + j];
            }
        y.offsets[i + 1] = count;
    }
    return y;
}

/* Labels of a fit and of a prediction of the same rows; false if the method refuses the points. */
static bool find_labels(const char *engine, const char *method, int32_t threads,
                        const huddle_points *x, int32_t *labels) {
    huddle_context *context;
    huddle_model *model;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, threads));
    assert_ok(huddle_context_set_engine(context, engine));
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    huddle_status status = huddle_model_fit(context, model, x);
    if (status == HUDDLE_OK) {
        memcpy(labels, huddle_model_labels(model, NULL), N * sizeof *labels);
        assert_ok(huddle_model_predict(context, model, x, labels + N));
    }
    huddle_model_free(model);
    huddle_context_free(context);
    return status == HUDDLE_OK;
}

/* Equal up to the numbers of the clusters, the same numbers in fit and prediction. */
static void check_same_partition(const int32_t *a, const int32_t *b, const char *engine,
                                 const char *method) {
    for (int64_t i = 0; i < 2 * N; i++)
        for (int64_t j = 0; j < i; j++)
            if ((a[i] == a[j]) != (b[i] == b[j]))
                fail_msg("%s on %s: rows %lld and %lld", method, engine, (long long)j,
                         (long long)i);
}

static void check_engine(const char *engine, const char *method, const huddle_points *x) {
    int32_t known[2 * N], labels[2 * N], again[2 * N];
    if (!find_labels("cpu", method, 1, x, known)) {
        assert_false(find_labels(engine, method, 1, x, labels));
        return;
    }
    assert_true(find_labels(engine, method, 1, x, labels));
    check_same_partition(labels, known, engine, method);
    assert_true(find_labels(engine, method, 3, x, again));
    assert_memory_equal(labels, again, sizeof labels);
}

static void engines_give_the_labels_of_the_cpu(void **state) {
    (void)state;
    huddle_points x = clouds(), y = sparse_copy(&x);
    for (const huddle_engine_text *const *engine = huddle_engines(); *engine != NULL; engine++)
        for (const huddle_method_text *const *method = huddle_methods(); *method != NULL;
             method++) {
            check_engine((*engine)->name, (*method)->name, &x);
            check_engine((*engine)->name, (*method)->name, &y);
        }
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void engines_have_names_and_summaries(void **state) {
    (void)state;
    for (const huddle_engine_text *const *engine = huddle_engines(); *engine != NULL; engine++) {
        assert_true(strlen((*engine)->name) > 0 && strchr((*engine)->name, ':') == NULL);
        assert_true(strlen((*engine)->summary) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_have_names_and_summaries),
        cmocka_unit_test(engines_give_the_labels_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
