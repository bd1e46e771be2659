/* graph: neighbours with ties, and the weight of points that occur several times. */
#include "base/rng.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 9, N = SIDE * SIDE, K = 5, MOST = 40 };

/* The points of a square grid in an order of no meaning; a step that float cannot hold exactly. */
static huddle_points grid(void) {
    huddle_points x;
    int32_t order[N];
    hd_rng rng = hd_rng_stream(1, 0);
    assert_ok(huddle_points_new(N, 2, &x));
    for (int i = 0; i < N; i++) {
        int64_t place = hd_rng_below(&rng, i + 1);
        order[i] = order[place];
        order[place] = i;
    }
    for (int i = 0; i < N; i++) {
        x.values[2 * i] = 3 + 0.1f * (float)(order[i] % SIDE);
        x.values[2 * i + 1] = 0.1f * (float)(order[i] / SIDE);
    }
    return x;
}

static double distance(const huddle_points *x, int64_t i, const huddle_points *y, int64_t j) {
    double sum = 0;
    for (int64_t q = 0; q < x->d; q++) {
        double d = (double)x->values[i * x->stride + q] - (double)y->values[j * y->stride + q];
        sum += d * d;
    }
    return sqrt(sum);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Row i of the lists holds every train row as near as the k-th nearest, and nobody else. */
static void check_row(const huddle_neighbors *lists, int64_t i, const huddle_points *train,
                      const huddle_points *query, bool among) {
    double *all = malloc((size_t)train->n * sizeof *all);
    int64_t count = 0, near = 0, found = 0;
    for (int64_t j = 0; j < train->n; j++)
        if (!among || j != i)
            all[count++] = distance(query, i, train, j);
    qsort(all, (size_t)count, sizeof *all, ascending);
    double last = all[K - 1] * (1 + 2e-5);
    for (int64_t j = 0; j < count; j++)
        near += all[j] <= last;
    for (int32_t c = 0; c < lists->k; c++) {
        int32_t j = lists->index[i * lists->k + c];
        if (j < 0) {
            assert_true(isinf(lists->distance[i * lists->k + c]));
            continue;
        }
        assert_int_equal(found, c); /* absent places come last */
        assert_close(lists->distance[i * lists->k + c], distance(query, i, train, j), 1e-6);
        assert_true(distance(query, i, train, j) <= last && !(among && j == i));
        found++;
    }
    assert_int_equal(found, near < MOST ? near : MOST);
    free(all);
}

static huddle_knn_options five(void) {
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = K;
    return options;
}

static void every_point_as_near_as_the_kth_is_a_neighbour(void **state) {
    (void)state;
    huddle_points x = grid();
    huddle_neighbors lists;
    huddle_knn_options options = five();
    assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &lists, NULL));
    assert_int_equal(lists.n, N);
    assert_int_equal(lists.k, 8); /* inside, four sides and four diagonals */
    for (int64_t i = 0; i < N; i++)
        check_row(&lists, i, &x, &x, true);
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
}

static void new_points_have_ties_too(void **state) {
    (void)state;
    huddle_points x = grid(), y;
    huddle_neighbors lists;
    huddle_knn_options options = five();
    assert_ok(huddle_points_new(2, 2, &y));
    y.values[0] = x.values[0];
    y.values[1] = x.values[1];
    y.values[2] = 3.45f;
    y.values[3] = 0.45f;
    assert_ok(huddle_graph_query_ties(NULL, &x, &y, &options, &lists, NULL));
    for (int64_t i = 0; i < 2; i++)
        check_row(&lists, i, &x, &y, false);
    assert_true(lists.distance[0] == 0 && lists.index[0] == 0);
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* Corners of a cube in 7 dimensions round its centre: 128 points equally near. */
static void there_are_never_more_than_forty(void **state) {
    (void)state;
    huddle_points x;
    huddle_neighbors lists;
    huddle_knn_options options = five();
    assert_ok(huddle_points_new(129, 7, &x));
    for (int i = 1; i < 129; i++)
        for (int j = 0; j < 7; j++)
            x.values[i * 7 + j] = (i - 1) >> j & 1 ? 1 : -1;
    assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &lists, NULL));
    assert_int_equal(lists.k, MOST);
    for (int32_t c = 0; c < MOST; c++)
        assert_int_equal(lists.index[c], c + 1); /* the smaller indices */
    check_row(&lists, 1, &x, &x, true);
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
}

