/* The functions of an engine for preparation, distinct rows, moves and scores: asked where they
 * are, in agreement with the CPU, and refused when they return what cannot be a result. */
#include "base/context.h"
#include "base/rng.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 90, D = 6, C = 3 };

static huddle_points clouds(int64_t n, int64_t d, bool sparse) {
    huddle_points x;
    if (sparse)
        assert_ok(huddle_points_new_sparse(n, d, n * d, &x));
    else
        assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(3, (uint64_t)i);
        for (int64_t j = 0; j < d; j++) {
            x.values[i * d + j] = (float)(6.0 * (double)(i % C == j) + 5 + hd_rng_normal(&rng));
            if (sparse)
                x.columns[i * d + j] = (int32_t)j;
        }
        if (sparse)
            x.offsets[i + 1] = (i + 1) * d;
    }
    return x;
}

static void set_labels(int32_t *labels) {
    for (int64_t i = 0; i < N; i++)
        labels[i] = (int32_t)(i % C);
}

/* The graph of the clouds on the CPU. */
static huddle_csr graph_of(const huddle_points *x) {
    huddle_neighbors lists;
    huddle_csr graph;
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = 7;
    assert_ok(huddle_graph_knn(NULL, x, &options, &lists, NULL));
    assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &graph, NULL));
    huddle_neighbors_free(&lists);
    return graph;
}

/* ---- preparation ----------------------------------------------------------------------------- */

static huddle_status prepare(huddle_context *context, const huddle_points *x, const char *rule,
                             int32_t r, huddle_points *y, huddle_prepare_info *info) {
    huddle_prepare_options options = huddle_prepare_defaults();
    huddle_preparation p;
    options.prepare = (huddle_rule){rule, r};
    memset(y, 0, sizeof *y);
    huddle_status status = huddle_prepare_fit(context, x, &options, &p, NULL);
    if (status == HUDDLE_OK) {
        status = huddle_prepare_apply(context, &p, x, y, info);
        huddle_preparation_free(&p);
    }
    return status;
}

static void check_prepared(const char *rule, int32_t r, int64_t n, int64_t d, bool sparse,
                           double *shift, bool maps, bool decomposes) {
    huddle_context *context = counting_context("");
    huddle_points x = clouds(n, d, sparse), y, z;
    huddle_prepare_info a, b;
    x.shift = shift;
    /* A row that centring makes 0 but for rounding. */
    if (strcmp(rule, "center-rows") == 0)
        for (int64_t j = 0; j < d; j++)
            x.values[j] = 0.1F;
    assert_ok(prepare(context, &x, rule, r, &y, &a));
    assert_ok(prepare(NULL, &x, rule, r, &z, &b));
    assert_int_equal(counting_calls(context, COUNTING_MAP), maps);
    assert_int_equal(counting_calls(context, COUNTING_GRAM), decomposes);
    assert_int_equal(y.n, z.n);
    assert_int_equal(y.d, z.d);
    assert_int_equal(a.zero_rows, b.zero_rows);
    assert_int_equal(a.zero_rows, strcmp(rule, "center-rows") == 0);
    int64_t count = z.offsets != NULL ? z.offsets[n] : n * z.d;
    for (int64_t k = 0; k < count; k++)
        assert_close((double)y.values[k], (double)z.values[k], 1e-5);
    x.shift = NULL;
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_points_free(&z);
    huddle_context_free(context);
}

static void preparations_agree(void **state) {
    (void)state;
    double shift[D] = {100, -3, 0, 2, 1e4, 7};
    static const char *const rules[] = {"standard", "clip", "unit", "center-rows",
                                        "center-columns"};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        check_prepared(rules[k], 0, N, D, false, k == 0 ? shift : NULL, true, false);
    check_prepared("pca:R", 3, N, D, false, NULL, true, true);
    check_prepared("pca:R", 3, N, D, false, shift, true, true);
    check_prepared("whiten:R", 4, N, D, false, NULL, true, true);
    check_prepared("pca:R", 3, N, D, true, NULL, true, true);
    check_prepared("whiten:R", 3, 12, 40, false, NULL, true, true); /* products of rows */
    /* What is a copy, or a search in a table, is not asked for. */
    check_prepared("none", 0, N, D, false, shift, false, false);
    check_prepared("ranks", 0, N, D, false, NULL, false, false);
    check_prepared("unit", 0, N, D, true, NULL, false, false);
}

/* ---- distinct rows --------------------------------------------------------------------------- */

static void check_same_distinct(const huddle_distinct *a, const huddle_distinct *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->of == NULL, b->of == NULL);
    if (a->of == NULL)
        return;
    assert_memory_equal(a->of, b->of, (size_t)b->n * sizeof *a->of);
    assert_memory_equal(a->first, b->first, (size_t)b->count * sizeof *a->first);
    assert_memory_equal(a->copies, b->copies, (size_t)b->count * sizeof *a->copies);
}

