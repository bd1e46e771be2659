/* Allocation. Every array of the library is allocated here, aligned to a cache line so that two
 * threads never write to the same line of two arrays, and tests can make any single request fail.
 * Freed by huddle_free(). */
#ifndef HUDDLE_SRC_MEMORY_H
#define HUDDLE_SRC_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array of count elements of the given size, aligned to 64 bytes; NULL if there is no memory,
 * count is negative or the product overflows. A count of 0 gives a pointer that can be freed. */
void *hd_alloc(int64_t count, size_t size);
void *hd_alloc_zero(int64_t count, size_t size);

/* Grows *array, which has room for *capacity elements, to at least `needed`, and at least doubles
 * it if it grows. Returns 0 and changes nothing if there is no memory. *array may be NULL with
 * *capacity 0. */
int hd_grow(void *array, int64_t *capacity, int64_t needed, size_t size);

/* A copy of text, or NULL. */
char *hd_copy_text(const char *text);

/* Bytes of arrays that are in use, and the most since the last call of hd_memory_take_peak().
 * Process-wide, without what other libraries allocate for themselves. */
int64_t hd_memory_live(void);
int64_t hd_memory_take_peak(void);

/* For tests: the k-th request from now on (1, 2, ...) fails, once; 0 switches this off. Returns the
 * number of requests since the last call. Process-wide. */
int64_t hd_memory_fail_at(int64_t k);

#ifdef __cplusplus
}
#endif

#endif
