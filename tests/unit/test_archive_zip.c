/* archive: zip files, written and read, and every kind of damage. Golden files by
 * tests/golden/make_archive.py; tests/archive/check.py opens what is written here in Python. */
#include "archive/npy.h"
#include "archive/zip_records.h"
#include "base/memory.h"
#include "support/support.h"
#include "unit/zip_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const char *folder, const char *name) {
    static char path[4][512];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void assert_content(const hd_zip *zip, const char *name, const char *expected) {
    const hd_zip_entry *entry = hd_zip_find(zip, name);
    char *bytes;
    assert_non_null(entry);
    assert_ok(hd_zip_read(zip, entry, &bytes));
    assert_int_equal(entry->size, strlen(expected));
    assert_string_equal(bytes, expected);
    huddle_free(bytes);
}

/* Three entries, one of them in pieces; with `max_plain` the smallest size that needs ZIP64. */
static huddle_status write_three(const char *path, int64_t max_plain) {
    hd_zip_writer zip;
    huddle_status status = hd_zip_create(path, &zip);
    if (max_plain >= 0)
        zip.max_plain = max_plain;
    if (status == HUDDLE_OK)
        status = hd_zip_add(&zip, "stored.txt", HD_ZIP_STORED, "some text", 9);
    if (status == HUDDLE_OK)
        status = hd_zip_begin(&zip, "folder/pieces.txt", HD_ZIP_DEFLATED, 12);
    for (int k = 0; status == HUDDLE_OK && k < 3; k++)
        status = hd_zip_write(&zip, "abcd", 4);
    if (status == HUDDLE_OK)
        status = hd_zip_end(&zip);
    if (status == HUDDLE_OK)
        status = hd_zip_add(&zip, "empty", HD_ZIP_DEFLATED, NULL, 0);
    return hd_zip_close(&zip, status);
}

static void assert_three(const char *path) {
    hd_zip zip;
    assert_ok(zip_open(path, &zip));
    assert_int_equal(zip.count, 3);
    assert_string_equal(zip.entries[0].name, "stored.txt");
    assert_content(&zip, "stored.txt", "some text");
    assert_content(&zip, "folder/pieces.txt", "abcdabcdabcd");
    assert_content(&zip, "empty", "");
    assert_null(hd_zip_find(&zip, "absent"));
    zip_close(&zip);
}

static void test_round_trip(void **state) {
    (void)state;
    const char *path = path_of(test_directory(), "plain.zip");
    int64_t size, again;
    assert_ok(write_three(path, -1));
    assert_three(path);
    char *first = test_read_file(path, &size);
    assert_ok(write_three(path, -1));
    char *second = test_read_file(path, &again);
    assert_int_equal(size, again);
    assert_memory_equal(first, second, (size_t)size);
    free(first);
    free(second);
}

/* Sizes and offsets above the limit move to the ZIP64 records; those below do not. */
static void test_zip64(void **state) {
    (void)state;
    const char *path = path_of(test_directory(), "wide.zip");
    for (int64_t limit = 0; limit < 200; limit += 9) {
        assert_ok(write_three(path, limit));
        assert_three(path);
    }
    int64_t size;
    assert_ok(write_three(path, 0));
    char *bytes = test_read_file(path, &size);
    assert_int_equal(hd_zip_number(bytes + 22, 4), HD_ZIP_ESCAPE_32); /* the size of entry 1 */
    assert_int_equal(hd_zip_number(bytes + size - 22 - 20, 4), HD_ZIP_LOCATOR64);
    free(bytes);
}

static void test_many_entries(void **state) {
    (void)state;
    enum { COUNT = 66000 };
    const char *path = path_of(test_directory(), "many.zip");
    hd_zip_writer writer;
    hd_zip zip;
    char name[16];
    assert_ok(hd_zip_create(path, &writer));
    for (int k = 0; k < COUNT; k++) {
        snprintf(name, sizeof name, "%d", k);
        assert_ok(hd_zip_add(&writer, name, HD_ZIP_STORED, name, 1));
    }
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    assert_ok(zip_open(path, &zip));
    assert_int_equal(zip.count, COUNT);
    assert_content(&zip, "65999", "6");
    zip_close(&zip);
}

