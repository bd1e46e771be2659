/* io: places in messages, quotes, positions of generated points, and values that are written and
 * read back, each against what the format or the formula says. */
#include "archive/npy.h"
#include "archive/zip.h"
#include "io/formats.h"
#include "io/sparse.h"
#include "io/unpack.h"
#include "support/io.h"

#include <math.h>
#include <sys/stat.h>

/* ---- ARFF ----------------------------------------------------------------------------------- */

/* Lines are counted from the beginning of the file. */
static void faults_of_arff_are_placed(void **state) {
    (void)state;
    huddle_data data;
    static const char dense[] = "% first\n@relation r\n@attribute a numeric\n@attribute b numeric\n"
                                "@data\n% comment\n1,2\n\n3,x\n";
    static const char sparse[] = "@relation r\n@attribute a numeric\n@attribute b numeric\n"
                                 "@data\n{0 1}\n{0 1, 0 2}\n";
    assert_refused(huddle_data_read(NULL, io_write_text("d.arff", dense), NULL, &data),
                   HUDDLE_FORMAT, "line 9, column 2 (b): 'x'");
    assert_refused(huddle_data_read(NULL, io_write_text("e.arff", sparse), NULL, &data),
                   HUDDLE_FORMAT, "line 6: '0' is not the index of an attribute");
}

/* An attribute with the name of labels comes before the last nominal one. */
static void arff_classes_are_found_by_name(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "@relation r\n@attribute label {p,q}\n@attribute a numeric\n"
                               "@attribute class {r,s}\n@attribute z {u,v}\n@data\n"
                               "p,1,s,u\nq,2,r,v\np,3,s,v\n";
    huddle_read_options options = {.encode = true};
    assert_ok(huddle_data_read(NULL, io_write_text("c.arff", text), &options, &data));
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(data.classes[data.labels[0]], "p");
    assert_string_equal(data.classes[data.labels[1]], "q");
    huddle_data_free(&data);
    static const char sparse[] = "@relation r\n@attribute a numeric\n@attribute label {p,q}\n"
                                 "@attribute z {1,2}\n@data\n{0 5, 1 q, 2 2}\n{2 1}\n";
    assert_ok(huddle_data_read(NULL, io_write_text("f.arff", sparse), NULL, &data));
    assert_int_equal(data.points.d, 2);
    assert_string_equal(data.classes[data.labels[0]], "q");
    assert_close(io_value(&data.points, 0, 1), 2, 0);
    huddle_data_free(&data);
}

static void arff_quotes_are_kept(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "@relation r\n@attribute a numeric\n@attribute class string\n@data\n"
                               "1,'say \"hi\" and \"bye\"'\n2,plain\n3,'say \"hi\" and \"bye\"'\n"
                               "4,plain\n";
    const char *y = "class";
    huddle_read_options options = {.y = &y, .n_y = 1};
    assert_ok(huddle_data_read(NULL, io_write_text("q.arff", text), &options, &data));
    assert_string_equal(data.classes[data.labels[0]], "say \"hi\" and \"bye\"");
    assert_string_equal(data.classes[data.labels[1]], "plain");
    assert_int_equal(data.points.d, 1);
    huddle_data_free(&data);
}

