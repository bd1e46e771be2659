#include "base/slabs.h"

#include "base/check.h"
#include "base/context.h"
#include "base/stages.h"

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
    hd_stages_received(context, (hd_slabs_count(context) - 1) * count * (int64_t)sizeof *values);
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

bool hd_slabs_distributed(const huddle_context *context) {
    return slabs_of(context) != NULL;
}

int32_t hd_slabs_rank(const huddle_context *context) {
    int32_t rank = 0, count = 1;
    if (slabs_of(context) != NULL)
        slabs_of(context)->place(context->engine_state, &rank, &count);
    return rank;
}

int32_t hd_slabs_count(const huddle_context *context) {
    int32_t rank = 0, count = 1;
    if (slabs_of(context) != NULL)
        slabs_of(context)->place(context->engine_state, &rank, &count);
    return count;
}

int64_t hd_slabs_few_rows(const huddle_context *context) {
    const hd_engine_slabs *slabs = slabs_of(context);
    return slabs == NULL || slabs->few_rows == NULL ? 0 : slabs->few_rows(context->engine_state);
}

/* A copy, so that the caller frees the same thing with and without processes. */
static huddle_status exchange_alone(int64_t size, const void *send, int64_t *received_size,
                                    void **received) {
    huddle_status status = HUDDLE_OK;
    char *copy = NULL;
    ALLOC(copy, size);
    if (size > 0)
        memcpy(copy, send, (size_t)size);
    *received_size = size;
    *received = copy;
done:
    return status;
}

huddle_status hd_slabs_exchange(huddle_context *context, const int64_t *sizes, const void *send,
                                int64_t *received_sizes, void **received) {
    const hd_engine_slabs *slabs = slabs_of(context);
    *received = NULL;
    if (slabs == NULL)
        return exchange_alone(sizes[0], send, received_sizes, received);
    huddle_status status =
        slabs->exchange(context->engine_state, sizes, send, received_sizes, received);
    int64_t bytes = 0;
    for (int32_t r = 0; r < hd_slabs_count(context) && status == HUDDLE_OK; r++)
        bytes += r != hd_slabs_rank(context) ? received_sizes[r] : 0;
    hd_stages_received(context, bytes);
    return status;
}

/* The same bytes to process `to`, or to all; came gets how many there are of each in *all. */
static huddle_status send_same(huddle_context *context, int32_t to, int64_t size, const void *bytes,
                               int64_t *came, void **all) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context);
    int64_t *sizes = NULL;
    char *copies = NULL;
    ALLOC(sizes, count);
    ALLOC(copies, to == HD_EVERYWHERE ? count * size : 0);
    for (int32_t r = 0; r < count; r++) {
        sizes[r] = to == HD_EVERYWHERE || to == r ? size : 0;
        if (to == HD_EVERYWHERE && size > 0)
            memcpy(copies + r * size, bytes, (size_t)size);
    }
    TRY(hd_slabs_exchange(context, sizes, to == HD_EVERYWHERE ? copies : bytes, came, all));
done:
    FREE(sizes, copies);
    return status;
}

huddle_status hd_slabs_gather(huddle_context *context, int32_t to, int64_t size, const void *bytes,
                              int64_t *sizes, int64_t *total, void **all) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_slabs_count(context);
    int64_t *came = NULL;
    *all = NULL;
    *total = 0;
    ALLOC_ZERO(came, count);
    TRY(send_same(context, to, size, bytes, came, all));
    for (int32_t r = 0; r < count; r++)
        *total += came[r];
    if (sizes != NULL)
        memcpy(sizes, came, (size_t)count * sizeof *sizes);
    if (to != HD_EVERYWHERE && to != hd_slabs_rank(context)) {
        huddle_free(*all);
        *all = NULL;
    }
done:
    huddle_free(came);
    return hd_agree(context, status);
}

/* The others send nothing. */
huddle_status hd_slabs_broadcast(huddle_context *context, int32_t from, int64_t size, void *bytes) {
    huddle_status status = HUDDLE_OK;
    int64_t *came = NULL, own = hd_slabs_rank(context) == from ? size : 0;
    void *received = NULL;
    if (!hd_slabs_distributed(context) || size == 0)
        return status;
    ALLOC(came, hd_slabs_count(context));
    TRY(send_same(context, HD_EVERYWHERE, own, bytes, came, &received));
    memcpy(bytes, received, (size_t)size);
done:
    FREE(came, received);
    return hd_agree(context, status);
}

