#include "huddle/path.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* Trees that never fuse are joined at this multiple of the largest gamma of the path: programs that
 * draw dendrograms need finite heights, and a visible distance above the last fusion. */
static const double join_factor = 10;

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