/* A backslash in quotes takes the special meaning from what follows. */
static void arff_escapes_are_resolved(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "@relation r\n@attribute a numeric\n"
                               "@attribute class {'it\\'s','b \\\\ c'}\n@data\n"
                               "1,'it\\'s'\n2,'b \\\\ c'\n3,'it\\'s'\n";
    assert_ok(huddle_data_read(NULL, io_write_text("x.arff", text), NULL, &data));
    assert_string_equal(data.classes[data.labels[0]], "it's");
    assert_string_equal(data.classes[data.labels[1]], "b \\ c");
    huddle_data_free(&data);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* A quoted field of several lines: what follows is placed by its line in the file. */
static void lines_inside_of_quotes_are_counted(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "a,b,label\n1,2,\"u\nv\nw\nz\"\n3,4,x\n5,oops,x\n7,8,\"u\nv\nw\"\n";
    assert_refused(huddle_data_read(NULL, io_write_text("lines.csv", text), NULL, &data),
                   HUDDLE_FORMAT, "line 7, column 2 (b): 'oops'");
}

/* ---- sparse texts, IDX, netpbm, NPY ---------------------------------------------------------- */

static void repeated_indices_are_refused(void **state) {
    (void)state;
    huddle_data data;
    assert_refused(
        huddle_data_read(NULL, io_write_text("r.svm", "1 1:2 3:4\n2 2:5 2:6\n"), NULL, &data),
        HUDDLE_FORMAT, "line 2: index 2 is out of order");
}

/* Sizes of IDX are four bytes, the most significant one first. */
static void sizes_of_idx_have_four_bytes(void **state) {
    (void)state;
    enum { SAMPLES = 70000 };
    static unsigned char bytes[12 + 2 * SAMPLES] = {0, 0, 8, 2, 0, 1, 0x11, 0x70, 0, 0, 0, 2};
    huddle_data data;
    for (int k = 0; k < 2 * SAMPLES; k++)
        bytes[12 + k] = (unsigned char)(k % 251);
    assert_ok(huddle_data_read(NULL, io_write("large.idx", bytes, sizeof bytes), NULL, &data));
    assert_int_equal(data.points.n, SAMPLES);
    assert_int_equal(data.points.d, 2);
    assert_close(io_value(&data.points, SAMPLES - 1, 1), (2 * SAMPLES - 1) % 251, 0);
    huddle_data_free(&data);
}

static void elements_of_idx_are_big_endian(void **state) {
    (void)state;
    static const unsigned char bytes[] = {0, 0, 0xC, 2, 0,    0,    0,    2,
                                          0, 0, 0,   1, /* int32, 2 x 1 */
                                          0, 0, 1,   2, 0xFF, 0xFF, 0xFF, 0xFE};
    huddle_data data;
    assert_ok(huddle_data_read(NULL, io_write("int.idx", bytes, sizeof bytes), NULL, &data));
    assert_close(io_value(&data.points, 0, 0), 258, 0);
    assert_close(io_value(&data.points, 1, 0), -2, 0);
    huddle_data_free(&data);
}

/* Two bytes of a pixel, the more significant one first, up to the largest value of the header. */
static void deep_images_are_scaled(void **state) {
    (void)state;
    static const unsigned char image[] = "P5 2 1 1000\n\x00\xFA\x03\xE8"; /* 250 and 1000 */
    huddle_data data;
    assert_int_equal(mkdir(io_path("deep"), 0777), 0);
    io_write("deep/a.pgm", image, sizeof image - 1);
    assert_ok(huddle_data_read(NULL, io_path("deep"), NULL, &data));
    assert_close(io_value(&data.points, 0, 0), 63.75, 1e-4);
    assert_close(io_value(&data.points, 0, 1), 255, 1e-4);
    huddle_data_free(&data);
}

/* An NPY file of version 1 with this description of its elements and two rows. */
static const char *write_npy(const char *name, const char *type, const char *shape,
                             const void *elements, size_t size) {
    char bytes[256] = "\x93NUMPY\x01";
    char header[128];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
             shape);
    bytes[8] = 118;
    memset(bytes + 10, ' ', 118);
    memcpy(bytes + 10, header, strlen(header));
    bytes[127] = '\n';
    memcpy(bytes + 128, elements, size);
    return io_write(name, bytes, 128 + size);
}

/* A value that is not finite is refused, whichever its bits are. */
static void values_that_are_not_finite_are_refused(void **state) {
    (void)state;
    const float bad[] = {INFINITY, -INFINITY, NAN, -NAN};
    for (size_t k = 0; k < 4; k++) {
        const float values[4] = {1, 2, bad[k], 4};
        huddle_data data;
        for (int copy = 0; copy < 2; copy++)
            assert_refused(
                huddle_data_read(NULL, write_npy("bad.npy", "<f4", "(2, 2)", values, sizeof values),
                                 &(huddle_read_options){.copy = copy == 1}, &data),
                HUDDLE_INVALID, "row 2, column 1");
    }
}

