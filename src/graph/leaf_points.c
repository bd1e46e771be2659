/* Packing of leaves and the bound on its rounding error. */
#include "graph/leaf_points.h"

#include "base/check.h"
#include "base/parallel.h"
#include "graph/panels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAVES_PER_CHUNK = 16 };

static const double u = 0x1p-24; /* unit roundoff of float */

typedef struct filling {
    hd_graph_leaf_points *points;
    double *scratch; /* workers x d */
} filling;

/* The difference is formed in double and rounded once, as it is stored: of rows that agree in seven
 * digits it contains the digits that follow. */
double hd_graph_leaf_pack(const hd_graph_leaf_points *points, const double *row,
                          const double *centre, int64_t r, float *panels) {
    float *to = panels + r / HD_GRAPH_PANEL * HD_GRAPH_PANEL * points->d + r % HD_GRAPH_PANEL;
    double norm2 = 0;
    for (int64_t j = 0; j < points->d; j++) {
        double v = points->scale * (row[j] - centre[j]);
        to[j * HD_GRAPH_PANEL] = (float)v;
        norm2 += v * v;
    }
    return sqrt(norm2);
}

/* Padding is at the centre; its base excludes it. Tiles read whole leaves, and a norm of 0 does not
 * change the largest. */
double hd_graph_leaf_repack(const hd_graph_leaf_points *points, int64_t l, const double *centre,
                            double *row, float *panels) {
    int64_t begin = hd_graph_leaf_begin(l), count = hd_graph_leaf_end(points->leaves, l) - begin;
    double largest = 0;
    for (int64_t r = 0; r < HD_GRAPH_LEAF; r++) {
        if (r < count)
            hd_graph_rows_read(points->rows, points->leaves->order[begin + r], row);
        double norm = hd_graph_leaf_pack(points, r < count ? row : centre, centre, r, panels);
        largest = fmax(largest, norm);
    }
    return largest;
}

/* The centre is the mean: it makes the norms small, and need not be accurate. Both sides of a
 * comparison are packed relative to the same one. */
static void pack_leaf(hd_graph_leaf_points *p, int64_t l, double *row) {
    int64_t begin = hd_graph_leaf_begin(l), end = hd_graph_leaf_end(p->leaves, l);
    double *centre = p->centres + l * p->d;
    memset(centre, 0, (size_t)p->d * sizeof *centre);
    for (int64_t place = begin; place < end; place++) {
        hd_graph_rows_read(p->rows, p->leaves->order[place], row);
        for (int64_t j = 0; j < p->d; j++)
            centre[j] += row[j];
    }
    for (int64_t j = 0; j < p->d; j++)
        centre[j] /= (double)(end - begin);
    p->radius[l] = hd_graph_leaf_repack(p, l, centre, row, hd_graph_leaf_values(p, l));
}

static huddle_status pack_leaves(void *argument, hd_chunk chunk) {
    const filling *f = argument;
    for (int64_t l = chunk.begin; l < chunk.end; l++)
        pack_leaf(f->points, l, f->scratch + chunk.worker * f->points->d);
    return HUDDLE_OK;
}

huddle_status hd_graph_leaf_points_new(huddle_context *context, const hd_graph_rows *rows,
                                       const hd_graph_leaves *leaves, double reach,
                                       hd_graph_leaf_points *points) {
    huddle_status status = HUDDLE_OK;
    hd_graph_packing packing = {0};
    filling f = {.points = points};
    *points =
        (hd_graph_leaf_points){.rows = rows, .leaves = leaves, .d = hd_graph_rows_width(rows)};
    /* Only the scale is used: all coordinates are within 2 of each other, and no square overflows.
     */
    if (reach == 0)
        TRY(hd_graph_packing_new(context, rows, NULL, &packing));
    points->scale = reach > 0 ? hd_graph_packing_scale(reach) : packing.scale;
    ALLOC(points->values, leaves->count * HD_GRAPH_LEAF * points->d);
    ALLOC(points->centres, leaves->count * points->d);
    ALLOC(points->radius, leaves->count);
    ALLOC_ZERO(points->base, 2 * HD_GRAPH_LEAF);
    ALLOC(f.scratch, hd_workers(context) * points->d);
    /* No other leaf has padding. */
    for (int64_t r = leaves->n - hd_graph_leaf_begin(leaves->count - 1); r < HD_GRAPH_LEAF; r++)
        points->base[HD_GRAPH_LEAF + r] = INFINITY;
    TRY(hd_parallel(context, NULL, leaves->count, LEAVES_PER_CHUNK, pack_leaves, &f));
done:
    hd_graph_packing_free(&packing);
    huddle_free(f.scratch);
    return status;
}

void hd_graph_leaf_points_free(hd_graph_leaf_points *points) {
    FREE(points->values, points->centres, points->radius, points->base);
    *points = (hd_graph_leaf_points){0};
}

float *hd_graph_leaf_values(const hd_graph_leaf_points *points, int64_t l) {
    return points->values + l * HD_GRAPH_LEAF * points->d;
}

const double *hd_graph_leaf_centre(const hd_graph_leaf_points *points, int64_t l) {
    return points->centres + l * points->d;
}

float *hd_graph_leaf_base(const hd_graph_leaf_points *points, int64_t l) {
    return points->base + (l + 1 == points->leaves->count ? HD_GRAPH_LEAF : 0);
}

/* ---- rounding ------------------------------------------------------------------------------ */

/* The row moves by u |x|, the point, whose norm is at most |x| + r, by u (|x| + r). */
double hd_graph_leaf_error(double norm, double distance) {
    return u * (2 * norm + distance);
}

/* The factor of the error covers the arithmetic in double, here and before packing. Subnormal
 * coordinates and products have an error of 2^-150 each, multiplied by at most 2 sqrt(d) in the
 * sum. The last factor rounds up. */
float hd_graph_leaf_limit(const hd_graph_leaf_points *points, double norm, double distance) {
    double d = (double)points->d;
    double r = distance + hd_graph_leaf_error(norm, distance) * (1 + 0x1p-10);
    double limit = r * r * (1 + (d + 4) * u) + (d + 4) * 0x1p-146;
    limit *= 1 + 4 * u;
    return limit < (double)FLT_MAX ? (float)limit : FLT_MAX;
}
