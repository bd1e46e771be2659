/* Images of a page: small ones for the points of the sample, larger ones for the sheet. Grey, one
 * byte a pixel. */
#include "report/page.h"
#include "report_sample.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a page spends on each, and how large an image may be. */
enum { THUMB_BYTES = 450000, THUMB_SIDE = 24, SHEET_BYTES = 400000, SHEET_SIDE = 64 };

bool has_images(const report_run *run) {
    const huddle_data *data = &run->fit->data;
    return data->height > 1 && data->width > 1 && data->points.values != NULL &&
           data->points.offsets == NULL && data->points.d == (int64_t)data->height * data->width;
}

/* How images are made: scaled down to height x width, black and white at these values. */
typedef struct print {
    const huddle_data *data;
    int32_t height, width;
    double black, white;
} print;

static double pixel(const huddle_data *data, int64_t row, int32_t y, int32_t x) {
    int64_t j = data->column_major ? (int64_t)x * data->height + y : (int64_t)y * data->width + x;
    double shift = data->points.shift == NULL ? 0 : data->points.shift[j];
    return (double)data->points.values[row * data->points.stride + j] + shift;
}

static print print_of(const report_run *run, int32_t side) {
    const huddle_data *data = &run->fit->data;
    print made = {data, data->height, data->width, INFINITY, -INFINITY};
    int32_t larger = data->height > data->width ? data->height : data->width;
    if (larger > side) {
        made.height = (int32_t)fmax(1, round((double)data->height * side / larger));
        made.width = (int32_t)fmax(1, round((double)data->width * side / larger));
    }
    for (int64_t i = 0; i < run->count; i++)
        for (int32_t y = 0; y < data->height; y++)
            for (int32_t x = 0; x < data->width; x++) {
                double value = pixel(data, run->rows[i], y, x);
                made.black = fmin(made.black, value);
                made.white = fmax(made.white, value);
            }
    return made;
}

/* The mean of the pixels that fall on this one. */
static unsigned char shade(const print *p, int64_t row, int32_t y, int32_t x) {
    int32_t top = (int32_t)((int64_t)y * p->data->height / p->height);
    int32_t left = (int32_t)((int64_t)x * p->data->width / p->width);
    int32_t bottom = (int32_t)((int64_t)(y + 1) * p->data->height / p->height);
    int32_t right = (int32_t)((int64_t)(x + 1) * p->data->width / p->width);
    double sum = 0, range = p->white - p->black;
    for (int32_t v = top; v < bottom; v++)
        for (int32_t u = left; u < right; u++)
            sum += pixel(p->data, row, v, u) - p->black;
    double mean = sum / ((double)(bottom - top) * (double)(right - left));
    double step = range > 0 ? 255 * mean / range : 0;
    return (unsigned char)lrint(fmin(fmax(step, 0), 255));
}

static void print_image(const print *p, int64_t row, unsigned char *out) {
    for (int32_t y = 0; y < p->height; y++)
        for (int32_t x = 0; x < p->width; x++)
            *out++ = shade(p, row, y, x);
}

static json_t *printed_json(const print *p, const int64_t *rows, int64_t count) {
    size_t size = (size_t)p->height * (size_t)p->width;
    unsigned char *bytes = must(malloc(size * (size_t)count + 1));
    for (int64_t i = 0; i < count; i++)
        print_image(p, rows[i], bytes + size * (size_t)i);
    json_t *made =
        json_pack("{s:i, s:i, s:I, s:o}", "height", p->height, "width", p->width, "count",
                  (json_int_t)count, "data", page_bytes(bytes, size * (size_t)count));
    free(bytes);
    return made;
}

json_t *thumbs_json(const report_run *run) {
    print p = print_of(run, THUMB_SIDE);
    int64_t most = THUMB_BYTES / ((int64_t)p.height * p.width);
    return printed_json(&p, run->rows, run->count < most ? run->count : most);
}

/* ---- the sheet ---------------------------------------------------------------------------- */

enum { SHEET_ROWS = 60, SHEET_COLUMNS = 18 };

/* The images of one cluster: the medoid, then others in the random order of the run. */
static int64_t choose(const report_run *run, int32_t cluster, const json_t *medoids, int64_t most,
                      int64_t *chosen) {
    const json_t *medoid = json_array_get(medoids, (size_t)cluster);
    int64_t count = 0, first = json_is_integer(medoid) ? json_integer_value(medoid) : -1;
    if (first >= 0 && first < run->n)
        chosen[count++] = first;
    for (int64_t i = 0; i < run->n && count < most; i++)
        if (run->labels[run->rows[i]] == cluster && run->rows[i] != first)
            chosen[count++] = run->rows[i];
    return count;
}

/* The most frequent class of a cluster, or -1 if it is not in the table. */
static int32_t main_class(const huddle_confusion *table, int32_t cluster) {
    for (int64_t j = 0; table != NULL && j < table->n_clusters; j++) {
        int64_t best = 0;
        if (table->clusters[j] != cluster)
            continue;
        for (int64_t i = 1; i < table->n_classes; i++)
            if (table->counts[i * table->n_clusters + j] >
                table->counts[best * table->n_clusters + j])
                best = i;
        return table->classes[best];
    }
    return -1;
}

static json_t *sheet_row(const report_run *run, int32_t cluster, const int64_t *chosen,
                         int64_t count, const huddle_confusion *confusion) {
    json_t *index = json_array(), *odd = json_array(), *classes = json_array();
    const int32_t *truth = run->fit->data.labels;
    int32_t usual = main_class(confusion, cluster);
    for (int64_t i = 0; i < count; i++) {
        json_array_append_new(index, json_integer((json_int_t)chosen[i]));
        json_array_append_new(odd, json_integer(usual >= 0 && truth[chosen[i]] != usual));
        if (truth != NULL)
            json_array_append_new(classes, json_integer(truth[chosen[i]]));
    }
    return json_pack("{s:i, s:o, s:o, s:o}", "cluster", cluster, "index", index, "odd", odd,
                     "class", classes);
}

json_t *sheet_json(const report_run *run, const json_t *medoids,
                   const huddle_confusion *confusion) {
    print p = print_of(run, SHEET_SIDE);
    int32_t shown = run->n_clusters < SHEET_ROWS ? run->n_clusters : SHEET_ROWS;
    int64_t most = SHEET_BYTES / ((int64_t)p.height * p.width * (shown > 0 ? shown : 1)), total = 0;
    most = most < 1 ? 1 : most > SHEET_COLUMNS ? SHEET_COLUMNS : most;
    int64_t *chosen = must(calloc((size_t)(shown * most) + 1, sizeof *chosen));
    json_t *rows = json_array();
    for (int32_t k = 0; k < shown; k++) {
        int64_t count = choose(run, k, medoids, most, chosen + total);
        json_array_append_new(rows, sheet_row(run, k, chosen + total, count, confusion));
        total += count;
    }
    json_t *sheet = printed_json(&p, chosen, total);
    json_object_set_new(sheet, "rows", rows);
    json_object_set_new(sheet, "medoids", json_boolean(medoids != NULL));
    free(chosen);
    return sheet;
}
