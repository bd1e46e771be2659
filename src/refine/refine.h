/* The inside of the stage: what its files share. A graph is checked once and then used through
 * hd_refine_graph; weights are shares of its total weight throughout, so that all formulas are
 * those of docs/method.md, "Refinement". */
#ifndef HUDDLE_SRC_REFINE_REFINE_H
#define HUDDLE_SRC_REFINE_REFINE_H

#include "base/context.h"
#include "huddle/refine.h"

/* A checked graph. The share of an entry is its value times `unit`. */
typedef struct hd_refine_graph {
    const huddle_csr *matrix; /* the caller's, or &own */
    huddle_csr own;           /* of an ordered graph */
    int64_t n;
    double unit;    /* 1 / total weight; 0 for a graph without edges */
    double *degree; /* n: shares; a loop counts once */
    double hidden; /* entropy of the vertices that those of a contracted graph consist of; else 0 */
} hd_refine_graph;

/* Checks that the matrix is square, finite, not negative and symmetric, and adds the degrees. */
huddle_status hd_refine_graph_new(huddle_context *context, const huddle_csr *matrix,
                                  hd_refine_graph *graph);
void hd_refine_graph_free(hd_refine_graph *graph);

/* Adds degrees and unit to a graph that has its matrix and n, by the weight of all processes,
 * *total. Freed by the caller also after a failure. */
huddle_status hd_refine_graph_weigh(huddle_context *context, hd_refine_graph *graph, double *total);

/* The same graph with its vertices in another order: vertex k of `ordered`, which must not be moved
 * in memory, is order[k] of graph. */
huddle_status hd_refine_graph_order(const hd_refine_graph *graph, const int32_t *order,
                                    hd_refine_graph *ordered);

/* ---- merging ------------------------------------------------------------------------------- */

/* Which pair of clusters is merged next: that of the largest gain. */
typedef struct hd_refine_rule {
    double resolution; /* of modularity */
    double (*gain)(double weight, double v_a, double v_b, double resolution);
    int32_t long_list; /* clusters with more neighbours than this are kept as hubs (hub.h) */
} hd_refine_rule;

hd_refine_rule hd_refine_rule_sum(void);
hd_refine_rule hd_refine_rule_modularity(double resolution);

/* Pairs of clusters with an edge between them, in the form of a graph: row k has the clusters that
 * cluster k is joined to, itself left out. Without labels every vertex is a cluster. */
typedef struct hd_refine_quotient {
    int64_t n;        /* clusters */
    int64_t *offsets; /* n + 1 */
    int32_t *columns;
    double *weights; /* shares */
    double *volumes; /* n: shares */
    int32_t *sizes;  /* n: vertices */
} hd_refine_quotient;

/* An empty one with room for so many entries; freed by the caller also after a failure. */
huddle_status hd_refine_quotient_allocate(int64_t n, int64_t room, hd_refine_quotient *quotient);

huddle_status hd_refine_quotient_new(const hd_refine_graph *graph, const int32_t *labels,
                                     int64_t n_clusters, hd_refine_quotient *quotient);
void hd_refine_quotient_free(hd_refine_quotient *quotient);

/* Merges the clusters of the quotient until n_clusters are left: merge t joins the clusters of
 * first[t] and second[t], each named by its smallest member. Both arrays have n - n_clusters
 * places. The pair of the largest gain, compared in single precision, is merged first; among equal
 * ones that with the smallest first, then the smallest second. Where no edge is left, the cluster
 * of fewest vertices is merged with the next smallest, ties again by the smallest member; unless
 * n_merges is not NULL: then it ends there, and *n_merges is how many merges were made. `stage` is
 * the name under which progress is reported; NULL in parallel loops. */
huddle_status hd_refine_agglomerate(huddle_context *context, const hd_refine_quotient *quotient,
                                    const char *stage, hd_refine_rule rule, int64_t n_clusters,
                                    int32_t *first, int32_t *second, int64_t *n_merges);

/* The tree of a checked graph, freed by huddle_refine_tree_free() also after a failure. */
huddle_status hd_refine_tree_new(huddle_context *context, const hd_refine_graph *graph,
                                 huddle_refine_tree *tree);

/* The vertices in the order of the leaves of the tree: clusters at every level are consecutive, and
 * vertices that are joined by edges near each other. HUDDLE_INVALID if it is no tree of n vertices.
 */
huddle_status hd_refine_tree_order(const huddle_refine_tree *tree, int32_t *order);

/* The clusters 0 .. n - n_merges - 1 of n members after the merges, numbered by first occurrence.
 */
huddle_status hd_refine_cut(int64_t n, int64_t n_merges, const int32_t *first,
                            const int32_t *second, int32_t *labels);

/* Merges the clusters 0 .. *n_labels - 1 of labels down to n_clusters by modularity; both change
 * in place. */
huddle_status hd_refine_merge_labels(huddle_context *context, const hd_refine_graph *graph,
                                     double resolution, int64_t n_clusters, int32_t *labels,
                                     int64_t *n_labels);