/* Alone, a process is its own neighbour in the ring. */
huddle_status hd_pass_start(huddle_context *context, const void *send, int64_t size, void *received,
                            int64_t received_size, hd_pass *pass) {
    *pass = (hd_pass){.slabs = slabs_of(context)};
    hd_stages_received(context, hd_slabs_count(context) > 1 ? received_size : 0);
    if (pass->slabs != NULL)
        return pass->slabs->start_pass(context->engine_state, send, size, received, received_size,
                                       &pass->transfer);
    if (size > 0)
        memcpy(received, send, (size_t)size);
    return HUDDLE_OK;
}

huddle_status hd_pass_finish(hd_pass *pass) {
    huddle_status status = HUDDLE_OK;
    if (pass->slabs != NULL && pass->transfer != NULL)
        status = pass->slabs->finish_pass(pass->transfer);
    memset(pass, 0, sizeof *pass);
    return status;
}

/* If one process fails, all must return a failure, or the others would wait for it in the next
 * reduction forever. */
huddle_status(hd_agree)(huddle_context *context, huddle_status status) {
    const hd_engine_slabs *slabs = slabs_of(context);
    return slabs == NULL ? status : slabs->agree(context->engine_state, status);
}

/* For stages that have no distributed version: a clear message instead of a wrong result. */
huddle_status hd_slabs_refuse(const huddle_context *context, const char *what) {
    if (slabs_of(context) == NULL)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_UNSUPPORTED,
                   "%s needs all rows on one process; the engine %s distributes them over several",
                   what, hd_context_engine(context)->text.name);
}

/* A NULL context is always alone. */
hd_alone hd_alone_begin_if(huddle_context *context, bool alone) {
    hd_alone before = {context == NULL || context->alone};
    if (context != NULL && alone)
        context->alone = true;
    return before;
}

hd_alone hd_alone_begin(huddle_context *context) {
    return hd_alone_begin_if(context, true);
}

void hd_alone_end(huddle_context *context, hd_alone before) {
    if (context != NULL)
        context->alone = before.already;
}

/* The engine renumbers columns: rows of other processes get indices behind the own ones. */
huddle_status hd_halo_open(huddle_context *context, int64_t n, int64_t count, int32_t *columns,
                           hd_halo *halo) {
    memset(halo, 0, sizeof *halo);
    const hd_engine_slabs *slabs = slabs_of(context);
    if (slabs == NULL)
        return HUDDLE_OK;
    huddle_status status =
        slabs->open_halo(context->engine_state, n, count, columns, &halo->ghosts, &halo->handle);
    if (status == HUDDLE_OK) {
        halo->slabs = slabs;
        halo->context = context;
    }
    return status;
}

huddle_status hd_halo_fetch(const hd_halo *halo, void *rows, size_t row_size) {
    if (halo->slabs == NULL)
        return HUDDLE_OK;
    hd_stages_received(halo->context, halo->ghosts * (int64_t)row_size);
    return halo->slabs->fetch_halo(halo->handle, rows, row_size);
}

void hd_halo_close(hd_halo *halo) {
    if (halo->slabs != NULL)
        halo->slabs->close_halo(halo->handle);
    memset(halo, 0, sizeof *halo);
}

/* ---- public -------------------------------------------------------------------------------- */

int32_t huddle_context_process(const huddle_context *context) {
    return hd_slabs_rank(context);
}

int32_t huddle_context_processes(const huddle_context *context) {
    return hd_slabs_count(context);
}

huddle_status huddle_context_agree(huddle_context *context, huddle_status status) {
    return hd_agree(context, status);
}

huddle_status huddle_context_share(huddle_context *context, int32_t from, int64_t size,
                                   void *bytes) {
    return hd_slabs_broadcast(context, from, size, bytes);
}

huddle_status huddle_context_gather(huddle_context *context, int64_t size, const void *bytes,
                                    int64_t *sizes, void **all) {
    int64_t total;
    return hd_slabs_gather(context, 0, size, bytes, sizes, &total, all);
}

/* The engine is put aside and stays open. */
bool huddle_context_set_alone(huddle_context *context, bool alone) {
    if (context == NULL || !(context->set_alone || hd_slabs_distributed(context)))
        return false;
    context->set_alone = context->alone = alone;
    return true;
}
