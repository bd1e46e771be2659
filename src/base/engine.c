/* The engine of a context. An engine is a table of functions for single stages; a stage calls the
 * function of the engine if it has one and its own code otherwise. The CPU engine is no engine: a
 * context that it was chosen for has none, like one that nothing was chosen for. */
#include "base/engine.h"

#include "base/check.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

const hd_engine hd_engine_cpu = {.text = {"cpu", "the CPU cores of this machine"}};

void hd_context_close_engine(huddle_context *context) {
    if (context->engine != NULL && context->engine->close != NULL)
        context->engine->close(context->engine_state);
    huddle_free(context->engine_text);
    context->engine = NULL;
    context->engine_state = NULL;
    context->engine_text = NULL;
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
    void *state = NULL;
    char *text = join_text(engine->text.name, options);
    if (text == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for the name of an engine");
    if (engine->open != NULL)
        TRY(engine->open(context, options, &state));
    else if (options[0] != '\0')
        FAIL(HUDDLE_INVALID, "engine '%s' takes no options, but '%s' was given", engine->text.name,
             options);
    (void)huddle_context_set_alone(context, false);
    hd_context_close_engine(context);
    context->engine = engine == &hd_engine_cpu ? NULL : engine;
    context->engine_state = state;
    context->engine_text = text;
    text = NULL;
done:
    huddle_free(text);
    return status;
}

/* Contexts are created without an engine, so that nothing is opened unless it is asked for. */
const hd_engine *hd_context_engine(const huddle_context *context) {
    return context == NULL || context->engine == NULL ? &hd_engine_cpu : context->engine;
}

const char *huddle_context_engine(const huddle_context *context) {
    return context == NULL || context->engine_text == NULL ? hd_engine_cpu.text.name
                                                           : context->engine_text;
}

void *hd_context_engine_state(const huddle_context *context) {
    return context == NULL ? NULL : context->engine_state;
}
