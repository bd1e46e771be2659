/* Rotations of an embedding towards the coordinate axes: discretisation (Yu and Shi, Multiclass
 * spectral clustering, ICCV 2003) and alignment (Zelnik-Manor and Perona, Self-tuning spectral
 * clustering, NIPS 2004). Eigenvectors are determined only up to a rotation; with c well-separated
 * clusters one rotation puts the rows of each cluster on an axis of its own. */
#include "steps/rotation.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "fit/fit.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Relative gain below which alternating ends, and by which a start must be better than those
 * before: larger than the rounding of the objective. */
static const double min_gain = 1e-10;

/* Squared distance from the space of other rows, which have norm 1, below which a row adds no
 * direction to it: far above rounding, far below what distinct clusters have. */
static const double min_residual = 1e-8;

/* Squared distances that differ by less are equal: of several rows, such as those of components
 * that are equally far from all others, the first is chosen. */
static const double tie = 1e-6;

/* Of the axis of a cluster without rows among sums of rows of norm 1: too little to turn these. */
static const double empty_weight = 1e-6;

/* The constant of Armijo's rule (Nocedal and Wright, Numerical Optimization, chapter 3), and the
 * relative decrease at which the descent ends. The usual constant of 1e-4 accepts steps of nearly
 * twice the best length, which lead to the other side of the minimum at the same cost; the descent
 * would end there. A quarter refuses steps of more than 1.5 times that length. */
static const double armijo = .25, min_decrease = 1e-6;

/* Limits that end a slow iteration; convergence is usually reached much earlier. ROWS_PER_CHUNK
 * determines the order of summation and therefore the last bits of all results. */
enum { ROWS_PER_CHUNK = 1024, MAX_TURNS = 100, MAX_STEPS = 60, MAX_HALVINGS = 20 };

/* ---- what both have in common -------------------------------------------------------------- */

typedef struct turning turning;

/* What a row of the product with the rotation adds to the sums of its chunk; returns its value. */
typedef double turned_row(const turning *t, int64_t i, const double *row, double *sums);

/* The product of the rows with a rotation, chunk by chunk; each chunk adds up a c x c sum and a
 * value. The size of chunks is fixed, so that the sums do not depend on the number of threads. */
struct turning {
    const huddle_dense *rows;
    turned_row *add;
    const double *rotation; /* c x c */
    double *turned;         /* rows per chunk x c, for each worker */
    int32_t *labels;        /* or NULL */
    double *sums;           /* c x c for each chunk */
    double *values;         /* for each chunk */
};

static huddle_status turning_new(huddle_context *context, const huddle_dense *rows, turned_row *add,
                                 turning *t) {
    huddle_status status = HUDDLE_OK;
    int64_t c = rows->cols, chunks = hd_chunks(rows->rows, ROWS_PER_CHUNK);
    t->rows = rows;
    t->add = add;
    ALLOC(t->turned, (int64_t)ROWS_PER_CHUNK * c * hd_workers(context));
    ALLOC(t->sums, chunks * c * c);
    ALLOC(t->values, chunks);
done:
    return status;
}

static void turning_free(turning *t) {
    FREE(t->turned, t->sums, t->values);
}

static huddle_status turn_chunk(void *argument, hd_chunk chunk) {
    const turning *t = argument;
    int c = (int)t->rows->cols;
    double *turned = t->turned + (int64_t)chunk.worker * ROWS_PER_CHUNK * c;
    double *sums = t->sums + chunk.index * c * c, value = 0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(chunk.end - chunk.begin), c, c, 1,
                t->rows->values + chunk.begin * t->rows->stride, (int)t->rows->stride, t->rotation,
                c, 0, turned, c);
    memset(sums, 0, (size_t)(c * c) * sizeof *sums);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        value += t->add(t, i, turned + (i - chunk.begin) * c, sums);
    t->values[chunk.index] = value;
    return HUDDLE_OK;
}

