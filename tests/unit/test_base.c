/* base: status, memory, random streams, the pool, option tables. */
#include "base/check.h"
#include "base/cpu.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- random streams ------------------------------------------------------------------------ */

static void philox_matches_published_vectors(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        hd_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void streams_are_reproducible_and_differ(void **state) {
    (void)state;
    hd_rng a = hd_rng_stream(7, 1), b = hd_rng_stream(7, 1), c = hd_rng_stream(7, 2);
    int equal = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = hd_rng_bits(&a);
        assert_true(x == hd_rng_bits(&b));
        equal += x == hd_rng_bits(&c);
    }
    assert_int_equal(equal, 0);
}

static void distributions_have_their_moments(void **state) {
    (void)state;
    enum { N = 200000 };
    hd_rng rng = hd_rng_stream(1, 0);
    double sum = 0, normal = 0, squares = 0;
    int counts[7] = {0};
    for (int i = 0; i < N; i++) {
        sum += hd_rng_uniform(&rng);
        double z = hd_rng_normal(&rng);
        normal += z;
        squares += z * z;
        counts[hd_rng_below(&rng, 7)]++;
    }
    assert_close(sum / N, 0.5, 0.005);
    assert_close(normal / N, 0, 0.01);
    assert_close(squares / N, 1, 0.02);
    for (int i = 0; i < 7; i++)
        assert_close(counts[i] / (N / 7.0), 1, 0.03);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void impossible_sizes_are_refused(void **state) {
    (void)state;
    assert_null(hd_alloc(-1, 1));
    assert_null(hd_alloc(INT64_MAX, 8));
    assert_null(hd_alloc(INT64_MAX / 4, 8));
}

static void arrays_are_aligned_and_grow(void **state) {
    (void)state;
    int64_t capacity = 0;
    int32_t *array = NULL;
    for (int32_t i = 0; i < 1000; i++) {
        assert_true(hd_grow(&array, &capacity, i + 1, sizeof *array));
        array[i] = i;
    }
    for (int32_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_int_equal((uintptr_t)array % 64, 0);
    huddle_free(array);
}

/* ---- the pool ------------------------------------------------------------------------------ */

typedef struct sums {
    double chunk[1000];
    int64_t fail_from; /* chunks from here on fail */
} sums;

static huddle_status add_reciprocals(void *argument, hd_chunk chunk) {
    sums *s = argument;
    if (chunk.index >= s->fail_from)
        return hd_fail(HUDDLE_NUMERIC, "chunk %lld failed", (long long)chunk.index);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        s->chunk[chunk.index] += 1.0 / (double)(i + 1);
    return HUDDLE_OK;
}

static double harmonic(huddle_context *context) {
    sums s = {.fail_from = INT64_MAX};
    double sum = 0;
    assert_ok(hd_parallel(context, NULL, 99999, 100, add_reciprocals, &s));
    for (int i = 0; i < 1000; i++)
        sum += s.chunk[i];
    return sum;
}

static void loops_give_the_same_bits_for_any_thread_count(void **state) {
    (void)state;
    double alone = harmonic(NULL);
    assert_close(alone, 12.090136129863335, 1e-12);
    for (int32_t threads = 1; threads <= 9; threads += 2) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        for (int i = 0; i < 20; i++)
            assert_true(harmonic(context) == alone);
        huddle_context_free(context);
    }
}

static void the_lowest_failing_chunk_is_reported(void **state) {
    (void)state;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 4));
    for (int i = 0; i < 50; i++) {
        sums s = {.fail_from = 17};
        assert_refused(hd_parallel(context, NULL, 99999, 100, add_reciprocals, &s), HUDDLE_NUMERIC,
                       "chunk 17 failed");
    }
    huddle_context_free(context);
}

typedef struct nest {
    huddle_context *context;
    atomic_int count;
} nest;

static huddle_status count_one(void *argument, hd_chunk chunk) {
    (void)chunk;
    atomic_fetch_add((atomic_int *)argument, 1);
    return HUDDLE_OK;
}

static huddle_status loop_again(void *argument, hd_chunk chunk) {
    nest *n = argument;
    (void)chunk;
    return hd_parallel(n->context, NULL, 10, 1, count_one, &n->count);
}

static void loops_nest_and_survive_fork(void **state) {
    (void)state;
    nest n = {0};
    assert_ok(huddle_context_new(&n.context));
    assert_ok(huddle_context_set_threads(n.context, 3));
    assert_ok(hd_parallel(n.context, NULL, 20, 1, loop_again, &n));
    assert_int_equal(atomic_load(&n.count), 200);
#if !defined(__SANITIZE_THREAD__) /* which refuses new threads after a fork */
    pid_t child = fork();
    if (child == 0)
        _exit(harmonic(n.context) == harmonic(NULL) ? 0 : 1);
    int result;
    waitpid(child, &result, 0);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
#endif
    huddle_context_free(n.context);
}

static int stop_after_half(void *user, const char *stage, double done, double total) {
    assert_string_equal(stage, "adding");
    ++*(int *)user;
    return done > total / 2;
}

