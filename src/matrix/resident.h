/* What an engine keeps of a container. The engine makes one of these as the beginning of a struct
 * of its own and sets the container's sizes and `resident`; the host arrays stay NULL until
 * somebody asks for them. A program that changes the host arrays first drops the engine's copy. */
#ifndef HUDDLE_SRC_RESIDENT_H
#define HUDDLE_SRC_RESIDENT_H

#include "huddle/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct huddle_resident {
    /* Allocates (hd_alloc) and fills in the host arrays of the container, whose type the engine
     * knows. */
    huddle_status (*fetch)(huddle_resident *resident, void *container);
    void (*free)(huddle_resident *resident);
};

/* Calls fetch() if there is an engine's copy and `on_host` is false. */
huddle_status hd_resident_fetch(huddle_resident *resident, bool on_host, const void *container);

/* Frees the engine's copy, if there is one, and sets the pointer to NULL. */
void hd_resident_drop(huddle_resident **resident);

#ifdef __cplusplus
}
#endif

#endif
