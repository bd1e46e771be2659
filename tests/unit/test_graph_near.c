/* The approximate neighbour search on several processes: its recall against the truth, the estimate
 * of it, and the choice between exact and approximate, which all processes make alike. */
#include "base/rng.h"
#include "base/slabs.h"
#include "engines/team.h"
#include "graph/search.h"
#include "graph_divisions.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>

/* ---- searches ------------------------------------------------------------------------------- */

/* A search of all rows, and what the members find. */
typedef struct search {
    huddle_points x;
    huddle_knn_options options;
    double cost_limit; /* not 0: of hd_graph_search_distributed(), which is called alone */
    int64_t begins[TEAM_MAX + 1];
    huddle_neighbors found[TEAM_MAX];
    huddle_knn_info infos[TEAM_MAX];
    int warnings[TEAM_MAX];
} search;

static void count_warnings(void *user, huddle_log_level level, huddle_warning_code code,
                           const char *text) {
    (void)text;
    if (level == HUDDLE_LOG_WARNING && code == HUDDLE_WARNING_LOW_RECALL)
        ++*(int *)user;
}

/* With a limit of its own, which the public function does not have. */
static huddle_status search_limited(huddle_context *context, const search *s, huddle_points *own,
                                    huddle_neighbors *out, huddle_knn_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_graph_rows rows = hd_graph_rows_of_points(own);
    hd_graph_search q = {.train = &rows,
                         .query = &rows,
                         .self = true,
                         .k = s->options.n_neighbors,
                         .cost_limit = s->cost_limit,
                         .recall_target = s->options.recall};
    out->n = own->n;
    out->k = q.k;
    rows.d = s->x.d;
    ALLOC(out->index, own->n * q.k);
    ALLOC(out->distance, own->n * q.k);
    q.index = out->index;
    q.distance2 = out->distance;
    TRY(hd_graph_search_distributed(context, s->options.knn_solver, &q, &info->solver));
    info->recall = q.recall.share;
    info->n_rounds = q.n_rounds;
    for (int64_t e = 0; e < own->n * q.k; e++)
        out->distance[e] = sqrt(out->distance[e]);
done:
    hd_graph_rows_free(&rows);
    return hd_agree(context, status);
}

static huddle_status search_part(huddle_context *context, int rank, void *argument) {
    search *s = argument;
    huddle_points own = team_points(&s->x, s->begins, rank);
    if (own.n == 0)
        own = (huddle_points){0};
    s->warnings[rank] = 0;
    huddle_context_set_log(context, count_warnings, &s->warnings[rank]);
    if (s->cost_limit > 0)
        return search_limited(context, s, &own, &s->found[rank], &s->infos[rank]);
    return huddle_graph_knn(context, &own, &s->options, &s->found[rank], &s->infos[rank]);
}

static void run_division(search *s, const division *by) {
    divide(by, s->x.n, s->begins);
    assert_ok(team_run(by->members, &team_engine, search_part, s));
}

static void free_found(search *s) {
    for (int m = 0; m < TEAM_MAX; m++)
        huddle_neighbors_free(&s->found[m]);
}

/* The share of returned neighbours that are as near as the true k-th. Lists must be well formed,
 * and contain the bits of the exact search for whatever is in both. */
static double true_recall(const search *s, const division *by, const huddle_neighbors *truth) {
    int64_t found = 0, k = truth->k;
    for (int m = 0; m < by->members; m++) {
        const huddle_neighbors *own = &s->found[m];
        assert_int_equal(own->n, s->begins[m + 1] - s->begins[m]);
        assert_int_equal(own->k, k);
        for (int64_t e = 0; e < own->n * k; e++) {
            int64_t i = s->begins[m] + e / k, c = e % k;
            const double *exact = truth->distance + i * k;
            assert_true(own->index[e] >= 0 && own->index[e] < s->x.n && own->index[e] != i);
            if (c > 0)
                assert_true(own->distance[e - 1] < own->distance[e] ||
                            (own->distance[e - 1] == own->distance[e] &&
                             own->index[e - 1] < own->index[e]));
            assert_true(own->distance[e] >= exact[c]);
            for (int64_t t = 0; t < k; t++)
                assert_true(truth->index[i * k + t] != own->index[e] ||
                            exact[t] == own->distance[e]);
            found += own->distance[e] <= exact[k - 1];
        }
    }
    return (double)found / (double)(s->x.n * k);
}

