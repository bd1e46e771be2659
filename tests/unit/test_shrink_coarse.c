/* shrink: the path of many rows, on aggregates: their sums, their certificate and the tree. */
#include "shrink/coarse.h"
#include "shrink/path.h"
#include "support/support.h"

#include <math.h>

/* A ring of rows that lie on a noisy circle, each joined to the next four. */
enum { ROWS = 600, COLS = 3, REACH = 4 };

typedef struct ring {
    huddle_dense f;
    huddle_csr w;
} ring;

static void make_ring(ring *r) {
    uint32_t state = 7;
    assert_ok(huddle_dense_new(ROWS, COLS, &r->f));
    assert_ok(huddle_csr_new(ROWS, ROWS, 2L * REACH * ROWS, &r->w));
    for (int i = 0; i < ROWS; i++) {
        double angle = 6.283185307179586 * i / ROWS;
        for (int d = 0; d < COLS; d++) {
            state = 1664525 * state + 1013904223;
            r->f.values[i * r->f.stride + d] =
                cos(angle + d) + 1e-2 * ((state >> 16) / 65536. - .5);
        }
    }
    int64_t count = 0;
    for (int i = 0; i < ROWS; i++) {
        r->w.offsets[i] = count;
        for (int j = 0; j < ROWS; j++) {
            int far = (i - j + ROWS) % ROWS, near = far < ROWS - far ? far : ROWS - far;
            if (near == 0 || near > REACH)
                continue;
            r->w.columns[count] = j;
            r->w.values[count++] = 1. / near;
        }
    }
    r->w.offsets[ROWS] = count;
}

static void free_ring(ring *r) {
    huddle_dense_free(&r->f);
    huddle_csr_free(&r->w);
}

/* Sums over the rows stay sums over the aggregates, and no aggregate is too large. */
static void test_aggregates(void **state) {
    (void)state;
    ring r = {0};
    hd_shrink_coarse p;
    double mass = 0, first = 0, mean = 0, weight = 0, between = 0;
    make_ring(&r);
    assert_ok(hd_shrink_coarse_open(NULL, &r.f, &r.w, "l21", &p));
    assert_in_range(p.count, ROWS / 5, ROWS / 3);
    for (int a = 0; a < p.count; a++) {
        assert_true(p.mass[a] >= 1 && p.mass[a] <= 20);
        mass += p.mass[a];
        mean += p.mass[a] * p.mean.values[a * p.mean.stride];
    }
    for (int i = 0; i < ROWS; i++)
        first += r.f.values[i * r.f.stride];
    assert_close(mass, ROWS, 0);
    assert_close(mean, first, 1e-9);
    for (int64_t e = 0; e < p.edges.count; e++)
        weight += p.link[e] >= 0 ? 2 * p.edges.weight[e] : 0;
    for (int64_t k = 0; k < p.graph.offsets[p.count]; k++)
        between += p.graph.values[k];
    assert_close(between, weight, 1e-9 * weight);
    assert_int_equal(p.n_flows, ROWS - p.count);
    hd_shrink_coarse_close(&p);
    free_ring(&r);
}

/* Edges of weight 0 merge nothing and leave the order of the others as it is, between equal rows
 * too. */
static void test_absent_edges(void **state) {
    (void)state;
    ring zero = {0}, without = {0};
    hd_shrink_coarse p, q;
    int64_t count = 0;
    make_ring(&zero);
    make_ring(&without);
    for (int i = 0; i < ROWS; i++) {
        without.w.offsets[i] = count;
        for (int64_t e = zero.w.offsets[i]; e < zero.w.offsets[i + 1]; e++)
            if (zero.w.values[e] < .4) /* more than two rows apart */
                zero.w.values[e] = 0;
            else {
                without.w.columns[count] = zero.w.columns[e];
                without.w.values[count++] = zero.w.values[e];
            }
    }
    without.w.offsets[ROWS] = count;
    for (int i = 0; i + 3 < ROWS; i += 7) /* joined by an edge of weight 0 */
        for (int d = 0; d < COLS; d++)
            zero.f.values[(i + 3) * zero.f.stride + d] = zero.f.values[i * zero.f.stride + d];
    assert_ok(hd_shrink_coarse_open(NULL, &zero.f, &zero.w, "l21", &p));
    assert_ok(hd_shrink_coarse_open(NULL, &zero.f, &without.w, "l21", &q));
    assert_int_equal(p.count, q.count);
    assert_memory_equal(p.aggregate, q.aggregate, ROWS * sizeof *p.aggregate);
    hd_shrink_coarse_close(&p);
    hd_shrink_coarse_close(&q);
    free_ring(&zero);
    free_ring(&without);
}

