/* A kd-tree in double (Friedman, Bentley and Finkel, ACM TOMS 1977): nodes are split at the median
 * of their widest dimension, leaves have 32 points in panels of 8, every node has a tight bounding
 * box, and queries are answered in the order of the leaves, so that their paths stay in the cache.
 *
 * Equal points are never separated: a split is by value, so a node without extent is a leaf however
 * many points it has. Of such a "flat" leaf only the first k + 1 points can be neighbours. */
#include "base/check.h"
#include "base/parallel.h"
#include "graph/leaves.h"
#include "graph/search.h"
#include "graph/split.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAF = 32, /* points: four panels */
    QUERIES_PER_CHUNK = 128,
    MAX_PROBES = 100, /* queries that decide whether the tree pays */
    BRUTE_RATIO = 32, /* a distance here takes about the time of so many in the tiles of brute force
                         (`./dev bench graph`) */
};

static hd_graph_leaf_distances_function *const leaf_kernels[] =
    HD_SIMD_TABLE(hd_graph_leaf_distances);
static hd_graph_box_distance_function *const box_kernels[] = HD_SIMD_TABLE(hd_graph_box_distance);

typedef struct node {
    int32_t left;       /* the first of its children, which follow each other; -1 in a leaf */
    int32_t begin, end; /* its points: positions in `order` */
    int32_t widest;     /* its widest dimension; -1: flat, all its points are equal */
    int64_t panel;      /* leaf: the first of its panels */
} node;

typedef struct tree {
    hd_graph_search *search;
    int64_t n, d;
    double factor;   /* hd_graph_boxes_factor() */
    bool short_rows; /* distances are computed from the panels */
    double *points;  /* n x d, in the order of the rows */
    double *keys;    /* n: the coordinates by which a node is split */
    int32_t *order;  /* row numbers, leaf by leaf */
    double *panels;  /* leaves' points, [panel][feature][8] */
    int64_t n_panels;
    node *nodes;
    double *boxes; /* low and high of each node: nodes x 2 x d */
    int64_t n_nodes, node_capacity, box_capacity;
    hd_graph_leaf_distances_function *leaf;
    hd_graph_box_distance_function *box;
    double *queries;   /* query rows x d, or NULL: the points */
    int32_t *sequence; /* the order in which queries are answered, or NULL */
} tree;

/* ---- building ------------------------------------------------------------------------------ */

static double coordinate(const tree *t, int32_t place, int64_t f) {
    return t->points[t->order[place] * t->d + f];
}

/* Splits by value near the middle, so that both halves are as even as equal values allow. The
 * median value itself belongs to the upper half, or to the lower one if that makes the smaller half
 * larger. Both halves are non-empty because the node has an extent in f. */
static int32_t split_points(tree *t, int32_t begin, int32_t end, int32_t f) {
    int32_t size = end - begin, below = 0, equal = 0, front = begin;
    for (int32_t place = begin; place < end; place++)
        t->keys[place] = coordinate(t, place, f);
    hd_graph_split_at(t->keys, t->order, begin, end, begin + size / 2);
    double value = t->keys[begin + size / 2];
    for (int32_t place = begin; place < end; place++) {
        below += t->keys[place] < value;
        equal += t->keys[place] == value;
    }
    bool including = below == 0 || (below + equal < size && size - below - equal > below);
    for (int32_t place = begin; place < end; place++)
        if (t->keys[place] < value || (including && t->keys[place] == value)) {
            int32_t id = t->order[place];
            t->order[place] = t->order[front];
            t->order[front++] = id;
        }
    return front;
}

/* The box of a node; returns its widest dimension, or -1 if it has no extent. A tight box around
 * the points excludes more than the cell that the splits define. */
