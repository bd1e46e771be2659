/* graph: the search through cells against brute force in double, for rows of doubles and on data
 * that are hard for it, and when it gives up. */
#include "graph/distance_kernels.h"
#include "graph/leaves.h"
#include "graph/search.h"
#include "unit/graph_brute.h"

#include <float.h>

static huddle_dense normal_rows(int64_t n, int64_t d, uint64_t seed) {
    huddle_dense f;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_dense_new(n, d, &f));
    for (int64_t e = 0; e < n * d; e++)
        f.values[e] = hd_rng_normal(&rng);
    return f;
}

/* Fails unless every list that is checked has the indices and distances of brute force. Sums in
 * another order can differ by rounding: indices must be those of brute force unless the distances
 * differ by no more than that. */
static void check_rows(const huddle_dense *f, int32_t k, huddle_knn_info *info) {
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    pair *all = malloc((size_t)f->rows * sizeof *all);
    options.knn_solver = "cells";
    options.n_neighbors = k;
    assert_ok(huddle_graph_knn_dense(NULL, f, &options, &out, info));
    assert_string_equal(info->solver, "cells");
    for (int64_t i = 0; i<f->rows; i += f->rows> 200 ? 7 : 1) {
        int64_t count = 0;
        for (int64_t j = 0; j < f->rows; j++) {
            double sum = 0;
            for (int64_t c = 0; c < f->cols; c++) {
                double t = f->values[i * f->stride + c] - f->values[j * f->stride + c];
                sum += t * t;
            }
            if (j != i)
                all[count++] = (pair){sqrt(sum), (int32_t)j};
        }
        qsort(all, (size_t)count, sizeof *all, compare_pairs);
        for (int32_t c = 0; c < out.k; c++) {
            double distance = out.distance[i * out.k + c], error = 1e-14 * all[c].distance;
            assert_true(fabs(distance - all[c].distance) <= error);
            bool tied = (c > 0 && all[c].distance - all[c - 1].distance <= error) ||
                        (c + 1 < count && all[c + 1].distance - all[c].distance <= error);
            if (out.index[i * out.k + c] != all[c].index && (!tied || all[c].distance == 0))
                fail_msg("row %lld, neighbour %d: %d, brute force %d at %.17g", (long long)i, c,
                         out.index[i * out.k + c], all[c].index, all[c].distance);
        }
    }
    huddle_neighbors_free(&out);
    free(all);
}

static void rows_of_doubles(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{2, 1}, {5, 3}, {96, 4}, {97, 40}, {1700, 6}, {3000, 2}};
    huddle_knn_info info;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_dense f = normal_rows(sizes[s][0], sizes[s][1], s);
        check_rows(&f, 5, &info);
        huddle_dense_free(&f);
    }
}

static void lists_longer_than_a_leaf(void **state) {
    (void)state;
    huddle_knn_info info;
    huddle_dense f = normal_rows(700, 3, 1);
    check_rows(&f, HD_GRAPH_LEAF + 40, &info);
    check_rows(&f, 699, &info);
    huddle_dense_free(&f);
}

/* Equal rows tie at distance 0: the smallest numbers win, and leaves of equal rows are not all
 * compared with each other. */
static void equal_rows(void **state) {
    (void)state;
    enum { N = 6000 };
    for (int64_t distinct = 1; distinct <= 40; distinct += 13) {
        huddle_knn_info info;
        huddle_dense f = normal_rows(N, 12, 2);
        for (int64_t i = distinct; i < N; i++)
            memcpy(f.values + i * 12, f.values + i * i % distinct * 12, 12 * sizeof *f.values);
        check_rows(&f, 5, &info);
        assert_true(info.n_distances < N * 250);
        huddle_dense_free(&f);
    }
}

/* Rows of a component are equal except for rounding: distances of 1e-16 at a norm of 1, in clusters
 * in the corners of the space, of which single precision sees points only. */
static void rows_equal_up_to_rounding(void **state) {
    (void)state;
    static const double widths[] = {1e-16, 1e-12, 1e-8, 1e-5};
    for (int t = 0; t < 4; t++) {
        enum { N = 4000, D = 20 };
        huddle_knn_info info;
        huddle_dense f = normal_rows(N, D, 3);
        hd_rng rng = hd_rng_stream(4, 0);
        for (int64_t i = 0; i < N; i++) {
            int64_t corner = hd_rng_below(&rng, D);
            for (int64_t j = 0; j < D; j++) /* three dimensions and a little of the others */
                f.values[i * D + j] =
                    (j == corner) + widths[t] * (j < 3 ? 1 : 1e-3) * rint(8 * f.values[i * D + j]);
        }
        check_rows(&f, 5, &info);
        assert_true(info.n_distances < N * 400);
        huddle_dense_free(&f);
    }
}

static void collinear_rows_and_large_offsets(void **state) {
    (void)state;
    static const double offsets[] = {0, 1e8, -1e12};
    for (int t = 0; t < 3; t++) {
        huddle_knn_info info;
        huddle_dense f = normal_rows(2000, 5, 5);
        for (int64_t i = 0; i < 2000; i++)
            for (int64_t j = 1; j < 5; j++)
                f.values[i * 5 + j] = (double)j * f.values[i * 5] + offsets[t];
        check_rows(&f, 5, &info);
        huddle_dense_free(&f);
    }
}

