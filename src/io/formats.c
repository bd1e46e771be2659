/* The formats: what each is called, how it is recognised, which functions read and write it. The
 * two tables below are the only places that list them; messages, huddle_formats() and the tool's
 * `info --formats` derive from them. */
#include "io/formats.h"

#include "base/check.h"
#include "base/text.h"
#include "io/image.h"
#include "io/unpack.h"
#include "io/writers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Rows of both tables, in the order in which content is tested. A MAT v7.3 file is also an
 * HDF5 file and sparse ARFF is ARFF, so the more specific test comes first; LIBSVM is plain text
 * and comes last. */
enum {
    CSV,
    SPARSE_ARFF,
    ARFF,
    NPY,
    NPZ,
    MAT5,
    MAT73,
    HDF5,
    IDX,
    MATRIXMARKET,
    LIBSVM,
    PGM,
    BMP,
    PNG,
    JPEG,
    TIFF,
    N_FORMATS
};

/* The fields are those of huddle_format. HUDDLE_WITH_* are 0 or 1 and are set by the build;
 * the last row is all zero and ends the table. */
static const huddle_format formats[N_FORMATS + 1] = {
    [CSV] = {"csv", "table, columns separated by commas, tabs or blanks", ".csv .tsv .txt",
             ".csv .tsv .txt", true, false, NULL, true},
    [SPARSE_ARFF] = {"arff", "Weka, sparse", ".arff", NULL, false, true, NULL, true},
    [ARFF] = {"arff", "Weka", ".arff", NULL, true, false, NULL, true},
    [NPY] = {"npy", "NumPy array", ".npy", ".npy", true, false, NULL, true},
    [NPZ] = {"npz", "NumPy archive, also of scipy.sparse", ".npz", ".npz", true, true, NULL, true},
    [MAT5] = {"mat", "MATLAB up to v7", ".mat", ".mat", true, true, NULL, true},
    [MAT73] = {"mat", "MATLAB v7.3", ".mat", NULL, true, true, "HDF5", HUDDLE_WITH_HDF5},
    [HDF5] = {"hdf5", "HDF5", ".h5 .hdf5 .hdf", ".h5 .hdf5", true, false, "HDF5", HUDDLE_WITH_HDF5},
    [IDX] = {"idx", "IDX, as of MNIST", ".idx .idx3-ubyte .idx1-ubyte", NULL, true, false, NULL,
             true},
    [MATRIXMARKET] = {"matrixmarket", "MatrixMarket", ".mtx .mm", NULL, true, true, NULL, true},
    [LIBSVM] = {"libsvm", "LIBSVM and SVMlight", ".svm .libsvm .svmlight", ".svm .libsvm", true,
                true, NULL, true},
    [PGM] = {"images", "folder of PGM or PPM images", ".pgm .ppm", NULL, true, false, NULL, true},
    [BMP] = {"images", "folder of BMP images", ".bmp", NULL, true, false, NULL, true},
    [PNG] = {"images", "folder of PNG images", ".png", NULL, true, false, "libpng",
             HUDDLE_WITH_PNG},
    [JPEG] = {"images", "folder of JPEG images", ".jpg .jpeg", NULL, true, false, "libjpeg",
              HUDDLE_WITH_JPEG},
    [TIFF] = {"images", "folder of TIFF images, or one file of several pages", ".tif .tiff", NULL,
              true, false, "libtiff", HUDDLE_WITH_TIFF},
};

/* Tables have columns instead of variables and images are read by folder: neither is opened. What
 * needs a library that was left out is NULL. */