static void find_truth(search *s, huddle_neighbors *truth) {
    huddle_knn_options exact = s->options;
    exact.knn_solver = "auto";
    exact.recall = 1;
    assert_ok(huddle_graph_knn(NULL, &s->x, &exact, truth, NULL));
}

/* All members report the same numbers, and these are true. */
static void check_recall(search *s, int first, int count) {
    huddle_neighbors truth;
    find_truth(s, &truth);
    for (int v = first; v < first + count; v++) {
        const huddle_knn_info *info = &s->infos[0];
        run_division(s, &divisions[v]);
        double recall = true_recall(s, &divisions[v], &truth);
        if (!(recall >= s->options.recall - .005) || !(info->recall >= s->options.recall) ||
            !(info->recall_low - .002 <= recall && recall <= info->recall_high + .002))
            fail_msg("division %d: recall %.4f, estimate %.4f in %.4f .. %.4f", v, recall,
                     info->recall, info->recall_low, info->recall_high);
        for (int m = 0; m < divisions[v].members; m++) {
            assert_string_equal(s->infos[m].solver, "approximate");
            assert_true(s->infos[m].recall == info->recall);
            assert_true(s->infos[m].recall_low == info->recall_low);
            assert_true(s->infos[m].recall_high == info->recall_high);
            assert_int_equal(s->infos[m].n_rounds, info->n_rounds);
            assert_int_equal(s->warnings[m], 0);
        }
        assert_true(info->n_rounds >= 1);
        free_found(s);
    }
    huddle_neighbors_free(&truth);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Points near curved surfaces of two dimensions, in random order; `parts` of them, far apart. */
static huddle_points curved_points(int64_t n, int64_t d, int parts) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(31, (uint64_t)i);
        double s = hd_rng_uniform(&rng), t = hd_rng_uniform(&rng);
        double basis[8] = {s, t, s * s, t * t, s * t, sin(6 * s), sin(6 * t), 1};
        double part = 9 * (double)hd_rng_below(&rng, parts);
        for (int64_t j = 0; j < d; j++) {
            double sum = part + .01 * hd_rng_normal(&rng);
            for (int64_t b = 0; b < 8; b++)
                sum += basis[b] * (double)((b * 7 + j * 5 + b * j * 3) % 11 - 5);
            x.values[i * x.stride + j] = (float)sum;
        }
    }
    return x;
}

/* Without any structure: neighbours are in all directions, across the borders of regions too. */
static huddle_points normal_points(int64_t n, int64_t d) {
    huddle_points x;
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(32, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x.values[i * x.stride + j] = (float)hd_rng_normal(&rng);
    }
    return x;
}

static search near_search(huddle_points x, int32_t k, const char *metric) {
    search s = {.x = x, .options = huddle_knn_defaults()};
    s.options.knn_solver = "approximate";
    s.options.recall = .99;
    s.options.n_neighbors = k;
    s.options.metric = metric;
    return s;
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Rows stay where they are, so that most neighbours are on other members; some members have few
 * rows or none. */
static void rows_of_every_division(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int m = 0; m < 2; m++) {
        search s =
            near_search(m ? curved_points(6000, 12, 3) : normal_points(6000, 8), 7, metrics[m]);
        check_recall(&s, 0, N_DIVISIONS);
        huddle_points_free(&s.x);
    }
}

/* Enough rows to be moved to regions, of few and of many columns. */
static void rows_that_are_moved(void **state) {
    (void)state;
    search s = near_search(normal_points(24000, 6), 5, "euclidean");
    check_recall(&s, 1, 1);
    check_recall(&s, 4, 1);
    check_recall(&s, 6, 1);
    huddle_points_free(&s.x);
    search wide = near_search(curved_points(21000, 80, 3), 5, "euclidean");
    check_recall(&wide, 5, 2);
    huddle_points_free(&wide.x);
}

/* Coordinates of one member are far larger than those of the others. */
static void rows_of_very_different_size(void **state) {
    (void)state;
    search s = near_search(curved_points(5000, 8, 1), 5, "euclidean");
    for (int64_t e = 0; e < 5000 * s.x.stride; e++)
        s.x.values[e] *= e < 1500 * s.x.stride ? 1e-3f : 1e15f;
    check_recall(&s, 1, 1);
    check_recall(&s, 6, 1);
    huddle_points_free(&s.x);
}

