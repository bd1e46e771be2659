/* Images on a page: small ones for the sampled points, larger ones for the sheet. One byte per
 * pixel, or three of colour images. */
#include "report/run.h"

#include <math.h>
#include <stdlib.h>

/* Limits on the bytes that a page spends on each kind, so that it stays below a megabyte or
 * two, and on the sides of an image. */
enum { THUMB_BYTES = 450000, THUMB_SIDE = 24, SHEET_BYTES = 400000, SHEET_SIDE = 64 };

/* A single row or column of pixels is a vector rather than an image; sparse points have no
 * pixels to index. */
bool report_has_images(const report_run *run) {
    const huddle_report_options *o = run->options;
    return o->image_height > 1 && o->image_width > 1 && run->x != NULL && run->x->offsets == NULL;
}

/* How images are drawn: reduced to height x width pixels, with these values as black and white. */
typedef struct image_format {
    const huddle_points *x;
    const huddle_report_options *options;
    int32_t height, width, channels;
    double black, white;
} image_format;

/* The shift was subtracted when the points were rounded to float; pixels are shown with it. */
static double pixel_value(const image_format *format, int64_t row, int32_t y, int32_t x,
                          int32_t channel) {
    const huddle_points *points = format->x;
    const huddle_report_options *o = format->options;
    int64_t j =
        o->image_column_major ? (int64_t)x * o->image_height + y : (int64_t)y * o->image_width + x;
    j = o->image_planes ? (int64_t)channel * o->image_height * o->image_width + j
                        : j * format->channels + channel;
    double shift = points->shift == NULL ? 0 : points->shift[j];
    return (double)points->values[row * points->stride + j] + shift;
}

/* The format for images whose sides are at most `side`, with their proportions kept. Black and
 * white are the extremes of the whole sample, so that the brightness of images can be
 * compared. */
static image_format choose_format(const report_run *run, int32_t side) {
    int32_t height = run->options->image_height, width = run->options->image_width;
    int32_t channels = (int32_t)(run->x->d / ((int64_t)height * width));
    image_format format = {run->x, run->options, height, width, channels, INFINITY, -INFINITY};
    int32_t larger = height > width ? height : width;
    if (larger > side) {
        format.height = (int32_t)fmax(1, round((double)height * side / larger));
        format.width = (int32_t)fmax(1, round((double)width * side / larger));
    }
    for (int64_t i = 0; i < run->count; i++)
        for (int32_t y = 0; y < height; y++)
            for (int32_t x = 0; x < channels * width; x++) {
                double value = pixel_value(&format, run->rows[i], y, x / channels, x % channels);
                format.black = fmin(format.black, value);
                format.white = fmax(format.white, value);
            }
    return format;
}

/* The mean of the pixels that a reduced pixel covers, as a byte. The boundaries are computed
 * in integers, so that every pixel belongs to exactly one reduced pixel. */
static unsigned char reduced_pixel(const image_format *f, int64_t row, int32_t y, int32_t x,
                                   int32_t channel) {
    int32_t full_height = f->options->image_height, full_width = f->options->image_width;
    int32_t top = (int32_t)((int64_t)y * full_height / f->height);
    int32_t left = (int32_t)((int64_t)x * full_width / f->width);
    int32_t bottom = (int32_t)((int64_t)(y + 1) * full_height / f->height);
    int32_t right = (int32_t)((int64_t)(x + 1) * full_width / f->width);
    double sum = 0, range = f->white - f->black;
    for (int32_t v = top; v < bottom; v++)
        for (int32_t u = left; u < right; u++)
            sum += pixel_value(f, row, v, u, channel) - f->black;
    double mean = sum / ((double)(bottom - top) * (double)(right - left));
    double step = range > 0 ? 255 * mean / range : 0;
    return (unsigned char)lrint(fmin(fmax(step, 0), 255));
}

/* {height, width, channels, count, data} of the images of these rows; the page draws them on a
 * canvas. */
