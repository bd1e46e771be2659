#include "binding.h"

#include <huddle/shrink.h>
#include <stdio.h>

/* Options of the shrink step as the model has them; gamma is set by the path. */
static huddle_status copy_shrink_options(const huddle_model *model, huddle_shrink_options *out) {
    const huddle_option *table = huddle_shrink_options_table();
    for (const huddle_option *option = table; option->type != HUDDLE_OPTION_END; option++) {
        char text[HUDDLE_OPTION_TEXT];
        if (huddle_option_find(huddle_model_options(model), option->name) == NULL)
            continue;
        huddle_status status = huddle_model_get_option(model, option->name, text, sizeof text);
        if (status == HUDDLE_OK)
            status = huddle_options_set(table, out, option->name, text);
        if (status != HUDDLE_OK)
            return status;
    }
    return HUDDLE_OK;
}

static huddle_status set_levels(SEXP n_gamma, SEXP gammas, huddle_path_options *options) {
    if (gammas != R_NilValue) {
        options->n_gamma = (int32_t)Rf_xlength(gammas);
        options->gammas = REAL(gammas);
        return HUDDLE_OK;
    }
    return huddle_options_set(huddle_path_options_table(), options, "n_gamma",
                              R_CHAR(STRING_ELT(n_gamma, 0)));
}

/* Solves the path of the model's F and W; f becomes a view of F. */
static huddle_status solve(session *session, const huddle_model *model,
                           huddle_path_options *options, huddle_dense *f) {
    huddle_array rows, edges;
    huddle_status status = huddle_model_array(model, "embedding", &rows);
    if (status == HUDDLE_OK)
        status = huddle_model_array(model, "shrink_graph", &edges);
    if (status == HUDDLE_OK)
        status = copy_shrink_options(model, &options->shrink);
    if (status != HUDDLE_OK)
        return status;
    *f = array_dense(&rows);
    huddle_csr w = array_csr(&edges);
    options->shrink.n_clusters = (int32_t)f->cols;
    status = huddle_shrink_path(session->context, f, &w, options, &session->path);
    return status == HUDDLE_OK ? huddle_path_linkage(&session->path, &session->linkage) : status;
}

/* ---- results ------------------------------------------------------------------------------ */

/* gamma, objective, dual, gap, n_groups and n_iter of the levels in columns. */
static SEXP copy_levels(const huddle_path *path) {
    static const char *const names[] = {"gamma", "n_groups", "objective", "dual", "gap", "n_iter"};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 6));
    name_list(out, names);
    for (int j = 0; j < 6; j++)
        SET_VECTOR_ELT(out, j, Rf_allocVector(j == 1 || j == 5 ? INTSXP : REALSXP, path->n_levels));
    for (int32_t k = 0; k < path->n_levels; k++) {
        const huddle_path_level *level = &path->levels[k];
        REAL(VECTOR_ELT(out, 0))[k] = level->gamma;
        INTEGER(VECTOR_ELT(out, 1))[k] = level->n_groups;
        REAL(VECTOR_ELT(out, 2))[k] = level->objective;
        REAL(VECTOR_ELT(out, 3))[k] = level->dual;
        REAL(VECTOR_ELT(out, 4))[k] = level->gap;
        INTEGER(VECTOR_ELT(out, 5))[k] = level->n_iter;
    }
    UNPROTECT(1);
    return out;
}

static SEXP copy_groups(const huddle_path *path) {
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)path->n, path->n_levels));
    for (int64_t i = 0; i < path->n * path->n_levels; i++)
        INTEGER(out)[i] = path->groups[i] + 1;
    UNPROTECT(1);
    return out;
}

static SEXP copy_shrunk(const huddle_path *path) {
    if (path->shrunk == NULL)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, path->n_levels));
    for (int32_t k = 0; k < path->n_levels; k++)
        SET_VECTOR_ELT(out, k, copy_dense(&path->shrunk[k]));
    UNPROTECT(1);
    return out;
}

/* The path as a list; its labels, for as many clusters as f has columns, are the last element. */
static SEXP copy_path(session *session, const huddle_dense *f, huddle_status *status) {
    static const char *const names[] = {"levels", "groups", "linkage",    "shrunk", "embedding",
                                        "ends",   "gamma",  "n_clusters", "labels"};
    const huddle_path *path = &session->path;
    huddle_path_choice choice = {0};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 9));
    name_list(out, names);
    SET_VECTOR_ELT(out, 0, copy_levels(path));
    SET_VECTOR_ELT(out, 1, copy_groups(path));
    SET_VECTOR_ELT(out, 2, copy_dense(&session->linkage));
    SET_VECTOR_ELT(out, 3, copy_shrunk(path));
    SET_VECTOR_ELT(out, 4, copy_dense(f));
    SET_VECTOR_ELT(out, 5, Rf_allocVector(REALSXP, 2));
    REAL(VECTOR_ELT(out, 5))[0] = path->gamma_fit;
    REAL(VECTOR_ELT(out, 5))[1] = path->gamma_up;
    SET_VECTOR_ELT(out, 7, Rf_ScalarInteger((int)f->cols));
    SET_VECTOR_ELT(out, 8, Rf_allocVector(INTSXP, path->n));
    *status = huddle_path_labels(session->context, path, f, (int32_t)f->cols,
                                 INTEGER(VECTOR_ELT(out, 8)), &choice);
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(choice.gamma));
    UNPROTECT(1);
    return out;
}

SEXP r_path(SEXP object, SEXP n_gamma, SEXP gammas, SEXP keep_shrunk, SEXP settings) {
    session *session;
    huddle_status status;
    const huddle_model *model = NULL;
    huddle_dense f = {0};
    huddle_path_options options = huddle_path_defaults();
    options.keep_shrunk = Rf_asLogical(keep_shrunk) == TRUE;
    SEXP value = R_NilValue, owner = PROTECT(session_new(settings, &session, &status));
    if (status == HUDDLE_OK)
        status = set_levels(n_gamma, gammas, &options);
    if (status == HUDDLE_OK)
        status = known_model(object, &model);
    if (status == HUDDLE_OK)
        status = solve(session, model, &options, &f);
    if (status == HUDDLE_OK)
        value = copy_path(session, &f, &status);
    value = session_finish(owner, status, value);
    UNPROTECT(1);
    return value;
}
