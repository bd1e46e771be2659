#define _GNU_SOURCE /* dladdr */
#include "engines/module.h"

#include "base/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

/* NAME.so in the folder HUDDLE_ENGINE_PATH, or in the one beside the library that this function is
 * in. */
static void find_file(const char *name, char *path, size_t size) {
    static const char anchor = 0;
    const char *folder = getenv("HUDDLE_ENGINE_PATH"), *slash = NULL;
    Dl_info library;
    if (folder != NULL && folder[0] != '\0') {
        snprintf(path, size, "%s/%s.so", folder, name);
        return;
    }
    if (dladdr(&anchor, &library) != 0 && library.dli_fname != NULL)
        slash = strrchr(library.dli_fname, '/');
    snprintf(path, size, "%.*shuddle-engines/%s.so",
             slash != NULL ? (int)(slash + 1 - library.dli_fname) : 0,
             slash != NULL ? library.dli_fname : "", name);
}

bool hd_engine_installed(const char *name) {
    char path[MAX_PATH];
    find_file(name, path, sizeof path);
    return access(path, R_OK) == 0;
}

/* Never unloaded: MPI and others keep functions that run at the end of the process. */
static huddle_status open_module(const char *name, const hd_engine **engine) {
    huddle_status status = HUDDLE_OK;
    char path[MAX_PATH];
    find_file(name, path, sizeof path);
    if (access(path, R_OK) != 0)
        FAIL(HUDDLE_UNSUPPORTED,
             "engine %s is not installed: there is no %s (./dev build %s builds it)", name, path,
             name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        FAIL(HUDDLE_UNSUPPORTED, "engine %s cannot be loaded: %s", name, dlerror());
    const hd_engine_module *module = dlsym(library, HD_ENGINE_MODULE_NAME);
    if (module == NULL)
        FAIL(HUDDLE_UNSUPPORTED, "%s is no engine of Huddle", path);
    if (strcmp(module->version, HUDDLE_VERSION) != 0 || module->table_size != sizeof(hd_engine) ||
        module->slabs_size != sizeof(hd_engine_slabs))
        FAIL(HUDDLE_UNSUPPORTED, "%s was built for another version of the library (%s; this is %s)",
             path, module->version, HUDDLE_VERSION);
    *engine = module->engine;
done:
    return status;
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

huddle_status hd_engine_load(const char *name, const hd_engine **engine) {
    huddle_status status = HUDDLE_OK;
    pthread_mutex_lock(&loading);
    if (*engine == NULL)
        status = open_module(name, engine);
    pthread_mutex_unlock(&loading);
    return status;
}
