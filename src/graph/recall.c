/* The recall of approximate lists, estimated on random queries that are also answered exactly.
 *
 * The k-th distance of a query's list bounds that of its true k-th neighbour, hence the points
 * within this distance contain the true neighbours. Tiles find them, with the bound on rounding of
 * panels.h, and their distances are computed in double. A returned neighbour is counted as found if
 * it is as near as the true k-th neighbour: of points at equal distance any may be returned.
 *
 * The confidence interval (95 %) is that of Wilson (JASA 1927), which keeps to [0, 1] and has a
 * width also if all neighbours were found. Its number of observations is the number of queries
 * times a factor between 1 and k: neighbours of one query are found or missed together, more or
 * less, and the variance of the share found between queries shows how much (the design effect of
 * cluster samples: Kish, Survey Sampling, 1965). */
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "graph/approximate.h"

#include <math.h>

enum {
    QUERIES = 500,   /* half a width of .003 at a recall of .995 and k = 5 */
    BYTES = 1 << 18, /* of the points that are packed at a time: they stay in the cache */
};

static const double z = 1.959963984540054; /* the normal quantile of .975 */

/* The stream of the sample; trees use streams from 2^40 on. */
static const uint64_t sample_stream = 7;

int64_t hd_graph_sample_size(int64_t n) {
    return n < QUERIES ? n : QUERIES;
}

void hd_graph_sample_draw(uint64_t seed, int64_t n, int64_t *rows) {
    hd_rng rng = hd_rng_stream(seed, sample_stream);
    hd_rng_sample(&rng, n, hd_graph_sample_size(n), rows);
}

huddle_status hd_graph_sample_new(const hd_graph_ordered_points *points, uint64_t seed,
                                  hd_graph_sample *sample) {
    huddle_status status = HUDDLE_OK;
    int64_t *drawn = NULL;
    *sample = (hd_graph_sample){.count = hd_graph_sample_size(points->n)};
    ALLOC(drawn, sample->count);
    ALLOC(sample->position, sample->count);
    ALLOC(sample->row, sample->count);
    hd_graph_sample_draw(seed, points->n, drawn);
    for (int64_t q = 0; q < sample->count; q++) {
        sample->position[q] = (int32_t)drawn[q];
        sample->row[q] = points->order[drawn[q]];
    }
done:
    huddle_free(drawn);
    return status;
}

void hd_graph_sample_free(hd_graph_sample *sample) {
    FREE(sample->row, sample->position, sample->kth2);
    *sample = (hd_graph_sample){0};
}

/* ---- exact answers ------------------------------------------------------------------------- */

typedef struct truth {
    const hd_graph_ordered_points *points;
    const hd_graph_search *search;
    const hd_graph_sample *sample;
    int32_t *index;    /* sample x k: the true neighbours */
    double *distance2; /* likewise */
    hd_graph_panels queries;
    float *tau;          /* of the queries */
    atomic_flag *locked; /* likewise */
    int64_t columns;     /* points packed at a time */
    float *panels;       /* workers x columns x d */
    float *base;         /* workers x columns */
    int32_t *positions;  /* workers x columns */
} truth;

/* What a hit needs to know. */
typedef struct block {
    truth *t;
    int64_t first; /* the position of column 0 */
} block;

/* Enters the distance of a pair into the list of the query. The kernel only proposes the pair; the
 * function that computes the distance is that of all lists, so that equal distances have equal bits
 * and can be compared with <=. Threads have different points but the same queries, hence a lock for
 * each list. Its content does not depend on the order of insertion. */
static void insert_distance(void *argument, int64_t q, int64_t column, float value) {
    const block *b = argument;
    truth *t = b->t;
    int32_t row = t->points->order[b->first + column], k = t->search->k;
    (void)value;
    if (row == t->sample->row[q])
        return;
    double distance2 = hd_graph_rows_distance2(t->search->query, t->sample->row[q],
                                               t->search->train, row, INFINITY);
    while (atomic_flag_test_and_set_explicit(&t->locked[q], memory_order_acquire))
        ;
    hd_graph_list_insert(t->distance2 + q * k, t->index + q * k, k, distance2, row);
    atomic_flag_clear_explicit(&t->locked[q], memory_order_release);
}

/* Compares all queries with a chunk of the points. */
static huddle_status sweep_points(void *argument, hd_chunk chunk) {
    truth *t = argument;
    int64_t at = chunk.worker * t->columns, size = chunk.end - chunk.begin, d = t->points->d;
    block b = {.t = t, .first = chunk.begin};
    for (int64_t c = 0; c < size; c++)
        t->positions[at + c] = (int32_t)(chunk.begin + c);
    hd_graph_panels points = hd_graph_ordered_points_pack(t->points, t->positions + at, size,
                                                          t->panels + at * d, t->base + at);
    hd_graph_tiles tiles = {.rows = &t->queries,
                            .columns = &points,
                            .kernel = t->points->kernel,
                            .tau = t->tau,
                            .hit = insert_distance,
                            .argument = &b};
    hd_graph_tiles_sweep(&tiles, 0, t->queries.padded);
    return HUDDLE_OK;
}