static int32_t measure_box(const tree *t, int32_t begin, int32_t end, double *low, double *high) {
    int32_t widest = -1;
    double width = 0;
    for (int64_t f = 0; f < t->d; f++)
        low[f] = high[f] = coordinate(t, begin, f);
    for (int32_t place = begin + 1; place < end; place++) {
        const double *p = t->points + t->order[place] * t->d;
        for (int64_t f = 0; f < t->d; f++) {
            low[f] = p[f] < low[f] ? p[f] : low[f];
            high[f] = p[f] > high[f] ? p[f] : high[f];
        }
    }
    for (int64_t f = 0; f < t->d; f++)
        if (high[f] - low[f] > width) {
            width = high[f] - low[f];
            widest = (int32_t)f;
        }
    return widest;
}

/* Adds a node of points begin .. end - 1 with its box; grow_tree() makes it a leaf or splits it. */
static huddle_status add_node(tree *t, int32_t begin, int32_t end) {
    int64_t at = t->n_nodes;
    if (!hd_grow(&t->nodes, &t->node_capacity, at + 1, sizeof *t->nodes) ||
        !hd_grow(&t->boxes, &t->box_capacity, (at + 1) * 2 * t->d, sizeof *t->boxes))
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for the tree's %lld-th node", (long long)at);
    double *box = t->boxes + at * 2 * t->d;
    t->nodes[t->n_nodes++] = (node){.left = -1,
                                    .begin = begin,
                                    .end = end,
                                    .widest = measure_box(t, begin, end, box, box + t->d)};
    return HUDDLE_OK;
}

/* Sorts the points of a leaf by number and reserves its panels. A flat leaf stores one point, since
 * all are equal; sorting makes its first points the ones that ties prefer. */
static void make_leaf(tree *t, node *leaf) {
    int64_t size = leaf->end - leaf->begin;
    qsort(t->order + leaf->begin, (size_t)size, sizeof *t->order, hd_graph_by_number);
    leaf->panel = t->n_panels;
    t->n_panels += hd_chunks(leaf->widest < 0 ? 1 : size, HD_GRAPH_LEAF_LANES);
}

/* Grows the tree in depth-first order, with a stack of the nodes that are not done yet: a recursion
 * could become deep where many values are equal. Panels are numbered from left to right like the
 * points in `order`, so that neighbouring leaves are adjacent in memory. `here` is not used after
 * add_node(), which may move the nodes. */
static huddle_status grow_tree(tree *t) {
    huddle_status status = HUDDLE_OK;
    int64_t capacity = 0, waiting = 0;
    int32_t *stack = NULL;
    TRY(add_node(t, 0, (int32_t)t->n));
    for (int32_t at = 0;;) {
        node *here = &t->nodes[at];
        if (here->widest < 0 || here->end - here->begin <= LEAF) {
            make_leaf(t, here);
            if (waiting == 0)
                break;
            at = stack[--waiting];
            continue;
        }
        int32_t begin = here->begin, end = here->end,
                middle = split_points(t, begin, end, here->widest);
        at = here->left = (int32_t)t->n_nodes;
        if (!hd_grow(&stack, &capacity, waiting + 1, sizeof *stack))
            FAIL(HUDDLE_NO_MEMORY, "no memory for the tree's depth of %lld", (long long)waiting);
        stack[waiting++] = at + 1;
        TRY(add_node(t, begin, middle));
        TRY(add_node(t, middle, end));
    }
done:
    huddle_free(stack);
    return status;
}

/* Copies the points of a leaf into its panels, padded with points at infinity. Loops over a panel
 * have a fixed length this way. */
static void fill_leaf(const tree *t, const node *leaf) {
    int64_t size = leaf->widest < 0 ? 1 : leaf->end - leaf->begin;
    int64_t count = hd_chunks(size, HD_GRAPH_LEAF_LANES) * HD_GRAPH_LEAF_LANES;
    for (int64_t c = 0; c < count; c++) {
        double *to =
            t->panels + (leaf->panel + c / HD_GRAPH_LEAF_LANES) * HD_GRAPH_LEAF_LANES * t->d;
        for (int64_t f = 0; f < t->d; f++)
            to[f * HD_GRAPH_LEAF_LANES + c % HD_GRAPH_LEAF_LANES] =
                c < size ? coordinate(t, (int32_t)(leaf->begin + c), f) : INFINITY;
    }
}

