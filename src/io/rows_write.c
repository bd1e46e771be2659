/* Files of rows that are distributed over processes. Process 0 makes the file. Rows of one size are
 * written by all processes at the same time if they see it; everything else is sent to process 0,
 * which writes slab after slab. */
#include "base/check.h"
#include "base/text.h"
#include "io/rows.h"
#include "io/writers.h"

#include <string.h>

/* Bytes that are sent or copied at a time. */
enum { PIECE = 1 << 22 };

/* This process's rows. */
typedef struct row_source {
    const char *rows;
    int64_t n, row_size, gap; /* bytes of a row, and from one to the next */
    const char *const *texts; /* of labels that are written as text, or NULL */
    bool as_text;
} row_source;

static int64_t piece_rows(const row_source *s) {
    int64_t rows = s->row_size > 0 ? PIECE / s->row_size : PIECE;
    return rows < 1 ? 1 : rows;
}

static void pack_rows(const row_source *s, int64_t first, int64_t count, char *to) {
    for (int64_t i = 0; i < count && s->row_size > 0; i++)
        memcpy(to + i * s->row_size, s->rows + (first + i) * s->gap, (size_t)s->row_size);
}

/* ---- through process 0 ---------------------------------------------------------------------- */

/* Rows begin .. end - 1 of all processes, of which this one, whose first is `first`, has some or
 * none. `packed` has room for them. */
static huddle_status pass_piece(huddle_context *context, const row_source *s, int64_t first,
                                int64_t begin, int64_t end, char *packed, hd_output *output) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 0;
    void *rows = NULL;
    begin = begin > first ? begin - first : 0;
    end = end - first < s->n ? end - first : s->n;
    int64_t count = end > begin ? end - begin : 0;
    pack_rows(s, begin, count, packed);
    TRY(hd_slabs_gather(context, 0, count * s->row_size, packed, NULL, &bytes, &rows));
    if (hd_slabs_rank(context) == 0)
        TRY(s->as_text ? hd_io_labels_write_lines(output, bytes / s->row_size, rows, s->texts)
                       : hd_output_write(output, rows, bytes));
done:
    huddle_free(rows);
    return status;
}

static huddle_status write_through_first(huddle_context *context, const row_source *s,
                                         hd_output *output) {
    huddle_status status = HUDDLE_OK;
    int64_t step = piece_rows(s);
    char *packed = NULL;
    hd_slab slab;
    ALLOC(packed, (s->n < step ? s->n : step) * s->row_size);
    TRY(hd_slab_locate(context, s->n, &slab));
    for (int64_t begin = 0; begin < slab.total; begin += step)
        TRY(pass_piece(context, s, slab.first, begin, begin + step, packed, output));
done:
    huddle_free(packed);
    return hd_agree(context, status);
}

/* ---- by all processes ----------------------------------------------------------------------- */

/* What the others need to know of the file. */
typedef struct shared_file {
    int64_t offset, size; /* of the first row, of the file */
    char temporary[4096]; /* "": process 0 writes alone */
} shared_file;

/* A pipe has no temporary file, and cannot be written at several places. */
static huddle_status describe_file(hd_output *output, int64_t header, int64_t bytes,
                                   shared_file *to) {
    to->offset = header;
    to->size = header + bytes;
    if (output->temporary == NULL || strlen(output->temporary) >= sizeof to->temporary)
        return HUDDLE_OK;
    memcpy(to->temporary, output->temporary, strlen(output->temporary) + 1);
    return hd_output_extend(output, to->size);
}

/* Rows that lie without gaps are written from where they are. */
static huddle_status patch_rows(const row_source *s, hd_output *output, int64_t offset) {
    huddle_status status = HUDDLE_OK;
    char *packed = NULL;
    int64_t step = piece_rows(s);
    if (s->gap == s->row_size)
        return hd_output_patch(output, offset, s->rows, s->n * s->row_size);
    ALLOC(packed, (s->n < step ? s->n : step) * s->row_size);
    for (int64_t first = 0; first < s->n; first += step) {
        int64_t count = s->n - first < step ? s->n - first : step;
        pack_rows(s, first, count, packed);
        TRY(hd_output_patch(output, offset + first * s->row_size, packed, count * s->row_size));
    }
done:
    huddle_free(packed);
    return status;
}

