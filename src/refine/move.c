/* Moves of single vertices between clusters, and the objectives that they lower. */
#include "base/check.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "refine/refine.h"

#include <math.h>
#include <string.h>

/* A move must lower the objective by more than this: smaller differences are rounding errors of
 * sums of about 1, which could move a vertex back and forth. */
static const double least_change = 1e-12;

/* By how much rounding may raise the objective of labels that an engine has moved: it may add in
 * another order. */
static const double worse_share = 1e-9;

enum {
    CANCEL_EVERY = 65536, /* vertices between two looks at whether to stop */
    BLOCK = 4096 /* vertices that are visited together: their edges fit a second-level cache */
};

/* ---- objectives ---------------------------------------------------------------------------- */

/* Rounding may make a share slightly negative. */
double hd_refine_h(double x) {
    return x > 0 ? x * log(x) : 0;
}

/* Equation (29) has g and t of each objective, which here are `common` and `term`; `value` is what
 * the moves minimise, from the scores of a labelling, and `scale` what (30) measures a gain with.
 *
 * The map equation (24): h(q) - 2 sum h(q_k) + sum h(q_k + v_k), q = 1 - f. */
static double map_common(double inside) {
    return hd_refine_h(1 - inside);
}

static double map_term(double inside, double volume) {
    double leaving = volume > inside ? volume - inside : 0; /* not less by rounding */
    return hd_refine_h(leaving + volume) - 2 * hd_refine_h(leaving);
}

static double map_value(const huddle_graph_scores *scores) {
    return scores->map;
}

/* L + H, the description length of the walk: clusters, and vertices within them. L alone may be
 * near 0, or negative, where a share of it would mean nothing. */
static double map_scale(const huddle_graph_scores *scores, int32_t n_clusters) {
    (void)n_clusters;
    return scores->map + scores->entropy;
}

/* 1 - Q = 1 - f + sum v_k^2 by (21), where f is in the common part: the terms need volumes only. */
static double modularity_common(double inside) {
    return 1 - inside;
}

static double modularity_term(double inside, double volume) {
    (void)inside;
    return volume * volume;
}

static double modularity_value(const huddle_graph_scores *scores) {
    return 1 - scores->modularity;
}

/* 1 - Q of a single cluster. */
static double modularity_scale(const huddle_graph_scores *scores, int32_t n_clusters) {
    (void)scores;
    (void)n_clusters;
    return 1;
}

/* The normalised cut (20): sum q_k / v_k. A cluster of isolated vertices has nothing to cut. */
static double ncut_common(double inside) {
    (void)inside;
    return 0;
}

static double ncut_term(double inside, double volume) {
    return volume > 0 ? (volume - inside) / volume : 0;
}

static double ncut_value(const huddle_graph_scores *scores) {
    return scores->ncut;
}

/* The cut of clusters without an edge inside. */
static double ncut_scale(const huddle_graph_scores *scores, int32_t n_clusters) {
    (void)scores;
    return n_clusters;
}

static const hd_refine_objective objectives[] = {
    {"map", map_common, map_term, map_value, map_scale},
    {"modularity", modularity_common, modularity_term, modularity_value, modularity_scale},
    {"ncut", ncut_common, ncut_term, ncut_value, ncut_scale}};

const char *const hd_refine_objective_names[] = {"map", "modularity", "ncut", NULL};

const hd_refine_objective *hd_refine_objective_find(const char *name) {
    for (size_t k = 0; k < sizeof objectives / sizeof *objectives; k++)
        if (strcmp(objectives[k].name, name) == 0)
            return &objectives[k];
    return NULL;
}

/* ---- state --------------------------------------------------------------------------------- */

