#include "shrink/path.h"

#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "shrink/coarse.h"
#include "shrink/problem.h"
#include "shrink/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The path ends at gamma_up or at this multiple of n / c: where parts of the graph are connected by
 * a very light edge, gamma_up is very large. With the loss "l2", whose gamma_fit is 0, it begins at
 * this share of its end, since a grid in log gamma needs a positive start. */
static const double largest_gamma = 1e3, first_share = 1e-4;

/* Groups of at least this share of n / n_clusters rows, and of at least 2 rows, count as large;
 * smaller ones are outliers that have not fused yet. */
static const double large_share = .05;

/* Trees that never fuse are joined at this multiple of the largest gamma of the path: programs that
 * draw dendrograms need finite heights, and a visible distance above the last fusion. */
static const double join_factor = 10;

/* ---- options ------------------------------------------------------------------------------- */

const huddle_option *huddle_path_options_table(void) {
    static const huddle_option table[] = {
        HD_INT(huddle_path_options, n_gamma, "30", 1, 10000, "levels of the path"),
        HD_BOOL(huddle_path_options, keep_shrunk, "false", "keep the shrunk rows of every level"),
        {0}};
    return table;
}

huddle_path_options huddle_path_defaults(void) {
    huddle_path_options options = {0};
    huddle_options_default(huddle_path_options_table(), &options);
    options.shrink = huddle_shrink_defaults();
    return options;
}

/* Ascending values are required because each level starts from the one before, and because the tree
 * needs an order. */
static huddle_status check_grid(const huddle_path_options *options) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_options_check(huddle_path_options_table(), options));
    for (int32_t k = 0; options->gammas != NULL && k < options->n_gamma; k++) {
        double gamma = options->gammas[k], before = k > 0 ? options->gammas[k - 1] : 0;
        if (!(gamma > before) || isinf(gamma))
            FAIL(HUDDLE_INVALID, "gammas: %g after %g; they must be positive and ascend", gamma,
                 before);
    }
done:
    return status;
}

/* ---- the levels ---------------------------------------------------------------------------- */

/* gamma of every level: the caller's, or evenly spaced in log gamma between the ends
 * (docs/method.md, "The two ends of gamma"). The last one is set directly, since pow() may round it
 * to just below gamma_up. The corrections below handle graphs without edges (gamma_up = 0,
 * gamma_fit infinite) and bounds that cross. The gamma at which a group moves is proportional to
 * its size ("In between"), and sizes extend over orders of magnitude, hence the logarithm. */
static huddle_status set_gammas(huddle_context *context, const huddle_dense *f,
                                const huddle_path_options *options, huddle_path *path) {
    huddle_status status = HUDDLE_OK;
    int32_t n = options->n_gamma;
    double total;
    double c =
        options->shrink.n_clusters == HUDDLE_AUTO ? (double)f->cols : options->shrink.n_clusters;
    TRY(hd_shrink_total_weight(context, options->shrink.weights, f->rows, &total));
    double last = fmin(path->gamma_up, largest_gamma * total / c);
    double first = strcmp(options->shrink.loss, "l2") == 0 ? first_share * last : path->gamma_fit;
    if (!(last > 0))
        last = 1;
    if (!(first < last))
        first = .1 * last;
    for (int32_t k = 0; k < n; k++)
        path->levels[k].gamma = options->gammas != NULL ? options->gammas[k]
                                : k == n - 1
                                    ? last
                                    : first * pow(last / first, (double)k / (n > 1 ? n - 1 : 1));
done:
    return status;
}

/* Solves one level, starting from the G of the level before, which is then replaced by the new
 * one. */
static huddle_status solve_level(huddle_context *context, const huddle_dense *f,
                                 const huddle_csr *w, const huddle_shrink_options *options,
                                 int32_t level, huddle_path *path, huddle_dense *g) {
    huddle_status status = HUDDLE_OK;
    /* The dual of a level is not needed again: the certificate is computed inside
     * huddle_shrink(). */
    huddle_shrink_options own = *options;
    huddle_path_level *l = &path->levels[level];
    huddle_shrunk shrunk = {0};
    huddle_shrink_info info = {0};
    own.gamma = l->gamma;
    /* From an earlier solution the published iteration would not get away: rows that are at F, and
     * pairs that have fused, have weights of 1 / shrink_epsilon there. */
    own.start = level > 0 && !hd_shrink_is_published(own.solver) ? g : NULL;
    own.keep_dual = false;
    TRY(huddle_shrink(context, f, w, &own, &shrunk, &info));
    l->objective = info.objective;
    l->dual = info.dual;
    l->gap = info.gap;
    l->n_groups = info.n_groups;
    l->n_iter = info.n_iter;
    l->stop = info.stop;
    memcpy(path->groups + level * path->n, shrunk.group, (size_t)path->n * sizeof(int32_t));
    huddle_dense_free(g);
    *g = shrunk.g;
    shrunk.g = (huddle_dense){0};
    /* A copy, since g is the start of the next level. */
    if (path->shrunk != NULL)
        TRY(huddle_dense_copy(g, &path->shrunk[level]));
done:
    huddle_shrunk_free(&shrunk);
    huddle_shrink_info_free(&info);
    return status;
}

