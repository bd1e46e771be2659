/* kmeans: with an engine, on two equal slabs (mirror.h), and on rows that are distributed over
 * several processes (team.h), against the answer of one process. */
#include "base/rng.h"
#include "engines/mirror.h"
#include "engines/team.h"
#include "huddle/kmeans.h"
#include "support/support.h"

#include <math.h>

enum { N = 900, D = 3, C = 5 };

/* Five blobs; row i belongs to blob i % 5, or, sorted, to blob i / 180. Values around `offset`. */
static huddle_points blobs(bool sorted, double deviation) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(11, 0);
    assert_ok(huddle_points_new(N, D, &x));
    for (int64_t i = 0; i < N; i++) {
        int64_t blob = sorted ? i * C / N : i % C;
        for (int64_t j = 0; j < D; j++)
            x.values[i * x.stride + j] =
                (float)(10 * cos((double)(3 * blob + j)) + deviation * hd_rng_normal(&rng));
    }
    return x;
}

static huddle_points to_sparse(const huddle_points *x) {
    huddle_points y;
    int64_t count = 0;
    assert_ok(huddle_points_new_sparse(x->n, x->d, x->n * x->d, &y));
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < x->d; j++) {
            y.columns[count] = (int32_t)j;
            y.values[count++] = x->values[i * x->stride + j];
        }
        y.offsets[i + 1] = count;
    }
    return y;
}

static huddle_dense first_rows(const huddle_points *x, int64_t count) {
    huddle_dense start;
    assert_ok(huddle_dense_new(count, D, &start));
    for (int64_t k = 0; k < count; k++)
        for (int64_t j = 0; j < D; j++)
            start.values[k * start.stride + j] = (double)x->values[k * x->stride + j];
    return start;
}

/* ---- two equal slabs ----------------------------------------------------------------------- */

static void two_equal_slabs_give_the_centres_of_one(void **state) {
    (void)state;
    huddle_points x = blobs(true, 3);
    huddle_dense start = first_rows(&x, C); /* all of one blob: some clusters become empty */
    huddle_kmeans_options options = huddle_kmeans_defaults();
    huddle_kmeans_result one, two;
    huddle_kmeans_info alone, both;
    huddle_context *context = mirror_context();
    options.n_clusters = C;
    for (int seeded = 0; seeded < 2; seeded++) {
        options.start = seeded ? NULL : &start;
        options.n_init = 4;
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &one, &alone));
        assert_ok(huddle_kmeans(context, &x, NULL, &options, &two, &both));
        assert_close(both.inertia, 2 * alone.inertia, seeded ? .05 : 1e-12);
        for (int64_t e = 0; e < C * D && !seeded; e++)
            assert_close(two.centres.values[e], one.centres.values[e], 1e-12);
        assert_true(seeded || both.n_iter == alone.n_iter);
        for (int64_t i = 0; i < N; i++)
            assert_true(two.labels[i] >= 0 && two.labels[i] < C);
        for (int64_t e = 0; e < C * D; e++)
            assert_true(isfinite(two.centres.values[e]));
        huddle_kmeans_result_free(&one);
        huddle_kmeans_result_free(&two);
        huddle_kmeans_info_free(&alone);
        huddle_kmeans_info_free(&both);
    }
    assert_true(mirror_counts_of(context)->agreements == 2);
    huddle_context_free(context);
    huddle_dense_free(&start);
    huddle_points_free(&x);
}

/* ---- several processes --------------------------------------------------------------------- */

/* Points that a team clusters, and what it found. */
typedef struct task {
    const huddle_points *x;
    const double *weights;
    huddle_kmeans_options options;
    int size;
    bool empty;                 /* the first and the last process have no rows */
    int32_t *labels, *assigned; /* of all rows */
    double centres[TEAM_MAX][C * D];
    huddle_kmeans_info info[TEAM_MAX];
} task;

static int64_t slab_begin(const task *t, int rank) {
    if (t->empty && t->size > 2)
        return rank <= 1 ? 0 : rank >= t->size - 1 ? t->x->n : t->x->n / 3;
    return rank == t->size ? t->x->n : t->x->n * rank / t->size + (rank > 0 ? 1 : 0);
}

