#include "io/npy.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"
#include "io/formats.h"
#include "matrix/points.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* ---- header --------------------------------------------------------------------------------- */

/* Why elements of that type are not read, or NULL. Kind and width are those of NumPy's type
 * strings, "<f4", "|b1"; booleans are bytes. */
static const char *find_element(const hd_npy *npy, hd_io_element *element) {
    static const struct {
        char kind;
        int64_t width;
        hd_io_element element;
    } known[] = {{'f', 2, HD_IO_F2}, {'f', 4, HD_IO_F4}, {'f', 8, HD_IO_F8}, {'i', 1, HD_IO_I1},
                 {'i', 2, HD_IO_I2}, {'i', 4, HD_IO_I4}, {'i', 8, HD_IO_I8}, {'u', 1, HD_IO_U1},
                 {'u', 2, HD_IO_U2}, {'u', 4, HD_IO_U4}, {'u', 8, HD_IO_U8}, {'b', 1, HD_IO_U1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].kind == npy->kind && known[k].width == npy->width) {
            *element = known[k].element;
            return NULL;
        }
    /* The message names what the array contains, since that is what has to be converted before
     * saving. */
    return npy->kind == 'c'   ? "contains complex numbers"
           : npy->kind == 'O' ? "contains Python objects"
           : npy->kind == 'V' ? "contains records"
                              : "contains elements of an unknown type";
}

