/* The tree of fusions on a page: only groups that are large enough to be drawn. */
#include "report/run.h"

#include <math.h>
#include <stdlib.h>

/* A line of the drawing: a group, from the gamma at which it reaches the minimum size to the
 * one at which it joins another. Smaller groups are not drawn; there may be as many as points. */
typedef struct branch {
    int32_t parent; /* the branch it becomes part of, or -1 */
    int32_t alias;  /* the branch that it was merged with, or -1 */
    bool is_join;   /* made by two branches, not by growing */
    double born, joined;
    int64_t size;
} branch;

/* Rows are numbered 0 .. n - 1 and fusions n, n + 1, ..., as in a SciPy linkage. */
typedef struct branch_tree {
    const huddle_path *path;
    int64_t min_size;
    int32_t *branch_of; /* of each row and fusion: its branch, or -1 */
    branch *items;
    int32_t count, leaves;
} branch_tree;

/* items has room for a branch per node, so it never grows. */
static int32_t add_branch(branch_tree *tree, double gamma, int64_t size, bool is_join) {
    tree->items[tree->count] = (branch){-1, -1, is_join, gamma, NAN, size};
    tree->leaves += !is_join;
    return tree->count++;
}

/* A branch ends where it joins another. */
static void attach_branch(branch_tree *tree, int32_t child, int32_t parent, double gamma) {
    tree->items[child].parent = parent;
    tree->items[child].joined = gamma;
}

/* Merges a branch that was born at the gamma of the join into the other one: its line would
 * have no length. Children move over; the alias lets rows that refer to the old branch find
 * the new one. */
static void absorb_branch(branch_tree *tree, int32_t gone, int32_t kept) {
    for (int32_t i = 0; i < tree->count; i++)
        if (tree->items[i].parent == gone)
            tree->items[i].parent = kept;
    tree->items[gone].alias = kept;
    tree->leaves -= !tree->items[gone].is_join;
}

/* Joins two branches and returns the branch they form. Groups that fuse at one gamma are
 * listed as several fusions of two; all of them become one join. So a branch born at this very
 * gamma is absorbed if it grew to size just now, or extended if it is itself a join; only two
 * older branches make a new one. */
static int32_t join_branches(branch_tree *tree, int32_t x, int32_t y,
                             const huddle_path_fusion *fusion) {
    double gamma = fusion->gamma;
    const branch *a = &tree->items[x], *b = &tree->items[y];
    bool a_new = a->born >= gamma, b_new = b->born >= gamma;
    int32_t made = x;
    if (b_new && (!b->is_join || (a_new && a->is_join)))
        absorb_branch(tree, y, x);
    else if (a_new && !a->is_join)
        absorb_branch(tree, x, made = y);
    else if (a_new)
        attach_branch(tree, y, x, gamma);
    else if (b_new)
        attach_branch(tree, x, made = y, gamma);
    else {
        made = add_branch(tree, gamma, fusion->size, true);
        attach_branch(tree, x, made, gamma);
        attach_branch(tree, y, made, gamma);
    }
    tree->items[made].size = fusion->size;
    return made;
}

/* Builds the branches from the fusions, which are in the order of gamma: x and y are the
 * branches of the two parts, -1 while a part is too small. */
static void build_branches(branch_tree *tree) {
    const huddle_path *path = tree->path;
    tree->count = tree->leaves = 0;
    for (int64_t i = 0; i < path->n + path->n_fusions; i++)
        tree->branch_of[i] = -1;
    for (int64_t i = 0; i < path->n_fusions; i++) {
        const huddle_path_fusion *fusion = &path->fusions[i];
        int32_t x = tree->branch_of[fusion->a], y = tree->branch_of[fusion->b];
        int32_t made = x >= 0 ? x : y;
        if (x >= 0 && y >= 0)
            made = join_branches(tree, x, y, fusion);
        else if (made >= 0)
            tree->items[made].size = fusion->size;
        else if (fusion->size >= tree->min_size)
            made = add_branch(tree, fusion->gamma, fusion->size, false);
        tree->branch_of[path->n + i] = made;
    }
}

/* Aliases may form chains, since a branch can be absorbed several times. */
static int32_t resolve_alias(const branch_tree *tree, int32_t i) {
    while (i >= 0 && tree->items[i].alias >= 0)
        i = tree->items[i].alias;
    return i;
}

/* Passes the branch of each fusion down to the rows in it that belong to no smaller branch.
 * Backwards, because a fusion's parts precede it. */
static void assign_rows(branch_tree *tree) {
    const huddle_path *path = tree->path;
    for (int64_t i = path->n_fusions - 1; i >= 0; i--) {
        int32_t own = tree->branch_of[path->n + i];
        const int32_t parts[] = {path->fusions[i].a, path->fusions[i].b};
        for (int k = 0; k < 2; k++)
            if (tree->branch_of[parts[k]] < 0)
                tree->branch_of[parts[k]] = own;
    }
}

