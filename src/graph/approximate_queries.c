/* Queries in the index of an approximate search: best-first search in its neighbour graph.
 *
 * A query is compared with the points of its leaf in each tree that was kept, by tiles and together
 * with the other queries of that leaf. From the nearest of them it follows the lists of the points
 * (best first, with a list as long as theirs), until no list leads nearer. Distances are those of
 * approximate.h, so that a point that is met twice enters a list once; those of the points found
 * are computed in double. */
#include "graph/approximate.h"

#include "base/check.h"
#include "base/parallel.h"

#include <float.h>
#include <string.h>

enum {
    QUERIES_PER_CHUNK = 256,
    GROUPS_PER_CHUNK = 32,
    GROUP = 96,       /* queries compared with a leaf at a time, a multiple of the panel */
    MAX_STEPS = 1000, /* from list to list: never that many */
    SEEN = 4096,      /* points that queries remember, a power of two */
    COLUMNS = HD_GRAPH_TILE_COLUMNS,
};

/* A point farther than so many times the query's k-th distance so far is not followed: its
 * neighbours, which are about as near to it, are hardly nearer than the k-th. */
static const double follow_ratio = 2;

typedef struct query_batch {
    const hd_graph_approximation *a;
    hd_graph_search *search;
    const bool *near;
    hd_graph_ordered_points queries;
    hd_graph_lists lists; /* of positions, for each query */
    int tree;
    int64_t *offsets; /* leaves + 1: where the queries of each leaf begin in */
    int32_t *order;
    int32_t *leaf;     /* of each query; -1: left out */
    float *panels;     /* workers x (capacity + GROUP) x d */
    float *base, *tau; /* workers x (capacity + GROUP) */
    int32_t *seen;     /* workers x SEEN */
} query_batch;

/* ---- leaves -------------------------------------------------------------------------------- */

static huddle_status find_leaves(void *argument, hd_chunk chunk) {
    const query_batch *b = argument;
    const hd_graph_approximation *a = b->a;
    for (int64_t q = chunk.begin; q < chunk.end; q++)
        b->leaf[q] = b->near != NULL && !b->near[q]
                         ? -1
                         : (int32_t)hd_graph_forest_find(&a->forest, a->routes[b->tree],
                                                         hd_graph_ordered_row(&b->queries, q));
    return HUDDLE_OK;
}

/* Queries by leaf, in their order. */
static void sort_queries(const query_batch *b) {
    int64_t leaves = b->a->forest.leaves;
    memset(b->offsets, 0, (size_t)(leaves + 1) * sizeof *b->offsets);
    for (int64_t q = 0; q < b->queries.n; q++)
        if (b->leaf[q] >= 0)
            b->offsets[b->leaf[q] + 1]++;
    for (int64_t l = 0; l < leaves; l++)
        b->offsets[l + 1] += b->offsets[l];
    for (int64_t q = 0; q < b->queries.n; q++)
        if (b->leaf[q] >= 0)
            b->order[b->offsets[b->leaf[q]]++] = (int32_t)q;
    for (int64_t l = leaves; l > 0; l--)
        b->offsets[l] = b->offsets[l - 1];
    b->offsets[0] = 0;
}

/* Queries are the rows, points of a leaf the columns. No lock: a query is in one leaf of a tree. */
static void insert_point(void *argument, int64_t i, int64_t j, float value) {
    const hd_graph_list_pairs *m = argument;
    int32_t q = m->rows[i];
    if (value <= m->tau[i] && hd_graph_lists_insert(m->lists, q, value, m->columns[j]))
        m->tau[i] = atomic_load_explicit(&m->lists->tau[q], memory_order_relaxed);
}

static huddle_status compare_leaves(void *argument, hd_chunk chunk) {
    query_batch *b = argument;
    const hd_graph_forest *f = &b->a->forest;
    int64_t at = chunk.worker * (f->capacity + GROUP), behind = at + f->capacity;
    int64_t d = b->queries.d;
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++) {
        if (b->offsets[leaf] == b->offsets[leaf + 1])
            continue;
        int64_t first = hd_graph_forest_begin(f, leaf);
        const int32_t *positions = b->a->orders[b->tree] + first;
        hd_graph_panels points = hd_graph_ordered_points_pack(
            &b->a->points, positions, hd_graph_forest_begin(f, leaf + 1) - first,
            b->panels + at * d, b->base + at);
        for (int64_t q = b->offsets[leaf]; q < b->offsets[leaf + 1]; q += GROUP) {
            int64_t rest = b->offsets[leaf + 1] - q, count = rest < GROUP ? rest : GROUP;
            hd_graph_list_pairs m = {&b->lists, b->order + q, positions, b->tau + at};
            hd_graph_panels rows = hd_graph_ordered_points_pack(
                &b->queries, m.rows, count, b->panels + behind * d, b->base + behind);
            hd_graph_lists_compare(&m, &b->a->points, &rows, &points, insert_point);
        }
    }
    return HUDDLE_OK;
}

/* ---- from list to list --------------------------------------------------------------------- */

/* Queries of one leaf, as many as a tile has rows, walk together: each is compared with the points
 * that any of them comes to. */
typedef struct walk {
    query_batch *b;
    const int32_t *queries;
    int n_queries;
    float limits[HD_GRAPH_TILE_ROWS]; /* beyond which a query follows nothing */
    hd_graph_panels rows;             /* of the queries */
    float *columns;                   /* of one tile */
    int32_t *seen;
    int32_t next[COLUMNS];
    int count;
} walk;

