/* The inner loops of K-means in GCC's vector types, which clang shares. The file is compiled once
 * per instruction set, with HD_LANES floats per register. Contraction and order of the sums may
 * differ between instruction sets; where this could change a label, `unsure` is set and the row is
 * compared in double (compare.c). */
#include "kmeans/block_kernels.h"

#include <math.h>
#include <stddef.h>

/* Two registers of rows at a time where there are 32 registers (AVX-512), one where there are 16:
 * with a full tile of 8 centres, 16 or 8 of them then hold sums, and the rest the panel and the
 * centres. */
enum { VECTORS = HD_LANES == 16 ? 2 : 1, STEP = VECTORS * HD_LANES };

/* The loose types may be unaligned: rows of the caller begin anywhere. Panels, centres and scores
 * are aligned by construction. */
typedef float lanes __attribute__((vector_size(4 * HD_LANES), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * HD_LANES), may_alias));
typedef float quad __attribute__((vector_size(16), may_alias));
typedef float loose_quad __attribute__((vector_size(16), aligned(4), may_alias));
typedef double doubles __attribute__((vector_size(8 * HD_KMEANS_DOUBLES), may_alias));
typedef float loose_lanes __attribute__((vector_size(4 * HD_LANES), aligned(4), may_alias));

/* ---- panels ------------------------------------------------------------------------------- */

/* Four columns of four rows, scaled, centred and transposed by two rounds of shuffles: pairs of
 * rows are interleaved, then pairs of pairs. */
static inline void pack_quads(const float *const *rows, int64_t j, float scale, quad origin,
                              float *out) {
    quad a = *(const loose_quad *)(rows[0] + j) * scale - origin;
    quad b = *(const loose_quad *)(rows[1] + j) * scale - origin;
    quad c = *(const loose_quad *)(rows[2] + j) * scale - origin;
    quad d = *(const loose_quad *)(rows[3] + j) * scale - origin;
    quad ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    quad ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    quad cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    quad cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(quad *)(out + 0 * HD_KMEANS_BLOCK) = __builtin_shufflevector(ab01, cd01, 0, 1, 4, 5);
    *(quad *)(out + 1 * HD_KMEANS_BLOCK) = __builtin_shufflevector(ab01, cd01, 2, 3, 6, 7);
    *(quad *)(out + 2 * HD_KMEANS_BLOCK) = __builtin_shufflevector(ab23, cd23, 0, 1, 4, 5);
    *(quad *)(out + 3 * HD_KMEANS_BLOCK) = __builtin_shufflevector(ab23, cd23, 2, 3, 6, 7);
}

/* Packs a block into a panel. Rows are read four columns at a time, so that each cache line of a
 * row is used while it is in the cache. The next block of rows is prefetched if it is near
 * (score_block() in compare.c decides). */
