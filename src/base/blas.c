#include "base/blas.h"

#include <pthread.h>
#include <stddef.h>

/* Present when the BLAS is OpenBLAS; another BLAS keeps its own setting. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* The setting is the process's, so the counter of its users is too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;
static int callers_threads;

void hd_blas_enter(void) {
    if (openblas_set_num_threads == NULL || openblas_get_num_threads == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (inside++ == 0) {
        callers_threads = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void hd_blas_leave(void) {
    if (openblas_set_num_threads == NULL || openblas_get_num_threads == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (--inside == 0)
        openblas_set_num_threads(callers_threads);
    pthread_mutex_unlock(&lock);
}
