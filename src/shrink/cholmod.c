/* Sparse Cholesky factorisation by CHOLMOD (Chen, Davis, Hager and Rajamanickam 2008): analysed
 * once, refactorised with new values in each step. Its supernodal part is licensed under the GPL,
 * so a build without it leaves this file empty.
 *
 * The interface with 64-bit indices is used throughout: with 32 bits the analysis itself fails as
 * soon as the factor would have 2^31 entries, without reporting how large it is. */
#include "shrink/linear.h"

#if HUDDLE_GPL

#include "base/blas.h"
#include "base/check.h"
#include "shrink/triangles.h"

#include <cholmod.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "CHOLMOD's long has 64 bits");

/* "auto" never uses a factor larger than this, or than this share of the memory. */
static const double max_bytes = 4e9, memory_share = .5;

/* "auto" uses a factor of at most this many operations per number of the problem ((n + m) c), which
 * is about the cost of one iterative solve, plus a number that is always affordable. Fill depends
 * on the shape of the graph more than on its size: it is small for embeddings of real data and
 * large for isotropic clouds. Measured with `bench_shrink n=...` and linear_solver = cholmod and
 * approximate; docs/results.md, "Speed", has the case where the factor is too large. */
static const double operations_per_number = 3000, free_operations = 1e8;

/* A factor of at least this many operations by minimum degree is also analysed by nested dissection
 * (METIS), which takes about three times as long, once, and is kept if it needs fewer: a quarter on
 * 70,000 digits (8e9 to 1.9e9 operations), about the same on small graphs. Above so many times the
 * affordable number no order would help. */
static const double dissected_operations = 5e8, hopeless_factor = 30;

/* If rounding has made the matrix indefinite, its diagonal is raised by this relative amount, then
 * by 100 times more, and so on. */
static const double first_shift = 1e-14;
enum { MAX_ATTEMPTS = 5 };

typedef struct direct {
    hd_shrink_linear_graph graph;
    cholmod_common common;
    cholmod_sparse *matrix; /* lower triangle */
    cholmod_factor *factor;
    double operations, entries;              /* of the factor, by its analysis */
    uint32_t *edge_at;                       /* m: where each edge lies in the matrix */
    double *work;                            /* n x c: rows in the order of elimination */
    cholmod_dense *right, *solution, *y, *e; /* for a supernodal factor */
} direct;

/* Bytes of the factor that the analysis predicts. A supernodal factor stores its diagonal blocks as
 * full squares and one list of rows per supernode; a simplicial one stores a row index with each
 * entry. */
static double factor_bytes(const direct *d) {
    const cholmod_factor *factor = d->factor;
    if (factor->is_super)
        return 8 * ((double)factor->xsize + (double)factor->ssize);
    return 16 * d->entries;
}

/* The memory of this machine, or the limit on the address space of this process if that is
 * smaller. */
static double memory_bytes(void) {
    double bytes = INFINITY;
    struct rlimit limit;
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        bytes = (double)pages * (double)size;
#endif
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = fmin(bytes, (double)limit.rlim_cur);
    return bytes;
}

/* The status and message for the failure of CHOLMOD's last call. */
static huddle_status report_failure(const direct *d, const char *what) {
    const hd_shrink_linear_graph *g = &d->graph;
    switch (d->common.status) {
    case CHOLMOD_OUT_OF_MEMORY:
        if (d->factor != NULL)
            return hd_fail(HUDDLE_NO_MEMORY,
                           "no memory to %s a matrix of %d rows whose factor takes %.2g GB; "
                           "linear_solver = approximate needs less",
                           what, g->n, 1e-9 * factor_bytes(d));
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to %s a matrix of %d rows and %lld edges", what,
                       g->n, (long long)g->m);
    case CHOLMOD_TOO_LARGE:
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "the factor of a matrix of %d rows and %lld edges is too large for "
                       "linear_solver = cholmod; use approximate",
                       g->n, (long long)g->m);
    default:
        return hd_fail(HUDDLE_NUMERIC, "CHOLMOD could not %s a matrix of %d rows (status %d)", what,
                       g->n, d->common.status);
    }
}

static void direct_free(void *state) {
    direct *d = state;
    cholmod_l_free_sparse(&d->matrix, &d->common);
    cholmod_l_free_factor(&d->factor, &d->common);
    cholmod_l_free_dense(&d->right, &d->common);
    cholmod_l_free_dense(&d->solution, &d->common);
    cholmod_l_free_dense(&d->y, &d->common);
    cholmod_l_free_dense(&d->e, &d->common);
    cholmod_l_finish(&d->common);
    FREE(d->edge_at, d->work, d);
}

/* The pattern of the lower triangle by columns, built with a counting sort: the diagonal entry
 * first, then the edges whose smaller end is the column. Rows within a column need not be sorted.
 * start[] serves as a cursor, and is shifted back by one place at the end. */
