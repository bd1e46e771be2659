/* One BLAS thread while we work. Our own loops use the cores; BLAS threads on top would fight
 * them, and small calls would wait at spinning barriers. The setting belongs to the whole
 * process (NumPy shares it), so the caller's is put back by the last to leave. */
#ifndef HUDDLE_SRC_BLAS_H
#define HUDDLE_SRC_BLAS_H

/* Every enter needs one leave; they nest, also across threads. */
void hd_blas_enter(void);
void hd_blas_leave(void);

#endif
