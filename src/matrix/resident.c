/* Places for copies of containers in the memory of an engine; see resident.h. The copy is changed
 * under a lock, because a model may be read by several threads, each with an engine of its own. */
#include "matrix/resident.h"

#include "base/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct huddle_resident {
    atomic_int users;
    pthread_mutex_t lock; /* of what follows */
    hd_engine_copy *copy; /* or NULL */
};

/* Without a copy. NULL if there is no memory. */
static huddle_resident *new_place(void) {
    huddle_resident *place = hd_alloc_zero(1, sizeof *place);
    if (place == NULL)
        return NULL;
    atomic_init(&place->users, 1);
    pthread_mutex_init(&place->lock, NULL);
    return place;
}

/* The engine is held before its copy is known to anybody, and let go after the copy is gone. */
static void set_copy(const huddle_context *context, huddle_resident *place, hd_engine_copy *copy) {
    copy->owner = hd_open_engine_hold(hd_context_open_engine(context));
    place->copy = copy;
}

static void free_copy(huddle_resident *place) {
    hd_engine_copy *copy = place->copy;
    place->copy = NULL;
    if (copy == NULL)
        return;
    hd_open_engine *owner = copy->owner;
    copy->free(copy);
    hd_open_engine_release(owner);
}

/* ---- for engines ----------------------------------------------------------------------------- */

huddle_status hd_resident_new(const huddle_context *context, hd_engine_copy *copy,
                              huddle_resident **resident) {
    huddle_resident *place = new_place();
    if (place == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a container of an engine");
    set_copy(context, place, copy);
    *resident = place;
    return HUDDLE_OK;
}

/* Locks through a const pointer: which copy is there is no part of what a container means. */
static huddle_resident *lock(const huddle_resident *resident) {
    huddle_resident *place = (huddle_resident *)(uintptr_t)resident;
    pthread_mutex_lock(&place->lock);
    return place;
}

hd_engine_copy *hd_resident_own(const huddle_context *context, const huddle_resident *resident) {
    hd_engine_copy *own = NULL;
    const hd_open_engine *opened = hd_context_open_engine(context);
    if (resident == NULL || opened == NULL)
        return NULL;
    huddle_resident *place = lock(resident);
    if (place->copy != NULL && place->copy->owner == opened)
        own = place->copy;
    pthread_mutex_unlock(&place->lock);
    return own;
}

/* A copy whose engine no context uses is in nobody's hands: only fetch() could read it, and that
 * takes the lock. */
bool hd_resident_adopt(const huddle_context *context, huddle_resident *resident,
                       hd_engine_copy *copy) {
    if (resident == NULL || hd_context_open_engine(context) == NULL)
        return false;
    huddle_resident *place = lock(resident);
    bool is_free = place->copy == NULL || !hd_open_engine_serves(place->copy->owner);
    if (is_free) {
        free_copy(place);
        set_copy(context, place, copy);
    }
    pthread_mutex_unlock(&place->lock);
    return is_free;
}

/* ---- for the library ------------------------------------------------------------------------- */

/* Engines with several processes keep no copies: their rows are on the host. */
void hd_resident_offer(const huddle_context *context, huddle_resident **resident) {
    if (*resident == NULL && hd_context_open_engine(context) != NULL &&
        hd_context_engine(context)->slabs == NULL)
        *resident = new_place();
}

huddle_resident *hd_resident_hold(huddle_resident *resident) {
    if (resident != NULL)
        atomic_fetch_add(&resident->users, 1);
    return resident;
}

void hd_resident_release(huddle_resident **resident) {
    huddle_resident *place = *resident;
    *resident = NULL;
    if (place == NULL || atomic_fetch_sub(&place->users, 1) > 1)
        return;
    free_copy(place);
    pthread_mutex_destroy(&place->lock);
    huddle_free(place);
}

void hd_resident_invalidate(huddle_resident *resident) {
    if (resident == NULL)
        return;
    huddle_resident *place = lock(resident);
    free_copy(place);
    pthread_mutex_unlock(&place->lock);
}

/* Under the lock. */
static bool is_on_host(const void *container, size_t offset) {
    const void *array = NULL;
    memcpy(&array, (const char *)container + offset, sizeof array);
    return array != NULL;
}

static bool is_away(const huddle_resident *resident, const void *container, size_t offset) {
    if (resident == NULL)
        return false;
    huddle_resident *place = lock(resident);
    bool away = !is_on_host(container, offset);
    pthread_mutex_unlock(&place->lock);
    return away;
}

/* Fetching adds the host arrays but does not change the values that the container represents; the
 * cast allows inputs to be const everywhere. */
huddle_status hd_resident_fetch(huddle_resident *resident, const void *container, size_t offset) {
    huddle_status status = HUDDLE_OK;
    if (resident == NULL)
        return status;
    huddle_resident *place = lock(resident);
    if (!is_on_host(container, offset) && place->copy != NULL)
        status = place->copy->fetch(place->copy, (void *)(uintptr_t)container);
    pthread_mutex_unlock(&place->lock);
    return status;
}

/* ---- the kinds of containers ----------------------------------------------------------------- */

bool hd_points_away(const huddle_points *points) {
    return is_away(points->resident, points, offsetof(huddle_points, values));
}

bool hd_dense_away(const huddle_dense *matrix) {
    return is_away(matrix->resident, matrix, offsetof(huddle_dense, values));
}

bool hd_csr_away(const huddle_csr *matrix) {
    return is_away(matrix->resident, matrix, offsetof(huddle_csr, offsets));
}

huddle_status huddle_points_fetch(const huddle_points *points) {
    return hd_resident_fetch(points->resident, points, offsetof(huddle_points, values));
}

huddle_status huddle_dense_fetch(const huddle_dense *matrix) {
    return hd_resident_fetch(matrix->resident, matrix, offsetof(huddle_dense, values));
}

huddle_status huddle_csr_fetch(const huddle_csr *matrix) {
    return hd_resident_fetch(matrix->resident, matrix, offsetof(huddle_csr, offsets));
}
