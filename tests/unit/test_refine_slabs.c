/* refine on rows that are distributed over processes (team.h): the labels of one process where
 * process 0 gets the graph, and nearly as good ones where it gets a contracted graph. */
#include "base/rng.h"
#include "engines/team.h"
#include "matrix/collect.h"
#include "refine/refine.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 600, C = 6, STARTS = 2 };

/* Where the slabs of a team begin: uneven ones, and empty ones at either end. */
static const struct {
    int size;
    int64_t first[TEAM_MAX + 1];
} layouts[] = {{1, {0, N}},
               {2, {0, 100, N}},
               {3, {0, 0, 350, N}},
               {4, {0, 3, 200, 480, N}},
               {4, {0, 150, 150, 600, N}}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* A planted partition: vertex i belongs to group i % C; each has `inside` edges to its group and
 * `between` to anyone. */
static huddle_csr planted(int inside, int between, uint64_t seed) {
    static double w[N][N];
    huddle_csr graph;
    hd_rng rng = hd_rng_stream(seed, 0);
    int64_t at = 0;
    memset(w, 0, sizeof w);
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < inside + between; k++) {
            int64_t j = k < inside ? i % C + C * hd_rng_below(&rng, N / C) : hd_rng_below(&rng, N);
            if (i != j)
                w[i][j] = w[j][i] = 1 + hd_rng_uniform(&rng);
        }
    assert_ok(huddle_csr_new(N, N, (int64_t)N * N, &graph));
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++)
            if (w[i][j] != 0) {
                graph.columns[at] = (int32_t)j;
                graph.values[at++] = w[i][j];
            }
        graph.offsets[i + 1] = at;
    }
    return graph;
}

/* The planted labels with one of `share` vertices at random instead. */
static void disturb(int share, uint64_t seed, int32_t *labels) {
    hd_rng rng = hd_rng_stream(seed, 1);
    for (int64_t i = 0; i < N; i++)
        labels[i] =
            hd_rng_below(&rng, share) == 0 ? (int32_t)hd_rng_below(&rng, C) : (int32_t)(i % C);
}

typedef struct job {
    const huddle_csr *graph;
    int layout;
    int64_t budget; /* 0: that of the stage */
    bool only_move;
    int32_t starts[STARTS][N];
    int32_t labels[N];
    huddle_refine_info info[TEAM_MAX];
    /* Of the contraction: */
    int32_t set[N];
    int64_t n_sets[TEAM_MAX];
    huddle_graph_scores coarse[TEAM_MAX];
    double entropy[TEAM_MAX];
} job;

static huddle_csr slab_of(const job *t, int rank, int64_t *offsets) {
    int64_t begin = layouts[t->layout].first[rank], end = layouts[t->layout].first[rank + 1];
    huddle_csr own = *t->graph;
    for (int64_t i = begin; i <= end; i++)
        offsets[i - begin] = t->graph->offsets[i] - t->graph->offsets[begin];
    own.rows = end - begin;
    own.offsets = offsets;
    own.columns += t->graph->offsets[begin];
    own.values += t->graph->offsets[begin];
    return own;
}

static huddle_refine_options usual(void) {
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = C;
    return options;
}

static huddle_status refine_member(huddle_context *context, int rank, void *argument) {
    job *t = argument;
    int64_t offsets[N + 1], begin = layouts[t->layout].first[rank];
    huddle_csr own = slab_of(t, rank, offsets);
    huddle_refine_options options = usual();
    const huddle_refine_start starts[] = {{"one", t->starts[0] + begin},
                                          {"two", t->starts[1] + begin}};
    if (t->only_move) {
        memcpy(t->labels + begin, starts[0].labels, (size_t)own.rows * sizeof *t->labels);
        return t->budget == 0
                   ? huddle_refine_move(context, &own, &options, t->labels + begin,
                                        &t->info[rank].n_trials)
                   : hd_refine_move_distributed(context, &own, hd_refine_objective_find("map"), C,
                                                30, 0, t->labels + begin, &t->info[rank].n_trials);
    }
    return t->budget == 0 ? huddle_refine(context, &own, STARTS, starts, &options,
                                          t->labels + begin, &t->info[rank])
                          : hd_refine_distributed(context, &own, t->budget, STARTS, starts,
                                                  &options, t->labels + begin, &t->info[rank]);
}

