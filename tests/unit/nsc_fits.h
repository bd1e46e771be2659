/* Points and fitted models for the tests of nsc. */
#ifndef HUDDLE_TESTS_NSC_FITS_H
#define HUDDLE_TESTS_NSC_FITS_H

#include "clouds.h"
#include "model/model.h"
#include "support/support.h"

/* A fitted model; options is a list of names and values that ends with NULL. */
static huddle_model *fit(const huddle_points *x, const char *n_clusters,
                         const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new("nsc", &model));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

#endif