typedef struct mover {
    const hd_refine_graph *graph;
    const hd_refine_objective *objective;
    int64_t n_clusters;
    int32_t *labels;
    double *inside, *volume; /* n_clusters: d_k and v_k, */
    double *members;         /* and vertices of all processes, if rows are distributed: parts of one
                                array, so that one message adds them up */
    int64_t *count;          /* n_clusters: vertices */
    double total_inside;     /* f */
    int32_t *visits, *next;  /* n: the vertices to visit in this sweep and in the next one */
    int64_t n_visits, n_next;
    int32_t *blocks;  /* the order of blocks of visits */
    bool *waiting;    /* n: the vertex has yet to be visited in this sweep or the next; always set
                         for vertices of other processes, which follow */
    double *weight;   /* n_clusters: of the vertex to each cluster; 0 but for the touched */
    int32_t *touched; /* n_clusters */
    int64_t n_touched;
} mover;

/* Begins a sweep over all vertices that have a neighbour in another cluster: the others could not
 * go anywhere, because vertices go to clusters of neighbours only. The sums are computed anew,
 * since those of many moves would drift. */
static void begin_all(mover *m) {
    const huddle_csr *a = m->graph->matrix;
    memset(m->inside, 0, 2 * (size_t)m->n_clusters * sizeof *m->inside); /* and volume */
    memset(m->count, 0, (size_t)m->n_clusters * sizeof *m->count);
    m->n_visits = 0;
    for (int64_t i = 0; i < m->graph->n; i++) {
        int32_t own = m->labels[i];
        double within = 0;
        int64_t n_within = 0;
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            bool same = m->labels[a->columns[e]] == own;
            within += same ? a->values[e] : 0;
            n_within += same;
        }
        m->inside[own] += within * m->graph->unit;
        m->volume[own] += m->graph->degree[i];
        m->count[own]++;
        m->waiting[i] = n_within < a->offsets[i + 1] - a->offsets[i];
        if (m->waiting[i])
            m->visits[m->n_visits++] = (int32_t)i;
    }
    m->total_inside = 0;
    for (int64_t k = 0; k < m->n_clusters; k++)
        m->total_inside += m->inside[k];
}

/* Begins a sweep over the vertices whose neighbours have moved since they were visited. */
static void begin_next(mover *m) {
    int32_t *kept = m->visits;
    m->visits = m->next;
    m->next = kept;
    m->n_visits = m->n_next;
}

/* A random order of list[0 .. count - 1] (Fisher and Yates). */
static void shuffle(hd_rng *rng, int64_t count, int32_t *list) {
    for (int64_t t = count - 1; t > 0; t--) {
        int64_t other = hd_rng_below(rng, t + 1);
        int32_t kept = list[t];
        list[t] = list[other];
        list[other] = kept;
    }
}

/* The visits in random order, another for each sweep: in the order of their numbers, labels would
 * spread along it within one sweep, and the minimum that is found would depend on the numbers.
 * Blocks are in random order, and so are the vertices of a block, which are near each other in
 * memory, as are most of their neighbours. `next` is free before a sweep. */
static void shuffle_visits(mover *m, uint64_t seed, int32_t sweep) {
    hd_rng rng = hd_rng_stream(seed, (uint64_t)sweep);
    int32_t n_blocks = (int32_t)((m->n_visits + BLOCK - 1) / BLOCK), *kept = m->visits;
    int64_t at = 0;
    for (int32_t k = 0; k < n_blocks; k++)
        m->blocks[k] = k;
    shuffle(&rng, n_blocks, m->blocks);
    for (int32_t k = 0; k < n_blocks; k++) {
        int64_t begin = (int64_t)m->blocks[k] * BLOCK;
        int64_t count = m->n_visits - begin < BLOCK ? m->n_visits - begin : BLOCK;
        memcpy(m->next + at, m->visits + begin, (size_t)count * sizeof *m->next);
        shuffle(&rng, count, m->next + at);
        at += count;
    }
    m->visits = m->next;
    m->next = kept;
}

/* ---- one vertex ---------------------------------------------------------------------------- */

/* Weights of the edges of vertex i by cluster, as shares, and its loop, which is not among them. */
static double add_neighbors(mover *m, int64_t i) {
    const huddle_csr *a = m->graph->matrix;
    double loop = 0;
    m->n_touched = 0;
    for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
        double weight = a->values[e] * m->graph->unit;
        int32_t other = m->labels[a->columns[e]];
        if (a->columns[e] == i) {
            loop = weight;
            continue;
        }
        if (weight <= 0)
            continue;
        if (m->weight[other] == 0)
            m->touched[m->n_touched++] = other;
        m->weight[other] += weight;
    }
    return loop;
}