static void progress_can_cancel(void **state) {
    (void)state;
    huddle_context *context;
    int reports = 0;
    sums s = {.fail_from = INT64_MAX};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, stop_after_half, &reports);
    assert_refused(hd_parallel(context, "adding", 99999, 100, add_reciprocals, &s),
                   HUDDLE_CANCELLED, "cancelled");
    assert_true(reports > 0);
    huddle_context_resume(context);
    huddle_context_set_progress(context, NULL, NULL);
    assert_true(harmonic(context) == harmonic(NULL));
    huddle_context_free(context);
}

/* ---- options ------------------------------------------------------------------------------- */

typedef struct example {
    int32_t count;
    double gamma;
    bool snap;
    uint64_t seed;
    const char *scale;
    huddle_rule prepare;
    huddle_range n_clusters;
    huddle_numbers weights;
} example;

static const char *const scales[] = {"mean", "knn", NULL};
static const char *const rules[] = {"none", "pca:R", NULL};
static const char *const equal[] = {"equal", NULL};

static const huddle_option table[] = {
    HD_INT(example, count, "5", 1, 100, "how many"),
    HD_REAL_AUTO(example, gamma, "auto", 0, INFINITY, "how strong"),
    HD_BOOL(example, snap, "true", "whether to snap"),
    HD_SEED(example, seed, "where to begin"),
    HD_CHOICE(example, scale, "knn", scales, "how to scale"),
    HD_RULE(example, prepare, "none", rules, "what to do first"),
    HD_RANGE_AUTO(example, n_clusters, "auto", 1, 1000, "clusters"),
    HD_NUMBERS(example, weights, "equal", equal, 0, INFINITY, "weights"),
    {0}};

static void options_have_defaults_and_read_text(void **state) {
    (void)state;
    example e;
    huddle_options_default(table, &e);
    assert_int_equal(e.count, 5);
    assert_true(e.gamma == HUDDLE_AUTO && e.snap && e.seed == 0);
    assert_string_equal(e.scale, "knn");
    assert_int_equal(e.n_clusters.first, HUDDLE_AUTO);
    assert_ok(huddle_options_set(table, &e, "gamma", "2.5e-3"));
    assert_ok(huddle_options_set(table, &e, "prepare", "pca:40"));
    assert_ok(huddle_options_set(table, &e, "n_clusters", "2-20"));
    assert_ok(huddle_options_set(table, &e, "seed", "18446744073709551615"));
    assert_true(e.weights.name == equal[0] && e.weights.count == 0);
    assert_ok(huddle_options_set(table, &e, "weights", "2,.5,1e3"));
    assert_true(e.weights.name == NULL && e.weights.count == 3 && e.weights.values[1] == .5);
    assert_true(e.gamma == 2.5e-3 && e.prepare.r == 40 && e.seed == UINT64_MAX);
    assert_int_equal(e.n_clusters.last, 20);
    static const char *const texts[][2] = {
        {"gamma", "0.0025"},       {"prepare", "pca:40"}, {"n_clusters", "2-20"},
        {"weights", "2,0.5,1000"}, {"snap", "true"},      {"seed", "18446744073709551615"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[64];
        assert_ok(huddle_options_get(table, &e, texts[i][0], text, sizeof text));
        assert_string_equal(text, texts[i][1]);
    }
    assert_ok(huddle_options_check(table, &e));
}

static void misfits_are_named(void **state) {
    (void)state;
    static const char *const wrong[][3] = {
        {"count", "0", "count = 0: expected integer in [1, 100]"},
        {"count", "7x", "count = 7x"},
        {"count", "99999999999999999999", "count = 9999"},
        {"gamma", "nan", "gamma = nan: expected auto or number >= 0"},
        {"gamma", "-1", "gamma = -1"},
        {"snap", "yes", "snap = yes: expected true|false"},
        {"seed", "-3", "seed = -3"},
        {"scale", "big", "scale = big: expected one of mean|knn"},
        {"prepare", "pca", "prepare = pca: expected one of none|pca:R"},
        {"prepare", "pca:0", "prepare = pca:0"},
        {"n_clusters", "9-3", "n_clusters = 9-3"},
        {"weights", "1,-2", "weights = 1,-2: expected one of equal|numbers"},
        {"weights", "1,", "weights = 1,"},
        {"weights", "1 2", "weights = 1 2"},
        {"weights", "auto", "weights = auto"},
        {"weights", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "weights = 1,"},
        {"sed", "1", "no option named 'sed'; did you mean 'seed'?"},
        {"nonsense", "1", "no option named 'nonsense'"},
    };
    example before, e;
    huddle_options_default(table, &e);
    before = e;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(huddle_options_set(table, &e, wrong[i][0], wrong[i][1]), HUDDLE_INVALID,
                       wrong[i][2]);
    assert_memory_equal(&e, &before, sizeof e);
    e.count = 0;
    assert_refused(huddle_options_check(table, &e), HUDDLE_INVALID, "count = 0");
}

static void threads_are_checked(void **state) {
    (void)state;
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_true(huddle_context_threads(context) >= 1);
    assert_refused(huddle_context_set_threads(context, 0), HUDDLE_INVALID, "n_threads = 0");
    huddle_context_free(context);
}

static void the_instruction_set_can_be_lowered(void **state) {
    (void)state;
    setenv("HUDDLE_ISA", "base", 1);
    assert_int_equal(hd_cpu_isa(), HD_ISA_BASE);
    unsetenv("HUDDLE_ISA");
}

static void samples_are_different_numbers_in_order(void **state) {
    (void)state;
    int64_t index[10], counts[10] = {0};
    for (uint64_t s = 0; s < 3000; s++) {
        hd_rng rng = hd_rng_stream(5, s);
        hd_rng_sample(&rng, 10, 3, index);
        assert_true(0 <= index[0] && index[0] < index[1] && index[1] < index[2] && index[2] < 10);
        for (int k = 0; k < 3; k++)
            counts[index[k]]++;
    }
    for (int k = 0; k < 10; k++)
        assert_true(llabs(counts[k] - 900) < 150); /* 6 standard deviations */
    hd_rng rng = hd_rng_stream(5, 0);
    hd_rng_sample(&rng, 10, 10, index);
    for (int k = 0; k < 10; k++)
        assert_int_equal(index[k], k);
}

/* ---- text and silence ---------------------------------------------------------------------- */

static const char *suggest(const char *word) {
    static const char *const names[] = {"n_neighbors", "seed", "gamma", "tol", "ab", NULL};
    const char *nearest = NULL;
    int distance = HUDDLE_SUGGEST_DISTANCE;
    for (int k = 0; names[k] != NULL; k++)
        huddle_suggest_name(word, names[k], &distance, &nearest);
    return nearest != NULL ? nearest : "";
}

static void misspelt_names_are_recognised(void **state) {
    (void)state;
    assert_string_equal(suggest("sed"), "seed");
    assert_string_equal(suggest("seeed"), "seed");
    assert_string_equal(suggest("gmama"), "gamma"); /* one swap */
    assert_string_equal(suggest("n_nieghbros"), "n_neighbors");
    assert_string_equal(suggest("n_n"), "n_neighbors"); /* its beginning */
    assert_string_equal(suggest("n_"), "");             /* too little of it */
    assert_string_equal(suggest("xy"), "");             /* two edits from any two letters */
    assert_string_equal(suggest("colour"), "");
    assert_string_equal(suggest("an_option_with_a_name_of_more_than_forty_letters"), "");
}

static void numbers_read_back(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } known[] = {{0.1, "0.1"},        {1e-4, "0.0001"},         {100, "100"},
                 {1e15, "1e+15"},     {123456789, "123456789"}, {1.0 / 3, "0.3333333333333333"},
                 {-0.0025, "-0.0025"}};
    char text[32];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        huddle_format_real(known[i].number, text, sizeof text);
        assert_string_equal(text, known[i].text);
    }
    hd_rng rng = hd_rng_stream(3, 0);
    for (int i = 0; i < 1000; i++) {
        double number = hd_rng_normal(&rng) * pow(10, (double)hd_rng_below(&rng, 60) - 30);
        huddle_format_real(number, text, sizeof text);
        assert_true(strtod(text, NULL) == number);
    }
}

