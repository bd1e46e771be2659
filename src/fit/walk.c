/* The walk over the members of a part. A model file comes from anywhere, so that loading trusts
 * nothing: types, ranks and lengths are compared here, sizes of different parts and all indices in
 * hd_fit_check() afterwards. Lengths that are read come before their arrays, and no memory is
 * allocated from a length alone: an array is allocated only if the archive contains its bytes. */
#include "fit/walk.h"

#include "base/check.h"
#include "base/options.h"
#include "fit/walk_slab.h"
#include "matrix/resident.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The name of a member in the file. */
static const char *full_name(const hd_walk *walk, char full[HD_WALK_NAME], const char *name) {
    return walk->prefix == NULL ? name
                                : hd_walk_join(full, name == NULL ? NULL : walk->prefix, name);
}

/* A number or text is shown as the file has it; long ones, and lists, only in part. */
void hd_walk_fail(hd_walk *walk, const char *given) {
    char full[HD_WALK_NAME];
    const char *name = full_name(walk, full, given);
    const hd_json_value *value = hd_json_get(walk->values, name);
    char *text = NULL;
    if (walk->status != HUDDLE_OK)
        return;
    if (value != NULL)
        (void)hd_json_print(value, (hd_json_style){0}, &text);
    if (text != NULL)
        walk->status =
            hd_fail(HUDDLE_FORMAT, "the model file is damaged: %s = %.40s is wrong", name, text);
    else
        walk->status =
            hd_fail(HUDDLE_FORMAT, "the model file is damaged: %s is missing or wrong", name);
    huddle_free(text);
}

huddle_status hd_walk_misfit(const char *name, long long value) {
    return hd_fail(HUDDLE_FORMAT,
                   "the model file is damaged: %s = %lld does not agree with the rest of it", name,
                   value);
}

/* Names are literals and at most two prefixes deep, so that they fit. */
const char *hd_walk_join(char name[HD_WALK_NAME], const char *prefix, const char *part) {
    if (prefix == NULL)
        return NULL;
    snprintf(name, HD_WALK_NAME, "%s_%s", prefix, part);
    return name;
}

/* Whether this member is to be written or read. */
static bool is_saving(const hd_walk *walk, const char *name) {
    return walk->mode == HD_WALK_SAVE && walk->status == HUDDLE_OK && name != NULL;
}

static bool is_loading(const hd_walk *walk, const char *name) {
    return walk->mode == HD_WALK_LOAD && walk->status == HUDDLE_OK && name != NULL;
}

/* ---- numbers and texts --------------------------------------------------------------------- */

/* Loading: the stored value, which must have that type or be null; else, and after a failure, NULL.
 * A missing value is a failure: a file without it was not written by this version. */
static const hd_json_value *load_value(hd_walk *walk, const char *name, hd_json_type type) {
    char full[HD_WALK_NAME];
    if (!is_loading(walk, name))
        return NULL;
    const hd_json_value *value = hd_json_get(walk->values, full_name(walk, full, name));
    if (value != NULL && (value->type == type || value->type == HD_JSON_NULL))
        return value;
    hd_walk_fail(walk, name);
    return NULL;
}

void *hd_walk_copy_block(hd_walk *walk, const void *from, int64_t count, size_t size) {
    if (from == NULL || walk->status != HUDDLE_OK)
        return NULL;
    void *copy = hd_alloc(count, size);
    if (copy != NULL)
        memcpy(copy, from, (size_t)count * size);
    else
        walk->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld elements of %zu bytes",
                               (long long)count, size);
    return copy;
}

/* Null is refused, unlike for reals: no count is unknown. */
void hd_walk_int(hd_walk *walk, const char *name, int64_t *value) {
    char full[HD_WALK_NAME];
    if (is_saving(walk, name))
        hd_json_set_integer(walk->json, full_name(walk, full, name), *value);
    const hd_json_value *stored = load_value(walk, name, HD_JSON_INTEGER);
    if (stored != NULL && stored->type == HD_JSON_INTEGER)
        *value = stored->integer;
    else if (stored != NULL)
        hd_walk_fail(walk, name);
}

