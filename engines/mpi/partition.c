/* Which process gets which row of a graph: PT-Scotch through PETSc's MatPartitioning. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <petscmat.h>

/* PETSc frees the arrays with its own function. Loops are left out, which PT-Scotch refuses. */
static huddle_status copy_pattern(int64_t n, int64_t first, const int64_t *offsets,
                                  const int32_t *columns, PetscInt **at, PetscInt **to) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    if (offsets[n] > INT32_MAX)
        FAIL(HUDDLE_UNSUPPORTED, "%lld edges on one process, more than 2^31: use more processes",
             (long long)offsets[n]);
    TRY_PETSC(PetscMalloc1((size_t)n + 1, at), "the partition of the graph");
    TRY_PETSC(PetscMalloc1((size_t)offsets[n] + 1, to), "the partition of the graph");
    for (int64_t i = 0; i < n; i++) {
        (*at)[i] = (PetscInt)count;
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++)
            if (columns[e] != first + i)
                (*to)[count++] = columns[e];
    }
    (*at)[n] = (PetscInt)count;
done:
    return status;
}

static huddle_status run_scotch(hd_mpi *m, Mat graph, int64_t n, int32_t *owner) {
    huddle_status status = HUDDLE_OK;
    MatPartitioning partitioning = NULL;
    IS processes = NULL;
    const PetscInt *found;
    const char *what = "the partition of the graph";
    TRY_PETSC(MatPartitioningCreate(m->comm, &partitioning), what);
    TRY_PETSC(MatPartitioningSetAdjacency(partitioning, graph), what);
    TRY_PETSC(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH), what);
    TRY_PETSC(MatPartitioningSetNParts(partitioning, m->count), what);
    TRY_PETSC(MatPartitioningPTScotchSetImbalance(partitioning, 0.02), what);
    TRY_PETSC(MatPartitioningApply(partitioning, &processes), what);
    TRY_PETSC(ISGetIndices(processes, &found), what);
    for (int64_t i = 0; i < n; i++)
        owner[i] = found[i];
    TRY_PETSC(ISRestoreIndices(processes, &found), what);
done:
    (void)ISDestroy(&processes);
    (void)MatPartitioningDestroy(&partitioning);
    return status;
}

/* Below this many rows for each process, the partition costs more than it saves. */
static const int64_t few_rows = 64;

huddle_status hd_mpi_partition(void *state, int64_t n, const int64_t *offsets,
                               const int32_t *columns, int32_t *owner) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    int64_t first, total;
    PetscInt *at = NULL, *to = NULL;
    Mat graph = NULL;
    TRY(hd_mpi_locate(m, n, &first, &total));
    for (int64_t i = 0; i < n; i++)
        owner[i] = m->rank;
    if (m->count == 1 || total < few_rows * m->count)
        goto done;
    TRY(copy_pattern(n, first, offsets, columns, &at, &to));
    TRY(hd_mpi_meet(m, HD_MPI_PETSC, 0));
    TRY_PETSC(MatCreateMPIAdj(m->comm, (PetscInt)n, (PetscInt)total, at, to, NULL, &graph),
              "the partition of the graph");
    at = to = NULL; /* now the matrix's */
    TRY(run_scotch(m, graph, n, owner));
done:
    (void)PetscFree(at);
    (void)PetscFree(to);
    (void)MatDestroy(&graph);
    return hd_mpi_leave(m, status);
}
