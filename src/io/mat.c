/* MAT files: version 5 is read by mat5.c, version 7.3, which is HDF5 inside, by matio. */
#include "base/check.h"
#include "io/formats.h"
#include "io/hdf5.h"
#include "io/mat5.h"
#include "io/sparse.h"

#include <matio.h>
#include <string.h>

/* Deflate cannot shrink further. */
enum { MOST_RATIO = 1032 };

bool hd_mat_is(const hd_file *file) {
    if (file->size < 128)
        return false;
    if (memcmp(file->text, "MATLAB 7.3 MAT-file", 19) == 0)
        return true;
    return memcmp(file->text + 124, "\x00\x01IM", 4) == 0 ||
           memcmp(file->text + 124, "\x01\x00MI", 4) == 0;
}

static uint32_t read_u32(const char *bytes, bool swap) {
    uint32_t value;
    memcpy(&value, bytes, 4);
    return swap ? __builtin_bswap32(value) : value;
}

int64_t hd_mat_variables(const hd_file *file) {
    uint16_t mark;
    int64_t at = 128, count = 0;
    memcpy(&mark, file->text + 126, 2);
    bool swap = mark != 0x4d49; /* "MI" as a number of this machine */
    while (at + 8 <= file->size) {
        if (read_u32(file->text + at, swap) == 0)
            break; /* padding */
        at += 8 + (int64_t)read_u32(file->text + at + 4, swap);
        count++;
    }
    return at > file->size ? -1 : count;
}

static bool element_of_class(enum matio_classes class, hd_element *element) {
    static const hd_element elements[] = {HD_F8, HD_F4, HD_I1, HD_U1, HD_I2,
                                          HD_U2, HD_I4, HD_U4, HD_I8, HD_U8};
    if (class < MAT_C_DOUBLE || class > MAT_C_UINT64)
        return false;
    *element = elements[class - MAT_C_DOUBLE];
    return true;
}

static bool element_of_type(enum matio_types type, hd_element *element) {
    switch (type) {
    case MAT_T_DOUBLE:
        *element = HD_F8;
        return true;
    case MAT_T_SINGLE:
        *element = HD_F4;
        return true;
    case MAT_T_INT8:
        *element = HD_I1;
        return true;
    case MAT_T_UINT8:
        *element = HD_U1;
        return true;
    case MAT_T_INT16:
        *element = HD_I2;
        return true;
    case MAT_T_UINT16:
        *element = HD_U2;
        return true;
    case MAT_T_INT32:
        *element = HD_I4;
        return true;
    case MAT_T_UINT32:
        *element = HD_U4;
        return true;
    case MAT_T_INT64:
        *element = HD_I8;
        return true;
    case MAT_T_UINT64:
        *element = HD_U8;
        return true;
    default:
        return false;
    }
}

/* ---- what there is -------------------------------------------------------------------------- */

static void refuse(hd_variable *variable, const char *trouble) {
    variable->kind = HD_OTHER;
    variable->trouble = trouble;
    variable->array.rank = 0;
}

static void describe_kind(const matvar_t *info, hd_variable *variable) {
    if (info->isComplex)
        refuse(variable, "holds complex numbers");
    else if (info->class_type == MAT_C_SPARSE)
        variable->kind = HD_SPARSE;
    else if (info->class_type == MAT_C_CELL || info->class_type == MAT_C_CHAR)
        variable->kind = HD_TEXTS;
    else if (element_of_class(info->class_type, &variable->array.element))
        variable->kind = HD_ARRAY;
    else
        refuse(variable, "is neither an array nor a list of texts");
}

