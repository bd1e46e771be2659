/* A guest, a query of another process, is compared with the points of its leaf in each tree that
 * was kept, by tiles and together with the other guests of that leaf. From the nearest of them it
 * follows the lists of the points (best first, with a list as long as theirs), until no list leads
 * nearer. Distances are those of approximate.h, so that a point that is met twice enters a list
 * once; those of the points found are computed in double. */
#include "graph/guests.h"

#include "base/check.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    GUESTS_PER_CHUNK = 256,
    GROUPS_PER_CHUNK = 32,
    GROUP = 96,       /* guests compared with a leaf at a time, a multiple of the panel */
    MAX_STEPS = 1000, /* from list to list: never that many */
    SEEN = 4096,      /* places that guests remember, a power of two */
    COLUMNS = HD_GRAPH_TILE_COLUMNS,
};

/* A point farther than so many times the guest's k-th distance so far is not followed: its
 * neighbours, which are about as near to it, are hardly nearer than the k-th. */
static const double follow_ratio = 2;

typedef struct hosting {
    const hd_graph_approximation *a;
    hd_graph_search *search;
    const bool *near;
    hd_graph_places guests;
    hd_graph_lists lists; /* of places, for each guest */
    int tree;
    int64_t *begins; /* leaves + 1: where the guests of each leaf begin in */
    int32_t *order;
    int32_t *leaf;     /* of each guest; -1: left out */
    float *panels;     /* workers x (capacity + GROUP) x d */
    float *base, *tau; /* workers x (capacity + GROUP) */
    int32_t *seen;     /* workers x SEEN */
} hosting;

/* ---- leaves -------------------------------------------------------------------------------- */

static huddle_status find_leaves(void *argument, hd_chunk chunk) {
    const hosting *h = argument;
    const hd_graph_approximation *a = h->a;
    for (int64_t g = chunk.begin; g < chunk.end; g++)
        h->leaf[g] = h->near != NULL && !h->near[g]
                         ? -1
                         : (int32_t)hd_graph_forest_find(&a->forest, a->routes[h->tree],
                                                         hd_graph_place_row(&h->guests, g));
    return HUDDLE_OK;
}

/* Guests by leaf, in their order. */
static void sort_guests(const hosting *h) {
    int64_t leaves = h->a->forest.leaves;
    memset(h->begins, 0, (size_t)(leaves + 1) * sizeof *h->begins);
    for (int64_t g = 0; g < h->guests.n; g++)
        if (h->leaf[g] >= 0)
            h->begins[h->leaf[g] + 1]++;
    for (int64_t l = 0; l < leaves; l++)
        h->begins[l + 1] += h->begins[l];
    for (int64_t g = 0; g < h->guests.n; g++)
        if (h->leaf[g] >= 0)
            h->order[h->begins[h->leaf[g]]++] = (int32_t)g;
    for (int64_t l = leaves; l > 0; l--)
        h->begins[l] = h->begins[l - 1];
    h->begins[0] = 0;
}

/* Guests and points of a leaf: row i of the tiles is guest guests[i], column j is places[j]. */
typedef struct meeting {
    hd_graph_lists *lists;
    const int32_t *guests, *places;
    float *tau;
} meeting;

/* No lock: a guest is in one leaf of a tree. */
static void insert_point(void *argument, int64_t i, int64_t j, float value) {
    const meeting *m = argument;
    int32_t g = m->guests[i];
    if (value <= m->tau[i] && hd_graph_lists_insert(m->lists, g, value, m->places[j]))
        m->tau[i] = atomic_load_explicit(&m->lists->tau[g], memory_order_relaxed);
}

/* Packs points into panels that begin at `at` of the worker's. */
static hd_graph_panels pack_points(const hosting *h, const hd_graph_places *x, const int32_t *place,
                                   int64_t count, int64_t at) {
    int64_t tile = HD_GRAPH_TILE_COLUMNS;
    hd_graph_panels panels = {.n = count,
                              .padded = hd_chunks(count, tile) * tile,
                              .d = x->d,
                              .values = h->panels + at * x->d,
                              .base = h->base + at};
    hd_graph_places_pack(x, place, count, panels.values);
    for (int64_t p = 0; p < panels.padded; p++)
        panels.base[p] = p < count ? 0 : INFINITY;
    return panels;
}

