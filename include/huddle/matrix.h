/* Huddle, matrix: the containers that are passed between stages.
 *
 *   huddle_points  n samples of d features, float, dense or sparse
 *   huddle_dense   a matrix of doubles: an embedding, centres, a table
 *   huddle_csr     a sparse matrix of doubles: a graph
 *
 * All are plain structs. Those made by the library own their arrays and are freed by their _free
 * function; those filled in by you are views of your arrays, which the library does not free. Rows
 * and offsets are 64-bit, columns 32-bit.
 *
 * A container created under an engine with a memory of its own may be there, or there and on the
 * host: `resident` is then not NULL. Arrays that are only there are NULL until
 * huddle_points_fetch(), huddle_dense_fetch() or huddle_csr_fetch() copies them to the host; the
 * shift of points is always on the host. Stages accept such containers directly, on any context;
 * they can be fetched and freed after the context that made them chose another engine or was freed.
 * Do not change arrays while `resident` is not NULL: copies (huddle_dense_copy() and others) are on
 * the host only. The library leaves nothing in a container that you have filled in yourself. Under
 * the CPU engine `resident` is always NULL and the arrays are set.
 *
 * Under an engine that distributes rows over processes, a container has the rows of this process;
 * unless noted otherwise, the functions below work on those rows.
 */
#ifndef HUDDLE_MATRIX_H
#define HUDDLE_MATRIX_H

#include "huddle/base.h"

/* The place of a copy of a container in the memory of an engine; opaque. */
typedef struct huddle_resident huddle_resident;

/* A file in memory that the values of points are in; opaque. */
typedef struct huddle_mapping huddle_mapping;

/* Samples in rows.
 *
 * Dense (offsets == NULL): sample i is values[i * stride] .. values[i * stride + d - 1].
 * Sparse: its non-zeros are values[offsets[i]] .. values[offsets[i + 1] - 1], in the columns of
 * the same positions, ascending.
 *
 * A column of doubles whose spread is small compared with its mean (map coordinates, time stamps)
 * would lose its digits as float. Such a column is stored with its mean subtracted, and
 * `shift` (d doubles, or NULL if no column needs it; dense only) must be added to get the true
 * values. Distances are the same with and without it.
 *
 * If `mapping` is not NULL, the values are those of a mapped file (huddle/io.h): they can only be
 * read, and huddle_points_free() unmaps the file. */
typedef struct huddle_points {
    int64_t n, d;
    int64_t stride; /* dense: floats from one row to the next, at least d */
    float *values;
    int64_t *offsets;          /* sparse: n + 1 */
    int32_t *columns;          /* sparse */
    double *shift;             /* usually NULL */
    huddle_resident *resident; /* an engine's copy; usually NULL */
    huddle_mapping *mapping;   /* dense: the file that owns the values; usually NULL */
} huddle_points;

/* rows x cols doubles, row i at values + i * stride. */
typedef struct huddle_dense {
    int64_t rows, cols, stride;
    double *values;
    huddle_resident *resident;
} huddle_dense;

/* Row i consists of values[offsets[i]] .. values[offsets[i + 1] - 1], columns ascending. */
typedef struct huddle_csr {
    int64_t rows, cols;
    int64_t *offsets; /* rows + 1 */
    int32_t *columns;
    double *values;
    huddle_resident *resident;
} huddle_csr;

/* Allocate zeroed. Fail with HUDDLE_INVALID if a size is negative or beyond 32-bit columns,
 * HUDDLE_NO_MEMORY. */
HUDDLE_API huddle_status huddle_points_new(int64_t n, int64_t d, huddle_points *points);
HUDDLE_API huddle_status huddle_points_new_sparse(int64_t n, int64_t d, int64_t nonzeros,
                                                  huddle_points *points);
HUDDLE_API huddle_status huddle_dense_new(int64_t rows, int64_t cols, huddle_dense *matrix);
HUDDLE_API huddle_status huddle_csr_new(int64_t rows, int64_t cols, int64_t nonzeros,
                                        huddle_csr *matrix);

/* Free the arrays and zero the struct. */
HUDDLE_API void huddle_points_free(huddle_points *points);
HUDDLE_API void huddle_dense_free(huddle_dense *matrix);
HUDDLE_API void huddle_csr_free(huddle_csr *matrix);

/* Copy the arrays from the engine to the host if they are not there yet, so that they can be read.
 * The container's meaning does not change, which is why it is const. Fail as the engine does. */
HUDDLE_API huddle_status huddle_points_fetch(const huddle_points *points);
HUDDLE_API huddle_status huddle_dense_fetch(const huddle_dense *matrix);
HUDDLE_API huddle_status huddle_csr_fetch(const huddle_csr *matrix);

