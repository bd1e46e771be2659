#include "base/check.h"
#include "base/context.h"
#include "base/text.h"
#include "io/formats.h"
#include "io/npy.h"
#include "io/parts.h"
#include "io/sparse.h"

#include <string.h>

/* An NPZ file is a ZIP archive; whether it contains arrays is known after opening it. */
bool hd_io_npz_is(const hd_file *file) {
    return hd_zip_is(file->text, file->size);
}

/* The mapped file is closed by the caller; only the directory of the archive is freed here. */
static void close_archive(hd_io_container *container) {
    if (container->state != NULL)
        hd_zip_free(container->state);
    huddle_free(container->state);
}

/* The entry that a variable was listed from. */
static const hd_zip_entry *entry_of(const hd_io_container *container,
                                    const hd_io_variable *variable) {
    const hd_zip *zip = container->state;
    return &zip->entries[variable->place];
}

/* hd_npy_read() checks the CRC and the size of the member. */
static huddle_status load_member(hd_io_container *container, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    char *bytes = NULL;
    hd_npy npy;
    bool texts = variable->kind == HD_IO_TEXTS;
    TRY(hd_npy_read(container->state, entry_of(container, variable), &npy,
                    texts ? &bytes : &variable->owned));
    variable->array.bytes = variable->owned;
    if (texts)
        TRY(hd_io_npy_texts(&npy, bytes, &variable->texts));
done:
    huddle_free(bytes);
    return status;
}

/* Unpacks an array of floats straight into the points. One call for the whole member, so
 * cancelling takes effect only before it. */
static huddle_status read_floats(hd_io_request *request, hd_io_container *container,
                                 const hd_io_variable *variable, float *values, bool *placed,
                                 bool *checked) {
    huddle_status status = HUDDLE_OK;
    const hd_io_array *array = &variable->array;
    (void)checked;
    *placed = array->element == HD_IO_F4 && !array->swapped;
    if (!*placed)
        return status;
    TRY(hd_check_cancel(request->context));
    TRY(hd_npy_read_to(container->state, entry_of(container, variable), values,
                       hd_io_array_count(array, INT64_MAX / 2) * (int64_t)sizeof(float)));
done:
    return status;
}

/* Lists the arrays by reading their headers only: members may be compressed, and unpacking all
 * of them to list their names would be slow. */
static huddle_status list_members(hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    const hd_zip *zip = container->state;
    for (int64_t k = 0; k < zip->count; k++) {
        const char *name = zip->entries[k].name;
        hd_io_variable *variable;
        hd_npy npy;
        if (!hd_has_extension(name, "npy"))
            continue;
        TRY(hd_io_container_add(container, name, (int64_t)strlen(name) - 4, &variable));
        TRY(hd_npy_peek(zip, &zip->entries[k], &npy));
        hd_io_npy_describe(&npy, variable);
        variable->place = k;
    }
    if (container->count == 0)
        TRY(hd_io_refuse_foreign(container->file, true));
    if (container->count == 0)
        FAIL(HUDDLE_FORMAT, "the archive contains no arrays of NumPy");
done:
    return status;
}

/* ---- scipy.sparse.save_npz() ---------------------------------------------------------------- */

/* A vector as int64, or as doubles, whatever type it was stored in: SciPy uses int32 indices
 * where they suffice. */
static huddle_status load_vector(hd_io_container *container, const char *name, int64_t **wholes,
                                 double **reals, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *v = hd_io_container_find(container, name);
    double value;
    if (v == NULL || v->kind != HD_IO_ARRAY || v->array.rank != 1)
        FAIL(HUDDLE_FORMAT, "the sparse matrix has no vector '%s'", name);
    TRY(hd_io_variable_load(container, v));
    *count = v->array.dims[0];
    if (reals != NULL) {
        hd_io_samples samples = hd_io_array_samples(&v->array, false);
        ALLOC(*reals, *count);
        hd_io_samples_load(&samples, 0, *count, *reals);
        goto done;
    }
    ALLOC(*wholes, *count);
    for (int64_t i = 0; i < *count; i++)
        /* SciPy's indices are integers; anything else is damage. */
        if (!hd_io_array_whole(&v->array, i, &(*wholes)[i], &value))
            FAIL(HUDDLE_FORMAT, "'%s' of the sparse matrix contains %g", name, value);
done:
    if (v != NULL)
        hd_io_variable_unload(container, v);
    return status;
}

/* csr and csc differ in which dimension the offsets count. The lengths must agree before
 * anything is indexed; order and range of the indices are checked by the functions called. */
