/* The table, the counters, and the engine's memory. */
#include "engines/counting.h"

#include "base/check.h"
#include "matrix/resident.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *counting_stage_name(counting_stage stage) {
    static const char *const names[N_COUNTING_STAGES] = {
        [COUNTING_NEIGHBORS] = "find_neighbors",
        [COUNTING_ROW_NEIGHBORS] = "find_neighbors of rows",
        [COUNTING_QUERIES] = "find_neighbors of new points",
        [COUNTING_ROW_QUERIES] = "find_neighbors of new rows",
        [COUNTING_BRIDGES] = "find_neighbors of another part",
        [COUNTING_WEIGH] = "weigh",
        [COUNTING_EIGENPAIRS] = "find_eigenpairs",
        [COUNTING_SHRINK] = "shrink",
        [COUNTING_SHRINK_POINTS] = "shrink_points",
        [COUNTING_CLUSTER_ROWS] = "cluster_rows",
        [COUNTING_ASSIGN_ROWS] = "assign_rows",
        [COUNTING_GRAM] = "find_gram",
        [COUNTING_MAP] = "map_points",
        [COUNTING_DISTINCT] = "find_distinct",
        [COUNTING_MOVE] = "move_vertices",
        [COUNTING_SCORES] = "score_graph",
        [COUNTING_SILHOUETTES] = "find_silhouettes",
        [COUNTING_MEMORY] = "predict_memory"};
    return names[stage];
}

counting_state *counting_state_of(const huddle_context *context) {
    return hd_context_engine_state(context);
}

static huddle_status open_counting(huddle_context *context, const char *options, void **state) {
    (void)context;
    counting_state *made = hd_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the counters");
    atomic_store(&made->users, 1);
    made->resident = strcmp(options, "resident") == 0;
    made->decline = strcmp(options, "decline") == 0;
    made->forge = strcmp(options, "forge") == 0;
    if (strncmp(options, "fail:", 5) == 0)
        snprintf(made->failing, sizeof made->failing, "%s", options + 5);
    if (strncmp(options, "spoil:", 6) == 0)
        snprintf(made->spoiling, sizeof made->spoiling, "%s", options + 6);
    made->memory = strncmp(options, "memory:", 7) == 0 ? atoll(options + 7) : LLONG_MAX;
    made->owner = pthread_self();
    *state = made;
    return HUDDLE_OK;
}

static void release_state(counting_state *state) {
    if (atomic_fetch_sub(&state->users, 1) == 1)
        huddle_free(state);
}

static void close_counting(void *state) {
    counting_state *closing = state;
    atomic_store(&closing->closed, true);
    release_state(closing);
}

huddle_status counting_enter(huddle_context *context, counting_stage stage) {
    counting_state *state = counting_state_of(context);
    atomic_fetch_add(&state->calls[stage], 1);
    if (!pthread_equal(state->owner, pthread_self()))
        atomic_fetch_add(&state->elsewhere, 1);
    if (state->decline)
        return hd_fail(HUDDLE_UNSUPPORTED, "%s is declined", counting_stage_name(stage));
    if (strcmp(state->failing, counting_stage_name(stage)) == 0)
        return hd_fail(HUDDLE_NO_MEMORY, "the device has no memory for %s",
                       counting_stage_name(stage));
    return HUDDLE_OK;
}

bool counting_spoils(const huddle_context *context, counting_stage stage) {
    return strcmp(counting_state_of(context)->spoiling, counting_stage_name(stage)) == 0;
}

/* ---- the engine's memory --------------------------------------------------------------------- */

/* What the engine keeps of a container: the container as it would be on the host. */
typedef struct kept {
    huddle_resident base;
    counting_state *state;
    huddle_dense dense;
    huddle_csr csr;
    huddle_neighbors neighbors;
} kept;

static const kept *kept_of(huddle_context *context, const huddle_resident *resident) {
    atomic_fetch_add(&counting_state_of(context)->reused, 1);
    return (const kept *)resident;
}

huddle_points counting_points(huddle_context *context, const huddle_points *x) {
    (void)context; /* no stage of this engine makes points */
    return *x;
}

huddle_dense counting_dense(huddle_context *context, const huddle_dense *x) {
    return x->resident == NULL ? *x : kept_of(context, x->resident)->dense;
}

huddle_csr counting_csr(huddle_context *context, const huddle_csr *x) {
    return x->resident == NULL ? *x : kept_of(context, x->resident)->csr;
}

huddle_neighbors counting_neighbors(huddle_context *context, const huddle_neighbors *x) {
    return x->resident == NULL ? *x : kept_of(context, x->resident)->neighbors;
}

/* A copy of count elements; sets *failed if there is no memory. */
static void *copy_array(const void *array, int64_t count, size_t size, bool *failed) {
    void *copy = hd_alloc(count, size);
    if (copy == NULL)
        *failed = true;
    else if (count > 0)
        memcpy(copy, array, (size_t)count * size);
    return copy;
}

