/* An engine whose processes are threads: each has a context and rows of its own, as processes of
 * MPI would have. Unlike the mirror (mirror.h) the members have different rows, first row numbers
 * and labels, and sums over them really meet.
 *
 *     static huddle_status work(huddle_context *context, int rank, void *argument) { ... }
 *     assert_ok(team_run(3, &team_engine, work, &argument));
 *
 * Members must not use cmocka's assertions, which leave the thread; they return a status and keep
 * their results for the caller. */
#ifndef HUDDLE_TESTS_TEAM_H
#define HUDDLE_TESTS_TEAM_H

#include "base/check.h"
#include "base/context.h"
#include "base/engine.h"
#include "huddle/matrix.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TEAM_MAX = 4 };

typedef struct team {
    int size;
    const hd_engine *engine; /* with team_slabs, and perhaps stages of its own */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int arrived;
    int64_t meetings;     /* completed */
    huddle_status failed; /* the first failure, which ends all waiting */
    char sentence[512];
    const void *given[TEAM_MAX]; /* what the members show each other */
} team;

typedef struct team_member {
    team *team;
    int rank;
    huddle_status (*work)(huddle_context *context, int rank, void *argument);
    void *argument;
    huddle_status status;
} team_member;

/* Waits until all members have come here; returns the failure of any of them. */
static inline huddle_status team_meet(team *t) {
    pthread_mutex_lock(&t->mutex);
    int64_t meeting = t->meetings;
    if (++t->arrived == t->size) {
        t->arrived = 0;
        t->meetings++;
        pthread_cond_broadcast(&t->changed);
    }
    while (t->meetings == meeting && t->failed == HUDDLE_OK)
        pthread_cond_wait(&t->changed, &t->mutex);
    huddle_status status = t->failed;
    pthread_mutex_unlock(&t->mutex);
    return status == HUDDLE_OK ? status : hd_fail(status, "%s", t->sentence);
}

/* Shows a pointer to the others until the next meeting. */
static inline huddle_status team_show(const team_member *m, const void *pointer) {
    m->team->given[m->rank] = pointer;
    return team_meet(m->team);
}

static inline huddle_status team_locate(void *state, int64_t n, int64_t *first, int64_t *total) {
    const team_member *m = state;
    huddle_status status = team_show(m, &n);
    *first = *total = 0;
    for (int r = 0; r < m->team->size && status == HUDDLE_OK; r++) {
        int64_t rows = *(const int64_t *)m->team->given[r];
        *first += r < m->rank ? rows : 0;
        *total += rows;
    }
    return status == HUDDLE_OK ? team_meet(m->team) : status;
}

static inline huddle_status team_reduce(void *state, hd_reduction operation, int64_t count,
                                        double *values) {
    const team_member *m = state;
    huddle_status status = HUDDLE_OK;
    double *result = malloc((size_t)count * sizeof *result);
    if (result == NULL)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to reduce %lld values", (long long)count);
    TRY(team_show(m, values));
    for (int64_t k = 0; k < count; k++)
        for (int r = 0; r < m->team->size; r++) {
            double value = ((const double *)m->team->given[r])[k];
            if (r == 0)
                result[k] = value;
            else if (operation == HD_REDUCE_SUM)
                result[k] += value;
            else if (operation == HD_REDUCE_MIN ? value < result[k] : value > result[k])
                result[k] = value;
        }
    TRY(team_meet(m->team));
    memcpy(values, result, (size_t)count * sizeof *values);
done:
    free(result);
    return status;
}

static inline huddle_status team_agree(void *state, huddle_status status) {
    team *t = ((const team_member *)state)->team;
    if (status != HUDDLE_OK) {
        pthread_mutex_lock(&t->mutex);
        if (t->failed == HUDDLE_OK) {
            t->failed = status;
            strncpy(t->sentence, huddle_last_error(), sizeof t->sentence - 1);
        }
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->mutex);
    }
    return team_meet(t);
}