/* The range is checked, since a conversion would silently wrap around: a count of 2^32 + 1 would
 * become 1. */
void hd_walk_int32(hd_walk *walk, const char *name, int32_t *value) {
    int64_t wide = *value;
    hd_walk_int(walk, name, &wide);
    if (wide >= INT32_MIN && wide <= INT32_MAX)
        *value = (int32_t)wide;
    else
        hd_walk_fail(walk, name);
}

/* What is read before the list must not be more than there is room for. */
void hd_walk_count(hd_walk *walk, const char *name, int32_t limit, int32_t *count) {
    hd_walk_int32(walk, name, count);
    if (*count < 0 || *count > limit)
        hd_walk_fail(walk, name);
    if (walk->mode == HD_WALK_LOAD && walk->status != HUDDLE_OK)
        *count = 0;
}

void hd_walk_bool(hd_walk *walk, const char *name, bool *value) {
    char full[HD_WALK_NAME];
    if (is_saving(walk, name))
        hd_json_set_bool(walk->json, full_name(walk, full, name), *value);
    const hd_json_value *stored = load_value(walk, name, HD_JSON_BOOL);
    if (stored != NULL)
        *value = stored->integer != 0;
}

/* JSON has no NaN, which is stored as null. A real without a fraction may be stored as an
 * integer. */
void hd_walk_real(hd_walk *walk, const char *name, double *value) {
    char full[HD_WALK_NAME];
    if (is_saving(walk, name))
        hd_json_set_real(walk->json, full_name(walk, full, name), *value);
    if (!is_loading(walk, name))
        return;
    const hd_json_value *stored = hd_json_get(walk->values, full_name(walk, full, name));
    if (stored != NULL && (stored->type == HD_JSON_REAL || stored->type == HD_JSON_INTEGER))
        *value = stored->real;
    else if (stored != NULL && stored->type == HD_JSON_NULL)
        *value = NAN;
    else
        hd_walk_fail(walk, name);
}

/* Stored by name, so that files do not depend on the order of the enum. */
void hd_walk_stop(hd_walk *walk, const char *name, huddle_stop *value) {
    char full[HD_WALK_NAME];
    if (is_saving(walk, name))
        hd_json_set_string(walk->json, full_name(walk, full, name), huddle_stop_name(*value));
    const hd_json_value *stored = load_value(walk, name, HD_JSON_STRING);
    if (stored == NULL)
        return;
    for (int stop = HUDDLE_STOP_CONVERGED; stop <= HUDDLE_STOP_ROUNDING; stop++)
        if (stored->text != NULL &&
            strcmp(stored->text, huddle_stop_name((huddle_stop)stop)) == 0) {
            *value = (huddle_stop)stop;
            return;
        }
    hd_walk_fail(walk, name);
}

/* Info structs point to static texts elsewhere, so that nobody frees them; a loaded fit owns those
 * of its file. */
void hd_walk_text(hd_walk *walk, const char *name, const char **value) {
    char full[HD_WALK_NAME];
    if (is_saving(walk, name))
        hd_json_set_string(walk->json, full_name(walk, full, name), *value);
    const hd_json_value *stored = load_value(walk, name, HD_JSON_STRING);
    if (stored != NULL)
        *value = stored->text;
}

/* The pointer that is kept is the table's own text, since code compares it with known names; any
 * other text is refused. */
void hd_walk_choice(hd_walk *walk, const char *name, const char *const *choices,
                    const char **value) {
    const char *text = *value;
    hd_walk_text(walk, name, &text);
    if (!is_loading(walk, name))
        return;
    *value = NULL;
    if (text == NULL)
        return;
    for (; *choices != NULL; choices++)
        if (strcmp(*choices, text) == 0)
            *value = *choices;
    /* A name that is not among the choices, from a newer version or a damaged file. */
    if (*value == NULL)
        hd_walk_fail(walk, name);
}

