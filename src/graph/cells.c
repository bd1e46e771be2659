/* Exact search leaf against leaf, for points among themselves.
 *
 * The points are divided into the leaves of a balanced tree (leaves.h). Every leaf is searched by
 * itself: its lists begin with the points of the leaf and of a few leaves beside it; the boxes of
 * all leaves that could contain a neighbour of any of its points are found; and these leaves are
 * compared with it, nearest box first, as long as a box is not farther than the k-th distance of
 * some point. A comparison uses the tiles of brute force on the points whose own distance to the
 * box is small enough. Pairs that the tile does not exclude are compared in double and enter the
 * lists, by the arithmetic of all solvers, so that the lists are those of brute force.
 *
 * Boxes around points of many columns overlap too much to exclude anything. Then the tree and its
 * boxes are made from projections (projection.h), whose distances are lower bounds; the comparison
 * of points uses all columns.
 *
 * The cost is predicted from a sample of leaves, by counts, so that the decision to give up is the
 * same on every machine. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/leaf_points.h"
#include "graph/projection.h"
#include "graph/search.h"
#include "graph/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_LEAVES = 3,        /* compared first, apart from the leaf itself */
    SAMPLE_LEAVES = 64,      /* by which the cost is predicted */
    SAMPLE_COMPARISONS = 16, /* leaves that each of them is compared with: the prediction is within
                                10 % of the cost then (sheets, embeddings, normal points) */
    MAX_RAW_WIDTH = 16,      /* columns of points up to which boxes are made from the points */
    DIRECTIONS = 8,          /* of the projection otherwise: 6 to 16 exclude equally many leaves of
                                1,000,000 x 32 sheets */
    LEAVES_PER_CHUNK = 2,
};

/* Times in multiply-adds of the tiles (`./dev bench graph`): of the end of a pair in a tile, of a
 * distance in double, and of what every point costs in the tree and in packing, of which a part is
 * proportional to the columns. */
static const double pair_cost = 8, full_cost = 2000, point_cost = 20000, column_cost = 500;

/* Leaves are packed again if rounding changes a distance that matters by more than this share, and
 * if that makes the norm of a row so much smaller. */
static const double max_error = 0.05, min_gain = 8;

typedef void (*leaf_bounds_function)(const double *, const double *, const double *, int64_t,
                                     double *);
static const leaf_bounds_function leaf_bounds[] = HD_SIMD_TABLE(hd_graph_leaf_bounds);
static const hd_graph_tile_function tile_kernels[] = HD_SIMD_TABLE(hd_graph_tile_differences);

typedef struct cells {
    huddle_context *context;
    hd_graph_search *search;
    hd_graph_projection projection; /* empty: the boxes are those of the points */
    hd_graph_rows projected;
    const hd_graph_rows *space; /* the rows that the tree divides */
    int64_t width;              /* its columns */
    double position_error;      /* of a row of it */
    double factor;              /* hd_graph_boxes_factor() */
    hd_graph_leaves leaves;
    hd_graph_leaf_points points;
    struct desk *desks; /* one per worker */
    atomic_llong n_pairs, n_full;
} cells;

/* The points of a leaf that are compared with another one. */
typedef struct active_points {
    int32_t row[HD_GRAPH_LEAF]; /* which point of the leaf */
    double norm[HD_GRAPH_LEAF]; /* packed */
    float tau[HD_GRAPH_LEAF];   /* the largest value of the kernel that matters */
} active_points;

/* What a worker needs for the leaf that it searches. */
typedef struct desk {
    int64_t leaf, begin, count;     /* the leaf and its points */
    double *rows;                   /* HD_GRAPH_LEAF x d */
    double *points;                 /* in the space of the boxes, [column][HD_GRAPH_LEAF] */
    double *low, *high;             /* its box */
    double *other_low, *other_high; /* that of the leaf it is compared with */
    double *row;                    /* d: scratch */
    float *panels, *columns;        /* packed rows, and columns if they are packed again */
    hd_graph_near_leaf *near;       /* leaves to compare */
    double worst;                   /* the largest of limits[] */
    int64_t n_pairs, n_full;
    double kth[HD_GRAPH_LEAF];    /* per point: k-th distance in packed units */
    double limits[HD_GRAPH_LEAF]; /* per point: squared distance of the farthest box to compare */
    active_points active;
    bool first[HD_GRAPH_LEAF_GROUP]; /* leaves of the group that were compared already */
} desk;

