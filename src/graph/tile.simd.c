/* The inner loop of the neighbour search: a block of products that stays in the registers.
 *
 * A register block is BLOCK rows by three vectors: 24 accumulators of 16 lanes with AVX-512, which
 * has 32 registers, and 12 of 8 or 4 lanes otherwise, with 16 registers. A tile consists of as many
 * blocks as fit into it. */
#include "base/cpu.h"
#include "graph/distance_kernels.h"
#include "graph/lanes.h"

#include <string.h>

/* WIDTH is 48, 24 or 12, which divide the columns of a tile, and a vector never spans two panels of
 * 16 points. */
#define BLOCK   (HD_LANES == 16 ? 8 : 4)
#define VECTORS 3
#define WIDTH   (VECTORS * HD_LANES)

typedef float lanes __attribute__((vector_size(HD_LANES * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(HD_LANES * sizeof(float))));

static inline lanes load_lanes(const float *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Whether any lane is set, by 64-bit words: generic vectors have no reduction. */
static inline int any_lane(mask m) {
    uint64_t words[HD_LANES / 2], all = 0;
    memcpy(words, &m, sizeof words);
    for (int i = 0; i < HD_LANES / 2; i++)
        all |= words[i];
    return all != 0;
}

/* Bit l of the result is set if lane l is. */
static inline uint64_t lane_bits(mask m) {
#if defined(__AVX512DQ__)
    return (uint64_t)_mm512_movepi32_mask((__m512i)m);
#elif defined(__AVX__)
    return (uint64_t)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE__)
    return (uint64_t)_mm_movemask_ps((__m128)m);
#else
    uint64_t all = 0;
    for (int l = 0; l < HD_LANES; l++)
        all |= (uint64_t)(m[l] != 0) << l;
    return all;
#endif
}

/* acc[r][v] over all features, by STEP(acc, a, b). One pass over the features reads each operand
 * once and keeps all sums in registers, so that the kernel is limited by arithmetic and not by
 * memory.
 *
 * Subtracting a vector of zeros copies a scalar to all lanes without changing it, not even -0. */
#define ACCUMULATE(STEP)                                                                           \
    lanes acc[BLOCK][VECTORS] = {0};                                                               \
    const float *column[VECTORS];                                                                  \
    for (int v = 0; v < VECTORS; v++) {                                                            \
        int64_t c = c0 + v * HD_LANES;                                                             \
        column[v] = t->columns + c / HD_GRAPH_PANEL * t->panel + c % HD_GRAPH_PANEL;               \
    }                                                                                              \
    const float *row = t->rows + r0;                                                               \
    for (int64_t f = 0; f < t->d; f++) {                                                           \
        lanes b[VECTORS];                                                                          \
        for (int v = 0; v < VECTORS; v++)                                                          \
            b[v] = load_lanes(column[v] + f * HD_GRAPH_PANEL);                                     \
        for (int r = 0; r < BLOCK; r++) {                                                          \
            lanes a = row[f * HD_GRAPH_PANEL + r] - (lanes){0};                                    \
            for (int v = 0; v < VECTORS; v++)                                                      \
                STEP(acc[r][v], a, b[v]);                                                          \
        }                                                                                          \
    }

/* Product form needs one fused operation per feature and is used for many features; differences
 * need two, but do not cancel. panels.h bounds the rounding error of both. */
#define PRODUCT(acc, a, b) acc += (a) * (b)
#define DIFFERENCE(acc, a, b)                                                                      \
    do {                                                                                           \
        lanes difference = (a) - (b);                                                              \
        acc += difference * difference;                                                            \
    } while (0)

/* Turns accumulators into distances and compares them with tau; if there are hits, stores the block
 * and sets their bits. The first comparison keeps no masks: most blocks have no hit and end there.
 * Padding has base infinity and coordinates 0, so that its distances are infinite and never NaN.
 * The bases are added first: sum and products commute, so that a pair has the same value whichever
 * of its points is the row. */
#define FINISH(FACTOR)                                                                             \
    lanes tau[VECTORS], base[VECTORS];                                                             \
    mask all = {0};                                                                                \
    for (int v = 0; v < VECTORS; v++) {                                                            \
        tau[v] = load_lanes(t->column_tau + c0 + v * HD_LANES);                                    \
        base[v] = load_lanes(t->column_base + c0 + v * HD_LANES);                                  \
    }                                                                                              \
    for (int r = 0; r < BLOCK; r++)                                                                \
        for (int v = 0; v < VECTORS; v++) {                                                        \
            acc[r][v] = (t->row_base[r0 + r] + base[v]) + (FACTOR)*acc[r][v];                      \
            all |= acc[r][v] <= HD_GRAPH_MAX(ps, t->row_tau[r0 + r] - (lanes){0}, tau[v]);         \
        }                                                                                          \
    if (!any_lane(all))                                                                            \
        return 0;                                                                                  \
    for (int r = 0; r < BLOCK; r++)                                                                \
        for (int v = 0; v < VECTORS; v++) {                                                        \
            int c = c0 + v * HD_LANES;                                                             \
            mask hit = acc[r][v] <= HD_GRAPH_MAX(ps, t->row_tau[r0 + r] - (lanes){0}, tau[v]);     \
            t->hits[r0 + r] |= lane_bits(hit) << c;                                                \
            memcpy(t->out + (r0 + r) * HD_GRAPH_TILE_COLUMNS + c, &acc[r][v], sizeof(lanes));      \
        }                                                                                          \
    return 1

static inline int compare_products(const hd_graph_tile *t, int r0, int c0) {
    ACCUMULATE(PRODUCT)
    FINISH(-2.0f);
}

static inline int compare_differences(const hd_graph_tile *t, int r0, int c0) {
    ACCUMULATE(DIFFERENCE)
    FINISH(1.0f);
}

/* All register blocks of a tile. The hits are cleared first, because a block without hits writes
 * nothing. */
#define COVER(BLOCK_KERNEL)                                                                        \
    int found = 0;                                                                                 \
    memset(tile->hits, 0, HD_GRAPH_TILE_ROWS * sizeof *tile->hits);                                \
    for (int r0 = 0; r0 < HD_GRAPH_TILE_ROWS; r0 += BLOCK)                                         \
        for (int c0 = 0; c0 < HD_GRAPH_TILE_COLUMNS; c0 += WIDTH)                                  \
            found |= BLOCK_KERNEL(tile, r0, c0);                                                   \
    return found

int HD_SIMD(hd_graph_tile_products)(const hd_graph_tile *tile) {
    COVER(compare_products);
}

int HD_SIMD(hd_graph_tile_differences)(const hd_graph_tile *tile) {
    COVER(compare_differences);
}
