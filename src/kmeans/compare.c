/* Distances between rows and centres: in float with a bound on the error, in double where that
 * bound does not separate the two nearest centres. So labels are those of double precision at
 * almost the cost of float. The error bounds are those of Higham, Accuracy and Stability of
 * Numerical Algorithms (2002), section 3.1. */
#include "kmeans/compare.h"

#include "base/check.h"
#include "matrix/points.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- survey of the points ----------------------------------------------------------------- */

/* Chunks of rows: at most MAX_CHUNKS, of at least MIN_ROWS rows, whose sums of the clusters take at
 * most CHUNK_SUMS doubles (32 MB) together. */
enum { MAX_CHUNKS = 64, MIN_ROWS = 1024, CHUNK_SUMS = 4 << 20 };

/* Rows per chunk such that each chunk may keep c x d sums of its own without much memory. It
 * depends on the sizes alone, not on the number of threads: sums over chunks are then the same bits
 * on any machine. Whole blocks, so that only the last chunk has a short one. */
int64_t hd_kmeans_grain(int64_t n, int64_t d, int64_t c) {
    int64_t chunks = CHUNK_SUMS / d / (c < 2 ? 2 : c);
    chunks = chunks > MAX_CHUNKS ? MAX_CHUNKS : chunks < 1 ? 1 : chunks;
    int64_t grain = (n + chunks - 1) / chunks;
    grain = grain < MIN_ROWS ? MIN_ROWS : grain;
    return (grain + HD_KMEANS_BLOCK - 1) / HD_KMEANS_BLOCK * HD_KMEANS_BLOCK;
}

typedef struct survey {
    const hd_kmeans_data *data;
    const float *pivot; /* d: a row, so that large means do not drown the variance */
    double *sums;       /* chunks x 2 x d: of values and of squares; 0 before */
    float *largest;     /* chunks x d; 0 before */
} survey;

/* Moments of one chunk. Differences from the pivot, not the values themselves, are squared: the
 * variance would otherwise be lost to cancellation where the mean is large. */
static huddle_status survey_rows(void *argument, hd_chunk chunk) {
    const survey *s = argument;
    const huddle_points *x = s->data->x;
    int64_t d = x->d;
    double *sum = s->sums + 2 * chunk.index * d, *square = sum + d;
    float *largest = s->largest + chunk.index * d;
    if (x->offsets == NULL) {
        for (int64_t i = chunk.begin; i < chunk.end; i++)
            s->data->kernels->moments(x->values + i * x->stride, s->pivot, d, sum, square, largest);
        return HUDDLE_OK;
    }
    for (int64_t e = x->offsets[chunk.begin]; e < x->offsets[chunk.end]; e++) {
        int32_t j = x->columns[e];
        double v = (double)x->values[e];
        sum[j] += v;
        square[j] += v * v;
        largest[j] = fmaxf(largest[j], fabsf(x->values[e]));
    }
    return HUDDLE_OK;
}

/* The power of two that brings numbers up to `largest` near 1, within the exponents of float.
 * Squares then neither overflow nor lose digits to underflow, and scaling itself is exact. */
static float choose_scale(float largest) {
    int exponent = 0;
    if (largest > 0)
        (void)frexpf(fminf(largest, FLT_MAX), &exponent);
    exponent = exponent > 126 ? 126 : exponent < -126 ? -126 : exponent;
    return ldexpf(1, -exponent);
}

/* Adds up the results of the chunks, in their order, into the first, and then over all
 * processes. */
static huddle_status combine_chunks(huddle_context *context, const survey *s, double *largest) {
    int64_t d = s->data->x->d;
    *largest = 0;
    for (int64_t k = 0; k < s->data->chunks; k++)
        for (int64_t j = 0; j < d; j++)
            *largest = fmax(*largest, (double)s->largest[k * d + j]);
    for (int64_t k = 1; k < s->data->chunks; k++)
        for (int64_t j = 0; j < 2 * d; j++)
            s->sums[j] += s->sums[2 * k * d + j];
    huddle_status status = hd_reduce_sum(context, 2 * d, s->sums);
    return status == HUDDLE_OK ? hd_reduce_max(context, 1, largest) : status;
}

/* Scale, origin and variance from sums and squares of the differences from the pivot. The origin is
 * the scaled mean, rounded to float: centring need not be exact, as long as rows and centres use
 * the same origin. Sparse rows are not centred, since that would fill them. */
