/* NPY arrays (NumPy enhancement proposal 1): a header with a Python dictionary as text, then the
 * elements. The dictionary is searched for its three keys instead of being parsed as Python;
 * whatever is found is checked. */
#include "archive/npy.h"

#include "base/check.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum {
    MAGIC = 6,         /* \x93NUMPY */
    SHORT_PREFIX = 10, /* magic, version, length of 2 bytes: version 1 */
    LONG_PREFIX = 12,  /* length of 4 bytes: versions 2 and 3 */
    ALIGNMENT = 64,    /* of the elements, as NumPy writes them */
    MAX_DIGITS = 18,   /* of a dimension: fits int64 */
    MAX_WIDTH_DIGITS = 9,
    MAX_HEADER = 1 << 16
};

/* The length of the header, from its first 12 bytes, or -1 if this is not an array of NumPy.
 * Version 1 has a length of two bytes, versions 2 and 3 one of four. It is not yet compared with
 * the size of the file. */
static int64_t header_length(const char *text, int64_t size) {
    const unsigned char *b = (const unsigned char *)text;
    if (size < LONG_PREFIX || memcmp(text, "\x93NUMPY", MAGIC) != 0)
        return -1;
    if (b[6] == 1)
        return SHORT_PREFIX + b[8] + 256 * b[9];
    return LONG_PREFIX + b[8] + 256 * b[9] + 65536 * (int64_t)b[10] + 16777216 * (int64_t)b[11];
}

/* Finds where the value of 'key' begins in the dictionary of the header; NULL if it has no such
 * key. strspn() skips blanks and quotes, so that both '<f4' and "<f4" are read. */
static const char *find_value(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    at += strspn(at, "'\" \t:");
    return at;
}

/* Reads digits and returns where they end. Digits beyond MAX_DIGITS are skipped, so that the number
 * cannot overflow; the caller refuses them by their count. */
static const char *read_digits(const char *at, int64_t *number) {
    *number = 0;
    for (int k = 0; *at >= '0' && *at <= '9'; at++, k++)
        if (k < MAX_DIGITS)
            *number = 10 * *number + (*at - '0');
    return at;
}

/* A tuple of lengths: (3, 4), (5,) or (); Python 2 wrote 5L. The product is checked before every
 * multiplication: an overflow would make a huge array look small. A length of 0 does not end the
 * check: readers multiply the others to find the distance between elements. Dimensions beyond
 * HD_NPY_MAX_RANK are counted but not stored, and callers refuse the rank. */
static huddle_status parse_shape(const char *text, hd_npy *npy) {
    bool empty = false;
    if (text == NULL || *text != '(')
        return hd_fail(HUDDLE_FORMAT, "the NPY header has no shape");
    for (text++; *text != ')'; text += strspn(text, ", L")) {
        int64_t length;
        text += strspn(text, " ");
        const char *end = read_digits(text, &length);
        if (end == text || end - text > MAX_DIGITS)
            return hd_fail(HUDDLE_FORMAT, "the NPY header has a damaged shape");
        if (npy->rank < HD_NPY_MAX_RANK)
            npy->dims[npy->rank] = length;
        npy->rank++;
        empty = empty || length == 0;
        if (length > 0 && npy->count > INT64_MAX / 4 / length)
            return hd_fail(HUDDLE_FORMAT, "the NPY header declares an invalid size");
        npy->count *= length > 0 ? length : 1;
        text = end;
    }
    if (empty)
        npy->count = 0;
    return HUDDLE_OK;
}

/* A type such as '<f4'. Records have a list of fields instead; they are reported as kind V, which
 * no caller accepts. */
static huddle_status parse_type(const char *text, hd_npy *npy) {
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    if (text == NULL)
        return hd_fail(HUDDLE_FORMAT, "the NPY header has no type");
    npy->kind = 'V';
    if (*text == '[')
        return HUDDLE_OK;
    /* '|' and '=' are native or have one byte. */
    npy->swapped = *text == (little ? '>' : '<');
    text += strspn(text, "<>|=");
    if (*text == '\0')
        return hd_fail(HUDDLE_FORMAT, "the NPY header has a damaged type");
    const char *end = read_digits(text + 1, &npy->width);
    if (*text != 'O' && end - text - 1 > MAX_WIDTH_DIGITS)
        return hd_fail(HUDDLE_FORMAT, "the NPY header has a damaged type");
    npy->kind = *text;
    return HUDDLE_OK;
}

