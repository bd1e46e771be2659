/* Lloyd's iteration with Hamerly's bounds (SDM 2010): each row keeps an upper bound on the
 * distance to its own centre and a lower bound on the distance to any other. Centres that moved a
 * little loosen them a little, and while the upper stays below the lower, or below half the way to
 * the nearest other centre, the label cannot change and the row is not even read. Bounds include
 * the rounding errors, so labels are the same as without. Sums of the clusters change only by the
 * rows that moved. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct lloyd {
    hd_kmeans_run *run;
    bool bounded;          /* the bounds are worth their upkeep */
    bool fresh;            /* labels and bounds are not known yet */
    hd_kmeans_moves moves; /* of the last step */
    double shift;          /* sum of the squared moves, unscaled */
    int64_t changed;       /* rows with a new label in the last assignment */
    int64_t reseeded;      /* rows given to empty clusters after it */
    int64_t *candidate;    /* chunks: farthest row */
    double *distance;      /* chunks: and how far */
    unsigned char *filled; /* c: clusters that were empty */
} lloyd;

/* ---- assignment --------------------------------------------------------------------------- */

/* The sums of cluster k in this chunk's changes, cleared at the first touch. */
static double *touch(hd_kmeans_run *run, int64_t chunk, int32_t k) {
    int64_t cell = chunk * run->data->c + k, d = run->data->x->d;
    double *sum = run->delta_sums + cell * d;
    if (!run->touched[cell]) {
        run->touched[cell] = 1;
        run->delta_mass[cell] = 0;
        run->delta_counts[cell] = 0;
        memset(sum, 0, (size_t)d * sizeof *sum);
    }
    return sum;
}

static void shift_row(hd_kmeans_run *run, int64_t chunk, int64_t i, int32_t k, int sign) {
    double weight = sign * hd_kmeans_weight(run->data, i);
    hd_kmeans_add_row(run->data, i, weight, touch(run, chunk, k));
    run->delta_mass[chunk * run->data->c + k] += weight;
    run->delta_counts[chunk * run->data->c + k] += sign;
}

static void assign_block(const lloyd *state, hd_chunk chunk, const int32_t *rows, int32_t count) {
    hd_kmeans_run *run = state->run;
    hd_kmeans_near near;
    hd_kmeans_nearest(run->data, &run->ready, rows, count, &run->scratch[chunk.worker], &near);
    for (int32_t r = 0; r < count; r++) {
        int32_t i = rows[r], before = run->labels[i];
        run->upper[i] = near.upper[r];
        run->lower[i] = near.lower[r];
        if (near.label[r] == before)
            continue;
        if (before >= 0)
            shift_row(run, chunk.index, i, before, -1);
        shift_row(run, chunk.index, i, near.label[r], 1);
        run->labels[i] = near.label[r];
        run->changed[chunk.index]++;
    }
}

/* With many centres it pays to measure the distance to the own one first. */
static bool stays_after_all(const lloyd *state, int64_t i) {
    hd_kmeans_run *run = state->run;
    int32_t k = run->labels[i];
    double distance = sqrt(hd_kmeans_exact(run->data, &run->ready, i, k));
    float upper = (float)(distance * (double)run->data->scale * (1 + 1e-6)) + FLT_MIN;
    if (upper < run->upper[i])
        run->upper[i] = upper;
    return run->upper[i] < run->lower[i] || run->upper[i] < run->gap[k];
}

/* Which of the rows from first on, at most HD_KMEANS_BLOCK, need a look: open[r] tells. Returns how
 * many. */
static int32_t open_rows(const lloyd *state, int64_t first, int32_t n, int32_t *open) {
    enum { MANY = 24 };
    hd_kmeans_run *run = state->run;
    if (!state->bounded || state->fresh) {
        for (int32_t r = 0; r < n; r++)
            open[r] = 1;
        return n;
    }
    int32_t count = run->data->kernels->loosen(n, run->labels + first, &state->moves,
                                               run->upper + first, run->lower + first, open);
    /* Distances to sparse rows are not exact enough for that. */
    if (run->data->c < MANY || run->data->x->offsets != NULL)
        return count;
    for (int32_t r = 0; r < n; r++)
        if (open[r] && stays_after_all(state, first + r)) {
            open[r] = 0;
            count--;
        }
    return count;
}

