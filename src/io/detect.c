#include "base/check.h"
#include "io/formats.h"

#include <stdio.h>
#include <string.h>

static const hd_io_format formats[] = {
    {"npy", {"npy"}, hd_io_npy_is, hd_io_npy_open},
    {"npz", {"npz"}, hd_io_npz_is, hd_io_npz_open},
    {"mat", {"mat"}, hd_io_mat_is, hd_io_mat_open},
    {"hdf5", {"h5", "hdf5", "hdf"}, hd_io_hdf5_is, hd_io_hdf5_open},
    {"idx", {"idx", "idx3-ubyte", "idx1-ubyte"}, hd_io_idx_is, hd_io_idx_open},
    {"matrixmarket", {"mtx", "mm"}, hd_io_matrixmarket_is, hd_io_matrixmarket_open},
    {"libsvm", {"svm", "libsvm", "svmlight"}, hd_io_libsvm_is, hd_io_libsvm_open},
};

static const hd_io_format csv = {"csv", {"csv", "tsv", "txt"}, NULL, NULL};

static bool named(const hd_io_format *format, const char *path) {
    char packed[32];
    for (int k = 0; k < 4 && format->extensions[k] != NULL; k++) {
        snprintf(packed, sizeof packed, "%s.gz", format->extensions[k]);
        if (hd_has_extension(path, format->extensions[k]) || hd_has_extension(path, packed))
            return true;
    }
    return false;
}

/* Text holds no zero bytes and few control characters. */
static bool is_text(const hd_file *file) {
    int64_t size = file->size < 4096 ? file->size : 4096;
    for (int64_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)file->text[i];
        if (c < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f')
            return false;
    }
    return (unsigned char)file->text[0] != 0x93;
}

static bool is_image(const hd_file *file) {
    const char *t = file->text;
    return file->size > 4 &&
           (memcmp(t, "\x89PNG", 4) == 0 || memcmp(t, "\xff\xd8\xff", 3) == 0 ||
            (t[0] == 'P' && t[1] >= '1' && t[1] <= '6' && (t[2] == '\n' || t[2] == ' ')));
}

huddle_status hd_io_detect(const hd_file *file, const hd_io_format **format) {
    const hd_io_format *claimed = NULL;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        if (formats[k].is(file)) {
            *format = &formats[k];
            return HUDDLE_OK;
        }
        if (named(&formats[k], file->path))
            claimed = &formats[k];
    }
    if (is_image(file))
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "a single image is not a data set; give the folder of its class folders");
    if (is_text(file)) {
        /* A line of a label alone is LIBSVM's when the name says so. */
        *format = claimed != NULL && claimed->open == hd_io_libsvm_open ? claimed : &csv;
        return HUDDLE_OK;
    }
    if (claimed != NULL)
        return hd_fail(HUDDLE_FORMAT, "the content is not %s, nor any other format Huddle reads",
                       claimed->name);
    return hd_fail(HUDDLE_FORMAT, "the content is of no format Huddle reads");
}

huddle_status hd_io_open_container(hd_io_request *request, const hd_io_format *format,
                                   const hd_file *file, hd_io_container *container) {
    memset(container, 0, sizeof *container);
    container->format = format->name;
    container->file = file;
    return format->open(request, file, container);
}
