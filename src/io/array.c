#define _DEFAULT_SOURCE
#include "io/array.h"

#include "base/check.h"
#include "base/parallel.h"
#include "matrix/points.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* A tile of 2^15 doubles (256 kB) stays in a core's second-level cache between being decoded
 * and being rounded to float. MIN_ROWS keeps a chunk worth scheduling when a sample has very
 * many features. */
enum { TILE = 1 << 15, MIN_ROWS = 16 };

/* A float has 24 significant bits: it represents every half, float and integer of at most 16
 * bits exactly, but not every integer of 32 bits. */
bool hd_io_element_narrow(hd_io_element element) {
    return hd_io_element_size(element) <= 2 || element == HD_IO_F4;
}

/* The step of an axis is the product of the lengths of the axes that vary faster, which must have
 * been checked, by hd_io_array_count() or while the header was read. */
void hd_io_array_pack(hd_io_array *array, bool first_fastest) {
    int64_t step = 1;
    for (int32_t k = 0; k < array->rank; k++) {
        int32_t axis = first_fastest ? k : array->rank - 1 - k;
        array->steps[axis] = step;
        step *= array->dims[axis];
    }
}

/* The dimensions come straight from a file's header, so their product may overflow. Each
 * factor is checked by division against what `limit` bytes could hold. A dimension of 0 does
 * not end the check early: it must not hide another one that is negative or absurdly large. */
int64_t hd_io_array_count(const hd_io_array *array, int64_t limit) {
    int64_t room = limit / hd_io_element_size(array->element), count = 1;
    bool empty = false;
    for (int32_t k = 0; k < array->rank; k++) {
        int64_t length = array->dims[k];
        empty = empty || length == 0;
        if (length == 0)
            continue;
        if (length < 0 || count > room / length)
            return -1;
        count *= length;
    }
    return empty ? 0 : count;
}

/* Rank 3 is a stack of gray images, n x height x width, or height x width x n with samples in
 * columns; rank 4 has channels too. */
bool hd_io_array_images(const hd_io_array *array, bool in_columns, int32_t axes[3]) {
    int32_t first = in_columns ? 0 : 1;
    axes[0] = first;
    axes[1] = first + 1;
    axes[2] = -1;
    if (array->rank < 4)
        return array->rank == 3;
    int64_t before = array->dims[first], after = array->dims[first + 2];
    bool leading = (before == 3 && after != 3) || (before == 1 && after != 3 && after != 1);
    axes[2] = leading ? first : first + 2;
    axes[0] += leading;
    axes[1] += leading;
    return true;
}

/* The axes of an image keep their own steps, so that images are flattened row by row without being
 * copied first. */
hd_io_samples hd_io_array_samples(const hd_io_array *array, bool in_columns) {
    int32_t rank = array->rank, axes[3];
    hd_io_samples s = {.array = *array, .n = 1, .d = 1, .width = 1, .channels = 1};
    if (rank == 0)
        return s;
    int32_t axis = in_columns ? rank - 1 : 0, first = in_columns ? 0 : 1;
    s.n = array->dims[axis];
    s.sample_step = array->steps[axis];
    if (hd_io_array_images(array, in_columns, axes)) {
        s.row_step = array->steps[axes[0]];
        s.width = array->dims[axes[1]];
        s.step = array->steps[axes[1]];
        if (axes[2] >= 0) {
            s.channels = array->dims[axes[2]];
            s.channel_step = array->steps[axes[2]];
        }
        s.d = array->dims[axes[0]] * s.width * s.channels;
    } else if (rank == 2) {
        s.d = s.width = array->dims[first];
        s.step = array->steps[first];
    }
    return s;
}

/* ---- elements to doubles -------------------------------------------------------------------- */

/* IEEE 754 binary16: a sign bit, 5 bits of exponent with bias 15, 10 bits of mantissa.
 * Exponent 31 is infinity or NaN; exponent 0 is a subnormal number in units of 2^-24. */
static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double mantissa = (double)(bits & 1023), value;
    if (exponent == 31)
        value = mantissa != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = mantissa * 0x1p-24;
    else
        value = ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

/* In place; elements have at most eight bytes. */
static void reverse_bytes(char *bytes, size_t size) {
    for (size_t i = 0; i < size / 2; i++) {
        char c = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = c;
    }
}

/* load_TYPE: `count` elements, `step` apart, to doubles `gap` apart. Arrays in a mapped file
 * may begin at any address, so elements are copied by memcpy() instead of being dereferenced.
 * The packed case has a loop of its own, which compilers vectorise. */
