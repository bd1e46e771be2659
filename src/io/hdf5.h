/* Debian's HDF5 is not safe to call from two threads. Everything that may reach it happens between
 * hd_hdf5_lock() and hd_hdf5_unlock(), and it keeps quiet meanwhile. HDF5's hid_t is an int64_t
 * here. */
#ifndef HUDDLE_SRC_IO_HDF5_H
#define HUDDLE_SRC_IO_HDF5_H

#include "io/container.h"
#include "archive/output.h"

void hd_hdf5_lock(void);
void hd_hdf5_unlock(void);

/* True if another process could open and list this file, with `open_it` as here, and came to no
 * harm. */
bool hd_hdf5_trial(const hd_file *file,
                   huddle_status (*open_it)(const hd_file *file, hd_container *container));

/* For the readers of HDF5 and of MAT v7.3, which is HDF5. Opens a file: `list`, called with the
 * lock held, adds its variables, and returns false if it could not. Sets container->state and
 * close. */
huddle_status hd_hdf5_open_file(const hd_file *file, bool (*list)(hd_container *container),
                                hd_container *container);
int64_t hd_hdf5_file(const hd_container *container);

/* What a data set holds, and its shape as HDF5 has it, with the last index fastest; then loads a
 * variable that was described so. Call them with the lock held. */
void hd_hdf5_describe(int64_t set, int64_t file_size, hd_variable *variable);
huddle_status hd_hdf5_load(int64_t set, hd_variable *variable);

/* For container->read_floats. */
huddle_status hd_hdf5_read_floats(hd_request *request, hd_container *container,
                                  const hd_variable *variable, float *values, bool *placed,
                                  bool *checked);

/* Creates an HDF5 file (a hid_t) that is written to the output's temporary file. Failures to write
 * do not show until it is closed; *error, which must live so long, remembers the first. */
int64_t hd_hdf5_create(const hd_output *output, int *error);

/* Closes the file. Returns status, or why the file is not what it should be; the sentence is
 * without the file's name. */
huddle_status hd_hdf5_close(int64_t file, const int *error, huddle_status status);

#endif
