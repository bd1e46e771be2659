/* Fits of one method, for the tests of methods. */
#ifndef HUDDLE_TESTS_METHOD_FITS_H
#define HUDDLE_TESTS_METHOD_FITS_H

#include "huddle/huddle.h"
#include "support/support.h"

/* options: names and values, ended by NULL. */
static inline huddle_model *fit(const char *method, const huddle_points *x, const char *n_clusters,
                                const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

#endif
