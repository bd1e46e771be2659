#define _DEFAULT_SOURCE
#include "io/npy.h"

#include "base/check.h"
#include "base/parallel.h"
#include "io/formats.h"
#include "io/number.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- header --------------------------------------------------------------------------------- */

int64_t hd_npy_header_length(const char *text, int64_t size) {
    const unsigned char *b = (const unsigned char *)text;
    if (size < 12 || memcmp(text, "\x93NUMPY", 6) != 0)
        return -1;
    if (b[6] == 1)
        return 10 + b[8] + 256 * b[9];
    return 12 + b[8] + 256 * b[9] + 65536 * (int64_t)b[10] + 16777216 * (int64_t)b[11];
}

/* Where the value of 'key' begins in the header's dictionary, or NULL. */
static const char *value_of(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    at += strspn(at, "'\" \t:");
    return at;
}

static huddle_status parse_shape(const char *text, hd_npy *npy) {
    int32_t rank = 0;
    if (text == NULL || *text != '(')
        return hd_fail(HUDDLE_FORMAT, "the NPY header has no shape");
    for (text++; *text != ')'; text += strspn(text, ", L")) {
        const char *end;
        uint64_t length = 0;
        text += strspn(text, " ");
        end = hd_digits(text, &length);
        if (end == text || end - text > 18)
            return hd_fail(HUDDLE_FORMAT, "the NPY header has a damaged shape");
        if (rank == 3) {
            npy->kind = HD_OTHER;
            npy->trouble = "has more than three dimensions";
            npy->array.rank = 0;
            return HUDDLE_OK;
        }
        npy->array.dims[rank++] = (int64_t)length;
        text = end;
    }
    npy->array.rank = rank;
    return HUDDLE_OK;
}

static void parse_number_type(char kind, int64_t width, hd_npy *npy) {
    static const struct {
        char kind;
        int64_t width;
        hd_element element;
    } known[] = {{'f', 2, HD_F2}, {'f', 4, HD_F4}, {'f', 8, HD_F8}, {'i', 1, HD_I1},
                 {'i', 2, HD_I2}, {'i', 4, HD_I4}, {'i', 8, HD_I8}, {'u', 1, HD_U1},
                 {'u', 2, HD_U2}, {'u', 4, HD_U4}, {'u', 8, HD_U8}, {'b', 1, HD_U1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].kind == kind && known[k].width == width) {
            npy->kind = HD_ARRAY;
            npy->array.element = known[k].element;
            return;
        }
    npy->kind = HD_OTHER;
    npy->trouble = kind == 'c'   ? "holds complex numbers"
                   : kind == 'O' ? "holds Python objects"
                                 : "holds elements of an unknown type";
}

static huddle_status parse_type(const char *text, hd_npy *npy) {
    uint64_t width = 0;
    if (text == NULL)
        return hd_fail(HUDDLE_FORMAT, "the NPY header has no type");
    if (*text == '[') {
        npy->kind = HD_OTHER;
        npy->trouble = "holds records";
        return HUDDLE_OK;
    }
    npy->array.swapped = *text == '>'; /* this machine is little-endian, like nearly all */
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 0)
        npy->array.swapped = *text == '<';
    text += strspn(text, "<>|=");
    const char *end = *text == '\0' ? text : hd_digits(text + 1, &width);
    if (*text != 'O' && (end == text || end - text > 10))
        return hd_fail(HUDDLE_FORMAT, "the NPY header has a damaged type");
    if (*text == 'U' || *text == 'S') {
        npy->kind = HD_TEXTS;
        npy->text_width = (int64_t)width;
        npy->unicode = *text == 'U';
    } else {
        parse_number_type(*text, (int64_t)width, npy);
    }
    return HUDDLE_OK;
}

/* Bytes of one element, 0 for texts of no length. */
static int64_t element_bytes(const hd_npy *npy) {
    return npy->kind == HD_TEXTS ? npy->text_width * (npy->unicode ? 4 : 1)
                                 : hd_element_size(npy->array.element);
}

static huddle_status measure(hd_npy *npy, bool first_fastest) {
    hd_array bytes = npy->array;
    bytes.element = HD_U1;
    int64_t size = element_bytes(npy), count = hd_array_count(&bytes, INT64_MAX / 2);
    if (count < 0 || (size > 0 && count > INT64_MAX / 4 / size))
        return hd_fail(HUDDLE_FORMAT, "the NPY header claims an impossible size");
    if (npy->kind == HD_TEXTS && size == 0)
        return hd_fail(HUDDLE_FORMAT, "the NPY header claims texts of no length");
    npy->bytes = count * size;
    hd_array_pack(&npy->array, first_fastest);
    return HUDDLE_OK;
}

