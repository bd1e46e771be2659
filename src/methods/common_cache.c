#include "methods/cache.h"

#include "base/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct entry {
    char *key;
    bool ready; /* else being computed */
    hd_fit fit; /* only what the stage leaves */
} entry;

struct huddle_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry **entries;
    int64_t count, capacity;
    int64_t hits, misses;
};

void hd_key_add_text(hd_key *key, const char *text) {
    size_t length = strlen(key->text), more = strlen(text) + 1;
    if (key->too_long || length + more >= sizeof key->text)
        key->too_long = true;
    else
        snprintf(key->text + length, sizeof key->text - length, "%s;", text);
}

void hd_key_add_options(hd_key *key, const huddle_option *table, const void *options) {
    for (; table->type != HUDDLE_OPTION_END; table++) {
        char text[128];
        if (huddle_options_get(table, options, table->name, text, sizeof text) == HUDDLE_OK)
            hd_key_add_text(key, text);
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
    hd_fit_free(&e->fit);
    huddle_free(e->key);
    huddle_free(e);
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

static entry *find(const huddle_cache *cache, const char *key) {
    for (int64_t i = 0; i < cache->count; i++)
        if (strcmp(cache->entries[i]->key, key) == 0)
            return cache->entries[i];
    return NULL;
}

static huddle_status claim(huddle_cache *cache, const char *key, entry **made) {
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

static void withdraw(huddle_cache *cache, entry *e) {
    for (int64_t i = 0; i < cache->count; i++)
        if (cache->entries[i] == e)
            cache->entries[i] = cache->entries[--cache->count];
    free_entry(e);
}

/* ---- running ------------------------------------------------------------------------------- */

static huddle_status compute(huddle_context *context, huddle_cache *cache, entry *e,
                             const hd_shared_stage *stage, void *argument, hd_fit *fit) {
    huddle_status status = stage->compute(context, argument, fit);
    if (status == HUDDLE_OK)
        status = stage->copy(fit, &e->fit);
    pthread_mutex_lock(&cache->lock);
    if (status == HUDDLE_OK)
        e->ready = true;
    else
        withdraw(cache, e); /* whoever waits tries for itself */
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    return status;
}

huddle_status hd_cache_run(huddle_context *context, huddle_cache *cache, const hd_key *key,
                           const hd_shared_stage *stage, void *argument, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    if (cache == NULL || key->too_long)
        return stage->compute(context, argument, fit);
    pthread_mutex_lock(&cache->lock);
    entry *e = find(cache, key->text);
    while (e != NULL && !e->ready) {
        pthread_cond_wait(&cache->changed, &cache->lock);
        e = find(cache, key->text);
    }
    bool hit = e != NULL;
    if (hit)
        cache->hits++;
    else
        status = claim(cache, key->text, &e);
    cache->misses += !hit;
    pthread_mutex_unlock(&cache->lock);
    if (status != HUDDLE_OK)
        return status;
    return hit ? stage->copy(&e->fit, fit) : compute(context, cache, e, stage, argument, fit);
}
