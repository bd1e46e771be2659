/* MAT v7.3: HDF5 with attributes for the classes of MATLAB. HDF5 names dimensions in the opposite
 * order, so its 1404 x 320 is MATLAB's 320 x 1404. A text is a data set of UTF-16 units, a cell
 * array one of references to what is in its cells, a sparse matrix a group of data, ir and jc. */
#include "base/check.h"
#include "io/hdf5.h"
#include "io/mat.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

/* Names of classes are short; a longer one is none that is read. */
enum { CLASS_SIZE = 64 };

/* How a variable is stored; kept in hd_io_variable.place. */
typedef enum form { FORM_NUMBERS, FORM_EMPTY, FORM_CHARACTERS, FORM_CELLS, FORM_SPARSE } form;

/* ---- attributes ----------------------------------------------------------------------------- */

/* An attribute with a single value, its type and its space; false if there is none, or if it
 * is of another type or shape, as only a foreign or damaged file has. close_attribute() is
 * called in either case. */
typedef struct attribute {
    hid_t id, type, space;
} attribute;

static bool open_attribute(hid_t object, const char *name, H5T_class_t class, attribute *a) {
    *a = (attribute){-1, -1, -1};
    if (H5Aexists(object, name) <= 0 || (a->id = H5Aopen(object, name, H5P_DEFAULT)) < 0)
        return false;
    a->type = H5Aget_type(a->id);
    a->space = H5Aget_space(a->id);
    return a->type >= 0 && a->space >= 0 && H5Tget_class(a->type) == class &&
           H5Sget_simple_extent_npoints(a->space) == 1;
}

static void close_attribute(attribute *a) {
    hd_io_hdf5_release(a->space);
    hd_io_hdf5_release(a->type);
    hd_io_hdf5_release(a->id);
}

/* A whole number; `absent` if there is none. */
static int64_t read_number(hid_t object, const char *name, int64_t absent) {
    attribute a;
    int64_t value = absent;
    if (open_attribute(object, name, H5T_INTEGER, &a) &&
        H5Aread(a.id, H5T_NATIVE_INT64, &value) < 0)
        value = absent;
    close_attribute(&a);
    return value;
}

/* The text of MATLAB_class, empty if there is no such attribute; "?" if it is too long. MATLAB
 * writes texts of fixed length; those of variable length come from other programs and are
 * allocated by HDF5, which has to free them. */
static void read_class(hid_t object, char class[CLASS_SIZE]) {
    attribute a;
    char *text = NULL;
    bool there = open_attribute(object, "MATLAB_class", H5T_STRING, &a);
    memset(class, 0, CLASS_SIZE);
    if (there && H5Tis_variable_str(a.type) > 0) {
        if (H5Aread(a.id, a.type, &text) >= 0 && text != NULL) {
            snprintf(class, CLASS_SIZE, "%s", text);
            H5Dvlen_reclaim(a.type, a.space, H5P_DEFAULT, &text);
        }
    } else if (there && (H5Tget_size(a.type) >= CLASS_SIZE || H5Aread(a.id, a.type, class) < 0)) {
        snprintf(class, CLASS_SIZE, "?");
    }
    close_attribute(&a);
}

/* ---- listing -------------------------------------------------------------------------------- */

/* Numbers, characters and cells. Without a class (a data set added by another program) numbers
 * are accepted if HDF5's type is numeric. */
static bool is_array_class(const char *class) {
    static const char *const classes[] = {"",      "double", "single", "logical", "char",
                                          "cell",  "int8",   "uint8",  "int16",   "uint16",
                                          "int32", "uint32", "int64",  "uint64"};
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        if (strcmp(class, classes[k]) == 0)
            return true;
    return false;
}

/* MATLAB's view of an array that HDF5 described: the same bytes with the dimensions reversed,
 * which makes them column-major. */
static void reverse_dimensions(hd_io_array *array) {
    for (int32_t k = 0; k < array->rank / 2; k++) {
        int64_t first = array->dims[k];
        array->dims[k] = array->dims[array->rank - 1 - k];
        array->dims[array->rank - 1 - k] = first;
    }
    hd_io_array_pack(array, true);
}

