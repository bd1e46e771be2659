/* refine: the choice among starts, starts made by merging, numbering, and what every stage
 * promises: bad input refused, cancelling, failing allocations, any number of threads. */
#include "engines/mirror.h"
#include "refine/refine.h"
#include "unit/refine_graphs.h"

#include <stdlib.h>

/* Starts are taken as they are: no moves, no further starts. */
static huddle_refine_options plain_options(int32_t n_clusters) {
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = n_clusters;
    options.merge = false;
    options.max_sweeps = 0;
    return options;
}

/* ---- acceptance ---------------------------------------------------------------------------- */

static double value_of(const huddle_graph_scores *scores, const char *objective) {
    return strcmp(objective, "map") == 0    ? scores->map
           : strcmp(objective, "ncut") == 0 ? scores->ncut
                                            : 1 - scores->modularity;
}

/* What a gain is a share of. */
static double scale_of(const huddle_graph_scores *scores, const char *objective, int32_t c) {
    return strcmp(objective, "map") == 0    ? scores->map + scores->entropy
           : strcmp(objective, "ncut") == 0 ? c
                                            : 1;
}

/* Groups of 8 vertices each, of which `wrong` per group have the label of the next. */
static void fill_starts(int64_t n, int32_t wrong, int32_t *labels) {
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t)(i % 8 < wrong ? (i / 8 + 1) % (n / 8) : i / 8);
}

/* The gain of the start made by merging just meets the bound, or just misses it. */
static void a_start_must_gain_enough(void **state) {
    (void)state;
    static const char *const objectives[] = {"map", "modularity", "ncut"};
    dense_graph g = ring_of_groups(5, 8, 1, .3);
    huddle_csr graph = sparse_graph(&g);
    int32_t worse[40], groups[40], labels[40];
    fill_starts(g.n, 2, worse);
    fill_starts(g.n, 0, groups);
    huddle_refine_start start = {"worse", worse};
    for (int o = 0; o < 3; o++) {
        huddle_refine_options options = plain_options(5);
        huddle_refine_info info;
        huddle_graph_scores before, after;
        assert_ok(huddle_metrics_graph_scores(NULL, &graph, worse, &before));
        assert_ok(huddle_metrics_graph_scores(NULL, &graph, groups, &after));
        double gain = (value_of(&before, objectives[o]) - value_of(&after, objectives[o])) /
                      scale_of(&before, objectives[o], 5);
        assert_true(gain > .01 && after.ncut < before.ncut);
        options.objective = objectives[o];
        options.merge = true;
        for (int enough = 0; enough < 2; enough++) {
            options.least_gain = gain + (enough ? -1e-9 : 1e-9);
            assert_ok(huddle_refine(NULL, &graph, 1, &start, &options, labels, &info));
            assert_true(info.n_trials > 1 && info.reference == 0);
            assert_int_equal(info.best, enough);
            assert_true(info.trials[0].allowed && info.trials[1].allowed == enough);
            assert_string_equal(info.trials[1].name, "sum");
            assert_memory_equal(labels, enough ? groups : worse, sizeof labels);
            assert_int_equal(info.n_changed, enough ? 10 : 0);
            assert_true(info.trials[0].scores.map == before.map);
        }
    }
    huddle_csr_free(&graph);
}

/* A long strip of 40 vertices, and a small group that is hardly joined to it. */
static dense_graph strip_with_group(void) {
    dense_graph g = {.n = 44};
    for (int64_t i = 0; i < 40; i++)
        for (int64_t j = i + 1; j < 40 && j <= i + 3; j++)
            g.w[i][j] = g.w[j][i] = 1;
    for (int64_t i = 40; i < 44; i++)
        for (int64_t j = 40; j < i; j++)
            g.w[i][j] = g.w[j][i] = 1;
    g.w[39][40] = g.w[40][39] = .01;
    return g;
}

/* Two labels: the vertices before `at`, and the others. */
static void divide_strip(int32_t at, int32_t *labels) {
    for (int32_t i = 0; i < 44; i++)
        labels[i] = i >= at;
}

