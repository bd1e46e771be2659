/* The engines of this build. No file of the library knows their names: the stages use the functions
 * of the engine that the context was given. */
#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"
#include "engines/module.h"

#include <pthread.h>
#include <string.h>

/* Made by CMake from the folders of engines/: ENGINE(name) for each that is part of the library. */
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

/* MODULE(name, summary) for each in a shared object of its own (module.h), built or not. They are
 * listed if they are installed. */
static const huddle_engine_text modules[] = {
#define MODULE(name, summary) {name, summary},
#include "engine_modules.inc"
#undef MODULE
    {0}};

enum { N_MODULES = sizeof modules / sizeof *modules - 1 };

static const hd_engine *loaded[N_MODULES + 1];

static const huddle_engine_text *texts[N_ENGINES + N_MODULES + 1];
static pthread_once_t listed = PTHREAD_ONCE_INIT;

static void list_engines(void) {
    int count = 0;
    for (int k = 0; k < N_ENGINES; k++)
        texts[count++] = &engines[k]->text;
    for (int k = 0; k < N_MODULES; k++)
        if (hd_engine_installed(modules[k].name))
            texts[count++] = &modules[k];
}

const huddle_engine_text *const *huddle_engines(void) {
    pthread_once(&listed, list_engines);
    return texts;
}

static bool has_name(const huddle_engine_text *text, const char *name, size_t length) {
    return strlen(text->name) == length && memcmp(text->name, name, length) == 0;
}

/* "NAME" or "NAME:OPTIONS": the name is compared up to the colon, the rest is parsed by the engine.
 * A build without an engine that a script asks for must fail, not fall back to the CPU silently. */
huddle_status huddle_context_set_engine(huddle_context *context, const char *name) {
    size_t length = strcspn(name, ":");
    const char *options = name[length] == ':' ? name + length + 1 : "";
    for (int k = 0; k < N_ENGINES; k++)
        if (has_name(&engines[k]->text, name, length))
            return hd_context_use_engine(context, engines[k], options);
    for (int k = 0; k < N_MODULES; k++)
        if (has_name(&modules[k], name, length)) {
            huddle_status status = hd_engine_load(modules[k].name, &loaded[k]);
            return status == HUDDLE_OK ? hd_context_use_engine(context, loaded[k], options)
                                       : status;
        }
    char names[256] = "";
    for (const huddle_engine_text *const *text = huddle_engines(); *text != NULL; text++) {
        strncat(names, names[0] != '\0' ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, (*text)->name, sizeof names - strlen(names) - 1);
    }
    return hd_fail(HUDDLE_UNSUPPORTED, "no engine named '%.*s' in this build, which has %s",
                   (int)length, name, names);
}
