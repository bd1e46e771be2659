/* graph with an engine that has a neighbour search and weights of its own: every entry point asks
 * it, takes its answer, and computes on the CPU what it declines. */
#include "base/context.h"
#include "base/rng.h"
#include "engines/plain_neighbors.h"
#include "matrix/resident.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 150, M = 40, D = 4, K = 3 };

/* What the engine does with the next request, and what it has done. */
typedef struct plain {
    enum { ANSWER, ANSWER_RESIDENT, DECLINE, FAIL_LOUDLY, WRONG_SIZE } mood;
    int searches, with_part, weighings, fetches;
    int32_t last_k;
    char log[256];
} plain;

/* Lists that stay with the engine until they are fetched. */
typedef struct resident_lists {
    hd_engine_copy copy;
    huddle_neighbors lists;
    plain *state;
} resident_lists;

static huddle_status fetch_lists(hd_engine_copy *copy, void *container) {
    resident_lists *r = (resident_lists *)copy;
    huddle_neighbors *out = container;
    r->state->fetches++;
    out->index = r->lists.index;
    out->distance = r->lists.distance;
    r->lists.index = NULL;
    r->lists.distance = NULL;
    return HUDDLE_OK;
}

static void free_lists(hd_engine_copy *copy) {
    resident_lists *r = (resident_lists *)copy;
    huddle_neighbors_free(&r->lists);
    free(r);
}

static huddle_status find_plain(huddle_context *context, const hd_neighbor_request *request,
                                huddle_neighbors *out, huddle_knn_info *info) {
    plain *p = hd_context_engine_state(context);
    huddle_status status = HUDDLE_OK;
    p->searches++;
    p->with_part += request->part != NULL;
    p->last_k = request->options->n_neighbors;
    if (p->mood == DECLINE)
        return hd_fail(HUDDLE_UNSUPPORTED, "not today");
    if (p->mood == FAIL_LOUDLY)
        return hd_fail(HUDDLE_NO_MEMORY, "the device is full");
    TRY(plain_neighbors(request, out));
    info->n_distances = 42;
    if (p->mood == WRONG_SIZE)
        out->n--;
    if (p->mood == ANSWER_RESIDENT) {
        resident_lists *r = calloc(1, sizeof *r);
        *r = (resident_lists){{.fetch = fetch_lists, .free = free_lists}, *out, p};
        out->index = NULL;
        out->distance = NULL;
        TRY(hd_resident_new(context, &r->copy, &out->resident));
    }
done:
    return status;
}

/* Binary weights, whatever the rule: recognisable. */
static huddle_status weigh_plain(huddle_context *context, const huddle_neighbors *neighbors,
                                 const huddle_weight_options *options, huddle_csr *graph,
                                 huddle_scale *scale) {
    plain *p = hd_context_engine_state(context);
    huddle_weight_options binary = *options;
    p->weighings++;
    if (p->mood == DECLINE)
        return hd_fail(HUDDLE_UNSUPPORTED, "not today");
    if (p->mood == FAIL_LOUDLY)
        return hd_fail(HUDDLE_NO_MEMORY, "the device is full");
    binary.scale = "binary";
    return huddle_graph_weigh(NULL, neighbors, &binary, graph, scale);
}

static const hd_engine plain_engine = {
    .text = {"plain", "loops"}, .find_neighbors = find_plain, .weigh = weigh_plain};

static void keep_line(void *user, huddle_log_level level, huddle_warning_code code,
                      const char *line) {
    plain *p = user;
    (void)level, (void)code;
    snprintf(p->log, sizeof p->log, "%s", line);
}

static huddle_context *context_of(plain *p) {
    huddle_context *context = NULL;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &plain_engine, ""));
    context->engine_state = p;
    return context;
}

/* Points in three groups far apart; row 1 is 0. */
static huddle_points points_of(int64_t n, uint64_t seed) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(seed, 0);
    assert_ok(huddle_points_new(n, D, &x));
    for (int64_t e = 0; e < n * D; e++)
        x.values[e] = e / D == 1 ? 0 : (float)(hd_rng_normal(&rng) + 20 * (double)(e / D % 3));
    return x;
}

static huddle_dense doubles_of(const huddle_points *x) {
    huddle_dense f;
    assert_ok(huddle_dense_new(x->n, x->d, &f));
    for (int64_t e = 0; e < x->n * x->d; e++)
        f.values[e] = (double)x->values[e];
    return f;
}

static void assert_same_lists(huddle_neighbors *a, huddle_neighbors *b) {
    assert_ok(huddle_neighbors_fetch(a));
    assert_true(a->n == b->n && a->k == b->k);
    for (int64_t e = 0; e < a->n * a->k; e++) {
        assert_int_equal(a->index[e], b->index[e]);
        assert_true((a->distance[e] == INFINITY && b->distance[e] == INFINITY) ||
                    fabs(a->distance[e] - b->distance[e]) < 1e-9);
    }
    huddle_neighbors_free(a);
    huddle_neighbors_free(b);
}

