/* Neighbours among rows on several processes: the lists must be those of one process, index by
 * index and bit by bit, however the rows are divided. */
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/team.h"
#include "graph/ring.h"
#include "graph_divisions.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>

/* ---- searches ------------------------------------------------------------------------------- */

/* A search of all rows, and what the members find. */
typedef struct search {
    huddle_points x, query; /* or */
    huddle_dense f, query_f;
    bool has_query, is_dense, ties;
    huddle_knn_options options;
    int64_t begins[TEAM_MAX + 1], query_begins[TEAM_MAX + 1];
    huddle_neighbors found[TEAM_MAX];
    int fails; /* this member passes an invalid value; -1: none */
} search;

static huddle_points some_points(const huddle_points *x, const int64_t *begins, int rank) {
    huddle_points own = *x;
    own.n = begins[rank + 1] - begins[rank];
    if (x->offsets == NULL)
        own.values += begins[rank] * x->stride;
    else
        own.offsets += begins[rank];
    if (own.n == 0) /* a process without rows knows nothing about them */
        own = (huddle_points){.shift = x->shift};
    return own;
}

static huddle_dense some_rows(const huddle_dense *f, const int64_t *begins, int rank) {
    huddle_dense own = *f;
    own.rows = begins[rank + 1] - begins[rank];
    own.values += begins[rank] * f->stride;
    if (own.rows == 0)
        own = (huddle_dense){0};
    return own;
}

/* Sparse rows of a member, whose offsets begin with 0. */
static huddle_status rebase(huddle_points *x, int64_t **offsets) {
    huddle_status status = HUDDLE_OK;
    int64_t first = x->offsets[0];
    ALLOC(*offsets, x->n + 1);
    for (int64_t i = 0; i <= x->n; i++)
        (*offsets)[i] = x->offsets[i] - first;
    x->offsets = *offsets;
    x->columns += first;
    x->values += first;
done:
    return status;
}

static huddle_status search_points(huddle_context *context, search *s, huddle_points *x,
                                   huddle_points *query, huddle_neighbors *out) {
    if (s->ties)
        return s->has_query ? huddle_graph_query_ties(context, x, query, &s->options, out, NULL)
                            : huddle_graph_knn_ties(context, x, &s->options, out, NULL);
    return s->has_query ? huddle_graph_query(context, x, query, &s->options, out, NULL)
                        : huddle_graph_knn(context, x, &s->options, out, NULL);
}

static huddle_status search_rows(huddle_context *context, search *s, huddle_dense *f,
                                 huddle_dense *query, huddle_neighbors *out) {
    return s->has_query ? huddle_graph_query_dense(context, f, query, &s->options, out, NULL)
                        : huddle_graph_knn_dense(context, f, &s->options, out, NULL);
}

static huddle_status search_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    search *s = argument;
    int64_t *offsets = NULL, *query_offsets = NULL;
    float bad[64] = {0};
    if (s->is_dense) {
        huddle_dense f = some_rows(&s->f, s->begins, rank), query = {0};
        if (s->has_query)
            query = some_rows(&s->query_f, s->query_begins, rank);
        return search_rows(context, s, &f, &query, &s->found[rank]);
    }
    huddle_points x = some_points(&s->x, s->begins, rank), query = {0};
    if (s->has_query)
        query = some_points(&s->query, s->query_begins, rank);
    if (x.offsets != NULL)
        TRY(rebase(&x, &offsets));
    if (query.offsets != NULL)
        TRY(rebase(&query, &query_offsets));
    if (rank == s->fails) {
        bad[0] = NAN;
        x.values = bad;
        x.n = 1;
    }
    TRY(search_points(context, s, &x, &query, &s->found[rank]));
done:
    huddle_free(offsets);
    huddle_free(query_offsets);
    return status;
}

