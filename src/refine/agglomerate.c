/* Merging clusters in pairs, the pair of the largest gain first.
 *
 * Each cluster has a list of the clusters that it is joined to and one place in a heap, with the
 * largest gain of its pairs as key. Nothing is ever searched for in the lists of others: a list
 * may refer to clusters by members that have been merged since, which union-find resolves when the
 * list is next read. A key may be too large, since the gains of a cluster's pairs change when its
 * neighbours merge, but never too small: the cluster on top is checked by reading its list, and
 * goes down if its best gain is smaller than its key.
 *
 * A merge reads the lists of both clusters, which would take D^2 / 2 steps for a vertex that is
 * merged with D neighbours one by one. So a cluster with a long list becomes a hub (hub.h): its
 * weights are up to date at all times, because every neighbour that changes updates them, and a
 * heap of its own has an item for each of its pairs, again with a key that may be too large but
 * never too small. A merge then takes time in proportion to the smaller of the two clusters'
 * neighbours. */
#include "base/check.h"
#include "refine/hub.h"
#include "refine/refine.h"

#include <string.h>

enum { CANCEL_EVERY = 1024 }; /* merges between two looks at whether to stop */

/* Neighbours from which on a cluster is a hub. Reading a list in sequence is fast; a graph of
 * nearest neighbours hardly has longer ones. */
enum { LONG_LIST = 512 };

/* A cluster without neighbours; every gain has a larger key. */
static const uint32_t no_gain = 0;

/* One end of the edges between two clusters. Lists are kept in one pool, each after a header whose
 * `to` is the owner. */
typedef struct link {
    double weight;
    int32_t to;
    int32_t capacity; /* header: places for links that follow */
} link;

/* A cluster, or a vertex that has been merged into one. What reading a list needs of each cluster
 * in it is together, because it is far from the others in memory. */
typedef struct node {
    double weight;  /* a sum while a list is read, else 0 */
    double volume;  /* share of the total weight */
    int32_t parent; /* union-find: the root is the smallest member, the id of the cluster */
    uint32_t key;   /* that of the heap */
    int32_t length; /* of the list; of a hub: -1 less its place among the hubs */
    int32_t size;   /* vertices */
} node;

typedef struct merger {
    const char *stage; /* under which progress is reported, or NULL */
    int64_t n, n_merges;
    hd_refine_rule rule;
    node *nodes;
    link *pool;
    int64_t end, capacity; /* of the pool */
    int64_t *begin;        /* of each cluster's list */
    hd_refine_heap heap;
    hd_refine_hub *hubs;
    int64_t n_hubs, hubs_room;
    int32_t *touched; /* n: clusters with a sum */
    int32_t fresh;    /* the cluster whose key is known to be exact, or -1, and its partner */
    int32_t fresh_partner;
} merger;

/* Equation (26). The term of the smaller cluster is the larger one: small
 * clusters are merged first, and sizes grow evenly. */
static double gain_sum(double weight, double v_a, double v_b, double resolution) {
    (void)resolution;
    return weight / v_a / v_a + weight / v_b / v_b; /* v^2 could underflow */
}

/* Equation (27): half of what a merge adds to modularity, which gets w_ab from both ends and loses
 * (v_a + v_b)^2 - v_a^2 - v_b^2 = 2 v_a v_b. It may be negative; the largest is merged all the
 * same, because the number of clusters is given. */
static double gain_modularity(double weight, double v_a, double v_b, double resolution) {
    return weight - resolution * v_a * v_b;
}

hd_refine_rule hd_refine_rule_sum(void) {
    return (hd_refine_rule){0, gain_sum, LONG_LIST};
}

hd_refine_rule hd_refine_rule_modularity(double resolution) {
    return (hd_refine_rule){resolution, gain_modularity, LONG_LIST};
}

/* Single precision, in an order-preserving map to integers above no_gain. The rounding makes gains
 * equal that differ by the order of their sums. The bits of positive floats ascend with their
 * values, so that setting the sign bit puts them above the negative ones, whose bits descend and
 * are inverted. Gains of (26) span so many orders of magnitude that fixed point would not do. */
