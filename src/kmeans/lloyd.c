/* Lloyd's iteration with Hamerly's bounds (Making k-means even faster, SDM 2010). Each row keeps an
 * upper bound on the distance to its own centre and a lower bound on the distance to any other. A
 * centre that moves loosens them by at most its move. While the upper bound is below the lower one,
 * or below half the distance from the own centre to the nearest other, the label cannot change, and
 * the row is not read at all. The bounds include rounding errors, so that labels are the same as
 * without them. The sums of the clusters are updated by the rows that change their label.
 *
 * With rows distributed over processes (slabs), each process keeps the sums of its own rows, and
 * sums over all processes are computed from them in each iteration; so all processes have the same
 * centres, bit for bit, and take the same decisions. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* From this number of centres on, the distance to the own centre is computed before those to all
 * others (`./dev bench kmeans`). */
enum { MANY_CENTRES = 24 };

/* Bounds are maintained from this number of rows per centre on; below it, they cost more (c^2
 * distances between centres per iteration) than they save. */
enum { BOUNDED_ROWS = 4 };

typedef struct lloyd {
    hd_kmeans_run *run;
    bool bounded;           /* the bounds are worth their upkeep */
    bool fresh;             /* labels and bounds are not known yet */
    hd_kmeans_moves moves;  /* of the last step */
    double shift;           /* sum of the squared moves, unscaled */
    int64_t changed;        /* rows with a new label in the last assignment; of all processes after
                               update_sums() */
    int64_t reseeded;       /* rows given to empty clusters after it */
    unsigned char *touched; /* chunks x c: the chunk has changed the sums of the cluster */
    int64_t *relabelled;    /* chunks: rows with a new label */
    int64_t *candidate;     /* chunks: farthest row */
    double *distance;       /* chunks: its distance */
    unsigned char *filled;  /* c: clusters that were empty */
} lloyd;

/* ---- assignment --------------------------------------------------------------------------- */

/* Adds row i to the sums of cluster k (sign 1), or subtracts it (-1). */
static void add_row(const hd_kmeans_data *data, int64_t i, int64_t k, int sign,
                    const hd_kmeans_sums *to) {
    double weight = sign * hd_kmeans_weight(data, i);
    hd_kmeans_add_row(data, i, weight, to->sums + k * data->x->d);
    to->mass[k] += weight;
    to->counts[k] += sign;
}

/* The same in the changes of a chunk. They are cleared at first use: most chunks change few
 * clusters, and clearing all c x d numbers would dominate late iterations. */
static void shift_row(const lloyd *state, int64_t chunk, int64_t i, int32_t k, int sign) {
    hd_kmeans_run *run = state->run;
    int64_t cell = chunk * run->data->c + k, d = run->data->x->d;
    if (!state->touched[cell]) {
        state->touched[cell] = 1;
        run->changes.mass[cell] = 0;
        run->changes.counts[cell] = 0;
        memset(run->changes.sums + cell * d, 0, (size_t)d * sizeof *run->changes.sums);
    }
    add_row(run->data, i, cell, sign, &run->changes);
}

/* Compares a block of rows with all centres and records those that change their cluster: the row is
 * subtracted from the old sums and added to the new ones. */
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
            shift_row(state, chunk.index, i, before, -1);
        shift_row(state, chunk.index, i, near.label[r], 1);
        run->labels[i] = near.label[r];
        state->relabelled[chunk.index]++;
    }
}

/* Tightens the upper bound by computing the distance to the own centre (the second test of
 * Hamerly's algorithm). True if the label is then known not to change. Distances in double are
 * rounded up to float: the factor covers the relative error, FLT_MIN that of tiny numbers. */
static bool keeps_label(const lloyd *state, int64_t i) {
    hd_kmeans_run *run = state->run;
    int32_t k = run->labels[i];
    double distance = sqrt(hd_kmeans_exact(run->data, &run->ready, i, k));
    float upper = (float)(distance * (double)run->data->scale * (1 + HD_KMEANS_SLACK)) + FLT_MIN;
    if (upper < run->upper[i])
        run->upper[i] = upper;
    return run->upper[i] < run->lower[i] || run->upper[i] < run->gap[k];
}

/* Finds the rows among the n from `first` on that have to be compared with all centres: open[r] is
 * 1. Returns how many. */
