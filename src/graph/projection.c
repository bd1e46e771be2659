/* Principal directions of a sample by subspace iteration, and the projection to them. */
#include "graph/projection.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Rows of the sample, and iterations: a rough estimate is sufficient, because the bound holds for
 * any directions. */
enum { SAMPLE = 1600, ITERATIONS = 3, ROWS_PER_CHUNK = 128 };

/* A row that loses all but this share of its norm to the others has no direction of its own. */
static const double min_share = 1e-4;

typedef struct finder {
    const hd_graph_rows *rows;
    int64_t m, d, p;   /* sampled rows, coordinates, directions */
    double *centre;    /* d */
    float *sample;     /* m x d, centred and scaled */
    float *directions; /* p x d */
    float *products;   /* m x p */
    double *v;         /* p x d, orthonormal */
    double *scratch;   /* d */
} finder;

/* Any number from 32 to 64 is near the optimum (`./dev bench graph`); more of them pay when more
 * pairs share the cost of projecting. With rho (projection.h) they make 64 or 48 coordinates. They
 * are at most half of the columns, since more of them would save little. */
int64_t hd_graph_projection_count(int64_t n, int64_t width) {
    int64_t p = n > 30000 || width > 400 ? 63 : 47;
    return p < width / 2 ? p : width / 2;
}

/* ---- directions ---------------------------------------------------------------------------- */

/* Evenly spaced rows, less their mean, by a power of two that brings them near 1, so that their
 * squares fit into float. Distances do not depend on the centre, so that the mean of the sample
 * serves all rows; directions do not depend on the scale. */
static void take_sample(finder *f) {
    double *row = f->scratch, largest = 0;
    memset(f->centre, 0, (size_t)f->d * sizeof *f->centre);
    for (int64_t s = 0; s < f->m; s++) {
        hd_graph_rows_read(f->rows, s * f->rows->n / f->m, row);
        for (int64_t j = 0; j < f->d; j++)
            f->centre[j] += row[j] / (double)f->m;
    }
    for (int64_t s = 0; s < f->m; s++) {
        hd_graph_rows_read(f->rows, s * f->rows->n / f->m, row);
        for (int64_t j = 0; j < f->d; j++)
            largest = fmax(largest, fabs(row[j] - f->centre[j]));
    }
    double scale = hd_graph_unit_scale(largest);
    for (int64_t s = 0; s < f->m; s++) {
        hd_graph_rows_read(f->rows, s * f->rows->n / f->m, row);
        for (int64_t j = 0; j < f->d; j++)
            f->sample[s * f->d + j] = (float)(scale * (row[j] - f->centre[j]));
    }
}

/* An inner product with independent partial sums, which the compiler can keep in registers. The
 * order of the additions is fixed by the code, not by the instruction set. */
static double dot_product(const double *a, const double *b, int64_t d) {
    enum { LANES = 8 };
    double sums[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int l = 0; l < LANES; l++)
            sums[l] += a[j + l] * b[j + l];
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    for (; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Makes row r of v orthogonal to those before it and of norm 1, by Gram-Schmidt with one repetition
 * (Giraud, Langou and Rozloznik, Numerische Mathematik 2005: twice is enough). A row without a
 * direction of its own is replaced by a random one. */
static void orthonormalise(finder *f, int64_t r, hd_rng *rng) {
    double *row = f->v + r * f->d;
    for (;;) {
        double before = sqrt(dot_product(row, row, f->d));
        for (int pass = 0; pass < 2; pass++)
            for (int64_t q = 0; q < r; q++) {
                double share = dot_product(row, f->v + q * f->d, f->d);
                for (int64_t j = 0; j < f->d; j++)
                    row[j] -= share * f->v[q * f->d + j];
            }
        double after = sqrt(dot_product(row, row, f->d));
        if (after > min_share * before) {
            for (int64_t j = 0; j < f->d; j++)
                row[j] /= after;
            return;
        }
        for (int64_t j = 0; j < f->d; j++)
            row[j] = hd_rng_normal(rng);
    }
}

/* Subspace iteration with the scatter matrix of the sample, in float; orthonormalised in double.
 * Three multiplications separate the leading directions well enough; what matters for the bound is
 * that V is orthonormal to double precision, not that it is accurate. */
static void find_directions(finder *f, uint64_t seed) {
    hd_rng rng = hd_rng_stream(seed, 0);
    int m = (int)f->m, d = (int)f->d, p = (int)f->p;
    for (int64_t e = 0; e < f->p * f->d; e++)
        f->v[e] = hd_rng_normal(&rng);
    for (int i = 0; i <= ITERATIONS; i++) {
        for (int64_t r = 0; r < f->p; r++)
            orthonormalise(f, r, &rng);
        if (i == ITERATIONS)
            break;
        for (int64_t e = 0; e < f->p * f->d; e++)
            f->directions[e] = (float)f->v[e];
        /* V <- V S'S for the centred sample S, as two products. */
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, p, d, 1, f->sample, d,
                    f->directions, d, 0, f->products, p);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, p, d, m, 1, f->products, p, f->sample,
                    d, 0, f->directions, d);
        for (int64_t e = 0; e < f->p * f->d; e++)
            f->v[e] = (double)f->directions[e];
    }
}