/* The cluster to which vertex i should move: that of the lowest objective, its own unless another
 * is lower. Among equal ones the smaller number. Moving i out of cluster a takes twice its edges to
 * a and its loop from d_a, and its degree from v_a; into b likewise. Only these two terms of (29)
 * change, and g: what leaving costs is the same for all b and computed once. So a visit takes time
 * in proportion to the edges of i, whatever the objective and the number of clusters. */
static int32_t find_best(const mover *m, int64_t i, double loop) {
    const hd_refine_objective *o = m->objective;
    int32_t own = m->labels[i], best = own;
    double degree = m->graph->degree[i], to_own = m->weight[own], lowest = -least_change;
    double left = o->term(m->inside[own] - 2 * to_own - loop, m->volume[own] - degree) -
                  o->term(m->inside[own], m->volume[own]) - o->common(m->total_inside);
    for (int64_t t = 0; t < m->n_touched; t++) {
        int32_t b = m->touched[t];
        if (b == own)
            continue;
        double joined = o->term(m->inside[b] + 2 * m->weight[b] + loop, m->volume[b] + degree) -
                        o->term(m->inside[b], m->volume[b]);
        double change = left + joined + o->common(m->total_inside + 2 * (m->weight[b] - to_own));
        if (change < lowest || (change == lowest && best != own && b < best)) {
            lowest = change;
            best = b;
        }
    }
    return best;
}

/* The sums follow each move, so that the next vertex is judged by what they are then. Neighbours
 * that were visited before are visited again in the next sweep: their weights to a and b have
 * changed. */
static void apply(mover *m, int64_t i, double loop, int32_t to) {
    const huddle_csr *a = m->graph->matrix;
    int32_t from = m->labels[i];
    double degree = m->graph->degree[i];
    m->inside[from] -= 2 * m->weight[from] + loop;
    m->inside[to] += 2 * m->weight[to] + loop;
    m->total_inside += 2 * (m->weight[to] - m->weight[from]);
    m->volume[from] -= degree;
    m->volume[to] += degree;
    m->count[from]--;
    m->count[to]++;
    m->labels[i] = to;
    for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
        int32_t neighbor = a->columns[e];
        if (!m->waiting[neighbor] && neighbor != i) {
            m->waiting[neighbor] = true;
            m->next[m->n_next++] = neighbor;
        }
    }
}

/* Only what was set, as the clusters may be many more than the neighbours. */
static void clear_neighbors(mover *m) {
    for (int64_t t = 0; t < m->n_touched; t++)
        m->weight[m->touched[t]] = 0;
}

/* ---- sweeps -------------------------------------------------------------------------------- */

/* Visits the vertices in the order of the sweep; *n_moved: how many were moved. The last vertex of
 * a cluster stays, even if the objective would be lower: the number of clusters is given. A vertex
 * stops waiting before its visit: if a neighbour moves later in the sweep, it is put on the list of
 * the next one. */
static huddle_status sweep_once(huddle_context *context, mover *m, int64_t *n_moved) {
    huddle_status status = HUDDLE_OK;
    *n_moved = 0;
    m->n_next = 0;
    for (int64_t t = 0; t < m->n_visits; t++) {
        int32_t i = m->visits[t];
        if (t % CANCEL_EVERY == 0)
            TRY(hd_check_cancel(context));
        m->waiting[i] = false;
        if (m->count[m->labels[i]] <= 1)
            continue;
        double loop = add_neighbors(m, i);
        int32_t to = find_best(m, i, loop);
        if (to != m->labels[i]) {
            apply(m, i, loop, to);
            ++*n_moved;
        }
        clear_neighbors(m);
    }
done:
    return status;
}

static void mover_free(mover *m) {
    FREE(m->inside, m->count, m->visits, m->next, m->blocks, m->waiting, m->weight, m->touched);
}