/* ---- moves --------------------------------------------------------------------------------- */

/* An objective is common(f) + sum_k term(d_k, v_k): f the share of weight inside clusters, d_k that
 * inside cluster k, v_k its volume. */
typedef struct hd_refine_objective {
    const char *name;
    double (*common)(double inside);
    double (*term)(double inside, double volume);
    /* The same from the scores of a labelling, and the size with which a gain is compared. */
    double (*value)(const huddle_graph_scores *scores);
    double (*scale)(const huddle_graph_scores *scores, int32_t n_clusters);
} hd_refine_objective;

/* x ln x, 0 at 0. */
double hd_refine_h(double x);

extern const char *const hd_refine_objective_names[];
const hd_refine_objective *hd_refine_objective_find(const char *name);

/* At most max_sweeps over the vertices; labels 0 .. n_clusters - 1, none without vertices. */
huddle_status hd_refine_move(huddle_context *context, const hd_refine_graph *graph,
                             const hd_refine_objective *objective, int64_t n_clusters,
                             int32_t max_sweeps, uint64_t seed, int32_t *labels, int32_t *n_sweeps);

/* The same on rows that are distributed over processes (move.c). The matrix has the own rows, its
 * columns are numbers among all. Every process moves its own vertices with the labels that the
 * others had before the round; a round that does not lower the objective is undone and repeated
 * with fewer vertices. */
huddle_status hd_refine_move_distributed(huddle_context *context, const huddle_csr *matrix,
                                         const hd_refine_objective *objective, int64_t n_clusters,
                                         int32_t max_sweeps, uint64_t seed, int32_t *labels,
                                         int32_t *n_sweeps);

/* ---- labels -------------------------------------------------------------------------------- */

/* Renumbers labels 0 .. n_clusters - 1 of all processes in place: so that most vertices keep their
 * label of `reference` if that has exactly these values, else by first occurrence. n_changed: the
 * vertices whose label differs from that of the reference when clusters are matched so that as few
 * as possible do. */
huddle_status hd_refine_number(huddle_context *context, int64_t n, int32_t n_clusters,
                               const int32_t *reference, int32_t *labels, int64_t *n_changed);

/* The resolution at which modularity is the likelihood of a planted partition of that many equal
 * clusters with this share of weight inside, taken as at least 1/2. */
double hd_refine_planted_resolution(double inside, int64_t n_clusters);

/* ---- the whole ----------------------------------------------------------------------------- */

/* HUDDLE_INVALID unless that many clusters are possible among n vertices. */
huddle_status hd_refine_check_clusters(int32_t n_clusters, int64_t n);

/* Sets n_clusters to the number of different labels of the start if it is HUDDLE_AUTO, and checks
 * it. */
huddle_status hd_refine_complete(int64_t n, const huddle_refine_start *start,
                                 huddle_refine_options *options);

/* Refines the starts with a checked graph and complete options; see huddle_refine_with_tree(). */
huddle_status hd_refine_run(huddle_context *context, const hd_refine_graph *graph,
                            const huddle_refine_tree *tree, int32_t n_starts,
                            const huddle_refine_start *starts, const huddle_refine_options *options,
                            int32_t *labels, huddle_refine_info *info);

/* ---- rows on several processes (distributed.c) ----------------------------------------------- */

/* Vertices of all processes up to which process 0 gets the graph as it is: the result is that of
 * one process then. */
enum { HD_REFINE_BUDGET = 1 << 18 };

/* hd_refine_run() on rows that are distributed over processes, with complete options but for
 * n_clusters. Process 0 refines the graph itself if it has at most `budget` vertices, else a
 * contracted one of about as many; moves on the processes follow then. */
huddle_status hd_refine_distributed(huddle_context *context, const huddle_csr *matrix,
                                    int64_t budget, int32_t n_starts,
                                    const huddle_refine_start *starts,
                                    const huddle_refine_options *options, int32_t *labels,
                                    huddle_refine_info *info);

/* A graph of which each vertex is a set of vertices that are on one process and have the same
 * labels in all starts; the columns are numbers among the sets of all processes (contract.c). */
typedef struct hd_refine_contraction {
    huddle_csr graph;
    int64_t n, total; /* sets of this process and of all */
    int32_t *set;     /* for each own vertex its set, from 0 on this process */
    int32_t *member;  /* n: a vertex of each set */
    double entropy;   /* what the entropy of the vertices is more than that of the sets */
} hd_refine_contraction;

/* The starts have a label for each own vertex. About `budget` sets over all processes; more if
 * there are more combinations of labels. */
huddle_status hd_refine_contract(huddle_context *context, const huddle_csr *matrix, int64_t budget,
                                 int32_t n_starts, const huddle_refine_start *starts,
                                 hd_refine_contraction *contraction);
void hd_refine_contraction_free(hd_refine_contraction *contraction);

#endif
