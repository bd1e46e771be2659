/* F and G, or G at every level of a path, as points that move, in several projections.
 *
 * Points that coincide are stored once, as a node: with growing gamma there are fewer and fewer of
 * them, so that a level takes little more than the list of nodes that have merged since the level
 * before. */
#include "report/arrays.h"
#include "report/run.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of coordinates: the circle and up to three pairs of principal components. */
enum { MAX_PAIRS = MAX_COORDS / 2 };

/* A list of 16-bit numbers, with room for two of each point and level. */
typedef struct number_list {
    uint16_t *values;
    size_t size;
} number_list;

static void list_add(number_list *list, int64_t value) {
    list->values[list->size++] = (uint16_t)value;
}

static json_t *list_json(const number_list *list) {
    return page_integers(list->values, list->size, sizeof *list->values);
}

/* The state while levels are added. The node of a point is its position among the nodes of the
 * level; MAX_VIEW_POINTS keeps it below 65536. */
typedef struct moves_writer {
    const report_run *run;
    huddle_preparation plane; /* principal components of F */
    double *axes;             /* circle: columns of F x 2, or NULL */
    int32_t n_coords;         /* two per projection */
    report_grid grid;         /* both axes of a pair have the same scale */
    double *coords;           /* count x n_coords */
    uint16_t *steps;          /* the same, quantised */
    int32_t *node, *before;   /* of each point: at this level, at the last one */
    int32_t *table, *map;     /* hash table of nodes; node -> its successor */
    size_t table_size;
    int32_t n_nodes, n_before;
    number_list places[MAX_PAIRS], maps, strays;
    json_t *n_nodes_json, *n_strays_json;
} moves_writer;

/* ---- coordinates -------------------------------------------------------------------------- */

/* Fills coords with the circle's two coordinates, if there is one, then the components. */
static huddle_status project_level(moves_writer *w, const huddle_dense *g) {
    const report_run *run = w->run;
    huddle_points taken = {0}, projected = {0};
    int32_t first = w->axes == NULL ? 0 : 2;
    huddle_status status = HUDDLE_OK;
    TRY(report_dense_points(run->context, g, run->rows, run->count, &taken));
    TRY(huddle_prepare_apply(run->context, &w->plane, &taken, &projected, NULL));
    for (int64_t i = 0; i < run->count; i++) {
        double *out = w->coords + i * w->n_coords;
        const double *row = g->values + run->rows[i] * g->stride;
        for (int32_t j = 0; j < first; j++) {
            out[j] = 0;
            for (int64_t k = 0; k < g->cols; k++)
                out[j] += row[k] * w->axes[2 * k + j];
        }
        for (int32_t j = first; j < w->n_coords; j++)
            out[j] = j - first < projected.d
                         ? (double)projected.values[i * projected.stride + j - first]
                         : 0;
    }
done:
    huddle_points_free(&projected);
    huddle_points_free(&taken);
    return status;
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* FNV-1a over the steps of a point. */
static size_t hash_steps(const uint16_t *steps, int32_t count) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (int32_t j = 0; j < count; j++)
        hash = (hash ^ steps[j]) * 0x100000001B3u;
    return (size_t)(hash ^ hash >> 29);
}

/* Gives each point the node of its position, in the order of the points; the position of a new
 * node is added to the lists. The table has the first point of each node. */
static void find_nodes(moves_writer *w) {
    size_t mask = w->table_size - 1, size = (size_t)w->n_coords * sizeof *w->steps;
    memset(w->table, -1, w->table_size * sizeof *w->table);
    w->n_nodes = 0;
    for (int64_t i = 0; i < w->run->count; i++) {
        const uint16_t *own = w->steps + i * w->n_coords;
        size_t at = hash_steps(own, w->n_coords) & mask;
        while (w->table[at] >= 0 &&
               memcmp(own, w->steps + (int64_t)w->table[at] * w->n_coords, size) != 0)
            at = (at + 1) & mask;
        if (w->table[at] >= 0) {
            w->node[i] = w->node[w->table[at]];
            continue;
        }
        w->table[at] = (int32_t)i;
        w->node[i] = w->n_nodes++;
        for (int32_t j = 0; j < w->n_coords; j++)
            list_add(&w->places[j / 2], own[j]);
    }
}

/* Adds where the nodes of the level before have gone: a node follows its first point. Points that
 * leave their node, which fusing allows but rarely does, are listed with their new one. */
static void add_successors(moves_writer *w, bool is_first) {
    int64_t n_strays = 0;
    for (int32_t k = 0; k < w->n_before; k++)
        w->map[k] = -1;
    for (int64_t i = 0; i < w->run->count; i++) {
        int32_t *next = &w->map[is_first ? i : w->before[i]];
        if (is_first || *next < 0)
            *next = w->node[i];
    }
    for (int64_t k = 0; k < (is_first ? w->run->count : w->n_before); k++)
        list_add(&w->maps, w->map[k]);
    for (int64_t i = 0; i < w->run->count && !is_first; i++)
        if (w->map[w->before[i]] != w->node[i]) {
            list_add(&w->strays, i);
            list_add(&w->strays, w->node[i]);
            n_strays++;
        }
    page_append(w->n_nodes_json, json_integer(w->n_nodes));
    page_append(w->n_strays_json, json_integer((json_int_t)n_strays));
}