static double map_of(const huddle_csr *graph, const int32_t *labels) {
    huddle_graph_scores scores;
    assert_ok(huddle_metrics_graph_scores(NULL, graph, labels, &scores));
    return scores.map;
}

static double entropy_of(const huddle_csr *graph, const int32_t *labels) {
    huddle_graph_scores scores;
    assert_ok(huddle_metrics_graph_scores(NULL, graph, labels, &scores));
    return scores.entropy;
}

/* ---- the graph itself ----------------------------------------------------------------------- */

static void teams_refine_as_one_process(void **state) {
    (void)state;
    huddle_csr graph = planted(3, 3, 1);
    job *t = calloc(1, sizeof *t);
    t->graph = &graph;
    disturb(3, 1, t->starts[0]);
    disturb(2, 2, t->starts[1]);
    const huddle_refine_start starts[] = {{"one", t->starts[0]}, {"two", t->starts[1]}};
    huddle_refine_options options = usual();
    huddle_refine_info one;
    int32_t labels[N];
    assert_ok(huddle_refine(NULL, &graph, STARTS, starts, &options, labels, &one));
    for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
        int size = layouts[t->layout].size;
        assert_ok(team_run(size, &team_engine, refine_member, t));
        assert_memory_equal(t->labels, labels, sizeof labels);
        for (int r = 0; r < size; r++) {
            const huddle_refine_info *info = &t->info[r];
            assert_int_equal(info->n_trials, one.n_trials);
            assert_int_equal(info->best, one.best);
            assert_int_equal(info->n_changed, one.n_changed);
            assert_memory_equal(info->trials, one.trials, sizeof one.trials);
        }
    }
    free(t);
    huddle_csr_free(&graph);
}

static void teams_move_as_one_process(void **state) {
    (void)state;
    huddle_csr graph = planted(3, 3, 4);
    job *t = calloc(1, sizeof *t);
    huddle_refine_options options = usual();
    int32_t labels[N], n_sweeps;
    t->graph = &graph;
    t->only_move = true;
    disturb(2, 5, t->starts[0]);
    memcpy(labels, t->starts[0], sizeof labels);
    assert_ok(huddle_refine_move(NULL, &graph, &options, labels, &n_sweeps));
    for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
        assert_ok(team_run(layouts[t->layout].size, &team_engine, refine_member, t));
        assert_memory_equal(t->labels, labels, sizeof labels);
        assert_int_equal(t->info[layouts[t->layout].size - 1].n_trials, n_sweeps);
    }
    free(t);
    huddle_csr_free(&graph);
}

static void bad_starts_are_refused_by_all(void **state) {
    (void)state;
    huddle_csr graph = planted(3, 1, 1);
    job *t = calloc(1, sizeof *t);
    t->graph = &graph;
    for (int64_t i = 0; i < N; i++)
        t->starts[0][i] = t->starts[1][i] = (int32_t)(i % (C - 1));
    for (t->budget = 0; t->budget <= 60; t->budget += 60) {
        t->layout = 3;
        assert_int_equal(team_run(4, &team_engine, refine_member, t), HUDDLE_INVALID);
        assert_non_null(strstr(huddle_last_error(), "fewer than n_clusters"));
    }
    t->only_move = true;
    t->starts[0][580] = C; /* on the last member only */
    t->budget = 0;
    assert_int_equal(team_run(4, &team_engine, refine_member, t), HUDDLE_INVALID);
    free(t);
    huddle_csr_free(&graph);
}

/* More vertices than process 0 moves alone, without edges; the last one has the largest label that
 * there is. */
static huddle_status move_large_label(huddle_context *context, int rank, void *argument) {
    (void)argument;
    int64_t half = HD_REFINE_BUDGET / 2 + 1;
    int64_t *offsets = calloc((size_t)half + 1, sizeof *offsets);
    int32_t *labels = calloc((size_t)half, sizeof *labels), column = 0;
    double value = 0;
    huddle_csr own = {
        .rows = half, .cols = 2 * half, .offsets = offsets, .columns = &column, .values = &value};
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = HUDDLE_AUTO;
    if (rank == 1)
        labels[half - 1] = INT32_MAX;
    huddle_status status = huddle_refine_move(context, &own, &options, labels, NULL);
    free(offsets);
    free(labels);
    return status;
}

