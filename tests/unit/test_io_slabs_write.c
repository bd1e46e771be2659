/* io: writing rows that are distributed over processes: the file is that of one process, byte for
 * byte, or there is none. */
#define _DEFAULT_SOURCE
#include "base/memory.h"
#include "base/slabs.h"
#include "unit/io_slabs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 23, COLS = 3 };

static const char *const texts[] = {"ape", "with, comma", "cat"};

/* What the members write: rows begins[r] .. begins[r + 1] - 1. */
typedef struct writing {
    const char *path;
    int64_t begins[TEAM_MAX + 1];
    int32_t *labels;
    const char *const *texts;
    huddle_dense matrix; /* rows == 0: the labels are written */
    int64_t failing;     /* request for memory, or 0 */
    int narrow;          /* the member whose matrix has one column less, or -1 */
} writing;

static huddle_status write_slab(huddle_context *context, int rank, void *argument) {
    writing *w = argument;
    huddle_status status = HUDDLE_OK;
    int64_t begin = w->begins[rank], n = w->begins[rank + 1] - begin;
    huddle_dense own = w->matrix;
    TRY(hd_agree(context, status));
    if (rank == 0)
        (void)hd_memory_fail_at(w->failing);
    TRY(hd_agree(context, status));
    if (own.rows == 0)
        return huddle_labels_write_slabs(context, w->path, n, w->labels + begin, w->texts);
    own.rows = n;
    own.cols -= rank == w->narrow;
    own.values += begin * own.stride;
    TRY(huddle_dense_write_npy_slabs(context, w->path, &own));
done:
    return status;
}

static void assert_same_file(const char *actual, const char *expected) {
    size_t size, expected_size;
    char *bytes = io_read_bytes(actual, &size);
    char *expected_bytes = io_read_bytes(expected, &expected_size);
    assert_int_equal(size, expected_size);
    assert_memory_equal(bytes, expected_bytes, size);
    free(bytes);
    free(expected_bytes);
}

/* Files in the test's folder whose names begin so: the file, or temporary ones. */
static int count_files(const char *beginning) {
    int count = 0;
    DIR *folder = opendir(test_directory());
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += strncmp(entry->d_name, beginning, strlen(beginning)) == 0;
    closedir(folder);
    return count;
}

/* Even slabs, or all rows on the last member. */
static void divide(writing *w, int64_t n, int size, bool last) {
    for (int r = 0; r <= size; r++)
        w->begins[r] = last && r < size ? 0 : n * r / size;
}

static void labels_are_those_of_one_process(void **state) {
    (void)state;
    static const char *const names[] = {"a.npy", "a.csv", "a.txt"};
    int32_t labels[N];
    for (int i = 0; i < N; i++)
        labels[i] = i * i % 3;
    for (int k = 0; k < 12; k++) {
        const char *expected = io_path(k % 3 == 0 ? "one.npy" : k % 3 == 1 ? "one.csv" : "one.txt");
        writing w = {.path = io_path(names[k % 3]), .labels = labels};
        w.texts = k < 6 ? texts : NULL;
        assert_ok(huddle_labels_write(expected, N, labels, w.texts));
        for (int size = 1; size <= TEAM_MAX; size++) {
            (void)unlink(w.path);
            divide(&w, N, size, k % 2 == 0);
            assert_ok(team_run(size, &team_engine, write_slab, &w));
            assert_same_file(w.path, expected);
            assert_int_equal(count_files("a."), 1);
        }
        (void)unlink(w.path);
    }
}

