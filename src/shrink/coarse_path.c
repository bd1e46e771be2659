/* The path of many rows: levels on aggregates, and the tree of all rows from their groups. */
#include "base/check.h"
#include "base/context.h"
#include "shrink/coarse.h"
#include "shrink/path.h"

#include <string.h>

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
    TRY(hd_shrink_check_grid(options));
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