static void set_moments(const survey *s, double largest, hd_kmeans_data *data) {
    int64_t d = data->x->d;
    double n = (double)data->slab.total, variances = 0;
    for (int64_t j = 0; j < d; j++) {
        double mean = s->sums[j] / n;
        variances += fmax(0, s->sums[d + j] / n - mean * mean);
        s->sums[j] = (double)s->pivot[j] + mean;
    }
    data->variance = variances / (double)d;
    data->scale = choose_scale((float)largest);
    if (data->x->offsets == NULL)
        for (int64_t j = 0; j < d; j++)
            data->origin[j] = (float)((double)data->scale * s->sums[j]);
}

/* The first row of all, which every process subtracts: under slabs the process that has it provides
 * it, and all others take part in the maximum with -infinity. */
static huddle_status share_pivot(const hd_kmeans_data *data, float *pivot) {
    huddle_status status = HUDDLE_OK;
    double *wide = NULL;
    ALLOC(wide, data->x->d);
    for (int64_t j = 0; j < data->x->d; j++)
        wide[j] = data->slab.first == 0 && data->x->n > 0 ? (double)data->x->values[j] : -INFINITY;
    TRY(hd_reduce_max(data->context, data->x->d, wide));
    for (int64_t j = 0; j < data->x->d; j++)
        pivot[j] = (float)wide[j];
done:
    huddle_free(wide);
    return status;
}

/* The factor that brings the largest weight to 1: the weights of k-means++ are in float, where any
 * positive double must be representable. */
static huddle_status find_weight_scale(hd_kmeans_data *data) {
    double largest = data->weights != NULL ? 0 : 1;
    for (int64_t i = 0; data->weights != NULL && i < data->x->n; i++)
        largest = fmax(largest, data->weights[i]);
    huddle_status status = hd_reduce_max(data->context, 1, &largest);
    data->weight_scale = 1 / largest;
    return status;
}

/* Squared norms of the rows as the kernels see them, scaled and centred; computed once for all
 * restarts. */
static huddle_status compute_norms(void *argument, hd_chunk chunk) {
    const hd_kmeans_data *data = argument;
    const huddle_points *x = data->x;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        data->norms[i] =
            data->kernels->norm(x->values + i * x->stride, x->d, data->scale, data->origin);
    return HUDDLE_OK;
}

/* The kernels of the best instruction set of this CPU. */
static const hd_kmeans_kernels *choose_kernels(void) {
    static const hd_kmeans_kernels *const kernels[] = HD_SIMD_TABLE(&hd_kmeans_kernels);
    return kernels[hd_cpu_isa()];
}

/* Two passes over the points: one for moments, one for norms, which need the origin. */
huddle_status hd_kmeans_data_new(huddle_context *context, const huddle_points *x,
                                 const double *weights, int32_t c, hd_kmeans_data *data) {
    huddle_status status = HUDDLE_OK;
    survey s = {.data = data};
    float *pivot = NULL;
    double largest;
    int64_t grain = hd_kmeans_grain(x->n, x->d, c);
    *data = (hd_kmeans_data){.context = context,
                             .kernels = choose_kernels(),
                             .x = x,
                             .whole = hd_context_engine(context)->slabs == NULL,
                             .weights = weights,
                             .c = c,
                             .grain = grain,
                             .stride = (x->d + HD_KMEANS_WIDEST - 1) / HD_KMEANS_WIDEST *
                                       HD_KMEANS_WIDEST,
                             /* One also for a process without rows: its sums are 0. */
                             .chunks = x->n > 0 ? hd_chunks(x->n, grain) : 1};
    TRY(hd_slab_locate(context, x->n, &data->slab));
    TRY(find_weight_scale(data));
    ALLOC_ZERO(data->origin, data->stride);
    ALLOC_ZERO(data->zeros, data->stride);
    ALLOC_ZERO(s.sums, 2 * data->chunks * x->d);
    ALLOC_ZERO(s.largest, data->chunks * x->d);
    s.pivot = x->offsets == NULL ? x->values : data->zeros;
    /* One process can read the pivot in place; several must share the same one, or their sums would
     * refer to different origins. */
    if (x->offsets == NULL && !data->whole) {
        ALLOC(pivot, x->d);
        TRY(share_pivot(data, pivot));
        s.pivot = pivot;
    }
    TRY(hd_parallel(context, NULL, x->n, grain, survey_rows, &s));
    TRY(combine_chunks(context, &s, &largest));
    set_moments(&s, largest, data);
    if (x->offsets == NULL) {
        ALLOC(data->norms, x->n);
        TRY(hd_parallel(context, NULL, x->n, grain, compute_norms, data));
    }
done:
    FREE(pivot, s.sums, s.largest);
    if (status != HUDDLE_OK)
        hd_kmeans_data_free(data);
    return status;
}

