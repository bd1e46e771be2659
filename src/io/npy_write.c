#include "archive/npy.h"
#include "base/check.h"
#include "base/context.h"
#include "io/writers.h"

huddle_status hd_io_npy_begin(const char *path, const char *type, int32_t rank, const int64_t *dims,
                              hd_output *output, int64_t *length) {
    huddle_status status = HUDDLE_OK;
    char *header = NULL;
    TRY(hd_output_begin(path, false, output));
    TRY(hd_npy_header(type, rank, dims, &header, length));
    TRY(hd_output_write(output, header, *length));
done:
    huddle_free(header);
    return status;
}

/* Rows of `size` bytes, `gap` apart. */
static huddle_status write_rows(const char *path, const char *type, const int64_t dims[2],
                                const void *rows, int64_t size, int64_t gap) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    int64_t length;
    TRY(hd_io_npy_begin(path, type, 2, dims, &output, &length));
    if (gap == size)
        TRY(hd_output_write(&output, rows, dims[0] * size));
    for (int64_t i = 0; gap != size && i < dims[0]; i++)
        TRY(hd_output_write(&output, (const char *)rows + i * gap, size));
done:
    return hd_output_end(&output, status);
}

/* A sparse matrix is not made dense: it might not fit into memory, and .npz stores it as it
 * is. */
static huddle_status write_points(const char *path, const huddle_points *points, double *exact) {
    huddle_status status = HUDDLE_OK;
    hd_io_block block = {0};
    int64_t dims[] = {points->n, points->d};
    if (points->offsets != NULL)
        FAIL(HUDDLE_UNSUPPORTED, "%s: sparse points are not made dense", path);
    TRY(hd_io_block_make(points, exact, false, &block));
    int64_t size = points->d * (block.wide ? 8 : 4);
    TRY(write_rows(path, block.wide ? "<f8" : "<f4", dims, block.values, size, size));
done:
    huddle_free(block.owned);
    return status;
}

huddle_status huddle_points_write_npy(const char *path, const huddle_points *points) {
    return write_points(path, points, NULL);
}

huddle_status huddle_dense_write_npy(const char *path, const huddle_dense *matrix) {
    const int64_t dims[] = {matrix->rows, matrix->cols}, width = sizeof *matrix->values;
    return write_rows(path, "<f8", dims, matrix->values, matrix->cols * width,
                      matrix->stride * width);
}

/* .npy has room for one array. */
huddle_status hd_io_npy_write(huddle_context *context, const huddle_data *data, const char *path) {
    if (data->labels != NULL)
        hd_warn(context, HUDDLE_WARNING_OUTPUT,
                "%s: the labels are not written; .npz contains both", path);
    return write_points(path, &data->points, data->exact);
}
