/* Engines in shared objects of their own, which are loaded when a context chooses them: the library
 * needs none of their libraries to be built or to run. Such an engine defines its table by
 *
 *     HD_ENGINE_MODULE(table)
 *
 * and is found as huddle-engines/NAME.so beside libhuddle, or in the folder that the environment
 * variable HUDDLE_ENGINE_PATH names. It calls internal functions of the library, so both must be of
 * one version. */
#ifndef HUDDLE_SRC_ENGINES_MODULE_H
#define HUDDLE_SRC_ENGINES_MODULE_H

#include "base/engine.h"
#include "huddle/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_engine_module {
    const char *version; /* of the library it was built with */
    size_t table_size, slabs_size;
    const hd_engine *engine;
} hd_engine_module;

/* The symbol of the module under which the library finds the description. */
#define HD_ENGINE_MODULE_NAME "hd_engine_module_entry"
extern __attribute__((visibility("default"))) const hd_engine_module hd_engine_module_entry;

#define HD_ENGINE_MODULE(table)                                                                    \
    const hd_engine_module hd_engine_module_entry = {HUDDLE_VERSION, sizeof(hd_engine),            \
                                                     sizeof(hd_engine_slabs), &(table)};

/* Loads the engine of that name unless *engine has it already. HUDDLE_UNSUPPORTED, with the reason,
 * if it is not installed, lacks a library or belongs to another version. */
huddle_status hd_engine_load(const char *name, const hd_engine **engine);

/* Whether its file exists. */
bool hd_engine_installed(const char *name);

#ifdef __cplusplus
}
#endif

#endif