/* Unknown kinds have size 0. The width of U counts characters of four bytes. */
int64_t hd_npy_element_size(const hd_npy *npy) {
    if (strchr("fiubcSU", npy->kind) == NULL)
        return 0;
    return npy->kind == 'U' ? 4 * npy->width : npy->width;
}

/* Computes the number of bytes of all elements. Texts of length 0 would allow any number of
 * elements in no bytes, and memory would be allocated for a count that the file does not back. */
static huddle_status measure_elements(hd_npy *npy) {
    int64_t size = hd_npy_element_size(npy);
    if (size > 0 && npy->count > INT64_MAX / 4 / size)
        return hd_fail(HUDDLE_FORMAT, "the NPY header declares an invalid size");
    if ((npy->kind == 'S' || npy->kind == 'U') && size == 0)
        return hd_fail(HUDDLE_FORMAT, "the NPY header declares strings of length 0");
    npy->bytes = npy->count * size;
    return HUDDLE_OK;
}

/* The header is copied, so that it ends with a zero byte and string functions cannot run into the
 * elements. */
huddle_status hd_npy_parse(const char *text, int64_t size, hd_npy *npy) {
    huddle_status status = HUDDLE_OK;
    char *header = NULL;
    int64_t length = header_length(text, size);
    *npy = (hd_npy){.count = 1};
    if (length < 0 || length > size)
        FAIL(HUDDLE_FORMAT, "the NPY header is damaged or cut short");
    int64_t begin = text[MAGIC] == 1 ? SHORT_PREFIX : LONG_PREFIX;
    header = hd_copy_part(text + begin, length - begin);
    if (header == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a header of %lld bytes", (long long)length);
    npy->offset = length;
    TRY(parse_type(find_value(header, "'descr'"), npy));
    /* Records are not read, so their shape does not matter. */
    if (npy->kind == 'V')
        goto done;
    TRY(parse_shape(find_value(header, "'shape'"), npy));
    const char *order = find_value(header, "'fortran_order'");
    npy->fortran = order != NULL && *order == 'T';
    TRY(measure_elements(npy));
done:
    huddle_free(header);
    return status;
}

/* Padded with blanks to a multiple of 64 bytes, so that elements are aligned when NumPy maps the
 * file; the last byte is a newline. Version 1 is sufficient: the header is far shorter than 65536
 * bytes. */
huddle_status hd_npy_header(const char *type, int32_t rank, const int64_t *dims, char **header,
                            int64_t *length) {
    huddle_status status = HUDDLE_OK;
    char shape[24 * HD_NPY_MAX_RANK] = "", text[24 * HD_NPY_MAX_RANK + 128];
    size_t used = 0;
    for (int32_t k = 0; k < rank; k++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, k == 0 ? "%lld" : ", %lld",
                                 (long long)dims[k]);
    int size =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }",
                 type, shape, rank == 1 ? "," : "");
    *length = (SHORT_PREFIX + size + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    ALLOC(*header, *length);
    memset(*header, ' ', (size_t)*length);
    memcpy(*header, "\x93NUMPY\x01\x00", 8);
    (*header)[8] = (char)((*length - SHORT_PREFIX) & 255);
    (*header)[9] = (char)((*length - SHORT_PREFIX) >> 8);
    memcpy(*header + SHORT_PREFIX, text, (size_t)size);
    (*header)[*length - 1] = '\n';
done:
    return status;
}

/* ---- entries of an archive ---------------------------------------------------------------- */

