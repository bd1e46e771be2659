/* Many rows: restarts run on a sample of them first, and only the best continue on more rows.
 *
 * Restarts exist to find the valley of the objective in which the smallest minimum lies. A few
 * hundred rows for each cluster distinguish most valleys, whatever the number of rows, so all
 * restarts run on a small sample. The better part of them continues from its centres on a sample
 * four times as large, and so on (successive halving: Jamieson and Talwalkar, AISTATS 2016); the
 * last few continue on all rows, where they need few iterations. The cost of n_init restarts is
 * then about that of the first sample, which does not grow with n.
 *
 * Samples and choices depend on the data and the seed alone, not on the number of threads. With
 * rows distributed over processes (slabs), every process gets the sample, which is the same as that
 * of one process, and they share the restarts on it; the last rounds are on the rows of all. */
#include "kmeans/restart.h"

#include "base/check.h"
#include "matrix/collect.h"

#include <math.h>
#include <string.h>

/* Rows of the first sample: at least FIRST_ROWS, and CLUSTER_ROWS for each cluster. A sample is
 * used only if there are SAMPLE_SHARE times as many rows; otherwise it would save too little. */
enum { FIRST_ROWS = 1 << 14, CLUSTER_ROWS = 256, SAMPLE_GROWTH = 4, SAMPLE_SHARE = 4 };

/* One of CONTINUE_SHARE restarts continues on more rows, but at least FINALISTS. Those whose
 * inertias agree to same_inertia have found the same clusters, and only one of them continues. */
enum { CONTINUE_SHARE = 5, FINALISTS = 3 };
static const double same_inertia = 1e-5;

/* On all rows, restarts begin near a minimum with small steps, so that tol, which is meant for
 * starts far away, would stop them early. (Values chosen by bench/kmeans_sample.py.) */
static const double finer_tol = .1;

/* A random stream that no restart uses. */
static const uint64_t sample_stream = UINT64_MAX;

typedef struct sample {
    huddle_points points;
    double *weights; /* or NULL: all 1 */
    double factor;   /* from the inertia of the sample to an estimate for all rows */
} sample;

/* ---- the sample ---------------------------------------------------------------------------- */

static int64_t first_size(int32_t c) {
    int64_t rows = (int64_t)CLUSTER_ROWS * c;
    return rows > FIRST_ROWS ? rows : FIRST_ROWS;
}

/* The final centres of all restarts are kept, which is not to take more memory than the sample:
 * n_init may be large. */
static bool wants_sample(int64_t n, const huddle_kmeans_options *options) {
    int64_t rows = first_size(options->n_clusters);
    return !options->full_restarts && !options->keep_starts && !options->keep_averaged &&
           options->start == NULL && options->draws == NULL && options->n_clusters > 1 &&
           options->n_init > 1 && n >= SAMPLE_SHARE * rows &&
           (int64_t)options->n_init * options->n_clusters <= rows;
}

/* The last sample, the largest, with its weights and the index of its rows; and the centres of all
 * restarts. */
int64_t hd_kmeans_sampled_memory(int64_t n, int64_t d, const huddle_kmeans_options *options,
                                 int32_t workers) {
    int64_t rows = first_size(options->n_clusters), real = sizeof(double);
    if (!wants_sample(n, options))
        return 0;
    while (n >= SAMPLE_SHARE * SAMPLE_GROWTH * rows)
        rows *= SAMPLE_GROWTH;
    return rows * (d * (int64_t)sizeof(float) + 2 * real) +
           (int64_t)options->n_init * options->n_clusters * d * real +
           hd_kmeans_restarts_memory(rows, d, options->n_clusters, options->n_init, true, workers);
}

/* The weights of the rows of this process among those of all: they are the numbers from begin to
 * end. */
typedef struct weight_range {
    double begin, end, total;
} weight_range;

