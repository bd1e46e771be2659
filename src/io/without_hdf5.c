/* Compiled in place of hdf5*.c and mat73.c when HUDDLE_WITH_HDF5 is off. */
#include "base/check.h"
#include "io/formats.h"
#include "io/writers.h"

huddle_status hd_io_hdf5_open(hd_io_request *request, const hd_file *file,
                              hd_io_container *container) {
    (void)request, (void)file, (void)container;
    return hd_io_missing_library("HDF5 files", "HDF5");
}

huddle_status hd_io_mat73_open(hd_io_request *request, const hd_file *file,
                               hd_io_container *container) {
    (void)request, (void)file, (void)container;
    return hd_io_missing_library("MATLAB v7.3 files", "HDF5");
}

huddle_status hd_io_hdf5_write(huddle_context *context, const huddle_data *data, const char *path) {
    (void)context, (void)data;
    return hd_fail_at(hd_io_missing_library("HDF5 files", "HDF5"), "%s", path);
}
