/* The size of the images that rows are: given by the caller, or inferred from the values. */
#include "base/check.h"
#include "base/context.h"
#include "base/slabs.h"
#include "io/formats.h"
#include "io/number.h"
#include "matrix/points.h"

#include <math.h>
#include <string.h>

/* ---- the sample ----------------------------------------------------------------------------- */

/* Some rows of all processes, which see the same facts of them. */
typedef struct sample {
    huddle_context *context;
    const huddle_data *data;
    int64_t step;    /* every so many rows */
    double *mean;    /* d: the mean image */
    double variance; /* of the values around it */
} sample;

/* The first row of this process that is in the sample. */
static int64_t first_row(const sample *s) {
    return (s->step - s->data->first_row % s->step) % s->step;
}

/* At most 200 rows, fewer if they are long. */
static huddle_status open_sample(huddle_context *context, const huddle_data *data, sample *s) {
    enum { MAX_ROWS = 200, MAX_VALUES = 1 << 21, MIN_ROWS = 8 };
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = &data->points;
    int64_t rows = MAX_VALUES / x->d;
    rows = rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : rows;
    *s = (sample){.context = context, .data = data, .step = (data->total_rows + rows - 1) / rows};
    ALLOC_ZERO(s->mean, x->d + 2);
    for (int64_t i = first_row(s); i < x->n; i += s->step) {
        for (int64_t j = 0; j < x->d; j++)
            s->mean[j] += hd_points_value(x, i, j);
        s->mean[x->d]++;
    }
    TRY(hd_reduce_sum(context, x->d + 1, s->mean));
    for (int64_t j = 0; j < x->d; j++)
        s->mean[j] /= s->mean[x->d];
    for (int64_t i = first_row(s); i < x->n; i += s->step)
        for (int64_t j = 0; j < x->d; j++) {
            double v = hd_points_value(x, i, j) - s->mean[j];
            s->variance += v * v;
        }
    TRY(hd_reduce_sum(context, 1, &s->variance));
    s->variance /= s->mean[x->d] * (double)x->d;
done:
    return status;
}

/* The mean squared difference of values that are `lag` apart, in units of that of independent
 * values: about 1 for those, small for neighbouring pixels. */
static huddle_status lag_difference(const sample *s, int64_t lag, double *difference) {
    const huddle_points *x = &s->data->points;
    double sum[2] = {0, 0};
    for (int64_t i = first_row(s); i < x->n; i += s->step)
        for (int64_t j = lag; j < x->d; j++) {
            double v = hd_points_value(x, i, j) - s->mean[j];
            v -= hd_points_value(x, i, j - lag) - s->mean[j - lag];
            sum[0] += v * v;
            sum[1]++;
        }
    huddle_status status = hd_reduce_sum(s->context, 2, sum);
    *difference = sum[1] > 0 && s->variance > 0 ? sum[0] / sum[1] / (2 * s->variance) : INFINITY;
    return status;
}

/* How much more alike values are at this lag than `unit` before and after it: below 1 if they are.
 * Lines of pixels show like this, and neither noise nor curves do. */
static huddle_status lag_dip(const sample *s, int64_t lag, int64_t unit, double *dip) {
    huddle_status status = HUDDLE_OK;
    double here, before, after;
    *dip = INFINITY;
    TRY(lag_difference(s, lag, &here));
    TRY(lag_difference(s, lag - unit, &before));
    TRY(lag_difference(s, lag + unit, &after));
    if (here < 0.8)
        *dip = here / fmin(before, after);
done:
    return status;
}

/* ---- inference ------------------------------------------------------------------------------ */

/* Gray values: whole numbers up to 255, or fractions within -1 .. 1. */
static huddle_status are_pixels(const sample *s, bool *pixels) {
    const huddle_points *x = &s->data->points;
    double facts[3] = {-INFINITY, -INFINITY, 0}; /* largest, negated smallest, fractions */
    for (int64_t i = first_row(s); i < x->n; i += s->step)
        for (int64_t j = 0; j < x->d; j++) {
            double v = hd_points_value(x, i, j);
            facts[0] = fmax(facts[0], v);
            facts[1] = fmax(facts[1], -v);
            facts[2] = fmax(facts[2], v != floor(v));
        }
    huddle_status status = hd_reduce_max(s->context, 3, facts);
    *pixels = facts[0] > -facts[1] && ((facts[1] <= 0 && facts[0] <= 255 && facts[2] == 0) ||
                                       (facts[1] <= 1 && facts[0] <= 1));
    return status;
}

/* Columns of a table that have names of their own are no pixels, unless the names differ by numbers
 * only: pixel1, pixel2. */
