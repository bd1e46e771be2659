/* Distinct rows by hashing: stops as soon as there are enough, usually after a few rows. */
#include "kmeans/restart.h"

#include "base/check.h"

#include <string.h>

/* The next value of row i that is not 0, from position *e on; false at the row's end. */
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

huddle_status hd_kmeans_distinct(huddle_context *context, const huddle_points *x, int32_t c,
                                 int32_t *rows, int32_t *labels, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    enum { PATIENCE = 4096 };
    int32_t *table = NULL; /* 1 + number of a distinct row, or 0 */
    uint64_t size = 16;
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
        if (i % PATIENCE == 0)
            TRY(hd_check_cancel(context));
    }
done:
    huddle_free(table);
    return status;
}
