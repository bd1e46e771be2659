/* graph on rows that are distributed over processes: numbers of all rows are reduced, what needs
 * all rows at once is refused unless the engine does it. */
#include "base/context.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/mirror.h"
#include "engines/plain_neighbors.h"
#include "engines/team.h"
#include "graph/common.h"
#include "support/support.h"

enum { N = 60, K = 4, D = 3 };

/* ---- two copies under the mirror ------------------------------------------------------------ */

/* Lists of 2 N rows whose second half repeats the distances of the first; some are short, and one
 * has only duplicates. */
static huddle_neighbors lists_of_copies(void) {
    huddle_neighbors lists = {.n = 2 * N, .k = K};
    hd_rng rng = hd_rng_stream(11, 0);
    lists.index = hd_alloc(2 * N * K, sizeof *lists.index);
    lists.distance = hd_alloc(2 * N * K, sizeof *lists.distance);
    assert_true(lists.index != NULL && lists.distance != NULL);
    for (int64_t e = 0; e < N * K; e++) {
        bool absent = e / K == 5 && e % K > 1;
        double distance = e / K == 9 ? 0 : (double)(e % K + 1) + hd_rng_uniform(&rng);
        lists.index[e] = absent ? -1 : (int32_t)((e / K + e % K + 1) % N);
        lists.index[N * K + e] = absent ? -1 : lists.index[e] + N;
        lists.distance[e] = lists.distance[N * K + e] = absent ? INFINITY : distance;
    }
    return lists;
}

static void scales_are_those_of_all_lists(void **state) {
    (void)state;
    static const char *const rules[] = {"selftune", "mean", "knn", "binary"};
    huddle_context *mirror = mirror_context();
    huddle_neighbors lists = lists_of_copies(), half = lists;
    half.n = N;
    for (int r = 0; r < 4; r++) {
        huddle_weight_options options = huddle_weight_defaults();
        huddle_scale own = {0}, all = {0};
        options.scale = rules[r];
        assert_ok(hd_graph_measure_scale(mirror, &half, &options, &own));
        assert_ok(hd_graph_measure_scale(NULL, &lists, &options, &all));
        assert_string_equal(own.rule, rules[r]);
        assert_close(own.delta2, all.delta2, 1e-13);
        assert_true(own.smallest == all.smallest);
        for (int64_t i = 0; i < N && own.local != NULL; i++)
            assert_true(own.local[i] == all.local[i]);
        huddle_scale_free(&own);
        huddle_scale_free(&all);
    }
    huddle_neighbors_free(&lists);
    huddle_context_free(mirror);
}

/* Distances [A B; B A] between 2 N rows: both halves have the same sums. */
static huddle_dense distances_of_copies(void) {
    huddle_dense all;
    hd_rng rng = hd_rng_stream(12, 0);
    assert_ok(huddle_dense_new(2 * N, 2 * N, &all));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) {
            double a = i == j ? 0 : 1 + hd_rng_uniform(&rng), b = 1 + hd_rng_uniform(&rng);
            int64_t pairs[4][2] = {{i, j}, {j, i}, {i + N, j + N}, {j + N, i + N}};
            for (int p = 0; p < 4; p++) {
                all.values[pairs[p][0] * 2 * N + pairs[p][1]] = a;
                all.values[pairs[p][0] * 2 * N + (pairs[p][1] + N) % (2 * N)] = b;
            }
        }
    return all;
}

static void distances_of_some_rows(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    huddle_dense all = distances_of_copies(), half = all;
    double mean, expected;
    half.rows = N;
    assert_ok(huddle_graph_mean_of_distances(mirror, &half, &mean));
    assert_ok(huddle_graph_mean_of_distances(NULL, &all, &expected));
    assert_close(mean, expected, 1e-13);
    for (int ties = 0; ties < 2; ties++) {
        huddle_neighbors own, whole;
        huddle_status (*from)(huddle_context *, const huddle_dense *, int32_t, huddle_neighbors *) =
            ties ? huddle_graph_from_distances_ties : huddle_graph_from_distances_dense;
        assert_ok(from(mirror, &half, K, &own));
        assert_ok(from(NULL, &all, K, &whole));
        assert_true(own.n == N && own.k == whole.k);
        for (int64_t e = 0; e < own.n * own.k; e++)
            assert_true(own.index[e] == whole.index[e] && own.distance[e] == whole.distance[e]);
        huddle_neighbors_free(&own);
        huddle_neighbors_free(&whole);
    }
    assert_refused(huddle_graph_mean_of_distances(NULL, &half, &mean), HUDDLE_INVALID, "60 x 120");
    huddle_dense_free(&all);
    huddle_context_free(mirror);
}

