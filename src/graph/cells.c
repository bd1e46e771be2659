/* Exact search leaf against leaf, for points among themselves, or for other points whose lists have
 * begun elsewhere.
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
#include "graph/cells.h"
#include "base/check.h"
#include "base/parallel.h"
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

static hd_graph_leaf_bounds_function *const leaf_bounds[] = HD_SIMD_TABLE(hd_graph_leaf_bounds);
static const hd_graph_tile_function tile_kernels[] = HD_SIMD_TABLE(hd_graph_tile_differences);

/* A search: its queries are the points of the leaves, or others, of which HD_GRAPH_LEAF consecutive
 * ones are treated as a leaf. */
typedef struct cells {
    huddle_context *context;
    hd_graph_search *search;
    const hd_graph_cells *index;
    const int32_t *order;         /* of the queries, leaf by leaf; NULL: that of their rows */
    const hd_graph_rows *space;   /* the queries in the space of the boxes */
    double position_error;        /* of a row of either */
    struct workspace *workspaces; /* one per worker */
    int64_t sampled; /* 0, or so many evenly spaced leaves stand for all: for the prediction */
    bool others;     /* the queries are not the points of the leaves */
    atomic_llong n_pairs, n_full;
} cells;

/* The points of a leaf that are compared with another one. */
typedef struct active_points {
    int32_t row[HD_GRAPH_LEAF]; /* which point of the leaf */
    double norm[HD_GRAPH_LEAF]; /* packed */
    float tau[HD_GRAPH_LEAF];   /* the largest value of the kernel that matters */
    const int32_t *others;      /* row numbers of the points of the other leaf */
    double *centre, radius;     /* of the whole leaf: d, and the largest packed norm around it */
} active_points;

/* What a worker needs for the leaf that it searches. */
typedef struct workspace {
    const struct cells *cells;
    int64_t leaf, count;            /* the leaf and its points */
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
} workspace;

/* ---- lists --------------------------------------------------------------------------------- */

/* The row number of point r of the leaf. */
static int64_t row_number(const cells *c, const workspace *w, int64_t r) {
    int64_t place = hd_graph_leaf_begin(w->leaf) + r;
    return c->order != NULL ? c->order[place] : place;
}

/* Sets the two numbers that depend on the k-th distance of point r: the distance itself, and the
 * largest squared distance, as the kernels of boxes compute it, at which a box can contain a point
 * that enters the list. That is the k-th distance, the error of both positions in the projection,
 * and rounding. */
static void update_limits(const cells *c, workspace *w, int64_t r) {
    double kth = sqrt(hd_graph_search_last(c->search, row_number(c, w, r)));
    double farthest = kth + 2 * c->position_error;
    w->kth[r] = kth * c->index->points.scale;
    w->limits[r] = farthest * farthest / c->index->factor;
}

/* Compares point r of the leaf with row j in double; returns whether the list has changed. */
static bool compare_in_full(const cells *c, workspace *w, int64_t r, int32_t j) {
    int64_t i = row_number(c, w, r);
    if (!hd_graph_search_admits(c->search, i, j))
        return false;
    w->n_full++;
    if (!hd_graph_search_compare(c->search, i, j))
        return false;
    update_limits(c, w, r);
    return true;
}

/* ---- leaf against leaf --------------------------------------------------------------------- */

/* Compares a hit of a tile in double. An earlier hit of this tile may have lowered tau since the
 * kernel ran. */
static void compare_hit(void *argument, int64_t at, int64_t column, float value) {
    workspace *w = argument;
    int64_t own = w->active.row[at];
    if (value <= w->active.tau[at] && compare_in_full(w->cells, w, own, w->active.others[column]))
        w->active.tau[at] =
            hd_graph_leaf_limit(&w->cells->index->points, w->active.norm[at], w->kth[own]);
}

/* Rows in memory are scattered, so that all of a tile are requested before the first is used. */
static void prefetch_row(void *argument, int64_t column) {
    const workspace *w = argument;
    hd_graph_rows_prefetch(w->cells->search->train, w->active.others[column]);
}

/* Packs the active points and sets what depends on their norms. Returns whether rounding changes a
 * distance that matters by more than max_error, and would do less relative to the centre of their
 * own leaf. */
