/* graph: neighbours against brute force in double, for every solver. */
#include "unit/graph_brute.h"

#include <stdio.h>

static void random_points(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{2, 1},   {3, 5},    {49, 3},    {97, 40},
                                       {500, 8}, {700, 64}, {200, 500}, {900, 33}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = normal_points(sizes[s][0], sizes[s][1], s);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void one_point_has_no_neighbours(void **state) {
    (void)state;
    huddle_points x = normal_points(1, 4, 0);
    huddle_neighbors out;
    assert_ok(huddle_graph_knn(NULL, &x, NULL, &out, NULL));
    assert_int_equal(out.k, 0);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
}

static void more_neighbours_than_points(void **state) {
    (void)state;
    huddle_points x = normal_points(40, 50, 3);
    check_knn(&x, 39, false, true);
    check_knn(&x, 1000, false, true);
    huddle_points_free(&x);
}

static void duplicated_points(void **state) {
    (void)state;
    for (int64_t d = 3; d <= 83; d += 40) {
        huddle_points x = normal_points(600, d, 4);
        for (int64_t i = 300; i < 600; i++)
            memcpy(x.values + i * d, x.values + i % 37 * d, (size_t)d * sizeof *x.values);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void constant_points(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new(700, 40, &x));
    for (int64_t e = 0; e < 700 * 40; e++)
        x.values[e] = 0.1f * (float)(e % 40);
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, false);
    huddle_points_free(&x);
}

static void clustered(void **state) {
    (void)state;
    for (int w = 0; w < 3; w++) {
        huddle_points x = clustered_points(900, 48, 7, pow(10, -2 * w));
        check_knn(&x, 5, false, false);
        huddle_points_free(&x);
    }
}

static void whole_numbers_tie_by_index(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{800, 2, 5}, {800, 16, 3}, {600, 64, 2}, {300, 100, 300}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        huddle_points x = whole_points(sizes[s][0], sizes[s][1], sizes[s][2], 1);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
        /* Too large for float to be exact, and tied all the same. */
        x = whole_points(sizes[s][0], sizes[s][1], sizes[s][2], 4099);
        check_knn(&x, 5, false, true);
        huddle_points_free(&x);
    }
}

static void one_hot_rows_all_tie(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new(120, 120, &x));
    for (int64_t i = 0; i < 120; i++)
        x.values[i * 121] = 1;
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, true);
    huddle_points_free(&x);
}

static void large_offsets_and_sizes(void **state) {
    (void)state;
    static const double offsets[] = {1e4, -1e6, 0, 0}, factors[] = {1, 1, 1e-20, 1e30};
    for (int t = 0; t < 4; t++)
        for (int64_t d = 4; d <= 64; d += 60) {
            huddle_points x = normal_points(500, d, 8);
            for (int64_t e = 0; e < 500 * d; e++)
                x.values[e] = (float)((double)x.values[e] * factors[t] + offsets[t]);
            if (factors[t] == 1)
                check_knn(&x, 5, false, true);
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors a, b;
            options.knn_solver = "brute";
            assert_ok(huddle_graph_knn(NULL, &x, &options, &a, NULL));
            options.knn_solver = "kdtree";
            assert_ok(huddle_graph_knn(NULL, &x, &options, &b, NULL));
            assert_memory_equal(a.index, b.index, 2500 * sizeof *a.index);
            huddle_neighbors_free(&a);
            huddle_neighbors_free(&b);
            huddle_points_free(&x);
        }
}

static void cosine_distances(void **state) {
    (void)state;
    for (int64_t d = 3; d <= 60; d += 57) {
        huddle_points x = normal_points(400, d, 11);
        check_knn(&x, 5, true, true);
        for (int64_t i = 0; i < 400; i += 50)
            memset(x.values + i * d, 0, (size_t)d * sizeof *x.values);
        check_knn(&x, 5, true, true);
        double *shift = calloc((size_t)d, sizeof *shift);
        shift[0] = 3;
        shift[d - 1] = -1;
        x.shift = shift;
        check_knn(&x, 5, true, true);
        check_knn(&x, 5, false, true);
        x.shift = NULL;
        free(shift);
        huddle_points_free(&x);
    }
}