static bool are_numbered(char **features, int64_t d) {
    static const char digits[] = "0123456789";
    for (int64_t j = 1; features != NULL && j < d; j++)
        for (const char *a = features[0], *b = features[j];; a++, b++) {
            a += strspn(a, digits);
            b += strspn(b, digits);
            if (*a != *b)
                return false;
            if (*a == '\0')
                break;
        }
    return true;
}

/* The length of a line of pixels, or 0: of all that divide the pixels into lines, the one with the
 * deepest dip. Sides may differ by a factor of 2.5. */
static huddle_status find_line(const sample *s, int64_t channels, int64_t *line) {
    huddle_status status = HUDDLE_OK;
    int64_t pixels = s->data->points.d / channels;
    double best = 0.85, dip;
    *line = 0;
    for (int64_t length = (int64_t)sqrt((double)pixels / 2.5); 2 * length * length <= 5 * pixels;
         length++) {
        if (length < 5 || pixels % length != 0 || pixels / length < 5)
            continue;
        TRY(lag_dip(s, length * channels, channels, &dip));
        if (dip < best) {
            best = dip;
            *line = length;
        }
    }
done:
    return status;
}

/* The correlation of the mean image with its mirror image: lines reversed, or their order. */
static double mirror_correlation(const sample *s, int64_t line, int64_t channels, bool along) {
    int64_t d = s->data->points.d, lines = d / channels / line;
    double mean = 0, same = 0, mirrored = 0;
    for (int64_t j = 0; j < d; j++)
        mean += s->mean[j] / (double)d;
    for (int64_t r = 0; r < lines; r++)
        for (int64_t c = 0; c < line; c++)
            for (int64_t k = 0; k < channels; k++) {
                int64_t r2 = along ? r : lines - 1 - r, c2 = along ? line - 1 - c : c;
                double v = s->mean[(r * line + c) * channels + k] - mean;
                same += v * v;
                mirrored += v * (s->mean[(r2 * line + c2) * channels + k] - mean);
            }
    return same > 0 ? mirrored / same : 0;
}

/* The spread of what the mean image shows on its background, which is the mean of the border: the
 * standard deviation of its position along lines, or across them, in units of the side. */
static double mean_deviation(const sample *s, int64_t line, int64_t channels, bool along) {
    int64_t lines = s->data->points.d / channels / line, border = 0;
    double background = 0, sums[3] = {0, 0, 0};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < line * lines; j++) {
            int64_t r = j / line, c = j % line;
            double at = along ? (double)c / (double)line : (double)r / (double)lines, value = 0;
            for (int64_t k = 0; k < channels; k++)
                value += s->mean[j * channels + k];
            if (pass == 0 && (r == 0 || c == 0 || r == lines - 1 || c == line - 1)) {
                background += value;
                border++;
            } else if (pass == 1) {
                double weight = fabs(value - background / (double)border);
                sums[0] += weight;
                sums[1] += weight * at;
                sums[2] += weight * at * at;
            }
        }
    double centre = sums[1] / sums[0];
    return sums[0] > 0 ? sqrt(fmax(sums[2] / sums[0] - centre * centre, 0)) : 0;
}

/* Whether lines are the columns of the images. MATLAB stores them like that, but many MAT files
 * were written by other programs, so that the mean image counts more: what is upright, as faces
 * are, is symmetric from left to right, and digits and letters are higher than wide. */
static bool lines_are_columns(const sample *s, int64_t line, int64_t channels) {
    double along = mirror_correlation(s, line, channels, true);
    double across = mirror_correlation(s, line, channels, false);
    if (fabs(along - across) > 0.3)
        return across > along;
    along = mean_deviation(s, line, channels, true);
    across = mean_deviation(s, line, channels, false);
    if (along > 1.2 * across || across > 1.2 * along)
        return along > across;
    return strcmp(s->data->format, "mat") == 0;
}

static void set_shape(huddle_data *data, int64_t line, int64_t channels, bool columns) {
    int64_t lines = data->points.d / channels / line;
    data->height = (int32_t)(columns ? line : lines);
    data->width = (int32_t)(columns ? lines : line);
    data->channels = (int32_t)channels;
    data->column_major = columns;
}

/* Generated points are known not to be images, and too few rows prove nothing. */
static bool may_be_images(const huddle_data *data) {
    enum { FEWEST_PIXELS = 64, FEWEST_ROWS = 8 };
    return data->points.offsets == NULL && data->points.d >= FEWEST_PIXELS &&
           data->total_rows >= FEWEST_ROWS && !hd_io_is_generator(data->name) &&
           are_numbered(data->features, data->points.d);
}