#define LOADER(type, convert)                                                                      \
    static void load_##type(const char *from, int64_t step, int64_t count, bool swapped,           \
                            double *to, int64_t gap) {                                             \
        type##_t v;                                                                                \
        if (step == 1 && gap == 1 && !swapped) {                                                   \
            for (int64_t i = 0; i < count; i++) {                                                  \
                memcpy(&v, from + i * (int64_t)sizeof v, sizeof v);                                \
                to[i] = convert(v);                                                                \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                      \
            memcpy(&v, from + i * step * (int64_t)sizeof v, sizeof v);                             \
            if (swapped)                                                                           \
                reverse_bytes((char *)&v, sizeof v);                                               \
            to[i * gap] = convert(v);                                                              \
        }                                                                                          \
    }

/* Names to which LOADER can append _t. */
typedef uint16_t half_t;
typedef float single_t;
typedef double real_t;
LOADER(half, from_half)
LOADER(single, (double))
LOADER(real, (double))
LOADER(int8, (double))
LOADER(int16, (double))
LOADER(int32, (double))
LOADER(int64, (double))
LOADER(uint8, (double))
LOADER(uint16, (double))
LOADER(uint32, (double))
LOADER(uint64, (double))

typedef void (*loader)(const char *from, int64_t step, int64_t count, bool swapped, double *to,
                       int64_t gap);

/* In the order of hd_io_element. */
static const struct {
    int64_t size;
    loader load;
} elements[] = {{2, load_half},   {4, load_single}, {8, load_real},  {1, load_int8},
                {2, load_int16},  {4, load_int32},  {8, load_int64}, {1, load_uint8},
                {2, load_uint16}, {4, load_uint32}, {8, load_uint64}};

int64_t hd_io_element_size(hd_io_element element) {
    return elements[element].size;
}

/* Where feature f of the first sample is, in elements. */
static int64_t feature_offset(const hd_io_samples *s, int64_t f) {
    int64_t pixel = f / s->channels;
    return pixel / s->width * s->row_step + pixel % s->width * s->step +
           f % s->channels * s->channel_step;
}

void hd_io_samples_load(const hd_io_samples *s, int64_t begin, int64_t end, double *values) {
    loader load = elements[s->array.element].load;
    int64_t size = hd_io_element_size(s->array.element), rows = end - begin;
    if (rows == 0 || s->d == 0)
        return; /* an empty array need not have bytes */
    const char *base = s->array.bytes + begin * s->sample_step * size;
    bool across = s->sample_step < s->step; /* neighbours in memory are different samples */
    /* One run of features is loaded at once: a row of a gray image, the channels of a pixel. */
    int64_t run = s->channels > 1 ? s->channels : s->width;
    int64_t step = s->channels > 1 ? s->channel_step : s->step;
    /* Both orders of the loops walk memory as it is stored. In a column-major array (MATLAB,
     * Fortran) one feature of all samples is contiguous; otherwise the features of a run are. */
    for (int64_t f = 0; f < s->d; f += across ? 1 : run) {
        const char *from = base + feature_offset(s, f) * size;
        if (across)
            load(from, s->sample_step, rows, s->array.swapped, values + f, s->d);
        else
            for (int64_t i = 0; i < rows; i++)
                load(from + i * s->sample_step * size, step, run, s->array.swapped,
                     values + i * s->d + f, 1);
    }
}

bool hd_io_array_whole(const hd_io_array *array, int64_t i, int64_t *value, double *as_double) {
    int64_t size = hd_io_element_size(array->element), step = 0;
    /* A vector may be stored as n, n x 1 or 1 x n: only the step of the long axis counts. */
    for (int32_t k = 0; k < array->rank; k++)
        if (array->dims[k] != 1)
            step = array->steps[k];
    const char *from = array->bytes + i * step * size;
    elements[array->element].load(from, 1, 1, array->swapped, as_double, 1);
    /* A double does not hold every 64-bit integer, so these are taken from the bytes. An
     * unsigned value above INT64_MAX appears negative here and is refused. */
    if (array->element == HD_IO_I8 || array->element == HD_IO_U8) {
        memcpy(value, from, sizeof *value);
        if (array->swapped)
            reverse_bytes((char *)value, sizeof *value);
        return array->element == HD_IO_I8 || *value >= 0;
    }
    /* Above 2^53 doubles skip whole numbers, and two different labels could become equal. The
     * negated comparison also refuses NaN. */
    if (!(fabs(*as_double) <= 0x1p53) || floor(*as_double) != *as_double)
        return false;
    *value = (int64_t)*as_double;
    return true;
}

/* ---- points --------------------------------------------------------------------------------- */

/* Every reader of a format reserves its points here, so the limits on n and d are checked
 * once. */
huddle_status hd_io_points_limit(int64_t n, int64_t d) {
    if (n < 1 || d < 1)
        return hd_fail(HUDDLE_FORMAT, "there are no points in it: the array is %lld x %lld",
                       (long long)n, (long long)d);
    if (n > INT32_MAX || d > INT32_MAX)
        return hd_fail(HUDDLE_UNSUPPORTED, "%lld points of %lld features are more than 2147483647",
                       (long long)n, (long long)d);
    return HUDDLE_OK;
}

huddle_status hd_io_points_reserve(int64_t n, int64_t d, huddle_points *points) {
    enum { LARGE = 1 << 22, PAGE = 4096 };
    huddle_status status = HUDDLE_OK;
    memset(points, 0, sizeof *points);
    TRY(hd_io_points_limit(n, d));
    /* The product is below 2^62 for the sizes allowed above, and hd_alloc() refuses what does
     * not fit memory. */
    ALLOC(points->values, n * d);
    points->n = n;
    points->d = d;
    points->stride = d;
    /* Huge pages save most of the page faults of the first touch. madvise() is only advice, so
     * a failure does not matter. LARGE is 16 MB of floats; smaller arrays do not repay the
     * call. */
    uintptr_t begin = ((uintptr_t)points->values + PAGE - 1) / PAGE * PAGE;
    if (n * d >= LARGE)
        (void)madvise((void *)begin, (size_t)(n * d) * sizeof(float) / PAGE * PAGE - PAGE,
                      MADV_HUGEPAGE);
done:
    return status;
}

/* Ranges are recorded only if the shift is still undecided: not for elements that float holds
 * exactly, and not if the caller fixed it. A caller that passes n_shift = d with shift = NULL
 * fixes it to no shift at all, because the points must match a model that was fitted without
 * one. */
huddle_status hd_io_intake_begin(huddle_context *context, huddle_points *points, bool narrow,
                                 const huddle_read_options *options, hd_io_intake *intake) {
    huddle_status status = HUDDLE_OK;
    int64_t size = hd_workers(context) * points->d;
    *intake = (hd_io_intake){.points = points};
    if (narrow)
        goto done;
    if (options->exact)
        ALLOC(intake->exact, points->n * points->d);
    if (options->n_shift == points->d) {
        if (options->shift != NULL) {
            ALLOC(points->shift, points->d);
            memcpy(points->shift, options->shift, (size_t)points->d * sizeof *points->shift);
        }
        goto done;
    }
    ALLOC(intake->low, size);
    ALLOC(intake->high, size);
    for (int64_t j = 0; j < size; j++) {
        intake->low[j] = DBL_MAX;
        intake->high[j] = -DBL_MAX;
    }
done:
    return status;
}

/* The value as it will be rounded: float keeps more of it once the shift is subtracted. */
static double shifted_value(const huddle_points *x, const double *values, int64_t j) {
    return x->shift != NULL ? values[j] - x->shift[j] : values[j];
}

/* Finds the value because of which hd_io_intake_row() refused a row. */
static huddle_status refuse_row(const huddle_points *x, int64_t row, const double *values,
                                double limit) {
    for (int64_t j = 0; j < x->d; j++)
        if (!(fabs(shifted_value(x, values, j)) <= limit))
            return hd_refuse_value(values[j], row, j);
    return HUDDLE_OK;
}

huddle_status hd_io_intake_row(hd_io_intake *intake, int32_t worker, int64_t row,
                               const double *values) {
    huddle_points *x = intake->points;
    int64_t d = x->d;
    float *to = x->values + row * x->stride;
    double limit = hd_io_exact_limit(intake->exact != NULL);
    /* The loop has no branch, so that it is vectorised; which value was bad is found out
     * later, and only if one was. NaN fails the comparison too. */
    int good = 1;
    for (int64_t j = 0; j < d; j++) {
        double v = shifted_value(x, values, j);
        good &= fabs(v) <= limit;
        to[j] = (float)hd_io_exact_clamp(v);
    }
    if (!good)
        return refuse_row(x, intake->first + row, values, limit);
    if (intake->exact != NULL)
        memcpy(intake->exact + row * d, values, (size_t)d * sizeof *values);
    if (intake->low == NULL)
        return HUDDLE_OK;
    /* The ranges are those of the doubles, before rounding: rounding is what must be avoided. */
    double *low = intake->low + worker * d, *high = intake->high + worker * d;
    for (int64_t j = 0; j < d; j++) {
        low[j] = values[j] < low[j] ? values[j] : low[j];
        high[j] = values[j] > high[j] ? values[j] : high[j];
    }
    return HUDDLE_OK;
}

void hd_io_intake_merge(huddle_context *context, hd_io_intake *intake) {
    int64_t d = intake->points->d, size = hd_workers(context) * d;
    for (int64_t e = d; e < size; e++) {
        intake->low[e % d] = fmin(intake->low[e % d], intake->low[e]);
        intake->high[e % d] = fmax(intake->high[e % d], intake->high[e]);
    }
}

bool hd_io_intake_shifts(huddle_context *context, hd_io_intake *intake) {
    if (intake->low == NULL)
        return false;
    hd_io_intake_merge(context, intake);
    for (int64_t j = 0; j < intake->points->d; j++)
        if (hd_range_shifts(intake->low[j], intake->high[j]))
            return true;
    return false;
}

void hd_io_intake_free(hd_io_intake *intake) {
    FREE(intake->low, intake->high, intake->exact);
    *intake = (hd_io_intake){0};
}

/* The argument of fill_rows(): rows become floats through an intake, or doubles in `values`. And of
 * add_rows(): `values` are the sums of each chunk, chunks x d. */
typedef struct filling {
    hd_io_intake *intake; /* or values */
    double *values;
    const hd_io_samples *samples;
    int64_t first_row;
} filling;

/* Rows per chunk. The number must not depend on the number of threads: see base/parallel.h. */
static int64_t tile_rows(int64_t d) {
    int64_t rows = TILE / (d > 0 ? d : 1);
    return rows < MIN_ROWS ? MIN_ROWS : rows;
}

/* One tile of rows. hd_parallel() reports progress and asks whether to stop between two
 * chunks, so nothing here has to. */
static huddle_status fill_rows(void *argument, hd_chunk chunk) {
    const filling *f = argument;
    huddle_status status = HUDDLE_OK;
    double *tile = NULL;
    int64_t d = f->samples->d;
    if (f->values != NULL) {
        hd_io_samples_load(f->samples, chunk.begin, chunk.end, f->values + chunk.begin * d);
        return status;
    }
    ALLOC(tile, (chunk.end - chunk.begin) * d);
    hd_io_samples_load(f->samples, chunk.begin, chunk.end, tile);
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        TRY(hd_io_intake_row(f->intake, chunk.worker, f->first_row + i,
                             tile + (i - chunk.begin) * d));
done:
    huddle_free(tile);
    return status;
}

static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const filling *f = argument;
    huddle_status status = HUDDLE_OK;
    int64_t d = f->samples->d, step = tile_rows(d);
    double *tile = NULL, *sums = f->values + chunk.index * d;
    ALLOC(tile, step * d);
    for (int64_t begin = chunk.begin; begin < chunk.end; begin += step) {
        int64_t rows = chunk.end - begin < step ? chunk.end - begin : step;
        hd_io_samples_load(f->samples, begin, begin + rows, tile);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < d; j++)
                sums[j] += tile[i * d + j];
    }