/* ---- the tree ------------------------------------------------------------------------------ */

/* A row with its group in each of two partitions, for sorting. */
typedef struct pair {
    int32_t a, b, row;
} pair;

static int by_pair(const void *x, const void *y) {
    const pair *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    if (p->b != q->b)
        return p->b < q->b ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* stay becomes the common refinement of itself and the groups of the level: rows are together if
 * they are together in both. Rows are sorted by the pair of groups; each set is named after its
 * first row, and the names are then numbered from 0 by first appearance. */
static huddle_status refine_groups(const int32_t *groups, int64_t n, pair *pairs, int32_t *stay) {
    /* The sort also orders by row, so that the first of a set is its smallest row. */
    int32_t unused, name = 0;
    for (int64_t i = 0; i < n; i++)
        pairs[i] = (pair){stay[i], groups[i], (int32_t)i};
    qsort(pairs, (size_t)n, sizeof *pairs, by_pair);
    for (int64_t k = 0; k < n; k++) {
        bool same = k > 0 && pairs[k].a == pairs[k - 1].a && pairs[k].b == pairs[k - 1].b;
        if (!same)
            name = pairs[k].row;
        stay[pairs[k].row] = name;
    }
    return hd_shrink_number_by_first(stay, n, &unused);
}

/* stay: n_levels x n, for each level the sets of rows that are together there and at all higher
 * levels. Groups may split again as gamma grows; these sets cannot, since each is a refinement
 * of the next, so that they form a tree. */
static huddle_status find_lasting_groups(const huddle_path *path, int32_t *stay) {
    huddle_status status = HUDDLE_OK;
    int64_t n = path->n;
    pair *pairs = NULL;
    ALLOC(pairs, n);
    /* At the last level every group lasts; each lower level refines the sets of the one above. */
    memcpy(stay + (path->n_levels - 1) * n, path->groups + (path->n_levels - 1) * n,
           (size_t)n * sizeof *stay);
    for (int32_t l = path->n_levels - 2; l >= 0; l--) {
        memcpy(stay + l * n, stay + (l + 1) * n, (size_t)n * sizeof *stay);
        TRY(refine_groups(path->groups + l * n, n, pairs, stay + l * n));
    }
done:
    huddle_free(pairs);
    return status;
}

/* Builds the tree from the lowest level up: two sets of rows that a lasting group unites, and that
 * no lower level has united, are a fusion. node is the current tree (a row or a fusion) of each
 * set, stored at the root of the union-find forest; the smallest row of a set is its root. A group
 * that unites several sets at one level becomes several fusions at the same gamma, in the order of
 * rows. */
static huddle_status grow_tree(huddle_path *path, const int32_t *stay) {
    huddle_status status = HUDDLE_OK;
    int64_t n = path->n;
    int32_t *node = NULL, *first = NULL, *parent = NULL;
    int64_t *size = NULL;
    ALLOC(parent, n);
    ALLOC(node, n);
    ALLOC(size, n);
    ALLOC(first, n);
    ALLOC(path->fusions, n);
    for (int64_t i = 0; i < n; i++) {
        parent[i] = node[i] = (int32_t)i;
        size[i] = 1;
    }
    for (int32_t l = 0; l < path->n_levels; l++) {
        memset(first, -1, (size_t)n * sizeof *first);
        for (int64_t i = 0; i < n; i++) {
            int32_t group = stay[l * n + i];
            if (first[group] < 0) {
                first[group] = (int32_t)i;
                continue;
            }
            int32_t a = hd_find_root(parent, first[group]), b = hd_find_root(parent, (int32_t)i);
            if (a == b)
                continue;
            path->fusions[path->n_fusions] =
                (huddle_path_fusion){node[a], node[b], path->levels[l].gamma, size[a] + size[b]};
            /* The smaller of two roots becomes the root of both (base/union.h). */
            hd_unite(parent, a, b);
            int32_t root = a < b ? a : b;
            size[root] = size[a] + size[b];
            node[root] = (int32_t)(n + path->n_fusions++);
        }
    }
done:
    FREE(first, size, node, parent);
    return status;
}

/* Lasting groups first, then the tree. */
huddle_status hd_shrink_find_fusions(huddle_path *path) {
    huddle_status status = HUDDLE_OK;
    int32_t *stay = NULL;
    ALLOC(stay, path->n_levels * path->n);
    TRY(find_lasting_groups(path, stay));
    TRY(grow_tree(path, stay));
done:
    huddle_free(stay);
    return status;
}

/* ---- the path ------------------------------------------------------------------------------ */

/* Levels are solved in ascending order of gamma, each starting from the solution before it. Rows
 * that have fused are one point at the start of the next level, where most of them stay
 * together. */
huddle_status huddle_shrink_path(huddle_context *context, const huddle_dense *f,
                                 const huddle_csr *w, const huddle_path_options *options,
                                 huddle_path *out) {
    huddle_status status = HUDDLE_OK;
    huddle_path_options own = options == NULL ? huddle_path_defaults() : *options;
    huddle_dense g = {0};
    memset(out, 0, sizeof *out);
    TRY(check_grid(&own));
    if (f->rows > INT32_MAX / 2)
        FAIL(HUDDLE_UNSUPPORTED, "a tree of %lld rows is more than this build can number",
             (long long)f->rows);
    TRY(huddle_shrink_ends(context, f, w, own.shrink.weights, own.shrink.loss, &out->gamma_fit,
                           &out->gamma_up));
    out->n = f->rows;
    out->n_levels = own.n_gamma;
    ALLOC_ZERO(out->levels, own.n_gamma);
    ALLOC(out->groups, own.n_gamma * out->n);
    if (own.keep_shrunk)
        ALLOC_ZERO(out->shrunk, own.n_gamma);
    TRY(set_gammas(context, f, &own, out));
    for (int32_t l = 0; l < own.n_gamma; l++) {
        TRY(hd_progress(context, "path", l, own.n_gamma));
        TRY(solve_level(context, f, w, &own.shrink, l, out, &g));
    }
    TRY(hd_shrink_find_fusions(out));
done:
    huddle_dense_free(&g);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        huddle_path_free(out);
    return status;
}

void huddle_path_free(huddle_path *path) {
    for (int32_t l = 0; path->shrunk != NULL && l < path->n_levels; l++)
        huddle_dense_free(&path->shrunk[l]);
    FREE(path->shrunk, path->levels, path->groups, path->fusions);
    memset(path, 0, sizeof *path);
}

/* ---- the path of many rows: levels on aggregates, and the tree of all rows from their groups ----
 */

/* A level that the caller has solved already, or -1. */
static int32_t find_known(const huddle_path *known, double gamma) {
    for (int32_t l = 0; known != NULL && l < known->n_levels; l++)
        if (known->levels[l].gamma == gamma)
            return l;
    return -1;
}

static huddle_status keep_level(const huddle_path_level *level, const huddle_dense *g,
                                huddle_path *out) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_copy(g, &out->shrunk[out->n_levels]));
    out->levels[out->n_levels++] = *level;
