/* What the C files of the R package share.
 *
 * Every entry point returns list(value, status, message, warnings, codes), and run() in R/run.R
 * turns it into a value, R warnings or an R error. The C code raises no R errors of its own, so
 * everything is freed on the way. Only R's own allocations can leave by a long jump: what must be
 * freed then belongs to a session, and the session to an R object with a finalizer. */
#ifndef HUDDLE_R_BINDING_H
#define HUDDLE_R_BINDING_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <huddle/base.h>
#include <huddle/matrix.h>
#include <huddle/model.h>
#include <huddle/path.h>

#include <R_ext/Altrep.h> /* needs Rinternals.h before it */

/* ---- session.c: one call from R ----------------------------------------------------------- */

/* A warning of the library, in a list, newest first. */
typedef struct message {
    huddle_warning_code code;
    struct message *next;
    char text[];
} message;

typedef struct session {
    huddle_context *context;
    huddle_model *model; /* until an R object owns it */
    huddle_points points;
    huddle_csr graph;
    huddle_path path;
    huddle_dense linkage;
    message *messages;
    bool shows_progress;
    bool wrote_progress;
    char stage[32]; /* the stage that was shown last */
} session;

/* A session in an R object, which the caller protects. settings = list(threads, memory, progress);
 * NULL makes a session without a context. */
SEXP session_new(SEXP settings, session **out, huddle_status *status);

/* Frees what the session owns, and returns the list for run(). The message of a failure must still
 * be that of huddle_last_error(). */
SEXP session_finish(SEXP owner, huddle_status status, SEXP value);

/* ---- input.c: R matrices as containers of the library ------------------------------------- */

/* input = list(kind, x, ...): "dense" with a matrix of doubles, or "sparse" with the slots of a
 * dgCMatrix, p, i, x and Dim. With a model, doubles are rounded as its training points were. */
huddle_status read_points(session *session, SEXP input, const huddle_model *model);
huddle_status read_graph(session *session, SEXP input);

/* The element of that name of an R list, or NULL of R. */
SEXP list_element(SEXP list, const char *name);

/* ---- output.c: results as R objects ------------------------------------------------------- */

/* The names of a list: as many as it has elements. */
void name_list(SEXP list, const char *const *names);

SEXP copy_dense(const huddle_dense *matrix);
/* A matrix, or list(p, i, x, Dim) of the transpose of a sparse matrix in compressed columns. */
SEXP copy_array(const huddle_array *array);
huddle_dense array_dense(const huddle_array *array);
huddle_csr array_csr(const huddle_array *array);

/* ---- model.c: models as R objects --------------------------------------------------------- */

/* The model of an object of model_object(), or NULL if x is something else. */
huddle_model *model_of(SEXP x);
/* The same for an entry point: HUDDLE_INVALID instead of NULL. */
huddle_status known_model(SEXP x, const huddle_model **model);
/* Hands the session's model over to an R object. */
SEXP model_object(session *session);
void model_register(DllInfo *library);

/* ---- entry points ------------------------------------------------------------------------- */

SEXP r_fit(SEXP method, SEXP options, SEXP input, SEXP settings);
SEXP r_predict(SEXP model, SEXP input, SEXP settings);
SEXP r_array(SEXP model, SEXP name);
SEXP r_arrays(SEXP model);
SEXP r_info(SEXP model);
SEXP r_save(SEXP model, SEXP path);
SEXP r_load(SEXP path);
SEXP r_path(SEXP model, SEXP n_gamma, SEXP gammas, SEXP keep_shrunk, SEXP settings);
SEXP r_options(SEXP method);
SEXP r_methods(void);
SEXP r_path_options(void);
SEXP r_score(SEXP truth, SEXP labels);
SEXP r_version(void);

#endif