/* ---- arrays -------------------------------------------------------------------------------- */

typedef hd_walk_element element;

const hd_walk_element hd_walk_long = {"<i8", 'i', 8}, hd_walk_int_element = {"<i4", 'i', 4};
static const element floats = {"<f4", 'f', 4}, reals = {"<f8", 'f', 8};

/* Without gaps between the rows. Of several processes the first one writes what all have. */
static huddle_status write_array(hd_walk *walk, const char *name, const hd_walk_rows_part *part) {
    huddle_status status = HUDDLE_OK;
    size_t row_size = (size_t)part->cols * part->element->size;
    const char *rows = part->values;
    char *packed = NULL;
    if (walk->output == NULL)
        return status;
    if (part->stride != part->cols) {
        ALLOC(packed, part->n * (int64_t)row_size);
        for (int64_t i = 0; i < part->n; i++)
            memcpy(packed + i * (int64_t)row_size,
                   rows + i * part->stride * (int64_t)part->element->size, row_size);
        rows = packed;
    }
    TRY(hd_npy_add(walk->output, name, HD_ZIP_STORED, part->element->type, part->rank,
                   (int64_t[]){part->n, part->cols}, rows));
done:
    huddle_free(packed);
    return status;
}

/* Saves an array of rows of the fit, or one that every process has. */
static void save_array(hd_walk *walk, const char *name, bool of_rows,
                       const hd_walk_rows_part *part) {
    if (walk->slab != NULL && of_rows)
        walk->status = hd_walk_save_rows(walk, name, part);
    else if (part->values != NULL)
        walk->status = write_array(walk, name, part);
}

/* Reads NAME.npy if the archive contains it. hd_npy_read() has checked the CRC and that the entry
 * contains as many bytes as its header claims; type and rank are checked here, dimensions by the
 * caller. */
static void load_array(hd_walk *walk, const char *name, const element *e, int32_t rank,
                       int64_t dims[2], void **values) {
    char entry_name[HD_WALK_NAME + 4];
    hd_npy npy = {0};
    char *bytes = NULL;
    snprintf(entry_name, sizeof entry_name, "%s.npy", name);
    const hd_zip_entry *entry = hd_zip_find(walk->input, entry_name);
    if (entry == NULL)
        return;
    walk->status = hd_npy_read(walk->input, entry, &npy, &bytes);
    if (walk->status != HUDDLE_OK)
        return;
    if (!hd_walk_is_array_of(&npy, e, rank)) {
        huddle_free(bytes);
        walk->status = hd_fail(HUDDLE_FORMAT,
                               "the model file is damaged: %s is an array of %d dimensions of type "
                               "%c%lld, not of %d of type %c%d",
                               entry_name, npy.rank, npy.kind, (long long)npy.width, rank, e->kind,
                               (int)e->size);
        return;
    }
    for (int32_t k = 0; k < rank; k++)
        dims[k] = npy.dims[k];
    *values = bytes;
}

/* Loads an array of rows of the fit, or one that every process has. */
static void load_any(hd_walk *walk, const char *name, bool of_rows, const element *e, int32_t rank,
                     int64_t dims[2], void **values) {
    if (walk->slab != NULL && of_rows)
        hd_walk_load_rows(walk, name, e, rank, dims, values);
    else
        load_array(walk, name, e, rank, dims, values);
}

static void fail_size(hd_walk *walk, const char *name, const int64_t found[2],
                      const hd_walk_rows_part *part) {
    if (walk->slab != NULL)
        hd_walk_fail(walk, name);
    else if (part->rank == 1)
        walk->status =
            hd_fail(HUDDLE_FORMAT, "the model file is damaged: %s.npy has %lld elements, not %lld",
                    name, (long long)found[0], (long long)part->n);
    else
        walk->status = hd_fail(HUDDLE_FORMAT,
                               "the model file is damaged: %s.npy has %lld x %lld elements, not "
                               "%lld x %lld",
                               name, (long long)found[0], (long long)found[1], (long long)part->n,
                               (long long)part->cols);
}

