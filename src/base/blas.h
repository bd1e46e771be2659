/* One BLAS thread while the library computes. Its own loops use the cores; threads of BLAS would
 * compete with them, small calls would wait at spinning barriers, and the order of summation, hence
 * the last bits of a product, would depend on their number. The setting is the whole process's
 * (NumPy shares it), so the last computation to end restores the caller's. */
#ifndef HUDDLE_SRC_BLAS_H
#define HUDDLE_SRC_BLAS_H

#include "huddle/base.h"

/* Before BLAS is used: OpenBLAS tries forever to allocate the buffer that each thread inside of it
 * needs. Where the memory of the process is limited, makes those of all threads of the context, or
 * fails with HUDDLE_NO_MEMORY if there is no room for them. Cheap when they exist. */
huddle_status hd_blas_reserve(const huddle_context *context);

/* Every enter needs one leave. Calls nest, also across threads. */
void hd_blas_enter(void);
void hd_blas_leave(void);

#endif
