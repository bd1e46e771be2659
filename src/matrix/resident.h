/* Copies of containers in the memory of an engine.
 *
 * `resident` of a container (huddle/matrix.h) is a place for one copy. The place belongs to the
 * library and is counted: structs that are copied share it, and each of those that will be freed
 * holds it. A container is in one of four states:
 *
 *   resident NULL                 on the host only; an engine that needs it copies it for the call
 *   a place without a copy        on the host; an engine may leave a copy there (adopt)
 *   a place with a copy, arrays   on both sides, equal
 *   a place with a copy, no arrays    in the engine's memory only, until it is fetched
 *
 * Rules for engines. The copy of the context's own engine is hd_resident_own(); it is used where it
 * is. Anything else is fetched (a copy may be another engine's, or that of another context's engine
 * of the same name) and copied to the device; hd_resident_adopt() then leaves the copy in the
 * place, if there is one, so that the next stage finds it. Results get a place by
 * hd_resident_new(). A copy begins with an hd_engine_copy; its functions may be called by any
 * thread, also after the context was freed: the copy keeps its engine open (hd_open_engine).
 *
 * Rules for the library. Containers of users are const and never freed by the library, so they have
 * no place: a fit works on views of its own. Places are offered (hd_resident_offer) to containers
 * that several stages read, by code that frees these containers and that alone may change them; who
 * changes host arrays invalidates the copy. A struct whose arrays are not on the host is not copied
 * and then fetched: two structs would get arrays of their own. */
#ifndef HUDDLE_SRC_RESIDENT_H
#define HUDDLE_SRC_RESIDENT_H

#include "base/engine.h"
#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an engine keeps of a container: the beginning of a struct of its own. */
typedef struct hd_engine_copy {
    /* Allocates (hd_alloc) and fills in the host arrays of the container, whose type the engine
     * knows. */
    huddle_status (*fetch)(struct hd_engine_copy *copy, void *container);
    void (*free)(struct hd_engine_copy *copy);
    hd_open_engine *owner; /* set and held by the functions below */
} hd_engine_copy;

/* ---- for engines ----------------------------------------------------------------------------- */

/* A place with this copy, for a container without host arrays. The copy then belongs to the place;
 * on failure (HUDDLE_NO_MEMORY) it is still the caller's. */
huddle_status hd_resident_new(const huddle_context *context, hd_engine_copy *copy,
                              huddle_resident **resident);

/* The copy of the context's own open engine, or NULL. */
hd_engine_copy *hd_resident_own(const huddle_context *context, const huddle_resident *resident);

/* Leaves a copy beside the host arrays. False, and the copy is still the caller's, if there is no
 * place or its copy may be in use: it is of an engine that a context computes with. */
bool hd_resident_adopt(const huddle_context *context, huddle_resident *resident,
                       hd_engine_copy *copy);

/* ---- for the library ------------------------------------------------------------------------- */

/* Gives a container with host arrays a place, if it has none and the context has an engine that
 * may use it; without memory for it there is none. */
void hd_resident_offer(const huddle_context *context, huddle_resident **resident);

/* Another user of the place, returned (NULL of NULL). */
huddle_resident *hd_resident_hold(huddle_resident *resident);

/* One user less, and NULL. The last one frees the copy. */
void hd_resident_release(huddle_resident **resident);

/* Frees the copy, because the host arrays have changed or will not be needed by the engine again.
 * They must be there. */
void hd_resident_invalidate(huddle_resident *resident);

/* Whether a container has values, on the host or with an engine. Nobody fetches the arrays of one
 * without a place. */
static inline bool hd_points_present(const huddle_points *points) {
    return points->resident != NULL || points->values != NULL;
}

static inline bool hd_dense_present(const huddle_dense *matrix) {
    return matrix->resident != NULL || matrix->values != NULL;
}

static inline bool hd_csr_present(const huddle_csr *matrix) {
    return matrix->resident != NULL || matrix->offsets != NULL;
}

/* Whether an engine alone has the values, so that the arrays must not be read. Another thread may
 * be fetching them: who has not fetched them asks here instead of comparing pointers. */
bool hd_points_away(const huddle_points *points);
bool hd_dense_away(const huddle_dense *matrix);
bool hd_csr_away(const huddle_csr *matrix);

/* Calls fetch() of the copy unless one of the container's arrays is there already: the pointer to
 * it is `offset` bytes from the beginning of the container. */
huddle_status hd_resident_fetch(huddle_resident *resident, const void *container, size_t offset);

#ifdef __cplusplus
}
#endif

#endif