static huddle_status report_fetch(const kept *k, bool failed) {
    atomic_fetch_add(&k->state->fetched, 1);
    if (atomic_load(&k->state->closed))
        return hd_fail(HUDDLE_INTERNAL, "a container was fetched after its engine was closed");
    return failed ? hd_fail(HUDDLE_NO_MEMORY, "no memory for the copy") : HUDDLE_OK;
}

static huddle_status fetch_dense(huddle_resident *resident, void *container) {
    const kept *k = (const kept *)resident;
    huddle_dense *x = container;
    bool failed = false;
    x->values = copy_array(k->dense.values, k->dense.rows * k->dense.cols, sizeof(double), &failed);
    return report_fetch(k, failed);
}

static huddle_status fetch_csr(huddle_resident *resident, void *container) {
    const kept *k = (const kept *)resident;
    huddle_csr *x = container;
    bool failed = false;
    int64_t entries = k->csr.offsets[k->csr.rows];
    x->columns = copy_array(k->csr.columns, entries, sizeof(int32_t), &failed);
    x->values = copy_array(k->csr.values, entries, sizeof(double), &failed);
    x->offsets = copy_array(k->csr.offsets, k->csr.rows + 1, sizeof(int64_t), &failed);
    return report_fetch(k, failed);
}

static huddle_status fetch_neighbors(huddle_resident *resident, void *container) {
    const kept *k = (const kept *)resident;
    huddle_neighbors *x = container;
    bool failed = false;
    int64_t count = k->neighbors.n * k->neighbors.k;
    x->distance = copy_array(k->neighbors.distance, count, sizeof(double), &failed);
    x->index = copy_array(k->neighbors.index, count, sizeof(int32_t), &failed);
    return report_fetch(k, failed);
}

static void free_kept(huddle_resident *resident) {
    kept *k = (kept *)resident;
    huddle_dense_free(&k->dense);
    huddle_csr_free(&k->csr);
    huddle_neighbors_free(&k->neighbors);
    release_state(k->state);
    huddle_free(k);
}

/* NULL without "resident", or if there is no memory. */
static kept *new_kept(huddle_context *context,
                      huddle_status (*fetch)(huddle_resident *resident, void *container),
                      huddle_status *status) {
    counting_state *state = counting_state_of(context);
    *status = HUDDLE_OK;
    if (!state->resident)
        return NULL;
    kept *k = hd_alloc_zero(1, sizeof *k);
    if (k == NULL) {
        *status = hd_fail(HUDDLE_NO_MEMORY, "no memory for a resident container");
        return NULL;
    }
    atomic_fetch_add(&state->kept, 1);
    atomic_fetch_add(&state->users, 1);
    k->base = (huddle_resident){fetch, free_kept};
    k->state = state;
    return k;
}

huddle_status counting_keep_dense(huddle_context *context, huddle_dense *x) {
    huddle_status status;
    kept *k = new_kept(context, fetch_dense, &status);
    if (k != NULL) {
        k->dense = *x;
        x->values = NULL;
        x->resident = &k->base;
    }
    return status;
}

huddle_status counting_keep_csr(huddle_context *context, huddle_csr *x) {
    huddle_status status;
    kept *k = new_kept(context, fetch_csr, &status);
    if (k != NULL) {
        k->csr = *x;
        x->offsets = NULL;
        x->columns = NULL;
        x->values = NULL;
        x->resident = &k->base;
    }
    return status;
}

huddle_status counting_keep_neighbors(huddle_context *context, huddle_neighbors *x) {
    huddle_status status;
    kept *k = new_kept(context, fetch_neighbors, &status);
    if (k != NULL) {
        k->neighbors = *x;
        x->index = NULL;
        x->distance = NULL;
        x->resident = &k->base;
    }
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void counting_row(const huddle_points *x, int64_t i, double *row) {
    for (int64_t j = 0; j < x->d; j++)
        row[j] = x->offsets == NULL ? (double)x->values[i * x->stride + j] : 0;
    if (x->offsets != NULL)
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            row[x->columns[e]] = (double)x->values[e];
    for (int64_t j = 0; j < x->d && x->shift != NULL; j++)
        row[j] += x->shift[j];
}

double counting_distance(const double *a, const double *b, int64_t count) {
    double square = 0;
    for (int64_t k = 0; k < count; k++)
        square += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(square);
}

/* ---- the table ------------------------------------------------------------------------------- */

const hd_engine counting_engine = {.text = {"counting", "plain loops, for tests"},
                                   .open = open_counting,
                                   .close = close_counting,
                                   .find_neighbors = counting_find_neighbors,
                                   .weigh = counting_weigh,
                                   .find_eigenpairs = counting_find_eigenpairs,
                                   .shrink = counting_shrink,
                                   .shrink_points = counting_shrink_points,
                                   .cluster_rows = counting_cluster_rows,
                                   .assign_rows = counting_assign_rows,
                                   .find_gram = counting_find_gram,
                                   .map_points = counting_map_points,
                                   .find_distinct = counting_find_distinct,
                                   .move_vertices = counting_move_vertices,
                                   .score_graph = counting_score_graph,
                                   .find_silhouettes = counting_find_silhouettes,
                                   .predict_memory = counting_predict_memory};
