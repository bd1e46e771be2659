/* The search among sparse rows on several processes: queries travel round the ring (ring.h), every
 * process answers for its own rows, and the answers are merged into the lists on the way. */
#include "base/check.h"
#include "base/slabs.h"
#include "graph/ring.h"
#include "graph/search.h"

#include <string.h>

typedef struct sparse_search {
    huddle_context *context;
    const huddle_points *train, *query;
    bool cosine;
    int64_t first; /* the number of the first training row */
    hd_graph_search *search;
} sparse_search;

/* ---- rows as bytes ------------------------------------------------------------------------- */

/* Offsets, columns, values. */
static int64_t measure_queries(const void *argument, int64_t begin, int64_t end) {
    const huddle_points *x = ((const sparse_search *)argument)->query;
    int64_t entries = x->n > 0 ? x->offsets[end] - x->offsets[begin] : 0;
    return (end - begin + 1) * (int64_t)sizeof *x->offsets +
           entries * (int64_t)(sizeof *x->columns + sizeof *x->values);
}

static huddle_points points_in(const char *bytes, int64_t n, int64_t d) {
    int64_t *offsets = (int64_t *)bytes;
    int32_t *columns = (int32_t *)(offsets + n + 1);
    void *values = columns + offsets[n];
    return (huddle_points){
        .n = n, .d = d, .offsets = offsets, .columns = columns, .values = values};
}

static void pack_queries(const void *argument, int64_t begin, int64_t end, char *bytes) {
    const huddle_points *x = ((const sparse_search *)argument)->query;
    int64_t *offsets = (int64_t *)bytes, n = end - begin;
    offsets[0] = 0;
    if (n == 0)
        return;
    for (int64_t i = 0; i < n; i++)
        offsets[i + 1] = x->offsets[begin + i + 1] - x->offsets[begin];
    huddle_points to = points_in(bytes, n, x->d);
    memcpy(to.columns, x->columns + x->offsets[begin], (size_t)offsets[n] * sizeof *to.columns);
    memcpy(to.values, x->values + x->offsets[begin], (size_t)offsets[n] * sizeof *to.values);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Searches the queries among the rows of this process, and merges what is found into lists of k.
 * The sparse search cannot continue lists, so that it makes its own first. */
static huddle_status merge_lists(sparse_search *p, const huddle_points *query, int32_t *index,
                                 double *distance2) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search own = {.self = query == p->train};
    int64_t others = p->train->n - own.self;
    int32_t k = p->search->k;
    own.k = others < k ? (int32_t)others : k;
    if (own.k <= 0 || query->n == 0)
        return status;
    ALLOC(own.index, query->n * own.k);
    ALLOC(own.distance2, query->n * own.k);
    TRY(hd_graph_search_sparse(p->context, p->train, query, p->cosine, &own));
    for (int64_t e = 0; e < query->n * own.k; e++) {
        int64_t list = e / own.k * k;
        hd_graph_list_insert(distance2 + list, index + list, k, own.distance2[e],
                             (int32_t)(p->first + own.index[e]));
    }
    atomic_fetch_add(&p->search->n_distances, atomic_load(&own.n_distances));
done:
    FREE(own.index, own.distance2);
    return status;
}

static huddle_status compare_queries(void *argument, const hd_graph_block *block) {
    sparse_search *p = argument;
    huddle_points query = points_in(block->bytes, block->n, p->train->d);
    return merge_lists(p, &query, block->index, block->distance2);
}

huddle_status hd_graph_search_sparse_distributed(huddle_context *context,
                                                 const huddle_points *train,
                                                 const huddle_points *query, bool cosine,
                                                 hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    sparse_search p = {context, train, query, cosine, 0, search};
    hd_graph_ring ring = {.n = query->n,
                          .k = search->k,
                          .measure = measure_queries,
                          .pack = pack_queries,
                          .index = search->index,
                          .distance2 = search->distance2,
                          .compare = compare_queries,
                          .argument = &p};
    hd_slab slab;
    TRY(hd_slab_locate(context, train->n, &slab));
    p.first = slab.first;
    hd_graph_search_clear(search, 0, query->n);
    TRY_ALONE(context, merge_lists(&p, query, search->index, search->distance2));
    TRY(hd_graph_ring_run(context, &ring));
done:
    return status;
}
