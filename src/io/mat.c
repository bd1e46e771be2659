#include "io/mat.h"

#include "base/check.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/sparse.h"

#include <stdio.h>
#include <string.h>

/* The header has 128 bytes: 116 of text, 8 for the offset of subsystem data, the version at
 * byte 124, and "MI" as a 16-bit number at 126, which therefore reads "IM" in a little-endian
 * file. */
static bool is_version(const hd_file *file, char version) {
    const char little[] = {0, version, 'I', 'M'}, big[] = {version, 0, 'M', 'I'};
    return file->size >= 128 &&
           (memcmp(file->text + 124, little, 4) == 0 || memcmp(file->text + 124, big, 4) == 0);
}

/* MAT v7.3 is an HDF5 file with this header in its user block. The first releases that wrote
 * it did not call it 7.3 in the text, so the version number together with the HDF5 signature
 * is accepted too. */
bool hd_io_mat73_is(const hd_file *file) {
    return (file->size >= 128 && memcmp(file->text, "MATLAB 7.3 MAT-file", 19) == 0) ||
           (is_version(file, 2) && memcmp(file->text, "MATLAB ", 7) == 0 && hd_io_hdf5_is(file));
}

bool hd_io_mat5_is(const hd_file *file) {
    return is_version(file, 1) && !hd_io_mat73_is(file);
}

/* A file that ends after its header is valid but useless, and more often an interrupted save. */
huddle_status hd_io_mat_check(const hd_io_container *container) {
    if (container->count == 0)
        return hd_fail(HUDDLE_FORMAT, "the file contains no variables, or is cut short");
    return HUDDLE_OK;
}

