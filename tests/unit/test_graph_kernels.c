/* graph: the kernels of every instruction set against their definitions in double, and what is
 * built on them: panels, tiles, leaves, projections. */
#include "base/memory.h"
#include "base/rng.h"
#include "graph/distance_kernels.h"
#include "graph/leaf_points.h"
#include "graph/leaves.h"
#include "graph/projection.h"
#include "graph/sparse_index.h"
#include "graph/sparse_rows.h"
#include "graph/split.h"
#include "graph/tiles.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_D = 40 };

static double draw(hd_rng *rng) {
    return hd_rng_normal(rng);
}

static double square_distance(const float *a, const float *b, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sum;
}

/* n x d normal numbers, freed by huddle_points_free(). */
static huddle_points make_points(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)draw(&rng);
    return x;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void products_of_rows(void **state) {
    (void)state;
    static float (*const kernels[])(const float *, const float *, int64_t) =
        HD_SIMD_TABLE(hd_graph_product);
    hd_rng rng = hd_rng_stream(1, 0);
    float a[MAX_D], b[MAX_D];
    for (int64_t d = 0; d <= MAX_D; d++) {
        double expected = 0;
        for (int64_t j = 0; j < d; j++) {
            a[j] = (float)draw(&rng);
            b[j] = (float)draw(&rng);
            expected += (double)a[j] * (double)b[j];
        }
        for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++)
            assert_close((double)kernels[isa](a, b, d), expected, 1e-5);
    }
}

/* Of any length, also beyond the stride after which sums are compared with the limit; and such that
 * the limit is exceeded, where any number above it will do. */
static void distances_of_rows(void **state) {
    (void)state;
    enum { LONGEST = 300 };
    static double (*const floats[])(const float *, const float *, int64_t, double) =
        HD_SIMD_TABLE(hd_graph_distance2_floats);
    static double (*const doubles[])(const double *, const double *, int64_t, double) =
        HD_SIMD_TABLE(hd_graph_distance2_doubles);
    static float (*const rough[])(const float *, const float *, int64_t, float) =
        HD_SIMD_TABLE(hd_graph_distance2_rough);
    hd_rng rng = hd_rng_stream(11, 0);
    float a[LONGEST], b[LONGEST];
    double x[LONGEST], y[LONGEST];
    for (int j = 0; j < LONGEST; j++) {
        x[j] = a[j] = (float)draw(&rng);
        y[j] = b[j] = (float)draw(&rng);
    }
    for (int64_t d = 0; d <= LONGEST; d++)
        for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
            double expected = square_distance(a, b, d), below = expected / 4 - 1e-3;
            assert_close(floats[isa](a, b, d, INFINITY), expected, 1e-13);
            assert_close(doubles[isa](x, y, d, INFINITY), expected, 1e-13);
            assert_close((double)rough[isa](a, b, d, INFINITY), expected, 1e-5);
            assert_close(floats[isa](a, b, d, expected + 1), expected, 1e-13);
            assert_true(floats[isa](a, b, d, below) > below);
            assert_true(doubles[isa](x, y, d, below) > below);
            assert_true(rough[isa](a, b, d, (float)below) > (float)below);
        }
}

static void distances_to_leaves_and_boxes(void **state) {
    (void)state;
    static void (*const leaf[])(const double *, const double *, int64_t, double *) =
        HD_SIMD_TABLE(hd_graph_leaf_distances);
    static double (*const box[])(const double *, const double *, const double *, int64_t) =
        HD_SIMD_TABLE(hd_graph_box_distance);
    hd_rng rng = hd_rng_stream(2, 0);
    double q[7], panel[7 * 8], low[7], high[7], out[8];
    for (int64_t d = 1; d <= 7; d++) {
        double inside = 0;
        for (int64_t j = 0; j < d; j++) {
            q[j] = draw(&rng);
            low[j] = draw(&rng);
            high[j] = low[j] + fabs(draw(&rng));
            double nearest = fmin(fmax(q[j], low[j]), high[j]);
            inside += (q[j] - nearest) * (q[j] - nearest);
            for (int l = 0; l < 8; l++)
                panel[j * 8 + l] = draw(&rng);
        }
        for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
            assert_close(box[isa](q, low, high, d), inside, 1e-14);
            leaf[isa](q, panel, d, out);
            for (int l = 0; l < 8; l++) {
                double expected = 0;
                for (int64_t j = 0; j < d; j++)
                    expected += (q[j] - panel[j * 8 + l]) * (q[j] - panel[j * 8 + l]);
                assert_close(out[l], expected, 1e-14);
            }
        }
    }
}