void hd_kmeans_data_free(hd_kmeans_data *data) {
    FREE(data->origin, data->zeros, data->norms);
    data->origin = data->zeros = data->norms = NULL;
}

/* c, rounded up to whole registers of doubles. */
static int64_t whole_doubles(int32_t c) {
    return ((int64_t)c + HD_KMEANS_DOUBLES - 1) / HD_KMEANS_DOUBLES * HD_KMEANS_DOUBLES;
}

/* ---- centres ------------------------------------------------------------------------------ */

/* Columns beyond d and centres beyond k are 0 in the padded arrays, so that kernels can work on
 * whole registers. */
huddle_status hd_kmeans_centres_new(const hd_kmeans_data *data, int32_t capacity,
                                    hd_kmeans_centres *centres) {
    huddle_status status = HUDDLE_OK;
    int64_t d = data->x->d;
    memset(centres, 0, sizeof *centres);
    ALLOC(centres->square, capacity);
    ALLOC(centres->half, capacity);
    ALLOC_ZERO(centres->rows, capacity * data->stride);
    ALLOC(centres->tiles, capacity * d);
    if (data->x->offsets != NULL)
        ALLOC(centres->columns, whole_doubles(capacity) * d);
done:
    if (status != HUDDLE_OK)
        hd_kmeans_centres_free(centres);
    return status;
}

void hd_kmeans_centres_free(hd_kmeans_centres *centres) {
    FREE(centres->square, centres->half, centres->rows, centres->tiles, centres->columns);
    memset(centres, 0, sizeof *centres);
}

/* The rounding error of a product of d terms is at most (d + 2) u |x| |m|, u = 2^-24, and the
 * inputs were rounded once each; since two scores are compared, the bound is doubled (u2 = 2 u).
 * The remaining part of 16 covers products of such factors, and 1.001 the rounding of this bound.
 * `score` is the error of half the squared norm, plus what underflow can cause. */
static hd_kmeans_error bound_errors(int64_t d, double largest_norm) {
    double u2 = 0x1p-23, terms = (double)d + 16;
    return (hd_kmeans_error){
        .dot = (float)(terms * u2 * largest_norm * 1.001),
        .score = (float)(4 * u2 * largest_norm * largest_norm + terms * 1e-37),
        .norm = (float)(terms * u2),
    };
}

/* One pass computes both forms from the exact centres: unscaled for comparisons in double, scaled
 * and centred for those in float, by rows and by tiles. */
void hd_kmeans_centres_set(const hd_kmeans_data *data, int32_t k, const double *exact,
                           hd_kmeans_centres *centres) {
    int64_t d = data->x->d;
    int32_t size = hd_kmeans_tile(k);
    double scale = (double)data->scale, largest = 0;
    centres->k = k;
    centres->largest = 0;
    centres->exact = exact;
    for (int32_t i = 0; i < k; i++) {
        int32_t first = i / size * size, width = k - first < size ? k - first : size;
        float *tile = centres->tiles + first * d + (i - first),
              *row = centres->rows + i * data->stride;
        double square = 0, scaled = 0;
        for (int64_t j = 0; j < d; j++) {
            double v = exact[i * d + j], m = v * scale - (double)data->origin[j];
            square += v * v;
            scaled += m * m;
            row[j] = tile[j * width] = (float)m;
        }
        centres->square[i] = square;
        centres->largest = fmax(centres->largest, square);
        centres->half[i] = (float)(scaled / 2);
        largest = fmax(largest, scaled);
    }
    /* One bound for all centres, from the largest norm: kernels then need a single comparison per
     * row. */
    centres->error = bound_errors(d, sqrt(largest));
    int64_t stride = whole_doubles(k);
    for (int64_t j = 0; j < d && centres->columns != NULL; j++)
        for (int32_t i = 0; i < stride; i++)
            centres->columns[j * stride + i] = i < k ? exact[i * d + j] : 0;
}

