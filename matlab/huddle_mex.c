/* The gateway from MATLAB and GNU Octave to libhuddle: huddle_mex(COMMAND, ...). The functions
 * huddle_*.m check their arguments, call it and are what users see; huddle_make.m compiles it.
 *
 *   - fit(method, X, names, values, settings, arrays): labels, json, arrays
 *   - path(X, names, values, settings, gammas): linkage, levels, groups, labels, ends
 *   - predict(file, X, settings): labels
 *   - options(method): cell array of texts
 *   - methods(): cell array of texts
 *   - score(truth, labels): acc, nmi, ari, purity
 *
 * names and values are cell arrays of texts; settings is a struct with threads, memory, progress,
 * graph and save. One source for both programs: what only one of them has is a weak symbol. */
#include <huddle/base.h>
#include <huddle/matrix.h>
#include <huddle/methods.h>
#include <huddle/metrics.h>
#include <huddle/model.h>
#include <huddle/path.h>
#include <huddle/shrink.h>
#include <mex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the user has pressed Ctrl-C: two variables of Octave, a function of MATLAB. */
extern volatile sig_atomic_t octave_signal_caught __attribute__((weak));
extern sig_atomic_t octave_interrupt_state __attribute__((weak));
extern bool utIsInterruptPending(void) __attribute__((weak));

/* ---- one call ----------------------------------------------------------------------------- */

typedef struct message {
    huddle_warning_code code;
    struct message *next;
    char text[];
} message;

/* What a call owns. It is static: MATLAB leaves a MEX function by a long jump if it runs out of
 * memory, and the next call frees what remained. */
static struct {
    huddle_context *context;
    huddle_model *model;
    huddle_points points;
    huddle_csr graph;
    huddle_path path;
    huddle_dense linkage;
    message *messages; /* newest first */
    bool shows_progress;
    char stage[32]; /* the stage that was shown last */
} job;

static void free_messages(void) {
    while (job.messages != NULL) {
        message *next = job.messages->next;
        free(job.messages);
        job.messages = next;
    }
}

static void release(void) {
    huddle_path_free(&job.path);
    huddle_dense_free(&job.linkage);
    huddle_points_free(&job.points);
    huddle_csr_free(&job.graph);
    huddle_model_free(job.model);
    huddle_context_free(job.context);
    free_messages();
    memset(&job, 0, sizeof job);
}

/* May run on any thread, so it calls nothing of MATLAB: the warnings are issued at the end. */
static void keep_message(void *user, huddle_log_level level, huddle_warning_code code,
                         const char *text) {
    (void)user;
    if (level != HUDDLE_LOG_WARNING)
        return;
    message *kept = malloc(sizeof *kept + strlen(text) + 1);
    if (kept == NULL)
        return;
    kept->code = code;
    strcpy(kept->text, text);
    kept->next = job.messages;
    job.messages = kept;
}

static int report_progress(void *user, const char *stage, double done, double total) {
    (void)user;
    (void)done;
    (void)total;
    if (job.shows_progress && strcmp(job.stage, stage) != 0) {
        snprintf(job.stage, sizeof job.stage, "%s", stage);
        mexPrintf("huddle: %s\n", stage);
        mexEvalString("drawnow;"); /* shows it now */
    }
    return (&octave_signal_caught != NULL && octave_signal_caught != 0) ||
           (&octave_interrupt_state != NULL && octave_interrupt_state > 0) ||
           (utIsInterruptPending != NULL && utIsInterruptPending());
}

/* Issues the warnings of the library, oldest first. */
static void issue_warnings(const message *m) {
    if (m == NULL)
        return;
    issue_warnings(m->next);
    char id[64];
    snprintf(id, sizeof id, "huddle:%s", huddle_warning_name(m->code));
    mexWarnMsgIdAndTxt(id, "%s", m->text);
}