/* The points of a leaf, points[column][place], against a box. */
static void distances_of_a_leaf_from_a_box(void **state) {
    (void)state;
    enum { LEAF = HD_GRAPH_LEAF, D = 3 };
    static void (*const kernels[])(const double *, const double *, const double *, int64_t,
                                   double *) = HD_SIMD_TABLE(hd_graph_leaf_bounds);
    double points[D * LEAF], low[D], high[D], out[LEAF];
    hd_rng rng = hd_rng_stream(16, 0);
    for (int f = 0; f < D; f++) {
        low[f] = .5 * draw(&rng);
        high[f] = low[f] + fabs(draw(&rng));
        for (int l = 0; l < LEAF; l++)
            points[f * LEAF + l] = draw(&rng);
    }
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
        kernels[isa](points, low, high, D, out);
        for (int l = 0; l < LEAF; l++) {
            double expected = 0;
            for (int f = 0; f < D; f++) {
                double x = points[f * LEAF + l];
                expected += pow(x - fmin(fmax(x, low[f]), high[f]), 2);
            }
            assert_close(out[l], expected, 1e-14);
        }
    }
}

/* Limits in the middle between two distances, so that rounding does not matter. */
static void points_within_a_limit(void **state) {
    (void)state;
    enum { LEAF = HD_GRAPH_BORUVKA_LEAF, D = 20 };
    static uint64_t (*const kernels[])(const float *, const float *, int64_t, float) =
        HD_SIMD_TABLE(hd_graph_boruvka_near);
    float q[D], leaf[D * LEAF];
    hd_rng rng = hd_rng_stream(3, 0);
    for (int64_t d = 1; d <= D; d += 6) {
        for (int64_t j = 0; j < d; j++) {
            q[j] = (float)draw(&rng);
            for (int l = 0; l < LEAF; l++)
                leaf[j * LEAF + l] = (float)draw(&rng);
        }
        for (double limit = 0; limit < 4 * (double)d; limit += (double)d / 3) {
            uint64_t near = 0, unclear = 0;
            for (int l = 0; l < LEAF; l++) {
                double sum = 0;
                for (int64_t j = 0; j < d; j++)
                    sum += pow((double)leaf[j * LEAF + l] - (double)q[j], 2);
                near |= (uint64_t)(sum <= limit) << l;
                unclear |= (uint64_t)(fabs(sum - limit) < 1e-4) << l;
            }
            for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++)
                assert_true(((kernels[isa](q, leaf, d, (float)limit) ^ near) & ~unclear) == 0);
        }
    }
}

static void scores_that_may_suffice(void **state) {
    (void)state;
    enum { GROUP = HD_GRAPH_SPARSE_GROUP };
    static hd_graph_sparse_possible_function *const kernels[] =
        HD_SIMD_TABLE(hd_graph_sparse_possible);
    double scores[GROUP];
    float rest[GROUP];
    hd_rng rng = hd_rng_stream(4, 0);
    for (int t = 0; t < 20; t++) {
        uint64_t expected = 0;
        for (int l = 0; l < GROUP; l++) {
            scores[l] = draw(&rng);
            rest[l] = (float)fabs(draw(&rng));
            expected |= (uint64_t)(scores[l] + 1.7 * (double)rest[l] >= 1) << l;
        }
        for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++)
            assert_true(kernels[isa](scores, rest, 1.7, 1) == expected);
    }
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Which pairs were reported, how often, and the largest error of a value. */
typedef struct pairs {
    const huddle_points *x, *y;
    double scale2, error;
    unsigned char *seen; /* x->n x y->n */
} pairs;

static void see_pair(void *argument, int64_t i, int64_t j, float value) {
    pairs *p = argument;
    int64_t d = p->x->d;
    double exact = square_distance(p->x->values + i * d, p->y->values + j * d, d) * p->scale2;
    p->error = fmax(p->error, fabs((double)value - exact));
    p->seen[i * p->y->n + j]++;
}

/* Pairs of x by a tournament, in blocks, or with all of y by a sweep. */
typedef enum sequence { TOURNAMENT, BLOCKS, SWEEP } sequence;

