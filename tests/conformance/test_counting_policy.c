/* What is decided above the engines, whether there is one or not: large problems are divided before
 * an engine is asked for the parts, and an engine that declines changes no bit at any size. */
#include "base/check.h"
#include "base/context.h"
#include "base/rng.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "shrink/linear.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_one_thread(const huddle_context *context) {
    assert_int_equal(atomic_load(&counting_state_of(context)->elsewhere), 0);
}

/* ---- the shrink step ------------------------------------------------------------------------- */

typedef struct problem {
    huddle_dense f;
    huddle_csr w;
} problem;

/* Components of `size` rows in c columns, which differ in three directions; each row is joined to
 * the four after it. Every eighth component is wide, the others are nearly one point. */
static problem components(int64_t n, int64_t size, int64_t c, uint64_t seed) {
    enum { REACH = 4, FLAT = 3 };
    problem x;
    double turn[FLAT][64];
    hd_rng rng = hd_rng_stream(seed, 0);
    int64_t count = 0;
    for (int64_t k = 0; k < FLAT * 64; k++)
        turn[k / 64][k % 64] = hd_rng_normal(&rng);
    assert_ok(huddle_dense_new(n, c, &x.f));
    assert_ok(huddle_csr_new(n, n, 2 * REACH * n, &x.w));
    for (int64_t i = 0; i < n; i++) {
        double wide = i / size % 8 == 0 ? 1 : 1e-6, at[FLAT];
        for (int r = 0; r < FLAT; r++)
            at[r] = hd_rng_normal(&rng);
        for (int64_t q = 0; q < c; q++)
            x.f.values[i * c + q] =
                (double)(i / size % 7) +
                wide * (at[0] * turn[0][q] + at[1] * turn[1][q] + at[2] * turn[2][q]);
        for (int64_t j = i - REACH; j <= i + REACH; j++)
            if (j >= 0 && j < n && j != i && j / size == i / size) {
                x.w.columns[count] = (int32_t)j;
                x.w.values[count++] = 1;
            }
        x.w.offsets[i + 1] = count;
    }
    return x;
}

static void problem_free(problem *x) {
    huddle_dense_free(&x->f);
    huddle_csr_free(&x->w);
}

typedef struct shrunk {
    huddle_shrunk out;
    huddle_shrink_info info;
} shrunk;

static shrunk shrink(huddle_context *context, const problem *x, double gamma) {
    shrunk s;
    huddle_shrink_options options = huddle_shrink_defaults();
    options.gamma = gamma;
    options.gap = 1e-3;
    assert_ok(huddle_shrink(context, &x->f, &x->w, &options, &s.out, &s.info));
    return s;
}

static void shrunk_free(shrunk *s) {
    huddle_shrunk_free(&s->out);
    huddle_shrink_info_free(&s->info);
}

static void check_same_bits(const shrunk *a, const shrunk *b) {
    assert_true(a->info.objective == b->info.objective && a->info.dual == b->info.dual);
    assert_true(a->info.gap == b->info.gap && a->info.n_iter == b->info.n_iter);
    assert_string_equal(a->info.solver, b->info.solver);
    assert_int_equal(a->out.n_groups, b->out.n_groups);
    assert_memory_equal(a->out.g.values, b->out.g.values,
                        (size_t)(a->out.g.rows * a->out.g.cols) * sizeof(double));
    assert_memory_equal(a->out.group, b->out.group, (size_t)a->out.g.rows * sizeof *a->out.group);
}

/* Problems on both sides of the size from which they are divided, of small components, which are
 * solved side by side, and of large ones. */
static void a_declined_shrink_step_has_the_bits_of_the_cpu(void **state) {
    (void)state;
    static const int64_t cases[][3] = {
        {600, 60, 8}, {6000, 40, 24}, {6000, 40, 40}, {6000, 3000, 40}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        huddle_context *cpu = counting_context_with(NULL, ""),
                       *declining = counting_context_with(&counting_engine, "decline");
        problem x = components(cases[k][0], cases[k][1], cases[k][2], k);
        shrunk a = shrink(declining, &x, .3), b = shrink(cpu, &x, .3);
        check_same_bits(&a, &b);
        assert_true(counting_calls(declining, COUNTING_SHRINK) > 0);
        check_one_thread(declining);
        shrunk_free(&a);
        shrunk_free(&b);
        problem_free(&x);
        huddle_context_free(declining);
        huddle_context_free(cpu);
    }
}

/* Components that are nearly one point are left to nobody; the engine solves the others, in few
 * directions, on the thread of the caller. */
