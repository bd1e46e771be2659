#define _DEFAULT_SOURCE
#include "base/blas.h"

#include "base/check.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Present when the BLAS is OpenBLAS; another BLAS keeps its own setting. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

extern int openblas_get_num_procs(void) __attribute__((weak));

/* The buffers of OpenBLAS's kernels, which it keeps until the process ends. */
extern void *blas_memory_alloc(int unused) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

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

/* OpenBLAS needs a buffer for each thread that is inside of it; 128 MB in its usual builds, of
 * which only what is used becomes memory, but all counts for limits of the address space. */
static const size_t buffer_size = (size_t)129 << 20;

static int32_t n_reserved; /* buffers that are known to exist; guarded by lock */

static bool is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Whether the system would map that much; both kinds of limits, and a system that does not
 * overcommit, would refuse it. */
static bool has_room(size_t size) {
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, size);
    return true;
}

/* Makes OpenBLAS allocate the buffers now, while there is room for them: the arrays of a fit must
 * not take their place. */
static void make_buffers(int32_t count) {
    enum { MOST = 64 };
    void *buffers[MOST];
    int32_t processors = openblas_get_num_procs();
    count = count < processors ? count : processors;
    count = count < MOST ? count : MOST;
    for (int32_t k = 0; k < count; k++)
        buffers[k] = blas_memory_alloc(0);
    for (int32_t k = 0; k < count; k++)
        blas_memory_free(buffers[k]);
}

huddle_status hd_blas_reserve(const huddle_context *context) {
    huddle_status status = HUDDLE_OK;
    int32_t count = huddle_context_threads(context);
    if (blas_memory_alloc == NULL || blas_memory_free == NULL || openblas_get_num_procs == NULL ||
        (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)))
        return HUDDLE_OK;
    pthread_mutex_lock(&lock);
    int32_t missing = count - n_reserved;
    if (missing > 0 && !has_room((size_t)missing * buffer_size)) {
        status = hd_fail(HUDDLE_NO_MEMORY,
                         "BLAS needs 128 MB of address space for %s%d thread%s, which the limit "
                         "of the process (ulimit -v or -d) does not leave; allow more%s",
                         count == 1 ? "" : "each of ", count, count == 1 ? "" : "s",
                         count == 1 ? "" : ", or use fewer threads");
    } else if (missing > 0) {
        make_buffers(count);
        n_reserved = count;
    }
    pthread_mutex_unlock(&lock);
    return status;
}
