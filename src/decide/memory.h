/* How much memory a fit will need, before it begins, and what is done if that is too much.
 *
 * A prediction has one number for each stage (base/stages.h): the bytes of all arrays that are in
 * use at its peak, those that earlier stages leave included. The formulas follow the allocations of
 * the stages; where their sizes depend on the data (edges of a graph, fill-in of a factorisation)
 * they use typical values. tests/cli/memory.t compares them with measured peaks.
 *
 * A stage that an engine computes needs its results and what remains the host's work there (samples
 * of points, starts and levels of the refinement), and the rest in the memory of the engine, which
 * says what it needs and has (predict_memory() of base/engine.h). No economy is made for such a
 * stage: those of the shrink step name a solver of the CPU.
 *
 * What does not fit is made leaner step by step, in the order of the method's economies; one
 * that does not change the peak is left out. Options that the user has set are not changed. */
#ifndef HUDDLE_SRC_DECIDE_MEMORY_H
#define HUDDLE_SRC_DECIDE_MEMORY_H

#include "steps/options.h"

/* The sizes that a prediction depends on. */
typedef struct hd_decide_sizes {
    int64_t n, d;        /* rows and features of x; d = 0: a graph or an embedding was given */
    int64_t nonzeros;    /* of sparse points; dense: -1 */
    int64_t graph_edges; /* entries of a graph that was given; else 0 */
    int64_t n_clusters;  /* the largest number that is computed */
    int32_t n_threads;
    int32_t n_views; /* whose features and entries are added up above; 0: one */
} hd_decide_sizes;

typedef struct hd_decide_memory {
    int64_t stages[HD_STAGE_COUNT]; /* 0: does not run */
    int64_t freed[HD_STAGE_COUNT];  /* of that, what an engine that computes the stage saves */
    int64_t kept;                   /* what the stages so far leave */
} hd_decide_memory;

/* Preparation and K-means on the points; for methods without a prediction of their own. */
void hd_decide_memory_of_points(const hd_decide_sizes *x, const void *options,
                                hd_decide_memory *needed);

/* Methods whose options begin with hd_spectral_options, with K-means on their rows. */
void hd_decide_memory_of_spectral(const hd_decide_sizes *x, const void *options,
                                  hd_decide_memory *needed);

/* The parts of the above, for methods with steps between: up to the rows of the embedding; then W
 * and the shrink step; then K-means on rows of so many columns, and the refinement. */
void hd_decide_memory_of_embedding(const hd_decide_sizes *x, const hd_spectral_options *given,
                                   hd_decide_memory *needed);
void hd_decide_memory_of_shrink(const hd_decide_sizes *x, int64_t columns, int32_t n_neighbors,
                                const huddle_shrink_options *options, hd_decide_memory *needed);
void hd_decide_memory_of_labels(const hd_decide_sizes *x, int64_t columns,
                                const hd_spectral_options *options, hd_decide_memory *needed);

/* Checks again, when W is known, whether a large shrink step fits, and chooses a leaner solver if
 * it does not and the options leave the choice; HUDDLE_NO_MEMORY if that is not enough. The
 * prediction of the fit is updated. */
huddle_status hd_decide_settle_shrink(huddle_context *context, const huddle_csr *w, int64_t columns,
                                      huddle_shrink_options *options, hd_fit *fit);

/* The economy of every method with refinement: c eigenvectors for its start instead of 2c. */
const char *hd_decide_economise_spectral(void *options, int32_t step);

/* What the prediction knows of a method. */
typedef struct hd_decide_memory_needs {
    /* Predicts the memory of a fit; NULL: preparation and K-means. */
    void (*predict)(const hd_decide_sizes *x, const void *options, hd_decide_memory *needed);
    /* Changes options that are "auto" so that less memory is needed: the step-th way to do so, in
     * the order in which they are tried. Returns what it changed, "" if that does not apply, NULL
     * if there is no such step. NULL: there are none. */
    const char *(*economise)(void *options, int32_t step);
} hd_decide_memory_needs;

/* Predicts the memory of a fit, checks it against the context's limit and the machine, and changes
 * options where that makes it fit. HUDDLE_NO_MEMORY, with what is needed, if nothing does. */
huddle_status hd_decide_settle_memory(huddle_context *context, const hd_decide_memory_needs *needs,
                                      const hd_step_job *job, void *options, size_t options_size,
                                      hd_fit_memory *memory);

#endif