/* Labels in NumPy's strings of four bytes for each character, shorter ones filled with zeros. */
static void wide_characters_are_read(void **state) {
    (void)state;
    static const uint32_t texts[] = {'a', 0x2603, 0, 'b', 'c', 'd', 'a', 0x2603, 0, 0x1F600, 0, 0};
    int64_t n;
    int32_t *labels, n_classes;
    char **classes;
    assert_ok(huddle_labels_read(NULL, write_npy("u.npy", "<U3", "(4,)", texts, sizeof texts), &n,
                                 &labels, &n_classes, &classes));
    assert_int_equal(n, 4);
    assert_int_equal(n_classes, 3);
    assert_string_equal(classes[labels[0]], "a\xE2\x98\x83");
    assert_string_equal(classes[labels[1]], "bcd");
    assert_int_equal(labels[2], labels[0]);
    assert_string_equal(classes[labels[3]], "\xF0\x9F\x98\x80");
    for (int32_t k = 0; k < n_classes; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
    huddle_free(labels);
}

/* Entries in any order, some of them twice: values are added up and columns ascend. */
static void entries_are_sorted_and_added(void **state) {
    (void)state;
    int64_t offsets[] = {0, 4, 4, 6}, columns[] = {3, 0, 3, 1, 2, 0};
    double values[] = {1, 2, 4, 8, 16, 32};
    static const int64_t expected_offsets[] = {0, 3, 3, 5};
    static const int32_t expected_columns[] = {0, 1, 3, 0, 2};
    static const double expected_values[] = {2, 8, 5, 32, 16};
    const hd_io_lines lines = {3, 4, false, 6, offsets, columns, values};
    huddle_csr matrix;
    assert_ok(hd_io_csr_from_lines(&lines, &matrix));
    assert_memory_equal(matrix.offsets, expected_offsets, sizeof expected_offsets);
    assert_memory_equal(matrix.columns, expected_columns, sizeof expected_columns);
    assert_memory_equal(matrix.values, expected_values, sizeof expected_values);
    huddle_csr_free(&matrix);
}

static void sparse_points_are_appended(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 3};
    int32_t columns[] = {0, 2, 1};
    float values[] = {1, 2, 3};
    const huddle_points more = {
        .n = 2, .d = 3, .values = values, .offsets = offsets, .columns = columns};
    huddle_points all = {0};
    for (int k = 0; k < 3; k++)
        assert_ok(hd_io_points_append(&all, &more));
    assert_int_equal(all.n, 6);
    for (int64_t i = 0; i <= 6; i++)
        assert_int_equal(all.offsets[i], i / 2 * 3 + (i % 2 == 1 ? 2 : 0));
    for (int64_t i = 0; i < 6; i++)
        for (int64_t j = 0; j < 3; j++)
            assert_close(io_value(&all, i, j), io_value(&more, i % 2, j), 0);
    huddle_points_free(&all);
}

/* ---- encodings and parts -------------------------------------------------------------------- */

/* The same table in UTF-16 of both byte orders, with a mark and without. A character beyond 16 bits
 * is two units. */
static void tables_in_utf16_are_read(void **state) {
    (void)state;
    static const uint16_t units[] = {0xFEFF, 'a', ',',    'l',    'a',  'b', 'e', 'l', '\n',
                                     '1',    ',', 0xD83D, 0xDE00, '\n', '2', ',', 'x', '\n',
                                     '3',    ',', 0xD83D, 0xDE00, '\n', '4', ',', 'x', '\n'};
    enum { UNITS = sizeof units / sizeof *units };
    for (int kind = 0; kind < 4; kind++) {
        unsigned char bytes[2 * UNITS];
        bool big = kind % 2 == 1, marked = kind < 2;
        huddle_data data;
        for (size_t k = 0; k < UNITS; k++) {
            bytes[2 * k + big] = (unsigned char)(units[k] & 255);
            bytes[2 * k + !big] = (unsigned char)(units[k] >> 8);
        }
        size_t skipped = marked ? 0 : 2;
        assert_ok(huddle_data_read(
            NULL, io_write("u16.csv", bytes + skipped, sizeof bytes - skipped), NULL, &data));
        assert_int_equal(data.points.n, 4);
        assert_string_equal(data.classes[data.labels[2]], "\xF0\x9F\x98\x80");
        assert_string_equal(data.classes[data.labels[3]], "x");
        assert_close(io_value(&data.points, 3, 0), 4, 0);
        huddle_data_free(&data);
    }
}