/* More than one piece of labels for each process. */
static void many_labels_are_sent_in_pieces(void **state) {
    (void)state;
    enum { MANY = 2500000 };
    int32_t *labels = malloc(MANY * sizeof *labels), *back = NULL, n_classes;
    int64_t n;
    char **classes;
    for (int i = 0; i < MANY; i++)
        labels[i] = i % 7 + i / (MANY / 3);
    writing w = {.path = io_path("many.txt"), .labels = labels};
    divide(&w, MANY, 2, false);
    w.begins[1] = 100; /* the second has nearly all */
    assert_ok(team_run(2, &team_engine, write_slab, &w));
    assert_ok(huddle_labels_read(NULL, w.path, &n, &back, &n_classes, &classes));
    assert_int_equal(n, MANY);
    assert_memory_equal(back, labels, MANY * sizeof *labels);
    for (int32_t k = 0; k < n_classes; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
    huddle_free(back);
    free(labels);
}

/* A matrix of N rows, which may have a stride. */
static void make_matrix(int64_t stride, huddle_dense *matrix) {
    assert_ok(huddle_dense_new(N, stride, matrix));
    matrix->cols = COLS;
    for (int64_t k = 0; k < N * stride; k++)
        matrix->values[k] = (double)(k * k) / 7;
}

static void matrices_are_those_of_one_process(void **state) {
    (void)state;
    for (int64_t stride = COLS; stride <= COLS + 2; stride += 2) {
        writing w = {.path = io_path("m.npy"), .narrow = -1};
        make_matrix(stride, &w.matrix);
        assert_ok(huddle_dense_write_npy(io_path("one.npy"), &w.matrix));
        for (int k = 0; k < 2 * TEAM_MAX; k++) {
            int size = k / 2 + 1;
            divide(&w, N, size, k % 2 == 0);
            assert_ok(team_run(size, &team_engine, write_slab, &w));
            assert_same_file(w.path, io_path("one.npy"));
        }
        huddle_dense_free(&w.matrix);
    }
}

/* A pipe cannot be written at several places: the rows pass through process 0. */
static void pipes_are_written_by_process_0(void **state) {
    (void)state;
    char bytes[8192];
    size_t size;
    writing w = {.path = io_path("pipe.npy"), .narrow = -1};
    make_matrix(COLS, &w.matrix);
    assert_ok(huddle_dense_write_npy(io_path("one.npy"), &w.matrix));
    char *expected = io_read_bytes(io_path("one.npy"), &size);
    assert_int_equal(mkfifo(w.path, 0600), 0);
    int pipe = open(w.path, O_RDWR);
    divide(&w, N, 3, false);
    assert_ok(team_run(3, &team_engine, write_slab, &w));
    assert_int_equal(read(pipe, bytes, sizeof bytes), size);
    assert_memory_equal(bytes, expected, size);
    close(pipe);
    free(expected);
    huddle_dense_free(&w.matrix);
}

static void a_failure_leaves_the_old_file(void **state) {
    (void)state;
    static const char *const names[] = {"old.npy", "old.csv"};
    int32_t labels[N] = {0};
    for (int k = 0; k < 2; k++) {
        const char *path = io_write_text(names[k], "old");
        bool failed = true;
        for (int64_t at = 1; failed; at++) {
            writing w = {.path = path, .labels = labels, .failing = at};
            divide(&w, N, 3, false);
            huddle_status status = team_run(3, &team_engine, write_slab, &w);
            failed = hd_memory_fail_at(0) >= at;
            assert_int_equal(status, failed ? HUDDLE_NO_MEMORY : HUDDLE_OK);
            assert_int_equal(count_files(names[k]), 1);
            struct stat about;
            assert_int_equal(stat(path, &about), 0);
            assert_int_equal(about.st_size == 3, failed);
        }
    }
}

static void refusals_are_those_of_all(void **state) {
    (void)state;
    writing w = {.path = io_path("narrow.npy"), .narrow = 1};
    make_matrix(COLS, &w.matrix);
    divide(&w, N, 3, false);
    assert_refused(team_run(3, &team_engine, write_slab, &w), HUDDLE_INVALID,
                   "narrow.npy: cannot be written: the processes have rows of 2 and 3 values");
    w.path = io_path("no/such/folder.npy");
    w.narrow = -1;
    assert_refused(team_run(3, &team_engine, write_slab, &w), HUDDLE_IO,
                   "no/such/folder.npy: cannot be written: No such file");
    assert_int_equal(count_files("narrow"), 0);
    huddle_dense_free(&w.matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_one_process),
        cmocka_unit_test(many_labels_are_sent_in_pieces),
        cmocka_unit_test(matrices_are_those_of_one_process),
        cmocka_unit_test(pipes_are_written_by_process_0),
        cmocka_unit_test(a_failure_leaves_the_old_file),
        cmocka_unit_test(refusals_are_those_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
