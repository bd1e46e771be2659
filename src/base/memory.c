#include "base/memory.h"
#include "huddle/base.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,   /* a cache line, and the widest vector register */
    MIN_CAPACITY = 16 /* of an array that grows */
};

/* Counters: of the test hook, and of the bytes in use. Together with the BLAS guard and the list of
 * outputs in progress they are the library's only mutable globals. */
static atomic_llong requests;
static atomic_llong failing_request;
static atomic_llong live, peak;

/* The size is asked from the allocator, which knows it, instead of being stored a second time. The
 * counters change a few thousand times in a fit of a million points; relaxed order is enough for a
 * statistic. */
static void *count_array(void *array) {
    if (array == NULL)
        return NULL;
    long long size = (long long)malloc_usable_size(array);
    long long now = atomic_fetch_add_explicit(&live, size, memory_order_relaxed) + size;
    long long most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak_explicit(
                             &peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {
    }
    return array;
}

int64_t hd_memory_live(void) {
    return atomic_load_explicit(&live, memory_order_relaxed);
}

int64_t hd_memory_take_peak(void) {
    return atomic_exchange_explicit(&peak, hd_memory_live(), memory_order_relaxed);
}

/* Requests are counted from 1, so that failing_request = 0 means that none fails. */
static int must_fail(void) {
    long long request = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
    return request == atomic_load_explicit(&failing_request, memory_order_relaxed);
}

int64_t hd_memory_fail_at(int64_t k) {
    int64_t seen = atomic_exchange(&requests, 0);
    atomic_store(&failing_request, k);
    return seen;
}

/* Half of PTRDIFF_MAX: count times size cannot overflow, and neither can rounding up to the
 * alignment nor pointer differences. Counts may come from files, so they are checked here as well.
 * aligned_alloc() requires a multiple of the alignment, and 0 bytes get a unique pointer: NULL
 * would mean failure. */
void *hd_alloc(int64_t count, size_t size) {
    if (must_fail() || count < 0 || size == 0 ||
        (uint64_t)count > (uint64_t)(PTRDIFF_MAX / 2) / size)
        return NULL;
    size_t bytes = (size_t)count * size;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return count_array(aligned_alloc(ALIGNMENT, bytes > 0 ? bytes : ALIGNMENT));
}

void *hd_alloc_zero(int64_t count, size_t size) {
    void *array = hd_alloc(count, size);
    if (array != NULL)
        memset(array, 0, (size_t)count * size);
    return array;
}

/* The array is a pointer to a pointer of any type; copying the bytes of the pointer keeps to the
 * rules of aliasing. Doubling makes a sequence of appends linear in total. On failure array and
 * capacity are unchanged, so that the caller can free it as usual. */
int hd_grow(void *array, int64_t *capacity, int64_t needed, size_t size) {
    void *old, *larger;
    memcpy(&old, array, sizeof old);
    if (needed <= *capacity)
        return 1;
    /* hd_alloc() refuses what is too large. */
    int64_t new_capacity = *capacity < INT64_MAX / 2 ? 2 * *capacity : INT64_MAX;
    if (new_capacity < needed)
        new_capacity = needed;
    if (new_capacity < MIN_CAPACITY)
        new_capacity = MIN_CAPACITY;
    larger = hd_alloc(new_capacity, size);
    if (larger == NULL)
        return 0;
    if (old != NULL)
        memcpy(larger, old, (size_t)*capacity * size);
    huddle_free(old);
    memcpy(array, &larger, sizeof larger);
    *capacity = new_capacity;
    return 1;
}

void huddle_free(void *pointer) {
    if (pointer != NULL)
        atomic_fetch_sub_explicit(&live, (long long)malloc_usable_size(pointer),
                                  memory_order_relaxed);
    free(pointer);
}
