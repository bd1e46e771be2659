/* model: presets, and the options that the preset `published` needs. */
#include "model/model.h"
#include "unit/model_fits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const huddle_model *model, const char *name) {
    static char text[128];
    assert_ok(huddle_model_get_option(model, name, text, sizeof text));
    return text;
}

static const huddle_preset *published(void) {
    const huddle_preset *presets = huddle_method_presets("ssc");
    assert_string_equal(presets[0].name, "published");
    return presets;
}

/* ---- which options it sets ----------------------------------------------------------------- */

/* The list itself: a change of it changes what the project calls the paper to the letter. */
static void published_is_this(void **state) {
    (void)state;
    static const char *const wanted[][2] = {{"prepare", "none"},
                                            {"duplicates", "keep"},
                                            {"n_neighbors", "5"},
                                            {"scale", "mean"},
                                            {"delta", "auto"},
                                            {"connect", "false"},
                                            {"rows", "sym"},
                                            {"shrink_neighbors", "5"},
                                            {"shrink_scale", "mean"},
                                            {"shrink_delta", "auto"},
                                            {"gamma", "1"},
                                            {"loss", "l21"},
                                            {"solver", "published"},
                                            {"snap", "false"},
                                            {"guard", "false"},
                                            {"shrink_start", "random"},
                                            {"shrink_epsilon", "1e-12"},
                                            {"n_init", "50"},
                                            {"init", "sample"},
                                            {"full_restarts", "true"},
                                            {"refine", "none"}};
    huddle_model *model;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "preset", "published"));
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        assert_string_equal(text_of(model, wanted[k][0]), wanted[k][1]);
    huddle_model_free(model);
}

/* As if what it lists had been set by hand, and nothing else. */
static void every_other_option_keeps_its_default(void **state) {
    (void)state;
    huddle_model *model, *by_hand;
    char expected[128];
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_new("ssc", &by_hand));
    assert_ok(huddle_model_set_option(model, "preset", "published"));
    for (const huddle_setting *s = published()->settings; s->option != NULL; s++)
        assert_ok(huddle_model_set_option(by_hand, s->option, s->value));
    for (const huddle_option *o = huddle_model_options(model); o->type != HUDDLE_OPTION_END; o++) {
        snprintf(expected, sizeof expected, "%s", text_of(by_hand, o->name));
        if (strcmp(o->name, "preset") != 0)
            assert_string_equal(text_of(model, o->name), expected);
    }
    huddle_model_free(by_hand);
    huddle_model_free(model);
}

static void given_options_keep_their_values(void **state) {
    (void)state;
    huddle_model *model;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "rows", "unit")); /* which is the default */
    assert_ok(huddle_model_set_option(model, "gamma", "2"));
    assert_ok(huddle_model_set_option(model, "preset", "published"));
    assert_ok(huddle_model_set_option(model, "snap", "true"));
    assert_string_equal(text_of(model, "rows"), "unit");
    assert_string_equal(text_of(model, "gamma"), "2");
    assert_string_equal(text_of(model, "snap"), "true");
    assert_string_equal(text_of(model, "solver"), "published");
    /* A preset leaves nothing behind. */
    assert_ok(huddle_model_set_option(model, "preset", "none"));
    assert_string_equal(text_of(model, "solver"), "auto");
    assert_string_equal(text_of(model, "prepare"), "auto");
    assert_string_equal(text_of(model, "gamma"), "2");
    assert_refused(huddle_model_set_option(model, "preset", "publishd"), HUDDLE_INVALID,
                   "none|published");
    huddle_model_free(model);
}

/* The choices of `preset` are the names of the presets, of every method. */
static void names_of_presets_are_the_choices(void **state) {
    (void)state;
    int with_presets = 0;
    for (const huddle_method_text *const *text = huddle_methods(); *text != NULL; text++) {
        const huddle_preset *preset = huddle_method_presets((*text)->name);
        huddle_model *model;
        assert_ok(huddle_model_new((*text)->name, &model));
        const huddle_option *option = huddle_option_find(huddle_model_options(model), "preset");
        assert_int_equal(preset != NULL, option != NULL);
        for (int k = 0; option != NULL && option->choices[k] != NULL; k++) {
            assert_ok(huddle_model_set_option(model, "preset", option->choices[k]));
            assert_string_equal(option->choices[k], k == 0 ? "none" : preset[k - 1].name);
            if (option->choices[k + 1] == NULL)
                assert_null(preset[k].name);
        }
        with_presets += option != NULL;
        huddle_model_free(model);
    }
    assert_true(with_presets >= 1);
    assert_null(huddle_method_presets("no such method"));
}

/* ---- fits ---------------------------------------------------------------------------------- */

