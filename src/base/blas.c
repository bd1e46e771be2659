/* BLAS on one thread. Huddle runs its own threads on chunks of fixed size; threads of the BLAS
 * inside them would compete for the same CPUs, and the order of summation, and with it the last
 * bits of a product, would depend on their number. */
#include "base/blas.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Present when the BLAS is OpenBLAS; another BLAS keeps its own setting. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* Present when a library is linked that uses OpenMP: CHOLMOD's supernodal factorisation does, with
 * four threads whatever the machine, most of whose time is spent waiting. With no active level its
 * loops run on the calling thread. */
extern void omp_set_max_active_levels(int count) __attribute__((weak));
extern int omp_get_max_active_levels(void) __attribute__((weak));
static int callers_levels;

/* The setting belongs to the process, so the counter of its users does as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;
static int callers_threads;

/* Calls nest, and fits run concurrently: only the first one saves the caller's setting, and only
 * the last one restores it. */
void hd_blas_enter(void) {
    bool has_blas = openblas_set_num_threads != NULL && openblas_get_num_threads != NULL;
    bool has_openmp = omp_set_max_active_levels != NULL && omp_get_max_active_levels != NULL;
    pthread_mutex_lock(&lock);
    if (inside++ == 0) {
        callers_threads = has_blas ? openblas_get_num_threads() : 0;
        callers_levels = has_openmp ? omp_get_max_active_levels() : 0;
        if (has_blas)
            openblas_set_num_threads(1);
    }
    /* OpenMP may keep this setting per thread, so every thread makes it. */
    if (has_openmp)
        omp_set_max_active_levels(0);
    pthread_mutex_unlock(&lock);
}

void hd_blas_leave(void) {
    pthread_mutex_lock(&lock);
    if (omp_set_max_active_levels != NULL && omp_get_max_active_levels != NULL)
        omp_set_max_active_levels(callers_levels);
    if (--inside == 0 && openblas_set_num_threads != NULL && openblas_get_num_threads != NULL)
        openblas_set_num_threads(callers_threads);
    pthread_mutex_unlock(&lock);
}