static void compare_tiles(sequence by, const huddle_points *x, const huddle_points *y, float tau) {
    hd_graph_rows rows = hd_graph_rows_of_points(x), columns = hd_graph_rows_of_points(y);
    hd_graph_packing packing;
    hd_graph_panels row_panels, column_panels;
    assert_ok(hd_graph_packing_new(NULL, &rows, &columns, &packing));
    assert_ok(hd_graph_panels_new(NULL, &rows, &packing, &row_panels));
    assert_ok(hd_graph_panels_new(NULL, &columns, &packing, &column_panels));
    pairs p = {.x = x, .y = y, .scale2 = packing.scale * packing.scale};
    p.seen = hd_alloc_zero(x->n * y->n, 1);
    float *taus = hd_alloc(row_panels.padded, sizeof *taus);
    for (int64_t i = 0; i < row_panels.padded; i++)
        taus[i] = i < x->n ? (float)((double)tau * p.scale2) : -INFINITY;
    for (int64_t e = 0; e < x->n * x->d; e++) /* no coordinate exceeds 1 */
        assert_true(packing.scale * fabs((double)x->values[e] - packing.centre[e % x->d]) <= 1);
    hd_graph_tiles tiles = {.rows = &row_panels,
                            .columns = by == SWEEP ? &column_panels : &row_panels,
                            .kernel = hd_graph_tiles_kernel(&packing),
                            .tau = taus,
                            .hit = see_pair,
                            .argument = &p};
    if (by == TOURNAMENT)
        assert_ok(hd_graph_tiles_tournament(NULL, &tiles, NULL, NULL));
    else if (by == BLOCKS)
        assert_ok(hd_graph_tiles_blocks(NULL, &tiles, HD_GRAPH_TILE_COLUMNS));
    else
        hd_graph_tiles_sweep(&tiles, 0, row_panels.padded);
    assert_true(p.error < 1e-5);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < y->n; j++) {
            double exact = square_distance(x->values + i * x->d, y->values + j * x->d, x->d);
            bool pair =
                by == SWEEP || (i < j && (by == TOURNAMENT ||
                                          i / HD_GRAPH_TILE_COLUMNS == j / HD_GRAPH_TILE_COLUMNS));
            if (fabs(exact - (double)tau) > 1e-4 * (double)tau)
                assert_int_equal(p.seen[i * y->n + j], pair && exact < (double)tau);
        }
    huddle_free(p.seen);
    huddle_free(taus);
    hd_graph_panels_free(&row_panels);
    hd_graph_panels_free(&column_panels);
    hd_graph_packing_free(&packing);
}

