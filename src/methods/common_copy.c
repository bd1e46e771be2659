/* Copies of what one stage left in a fit, for fits that share it. */
#include "methods/cache.h"

#include "base/check.h"

#include <string.h>

static huddle_status copy_reals(int64_t n, const double *from, double **to) {
    huddle_status status = HUDDLE_OK;
    if (from == NULL)
        return status;
    ALLOC(*to, n);
    memcpy(*to, from, (size_t)n * sizeof **to);
done:
    return status;
}

static huddle_status copy_preparation(const huddle_preparation *from, huddle_preparation *to) {
    huddle_status status = HUDDLE_OK;
    *to = *from;
    to->centre = to->scale = to->shift = NULL;
    memset(&to->projection, 0, sizeof to->projection);
    TRY(copy_reals(from->d_in, from->centre, &to->centre));
    TRY(copy_reals(from->d_in, from->scale, &to->scale));
    TRY(copy_reals(from->d_in, from->shift, &to->shift));
    if (from->projection.values != NULL)
        TRY(huddle_dense_copy(&from->projection, &to->projection));
done:
    return status;
}

static huddle_status copy_scale(const huddle_scale *from, huddle_scale *to) {
    *to = *from;
    to->local = NULL;
    return copy_reals(from->n, from->local, &to->local);
}

huddle_status hd_copy_distinct(const huddle_distinct *from, huddle_distinct *to) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct_free(to);
    to->n = from->n;
    to->count = from->count;
    if (from->of == NULL)
        return status;
    ALLOC(to->of, from->n);
    ALLOC(to->first, from->count);
    ALLOC(to->copies, from->count);
    memcpy(to->of, from->of, (size_t)from->n * sizeof *to->of);
    memcpy(to->first, from->first, (size_t)from->count * sizeof *to->first);
    memcpy(to->copies, from->copies, (size_t)from->count * sizeof *to->copies);
done:
    return status;
}

huddle_status hd_copy_points(const hd_fit *from, hd_fit *to) {
    huddle_status status = HUDDLE_OK;
    to->n = from->n;
    TRY(hd_copy_distinct(&from->equal, &to->equal));
    TRY(hd_copy_distinct(&from->nodes, &to->nodes));
    TRY(copy_preparation(&from->preparation, &to->preparation));
    TRY(copy_preparation(&from->reduction, &to->reduction));
    if (from->points.values != NULL)
        TRY(huddle_points_copy(&from->points, &to->points));
    to->dominant = from->dominant;
    to->prepare_info = from->prepare_info;
    to->auto_seconds = from->auto_seconds;
    if (from->auto_trials != NULL) {
        ALLOC(to->auto_trials, from->n_auto_trials);
        memcpy(to->auto_trials, from->auto_trials,
               (size_t)from->n_auto_trials * sizeof *to->auto_trials);
        to->n_auto_trials = from->n_auto_trials;
        to->auto_clusters = from->auto_clusters;
    }
done:
    return status;
}

huddle_status hd_copy_graph_alone(const hd_fit *from, hd_fit *to) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_csr_copy(&from->graph, &to->graph));
    TRY(copy_scale(&from->scale, &to->scale));
    to->knn_info = from->knn_info;
    to->connect_info = from->connect_info;
    to->graph_seconds = from->graph_seconds;
done:
    return status;
}

huddle_status hd_copy_graph(const hd_fit *from, hd_fit *to) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_copy_points(from, to));
    TRY(hd_copy_graph_alone(from, to));
done:
    return status;
}

huddle_status hd_copy_embedding(const hd_fit *from, hd_fit *to) {
    huddle_status status = HUDDLE_OK;
    const huddle_embedding *e = &from->embedding;
    TRY(huddle_dense_copy(&e->vectors, &to->embedding.vectors));
    TRY(huddle_dense_copy(&e->rows, &to->embedding.rows));
    TRY(copy_reals(from->n, e->degrees, &to->embedding.degrees));
    TRY(copy_reals(e->n_eigenvalues, e->eigenvalues, &to->embedding.eigenvalues));
    to->embedding.n_eigenvalues = e->n_eigenvalues;
    to->embed_info = from->embed_info;
    to->n = from->n;
done:
    return status;
}

huddle_status hd_copy_shrink_graph(const hd_fit *from, hd_fit *to) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_csr_copy(&from->shrink_graph, &to->shrink_graph));
    TRY(copy_scale(&from->shrink_scale, &to->shrink_scale));
done:
    return status;
}