static int32_t open_rows(const lloyd *state, int64_t first, int32_t n, int32_t *open) {
    hd_kmeans_run *run = state->run;
    if (!state->bounded || state->fresh) {
        for (int32_t r = 0; r < n; r++)
            open[r] = 1;
        return n;
    }
    int32_t count = run->data->kernels->loosen(n, run->labels + first, &state->moves,
                                               run->upper + first, run->lower + first, open);
    /* With few centres, comparing with all of them is as cheap. For sparse rows, distances by
     * products are not accurate enough for an upper bound. */
    if (run->data->c < MANY_CENTRES || run->data->x->offsets != NULL)
        return count;
    for (int32_t r = 0; r < n; r++)
        if (open[r] && keeps_label(state, first + r)) {
            open[r] = 0;
            count--;
        }
    return count;
}

/* Collects the rows that have to be compared into full blocks, for which the kernels are made. A
 * chunk writes its own changes only, so threads do not interfere. */
static huddle_status assign_rows(void *argument, hd_chunk chunk) {
    const lloyd *state = argument;
    hd_kmeans_run *run = state->run;
    int32_t rows[HD_KMEANS_BLOCK] = {0}, open[HD_KMEANS_BLOCK], count = 0;
    state->relabelled[chunk.index] = 0;
    memset(state->touched + chunk.index * run->data->c, 0, (size_t)run->data->c);
    for (int64_t i = chunk.begin; i < chunk.end; i += HD_KMEANS_BLOCK) {
        int32_t n = (int32_t)(chunk.end - i < HD_KMEANS_BLOCK ? chunk.end - i : HD_KMEANS_BLOCK);
        if (open_rows(state, i, n, open) == 0)
            continue;
        for (int32_t r = 0; r < n; r++) {
            /* Written always, counted only if open: no branch to mispredict. */
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

/* Labels all rows by the current centres. */
static huddle_status assign_labels(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    hd_kmeans_centres_set(data, data->c, run->centres, &run->ready);
    /* Bounds and gaps are not used in the first assignment, which compares all rows. */
    if (state->bounded && !state->fresh)
        hd_kmeans_gaps(data, &run->ready, run->scratch, run->gap);
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, assign_rows, state));
    state->changed = 0;
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        state->changed += state->relabelled[chunk];
    state->fresh = false;
done:
    return status;
}

/* ---- centres ------------------------------------------------------------------------------ */

/* Adds the changes of all chunks to the sums of some clusters, in the order of the chunks: threads
 * share the clusters, not the chunks, so the order of additions is fixed. */
static huddle_status add_changes(void *argument, hd_chunk part) {
    const lloyd *state = argument;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_sums *changes = &run->changes, *own = &run->own;
    int64_t c = run->data->c, d = run->data->x->d;
    for (int64_t k = part.begin; k < part.end; k++) {
        double *restrict sum = own->sums + k * d;
        for (int64_t cell = k; cell < run->data->chunks * c; cell += c) {
            const double *restrict delta = changes->sums + cell * d;
            if (!state->touched[cell])
                continue;
            for (int64_t j = 0; j < d; j++)
                sum[j] += delta[j];
            own->mass[k] += changes->mass[cell];
            own->counts[k] += changes->counts[cell];
        }
        /* Rounding errors of adding and subtracting rows remain in the sums of an empty cluster. */
        if (own->counts[k] == 0) {
            own->mass[k] = 0;
            memset(sum, 0, (size_t)d * sizeof *sum);
        }
    }
    return HUDDLE_OK;
}

/* The length of the sums of the clusters. */
static int64_t count_sums(const hd_kmeans_run *run) {
    return run->data->c * (run->data->x->d + 2);
}

/* At the start and before the final sums: between them they are only updated. */
static void clear_sums(hd_kmeans_run *run) {
    memset(run->own.sums, 0, (size_t)count_sums(run) * sizeof *run->own.sums);
}

/* run->all = the sums over all processes, and *changed likewise, in one reduction, for which it is
 * the last number of the array; with one process they are the same array. */
static huddle_status reduce_sums(hd_kmeans_run *run, int64_t *changed) {
    huddle_status status = HUDDLE_OK;
    int64_t count = count_sums(run);
    double *all = run->all.sums;
    if (run->data->whole)
        return status;
    memcpy(all, run->own.sums, (size_t)count * sizeof *all);
    all[count] = (double)*changed;
    TRY(hd_reduce_sum(run->data->context, count + 1, all));
    *changed = (int64_t)all[count];
done:
    return status;
}

/* Updates the sums of the clusters after an assignment. */
static huddle_status update_sums(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = state->run->data;
    /* About 2^16 additions per chunk, enough to be worth a thread. */
    int64_t grain = (1 << 16) / (data->x->d * data->chunks) + 1;
    TRY(hd_parallel(data->context, NULL, data->c, grain, add_changes, state));
    TRY(reduce_sums(state->run, &state->changed));
    /* Rows given to empty clusters after the last assignment count as changed, so that the
     * iteration does not stop with them. */
    state->changed += state->reseeded;
done:
    return status;
}

/* The row of a chunk farthest from its centre, for an empty cluster. Rows alone in their cluster do
 * not count, nor do rows just given away: taking them would only move the empty cluster. */
static huddle_status find_farthest(void *argument, hd_chunk chunk) {
    const lloyd *state = argument;
    const hd_kmeans_run *run = state->run;
    int64_t farthest = -1;
    double distance = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int32_t k = run->labels[i];
        if (state->filled[k] || run->all.counts[k] < 2)
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

/* Gives row i of this process to the empty cluster k. Bounds of 0 make sure that the row is
 * compared with all centres in the next assignment. */
static void move_row(lloyd *state, int64_t i, int32_t k) {
    hd_kmeans_run *run = state->run;
    add_row(run->data, i, run->labels[i], -1, &run->own);
    add_row(run->data, i, k, 1, &run->own);
    run->labels[i] = k;
    run->upper[i] = 0;
    run->lower[i] = 0;
}

/* The row that is farthest from its centre among all processes, by its global number; the first of
 * equal ones. -1: there is none. Two reductions, first the distance, then the smallest row that has
 * it, give the same row whatever the number of processes. */
static huddle_status find_farthest_row(lloyd *state, int64_t *row) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = state->run->data;
    int64_t best = 0;
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, find_farthest, state));
    for (int64_t chunk = 1; chunk < data->chunks; chunk++)
        best = state->distance[chunk] > state->distance[best] ? chunk : best;
    double own = state->distance[best], largest = own, first = INFINITY;
    TRY(hd_reduce_max(data->context, 1, &largest));
    if (state->candidate[best] >= 0 && own == largest)
        first = (double)(data->slab.first + state->candidate[best]);
    TRY(hd_reduce_min(data->context, 1, &first));
    *row = isinf(first) ? -1 : (int64_t)first;
