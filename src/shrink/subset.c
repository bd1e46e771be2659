#include "shrink/subset.h"

#include "base/check.h"

#include <string.h>

/* Columns that are moved at a time: the buffers of a move are this wide, not as wide as F. */
enum { SLICE = 4 };

static int64_t slice_width(int64_t cols, int64_t from) {
    return cols - from < SLICE ? cols - from : SLICE;
}

/* ---- the graph of the subset --------------------------------------------------------------- */

/* Both directions of edges of positive weight, row by row, by the key of the other end. */
typedef struct entries {
    int64_t *offsets;
    int32_t *edge;
    int64_t *key;
} entries;

/* Inserts an entry into a row that ends at *end so far. Keys arrive in two ascending runs per row,
 * those of own rows and those of ghosts, so that few entries are moved. */
static void insert_entry(entries *l, int64_t row, int64_t *end, int64_t key, int32_t edge) {
    int64_t at = (*end)++;
    for (; at > l->offsets[row] && l->key[at - 1] > key; at--) {
        l->key[at] = l->key[at - 1];
        l->edge[at] = l->edge[at - 1];
    }
    l->key[at] = key;
    l->edge[at] = edge;
}

/* The entries of n rows: row place[v] is that of vertex v, none if that is negative; place NULL:
 * row v. key: of every vertex, ghosts included. The first pass counts and the second one fills. An
 * edge to a row of another process is an entry of the own row only. Edges of weight 0 may lead out
 * of the component, and exert no force. */
static huddle_status list_entries(const hd_shrink_edges *edges, int64_t n, const int32_t *place,
                                  const int64_t *key, entries *l) {
    huddle_status status = HUDDLE_OK;
    int64_t *at = NULL;
    *l = (entries){0};
    ALLOC_ZERO(l->offsets, n + 1);
    ALLOC(at, n);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t e = 0; e < edges->count; e++)
            for (int end = 0; end < (e < edges->own ? 2 : 1) && edges->weight[e] > 0; end++) {
                int32_t v = end == 0 ? edges->i[e] : edges->j[e];
                int32_t u = end == 0 ? edges->j[e] : edges->i[e];
                int64_t row = place == NULL ? v : place[v];
                if (row < 0)
                    continue;
                if (pass == 0)
                    l->offsets[row + 1]++;
                else
                    insert_entry(l, row, &at[row], key[u], (int32_t)e);
            }
        for (int64_t i = 0; i < n && pass == 0; i++) {
            l->offsets[i + 1] += l->offsets[i];
            at[i] = l->offsets[i];
        }
        if (pass == 0) {
            ALLOC(l->edge, l->offsets[n]);
            ALLOC(l->key, l->offsets[n]);
        }
    }
done:
    huddle_free(at);
    return status;
}

/* Rows and graph of the subset, before they are moved. The numbers of rows that were not chosen
 * mean nothing, but no entry has them: components are taken as a whole, and no edge leads from one
 * to another. */
static huddle_status take_rows(hd_shrink_subset *u, const bool *chosen) {
    huddle_status status = HUDDLE_OK;
    const hd_shrink_edges *edges = u->from->edges;
    int64_t n = u->from->f->rows, *number = NULL;
    int32_t *place = NULL;
    entries list = {0};
    hd_slab slab;
    ALLOC(u->row, n);
    ALLOC(place, n);
    ALLOC(number, n + edges->halo.ghosts);
    for (int64_t v = 0; v < n; v++) {
        place[v] = chosen[v] ? (int32_t)u->n : -1;
        if (chosen[v])
            u->row[u->n++] = (int32_t)v;
    }
    TRY(hd_slab_locate(u->from->context, u->n, &slab));
    for (int64_t v = 0; v < n; v++)
        number[v] = slab.first + place[v];
    TRY(hd_halo_fetch(&edges->halo, number, sizeof *number));
    TRY(list_entries(edges, u->n, place, number, &list));
    TRY(huddle_csr_new(u->n, slab.total, list.offsets[u->n], &u->graph));
    memcpy(u->graph.offsets, list.offsets, (size_t)(u->n + 1) * sizeof *list.offsets);
    for (int64_t at = 0; at < list.offsets[u->n]; at++) {
        u->graph.columns[at] = (int32_t)list.key[at];
        u->graph.values[at] = edges->weight[list.edge[at]];
    }
    u->edge = list.edge;
    list.edge = NULL;
done:
    FREE(number, place, list.offsets, list.edge, list.key);
    return status;
}

