/* shrink: the choice of the linear solver, factors that are too large, and lack of memory. Most of
 * it concerns CHOLMOD, which a build without GPL code does not have. */
#include "shrink_problems.h"

/* ---- choices ------------------------------------------------------------------------------- */

static bool offers(const char *option, const char *choice) {
    const huddle_option *found = huddle_option_find(huddle_shrink_options_table(), option);
    assert_non_null(found);
    for (const char *const *name = found->choices; *name != NULL; name++)
        if (strcmp(*name, choice) == 0)
            return true;
    return false;
}

/* The choices of an option are what this build has: each can be set, and no other. */
static void only_solvers_of_this_build_are_offered(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "irls", "newton", "pdhg", "reweighted"};
    const huddle_option *table = huddle_shrink_options_table();
    huddle_shrink_options o = huddle_shrink_defaults();
    char allowed[256];
    for (int k = 0; k < 5; k++)
        assert_true(offers("solver", solvers[k]));
    assert_true(offers("linear_solver", "auto") && offers("linear_solver", "approximate"));
    assert_int_equal(offers("linear_solver", "cholmod"), HUDDLE_GPL);
    huddle_option_allowed(huddle_option_find(table, "linear_solver"), allowed, sizeof allowed);
    assert_int_equal(strstr(allowed, "cholmod") != NULL, HUDDLE_GPL);
    huddle_status status = huddle_options_set(table, &o, "linear_solver", "cholmod");
    assert_int_equal(status, HUDDLE_GPL ? HUDDLE_OK : HUDDLE_INVALID);
    /* Set in the struct, it is refused too. */
    example x = clouds(40, 2, 2, 3, false, 1);
    huddle_shrunk out;
    o.linear_solver = "cholmod";
    status = huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL);
    assert_int_equal(status, HUDDLE_GPL ? HUDDLE_OK : HUDDLE_INVALID);
    huddle_shrunk_free(&out);
    example_free(&x);
}

#if HUDDLE_GPL

#include <SuiteSparse_config.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* n vertices in one dimension, each joined to k random others: almost all of the factor is one
 * dense block. */
static example tangle(int32_t n, int32_t k, int64_t c) {
    example x;
    hd_rng rng = hd_rng_stream(5, (uint64_t)n);
    int64_t *count = calloc((size_t)n + 1, sizeof *count), kept = 0;
    int32_t *other = malloc((size_t)(n * k) * sizeof *other);
    for (int32_t e = 0; e < n * k; e++) {
        do
            other[e] = (int32_t)hd_rng_below(&rng, n);
        while (other[e] == e / k);
        count[e / k + 1]++;
        count[other[e] + 1]++;
    }
    for (int32_t v = 0; v < n; v++)
        count[v + 1] += count[v];
    assert_ok(huddle_csr_new(n, n, count[n], &x.w));
    assert_ok(huddle_dense_new(n, c, &x.f));
    /* Rows of `other` ascend, so every row of w is filled in ascending order by two passes over
     * it; a pair drawn twice is one edge. */
    int32_t *columns = malloc((size_t)count[n] * sizeof *columns);
    int64_t *at = malloc((size_t)n * sizeof *at);
    memcpy(at, count, (size_t)n * sizeof *at);
    for (int32_t e = 0; e < n * k; e++) {
        columns[at[e / k]++] = other[e];
        columns[at[other[e]]++] = e / k;
    }
    x.w.offsets[0] = 0;
    for (int32_t v = 0; v < n; v++) {
        for (int64_t a = count[v] + 1; a < count[v + 1]; a++)
            for (int64_t b = a; b > count[v] && columns[b] < columns[b - 1]; b--) {
                int32_t swap = columns[b];
                columns[b] = columns[b - 1];
                columns[b - 1] = swap;
            }
        for (int64_t a = count[v]; a < count[v + 1]; a++)
            if (a == count[v] || columns[a] != columns[a - 1]) {
                x.w.columns[kept] = columns[a];
                x.w.values[kept++] = 1;
            }
        x.w.offsets[v + 1] = kept;
        for (int64_t q = 0; q < c; q++)
            x.f.values[v * c + q] = hd_rng_normal(&rng);
    }
    free(at);
    free(columns);
    free(other);
    free(count);
    return x;
}

/* With gamma times the degree near 2 neither is F optimal nor is all of it one point. */
static huddle_shrink_options by(const char *linear_solver, double gamma) {
    huddle_shrink_options o = huddle_shrink_defaults();
    o.gamma = gamma;
    o.linear_solver = linear_solver;
    o.shrink_max_iter = 1;
    return o;
}

/* ---- size ---------------------------------------------------------------------------------- */