/* Points and rows, with copies and without, and a zero of either sign. */
static void distinct_rows_agree(void **state) {
    (void)state;
    for (int copies = 0; copies < 2; copies++)
        for (int kind = 0; kind < 3; kind++) {
            huddle_context *context = counting_context("");
            huddle_points x = clouds(N, D, kind == 1);
            huddle_dense f;
            huddle_distinct a, b;
            for (int64_t i = 40; i < 60 && copies; i++)
                memcpy(x.values + i * D, x.values + (i - 40) / 2 * D, D * sizeof *x.values);
            x.values[0] = 0;
            x.values[40 * D] = copies ? -0.0F : 1;
            assert_ok(huddle_dense_new(N, D, &f));
            for (int64_t k = 0; k < N * D; k++)
                f.values[k] = (double)x.values[k];
            if (kind < 2) {
                assert_ok(huddle_points_distinct(context, &x, &a));
                assert_ok(huddle_points_distinct(NULL, &x, &b));
            } else {
                assert_ok(huddle_dense_distinct(context, &f, &a));
                assert_ok(huddle_dense_distinct(NULL, &f, &b));
            }
            assert_int_equal(counting_calls(context, COUNTING_DISTINCT), 1);
            assert_true((b.of != NULL) == (copies == 1));
            check_same_distinct(&a, &b);
            huddle_distinct_free(&a);
            huddle_distinct_free(&b);
            huddle_dense_free(&f);
            huddle_points_free(&x);
            huddle_context_free(context);
        }
}

/* ---- moves and scores ------------------------------------------------------------------------ */

/* Labels of which a tenth is wrong are repaired under every objective. */
static void moves_agree(void **state) {
    (void)state;
    static const char *const objectives[] = {"map", "modularity", "ncut"};
    huddle_points x = clouds(N, D, false);
    huddle_csr graph = graph_of(&x);
    for (size_t k = 0; k < 3; k++) {
        huddle_context *context = counting_context("");
        huddle_refine_options options = huddle_refine_defaults();
        int32_t labels[N], known[N], truth[N], sweeps;
        set_labels(truth);
        set_labels(labels);
        for (int64_t i = 0; i < N; i += 10)
            labels[i] = (labels[i] + 1) % C;
        memcpy(known, labels, sizeof known);
        options.objective = objectives[k];
        assert_ok(huddle_refine_move(context, &graph, &options, labels, &sweeps));
        assert_ok(huddle_refine_move(NULL, &graph, &options, known, NULL));
        assert_memory_equal(labels, known, sizeof known);
        assert_memory_equal(labels, truth, sizeof truth);
        assert_int_equal(counting_calls(context, COUNTING_MOVE), 1);
        assert_true(sweeps > 0);
        huddle_context_free(context);
    }
    huddle_csr_free(&graph);
    huddle_points_free(&x);
}

/* The starts of the refinement, side by side on the CPU, are moved and scored one at a time. */
static void refined_labels_agree(void **state) {
    (void)state;
    huddle_context *context = counting_context("");
    huddle_points x = clouds(N, D, false);
    huddle_csr graph = graph_of(&x);
    int32_t labels[N], refined[N], known[N];
    huddle_refine_info info;
    set_labels(labels);
    for (int64_t i = 0; i < N; i += 7)
        labels[i] = (labels[i] + 1) % C;
    huddle_refine_start start = {"given", labels};
    assert_ok(huddle_context_set_threads(context, 3));
    assert_ok(huddle_refine(context, &graph, 1, &start, NULL, refined, &info));
    assert_ok(huddle_refine(NULL, &graph, 1, &start, NULL, known, NULL));
    assert_memory_equal(refined, known, sizeof known);
    assert_true(counting_calls(context, COUNTING_MOVE) > info.n_trials);
    assert_true(counting_calls(context, COUNTING_SCORES) >= info.n_trials);
    assert_int_equal(atomic_load(&counting_state_of(context)->elsewhere), 0);
    huddle_csr_free(&graph);
    huddle_points_free(&x);
    huddle_context_free(context);
}

