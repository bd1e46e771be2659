/* The points of the approximate search in the order of a tree. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/approximate.h"

#include <math.h>
#include <string.h>

enum {
    MAX_COPIED = 128, /* features up to which rows are copied in order: eight cache lines. Longer
                         rows cost more to copy than the order of their first lines saves */
    ROWS_PER_CHUNK = 1024,
};

/* Points are packed in float, where the scale that subnormal coordinates ask for, up to 2^148,
 * would be infinite. */
static const double max_scale = 0x1p126; /* a finite float */

/* ---- coordinates --------------------------------------------------------------------------- */

typedef struct copying {
    hd_graph_ordered_points *points;
    double *scratch;      /* workers x width */
    const int32_t *order; /* NULL: as they are */
} copying;

/* Rows as the metric sees them, rounded to float. Shift and scale are applied in double, so that a
 * coordinate is rounded once. */
static huddle_status copy_rows(void *argument, hd_chunk chunk) {
    const copying *c = argument;
    hd_graph_ordered_points *x = c->points;
    double *row = c->scratch + chunk.worker * x->d;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        hd_graph_rows_read(x->rows, c->order != NULL ? c->order[i] : i, row);
        for (int64_t j = 0; j < x->d; j++)
            x->copy[i * x->d + j] = (float)row[j];
    }
    return HUDDLE_OK;
}

static huddle_status make_copy(huddle_context *context, hd_graph_ordered_points *x,
                               const int32_t *order) {
    huddle_status status = HUDDLE_OK;
    copying c = {.points = x, .order = order};
    ALLOC(x->copy, x->n * x->d);
    ALLOC(c.scratch, hd_workers(context) * x->d);
    TRY(hd_parallel(context, NULL, x->n, ROWS_PER_CHUNK, copy_rows, &c));
    x->values = x->copy;
    x->stride = x->d;
done:
    huddle_free(c.scratch);
    return status;
}

huddle_status hd_graph_ordered_points_new(huddle_context *context, const hd_graph_rows *rows,
                                          double reach, hd_graph_ordered_points *points) {
    huddle_status status = HUDDLE_OK;
    int64_t d = hd_graph_rows_width(rows);
    *points = (hd_graph_ordered_points){
        .rows = rows,
        .n = rows->n,
        .d = d,
        .values = rows->singles,
        .stride = rows->stride,
        .packing = {.d = d, .differences = true, .isa = rows->isa},
    };
    points->kernel = hd_graph_tiles_kernel(&points->packing);
    ALLOC(points->order, points->n);
    for (int64_t i = 0; i < points->n; i++)
        points->order[i] = (int32_t)i;
    /* Rows with a shift or a scale do not exist in memory as the metric sees them. */
    if (rows->scale != NULL || rows->shift != NULL || rows->pick != NULL)
        TRY(make_copy(context, points, NULL));
    if (reach == 0)
        TRY(hd_graph_rows_reach(context, rows, rows, &reach));
    /* There is no centre: a difference of two floats is as accurate as its operands wherever they
     * are. */
    points->packing.scale = fmin(hd_graph_unit_scale((double)(float)reach), max_scale);
done:
    return status;
}

void hd_graph_ordered_points_free(hd_graph_ordered_points *points) {
    FREE(points->order, points->copy);
    *points = (hd_graph_ordered_points){0};
}

/* ---- order --------------------------------------------------------------------------------- */

/* A copy is made anew from the points instead of being permuted: that needs no second copy either,
 * and all threads can do it. Long rows stay in the order of their numbers, and are reached through
 * the order. */
huddle_status hd_graph_ordered_points_permute(huddle_context *context,
                                              hd_graph_ordered_points *points,
                                              const int32_t *order) {
    huddle_status status = HUDDLE_OK;
    memcpy(points->order, order, (size_t)points->n * sizeof *order);
    if (points->d <= MAX_COPIED) {
        huddle_free(points->copy);
        points->copy = NULL;
        TRY(make_copy(context, points, order));
    } else {
        points->pick = points->order;
    }
done:
    return status;
}

/* Rows are requested a few ahead: they may be anywhere in memory. The loop begins AHEAD places
 * early, to request the first ones too. The scale is a power of two, so that its product is exact
 * unless it is subnormal. What is left of the last panel is at the origin: its infinite base is
 * added to finite sums, and never becomes NaN. */
hd_graph_panels hd_graph_ordered_points_pack(const hd_graph_ordered_points *x,
                                             const int32_t *position, int64_t count, float *values,
                                             float *base) {
    enum { AHEAD = 8, LINE = 64, LINES = 8 };
    hd_graph_panels panels = {.n = count, .d = x->d, .values = values, .base = base};
    float scale = (float)x->packing.scale;
    int64_t padded = hd_chunks(count, HD_GRAPH_PANEL) * HD_GRAPH_PANEL;
    for (int64_t p = -AHEAD; p < padded; p++) {
        if (p + AHEAD < count) {
            const char *from = (const char *)hd_graph_ordered_row(x, position[p + AHEAD]);
            for (int64_t byte = 0; byte < x->d * 4 && byte < LINES * LINE; byte += LINE)
                __builtin_prefetch(from + byte);
        }
        if (p < 0)
            continue;
        const float *row = p < count ? hd_graph_ordered_row(x, position[p]) : NULL;
        float *to = values + p / HD_GRAPH_PANEL * HD_GRAPH_PANEL * x->d + p % HD_GRAPH_PANEL;
        for (int64_t j = 0; j < x->d; j++)
            to[j * HD_GRAPH_PANEL] = row != NULL ? scale * row[j] : 0;
    }
    panels.padded = hd_chunks(count, HD_GRAPH_TILE_COLUMNS) * HD_GRAPH_TILE_COLUMNS;
    for (int64_t p = 0; p < panels.padded && base != NULL; p++)
        base[p] = p < count ? 0 : INFINITY;
    return panels;
}