static huddle_status mover_new(mover *m) {
    huddle_status status = HUDDLE_OK;
    ALLOC(m->inside, 3 * m->n_clusters);
    m->volume = m->inside + m->n_clusters;
    m->members = m->volume + m->n_clusters;
    ALLOC(m->count, m->n_clusters);
    ALLOC(m->visits, m->graph->n);
    ALLOC(m->next, m->graph->n);
    ALLOC(m->blocks, m->graph->n / BLOCK + 1);
    ALLOC(m->waiting, m->graph->matrix->cols);
    ALLOC_ZERO(m->weight, m->n_clusters);
    ALLOC(m->touched, m->n_clusters);
done:
    return status;
}

/* The objective by the sums of its clusters. */
static double add_terms(const mover *m) {
    double value = m->objective->common(m->total_inside);
    for (int64_t k = 0; k < m->n_clusters; k++)
        value += m->objective->term(m->inside[k], m->volume[k]);
    return value;
}

/* ---- an engine ----------------------------------------------------------------------------- */

/* Labels of an engine are used only if they are clusters, all of which have members, and not worse
 * than those it was given. Objectives are sums of terms of about 1, and a normalised cut is as
 * large as the number of clusters at most: what rounding may add is measured by 1 and by the value
 * itself. */
static huddle_status check_moved(mover *m, const char *name, double before) {
    for (int64_t i = 0; i < m->graph->n; i++)
        if (m->labels[i] < 0 || m->labels[i] >= m->n_clusters)
            return hd_fail(HUDDLE_INTERNAL, "the engine %s moved vertex %lld to cluster %d of %lld",
                           name, (long long)i + 1, m->labels[i] + 1, (long long)m->n_clusters);
    begin_all(m);
    double after = add_terms(m);
    if (!(after <= before + worse_share * (1 + fabs(before))))
        return hd_fail(HUDDLE_INTERNAL, "the engine %s raised the %s of labels from %.9g to %.9g",
                       name, m->objective->name, before, after);
    return HUDDLE_OK;
}

/* Asks the engine. Labels are kept, because one that declines may have changed them. A cluster that
 * it has left empty is an error too, unless it was empty before. */
static huddle_status move_by_engine(huddle_context *context, mover *m, int32_t max_sweeps,
                                    uint64_t seed, int32_t *n_sweeps, bool *handled) {
    huddle_status status = HUDDLE_OK;
    const hd_engine *engine = hd_context_engine(context);
    hd_move_request request = {m->graph->matrix,
                               m->graph->degree,
                               m->graph->unit,
                               m->objective->name,
                               m->n_clusters,
                               max_sweeps,
                               seed};
    int32_t *kept = NULL, sweeps = 0;
    bool *used = NULL;
    *handled = false;
    if (engine->move_vertices == NULL || engine->slabs != NULL || m->graph->n == 0)
        return status;
    ALLOC(kept, m->graph->n);
    ALLOC(used, m->n_clusters);
    memcpy(kept, m->labels, (size_t)m->graph->n * sizeof *kept);
    begin_all(m);
    double before = add_terms(m);
    for (int64_t k = 0; k < m->n_clusters; k++)
        used[k] = m->count[k] > 0;
    status = engine->move_vertices(context, &request, m->labels, &sweeps);
    if (hd_engine_declined(context, "move_vertices", status)) {
        memcpy(m->labels, kept, (size_t)m->graph->n * sizeof *kept);
        status = HUDDLE_OK;
        goto done;
    }
    TRY(status);
    TRY(check_moved(m, engine->text.name, before));
    for (int64_t k = 0; k < m->n_clusters; k++)
        if (used[k] && m->count[k] == 0)
            FAIL(HUDDLE_INTERNAL, "the engine %s moved all vertices out of cluster %lld",
                 engine->text.name, (long long)k + 1);
    *n_sweeps = sweeps;
    *handled = true;
done:
    FREE(kept, used);
    return status;
}

/* ---- one process --------------------------------------------------------------------------- */