static huddle_status cluster_slab(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    task *t = argument;
    int64_t begin = slab_begin(t, rank), end = slab_begin(t, rank + 1);
    huddle_points own = *t->x;
    int64_t *offsets = NULL;
    huddle_kmeans_result result = {0};
    own.n = end - begin;
    if (own.offsets != NULL) {
        ALLOC(offsets, own.n + 1);
        for (int64_t i = 0; i <= own.n; i++)
            offsets[i] = t->x->offsets[begin + i] - t->x->offsets[begin];
        own.columns += t->x->offsets[begin];
        own.values += t->x->offsets[begin];
        own.offsets = offsets;
    } else {
        own.values += begin * own.stride;
    }
    TRY(huddle_kmeans(context, &own, t->weights != NULL ? t->weights + begin : NULL, &t->options,
                      &result, &t->info[rank]));
    memcpy(t->labels + begin, result.labels, (size_t)own.n * sizeof *t->labels);
    memcpy(t->centres[rank], result.centres.values,
           (size_t)(result.centres.rows * D) * sizeof(double));
    TRY(huddle_kmeans_assign(context, &own, &result.centres, t->assigned + begin));
done:
    huddle_free(offsets);
    huddle_kmeans_result_free(&result);
    return status;
}

static void new_task(const huddle_points *x, const huddle_kmeans_options *options, int size,
                     task *t) {
    *t = (task){.x = x, .options = *options, .size = size};
    t->labels = calloc((size_t)x->n, sizeof *t->labels);
    t->assigned = calloc((size_t)x->n, sizeof *t->assigned);
}

static void free_task(task *t) {
    free(t->labels);
    free(t->assigned);
    for (int r = 0; r < t->size; r++)
        huddle_kmeans_info_free(&t->info[r]);
}

/* Clusters by teams of two and three from the given start and compares with one process. */
static void check_teams(const huddle_points *x, const double *weights,
                        const huddle_kmeans_options *options) {
    huddle_kmeans_result one;
    huddle_kmeans_info info;
    assert_ok(huddle_kmeans(NULL, x, weights, options, &one, &info));
    for (int size = 2; size <= 3; size++) {
        task t;
        new_task(x, options, size, &t);
        t.weights = weights;
        assert_ok(team_run(size, &team_engine, cluster_slab, &t));
        for (int r = 0; r < size; r++) {
            assert_memory_equal(t.centres[r], t.centres[0], sizeof t.centres[0]);
            assert_true(t.info[r].inertia == t.info[0].inertia);
            assert_int_equal(t.info[r].n_distinct, info.n_distinct);
            assert_int_equal(t.info[r].n_iter, info.n_iter);
            assert_int_equal(t.info[r].stop, info.stop);
        }
        assert_close(t.info[0].inertia, info.inertia, 1e-10);
        for (int64_t e = 0; e < one.centres.rows * D; e++)
            assert_close(t.centres[0][e], one.centres.values[e], 1e-10);
        assert_memory_equal(t.labels, one.labels, (size_t)x->n * sizeof *t.labels);
        assert_memory_equal(t.assigned, one.labels, (size_t)x->n * sizeof *t.labels);
        free_task(&t);
    }
    huddle_kmeans_result_free(&one);
    huddle_kmeans_info_free(&info);
}

static void a_given_start_leads_to_the_same_clusters(void **state) {
    (void)state;
    double weights[N];
    for (int i = 0; i < N; i++)
        weights[i] = 1 + i % 7;
    for (int sorted = 0; sorted < 2; sorted++) {
        huddle_points x = blobs(sorted, 4), sparse = to_sparse(&x);
        huddle_dense start = first_rows(&x, C);
        huddle_kmeans_options options = huddle_kmeans_defaults();
        options.n_clusters = C;
        options.start = &start;
        check_teams(&x, NULL, &options);
        check_teams(&x, weights, &options);
        check_teams(&sparse, weights, &options);
        huddle_dense_free(&start);
        huddle_points_free(&x);
        huddle_points_free(&sparse);
    }
}

/* Two starting centres are so far away that their clusters are empty: each gets the row farthest
 * from its centre, which one process has. */
static void empty_clusters_are_filled_from_any_process(void **state) {
    (void)state;
    huddle_points x = blobs(true, 2);
    huddle_dense start = first_rows(&x, C);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    for (int64_t j = 0; j < D; j++)
        start.values[3 * start.stride + j] = start.values[4 * start.stride + j] = 1e4;
    options.n_clusters = C;
    options.start = &start;
    for (options.max_iter = 1; options.max_iter < 20; options.max_iter += 6)
        check_teams(&x, NULL, &options);
    huddle_dense_free(&start);
    huddle_points_free(&x);
}

