/* The merge tree, and labels from merges. */
#include "base/check.h"
#include "base/slabs.h"
#include "base/union.h"
#include "refine/refine.h"

#include <string.h>

void huddle_refine_tree_free(huddle_refine_tree *tree) {
    FREE(tree->first, tree->second);
    memset(tree, 0, sizeof *tree);
}

/* One tree serves all numbers of clusters: cutting it early leaves more. The gain (26) contains
 * neither a parameter nor the wanted number, so that the merges are the same for all of them; (27)
 * contains a resolution, by (28) another one for each number, and the levels merge anew
 * (trials.c). */
huddle_status hd_refine_tree_new(huddle_context *context, const hd_refine_graph *graph,
                                 huddle_refine_tree *tree) {
    huddle_status status = HUDDLE_OK;
    hd_refine_quotient single = {0};
    TRY(hd_refine_quotient_new(graph, NULL, graph->n, &single));
    tree->n = graph->n;
    ALLOC(tree->first, graph->n - 1);
    ALLOC(tree->second, graph->n - 1);
    TRY(hd_refine_agglomerate(context, &single, "merge", hd_refine_rule_sum(), 1, tree->first,
                              tree->second, NULL));
done:
    hd_refine_quotient_free(&single);
    return status;
}

huddle_status huddle_refine_merge(huddle_context *context, const huddle_csr *matrix,
                                  huddle_refine_tree *tree) {
    huddle_status status = HUDDLE_OK;
    hd_refine_graph graph = {0};
    memset(tree, 0, sizeof *tree);
    TRY(hd_slabs_refuse(context, "merging the clusters of a graph"));
    TRY(hd_refine_graph_new(context, matrix, &graph));
    TRY(hd_refine_tree_new(context, &graph, tree));
done:
    hd_refine_graph_free(&graph);
    if (status != HUDDLE_OK)
        huddle_refine_tree_free(tree);
    return hd_agree(context, status);
}

/* A tree may come from a file or a caller: its numbers are used as indices. */
static huddle_status check_merge(const huddle_refine_tree *tree, int64_t t) {
    if (tree->first[t] < 0 || tree->first[t] >= tree->n || tree->second[t] < 0 ||
        tree->second[t] >= tree->n)
        return hd_fail(
            HUDDLE_INVALID, "merge %lld of the tree names the vertices %d and %d of %lld",
            (long long)t + 1, tree->first[t] + 1, tree->second[t] + 1, (long long)tree->n);
    return HUDDLE_OK;
}

/* Each cluster is a linked list from its smallest vertex, the root of union-find; a merge appends
 * one list to the other, so that every cluster of the tree is a run of the last list, which is that
 * of all, from vertex 0. */
huddle_status hd_refine_tree_order(const huddle_refine_tree *tree, int32_t *order) {
    huddle_status status = HUDDLE_OK;
    int32_t *parent = NULL, *next = NULL, *last = NULL;
    ALLOC(parent, tree->n);
    ALLOC(next, tree->n);
    ALLOC(last, tree->n);
    for (int64_t i = 0; i < tree->n; i++)
        parent[i] = last[i] = (int32_t)i;
    for (int64_t t = 0; t < tree->n - 1; t++) {
        TRY(check_merge(tree, t));
        int32_t x = hd_find_root(parent, tree->first[t]);
        int32_t y = hd_find_root(parent, tree->second[t]);
        int32_t a = x < y ? x : y, b = x < y ? y : x;
        if (a == b)
            FAIL(HUDDLE_INVALID, "merge %lld of the tree joins a cluster to itself",
                 (long long)t + 1);
        /* The end of each list is known, so appending takes constant time; the order of the tree
         * costs little more than reading the merges. */
        parent[b] = a;
        next[last[a]] = b;
        last[a] = last[b];
    }
    /* The last vertex of the list has no next one: that entry was never set, and is not read. */
    for (int64_t k = 0, i = 0; k < tree->n; k++, i = k < tree->n ? next[i] : 0)
        order[k] = (int32_t)i;
done:
    FREE(parent, next, last);
    return status;
}

/* The root of a set is its smallest member, so a set gets its number at its root, before its other
 * members are reached. */
huddle_status hd_refine_cut(int64_t n, int64_t n_merges, const int32_t *first,
                            const int32_t *second, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *parent = NULL, count = 0;
    ALLOC(parent, n);
    for (int64_t i = 0; i < n; i++)
        parent[i] = (int32_t)i;
    for (int64_t t = 0; t < n_merges; t++)
        hd_unite(parent, first[t], second[t]);
    for (int64_t i = 0; i < n; i++) {
        int32_t root = hd_find_root(parent, (int32_t)i);
        labels[i] = root == i ? count++ : labels[root];
    }
    /* A merge of two different sets leaves one set fewer, so more sets than this mean that some
     * merge found both of its vertices in one set: in a tree no merge does. */
    if (count != n - n_merges)
        FAIL(HUDDLE_INVALID, "the tree joins vertices that are in one cluster already");
done:
    huddle_free(parent);
    return status;
}

/* Merges are stored in the order in which they were made: the first n - n_clusters of them are
 * those of a merging that ends at this number. The others are not read, and not checked. */
huddle_status huddle_refine_cut_tree(const huddle_refine_tree *tree, int32_t n_clusters,
                                     int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    if (tree == NULL || labels == NULL || tree->n < 1)
        FAIL(HUDDLE_INVALID, "the tree or the place for the labels is missing");
    TRY(hd_refine_check_clusters(n_clusters, tree->n));
    for (int64_t t = 0; t < tree->n - n_clusters; t++)
        TRY(check_merge(tree, t));
    TRY(hd_refine_cut(tree->n, tree->n - n_clusters, tree->first, tree->second, labels));
done:
    return status;
}

/* The merges are computed on the quotient graph, which is as small as the number of clusters: gains
 * by (27) depend on weights between clusters and volumes, and these add up in a merge. The cost is
 * one pass over the edges and a merging of n_labels vertices. */
huddle_status hd_refine_merge_labels(huddle_context *context, const hd_refine_graph *graph,
                                     double resolution, int64_t n_clusters, int32_t *labels,
                                     int64_t *n_labels) {
    huddle_status status = HUDDLE_OK;
    hd_refine_quotient quotient = {0};
    int32_t *first = NULL, *second = NULL, *merged = NULL;
    int64_t n_merges = *n_labels - n_clusters;
    if (n_merges <= 0)
        goto done;
    TRY(hd_refine_quotient_new(graph, labels, *n_labels, &quotient));
    ALLOC(first, n_merges);
    ALLOC(second, n_merges);
    ALLOC(merged, *n_labels);
    TRY(hd_refine_agglomerate(context, &quotient, NULL, hd_refine_rule_modularity(resolution),
                              n_clusters, first, second, NULL));
    TRY(hd_refine_cut(*n_labels, n_merges, first, second, merged));
    for (int64_t i = 0; i < graph->n; i++)
        labels[i] = merged[labels[i]];
    *n_labels = n_clusters;
done:
    hd_refine_quotient_free(&quotient);
    FREE(first, second, merged);
    return status;
}