/* One large and many small groups: the map equation prefers clusters of equal size, which cut the
 * large group; the normalised cut does not. */
static void a_start_must_not_cut_more(void **state) {
    (void)state;
    dense_graph g = strip_with_group();
    huddle_csr graph = sparse_graph(&g);
    int32_t natural[44], even[44], labels[44];
    divide_strip(40, natural);
    divide_strip(21, even);
    huddle_refine_start starts[] = {{"natural", natural}, {"even", even}};
    huddle_refine_options options = plain_options(2);
    huddle_refine_info info;
    huddle_graph_scores first, second;
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, natural, &first));
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, even, &second));
    assert_true(second.map < first.map - .1 && second.ncut > 3 * first.ncut);
    for (int allowed = 0; allowed < 2; allowed++) {
        options.cut_slack = second.ncut / first.ncut - 1 + (allowed ? 1e-6 : -1e-6);
        assert_ok(huddle_refine(NULL, &graph, 2, starts, &options, labels, &info));
        assert_int_equal(info.best, allowed);
        assert_true(info.trials[1].allowed == allowed);
    }
    /* The smaller cut makes the reference, whatever the order. */
    huddle_refine_start swapped[] = {starts[1], starts[0]};
    options.cut_slack = 1;
    assert_ok(huddle_refine(NULL, &graph, 2, swapped, &options, labels, &info));
    assert_true(info.reference == 1 && info.best == 1 && !info.trials[0].allowed);
    /* Of equal cuts, the first. */
    swapped[0] = starts[0];
    assert_ok(huddle_refine(NULL, &graph, 2, swapped, &options, labels, &info));
    assert_int_equal(info.reference, 0);
    huddle_csr_free(&graph);
}

/* Clusters that are components have a cut of 0, which no share allows to exceed, but another
 * labelling with a cut of 0 may replace them. */
static void components_are_not_cut(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(4, 6, 1, 0);
    for (int64_t j = 13; j < 18; j++) /* vertex 12 is hardly joined to its component */
        g.w[12][j] = g.w[j][12] = .01;
    huddle_csr graph = sparse_graph(&g);
    int32_t uneven[24], even[24], cut[24], labels[24];
    for (int32_t i = 0; i < 24; i++) {
        uneven[i] = i >= 18;
        even[i] = i >= 12;
        cut[i] = i >= 13;
    }
    huddle_refine_options options = plain_options(2);
    huddle_refine_info info;
    huddle_refine_start starts[] = {{"uneven", uneven}, {"cut", cut}, {"even", even}};
    options.cut_slack = 1000;
    assert_ok(huddle_refine(NULL, &graph, 3, starts, &options, labels, &info));
    assert_true(!info.trials[1].allowed && info.trials[1].scores.map < info.trials[0].scores.map);
    assert_true(info.trials[2].allowed && info.best == 2);
    huddle_csr_free(&graph);
}

/* Of several allowed starts, that of the lowest objective. */
static void the_lowest_objective_wins(void **state) {
    (void)state;
    dense_graph g = strip_with_group();
    huddle_csr graph = sparse_graph(&g);
    int32_t start[4][44], labels[44];
    huddle_refine_start starts[4];
    static const int32_t divided_at[] = {40, 12, 21, 16};
    for (int k = 0; k < 4; k++) {
        divide_strip(divided_at[k], start[k]);
        starts[k] = (huddle_refine_start){"start", start[k]};
    }
    huddle_refine_options options = plain_options(2);
    huddle_refine_info info;
    options.cut_slack = 1000;
    assert_ok(huddle_refine(NULL, &graph, 4, starts, &options, labels, &info));
    for (int k = 0; k < 4; k++)
        assert_true(info.trials[k].allowed &&
                    info.trials[k].scores.map >= info.trials[2].scores.map);
    assert_int_equal(info.reference, 0);
    assert_int_equal(info.best, 2);
    huddle_csr_free(&graph);
}

/* ---- starts made here ---------------------------------------------------------------------- */

/* Vertex i of a graph of 320 in another order, so that neighbours are not near each other. */
static int64_t shuffled(int64_t i) {
    return i * 77 % 320;
}

