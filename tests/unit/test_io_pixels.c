/* io: images and packed files of a few bytes, made here or by other programs, whose values are
 * known. Formats of libraries that this build lacks are left out. */
#include "support/io.h"

#include <sys/stat.h>

static bool has_library(const char *library) {
    for (const huddle_format *f = huddle_formats(); f->name != NULL; f++)
        if (f->library != NULL && strcmp(f->library, library) == 0)
            return f->present;
    return false;
}

/* Reads a folder of one image. */
static void read_image(const char *name, const void *bytes, size_t size, huddle_data *data) {
    static int count;
    char folder[32], file[64];
    snprintf(folder, sizeof folder, "images%d", count++);
    snprintf(file, sizeof file, "%s/%s", folder, name);
    assert_int_equal(mkdir(io_path(folder), 0777), 0);
    io_write(file, bytes, size);
    assert_ok(huddle_data_read(NULL, io_path(folder), NULL, data));
    assert_int_equal(data->points.n, 1);
}

/* ---- TIFF ----------------------------------------------------------------------------------- */

/* The ten entries that a page needs. Values of one or two bytes are at the beginning of their
 * four, as the byte order is that of Intel. */
static size_t write_tiff(unsigned char *to, int width, int height, int bits, int samples,
                         int photometric, const unsigned char *pixels) {
    const int size = width * height * samples * bits / 8;
    const int entries[][3] = {
        /* tag, type (3: two bytes, 4: four), value */
        {256, 3, width}, {257, 3, height},  {258, 3, bits},   {259, 3, 1},    {262, 3, photometric},
        {273, 4, 8},     {277, 3, samples}, {278, 3, height}, {279, 4, size}, {338, 3, 0}};
    int count = samples == 4 ? 10 : 9, directory = 8 + size + size % 2;
    memset(to, 0, (size_t)directory + 200);
    memcpy(to, "II*", 3);
    to[4] = (unsigned char)directory;
    memcpy(to + 8, pixels, (size_t)size);
    unsigned char *at = to + directory;
    *at = (unsigned char)count;
    at += 2;
    for (int k = 0; k < count; k++, at += 12) {
        at[0] = (unsigned char)(entries[k][0] & 255);
        at[1] = (unsigned char)(entries[k][0] >> 8);
        at[2] = (unsigned char)entries[k][1];
        at[4] = 1;
        at[8] = (unsigned char)entries[k][2];
    }
    /* Bits of several samples do not fit into four bytes: they are after the directory. */
    if (samples > 2) {
        unsigned char *field = to + directory + 2 + 2 * 12;
        field[4] = (unsigned char)samples;
        field[8] = (unsigned char)(at + 4 - to);
        for (int s = 0; s < samples; s++)
            at[4 + 2 * s] = (unsigned char)bits;
    }
    return (size_t)(at + 4 + 2 * samples - to);
}

