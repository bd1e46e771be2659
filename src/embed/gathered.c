/* A small graph whose rows are distributed over processes: process 0 embeds it alone, as without
 * processes, which takes less time than the messages of a common iteration. */
#include "base/check.h"
#include "embed/moved.h"
#include "matrix/collect.h"

#include <string.h>

/* What process 0 tells the others. Texts are told by their place in a list. */
typedef struct outcome {
    huddle_embed_info info;
    int32_t solver, verified;
    int32_t n_eigenvalues;
    int64_t vector_cols, row_cols;
} outcome;

static const char *const verified_names[] = {"none", "probe", "inertia", NULL};

/* The place of a name, or that of the NULL at the end, which stands for "components". */
static int32_t find_name(const char *const *names, const char *name) {
    int32_t k = 0;
    while (names[k] != NULL && strcmp(names[k], name) != 0)
        k++;
    return k;
}

/* The outcome on all processes, with room for their eigenvalues. */
static huddle_status share_outcome(huddle_context *context, const huddle_embedding *all,
                                   huddle_embedding *out, huddle_embed_info *info, outcome *o) {
    huddle_status status = HUDDLE_OK;
    bool here = hd_slabs_rank(context) == 0;
    if (here)
        *o = (outcome){.info = *info,
                       .solver = find_name(huddle_embed_solvers(), info->solver),
                       .verified = find_name(verified_names, info->verified),
                       .n_eigenvalues = all->n_eigenvalues,
                       .vector_cols = all->vectors.cols,
                       .row_cols = all->rows.cols};
    TRY(hd_slabs_broadcast(context, 0, sizeof *o, o));
    const char *solver = huddle_embed_solvers()[o->solver];
    *info = o->info;
    info->solver = solver != NULL ? solver : "components";
    info->verified = verified_names[o->verified];
    out->n_eigenvalues = o->n_eigenvalues;
    ALLOC(out->eigenvalues, o->n_eigenvalues);
    if (here && all->eigenvalues != NULL)
        memcpy(out->eigenvalues, all->eigenvalues,
               (size_t)o->n_eigenvalues * sizeof *out->eigenvalues);
    TRY(hd_slabs_broadcast(context, 0, o->n_eigenvalues * (int64_t)sizeof *out->eigenvalues,
                           out->eigenvalues));
done:
    return hd_agree(context, status);
}

/* The rows of this process; `all` is empty on the others. Rows of a huddle_dense have the same
 * distance on all processes, since that depends on the number of columns only. */
static huddle_status take_matrix(huddle_context *context, const huddle_dense *all, int64_t n,
                                 int64_t cols, huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(n, cols, rows));
    TRY(hd_scatter_rows(context, 0, all->values, n, (size_t)rows->stride * sizeof *rows->values,
                        rows->values));
done:
    return hd_agree(context, status);
}

huddle_status hd_embed_gathered(huddle_context *context, const huddle_csr *graph,
                                const huddle_embed_options *options, bool trial,
                                huddle_embedding *out, huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_csr whole = {0};
    huddle_embedding all = {0};
    outcome o = {0};
    TRY(hd_collect_csr(context, graph, 0, &whole));
    TRY_ON_FIRST(context, trial ? hd_embed_trial(context, &whole, options, &all, info)
                                : huddle_embed(context, &whole, options, &all, info));
    TRY(share_outcome(context, &all, out, info, &o));
    TRY(take_matrix(context, &all.vectors, graph->rows, o.vector_cols, &out->vectors));
    TRY(take_matrix(context, &all.rows, graph->rows, o.row_cols, &out->rows));
    ALLOC(out->degrees, graph->rows);
    TRY(hd_scatter_rows(context, 0, all.degrees, graph->rows, sizeof *out->degrees, out->degrees));
done:
    huddle_csr_free(&whole);
    huddle_embedding_free(&all);
    return hd_agree(context, status);
}
