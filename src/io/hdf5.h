/* Debian's HDF5 is not safe to call from two threads, and matio calls it for MAT v7.3. Everything
 * that may reach it happens between these two, and it keeps quiet meanwhile. */
#ifndef HUDDLE_SRC_IO_HDF5_H
#define HUDDLE_SRC_IO_HDF5_H

void hd_hdf5_lock(void);
void hd_hdf5_unlock(void);

#endif