static bool pack_active(const cells *c, workspace *w, const double *centre, int64_t count) {
    bool coarse = false;
    for (int64_t at = 0; at < count; at++) {
        int64_t r = w->active.row[at];
        double *row = w->rows + r * c->index->points.d;
        double norm = hd_graph_leaf_pack(&c->index->points, row, centre, at, w->panels);
        w->active.norm[at] = norm;
        w->active.tau[at] = hd_graph_leaf_limit(&c->index->points, norm, w->kth[r]);
        coarse = coarse || (norm > min_gain * w->active.radius &&
                            hd_graph_leaf_error(norm, w->kth[r]) > max_error * w->kth[r]);
    }
    /* Rows of the last tile that are not in use. */
    for (int64_t at = count; at % HD_GRAPH_TILE_ROWS != 0; at++)
        w->active.tau[at] = -INFINITY;
    return coarse;
}

/* Compares the `count` packed points with all points of a leaf, packed in `columns`. */
static void compare_tiles(const cells *c, workspace *w, int64_t other, float *columns,
                          int64_t count) {
    const hd_graph_leaf_points *p = &c->index->points;
    int64_t padded = hd_chunks(count, HD_GRAPH_TILE_ROWS) * HD_GRAPH_TILE_ROWS;
    hd_graph_panels rows = {.n = count, .d = p->d, .values = w->panels, .base = p->base};
    hd_graph_panels leaf = {.n = HD_GRAPH_LEAF,
                            .padded = HD_GRAPH_LEAF,
                            .d = p->d,
                            .values = columns,
                            .base = hd_graph_leaf_base(p, other)};
    hd_graph_tiles tiles = {.rows = &rows,
                            .columns = &leaf,
                            .kernel = tile_kernels[c->index->leaves.isa],
                            .tau = w->active.tau,
                            .hit = compare_hit,
                            .fetch = prefetch_row,
                            .argument = w};
    w->active.others = c->index->leaves.order + hd_graph_leaf_begin(other);
    hd_graph_tiles_sweep(&tiles, 0, padded);
    w->n_pairs += padded * HD_GRAPH_LEAF;
}

/* Lists the points whose own distance to the other box does not exclude it; returns their number. A
 * list of zeros can only change by a smaller row number: without this condition every leaf of equal
 * points would be compared with every other. */
static int64_t find_active(const cells *c, workspace *w, int64_t other) {
    const hd_graph_search *s = c->search;
    double bounds[HD_GRAPH_LEAF];
    int64_t count = 0;
    hd_graph_leaves_box(&c->index->leaves, other, w->other_low, w->other_high);
    leaf_bounds[c->index->leaves.isa](w->points, w->other_low, w->other_high, c->index->width,
                                      bounds);
    for (int64_t r = 0; r < w->count; r++) {
        if (bounds[r] > w->limits[r])
            continue;
        int32_t last = s->index[row_number(c, w, r) * s->k + s->k - 1];
        if (w->kth[r] > 0 || hd_graph_search_id(s, c->index->leaves.smallest[other]) < last)
            w->active.row[count++] = (int32_t)r;
    }
    return count;
}

/* Compares the leaf with another one, or with itself. */
static void compare_leaf(const cells *c, workspace *w, int64_t other) {
    float *columns = hd_graph_leaf_values(&c->index->points, other);
    int64_t count = find_active(c, w, other);
    if (count == 0)
        return;
    if (pack_active(c, w, hd_graph_leaf_centre(&c->index->points, other), count)) {
        pack_active(c, w, w->active.centre, count);
        hd_graph_leaf_repack(&c->index->points, other, w->active.centre, w->row, w->columns);
        columns = w->columns;
    }
    compare_tiles(c, w, other, columns, count);
    w->worst = 0;
    for (int64_t r = 0; r < w->count; r++)
        w->worst = w->limits[r] > w->worst ? w->limits[r] : w->worst;
}

/* ---- one leaf ------------------------------------------------------------------------------ */