/* *written is false, on all processes, if one of them does not see the file. */
static huddle_status write_together(huddle_context *context, const row_source *s, int64_t first,
                                    const shared_file *to, hd_output *output, bool *written) {
    huddle_status status = HUDDLE_OK;
    hd_output joined = {.descriptor = -1};
    bool begun = hd_slabs_rank(context) == 0;
    double visible = to->temporary[0] != '\0' &&
                     (begun || hd_output_join(output->path, to->temporary, to->size, &joined));
    TRY(hd_reduce_min(context, 1, &visible));
    *written = visible > 0;
    if (*written)
        TRY(patch_rows(s, begun ? output : &joined, to->offset + first * s->row_size));
done:
    return hd_agree(context, hd_output_leave(&joined, status));
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Lines of text, of which no process knows where its own begin, pass through process 0. If the rows
 * of an array have to as well, they follow the header there: extending the file has left the
 * position after it. Process 0 removes the file unless all have succeeded, and all learn whether it
 * got its name. */
static huddle_status write_rows(huddle_context *context, const char *path, const char *type,
                                int32_t rank, int64_t cols, const row_source *s) {
    huddle_status status = HUDDLE_OK;
    hd_output output = {.path = path, .descriptor = -1, .place = -1};
    shared_file to = {0};
    hd_slab slab = {0};
    int64_t length = 0;
    bool written = false;
    TRY(hd_slab_locate(context, s->n, &slab));
    if (hd_slabs_rank(context) == 0 && s->as_text) {
        TRY(hd_output_begin(path, false, &output));
        TRY(hd_io_labels_write_header(&output));
    } else if (hd_slabs_rank(context) == 0) {
        TRY(hd_io_npy_begin(path, type, rank, (const int64_t[]){slab.total, cols}, &output,
                            &length));
        TRY(describe_file(&output, length, slab.total * s->row_size, &to));
    }
    TRY(hd_slabs_broadcast(context, 0, sizeof to, &to));
    TRY(write_together(context, s, slab.first, &to, &output, &written));
    if (!written)
        TRY(write_through_first(context, s, &output));
done:
    status = hd_agree(context, status);
    return hd_agree(context, hd_output_end(&output, status));
}

huddle_status huddle_labels_write_slabs(huddle_context *context, const char *path, int64_t n,
                                        const int32_t *values, const char *const *texts) {
    row_source s = {.rows = (const char *)values,
                    .n = n,
                    .row_size = sizeof *values,
                    .gap = sizeof *values,
                    .texts = texts,
                    .as_text = !hd_has_extension(path, "npy")};
    if (!hd_slabs_distributed(context))
        return huddle_labels_write(path, n, values, texts);
    return write_rows(context, path, "<i4", 1, 1, &s);
}

/* Processes must not disagree about the length of a row. */
static huddle_status check_columns(huddle_context *context, const char *path, int64_t cols) {
    huddle_status status = HUDDLE_OK;
    double extremes[] = {(double)cols, -(double)cols};
    TRY(hd_reduce_max(context, 2, extremes));
    if (extremes[0] != -extremes[1])
        FAIL(HUDDLE_INVALID, "%s: cannot be written: the processes have rows of %g and %g values",
             path, -extremes[1], extremes[0]);
done:
    return hd_agree(context, status);
}

huddle_status huddle_dense_write_npy_slabs(huddle_context *context, const char *path,
                                           const huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    row_source s = {.n = matrix->rows,
                    .row_size = matrix->cols * (int64_t)sizeof *matrix->values,
                    .gap = matrix->stride * (int64_t)sizeof *matrix->values};
    if (!hd_slabs_distributed(context))
        return huddle_dense_write_npy(path, matrix);
    TRY(huddle_dense_fetch(matrix));
    s.rows = (const char *)matrix->values;
    TRY(check_columns(context, path, matrix->cols));
    TRY(write_rows(context, path, "<f8", 2, matrix->cols, &s));
done:
    return hd_agree(context, status);
}