/* More dimensions than HD_IO_MAX_RANK do not fit hd_io_array: such an array is only listed. */
void hd_io_npy_describe(const hd_npy *npy, hd_io_variable *variable) {
    hd_io_array *array = &variable->array;
    variable->kind = npy->kind == 'S' || npy->kind == 'U' ? HD_IO_TEXTS : HD_IO_ARRAY;
    if (variable->kind == HD_IO_ARRAY)
        variable->refusal = find_element(npy, &array->element);
    if (variable->refusal == NULL && npy->rank > HD_IO_MAX_RANK)
        variable->refusal = "has more than four dimensions";
    if (variable->refusal != NULL) {
        variable->kind = HD_IO_OTHER;
        return;
    }
    array->swapped = npy->swapped;
    array->rank = npy->rank;
    for (int32_t k = 0; k < npy->rank; k++)
        array->dims[k] = npy->dims[k];
    hd_io_array_pack(array, npy->fortran);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* 'S' are bytes, 'U' is UCS-4 in the byte order of the array. */
static uint32_t character_at(const hd_npy *npy, const char *at) {
    return npy->kind == 'S' ? (unsigned char)*at : hd_io_word(at, 4, npy->swapped);
}

/* NumPy stores texts of one width, padded by zeros. The arena has room for all of it: UTF-8 is
 * never longer than the four bytes per character of UCS-4, and each text is followed by a line
 * feed. */
huddle_status hd_io_npy_texts(const hd_npy *npy, const char *elements, hd_io_labels *texts) {
    huddle_status status = HUDDLE_OK;
    int64_t step = npy->kind == 'U' ? 4 : 1, count = npy->count;
    *texts = (hd_io_labels){0};
    ALLOC(texts->texts, count > 0 ? count : 1);
    ALLOC(texts->arena, npy->bytes + count);
    texts->n = count;
    char *to = texts->arena;
    for (int64_t i = 0; i < count; i++) {
        const char *from = elements + i * npy->width * step;
        char *begin = to;
        for (int64_t k = 0; k < npy->width; k++) {
            uint32_t c = character_at(npy, from + k * step);
            if (c == 0)
                break;
            if (npy->kind == 'U')
                to = hd_put_utf8(c, to);
            else
                *to++ = (char)c;
        }
        texts->texts[i] = (hd_io_span){begin, to - begin};
        *to++ = '\n';
    }
done:
    return status;
}

/* ---- file ----------------------------------------------------------------------------------- */

bool hd_io_npy_is(const hd_file *file) {
    return file->size >= 6 && memcmp(file->text, "\x93NUMPY", 6) == 0;
}

/* The argument of read_block(). */
typedef struct direct_read {
    const hd_file *file;
    int64_t offset;
    char *to;
    atomic_bool suspect; /* some value is not finite */
} direct_read;

/* An exponent of all ones marks infinity and NaN. Testing bits compiles to a loop without
 * branches. */
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

/* In steps that are still in the cache when their values are examined. One suspicious value is
 * enough for the caller to check all of them again and to name the first: the message is not
 * worth a faster way. */
static huddle_status read_block(void *argument, hd_chunk chunk) {
    enum { STEP = 1 << 18 };
    direct_read *r = argument;
    huddle_status status = HUDDLE_OK;
    for (int64_t begin = chunk.begin; begin < chunk.end; begin += STEP) {
        int64_t end = chunk.end - begin < STEP ? chunk.end : begin + STEP;
        int64_t got =
            hd_file_read_at(r->file->descriptor, r->to + begin, end - begin, r->offset + begin);
        if (got < end - begin)
            FAIL(HUDDLE_IO, "cannot be read: %s", got < 0 ? strerror(errno) : "it ends");
        if (!all_finite(r->to + begin, (end - begin) / 4))
            atomic_store_explicit(&r->suspect, true, memory_order_relaxed);
    }
done:
    return status;
}

/* Reads straight into the points instead of copying from the map, which saves the page faults
 * of touching the map. Only for a plain file: unpacked bytes have no descriptor. Blocks are a
 * multiple of the element size, so no float is divided between two of them. */
static huddle_status read_floats(hd_io_request *request, hd_io_container *container,
                                 const hd_io_variable *variable, float *values, bool *placed,
                                 bool *checked) {
    enum { BLOCK = 1 << 22 };
    huddle_status status = HUDDLE_OK;
    const hd_io_array *array = &variable->array;
    direct_read r = {container->file, array->bytes - container->file->text, (char *)values, false};
    *placed = array->element == HD_IO_F4 && !array->swapped && container->file->descriptor >= 0;
    if (!*placed)
        return status;
    int64_t bytes = hd_io_array_count(array, INT64_MAX / 2) * (int64_t)sizeof(float);
    TRY(hd_parallel(request->context, "read", bytes, BLOCK, read_block, &r));
    *checked = !atomic_load(&r.suspect);
done:
    return status;
}

/* The owner of values that are in a mapped file. */
typedef struct file_mapping {
    huddle_mapping base;
    hd_file file;
} file_mapping;

static void free_mapping(huddle_mapping *mapping) {
    file_mapping *own = (file_mapping *)mapping;
    hd_file_close(&own->file);
    huddle_free(own);
}

/* NumPy aligns the elements to 64 bytes, other programs may not; then they are copied. */
static huddle_status map_floats(const hd_io_container *container, const hd_io_variable *variable,
                                huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    const hd_io_array *array = &variable->array;
    file_mapping *made = NULL;
    int64_t offset = array->bytes - container->file->text;
    if (array->element != HD_IO_F4 || array->swapped || container->file->descriptor < 0 ||
        offset % (int64_t)sizeof(float) != 0)
        return status;
    ALLOC_ZERO(made, 1);
    made->base.free = free_mapping;
    TRY(hd_file_map_again(container->file, &made->file));
    points->values = (float *)(uintptr_t)(made->file.text + offset);
    points->mapping = &made->base;
    made = NULL;
done:
    huddle_free(made);
    return status;
}

/* Of texts only those of the wanted rows are converted. */
static huddle_status load_texts(hd_io_container *container, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_npy npy;
    int64_t first = 0;
    TRY(hd_npy_parse(container->file->text, container->file->size, &npy));
    npy.count = hd_io_variable_count(variable);
    for (int32_t k = 0; k < variable->array.rank; k++)
        first += variable->starts[k] * variable->array.steps[k];
    npy.bytes = npy.count * hd_npy_element_size(&npy);
    const char *elements = container->file->text + npy.offset + first * hd_npy_element_size(&npy);
    TRY(hd_io_npy_texts(&npy, elements, &variable->texts));
done:
    return status;
}

/* hd_npy_parse() has checked that the dimensions multiply to npy.bytes; here these are
 * compared with the file. More bytes than needed are ignored, as NumPy does. */
huddle_status hd_io_npy_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable;
    hd_npy npy;
    (void)request;
    TRY(hd_npy_parse(file->text, file->size, &npy));
    if (npy.bytes > file->size - npy.offset)
        FAIL(HUDDLE_FORMAT, "the array needs %lld bytes, but only %lld follow its header",
             (long long)npy.bytes, (long long)(file->size - npy.offset));
    TRY(hd_io_container_add(container, "array", 5, &variable));
    hd_io_npy_describe(&npy, variable);
    container->divisible = file->descriptor >= 0;
    container->read_floats = read_floats;
    container->map_floats = map_floats;
    if (variable->kind == HD_IO_TEXTS)
        container->load = load_texts;
    else
        variable->array.bytes = file->text + npy.offset;
done:
    return status;
}
