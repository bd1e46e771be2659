/* Cells on several processes, which are threads here: the same results as on one, each cell once.
 */
#include "engines/team.h"
#include "support/support.h"

#include "experiment/experiment.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char small_plan[] =
    "{\"data\": [{\"source\": \"blobs\", \"n\": 60}, \"moons\"],"
    " \"methods\": [\"kmeans\","
    "  {\"method\": \"kmeans\", \"label\": \"grid\", \"options\": {\"tol\": 0},"
    "   \"grid\": {\"max_iter\": [10, 20], \"n_clusters\": [\"c\", 3, 4]}},"
    "  {\"method\": \"sc\", \"grid\": {\"n_neighbors\": [5, 6]}}],"
    " \"seeds\": [3, 8], \"n_init\": 2}";

/* A run of all members and what they found. */
typedef struct run {
    char output[300];
    const char *plans[TEAM_MAX]; /* NULL: small_plan */
    experiment found[TEAM_MAX];
    int cancels; /* the member that cancels in its first report of progress; -1: none */
    atomic_int cancelled;
} run;

static run new_run(const char *name) {
    run r = {.cancels = -1};
    snprintf(r.output, sizeof r.output, "%s/%s", test_directory(), name);
    return r;
}

static void free_run(run *r) {
    for (int k = 0; k < TEAM_MAX; k++)
        experiment_free(&r->found[k]);
}

static int cancel(void *user, const char *stage, double done, double total) {
    (void)stage, (void)done, (void)total;
    run *r = user;
    r->cancelled = 1;
    return 1;
}

static huddle_status run_member(huddle_context *context, int rank, void *argument) {
    run *r = argument;
    const char *text = r->plans[rank] == NULL ? small_plan : r->plans[rank];
    r->found[rank] = (experiment){.output = r->output};
    if (rank == r->cancels)
        huddle_context_set_progress(context, cancel, r);
    return experiment_run_plan(context, "plan", json_loads(text, 0, NULL), &r->found[rank]);
}

static int count_lines(const run *r) {
    char path[400];
    int c, n = 0;
    snprintf(path, sizeof path, "%s/results.jsonl", r->output);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while ((c = fgetc(file)) != EOF)
        n += c == '\n';
    fclose(file);
    return n;
}

/* All members of the records but times. */
static void assert_same_record(const json_t *a, const json_t *b) {
    static const char *const names[] = {"key",     "settings", "options", "acc",     "nmi",
                                        "inertia", "acc_mean", "starts",  "warnings"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(json_equal(json_object_get(a, names[i]), json_object_get(b, names[i])));
}

static void results_are_those_of_one_process(void **state) {
    (void)state;
    run alone = new_run("alone");
    experiment *a = &alone.found[0];
    *a = (experiment){.output = alone.output};
    assert_ok(experiment_run_plan(NULL, "plan", json_loads(small_plan, 0, NULL), a));
    for (int size = 1; size <= TEAM_MAX; size++) {
        char name[32];
        snprintf(name, sizeof name, "team%d", size);
        run r = new_run(name);
        const experiment *b = &r.found[0];
        assert_ok(team_run(size, &team_engine, run_member, &r));
        assert_int_equal(b->n_cells, a->n_cells);
        assert_int_equal(b->n_computed, a->n_computed);
        assert_int_equal(count_lines(&r), count_lines(&alone));
        /* No two cells share a stage, so that all processes together compute as many. */
        assert_int_equal(b->misses, a->misses);
        for (int i = 0; i < a->n_cells; i++)
            assert_same_record(a->cells[i].record, b->cells[i].record);
        free_run(&r);
    }
    free_run(&alone);
}

/* Only process 0 reads OUT; the others learn from it what is there. */
static void found_cells_are_not_computed_again(void **state) {
    (void)state;
    run r = new_run("again");
    assert_ok(team_run(2, &team_engine, run_member, &r));
    int n = r.found[0].n_cells, lines = count_lines(&r);
    free_run(&r);
    assert_ok(team_run(3, &team_engine, run_member, &r));
    assert_int_equal(r.found[0].n_found, n);
    assert_int_equal(r.found[0].n_computed, 0);
    assert_int_equal(count_lines(&r), lines);
    free_run(&r);
}

static void any_process_can_cancel(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        run r = new_run(k == 0 ? "cancel0" : "cancel1");
        r.cancels = k;
        assert_int_equal(team_run(2, &team_engine, run_member, &r), HUDDLE_CANCELLED);
        assert_int_equal(r.cancelled, 1);
        int done = r.found[0].n_computed;
        free_run(&r);
        r.cancels = -1;
        assert_ok(team_run(2, &team_engine, run_member, &r));
        assert_int_equal(r.found[0].n_found, done);
        assert_int_equal(r.found[0].n_computed, r.found[0].n_cells - done);
        free_run(&r);
    }
}

static void other_data_of_one_process_are_reported(void **state) {
    (void)state;
    run r = new_run("other");
    r.plans[1] = "{\"data\": [{\"source\": \"blobs\", \"n\": 61}], \"methods\": [\"kmeans\"]}";
    assert_refused(team_run(2, &team_engine, run_member, &r), HUDDLE_INVALID, "differ");
    free_run(&r);
    /* Another number of points in the first of two data sets. */
    char *other = strdup(small_plan);
    assert_non_null(other);
    strstr(other, "60")[1] = '1';
    r.plans[1] = other;
    assert_refused(team_run(2, &team_engine, run_member, &r), HUDDLE_INVALID, "differ");
    free(other);
    free_run(&r);
    r.plans[1] = "{\"data\": [\"nowhere.npy\"], \"methods\": [\"kmeans\"]}";
    assert_int_equal(team_run(3, &team_engine, run_member, &r), HUDDLE_IO);
    assert_non_null(strstr(huddle_last_error(), "nowhere.npy"));
    free_run(&r);
}

/* A cell that fails is reported as on one process, and the others are computed. */
static void failed_cells_are_counted(void **state) {
    (void)state;
    static const char plan[] =
        "{\"data\": [{\"source\": \"blobs\", \"n\": 60}], \"methods\":"
        " [{\"method\": \"kmeans\", \"grid\": {\"n_clusters\": [2, 3, 99]}}],"
        " \"n_init\": 2}";
    run r = new_run("failing");
    for (int k = 0; k < TEAM_MAX; k++)
        r.plans[k] = plan;
    assert_int_equal(team_run(2, &team_engine, run_member, &r), HUDDLE_NUMERIC);
    assert_int_equal(r.found[0].n_failed, 1);
    assert_int_equal(r.found[0].n_computed, 2);
    assert_int_equal(count_lines(&r), 3);
    free_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_one_process),
        cmocka_unit_test(found_cells_are_not_computed_again),
        cmocka_unit_test(any_process_can_cancel),
        cmocka_unit_test(other_data_of_one_process_are_reported),
        cmocka_unit_test(failed_cells_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