done:
    return status;
}

/* Each empty cluster gets the row farthest from its centre, one after the other, as in
 * scikit-learn. Its centre follows in move_centres(). */
static huddle_status fill_empty(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    int64_t row;
    state->reseeded = 0;
    memset(state->filled, 0, (size_t)data->c);
    for (int32_t k = 0; k < data->c; k++) {
        if (run->all.counts[k] > 0)
            continue;
        TRY(find_farthest_row(state, &row));
        if (row < 0)
            break;
        int64_t own = row - data->slab.first;
        if (own >= 0 && own < data->x->n)
            move_row(state, own, k);
        state->filled[k] = 1;
        state->reseeded++;
        int64_t ignored = 0;
        TRY(reduce_sums(run, &ignored));
    }
done:
    return status;
}

/* Moves centres to the means of their clusters; a cluster that is still empty keeps its centre.
 * Records how far each moved, rounded up, for loosen(): the largest move and the second largest,
 * since the own centre of a row does not count among the others. */
static void move_centres(lloyd *state) {
    hd_kmeans_run *run = state->run;
    int64_t d = run->data->x->d;
    double scale = (double)run->data->scale * (1 + HD_KMEANS_SLACK), *swap = run->centres;
    const hd_kmeans_sums *all = &run->all;
    hd_kmeans_moves moves = {.move = run->move, .gap = run->gap};
    state->shift = 0;
    for (int32_t k = 0; k < run->data->c; k++) {
        double square = 0;
        for (int64_t j = k * d; j < (k + 1) * d; j++) {
            run->next[j] = all->counts[k] > 0 ? all->sums[j] / all->mass[k] : run->centres[j];
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

/* Adds all rows of a chunk to the changes, as if they had no label before. */
static huddle_status add_all_rows(void *argument, hd_chunk chunk) {
    const lloyd *state = argument;
    const hd_kmeans_run *run = state->run;
    memset(state->touched + chunk.index * run->data->c, 0, (size_t)run->data->c);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        shift_row(state, chunk.index, i, run->labels[i], 1);
    return HUDDLE_OK;
}

/* The inertia in double, from exact distances, so that restarts are compared accurately. */
static huddle_status add_inertia(void *argument, hd_chunk chunk) {
    hd_kmeans_run *run = ((lloyd *)argument)->run;
    double sum = 0;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        sum += hd_kmeans_weight(run->data, i) *
               hd_kmeans_exact(run->data, &run->ready, i, run->labels[i]);
    run->partial[chunk.index] = sum;
    return HUDDLE_OK;
}

/* The inertia of the current labels and of the centres that the rows were compared with. */
static huddle_status sum_inertia(lloyd *state, double *inertia) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, add_inertia, state));
    *inertia = 0;
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        *inertia += run->partial[chunk];
    TRY(hd_reduce_sum(data->context, 1, inertia));
done:
    return status;
}