/* Adds up the chunks in their order, then the processes: floating-point addition is not
 * associative, and the order in which chunks finish must not matter. */
static huddle_status turn_rows(huddle_context *context, const char *name, turning *t,
                               const double *rotation, double *sums, double *value) {
    huddle_status status = HUDDLE_OK;
    int64_t cells = t->rows->cols * t->rows->cols;
    t->rotation = rotation;
    TRY(hd_parallel(context, name, t->rows->rows, ROWS_PER_CHUNK, turn_chunk, t));
    *value = 0;
    memset(sums, 0, (size_t)cells * sizeof *sums);
    for (int64_t k = 0; k < hd_chunks(t->rows->rows, ROWS_PER_CHUNK); k++) {
        *value += t->values[k];
        for (int64_t e = 0; e < cells; e++)
            sums[e] += t->sums[k * cells + e];
    }
    TRY(hd_reduce_sum(context, cells, sums));
    TRY(hd_reduce_sum(context, 1, value));
done:
    return status;
}

/* matrix <- its nearest orthogonal matrix, U V' of its singular value decomposition. */
static huddle_status orthogonalise(int c, double *matrix) {
    huddle_status status = HUDDLE_OK;
    double *u = NULL, *vt = NULL, *values = NULL;
    ALLOC(u, c * c);
    ALLOC(vt, c * c);
    ALLOC(values, c);
    if (LAPACKE_dgesdd(LAPACK_ROW_MAJOR, 'A', c, c, matrix, c, values, u, c, vt, c) != 0)
        FAIL(HUDDLE_NUMERIC, "the singular values of a rotation of %d columns did not converge", c);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c, c, c, 1, u, c, vt, c, 0, matrix, c);
done:
    FREE(u, vt, values);
    return status;
}

/* ---- Yu and Shi ---------------------------------------------------------------------------- */

/* Labels a row by its largest entry after the rotation, which is its value; sums: the rows of each
 * cluster, c x c with clusters in columns. For unit rows ||x_i R - e_k||^2 = 2 - 2 (x_i R)_k, so
 * that the largest entry is the best label. */
static double discretise_row(const turning *t, int64_t i, const double *row, double *sums) {
    const double *x = t->rows->values + i * t->rows->stride;
    int32_t largest = 0;
    for (int32_t k = 1; k < t->rows->cols; k++)
        if (row[k] > row[largest])
            largest = k;
    t->labels[i] = largest;
    for (int64_t j = 0; j < t->rows->cols; j++)
        sums[j * t->rows->cols + largest] += x[j];
    return row[largest];
}

/* Rows that are chosen one after another, each as far as possible from the space of those before.
 * basis[k] is the part of row k that is orthogonal to them, with norm 1. */
typedef struct spreading {
    const huddle_dense *rows;
    double *basis;    /* c x c */
    double *residual; /* n: squared distance of each row from the space of the basis */
    int64_t count;    /* of the basis */
} spreading;

/* Adds a row to the basis, and measures all rows again. */
static void add_to_basis(spreading *s, const double *row) {
    int64_t c = s->rows->cols;
    double *q = s->basis + s->count * c, norm = 0;
    memcpy(q, row, (size_t)c * sizeof *q);
    for (int64_t k = 0; k < s->count; k++)
        cblas_daxpy((int)c, -cblas_ddot((int)c, q, 1, s->basis + k * c, 1), s->basis + k * c, 1, q,
                    1);
    norm = cblas_dnrm2((int)c, q, 1);
    cblas_dscal((int)c, 1 / norm, q, 1);
    for (int64_t i = 0; i < s->rows->rows; i++) {
        double product = cblas_ddot((int)c, s->rows->values + i * s->rows->stride, 1, q, 1);
        s->residual[i] -= product * product;
    }
    s->count++;
}

/* A unit vector for c directions that the rows do not span: of the axes the one that is farthest
 * from the basis. */