/* No process has all five rows, but all together do. */
static void few_distinct_rows_are_counted_over_all_processes(void **state) {
    (void)state;
    huddle_points x = blobs(true, 0), sparse = to_sparse(&x);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = C;
    for (int k = 0; k < 2; k++) {
        task t;
        new_task(k == 0 ? &x : &sparse, &options, 3, &t);
        assert_ok(team_run(3, &team_engine, cluster_slab, &t));
        assert_true(t.info[0].n_distinct == C && t.info[0].stop == HUDDLE_STOP_CONVERGED);
        assert_close(t.info[0].inertia, 0, 1e-9);
        free_task(&t);
    }
    huddle_points_free(&x);
    huddle_points_free(&sparse);
}

/* The last blob repeats rows of two others: four distinct rows in all. -0 equals 0, on whichever
 * process it is. */
static void too_few_rows_give_the_same_labels(void **state) {
    (void)state;
    huddle_points x = blobs(true, 0), sparse;
    for (int64_t i = 0; i < N / C; i++)
        x.values[i * x.stride] = 0;
    for (int64_t i = N - N / C; i < N; i++) {
        memcpy(x.values + i * x.stride, x.values + (i % 2) * (N / 2) * x.stride,
               D * sizeof *x.values);
        if (i % 2 == 0)
            x.values[i * x.stride] = -0.f;
    }
    sparse = to_sparse(&x);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = C;
    check_teams(&x, NULL, &options);
    check_teams(&sparse, NULL, &options);
    huddle_points_free(&x);
    huddle_points_free(&sparse);
}

/* Random starts draw the same rows, whichever process has them: every restart ends where that of
 * one process does. */
static void random_starts_are_those_of_one_process(void **state) {
    (void)state;
    static const char *const inits[] = {"k-means++", "sample"};
    enum { RESTARTS = 20 };
    for (int way = 0; way < 4; way++) {
        huddle_points x = blobs(way % 2 == 0, 4);
        huddle_kmeans_options options = huddle_kmeans_defaults();
        huddle_kmeans_result one;
        huddle_kmeans_info info;
        options.n_clusters = C;
        options.n_init = RESTARTS;
        options.init = inits[way / 2];
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &one, &info));
        for (int size = 2; size <= 4; size++) {
            task t;
            new_task(&x, &options, size, &t);
            assert_ok(team_run(size, &team_engine, cluster_slab, &t));
            for (int r = 0; r < RESTARTS; r++)
                assert_close(t.info[size - 1].inertias[r], info.inertias[r], 1e-9);
            assert_int_equal(t.info[size - 1].best, info.best);
            assert_memory_equal(t.labels, one.labels, N * sizeof *one.labels);
            free_task(&t);
        }
        huddle_kmeans_result_free(&one);
        huddle_kmeans_info_free(&info);
        huddle_points_free(&x);
    }
}

static int64_t any_number_of_rows(const void *state) {
    (void)state;
    return INT64_MAX;
}

/* Few rows: every process runs some of the restarts on all rows, with the bits of one process; with
 * more processes than restarts some have nothing to do. */
static void restarts_of_few_rows_are_divided(void **state) {
    (void)state;
    hd_engine_slabs slabs = team_slabs;
    hd_engine engine = team_engine;
    huddle_points x = blobs(false, 4);
    double weights[N];
    slabs.few_rows = any_number_of_rows;
    engine.slabs = &slabs;
    for (int64_t i = 0; i < N; i++)
        weights[i] = 1 + (double)(i % 3);
    for (int32_t n_init = 2; n_init <= 7; n_init += 5) {
        huddle_kmeans_options options = huddle_kmeans_defaults();
        huddle_kmeans_result one;
        huddle_kmeans_info info;
        options.n_clusters = C;
        options.n_init = n_init;
        options.init = "sample";
        assert_ok(huddle_kmeans(NULL, &x, weights, &options, &one, &info));
        /* A seed whose best restart no team runs on its first process. */
        while (info.best != 1 && info.best != 5 && options.seed < 200) {
            huddle_kmeans_result_free(&one);
            huddle_kmeans_info_free(&info);
            options.seed++;
            assert_ok(huddle_kmeans(NULL, &x, weights, &options, &one, &info));
        }
        assert_true(info.best == 1 || info.best == 5);
        for (int size = 1; size <= 4; size++) {
            task t;
            new_task(&x, &options, size, &t);
            t.weights = weights;
            t.empty = true;
            assert_ok(team_run(size, &engine, cluster_slab, &t));
            for (int r = 0; r < size; r++) {
                assert_memory_equal(t.info[r].inertias, info.inertias,
                                    (size_t)n_init * sizeof *info.inertias);
                assert_int_equal(t.info[r].best, info.best);
                assert_int_equal(t.info[r].n_iter, info.n_iter);
                assert_memory_equal(t.centres[r], one.centres.values, sizeof t.centres[r]);
            }
            assert_memory_equal(t.labels, one.labels, N * sizeof *one.labels);
            free_task(&t);
        }
        huddle_kmeans_result_free(&one);
        huddle_kmeans_info_free(&info);
    }
    huddle_points_free(&x);
}