huddle_status hd_io_mat_join(const char *prefix, const char *name, int64_t length, char **joined) {
    int64_t size = (int64_t)strlen(prefix) + 1 + length + 1;
    *joined = hd_alloc(size, 1);
    if (*joined == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
    snprintf(*joined, (size_t)size, "%s%s%.*s", prefix, prefix[0] != '\0' ? "." : "", (int)length,
             name);
    return HUDDLE_OK;
}

huddle_status hd_io_mat_add(hd_io_container *container, const char *prefix, const char *name,
                            int64_t length, hd_io_variable **variable) {
    char *joined;
    huddle_status status = hd_io_mat_join(prefix, name, length, &joined);
    if (status == HUDDLE_OK)
        status = hd_io_container_add(container, joined, (int64_t)strlen(joined), variable);
    huddle_free(joined);
    return status;
}

/* ---- unsupported classes -------------------------------------------------------------------- */

/* The variable stays in the list, so that `info` shows it and a request for it reports the
 * reason. */
void hd_io_mat_refuse(hd_io_variable *variable, const char *refusal) {
    if (refusal == NULL)
        return;
    variable->kind = HD_IO_OTHER;
    variable->refusal = refusal;
    variable->array.rank = 0;
}

/* MATLAB's newer classes are stored in an undocumented form. The message names the conversion
 * to apply before saving. */
const char *hd_io_mat_class_refusal(const char *class) {
    static const char *const refusals[][2] = {
        {"struct", "is an array of structs; save its fields as variables of their own"},
        {"string", "is a string array, which only MATLAB reads; save cellstr() of it"},
        {"categorical", "is a categorical array, which only MATLAB reads; save cellstr() of it"},
        {"table", "is a table, which only MATLAB reads; save table2array() of it"},
        {"function_handle", "is a function"},
    };
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++)
        if (strcmp(class, refusals[k][0]) == 0)
            return refusals[k][1];
    return "is neither an array nor a list of strings";
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Characters of a matrix are stored down the columns: unit k of a row is k * rows units
 * further on. */
static uint32_t unit_at(const hd_io_characters *c, int64_t row, int64_t k) {
    return hd_io_word(c->units + (row + k * c->rows) * c->width, c->width, c->swapped);
}

/* MATLAB's characters are UTF-16 units: a high surrogate (D800 .. DBFF) and a low one (DC00 ..
 * DFFF) form one character. Half of a pair, or a value beyond Unicode in a UTF-32 text, becomes
 * U+FFFD. */
uint32_t hd_io_character_at(const hd_io_characters *c, int64_t row, int64_t *k) {
    enum { REPLACEMENT = 0xFFFD };
    uint32_t first = unit_at(c, row, (*k)++);
    if (c->width == 2 && first >> 10 == 0xD800 >> 10 && *k < c->length) {
        uint32_t second = unit_at(c, row, *k);
        if (second >> 10 == 0xDC00 >> 10) {
            (*k)++;
            return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
        }
    }
    return first >> 11 == 0xD800 >> 11 || first > 0x10FFFF ? REPLACEMENT : first;
}

/* The rows of a character matrix have one length; shorter texts are padded by blanks, which
 * are removed. */
static char *write_row(const hd_io_characters *c, int64_t row, char *to) {
    char *begin = to;
    for (int64_t k = 0; k < c->length;) {
        if (c->width == 1)
            *to++ = (char)unit_at(c, row, k++); /* UTF-8 passes through byte by byte */
        else
            to = hd_put_utf8(hd_io_character_at(c, row, &k), to);
    }
    while (to > begin && (to[-1] == ' ' || to[-1] == '\0'))
        to--;
    return to;
}

/* A UTF-16 unit takes at most three bytes in UTF-8, a UTF-32 unit four. The line feed stops the
 * readers of numbers. */
void hd_io_characters_add(const hd_io_characters *c, hd_io_labels *texts, char **to) {
    for (int64_t i = 0; i < c->rows; i++) {
        char *end = write_row(c, i, *to);
        texts->texts[texts->n++] = (hd_io_span){*to, end - *to};
        *end = '\n';
        *to = end + 1;
    }
}

huddle_status hd_io_characters_texts(const hd_io_characters *c, hd_io_labels *texts) {
    huddle_status status = HUDDLE_OK;
    ALLOC(texts->texts, c->rows);
    ALLOC(texts->arena, c->rows * (4 * c->length + 1));
    char *to = texts->arena;
    hd_io_characters_add(c, texts, &to);
done:
    return status;
}

/* Indices may be stored in any numeric type. */
static bool copy_whole(const hd_io_array *vector, int64_t count, int64_t *to) {
    double ignored;
    for (int64_t i = 0; i < count; i++)
        if (!hd_io_array_whole(vector, i, &to[i], &ignored))
            return false;
    return true;
}

/* Compressed columns: column j has the entries jc[j] .. jc[j + 1] - 1, whose rows are in ir.
 * The vectors may be longer than the number of entries, jc[cols], because MATLAB reserves room
 * (nzmax). Order and range of the indices are checked by hd_io_csr_from_lines(). */
huddle_status hd_io_mat_sparse(const char *name, int64_t rows, int64_t cols,
                               const hd_io_array *offsets, const hd_io_array *positions,
                               const hd_io_array *values, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    int64_t *jc = NULL, *ir = NULL, count = 0;
    double *doubles = NULL, ignored;
    if (offsets->dims[0] != cols + 1 || !hd_io_array_whole(offsets, cols, &count, &ignored) ||
        count < 0 || count > positions->dims[0] || count > values->dims[0])
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged sparse matrix", name);
    ALLOC(jc, cols + 1);
    ALLOC(ir, count);
    ALLOC(doubles, count);
    if (!copy_whole(offsets, cols + 1, jc) || !copy_whole(positions, count, ir))
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged sparse matrix", name);
    hd_io_samples samples = hd_io_array_samples(values, false);
    if (count > 0)
        hd_io_samples_load(&samples, 0, count, doubles);
    TRY(hd_io_csr_from_lines(&(hd_io_lines){rows, cols, true, count, jc, ir, doubles}, matrix));
done:
    FREE(jc, ir, doubles);
    return status;
}
