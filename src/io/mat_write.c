/* MAT v5 by matio: points as X (n x d), labels as y, the size of images as im_height, im_width and
 * im_order (1: pixels along rows, 2: down columns). */
#include "base/check.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/hdf5.h"
#include "io/output.h"
#include "io/writers.h"

#include <matio.h>
#include <string.h>

/* A variable of a MAT v5 file has at most 2^31 bytes. */
static const int64_t most_bytes = INT32_MAX;

static huddle_status refused(const char *path) {
    return hd_fail(HUDDLE_IO, "%s: cannot be written: matio failed, the disc may be full", path);
}

/* Writes a variable and frees it. */
static huddle_status put(mat_t *mat, const char *path, matvar_t *variable) {
    huddle_status status = HUDDLE_OK;
    if (variable == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a variable of matio");
    if (Mat_VarWrite(mat, variable, MAT_COMPRESSION_NONE) != 0)
        TRY(refused(path));
done:
    Mat_VarFree(variable);
    return status;
}

static huddle_status put_number(mat_t *mat, const char *path, const char *name, double value) {
    size_t dims[] = {1, 1};
    return put(mat, path, Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, &value, 0));
}

static huddle_status put_dense(mat_t *mat, const char *path, const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    hd_block block = {0};
    size_t dims[] = {(size_t)x->n, (size_t)x->d};
    if (x->n * x->d > most_bytes / (x->shift != NULL ? 8 : 4))
        FAIL(HUDDLE_UNSUPPORTED, "%s: %lld x %lld is too large for MAT v5; write .h5 or .npz", path,
             (long long)x->n, (long long)x->d);
    TRY(hd_block_make(x, true, &block));
    TRY(put(mat, path,
            Mat_VarCreate("X", block.wide ? MAT_C_DOUBLE : MAT_C_SINGLE,
                          block.wide ? MAT_T_DOUBLE : MAT_T_SINGLE, 2, dims,
                          (void *)(uintptr_t)block.values, MAT_F_DONT_COPY_DATA)));
done:
    huddle_free(block.owned);
    return status;
}

/* MATLAB keeps sparse matrices by columns, in double. */
static huddle_status put_sparse(mat_t *mat, const char *path, const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    huddle_csr rows = {.rows = x->n, .cols = x->d, .offsets = x->offsets, .columns = x->columns};
    huddle_csr columns = {0};
    mat_uint32_t *jc = NULL;
    double *values = NULL;
    int64_t count = x->offsets[x->n];
    size_t dims[] = {(size_t)x->n, (size_t)x->d};
    if (count > most_bytes / 8)
        FAIL(HUDDLE_UNSUPPORTED, "%s: %lld non-zeros are too many for MAT v5; write .npz", path,
             (long long)count);
    ALLOC(values, count);
    for (int64_t e = 0; e < count; e++)
        values[e] = (double)x->values[e];
    rows.values = values;
    TRY(huddle_csr_transpose(&rows, &columns));
    ALLOC(jc, x->d + 1);
    for (int64_t j = 0; j <= x->d; j++)
        jc[j] = (mat_uint32_t)columns.offsets[j];
    mat_sparse_t sparse = {.nzmax = (mat_uint32_t)count,
                           .ir = (mat_uint32_t *)columns.columns,
                           .nir = (mat_uint32_t)count,
                           .jc = jc,
                           .njc = (mat_uint32_t)(x->d + 1),
                           .ndata = (mat_uint32_t)count,
                           .data = columns.values};
    TRY(put(
        mat, path,
        Mat_VarCreate("X", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA)));
done:
    huddle_free(values);
    huddle_free(jc);
    huddle_csr_free(&columns);
    return status;
}

static huddle_status put_numbers(mat_t *mat, const char *path, const int64_t *numbers, int64_t n) {
    huddle_status status = HUDDLE_OK;
    double *values = NULL;
    size_t dims[] = {(size_t)n, 1};
    ALLOC(values, n);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)numbers[i];
    TRY(put(mat, path, Mat_VarCreate("y", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, values, 0)));
done:
    huddle_free(values);
    return status;
}

/* A cell array of texts; the cells belong to it once they are set. */
static huddle_status put_texts(mat_t *mat, const char *path, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    size_t dims[] = {(size_t)data->points.n, 1};
    matvar_t *cells = Mat_VarCreate("y", MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
    for (int64_t i = 0; cells != NULL && i < data->points.n; i++) {
        char *text = data->classes[data->labels[i]];
        size_t size[] = {1, strlen(text)};
        matvar_t *cell = Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, size, text, 0);
        if (cell == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a variable of matio");
        Mat_VarSetCell(cells, (int)i, cell);
    }
    status = put(mat, path, cells);
    cells = NULL;
done:
    Mat_VarFree(cells);
    return status;
}

static huddle_status put_all(mat_t *mat, const char *path, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    int64_t *numbers = NULL;
    TRY(data->points.offsets != NULL ? put_sparse(mat, path, &data->points)
                                     : put_dense(mat, path, &data->points));
    TRY(hd_label_numbers(data, &numbers));
    if (numbers != NULL)
        TRY(put_numbers(mat, path, numbers, data->points.n));
    else if (data->labels != NULL)
        TRY(put_texts(mat, path, data));
    if (data->height > 0) {
        TRY(put_number(mat, path, "im_height", data->height));
        TRY(put_number(mat, path, "im_width", data->width));
        TRY(put_number(mat, path, "im_order", data->column_major ? 2 : 1));
    }
done:
    huddle_free(numbers);
    return status;
}

/* matio does not notice a full disc. */
static huddle_status check_whole(const char *temporary, const char *path, int64_t variables) {
    hd_file file = {.descriptor = -1};
    huddle_status status = hd_file_open(temporary, &file);
    if (status != HUDDLE_OK)
        return refused(path);
    bool whole = hd_mat_is(&file) && hd_mat_variables(&file) == variables;
    hd_file_close(&file);
    return whole ? HUDDLE_OK : refused(path);
}

/* X, y if there are labels, and three numbers of images. */
static int64_t count_variables(const huddle_data *data) {
    return 1 + (data->labels != NULL) + (data->height > 0 ? 3 : 0);
}

huddle_status hd_mat_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    mat_t *mat = NULL;
    TRY(hd_output_begin(path, true, &output));
    TRY(hd_check_cancel(context));
    hd_hdf5_lock();
    mat = Mat_CreateVer(output.temporary, NULL, MAT_FT_MAT5);
    status = mat == NULL ? refused(path) : put_all(mat, path, data);
    if (mat != NULL && Mat_Close(mat) != 0 && status == HUDDLE_OK)
        status = refused(path);
    hd_hdf5_unlock();
    TRY(status);
    TRY(check_whole(output.temporary, path, count_variables(data)));
done:
    return hd_output_end(&output, status);
}