/* Processes without rows take part. */
static void empty_slabs_take_part(void **state) {
    (void)state;
    huddle_points x = blobs(false, 4);
    huddle_dense start = first_rows(&x, C);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = C;
    options.n_init = 4;
    for (int given = 0; given < 3; given++) {
        huddle_kmeans_result one;
        options.start = given > 0 ? &start : NULL;
        if (given == 2) /* far away: empty clusters are filled */
            start.values[0] = start.values[start.stride] = 1e4;
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &one, NULL));
        for (int size = 3; size <= 4; size++) {
            task t;
            new_task(&x, &options, size, &t);
            t.empty = true;
            assert_ok(team_run(size, &team_engine, cluster_slab, &t));
            assert_memory_equal(t.labels, one.labels, N * sizeof *one.labels);
            assert_memory_equal(t.assigned, one.labels, N * sizeof *one.labels);
            free_task(&t);
        }
        huddle_kmeans_result_free(&one);
    }
    huddle_dense_free(&start);
    huddle_points_free(&x);
}

/* Many rows: the sample is that of one process, and so is every restart on it. */
static void restarts_on_samples_are_those_of_one_process(void **state) {
    (void)state;
    enum { MANY = 70000 };
    huddle_points x;
    double *weights = malloc(MANY * sizeof *weights);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    assert_ok(huddle_points_new(MANY, D, &x));
    for (int64_t i = 0; i < MANY; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)i);
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)(4 * cos((double)(3 * (i % 7) + j)) + hd_rng_normal(&rng));
        weights[i] = i < 9 ? 500 : 1 + (double)(i % 3);
    }
    options.n_clusters = C;
    options.n_init = 7;
    for (int weighted = 0; weighted < 2; weighted++) {
        huddle_kmeans_result one;
        huddle_kmeans_info info;
        assert_ok(huddle_kmeans(NULL, &x, weighted ? weights : NULL, &options, &one, &info));
        for (int size = 1; size <= 4; size++) {
            task t;
            new_task(&x, &options, size, &t);
            t.weights = weighted ? weights : NULL;
            t.empty = size == 4;
            assert_ok(team_run(size, &team_engine, cluster_slab, &t));
            for (int r = 0; r < options.n_init; r++)
                assert_close(t.info[size - 1].inertias[r] / info.inertias[r], 1, 1e-12);
            assert_int_equal(t.info[0].best, info.best);
            assert_memory_equal(t.labels, one.labels, MANY * sizeof *one.labels);
            free_task(&t);
        }
        huddle_kmeans_result_free(&one);
        huddle_kmeans_info_free(&info);
    }
    huddle_points_free(&x);
    free(weights);
}

static void a_bad_value_ends_the_call_on_all_processes(void **state) {
    (void)state;
    huddle_points x = blobs(true, 1);
    huddle_kmeans_options options = huddle_kmeans_defaults();
    task t;
    x.values[N * D - 1] = NAN;
    new_task(&x, &options, 3, &t);
    assert_refused(team_run(3, &team_engine, cluster_slab, &t), HUDDLE_INVALID, "");
    free_task(&t);
    huddle_points_free(&x);
}

/* ---- engines ------------------------------------------------------------------------------- */

static enum { DECLINES, WORKS, FAILS, LABELS_BADLY } behaviour;

/* The CPU's own answer with the labels 0 and 1 exchanged, so that it can be told apart. */
static huddle_status cluster_rows(huddle_context *context, const huddle_points *x,
                                  const double *row_weights, const huddle_kmeans_options *options,
                                  huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_kmeans_info details;
    (void)context;
    if (behaviour == DECLINES)
        return hd_fail(HUDDLE_UNSUPPORTED, "not today");
    if (behaviour == FAILS)
        return hd_fail(HUDDLE_NUMERIC, "the device is on fire");
    assert_null(x->shift);
    huddle_status status = huddle_kmeans(NULL, x, row_weights, options, result, &details);
    for (int64_t i = 0; i < x->n; i++)
        if (result->labels[i] < 2)
            result->labels[i] = 1 - result->labels[i];
    for (int64_t j = 0; j < x->d; j++) {
        double *m = result->centres.values, t = m[j];
        m[j] = m[result->centres.stride + j];
        m[result->centres.stride + j] = t;
    }
    result->labels[0] = behaviour == LABELS_BADLY ? C : result->labels[0];
    info->inertia = details.inertia;
    info->n_iter = details.n_iter;
    info->stop = details.stop;
    huddle_kmeans_info_free(&details);
    return status;
}

