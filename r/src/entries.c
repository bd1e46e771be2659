#include "binding.h"

#include <huddle/metrics.h>

static const char *text_of(SEXP x) {
    return Rf_translateCharUTF8(STRING_ELT(x, 0));
}

/* ---- fit and predict ---------------------------------------------------------------------- */

static huddle_status set_options(huddle_model *model, SEXP options) {
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(options); i++) {
        huddle_status status =
            huddle_model_set_option(model, Rf_translateCharUTF8(STRING_ELT(names, i)),
                                    Rf_translateCharUTF8(STRING_ELT(options, i)));
        if (status != HUDDLE_OK)
            return status;
    }
    return HUDDLE_OK;
}

static huddle_status set_features(huddle_model *model, SEXP names) {
    if (names == R_NilValue)
        return HUDDLE_OK;
    R_xlen_t count = Rf_xlength(names);
    const char **texts = (const char **)R_alloc((size_t)count, sizeof *texts);
    for (R_xlen_t i = 0; i < count; i++)
        texts[i] = Rf_translateCharUTF8(STRING_ELT(names, i));
    return huddle_model_set_feature_names(model, count, texts);
}

static huddle_status fit_input(session *session, SEXP input) {
    if (Rf_asLogical(list_element(input, "graph")) == TRUE) {
        huddle_status status = read_graph(session, input);
        if (status == HUDDLE_OK)
            status = huddle_model_set_graph(session->model, &session->graph);
        return status == HUDDLE_OK ? huddle_model_fit(session->context, session->model, NULL)
                                   : status;
    }
    huddle_status status = read_points(session, input, NULL);
    if (status == HUDDLE_OK)
        status = set_features(session->model, list_element(input, "features"));
    return status == HUDDLE_OK
               ? huddle_model_fit(session->context, session->model, &session->points)
               : status;
}

SEXP r_fit(SEXP method, SEXP options, SEXP input, SEXP settings) {
    session *session;
    huddle_status status;
    SEXP value = R_NilValue, owner = PROTECT(session_new(settings, &session, &status));
    if (status == HUDDLE_OK)
        status = huddle_model_new(text_of(method), &session->model);
    if (status == HUDDLE_OK)
        status = set_options(session->model, options);
    if (status == HUDDLE_OK)
        status = fit_input(session, input);
    if (status == HUDDLE_OK)
        value = model_object(session);
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}

SEXP r_predict(SEXP object, SEXP input, SEXP settings) {
    session *session;
    huddle_status status;
    const huddle_model *model = NULL;
    SEXP value = R_NilValue, owner = PROTECT(session_new(settings, &session, &status));
    if (status == HUDDLE_OK)
        status = known_model(object, &model);
    if (status == HUDDLE_OK)
        status = read_points(session, input, model);
    PROTECT(value = Rf_allocVector(INTSXP, status == HUDDLE_OK ? session->points.n : 0));
    if (status == HUDDLE_OK)
        status = huddle_model_predict(session->context, model, &session->points, INTEGER(value));
    value = session_finish(owner, status, value);
    UNPROTECT(2);
    return value;
}

/* ---- results ------------------------------------------------------------------------------ */

SEXP r_array(SEXP object, SEXP name) {
    session *session;
    huddle_status status;
    huddle_array array;
    const huddle_model *model = NULL;
    SEXP value = R_NilValue, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = known_model(object, &model);
    if (status == HUDDLE_OK)
        status = huddle_model_array(model, text_of(name), &array);
    if (status == HUDDLE_OK)
        value = copy_array(&array);
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}

SEXP r_arrays(SEXP object) {
    huddle_model *model = model_of(object);
    const char *const *names = model != NULL ? huddle_model_arrays(model) : NULL;
    R_xlen_t count = 0;
    while (names != NULL && names[count] != NULL)
        count++;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, count));
    for (R_xlen_t i = 0; i < count; i++)
        SET_STRING_ELT(out, i, Rf_mkChar(names[i]));
    UNPROTECT(1);
    return out;
}

SEXP r_info(SEXP object) {
    session *session;
    huddle_status status;
    char *json = NULL;
    const huddle_model *model = NULL;
    SEXP value = R_NilValue, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = known_model(object, &model);
    if (status == HUDDLE_OK)
        status = huddle_model_info_json(model, &json);
    if (status == HUDDLE_OK)
        value = Rf_ScalarString(Rf_mkCharCE(json, CE_UTF8));
    huddle_free(json);
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}

/* ---- files -------------------------------------------------------------------------------- */

SEXP r_save(SEXP object, SEXP path) {
    session *session;
    huddle_status status;
    const huddle_model *model = NULL;
    SEXP value, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = known_model(object, &model);
    if (status == HUDDLE_OK)
        status = huddle_model_save(model, Rf_translateChar(STRING_ELT(path, 0)));
    value = session_finish(owner, status, R_NilValue);
    UNPROTECT(1);
    return value;
}

SEXP r_load(SEXP path) {
    session *session;
    huddle_status status;
    SEXP value = R_NilValue, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = huddle_model_load(Rf_translateChar(STRING_ELT(path, 0)), &session->model);
    if (status == HUDDLE_OK)
        value = model_object(session);
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}

/* ---- scores ------------------------------------------------------------------------------- */

SEXP r_score(SEXP truth, SEXP labels) {
    static const char *const names[] = {"acc", "nmi", "ari", "purity"};
    session *session;
    huddle_status status;
    huddle_scores scores;
    SEXP value, owner = PROTECT(session_new(R_NilValue, &session, &status));
    if (status == HUDDLE_OK)
        status = huddle_metrics_scores(NULL, Rf_xlength(truth), INTEGER(truth), INTEGER(labels),
                                       &scores);
    PROTECT(value = Rf_allocVector(REALSXP, 4));
    name_list(value, names);
    if (status == HUDDLE_OK) {
        REAL(value)[0] = scores.acc;
        REAL(value)[1] = scores.nmi;
        REAL(value)[2] = scores.ari;
        REAL(value)[3] = scores.purity;
    }
    value = session_finish(owner, status, value);
    UNPROTECT(2);
    return value;
}
