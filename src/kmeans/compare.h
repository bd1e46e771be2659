/* Inside K-means: the points as all restarts share them, and sets of centres in the form in which
 * they are compared with points.
 *
 * Dense rows are compared in float, as scale * x - origin, a block at a time (block_kernels.h).
 * Where rounding errors could have decided, the row is compared again in double, so that labels are
 * those of the distances in double whatever the instruction set. Sparse rows are compared in double
 * from the start: by products, with origin 0, and again by differences where products are not
 * accurate enough. Distances called scaled are those of scale * x. */
#ifndef HUDDLE_SRC_KMEANS_DATA_H
#define HUDDLE_SRC_KMEANS_DATA_H

#include "base/parallel.h"
#include "base/slabs.h"
#include "huddle/matrix.h"
#include "kmeans/block_kernels.h"

/* Bounds on distances are widened by this share, which covers their rounding to float (6e-8) and
 * the few operations that update them. */
#define HD_KMEANS_SLACK 1e-6

typedef struct hd_kmeans_data {
    huddle_context *context;
    const hd_kmeans_kernels *kernels;
    const huddle_points *x; /* the rows of this process */
    hd_slab slab;           /* where they are among all */
    bool whole;             /* they are all */
    const double *weights;  /* or NULL: all 1 */
    double weight_scale;    /* brings them to at most 1 */
    int32_t c;
    int64_t grain, chunks; /* rows in chunks, fixed by the sizes alone */
    float scale;           /* a power of two that brings the data to about 1 */
    int64_t stride;        /* d, rounded up to whole vectors */
    float *origin;         /* stride: scaled mean; 0 if sparse */
    float *zeros;          /* stride */
    float *norms;          /* n, dense only: squared norms of the rows, scaled and centred */
    double variance;       /* mean over the columns */
} hd_kmeans_data;

/* Rows of a chunk. */
int64_t hd_kmeans_grain(int64_t n, int64_t d, int64_t c);

/* Finds scale, origin and variance of the points. weights may be NULL. */
huddle_status hd_kmeans_data_new(huddle_context *context, const huddle_points *x,
                                 const double *weights, int32_t c, hd_kmeans_data *data);
void hd_kmeans_data_free(hd_kmeans_data *data);

/* k vectors in the forms that the kernels use. */
typedef struct hd_kmeans_centres {
    int32_t k;
    const double *exact; /* k x d, unscaled; the caller's */
    double *square;      /* k: squared norms of exact */
    double largest;      /* of them */
    double *columns;     /* sparse points only: exact, transposed, rows filled up */
    float *rows, *tiles; /* scaled and centred: k x stride, and in tiles of d columns */
    float *half;         /* k: half the squared norms of rows */
    hd_kmeans_error error;
} hd_kmeans_centres;

huddle_status hd_kmeans_centres_new(const hd_kmeans_data *data, int32_t capacity,
                                    hd_kmeans_centres *centres);
void hd_kmeans_centres_free(hd_kmeans_centres *centres);

/* Converts k vectors; exact (k x d) must not change while they are used. */
void hd_kmeans_centres_set(const hd_kmeans_data *data, int32_t k, const double *exact,
                           hd_kmeans_centres *centres);

/* Scratch of one thread for blocks against up to `capacity` centres. */
typedef struct hd_kmeans_scratch {
    float *panel, *scores;
    double *sums; /* capacity, filled up */
} hd_kmeans_scratch;

/* One for each worker; *scratch, NULL before, is freed by the caller also after a failure. */
huddle_status hd_kmeans_scratch_new(int32_t workers, int32_t capacity, hd_kmeans_scratch **scratch);
void hd_kmeans_scratch_free(int32_t workers, hd_kmeans_scratch *scratch);

/* Nearest centres of count (1 .. HD_KMEANS_BLOCK) rows, with bounds. No label is left unsure. */
void hd_kmeans_nearest(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                       const int32_t *rows, int32_t count, hd_kmeans_scratch *scratch,
                       hd_kmeans_near *near);

/* Scaled squared distances of count rows to all k vectors, at scratch->scores[k * HD_KMEANS_BLOCK +
 * r]; exactly 0 between equal rows. */
void hd_kmeans_distances(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                         const int32_t *rows, int32_t count, hd_kmeans_scratch *scratch);

/* gap[k] = at most half the scaled distance from centre k to the nearest other. */
void hd_kmeans_gaps(const hd_kmeans_data *data, const hd_kmeans_centres *centres,
                    hd_kmeans_scratch *scratch, float *gap);

/* Squared distance in double, unscaled, of row i to centre k. */
double hd_kmeans_exact(const hd_kmeans_data *data, const hd_kmeans_centres *centres, int64_t i,
                       int32_t k);

/* sum += weight * row i. */
void hd_kmeans_add_row(const hd_kmeans_data *data, int64_t i, double weight, double *sum);

static inline double hd_kmeans_weight(const hd_kmeans_data *data, int64_t i) {
    return data->weights != NULL ? data->weights[i] : 1;
}

#endif