/* Windows-1252: 0x80 is the euro sign, 0xE4 an a with two dots. */
static void tables_in_windows_1252_are_read(void **state) {
    (void)state;
    huddle_data data;
    static const char text[] = "a,label\n1,\x80\n2,\xE4\n3,\x80\n4,\xE4\n";
    assert_ok(huddle_data_read(NULL, io_write_text("w.csv", text), NULL, &data));
    assert_string_equal(data.classes[data.labels[0]], "\xE2\x82\xAC");
    assert_string_equal(data.classes[data.labels[1]], "\xC3\xA4");
    huddle_data_free(&data);
}

static double shifted_value(const huddle_points *x, int64_t i, int64_t j) {
    return (double)io_value(x, i, j) + (x->shift != NULL ? x->shift[j] : 0);
}

/* Parts whose values are far from zero and close to each other are stacked with one shift. */
static void shifted_parts_are_stacked(void **state) {
    (void)state;
    static const double first[] = {1e9 + .25, 1e9 + .5}, second[] = {1e9 + 1, 1e9 + 2, 1e9 + 3.5};
    static const int64_t sizes[][2] = {{2, 1}, {3, 1}};
    static const char *const names[] = {"first", "second"};
    hd_zip_writer zip;
    huddle_data data;
    assert_ok(hd_zip_create(io_path("parts.npz"), &zip));
    assert_ok(hd_npy_add(&zip, "first", HD_ZIP_STORED, "<f8", 2, sizes[0], first));
    assert_ok(hd_npy_add(&zip, "second", HD_ZIP_STORED, "<f8", 2, sizes[1], second));
    assert_ok(hd_zip_close(&zip, HUDDLE_OK));
    huddle_read_options options = {.x = (const char **)(uintptr_t)names, .n_x = 2};
    assert_ok(huddle_data_read(NULL, io_path("parts.npz"), &options, &data));
    assert_non_null(data.points.shift);
    for (int64_t i = 0; i < 5; i++)
        assert_close(shifted_value(&data.points, i, 0), i < 2 ? first[i] : second[i - 2], 1e-6);
    huddle_data_free(&data);
}

/* ---- built-in data -------------------------------------------------------------------------- */

/* Numbers of each digit, as the documentation of the data set has them, and the first labels. */
static void digits_have_their_labels(void **state) {
    (void)state;
    static const int sizes[] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
    int counts[10] = {0};
    huddle_data data;
    assert_ok(huddle_data_read(NULL, "digits", NULL, &data));
    for (int i = 0; i < 1797; i++)
        counts[data.labels[i]]++;
    assert_memory_equal(counts, sizes, sizeof sizes);
    for (int i = 0; i < 10; i++)
        assert_int_equal(data.labels[i], i);
    /* The corners of the images are white. */
    for (int i = 0; i < 1797; i++)
        assert_close(data.points.values[i * 64], 0, 0);
    huddle_data_free(&data);
}

/* A range contains both of its ends. */
static void ranges_of_classes_are_complete(void **state) {
    (void)state;
    static const char *const expected[] = {"2", "3", "4", "7"};
    huddle_data data;
    assert_ok(huddle_data_read(NULL, "digits",
                               &(huddle_read_options){.classes = "2-4, 7", .per_class = 5}, &data));
    assert_int_equal(data.n_classes, 4);
    assert_int_equal(data.points.n, 20);
    for (int k = 0; k < 4; k++)
        assert_string_equal(data.classes[k], expected[k]);
    huddle_data_free(&data);
}