/* Points from doubles: value j of sample i is values[i * row_step + j * col_step], so that any
 * strided or transposed array can be passed. Columns that would lose their digits as float are
 * shifted (see huddle_points), by a value that depends on all rows, of all processes; a column of
 * equal values that float cannot represent is shifted by that value, so that a single row keeps all
 * its digits. HUDDLE_INVALID, naming row and column, on NaN, infinity or a value outside
 * the range of float. */
HUDDLE_API huddle_status huddle_points_from_double(huddle_context *context, int64_t n, int64_t d,
                                                   const double *values, int64_t row_step,
                                                   int64_t col_step, huddle_points *points);

/* The same with a given shift (d doubles, or NULL for none), for new points that will be compared
 * with points which have that shift. A row is rounded to the same floats whether it is converted
 * alone or together with others. HUDDLE_INVALID also if a value minus its shift is
 * outside the range of float. */
HUDDLE_API huddle_status huddle_points_from_double_shifted(huddle_context *context, int64_t n,
                                                           int64_t d, const double *values,
                                                           int64_t row_step, int64_t col_step,
                                                           const double *shift,
                                                           huddle_points *points);

/* Dense points converted to another shift (d doubles, or NULL for none); the caller frees y.
 * HUDDLE_INVALID if a value is then outside the range of float. */
HUDDLE_API huddle_status huddle_points_rebase(huddle_context *context, const huddle_points *x,
                                              const double *shift, huddle_points *y);

/* HUDDLE_INVALID, naming the place, if a size, a stride, an offset or a column is invalid,
 * or a value is NaN or infinite. Every function of a stage that takes points or graphs calls these.
 */
HUDDLE_API huddle_status huddle_points_check(huddle_context *context, const huddle_points *points);
HUDDLE_API huddle_status huddle_csr_check(const huddle_csr *matrix);

/* Copies with arrays of their own; the rows of the copy are contiguous. */
HUDDLE_API huddle_status huddle_points_copy(const huddle_points *points, huddle_points *copy);
HUDDLE_API huddle_status huddle_dense_copy(const huddle_dense *matrix, huddle_dense *copy);
HUDDLE_API huddle_status huddle_csr_copy(const huddle_csr *matrix, huddle_csr *copy);

/* y = the rows of x named by index[0 .. count - 1], copied. HUDDLE_INVALID if there is no such
 * row. */
HUDDLE_API huddle_status huddle_points_take(const huddle_points *x, const int64_t *index,
                                            int64_t count, huddle_points *y);

/* Which rows are equal, value by value: -0 equals 0, and zeros stored in a sparse row are ignored.
 * Distinct rows are numbered by their first occurrence. If no two rows are equal, count is
 * n and the arrays are NULL. */
typedef struct huddle_distinct {
    int64_t n;       /* rows */
    int64_t count;   /* distinct rows */
    int32_t *of;     /* n: the distinct row that each row equals */
    int64_t *first;  /* count: the first row equal to it */
    int64_t *copies; /* count: the number of rows equal to it */
} huddle_distinct;

/* Finds the distinct rows by hashing, in one pass over the values; rows of equal hash are compared
 * value by value. Rows of other processes are not compared. HUDDLE_NO_MEMORY, HUDDLE_UNSUPPORTED
 * for more than 2^31 - 1 rows. */
HUDDLE_API huddle_status huddle_points_distinct(huddle_context *context, const huddle_points *x,
                                                huddle_distinct *distinct);
HUDDLE_API huddle_status huddle_dense_distinct(huddle_context *context, const huddle_dense *x,
                                               huddle_distinct *distinct);
/* Which rows are equal in all of several matrices of n rows, of each of which it is known which
 * are.
 */
HUDDLE_API huddle_status huddle_distinct_join(huddle_context *context, int32_t count,
                                              const huddle_distinct *parts,
                                              huddle_distinct *distinct);
HUDDLE_API void huddle_distinct_free(huddle_distinct *distinct);

/* For graphs from elsewhere, which stages and scores expect to be symmetric: if two entries (i, j)
 * and (j, i) differ by more than one part in 1e9, part is (A + A')/2, as scikit-learn makes it of a
 * precomputed affinity, and a warning names the first such pair; otherwise part stays empty
 * (offsets == NULL), and the matrix can be used as it is. HUDDLE_INVALID if it is not square. */
HUDDLE_API huddle_status huddle_csr_symmetric_part(huddle_context *context,
                                                   const huddle_csr *matrix, huddle_csr *part);

/* The transpose, columns ascending. */
HUDDLE_API huddle_status huddle_csr_transpose(const huddle_csr *matrix, huddle_csr *transpose);

#endif