static huddle_status add_level(moves_writer *w, const huddle_dense *g, bool is_first) {
    huddle_status status = project_level(w, g);
    if (status != HUDDLE_OK)
        return status;
    /* The grid of the first level serves all: there G is nearest to F and has its largest extent.
     */
    if (is_first)
        report_fit_grid(&w->grid, w->coords, w->run->count);
    report_quantise(&w->grid, w->coords, w->run->count, w->n_coords, w->steps);
    find_nodes(w);
    add_successors(w, is_first);
    int32_t *swap = w->before;
    w->before = w->node;
    w->node = swap;
    w->n_before = w->n_nodes;
    return HUDDLE_OK;
}

/* ---- the block ---------------------------------------------------------------------------- */

static huddle_status begin_moves(moves_writer *w, int32_t n_levels) {
    const report_run *run = w->run;
    size_t count = (size_t)run->count, room = 2 * count * (size_t)n_levels;
    huddle_dense f = array_dense(&run->embedding);
    huddle_points points = {0};
    huddle_status status = HUDDLE_OK;
    /* The components of F serve all levels, so that between two levels only G moves, not the point
     * of view. */
    TRY(report_dense_points(run->context, &f, NULL, f.rows, &points));
    TRY(report_fit_plane(run, &points, &w->plane));
    int32_t n_planes = w->plane.d_out < 4 ? 1 : (int32_t)w->plane.d_out / 2;
    if (n_planes > 1 && run->count > MANY_POINTS)
        n_planes = 1;
    if (report_has_circle(run))
        TRY(report_circle_axes(run, &w->axes));
    w->n_coords = 2 * (n_planes + (w->axes != NULL));
    w->grid = (report_grid){.n_coords = w->n_coords, .group = 2};
    for (w->table_size = 64; w->table_size < 2 * count;)
        w->table_size *= 2;
    w->n_nodes_json = json_array();
    w->n_strays_json = json_array();
    NEW(w->coords, count * (size_t)w->n_coords);
    NEW(w->steps, count * (size_t)w->n_coords);
    NEW(w->node, count);
    NEW(w->before, count);
    NEW(w->map, count);
    NEW(w->table, w->table_size);
    for (int32_t p = 0; p < w->n_coords / 2; p++)
        NEW(w->places[p].values, room);
    NEW(w->maps.values, room);
    NEW(w->strays.values, room);
done:
    huddle_points_free(&points);
    return status;
}

static void end_moves(moves_writer *w) {
    huddle_preparation_free(&w->plane);
    FREE(w->axes, w->coords, w->steps, w->node, w->before, w->map, w->table);
    for (int32_t p = 0; p < MAX_PAIRS; p++)
        free(w->places[p].values);
    FREE(w->maps.values, w->strays.values);
    json_decref(w->n_nodes_json);
    json_decref(w->n_strays_json);
}

/* A pair of components is named by its first one, the circle has none. */
static json_t *projections_json(const moves_writer *w) {
    json_t *list = json_array();
    for (int32_t p = 0; p < w->n_coords / 2; p++) {
        bool is_circle = w->axes != NULL && p == 0;
        page_append(list, json_pack("{s:s, s:i, s:o}", "kind", is_circle ? "circle" : "components",
                                    "first", is_circle ? 0 : 2 * (p - (w->axes != NULL)), "data",
                                    list_json(&w->places[p])));
    }
    return list;
}

/* {count, projections: [{kind, first, data}], nodes, maps, stray_counts, strays}. data has x and y
 * of every node, level after level. maps has the node of each point at the first level, then for
 * each further level the successors of the nodes before; strays are (point, node) pairs. */
huddle_status report_moves_json(const report_run *run, const huddle_dense *levels, int32_t n_levels,
                                json_t **moves) {
    moves_writer w = {.run = run};
    huddle_status status = HUDDLE_OK;
    TRY(begin_moves(&w, n_levels));
    for (int32_t l = 0; l < n_levels; l++)
        TRY(add_level(&w, &levels[l], l == 0));
    *moves =
        json_pack("{s:I, s:o, s:O, s:o, s:O, s:o}", "count", (json_int_t)run->count, "projections",
                  projections_json(&w), "nodes", w.n_nodes_json, "maps", list_json(&w.maps),
                  "stray_counts", w.n_strays_json, "strays", list_json(&w.strays));
    if (*moves == NULL)
        status = report_no_memory();
done:
    end_moves(&w);
    return status;
}

/* F and G as the two ends of one movement, for a page without a path: the same axes for both. */
huddle_status report_share_ends(report_run *run) {
    huddle_dense ends[2];
    int32_t count = 1;
    json_t *moves = NULL;
    if (run->has_path || run->embedding.type != HUDDLE_ARRAY_F64)
        return HUDDLE_OK;
    ends[0] = array_dense(&run->embedding);
    if (run->shrunk.type == HUDDLE_ARRAY_F64 && run->shrunk.rows == ends[0].rows &&
        run->shrunk.cols == ends[0].cols)
        ends[count++] = array_dense(&run->shrunk);
    huddle_status status = report_moves_json(run, ends, count, &moves);
    if (status == HUDDLE_OK)
        page_share(run->page, "ends", moves);
    /* A projection that cannot be computed is left out, as in the views. */
    return status == HUDDLE_NUMERIC || status == HUDDLE_INVALID ? HUDDLE_OK : status;
}
