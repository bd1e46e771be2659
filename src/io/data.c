/* The entry points that read. */
#include "base/check.h"
#include "io/formats.h"
#include "io/rows.h"
#include "io/unpack.h"
#include "matrix/points.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The options of those who give none. */
static const huddle_read_options plain = {.noise = HUDDLE_AUTO};

/* Works for data that was only partly filled: everything not reached is zero. */
void huddle_data_free(huddle_data *data) {
    FREE(data->name, data->labels);
    hd_io_classes_free(data->classes, data->n_classes);
    hd_io_classes_free(data->features, data->points.d);
    hd_io_classes_free(data->names, data->n_names);
    for (int64_t c = 0; c < data->n_columns; c++)
        FREE(data->columns[c].name, data->columns[c].reason);
    huddle_free(data->columns);
    for (char **name = data->row_names; name != NULL && *name != NULL; name++)
        huddle_free(*name);
    FREE(data->row_names, data->dropped, data->exact);
    huddle_points_free(&data->points);
    memset(data, 0, sizeof *data);
}

void hd_io_data_forget_labels(huddle_data *data) {
    hd_io_classes_free(data->classes, data->n_classes);
    huddle_free(data->labels);
    data->classes = NULL;
    data->labels = NULL;
    data->n_classes = 0;
    data->classes_numeric = false;
}

/* Options for tables are refused with other formats: ignoring them would change the result
 * silently. */
huddle_status hd_io_refuse_table_options(const huddle_read_options *options) {
    if (options->missing != NULL && strcmp(options->missing, "error") != 0)
        return hd_fail(HUDDLE_UNSUPPORTED, "missing = %.100s is for tables (CSV, TSV) only",
                       options->missing);
    if (options->encode)
        return hd_fail(HUDDLE_UNSUPPORTED, "encode is for tables (CSV, TSV) only");
    if (options->header != NULL && strcmp(options->header, "auto") != 0)
        return hd_fail(HUDDLE_UNSUPPORTED, "header = %.100s is for tables (CSV, TSV) only",
                       options->header);
    return HUDDLE_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Detection works on the unpacked bytes, so that every format may be compressed. */
huddle_status hd_io_file_open(huddle_context *context, const char *path, hd_file *file,
                              hd_io_encoding *encoding, const hd_io_format **format) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_file_open(path, file));
    TRY(hd_io_unpack_file(context, file));
    TRY(hd_io_recode_utf16(file, encoding));
    TRY(hd_io_detect(file, format));
done:
    return status;
}

/* The content of a file whose format is known: a table becomes UTF-8 with lines that end in LF, and
 * of other files the container is opened. */
static huddle_status open_content(hd_io_request *request, hd_io_opened *from) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_io_check_library(from->format));
    if (from->format->open != NULL) {
        from->container =
            (hd_io_container){.format = from->format->about->name, .file = &from->file};
        TRY(from->format->open(request, &from->file, &from->container));
    } else {
        TRY(hd_io_recode_returns(&from->file, NULL));
        TRY(hd_io_recode_latin1(request->context, &from->file));
    }
done:
    return status;
}

huddle_status hd_io_open_file(hd_io_request *request, const char *path, hd_io_opened *opened) {
    huddle_status status = HUDDLE_OK;
    *opened = (hd_io_opened){0};
    TRY(hd_io_file_open(request->context, path, &opened->file, NULL, &opened->format));
    if (opened->format->read != NULL)
        FAIL(HUDDLE_UNSUPPORTED, "a file of images contains neither labels nor a matrix");
    TRY(open_content(request, opened));
    if (request->rows != NULL && !opened->container.divisible)
        FAIL(HUDDLE_INVALID, "it is not the same file for all processes");
done:
    return status;
}

/* The container may refer to the mapped file, so it is closed first. */
void hd_io_close_file(hd_io_opened *opened) {
    hd_io_container_close(&opened->container);
    if (opened->file.text != NULL)
        hd_file_close(&opened->file);
}

