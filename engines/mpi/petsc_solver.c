/* The linear systems of a component of W that all processes solve together (src/shrink/linear.h),
 * by MUMPS, a parallel Cholesky factorisation; petsc_multigrid.c has the solver for matrices whose
 * factor does not fit into memory. What both share, the matrix, is here too. */
#include "base/check.h"
#include "base/context.h"
#include "base/machine.h"
#include "engines/mpi/mpi_engine.h"

/* A factor may take this share of the memory that is available to the processes of a machine:
 * MUMPS's estimate can be exceeded, and other arrays of the solve come after the analysis. */
static const double memory_share = .5;

/* Above so many rows the ordering is computed by all processes (PT-Scotch), since no process may
 * hold the whole graph; below, a sequential ordering gives less fill. */
static const int64_t sequential_rows = 3000000;

/* Room beyond MUMPS's estimate of its workspace, in percent, and how often it is doubled if that
 * was too little. */
enum { WORKSPACE = 40, MAX_GROWTH = 3 };

/* ---- the matrix ---------------------------------------------------------------------------- */

/* Adds an entry to a row that ends at *end so far. PETSc wants ascending columns; rows are short.
 */
static void insert_entry(hd_mpi_matrix *m, int32_t v, int64_t *end, PetscInt column, int64_t edge) {
    int64_t at = (*end)++;
    for (; at > m->offsets[v] && m->columns[at - 1] > column; at--) {
        m->columns[at] = m->columns[at - 1];
        m->edge[at] = m->edge[at - 1];
    }
    m->columns[at] = column;
    m->edge[at] = edge;
}

/* Entries of each row: the diagonal and one per edge. Columns are numbers among the rows of all
 * processes, which the halo knows. */
static huddle_status list_entries(hd_mpi_matrix *m, PetscInt first) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_linear_graph *g = &m->graph;
    int64_t rows = g->n + (g->halo != NULL ? g->halo->ghosts : 0), at = 0;
    int32_t *number = NULL;
    ALLOC(number, rows);
    for (int32_t v = 0; v < g->n; v++)
        number[v] = first + v;
    if (g->halo != NULL)
        TRY(hd_halo_fetch(g->halo, number, sizeof *number));
    for (int32_t v = 0; v < g->n; v++) {
        m->offsets[v] = (PetscInt)at;
        insert_entry(m, v, &at, number[v], -1);
        for (int64_t k = g->incident_at[v]; k < g->incident_at[v + 1]; k++) {
            int64_t e = (int64_t)(g->incident[k] >> 1) - g->first_edge;
            if (e >= g->m)
                continue;
            insert_entry(m, v, &at,
                         number[(g->incident[k] & 1 ? g->head[e] : g->tail[e]) - g->base], e);
        }
    }
    m->offsets[g->n] = (PetscInt)at;
done:
    huddle_free(number);
    return status;
}

/* Both triangles with an explicit diagonal; the numbers come with hd_mpi_matrix_set(). */
static huddle_status create_matrix(hd_mpi_matrix *m, MPI_Comm comm) {
    huddle_status status = HUDDLE_OK;
    const char *what = "making a matrix";
    PetscInt n = m->graph.n, c = (PetscInt)m->graph.c;
    TRY_PETSC(MatCreateMPIAIJWithArrays(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, m->offsets,
                                        m->columns, m->values, &m->a),
              what);
    TRY_PETSC(MatSetOption(m->a, MAT_SPD, PETSC_TRUE), what);
    TRY_PETSC(MatCreateDense(comm, n, PETSC_DECIDE, PETSC_DETERMINE, c, NULL, &m->right), what);
    TRY_PETSC(MatDuplicate(m->right, MAT_DO_NOT_COPY_VALUES, &m->x), what);
done:
    return status;
}