/* Cells are object references. References to regions of a data set have the same HDF5 class
 * but another type. */
static H5T_class_t type_class(hid_t set) {
    hid_t type = H5Dget_type(set);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    if (class == H5T_REFERENCE && H5Tequal(type, H5T_STD_REF_OBJ) <= 0)
        class = H5T_NO_CLASS; /* a reference to a part of a data set */
    hd_io_hdf5_release(type);
    return class;
}

/* An empty array is stored as its dimensions, in MATLAB's order, with the attribute
 * MATLAB_empty. What claims to be empty must have a dimension of 0; the rank is checked before
 * dims, which has room for three, is read into. */
static const char *describe_empty(hid_t set, hd_io_variable *variable) {
    hd_io_array array = {.element = HD_IO_F8};
    int64_t rank = hd_io_variable_count(variable);
    if (rank > HD_IO_MAX_RANK)
        return "has more than four dimensions";
    array.rank = (int32_t)rank;
    if (variable->kind != HD_IO_ARRAY ||
        H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.dims) < 0 ||
        hd_io_array_count(&array, (int64_t)INT32_MAX * 8) != 0)
        return "is damaged";
    hd_io_array_pack(&array, true);
    variable->array = array;
    variable->place = FORM_EMPTY;
    return NULL;
}

/* A matrix of characters, n texts by length. */
static const char *describe_characters(hd_io_variable *variable) {
    hd_io_array *array = &variable->array;
    if (variable->kind == HD_IO_OTHER)
        return NULL;
    if (array->rank > 2)
        return "has more than two dimensions";
    /* An empty array has the type of its dimensions. */
    if (hd_io_element_size(array->element) > 4 && variable->place != FORM_EMPTY)
        return "has characters of eight bytes";
    /* Another program's text without MATLAB's two dimensions: a single text. */
    if (array->rank < 2) {
        array->dims[1] = hd_io_variable_count(variable);
        array->dims[0] = 1;
        array->rank = 2;
        hd_io_array_pack(array, true);
    }
    variable->kind = HD_IO_TEXTS;
    variable->place = FORM_CHARACTERS;
    return NULL;
}

/* The class decides where HDF5's types are ambiguous: characters are uint16 as numbers are,
 * cells are references. Complex numbers are records of two doubles. Returns why the data set is not
 * read, or NULL. */
static const char *describe_dataset(hid_t set, int64_t file_size, hd_io_variable *variable) {
    char class[CLASS_SIZE];
    read_class(set, class);
    hd_io_hdf5_describe(set, file_size, variable);
    reverse_dimensions(&variable->array);
    variable->place = FORM_NUMBERS;
    bool empty = read_number(set, "MATLAB_empty", 0) != 0;
    H5T_class_t type = type_class(set);
    if (!is_array_class(class))
        return hd_io_mat_class_refusal(class);
    const char *refusal = empty ? describe_empty(set, variable) : NULL;
    if (refusal != NULL)
        return refusal;
    if (strcmp(class, "cell") == 0 &&
        (empty || (type == H5T_REFERENCE && variable->array.rank > 0))) {
        variable->kind = HD_IO_TEXTS;
        variable->place = FORM_CELLS;
        return NULL;
    }
    if (strcmp(class, "char") == 0 && (empty || type == H5T_INTEGER))
        return describe_characters(variable);
    if (empty)
        variable->array.bytes = ""; /* loaded: there is nothing to read */
    return type == H5T_COMPOUND ? "contains complex numbers" : NULL;
}

/* A vector of a sparse matrix, which MATLAB leaves out if it would be empty: it is then
 * described as a vector of length 0. */
static bool describe_member(hid_t group, const char *name, int64_t file_size, hid_t *set,
                            hd_io_variable *vector) {
    *vector = (hd_io_variable){.kind = HD_IO_ARRAY, .array = {.element = HD_IO_F8, .rank = 1}};
    *set = -1;
    if (H5Lexists(group, name, H5P_DEFAULT) <= 0)
        return true;
    *set = H5Dopen2(group, name, H5P_DEFAULT);
    if (*set < 0)
        return false;
    *vector = (hd_io_variable){0};
    hd_io_hdf5_describe(*set, file_size, vector);
    vector->array.dims[0] = hd_io_variable_count(vector);
    vector->array.rank = 1;
    hd_io_array_pack(&vector->array, true);
    return vector->kind == HD_IO_ARRAY;
}