static huddle_status assign_rows(void *argument, hd_chunk chunk) {
    const lloyd *state = argument;
    hd_kmeans_run *run = state->run;
    int32_t rows[HD_KMEANS_BLOCK] = {0}, open[HD_KMEANS_BLOCK], count = 0;
    run->changed[chunk.index] = 0;
    memset(run->touched + chunk.index * run->data->c, 0, (size_t)run->data->c);
    for (int64_t i = chunk.begin; i < chunk.end; i += HD_KMEANS_BLOCK) {
        int32_t n = (int32_t)(chunk.end - i < HD_KMEANS_BLOCK ? chunk.end - i : HD_KMEANS_BLOCK);
        if (open_rows(state, i, n, open) == 0)
            continue;
        for (int32_t r = 0; r < n; r++) {
            rows[count] = (int32_t)i + r;
            count += open[r];
            if (count == HD_KMEANS_BLOCK) {
                assign_block(state, chunk, rows, count);
                count = 0;
            }
        }
    }
    if (count > 0)
        assign_block(state, chunk, rows, count);
    return HUDDLE_OK;
}

static huddle_status assign(lloyd *state) {
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    hd_kmeans_centres_set(data, data->c, run->centres, &run->ready);
    if (state->bounded && !state->fresh)
        hd_kmeans_gaps(data, &run->ready, run->scratch, run->gap);
    huddle_status status =
        hd_parallel(data->context, NULL, data->x->n, data->grain, assign_rows, state);
    state->changed = state->reseeded;
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        state->changed += run->changed[chunk];
    state->fresh = false;
    return status;
}

/* ---- centres ------------------------------------------------------------------------------ */

static huddle_status add_changes(void *argument, hd_chunk part) {
    hd_kmeans_run *run = ((lloyd *)argument)->run;
    int64_t c = run->data->c, d = run->data->x->d;
    for (int64_t k = part.begin; k < part.end; k++) {
        double *restrict sum = run->sums + k * d;
        for (int64_t cell = k; cell < run->data->chunks * c; cell += c) {
            const double *restrict delta = run->delta_sums + cell * d;
            if (!run->touched[cell])
                continue;
            for (int64_t j = 0; j < d; j++)
                sum[j] += delta[j];
            run->mass[k] += run->delta_mass[cell];
            run->counts[k] += run->delta_counts[cell];
        }
        if (run->counts[k] == 0) {
            run->mass[k] = 0;
            memset(sum, 0, (size_t)d * sizeof *sum);
        }
    }
    return HUDDLE_OK;
}

static void clear_sums(hd_kmeans_run *run) {
    int64_t c = run->data->c, d = run->data->x->d;
    memset(run->sums, 0, (size_t)(c * d) * sizeof *run->sums);
    memset(run->mass, 0, (size_t)c * sizeof *run->mass);
    memset(run->counts, 0, (size_t)c * sizeof *run->counts);
}

static huddle_status collect(lloyd *state) {
    const hd_kmeans_data *data = state->run->data;
    int64_t grain = (1 << 16) / (data->x->d * data->chunks) + 1;
    return hd_parallel(data->context, NULL, data->c, grain, add_changes, state);
}

/* The row of a chunk farthest from its centre; rows alone in their cluster do not count. */
static huddle_status find_farthest(void *argument, hd_chunk chunk) {
    const lloyd *state = argument;
    const hd_kmeans_run *run = state->run;
    int64_t farthest = -1;
    double distance = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int32_t k = run->labels[i];
        if (state->filled[k] || run->counts[k] < 2)
            continue;
        double here = hd_kmeans_exact(run->data, &run->ready, i, k);
        if (here > distance) {
            distance = here;
            farthest = i;
        }
    }
    state->candidate[chunk.index] = farthest;
    state->distance[chunk.index] = distance;
    return HUDDLE_OK;
}

/* Gives row i to the empty cluster k. */
static void give_row(lloyd *state, int64_t i, int32_t k) {
    hd_kmeans_run *run = state->run;
    int64_t d = run->data->x->d;
    int32_t from = run->labels[i];
    double weight = hd_kmeans_weight(run->data, i);
    hd_kmeans_add_row(run->data, i, -weight, run->sums + from * d);
    hd_kmeans_add_row(run->data, i, weight, run->sums + k * d);
    run->mass[from] -= weight;
    run->mass[k] += weight;
    run->counts[from]--;
    run->counts[k]++;
    run->labels[i] = k;
    run->upper[i] = 0;
    run->lower[i] = 0;
    state->filled[k] = 1;
    state->reseeded++;
}

