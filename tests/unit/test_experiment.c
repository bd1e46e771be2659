/* The experiment library: plans, cells, keys, the store, cancelling, and its text helpers. */
#include "support/support.h"

#include "experiment/experiment.h"
#include "experiment/work.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *parse(const char *text) {
    json_t *plan = json_loads(text, 0, NULL);
    assert_non_null(plan);
    return plan;
}

/* OUT for a test, a folder that is not there yet. */
static char *new_output(const char *name) {
    size_t size = strlen(test_directory()) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", test_directory(), name);
    return path;
}

static const char small_plan[] =
    "{\"data\": [{\"source\": \"blobs\", \"n\": 60}, \"moons\"],"
    " \"methods\": [\"kmeans\","
    "  {\"method\": \"kmeans\", \"label\": \"grid\", \"options\": {\"tol\": 0},"
    "   \"grid\": {\"max_iter\": [10, 20], \"n_clusters\": [\"c\", 3, 4]}}],"
    " \"seeds\": [3, 8], \"n_init\": 2}";

/* ---- text ----------------------------------------------------------------------------------- */

static void text_is_appended_as_far_as_it_fits(void **state) {
    (void)state;
    char text[8] = "ab";
    append_text(text, sizeof text, "%s%d", "c", 12);
    assert_string_equal(text, "abc12");
    append_text(text, sizeof text, "%s", "3456789");
    assert_string_equal(text, "abc1234");
}

static const char *suggest(const char *word, const char *const *candidates) {
    const char *best = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (; *candidates != NULL; candidates++)
        huddle_suggest_name(word, *candidates, &distance, &best);
    return best;
}

static void suggestions_are_near(void **state) {
    (void)state;
    static const char *const words[] = {"methods", "seeds", "n", "data", NULL};
    assert_string_equal(suggest("metods", words), "methods");
    assert_string_equal(suggest("meth", words), "methods"); /* a beginning */
    assert_string_equal(suggest("sedes", words), "seeds");  /* letters swapped */
    assert_null(suggest("colour", words));
    assert_null(suggest("xy", words)); /* everything is near a word of one letter */
}