/* ---- lists --------------------------------------------------------------------------------- */

/* The row number of point r of the leaf. */
static int64_t row_number(const cells *c, const desk *w, int64_t r) {
    return c->leaves.order[w->begin + r];
}

/* Sets the two numbers that depend on the k-th distance of point r: the distance itself, and the
 * largest squared distance, as the kernels of boxes compute it, at which a box can contain a point
 * that enters the list. That is the k-th distance, the error of both positions in the projection,
 * and rounding. */
static void update_limits(const cells *c, desk *w, int64_t r) {
    int64_t last = row_number(c, w, r) * c->search->k + c->search->k - 1;
    double kth = sqrt(c->search->distance2[last]), farthest = kth + 2 * c->position_error;
    w->kth[r] = kth * c->points.scale;
    w->limits[r] = farthest * farthest / c->factor;
}

/* Compares point r of the leaf with row j in double; returns whether the list has changed. Nothing
 * can enter a list of zeros but a smaller number. */
static bool compare_in_full(const cells *c, desk *w, int64_t r, int32_t j) {
    hd_graph_search *s = c->search;
    int64_t i = row_number(c, w, r);
    int32_t *index = s->index + i * s->k;
    double *distance2 = s->distance2 + i * s->k, last = distance2[s->k - 1];
    if ((last == 0 && j > index[s->k - 1]) || hd_graph_search_skips(s, i, j))
        return false;
    w->n_full++;
    double value = hd_graph_rows_distance2(s->query, i, s->train, j, last);
    if (!hd_graph_list_insert(distance2, index, s->k, value, j))
        return false;
    update_limits(c, w, r);
    return true;
}

/* ---- leaf against leaf --------------------------------------------------------------------- */

/* Compares the hits of a tile in double. Rows in memory are scattered, so that all are requested
 * before the first is used. */