static huddle_status assign_rows(huddle_context *context, const huddle_points *x,
                                 const huddle_dense *centres, int32_t *labels) {
    (void)context;
    if (behaviour == DECLINES)
        return hd_fail(HUDDLE_UNSUPPORTED, "not today");
    assert_null(x->shift);
    huddle_status status = huddle_kmeans_assign(NULL, x, centres, labels);
    for (int64_t i = 0; i < x->n; i++)
        labels[i] = behaviour == LABELS_BADLY ? -1 : labels[i] < 2 ? 1 - labels[i] : labels[i];
    return status;
}

static const hd_engine clustering_engine = {.text = {"clustering", "K-means, with moods"},
                                            .cluster_rows = cluster_rows,
                                            .assign_rows = assign_rows};

static void an_engine_clusters_and_assigns(void **state) {
    (void)state;
    huddle_points x = blobs(false, .5);
    double shift[D] = {100, 0, -7};
    huddle_kmeans_options options = huddle_kmeans_defaults();
    huddle_kmeans_result own, other;
    huddle_kmeans_info info;
    huddle_context *context = NULL;
    int32_t labels[N];
    x.shift = shift;
    huddle_dense start = first_rows(&x, C);
    for (int64_t e = 0; e < C * D; e++)
        start.values[e] += shift[e % D];
    options.n_clusters = C;
    options.start = &start;
    options.keep_starts = true;
    assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &own, NULL));
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &clustering_engine, ""));
    for (behaviour = DECLINES; behaviour <= WORKS; behaviour++) {
        int swap = behaviour == WORKS;
        assert_ok(huddle_kmeans(context, &x, NULL, &options, &other, &info));
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(other.labels[i],
                             swap && own.labels[i] < 2 ? 1 - own.labels[i] : own.labels[i]);
        for (int64_t k = 0; k < C; k++)
            for (int64_t j = 0; j < D; j++)
                assert_close(other.centres.values[(swap && k < 2 ? 1 - k : k) * D + j],
                             own.centres.values[k * D + j], 1e-12);
        assert_true(info.n_restarts == 1 && info.inertias[0] == info.inertia);
        assert_memory_equal(info.start_labels, other.labels, sizeof labels);
        assert_int_equal(info.n_distinct, C);
        assert_ok(huddle_kmeans_assign(context, &x, &own.centres, labels));
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(labels[i],
                             swap && own.labels[i] < 2 ? 1 - own.labels[i] : own.labels[i]);
        huddle_kmeans_result_free(&other);
        huddle_kmeans_info_free(&info);
    }
    behaviour = FAILS;
    assert_refused(huddle_kmeans(context, &x, NULL, &options, &other, &info), HUDDLE_NUMERIC,
                   "on fire");
    behaviour = LABELS_BADLY;
    assert_refused(huddle_kmeans(context, &x, NULL, &options, &other, &info), HUDDLE_INTERNAL,
                   "label 5 of row 1");
    assert_refused(huddle_kmeans_assign(context, &x, &own.centres, labels), HUDDLE_INTERNAL,
                   "label -1 of row 1");
    huddle_context_free(context);
    huddle_kmeans_result_free(&own);
    huddle_dense_free(&start);
    x.shift = NULL;
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_slabs_give_the_centres_of_one),
        cmocka_unit_test(a_given_start_leads_to_the_same_clusters),
        cmocka_unit_test(empty_clusters_are_filled_from_any_process),
        cmocka_unit_test(few_distinct_rows_are_counted_over_all_processes),
        cmocka_unit_test(too_few_rows_give_the_same_labels),
        cmocka_unit_test(random_starts_are_those_of_one_process),
        cmocka_unit_test(restarts_of_few_rows_are_divided),
        cmocka_unit_test(empty_slabs_take_part),
        cmocka_unit_test(restarts_on_samples_are_those_of_one_process),
        cmocka_unit_test(a_bad_value_ends_the_call_on_all_processes),
        cmocka_unit_test(an_engine_clusters_and_assigns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