static void what_needs_all_rows_is_refused(void **state) {
    (void)state;
    static const char text[] = "needs all rows on one process; the engine mirror";
    huddle_context *c = mirror_context();
    huddle_neighbors lists = lists_of_copies(), out;
    huddle_dense f = distances_of_copies();
    huddle_points x;
    huddle_csr graph, other;
    huddle_scale scale;
    double mean;
    int32_t component[2 * N], count;
    assert_ok(huddle_points_new(N, D, &x));
    assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &graph, &scale));
    assert_refused(huddle_graph_knn(c, &x, NULL, &out, NULL), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_knn_ties(c, &x, NULL, &out, NULL), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_knn_dense(c, &f, NULL, &out, NULL), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_query(c, &x, &x, NULL, &out, NULL), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_mean_distance(c, &x, NULL, 0, &mean), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_mean_distance_dense(c, &f, 0, &mean), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_weigh(c, &lists, NULL, &other, NULL), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_components(c, &graph, component, &count), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_connect(c, &x, NULL, &scale, &graph, NULL), HUDDLE_UNSUPPORTED,
                   text);
    assert_refused(huddle_graph_connect_distances(c, &f, NULL, &scale, &graph, NULL),
                   HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_from_affinity(c, &graph, &other), HUDDLE_UNSUPPORTED, text);
    assert_refused(huddle_graph_from_affinity_dense(c, &f, &other), HUDDLE_UNSUPPORTED, text);
    assert_true(mirror_counts_of(c)->agreements >= 12);
    huddle_neighbors_free(&lists);
    huddle_dense_free(&f);
    huddle_points_free(&x);
    huddle_csr_free(&graph);
    huddle_scale_free(&scale);
    huddle_context_free(c);
}

/* ---- members with different rows ------------------------------------------------------------ */

typedef struct division {
    huddle_points x; /* of all: a grid, so that there are ties */
    huddle_csr graph;
    int64_t copies[N];
    int64_t begins[4];
    huddle_neighbors lists[3];
    huddle_scale scales[3];
    huddle_csr weighed[3];
} division;

/* What the engine's neighbour search sees: its members know the rows of all. */
static division *shared;

static huddle_status find_for_member(huddle_context *context, const hd_neighbor_request *request,
                                     huddle_neighbors *out, huddle_knn_info *info) {
    const team_member *m = hd_context_engine_state(context);
    huddle_status status = HUDDLE_OK;
    huddle_neighbors all = {0};
    hd_neighbor_request whole = *request;
    int64_t begin = request->query == NULL ? shared->begins[m->rank] : 0;
    (void)info;
    whole.train = &shared->x;
    TRY(plain_neighbors(&whole, &all));
    out->n = request->query == NULL ? request->train->n : request->query->n;
    out->k = all.k;
    ALLOC(out->index, out->n * out->k);
    ALLOC(out->distance, out->n * out->k);
    memcpy(out->index, all.index + begin * all.k, (size_t)(out->n * out->k) * sizeof *out->index);
    memcpy(out->distance, all.distance + begin * all.k,
           (size_t)(out->n * out->k) * sizeof *out->distance);
done:
    huddle_neighbors_free(&all);
    return status;
}

static const hd_engine searching_team = {.text = {"searching team", "threads that search"},
                                         .slabs = &team_slabs,
                                         .find_neighbors = find_for_member};

static huddle_status search_part(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    huddle_status status = HUDDLE_OK;
    huddle_points own = team_points(&all->x, all->begins, rank);
    huddle_knn_options options = huddle_knn_defaults();
    huddle_weight_options weight = huddle_weight_defaults();
    options.n_neighbors = K;
    TRY(huddle_graph_knn_ties(context, &own, &options, &all->lists[rank], NULL));
    TRY(hd_graph_measure_scale(context, &all->lists[rank], &weight, &all->scales[rank]));
done:
    return status;
}