static void describe(const matvar_t *info, int64_t file_size, hd_variable *variable) {
    hd_array *array = &variable->array;
    describe_kind(info, variable);
    if (variable->kind == HD_OTHER)
        return;
    if (info->rank > 3 || info->rank < 1 || info->dims == NULL) {
        refuse(variable, "has more than three dimensions");
        return;
    }
    array->rank = info->rank;
    for (int k = 0; k < info->rank; k++)
        array->dims[k] = info->dims[k] > INT32_MAX ? -1 : (int64_t)info->dims[k];
    int64_t room = variable->kind == HD_SPARSE ? INT64_MAX / 2 : file_size * MOST_RATIO;
    if (hd_array_count(array, room) < 0) {
        refuse(variable, "claims more elements than the file can hold");
        return;
    }
    hd_array_pack(array, true);
    if (info->class_type == MAT_C_CHAR) { /* one text a row */
        array->rank = 1;
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static huddle_status damaged(const hd_variable *variable) {
    return hd_fail(HUDDLE_FORMAT, "'%s' cannot be read: it is cut short or damaged",
                   variable->name);
}

/* Character k of a text as matio holds it. */
static uint32_t character(const matvar_t *text, int64_t k) {
    uint16_t unit;
    if (text->data_size == 1)
        return ((const unsigned char *)text->data)[k];
    memcpy(&unit, (const char *)text->data + 2 * k, 2);
    return unit;
}

/* Writes row `row` of `rows` rows of characters, without blanks at its end. */
static char *put_row(const matvar_t *text, int64_t row, int64_t rows, int64_t length, char *to) {
    while (length > 0 && (character(text, row + (length - 1) * rows) == ' ' ||
                          character(text, row + (length - 1) * rows) == 0))
        length--;
    for (int64_t k = 0; k < length; k++) {
        uint32_t c = character(text, row + k * rows);
        /* UTF-8 in bytes passes through. */
        if (text->data_size == 1)
            *to++ = (char)c;
        else
            to = hd_put_utf8(c, to);
    }
    return to;
}

static bool is_char(const matvar_t *text) {
    return text != NULL && text->class_type == MAT_C_CHAR && text->rank == 2 &&
           (text->data != NULL || text->nbytes == 0) &&
           (text->data_size == 1 || text->data_size == 2) &&
           text->dims[0] * text->dims[1] * (size_t)text->data_size <= text->nbytes;
}

/* A matrix of characters has a text in each row. */
static huddle_status texts_from_rows(const matvar_t *info, hd_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_labels *texts = &variable->texts;
    if (!is_char(info))
        FAIL(HUDDLE_UNSUPPORTED, "'%s' is not a list of texts", variable->name);
    int64_t rows = (int64_t)info->dims[0], length = (int64_t)info->dims[1];
    ALLOC(texts->texts, rows);
    ALLOC(texts->arena, rows * (4 * length + 1));
    texts->n = rows;
    char *to = texts->arena;
    for (int64_t i = 0; i < rows; i++) {
        char *end = put_row(info, i, rows, length, to);
        texts->texts[i] = (hd_span){to, end - to};
        to = end;
        *to++ = '\n';
    }
done:
    return status;
}

/* A cell array has a text in each cell. */
static huddle_status texts_from_cells(const matvar_t *info, hd_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_labels *texts = &variable->texts;
    matvar_t **cells = info->data;
    int64_t count = 1, bytes = 0;
    for (int k = 0; k < info->rank; k++)
        count *= (int64_t)info->dims[k];
    if (cells == NULL || (int64_t)(info->nbytes / sizeof *cells) < count)
        TRY(damaged(variable));
    for (int64_t i = 0; i < count; i++) {
        if (!is_char(cells[i]) || cells[i]->dims[0] > 1)
            FAIL(HUDDLE_UNSUPPORTED, "'%s' has cells that are not texts", variable->name);
        bytes += 4 * (int64_t)(cells[i]->dims[0] * cells[i]->dims[1]) + 1;
    }
    ALLOC(texts->texts, count);
    ALLOC(texts->arena, bytes);
    texts->n = count;
    char *to = texts->arena;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = (int64_t)(cells[i]->dims[0] * cells[i]->dims[1]);
        char *end = put_row(cells[i], 0, 1, length, to);
        texts->texts[i] = (hd_span){to, end - to};
        to = end;
        *to++ = '\n';
    }
done:
    return status;
}

static huddle_status load_sparse(const matvar_t *info, hd_variable *variable) {
    huddle_status status = HUDDLE_OK;
    const mat_sparse_t *s = info->data;
    int64_t *offsets = NULL, *positions = NULL;
    double *values = NULL;
    hd_array data = {.rank = 1};
    int64_t rows = variable->array.dims[0], cols = variable->array.dims[1];
    if (s == NULL || s->jc == NULL || s->njc != (uint64_t)cols + 1 ||
        !element_of_type(info->data_type, &data.element))
        TRY(damaged(variable));
    /* nzmax may be more than there are; the last offset tells. */
    int64_t count = (int64_t)s->jc[cols];
    if (count > (int64_t)s->nir || count > (int64_t)s->ndata ||
        (count > 0 && (s->ir == NULL || s->data == NULL)))
        TRY(damaged(variable));
    data.dims[0] = count;
    data.bytes = s->data;
    hd_array_pack(&data, false);
    ALLOC(offsets, cols + 1);
    ALLOC(positions, count);
    ALLOC(values, count);
    for (int64_t j = 0; j <= cols; j++)
        offsets[j] = (int64_t)s->jc[j];
    for (int64_t e = 0; e < count; e++)
        positions[e] = (int64_t)s->ir[e];
    hd_samples samples = hd_array_samples(&data, false);
    if (count > 0)
        hd_samples_load(&samples, 0, count, values);
    TRY(hd_csr_from_lines(&(hd_lines){rows, cols, true, count, offsets, positions, values},
                          &variable->sparse));
done:
    huddle_free(offsets);
    huddle_free(positions);
    huddle_free(values);
    return status;
}

static huddle_status take(matvar_t *info, hd_variable *variable) {
    if (variable->kind == HD_SPARSE)
        return load_sparse(info, variable);
    if (variable->kind == HD_TEXTS)
        return info->class_type == MAT_C_CELL ? texts_from_cells(info, variable)
                                              : texts_from_rows(info, variable);
    int64_t count = 1;
    for (int32_t k = 0; k < variable->array.rank; k++)
        count *= variable->array.dims[k];
    if (count > 0 && (info->data == NULL ||
                      (int64_t)info->nbytes < count * hd_element_size(variable->array.element)))
        return damaged(variable);
    /* matio's memory comes from malloc(), as huddle_free() wants it. */
    variable->owned = info->data;
    variable->array.bytes = info->data;
    info->data = NULL;
    return HUDDLE_OK;
}

static huddle_status load(hd_container *container, hd_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_hdf5_lock();
    matvar_t *info = Mat_VarReadInfo(container->state, variable->name);
    if (info == NULL || Mat_VarReadDataAll(container->state, info) != 0)
        TRY(damaged(variable));
    TRY(take(info, variable));
done:
    Mat_VarFree(info);
    hd_hdf5_unlock();
    return status;
}

static void close_file(hd_container *container) {
    if (container->state == NULL)
        return;
    hd_hdf5_lock();
    Mat_Close(container->state);
    hd_hdf5_unlock();
}

static huddle_status list_variables(hd_container *container) {
    huddle_status status = HUDDLE_OK;
    matvar_t *info;
    while ((info = Mat_VarReadNextInfo(container->state)) != NULL) {
        if (info->name != NULL && info->name[0] != '\0' && strcmp(info->name, "#refs#") != 0) {
            hd_variable *variable =
                hd_container_add(container, info->name, (int64_t)strlen(info->name));
            if (variable == NULL)
                status = hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
            else
                describe(info, container->file->size, variable);
        }
        Mat_VarFree(info);
        if (status != HUDDLE_OK)
            break;
    }
    return status;
}

static huddle_status open_file(const hd_file *file, hd_container *container) {
    huddle_status status = HUDDLE_OK;
    container->load = load;
    container->close = close_file;
    hd_hdf5_lock();
    container->state = Mat_Open(file->path, MAT_ACC_RDONLY);
    if (container->state != NULL)
        status = list_variables(container);
    else
        status = hd_fail(HUDDLE_FORMAT, "matio cannot open it: it is cut short or damaged");
    hd_hdf5_unlock();
    return status;
}

huddle_status hd_mat_open(hd_request *request, const hd_file *file, hd_container *container) {
    huddle_status status = HUDDLE_OK;
    (void)request;
    container->down_columns = true;
    if (memcmp(file->text, "MATLAB 7.3", 10) != 0) {
        TRY(hd_mat5_open(file, container));
    } else {
        if (file->descriptor < 0)
            FAIL(HUDDLE_UNSUPPORTED,
                 "MAT v7.3 is read from plain files only, not packed, nor from a pipe");
        if (!hd_hdf5_trial(file, open_file))
            FAIL(HUDDLE_FORMAT, "matio cannot open it: it is cut short or damaged");
        TRY(open_file(file, container));
    }
    if (container->count == 0)
        FAIL(HUDDLE_FORMAT, "the file holds no variables, or is cut short");
done:
    return status;
}
