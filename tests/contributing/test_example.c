/* The method of CONTRIBUTING.md does what its page says. */
#include "base/rng.h"
#include "methods/method.h"
#include "support/support.h"

#include <stdlib.h>

extern const hd_method hd_method_of_the_page;

enum { N = 90, D = 3, C = 3 };

static huddle_points clouds(void) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(1, 0);
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t e = 0; e < N * D; e++)
        x.values[e] = (float)(hd_rng_normal(&rng) + (e / D % C == e % D ? 20 : 0));
    return x;
}

static huddle_status fit_and_predict(void *argument) {
    const huddle_points *x = argument;
    huddle_option *table = NULL;
    hd_fit fit = {.d = D, .rows = {.n = N}};
    hd_step_job job = {.x = x};
    int32_t labels[N];
    void *options = malloc(hd_method_of_the_page.options_size);
    huddle_status status = hd_method_options(&hd_method_of_the_page, &table);
    if (status == HUDDLE_OK) {
        huddle_options_default(table, options);
        assert_ok(huddle_options_set(table, options, "n_clusters", "2-4"));
        assert_ok(huddle_options_set(table, options, "first_row", "5"));
        status = hd_method_fit(&hd_method_of_the_page, NULL, &job, options, &fit);
    }
    if (status == HUDDLE_OK)
        status = hd_method_of_the_page.predict(NULL, &fit, options, x, labels);
    for (int64_t i = 0; i < N && status == HUDDLE_OK; i++) {
        assert_int_equal(fit.clusters.n_clusters, C);
        assert_int_equal(labels[i], fit.clusters.labels[i]);
        assert_int_equal(labels[i] == labels[0], i % C == 0);
    }
    hd_fit_free(&fit);
    huddle_free(table);
    free(options);
    return status;
}

static void the_example_clusters_and_predicts(void **state) {
    (void)state;
    huddle_points x = clouds();
    assert_ok(fit_and_predict(&x));
    test_each_allocation(fit_and_predict, &x);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_example_clusters_and_predicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
