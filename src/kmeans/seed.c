/* Starting centres: k-means++ (Arthur and Vassilvitskii 2007), each centre the best of a few
 * candidates, or a plain sample of the rows.
 *
 * While seeding, run->labels[i] is the nearest row chosen so far, run->upper[i] the scaled
 * squared distance D_i to it. A candidate at least 2 sqrt(D_i) away from that row cannot be nearer
 * to row i; such rows are passed over. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_TRIALS = 2 + 22 }; /* 2 + log(2^31) */

int32_t hd_kmeans_trials(int32_t c) {
    return c < 3 ? c : 2 + (int32_t)log((double)c);
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* Row i with probability proportional to weight_i D_i, run->partial holding the sums of the
 * chunks. If all is 0, every row is as likely. */
static int32_t draw(const hd_kmeans_run *run, double total, hd_rng *rng) {
    const hd_kmeans_data *data = run->data;
    int64_t n = data->x->n, chunk = 0;
    if (!(total > 0))
        return (int32_t)hd_rng_below(rng, n);
    double left = hd_rng_uniform(rng) * total;
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
    return (int32_t)last;
}

/* ---- one round ---------------------------------------------------------------------------- */

typedef struct seeding {
    hd_kmeans_run *run;
    const float *reach; /* of each chosen row: the least squared distance to a candidate */
    bool keep;          /* candidate `best` is chosen, as centre `number` */
    int32_t best, number;
} seeding;

/* Adds how much each candidate would lower the potential of a block of rows. */
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
        gain[k] += (double)run->data->kernels->gain(scratch->scores + (int64_t)k * HD_KMEANS_BLOCK, before,
                                                    weight);
    for (int32_t r = 0; r < count && run->trial != NULL; r++)
        for (int64_t k = 0; k < run->ready.k; k++)
            run->trial[rows[r] * (int64_t)run->ready.k + k] = scratch->scores[k * HD_KMEANS_BLOCK + r];
}

/* Rows of the block for which the chosen candidate is nearer than what was chosen before. Their
 * distances are remembered from the trial, or measured. */
static void keep_block(const seeding *s, const int32_t *rows, int32_t count,
                       hd_kmeans_scratch *scratch) {
    hd_kmeans_run *run = s->run;
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

static void look_at(const seeding *s, const int32_t *rows, int32_t count,
                    hd_kmeans_scratch *scratch, double *gain) {
    if (s->keep)
        keep_block(s, rows, count, scratch);
    else
        weigh_block(s, rows, count, scratch, gain);
}

/* The potential of rows begin .. end - 1. */
static double potential(const hd_kmeans_run *run, int64_t begin, int64_t end) {
    double sums[4] = {0};
    for (; begin + 4 <= end; begin += 4)
        for (int q = 0; q < 4; q++)
            sums[q] += hd_kmeans_weight(run->data, begin + q) * (double)run->upper[begin + q];
    for (; begin < end; begin++)
        sums[0] += hd_kmeans_weight(run->data, begin) * (double)run->upper[begin];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

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
                look_at(s, rows, count, scratch, partial);
                count = 0;
            }
        }
    }
    if (count > 0)
        look_at(s, rows, count, scratch, partial);
    if (s->keep)
        *partial = potential(run, chunk.begin, chunk.end);
    return HUDDLE_OK;
}

/* Makes rows of x ready as candidates. run->sums is free while seeding. */
static void set_candidates(hd_kmeans_run *run, const int32_t *rows, int32_t count) {
    int64_t d = run->data->x->d;
    memset(run->sums, 0, (size_t)(count * d) * sizeof *run->sums);
    for (int32_t t = 0; t < count; t++)
        hd_kmeans_add_row(run->data, rows[t], 1, run->sums + t * d);
    hd_kmeans_centres_set(run->data, count, run->sums, &run->ready);
}

/* reach[m] = least squared distance from chosen row m to a candidate. */
static void measure_reach(hd_kmeans_run *run, int32_t n_chosen, float *reach) {
    for (int32_t first = 0; first < n_chosen; first += HD_KMEANS_BLOCK) {
        int32_t count = n_chosen - first < HD_KMEANS_BLOCK ? n_chosen - first : HD_KMEANS_BLOCK;
        hd_kmeans_distances(run->data, &run->ready, run->chosen + first, count, run->scratch);
        for (int32_t r = 0; r < count; r++) {
            float least = FLT_MAX;
            for (int32_t k = 0; k < run->ready.k; k++)
                least = fminf(least, run->scratch->scores[(int64_t)k * HD_KMEANS_BLOCK + r]);
            reach[first + r] = least;
        }
    }
}