/* Runs all six searches on a context. */
static void search_all(huddle_context *context, const char *metric, huddle_neighbors lists[6],
                       huddle_knn_info infos[6]) {
    huddle_points x = points_of(N, 1), q = points_of(M, 2);
    huddle_dense f = doubles_of(&x), g = doubles_of(&q);
    huddle_knn_options options = huddle_knn_defaults();
    options.n_neighbors = K;
    options.metric = metric;
    assert_ok(huddle_graph_knn(context, &x, &options, &lists[0], &infos[0]));
    assert_ok(huddle_graph_knn_dense(context, &f, &options, &lists[1], &infos[1]));
    assert_ok(huddle_graph_query(context, &x, &q, &options, &lists[2], &infos[2]));
    assert_ok(huddle_graph_query_dense(context, &f, &g, &options, &lists[3], &infos[3]));
    for (int64_t e = 0; e < N * D; e++) /* a grid: many ties */
        x.values[e] = rintf(x.values[e] / 2);
    assert_ok(huddle_graph_knn_ties(context, &x, &options, &lists[4], &infos[4]));
    assert_ok(huddle_graph_query_ties(context, &x, &q, &options, &lists[5], &infos[5]));
    huddle_points_free(&x);
    huddle_points_free(&q);
    huddle_dense_free(&f);
    huddle_dense_free(&g);
}

static void every_search_asks_the_engine(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int mode = 0; mode < 4; mode++) {
        plain p = {.mood = mode % 2 == 0 ? ANSWER : ANSWER_RESIDENT};
        huddle_context *context = context_of(&p);
        huddle_neighbors ours[6], cpu[6];
        huddle_knn_info info[6], cpu_info[6];
        search_all(context, metrics[mode / 2], ours, info);
        search_all(NULL, metrics[mode / 2], cpu, cpu_info);
        /* Ties take a second search. Those of rounded cosines differ by the last bits. */
        assert_true(mode / 2 == 0 ? p.searches == 8 : p.searches >= 6);
        assert_int_equal(p.with_part, 0);
        for (int s = 0; s < 6; s++) {
            assert_string_equal(info[s].solver, "plain");
            assert_true(info[s].n_distances == 42 && info[s].recall == 1 && info[s].seconds > 0);
            if (mode / 2 == 0 || s < 4)
                assert_same_lists(&ours[s], &cpu[s]);
            huddle_neighbors_free(&ours[s]);
            huddle_neighbors_free(&cpu[s]);
        }
        assert_true((p.fetches > 0) == (p.mood == ANSWER_RESIDENT));
        huddle_context_free(context);
    }
}

static void what_it_declines_the_cpu_does(void **state) {
    (void)state;
    plain p = {.mood = DECLINE};
    huddle_context *context = context_of(&p);
    huddle_neighbors ours[6], cpu[6];
    huddle_knn_info info[6], cpu_info[6];
    huddle_context_set_log(context, keep_line, &p);
    search_all(context, "euclidean", ours, info);
    search_all(NULL, "euclidean", cpu, cpu_info);
    for (int s = 0; s < 6; s++) {
        assert_string_equal(info[s].solver, cpu_info[s].solver);
        assert_same_lists(&ours[s], &cpu[s]);
    }
    assert_true(p.searches == 8);
    assert_non_null(strstr(p.log, "plain declines find_neighbors (not today)"));
    huddle_context_free(context);
}

