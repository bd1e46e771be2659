/* The path of gamma on a page: points that move, and the tree of fusions. */
#include "arrays.h"
#include "report_run.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points that move --------------------------------------------------------------------- */

/* The plane of F's components: it stays as gamma grows, so that what moves is G alone. */
static huddle_status find_plane(report_run *run) {
    huddle_array f = {0};
    huddle_points points = {0};
    huddle_status status = huddle_model_array(run->fit->model, "embedding", &f);
    if (status != HUDDLE_OK)
        return status;
    huddle_dense rows = array_dense(&f);
    status = dense_points(run->fit->context, &rows, NULL, rows.rows, &points);
    if (status == HUDDLE_OK)
        status = fit_plane(run, &points, &run->plane);
    huddle_points_free(&points);
    return status;
}

static huddle_status place_level(report_run *run, const huddle_dense *g, int64_t count,
                                 huddle_points *placed) {
    huddle_points taken = {0};
    huddle_status status = dense_points(run->fit->context, g, run->rows, count, &taken);
    if (status == HUDDLE_OK)
        status = huddle_prepare_apply(run->fit->context, &run->plane, &taken, placed, NULL);
    huddle_points_free(&taken);
    return status;
}

/* Every level in turn, in as many columns as the plane has, an even number. */
static json_t *moves_json(report_run *run, const huddle_path *path) {
    int64_t count = run->count < PATH_POINTS ? run->count : PATH_POINTS;
    huddle_status status = find_plane(run);
    int32_t cols = run->plane.d_out < 4 ? 2 : (int32_t)run->plane.d_out / 2 * 2;
    size_t size = (size_t)(count * cols);
    uint16_t *steps = must(malloc((size * (size_t)path->n_levels + 1) * sizeof *steps));
    number_grid grid = {.span = 1};
    json_t *moves = NULL;
    for (int32_t l = 0; l < path->n_levels && status == HUDDLE_OK; l++) {
        huddle_points placed = {0};
        status = place_level(run, &path->shrunk[l], count, &placed);
        if (status == HUDDLE_OK && l == 0)
            grid = grid_of(&placed);
        if (status == HUDDLE_OK)
            grid_put(&grid, &placed, cols, steps + size * (size_t)l);
        huddle_points_free(&placed);
    }
    if (status == HUDDLE_OK) {
        moves = grid_json(&grid, cols);
        json_object_set_new(moves, "count", json_integer((json_int_t)count));
        json_object_set_new(moves, "data", page_uint16(steps, size * (size_t)path->n_levels));
    }
    free(steps);
    return moves;
}

static json_t *levels_json(const huddle_path *path) {
    json_t *levels = json_array();
    for (int32_t i = 0; i < path->n_levels; i++) {
        const huddle_path_level *level = &path->levels[i];
        json_array_append_new(
            levels, json_pack("{s:o, s:o, s:o, s:i, s:i, s:s}", "gamma", page_real(level->gamma),
                              "objective", page_real(level->objective), "gap",
                              page_real(level->gap), "groups", level->n_groups, "n_iter",
                              level->n_iter, "stop", huddle_stop_name(level->stop)));
    }
    return levels;
}

json_t *path_json(report_run *run, const huddle_path *path, double used, const char *used_label) {
    json_t *moves = path->shrunk == NULL ? NULL : moves_json(run, path);
    if (moves == NULL)
        return NULL;
    double mean_size = (double)run->n / (run->n_clusters > 0 ? run->n_clusters : 1);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "moves", moves, "levels",
                     levels_json(path), "gamma_fit", page_real(path->gamma_fit), "gamma_up",
                     page_real(path->gamma_up), "used", page_real(used), "used_label", used_label,
                     "mean_size", page_real(mean_size));
}

/* ---- the tree ----------------------------------------------------------------------------- */

/* A group that is large enough to be drawn, from the gamma at which it becomes so to the one at
 * which it joins another. */
typedef struct branch {
    int32_t parent; /* the branch it becomes part of, or -1 */
    int32_t alias;  /* drawn as this branch instead, or -1 */
    bool is_join;
    double born, joined;
    int64_t size;
} branch;

typedef struct branches {
    const huddle_path *path;
    int64_t least;
    int32_t *of; /* of each row and fusion: its branch, or -1 */
    branch *items;
    int32_t count, leaves;
} branches;

static int32_t add_branch(branches *tree, double gamma, int64_t size, bool is_join) {
    tree->items[tree->count] = (branch){-1, -1, is_join, gamma, NAN, size};
    tree->leaves += !is_join;
    return tree->count++;
}

static void attach(branches *tree, int32_t child, int32_t parent, double gamma) {
    tree->items[child].parent = parent;
    tree->items[child].joined = gamma;
}

/* One branch that came to be at this very gamma is no branch of its own beside the other. */
static void absorb(branches *tree, int32_t gone, int32_t kept) {
    for (int32_t i = 0; i < tree->count; i++)
        if (tree->items[i].parent == gone)
            tree->items[i].parent = kept;
    tree->items[gone].alias = kept;
    tree->leaves -= !tree->items[gone].is_join;
}

