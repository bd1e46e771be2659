/* What the fuzz targets share. Any bytes are a file; reading it must return data or an error with a
 * message, using memory in proportion to the bytes. */
#ifndef HUDDLE_TESTS_FUZZ_H
#define HUDDLE_TESTS_FUZZ_H

#include "base/memory.h"
#include "huddle/io.h"
#include "io/formats.h"

#include <fcntl.h>
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

/* One thread, which is faster for small files. */
static inline huddle_context *fuzz_context(void) {
    static huddle_context *context;
    if (context == NULL && (huddle_context_new(&context) != HUDDLE_OK ||
                            huddle_context_set_threads(context, 1) != HUDDLE_OK))
        abort();
    return context;
}

/* What a reader returns must be valid input for every other stage. */
static inline void fuzz_check(huddle_status status, huddle_data *data) {
    if (status != HUDDLE_OK) {
        if (huddle_last_error()[0] == '\0' || status == HUDDLE_INTERNAL)
            abort();
        return;
    }
    if (huddle_points_check(fuzz_context(), &data->points) != HUDDLE_OK)
        abort();
    for (int64_t i = 0; data->row_names != NULL && i <= data->points.n; i++)
        if ((data->row_names[i] == NULL) != (i == data->points.n))
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
    hd_io_request request = {fuzz_context(), &options, "input"};
    hd_file file = {"input-images-idx3", NULL, (int64_t)size - 1, -1};
    hd_io_variable *variable;
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
            status = hd_io_data_select(fuzz_context(), &options, &data);
        fuzz_check(status, &data);
        if (container.count > 0 && container.load != NULL &&
            hd_io_container_find_labels(&container, &variable) == HUDDLE_OK)
            (void)hd_io_container_append(&container, variable, &labels);
    }
    hd_io_labels_free(&labels);
    huddle_data_free(&data);
    hd_io_container_close(&container);
    free(copy);
    return 0;
}

/* Puts the bytes into a temporary file, in memory, for readers that open files by name. The file is
 * made once: making one for each input would take longer than reading it. */
static const char *fuzz_path;

static inline void fuzz_remove(void) {
    (void)unlink(fuzz_path);
}

static inline const char *fuzz_put(const uint8_t *bytes, size_t size, const char *extension) {
    static char path[64];
    static int descriptor = -1;
    if (descriptor < 0) {
        snprintf(path, sizeof path, "/dev/shm/huddle-fuzz-%ld.%s", (long)getpid(), extension);
        fuzz_path = path;
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (descriptor < 0 || atexit(fuzz_remove) != 0)
            abort();
    }
    if (ftruncate(descriptor, (off_t)size) != 0 ||
        pwrite(descriptor, bytes, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* The bytes after the first as a file of that kind. */
static inline int fuzz_file(const uint8_t *bytes, size_t size, const char *extension) {
    huddle_data data;
    if (size < 2)
        return 0;
    huddle_read_options options = fuzz_options(bytes[0]);
    const char *path = fuzz_put(bytes + 1, size - 1, extension);
    fuzz_check(huddle_data_read(fuzz_context(), path, &options, &data), &data);
    huddle_data_free(&data);
    return 0;
}

#endif
