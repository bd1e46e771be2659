/* MAT v5: points as X (n x d), labels as y, the size of images as im_height, im_width and
 * im_order (1: pixels along rows, 2: down columns). Nothing is compressed: the file is written
 * in one pass, and mat5.c reads the points from the mapped file. The size of an element
 * precedes it, so all of them are computed, and checked, before the file is begun. */
#include "archive/json.h"
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/writers.h"

#include <string.h>

/* Types of elements and classes of variables, as in mat5.c. */
enum { MI_INT8 = 1, MI_INT32 = 5, MI_UINT32, MI_SINGLE, MI_DOUBLE = 9, MI_INT64 = 12 };
enum { MI_MATRIX = 14, MI_UTF16 = 17 };
enum { CLASS_CELL = 1, CLASS_CHAR = 4, CLASS_SPARSE, CLASS_DOUBLE, CLASS_SINGLE };
enum { CLASS_INT64 = 14 };

/* MATLAB reads variables of less than 2^31 bytes, although the tag could count up to 2^32. */
static const int64_t max_bytes = INT32_MAX;

/* The beginning of a matrix, and the bytes of the parts that follow it. */
typedef struct head {
    const char *name;
    uint32_t class, capacity; /* of a sparse matrix: entries */
    int64_t rows, cols, bytes;
} head;

/* What is written, in the form in which it is written. Made by prepare_content(). */
typedef struct content {
    const huddle_data *data;
    int64_t *numbers; /* labels that are numbers */
    bool wide;        /* some are too large for a double */
    uint16_t *units;  /* labels that are texts: class k is units[starts[k]] .. starts[k + 1] */
    int64_t *starts;
} content;

/* ---- elements ------------------------------------------------------------------------------- */

/* A part of up to four bytes is stored inside its tag; others are padded to eight bytes. */
static int64_t part_size(int64_t bytes) {
    return bytes > 0 && bytes <= 4 ? 8 : 8 + (bytes + 7) / 8 * 8;
}

/* Tag, bytes and zeros up to a multiple of eight. The tag of a small part is one word with its
 * length in the upper half. */
static huddle_status write_part(hd_output *output, uint32_t type, const void *bytes, int64_t size) {
    static const char zeros[8] = {0};
    huddle_status status = HUDDLE_OK;
    bool small = size > 0 && size <= 4;
    uint32_t tag[2] = {small ? (uint32_t)size << 16 | type : type, (uint32_t)size};
    TRY(hd_output_write(output, tag, small ? 4 : 8));
    TRY(hd_output_write(output, bytes, size));
    TRY(hd_output_write(output, zeros, part_size(size) - (small ? 4 : 8) - size));
done:
    return status;
}

/* The size of a whole matrix, without its tag: 16 bytes of array flags, 16 of dimensions, the
 * name and the parts that follow. */
static int64_t matrix_size(const head *h) {
    return 32 + part_size((int64_t)strlen(h->name)) + h->bytes;
}

/* For a sparse matrix the second flag word is nzmax, the number of entries for which there is
 * room. */
