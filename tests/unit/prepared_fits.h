/* A model of points with a preparation, for the tests of models. */
#ifndef HUDDLE_TESTS_PREPARED_FITS_H
#define HUDDLE_TESTS_PREPARED_FITS_H

#include "huddle/huddle.h"
#include "support/support.h"

/* Three clusters. */
static inline huddle_model *fit_prepared(const char *method, const char *rule,
                                         const huddle_points *x) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", rule));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

#endif
