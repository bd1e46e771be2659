/* graph: the search of sparse rows against brute force by the same differences: all lists equal to
 * the last bit, whatever the signs, norms and numbers of values; and that its bounds exclude. */
#include "base/rng.h"
#include "graph/search.h"
#include "graph/sparse_rows.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---------------------------------------------------------------------------------- */

/* How rows are drawn: columns by Zipf's law, some of them from the few of a group of rows. */
typedef struct recipe {
    int64_t n, d;
    int64_t length;  /* draws per row; repeated ones count once */
    int64_t groups;  /* 0: none */
    bool is_signed;  /* values of both signs */
    bool unit;       /* rows of norm 1 */
    double exponent; /* norms from 2^-exponent to 2^exponent */
    uint64_t seed;
} recipe;

static int compare_columns(const void *a, const void *b) {
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

static int32_t draw_column(hd_rng *rng, const recipe *r, int64_t i) {
    if (r->groups > 0 && hd_rng_below(rng, 3) == 0) /* one of 12 columns that few other rows have */
        return (int32_t)((i % r->groups * 12 + hd_rng_below(rng, 12)) % r->d);
    return (int32_t)(r->d - 1 - (int64_t)floor(pow((double)r->d, hd_rng_uniform(rng))) % r->d);
}

/* Rare columns have large values, as TF-IDF gives them. */
static huddle_points make_rows(recipe r) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(r.seed, 7);
    int32_t *drawn = malloc((size_t)r.length * sizeof *drawn);
    assert_ok(huddle_points_new_sparse(r.n, r.d, r.n * r.length, &x));
    for (int64_t i = 0; i < r.n; i++) {
        int64_t first = x.offsets[i], at = first;
        double squares = 0, scale = exp2(r.exponent * (2 * hd_rng_uniform(&rng) - 1));
        for (int64_t e = 0; e < r.length; e++)
            drawn[e] = draw_column(&rng, &r, i);
        qsort(drawn, (size_t)r.length, sizeof *drawn, compare_columns);
        for (int64_t e = 0; e < r.length; e++) {
            if (at > first && x.columns[at - 1] == drawn[e])
                continue;
            double value = log((double)(r.d - drawn[e]) + 2) * (.5 + hd_rng_uniform(&rng));
            value *= r.is_signed && hd_rng_below(&rng, 2) == 0 ? -1 : 1;
            squares += value * value;
            x.columns[at] = drawn[e];
            x.values[at++] = (float)value;
        }
        for (int64_t e = first; e < at; e++)
            x.values[e] = (float)((double)x.values[e] * scale / (r.unit ? sqrt(squares) : 1));
        x.offsets[i + 1] = at;
    }
    free(drawn);
    return x;
}

/* ---- searches ------------------------------------------------------------------------------ */

typedef struct lists {
    hd_graph_search search;
    const huddle_points *train, *query;
    bool cosine;
} lists;

static lists search_among(const huddle_points *train, const huddle_points *query, bool cosine,
                          int32_t k, int32_t threads, const int32_t *group) {
    lists out = {.train = train, .query = query, .cosine = cosine};
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, threads));
    out.search.self = train == query;
    out.search.k = k;
    out.search.train_group = out.search.query_group = group;
    out.search.index = malloc((size_t)(query->n * k) * sizeof *out.search.index);
    out.search.distance2 = malloc((size_t)(query->n * k) * sizeof *out.search.distance2);
    assert_ok(hd_graph_search_sparse(context, train, query, cosine, &out.search));
    huddle_context_free(context);
    return out;
}

static void free_lists(lists *l) {
    free(l->search.index);
    free(l->search.distance2);
}