/* The first sweep visits all vertices that have a neighbour in another cluster, a later one those
 * whose neighbours have moved since they were visited. When no vertex is left to visit, all are
 * visited again, because the sums of their clusters have changed; if that moves none, no single
 * move lowers the objective any more. Every move lowers the objective by more than rounding errors,
 * so that moves do not go round in a circle; the limit is one of time. */
huddle_status hd_refine_move(huddle_context *context, const hd_refine_graph *graph,
                             const hd_refine_objective *objective, int64_t n_clusters,
                             int32_t max_sweeps, uint64_t seed, int32_t *labels,
                             int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    mover m = {.graph = graph, .objective = objective, .n_clusters = n_clusters, .labels = labels};
    bool all = true, settled = false, handled;
    int32_t sweep = 0;
    TRY(mover_new(&m));
    TRY(move_by_engine(context, &m, max_sweeps, seed, &sweep, &handled));
    for (; sweep < max_sweeps && !settled && !handled; sweep++) {
        int64_t n_moved;
        if (all)
            begin_all(&m);
        else
            begin_next(&m);
        shuffle_visits(&m, seed, sweep);
        TRY(sweep_once(context, &m, &n_moved));
        settled = all && n_moved == 0;
        all = m.n_next == 0;
    }
done:
    if (n_sweeps != NULL)
        *n_sweeps = sweep;
    mover_free(&m);
    return status;
}

/* ---- rows on several processes ------------------------------------------------------------- */

/* A round with one of this many vertices that does not help is the last: neighbours seldom move at
 * the same time then, so that what fails is not their collision. */
enum { MOST_DAMPED = 16 };

typedef struct distributed_graph {
    huddle_context *context;
    hd_refine_graph graph; /* own rows; columns, which it owns, are own rows, then ghosts */
    int64_t first;         /* number of the first own row */
    hd_halo halo;
    int32_t *kept; /* n: the best labels so far */
} distributed_graph;

static void distributed_free(distributed_graph *s) {
    hd_halo_close(&s->halo);
    FREE(s->graph.own.columns, s->graph.degree, s->kept);
}

/* The matrix with local columns; offsets and values are those of the caller. */
static huddle_status distributed_new(const huddle_csr *matrix, distributed_graph *s) {
    huddle_status status = HUDDLE_OK;
    int64_t n = matrix->rows, entries = matrix->offsets[n];
    hd_refine_graph *graph = &s->graph;
    int32_t *columns = NULL;
    double total;
    hd_slab slab;
    *graph = (hd_refine_graph){.matrix = &graph->own, .n = n};
    TRY(hd_slab_locate(s->context, n, &slab));
    s->first = slab.first;
    ALLOC(columns, entries);
    graph->own = *matrix;
    graph->own.columns = columns;
    if (entries > 0)
        memcpy(columns, matrix->columns, (size_t)entries * sizeof *columns);
    TRY(hd_halo_open(s->context, n, entries, columns, &s->halo));
    graph->own.cols = n + s->halo.ghosts;
    ALLOC(s->kept, n);
    TRY(hd_refine_graph_weigh(s->context, graph, &total));
done:
    return status;
}

/* The sums of all processes, the vertices to visit, and the value of the objective. */
static huddle_status measure(const distributed_graph *s, mover *m, double *value) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_halo_fetch(&s->halo, m->labels, sizeof *m->labels));
    begin_all(m);
    for (int64_t k = 0; k < m->n_clusters; k++)
        m->members[k] = (double)m->count[k];
    TRY(hd_reduce_sum(s->context, 3 * m->n_clusters, m->inside));
    m->total_inside = 0;
    for (int64_t k = 0; k < m->n_clusters; k++)
        m->total_inside += m->inside[k];
    *value = add_terms(m);
done:
    return status;
}

/* Of each cluster a process may take its share of all vertices but one: no cluster becomes empty,
 * whatever the others do. sweep_once() takes vertices while the count is above 1, hence the one
 * that is added. */
static void limit_moves(const distributed_graph *s, mover *m) {
    int64_t processes = hd_slabs_count(s->context), rank = hd_slabs_rank(s->context);
    for (int64_t k = 0; k < m->n_clusters; k++) {
        int64_t free = (int64_t)m->members[k] - 1;
        m->count[k] = free > 0 ? free / processes + (rank < free % processes) + 1 : 1;
    }
}

