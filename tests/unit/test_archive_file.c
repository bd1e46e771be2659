/* Files as bytes in memory, and output files: sizes around pages and buffers, pipes, patches. */
#define _XOPEN_SOURCE 700
#include "archive/file.h"
#include "archive/output.h"
#include "support/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The size of the buffer of an output (output.c). */
enum { BUFFER = 1 << 18 };

static const char *path_of(const char *name) {
    static char path[2][512];
    static int which;
    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", test_directory(), name);
    return path[which];
}

/* Byte k of a file: no two parts of it are alike. */
static char byte_at(int64_t k) {
    return (char)((uint64_t)k * 2654435761u >> 16 & 127);
}

static char *make_bytes(int64_t size) {
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    for (int64_t k = 0; k < size; k++)
        bytes[k] = byte_at(k);
    return bytes;
}

static void write_bytes(const char *path, int64_t size) {
    char *bytes = make_bytes(size);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
    free(bytes);
}

static void check_bytes(const hd_file *file, int64_t size) {
    assert_int_equal(file->size, size);
    for (int64_t k = 0; k < size; k++)
        if (file->text[k] != byte_at(k))
            fail_msg("byte %lld of %lld", (long long)k, (long long)size);
}

/* Readers may read HD_FILE_PADDING bytes beyond the end, which are zero: also where the file ends
 * with a page or shortly before one. */
static void files_have_a_padding(void **state) {
    (void)state;
    int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t sizes[] = {1, page - 1, page, page + 1, 3 * page - HD_FILE_PADDING / 2, 4 * page};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const char *path = path_of("padded");
        hd_file file;
        write_bytes(path, sizes[k]);
        assert_ok(hd_file_open(path, &file));
        check_bytes(&file, sizes[k]);
        for (int64_t i = 0; i < HD_FILE_PADDING; i++)
            assert_int_equal(file.text[sizes[k] + i], 0);
        hd_file_close(&file);
    }
}

/* Several megabytes, in the pieces that a pipe has room for. */
static void pipes_are_read_to_their_end(void **state) {
    (void)state;
    const int64_t size = 3 * (1 << 20) + 77;
    const char *path = path_of("fifo");
    hd_file file;
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        char *bytes = make_bytes(size);
        int to = open(path, O_WRONLY);
        for (int64_t done = 0, put; done < size; done += put)
            if ((put = write(to, bytes + done, (size_t)(size - done))) < 0)
                _exit(1);
        _exit(0);
    }
    assert_true(child > 0);
    assert_ok(hd_file_open(path, &file));
    check_bytes(&file, size);
    assert_int_equal(file.descriptor, -1);
    hd_file_close(&file);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A second mapping of a file that has grown shows the old part; one of a shorter file would end the
 * program when it is read. */
static void files_that_shrink_are_not_mapped_again(void **state) {
    (void)state;
    const char *path = path_of("shrinking");
    hd_file file, again;
    write_bytes(path, 10000);
    assert_ok(hd_file_open(path, &file));
    assert_int_equal(truncate(path, 10001), 0);
    assert_ok(hd_file_map_again(&file, &again));
    check_bytes(&again, 10000);
    hd_file_close(&again);
    assert_int_equal(truncate(path, 9999), 0);
    assert_refused(hd_file_map_again(&file, &again), HUDDLE_IO, "became shorter");
    hd_file_close(&file);
}

/* Writes of all sizes, with the buffer empty, partly full and full before each. */
static void outputs_are_written_in_order(void **state) {
    (void)state;
    static const int64_t sizes[] = {1,      BUFFER - 1, 2,          BUFFER,     BUFFER + 1, 7,
                                    BUFFER, 100,        BUFFER / 2, BUFFER / 2, 0,          3};
    int64_t total = 0, at = 0;
    const char *path = path_of("output");
    hd_output output;
    hd_file file;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        total += sizes[k];
    char *bytes = make_bytes(total);
    assert_ok(hd_output_begin(path, false, &output));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; at += sizes[k], k++)
        assert_ok(hd_output_write(&output, bytes + at, sizes[k]));
    assert_ok(hd_output_end(&output, HUDDLE_OK));
    assert_ok(hd_file_open(path, &file));
    check_bytes(&file, total);
    hd_file_close(&file);
    free(bytes);
}