static void pack_rows(const float *const *rows, const float *ahead, int64_t width, float scale,
                      const float *origin, float *panel) {
    int64_t j = 0;
    if (width < 4) {
        for (; j < width; j++)
            for (int r = 0; r < HD_KMEANS_BLOCK; r++)
                panel[j * HD_KMEANS_BLOCK + r] = rows[r][j] * scale - origin[j];
        return;
    }
    while (j < width) {
        /* If width is not a multiple of four, the last group of columns overlaps the one before,
         * and writes the same values again. */
        j = j > width - 4 ? width - 4 : j;
        quad centre = *(const loose_quad *)(origin + j);
        if (ahead != NULL)
            for (int r = 0; r < HD_KMEANS_BLOCK; r += 4)
                __builtin_prefetch(ahead + j * HD_KMEANS_BLOCK + 4 * r);
        for (int r = 0; r < HD_KMEANS_BLOCK; r += 4)
            pack_quads(rows + r, j, scale, centre, panel + j * HD_KMEANS_BLOCK + r);
        j += 4;
    }
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Adds the scores of one tile of K centres to STEP rows. K and `squared` are constants after
 * inlining, so that the sums stay in registers over all columns of the panel. Each lane is one row
 * and adds its columns in ascending order. */
static inline __attribute__((always_inline)) void score_rows(const float *panel, int64_t width,
                                                             const float *tile, float *scores,
                                                             const int K, const int squared) {
    lanes sum[HD_KMEANS_TILE][VECTORS];
    for (int k = 0; k < K; k++)
        for (int v = 0; v < VECTORS; v++)
            sum[k][v] = *(lanes *)(scores + k * HD_KMEANS_BLOCK + v * HD_LANES);
    for (int64_t j = 0; j < width; j++)
        for (int v = 0; v < VECTORS; v++) {
            lanes x = *(const lanes *)(panel + j * HD_KMEANS_BLOCK + v * HD_LANES);
            for (int k = 0; k < K; k++) {
                lanes t = x - tile[j * K + k];
                if (squared)
                    sum[k][v] += t * t;
                else
                    sum[k][v] += x * tile[j * K + k];
            }
        }
    for (int k = 0; k < K; k++)
        for (int v = 0; v < VECTORS; v++)
            *(lanes *)(scores + k * HD_KMEANS_BLOCK + v * HD_LANES) = sum[k][v];
}

/* One instance of the loop for each tile size. */
#define CASE(K)                                                                                    \
    case K:                                                                                        \
        for (int r = 0; r < HD_KMEANS_BLOCK; r += STEP)                                            \
            score_rows(panel + r, width, tile, scores + r, K, squared);                            \
        break

static inline __attribute__((always_inline)) void score_tile(const float *panel, int64_t width,
                                                             const float *tile, float *scores,
                                                             int32_t K, const int squared) {
    switch (K) {
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
    }
}

/* Tile after tile over the panel, which stays in the first-level cache. */
static void compute_products(const float *panel, int64_t first, int64_t width, int64_t d,
                             const float *tiles, int32_t c, float *scores) {
    int32_t size = hd_kmeans_tile(c);
    for (int32_t k = 0; k < c; k += size) {
        int32_t K = c - k < size ? c - k : size;
        score_tile(panel, width, tiles + k * d + first * K, scores + (int64_t)k * HD_KMEANS_BLOCK,
                   K, 0);
    }
}

/* Differences are squared directly, without the expansion into norms and products: the distance
 * between equal rows is exactly 0, which k-means++ relies on. */
static void compute_distances(const float *panel, int64_t first, int64_t width, int64_t d,
                              const float *tiles, int32_t c, float *scores) {
    int32_t size = hd_kmeans_tile(c);
    for (int32_t k = 0; k < c; k += size) {
        int32_t K = c - k < size ? c - k : size;
        score_tile(panel, width, tiles + k * d + first * K, scores + (int64_t)k * HD_KMEANS_BLOCK,
                   K, 1);
    }
}

/* ---- long rows ---------------------------------------------------------------------------- */

/* Four rows at a time share what is loaded of a centre. FEW centres at a time: 5 x 4 sums of 32
 * registers, or 2 x 4 of 16. */
enum { ROWS = 4, FEW = HD_LANES == 16 ? 5 : 2 };

/* The sums over the lanes of four vectors at once: each is folded to a quad, and the four quads are
 * transposed and added, instead of four separate horizontal sums. */
static inline quad fold_lanes(const lanes *v) {
    quad part[4];
    for (int r = 0; r < 4; r++) {
        part[r] = ((const quad *)&v[r])[0];
        for (int q = 1; q < HD_LANES / 4; q++)
            part[r] += ((const quad *)&v[r])[q];
    }
    quad ab01 = __builtin_shufflevector(part[0], part[1], 0, 4, 1, 5);
    quad ab23 = __builtin_shufflevector(part[0], part[1], 2, 6, 3, 7);
    quad cd01 = __builtin_shufflevector(part[2], part[3], 0, 4, 1, 5);
    quad cd23 = __builtin_shufflevector(part[2], part[3], 2, 6, 3, 7);
    quad ab = ab01 + ab23, cd = cd01 + cd23;
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* One register of columns: scales and centres four rows, then one multiply-add per row and centre.
 * Rows are scaled again for each group of centres, which needs no memory. */
static inline __attribute__((always_inline)) void
multiply_step(const float *const *x, float scale, const float *origin, const float *centres,
              int64_t stride, lanes sum[FEW][ROWS], const int K) {
    lanes row[ROWS];
    for (int r = 0; r < ROWS; r++)
        row[r] = *(const loose_lanes *)x[r] * scale - *(const lanes *)origin;
    for (int k = 0; k < K; k++) {
        lanes m = *(const lanes *)(centres + k * stride);
        for (int r = 0; r < ROWS; r++)
            sum[k][r] += row[r] * m;
    }
}

/* Products of four rows and K centres. The last columns are copied and filled up with 0, so that
 * nothing is read beyond a row; origin and centres are 0 there as well. The next rows are
 * prefetched: four streams at once are too many for the prefetcher of the CPU. */
static inline __attribute__((always_inline)) void
multiply_rows(const float *const *rows, const float *const *ahead, int64_t d, float scale,
              const float *origin, const float *centres, int64_t stride, float *scores,
              const int K) {
    lanes sum[FEW][ROWS] = {0};
    const float *x[ROWS];
    int64_t j = 0;
    for (; j + HD_LANES <= d; j += HD_LANES) {
        for (int r = 0; r < ROWS; r++)
            x[r] = rows[r] + j;
        if (ahead != NULL)
            for (int r = 0; r < ROWS; r++)
                __builtin_prefetch(ahead[r] + j);
        multiply_step(x, scale, origin + j, centres + j, stride, sum, K);
    }
    if (j < d) {
        float last[ROWS][HD_LANES] = {0};
        for (int r = 0; r < ROWS; r++) {
            x[r] = last[r];
            for (int64_t e = j; e < d; e++)
                last[r][e - j] = rows[r][e];
        }
        multiply_step(x, scale, origin + j, centres + j, stride, sum, K);
    }
    for (int k = 0; k < K; k++)
        *(quad *)(scores + k * HD_KMEANS_BLOCK) = fold_lanes(sum[k]);
}

/* All rows of a block against all centres. Only the first group of centres prefetches; for the
 * others the rows are in the cache already. */
static void multiply_block(const float *const *rows, int64_t d, float scale, const float *origin,
                           const float *centres, int64_t stride, int32_t c, float *scores) {
    for (int r = 0; r < HD_KMEANS_BLOCK; r += ROWS)
        for (int32_t k = 0; k < c;) {
            int32_t left = c - k;
            const float *const *ahead = k == 0 ? rows + r + ROWS : NULL;
            const float *m = centres + k * stride;
            float *out = scores + (int64_t)k * HD_KMEANS_BLOCK + r;
            if (left >= FEW)
                multiply_rows(rows + r, ahead, d, scale, origin, m, stride, out, FEW);
            else if (left >= 2)
                multiply_rows(rows + r, ahead, d, scale, origin, m, stride, out, 2);
            else
                multiply_rows(rows + r, ahead, d, scale, origin, m, stride, out, 1);
            k += left >= FEW ? FEW : left >= 2 ? 2 : 1;
        }
}

/* Must use the same scaled and centred values as the products, for the bounds in choose_nearest().
 */
static float row_norm(const float *row, int64_t d, float scale, const float *origin) {
    lanes sum = {0};
    float total = 0;
    int64_t j = 0;
    for (; j + HD_LANES <= d; j += HD_LANES) {
        lanes x = *(const loose_lanes *)(row + j) * scale - *(const lanes *)(origin + j);
        sum += x * x;
    }
    for (; j < d; j++)
        total += (row[j] * scale - origin[j]) * (row[j] * scale - origin[j]);
    /* The order depends on the register width; the error bound covers any order. */
    for (int l = 0; l < HD_LANES; l++)
        total += sum[l];
    return total;
}

/* ---- choice ------------------------------------------------------------------------------- */

/* Lane-wise mask ? yes : no. Compilers turn it into a blend. */
static inline lanes select_lanes(ints mask, lanes yes, lanes no) {
    return (lanes)(((ints)yes & mask) | ((ints)no & ~mask));
}

/* Lane-wise smallest and second smallest score, and the index of the smallest, without branches.
 * Only a smaller score replaces the best, so the first of equal centres wins. */
static inline void two_smallest(const float *scores, const float *half, int32_t c, float *smallest,
                                float *next, int32_t *label) {
    lanes best = half[0] - *(const lanes *)scores, second = (lanes){0} + INFINITY;
    ints index = {0};
    for (int32_t k = 1; k < c; k++) {
        lanes score = half[k] - *(const lanes *)(scores + (int64_t)k * HD_KMEANS_BLOCK);
        ints closer = score < best;
        lanes other = select_lanes(closer, best, score);
        second = select_lanes(other < second, other, second);
        best = select_lanes(closer, score, best);
        index = (index & ~closer) | (k & closer);
    }
    *(lanes *)smallest = best;
    *(lanes *)next = second;
    *(ints *)label = index;
}

/* Scores order centres as distances do: |x - m|^2 = |x|^2 + 2 (|m|^2 / 2 - x.m). Two scores whose
 * difference exceeds the bound on their rounding errors are ordered correctly; otherwise the label
 * is unsure. The same error bounds widen the distances: `upper` is never below the true distance to
 * the nearest centre, `lower` never above that to any other. The factors 1 +- 2^-21 cover the
 * rounding of the last additions and of the square root. */
static void choose_nearest(const float *scores, const float *half, int32_t c, hd_kmeans_error error,
                           hd_kmeans_near *near) {
    _Alignas(64) float best[HD_KMEANS_BLOCK], second[HD_KMEANS_BLOCK];
    for (int r = 0; r < HD_KMEANS_BLOCK; r += HD_LANES)
        two_smallest(scores + r, half, c, best + r, second + r, near->label + r);
    for (int r = 0; r < HD_KMEANS_BLOCK; r++) {
        float norm = near->norm[r];
        float slack = sqrtf(norm) * error.dot + error.score;
        float rounding_error = slack + norm * error.norm;
        float nearest = norm + 2 * best[r] + rounding_error,
              next = norm + 2 * second[r] - rounding_error;
        near->unsure[r] = !(second[r] - best[r] > slack); /* true for NaN too */
        near->upper[r] = sqrtf(nearest > 0 ? nearest : 0) * (1 + 0x1p-21f);
        near->lower[r] = sqrtf(next > 0 ? next : 0) * (1 - 0x1p-21f);
    }
}

/* ---- rows that have to be compared --------------------------------------------------------- */

/* Hamerly's update: by the triangle inequality the distance to the own centre grows by at most the
 * move of that centre, and the distance to any other shrinks by at most the largest move among the
 * others. `mover` is the centre that moved farthest; for its own rows the second largest move
 * applies. Written without branches, so that it vectorises. */
static int32_t loosen_bounds(int32_t n, const int32_t *restrict label, const hd_kmeans_moves *moves,
                             float *restrict upper, float *restrict lower, int32_t *restrict open) {
    const float *restrict move = moves->move, *restrict gap = moves->gap;
    const float largest = moves->largest, second = moves->second;
    const int32_t mover = moves->mover;
    int32_t count = 0;
    for (int32_t r = 0; r < n; r++) {
        int32_t k = label[r];
        /* The factors cover the rounding of each operation, so that bounds remain bounds after any
         * number of updates. */
        float above = (upper[r] + move[k]) * (1 + 0x1p-21f);
        float below = lower[r] - (k == mover ? second : largest);
        below -= fabsf(below) * 0x1p-21f;
        upper[r] = above;
        lower[r] = below;
        open[r] = !((above < below) | (above < gap[k]));
        count += open[r];
    }
    return count;
}

/* If the squared distance between a chosen row m and every candidate is at least 4 D_i, where D_i
 * is that of row i to m, no candidate is nearer to i than m: |i - t| >= |m - t| - |i - m| >= |i -
 * m|. */
static int32_t find_reachable(int32_t n, const int32_t *restrict label,
                              const float *restrict min_distance2, const float *restrict square,
                              int32_t *restrict open) {
    int32_t count = 0;
    for (int32_t r = 0; r < n; r++) {
        open[r] = min_distance2[label[r]] < 4.01f * square[r];
        count += open[r];
    }
    return count;
}

/* The sum is taken by halving, in the same order for all instruction sets. */
static float sum_gain(const float *distance, const float *before, const float *weight) {
    _Alignas(64) float terms[HD_KMEANS_BLOCK];
    for (int r = 0; r < HD_KMEANS_BLOCK; r += HD_LANES) {
        lanes less = *(const lanes *)(before + r) - *(const lanes *)(distance + r);
        less = select_lanes(less > 0, less, (lanes){0});
        *(lanes *)(terms + r) = less * *(const lanes *)(weight + r);
    }
    for (int half = HD_KMEANS_BLOCK / 2; half >= 1; half /= 2)
        for (int r = 0; r < half; r++)
            terms[r] += terms[r + half];
    return terms[0];
}

/* ---- sums --------------------------------------------------------------------------------- */

/* Products with K registers of centres, K being a constant after inlining. Each entry of the row
 * reads the same column of all centres, which are contiguous; a sum is in the order of the entries
 * for every instruction set. */
static inline __attribute__((always_inline)) void sparse_tile(const float *values,
                                                              const int32_t *index, int64_t count,
                                                              const double *columns, int64_t stride,
                                                              double *sums, const int K) {
    doubles sum[3] = {{0}};
    for (int64_t e = 0; e < count; e++)
        for (int k = 0; k < K; k++)
            sum[k] += (double)values[e] *
                      *(const doubles *)(columns + index[e] * stride + k * HD_KMEANS_DOUBLES);
    for (int k = 0; k < K; k++)
        *(doubles *)(sums + k * HD_KMEANS_DOUBLES) = sum[k];
}

/* Three registers of centres at a time share the loads of the row; the last ones one by one. Sums
 * beyond the last centre are products with 0 and are ignored. */
static void multiply_sparse(const float *values, const int32_t *index, int64_t count,
                            const double *columns, int64_t stride, double *sums) {
    int64_t k = 0;
    for (; k + 3 * HD_KMEANS_DOUBLES <= stride; k += 3 * HD_KMEANS_DOUBLES)
        sparse_tile(values, index, count, columns + k, stride, sums + k, 3);
    for (; k < stride; k += HD_KMEANS_DOUBLES)
        sparse_tile(values, index, count, columns + k, stride, sums + k, 1);
}

/* In double, because a cluster can contain millions of rows. */
static void add_row(const float *restrict row, int64_t d, double weight, double *restrict sum) {
    for (int64_t j = 0; j < d; j++)
        sum[j] += weight * (double)row[j];
}

/* In double and relative to a pivot, so that sum and square do not cancel where the mean is
 * large. */
static void add_moments(const float *restrict row, const float *restrict pivot, int64_t d,
                        double *restrict sum, double *restrict square, float *restrict largest) {
    for (int64_t j = 0; j < d; j++) {
        double t = (double)row[j] - (double)pivot[j];
        float size = fabsf((float)t);
        sum[j] += t;
        square[j] += t * t;
        largest[j] = size > largest[j] ? size : largest[j];
    }
}

const hd_kmeans_kernels HD_SIMD(hd_kmeans_kernels) = {
    .pack = pack_rows,
    .products = compute_products,
    .distances = compute_distances,
    .multiply = multiply_block,
    .norm = row_norm,
    .choose = choose_nearest,
    .loosen = loosen_bounds,
    .reach = find_reachable,
    .gain = sum_gain,
    .sparse = multiply_sparse,
    .add = add_row,
    .moments = add_moments,
};