/* Rows of other members: row k of the ghosts is row at[k] of member from[k]. */
typedef struct team_halo {
    const team_member *member;
    int64_t n, ghosts;
    int *from;
    int64_t *at;
} team_halo;

static inline void team_close_halo(void *halo) {
    team_halo *h = halo;
    free(h->from);
    free(h->at);
    free(h);
}

static inline huddle_status team_open_halo(void *state, int64_t n, int64_t count, int32_t *columns,
                                           int64_t *ghosts, void **halo) {
    const team_member *m = state;
    huddle_status status = team_show(m, &n);
    int64_t begins[TEAM_MAX + 1] = {0};
    if (status != HUDDLE_OK)
        return status;
    for (int r = 0; r < m->team->size; r++)
        begins[r + 1] = begins[r] + *(const int64_t *)m->team->given[r];
    int64_t total = begins[m->team->size];
    team_halo *h = calloc(1, sizeof *h);
    int32_t *place = calloc((size_t)total, sizeof *place); /* 1 + number of the ghost, or 0 */
    if (h == NULL || place == NULL || (h->from = calloc((size_t)total, sizeof *h->from)) == NULL ||
        (h->at = calloc((size_t)total, sizeof *h->at)) == NULL)
        abort();
    h->member = m;
    h->n = n;
    for (int64_t e = 0; e < count; e++) {
        int32_t column = columns[e];
        int owner = 0;
        while (column >= begins[owner + 1])
            owner++;
        if (owner != m->rank && place[column] == 0) {
            h->from[h->ghosts] = owner;
            h->at[h->ghosts] = column - begins[owner];
            place[column] = (int32_t)++h->ghosts;
        }
        columns[e] =
            owner == m->rank ? (int32_t)(column - begins[owner]) : (int32_t)(n + place[column] - 1);
    }
    free(place);
    *ghosts = h->ghosts;
    *halo = h;
    return team_meet(m->team);
}

static inline huddle_status team_fetch_halo(void *halo, void *rows, size_t row_size) {
    const team_halo *h = halo;
    huddle_status status = team_show(h->member, rows);
    for (int64_t k = 0; k < h->ghosts && status == HUDDLE_OK; k++)
        memcpy((char *)rows + (size_t)(h->n + k) * row_size,
               (const char *)h->member->team->given[h->from[k]] + (size_t)h->at[k] * row_size,
               row_size);
    return status == HUDDLE_OK ? team_meet(h->member->team) : status;
}

static inline void team_place(const void *state, int32_t *rank, int32_t *count) {
    const team_member *m = state;
    *rank = m->rank;
    *count = m->team->size;
}

/* What a member sends to the others. */
typedef struct team_parcels {
    const int64_t *sizes;
    const char *bytes;
} team_parcels;

static inline huddle_status team_exchange(void *state, const int64_t *sizes, const void *send,
                                          int64_t *received_sizes, void **received) {
    const team_member *m = state;
    team_parcels own = {sizes, send};
    int64_t total = 0;
    huddle_status status = team_show(m, &own);
    if (status != HUDDLE_OK)
        return status;
    for (int r = 0; r < m->team->size; r++) {
        received_sizes[r] = ((const team_parcels *)m->team->given[r])->sizes[m->rank];
        total += received_sizes[r];
    }
    char *into = hd_alloc(total, 1);
    *received = into;
    for (int r = 0; r < m->team->size && into != NULL; r++) {
        const team_parcels *from = m->team->given[r];
        const char *bytes = from->bytes;
        for (int k = 0; k < m->rank; k++)
            bytes += from->sizes[k];
        if (received_sizes[r] > 0)
            memcpy(into, bytes, (size_t)received_sizes[r]);
        into += received_sizes[r];
    }
    /* A failure here must not let members go whose bytes others are still copying. */
    status = team_meet(m->team);
    if (status == HUDDLE_OK && *received == NULL)
        (void)hd_fail(HUDDLE_NO_MEMORY, "no memory to receive %lld bytes", (long long)total);
    return team_agree(state, *received == NULL ? HUDDLE_NO_MEMORY : status);
}