/* Compares the queries with the points that wait. */
static void compare_next(walk *w) {
    const hd_graph_ordered_points *x = &w->b->a->points;
    float base[COLUMNS], tau[COLUMNS];
    hd_graph_list_pairs m = {&w->b->lists, w->queries, w->next, tau};
    hd_graph_panels columns = hd_graph_ordered_points_pack(x, w->next, w->count, w->columns, base);
    hd_graph_lists_compare(&m, x, &w->rows, &columns, insert_point);
    w->count = 0;
}

/* The memory forgets a position for another one of the same hash, which costs a comparison. */
static void add_position(walk *w, int32_t position) {
    uint32_t at = (uint32_t)position * 2654435761u >> 16 & (SEEN - 1);
    if (w->seen[at] == position)
        return;
    w->seen[at] = position;
    w->next[w->count++] = position;
    if (w->count == COLUMNS)
        compare_next(w);
}

/* The nearest position of a query that was not followed, or -1. */
static int32_t choose_position(const walk *w, int r) {
    const hd_graph_lists *l = &w->b->lists;
    uint64_t *list = l->entries + (int64_t)w->queries[r] * l->k;
    for (int32_t c = 0; c < l->k; c++) {
        int32_t position = hd_graph_entry_position(list[c]);
        if (position >= w->b->a->points.n || hd_graph_entry_value(list[c]) > w->limits[r])
            return -1;
        if (list[c] & 1) {
            list[c] &= ~(uint64_t)1;
            return position;
        }
    }
    return -1;
}

/* In a step every query follows one position. */
static void follow_lists(walk *w) {
    const hd_graph_lists *own = &w->b->a->lists;
    bool moved = true;
    for (int step = 0; step < MAX_STEPS && moved; step++) {
        moved = false;
        for (int r = 0; r < w->n_queries; r++) {
            int32_t position = choose_position(w, r);
            for (int32_t c = 0; c < own->k && position >= 0; c++) {
                int32_t other =
                    hd_graph_entry_position(own->entries[(int64_t)position * own->k + c]);
                if (other < own->n)
                    add_position(w, other);
            }
            moved = moved || position >= 0;
        }
        if (w->count > 0)
            compare_next(w);
    }
}

/* Queries in the order of the leaves of the last tree. */
static huddle_status walk_queries(void *argument, hd_chunk chunk) {
    query_batch *b = argument;
    const hd_graph_ordered_points *x = &b->a->points;
    int64_t room = b->a->forest.capacity + GROUP, count = b->offsets[b->a->forest.leaves];
    float *panels = b->panels + chunk.worker * room * x->d;
    float *base = b->base + chunk.worker * room;
    walk w = {.b = b, .columns = panels + HD_GRAPH_PANEL * x->d};
    double scale2 = follow_ratio * follow_ratio * x->packing.scale * x->packing.scale;
    w.seen = b->seen + chunk.worker * SEEN;
    for (int64_t group = chunk.begin; group < chunk.end; group++) {
        int64_t first = group * HD_GRAPH_TILE_ROWS, rest = count - first;
        w.queries = b->order + first;
        w.n_queries = rest < HD_GRAPH_TILE_ROWS ? (int)rest : HD_GRAPH_TILE_ROWS;
        for (int r = 0; r < w.n_queries; r++) {
            double limit =
                scale2 * b->search->distance2[(w.queries[r] + 1) * (int64_t)b->search->k - 1];
            w.limits[r] = limit < (double)FLT_MAX ? (float)limit : FLT_MAX;
        }
        memset(w.seen, -1, SEEN * sizeof *w.seen);
        w.rows = hd_graph_ordered_points_pack(&b->queries, w.queries, w.n_queries, panels, base);
        w.rows.padded = HD_GRAPH_TILE_ROWS; /* of a tile of columns */
        follow_lists(&w);
        for (int r = 0; r < w.n_queries; r++)
            hd_graph_lists_verify(&b->lists, w.queries[r], x, w.queries[r], b->search);
        atomic_fetch_add(&b->search->n_distances, w.n_queries * b->lists.k);
    }
    return HUDDLE_OK;
}

/* ---- both ---------------------------------------------------------------------------------- */

huddle_status hd_graph_approximation_continue(huddle_context *context,
                                              const hd_graph_approximation *a, const bool *near,
                                              hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    query_batch b = {.a = a, .search = search, .near = near};
    int64_t n = search->query->n, room = hd_workers(context) * (a->forest.capacity + GROUP);
    TRY(hd_graph_ordered_points_new(context, search->query, a->search->reach, &b.queries));
    TRY(hd_graph_lists_new(n, a->lists.k, &b.lists));
    ALLOC(b.offsets, a->forest.leaves + 1);
    ALLOC(b.order, n);
    ALLOC(b.leaf, n);
    /* Cleared: the kernel reads all columns. */
    ALLOC_ZERO(b.panels, room * a->points.d);
    ALLOC(b.base, room);
    ALLOC(b.tau, room);
    ALLOC(b.seen, (int64_t)hd_workers(context) * SEEN);
    for (b.tree = 0; b.tree < HD_GRAPH_KEPT_TREES; b.tree++) {
        TRY(hd_parallel(context, NULL, n, QUERIES_PER_CHUNK, find_leaves, &b));
        sort_queries(&b);
        TRY(hd_parallel(context, NULL, a->forest.leaves, 1, compare_leaves, &b));
    }
    TRY(hd_parallel(context, NULL, hd_chunks(b.offsets[a->forest.leaves], HD_GRAPH_TILE_ROWS),
                    GROUPS_PER_CHUNK, walk_queries, &b));
done:
    hd_graph_ordered_points_free(&b.queries);
    hd_graph_lists_free(&b.lists);
    FREE(b.offsets, b.order, b.leaf, b.panels, b.base, b.tau, b.seen);
    return status;
}