/* Whichever member is first. */
static void results_are_repeated(void **state) {
    (void)state;
    search s = near_search(curved_points(21000, 5, 2), 5, "euclidean"), again = s;
    run_division(&s, &divisions[6]);
    run_division(&again, &divisions[6]);
    for (int m = 0; m < 4; m++) {
        size_t size = (size_t)(s.found[m].n * s.found[m].k);
        assert_memory_equal(s.found[m].index, again.found[m].index, size * sizeof(int32_t));
        assert_memory_equal(s.found[m].distance, again.found[m].distance, size * sizeof(double));
    }
    free_found(&s);
    free_found(&again);
    huddle_points_free(&s.x);
}

/* The corners of a simplex, whose distances differ in the last digits of a double only. */
static void a_target_that_is_missed_is_reported(void **state) {
    (void)state;
    enum { N = 1300 };
    huddle_points x;
    assert_ok(huddle_points_new(N, N + 1, &x));
    memset(x.values, 0, (size_t)(N * x.stride) * sizeof *x.values);
    for (int64_t i = 0; i < N; i++) {
        x.values[i * x.stride + i] = 1;
        x.values[i * x.stride + N] = 0x1p-22f * (float)i;
    }
    search s = near_search(x, 5, "euclidean");
    huddle_neighbors truth;
    find_truth(&s, &truth);
    run_division(&s, &divisions[3]);
    double recall = true_recall(&s, &divisions[3], &truth);
    for (int m = 0; m < 2; m++) {
        assert_int_equal(s.warnings[m], 1);
        assert_true(s.infos[m].recall < .9 && s.infos[m].recall_low - .01 <= recall &&
                    recall <= s.infos[m].recall_high + .01);
    }
    free_found(&s);
    huddle_neighbors_free(&truth);
    huddle_points_free(&s.x);
}

/* Who searches how: exact lists are those of one process. */
static void check_choice(search *s, const char *solver, double limit, double recall,
                         const char *expected) {
    static const division halves[] = {{2, {.5, .5}}, {3, {.45, .1, .45}}};
    huddle_neighbors truth;
    find_truth(s, &truth);
    s->options.knn_solver = solver;
    s->options.recall = recall;
    s->cost_limit = limit;
    for (int v = 0; v < 2; v++) {
        run_division(s, &halves[v]);
        bool near = strcmp(expected, "approximate") == 0;
        double found = true_recall(s, &halves[v], &truth);
        assert_true(near ? found > .98 : found == 1);
        for (int m = 0; m < halves[v].members; m++) {
            if (near || v == 0)
                assert_string_equal(s->infos[m].solver, expected);
            assert_true((s->infos[m].n_rounds > 0) == near);
        }
        free_found(s);
    }
    huddle_neighbors_free(&truth);
}

static void automatic_choice(void **state) {
    (void)state;
    search s = near_search(curved_points(41000, 8, 1), 4, "euclidean");
    check_choice(&s, "auto", 1e15, .99, "cells");
    check_choice(&s, "auto", 1e7, .99, "approximate");
    check_choice(&s, "approximate", 1e7, 1, "cells");
    s.x.n = 30000; /* too few for an approximate search to be faster */
    check_choice(&s, "auto", 1e7, .99, "cells");
    s.x.n = 41000;
    huddle_points_free(&s.x);
}

/* Bounds of projections are tried on the own rows. */
static void automatic_choice_of_wide_points(void **state) {
    (void)state;
    search s = near_search(curved_points(41000, 70, 1), 4, "euclidean");
    check_choice(&s, "auto", 5e10, .99, "pcabound");
    check_choice(&s, "auto", 1e9, .99, "approximate");
    huddle_points_free(&s.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_division),
        cmocka_unit_test(rows_that_are_moved),
        cmocka_unit_test(rows_of_very_different_size),
        cmocka_unit_test(results_are_repeated),
        cmocka_unit_test(a_target_that_is_missed_is_reported),
        cmocka_unit_test(automatic_choice),
        cmocka_unit_test(automatic_choice_of_wide_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
