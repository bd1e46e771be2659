/* Packing of leaves and the bound on its rounding error. */
#include "graph/leaf_points.h"

#include "base/check.h"
#include "base/parallel.h"
#include "graph/panels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAVES_PER_CHUNK = 16, PANELS = HD_GRAPH_LEAF / HD_GRAPH_PANEL };

static const double u = 0x1p-24; /* unit roundoff of float */

typedef struct filling {
    const hd_graph_rows *rows;
    const hd_graph_leaves *leaves;
    hd_graph_leaf_points *points;
    double *scratch; /* workers x HD_GRAPH_LEAF x d */
} filling;

/* Where point r of leaf l is: its first column; the others follow at a distance of a panel. */
static float *packed_point(const hd_graph_leaf_points *p, int64_t l, int64_t r) {
    return p->values + l * HD_GRAPH_LEAF * p->d + r / HD_GRAPH_PANEL * HD_GRAPH_PANEL * p->d +
           r % HD_GRAPH_PANEL;
}

/* The centre is the mean: it makes the norms small, and need not be accurate. */
static void pack_leaf(const filling *f, int64_t l, double *rows) {
    hd_graph_leaf_points *p = f->points;
    int64_t begin = hd_graph_leaf_begin(l), count = hd_graph_leaf_end(f->leaves, l) - begin;
    double *centre = p->centres + l * p->d, largest = 0;
    memset(centre, 0, (size_t)p->d * sizeof *centre);
    for (int64_t r = 0; r < count; r++) {
        hd_graph_rows_read(f->rows, f->leaves->order[begin + r], rows + r * p->d);
        for (int64_t j = 0; j < p->d; j++)
            centre[j] += rows[r * p->d + j];
    }
    for (int64_t j = 0; j < p->d; j++)
        centre[j] /= (double)count;
    for (int64_t r = 0; r < HD_GRAPH_LEAF; r++) {
        float *to = packed_point(p, l, r);
        double norm2 = 0;
        for (int64_t j = 0; j < p->d; j++) {
            float v = r < count ? (float)(p->scale * (rows[r * p->d + j] - centre[j])) : 0;
            to[j * HD_GRAPH_PANEL] = v;
            norm2 += (double)v * (double)v;
        }
        largest = fmax(largest, norm2);
    }
    p->radius[l] = sqrt(largest);
}

static huddle_status pack_leaves(void *argument, hd_chunk chunk) {
    const filling *f = argument;
    for (int64_t l = chunk.begin; l < chunk.end; l++)
        pack_leaf(f, l, f->scratch + chunk.worker * HD_GRAPH_LEAF * f->points->d);
    return HUDDLE_OK;
}

huddle_status hd_graph_leaf_points_new(huddle_context *context, const hd_graph_rows *rows,
                                       const hd_graph_leaves *leaves,
                                       hd_graph_leaf_points *points) {
    huddle_status status = HUDDLE_OK;
    hd_graph_packing packing = {0};
    filling f = {.rows = rows, .leaves = leaves, .points = points};
    *points = (hd_graph_leaf_points){.d = hd_graph_rows_width(rows), .n_leaves = leaves->count};
    /* All coordinates are within 1 of each other after scaling, so that no square overflows. */
    TRY(hd_graph_packing_new(context, rows, NULL, &packing));
    points->scale = packing.scale;
    ALLOC(points->values, leaves->count * HD_GRAPH_LEAF * points->d);
    ALLOC(points->centres, leaves->count * points->d);
    ALLOC(points->radius, leaves->count);
    ALLOC_ZERO(points->base, 2 * HD_GRAPH_LEAF);
    ALLOC(f.scratch, hd_workers(context) * HD_GRAPH_LEAF * points->d);
    for (int64_t r = leaves->n - hd_graph_leaf_begin(leaves->count - 1); r < HD_GRAPH_LEAF; r++)
        points->base[HD_GRAPH_LEAF + r] = INFINITY;
    TRY(hd_parallel(context, NULL, leaves->count, LEAVES_PER_CHUNK, pack_leaves, &f));
done:
    hd_graph_packing_free(&packing);
    huddle_free(f.scratch);
    return status;
}

void hd_graph_leaf_points_free(hd_graph_leaf_points *points) {
    huddle_free(points->values);
    huddle_free(points->centres);
    huddle_free(points->radius);
    huddle_free(points->base);
    *points = (hd_graph_leaf_points){0};
}

/* ---- pairs of leaves ----------------------------------------------------------------------- */

void hd_graph_leaf_pair_set(const hd_graph_leaf_points *points, int64_t a, int64_t b,
                            hd_graph_leaf_pair *pair) {
    const double *from = points->centres + a * points->d, *to = points->centres + b * points->d;
    double norm2 = 0;
    for (int64_t j = 0; j < points->d; j++) {
        double t = points->scale * (from[j] - to[j]);
        pair->shift[j] = (float)t;
        norm2 += t * t;
    }
    /* The factor covers the rounding in double, here and of the centres' differences. */
    pair->error = u * (2 * points->radius[a] + 2 * sqrt(norm2) + points->radius[b]) * (1 + 8 * u);
}

/* Subnormal coordinates and products have an error of 2^-150 each, multiplied by at most
 * 2 sqrt(d) in the sum. */
float hd_graph_leaf_pair_limit(const hd_graph_leaf_points *points, const hd_graph_leaf_pair *pair,
                               double distance) {
    double d = (double)points->d, r = distance * points->scale + pair->error;
    double limit = r * r * (1 + (d + 4) * u) * (1 + 0x1p-40) + (d + 4) * 0x1p-146;
    return limit < (double)FLT_MAX ? nextafterf((float)limit, INFINITY) : FLT_MAX;
}

void hd_graph_leaf_pair_rows(const hd_graph_leaf_points *points, const hd_graph_leaf_pair *pair,
                             int64_t a, const int32_t *active, int64_t count, float *panels) {
    int64_t d = points->d, panel = HD_GRAPH_PANEL * d;
    const float *leaf = points->values + a * HD_GRAPH_LEAF * d;
    for (int64_t at = 0; at < count; at++) {
        const float *from = leaf + active[at] / HD_GRAPH_PANEL * panel + active[at] % HD_GRAPH_PANEL;
        float *to = panels + at / HD_GRAPH_PANEL * panel + at % HD_GRAPH_PANEL;
        for (int64_t j = 0; j < d; j++)
            to[j * HD_GRAPH_PANEL] = from[j * HD_GRAPH_PANEL] + pair->shift[j];
    }
}

const float *hd_graph_leaf_columns(const hd_graph_leaf_points *points, int64_t l, int64_t c) {
    return points->values + (l * HD_GRAPH_LEAF + c) * points->d;
}

const float *hd_graph_leaf_base(const hd_graph_leaf_points *points, int64_t l) {
    return points->base + (l + 1 == points->n_leaves ? HD_GRAPH_LEAF : 0);
}
