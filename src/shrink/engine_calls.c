/* Calls of an engine that solves the shrink problem itself, and its result in the form of the
 * solvers of the CPU: the objective and the bound are always computed here, from its G and Z. */
#include "base/check.h"
#include "shrink/solve.h"

#include <math.h>

/* Later steps would not notice a NaN, since all comparisons with it are false. */
static huddle_status check_finite(const char *name, const huddle_dense *m, const char *what) {
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = 0; k < m->cols; k++)
            if (!isfinite(m->values[i * m->stride + k]))
                return hd_fail(HUDDLE_NUMERIC, "engine '%s' returned %s %lld that is not finite",
                               name, what, (long long)i + 1);
    return HUDDLE_OK;
}

/* An engine may be a plugin: sizes and values are checked before anything uses them. */
static huddle_status check_result(const hd_shrink_solve *s, const huddle_dense *g,
                                  const huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const char *name = hd_context_engine(s->input.context)->text.name;
    int64_t n = s->input.f->rows, m = s->input.edges->count, c = s->input.f->cols;
    TRY(huddle_dense_fetch(g));
    TRY(huddle_dense_fetch(z));
    if (g->rows != n || g->cols != c || z->rows != m || z->cols != c)
        FAIL(HUDDLE_INTERNAL, "engine '%s' returned G as %lld x %lld and Z as %lld x %lld", name,
             (long long)g->rows, (long long)g->cols, (long long)z->rows, (long long)z->cols);
    TRY(check_finite(name, g, "a value in row"));
    TRY(check_finite(name, z, "a dual value of edge"));
done:
    return status;
}

/* Calls the engine for the wanted gap, with the iterations that are left of max_iter. Whatever it
 * returned is freed if it fails. Only G, Z and two counts are taken: whatever it says of its gap,
 * the bound of (10) holds for any Z once it is clipped, and a wrong result shows as a large gap. */
huddle_status hd_shrink_call_engine(hd_shrink_solve *s, const huddle_dense *start, huddle_dense *g,
                                    huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_input *in = &s->input;
    const hd_engine *engine = hd_context_engine(in->context);
    int32_t left = s->max_iter - s->info->n_iter;
    hd_shrink_request request = {.f = in->f,
                                 .w = in->w,
                                 .weights = in->weights,
                                 .gamma = in->gamma,
                                 .squared = in->squared,
                                 .gap = s->target_gap,
                                 .max_iter = left,
                                 .start = start,
                                 .seed = s->options.seed,
                                 .outside = s->outside};
    hd_shrink_result result = {.g = g, .z = z};
    /* HUDDLE_UNSUPPORTED: the caller then uses the solvers of the CPU, or keeps what it has. */
    if (engine->shrink == NULL || left < 1)
        FAIL(HUDDLE_UNSUPPORTED, "no step is left, or the engine has none");
    status = engine->shrink(in->context, &request, &result);
    (void)hd_engine_declined(in->context, "shrink", status);
    TRY(status);
    TRY(check_result(s, g, z));
    s->info->n_iter += result.n_iter;
    s->info->n_solves += result.n_solves;
done:
    if (status != HUDDLE_OK) {
        huddle_dense_free(g);
        huddle_dense_free(z);
    }
    return status;
}

/* z of one edge, converted from the orientation and the unit of the caller (for "l2" z scales with
 * F, for "l21" it does not), and clipped to its ball: the bound is valid only for such z. */
static void load_dual_row(const hd_shrink_problem *p, int64_t e, const double *from, double *to) {
    double scale = (p->flipped[e] ? -1 : 1) / (p->squared ? p->unit : 1), norm = 0;
    for (int64_t k = 0; k < p->c; k++) {
        to[k] = scale * from[k];
        norm += to[k] * to[k];
    }
    if (norm > p->lambda[e] * p->lambda[e])
        for (int64_t k = 0; k < p->c; k++)
            to[k] *= p->lambda[e] / sqrt(norm);
}

/* Evaluates an engine's point as if a solver had computed it, so that best points and bounds are
 * kept as usual. Fixed rows and idle edges have no part in it; the certificate of the answer has
 * all of them. */
huddle_status hd_shrink_load_point(hd_shrink_solve *s, const huddle_dense *g,
                                   const huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_problem *p = &s->problem;
    TRY(hd_shrink_arrays_start(p, g, &s->arrays));
    for (int64_t k = 0; k < p->n_blocks; k++) {
        hd_shrink_block *b = &s->blocks[k];
        TRY(hd_check_cancel(s->input.context));
        for (int64_t e = b->range.e0; e < b->range.e1; e++)
            load_dual_row(p, e, z->values + p->edge[e] * z->stride,
                          b->point.z + (e - b->range.e0) * p->c);
        TRY(hd_shrink_block_evaluate(b));
        TRY(hd_shrink_block_bound(b));
    }
done:
    return status;
}