static json_t *images_json(const image_format *format, const int64_t *rows, int64_t count) {
    size_t size = (size_t)format->height * (size_t)format->width * (size_t)format->channels;
    unsigned char *bytes = malloc(size * (size_t)count + 1), *out = bytes;
    if (bytes == NULL)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        for (int32_t y = 0; y < format->height; y++)
            for (int32_t x = 0; x < format->width; x++)
                for (int32_t c = 0; c < format->channels; c++)
                    *out++ = reduced_pixel(format, rows[i], y, x, c);
    json_t *made = json_pack("{s:i, s:i, s:i, s:I, s:o}", "height", format->height, "width",
                             format->width, "channels", format->channels, "count",
                             (json_int_t)count, "data", page_bytes(bytes, size * (size_t)count));
    free(bytes);
    return made;
}

/* Shown when the pointer is over a point of a scatter plot, therefore in the order of the
 * sample. */
json_t *report_thumbs_json(const report_run *run) {
    image_format format = choose_format(run, THUMB_SIDE);
    int64_t max = THUMB_BYTES / ((int64_t)format.height * format.width * format.channels);
    return images_json(&format, run->rows, run->count < max ? run->count : max);
}

/* ---- the sheet ---------------------------------------------------------------------------- */

enum { SHEET_ROWS = 60, SHEET_COLUMNS = 18 };

/* Up to `max` images of one cluster: the medoid, then others in the random order of the run.
 * Returns how many. Not the nearest ones: those would make every cluster look pure. */
static int64_t choose_images(const report_run *run, int32_t cluster, const json_t *medoids,
                             int64_t max, int64_t *chosen) {
    const json_t *medoid = json_array_get(medoids, (size_t)cluster);
    int64_t count = 0, first = json_is_integer(medoid) ? json_integer_value(medoid) : -1;
    if (first >= 0 && first < run->n)
        chosen[count++] = first;
    for (int64_t i = 0; i < run->n && count < max; i++)
        if (run->labels[run->rows[i]] == cluster && run->rows[i] != first)
            chosen[count++] = run->rows[i];
    return count;
}

/* {cluster, index, odd, class}: `odd` marks points of another class than the cluster's most
 * frequent one, which the page frames. */
static json_t *sheet_row_json(const report_run *run, int32_t cluster, const int64_t *chosen,
                              int64_t count) {
    json_t *index = json_array(), *odd = json_array(), *classes = json_array();
    const int32_t *truth = run->options->classes;
    int64_t hits = 0, total = 0, best = report_main_class(run, cluster, &hits, &total);
    int32_t usual = best < 0 ? -1 : run->confusion.classes[best];
    for (int64_t i = 0; i < count; i++) {
        page_append(index, json_integer((json_int_t)chosen[i]));
        page_append(odd, json_integer(usual >= 0 && truth[chosen[i]] != usual));
        if (truth != NULL)
            page_append(classes, json_integer(truth[chosen[i]]));
    }
    return json_pack("{s:i, s:o, s:o, s:o}", "cluster", cluster, "index", index, "odd", odd,
                     "class", classes);
}

/* The budget of bytes is divided evenly among the clusters, so that each has the same number of
 * columns. */
static json_t *sheet_json(const report_run *run, const json_t *medoids) {
    image_format format = choose_format(run, SHEET_SIDE);
    int32_t shown = run->n_clusters < SHEET_ROWS ? run->n_clusters : SHEET_ROWS;
    int64_t pixels = (int64_t)format.height * format.width * format.channels, total = 0;
    int64_t max = SHEET_BYTES / (pixels * (shown > 0 ? shown : 1));
    max = max < 1 ? 1 : max > SHEET_COLUMNS ? SHEET_COLUMNS : max;
    int64_t *chosen = calloc((size_t)(shown * max) + 1, sizeof *chosen);
    if (chosen == NULL)
        return NULL;
    json_t *rows = json_array();
    for (int32_t k = 0; k < shown; k++) {
        int64_t count = choose_images(run, k, medoids, max, chosen + total);
        page_append(rows, sheet_row_json(run, k, chosen + total, count));
        total += count;
    }
    json_t *sheet = images_json(&format, chosen, total);
    page_set(sheet, "rows", rows);
    page_set(sheet, "medoids", json_boolean(medoids != NULL));
    free(chosen);
    return sheet;
}

/* Left out if the points are not images. */
void report_add_sheet(report_run *run) {
    if (report_has_images(run))
        page_add(page_section(run->page, "images", "Images of each cluster", NULL), "sheet",
                 sheet_json(run, json_object_get(run->info, "medoids")));
}
