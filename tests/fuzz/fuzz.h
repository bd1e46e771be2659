/* What the fuzz targets share. Any bytes are a file; reading it must return data or an error with a
 * message, using memory in proportion to the bytes. */
#ifndef HUDDLE_TESTS_FUZZ_H
#define HUDDLE_TESTS_FUZZ_H

#include "base/memory.h"
#include "huddle/io.h"
#include "io/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The first byte selects options, so that all of them are exercised. */
static inline huddle_read_options fuzz_options(uint8_t choice) {
    static const char *const none[] = {"none"}, *const first[] = {"1"}, *const range[] = {"1-2"};
    huddle_read_options options = {.transpose = (choice & 1) != 0};
    if ((choice & 6) == 2) {
        options.y = none;
        options.n_y = 1;
    } else if ((choice & 6) == 4) {
        options.y = first;
        options.n_y = 1;
    }
    if ((choice & 24) == 8) {
        options.x = range;
        options.n_x = 1;
    }
    options.per_class = (choice & 32) != 0 ? 2 : 0;
    options.classes = (choice & 192) == 192 ? "1-3" : NULL;
    return options;
}

/* What a reader returns must be valid input for every other stage. */
static inline void fuzz_check(huddle_status status, huddle_data *data) {
    if (status != HUDDLE_OK) {
        if (huddle_last_error()[0] == '\0' || status == HUDDLE_INTERNAL)
            abort();
        return;
    }
    if (huddle_points_check(NULL, &data->points) != HUDDLE_OK)
        abort();
    for (int64_t i = 0; data->labels != NULL && i < data->points.n; i++)
        if (data->labels[i] < 0 || data->labels[i] >= data->n_classes)
            abort();
}

/* Opens the bytes, in memory of their exact size, as that format, and reads them. */
static inline int fuzz_container(const uint8_t *bytes, size_t size, bool (*is)(const hd_file *),
                                 huddle_status (*open)(hd_io_request *, const hd_file *,
                                                       hd_io_container *)) {
    if (size < 2)
        return 0;
    huddle_read_options options = fuzz_options(bytes[0]);
    hd_io_request request = {NULL, &options, "input"};
    hd_file file = {"input-images-idx3", NULL, (int64_t)size - 1, -1};
    hd_io_container container = {.format = "fuzzed", .file = &file};
    hd_io_labels labels = {0};
    huddle_data data = {0};
    char *copy = malloc(size - 1);
    memcpy(copy, bytes + 1, size - 1);
    file.text = copy;
    if (is(&file)) {
        huddle_status status = open(&request, &file, &container);
        if (status == HUDDLE_OK)
            status = hd_io_container_read(&request, &container, &data);
        if (status == HUDDLE_OK)
            status = hd_io_data_select(NULL, &options, &data);
        fuzz_check(status, &data);
        if (container.count > 0 && container.load != NULL)
            (void)hd_io_container_labels(&container, &labels);
    }
    hd_io_labels_free(&labels);
    huddle_data_free(&data);
    hd_io_container_close(&container);
    free(copy);
    return 0;
}

/* Writes the bytes after the first to a temporary file and reads it, for readers that open files by
 * name. */
static inline int fuzz_file(const uint8_t *bytes, size_t size, const char *extension) {
    char path[64];
    huddle_data data;
    if (size < 2)
        return 0;
    huddle_read_options options = fuzz_options(bytes[0]);
    snprintf(path, sizeof path, "/dev/shm/huddle-fuzz-%ld.%s", (long)getpid(), extension);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        abort();
    fwrite(bytes + 1, 1, size - 1, file);
    fclose(file);
    fuzz_check(huddle_data_read(NULL, path, &options, &data), &data);
    huddle_data_free(&data);
    remove(path);
    return 0;
}

#endif
