/* Rows that are distributed over processes. On one process, the usual case, every function returns
 * at once; an engine that distributes rows supplies the functions. Reductions are collective: all
 * processes must call them, in the same order. */
#include "base/slabs.h"

#include "base/check.h"
#include "base/context.h"

#include <string.h>

static const hd_engine_slabs *slabs_of(const huddle_context *context) {
    return hd_context_engine(context)->slabs;
}

huddle_status hd_slab_locate(huddle_context *context, int64_t n, hd_slab *slab) {
    const hd_engine_slabs *slabs = slabs_of(context);
    *slab = (hd_slab){0, n};
    if (slabs == NULL)
        return HUDDLE_OK;
    return slabs->locate(context->engine_state, n, &slab->first, &slab->total);
}

/* count is the same on all processes, so that all or none take part. */
static huddle_status reduce_values(huddle_context *context, hd_reduction operation, int64_t count,
                                   double *values) {
    const hd_engine_slabs *slabs = slabs_of(context);
    if (slabs == NULL || count == 0)
        return HUDDLE_OK;
    return slabs->reduce(context->engine_state, operation, count, values);
}

huddle_status hd_reduce_sum(huddle_context *context, int64_t count, double *values) {
    return reduce_values(context, HD_REDUCE_SUM, count, values);
}

huddle_status hd_reduce_min(huddle_context *context, int64_t count, double *values) {
    return reduce_values(context, HD_REDUCE_MIN, count, values);
}

huddle_status hd_reduce_max(huddle_context *context, int64_t count, double *values) {
    return reduce_values(context, HD_REDUCE_MAX, count, values);
}

/* Counts are reduced as doubles, which represent integers up to 2^53 exactly. */
huddle_status hd_reduce_count(huddle_context *context, int64_t *count) {
    double value = (double)*count;
    huddle_status status = reduce_values(context, HD_REDUCE_SUM, 1, &value);
    *count = (int64_t)value;
    return status;
}

/* If one process fails, all must return a failure, or the others would wait for it in the next
 * reduction forever. */
huddle_status hd_agree(huddle_context *context, huddle_status status) {
    const hd_engine_slabs *slabs = slabs_of(context);
    return slabs == NULL ? status : slabs->agree(context->engine_state, status);
}

/* For stages that have no distributed version: a clear message instead of a wrong result. */
huddle_status hd_slabs_refuse(const huddle_context *context, const char *what) {
    if (slabs_of(context) == NULL)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_UNSUPPORTED,
                   "%s needs all rows on one process; the engine %s spreads them over several",
                   what, hd_context_engine(context)->text.name);
}

/* The engine renumbers columns: rows of other processes get indices behind the own ones. */
huddle_status hd_halo_open(huddle_context *context, int64_t n, int64_t count, int32_t *columns,
                           hd_halo *halo) {
    memset(halo, 0, sizeof *halo);
    const hd_engine_slabs *slabs = slabs_of(context);
    if (slabs == NULL)
        return HUDDLE_OK;
    huddle_status status =
        slabs->open_halo(context->engine_state, n, count, columns, &halo->ghosts, &halo->plan);
    if (status == HUDDLE_OK)
        halo->slabs = slabs;
    return status;
}

huddle_status hd_halo_fetch(const hd_halo *halo, void *rows, size_t row_size) {
    return halo->slabs == NULL ? HUDDLE_OK : halo->slabs->fetch_halo(halo->plan, rows, row_size);
}

void hd_halo_close(hd_halo *halo) {
    if (halo->slabs != NULL)
        halo->slabs->close_halo(halo->plan);
    memset(halo, 0, sizeof *halo);
}