/* counts[branch * width + label] of the rows that belong to each branch and to none below it. */
static int64_t *count_labels(const branch_tree *tree, const int32_t *labels, int32_t width) {
    int64_t *counts = calloc((size_t)tree->count * (size_t)width + 1, sizeof *counts);
    for (int64_t i = 0; i < tree->path->n && counts != NULL; i++) {
        int32_t own = resolve_alias(tree, tree->branch_of[i]);
        if (own >= 0)
            counts[(int64_t)own * width + labels[i]]++;
    }
    return counts;
}

/* The most frequent label of a branch and its share; null if the branch has no rows of its
 * own. */
static json_t *main_label_json(const int64_t *counts, int32_t width) {
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

/* parent, born and joined place the line; "cluster" and "class" colour it. Ids are not
 * consecutive, because merged branches are left out. */
static json_t *branch_json(const branch_tree *tree, int32_t i, json_t *cluster) {
    const branch *b = &tree->items[i];
    return json_pack("{s:i, s:i, s:b, s:o, s:o, s:I, s:o}", "id", i, "parent",
                     resolve_alias(tree, b->parent), "join", b->is_join, "born", page_real(b->born),
                     "joined", page_real(b->joined), "size", (json_int_t)b->size, "cluster",
                     cluster);
}

/* Each branch with its most frequent cluster, and class if known, which decide its colour. */
static json_t *branches_json(const branch_tree *tree, const report_run *run) {
    json_t *list = NULL;
    const int32_t *classes = run->options->classes;
    int32_t n_classes = run->options->n_classes, n_clusters = run->n_clusters;
    int64_t *by_cluster = count_labels(tree, run->labels, n_clusters);
    int64_t *by_class = classes == NULL ? NULL : count_labels(tree, classes, n_classes);
    if (by_cluster == NULL || (classes != NULL && by_class == NULL))
        goto done;
    list = json_array();
    for (int32_t i = 0; i < tree->count; i++) {
        if (tree->items[i].alias >= 0)
            continue;
        json_t *made =
            branch_json(tree, i, main_label_json(by_cluster + (int64_t)i * n_clusters, n_clusters));
        if (by_class != NULL)
            page_set(made, "class", main_label_json(by_class + (int64_t)i * n_classes, n_classes));
        page_append(list, made);
    }
done:
    FREE(by_class, by_cluster);
    return list;
}

/* The branch that each sampled point belongs to, as its position in the list of branches; 255 for
 * none. MAX_LEAVES keeps the positions below. */
static json_t *members_json(const branch_tree *tree, const report_run *run) {
    unsigned char *bytes = malloc((size_t)run->count + 1);
    int32_t *place = calloc((size_t)tree->count + 1, sizeof *place), listed = 0;
    json_t *made = NULL;
    if (bytes == NULL || place == NULL)
        goto done;
    for (int32_t i = 0; i < tree->count; i++)
        place[i] = tree->items[i].alias >= 0 ? -1 : listed++;
    for (int64_t i = 0; i < run->count; i++) {
        int32_t own = resolve_alias(tree, tree->branch_of[run->rows[i]]);
        bytes[i] = own < 0 || place[own] >= 255 ? 255 : (unsigned char)place[own];
    }
    made = page_bytes(bytes, (size_t)run->count);
done:
    FREE(place, bytes);
    return made;
}

/* The minimum size grows by half until the tree fits a page. It ends: with a minimum above n
 * there are no leaves. */
json_t *report_tree_json(const report_run *run, const huddle_path *path) {
    enum { MAX_LEAVES = 24, MIN_SIZE = 3 };
    size_t nodes = (size_t)(path->n + path->n_fusions) + 1;
    int64_t min_size = run->n / 200; /* half a per cent of the points */
    branch_tree tree = {.path = path, .min_size = min_size > MIN_SIZE ? min_size : MIN_SIZE};
    tree.branch_of = calloc(nodes, sizeof *tree.branch_of);
    tree.items = calloc(nodes, sizeof *tree.items);
    json_t *made = NULL;
    if (tree.branch_of == NULL || tree.items == NULL)
        goto done;
    build_branches(&tree);
    while (tree.leaves > MAX_LEAVES) {
        tree.min_size += tree.min_size / 2;
        build_branches(&tree);
    }
    assign_rows(&tree);
    made = json_pack("{s:o, s:I, s:o}", "branches", branches_json(&tree, run), "least",
                     (json_int_t)tree.min_size, "members", members_json(&tree, run));
done:
    FREE(tree.items, tree.branch_of);
    return made;
}
