/* shrink: the predicted memory beside the heap that real solves use. */
#include "shrink/predict.h"
#include "shrink_problems.h"

#include <malloc.h>

/* The heap in use, all arenas, and large blocks that are mapped. */
static double heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

typedef struct peak {
    double before, most;
} peak;

/* Called at every step of the solve: its arrays are all there by then. */
static int look(void *user, const char *stage, double done, double total) {
    peak *p = user;
    (void)stage, (void)done, (void)total;
    p->most = fmax(p->most, heap_bytes() - p->before);
    return 0;
}

/* A ring of n vertices, each joined to the next `reach`: the graph of a large connected problem
 * without n^2 memory to build it. */
static example ring(int32_t n, int64_t c, int32_t reach) {
    example x;
    hd_rng rng = hd_rng_stream(3, 0);
    assert_ok(huddle_dense_new(n, c, &x.f));
    assert_ok(huddle_csr_new(n, n, 2 * (int64_t)n * reach, &x.w));
    x.w.offsets[0] = 0;
    for (int32_t v = 0; v < n; v++) {
        int64_t at = x.w.offsets[v];
        for (int32_t s = -reach; s <= reach; s++)
            if (s != 0)
                x.w.columns[at++] = (v + s + n) % n;
        for (int64_t a = x.w.offsets[v] + 1; a < at; a++)
            for (int64_t b = a; b > x.w.offsets[v] && x.w.columns[b] < x.w.columns[b - 1]; b--) {
                int32_t swap = x.w.columns[b];
                x.w.columns[b] = x.w.columns[b - 1];
                x.w.columns[b - 1] = swap;
            }
        x.w.offsets[v + 1] = at;
        for (int64_t q = 0; q < c; q++)
            x.f.values[v * c + q] = hd_rng_normal(&rng);
    }
    for (int64_t at = 0; at < x.w.offsets[n]; at++)
        x.w.values[at] = 1;
    return x;
}

/* The steps see everything but the answer's own arrays, which come after the last one, and the
 * Newton tail, which these short solves do not reach. So the peak lies below the prediction, and
 * above the share that is left without them. */
static void check(int32_t n, int64_t c, const char *solver, const char *linear, double least) {
    example x = ring(n, c, 3);
    huddle_context *context;
    huddle_shrink_options o = huddle_shrink_defaults();
    huddle_shrunk out;
    o.gamma = .2;
    o.solver = solver;
    o.linear_solver = linear;
    o.shrink_max_iter = 6;
    hd_shrink_extent size = {n, 3 * (int64_t)n, c, n, 3 * (int64_t)n, 2};
    assert_ok(huddle_context_new(&context));
    peak seen = {.before = heap_bytes()};
    huddle_context_set_progress(context, look, &seen);
    assert_ok(huddle_shrink(context, &x.f, &x.w, &o, &out, NULL));
    double predicted = hd_shrink_predict_memory(&size, &o);
    if (!(seen.most <= predicted && seen.most >= least * predicted))
        print_message("n %d, c %d, %s, %s: peak %.1f MB, predicted %.1f MB\n", n, (int)c, solver,
                      linear, 1e-6 * seen.most, 1e-6 * predicted);
    assert_true(seen.most <= predicted);
    assert_true(seen.most >= least * predicted);
    huddle_shrunk_free(&out);
    huddle_context_free(context);
    example_free(&x);
}

static void a_whole_problem_stays_within_its_prediction(void **state) {
    (void)state;
    skip_unless_memory_is_measured();
    check(20000, 4, "irls", "approximate", .5);
    check(20000, 16, "irls", "approximate", .5);
    check(20000, 8, "auto", "approximate", .4);
    check(20000, 8, "pdhg", "auto", .5);
}

static void a_component_stays_within_its_prediction(void **state) {
    (void)state;
    skip_unless_memory_is_measured();
    check(100000, 11, "irls", "approximate", .4);
}

/* More of anything needs more; small components less than one large one. */
static void predictions_are_ordered(void **state) {
    (void)state;
    huddle_shrink_options o = huddle_shrink_defaults();
    hd_shrink_extent whole = {1000000, 3500000, 40, 1000000, 3500000, 2};
    hd_shrink_extent parts = {1000000, 3500000, 40, 50000, 175000, 2};
    double all = hd_shrink_predict_memory(&whole, &o);
    assert_true(hd_shrink_predict_memory(&parts, &o) < .25 * all);
    hd_shrink_extent eight = parts;
    eight.threads = 8;
    assert_true(hd_shrink_predict_memory(&eight, &o) > hd_shrink_predict_memory(&parts, &o));
    o.solver = "irls";
    assert_true(hd_shrink_predict_memory(&whole, &o) < all);
    o.solver = "auto";
    o.keep_dual = true;
    assert_true(hd_shrink_predict_memory(&parts, &o) > .5 * all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_problem_stays_within_its_prediction),
        cmocka_unit_test(a_component_stays_within_its_prediction),
        cmocka_unit_test(predictions_are_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
