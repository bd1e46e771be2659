/* The graph of rows on several processes: weights, components and bridges must be those of one
 * process, bit by bit, however the rows are divided. */
#include "base/rng.h"
#include "engines/team.h"
#include "graph_divisions.h"
#include "huddle/graph.h"
#include "support/support.h"

#include <math.h>

enum { MAX_ROWS = 700 };

/* ---- one graph ------------------------------------------------------------------------------ */

/* What one process computes and what the members find. */
typedef struct setting {
    huddle_points x;
    huddle_neighbors lists;
    huddle_weight_options weight;
    huddle_connect_options connect;
    int64_t begins[TEAM_MAX + 1];
    int64_t copies[MAX_ROWS];
    huddle_csr found[TEAM_MAX];
    huddle_scale scales[TEAM_MAX];
    huddle_connect_info infos[TEAM_MAX];
    int32_t component[MAX_ROWS], count[TEAM_MAX];
    bool connects, has_copies;
    int fails; /* this member passes an invalid list; -1: none */
} setting;

static huddle_status make_part(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    setting *s = argument;
    int64_t begin = s->begins[rank], n = s->begins[rank + 1] - begin, k = s->lists.k;
    huddle_neighbors own = {.n = n,
                            .k = (int32_t)k,
                            .index = s->lists.index + begin * k,
                            .distance = s->lists.distance + begin * k};
    huddle_points x = s->x;
    huddle_connect_options connect = s->connect;
    int32_t bad[] = {-7};
    if (rank == s->fails)
        own = (huddle_neighbors){.n = 1, .k = 1, .index = bad, .distance = s->lists.distance};
    TRY(huddle_graph_weigh(context, &own, &s->weight, &s->found[rank], &s->scales[rank]));
    x.n = n;
    x.values += begin * x.stride;
    connect.copies = s->has_copies ? s->copies + begin : NULL;
    if (s->connects)
        TRY(huddle_graph_connect(context, &x, &connect, &s->scales[rank], &s->found[rank],
                                 &s->infos[rank]));
    TRY(huddle_graph_components(context, &s->found[rank], s->component + begin, &s->count[rank]));
done:
    return status;
}

static void free_found(setting *s) {
    for (int m = 0; m < TEAM_MAX; m++) {
        huddle_csr_free(&s->found[m]);
        huddle_scale_free(&s->scales[m]);
    }
}

static void check_part(const setting *s, int m, const huddle_csr *one, const huddle_scale *scale,
                       bool same_bits) {
    const huddle_csr *own = &s->found[m];
    int64_t begin = s->begins[m], first = one->offsets[begin];
    assert_int_equal(own->rows, s->begins[m + 1] - begin);
    assert_int_equal(own->cols, one->cols);
    assert_ok(huddle_csr_check(own));
    for (int64_t i = 0; i <= own->rows; i++)
        assert_int_equal(own->offsets[i], one->offsets[begin + i] - first);
    for (int64_t e = 0; e < own->offsets[own->rows]; e++) {
        assert_int_equal(own->columns[e], one->columns[first + e]);
        if (same_bits)
            assert_true(own->values[e] == one->values[first + e]);
        assert_close(own->values[e], one->values[first + e], 1e-12);
    }
    assert_string_equal(s->scales[m].rule, scale->rule);
    for (int64_t i = 0; i < own->rows && scale->local != NULL; i++)
        assert_true(s->scales[m].local[i] == scale->local[begin + i]);
}