static const hd_io_format handlers[N_FORMATS] = {
    [CSV] = {.about = &formats[CSV], .write = hd_io_csv_write},
    [SPARSE_ARFF] = {&formats[SPARSE_ARFF], hd_io_arff_sparse_is, hd_io_arff_open, NULL, NULL},
    [ARFF] = {.about = &formats[ARFF], .is = hd_io_arff_is},
    [NPY] = {&formats[NPY], hd_io_npy_is, hd_io_npy_open, NULL, hd_io_npy_write, true},
    [NPZ] = {&formats[NPZ], hd_io_npz_is, hd_io_npz_open, NULL, hd_io_npz_write},
    [MAT5] = {&formats[MAT5], hd_io_mat5_is, hd_io_mat5_open, NULL, hd_io_mat_write},
    [MAT73] = {&formats[MAT73], hd_io_mat73_is, HUDDLE_WITH_HDF5 ? hd_io_mat73_open : NULL},
    [HDF5] = {&formats[HDF5], hd_io_hdf5_is, HUDDLE_WITH_HDF5 ? hd_io_hdf5_open : NULL, NULL,
              HUDDLE_WITH_HDF5 ? hd_io_hdf5_write : NULL, true},
    [IDX] = {&formats[IDX], hd_io_idx_is, hd_io_idx_open, NULL, NULL, true},
    [MATRIXMARKET] = {&formats[MATRIXMARKET], hd_io_matrixmarket_is, hd_io_matrixmarket_open},
    [LIBSVM] = {&formats[LIBSVM], hd_io_libsvm_is, hd_io_libsvm_open, NULL, hd_io_libsvm_write},
    [TIFF] = {.about = &formats[TIFF], .is = hd_io_tiff_is, .read = hd_io_pages_read},
};

const huddle_format *huddle_formats(void) {
    return formats;
}

/* ---- endings ------------------------------------------------------------------------------ */

/* Copies the next of several endings, without its dot, and returns what follows; NULL at the
 * end. 32 bytes suffice for every ending in the table. */
static const char *next_ending(const char *endings, char ending[32]) {
    size_t length;
    if (endings == NULL || *(endings += strspn(endings, " .")) == '\0')
        return NULL;
    length = strcspn(endings, " ");
    snprintf(ending, 32, "%.*s", (int)length, endings);
    return endings + length;
}

/* True if the first `length` bytes of the path have one of those endings. */
static bool has_ending(const char *path, int64_t length, const char *endings) {
    char ending[32], tail[64];
    const char *from = path + (length < 63 ? 0 : length - 63);
    snprintf(tail, sizeof tail, "%.*s", (int)(path + length - from), from);
    while ((endings = next_ending(endings, ending)) != NULL)
        if (hd_has_extension(tail, ending))
            return true;
    return false;
}

bool hd_io_image_named(const char *path) {
    for (int k = PGM; k <= TIFF; k++)
        if (has_ending(path, (int64_t)strlen(path), formats[k].endings))
            return true;
    return false;
}

/* The first format in the table with that ending. */
const hd_io_format *hd_io_find_writer(const char *path) {
    for (int k = 0; k < N_FORMATS; k++)
        if (has_ending(path, (int64_t)strlen(path), formats[k].write_endings))
            return &handlers[k];
    return NULL;
}

/* The last ending is joined by "or", so each is written when the next is known. */
void hd_io_list_write_endings(char *text, size_t size) {
    char ending[32], previous[32] = "";
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < N_FORMATS; k++)
        for (const char *rest = formats[k].write_endings;
             (rest = next_ending(rest, ending)) != NULL && used < size;
             memcpy(previous, ending, sizeof previous))
            if (previous[0] != '\0')
                used += (size_t)snprintf(text + used, size - used, used == 0 ? ".%s" : ", .%s",
                                         previous);
    if (used < size)
        snprintf(text + used, size - used, " or .%s", previous);
}

/* One sentence for every format that depends on a library, so that users find the same words
 * in the documentation. */
huddle_status hd_io_missing_library(const char *library, const char *format, ...) {
    char what[64];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return hd_fail(HUDDLE_UNSUPPORTED,
                   "%s need %s, which this build of Huddle was made without; huddle.read() of the "
                   "Python package reads them, and so does huddle from a Debian package or from "
                   "source",
                   what, library);
}

huddle_status hd_io_check_library(const hd_io_format *format) {
    const huddle_format *about = format->about;
    return about->present ? HUDDLE_OK
                          : hd_io_missing_library(about->library, "%s files", about->title);
}