huddle_status hd_kmeans_scratch_new(int32_t workers, int32_t capacity,
                                    hd_kmeans_scratch **scratch) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(*scratch, workers);
    for (int32_t i = 0; i < workers; i++) {
        ALLOC((*scratch)[i].panel, HD_KMEANS_PANEL * HD_KMEANS_BLOCK);
        ALLOC((*scratch)[i].scores, (int64_t)capacity * HD_KMEANS_BLOCK);
        ALLOC((*scratch)[i].sums, whole_doubles(capacity));
    }
done:
    return status;
}

void hd_kmeans_scratch_free(int32_t workers, hd_kmeans_scratch *scratch) {
    for (int32_t i = 0; i < workers && scratch != NULL; i++)
        FREE(scratch[i].panel, scratch[i].scores, scratch[i].sums);
    huddle_free(scratch);
}

/* ---- one row in double -------------------------------------------------------------------- */

/* |x - m|^2 by differences, in double. */
static double exact_dense(const float *x, const double *m, int64_t d) {
    /* Four sums, so that additions need not wait for each other; their order is fixed. */
    double sum[4] = {0};
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int q = 0; q < 4; q++) {
            double t = (double)x[j + q] - m[j + q];
            sum[q] += t * t;
        }
    for (; j < d; j++) {
        double t = (double)x[j] - m[j];
        sum[0] += t * t;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* |x - m|^2 = sum over the non-zeros of x of ((x - m)^2 - m^2), plus |m|^2: the time is
 * proportional to the non-zeros. */
static double exact_sparse(const huddle_points *x, int64_t i, const double *m, double square) {
    double sum = 0;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        double v = (double)x->values[e];
        sum += v * (v - 2 * m[x->columns[e]]);
    }
    return fmax(0, sum + square);
}

double hd_kmeans_exact(const hd_kmeans_data *data, const hd_kmeans_centres *centres, int64_t i,
                       int32_t k) {
    const huddle_points *x = data->x;
    const double *m = centres->exact + k * x->d;
    if (x->offsets == NULL)
        return exact_dense(x->values + i * x->stride, m, x->d);
    return exact_sparse(x, i, m, centres->square[k]);
}

void hd_kmeans_add_row(const hd_kmeans_data *data, int64_t i, double weight, double *sum) {
    const huddle_points *x = data->x;
    if (x->offsets == NULL) {
        data->kernels->add(x->values + i * x->stride, x->d, weight, sum);
        return;
    }
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        sum[x->columns[e]] += weight * (double)x->values[e];
}

/* ---- blocks of rows ----------------------------------------------------------------------- */

/* From this number of columns on, and up to this number of centres, reading the rows in place is
 * faster than packing them into panels (`./dev bench kmeans`, rows of 64 to 784 columns). */
enum { LONG_ROW = 64, FEW_CENTRES = 16 };

/* Scores of HD_KMEANS_BLOCK vectors against all centres: products, or squared distances. Panel by
 * panel, so that a panel stays in the first-level cache while all centres pass over it. */
static void score_block(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                        const float *const *rows, float scale, const float *origin, bool squared,
                        hd_kmeans_scratch *scratch) {
    const hd_kmeans_kernels *kernels = data->kernels;
    int64_t d = data->x->d;
    const float *at[HD_KMEANS_BLOCK];
    if (!squared && d >= LONG_ROW && centres->k <= FEW_CENTRES) {
        kernels->multiply(rows, d, scale, origin, centres->rows, data->stride, centres->k,
                          scratch->scores);
        return;
    }
    memset(scratch->scores, 0, (size_t)centres->k * HD_KMEANS_BLOCK * sizeof *scratch->scores);
    for (int64_t first = 0; first < d; first += HD_KMEANS_PANEL) {
        int64_t width = d - first < HD_KMEANS_PANEL ? d - first : HD_KMEANS_PANEL;
        for (int r = 0; r < HD_KMEANS_BLOCK; r++)
            at[r] = rows[r] + first;
        /* If the rows are close together in memory, so are the next ones. */
        const float *ahead =
            d <= HD_KMEANS_PANEL && rows[HD_KMEANS_BLOCK] - rows[0] <= 2 * HD_KMEANS_BLOCK * d
                ? rows[HD_KMEANS_BLOCK]
                : NULL;
        kernels->pack(at, ahead, width, scale, origin + first, scratch->panel);
        (squared ? kernels->distances : kernels->products)(
            scratch->panel, first, width, d, centres->tiles, centres->k, scratch->scores);
    }
}

/* The addresses of the rows of a block. A short block repeats its last row, so that kernels need no
 * special case; the additional results are ignored. The rows that probably come next follow the
 * block, for prefetching. */
