/* kmeans: the kernels of every instruction set against plain loops, centres with gaps between their
 * rows, and the predicted memory against what is allocated. */
#include "base/memory.h"
#include "kmeans/block_kernels.h"
#include "kmeans/memory.h"
#include "kmeans_points.h"

#include <float.h>

enum { BLOCK = HD_KMEANS_BLOCK, MAX_D = 37, MAX_C = 11 };

/* The kernels of all instruction sets that this CPU has. */
static const hd_kmeans_kernels *kernels_of(hd_isa isa) {
#if defined(__x86_64__)
    static const hd_kmeans_kernels *const all[] = {&hd_kmeans_kernels_base, &hd_kmeans_kernels_avx2,
                                                   &hd_kmeans_kernels_avx512};
    return all[isa];
#else
    (void)isa;
    return &hd_kmeans_kernels_base;
#endif
}

/* A block of rows, and centres in the three forms that the kernels read. */
typedef struct scene {
    int64_t d, stride;
    int32_t c;
    float scale;
    float row[BLOCK + 4][MAX_D];
    const float *rows[BLOCK + 4]; /* and those that are read ahead */
    _Alignas(64) float origin[MAX_D + 64];
    _Alignas(64) float centres[MAX_C * (MAX_D + 64)];
    _Alignas(64) float tiles[MAX_C * MAX_D];
} scene;

static void make_scene(int64_t d, int32_t c, scene *s) {
    hd_rng rng = hd_rng_stream(3, (uint64_t)(100 * d + c));
    memset(s, 0, sizeof *s);
    s->d = d;
    s->c = c;
    s->scale = .5f;
    s->stride = (d + HD_KMEANS_WIDEST - 1) / HD_KMEANS_WIDEST * HD_KMEANS_WIDEST;
    for (int r = 0; r < BLOCK + 4; r++) {
        s->rows[r] = s->row[r];
        for (int64_t j = 0; j < d; j++)
            s->row[r][j] = (float)hd_rng_normal(&rng);
    }
    int32_t size = hd_kmeans_tile(c);
    for (int64_t j = 0; j < d; j++) {
        s->origin[j] = (float)hd_rng_normal(&rng);
        for (int32_t k = 0; k < c; k++) {
            int32_t first = k / size * size, width = c - first < size ? c - first : size;
            float value = (float)hd_rng_normal(&rng);
            s->centres[k * s->stride + j] = value;
            s->tiles[first * d + (k - first) + j * width] = value;
        }
    }
}

/* Column j of row r as the kernels see it. */
static double seen(const scene *s, int r, int64_t j) {
    return (double)s->row[r][j] * (double)s->scale - (double)s->origin[j];
}

/* Products and squared distances of all rows and centres, by panels and in place. */
static void check_scores(const scene *s, const hd_kmeans_kernels *kernels) {
    static _Alignas(64) float panel[MAX_D * BLOCK], products[MAX_C * BLOCK],
        distances[MAX_C * BLOCK], direct[MAX_C * BLOCK];
    memset(products, 0, sizeof products);
    memset(distances, 0, sizeof distances);
    kernels->pack(s->rows, NULL, s->d, s->scale, s->origin, panel);
    kernels->products(panel, 0, s->d, s->d, s->tiles, s->c, products);
    kernels->distances(panel, 0, s->d, s->d, s->tiles, s->c, distances);
    kernels->multiply(s->rows, s->d, s->scale, s->origin, s->centres, s->stride, s->c, direct);
    for (int r = 0; r < BLOCK; r++) {
        double norm = 0;
        for (int64_t j = 0; j < s->d; j++) {
            assert_close((double)panel[j * BLOCK + r], seen(s, r, j), 1e-6);
            norm += seen(s, r, j) * seen(s, r, j);
        }
        assert_close((double)kernels->norm(s->row[r], s->d, s->scale, s->origin), norm, 1e-5);
        for (int32_t k = 0; k < s->c; k++) {
            double product = 0, distance = 0;
            for (int64_t j = 0; j < s->d; j++) {
                double m = (double)s->centres[k * s->stride + j], x = seen(s, r, j);
                product += x * m;
                distance += (x - m) * (x - m);
            }
            assert_close((double)products[k * BLOCK + r], product, 1e-5);
            assert_close((double)direct[k * BLOCK + r], product, 1e-5);
            assert_close((double)distances[k * BLOCK + r], distance, 1e-5);
        }
    }
}

static void scores_of_every_size(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 3, 4, 5, 16, 17, 31, 37};
    static scene s;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int32_t c = 1; c <= MAX_C; c++) {
            make_scene(widths[w], c, &s);
            for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++)
                check_scores(&s, kernels_of(isa));
        }
}

