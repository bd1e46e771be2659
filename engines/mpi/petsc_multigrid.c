/* Conjugate gradients for all right-hand sides at once, preconditioned by hypre's algebraic
 * multigrid (BoomerAMG): for matrices whose factor does not fit into memory. Each column has step
 * lengths of its own, but products, preconditioner and sums are taken for all of them together: one
 * reduction for each of the two sums of a step. */
#include "base/check.h"
#include "base/context.h"
#include "engines/mpi/mpi_engine.h"

#include <math.h>
#include <petscpc.h>

/* A step of the shrink stage needs 3 to 20 iterations; one that has not ended after these ends as
 * it is, since the stage's bound is valid for every x. */
enum { MAX_ITER = 300 };

/* Columns whose residual has fallen below this share of its beginning are no longer changed: their
 * step lengths would be quotients of rounding errors. */
static const double negligible = 1e-28;

typedef struct multigrid {
    hd_mpi_matrix matrix;
    PC pc;
    Mat residual, solved, direction, image; /* n x c */
    double *before, *first;                 /* c: r' M^-1 r of this iteration and the first */
    double *sums, *factor;                  /* c */
    double *is_open;                        /* c: 1, or 0 for a column that is solved */
} multigrid;

/* ---- setting up ---------------------------------------------------------------------------- */

static void multigrid_free(void *state) {
    multigrid *s = state;
    (void)PCDestroy(&s->pc);
    Mat *all[] = {&s->residual, &s->solved, &s->direction, &s->image};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        (void)MatDestroy(all[k]);
    hd_mpi_matrix_close(&s->matrix);
    FREE(s->before, s->first, s->sums, s->factor, s->is_open, s);
}

/* Coarsening by PMIS, extended+i interpolation with at most four coarse points: the settings that
 * were fastest, and leanest, on graphs of the shrink stage. hypre's options have no functions in
 * PETSc; a prefix keeps them apart from those of the program. */
static huddle_status create_preconditioner(multigrid *s) {
    huddle_status status = HUDDLE_OK;
    const char *what = "preparing BoomerAMG";
    static const char *const options[][2] = {{"-huddle_pc_hypre_boomeramg_coarsen_type", "PMIS"},
                                             {"-huddle_pc_hypre_boomeramg_interp_type", "ext+i"},
                                             {"-huddle_pc_hypre_boomeramg_P_max", "4"}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        TRY_PETSC(PetscOptionsSetValue(NULL, options[k][0], options[k][1]), what);
    TRY_PETSC(PCCreate(hd_mpi_communicator(s->matrix.context), &s->pc), what);
    TRY_PETSC(PCSetOptionsPrefix(s->pc, "huddle_"), what);
    TRY_PETSC(PCSetType(s->pc, PCHYPRE), what);
    TRY_PETSC(PCHYPRESetType(s->pc, "boomeramg"), what);
    TRY_PETSC(PCSetOperators(s->pc, s->matrix.a, s->matrix.a), what);
    TRY_PETSC(PCSetFromOptions(s->pc), what);
done:
    return status;
}

static huddle_status multigrid_analyse(huddle_context *context, const hd_shrink_linear_graph *graph,
                                       void **state) {
    huddle_status status = HUDDLE_OK;
    const char *what = "making a block of vectors";
    multigrid *s = NULL;
    ALLOC_ZERO(s, 1);
    *state = s;
    /* All of it before the first call that communicates. */
    ALLOC(s->before, graph->c);
    ALLOC(s->first, graph->c);
    ALLOC(s->sums, graph->c);
    ALLOC(s->factor, graph->c);
    ALLOC(s->is_open, graph->c);
    TRY(hd_mpi_matrix_open(context, graph, &s->matrix));
    TRY_PETSC(MatDuplicate(s->matrix.x, MAT_DO_NOT_COPY_VALUES, &s->residual), what);
    TRY_PETSC(MatDuplicate(s->matrix.x, MAT_DO_NOT_COPY_VALUES, &s->solved), what);
    TRY_PETSC(MatDuplicate(s->matrix.x, MAT_DO_NOT_COPY_VALUES, &s->direction), what);
    TRY(create_preconditioner(s));
done:
    return hd_agree(context, status);
}

static huddle_status multigrid_factor(void *state, const double *excess, const double *weight) {
    huddle_status status = HUDDLE_OK;
    multigrid *s = state;
    TRY(hd_agree(s->matrix.context, HUDDLE_OK));
    TRY(hd_mpi_matrix_set(&s->matrix, excess, weight));
    TRY_PETSC(PCSetOperators(s->pc, s->matrix.a, s->matrix.a), "setting up BoomerAMG");
    TRY_PETSC(PCSetUp(s->pc), "setting up BoomerAMG");
done:
    return hd_agree(s->matrix.context, status);
}

/* ---- conjugate gradients ------------------------------------------------------------------- */

/* image = A direction; the first product is set up for those that follow. */
static huddle_status apply_matrix(multigrid *s) {
    return hd_mpi_petsc_status(MatMatMult(s->matrix.a, s->direction,
                                          s->image == NULL ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX,
                                          PETSC_DEFAULT, &s->image),
                               "multiplying by a matrix");
}

/* The sum of the norms of the rows of the residual, over all processes. */
static huddle_status measure_residual(const multigrid *s, double *length) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->matrix.graph.n, c = s->matrix.graph.c;
    const double *r = NULL;
    *length = 0;
    TRY_PETSC(MatDenseGetArrayRead(s->residual, &r), "reading a dense matrix");
    for (int64_t v = 0; v < n; v++) {
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += r[k * n + v] * r[k * n + v];
        *length += sqrt(square);
    }
    TRY_PETSC(MatDenseRestoreArrayRead(s->residual, &r), "reading a dense matrix");
    TRY(hd_reduce_sum(s->matrix.context, 1, length));
done:
    return status;
}

