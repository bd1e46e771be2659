/* .npz, members stored without compression: points as X, labels as y; sparse points in the parts
 * that scipy.sparse.load_npz() expects. */
#include "archive/npy.h"
#include "base/check.h"
#include "base/context.h"
#include "io/writers.h"

#include <stdio.h>
#include <string.h>

/* Without compression, so that NumPy and Huddle read it at the speed of the disk. */
static huddle_status add_member(hd_zip_writer *zip, const char *name, const char *type,
                                int32_t rank, const int64_t *dims, const void *elements) {
    return hd_npy_add(zip, name, HD_ZIP_STORED, type, rank, dims, elements);
}

/* The members and types that scipy.sparse.save_npz() writes. */
static huddle_status add_sparse(hd_zip_writer *zip, const int64_t *shape, const int64_t *offsets,
                                const int32_t *columns, const void *values, const char *type) {
    huddle_status status = HUDDLE_OK;
    int64_t lines = shape[0] + 1, count = offsets[shape[0]], two = 2;
    TRY(add_member(zip, "indices", "<i4", 1, &count, columns));
    TRY(add_member(zip, "indptr", "<i8", 1, &lines, offsets));
    TRY(add_member(zip, "format", "|S3", 0, NULL, "csr"));
    TRY(add_member(zip, "shape", "<i8", 1, &two, shape));
    TRY(add_member(zip, "data", type, 1, &count, values));
done:
    return status;
}

huddle_status huddle_csr_write_npz(const char *path, const huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_zip_writer zip;
    int64_t shape[] = {matrix->rows, matrix->cols};
    TRY(hd_zip_create(path, &zip));
    TRY(add_sparse(&zip, shape, matrix->offsets, matrix->columns, matrix->values, "<f8"));
done:
    return hd_zip_close(&zip, status);
}

/* ---- labels --------------------------------------------------------------------------------- */

/* The character at *p of UTF-8 text; a byte that is not part of one is returned as it is, and
 * a cut character as far as it was read: names from damaged files must still be written. The
 * zero at the end stops the loop. */
static uint32_t next_character(const unsigned char **p) {
    uint32_t c = *(*p)++;
    int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
    if (more == 0)
        return c;
    c &= 0x3Fu >> more;
    for (; more > 0 && (**p & 0xC0) == 0x80; more--)
        c = c << 6 | (*(*p)++ & 0x3Fu);
    return c;
}

/* Texts as NumPy's 'U': four bytes per character, all of one width. The width is that of the
 * longest in bytes, which is at least its number of characters; the rest is zero. */
static huddle_status pad_texts(const huddle_data *data, uint32_t **block, int64_t *width) {
    huddle_status status = HUDDLE_OK;
    *width = 1;
    for (int32_t k = 0; k < data->n_classes; k++) {
        int64_t length = (int64_t)strlen(data->classes[k]);
        *width = length > *width ? length : *width;
    }
    ALLOC_ZERO(*block, data->points.n * *width);
    for (int64_t i = 0; i < data->points.n; i++) {
        const unsigned char *p = (const unsigned char *)data->classes[data->labels[i]];
        for (uint32_t *to = *block + i * *width; *p != '\0';)
            *to++ = next_character(&p);
    }
done:
    return status;
}

/* The names X and y are those that the reader looks for. In an archive with a sparse matrix
 * its parts take the place of X. */
huddle_status hd_io_npz_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    hd_zip_writer zip;
    hd_io_block block = {0};
    int64_t *numbers = NULL, shape[] = {x->n, x->d}, width;
    int64_t sizes[] = {data->height, data->width, data->column_major ? 2 : 1};
    uint32_t *texts = NULL;
    char type[24];
    TRY(hd_zip_create(path, &zip));
    TRY(hd_check_cancel(context));
    if (x->offsets != NULL) {
        const void *values = data->exact != NULL ? (const void *)data->exact : x->values;
        TRY(add_sparse(&zip, shape, x->offsets, x->columns, values,
                       data->exact != NULL ? "<f8" : "<f4"));
    } else {
        TRY(hd_io_block_make(x, data->exact, false, &block));
        TRY(add_member(&zip, "X", block.wide ? "<f8" : "<f4", 2, shape, block.values));
    }
    TRY(hd_io_label_numbers(data, &numbers));
    if (numbers != NULL) {
        TRY(add_member(&zip, "y", "<i8", 1, shape, numbers));
    } else if (data->labels != NULL) {
        TRY(pad_texts(data, &texts, &width));
        snprintf(type, sizeof type, "<U%lld", (long long)width);
        TRY(add_member(&zip, "y", type, 1, shape, texts));
    }
    if (hd_io_writes_image_size(data)) {
        TRY(add_member(&zip, "im_height", "<i8", 0, NULL, &sizes[0]));
        TRY(add_member(&zip, "im_width", "<i8", 0, NULL, &sizes[1]));
        TRY(add_member(&zip, "im_order", "<i8", 0, NULL, &sizes[2]));
    }
done:
    status = hd_zip_close(&zip, status);
    FREE(block.owned, numbers, texts);
    return status;
}