static void percentages_are_rounded_half_up(void **state) {
    (void)state;
    assert_close(shown_percent(0.9625), 96.3, 1e-12);
    assert_close(shown_percent(0.12345), 12.3, 1e-12);
    assert_close(shown_percent(1), 100, 1e-12);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static void values_depend_on_the_data(void **state) {
    (void)state;
    huddle_data data = {.n_classes = 8};
    data.points.n = 100;
    static const struct {
        const char *json, *text;
    } values[] = {
        {"3", "3"},         {"0.5", "0.5"},      {"1e6", "1e+06"},      {"true", "true"},
        {"\"c\"", "8"},     {"\"n/c\"", "12.5"}, {"\"3 n/c\"", "37.5"}, {"\"pca:20\"", "pca:20"},
        {"\"2*n/c\"", "25"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[64];
        json_t *value = json_loads(values[i].json, JSON_DECODE_ANY, NULL);
        assert_true(plan_format_value(value, &data, text, sizeof text));
        assert_string_equal(text, values[i].text);
        json_decref(value);
    }
    json_t *list = json_array();
    assert_false(plan_format_value(list, &data, NULL, 0));
    json_decref(list);
}

/* Results of earlier releases are found by these digests. */
static void keys_do_not_change(void **state) {
    (void)state;
    char key[KEY_SIZE];
    plan_make_key("", key);
    assert_string_equal(key, "cbf29ce4842223252545f4914f6cdd1d");
    plan_make_key("huddle", key);
    assert_string_equal(key, "f7bad4f69573fb418a28371d46ea86ea");
}

static void cells_are_listed_with_their_settings(void **state) {
    (void)state;
    experiment e = {.output = "unused"};
    assert_ok(experiment_open_plan(NULL, "plan.json", parse(small_plan), &e));
    assert_ok(experiment_list_cells(&e));
    assert_int_equal(e.n_data, 2);
    assert_string_equal(e.data[0].name, "blobs");
    assert_int_equal(experiment_entry_count(&e), 2);
    assert_int_equal(experiment_grid_size(&e, 0), 1);
    assert_int_equal(experiment_grid_size(&e, 1), 6);
    assert_string_equal(experiment_label(&e, 0), "kmeans");
    assert_string_equal(experiment_label(&e, 1), "grid");
    assert_int_equal(e.n_cells, 2 * 2 * 7);
    /* The option named last varies fastest. */
    static const char *const n_clusters[] = {"5", "3", "4", "5", "3", "4"};
    for (int p = 0; p < 6; p++) {
        const experiment_cell *cell = &e.cells[1 + p];
        char text[64];
        assert_int_equal(cell->point, p);
        assert_int_equal(cell->seed, 3);
        assert_string_equal(text_of(cell->settings, "n_clusters"), n_clusters[p]);
        assert_string_equal(text_of(cell->settings, "max_iter"), p < 3 ? "10" : "20");
        assert_string_equal(text_of(cell->settings, "n_init"), "2");
        assert_string_equal(text_of(cell->settings, "seed"), "3");
        cell_grid_text(&e, cell, text, sizeof text);
        char expected[64];
        snprintf(expected, sizeof expected, "max_iter %s, n_clusters %s", p < 3 ? "10" : "20",
                 n_clusters[p]);
        assert_string_equal(text, expected);
    }
    /* Data, seed and settings are part of the key. */
    for (int i = 0; i < e.n_cells; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(e.cells[i].key, e.cells[j].key);
    experiment_free(&e);
}

/* An entry may name some of the plan's seeds; the order of cells stays. */
static void entries_can_leave_out_seeds(void **state) {
    (void)state;
    static const char *const text =
        "{\"data\": [\"moons\"], \"seeds\": [5, 0, 7], \"methods\": [\"kmeans\","
        " {\"method\": \"kmeans\", \"seeds\": [7, 5], \"grid\": {\"max_iter\": [1, 2]}}]}";
    static const int entries[] = {0, 1, 1, 0, 0, 1, 1}, seeds[] = {5, 5, 5, 0, 7, 7, 7};
    experiment e = {.output = "unused"};
    assert_ok(experiment_open_plan(NULL, "plan.json", parse(text), &e));
    assert_ok(experiment_list_cells(&e));
    assert_int_equal(e.n_cells, 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(e.cells[i].entry, entries[i]);
        assert_int_equal(e.cells[i].seed, seeds[i]);
    }
    experiment_free(&e);
}

static void mistakes_are_reported_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *plan, *message;
    } mistakes[] = {
        {"[]", "p.json: must be an object"},
        {"{\"dat\": []}", "p.json: unknown member 'dat'; did you mean 'data'?"},
        {"{\"data\": [\"moons\"]}", "p.json: methods: must be a list of methods"},
        {"{\"data\": [\"moons\"], \"methods\": [{\"method\": \"sc\", \"grid\": {\"tol\": [2]}}]}",
         "p.json: methods[0].grid.tol[0]: tol = 2"},
        {"{\"data\": [\"moons\"], \"methods\": [\"sc\"], \"seeds\": [0.5]}",
         "p.json: seeds: must be a list of non-negative integers"},
        {"{\"data\": [{\"source\": \"moons\", \"noise\": -1}], \"methods\": [\"sc\"]}",
         "p.json: data[0]: noise must be a number of at least 0"},
        {"{\"data\": [{\"source\": \"moons\", \"encode\": 1}], \"methods\": [\"sc\"]}",
         "p.json: data[0]: encode must be true or false"},
        {"{\"data\": [{\"source\": \"moons\", \"draw\": 3}], \"methods\": [\"sc\"]}",
         "p.json: data[0]: draw must be true or false"},
        {"{\"data\": [\"moons\"], \"methods\": [{\"method\": \"sc\", \"optional\": 1}]}",
         "p.json: methods[0]: optional must be true or false"},
        {"{\"data\": [\"moons\"], \"seeds\": [1, 2], \"methods\": [\"sc\","
         " {\"method\": \"sc\", \"seeds\": [1, 3]}]}",
         "p.json: methods[1].seeds: must be a list of seeds of the plan"},
        {"{\"data\": [\"moons\"], \"methods\": [{\"method\": \"sc\", \"seeds\": []}]}",
         "p.json: methods[0].seeds: must be a list of seeds of the plan"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        experiment e = {.output = "unused"};
        assert_refused(experiment_open_plan(NULL, "p.json", parse(mistakes[i].plan), &e),
                       HUDDLE_INVALID, mistakes[i].message);
        experiment_free(&e);
    }
    json_t *plan = NULL;
    assert_refused(experiment_load_plan("nowhere/p.json", &plan), HUDDLE_IO,
                   "nowhere/p.json: the plan cannot be opened");
    assert_null(plan);
}

static void context_goes_before_a_message(void **state) {
    (void)state;
    assert_int_equal(set_error(HUDDLE_IO, "cannot be read"), HUDDLE_IO);
    assert_refused(experiment_fail_about(HUDDLE_IO, "a.csv"), HUDDLE_IO, "a.csv: cannot be read");
    assert_refused(experiment_fail_about(HUDDLE_IO, "a.csv"), HUDDLE_IO, "a.csv: cannot be read");
    assert_null(strstr(huddle_last_error(), "a.csv: a.csv"));
    assert_int_equal(experiment_fail_about(HUDDLE_OK, "a.csv"), HUDDLE_OK);
}

/* Mean and standard deviation of the accuracy over the single restarts, from a model that is fitted
 * here with the cell's settings and keeps the labels of each. */
static void restarts_have_a_mean_and_a_deviation(void **state) {
    (void)state;
    char *output = new_output("restarts");
    experiment e = {.output = output};
    huddle_model *model = NULL;
    huddle_array starts = {0};
    const char *name;
    json_t *value;
    double sum = 0, squares = 0;
    assert_ok(experiment_run_plan(
        NULL, "plan.json",
        parse("{\"data\": [{\"source\": \"blobs\", \"n\": 80, \"noise\": 6}],"
              " \"methods\": [{\"method\": \"kmeans\", \"options\": {\"max_iter\": 2}}],"
              " \"seeds\": [4], \"n_init\": 5}"),
        &e));
    const huddle_data *data = &e.data[0].data;
    assert_ok(huddle_model_new("kmeans", &model));
    json_object_foreach(e.cells[0].settings, name, value) {
        assert_ok(huddle_model_set_option(model, name, json_string_value(value)));
    }
    huddle_model_keep_starts(model, true);
    assert_ok(huddle_model_fit(NULL, model, &data->points));
    assert_ok(huddle_model_array(model, "start_labels", &starts));
    assert_int_equal(starts.rows, 5);
    for (int64_t r = 0; r < 5; r++) {
        huddle_scores scores;
        assert_ok(huddle_metrics_scores(NULL, data->points.n, data->labels,
                                        (const int32_t *)starts.values + r * starts.stride,
                                        &scores));
        sum += scores.acc;
        squares += scores.acc * scores.acc;
    }
    double mean = sum / 5, deviation = sqrt(squares / 5 - mean * mean);
    assert_true(deviation > 1e-3);
    assert_close(number_of(e.cells[0].record, "acc_mean"), mean, 1e-12);
    assert_close(number_of(e.cells[0].record, "acc_std"), deviation, 1e-9);
    huddle_model_free(model);
    experiment_free(&e);
    free(output);
}

/* ---- running -------------------------------------------------------------------------------- */

static void finished_cells_are_found_again(void **state) {
    (void)state;
    char *output = new_output("again");
    for (int k = 0; k < 2; k++) {
        experiment e = {.output = output};
        assert_ok(experiment_run_plan(NULL, "plan.json", parse(small_plan), &e));
        assert_int_equal(k == 0 ? e.n_computed : e.n_found, e.n_cells);
        assert_int_equal(k == 0 ? e.n_found : e.n_computed, 0);
        grid_result best = grid_oracle(&e, 0, 1, "acc");
        assert_non_null(best.cell);
        /* The oracle is the largest mean over the two seeds. */
        for (int p = 0; p < 6; p++) {
            double sum = 0;
            for (int i = 0; i < e.n_cells; i++)
                if (e.cells[i].data == 0 && e.cells[i].entry == 1 && e.cells[i].point == p)
                    sum += number_of(e.cells[i].record, "acc");
            assert_close(grid_point(&e, 0, 1, p, "acc").best, sum / 2, 1e-12);
            assert_true(best.best >= sum / 2);
        }
        assert_ok(experiment_write_csv(&e));
        assert_ok(experiment_write_page(&e, NULL));
        experiment_free(&e);
    }
    free(output);
}

/* What a kill leaves of a line, a line of another plan, and a failed cell are no results. */
static void other_lines_are_passed_over(void **state) {
    (void)state;
    char *output = new_output("lines"), path[512], line[4096];
    experiment e = {.output = output};
    assert_ok(experiment_run_plan(NULL, "plan.json", parse(small_plan), &e));
    int n_cells = e.n_cells;
    snprintf(path, sizeof path, "%s/results.jsonl", output);
    FILE *file = fopen(path, "w");
    fprintf(file, "{\"key\": \"%s\", \"error\": \"no\"}\n{\"key\": \"other\"}\nnot JSON\n",
            e.cells[0].key);
    fprintf(file, "{\"key\": \"%s\", \"acc\": 0.5, \"labels\": \"x\"}\n", e.cells[1].key);
    fprintf(file, "{\"key\": \"%s\", \"acc\": 0.5}\n", e.cells[2].key); /* of an earlier build */
    fprintf(file, "{\"key\": \"%s\", \"ac", e.cells[3].key);
    fclose(file);
    experiment_free(&e);
    e = (experiment){.output = output};
    assert_ok(experiment_run_plan(NULL, "plan.json", parse(small_plan), &e));
    assert_int_equal(e.n_found, 1);
    assert_int_equal(e.n_computed, n_cells - 1);
    assert_close(number_of(e.cells[1].record, "acc"), 0.5, 0);
    assert_true(isfinite(number_of(e.cells[2].record, "acc")));
    experiment_free(&e);
    int n_lines = 0;
    file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *record = json_loads(line, 0, NULL);
        assert_true(record != NULL || n_lines == 2); /* "not JSON" */
        json_decref(record);
        n_lines++;
    }
    fclose(file);
    assert_int_equal(n_lines, 5 + n_cells - 1); /* the half line is gone */
    free(output);
}

static void failed_cells_are_counted(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"blobs\", \"n\": 30}],"
        " \"methods\": [{\"method\": \"kmeans\", \"grid\": {\"n_clusters\": [2, 31, 40]}}]}";
    char *output = new_output("failed");
    experiment e = {.output = output};
    assert_refused(experiment_run_plan(NULL, "plan.json", parse(plan), &e), HUDDLE_NUMERIC,
                   "2 of 3 cells failed; the first was blobs, kmeans: n_clusters = ");
    assert_int_equal(e.n_computed, 1);
    assert_int_equal(e.n_failed, 2);
    experiment_free(&e);
    free(output);
}

/* Fits of an optional entry may fail: their messages are kept, and the run is complete. */
static void optional_cells_may_fail(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"blobs\", \"n\": 30}],"
        " \"methods\": [\"kmeans\", {\"method\": \"kmeans\", \"optional\": true,"
        "  \"grid\": {\"n_clusters\": [31, 2]}}]}";
    char *output = new_output("optional");
    for (int again = 0; again < 2; again++) {
        experiment e = {.output = output};
        assert_ok(experiment_run_plan(NULL, "plan.json", parse(plan), &e));
        assert_int_equal(e.n_computed, again ? 0 : 2);
        assert_int_equal(e.n_found, again ? 2 : 0);
        assert_int_equal(e.n_refused, 1);
        assert_int_equal(e.n_failed, 0);
        assert_null(grid_refusal(&e, 0, 0));
        assert_non_null(strstr(grid_refusal(&e, 0, 1), "n_clusters = 31"));
        assert_non_null(grid_oracle(&e, 0, 1, "acc").cell);
        experiment_free(&e);
    }
    free(output);
}

/* The digest of the labels, which are the same for equal clusters. */
static void equal_labels_have_equal_digests(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"blobs\", \"n\": 60}], \"methods\": [{\"method\": \"kmeans\","
        "  \"grid\": {\"max_iter\": [300, 301], \"n_clusters\": [5, 4]}}], \"seeds\": [0, 1]}";
    char *output = new_output("digests");
    experiment e = {.output = output};
    assert_ok(experiment_run_plan(NULL, "plan.json", parse(plan), &e));
    assert_int_equal(strlen(text_of(e.cells[0].record, "labels")), KEY_SIZE - 1);
    assert_true(grid_equal(&e, 0, (int[]){0, 0}, (int[]){0, 2}));
    assert_false(grid_equal(&e, 0, (int[]){0, 0}, (int[]){0, 1}));
    experiment_free(&e);
    free(output);
}

typedef struct progress_calls {
    int count;
    double last;
    bool stop;
} progress_calls;

static int on_progress(void *user, const char *stage, double done, double total) {
    progress_calls *calls = user;
    if (strcmp(stage, "cells") != 0)
        return 0;
    assert_true(done >= calls->last && done <= total);
    calls->last = done;
    calls->count++;
    return calls->stop;
}

/* The caller's context learns of progress and cancels all cells; the next run continues. */
static void a_cancelled_run_continues(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"moons\", \"n\": 2000}], \"n_init\": 60,"
        " \"methods\": [{\"method\": \"kmeans\", \"options\": {\"n_clusters\": 20, \"tol\": 0},"
        "  \"grid\": {\"max_iter\": [91, 92, 93, 94, 95, 96, 97, 98]}}]}";
    char *output = new_output("cancelled");
    huddle_context *context = NULL;
    progress_calls calls = {.stop = true};
    experiment e = {.output = output};
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 2));
    huddle_context_set_progress(context, on_progress, &calls);
    assert_refused(experiment_run_plan(context, "plan.json", parse(plan), &e), HUDDLE_CANCELLED,
                   "cancelled; ");
    assert_true(calls.count >= 1); /* again, if a cell takes its time to stop */
    assert_true(e.n_computed < e.n_cells);
    int n_computed = e.n_computed;
    experiment_free(&e);
    huddle_context_resume(context);
    calls = (progress_calls){0};
    e = (experiment){.output = output};
    assert_ok(experiment_run_plan(context, "plan.json", parse(plan), &e));
    assert_int_equal(e.n_found, n_computed);
    assert_int_equal(e.n_computed, e.n_cells - n_computed);
    assert_true(calls.count >= 1);
    experiment_free(&e);
    huddle_context_free(context);
    free(output);
}