/* Many groups may fuse at one gamma, told as several fusions of two: those are one join. */
static int32_t join(branches *tree, int32_t x, int32_t y, const huddle_path_fusion *fusion) {
    double gamma = fusion->gamma;
    const branch *a = &tree->items[x], *b = &tree->items[y];
    bool a_new = a->born >= gamma, b_new = b->born >= gamma;
    int32_t made = x;
    if (b_new && (!b->is_join || (a_new && a->is_join)))
        absorb(tree, y, x);
    else if (a_new && !a->is_join)
        absorb(tree, x, made = y);
    else if (a_new)
        attach(tree, y, x, gamma);
    else if (b_new)
        attach(tree, x, made = y, gamma);
    else {
        made = add_branch(tree, gamma, fusion->size, true);
        attach(tree, x, made, gamma);
        attach(tree, y, made, gamma);
    }
    tree->items[made].size = fusion->size;
    return made;
}

static void grow(branches *tree) {
    const huddle_path *path = tree->path;
    tree->count = tree->leaves = 0;
    for (int64_t i = 0; i < path->n + path->n_fusions; i++)
        tree->of[i] = -1;
    for (int64_t i = 0; i < path->n_fusions; i++) {
        const huddle_path_fusion *fusion = &path->fusions[i];
        int32_t x = tree->of[fusion->a], y = tree->of[fusion->b], made = x >= 0 ? x : y;
        if (x >= 0 && y >= 0)
            made = join(tree, x, y, fusion);
        else if (made >= 0)
            tree->items[made].size = fusion->size;
        else if (fusion->size >= tree->least)
            made = add_branch(tree, fusion->gamma, fusion->size, false);
        tree->of[path->n + i] = made;
    }
}

static int32_t resolve(const branches *tree, int32_t i) {
    while (i >= 0 && tree->items[i].alias >= 0)
        i = tree->items[i].alias;
    return i;
}

/* counts[branch * width + label] of the rows that belong to each branch and to none below it. */
static int64_t *count_labels(branches *tree, const int32_t *labels, int32_t width) {
    const huddle_path *path = tree->path;
    int64_t *counts = must(calloc((size_t)tree->count * (size_t)width + 1, sizeof *counts));
    for (int64_t i = path->n_fusions - 1; i >= 0; i--) {
        int32_t own = tree->of[path->n + i];
        const int32_t parts[] = {path->fusions[i].a, path->fusions[i].b};
        for (int k = 0; k < 2; k++)
            if (tree->of[parts[k]] < 0)
                tree->of[parts[k]] = own;
    }
    for (int64_t i = 0; i < path->n; i++) {
        int32_t own = resolve(tree, tree->of[i]);
        if (own >= 0)
            counts[(int64_t)own * width + labels[i]]++;
    }
    return counts;
}

/* The most frequent label of a branch, and its share there. */
static json_t *major_json(const int64_t *counts, int32_t width) {
    int32_t best = 0;
    int64_t total = 0;
    for (int32_t k = 0; k < width; k++) {
        total += counts[k];
        best = counts[k] > counts[best] ? k : best;
    }
    if (total == 0)
        return json_null();
    return json_pack("{s:i, s:f}", "label", best, "share", (double)counts[best] / (double)total);
}

static json_t *branches_json(branches *tree, const report_run *run) {
    json_t *list = json_array();
    const int32_t *classes = run->fit->data.labels;
    int32_t n_classes = run->fit->data.n_classes;
    int64_t *by_cluster = count_labels(tree, run->labels, run->n_clusters);
    int64_t *by_class = classes == NULL ? NULL : count_labels(tree, classes, n_classes);
    for (int32_t i = 0; i < tree->count; i++) {
        const branch *b = &tree->items[i];
        if (b->alias >= 0)
            continue;
        json_t *made =
            json_pack("{s:i, s:i, s:b, s:o, s:o, s:I, s:o}", "id", i, "parent",
                      resolve(tree, b->parent), "join", b->is_join, "born", page_real(b->born),
                      "joined", page_real(b->joined), "size", (json_int_t)b->size, "cluster",
                      major_json(by_cluster + (int64_t)i * run->n_clusters, run->n_clusters));
        if (by_class != NULL)
            json_object_set_new(made, "class",
                                major_json(by_class + (int64_t)i * n_classes, n_classes));
        json_array_append_new(list, made);
    }
    free(by_class);
    free(by_cluster);
    return list;
}

json_t *tree_json(const report_run *run, const huddle_path *path) {
    enum { MOST_LEAVES = 40 };
    size_t nodes = (size_t)(path->n + path->n_fusions) + 1;
    branches tree = {.path = path, .least = run->n / 200 > 3 ? run->n / 200 : 3};
    tree.of = must(malloc(nodes * sizeof *tree.of));
    tree.items = must(malloc(nodes * sizeof *tree.items));
    grow(&tree);
    while (tree.leaves > MOST_LEAVES) {
        tree.least += tree.least / 2;
        grow(&tree);
    }
    json_t *made = json_pack("{s:o, s:I}", "branches", branches_json(&tree, run), "least",
                             (json_int_t)tree.least);
    free(tree.items);
    free(tree.of);
    return made;
}