static uint32_t key_of_gain(double gain) {
    float single = (float)gain;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static uint32_t key_of_pair(const merger *m, double weight, int32_t a, int32_t b) {
    return key_of_gain(
        m->rule.gain(weight, m->nodes[a].volume, m->nodes[b].volume, m->rule.resolution));
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Moves the lists in use to the beginning of the pool, without spare room. Headers lead from list
 * to list, and one whose owner has its list elsewhere is skipped. Lists move towards the beginning
 * only, in the order in which they lie, so that none is overwritten before it is read. */
static void pack_pool(merger *m) {
    int64_t to = 1; /* place 0 stays free: a beginning of 0 means no list */
    for (int64_t at = 1; at < m->end;) {
        int32_t owner = m->pool[at].to, length = m->nodes[owner].length;
        int64_t next = at + 1 + m->pool[at].capacity;
        if (m->begin[owner] == at + 1) {
            memmove(m->pool + to, m->pool + at, (size_t)(1 + length) * sizeof *m->pool);
            m->pool[to].capacity = length;
            m->begin[owner] = to + 1;
            to += 1 + length;
        }
        at = next;
    }
    m->end = to;
}

/* A new list of `count` links for a cluster that has none. Half as much again is added if there is
 * room, because a cluster that has grown once grows again. All lists together never have more
 * links than at the beginning, so there is always room after packing. */
static void new_list(merger *m, int32_t owner, int64_t count) {
    if (m->end + 1 + count > m->capacity)
        pack_pool(m);
    int64_t left = m->capacity - m->end - 1, wanted = count + count / 2;
    m->pool[m->end] = (link){0, owner, (int32_t)(wanted < left ? wanted : count)};
    m->begin[owner] = m->end + 1;
    m->end += 1 + m->pool[m->end].capacity;
}

/* The cluster of a vertex, with path halving. */
static int32_t find_root(node *nodes, int32_t v) {
    while (nodes[v].parent != v) {
        nodes[v].parent = nodes[nodes[v].parent].parent;
        v = nodes[v].parent;
    }
    return v;
}

/* Adds the links of a cluster to the sums by cluster; those to `own` are left out. */
static void add_links(merger *m, int32_t cluster, int32_t own, int64_t *count) {
    const link *list = m->pool + m->begin[cluster];
    int32_t length = m->nodes[cluster].length;
    for (int32_t k = 0; k < length; k++) /* nodes are far apart, and waiting for them is the cost */
        __builtin_prefetch(&m->nodes[list[k].to], 1);
    for (int32_t k = 0; k < length; k++) {
        int32_t other = find_root(m->nodes, list[k].to);
        if (other == own)
            continue;
        if (m->nodes[other].weight == 0)
            m->touched[(*count)++] = other;
        m->nodes[other].weight += list[k].weight;
    }
}

static void set_key(merger *m, int32_t cluster, uint32_t key) {
    m->nodes[cluster].key = key;
    hd_refine_heap_change(&m->heap, cluster, key);
}

static void raise_key(merger *m, int32_t cluster, uint32_t key) {
    if (key > m->nodes[cluster].key)
        set_key(m, cluster, key);
}

/* Writes the sums as the list of a cluster and clears them. Returns the key of its best pair, and
 * the other cluster of that pair, the smaller one of two that are equal. No key may be smaller than
 * that of a pair of the cluster, so those of the others are raised. */
static uint32_t write_links(merger *m, int32_t cluster, int64_t count, int32_t *partner) {
    link *list = m->pool + m->begin[cluster];
    uint32_t best = no_gain;
    *partner = -1;
    for (int64_t k = 0; k < count; k++) {
        int32_t other = m->touched[k];
        double weight = m->nodes[other].weight;
        uint32_t key = key_of_pair(m, weight, cluster, other);
        if (key > best || (key == best && other < *partner)) {
            best = key;
            *partner = other;
        }
        list[k] = (link){weight, other, 0};
        m->nodes[other].weight = 0;
        raise_key(m, other, key);
    }
    m->nodes[cluster].length = (int32_t)count;
    return best;
}

/* ---- hubs ---------------------------------------------------------------------------------- */

static bool is_hub(const merger *m, int32_t cluster) {
    return m->nodes[cluster].length < 0;
}

static hd_refine_hub *hub_of(const merger *m, int32_t cluster) {
    return &m->hubs[-1 - m->nodes[cluster].length];
}

/* Whether an id in the table of a hub is one of its neighbours: not a cluster that was merged into
 * another, and not the hub itself, which may have got the id of a neighbour. */
static bool is_neighbor(const merger *m, int32_t hub, int32_t id) {
    return id >= 0 && id != hub && m->nodes[id].parent == id;
}

/* Leaves out what is not needed any more; afterwards there is space. */
static huddle_status rebuild_hub(const merger *m, int32_t cluster) {
    huddle_status status = HUDDLE_OK;
    hd_refine_hub *old = hub_of(m, cluster), new;
    int64_t count = 0;
    for (int64_t k = 0; k < old->capacity; k++)
        count += is_neighbor(m, cluster, old->ids[k]);
    TRY(hd_refine_hub_new(count, &new));
    for (int64_t k = 0; k < old->capacity; k++)
        if (is_neighbor(m, cluster, old->ids[k]))
            hd_refine_hub_put(&new, old->ids[k], old->weights[k],
                              key_of_pair(m, old->weights[k], cluster, old->ids[k]));
    hd_refine_hub_free(old);
    *old = new;
done:
    return status;
}

/* Tells a hub the weight of its pair with a cluster, and raises its key. */
static huddle_status update_hub(merger *m, int32_t hub, int32_t cluster, double weight) {
    huddle_status status = HUDDLE_OK;
    uint32_t key = key_of_pair(m, weight, hub, cluster);
    if (hd_refine_hub_is_full(hub_of(m, hub)))
        TRY(rebuild_hub(m, hub));
    hd_refine_hub_put(hub_of(m, hub), cluster, weight, key);
    raise_key(m, hub, key);
done:
    return status;
}

/* Tells the hubs in a list, which was just written, the weights of their pairs with its cluster. */
static huddle_status tell_hubs(merger *m, int32_t cluster) {
    huddle_status status = HUDDLE_OK;
    for (int32_t k = 0; k < m->nodes[cluster].length; k++) {
        const link *to = m->pool + m->begin[cluster] + k;
        if (is_hub(m, to->to))
            TRY(update_hub(m, to->to, cluster, to->weight));
    }
done:
    return status;
}

/* Makes a cluster with a long list a hub. Its key is known. */
static huddle_status list_to_hub(merger *m, int32_t cluster) {
    huddle_status status = HUDDLE_OK;
    const link *list = m->pool + m->begin[cluster];
    int32_t length = m->nodes[cluster].length;
    if (!hd_grow(&m->hubs, &m->hubs_room, m->n_hubs + 1, sizeof *m->hubs))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld hubs", (long long)m->n_hubs + 1);
    TRY(hd_refine_hub_new(length, &m->hubs[m->n_hubs]));
    m->nodes[cluster].length = (int32_t)(-1 - m->n_hubs++);
    m->begin[cluster] = 0;
    for (int32_t k = 0; k < length; k++)
        hd_refine_hub_put(hub_of(m, cluster), list[k].to, list[k].weight,
                          key_of_pair(m, list[k].weight, cluster, list[k].to));
done:
    return status;
}

/* The exact key of a hub and its partner. The items that are seen before it are lowered. */
static uint32_t read_hub(merger *m, int32_t cluster, int32_t *partner) {
    hd_refine_hub *hub = hub_of(m, cluster);
    *partner = -1;
    while (hub->pairs.count > 0) {
        int32_t id = hd_refine_heap_top(&hub->pairs);
        if (!is_neighbor(m, cluster, id)) {
            hd_refine_heap_remove_top(&hub->pairs);
            continue;
        }
        uint32_t exact = key_of_pair(m, hd_refine_hub_weight(hub, id), cluster, id);
        if (exact >= hd_refine_heap_top_key(&hub->pairs)) {
            *partner = id;
            return exact;
        }
        hd_refine_heap_change_top(&hub->pairs, exact);
    }
    return no_gain;
}

/* Adds the weight of an edge to `other` to a hub, on both sides. */
static huddle_status add_to_hub(merger *m, int32_t hub, int32_t other, double weight) {
    huddle_status status = HUDDLE_OK;
    double sum = hd_refine_hub_weight(hub_of(m, hub), other) + weight;
    TRY(update_hub(m, hub, other, sum));
    if (is_hub(m, other))
        TRY(update_hub(m, other, hub, sum));
    else
        raise_key(m, other, key_of_pair(m, sum, hub, other));
done:
    return status;
}

/* A hub has another id: other hubs have its old one. */
static huddle_status rename_hub(merger *m, int32_t hub) {
    huddle_status status = HUDDLE_OK;
    const hd_refine_hub *own = hub_of(m, hub);
    for (int64_t k = 0; k < own->capacity; k++)
        if (is_neighbor(m, hub, own->ids[k]) && is_hub(m, own->ids[k]))
            TRY(update_hub(m, own->ids[k], hub, own->weights[k]));
done:
    return status;
}

/* Adds the neighbours of a smaller hub, which is not needed any more. */
static huddle_status add_hub(merger *m, int32_t hub, int32_t place) {
    huddle_status status = HUDDLE_OK;
    hd_refine_hub smaller = m->hubs[place];
    memset(&m->hubs[place], 0, sizeof m->hubs[place]);
    for (int64_t k = 0; k < smaller.capacity; k++)
        if (is_neighbor(m, hub, smaller.ids[k]))
            TRY(add_to_hub(m, hub, smaller.ids[k], smaller.weights[k]));
done:
    hd_refine_hub_free(&smaller);
    return status;
}

/* Adds the neighbours in the list of a cluster. */
static huddle_status add_list(merger *m, int32_t hub, int32_t cluster) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0;
    add_links(m, cluster, hub, &count);
    for (int64_t k = 0; k < count; k++) {
        int32_t other = m->touched[k];
        double weight = m->nodes[other].weight;
        m->nodes[other].weight = 0;
        TRY(add_to_hub(m, hub, other, weight));
    }
done:
    return status;
}

/* Gives b the neighbours of a and a those of b: a, the smaller number, must be the joint cluster,
 * whichever of the two has more neighbours. */
static void swap_neighbors(merger *m, int32_t a, int32_t b) {
    int32_t length = m->nodes[a].length;
    int64_t begin = m->begin[a];
    m->nodes[a].length = m->nodes[b].length;
    m->begin[a] = m->begin[b];
    m->nodes[b].length = length;
    m->begin[b] = begin;
}

/* The joint neighbours of a and b, of which at least one is a hub: those of the smaller one are
 * added to the larger one, so that each is added log n times at most, not D times. The key of the
 * result need not be exact: that of the top of its pairs is never too small. */
static huddle_status join_hubs(merger *m, int32_t a, int32_t b) {
    huddle_status status = HUDDLE_OK;
    bool b_is_larger = !is_hub(m, a) || (is_hub(m, b) && hub_of(m, b)->used > hub_of(m, a)->used);
    if (b_is_larger)
        swap_neighbors(m, a, b);
    if (is_hub(m, b))
        TRY(add_hub(m, a, -1 - m->nodes[b].length));
    else
        TRY(add_list(m, a, b));
    if (b_is_larger)
        TRY(rename_hub(m, a));
    m->begin[b] = 0;
    const hd_refine_heap *pairs = &hub_of(m, a)->pairs;
    set_key(m, a, pairs->count > 0 ? hd_refine_heap_top_key(pairs) : no_gain);
    m->fresh = -1;
done:
    return status;
}

/* ---- merging ------------------------------------------------------------------------------- */

/* The exact key of the cluster on top and its partner, from its list, which becomes shorter if
 * neighbours have been merged. */
static uint32_t read_top(merger *m, int32_t top, int32_t *partner) {
    int64_t count = 0;
    if (top == m->fresh) {
        *partner = m->fresh_partner;
        return m->nodes[top].key;
    }
    if (is_hub(m, top))
        return read_hub(m, top, partner);
    add_links(m, top, top, &count);
    return write_links(m, top, count, partner);
}

/* The joint list of a and b, in the place of one of the two if it fits. Its key is exact, because
 * both lists have just been read: if the cluster is on top next, its list is not read again. join()
 * has made a the root of b, so that the edges between the two are left out as edges to `own`. */
static huddle_status join_lists(merger *m, int32_t a, int32_t b) {
    huddle_status status = HUDDLE_OK;
    int64_t count = 0, capacity_a = m->pool[m->begin[a] - 1].capacity;
    int64_t capacity_b = m->pool[m->begin[b] - 1].capacity;
    add_links(m, a, a, &count);
    add_links(m, b, a, &count);
    if (count > capacity_a && count <= capacity_b) {
        m->begin[a] = m->begin[b];
        m->pool[m->begin[a] - 1].to = a;
    } else if (count > capacity_a) {
        m->begin[a] = m->begin[b] = 0; /* both may be overwritten */
        new_list(m, a, count);
    }
    m->begin[b] = 0;
    set_key(m, a, write_links(m, a, count, &m->fresh_partner));
    m->fresh = a;
    if (m->n_hubs > 0)
        TRY(tell_hubs(m, a));
    if (count > m->rule.long_list)
        TRY(list_to_hub(m, a));
done:
    return status;
}

/* Joins b to a, a < b: a cluster is named by its smallest vertex, by which ties are resolved. */
static huddle_status join(merger *m, int32_t a, int32_t b) {
    hd_refine_heap_remove(&m->heap, b);
    m->nodes[b].parent = a;
    m->nodes[a].size += m->nodes[b].size;
    m->nodes[a].volume += m->nodes[b].volume;
    return is_hub(m, a) || is_hub(m, b) ? join_hubs(m, a, b) : join_lists(m, a, b);
}

static huddle_status report(huddle_context *context, const merger *m, int64_t wanted) {
    return m->stage != NULL ? hd_progress(context, m->stage, (double)m->n_merges, (double)wanted)
                            : hd_check_cancel(context);
}

/* Merges connected clusters, until `wanted` merges are made or no edge is left. No key is too
 * small, so that a cluster that is still on top with its exact key has the pair of the largest gain
 * of all; of equal ones the heap has the smallest number on top, and its list gives the smallest
 * partner. A cluster that is not merged goes down with its exact key, and comes up again only if a
 * merge next to it raises that. */
static huddle_status merge_connected(huddle_context *context, merger *m, int64_t wanted,
                                     int32_t *first, int32_t *second) {
    huddle_status status = HUDDLE_OK;
    while (m->n_merges < wanted) {
        int32_t top = hd_refine_heap_top(&m->heap), partner;
        uint32_t key = m->nodes[top].key;
        if (key == no_gain)
            break;
        uint32_t exact = read_top(m, top, &partner);
        if (exact < key) {
            set_key(m, top, exact);
            continue;
        }
        if (m->n_merges % CANCEL_EVERY == 0)
            TRY(report(context, m, wanted));
        first[m->n_merges] = top < partner ? top : partner;
        second[m->n_merges] = top < partner ? partner : top;
        TRY(join(m, first[m->n_merges], second[m->n_merges]));
        m->n_merges++;
    }
done:
    return status;
}

/* Merges clusters without edges between them, as components are: no edge speaks for any pair, and
 * the smallest first leaves the large ones, which are clusters, for the end. The heap is used
 * again: the complement of the size is the key. */
static huddle_status merge_components(huddle_context *context, merger *m, int64_t wanted,
                                      int32_t *first, int32_t *second) {
    huddle_status status = HUDDLE_OK;
    m->heap.count = 0;
    for (int64_t k = 0; k < m->n; k++)
        if (m->nodes[k].parent == k)
            hd_refine_heap_add(&m->heap, (int32_t)k, ~(uint32_t)m->nodes[k].size);
    hd_refine_heap_order(&m->heap);
    for (; m->n_merges < wanted; m->n_merges++) {
        if (m->n_merges % CANCEL_EVERY == 0)
            TRY(report(context, m, wanted));
        int32_t x = hd_refine_heap_top(&m->heap);
        hd_refine_heap_remove_top(&m->heap);
        int32_t y = hd_refine_heap_top(&m->heap), a = x < y ? x : y, b = x < y ? y : x;
        hd_refine_heap_remove_top(&m->heap);
        m->nodes[a].size += m->nodes[b].size;
        hd_refine_heap_push(&m->heap, a, ~(uint32_t)m->nodes[a].size);
        first[m->n_merges] = a;
        second[m->n_merges] = b;
    }
done:
    return status;
}

/* ---- set-up -------------------------------------------------------------------------------- */

static void merger_free(merger *m) {
    for (int64_t k = 0; k < m->n_hubs; k++)
        hd_refine_hub_free(&m->hubs[k]);
    FREE(m->hubs, m->nodes, m->pool, m->begin);
    hd_refine_heap_free(&m->heap);
    huddle_free(m->touched);
    memset(m, 0, sizeof *m);
}

/* The list of cluster k, at the end of the pool, and its key. The gains are computed from the
 * volumes of the quotient, since the nodes of larger numbers are not set yet. All pairs of the
 * cluster are read, so that its first key is exact. */
static void copy_list(const hd_refine_quotient *quotient, int64_t k, merger *m) {
    int64_t at = quotient->offsets[k], length = quotient->offsets[k + 1] - at;
    uint32_t best = no_gain;
    m->pool[m->end] = (link){0, (int32_t)k, (int32_t)length};
    m->begin[k] = m->end + 1;
    m->end += 1 + length;
    for (int64_t e = 0; e < length; e++) {
        int32_t other = quotient->columns[at + e];
        double weight = quotient->weights[at + e];
        uint32_t key = key_of_gain(m->rule.gain(weight, quotient->volumes[k],
                                                quotient->volumes[other], m->rule.resolution));
        best = key > best ? key : best;
        m->pool[m->begin[k] + e] = (link){weight, other, 0};
    }
    m->nodes[k] =
        (node){0, quotient->volumes[k], (int32_t)k, best, (int32_t)length, quotient->sizes[k]};
    hd_refine_heap_add(&m->heap, (int32_t)k, best);
}

/* Lists and heap of the clusters of the quotient. The pool has half as much room again as the
 * lists need, so that packing is rare. Hubs are made when all lists are there, because their keys
 * need the nodes of their neighbours. */
static huddle_status merger_new(const hd_refine_quotient *quotient, hd_refine_rule rule,
                                merger *m) {
    huddle_status status = HUDDLE_OK;
    int64_t n = quotient->n, links = quotient->offsets[n];
    memset(m, 0, sizeof *m);
    m->n = n;
    m->rule = rule;
    m->fresh = -1;
    m->end = 1;
    m->capacity = 1 + n + links + links / 2;
    ALLOC(m->nodes, n);
    ALLOC(m->pool, m->capacity);
    ALLOC(m->begin, n);
    ALLOC(m->touched, n);
    TRY(hd_refine_heap_new(n, true, &m->heap));
    for (int64_t k = 0; k < n; k++)
        copy_list(quotient, k, m);
    for (int64_t k = 0; k < n; k++)
        if (m->nodes[k].length > rule.long_list)
            TRY(list_to_hub(m, (int32_t)k));
    hd_refine_heap_order(&m->heap);
done:
    return status;
}

huddle_status hd_refine_agglomerate(huddle_context *context, const hd_refine_quotient *quotient,
                                    const char *stage, hd_refine_rule rule, int64_t n_clusters,
                                    int32_t *first, int32_t *second, int64_t *n_merges) {
    huddle_status status = HUDDLE_OK;
    merger m = {0};
    int64_t wanted = quotient->n - n_clusters;
    TRY(merger_new(quotient, rule, &m));
    m.stage = stage;
    TRY(merge_connected(context, &m, wanted, first, second));
    if (n_merges != NULL)
        *n_merges = m.n_merges;
    else if (m.n_merges < wanted)
        TRY(merge_components(context, &m, wanted, first, second));
done:
    merger_free(&m);
    return status;
}
