/* Zip archives in files, for tests: the library opens those in memory. */
#ifndef HUDDLE_TESTS_ZIP_FILES_H
#define HUDDLE_TESTS_ZIP_FILES_H

#include "archive/file.h"
#include "archive/zip.h"
#include "base/check.h"
#include "base/text.h"

/* Opens a copy of the file, which zip_close() frees. */
static inline huddle_status zip_open(const char *path, hd_zip *zip) {
    hd_file file;
    *zip = (hd_zip){0};
    huddle_status status = hd_file_open(path, &file);
    if (status != HUDDLE_OK)
        return status;
    char *copy = hd_copy_part(file.text, file.size);
    int64_t size = file.size;
    hd_file_close(&file);
    status = copy == NULL ? hd_fail(HUDDLE_NO_MEMORY, "no memory for a copy of %s", path)
                          : hd_zip_open_memory(copy, size, zip);
    if (status != HUDDLE_OK)
        huddle_free(copy);
    return status;
}

static inline void zip_close(hd_zip *zip) {
    huddle_free((void *)(uintptr_t)zip->bytes);
    hd_zip_free(zip);
}

#endif