/* Packs the queries and sets the bounds of their values. */
static huddle_status pack_queries(truth *t) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_ordered_points *x = t->points;
    int64_t count = t->sample->count, tile = HD_GRAPH_TILE_COLUMNS;
    int64_t padded = hd_chunks(count, tile) * tile;
    ALLOC_ZERO(t->queries.values, padded * x->d);
    ALLOC(t->queries.base, padded);
    ALLOC(t->tau, padded);
    ALLOC(t->locked, count);
    t->queries = hd_graph_ordered_points_pack(x, t->sample->position, count, t->queries.values,
                                              t->queries.base);
    for (int64_t q = 0; q < padded; q++) {
        t->tau[q] = -INFINITY;
        if (q >= count)
            continue;
        atomic_flag_clear(&t->locked[q]);
        const float *row = hd_graph_ordered_row(x, t->sample->position[q]);
        double norm2 = 0, kth2 = hd_graph_search_last(t->search, t->sample->row[q]);
        for (int64_t j = 0; j < x->d; j++)
            norm2 += x->packing.scale * (double)row[j] * x->packing.scale * (double)row[j];
        t->tau[q] = hd_graph_packing_tau(&x->packing, sqrt(norm2), kth2);
    }
done:
    return status;
}

huddle_status hd_graph_sample_answer(huddle_context *context, const hd_graph_ordered_points *points,
                                     const hd_graph_search *search, hd_graph_sample *sample) {
    huddle_status status = HUDDLE_OK;
    truth t = {.points = points, .search = search, .sample = sample};
    int64_t row = (int64_t)sizeof(float) * points->d, tile = HD_GRAPH_TILE_COLUMNS;
    int64_t workers = hd_workers(context), k = search->k;
    t.columns = (BYTES / row / tile + 1) * tile;
    TRY(pack_queries(&t));
    ALLOC(t.index, sample->count * k);
    ALLOC(t.distance2, sample->count * k);
    for (int64_t e = 0; e < sample->count * k; e++) {
        t.index[e] = INT32_MAX;
        t.distance2[e] = INFINITY;
    }
    ALLOC_ZERO(t.panels, workers * t.columns * points->d);
    ALLOC(t.base, workers * t.columns);
    ALLOC(t.positions, workers * t.columns);
    TRY(hd_parallel(context, NULL, points->n, t.columns, sweep_points, &t));
    ALLOC(sample->kth2, sample->count);
    for (int64_t q = 0; q < sample->count; q++)
        sample->kth2[q] = t.distance2[(q + 1) * k - 1];
done:
    FREE(t.index, t.distance2, t.queries.values, t.queries.base, t.tau, t.panels, t.base,
         t.positions);
    huddle_free((void *)t.locked);
    return status;
}

/* ---- the estimate -------------------------------------------------------------------------- */

/* Wilson's interval (docs/method.md, "Approximate neighbours") for m observations, the mean of
 * which has the variance r (1 - r) / m. m is chosen so that this is s^2 / count, the variance of
 * the mean share over the queries, limited to count .. count k. */
hd_graph_recall hd_graph_recall_interval(double sum, double sum2, double count, double k) {
    double share = sum / count, max_variance = share * (1 - share);
    double variance = count > 1 ? (sum2 - sum * share) / (count - 1) : 0;
    /* Of all shares in [0, 1] of this mean, those of all or nothing vary most. */
    double factor = variance > 0 ? fmin(k, fmax(1, max_variance / variance)) : 1;
    double m = count * factor, centre = (share + z * z / (2 * m)) / (1 + z * z / m);
    double half = z / (1 + z * z / m) * sqrt(max_variance / m + z * z / (4 * m * m));
    /* The ends are 0 and 1 there, except for rounding. */
    return (hd_graph_recall){share, share > 0 ? centre - half : 0, share < 1 ? centre + half : 1};
}

/* An entry is a true neighbour if it is not farther than the k-th one. */
huddle_status hd_graph_sample_measure(huddle_context *context, const hd_graph_sample *sample,
                                      const hd_graph_search *search, hd_graph_recall *recall) {
    huddle_status status = HUDDLE_OK;
    int32_t k = search->k;
    double sums[3] = {0, 0, (double)sample->count};
    for (int64_t q = 0; q < sample->count; q++) {
        const double *list = search->distance2 + (int64_t)sample->row[q] * k;
        int32_t found = 0;
        for (int32_t c = 0; c < k; c++)
            found += list[c] <= sample->kth2[q];
        double share = (double)found / (double)k;
        sums[0] += share;
        sums[1] += share * share;
    }
    TRY(hd_reduce_sum(context, 3, sums));
    *recall = hd_graph_recall_interval(sums[0], sums[1], sums[2], (double)k);
done:
    return status;
}
