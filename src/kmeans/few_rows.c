/* Fewer distinct rows than clusters: then they are the centres, at inertia 0, and no iteration is
 * needed; it would have to handle clusters that cannot be filled. Distinct rows are found by
 * hashing, which stops as soon as there are enough of them, usually after a few rows. */
#include "base/check.h"
#include "kmeans/restart.h"
#include "matrix/collect.h"
#include "matrix/points.h"

#include <string.h>

/* Counts distinct rows up to c. If there are fewer, rows[0 .. *count - 1] are the first of each,
 * and labels[i] is the number of the distinct row that row i equals. A first row comes before its
 * copies, so that its number is known when they are reached. */
static huddle_status find_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                   int32_t *rows, int32_t *labels, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t next = 0;
    int64_t found;
    TRY(hd_points_find_firsts(context, x, c, labels, &found));
    *count = (int32_t)found;
    for (int64_t i = 0; i < x->n && found < c; i++) {
        if (labels[i] == i)
            rows[next] = (int32_t)i;
        labels[i] = labels[i] == i ? next++ : labels[labels[i]];
    }
done:
    return status;
}

huddle_status hd_kmeans_has_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                     bool *enough) {
    huddle_status status = HUDDLE_OK;
    int32_t *firsts = NULL;
    int64_t count;
    ALLOC(firsts, x->n);
    TRY(hd_points_find_firsts(context, x, c, firsts, &count));
    *enough = count == c;
done:
    huddle_free(firsts);
    return status;
}

/* Copies rows of x as doubles: count x d. */
static void copy_rows(const huddle_points *x, const int32_t *rows, int32_t count, double *values) {
    memset(values, 0, (size_t)(count * x->d) * sizeof *values);
    for (int64_t k = 0; k < count; k++) {
        int64_t i = rows[k];
        if (x->offsets == NULL)
            for (int64_t j = 0; j < x->d; j++)
                values[k * x->d + j] = (double)x->values[i * x->stride + j];
        else
            for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
                values[k * x->d + x->columns[e]] = (double)x->values[e];
    }
}

/* Numbers the distinct rows of all processes: values (total x d) contains the rows of one process
 * after the other, and number[k] becomes the place of row k among those that are different; these
 * are moved to the front. Each process has fewer than c rows, so pairwise comparison is affordable.
 * Returns how many are different. */
static int32_t number_rows(int64_t total, int64_t d, double *values, int32_t *number) {
    int32_t count = 0;
    for (int64_t k = 0; k < total; k++) {
        const double *row = values + k * d;
        int32_t same = 0;
        while (same < count && memcmp(values + same * d, row, (size_t)d * sizeof *row) != 0)
            same++;
        number[k] = same;
        if (same == count)
            memmove(values + count++ * d, row, (size_t)d * sizeof *row);
    }
    return count;
}

/* Distinct rows of all processes (values, of which *count are valid), and labels by them. *count is
 * c if there are at least that many; one process with c distinct rows decides this without an
 * exchange of rows. */
static huddle_status join_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                   const int32_t *rows, int32_t *labels, int32_t *count,
                                   double **values) {
    huddle_status status = HUDDLE_OK;
    int32_t *number = NULL;
    double *own = NULL, max_count = *count;
    int64_t total;
    void *all = NULL;
    hd_slab slab;
    TRY(hd_reduce_max(context, 1, &max_count));
    if (max_count >= c) {
        *count = c;
        goto done;
    }
    TRY(hd_slab_locate(context, *count, &slab));
    ALLOC(own, *count * x->d);
    ALLOC(number, slab.total);
    copy_rows(x, rows, *count, own);
    for (int64_t k = 0; k < *count * x->d; k++)
        own[k] += 0.0; /* -0 equals 0 */
    TRY(hd_collect_rows(context, HD_EVERYWHERE, *count, own, (size_t)x->d * sizeof *own, &total,
                        &all));
    *values = all;
    *count = number_rows(total, x->d, *values, number);
    /* Together the processes may have c distinct rows or more, although none has alone. */
    *count = *count < c ? *count : c;
    for (int64_t i = 0; i < x->n; i++)
        labels[i] = number[slab.first + labels[i]];
done:
    FREE(number, own);
    return status;
}

/* Leaves result->labels NULL if there are enough distinct rows, which is the usual case. */
huddle_status hd_kmeans_place_few_rows(huddle_context *context, const huddle_points *x,
                                       const huddle_kmeans_options *options,
                                       huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int32_t c = options->n_clusters, count;
    int32_t *rows = NULL, *labels = NULL;
    double *values = NULL;
    ALLOC(rows, c);
    ALLOC(labels, x->n);
    TRY(find_distinct(context, x, c, rows, labels, &count));
    if (hd_context_engine(context)->slabs != NULL)
        TRY(join_distinct(context, x, c, rows, labels, &count, &values));
    if (count == c)
        goto done;
    if (values == NULL) {
        ALLOC(values, count * x->d);
        copy_rows(x, rows, count, values);
    }
    hd_warn(context, HUDDLE_WARNING_FEW_DISTINCT, "only %d distinct row%s for %d clusters", count,
            count == 1 ? "" : "s", c);
    TRY(huddle_dense_new(c, x->d, &result->centres));
    /* The first one is repeated for the clusters that remain empty. */
    for (int64_t k = 0; k < c; k++)
        memcpy(result->centres.values + k * result->centres.stride,
               values + (k < count ? k : 0) * x->d, (size_t)x->d * sizeof *values);
    ALLOC_ZERO(info->inertias, 1);
    if (options->keep_starts) {
        ALLOC(info->start_labels, x->n);
        memcpy(info->start_labels, labels, (size_t)x->n * sizeof *labels);
    }
    info->n_restarts = 1;
    info->n_distinct = count;
    info->stop = HUDDLE_STOP_EXACT;
    result->labels = labels;
    labels = NULL;
done:
    FREE(rows, labels, values);
    return status;
}
