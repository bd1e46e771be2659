#include "binding.h"

#include <limits.h>

void name_list(SEXP list, const char *const *names) {
    SEXP texts = PROTECT(Rf_allocVector(STRSXP, Rf_xlength(list)));
    for (R_xlen_t i = 0; i < Rf_xlength(list); i++)
        SET_STRING_ELT(texts, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, texts);
    UNPROTECT(1);
}

huddle_dense array_dense(const huddle_array *array) {
    return (huddle_dense){.rows = array->rows,
                          .cols = array->cols,
                          .stride = array->stride,
                          .values = (double *)array->values};
}

huddle_csr array_csr(const huddle_array *array) {
    return (huddle_csr){.rows = array->rows,
                        .cols = array->cols,
                        .offsets = (int64_t *)array->offsets,
                        .columns = (int32_t *)array->columns,
                        .values = (double *)array->values};
}

SEXP copy_dense(const huddle_dense *matrix) {
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)matrix->rows, (int)matrix->cols));
    for (int64_t j = 0; j < matrix->cols; j++)
        for (int64_t i = 0; i < matrix->rows; i++)
            REAL(out)[i + j * matrix->rows] = matrix->values[i * matrix->stride + j];
    UNPROTECT(1);
    return out;
}

static SEXP copy_single(const huddle_array *array) {
    const float *values = array->values;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)array->rows, (int)array->cols));
    for (int64_t j = 0; j < array->cols; j++)
        for (int64_t i = 0; i < array->rows; i++)
            REAL(out)[i + j * array->rows] = values[i * array->stride + j];
    UNPROTECT(1);
    return out;
}

static SEXP copy_integers(const huddle_array *array) {
    const int32_t *values = array->values;
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)array->rows, (int)array->cols));
    for (int64_t j = 0; j < array->cols; j++)
        for (int64_t i = 0; i < array->rows; i++)
            INTEGER(out)[i + j * array->rows] = values[i * array->stride + j];
    UNPROTECT(1);
    return out;
}

/* Matrix has 32-bit offsets: NULL of R for a graph with more entries. */
static SEXP copy_sparse(const huddle_array *array) {
    static const char *const names[] = {"p", "i", "x", "Dim"};
    int64_t count = array->offsets[array->rows];
    if (count > INT_MAX)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
    name_list(out, names);
    SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, array->rows + 1));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, count));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, count));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, 2));
    for (int64_t i = 0; i <= array->rows; i++)
        INTEGER(VECTOR_ELT(out, 0))[i] = (int)array->offsets[i];
    const double *values = array->values;
    for (int64_t i = 0; i < count; i++) {
        INTEGER(VECTOR_ELT(out, 1))[i] = array->columns[i];
        REAL(VECTOR_ELT(out, 2))[i] = values[i];
    }
    INTEGER(VECTOR_ELT(out, 3))[0] = (int)array->cols;
    INTEGER(VECTOR_ELT(out, 3))[1] = (int)array->rows;
    UNPROTECT(1);
    return out;
}

SEXP copy_array(const huddle_array *array) {
    if (array->type == HUDDLE_ARRAY_CSR)
        return copy_sparse(array);
    if (array->type == HUDDLE_ARRAY_F32)
        return copy_single(array);
    if (array->type == HUDDLE_ARRAY_I32)
        return copy_integers(array);
    huddle_dense matrix = array_dense(array);
    return copy_dense(&matrix);
}