/* A file that is read as a whole, without options. */
static huddle_status open_whole(huddle_context *context, const char *path, hd_io_opened *from) {
    return hd_io_open_file(&(hd_io_request){context, &plain, path, NULL}, path, from);
}

static huddle_status close_whole(const char *path, hd_io_opened *from, huddle_status status) {
    hd_io_close_file(from);
    return hd_io_locate_failure(path, status);
}

/* ---- data sets ------------------------------------------------------------------------------- */

static huddle_status read_file(hd_io_request *request, const char *path, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from = {0};
    TRY(hd_io_file_open(request->context, path, &from.file, NULL, &from.format));
    if (from.format->open != NULL || from.format->read != NULL)
        TRY(hd_io_refuse_table_options(request->options));
    if (from.format->read != NULL) {
        TRY(from.format->read(request, &from.file, data));
        goto done;
    }
    TRY(open_content(request, &from));
    if (from.format->open != NULL)
        TRY(hd_io_container_read(request, &from.container, data));
    else
        TRY(hd_io_csv_read(request, &from.file, data));
done:
    hd_io_close_file(&from);
    return status;
}

/* A folder is a data set of images. */
static huddle_status read_source(hd_io_request *request, const char *source, huddle_data *data) {
    struct stat about;
    if (stat(source, &about) != 0)
        return hd_fail(HUDDLE_IO, "cannot be opened: %s", strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        huddle_status status = hd_io_refuse_table_options(request->options);
        return status == HUDDLE_OK ? hd_io_images_read(request, source, data) : status;
    }
    return read_file(request, source, data);
}

/* Lack of memory and cancelling are not the file's fault. */
huddle_status hd_io_locate_failure(const char *path, huddle_status status) {
    if (status == HUDDLE_OK || status == HUDDLE_NO_MEMORY || status == HUDDLE_CANCELLED ||
        path == NULL)
        return status;
    return hd_fail_at(status, "%s", path);
}

/* Generated data has the labels it was generated with, or none. */
static huddle_status generate_data(hd_io_request *request, const char *kind, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_read_options *options = request->options;
    TRY(hd_io_refuse_table_options(options));
    if (strcmp(kind, "digits") == 0)
        TRY(hd_io_digits_make(data));
    else
        TRY(hd_io_generate(request->context, kind, options, request->rows, data));
    if (options->n_y > 1 || (options->n_y == 1 && strcmp(options->y[0], "none") != 0))
        FAIL(HUDDLE_INVALID, "y = '%s': the labels are built in; only none leaves them",
             options->y[0]);
    if (options->n_y == 1)
        hd_io_data_forget_labels(data);
done:
    return status;
}

/* The names of generators win over files of the same name; "./digits" reads such a file. */
huddle_status hd_io_data_read(hd_io_request *request, const char *source, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    if (hd_io_is_generator(source))
        status = generate_data(request, source, data);
    else
        status = read_source(request, source, data);
    if (status == HUDDLE_OK)
        status = hd_io_data_select(request->context, request->options, data);
    TRY(hd_io_locate_failure(request->failing_path, status));
    data->total_rows = data->points.n;
done:
    return status;
}

huddle_status huddle_data_read(huddle_context *context, const char *source,
                               const huddle_read_options *options, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    hd_io_rows rows = {.rank = hd_slabs_rank(context), .count = hd_slabs_count(context)};
    /* Failures are about the source unless a reader changes failing_path. */
    hd_io_request request = {context, options != NULL ? options : &plain, source, NULL};
    memset(data, 0, sizeof *data);
    TRY(hd_io_copy_text(source, "a file's name", &data->name));
    if (hd_slabs_distributed(context)) {
        if (request.options->exact)
            FAIL(HUDDLE_UNSUPPORTED, "exact: rows that are distributed over processes are floats");
        request.rows = &rows;
        TRY(hd_io_rows_read(&request, source, data));
    } else {
        TRY(hd_io_data_read(&request, source, data));
        if (!request.typed)
            hd_io_exact_settle(data);
    }
    TRY(hd_io_locate_failure(source, hd_io_data_shape(context, request.options, data)));
done:
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_data_free(data);
    return status;
}