/* Reads the rows in double, grows the tree, fills the panels, and prepares the queries. */
static huddle_status build_tree(huddle_context *context, tree *t) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search *s = t->search;
    t->n = s->train->n;
    t->d = hd_graph_rows_width(s->train);
    t->factor = hd_graph_boxes_factor(t->d);
    t->short_rows = hd_graph_rows_short(s->train) && hd_graph_rows_short(s->query);
    ALLOC(t->points, t->n * t->d);
    ALLOC(t->order, t->n);
    for (int64_t i = 0; i < t->n; i++)
        t->order[i] = (int32_t)i;
    ALLOC(t->keys, t->n);
    /* Converted once: the tree reads single coordinates in no order. */
    TRY(hd_graph_rows_read_all(context, s->train, t->d, t->points));
    TRY(grow_tree(t));
    ALLOC(t->panels, t->n_panels * HD_GRAPH_LEAF_LANES * t->d);
    for (int64_t i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].left < 0)
            fill_leaf(t, &t->nodes[i]);
    /* Points among themselves are queried in the order of the leaves; new points have no such
     * order. */
    t->queries = t->points;
    t->sequence = t->order;
    if (s->query != s->train) {
        t->sequence = NULL;
        t->queries = NULL;
        ALLOC(t->queries, s->query->n * t->d);
        TRY(hd_graph_rows_read_all(context, s->query, t->d, t->queries));
    }
done:
    return status;
}

/* ---- searching ----------------------------------------------------------------------------- */

/* The state of a query during the descent. */
typedef struct visit {
    const tree *t;
    int64_t i;
    const double *q;
    const double *last; /* the k-th squared distance so far */
    int64_t n_distances;
} visit;

/* The distance for the list, by the arithmetic that all solvers use, so that results do not depend
 * on the solver. Short rows are read from the panel, which is in the cache already. `column` is the
 * place of the point in its panel. */
static double exact_distance2(const visit *v, const double *column, int32_t id) {
    const tree *t = v->t;
    double differences[HD_GRAPH_SHORT_ROW];
    if (!t->short_rows)
        return hd_graph_rows_distance2(t->search->query, v->i, t->search->train, id, *v->last);
    for (int64_t f = 0; f < t->d; f++)
        differences[f] = v->q[f] - column[f * HD_GRAPH_LEAF_LANES];
    return hd_graph_short_square(differences, t->d);
}

/* Inserts a point into the list of the query if it belongs there; `value` is its squared distance
 * by the kernel. It is excluded only if it is farther than the k-th neighbour by more than
 * rounding: a tie may still enter by its smaller index. */
static void insert_candidate(visit *v, double value, const double *column, int32_t id) {
    const hd_graph_search *s = v->t->search;
    if (v->t->factor * value <= *v->last && !hd_graph_search_skips(s, v->i, id))
        hd_graph_search_insert(s, v->i, id, exact_distance2(v, column, id));
}

/* Compares the query with the points of a leaf, eight at a time. */
static void scan_leaf(visit *v, const node *leaf) {
    const tree *t = v->t;
    double values[HD_GRAPH_LEAF_LANES];
    int64_t size = leaf->end - leaf->begin;
    if (leaf->widest < 0) {
        /* Points are sorted by number: the first k, and one more in case the query is among them,
         * are sufficient. */
        const double *panel = t->panels + leaf->panel * HD_GRAPH_LEAF_LANES * t->d;
        t->leaf(v->q, panel, t->d, values);
        for (int64_t c = 0; c < size && c <= t->search->k; c++)
            insert_candidate(v, values[0], panel, t->order[leaf->begin + c]);
        v->n_distances++;
        return;
    }
    for (int64_t c = 0; c < size; c += HD_GRAPH_LEAF_LANES) {
        const double *panel = t->panels + (leaf->panel * HD_GRAPH_LEAF_LANES + c) * t->d;
        t->leaf(v->q, panel, t->d, values);
        for (int64_t e = c; e < size && e < c + HD_GRAPH_LEAF_LANES; e++)
            if (t->factor * values[e - c] <= *v->last)
                insert_candidate(v, values[e - c], panel + (e - c), t->order[leaf->begin + e]);
    }
    v->n_distances += size;
}