static void the_largest_label_is_refused(void **state) {
    (void)state;
    assert_int_equal(team_run(2, &team_engine, move_large_label, NULL), HUDDLE_INVALID);
    assert_non_null(strstr(huddle_last_error(), "n_clusters = 2147483647 is outside"));
}

/* ---- moves on all processes ----------------------------------------------------------------- */

static void parallel_moves_lower_the_objective(void **state) {
    (void)state;
    job *t = calloc(1, sizeof *t);
    for (uint64_t seed = 0; seed < 4; seed++) {
        huddle_csr graph = planted(3, 4, seed);
        huddle_refine_options options = usual();
        int32_t one[N], sizes[C] = {0};
        *t = (job){.graph = &graph, .only_move = true, .budget = 1};
        disturb(2, seed, t->starts[0]);
        memcpy(one, t->starts[0], sizeof one);
        assert_ok(huddle_refine_move(NULL, &graph, &options, one, NULL));
        double before = map_of(&graph, t->starts[0]), alone = map_of(&graph, one);
        for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
            assert_ok(team_run(layouts[t->layout].size, &team_engine, refine_member, t));
            double after = map_of(&graph, t->labels);
            assert_true(before - after > .9 * (before - alone));
            for (int64_t i = 0; i < N; i++)
                sizes[t->labels[i]]++;
            for (int k = 0; k < C; k++)
                assert_true(sizes[k] > 0);
        }
        huddle_csr_free(&graph);
    }
    free(t);
}

/* A ring of more vertices than one process refines, of which each member has half. The last cluster
 * is on the last member only; all have to know how many there are. */
enum { RING = HD_REFINE_BUDGET + 2 };
typedef struct ring {
    int32_t *labels;
    int32_t n_clusters;
} ring;

static huddle_status move_ring(huddle_context *context, int rank, void *argument) {
    const ring *t = argument;
    const int64_t half = RING / 2, first = rank * half;
    huddle_csr own;
    huddle_refine_options options = huddle_refine_defaults();
    options.n_clusters = t->n_clusters;
    assert_ok(huddle_csr_new(half, RING, 2 * half, &own));
    for (int64_t i = 0; i < half; i++) {
        int32_t before = (int32_t)((first + i + RING - 1) % RING);
        int32_t after = (int32_t)((first + i + 1) % RING);
        own.offsets[i + 1] = 2 * (i + 1);
        own.columns[2 * i] = before < after ? before : after;
        own.columns[2 * i + 1] = before < after ? after : before;
        own.values[2 * i] = own.values[2 * i + 1] = 1;
    }
    huddle_status status = huddle_refine_move(context, &own, &options, t->labels + first, NULL);
    huddle_csr_free(&own);
    return status;
}

static void large_graphs_are_moved_in_parallel(void **state) {
    (void)state;
    ring t = {malloc(RING * sizeof *t.labels), HUDDLE_AUTO};
    for (int64_t i = 0; i < RING; i++)
        t.labels[i] = i < RING / 3 ? 0 : i < 2 * (RING / 3) ? 1 : 2;
    t.labels[100] = 1;
    t.labels[RING - 100] = 1;
    assert_ok(team_run(2, &team_engine, move_ring, &t));
    assert_int_equal(t.labels[100], 0);
    assert_int_equal(t.labels[RING - 100], 2);
    t.n_clusters = 2;
    assert_int_equal(team_run(2, &team_engine, move_ring, &t), HUDDLE_INVALID);
    assert_non_null(strstr(huddle_last_error(), "there is a label 2, not one of 0 to 1"));
    t.n_clusters = HUDDLE_AUTO;
    t.labels[RING - 1] = -4;
    assert_int_equal(team_run(2, &team_engine, move_ring, &t), HUDDLE_INVALID);
    assert_non_null(strstr(huddle_last_error(), "there is a label -4"));
    free(t.labels);
}

/* A small graph on two members, the first half of the vertices on the first. */
enum { SMALL = 6 };
typedef struct small_graph {
    double w[SMALL][SMALL];
    int32_t labels[SMALL];
} small_graph;

