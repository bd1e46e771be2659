/* Numeric arrays as files hold them, of any element, byte order and layout, and how they become
 * points: values are checked, doubles that float would ruin are shifted, and no second copy of
 * the data is made on the way. */
#ifndef HUDDLE_SRC_IO_ARRAY_H
#define HUDDLE_SRC_IO_ARRAY_H

#include "huddle/io.h"

#include <float.h>

typedef enum hd_io_element {
    HD_IO_F2,
    HD_IO_F4,
    HD_IO_F8,
    HD_IO_I1,
    HD_IO_I2,
    HD_IO_I4,
    HD_IO_I8,
    HD_IO_U1,
    HD_IO_U2,
    HD_IO_U4,
    HD_IO_U8
} hd_io_element;

/* Element (i, j, ...) is number i * steps[0] + j * steps[1] + ... after `bytes`. */
enum { HD_IO_MAX_RANK = 4 };
typedef struct hd_io_array {
    hd_io_element element;
    bool swapped; /* the other byte order than this machine's */
    int32_t rank; /* 0 .. HD_IO_MAX_RANK */
    int64_t dims[HD_IO_MAX_RANK], steps[HD_IO_MAX_RANK];
    int64_t first; /* number of the first sample, for messages; not 0 only if it is a part */
    const char *bytes;
} hd_io_array;

int64_t hd_io_element_size(hd_io_element element);

/* Up to four bytes of a file, which need not be aligned, as a number: the lowest first, or the
 * highest. */
static inline uint32_t hd_io_word(const void *bytes, int size, bool highest_first) {
    const unsigned char *b = bytes;
    uint32_t value = 0;
    for (int k = 0; k < size; k++)
        value = value << 8 | b[highest_first ? k : size - 1 - k];
    return value;
}

static inline bool hd_io_big_endian(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* True if float holds every value, so that no column can need a shift. */
bool hd_io_element_narrow(hd_io_element element);

/* Sets the steps of a packed array: last index fastest, or first. */
void hd_io_array_pack(hd_io_array *array, bool first_fastest);

/* Elements of the array, or -1 if a dimension is negative or the bytes exceed `limit`. */
int64_t hd_io_array_count(const hd_io_array *array, int64_t limit);

/* An array seen as n samples of d features; of images, feature (r * width + c) * channels + k is
 * channel k of pixel (r, c). */
typedef struct hd_io_samples {
    hd_io_array array;
    int64_t n, d, width; /* width = d unless images */
    int64_t channels;    /* 1 unless colour images */
    int64_t sample_step, row_step, step, channel_step;
} hd_io_samples;

/* The axes of rows, columns and channels of images; false if the array is none. axes[2] is -1 for
 * an array without channels. Channels are the last axis of an image or its first: the one that is
 * 3 or 1. */
bool hd_io_array_images(const hd_io_array *array, bool in_columns, int32_t axes[3]);

/* Samples along the first axis, or along the last (in_columns). */
hd_io_samples hd_io_array_samples(const hd_io_array *array, bool in_columns);

/* Samples begin .. end - 1 as doubles, d each. */
void hd_io_samples_load(const hd_io_samples *samples, int64_t begin, int64_t end, double *values);

/* Element i of a vector as a whole number; false if it is not one. */
bool hd_io_array_whole(const hd_io_array *array, int64_t i, int64_t *value, double *as_double);

/* HUDDLE_FORMAT or HUDDLE_UNSUPPORTED if points cannot have this size. */
huddle_status hd_io_points_limit(int64_t n, int64_t d);

/* Points without zeroing: the pages are first touched by whoever fills them. */
huddle_status hd_io_points_reserve(int64_t n, int64_t d, huddle_points *points);

/* Points being filled from doubles, less a given shift, or else with the range of each column, to
 * learn whether one must be shifted. One range for each worker, so that no two threads meet. */
typedef struct hd_io_intake {
    huddle_points *points;
    double *low, *high; /* workers x d; NULL when no column can need a shift */
    int64_t first;      /* number of the first row, for messages */
    double *sums;       /* d: rows are only added to these; NULL: they become points */
    double *exact;      /* n x d: the values before rounding; NULL unless options->exact */
} hd_io_intake;

/* The shift is options->shift if that is for as many features as the points have. */
huddle_status hd_io_intake_begin(huddle_context *context, huddle_points *points, bool narrow,
                                 const huddle_read_options *options, hd_io_intake *intake);
/* Takes one row. HUDDLE_INVALID, naming row and column, if a value is not fit for float. */
huddle_status hd_io_intake_row(hd_io_intake *intake, int32_t worker, int64_t row,
                               const double *values);
/* True if the points must be made from doubles by huddle_points_from_double() instead. */
bool hd_io_intake_shifts(huddle_context *context, hd_io_intake *intake);
void hd_io_intake_free(hd_io_intake *intake);

/* Makes the ranges of the first worker those of all. */
void hd_io_intake_merge(huddle_context *context, hd_io_intake *intake);

/* Fills rows first_row .. first_row + samples->n - 1. */
huddle_status hd_io_intake_samples(huddle_context *context, hd_io_intake *intake,
                                   const hd_io_samples *samples, int64_t first_row);

/* All samples as doubles, one after another. */
huddle_status hd_io_samples_to_double(huddle_context *context, const hd_io_samples *samples,
                                      double *values);

/* The values of a file in double precision, beside points that are rounded to float
 * (huddle_data.exact): converting a file must not change its numbers. */

/* What is rounded to float of a value that is kept as a double too: the largest float instead of
 * infinity. */
static inline double hd_io_exact_clamp(double value) {
    const double most = (double)FLT_MAX;
    return value > most ? most : value < -most ? -most : value;
}

/* The largest value that can be read: that of a float unless doubles are kept. */
static inline double hd_io_exact_limit(bool exact) {
    return exact ? DBL_MAX : (double)FLT_MAX;
}

/* huddle_points_from_double(), for values that may be beyond float because they are kept. */
huddle_status hd_io_exact_points(huddle_context *context, int64_t n, int64_t d,
                                 const double *values, huddle_points *points);

/* Adds `count` values behind those of points that have `old`. */
huddle_status hd_io_exact_append(double **exact, int64_t old, const double *more, int64_t count);

/* The values of the chosen rows of data->points, which are still there, in place of all. */
huddle_status hd_io_exact_take(huddle_data *data, const int64_t *index, int64_t count);

/* Frees the values if the points have the same. */
void hd_io_exact_settle(huddle_data *data);

/* A warning if integers of 64 bits were rounded even to doubles. */
void hd_io_exact_warn(huddle_context *context, const double *values, int64_t count);

#endif