/* A patch changes bytes that were written, in the buffer or not, and not where the next ones go. */
static void patches_leave_the_rest(void **state) {
    (void)state;
    const char *path = path_of("patched");
    hd_output output;
    hd_file file;
    assert_ok(hd_output_begin(path, true, &output));
    assert_ok(hd_output_write(&output, "0123456789", 10));
    assert_ok(hd_output_patch(&output, 3, "abc", 3));
    assert_ok(hd_output_write(&output, "XYZ", 3));
    assert_ok(hd_output_patch(&output, 0, "A", 1));
    assert_ok(hd_output_end(&output, HUDDLE_OK));
    assert_ok(hd_file_open(path, &file));
    assert_int_equal(file.size, 13);
    assert_memory_equal(file.text, "A12abc6789XYZ", 13);
    hd_file_close(&file);
}

/* An existing file keeps its mode, and a failure keeps the file. */
static void old_files_keep_their_mode(void **state) {
    (void)state;
    const char *path = path_of("mode");
    hd_output output;
    struct stat about;
    write_bytes(path, 5);
    assert_int_equal(chmod(path, 0654), 0);
    assert_ok(hd_output_begin(path, false, &output));
    assert_ok(hd_output_write(&output, "new", 3));
    assert_int_equal(hd_output_end(&output, HUDDLE_CANCELLED), HUDDLE_CANCELLED);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 5);
    assert_ok(hd_output_begin(path, false, &output));
    assert_ok(hd_output_write(&output, "new", 3));
    assert_ok(hd_output_end(&output, HUDDLE_OK));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 3);
    assert_int_equal(about.st_mode & 07777, 0654);
}

/* Another process joins the output that is begun, and no other file. */
static void outputs_are_joined_by_their_size(void **state) {
    (void)state;
    const char *path = path_of("joined");
    hd_output output, other;
    hd_file file;
    assert_ok(hd_output_begin(path, true, &output));
    assert_ok(hd_output_extend(&output, 8));
    assert_false(hd_output_join(path, output.temporary, 7, &other));
    assert_false(hd_output_join(path, path_of("absent"), 8, &other));
    assert_true(hd_output_join(path, output.temporary, 8, &other));
    assert_ok(hd_output_patch(&other, 4, "5678", 4));
    assert_ok(hd_output_leave(&other, HUDDLE_OK));
    assert_ok(hd_output_patch(&output, 0, "1234", 4));
    assert_ok(hd_output_end(&output, HUDDLE_OK));
    assert_ok(hd_file_open(path, &file));
    assert_int_equal(file.size, 8);
    assert_memory_equal(file.text, "12345678", 8);
    hd_file_close(&file);
}

/* What a handler of a fatal signal does: no temporary file of any output stays behind. */
static void outputs_in_progress_are_abandoned(void **state) {
    (void)state;
    hd_output outputs[3];
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "abandoned%d", k);
        assert_ok(hd_output_begin(path_of(name), false, &outputs[k]));
        assert_int_equal(access(outputs[k].temporary, F_OK), 0);
    }
    assert_int_equal(hd_output_end(&outputs[0], HUDDLE_CANCELLED), HUDDLE_CANCELLED);
    huddle_file_abandon_all();
    for (int k = 1; k < 3; k++) {
        assert_int_not_equal(access(outputs[k].temporary, F_OK), 0);
        assert_int_equal(hd_output_end(&outputs[k], HUDDLE_CANCELLED), HUDDLE_CANCELLED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_have_a_padding),
                                       cmocka_unit_test(pipes_are_read_to_their_end),
                                       cmocka_unit_test(files_that_shrink_are_not_mapped_again),
                                       cmocka_unit_test(outputs_are_written_in_order),
                                       cmocka_unit_test(patches_leave_the_rest),
                                       cmocka_unit_test(old_files_keep_their_mode),
                                       cmocka_unit_test(outputs_are_joined_by_their_size),
                                       cmocka_unit_test(outputs_in_progress_are_abandoned)};
    return cmocka_run_group_tests_name("archive_file", tests, NULL, NULL);
}