/* Keeps one of `damp` vertices, by a hash of their numbers, another part in each round: neighbours
 * have near numbers, which the hash separates (its high bits, as low ones of a product depend on
 * few of its factors'). */
static void thin_visits(const distributed_graph *s, mover *m, int32_t round, int32_t damp) {
    int64_t count = 0;
    for (int64_t t = 0; t < m->n_visits; t++) {
        uint64_t number = (uint64_t)(s->first + m->visits[t]) * 0x9E3779B97F4A7C15u;
        if (((number >> 40) + (uint64_t)round) % (uint64_t)damp == 0)
            m->visits[count++] = m->visits[t];
    }
    m->n_visits = count;
}

/* One round: every process sweeps once over its vertices. None is put on the list of a next sweep,
 * as if all were waiting: the labels of ghosts change between rounds, which begin anew. */
static huddle_status move_round(const distributed_graph *s, mover *m, uint64_t seed, int32_t round,
                                int32_t damp, int64_t *n_moved) {
    huddle_status status = HUDDLE_OK;
    limit_moves(s, m);
    if (damp > 1)
        thin_visits(s, m, round, damp);
    memset(m->waiting, 1, (size_t)m->graph->matrix->cols * sizeof *m->waiting);
    shuffle_visits(m, seed, round);
    TRY(sweep_once(s->context, m, n_moved));
    TRY(hd_reduce_count(s->context, n_moved));
done:
    return status;
}

/* Rounds until one moves nothing, or even few vertices at a time do not help. Vertices of different
 * processes move at the same time, each by sums that do not know of the others: neighbours on both
 * sides of a border may change places where one should have followed the other, and the objective
 * rises. Such a round is undone, and the next has half of the vertices; one that helps doubles them
 * again. */
static huddle_status run_rounds(const distributed_graph *s, mover *m, int32_t max_sweeps,
                                uint64_t seed, int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    double best = INFINITY, value;
    size_t size = (size_t)m->graph->n * sizeof *m->labels;
    int64_t n_moved = 0;
    int32_t damp = 1;
    for (*n_sweeps = 0;; ++*n_sweeps) {
        TRY(measure(s, m, &value));
        if (value < best - least_change) {
            memcpy(s->kept, m->labels, size);
            best = value;
            damp = damp > 1 ? damp / 2 : 1;
        } else {
            memcpy(m->labels, s->kept, size);
            damp *= 2;
            if (damp > MOST_DAMPED)
                break;
            TRY(measure(s, m, &value)); /* the sums of the labels that are back */
        }
        if (*n_sweeps == max_sweeps)
            break;
        TRY(move_round(s, m, seed, *n_sweeps, damp, &n_moved));
        if (n_moved == 0 && damp == 1)
            break;
    }
done:
    return status;
}

huddle_status hd_refine_move_distributed(huddle_context *context, const huddle_csr *matrix,
                                         const hd_refine_objective *objective, int64_t n_clusters,
                                         int32_t max_sweeps, uint64_t seed, int32_t *labels,
                                         int32_t *n_sweeps) {
    huddle_status status = HUDDLE_OK;
    distributed_graph s = {.context = context};
    mover m = {.graph = &s.graph, .objective = objective, .n_clusters = n_clusters};
    int32_t rounds = 0;
    size_t size = (size_t)matrix->rows * sizeof *labels;
    TRY(distributed_new(matrix, &s));
    TRY(mover_new(&m));
    ALLOC_ZERO(m.labels, s.graph.own.cols);
    if (size > 0)
        memcpy(m.labels, labels, size);
    TRY(run_rounds(&s, &m, max_sweeps, seed, &rounds));
    if (size > 0)
        memcpy(labels, m.labels, size);
done:
    if (n_sweeps != NULL)
        *n_sweeps = rounds;
    huddle_free(m.labels);
    mover_free(&m);
    distributed_free(&s);
    return hd_agree(context, status);
}
