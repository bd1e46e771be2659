/* Distinct rows by hashing: rows of equal hash are compared value by value, so the result is exact
 * whatever the hash. Rows of this process only. Distinct rows are numbered by their first
 * occurrence. */
#include "matrix/points.h"

#include "base/check.h"
#include "base/parallel.h"
#include "base/slabs.h"

#include <string.h>

enum { LANES = 4, VALUES_PER_CHUNK = 1 << 16 };

/* Rows between checks for cancelling. */
enum { CANCEL_ROWS = 4096 };

/* The rows of one of the containers. */
typedef struct rows {
    int64_t n;
    const huddle_points *points; /* one of these two */
    const huddle_dense *dense;
    uint64_t *hash; /* n */
} rows;

/* ---- hashing ------------------------------------------------------------------------------- */

/* Multiplication by the golden ratio in 64 bits (Fibonacci hashing: Knuth, The Art of Computer
 * Programming, 6.4) moves every bit upwards; the shift brings the high bits down again. */
static uint64_t mix_bits(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* -0 and 0 are equal values and must have the same hash: the sum is 0 of both. */
static uint64_t float_bits(float value) {
    uint32_t bits;
    value += 0.0f;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Several independent hashes, so that the processor can work on them at the same time; two floats
 * are mixed at once. Lanes begin with different numbers, so that exchanging the values of two lanes
 * changes the hash. */
static uint64_t hash_floats(const float *values, int64_t d) {
    uint64_t lanes[LANES] = {1, 2, 3, 4};
    int64_t j = 0;
    for (; j + 2 * LANES <= d; j += 2 * LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] = mix_bits(lanes[k], float_bits(values[j + 2 * k]) |
                                              float_bits(values[j + 2 * k + 1]) << 32);
    for (; j < d; j++)
        lanes[0] = mix_bits(lanes[0], float_bits(values[j]));
    return mix_bits(mix_bits(lanes[0], lanes[1]), mix_bits(lanes[2], lanes[3]));
}

static uint64_t hash_doubles(const double *values, int64_t d) {
    uint64_t hash = 1, bits;
    for (int64_t j = 0; j < d; j++) {
        double value = values[j] + 0.0; /* -0 becomes 0 */
        memcpy(&bits, &value, sizeof bits);
        hash = mix_bits(hash, bits);
    }
    return hash;
}

/* Stored zeros are skipped, so that a row equals itself without them. The column is part of what is
 * hashed, because positions are not. */
static uint64_t hash_sparse(const huddle_points *x, int64_t i) {
    uint64_t hash = 1;
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        if (x->values[e] != 0)
            hash = mix_bits(hash, (uint64_t)x->columns[e] << 32 | float_bits(x->values[e]));
    return hash;
}

static uint64_t hash_row(const rows *r, int64_t i) {
    const huddle_points *x = r->points;
    if (x == NULL)
        return hash_doubles(r->dense->values + i * r->dense->stride, r->dense->cols);
    return x->offsets != NULL ? hash_sparse(x, i) : hash_floats(x->values + i * x->stride, x->d);
}

static huddle_status hash_rows(void *argument, hd_chunk chunk) {
    const rows *r = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        r->hash[i] = hash_row(r, i);
    return HUDDLE_OK;
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* Compares the entries that are not 0; stored zeros may be at different places. */
static bool equal_sparse(const huddle_points *x, int64_t a, int64_t b) {
    int64_t e = x->offsets[a], f = x->offsets[b];
    int64_t end_e = x->offsets[a + 1], end_f = x->offsets[b + 1];
    for (;; e++, f++) {
        while (e < end_e && x->values[e] == 0)
            e++;
        while (f < end_f && x->values[f] == 0)
            f++;
        if (e == end_e || f == end_f)
            return e == end_e && f == end_f;
        if (x->columns[e] != x->columns[f] || x->values[e] != x->values[f])
            return false;
    }
}

/* Different hashes decide nearly all comparisons; values are compared as numbers, so that -0 equals
 * 0. */
static bool equal_rows(const rows *r, int64_t a, int64_t b) {
    if (r->hash != NULL && r->hash[a] != r->hash[b])
        return false;
    if (r->points == NULL) {
        const double *u = r->dense->values + a * r->dense->stride;
        const double *v = r->dense->values + b * r->dense->stride;
        for (int64_t j = 0; j < r->dense->cols; j++)
            if (u[j] != v[j])
                return false;
        return true;
    }
    if (r->points->offsets != NULL)
        return equal_sparse(r->points, a, b);
    const float *u = r->points->values + a * r->points->stride;
    const float *v = r->points->values + b * r->points->stride;
    for (int64_t j = 0; j < r->points->d; j++)
        if (u[j] != v[j])
            return false;
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------- */

void huddle_distinct_free(huddle_distinct *distinct) {
    FREE(distinct->of, distinct->first, distinct->copies);
    memset(distinct, 0, sizeof *distinct);
}

/* of[i] = the first row equal to row i; *count = the number of rows that are the first of their
 * kind, up to `limit`, where it ends. A table with open addressing, at most half full. Linear
 * probing ends soon at that load. The upper half of the hash is folded into the lower one, because
 * the lowest bits of a product depend on few bits of its factors. */
static huddle_status find_firsts(huddle_context *context, const rows *r, int64_t limit, int32_t *of,
                                 int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t *table = NULL; /* 1 + a first row, or 0 */
    uint64_t size = 16;
    while (size < 2 * (uint64_t)limit)
        size *= 2;
    ALLOC_ZERO(table, size);
    *count = 0;
    for (int64_t i = 0; i < r->n && *count < limit; i++) {
        uint64_t hash = r->hash != NULL ? r->hash[i] : hash_row(r, i);
        uint64_t slot = (hash ^ hash >> 32) & (size - 1);
        while (table[slot] != 0 && !equal_rows(r, i, table[slot] - 1))
            slot = (slot + 1) & (size - 1);
        if (table[slot] == 0) {
            table[slot] = (int32_t)(i + 1);
            ++*count;
        }
        of[i] = table[slot] - 1;
        if (i % CANCEL_ROWS == 0)
            TRY(hd_check_cancel(context));
    }
done:
    huddle_free(table);
    return status;
}

/* Replaces first rows by the numbers of distinct rows. A first row comes before its copies, so its
 * number is known when they are reached. distinct->of is overwritten from front to back: it has
 * numbers before i and first rows from i on. */
static huddle_status number_rows(huddle_distinct *distinct) {
    huddle_status status = HUDDLE_OK;
    int64_t next = 0;
    ALLOC(distinct->first, distinct->count);
    ALLOC_ZERO(distinct->copies, distinct->count);
    for (int64_t i = 0; i < distinct->n; i++) {
        int32_t head = distinct->of[i];
        if (head == i)
            distinct->first[next] = i;
        distinct->of[i] = head == i ? (int32_t)next++ : distinct->of[head];
        distinct->copies[distinct->of[i]]++;
    }
done:
    return status;
}

/* Asks the engine. Its copies are compared, since labels of merged rows depend on them; copies that
 * it misses remain rows of their own. */
static huddle_status find_by_engine(huddle_context *context, const rows *r, int32_t *of,
                                    int64_t *count, bool *handled) {
    const hd_engine *engine = hd_context_engine(context);
    hd_distinct_request request = {r->points, r->dense};
    *handled = false;
    if (engine->find_distinct == NULL || engine->slabs != NULL)
        return HUDDLE_OK;
    huddle_status status = engine->find_distinct(context, &request, of);
    if (status != HUDDLE_OK)
        return hd_engine_declined(context, "find_distinct", status) ? HUDDLE_OK : status;
    *count = 0;
    for (int64_t i = 0; i < r->n; i++) {
        if (of[i] < 0 || of[i] > i || of[of[i]] != of[i] || (of[i] < i && !equal_rows(r, i, of[i])))
            return hd_fail(HUDDLE_INTERNAL, "the engine %s returned row %lld as a copy of row %lld",
                           engine->text.name, (long long)i + 1, (long long)of[i] + 1);
        *count += of[i] == i;
    }
    *handled = true;
    return HUDDLE_OK;
}

/* Hashes in parallel, which is most of the work; the table is filled in row order, so that numbers
 * do not depend on threads. */
static huddle_status find_on_cpu(huddle_context *context, rows *r, int64_t d, int32_t *of,
                                 int64_t *count) {
    huddle_status status = HUDDLE_OK;
    ALLOC(r->hash, r->n);
    TRY(hd_parallel(context, NULL, r->n, VALUES_PER_CHUNK / (d + 1) + 1, hash_rows, r));
    TRY(find_firsts(context, r, r->n, of, count));
done:
    huddle_free(r->hash);
    return status;
}

static huddle_status find_distinct(huddle_context *context, rows *r, int64_t d,
                                   huddle_distinct *distinct) {
    huddle_status status = HUDDLE_OK;
    bool handled;
    *distinct = (huddle_distinct){.n = r->n};
    TRY(r->points != NULL ? huddle_points_fetch(r->points) : huddle_dense_fetch(r->dense));
    if (r->n >= INT32_MAX)
        FAIL(HUDDLE_UNSUPPORTED, "%lld rows are more than can be numbered", (long long)r->n);
    ALLOC(distinct->of, r->n);
    TRY(find_by_engine(context, r, distinct->of, &distinct->count, &handled));
    if (!handled)
        TRY(find_on_cpu(context, r, d, distinct->of, &distinct->count));
    /* Without copies the arrays stay NULL, which callers take as "all rows are distinct". */
    if (distinct->count < distinct->n) {
        TRY(number_rows(distinct));
    } else {
        huddle_free(distinct->of);
        distinct->of = NULL;
    }
done:
    if (status != HUDDLE_OK)
        huddle_distinct_free(distinct);
    return hd_agree(context, status);
}

huddle_status huddle_points_distinct(huddle_context *context, const huddle_points *x,
                                     huddle_distinct *distinct) {
    rows r = {.n = x->n, .points = x};
    return find_distinct(context, &r, x->d, distinct);
}

huddle_status huddle_dense_distinct(huddle_context *context, const huddle_dense *x,
                                    huddle_distinct *distinct) {
    rows r = {.n = x->rows, .dense = x};
    return find_distinct(context, &r, x->cols, distinct);
}

/* Hashes as it goes: usually few rows are read. */
huddle_status hd_points_find_firsts(huddle_context *context, const huddle_points *x, int64_t limit,
                                    int32_t *of, int64_t *count) {
    rows r = {.n = x->n, .points = x};
    return find_firsts(context, &r, limit, of, count);
}

/* Rows with the same number in every part are equal: the numbers are a matrix whose equal rows are
 * found as those of any other. */
huddle_status huddle_distinct_join(huddle_context *context, int32_t count,
                                   const huddle_distinct *parts, huddle_distinct *distinct) {
    huddle_status status = HUDDLE_OK;
    huddle_dense numbers = {0};
    int64_t n = parts[0].n;
    *distinct = (huddle_distinct){.n = n, .count = n};
    for (int32_t v = 0; v < count; v++)
        if (parts[v].of == NULL)
            return status; /* no two rows are equal in this one */
    TRY(huddle_dense_new(n, count, &numbers));
    for (int64_t i = 0; i < n; i++)
        for (int32_t v = 0; v < count; v++)
            numbers.values[i * numbers.stride + v] = (double)parts[v].of[i];
    TRY(huddle_dense_distinct(context, &numbers, distinct));
done:
    huddle_dense_free(&numbers);
    return status;
}
