/* BLAS on one thread. Huddle runs its own threads on chunks of fixed size; threads of the BLAS
 * inside them would compete for the same CPUs, and the order of summation, and with it the last
 * bits of a product, would depend on their number. */
#include "base/blas.h"

#include <pthread.h>
#include <stddef.h>

/* Present when the BLAS is OpenBLAS; another BLAS keeps its own setting. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* The setting belongs to the process, so the counter of its users does as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;
static int callers_threads;

/* Calls nest, and fits run concurrently: only the first one saves the caller's setting, and only
 * the last one restores it. */
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
