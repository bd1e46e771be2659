/* Huddle, methods: what there is to choose from, and what fits can share. */
#ifndef HUDDLE_METHODS_H
#define HUDDLE_METHODS_H

#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A method, for whoever lists them. */
typedef struct huddle_method_text {
    const char *name;    /* "ssc" */
    const char *title;   /* "spectral shrunk clustering" */
    const char *summary; /* a sentence or two */
} huddle_method_text;

/* All methods, and the one used when none is named; the array ends with NULL. */
HUDDLE_API const huddle_method_text *const *huddle_methods(void);
HUDDLE_API const char *huddle_default_method(void);

/* Several models fitted to the same points under other options do much of the same work. With a
 * cache in common, graphs and embeddings are made once and copied. One cache is for one x; it may
 * serve models in several threads, and must outlive their fits. counts tells how often a result
 * was found there, and how often it had to be made. */
typedef struct huddle_cache huddle_cache;
HUDDLE_API huddle_status huddle_cache_new(huddle_cache **cache);
HUDDLE_API void huddle_cache_free(huddle_cache *cache);
HUDDLE_API void huddle_cache_counts(huddle_cache *cache, int64_t *hits, int64_t *misses);

#ifdef __cplusplus
}
#endif

#endif