static void an_engine_shrinks_the_parts_of_a_large_problem(void **state) {
    (void)state;
    huddle_context *cpu = counting_context_with(NULL, ""),
                   *counting = counting_context_with(&counting_engine, "");
    problem x = components(6000, 40, 40, 5);
    shrunk a = shrink(counting, &x, .3), b = shrink(cpu, &x, .3);
    assert_string_equal(a.info.solver, "counting");
    assert_true(a.info.gap <= 1e-3);
    assert_true(fabs(a.info.objective - b.info.objective) <= 1e-3 * b.info.objective);
    assert_int_equal(a.info.n_components, 150);
    /* 19 wide components: a draft of each, and where it is not enough a second solve. */
    assert_true(counting_calls(counting, COUNTING_SHRINK) > 19);
    assert_true(counting_calls(counting, COUNTING_SHRINK) <= 3 * 19);
    check_one_thread(counting);
    shrunk_free(&a);
    shrunk_free(&b);
    problem_free(&x);
    huddle_context_free(counting);
    huddle_context_free(cpu);
}

/* One component, far from negligible: that it collapses takes a linear solve to prove. */
static void an_engine_is_not_asked_for_what_collapses(void **state) {
    (void)state;
    huddle_context *cpu = counting_context_with(NULL, ""),
                   *counting = counting_context_with(&counting_engine, "");
    problem x = components(60, 60, 8, 6);
    shrunk a = shrink(counting, &x, 20), b = shrink(cpu, &x, 20);
    assert_int_equal(counting_calls(counting, COUNTING_SHRINK), 0);
    assert_int_equal(a.out.n_groups, 1);
    check_same_bits(&a, &b);
    shrunk_free(&a);
    shrunk_free(&b);
    a = shrink(counting, &x, .3);
    assert_true(counting_calls(counting, COUNTING_SHRINK) > 0);
    shrunk_free(&a);
    problem_free(&x);
    huddle_context_free(counting);
    huddle_context_free(cpu);
}

/* ---- K-means --------------------------------------------------------------------------------- */

typedef struct clustered {
    huddle_kmeans_result result;
    huddle_kmeans_info info;
} clustered;

static clustered cluster(huddle_context *context, const huddle_points *x, int32_t c,
                         int32_t max_iter) {
    clustered k;
    huddle_kmeans_options options = huddle_kmeans_defaults();
    options.n_clusters = c;
    options.n_init = 4;
    options.max_iter = max_iter;
    assert_ok(huddle_kmeans(context, x, NULL, &options, &k.result, &k.info));
    return k;
}

static void clustered_free(clustered *k) {
    huddle_kmeans_result_free(&k->result);
    huddle_kmeans_info_free(&k->info);
}

/* Rows on both sides of the numbers at which restarts share the threads, and begin on a sample. */
static void declined_clusters_have_the_bits_of_the_cpu(void **state) {
    (void)state;
    static const int64_t sizes[] = {900, 32768, 32769, 65535, 65536};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        huddle_context *cpu = counting_context_with(NULL, ""),
                       *declining = counting_context_with(&counting_engine, "decline");
        huddle_points x = counting_groups(sizes[k], 2, 6, 1.5);
        clustered a = cluster(declining, &x, 6, 300), b = cluster(cpu, &x, 6, 300);
        assert_true(a.info.inertia == b.info.inertia && a.info.best == b.info.best);
        assert_memory_equal(a.info.inertias, b.info.inertias, 4 * sizeof(double));
        assert_memory_equal(a.result.labels, b.result.labels, (size_t)x.n * sizeof(int32_t));
        assert_memory_equal(a.result.centres.values, b.result.centres.values,
                            (size_t)(6 * 2) * sizeof(double));
        assert_true(counting_calls(declining, COUNTING_CLUSTER_ROWS) > 0);
        clustered_free(&a);
        clustered_free(&b);
        huddle_points_free(&x);
        huddle_context_free(declining);
        huddle_context_free(cpu);
    }
}

/* The engine is asked for the restarts on the sample, then for the best of them on all rows, which
 * begin at the means of the sample: the first labels are right. */
static void an_engine_clusters_samples_first(void **state) {
    (void)state;
    huddle_context *cpu = counting_context_with(NULL, ""),
                   *counting = counting_context_with(&counting_engine, "");
    huddle_points x = counting_groups(65536, 2, 3, .1);
    clustered a = cluster(counting, &x, 3, 1), b = cluster(cpu, &x, 3, 300);
    assert_int_equal(counting_calls(counting, COUNTING_CLUSTER_ROWS), 2);
    assert_close(a.info.inertia, b.info.inertia, 1e-3);
    assert_int_equal(a.info.n_restarts, 4);
    for (int64_t i = 3; i < x.n; i++)
        assert_int_equal(a.result.labels[i], a.result.labels[i % 3]);
    clustered_free(&a);
    clustered_free(&b);
    huddle_points_free(&x);
    huddle_context_free(counting);
    huddle_context_free(cpu);
}