/* An array whose size is known from members before it: what is read must have exactly that size, or
 * indices computed from the size would leave the array. of_rows: it has a row for each row of the
 * fit. */
static void walk_array(hd_walk *walk, const char *given, bool of_rows,
                       const hd_walk_rows_part *part, void **values) {
    char full[HD_WALK_NAME];
    const char *name = full_name(walk, full, given);
    int64_t found[2] = {part->n, part->cols};
    if (walk->mode == HD_WALK_FREE) {
        huddle_free(*values);
        *values = NULL;
    } else if (walk->mode == HD_WALK_COPY) {
        *values = hd_walk_copy_block(walk, *values, part->n * part->cols, part->element->size);
    } else if (is_saving(walk, name)) {
        save_array(walk, name, of_rows, part);
    } else if (is_loading(walk, name)) {
        load_any(walk, name, of_rows, part->element, part->rank, found, values);
        if (*values != NULL && (found[0] != part->n || found[1] != part->cols))
            fail_size(walk, name, found, part);
    }
}

/* The macro keeps pointers to pointers of different types from being mixed up. */
#define WALK_ARRAY(of_rows, type, rank, n, cols)                                                   \
    do {                                                                                           \
        void *array = *values;                                                                     \
        hd_walk_rows_part part = {&(type), rank, n, cols, cols, array};                            \
        walk_array(walk, name, of_rows, &part, &array);                                            \
        *values = array;                                                                           \
    } while (0)

void hd_walk_ints(hd_walk *walk, const char *name, int64_t length, int32_t **values) {
    WALK_ARRAY(false, hd_walk_int_element, 1, length, 1);
}

void hd_walk_longs(hd_walk *walk, const char *name, int64_t length, int64_t **values) {
    WALK_ARRAY(false, hd_walk_long, 1, length, 1);
}

void hd_walk_reals(hd_walk *walk, const char *name, int64_t length, double **values) {
    WALK_ARRAY(false, reals, 1, length, 1);
}

/* A negative length must be refused explicitly: an array that is absent from the file was never
 * compared with it, and loops and allocations take it for granted. */
void hd_walk_all_reals(hd_walk *walk, const char *count, const char *name, int64_t length,
                       double **values) {
    hd_walk_reals(walk, name, length, values);
    if (is_loading(walk, name) && length != 0 && (length < 0 || *values == NULL))
        walk->status = hd_walk_misfit(count, length);
}

void hd_walk_row_ints(hd_walk *walk, const char *name, int64_t n, int32_t **values) {
    WALK_ARRAY(true, hd_walk_int_element, 1, n, 1);
}

void hd_walk_row_reals(hd_walk *walk, const char *name, int64_t n, double **values) {
    WALK_ARRAY(true, reals, 1, n, 1);
}

void hd_walk_int_matrix(hd_walk *walk, const char *name, int64_t rows, int64_t cols,
                        int32_t **values) {
    WALK_ARRAY(false, hd_walk_int_element, 2, rows, cols);
}

void hd_walk_row_int_matrix(hd_walk *walk, const char *name, int64_t n, int64_t cols,
                            int32_t **values) {
    WALK_ARRAY(true, hd_walk_int_element, 2, n, cols);
}

const char *hd_walk_if_whole(const hd_walk *walk, const char *name) {
    return walk->slab == NULL ? name : NULL;
}

/* ---- containers ---------------------------------------------------------------------------- */

/* The original of a member of the copy. Containers are copied from there, not from the bytes in the
 * copy: if an engine keeps the values, copying fetches them first, and the host arrays that this
 * allocates must get an owner. */
static const void *original_of(const hd_walk *walk, const void *member) {
    return (const char *)walk->from + ((const char *)member - (const char *)walk->to);
}

