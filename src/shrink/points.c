/* New rows, shrunk towards fixed ones, equation (16) of docs/method.md: one small problem per row,
 * a weighted geometric median. The solution is often at a kink, that is, at one of the points
 * themselves, which are tested first; otherwise Weiszfeld's iteration converges to it. */
#include "huddle/shrink.h"

#include "base/check.h"
#include "base/parallel.h"
#include "matrix/resident.h"
#include "shrink/certificate.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 500, GRAIN = 64 /* rows per chunk */ };

/* Margin for rounding in the test of a kink; the gradient, relative to the curvature, below which
 * no step is left; the relative descent below which the iteration ends. */
static const double kink_margin = 1e-12, smallest_gradient = 1e-14, smallest_descent = 1e-16;

typedef struct batch {
    const huddle_dense *f, *anchors;
    const huddle_csr *w;
    const int32_t *columns; /* of w, by local number */
    hd_shrink_rows fixed;   /* the anchors, with those of other processes */
    double gamma;
    bool squared;
    huddle_dense *g;
    double *scratch; /* workers x 4 c */
} batch;

/* One row's problem: minimise sum_k weight_k ||g - a_k|| over the anchors and, for "l21", f itself
 * with weight 1; for "l2", ||g - f||^2 is added instead. */
typedef struct place {
    const batch *b;
    int64_t row, c, terms;
    const double *f;
    double *g, *gradient, *next, *from;
} place;

/* Term k: its point and weight; the first is f, which for "l2" has no distance term. */
static const double *term_of(const place *p, int64_t k, double *weight) {
    if (k == 0) {
        *weight = p->b->squared ? 0 : 1;
        return p->f;
    }
    int64_t at = p->b->w->offsets[p->row] + k - 1;
    *weight = p->b->gamma * p->b->w->values[at];
    return p->b->fixed.values + p->b->columns[at] * p->b->fixed.stride;
}

/* Returns the objective at `at`, and leaves the gradient of its smooth part. *stuck becomes the
 * weight of the terms whose point lies there, *inverse the sum of weight / distance, which is the
 * curvature of the majorising quadratic (plus 2 for the squared loss). */
static double evaluate_at(const place *p, const double *at, double *stuck, double *inverse) {
    double objective = 0;
    *stuck = *inverse = 0;
    memset(p->gradient, 0, (size_t)p->c * sizeof *p->gradient);
    for (int64_t k = 0; k < p->terms; k++) {
        double weight, d;
        const double *point = term_of(p, k, &weight);
        d = sqrt(hd_shrink_distance2(at, point, p->c));
        /* At distance 0 the term has no gradient; its subgradients are the vectors up to
         * `weight`. */
        if (d == 0) {
            *stuck += weight;
            continue;
        }
        objective += weight * d;
        *inverse += weight / d;
        for (int64_t q = 0; q < p->c; q++)
            p->gradient[q] += weight / d * (at[q] - point[q]);
    }
    if (p->b->squared) {
        double d = sqrt(hd_shrink_distance2(at, p->f, p->c));
        objective += d * d;
        *inverse += 2;
        for (int64_t q = 0; q < p->c; q++)
            p->gradient[q] += 2 * (at[q] - p->f[q]);
    }
    return objective;
}

/* Moves g to the best of the kinks (f and the anchors); true if it is the solution. Testing the
 * best one is enough: the problem is convex, so a kink that is a minimiser has the smallest
 * objective of all. With k anchors this takes k^2 distances, of a few neighbours only. */
static bool try_kinks(const place *p) {
    double best = INFINITY, stuck, inverse;
    for (int64_t k = 0; k < p->terms; k++) {
        double weight;
        const double *point = term_of(p, k, &weight);
        double objective = evaluate_at(p, point, &stuck, &inverse);
        if (objective < best) {
            best = objective;
            memcpy(p->from, point, (size_t)p->c * sizeof *p->from);
        }
    }
    memcpy(p->g, p->from, (size_t)p->c * sizeof *p->g);
    evaluate_at(p, p->g, &stuck, &inverse);
    return hd_shrink_norm(p->gradient, p->c) <= stuck * (1 + kink_margin);
}

/* Weiszfeld's iteration from the best kink, the first step as in Vardi and Zhang (2000). Each step
 * is first tried with the factor 1.5, which usually descends more (see relaxation in irls.c), then
 * with 1, which descends in exact arithmetic. Since the start is the best kink and the objective
 * decreases, the iteration meets no other kink. */
static void iterate_weiszfeld(const place *p) {
    double stuck, inverse, before = evaluate_at(p, p->g, &stuck, &inverse);
    for (int32_t step = 0; step < MAX_STEPS; step++) {
        double pull = hd_shrink_norm(p->gradient, p->c);
        /* If pull <= stuck, zero is a subgradient and g is optimal; the division is then not
         * used. */
        double factor = (1 - stuck / pull) / inverse, objective = INFINITY;
        if (!(pull > stuck) || pull <= smallest_gradient * inverse)
            return;
        memcpy(p->from, p->g, (size_t)p->c * sizeof *p->from);
        memcpy(p->next, p->gradient, (size_t)p->c * sizeof *p->next);
        /* 3 halves of the step, then 2. */
        for (int halves = 3; halves >= 2; halves--) {
            for (int64_t q = 0; q < p->c; q++)
                p->g[q] = p->from[q] - .5 * halves * factor * p->next[q];
            objective = evaluate_at(p, p->g, &stuck, &inverse);
            if (objective < before)
                break;
        }
        if (!(objective < before * (1 - smallest_descent))) {
            memcpy(p->g, p->from, (size_t)p->c * sizeof *p->g);
            return;
        }
        before = objective;
    }
}