/* The first process with rows has all numbers below its own, the last all above. */
static huddle_status find_range(huddle_context *context, const huddle_points *x,
                                const double *weights, weight_range *range) {
    huddle_status status = HUDDLE_OK;
    double own = weights != NULL ? 0 : (double)x->n;
    void *sums = NULL;
    int64_t count;
    for (int64_t i = 0; weights != NULL && i < x->n; i++)
        own += weights[i];
    *range = (weight_range){0, INFINITY, own};
    if (!hd_slabs_distributed(context))
        return status;
    TRY(hd_collect_rows(context, HD_EVERYWHERE, 1, &own, sizeof own, &count, &sums));
    double before = 0, after = 0;
    for (int64_t r = 0; r < count; r++) {
        before += r < hd_slabs_rank(context) ? ((const double *)sums)[r] : 0;
        after += r > hd_slabs_rank(context) ? ((const double *)sums)[r] : 0;
    }
    *range = (weight_range){before, after > 0 ? before + own : INFINITY, before + own + after};
done:
    huddle_free(sums);
    return status;
}

/* Stratified by the order of the rows: the sum of all weights is divided into `size` equal
 * intervals, and one number is drawn in each, which selects the row whose weight contains it. A row
 * of large weight can be selected several times: index has it once, and hits counts. A fixed
 * distance between the numbers would be cheaper, but might meet a period in the order of the rows.
 * Returns the number of different rows, of this process. */
static int64_t draw_strata(const huddle_points *x, const double *weights, weight_range range,
                           int64_t size, hd_rng *rng, int64_t *index, double *hits) {
    int64_t count = 0, i = 0;
    double before = range.begin; /* the weight of all rows before row i */
    for (int64_t k = 0; k < size; k++) {
        double at = ((double)k + hd_rng_uniform(rng)) * (range.total / (double)size);
        if (at < range.begin || at >= range.end || x->n == 0)
            continue;
        for (; i < x->n - 1 && before + (weights != NULL ? weights[i] : 1) <= at; i++)
            before += weights != NULL ? weights[i] : 1;
        if (count == 0 || index[count - 1] != i) {
            index[count] = i;
            hits[count++] = 0;
        }
        hits[count - 1]++;
    }
    return count;
}

/* The rows that the processes have drawn, on all of them. */
static huddle_status share_sample(huddle_context *context, const huddle_points *x, int64_t count,
                                  int64_t *index, const double *hits, sample *s) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    void *weights = NULL;
    int64_t total;
    TRY(hd_slab_locate(context, x->n, &slab));
    for (int64_t k = 0; k < count; k++)
        index[k] += slab.first;
    TRY(hd_collect_points(context, x, index, count, HD_EVERYWHERE, &s->points));
    TRY(hd_collect_rows(context, HD_EVERYWHERE, count, hits, sizeof *hits, &total, &weights));
    s->weights = weights;
done:
    return status;
}

/* Draws the sample. Rows are selected by their weight, so that each selection counts the same. */
static huddle_status take_sample(huddle_context *context, const huddle_points *x,
                                 const double *weights, int64_t size, hd_rng *rng, sample *s) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL;
    double *hits = NULL;
    weight_range range;
    TRY(find_range(context, x, weights, &range));
    ALLOC(index, size);
    ALLOC(hits, size);
    int64_t count = draw_strata(x, weights, range, size, rng, index, hits);
    if (hd_slabs_distributed(context)) {
        TRY(share_sample(context, x, count, index, hits, s));
    } else {
        TRY(huddle_points_take(x, index, count, &s->points));
        s->weights = hits;
        hits = NULL;
    }
    s->factor = range.total / (double)size;
    if (s->points.n == size) {
        huddle_free(s->weights);
        s->weights = NULL;
    }
done:
    FREE(index, hits);
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* The restarts that take part in a round, and their centres. */
typedef struct candidates {
    int32_t count;
    int32_t *restarts; /* count: their numbers */
    double *centres;   /* count x c x d; not valid before the first round */
    double *inertias;  /* count, of the last round */
} candidates;

