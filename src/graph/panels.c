/* Packing of points and the bound on its rounding error. */
#include "graph/panels.h"

#include "base/check.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>

enum {
    MAX_DIFFERENCES = 32, /* features up to which differences are as fast as products, and more
                             accurate (`./dev bench graph`) */
    SURVEY_CHUNKS = 16,   /* few: each keeps four numbers per feature */
    PANELS_PER_CHUNK = 16,
};

static const double u = 0x1p-24; /* unit roundoff of float */

/* ---- survey -------------------------------------------------------------------------------- */

typedef struct survey {
    const hd_graph_rows *rows;
    int64_t width;
    double *sums, *lows, *highs, *row; /* chunks x width */
    bool *whole;                       /* chunks */
} survey;

/* Sum, minimum and maximum of each coordinate over a chunk, and whether all are integers. Integers
 * up to a certain size make the kernel exact (hd_graph_panels_exact()), which is common for images
 * and counts. */
static huddle_status survey_rows(void *argument, hd_chunk chunk) {
    const survey *s = argument;
    int64_t at = chunk.index * s->width;
    double *sum = s->sums + at, *low = s->lows + at, *high = s->highs + at, *row = s->row + at;
    bool whole = true;
    for (int64_t j = 0; j < s->width; j++) {
        sum[j] = 0;
        low[j] = DBL_MAX;
        high[j] = -DBL_MAX;
    }
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        hd_graph_rows_read(s->rows, i, row);
        for (int64_t j = 0; j < s->width; j++) {
            double v = row[j];
            sum[j] += v;
            low[j] = v < low[j] ? v : low[j];
            high[j] = v > high[j] ? v : high[j];
        }
        for (int64_t j = 0; j < s->width && whole; j++)
            whole = row[j] == rint(row[j]);
    }
    s->whole[chunk.index] = whole;
    return HUDDLE_OK;
}

/* Combines the chunks in the place of the first, in their order: the mean has the same bits for any
 * number of threads. */
static void combine_chunks(survey *s, int64_t chunks) {
    for (int64_t c = 1; c < chunks; c++) {
        for (int64_t j = 0; j < s->width; j++) {
            int64_t e = c * s->width + j;
            s->sums[j] += s->sums[e];
            s->lows[j] = fmin(s->lows[j], s->lows[e]);
            s->highs[j] = fmax(s->highs[j], s->highs[e]);
        }
        s->whole[0] = s->whole[0] && s->whole[c];
    }
}

/* Sets the centre, if this is the first survey, and increases the radius around it. Integers keep
 * an integer centre, so that they stay integers. Centring leaves distances unchanged but makes
 * norms as small as possible, and with them the rounding error of the product form, which is
 * relative to |x_i|^2 + |x_j|^2. The centre itself need not be accurate. */
static huddle_status survey_one(huddle_context *context, const hd_graph_rows *rows, bool first,
                                hd_graph_packing *p, double *radius) {
    huddle_status status = HUDDLE_OK;
    survey s = {.rows = rows, .width = p->d};
    int64_t grain = (rows->n + SURVEY_CHUNKS - 1) / SURVEY_CHUNKS;
    int64_t chunks = hd_chunks(rows->n, grain);
    ALLOC(s.sums, chunks * s.width);
    ALLOC(s.lows, chunks * s.width);
    ALLOC(s.highs, chunks * s.width);
    ALLOC(s.row, chunks * s.width);
    ALLOC(s.whole, chunks);
    TRY(hd_parallel(context, NULL, rows->n, grain, survey_rows, &s));
    combine_chunks(&s, chunks);
    p->whole = p->whole && s.whole[0];
    for (int64_t j = 0; j < s.width; j++) {
        if (first) {
            double mean = s.sums[j] / (double)rows->n;
            p->centre[j] = p->whole ? rint(mean) : mean;
        }
        *radius = fmax(*radius, fmax(s.highs[j] - p->centre[j], p->centre[j] - s.lows[j]));
    }
done:
    FREE(s.sums, s.lows, s.highs, s.row, s.whole);
    return status;
}

huddle_status hd_graph_packing_new(huddle_context *context, const hd_graph_rows *train,
                                   const hd_graph_rows *query, hd_graph_packing *packing) {
    huddle_status status = HUDDLE_OK;
    double radius = 0;
    *packing =
        (hd_graph_packing){.d = hd_graph_rows_width(train), .whole = true, .isa = hd_cpu_isa()};
    packing->differences = packing->d <= MAX_DIFFERENCES;
    ALLOC(packing->centre, packing->d);
    TRY(survey_one(context, train, true, packing, &radius));
    if (query != NULL)
        TRY(survey_one(context, query, false, packing, &radius));
    packing->scale = hd_graph_unit_scale(radius);
done:
    return status;
}

/* The centre is within reach too, so that no packed coordinate exceeds 1. */
double hd_graph_packing_scale(double reach) {
    return hd_graph_unit_scale(reach) / 2;
}

void hd_graph_packing_free(hd_graph_packing *packing) {
    huddle_free(packing->centre);
    *packing = (hd_graph_packing){0};
}

/* ---- packing ------------------------------------------------------------------------------- */

typedef struct filling {
    const hd_graph_rows *rows;
    const hd_graph_packing *packing;
    hd_graph_panels *panels;
    double *scratch; /* workers x d */
} filling;

