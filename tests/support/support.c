#define _XOPEN_SOURCE 700
#include "support/support.h"

#include "base/memory.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_close(double actual, double expected, double tolerance, const char *text,
                const char *file, int line) {
    if (fabs(actual - expected) <= tolerance * fmax(1, fabs(expected)))
        return;
    print_error("%s = %.17g, expected %.17g within %g\n", text, actual, expected, tolerance);
    _fail(file, line);
}

void test_ok(huddle_status status, const char *text, const char *file, int line) {
    if (status == HUDDLE_OK)
        return;
    print_error("%s: %s: %s\n", text, huddle_status_name(status), huddle_last_error());
    _fail(file, line);
}

void test_refused(huddle_status actual, huddle_status expected, const char *part, const char *text,
                  const char *file, int line) {
    if (actual == expected && strstr(huddle_last_error(), part) != NULL)
        return;
    print_error("%s: got '%s' (%s), expected '%s' (%s)\n", text, huddle_last_error(),
                huddle_status_name(actual), part, huddle_status_name(expected));
    _fail(file, line);
}

double *test_golden(const char *name, int64_t *count) {
    char path[1024], word[128];
    snprintf(path, sizeof path, "%s/%s", HUDDLE_GOLDEN, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    int64_t capacity = 1024;
    double *numbers = malloc((size_t)capacity * sizeof *numbers);
    *count = 0;
    while (fscanf(file, "%127s", word) == 1) {
        if (word[0] == '#') {
            for (int c = fgetc(file); c != '\n' && c != EOF;)
                c = fgetc(file);
            continue;
        }
        if (*count == capacity) {
            capacity *= 2;
            numbers = realloc(numbers, (size_t)capacity * sizeof *numbers);
        }
        numbers[(*count)++] = strtod(word, NULL);
    }
    fclose(file);
    return numbers;
}

void test_each_allocation(huddle_status (*work)(void *argument), void *argument) {
    enum { MOST = 100000 };
    /* One request in twenty for the thread sanitizer: these tests have one thread, or few. */
#ifdef __SANITIZE_THREAD__
    const int64_t step = 20;
#else
    const int64_t step = 1;
#endif
    for (int64_t k = 1; k < MOST; k += step) {
        hd_memory_fail_at(k);
        huddle_status status = work(argument);
        int64_t requests = hd_memory_fail_at(0);
        if (requests < k) {
            test_ok(status, "the run without a failing allocation", __FILE__, __LINE__);
            return;
        }
        if (status != HUDDLE_NO_MEMORY)
            fail_msg("allocation %lld failed, and the call returned '%s' (%s)", (long long)k,
                     huddle_status_name(status), huddle_last_error());
    }
    fail_msg("still allocating after %d requests", MOST);
}

static char directory[64];

static int remove_entry(const char *path, const struct stat *information, int type,
                        struct FTW *walk) {
    (void)information, (void)type, (void)walk;
    return remove(path);
}

static void remove_directory(void) {
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_directory(void) {
    if (directory[0] == '\0') {
        strcpy(directory, "/tmp/huddle-test-XXXXXX");
        if (mkdtemp(directory) == NULL)
            fail_msg("cannot make a temporary directory");
        atexit(remove_directory);
    }
    return directory;
}

const char *test_path_of(const char *name) {
    static char path[4][512];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", test_directory(), name);
    return p;
}

char *test_read_file(const char *path, int64_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *bytes = calloc((size_t)*size + 1, 1);
    assert_int_equal(fread(bytes, 1, (size_t)*size, file), *size);
    fclose(file);
    return bytes;
}