/* ---- coordinates --------------------------------------------------------------------------- */

typedef struct projecting {
    const hd_graph_projection *by;
    const hd_graph_rows *rows;
    huddle_dense *y;
    double *scratch; /* workers x chunk x d */
    double *largest; /* per chunk: the largest squared norm */
} projecting;

/* Coordinates (y, rho) of a chunk of rows. rho^2 = |x|^2 - |y|^2 cancels where V covers nearly all
 * of a row, and rounding may make it negative. */
static huddle_status project_rows(void *argument, hd_chunk chunk) {
    const projecting *task = argument;
    const hd_graph_projection *f = task->by;
    double *x = task->scratch + chunk.worker * ROWS_PER_CHUNK * f->d, largest = 0;
    int64_t count = chunk.end - chunk.begin, width = f->p + 1;
    double *y = task->y->values + chunk.begin * width;
    for (int64_t i = 0; i < count; i++) {
        hd_graph_rows_read(task->rows, chunk.begin + i, x + i * f->d);
        for (int64_t j = 0; j < f->d; j++)
            x[i * f->d + j] -= f->centre[j];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)f->p, (int)f->d, 1, x,
                (int)f->d, f->v, (int)f->d, 0, y, (int)width);
    for (int64_t i = 0; i < count; i++) {
        double norm2 = dot_product(x + i * f->d, x + i * f->d, f->d);
        double seen2 = dot_product(y + i * width, y + i * width, f->p);
        y[i * width + f->p] = sqrt(fmax(0, norm2 - seen2));
        largest = fmax(largest, norm2);
    }
    task->largest[chunk.index] = largest;
    return HUDDLE_OK;
}

/* BLAS is limited to one thread (base/blas.h), because the rows are divided among our own.
 *
 * The error of y is at most a few d eps |x|, with eps that of double. The error of rho^2 is of the
 * same size relative to |x|^2, and where rho is near 0 the root turns it into sqrt(d eps) |x|. That
 * root dominates, and one bound for all rows is sufficient. */
huddle_status hd_graph_projection_apply(huddle_context *context,
                                        const hd_graph_projection *projection,
                                        const hd_graph_rows *rows, huddle_dense *y,
                                        double *position_error) {
    huddle_status status = HUDDLE_OK;
    projecting task = {.by = projection, .rows = rows, .y = y};
    double norm2 = 0, terms = 4 * (double)(projection->d + projection->p + 16);
    int64_t chunks = hd_chunks(rows->n, ROWS_PER_CHUNK);
    *y = (huddle_dense){0};
    ALLOC(task.scratch, hd_workers(context) * ROWS_PER_CHUNK * projection->d);
    ALLOC(task.largest, chunks);
    TRY(huddle_dense_new(rows->n, projection->p + 1, y));
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    status = hd_parallel(context, NULL, rows->n, ROWS_PER_CHUNK, project_rows, &task);
    hd_blas_leave();
    for (int64_t c = 0; c < chunks; c++)
        norm2 = fmax(norm2, task.largest[c]);
    *position_error = sqrt(terms * DBL_EPSILON * norm2);
done:
    FREE(task.scratch, task.largest);
    return status;
}

/* The sample, the directions, then all rows. */
huddle_status hd_graph_projection_new(huddle_context *context, const hd_graph_rows *rows, int64_t p,
                                      uint64_t seed, hd_graph_projection *projection) {
    huddle_status status = HUDDLE_OK;
    finder f = {.rows = rows, .d = hd_graph_rows_width(rows), .p = p};
    f.m = rows->n < SAMPLE ? rows->n : SAMPLE;
    *projection = (hd_graph_projection){.p = p, .d = f.d};
    ALLOC(projection->centre, f.d);
    ALLOC(projection->v, p * f.d);
    f.centre = projection->centre;
    f.v = projection->v;
    ALLOC(f.sample, f.m * f.d);
    ALLOC(f.directions, p * f.d);
    ALLOC(f.products, f.m * p);
    ALLOC(f.scratch, f.d);
    take_sample(&f);
    TRY(hd_blas_reserve(context));
    hd_blas_enter();
    find_directions(&f, seed);
    hd_blas_leave();
    TRY(hd_graph_projection_apply(context, projection, rows, &projection->y,
                                  &projection->position_error));
done:
    FREE(f.sample, f.directions, f.products, f.scratch);
    return status;
}

void hd_graph_projection_free(hd_graph_projection *projection) {
    huddle_dense_free(&projection->y);
    FREE(projection->v, projection->centre);
    *projection = (hd_graph_projection){0};
}