/* What does not fit into zlib's output buffer at once, and does not shrink. */
static void test_large_entry(void **state) {
    (void)state;
    enum { SIZE = 1000000 };
    const char *path = path_of(test_directory(), "large.zip");
    hd_zip_writer writer;
    hd_zip zip;
    char *noise = malloc(SIZE), *back;
    uint64_t x = 1;
    for (int k = 0; k < SIZE; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        noise[k] = (char)(x >> 56);
    }
    assert_ok(hd_zip_create(path, &writer));
    assert_ok(hd_zip_add(&writer, "noise", HD_ZIP_DEFLATED, noise, SIZE));
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    assert_ok(zip_open(path, &zip));
    assert_true(zip.entries[0].packed > SIZE);
    assert_ok(hd_zip_read(&zip, &zip.entries[0], &back));
    assert_memory_equal(noise, back, SIZE);
    huddle_free(back);
    zip_close(&zip);
    free(noise);
}

/* A failed archive leaves the file that was there. */
static void test_failed_archive(void **state) {
    (void)state;
    const char *path = path_of(test_directory(), "kept.zip");
    hd_zip_writer zip;
    assert_ok(write_three(path, -1));
    assert_ok(hd_zip_create(path, &zip));
    assert_ok(hd_zip_begin(&zip, "a", HD_ZIP_STORED, 5));
    assert_ok(hd_zip_write(&zip, "abc", 3));
    huddle_status status = hd_zip_end(&zip);
    assert_refused(status, HUDDLE_INTERNAL, "entry 'a': expected 5 bytes, got 3");
    assert_int_equal(hd_zip_close(&zip, status), HUDDLE_INTERNAL);
    assert_three(path);
    assert_refused(hd_zip_create("/nowhere/a.zip", &zip), HUDDLE_IO, "/nowhere/a.zip");
    assert_int_equal(hd_zip_close(&zip, HUDDLE_IO), HUDDLE_IO);
}

/* ---- damage ------------------------------------------------------------------------------- */

typedef struct image {
    char *bytes;
    int64_t size, end, central, second; /* end record, first and second directory record */
} image;

static image make_image(void) {
    image i = {0};
    const char *path = path_of(test_directory(), "image.zip");
    assert_ok(write_three(path, -1));
    i.bytes = test_read_file(path, &i.size);
    i.end = i.size - HD_ZIP_END_SIZE;
    i.central = (int64_t)hd_zip_number(i.bytes + i.end + 16, 4);
    i.second = i.central + HD_ZIP_CENTRAL_SIZE + 10;
    return i;
}

/* Opens and reads everything after bytes at `offset` were replaced. */
static huddle_status read_changed(const image *i, int64_t offset, int bytes, uint64_t value) {
    char *copy = malloc((size_t)i->size);
    hd_zip zip;
    memcpy(copy, i->bytes, (size_t)i->size);
    hd_zip_store(copy + offset, bytes, value);
    huddle_status status = hd_zip_open_memory(copy, i->size, &zip);
    for (int64_t k = 0; status == HUDDLE_OK && k < zip.count; k++) {
        char *content;
        status = hd_zip_read(&zip, &zip.entries[k], &content);
        huddle_free(content);
    }
    hd_zip_free(&zip);
    free(copy);
    return status;
}