/* The nearest centre, the bounds, and doubt where two are equally near. */
static void the_nearest_centre_is_chosen(void **state) {
    (void)state;
    enum { C = 5 };
    static _Alignas(64) float scores[C * BLOCK];
    float half[C];
    hd_kmeans_error error = {.dot = 1e-6f, .score = 1e-6f, .norm = 1e-6f};
    hd_rng rng = hd_rng_stream(4, 0);
    hd_kmeans_near near;
    for (int k = 0; k < C; k++)
        half[k] = (float)hd_rng_uniform(&rng);
    for (int e = 0; e < C * BLOCK; e++)
        scores[e] = (float)hd_rng_uniform(&rng);
    for (int r = 0; r < BLOCK; r += 7) /* a tie of the first and the third */
        for (int k = 0; k < C; k++)
            scores[k * BLOCK + r] = half[k] + (k == 0 || k == 2 ? .5f : .1f);
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
        for (int r = 0; r < BLOCK; r++)
            near.norm[r] = 4;
        kernels_of(isa)->choose(scores, half, C, error, &near);
        for (int r = 0; r < BLOCK; r++) {
            double best = INFINITY, second = INFINITY;
            int32_t label = -1;
            for (int32_t k = 0; k < C; k++) {
                double score = (double)half[k] - (double)scores[k * BLOCK + r];
                second = fmin(second, fmax(score, best));
                label = score < best ? k : label;
                best = fmin(best, score);
            }
            assert_int_equal(near.unsure[r], r % 7 == 0);
            if (r % 7 != 0)
                assert_int_equal(near.label[r], label);
            double upper = sqrt(4 + 2 * best), lower = sqrt(4 + 2 * second);
            assert_true((double)near.upper[r] >= upper && (double)near.upper[r] < upper + 1e-4);
            assert_true((double)near.lower[r] <= lower && (double)near.lower[r] > lower - 1e-4);
        }
    }
}

/* Bounds of Hamerly: they grow and shrink by the moves; rows in doubt are counted. */
static void bounds_follow_the_moves(void **state) {
    (void)state;
    static const float move[] = {.5f, .1f, .2f}, gap[] = {.3f, .05f, .05f};
    hd_kmeans_moves moves = {.move = move, .gap = gap, .largest = .5f, .second = .2f, .mover = 0};
    hd_rng rng = hd_rng_stream(5, 0);
    int32_t label[BLOCK], open[BLOCK];
    float upper[BLOCK], lower[BLOCK], before[2][BLOCK];
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
        int32_t expected = 0;
        for (int r = 0; r < BLOCK; r++) {
            label[r] = r % 3;
            before[0][r] = upper[r] = (float)hd_rng_uniform(&rng);
            before[1][r] = lower[r] = upper[r] + (float)hd_rng_uniform(&rng);
        }
        int32_t count = kernels_of(isa)->loosen(BLOCK, label, &moves, upper, lower, open);
        for (int r = 0; r < BLOCK; r++) {
            double above = (double)before[0][r] + (double)move[label[r]];
            double below = (double)before[1][r] - (label[r] == 0 ? .2 : .5);
            assert_true((double)upper[r] >= above && (double)upper[r] < above + 1e-5);
            assert_true((double)lower[r] <= below + 1e-7 && (double)lower[r] > below - 1e-5);
            bool is_open = !(upper[r] < lower[r] || upper[r] < gap[label[r]]);
            assert_int_equal(open[r] != 0, is_open);
            expected += is_open;
        }
        assert_int_equal(count, expected);
    }
}

/* A candidate can only be nearer to a row than its chosen row if it is less than twice as far from
 * that one. */
static void candidates_within_reach(void **state) {
    (void)state;
    static const float min_distance2[] = {1, 4};
    int32_t label[] = {0, 0, 0, 1, 1}, open[5];
    float square[] = {.1f, .24f, .3f, .9f, 1.1f};
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
        assert_int_equal(kernels_of(isa)->reach(5, label, min_distance2, square, open), 2);
        assert_true(!open[0] && !open[1] && open[2] && !open[3] && open[4]);
    }
}