/* sums[k] = a_k . b_k over all processes, for all columns k. */
static huddle_status multiply_columns(const multigrid *s, Mat a, Mat b) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->matrix.graph.n, c = s->matrix.graph.c;
    const double *x = NULL, *y = NULL;
    TRY_PETSC(MatDenseGetArrayRead(a, &x), "reading a dense matrix");
    TRY_PETSC(MatDenseGetArrayRead(b, &y), "reading a dense matrix");
    for (int64_t k = 0; k < c; k++) {
        double sum = 0;
        for (int64_t v = 0; v < n; v++)
            sum += x[k * n + v] * y[k * n + v];
        s->sums[k] = sum;
    }
    TRY_PETSC(MatDenseRestoreArrayRead(a, &x), "reading a dense matrix");
    TRY_PETSC(MatDenseRestoreArrayRead(b, &y), "reading a dense matrix");
    TRY(hd_reduce_sum(s->matrix.context, c, s->sums));
done:
    return status;
}

/* to_k = keep_k to_k + add_k from_k for all columns k; keep NULL: 1. */
static huddle_status mix_columns(const multigrid *s, Mat to, const double *keep, Mat from,
                                 const double *add) {
    huddle_status status = HUDDLE_OK;
    int64_t n = s->matrix.graph.n, c = s->matrix.graph.c;
    double *x = NULL;
    const double *y = NULL;
    TRY_PETSC(MatDenseGetArray(to, &x), "changing a dense matrix");
    TRY_PETSC(MatDenseGetArrayRead(from, &y), "reading a dense matrix");
    for (int64_t k = 0; k < c; k++)
        for (int64_t v = 0; v < n; v++)
            x[k * n + v] = (keep == NULL ? 1 : keep[k]) * x[k * n + v] + add[k] * y[k * n + v];
    TRY_PETSC(MatDenseRestoreArray(to, &x), "changing a dense matrix");
    TRY_PETSC(MatDenseRestoreArrayRead(from, &y), "reading a dense matrix");
done:
    return status;
}

/* direction = M^-1 residual + beta direction. */
static huddle_status turn_direction(multigrid *s, bool is_first) {
    huddle_status status = HUDDLE_OK;
    int64_t c = s->matrix.graph.c;
    TRY_PETSC(PCMatApply(s->pc, s->residual, s->solved), "applying BoomerAMG");
    TRY(multiply_columns(s, s->residual, s->solved));
    for (int64_t k = 0; k < c; k++) {
        if (is_first)
            s->first[k] = s->sums[k];
        s->is_open[k] = s->sums[k] > negligible * s->first[k];
        s->factor[k] = is_first || s->is_open[k] == 0 ? 0 : s->sums[k] / s->before[k];
        s->before[k] = s->sums[k];
    }
    TRY(mix_columns(s, s->direction, s->factor, s->solved, s->is_open));
done:
    return status;
}

/* x += alpha direction, residual -= alpha image. */
static huddle_status move_along(multigrid *s) {
    huddle_status status = HUDDLE_OK;
    int64_t c = s->matrix.graph.c;
    TRY(apply_matrix(s));
    TRY(multiply_columns(s, s->direction, s->image));
    for (int64_t k = 0; k < c; k++)
        s->factor[k] = s->is_open[k] > 0 && s->sums[k] > 0 ? s->before[k] / s->sums[k] : 0;
    TRY(mix_columns(s, s->matrix.x, NULL, s->direction, s->factor));
    for (int64_t k = 0; k < c; k++)
        s->factor[k] = -s->factor[k];
    TRY(mix_columns(s, s->residual, NULL, s->image, s->factor));
done:
    return status;
}

static huddle_status multigrid_solve(void *state, const double *r, double tolerance, double *x) {
    huddle_status status = HUDDLE_OK;
    multigrid *s = state;
    double length, begin;
    TRY(hd_agree(s->matrix.context, HUDDLE_OK));
    TRY(hd_mpi_rows_to_dense(&s->matrix, r, s->residual));
    TRY_PETSC(MatZeroEntries(s->matrix.x), "clearing a dense matrix");
    TRY_PETSC(MatZeroEntries(s->direction), "clearing a dense matrix");
    TRY(measure_residual(s, &begin));
    length = begin;
    for (int32_t k = 0; k < MAX_ITER && length > tolerance; k++) {
        /* Processes are cancelled at different times, and must stop in the same step. */
        TRY(hd_agree(s->matrix.context, hd_check_cancel(s->matrix.context)));
        TRY(turn_direction(s, k == 0));
        TRY(move_along(s));
        TRY(measure_residual(s, &length));
    }
    if (!(length <= begin))
        FAIL(HUDDLE_NUMERIC, "conjugate gradients with BoomerAMG diverge");
    TRY(hd_mpi_dense_to_rows(&s->matrix, s->matrix.x, x));
done:
    return hd_agree(s->matrix.context, status);
}

const hd_shrink_linear_solver hd_mpi_multigrid = {.name = "boomeramg",
                                                  .analyse = multigrid_analyse,
                                                  .factor = multigrid_factor,
                                                  .solve = multigrid_solve,
                                                  .free = multigrid_free};
