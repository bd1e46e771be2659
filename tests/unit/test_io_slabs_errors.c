/* io: failures under an engine whose processes each have some of the rows: all of them return the
 * same, and none waits forever. And how much memory a slab takes. */
#include "base/memory.h"
#include "base/slabs.h"
#include "unit/io_slabs.h"

#include <math.h>

/* The same failure with any number of members. */
static void check_failure(const char *source, const char *other, const huddle_read_options *options,
                          huddle_status status, const char *sentence) {
    for (int size = other != NULL ? 2 : 1; size <= TEAM_MAX; size++) {
        reading r = {.source = source, .other = other, .options = options, .size = size};
        assert_refused(team_run(size, &team_engine, read_slab, &r), status, sentence);
        for (int m = 0; m < size; m++)
            assert_null(r.data[m].name); /* freed */
    }
}

static void files_must_be_the_same(void **state) {
    (void)state;
    unsigned char bytes[60] = {0};
    const char *good = write_npy("good.npy", "|u1", "False", "(20, 3)", bytes, 60);
    const char *text = io_write_text("good.csv", "1,2,3\n4,5,6\n");
    check_failure(good, io_path("none.npy"), NULL, HUDDLE_IO, "none.npy: cannot be opened");
    check_failure(io_path("none.npy"), good, NULL, HUDDLE_IO, "none.npy: cannot be opened");
    check_failure(good, write_npy("short.npy", "|u1", "False", "(20, 3)", bytes, 59), NULL,
                  HUDDLE_FORMAT, "short.npy: the array needs 60 bytes, but only 59");
    check_failure(good, write_npy("more.npy", "|u1", "False", "(15, 4)", bytes, 60), NULL,
                  HUDDLE_INVALID, "npy: it is not the same file for all processes");
    check_failure(good, text, NULL, HUDDLE_INVALID, "it is not the same file for all processes");
    check_failure(good, write_npy("wide.npy", "<i4", "False", "(5, 3)", bytes, 60), NULL,
                  HUDDLE_INVALID, "it is not the same file for all processes");
}

static void broken_files_are_refused(void **state) {
    (void)state;
    unsigned char bytes[60] = {0};
    check_failure(io_path("none.csv"), NULL, NULL, HUDDLE_IO, "none.csv: cannot be opened");
    check_failure(io_write_text("bad.csv", "a,b\n1,2\n3,\n5,6\n"), NULL, NULL, HUDDLE_FORMAT,
                  "bad.csv: line 3");
    check_failure(write_npy("cut.npy", "|u1", "False", "(20, 3)", bytes, 59), NULL, NULL,
                  HUDDLE_FORMAT, "cut.npy: the array needs 60 bytes");
    check_failure(write_npy("empty.npy", "|u1", "False", "(0, 3)", bytes, 0), NULL, NULL,
                  HUDDLE_FORMAT, "empty.npy: there are no points in it");
    huddle_read_options drop = {.missing = "drop"};
    check_failure(write_npy("all.npy", "|u1", "False", "(20, 3)", bytes, 60), NULL, &drop,
                  HUDDLE_UNSUPPORTED, "missing = drop is for tables");
    huddle_read_options few = {.n = 1};
    check_failure("moons", NULL, &few, HUDDLE_INVALID, "n = 1 is outside");
}

static void bad_values_are_found_at_their_row(void **state) {
    (void)state;
    float floats[60];
    double doubles[60];
    huddle_read_options copy = {.copy = true};
    for (int row = 0; row < 20; row += 19) {
        char place[64];
        snprintf(place, sizeof place, ".npy: row %d, column 2: the value is not a number", row + 1);
        for (int k = 0; k < 60; k++)
            doubles[k] = floats[k] = k == 3 * row + 1 ? NAN : (float)k;
        write_npy("f4.npy", "<f4", "False", "(20, 3)", floats, 240);
        check_failure(io_path("f4.npy"), NULL, NULL, HUDDLE_INVALID, place);
        check_failure(io_path("f4.npy"), NULL, &copy, HUDDLE_INVALID, place);
        check_failure(write_npy("f8.npy", "<f8", "False", "(20, 3)", doubles, 480), NULL, NULL,
                      HUDDLE_INVALID, place);
    }
}