/* Groups of groups are found from useless labels, by every start that is made by merging. */
static void groups_are_found_by_merging(void **state) {
    (void)state;
    static dense_graph ordered, g;
    ordered = ring_of_groups(40, 8, 1, .02);
    g.n = ordered.n;
    for (int64_t i = 0; i < g.n; i++) /* four neighbouring groups make one */
        for (int64_t j = 0; j < g.n; j++)
            if (i / 32 == j / 32 && i / 8 != j / 8 && (i + j) % 3 == 0)
                ordered.w[i][j] = ordered.w[j][i] = .2;
    for (int64_t i = 0; i < g.n; i++)
        for (int64_t j = 0; j < g.n; j++)
            g.w[shuffled(i)][shuffled(j)] = ordered.w[i][j];
    huddle_csr graph = sparse_graph(&g);
    static int32_t start[MOST], labels[MOST];
    static const char *const names[] = {"bad", "sum", "levels1", "levels2", "levelsT"};
    huddle_refine_options options = huddle_refine_defaults();
    huddle_refine_info info;
    for (int32_t i = 0; i < g.n; i++)
        start[i] = i % 10;
    huddle_refine_start starts[] = {{"bad", start}};
    options.max_sweeps = 0;
    assert_ok(huddle_refine(NULL, &graph, 1, starts, &options, labels, &info));
    assert_int_equal(info.n_trials, 5);
    assert_true(info.best > 0);
    for (int32_t k = 0; k < 5; k++) {
        assert_string_equal(info.trials[k].name, names[k]);
        if (k > 0)
            assert_close(info.trials[k].scores.map, info.trials[1].scores.map, 1e-9);
    }
    for (int64_t i = 0; i < g.n; i++)
        assert_int_equal(labels[shuffled(i)], labels[shuffled(i / 32 * 32)]);
    /* With a tree made before, the same. */
    static int32_t again[MOST];
    huddle_refine_tree tree;
    assert_ok(huddle_refine_merge(NULL, &graph, &tree));
    assert_ok(huddle_refine_with_tree(NULL, &graph, &tree, 1, starts, &options, again, NULL));
    assert_memory_equal(labels, again, sizeof labels);
    tree.n = 12;
    assert_refused(huddle_refine_with_tree(NULL, &graph, &tree, 1, starts, &options, again, NULL),
                   HUDDLE_INVALID, "a tree of 12 vertices does not fit a graph of 320");
    tree.n = g.n;
    tree.second[300] = tree.first[300];
    assert_refused(huddle_refine_with_tree(NULL, &graph, &tree, 1, starts, &options, again, NULL),
                   HUDDLE_INVALID, "joins a cluster to itself");
    huddle_refine_tree_free(&tree);
    huddle_csr_free(&graph);
}

/* (a - b) / (ln a - ln b) with a = f k and b = (1 - f) / (1 - 1 / k). */
static void the_planted_resolution_follows_its_formula(void **state) {
    (void)state;
    assert_close(hd_refine_planted_resolution(.8, 10), (8 - .2 / .9) / log(8 / (.2 / .9)), 1e-14);
    assert_close(hd_refine_planted_resolution(.1, 4), (2 - .5 / .75) / log(2 / (.5 / .75)), 1e-14);
    assert_close(hd_refine_planted_resolution(.5, 2), 1, 1e-14);
    assert_true(hd_refine_planted_resolution(1, 7) == 0);
    assert_true(hd_refine_planted_resolution(.7, 1) == 1);
    /* Continuous at 1/2 for two clusters, where both logarithms are equal. */
    assert_close(hd_refine_planted_resolution(.5 + 1e-9, 2), 1, 1e-6);
}