/* Drawn samples stay in their order, depend on the seed alone, and all are equally likely. */
static void samples_of_classes_are_drawn(void **state) {
    (void)state;
    enum { N = 200, CLASSES = 2, PER_CLASS = 30, SEEDS = 200 };
    int counts[N] = {0}, n_other = 0;
    float first[CLASSES * PER_CLASS] = {0};
    char text[8 * N] = "x,label\n", *end = strchr(text, '\0');
    for (int i = 0; i < N; i++)
        end += sprintf(end, "%d,%d\n", i, i % CLASSES);
    for (int seed = 0; seed < SEEDS; seed++) {
        huddle_data data;
        huddle_read_options some = {.per_class = PER_CLASS, .seed = (uint64_t)(seed / 2)};
        some.draw = true;
        assert_ok(io_read_text(text, &some, &data));
        assert_int_equal(data.points.n, CLASSES * PER_CLASS);
        for (int i = 0; i < CLASSES * PER_CLASS; i++) {
            int x = (int)data.points.values[i * data.points.stride];
            assert_int_equal(data.labels[i], x % CLASSES);
            assert_true(i == 0 || x > (int)data.points.values[(i - 1) * data.points.stride]);
            counts[x]++;
            n_other += first[i] != (float)x;
            assert_true(seed % 2 == 0 || first[i] == (float)x);
            first[i] = (float)x;
        }
        huddle_data_free(&data);
    }
    assert_true(n_other > SEEDS * PER_CLASS / 2);
    /* 60 of 200 draws on the average, in pairs: deviation 9; five of them are left. */
    for (int i = 0; i < N; i++)
        assert_in_range(counts[i], 15, 105);
}

static const double turn = 6.283185307179586;

/* How far a point is from where its class lies. */
static double miss_moon(int k, const float *x) {
    double u = k == 0 ? (double)x[0] : 1 - (double)x[0],
           v = k == 0 ? (double)x[1] : .5 - (double)x[1];
    return fabs(hypot(u, v) - 1) + fmax(0, -v);
}

static double miss_ring(int k, const float *x) {
    return fabs(hypot((double)x[0], (double)x[1]) - (k + 1));
}

static double miss_spiral(int k, const float *x) {
    double radius = hypot((double)x[0], (double)x[1]);
    double angle = turn * ((radius - .5) / 2.5 + k / 3.);
    return hypot((double)x[0] - radius * cos(angle), (double)x[1] - radius * sin(angle)) +
           fmax(0, .5 - radius) + fmax(0, radius - 3);
}

static double miss_blob(int k, const float *x) {
    return hypot((double)x[0] - 10 * cos(turn * k / 5), (double)x[1] - 10 * sin(turn * k / 5));
}

static double miss_disc(int k, const float *x) {
    double far = hypot((double)x[0] - (k == 0 ? 0 : 7.4), (double)x[1] - (k == 0   ? 0
                                                                          : k == 1 ? 1.3
                                                                                   : -1.3));
    return fmax(0, far - (k == 0 ? 5 : .5));
}

static double miss_roll(int k, const float *x) {
    double t = hypot((double)x[0], (double)x[2]), along = (t * t * 4 / turn / turn - 2.25) / 18;
    return hypot((double)x[0] - t * cos(t), (double)x[2] - t * sin(t)) + fmax(0, k - 3.75 * along) +
           fmax(0, 3.75 * along - k - .75) + fmax(0, -(double)x[1]) + fmax(0, (double)x[1] - 21);
}

/* Without noise all points lie on the curves that the documentation describes. */
static void generated_points_lie_on_their_curves(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double (*miss)(int k, const float *x);
    } kinds[] = {{"moons", miss_moon}, {"rings", miss_ring},   {"spirals", miss_spiral},
                 {"blobs", miss_blob}, {"unequal", miss_disc}, {"swissroll", miss_roll}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        huddle_data data;
        assert_ok(huddle_data_read(NULL, kinds[k].name, &(huddle_read_options){.n = 90}, &data));
        for (int64_t i = 0; i < 90; i++)
            assert_close(kinds[k].miss(data.labels[i], data.points.values + i * data.points.stride),
                         0, 1e-4);
        huddle_data_free(&data);
    }
}

/* ---- formats -------------------------------------------------------------------------------- */

/* HDF5 begins at 0 or at 512 times a power of two. */
static void hdf5_may_begin_later(void **state) {
    (void)state;
    static char bytes[8192];
    for (int at = 0; at < 5000; at += 256) {
        hd_file file = {.path = "f.h5", .text = bytes, .size = sizeof bytes, .descriptor = -1};
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + at, "\x89HDF\r\n\x1a\n", 8);
        bool allowed = at == 0 || at == 512 || at == 1024 || at == 2048 || at == 4096;
        assert_int_equal(hd_io_hdf5_is(&file), allowed);
    }
}

