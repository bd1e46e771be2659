/* archive: output files and their temporary files. */
#define _XOPEN_SOURCE 700
#include "archive/output.h"
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

/* A new empty folder for one test. */
static void enter_folder(const char *name) {
    snprintf(folder, sizeof folder, "%s/%s", test_directory(), name);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
}

static int entries(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static int mode_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (int)(about.st_mode & 07777);
}

static void assert_content(const char *path, const char *expected) {
    char text[64] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
}

static void assert_link(const char *path) {
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

/* ---- links ---------------------------------------------------------------------------------- */

static void links_are_kept_and_followed(void **state) {
    (void)state;
    enter_folder("links");
    assert_int_equal(mkdir("below", 0777), 0);
    /* to a file that does not exist yet, through two links in different folders */
    assert_int_equal(symlink("below/second", "first"), 0);
    assert_int_equal(symlink("../target", "below/second"), 0);
    assert_ok(huddle_file_write("first", "new", 3));
    assert_link("first");
    assert_link("below/second");
    assert_content("target", "new");
    assert_int_equal(entries("."), 3);
    /* and now to one that exists */
    assert_ok(huddle_file_write("first", "other", 5));
    assert_link("first");
    assert_content("target", "other");
    /* an absolute path */
    char far[300];
    snprintf(far, sizeof far, "%s/far", folder);
    assert_int_equal(symlink(far, "below/absolute"), 0);
    assert_ok(huddle_file_write("below/absolute", "far", 3));
    assert_link("below/absolute");
    assert_content("far", "far");
}

static void links_to_nowhere_are_refused(void **state) {
    (void)state;
    enter_folder("nowhere");
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_refused(huddle_file_write("a", "x", 1), HUDDLE_IO,
                   "a: cannot be written: Too many levels");
    assert_link("a");
    assert_int_equal(symlink("missing/file", "c"), 0);
    assert_refused(huddle_file_write("c", "x", 1), HUDDLE_IO, "c: cannot be written: No such file");
    assert_link("c");
    assert_int_equal(entries("."), 3);
}

/* The same file by other spellings, before it exists. */
static void targets_have_one_name(void **state) {
    (void)state;
    enter_folder("targets");
    char *first = NULL, *second = NULL;
    assert_int_equal(symlink(".", "here"), 0);
    assert_int_equal(symlink("file", "link"), 0);
    assert_ok(huddle_file_target("./file", &first));
    assert_ok(huddle_file_target("here/link", &second));
    assert_string_equal(first, second);
    assert_int_equal(first[0], '/');
    huddle_free(first);
    huddle_free(second);
    assert_ok(huddle_file_target("/file", &first));
    assert_string_equal(first, "/file");
    huddle_free(first);
}

static void one_file_has_many_names(void **state) {
    (void)state;
    enter_folder("same");
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_true(huddle_file_same("file", "./link")); /* before it exists */
    assert_false(huddle_file_same("file", "other"));
    assert_false(huddle_file_same("a", "b"));
    assert_ok(huddle_file_write("file", "x", 1));
    assert_int_equal(link("file", "hard"), 0);
    assert_true(huddle_file_same("link", "../same/hard"));
    assert_false(huddle_file_same("file", "other"));
    assert_ok(huddle_file_write("other", "x", 1));
    assert_false(huddle_file_same("file", "other"));
    assert_false(huddle_file_same("/dev/null", "/dev/null"));
}

/* ---- modes ---------------------------------------------------------------------------------- */

static void check_modes(int old, int during) {
    hd_output output;
    assert_ok(huddle_file_write("file", "old", 3));
    assert_int_equal(chmod("file", (mode_t)old), 0);
    assert_ok(hd_output_begin("file", false, &output));
    assert_int_equal(mode_of(output.temporary), during);
    assert_ok(hd_output_write(&output, "new", 3));
    assert_ok(hd_output_end(&output, HUDDLE_OK));
    assert_int_equal(mode_of("file"), old);
    assert_int_equal(unlink("file"), 0);
}

static void temporary_files_are_private(void **state) {
    (void)state;
    enter_folder("modes");
    mode_t before = umask(022);
    check_modes(0600, 0600);
    check_modes(0640, 0600);
    check_modes(0444, 0600); /* else a library could not open it to write */
    assert_ok(huddle_file_write("new", "new", 3));
    assert_int_equal(mode_of("new"), 0644);
    umask(077);
    assert_ok(huddle_file_write("private", "new", 3));
    assert_int_equal(mode_of("private"), 0600);
    umask(before);
}

/* ---- killed processes ----------------------------------------------------------------------- */

/* A process that has begun to write the file; it completes it when it reads from the pipe. */
static pid_t start_writer(const char *path, int go[2]) {
    int begun[2];
    char byte = 0;
    assert_int_equal(pipe(begun), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hd_output output;
        close(go[1]);
        bool fine = hd_output_begin(path, false, &output) == HUDDLE_OK &&
                    hd_output_write(&output, "late", 4) == HUDDLE_OK;
        fine = write(begun[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1 && fine;
        _exit(hd_output_end(&output, HUDDLE_OK) == HUDDLE_OK && fine ? 0 : 1);
    }
    assert_int_equal(read(begun[0], &byte, 1), 1);
    close(begun[0]);
    close(begun[1]);
    close(go[0]);
    return child;
}

static void killed_writers_leave_nothing(void **state) {
    (void)state;
    int go[3][2], ended;
    enter_folder("killed");
    pid_t first = start_writer("file", go[0]), second = start_writer("file", go[1]),
          living = start_writer("file", go[2]);
    assert_int_equal(entries("."), 3);
    kill(first, SIGKILL);
    kill(second, SIGKILL);
    assert_int_equal(waitpid(first, &ended, 0), first);
    assert_int_equal(waitpid(second, &ended, 0), second);
    assert_int_equal(entries("."), 3);
    /* Another file of a similar name is not a temporary one. */
    assert_ok(huddle_file_write("file.huddle-tmp-x", "mine", 4));
    assert_ok(huddle_file_write("file", "now", 3));
    assert_content("file", "now");
    assert_int_equal(entries("."), 3);
    /* The file of the process that lives is still there. */
    assert_int_equal(write(go[2][1], "", 1), 1);
    assert_int_equal(waitpid(living, &ended, 0), living);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    assert_content("file", "late");
    assert_int_equal(entries("."), 2);
    for (int k = 0; k < 3; k++)
        close(go[k][1]);
}

/* Two outputs of one name at the same time: the one that ends last remains. */
static void outputs_of_one_name_do_not_meet(void **state) {
    (void)state;
    hd_output first, second;
    enter_folder("meet");
    assert_ok(hd_output_begin("file", false, &first));
    assert_ok(hd_output_begin("file", false, &second));
    assert_ok(hd_output_write(&first, "first", 5));
    assert_ok(hd_output_write(&second, "second", 6));
    assert_ok(hd_output_end(&second, HUDDLE_OK));
    assert_content("file", "second");
    assert_ok(hd_output_end(&first, HUDDLE_OK));
    assert_content("file", "first");
    assert_int_equal(entries("."), 1);
}

/* What else has the name of a temporary file is left alone. */
static void strange_temporary_names_are_passed_over(void **state) {
    (void)state;
    enter_folder("strange");
    assert_int_equal(mkfifo("file.huddle-tmp-0", 0600), 0);
    assert_int_equal(symlink("elsewhere", "file.huddle-tmp-1"), 0);
    assert_int_equal(mkdir("file.huddle-tmp-2", 0700), 0);
    assert_ok(huddle_file_write("file", "new", 3));
    assert_content("file", "new");
    assert_int_equal(entries("."), 4);
    assert_int_equal(access("elsewhere", F_OK), -1);
}

static void long_names_are_written(void **state) {
    (void)state;
    char name[256];
    enter_folder("long");
    memset(name, 'x', 255);
    name[255] = '\0';
    assert_ok(huddle_file_write(name, "new", 3));
    assert_content(name, "new");
    assert_int_equal(entries("."), 1);
}

static huddle_status write_through_link(void *argument) {
    return huddle_file_write(argument, "x", 1);
}

static void no_memory(void **state) {
    (void)state;
    char link[] = "link";
    enter_folder("memory");
    assert_int_equal(symlink("target", link), 0);
    test_each_allocation(write_through_link, link);
    assert_int_equal(entries("."), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_kept_and_followed),
        cmocka_unit_test(links_to_nowhere_are_refused),
        cmocka_unit_test(targets_have_one_name),
        cmocka_unit_test(one_file_has_many_names),
        cmocka_unit_test(temporary_files_are_private),
        cmocka_unit_test(killed_writers_leave_nothing),
        cmocka_unit_test(outputs_of_one_name_do_not_meet),
        cmocka_unit_test(strange_temporary_names_are_passed_over),
        cmocka_unit_test(long_names_are_written),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