/* Each empty cluster gets the row farthest from its centre. */
static huddle_status fill_empty(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    state->reseeded = 0;
    memset(state->filled, 0, (size_t)data->c);
    for (int32_t k = 0; k < data->c; k++) {
        if (run->counts[k] > 0)
            continue;
        TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, find_farthest, state));
        int64_t best = 0;
        for (int64_t chunk = 1; chunk < data->chunks; chunk++)
            best = state->distance[chunk] > state->distance[best] ? chunk : best;
        if (state->candidate[best] < 0)
            break;
        give_row(state, state->candidate[best], k);
    }
done:
    return status;
}

/* Centres become means; a cluster still empty keeps its own. Notes how far they moved. */
static void move_centres(lloyd *state) {
    hd_kmeans_run *run = state->run;
    int64_t d = run->data->x->d;
    double scale = (double)run->data->scale * (1 + 1e-6), *swap = run->centres;
    hd_kmeans_moves moves = {.move = run->move, .gap = run->gap};
    state->shift = 0;
    for (int32_t k = 0; k < run->data->c; k++) {
        double square = 0;
        for (int64_t j = k * d; j < (k + 1) * d; j++) {
            run->next[j] = run->counts[k] > 0 ? run->sums[j] / run->mass[k] : run->centres[j];
            double t = run->next[j] - run->centres[j];
            square += t * t;
        }
        state->shift += square;
        run->move[k] = (float)(sqrt(square) * scale) + FLT_MIN;
        if (run->move[k] > moves.largest) {
            moves.second = moves.largest;
            moves.largest = run->move[k];
            moves.mover = k;
        } else if (run->move[k] > moves.second) {
            moves.second = run->move[k];
        }
    }
    state->moves = moves;
    run->centres = run->next;
    run->next = swap;
}

/* ---- the end ------------------------------------------------------------------------------ */

static huddle_status add_all_rows(void *argument, hd_chunk chunk) {
    hd_kmeans_run *run = ((lloyd *)argument)->run;
    memset(run->touched + chunk.index * run->data->c, 0, (size_t)run->data->c);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        shift_row(run, chunk.index, i, run->labels[i], 1);
    return HUDDLE_OK;
}

static huddle_status add_inertia(void *argument, hd_chunk chunk) {
    hd_kmeans_run *run = ((lloyd *)argument)->run;
    double sum = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        sum += hd_kmeans_weight(run->data, i) *
               hd_kmeans_exact(run->data, &run->ready, i, run->labels[i]);
    run->partial[chunk.index] = sum;
    return HUDDLE_OK;
}

/* Sums that were kept up by adding and taking away have gathered rounding errors: makes the
 * centres once more from all rows, labels the rows by them, and measures the inertia. */
static huddle_status finish(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    double *last = run->centres;
    clear_sums(run);
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, add_all_rows, state));
    TRY(collect(state));
    /* The bounds still speak of the centres before the last move: that is where to move from. */
    run->centres = run->next;
    run->next = last;
    move_centres(state);
    TRY(assign(state));
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, add_inertia, state));
    run->inertia = 0;
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        run->inertia += run->partial[chunk];
done:
    return status;
}

huddle_status hd_kmeans_lloyd(hd_kmeans_run *run, int32_t max_iter, double tol) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = run->data;
    lloyd state = {.run = run, .fresh = true};
    state.bounded = data->x->n >= 4 * (int64_t)data->c;
    ALLOC(state.candidate, data->chunks);
    ALLOC(state.distance, data->chunks);
    ALLOC(state.filled, data->c);
    memset(run->labels, -1, (size_t)data->x->n * sizeof *run->labels);
    clear_sums(run);
    run->stop = HUDDLE_STOP_MAX_ITER;
    for (run->n_iter = 0; run->n_iter < max_iter && run->stop == HUDDLE_STOP_MAX_ITER;) {
        TRY(assign(&state));
        TRY(collect(&state));
        TRY(fill_empty(&state));
        move_centres(&state);
        if (state.changed == 0 || state.shift <= tol * data->variance)
            run->stop = HUDDLE_STOP_CONVERGED;
        run->n_iter++;
        TRY(hd_kmeans_report(run, (double)run->n_iter / ((double)max_iter + 1)));
    }
    TRY(finish(&state));
    TRY(hd_kmeans_report(run, 1));
done:
    huddle_free(state.candidate);
    huddle_free(state.distance);
    huddle_free(state.filled);
    return status;
}