/* A group that is no struct is an object or a sparse matrix, which has the attribute MATLAB_sparse
 * with its number of rows. The number of columns follows from jc, which has one offset more. */
static const char *describe_group(hid_t group, int64_t file_size, hd_io_variable *variable) {
    char class[CLASS_SIZE];
    hid_t set = -1;
    hd_io_variable offsets;
    int64_t rows = read_number(group, "MATLAB_sparse", -1);
    read_class(group, class);
    if (H5Aexists(group, "MATLAB_sparse") <= 0)
        return hd_io_mat_class_refusal(class[0] == '\0' ? "struct" : class);
    /* `data` is described only to recognise complex numbers, which are records; `offsets` is
     * overwritten by jc. */
    bool described = describe_member(group, "data", file_size, &set, &offsets);
    bool complex = set >= 0 && type_class(set) == H5T_COMPOUND;
    hd_io_hdf5_release(set);
    set = -1;
    described = described && describe_member(group, "jc", file_size, &set, &offsets);
    hd_io_hdf5_release(set);
    if (complex)
        return "contains complex numbers";
    if (!described || rows < 0 || rows > INT32_MAX || offsets.array.dims[0] < 1 ||
        offsets.array.dims[0] > INT32_MAX)
        return "is a damaged sparse matrix";
    variable->kind = HD_IO_SPARSE;
    variable->wide = true;
    variable->place = FORM_SPARSE;
    variable->array =
        (hd_io_array){.element = HD_IO_F8, .rank = 2, .dims = {rows, offsets.array.dims[0] - 1}};
    return NULL;
}

/* The argument of add_variable(): what is listed, and inside which structs. */
typedef struct listing {
    hd_io_container *container;
    const char *prefix;
    int depth;
} listing;

/* A struct is a group without the attribute of a sparse matrix. */
static bool is_struct(hid_t group) {
    char class[CLASS_SIZE];
    read_class(group, class);
    return H5Aexists(group, "MATLAB_sparse") <= 0 &&
           (class[0] == '\0' || strcmp(class, "struct") == 0);
}

static herr_t add_variable(hid_t root, const char *name, const H5L_info_t *link, void *user);

/* The fields of a struct are the members of its group. */
static herr_t add_fields(hid_t group, const char *name, const listing *around) {
    char *prefix;
    if (hd_io_mat_join(around->prefix, name, (int64_t)strlen(name), &prefix) != HUDDLE_OK)
        return -1;
    listing inner = {around->container, prefix, around->depth + 1};
    herr_t result = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_variable, &inner);
    huddle_free(prefix);
    return result;
}

/* Callback of H5Literate(): 0 continues, a negative value stops. Names with # (#refs#,
 * #subsystem#) are MATLAB's own storage. */
static herr_t add_variable(hid_t root, const char *name, const H5L_info_t *link, void *user) {
    const listing *l = user;
    hd_io_variable *variable = NULL;
    herr_t result = 0;
    if (link->type != H5L_TYPE_HARD || name[0] == '#')
        return 0;
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0)
        return 0;
    H5I_type_t type = H5Iget_type(object);
    if (type == H5I_GROUP && l->depth < HD_IO_MAT_MAX_DEPTH && is_struct(object)) {
        result = add_fields(object, name, l);
    } else if (type == H5I_DATASET || type == H5I_GROUP) {
        (void)hd_io_mat_add(l->container, l->prefix, name, (int64_t)strlen(name), &variable);
        result = variable == NULL ? -1 : 0;
    }
    if (variable != NULL)
        hd_io_mat_refuse(variable, (type == H5I_DATASET ? describe_dataset : describe_group)(
                                       object, l->container->file->size, variable));
    if (variable != NULL && variable->place == FORM_CHARACTERS)
        variable->array.rank = 1; /* one text per row */
    H5Oclose(object);
    return result;
}

