/* Threads of the library. */
#ifndef HUDDLE_SRC_THREAD_H
#define HUDDLE_SRC_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread; false if the system refuses. Its stack has the usual 8 MB: the default is the
 * limit of the process (ulimit -s), which may be too little for BLAS and LAPACK. */
bool hd_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
