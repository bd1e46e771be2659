/* Cells on several processes, or on one. Every process reads the plan and the data, and computes
 * cells alone, on its CPUs. Many times a second all processes meet: the others tell process 0 what
 * they have finished, and it hands out the next cells. Records thus reach the disc as soon as
 * without processes, and no process idles because another has the longer cells. The threads that
 * meet only watch: progress and cancellation belong to the thread that called.
 *
 * A process keeps to data sets and seeds that it has begun, whose graphs and embeddings it has, as
 * long as it can. A single one has all cells from the beginning, in the order of the list. */
#include "experiment/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time between two meetings, in nanoseconds. All processes wait the same time, so that none waits
 * long in a meeting, where MPI keeps a CPU busy. */
enum { MEETING_INTERVAL = 100 * 1000 * 1000 };

/* Cells of less than this many seconds are handed out before a thread is idle. */
static const double short_cell = 2;

/* What process 0 knows of a process. */
typedef struct member {
    int n_threads;
    int n_unfinished; /* items handed out and not finished */
    double seconds;   /* that its last cells took; 0 before the first */
} member;

/* An item and who computes it. */
typedef struct grant {
    int32_t item, process;
} grant;

/* What process 0 decides in a meeting. */
typedef struct decision {
    int32_t n_grants;
    bool over;      /* the last meeting: all is done, or nothing more should be begun */
    bool cancelled; /* what is being computed is left */
    double done;    /* share of the cost */
} decision;

/* Of the items of a group, as one process sees it: is one handed out to it, or to any? and the cost
 * of the others. */
typedef struct group_state {
    bool own, taken;
    double left;
} group_state;

typedef struct distribution {
    work *w;
    workers team;
    int32_t rank, size;
    double began_cpu;
    grant *grants; /* of the last meeting; room for all items */

    /* Used by process 0: */
    member *members;     /* size */
    int32_t *owners;     /* of each item: the process that computes it, or -1 */
    group_state *groups; /* room for choose_item() */
    int n_granted, n_finished;
    bool cancelled;
    int64_t hits, misses; /* sums over all processes, of their last messages */
    double cpu_seconds;
} distribution;

/* ---- handing out (process 0) ---------------------------------------------------------------- */

/* An item of a group that the process has; else of one that nobody has; else of the one with most
 * left to do, whose common parts are then computed again. */
static int choose_item(const distribution *s, int32_t process) {
    const work *w = s->w;
    int fresh = -1, shared = -1;
    memset(s->groups, 0, (size_t)w->n_groups * sizeof *s->groups);
    for (int i = 0; i < w->count; i++) {
        group_state *group = &s->groups[w->items[i].group];
        group->own |= s->owners[i] == process;
        group->taken |= s->owners[i] >= 0;
        group->left += s->owners[i] < 0 ? w->items[i].cost : 0;
    }
    for (int i = 0; i < w->count; i++) {
        const group_state *group = &s->groups[w->items[i].group];
        if (s->owners[i] >= 0)
            continue;
        if (group->own)
            return i;
        if (fresh < 0 && !group->taken)
            fresh = i;
        if (shared < 0 || group->left > s->groups[w->items[shared].group].left)
            shared = i;
    }
    return fresh >= 0 ? fresh : shared;
}

/* One for each idle thread. If cells are short, also as many as may be finished before the next
 * meeting and the one after it: a thread waits for none of them. */
static int wanted_items(const member *m) {
    double ahead = 0;
    if (m->seconds > 0 && m->seconds < short_cell)
        ahead = ceil(m->n_threads * 2e-9 * MEETING_INTERVAL / m->seconds);
    return m->n_threads + (int)ahead - m->n_unfinished;
}

