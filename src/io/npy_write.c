#include "archive/npy.h"
#include "base/check.h"
#include "base/context.h"
#include "io/writers.h"

#include <string.h>

/* Writes a header and a block of elements in one pass. */
static huddle_status write_array(const char *path, const char *type, int rank, const int64_t *dims,
                                 const void *elements, int64_t bytes) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    char *header = NULL;
    int64_t length;
    TRY(hd_output_begin(path, false, &output));
    TRY(hd_npy_header(type, rank, dims, &header, &length));
    TRY(hd_output_write(&output, header, length));
    TRY(hd_output_write(&output, elements, bytes));
done:
    huddle_free(header);
    return hd_output_end(&output, status);
}

/* A sparse matrix is not made dense: it might not fit into memory, and .npz stores it as it
 * is. */
static huddle_status write_points(const char *path, const huddle_points *points, double *exact) {
    huddle_status status = HUDDLE_OK;
    hd_io_block block = {0};
    int64_t dims[] = {points->n, points->d}, count = points->n * points->d;
    if (points->offsets != NULL)
        FAIL(HUDDLE_UNSUPPORTED, "%s: sparse points are not made dense", path);
    TRY(hd_io_block_make(points, exact, false, &block));
    TRY(write_array(path, block.wide ? "<f8" : "<f4", 2, dims, block.values,
                    count * (block.wide ? 8 : 4)));
done:
    huddle_free(block.owned);
    return status;
}

huddle_status huddle_points_write_npy(const char *path, const huddle_points *points) {
    return write_points(path, points, NULL);
}

/* Row by row, because the matrix may have a stride. */
huddle_status huddle_dense_write_npy(const char *path, const huddle_dense *matrix) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    char *header = NULL;
    int64_t length, dims[] = {matrix->rows, matrix->cols};
    TRY(hd_output_begin(path, false, &output));
    TRY(hd_npy_header("<f8", 2, dims, &header, &length));
    TRY(hd_output_write(&output, header, length));
    for (int64_t i = 0; i < matrix->rows; i++)
        TRY(hd_output_write(&output, matrix->values + i * matrix->stride,
                            matrix->cols * (int64_t)sizeof *matrix->values));
done:
    huddle_free(header);
    return hd_output_end(&output, status);
}

/* .npy has room for one array. */
huddle_status hd_io_npy_write(huddle_context *context, const huddle_data *data, const char *path) {
    if (data->labels != NULL)
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: the labels are not written; .npz contains both", path);
    return write_points(path, &data->points, data->exact);
}

huddle_status hd_io_labels_write_npy(const char *path, int64_t n, const int32_t *values) {
    return write_array(path, "<i4", 1, &n, values, n * (int64_t)sizeof *values);
}
