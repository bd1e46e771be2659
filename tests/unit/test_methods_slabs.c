/* methods: fits whose rows are distributed over several processes (team.h). */
#include "base/check.h"
#include "base/rng.h"
#include "engines/team.h"
#include "model/model.h"
#include "steps/medoids.h"
#include "steps/near.h"
#include "steps/slabs.h"
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
    int64_t medoids[TEAM][C], all_medoids[TEAM][C];
} task;

static huddle_status fit_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    task *t = argument;
    int64_t first = first_row[rank], n = first_row[rank + 1] - first;
    huddle_points own = team_points(t->x, first_row, rank);
    huddle_model *model = NULL;
    char text[16];
    snprintf(text, sizeof text, "%d", t->n_clusters);
    TRY(huddle_model_new("kmeans", &model));
    TRY(huddle_model_set_option(model, "n_clusters", text));
    TRY(huddle_model_set_option(model, "prepare", "none"));
    TRY(huddle_model_fit(context, model, &own));
    memcpy(t->labels + first, huddle_model_labels(model, NULL), (size_t)n * sizeof *t->labels);
    memcpy(t->medoids[rank], model->fit.clusters.medoids, sizeof t->medoids[rank]);
    memcpy(t->all_medoids[rank], model->fit.clusters.all_medoids, sizeof t->all_medoids[rank]);
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
    /* Numbered by the first row of each cluster among those of all processes. */
    for (int64_t i = 0; i < N; i++) {
        assert_int_equal(one->labels[i], i % C);
        assert_int_equal(t.labels[i], i % C);
    }
    for (int32_t k = 0; k < C; k++) {
        int owner = owner_of(&t, k);
        assert_int_equal(first_row[owner] + t.medoids[owner][k], one->medoids[k]);
        for (int rank = 0; rank < TEAM; rank++)
            assert_int_equal(t.all_medoids[rank][k], one->medoids[k]);
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
    return hd_step_reduce_medoids(context, 10, own, &clusters);
}

static void medoids_belong_to_one_process(void **state) {
    (void)state;
    static const int64_t expected[TEAM][C] = {{-1, 1, -1, -1}, {0, -1, 2, -1}, {-1, -1, -1, -1}};
    medoid_task t;
    assert_ok(team_run(TEAM, &team_engine, reduce_member, &t));
    assert_memory_equal(t.medoids, expected, sizeof expected);
}

/* ---- equal rows ---------------------------------------------------------------------------------
 */

typedef struct equal_task {
    const huddle_dense *matrix;
    const huddle_distinct *one; /* as one process finds them */
    const int64_t *first_row;
    int32_t labels[N];
    int wrong[TEAM_MAX]; /* differences that the members see */
} equal_task;

/* Every distinct row is first on one member, with the number of all rows that equal it. */
static huddle_status find_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    equal_task *t = argument;
    int64_t first = t->first_row[rank], n = t->first_row[rank + 1] - first;
    huddle_dense own = *t->matrix;
    hd_fit_rows rows = {.n = n, .elsewhere = N - n};
    hd_step_distinct distinct = {0};
    int32_t found[N];
    own.rows = n;
    own.values += first * own.stride;
    TRY(hd_step_find_distinct(context, &own, &rows, &distinct));
    for (int64_t i = 0; i < n; i++)
        t->wrong[rank] += distinct.of[i] != t->one->of[first + i];
    for (int64_t k = 0; k < distinct.count; k++) {
        int32_t number = t->one->of[first + distinct.first[k]];
        t->wrong[rank] += t->one->first[number] != first + distinct.first[k];
        t->wrong[rank] += distinct.weights[k] != (double)t->one->copies[number];
        found[k] = 100 + number;
    }
    TRY(hd_step_expand_labels(context, &distinct, found, n, t->labels + first));
done:
    hd_step_distinct_free(&distinct);
    return status;
}

/* Slabs may be uneven or empty. */
static void equal_rows_of_a_team_have_one_number(void **state) {
    (void)state;
    static const int64_t slabs[][TEAM_MAX + 1] = {
        {0, N}, {0, 22, N}, {0, 2, 30, N}, {0, 0, 29, N}, {0, 3, 44, N, N}};
    static const int sizes[] = {1, 2, 3, 3, 4};
    huddle_dense matrix;
    huddle_distinct one;
    assert_ok(huddle_dense_new(N, 2, &matrix));
    for (int64_t i = 0; i < N; i++) {
        matrix.values[2 * i] = (double)(i * i % 11);
        matrix.values[2 * i + 1] = (double)(i % 3);
    }
    assert_ok(huddle_dense_distinct(NULL, &matrix, &one));
    assert_true(one.count > 10 && one.count < N / 2);
    for (int k = 0; k < 5; k++) {
        equal_task t = {.matrix = &matrix, .one = &one, .first_row = slabs[k]};
        assert_ok(team_run(sizes[k], &team_engine, find_member, &t));
        for (int rank = 0; rank < sizes[k]; rank++)
            assert_int_equal(t.wrong[rank], 0);
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(t.labels[i], 100 + one.of[i]);
    }
    huddle_distinct_free(&one);
    huddle_dense_free(&matrix);
}

