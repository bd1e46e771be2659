/* The tree of fusions of a path on aggregates. */
#include "report/coarse.h"

#include "report/run.h"

#include <stdlib.h>
#include <string.h>

/* An aggregate with its set at two levels, for sorting. */
typedef struct set_pair {
    int32_t above, own, aggregate;
} set_pair;

static int by_sets(const void *x, const void *y) {
    const set_pair *a = x, *b = y;
    if (a->above != b->above)
        return a->above < b->above ? -1 : 1;
    if (a->own != b->own)
        return a->own < b->own ? -1 : 1;
    return (a->aggregate > b->aggregate) - (a->aggregate < b->aggregate);
}

/* Groups may split again as gamma grows. Below the last level, groups become the sets that stay
 * together at all higher levels too: those of huddle/path.h, which form a tree. */
static void keep_lasting(int32_t count, int32_t n_levels, int32_t *groups, set_pair *pairs) {
    for (int32_t l = n_levels - 2; l >= 0; l--) {
        int32_t *own = groups + (int64_t)l * count, set = -1;
        for (int32_t a = 0; a < count; a++)
            pairs[a] = (set_pair){own[count + a], own[a], a};
        qsort(pairs, (size_t)count, sizeof *pairs, by_sets);
        for (int32_t k = 0; k < count; k++) {
            if (k == 0 || pairs[k].above != pairs[k - 1].above || pairs[k].own != pairs[k - 1].own)
                set++;
            own[pairs[k].aggregate] = set;
        }
    }
}

/* The trees so far: node and size of each are stored at the root of its aggregates. */
typedef struct forest {
    int32_t *parent, *node, *size, *first;
    huddle_path_fusion *fusions;
    int64_t count, n; /* fusions and rows */
} forest;

/* The rows of an aggregate are one from the first level on. */
static void fuse_rows(forest *t, const coarse_problem *p, double gamma) {
    for (int64_t i = 0; i < t->n; i++) {
        int32_t a = p->aggregate[i];
        if (t->size[a]++ == 0)
            t->node[a] = (int32_t)i;
        else {
            t->fusions[t->count] = (huddle_path_fusion){t->node[a], (int32_t)i, gamma, t->size[a]};
            t->node[a] = (int32_t)(t->n + t->count++);
        }
    }
}

/* Joins the trees that a set of this level unites. */
static void fuse_sets(forest *t, const coarse_problem *p, const int32_t *sets, double gamma) {
    for (int32_t a = 0; a < p->count; a++)
        t->first[a] = -1;
    for (int32_t a = 0; a < p->count; a++) {
        int32_t *first = &t->first[sets[a]];
        if (*first < 0) {
            *first = a;
            continue;
        }
        int32_t x = coarse_root(t->parent, *first), y = coarse_root(t->parent, a);
        if (x == y)
            continue;
        t->size[x] += t->size[y];
        t->fusions[t->count] = (huddle_path_fusion){t->node[x], t->node[y], gamma, t->size[x]};
        t->node[x] = (int32_t)(t->n + t->count++);
        t->parent[y] = x;
    }
}

huddle_status coarse_fusions(const coarse_problem *p, int32_t n_levels, const double *gammas,
                             int32_t *groups, huddle_path_fusion **fusions, int64_t *n_fusions) {
    size_t count = (size_t)p->count + 1;
    forest t = {.n = p->f.rows};
    set_pair *pairs = calloc(count, sizeof *pairs);
    t.parent = calloc(count, sizeof *t.parent);
    t.node = calloc(count, sizeof *t.node);
    t.size = calloc(count, sizeof *t.size);
    t.first = calloc(count, sizeof *t.first);
    t.fusions = calloc((size_t)t.n + 1, sizeof *t.fusions);
    bool ready = pairs != NULL && t.parent != NULL && t.node != NULL && t.size != NULL &&
                 t.first != NULL && t.fusions != NULL;
    if (ready && n_levels > 0) {
        keep_lasting(p->count, n_levels, groups, pairs);
        for (int32_t a = 0; a < p->count; a++)
            t.parent[a] = a;
        fuse_rows(&t, p, gammas[0]);
        for (int32_t l = 0; l < n_levels; l++)
            fuse_sets(&t, p, groups + (int64_t)l * p->count, gammas[l]);
    }
    free(pairs);
    free(t.first);
    free(t.size);
    free(t.node);
    free(t.parent);
    if (!ready)
        free(t.fusions);
    *fusions = ready ? t.fusions : NULL;
    *n_fusions = t.count;
    return ready ? HUDDLE_OK : report_no_memory();
}
