#include "io/hdf5.h"

#include "base/check.h"
#include "base/context.h"
#include "io/formats.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Deflate cannot compress further than by this factor. Data sets below SMALL may take no
 * storage at all: HDF5 does not store chunks that contain only the fill value. */
enum { MAX_RATIO = 1032, SMALL = 1 << 16 };

/* ---- the library ---------------------------------------------------------------------------- */

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t callers_printer; /* guarded by library */
static void *callers_stream;
static bool failed; /* a call inside HDF5 has failed; guarded by library */

/* Called by HDF5 for every error; nothing is printed, but end_quietly() has to know. */
static herr_t record_failure(hid_t stack, void *unused) {
    (void)stack, (void)unused;
    failed = true;
    return 0;
}

/* HDF5 leaks identifiers when it fails on a damaged file, and prints "infinite loop closing
 * library" when the process ends unless the printing of errors is off. Exit handlers run in
 * reverse order: HDF5's own was registered before, so this one runs first. */
static void end_quietly(void) {
    if (failed)
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The caller's program may use HDF5 too: its error printer is restored by hd_io_hdf5_unlock().
 * H5Eget_auto2() also initialises HDF5, before atexit() is called. */
void hd_io_hdf5_lock(void) {
    static bool registered;
    pthread_mutex_lock(&library);
    H5Eget_auto2(H5E_DEFAULT, &callers_printer, &callers_stream);
    H5Eset_auto2(H5E_DEFAULT, record_failure, NULL);
    if (!registered)
        registered = atexit(end_quietly) == 0;
}

void hd_io_hdf5_unlock(void) {
    H5Eset_auto2(H5E_DEFAULT, callers_printer, callers_stream);
    pthread_mutex_unlock(&library);
}

void hd_io_hdf5_release(int64_t id) {
    if (id >= 0)
        H5Idec_ref(id);
}

/* HDF5's own messages are about its internals and are not shown. */
huddle_status hd_io_hdf5_damaged(const hd_io_variable *variable) {
    return hd_fail(HUDDLE_FORMAT, "'%s' cannot be read: HDF5 finds it damaged", variable->name);
}

/* ---- listing -------------------------------------------------------------------------------- */

/* HDF5 allows any number of bytes; odd widths (3 bytes, x87 extended) are read as the next
 * wider native type, which HDF5 converts to. */
static bool element_of(hid_t type, hd_io_element *element) {
    size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT) {
        *element = size <= 2 ? HD_IO_F2 : size <= 4 ? HD_IO_F4 : HD_IO_F8;
        return true;
    }
    if (H5Tget_class(type) != H5T_INTEGER || size > 8 || size == 0)
        return false;
    int width = size == 1 ? 0 : size == 2 ? 1 : size <= 4 ? 2 : 3;
    bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    *element = (hd_io_element)((is_signed ? HD_IO_I1 : HD_IO_U1) + width);
    return true;
}

/* The memory type to read an element as; HDF5 has no native half, so half floats are read as
 * floats. */
static hid_t memory_type(hd_io_element element) {
    const hid_t types[] = {[HD_IO_F2] = H5T_NATIVE_FLOAT,  [HD_IO_F4] = H5T_NATIVE_FLOAT,
                           [HD_IO_F8] = H5T_NATIVE_DOUBLE, [HD_IO_I1] = H5T_NATIVE_INT8,
                           [HD_IO_I2] = H5T_NATIVE_INT16,  [HD_IO_I4] = H5T_NATIVE_INT32,
                           [HD_IO_I8] = H5T_NATIVE_INT64,  [HD_IO_U1] = H5T_NATIVE_UINT8,
                           [HD_IO_U2] = H5T_NATIVE_UINT16, [HD_IO_U4] = H5T_NATIVE_UINT32,
                           [HD_IO_U8] = H5T_NATIVE_UINT64};
    return types[element];
}

/* h5py stores booleans as an enumeration over int8, which is read as its numbers. Halves
 * become floats here, so that the size of an element is that in memory. */