/* Every `step`-th list has the k first rows by (distance, index), distances by differences. */
static void check_lists(const lists *l, int64_t step) {
    int32_t k = l->search.k, *index = malloc((size_t)k * sizeof *index);
    double *distance2 = malloc((size_t)k * sizeof *distance2);
    hd_graph_sparse_rows train, query;
    assert_ok(hd_graph_sparse_rows_new(l->train, l->cosine, &train));
    assert_ok(hd_graph_sparse_rows_new(l->query, l->cosine, &query));
    for (int64_t i = 0; i < l->query->n; i += step) {
        for (int32_t c = 0; c < k; c++) {
            index[c] = INT32_MAX;
            distance2[c] = INFINITY;
        }
        for (int64_t j = 0; j < l->train->n; j++)
            if (!hd_graph_search_skips(&l->search, i, j))
                hd_graph_list_insert(distance2, index, k,
                                     hd_graph_sparse_distance2(&query, i, &train, j), (int32_t)j);
        for (int32_t c = 0; c < k; c++) {
            if (index[c] != l->search.index[i * k + c])
                fail_msg("row %lld, neighbour %d: %d instead of %d", (long long)i, c,
                         l->search.index[i * k + c], index[c]);
            assert_true(distance2[c] == l->search.distance2[i * k + c]);
        }
    }
    hd_graph_sparse_rows_free(&train);
    hd_graph_sparse_rows_free(&query);
    free(index);
    free(distance2);
}

/* The products of all pairs of rows. */
static double count_all(const huddle_points *x) {
    double *count = calloc((size_t)x->d, sizeof *count), sum = 0;
    for (int64_t e = 0; e < x->offsets[x->n]; e++)
        count[x->columns[e]]++;
    for (int64_t f = 0; f < x->d; f++)
        sum += count[f] * count[f];
    free(count);
    return sum;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void lists_are_those_of_brute_force(void **state) {
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        recipe r = {.n = 700,
                    .d = 900,
                    .length = 30,
                    .groups = kind & 1 ? 40 : 0,
                    .is_signed = kind & 2,
                    .unit = kind & 4,
                    .exponent = kind & 4 ? 0 : 2,
                    .seed = (uint64_t)kind};
        huddle_points x = make_rows(r);
        r.n = 90;
        r.seed += 100;
        huddle_points y = make_rows(r);
        for (int cosine = 0; cosine < 2; cosine++) {
            lists among = search_among(&x, &x, cosine, 6, 2, NULL);
            check_lists(&among, 1);
            free_lists(&among);
            among = search_among(&x, &y, cosine, 3, 2, NULL);
            check_lists(&among, 1);
            free_lists(&among);
        }
        huddle_points_free(&x);
        huddle_points_free(&y);
    }
}

/* Rows without values, with one value, equal rows, and rows that share no column with k others:
 * there distances tie, and the index decides. */
static void unusual_rows(void **state) {
    (void)state;
    recipe r = {.n = 500, .d = 4000, .length = 25, .groups = 30, .is_signed = true, .seed = 5};
    huddle_points x = make_rows(r);
    int64_t at = 0, end = 0;
    for (int64_t i = 0; i < x.n; i++) {
        int64_t begin = end, count = x.offsets[i + 1] - begin;
        end = x.offsets[i + 1];
        count = i % 9 == 2 ? 0 : i % 9 == 4 ? 1 : count;
        for (int64_t e = 0; e < count; e++) {
            x.columns[at + e] = i % 9 == 4 ? (int32_t)(i % 50) : x.columns[begin + e];
            x.values[at + e] = i % 9 == 4 ? (float)(i % 3 - 1) : x.values[begin + e];
        }
        at += count;
        x.offsets[i + 1] = at;
        if (i % 9 == 7) { /* the row before once more */
            int64_t before = x.offsets[i - 1], length = x.offsets[i] - before;
            at = x.offsets[i] + length;
            assert_true(at <= end);
            memmove(x.columns + x.offsets[i], x.columns + before, (size_t)length * 4);
            memmove(x.values + x.offsets[i], x.values + before, (size_t)length * 4);
            x.offsets[i + 1] = at;
        }
    }
    assert_ok(huddle_points_check(NULL, &x));
    for (int cosine = 0; cosine < 2; cosine++)
        for (int32_t k = 1; k <= 60; k += 59) {
            lists among = search_among(&x, &x, cosine, k, 2, NULL);
            check_lists(&among, 1);
            free_lists(&among);
        }
    huddle_points_free(&x);
}