/* One item for each process in turn. */
static int32_t hand_out(distribution *s) {
    int32_t n_grants = 0;
    bool any = true;
    while (any && s->n_granted < s->w->count) {
        any = false;
        for (int32_t r = 0; r < s->size && s->n_granted < s->w->count; r++) {
            if (wanted_items(&s->members[r]) <= 0)
                continue;
            int item = choose_item(s, r);
            any = true;
            s->owners[item] = r;
            s->members[r].n_unfinished++;
            s->n_granted++;
            s->grants[n_grants++] = (grant){item, r};
        }
    }
    return n_grants;
}

/* ---- what a process tells process 0 --------------------------------------------------------- */

/* Items finished since the last meeting, with their records, and sums over the whole run. NULL
 * without memory. */
static char *write_message(distribution *s, bool cancelled) {
    work *w = s->w;
    json_t *next = json_array();
    pthread_mutex_lock(&w->lock);
    json_t *message = json_pack("{s:i, s:b, s:o, s:I, s:I, s:f}", "threads", s->team.count,
                                "cancelled", cancelled, "finished", w->finished, "hits",
                                (json_int_t)w->e->hits, "misses", (json_int_t)w->e->misses, "cpu",
                                read_clock(CLOCK_PROCESS_CPUTIME_ID) - s->began_cpu);
    w->finished = next;
    pthread_mutex_unlock(&w->lock);
    char *text = next == NULL ? NULL : json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(message);
    return text;
}

/* Stores the records of another process. */
static void take_finished(distribution *s, int32_t process, const json_t *finished) {
    work *w = s->w;
    member *m = &s->members[process];
    size_t index;
    json_t *entry;
    json_array_foreach(finished, index, entry) {
        const work_item *item = &w->items[json_integer_value(json_object_get(entry, "item"))];
        json_t *record = json_object_get(entry, "record");
        s->n_finished++;
        m->n_unfinished--;
        double seconds = json_number_value(json_object_get(entry, "seconds"));
        m->seconds = m->seconds == 0 ? seconds : 0.5 * (m->seconds + seconds);
        if (process == 0) /* already stored by the thread that made it */
            continue;
        pthread_mutex_lock(&w->lock);
        w->cost_done += item->cost;
        if (record != NULL)
            work_take_record(w, &w->e->cells[item->cell], record);
        pthread_mutex_unlock(&w->lock);
    }
}

static huddle_status read_message(distribution *s, int32_t process, const char *text,
                                  int64_t size) {
    member *m = &s->members[process];
    json_t *message = json_loadb(text, (size_t)size, 0, NULL);
    if (message == NULL)
        return experiment_no_memory();
    m->n_threads = (int)json_integer_value(json_object_get(message, "threads"));
    s->hits += json_integer_value(json_object_get(message, "hits"));
    s->misses += json_integer_value(json_object_get(message, "misses"));
    s->cpu_seconds += json_number_value(json_object_get(message, "cpu"));
    s->cancelled |= json_is_true(json_object_get(message, "cancelled"));
    take_finished(s, process, json_object_get(message, "finished"));
    json_decref(message);
    return HUDDLE_OK;
}

/* Tells process 0 what this process has finished. */
static huddle_status report(distribution *s, bool cancelled) {
    huddle_status status = HUDDLE_OK;
    int64_t *sizes = calloc((size_t)s->size, sizeof *sizes);
    char *text = write_message(s, cancelled);
    void *all = NULL;
    TRY_POINTER(sizes);
    TRY_POINTER(text);
    TRY(huddle_context_gather(s->w->context, (int64_t)strlen(text), text, sizes, &all));
    const char *at = all;
    s->hits = s->misses = 0;
    s->cpu_seconds = 0;
    for (int32_t r = 0; s->rank == 0 && r < s->size; at += sizes[r], r++)
        TRY(read_message(s, r, at, sizes[r]));
done:
    free(sizes);
    free(text);
    huddle_free(all);
    return huddle_context_agree(s->w->context, status);
}

/* ---- meetings ------------------------------------------------------------------------------- */

