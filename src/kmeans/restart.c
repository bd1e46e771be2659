#include "kmeans/restart.h"

#include "base/check.h"

#include <string.h>

enum { MOST_REMEMBERED = 4 << 20 };

static huddle_status new_chunk_arrays(const hd_kmeans_data *data, hd_kmeans_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t cells = data->chunks * data->c;
    ALLOC(run->delta_sums, cells * data->x->d);
    ALLOC(run->delta_mass, cells);
    ALLOC(run->delta_counts, cells);
    ALLOC(run->touched, cells);
    ALLOC(run->changed, data->chunks);
    ALLOC(run->partial, data->chunks * hd_kmeans_trials(data->c));
done:
    return status;
}

huddle_status hd_kmeans_run_new(const hd_kmeans_data *data, int32_t n_scratch, hd_kmeans_run *run) {
    huddle_status status = HUDDLE_OK;
    int64_t n = data->x->n, d = data->x->d, c = data->c;
    *run = (hd_kmeans_run){.data = data};
    ALLOC_ZERO(run->scratch, n_scratch);
    run->n_scratch = n_scratch;
    for (int32_t i = 0; i < n_scratch; i++)
        TRY(hd_kmeans_scratch_new(data, data->c, &run->scratch[i]));
    TRY(hd_kmeans_centres_new(data, data->c, &run->ready));
    ALLOC(run->centres, c * d);
    ALLOC(run->next, c * d);
    ALLOC(run->sums, c * d);
    ALLOC(run->mass, c);
    ALLOC(run->counts, c);
    ALLOC(run->move, c);
    ALLOC(run->gap, c);
    ALLOC(run->chosen, c);
    if (n * hd_kmeans_trials(data->c) <= MOST_REMEMBERED)
        ALLOC(run->trial, n * hd_kmeans_trials(data->c));
    ALLOC(run->labels, n);
    ALLOC(run->upper, n);
    ALLOC(run->lower, n);
    TRY(new_chunk_arrays(data, run));
done:
    if (status != HUDDLE_OK)
        hd_kmeans_run_free(run);
    return status;
}

void hd_kmeans_run_free(hd_kmeans_run *run) {
    for (int32_t i = 0; i < run->n_scratch; i++)
        hd_kmeans_scratch_free(&run->scratch[i]);
    huddle_free(run->scratch);
    hd_kmeans_centres_free(&run->ready);
    huddle_free(run->centres);
    huddle_free(run->next);
    huddle_free(run->sums);
    huddle_free(run->mass);
    huddle_free(run->counts);
    huddle_free(run->move);
    huddle_free(run->gap);
    huddle_free(run->chosen);
    huddle_free(run->trial);
    huddle_free(run->labels);
    huddle_free(run->upper);
    huddle_free(run->lower);
    huddle_free(run->delta_sums);
    huddle_free(run->delta_mass);
    huddle_free(run->delta_counts);
    huddle_free(run->touched);
    huddle_free(run->changed);
    huddle_free(run->partial);
    memset(run, 0, sizeof *run);
}

huddle_status hd_kmeans_report(const hd_kmeans_run *run, double part) {
    if (!run->reports)
        return HUDDLE_OK;
    return hd_progress(run->data->context, "kmeans", run->restart + part, run->n_restarts);
}
