/* Starting centres: k-means++ (Arthur and Vassilvitskii, SODA 2007), each centre being the best of
 * a few candidates (the greedy variant), or a plain sample of the rows.
 *
 * While seeding, run->labels[i] is the nearest row chosen so far, and run->upper[i] the scaled
 * squared distance D_i to it. The potential is the sum of weight_i D_i. A candidate whose distance
 * from that row is at least 2 sqrt(D_i) cannot be nearer to row i, by the triangle inequality; such
 * rows are skipped.
 *
 * Rows are drawn by their global number. Every process draws the same random numbers, and the one
 * that has the row provides it to the others. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_TRIALS = 2 + 22 }; /* 2 + log(2^31) */

/* The number of candidates, 2 + ln c, as in the code of Arthur and Vassilvitskii and in
 * scikit-learn. */
int32_t hd_kmeans_trials(int32_t c) {
    return c < 3 ? c : 2 + (int32_t)log((double)c);
}

int64_t huddle_kmeans_n_draws(int32_t n_clusters) {
    return 1 + ((int64_t)n_clusters - 1) * hd_kmeans_trials(n_clusters);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static double draw_uniform(hd_kmeans_source *source) {
    return source->draws != NULL ? *source->draws++ : hd_rng_uniform(&source->rng);
}

static int64_t draw_below(hd_kmeans_source *source, int64_t n) {
    return source->draws != NULL ? (int64_t)(*source->draws++ * (double)n)
                                 : hd_rng_below(&source->rng, n);
}

/* The row of this process at which the running sum of weight_i D_i exceeds `left`; run->partial
 * contains the sums of the chunks, so that only one chunk is searched. Rows with D_i = 0 are never
 * drawn. If rounding leaves `left` above the sum of the chunk, the last row of positive weight is
 * taken. */
static int64_t find_row(const hd_kmeans_run *run, double left) {
    const hd_kmeans_data *data = run->data;
    int64_t n = data->x->n, chunk = 0;
    while (chunk < data->chunks - 1 && left >= run->partial[chunk])
        left -= run->partial[chunk++];
    int64_t begin = chunk * data->grain, end = begin + data->grain < n ? begin + data->grain : n;
    int64_t last = begin;
    for (int64_t i = begin; i < end; i++) {
        double part = hd_kmeans_weight(data, i) * (double)run->upper[i];
        if (!(part > 0))
            continue;
        last = i;
        if (left < part)
            break;
        left -= part;
    }
    return last;
}

/* Draws rows with probability proportional to weight_i D_i; if all D_i are 0, all rows are equally
 * likely. With several processes, the interval [0, total) is divided between them in their order;
 * each finds the rows that are its own, and the others are -1 for it. */
static huddle_status draw_rows(const hd_kmeans_run *run, double total, int32_t count,
                               hd_kmeans_source *source, int64_t *rows) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_data *data = run->data;
    double *potential = NULL;
    int64_t rank = hd_slabs_rank(data->context), processes = hd_slabs_count(data->context);
    ALLOC_ZERO(potential, processes);
    /* Potentials are exchanged by a maximum in which each process fills one place, so that all of
     * them add the same numbers in the same order. */
    if (!data->whole) {
        for (int64_t chunk = 0; chunk < data->chunks; chunk++)
            potential[rank] += run->partial[chunk];
        TRY(hd_reduce_max(data->context, processes, potential));
        total = 0;
        for (int64_t p = 0; p < processes; p++)
            total += potential[p];
    } else {
        potential[0] = total;
    }
    /* Rounding must not lead to a process without rows. */
    int64_t last = processes - 1;
    while (last > 0 && !(potential[last] > 0))
        last--;
    for (int32_t t = 0; t < count; t++) {
        if (!(total > 0)) {
            rows[t] = draw_below(source, data->slab.total);
            continue;
        }
        /* Every process draws the same number, whether or not the row is its own: streams stay in
         * step. */
        double left = draw_uniform(source) * total;
        int64_t p = 0;
        while (p < last && left >= potential[p])
            left -= potential[p++];
        rows[t] = p == rank ? data->slab.first + find_row(run, left) : -1;
    }
done:
    huddle_free(potential);
    return status;
}

/* vectors (count x d) = the rows with these global numbers. Where a process does not have a row it
 * contributes -infinity to the maximum, which then is the row of the process that has it. */