done:
    return status;
}

/* Adds a level to the tree: rows are in the group of their aggregate or, without groups, in the
 * aggregate itself. */
static void add_groups(const hd_shrink_coarse *p, double gamma, const int32_t *group,
                       huddle_path *tree) {
    int32_t *groups = tree->groups + tree->n_levels * tree->n;
    for (int64_t i = 0; i < tree->n; i++)
        groups[i] = group == NULL ? p->aggregate[i] : group[p->aggregate[i]];
    tree->levels[tree->n_levels++].gamma = gamma;
}

/* Solves one level and keeps it if it is proven well enough. The rows of an aggregate are one from
 * the first of these levels on. */
static huddle_status add_level(hd_shrink_coarse *p, double gamma, double gap, double max_gap,
                               huddle_path *tree, huddle_path *out) {
    huddle_status status = HUDDLE_OK;
    huddle_path_level level = {.gamma = gamma};
    TRY(hd_shrink_coarse_solve(p, gap, &level));
    if (!(level.gap <= max_gap))
        goto done;
    TRY(keep_level(&level, &p->g, out));
    if (tree->n_levels == 0)
        add_groups(p, gamma, NULL, tree);
    add_groups(p, gamma, p->group, tree);
done:
    return status;
}

static huddle_status check_options(huddle_context *context, const huddle_path_options *options) {
    huddle_status status = HUDDLE_OK;
    if (options == NULL || options->gammas == NULL)
        FAIL(HUDDLE_INVALID, "a path on aggregates needs its gammas");
    TRY(check_grid(options));
    if (hd_context_engine(context)->slabs != NULL)
        FAIL(HUDDLE_UNSUPPORTED, "a path on aggregates needs all rows in one process");
done:
    return status;
}