/* ---- moving rows --------------------------------------------------------------------------- */

/* Slices are packed before they are exchanged: an exchange moves whole rows of a fixed size. */
static huddle_status send_dense(const hd_shrink_subset *u, const huddle_dense *from,
                                huddle_dense *to) {
    huddle_status status = HUDDLE_OK;
    double *own = NULL, *came = NULL;
    TRY(huddle_dense_new(u->moved.moved, from->cols, to));
    ALLOC(own, u->n * SLICE);
    ALLOC(came, u->moved.moved * SLICE);
    for (int64_t first = 0; first < from->cols; first += SLICE) {
        int64_t width = slice_width(from->cols, first);
        size_t size = (size_t)width * sizeof *own;
        for (int64_t k = 0; k < u->n; k++)
            memcpy(own + k * width, from->values + u->row[k] * from->stride + first, size);
        TRY(hd_arrange_rows(&u->moved, own, size, came));
        for (int64_t k = 0; k < u->moved.moved; k++)
            memcpy(to->values + k * to->stride + first, came + k * width, size);
    }
done:
    FREE(own, came);
    return status;
}

/* Rows of g that are not in the subset keep what the solves of other subsets have put there. */
huddle_status hd_shrink_subset_return(const hd_shrink_subset *u, const huddle_dense *rows,
                                      huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    double *own = NULL, *moved = NULL;
    ALLOC(own, u->n * SLICE);
    ALLOC(moved, u->moved.moved * SLICE);
    for (int64_t first = 0; first < g->cols; first += SLICE) {
        int64_t width = slice_width(g->cols, first);
        size_t size = (size_t)width * sizeof *own;
        for (int64_t k = 0; k < u->moved.moved; k++)
            memcpy(moved + k * width, rows->values + k * rows->stride + first, size);
        TRY(hd_arrange_back(&u->moved, moved, size, own));
        for (int64_t k = 0; k < u->n; k++)
            memcpy(g->values + u->row[k] * g->stride + first, own + k * width, size);
    }
done:
    FREE(own, moved);
    return status;
}

/* Original numbers and weights of the rows. The numbers name groups after the move (distributed.c),
 * and are the same whichever process has the row. */
static huddle_status send_facts(hd_shrink_subset *u) {
    huddle_status status = HUDDLE_OK;
    const double *weights = u->from->weights;
    int64_t *numbers = NULL;
    double *own = NULL;
    hd_slab slab;
    TRY(hd_slab_locate(u->from->context, u->from->f->rows, &slab));
    ALLOC(numbers, u->n);
    ALLOC(u->origin, u->moved.moved);
    for (int64_t k = 0; k < u->n; k++)
        numbers[k] = slab.first + u->row[k];
    TRY(hd_arrange_rows(&u->moved, numbers, sizeof *numbers, u->origin));
    if (weights == NULL)
        goto done;
    ALLOC(own, u->n);
    ALLOC(u->weights, u->moved.moved);
    for (int64_t k = 0; k < u->n; k++)
        own[k] = weights[u->row[k]];
    TRY(hd_arrange_rows(&u->moved, own, sizeof *own, u->weights));
done:
    FREE(numbers, own);
    return status;
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* Moves the graph to the owners. Components are whole there, so that rows of this process are all
 * it refers to. */
static huddle_status send_whole(hd_shrink_subset *u, const int32_t *component,
                                const int32_t *owner) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = u->from->context;
    huddle_csr *w = &u->moved.graph;
    int32_t *to = NULL;
    hd_slab slab;
    ALLOC(to, u->n);
    for (int64_t k = 0; k < u->n; k++)
        to[k] = owner[component[u->row[k]]];
    TRY(hd_arrange_open(context, &u->graph, to, false, &u->moved));
    TRY(hd_slab_locate(context, u->moved.moved, &slab));
    for (int64_t at = 0; at < w->offsets[w->rows]; at++)
        w->columns[at] -= (int32_t)slab.first;
    w->cols = w->rows;
done:
    huddle_free(to);
    return status;
}