static void its_failures_are_the_callers(void **state) {
    (void)state;
    plain p = {.mood = FAIL_LOUDLY};
    huddle_context *context = context_of(&p);
    huddle_points x = points_of(N, 1), bad = x;
    huddle_neighbors out;
    assert_refused(huddle_graph_knn(context, &x, NULL, &out, NULL), HUDDLE_NO_MEMORY, "full");
    p.mood = WRONG_SIZE;
    assert_refused(huddle_graph_knn(context, &x, NULL, &out, NULL), HUDDLE_INTERNAL,
                   "returned 149 lists of 5 neighbours instead of 150 of 5");
    assert_true(out.index == NULL && out.n == 0);
    p.searches = 0;
    bad.stride = 1;
    assert_refused(huddle_graph_knn(context, &bad, NULL, &out, NULL), HUDDLE_INVALID, "stride");
    assert_int_equal(p.searches, 0); /* arguments are checked first */
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* The engine gets the number of neighbours that there are, and is not asked for none. */
static void it_gets_settled_options(void **state) {
    (void)state;
    plain p = {.mood = ANSWER};
    huddle_context *context = context_of(&p);
    huddle_points x = points_of(3, 1);
    huddle_neighbors out;
    assert_ok(huddle_graph_knn(context, &x, NULL, &out, NULL));
    assert_true(p.last_k == 2 && out.k == 2);
    huddle_neighbors_free(&out);
    assert_ok(huddle_graph_query(context, &x, &x, NULL, &out, NULL));
    assert_true(p.last_k == 3 && out.k == 3 && out.index[0] == 0);
    huddle_neighbors_free(&out);
    x.n = 1;
    p.searches = 0;
    assert_ok(huddle_graph_knn(context, &x, NULL, &out, NULL));
    assert_true(p.searches == 0 && out.n == 1 && out.k == 0);
    huddle_neighbors_free(&out);
    huddle_points_free(&x);
    huddle_context_free(context);
}

static void weights_are_the_engines(void **state) {
    (void)state;
    plain p = {.mood = ANSWER_RESIDENT};
    huddle_context *context = context_of(&p);
    huddle_points x = points_of(N, 1);
    huddle_neighbors lists;
    huddle_csr graph, expected;
    huddle_scale scale;
    assert_ok(huddle_graph_knn(context, &x, NULL, &lists, NULL));
    p.mood = DECLINE; /* the CPU fetches the lists */
    assert_ok(huddle_graph_weigh(context, &lists, NULL, &graph, &scale));
    assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &expected, NULL));
    assert_true(p.fetches == 1 && p.weighings == 1);
    assert_string_equal(scale.rule, "selftune");
    for (int64_t e = 0; e < expected.offsets[N]; e++)
        assert_true(graph.values[e] == expected.values[e]);
    huddle_csr_free(&graph);
    huddle_csr_free(&expected);
    huddle_scale_free(&scale);
    p.mood = ANSWER;
    assert_ok(huddle_graph_weigh(context, &lists, NULL, &graph, &scale));
    assert_true(graph.values[0] == 1 && scale.local == NULL);
    assert_string_equal(scale.rule, "binary");
    huddle_csr_free(&graph);
    huddle_scale_free(&scale);
    p.mood = FAIL_LOUDLY;
    assert_refused(huddle_graph_weigh(context, &lists, NULL, &graph, NULL), HUDDLE_NO_MEMORY,
                   "full");
    huddle_neighbors_free(&lists);
    huddle_points_free(&x);
    huddle_context_free(context);
}

/* Bridges by the engine, by the CPU after it declined, and by the CPU alone. */
static void bridges_are_the_same(void **state) {
    (void)state;
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int m = 0; m < 2; m++) {
        plain p = {.mood = ANSWER};
        huddle_context *context = context_of(&p);
        huddle_points x = points_of(N, 1);
        huddle_connect_options options = huddle_connect_defaults();
        huddle_knn_options knn = huddle_knn_defaults();
        huddle_neighbors lists;
        huddle_csr graphs[3];
        huddle_scale scale;
        huddle_connect_info infos[3];
        options.connect = "true";
        options.metric = knn.metric = metrics[m];
        knn.n_neighbors = 1;
        assert_ok(huddle_graph_knn(NULL, &x, &knn, &lists, NULL));
        for (int g = 0; g < 3; g++) {
            assert_ok(huddle_graph_weigh(NULL, &lists, NULL, &graphs[g], &scale));
            p.mood = g == 0 ? ANSWER : DECLINE;
            assert_ok(huddle_graph_connect(g < 2 ? context : NULL, &x, &options, &scale, &graphs[g],
                                           &infos[g]));
            assert_true(infos[g].bridges == infos[2].bridges || g < 2);
            if (g < 2)
                huddle_scale_free(&scale);
        }
        assert_true(infos[0].before > 10 && infos[0].after == 1);
        assert_true(p.with_part > 0 && p.with_part == p.searches && p.last_k == 1);
        for (int g = 0; g < 2; g++) {
            assert_int_equal(graphs[g].offsets[N], graphs[2].offsets[N]);
            for (int64_t e = 0; e < graphs[2].offsets[N]; e++) {
                assert_int_equal(graphs[g].columns[e], graphs[2].columns[e]);
                assert_close(graphs[g].values[e], graphs[2].values[e], 1e-6);
            }
        }
        for (int g = 0; g < 3; g++)
            huddle_csr_free(&graphs[g]);
        huddle_scale_free(&scale);
        huddle_neighbors_free(&lists);
        huddle_points_free(&x);
        huddle_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_search_asks_the_engine),
        cmocka_unit_test(what_it_declines_the_cpu_does),
        cmocka_unit_test(its_failures_are_the_callers),
        cmocka_unit_test(it_gets_settled_options),
        cmocka_unit_test(weights_are_the_engines),
        cmocka_unit_test(bridges_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