static void count_line(void *user, huddle_log_level level, huddle_warning_code code,
                       const char *text) {
    (void)level, (void)code, (void)text;
    ++*(int *)user;
}

static void silence_ends(void **state) {
    (void)state;
    huddle_context *context;
    hd_warnings warnings = {0};
    int lines = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_log(context, count_line, &lines);
    context->warnings = &warnings;
    hd_silence before = hd_silence_begin(context);
    hd_warn(context, HUDDLE_WARNING_INPUT, "not heard");
    hd_silence_end(context, before);
    assert_int_equal(lines, 0);
    assert_int_equal(warnings.count, 0);
    hd_warn(context, HUDDLE_WARNING_INPUT, "row %d", 3);
    hd_log(context, "only logged");
    assert_int_equal(lines, 2);
    assert_int_equal(warnings.count, 1);
    assert_int_equal(warnings.items[0].code, HUDDLE_WARNING_INPUT);
    assert_string_equal(warnings.items[0].text, "row 3");
    hd_silence_end(NULL, hd_silence_begin(NULL));
    hd_warnings_free(&warnings);
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_different_numbers_in_order),
        cmocka_unit_test(philox_matches_published_vectors),
        cmocka_unit_test(streams_are_reproducible_and_differ),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(arrays_are_aligned_and_grow),
        cmocka_unit_test(loops_give_the_same_bits_for_any_thread_count),
        cmocka_unit_test(the_lowest_failing_chunk_is_reported),
        cmocka_unit_test(loops_nest_and_survive_fork),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(options_have_defaults_and_read_text),
        cmocka_unit_test(misfits_are_named),
        cmocka_unit_test(threads_are_checked),
        cmocka_unit_test(the_instruction_set_can_be_lowered),
        cmocka_unit_test(misspelt_names_are_recognised),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(silence_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