/* Fails unless every division makes the graph of one process; returns the number of its bridges. */
static int32_t compare_divisions(setting *s, bool same_bits) {
    huddle_csr one;
    huddle_scale scale;
    huddle_connect_info info = {0};
    int32_t component[MAX_ROWS], count;
    s->fails = -1;
    s->connect.copies = s->has_copies ? s->copies : NULL;
    assert_ok(huddle_graph_weigh(NULL, &s->lists, &s->weight, &one, &scale));
    if (s->connects)
        assert_ok(huddle_graph_connect(NULL, &s->x, &s->connect, &scale, &one, &info));
    assert_ok(huddle_graph_components(NULL, &one, component, &count));
    for (int v = 0; v < N_DIVISIONS; v++) {
        divide(&divisions[v], s->x.n, s->begins);
        assert_ok(team_run(divisions[v].members, &team_engine, make_part, s));
        for (int m = 0; m < divisions[v].members; m++) {
            check_part(s, m, &one, &scale, same_bits);
            assert_int_equal(s->count[m], count);
            assert_int_equal(s->infos[m].before, info.before);
            assert_int_equal(s->infos[m].after, info.after);
            assert_int_equal(s->infos[m].bridges, info.bridges);
        }
        assert_memory_equal(s->component, component, (size_t)s->x.n * sizeof *component);
        free_found(s);
    }
    huddle_csr_free(&one);
    huddle_scale_free(&scale);
    return info.bridges;
}

/* ---- points --------------------------------------------------------------------------------- */

static void find_lists(setting *s, int32_t k) {
    huddle_knn_options knn = huddle_knn_defaults();
    knn.n_neighbors = k;
    knn.metric = s->connect.metric;
    assert_ok(huddle_graph_knn(NULL, &s->x, &knn, &s->lists, NULL));
}

/* Small clusters in random order, `apart` from each other; `levels`: on a grid, with bridges of
 * equal lengths. */
static setting make_clusters(int64_t n, int64_t d, int clusters, int levels, const char *metric,
                             double apart) {
    setting s = {.weight = huddle_weight_defaults(), .connect = huddle_connect_defaults()};
    hd_rng rng = hd_rng_stream(21, (uint64_t)d);
    s.connect.metric = metric;
    assert_ok(huddle_points_new(n, d, &s.x));
    for (int64_t i = 0; i < n; i++) {
        int64_t c = hd_rng_below(&rng, clusters);
        for (int64_t j = 0; j < d; j++) {
            double at = apart * (double)((c * (j + 3) * 7919) % 11);
            s.x.values[i * s.x.stride + j] =
                (float)(levels > 0 ? at + (double)hd_rng_below(&rng, levels)
                                   : at + hd_rng_normal(&rng));
        }
        s.copies[i] = 1 + hd_rng_below(&rng, 4);
    }
    find_lists(&s, 4);
    return s;
}

/* So far from each other that there are many components. */
static setting make_setting(int64_t n, int64_t d, int clusters, int levels, const char *metric) {
    return make_clusters(n, d, clusters, levels, metric, 20);
}