huddle_status hd_mpi_matrix_open(huddle_context *context, const hd_shrink_linear_graph *graph,
                                 hd_mpi_matrix *m) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    int64_t entries = graph->n;
    *m = (hd_mpi_matrix){.context = context, .graph = *graph};
    TRY(hd_slab_locate(context, graph->n, &slab));
    m->n_rows = slab.total;
    for (int64_t k = 0; k < graph->incident_at[graph->n] - graph->incident_at[0]; k++)
        entries += (int64_t)(graph->incident[graph->incident_at[0] + k] >> 1) - graph->first_edge <
                   graph->m;
    if (slab.total > PETSC_MAX_INT || entries > PETSC_MAX_INT ||
        graph->n * graph->c > PETSC_MAX_INT)
        FAIL(HUDDLE_UNSUPPORTED,
             "a linear system of %lld rows, %lld of them on this process, is more than PETSc's "
             "32-bit numbers can count",
             (long long)slab.total, (long long)graph->n);
    ALLOC_ZERO(m->offsets, graph->n + 1);
    ALLOC(m->columns, entries);
    ALLOC_ZERO(m->values, entries);
    ALLOC(m->edge, entries);
    TRY(list_entries(m, (PetscInt)slab.first));
    TRY(hd_agree(context,
                 HUDDLE_OK)); /* PETSc's calls are collective, and cannot be told of failures */
    TRY(create_matrix(m, hd_mpi_communicator(context)));
done:
    return status;
}

void hd_mpi_matrix_close(hd_mpi_matrix *m) {
    (void)MatDestroy(&m->a);
    (void)MatDestroy(&m->right);
    (void)MatDestroy(&m->x);
    FREE(m->offsets, m->columns, m->values, m->edge);
}

huddle_status hd_mpi_matrix_set(hd_mpi_matrix *m, const double *excess, const double *weight) {
    huddle_status status = HUDDLE_OK;
    for (int32_t v = 0; v < m->graph.n; v++) {
        PetscInt diagonal = 0;
        double sum = excess[v];
        for (PetscInt at = m->offsets[v]; at < m->offsets[v + 1]; at++) {
            if (m->edge[at] < 0) {
                diagonal = at;
                continue;
            }
            m->values[at] = -weight[m->edge[at]];
            sum += weight[m->edge[at]];
        }
        m->values[diagonal] = sum;
    }
    TRY_PETSC(MatUpdateMPIAIJWithArray(m->a, m->values), "setting the numbers of a matrix");
done:
    return status;
}

/* PETSc stores dense matrices column by column. */
huddle_status hd_mpi_rows_to_dense(const hd_mpi_matrix *m, const double *rows, Mat dense) {
    huddle_status status = HUDDLE_OK;
    int64_t n = m->graph.n, c = m->graph.c;
    double *values = NULL;
    TRY_PETSC(MatDenseGetArrayWrite(dense, &values), "writing a dense matrix");
    for (int64_t v = 0; v < n; v++)
        for (int64_t k = 0; k < c; k++)
            values[k * n + v] = rows[v * c + k];
    TRY_PETSC(MatDenseRestoreArrayWrite(dense, &values), "writing a dense matrix");
done:
    return status;
}

huddle_status hd_mpi_dense_to_rows(const hd_mpi_matrix *m, Mat dense, double *rows) {
    huddle_status status = HUDDLE_OK;
    int64_t n = m->graph.n, c = m->graph.c;
    const double *values = NULL;
    TRY_PETSC(MatDenseGetArrayRead(dense, &values), "reading a dense matrix");
    for (int64_t v = 0; v < n; v++)
        for (int64_t k = 0; k < c; k++)
            rows[v * c + k] = values[k * n + v];
    TRY_PETSC(MatDenseRestoreArrayRead(dense, &values), "reading a dense matrix");
done:
    return status;
}

/* ---- MUMPS --------------------------------------------------------------------------------- */

typedef struct direct {
    hd_mpi_matrix matrix;
    Mat factor;
    bool fits; /* the factor, into memory: decided alike by all processes */
} direct;

static void direct_free(void *state) {
    direct *s = state;
    (void)MatDestroy(&s->factor);
    hd_mpi_matrix_close(&s->matrix);
    huddle_free(s);
}

/* The symbolic factorisation. ICNTL(28): analysis by one process (1) or all (2), the latter with
 * PT-Scotch (ICNTL(29) = 1); ICNTL(14): workspace in percent beyond the estimate. */
static huddle_status analyse_factor(direct *s) {
    huddle_status status = HUDDLE_OK;
    const char *what = "the analysis of MUMPS";
    bool all = s->matrix.n_rows > sequential_rows;
    MatFactorInfo info;
    TRY_PETSC(MatGetFactor(s->matrix.a, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &s->factor), what);
    TRY_PETSC(MatMumpsSetIcntl(s->factor, 28, all ? 2 : 1), what);
    TRY_PETSC(MatMumpsSetIcntl(s->factor, 29, 1), what);
    TRY_PETSC(MatMumpsSetIcntl(s->factor, 14, WORKSPACE), what);
    TRY_PETSC(MatFactorInfoInitialize(&info), what);
    TRY_PETSC(MatCholeskyFactorSymbolic(s->factor, s->matrix.a, NULL, &info), what);
done:
    return status;
}