/* Fails unless every division finds the lists of one process. */
static void compare_divisions(search *s, int first, int count) {
    huddle_neighbors one;
    s->fails = -1;
    assert_ok(s->is_dense ? search_rows(NULL, s, &s->f, &s->query_f, &one)
                          : search_points(NULL, s, &s->x, &s->query, &one));
    int64_t n = s->is_dense ? s->f.rows : s->x.n;
    for (int v = first; v < first + count; v++) {
        const division *by = &divisions[v];
        divide(by, n, s->begins);
        division other = *by; /* queries: the last member has the share of the first */
        for (int m = 0; m < by->members; m++)
            other.share[m] = by->share[by->members - 1 - m];
        if (s->has_query)
            divide(&other, s->is_dense ? s->query_f.rows : s->query.n, s->query_begins);
        assert_ok(team_run(by->members, &team_engine, search_part, s));
        for (int64_t m = 0, at = 0; m < by->members; m++) {
            assert_int_equal(s->found[m].k, one.k);
            for (int64_t e = 0; e < s->found[m].n * one.k; e++, at++) {
                if (s->found[m].index[e] != one.index[at] ||
                    s->found[m].distance[e] != one.distance[at])
                    fail_msg("division %d, list %lld, place %lld: %d at %.17g instead of %d at "
                             "%.17g",
                             v, (long long)(at / one.k), (long long)(at % one.k),
                             s->found[m].index[e], s->found[m].distance[e], one.index[at],
                             one.distance[at]);
            }
            if (m + 1 == by->members)
                assert_int_equal(at, one.n * one.k);
            huddle_neighbors_free(&s->found[m]);
        }
    }
    huddle_neighbors_free(&one);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Clusters of normal points, or a grid with duplicates and ties (levels > 0). */
static huddle_points make_points(int64_t n, int64_t d, int levels, uint64_t seed) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t cluster = hd_rng_below(&rng, 7);
        for (int64_t j = 0; j < d; j++)
            x.values[i * x.stride + j] =
                levels > 0 ? (float)hd_rng_below(&rng, levels)
                           : (float)(hd_rng_normal(&rng) + 6 * (double)((cluster + j) % 7 == 0));
    }
    return x;
}

static huddle_dense make_rows(int64_t n, int64_t d, double scale, uint64_t seed) {
    huddle_dense f;
    assert_ok(huddle_dense_new(n, d, &f));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t corner = hd_rng_below(&rng, d);
        for (int64_t j = 0; j < d; j++)
            f.values[i * f.stride + j] =
                scale * ((double)(j == corner) + 1e-3 * hd_rng_normal(&rng));
    }
    return f;
}

static huddle_points make_sparse(int64_t n, int64_t d, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new_sparse(n, d, n * 5, &x));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = x.offsets[i];
        for (int64_t j = 0; j < d && at < x.offsets[i] + 5 && i % 17 != 3; j++)
            if (hd_rng_below(&rng, d) < 4) {
                x.columns[at] = (int32_t)j;
                x.values[at++] = (float)(1 + hd_rng_below(&rng, 3));
            }
        x.offsets[i + 1] = at;
    }
    return x;
}

static search plain_search(int32_t k, const char *metric) {
    search s = {.options = huddle_knn_defaults()};
    s.options.n_neighbors = k;
    s.options.metric = metric;
    return s;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void points_of_any_width(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 3, 15, 16, 40, 130};
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int w = 0; w < 6; w++)
        for (int m = 0; m < 2; m++) {
            search s = plain_search(5, metrics[m]);
            s.x = make_points(300, widths[w], 0, 1);
            compare_divisions(&s, 0, N_DIVISIONS);
            huddle_points_free(&s.x);
        }
}

/* Lists longer than the rows of a member, and than those of all. */
static void long_lists(void **state) {
    (void)state;
    static const int32_t lengths[] = {1, 30, 59, 100};
    for (int k = 0; k < 4; k++) {
        search s = plain_search(lengths[k], "euclidean");
        s.x = make_points(60, 4, 0, 2);
        compare_divisions(&s, 0, N_DIVISIONS);
        huddle_points_free(&s.x);
    }
}

/* Rows that are tiny on one member and huge on another: packed by the scale of one process alone,
 * those of the other would be infinite. */
static void rows_of_very_different_size(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        search s = plain_search(40, "euclidean");
        s.x = make_points(90, wide ? 40 : 4, 0, 17);
        for (int64_t e = 0; e < 90 * s.x.d; e++)
            s.x.values[e] *= e < 45 * s.x.d ? 1e-19f : 1e37f;
        compare_divisions(&s, 0, N_DIVISIONS);
        huddle_points_free(&s.x);
    }
}

static void duplicates_and_ties(void **state) {
    (void)state;
    for (int levels = 1; levels < 4; levels++)
        for (int ties = 0; ties < 2; ties++) {
            search s = plain_search(6, "euclidean");
            s.x = make_points(400, 3, levels, 3);
            s.ties = ties != 0;
            compare_divisions(&s, 0, N_DIVISIONS);
            huddle_points_free(&s.x);
        }
}

/* Under cosine a shift counts, rows of zeros are far from all others, and only one member has
 * any. */
static void cosine_with_shift_and_zeros(void **state) {
    (void)state;
    search s = plain_search(4, "cosine");
    s.x = make_points(200, 6, 0, 4);
    memset(s.x.values + 150 * s.x.stride, 0, 6 * sizeof *s.x.values);
    memset(s.x.values + 160 * s.x.stride, 0, 6 * sizeof *s.x.values);
    compare_divisions(&s, 0, N_DIVISIONS);
    s.x.shift = hd_alloc(6, sizeof *s.x.shift);
    assert_non_null(s.x.shift);
    for (int j = 0; j < 6; j++)
        s.x.shift[j] = 1.25 * j;
    compare_divisions(&s, 0, N_DIVISIONS);
    huddle_points_free(&s.x);
}