static void free_setting(setting *s) {
    huddle_points_free(&s->x);
    huddle_neighbors_free(&s->lists);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Sums over all lists are added in another order, which the last digit of common scales shows. */
static void weights_of_every_rule(void **state) {
    (void)state;
    static const char *const rules[] = {"selftune", "binary", "global", "mean", "knn"};
    setting s = make_setting(300, 3, 5, 0, "euclidean");
    s.weight.mean_distance = 2.5;
    for (int r = 0; r < 5; r++) {
        s.weight.scale = rules[r];
        compare_divisions(&s, r < 3);
    }
    free_setting(&s);
}

/* Lists with empty places and without symmetry, as from the caller. */
static void lists_with_empty_places(void **state) {
    (void)state;
    setting s = make_setting(120, 2, 3, 3, "euclidean");
    for (int64_t i = 0; i < s.lists.n; i += 3)
        for (int64_t e = i * s.lists.k + i % 4; e < (i + 1) * s.lists.k; e++) {
            s.lists.index[e] = -1;
            s.lists.distance[e] = INFINITY;
        }
    compare_divisions(&s, true);
    free_setting(&s);
}

/* A path whose vertices are in random order: labels have far to go. */
static void a_long_component(void **state) {
    (void)state;
    setting s = make_setting(MAX_ROWS, 1, 1, 0, "euclidean");
    hd_rng rng = hd_rng_stream(22, 0);
    int32_t place[MAX_ROWS];
    huddle_neighbors_free(&s.lists);
    for (int32_t i = 0; i < MAX_ROWS; i++) {
        int32_t other = (int32_t)hd_rng_below(&rng, i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    for (int32_t i = 0; i < MAX_ROWS; i++) /* two paths */
        s.x.values[place[i]] = (float)(i + (i > 450 ? 10 : 0));
    find_lists(&s, 2);
    compare_divisions(&s, true);
    free_setting(&s);
}

static void bridges(void **state) {
    (void)state;
    static const char *const choices[] = {"auto", "true", "small", "false"};
    static const char *const metrics[] = {"euclidean", "cosine"};
    for (int t = 0; t < 4; t++) {
        setting s =
            make_setting(t < 2 ? 300 : 200, t < 2 ? 3 : 40, 9, t % 2 ? 2 : 0, metrics[t == 2]);
        s.connects = true;
        for (int c = 0; c < 4; c++) {
            s.connect.connect = choices[c];
            s.connect.n_clusters = c % 2 ? 1 : 4;
            s.has_copies = c == 2;
            int32_t found = compare_divisions(&s, true);
            assert_true(c == 1 ? found > (t == 2 ? 0 : 3) : c < 3 || found == 0);
        }
        s.weight.scale = "binary";
        s.connect.connect = "true";
        compare_divisions(&s, true);
        free_setting(&s);
    }
}

/* Bridges so short that their weights depend on the scales of both ends, which are on different
 * processes. */
static void weights_of_bridges(void **state) {
    (void)state;
    setting s = make_clusters(200, 2, 40, 0, "euclidean", 5);
    huddle_csr before, after;
    huddle_scale scale;
    huddle_connect_info info;
    int64_t varied = 0;
    s.connects = true;
    s.connect.connect = "true";
    s.connect.n_clusters = 1;
    assert_ok(huddle_graph_weigh(NULL, &s.lists, &s.weight, &before, &scale));
    assert_ok(huddle_csr_copy(&before, &after));
    assert_ok(huddle_graph_connect(NULL, &s.x, &s.connect, &scale, &after, &info));
    /* Some of the weights that were added are not the smallest possible one. */
    for (int64_t e = 0; e < after.offsets[200]; e++)
        varied += after.values[e] > 1.01 * exp(-20);
    for (int64_t e = 0; e < before.offsets[200]; e++)
        varied -= before.values[e] > 1.01 * exp(-20);
    assert_true(varied > 0);
    huddle_csr_free(&before);
    huddle_csr_free(&after);
    huddle_scale_free(&scale);
    compare_divisions(&s, true);
    free_setting(&s);
}

static void failure_of_one_member(void **state) {
    (void)state;
    setting s = make_setting(100, 3, 5, 0, "euclidean");
    s.connects = true;
    for (int members = 1; members <= 4; members++)
        for (int m = 0; m < members; m++) {
            divide(&(division){members, {.25, .25, .25, .25}}, 100, s.begins);
            s.fails = m;
            assert_refused(team_run(members, &team_engine, make_part, &s), HUDDLE_INVALID,
                           "is not another point");
            free_found(&s);
        }
    free_setting(&s);
}

/* What is not needed by a fit with default options. */
static void short_bridges_are_refused(void **state) {
    (void)state;
    setting s = make_setting(100, 3, 5, 0, "euclidean");
    s.connects = true;
    s.fails = -1;
    s.connect.max_ratio = 4;
    divide(&divisions[1], 100, s.begins);
    assert_refused(team_run(2, &team_engine, make_part, &s), HUDDLE_UNSUPPORTED, "short bridges");
    free_found(&s);
    free_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_every_rule),     cmocka_unit_test(lists_with_empty_places),
        cmocka_unit_test(a_long_component),          cmocka_unit_test(bridges),
        cmocka_unit_test(weights_of_bridges),        cmocka_unit_test(failure_of_one_member),
        cmocka_unit_test(short_bridges_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
