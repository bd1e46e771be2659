/* graph: every solver on a few hundred rows against the distances of all pairs, which are computed
 * here, and the mean distance of a sample of pairs. */
#include "base/memory.h"
#include "base/rng.h"
#include "graph/approximate.h"
#include "graph/cells.h"
#include "graph/search.h"
#include "graph/sweep.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { K = 6 };

static double square_distance(const huddle_points *x, int64_t i, const huddle_points *y,
                              int64_t j) {
    double sum = 0;
    for (int64_t f = 0; f < x->d; f++) {
        double difference = (double)x->values[i * x->d + f] - (double)y->values[j * x->d + f];
        sum += difference * difference;
    }
    return sum;
}

/* Rows of small whole numbers, so that there are ties and copies and all sums are exact. */
static huddle_points make_grid(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)hd_rng_below(&rng, 9);
    return x;
}

/* Rows that vary in three directions, with a little noise. */
static huddle_points make_sheet(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        double a = hd_rng_normal(&rng), b = hd_rng_normal(&rng), c = hd_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(a * sin((double)j) + b * cos(1.7 * (double)j) +
                                          c * sin(.3 * (double)j) + .01 * hd_rng_normal(&rng));
    }
    return x;
}

/* A search of y (or x among themselves, y NULL) among x. */
typedef struct setting {
    const huddle_points *x, *y;
    hd_graph_rows train, query;
    hd_graph_search search;
} setting;

static void open_setting(const huddle_points *x, const huddle_points *y, setting *s) {
    int64_t n = y != NULL ? y->n : x->n;
    *s = (setting){.x = x, .y = y != NULL ? y : x, .train = hd_graph_rows_of_points(x)};
    s->query = hd_graph_rows_of_points(s->y);
    s->search = (hd_graph_search){.train = &s->train,
                                  .query = y != NULL ? &s->query : &s->train,
                                  .self = y == NULL,
                                  .k = K,
                                  .recall_target = 1};
    s->search.index = hd_alloc(n * K, sizeof *s->search.index);
    s->search.distance2 = hd_alloc(n * K, sizeof *s->search.distance2);
    assert_true(s->search.index != NULL && s->search.distance2 != NULL);
    hd_graph_search_clear(&s->search, 0, n);
}

/* How many entries of the lists are not those of all pairs. */
static int64_t close_setting(setting *s) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->y->n; i++) {
        double distance2[K];
        int32_t index[K];
        for (int c = 0; c < K; c++) {
            distance2[c] = INFINITY;
            index[c] = INT32_MAX;
        }
        for (int64_t j = 0; j < s->x->n; j++) {
            double value = square_distance(s->y, i, s->x, j);
            if (hd_graph_search_skips(&s->search, i, j))
                continue;
            int at = K - 1;
            if (value >= distance2[at]) /* rows come by ascending number */
                continue;
            for (; at > 0 && value < distance2[at - 1]; at--) {
                distance2[at] = distance2[at - 1];
                index[at] = index[at - 1];
            }
            distance2[at] = value;
            index[at] = (int32_t)j;
        }
        for (int c = 0; c < K; c++)
            wrong +=
                s->search.index[i * K + c] != index[c] ||
                fabs(s->search.distance2[i * K + c] - distance2[c]) > 1e-10 * (1 + distance2[c]);
    }
    huddle_free(s->search.index);
    huddle_free(s->search.distance2);
    return wrong;
}

typedef huddle_status (*solver)(huddle_context *, hd_graph_search *, bool *);

