#include "binding.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, arguments)                                                                     \
    { #name, (DL_FUNC)&name, arguments }

static const R_CallMethodDef entries[] = {
    ENTRY(r_fit, 4),     ENTRY(r_predict, 3), ENTRY(r_array, 2),   ENTRY(r_arrays, 1),
    ENTRY(r_info, 1),    ENTRY(r_save, 2),    ENTRY(r_load, 1),    ENTRY(r_path, 5),
    ENTRY(r_options, 1), ENTRY(r_methods, 0), ENTRY(r_version, 0), ENTRY(r_path_options, 0),
    ENTRY(r_score, 2),   {NULL, NULL, 0}};

void attribute_visible R_init_huddle(DllInfo *library) {
    R_registerRoutines(library, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
    model_register(library);
}