/* Sums that were updated by adding and subtracting rows have accumulated rounding errors. So the
 * centres are computed once more from all rows, the rows are labelled by them, and the inertia is
 * added up: the result is consistent and depends on the last labels only. */
static huddle_status compute_outcome(lloyd *state) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_run *run = state->run;
    const hd_kmeans_data *data = run->data;
    double *last = run->centres;
    clear_sums(run);
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, add_all_rows, state));
    TRY(update_sums(state));
    /* The bounds refer to the centres before the last move, so the moves are computed from
     * there. */
    run->centres = run->next;
    run->next = last;
    move_centres(state);
    if (run->averaged != NULL)
        memcpy(run->averaged, run->labels, (size_t)data->x->n * sizeof *run->labels);
    TRY(assign_labels(state));
    TRY(sum_inertia(state, &run->outcome.inertia));
done:
    return status;
}

/* The wording is that of scikit-learn, whose users read these lines (python/huddle/drop_in). */
static void log_iteration(const lloyd *state, double inertia, double tolerance) {
    const hd_kmeans_run *run = state->run;
    huddle_context *context = run->data->context;
    int32_t number = run->outcome.n_iter;
    if (number == 0)
        hd_log(context, "Initialization complete");
    hd_log(context, "Iteration %d, inertia %.12g.", number, inertia);
    if (state->changed == 0)
        hd_log(context, "Converged at iteration %d: strict convergence.", number);
    else if (state->shift <= tolerance)
        hd_log(context, "Converged at iteration %d: center shift %g within tolerance %g.", number,
               state->shift, tolerance);
}

/* Stops when no label changes or when the squared moves of the centres sum to at most tol times the
 * variance, the criterion of scikit-learn. Each iteration assigns, then updates: after the last
 * one, compute_outcome() makes labels and centres fit each other. */
huddle_status hd_kmeans_lloyd(hd_kmeans_run *run, const huddle_kmeans_options *options) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = run->data;
    lloyd state = {.run = run, .fresh = true};
    double inertia, tolerance = options->tol * data->variance;
    state.bounded = data->x->n >= BOUNDED_ROWS * (int64_t)data->c;
    ALLOC_ZERO(state.touched, data->chunks * data->c); /* a process without rows changes nothing */
    ALLOC_ZERO(state.relabelled, data->chunks);
    ALLOC(state.candidate, data->chunks);
    ALLOC_ZERO(state.distance, data->chunks);
    state.candidate[0] = -1; /* of a process without rows */
    ALLOC(state.filled, data->c);
    memset(run->labels, -1, (size_t)data->x->n * sizeof *run->labels);
    clear_sums(run);
    run->outcome.stop = HUDDLE_STOP_MAX_ITER;
    for (run->outcome.n_iter = 0;
         run->outcome.n_iter < options->max_iter && run->outcome.stop == HUDDLE_STOP_MAX_ITER;) {
        TRY(assign_labels(&state));
        TRY(update_sums(&state));
        if (options->log_iterations)
            TRY(sum_inertia(&state, &inertia));
        TRY(fill_empty(&state));
        move_centres(&state);
        if (options->log_iterations)
            log_iteration(&state, inertia, tolerance);
        if (state.changed == 0 || state.shift <= tolerance)
            run->outcome.stop = HUDDLE_STOP_CONVERGED;
        run->outcome.n_iter++;
        TRY(hd_kmeans_report(run, (double)run->outcome.n_iter / ((double)options->max_iter + 1)));
    }
    TRY(compute_outcome(&state));
    TRY(hd_kmeans_report(run, 1));
done:
    FREE(state.touched, state.relabelled, state.candidate, state.distance, state.filled);
    return status;
}