/* Rows that share hardly any column: nearly all distances tie. */
static void rows_without_common_columns(void **state) {
    (void)state;
    huddle_points x;
    assert_ok(huddle_points_new_sparse(300, 1200, 900, &x));
    for (int64_t e = 0; e < 900; e++) {
        x.columns[e] = (int32_t)(e / 3 * 4 + e % 3);
        x.values[e] = e % 2 == 0 ? 2 : -1;
        x.offsets[e / 3 + 1] = e + 1;
    }
    for (int cosine = 0; cosine < 2; cosine++) {
        lists among = search_among(&x, &x, cosine, 5, 2, NULL);
        check_lists(&among, 1);
        free_lists(&among);
    }
    huddle_points_free(&x);
}

/* More rows than one block of the index, with many products and with few. */
static void several_blocks(void **state) {
    (void)state;
    for (int few = 0; few < 2; few++) {
        recipe r = {.n = 17500,
                    .d = few ? 30000 : 900,
                    .length = few ? 5 : 12,
                    .groups = few ? 2400 : 60,
                    .is_signed = few,
                    .unit = true,
                    .seed = 3};
        huddle_points x = make_rows(r);
        lists among = search_among(&x, &x, few, 4, 2, NULL);
        check_lists(&among, 457);
        /* An index without bounds reads every row for every query. */
        assert_true((double)among.search.n_products <= count_all(&x));
        free_lists(&among);
        huddle_points_free(&x);
    }
}

static void rows_of_the_same_group_are_skipped(void **state) {
    (void)state;
    huddle_points x =
        make_rows((recipe){.n = 600, .d = 700, .length = 30, .groups = 20, .seed = 9});
    int32_t group[600];
    for (int i = 0; i < 600; i++)
        group[i] = i % 20 / 4; /* all rows that are near are skipped */
    for (int cosine = 0; cosine < 2; cosine++) {
        lists among = search_among(&x, &x, cosine, 1, 2, group);
        check_lists(&among, 1);
        free_lists(&among);
    }
    huddle_points_free(&x);
}

/* Values near the ends of the range of float: norms that float cannot hold. */
static void rows_of_any_size(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        huddle_points x =
            make_rows((recipe){.n = 300, .d = 300, .length = 40, .is_signed = true, .seed = 4});
        for (int64_t e = 0; e < x.offsets[x.n]; e++)
            x.values[e] *= kind == 0 ? 0x1p123F : 0x1p-140F;
        for (int cosine = 0; cosine < 2; cosine++) {
            lists among = search_among(&x, &x, cosine, 5, 2, NULL);
            check_lists(&among, 1);
            free_lists(&among);
        }
        huddle_points_free(&x);
    }
}

/* Rows that differ by a few roundings of float, less than the index is rounded by under cosine. */
static void near_ties(void **state) {
    (void)state;
    enum { N = 300, D = 24 };
    huddle_points x;
    hd_rng rng = hd_rng_stream(8, 0);
    assert_ok(huddle_points_new_sparse(N, D, N * D, &x));
    for (int64_t e = 0; e < N * D; e++) {
        x.columns[e] = (int32_t)(e % D);
        x.values[e] = (float)(sin((double)(e / D % 5 * D + e % D)) *
                              (1 + 0x1p-22 * (double)(hd_rng_below(&rng, 5) - 2)));
        x.offsets[e / D + 1] = e + 1;
    }
    for (int cosine = 0; cosine < 2; cosine++) {
        lists among = search_among(&x, &x, cosine, 4, 2, NULL);
        check_lists(&among, 1);
        free_lists(&among);
    }
    huddle_points_free(&x);
}

/* Three rows each: one, with u in common columns and 1/2 in a rare one; a second, with the same
 * rare column, whose score in rare columns is the largest; and a third with the same u, parallel to
 * that of the first, so that its bound is its score. The third is the nearer one by 0.2 %. */
