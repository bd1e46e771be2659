/* Debian's HDF5 is not safe to call from two threads. Everything that may reach it happens between
 * hd_io_hdf5_lock() and hd_io_hdf5_unlock(), and it keeps quiet meanwhile. HDF5's hid_t is an
 * int64_t here. */
#ifndef HUDDLE_SRC_IO_HDF5_H
#define HUDDLE_SRC_IO_HDF5_H

#include "archive/output.h"
#include "io/container.h"

void hd_io_hdf5_lock(void);
void hd_io_hdf5_unlock(void);

/* Closes an object of HDF5, of any sort; a negative identifier is none. */
void hd_io_hdf5_release(int64_t id);

/* HUDDLE_FORMAT, with the name of the variable. */
huddle_status hd_io_hdf5_damaged(const hd_io_variable *variable);

typedef huddle_status (*hd_io_hdf5_opener)(const hd_file *file, hd_io_container *container);

/* True if another process could open and list this file, with `open_it` as here, and came to no
 * harm. */
bool hd_io_hdf5_try(const hd_file *file, hd_io_hdf5_opener open_it);

/* Opens a plain file with `open_it` after such a trial; the format is for messages. */
huddle_status hd_io_hdf5_open_tried(const hd_io_request *request, const hd_file *file,
                                    const char *format, hd_io_hdf5_opener open_it,
                                    hd_io_container *container);

/* For the readers of HDF5 and of MAT v7.3, which is HDF5. Opens a file: `list`, called with the
 * lock held, adds its variables, and returns false if it could not. Sets container->state and
 * close. */
huddle_status hd_io_hdf5_open_file(const hd_file *file, bool (*list)(hd_io_container *container),
                                   hd_io_container *container);
int64_t hd_io_hdf5_file(const hd_io_container *container);

/* What a data set holds, and its shape as HDF5 has it, with the last index fastest; then loads a
 * variable that was described so. Call them with the lock held. */
void hd_io_hdf5_describe(int64_t set, int64_t file_size, hd_io_variable *variable);
huddle_status hd_io_hdf5_load(int64_t set, hd_io_variable *variable);

/* For container->read_floats. */
huddle_status hd_io_hdf5_read_floats(hd_io_request *request, hd_io_container *container,
                                     const hd_io_variable *variable, float *values, bool *placed,
                                     bool *checked);

/* Creates an HDF5 file (a hid_t) that is written to the output's temporary file. Failures to write
 * do not show until it is closed; *error, which must live so long, remembers the first. */
int64_t hd_io_hdf5_create(const hd_output *output, int *error);

/* Closes the file. Returns status, or why the file is not as it should be; the message is
 * without the file's name. */
huddle_status hd_io_hdf5_close(int64_t file, const int *error, huddle_status status);

#endif
