/* What the tests share: cmocka's includes, comparisons with tolerance, golden files, and the
 * exercise that fails each allocation in turn. */
#ifndef HUDDLE_TESTS_SUPPORT_H
#define HUDDLE_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "huddle/base.h"
#include "huddle/matrix.h"

/* Fails unless |actual - expected| <= tolerance * max(1, |expected|). */
#define assert_close(actual, expected, tolerance)                                                  \
    test_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
void test_close(double actual, double expected, double tolerance, const char *text,
                const char *file, int line);

/* Fails, showing the library's sentence, unless the call returns HUDDLE_OK. */
#define assert_ok(call) test_ok((call), #call, __FILE__, __LINE__)
void test_ok(huddle_status status, const char *text, const char *file, int line);

/* Fails unless the call returns that status and the sentence contains `part`. */
#define assert_refused(call, status, part)                                                         \
    test_refused((call), (status), (part), #call, __FILE__, __LINE__)
void test_refused(huddle_status actual, huddle_status expected, const char *part, const char *text,
                  const char *file, int line);

/* Numbers of a golden file: whitespace-separated, # begins a comment. The caller frees with
 * free(). */
double *test_golden(const char *name, int64_t *count);

/* Runs work(argument) over and over, failing its first, second, ... allocation, until it
 * succeeds. Each failing run must return HUDDLE_NO_MEMORY; leaks are the sanitizer's to find. */
void test_each_allocation(huddle_status (*work)(void *argument), void *argument);

/* Begins a test that compares sizes in memory: a sanitizer has an allocator of its own, which keeps
 * several times as much. */
#define skip_unless_memory_is_measured()                                                           \
    do {                                                                                           \
        if (HUDDLE_SANITIZED)                                                                      \
            skip();                                                                                \
    } while (0)

/* A directory of its own for this test program, made on first use and removed at exit. */
const char *test_directory(void);

/* A path in it; valid until four more have been asked for. */
const char *test_path_of(const char *name);

/* The bytes of a file, and a null byte behind them; the caller frees them with free(). */
char *test_read_file(const char *path, int64_t *size);

#endif
