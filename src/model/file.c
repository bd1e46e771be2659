/* A model in a file.
 *
 * HDF5, readable by any of its tools: attributes `method`, one for each option and one for each
 * number of the fit, and a dataset for each of its arrays. The same walk over the fit serves saving
 * and loading. After the HDF5 data, where its readers do not look, stand 24 bytes: the format's
 * name and version, and the CRC-32 of all that precedes them. They are checked before HDF5 sees a
 * byte, so a damaged or foreign file never reaches it.
 *
 * Version 2 is version 1 with merged rows (nodes_*), which a release that knows only version 1
 * would take for all rows; without them version 1 is written. */
#include "model/model.h"

#include "base/check.h"
#include "archive/file.h"
#include "io/hdf5.h"
#include "archive/output.h"

#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char format_name[] = "huddle model v1\n";
static const char version_with_nodes = '2';
enum { NAME_SIZE = sizeof format_name - 1, VERSION_AT = NAME_SIZE - 2 };
enum { TRAILER_SIZE = NAME_SIZE + 8, TEXT_SIZE = 256 };

/* One walk over a model. The first failure sticks; later steps do nothing. */
typedef struct walk {
    hid_t file;
    bool loading;
    huddle_status status;
} walk;

static void fail_walk(walk *w, const char *what) {
    if (w->status == HUDDLE_OK)
        w->status = w->loading ? hd_fail(HUDDLE_FORMAT,
                                         "the model file is damaged: %s cannot be read", what)
                               : hd_fail(HUDDLE_IO, "%s cannot be written", what);
}

/* ---- attributes ---------------------------------------------------------------------------- */

static herr_t put_attribute(hid_t file, const char *name, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t result = attribute < 0 ? -1 : H5Awrite(attribute, type, value);
    H5Aclose(attribute);
    H5Sclose(space);
    return result;
}

static herr_t get_attribute(hid_t file, const char *name, hid_t type, void *value) {
    if (H5Aexists(file, name) <= 0)
        return -1;
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    herr_t result = attribute < 0 ? -1 : H5Aread(attribute, type, value);
    H5Aclose(attribute);
    return result;
}

static void walk_number(walk *w, const char *name, hid_t type, void *value) {
    if (w->status != HUDDLE_OK)
        return;
    herr_t result = w->loading ? get_attribute(w->file, name, type, value)
                               : put_attribute(w->file, name, type, value);
    if (result < 0)
        fail_walk(w, name);
}

static void walk_int(walk *w, const char *name, int64_t *value) {
    walk_number(w, name, H5T_NATIVE_INT64, value);
}

static void walk_int32(walk *w, const char *name, int32_t *value) {
    int64_t wide = *value;
    walk_int(w, name, &wide);
    *value = (int32_t)wide;
}

static void walk_bool(walk *w, const char *name, bool *value) {
    int64_t wide = *value;
    walk_int(w, name, &wide);
    *value = wide != 0;
}

static void walk_real(walk *w, const char *name, double *value) {
    walk_number(w, name, H5T_NATIVE_DOUBLE, value);
}

/* A text of at most TEXT_SIZE - 1 bytes, padded with zeros. */
static void walk_text(walk *w, const char *name, char text[TEXT_SIZE]) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, TEXT_SIZE);
    H5Tset_strpad(type, H5T_STR_NULLTERM);
    walk_number(w, name, type, text);
    text[TEXT_SIZE - 1] = '\0';
    H5Tclose(type);
}