/* Packs point i, or padding beyond the last point. The norm is that of the rounded coordinates,
 * summed in double, so that the rounding of the coordinates is not an error of the kernel: it
 * computes the distance between the packed points, and the bound accounts for their displacement
 * separately. */
static void pack_point(const filling *f, int64_t i, double *row) {
    const hd_graph_packing *p = f->packing;
    hd_graph_panels *x = f->panels;
    float *to = x->values + i / HD_GRAPH_PANEL * HD_GRAPH_PANEL * p->d + i % HD_GRAPH_PANEL;
    if (i >= x->n) {
        for (int64_t j = 0; j < p->d; j++)
            to[j * HD_GRAPH_PANEL] = 0;
        x->base[i] = INFINITY;
        return;
    }
    double norm2 = 0;
    hd_graph_rows_read(f->rows, i, row);
    for (int64_t j = 0; j < p->d; j++) {
        float v = (float)(p->scale * (row[j] - p->centre[j]));
        to[j * HD_GRAPH_PANEL] = v;
        norm2 += (double)v * (double)v;
    }
    x->norm[i] = sqrt(norm2);
    x->base[i] = p->differences ? 0 : (float)norm2;
}

/* Panels are the unit of work: threads write to separate parts of the arrays. */
static huddle_status fill_panels(void *argument, hd_chunk chunk) {
    const filling *f = argument;
    double *row = f->scratch + chunk.worker * f->packing->d;
    for (int64_t i = chunk.begin * HD_GRAPH_PANEL; i < chunk.end * HD_GRAPH_PANEL; i++)
        pack_point(f, i, row);
    return HUDDLE_OK;
}

huddle_status hd_graph_panels_new(huddle_context *context, const hd_graph_rows *rows,
                                  const hd_graph_packing *packing, hd_graph_panels *panels) {
    huddle_status status = HUDDLE_OK;
    int64_t padded =
        (rows->n + HD_GRAPH_TILE_COLUMNS - 1) / HD_GRAPH_TILE_COLUMNS * HD_GRAPH_TILE_COLUMNS;
    filling f = {.rows = rows, .packing = packing, .panels = panels};
    *panels = (hd_graph_panels){.n = rows->n, .padded = padded, .d = packing->d};
    ALLOC(panels->values, padded * packing->d);
    ALLOC(panels->base, padded);
    ALLOC(panels->norm, rows->n);
    ALLOC(f.scratch, hd_workers(context) * packing->d);
    TRY(hd_parallel(context, NULL, padded / HD_GRAPH_PANEL, PANELS_PER_CHUNK, fill_panels, &f));
    for (int64_t i = 0; i < rows->n; i++)
        panels->largest = fmax(panels->largest, panels->norm[i]);
done:
    huddle_free(f.scratch);
    return status;
}

void hd_graph_panels_free(hd_graph_panels *panels) {
    FREE(panels->values, panels->base, panels->norm);
    *panels = (hd_graph_panels){0};
}

/* ---- rounding ------------------------------------------------------------------------------ */

bool hd_graph_panels_exact(const hd_graph_packing *packing, const hd_graph_panels *train,
                           const hd_graph_panels *query) {
    /* Every intermediate sum is an integer of at most (|x| + |y|)^2, which float represents. */
    double both = (train->largest + query->largest) / packing->scale;
    return packing->whole && both * both < 0x1p24;
}

/* The bound of panels.h, solved for the value that the kernel shows. If d is so large that the
 * bound has no meaning, nothing is excluded. The steps: r in packed units; the distance of the
 * packed points, which differs by the displacement of both; its square; and the error of the
 * kernel, relative for differences and relative to the squared norms for products. (d + 6) u / (1 -
 * (d + 6) u) is the constant gamma_n of Higham's analysis for n = d + 6 operations. */
double hd_graph_packing_limit(const hd_graph_packing *packing, double norm, double distance2) {
    double r = sqrt(distance2) * packing->scale, d = (double)packing->d;
    /* The other point is at most r away, and packing moved both: other <= norm + r + u (norm +
     * other) + 2 position_error. Solved for `other`, the factor is (1 + u) / (1 - u) < 1 + 4 u. */
    double other = (norm + r + 2 * packing->position_error) * (1 + 4 * u);
    double packed = r + u * (norm + other) + 2 * packing->position_error;
    double limit = packed * packed;
    if (packing->differences)
        limit *= 1 + (d + 4) * u;
    else if ((d + 6) * u < 0.5)
        limit += (d + 6) * u / (1 - (d + 6) * u) * (norm * norm + other * other);
    else
        return INFINITY;
    /* A margin for the arithmetic in double above. Subnormal coordinates and products have an error
     * of 2^-150 each, multiplied by at most 2 sqrt(d) in the sum. */
    return limit * (1 + 0x1p-40) + (d + 4) * 0x1p-146;
}

/* The conversion rounds to nearest, which may be below the limit; the next float is not. FLT_MAX
 * excludes no point, but padding, whose values are infinite. */
float hd_graph_packing_tau(const hd_graph_packing *packing, double norm, double distance2) {
    double limit =
        isfinite(distance2) ? hd_graph_packing_limit(packing, norm, distance2) : INFINITY;
    return limit < (double)FLT_MAX ? nextafterf((float)limit, INFINITY) : FLT_MAX;
}