huddle_status huddle_shrink_path_coarse(huddle_context *context, const huddle_dense *f,
                                        const huddle_csr *w, const huddle_path_options *options,
                                        const huddle_path *known, double max_gap, huddle_path *out,
                                        int32_t *n_aggregates) {
    huddle_status status = HUDDLE_OK;
    hd_shrink_coarse p = {0};
    huddle_path tree = {.n = f->rows};
    memset(out, 0, sizeof *out);
    TRY(check_options(context, options));
    out->n = f->rows;
    ALLOC(out->levels, options->n_gamma);
    ALLOC_ZERO(out->shrunk, options->n_gamma);
    ALLOC_ZERO(tree.levels, options->n_gamma + 1);
    ALLOC(tree.groups, (options->n_gamma + 1) * tree.n);
    TRY(hd_shrink_coarse_open(context, f, w, options->shrink.loss, &p));
    for (int32_t k = 0; k < options->n_gamma; k++) {
        double gamma = options->gammas[k];
        int32_t l = find_known(known, gamma);
        TRY(hd_progress(context, "path", k, options->n_gamma));
        TRY(l >= 0 ? keep_level(&known->levels[l], &known->shrunk[l], out)
                   : add_level(&p, gamma, options->shrink.gap, max_gap, &tree, out));
    }
    if (tree.n_levels > 0)
        TRY(hd_shrink_find_fusions(&tree));
    out->fusions = tree.fusions;
    out->n_fusions = tree.n_fusions;
    tree.fusions = NULL;
    *n_aggregates = p.count;
done:
    hd_shrink_coarse_close(&p);
    huddle_path_free(&tree);
    if (status != HUDDLE_OK)
        huddle_path_free(out);
    return status;
}

/* ---- the tree as a linkage ----------------------------------------------------------------- */

/* A row in the format of SciPy's linkage matrices: the two nodes, the height, the number of
 * rows. */
static void set_row(huddle_dense *linkage, int64_t i, int64_t a, int64_t b, double gamma,
                    int64_t size) {
    double *row = linkage->values + i * linkage->stride;
    row[0] = (double)a;
    row[1] = (double)b;
    row[2] = gamma;
    row[3] = (double)size;
}

/* The tree of a path as n - 1 merges. Nodes 0 .. n - 1 are rows, node n + i is merge i. A path may
 * end with several trees (components of the graph, or a gamma that does not fuse them), but a
 * linkage has one root: the trees are joined above all fusions. */
huddle_status huddle_path_linkage(const huddle_path *path, huddle_dense *linkage) {
    huddle_status status = HUDDLE_OK;
    int64_t n = path->n, made = path->n_fusions, root = -1, size = 0;
    bool *inside = NULL; /* of each row and fusion: part of a later fusion */
    double top = made > 0 ? path->fusions[made - 1].gamma : 0;
    memset(linkage, 0, sizeof *linkage);
    if (n < 1)
        FAIL(HUDDLE_INVALID, "the path has no rows");
    if (path->n_levels > 0)
        top = fmax(top, path->levels[path->n_levels - 1].gamma);
    TRY(huddle_dense_new(n - 1, 4, linkage));
    ALLOC_ZERO(inside, n + made);
    for (int64_t i = 0; i < made; i++) {
        const huddle_path_fusion *f = &path->fusions[i];
        set_row(linkage, i, f->a, f->b, f->gamma, f->size);
        inside[f->a] = inside[f->b] = true;
    }
    /* The roots of the remaining trees in ascending order, each joined with all before it. There
     * are n - n_fusions of them, hence n - 1 rows in all. */
    for (int64_t node = 0; node < n + path->n_fusions; node++) {
        if (inside[node])
            continue;
        size += node < n ? 1 : path->fusions[node - n].size;
        if (root >= 0)
            set_row(linkage, made++, root, node, join_factor * top, size);
        root = root < 0 ? node : n + made - 1;
    }
done:
    huddle_free(inside);
    if (status != HUDDLE_OK)
        huddle_dense_free(linkage);
    return status;
}

/* ---- labels -------------------------------------------------------------------------------- */

/* Counts the groups with at least `min_size` rows; size becomes the number of rows of each. */
static int32_t count_large_groups(const int32_t *groups, int64_t n, double min_size,
                                  int64_t *size) {
    int32_t count = 0;
    memset(size, 0, (size_t)n * sizeof *size);
    for (int64_t i = 0; i < n; i++)
        size[groups[i]]++;
    for (int64_t q = 0; q < n; q++)
        count += (double)size[q] >= min_size;
    return count;
}