/* A text that must be one of a table's choices, so that what is kept is static. */
static void walk_choice(walk *w, const char *name, const huddle_option *option,
                        const char **value) {
    char text[TEXT_SIZE] = "";
    if (!w->loading && *value != NULL)
        snprintf(text, sizeof text, "%s", *value);
    walk_text(w, name, text);
    if (w->status != HUDDLE_OK || !w->loading)
        return;
    *value = NULL;
    for (const char *const *choice = option->choices; *choice != NULL; choice++)
        if (strcmp(*choice, text) == 0)
            *value = *choice;
    if (*value == NULL && text[0] != '\0')
        fail_walk(w, name);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static void put_array(walk *w, const char *name, hid_t type, const hsize_t dims[2],
                      const void *values) {
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t set = H5Dcreate2(w->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        fail_walk(w, name);
    H5Dclose(set);
    H5Sclose(space);
}

/* Sizes of a stored array; false if it is no matrix or claims more than the file holds. */
static bool array_sizes(hid_t set, size_t size, hsize_t dims[2]) {
    hid_t space = H5Dget_space(set);
    bool fine =
        H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, dims, NULL) == 2;
    H5Sclose(space);
    if (!fine || (dims[1] > 0 && dims[0] > (hsize_t)INT64_MAX / 16 / dims[1]))
        return false;
    return H5Dget_storage_size(set) == dims[0] * dims[1] * size;
}

static void get_array(walk *w, const char *name, hid_t type, size_t size, hsize_t dims[2],
                      void **values) {
    hid_t set = H5Dopen2(w->file, name, H5P_DEFAULT);
    if (set < 0 || !array_sizes(set, size, dims)) {
        fail_walk(w, name);
    } else {
        *values = hd_alloc((int64_t)(dims[0] * dims[1]), size);
        if (*values == NULL)
            w->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %s", name);
        else if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
            fail_walk(w, name);
    }
    H5Dclose(set);
}

/* An array of rows x cols, absent if *values is NULL. */
static void walk_array(walk *w, const char *name, hid_t type, size_t size, int64_t *rows,
                       int64_t *cols, void **values) {
    hsize_t dims[2] = {(hsize_t)*rows, (hsize_t)*cols};
    if (w->status != HUDDLE_OK)
        return;
    if (!w->loading && *values != NULL) {
        put_array(w, name, type, dims, *values);
    } else if (w->loading && H5Lexists(w->file, name, H5P_DEFAULT) > 0) {
        get_array(w, name, type, size, dims, values);
        *rows = (int64_t)dims[0];
        *cols = (int64_t)dims[1];
    }
}

/* A vector whose length is known: what is loaded must have it. */
static void walk_vector(walk *w, const char *name, hid_t type, size_t size, int64_t length,
                        void **values) {
    int64_t rows = length, cols = 1;
    walk_array(w, name, type, size, &rows, &cols, values);
    if (w->status == HUDDLE_OK && *values != NULL && (rows != length || cols != 1))
        fail_walk(w, name);
}

static void walk_ints(walk *w, const char *name, int64_t length, int32_t **values) {
    void *array = *values;
    walk_vector(w, name, H5T_NATIVE_INT32, sizeof **values, length, &array);
    *values = array;
}

static void walk_longs(walk *w, const char *name, int64_t length, int64_t **values) {
    void *array = *values;
    walk_vector(w, name, H5T_NATIVE_INT64, sizeof **values, length, &array);
    *values = array;
}

static void walk_reals(walk *w, const char *name, int64_t length, double **values) {
    void *array = *values;
    walk_vector(w, name, H5T_NATIVE_DOUBLE, sizeof **values, length, &array);
    *values = array;
}

static void walk_dense(walk *w, const char *name, huddle_dense *matrix) {
    void *array = matrix->values;
    walk_array(w, name, H5T_NATIVE_DOUBLE, sizeof *matrix->values, &matrix->rows, &matrix->cols,
               &array);
    matrix->values = array;
    matrix->stride = matrix->cols;
}

static void walk_csr(walk *w, const char *name, huddle_csr *matrix) {
    char part[64];
    int64_t nonzeros = matrix->offsets != NULL ? matrix->offsets[matrix->rows] : 0;
    snprintf(part, sizeof part, "%s_rows", name);
    walk_int(w, part, &matrix->rows);
    snprintf(part, sizeof part, "%s_cols", name);
    walk_int(w, part, &matrix->cols);
    snprintf(part, sizeof part, "%s_nonzeros", name);
    walk_int(w, part, &nonzeros);
    snprintf(part, sizeof part, "%s_offsets", name);
    walk_longs(w, part, matrix->rows + 1, &matrix->offsets);
    snprintf(part, sizeof part, "%s_columns", name);
    walk_ints(w, part, nonzeros, &matrix->columns);
    snprintf(part, sizeof part, "%s_values", name);
    walk_reals(w, part, nonzeros, &matrix->values);
}

static const char *join(char name[64], const char *prefix, const char *part) {
    snprintf(name, 64, "%s_%s", prefix, part);
    return name;
}

static void walk_points(walk *w, const char *prefix, huddle_points *points) {
    char name[64];
    int64_t nonzeros = points->offsets != NULL ? points->offsets[points->n] : 0;
    int64_t rows = points->n, cols = points->d;
    void *values = points->values;
    walk_int(w, join(name, prefix, "n"), &points->n);
    walk_int(w, join(name, prefix, "d"), &points->d);
    walk_int(w, join(name, prefix, "nonzeros"), &nonzeros);
    walk_longs(w, join(name, prefix, "offsets"), points->n + 1, &points->offsets);
    walk_ints(w, join(name, prefix, "columns"), nonzeros, &points->columns);
    walk_reals(w, join(name, prefix, "shift"), points->d, &points->shift);
    join(name, prefix, "values");
    if (points->offsets != NULL) {
        walk_vector(w, name, H5T_NATIVE_FLOAT, sizeof(float), nonzeros, &values);
    } else {
        walk_array(w, name, H5T_NATIVE_FLOAT, sizeof(float), &rows, &cols, &values);
        if (w->status == HUDDLE_OK && values != NULL && (rows != points->n || cols != points->d))
            fail_walk(w, name);
        points->stride = points->d;
    }
    points->values = values;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static void walk_preparation(walk *w, const char *prefix, huddle_preparation *p) {
    char name[64];
    const huddle_option *option = huddle_option_find(huddle_prepare_options_table(), "prepare");
    walk_choice(w, join(name, prefix, "rule"), option, &p->rule.name);
    walk_int32(w, join(name, prefix, "r"), &p->rule.r);
    walk_int(w, join(name, prefix, "d_in"), &p->d_in);
    walk_int(w, join(name, prefix, "d_out"), &p->d_out);
    walk_bool(w, join(name, prefix, "center_rows"), &p->center_rows);
    walk_bool(w, join(name, prefix, "unit_rows"), &p->unit_rows);
    walk_real(w, join(name, prefix, "variance_kept"), &p->variance_kept);
    walk_reals(w, join(name, prefix, "centre"), p->d_in, &p->centre);
    walk_reals(w, join(name, prefix, "scale"), p->d_in, &p->scale);
    walk_reals(w, join(name, prefix, "shift"), p->d_in, &p->shift);
    walk_dense(w, join(name, prefix, "projection"), &p->projection);
}

static void walk_scale(walk *w, const char *prefix, huddle_scale *scale) {
    char part[64];
    const huddle_option *option = huddle_option_find(huddle_weight_options_table(), "scale");
    snprintf(part, sizeof part, "%s_rule", prefix);
    walk_choice(w, part, option, &scale->rule);
    snprintf(part, sizeof part, "%s_delta2", prefix);
    walk_real(w, part, &scale->delta2);
    snprintf(part, sizeof part, "%s_smallest", prefix);
    walk_real(w, part, &scale->smallest);
    snprintf(part, sizeof part, "%s_n", prefix);
    walk_int(w, part, &scale->n);
    snprintf(part, sizeof part, "%s_local", prefix);
    walk_reals(w, part, scale->n, &scale->local);
}

/* Which rows are merged; nothing is written if none are. */
static void walk_distinct(walk *w, huddle_distinct *nodes) {
    bool there = w->loading ? H5Aexists(w->file, "nodes_n") > 0 : nodes->n > 0;
    if (!there)
        return;
    walk_int(w, "nodes_n", &nodes->n);
    walk_int(w, "nodes_count", &nodes->count);
    walk_ints(w, "nodes_of", nodes->n, &nodes->of);
    walk_longs(w, "nodes_first", nodes->count, &nodes->first);
    walk_longs(w, "nodes_copies", nodes->count, &nodes->copies);
}

static void walk_fit(walk *w, hd_fit *fit) {
    walk_int(w, "n", &fit->n);
    walk_distinct(w, &fit->nodes);
    walk_int(w, "d", &fit->d);
    walk_reals(w, "shift", fit->d, &fit->shift);
    walk_int32(w, "n_clusters", &fit->n_clusters);
    walk_ints(w, "labels", fit->n, &fit->labels);
    walk_dense(w, "centres", &fit->centres);
    walk_longs(w, "medoids", fit->centres.rows, &fit->medoids);
    walk_preparation(w, "prepare", &fit->preparation);
    walk_preparation(w, "reduce", &fit->reduction);
    walk_points(w, "points", &fit->points);
    walk_points(w, "landmarks", &fit->landmarks);
    walk_dense(w, "landmark_vectors", &fit->landmark_vectors);
    walk_bool(w, "has_graph", &fit->has_graph);
    walk_csr(w, "graph", &fit->graph);
    walk_scale(w, "scale", &fit->scale);
    walk_bool(w, "has_embedding", &fit->has_embedding);
    walk_dense(w, "embedding", &fit->embedding.rows);
    walk_dense(w, "eigenvectors", &fit->embedding.vectors);
    walk_reals(w, "degrees", fit->n, &fit->embedding.degrees);
    walk_int32(w, "n_eigenvalues", &fit->embedding.n_eigenvalues);
    walk_reals(w, "eigenvalues", fit->embedding.n_eigenvalues, &fit->embedding.eigenvalues);
    walk_bool(w, "has_shrink", &fit->has_shrink);
    walk_bool(w, "guarded", &fit->guarded);
    walk_csr(w, "shrink_graph", &fit->shrink_graph);
    walk_scale(w, "shrink_scale", &fit->shrink_scale);
    walk_dense(w, "shrunk", &fit->shrunk.g);
    walk_ints(w, "groups", fit->n, &fit->shrunk.group);
    walk_real(w, "gamma", &fit->shrink_info.gamma);
}

/* The report is kept as the text it was. */
static void walk_report(walk *w, char **report) {
    int64_t length = *report != NULL ? (int64_t)strlen(*report) + 1 : 0;
    void *text = *report;
    walk_int(w, "report_length", &length);
    walk_vector(w, "report", H5T_NATIVE_CHAR, 1, length, &text);
    *report = text;
    if (w->loading && w->status == HUDDLE_OK &&
        (length < 1 || text == NULL || (*report)[length - 1] != '\0'))
        fail_walk(w, "report");
}

static void walk_options(walk *w, huddle_model *model) {
    for (const huddle_option *o = model->table; o->type != HUDDLE_OPTION_END; o++) {
        char name[TEXT_SIZE], text[TEXT_SIZE] = "";
        snprintf(name, sizeof name, "option_%s", o->name);
        if (!w->loading)
            (void)huddle_options_get(model->table, model->fitted_options, o->name, text,
                                     sizeof text);
        walk_text(w, name, text);
        if (w->status == HUDDLE_OK && w->loading)
            w->status = huddle_model_set_option(model, o->name, text);
    }
    if (w->status == HUDDLE_OK && w->loading)
        w->status = hd_copy_options(model, &model->fitted_options);
}

static void walk_model(walk *w, huddle_model *model, char **report) {
    walk_options(w, model);
    walk_fit(w, &model->fit);
    walk_report(w, report);
}

/* ---- saving -------------------------------------------------------------------------------- */

static void put_head(walk *w, const huddle_model *model) {
    char text[TEXT_SIZE] = "";
    snprintf(text, sizeof text, "%s", model->method->text.name);
    walk_text(w, "method", text);
}

static huddle_status write_model(huddle_model *model, const hd_output *output, char *report) {
    int error = 0;
    walk w = {.file = hd_hdf5_create(output, &error)};
    if (w.file < 0)
        return hd_hdf5_close(w.file, &error, HUDDLE_OK);
    put_head(&w, model);
    walk_model(&w, model, &report);
    return hd_hdf5_close(w.file, &error, w.status);
}

static uint32_t checksum(const char *bytes, int64_t size) {
    uLong sum = crc32(0, NULL, 0);
    while (size > 0) {
        uInt part = size < (1 << 30) ? (uInt)size : 1u << 30;
        sum = crc32(sum, (const unsigned char *)bytes, part);
        bytes += part;
        size -= part;
    }
    return (uint32_t)sum;
}

/* Seals the finished HDF5 file. */
static huddle_status append_trailer(const char *path, bool with_nodes) {
    huddle_status status = HUDDLE_OK;
    hd_file body = {0};
    char trailer[TRAILER_SIZE + 1];
    TRY(hd_file_open(path, &body));
    snprintf(trailer, sizeof trailer, "%s%08x", format_name, checksum(body.text, body.size));
    if (with_nodes)
        trailer[VERSION_AT] = version_with_nodes;
    FILE *file = fopen(path, "ab");
    bool written = file != NULL && fwrite(trailer, 1, TRAILER_SIZE, file) == TRAILER_SIZE;
    bool closed = file != NULL && fclose(file) == 0;
    if (!written || !closed)
        FAIL(HUDDLE_IO, "the file cannot be written: %s", strerror(errno));
done:
    hd_file_close(&body);
    return status;
}

huddle_status huddle_model_save(const huddle_model *model, const char *path) {
    char *report = NULL;
    hd_output output;
    huddle_status status = huddle_model_info_json(model, &report);
    if (status != HUDDLE_OK)
        return status;
    status = hd_output_begin(path, true, &output);
    if (status == HUDDLE_OK) {
        /* The walk only reads when it saves, but is written once for both directions. */
        hd_hdf5_lock();
        status = write_model((huddle_model *)(uintptr_t)model, &output, report);
        hd_hdf5_unlock();
        if (status == HUDDLE_OK)
            status = append_trailer(output.temporary, model->fit.nodes.n > 0);
        if (status != HUDDLE_OK)
            status = hd_fail_at(status, "%s", path);
    }
    status = hd_output_end(&output, status);
    huddle_free(report);
    return status;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* Makes an empty model of the method that the file names. */
static huddle_status get_head(walk *w, huddle_model **model) {
    char text[TEXT_SIZE] = "";
    walk_text(w, "method", text);
    return w->status == HUDDLE_OK ? huddle_model_new(text, model) : w->status;
}

static huddle_status read_model(hid_t file, huddle_model **model) {
    walk w = {.file = file, .loading = true};
    huddle_status status = get_head(&w, model);
    if (status != HUDDLE_OK)
        return status;
    walk_model(&w, *model, &(*model)->report);
    if (w.status == HUDDLE_OK)
        w.status = hd_check_loaded(&(*model)->fit);
    if (w.status == HUDDLE_OK)
        w.status = hd_all_rows_new(&(*model)->fit, &(*model)->all_rows);
    (*model)->fitted = w.status == HUDDLE_OK;
    return w.status;
}

/* The trailer is there, and the bytes before it are those that were written. */
static huddle_status check_trailer(const hd_file *file) {
    int64_t size = file->size - TRAILER_SIZE;
    const char *trailer = file->text + size;
    int same = 0; /* of the name, up to the version */
    char sum[9] = "";
    while (size >= 0 && same < NAME_SIZE &&
           (trailer[same] == format_name[same] ||
            (same == VERSION_AT && trailer[same] == version_with_nodes)))
        same++;
    if (size >= 0 && same < NAME_SIZE && same >= VERSION_AT)
        return hd_fail(HUDDLE_UNSUPPORTED, "this model was written by another version of Huddle");
    if (same < NAME_SIZE)
        return hd_fail(HUDDLE_FORMAT, "this is not a Huddle model, or its end is missing");
    memcpy(sum, trailer + NAME_SIZE, 8);
    if (strtoul(sum, NULL, 16) != checksum(file->text, size))
        return hd_fail(HUDDLE_FORMAT, "the model file is damaged: its checksum does not match");
    return HUDDLE_OK;
}

static huddle_status load(const char *path, huddle_model **model) {
    huddle_status status = HUDDLE_OK;
    hd_file bytes = {0};
    TRY(hd_file_open(path, &bytes));
    TRY(check_trailer(&bytes));
    hd_hdf5_lock();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    status = file < 0 ? hd_fail(HUDDLE_FORMAT, "HDF5 cannot read it") : read_model(file, model);
    H5Fclose(file);
    hd_hdf5_unlock();
done:
    hd_file_close(&bytes);
    return status;
}

huddle_status huddle_model_load(const char *path, huddle_model **model) {
    *model = NULL;
    huddle_status status = load(path, model);
    if (status != HUDDLE_OK) {
        status = hd_fail_at(status, "%s", path);
        huddle_model_free(*model);
        *model = NULL;
    }
    return status;
}