/* Copying sets the matrix to zero first, so that a failed copy does not share the values of the
 * original. A loaded matrix has the dimensions of its array; the part compares them with others. */
static void walk_dense(hd_walk *walk, const char *given, bool of_rows, huddle_dense *matrix) {
    char full[HD_WALK_NAME];
    const char *name = full_name(walk, full, given);
    bool there = hd_dense_present(matrix);
    if (walk->mode == HD_WALK_FREE) {
        huddle_dense_free(matrix);
    } else if (walk->mode == HD_WALK_COPY) {
        *matrix = (huddle_dense){0};
        if (there && walk->status == HUDDLE_OK)
            walk->status = huddle_dense_copy(original_of(walk, matrix), matrix);
    } else if (is_saving(walk, name)) {
        walk->status = huddle_dense_fetch(matrix);
        if (walk->status == HUDDLE_OK)
            save_array(walk, name, of_rows,
                       &(hd_walk_rows_part){&reals, 2, matrix->rows, matrix->cols, matrix->stride,
                                            matrix->values});
    } else if (is_loading(walk, name)) {
        int64_t dims[2] = {0, 0};
        void *values = NULL;
        load_any(walk, name, of_rows, &reals, 2, dims, &values);
        if (values != NULL)
            *matrix = (huddle_dense){
                .rows = dims[0], .cols = dims[1], .stride = dims[1], .values = values};
    }
}

void hd_walk_dense(hd_walk *walk, const char *name, huddle_dense *matrix) {
    walk_dense(walk, name, false, matrix);
}

void hd_walk_row_dense(hd_walk *walk, const char *name, huddle_dense *matrix) {
    walk_dense(walk, name, true, matrix);
}

/* The arrays of sparse rows. */
static void walk_sparse(hd_walk *walk, const char *name, const hd_walk_sparse *sparse) {
    char part[HD_WALK_NAME];
    if (walk->slab != NULL) {
        hd_walk_sparse_rows(walk, name, sparse);
        return;
    }
    hd_walk_longs(walk, hd_walk_join(part, name, "offsets"), sparse->n + 1, sparse->offsets);
    hd_walk_ints(walk, hd_walk_join(part, name, "columns"), *sparse->nonzeros, sparse->columns);
    walk_array(walk, hd_walk_join(part, name, "values"), false,
               &(hd_walk_rows_part){sparse->element, 1, *sparse->nonzeros, 1, 1, *sparse->values},
               sparse->values);
}

/* The three arrays of a sparse matrix; its sizes are numbers. Loading does not look at the entries:
 * huddle_csr_check() does when all parts are loaded. */
static void walk_csr_arrays(hd_walk *walk, const char *name, huddle_csr *matrix) {
    char part[HD_WALK_NAME];
    int64_t nonzeros = matrix->offsets != NULL ? matrix->offsets[matrix->rows] : 0;
    int64_t cols = matrix->cols;
    void *values = matrix->values;
    hd_walk_agree_int(walk, &cols);
    hd_walk_row_count(walk, hd_walk_join(part, name, "rows"), &matrix->rows);
    hd_walk_int(walk, hd_walk_join(part, name, "cols"), &cols);
    hd_walk_sum(walk, hd_walk_join(part, name, "nonzeros"), &nonzeros);
    if (walk->mode == HD_WALK_LOAD)
        matrix->cols = cols;
    /* rows + 1 below must not overflow. */
    if (matrix->rows < 0 || matrix->rows == INT64_MAX)
        hd_walk_fail(walk, name);
    if (walk->status != HUDDLE_OK)
        return;
    walk_sparse(walk, name,
                &(hd_walk_sparse){&reals, matrix->rows, &nonzeros, &matrix->offsets,
                                  &matrix->columns, &values});
    matrix->values = values;
    /* All three or none: the checks of a loaded matrix begin with its offsets. */
    if (walk->status == HUDDLE_OK && (matrix->offsets == NULL) != (matrix->columns == NULL))
        hd_walk_fail(walk, name);
    if (walk->status == HUDDLE_OK && (matrix->offsets == NULL) != (matrix->values == NULL))
        hd_walk_fail(walk, name);
    if (walk->status == HUDDLE_OK && matrix->offsets != NULL &&
        matrix->offsets[matrix->rows] != nonzeros)
        hd_walk_fail(walk, name);
}