/* The force B^T z of a row is its share of the force on its aggregate. */
static void assert_equal_forces(const hd_shrink_coarse *p) {
    double force[ROWS] = {0}, first[ROWS];
    bool seen[ROWS] = {false};
    for (int64_t e = 0; e < p->edges.count; e++) {
        force[p->edges.i[e]] += p->z.values[e * p->z.stride];
        force[p->edges.j[e]] -= p->z.values[e * p->z.stride];
    }
    for (int i = 0; i < ROWS; i++) {
        int32_t a = p->aggregate[i];
        if (!seen[a])
            first[a] = force[i];
        seen[a] = true;
        assert_close(force[i], first[a], 1e-9);
    }
}

/* The bound is below the optimum of all rows and the objective above it; from some gamma on both
 * are close. */
static void assert_certified(const ring *r, const char *loss, double gamma, double largest_gap) {
    huddle_shrink_options options = huddle_shrink_defaults();
    huddle_shrunk shrunk = {0};
    huddle_shrink_info info = {0};
    huddle_path_level level = {.gamma = gamma};
    hd_shrink_coarse p;
    double objective;
    options.gamma = gamma;
    options.loss = loss;
    options.gap = 1e-8;
    assert_ok(huddle_shrink(NULL, &r->f, &r->w, &options, &shrunk, &info));
    assert_ok(hd_shrink_coarse_open(NULL, &r->f, &r->w, loss, &p));
    assert_ok(hd_shrink_coarse_solve(&p, 1e-4, &level));
    assert_equal_forces(&p);
    assert_true(level.dual <= info.objective);
    assert_true(level.objective >= info.dual);
    assert_true(level.gap <= largest_gap);
    assert_ok(huddle_shrink_certificate(NULL, &r->f, &r->w, NULL, gamma, loss, &p.g, NULL,
                                        &objective, NULL));
    assert_close(level.objective, objective, 1e-12 * objective);
    assert_close(level.gap, (level.objective - level.dual) / level.objective, 1e-12);
    hd_shrink_coarse_close(&p);
    huddle_shrunk_free(&shrunk);
    huddle_shrink_info_free(&info);
}

static void test_certificate(void **state) {
    (void)state;
    ring r = {0};
    make_ring(&r);
    assert_certified(&r, "l21", .1, 1);
    assert_certified(&r, "l21", 1000, 1e-3);
    assert_certified(&r, "l2", 10000, 1e-3);
    free_ring(&r);
}

/* Rows 0 and 1 fuse first. At the second level row 2 joins them, but not at the third, so that this
 * fusion does not count. */
static void test_tree(void **state) {
    (void)state;
    int32_t groups[] = {0, 0, 1, 2, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0};
    huddle_path_level levels[] = {{.gamma = 1}, {.gamma = 1}, {.gamma = 2}, {.gamma = 3}};
    static const huddle_path_fusion expected[] = {{0, 1, 1, 2}, {2, 3, 2, 2}, {4, 5, 3, 4}};
    huddle_path path = {.n = 4, .n_levels = 4, .levels = levels, .groups = groups};
    assert_ok(hd_shrink_find_fusions(&path));
    assert_int_equal(path.n_fusions, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(path.fusions[k].a, expected[k].a);
        assert_int_equal(path.fusions[k].b, expected[k].b);
        assert_close(path.fusions[k].gamma, expected[k].gamma, 0);
        assert_int_equal(path.fusions[k].size, expected[k].size);
    }
    huddle_free(path.fusions);
}