static void set_pattern(direct *d) {
    const hd_shrink_linear_graph *g = &d->graph;
    int64_t *start = d->matrix->p, *row = d->matrix->i;
    memset(start, 0, ((size_t)g->n + 1) * sizeof *start);
    for (int64_t e = 0; e < g->m; e++) {
        int32_t a = g->head[e] - g->base, b = g->tail[e] - g->base;
        start[(a < b ? a : b) + 1]++;
    }
    for (int32_t v = 0; v < g->n; v++)
        start[v + 1] += start[v] + 1;
    for (int32_t v = 0; v < g->n; v++)
        row[start[v]++] = v;
    for (int64_t e = 0; e < g->m; e++) {
        int32_t a = g->head[e] - g->base, b = g->tail[e] - g->base;
        int64_t place = start[a < b ? a : b]++;
        row[place] = a < b ? b : a;
        d->edge_at[e] = (uint32_t)place;
    }
    memmove(start + 1, start, (size_t)g->n * sizeof *start);
    start[0] = 0;
}

/* The operations that "auto" affords for this graph. */
static double affordable(const hd_shrink_linear_graph *graph) {
    double size = ((double)graph->n + (double)graph->m) * (double)graph->c;
    return operations_per_number * size + free_operations;
}

/* METIS draws its random numbers from rand(), which it seeds at the start of every call: one call
 * at a time makes its orders the same for any number of threads. */
static pthread_mutex_t dissecting = PTHREAD_MUTEX_INITIALIZER;

/* Analyses with another order, and keeps the factor of fewer operations. A build of CHOLMOD without
 * METIS reports an error, and the order by minimum degree remains. */
static void try_dissection(direct *d) {
    cholmod_factor *other;
    pthread_mutex_lock(&dissecting);
    d->common.method[0].ordering = CHOLMOD_METIS;
    other = cholmod_l_analyze(d->matrix, &d->common);
    pthread_mutex_unlock(&dissecting);
    if (other != NULL && d->common.status == CHOLMOD_OK && d->common.fl < d->operations) {
        cholmod_factor *swap = d->factor;
        d->factor = other;
        other = swap;
        d->operations = d->common.fl;
        d->entries = d->common.lnz;
    }
    cholmod_l_free_factor(&other, &d->common);
    d->common.status = CHOLMOD_OK;
}

/* Orders by approximate minimum degree (AMD), and if that is not cheap by nested dissection, and
 * lets CHOLMOD choose between a simplicial and a supernodal factor. */
static huddle_status direct_analyse(huddle_context *context, const hd_shrink_linear_graph *graph,
                                    void **state) {
    huddle_status status = HUDDLE_OK;
    direct *d = NULL;
    (void)context;
    ALLOC_ZERO(d, 1);
    *state = d;
    d->graph = *graph;
    cholmod_l_start(&d->common);
    d->common.print = 0;
    d->common.quick_return_if_not_posdef = 1;
    d->common.nmethods = 1;
    d->common.method[0].ordering = CHOLMOD_AMD;
    d->common.postorder = 1;
    ALLOC(d->edge_at, graph->m);
    ALLOC(d->work, graph->n * graph->c);
    d->matrix =
        cholmod_l_allocate_sparse((size_t)graph->n, (size_t)graph->n, (size_t)(graph->n + graph->m),
                                  0, 1, -1, CHOLMOD_REAL, &d->common);
    if (d->matrix == NULL)
        TRY(report_failure(d, "hold"));
    set_pattern(d);
    d->factor = cholmod_l_analyze(d->matrix, &d->common);
    if (d->factor == NULL)
        TRY(report_failure(d, "analyse"));
    d->operations = d->common.fl;
    d->entries = d->common.lnz;
    if (d->operations >= dissected_operations &&
        d->operations <= hopeless_factor * affordable(graph))
        try_dissection(d);
done:
    return status;
}

/* Compares the operations and bytes that the analysis predicts with the limits above. */
static bool direct_fits(const void *state) {
    const direct *d = state;
    return d->operations <= affordable(&d->graph) &&
           factor_bytes(d) <= fmin(max_bytes, memory_share * memory_bytes());
}

/* Sets the values of M: -w_e for each edge, and on the diagonal the excess plus the weights of the
 * edges of the vertex. Summed in the order of edges, so that refactoring gives the same bits. */
static void set_values(direct *d, const double *excess, const double *weight) {
    const hd_shrink_linear_graph *g = &d->graph;
    const int64_t *start = d->matrix->p;
    double *value = d->matrix->x;
    for (int32_t v = 0; v < g->n; v++)
        value[start[v]] = excess[v];
    for (int64_t e = 0; e < g->m; e++) {
        value[d->edge_at[e]] = -weight[e];
        value[start[g->head[e] - g->base]] += weight[e];
        value[start[g->tail[e] - g->base]] += weight[e];
    }
}

/* An allocation beyond the physical memory may succeed, and the process be killed when it is used;
 * so the size is checked before the first factorisation. */