/* Goes over all rows and adds up what the chunks found. */
static huddle_status visit(seeding *s, int32_t count, double *totals) {
    const hd_kmeans_run *run = s->run;
    const hd_kmeans_data *data = run->data;
    huddle_status status = hd_parallel(data->context, NULL, data->x->n, data->grain, visit_rows, s);
    memset(totals, 0, (size_t)count * sizeof *totals);
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        for (int32_t t = 0; t < count; t++)
            totals[t] += run->partial[chunk * count + t];
    return status;
}

/* Tries rows as centre `number` and takes the one that lowers the potential most; *total becomes
 * the potential. */
static huddle_status choose_best(hd_kmeans_run *run, const int32_t *rows, int32_t count,
                                 int32_t number, double *total) {
    huddle_status status = HUDDLE_OK;
    double gains[MOST_TRIALS];
    seeding s = {.run = run, .reach = run->gap, .number = number};
    set_candidates(run, rows, count);
    run->gap[0] = 0;
    measure_reach(run, number, run->gap);
    if (count > 1) {
        TRY(visit(&s, count, gains));
        for (int32_t t = 1; t < count; t++)
            s.best = gains[t] > gains[s.best] ? t : s.best;
        if (run->trial == NULL) {
            set_candidates(run, &rows[s.best], 1);
            measure_reach(run, number, run->gap);
        }
    }
    run->chosen[number] = rows[s.best];
    s.keep = true;
    TRY(visit(&s, 1, total));
done:
    return status;
}

/* ---- the two ways ------------------------------------------------------------------------- */

/* A row with probability proportional to its weight. */
static int32_t draw_first(hd_kmeans_run *run, hd_rng *rng) {
    const hd_kmeans_data *data = run->data;
    double total = 0;
    memset(run->partial, 0, (size_t)data->chunks * sizeof *run->partial);
    for (int64_t i = 0; i < data->x->n; i++) {
        run->upper[i] = 1;
        run->partial[i / data->grain] += hd_kmeans_weight(data, i);
    }
    for (int64_t chunk = 0; chunk < data->chunks; chunk++)
        total += run->partial[chunk];
    return draw(run, total, rng);
}

static huddle_status choose_spread(hd_kmeans_run *run, hd_rng *rng) {
    huddle_status status = HUDDLE_OK;
    int32_t c = run->data->c, trials = hd_kmeans_trials(c), rows[MOST_TRIALS];
    double total;
    rows[0] = draw_first(run, rng);
    for (int64_t i = 0; i < run->data->x->n; i++) {
        run->upper[i] = FLT_MAX;
        run->labels[i] = 0;
    }
    TRY(choose_best(run, rows, 1, 0, &total));
    for (int32_t k = 1; k < c; k++) {
        for (int32_t t = 0; t < trials; t++)
            rows[t] = draw(run, total, rng);
        TRY(choose_best(run, rows, trials, k, &total));
        TRY(hd_kmeans_report(run, 0));
    }
done:
    return status;
}

/* Draws until c different rows are found; labels serve as marks. When most rows are wanted, it is
 * the others that are drawn. */
static void choose_sample(hd_kmeans_run *run, hd_rng *rng) {
    int64_t n = run->data->x->n, c = run->data->c;
    bool inverse = c > n / 2;
    int64_t wanted = inverse ? n - c : c, count = 0;
    memset(run->labels, 0, (size_t)n * sizeof *run->labels);
    while (wanted > 0) {
        int64_t i = hd_rng_below(rng, n);
        if (run->labels[i])
            continue;
        run->labels[i] = 1;
        wanted--;
        if (!inverse)
            run->chosen[count++] = (int32_t)i;
    }
    for (int64_t i = 0; inverse && i < n; i++)
        if (!run->labels[i])
            run->chosen[count++] = (int32_t)i;
}

huddle_status hd_kmeans_seed(hd_kmeans_run *run, const char *init, hd_rng *rng) {
    huddle_status status = HUDDLE_OK;
    int64_t d = run->data->x->d;
    int32_t c = run->data->c;
    if (strcmp(init, "sample") == 0)
        choose_sample(run, rng);
    else
        TRY(choose_spread(run, rng));
    memset(run->centres, 0, (size_t)(c * d) * sizeof *run->centres);
    for (int32_t k = 0; k < c; k++)
        hd_kmeans_add_row(run->data, run->chosen[k], 1, run->centres + k * d);
done:
    return status;
}