static void endings_are_found_in_long_names(void **state) {
    (void)state;
    char path[256] = "";
    for (int length = 1; length < 200; length++) {
        memset(path, 'a', (size_t)length);
        memcpy(path + length, ".npz", 5);
        const hd_io_format *format = hd_io_find_writer(path);
        assert_non_null(format);
        assert_string_equal(format->about->name, "npz");
    }
}

static void endings_of_packed_files_are_left_out(void **state) {
    (void)state;
    assert_int_equal(hd_io_unpacked_length("a.csv.gz"), 5);
    assert_int_equal(hd_io_unpacked_length("labels.idx.BZ2"), 10);
    assert_int_equal(hd_io_unpacked_length("a.xz.csv"), 8);
    assert_int_equal(hd_io_unpacked_length("b.zst"), 1);
}

/* A workbook is recognised by the names in its archive, at the beginning or at the end. */
static void workbooks_are_recognised(void **state) {
    (void)state;
    static const int64_t sizes[] = {100, 300000};
    for (size_t k = 0; k < 2; k++) {
        huddle_data data;
        hd_zip_writer zip;
        char *zeros = calloc(1, (size_t)sizes[k]);
        assert_non_null(zeros);
        const char *path = io_path("book.xlsx");
        assert_ok(hd_zip_create(path, &zip));
        assert_ok(hd_zip_add(&zip, "first", HD_ZIP_STORED, zeros, sizes[k]));
        assert_ok(hd_zip_add(&zip, "xl/workbook.xml", HD_ZIP_STORED, "<x/>", 4));
        assert_ok(hd_zip_add(&zip, "last", HD_ZIP_STORED, zeros, 100));
        assert_ok(hd_zip_close(&zip, HUDDLE_OK));
        assert_refused(huddle_data_read(NULL, path, NULL, &data), HUDDLE_UNSUPPORTED, "Excel");
        free(zeros);
    }
}

/* ---- written and read back ------------------------------------------------------------------ */

enum { ROWS = 5, COLS = 3 };

/* Points of another stride, relative to a shift, with these classes. */
static void make_shifted(huddle_data *data, char *const *classes, bool numeric) {
    static float values[ROWS * (COLS + 2)];
    static double shift[COLS] = {1e9, 0, -4e9};
    static int32_t labels[ROWS] = {1, 0, 1, 0, 0};
    memset(data, 0, sizeof *data);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            values[i * (COLS + 2) + j] = (float)(i * 3 + j) * 0.25f + 0.5f;
    data->points =
        (huddle_points){.n = ROWS, .d = COLS, .stride = COLS + 2, .values = values, .shift = shift};
    data->labels = labels;
    data->n_classes = 2;
    data->classes = (char **)(uintptr_t)classes;
    data->classes_numeric = numeric;
}

static void check_read_back(const char *name, const huddle_data *data, bool labels) {
    huddle_data back;
    assert_ok(huddle_data_write(NULL, data, io_path(name)));
    assert_ok(huddle_data_read(NULL, io_path(name), NULL, &back));
    assert_int_equal(back.points.n, ROWS);
    assert_int_equal(back.points.d, COLS);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            assert_close(shifted_value(&back.points, i, j), shifted_value(&data->points, i, j),
                         back.points.offsets != NULL ? 512 : 1e-6);
    for (int64_t i = 0; i < ROWS && labels; i++)
        assert_string_equal(back.classes[back.labels[i]], data->classes[data->labels[i]]);
    huddle_data_free(&back);
}

/* Values far from zero keep their digits; labels beyond 32 bits and names in UTF-8 their names. */
static void shifted_values_are_written_in_full(void **state) {
    (void)state;
    static char *const names[] = {"Grün ☃", "łódź"}, *const numbers[] = {"-5000000000", "7"};
    static const char *const files[] = {"w.csv", "w.tsv", "w.npy", "w.npz",
                                        "w.mat", "w.h5",  "w.svm"};
    huddle_data data;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (!io_has_library(files[k]))
            continue;
        bool svm = k == 6, npy = k == 2;
        make_shifted(&data, names, false);
        check_read_back(files[k], &data, !npy && !svm);
        make_shifted(&data, numbers, true);
        check_read_back(files[k], &data, !npy);
    }
}