static void locate_rows(const huddle_points *x, const int32_t *rows, int32_t count,
                        const float **at) {
    for (int32_t r = 0; r < HD_KMEANS_BLOCK; r++)
        at[r] = x->values + rows[r < count ? r : count - 1] * x->stride;
    for (int32_t r = HD_KMEANS_BLOCK; r < HD_KMEANS_BLOCK + HD_KMEANS_AHEAD; r++) {
        int64_t next = rows[count - 1] + 1 + r - HD_KMEANS_BLOCK;
        at[r] = x->values + (next < x->n ? next : x->n - 1) * x->stride;
    }
}

/* Sets lane r from the two smallest squared distances in double. `rounding_error` is their error,
 * and the factors cover the rounding to float. */
static void set_near(const hd_kmeans_data *data, int32_t label, double best, double second,
                     double rounding_error, hd_kmeans_near *near, int32_t r) {
    double scale = (double)data->scale;
    near->label[r] = label;
    near->upper[r] = (float)(sqrt(best + rounding_error) * scale * (1 + HD_KMEANS_SLACK));
    near->lower[r] =
        (float)(sqrt(fmax(0, second - rounding_error)) * scale * (1 - HD_KMEANS_SLACK));
}

/* The two smallest of k squared distances, and the centre of the smallest; the first of equal ones,
 * since only a smaller distance replaces it. */
static int32_t two_nearest(const double *distances, int32_t k, double *best, double *second) {
    int32_t label = 0;
    *best = *second = INFINITY;
    for (int32_t i = 0; i < k; i++)
        if (distances[i] < *best) {
            *second = *best;
            *best = distances[i];
            label = i;
        } else if (distances[i] < *second) {
            *second = distances[i];
        }
    return label;
}

/* The nearest centre in double. */
static void decide_dense(const hd_kmeans_data *data, const hd_kmeans_centres *centres, int64_t i,
                         hd_kmeans_scratch *scratch, hd_kmeans_near *near, int32_t r) {
    double best, second;
    for (int32_t k = 0; k < centres->k; k++)
        scratch->sums[k] = hd_kmeans_exact(data, centres, i, k);
    int32_t label = two_nearest(scratch->sums, centres->k, &best, &second);
    set_near(data, label, best, second, 0, near, r);
}

/* Squared distances of row i to all centres, into scratch->sums; returns the row's squared norm. It
 * is not stored like the norms of dense rows: it is cheap beside the products with all centres. */
static double compute_sparse(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                             int64_t i, hd_kmeans_scratch *scratch) {
    const huddle_points *x = data->x;
    double square = hd_points_square(x, i), *sums = scratch->sums;
    int64_t begin = x->offsets[i];
    data->kernels->sparse(x->values + begin, x->columns + begin, x->offsets[i + 1] - begin,
                          centres->columns, whole_doubles(centres->k), sums);
    for (int32_t k = 0; k < centres->k; k++) {
        double distance = square + (centres->square[k] - 2 * sums[k]);
        sums[k] = distance > 0 ? distance : 0;
    }
    return square;
}

/* |x - m|^2 by differences over all d columns: slower, but no digits of the norms cancel. */
static double differences_sparse(const huddle_points *x, int64_t i, const double *m) {
    double sum = 0;
    int64_t e = x->offsets[i];
    for (int64_t j = 0; j < x->d; j++) {
        bool there = e < x->offsets[i + 1] && x->columns[e] == j;
        double t = (there ? (double)x->values[e] : 0) - m[j];
        e += there;
        sum += t * t;
    }
    return sum;
}

/* The nearest, by differences, of the centres whose measured squared distance is at most `within`:
 * those that can be the nearest within the error bound. */
static int32_t nearest_of(const hd_kmeans_data *data, const hd_kmeans_centres *centres, int64_t i,
                          const double *measured, double within, double *distance) {
    int32_t label = 0;
    *distance = INFINITY;
    for (int32_t k = 0; k < centres->k; k++) {
        if (!(measured[k] <= within))
            continue;
        double here = differences_sparse(data->x, i, centres->exact + k * data->x->d);
        if (here < *distance) {
            *distance = here;
            label = k;
        }
    }
    return label;
}

/* A bound on the rounding error of the squared distances of compute_sparse(): sums of as many terms
 * as the row has values, and of as many as there are columns, of numbers of the size of the squared
 * norms. 2^-51 is four times the unit roundoff of double. */
