/* A driver through which HDF5 writes a file. After a failed write HDF5 can neither complete
 * nor abandon a file, and may crash when the process ends. So this driver never reports one:
 * it records the failure, discards what follows, and the caller checks when the file is
 * closed. */
#define _XOPEN_SOURCE 700
#include "io/hdf5.h"

#include "base/check.h"

#include <errno.h>
#include <hdf5.h>
#include <string.h>
#include <unistd.h>

/* What hd_io_hdf5_create() was given; HDF5 copies it into the access property list. */
typedef struct target {
    int descriptor;
    int *error;
} target;

/* eoa is the end of the space that HDF5 has allocated, eof the end of what it has written. */
typedef struct driver_file {
    H5FD_t common; /* HDF5's part comes first */
    target target;
    haddr_t eoa, eof;
} driver_file;

/* The output's temporary file is already open; its name is not used. */
static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t max_address) {
    (void)name, (void)flags, (void)max_address;
    const target *given = H5Pget_driver_info(access);
    driver_file *file = NULL;
    if (given == NULL)
        return NULL;
    /* HDF5 frees nothing of this; close_file() does. */
    file = hd_alloc_zero(1, sizeof *file);
    if (file == NULL) {
        *given->error = ENOMEM;
        return NULL;
    }
    file->target = *given;
    return &file->common;
}

static herr_t close_file(H5FD_t *common) {
    huddle_free(common);
    return 0;
}

/* The same features as HDF5's own POSIX driver: small writes are collected into larger ones. */
static herr_t query_features(const H5FD_t *common, unsigned long *flags) {
    (void)common;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_eoa(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)common)->eoa;
}

static herr_t set_eoa(H5FD_t *common, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((driver_file *)common)->eoa = address;
    return 0;
}

static haddr_t get_eof(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)common)->eof;
}

/* Bytes never written, or lost to a failure, read as zero. */
static herr_t read_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *bytes) {
    (void)type, (void)transfer;
    memset(bytes, 0, size);
    (void)hd_file_read_at(((driver_file *)common)->target.descriptor, bytes, (int64_t)size,
                          (int64_t)address);
    return 0;
}

/* eof advances even if nothing is written any more: HDF5 must find its picture of the file
 * consistent until it closes it. */
static herr_t write_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void *bytes) {
    driver_file *file = (driver_file *)common;
    (void)type, (void)transfer;
    if (address + size > file->eof)
        file->eof = address + size;
    if (*file->target.error == 0 &&
        !hd_output_write_all(file->target.descriptor, bytes, (int64_t)size, (int64_t)address))
        *file->target.error = errno;
    return 0;
}

/* HDF5 may have allocated space that it never wrote; the file is given its final size here. */
static herr_t truncate_file(H5FD_t *common, hid_t transfer, hbool_t closing) {
    driver_file *file = (driver_file *)common;
    (void)transfer, (void)closing;
    /* A failure is recorded only if it is the first. */
    if (file->eoa != file->eof && ftruncate(file->target.descriptor, (off_t)file->eoa) != 0 &&
        *file->target.error == 0)
        *file->target.error = errno;
    file->eof = file->eoa;
    return 0;
}

static const H5FD_class_t driver = {.name = "huddle",
                                    .maxaddr = INT64_MAX,
                                    .fc_degree = H5F_CLOSE_WEAK,
                                    .fapl_size = sizeof(target),
                                    .open = open_file,
                                    .close = close_file,
                                    .query = query_features,
                                    .get_eoa = get_eoa,
                                    .set_eoa = set_eoa,
                                    .get_eof = get_eof,
                                    .read = read_bytes,
                                    .write = write_bytes,
                                    .truncate = truncate_file,
                                    .fl_map = H5FD_FLMAP_DICHOTOMY};

/* Unregistering is safe at once: the open file holds its own reference to the driver. */
int64_t hd_io_hdf5_create(const hd_output *output, int *error) {
    target given = {output->descriptor, error};
    hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS), id = H5FDregister(&driver);
    *error = 0;
    /* The driver is registered for this file only. */
    if (access >= 0 && id >= 0 && H5Pset_driver(access, id, &given) >= 0)
        file = H5Fcreate(output->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hd_io_hdf5_release(access);
    if (id >= 0)
        H5FDunregister(id);
    return file;
}

/* The driver's error is the cause of whatever HDF5 reports, so it is examined first. */
huddle_status hd_io_hdf5_close(int64_t file, const int *error, huddle_status status) {
    bool closed = file >= 0 && H5Fclose(file) >= 0;
    if (*error == ENOMEM)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for an HDF5 file");
    if (*error != 0)
        return hd_fail(HUDDLE_IO, "cannot be written: %s", strerror(*error));
    if (!closed && status == HUDDLE_OK)
        return hd_fail(HUDDLE_IO, "cannot be written: HDF5 failed");
    return status;
}
