/* Huddle, methods: the methods of this build, and results that fits can share. */
#ifndef HUDDLE_METHODS_H
#define HUDDLE_METHODS_H

#include "huddle/matrix.h"

/* A method, for lists and help texts. */
typedef struct huddle_method_text {
    const char *name;    /* "ssc" */
    const char *title;   /* "spectral shrunk clustering" */
    const char *summary; /* a sentence or two */
    bool reconstruction; /* an interpretation of an incomplete publication */
} huddle_method_text;

/* Options that belong together, under one name. Setting the option `preset` to that name sets them;
 * an option that is set as well, before or after, keeps its own value. */
typedef struct huddle_setting {
    const char *option, *value; /* option == NULL ends a list */
} huddle_setting;

typedef struct huddle_preset {
    const char *name;    /* NULL ends a list */
    const char *summary; /* a phrase, no full stop */
    const huddle_setting *settings;
} huddle_preset;

/* The presets of a method; NULL if it has none, or if there is no such method. */
HUDDLE_API const huddle_preset *huddle_method_presets(const char *method);

/* All methods, and the default one; the array ends with NULL. */
HUDDLE_API const huddle_method_text *const *huddle_methods(void);
HUDDLE_API const char *huddle_default_method(void);

/* Models that are fitted to the same points with different options do much of the same work. With a
 * common cache, graphs and embeddings are computed once and copied. One cache is for one x; it may
 * serve models in several threads, and must outlive their fits. huddle_cache_counts() reports how
 * often a result was found there, and how often it had to be computed. */
typedef struct huddle_cache huddle_cache;
HUDDLE_API huddle_status huddle_cache_new(huddle_cache **cache);
HUDDLE_API void huddle_cache_free(huddle_cache *cache);
HUDDLE_API void huddle_cache_counts(huddle_cache *cache, int64_t *hits, int64_t *misses);

#endif
