/* The memory of an engine in the prediction of memory: it is asked about what it computes, and the
 * memory of the host does not decide for it. */
#include "base/check.h"
#include "base/context.h"
#include "base/machine.h"
#include "base/stages.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An engine that says how much memory it has, and then declines to shrink. */
static hd_memory_answer memory;
static int asked;

static huddle_status decline_shrink(huddle_context *context, const hd_shrink_request *request,
                                    hd_shrink_result *result) {
    (void)context, (void)request, (void)result;
    asked++;
    return hd_fail(HUDDLE_UNSUPPORTED, "nothing is shrunk here");
}

static huddle_status answer_memory(huddle_context *context, const hd_memory_request *request,
                                   hd_memory_answer *answer) {
    (void)context;
    assert_string_equal(request->stage, "shrink");
    assert_true(request->n == 3000 && request->host > 0);
    *answer = memory;
    return HUDDLE_OK;
}

static const hd_engine remembering = {.text = {"remembering", "for tests"},
                                      .shrink = decline_shrink,
                                      .predict_memory = answer_memory};
static const hd_engine forgetful = {.text = {"forgetful", "for tests"}, .shrink = decline_shrink};

/* The stage with the largest peak, and what was saved. */
static char *info_of(const hd_engine *engine, const huddle_points *x, int64_t limit) {
    huddle_context *context = counting_context_with(engine, "");
    huddle_model *model;
    char *info;
    asked = 0;
    if (limit > 0)
        assert_ok(huddle_context_set_memory(context, hd_machine_private("") + limit));
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "10"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(context, model, x));
    assert_ok(huddle_model_info_json(model, &info));
    huddle_model_free(model);
    huddle_context_free(context);
    return info;
}

static double member(const char *info, const char *name) {
    char key[64];
    const char *at = strstr(info, "\"memory\": {");
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(at, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* Under a limit of the host that makes the CPU change its solver, an engine with memory is asked
 * all the same, and one without is not. */
static void host_memory_does_not_bypass_an_engine(void **state) {
    (void)state;
    skip_unless_memory_is_measured();
    huddle_points x = counting_groups(3000, 8, 10, 2);
    char *cpu = info_of(NULL, &x, 0);
    int64_t need = (int64_t)(member(cpu, "predicted") - member(cpu, "base"));
    huddle_free(cpu);
    static const struct {
        const hd_engine *engine;
        hd_memory_answer memory;
        bool bypassed;
    } cases[] = {{NULL, {0, 0}, true},
                 {&remembering, {1000, 1000}, false},
                 {&remembering, {1001, 1000}, true},
                 {&forgetful, {0, 0}, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memory = cases[k].memory;
        char *info = info_of(cases[k].engine, &x, 8 * need / 10);
        assert_int_equal(strstr(info, "without linear systems") != NULL, cases[k].bypassed);
        assert_int_equal(asked > 0, cases[k].engine != NULL && !cases[k].bypassed);
        assert_true(member(info, "predicted") <= member(info, "limit"));
        huddle_free(info);
    }
    huddle_points_free(&x);
}

/* The stages that an engine was asked about. */
static bool asked_about[HD_STAGE_COUNT];

static huddle_status note_stage(huddle_context *context, const hd_memory_request *request,
                                hd_memory_answer *answer) {
    (void)context;
    assert_true(request->host > 0);
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        asked_about[k] |= strcmp(hd_stage_name((hd_stage)k), request->stage) == 0;
    *answer = memory;
    return HUDDLE_OK;
}

/* The largest prediction of a fit on three threads, in which preparations are compared and labels
 * are refined. */
static double predicted_by(const hd_engine *engine, const huddle_points *x) {
    huddle_context *context = counting_context_with(engine, "decline");
    huddle_model *model;
    char *info;
    assert_ok(huddle_model_new("ssc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "10"));
    assert_ok(huddle_model_set_option(model, "n_neighbors", "2"));
    assert_ok(huddle_model_set_option(model, "n_init", "2"));
    assert_ok(huddle_model_set_option(model, "prepare", "auto"));
    assert_ok(huddle_model_set_option(model, "refine", "auto"));
    assert_ok(huddle_model_fit(context, model, x));
    assert_ok(huddle_model_info_json(model, &info));
    double predicted = member(info, "predicted") - member(info, "base");
    huddle_free(info);
    huddle_model_free(model);
    huddle_context_free(context);
    return predicted;
}

/* An engine is asked about every stage that it computes, and what it takes is not the host's. */
static void every_stage_of_an_engine_is_asked_about(void **state) {
    (void)state;
    static const hd_stage stages[] = {HD_STAGE_DISTINCT, HD_STAGE_PREPARE,      HD_STAGE_GRAPH,
                                      HD_STAGE_EMBED,    HD_STAGE_SHRINK_GRAPH, HD_STAGE_SHRINK,
                                      HD_STAGE_KMEANS,   HD_STAGE_REFINE};
    enum { N_STAGES = sizeof stages / sizeof *stages };
    skip_unless_memory_is_measured();
    huddle_points x = counting_groups(400, 8, 10, 2);
    hd_engine engine = counting_engine;
    engine.predict_memory = note_stage;
    double cpu = predicted_by(NULL, &x);
    memory = (hd_memory_answer){2, 1};
    assert_true(predicted_by(&engine, &x) == cpu);
    for (int k = 0; k < N_STAGES; k++)
        if (!asked_about[stages[k]])
            fail_msg("the engine was not asked about %s", hd_stage_name(stages[k]));
    memory = (hd_memory_answer){1, 1};
    assert_true(predicted_by(&engine, &x) < cpu);
    /* Only parts of these: it is asked about the others. */
    memset(asked_about, 0, sizeof asked_about);
    engine.map_points = NULL;
    engine.move_vertices = NULL;
    (void)predicted_by(&engine, &x);
    for (int k = 0; k < N_STAGES; k++)
        assert_int_equal(asked_about[stages[k]],
                         stages[k] != HD_STAGE_PREPARE && stages[k] != HD_STAGE_REFINE);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory_does_not_bypass_an_engine),
        cmocka_unit_test(every_stage_of_an_engine_is_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