static bool list_variables(hd_io_container *container) {
    listing outermost = {container, "", 0};
    return H5Literate(hd_io_hdf5_file(container), H5_INDEX_NAME, H5_ITER_INC, NULL, add_variable,
                      &outermost) >= 0;
}

/* The object of a variable: the field a.b is the member b of the group a. Names in MATLAB have no
 * dots. */
static huddle_status open_object(const hd_io_container *container, const hd_io_variable *variable,
                                 hid_t *object) {
    char *path = hd_copy_text(variable->name);
    if (path == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a name");
    for (char *dot = path; (dot = strchr(dot, '.')) != NULL;)
        *dot = '/';
    *object = H5Oopen(hd_io_hdf5_file(container), path, H5P_DEFAULT);
    huddle_free(path);
    return *object < 0 ? hd_io_hdf5_damaged(variable) : HUDDLE_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The characters of an open data set; *units is the caller's to free. HUDDLE_UNSUPPORTED if it
 * contains something else. The data set is described again, since a cell may refer to any
 * object of the file. */
static huddle_status read_characters(hid_t set, int64_t file_size, const hd_io_variable *owner,
                                     hd_io_characters *characters, char **units) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable text = {.name = owner->name};
    if (describe_dataset(set, file_size, &text) != NULL || text.kind != HD_IO_TEXTS ||
        text.place != FORM_CHARACTERS)
        FAIL(HUDDLE_UNSUPPORTED, "'%s' has cells that are not strings", owner->name);
    *characters = (hd_io_characters){.width = (int32_t)hd_io_element_size(text.array.element),
                                     .rows = text.array.dims[0],
                                     .length = text.array.dims[1]};
    if (hd_io_variable_count(&text) == 0)
        goto done;
    text.kind = HD_IO_ARRAY;
    status = hd_io_hdf5_load(set, &text);
    *units = text.owned;
    characters->units = text.array.bytes;
done:
    return status;
}

static huddle_status load_characters(hid_t set, int64_t file_size, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_io_characters characters = {0};
    char *units = NULL;
    TRY(read_characters(set, file_size, variable, &characters, &units));
    TRY(hd_io_characters_texts(&characters, &variable->texts));
done:
    huddle_free(units);
    return status;
}

/* Adds the text in one cell to the arena, of which *used bytes are taken. The arena may move
 * when it grows, so that only lengths count here; load_cells() derives the positions from them. */
static huddle_status read_cell(hid_t set, const hobj_ref_t *reference, int64_t file_size,
                               hd_io_variable *variable, int64_t *capacity, int64_t *used) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels *texts = &variable->texts;
    hd_io_characters characters = {0};
    char *units = NULL;
    /* A reference is an address in the file; HDF5 checks that there is an object. */
    hid_t cell = H5Rdereference2(set, H5P_DEFAULT, H5R_OBJECT, reference);
    if (cell < 0)
        TRY(hd_io_hdf5_damaged(variable));
    if (H5Iget_type(cell) != H5I_DATASET)
        FAIL(HUDDLE_UNSUPPORTED, "'%s' has cells that are not strings", variable->name);
    TRY(read_characters(cell, file_size, variable, &characters, &units));
    if (characters.rows > 1 && characters.length > 0)
        FAIL(HUDDLE_UNSUPPORTED, "'%s' has cells of more than one text", variable->name);
    /* An empty text is 0 x 0. */
    if (characters.rows == 0)
        characters.length = 0;
    characters.rows = 1;
    if (!hd_grow(&texts->arena, capacity, *used + 4 * characters.length + 1, 1))
        FAIL(HUDDLE_NO_MEMORY, "no memory for the strings of '%s'", variable->name);
    char *end = texts->arena + *used;
    hd_io_characters_add(&characters, texts, &end);
    *used = end - texts->arena;
done:
    huddle_free(units);
    hd_io_hdf5_release(cell);
    return status;
}

/* References are resolved one by one: each cell is a data set of its own, in MATLAB's group
 * #refs#. */