static huddle_status meet_leaves(void *argument, hd_chunk chunk) {
    hosting *h = argument;
    const hd_graph_forest *f = &h->a->forest;
    int64_t at = chunk.worker * (f->capacity + GROUP);
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++) {
        if (h->begins[leaf] == h->begins[leaf + 1])
            continue;
        int64_t first = hd_graph_forest_begin(f, leaf);
        const int32_t *places = h->a->orders[h->tree] + first;
        hd_graph_panels points =
            pack_points(h, &h->a->places, places, hd_graph_forest_begin(f, leaf + 1) - first, at);
        for (int64_t g = h->begins[leaf]; g < h->begins[leaf + 1]; g += GROUP) {
            int64_t rest = h->begins[leaf + 1] - g, count = rest < GROUP ? rest : GROUP;
            meeting m = {&h->lists, h->order + g, places, h->tau + at};
            hd_graph_panels rows = pack_points(h, &h->guests, m.guests, count, at + f->capacity);
            hd_graph_tiles tiles = {.rows = &rows,
                                    .columns = &points,
                                    .kernel = h->a->places.kernel,
                                    .tau = m.tau,
                                    .hit = insert_point,
                                    .argument = &m};
            for (int64_t i = 0; i < rows.padded; i++)
                m.tau[i] = i < count ? atomic_load_explicit(&h->lists.tau[m.guests[i]],
                                                            memory_order_relaxed)
                                     : -INFINITY;
            hd_graph_tiles_sweep(&tiles, 0, rows.padded);
        }
    }
    return HUDDLE_OK;
}

/* ---- from list to list --------------------------------------------------------------------- */

/* Guests of one leaf, as many as a tile has rows, walk together: each is compared with the points
 * that any of them comes to. */
typedef struct walk {
    hosting *h;
    const int32_t *guests;
    int n_guests;
    float limits[HD_GRAPH_TILE_ROWS]; /* beyond which a guest follows nothing */
    float *panel, *columns;           /* of one panel and of one tile */
    int32_t *seen;
    int32_t next[COLUMNS];
    int count;
} walk;