/* Squares of such doubles would vanish or overflow; only one member has the largest. */
static void rows_of_doubles(void **state) {
    (void)state;
    static const double scales[] = {1, 1e-200, 1e200};
    for (int k = 0; k < 3; k++) {
        search s = plain_search(5, "euclidean");
        s.is_dense = true;
        s.f = make_rows(250, 8, scales[k], 5);
        s.f.values[0] *= 3e3;
        compare_divisions(&s, 0, N_DIVISIONS);
        s.has_query = true;
        s.query_f = make_rows(90, 8, scales[k], 6);
        compare_divisions(&s, 0, N_DIVISIONS);
        huddle_dense_free(&s.f);
        huddle_dense_free(&s.query_f);
    }
}

static void new_points(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int m = 0; m < 2; m++)
        for (int wide = 0; wide < 2; wide++) {
            search s = plain_search(5, metrics[m]);
            s.has_query = true;
            s.x = make_points(220, wide ? 50 : 5, 0, 7);
            s.query = make_points(75, wide ? 50 : 5, 0, 8);
            s.query.shift = hd_alloc(s.x.d, sizeof *s.query.shift);
            assert_non_null(s.query.shift);
            for (int64_t j = 0; j < s.x.d; j++)
                s.query.shift[j] = .1 * (double)j;
            compare_divisions(&s, 0, N_DIVISIONS);
            huddle_points_free(&s.x);
            huddle_points_free(&s.query);
        }
}

static void sparse_points(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int m = 0; m < 2; m++) {
        search s = plain_search(7, metrics[m]);
        s.x = make_sparse(230, 40, 9);
        compare_divisions(&s, 0, N_DIVISIONS);
        s.has_query = true;
        s.query = make_sparse(60, 40, 10);
        compare_divisions(&s, 0, N_DIVISIONS);
        huddle_points_free(&s.x);
        huddle_points_free(&s.query);
    }
}

/* Many columns of few dimensions: bounds of projections decide about nearly all pairs. */
static void wide_points(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    enum { ROWS = 7000, WIDTH = 90, RANK = 7 };
    for (int m = 0; m < 2; m++) {
        search s = plain_search(6, metrics[m]);
        huddle_points z = make_points(ROWS, RANK, 0, 18), half;
        huddle_neighbors own;
        huddle_knn_info info;
        s.x = make_points(ROWS, WIDTH, 0, 19);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < WIDTH; j++) {
                float sum = .05f * s.x.values[i * s.x.stride + j];
                for (int64_t f = 0; f < RANK; f++)
                    sum += z.values[i * z.stride + f] * (float)((f * 31 + j * 17 + f * j) % 13 - 6);
                s.x.values[i * s.x.stride + j] = sum;
            }
        half = s.x;
        half.n = ROWS / 2;
        assert_ok(huddle_graph_knn(NULL, &half, &s.options, &own, &info));
        assert_string_equal(info.solver, "pcabound");
        compare_divisions(&s, 1, 2);
        huddle_neighbors_free(&own);
        huddle_points_free(&s.x);
        huddle_points_free(&z);
    }
}

/* Enough rows to be moved to regions, and for boxes. */
static void many_rows(void **state) {
    (void)state;
    search s = plain_search(6, "euclidean");
    s.x = make_points(24000, 20, 0, 11);
    compare_divisions(&s, 3, 3);
    s.has_query = true;
    s.query = make_points(3000, 20, 0, 12);
    compare_divisions(&s, 5, 2);
    huddle_points_free(&s.x);
    huddle_points_free(&s.query);
    search rows = plain_search(6, "euclidean");
    rows.is_dense = true;
    rows.f = make_rows(24000, 9, 1, 13);
    compare_divisions(&rows, 6, 2);
    huddle_dense_free(&rows.f);
    search grid = plain_search(6, "cosine");
    grid.x = make_points(21000, 5, 9, 14);
    for (int64_t i = 0; i < grid.x.n; i++)
        grid.x.values[i * grid.x.stride] += 1;
    memset(grid.x.values + 20999 * grid.x.stride, 0, 5 * sizeof *grid.x.values); /* the only one */
    compare_divisions(&grid, 1, 1);
    compare_divisions(&grid, 8, 1);
    huddle_points_free(&grid.x);
    /* All rows are equal: no region divides them. */
    search equal = plain_search(3, "euclidean");
    equal.x = make_points(20500, 4, 1, 15);
    compare_divisions(&equal, 4, 1);
    huddle_points_free(&equal.x);
}