static huddle_status load_sparse(hd_io_container *container, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    int64_t *first = NULL, *second = NULL, n_first, n_second, n_values;
    double *values = NULL;
    int64_t rows = variable->array.dims[0], cols = variable->array.dims[1];
    bool entries = variable->place == 'o', by_columns = variable->place == 'c';
    TRY(load_vector(container, entries ? "row" : "indptr", &first, NULL, &n_first));
    TRY(load_vector(container, entries ? "col" : "indices", &second, NULL, &n_second));
    TRY(load_vector(container, "data", NULL, &values, &n_values));
    int64_t expected = entries ? n_values : (by_columns ? cols : rows) + 1;
    if (n_first != expected || n_second != n_values)
        FAIL(HUDDLE_FORMAT, "the sparse matrix has %lld offsets, %lld indices and %lld values",
             (long long)n_first, (long long)n_second, (long long)n_values);
    if (entries)
        TRY(hd_io_csr_from_entries(rows, cols, n_values, first, second, values, &variable->sparse));
    else
        TRY(hd_io_csr_from_lines(
            &(hd_io_lines){rows, cols, by_columns, n_values, first, second, values},
            &variable->sparse));
done:
    FREE(first, second, values);
    return status;
}

static huddle_status load_variable(hd_io_container *container, hd_io_variable *variable) {
    return variable->kind == HD_IO_SPARSE ? load_sparse(container, variable)
                                          : load_member(container, variable);
}

/* The text of 'format', which SciPy stores as an array without dimensions. Together with
 * 'shape' and 'data' it identifies a sparse matrix; an array that is merely named "format"
 * does not. */
static huddle_status sparse_format(hd_io_container *container, char format[4]) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *v = hd_io_container_find(container, "format");
    format[0] = '\0';
    if (v == NULL || v->kind != HD_IO_TEXTS || v->array.rank != 0 ||
        hd_io_container_find(container, "shape") == NULL ||
        hd_io_container_find(container, "data") == NULL)
        goto done;
    TRY(hd_io_variable_load(container, v));
    if (v->texts.n == 1 && v->texts.texts[0].length == 3) {
        memcpy(format, v->texts.texts[0].begin, 3);
        format[3] = '\0';
    }
    hd_io_variable_unload(container, v);
done:
    return status;
}

/* The parts of a sparse matrix are shown as one variable X, before the others. The parts stay
 * in the list, where load_sparse() finds them, but are marked as such, so that they are
 * neither listed nor taken for points. place is not an entry of the archive here: 'r', 'c' or
 * 'o' for csr, csc and coo. */
static huddle_status find_sparse(hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable;
    int64_t *shape = NULL, rank = 0;
    char format[4];
    TRY(sparse_format(container, format));
    if (format[0] == '\0')
        goto done;
    TRY(load_vector(container, "shape", &shape, NULL, &rank));
    /* Beyond int32 the matrix could not be indexed. */
    if (rank != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > INT32_MAX || shape[1] > INT32_MAX)
        FAIL(HUDDLE_FORMAT, "the sparse matrix has an invalid shape");
    TRY(hd_io_container_add(container, "X", 1, &variable));
    variable->kind = HD_IO_SPARSE;
    variable->array = (hd_io_array){.rank = 2, .dims = {shape[0], shape[1]}};
    if (strcmp(format, "csr") != 0 && strcmp(format, "csc") != 0 && strcmp(format, "coo") != 0) {
        variable->kind = HD_IO_OTHER;
        variable->refusal = "is a sparse matrix neither csr, csc nor coo";
    }
    variable->place = format[1] == 'o' ? 'o' : format[2];
    variable->wide = !hd_io_element_narrow(hd_io_container_find(container, "data")->array.element);
    static const char *const names[] = {"data",  "indices", "indptr",  "row",      "col",
                                        "shape", "format",  "offsets", "blocksize"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (hd_io_container_find(container, names[k]) != NULL)
            hd_io_container_find(container, names[k])->part = true;
    hd_io_variable first = *variable;
    memmove(container->variables + 1, container->variables,
            (size_t)(container->count - 1) * sizeof first);
    container->variables[0] = first;
done:
    huddle_free(shape);
    return status;
}

/* Detection has seen the signature of a ZIP archive; whether there are arrays in it is found
 * out here. */
huddle_status hd_io_npz_open(hd_io_request *request, const hd_file *file,
                             hd_io_container *container) {
    huddle_status status = HUDDLE_OK;
    hd_zip *zip = NULL;
    (void)request;
    container->load = load_variable;
    container->read_floats = read_floats;
    container->close = close_archive;
    ALLOC_ZERO(zip, 1);
    container->state = zip;
    TRY(hd_zip_open_memory(file->text, file->size, zip));
    TRY(list_members(container));
    TRY(find_sparse(container));
done:
    return status;
}
