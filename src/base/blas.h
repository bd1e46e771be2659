/* One BLAS thread while the library computes. Its own loops use the cores; threads of BLAS would
 * compete with them, and small calls would wait at spinning barriers. The setting is the whole
 * process's (NumPy shares it), so the last computation to end restores the caller's. */
#ifndef HUDDLE_SRC_BLAS_H
#define HUDDLE_SRC_BLAS_H

/* Every enter needs one leave. Calls nest, also across threads. */
void hd_blas_enter(void);
void hd_blas_leave(void);

#endif
