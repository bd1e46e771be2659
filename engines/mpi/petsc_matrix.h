/* The matrix of the shrink stage in the form of PETSc, for the linear solvers of the engine. */
#ifndef HUDDLE_ENGINES_MPI_MATRIX_H
#define HUDDLE_ENGINES_MPI_MATRIX_H

#include "base/context.h"
#include "engines/mpi/mpi_engine.h"

#include <petscmat.h>

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

/* petsc_multigrid.c */
extern const hd_shrink_linear_solver hd_mpi_multigrid;

#endif