static void test_damaged_directory(void **state) {
    (void)state;
    image i = make_image();
    assert_ok(read_changed(&i, 0, 0, 0));
    assert_refused(read_changed(&i, i.end, 1, 0), HUDDLE_FORMAT, "has no directory");
    assert_refused(read_changed(&i, i.end + 4, 2, 1), HUDDLE_UNSUPPORTED, "several files");
    assert_refused(read_changed(&i, i.end + 10, 2, 60000), HUDDLE_FORMAT, "does not fit");
    assert_refused(read_changed(&i, i.end + 10, 2, 4), HUDDLE_FORMAT, "does not fit");
    assert_refused(read_changed(&i, i.end + 12, 4, 1 << 30), HUDDLE_FORMAT, "does not fit");
    assert_refused(read_changed(&i, i.end + 16, 4, 1 << 30), HUDDLE_FORMAT, "does not fit");
    assert_refused(read_changed(&i, i.central, 4, 0), HUDDLE_FORMAT, "cut short");
    assert_refused(read_changed(&i, i.central + 8, 2, 1), HUDDLE_UNSUPPORTED, "encrypted");
    assert_refused(read_changed(&i, i.central + 10, 2, 12), HUDDLE_UNSUPPORTED,
                   "'stored.txt' is compressed by method 12");
    assert_refused(read_changed(&i, i.central + 20, 4, 1 << 20), HUDDLE_FORMAT,
                   "claims 1048576 bytes");
    assert_refused(read_changed(&i, i.central + 24, 4, 8), HUDDLE_FORMAT,
                   "'stored.txt' cannot unpack to 8 bytes");
    assert_refused(read_changed(&i, i.second + 24, 4, 1 << 30), HUDDLE_FORMAT,
                   "'folder/pieces.txt' cannot unpack to");
    assert_refused(read_changed(&i, i.central + 42, 4, 5), HUDDLE_FORMAT, "not where it says");
    assert_refused(read_changed(&i, i.central + 42, 4, 1 << 30), HUDDLE_FORMAT, "not where");
    assert_refused(read_changed(&i, i.central + 28, 2, 60000), HUDDLE_FORMAT, "cut short");
    free(i.bytes);
}

/* A locator of a ZIP64 directory so near the beginning that no directory fits before it. The offset
 * that it gives would lead far out of the file. */
static void test_locator_at_the_beginning(void **state) {
    (void)state;
    static const uint64_t offsets[] = {0, 1, UINT64_C(1) << 46, INT64_MAX, UINT64_MAX};
    for (int64_t locator = 0; locator < HD_ZIP_END64_SIZE; locator += 5)
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
            int64_t size = locator + HD_ZIP_LOCATOR64_SIZE + HD_ZIP_END_SIZE;
            char *bytes = calloc(1, (size_t)size);
            hd_zip zip;
            hd_zip_store(bytes + locator, 4, HD_ZIP_LOCATOR64);
            hd_zip_store(bytes + locator + 8, 8, offsets[k]);
            hd_zip_store(bytes + locator + 16, 4, 1);
            hd_zip_store(bytes + locator + HD_ZIP_LOCATOR64_SIZE, 4, HD_ZIP_END);
            assert_refused(hd_zip_open_memory(bytes, size, &zip), HUDDLE_FORMAT,
                           "its ZIP64 directory is missing");
            free(bytes);
        }
}

static void test_damaged_content(void **state) {
    (void)state;
    image i = make_image();
    int64_t content = HD_ZIP_LOCAL_SIZE + 10;
    int64_t second = (int64_t)hd_zip_number(i.bytes + i.second + 42, 4) + HD_ZIP_LOCAL_SIZE + 17;
    assert_refused(read_changed(&i, content, 1, 'S'), HUDDLE_FORMAT,
                   "entry 'stored.txt' is damaged: its CRC-32 is");
    assert_refused(read_changed(&i, i.central + 16, 4, 1), HUDDLE_FORMAT, "not 00000001");
    assert_refused(read_changed(&i, second, 1, 0xFF), HUDDLE_FORMAT,
                   "entry 'folder/pieces.txt' is damaged");
    assert_refused(read_changed(&i, i.second + 24, 4, 13), HUDDLE_FORMAT, "damaged or cut short");
    assert_refused(read_changed(&i, i.second + 24, 4, 11), HUDDLE_FORMAT, "CRC-32");
    assert_refused(read_changed(&i, 28, 2, 60000), HUDDLE_FORMAT, "damaged or cut short");
    for (int64_t size = 0; size < i.size; size++) {
        hd_zip zip;
        char *exact = malloc((size_t)size + 1);
        memcpy(exact, i.bytes, (size_t)size);
        assert_int_equal(hd_zip_open_memory(exact, size, &zip), HUDDLE_FORMAT);
        free(exact);
    }
    free(i.bytes);
}

static huddle_status reread_name(const char *first, const char *second) {
    const char *path = path_of(test_directory(), "names.zip");
    hd_zip_writer writer;
    hd_zip zip;
    assert_ok(hd_zip_create(path, &writer));
    assert_ok(hd_zip_add(&writer, first, HD_ZIP_STORED, "a", 1));
    assert_ok(hd_zip_add(&writer, second, HD_ZIP_STORED, "b", 1));
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    huddle_status status = zip_open(path, &zip);
    zip_close(&zip);
    return status;
}