static huddle_status take_rows(const hd_kmeans_data *data, const int64_t *rows, int64_t count,
                               double *vectors) {
    int64_t d = data->x->d;
    memset(vectors, 0, (size_t)(count * d) * sizeof *vectors);
    for (int64_t t = 0; t < count; t++) {
        int64_t own = rows[t] - data->slab.first;
        if (rows[t] >= 0 && own >= 0 && own < data->x->n)
            hd_kmeans_add_row(data, own, 1, vectors + t * d);
        else
            for (int64_t j = 0; j < d; j++)
                vectors[t * d + j] = -INFINITY;
    }
    return hd_reduce_max(data->context, count * d, vectors);
}

/* ---- one round ---------------------------------------------------------------------------- */

typedef struct seeding {
    hd_kmeans_run *run;
    const float *reach; /* of each chosen row: the least squared distance to a candidate */
    bool keep;          /* candidate `best` is chosen, as centre `number` */
    int32_t best, number;
} seeding;

/* Adds how much each candidate would lower the potential of a block of rows. Weights are scaled to
 * at most 1, so that they fit in float; a common factor does not change the choice. Unused lanes
 * have weight 0. */
static void weigh_block(const seeding *s, const int32_t *rows, int32_t count,
                        hd_kmeans_scratch *scratch, double *gain) {
    hd_kmeans_run *run = s->run;
    _Alignas(64) float weight[HD_KMEANS_BLOCK] = {0}, before[HD_KMEANS_BLOCK] = {0};
    hd_kmeans_distances(run->data, &run->ready, rows, count, scratch);
    for (int32_t r = 0; r < count; r++) {
        weight[r] = (float)(hd_kmeans_weight(run->data, rows[r]) * run->data->weight_scale);
        before[r] = run->upper[rows[r]];
    }
    for (int32_t k = 0; k < run->ready.k; k++)
        gain[k] += (double)run->data->kernels->gain(scratch->scores + (int64_t)k * HD_KMEANS_BLOCK,
                                                    before, weight);
    for (int32_t r = 0; r < count && run->trial != NULL; r++)
        for (int64_t k = 0; k < run->ready.k; k++)
            run->trial[rows[r] * (int64_t)run->ready.k + k] =
                scratch->scores[k * HD_KMEANS_BLOCK + r];
}

/* Rows of the block that are nearer to the chosen candidate than to all before join it. Their
 * distances are known from the trial: the rows that are visited are the same as there, because
 * neither D_i nor the reach has changed since. Otherwise they are computed again. */
static void keep_block(const seeding *s, const int32_t *rows, int32_t count,
                       hd_kmeans_scratch *scratch) {
    hd_kmeans_run *run = s->run;
    /* The first centre has no trial: every row is compared with it. */
    bool remembered = run->trial != NULL && s->number > 0;
    if (!remembered)
        hd_kmeans_distances(run->data, &run->ready, rows, count, scratch);
    for (int32_t r = 0; r < count; r++) {
        int64_t i = rows[r];
        float distance = remembered ? run->trial[i * run->ready.k + s->best] : scratch->scores[r];
        if (distance < run->upper[i]) {
            run->upper[i] = distance;
            run->labels[i] = s->number;
        }
    }
}

/* The same traversal of rows serves both phases of a round: weighing all candidates, then keeping
 * one of them. */
static void visit_block(const seeding *s, const int32_t *rows, int32_t count,
                        hd_kmeans_scratch *scratch, double *gain) {
    if (s->keep)
        keep_block(s, rows, count, scratch);
    else
        weigh_block(s, rows, count, scratch, gain);
}