/* ---- labels --------------------------------------------------------------------------------- */

/* For files that contain labels only, and for those with points and labels, of which the
 * labels are used. */
huddle_status hd_io_labels_read_raw(huddle_context *context, const char *path, bool clusters,
                                    hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from;
    hd_io_variable *variable = NULL;
    *labels = (hd_io_labels){0};
    TRY(open_whole(context, path, &from));
    if (from.format->open == NULL) {
        TRY(hd_io_csv_labels(context, &from.file, clusters, labels));
    } else {
        TRY(hd_io_container_find_labels(&from.container, &variable));
        TRY(hd_io_container_append(&from.container, variable, labels));
    }
    TRY(hd_io_labels_simplify(labels));
done:
    return close_whole(path, &from, status);
}

/* The labels of this process's rows if rows are distributed over processes. Outputs are cleared
 * first, so that they are valid after a failure. */
static huddle_status give_labels(huddle_context *context, const char *path, bool clusters,
                                 int64_t *n, int32_t **labels, int32_t *n_classes,
                                 char ***classes) {
    hd_io_rows rows = {.rank = hd_slabs_rank(context), .count = hd_slabs_count(context)};
    hd_io_request request = {context, &plain, path, &rows, .clusters = clusters};
    huddle_data read = {0};
    hd_io_labels raw = {0};
    huddle_status status = HUDDLE_OK;
    if (hd_slabs_distributed(context))
        TRY(hd_io_rows_labels(&request, &path, 1, &read));
    else {
        TRY(hd_io_labels_read_raw(context, path, clusters, &raw));
        TRY(hd_io_labels_map(&raw, &read.labels, &read.n_classes, &read.classes));
        read.points.n = raw.n;
    }
done:
    hd_io_labels_free(&raw);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_data_free(&read);
    *n = read.points.n;
    *labels = read.labels;
    *n_classes = read.n_classes;
    *classes = read.classes;
    return status;
}

huddle_status huddle_labels_read(huddle_context *context, const char *path, int64_t *n,
                                 int32_t **labels, int32_t *n_classes, char ***classes) {
    return give_labels(context, path, false, n, labels, n_classes, classes);
}

huddle_status huddle_clusters_read(huddle_context *context, const char *path, int64_t *n,
                                   int32_t **labels, int32_t *n_classes, char ***classes) {
    return give_labels(context, path, true, n, labels, n_classes, classes);
}

/* ---- listing -------------------------------------------------------------------------------- */

/* names and dims have the same number of entries. */
void huddle_listing_free(huddle_listing *listing) {
    hd_io_classes_free(listing->names, listing->count);
    huddle_free(listing->dims);
    memset(listing, 0, sizeof *listing);
}

huddle_status huddle_data_list(huddle_context *context, const char *path, huddle_listing *listing) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from;
    memset(listing, 0, sizeof *listing);
    TRY(open_whole(context, path, &from));
    /* A table has no variables, so its listing is empty. */
    listing->format = from.format->about->name;
    if (from.format->open != NULL)
        TRY(hd_io_container_list(&from.container, listing));
done:
    if (status != HUDDLE_OK)
        huddle_listing_free(listing);
    return close_whole(path, &from, status);
}

/* ---- matrices ------------------------------------------------------------------------------- */