/* Compares MUMPS's estimate for each process, INFOG(16) in megabytes, with the memory of the
 * machine, which the processes there share. */
static huddle_status check_memory(direct *s) {
    huddle_status status = HUDDLE_OK;
    PetscInt megabytes = 0;
    TRY_PETSC(MatMumpsGetInfog(s->factor, 16, &megabytes), "reading the estimate of MUMPS");
    double sharing = s->matrix.context->n_sharing > 0 ? s->matrix.context->n_sharing : 1;
    double excess =
        1e6 * (double)megabytes - memory_share * (double)hd_machine_available("") / sharing;
    TRY(hd_reduce_max(s->matrix.context, 1, &excess));
    s->fits = excess <= 0;
done:
    return status;
}

static huddle_status direct_analyse(huddle_context *context, const hd_shrink_linear_graph *graph,
                                    void **state) {
    huddle_status status = HUDDLE_OK;
    direct *s = NULL;
    ALLOC_ZERO(s, 1);
    *state = s;
    TRY(hd_mpi_matrix_open(context, graph, &s->matrix));
    TRY(analyse_factor(s));
    TRY(check_memory(s));
done:
    return hd_agree(context, status);
}

static bool direct_fits(const void *state) {
    return ((const direct *)state)->fits;
}

/* The numeric factorisation. MUMPS may need more workspace than it estimated (INFOG(1) = -8 or -9,
 * reported as a lack of memory); it is then tried again with more. */
static huddle_status direct_factor(void *state, const double *excess, const double *weight) {
    huddle_status status = HUDDLE_OK;
    direct *s = state;
    const char *what = "the factorisation of MUMPS";
    MatFactorError error = MAT_FACTOR_NOERROR;
    MatFactorInfo info;
    PetscInt room = WORKSPACE;
    TRY(hd_agree(s->matrix.context, HUDDLE_OK));
    TRY(hd_mpi_matrix_set(&s->matrix, excess, weight));
    TRY_PETSC(MatFactorInfoInitialize(&info), what);
    for (int attempt = 0; attempt <= MAX_GROWTH; attempt++) {
        TRY_PETSC(MatCholeskyFactorNumeric(s->factor, s->matrix.a, &info), what);
        TRY_PETSC(MatFactorGetError(s->factor, &error), what);
        if (error != MAT_FACTOR_OUTMEMORY)
            break;
        room *= 2;
        TRY_PETSC(MatMumpsSetIcntl(s->factor, 14, room), what);
        TRY_PETSC(MatFactorClearError(s->factor), what);
    }
    if (error == MAT_FACTOR_OUTMEMORY)
        FAIL(HUDDLE_NO_MEMORY, "MUMPS has no memory for the factor of %lld rows",
             (long long)s->matrix.n_rows);
    if (error != MAT_FACTOR_NOERROR)
        FAIL(HUDDLE_NUMERIC, "MUMPS cannot factorise a matrix of %lld rows (%d)",
             (long long)s->matrix.n_rows, (int)error);
done:
    return hd_agree(s->matrix.context, status);
}

static huddle_status direct_solve(void *state, const double *r, double tolerance, double *x) {
    huddle_status status = HUDDLE_OK;
    direct *s = state;
    (void)tolerance;
    TRY(hd_agree(s->matrix.context, HUDDLE_OK));
    TRY(hd_mpi_rows_to_dense(&s->matrix, r, s->matrix.right));
    TRY_PETSC(MatMatSolve(s->factor, s->matrix.right, s->matrix.x), "solving with MUMPS");
    TRY(hd_mpi_dense_to_rows(&s->matrix, s->matrix.x, x));
done:
    return hd_agree(s->matrix.context, status);
}

const hd_shrink_linear_solver hd_mpi_linear_solver = {.name = "mumps",
                                                      .is_direct = true,
                                                      .analyse = direct_analyse,
                                                      .factor = direct_factor,
                                                      .solve = direct_solve,
                                                      .fits = direct_fits,
                                                      .free = direct_free,
                                                      .next = &hd_mpi_multigrid};