/* Loading leaves the entries unchecked; huddle_csr_check() follows in the part's check. */
void hd_walk_row_csr(hd_walk *walk, const char *name, huddle_csr *matrix) {
    bool there = hd_csr_present(matrix);
    if (walk->mode == HD_WALK_FREE) {
        huddle_csr_free(matrix);
    } else if (walk->mode == HD_WALK_COPY) {
        *matrix = (huddle_csr){0};
        if (there && walk->status == HUDDLE_OK)
            walk->status = huddle_csr_copy(original_of(walk, matrix), matrix);
    } else if (name != NULL && walk->status == HUDDLE_OK) {
        if (walk->mode == HD_WALK_SAVE)
            walk->status = huddle_csr_fetch(matrix);
        if (walk->status == HUDDLE_OK)
            walk_csr_arrays(walk, name, matrix);
    }
}

/* Dense points are one array NAME, sparse ones NAME_offsets, NAME_columns and NAME_values.
 * Incomplete sparse points are refused here: the offsets decide how points are read everywhere. */
static void walk_point_arrays(hd_walk *walk, const char *name, huddle_points *points) {
    char part[HD_WALK_NAME];
    int64_t nonzeros = points->offsets != NULL ? points->offsets[points->n] : 0;
    void *values = points->values;
    int64_t d = points->d, has_offsets = points->offsets != NULL;
    hd_walk_agree_int(walk, &d);
    hd_walk_agree_int(walk, &has_offsets);
    bool sparse = has_offsets != 0;
    hd_walk_row_count(walk, hd_walk_join(part, name, "n"), &points->n);
    hd_walk_int(walk, hd_walk_join(part, name, "d"), &d);
    hd_walk_sum(walk, hd_walk_join(part, name, "nonzeros"), &nonzeros);
    hd_walk_bool(walk, hd_walk_join(part, name, "sparse"), &sparse);
    /* n + 1 below must not overflow. */
    if (points->n < 0 || points->n == INT64_MAX)
        hd_walk_fail(walk, name);
    if (walk->status != HUDDLE_OK)
        return;
    if (walk->mode == HD_WALK_LOAD)
        points->d = points->stride = d;
    hd_walk_reals(walk, hd_walk_join(part, name, "shift"), d, &points->shift);
    if (sparse) {
        walk_sparse(walk, name,
                    &(hd_walk_sparse){&floats, points->n, &nonzeros, &points->offsets,
                                      &points->columns, &values});
    } else {
        walk_array(walk, name, true,
                   &(hd_walk_rows_part){&floats, 2, points->n, d, points->stride, values}, &values);
    }
    points->values = values;
    if (sparse && walk->mode == HD_WALK_LOAD && walk->status == HUDDLE_OK &&
        (points->offsets == NULL || points->columns == NULL || values == NULL ||
         points->offsets[points->n] != nonzeros))
        hd_walk_fail(walk, name);
}

/* As for matrices. Sparse and dense points are distinguished by their offsets. */
void hd_walk_row_points(hd_walk *walk, const char *name, huddle_points *points) {
    bool there = hd_points_present(points);
    if (walk->mode == HD_WALK_FREE) {
        huddle_points_free(points);
    } else if (walk->mode == HD_WALK_COPY) {
        *points = (huddle_points){0};
        if (there && walk->status == HUDDLE_OK)
            walk->status = huddle_points_copy(original_of(walk, points), points);
    } else if (name != NULL && walk->status == HUDDLE_OK) {
        if (walk->mode == HD_WALK_SAVE)
            walk->status = huddle_points_fetch(points);
        if (walk->status == HUDDLE_OK)
            walk_point_arrays(walk, name, points);
    }
}

