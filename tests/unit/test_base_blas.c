/* base: BLAS where the address space of the process is limited. */
#define _DEFAULT_SOURCE
#include "base/blas.h"
#include "support/support.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_LIMITS = 0 }; /* sanitizers map terabytes */
#else
enum { HAS_LIMITS = 1 };
#endif

/* Another BLAS than OpenBLAS does not wait. */
extern void *blas_memory_alloc(int unused) __attribute__((weak));

/* Allows that many bytes more than the process has mapped. */
static bool limit_space(rlim_t more) {
    struct rlimit limit;
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool known = file != NULL && fscanf(file, "%lld", &pages) == 1;
    if (file != NULL)
        fclose(file);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    return known && setrlimit(RLIMIT_AS, &limit) == 0;
}

/* In a process of its own, whose limits and buffers end with it. 0 is success. */
static int reserve_with_limits(void) {
    huddle_context *context = NULL;
    alarm(60); /* OpenBLAS would wait forever */
    if (huddle_context_new(&context) != HUDDLE_OK ||
        huddle_context_set_threads(context, 2) != HUDDLE_OK)
        return 1;
    if (hd_blas_reserve(context) != HUDDLE_OK) /* without a limit */
        return 2;
    if (!limit_space((rlim_t)40 << 20) || hd_blas_reserve(context) != HUDDLE_NO_MEMORY ||
        strstr(huddle_last_error(), "BLAS needs 128 MB of address space for each of 2 threads") ==
            NULL)
        return 3;
    if (!limit_space((rlim_t)400 << 20) || hd_blas_reserve(context) != HUDDLE_OK)
        return 4;
    /* The buffer exists: it is used although there is no room for another. */
    if (!limit_space((rlim_t)20 << 20) || hd_blas_reserve(context) != HUDDLE_OK)
        return 5;
    double a[4] = {1, 2, 3, 4}, gram[4] = {0};
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, 2, 2, 1, a, 2, 0, gram, 2);
    huddle_context_free(context);
    return gram[0] == 10 ? 0 : 6;
}

static void limits_are_noticed(void **state) {
    (void)state;
    int ended = 0;
    if (!HAS_LIMITS || blas_memory_alloc == NULL)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(reserve_with_limits());
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