/* The levels end in local optima that are no worse than those of one cut. */
static void starts_with_more_labels_are_merged(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(10, 4, 1, .1);
    huddle_csr graph = sparse_graph(&g);
    int32_t start[40], labels[40], merged[40];
    int64_t n_labels = 10;
    hd_refine_graph checked;
    huddle_refine_options options = plain_options(3);
    huddle_refine_info info;
    for (int32_t i = 0; i < 40; i++) {
        start[i] = 1000 - 7 * (i / 4);
        merged[i] = 9 - i / 4; /* in the order of the labels */
    }
    huddle_refine_start starts[] = {{"many", start}};
    assert_ok(huddle_refine(NULL, &graph, 1, starts, &options, labels, &info));
    assert_ok(hd_refine_graph_new(NULL, &graph, &checked));
    assert_ok(hd_refine_merge_labels(NULL, &checked, 1, 3, merged, &n_labels));
    int32_t of[3] = {-1, -1, -1}, count = 0;
    for (int32_t i = 0; i < 40; i++) { /* numbered by first occurrence */
        if (of[merged[i]] < 0)
            of[merged[i]] = count++;
        assert_int_equal(labels[i], of[merged[i]]);
    }
    hd_refine_graph_free(&checked);
    options.n_clusters = 11;
    assert_refused(huddle_refine(NULL, &graph, 1, starts, &options, labels, &info), HUDDLE_INVALID,
                   "start 'many' has 10 different labels, fewer than n_clusters = 11");
    huddle_csr_free(&graph);
}

/* As many clusters as vertices, or one: nothing to choose, and no error. */
static void extreme_numbers_of_clusters(void **state) {
    (void)state;
    dense_graph g = random_graph(12, .4, LOOPS | ISOLATED, 2);
    huddle_csr graph = sparse_graph(&g);
    int32_t start[12], labels[12];
    huddle_refine_start starts[] = {{"own", start}};
    static const int32_t numbers[] = {1, 2, 11, 12};
    for (int k = 0; k < 4; k++) {
        huddle_refine_options options = huddle_refine_defaults();
        int32_t most = 0;
        for (int32_t i = 0; i < 12; i++)
            start[i] = i % numbers[k];
        assert_ok(huddle_refine(NULL, &graph, 1, starts, &options, labels, NULL));
        for (int32_t i = 0; i < 12; i++)
            most = labels[i] > most ? labels[i] : most;
        assert_int_equal(most, numbers[k] - 1);
    }
    huddle_csr_free(&graph);
}

/* ---- numbering ----------------------------------------------------------------------------- */

/* Labels keep the numbers of the first start where most vertices agree. */
static void labels_are_numbered_as_the_first_start(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(5, 8, 1, .2);
    huddle_csr graph = sparse_graph(&g);
    static const int32_t names[] = {3, 0, 4, 1, 2};
    int32_t start[40], labels[40];
    for (int32_t i = 0; i < 40; i++)
        start[i] = names[i % 8 < 3 ? (i / 8 + 1) % 5 : i / 8];
    huddle_refine_start starts[] = {{"own", start}};
    huddle_refine_info info;
    assert_ok(huddle_refine(NULL, &graph, 1, starts, NULL, labels, &info));
    for (int32_t i = 0; i < 40; i++)
        assert_int_equal(labels[i], names[i / 8]);
    assert_int_equal(info.n_changed, 15);
    /* Other values: by first occurrence, with the same number of changes. */
    for (int32_t i = 0; i < 40; i++)
        start[i] = start[i] * 100000 - 7;
    assert_ok(huddle_refine(NULL, &graph, 1, starts, NULL, labels, &info));
    for (int32_t i = 0; i < 40; i++)
        assert_int_equal(labels[i], i / 8);
    assert_int_equal(info.n_changed, 15);
    huddle_csr_free(&graph);
}

/* ---- promises ------------------------------------------------------------------------------ */

