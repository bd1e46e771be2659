/* Fewer distinct rows than clusters: then they are the centres, at inertia 0, and no iteration is
 * needed; it would have to handle clusters that cannot be filled. Distinct rows are found by
 * hashing, which stops as soon as there are enough of them, usually after a few rows. */
#include "base/check.h"
#include "kmeans/restart.h"

#include <math.h>
#include <string.h>

/* Rows between checks for cancelling. */
enum { CANCEL_ROWS = 4096 };

/* ---- rows of one process ------------------------------------------------------------------ */

/* The next value of row i that is not 0, from position *e on; false at the end of the row. Dense
 * and sparse rows are read alike, and explicit zeros of sparse rows are skipped. */
static bool next_value(const huddle_points *x, int64_t i, int64_t *e, int64_t *column, float *v) {
    int64_t begin = x->offsets != NULL ? x->offsets[i] : i * x->stride;
    int64_t end = x->offsets != NULL ? x->offsets[i + 1] : begin + x->d;
    while (begin + *e < end) {
        int64_t at = begin + (*e)++;
        if (x->values[at] == 0)
            continue;
        *column = x->offsets != NULL ? x->columns[at] : at - begin;
        *v = x->values[at];
        return true;
    }
    return false;
}

/* A hash of the positions and bits of the values that are not 0, so that dense and sparse rows, and
 * -0 and 0, agree. Multiplication by 2^64 divided by the golden ratio (Fibonacci hashing, Knuth)
 * and shifts mix the bits. */
static uint64_t hash_row(const huddle_points *x, int64_t i) {
    uint64_t hash = 0;
    int64_t e = 0, column;
    float v;
    while (next_value(x, i, &e, &column, &v)) {
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        hash = (hash ^ ((uint64_t)column << 32 | bits)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash ^ hash >> 32;
}

/* Whether rows a and b have the same values. */
static bool equal_rows(const huddle_points *x, int64_t a, int64_t b) {
    int64_t e = 0, f = 0, column_a, column_b;
    float v, w;
    for (;;) {
        bool more_a = next_value(x, a, &e, &column_a, &v);
        bool more_b = next_value(x, b, &f, &column_b, &w);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (column_a != column_b || v != w)
            return false;
    }
}

/* Counts distinct rows up to c; rows[0 .. *count - 1] are the first of each. If there are fewer
 * than c, labels[i] is the number of the distinct row that row i equals. Open addressing with
 * linear probing; the table is at least twice as large as the number of entries, so probes are
 * short. Numbers follow the order of rows, not of hashes. */
static huddle_status find_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                   int32_t *rows, int32_t *labels, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t *table = NULL; /* 1 + number of a distinct row, or 0 */
    uint64_t size = 16;
    /* A power of two, so that a slot is a masked hash. */
    while (size < 2 * (uint64_t)c)
        size *= 2;
    ALLOC_ZERO(table, size);
    *count = 0;
    for (int64_t i = 0; i < x->n && *count < c; i++) {
        uint64_t slot = hash_row(x, i) & (size - 1);
        while (table[slot] != 0 && !equal_rows(x, i, rows[table[slot] - 1]))
            slot = (slot + 1) & (size - 1);
        if (table[slot] == 0) {
            rows[(*count)++] = (int32_t)i;
            table[slot] = *count;
        }
        labels[i] = table[slot] - 1;
        if (i % CANCEL_ROWS == 0)
            TRY(hd_check_cancel(context));
    }
done:
    huddle_free(table);
    return status;
}

huddle_status hd_kmeans_has_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                     bool *enough) {
    huddle_status status = HUDDLE_OK;
    int32_t *rows = NULL, *labels = NULL, count;
    ALLOC(rows, c);
    ALLOC(labels, x->n);
    TRY(find_distinct(context, x, c, rows, labels, &count));
    *enough = count == c;
done:
    FREE(rows, labels);
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

/* ---- rows of all processes ---------------------------------------------------------------- */

/* Numbers the distinct rows of all processes: values (total x d) contains the rows of one process
 * after the other, and number[k] becomes the place of row k among those that are different; these
 * are moved to the front. Each process has fewer than c rows, so pairwise comparison is affordable.
 * Slots that no process filled in are infinite. Returns how many are different. */
static int32_t number_rows(int64_t total, int64_t d, double *values, int32_t *number) {
    int32_t count = 0;
    for (int64_t k = 0; k < total; k++) {
        const double *row = values + k * d;
        int32_t same = 0;
        if (isinf(row[0]))
            continue;
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
 * exchange of rows. Rows are exchanged by a minimum with infinity in all other places. */
static huddle_status join_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                   const int32_t *rows, int32_t *labels, int32_t *count,
                                   double **values) {
    huddle_status status = HUDDLE_OK;
    int32_t *number = NULL;
    double max_count = *count;
    hd_slab slab;
    TRY(hd_reduce_max(context, 1, &max_count));
    if (max_count >= c) {
        *count = c;
        goto done;
    }
    TRY(hd_slab_locate(context, *count, &slab));
    ALLOC(*values, slab.total * x->d);
    ALLOC_ZERO(number, slab.total);
    for (int64_t k = 0; k < slab.total * x->d; k++)
        (*values)[k] = INFINITY;
    copy_rows(x, rows, *count, *values + slab.first * x->d);
    /* Every place was filled in by one process; the others contribute infinity. */
    TRY(hd_reduce_min(context, slab.total * x->d, *values));
    for (int64_t k = 0; k < slab.total * x->d; k++)
        (*values)[k] += 0.0; /* -0 equals 0 */
    *count = number_rows(slab.total, x->d, *values, number);
    /* Together the processes may have c distinct rows or more, although none has alone. */
    *count = *count < c ? *count : c;
    for (int64_t i = 0; i < x->n; i++)
        labels[i] = number[slab.first + labels[i]];
done:
    huddle_free(number);
    return status;
}

/* ---- the result --------------------------------------------------------------------------- */

/* The distinct rows are the centres; the first one is repeated for the clusters that remain
 * empty. */
static huddle_status set_centres(const double *values, int64_t d, int32_t count, int32_t c,
                                 huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(c, d, centres));
    for (int64_t k = 0; k < c; k++)
        memcpy(centres->values + k * centres->stride, values + (k < count ? k : 0) * d,
               (size_t)d * sizeof *values);
done:
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
    TRY(set_centres(values, x->d, count, c, &result->centres));
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