static void sparse(void **state) {
    (void)state;
    huddle_points x = sparse_points(400, 60, 12), y = sparse_points(50, 60, 13);
    check_knn(&x, 5, false, true);
    check_knn(&x, 5, true, true);
    for (int64_t e = 0; e < x.offsets[x.n]; e++)
        x.values[e] = 1;
    check_knn(&x, 5, false, true);
    for (int cosine = 0; cosine < 2; cosine++) {
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors out;
        huddle_knn_info info;
        options.metric = cosine ? "cosine" : "euclidean";
        assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, &info));
        assert_string_equal(info.solver, "sparse");
        check_lists(&x, &y, cosine, false, &out);
        huddle_neighbors_free(&out);
    }
    huddle_points_free(&x);
    huddle_points_free(&y);
}

static void queries(void **state) {
    (void)state;
    for (int64_t d = 2; d <= 52; d += 25)
        for (int s = 0; s < N_SOLVERS; s++)
            for (int cosine = 0; cosine < 2; cosine++) {
                huddle_points x = normal_points(600, d, 1), y = normal_points(77, d, 2);
                double shift[64] = {0};
                shift[1] = 0.5;
                memcpy(y.values, x.values, (size_t)d * sizeof *y.values);
                huddle_knn_options options = huddle_knn_defaults();
                huddle_neighbors out;
                options.knn_solver = solvers[s];
                options.metric = cosine ? "cosine" : "euclidean";
                assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, NULL));
                assert_int_equal(out.index[0], 0);
                assert_close(out.distance[0], 0, 1e-15);
                check_lists(&x, &y, cosine, true, &out);
                huddle_neighbors_free(&out);
                x.shift = shift;
                assert_ok(huddle_graph_query(NULL, &x, &y, &options, &out, NULL));
                check_lists(&x, &y, cosine, true, &out);
                huddle_neighbors_free(&out);
                x.shift = NULL;
                huddle_points_free(&x);
                huddle_points_free(&y);
            }
}

static void a_query_of_the_points_themselves_finds_them(void **state) {
    (void)state;
    huddle_points x = normal_points(100, 3, 1);
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    options.n_neighbors = 500;
    assert_ok(huddle_graph_query(NULL, &x, &x, &options, &out, NULL));
    assert_int_equal(out.k, 100);
    for (int32_t i = 0; i < 100; i++)
        assert_int_equal(out.index[i * 100], i);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
}

/* ---- rows of doubles ------------------------------------------------------------------------- */

static void check_dense(const huddle_dense *f, const huddle_neighbors *out) {
    for (int64_t i = 0; i < f->rows; i += f->rows / 40 + 1) {
        pair *all = malloc((size_t)f->rows * sizeof *all);
        int64_t count = 0;
        for (int64_t j = 0; j < f->rows; j++) {
            double sum = 0;
            for (int64_t c = 0; c < f->cols; c++) {
                double difference = f->values[i * f->stride + c] - f->values[j * f->stride + c];
                sum += difference * difference;
            }
            if (i != j)
                all[count++] = (pair){sqrt(sum), (int32_t)j};
        }
        qsort(all, (size_t)count, sizeof *all, compare_pairs);
        for (int32_t c = 0; c < out->k; c++) {
            double d = all[c].distance;
            assert_true(fabs(out->distance[i * out->k + c] - d) <= 1e-9 * d);
            if (c + 1 < out->k && all[c + 1].distance > d * (1 + 1e-12) &&
                (c == 0 || all[c - 1].distance < d * (1 - 1e-12)))
                assert_int_equal(out->index[i * out->k + c], all[c].index);
        }
        free(all);
    }
}

