/* What every method promises is checked for every method: PROMISE(check) makes a test all_CHECK out
 * of a function check(const char *method). */
#ifndef HUDDLE_TESTS_PROMISES_H
#define HUDDLE_TESTS_PROMISES_H

#include "base/rng.h"
#include "huddle/huddle.h"
#include "support/support.h"

static inline void check_all_methods(void (*check)(const char *method)) {
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++) {
        print_message("    %s\n", (*text)->name);
        check((*text)->name);
    }
}

enum { N_CLOUDS = 4, CLOUD_FEATURES = 6 };

/* Four clouds in six dimensions, some rows twice, one column constant. */
static inline huddle_points new_clouds(int64_t n) {
    huddle_points x;
    assert_ok(huddle_points_new(n, CLOUD_FEATURES, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)(i % 100 == 7 ? i - 4 : i));
        float *row = x.values + i * CLOUD_FEATURES;
        for (int j = 0; j + 1 < CLOUD_FEATURES; j++)
            row[j] = (float)(4.0 * (double)((i % N_CLOUDS) >> (j % 2) & 1) + 2 +
                             0.3 * hd_rng_normal(&rng));
        row[CLOUD_FEATURES - 1] = 1;
    }
    return x;
}

/* A model for that many clusters, with n_init 2 where the method has it, and a context for its fit:
 * on one thread, as without memory for workers a loop just runs on its own. The caller initialises
 * both with NULL, and frees them whatever the status is. */
static inline huddle_status new_on_one_thread(const char *method, const char *n_clusters,
                                              huddle_context **context, huddle_model **model) {
    huddle_status status = huddle_context_new(context);
    if (status == HUDDLE_OK)
        status = huddle_context_set_threads(*context, 1);
    if (status == HUDDLE_OK)
        status = huddle_model_new(method, model);
    if (status == HUDDLE_OK)
        status = huddle_model_set_option(*model, "n_clusters", n_clusters);
    if (status == HUDDLE_OK && huddle_option_find(huddle_model_options(*model), "n_init") != NULL)
        status = huddle_model_set_option(*model, "n_init", "2");
    return status;
}

#define PROMISE(check)                                                                             \
    static void all_##check(void **state) {                                                        \
        (void)state;                                                                               \
        check_all_methods(check);                                                                  \
    }

#endif