static void compare_hits(const cells *c, desk *w, const hd_graph_tile *t, int64_t row,
                         int64_t column) {
    const int32_t *others = c->leaves.order + column;
    for (int64_t r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        for (uint64_t hits = t->hits[r]; hits != 0; hits &= hits - 1)
            hd_graph_rows_prefetch(c->search->train, others[__builtin_ctzll(hits)]);
    for (int64_t r = 0; r < HD_GRAPH_TILE_ROWS; r++)
        for (uint64_t hits = t->hits[r]; hits != 0; hits &= hits - 1) {
            int bit = __builtin_ctzll(hits);
            int64_t at = row + r, own = w->active.row[at];
            /* An earlier hit of this tile may have lowered tau since the kernel ran. */
            if (t->out[r * HD_GRAPH_TILE_COLUMNS + bit] <= w->active.tau[at] &&
                compare_in_full(c, w, own, others[bit]))
                w->active.tau[at] =
                    hd_graph_leaf_limit(&c->points, w->active.norm[at], w->kth[own]);
        }
}

/* Packs the active points and sets what depends on their norms. Returns whether rounding changes a
 * distance that matters by more than max_error, and would do less relative to the centre of their
 * own leaf. */
static bool pack_active(const cells *c, desk *w, const double *centre, int64_t count) {
    double radius = c->points.radius[w->leaf];
    bool coarse = false;
    for (int64_t at = 0; at < count; at++) {
        int64_t r = w->active.row[at];
        double *row = w->rows + r * c->points.d;
        double norm = hd_graph_leaf_pack(&c->points, row, centre, at, w->panels);
        w->active.norm[at] = norm;
        w->active.tau[at] = hd_graph_leaf_limit(&c->points, norm, w->kth[r]);
        coarse = coarse || (norm > min_gain * radius &&
                            hd_graph_leaf_error(norm, w->kth[r]) > max_error * w->kth[r]);
    }
    /* Rows of the last tile that are not in use. */
    for (int64_t at = count; at % HD_GRAPH_TILE_ROWS != 0; at++)
        w->active.tau[at] = -INFINITY;
    return coarse;
}

/* The tau of columns: the decision is the row's. */
#define NOWHERE8                                                                                   \
    -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY
static const float nowhere[HD_GRAPH_TILE_COLUMNS] = {NOWHERE8, NOWHERE8, NOWHERE8,
                                                     NOWHERE8, NOWHERE8, NOWHERE8};

/* Compares the `count` packed points with all points of a leaf, packed in `columns`. */
static void compare_tiles(const cells *c, desk *w, int64_t other, const float *columns,
                          int64_t count) {
    static const float none[HD_GRAPH_TILE_ROWS];
    float out[HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS];
    uint64_t hits[HD_GRAPH_TILE_ROWS];
    int64_t d = c->points.d, panel = d * HD_GRAPH_PANEL;
    hd_graph_tile t = {.d = d, .panel = panel, .row_base = none, .column_tau = nowhere};
    t.out = out;
    t.hits = hits;
    for (int64_t column = 0; column < HD_GRAPH_LEAF; column += HD_GRAPH_TILE_COLUMNS) {
        t.columns = columns + column * d;
        t.column_base = hd_graph_leaf_base(&c->points, other) + column;
        for (int64_t row = 0; row < count; row += HD_GRAPH_TILE_ROWS) {
            t.rows = w->panels + row / HD_GRAPH_PANEL * panel + row % HD_GRAPH_PANEL;
            t.row_tau = w->active.tau + row;
            if (tile_kernels[c->leaves.isa](&t))
                compare_hits(c, w, &t, row, hd_graph_leaf_begin(other) + column);
            w->n_pairs += HD_GRAPH_TILE_ROWS * HD_GRAPH_TILE_COLUMNS;
        }
    }
}

/* Lists the points whose own distance to the other box does not exclude it; returns their number. A
 * list of zeros can only change by a smaller row number: without this condition every leaf of equal
 * points would be compared with every other. */
static int64_t find_active(const cells *c, desk *w, int64_t other) {
    const hd_graph_search *s = c->search;
    double bounds[HD_GRAPH_LEAF];
    int64_t count = 0;
    hd_graph_leaves_box(&c->leaves, other, w->other_low, w->other_high);
    leaf_bounds[c->leaves.isa](w->points, w->other_low, w->other_high, c->width, bounds);
    for (int64_t r = 0; r < w->count; r++) {
        if (bounds[r] > w->limits[r])
            continue;
        if (w->kth[r] > 0 ||
            c->leaves.smallest[other] < s->index[row_number(c, w, r) * s->k + s->k - 1])
            w->active.row[count++] = (int32_t)r;
    }
    return count;
}

/* Compares the leaf with another one, or with itself. */
static void compare_leaf(const cells *c, desk *w, int64_t other) {
    const float *columns = hd_graph_leaf_values(&c->points, other);
    int64_t count = find_active(c, w, other);
    if (count == 0)
        return;
    if (pack_active(c, w, hd_graph_leaf_centre(&c->points, other), count)) {
        const double *centre = hd_graph_leaf_centre(&c->points, w->leaf);
        pack_active(c, w, centre, count);
        hd_graph_leaf_repack(&c->points, other, centre, w->row, w->columns);
        columns = w->columns;
    }
    compare_tiles(c, w, other, columns, count);
    w->worst = 0;
    for (int64_t r = 0; r < w->count; r++)
        w->worst = w->limits[r] > w->worst ? w->limits[r] : w->worst;
}

/* ---- one leaf ------------------------------------------------------------------------------ */

/* Places the points of the leaf on the desk, and empties their lists. Padding is at infinity. */
static void take_leaf(const cells *c, desk *w, int64_t leaf) {
    w->leaf = leaf;
    w->begin = hd_graph_leaf_begin(leaf);
    w->count = hd_graph_leaf_end(&c->leaves, leaf) - w->begin;
    hd_graph_leaves_box(&c->leaves, leaf, w->low, w->high);
    for (int64_t r = 0; r < w->count; r++) {
        int64_t i = row_number(c, w, r);
        hd_graph_search_clear(c->search, i, i + 1);
        update_limits(c, w, r);
        hd_graph_rows_read(c->search->train, i, w->rows + r * c->points.d);
        hd_graph_rows_read(c->space, i, w->other_low);
        for (int64_t f = 0; f < c->width; f++)
            w->points[f * HD_GRAPH_LEAF + r] = w->other_low[f];
    }
    for (int64_t r = w->count; r < HD_GRAPH_LEAF; r++)
        for (int64_t f = 0; f < c->width; f++)
            w->points[f * HD_GRAPH_LEAF + r] = INFINITY;
    w->worst = INFINITY;
}

static int by_bound(const void *a, const void *b) {
    const hd_graph_near_leaf *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* The leaf itself and the nearest of its group: their points make the k-th distances small before
 * the boxes of all leaves are tested. */
static void compare_first(const cells *c, desk *w) {
    int64_t group = w->leaf / HD_GRAPH_LEAF_GROUP;
    memset(w->first, 0, sizeof w->first);
    compare_leaf(c, w, w->leaf);
    w->first[w->leaf % HD_GRAPH_LEAF_GROUP] = true;
    int64_t count =
        hd_graph_leaves_near_group(&c->leaves, w->low, w->high, group, w->leaf, w->near);
    qsort(w->near, (size_t)count, sizeof *w->near, by_bound);
    for (int64_t k = 0; k < count && k < FIRST_LEAVES; k++) {
        compare_leaf(c, w, w->near[k].leaf);
        w->first[w->near[k].leaf % HD_GRAPH_LEAF_GROUP] = true;
    }
}

/* Takes a leaf, compares the first leaves, and lists the others that could contain a neighbour,
 * nearest box first; returns their number. */
static int64_t begin_leaf(const cells *c, desk *w, int64_t leaf) {
    take_leaf(c, w, leaf);
    compare_first(c, w);
    int64_t kept = 0;
    int64_t count = hd_graph_leaves_near(&c->leaves, w->low, w->high, w->worst, leaf, w->near);
    for (int64_t k = 0; k < count; k++) {
        int64_t other = w->near[k].leaf;
        if (other / HD_GRAPH_LEAF_GROUP != leaf / HD_GRAPH_LEAF_GROUP ||
            !w->first[other % HD_GRAPH_LEAF_GROUP])
            w->near[kept++] = w->near[k];
    }
    qsort(w->near, (size_t)kept, sizeof *w->near, by_bound);
    return kept;
}

/* Finds the lists of all points of a leaf. Boxes come by ascending distance, and a distance only
 * excludes what is strictly beyond it, because of ties. */
static huddle_status search_leaf(const cells *c, desk *w, int64_t leaf) {
    huddle_status status = HUDDLE_OK;
    int64_t count = begin_leaf(c, w, leaf);
    for (int64_t k = 0; k < count && w->near[k].bound <= w->worst; k++) {
        TRY(hd_check_cancel(c->context));
        compare_leaf(c, w, w->near[k].leaf);
    }
done:
    return status;
}

static huddle_status search_leaves(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    cells *c = argument;
    desk *w = &c->desks[chunk.worker];
    w->n_full = 0;
    w->n_pairs = 0;
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++)
        TRY(search_leaf(c, w, leaf));
    atomic_fetch_add(&c->n_pairs, w->n_pairs);
    atomic_fetch_add(&c->n_full, w->n_full);
done:
    return status;
}

/* ---- the cost ------------------------------------------------------------------------------ */

static int64_t count_samples(const cells *c) {
    return c->leaves.count < SAMPLE_LEAVES ? c->leaves.count : SAMPLE_LEAVES;
}

/* Searches evenly spaced leaves in a few of the nearest leaves only, and counts the comparisons
 * that the limits found there leave: somewhat more than the search will need. */
static huddle_status sample_leaves(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    cells *c = argument;
    desk *w = &c->desks[chunk.worker];
    w->n_full = 0;
    w->n_pairs = 0;
    for (int64_t s = chunk.begin; s < chunk.end; s++) {
        int64_t count = begin_leaf(c, w, s * c->leaves.count / count_samples(c));
        for (int64_t k = 0; k < count && w->near[k].bound <= w->worst; k++) {
            TRY(hd_check_cancel(c->context));
            if (k < SAMPLE_COMPARISONS)
                compare_leaf(c, w, w->near[k].leaf);
            else
                w->n_pairs += find_active(c, w, w->near[k].leaf) * HD_GRAPH_LEAF;
        }
    }
    atomic_fetch_add(&c->n_pairs, w->n_pairs);
    atomic_fetch_add(&c->n_full, w->n_full);
done:
    return status;
}

/* The predicted cost of the search, in multiply-adds. */
static huddle_status predict_cost(cells *c, double *cost) {
    huddle_status status = HUDDLE_OK;
    double samples = (double)count_samples(c), d = (double)c->points.d;
    TRY(hd_parallel(c->context, NULL, count_samples(c), 1, sample_leaves, c));
    double pairs = (double)atomic_exchange(&c->n_pairs, 0);
    double full = (double)atomic_exchange(&c->n_full, 0);
    *cost = (pairs * (d + pair_cost) + full * full_cost) * (double)c->leaves.count / samples +
            (double)c->leaves.n * (point_cost + d * column_cost);
done:
    return status;
}

/* That of brute force, which compares every pair once for both points. */
static double brute_cost(const cells *c) {
    double n = (double)c->leaves.n, d = (double)c->points.d;
    return n * (n / 2 * (d + pair_cost) + (double)c->search->k * full_cost);
}

/* ---- the solver ---------------------------------------------------------------------------- */

static huddle_status new_desks(cells *c) {
    huddle_status status = HUDDLE_OK;
    int32_t workers = hd_workers(c->context);
    ALLOC_ZERO(c->desks, workers);
    for (int32_t k = 0; k < workers; k++) {
        desk *w = &c->desks[k];
        ALLOC(w->points, c->width * HD_GRAPH_LEAF);
        ALLOC(w->low, c->width);
        ALLOC(w->high, c->width);
        ALLOC(w->other_low, c->width);
        ALLOC(w->other_high, c->width);
        ALLOC(w->near, c->leaves.count);
        ALLOC(w->row, c->points.d);
        ALLOC(w->rows, c->points.d * HD_GRAPH_LEAF);
        ALLOC_ZERO(w->panels, c->points.d * HD_GRAPH_LEAF);
        ALLOC(w->columns, c->points.d * HD_GRAPH_LEAF);
    }
done:
    return status;
}

static void free_search(cells *c) {
    for (int32_t k = 0; c->desks != NULL && k < hd_workers(c->context); k++) {
        desk *w = &c->desks[k];
        huddle_free(w->points);
        huddle_free(w->low);
        huddle_free(w->high);
        huddle_free(w->other_low);
        huddle_free(w->other_high);
        huddle_free(w->near);
        huddle_free(w->row);
        huddle_free(w->rows);
        huddle_free(w->panels);
        huddle_free(w->columns);
    }
    huddle_free(c->desks);
    hd_graph_projection_free(&c->projection);
    hd_graph_leaves_free(&c->leaves);
    hd_graph_leaf_points_free(&c->points);
}

/* The tree, in the space in which boxes exclude most, and the packed points. */
static huddle_status prepare_search(cells *c) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = c->search;
    c->space = s->train;
    if (s->train->doubles == NULL && hd_graph_rows_width(s->train) > MAX_RAW_WIDTH) {
        TRY(hd_graph_projection_new(c->context, s->train, DIRECTIONS, s->seed, &c->projection));
        c->projected = hd_graph_rows_of_dense(&c->projection.y);
        c->space = &c->projected;
        c->position_error = c->projection.position_error;
    }
    c->width = hd_graph_rows_width(c->space);
    c->factor = hd_graph_boxes_factor(c->width);
    TRY(hd_graph_leaves_new(c->context, c->space, &c->leaves));
    TRY(hd_graph_leaf_points_new(c->context, s->train, &c->leaves, &c->points));
    TRY(new_desks(c));
done:
    return status;
}

huddle_status hd_graph_search_cells(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    cells c = {.context = context, .search = search};
    double cost = 0;
    TRY(prepare_search(&c));
    if (gave_up != NULL) {
        TRY(predict_cost(&c, &cost));
        *gave_up = cost > brute_cost(&c) || hd_graph_search_exceeds(search, cost);
    }
    if (gave_up == NULL || !*gave_up)
        TRY(hd_parallel(context, "graph", c.leaves.count, LEAVES_PER_CHUNK, search_leaves, &c));
    atomic_fetch_add(&search->n_distances, atomic_load(&c.n_full));
done:
    free_search(&c);
    return status;
}