static void describe_type(hid_t set, hd_io_variable *variable) {
    hid_t type = H5Dget_type(set), base = -1;
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    variable->kind = HD_IO_ARRAY;
    if (class == H5T_ENUM)
        base = H5Tget_super(type); /* Python's booleans */
    if (class == H5T_STRING) {
        variable->kind = HD_IO_TEXTS;
    } else if (!element_of(base >= 0 ? base : type, &variable->array.element)) {
        variable->kind = HD_IO_OTHER;
        variable->refusal = class == H5T_COMPOUND ? "contains records or complex numbers"
                                                  : "contains neither numbers nor strings";
    }
    if (variable->kind == HD_IO_ARRAY && variable->array.element == HD_IO_F2)
        variable->array.element = HD_IO_F4;
    hd_io_hdf5_release(base);
    hd_io_hdf5_release(type);
}

/* The shape. One that claims more elements than the stored bytes can unpack to is damaged:
 * without the check, a header of a few bytes could request terabytes. */
static void describe_shape(hid_t set, int64_t file_size, hd_io_variable *variable) {
    hsize_t dims[H5S_MAX_RANK] = {0}, stored = H5Dget_storage_size(set);
    hid_t space = H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    /* H5S_NULL is a data set without a value, which HDF5 distinguishes from one with zero
     * elements. */
    if (rank > HD_IO_MAX_RANK || rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) {
        variable->kind = HD_IO_OTHER;
        variable->refusal = rank > HD_IO_MAX_RANK ? "has more than four dimensions" : "is empty";
    } else {
        H5Sget_simple_extent_dims(space, dims, NULL);
        variable->array.rank = rank;
        for (int k = 0; k < rank; k++)
            /* Dimensions beyond int64 become -1, which hd_io_array_count() refuses. */
            variable->array.dims[k] = dims[k] > INT64_MAX / 2 ? -1 : (int64_t)dims[k];
        int64_t room = stored > (hsize_t)file_size ? -1 : (int64_t)stored * MAX_RATIO + SMALL;
        if (hd_io_array_count(&variable->array, room) < 0) {
            variable->kind = HD_IO_OTHER;
            variable->refusal = "claims more elements than the file can hold";
            variable->array.rank = 0;
        }
        /* Steps are needed even for arrays that are only listed. */
        hd_io_array_pack(&variable->array, false);
    }
    hd_io_hdf5_release(space);
}

void hd_io_hdf5_describe(int64_t set, int64_t file_size, hd_io_variable *variable) {
    describe_type(set, variable);
    describe_shape(set, file_size, variable);
}

/* Callback of H5Lvisit(): 0 continues, a negative value stops. Soft and external links are not
 * followed: they may lead out of the file or in circles, and what they lead to inside the file
 * is visited anyway. */
static herr_t add_dataset(hid_t root, const char *name, const H5L_info_t *link, void *user) {
    hd_io_container *container = user;
    if (link->type != H5L_TYPE_HARD)
        return 0;
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0)
        return 0;
    /* Groups are visited too, but only data sets are variables. */
    bool is_set = H5Iget_type(object) == H5I_DATASET;
    hd_io_variable *variable = NULL;
    if (is_set &&
        hd_io_container_add(container, name, (int64_t)strlen(name), &variable) == HUDDLE_OK)
        hd_io_hdf5_describe(object, container->file->size, variable);
    hd_io_hdf5_release(object);
    return is_set && variable == NULL ? -1 : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads what the variable is restricted to, or everything. */
static bool read_values(hid_t set, hid_t type, const hd_io_variable *variable, void *values) {
    hsize_t starts[HD_IO_MAX_RANK] = {0}, counts[HD_IO_MAX_RANK] = {0};
    if (!variable->divided)
        return H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    for (int32_t k = 0; k < variable->array.rank; k++) {
        starts[k] = (hsize_t)variable->starts[k];
        counts[k] = (hsize_t)variable->array.dims[k];
    }
    hid_t in_file = H5Dget_space(set), space = H5Screate_simple(variable->array.rank, counts, NULL);
    bool good = hd_io_variable_count(variable) == 0 ||
                (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, starts, NULL, counts, NULL) >= 0 &&
                 H5Dread(set, type, space, in_file, H5P_DEFAULT, values) >= 0);
    hd_io_hdf5_release(space);
    hd_io_hdf5_release(in_file);
    return good;
}