static void scores_agree(void **state) {
    (void)state;
    huddle_context *context = counting_context("");
    huddle_points x = clouds(N, D, false);
    huddle_csr graph = graph_of(&x);
    huddle_graph_scores a, b;
    double one, two, values[N], known[N];
    int32_t labels[N];
    set_labels(labels);
    labels[4] = 17; /* a cluster of one point, and numbers with gaps */
    assert_ok(huddle_metrics_graph_scores(context, &graph, labels, &a));
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, labels, &b));
    const double *s = (const double *)&a, *t = (const double *)&b;
    for (size_t k = 0; k < sizeof a / sizeof *s; k++)
        assert_close(s[k], t[k], 1e-12);
    assert_ok(huddle_metrics_ncut(context, &graph, labels, &one));
    assert_ok(huddle_metrics_ncut(NULL, &graph, labels, &two));
    assert_close(one, two, 1e-12);
    assert_int_equal(counting_calls(context, COUNTING_SCORES), 2);
    assert_ok(huddle_metrics_silhouette_samples(context, &x, labels, values));
    assert_ok(huddle_metrics_silhouette_samples(NULL, &x, labels, known));
    for (int64_t i = 0; i < N; i++)
        assert_close(values[i], known[i], 1e-9);
    assert_ok(huddle_metrics_silhouette(context, &x, labels, 50, 1, &one));
    assert_ok(huddle_metrics_silhouette(NULL, &x, labels, 50, 1, &two));
    assert_close(one, two, 1e-9);
    assert_int_equal(counting_calls(context, COUNTING_SILHOUETTES), 2);
    huddle_csr_free(&graph);
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* ---- engines that do not answer, or nonsense ------------------------------------------------- */

/* Calls the stage of a function; n_clusters is for moves. */
static huddle_status call_stage(huddle_context *context, counting_stage stage, int32_t n_clusters) {
    huddle_points x = clouds(N, D, false), y = {0};
    huddle_csr graph = graph_of(&x);
    huddle_graph_scores scores;
    huddle_distinct distinct = {0};
    int32_t labels[N];
    double values[N];
    set_labels(labels);
    for (int64_t i = 0; i < N; i++)
        labels[i] = labels[i] < n_clusters ? labels[i] : 0;
    huddle_status status = HUDDLE_OK;
    if (stage == COUNTING_GRAM)
        status = prepare(context, &x, "pca:R", 3, &y, NULL);
    else if (stage == COUNTING_MAP)
        status = prepare(context, &x, "unit", 0, &y, NULL);
    else if (stage == COUNTING_DISTINCT)
        status = huddle_points_distinct(context, &x, &distinct);
    else if (stage == COUNTING_MOVE)
        status = huddle_refine_move(context, &graph, NULL, labels, NULL);
    else if (stage == COUNTING_SCORES)
        status = huddle_metrics_graph_scores(context, &graph, labels, &scores);
    else
        status = huddle_metrics_silhouette_samples(context, &x, labels, values);
    huddle_distinct_free(&distinct);
    huddle_points_free(&x);
    huddle_points_free(&y);
    huddle_csr_free(&graph);
    return status;
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const struct {
        counting_stage stage;
        int32_t n_clusters;
        const char *message;
    } cases[] = {
        {COUNTING_GRAM, 3, "the engine counting returned nan as the product of columns 6 and 6"},
        {COUNTING_MAP, 3, "the engine counting returned a value in row 1 that is not finite"},
        {COUNTING_DISTINCT, 3, "the engine counting returned row 2 as a copy of row 1"},
        {COUNTING_MOVE, 3, "the engine counting moved vertex 1 to cluster 4 of 3"},
        {COUNTING_MOVE, 2, "the engine counting raised the map of labels from"},
        {COUNTING_SCORES, 3, "inside a cluster of volume"},
        {COUNTING_SILHOUETTES, 3, "the engine counting returned 1.5 as silhouette of point 90"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char options[64];
        snprintf(options, sizeof options, "spoil:%s", counting_stage_name(cases[k].stage));
        huddle_context *context = counting_context(options);
        assert_refused(call_stage(context, cases[k].stage, cases[k].n_clusters), HUDDLE_INTERNAL,
                       cases[k].message);
        huddle_context_free(context);
    }
}

/* Any other failure is that of the call; what is declined, the CPU does. */
static void failures_are_reported_and_declines_are_not(void **state) {
    (void)state;
    static const counting_stage stages[] = {COUNTING_GRAM, COUNTING_MAP,    COUNTING_DISTINCT,
                                            COUNTING_MOVE, COUNTING_SCORES, COUNTING_SILHOUETTES};
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        char options[64], message[96];
        snprintf(options, sizeof options, "fail:%s", counting_stage_name(stages[k]));
        snprintf(message, sizeof message, "the device has no memory for %s",
                 counting_stage_name(stages[k]));
        huddle_context *failing = counting_context(options),
                       *declining = counting_context("decline");
        assert_refused(call_stage(failing, stages[k], C), HUDDLE_NO_MEMORY, message);
        assert_ok(call_stage(declining, stages[k], C));
        assert_int_equal(counting_calls(declining, stages[k]), 1);
        huddle_context_free(failing);
        huddle_context_free(declining);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparations_agree),
        cmocka_unit_test(distinct_rows_agree),
        cmocka_unit_test(moves_agree),
        cmocka_unit_test(refined_labels_agree),
        cmocka_unit_test(scores_agree),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(failures_are_reported_and_declines_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