/* A first row that ends early still has all columns in LIBSVM. */
static void libsvm_keeps_the_number_of_columns(void **state) {
    (void)state;
    static float values[] = {1, 2, 0, 3, 0, 0};
    huddle_data data = {.points = {.n = 2, .d = 3, .stride = 3, .values = values}};
    assert_ok(huddle_data_write(NULL, &data, io_path("short.svm")));
    assert_text(io_path("short.svm"), "0 1:1 2:2 3:0\n0 1:3\n");
}

/* Images of 2 x 3 pixels that are stored column by column say so. */
static void orders_of_images_are_kept(void **state) {
    (void)state;
    static const char *const files[] = {"o.npz", "o.mat", "o.h5"};
    float values[12];
    for (int k = 0; k < 12; k++)
        values[k] = (float)k;
    for (int k = 0; k < 6; k++) {
        huddle_data back, data = {.points = {.n = 2, .d = 6, .stride = 6, .values = values}};
        data.height = 2;
        data.width = 3;
        data.channels = 1;
        data.column_major = k % 2 == 1;
        if (!io_has_library(files[k / 2]))
            continue;
        assert_ok(huddle_data_write(NULL, &data, io_path(files[k / 2])));
        assert_ok(huddle_data_read(NULL, io_path(files[k / 2]), NULL, &back));
        assert_int_equal(back.height, 2);
        assert_int_equal(back.width, 3);
        assert_int_equal(back.column_major, k % 2 == 1);
        huddle_data_free(&back);
    }
}

/* A matrix with another stride, by its bytes: NumPy's header is 128 bytes long. */
static void strides_are_left_out_of_files(void **state) {
    (void)state;
    double values[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
    static const double expected[] = {1, 2, 3, 4, 5, 6};
    huddle_dense matrix = {3, 2, 3, values};
    size_t size;
    assert_ok(huddle_dense_write_npy(io_path("m.npy"), &matrix));
    char *bytes = io_read_bytes(io_path("m.npy"), &size);
    assert_int_equal(size, 128 + sizeof expected);
    assert_memory_equal(bytes + 128, expected, sizeof expected);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_of_arff_are_placed),
        cmocka_unit_test(arff_classes_are_found_by_name),
        cmocka_unit_test(arff_quotes_are_kept),
        cmocka_unit_test(arff_escapes_are_resolved),
        cmocka_unit_test(lines_inside_of_quotes_are_counted),
        cmocka_unit_test(repeated_indices_are_refused),
        cmocka_unit_test(sizes_of_idx_have_four_bytes),
        cmocka_unit_test(elements_of_idx_are_big_endian),
        cmocka_unit_test(deep_images_are_scaled),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(wide_characters_are_read),
        cmocka_unit_test(entries_are_sorted_and_added),
        cmocka_unit_test(sparse_points_are_appended),
        cmocka_unit_test(tables_in_utf16_are_read),
        cmocka_unit_test(tables_in_windows_1252_are_read),
        cmocka_unit_test(shifted_parts_are_stacked),
        cmocka_unit_test(digits_have_their_labels),
        cmocka_unit_test(ranges_of_classes_are_complete),
        cmocka_unit_test(samples_of_classes_are_drawn),
        cmocka_unit_test(generated_points_lie_on_their_curves),
        cmocka_unit_test(hdf5_may_begin_later),
        cmocka_unit_test(endings_are_found_in_long_names),
        cmocka_unit_test(endings_of_packed_files_are_left_out),
        cmocka_unit_test(workbooks_are_recognised),
        cmocka_unit_test(shifted_values_are_written_in_full),
        cmocka_unit_test(libsvm_keeps_the_number_of_columns),
        cmocka_unit_test(orders_of_images_are_kept),
        cmocka_unit_test(strides_are_left_out_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
