/* The engines of this build. No other file knows their names: the stages use the functions of the
 * engine that the context was given. */
#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"

#include <string.h>

/* Made by CMake from the folders of engines/: ENGINE(name) for each. */
#define ENGINE(name) extern const hd_engine hd_engine_##name;
#include "engines.inc"
#undef ENGINE

static const hd_engine *const engines[] = {
    &hd_engine_cpu,
#define ENGINE(name) &hd_engine_##name,
#include "engines.inc"
#undef ENGINE
};

enum { N_ENGINES = sizeof engines / sizeof *engines };

const huddle_engine_text *const *huddle_engines(void) {
    static const huddle_engine_text *const texts[] = {&hd_engine_cpu.text,
#define ENGINE(name) &hd_engine_##name.text,
#include "engines.inc"
#undef ENGINE
                                                      NULL};
    return texts;
}

/* "NAME" or "NAME:OPTIONS": the name is compared up to the colon, the rest is parsed by the engine.
 * A build without an engine that a script asks for must fail, not fall back to the CPU silently. */
huddle_status huddle_context_set_engine(huddle_context *context, const char *name) {
    size_t length = strcspn(name, ":");
    const char *options = name[length] == ':' ? name + length + 1 : "";
    for (int k = 0; k < N_ENGINES; k++)
        if (strlen(engines[k]->text.name) == length &&
            memcmp(engines[k]->text.name, name, length) == 0)
            return hd_context_use_engine(context, engines[k], options);
    char names[256] = "";
    for (int k = 0; k < N_ENGINES; k++) {
        strncat(names, k > 0 ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, engines[k]->text.name, sizeof names - strlen(names) - 1);
    }
    return hd_fail(HUDDLE_UNSUPPORTED, "no engine named '%.*s' in this build, which has %s",
                   (int)length, name, names);
}
