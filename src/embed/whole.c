/* A small graph whose rows are spread over processes: process 0 embeds it alone, as without
 * processes, which takes less time than the messages of a common iteration. */
#include "embed/whole.h"

#include "base/check.h"
#include "base/context.h"
#include "matrix/arrange.h"

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

/* The outcome on all processes; those without rows get eigenvalues and empty matrices. */
static huddle_status share_outcome(huddle_context *context, huddle_embedding *all,
                                   huddle_embed_info *info, outcome *o) {
    huddle_status status = HUDDLE_OK;
    bool here = hd_slabs_rank(context) == 0;
    if (here)
        *o = (outcome){.info = *info,
                       .solver = find_name(huddle_embed_solvers(), info->solver),
                       .verified = find_name(verified_names, info->verified),
                       .n_eigenvalues = all->n_eigenvalues,
                       .vector_cols = all->vectors.cols,
                       .row_cols = all->rows.cols};
    TRY(hd_slabs_share(context, 0, sizeof *o, o));
    if (!here) {
        *info = o->info;
        const char *solver = huddle_embed_solvers()[o->solver];
        info->solver = solver != NULL ? solver : "components";
        info->verified = verified_names[o->verified];
        all->n_eigenvalues = o->n_eigenvalues;
        ALLOC(all->eigenvalues, o->n_eigenvalues);
        ALLOC(all->degrees, 0);
        TRY(huddle_dense_new(0, o->vector_cols, &all->vectors));
        TRY(huddle_dense_new(0, o->row_cols, &all->rows));
    }
    TRY(hd_slabs_share(context, 0, o->n_eigenvalues * (int64_t)sizeof *all->eigenvalues,
                       all->eigenvalues));
done:
    return hd_agree(context, status);
}

static huddle_status take_matrix(const hd_arrangement *a, const huddle_dense *all,
                                 huddle_dense *rows) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(a->n, all->cols, rows));
    TRY(hd_arrange_back(a, all->values, (size_t)all->stride * sizeof *all->values, rows->values));
done:
    return hd_agree(a->context, status);
}

static huddle_status take_rows(const hd_arrangement *a, huddle_embedding *all,
                               huddle_embedding *out) {
    huddle_status status = HUDDLE_OK;
    TRY(take_matrix(a, &all->vectors, &out->vectors));
    TRY(take_matrix(a, &all->rows, &out->rows));
    ALLOC(out->degrees, a->n);
    TRY(hd_arrange_back(a, all->degrees, sizeof *out->degrees, out->degrees));
    out->n_eigenvalues = all->n_eigenvalues;
    out->eigenvalues = all->eigenvalues;
    all->eigenvalues = NULL;
done:
    return hd_agree(a->context, status);
}

huddle_status hd_embed_whole(huddle_context *context, const huddle_csr *graph,
                             const huddle_embed_options *options, huddle_embedding *out,
                             huddle_embed_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding all = {0};
    hd_arrangement a = {0};
    outcome o = {0};
    int32_t *owner = NULL;
    ALLOC_ZERO(owner, graph->rows);
    TRY(hd_arrange_open_ordered(context, graph, owner, &a));
    if (hd_slabs_rank(context) == 0) {
        hd_alone before = hd_alone_begin(context);
        status = huddle_embed(context, &a.graph, options, &all, info);
        hd_alone_end(context, before);
    }
    TRY(hd_agree(context, status));
    TRY(share_outcome(context, &all, info, &o));
    TRY(take_rows(&a, &all, out));
done:
    huddle_free(owner);
    hd_arrange_close(&a);
    huddle_embedding_free(&all);
    return hd_agree(context, status);
}