/* Rows are independent of each other, so any distribution over threads gives the same bits. */
static huddle_status shrink_rows(void *argument, hd_chunk chunk) {
    const batch *b = argument;
    int64_t c = b->f->cols;
    double *scratch = b->scratch + chunk.worker * 4 * c;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        place p = {.b = b,
                   .row = i,
                   .c = c,
                   .terms = b->w->offsets[i + 1] - b->w->offsets[i] + 1,
                   .f = b->f->values + i * b->f->stride,
                   .g = scratch,
                   .gradient = scratch + c,
                   .next = scratch + 2 * c,
                   .from = scratch + 3 * c};
        if (!try_kinks(&p))
            iterate_weiszfeld(&p);
        memcpy(b->g->values + i * b->g->stride, p.g, (size_t)c * sizeof *p.g);
    }
    return HUDDLE_OK;
}

/* Everything that is indexed or divided by later. W has one row per new point and one column per
 * anchor, over all processes. */
static huddle_status check_points(huddle_context *context, batch *b, const char *loss) {
    huddle_status status = HUDDLE_OK;
    hd_slab slab;
    TRY(hd_shrink_check_loss(loss, b->gamma, &b->squared));
    TRY(huddle_csr_check(b->w));
    TRY(hd_shrink_check_rows(b->f, "f", b->w->rows));
    TRY(hd_slab_locate(context, b->anchors->rows, &slab));
    TRY(hd_shrink_check_shape(b->anchors, "anchors", b->anchors->rows + b->w->cols - slab.total,
                              b->f->cols));
    if (b->g->rows != b->f->rows || b->g->cols != b->f->cols || b->g->stride < b->g->cols)
        FAIL(HUDDLE_INVALID, "g is %lld x %lld, f is %lld x %lld", (long long)b->g->rows,
             (long long)b->g->cols, (long long)b->f->rows, (long long)b->f->cols);
    for (int64_t e = 0; e < b->w->offsets[b->w->rows]; e++)
        if (b->w->values[e] < 0)
            FAIL(HUDDLE_INVALID, "the weights contain the negative number %g", b->w->values[e]);
done:
    return status;
}

/* Shrinks the rows on the CPU; anchors of other processes are fetched first. */
static huddle_status shrink_on_cpu(huddle_context *context, batch *b) {
    huddle_status status = HUDDLE_OK;
    int64_t count = b->w->offsets[b->w->rows];
    hd_halo halo = {0};
    int32_t *local = NULL;
    b->columns = b->w->columns;
    if (hd_context_engine(context)->slabs != NULL) {
        ALLOC(local, count);
        memcpy(local, b->w->columns, (size_t)count * sizeof *local);
        TRY(hd_halo_open(context, b->anchors->rows, count, local, &halo));
        b->columns = local;
    }
    TRY(hd_shrink_rows_open(&halo, b->anchors, &b->fixed));
    ALLOC(b->scratch, hd_workers(context) * 4 * b->f->cols);
    TRY(hd_parallel(context, "shrink", b->f->rows, GRAIN, shrink_rows, b));
done:
    huddle_free(b->scratch);
    hd_shrink_rows_close(&b->fixed);
    hd_halo_close(&halo);
    huddle_free(local);
    return status;
}

/* The rows are small independent problems; an engine may solve them, and the CPU does otherwise. */
huddle_status huddle_shrink_points(huddle_context *context, const huddle_dense *f,
                                   const huddle_csr *w, const huddle_dense *anchors, double gamma,
                                   const char *loss, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    const hd_engine *engine = hd_context_engine(context);
    batch b = {.f = f, .anchors = anchors, .w = w, .gamma = gamma, .g = g};
    TRY(huddle_dense_fetch(f));
    TRY(huddle_csr_fetch(w));
    TRY(check_points(context, &b, loss));
    if (g->resident != f->resident)
        hd_resident_invalidate(g->resident); /* the engine may leave its new copy there */
    status = HUDDLE_UNSUPPORTED;
    if (engine->shrink_points != NULL) {
        hd_shrink_points_request request = {f, anchors, w, gamma, b.squared};
        status = engine->shrink_points(context, &request, g);
        (void)hd_engine_declined(context, "shrink_points", status);
    }
    if (status == HUDDLE_UNSUPPORTED)
        status = shrink_on_cpu(context, &b);
    if (g->resident == f->resident)
        hd_resident_invalidate(g->resident); /* g is f: the copy has the rows from before */
done:
    return hd_agree(context, status);
}
