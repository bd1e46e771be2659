/* The memory of a restart. It is allocated once per worker and reused by its restarts. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <string.h>

/* Distances to the candidates of k-means++ are kept up to this many floats (16 MB), so that those
 * to the chosen candidate need not be computed again. */
enum { MAX_TRIAL_DISTANCES = 4 << 20 };

static huddle_status new_sums(int64_t clusters, int64_t d, hd_kmeans_sums *sums) {
    huddle_status status = HUDDLE_OK;
    ALLOC(sums->sums, clusters * (d + 2) + 1);
    sums->mass = sums->sums + clusters * d;
    sums->counts = sums->mass + clusters;
done:
    return status;
}

/* Sizes follow from the data and from the number of workers that share the loops of a run. */
huddle_status hd_kmeans_run_new(const hd_kmeans_data *data, int32_t n_scratch, hd_kmeans_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t n = data->x->n, d = data->x->d, c = data->c, trials = hd_kmeans_trials(data->c);
    *run = (hd_kmeans_run){.data = data};
    run->n_scratch = n_scratch;
    TRY(hd_kmeans_scratch_new(n_scratch, data->c, &run->scratch));
    TRY(hd_kmeans_centres_new(data, data->c, &run->ready));
    ALLOC(run->centres, c * d);
    ALLOC(run->next, c * d);
    TRY(new_sums(c, d, &run->own));
    /* With one process, own and all sums are the same array, and no reduction copies it. */
    run->all = run->own;
    if (!data->whole)
        TRY(new_sums(c, d, &run->all));
    ALLOC(run->move, c);
    ALLOC(run->gap, c);
    ALLOC(run->chosen, c);
    /* Optional: without it, k-means++ computes the distances to the chosen candidate twice. */
    if (n * trials <= MAX_TRIAL_DISTANCES)
        ALLOC(run->trial, n * trials);
    ALLOC(run->labels, n);
    ALLOC(run->upper, n);
    ALLOC(run->lower, n);
    /* These are the largest arrays; the size of chunks limits them (hd_kmeans_grain()). */
    TRY(new_sums(data->chunks * c, d, &run->changes));
    ALLOC_ZERO(run->partial, data->chunks * trials);
done:
    if (status != HUDDLE_OK)
        hd_kmeans_run_free(run);
    return status;
}

/* The bytes of the above, the data (hd_kmeans_data_new()) and the best labels and centres, for
 * dense rows. Small arrays of a few numbers for each column or cluster are left out. */
int64_t hd_kmeans_run_memory(int64_t n, int64_t d, int64_t c, bool seeded, int32_t n_scratch) {
    int64_t trials = hd_kmeans_trials((int32_t)c), real = sizeof(double);
    int64_t chunks = hd_chunks(n, hd_kmeans_grain(n, d, c));
    int64_t of_rows = n * (int64_t)(3 * sizeof(float) + 2 * sizeof(int32_t)); /* with norms, best */
    int64_t of_trials =
        seeded && n * trials <= MAX_TRIAL_DISTANCES ? n * trials * (int64_t)sizeof(float) : 0;
    int64_t of_chunks = chunks * (c * (d + 3) + trials) * real;
    int64_t of_scratch =
        n_scratch * (HD_KMEANS_PANEL + c) * HD_KMEANS_BLOCK * (int64_t)sizeof(float);
    return of_rows + of_trials + of_chunks + of_scratch + 6 * c * d * real;
}

/* Safe after a partial allocation, since all pointers are NULL before. */
void hd_kmeans_run_free(hd_kmeans_run *run) {
    hd_kmeans_scratch_free(run->n_scratch, run->scratch);
    hd_kmeans_centres_free(&run->ready);
    /* Shared with own if this process holds all rows. */
    if (run->all.sums != run->own.sums)
        huddle_free(run->all.sums);
    FREE(run->centres, run->next, run->own.sums, run->changes.sums, run->move, run->gap,
         run->chosen, run->trial, run->labels, run->averaged, run->upper, run->lower, run->partial);
    memset(run, 0, sizeof *run);
}

/* Restarts that run in parallel report through hd_parallel() instead, so n_restarts is 0 there. */
huddle_status hd_kmeans_report(const hd_kmeans_run *run, double part) {
    if (run->place.n_restarts == 0)
        return HUDDLE_OK;
    return hd_progress(run->data->context, "kmeans", run->place.restart + part,
                       run->place.n_restarts);
}