/* ---- the path ----------------------------------------------------------------------------- */

static huddle_path_options with_gammas(const double *gammas, int32_t count) {
    huddle_path_options options = huddle_path_defaults();
    options.gammas = gammas;
    options.n_gamma = count;
    return options;
}

/* Levels with a poor proof are left out, known ones are taken as they are, and the rows of an
 * aggregate fuse at the first level that was solved here. */
static void test_path(void **state) {
    (void)state;
    static const double gammas[] = {.1, 100, 1e6, 1e7};
    ring r = {0};
    make_ring(&r);
    huddle_path_level known_level = {.gamma = 100, .n_iter = 77};
    huddle_path known = {.n_levels = 1, .levels = &known_level, .shrunk = &r.f}, path;
    huddle_path_options options = with_gammas(gammas, 4);
    int32_t aggregates;
    assert_ok(
        huddle_shrink_path_coarse(NULL, &r.f, &r.w, &options, &known, .05, &path, &aggregates));
    assert_in_range(aggregates, ROWS / 5, ROWS / 3);
    assert_int_equal(path.n_levels, 3);
    assert_int_equal(path.levels[0].n_iter, 77);
    for (int i = 0; i < ROWS * COLS; i++)
        assert_close(path.shrunk[0].values[i], r.f.values[i], 0);
    for (int l = 1; l < 3; l++) {
        assert_close(path.levels[l].gamma, gammas[l + 1], 0);
        assert_true(path.levels[l].gap <= .05);
    }
    assert_int_equal(path.n_fusions, ROWS - 1); /* all rows are one point in the end */
    for (int k = 0; k < ROWS - 1; k++) {
        assert_close(path.fusions[k].gamma, 1e6, 0);
        assert_true(k >= ROWS - aggregates || path.fusions[k].size <= 20);
    }
    assert_int_equal(path.fusions[ROWS - 2].size, ROWS);
    huddle_path_free(&path);
    assert_ok(huddle_shrink_path_coarse(NULL, &r.f, &r.w, &options, NULL, 0, &path, &aggregates));
    assert_int_equal(path.n_levels + path.n_fusions, 0);
    huddle_path_free(&path);
    free_ring(&r);
}

static huddle_status follow_ring(void *argument) {
    static const double gammas[] = {1e6};
    const ring *r = argument;
    huddle_path_options options = with_gammas(gammas, 1);
    huddle_path path;
    int32_t aggregates;
    huddle_status status =
        huddle_shrink_path_coarse(NULL, &r->f, &r->w, &options, NULL, 1, &path, &aggregates);
    huddle_path_free(&path);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    ring r = {0};
    make_ring(&r);
    test_each_allocation(follow_ring, &r);
    free_ring(&r);
}

static void test_refusals(void **state) {
    (void)state;
    static const double gammas[] = {2, 1};
    ring r = {0};
    huddle_path path;
    int32_t aggregates, label;
    make_ring(&r);
    huddle_path_options options = with_gammas(gammas, 2);
    assert_refused(huddle_shrink_path_coarse(NULL, &r.f, &r.w, NULL, NULL, 1, &path, &aggregates),
                   HUDDLE_INVALID, "needs its gammas");
    assert_refused(
        huddle_shrink_path_coarse(NULL, &r.f, &r.w, &options, NULL, 1, &path, &aggregates),
        HUDDLE_INVALID, "1 after 2");
    options = with_gammas(gammas, 1);
    r.f.rows--;
    assert_refused(
        huddle_shrink_path_coarse(NULL, &r.f, &r.w, &options, NULL, 1, &path, &aggregates),
        HUDDLE_INVALID, "f");
    r.f.rows++;
    path = (huddle_path){.n = 1, .n_levels = 1};
    assert_refused(huddle_path_labels(NULL, &path, &r.f, 1, &label, NULL), HUDDLE_INVALID,
                   "no groups");
    free_ring(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregates),  cmocka_unit_test(test_absent_edges),
        cmocka_unit_test(test_certificate), cmocka_unit_test(test_tree),
        cmocka_unit_test(test_path),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("shrink_coarse", tests, NULL, NULL);
}