static huddle_status check_memory(const direct *d) {
    double needed = factor_bytes(d), memory = memory_bytes();
    if (needed <= memory)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_NO_MEMORY,
                   "linear_solver = cholmod: the factor of a matrix of %d rows takes %.2g GB, and "
                   "there are %.2g GB of memory; use approximate",
                   d->graph.n, 1e-9 * needed, 1e-9 * memory);
}

/* CHOLMOD uses the BLAS inside supernodes: hd_blas_enter() keeps it to one thread, so that the bits
 * do not depend on the number of threads. */
static huddle_status direct_factor(void *state, const double *excess, const double *weight) {
    huddle_status status = HUDDLE_OK;
    direct *d = state;
    int factored = 0;
    if (d->factor->xtype == CHOLMOD_PATTERN) /* not allocated yet */
        TRY(check_memory(d));
    set_values(d, excess, weight);
    hd_blas_enter();
    /* Rounding can make the last pivots of a nearly singular matrix negative; a slightly larger
     * diagonal prevents this. It changes the step by very little, and the certificate is valid for
     * any step. */
    double shift = first_shift;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++, shift *= 100) {
        factored = cholmod_l_factorize(d->matrix, d->factor, &d->common);
        if (!factored || d->common.status != CHOLMOD_NOT_POSDEF)
            break;
        for (int32_t v = 0; v < d->graph.n; v++)
            ((double *)d->matrix->x)[((int64_t *)d->matrix->p)[v]] *= 1 + shift;
    }
    hd_blas_leave();
    /* CHOLMOD_DSMALL, the one other status above CHOLMOD_OK, is a warning: the factor is there. */
    if (!factored || d->common.status < CHOLMOD_OK || d->common.status == CHOLMOD_NOT_POSDEF)
        TRY(report_failure(d, "factor"));
done:
    return status;
}

static huddle_status allocate_dense(direct *d, size_t rows, size_t columns, cholmod_dense **dense) {
    if (*dense == NULL)
        *dense = cholmod_l_allocate_dense(rows, columns, rows, CHOLMOD_REAL, &d->common);
    return *dense == NULL ? report_failure(d, "solve") : HUDDLE_OK;
}

/* Solves with a supernodal factor by CHOLMOD itself, whose right-hand sides are stored by columns:
 * they are transposed before and after. */
static huddle_status solve_supernodal(direct *d, const double *r, double *x) {
    huddle_status status = HUDDLE_OK;
    int32_t n = d->graph.n;
    int64_t c = d->graph.c;
    size_t rows = (size_t)n, columns = (size_t)c;
    TRY(allocate_dense(d, rows, columns, &d->right));
    /* cholmod_solve2() would allocate these itself, and overlooks when it cannot. */
    TRY(allocate_dense(d, rows, columns, &d->solution));
    TRY(allocate_dense(d, rows, columns, &d->y));
    TRY(allocate_dense(d, columns, d->factor->maxesize, &d->e));
    double *right = d->right->x;
    for (int32_t v = 0; v < n; v++)
        for (int64_t k = 0; k < c; k++)
            right[k * n + v] = r[v * c + k];
    hd_blas_enter();
    int solved = cholmod_l_solve2(CHOLMOD_A, d->factor, d->right, NULL, &d->solution, NULL, &d->y,
                                  &d->e, &d->common);
    hd_blas_leave();
    if (!solved || d->common.status < CHOLMOD_OK)
        TRY(report_failure(d, "solve"));
    const double *solution = d->solution->x;
    for (int32_t v = 0; v < n; v++)
        for (int64_t k = 0; k < c; k++)
            x[v * c + k] = solution[k * n + v];
done:
    return status;
}

/* With a simplicial factor by triangles.simd.c: cholmod_solve() would work on four columns at a
 * time and read L again for each four. */
static huddle_status direct_solve(void *state, const double *r, double tolerance, double *x) {
    static hd_shrink_triangles_function *const kernels[] = HD_SIMD_TABLE(hd_shrink_triangles);
    direct *d = state;
    const cholmod_factor *factor = d->factor;
    (void)tolerance;
    if (factor->is_super)
        return solve_supernodal(d, r, x);
    hd_shrink_simplicial l = {.n = d->graph.n,
                              .start = factor->p,
                              .row = factor->i,
                              .count = factor->nz,
                              .order = factor->Perm,
                              .value = factor->x};
    kernels[hd_cpu_isa()](d->graph.c, &l, r, d->work, x);
    return HUDDLE_OK;
}

const hd_shrink_linear_solver hd_shrink_cholmod = {.name = "cholmod",
                                                   .analyse = direct_analyse,
                                                   .factor = direct_factor,
                                                   .solve = direct_solve,
                                                   .fits = direct_fits,
                                                   .is_direct = true,
                                                   .next = &hd_shrink_approximate,
                                                   .free = direct_free};

#endif
