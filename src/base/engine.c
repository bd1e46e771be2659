#include "base/engine.h"

#include <string.h>

static const hd_engine cpu = {.name = "cpu"};

/* Made by CMake from the folders of engines/: ENGINE(name) for each. */
#define ENGINE(name) extern const hd_engine hd_engine_##name;
#include "engines.inc"
#undef ENGINE

static const hd_engine *const engines[] = {
    &cpu,
#define ENGINE(name) &hd_engine_##name,
#include "engines.inc"
#undef ENGINE
};

const char *const *huddle_engines(void) {
    static const char *const names[] = {"cpu",
#define ENGINE(name) #name,
#include "engines.inc"
#undef ENGINE
                                        NULL};
    return names;
}

const hd_engine *hd_engine_find(const char *name) {
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
