#include "binding.h"

#include <huddle/methods.h>

/* The options of a table in columns: name, default, allowed, help; all text. */
static SEXP copy_table(const huddle_option *table) {
    static const char *const names[] = {"name", "default", "allowed", "help"};
    R_xlen_t count = 0;
    while (table[count].type != HUDDLE_OPTION_END)
        count++;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
    name_list(out, names);
    for (int j = 0; j < 4; j++)
        SET_VECTOR_ELT(out, j, Rf_allocVector(STRSXP, count));
    for (R_xlen_t i = 0; i < count; i++) {
        char allowed[512];
        huddle_option_allowed(&table[i], allowed, sizeof allowed);
        SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkChar(table[i].name));
        SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(table[i].default_text));
        SET_STRING_ELT(VECTOR_ELT(out, 2), i, Rf_mkCharCE(allowed, CE_UTF8));
        SET_STRING_ELT(VECTOR_ELT(out, 3), i, Rf_mkCharCE(table[i].help, CE_UTF8));
    }
    UNPROTECT(1);
    return out;
}

SEXP r_options(SEXP method) {
    session *session;
    huddle_status status;
    SEXP value = R_NilValue, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = huddle_model_new(Rf_translateCharUTF8(STRING_ELT(method, 0)), &session->model);
    if (status == HUDDLE_OK)
        value = copy_table(huddle_model_options(session->model));
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}

SEXP r_path_options(void) {
    return copy_table(huddle_path_options_table());
}

SEXP r_methods(void) {
    static const char *const names[] = {"name", "title", "summary"};
    const huddle_method_text *const *methods = huddle_methods();
    R_xlen_t count = 0;
    while (methods[count] != NULL)
        count++;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
    name_list(out, names);
    for (int j = 0; j < 3; j++)
        SET_VECTOR_ELT(out, j, Rf_allocVector(STRSXP, count));
    for (R_xlen_t i = 0; i < count; i++) {
        SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkChar(methods[i]->name));
        SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkCharCE(methods[i]->title, CE_UTF8));
        SET_STRING_ELT(VECTOR_ELT(out, 2), i, Rf_mkCharCE(methods[i]->summary, CE_UTF8));
    }
    UNPROTECT(1);
    return out;
}

SEXP r_version(void) {
    return Rf_mkString(huddle_version());
}
