/* Rows of the embedding on the process where their neighbours are. */
#include "embed/moved.h"

#include "base/check.h"

#include <string.h>

/* Components are dealt to the processes as a whole if none gets more than this multiple of its
 * share: nothing is fetched then, and no partition is needed. */
static const double balance = 1.05;

void hd_embed_moved_free(hd_embed_moved *moved) {
    hd_arrange_close(&moved->rows);
    FREE(moved->scale, moved->known, moved->component);
    memset(moved, 0, sizeof *moved);
}

/* ---- who gets which row -------------------------------------------------------------------- */

/* Deals the components, which are numbered by falling size, each to the process that has the fewest
 * rows so far. All processes compute the same. *balanced: no process got too many. */
static huddle_status deal_components(huddle_context *context, const hd_eigen_request *request,
                                     int32_t *owner, bool *balanced) {
    huddle_status status = HUDDLE_OK;
    int64_t n = request->matrix->rows, q = request->n_components, total = 0;
    int32_t processes = hd_slabs_count(context);
    double *sizes = NULL, *load = NULL, most = 0;
    int32_t *process = NULL;
    ALLOC_ZERO(sizes, q);
    ALLOC_ZERO(load, processes);
    ALLOC(process, q);
    for (int64_t i = 0; i < n; i++)
        sizes[request->component[i]]++;
    TRY(hd_reduce_sum(context, q, sizes));
    for (int64_t k = 0; k < q; k++) {
        int32_t least = 0;
        for (int32_t r = 1; r < processes; r++)
            if (load[r] < load[least])
                least = r;
        process[k] = least;
        load[least] += sizes[k];
        most = load[least] > most ? load[least] : most;
        total += (int64_t)sizes[k];
    }
    *balanced = most <= balance * (double)total / processes;
    for (int64_t i = 0; i < n; i++)
        owner[i] = process[request->component[i]];
done:
    FREE(sizes, load, process);
    return status;
}

/* ---- there --------------------------------------------------------------------------------- */

/* An array of the request, of one number per row. */
static huddle_status move_array(const hd_arrangement *rows, const void *array, size_t size,
                                void *moved) {
    return array != NULL ? hd_arrange_rows(rows, array, size, moved) : HUDDLE_OK;
}

static huddle_status move_arrays(hd_eigen_request *request, hd_embed_moved *m) {
    huddle_status status = HUDDLE_OK;
    int64_t n = m->rows.moved;
    ALLOC(m->scale, n);
    ALLOC(m->known, n);
    ALLOC(m->component, n);
    TRY(move_array(&m->rows, request->scale, sizeof *m->scale, m->scale));
    TRY(move_array(&m->rows, request->known, sizeof *m->known, m->known));
    TRY(move_array(&m->rows, request->component, sizeof *m->component, m->component));
    request->matrix = &m->rows.graph;
    request->scale = request->scale != NULL ? m->scale : NULL;
    request->known = request->known != NULL ? m->known : NULL;
    request->component = request->component != NULL ? m->component : NULL;
done:
    return status;
}

huddle_status hd_embed_move(huddle_context *context, const hd_embed_problem *problem,
                            hd_eigen_request *request, hd_embed_moved *m) {
    huddle_status status = HUDDLE_OK;
    const hd_engine_slabs *slabs = hd_context_engine(context)->slabs;
    int32_t *owner = NULL;
    bool balanced = false;
    hd_slab slab;
    *m = (hd_embed_moved){0};
    TRY(hd_slab_locate(context, request->matrix->rows, &slab));
    m->gathered = slabs != NULL && hd_context_engine(context)->find_eigenpairs == NULL &&
                  hd_embed_needs_all_rows(problem, slab.total);
    if (slabs == NULL || (slabs->partition == NULL && !m->gathered))
        goto done;
    ALLOC_ZERO(owner, request->matrix->rows); /* process 0 has all rows if they are gathered */
    if (!m->gathered && request->n_components >= hd_slabs_count(context))
        TRY(deal_components(context, request, owner, &balanced));
    if (!m->gathered && !balanced)
        TRY(hd_arrange_partition(context, request->matrix, owner));
    TRY(hd_arrange_open(context, request->matrix, owner, true, &m->rows));
    m->active = true;
    TRY(move_arrays(request, m));
done:
    huddle_free(owner);
    return status;
}

/* ---- all rows on process 0 ----------------------------------------------------------------- */

/* What process 0 tells the others about its pairs; the rest follows from the solver. */
typedef struct facts {
    double shift, unit, residual;
    int64_t count;
    bool cuts_cluster;
} facts;

/* The pairs of a process without rows. */
static huddle_status take_facts(const hd_embed_problem *problem, const facts *f,
                                hd_embed_operator *op, hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    int64_t n_wanted = problem->request->n_wanted;
    op->shift = f->shift;
    op->unit = f->unit;
    TRY(hd_embed_pairs_new(problem, n_wanted, pairs));
    ALLOC(pairs->theta, f->count);
    pairs->count = f->count;
    pairs->residual = f->residual;
    pairs->stop = HUDDLE_STOP_CONVERGED;
    pairs->n_iter = 1;
    pairs->cuts_cluster = f->cuts_cluster;
    pairs->verified = "inertia";
    pairs->proven = n_wanted;
    pairs->solver = "dense";
done:
    return status;
}

huddle_status hd_embed_solve_gathered(huddle_context *context, const hd_eigen_request *request,
                                      int32_t n_extra, hd_embed_operator *op,
                                      hd_embed_pairs *pairs) {
    huddle_status status = HUDDLE_OK;
    bool here = hd_slabs_rank(context) == 0;
    hd_eigen_request all = *request;
    hd_embed_problem problem = {&all, op, NULL, "dense", "none"};
    facts f = {0};
    all.n_wanted += n_extra;
    if (here) {
        hd_alone before = hd_alone_begin(context);
        status = hd_embed_operator_new(context, &all, NULL, NULL, op);
        if (status == HUDDLE_OK)
            status = hd_embed_solve_dense(context, &problem, pairs);
        hd_alone_end(context, before);
        f = (facts){op->shift, op->unit, pairs->residual, pairs->count, pairs->cuts_cluster};
    }
    TRY(hd_agree(context, status));
    TRY(hd_slabs_broadcast(context, 0, sizeof f, &f));
    if (!here)
        TRY(take_facts(&problem, &f, op, pairs));
    TRY(hd_slabs_broadcast(context, 0, f.count * (int64_t)sizeof *pairs->theta, pairs->theta));
done:
    return status;
}

/* ---- and back ------------------------------------------------------------------------------ */

huddle_status hd_embed_move_back(const hd_embed_moved *m, huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    huddle_dense back = {0};
    if (!m->active)
        goto done;
    TRY(huddle_dense_new(m->rows.n, vectors->cols, &back));
    TRY(hd_arrange_back(&m->rows, vectors->values,
                        (size_t)vectors->stride * sizeof *vectors->values, back.values));
    huddle_dense_free(vectors);
    *vectors = back;
    back = (huddle_dense){0};
done:
    huddle_dense_free(&back);
    return status;
}
