/* MAT v5 (also v6, and v7, which is v5 with compressed variables). After a header of 128 bytes
 * the file is a sequence of elements, each a tag (type and length) and its bytes; a variable
 * is an element of type miMATRIX with elements inside. An array is taken as it is stored, from
 * the mapped file if it is not compressed, and every size is checked against the bytes present
 * before memory is requested. */
#include "archive/zip.h"
#include "base/check.h"
#include "io/mat.h"

#include <string.h>
#include <zlib.h>

/* HEAD: bytes of a compressed variable that are unpacked to list it; they contain its class,
 * dimensions and name. MAX_RATIO: deflate cannot compress further. */
enum { HEADER = 128, HEAD = 1024, MAX_RATIO = 1032 };
/* miINT8 and so on in "MAT-File Format", table 1-1: the storage type of an element. It may be
 * smaller than the class of the variable: MATLAB stores doubles that are whole numbers as
 * bytes. */
enum { MI_INT8 = 1, MI_UINT8, MI_INT16, MI_UINT16, MI_INT32, MI_UINT32, MI_SINGLE, MI_DOUBLE = 9 };
enum { MI_INT64 = 12, MI_UINT64, MI_MATRIX, MI_COMPRESSED, MI_UTF8, MI_UTF16, MI_UTF32 };
/* mxCELL_CLASS and so on, table 1-3: the class that a variable has in MATLAB. 16 and 17 are
 * not documented. */
enum { CLASS_CELL = 1, CLASS_STRUCT, CLASS_CHAR = 4, CLASS_SPARSE, CLASS_DOUBLE };
enum { CLASS_UINT64 = 15, CLASS_FUNCTION, CLASS_OPAQUE };
enum { FLAG_LOGICAL = 0x0200, FLAG_COMPLEX = 0x0800 };

/* The bytes of one element, of which `there` are available and `size` are claimed: they differ
 * while only the head of a compressed variable has been unpacked. */
typedef struct span {
    const char *bytes;
    int64_t there, size;
    bool swapped;
} span;

/* A part of an element: a type and `length` bytes from `begin`. */
typedef struct part {
    uint32_t type;
    int64_t begin, length;
} part;

/* The beginning of a matrix: array flags, dimensions and name are its first three parts. */
typedef struct head {
    uint32_t class, flags;
    hd_io_array array; /* rank and dims */
    part name;
    part object;  /* CLASS_OPAQUE: the name of its class */
    int64_t rest; /* where its contents begin */
} head;

/* The caller has checked that the four bytes are available. */
static uint32_t word_at(const span *s, int64_t at) {
    return hd_io_word(s->bytes + at, 4, s->swapped);
}

/* The part whose tag is at *at; advances *at past it. False if it does not fit. A tag has 8
 * bytes, type and length. If the upper half of its first word is not zero, this is a small
 * element: that half is the length, and the data, at most four bytes, are in the second word.
 * Parts are padded to 8 bytes, except compressed ones. The length is compared by subtraction,
 * since a sum could overflow. */
static bool next_part(const span *s, int64_t *at, part *p) {
    if (*at + 8 > s->size || *at + 8 > s->there)
        return false;
    uint32_t first = word_at(s, *at);
    if (first >> 16 != 0) { /* up to four bytes, inside the tag */
        *p = (part){first & 0xFFFF, *at + 4, first >> 16};
        *at += 8;
        return p->length <= 4;
    }
    *p = (part){first, *at + 8, word_at(s, *at + 4)};
    if (p->length > s->size - p->begin)
        return false;
    *at = p->begin + p->length;
    if (p->type != MI_COMPRESSED)
        *at += (8 - *at % 8) % 8;
    return true;
}

/* A part may be claimed correctly without having been unpacked yet. */
static bool next_buffered(const span *s, int64_t *at, part *p) {
    return next_part(s, at, p) && p->begin + p->length <= s->there;
}

/* The matrix inside s whose tag is at *at, which is advanced past it. */
static bool next_matrix(const span *s, int64_t *at, span *matrix) {
    part p;
    if (!next_buffered(s, at, &p) || p.type != MI_MATRIX)
        return false;
    *matrix = (span){s->bytes + p.begin, p.length, p.length, s->swapped};
    return true;
}