/* One cell, which would take long enough to be stored if it went on. */
static void a_cell_that_has_begun_is_cancelled(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"moons\", \"n\": 2000}], \"n_init\": 2500,"
        " \"methods\": [{\"method\": \"kmeans\", \"options\": {\"n_clusters\": 20, \"tol\": 0}}]}";
    char *output = new_output("begun");
    huddle_context *context = NULL;
    progress_calls calls = {.stop = true};
    experiment e = {.output = output};
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 1));
    huddle_context_set_progress(context, on_progress, &calls);
    assert_refused(experiment_run_plan(context, "plan.json", parse(plan), &e), HUDDLE_CANCELLED,
                   "cancelled; ");
    assert_int_equal(e.n_cells, 1);
    assert_int_equal(e.n_computed, 0);
    experiment_free(&e);
    huddle_context_free(context);
    free(output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_appended_as_far_as_it_fits),
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(percentages_are_rounded_half_up),
        cmocka_unit_test(values_depend_on_the_data),
        cmocka_unit_test(keys_do_not_change),
        cmocka_unit_test(cells_are_listed_with_their_settings),
        cmocka_unit_test(entries_can_leave_out_seeds),
        cmocka_unit_test(mistakes_are_reported_with_their_place),
        cmocka_unit_test(context_goes_before_a_message),
        cmocka_unit_test(restarts_have_a_mean_and_a_deviation),
        cmocka_unit_test(finished_cells_are_found_again),
        cmocka_unit_test(other_lines_are_passed_over),
        cmocka_unit_test(failed_cells_are_counted),
        cmocka_unit_test(optional_cells_may_fail),
        cmocka_unit_test(equal_labels_have_equal_digests),
        cmocka_unit_test(a_cancelled_run_continues),
        cmocka_unit_test(a_cell_that_has_begun_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