/* Points whose boxes are those of their projections. */
static void points_of_many_columns(void **state) {
    (void)state;
    for (int64_t d = 17; d <= 60; d += 43) {
        huddle_points x = normal_points(1100, d, 6), base = normal_points(4, d, 7);
        for (int64_t i = 0; i < x.n; i++) /* near a plane of four dimensions */
            for (int64_t j = 0; j < d; j++) {
                double v = 0.02 * (double)x.values[i * d + j];
                for (int64_t b = 0; b < 4; b++)
                    v += sin((double)(i * (b + 1))) * (double)base.values[b * d + j];
                x.values[i * d + j] = (float)(v + 3);
            }
        check_knn(&x, 8, false, true);
        check_knn(&x, 8, true, false);
        huddle_points_free(&x);
        huddle_points_free(&base);
    }
}

static void any_number_of_threads(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    huddle_dense f = normal_rows(5000, 9, 8);
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors first = {0};
    huddle_knn_info info, first_info;
    options.knn_solver = "cells";
    for (int t = 0; t < 4; t++) {
        huddle_context *context;
        huddle_neighbors out;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads[t]));
        assert_ok(huddle_graph_knn_dense(context, &f, &options, t == 0 ? &first : &out,
                                         t == 0 ? &first_info : &info));
        if (t > 0) {
            assert_int_equal(info.n_distances, first_info.n_distances);
            assert_memory_equal(out.index, first.index, 25000 * sizeof *out.index);
            assert_memory_equal(out.distance, first.distance, 25000 * sizeof *out.distance);
            huddle_neighbors_free(&out);
        }
        huddle_context_free(context);
    }
    huddle_neighbors_free(&first);
    huddle_dense_free(&f);
}

/* Runs the solver itself; returns whether it gave up. */
static bool gives_up(const huddle_points *x, double cost_limit, int64_t *n_distances) {
    enum { K = 5 };
    hd_graph_rows rows = hd_graph_rows_of_points(x);
    hd_graph_search s = {.train = &rows, .query = &rows, .self = true, .k = K};
    bool gave_up = false;
    s.cost_limit = cost_limit;
    s.index = malloc((size_t)(x->n * K) * sizeof *s.index);
    s.distance2 = malloc((size_t)(x->n * K) * sizeof *s.distance2);
    assert_ok(hd_graph_search_cells(NULL, &s, &gave_up));
    *n_distances = (int64_t)atomic_load(&s.n_distances);
    free(s.index);
    free(s.distance2);
    return gave_up;
}

/* Where no box excludes anything, brute force is faster; a limit below the cost of any search stops
 * it before the search. */
static void gives_up_by_the_predicted_cost(void **state) {
    (void)state;
    int64_t n_distances;
    huddle_points wide = normal_points(8000, 40, 9), narrow = normal_points(20000, 4, 9);
    assert_true(gives_up(&wide, 0, &n_distances));
    assert_int_equal(n_distances, 0);
    assert_false(gives_up(&narrow, 0, &n_distances));
    assert_true(n_distances > 5 * 20000);
    assert_false(gives_up(&narrow, INFINITY, &n_distances));
    assert_true(gives_up(&narrow, 1e6, &n_distances));
    assert_int_equal(n_distances, 0);
    huddle_points_free(&wide);
    huddle_points_free(&narrow);
}

/* Every point is in one leaf, all leaves but the last are full, and the boxes are tight. */
static void leaves_and_boxes(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 96, 97, 1537, 5000};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        huddle_dense f = normal_rows(sizes[t], 3, t);
        hd_graph_rows rows = hd_graph_rows_of_dense(&f);
        hd_graph_leaves leaves;
        bool *seen = calloc((size_t)sizes[t], sizeof *seen);
        assert_ok(hd_graph_leaves_new(NULL, &rows, &leaves));
        assert_int_equal(leaves.count, (sizes[t] + HD_GRAPH_LEAF - 1) / HD_GRAPH_LEAF);
        for (int64_t l = 0; l < leaves.count; l++) {
            double low[3], high[3], least[3] = {DBL_MAX, DBL_MAX, DBL_MAX},
                                    most[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
            int32_t smallest = INT32_MAX;
            for (int64_t p = hd_graph_leaf_begin(l); p < hd_graph_leaf_end(&leaves, l); p++) {
                int32_t i = leaves.order[p];
                assert_false(seen[i]);
                seen[i] = true;
                smallest = i < smallest ? i : smallest;
                for (int j = 0; j < 3; j++) {
                    least[j] = fmin(least[j], f.values[i * 3 + j]);
                    most[j] = fmax(most[j], f.values[i * 3 + j]);
                }
            }
            hd_graph_leaves_box(&leaves, l, low, high);
            assert_memory_equal(low, least, sizeof low);
            assert_memory_equal(high, most, sizeof high);
            assert_int_equal(leaves.smallest[l], smallest);
        }
        hd_graph_leaves_free(&leaves);
        huddle_dense_free(&f);
        free(seen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_doubles),
        cmocka_unit_test(lists_longer_than_a_leaf),
        cmocka_unit_test(equal_rows),
        cmocka_unit_test(rows_equal_up_to_rounding),
        cmocka_unit_test(collinear_rows_and_large_offsets),
        cmocka_unit_test(points_of_many_columns),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(gives_up_by_the_predicted_cost),
        cmocka_unit_test(leaves_and_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