static huddle_status write_head(hd_output *output, const head *h) {
    huddle_status status = HUDDLE_OK;
    uint32_t tag[] = {MI_MATRIX, (uint32_t)matrix_size(h)}, flags[] = {h->class, h->capacity};
    int32_t dims[] = {(int32_t)h->rows, (int32_t)h->cols};
    TRY(hd_output_write(output, tag, sizeof tag));
    TRY(write_part(output, MI_UINT32, flags, sizeof flags));
    TRY(write_part(output, MI_INT32, dims, sizeof dims));
    TRY(write_part(output, MI_INT8, h->name, (int64_t)strlen(h->name)));
done:
    return status;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Of sparse points row indices and offsets as int32, values as double: MATLAB knows no sparse
 * matrix of floats. */
static head points_head(const huddle_data *data) {
    const huddle_points *x = &data->points;
    head h = {.name = "X", .rows = x->n, .cols = x->d};
    if (x->offsets != NULL) {
        int64_t count = x->offsets[x->n];
        h.class = CLASS_SPARSE;
        h.capacity = (uint32_t)count;
        h.bytes = part_size(4 * count) + part_size(4 * (x->d + 1)) + part_size(8 * count);
    } else {
        bool wide = hd_io_writes_doubles(data);
        h.class = wide ? CLASS_DOUBLE : CLASS_SINGLE;
        h.bytes = part_size(x->n * x->d * (wide ? 8 : 4));
    }
    return h;
}

/* The cell with the text of class k. */
static head text_head(const content *c, int32_t k) {
    int64_t length = c->starts[k + 1] - c->starts[k];
    return (head){.name = "",
                  .class = CLASS_CHAR,
                  .rows = length > 0,
                  .cols = length,
                  .bytes = part_size(2 * length)};
}

/* A column vector, as MATLAB users expect labels. A text is repeated in every cell: a cell array
 * has no way to share them. */
static head labels_head(const content *c) {
    head h = {.name = "y", .rows = c->data->points.n, .cols = 1};
    if (c->units == NULL) {
        h.class = c->wide ? CLASS_INT64 : CLASS_DOUBLE;
        h.bytes = part_size(8 * h.rows);
        return h;
    }
    h.class = CLASS_CELL;
    for (int64_t i = 0; i < h.rows; i++) {
        head text = text_head(c, c->data->labels[i]);
        h.bytes += 8 + matrix_size(&text);
    }
    return h;
}

/* Dimensions are int32 in the format. */
static bool fits_format(const head *h) {
    return h->rows <= INT32_MAX && h->cols <= INT32_MAX && matrix_size(h) <= max_bytes;
}

/* Refusing before the file exists leaves an older file of that name untouched. The message
 * names the formats that have no such limit. */
static huddle_status check_sizes(const content *c, const char *path) {
    const huddle_points *x = &c->data->points;
    head points = points_head(c->data), labels = labels_head(c);
    if (!fits_format(&points) && x->offsets != NULL)
        return hd_fail(HUDDLE_UNSUPPORTED, "%s: %lld non-zeros are too many for MAT v5; write .npz",
                       path, (long long)x->offsets[x->n]);
    if (!fits_format(&points))
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "%s: %lld x %lld is too large for MAT v5; write .h5 or .npz", path,
                       (long long)x->n, (long long)x->d);
    if ((c->units != NULL || c->numbers != NULL) && !fits_format(&labels))
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "%s: %lld labels are too many for MAT v5; write .h5 or .npz", path,
                       (long long)x->n);
    return HUDDLE_OK;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* MATLAB's characters are UTF-16. Returns where the units end, or NULL if text is not UTF-8.
 * Characters beyond U+FFFF become a pair of surrogates. */
static uint16_t *encode_utf16(const char *text, uint16_t *to, bool *pairs) {
    const char *end = text + strlen(text);
    if (!hd_json_is_utf8(text))
        return NULL;
    while (text < end) {
        int size;
        text += hd_io_encode_utf16(text, end, hd_io_big_endian(), (char *)to, &size);
        *pairs = *pairs || size == 4;
        to += size / 2;
    }
    return to;
}

/* Each class is encoded once, not each label. */
static huddle_status encode_texts(huddle_context *context, content *c, const char *path) {
    huddle_status status = HUDDLE_OK;
    const huddle_data *data = c->data;
    int64_t bytes = 0;
    bool pairs = false;
    for (int32_t k = 0; k < data->n_classes; k++)
        bytes += (int64_t)strlen(data->classes[k]);
    ALLOC(c->units, bytes); /* there are no more units than bytes */
    ALLOC_ZERO(c->starts, data->n_classes + 1);
    for (int32_t k = 0; k < data->n_classes; k++) {
        const uint16_t *end = encode_utf16(data->classes[k], c->units + c->starts[k], &pairs);
        if (end == NULL)
            FAIL(HUDDLE_UNSUPPORTED,
                 "%s: the name of class %d is not UTF-8, which MAT v5 cannot hold", path, k + 1);
        c->starts[k + 1] = end - c->units;
    }
    if (pairs) /* its dimensions count characters, MATLAB's and Octave's units */
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: SciPy cannot read class names with characters beyond U+FFFF; MATLAB and "
                "Octave can",
                path);
done:
    return status;
}

/* Everything that can fail, or decides sizes, precedes the output file. */
static huddle_status prepare_content(huddle_context *context, content *c, const char *path) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_label_numbers(c->data, &c->numbers));
    for (int64_t i = 0; c->numbers != NULL && i < c->data->points.n; i++)
        c->wide =
            c->wide || c->numbers[i] > INT64_C(1) << 53 || c->numbers[i] < -(INT64_C(1) << 53);
    if (c->numbers == NULL && c->data->labels != NULL)
        TRY(encode_texts(context, c, path));
done:
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Scalars are 1 x 1 matrices. */
static huddle_status write_number(hd_output *output, const char *name, double value) {
    huddle_status status = HUDDLE_OK;
    TRY(write_head(output, &(head){name, CLASS_DOUBLE, 0, 1, 1, part_size(8)}));
    TRY(write_part(output, MI_DOUBLE, &value, sizeof value));
done:
    return status;
}