huddle_status hd_npy_parse(const char *text, int64_t size, hd_npy *npy) {
    huddle_status status = HUDDLE_OK;
    char *header = NULL;
    int64_t length = hd_npy_header_length(text, size);
    memset(npy, 0, sizeof *npy);
    if (length < 0 || length > size)
        FAIL(HUDDLE_FORMAT, "the NPY header is damaged or cut short");
    int64_t begin = text[6] == 1 ? 10 : 12;
    header = hd_copy_part(text + begin, length - begin);
    if (header == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a header of %lld bytes", (long long)length);
    npy->offset = length;
    TRY(parse_type(value_of(header, "'descr'"), npy));
    if (npy->kind == HD_OTHER)
        goto done;
    TRY(parse_shape(value_of(header, "'shape'"), npy));
    if (npy->kind == HD_OTHER)
        goto done;
    const char *order = value_of(header, "'fortran_order'");
    TRY(measure(npy, order != NULL && *order == 'T'));
done:
    huddle_free(header);
    return status;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static uint32_t character(const hd_npy *npy, const char *at) {
    unsigned char b[4];
    if (!npy->unicode)
        return (unsigned char)*at;
    memcpy(b, at, 4);
    if (npy->array.swapped)
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

huddle_status hd_npy_texts(const hd_npy *npy, const char *elements, hd_labels *texts) {
    huddle_status status = HUDDLE_OK;
    int64_t step = npy->unicode ? 4 : 1, size = element_bytes(npy);
    int64_t count = size > 0 ? npy->bytes / size : 0;
    *texts = (hd_labels){0};
    ALLOC(texts->texts, count > 0 ? count : 1);
    ALLOC(texts->arena, npy->bytes + count);
    texts->n = count;
    char *to = texts->arena;
    for (int64_t i = 0; i < count; i++) {
        const char *from = elements + i * npy->text_width * step;
        char *begin = to;
        for (int64_t k = 0; k < npy->text_width; k++) {
            uint32_t c = character(npy, from + k * step);
            if (c == 0)
                break;
            if (npy->unicode)
                to = hd_put_utf8(c, to);
            else
                *to++ = (char)c;
        }
        texts->texts[i] = (hd_span){begin, to - begin};
        *to++ = '\n';
    }
done:
    if (status != HUDDLE_OK)
        hd_labels_free(texts);
    return status;
}

/* ---- file ----------------------------------------------------------------------------------- */

bool hd_npy_is(const hd_file *file) {
    return file->size >= 6 && memcmp(file->text, "\x93NUMPY", 6) == 0;
}

typedef struct direct_read {
    const hd_file *file;
    int64_t offset;
    char *to;
    atomic_bool suspect; /* some value is not finite */
} direct_read;

static huddle_status read_bytes(const direct_read *r, int64_t begin, int64_t end) {
    while (begin < end) {
        ssize_t got = pread(r->file->descriptor, r->to + begin, (size_t)(end - begin),
                            (off_t)(r->offset + begin));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return hd_fail(HUDDLE_IO, "cannot be read: %s", got < 0 ? strerror(errno) : "it ends");
        begin += got;
    }
    return HUDDLE_OK;
}

/* An exponent of all ones marks what is not finite. */
static bool all_finite(const char *bytes, int64_t count) {
    const uint32_t ones = 0x7F800000;
    uint32_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, bytes + 4 * i, 4);
        bad |= (bits & ones) == ones;
    }
    return bad == 0;
}

/* In steps that are still in the cache when their values are looked at. */
static huddle_status read_block(void *argument, hd_chunk chunk) {
    enum { STEP = 1 << 18 };
    direct_read *r = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t begin = chunk.begin; begin < chunk.end; begin += STEP) {
        int64_t end = chunk.end - begin < STEP ? chunk.end : begin + STEP;
        TRY(read_bytes(r, begin, end));
        if (!all_finite(r->to + begin, (end - begin) / 4))
            atomic_store_explicit(&r->suspect, true, memory_order_relaxed);
    }
done:
    return status;
}

/* Reading spares the page table entries that a map would need. */
static huddle_status read_floats(hd_request *request, hd_container *container,
                                 const hd_variable *variable, float *values, bool *placed,
                                 bool *checked) {
    enum { BLOCK = 1 << 22 };
    huddle_status status = HUDDLE_OK;
    const hd_array *array = &variable->array;
    direct_read r = {container->file, array->bytes - container->file->text, (char *)values, false};
    *placed = array->element == HD_F4 && !array->swapped && container->file->descriptor >= 0;
    if (!*placed)
        return status;
    int64_t bytes = hd_array_count(array, INT64_MAX / 2) * (int64_t)sizeof(float);
    TRY(hd_parallel(request->context, "read", bytes, BLOCK, read_block, &r));
    *checked = !atomic_load(&r.suspect);
done:
    return status;
}

huddle_status hd_npy_open(hd_request *request, const hd_file *file, hd_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_npy npy;
    (void)request;
    TRY(hd_npy_parse(file->text, file->size, &npy));
    if (npy.bytes > file->size - npy.offset)
        FAIL(HUDDLE_FORMAT, "the array needs %lld bytes, but only %lld follow its header",
             (long long)npy.bytes, (long long)(file->size - npy.offset));
    hd_variable *variable = hd_container_add(container, "array", 5);
    if (variable == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    variable->kind = npy.kind;
    variable->trouble = npy.trouble;
    variable->array = npy.array;
    variable->array.bytes = file->text + npy.offset;
    container->read_floats = read_floats;
    if (npy.kind == HD_TEXTS)
        TRY(hd_npy_texts(&npy, file->text + npy.offset, &variable->texts));
done:
    return status;
}

huddle_status hd_npy_header(const char *type, int rank, const int64_t *dims, char **header,
                            int64_t *length) {
    huddle_status status = HUDDLE_OK;
    char shape[96] = "", text[256];
    size_t used = 0;
    for (int k = 0; k < rank; k++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, k == 0 ? "%lld" : ", %lld",
                                 (long long)dims[k]);
    int size =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }",
                 type, shape, rank == 1 ? "," : "");
    *length = (10 + size + 1 + 63) / 64 * 64;
    ALLOC(*header, *length);
    memset(*header, ' ', (size_t)*length);
    memcpy(*header, "\x93NUMPY\x01\x00", 8);
    (*header)[8] = (char)((*length - 10) & 255);
    (*header)[9] = (char)((*length - 10) >> 8);
    memcpy(*header + 10, text, (size_t)size);
    (*header)[*length - 1] = '\n';
done:
    return status;
}
