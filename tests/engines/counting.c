/* The table, the counters, and the engine's memory. */
#include "engines/counting.h"

#include "base/check.h"
#include "matrix/resident.h"
#include "support/support.h"

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
        [COUNTING_COMPONENTS] = "find_components",
        [COUNTING_EIGENPAIRS] = "find_eigenpairs",
        [COUNTING_SHRINK] = "shrink",
        [COUNTING_SHRINK_POINTS] = "shrink_points",
        [COUNTING_ROUND_ROWS] = "round_rows",
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

huddle_context *counting_context(const char *options) {
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    if (options != NULL)
        assert_ok(hd_context_use_engine(context, &counting_engine, options));
    return context;
}

counting_state *counting_state_of(const huddle_context *context) {
    return hd_context_engine_state(context);
}

long long counting_calls(const huddle_context *context, counting_stage stage) {
    return atomic_load(&counting_state_of(context)->calls[stage]);
}

long long counting_transferred(const counting_transfers *transfers) {
    long long sum = 0;
    for (int k = 0; k < N_COUNTING_KINDS; k++)
        sum += atomic_load(&transfers->count[k]);
    return sum;
}

void counting_forget(counting_state *state) {
    for (int k = 0; k < N_COUNTING_STAGES; k++)
        atomic_store(&state->calls[k], 0);
    for (int k = 0; k < N_COUNTING_KINDS; k++) {
        atomic_store(&state->sent.count[k], 0);
        atomic_store(&state->sent.bytes[k], 0);
        atomic_store(&state->fetched.count[k], 0);
        atomic_store(&state->fetched.bytes[k], 0);
    }
}

static atomic_int open_engines;

int counting_open_engines(void) {
    return atomic_load(&open_engines);
}

static huddle_status open_counting(huddle_context *context, const char *options, void **state) {
    (void)context;
    counting_state *made = hd_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the counters");
    made->resident = strcmp(options, "resident") == 0;
    made->decline = strcmp(options, "decline") == 0;
    made->forge = strcmp(options, "forge") == 0;
    if (strncmp(options, "fail:", 5) == 0)
        snprintf(made->failing, sizeof made->failing, "%s", options + 5);
    if (strncmp(options, "spoil:", 6) == 0)
        snprintf(made->spoiling, sizeof made->spoiling, "%s", options + 6);
    made->memory = strncmp(options, "memory:", 7) == 0 ? atoll(options + 7) : LLONG_MAX;
    made->owner = pthread_self();
    atomic_fetch_add(&open_engines, 1);
    *state = made;
    return HUDDLE_OK;
}

