#include "binding.h"

#include <R_ext/Utils.h>
#include <stdlib.h>
#include <string.h>

/* ---- callbacks ---------------------------------------------------------------------------- */

/* May run on any thread, so it calls nothing of R: run() issues the warnings afterwards. */
static void keep_message(void *user, huddle_log_level level, huddle_warning_code code,
                         const char *text) {
    session *session = user;
    if (level != HUDDLE_LOG_WARNING)
        return;
    message *kept = malloc(sizeof *kept + strlen(text) + 1);
    if (kept == NULL)
        return;
    kept->code = code;
    strcpy(kept->text, text);
    kept->next = session->messages;
    session->messages = kept;
}

typedef struct progress_step {
    session *session;
    const char *stage;
    double done, total;
} progress_step;

static void show_progress(const progress_step *step) {
    session *session = step->session;
    if (strcmp(session->stage, step->stage) != 0) {
        if (session->wrote_progress)
            REprintf("\n");
        snprintf(session->stage, sizeof session->stage, "%s", step->stage);
    }
    REprintf("\r%-12s %3.0f %%", step->stage,
             step->total > 0 ? 100 * step->done / step->total : 100.);
    session->wrote_progress = true;
}

/* Leaves by a long jump to R_ToplevelExec() if the user has interrupted. */
static void poll_user(void *data) {
    const progress_step *step = data;
    if (step->session->shows_progress)
        show_progress(step);
    R_CheckUserInterrupt();
}

static int report_progress(void *user, const char *stage, double done, double total) {
    progress_step step = {user, stage, done, total};
    return R_ToplevelExec(poll_user, &step) ? 0 : 1;
}

/* ---- session ------------------------------------------------------------------------------ */

static void release(session *session) {
    if (session == NULL)
        return;
    if (session->wrote_progress)
        REprintf("\n");
    huddle_path_free(&session->path);
    huddle_dense_free(&session->linkage);
    huddle_points_free(&session->points);
    huddle_csr_free(&session->graph);
    huddle_model_free(session->model);
    huddle_context_free(session->context);
    while (session->messages != NULL) {
        message *next = session->messages->next;
        free(session->messages);
        session->messages = next;
    }
    free(session);
}

static void finalize(SEXP owner) {
    release(R_ExternalPtrAddr(owner));
    R_ClearExternalPtr(owner);
}

static huddle_status set_context(session *session, SEXP settings) {
    SEXP memory = list_element(settings, "memory");
    int threads = Rf_asInteger(list_element(settings, "threads"));
    session->shows_progress = Rf_asLogical(list_element(settings, "progress")) == TRUE;
    huddle_status status = huddle_context_new(&session->context);
    if (status == HUDDLE_OK)
        status = huddle_context_set_threads(session->context, threads);
    if (status == HUDDLE_OK && memory != R_NilValue) {
        int64_t bytes = 0;
        status = huddle_parse_bytes(R_CHAR(STRING_ELT(memory, 0)), &bytes);
        if (status == HUDDLE_OK)
            status = huddle_context_set_memory(session->context, bytes);
    }
    if (status != HUDDLE_OK)
        return status;
    huddle_context_set_log(session->context, keep_message, session);
    huddle_context_set_progress(session->context, report_progress, session);
    return HUDDLE_OK;
}

SEXP session_new(SEXP settings, session **out, huddle_status *status) {
    SEXP owner = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(owner, finalize, TRUE);
    *out = calloc(1, sizeof **out);
    *status = *out == NULL ? huddle_set_error(HUDDLE_NO_MEMORY, "out of memory") : HUDDLE_OK;
    R_SetExternalPtrAddr(owner, *out);
    if (*status == HUDDLE_OK && settings != R_NilValue)
        *status = set_context(*out, settings);
    UNPROTECT(1);
    return owner;
}

/* Texts and names of the codes of the warnings, oldest first, as elements `at` and at + 1. */
static void list_warnings(SEXP result, int at, const session *session) {
    R_xlen_t count = 0;
    for (const message *m = session->messages; m != NULL; m = m->next)
        count++;
    SEXP texts = Rf_allocVector(STRSXP, count);
    SET_VECTOR_ELT(result, at, texts);
    SEXP codes = Rf_allocVector(STRSXP, count);
    SET_VECTOR_ELT(result, at + 1, codes);
    for (const message *m = session->messages; m != NULL; m = m->next) {
        count--;
        SET_STRING_ELT(texts, count, Rf_mkCharCE(m->text, CE_UTF8));
        SET_STRING_ELT(codes, count, Rf_mkChar(huddle_warning_name(m->code)));
    }
}

SEXP session_finish(SEXP owner, huddle_status status, SEXP value) {
    static const char *const names[] = {"value", "status", "message", "warnings", "codes"};
    session *session = R_ExternalPtrAddr(owner);
    PROTECT(value);
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 5));
    name_list(result, names);
    SET_VECTOR_ELT(result, 0, value);
    SET_VECTOR_ELT(result, 1, Rf_mkString(huddle_status_name(status)));
    SET_VECTOR_ELT(result, 2, Rf_ScalarString(Rf_mkCharCE(huddle_last_error(), CE_UTF8)));
    if (session != NULL)
        list_warnings(result, 3, session);
    finalize(owner);
    UNPROTECT(2);
    return result;
}