static void bounds_are_tight(void **state) {
    (void)state;
    enum { FAMILIES = 100, N = 3 * FAMILIES, COMMON = 40, D = COMMON + 2 * FAMILIES };
    huddle_points x;
    hd_rng rng = hd_rng_stream(6, 0);
    float u[COMMON];
    int64_t at = 0;
    assert_ok(huddle_points_new_sparse(N, D, N * (COMMON + 1), &x));
    for (int64_t i = 0; i < N; i++) {
        for (int32_t f = 0; f < COMMON; f++) {
            if (i % 3 == 0)
                u[f] = (float)((hd_rng_below(&rng, 2) == 0 ? -1 : 1) / sqrt(COMMON));
            x.columns[at] = f;
            x.values[at++] = i % 3 == 1 ? (float)((double)u[f] * (1 - sqrt(.2605))) : u[f];
        }
        x.columns[at] = (int32_t)(COMMON + i / 3 + (i % 3 == 2 ? FAMILIES : 0));
        x.values[at++] = i % 3 == 2 ? .1F : .5F;
        x.offsets[i + 1] = at;
    }
    lists among = search_among(&x, &x, false, 1, 2, NULL);
    check_lists(&among, 1);
    for (int64_t i = 0; i < N; i += 3)
        assert_int_equal(among.search.index[i], i + 2);
    free_lists(&among);
    huddle_points_free(&x);
}

static void threads_agree(void **state) {
    (void)state;
    static const int32_t threads[] = {2, 3, 8};
    huddle_points x =
        make_rows((recipe){.n = 900, .d = 2000, .length = 40, .groups = 50, .seed = 2});
    lists one = search_among(&x, &x, false, 5, 1, NULL);
    for (int t = 0; t < 3; t++) {
        lists many = search_among(&x, &x, false, 5, threads[t], NULL);
        assert_memory_equal(one.search.index, many.search.index, 900 * 5 * sizeof(int32_t));
        assert_memory_equal(one.search.distance2, many.search.distance2, 900 * 5 * sizeof(double));
        assert_true(one.search.n_products == many.search.n_products);
        assert_true(one.search.n_distances == many.search.n_distances);
        free_lists(&many);
    }
    free_lists(&one);
    huddle_points_free(&x);
}

/* On rows like text, most products are never computed; where the bounds exclude nothing, no more
 * than without them. */
static void bounds_exclude(void **state) {
    (void)state;
    huddle_points x = make_rows(
        (recipe){.n = 4000, .d = 20000, .length = 90, .groups = 300, .unit = true, .seed = 1});
    lists text = search_among(&x, &x, false, 5, 2, NULL);
    print_message("products: %.3f of all, distances per row: %.1f\n",
                  (double)text.search.n_products / count_all(&x),
                  (double)text.search.n_distances / 4000);
    assert_true((double)text.search.n_products < count_all(&x) / 4);
    assert_true(text.search.n_distances < 20 * 4000);
    check_lists(&text, 211);
    free_lists(&text);
    huddle_points_free(&x);
    x = make_rows((recipe){.n = 1000, .d = 30, .length = 60, .is_signed = true, .seed = 1});
    lists full = search_among(&x, &x, false, 5, 2, NULL);
    print_message("products: %.3f of all\n", (double)full.search.n_products / count_all(&x));
    assert_true((double)full.search.n_products < 1.1 * count_all(&x));
    free_lists(&full);
    huddle_points_free(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_those_of_brute_force),
        cmocka_unit_test(unusual_rows),
        cmocka_unit_test(rows_without_common_columns),
        cmocka_unit_test(several_blocks),
        cmocka_unit_test(rows_of_the_same_group_are_skipped),
        cmocka_unit_test(rows_of_any_size),
        cmocka_unit_test(near_ties),
        cmocka_unit_test(bounds_are_tight),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(bounds_exclude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
