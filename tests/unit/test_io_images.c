/* io: images in IDX files and folders. */
#include "support/io.h"

#include <sys/stat.h>

static const unsigned char idx_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                           1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3};

static void idx_labels_are_found_beside_the_images(void **state) {
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        huddle_data data;
        const char *path;
        if (packed) {
            path = io_write_gzip("p-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
            io_write_gzip("p-labels-idx1-ubyte.gz", idx_labels, sizeof idx_labels);
        } else {
            path = io_write("u-images-idx3-ubyte", idx_images, sizeof idx_images);
            io_write("u-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
        }
        assert_ok(huddle_data_read(NULL, path, NULL, &data));
        assert_string_equal(data.format, "idx");
        assert_int_equal(data.points.n, 2);
        assert_int_equal(data.height, 1);
        assert_int_equal(data.width, 3);
        assert_close(data.points.values[5], 255, 0);
        assert_string_equal(data.classes[0], "3");
        assert_int_equal(data.labels[0], 1);
        huddle_data_free(&data);
    }
    huddle_data data;
    io_write("b-images-idx3-ubyte", idx_images, sizeof idx_images);
    io_write("b-labels-idx1-ubyte", idx_labels, sizeof idx_labels - 1);
    assert_refused(huddle_data_read(NULL, io_path("b-images-idx3-ubyte"), NULL, &data),
                   HUDDLE_FORMAT, "b-labels-idx1-ubyte: ");
    assert_refused(
        huddle_data_read(NULL, io_write("c.idx", idx_images, sizeof idx_images - 1), NULL, &data),
        HUDDLE_FORMAT, "c.idx: the IDX header claims more elements");
    static const unsigned char wide[] = {0, 0, 0x0C, 2, 0, 0, 0,   1,   0,   0,
                                         0, 2, 0,    0, 1, 0, 255, 255, 255, 255};
    assert_ok(huddle_data_read(NULL, io_write("w.idx", wide, sizeof wide), NULL, &data));
    assert_close(data.points.values[0], 256, 0);
    assert_close(data.points.values[1], -1, 0);
    huddle_data_free(&data);
    static const unsigned char lie[] = {0,   0,   0x0E, 3,   255, 255, 255, 255,
                                        255, 255, 255,  255, 255, 255, 255, 255};
    assert_refused(huddle_data_read(NULL, io_write("l.idx", lie, sizeof lie), NULL, &data),
                   HUDDLE_FORMAT, "l.idx: the IDX header claims more");
}

static void copy_golden(const char *name, const char *to) {
    size_t size;
    char *bytes = io_read_bytes(io_golden(name), &size);
    io_write(to, bytes, size);
    free(bytes);
}

static void folders_of_images_are_read(void **state) {
    (void)state;
    if (!io_has_library("io_gray8.png"))
        skip();
    static const float expected[] = {0, 100, 255, 1, 2, 3};
    huddle_data data;
    mkdir(io_path("faces"), 0777);
    mkdir(io_path("faces/10"), 0777);
    mkdir(io_path("faces/9"), 0777);
    mkdir(io_path("faces/.hidden"), 0777);
    copy_golden("io_gray8.png", "faces/9/a.png");
    copy_golden("io_gray16.png", "faces/9/b.PNG");
    copy_golden("io_rgb8.png", "faces/9/c.png");
    io_write_text("faces/10/p2.pgm", "P2 # plain\n3 2\n255\n0 100 255\n1 2 3\n");
    io_write("faces/10/p5.pgm", "P5\n3 2\n255\n\0\x64\xff\1\2\3", 17);
    io_write("faces/10/p5w.pgm", "P5 3 2 65535\n\0\0\x64\x64\xff\xff\1\1\2\2\3\3", 25);
    io_write_text("faces/10/notes.txt", "not an image");
    assert_ok(huddle_data_read(NULL, io_path("faces"), NULL, &data));
    assert_string_equal(data.format, "images");
    assert_int_equal(data.points.n, 6);
    assert_int_equal(data.height, 2);
    assert_int_equal(data.width, 3);
    assert_string_equal(data.classes[0], "9"); /* by value, not by text */
    assert_int_equal(data.labels[0], 1);
    for (int i = 0; i < 36; i++)
        assert_close(data.points.values[i], expected[i % 6], 1e-6);
    huddle_data_free(&data);
    copy_golden("io_gray1.png", "faces/9/d.png");
    assert_ok(huddle_data_read(NULL, io_path("faces/9"), NULL, &data)); /* no class folders */
    assert_null(data.labels);
    assert_close(data.points.values[3 * 6 + 1], 255, 0);
    huddle_data_free(&data);
    io_write_text("faces/9/e.pgm", "P2 2 2 255 1 2 3 4\n");
    assert_refused(huddle_data_read(NULL, io_path("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: the image is 2 x 2, but ");
    io_write_text("faces/9/e.pgm", "P2 3 2 255 1 2 3 4\n");
    assert_refused(huddle_data_read(NULL, io_path("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: pixel 5 is missing");
    assert_memory_equal(huddle_last_error(), "/tmp/", 5);
    io_write_text("faces/9/e.pgm", "P5 30000 30000 255\n1234");
    assert_refused(huddle_data_read(NULL, io_path("faces"), NULL, &data), HUDDLE_FORMAT,
                   "faces/9/e.pgm: the PGM header claims");
    io_write_text("faces/9/e.pgm", "GIF89a");
    assert_refused(huddle_data_read(NULL, io_path("faces"), NULL, &data), HUDDLE_FORMAT,
                   "neither PGM (P2, P5), PPM (P3, P6), PNG, JPEG, TIFF nor BMP");
    remove(io_path("faces/9/e.pgm"));
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", io_path("p-images-idx3-ubyte.gz"));
    test_each_allocation(io_read_and_free, path);
    if (!io_has_library("io_gray8.png"))
        skip();
    snprintf(path, sizeof path, "%s", io_path("faces"));
    test_each_allocation(io_read_and_free, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_labels_are_found_beside_the_images),
        cmocka_unit_test(folders_of_images_are_read),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
