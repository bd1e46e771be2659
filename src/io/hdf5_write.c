/* HDF5: X (n x d), y (numbers or texts), im_height, im_width, im_order (1: pixels along rows, 2:
 * down columns). */
#include "archive/output.h"
#include "base/check.h"
#include "base/context.h"
#include "io/hdf5.h"
#include "io/writers.h"

#include <hdf5.h>

/* Creates a data set with one call each for space, set and values. The stored type is
 * little-endian whatever the machine, so that files are the same everywhere; HDF5 converts
 * from the native type. */
static huddle_status write_dataset(hid_t file, const char *name, hid_t stored, hid_t type, int rank,
                                   const hsize_t *dims, const void *values) {
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
    hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t written = set < 0 ? -1 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0 && H5Dclose(set) < 0)
        written = -1;
    hd_io_hdf5_release(space);
    if (written < 0)
        return hd_fail(HUDDLE_IO, "cannot be written: HDF5 failed");
    return HUDDLE_OK;
}

/* Texts of variable length in UTF-8, as h5py writes and reads them. */
static huddle_status write_texts(hid_t file, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const char **texts = NULL;
    hsize_t n = (hsize_t)data->points.n;
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    ALLOC(texts, data->points.n);
    for (int64_t i = 0; i < data->points.n; i++)
        texts[i] = data->classes[data->labels[i]];
    TRY(write_dataset(file, "y", type, type, 1, &n, texts));
done:
    H5Tclose(type);
    huddle_free(texts);
    return status;
}

/* The reader finds X and y by their conventional names, and the image size by the names that
 * MATLAB files of image sets use. */
static huddle_status write_data(hid_t file, const huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    hd_io_block block = {0};
    int64_t *numbers = NULL;
    int32_t order = data->column_major ? 2 : 1;
    hsize_t dims[] = {(hsize_t)x->n, (hsize_t)x->d};
    TRY(hd_io_block_make(x, data->exact, false, &block));
    TRY(write_dataset(file, "X", block.wide ? H5T_IEEE_F64LE : H5T_IEEE_F32LE,
                      block.wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, 2, dims, block.values));
    TRY(hd_io_label_numbers(data, &numbers));
    if (numbers != NULL)
        TRY(write_dataset(file, "y", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, dims, numbers));
    else if (data->labels != NULL)
        TRY(write_texts(file, data));
    if (hd_io_writes_image_size(data)) {
        TRY(write_dataset(file, "im_height", H5T_STD_I32LE, H5T_NATIVE_INT32, 0, NULL,
                          &data->height));
        TRY(write_dataset(file, "im_width", H5T_STD_I32LE, H5T_NATIVE_INT32, 0, NULL,
                          &data->width));
        TRY(write_dataset(file, "im_order", H5T_STD_I32LE, H5T_NATIVE_INT32, 0, NULL, &order));
    }
done:
    FREE(block.owned, numbers);
    return status;
}

/* HDF5 writes through the driver of hdf5_driver.c, which keeps failures until the file is
 * closed. Data sets are contiguous and written in one call, so cancelling takes effect only
 * before it. */
huddle_status hd_io_hdf5_write(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = HUDDLE_OK;
    hd_output output;
    TRY(hd_output_begin(path, true, &output));
    /* The last moment at which nothing has been written. */
    TRY(hd_check_cancel(context));
    hd_io_hdf5_lock();
    int error = 0;
    hid_t file = hd_io_hdf5_create(&output, &error);
    if (file >= 0)
        status = write_data(file, data);
    status = hd_io_hdf5_close(file, &error, status);
    if (status != HUDDLE_OK)
        status = hd_fail_at(status, "%s", path);
    hd_io_hdf5_unlock();
done:
    return hd_output_end(&output, status);
}