/* Points among themselves, new points, and with groups also new points that skip rows of theirs. */
static void check_solver(solver solve, int64_t n, int64_t d, bool groups) {
    huddle_points x = make_grid(n, d, 1), y = make_grid(70, d, 2);
    int32_t *group = hd_alloc(n, sizeof *group);
    for (int64_t i = 0; i < n; i++)
        group[i] = x.values[i * d] < 4;
    for (int t = 0; t < 2 + groups; t++) {
        setting s;
        open_setting(&x, t > 0 ? &y : NULL, &s);
        s.search.train_group = s.search.query_group = t == 2 ? group : NULL;
        assert_ok(solve(NULL, &s.search, NULL));
        assert_int_equal(close_setting(&s), 0);
    }
    huddle_free(group);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void brute_force(void **state) {
    (void)state;
    check_solver(hd_graph_search_brute, 300, 3, false);
    check_solver(hd_graph_search_brute, 301, 40, false); /* by products */
}

/* Numbers that are no sums of few powers of two: float cannot order all pairs, and queries are
 * searched again. Rows that follow each other are so near that float does not tell their distances
 * apart; the last one of every eight, which share a tile, is far away and not doubtful. */
static void doubtful_queries_are_repeated(void **state) {
    (void)state;
    huddle_points x = make_sheet(400, 40, 3);
    setting s;
    for (int64_t i = 1; i < 400; i++) {
        const float *from = x.values + (i % 8 == 0 ? i - 2 : i - 1) * 40;
        for (int64_t j = 0; j < 40 && i % 40 != 0; j++)
            x.values[i * 40 + j] = i % 8 == 7 ? (j == 0 ? 4 + .5f * (float)(i / 8) : 0)
                                              : from[j] * (j == i % 40 ? 1.00001f : 1.0000001f);
    }
    open_setting(&x, NULL, &s);
    assert_ok(hd_graph_search_brute(NULL, &s.search, NULL));
    assert_true(atomic_load(&s.search.n_repeated) > 0);
    assert_true(atomic_load(&s.search.n_repeated) <= 350);
    assert_int_equal(close_setting(&s), 0);
    huddle_points_free(&x);
}

static void squares_of_short_rows(void **state) {
    (void)state;
    hd_rng rng = hd_rng_stream(12, 0);
    double row[HD_GRAPH_SHORT_ROW], sum = 0;
    for (int64_t d = 0; d < HD_GRAPH_SHORT_ROW; d++) {
        assert_close(hd_graph_short_square(row, d), sum, 1e-14);
        row[d] = hd_rng_normal(&rng);
        sum += row[d] * row[d];
    }
}

static void trees(void **state) {
    (void)state;
    check_solver(hd_graph_search_kdtree, 700, 2, false);
    check_solver(hd_graph_search_kdtree, 700, 5, false);
    check_solver(hd_graph_search_kdtree, 300, 18, false); /* rows that are not short */
}

/* Points among themselves, or the index and then new points. */
static huddle_status solve_by_cells(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up) {
    hd_graph_cells index;
    if (search->self)
        return hd_graph_search_cells(context, search, gave_up);
    huddle_status status = hd_graph_cells_new(context, search->train, 0, 9, &index);
    if (status == HUDDLE_OK)
        status = hd_graph_cells_continue(context, &index, search);
    hd_graph_cells_free(&index);
    return status;
}

/* Leaf against leaf: several groups of leaves. */
static void cells(void **state) {
    (void)state;
    huddle_points x = make_sheet(2500, 3, 9);
    setting s;
    check_solver(solve_by_cells, 700, 2, true);
    check_solver(solve_by_cells, 700, 5, true);
    open_setting(&x, NULL, &s);
    assert_ok(hd_graph_search_cells(NULL, &s.search, NULL));
    assert_int_equal(close_setting(&s), 0);
    huddle_points_free(&x);
}

static void bounds_of_projections(void **state) {
    (void)state;
    huddle_points x = make_sheet(900, 64, 4);
    setting s;
    bool gave_up = false;
    open_setting(&x, NULL, &s);
    assert_ok(hd_graph_search_pcabound(NULL, &s.search, &gave_up));
    assert_false(gave_up);
    /* Far fewer than all pairs, or there is no point in it. */
    assert_true(atomic_load(&s.search.n_distances) < 900 * 200);
    assert_int_equal(close_setting(&s), 0);
    huddle_points_free(&x);
}

/* The lists contain the ids of the rows. */
static void sweeps_continue_lists(void **state) {
    (void)state;
    int32_t ids[500];
    for (int32_t i = 0; i < 500; i++)
        ids[i] = 3 * i + 1;
    for (int project = 0; project < 2; project++) {
        huddle_points x = make_sheet(500, 70, 5), y = make_sheet(90, 70, 6);
        setting s;
        hd_graph_sweep sweep;
        open_setting(&x, &y, &s);
        s.search.ids = ids;
        assert_ok(hd_graph_sweep_new(NULL, &s.train, project, 0, 8, &sweep));
        assert_ok(hd_graph_sweep_continue(NULL, &sweep, &s.search));
        hd_graph_sweep_free(&sweep);
        for (int64_t e = 0; e < 90 * K; e++) {
            assert_int_equal(s.search.index[e] % 3, 1);
            s.search.index[e] /= 3;
        }
        assert_int_equal(close_setting(&s), 0);
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* Queries in the trees and lists of an approximate search find nearly all neighbours; those that
 * are left out find none. */
static void queries_find_neighbours(void **state) {
    (void)state;
    enum { N = 2500, D = 8, QUERIES = 300 };
    huddle_points x = make_sheet(N, D, 7), y = make_sheet(QUERIES, D, 8);
    setting own, s;
    bool near[QUERIES];
    int64_t empty = 0;
    open_setting(&x, NULL, &own);
    own.search.reach = 8;
    hd_graph_approximation a = {.search = &own.search, .keep = true};
    assert_ok(hd_graph_approximation_begin(NULL, &a));
    assert_ok(hd_graph_approximation_attempt(NULL, &a, 0));
    open_setting(&x, &y, &s);
    assert_ok(hd_graph_approximation_continue(NULL, &a, NULL, &s.search));
    assert_true(close_setting(&s) < 6); /* of 1800 */
    open_setting(&x, &y, &s);
    for (int i = 0; i < QUERIES; i++)
        near[i] = i % 3 == 0;
    assert_ok(hd_graph_approximation_continue(NULL, &a, near, &s.search));
    for (int i = 0; i < QUERIES; i++) {
        assert_true((s.search.index[i * K] == INT32_MAX) == !near[i]);
        empty += !near[i];
    }
    assert_true(close_setting(&s) - empty * K < 6);
    /* So do the points themselves. */
    assert_ok(hd_graph_approximation_verify(NULL, &a));
    hd_graph_approximation_free(&a);
    assert_true(close_setting(&own) < 15); /* of 15000 */
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* Short rows are copied in the new order, long ones are found where they are. */
static void points_move_to_their_places(void **state) {
    (void)state;
    static const int64_t widths[] = {5, 700};
    enum { N = 40 };
    for (int k = 0; k < 2; k++) {
        huddle_points x = make_sheet(N, widths[k], 12);
        hd_graph_rows rows = hd_graph_rows_of_points(&x);
        hd_graph_ordered_points points;
        int32_t order[N];
        assert_ok(hd_graph_ordered_points_new(NULL, &rows, 0, &points));
        for (int32_t p = 0; p < N; p++)
            order[p] = (7 * p + 3) % N;
        assert_ok(hd_graph_ordered_points_permute(NULL, &points, order));
        assert_true((points.pick != NULL) == (k == 1));
        for (int64_t p = 0; p < N; p++)
            assert_memory_equal(hd_graph_ordered_row(&points, p), x.values + order[p] * x.stride,
                                (size_t)x.d * sizeof *x.values);
        hd_graph_ordered_points_free(&points);
        huddle_points_free(&x);
    }
}

/* The scaled squared distance of two points. */
static double point_distance(const hd_graph_ordered_points *x, int64_t p, int64_t q) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++)
        sum +=
            pow((double)hd_graph_ordered_row(x, p)[j] - (double)hd_graph_ordered_row(x, q)[j], 2);
    return sum * x->packing.scale * x->packing.scale;
}

/* How many entries of the lists are not among the k nearest of `count` points. */
static int64_t count_wrong(const hd_graph_ordered_points *x, const hd_graph_lists *lists,
                           const int32_t *positions, int64_t count) {
    int64_t wrong = 0;
    for (int64_t a = 0; a < count; a++) {
        const uint64_t *list = lists->entries + (int64_t)positions[a] * lists->k;
        double last = (double)hd_graph_entry_value(list[lists->k - 1]);
        int64_t nearer = 0;
        for (int64_t b = 0; b < count; b++)
            nearer += b != a && point_distance(x, positions[a], positions[b]) < last * (1 - 1e-5);
        for (int32_t c = 0; c < lists->k; c++) {
            double exact = point_distance(x, positions[a], hd_graph_entry_position(list[c]));
            double value = (double)hd_graph_entry_value(list[c]);
            assert_true(fabs(exact - value) <= 1e-5 * exact);
        }
        wrong += nearer >= lists->k ? nearer - lists->k + 1 : 0;
    }
    return wrong;
}

/* A tree fills the lists with the nearest of each leaf; after two, descent finds nearly all. */
static void descent_completes_the_lists_of_trees(void **state) {
    (void)state;
    enum { N = 1500, D = 20, LIST = 12, ROUNDS = 12 };
    huddle_points x = make_sheet(N, D, 10);
    hd_graph_rows rows = hd_graph_rows_of_points(&x);
    hd_graph_ordered_points points;
    hd_graph_forest forest;
    hd_graph_lists lists;
    int32_t all[N];
    bool converged = false;
    for (int32_t i = 0; i < N; i++)
        all[i] = i;
    assert_ok(hd_graph_ordered_points_new(NULL, &rows, 0, &points));
    assert_ok(hd_graph_forest_new(NULL, &points, 40, 1, &forest));
    assert_ok(hd_graph_lists_new(N, LIST, &lists));
    assert_ok(hd_graph_forest_grow(NULL, &forest, 0));
    assert_ok(hd_graph_forest_join(NULL, &forest, &lists));
    for (int64_t l = 0; l < forest.leaves; l++) {
        int64_t begin = hd_graph_forest_begin(&forest, l);
        assert_int_equal(count_wrong(&points, &lists, forest.order + begin,
                                     hd_graph_forest_begin(&forest, l + 1) - begin),
                         0);
    }
    /* A second tree joins the leaves of the first. */
    assert_ok(hd_graph_forest_grow(NULL, &forest, 1));
    assert_ok(hd_graph_forest_join(NULL, &forest, &lists));
    int64_t before = count_wrong(&points, &lists, all, N);
    for (int32_t round = 0; round < ROUNDS && !converged; round++)
        assert_ok(hd_graph_descend(NULL, &points, 1, round, &lists, &converged));
    assert_true(converged);
    int64_t after = count_wrong(&points, &lists, all, N);
    assert_true(before > 1000 && after < N / 30);
    hd_graph_lists_free(&lists);
    hd_graph_forest_free(&forest);
    hd_graph_ordered_points_free(&points);
    huddle_points_free(&x);
}

/* So many numbers, evenly between 0 and 1, that pairs are sampled: the mean is 1/3. */
static void the_mean_of_a_sample(void **state) {
    (void)state;
    enum { N = 100000 };
    huddle_points x;
    double mean;
    assert_ok(huddle_points_new(N, 1, &x));
    for (int64_t i = 0; i < N; i++)
        x.values[i] = (float)((double)i / (N - 1));
    assert_ok(huddle_graph_mean_distance(NULL, &x, "euclidean", 1, &mean));
    assert_close(mean, 1.0 / 3, 0.002); /* 8 standard errors */
    huddle_points_free(&x);
    /* Two rows are one pair: a pair of a row and itself would halve it. */
    float values[] = {0, 3};
    huddle_points two = {.n = 2, .d = 1, .stride = 1, .values = values};
    assert_ok(huddle_graph_mean_distance(NULL, &two, "euclidean", 1, &mean));
    assert_close(mean, 3, 1e-12);
}

static void values_of_rows_are_checked(void **state) {
    (void)state;
    double values[] = {0, 1, 2, NAN, 3, 4, 5, NAN, 6, 7, 8, NAN};
    huddle_dense f = {.rows = 3, .cols = 3, .stride = 4, .values = values};
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = 2;
    assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL));
    assert_true(out.k == 2 && out.n == 3);
    assert_close(out.distance[0], 3 * sqrt(3), 1e-14);
    huddle_neighbors_free(&out);
    f.cols = 4;
    assert_refused(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL), HUDDLE_INVALID,
                   "row 1, column 4");
    f.cols = 3;
    values[6] = INFINITY;
    assert_refused(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL), HUDDLE_INVALID,
                   "row 2, column 3: the value is infinite");
    f.stride = 2;
    assert_refused(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL), HUDDLE_INVALID,
                   "stride 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_of_short_rows),
        cmocka_unit_test(points_move_to_their_places),
        cmocka_unit_test(brute_force),
        cmocka_unit_test(doubtful_queries_are_repeated),
        cmocka_unit_test(trees),
        cmocka_unit_test(cells),
        cmocka_unit_test(bounds_of_projections),
        cmocka_unit_test(sweeps_continue_lists),
        cmocka_unit_test(queries_find_neighbours),
        cmocka_unit_test(descent_completes_the_lists_of_trees),
        cmocka_unit_test(the_mean_of_a_sample),
        cmocka_unit_test(values_of_rows_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