static void tiff_values_are_read(void **state) {
    (void)state;
    enum { WHITE_IS_0, BLACK_IS_0, RGB };
    static const unsigned char gray[] = {10, 250, 0, 77},
                               colours[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    unsigned char bytes[512];
    huddle_data data;
    if (!has_library("libtiff"))
        return;
    read_image("a.tif", bytes, write_tiff(bytes, 4, 1, 8, 1, BLACK_IS_0, gray), &data);
    for (int k = 0; k < 4; k++)
        assert_close(data.points.values[k], gray[k], 0);
    huddle_data_free(&data);
    read_image("b.tif", bytes, write_tiff(bytes, 2, 2, 8, 1, WHITE_IS_0, gray), &data);
    for (int k = 0; k < 4; k++)
        assert_close(data.points.values[k], 255 - gray[k], 0);
    huddle_data_free(&data);
    /* 16 bits: 65535 is 255. */
    read_image("c.tif", bytes, write_tiff(bytes, 2, 1, 16, 1, BLACK_IS_0, gray), &data);
    assert_close(data.points.values[0], (10 + 256 * 250) / 257.0, 1e-4);
    assert_close(data.points.values[1], 256 * 77 / 257.0, 1e-4);
    huddle_data_free(&data);
    /* The fourth sample of a pixel is no colour. */
    read_image("d.tif", bytes, write_tiff(bytes, 2, 2, 8, 4, RGB, colours), &data);
    assert_int_equal(data.channels, 3);
    for (int k = 0; k < 12; k++)
        assert_close(data.points.values[k], colours[k / 3 * 4 + k % 3], 0);
    huddle_data_free(&data);
}

/* The eight orientations: where the rows and columns that are stored belong. */
static void tiff_is_turned(void **state) {
    (void)state;
    enum { WIDTH = 3, HEIGHT = 2, BLACK_IS_0 = 1 };
    static const unsigned char stored[] = {1, 2, 3, 4, 5, 6};
    /* Row by row of the image as it is seen. */
    static const unsigned char seen[][6] = {
        {1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
        {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
    if (!has_library("libtiff"))
        return;
    for (int o = 1; o <= 8; o++) {
        unsigned char bytes[512];
        huddle_data data;
        size_t size = write_tiff(bytes, WIDTH, HEIGHT, 8, 1, BLACK_IS_0, stored);
        /* Entries ascend: the orientation, 274, takes the place of the samples per pixel, whose
         * default is 1. */
        unsigned char *entry = bytes + 8 + 6 + 2 + 6 * 12;
        entry[0] = 274 & 255;
        entry[8] = (unsigned char)o;
        read_image("a.tif", bytes, size, &data);
        assert_int_equal(data.height, o < 5 ? HEIGHT : WIDTH);
        for (int k = 0; k < 6; k++)
            assert_close(data.points.values[k], seen[o - 1][k], 0);
        huddle_data_free(&data);
    }
}

/* ---- PPM ------------------------------------------------------------------------------------ */

/* An image whose channels are equal is gray; one with two equal channels is not. */
static void gray_images_have_one_channel(void **state) {
    (void)state;
    static const char gray[] = "P3 2 1 255 7 7 7 9 9 9 ", colour[] = "P3 2 1 255 7 7 7 9 9 8 ";
    huddle_data data;
    read_image("a.ppm", gray, sizeof gray - 1, &data);
    assert_int_equal(data.channels, 1);
    assert_close(data.points.values[1], 9, 0);
    huddle_data_free(&data);
    read_image("a.ppm", colour, sizeof colour - 1, &data);
    assert_int_equal(data.channels, 3);
    assert_close(data.points.values[5], 8, 0);
    huddle_data_free(&data);
}

/* A later image in colour makes all of them coloured, unless gray ones are asked for. */
static void images_become_coloured(void **state) {
    (void)state;
    static const char gray[] = "P2 2 1 255 7 9 ", colour[] = "P3 2 1 255 10 20 30 9 9 8 ";
    huddle_data data;
    assert_int_equal(mkdir(io_path("mixed"), 0777), 0);
    io_write("mixed/a.pgm", gray, sizeof gray - 1);
    io_write("mixed/b.ppm", colour, sizeof colour - 1);
    assert_ok(huddle_data_read(NULL, io_path("mixed"), NULL, &data));
    assert_int_equal(data.channels, 3);
    static const float expected[] = {7, 7, 7, 9, 9, 9, 10, 20, 30, 9, 9, 8};
    for (int k = 0; k < 12; k++)
        assert_close(data.points.values[k], expected[k], 0);
    huddle_data_free(&data);
    assert_ok(
        huddle_data_read(NULL, io_path("mixed"), &(huddle_read_options){.gray = true}, &data));
    assert_int_equal(data.channels, 1);
    assert_close(data.points.values[2], 0.299 * 10 + 0.587 * 20 + 0.114 * 30, 1e-4);
    huddle_data_free(&data);
}

/* ---- JPEG ----------------------------------------------------------------------------------- */

/* 8 x 16 pixels, 40 in the left half and 200 above 120 in the right, which are upside down: the
 * orientation is 3, in Intel's byte order. By Pillow. */
static const unsigned char turned[] = {
    0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01,
    0x00, 0x01, 0x00, 0x00, 0xFF, 0xE1, 0x00, 0x22, 0x45, 0x78, 0x69, 0x66, 0x00, 0x00, 0x49, 0x49,
    0x2A, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01, 0x00, 0x12, 0x01, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0xFF, 0xC0, 0x00,
    0x0B, 0x08, 0x00, 0x08, 0x00, 0x10, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xC4, 0x00, 0x14, 0x00, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0A,
    0xFF, 0xC4, 0x00, 0x18, 0x10, 0x00, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x19, 0x67, 0xA7, 0xE6, 0xFF, 0xDA, 0x00, 0x08, 0x01, 0x01,
    0x00, 0x00, 0x3F, 0x00, 0x27, 0xE3, 0xC0, 0x64, 0x50, 0xCD, 0x89, 0x85, 0x3F, 0xFF, 0xD9};

static void jpeg_is_turned(void **state) {
    (void)state;
    huddle_data data;
    if (!has_library("libjpeg"))
        return;
    read_image("a.jpg", turned, sizeof turned, &data);
    assert_int_equal(data.height, 8);
    assert_int_equal(data.width, 16);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 16; x++) {
            float expected = x >= 8 ? 40 : y < 4 ? 120 : 200;
            assert_close(data.points.values[16 * y + x], expected, 3);
        }
    huddle_data_free(&data);
}

/* ---- arrays of images ----------------------------------------------------------------------- */

/* An NPY file of unsigned bytes. */
static const char *write_bytes(const char *name, const char *shape, const unsigned char *values,
                               size_t size) {
    char *bytes = calloc(1, 128 + size);
    assert_non_null(bytes);
    memcpy(bytes, "\x93NUMPY\x01", 7);
    bytes[8] = 118;
    memset(bytes + 10, ' ', 117);
    int length =
        snprintf(bytes + 10, 110, "{'descr': '|u1', 'fortran_order': False, 'shape': %s}", shape);
    bytes[10 + length] = ' ';
    bytes[127] = '\n';
    memcpy(bytes + 128, values, size);
    const char *path = io_write(name, bytes, 128 + size);
    free(bytes);
    return path;
}

/* Six images of 5 x 4 pixels in colour: the channels last, the channels first, and the images
 * behind each other in the last dimension. Rows are by pixels in all cases. */
static void arrays_of_images_are_recognised(void **state) {
    (void)state;
    enum { IMAGES = 6, HEIGHT = 5, WIDTH = 4, SIZE = HEIGHT * WIDTH * 3 };
    static const char *const shapes[] = {"(6, 5, 4, 3)", "(6, 3, 5, 4)", "(5, 4, 3, 6)"};
    for (int kind = 0; kind < 3; kind++) {
        unsigned char values[IMAGES * SIZE];
        huddle_data data;
        for (int k = 0; k < IMAGES * SIZE; k++) {
            int image = k / SIZE, pixel = k % SIZE / 3, channel = k % 3;
            int at = kind == 0   ? k
                     : kind == 1 ? image * SIZE + channel * HEIGHT * WIDTH + pixel
                                 : (3 * pixel + channel) * IMAGES + image;
            values[at] = (unsigned char)(k * 7 % 251);
        }
        assert_ok(huddle_data_read(NULL, write_bytes("a.npy", shapes[kind], values, sizeof values),
                                   NULL, &data));
        assert_int_equal(data.points.n, IMAGES);
        assert_int_equal(data.height, HEIGHT);
        assert_int_equal(data.width, WIDTH);
        assert_int_equal(data.channels, 3);
        for (int k = 0; k < IMAGES * SIZE; k++)
            assert_close(io_value(&data.points, k / SIZE, k % SIZE), k * 7 % 251, 0);
        huddle_data_free(&data);
    }
}

/* Images whose neighbouring pixels are alike, darker in some columns, as upright things are, and
 * at the top. */
enum { SIDE = 16, SMOOTH = 60 };

static void make_smooth(unsigned char *values) {
    uint32_t random = 5;
    double noise[SIDE + 4][SIDE + 4];
    for (int i = 0; i < SMOOTH; i++) {
        for (int y = 0; y < SIDE + 4; y++)
            for (int x = 0; x < SIDE + 4; x++) {
                random = 1664525 * random + 1013904223;
                noise[y][x] = (random >> 8) / 16777216.;
            }
        for (int pass = 0; pass < 6; pass++)
            for (int y = SIDE + 3; y >= 1; y--)
                for (int x = SIDE + 3; x >= 1; x--)
                    noise[y][x] += pass < 3 ? noise[y - 1][x] : noise[y][x - 1];
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                double value = 4 * noise[y + 4][x + 4] - 50;
                value /= (x >= 3 && x < 6) || (x >= 10 && x < 13) ? 2 : 1;
                value /= y < 4 ? 3 : 1;
                values[i * SIDE * SIDE + y * SIDE + x] = (unsigned char)(value < 0     ? 0
                                                                         : value > 255 ? 255
                                                                                       : value);
            }
    }
}

static void sizes_and_orders_are_inferred(void **state) {
    (void)state;
    static unsigned char by_rows[SMOOTH * SIDE * SIDE], by_columns[SMOOTH * SIDE * SIDE];
    make_smooth(by_rows);
    for (int k = 0; k < SMOOTH * SIDE * SIDE; k++)
        by_columns[k / (SIDE * SIDE) * SIDE * SIDE + k % SIDE * SIDE + k / SIDE % SIDE] =
            by_rows[k];
    for (int columns = 0; columns < 2; columns++) {
        huddle_data data;
        assert_ok(huddle_data_read(NULL,
                                   write_bytes("rows.npy", "(60, 256)",
                                               columns == 1 ? by_columns : by_rows, sizeof by_rows),
                                   NULL, &data));
        assert_int_equal(data.height, SIDE);
        assert_int_equal(data.width, SIDE);
        assert_int_equal(data.column_major, columns == 1);
        huddle_data_free(&data);
    }
}

/* Independent values have no neighbours, and those of a random walk none below them. */
static void other_rows_are_no_images(void **state) {
    (void)state;
    static unsigned char values[SMOOTH * SIDE * SIDE];
    for (int walk = 0; walk < 2; walk++) {
        uint32_t random = 11;
        huddle_data data;
        for (int i = 0; i < SMOOTH; i++) {
            int at = 128;
            for (int k = 0; k < SIDE * SIDE; k++) {
                random = 1664525 * random + 1013904223;
                at += (int)(random >> 24) % 11 - 5;
                at = at < 0 ? 0 : at > 255 ? 255 : at;
                values[i * SIDE * SIDE + k] = (unsigned char)(walk == 1 ? at : (int)(random >> 24));
            }
        }
        assert_ok(huddle_data_read(
            NULL, write_bytes("walk.npy", "(60, 256)", values, sizeof values), NULL, &data));
        assert_int_equal(data.height, 0);
        huddle_data_free(&data);
    }
}

/* ---- packed files --------------------------------------------------------------------------- */

/* "a,b\n1,2\n3,4\n", packed by zstd. */
static const unsigned char zstd_table[] = {0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x0C, 0x61, 0x00, 0x00,
                                           0x61, 0x2C, 0x62, 0x0A, 0x31, 0x2C, 0x32, 0x0A, 0x33,
                                           0x2C, 0x34, 0x0A, 0xE1, 0xB3, 0xCB, 0x2E};

/* One member, one that is cut short, and two behind each other, whose second header is then a row
 * of text. */
static void zstd_is_unpacked(void **state) {
    (void)state;
    huddle_data data;
    unsigned char twice[2 * sizeof zstd_table];
    const huddle_packing *p = huddle_packings();
    while (p->name != NULL && strcmp(p->name, "zstd") != 0)
        p++;
    if (!p->present)
        return;
    assert_ok(
        huddle_data_read(NULL, io_write("t.csv.zst", zstd_table, sizeof zstd_table), NULL, &data));
    assert_int_equal(data.points.n, 2);
    for (int k = 0; k < 4; k++)
        assert_close(data.points.values[k], k + 1, 0);
    huddle_data_free(&data);
    assert_refused(huddle_data_read(NULL, io_write("s.csv.zst", zstd_table, sizeof zstd_table - 6),
                                    NULL, &data),
                   HUDDLE_FORMAT, "cut short");
    memcpy(twice, zstd_table, sizeof zstd_table);
    memcpy(twice + sizeof zstd_table, zstd_table, sizeof zstd_table);
    assert_refused(huddle_data_read(NULL, io_write("u.csv.zst", twice, sizeof twice), NULL, &data),
                   HUDDLE_FORMAT, "line 4, column 1 (a): 'a' is not a number");
}

/* Two members of gzip are one text. */
static void members_are_joined(void **state) {
    (void)state;
    huddle_data data;
    char both[1024];
    size_t total = 0, size;
    static const char *const parts[] = {"a,b\n1,2\n", "3,4\n5,6\n"};
    for (int k = 0; k < 2; k++) {
        char *bytes = io_read_bytes(io_write_gzip("part.gz", parts[k], strlen(parts[k])), &size);
        memcpy(both + total, bytes, size);
        total += size;
        free(bytes);
    }
    assert_ok(huddle_data_read(NULL, io_write("two.csv.gz", both, total), NULL, &data));
    assert_int_equal(data.points.n, 3);
    for (int k = 0; k < 6; k++)
        assert_close(data.points.values[k], k + 1, 0);
    huddle_data_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiff_values_are_read),
        cmocka_unit_test(tiff_is_turned),
        cmocka_unit_test(gray_images_have_one_channel),
        cmocka_unit_test(images_become_coloured),
        cmocka_unit_test(jpeg_is_turned),
        cmocka_unit_test(members_are_joined),
        cmocka_unit_test(arrays_of_images_are_recognised),
        cmocka_unit_test(sizes_and_orders_are_inferred),
        cmocka_unit_test(other_rows_are_no_images),
        cmocka_unit_test(zstd_is_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