static huddle_status move_small(huddle_context *context, int rank, void *argument) {
    small_graph *g = argument;
    int64_t offsets[SMALL / 2 + 1] = {0}, first = rank * (SMALL / 2), at = 0;
    int32_t columns[SMALL * SMALL];
    double values[SMALL * SMALL];
    for (int64_t i = 0; i < SMALL / 2; i++) {
        for (int32_t j = 0; j < SMALL; j++)
            if (g->w[first + i][j] > 0) {
                columns[at] = j;
                values[at++] = g->w[first + i][j];
            }
        offsets[i + 1] = at;
    }
    huddle_csr own = {
        .rows = SMALL / 2, .cols = SMALL, .offsets = offsets, .columns = columns, .values = values};
    return hd_refine_move_distributed(context, &own, hd_refine_objective_find("ncut"), 2, 30, 0,
                                      g->labels + first, NULL);
}

static void join(small_graph *g, int i, int j, double weight) {
    g->w[i][j] = g->w[j][i] = weight;
}

/* Vertices 2 and 3, on different members, each want to follow the other: if both moved they would
 * exchange their places for ever. */
static void exchanged_places_are_undone(void **state) {
    (void)state;
    small_graph g = {.labels = {0, 0, 0, 1, 1, 1}};
    join(&g, 0, 1, 4);
    join(&g, 0, 2, 1);
    join(&g, 1, 2, 1);
    join(&g, 2, 3, 9);
    join(&g, 3, 4, 1);
    join(&g, 3, 5, 1);
    join(&g, 4, 5, 4);
    assert_ok(team_run(2, &team_engine, move_small, &g));
    assert_int_equal(g.labels[2], g.labels[3]);
    assert_int_not_equal(g.labels[0], g.labels[5]);
}

/* The only vertex of a cluster on its member may leave if the cluster has others elsewhere; the
 * last of all may not. */
static void no_cluster_becomes_empty(void **state) {
    (void)state;
    for (int others = 0; others < 2; others++) {
        small_graph g = {.labels = {0, 0, 1, others, others, others}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) {
                join(&g, i, j, 5);
                join(&g, 3 + i, 3 + j, 5);
            }
        join(&g, 0, 3, 1);
        assert_ok(team_run(2, &team_engine, move_small, &g));
        assert_int_equal(g.labels[2], others ? 0 : 1);
    }
}

/* ---- the contracted graph ------------------------------------------------------------------- */

static huddle_status contract_member(huddle_context *context, int rank, void *argument) {
    huddle_status status = HUDDLE_OK;
    job *t = argument;
    int64_t offsets[N + 1], begin = layouts[t->layout].first[rank];
    huddle_csr own = slab_of(t, rank, offsets);
    const huddle_refine_start starts[] = {{"first", t->starts[0] + begin},
                                          {"second", t->starts[1] + begin}};
    int32_t *coarse = NULL;
    hd_refine_contraction c = {0};
    TRY(hd_refine_contract(context, &own, t->budget, STARTS, starts, &c));
    t->n_sets[rank] = c.n;
    memcpy(t->set + begin, c.set, (size_t)own.rows * sizeof *t->set);
    ALLOC(coarse, c.n);
    for (int64_t k = 0; k < c.n; k++)
        coarse[k] = starts[0].labels[c.member[k]];
    TRY(huddle_metrics_graph_scores(context, &c.graph, coarse, &t->coarse[rank]));
    t->entropy[rank] = c.entropy;
done:
    huddle_free(coarse);
    hd_refine_contraction_free(&c);
    return status;
}

/* The scores of a start are those on the whole graph, and sets do not mix labels. */
static void a_contracted_graph_has_the_same_scores(void **state) {
    (void)state;
    huddle_csr graph = planted(4, 1, 7);
    huddle_graph_scores scores;
    job *t = calloc(1, sizeof *t);
    *t = (job){.graph = &graph, .budget = 120};
    disturb(4, 8, t->starts[0]);
    disturb(4, 9, t->starts[1]);
    assert_ok(huddle_metrics_graph_scores(NULL, &graph, t->starts[0], &scores));
    for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
        int size = layouts[t->layout].size;
        int64_t n_sets = 0;
        assert_ok(team_run(size, &team_engine, contract_member, t));
        for (int r = 0; r < size; r++) {
            assert_close(t->coarse[r].map, scores.map, 1e-12);
            assert_close(t->coarse[r].ncut, scores.ncut, 1e-12);
            assert_close(t->coarse[r].modularity, scores.modularity, 1e-12);
            assert_close(t->coarse[r].information, scores.information, 1e-12);
            assert_close(t->coarse[r].entropy + t->entropy[r], scores.entropy, 1e-12);
            n_sets += t->n_sets[r];
            for (int64_t i = layouts[t->layout].first[r]; i < layouts[t->layout].first[r + 1]; i++)
                for (int64_t j = layouts[t->layout].first[r]; j < i; j++)
                    if (t->set[i] == t->set[j])
                        for (int k = 0; k < STARTS; k++)
                            assert_int_equal(t->starts[k][i], t->starts[k][j]);
        }
        /* Sets that no edge joins are joined, but not to fewer than half of what a process may
         * have. */
        assert_true(n_sets < 120 + size * C * C && n_sets >= 60 - size);
    }
    free(t);
    huddle_csr_free(&graph);
}