done:
    huddle_free(tile);
    return status;
}

/* At most 16 chunks: each keeps a number per column. The bits do not depend on the number of
 * threads. */
static huddle_status add_samples(huddle_context *context, const hd_io_samples *samples,
                                 double *sums) {
    huddle_status status = HUDDLE_OK;
    filling f = {.samples = samples};
    int64_t d = samples->d, grain = tile_rows(d), sixteenth = (samples->n + 15) / 16;
    grain = grain < sixteenth ? sixteenth : grain;
    int64_t chunks = hd_chunks(samples->n, grain);
    ALLOC_ZERO(f.values, chunks * d);
    TRY(hd_parallel(context, "read", samples->n, grain, add_rows, &f));
    for (int64_t e = 0; e < chunks * d; e++)
        sums[e % d] += f.values[e];
done:
    huddle_free(f.values);
    return status;
}

huddle_status hd_io_intake_samples(huddle_context *context, hd_io_intake *intake,
                                   const hd_io_samples *samples, int64_t first_row) {
    filling f = {intake, NULL, samples, first_row};
    if (intake->sums != NULL)
        return add_samples(context, samples, intake->sums);
    return hd_parallel(context, "read", samples->n, tile_rows(samples->d), fill_rows, &f);
}

huddle_status hd_io_samples_to_double(huddle_context *context, const hd_io_samples *samples,
                                      double *values) {
    filling f = {NULL, values, samples, 0};
    return hd_parallel(context, "read", samples->n, tile_rows(samples->d), fill_rows, &f);
}