static void farthest_axis(const spreading *s, double *axis) {
    int64_t c = s->rows->cols, chosen = 0;
    double least = INFINITY;
    for (int64_t j = 0; j < c; j++) {
        double inside = 0;
        for (int64_t k = 0; k < s->count; k++)
            inside += s->basis[k * c + j] * s->basis[k * c + j];
        if (inside < least - tie) {
            least = inside;
            chosen = j;
        }
    }
    memset(axis, 0, (size_t)c * sizeof *axis);
    axis[chosen] = 1;
}

/* Initial rotation: the first row, then always the row that is farthest from the space of those
 * chosen before, as in a QR factorisation with pivoting. Yu and Shi (section 3) take the row with
 * the smallest sum of |cos| to those before. With many clusters that chooses rows of one cluster
 * twice, as one cosine of 1 is less than many small ones: the matrix is singular, and its nearest
 * rotation is determined by rounding. */
static huddle_status spread_rows(const huddle_dense *rows, int64_t first, double *rotation) {
    huddle_status status = HUDDLE_OK;
    int64_t n = rows->rows, c = rows->cols, chosen = first;
    spreading s = {.rows = rows};
    double *axis = NULL;
    ALLOC(axis, c);
    ALLOC(s.basis, c * c);
    ALLOC(s.residual, n);
    for (int64_t i = 0; i < n; i++)
        s.residual[i] = cblas_ddot((int)c, rows->values + i * rows->stride, 1,
                                   rows->values + i * rows->stride, 1);
    for (int64_t k = 0; k < c; k++) {
        for (int64_t i = 0; i < n && k > 0; i++)
            chosen = s.residual[i] > s.residual[chosen] + tie ? i : chosen;
        const double *row = rows->values + chosen * rows->stride;
        if (s.residual[chosen] < min_residual) {
            farthest_axis(&s, axis);
            row = axis;
        }
        for (int64_t j = 0; j < c; j++)
            rotation[j * c + k] = row[j];
        add_to_basis(&s, row);
    }
done:
    FREE(axis, s.basis, s.residual);
    return status;
}

/* A cluster without rows has no sum. Its axis stays near where it was: any direction orthogonal to
 * the others would do, and rounding would choose one. */
static void keep_empty_axes(int64_t c, const double *rotation, double *sums) {
    for (int64_t k = 0; k < c; k++) {
        double largest = 0;
        for (int64_t j = 0; j < c; j++)
            largest = fmax(largest, fabs(sums[j * c + k]));
        for (int64_t j = 0; j < c && largest == 0; j++)
            sums[j * c + k] = empty_weight * rotation[j * c + k];
    }
}

/* One start: computes labels and rotation, *objective = sum_i ||x_i R - e_{y_i}||^2 = 2 (n -
 * value). Neither step can increase the objective, so that it stops when the value no longer
 * grows by more than rounding errors. Best R for given labels: U V' of the clusters' sums
 * (Procrustes). */
static huddle_status discretise(huddle_context *context, turning *t, int64_t first,
                                double *rotation, huddle_alternation_info *record,
                                double *objective) {
    huddle_status status = HUDDLE_OK;
    int64_t c = t->rows->cols, n = t->rows->rows;
    double *sums = NULL, best = -1;
    ALLOC(sums, c * c);
    TRY(spread_rows(t->rows, first, rotation));
    TRY(orthogonalise((int)c, rotation));
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        double value;
        TRY(turn_rows(context, "discretise", t, rotation, sums, &value));
        TRY(hd_fit_alternation_add(record, 2 * ((double)n - value)));
        record->stop = HUDDLE_STOP_CONVERGED;
        /* The labels are those of the current rotation in either case. */
        if (value <= best * (1 + min_gain))
            break;
        record->stop = HUDDLE_STOP_MAX_ITER;
        best = value;
        keep_empty_axes(c, rotation, sums);
        memcpy(rotation, sums, (size_t)(c * c) * sizeof *rotation);
        TRY(orthogonalise((int)c, rotation));
    }
    *objective = record->objective[record->n_history - 1];
