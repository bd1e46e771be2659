/* Rows of other processes. PETSc's star forest (PetscSF) packs, sends and unpacks them; the star
 * forest is set up once for a matrix, and a fetch costs one message to and from each neighbouring
 * process. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <petscsf.h>
#include <stdlib.h>

typedef struct halo {
    hd_mpi *mpi;
    int64_t n, ghosts;
    PetscSF forest;  /* roots: own rows of all processes; leaves: the ghosts of this one */
    size_t row_size; /* of the type below */
    MPI_Datatype row;
} halo;

void hd_mpi_close_halo(void *handle) {
    halo *h = handle;
    if (h->row != MPI_DATATYPE_NULL)
        MPI_Type_free(&h->row);
    (void)PetscSFDestroy(&h->forest);
    huddle_free(h);
}

static int compare_rows(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The distinct columns outside of first .. first + n - 1, ascending, so that the ghosts of one
 * process are consecutive. */
static huddle_status list_ghosts(int64_t first, int64_t n, int64_t count, const int32_t *columns,
                                 int64_t *ghosts, int32_t **list) {
    huddle_status status = HUDDLE_OK;
    int64_t found = 0, distinct = 0;
    for (int64_t e = 0; e < count; e++)
        found += columns[e] < first || columns[e] >= first + n;
    ALLOC(*list, found);
    found = 0;
    for (int64_t e = 0; e < count; e++)
        if (columns[e] < first || columns[e] >= first + n)
            (*list)[found++] = columns[e];
    qsort(*list, (size_t)found, sizeof **list, compare_rows);
    for (int64_t k = 0; k < found; k++)
        if (distinct == 0 || (*list)[k] != (*list)[distinct - 1])
            (*list)[distinct++] = (*list)[k];
    *ghosts = distinct;
done:
    return status;
}

/* Leaf k is row n + k of the local array and row list[k] of all. */
static huddle_status make_forest(halo *h, const int64_t *offsets, const int32_t *list) {
    huddle_status status = HUDDLE_OK;
    PetscSFNode *remote = NULL;
    PetscInt *local = NULL;
    int owner = 0;
    ALLOC(remote, h->ghosts);
    ALLOC(local, h->ghosts);
    for (int64_t k = 0; k < h->ghosts; k++) {
        while (list[k] >= offsets[owner + 1])
            owner++;
        remote[k] = (PetscSFNode){.rank = owner, .index = (PetscInt)(list[k] - offsets[owner])};
        local[k] = (PetscInt)(h->n + k);
    }
    TRY(hd_mpi_enter(h->mpi, HD_MPI_HALO, 0));
    TRY_PETSC(PetscSFCreate(h->mpi->comm, &h->forest), "listing the rows to fetch");
    TRY_PETSC(PetscSFSetGraph(h->forest, (PetscInt)h->n, (PetscInt)h->ghosts, local,
                              PETSC_COPY_VALUES, remote, PETSC_COPY_VALUES),
              "listing the rows to fetch");
    TRY_PETSC(PetscSFSetUp(h->forest), "listing the rows to fetch");
done:
    FREE(remote, local);
    return hd_mpi_leave(h->mpi, status);
}

huddle_status hd_mpi_open_halo(void *state, int64_t n, int64_t count, int32_t *columns,
                               int64_t *ghosts, void **handle) {
    hd_mpi *m = state;
    huddle_status status = HUDDLE_OK;
    int64_t *offsets = NULL;
    int32_t *list = NULL;
    halo *h = NULL;
    *ghosts = 0;
    *handle = NULL;
    ALLOC(offsets, m->count + 1);
    TRY(hd_mpi_layout(m, n, offsets));
    ALLOC_ZERO(h, 1);
    h->mpi = m;
    h->n = n;
    h->row = MPI_DATATYPE_NULL;
    int64_t first = offsets[m->rank];
    for (int64_t e = 0; e < count; e++)
        if (columns[e] < 0 || columns[e] >= offsets[m->count])
            FAIL(HUDDLE_INTERNAL, "column %d of a matrix of %lld rows", columns[e],
                 (long long)offsets[m->count]);
    TRY(list_ghosts(first, n, count, columns, &h->ghosts, &list));
    TRY(make_forest(h, offsets, list));
    for (int64_t e = 0; e < count; e++) {
        bool own = columns[e] >= first && columns[e] < first + n;
        const int32_t *ghost =
            own ? NULL : bsearch(&columns[e], list, (size_t)h->ghosts, sizeof *list, compare_rows);
        columns[e] = (int32_t)(own ? columns[e] - first : n + (ghost - list));
    }
    *ghosts = h->ghosts;
    *handle = h;
    h = NULL;
done:
    FREE(offsets, list);
    if (h != NULL)
        hd_mpi_close_halo(h);
    return hd_mpi_leave(m, status);
}

/* PETSc keeps buffers for each type, so that one type is kept as long as the rows have its size. */
static void choose_type(halo *h, size_t row_size) {
    if (h->row_size == row_size)
        return;
    if (h->row != MPI_DATATYPE_NULL)
        MPI_Type_free(&h->row);
    h->row_size = row_size;
    MPI_Type_contiguous((int)row_size, MPI_BYTE, &h->row);
    MPI_Type_commit(&h->row);
}

huddle_status hd_mpi_fetch_halo(void *handle, void *rows, size_t row_size) {
    halo *h = handle;
    huddle_status status = HUDDLE_OK;
    if (h->mpi->count == 1)
        return status;
    TRY(hd_mpi_enter(h->mpi, HD_MPI_FETCH, (int64_t)row_size));
    choose_type(h, row_size);
    TRY_PETSC(PetscSFBcastBegin(h->forest, h->row, rows, rows, MPI_REPLACE), "fetching rows");
    TRY_PETSC(PetscSFBcastEnd(h->forest, h->row, rows, rows, MPI_REPLACE), "fetching rows");
done:
    return hd_mpi_leave(h->mpi, status);
}
