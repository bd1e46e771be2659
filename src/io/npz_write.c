/* .npz, members stored without packing: points as X, labels as y; sparse points in the parts that
 * scipy.sparse.load_npz() looks for. */
#include "base/check.h"
#include "base/context.h"
#include "io/npy.h"
#include "io/output.h"
#include "io/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* Members hold pointers to what they are made of until the archive is closed. */
typedef struct archive {
    zip_t *zip;
    char *headers[12];
    int count;
} archive;

static huddle_status zip_failure(zip_t *zip) {
    return hd_fail(HUDDLE_IO, "cannot be written: %s", zip_strerror(zip));
}

/* Adds NAME.npy made of a header and `bytes` bytes of elements. */
static huddle_status add_member(archive *a, const char *name, const char *type, int rank,
                                const int64_t *dims, const void *elements, int64_t bytes) {
    huddle_status status = HUDDLE_OK;
    char member[64], *header = NULL;
    int64_t length;
    TRY(hd_npy_header(type, rank, dims, &header, &length));
    a->headers[a->count++] = header;
    zip_buffer_fragment_t parts[] = {
        {(zip_uint8_t *)header, (zip_uint64_t)length},
        {(zip_uint8_t *)(uintptr_t)elements, (zip_uint64_t)bytes},
    };
    zip_source_t *source = zip_source_buffer_fragment(a->zip, parts, bytes > 0 ? 2 : 1, 0);
    snprintf(member, sizeof member, "%s.npy", name);
    zip_int64_t place = source == NULL ? -1 : zip_file_add(a->zip, member, source, 0);
    if (place < 0) {
        zip_source_free(source);
        TRY(zip_failure(a->zip));
    }
    if (zip_set_file_compression(a->zip, (zip_uint64_t)place, ZIP_CM_STORE, 0) != 0)
        TRY(zip_failure(a->zip));
done:
    return status;
}

static huddle_status begin(const char *path, hd_output *output, archive *a) {
    int code = 0;
    huddle_status status = hd_output_begin(path, true, output);
    if (status != HUDDLE_OK)
        return status;
    a->zip = zip_open(output->temporary, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (a->zip == NULL)
        return hd_fail(HUDDLE_IO, "%s: cannot be written as an archive", path);
    return HUDDLE_OK;
}

static huddle_status finish(const char *path, hd_output *output, archive *a, huddle_status status) {
    if (a->zip != NULL && (status != HUDDLE_OK || zip_close(a->zip) != 0)) {
        if (status == HUDDLE_OK)
            status = hd_fail_at(zip_failure(a->zip), "%s", path);
        zip_discard(a->zip);
    }
    for (int k = 0; k < a->count; k++)
        huddle_free(a->headers[k]);
    return hd_output_end(output, status);
}

static huddle_status add_sparse(archive *a, const int64_t *shape, const int64_t *offsets,
                                const int32_t *columns, const void *values, const char *type,
                                int64_t value_bytes) {
    huddle_status status = HUDDLE_OK;
    int64_t lines = shape[0] + 1, count = offsets[shape[0]], two = 2;
    TRY(add_member(a, "indices", "<i4", 1, &count, columns, count * 4));
    TRY(add_member(a, "indptr", "<i8", 1, &lines, offsets, lines * 8));
    TRY(add_member(a, "format", "|S3", 0, NULL, "csr", 3));
    TRY(add_member(a, "shape", "<i8", 1, &two, shape, 16));
    TRY(add_member(a, "data", type, 1, &count, values, count * value_bytes));
done:
    return status;
}

huddle_status huddle_csr_write_npz(const char *path, const huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    archive a = {0};
    int64_t shape[] = {matrix->rows, matrix->cols};
    TRY(begin(path, &output, &a));
    TRY(add_sparse(&a, shape, matrix->offsets, matrix->columns, matrix->values, "<f8", 8));
done:
    return finish(path, &output, &a, status);
}

/* ---- labels --------------------------------------------------------------------------------- */

/* The character at *p of UTF-8 text; a byte that is none stands for itself. */
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

/* Texts as NumPy's 'U': four bytes a character, all of one length. */
static huddle_status spread_texts(const huddle_data *data, uint32_t **block, int64_t *width) {
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

huddle_status hd_npz_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    hd_output output;
    archive a = {0};
    hd_block block = {0};
    int64_t *numbers = NULL, shape[] = {x->n, x->d}, width;
    int64_t sizes[] = {data->height, data->width, data->column_major ? 2 : 1};
    uint32_t *texts = NULL;
    char type[24];
    TRY(begin(path, &output, &a));
    TRY(hd_check_cancel(context));
    if (x->offsets != NULL) {
        TRY(add_sparse(&a, shape, x->offsets, x->columns, x->values, "<f4", 4));
    } else {
        TRY(hd_block_make(x, false, &block));
        TRY(add_member(&a, "X", block.wide ? "<f8" : "<f4", 2, shape, block.values,
                       x->n * x->d * (block.wide ? 8 : 4)));
    }
    TRY(hd_label_numbers(data, &numbers));
    if (numbers != NULL) {
        TRY(add_member(&a, "y", "<i8", 1, shape, numbers, x->n * 8));
    } else if (data->labels != NULL) {
        TRY(spread_texts(data, &texts, &width));
        snprintf(type, sizeof type, "<U%lld", (long long)width);
        TRY(add_member(&a, "y", type, 1, shape, texts, x->n * width * 4));
    }
    if (data->height > 0) {
        TRY(add_member(&a, "im_height", "<i8", 0, NULL, &sizes[0], 8));
        TRY(add_member(&a, "im_width", "<i8", 0, NULL, &sizes[1], 8));
        TRY(add_member(&a, "im_order", "<i8", 0, NULL, &sizes[2], 8));
    }
done:
    status = finish(path, &output, &a, status);
    huddle_free(block.owned);
    huddle_free(numbers);
    huddle_free(texts);
    return status;
}
