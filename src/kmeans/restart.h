/* Inside K-means: the state of a restart. One run serves restart after restart.
 *
 * Under an engine with slabs every process has such a state for its own rows. Centres are the same
 * on all of them, since they follow from sums over all processes. */
#ifndef HUDDLE_SRC_KMEANS_RESTART_H
#define HUDDLE_SRC_KMEANS_RESTART_H

#include "base/rng.h"
#include "huddle/kmeans.h"
#include "kmeans/compare.h"

/* Weighted sums, weights and numbers of the rows of some clusters: d of each, one and one. They are
 * parts of one array, which ends with one more number; counts are exact in double up to 2^53. */
typedef struct hd_kmeans_sums {
    double *sums, *mass, *counts;
} hd_kmeans_sums;

/* Where the numbers of k-means++ come from. */
typedef struct hd_kmeans_source {
    hd_rng rng;
    const double *draws; /* the next of those that the caller gave, or NULL: those of rng */
} hd_kmeans_source;

/* How a restart ended. */
typedef struct hd_kmeans_outcome {
    double inertia;
    int32_t n_iter;
    huddle_stop stop;
} hd_kmeans_outcome;

/* What a run reports as progress. */
typedef struct hd_kmeans_place {
    int32_t restart, n_restarts; /* which of how many; 0 of 0 if it may not report */
} hd_kmeans_place;

typedef struct hd_kmeans_run {
    const hd_kmeans_data *data;
    hd_kmeans_centres ready;    /* what the rows are compared with */
    hd_kmeans_scratch *scratch; /* one for each worker */
    int32_t n_scratch;

    double *centres, *next; /* c x d */
    hd_kmeans_sums own;     /* c, of the rows of this process */
    hd_kmeans_sums all;     /* c, of all rows; the same array if this process holds all */
    hd_kmeans_sums changes; /* chunks x c: what each chunk of rows changes in them */
    int32_t *labels;        /* n; while seeding: the nearest of the rows chosen so far */
    float *upper, *lower;   /* n: scaled bounds on the distances to the own and to any other
                               centre; while seeding, upper is the squared distance */
    float *move, *gap;      /* c: how far centres moved; half-way to the nearest other */
    int32_t *chosen;        /* c: rows, while seeding */
    float *trial;           /* n x trials: distances to the candidates; NULL if that is too much */
    double *partial;        /* chunks x trials: potentials, inertia */

    int32_t *averaged; /* n: labels whose means the centres are, at the end; NULL: not wanted */
    hd_kmeans_outcome outcome;

    hd_kmeans_place place;
} hd_kmeans_run;

/* n_scratch workers may share the run's loops. */
huddle_status hd_kmeans_run_new(const hd_kmeans_data *data, int32_t n_scratch, hd_kmeans_run *run);
void hd_kmeans_run_free(hd_kmeans_run *run);

/* The bytes that a run on n dense rows takes, with the data that restarts share; seeded: its
 * centres are drawn by k-means++. */
int64_t hd_kmeans_run_memory(int64_t n, int64_t d, int64_t c, bool seeded, int32_t n_scratch);

/* The same of all restarts on n rows (restarts.c), and of their samples (sampled.c), 0 if there are
 * none. */
int64_t hd_kmeans_restarts_memory(int64_t n, int64_t d, int32_t c, int32_t count, bool seeded,
                                  int32_t workers);
int64_t hd_kmeans_sampled_memory(int64_t n, int64_t d, const huddle_kmeans_options *options,
                                 int32_t workers);

/* Reports progress, `part` of this restart being done, and checks for cancelling. */
huddle_status hd_kmeans_report(const hd_kmeans_run *run, double part);

/* Candidates for each further centre of k-means++: the one that lowers the sum most is kept. */
int32_t hd_kmeans_trials(int32_t c);

/* Sets run->centres to rows chosen at random by the method `init`. */
huddle_status hd_kmeans_seed(hd_kmeans_run *run, const char *init, hd_kmeans_source *source);

/* Lloyd's iteration from run->centres on, with max_iter, tol and log_iterations. Leaves centres,
 * the labels nearest to them, and the outcome. */
huddle_status hd_kmeans_lloyd(hd_kmeans_run *run, const huddle_kmeans_options *options);

/* Restarts on the same rows, and what is to be kept of them. */
typedef struct hd_kmeans_restarts {
    const hd_kmeans_data *data;
    const huddle_kmeans_options *options; /* n_clusters, max_iter, tol, init and seed */
    int32_t count;
    const double *starts; /* count x c x d: where they begin; NULL: at centres drawn at random */
    int32_t part, parts;  /* only every parts-th, from this one on; parts = 0: all */

    /* Results. The last two may be NULL if they are not wanted. */
    int32_t best;
    hd_kmeans_outcome outcome; /* of the best */
    double *inertias;          /* count */
    double *ends;              /* count x c x d: final centres */
    int32_t *start_labels;     /* count x n */
} hd_kmeans_restarts;

/* Runs the restarts (restarts.c). result, if not NULL, gets labels and centres of the best. */
huddle_status hd_kmeans_run_restarts(hd_kmeans_restarts *set, huddle_kmeans_result *result);

/* What the info says of them. It takes over inertias and start_labels. */
void hd_kmeans_give_info(hd_kmeans_restarts *set, huddle_kmeans_info *info);

/* A way to cluster rows, in the coordinates of x without its shift. Where it does not apply, it
 * leaves result->labels NULL. */
typedef huddle_status hd_kmeans_way(huddle_context *context, const huddle_points *x,
                                    const double *row_weights, const huddle_kmeans_options *options,
                                    huddle_kmeans_result *result, huddle_kmeans_info *info);

/* Many rows (sampled.c): restarts begin on a sample, and the best continue on all rows. */
hd_kmeans_way hd_kmeans_try_sampled;

/* The context's engine (kmeans.c). */
hd_kmeans_way hd_kmeans_try_engine;

/* Few rows that are distributed over processes (gathered.c): each runs some of the restarts on all
 * rows. */
hd_kmeans_way hd_kmeans_try_gathered;

/* Always applies (restarts.c): runs all restarts and takes the best. */
hd_kmeans_way hd_kmeans_try_restarts;

/* Whether there are at least c distinct rows, of one process. */
huddle_status hd_kmeans_has_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                     bool *enough);

/* The case of fewer distinct rows than clusters (few_rows.c): they are the centres, and the first
 * is repeated. Otherwise leaves result->labels NULL. */
huddle_status hd_kmeans_place_few_rows(huddle_context *context, const huddle_points *x,
                                       const huddle_kmeans_options *options,
                                       huddle_kmeans_result *result, huddle_kmeans_info *info);

#endif