static void labels_that_do_not_fit_are_refused(void **state) {
    (void)state;
    unsigned char bytes[60] = {0};
    static const double halves[20] = {[11] = 2.5};
    const char *good = write_npy("good.npy", "|u1", "False", "(20, 3)", bytes, 60);
    const char *y[] = {write_npy("half.npy", "<f8", "False", "(20,)", halves, 160)};
    huddle_read_options options = {.y = y, .n_y = 1};
    check_failure(good, NULL, &options, HUDDLE_INVALID, "half.npy: 'array': label 12 is 2.5");
    y[0] = write_npy("few.npy", "|u1", "False", "(19,)", bytes, 19);
    check_failure(good, NULL, &options, HUDDLE_INVALID, "few.npy: there are 19 labels for 20");
    y[0] = io_write_text("few.csv", "1\n2\n3\n1\n2\n");
    check_failure(good, NULL, &options, HUDDLE_INVALID, "few.csv: there are 5 labels for 20");
    y[0] = "nothing";
    check_failure(good, NULL, &options, HUDDLE_INVALID, "no variable named 'nothing'");
    y[0] = "array"; /* the points themselves */
    check_failure(good, NULL, &options, HUDDLE_INVALID, "'array' is 20 x 3, not one label");
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The peak of all members together, in units of the points of one process. */
static double peak_of(const char *source, int size) {
    reading r = {.source = source, .size = size};
    int64_t before = hd_memory_live();
    (void)hd_memory_take_peak();
    assert_ok(team_run(size, &team_engine, read_slab, &r));
    int64_t peak = hd_memory_take_peak();
    double points = 4.0 * (double)(r.data[0].total_rows * r.data[0].points.d);
    free_slabs(&r);
    assert_int_equal(hd_memory_live(), before);
    return (double)(peak - before) / points;
}

/* Members that read everything would take four times the points. Those of HDF5 are also there as
 * doubles for a moment, and would take twelve times. */
static void a_slab_takes_the_memory_of_its_rows(void **state) {
    (void)state;
    huddle_data data;
    make_data(200000, true, false, &data);
    assert_ok(huddle_data_write(NULL, &data, io_path("m.npy")));
    assert_true(peak_of(io_path("m.npy"), 4) < 1.8);
    if (io_has_library("m.h5")) {
        assert_ok(huddle_data_write(NULL, &data, io_path("m.h5")));
        assert_true(peak_of(io_path("m.h5"), 4) < 5);
    }
    free_made(&data);
}

typedef struct starved {
    reading reading;
    int64_t failing; /* request for memory */
} starved;

/* Requests are counted from where all members have a context. */
static huddle_status read_starved(huddle_context *context, int rank, void *argument) {
    starved *s = argument;
    huddle_status status = HUDDLE_OK;
    TRY(hd_agree(context, status));
    if (rank == 0)
        (void)hd_memory_fail_at(s->failing);
    TRY(hd_agree(context, status));
    TRY(read_slab(context, rank, &s->reading));
done:
    return status;
}

/* Every request fails in turn, on whichever member makes it. */
static void lack_of_memory_ends_all_members(void **state) {
    (void)state;
    huddle_data data;
    static const char *const names[] = {"k.npy", "k.csv", "k.svm", "k.mat"};
    make_data(9, true, true, &data);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = io_path(names[k]);
        if (k != 2)
            assert_ok(huddle_data_write(NULL, &data, path));
        else
            io_write_text(names[k], "1 1:2 3:1\n2 2:5\n1 3:4\n");
        bool failed = true;
        for (int64_t at = 1; failed; at++) {
            starved s = {.reading = {.source = path, .size = 3}, .failing = at};
            huddle_status status = team_run(3, &team_engine, read_starved, &s);
            failed = hd_memory_fail_at(0) >= at;
            assert_int_equal(status, failed ? HUDDLE_NO_MEMORY : HUDDLE_OK);
            free_slabs(&s.reading);
        }
    }
    free_made(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_must_be_the_same),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(bad_values_are_found_at_their_row),
        cmocka_unit_test(labels_that_do_not_fit_are_refused),
        cmocka_unit_test(a_slab_takes_the_memory_of_its_rows),
        cmocka_unit_test(lack_of_memory_ends_all_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