/* Few columns are compared by differences, many by products; several blocks, and padding. */
static void tiles_report_every_near_pair_once(void **state) {
    (void)state;
    for (int64_t d = 5; d <= MAX_D; d += 35) {
        huddle_points x = make_points(520, d, 5), y = make_points(101, d, 6);
        for (int near = 0; near < 2; near++) {
            float tau = near ? (float)d : 1e6f;
            compare_tiles(TOURNAMENT, &x, &x, tau);
            compare_tiles(BLOCKS, &x, &x, tau);
            compare_tiles(SWEEP, &x, &y, tau);
        }
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* The value that the kernel of the packing computes for two packed points. */
static double kernel_value(const hd_graph_packing *packing, const hd_graph_panels *x, int64_t i,
                           int64_t j) {
    float sum = 0;
    for (int64_t f = 0; f < x->d; f++) {
        const float *a = x->values + (i / 16 * x->d + f) * 16,
                    *b = x->values + (j / 16 * x->d + f) * 16;
        float difference = a[i % 16] - b[j % 16];
        sum += packing->differences ? difference * difference : a[i % 16] * b[j % 16];
    }
    return packing->differences ? (double)sum : (double)(x->base[i] + x->base[j] + -2.0f * sum);
}

/* Pairs at all distances, near ones far from the centre as well. */
static void the_limit_bounds_the_kernel(void **state) {
    (void)state;
    enum { N = 96 };
    for (int64_t d = 5; d <= MAX_D; d += 35) {
        huddle_points x = make_points(N, d, 7);
        hd_rng rng = hd_rng_stream(8, 0);
        for (int64_t i = 1; i < N; i += 2) /* the neighbour of i - 1 */
            for (int64_t j = 0; j < d; j++)
                x.values[i * d + j] =
                    x.values[(i - 1) * d + j] + (float)(draw(&rng) * pow(10, -(double)(i % 7)));
        hd_graph_rows rows = hd_graph_rows_of_points(&x);
        hd_graph_packing packing;
        hd_graph_panels panels;
        assert_ok(hd_graph_packing_new(NULL, &rows, NULL, &packing));
        assert_ok(hd_graph_panels_new(NULL, &rows, &packing, &panels));
        assert_false(hd_graph_panels_exact(&packing, &panels, &panels));
        int violations = 0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                double exact = square_distance(x.values + i * d, x.values + j * d, d);
                double limit = hd_graph_packing_limit(&packing, panels.norm[i], exact);
                double packed = exact * packing.scale * packing.scale;
                violations += kernel_value(&packing, &panels, i, j) > limit;
                assert_true(limit < packed * 1.001 + 1e-4); /* and it says something */
            }
        assert_int_equal(violations, 0);
        hd_graph_panels_free(&panels);
        hd_graph_packing_free(&packing);
        huddle_points_free(&x);
    }
}

/* Whole numbers whose squared distances fit into float, and some that do not. */
static void whole_numbers_are_exact(void **state) {
    (void)state;
    for (int large = 0; large < 2; large++) {
        huddle_points x = make_points(50, 3, 9);
        for (int64_t e = 0; e < 150; e++)
            x.values[e] = (float)((double)(e * 37 % 101) * (large ? 100 : 1));
        hd_graph_rows rows = hd_graph_rows_of_points(&x);
        hd_graph_packing packing;
        hd_graph_panels panels;
        assert_ok(hd_graph_packing_new(NULL, &rows, NULL, &packing));
        assert_ok(hd_graph_panels_new(NULL, &rows, &packing, &panels));
        assert_true(packing.whole);
        assert_int_equal(hd_graph_panels_exact(&packing, &panels, &panels), !large);
        hd_graph_panels_free(&panels);
        hd_graph_packing_free(&packing);
        huddle_points_free(&x);
    }
}

/* ---- leaves --------------------------------------------------------------------------------- */

static void splitting_divides_by_key_and_name(void **state) {
    (void)state;
    enum { N = 100 };
    double keys[N], value[N];
    int32_t order[N];
    for (int t = 0; t < 200; t++) {
        hd_rng rng = hd_rng_stream(10, (uint64_t)t);
        int64_t middle = 10 + hd_rng_below(&rng, 80);
        for (int32_t i = 0; i < N; i++) {
            order[i] = (i * 7 + t) % N;
            keys[i] = value[order[i]] = (double)hd_rng_below(&rng, t % 2 ? 5 : 1000);
        }
        hd_graph_split_at(keys, order, 5, 95, middle);
        for (int64_t i = 0; i < N; i++)
            assert_true(keys[i] == value[order[i]]);
        for (int64_t i = 5; i < middle; i++)
            for (int64_t j = middle; j < 95; j++)
                assert_true(keys[i] < keys[j] || (keys[i] == keys[j] && order[i] < order[j]));
    }
}

static double box_distance(const double *low, const double *high, const double *lows,
                           const double *highs, int64_t d) {
    double sum = 0;
    for (int64_t f = 0; f < d; f++)
        sum += pow(fmax(0, fmax(lows[f] - high[f], low[f] - highs[f])), 2);
    return sum;
}

/* All boxes are tight, and all leaves within a limit are found. */
static void leaves_have_tight_boxes(void **state) {
    (void)state;
    enum { N = 3500, D = 3, MAX_LEAVES = 64 };
    huddle_points x = make_points(N, D, 11);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_leaves leaves;
    hd_graph_near_leaf found[MAX_LEAVES];
    double low[MAX_LEAVES][D], high[MAX_LEAVES][D];
    char seen[N] = {0};
    assert_ok(hd_graph_leaves_new(NULL, &rows, &leaves));
    assert_int_equal(leaves.count, (N + HD_GRAPH_LEAF - 1) / HD_GRAPH_LEAF);
    for (int64_t l = 0; l < leaves.count; l++) {
        double lows[D] = {DBL_MAX, DBL_MAX, DBL_MAX}, highs[D] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
        for (int64_t p = hd_graph_leaf_begin(l); p < hd_graph_leaf_end(&leaves, l); p++) {
            seen[leaves.order[p]]++;
            for (int64_t f = 0; f < D; f++) {
                lows[f] = fmin(lows[f], (double)x.values[leaves.order[p] * D + f]);
                highs[f] = fmax(highs[f], (double)x.values[leaves.order[p] * D + f]);
            }
        }
        hd_graph_leaves_box(&leaves, l, low[l], high[l]);
        assert_memory_equal(low[l], lows, sizeof lows);
        assert_memory_equal(high[l], highs, sizeof highs);
    }
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    for (int64_t i = 0; i < N + leaves.count; i += i < N ? 17 : 1) {
        int64_t expected = 0, own = i < N ? -1 : i - N; /* of a point or of a leaf */
        double at[D], limit = i % 2 == 0 ? .05 : .6;
        for (int64_t f = 0; f < D && i < N; f++)
            at[f] = 1.5 * (double)x.values[i * D + f];
        const double *lows = i < N ? at : low[own], *highs = i < N ? at : high[own];
        int64_t count = hd_graph_leaves_near(&leaves, lows, highs, limit, own, found);
        for (int64_t m = 0; m < leaves.count; m++) {
            double bound = box_distance(lows, highs, low[m], high[m], D);
            if (m == own || bound > limit)
                continue;
            assert_true(expected < count && found[expected].leaf == m);
            assert_close(found[expected++].bound, bound, 1e-12);
        }
        assert_int_equal(count, expected);
        assert_true(count < leaves.count - 1);
    }
    hd_graph_leaves_free(&leaves);
    huddle_points_free(&x);
}

/* Compares the packed points of two leaves, both relative to the centre of the second. */
static void packed_leaves_keep_their_distances(void **state) {
    (void)state;
    enum { N = 300, D = 6, LEAF = HD_GRAPH_LEAF };
    huddle_points x = make_points(N, D, 12);
    for (int64_t e = D; e < N * D; e++) /* pairs that are much nearer than the size of a leaf */
        x.values[e] = e / D % 2 == 0 ? x.values[e] : x.values[e - D] + .0003f * x.values[e];
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_leaves leaves;
    hd_graph_leaf_points points;
    float panels[LEAF * D];
    double row[D];
    assert_ok(hd_graph_leaves_new(NULL, &rows, &leaves));
    assert_ok(hd_graph_leaf_points_new(NULL, &rows, &leaves, 0, &points));
    for (int64_t b = 0; b < leaves.count; b++) {
        const float *other = hd_graph_leaf_values(&points, b);
        const double *centre = hd_graph_leaf_centre(&points, b);
        int64_t count = hd_graph_leaf_end(&leaves, b) - hd_graph_leaf_begin(b);
        double mean[D] = {0}, radius = 0;
        for (int64_t r = 0; r < count; r++)
            for (int64_t f = 0; f < D; f++)
                mean[f] += (double)x.values[leaves.order[b * LEAF + r] * D + f] / (double)count;
        for (int64_t f = 0; f < D; f++)
            assert_close(centre[f], mean[f], 1e-9);
        for (int64_t r = 0; r < count; r++) {
            double norm2 = 0;
            for (int64_t f = 0; f < D; f++)
                norm2 += pow((double)x.values[leaves.order[b * LEAF + r] * D + f] - centre[f], 2);
            radius = fmax(radius, points.scale * sqrt(norm2));
        }
        assert_close(points.radius[b], radius, 1e-9);
        for (int64_t r = 0; r < LEAF; r++)
            assert_true(isfinite(hd_graph_leaf_base(&points, b)[r]) == (r < count));
        hd_graph_leaf_repack(&points, 0, centre, row, panels);
        for (int64_t r = 0; r < LEAF; r++)
            for (int64_t s = 0; s < count; s++) {
                float sum = 0;
                double norm2 = 0, exact = 0;
                for (int64_t f = 0; f < D; f++) {
                    float v = panels[(r / 16 * D + f) * 16 + r % 16];
                    float w = other[(s / 16 * D + f) * 16 + s % 16];
                    double a = (double)x.values[leaves.order[r] * D + f];
                    double c = (double)x.values[leaves.order[b * LEAF + s] * D + f];
                    sum += (v - w) * (v - w);
                    norm2 += pow(points.scale * (a - centre[f]), 2);
                    exact += pow(points.scale * (a - c), 2);
                }
                float limit = hd_graph_leaf_limit(&points, sqrt(norm2), sqrt(exact));
                assert_true(sum <= limit && (double)limit <= exact * (1 + 1e-5) + 1e-6);
            }
    }
    hd_graph_leaf_points_free(&points);
    hd_graph_leaves_free(&leaves);
    huddle_points_free(&x);
}

/* ---- projections, sparse rows --------------------------------------------------------------- */

/* Rows near a plane of three dimensions among 30: four directions leave nothing out, and no
 * distance becomes longer. */
static void projections_shorten_distances(void **state) {
    (void)state;
    enum { N = 80, D = 30, P = 4 };
    huddle_points x = make_points(N, D, 13), base = make_points(3, D, 14);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            double noise = 1e-3 * (double)x.values[i * D + j], value = 5 + noise;
            for (int64_t b = 0; b < 3; b++)
                value += sin((double)(i * (b + 2))) * (double)base.values[b * D + j];
            x.values[i * D + j] = (float)value;
        }
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_projection projection;
    huddle_dense again;
    double error;
    assert_ok(hd_graph_projection_new(NULL, &rows, P, 0, &projection));
    for (int64_t a = 0; a < P; a++)
        for (int64_t b = 0; b < P; b++) {
            double product = 0;
            for (int64_t j = 0; j < D; j++)
                product += projection.v[a * D + j] * projection.v[b * D + j];
            assert_close(product, a == b, 1e-12);
        }
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < N; k++) {
            const double *y = projection.y.values + i * (P + 1),
                         *z = projection.y.values + k * (P + 1);
            double sum = 0, exact = sqrt(square_distance(x.values + i * D, x.values + k * D, D));
            for (int64_t j = 0; j <= P; j++)
                sum += (y[j] - z[j]) * (y[j] - z[j]);
            assert_true(sqrt(sum) <= exact + 2 * projection.position_error);
            assert_true(sqrt(sum) >= exact - .05);
        }
    assert_true(projection.position_error < 1e-5 && projection.position_error > 0);
    assert_ok(hd_graph_projection_apply(NULL, &projection, &rows, &again, &error));
    assert_memory_equal(again.values, projection.y.values, N * (P + 1) * sizeof *again.values);
    huddle_dense_free(&again);
    hd_graph_projection_free(&projection);
    huddle_points_free(&x);
    huddle_points_free(&base);
}

