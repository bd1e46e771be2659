#include "binding.h"

#include <R_ext/Utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- an R object that owns a model -------------------------------------------------------- */

/* A character string, the name of the method, whose data1 points to the model. As an ALTREP class
 * it can be saved: saveRDS() stores the bytes of a model file, readRDS() loads them. */
static R_altrep_class_t model_class;

static void free_model(SEXP pointer) {
    huddle_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

huddle_model *model_of(SEXP x) {
    return R_altrep_inherits(x, model_class) ? R_ExternalPtrAddr(R_altrep_data1(x)) : NULL;
}

huddle_status known_model(SEXP x, const huddle_model **model) {
    *model = model_of(x);
    return *model != NULL ? HUDDLE_OK
                          : huddle_set_error(HUDDLE_INVALID, "the object contains no model");
}

SEXP model_object(session *session) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, free_model, FALSE);
    SEXP name = PROTECT(Rf_mkString(huddle_model_method(session->model)));
    SEXP object = R_new_altrep(model_class, pointer, name);
    R_SetExternalPtrAddr(pointer, session->model);
    session->model = NULL;
    UNPROTECT(2);
    return object;
}

static R_xlen_t model_length(SEXP x) {
    (void)x;
    return 1;
}

static SEXP model_element(SEXP x, R_xlen_t i) {
    return STRING_ELT(R_altrep_data2(x), i);
}

static void *model_data(SEXP x, Rboolean writable) {
    (void)writable;
    return (void *)STRING_PTR_RO(R_altrep_data2(x));
}

/* Models do not change, so copies share them. */
static SEXP model_duplicate(SEXP x, Rboolean deep) {
    (void)deep;
    return x;
}

/* ---- as bytes ----------------------------------------------------------------------------- */

/* The bytes of a file as a raw vector; NULL of R if it cannot be read. */
static SEXP read_file(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, facts.st_size));
    FILE *file = fopen(path, "rb");
    size_t size = (size_t)facts.st_size;
    bool complete = file != NULL && fread(RAW(out), 1, size, file) == size;
    if (file != NULL)
        fclose(file);
    UNPROTECT(1);
    return complete ? out : R_NilValue;
}

/* The name of a new file in the folder of temporary files, in memory of R_alloc(). */
static const char *temporary_name(void) {
    const char *folder = getenv("R_SESSION_TMPDIR");
    char *name = R_tmpnam("huddle", folder != NULL ? folder : "/tmp");
    char *kept = R_alloc(strlen(name) + 1, 1);
    strcpy(kept, name);
    R_free_tmpnam(name);
    return kept;
}

static SEXP model_state(SEXP x) {
    const char *path = temporary_name();
    huddle_status status = huddle_model_save(model_of(x), path);
    SEXP bytes = PROTECT(status == HUDDLE_OK ? read_file(path) : R_NilValue);
    unlink(path);
    if (bytes == R_NilValue)
        Rf_error("the model cannot be saved: %s", huddle_last_error());
    UNPROTECT(1);
    return bytes;
}

static SEXP model_restore(SEXP class_info, SEXP state) {
    (void)class_info;
    huddle_status status;
    session *session;
    PROTECT(session_new(R_NilValue, &session, &status));
    const char *path = temporary_name();
    if (status == HUDDLE_OK)
        status = huddle_file_write(path, RAW(state), (size_t)Rf_xlength(state));
    if (status == HUDDLE_OK)
        status = huddle_model_load(path, &session->model);
    unlink(path);
    if (status != HUDDLE_OK)
        Rf_error("the model cannot be restored: %s", huddle_last_error());
    SEXP object = model_object(session);
    UNPROTECT(1);
    return object;
}

void model_register(DllInfo *library) {
    model_class = R_make_altstring_class("huddle_model", "huddle", library);
    R_set_altrep_Length_method(model_class, model_length);
    R_set_altrep_Duplicate_method(model_class, model_duplicate);
    R_set_altrep_Serialized_state_method(model_class, model_state);
    R_set_altrep_Unserialize_method(model_class, model_restore);
    R_set_altvec_Dataptr_method(model_class, model_data);
    R_set_altstring_Elt_method(model_class, model_element);
}