/* A lower bound on the squared distance to the points of a node, safe against rounding. */
static double box_distance(const visit *v, int32_t at) {
    const tree *t = v->t;
    const double *box = t->boxes + (int64_t)at * 2 * t->d;
    return t->factor * t->box(v->q, box, box + t->d, t->d);
}

/* Visits the subtree of node `at`, the nearer child first: it makes the k-th distance small, which
 * then excludes the other child. A node is skipped only if its bound is strictly larger, because of
 * ties. The far child is handled by the loop, so that the recursion is as deep as the tree. */
static void visit_subtree(visit *v, int32_t at) {
    const tree *t = v->t;
    for (;;) {
        const node *here = &t->nodes[at];
        if (here->left < 0) {
            scan_leaf(v, here);
            return;
        }
        /* Both bounds are computed here, but the far one is compared with the k-th distance after
         * the near child has been visited. */
        int32_t left = here->left;
        double bound = box_distance(v, left), other = box_distance(v, left + 1);
        bool swap = other < bound;
        if ((swap ? other : bound) > *v->last)
            return;
        visit_subtree(v, left + swap);
        if ((swap ? bound : other) > *v->last)
            return;
        at = left + !swap;
    }
}

/* Answers the query at a position of the sequence; returns the number of distances computed. */
static int64_t search_query(const tree *t, int64_t place) {
    hd_graph_search *s = t->search;
    int64_t i = t->sequence != NULL ? t->sequence[place] : place;
    visit v = {
        .t = t, .i = i, .q = t->queries + i * t->d, .last = s->distance2 + (i + 1) * s->k - 1};
    hd_graph_search_clear(s, i, i + 1);
    visit_subtree(&v, 0);
    return v.n_distances;
}

static huddle_status search_queries(void *argument, hd_chunk chunk) {
    const tree *t = argument;
    int64_t n_distances = 0;
    for (int64_t place = chunk.begin; place < chunk.end; place++)
        n_distances += search_query(t, place);
    atomic_fetch_add(&t->search->n_distances, n_distances);
    return HUDDLE_OK;
}

/* Whether the tree is faster than brute force and within the limit of the cost, estimated from the
 * distances that evenly spaced queries need, with four leaves for the descent. In high dimensions a
 * query visits most leaves, and nothing but trying shows from where on. The lists of the probes are
 * computed again by the search. */
static bool is_tree_worthwhile(const tree *t) {
    int64_t n = t->search->query->n, probes = n < MAX_PROBES ? n : MAX_PROBES, n_distances = 0;
    for (int64_t p = 0; p < probes; p++)
        n_distances += search_query(t, p * n / probes);
    double each = (double)(n_distances + probes * LEAF * 4) / (double)probes;
    double cost = each * BRUTE_RATIO * (double)t->d * (double)n;
    return n_distances < probes * (t->n / BRUTE_RATIO + LEAF * 4) &&
           !hd_graph_search_exceeds(t->search, cost);
}

/* With gave_up NULL the search is completed even if brute force would be faster. */
huddle_status hd_graph_search_kdtree(huddle_context *context, hd_graph_search *search,
                                     bool *gave_up) {
    huddle_status status = HUDDLE_OK;
    tree t = {.search = search,
              .leaf = leaf_kernels[search->train->isa],
              .box = box_kernels[search->train->isa]};
    TRY(build_tree(context, &t));
    if (gave_up != NULL && !is_tree_worthwhile(&t))
        *gave_up = true;
    else
        TRY(hd_parallel(context, "graph", search->query->n, QUERIES_PER_CHUNK, search_queries, &t));
done:
    if (t.queries != t.points)
        huddle_free(t.queries);
    FREE(t.points, t.keys, t.order, t.panels, t.nodes, t.boxes);
    return status;
}
