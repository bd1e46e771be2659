/* What the files of the engine share. Every process runs the same code on its slab of rows; the
 * hooks of base/engine.h are built on MPI and on PETSc, which also solves linear systems. */
#ifndef HUDDLE_ENGINES_MPI_H
#define HUDDLE_ENGINES_MPI_H

#include "base/engine.h"
#include "shrink/linear.h"

#include <mpi.h>
#include <petscmat.h>

/* The state of an engine: a communicator of its own, so that messages never meet those of the
 * program that uses the library. */
typedef struct hd_mpi {
    MPI_Comm comm;
    int32_t rank, count;
    int64_t few_rows;     /* problems up to this size are solved by one process */
    huddle_status agreed; /* the failure that all processes have agreed on last, or HUDDLE_OK */
    char message[1100];   /* and what it said */
} hd_mpi;

/* ---- engine.c ------------------------------------------------------------------------------ */

/* The communicator of a context with this engine. */
MPI_Comm hd_mpi_communicator(const huddle_context *context);

/* ---- collective.c: one status for all ------------------------------------------------------ */

/* Collective calls. A process that is in another call than the others, or in the same with
 * another count, is a mistake of the program, which would otherwise end in a deadlock. */
typedef enum hd_mpi_call {
    HD_MPI_AGREE = 1,
    HD_MPI_LOCATE,
    HD_MPI_REDUCE,
    HD_MPI_EXCHANGE,
    HD_MPI_PASS,
    HD_MPI_HALO,
    HD_MPI_FETCH,
    HD_MPI_PARTITION
} hd_mpi_call;

/* Every call that communicates begins here: HUDDLE_OK if all processes entered with the same call
 * and count. Else the status of the first process that failed, with its message, on all of them. So
 * a process that fails tells the others at once, whatever call they are in. */
huddle_status hd_mpi_enter(hd_mpi *m, hd_mpi_call call, int64_t count);

/* What a call that communicates returns: a failure is told to the others, success needs no message.
 */
huddle_status hd_mpi_leave(hd_mpi *m, huddle_status status);
huddle_status hd_mpi_agree(void *state, huddle_status status);

/* ---- messages.c ---------------------------------------------------------------------------- */

void hd_mpi_place(const void *state, int32_t *rank, int32_t *count);
huddle_status hd_mpi_locate(void *state, int64_t n, int64_t *first, int64_t *total);
huddle_status hd_mpi_reduce(void *state, hd_reduction operation, int64_t count, double *values);
huddle_status hd_mpi_exchange(void *state, const int64_t *sizes, const void *send,
                              int64_t *received_sizes, void **received);
huddle_status hd_mpi_start_pass(void *state, const void *send, int64_t size, void *received,
                                int64_t received_size, void **transfer);
huddle_status hd_mpi_finish_pass(void *transfer);

/* The first row of each process, and the rows of all at the end: count + 1 offsets. */
huddle_status hd_mpi_layout(hd_mpi *m, int64_t n, int64_t *offsets);

/* ---- halo.c, partition.c: PETSc's star forests and PT-Scotch --------------------------------- */

huddle_status hd_mpi_open_halo(void *state, int64_t n, int64_t count, int32_t *columns,
                               int64_t *ghosts, void **halo);
huddle_status hd_mpi_fetch_halo(void *halo, void *rows, size_t row_size);
void hd_mpi_close_halo(void *halo);
huddle_status hd_mpi_partition(void *state, int64_t n, const int64_t *offsets,
                               const int32_t *columns, int32_t *owner);

/* ---- petsc.c ------------------------------------------------------------------------------- */

/* Starts PETSc on a communicator, once in a process; its errors are returned, not printed. */
huddle_status hd_mpi_petsc_begin(MPI_Comm comm);

/* HUDDLE_OK, or a failure with the message of PETSc's error. */
huddle_status hd_mpi_petsc_status(PetscErrorCode code, const char *what);

/* Goes to done with that failure; `what` says what was attempted. */
#define TRY_PETSC(call, what) TRY(hd_mpi_petsc_status((call), (what)))

/* ---- petsc_solver.c, petsc_multigrid.c ----------------------------------------------------- */

/* The solver for factors that fit into memory, and the one for all others. */
extern const hd_shrink_linear_solver hd_mpi_linear_solver, hd_mpi_multigrid;

/* The matrix of the shrink stage in the form of PETSc, which both share. */
typedef struct hd_mpi_matrix {
    huddle_context *context;
    hd_shrink_linear_graph graph;
    int64_t n_rows; /* of all processes */
    PetscInt *offsets, *columns;
    double *values;
    int64_t *edge; /* of each entry: the edge, or -1: the diagonal */
    Mat a;
    Mat right, x; /* n x c */
} hd_mpi_matrix;

/* The pattern, which stays; a failure leaves what hd_mpi_matrix_close() frees. */
huddle_status hd_mpi_matrix_open(huddle_context *context, const hd_shrink_linear_graph *graph,
                                 hd_mpi_matrix *matrix);
void hd_mpi_matrix_close(hd_mpi_matrix *matrix);

/* The numbers. */
huddle_status hd_mpi_matrix_set(hd_mpi_matrix *matrix, const double *excess, const double *weight);

/* Rows of c numbers, as the stage has them, to and from a dense matrix of PETSc. */
huddle_status hd_mpi_rows_to_dense(const hd_mpi_matrix *matrix, const double *rows, Mat dense);
huddle_status hd_mpi_dense_to_rows(const hd_mpi_matrix *matrix, Mat dense, double *rows);

#endif