/* Separated groups are found from a start with errors; where groups overlap the objective is nearly
 * that of one process. */
static void contraction_and_moves_find_the_groups(void **state) {
    (void)state;
    job *t = calloc(1, sizeof *t);
    for (int hard = 0; hard < 2; hard++) {
        huddle_csr graph = hard ? planted(4, 3, 11) : planted(6, 1, 10);
        int32_t labels[N];
        *t = (job){.graph = &graph, .budget = 90};
        disturb(3, 12, t->starts[0]);
        disturb(3, 13, t->starts[1]);
        const huddle_refine_start starts[] = {{"one", t->starts[0]}, {"two", t->starts[1]}};
        huddle_refine_options options = usual();
        assert_ok(huddle_refine(NULL, &graph, STARTS, starts, &options, labels, NULL));
        double entropy = entropy_of(&graph, labels);
        for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
            assert_ok(team_run(layouts[t->layout].size, &team_engine, refine_member, t));
            for (int64_t i = 0; i < N && !hard; i++)
                assert_int_equal(t->labels[i], i % C);
            double start = map_of(&graph, t->starts[0]), one = map_of(&graph, labels);
            double here = map_of(&graph, t->labels);
            assert_true(start - here >= .97 * (start - one));
            const huddle_refine_info *info = &t->info[0];
            assert_close(info->trials[info->best].scores.map, here, 1e-12);
            for (int32_t k = 0; k < info->n_trials; k++) /* of vertices, not of sets */
                assert_close(info->trials[k].scores.entropy, entropy, 1e-12);
            int64_t n_changed = 0;
            for (int64_t i = 0; i < N; i++)
                n_changed += t->labels[i] != t->starts[0][i];
            assert_int_equal(info->n_changed, n_changed);
        }
        huddle_csr_free(&graph);
    }
    free(t);
}

/* Labels that are not 0 .. n_clusters - 1 are replaced by numbers in the order of the rows. */
static void other_labels_are_numbered_by_occurrence(void **state) {
    (void)state;
    huddle_csr graph = planted(6, 1, 10);
    job *t = calloc(1, sizeof *t);
    t->graph = &graph;
    for (t->budget = 0; t->budget <= 90; t->budget += 90)
        for (t->layout = 0; t->layout < LAYOUTS; t->layout++) {
            for (int64_t i = 0; i < N; i++)
                t->starts[0][i] = t->starts[1][i] = (int32_t)(50 - 3 * (i % C));
            assert_ok(team_run(layouts[t->layout].size, &team_engine, refine_member, t));
            for (int64_t i = 0; i < N; i++)
                assert_int_equal(t->labels[i], i % C);
        }
    free(t);
    huddle_csr_free(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_refine_as_one_process),
        cmocka_unit_test(teams_move_as_one_process),
        cmocka_unit_test(bad_starts_are_refused_by_all),
        cmocka_unit_test(the_largest_label_is_refused),
        cmocka_unit_test(parallel_moves_lower_the_objective),
        cmocka_unit_test(large_graphs_are_moved_in_parallel),
        cmocka_unit_test(exchanged_places_are_undone),
        cmocka_unit_test(no_cluster_becomes_empty),
        cmocka_unit_test(a_contracted_graph_has_the_same_scores),
        cmocka_unit_test(contraction_and_moves_find_the_groups),
        cmocka_unit_test(other_labels_are_numbered_by_occurrence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