/* The restarts that continue move to the front, in the order of their inertias, ties by the smaller
 * number; of those that have found the same clusters only the best. */
static huddle_status choose_candidates(int64_t cells, int32_t limit, candidates *f) {
    huddle_status status = HUDDLE_OK;
    int32_t *chosen = NULL, n_chosen = 0;
    double *centres = NULL, last = -INFINITY;
    ALLOC(chosen, limit);
    while (n_chosen < limit) {
        int32_t best = -1;
        for (int32_t k = 0; k < f->count; k++)
            if (f->inertias[k] > last && (best < 0 || f->inertias[k] < f->inertias[best]))
                best = k;
        if (best < 0)
            break;
        chosen[n_chosen++] = best;
        last = f->inertias[best] * (1 + same_inertia);
    }
    ALLOC(centres, n_chosen * cells);
    for (int32_t k = 0; k < n_chosen; k++) {
        memcpy(centres + k * cells, f->centres + chosen[k] * cells,
               (size_t)cells * sizeof *centres);
        chosen[k] = f->restarts[chosen[k]];
    }
    memcpy(f->restarts, chosen, (size_t)n_chosen * sizeof *chosen);
    f->count = n_chosen;
    huddle_free(f->centres);
    f->centres = centres;
done:
    huddle_free(chosen);
    return status;
}

/* Centres of an engine's restarts: the means of their labels, which Lloyd's iteration ends at. */
static void set_means(const sample *s, int32_t c, const int32_t *labels, double *mass,
                      double *centres) {
    int64_t d = s->points.d;
    memset(mass, 0, (size_t)c * sizeof *mass);
    memset(centres, 0, (size_t)(c * d) * sizeof *centres);
    for (int64_t i = 0; i < s->points.n; i++) {
        double weight = s->weights != NULL ? s->weights[i] : 1, *centre = centres + labels[i] * d;
        mass[labels[i]] += weight;
        if (s->points.offsets == NULL)
            for (int64_t j = 0; j < d; j++)
                centre[j] += weight * (double)s->points.values[i * s->points.stride + j];
        else
            for (int64_t e = s->points.offsets[i]; e < s->points.offsets[i + 1]; e++)
                centre[s->points.columns[e]] += weight * (double)s->points.values[e];
    }
    for (int32_t k = 0; k < c; k++)
        for (int64_t j = 0; j < d && mass[k] > 0; j++)
            centres[k * d + j] /= mass[k];
}

/* Asks the engine for the restarts of the candidates, which begin at their centres or, in the first
 * round, where it chooses. If it does not take them, result->labels is NULL. */
static huddle_status ask_engine(huddle_context *context, const huddle_points *x,
                                const double *weights, const huddle_kmeans_options *options,
                                bool first, candidates *f, huddle_kmeans_result *result,
                                huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_options own = *options;
    huddle_dense starts = {.rows = (int64_t)f->count * options->n_clusters,
                           .cols = x->d,
                           .stride = x->d,
                           .values = f->centres};
    own.start = first ? NULL : &starts;
    TRY(hd_kmeans_try_engine(context, x, weights, &own, result, info));
    if (result->labels == NULL)
        goto done;
    if (info->n_restarts != f->count || (own.keep_starts && info->start_labels == NULL))
        FAIL(HUDDLE_INTERNAL, "the engine returned %d restarts of K-means instead of %d",
             info->n_restarts, f->count);
    memcpy(f->inertias, info->inertias, (size_t)f->count * sizeof *f->inertias);
done:
    return status;
}

/* The restarts on a sample by the engine, if it takes them. */
static huddle_status run_by_engine(huddle_context *context, const sample *s,
                                   const huddle_kmeans_options *options, bool first, candidates *f,
                                   bool *handled) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_options own = *options;
    huddle_kmeans_result result = {0};
    huddle_kmeans_info info = {0};
    int32_t c = options->n_clusters;
    double *mass = NULL;
    ALLOC(mass, c);
    own.keep_starts = true;
    TRY(ask_engine(context, &s->points, s->weights, &own, first, f, &result, &info));
    *handled = result.labels != NULL;
    for (int64_t k = 0; k < f->count && *handled; k++)
        set_means(s, c, info.start_labels + k * s->points.n, mass,
                  f->centres + k * c * s->points.d);