/* What the member before sends is copied when the pass is finished: only the meeting there is sure
 * to come after its start. */
typedef struct team_transfer {
    const team_member *member;
    team_parcels own;
    int64_t size;
    void *received;
} team_transfer;

static inline huddle_status team_start_pass(void *state, const void *send, int64_t size,
                                            void *received, int64_t received_size,
                                            void **transfer) {
    team_transfer *t = malloc(sizeof *t);
    if (t == NULL)
        abort();
    *t = (team_transfer){.member = state, .own = {NULL, send}, .size = size, .received = received};
    (void)received_size;
    *transfer = t;
    return team_meet(t->member->team);
}

static inline huddle_status team_finish_pass(void *transfer) {
    team_transfer *t = transfer;
    team *all = t->member->team;
    int before = (t->member->rank + all->size - 1) % all->size;
    huddle_status status = team_show(t->member, t);
    if (status == HUDDLE_OK) {
        const team_transfer *from = all->given[before];
        if (from->size > 0)
            memcpy(t->received, from->own.bytes, (size_t)from->size);
        status = team_meet(all);
    }
    free(t);
    return status;
}

static const hd_engine_slabs team_slabs = {.place = team_place,
                                           .exchange = team_exchange,
                                           .start_pass = team_start_pass,
                                           .finish_pass = team_finish_pass,
                                           .locate = team_locate,
                                           .reduce = team_reduce,
                                           .agree = team_agree,
                                           .open_halo = team_open_halo,
                                           .fetch_halo = team_fetch_halo,
                                           .close_halo = team_close_halo};

static const hd_engine team_engine = {.text = {"team", "processes that are threads"},
                                      .slabs = &team_slabs};

static inline void *team_thread(void *argument) {
    team_member *m = argument;
    huddle_context *context = NULL;
    m->status = huddle_context_new(&context);
    if (m->status == HUDDLE_OK)
        m->status = hd_context_use_engine(context, m->team->engine, "");
    if (m->status == HUDDLE_OK) {
        context->engine_state = m;
        context->n_threads = 1;
        m->status = m->work(context, m->rank, m->argument);
    }
    huddle_context_free(context);
    return NULL;
}

/* Runs work() on `size` members. HUDDLE_OK if all returned it, otherwise the first failure with its
 * sentence; HUDDLE_INTERNAL if the members do not return the same status. */
static inline huddle_status team_run(int size, const hd_engine *engine,
                                     huddle_status (*work)(huddle_context *, int, void *),
                                     void *argument) {
    team t = {.size = size, .engine = engine};
    team_member members[TEAM_MAX];
    pthread_t threads[TEAM_MAX];
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.changed, NULL);
    for (int r = 0; r < size; r++) {
        members[r] = (team_member){.team = &t, .rank = r, .work = work, .argument = argument};
        if (pthread_create(&threads[r], NULL, team_thread, &members[r]) != 0)
            abort();
    }
    for (int r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_mutex_destroy(&t.mutex);
    pthread_cond_destroy(&t.changed);
    for (int r = 1; r < size; r++)
        if (members[r].status != members[0].status)
            return hd_fail(HUDDLE_INTERNAL, "member %d returned %d, member 0 %d", r,
                           members[r].status, members[0].status);
    return t.failed != HUDDLE_OK ? hd_fail(t.failed, "%s", t.sentence) : members[0].status;
}

/* The rows begins[rank] .. begins[rank + 1] - 1 of dense points. */
static inline huddle_points team_points(const huddle_points *all, const int64_t *begins, int rank) {
    huddle_points own = *all;
    own.n = begins[rank + 1] - begins[rank];
    own.values += begins[rank] * own.stride;
    return own;
}

#endif
