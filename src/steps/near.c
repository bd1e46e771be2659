/* New points of a fit whose rows are distributed over processes: what their neighbours on other
 * processes have is fetched, so that the code for one process can be used. */
#include "steps/near.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/insert.h"

#include <string.h>

void hd_step_near_close(hd_step_near *near) {
    if (near->owns) {
        FREE(near->view.clusters.labels, near->view.graph.scale.local,
             near->view.shrunk.w.scale.local, near->view.embedding.f.degrees,
             near->view.embedding.f.vectors.values);
    }
    huddle_free(near->numbers);
    memset(near, 0, sizeof *near);
}

/* rows of row_size bytes, n own ones and then ghosts. */
static huddle_status extend(const hd_halo *halo, int64_t n, const void *own, size_t row_size,
                            void *extended) {
    huddle_status status = HUDDLE_OK;
    char *rows = NULL;
    ALLOC(rows, (n + halo->ghosts) * (int64_t)row_size);
    if (own != NULL) /* a process without rows has none */
        memcpy(rows, own, (size_t)n * row_size);
    memcpy(extended, &rows, sizeof rows); /* a pointer of another type */
    TRY(hd_halo_fetch(halo, rows, row_size));
done:
    return status;
}

static huddle_status extend_scale(huddle_context *context, const hd_halo *halo, int64_t n,
                                  const huddle_scale *scale, double **local) {
    double present = scale->local != NULL;
    huddle_status status = hd_reduce_max(context, 1, &present);
    *local = NULL;
    if (status == HUDDLE_OK && present > 0)
        status = extend(halo, n, scale->local, sizeof *scale->local, local);
    return status;
}

/* The eigenvectors without gaps between their rows. */
static huddle_status extend_vectors(const hd_halo *halo, const huddle_dense *vectors,
                                    huddle_dense *extended) {
    huddle_status status = HUDDLE_OK;
    huddle_dense own = {0};
    TRY(huddle_dense_copy(vectors, &own));
    *extended =
        (huddle_dense){.rows = own.rows + halo->ghosts, .cols = own.cols, .stride = own.cols};
    TRY(extend(halo, own.rows, own.values, (size_t)own.cols * sizeof *own.values,
               &extended->values));
done:
    huddle_dense_free(&own);
    return status;
}

/* Every process learns the same parts: those that the fit has anywhere. */
static huddle_status extend_fit(huddle_context *context, const hd_fit *fit, bool vectors,
                                const hd_halo *halo, int64_t first, hd_step_near *near) {
    huddle_status status = HUDDLE_OK;
    hd_fit *view = &near->view;
    int64_t n = fit->rows.n;
    int32_t *own = NULL;
    near->owns = true;
    view->clusters.labels = NULL;
    view->graph.scale.local = view->shrunk.w.scale.local = NULL;
    view->embedding.f.degrees = NULL;
    memset(&view->embedding.f.vectors, 0, sizeof view->embedding.f.vectors);
    ALLOC(own, n);
    for (int64_t i = 0; i < n; i++)
        own[i] = (int32_t)(first + i);
    TRY(extend(halo, n, own, sizeof *own, &near->numbers));
    TRY(extend(halo, n, fit->clusters.labels, sizeof(int32_t), &view->clusters.labels));
    TRY(extend_scale(context, halo, n, &fit->graph.scale, &view->graph.scale.local));
    TRY(extend_scale(context, halo, n, &fit->shrunk.w.scale, &view->shrunk.w.scale.local));
    if (vectors) {
        TRY(extend(halo, n, fit->embedding.f.degrees, sizeof(double), &view->embedding.f.degrees));
        TRY(extend_vectors(halo, &fit->embedding.f.vectors, &view->embedding.f.vectors));
    }
    view->rows.n = n + halo->ghosts;
done:
    huddle_free(own);
    return status;
}

/* Empty places of a list (-1) repeat its first neighbour while the exchange is planned. */
huddle_status hd_step_near_open(huddle_context *context, const hd_fit *fit, bool vectors,
                                huddle_neighbors *neighbors, hd_step_near *near) {
    huddle_status status = HUDDLE_OK;
    hd_halo halo = {0};
    hd_slab slab;
    int32_t *columns = NULL;
    int64_t count = neighbors->n * neighbors->k;
    *near = (hd_step_near){.view = *fit, .total = fit->rows.n};
    if (!hd_slabs_distributed(context))
        return status;
    TRY(hd_slab_locate(context, fit->rows.n, &slab));
    near->total = slab.total;
    ALLOC(columns, count);
    for (int64_t e = 0; e < count; e++)
        columns[e] = neighbors->index[neighbors->index[e] >= 0 ? e : e - e % neighbors->k];
    TRY(hd_halo_open(context, fit->rows.n, count, columns, &halo));
    for (int64_t e = 0; e < count; e++)
        if (neighbors->index[e] >= 0)
            neighbors->index[e] = columns[e];
    TRY(extend_fit(context, fit, vectors, &halo, slab.first, near));
done:
    hd_halo_close(&halo);
    huddle_free(columns);
    status = hd_agree(context, status);
    if (status != HUDDLE_OK)
        hd_step_near_close(near);
    return status;
}

void hd_step_near_number(const hd_step_near *near, huddle_csr *w) {
    if (near->numbers == NULL)
        return;
    w->cols = near->total;
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1];)
            hd_csr_insert(w, i, &e, near->numbers[w->columns[e]], w->values[e]);
}
