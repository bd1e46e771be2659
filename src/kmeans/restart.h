/* Inside K-means: the state of a restart. One run serves restart after restart. */
#ifndef HUDDLE_SRC_KMEANS_RUN_H
#define HUDDLE_SRC_KMEANS_RUN_H

#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/compare.h"

typedef struct hd_kmeans_run {
    const hd_kmeans_data *data;
    hd_kmeans_centres ready;    /* what the rows are compared with */
    hd_kmeans_scratch *scratch; /* one for each worker */
    int32_t n_scratch;

    double *centres, *next; /* c x d */
    double *sums, *mass;    /* weighted sums and weights of the clusters: c x d, c */
    int64_t *counts;        /* c */
    int32_t *labels;        /* n; while seeding: the nearest of the rows chosen so far */
    float *upper, *lower;   /* n: scaled bounds on the distances to the own and to any other
                               centre; while seeding, upper is the squared distance */
    float *move, *gap;      /* c: how far centres moved; half-way to the nearest other */
    int32_t *chosen;        /* c: rows, while seeding */
    float *trial;           /* n x trials: distances to the candidates; NULL if that is too much */

    /* What each chunk of rows changes: chunks x c (x d), valid where touched. */
    double *delta_sums, *delta_mass;
    int64_t *delta_counts;
    unsigned char *touched;
    int64_t *changed; /* chunks: rows with a new label */
    double *partial;  /* chunks x trials: potentials, inertia */

    /* Outcome. */
    double inertia;
    int32_t n_iter;
    huddle_stop stop;

    /* Where in the whole this restart stands, if it may report progress. */
    bool reports;
    int32_t restart, n_restarts;
} hd_kmeans_run;

/* n_scratch workers may share the run's loops. */
huddle_status hd_kmeans_run_new(const hd_kmeans_data *data, int32_t n_scratch, hd_kmeans_run *run);
void hd_kmeans_run_free(hd_kmeans_run *run);

/* Reports progress, `part` of this restart being done, and checks for cancelling. */
huddle_status hd_kmeans_report(const hd_kmeans_run *run, double part);

/* Candidates for each further centre of k-means++: the one that lowers the sum most is kept. */
int32_t hd_kmeans_trials(int32_t c);

/* Sets run->centres to rows chosen at random, as init says. */
huddle_status hd_kmeans_seed(hd_kmeans_run *run, const char *init, hd_rng *rng);

/* Lloyd's iteration from run->centres on. Leaves centres, the labels nearest to them, and the
 * outcome. */
huddle_status hd_kmeans_lloyd(hd_kmeans_run *run, int32_t max_iter, double tol);

/* Counts distinct rows up to c; rows[0 .. *count - 1] are the first of each. If there are fewer
 * than c, labels (n) tells which of them each row equals. */
huddle_status hd_kmeans_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                 int32_t *rows, int32_t *labels, int32_t *count);

#endif
