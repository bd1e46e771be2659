/* refine: merging. Every merge is compared with the best pair found by trying all of them. */
#include "refine/refine.h"
#include "unit/refine_graphs.h"

/* ---- the reference ------------------------------------------------------------------------- */

/* Clusters by their smallest members: weights between them, volumes and numbers of vertices. */
typedef struct clusters {
    int64_t n;
    double w[MOST][MOST], v[MOST];
    int64_t size[MOST]; /* 0: merged into another */
} clusters;

static clusters single_clusters(const dense_graph *g) {
    clusters c = {.n = g->n};
    double total = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < g->n; j++)
            total += g->w[i][j];
    for (int64_t i = 0; i < g->n; i++) {
        c.size[i] = 1;
        for (int64_t j = 0; j < g->n && total > 0; j++) {
            c.w[i][j] = g->w[i][j] / total;
            c.v[i] += g->w[i][j] / total;
        }
    }
    return c;
}

/* The pair of the largest gain in single precision, the first in lexicographic order of several.
 * Returns false if no two clusters are joined by an edge. */
static bool best_pair(const clusters *c, double resolution, int64_t *a, int64_t *b) {
    bool found = false;
    float best = 0;
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = i + 1; j < c->n; j++) {
            if (c->size[i] == 0 || c->size[j] == 0 || c->w[i][j] == 0)
                continue;
            double gain = resolution > 0
                              ? c->w[i][j] - resolution * c->v[i] * c->v[j]
                              : c->w[i][j] / c->v[i] / c->v[i] + c->w[i][j] / c->v[j] / c->v[j];
            if (!found || (float)gain > best) {
                found = true;
                best = (float)gain;
                *a = i;
                *b = j;
            }
        }
    return found;
}

/* The two clusters of fewest vertices, ties by the smaller number. */
static void smallest_pair(const clusters *c, int64_t *a, int64_t *b) {
    int64_t chosen[2] = {-1, -1};
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < c->n; i++)
            if (c->size[i] > 0 && i != chosen[0] &&
                (chosen[round] < 0 || c->size[i] < c->size[chosen[round]]))
                chosen[round] = i;
    *a = chosen[0] < chosen[1] ? chosen[0] : chosen[1];
    *b = chosen[0] < chosen[1] ? chosen[1] : chosen[0];
}

static void merge_pair(clusters *c, int64_t a, int64_t b) {
    for (int64_t i = 0; i < c->n; i++) {
        c->w[a][i] += c->w[b][i];
        c->w[b][i] = 0;
    }
    for (int64_t i = 0; i < c->n; i++) {
        c->w[i][a] += c->w[i][b];
        c->w[i][b] = 0;
    }
    c->v[a] += c->v[b];
    c->size[a] += c->size[b];
    c->size[b] = 0;
}