/* Rows close together around few places, a tenth of them equal: what embeddings look like. */
static void embeddings(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{500, 2}, {900, 10}, {4500, 10}, {900, 40}, {4500, 40}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        huddle_dense f;
        int64_t n = sizes[t][0], c = sizes[t][1];
        hd_rng rng = hd_rng_stream(t, 3);
        assert_ok(huddle_dense_new(n, c, &f));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < c; j++)
                f.values[i * c + j] = i % 10 == 9 ? f.values[(i % 70) * c + j]
                                                  : (i % c == j) + 1e-7 * hd_rng_normal(&rng);
        for (int s = 0; s < N_SOLVERS; s++) {
            huddle_knn_options options = huddle_knn_defaults();
            huddle_neighbors out;
            options.knn_solver = solvers[s];
            assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &out, NULL));
            check_dense(&f, &out);
            huddle_neighbors_free(&out);
        }
        huddle_dense_free(&f);
    }
}

/* As when components give the embedding: a handful of distinct rows. */
static void few_distinct_rows_are_quick(void **state) {
    (void)state;
    enum { N = 30000 };
    huddle_dense f;
    huddle_neighbors out;
    huddle_knn_info info;
    assert_ok(huddle_dense_new(N, 10, &f));
    for (int64_t i = 0; i < N; i++)
        f.values[i * 10 + i % 7] = 1;
    assert_ok(huddle_graph_knn_dense(NULL, &f, NULL, &out, &info));
    for (int32_t i = 0; i < N; i += 997)
        for (int32_t c = 0; c < 5; c++) {
            int32_t first = i % 7 + 7 * c;
            assert_true(out.distance[i * 5 + c] == 0);
            assert_int_equal(out.index[i * 5 + c], i <= first ? first + 7 : first);
        }
    assert_true(info.n_distances < 20 * N);
    huddle_neighbors_free(&out);
    huddle_dense_free(&f);
}

/* A tree is no use in a round cloud of ten dimensions, nor a bound in one of forty. */
static void solvers_that_do_not_pay_give_way(void **state) {
    (void)state;
    for (int64_t c = 10; c <= 40; c += 30) {
        huddle_dense f;
        hd_rng rng = hd_rng_stream(1, 1);
        assert_ok(huddle_dense_new(4500, c, &f));
        for (int64_t e = 0; e < 4500 * c; e++)
            f.values[e] = hd_rng_normal(&rng);
        huddle_knn_options options = huddle_knn_defaults();
        huddle_neighbors a, b;
        huddle_knn_info info;
        assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &a, &info));
        assert_string_equal(info.solver, "brute");
        options.knn_solver = "kdtree";
        assert_ok(huddle_graph_knn_dense(NULL, &f, &options, &b, &info));
        assert_string_equal(info.solver, "kdtree");
        assert_memory_equal(a.index, b.index, 4500 * 5 * sizeof *a.index);
        huddle_neighbors_free(&a);
        huddle_neighbors_free(&b);
        huddle_dense_free(&f);
    }
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(one_point_has_no_neighbours),
        cmocka_unit_test(more_neighbours_than_points),
        cmocka_unit_test(duplicated_points),
        cmocka_unit_test(constant_points),
        cmocka_unit_test(clustered),
        cmocka_unit_test(whole_numbers_tie_by_index),
        cmocka_unit_test(one_hot_rows_all_tie),
        cmocka_unit_test(large_offsets_and_sizes),
        cmocka_unit_test(cosine_distances),
        cmocka_unit_test(sparse),
        cmocka_unit_test(queries),
        cmocka_unit_test(a_query_of_the_points_themselves_finds_them),
        cmocka_unit_test(embeddings),
        cmocka_unit_test(few_distinct_rows_are_quick),
        cmocka_unit_test(solvers_that_do_not_pay_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