/* The array flags are two words, of which the first contains the class in its lowest byte and
 * the flags in the next. More than four dimensions are recorded as five: the variable is
 * listed, but not read. */
static bool parse_head(const span *s, head *h) {
    part flags, dims;
    int64_t at = 0;
    memset(h, 0, sizeof *h);
    /* Eight bytes are expected, but the second word is not used here. */
    if (!next_buffered(s, &at, &flags) || flags.length < 4)
        return false;
    uint32_t word = word_at(s, flags.begin);
    h->class = word & 0xFF;
    h->flags = word & 0xFF00;
    /* An object has the name of its class system (MCOS) and of its class in the place of
     * dimensions. */
    if (h->class == CLASS_OPAQUE)
        return next_buffered(s, &at, &h->name) && next_buffered(s, &at, &dims) &&
               next_buffered(s, &at, &h->object);
    if (!next_buffered(s, &at, &dims) || (dims.type != MI_INT32 && dims.type != MI_UINT32) ||
        !next_buffered(s, &at, &h->name))
        return false;
    h->array.rank =
        dims.length / 4 > HD_IO_MAX_RANK ? HD_IO_MAX_RANK + 1 : (int32_t)(dims.length / 4);
    for (int32_t k = 0; k < h->array.rank && k < HD_IO_MAX_RANK; k++)
        h->array.dims[k] = (int32_t)word_at(s, dims.begin + 4 * k);
    h->rest = at;
    return true;
}

/* Types without a number of their own (texts, matrices) are not among them. */
static bool element_of(uint32_t type, hd_io_element *element) {
    static const struct {
        bool known;
        hd_io_element element;
    } types[] = {[MI_INT8] = {true, HD_IO_I1},   [MI_UINT8] = {true, HD_IO_U1},
                 [MI_INT16] = {true, HD_IO_I2},  [MI_UINT16] = {true, HD_IO_U2},
                 [MI_INT32] = {true, HD_IO_I4},  [MI_UINT32] = {true, HD_IO_U4},
                 [MI_SINGLE] = {true, HD_IO_F4}, [MI_DOUBLE] = {true, HD_IO_F8},
                 [MI_INT64] = {true, HD_IO_I8},  [MI_UINT64] = {true, HD_IO_U8}};
    bool known = type <= MI_UINT64 && types[type].known;
    *element = known ? types[type].element : HD_IO_F8;
    return known;
}

/* The part at *at as a vector of numbers; false if it is none, or not all at hand. */
static bool vector_at(const span *s, int64_t *at, hd_io_array *vector) {
    part p;
    *vector = (hd_io_array){.rank = 1, .swapped = s->swapped};
    if (!next_buffered(s, at, &p) || !element_of(p.type, &vector->element))
        return false;
    /* A length that is no multiple of the element size is cut. */
    vector->dims[0] = p.length / hd_io_element_size(vector->element);
    vector->bytes = s->bytes + p.begin;
    hd_io_array_pack(vector, false);
    return true;
}

/* ---- unpacking ------------------------------------------------------------------------------ */

/* Up to `size` bytes of a compressed element; returns how many there were, so that a damaged
 * stream shows as a short count. */
static int64_t unpack_element(const char *packed, int64_t length, char *to, int64_t size) {
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK)
        return 0;
    int64_t unpacked = hd_zip_inflate(&stream, &packed, &length, to, size);
    inflateEnd(&stream);
    return unpacked;
}

/* The matrix in the top-level element whose tag is at `place`: all of it, or at least its
 * head. What has to be unpacked is stored in *room, which the caller frees. A compressed
 * element contains one whole miMATRIX element; its tag is unpacked first, because the size it
 * claims has to be plausible before that much is allocated. */