/* The merges of the reference, from the clusters as they are. */
static void assert_merges(clusters *c, double resolution, int64_t count, const int32_t *first,
                          const int32_t *second) {
    for (int64_t t = 0; t < count; t++) {
        int64_t a, b;
        if (!best_pair(c, resolution, &a, &b))
            smallest_pair(c, &a, &b);
        assert_int_equal(first[t], a);
        assert_int_equal(second[t], b);
        merge_pair(c, a, b);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static const int kinds[] = {EXACT,
                            EXACT | UNIT_WEIGHTS,
                            EXACT | LOOPS,
                            EXACT | LOOPS | ISOLATED | PARTS,
                            EXACT | UNIT_WEIGHTS | PARTS,
                            EXACT | UNIT_WEIGHTS | LOOPS | ISOLATED};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void every_merge_is_the_best_pair(void **state) {
    (void)state;
    static const double densities[] = {.05, .15, .5};
    for (int k = 0; k < KINDS; k++)
        for (int d = 0; d < 3; d++)
            for (uint64_t seed = 0; seed < 8; seed++) {
                dense_graph g = random_graph(20 + 5 * (int64_t)seed, densities[d], kinds[k], seed);
                clusters c = single_clusters(&g);
                huddle_csr graph = sparse_graph(&g);
                huddle_refine_tree tree;
                assert_ok(huddle_refine_merge(NULL, &graph, &tree));
                assert_int_equal(tree.n, g.n);
                assert_merges(&c, 0, g.n - 1, tree.first, tree.second);
                huddle_refine_tree_free(&tree);
                huddle_csr_free(&graph);
            }
}

/* Many small graphs of equal weights, in which most gains are equal to others. */
static void ties_are_broken_as_by_trying_all_pairs(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        static const double densities[] = {.25, .4, .6};
        dense_graph g =
            random_graph(6 + (int64_t)(seed % 12), densities[seed % 3], EXACT | UNIT_WEIGHTS, seed);
        clusters c = single_clusters(&g);
        huddle_csr graph = sparse_graph(&g);
        huddle_refine_tree tree;
        assert_ok(huddle_refine_merge(NULL, &graph, &tree));
        assert_merges(&c, 0, g.n - 1, tree.first, tree.second);
        huddle_refine_tree_free(&tree);
        huddle_csr_free(&graph);
    }
}

/* From the clusters of a labelling, by modularity. */
static void labels_are_merged_by_modularity(void **state) {
    (void)state;
    static const double resolutions[] = {.5, 1, 2};
    for (int k = 0; k < KINDS; k++)
        for (int r = 0; r < 3; r++)
            for (uint64_t seed = 0; seed < 6; seed++) {
                enum { CLUSTERS = 14, KEPT = 3 };
                dense_graph g = random_graph(50, .12, kinds[k], 100 + seed);
                clusters c = single_clusters(&g);
                huddle_csr matrix = sparse_graph(&g);
                hd_refine_graph graph;
                hd_refine_quotient quotient;
                int32_t labels[MOST], first[CLUSTERS], second[CLUSTERS], merged[MOST];
                int64_t n_labels = CLUSTERS;
                for (int64_t i = 0; i < g.n; i++) {
                    labels[i] = merged[i] = (int32_t)(i % CLUSTERS);
                    if (i >= CLUSTERS)
                        merge_pair(&c, i % CLUSTERS, i);
                }
                c.n = CLUSTERS;
                assert_ok(hd_refine_graph_new(NULL, &matrix, &graph));
                assert_ok(hd_refine_quotient_new(&graph, labels, CLUSTERS, &quotient));
                for (int64_t a = 0; a < CLUSTERS; a++) {
                    assert_true(quotient.volumes[a] == c.v[a]);
                    assert_int_equal(quotient.sizes[a], c.size[a]);
                    for (int64_t e = quotient.offsets[a]; e < quotient.offsets[a + 1]; e++)
                        assert_true(quotient.weights[e] == c.w[a][quotient.columns[e]]);
                }
                assert_ok(hd_refine_agglomerate(NULL, &quotient, NULL,
                                                hd_refine_rule_modularity(resolutions[r]), KEPT,
                                                first, second, NULL));
                assert_merges(&c, resolutions[r], CLUSTERS - KEPT, first, second);
                /* The same in one call, numbered by first occurrence. */
                assert_ok(
                    hd_refine_merge_labels(NULL, &graph, resolutions[r], KEPT, merged, &n_labels));
                assert_int_equal(n_labels, KEPT);
                assert_ok(hd_refine_cut(CLUSTERS, CLUSTERS - KEPT, first, second, first));
                for (int64_t i = 0; i < g.n; i++)
                    assert_int_equal(merged[i], first[i % CLUSTERS]);
                hd_refine_quotient_free(&quotient);
                hd_refine_graph_free(&graph);
                huddle_csr_free(&matrix);
            }
}

/* The same merges however many clusters are hubs: from clusters with a single neighbour on, or only
 * those with many. */
static void hubs_change_no_merge(void **state) {
    (void)state;
    static const double densities[] = {.05, .15, .5};
    static const int32_t limits[] = {0, 1, 3, 8, 20};
    for (int k = 0; k < KINDS; k++)
        for (uint64_t seed = 0; seed < 150; seed++)
            for (int r = 0; r < 2; r++) {
                dense_graph g = random_graph(10 + (int64_t)(seed % 50), densities[seed % 3],
                                             kinds[k], 500 + seed);
                clusters c = single_clusters(&g);
                huddle_csr matrix = sparse_graph(&g);
                hd_refine_graph graph;
                hd_refine_quotient single;
                int32_t first[MOST], second[MOST];
                hd_refine_rule rule = r == 0 ? hd_refine_rule_sum() : hd_refine_rule_modularity(1);
                rule.long_list = limits[seed % 5];
                assert_ok(hd_refine_graph_new(NULL, &matrix, &graph));
                assert_ok(hd_refine_quotient_new(&graph, NULL, g.n, &single));
                assert_ok(hd_refine_agglomerate(NULL, &single, NULL, rule, 1, first, second, NULL));
                assert_merges(&c, r, g.n - 1, first, second);
                hd_refine_quotient_free(&single);
                hd_refine_graph_free(&graph);
                huddle_csr_free(&matrix);
            }
}

/* Two joined stars of 150,000 leaves each: reading the list of the centre at every merge would be
 * 10^10 steps, minutes. Leaves have the larger gain, the first of them first. */
static void stars_take_no_quadratic_time(void **state) {
    (void)state;
    enum { LEAVES = 150000, STARS = 2, VERTICES = STARS * (LEAVES + 1) };
    huddle_csr graph;
    huddle_refine_tree tree;
    int64_t at = 0;
    assert_ok(huddle_csr_new(VERTICES, VERTICES, 2 * (STARS * LEAVES + 1), &graph));
    /* The first star is centred at the first vertex, the second at the last one. */
    for (int32_t i = 0; i < VERTICES; i++) {
        bool one = i <= LEAVES, centre = i == 0 || i == VERTICES - 1;
        for (int32_t j = 0; j < VERTICES && centre; j++)
            if (j != i && ((j <= LEAVES) == one || j == 0 || j == VERTICES - 1))
                graph.columns[at++] = j;
        if (!centre)
            graph.columns[at++] = one ? 0 : VERTICES - 1;
        graph.offsets[i + 1] = at;
    }
    for (int64_t e = 0; e < at; e++)
        graph.values[e] = 1;
    assert_ok(huddle_refine_merge(NULL, &graph, &tree));
    for (int32_t t = 0; t < LEAVES; t++) {
        assert_int_equal(tree.first[t], 0);
        assert_int_equal(tree.second[t], t + 1);
        assert_int_equal(tree.first[LEAVES + t], LEAVES + 1);
        assert_int_equal(tree.second[LEAVES + t], t == 0 ? VERTICES - 1 : LEAVES + 1 + t);
    }
    assert_int_equal(tree.first[VERTICES - 2], 0);
    assert_int_equal(tree.second[VERTICES - 2], LEAVES + 1);
    huddle_refine_tree_free(&tree);
    huddle_csr_free(&graph);
}

/* A path with equal weights: all gains are equal at first, so pairs are merged in the order of
 * their vertices, and a chain forms only where gains say so. */
static void ties_go_to_the_smallest_vertices(void **state) {
    (void)state;
    dense_graph g = {.n = 8};
    huddle_refine_tree tree;
    for (int i = 0; i < 8; i++)
        g.w[i][(i + 1) % 8] = g.w[(i + 1) % 8][i] = 1;
    huddle_csr graph = sparse_graph(&g);
    static const int32_t first[] = {0, 2, 4, 6}, second[] = {1, 3, 5, 7};
    assert_ok(huddle_refine_merge(NULL, &graph, &tree));
    assert_memory_equal(tree.first, first, sizeof first);
    assert_memory_equal(tree.second, second, sizeof second);
    huddle_refine_tree_free(&tree);
    huddle_csr_free(&graph);
}

static void a_tree_can_be_cut_anywhere(void **state) {
    (void)state;
    dense_graph g = random_graph(40, .1, EXACT | LOOPS, 3);
    huddle_csr graph = sparse_graph(&g);
    huddle_refine_tree tree;
    int32_t labels[MOST], expected[MOST];
    assert_ok(huddle_refine_merge(NULL, &graph, &tree));
    for (int64_t i = 0; i < g.n; i++)
        expected[i] = (int32_t)i;
    for (int32_t k = (int32_t)g.n; k >= 1; k--) {
        int32_t number[MOST], count = 0;
        assert_ok(huddle_refine_cut_tree(&tree, k, labels));
        memset(number, -1, sizeof number);
        for (int64_t i = 0; i < g.n; i++) {
            if (number[expected[i]] < 0)
                number[expected[i]] = count++;
            assert_int_equal(labels[i], number[expected[i]]);
        }
        assert_int_equal(count, k);
        for (int64_t i = 0; i < g.n && k > 1; i++)
            if (expected[i] == tree.second[g.n - k])
                expected[i] = tree.first[g.n - k];
    }
    assert_refused(huddle_refine_cut_tree(&tree, 0, labels), HUDDLE_INVALID, "n_clusters = 0");
    assert_refused(huddle_refine_cut_tree(&tree, 41, labels), HUDDLE_INVALID, "[1, 40]");
    assert_refused(huddle_refine_cut_tree(NULL, 1, labels), HUDDLE_INVALID, "missing");
    tree.first[5] = 40;
    assert_refused(huddle_refine_cut_tree(&tree, 1, labels), HUDDLE_INVALID, "merge 6 of the tree");
    tree.first[5] = tree.first[4];
    tree.second[5] = tree.second[4];
    assert_refused(huddle_refine_cut_tree(&tree, 1, labels), HUDDLE_INVALID, "already");
    huddle_refine_tree_free(&tree);
    huddle_csr_free(&graph);
}

/* One vertex has no merges; vertices without edges are merged by size. */
static void tiny_graphs_have_trees(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++) {
        dense_graph g = {.n = n};
        clusters c = single_clusters(&g);
        huddle_csr graph = sparse_graph(&g);
        huddle_refine_tree tree;
        int32_t labels[5];
        assert_ok(huddle_refine_merge(NULL, &graph, &tree));
        assert_merges(&c, 0, n - 1, tree.first, tree.second);
        assert_ok(huddle_refine_cut_tree(&tree, 1, labels));
        assert_int_equal(labels[n - 1], 0);
        huddle_refine_tree_free(&tree);
        huddle_csr_free(&graph);
    }
}