/* Rows with few entries, among them one of zeros, against the same rows in full. */
static void sparse_rows_have_the_distances_of_dense_ones(void **state) {
    (void)state;
    enum { N = 30, D = 12 };
    hd_rng rng = hd_rng_stream(15, 0);
    huddle_points x;
    double full[N][D] = {{0}};
    int64_t count = 0;
    assert_ok(huddle_points_new_sparse(N, D, N * D, &x));
    for (int64_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < D; j++)
            if (i != 4 && hd_rng_below(&rng, 3) == 0) {
                x.columns[count] = j;
                x.values[count] = (float)draw(&rng);
                full[i][j] = (double)x.values[count++];
            }
        x.offsets[i + 1] = count;
    }
    for (int cosine = 0; cosine < 2; cosine++) {
        hd_graph_sparse_rows rows;
        assert_ok(hd_graph_sparse_rows_new(&x, cosine, &rows));
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(hd_graph_sparse_length(&rows, i), x.offsets[i + 1] - x.offsets[i]);
        for (int64_t i = 0; i < N; i++)
            for (int64_t k = 0; k < N; k++) {
                double ii = 0, kk = 0, ik = 0;
                for (int j = 0; j < D; j++) {
                    ii += full[i][j] * full[i][j];
                    kk += full[k][j] * full[k][j];
                    ik += full[i][j] * full[k][j];
                }
                double expected = cosine ? 2 - 2 * ik / sqrt(ii * kk) : ii + kk - 2 * ik;
                if (cosine && (ii == 0 || kk == 0))
                    expected = ii == kk ? 0 : 2;
                assert_close(hd_graph_sparse_distance2(&rows, i, &rows, k), expected, 1e-12);
                if (!cosine)
                    assert_close(rows.norm2[i], ii, 1e-12);
            }
        hd_graph_sparse_rows_free(&rows);
    }
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_of_rows),
        cmocka_unit_test(products_of_rows),
        cmocka_unit_test(distances_to_leaves_and_boxes),
        cmocka_unit_test(distances_of_a_leaf_from_a_box),
        cmocka_unit_test(points_within_a_limit),
        cmocka_unit_test(scores_that_may_suffice),
        cmocka_unit_test(tiles_report_every_near_pair_once),
        cmocka_unit_test(the_limit_bounds_the_kernel),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(splitting_divides_by_key_and_name),
        cmocka_unit_test(leaves_have_tight_boxes),
        cmocka_unit_test(packed_leaves_keep_their_distances),
        cmocka_unit_test(projections_shorten_distances),
        cmocka_unit_test(sparse_rows_have_the_distances_of_dense_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
