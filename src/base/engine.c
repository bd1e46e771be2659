#include "base/engine.h"

#include "base/check.h"
#include "base/context.h"

const hd_engine hd_engine_cpu = {.text = {"cpu", "the processors of this machine"}};

static void close_engine(huddle_context *context) {
    if (context->engine != NULL && context->engine->close != NULL)
        context->engine->close(context->engine_state);
    context->engine = NULL;
    context->engine_state = NULL;
}

huddle_status hd_context_use_engine(huddle_context *context, const hd_engine *engine,
                                    const char *options) {
    huddle_status status = HUDDLE_OK;
    void *state = NULL;
    if (engine->open != NULL)
        TRY(engine->open(context, options, &state));
    else if (options[0] != '\0')
        FAIL(HUDDLE_INVALID, "engine '%s' takes no options, but '%s' was given", engine->text.name,
             options);
    close_engine(context);
    context->engine = engine;
    context->engine_state = state;
done:
    return status;
}

void hd_context_close_engine(huddle_context *context) {
    close_engine(context);
}

const hd_engine *hd_context_engine(const huddle_context *context) {
    return context == NULL || context->engine == NULL ? &hd_engine_cpu : context->engine;
}

void *hd_context_engine_state(const huddle_context *context) {
    return context == NULL ? NULL : context->engine_state;
}