/* Reads the queries of a leaf. Padding is at infinity. */
static void load_queries(const cells *c, workspace *w, int64_t leaf, int64_t count) {
    w->leaf = leaf;
    w->count = count;
    for (int64_t r = 0; r < w->count; r++) {
        int64_t i = row_number(c, w, r);
        update_limits(c, w, r);
        hd_graph_rows_read(c->search->query, i, w->rows + r * c->index->points.d);
        hd_graph_rows_read(c->space, i, w->other_low);
        for (int64_t f = 0; f < c->index->width; f++)
            w->points[f * HD_GRAPH_LEAF + r] = w->other_low[f];
    }
    for (int64_t r = w->count; r < HD_GRAPH_LEAF; r++)
        for (int64_t f = 0; f < c->index->width; f++)
            w->points[f * HD_GRAPH_LEAF + r] = INFINITY;
}

/* A leaf of the index, with empty lists. */
static void load_leaf(const cells *c, workspace *w, int64_t leaf) {
    int64_t begin = hd_graph_leaf_begin(leaf), end = hd_graph_leaf_end(&c->index->leaves, leaf);
    for (int64_t place = begin; place < end; place++)
        hd_graph_search_clear(c->search, c->order[place], c->order[place] + 1);
    load_queries(c, w, leaf, end - begin);
    hd_graph_leaves_box(&c->index->leaves, leaf, w->low, w->high);
    memcpy(w->active.centre, hd_graph_leaf_centre(&c->index->points, leaf),
           (size_t)c->index->points.d * sizeof *w->active.centre);
    w->active.radius = c->index->points.radius[leaf];
    w->worst = INFINITY;
}

/* Loads a leaf of other points, whose centre and box are measured here. */
static void load_others(const cells *c, workspace *w, int64_t leaf) {
    int64_t begin = hd_graph_leaf_begin(leaf), rest = c->search->query->n - begin;
    int64_t d = c->index->points.d;
    load_queries(c, w, leaf, rest < HD_GRAPH_LEAF ? rest : HD_GRAPH_LEAF);
    for (int64_t f = 0; f < c->index->width; f++) {
        const double *column = w->points + f * HD_GRAPH_LEAF;
        w->low[f] = w->high[f] = column[0];
        for (int64_t r = 1; r < w->count; r++) {
            w->low[f] = fmin(w->low[f], column[r]);
            w->high[f] = fmax(w->high[f], column[r]);
        }
    }
    memset(w->active.centre, 0, (size_t)d * sizeof *w->active.centre);
    for (int64_t r = 0; r < w->count; r++)
        for (int64_t j = 0; j < d; j++)
            w->active.centre[j] += w->rows[r * d + j] / (double)w->count;
    w->active.radius = w->worst = 0;
    for (int64_t r = 0; r < w->count; r++) {
        double norm =
            hd_graph_leaf_pack(&c->index->points, w->rows + r * d, w->active.centre, r, w->panels);
        w->active.radius = fmax(w->active.radius, norm);
        w->worst = fmax(w->worst, w->limits[r]);
    }
}