static void without_ties_the_lists_are_the_usual_ones(void **state) {
    (void)state;
    huddle_points x;
    huddle_neighbors lists, usual;
    huddle_knn_options options = five();
    hd_rng rng = hd_rng_stream(2, 0);
    for (int64_t n = 1; n <= 200; n += n < 8 ? 1 : 96) {
        assert_ok(huddle_points_new(n, 3, &x));
        for (int64_t e = 0; e < 3 * n; e++)
            x.values[e] = (float)hd_rng_normal(&rng);
        assert_ok(huddle_graph_knn(NULL, &x, &options, &usual, NULL));
        assert_ok(huddle_graph_knn_ties(NULL, &x, &options, &lists, NULL));
        assert_int_equal(lists.k, usual.k);
        assert_memory_equal(lists.index, usual.index, (size_t)(n * usual.k) * sizeof(int32_t));
        assert_memory_equal(lists.distance, usual.distance, (size_t)(n * usual.k) * sizeof(double));
        huddle_neighbors_free(&lists);
        huddle_neighbors_free(&usual);
        huddle_points_free(&x);
    }
}

/* ---- copies -------------------------------------------------------------------------------- */

static void edges_weigh_the_mean_of_the_copies_and_loops_what_lies_between_them(void **state) {
    (void)state;
    int64_t offsets[] = {0, 2, 3, 4, 4}, copies[] = {1, 4, 12, 3};
    int32_t columns[] = {1, 2, 0, 0};
    double values[] = {.5, .25, .5, .25};
    huddle_csr view = {4, 4, offsets, columns, values}, graph;
    double expected[4][4] = {{0, .5 * 2.5, .25 * 6.5, 0},
                             {.5 * 2.5, 4 * 3, 0, 0},
                             {.25 * 6.5, 0, 12 * 5, 0},
                             {0, 0, 0, 3 * 2}};
    assert_ok(huddle_csr_copy(&view, &graph));
    assert_ok(huddle_graph_weigh_copies(NULL, copies, 5, &graph));
    assert_ok(huddle_csr_check(&graph));
    for (int64_t i = 0; i < 4; i++) {
        double row[4] = {0};
        for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; e++)
            row[graph.columns[e]] = graph.values[e];
        for (int j = 0; j < 4; j++)
            assert_true(row[j] == expected[i][j]);
    }
    huddle_csr_free(&graph);
    assert_ok(huddle_csr_copy(&view, &graph));
    assert_ok(huddle_graph_weigh_copies(NULL, copies, 0, &graph));
    assert_int_equal(graph.offsets[4], 4); /* no loops */
    copies[2] = 0;
    assert_refused(huddle_graph_weigh_copies(NULL, copies, 5, &graph), HUDDLE_INVALID, "point 3");
    huddle_csr_free(&graph);
}

/* A component is small if it has few points, not of few distinct ones. */
static void small_components_are_counted_in_points(void **state) {
    (void)state;
    huddle_points x;
    huddle_csr graph;
    huddle_scale scale = {.rule = "binary"};
    huddle_connect_options options = huddle_connect_defaults();
    huddle_connect_info info;
    int64_t copies[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 50, 1};
    options.connect = "small";
    options.n_clusters = 3;
    assert_ok(huddle_points_new(12, 1, &x));
    for (int i = 0; i < 12; i++)
        x.values[i] = (float)(i < 10 ? i : i == 10 ? 1000 : -1000);
    for (int counted = 0; counted < 2; counted++) {
        assert_ok(huddle_csr_new(12, 12, 18, &graph));
        for (int i = 0, at = 0; i < 12; i++) {
            for (int j = i - 1; j <= i + 1 && i < 10; j += 2)
                if (j >= 0 && j < 10) {
                    graph.columns[at] = j;
                    graph.values[at++] = 1;
                }
            graph.offsets[i + 1] = at;
        }
        options.copies = counted ? copies : NULL;
        assert_ok(huddle_graph_connect(NULL, &x, &options, &scale, &graph, &info));
        assert_int_equal(info.before, 3);
        assert_int_equal(info.bridges, counted ? 1 : 2);
        huddle_csr_free(&graph);
    }
    huddle_points_free(&x);
}

static huddle_status search(void *argument) {
    huddle_neighbors lists = {0};
    huddle_csr graph = {0};
    int64_t copies[N];
    for (int i = 0; i < N; i++)
        copies[i] = 2;
    huddle_knn_options options = five();
    huddle_status status = huddle_graph_knn_ties(NULL, argument, &options, &lists, NULL);
    if (status == HUDDLE_OK)
        status = huddle_graph_weigh(NULL, &lists, NULL, &graph, NULL);
    if (status == HUDDLE_OK)
        status = huddle_graph_weigh_copies(NULL, copies, K, &graph);
    huddle_neighbors_free(&lists);
    huddle_csr_free(&graph);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    huddle_points x = grid();
    test_each_allocation(search, &x);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_as_near_as_the_kth_is_a_neighbour),
        cmocka_unit_test(new_points_have_ties_too),
        cmocka_unit_test(there_are_never_more_than_forty),
        cmocka_unit_test(without_ties_the_lists_are_the_usual_ones),
        cmocka_unit_test(edges_weigh_the_mean_of_the_copies_and_loops_what_lies_between_them),
        cmocka_unit_test(small_components_are_counted_in_points),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