/* Copies texts into an arena of their own. Texts of a fixed length are one block, of which
 * each entry ends at a zero byte or at its width; others are pointers that HDF5 allocated,
 * NULL for an empty one. Fortran pads with blanks. */
static huddle_status collect_texts(hd_io_variable *variable, const char *block,
                                   char *const *pointers, int64_t width, bool pad_spaces) {
    huddle_status status = HUDDLE_OK;
    int64_t count = hd_io_variable_count(variable), bytes = 0;
    hd_io_labels *texts = &variable->texts;
    /* One byte more for each, the line feed. */
    for (int64_t i = 0; i < count; i++)
        bytes += 1 + (pointers == NULL ? width
                                       : (pointers[i] == NULL ? 0 : (int64_t)strlen(pointers[i])));
    ALLOC(texts->texts, count);
    ALLOC(texts->arena, bytes);
    texts->n = count;
    char *to = texts->arena;
    for (int64_t i = 0; i < count; i++) {
        const char *from = pointers == NULL      ? block + i * width
                           : pointers[i] == NULL ? ""
                                                 : pointers[i];
        int64_t length = (int64_t)(pointers == NULL ? strnlen(from, (size_t)width) : strlen(from));
        while (pad_spaces && length > 0 && from[length - 1] == ' ')
            length--;
        memcpy(to, from, (size_t)length);
        texts->texts[i] = (hd_io_span){to, length};
        to += length;
        *to++ = '\n';
    }
done:
    return status;
}

/* The width of fixed texts comes from the file as well: width times count is checked like the
 * size of an array before it is allocated. */
static huddle_status load_texts(hid_t set, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hid_t type = H5Dget_type(set), space = -1;
    char **pointers = NULL, *block = NULL;
    int64_t count = hd_io_variable_count(variable), width = (int64_t)H5Tget_size(type);
    bool read = false, variable_length = H5Tis_variable_str(type) > 0;
    if (variable_length) {
        ALLOC_ZERO(pointers, count);
        space = H5Screate_simple(1, &(hsize_t){(hsize_t)count}, NULL);
    } else {
        if (width < 1 || count > INT64_MAX / 2 / width ||
            (hsize_t)(count * width) / MAX_RATIO > H5Dget_storage_size(set) + SMALL)
            TRY(hd_io_hdf5_damaged(variable));
        ALLOC_ZERO(block, count * width);
    }
    read = read_values(set, type, variable, variable_length ? (void *)pointers : block);
    if (!read)
        TRY(hd_io_hdf5_damaged(variable));
    TRY(collect_texts(variable, block, pointers, width, H5Tget_strpad(type) == H5T_STR_SPACEPAD));
done:
    /* What HDF5 allocated for texts of variable length, it has to free. */
    if (read && variable_length && count > 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers);
    FREE(pointers, block);
    hd_io_hdf5_release(space);
    hd_io_hdf5_release(type);
    return status;
}

/* All in one call: HDF5 decompresses and converts it. */
static huddle_status load_array(hid_t set, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_io_element element = variable->array.element;
    ALLOC(variable->owned, hd_io_variable_count(variable) * hd_io_element_size(element));
    if (!read_values(set, memory_type(element), variable, variable->owned))
        TRY(hd_io_hdf5_damaged(variable));
    variable->array.bytes = variable->owned;
done:
    return status;
}

huddle_status hd_io_hdf5_load(int64_t set, hd_io_variable *variable) {
    return variable->kind == HD_IO_TEXTS ? load_texts(set, variable) : load_array(set, variable);
}

