/* The memory of a restart. It is allocated once per worker and reused by its restarts. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <string.h>

/* Distances to the candidates of k-means++ are kept up to this many floats (16 MB), so that those
 * to the chosen candidate need not be computed again. */
enum { MAX_TRIAL_DISTANCES = 4 << 20 };

/* The sums of the chunks are the largest arrays; the size of chunks limits them
 * (hd_kmeans_grain()). */
static huddle_status new_changes(const hd_kmeans_data *data, hd_kmeans_changes *changes) {
    huddle_status status = HUDDLE_OK;
    int64_t cells = data->chunks * data->c;
    ALLOC(changes->sums, cells * data->x->d);
    ALLOC(changes->mass, cells);
    ALLOC(changes->counts, cells);
    ALLOC_ZERO(changes->touched, cells); /* a process without rows changes nothing */
    ALLOC_ZERO(changes->relabelled, data->chunks);
done:
    return status;
}

static void free_changes(hd_kmeans_changes *changes) {
    FREE(changes->sums, changes->mass, changes->counts, changes->touched, changes->relabelled);
}

static huddle_status new_sums(const hd_kmeans_data *data, hd_kmeans_sums *sums) {
    huddle_status status = HUDDLE_OK;
    ALLOC(sums->sums, data->c * data->x->d);
    ALLOC(sums->mass, data->c);
    ALLOC(sums->counts, data->c);
done:
    return status;
}

static void free_sums(hd_kmeans_sums *sums) {
    FREE(sums->sums, sums->mass, sums->counts);
}

/* Sizes follow from the data and from the number of workers that share the loops of a run. */
huddle_status hd_kmeans_run_new(const hd_kmeans_data *data, int32_t n_scratch, hd_kmeans_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t n = data->x->n, d = data->x->d, c = data->c, trials = hd_kmeans_trials(data->c);
    *run = (hd_kmeans_run){.data = data};
    ALLOC_ZERO(run->scratch, n_scratch);
    run->n_scratch = n_scratch;
    for (int32_t i = 0; i < n_scratch; i++)
        TRY(hd_kmeans_scratch_new(data, data->c, &run->scratch[i]));
    TRY(hd_kmeans_centres_new(data, data->c, &run->ready));
    ALLOC(run->centres, c * d);
    ALLOC(run->next, c * d);
    TRY(new_sums(data, &run->own));
    /* With one process, own and all sums are the same arrays, and no reduction copies them. */
    if (data->whole)
        run->all = run->own;
    else
        TRY(new_sums(data, &run->all));
    ALLOC(run->move, c);
    ALLOC(run->gap, c);
    ALLOC(run->chosen, c);
    /* Optional: without it, k-means++ computes the distances to the chosen candidate twice. */
    if (n * trials <= MAX_TRIAL_DISTANCES)
        ALLOC(run->trial, n * trials);
    ALLOC(run->labels, n);
    ALLOC(run->upper, n);
    ALLOC(run->lower, n);
    TRY(new_changes(data, &run->changes));
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
    for (int32_t i = 0; i < run->n_scratch; i++)
        hd_kmeans_scratch_free(&run->scratch[i]);
    huddle_free(run->scratch);
    hd_kmeans_centres_free(&run->ready);
    FREE(run->centres, run->next);
    /* Shared with own if this process holds all rows. */
    if (run->all.sums != run->own.sums)
        free_sums(&run->all);
    free_sums(&run->own);
    free_changes(&run->changes);
    FREE(run->move, run->gap, run->chosen, run->trial, run->labels, run->averaged, run->upper,
         run->lower, run->partial);
    memset(run, 0, sizeof *run);
}

/* Restarts that run in parallel report through hd_parallel() instead, so n_restarts is 0 there. */
huddle_status hd_kmeans_report(const hd_kmeans_run *run, double part) {
    if (run->place.n_restarts == 0)
        return HUDDLE_OK;
    return hd_progress(run->data->context, "kmeans", run->place.restart + part,
                       run->place.n_restarts);
}