static huddle_status open_element(const hd_file *file, int64_t place, bool whole, span *matrix,
                                  char **room) {
    huddle_status status = HUDDLE_OK;
    span all = {file->text, file->size, file->size, file->text[126] == 'M'};
    part element;
    *room = NULL;
    /* Also checked when the file was listed; a variable is loaded from the same bytes. */
    if (!next_part(&all, &place, &element))
        FAIL(HUDDLE_FORMAT, "the file is cut short or damaged");
    *matrix = (span){file->text + element.begin, element.length, element.length, all.swapped};
    if (element.type != MI_COMPRESSED)
        goto done;
    int64_t n_bytes = HEAD;
    char tag[8];
    span inner = {tag, 8, INT64_MAX, all.swapped};
    if (unpack_element(matrix->bytes, element.length, tag, 8) < 8 ||
        word_at(&inner, 0) != MI_MATRIX)
        FAIL(HUDDLE_FORMAT, "a packed variable is damaged");
    int64_t size = word_at(&inner, 4);
    if (size / MAX_RATIO > element.length)
        FAIL(HUDDLE_FORMAT, "a compressed variable has an invalid size of %lld bytes",
             (long long)size);
    if (whole || size < n_bytes)
        n_bytes = size;
    ALLOC(*room, n_bytes + 8);
    int64_t got = unpack_element(matrix->bytes, element.length, *room, n_bytes + 8);
    if (got < n_bytes + 8)
        FAIL(HUDDLE_FORMAT, "a packed variable is cut short or damaged");
    *matrix = (span){*room + 8, n_bytes, size, all.swapped};
done:
    return status;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* MATLAB stores characters as uint16, SciPy and Octave as UTF-8. */
static int32_t unit_width(const part *p) {
    return p->type == MI_UTF32 ? 4 : p->type == MI_UINT16 || p->type == MI_UTF16 ? 2 : 1;
}

/* An empty text may have any type. */
static bool is_text(const head *h, const part *p) {
    return h->class == CLASS_CHAR && h->array.rank == 2 &&
           (p->length == 0 || p->type == MI_UTF8 || p->type == MI_UINT8 || p->type == MI_INT8 ||
            p->type == MI_UINT16 || p->type == MI_UTF16 || p->type == MI_UTF32);
}

static hd_io_characters characters_of(const span *s, const part *p, int64_t rows, int64_t length) {
    return (hd_io_characters){s->bytes + p->begin, unit_width(p), s->swapped, rows, length};
}

/* Decodes UTF-8 of exactly `count` characters; false if it is not that. Continuation bytes are not
 * checked one by one: hd_io_character_at() replaces what is no character. */
static bool decode_utf8(const unsigned char *bytes, int64_t size, int64_t count, uint32_t *to) {
    int64_t at = 0, got = 0;
    while (at < size && got < count) {
        uint32_t c = bytes[at++];
        int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
        if (more < 0 || at + more > size)
            return false;
        c &= more == 0 ? 0x7F : 0x3Fu >> more;
        for (; more > 0; more--)
            c = c << 6 | (bytes[at++] & 0x3F);
        to[got++] = c;
    }
    return at == size && got == count;
}

/* A matrix of characters, one text per row. The number of units is checked against the bytes
 * present in every branch before rows and length are multiplied for an allocation. */
static huddle_status load_chars(const span *s, const head *h, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    part p = {0};
    uint32_t *decoded = NULL;
    int64_t at = h->rest, rows = h->array.dims[0], length = h->array.dims[1];
    if (!next_buffered(s, &at, &p) || !is_text(h, &p) || rows < 0 || length < 0 ||
        rows > (length > 0 ? p.length / length : s->size))
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged text", variable->name);
    int64_t units = p.length / unit_width(&p);
    if (rows == 1)
        length = units; /* the dimensions may count characters where the units are bytes */
    hd_io_characters characters = characters_of(s, &p, rows, length);
    if (rows > 1 && p.type == MI_UTF8 && units != rows * length) {
        /* SciPy's dimensions count characters, Octave's bytes. */
        ALLOC(decoded, rows * length);
        if (!decode_utf8((const unsigned char *)characters.units, p.length, rows * length, decoded))
            FAIL(HUDDLE_FORMAT, "'%s' is a damaged text", variable->name);
        characters = (hd_io_characters){(const char *)decoded, 4, false, rows, length};
    } else if (length > 0 && rows > units / length) {
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged text", variable->name);
    }
    TRY(hd_io_characters_texts(&characters, &variable->texts));
done:
    huddle_free(decoded);
    return status;
}

/* The text in the cell whose tag is at *at: one row of characters, or none. A cell is a
 * complete matrix without a name; an empty one may lack the part with the characters. */
static bool text_in_cell(const span *s, int64_t *at, hd_io_characters *text) {
    part p;
    span cell;
    head h;
    if (!next_matrix(s, at, &cell) || !parse_head(&cell, &h))
        return false;
    int64_t rest = h.rest;
    if (!next_buffered(&cell, &rest, &p))
        p = (part){0};
    *text = characters_of(&cell, &p, 1, p.length / unit_width(&p));
    return is_text(&h, &p) && (h.array.dims[0] == 1 || p.length == 0);
}

/* Two passes: the first checks that all cells are texts and adds up their room. A cell takes a
 * tag of 8 bytes at least, which bounds the count that a damaged header can claim. */
static huddle_status load_cells(const span *s, const head *h, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    int64_t at = h->rest, count = h->array.dims[0] * h->array.dims[1], bytes = 0;
    hd_io_characters text;
    if (count > (s->size - h->rest) / 8)
        FAIL(HUDDLE_FORMAT, "'%s' is damaged: it claims %lld cells", variable->name,
             (long long)count);
    for (int64_t i = 0; i < count; i++) {
        if (!text_in_cell(s, &at, &text))
            FAIL(HUDDLE_UNSUPPORTED, "'%s' has cells that are not strings", variable->name);
        bytes += 4 * text.length + 1;
    }
    ALLOC(variable->texts.texts, count);
    ALLOC(variable->texts.arena, bytes);
    char *to = variable->texts.arena;
    at = h->rest;
    for (int64_t i = 0; i < count; i++) {
        (void)text_in_cell(s, &at, &text);
        hd_io_characters_add(&text, &variable->texts, &to);
    }
done:
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Some releases of MATLAB write the values of a logical sparse matrix as bytes but give their
 * type as double. The number of entries reveals it: there are more than the bytes could be
 * doubles. */
static void correct_logical(const span *s, int64_t at, const hd_io_array *offsets,
                            hd_io_array *values) {
    part p;
    int64_t count = 0;
    double ignored;
    if (offsets->dims[0] > 0 && next_buffered(s, &at, &p) && values->element == HD_IO_F8 &&
        hd_io_array_whole(offsets, offsets->dims[0] - 1, &count, &ignored) &&
        count > values->dims[0] && count <= p.length) {
        values->element = HD_IO_U1;
        values->dims[0] = count;
    }
}

/* The parts in the order of the file: ir (rows), jc (offsets of columns), then the values. */
static huddle_status load_sparse(const span *s, const head *h, hd_io_variable *variable) {
    hd_io_array positions, offsets, values;
    int64_t at = h->rest, place = 0;
    bool there = vector_at(s, &at, &positions) && vector_at(s, &at, &offsets);
    place = at;
    if (!there || !vector_at(s, &at, &values))
        return hd_fail(HUDDLE_FORMAT, "'%s' is a damaged sparse matrix", variable->name);
    if ((h->flags & FLAG_LOGICAL) != 0)
        correct_logical(s, place, &offsets, &values);
    return hd_io_mat_sparse(variable->name, h->array.dims[0], h->array.dims[1], &offsets,
                            &positions, &values, &variable->sparse);
}

/* Arrays stay in the map, or in the unpacked room, which the variable then owns. */
static huddle_status load_variable(hd_io_container *container, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    char *room = NULL;
    int64_t inside = variable->inside; /* the tag of the field of a struct */
    span s;
    head h;
    TRY(open_element(container->file, variable->place, true, &s, &room));
    if ((inside > 0 && !next_matrix(&s, &inside, &s)) || !parse_head(&s, &h))
        FAIL(HUDDLE_FORMAT, "'%s' is damaged", variable->name);
    if (variable->kind == HD_IO_SPARSE) {
        TRY(load_sparse(&s, &h, variable));
    } else if (variable->kind == HD_IO_TEXTS) {
        TRY(h.class == CLASS_CELL ? load_cells(&s, &h, variable) : load_chars(&s, &h, variable));
    } else {
        part p;
        int64_t at = h.rest;
        /* The sizes were checked when the variable was listed, from the same bytes. */
        if (!next_buffered(&s, &at, &p))
            FAIL(HUDDLE_FORMAT, "'%s' is cut short", variable->name);
        variable->array.bytes = s.bytes + p.begin;
        variable->owned = room;
        room = NULL;
    }
done:
    huddle_free(room);
    return status;
}

/* ---- listing -------------------------------------------------------------------------------- */

/* Why a matrix that is neither numbers nor texts is not read. */
static const char *refusal_of(const span *s, const head *h) {
    char class[32] = "";
    if (h->class == CLASS_OPAQUE && h->object.length < (int64_t)sizeof class)
        memcpy(class, s->bytes + h->object.begin, (size_t)h->object.length);
    return hd_io_mat_class_refusal(h->class == CLASS_STRUCT     ? "struct"
                                   : h->class == CLASS_FUNCTION ? "function_handle"
                                                                : class);
}

/* Why an array is not read, or NULL. Only the tag of the data is needed here, which follows the
 * name, so that HEAD bytes suffice. The product of the dimensions must fit the bytes that the tag
 * claims, whatever type they are stored in. */
static const char *describe_array(const span *s, const head *h, hd_io_variable *variable) {
    hd_io_array *array = &variable->array;
    part p;
    int64_t at = h->rest;
    if (!next_part(s, &at, &p) || !element_of(p.type, &array->element))
        return "is damaged";
    variable->kind = HD_IO_ARRAY;
    array->swapped = s->swapped;
    if (hd_io_array_count(array, p.length) < 0)
        return "claims more elements than there are";
    hd_io_array_pack(array, true);
    return NULL;
}

/* Decides the kind of a variable from its head; returns why it is not read, or NULL. The order puts
 * what invalidates the dimensions first, since the later tests use them. */
static const char *describe_variable(const span *s, const head *h, hd_io_variable *variable) {
    hd_io_array *array = &variable->array;
    array->rank = h->array.rank;
    memcpy(array->dims, h->array.dims, sizeof array->dims);
    if (h->class == CLASS_OPAQUE)
        return refusal_of(s, h);
    if (array->rank > HD_IO_MAX_RANK || array->rank < 2)
        return "has more than four dimensions";
    for (int32_t k = 0; k < array->rank; k++)
        if (array->dims[k] < 0)
            return "is damaged";
    if ((h->flags & FLAG_COMPLEX) != 0)
        return "contains complex numbers";
    if (h->class >= CLASS_DOUBLE && h->class <= CLASS_UINT64)
        return describe_array(s, h, variable);
    if (array->rank != 2 ||
        (h->class != CLASS_SPARSE && h->class != CLASS_CELL && h->class != CLASS_CHAR))
        return refusal_of(s, h);
    variable->kind = h->class == CLASS_SPARSE ? HD_IO_SPARSE : HD_IO_TEXTS;
    variable->wide = h->class == CLASS_SPARSE; /* MATLAB's are double, or logical */
    if (h->class == CLASS_CHAR)
        array->rank = 1; /* one text per row */
    return NULL;
}

/* Where a matrix that is listed is: its name after those of the structs around it, and the offset
 * of its tag after the beginning of the outermost matrix. */
typedef struct listed {
    const char *prefix, *name;
    int64_t length, place, inside;
    const char *outermost;
} listed;

/* A struct has the length of its fields' names, the names, each padded to that length, and then a
 * matrix for each field. False if it is an array of structs, empty or damaged. */
static bool parse_fields(const span *s, const head *h, part *names, int64_t *width, int64_t *at) {
    part length;
    *at = h->rest;
    if (h->class != CLASS_STRUCT || h->array.rank != 2 || h->array.dims[0] != 1 ||
        h->array.dims[1] != 1 || !next_buffered(s, at, &length) || length.length != 4 ||
        !next_buffered(s, at, names))
        return false;
    *width = word_at(s, length.begin);
    return *width > 0 && names->length >= *width;
}

static huddle_status list_matrix(hd_io_container *container, const listed *where, const span *s,
                                 int depth);

/* Offsets inside are those from the beginning of the outermost matrix. */
static huddle_status list_fields(hd_io_container *container, const listed *where, const span *s,
                                 const part *names, int64_t width, int64_t at, int depth) {
    huddle_status status = HUDDLE_OK;
    char *prefix;
    TRY(hd_io_mat_join(where->prefix, where->name, where->length, &prefix));
    for (int64_t k = 0; k < names->length / width; k++) {
        const char *name = s->bytes + names->begin + k * width;
        int64_t tag = at;
        span field;
        if (!next_matrix(s, &at, &field))
            FAIL(HUDDLE_FORMAT, "'%s' is damaged", prefix);
        listed inner = {prefix,
                        name,
                        (int64_t)strnlen(name, (size_t)width),
                        where->place,
                        s->bytes + tag - where->outermost,
                        where->outermost};
        TRY(list_matrix(container, &inner, &field, depth + 1));
    }
done:
    huddle_free(prefix);
    return status;
}

/* A variable, or those in a struct. */
static huddle_status list_matrix(hd_io_container *container, const listed *where, const span *s,
                                 int depth) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable;
    head h;
    part names;
    int64_t width = 0, at = 0;
    if (s->size == 0) /* an empty field, which is no more than its tag */
        return HUDDLE_OK;
    if (!parse_head(s, &h))
        return hd_fail(HUDDLE_FORMAT, "variable %lld is damaged", (long long)container->count + 1);
    if (depth < HD_IO_MAT_MAX_DEPTH && parse_fields(s, &h, &names, &width, &at))
        return list_fields(container, where, s, &names, width, at, depth);
    TRY(hd_io_mat_add(container, where->prefix, where->name, where->length, &variable));
    variable->place = where->place;
    variable->inside = where->inside;
    hd_io_mat_refuse(variable, describe_variable(s, &h, variable));
done:
    return status;
}

/* The element whose tag is at `place`. Of a compressed struct all is unpacked to list it. */
static huddle_status list_element(hd_io_container *container, int64_t place) {
    huddle_status status = HUDDLE_OK;
    char *room = NULL;
    span s;
    head h;
    for (int whole = 0; whole < 2; whole++) {
        huddle_free(room);
        TRY(open_element(container->file, place, whole, &s, &room));
        if (!parse_head(&s, &h))
            FAIL(HUDDLE_FORMAT, "variable %lld is damaged", (long long)container->count + 1);
        if (h.class != CLASS_STRUCT || s.there == s.size)
            break;
    }
    if (h.name.length == 0) /* it contains the data of the file's objects */
        goto done;
    listed where = {"", s.bytes + h.name.begin, h.name.length, place, 0, s.bytes};
    TRY(list_matrix(container, &where, &s, 0));
done:
    huddle_free(room);
    return status;
}

/* Walks the top-level elements by their tags; elements that are neither matrices nor
 * compressed ones are skipped. */
huddle_status hd_io_mat5_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    span all = {file->text, file->size, file->size, file->text[126] == 'M'};
    (void)request;
    container->load = load_variable;
    container->down_columns = container->dotted = true;
    if (hd_io_big_endian())
        FAIL(HUDDLE_UNSUPPORTED, "MAT files are read on little-endian machines only");
    /* Fewer than eight bytes at the end are padding. */
    for (int64_t place = HEADER, next = place; place + 8 <= file->size; place = next) {
        part element;
        if (!next_part(&all, &next, &element))
            FAIL(HUDDLE_FORMAT, "the file is cut short: its last variable is not complete");
        if (element.type == MI_MATRIX || element.type == MI_COMPRESSED)
            TRY(list_element(container, place));
    }
    TRY(hd_io_mat_check(container));
done:
    return status;
}
