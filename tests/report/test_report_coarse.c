/* The path of gamma of a page: aggregates of rows and their certificate, progress, cancelling. */
#include "pages.h"

#include "report/coarse.h"

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
    coarse_problem p;
    double mass = 0, first = 0, mean = 0, weight = 0, between = 0;
    make_ring(&r);
    assert_ok(coarse_open(NULL, &r.f, &r.w, "l21", &p));
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
    for (int64_t e = 0; e < p.n_edges; e++)
        weight += p.edges[e].link >= 0 ? 2 * p.edges[e].weight : 0;
    for (int64_t k = 0; k < p.graph.offsets[p.count]; k++)
        between += p.graph.values[k];
    assert_close(between, weight, 1e-9 * weight);
    assert_int_equal(p.n_flows, ROWS - p.count);
    coarse_close(&p);
    free_ring(&r);
}

/* The force B^T z of a row is its share of the force on its aggregate. */
static void assert_equal_forces(const coarse_problem *p) {
    double force[ROWS] = {0}, first[ROWS];
    bool seen[ROWS] = {false};
    for (int64_t e = 0; e < p->n_edges; e++) {
        force[p->edges[e].i] += p->z.values[e * p->z.stride];
        force[p->edges[e].j] -= p->z.values[e * p->z.stride];
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
    coarse_problem p;
    double objective;
    options.gamma = gamma;
    options.loss = loss;
    options.gap = 1e-8;
    assert_ok(huddle_shrink(NULL, &r->f, &r->w, &options, &shrunk, &info));
    assert_ok(coarse_open(NULL, &r->f, &r->w, loss, &p));
    assert_ok(coarse_solve(&p, 1e-4, &level));
    assert_equal_forces(&p);
    assert_true(level.dual <= info.objective);
    assert_true(level.objective >= info.dual);
    assert_true(level.gap <= largest_gap);
    assert_ok(huddle_shrink_certificate(NULL, &r->f, &r->w, NULL, gamma, loss, &p.g, NULL,
                                        &objective, NULL));
    assert_close(level.objective, objective, 1e-12 * objective);
    assert_close(level.gap, (level.objective - level.dual) / level.objective, 1e-12);
    coarse_close(&p);
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

/* Aggregates 0 (rows 0 and 1), 1 and 2. At the first level 0 and 1 are together, but not at the
 * second, so that this fusion does not count. */
static void test_fusions(void **state) {
    (void)state;
    int32_t aggregate[] = {0, 0, 1, 2}, groups[] = {0, 0, 1, 0, 1, 1, 0, 0, 0};
    static const double gammas[] = {1, 2, 3};
    static const huddle_path_fusion expected[] = {{0, 1, 1, 2}, {2, 3, 2, 2}, {4, 5, 3, 4}};
    coarse_problem p = {.f = {.rows = 4, .cols = 1}, .aggregate = aggregate, .count = 3};
    huddle_path_fusion *fusions = NULL;
    int64_t count = 0;
    assert_ok(coarse_fusions(&p, 3, gammas, groups, &fusions, &count));
    assert_int_equal(count, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(fusions[k].a, expected[k].a);
        assert_int_equal(fusions[k].b, expected[k].b);
        assert_close(fusions[k].gamma, expected[k].gamma, 0);
        assert_int_equal(fusions[k].size, expected[k].size);
    }
    free(fusions);
}

/* ---- progress ----------------------------------------------------------------------------- */

typedef struct seen_levels {
    int count, last, total, stop_at;
    double done;
} seen_levels;

static int watch(void *user, const char *stage, double done, double total) {
    seen_levels *seen = user;
    int level, of;
    if (sscanf(stage, "page: level %d of %d", &level, &of) != 2)
        return 0;
    assert_true(level >= seen->last && level <= of && done >= seen->done && done <= total);
    seen->count++;
    seen->last = level;
    seen->total = of;
    seen->done = done;
    return seen->stop_at > 0 && level >= seen->stop_at;
}

/* Progress is reported at most ten times per second, so only the first report is certain. */
static void test_progress(void **state) {
    fixture *f = *state;
    huddle_context *context = NULL;
    seen_levels seen = {0};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, watch, &seen);
    assert_ok(huddle_report_write(context, f->model, &f->x, NULL, f->page));
    assert_true(seen.count >= 1 && seen.total >= 12);
    seen = (seen_levels){.stop_at = 1};
    (void)remove(f->page);
    huddle_context_free(context);
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, watch, &seen);
    assert_refused(huddle_report_write(context, f->model, &f->x, NULL, f->page), HUDDLE_CANCELLED,
                   "cancelled");
    assert_null(fopen(f->page, "rb"));
    huddle_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregates), cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_fusions), cmocka_unit_test(test_progress)};
    return cmocka_run_group_tests_name("report_coarse", tests, set_up, tear_down);
}