static huddle_status load_cells(hid_t set, int64_t file_size, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels *texts = &variable->texts;
    hobj_ref_t *references = NULL;
    int64_t count = hd_io_variable_count(variable), capacity = 0, used = 0;
    ALLOC(references, count);
    ALLOC_ZERO(texts->texts, count);
    if (count > 0 && H5Dread(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references) < 0)
        TRY(hd_io_hdf5_damaged(variable));
    for (int64_t i = 0; i < count; i++)
        TRY(read_cell(set, &references[i], file_size, variable, &capacity, &used));
    const char *begin = texts->arena; /* it does not grow any more */
    for (int64_t i = 0; i < count; i++) {
        texts->texts[i].begin = begin;
        begin += texts->texts[i].length + 1;
    }
done:
    huddle_free(references);
    return status;
}

/* Members may have any numeric type; their sizes were bounded by the storage when described. */
static huddle_status load_member(hid_t group, const char *name, int64_t file_size,
                                 const hd_io_variable *owner, hd_io_variable *vector) {
    huddle_status status = HUDDLE_OK;
    hid_t set = -1;
    if (!describe_member(group, name, file_size, &set, vector))
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged sparse matrix", owner->name);
    vector->name = owner->name; /* for error messages */
    if (set >= 0)
        TRY(hd_io_hdf5_load(set, vector));
done:
    hd_io_hdf5_release(set);
    return status;
}

/* An empty matrix lacks ir and data, but always has jc. */
static huddle_status load_sparse(hid_t group, int64_t file_size, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable offsets = {0}, positions = {0}, values = {0};
    TRY(load_member(group, "jc", file_size, variable, &offsets));
    TRY(load_member(group, "ir", file_size, variable, &positions));
    TRY(load_member(group, "data", file_size, variable, &values));
    /* Without jc nothing is known about the columns. */
    if (offsets.array.bytes == NULL)
        FAIL(HUDDLE_FORMAT, "'%s' is a damaged sparse matrix", variable->name);
    TRY(hd_io_mat_sparse(variable->name, variable->array.dims[0], variable->array.dims[1],
                         &offsets.array, &positions.array, &values.array, &variable->sparse));
done:
    FREE(offsets.owned, positions.owned, values.owned);
    return status;
}

static huddle_status load_variable(hd_io_container *container, hd_io_variable *variable) {
    huddle_status status = HUDDLE_OK;
    int64_t file_size = container->file->size;
    hid_t object = -1;
    hd_io_hdf5_lock();
    TRY(open_object(container, variable, &object));
    if (variable->place == FORM_CHARACTERS)
        status = load_characters(object, file_size, variable);
    else if (variable->place == FORM_CELLS)
        status = load_cells(object, file_size, variable);
    else if (variable->place == FORM_SPARSE)
        status = load_sparse(object, file_size, variable);
    else
        status = hd_io_hdf5_load(object, variable);
done:
    hd_io_hdf5_release(object);
    hd_io_hdf5_unlock();
    return status;
}

/* Samples that are contiguous in MATLAB's columns are contiguous in HDF5's rows, so the plain
 * HDF5 reader can store them in place; fields of structs it would not find by their names. */
static huddle_status read_floats(hd_io_request *request, hd_io_container *container,
                                 const hd_io_variable *variable, float *values, bool *placed,
                                 bool *checked) {
    if (variable->place == FORM_NUMBERS && strchr(variable->name, '.') == NULL)
        return hd_io_hdf5_read_floats(request, container, variable, values, placed, checked);
    return HUDDLE_OK;
}

static huddle_status open_file(const hd_file *file, hd_io_container *container) {
    container->load = load_variable;
    container->read_floats = read_floats;
    return hd_io_hdf5_open_file(file, list_variables, container);
}

huddle_status hd_io_mat73_open(hd_io_request *request, const hd_file *file,
                               hd_io_container *container) {
    container->down_columns = container->dotted = true;
    huddle_status status = hd_io_hdf5_open_tried(request, file, "MAT v7.3", open_file, container);
    return status == HUDDLE_OK ? hd_io_mat_check(container) : status;
}