/* The potential of rows begin .. end - 1, in double, by four independent sums. */
static double potential(const hd_kmeans_run *run, int64_t begin, int64_t end) {
    double sums[4] = {0};
    for (; begin + 4 <= end; begin += 4)
        for (int q = 0; q < 4; q++)
            sums[q] += hd_kmeans_weight(run->data, begin + q) * (double)run->upper[begin + q];
    for (; begin < end; begin++)
        sums[0] += hd_kmeans_weight(run->data, begin) * (double)run->upper[begin];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Visits the rows of a chunk that a candidate may be nearer to, collected into full blocks. */
static huddle_status visit_rows(void *argument, hd_chunk chunk) {
    const seeding *s = argument;
    const hd_kmeans_run *run = s->run;
    hd_kmeans_scratch *scratch = &run->scratch[chunk.worker];
    int32_t rows[HD_KMEANS_BLOCK] = {0}, open[HD_KMEANS_BLOCK], count = 0, k = run->ready.k;
    double *partial = run->partial + chunk.index * (s->keep ? 1 : k);
    memset(partial, 0, (size_t)(s->keep ? 1 : k) * sizeof *partial);
    for (int64_t i = chunk.begin; i < chunk.end; i += HD_KMEANS_BLOCK) {
        int32_t n = (int32_t)(chunk.end - i < HD_KMEANS_BLOCK ? chunk.end - i : HD_KMEANS_BLOCK);
        if (run->data->kernels->reach(n, run->labels + i, s->reach, run->upper + i, open) == 0)
            continue;
        for (int32_t r = 0; r < n; r++) {
            rows[count] = (int32_t)i + r;
            count += open[r];
            if (count == HD_KMEANS_BLOCK) {
                visit_block(s, rows, count, scratch, partial);
                count = 0;
            }
        }
    }
    if (count > 0)
        visit_block(s, rows, count, scratch, partial);
    if (s->keep)
        *partial = potential(run, chunk.begin, chunk.end);
    return HUDDLE_OK;
}

/* reach[m] = the smallest squared distance from chosen row m to a candidate, by the same kernel as
 * the distances of rows. */
static void measure_reach(hd_kmeans_run *run, int32_t n_chosen, float *reach) {
    for (int32_t first = 0; first < n_chosen; first += HD_KMEANS_BLOCK) {
        int32_t count = n_chosen - first < HD_KMEANS_BLOCK ? n_chosen - first : HD_KMEANS_BLOCK;
        hd_kmeans_distances(run->data, &run->ready, run->chosen + first, count, run->scratch);
        for (int32_t r = 0; r < count; r++) {
            float smallest = FLT_MAX;
            for (int32_t k = 0; k < run->ready.k; k++)
                smallest = fminf(smallest, run->scratch->scores[(int64_t)k * HD_KMEANS_BLOCK + r]);
            reach[first + r] = smallest;
        }
    }
}

/* The same if chosen rows may belong to other processes: in double, from the centres that they
 * became. The factor covers the rounding to float. */
static void measure_reach_of_centres(hd_kmeans_run *run, int32_t n_chosen, float *reach) {
    int64_t d = run->data->x->d;
    double scale = (double)run->data->scale;
    for (int32_t m = 0; m < n_chosen; m++) {
        double smallest = FLT_MAX;
        for (int32_t k = 0; k < run->ready.k; k++) {
            double square = 0;
            for (int64_t j = 0; j < d; j++) {
                double t = run->centres[m * d + j] - run->ready.exact[k * d + j];
                square += t * t;
            }
            smallest = fmin(smallest, square * scale * scale * (1 - HD_KMEANS_SLACK));
        }
        reach[m] = (float)smallest;
    }
}

/* Makes `count` vectors the candidates that rows are compared with. */
static void set_candidates(hd_kmeans_run *run, const double *vectors, int32_t count,
                           int32_t n_chosen) {
    hd_kmeans_centres_set(run->data, count, vectors, &run->ready);
    if (run->data->whole)
        measure_reach(run, n_chosen, run->gap);
    else
        measure_reach_of_centres(run, n_chosen, run->gap);
}

/* Visits all rows and adds the results of the chunks in their order. */
static huddle_status visit_all(seeding *s, int32_t count, double *totals) {
    huddle_status status = HUDDLE_OK;
    const hd_kmeans_run *run = s->run;
    const hd_kmeans_data *data = run->data;
    TRY(hd_parallel(data->context, NULL, data->x->n, data->grain, visit_rows, s));
    memset(totals, 0, (size_t)count * sizeof *totals);
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        for (int32_t t = 0; t < count; t++)
            totals[t] += run->partial[chunk * count + t];
    TRY(hd_reduce_sum(data->context, count, totals));
done:
    return status;
}

/* Tries rows as centre `number` and keeps the one that lowers the potential most, the first of
 * equal ones; *total becomes the potential. run->own.sums and run->gap are free while seeding. */
static huddle_status choose_best(hd_kmeans_run *run, const int64_t *rows, int32_t count,
                                 int32_t number, double *total) {
    huddle_status status = HUDDLE_OK;
    double gains[MAX_TRIALS], *vectors = run->own.sums;
    int64_t d = run->data->x->d;
    seeding s = {.run = run, .reach = run->gap, .number = number};
    TRY(take_rows(run->data, rows, count, vectors));
    /* Before the first centre there is no chosen row to measure from, and a reach of 0 excludes no
     * row. */
    run->gap[0] = 0;
    set_candidates(run, vectors, count, number);
    if (count > 1) {
        TRY(visit_all(&s, count, gains));
        for (int32_t t = 1; t < count; t++)
            s.best = gains[t] > gains[s.best] ? t : s.best;
        /* Distances were not kept: only those to the chosen candidate are computed again. */
        if (run->trial == NULL)
            set_candidates(run, vectors + s.best * d, 1, number);
    }
    /* The local number; only used if this process holds all rows (set_candidates()). */
    run->chosen[number] = (int32_t)(rows[s.best] - run->data->slab.first);
    memcpy(run->centres + number * d, vectors + s.best * d, (size_t)d * sizeof *vectors);
    s.keep = true;
    TRY(visit_all(&s, 1, total));
done:
    return status;
}

/* ---- the two methods ----------------------------------------------------------------------- */

/* Draws a row with probability proportional to its weight: with all D_i = 1. */
static huddle_status draw_first(hd_kmeans_run *run, hd_kmeans_source *source, int64_t *row) {
    const hd_kmeans_data *data = run->data;
    double total = 0;
    memset(run->partial, 0, (size_t)data->chunks * sizeof *run->partial);
    for (int64_t i = 0; i < data->x->n; i++) {
        run->upper[i] = 1;
        run->partial[i / data->grain] += hd_kmeans_weight(data, i);
    }
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        total += run->partial[chunk];
    return draw_rows(run, total, 1, source, row);
}

/* k-means++. The first centre is a random row; FLT_MAX as the distance to it before it is known
 * lets every row join it. */
static huddle_status choose_plusplus(hd_kmeans_run *run, hd_kmeans_source *source) {
    huddle_status status = HUDDLE_OK;
    int32_t c = run->data->c, trials = hd_kmeans_trials(c);
    int64_t rows[MAX_TRIALS];
    double total;
    TRY(draw_first(run, source, rows));
    /* All rows start at centre 0, which is chosen next. */
    for (int64_t i = 0; i < run->data->x->n; i++) {
        run->upper[i] = FLT_MAX;
        run->labels[i] = 0;
    }
    TRY(choose_best(run, rows, 1, 0, &total));
    for (int32_t k = 1; k < c; k++) {
        TRY(draw_rows(run, total, trials, source, rows));
        TRY(choose_best(run, rows, trials, k, &total));
        TRY(hd_kmeans_report(run, 0));
    }
done:
    return status;
}

/* Draws rows until c different ones are found. If more than half of the rows are needed, the others
 * are drawn instead, so that few draws are repeated. */
static huddle_status choose_sample(hd_kmeans_run *run, hd_kmeans_source *source) {
    huddle_status status = HUDDLE_OK;
    int64_t n = run->data->slab.total, c = run->data->c, *rows = NULL;
    unsigned char *drawn = NULL;
    bool inverse = c > n / 2;
    int64_t n_left = inverse ? n - c : c, count = 0;
    ALLOC_ZERO(drawn, n);
    ALLOC(rows, c);
    while (n_left > 0) {
        int64_t i = hd_rng_below(&source->rng, n);
        if (drawn[i])
            continue;
        drawn[i] = 1;
        n_left--;
        if (!inverse)
            rows[count++] = i;
    }
    for (int64_t i = 0; inverse && i < n; i++)
        if (!drawn[i])
            rows[count++] = i;
    TRY(take_rows(run->data, rows, c, run->centres));
done:
    FREE(drawn, rows);
    return status;
}

huddle_status hd_kmeans_seed(hd_kmeans_run *run, const char *init, hd_kmeans_source *source) {
    if (strcmp(init, "sample") == 0)
        return choose_sample(run, source);
    return choose_plusplus(run, source);
}
