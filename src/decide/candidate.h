/* How prepare = auto evaluates one candidate; the rounds are in preparation.c. */
#ifndef HUDDLE_SRC_DECIDE_CANDIDATE_H
#define HUDDLE_SRC_DECIDE_CANDIDATE_H

#include "steps/options.h"

/* What a round evaluates its candidates with. */
typedef struct hd_decide_round {
    huddle_context *context;
    hd_spectral_options options; /* of the trial clusterings */
    bool refines;                /* whether their labels are refined */
    bool screens;                /* whether merging alone may rule candidates out */
    const huddle_points *x;
    const huddle_preparation *widest;    /* from which projections are derived, */
    const huddle_points *whitened;       /* and x prepared by it */
    struct hd_decide_candidate *checked; /* rule none, embedded already, or NULL */
    huddle_range n_clusters;             /* for which the graphs are connected and embedded */
    hd_fit_prepare_trials *trials;       /* has the numbers of clusters and the score */
} hd_decide_round;

/* A candidate in a round, with what was made of its points: graph, tree of merges, embedding and,
 * with n_clusters = auto, the choice. The prepared points are not kept. */
typedef struct hd_decide_candidate {
    huddle_prepare_trial trial;
    hd_fit fit;
} hd_decide_candidate;

/* Whether a rule projects the points onto principal components. */
bool hd_decide_projects(const huddle_rule *rule);

/* Makes what is missing of the graph and, unless it is scored by merging alone, the embedding of
 * the points that a candidate produces; with auto also the numbers that its eigengaps suggest. */
huddle_status hd_decide_embed(const hd_decide_round *judge, hd_decide_candidate *c);

/* Scores a candidate that was embedded, by the score of the trials. */
huddle_status hd_decide_score(const hd_decide_round *judge, hd_decide_candidate *c);

/* Makes the graph of a candidate and scores clusters found by merging alone, which needs no
 * eigenvectors and no K-means: the mean over the numbers of clusters of the scores with the largest
 * divergence. */
huddle_status hd_decide_screen(const hd_decide_round *judge, hd_decide_candidate *c);

/* The scores of clusters that are found by merging alone, in a fit with a graph and its tree, for
 * one number of them. */
huddle_status hd_decide_score_merged(huddle_context *context, uint64_t seed, int32_t n_clusters,
                                     hd_fit *fit, huddle_graph_scores *scores);

/* The numbers that n_clusters = auto chooses from, for n points. */
huddle_range hd_decide_all_numbers(int64_t n);

/* The score by which candidates are ranked. */
double hd_decide_score_of(const huddle_prepare_trial *trial, huddle_prepare_score score);

#endif