done:
    huddle_free(sums);
    return status;
}

/* Hands over the objectives of all starts and the history of the best one. */
static void report_starts(int32_t n_init, int32_t best, double **objectives,
                          huddle_alternation_info *kept, huddle_rotation_info *info,
                          huddle_alternation_info *alternation) {
    huddle_free(info->objectives);
    *info = (huddle_rotation_info){.objective = (*objectives)[best],
                                   .objectives = *objectives,
                                   .n_restarts = n_init,
                                   .best = best,
                                   .n_iter = kept->n_iter,
                                   .stop = kept->stop};
    *objectives = NULL;
    hd_fit_alternation_reset(alternation);
    *alternation = *kept;
    memset(kept, 0, sizeof *kept);
}

/* Each start has its own stream of random numbers, so that start k is the same whatever n_init
 * is. */
huddle_status hd_step_rotation_find(huddle_context *context, const huddle_dense *rows,
                                    int32_t n_init, uint64_t seed, int32_t *labels,
                                    huddle_dense *rotation, huddle_rotation_info *info,
                                    huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    int64_t n = rows->rows, c = rows->cols;
    turning t = {0};
    huddle_alternation_info record = {0}, kept = {0};
    double *trial = NULL, *objectives = NULL;
    int32_t *trial_labels = NULL, best = -1;
    hd_blas_enter();
    TRY(huddle_dense_new(c, c, rotation));
    TRY(turning_new(context, rows, discretise_row, &t));
    ALLOC(trial, c * c);
    ALLOC(trial_labels, n);
    ALLOC(objectives, n_init);
    t.labels = trial_labels;
    for (int32_t start = 0; start < n_init; start++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)start);
        hd_fit_alternation_reset(&record);
        TRY(discretise(context, &t, start == 0 ? 0 : hd_rng_below(&rng, n), trial, &record,
                       &objectives[start]));
        /* Of objectives that are equal but for rounding, the first one is kept. */
        if (best >= 0 && objectives[start] >= objectives[best] - min_gain * (double)n)
            continue;
        best = start;
        memcpy(labels, trial_labels, (size_t)n * sizeof *labels);
        memcpy(rotation->values, trial, (size_t)(c * c) * sizeof *trial);
        hd_fit_alternation_reset(&kept);
        kept = record;
        memset(&record, 0, sizeof record);
    }
    if (info != NULL)
        report_starts(n_init, best, &objectives, &kept, info, alternation);
done:
    hd_blas_leave();
    hd_fit_alternation_reset(&record);
    hd_fit_alternation_reset(&kept);
    FREE(trial, trial_labels, objectives);
    turning_free(&t);
    return status;
}

/* ---- Zelnik-Manor and Perona --------------------------------------------------------------- */

/* With rows of norm 1 the cost of row i is 1 / m_i^2, where m_i is its entry of largest magnitude,
 * because R preserves the norm. The gradient is -2 x_i / m_i^3 in the column of that entry. A zero
 * row costs c, as a row that is equally far from all axes. */
static double cost_row(const turning *t, int64_t i, const double *row, double *sums) {
    int64_t c = t->rows->cols, largest = 0;
    const double *x = t->rows->values + i * t->rows->stride;
    for (int64_t k = 1; k < c; k++)
        if (fabs(row[k]) > fabs(row[largest]))
            largest = k;
    double m = row[largest];
    if (m * m * (double)c < 0.5) /* no unit row has so small a largest entry */
        return (double)c;
    for (int64_t j = 0; j < c; j++)
        sums[j * c + largest] -= 2 * x[j] / (m * m * m);
    return 1 / (m * m);
}

/* Projects the gradient G onto the tangent space of the orthogonal matrices at R, (G - R G'R) / 2;
 * returns its squared length, the derivative of the cost along it. */