/* MATLAB stores columns, so the points are transposed first. */
static huddle_status write_dense(hd_output *output, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    hd_io_block block = {0};
    head h = points_head(data);
    TRY(hd_io_block_make(x, data->exact, true, &block));
    TRY(write_head(output, &h));
    TRY(write_part(output, block.wide ? MI_DOUBLE : MI_SINGLE, block.values,
                   x->n * x->d * (block.wide ? 8 : 4)));
done:
    huddle_free(block.owned);
    return status;
}

/* MATLAB stores sparse matrices by columns, in double: the transpose of the rows is the
 * columns. The structure of the points is borrowed, only the values are copied. */
static huddle_status write_sparse(hd_output *output, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    huddle_csr rows = {.rows = x->n, .cols = x->d, .offsets = x->offsets, .columns = x->columns};
    huddle_csr columns = {0};
    int32_t *offsets = NULL;
    double *values = NULL;
    int64_t count = x->offsets[x->n];
    head h = points_head(data);
    ALLOC(values, count);
    for (int64_t e = 0; e < count; e++)
        values[e] = hd_io_value(data, e, x->columns[e]);
    rows.values = values;
    TRY(huddle_csr_transpose(&rows, &columns));
    ALLOC(offsets, x->d + 1);
    for (int64_t j = 0; j <= x->d; j++)
        offsets[j] = (int32_t)columns.offsets[j];
    TRY(write_head(output, &h));
    TRY(write_part(output, MI_INT32, columns.columns, 4 * count));
    TRY(write_part(output, MI_INT32, offsets, 4 * (x->d + 1)));
    TRY(write_part(output, MI_DOUBLE, columns.values, 8 * count));
done:
    FREE(values, offsets);
    huddle_csr_free(&columns);
    return status;
}

/* Doubles, MATLAB's default type, unless they would change: beyond 2^53 int64 is used. */
static huddle_status write_numbers(hd_output *output, const content *c) {
    huddle_status status = HUDDLE_OK;
    double *values = NULL;
    int64_t n = c->data->points.n;
    head h = labels_head(c);
    TRY(write_head(output, &h));
    if (c->wide) {
        TRY(write_part(output, MI_INT64, c->numbers, 8 * n));
    } else {
        ALLOC(values, n);
        for (int64_t i = 0; i < n; i++)
            values[i] = (double)c->numbers[i];
        TRY(write_part(output, MI_DOUBLE, values, 8 * n));
    }
done:
    huddle_free(values);
    return status;
}

/* A cell array of texts, each cell a matrix without a name. */
static huddle_status write_texts(hd_output *output, const content *c) {
    huddle_status status = HUDDLE_OK;
    head cells = labels_head(c);
    TRY(write_head(output, &cells));
    for (int64_t i = 0; i < cells.rows; i++) {
        int32_t k = c->data->labels[i];
        head text = text_head(c, k);
        TRY(write_head(output, &text));
        TRY(write_part(output, MI_UTF16, c->units + c->starts[k], 2 * text.cols));
    }
done:
    return status;
}

/* 116 bytes of text, 8 zero bytes (no subsystem data), the version, and the mark of the byte
 * order, which is that of this machine: both are written as 16-bit numbers. */
static huddle_status write_header(hd_output *output) {
    static const char text[] = "MATLAB 5.0 MAT-file, written by Huddle";
    const uint16_t marks[] = {0x0100, 'M' << 8 | 'I'};
    char header[128];
    memset(header, ' ', 116);
    memcpy(header, text, sizeof text - 1);
    memset(header + 116, 0, 8);
    memcpy(header + 124, marks, sizeof marks);
    return hd_output_write(output, header, sizeof header);
}

static huddle_status write_data(hd_output *output, const content *c) {
    huddle_status status = HUDDLE_OK;
    const huddle_data *data = c->data;
    TRY(write_header(output));
    TRY(data->points.offsets != NULL ? write_sparse(output, data) : write_dense(output, data));
    if (c->numbers != NULL)
        TRY(write_numbers(output, c));
    else if (c->units != NULL)
        TRY(write_texts(output, c));
    if (hd_io_writes_image_size(data)) {
        TRY(write_number(output, "im_height", data->height));
        TRY(write_number(output, "im_width", data->width));
        TRY(write_number(output, "im_order", data->column_major ? 2 : 1));
    }
done:
    return status;
}

huddle_status hd_io_mat_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    content c = {.data = data};
    TRY(hd_check_cancel(context));
    TRY(prepare_content(context, &c, path));
    TRY(check_sizes(&c, path));
    hd_output output;
    status = hd_output_begin(path, false, &output);
    if (status == HUDDLE_OK)
        status = write_data(&output, &c);
    status = hd_output_end(&output, status);
done:
    FREE(c.numbers, c.units, c.starts);
    return status;
}
