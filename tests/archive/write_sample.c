/* write_sample FOLDER: writes archives with src/archive for check.py to open. */
#include "archive/npy.h"
#include "base/check.h"

#include <stdio.h>

/* Text and arrays, as a model file has them. A low `max_plain` forces the ZIP64 records that
 * otherwise only files of 4 GB have. */
static huddle_status write_archive(const char *path, int64_t max_plain) {
    huddle_status status = HUDDLE_OK;
    const float floats[] = {0, 1, 2, 3, 4, 5};
    const double doubles[] = {0.5, -1};
    const int32_t small[] = {7, -8, 9};
    const int64_t large[] = {INT64_MAX}, dims[] = {2, 3}, two = 2, three = 3, none = 0;
    hd_zip_writer zip;
    TRY(hd_zip_create(path, &zip));
    if (max_plain >= 0)
        zip.max_plain = max_plain;
    TRY(hd_zip_add(&zip, "model.json", HD_ZIP_DEFLATED, "{\"n\": 1}", 8));
    TRY(hd_npy_add(&zip, "f4", HD_ZIP_DEFLATED, "<f4", 2, dims, floats));
    TRY(hd_npy_add(&zip, "f8", HD_ZIP_STORED, "<f8", 1, &two, doubles));
    TRY(hd_npy_add(&zip, "i4", HD_ZIP_STORED, "<i4", 1, &three, small));
    TRY(hd_npy_add(&zip, "i8", HD_ZIP_STORED, "<i8", 0, NULL, large));
    TRY(hd_npy_add(&zip, "b1", HD_ZIP_DEFLATED, "|b1", 1, &two, "\0\1"));
    TRY(hd_npy_add(&zip, "none", HD_ZIP_DEFLATED, "<f8", 1, &none, doubles));
    TRY(hd_npy_add(&zip,
                   "gr\xc3\xbc\xc3\x9f"
                   "e",
                   HD_ZIP_STORED, "|u1", 1, &two, "\2\3"));
done:
    return hd_zip_close(&zip, status);
}

int main(int argc, char **argv) {
    char path[4096];
    for (int64_t limit = -1; argc == 2 && limit < 900; limit = limit < 0 ? 0 : limit + 50) {
        snprintf(path, sizeof path, "%s/sample%lld.npz", argv[1], (long long)limit);
        if (write_archive(path, limit) != HUDDLE_OK) {
            fprintf(stderr, "%s\n", huddle_last_error());
            return 1;
        }
    }
    return argc == 2 ? 0 : 2;
}