static void fill(division *all) {
    hd_rng rng = hd_rng_stream(13, 0);
    *all = (division){.begins = {0, 25, 26, N}};
    assert_ok(huddle_points_new(N, D, &all->x));
    for (int64_t e = 0; e < N * D; e++) /* the single row of the second member is far away */
        all->x.values[e] = e / D == 25 ? 1000.5f * (float)(e % D) : (float)hd_rng_below(&rng, 4);
    for (int64_t i = 0; i < N; i++)
        all->copies[i] = 1 + hd_rng_below(&rng, 3);
}

static void ties_across_members(void **state) {
    (void)state;
    division all;
    huddle_neighbors one;
    huddle_scale scale;
    huddle_knn_options options = huddle_knn_defaults();
    huddle_weight_options weight = huddle_weight_defaults();
    fill(&all);
    shared = &all;
    options.n_neighbors = K;
    assert_ok(huddle_graph_knn_ties(NULL, &all.x, &options, &one, NULL));
    assert_true(one.k > K);
    assert_ok(hd_graph_measure_scale(NULL, &one, &weight, &scale));
    assert_ok(team_run(3, &searching_team, search_part, &all));
    for (int m = 0; m < 3; m++) {
        assert_int_equal(all.lists[m].k, one.k);
        for (int64_t e = 0; e < all.lists[m].n * one.k; e++)
            assert_int_equal(all.lists[m].index[e], one.index[all.begins[m] * one.k + e]);
        assert_close(all.scales[m].smallest, scale.smallest, 1e-12);
        huddle_neighbors_free(&all.lists[m]);
        huddle_scale_free(&all.scales[m]);
    }
    huddle_neighbors_free(&one);
    huddle_scale_free(&scale);
    huddle_points_free(&all.x);
}

static huddle_status weigh_part(huddle_context *context, int rank, void *argument) {
    division *all = argument;
    huddle_status status = HUDDLE_OK;
    huddle_csr *own = &all->weighed[rank];
    int64_t begin = all->begins[rank], rows = all->begins[rank + 1] - begin;
    const int64_t *offsets = all->graph.offsets + begin;
    int64_t entries = offsets[rows] - offsets[0];
    TRY(huddle_csr_new(rows, N, entries, own));
    for (int64_t i = 0; i <= rows; i++)
        own->offsets[i] = offsets[i] - offsets[0];
    memcpy(own->columns, all->graph.columns + offsets[0], (size_t)entries * sizeof *own->columns);
    memcpy(own->values, all->graph.values + offsets[0], (size_t)entries * sizeof *own->values);
    TRY(huddle_graph_weigh_copies(context, all->copies + begin, 1, own));
done:
    return status;
}

static void copies_of_other_members_count(void **state) {
    (void)state;
    division all;
    huddle_neighbors lists;
    fill(&all);
    assert_ok(huddle_graph_knn(NULL, &all.x, NULL, &lists, NULL));
    assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &all.graph, NULL));
    assert_ok(team_run(3, &team_engine, weigh_part, &all));
    assert_ok(huddle_graph_weigh_copies(NULL, all.copies, 1, &all.graph));
    for (int m = 0; m < 3; m++) {
        int64_t first = all.graph.offsets[all.begins[m]];
        const huddle_csr *own = &all.weighed[m];
        assert_int_equal(own->offsets[own->rows], all.graph.offsets[all.begins[m + 1]] - first);
        for (int64_t e = 0; e < own->offsets[own->rows]; e++)
            assert_true(own->columns[e] == all.graph.columns[first + e] &&
                        own->values[e] == all.graph.values[first + e]);
        huddle_csr_free(&all.weighed[m]);
    }
    huddle_neighbors_free(&lists);
    huddle_csr_free(&all.graph);
    huddle_points_free(&all.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_those_of_all_lists),  cmocka_unit_test(distances_of_some_rows),
        cmocka_unit_test(what_needs_all_rows_is_refused), cmocka_unit_test(ties_across_members),
        cmocka_unit_test(copies_of_other_members_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