/* ---- fits ------------------------------------------------------------------------------------ */

static huddle_model *fit(huddle_context *context, const char *method, const huddle_points *x,
                         const char *n_clusters) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    assert_ok(huddle_model_set_option(model, "n_init", "3"));
    assert_ok(huddle_model_fit(context, model, x));
    return model;
}

/* With the preparation, the number of clusters and the labels decided by trials; rows on both sides
 * of the number up to which LAPACK computes eigenvectors; copies of rows; one thread asks. */
static void declined_decisions_are_those_of_the_cpu(void **state) {
    (void)state;
    static const int64_t sizes[] = {300, 520};
    for (size_t k = 0; k < 2; k++)
        for (int automatic = 0; automatic < 2; automatic++) {
            huddle_context *cpu = counting_context_with(NULL, ""),
                           *declining = counting_context_with(&counting_engine, "decline");
            huddle_points x = counting_groups(sizes[k], 16, 4, 2.5);
            memcpy(x.values + 16 * 16, x.values, 8 * 16 * sizeof *x.values);
            const char *clusters = automatic ? "auto" : "4";
            huddle_model *a = fit(declining, "ssc", &x, clusters),
                         *b = fit(cpu, "ssc", &x, clusters);
            counting_check_same_bits("ssc", a, b);
            assert_true(counting_calls(declining, COUNTING_EIGENPAIRS) > 1);
            assert_true(counting_calls(declining, COUNTING_MOVE) > 1);
            check_one_thread(declining);
            huddle_model_free(a);
            huddle_model_free(b);
            huddle_points_free(&x);
            huddle_context_free(declining);
            huddle_context_free(cpu);
        }
}

/* ---- the log --------------------------------------------------------------------------------- */

typedef struct lines {
    int count;
    char text[64][256];
} lines;

static void keep_declines(void *user, huddle_log_level level, huddle_warning_code code,
                          const char *text) {
    lines *kept = user;
    (void)level, (void)code;
    if (strstr(text, "declines") != NULL && kept->count < 64)
        snprintf(kept->text[kept->count++], sizeof kept->text[0], "%s", text);
}

/* The number of lines with this end. */
static int count_lines(const lines *kept, const char *end) {
    int found = 0;
    for (int l = 0; l < kept->count; l++) {
        size_t length = strlen(kept->text[l]), size = strlen(end);
        found += length >= size && strcmp(kept->text[l] + length - size, end) == 0;
    }
    return found;
}

/* However often a function is asked. */
static void declines_are_logged_once(void **state) {
    (void)state;
    static const counting_stage stages[] = {
        COUNTING_NEIGHBORS, COUNTING_WEIGH,        COUNTING_EIGENPAIRS,   COUNTING_SHRINK,
        COUNTING_DISTINCT,  COUNTING_MAP,          COUNTING_GRAM,         COUNTING_MOVE,
        COUNTING_SCORES,    COUNTING_CLUSTER_ROWS, COUNTING_ROW_NEIGHBORS};
    huddle_context *context = counting_context_with(&counting_engine, "decline");
    huddle_points x = counting_groups(120, 4, 3, 1);
    lines kept = {0};
    huddle_model *model;
    huddle_context_set_log(context, keep_declines, &kept);
    for (int k = 0; k < 2; k++) {
        assert_ok(huddle_model_new("ssc", &model));
        assert_ok(huddle_model_set_option(model, "n_clusters", "6"));
        assert_ok(huddle_model_set_option(model, "prepare", "pca:2"));
        /* More clusters than groups, and little shrinking: no part of W collapses, about which the
         * engine would not be asked. */
        assert_ok(huddle_model_set_option(model, "gamma", "3"));
        assert_ok(huddle_model_fit(context, model, &x));
        huddle_model_free(model);
    }
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        char reason[96];
        snprintf(reason, sizeof reason, "(%s is declined)", counting_stage_name(stages[k]));
        if (count_lines(&kept, reason) != 1)
            fail_msg("%s: %d lines", reason, count_lines(&kept, reason));
    }
    assert_string_equal(kept.text[0],
                        "the engine counting declines find_gram (find_gram is declined)");
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* Three linear solvers, each of which leaves the graph to the next in its own way. */
static huddle_status lack_memory(huddle_context *context, const hd_shrink_linear_graph *graph,
                                 void **state) {
    (void)context, (void)graph, (void)state;
    return hd_fail(HUDDLE_UNSUPPORTED, "no memory for a factor");
}

static huddle_status lose_digits(huddle_context *context, const hd_shrink_linear_graph *graph,
                                 void **state) {
    (void)context, (void)graph, (void)state;
    return hd_fail(HUDDLE_NUMERIC, "a pivot is 0");
}

