#include "binding.h"

#include <string.h>

SEXP list_element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(R_CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

static bool is_sparse(SEXP input) {
    return strcmp(R_CHAR(STRING_ELT(list_element(input, "kind"), 0)), "sparse") == 0;
}

/* The matrix in compressed rows. R stores columns, which are the rows of the transpose. */
static huddle_status read_sparse(SEXP input, huddle_csr *out) {
    SEXP starts = list_element(input, "p"), rows = list_element(input, "i");
    const int *dim = INTEGER(list_element(input, "Dim"));
    int64_t *offsets = (int64_t *)R_alloc((size_t)dim[1] + 1, sizeof *offsets);
    for (int j = 0; j <= dim[1]; j++)
        offsets[j] = INTEGER(starts)[j];
    huddle_csr columns = {.rows = dim[1],
                          .cols = dim[0],
                          .offsets = offsets,
                          .columns = INTEGER(rows),
                          .values = REAL(list_element(input, "x"))};
    huddle_status status = huddle_csr_check(&columns);
    return status == HUDDLE_OK ? huddle_csr_transpose(&columns, out) : status;
}

static huddle_status read_sparse_points(session *session, SEXP input) {
    huddle_csr rows = {0};
    huddle_status status = read_sparse(input, &rows);
    if (status == HUDDLE_OK)
        status = huddle_points_new_sparse(rows.rows, rows.cols, rows.offsets[rows.rows],
                                          &session->points);
    if (status == HUDDLE_OK) {
        int64_t count = rows.offsets[rows.rows];
        memcpy(session->points.offsets, rows.offsets,
               (size_t)(rows.rows + 1) * sizeof *rows.offsets);
        memcpy(session->points.columns, rows.columns, (size_t)count * sizeof *rows.columns);
        for (int64_t i = 0; i < count; i++)
            session->points.values[i] = (float)rows.values[i];
    }
    huddle_csr_free(&rows);
    return status;
}

huddle_status read_points(session *session, SEXP input, const huddle_model *model) {
    if (is_sparse(input))
        return read_sparse_points(session, input);
    SEXP x = list_element(input, "x");
    int64_t n = Rf_nrows(x), d = Rf_ncols(x), known = 0;
    const double *shift = model != NULL ? huddle_model_shift(model, &known) : NULL;
    if (known == d)
        return huddle_points_from_double_shifted(session->context, n, d, REAL(x), 1, n, shift,
                                                 &session->points);
    return huddle_points_from_double(session->context, n, d, REAL(x), 1, n, &session->points);
}

huddle_status read_graph(session *session, SEXP input) {
    if (is_sparse(input))
        return read_sparse(input, &session->graph);
    /* Zeros are kept: as distances they belong to equal points. */
    SEXP x = list_element(input, "x");
    int64_t rows = Rf_nrows(x), cols = Rf_ncols(x);
    huddle_csr *graph = &session->graph;
    huddle_status status = huddle_csr_new(rows, cols, rows * cols, graph);
    if (status != HUDDLE_OK)
        return status;
    for (int64_t i = 0; i < rows; i++) {
        graph->offsets[i + 1] = (i + 1) * cols;
        for (int64_t j = 0; j < cols; j++) {
            graph->columns[i * cols + j] = (int32_t)j;
            graph->values[i * cols + j] = REAL(x)[i + j * rows];
        }
    }
    return HUDDLE_OK;
}