/* Opened by name for each access: no identifier of an object outlives a call. */
static huddle_status load_variable(hd_io_container *container, hd_io_variable *variable) {
    hd_io_hdf5_lock();
    hid_t set = H5Dopen2(hd_io_hdf5_file(container), variable->name, H5P_DEFAULT);
    huddle_status status = set < 0 ? hd_io_hdf5_damaged(variable) : hd_io_hdf5_load(set, variable);
    hd_io_hdf5_release(set);
    hd_io_hdf5_unlock();
    return status;
}

/* Every narrow element becomes a float without loss, by HDF5's own conversion, straight into
 * the points. One call reads everything, so that cancelling takes effect only before it. */
huddle_status hd_io_hdf5_read_floats(hd_io_request *request, hd_io_container *container,
                                     const hd_io_variable *variable, float *values, bool *placed,
                                     bool *checked) {
    huddle_status status = HUDDLE_OK;
    (void)checked;
    *placed = true;
    TRY(hd_check_cancel(request->context));
    hd_io_hdf5_lock();
    hid_t set = H5Dopen2(hd_io_hdf5_file(container), variable->name, H5P_DEFAULT);
    if (set < 0 || !read_values(set, H5T_NATIVE_FLOAT, variable, values))
        status = hd_io_hdf5_damaged(variable);
    hd_io_hdf5_release(set);
    hd_io_hdf5_unlock();
done:
    return status;
}

static void close_file(hd_io_container *container) {
    hd_io_hdf5_lock();
    hd_io_hdf5_release(hd_io_hdf5_file(container));
    hd_io_hdf5_unlock();
    huddle_free(container->state);
}

int64_t hd_io_hdf5_file(const hd_io_container *container) {
    return *(const hid_t *)container->state;
}

/* The state is set before the file is opened, so that hd_io_container_close() cleans up after
 * every failure. */
huddle_status hd_io_hdf5_open_file(const hd_file *file, bool (*list)(hd_io_container *container),
                                   hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hid_t *opened = NULL;
    ALLOC(opened, 1);
    *opened = -1;
    container->state = opened;
    container->close = close_file;
    hd_io_hdf5_lock();
    *opened = H5Fopen(file->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    bool listed = *opened >= 0 && list(container);
    hd_io_hdf5_unlock();
    if (*opened < 0)
        FAIL(HUDDLE_FORMAT, "HDF5 cannot open it: it is cut short or damaged");
    if (!listed)
        FAIL(HUDDLE_NO_MEMORY, "no memory for the names, or HDF5 finds them damaged");
done:
    return status;
}

/* The file is opened by its path, since HDF5 does its own reading; unpacked or piped bytes
 * have no path. It is opened twice: first by a process that may crash, see hdf5_trial.c. */
huddle_status hd_io_hdf5_open_tried(const hd_io_request *request, const hd_file *file,
                                    const char *format, hd_io_hdf5_opener open_it,
                                    hd_io_container *container) {
    /* Of several processes the first opens the file before the others, and tries it for them. */
    bool trusted = request->rows != NULL && request->rows->rank > 0;
    if (file->descriptor < 0)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "%s is read from plain files only, not packed, nor from a pipe", format);
    if (!trusted && !hd_io_hdf5_try(file, open_it))
        return hd_fail(HUDDLE_FORMAT, "HDF5 cannot open it: it is cut short or damaged");
    return open_it(file, container);
}

/* By name, so that the order of variables does not depend on how the file was written. */
static bool list_datasets(hd_io_container *container) {
    return H5Lvisit(hd_io_hdf5_file(container), H5_INDEX_NAME, H5_ITER_INC, add_dataset,
                    container) >= 0;
}

static huddle_status open_file(const hd_file *file, hd_io_container *container) {
    container->load = load_variable;
    container->divisible = true;
    container->read_floats = hd_io_hdf5_read_floats;
    return hd_io_hdf5_open_file(file, list_datasets, container);
}

huddle_status hd_io_hdf5_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    huddle_status status = hd_io_hdf5_open_tried(request, file, "HDF5", open_file, container);
    if (status == HUDDLE_OK && container->count == 0)
        return hd_fail(HUDDLE_FORMAT, "the file contains no data sets");
    return status;
}