static int by_bound(const void *a, const void *b) {
    const hd_graph_near_leaf *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* The leaf itself and the nearest of its group: their points make the k-th distances small before
 * the boxes of all leaves are tested. */
static void compare_first(const cells *c, workspace *w) {
    int64_t group = w->leaf / HD_GRAPH_LEAF_GROUP;
    compare_leaf(c, w, w->leaf);
    w->first[w->leaf % HD_GRAPH_LEAF_GROUP] = true;
    int64_t count = hd_graph_leaves_near_group(&c->index->leaves, w->low, w->high, group, INFINITY,
                                               w->leaf, w->near);
    qsort(w->near, (size_t)count, sizeof *w->near, by_bound);
    for (int64_t k = 0; k < count && k < FIRST_LEAVES; k++) {
        compare_leaf(c, w, w->near[k].leaf);
        w->first[w->near[k].leaf % HD_GRAPH_LEAF_GROUP] = true;
    }
}

/* Loads a leaf, compares the first leaves, and lists the others that could contain a neighbour,
 * nearest box first; returns their number. */
static int64_t begin_leaf(const cells *c, workspace *w, int64_t leaf) {
    memset(w->first, 0, sizeof w->first);
    if (c->others) {
        load_others(c, w, leaf);
    } else {
        load_leaf(c, w, leaf);
        compare_first(c, w);
    }
    int64_t kept = 0, own = c->others ? -1 : leaf;
    int64_t count =
        hd_graph_leaves_near(&c->index->leaves, w->low, w->high, w->worst, own, w->near);
    for (int64_t k = 0; k < count; k++) {
        int64_t other = w->near[k].leaf;
        if (other / HD_GRAPH_LEAF_GROUP != leaf / HD_GRAPH_LEAF_GROUP ||
            !w->first[other % HD_GRAPH_LEAF_GROUP])
            w->near[kept++] = w->near[k];
    }
    qsort(w->near, (size_t)kept, sizeof *w->near, by_bound);
    return kept;
}

/* Finds the lists of all points of a chunk of leaves. Boxes come by ascending distance, and a
 * distance only excludes what is strictly beyond it, because of ties. A sampled leaf is searched in
 * a few of the nearest leaves only, and the comparisons that the limits found there leave are
 * counted: somewhat more than the search will need. */
static huddle_status search_leaves(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    cells *c = argument;
    workspace *w = &c->workspaces[chunk.worker];
    w->n_full = w->n_pairs = 0;
    for (int64_t leaf = chunk.begin; leaf < chunk.end; leaf++) {
        int64_t at = c->sampled > 0 ? leaf * c->index->leaves.count / c->sampled : leaf;
        int64_t count = begin_leaf(c, w, at);
        for (int64_t k = 0; k < count && w->near[k].bound <= w->worst; k++) {
            TRY(hd_check_cancel(c->context));
            if (c->sampled == 0 || k < SAMPLE_COMPARISONS)
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

/* ---- the cost ------------------------------------------------------------------------------ */

/* The predicted cost of the search, in multiply-adds. Counts of the sample are scaled to all
 * leaves; what the tree and the packing cost is known beforehand. */
static huddle_status predict_cost(cells *c, double *cost) {
    huddle_status status = HUDDLE_OK;
    int64_t count = c->index->leaves.count;
    double d = (double)c->index->points.d;
    c->sampled = count < SAMPLE_LEAVES ? count : SAMPLE_LEAVES;
    double samples = (double)c->sampled;
    TRY(hd_parallel(c->context, NULL, c->sampled, 1, search_leaves, c));
    c->sampled = 0;
    double pairs = (double)atomic_exchange(&c->n_pairs, 0);
    double full = (double)atomic_exchange(&c->n_full, 0);
    *cost =
        (pairs * (d + pair_cost) + full * full_cost) * (double)c->index->leaves.count / samples +
        (double)c->index->leaves.n * (point_cost + d * column_cost);
done:
    return status;
}

/* That of brute force, which compares every pair once for both points. */
static double brute_cost(const cells *c) {
    double n = (double)c->index->leaves.n, d = (double)c->index->points.d;
    return n * (n / 2 * (d + pair_cost) + (double)c->search->k * full_cost);
}

/* ---- the solver ---------------------------------------------------------------------------- */

static huddle_status new_workspaces(cells *c) {
    huddle_status status = HUDDLE_OK;
    int32_t workers = hd_workers(c->context);
    int64_t d = c->index->points.d, width = c->index->width;
    ALLOC_ZERO(c->workspaces, workers);
    for (int32_t k = 0; k < workers; k++) {
        workspace *w = &c->workspaces[k];
        w->cells = c;
        ALLOC(w->points, width * HD_GRAPH_LEAF);
        ALLOC(w->low, width);
        ALLOC(w->high, width);
        ALLOC(w->other_low, width);
        ALLOC(w->other_high, width);
        ALLOC(w->near, c->index->leaves.count);
        ALLOC(w->row, d);
        ALLOC(w->active.centre, d);
        ALLOC(w->rows, d * HD_GRAPH_LEAF);
        ALLOC_ZERO(w->panels, d * HD_GRAPH_LEAF);
        ALLOC(w->columns, d * HD_GRAPH_LEAF);
    }
done:
    return status;
}

static void free_workspaces(cells *c) {
    for (int32_t k = 0; c->workspaces != NULL && k < hd_workers(c->context); k++) {
        workspace *w = &c->workspaces[k];
        FREE(w->points, w->low, w->high, w->other_low, w->other_high, w->near, w->row,
             w->active.centre, w->rows, w->panels, w->columns);
    }
    huddle_free(c->workspaces);
}

/* The tree, in the space in which boxes exclude most, and the packed points. */
huddle_status hd_graph_cells_new(huddle_context *context, const hd_graph_rows *train, uint64_t seed,
                                 double reach, hd_graph_cells *index) {
    huddle_status status = HUDDLE_OK;
    *index = (hd_graph_cells){.train = train, .space = train};
    if (train->doubles == NULL && hd_graph_rows_width(train) > MAX_RAW_WIDTH) {
        TRY(hd_graph_projection_new(context, train, DIRECTIONS, seed, &index->projection));
        index->projected = hd_graph_rows_of_dense(&index->projection.y);
        index->space = &index->projected;
        index->position_error = index->projection.position_error;
    }
    index->width = hd_graph_rows_width(index->space);
    index->factor = hd_graph_boxes_factor(index->width);
    TRY(hd_graph_leaves_new(context, index->space, &index->leaves));
    TRY(hd_graph_leaf_points_new(context, train, &index->leaves, reach, &index->points));
done:
    return status;
}

void hd_graph_cells_free(hd_graph_cells *index) {
    hd_graph_projection_free(&index->projection);
    hd_graph_leaves_free(&index->leaves);
    hd_graph_leaf_points_free(&index->points);
    *index = (hd_graph_cells){0};
}

static huddle_status begin_search(cells *c, hd_graph_cells *index) {
    huddle_status status = HUDDLE_OK;
    const hd_graph_search *s = c->search;
    c->index = index;
    TRY(hd_graph_cells_new(c->context, s->train, s->seed, s->reach, index));
    c->order = index->leaves.order;
    c->space = index->space;
    c->position_error = index->position_error;
    TRY(new_workspaces(c));
done:
    return status;
}

huddle_status hd_graph_cells_predict(huddle_context *context, hd_graph_search *search,
                                     double *cost) {
    huddle_status status = HUDDLE_OK;
    hd_graph_cells index = {0};
    cells c = {.context = context, .search = search};
    TRY(begin_search(&c, &index));
    TRY(predict_cost(&c, cost));
done:
    free_workspaces(&c);
    hd_graph_cells_free(&index);
    return status;
}

huddle_status hd_graph_search_cells(huddle_context *context, hd_graph_search *search,
                                    bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    hd_graph_cells own = {0}, *index = search->cells != NULL ? search->cells : &own;
    cells c = {.context = context, .search = search};
    double cost = 0;
    TRY(begin_search(&c, index));
    if (gave_up != NULL) {
        TRY(predict_cost(&c, &cost));
        *gave_up = cost > brute_cost(&c) || hd_graph_search_exceeds(search, cost);
    }
    if (gave_up == NULL || !*gave_up)
        TRY(hd_parallel(context, "graph", index->leaves.count, LEAVES_PER_CHUNK, search_leaves,
                        &c));
    atomic_fetch_add(&search->n_distances, atomic_load(&c.n_full));
done:
    free_workspaces(&c);
    if (search->cells == NULL || status != HUDDLE_OK || (gave_up != NULL && *gave_up))
        hd_graph_cells_free(index);
    return status;
}

/* ---- lists that have begun ----------------------------------------------------------------- */

huddle_status hd_graph_cells_continue(huddle_context *context, const hd_graph_cells *index,
                                      hd_graph_search *search) {
    huddle_status status = HUDDLE_OK;
    cells c = {.context = context,
               .search = search,
               .index = index,
               .order = search->order,
               .space = search->query,
               .others = true};
    huddle_dense y = {0};
    hd_graph_rows projected;
    if (index->projection.p > 0) {
        TRY(hd_graph_projection_apply(context, &index->projection, search->query, &y,
                                      &c.position_error));
        projected = hd_graph_rows_of_dense(&y);
        c.space = &projected;
        c.position_error = fmax(c.position_error, index->position_error);
    }
    TRY(new_workspaces(&c));
    TRY(hd_parallel(context, NULL, hd_chunks(search->query->n, HD_GRAPH_LEAF), LEAVES_PER_CHUNK,
                    search_leaves, &c));
    atomic_fetch_add(&search->n_distances, atomic_load(&c.n_full));
done:
    free_workspaces(&c);
    huddle_dense_free(&y);
    return status;
}