/* The whole size is known before the first byte, so that hd_zip_begin() can choose the header. */
huddle_status hd_npy_begin(hd_zip_writer *zip, const char *name, hd_zip_method method,
                           const char *type, int32_t rank, const int64_t *dims, int64_t *bytes) {
    huddle_status status = HUDDLE_OK;
    char *header = NULL, *entry = NULL;
    int64_t length;
    hd_npy npy;
    TRY(hd_npy_header(type, rank, dims, &header, &length));
    /* The parser knows how many bytes that type and shape take. */
    TRY(hd_npy_parse(header, length, &npy));
    entry = hd_join_text(name, ".npy");
    if (entry == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    TRY(hd_zip_begin(zip, entry, method, length + npy.bytes));
    TRY(hd_zip_write(zip, header, length));
    *bytes = npy.bytes;
done:
    FREE(header, entry);
    return status;
}

huddle_status hd_npy_add(hd_zip_writer *zip, const char *name, hd_zip_method method,
                         const char *type, int32_t rank, const int64_t *dims,
                         const void *elements) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes;
    TRY(hd_npy_begin(zip, name, method, type, rank, dims, &bytes));
    TRY(hd_zip_write(zip, elements, bytes));
    TRY(hd_zip_end(zip));
done:
    return status;
}

/* Opens an entry and reads its header, after which the stream is at the first element, and checks
 * that the entry has room for the elements. MAX_HEADER bounds the allocation, whatever the length
 * field contains. */
static huddle_status open_array(const hd_zip *zip, const hd_zip_entry *entry, hd_zip_stream *stream,
                                hd_npy *npy) {
    huddle_status status = HUDDLE_OK;
    char *header = NULL;
    int64_t length = 0;
    TRY(hd_zip_stream_open(zip, entry, stream));
    ALLOC(header, MAX_HEADER);
    if (entry->size >= LONG_PREFIX) {
        TRY(hd_zip_stream_read(stream, header, LONG_PREFIX));
        length = header_length(header, LONG_PREFIX);
    }
    /* Also -1, for a wrong magic number. */
    if (length < LONG_PREFIX || length > MAX_HEADER || length > entry->size)
        FAIL(HUDDLE_FORMAT, "'%s' is not an array of NumPy", entry->name);
    TRY(hd_zip_stream_read(stream, header + LONG_PREFIX, length - LONG_PREFIX));
    status = hd_npy_parse(header, length, npy);
    if (status != HUDDLE_OK && status != HUDDLE_NO_MEMORY)
        status = hd_fail_at(status, "'%s'", entry->name);
    TRY(status);
    if (npy->bytes > entry->size - length)
        FAIL(HUDDLE_FORMAT, "'%s' needs %lld bytes, but only %lld follow its header", entry->name,
             (long long)npy->bytes, (long long)(entry->size - length));
done:
    huddle_free(header);
    return status;
}

huddle_status hd_npy_peek(const hd_zip *zip, const hd_zip_entry *entry, hd_npy *npy) {
    hd_zip_stream stream = {0};
    huddle_status status = open_array(zip, entry, &stream, npy);
    hd_zip_stream_free(&stream);
    return status;
}

huddle_status hd_npy_read_to(const hd_zip *zip, const hd_zip_entry *entry, void *to, int64_t size) {
    huddle_status status = HUDDLE_OK;
    hd_zip_stream stream = {0};
    hd_npy npy;
    TRY(open_array(zip, entry, &stream, &npy));
    if (npy.bytes != size)
        FAIL(HUDDLE_FORMAT, "'%s' has %lld bytes of elements, not %lld", entry->name,
             (long long)npy.bytes, (long long)size);
    TRY(hd_zip_stream_read(&stream, to, size));
    TRY(hd_zip_stream_finish(&stream));
done:
    hd_zip_stream_free(&stream);
    return status;
}

/* The allocation is bounded by the size of the entry, which the directory has checked against the
 * file. */
huddle_status hd_npy_read(const hd_zip *zip, const hd_zip_entry *entry, hd_npy *npy, char **bytes) {
    huddle_status status = HUDDLE_OK;
    char *elements = NULL;
    *bytes = NULL;
    TRY(hd_npy_peek(zip, entry, npy));
    ALLOC(elements, npy->bytes);
    TRY(hd_npy_read_to(zip, entry, elements, npy->bytes));
    *bytes = elements;
    elements = NULL;
done:
    huddle_free(elements);
    return status;
}