static void close_counting(void *state) {
    atomic_fetch_sub(&open_engines, 1);
    huddle_free(state);
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

/* An array of a container, by the place of its pointer there. */
typedef struct array {
    size_t offset;
    int64_t count;
    size_t size; /* of an element */
} array;

/* Any container. */
typedef union container {
    huddle_points points;
    huddle_dense dense;
    huddle_csr csr;
    huddle_neighbors neighbors;
} container;

/* What the engine keeps of a container: the container as it would be on the host. */
typedef struct kept {
    hd_engine_copy base;
    counting_state *state;
    counting_kind kind;
    container own;
} kept;

static const size_t sizes[N_COUNTING_KINDS] = {sizeof(huddle_points), sizeof(huddle_dense),
                                               sizeof(huddle_csr), sizeof(huddle_neighbors)};

/* The pointers to their arrays; the first one again where there are fewer than three. */
static const size_t pointers[N_COUNTING_KINDS][3] = {
    {offsetof(huddle_points, values), offsetof(huddle_points, offsets),
     offsetof(huddle_points, columns)},
    {offsetof(huddle_dense, values), offsetof(huddle_dense, values),
     offsetof(huddle_dense, values)},
    {offsetof(huddle_csr, offsets), offsetof(huddle_csr, columns), offsetof(huddle_csr, values)},
    {offsetof(huddle_neighbors, index), offsetof(huddle_neighbors, distance),
     offsetof(huddle_neighbors, distance)}};

static void *array_of(const void *from, const array *a) {
    void *values;
    memcpy(&values, (const char *)from + a->offset, sizeof values);
    return values;
}

static void set_array(void *to, const array *a, void *values) {
    memcpy((char *)to + a->offset, &values, sizeof values);
}

/* Where the resident of a container is. */
static huddle_resident **resident_of(counting_kind kind, void *of) {
    container *c = of;
    return kind == COUNTING_POINTS  ? &c->points.resident
           : kind == COUNTING_DENSE ? &c->dense.resident
           : kind == COUNTING_CSR   ? &c->csr.resident
                                    : &c->neighbors.resident;
}

/* The arrays of a container, which are there. Returns how many. The gaps that a stride leaves are
 * kept. */
static int arrays_of(counting_kind kind, const void *of, array arrays[3]) {
    const container *c = of;
    if (kind == COUNTING_LISTS) {
        int64_t count = c->neighbors.n * c->neighbors.k;
        arrays[0] = (array){offsetof(huddle_neighbors, index), count, sizeof(int32_t)};
        arrays[1] = (array){offsetof(huddle_neighbors, distance), count, sizeof(double)};
        return 2;
    }
    if (kind == COUNTING_CSR) {
        int64_t count = c->csr.offsets[c->csr.rows];
        arrays[0] = (array){offsetof(huddle_csr, offsets), c->csr.rows + 1, sizeof(int64_t)};
        arrays[1] = (array){offsetof(huddle_csr, columns), count, sizeof(int32_t)};
        arrays[2] = (array){offsetof(huddle_csr, values), count, sizeof(double)};
        return 3;
    }
    if (kind == COUNTING_DENSE) {
        int64_t count = c->dense.rows * c->dense.stride;
        arrays[0] = (array){offsetof(huddle_dense, values), count, sizeof(double)};
        return 1;
    }
    bool sparse = c->points.offsets != NULL;
    int64_t count = sparse ? c->points.offsets[c->points.n] : c->points.n * c->points.stride;
    arrays[0] = (array){offsetof(huddle_points, values), count, sizeof(float)};
    arrays[1] = (array){offsetof(huddle_points, offsets), c->points.n + 1, sizeof(int64_t)};
    arrays[2] = (array){offsetof(huddle_points, columns), count, sizeof(int32_t)};
    return sparse ? 3 : 1;
}

/* Copies the arrays and counts them. */
static huddle_status transfer(counting_kind kind, const void *from, void *to,
                              counting_transfers *transfers) {
    array arrays[3];
    int count = arrays_of(kind, from, arrays);
    atomic_fetch_add(&transfers->count[kind], 1);
    for (int k = count - 1; k >= 0; k--) {
        void *copy = hd_alloc(arrays[k].count, arrays[k].size);
        if (copy == NULL)
            return hd_fail(HUDDLE_NO_MEMORY, "no memory for the copy");
        size_t bytes = (size_t)arrays[k].count * arrays[k].size;
        if (bytes > 0)
            memcpy(copy, array_of(from, &arrays[k]), bytes);
        set_array(to, &arrays[k], copy);
        atomic_fetch_add(&transfers->bytes[kind], (long long)bytes);
    }
    return HUDDLE_OK;
}

/* The stride is that of the copy, whatever that of the container. */
static huddle_status fetch_kept(hd_engine_copy *copy, void *of) {
    kept *k = (kept *)copy;
    container *c = of;
    if (k->kind == COUNTING_POINTS)
        c->points.stride = k->own.points.stride;
    if (k->kind == COUNTING_DENSE)
        c->dense.stride = k->own.dense.stride;
    return transfer(k->kind, &k->own, of, &k->state->fetched);
}

static void free_kept(hd_engine_copy *copy) {
    kept *k = (kept *)copy;
    if (k->kind == COUNTING_POINTS)
        huddle_points_free(&k->own.points);
    else if (k->kind == COUNTING_DENSE)
        huddle_dense_free(&k->own.dense);
    else if (k->kind == COUNTING_CSR)
        huddle_csr_free(&k->own.csr);
    else
        huddle_neighbors_free(&k->own.neighbors);
    huddle_free(k);
}

/* The sizes of a container without its arrays. */
static huddle_status new_kept(huddle_context *context, counting_kind kind, const void *of,
                              kept **k) {
    huddle_status status = HUDDLE_OK;
    ALLOC_ZERO(*k, 1);
    (*k)->base = (hd_engine_copy){.fetch = fetch_kept, .free = free_kept};
    (*k)->state = counting_state_of(context);
    (*k)->kind = kind;
    memcpy(&(*k)->own, of, sizes[kind]);
    *resident_of(kind, &(*k)->own) = NULL;
    for (int a = 0; a < 3; a++)
        set_array(&(*k)->own, &(array){.offset = pointers[kind][a]}, NULL);
    if (kind == COUNTING_POINTS)
        (*k)->own.points.shift = NULL;
    if (kind == COUNTING_POINTS)
        (*k)->own.points.mapping = NULL;
done:
    return status;
}

/* Under "resident": moves the arrays of a result into the engine's memory. */
static huddle_status keep(huddle_context *context, counting_kind kind, void *of) {
    huddle_status status = HUDDLE_OK;
    kept *k = NULL;
    if (!counting_state_of(context)->resident)
        return status;
    TRY(new_kept(context, kind, of, &k));
    TRY(hd_resident_new(context, &k->base, resident_of(kind, of)));
    for (int a = 0; a < 3; a++) {
        const array moved = {.offset = pointers[kind][a]};
        if (array_of(of, &moved) != NULL)
            set_array(&k->own, &moved, array_of(of, &moved));
        set_array(of, &moved, NULL);
    }
    atomic_fetch_add(&k->state->kept, 1);
    k = NULL;
done:
    huddle_free(k);
    return status;
}

/* A copy that is older than the arrays of its container has not been invalidated. */
static void compare(const kept *k, const void *of) {
    array arrays[3];
    int count = arrays_of(k->kind, &k->own, arrays);
    const container *c = of;
    if ((k->kind == COUNTING_POINTS && c->points.stride != k->own.points.stride) ||
        (k->kind == COUNTING_DENSE && c->dense.stride != k->own.dense.stride))
        return;
    for (int a = 0; a < count; a++) {
        const void *host = array_of(of, &arrays[a]);
        size_t bytes = (size_t)arrays[a].count * arrays[a].size;
        if (host != NULL && memcmp(host, array_of(&k->own, &arrays[a]), bytes) != 0)
            atomic_fetch_add(&k->state->stale, 1);
    }
}

/* Finds the engine's copy of a container, or makes one of its arrays. *k stays NULL if there is no
 * place for it, as if the copy were freed after the call; it counts as sent all the same. */
static huddle_status bring(huddle_context *context, counting_kind kind, const void *of, kept **k) {
    huddle_status status = HUDDLE_OK;
    counting_state *state = counting_state_of(context);
    kept *made = NULL;
    container shared;
    if (*k != NULL) {
        atomic_fetch_add(&state->reused, 1);
        compare(*k, of);
        return status;
    }
    if (!state->resident)
        return status;
    memcpy(&shared, of, sizes[kind]);
    TRY(new_kept(context, kind, of, &made));
    TRY(transfer(kind, of, &made->own, &state->sent));
    if (hd_resident_adopt(context, *resident_of(kind, &shared), &made->base)) {
        *k = made;
        made = NULL;
    }
done:
    if (made != NULL)
        free_kept(&made->base);
    return status;
}

static huddle_status fetch(counting_kind kind, const void *of) {
    const container *c = of;
    return kind == COUNTING_POINTS  ? huddle_points_fetch(&c->points)
           : kind == COUNTING_DENSE ? huddle_dense_fetch(&c->dense)
           : kind == COUNTING_CSR   ? huddle_csr_fetch(&c->csr)
                                    : huddle_neighbors_fetch(&c->neighbors);
}

static huddle_status find_own(huddle_context *context, counting_kind kind, const void *of,
                              void *own) {
    huddle_status status = HUDDLE_OK;
    container shared;
    memcpy(&shared, of, sizes[kind]);
    kept *k = (kept *)hd_resident_own(context, *resident_of(kind, &shared));
    if (k == NULL)
        TRY(fetch(kind, of));
    TRY(bring(context, kind, of, &k));
    memcpy(own, k != NULL ? (const void *)&k->own : of, sizes[kind]);
done:
    return status;
}

/* The shift is always on the host. */
huddle_status counting_points(huddle_context *context, const huddle_points *x, huddle_points *own) {
    huddle_status status = find_own(context, COUNTING_POINTS, x, own);
    own->shift = x->shift;
    return status;
}

huddle_status counting_dense(huddle_context *context, const huddle_dense *x, huddle_dense *own) {
    return find_own(context, COUNTING_DENSE, x, own);
}

huddle_status counting_csr(huddle_context *context, const huddle_csr *x, huddle_csr *own) {
    return find_own(context, COUNTING_CSR, x, own);
}

huddle_status counting_neighbors(huddle_context *context, const huddle_neighbors *x,
                                 huddle_neighbors *own) {
    return find_own(context, COUNTING_LISTS, x, own);
}

huddle_status counting_adopt_dense(huddle_context *context, const huddle_dense *x) {
    huddle_status status = HUDDLE_OK;
    counting_transfers none = {0};
    kept *k = NULL;
    if (!counting_state_of(context)->resident)
        return status;
    TRY(new_kept(context, COUNTING_DENSE, x, &k));
    TRY(transfer(COUNTING_DENSE, x, &k->own, &none));
    if (hd_resident_adopt(context, x->resident, &k->base))
        k = NULL;
done:
    if (k != NULL)
        free_kept(&k->base);
    return status;
}

huddle_status counting_keep_points(huddle_context *context, huddle_points *x) {
    return keep(context, COUNTING_POINTS, x);
}

huddle_status counting_keep_dense(huddle_context *context, huddle_dense *x) {
    return keep(context, COUNTING_DENSE, x);
}

huddle_status counting_keep_csr(huddle_context *context, huddle_csr *x) {
    return keep(context, COUNTING_CSR, x);
}

huddle_status counting_keep_neighbors(huddle_context *context, huddle_neighbors *x) {
    return keep(context, COUNTING_LISTS, x);
}

/* Nothing is sent: the values are computed from the engine's copy of the matrix. */
huddle_status counting_round_rows(huddle_context *context, const huddle_dense *matrix,
                                  const int64_t *index, const huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    const kept *from = (const kept *)hd_resident_own(context, matrix->resident);
    kept *k = NULL;
    TRY(counting_enter(context, COUNTING_ROUND_ROWS));
    TRY(new_kept(context, COUNTING_POINTS, points, &k));
    ALLOC(k->own.points.values, points->n * points->stride);
    for (int64_t i = 0; i < points->n; i++)
        for (int64_t j = 0; j < points->d; j++) {
            int64_t row = index != NULL ? index[i] : i;
            double value = from->own.dense.values[row * from->own.dense.stride + j];
            value -= points->shift != NULL ? points->shift[j] : 0;
            k->own.points.values[i * points->stride + j] = (float)value;
        }
    if (hd_resident_adopt(context, points->resident, &k->base))
        k = NULL;
done:
    if (k != NULL)
        free_kept(&k->base);
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
                                   .find_components = counting_find_components,
                                   .find_eigenpairs = counting_find_eigenpairs,
                                   .shrink = counting_shrink,
                                   .shrink_points = counting_shrink_points,
                                   .round_rows = counting_round_rows,
                                   .cluster_rows = counting_cluster_rows,
                                   .assign_rows = counting_assign_rows,
                                   .find_gram = counting_find_gram,
                                   .map_points = counting_map_points,
                                   .find_distinct = counting_find_distinct,
                                   .move_vertices = counting_move_vertices,
                                   .score_graph = counting_score_graph,
                                   .find_silhouettes = counting_find_silhouettes,
                                   .predict_memory = counting_predict_memory};
