/* Debian's HDF5 is not safe to call from two threads, and matio calls it for MAT v7.3. Everything
 * that may reach it happens between these two, and it keeps quiet meanwhile. */
#ifndef HUDDLE_SRC_IO_HDF5_H
#define HUDDLE_SRC_IO_HDF5_H

#include "io/container.h"
#include "io/output.h"

void hd_hdf5_lock(void);
void hd_hdf5_unlock(void);

/* True if another process could open and list this file, with `open_it` as here, and came to no
 * harm. */
bool hd_hdf5_trial(const hd_file *file,
                   huddle_status (*open_it)(const hd_file *file, hd_container *container));

/* Creates an HDF5 file (a hid_t) that is written to the output's temporary file. Failures to write
 * do not show until it is closed; *error, which must live so long, remembers the first. */
int64_t hd_hdf5_create(const hd_output *output, int *error);

/* Closes the file. Returns status, or why the file is not what it should be; the sentence is
 * without the file's name. */
huddle_status hd_hdf5_close(int64_t file, const int *error, huddle_status status);

#endif
