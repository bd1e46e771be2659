#include "steps/slabs.h"

#include "base/check.h"
#include "base/rng.h"

#include <string.h>

/* The same random numbers as on one process give the same rows. */
huddle_status hd_step_sample(huddle_context *context, const huddle_points *x, int64_t limit,
                             uint64_t seed, huddle_points *owned, huddle_points *view) {
    huddle_status status = HUDDLE_OK;
    bool distributed = hd_slabs_distributed(context);
    int64_t *index = NULL;
    hd_slab slab;
    memset(owned, 0, sizeof *owned);
    *view = *x;
    if (distributed)
        TRY(huddle_points_fetch(x));
    TRY(hd_slab_locate(context, x->n, &slab));
    if (slab.total > limit) {
        hd_rng rng = hd_rng_stream(seed, 0);
        ALLOC(index, limit);
        hd_rng_sample(&rng, slab.total, limit, index);
    }
    if (distributed)
        TRY(hd_collect_points(context, x, index, limit, 0, owned));
    else if (index != NULL)
        TRY(huddle_points_take(x, index, limit, owned));
    if (distributed || index != NULL)
        *view = *owned;
done:
    huddle_free(index);
    return hd_agree(context, status);
}

/* ---- equal rows ------------------------------------------------------------------------------ */

/* Values of distinct rows that every process may have of all (64 MB). */
enum { MOST_VALUES = 1 << 23 };

void hd_step_distinct_free(hd_step_distinct *s) {
    FREE(s->first, s->weights, s->of);
    memset(s, 0, sizeof *s);
}

/* The distinct rows of one process, and their numbers among those of all. */
typedef struct own_rows {
    huddle_distinct distinct;
    double *copies; /* rows of x that each stands for */
    hd_slab slab;
} own_rows;

static int64_t first_of(const own_rows *own, int64_t k) {
    return own->distinct.first != NULL ? own->distinct.first[k] : k;
}

static int64_t number_of(const own_rows *own, int64_t i) {
    return own->distinct.of != NULL ? own->distinct.of[i] : i;
}

static huddle_status find_own(huddle_context *context, const huddle_dense *matrix,
                              const hd_fit_rows *rows, own_rows *own) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_distinct(context, matrix, &own->distinct));
    TRY(hd_slab_locate(context, own->distinct.count, &own->slab));
    ALLOC_ZERO(own->copies, own->distinct.count);
    for (int64_t i = 0; i < matrix->rows; i++)
        own->copies[number_of(own, i)] += (double)hd_fit_rows_copies(rows, i);
done:
    return status;
}

/* Every process gets the distinct rows of all and compares them; `among` numbers them by first
 * occurrence, as one process would. weights: of those. */
static huddle_status compare_all(huddle_context *context, const huddle_dense *matrix,
                                 const own_rows *own, huddle_distinct *among, double **weights) {
    huddle_status status = HUDDLE_OK;
    int64_t count = own->distinct.count, d = matrix->cols, total;
    double *values = NULL;
    void *all = NULL, *copies = NULL;
    ALLOC(values, count * d);
    for (int64_t k = 0; k < count; k++)
        memcpy(values + k * d, matrix->values + first_of(own, k) * matrix->stride,
               (size_t)d * sizeof *values);
    TRY(hd_collect_rows(context, HD_EVERYWHERE, count, values, (size_t)d * sizeof *values, &total,
                        &all));
    TRY(hd_collect_rows(context, HD_EVERYWHERE, count, own->copies, sizeof *own->copies, &total,
                        &copies));
    huddle_dense rows = {.rows = total, .cols = d, .stride = d, .values = all};
    TRY_ALONE(context, huddle_dense_distinct(context, &rows, among));
    ALLOC_ZERO(*weights, among->count);
    for (int64_t g = 0; g < total; g++)
        (*weights)[among->of != NULL ? among->of[g] : g] += ((const double *)copies)[g];
done:
    FREE(values, all, copies);
    return hd_agree(context, status);
}

/* Of the own distinct rows, those that no earlier process has. */
static void list_firsts(const own_rows *own, const huddle_distinct *among, const double *weights,
                        hd_step_distinct *s) {
    for (int64_t k = 0; k < own->distinct.count; k++) {
        int64_t here = own->slab.first + k, number = among->of != NULL ? among->of[here] : here;
        if (s->merged && among->of != NULL && among->first[number] != here)
            continue;
        s->weights[s->count] = s->merged ? weights[number] : own->copies[k];
        s->first[s->count++] = first_of(own, k);
    }
}

huddle_status hd_step_find_distinct(huddle_context *context, const huddle_dense *matrix,
                                    const hd_fit_rows *rows, hd_step_distinct *s) {
    huddle_status status = HUDDLE_OK;
    own_rows own = {0};
    huddle_distinct among = {0};
    double *weights = NULL;
    memset(s, 0, sizeof *s);
    TRY(find_own(context, matrix, rows, &own));
    if (!hd_slabs_distributed(context)) {
        *s = (hd_step_distinct){own.distinct.count, own.distinct.first, own.copies, own.distinct.of,
                                false};
        own.distinct.first = NULL;
        own.distinct.of = NULL;
        own.copies = NULL;
        goto done;
    }
    s->merged = own.slab.total * matrix->cols <= MOST_VALUES;
    if (s->merged)
        TRY(compare_all(context, matrix, &own, &among, &weights));
    ALLOC(s->first, own.distinct.count);
    ALLOC(s->weights, own.distinct.count);
    ALLOC(s->of, matrix->rows);
    list_firsts(&own, &among, weights, s);
    for (int64_t i = 0; i < matrix->rows; i++) {
        int64_t here = number_of(&own, i);
        here += s->merged ? own.slab.first : 0;
        s->of[i] = among.of != NULL ? among.of[here] : (int32_t)here;
    }
done:
    huddle_distinct_free(&own.distinct);
    huddle_free(own.copies);
    huddle_distinct_free(&among);
    huddle_free(weights);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        hd_step_distinct_free(s);
    return status;
}

huddle_status hd_step_expand_labels(huddle_context *context, const hd_step_distinct *s,
                                    const int32_t *found, int64_t n, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    const int32_t *all = found;
    void *collected = NULL;
    int64_t total;
    if (s->merged) {
        TRY(hd_collect_rows(context, HD_EVERYWHERE, s->count, found, sizeof *found, &total,
                            &collected));
        all = collected;
    }
    for (int64_t i = 0; i < n; i++)
        labels[i] = all[s->of != NULL ? s->of[i] : i];
done:
    huddle_free(collected);
    return status;
}