/* Rows that equal the medoid of their cluster are marked by the members that have them. The medoid
 * of cluster k is row medoids[k] of all. */
typedef struct mark_task {
    double values[N];
    int32_t labels[N];
    int64_t medoids[C];
    bool marks[N];
} mark_task;

static huddle_status mark_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    mark_task *t = argument;
    int64_t first = first_row[rank], n = first_row[rank + 1] - first, own[C];
    huddle_dense matrix = {.rows = n, .cols = 1, .stride = 1, .values = t->values + first};
    hd_fit_clusters clusters = {
        .centres = {.rows = C}, .labels = t->labels + first, .medoids = own};
    for (int k = 0; k < C; k++)
        own[k] = t->medoids[k] >= first && t->medoids[k] < first + n ? t->medoids[k] - first : -1;
    TRY(hd_step_mark_medoids(context, &matrix, &clusters));
    memcpy(t->marks + first, clusters.is_medoid_row, (size_t)n * sizeof *t->marks);
done:
    huddle_free(clusters.is_medoid_row);
    return status;
}

static void copies_of_medoids_are_marked(void **state) {
    (void)state;
    mark_task t = {.medoids = {0, 1, 2, 35}}; /* the first rows of two members among them */
    int marked = 0;
    for (int i = 0; i < N; i++) {
        t.values[i] = -1 - i % 6;
        t.labels[i] = i < C ? i : i * i % C;
    }
    t.labels[35] = 3;
    assert_ok(team_run(TEAM, &team_engine, mark_member, &t));
    for (int i = 0; i < N; i++) {
        assert_int_equal(t.marks[i], t.values[i] == t.values[t.medoids[t.labels[i]]]);
        marked += t.marks[i];
    }
    assert_true(marked > C && marked < N);
}

/* ---- new points ---------------------------------------------------------------------------------
 */

enum { NEW = 5, NEAR = 3 };

/* Member r has new points whose neighbours are rows of all members; some lists are shorter. */
static int32_t neighbour_of(int rank, int64_t e) {
    return e % 6 == 5 ? -1 : (int32_t)((11 * e + 17 * rank) % N);
}

static huddle_status near_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    int64_t first = first_row[rank], n = first_row[rank + 1] - first;
    int32_t labels[N], index[NEW * NEAR], columns[NEAR] = {0};
    double local[N], distance[NEW * NEAR] = {0}, values[NEAR] = {0};
    int64_t offsets[2] = {0, 0};
    hd_fit fit = {.rows = {.n = n, .elsewhere = N - n}};
    huddle_neighbors lists = {.n = NEW, .k = NEAR, .index = index, .distance = distance};
    huddle_csr w = {.rows = 1, .offsets = offsets, .columns = columns, .values = values};
    hd_step_near near = {0};
    int *wrong = argument;
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)(1000 + first + i);
        local[i] = .5 * (double)(first + i);
    }
    for (int64_t e = 0; e < NEW * NEAR; e++)
        index[e] = neighbour_of(rank, e);
    fit.clusters.labels = labels;
    fit.graph.scale.local = local;
    TRY(hd_step_near_open(context, &fit, false, &lists, &near));
    for (int64_t e = 0; e < NEW * NEAR; e++) {
        int32_t row = neighbour_of(rank, e);
        wrong[rank] += row < 0 ? index[e] != -1
                               : near.numbers[index[e]] != row ||
                                     near.view.clusters.labels[index[e]] != 1000 + row ||
                                     near.view.graph.scale.local[index[e]] != .5 * row;
    }
    /* Columns by their numbers among all rows, ascending, with their values. */
    for (int k = 0; k < NEAR; k++, offsets[1]++) {
        columns[k] = index[k];
        values[k] = neighbour_of(rank, k);
    }
    hd_step_near_number(&near, &w);
    for (int k = 0; k < NEAR; k++)
        wrong[rank] += w.cols != N || columns[k] != (int32_t)values[k] ||
                       (k > 0 && columns[k - 1] >= columns[k]);
done:
    hd_step_near_close(&near);
    return hd_agree(context, status);
}

static void neighbours_of_other_members_are_fetched(void **state) {
    (void)state;
    int wrong[TEAM] = {0};
    assert_ok(team_run(TEAM, &team_engine, near_member, wrong));
    for (int rank = 0; rank < TEAM; rank++)
        assert_int_equal(wrong[rank], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_has_the_medoids_of_one_process),
        cmocka_unit_test(too_many_clusters_are_refused),
        cmocka_unit_test(medoids_belong_to_one_process),
        cmocka_unit_test(equal_rows_of_a_team_have_one_number),
        cmocka_unit_test(copies_of_medoids_are_marked),
        cmocka_unit_test(neighbours_of_other_members_are_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