static void test_names(void **state) {
    (void)state;
    static const char *const refused[] = {"/etc/passwd", "../up", "a/../b", "a/..",
                                          "a\\b",        "a\nb",  "\x7f"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        assert_refused(reread_name("a", refused[k]), HUDDLE_FORMAT, "plain relative path");
    assert_refused(reread_name("same", "same"), HUDDLE_FORMAT, "two entries 'same'");
    assert_ok(reread_name("..a/b..", "\xc3\xa4/..."));
}

/* Two directory records for one local entry would unpack the same bytes twice. */
static void test_overlap(void **state) {
    (void)state;
    image i = make_image();
    const char *path = path_of(test_directory(), "long.zip");
    hd_zip_writer writer;
    char text[300] = {0};
    assert_ok(hd_zip_create(path, &writer));
    assert_ok(hd_zip_add(&writer, "a", HD_ZIP_STORED, text, sizeof text));
    assert_ok(hd_zip_add(&writer, "b", HD_ZIP_STORED, text, 1));
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    free(i.bytes);
    i.bytes = test_read_file(path, &i.size);
    i.central = (int64_t)hd_zip_number(i.bytes + i.size - 6, 4);
    i.second = i.central + HD_ZIP_CENTRAL_SIZE + 1;
    for (int k = 16; k < 28; k++) /* CRC-32 and sizes of the first */
        i.bytes[i.second + k] = i.bytes[i.central + k];
    hd_zip_store(i.bytes + i.second + 42, 4, 0);
    assert_refused(read_changed(&i, 0, 0, 0), HUDDLE_FORMAT, "overlap");
    free(i.bytes);
}

/* ---- memory and arrays -------------------------------------------------------------------- */

static huddle_status write_and_read(void *argument) {
    const char *path = argument;
    hd_zip zip = {0};
    char *bytes = NULL;
    huddle_status status = write_three(path, -1);
    if (status == HUDDLE_OK)
        status = zip_open(path, &zip);
    if (status == HUDDLE_OK)
        status = hd_zip_read(&zip, &zip.entries[1], &bytes);
    huddle_free(bytes);
    zip_close(&zip);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/memory.zip", test_directory());
    test_each_allocation(write_and_read, path);
}

static void test_arrays(void **state) {
    (void)state;
    const char *path = path_of(test_directory(), "arrays.npz");
    const int64_t dims[] = {2, 3}, one = 1;
    const double values[] = {1, 2, 3, 4, 5, 6};
    double back[6];
    hd_zip_writer writer;
    hd_zip zip;
    hd_npy npy;
    char *bytes;
    assert_ok(hd_zip_create(path, &writer));
    assert_ok(hd_npy_add(&writer, "X", HD_ZIP_DEFLATED, "<f8", 2, dims, values));
    assert_ok(hd_npy_add(&writer, "word", HD_ZIP_STORED, "<U2", 1, &one, "h\0\0\0i\0\0\0"));
    assert_ok(hd_npy_add(&writer, "flag", HD_ZIP_STORED, "|b1", 0, NULL, "\1"));
    char *header;
    int64_t length;
    assert_ok(hd_npy_header("<f8", 2, dims, &header, &length));
    assert_ok(hd_zip_begin(&writer, "short.npy", HD_ZIP_STORED, length + 8));
    assert_ok(hd_zip_write(&writer, header, length));
    assert_ok(hd_zip_write(&writer, values, 8));
    assert_ok(hd_zip_end(&writer));
    huddle_free(header);
    assert_ok(hd_zip_add(&writer, "text.npy", HD_ZIP_STORED, "not an array, but long", 22));
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    assert_ok(zip_open(path, &zip));
    assert_ok(hd_npy_read(&zip, hd_zip_find(&zip, "X.npy"), &npy, &bytes));
    assert_true(npy.kind == 'f' && npy.width == 8 && npy.rank == 2 && !npy.fortran);
    assert_true(npy.dims[0] == 2 && npy.dims[1] == 3 && npy.count == 6 && npy.bytes == 48);
    assert_memory_equal(bytes, values, sizeof values);
    huddle_free(bytes);
    assert_ok(hd_npy_read_to(&zip, hd_zip_find(&zip, "X.npy"), back, sizeof back));
    assert_memory_equal(back, values, sizeof values);
    assert_refused(hd_npy_read_to(&zip, hd_zip_find(&zip, "X.npy"), back, 40), HUDDLE_FORMAT,
                   "'X.npy' has 48 bytes of elements, not 40");
    assert_ok(hd_npy_peek(&zip, hd_zip_find(&zip, "word.npy"), &npy));
    assert_true(npy.kind == 'U' && npy.width == 2 && npy.bytes == 8);
    assert_ok(hd_npy_peek(&zip, hd_zip_find(&zip, "flag.npy"), &npy));
    assert_true(npy.kind == 'b' && npy.rank == 0 && npy.count == 1);
    assert_refused(hd_npy_peek(&zip, hd_zip_find(&zip, "text.npy"), &npy), HUDDLE_FORMAT,
                   "'text.npy' is not an array");
    assert_refused(hd_npy_peek(&zip, hd_zip_find(&zip, "short.npy"), &npy), HUDDLE_FORMAT,
                   "'short.npy' needs 48 bytes, but only 8 follow");
    zip_close(&zip);
}

static huddle_status parse_header(const char *dictionary, hd_npy *npy) {
    char text[512];
    size_t length = strlen(dictionary);
    memcpy(text, "\x93NUMPY\1\0", 8);
    hd_zip_store(text + 8, 2, length);
    memcpy(text + 10, dictionary, length);
    return hd_npy_parse(text, (int64_t)length + 10, npy);
}

static void test_headers(void **state) {
    (void)state;
    hd_npy npy;
    assert_ok(parse_header("{'descr': '>i4', 'fortran_order': True, 'shape': (3L, 4), }", &npy));
    assert_true(npy.kind == 'i' && npy.width == 4 && npy.swapped && npy.fortran && npy.rank == 2);
    assert_int_equal(npy.bytes, 48);
    assert_ok(parse_header("{'descr': '|u1', 'shape': (1,1,1,1,1,1,1,1,1,2), }", &npy));
    assert_true(npy.rank == 10 && npy.count == 2 && !npy.swapped);
    assert_ok(parse_header("{'descr': [('a', '<f4')], 'shape': (3,), }", &npy));
    assert_true(npy.kind == 'V' && npy.bytes == 0);
    assert_ok(parse_header("{'descr': '|O', 'shape': (3,), }", &npy));
    assert_true(npy.kind == 'O' && npy.bytes == 0);
    assert_refused(parse_header("{'shape': (3,), }", &npy), HUDDLE_FORMAT, "no type");
    assert_refused(parse_header("{'descr': '<f4'}", &npy), HUDDLE_FORMAT, "no shape");
    assert_refused(parse_header("{'descr': '<f4', 'shape': (x,)}", &npy), HUDDLE_FORMAT, "damaged");
    assert_refused(parse_header("{'descr': '<", &npy), HUDDLE_FORMAT, "damaged type");
    assert_refused(parse_header("{'descr': '<f1234567890', 'shape': ()}", &npy), HUDDLE_FORMAT,
                   "damaged type");
    assert_refused(parse_header("{'descr': '<U0', 'shape': (1,)}", &npy), HUDDLE_FORMAT,
                   "strings of length 0");
    assert_refused(parse_header("{'descr': '<f8', 'shape': (999999999999, 999999999999)}", &npy),
                   HUDDLE_FORMAT, "invalid size");
    assert_refused(parse_header("{'descr': '<f8', 'shape': (999999999999999999,)}", &npy),
                   HUDDLE_FORMAT, "invalid size");
    /* A length of 0 does not hide the others. */
    assert_refused(parse_header("{'descr': '<f8', 'shape': (0, 999999999999, 999999999999)}", &npy),
                   HUDDLE_FORMAT, "invalid size");
    assert_ok(parse_header("{'descr': '<f8', 'shape': (3, 0, 7)}", &npy));
    assert_true(npy.count == 0 && npy.bytes == 0 && npy.dims[2] == 7);
    assert_refused(hd_npy_parse("\x93NUMPY\1\0\xff\0{}", 12, &npy), HUDDLE_FORMAT, "cut short");
}

/* What Python's zipfile and NumPy wrote. */
static void test_golden_files(void **state) {
    (void)state;
    hd_zip zip;
    hd_npy npy;
    char *bytes;
    assert_ok(zip_open(path_of(HUDDLE_GOLDEN, "archive_python.zip"), &zip));
    assert_int_equal(zip.count, 3);
    assert_content(&zip, "stored.txt", "stored by Python\n");
    assert_content(&zip,
                   "folder/d\xc3\xa9"
                   "flated.txt",
                   "deflated by Python, deflated by Python\n");
    assert_content(&zip, "wide.txt", "with a ZIP64 record");
    zip_close(&zip);
    assert_ok(zip_open(path_of(HUDDLE_GOLDEN, "archive_numpy.npz"), &zip));
    assert_ok(hd_npy_read(&zip, hd_zip_find(&zip, "i8.npy"), &npy, &bytes));
    assert_true(npy.kind == 'i' && npy.width == 8 && npy.rank == 3 && npy.count == 6);
    for (int64_t k = 0; k < 6; k++)
        assert_int_equal(((int64_t *)bytes)[k], k - 2);
    huddle_free(bytes);
    assert_ok(hd_npy_read(&zip, hd_zip_find(&zip, "b1.npy"), &npy, &bytes));
    assert_true(npy.kind == 'b' && npy.count == 2 && bytes[0] == 1 && bytes[1] == 0);
    huddle_free(bytes);
    zip_close(&zip);
}

/* Parts of an entry that several readers take: each has its bytes, and their checksums join to that
 * of the entry. */
static void test_parts(void **state) {
    (void)state;
    static const int64_t ends[] = {0, 0, 7, 90000, 90001, 250000};
    const char *path = path_of(test_directory(), "parts.zip");
    int64_t size = 250000;
    char *content = malloc((size_t)size), *part = malloc((size_t)size);
    hd_zip_writer writer;
    hd_zip zip;
    for (int64_t k = 0; k < size; k++)
        content[k] = (char)(k * k % 251);
    assert_ok(hd_zip_create(path, &writer));
    assert_ok(hd_zip_add(&writer, "stored", HD_ZIP_STORED, content, size));
    assert_ok(hd_zip_add(&writer, "deflated", HD_ZIP_DEFLATED, content, size));
    assert_ok(hd_zip_close(&writer, HUDDLE_OK));
    assert_ok(zip_open(path, &zip));
    for (int64_t e = 0; e < zip.count; e++) {
        const hd_zip_entry *entry = &zip.entries[e];
        uint32_t joined = 0, crc = 0;
        for (int k = 0; k < 5; k++) {
            int64_t from = ends[k], length = ends[k + 1] - from;
            assert_ok(hd_zip_read_part(&zip, entry, from, length, part));
            assert_memory_equal(part, content + from, (size_t)length);
            if (entry->method == HD_ZIP_DEFLATED) {
                assert_refused(hd_zip_part_crc(&zip, entry, from, length, &crc), HUDDLE_INTERNAL,
                               "deflated");
                continue;
            }
            assert_ok(hd_zip_part_crc(&zip, entry, from, length, &crc));
            joined = hd_zip_join_crc(joined, crc, length);
        }
        if (entry->method == HD_ZIP_STORED)
            assert_ok(hd_zip_check_crc(entry, joined));
        assert_refused(hd_zip_check_crc(entry, entry->crc ^ 1), HUDDLE_FORMAT, "CRC-32");
        assert_refused(hd_zip_read_part(&zip, entry, size - 1, 2, part), HUDDLE_FORMAT, "damaged");
        assert_refused(hd_zip_read_part(&zip, entry, -1, 2, part), HUDDLE_FORMAT, "damaged");
        assert_refused(hd_zip_read_part(&zip, entry, INT64_MAX, 2, part), HUDDLE_FORMAT, "damaged");
    }
    zip_close(&zip);
    free(content);
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_zip64),
        cmocka_unit_test(test_many_entries),
        cmocka_unit_test(test_large_entry),
        cmocka_unit_test(test_failed_archive),
        cmocka_unit_test(test_damaged_directory),
        cmocka_unit_test(test_damaged_content),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_golden_files),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_locator_at_the_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