/* Colour images have the same channel at every third value. */
static huddle_status infer_shape(huddle_context *context, bool hints_as_flags, huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    sample s = {0};
    bool pixels = false;
    int64_t line = 0, channels = 1;
    double dip = 1, next = 1;
    if (!may_be_images(data))
        goto done;
    TRY(open_sample(context, data, &s));
    TRY(are_pixels(&s, &pixels));
    if (!pixels)
        goto done;
    if (data->points.d % 3 == 0)
        TRY(lag_dip(&s, 3, 1, &dip));
    channels = dip < 0.95 ? 3 : 1;
    TRY(lag_difference(&s, channels, &next));
    if (next < 0.8)
        TRY(find_line(&s, channels, &line));
    if (line == 0)
        goto done;
    set_shape(data, line, channels, lines_are_columns(&s, line, channels));
    if (hints_as_flags)
        hd_log(context,
               "rows are taken for %simages of %d x %d pixels, %s; --image SIZE or --image none "
               "corrects this",
               channels == 3 ? "colour " : "", data->height, data->width,
               data->column_major ? "column by column" : "row by row");
done:
    huddle_free(s.mean);
    return status;
}

/* ---- given by the caller -------------------------------------------------------------------- */

/* "32x32x3:columns": up to three numbers and an order, '\0', 'r' or 'c'. */
static bool parse_shape(const char *text, int64_t dims[3], int *count, char *order) {
    *count = 0;
    *order = '\0';
    for (;;) {
        int64_t value = 0;
        const char *begin = text;
        while (hd_io_is_digit(*text) && value < INT32_MAX)
            value = 10 * value + (*text++ - '0');
        if (text == begin || value < 1 || *count == 3)
            return false;
        dims[(*count)++] = value;
        if (*text != 'x' && *text != 'X')
            break;
        text++;
    }
    if (strcmp(text, ":rows") == 0 || strcmp(text, ":columns") == 0)
        *order = text[1];
    return *count >= 2 && (*text == '\0' || *order != '\0');
}

/* Whether the pixels of images of a given size run down columns. Unless they are square, one of
 * both lines is that of the pixels. */
static huddle_status find_order(huddle_context *context, const huddle_data *data,
                                const int64_t size[2], int64_t channels, bool *columns) {
    huddle_status status = HUDDLE_OK;
    sample s = {0};
    double down = INFINITY, along = INFINITY;
    TRY(open_sample(context, data, &s));
    *columns = lines_are_columns(&s, size[0], channels);
    if (size[0] == size[1] || size[0] < 2 || size[1] < 2)
        goto done;
    TRY(lag_dip(&s, size[0] * channels, channels, &down));
    TRY(lag_dip(&s, size[1] * channels, channels, &along));
    *columns = down < along || (down == along && strcmp(data->format, "mat") == 0);
done:
    huddle_free(s.mean);
    return status;
}

static huddle_status apply_shape(huddle_context *context, const char *text, bool hints_as_flags,
                                 huddle_data *data) {
    huddle_status status = HUDDLE_OK;
    const char *flag = hints_as_flags ? "--image" : "image =";
    int64_t dims[3] = {0};
    int count = 0;
    char order = '\0';
    if (!parse_shape(text, dims, &count, &order))
        FAIL(HUDDLE_INVALID,
             "%s %.100s is not HEIGHTxWIDTH, such as 32x32, 32x32x3, 32x32:columns or none", flag,
             text);
    bool planes = count == 3 && dims[0] == 3 && dims[2] != 3;
    if (count == 3 && !planes && dims[2] != 3 && dims[2] != 1)
        FAIL(HUDDLE_INVALID, "%s %.100s: images have 1 or 3 channels, not %lld", flag, text,
             (long long)dims[2]);
    int64_t channels = count < 3 ? 1 : planes ? 3 : dims[2];
    const int64_t *size = dims + planes;
    if (data->points.d % channels != 0 || data->points.d / channels % size[0] != 0 ||
        data->points.d / channels / size[0] != size[1])
        FAIL(HUDDLE_INVALID, "%s %.100s does not fit rows of %lld features", flag, text,
             (long long)data->points.d);
    bool columns = order == 'c';
    if (order == '\0' && data->points.offsets == NULL) {
        huddle_data seen = *data; /* of planes, the first one */
        seen.points.d = planes ? data->points.d / 3 : data->points.d;
        TRY(find_order(context, &seen, size, planes ? 1 : channels, &columns));
    }
    set_shape(data, columns ? size[0] : size[1], channels, columns);
    data->planes = planes;
done:
    return status;
}

huddle_status hd_io_data_shape(huddle_context *context, const huddle_read_options *options,
                               huddle_data *data) {
    if (options->image == NULL)
        return data->height > 0 ? HUDDLE_OK : infer_shape(context, options->hints_as_flags, data);
    if (strcmp(options->image, "none") != 0)
        return apply_shape(context, options->image, options->hints_as_flags, data);
    data->height = data->width = data->channels = 0;
    data->column_major = data->planes = false;
    return HUDDLE_OK;
}
