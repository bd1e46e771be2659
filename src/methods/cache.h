/* Results that several fits of the same points can share.
 *
 * A result is named by the text of every option it depends on. The first fit that needs it computes
 * it; fits that need it meanwhile wait; later ones copy. A stage that can be shared is called by
 * HD_CACHE_TRY().
 *
 * Without a cache nothing is found and storing does nothing, so that the stage is just called. The
 * cache knows nothing of points: one cache is for one data set. Safe to use from several
 * threads. */
#ifndef HUDDLE_SRC_METHODS_CACHE_H
#define HUDDLE_SRC_METHODS_CACHE_H

#include "fit/fit.h"
#include "huddle/methods.h"

/* The name of a result, built up option by option. */
typedef struct hd_cache_key {
    huddle_cache *cache; /* NULL: share nothing */
    char text[1024];
    bool too_long; /* for the text: such a result is not shared */
} hd_cache_key;

void hd_cache_key_add(hd_cache_key *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds every option of a stage's table, as text. */
void hd_cache_key_add_options(hd_cache_key *key, const huddle_option *table, const void *options);

/* A part of a fit that the result consists of, and how it is copied. */
typedef struct hd_cache_part {
    void *part;
    const hd_fit_copier *copier;
} hd_cache_part;

enum { HD_CACHE_MAX_PARTS = 4 };

/* If the result is known, copies it to the parts, which must be empty, and sets *found. Otherwise
 * the caller computes it and must call hd_cache_store(): others wait for it. */
huddle_status hd_cache_find(const hd_cache_key *key, const hd_cache_part *parts, int count,
                            bool *found);

/* Keeps a copy of the parts if `computed`, the status of their computation, is HUDDLE_OK; else the
 * first who waits computes it. Returns computed, or why there is no copy. */
huddle_status hd_cache_store(const hd_cache_key *key, const hd_cache_part *parts, int count,
                             huddle_status computed);

/* TRY() for a call that computes the parts, unless the result is known. */
#define HD_CACHE_TRY(key, parts, count, call)                                                      \
    do {                                                                                           \
        bool hd_found;                                                                             \
        TRY(hd_cache_find((key), (parts), (count), &hd_found));                                    \
        if (!hd_found)                                                                             \
            TRY(hd_cache_store((key), (parts), (count), (call)));                                  \
    } while (0)

#endif