/* Members that do not agree on anything but that one of them has failed. */
static void failure_of_one_member(void **state) {
    (void)state;
    search s = plain_search(5, "euclidean");
    s.x = make_points(100, 8, 0, 16);
    for (int members = 1; members <= 4; members++)
        for (int m = 0; m < members; m++) {
            divide(&(division){members, {.25, .25, .25, .25}}, 100, s.begins);
            s.fails = m;
            assert_refused(team_run(members, &team_engine, search_part, &s), HUDDLE_INVALID,
                           "not a number");
            for (int r = 0; r < members; r++)
                assert_null(s.found[r].index);
        }
    huddle_points_free(&s.x);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* A ring whose queries are numbers, and which lists the sum of the ranks visited. */
typedef struct sums {
    int rank, members;
    int64_t n, visits, largest;
    int32_t sum[TEAM_MAX][40], order[40]; /* lists are in the opposite order of the queries */
    double number[40];
    bool wrong, fails;
} sums;

static sums riders[TEAM_MAX];

static int64_t measure_numbers(const void *argument, int64_t begin, int64_t end) {
    (void)argument;
    return 4 * (end - begin);
}

static void pack_numbers(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const sums *s = argument;
    for (int64_t i = begin; i < end; i++)
        ((int32_t *)(void *)bytes)[i - begin] = (int32_t)(1000 * s->rank + i);
}

static huddle_status add_rank(void *argument, const hd_graph_block *block) {
    sums *s = argument;
    s->visits++;
    for (int64_t i = 0; i < block->n; i++) {
        int32_t number = ((const int32_t *)(const void *)block->bytes)[i];
        s->wrong = s->wrong || (double)number != block->distance2[i] || number / 1000 == s->rank ||
                   block->size != 4 * block->n;
        block->index[i] += 1 << 4 * s->rank;
    }
    return s->fails ? hd_fail(HUDDLE_NUMERIC, "member %d fails", s->rank) : HUDDLE_OK;
}

static huddle_status circulate(huddle_context *context, int rank, void *argument) {
    sums *s = &riders[rank];
    (void)argument;
    for (int64_t i = 0; i < s->n; i++) {
        s->order[i] = (int32_t)(s->n - 1 - i);
        s->number[s->n - 1 - i] = 1000 * rank + (double)i;
    }
    hd_graph_ring ring = {.n = s->n,
                          .k = 1,
                          .largest = s->largest,
                          .unit = s->largest == 112 ? 5 : 0,
                          .measure = measure_numbers,
                          .pack = pack_numbers,
                          .index = s->sum[rank],
                          .distance2 = s->number,
                          .order = s->order,
                          .compare = add_rank,
                          .argument = s};
    return hd_agree(context, hd_graph_ring_run(context, &ring));
}

static void blocks_visit_every_member_once(void **state) {
    (void)state;
    static const int64_t sizes[][TEAM_MAX] = {{40, 7, 0, 23}, {1, 40, 40, 3}};
    for (int t = 0; t < 2; t++)
        for (int members = 1; members <= 4; members++)
            for (int64_t largest = 16; largest < 5000; largest *= 7) {
                for (int m = 0; m < members; m++)
                    riders[m] =
                        (sums){.rank = m, .members = members, .n = sizes[t][m], .largest = largest};
                assert_ok(team_run(members, &team_engine, circulate, NULL));
                int32_t all = (1 << 4 * members) / 15;
                for (int m = 0; m < members; m++) {
                    assert_false(riders[m].wrong);
                    for (int64_t i = 0; i < riders[m].n; i++)
                        assert_int_equal(riders[m].sum[m][i], all - (1 << 4 * m));
                }
            }
}

static void failure_in_the_ring(void **state) {
    (void)state;
    for (int members = 2; members <= 4; members++)
        for (int m = 0; m < members; m++) {
            for (int r = 0; r < members; r++)
                riders[r] = (sums){.rank = r, .members = members, .n = 20, .fails = r == m};
            assert_refused(team_run(members, &team_engine, circulate, NULL), HUDDLE_NUMERIC,
                           "fails");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_any_width),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(duplicates_and_ties),
        cmocka_unit_test(rows_of_very_different_size),
        cmocka_unit_test(cosine_with_shift_and_zeros),
        cmocka_unit_test(rows_of_doubles),
        cmocka_unit_test(new_points),
        cmocka_unit_test(sparse_points),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(wide_points),
        cmocka_unit_test(failure_of_one_member),
        cmocka_unit_test(blocks_visit_every_member_once),
        cmocka_unit_test(failure_in_the_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