/* Lists move in the pool, and the pool is packed several times. */
static void larger_graphs_are_merged(void **state) {
    (void)state;
    static dense_graph g;
    static clusters c;
    for (uint64_t seed = 0; seed < 2; seed++) {
        huddle_refine_tree tree;
        int32_t order[MOST];
        bool seen[MOST] = {false};
        g = random_graph(MOST, seed == 0 ? .02 : .3, EXACT, seed);
        c = single_clusters(&g);
        huddle_csr graph = sparse_graph(&g);
        assert_ok(huddle_refine_merge(NULL, &graph, &tree));
        assert_merges(&c, 0, g.n - 1, tree.first, tree.second);
        /* The leaves in order: every vertex once, and the last two clusters one after the other. */
        assert_ok(hd_refine_tree_order(&tree, order));
        assert_int_equal(order[0], 0);
        for (int64_t k = 0; k < g.n; k++) {
            assert_true(order[k] >= 0 && order[k] < g.n && !seen[order[k]]);
            seen[order[k]] = true;
        }
        int32_t labels[MOST], changes = 0;
        assert_ok(huddle_refine_cut_tree(&tree, 5, labels));
        for (int64_t k = 1; k < g.n; k++)
            changes += labels[order[k]] != labels[order[k - 1]];
        assert_int_equal(changes, 4);
        huddle_refine_tree_free(&tree);
        huddle_csr_free(&graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_merge_is_the_best_pair),
        cmocka_unit_test(ties_are_broken_as_by_trying_all_pairs),
        cmocka_unit_test(labels_are_merged_by_modularity),
        cmocka_unit_test(hubs_change_no_merge),
        cmocka_unit_test(stars_take_no_quadratic_time),
        cmocka_unit_test(ties_go_to_the_smallest_vertices),
        cmocka_unit_test(a_tree_can_be_cut_anywhere),
        cmocka_unit_test(tiny_graphs_have_trees),
        cmocka_unit_test(larger_graphs_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