/* Points that every process has. */
void hd_walk_points(hd_walk *walk, const char *name, huddle_points *points) {
    hd_walk_slab *slab = walk->slab;
    walk->slab = NULL;
    hd_walk_row_points(walk, name, points);
    walk->slab = slab;
}

/* ---- structs of the stages that several parts contain --------------------------------------- */

/* Contents are checked by the part that contains it. */
void hd_walk_distinct(hd_walk *walk, const char *name, huddle_distinct *distinct) {
    char part[HD_WALK_NAME];
    hd_walk_int(walk, hd_walk_join(part, name, "n"), &distinct->n);
    hd_walk_int(walk, hd_walk_join(part, name, "count"), &distinct->count);
    hd_walk_ints(walk, hd_walk_join(part, name, "of"), distinct->n, &distinct->of);
    hd_walk_longs(walk, hd_walk_join(part, name, "first"), distinct->count, &distinct->first);
    hd_walk_longs(walk, hd_walk_join(part, name, "copies"), distinct->count, &distinct->copies);
}

void hd_walk_rule(hd_walk *walk, const char *name, huddle_rule *rule) {
    char part[HD_WALK_NAME];
    const huddle_option *option = huddle_option_find(huddle_prepare_options_table(), "prepare");
    hd_walk_choice(walk, hd_walk_join(part, name, "rule"), option->choices, &rule->name);
    hd_walk_int32(walk, hd_walk_join(part, name, "r"), &rule->r);
}

/* The arrays have d_in elements or are absent; the projection is checked against d_in and d_out
 * later. */
void hd_walk_preparation(hd_walk *walk, const char *name, huddle_preparation *p) {
    char part[HD_WALK_NAME];
    hd_walk_rule(walk, name, &p->rule);
    hd_walk_int(walk, hd_walk_join(part, name, "d_in"), &p->d_in);
    hd_walk_int(walk, hd_walk_join(part, name, "d_out"), &p->d_out);
    hd_walk_bool(walk, hd_walk_join(part, name, "center_rows"), &p->center_rows);
    hd_walk_bool(walk, hd_walk_join(part, name, "unit_rows"), &p->unit_rows);
    hd_walk_real(walk, hd_walk_join(part, name, "variance_kept"), &p->variance_kept);
    hd_walk_real(walk, hd_walk_join(part, name, "limit"), &p->limit);
    hd_walk_reals(walk, hd_walk_join(part, name, "centre"), p->d_in, &p->centre);
    hd_walk_reals(walk, hd_walk_join(part, name, "scale"), p->d_in, &p->scale);
    hd_walk_reals(walk, hd_walk_join(part, name, "shift"), p->d_in, &p->shift);
    hd_walk_dense(walk, hd_walk_join(part, name, "projection"), &p->projection);
    /* A file may contain any number. */
    bool in_range = p->d_in >= 0 && p->d_in < INT64_MAX;
    if (!in_range)
        hd_walk_fail(walk, hd_walk_join(part, name, "d_in"));
    hd_walk_longs(walk, hd_walk_join(part, name, "knot_offsets"), in_range ? p->d_in + 1 : 0,
                  &p->knot_offsets);
    hd_walk_dense(walk, hd_walk_join(part, name, "knots"), &p->knots);
}

void hd_walk_scale(hd_walk *walk, const char *name, huddle_scale *scale) {
    char part[HD_WALK_NAME];
    hd_walk_choice(walk, hd_walk_join(part, name, "rule"), huddle_graph_scale_rules(),
                   &scale->rule);
    hd_walk_real(walk, hd_walk_join(part, name, "delta2"), &scale->delta2);
    hd_walk_real(walk, hd_walk_join(part, name, "smallest"), &scale->smallest);
    hd_walk_row_count(walk, hd_walk_join(part, name, "n"), &scale->n);
    hd_walk_row_reals(walk, hd_walk_join(part, name, "local"), scale->n, &scale->local);
}