static double bound_sparse_error(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                                 int64_t i, double square) {
    const huddle_points *x = data->x;
    double terms = (double)(x->offsets[i + 1] - x->offsets[i]) + (double)x->d + 16;
    return terms * 0x1p-51 * (square + centres->largest);
}

/* The nearest centre by products. Centres that rounding errors may not separate from the nearest
 * are compared by differences; `second` then stays at the smallest measured distance, a safe lower
 * bound. */
static void decide_sparse(const hd_kmeans_data *data, const hd_kmeans_centres *centres, int64_t i,
                          hd_kmeans_scratch *scratch, hd_kmeans_near *near, int32_t r) {
    double square = compute_sparse(data, centres, i, scratch), best, second;
    double rounding_error = bound_sparse_error(data, centres, i, square);
    int32_t label = two_nearest(scratch->sums, centres->k, &best, &second);
    if (second <= best + 2 * rounding_error) {
        second = best;
        label = nearest_of(data, centres, i, scratch->sums, best + 2 * rounding_error, &best);
    }
    set_near(data, label, best, second, rounding_error, near, r);
}

/* Dense rows in float, block by block, and again in double where float is unsure: few rows, unless
 * centres nearly coincide. */
void hd_kmeans_nearest(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                       const int32_t *rows, int32_t count, hd_kmeans_scratch *scratch,
                       hd_kmeans_near *near) {
    if (data->x->offsets != NULL) {
        for (int32_t r = 0; r < count; r++)
            decide_sparse(data, centres, rows[r], scratch, near, r);
        return;
    }
    const float *at[HD_KMEANS_BLOCK + HD_KMEANS_AHEAD];
    locate_rows(data->x, rows, count, at);
    for (int32_t r = 0; r < HD_KMEANS_BLOCK; r++)
        near->norm[r] = data->norms[rows[r < count ? r : count - 1]];
    score_block(data, centres, at, data->scale, data->origin, false, scratch);
    data->kernels->choose(scratch->scores, centres->half, centres->k, centres->error, near);
    for (int32_t r = 0; r < count; r++)
        if (near->unsure[r])
            decide_dense(data, centres, rows[r], scratch, near, r);
}

/* For k-means++. Dense rows by differences in float; sparse rows by products in double, which are
 * then rounded. */
void hd_kmeans_distances(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                         const int32_t *rows, int32_t count, hd_kmeans_scratch *scratch) {
    const huddle_points *x = data->x;
    if (x->offsets == NULL) {
        const float *at[HD_KMEANS_BLOCK + HD_KMEANS_AHEAD];
        locate_rows(x, rows, count, at);
        score_block(data, centres, at, data->scale, data->origin, true, scratch);
        return;
    }
    double scale = (double)data->scale * (double)data->scale;
    for (int32_t r = 0; r < count; r++) {
        compute_sparse(data, centres, rows[r], scratch);
        for (int32_t k = 0; k < centres->k; k++)
            scratch->scores[(int64_t)k * HD_KMEANS_BLOCK + r] = (float)(scratch->sums[k] * scale);
    }
}

/* Half the distance to the nearest other centre: a row nearer than that to its own centre cannot be
 * nearer to another (Elkan 2003, Hamerly 2010). */
void hd_kmeans_gaps(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                    hd_kmeans_scratch *scratch, float *gap) {
    hd_kmeans_near near;
    const float *at[HD_KMEANS_BLOCK + HD_KMEANS_AHEAD];
    /* The nearest centre of a centre is itself, at distance 0; the lower bound for the next is the
     * one that is needed. If float cannot separate two centres, that bound is about 0, which is
     * safe. */
    for (int32_t first = 0; first < centres->k; first += HD_KMEANS_BLOCK) {
        for (int32_t r = 0; r < HD_KMEANS_BLOCK + HD_KMEANS_AHEAD; r++) {
            int32_t k = first + r < centres->k ? first + r : centres->k - 1;
            at[r] = centres->rows + k * data->stride;
            if (r < HD_KMEANS_BLOCK)
                near.norm[r] = 2 * centres->half[k];
        }
        score_block(data, centres, at, 1, data->zeros, false, scratch);
        data->kernels->choose(scratch->scores, centres->half, centres->k, centres->error, &near);
        for (int32_t r = 0; r < HD_KMEANS_BLOCK && first + r < centres->k; r++)
            gap[first + r] = near.lower[r] / 2;
    }
}