done:
    huddle_free(mass);
    huddle_kmeans_result_free(&result);
    huddle_kmeans_info_free(&info);
    return status;
}

/* Restarts on a sample that every process has, without communication: each runs its part of
 * them. */
static huddle_status run_part(huddle_context *context, const sample *s,
                              const huddle_kmeans_options *options, bool first, int32_t part,
                              int32_t parts, candidates *f, bool *enough) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    bool handled = false;
    TRY(hd_kmeans_has_distinct(context, &s->points, options->n_clusters, enough));
    if (!*enough || part >= f->count)
        goto done;
    if (parts == 1)
        TRY(run_by_engine(context, s, options, first, f, &handled));
    if (handled)
        goto done;
    TRY(hd_kmeans_data_new(context, &s->points, s->weights, options->n_clusters, &data));
    hd_kmeans_restarts all = {.data = &data,
                              .options = options,
                              .count = f->count,
                              .starts = first ? NULL : f->centres,
                              .part = part,
                              .parts = parts,
                              .inertias = f->inertias,
                              .ends = f->centres};
    TRY(hd_kmeans_run_restarts(&all, NULL));
done:
    hd_kmeans_data_free(&data);
    return status;
}

/* Inertias and centres of the restarts that other processes ran. */
static huddle_status share_ends(huddle_context *context, int64_t cells, int32_t part, int32_t parts,
                                candidates *f) {
    for (int32_t k = 0; k < f->count; k++) {
        if (k % parts == part)
            continue;
        f->inertias[k] = INFINITY;
        for (int64_t e = k * cells; e < (k + 1) * cells; e++)
            f->centres[e] = INFINITY;
    }
    huddle_status status = hd_reduce_min(context, f->count, f->inertias);
    return status == HUDDLE_OK ? hd_reduce_min(context, f->count * cells, f->centres) : status;
}

/* A round on a sample of `size` rows. all_inertias, by the number of the restart, are estimates for
 * all rows. */
static huddle_status run_on_sample(huddle_context *context, const huddle_points *x,
                                   const double *row_weights, const huddle_kmeans_options *options,
                                   int64_t size, bool first, hd_rng *rng, candidates *f,
                                   double *all_inertias, bool *enough) {
    huddle_status status = HUDDLE_OK;
    sample s = {0};
    int32_t part = hd_slabs_rank(context), parts = hd_slabs_count(context);
    TRY(take_sample(context, x, row_weights, size, rng, &s));
    bool distributed = hd_slabs_distributed(context);
    hd_alone before = hd_alone_begin_if(context, distributed);
    status = run_part(context, &s, options, first, part, parts, f, enough);
    hd_alone_end(context, before);
    TRY(hd_agree(context, status));
    if (*enough && distributed)
        TRY(share_ends(context, options->n_clusters * x->d, part, parts, f));
    for (int32_t k = 0; k < f->count && *enough; k++)
        all_inertias[f->restarts[k]] = f->inertias[k] * s.factor;
done:
    huddle_points_free(&s.points);
    huddle_free(s.weights);
    return status;
}

/* The last round by the engine, if it takes it; the best and its outcome as of
 * hd_kmeans_run_restarts(). */
static huddle_status finish_by_engine(huddle_context *context, const huddle_points *x,
                                      const double *row_weights,
                                      const huddle_kmeans_options *options, candidates *f,
                                      hd_kmeans_restarts *all, huddle_kmeans_result *result) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_info info = {0};
    TRY(ask_engine(context, x, row_weights, options, false, f, result, &info));
    all->best = info.best;
    all->outcome = (hd_kmeans_outcome){info.inertia, info.n_iter, info.stop};