/* The matrix is zeroed by huddle_dense_new(). */
static huddle_status dense_from_csr(const huddle_csr *from, huddle_dense *matrix) {
    huddle_status status = huddle_dense_new(from->rows, from->cols, matrix);
    for (int64_t i = 0; status == HUDDLE_OK && i < from->rows; i++)
        for (int64_t e = from->offsets[i]; e < from->offsets[i + 1]; e++)
            matrix->values[i * matrix->stride + from->columns[e]] = from->values[e];
    return status;
}

/* Images become one row each; see hd_io_array_samples(). */
static huddle_status dense_from_array(huddle_context *context, const hd_io_array *array,
                                      huddle_dense *matrix) {
    hd_io_samples samples = hd_io_array_samples(array, false);
    huddle_status status = huddle_dense_new(samples.n, samples.d, matrix);
    return status == HUDDLE_OK ? hd_io_samples_to_double(context, &samples, matrix->values)
                               : status;
}

/* Huddle's computations assume finite values: NaN would pass silently through every
 * comparison. */
static huddle_status check_finite(const huddle_dense *matrix) {
    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t j = 0; j < matrix->cols; j++)
            if (!isfinite(matrix->values[i * matrix->stride + j]))
                return hd_refuse_value(matrix->values[i * matrix->stride + j], i, j);
    return HUDDLE_OK;
}

/* The entries that are not zero. Two passes: the first counts, so that the matrix is allocated
 * once. */
static huddle_status csr_from_dense(const huddle_dense *from, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t j = 0; j < from->cols; j++)
            count += from->values[i * from->stride + j] != 0;
    TRY(huddle_csr_new(from->rows, from->cols, count, matrix));
    count = 0;
    for (int64_t i = 0; i < from->rows; i++) {
        for (int64_t j = 0; j < from->cols; j++) {
            double value = from->values[i * from->stride + j];
            if (value == 0)
                continue;
            matrix->columns[count] = (int32_t)j;
            matrix->values[count++] = value;
        }
        matrix->offsets[i + 1] = count;
    }
done:
    return status;
}

/* The matrix of a file: sparse, or dense if sparse->offsets stays NULL. A sparse one is taken over
 * from its variable. */
static huddle_status read_matrix(huddle_context *context, hd_io_opened *from, huddle_dense *dense,
                                 huddle_csr *sparse) {
    huddle_status status = HUDDLE_OK;
    hd_io_variable *variable = NULL;
    if (from->format->open == NULL)
        return hd_io_csv_dense(context, &from->file, dense);
    TRY(hd_io_container_matrix(&from->container, &variable));
    if (variable->kind != HD_IO_SPARSE)
        return dense_from_array(context, &variable->array, dense);
    *sparse = variable->sparse;
    variable->sparse = (huddle_csr){0};
done:
    return status;
}

huddle_status huddle_dense_read(huddle_context *context, const char *path, huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from;
    huddle_csr sparse = {0};
    memset(matrix, 0, sizeof *matrix);
    TRY(open_whole(context, path, &from));
    TRY(read_matrix(context, &from, matrix, &sparse));
    if (sparse.offsets != NULL)
        TRY(dense_from_csr(&sparse, matrix));
    TRY(check_finite(matrix));
done:
    huddle_csr_free(&sparse);
    if (status != HUDDLE_OK)
        huddle_dense_free(matrix);
    return close_whole(path, &from, status);
}

/* The columns and offsets of a sparse matrix come from the file, so they are checked at the
 * end before anything indexes by them. */
huddle_status huddle_csr_read(huddle_context *context, const char *path, huddle_csr *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_io_opened from;
    huddle_dense dense = {0};
    memset(matrix, 0, sizeof *matrix);
    TRY(open_whole(context, path, &from));
    TRY(read_matrix(context, &from, &dense, matrix));
    if (matrix->offsets == NULL)
        TRY(csr_from_dense(&dense, matrix));
    TRY(huddle_csr_check(matrix));
done:
    huddle_dense_free(&dense);
    if (status != HUDDLE_OK)
        huddle_csr_free(matrix);
    return close_whole(path, &from, status);
}