/* The coarsest level with at least n_clusters large groups or, if there is none, the coarsest with
 * the largest number of them. From the top down, so that the first match is the coarsest. This
 * takes one pass over the rows for each level. */
static int32_t choose_level(const huddle_path *path, int32_t n_clusters, double min_size,
                            int64_t *size, huddle_path_choice *choice) {
    int32_t best = 0;
    choice->n_found = -1;
    for (int32_t l = path->n_levels - 1; l >= 0; l--) {
        int32_t count = count_large_groups(path->groups + l * path->n, path->n, min_size, size);
        if (count > choice->n_found) {
            choice->n_found = count;
            best = l;
        }
        if (count >= n_clusters)
            break;
    }
    bool found = choice->n_found >= n_clusters;
    choice->level = found ? best : -1;
    choice->gamma = found ? path->levels[best].gamma : 0;
    return best;
}

/* cluster[q] = rank of group q among the `count` largest (ties by number), or -1. Selection by
 * repeated passes: `count` is the number of clusters, which is small. */
static void rank_groups(const int64_t *size, int64_t n, int32_t count, int32_t *cluster) {
    memset(cluster, -1, (size_t)n * sizeof *cluster);
    for (int32_t k = 0; k < count; k++) {
        int64_t best = -1;
        for (int64_t q = 0; q < n; q++)
            if (cluster[q] < 0 && (best < 0 || size[q] > size[best]))
                best = q;
        cluster[best] = k;
    }
}

/* Every row without a label joins the cluster with the nearest mean. The means are of the rows
 * labelled so far, so that the result does not depend on the order of the others. */
static huddle_status join_nearest(const huddle_dense *x, int32_t count, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int64_t c = x->cols;
    double *mean = NULL;
    ALLOC_ZERO(mean, count * c);
    TRY(hd_shrink_find_means(NULL, x, NULL, labels, NULL, count, 0, mean));
    for (int64_t i = 0; i < x->rows; i++) {
        double smallest = INFINITY;
        int32_t nearest = 0;
        if (labels[i] >= 0)
            continue;
        for (int32_t q = 0; q < count; q++) {
            double square = hd_shrink_distance2(x->values + i * x->stride, mean + q * c, c);
            if (square < smallest) {
                smallest = square;
                nearest = q;
            }
        }
        labels[i] = nearest;
    }
done:
    huddle_free(mean);
    return status;
}

/* Labels without K-means (docs/method.md, "The two ends of gamma"): the c largest groups of the
 * coarsest suitable level, and all other rows by the nearest mean in x. */
huddle_status huddle_path_labels(huddle_context *context, const huddle_path *path,
                                 const huddle_dense *x, int32_t n_clusters, int32_t *labels,
                                 huddle_path_choice *choice) {
    huddle_status status = HUDDLE_OK;
    huddle_path_choice own;
    int64_t n = path->n, *size = NULL;
    int32_t *cluster = NULL, unused;
    (void)context;
    if (n_clusters < 1 || n_clusters > n)
        FAIL(HUDDLE_INVALID, "n_clusters = %d is outside [1, %lld]", n_clusters, (long long)n);
    if (path->n_levels < 1)
        FAIL(HUDDLE_INVALID, "the path has no levels");
    if (path->groups == NULL)
        FAIL(HUDDLE_INVALID, "the path has no groups");
    TRY(hd_shrink_check_rows(x, "x", n));
    ALLOC(size, n);
    ALLOC(cluster, n);
    /* With as many clusters as rows, single rows are clusters; otherwise a group has at least
     * two. */
    double min_size = fmax(n_clusters == n ? 1 : 2, large_share * (double)n / n_clusters);
    int32_t level = choose_level(path, n_clusters, min_size, size, &own);
    const int32_t *groups = path->groups + level * n;
    count_large_groups(groups, n, min_size, size);
    /* If no level has enough large groups, fewer clusters are returned. */
    int32_t count = own.n_found < n_clusters ? own.n_found : n_clusters;
    rank_groups(size, n, count, cluster);
    for (int64_t i = 0; i < n; i++)
        labels[i] = count > 0 ? cluster[groups[i]] : 0;
    if (count > 0)
        TRY(join_nearest(x, count, labels));
    /* As the labels of fits are numbered. */
    TRY(hd_shrink_number_by_first(labels, n, &unused));
    if (choice != NULL)
        *choice = own;
done:
    FREE(cluster, size);
    return status;
}