done:
    huddle_kmeans_info_free(&info);
    return status;
}

/* The last round. */
static huddle_status run_on_all(huddle_context *context, const huddle_points *x,
                                const double *row_weights, const huddle_kmeans_options *options,
                                candidates *f, huddle_kmeans_result *result,
                                huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_kmeans_data data = {0};
    huddle_kmeans_options finer = *options;
    hd_kmeans_restarts all = {.data = &data,
                              .options = &finer,
                              .count = f->count,
                              .starts = f->centres,
                              .inertias = f->inertias};
    finer.tol *= finer_tol;
    TRY(finish_by_engine(context, x, row_weights, &finer, f, &all, result));
    if (result->labels == NULL) {
        TRY(hd_kmeans_data_new(context, x, row_weights, options->n_clusters, &data));
        TRY(hd_kmeans_run_restarts(&all, result));
    }
    for (int32_t k = 0; k < f->count; k++)
        info->inertias[f->restarts[k]] = f->inertias[k];
    info->inertia = all.outcome.inertia;
    info->best = f->restarts[all.best];
    info->n_iter = all.outcome.n_iter;
    info->n_distinct = options->n_clusters;
    info->stop = all.outcome.stop;
done:
    hd_kmeans_data_free(&data);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static huddle_status new_candidates(const huddle_kmeans_options *options, int64_t cells,
                                    candidates *f) {
    huddle_status status = HUDDLE_OK;
    f->count = options->n_init;
    ALLOC(f->restarts, f->count);
    ALLOC(f->inertias, f->count);
    ALLOC(f->centres, f->count * cells);
    for (int32_t r = 0; r < f->count; r++)
        f->restarts[r] = r;
done:
    return status;
}

/* Rounds on larger and larger samples. *enough becomes false if a sample has fewer distinct rows
 * than there are clusters, some of which it would leave empty. */
static huddle_status run_rounds(huddle_context *context, const huddle_points *x,
                                const double *row_weights, const huddle_kmeans_options *options,
                                candidates *f, double *inertias, bool *enough) {
    huddle_status status = HUDDLE_OK;
    hd_rng rng = hd_rng_stream(options->seed, sample_stream);
    int64_t first = first_size(options->n_clusters);
    hd_slab slab;
    TRY(hd_slab_locate(context, x->n, &slab));
    /* Every process gets the sample, which must not be more than its own rows. */
    int64_t largest = slab.total / hd_slabs_count(context);
    largest = largest > first ? largest : first;
    *enough = true;
    for (int64_t size = first; *enough && slab.total >= SAMPLE_SHARE * size && size <= largest;
         size *= SAMPLE_GROWTH) {
        TRY(run_on_sample(context, x, row_weights, options, size, size == first, &rng, f, inertias,
                          enough));
        int32_t limit = f->count / CONTINUE_SHARE;
        if (*enough)
            TRY(choose_candidates(options->n_clusters * x->d, limit > FINALISTS ? limit : FINALISTS,
                                  f));
    }
done:
    return status;
}

huddle_status hd_kmeans_try_sampled(huddle_context *context, const huddle_points *x,
                                    const double *row_weights, const huddle_kmeans_options *options,
                                    huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    candidates f = {0};
    bool enough;
    hd_slab slab;
    TRY(hd_slab_locate(context, x->n, &slab));
    if (!wants_sample(slab.total, options))
        goto done;
    TRY(new_candidates(options, options->n_clusters * x->d, &f));
    ALLOC(info->inertias, options->n_init);
    info->n_restarts = options->n_init;
    TRY(run_rounds(context, x, row_weights, options, &f, info->inertias, &enough));
    if (enough)
        TRY(run_on_all(context, x, row_weights, options, &f, result, info));
done:
    FREE(f.restarts, f.inertias, f.centres);
    if (result->labels == NULL)
        huddle_kmeans_info_free(info);
    return status;
}
