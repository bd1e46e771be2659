/* Shared results. A mutex protects the list of entries; the results themselves are computed and
 * copied outside of it, because they take much longer than a search in the list. Deadlock is not
 * possible as long as a fit computes only one result at a time between hd_cache_find() and
 * hd_cache_store(): nobody waits for a result while owning another one. */
#include "methods/cache.h"

#include "base/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A shared result: copies of the parts it consists of. */
typedef struct entry {
    char *key;
    bool ready; /* else being computed */
    hd_cache_part parts[HD_CACHE_MAX_PARTS];
    int count;
} entry;

/* One condition variable for all entries: whoever waits checks its own entry after each wake-up. */
struct huddle_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry **entries;
    int64_t count, capacity;
    int64_t hits, misses;
};

/* A key that does not fit is marked instead of truncated: two different results could have the same
 * truncated key, and one fit would silently receive the other's result. */
void hd_cache_key_add(hd_cache_key *key, const char *format, ...) {
    size_t length = strlen(key->text), room = sizeof key->text - length;
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(key->text + length, room, format, arguments);
    va_end(arguments);
    key->too_long = key->too_long || more < 0 || (size_t)more + 1 >= room;
    if (!key->too_long)
        memcpy(key->text + length + more, ";", 2);
}

/* Options are added as text, defaults included, so that every option of a stage is part of the key
 * without being named here. A text that fills the buffer may be truncated, and makes the key too
 * long: fits that differ only in the rest would share a result. */
void hd_cache_key_add_options(hd_cache_key *key, const huddle_option *table, const void *options) {
    for (; table->type != HUDDLE_OPTION_END; table++) {
        char text[HUDDLE_OPTION_TEXT];
        huddle_status status = huddle_options_get(table, options, table->name, text, sizeof text);
        if (status == HUDDLE_OK && strlen(text) + 1 < sizeof text)
            hd_cache_key_add(key, "%s", text);
        else
            key->too_long = true;
    }
}

huddle_status huddle_cache_new(huddle_cache **cache) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(*cache, 1);
    pthread_mutex_init(&(*cache)->lock, NULL);
    pthread_cond_init(&(*cache)->changed, NULL);
done:
    return status;
}

static void free_entry(entry *e) {
    if (e == NULL)
        return;
    for (int k = 0; k < e->count; k++) {
        e->parts[k].copier->free(e->parts[k].part);
        huddle_free(e->parts[k].part);
    }
    FREE(e->key, e);
}

void huddle_cache_free(huddle_cache *cache) {
    if (cache == NULL)
        return;
    for (int64_t i = 0; i < cache->count; i++)
        free_entry(cache->entries[i]);
    huddle_free(cache->entries);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
    huddle_free(cache);
}

void huddle_cache_counts(huddle_cache *cache, int64_t *hits, int64_t *misses) {
    pthread_mutex_lock(&cache->lock);
    *hits = cache->hits;
    *misses = cache->misses;
    pthread_mutex_unlock(&cache->lock);
}

/* ---- with the lock held -------------------------------------------------------------------- */

/* A linear search: there are few results, and each takes much longer to compute than to find. */
static entry *find_entry(const huddle_cache *cache, const char *key) {
    for (int64_t i = 0; i < cache->count; i++)
        if (strcmp(cache->entries[i]->key, key) == 0)
            return cache->entries[i];
    return NULL;
}

/* Adds an entry that is not ready. Its presence makes other fits wait instead of computing the same
 * result; the caller computes it. */
static huddle_status claim_entry(huddle_cache *cache, const char *key, entry **made) {
    huddle_status status = HUDDLE_OK;
    entry *e = NULL;
    ALLOC_ZERO(e, 1);
    e->key = hd_copy_text(key);
    if (e->key == NULL ||
        !hd_grow(&cache->entries, &cache->capacity, cache->count + 1, sizeof(entry *)))
        FAIL(HUDDLE_NO_MEMORY, "no memory for a shared result");
    cache->entries[cache->count++] = e;
    *made = e;
    e = NULL;
done:
    free_entry(e);
    return status;
}

/* Only entries that are not ready are removed, so that nobody can be copying from one. */
static void remove_entry(huddle_cache *cache, entry *e) {
    for (int64_t i = 0; i < cache->count; i++)
        if (cache->entries[i] == e)
            cache->entries[i] = cache->entries[--cache->count];
    free_entry(e);
}

/* ---- finding and storing ------------------------------------------------------------------- */

static bool is_shared(const hd_cache_key *key) {
    return key->cache != NULL && !key->too_long;
}

/* Entries that are ready are never changed or removed, so that they can be copied without the lock.
 * The array of pointers may be reallocated meanwhile, but not the entries. */
huddle_status hd_cache_find(const hd_cache_key *key, const hd_cache_part *parts, int count,
                            bool *found) {
    huddle_status status = HUDDLE_OK;
    huddle_cache *cache = key->cache;
    *found = false;
    if (!is_shared(key))
        return status;
    pthread_mutex_lock(&cache->lock);
    entry *e = find_entry(cache, key->text);
    /* The entry is looked up again after each wake-up: if its computation failed it was removed,
     * and the first fit to notice claims it anew. */
    while (e != NULL && !e->ready) {
        pthread_cond_wait(&cache->changed, &cache->lock);
        e = find_entry(cache, key->text);
    }
    *found = e != NULL;
    if (*found)
        cache->hits++;
    else
        status = claim_entry(cache, key->text, &e);
    cache->misses += !*found;
    pthread_mutex_unlock(&cache->lock);
    for (int k = 0; *found && k < count && status == HUDDLE_OK; k++)
        status = parts[k].copier->copy(e->parts[k].part, parts[k].part);
    return status;
}

/* Stores copies of the parts in the entry, which owns them. Parts copied before a failure are freed
 * with the entry. */
static huddle_status copy_parts(const hd_cache_part *parts, int count, entry *e) {
    huddle_status status = HUDDLE_OK;
    for (int k = 0; k < count; k++) {
        const hd_fit_copier *copier = parts[k].copier;
        void *copy = hd_alloc_zero(1, copier->size);
        if (copy == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a shared result");
        status = copier->copy(parts[k].part, copy);
        if (status != HUDDLE_OK) {
            huddle_free(copy);
            goto done;
        }
        e->parts[e->count++] = (hd_cache_part){copy, copier};
    }
done:
    return status;
}

/* Also called after a failed computation: the entry must be removed, or all who wait for it would
 * wait forever. */
huddle_status hd_cache_store(const hd_cache_key *key, const hd_cache_part *parts, int count,
                             huddle_status computed) {
    huddle_status status = computed;
    huddle_cache *cache = key->cache;
    if (!is_shared(key))
        return status;
    pthread_mutex_lock(&cache->lock);
    entry *e = find_entry(cache, key->text); /* the caller's own: nobody else touches it yet */
    pthread_mutex_unlock(&cache->lock);
    if (status == HUDDLE_OK)
        status = copy_parts(parts, count, e);
    pthread_mutex_lock(&cache->lock);
    if (status == HUDDLE_OK)
        e->ready = true;
    else
        remove_entry(cache, e); /* whoever waits computes it */
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    return status;
}