huddle_status hd_shrink_subset_open(const hd_shrink_input *from, const bool *chosen,
                                    const int32_t *component, const int32_t *owner,
                                    const huddle_shrink_options *options, hd_shrink_subset *u) {
    huddle_status status = HUDDLE_OK;
    *u = (hd_shrink_subset){.from = from};
    TRY(take_rows(u, chosen));
    TRY(owner != NULL ? send_whole(u, component, owner)
                      : hd_arrange_open(from->context, &u->graph, NULL, true, &u->moved));
    /* Only the way back of Z needs the entries where they were. */
    if (!options->keep_dual) {
        huddle_csr_free(&u->graph);
        huddle_free(u->edge);
        u->edge = NULL;
    }
    TRY(send_facts(u));
    TRY(send_dense(u, from->f, &u->f));
    if (options->start != NULL)
        TRY(send_dense(u, options->start, &u->start));
done:
    return status;
}

void hd_shrink_subset_drop_rows(hd_shrink_subset *u) {
    huddle_dense_free(&u->f);
    huddle_dense_free(&u->start);
}

void hd_shrink_subset_close(hd_shrink_subset *u) {
    hd_shrink_subset_drop_rows(u);
    hd_arrange_close(&u->moved);
    huddle_csr_free(&u->graph);
    FREE(u->edge, u->row, u->origin, u->weights);
    *u = (hd_shrink_subset){0};
}

/* ---- the dual point ------------------------------------------------------------------------ */

/* z of every entry, from its row to its column: those of an edge point from i to j. The direction
 * of an edge follows the numbers of its ends, which a move may change; from row to column means the
 * same before and after. */
static void orient_entries(const entries *l, int64_t n, const hd_shrink_edges *edges,
                           const huddle_dense *z, int64_t first, int64_t width, double *to) {
    for (int64_t v = 0; v < n; v++)
        for (int64_t at = l->offsets[v]; at < l->offsets[v + 1]; at++) {
            int32_t e = l->edge[at];
            double sign = edges->i[e] == v ? 1 : -1;
            for (int64_t k = 0; k < width; k++)
                to[at * width + k] = sign * z->values[e * z->stride + first + k];
        }
}

/* An edge between two own rows came with both of them, and is taken from its first one. Both have
 * the same numbers but for the sign. */
static void write_edges(const hd_shrink_subset *u, const double *from, int64_t first, int64_t width,
                        huddle_dense *z) {
    const hd_shrink_edges *edges = u->from->edges;
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t at = u->graph.offsets[i]; at < u->graph.offsets[i + 1]; at++)
            if (edges->i[u->edge[at]] == u->row[i])
                memcpy(z->values + u->edge[at] * z->stride + first, from + at * width,
                       (size_t)width * sizeof *from);
}

/* Entries of a moved row are sorted by the numbers before the move, which makes them those of the
 * row in the order in which it had them. */
huddle_status hd_shrink_subset_return_dual(const hd_shrink_subset *u,
                                           const hd_shrink_edges *moved_edges,
                                           const huddle_dense *moved_z, huddle_dense *z) {
    huddle_status status = HUDDLE_OK;
    int64_t n = u->moved.moved, *key = NULL;
    double *data = NULL, *own = NULL;
    entries list = {0};
    ALLOC(key, n + moved_edges->halo.ghosts);
    if (n > 0)
        memcpy(key, u->moved.number, (size_t)n * sizeof *key);
    TRY(hd_halo_fetch(&moved_edges->halo, key, sizeof *key));
    TRY(list_entries(moved_edges, n, NULL, key, &list));
    ALLOC(data, list.offsets[n] * SLICE);
    ALLOC(own, u->graph.offsets[u->n] * SLICE);
    for (int64_t first = 0; first < z->cols; first += SLICE) {
        int64_t width = slice_width(z->cols, first);
        orient_entries(&list, n, moved_edges, moved_z, first, width, data);
        TRY(hd_arrange_entries_back(&u->moved, list.offsets, data, (size_t)width * sizeof *data,
                                    u->graph.offsets, own));
        write_edges(u, own, first, width, z);
    }
done:
    FREE(key, data, own, list.offsets, list.edge, list.key);
    return status;
}
