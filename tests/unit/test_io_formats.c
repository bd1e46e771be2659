/* io: the table of formats, and files whose format was left out of the build. */
#include "support/io.h"

#include <sys/stat.h>

static const huddle_format *format_of(const char *name, const char *library) {
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++)
        if (strcmp(f->name, name) == 0 &&
            (library == NULL ? f->library == NULL
                             : f->library != NULL && strcmp(f->library, library) == 0))
            return f;
    fail_msg("no format %s", name);
    return NULL;
}

static void every_row_is_complete(void **state) {
    (void)state;
    int count = 0;
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++, count++) {
        assert_non_null(f->title);
        assert_int_equal(f->endings[0], '.');
        assert_true(f->dense || f->sparse);
        assert_true(f->library != NULL || f->present);
    }
    assert_int_equal(count, 16);
    assert_true(format_of("npz", NULL)->sparse);
    assert_false(format_of("hdf5", "HDF5")->sparse);
    assert_null(format_of("mat", "HDF5")->write_endings);
}

/* Every ending that the table announces is accepted; the message lists all of them. */
static void write_endings_are_accepted(void **state) {
    (void)state;
    huddle_data data;
    char endings[256], name[64];
    assert_ok(huddle_data_read(NULL, "moons", &(huddle_read_options){.n = 10, .noise = 0}, &data));
    assert_refused(huddle_data_write(NULL, &data, io_path("x.doc")), HUDDLE_INVALID,
                   "x.doc: the name must end in .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .hdf5, "
                   ".svm or .libsvm");
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++) {
        snprintf(endings, sizeof endings, "%s", f->write_endings != NULL ? f->write_endings : "");
        for (char *e = strtok(endings, " "); e != NULL; e = strtok(NULL, " ")) {
            snprintf(name, sizeof name, "written%s", e);
            huddle_status status = huddle_data_write(NULL, &data, io_path(name));
            assert_int_equal(status, f->present ? HUDDLE_OK : HUDDLE_UNSUPPORTED);
        }
    }
    huddle_data_free(&data);
}

/* A build without a library recognises its files and reports what is missing. */
static void missing_libraries_are_reported(void **state) {
    (void)state;
    huddle_data data;
    if (!format_of("hdf5", "HDF5")->present) {
        assert_refused(huddle_data_read(NULL, io_golden("io_v73.mat"), NULL, &data),
                       HUDDLE_UNSUPPORTED,
                       "io_v73.mat: MATLAB v7.3 files need HDF5, which this build of Huddle was "
                       "made without");
        assert_refused(huddle_data_read(NULL, io_golden("io_nested.h5"), NULL, &data),
                       HUDDLE_UNSUPPORTED, "io_nested.h5: HDF5 files need HDF5, which");
    }
    if (!format_of("images", "libpng")->present) {
        size_t size;
        char *bytes = io_read_bytes(io_golden("io_gray8.png"), &size);
        mkdir(io_path("pictures"), 0777);
        io_write("pictures/a.png", bytes, size);
        assert_refused(huddle_data_read(NULL, io_path("pictures"), NULL, &data), HUDDLE_UNSUPPORTED,
                       "pictures/a.png: PNG images need libpng, which");
        free(bytes);
    }
    if (format_of("hdf5", "HDF5")->present && format_of("images", "libpng")->present)
        skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(write_endings_are_accepted),
        cmocka_unit_test(missing_libraries_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
