/* methods: fits whose rows are spread over several processes (team.h). */
#include "base/check.h"
#include "base/rng.h"
#include "engines/team.h"
#include "methods/method.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 61, D = 3, C = 4, TEAM = 3 };

/* The rows of member r are first_row[r] .. first_row[r + 1] - 1: the first has fewer rows than
 * there are clusters. */
static const int64_t first_row[TEAM + 1] = {0, 2, 30, N};

/* Four blobs; row i belongs to blob i % 4. */
static huddle_points blobs(void) {
    huddle_points x;
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(3, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * x.stride + j] =
                (float)(9 * (i % C == j) + (i % C == 3 ? -5 : 0) + hd_rng_normal(&rng));
    }
    return x;
}

typedef struct task {
    const huddle_points *x;
    int32_t n_clusters;
    int32_t labels[N];
    int64_t medoids[TEAM][C];
} task;

static huddle_status fit_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    task *t = argument;
    int64_t first = first_row[rank], n = first_row[rank + 1] - first;
    huddle_points own = *t->x;
    huddle_model *model = NULL;
    char text[16];
    own.n = n;
    own.values += first * own.stride;
    snprintf(text, sizeof text, "%d", t->n_clusters);
    TRY(huddle_model_new("kmeans", &model));
    TRY(huddle_model_set_option(model, "n_clusters", text));
    TRY(huddle_model_set_option(model, "prepare", "none"));
    TRY(huddle_model_fit(context, model, &own));
    memcpy(t->labels + first, huddle_model_labels(model, NULL), (size_t)n * sizeof *t->labels);
    memcpy(t->medoids[rank], model->fit.clusters.medoids, sizeof t->medoids[rank]);
done:
    huddle_model_free(model);
    return status;
}

/* Which member has the medoid of cluster k; fails unless exactly one does. */
static int owner_of(const task *t, int32_t k) {
    int owner = -1;
    for (int rank = 0; rank < TEAM; rank++)
        if (t->medoids[rank][k] >= 0) {
            assert_int_equal(owner, -1);
            owner = rank;
        }
    assert_true(owner >= 0);
    return owner;
}

/* More clusters than rows on one process, and one medoid per cluster: that of one process. */
static void a_team_has_the_medoids_of_one_process(void **state) {
    (void)state;
    huddle_points x = blobs();
    task t = {.x = &x, .n_clusters = C};
    huddle_model *model;
    assert_ok(team_run(TEAM, &team_engine, fit_member, &t));
    assert_ok(huddle_model_new("kmeans", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "4"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    const hd_fit_clusters *one = &model->fit.clusters;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++)
            assert_int_equal(t.labels[i] == t.labels[j], one->labels[i] == one->labels[j]);
    for (int32_t k = 0; k < C; k++) {
        int64_t medoid = one->medoids[k];
        int32_t same = t.labels[medoid];
        int owner = owner_of(&t, same);
        assert_int_equal(first_row[owner] + t.medoids[owner][same], medoid);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* More clusters than rows on all processes are refused by all of them. */
static void too_many_clusters_are_refused(void **state) {
    (void)state;
    huddle_points x = blobs();
    task t = {.x = &x, .n_clusters = N + 1};
    assert_int_equal(team_run(TEAM, &team_engine, fit_member, &t), HUDDLE_INVALID);
    huddle_points_free(&x);
}

/* Distances by cluster and process: the smallest wins, of equal ones the first process, and a
 * cluster without rows has no medoid. */
typedef struct medoid_task {
    int64_t medoids[TEAM][C];
} medoid_task;

static huddle_status reduce_member(huddle_context *context, int rank, void *argument) {
    static const double distances[TEAM][C] = {
        {1, 2, INFINITY, INFINITY}, {.5, 2, 3, INFINITY}, {.75, 2, 3, INFINITY}};
    medoid_task *t = argument;
    double own[C];
    hd_fit_clusters clusters = {.centres = {.rows = C}, .medoids = t->medoids[rank]};
    memcpy(own, distances[rank], sizeof own);
    for (int k = 0; k < C; k++)
        clusters.medoids[k] = own[k] < INFINITY ? k : -1;
    return hd_fit_reduce_medoids(context, 10, own, &clusters);
}

static void medoids_belong_to_one_process(void **state) {
    (void)state;
    static const int64_t expected[TEAM][C] = {{-1, 1, -1, -1}, {0, -1, 2, -1}, {-1, -1, -1, -1}};
    medoid_task t;
    assert_ok(team_run(TEAM, &team_engine, reduce_member, &t));
    assert_memory_equal(t.medoids, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_has_the_medoids_of_one_process),
        cmocka_unit_test(too_many_clusters_are_refused),
        cmocka_unit_test(medoids_belong_to_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