static double project_gradient(int c, const double *rotation, const double *gradient,
                               double *direction, double *scratch) {
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, c, c, c, 1, gradient, c, rotation, c, 0,
                scratch, c);
    memcpy(direction, gradient, (size_t)(c * c) * sizeof *direction);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c, c, c, -0.5, rotation, c, scratch, c,
                0.5, direction, c);
    return cblas_ddot(c * c, direction, 1, direction, 1);
}

/* Gradient descent on the orthogonal matrices: a step along the tangent, then the nearest
 * orthogonal matrix. The paper parametrises R by c (c - 1) / 2 Givens angles; here R is changed as
 * a whole, which needs one pass over the rows per step. */
typedef struct descent {
    turning turning;
    double *rotation, *trial, *gradient, *direction, *scratch;
    double cost, step;
} descent;

huddle_status hd_step_rotation_cost(huddle_context *context, const huddle_dense *rows,
                                    const double *rotation, double *gradient, double *cost) {
    huddle_status status = HUDDLE_OK;
    turning t = {0};
    TRY(turning_new(context, rows, cost_row, &t));
    TRY(turn_rows(context, "align", &t, rotation, gradient, cost));
done:
    turning_free(&t);
    return status;
}

/* A step downhill with Armijo's rule: halved until the cost falls by a quarter of what the slope
 * predicts. *done if no step lowers the cost, or by less than 1e-6 of it. The next step starts at
 * twice the accepted length. d->gradient belongs to the last trial: to the new rotation if the
 * trial was accepted, and it is not used otherwise. */
static huddle_status descent_step(huddle_context *context, descent *d, bool *done) {
    huddle_status status = HUDDLE_OK;
    int c = (int)d->turning.rows->cols, cells = c * c;
    double slope = project_gradient(c, d->rotation, d->gradient, d->direction, d->scratch),
           cost = 0;
    *done = true;
    for (int halving = 0; halving < MAX_HALVINGS; halving++, d->step /= 2) {
        memcpy(d->trial, d->rotation, (size_t)cells * sizeof *d->trial);
        cblas_daxpy(cells, -d->step, d->direction, 1, d->trial, 1);
        TRY(orthogonalise(c, d->trial));
        TRY(turn_rows(context, "align", &d->turning, d->trial, d->gradient, &cost));
        if (cost <= d->cost - armijo * d->step * slope)
            break;
    }
    /* Even the shortest step did not lower the cost: R is a minimum up to rounding. */
    if (cost >= d->cost)
        goto done;
    *done = d->cost - cost < min_decrease * d->cost;
    memcpy(d->rotation, d->trial, (size_t)cells * sizeof *d->trial);
    d->cost = cost;
    d->step *= 2;
done:
    return status;
}

/* The first step is 1/n because the gradient is a sum over n rows. */
huddle_status hd_step_rotation_align(huddle_context *context, const huddle_dense *rows,
                                     huddle_dense *rotation, double *quality) {
    huddle_status status = HUDDLE_OK;
    int64_t c = rows->cols;
    descent d = {.rotation = rotation->values, .step = 1 / (double)rows->rows};
    hd_blas_enter();
    TRY(turning_new(context, rows, cost_row, &d.turning));
    ALLOC(d.trial, c * c);
    ALLOC(d.gradient, c * c);
    ALLOC(d.direction, c * c);
    ALLOC(d.scratch, c * c);
    TRY(hd_step_rotation_cost(context, rows, d.rotation, d.gradient, &d.cost));
    bool finished = false;
    for (int step = 0; step < MAX_STEPS && !finished; step++)
        TRY(descent_step(context, &d, &finished));
    *quality = 1 - (d.cost / (double)rows->rows - 1) / (double)c;
done:
    hd_blas_leave();
    turning_free(&d.turning);
    FREE(d.trial, d.gradient, d.direction, d.scratch);
    return status;
}