/* ---- content ------------------------------------------------------------------------------ */

/* The signature is at the beginning or, after a user block (which MATLAB uses for its own
 * header), at 512, 1024, 2048, ... as the HDF5 specification prescribes. */
bool hd_io_hdf5_is(const hd_file *file) {
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    for (int64_t at = 0; at + 8 <= file->size; at = at == 0 ? 512 : 2 * at)
        if (memcmp(file->text + at, signature, 8) == 0)
            return true;
    return false;
}

/* Text has no zero bytes and no control characters other than white space. The beginning
 * suffices: binary formats have a header of binary numbers. */
static bool is_text(const hd_file *file) {
    enum { EXAMINED = 4096 };
    int64_t size = file->size < EXAMINED ? file->size : EXAMINED;
    for (int64_t i = 0; i < size; i++) {
        /* Bytes of 128 and above are allowed: UTF-8, or an older encoding. */
        unsigned char c = (unsigned char)file->text[i];
        if (c < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f')
            return false;
    }
    return (unsigned char)file->text[0] !=
           0x93; /* the first byte of an NPY file, cut off after it */
}

/* PNG, JPEG, BMP, and the Netpbm family P1 to P6. */
static bool is_image(const hd_file *file) {
    const char *t = file->text;
    return file->size > 4 &&
           (memcmp(t, "\x89PNG", 4) == 0 || memcmp(t, "\xff\xd8\xff", 3) == 0 ||
            hd_io_bmp_is(file) ||
            (t[0] == 'P' && t[1] >= '1' && t[1] <= '6' && (t[2] == '\n' || t[2] == ' ')));
}

/* Content decides, because endings are often wrong: a .txt may be LIBSVM, a .mat either of two
 * formats. The ending is used for text, where several formats fit, and to word the failure. */
huddle_status hd_io_detect(const hd_file *file, const hd_io_format **format) {
    const hd_io_format *by_ending = NULL;
    for (int k = 0; k < N_FORMATS; k++) {
        const hd_io_format *candidate = &handlers[k];
        if (candidate->is == NULL)
            continue;
        if (candidate->is(file)) {
            *format = candidate;
            return HUDDLE_OK;
        }
        if (has_ending(file->path, hd_io_unpacked_length(file->path), candidate->about->endings))
            by_ending = candidate;
    }
    if (is_image(file))
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "a single image is not a data set; give the folder of its class folders");
    huddle_status status = hd_io_refuse_foreign(file, !is_text(file));
    if (status != HUDDLE_OK)
        return status;
    if (is_text(file)) {
        /* A line with nothing but a label is LIBSVM only if the file has its ending. */
        *format = by_ending == &handlers[LIBSVM] ? by_ending : &handlers[CSV];
        return HUDDLE_OK;
    }
    if (by_ending != NULL)
        return hd_fail(HUDDLE_FORMAT, "the content is not %s, nor any other format Huddle reads",
                       by_ending->about->name);
    return hd_fail(HUDDLE_FORMAT, "the content is of no format Huddle reads");
}

/* ---- what readers of text find --------------------------------------------------------------- */

huddle_status hd_io_add_sparse(hd_io_container *container, const char *name, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *x;
    TRY(hd_io_container_add(container, name, (int64_t)strlen(name), &x));
    x->kind = HD_IO_SPARSE;
    x->array = (hd_io_array){.rank = 2, .dims = {matrix->rows, matrix->cols}};
    x->sparse = *matrix;
    *matrix = (huddle_csr){0};
done:
    return status;
}

huddle_status hd_io_add_texts(hd_io_container *container, const char *name, hd_io_labels *texts) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *y;
    TRY(hd_io_container_add(container, name, (int64_t)strlen(name), &y));
    y->kind = HD_IO_TEXTS;
    y->array = (hd_io_array){.rank = 1, .dims = {texts->n}};
    y->texts = *texts;
    *texts = (hd_io_labels){0};
done:
    return status;
}