static void any_number_of_threads_gives_the_same(void **state) {
    (void)state;
    static dense_graph g;
    static int32_t start[MOST], labels[4][MOST];
    g = random_graph(300, .03, LOOPS, 6);
    huddle_csr graph = sparse_graph(&g);
    for (int32_t i = 0; i < g.n; i++)
        start[i] = i % 7;
    huddle_refine_start starts[] = {{"own", start}};
    for (int32_t threads = 1; threads <= 3; threads++) {
        huddle_context *context;
        assert_ok(huddle_context_new(&context));
        assert_ok(huddle_context_set_threads(context, threads));
        assert_ok(huddle_refine(context, &graph, 1, starts, NULL, labels[threads], NULL));
        assert_memory_equal(labels[threads], labels[1], (size_t)g.n * sizeof **labels);
        huddle_context_free(context);
    }
    huddle_csr_free(&graph);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(2, 4, 1, .2);
    int32_t start[8] = {0, 0, 0, 0, 1, 1, 1, 1}, labels[8];
    huddle_refine_start starts[17] = {{"own", start}};
    huddle_refine_options options = huddle_refine_defaults();
    huddle_csr graph = sparse_graph(&g), oblong;
    assert_ok(huddle_csr_new(2, 3, 0, &oblong));
    assert_refused(huddle_refine(NULL, NULL, 1, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "graph is missing");
    assert_refused(huddle_refine(NULL, &oblong, 1, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "2 x 3 is not a graph");
    assert_refused(huddle_refine(NULL, &graph, 0, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "0 starts, not 1 to 12");
    assert_refused(huddle_refine(NULL, &graph, 13, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "13 starts");
    assert_refused(huddle_refine(NULL, &graph, 2, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "start 2 has no labels");
    assert_refused(huddle_refine(NULL, &graph, 1, NULL, NULL, labels, NULL), HUDDLE_INVALID,
                   "missing");
    assert_refused(huddle_refine(NULL, &graph, 1, starts, NULL, NULL, NULL), HUDDLE_INVALID,
                   "missing");
    options.n_clusters = 9;
    assert_refused(huddle_refine(NULL, &graph, 1, starts, &options, labels, NULL), HUDDLE_INVALID,
                   "n_clusters = 9 is outside [1, 8]");
    options.n_clusters = 2;
    options.objective = "cut";
    assert_refused(huddle_refine(NULL, &graph, 1, starts, &options, labels, NULL), HUDDLE_INVALID,
                   "objective");
    graph.values[1] *= 1.5;
    assert_refused(huddle_refine(NULL, &graph, 1, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "not symmetric: row 1, column 3 is 1.5, row 3, column 1 is 1");
    graph.values[1] = -1;
    assert_refused(huddle_refine(NULL, &graph, 1, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "row 1, column 3: the weight -1 is negative");
    graph.values[1] = NAN;
    assert_refused(huddle_refine(NULL, &graph, 1, starts, NULL, labels, NULL), HUDDLE_INVALID,
                   "row 1");
    huddle_csr_free(&graph);
    huddle_csr_free(&oblong);
}

/* Zeros that are stored are no edges, on one side or on both. */
static void stored_zeros_are_no_edges(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(3, 5, 1, .2);
    int32_t start[15], labels[2][15];
    huddle_refine_start starts[] = {{"own", start}};
    for (int32_t i = 0; i < 15; i++)
        start[i] = (i + 2) / 5 % 3;
    huddle_csr graph = sparse_graph(&g);
    assert_ok(huddle_refine(NULL, &graph, 1, starts, NULL, labels[0], NULL));
    huddle_csr_free(&graph);
    g.w[0][7] = g.w[3][9] = g.w[9][3] = 1e-300;
    graph = sparse_graph(&g);
    for (int64_t e = 0; e < graph.offsets[15]; e++)
        graph.values[e] = graph.values[e] < 1e-200 ? 0 : graph.values[e];
    assert_ok(huddle_refine(NULL, &graph, 1, starts, NULL, labels[1], NULL));
    assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    huddle_csr_free(&graph);
}

static void a_graph_without_edges_keeps_its_labels(void **state) {
    (void)state;
    dense_graph g = {.n = 6};
    huddle_csr graph = sparse_graph(&g);
    int32_t start[] = {0, 1, 2, 0, 1, 2}, labels[6];
    huddle_refine_start starts[] = {{"own", start}};
    huddle_refine_info info;
    assert_ok(huddle_refine(NULL, &graph, 1, starts, NULL, labels, &info));
    assert_memory_equal(labels, start, sizeof labels);
    assert_true(info.best == 0 && info.n_changed == 0);
    huddle_csr_free(&graph);
}

/* Returns 1, to stop, at the report whose number is in user. */
typedef struct stopping {
    int reports, stop_at;
} stopping;

static int count_and_stop(void *user, const char *stage, double done, double total) {
    stopping *s = user;
    assert_true(strcmp(stage, "refine") == 0 || strcmp(stage, "merge") == 0);
    assert_true(done >= 0 && done <= total);
    return ++s->reports == s->stop_at;
}

static void cancelling_is_honoured(void **state) {
    (void)state;
    static dense_graph g;
    static int32_t start[MOST], labels[MOST];
    g = random_graph(200, .05, 0, 6);
    huddle_csr graph = sparse_graph(&g);
    huddle_refine_tree tree;
    huddle_context *context;
    stopping s = {.stop_at = 1};
    for (int32_t i = 0; i < g.n; i++)
        start[i] = i % 4;
    huddle_refine_start starts[] = {{"own", start}};
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, count_and_stop, &s);
    assert_refused(huddle_refine(context, &graph, 1, starts, NULL, labels, NULL), HUDDLE_CANCELLED,
                   "cancelled");
    assert_int_equal(s.reports, 1);
    huddle_context_resume(context);
    huddle_context_set_progress(context, NULL, NULL);
    huddle_context_cancel(context);
    assert_refused(huddle_refine_move(context, &graph, NULL, start, NULL), HUDDLE_CANCELLED,
                   "cancelled");
    assert_refused(huddle_refine_merge(context, &graph, &tree), HUDDLE_CANCELLED, "cancelled");
    assert_null(tree.first);
    huddle_context_free(context);
    huddle_csr_free(&graph);
}

/* A tree of rows that are distributed over processes is neither made nor taken. */
static void trees_of_several_processes_are_refused(void **state) {
    (void)state;
    huddle_context *mirror = mirror_context();
    dense_graph g = ring_of_groups(2, 4, 1, .2);
    huddle_csr graph = sparse_graph(&g);
    huddle_refine_tree tree = {0};
    int32_t start[8] = {0}, labels[8];
    huddle_refine_start starts[] = {{"own", start}};
    assert_refused(huddle_refine_with_tree(mirror, &graph, &tree, 1, starts, NULL, labels, NULL),
                   HUDDLE_UNSUPPORTED, "merge tree");
    assert_refused(huddle_refine_merge(mirror, &graph, &tree), HUDDLE_UNSUPPORTED, "merging");
    huddle_csr_free(&graph);
    huddle_context_free(mirror);
}

static huddle_status use_all(void *argument) {
    const huddle_csr *graph = argument;
    int32_t start[40], labels[40];
    for (int32_t i = 0; i < 40; i++)
        start[i] = 100000 * (i % 5);
    huddle_refine_start starts[] = {{"own", start}};
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = 4;
    huddle_status status = huddle_refine(NULL, graph, 1, starts, &options, labels, NULL);
    return status == HUDDLE_OK ? huddle_refine_move(NULL, graph, NULL, labels, NULL) : status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    dense_graph g = ring_of_groups(5, 8, 1, .2);
    huddle_csr graph = sparse_graph(&g);
    test_each_allocation(use_all, &graph);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_must_gain_enough),
        cmocka_unit_test(a_start_must_not_cut_more),
        cmocka_unit_test(components_are_not_cut),
        cmocka_unit_test(the_lowest_objective_wins),
        cmocka_unit_test(groups_are_found_by_merging),
        cmocka_unit_test(the_planted_resolution_follows_its_formula),
        cmocka_unit_test(starts_with_more_labels_are_merged),
        cmocka_unit_test(extreme_numbers_of_clusters),
        cmocka_unit_test(labels_are_numbered_as_the_first_start),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(stored_zeros_are_no_edges),
        cmocka_unit_test(a_graph_without_edges_keeps_its_labels),
        cmocka_unit_test(cancelling_is_honoured),
        cmocka_unit_test(trees_of_several_processes_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