static huddle_status analyse_nothing(huddle_context *context, const hd_shrink_linear_graph *graph,
                                     void **state) {
    (void)context, (void)graph, (void)state;
    return HUDDLE_OK;
}

static bool fits_never(const void *state) {
    (void)state;
    return false;
}

/* Components are solved side by side, and each of them asks. */
static void declined_linear_solvers_are_logged_once(void **state) {
    (void)state;
    static const hd_shrink_linear_solver
        last = {.name = "third", .analyse = analyse_nothing, .fits = fits_never},
        second = {.name = "second", .analyse = lose_digits, .next = &last},
        first = {.name = "first", .analyse = lack_memory, .next = &second};
    static const hd_engine linear = {.text = {"linear", "for tests"}, .linear_solver = &first};
    huddle_context *cpu = counting_context_with(NULL, ""),
                   *declining = counting_context_with(&linear, "");
    problem x = components(600, 60, 8, 1);
    lines kept = {0};
    huddle_context_set_log(declining, keep_declines, &kept);
    for (int k = 0; k < 2; k++) {
        shrunk a = shrink(declining, &x, .3), b = shrink(cpu, &x, .3);
        check_same_bits(&a, &b);
        assert_string_equal(a.info.linear_solver, b.info.linear_solver);
        shrunk_free(&a);
        shrunk_free(&b);
    }
    assert_int_equal(kept.count, 3);
    assert_int_equal(count_lines(&kept, "linear declines first (no memory for a factor)"), 1);
    assert_int_equal(count_lines(&kept, "linear declines second (a pivot is 0)"), 1);
    assert_int_equal(count_lines(&kept, "linear declines third (the factor would take too much "
                                        "memory or time)"),
                     1);
    problem_free(&x);
    huddle_context_free(declining);
    huddle_context_free(cpu);
}

/* An engine that answers once, for rows of one column: F, and a dual point that is slack on every
 * edge by 5 %. */
static int n_asked;

static huddle_status shrink_once(huddle_context *context, const hd_shrink_request *request,
                                 hd_shrink_result *result) {
    const huddle_dense *f = request->f;
    const huddle_csr *w = request->w;
    int64_t edge = 0;
    (void)context;
    if (n_asked++ > 0)
        return hd_fail(HUDDLE_UNSUPPORTED, "once is enough");
    assert_ok(huddle_dense_copy(f, result->g));
    assert_ok(huddle_dense_new(w->offsets[w->rows] / 2, 1, result->z));
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++)
            if (w->columns[e] > i)
                result->z->values[edge++] =
                    copysign(.95 * request->gamma * w->values[e],
                             f->values[i * f->stride] - f->values[w->columns[e] * f->stride]);
    return HUDDLE_OK;
}

/* Rows on a line, each a negligible way from the next, whose edges are all slack: they are one
 * group, but too long to be moved to one point, so a smaller gap is asked for. The first answer
 * stands. */
static void a_declined_second_answer_is_logged(void **state) {
    (void)state;
    static const hd_engine once = {.text = {"once", "for tests"}, .shrink = shrink_once};
    huddle_context *context = counting_context_with(&once, "");
    problem x = components(600, 600, 1, 1);
    huddle_shrink_options options = huddle_shrink_defaults();
    lines kept = {0};
    shrunk a;
    for (int64_t i = 0; i < 600; i++)
        x.f.values[i] = (double)i;
    options.loss = "l2";
    options.gamma = 10;
    options.gap = .1;
    huddle_context_set_log(context, keep_declines, &kept);
    n_asked = 0;
    assert_ok(huddle_shrink(context, &x.f, &x.w, &options, &a.out, &a.info));
    assert_true(n_asked > 1);
    assert_string_equal(a.info.solver, "once");
    assert_true(a.info.gap > .05 && a.info.gap <= .1);
    assert_memory_equal(a.out.g.values, x.f.values, 600 * sizeof(double));
    assert_int_equal(kept.count, 1);
    assert_string_equal(kept.text[0], "the engine once declines shrink (once is enough)");
    shrunk_free(&a);
    problem_free(&x);
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declined_shrink_step_has_the_bits_of_the_cpu),
        cmocka_unit_test(an_engine_shrinks_the_parts_of_a_large_problem),
        cmocka_unit_test(an_engine_is_not_asked_for_what_collapses),
        cmocka_unit_test(declined_clusters_have_the_bits_of_the_cpu),
        cmocka_unit_test(an_engine_clusters_samples_first),
        cmocka_unit_test(declined_decisions_are_those_of_the_cpu),
        cmocka_unit_test(declines_are_logged_once),
        cmocka_unit_test(declined_linear_solvers_are_logged_once),
        cmocka_unit_test(a_declined_second_answer_is_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