static huddle_model *fit_published(const huddle_points *x, const char *const settings[][2]) {
    huddle_model *model;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "preset", "published"));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    for (int k = 0; settings[k][0] != NULL; k++)
        assert_ok(huddle_model_set_option(model, settings[k][0], settings[k][1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

static void a_fit_to_the_letter_has_its_raw_history(void **state) {
    (void)state;
    static const char *const none[][2] = {{NULL, NULL}};
    huddle_points x = arcs(0.03, 1);
    huddle_model *model = fit_published(&x, none);
    const huddle_shrink_info *info = huddle_model_shrink_info(model);
    huddle_array objective, shrunk;
    assert_string_equal(info->solver, "published");
    assert_false(info->snapped);
    assert_ok(huddle_model_array(model, "objective", &objective));
    assert_int_equal(objective.rows, info->n_iter);
    assert_close(((const double *)objective.values)[info->n_iter - 1], info->objective, 1e-12);
    assert_ok(huddle_model_array(model, "shrunk", &shrunk));
    assert_null(huddle_model_refine_info(model));
    /* The options of the preset are those of the fit, also where they are given one by one. */
    huddle_model *other;
    assert_ok(huddle_model_new("ssc", &other));
    assert_ok(huddle_model_set_option(other, "n_clusters", "3"));
    for (const huddle_setting *s = published()->settings; s->option != NULL; s++)
        assert_ok(huddle_model_set_option(other, s->option, s->value));
    assert_ok(huddle_model_fit(NULL, other, &x));
    same_labels(model, other);
    huddle_model_free(other);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* A model in a file has the options of its fit, and delta is part of the scale by which new points
 * are weighed. */
static void a_saved_fit_predicts_with_its_delta(void **state) {
    (void)state;
    static const char *const settings[][2] = {
        {"delta", "0.25"}, {"shrink_delta", "0.125"}, {NULL, NULL}};
    huddle_points x = arcs(0.03, 1), fresh = arcs(0.05, 2);
    huddle_model *model = fit_published(&x, settings), *loaded;
    int32_t before[N], after[N];
    assert_close(model->fit.graph.scale.delta2, .0625, 1e-15);
    assert_close(model->fit.shrunk.w.scale.delta2, .015625, 1e-15);
    const char *path = test_path_of("published.model");
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_string_equal(text_of(loaded, "preset"), "published");
    assert_string_equal(text_of(loaded, "delta"), "0.25");
    assert_string_equal(loaded->fit.graph.scale.rule, "delta");
    assert_close(loaded->fit.graph.scale.delta2, .0625, 1e-15);
    assert_ok(huddle_model_predict(NULL, model, &fresh, before));
    assert_ok(huddle_model_predict(NULL, loaded, &fresh, after));
    assert_memory_equal(before, after, sizeof before);
    huddle_model_free(loaded);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* Twenty copies of every point: merged, they are vertices with multiplicities; kept, each is a row
 * with a vertex and a label of its own, from points and from distances. */
static void kept_copies_are_vertices(void **state) {
    (void)state;
    enum { DISTINCT = 12, COPIES = 20, ROWS = DISTINCT * COPIES };
    huddle_points x, distances;
    assert_ok(huddle_points_new(ROWS, 2, &x));
    assert_ok(huddle_points_new(ROWS, ROWS, &distances));
    for (int i = 0; i < ROWS; i++) {
        x.values[2 * i] = (float)(i % DISTINCT % 4 + 20 * (i % DISTINCT / 4));
        x.values[2 * i + 1] = (float)(i % DISTINCT % 3);
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            distances.values[i * ROWS + j] = hypotf(x.values[2 * i] - x.values[2 * j],
                                                    x.values[2 * i + 1] - x.values[2 * j + 1]);
    for (int k = 0; k < 2 * 2 * 2; k++) {
        huddle_model *model;
        bool keeps = k % 2 == 1;
        assert_ok(huddle_model_new(k / 4 ? "sc" : "ssc", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
        assert_ok(huddle_model_set_option(model, "prepare", "none"));
        assert_ok(huddle_model_set_option(model, "duplicates", keeps ? "keep" : "merge"));
        if (k / 2 % 2)
            assert_ok(huddle_model_set_option(model, "affinity", "distances"));
        assert_ok(huddle_model_fit(NULL, model, k / 2 % 2 ? &distances : &x));
        assert_int_equal(model->fit.rows.nodes.n > 0, !keeps);
        assert_int_equal(model->fit.graph.matrix.rows, keeps ? ROWS : DISTINCT);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
    huddle_points_free(&distances);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_is_this),
        cmocka_unit_test(every_other_option_keeps_its_default),
        cmocka_unit_test(given_options_keep_their_values),
        cmocka_unit_test(names_of_presets_are_the_choices),
        cmocka_unit_test(a_fit_to_the_letter_has_its_raw_history),
        cmocka_unit_test(a_saved_fit_predicts_with_its_delta),
        cmocka_unit_test(kept_copies_are_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