/* Compares the guests with the places that wait. */
static void compare_next(walk *w) {
    float out[HD_GRAPH_TILE_ROWS * COLUMNS], base[COLUMNS], tau[COLUMNS];
    float row_base[HD_GRAPH_TILE_ROWS] = {0}, row_tau[HD_GRAPH_TILE_ROWS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    const hd_graph_places *x = &w->h->a->places;
    hd_graph_lists *l = &w->h->lists;
    hd_graph_tile t = {.rows = w->panel,
                       .columns = w->columns,
                       .d = x->d,
                       .panel = HD_GRAPH_PANEL * x->d,
                       .row_base = row_base,
                       .column_base = base,
                       .row_tau = row_tau,
                       .column_tau = tau,
                       .out = out,
                       .hits = hits};
    for (int r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        row_tau[r] = r < w->n_guests
                         ? atomic_load_explicit(&l->tau[w->guests[r]], memory_order_relaxed)
                         : -INFINITY;
    for (int c = 0; c < COLUMNS; c++) {
        base[c] = c < w->count ? 0 : INFINITY;
        tau[c] = -INFINITY;
    }
    hd_graph_places_pack(x, w->next, w->count, w->columns);
    if (x->kernel(&t))
        for (int r = 0; r < w->n_guests; r++)
            for (uint64_t left = hits[r]; left != 0; left &= left - 1) {
                int c = __builtin_ctzll(left);
                hd_graph_lists_insert(l, w->guests[r], out[r * COLUMNS + c], w->next[c]);
            }
    w->count = 0;
}

/* The memory forgets a place for another one of the same hash, which costs a comparison. */
static void add_place(walk *w, int32_t place) {
    uint32_t at = (uint32_t)place * 2654435761u >> 16 & (SEEN - 1);
    if (w->seen[at] == place)
        return;
    w->seen[at] = place;
    w->next[w->count++] = place;
    if (w->count == COLUMNS)
        compare_next(w);
}

/* The nearest place of a guest that was not followed, or -1. */
static int32_t choose_place(const walk *w, int r) {
    const hd_graph_lists *l = &w->h->lists;
    uint64_t *list = l->entries + (int64_t)w->guests[r] * l->k;
    for (int32_t c = 0; c < l->k; c++) {
        int32_t place = hd_graph_entry_place(list[c]);
        if (place >= w->h->a->places.n || hd_graph_entry_value(list[c]) > w->limits[r])
            return -1;
        if (list[c] & 1) {
            list[c] &= ~(uint64_t)1;
            return place;
        }
    }
    return -1;
}

/* In a step every guest follows one place. */
static void follow_lists(walk *w) {
    const hd_graph_lists *own = &w->h->a->lists;
    bool moved = true;
    for (int step = 0; step < MAX_STEPS && moved; step++) {
        moved = false;
        for (int r = 0; r < w->n_guests; r++) {
            int32_t place = choose_place(w, r);
            for (int32_t c = 0; c < own->k && place >= 0; c++) {
                int32_t other = hd_graph_entry_place(own->entries[(int64_t)place * own->k + c]);
                if (other < own->n)
                    add_place(w, other);
            }
            moved = moved || place >= 0;
        }
        if (w->count > 0)
            compare_next(w);
    }
}

/* The distances of what was found, in double. */
static void finish_list(const hosting *h, int64_t guest) {
    hd_graph_search *s = h->search;
    double *distance2 = s->distance2 + guest * s->k;
    int32_t *index = s->index + guest * s->k;
    for (int32_t c = 0; c < h->lists.k; c++) {
        int32_t place = hd_graph_entry_place(h->lists.entries[guest * h->lists.k + c]);
        if (place >= h->a->places.n)
            break;
        int32_t j = h->a->places.order[place];
        hd_graph_list_insert(
            distance2, index, s->k,
            hd_graph_rows_distance2(s->query, guest, s->train, j, distance2[s->k - 1]),
            hd_graph_search_name(s, j));
    }
}

/* Guests in the order of the leaves of the last tree. */
static huddle_status walk_guests(void *argument, hd_chunk chunk) {
    hosting *h = argument;
    const hd_graph_places *x = &h->a->places;
    int64_t room = h->a->forest.capacity + GROUP, count = h->begins[h->a->forest.leaves];
    float *panels = h->panels + chunk.worker * room * x->d;
    walk w = {.h = h, .panel = panels, .columns = panels + HD_GRAPH_PANEL * x->d};
    double scale2 = follow_ratio * follow_ratio * x->packing.scale * x->packing.scale;
    w.seen = h->seen + chunk.worker * SEEN;
    for (int64_t group = chunk.begin; group < chunk.end; group++) {
        int64_t first = group * HD_GRAPH_TILE_ROWS, rest = count - first;
        w.guests = h->order + first;
        w.n_guests = rest < HD_GRAPH_TILE_ROWS ? (int)rest : HD_GRAPH_TILE_ROWS;
        for (int r = 0; r < w.n_guests; r++) {
            double limit =
                scale2 * h->search->distance2[(w.guests[r] + 1) * (int64_t)h->search->k - 1];
            w.limits[r] = limit < (double)FLT_MAX ? (float)limit : FLT_MAX;
        }
        memset(w.seen, -1, SEEN * sizeof *w.seen);
        hd_graph_places_pack(&h->guests, w.guests, w.n_guests, w.panel);
        follow_lists(&w);
        for (int r = 0; r < w.n_guests; r++)
            finish_list(h, w.guests[r]);
        atomic_fetch_add(&h->search->n_distances, w.n_guests * h->lists.k);
    }
    return HUDDLE_OK;
}

/* ---- both ---------------------------------------------------------------------------------- */

huddle_status hd_graph_guests_continue(huddle_context *context, const hd_graph_approximation *a,
                                       const bool *near, hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    hosting h = {.a = a, .search = search, .near = near};
    int64_t n = search->query->n, room = hd_workers(context) * (a->forest.capacity + GROUP);
    TRY(hd_graph_places_new(context, search->query, a->search->reach, &h.guests));
    TRY(hd_graph_lists_new(n, a->lists.k, &h.lists));
    ALLOC(h.begins, a->forest.leaves + 1);
    ALLOC(h.order, n);
    ALLOC(h.leaf, n);
    /* Cleared: the kernel reads all columns. */
    ALLOC_ZERO(h.panels, room * a->places.d);
    ALLOC(h.base, room);
    ALLOC(h.tau, room);
    ALLOC(h.seen, (int64_t)hd_workers(context) * SEEN);
    for (h.tree = 0; h.tree < HD_GRAPH_KEPT_TREES; h.tree++) {
        TRY(hd_parallel(context, NULL, n, GUESTS_PER_CHUNK, find_leaves, &h));
        sort_guests(&h);
        TRY(hd_parallel(context, NULL, a->forest.leaves, 1, meet_leaves, &h));
    }
    TRY(hd_parallel(context, NULL, hd_chunks(h.begins[a->forest.leaves], HD_GRAPH_TILE_ROWS),
                    GROUPS_PER_CHUNK, walk_guests, &h));
done:
    hd_graph_places_free(&h.guests);
    hd_graph_lists_free(&h.lists);
    huddle_free(h.begins);
    huddle_free(h.order);
    huddle_free(h.leaf);
    huddle_free(h.panels);
    huddle_free(h.base);
    huddle_free(h.tau);
    huddle_free(h.seen);
    return status;
}
