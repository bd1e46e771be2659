/* The engine of a context. An engine is a table of functions for single stages; a stage calls the
 * function of the engine if it has one and its own code otherwise. The CPU engine is no engine: a
 * context that it was chosen for has none, like one that nothing was chosen for. */
#include "base/engine.h"

#include "base/check.h"
#include "base/context.h"
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct hd_open_engine {
    const hd_engine *engine;
    void *state;
    atomic_int users;
    atomic_bool serves; /* a context computes with it */
};

const hd_engine hd_engine_cpu = {.text = {"cpu", "the CPU cores of this machine"}};

/* ---- open engines ---------------------------------------------------------------------------- */

hd_open_engine *hd_open_engine_hold(hd_open_engine *opened) {
    atomic_fetch_add(&opened->users, 1);
    return opened;
}

void hd_open_engine_release(hd_open_engine *opened) {
    if (opened == NULL || atomic_fetch_sub(&opened->users, 1) > 1)
        return;
    if (opened->engine->close != NULL)
        opened->engine->close(opened->state);
    huddle_free(opened);
}

bool hd_open_engine_serves(const hd_open_engine *opened) {
    return atomic_load(&opened->serves);
}

/* The CPU has no object: a context that uses it has none. */
static huddle_status open_engine(huddle_context *context, const hd_engine *engine,
                                 const char *options, hd_open_engine **opened) {
    huddle_status status = HUDDLE_OK;
    hd_open_engine *made = NULL;
    if (engine->open == NULL && options[0] != '\0')
        FAIL(HUDDLE_INVALID, "engine '%s' takes no options, but '%s' was given", engine->text.name,
             options);
    if (engine == &hd_engine_cpu)
        goto done;
    ALLOC_ZERO(made, 1);
    made->engine = engine;
    atomic_init(&made->users, 1);
    atomic_init(&made->serves, true);
    if (engine->open != NULL)
        TRY(engine->open(context, options, &made->state));
    *opened = made;
    made = NULL;
done:
    huddle_free(made);
    return status;
}

/* ---- the engine of a context ------------------------------------------------------------------
 */

/* Copies that containers have of it keep it open. */
void hd_context_close_engine(huddle_context *context) {
    if (context->opened != NULL)
        atomic_store(&context->opened->serves, false);
    hd_open_engine_release(context->opened);
    huddle_free(context->engine_text);
    context->opened = NULL;
    context->engine_state = NULL;
    context->engine_text = NULL;
    context->n_declined = 0;
}

/* "NAME" or "NAME:OPTIONS"; NULL if there is no memory. */
static char *join_text(const char *name, const char *options) {
    size_t size = strlen(name) + strlen(options) + 2;
    char *text = hd_alloc((int64_t)size, 1);
    if (text != NULL)
        snprintf(text, size, "%s%s%s", name, options[0] != '\0' ? ":" : "", options);
    return text;
}

/* The new engine is opened before the old one is closed: if it cannot be opened, nothing
 * changes. */
huddle_status hd_context_use_engine(huddle_context *context, const hd_engine *engine,
                                    const char *options) {
    huddle_status status = HUDDLE_OK;
    hd_open_engine *opened = NULL;
    char *text = join_text(engine->text.name, options);
    if (text == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for the name of an engine");
    TRY(open_engine(context, engine, options, &opened));
    (void)huddle_context_set_alone(context, false);
    hd_context_close_engine(context);
    context->opened = opened;
    context->engine_state = opened != NULL ? opened->state : NULL;
    context->engine_text = text;
    text = NULL;
done:
    huddle_free(text);
    return status;
}

/* Contexts are created without an engine, so that nothing is opened unless it is asked for. */
const hd_engine *hd_context_engine(const huddle_context *context) {
    const hd_open_engine *opened = hd_context_open_engine(context);
    return opened == NULL ? &hd_engine_cpu : opened->engine;
}

const char *huddle_context_engine(const huddle_context *context) {
    return context == NULL || context->engine_text == NULL ? hd_engine_cpu.text.name
                                                           : context->engine_text;
}

void *hd_context_engine_state(const huddle_context *context) {
    return context == NULL ? NULL : context->engine_state;
}

/* A process that computes alone has put its engine aside. */
hd_open_engine *hd_context_open_engine(const huddle_context *context) {
    return context == NULL || context->alone ? NULL : context->opened;
}

/* FNV-1a (Fowler, Noll and Vo) over both texts. */
static uint64_t hash_texts(const char *a, const char *b) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *a != '\0'; a++)
        hash = (hash ^ (unsigned char)*a) * 0x100000001B3u;
    for (; *b != '\0'; b++)
        hash = (hash ^ (unsigned char)*b) * 0x100000001B3u;
    return hash;
}

/* A stage may be asked for hundreds of parts or trials, which an engine declines for one reason.
 * Under hd_silence_begin() nothing is written, so that nothing is remembered either. Components
 * of the shrink step ask for linear solvers on several threads, hence the lock. */
bool hd_engine_declined(huddle_context *context, const char *function, huddle_status status) {
    const char *reason = huddle_last_error();
    if (status != HUDDLE_UNSUPPORTED)
        return false;
    if (context == NULL || context->log == NULL)
        return true;
    uint64_t hash = hash_texts(function, reason);
    pthread_mutex_lock(&context->logging);
    bool is_new = context->n_declined < HD_MAX_DECLINED;
    for (int32_t k = 0; k < context->n_declined; k++)
        is_new = is_new && context->declined[k] != hash;
    if (is_new)
        context->declined[context->n_declined++] = hash;
    pthread_mutex_unlock(&context->logging);
    if (is_new)
        hd_log(context, "the engine %s declines %s (%s)", hd_context_engine(context)->text.name,
               function, reason);
    return true;
}

huddle_status hd_engine_loop(huddle_context *context, const char *stage, int64_t n, hd_body body,
                             void *argument) {
    huddle_status status = HUDDLE_OK;
    if (hd_context_engine(context) == &hd_engine_cpu)
        return hd_parallel(context, stage, n, 1, body, argument);
    for (int64_t k = 0; k < n; k++) {
        if (stage != NULL)
            TRY(hd_progress(context, stage, (double)k, (double)n));
        TRY(body(argument, (hd_chunk){k, k, k + 1, 0}));
    }
done:
    return status;
}