/* What a candidate saves, and the sums of rows and of moments. */
static void sums_of_rows(void **state) {
    (void)state;
    _Alignas(64) float distance[BLOCK], before[BLOCK], weight[BLOCK];
    float row[MAX_D], pivot[MAX_D], largest[MAX_D];
    double sum[MAX_D], moments[2][MAX_D];
    hd_rng rng = hd_rng_stream(6, 0);
    for (hd_isa isa = HD_ISA_BASE; isa <= hd_cpu_isa(); isa++) {
        const hd_kmeans_kernels *kernels = kernels_of(isa);
        double expected = 0;
        for (int r = 0; r < BLOCK; r++) {
            distance[r] = (float)hd_rng_uniform(&rng);
            before[r] = (float)hd_rng_uniform(&rng);
            weight[r] = (float)hd_rng_uniform(&rng);
            expected += fmax(0, (double)before[r] - (double)distance[r]) * (double)weight[r];
        }
        assert_close((double)kernels->gain(distance, before, weight), expected, 1e-5);
        for (int j = 0; j < MAX_D; j++) {
            row[j] = (float)hd_rng_normal(&rng);
            pivot[j] = (float)hd_rng_normal(&rng);
            sum[j] = moments[0][j] = moments[1][j] = j;
            largest[j] = .5f;
        }
        kernels->add(row, MAX_D, 2.5, sum);
        kernels->moments(row, pivot, MAX_D, moments[0], moments[1], largest);
        for (int j = 0; j < MAX_D; j++) {
            double t = (double)row[j] - (double)pivot[j];
            assert_close(sum[j], j + 2.5 * (double)row[j], 1e-13);
            assert_close(moments[0][j], j + t, 1e-13);
            assert_close(moments[1][j], j + t * t, 1e-13);
            assert_close((double)largest[j], fmax(.5, fabs(t)), 1e-6);
        }
    }
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* What is between the rows of the centres is not looked at. */
static void centres_may_have_gaps(void **state) {
    (void)state;
    float values[] = {0, 0, 10, 10, 1, 0};
    double centres[] = {0, 0, NAN, 10, 10, NAN};
    huddle_points x = {.n = 3, .d = 2, .stride = 2, .values = values};
    huddle_dense m = {.rows = 2, .cols = 2, .stride = 3, .values = centres};
    int32_t labels[3];
    assert_ok(huddle_kmeans_assign(NULL, &x, &m, labels));
    assert_true(labels[0] == 0 && labels[1] == 1 && labels[2] == 0);
    centres[4] = NAN;
    assert_refused(huddle_kmeans_assign(NULL, &x, &m, labels), HUDDLE_INVALID,
                   "centre 2, column 2");
    m.stride = 1;
    assert_refused(huddle_kmeans_assign(NULL, &x, &m, labels), HUDDLE_INVALID, "do not fit");
}

/* By the library's own counter of bytes: many sums of chunks, and many trials of k-means++. */
static void memory_is_as_predicted(void **state) {
    (void)state;
    static const int64_t settings[][3] = {{12000, 40, 100}, {20000, 2, 64}, {6000, 5, 3}};
    for (int t = 0; t < 3; t++) {
        int64_t n = settings[t][0], d = settings[t][1];
        huddle_kmeans_options options = huddle_kmeans_defaults();
        huddle_kmeans_result result;
        huddle_points x;
        hd_rng rng = hd_rng_stream(7, 0);
        assert_ok(huddle_points_new(n, d, &x));
        for (int64_t e = 0; e < n * d; e++)
            x.values[e] = (float)hd_rng_normal(&rng);
        options.n_clusters = (int32_t)settings[t][2];
        options.n_init = 1;
        options.max_iter = 2;
        int64_t before = hd_memory_live();
        (void)hd_memory_take_peak();
        assert_ok(huddle_kmeans(NULL, &x, NULL, &options, &result, NULL));
        double used = (double)(hd_memory_take_peak() - before);
        double predicted = (double)hd_kmeans_predict_memory(n, d, &options, 1);
        if (!(predicted > .8 * used && predicted < 1.25 * used))
            fail_msg("%lld x %lld: %g bytes instead of %g", (long long)n, (long long)d, used,
                     predicted);
        huddle_kmeans_result_free(&result);
        huddle_points_free(&x);
    }
}

/* As few tiles as possible, of sizes that differ only in the last one. */
static void centres_are_cut_into_equal_tiles(void **state) {
    (void)state;
    for (int32_t c = 1; c <= 100; c++) {
        int32_t size = hd_kmeans_tile(c), tiles = (c + size - 1) / size;
        assert_true(size >= 1 && size <= HD_KMEANS_TILE);
        assert_true((tiles - 1) * HD_KMEANS_TILE < c && tiles * (size - 1) < c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_are_cut_into_equal_tiles),
        cmocka_unit_test(scores_of_every_size),
        cmocka_unit_test(the_nearest_centre_is_chosen),
        cmocka_unit_test(bounds_follow_the_moves),
        cmocka_unit_test(candidates_within_reach),
        cmocka_unit_test(sums_of_rows),
        cmocka_unit_test(centres_may_have_gaps),
        cmocka_unit_test(memory_is_as_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
