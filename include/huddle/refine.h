/* Huddle, refine: improves labellings of the vertices of a graph.
 *
 * The stage takes a weighted graph and labellings of its vertices (the starts), adds starts of its
 * own made by merging clusters, lowers an objective of each by moving single vertices to the
 * clusters of their neighbours, and returns the best. Of the given starts the one with the smallest
 * normalised cut is the reference. It is returned unless another is clearly better: smaller in the
 * objective by a share of the description length, and not much worse in the normalised cut.
 * docs/method.md, "Refinement", has the mathematics.
 *
 * Graphs are symmetric with weights >= 0, as those of huddle/graph.h; loops count once. Others are
 * refused; huddle_csr_symmetric_part() makes them symmetric. All results
 * are deterministic for a seed, and the same for any number of threads.
 *
 * Under an engine that distributes rows over processes each gives the rows of the graph and the
 * labels that it has; columns are numbers among all rows. Process 0 refines the whole graph if it
 * has at most 2^18 vertices; otherwise it gets a graph in which the processes have merged vertices
 * of the same labels, and all processes move vertices afterwards. Merge trees need all vertices on
 * one process: HUDDLE_UNSUPPORTED.
 */
#ifndef HUDDLE_REFINE_H
#define HUDDLE_REFINE_H

#include "huddle/metrics.h"

/* Start from huddle_refine_defaults(), then change what you need.
 *
 * Objectives, all minimised: "map", the two-level map equation L; "modularity", 1 - Q; "ncut", the
 * normalised cut. A start must be smaller in the objective than the reference by least_gain times
 * the description length L + H of the reference; for modularity by least_gain, for ncut by
 * least_gain times the number of clusters. */
typedef struct huddle_refine_options {
    int32_t n_clusters;    /* HUDDLE_AUTO: the number of different labels of the first start */
    const char *objective; /* "map", "modularity" or "ncut" */
    bool merge;            /* also try starts made by merging clusters */
    int32_t max_sweeps;    /* maximum number of sweeps at the final number of clusters */
    double cut_slack;      /* another start may have (1 + cut_slack) times the reference's cut, */
    double least_gain;     /* and must gain this share of the description length */
    uint64_t seed;         /* of the order in which vertices are visited */
} huddle_refine_options;

/* Option table: objective, merge, max_sweeps, cut_slack, least_gain, seed. */
HUDDLE_API const huddle_option *huddle_refine_options_table(void);
HUDDLE_API huddle_refine_options huddle_refine_defaults(void);

/* A labelling to start from: any int32 values, one per vertex. A start may have more different
 * labels than n_clusters, and is then merged down to it; it must not have fewer. */
typedef struct huddle_refine_start {
    const char *name; /* static text, at most 15 characters */
    const int32_t *labels;
} huddle_refine_start;

/* What became of a start. */
typedef struct huddle_refine_trial {
    char name[16];              /* that of the start, or "sum", "levels1", "levels2", "levelsT" */
    huddle_graph_scores scores; /* after the moves */
    int32_t n_sweeps;           /* at the final number of clusters, including the last, which
                                   moves nothing */
    bool allowed;               /* it is the reference or may replace it */
} huddle_refine_trial;

enum { HUDDLE_REFINE_MAX_TRIALS = 16 };

typedef struct huddle_refine_info {
    int32_t n_trials;
    huddle_refine_trial trials[HUDDLE_REFINE_MAX_TRIALS]; /* the given starts first */
    int32_t reference; /* the given start with the smallest cut */
    int32_t best;      /* the trial whose labels are returned */
    int64_t n_changed; /* vertices whose label differs from that of the first start, clusters
                          matched so that as few as possible do */
    double seconds;
} huddle_refine_info;

/* Refines the starts, at least one, and returns the best labels: 0 .. n_clusters - 1, numbered so
 * that as many vertices as possible keep the label of the first start (if that has the labels 0 ..
 * n_clusters - 1 and no others; else by first occurrence). labels is the caller's, one per vertex.
 * info may be NULL. Progress is reported as stages "merge", if a tree is made, and "refine".
 * HUDDLE_INVALID naming the place, HUDDLE_NO_MEMORY, HUDDLE_CANCELLED. */
HUDDLE_API huddle_status huddle_refine(huddle_context *context, const huddle_csr *graph,
                                       int32_t n_starts, const huddle_refine_start *starts,
                                       const huddle_refine_options *options, int32_t *labels,
                                       huddle_refine_info *info);

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Moves single vertices to neighbours' clusters while that lowers the objective, in at most
 * max_sweeps sweeps; no cluster becomes empty. The first sweep visits all vertices that have a
 * neighbour in another cluster, later ones those whose neighbours have moved since, and the last
 * one all again: if it ends before max_sweeps, no single move lowers the objective. labels: 0 ..
 * n_clusters - 1, changed in place; HUDDLE_AUTO as n_clusters: the largest label + 1. n_sweeps may
 * be NULL. */
HUDDLE_API huddle_status huddle_refine_move(huddle_context *context, const huddle_csr *graph,
                                            const huddle_refine_options *options, int32_t *labels,
                                            int32_t *n_sweeps);

/* The merge tree: the order in which clusters of a graph are merged, from single vertices to one
 * cluster. Always the pair with the largest w_ab (1 / v_a^2 + 1 / v_b^2) is merged; if no edge is
 * left, the two clusters of fewest vertices. A cluster is named by its smallest vertex; of pairs
 * that are equal in single precision, the one with the smallest first is merged, then that with the
 * smallest second. */
typedef struct huddle_refine_tree {
    int64_t n;       /* vertices; there are n - 1 merges */
    int32_t *first;  /* n - 1: merge t joins the clusters of these two vertices, */
    int32_t *second; /* first[t] < second[t] */
} huddle_refine_tree;

/* A graph of a million vertices and three million edges takes about 5 seconds; a vertex with D
 * neighbours, or a cluster that grows to as many, adds up to D^2 / 2 steps. */
HUDDLE_API huddle_status huddle_refine_merge(huddle_context *context, const huddle_csr *graph,
                                             huddle_refine_tree *tree);
HUDDLE_API void huddle_refine_tree_free(huddle_refine_tree *tree);

/* The labels after all but n_clusters - 1 merges: 0 .. n_clusters - 1, numbered by first
 * occurrence. */
HUDDLE_API huddle_status huddle_refine_cut_tree(const huddle_refine_tree *tree, int32_t n_clusters,
                                                int32_t *labels);

/* As huddle_refine(), with a merge tree of the same graph that was made before (NULL: made here if
 * merge is set). One tree serves all numbers of clusters. */
HUDDLE_API huddle_status huddle_refine_with_tree(huddle_context *context, const huddle_csr *graph,
                                                 const huddle_refine_tree *tree, int32_t n_starts,
                                                 const huddle_refine_start *starts,
                                                 const huddle_refine_options *options,
                                                 int32_t *labels, huddle_refine_info *info);

#endif