/* The supernodal factor of this matrix has more than 2^31 entries. */
static void a_factor_too_large_to_index_is_left_to_the_approximate_solver(void **state) {
    (void)state;
    example x = tangle(70000, 10, 1);
    huddle_shrink_options o = by("auto", .1);
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
    assert_string_equal(info.linear_solver, "approximate");
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

static void small_factors_are_direct(void **state) {
    (void)state;
    example x = clouds(200, 2, 3, 4, false, 1);
    huddle_shrink_options o = by("auto", .5);
    huddle_shrunk out;
    huddle_shrink_info info;
    assert_ok(huddle_shrink(NULL, &x.f, &x.w, &o, &out, &info));
    assert_string_equal(info.linear_solver, "cholmod");
    huddle_shrunk_free(&out);
    huddle_shrink_info_free(&info);
    example_free(&x);
}

/* ---- memory -------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED /* a sanitizer needs more address space than any limit leaves */
static int shrink_within(const example *x, const char *linear_solver, rlim_t bytes,
                         const char *sentence) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {bytes, bytes};
        huddle_shrink_options o = by(linear_solver, .12);
        huddle_shrunk out;
        setrlimit(RLIMIT_AS, &limit);
        huddle_status status = huddle_shrink(NULL, &x->f, &x->w, &o, &out, NULL);
        if (sentence != NULL && strstr(huddle_last_error(), sentence) == NULL) {
            print_error("%s\n", huddle_last_error());
            _exit(100);
        }
        _exit((int)status);
    }
    int result = -1;
    assert_true(child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result));
    return WEXITSTATUS(result);
}

/* Its factor takes 3 GB. Forced, it is refused before anything of that size is allocated. */
static void a_forced_factor_beyond_the_memory_is_refused_with_its_size(void **state) {
    (void)state;
    example x = tangle(30000, 8, 1);
    assert_int_equal(shrink_within(&x, "cholmod", 1500000000, "GB of memory; use approximate"),
                     HUDDLE_NO_MEMORY);
    assert_int_equal(shrink_within(&x, "auto", 1500000000, NULL), HUDDLE_OK);
    assert_int_equal(shrink_within(&x, "auto", 1, "BLAS needs"), HUDDLE_NO_MEMORY);
    example_free(&x);
}
#endif

#if SUITESPARSE_MAIN_VERSION < 6 /* later ones hide the structure behind functions */
static int64_t requests, failing;

static bool fails(void) {
    return ++requests == failing;
}

static void *counted_malloc(size_t size) {
    return fails() ? NULL : malloc(size);
}

static void *counted_calloc(size_t count, size_t size) {
    return fails() ? NULL : calloc(count, size);
}

static void *counted_realloc(void *pointer, size_t size) {
    return fails() ? NULL : realloc(pointer, size);
}

/* Every request of CHOLMOD's own fails in turn, for a factor by columns and one by supernodes. */
static void a_failed_allocation_of_cholmod_is_no_memory(void **state) {
    (void)state;
    static const char *const names[] = {"auto", "cholmod"};
    SuiteSparse_config.malloc_func = counted_malloc;
    SuiteSparse_config.calloc_func = counted_calloc;
    SuiteSparse_config.realloc_func = counted_realloc;
    for (int dense = 0; dense < 2; dense++)
        for (int k = 0; k < 2; k++) {
            example x = dense ? tangle(400, 6, 2) : clouds(60, 2, 3, 3, false, 1);
            huddle_shrink_options o = by(names[k], dense ? .15 : .5);
            int64_t refusals = 0;
            requests = INT64_MAX;
            for (failing = 1; requests >= failing - 1; failing++) {
                huddle_shrunk out;
                requests = 0;
                huddle_status status = huddle_shrink(NULL, &x.f, &x.w, &o, &out, NULL);
                if (status == HUDDLE_OK) { /* CHOLMOD does without some of what it asks for */
                    huddle_shrunk_free(&out);
                    continue;
                }
                assert_int_equal(status, HUDDLE_NO_MEMORY);
                assert_non_null(strstr(huddle_last_error(), "no memory"));
                refusals++;
            }
            assert_true(refusals > 20);
            example_free(&x);
        }
    SuiteSparse_config.malloc_func = malloc;
    SuiteSparse_config.calloc_func = calloc;
    SuiteSparse_config.realloc_func = realloc;
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_solvers_of_this_build_are_offered),
        cmocka_unit_test(a_factor_too_large_to_index_is_left_to_the_approximate_solver),
        cmocka_unit_test(small_factors_are_direct),
#ifndef SANITIZED
        cmocka_unit_test(a_forced_factor_beyond_the_memory_is_refused_with_its_size),
#endif
#if SUITESPARSE_MAIN_VERSION < 6
        cmocka_unit_test(a_failed_allocation_of_cholmod_is_no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_solvers_of_this_build_are_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