/* Ends the call: warnings, then the error if there was one, as huddle:STATUS. */
static void finish(huddle_status status) {
    static char text[4096], id[64];
    snprintf(text, sizeof text, "%s", huddle_last_error());
    snprintf(id, sizeof id, "huddle:%s", huddle_status_name(status));
    for (char *letter = id; *letter != 0; letter++)
        if (*letter == ' ')
            *letter = '_';
    issue_warnings(job.messages);
    release();
    if (status == HUDDLE_CANCELLED)
        mexErrMsgIdAndTxt("huddle:cancelled", "interrupted");
    if (status != HUDDLE_OK)
        mexErrMsgIdAndTxt(id, "%s", text);
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* A text of MATLAB in memory that MATLAB frees; "" if it is none. */
static const char *text_of(const mxArray *array) {
    char *text = array != NULL && mxIsChar(array) ? mxArrayToString(array) : NULL;
    return text != NULL ? text : "";
}

static huddle_status make_context(const mxArray *settings) {
    const char *memory = text_of(mxGetField(settings, 0, "memory"));
    double threads = mxGetScalar(mxGetField(settings, 0, "threads"));
    huddle_status status = huddle_context_new(&job.context);
    if (status == HUDDLE_OK)
        status = huddle_context_set_threads(job.context, (int32_t)threads);
    if (status == HUDDLE_OK && memory[0] != 0) {
        int64_t bytes = 0;
        status = huddle_parse_bytes(memory, &bytes);
        if (status == HUDDLE_OK)
            status = huddle_context_set_memory(job.context, bytes);
    }
    if (status != HUDDLE_OK)
        return status;
    job.shows_progress = mxIsLogicalScalarTrue(mxGetField(settings, 0, "progress"));
    huddle_context_set_log(job.context, keep_message, NULL);
    huddle_context_set_progress(job.context, report_progress, NULL);
    return HUDDLE_OK;
}

static huddle_status set_options(const mxArray *names, const mxArray *values) {
    for (size_t i = 0; i < mxGetNumberOfElements(names); i++) {
        huddle_status status = huddle_model_set_option(job.model, text_of(mxGetCell(names, i)),
                                                       text_of(mxGetCell(values, i)));
        if (status != HUDDLE_OK)
            return status;
    }
    return HUDDLE_OK;
}

/* A sparse matrix in compressed rows. MATLAB stores columns, the rows of the transpose. */
static huddle_status read_sparse(const mxArray *x, huddle_csr *out) {
    int64_t rows = (int64_t)mxGetM(x), cols = (int64_t)mxGetN(x);
    const mwIndex *starts = mxGetJc(x), *row_of = mxGetIr(x);
    int64_t count = (int64_t)starts[cols];
    int64_t *offsets = mxMalloc((size_t)(cols + 1) * sizeof *offsets);
    int32_t *indices = mxMalloc((size_t)(count + 1) * sizeof *indices);
    for (int64_t j = 0; j <= cols; j++)
        offsets[j] = (int64_t)starts[j];
    for (int64_t i = 0; i < count; i++)
        indices[i] = (int32_t)row_of[i];
    huddle_csr columns = {
        .rows = cols, .cols = rows, .offsets = offsets, .columns = indices, .values = mxGetPr(x)};
    huddle_status status = huddle_csr_transpose(&columns, out);
    mxFree(indices);
    mxFree(offsets);
    return status;
}

static huddle_status read_sparse_points(const mxArray *x) {
    huddle_status status = read_sparse(x, &job.graph);
    const huddle_csr *rows = &job.graph;
    if (status == HUDDLE_OK)
        status = huddle_points_new_sparse(rows->rows, rows->cols, rows->offsets[rows->rows],
                                          &job.points);
    if (status != HUDDLE_OK)
        return status;
    int64_t count = rows->offsets[rows->rows];
    memcpy(job.points.offsets, rows->offsets, (size_t)(rows->rows + 1) * sizeof *rows->offsets);
    memcpy(job.points.columns, rows->columns, (size_t)count * sizeof *rows->columns);
    for (int64_t i = 0; i < count; i++)
        job.points.values[i] = (float)rows->values[i];
    huddle_csr_free(&job.graph);
    return HUDDLE_OK;
}

static huddle_status read_single_points(const mxArray *x) {
    const float *values = mxGetData(x);
    int64_t n = (int64_t)mxGetM(x), d = (int64_t)mxGetN(x);
    huddle_status status = huddle_points_new(n, d, &job.points);
    for (int64_t j = 0; status == HUDDLE_OK && j < d; j++)
        for (int64_t i = 0; i < n; i++)
            job.points.values[i * job.points.stride + j] = values[i + j * n];
    return status;
}

/* Points from a sparse, a single or a double matrix. With `known`, doubles are rounded as the
 * training points of the model were. */
static huddle_status read_points(const mxArray *x, const huddle_model *known) {
    if (mxIsSparse(x))
        return read_sparse_points(x);
    if (mxIsSingle(x))
        return read_single_points(x);
    int64_t n = (int64_t)mxGetM(x), d = (int64_t)mxGetN(x), shifted = 0;
    const double *shift = known != NULL ? huddle_model_shift(known, &shifted) : NULL;
    if (shifted == d)
        return huddle_points_from_double_shifted(job.context, n, d, mxGetPr(x), 1, n, shift,
                                                 &job.points);
    return huddle_points_from_double(job.context, n, d, mxGetPr(x), 1, n, &job.points);
}

/* A graph or distances. Zeros of a full matrix are kept: as distances they belong to equal
 * points. */
static huddle_status read_graph(const mxArray *x) {
    if (mxIsSparse(x))
        return read_sparse(x, &job.graph);
    int64_t rows = (int64_t)mxGetM(x), cols = (int64_t)mxGetN(x);
    huddle_status status = huddle_csr_new(rows, cols, rows * cols, &job.graph);
    for (int64_t i = 0; status == HUDDLE_OK && i < rows; i++) {
        job.graph.offsets[i + 1] = (i + 1) * cols;
        for (int64_t j = 0; j < cols; j++) {
            job.graph.columns[i * cols + j] = (int32_t)j;
            job.graph.values[i * cols + j] = mxGetPr(x)[i + j * rows];
        }
    }
    return status;
}

static huddle_status fit(const char *method, const mxArray *x, const mxArray *names,
                         const mxArray *values, const mxArray *settings) {
    bool is_graph = mxIsLogicalScalarTrue(mxGetField(settings, 0, "graph"));
    huddle_status status = make_context(settings);
    if (status == HUDDLE_OK)
        status = huddle_model_new(method, &job.model);
    if (status == HUDDLE_OK)
        status = set_options(names, values);
    if (status == HUDDLE_OK)
        status = is_graph ? read_graph(x) : read_points(x, NULL);
    if (status == HUDDLE_OK && is_graph)
        status = huddle_model_set_graph(job.model, &job.graph);
    return status == HUDDLE_OK
               ? huddle_model_fit(job.context, job.model, is_graph ? NULL : &job.points)
               : status;
}

/* ---- results ------------------------------------------------------------------------------ */

/* Numbers from 0 as a column of doubles from 1. */
static mxArray *copy_labels(const int32_t *labels, int64_t n) {
    mxArray *out = mxCreateDoubleMatrix((size_t)n, 1, mxREAL);
    for (int64_t i = 0; i < n; i++)
        mxGetPr(out)[i] = labels[i] + 1;
    return out;
}

static mxArray *copy_dense(const huddle_dense *matrix) {
    mxArray *out = mxCreateDoubleMatrix((size_t)matrix->rows, (size_t)matrix->cols, mxREAL);
    for (int64_t j = 0; j < matrix->cols; j++)
        for (int64_t i = 0; i < matrix->rows; i++)
            mxGetPr(out)[i + j * matrix->rows] = matrix->values[i * matrix->stride + j];
    return out;
}

static huddle_dense array_dense(const huddle_array *array) {
    return (huddle_dense){.rows = array->rows,
                          .cols = array->cols,
                          .stride = array->stride,
                          .values = (double *)array->values};
}

static huddle_csr array_csr(const huddle_array *array) {
    return (huddle_csr){.rows = array->rows,
                        .cols = array->cols,
                        .offsets = (int64_t *)array->offsets,
                        .columns = (int32_t *)array->columns,
                        .values = (double *)array->values};
}

/* A graph, which is symmetric: its rows are its columns. */
static mxArray *copy_graph(const huddle_array *array) {
    int64_t count = array->offsets[array->rows];
    mxArray *out = mxCreateSparse((size_t)array->cols, (size_t)array->rows, (size_t)count, mxREAL);
    for (int64_t i = 0; i <= array->rows; i++)
        mxGetJc(out)[i] = (mwIndex)array->offsets[i];
    for (int64_t i = 0; i < count; i++)
        mxGetIr(out)[i] = (mwIndex)array->columns[i];
    memcpy(mxGetPr(out), array->values, (size_t)count * sizeof(double));
    return out;
}

/* A struct of those of the named arrays that the method has, all of doubles or sparse. */
static mxArray *copy_arrays(const mxArray *names) {
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    for (size_t i = 0; i < mxGetNumberOfElements(names); i++) {
        const char *name = text_of(mxGetCell(names, i));
        huddle_array array;
        if (huddle_model_array(job.model, name, &array) != HUDDLE_OK)
            continue;
        huddle_dense matrix = array_dense(&array);
        mxArray *copy = array.type == HUDDLE_ARRAY_CSR ? copy_graph(&array) : copy_dense(&matrix);
        mxSetFieldByNumber(out, 0, mxAddField(out, name), copy);
    }
    return out;
}

static mxArray *copy_text(const char *text) {
    return mxCreateString(text);
}

/* ---- commands ----------------------------------------------------------------------------- */

typedef struct command {
    const char *name;
    int inputs; /* after the name of the command */
    huddle_status (*run)(mxArray **out, const mxArray **in);
} command;

static huddle_status run_fit(mxArray **out, const mxArray **in) {
    const char *save = text_of(mxGetField(in[4], 0, "save"));
    huddle_status status = fit(text_of(in[0]), in[1], in[2], in[3], in[4]);
    if (status == HUDDLE_OK && save[0] != 0)
        status = huddle_model_save(job.model, save);
    char *json = NULL;
    if (status == HUDDLE_OK)
        status = huddle_model_info_json(job.model, &json);
    if (status != HUDDLE_OK)
        return status;
    int64_t n = 0;
    const int32_t *labels = huddle_model_labels(job.model, &n);
    out[0] = copy_labels(labels, n);
    out[1] = copy_text(json);
    huddle_free(json);
    out[2] = copy_arrays(in[5]);
    return HUDDLE_OK;
}

static huddle_status run_predict(mxArray **out, const mxArray **in) {
    huddle_status status = make_context(in[2]);
    if (status == HUDDLE_OK)
        status = huddle_model_load(text_of(in[0]), &job.model);
    if (status == HUDDLE_OK)
        status = read_points(in[1], job.model);
    if (status != HUDDLE_OK)
        return status;
    int32_t *labels = mxMalloc((size_t)(job.points.n + 1) * sizeof *labels);
    status = huddle_model_predict(job.context, job.model, &job.points, labels);
    if (status == HUDDLE_OK)
        out[0] = copy_labels(labels, job.points.n);
    mxFree(labels);
    return status;
}

/* Options of the shrink step as the model has them; gamma is set by the path. */
static huddle_status copy_shrink_options(huddle_shrink_options *out) {
    const huddle_option *table = huddle_shrink_options_table();
    for (const huddle_option *option = table; option->type != HUDDLE_OPTION_END; option++) {
        char text[HUDDLE_OPTION_TEXT];
        if (huddle_option_find(huddle_model_options(job.model), option->name) == NULL)
            continue;
        huddle_status status = huddle_model_get_option(job.model, option->name, text, sizeof text);
        if (status == HUDDLE_OK)
            status = huddle_options_set(table, out, option->name, text);
        if (status != HUDDLE_OK)
            return status;
    }
    return HUDDLE_OK;
}

/* One row per level: gamma, groups, objective, dual, gap, iterations. */
static mxArray *copy_levels(const huddle_path *path) {
    mwSize rows = (mwSize)path->n_levels;
    mxArray *out = mxCreateDoubleMatrix(rows, 6, mxREAL);
    for (mwSize k = 0; k < rows; k++) {
        const huddle_path_level *level = &path->levels[k];
        const double values[6] = {level->gamma, level->n_groups, level->objective,
                                  level->dual,  level->gap,      level->n_iter};
        for (mwSize j = 0; j < 6; j++)
            mxGetPr(out)[k + j * rows] = values[j];
    }
    return out;
}

static mxArray *copy_groups(const huddle_path *path) {
    mxArray *out = mxCreateDoubleMatrix((size_t)path->n, (size_t)path->n_levels, mxREAL);
    for (int64_t i = 0; i < path->n * path->n_levels; i++)
        mxGetPr(out)[i] = path->groups[i] + 1;
    return out;
}

static huddle_status copy_path(const huddle_dense *f, mxArray **out) {
    huddle_path_choice choice;
    const huddle_path *path = &job.path;
    int32_t *labels = mxMalloc((size_t)(path->n + 1) * sizeof *labels);
    huddle_status status =
        huddle_path_labels(job.context, path, f, (int32_t)f->cols, labels, &choice);
    if (status == HUDDLE_OK) {
        out[0] = copy_dense(&job.linkage);
        out[1] = copy_levels(path);
        out[2] = copy_groups(path);
        out[3] = copy_labels(labels, path->n);
        out[4] = mxCreateDoubleMatrix(1, 3, mxREAL);
        mxGetPr(out[4])[0] = path->gamma_fit;
        mxGetPr(out[4])[1] = path->gamma_up;
        mxGetPr(out[4])[2] = choice.gamma;
    }
    mxFree(labels);
    return status;
}

static huddle_status run_path(mxArray **out, const mxArray **in) {
    huddle_path_options options = huddle_path_defaults();
    huddle_array rows, edges;
    if (mxGetNumberOfElements(in[4]) > 1) {
        options.n_gamma = (int32_t)mxGetNumberOfElements(in[4]);
        options.gammas = mxGetPr(in[4]);
    } else if (mxGetNumberOfElements(in[4]) == 1) {
        options.n_gamma = (int32_t)mxGetScalar(in[4]);
    }
    huddle_status status = fit("ssc", in[0], in[1], in[2], in[3]);
    if (status == HUDDLE_OK)
        status = huddle_model_array(job.model, "embedding", &rows);
    if (status == HUDDLE_OK)
        status = huddle_model_array(job.model, "shrink_graph", &edges);
    if (status == HUDDLE_OK)
        status = copy_shrink_options(&options.shrink);
    if (status != HUDDLE_OK)
        return status;
    huddle_dense f = array_dense(&rows);
    huddle_csr w = array_csr(&edges);
    options.shrink.n_clusters = (int32_t)f.cols;
    status = huddle_shrink_path(job.context, &f, &w, &options, &job.path);
    if (status == HUDDLE_OK)
        status = huddle_path_linkage(&job.path, &job.linkage);
    return status == HUDDLE_OK ? copy_path(&f, out) : status;
}

/* One row per option: name, default, allowed values, help. */
static huddle_status run_options(mxArray **out, const mxArray **in) {
    huddle_status status = huddle_model_new(text_of(in[0]), &job.model);
    if (status != HUDDLE_OK)
        return status;
    const huddle_option *table = huddle_model_options(job.model);
    mwSize count = 0;
    while (table[count].type != HUDDLE_OPTION_END)
        count++;
    out[0] = mxCreateCellMatrix(count, 4);
    for (mwSize i = 0; i < count; i++) {
        char allowed[512];
        huddle_option_allowed(&table[i], allowed, sizeof allowed);
        mxSetCell(out[0], i, copy_text(table[i].name));
        mxSetCell(out[0], i + count, copy_text(table[i].default_text));
        mxSetCell(out[0], i + 2 * count, copy_text(allowed));
        mxSetCell(out[0], i + 3 * count, copy_text(table[i].help));
    }
    return HUDDLE_OK;
}

/* One row per method: name, title, summary. */
static huddle_status run_methods(mxArray **out, const mxArray **in) {
    (void)in;
    const huddle_method_text *const *methods = huddle_methods();
    mwSize count = 0;
    while (methods[count] != NULL)
        count++;
    out[0] = mxCreateCellMatrix(count, 3);
    for (mwSize i = 0; i < count; i++) {
        mxSetCell(out[0], i, copy_text(methods[i]->name));
        mxSetCell(out[0], i + count, copy_text(methods[i]->title));
        mxSetCell(out[0], i + 2 * count, copy_text(methods[i]->summary));
    }
    return HUDDLE_OK;
}

/* truth and labels are int32 arrays of the same length. */
static huddle_status run_score(mxArray **out, const mxArray **in) {
    huddle_scores scores;
    huddle_status status = huddle_metrics_scores(NULL, (int64_t)mxGetNumberOfElements(in[0]),
                                                 mxGetData(in[0]), mxGetData(in[1]), &scores);
    if (status != HUDDLE_OK)
        return status;
    out[0] = mxCreateDoubleMatrix(1, 4, mxREAL);
    mxGetPr(out[0])[0] = scores.acc;
    mxGetPr(out[0])[1] = scores.nmi;
    mxGetPr(out[0])[2] = scores.ari;
    mxGetPr(out[0])[3] = scores.purity;
    return HUDDLE_OK;
}

static const command commands[] = {{"fit", 6, run_fit},
                                   {"path", 5, run_path},
                                   {"predict", 3, run_predict},
                                   {"options", 1, run_options},
                                   {"methods", 0, run_methods},
                                   {"score", 2, run_score},
                                   {NULL, 0, NULL}};

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[]) {
    mxArray *results[5] = {NULL};
    const char *name = n_in > 0 ? text_of(in[0]) : "";
    const command *found = commands;
    while (found->name != NULL && strcmp(found->name, name) != 0)
        found++;
    if (found->name == NULL || n_in != found->inputs + 1)
        mexErrMsgIdAndTxt("huddle:invalid", "huddle_mex is internal; see huddle_ssc");
    release();
    mexAtExit(release);
    huddle_status status = found->run(results, in + 1);
    finish(status);
    for (int i = 0; i < 5 && (i < n_out || i == 0); i++)
        out[i] = results[i];
}