static decision decide(distribution *s) {
    decision made = {.cancelled = s->cancelled};
    pthread_mutex_lock(&s->w->lock);
    bool failed = s->w->error != 0;
    made.done = s->w->cost_done / s->w->cost;
    pthread_mutex_unlock(&s->w->lock);
    made.over = made.cancelled || failed || s->n_finished == s->w->count;
    if (!made.over)
        made.n_grants = hand_out(s);
    return made;
}

/* Puts the items of this process into its queue; the groups of the others are not waited for. */
static void apply_grants(distribution *s, int32_t n_grants) {
    work *w = s->w;
    pthread_mutex_lock(&w->lock);
    for (int32_t k = 0; k < n_grants; k++) {
        if (s->grants[k].process == s->rank)
            w->queue.items[w->queue.count++] = s->grants[k].item;
        else
            work_leave_group(w, &w->groups[w->items[s->grants[k].item].group]);
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* Ctrl-C may reach any of the processes. */
static huddle_status meet(distribution *s, decision *made) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = s->w->context;
    bool cancelled = huddle_context_progress(context, "cells", made->done * s->w->count,
                                             s->w->count) == HUDDLE_CANCELLED;
    TRY(report(s, cancelled));
    if (s->rank == 0)
        *made = decide(s);
    TRY(huddle_context_share(context, 0, sizeof *made, made));
    TRY(huddle_context_share(context, 0, made->n_grants * (int64_t)sizeof *s->grants, s->grants));
    apply_grants(s, made->n_grants);
done:
    return status;
}

/* After the last meeting the queue is empty unless nothing more should be begun. */
static void close_queue(work *w) {
    pthread_mutex_lock(&w->lock);
    w->queue.count = w->queue.next;
    w->queue.closed = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* Until something has changed, at most for the time between meetings. With the lock held. */
static void wait_for_change(work *w) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* which pthread_cond_timedwait() uses */
    until.tv_nsec += MEETING_INTERVAL;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

/* A single process does not wait longer than until the next cell is finished. */
static void wait_for_meeting(const distribution *s) {
    work *w = s->w;
    struct timespec interval = {.tv_nsec = MEETING_INTERVAL};
    if (s->size > 1) {
        nanosleep(&interval, NULL);
        return;
    }
    pthread_mutex_lock(&w->lock);
    if (json_array_size(w->finished) == 0)
        wait_for_change(w);
    pthread_mutex_unlock(&w->lock);
}

/* After a failed write the fits under way are still waited for, and Ctrl-C must reach them. */
static void wait_for_workers(distribution *s) {
    work *w = s->w;
    pthread_mutex_lock(&w->lock);
    while (w->error != 0 && w->n_busy > 0 && !w->cancelled) {
        wait_for_change(w);
        double done = w->cost_done / w->cost * w->count;
        pthread_mutex_unlock(&w->lock);
        if (huddle_context_progress(w->context, "cells", done, w->count) == HUDDLE_CANCELLED)
            workers_cancel(w, &s->team);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

static huddle_status keep_meeting(distribution *s) {
    huddle_status status = HUDDLE_OK;
    decision made = {0};
    for (;;) {
        TRY(meet(s, &made));
        if (made.over)
            break;
        wait_for_meeting(s);
    }
    (void)huddle_context_progress(s->w->context, "cells", made.done * s->w->count, s->w->count);
done:
    if (made.cancelled || status != HUDDLE_OK)
        workers_cancel(s->w, &s->team);
    return status;
}

/* ---- the run -------------------------------------------------------------------------------- */

static huddle_status begin(distribution *s) {
    huddle_status status = HUDDLE_OK;
    work *w = s->w;
    TRY_POINTER(w->finished = json_array());
    TRY_POINTER(s->grants = calloc((size_t)w->count, sizeof *s->grants));
    TRY_POINTER(s->members = calloc((size_t)s->size, sizeof *s->members));
    TRY_POINTER(s->owners = calloc((size_t)w->count, sizeof *s->owners));
    TRY_POINTER(s->groups = calloc((size_t)w->n_groups, sizeof *s->groups));
    for (int i = 0; i < w->count; i++)
        s->owners[i] = -1;
    if (s->size == 1)
        for (s->n_granted = 0; s->n_granted < w->count; s->n_granted++)
            w->queue.items[w->queue.count++] = s->n_granted;
    int n_threads = huddle_context_threads(w->context);
    TRY(workers_start(w, n_threads < w->count ? n_threads : w->count, &s->team));
done:
    return huddle_context_agree(w->context, status);
}

huddle_status distributed_run(work *w) {
    distribution s = {.w = w,
                      .rank = huddle_context_process(w->context),
                      .size = huddle_context_processes(w->context),
                      .began_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID)};
    huddle_status status = begin(&s);
    if (status == HUDDLE_OK)
        status = keep_meeting(&s);
    close_queue(w);
    wait_for_workers(&s);
    workers_join(&s.team);
    /* What was finished after the last meeting. */
    if (status == HUDDLE_OK)
        status = report(&s, false);
    if (status == HUDDLE_OK && s.rank == 0) {
        w->e->hits = s.hits;
        w->e->misses = s.misses;
        w->e->cpu_seconds = s.cpu_seconds;
    }
    json_decref(w->finished);
    w->finished = NULL;
    free(s.members);
    free(s.owners);
    free(s.groups);
    free(s.grants);
    return status;
}

/* ---- what all processes must have in common ------------------------------------------------- */

/* Files of other machines may differ. A digest of all keys shows it. */
huddle_status distributed_compare(huddle_context *context, experiment *e) {
    huddle_status status = HUDDLE_OK;
    char own[KEY_SIZE], first[KEY_SIZE];
    char *text = calloc((size_t)e->n_cells + 1, KEY_SIZE);
    TRY_POINTER(text);
    for (int i = 0; i < e->n_cells; i++)
        memcpy(text + (size_t)i * (KEY_SIZE - 1), e->cells[i].key, KEY_SIZE - 1);
    plan_make_key(text, own);
    memcpy(first, own, KEY_SIZE);
    TRY(huddle_context_share(context, 0, KEY_SIZE, first));
    if (memcmp(own, first, KEY_SIZE) != 0)
        TRY(set_error(HUDDLE_INVALID, "%s: the plan or its data differ between processes",
                      e->file));
done:
    free(text);
    return huddle_context_agree(context, status);
}

/* The others need no records, only which cells have one: any value marks them. */
huddle_status distributed_share_found(huddle_context *context, experiment *e) {
    huddle_status status = HUDDLE_OK;
    char *found = calloc((size_t)e->n_cells + 1, 1);
    TRY_POINTER(found);
    for (int i = 0; i < e->n_cells; i++)
        found[i] = e->cells[i].record != NULL;
    TRY(huddle_context_share(context, 0, e->n_cells, found));
    for (int i = 0; i < e->n_cells; i++)
        if (found[i] && e->cells[i].record == NULL)
            e->cells[i].record = json_true();
done:
    free(found);
    return huddle_context_agree(context, status);
}

/* What process 0 returns, with its message. */
typedef struct outcome {
    int32_t status;
    char message[1020];
} outcome;

huddle_status experiment_first_status(huddle_context *context, huddle_status status) {
    outcome told = {.status = (int32_t)status};
    if (huddle_context_processes(context) == 1)
        return status;
    if (status != HUDDLE_OK)
        snprintf(told.message, sizeof told.message, "%s", huddle_last_error());
    huddle_status shared = huddle_context_share(context, 0, sizeof told, &told);
    if (shared != HUDDLE_OK || told.status == HUDDLE_OK)
        return shared;
    return set_error((huddle_status)told.status, "%s", told.message);
}
