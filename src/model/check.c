/* Whether what was loaded from a file can be a fit. */
#include "model/model.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

static bool projection_fits(const huddle_preparation *p) {
    return p->projection.values == NULL ||
           (p->projection.rows == p->d_in && p->projection.cols == p->d_out && p->centre != NULL);
}

/* selftune has a scale for each of the n points, the other rules have none. */
static bool scale_fits(const huddle_scale *scale, int64_t n) {
    bool local = scale->rule != NULL && strcmp(scale->rule, "selftune") == 0;
    return local ? scale->local != NULL && scale->n == n : scale->local == NULL;
}

/* Every row has a node, every node its first row and the number of its rows. */
static bool nodes_fit(const huddle_distinct *nodes, int64_t n) {
    int64_t seen = 0;
    bool fine = true;
    if (nodes->n == 0)
        return true;
    if (nodes->count != n || nodes->n <= n || nodes->of == NULL || nodes->first == NULL ||
        nodes->copies == NULL)
        return false;
    for (int64_t v = 0; v < n; v++)
        if (nodes->copies[v] < 1 || nodes->copies[v] > nodes->n)
            return false;
    for (int64_t i = 0; i < nodes->n; i++) {
        if (nodes->of[i] < 0 || nodes->of[i] > seen || nodes->of[i] >= n)
            return false;
        if (nodes->of[i] == seen && nodes->first[seen++] != i)
            return false;
    }
    /* Counted down to 0 and up again. */
    for (int64_t i = 0; i < nodes->n; i++)
        nodes->copies[nodes->of[i]]--;
    for (int64_t v = 0; v < n; v++)
        fine = fine && nodes->copies[v] == 0;
    for (int64_t i = 0; i < nodes->n; i++)
        nodes->copies[nodes->of[i]]++;
    return fine && seen == n;
}

static bool are_finite(const double *values, int64_t count) {
    for (int64_t j = 0; values != NULL && j < count; j++)
        if (!isfinite(values[j]))
            return false;
    return true;
}

/* Numbers, for dense points only; points that were not prepared are still at the shift they came
 * with. */
static bool shifts_fit(const hd_fit *fit) {
    const huddle_points *points = &fit->points;
    const huddle_preparation *p = &fit->preparation;
    bool same = points->values != NULL && points->offsets == NULL && fit->shift != NULL &&
                points->d == fit->d && hd_does_nothing(p) && fit->reduction.rule.name == NULL;
    if (!are_finite(fit->shift, fit->d) || !are_finite(p->shift, p->d_in) ||
        !are_finite(points->shift, points->d) || (fit->shift != NULL && points->offsets != NULL))
        return false;
    for (int64_t j = 0; same && j < fit->d; j++)
        if (fit->shift[j] != (points->shift != NULL ? points->shift[j] : 0))
            return false;
    return true;
}

static bool graph_fits(const huddle_csr *graph, int64_t n) {
    return graph->offsets == NULL || (graph->rows == n && graph->cols == n);
}

huddle_status hd_check_loaded(const hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_embedding *e = &fit->embedding;
    bool fine = fit->n >= 1 && fit->labels != NULL && fit->n_clusters >= 1;
    fine = fine && nodes_fit(&fit->nodes, fit->n);
    fine = fine && graph_fits(&fit->graph, fit->n) && graph_fits(&fit->shrink_graph, fit->n);
    fine = fine && fit->n_clusters <= hd_fit_rows(fit) && fit->centres.rows <= fit->n_clusters;
    fine = fine && (fit->points.values == NULL || fit->points.n == fit->n);
    fine = fine && projection_fits(&fit->preparation) && projection_fits(&fit->reduction);
    fine =
        fine && (fit->reduction.rule.name == NULL || fit->reduction.d_in == fit->preparation.d_out);
    fine = fine && (fit->landmarks.values == NULL) == (fit->landmark_vectors.values == NULL);
    fine = fine && (fit->landmark_vectors.values == NULL ||
                    (fit->landmarks.n == fit->landmark_vectors.rows && fit->landmarks.n >= 1 &&
                     fit->landmark_vectors.cols >= e->rows.cols));
    fine = fine && (e->rows.values == NULL || fit->centres.cols == e->rows.cols);
    fine = fine && (e->rows.values == NULL || e->rows.rows == fit->n);
    fine = fine && fit->has_embedding == (e->vectors.values != NULL);
    fine = fine && (e->vectors.values == NULL ||
                    (e->vectors.rows == fit->n && e->degrees != NULL && e->eigenvalues != NULL &&
                     e->rows.cols <= e->vectors.cols && e->rows.cols <= e->n_eigenvalues));
    fine = fine && (fit->shrunk.g.values == NULL ||
                    (fit->shrunk.g.rows == fit->n && fit->shrunk.g.cols == e->rows.cols));
    fine = fine && scale_fits(&fit->scale, fit->n) && scale_fits(&fit->shrink_scale, fit->n);
    if (!fine)
        FAIL(HUDDLE_FORMAT, "the model file is damaged: its sizes do not agree");
    if (!shifts_fit(fit))
        FAIL(HUDDLE_FORMAT, "the model file is damaged: its shift is not that of its points");
    for (int64_t i = 0; i < fit->n; i++)
        if (fit->labels[i] < 0 || fit->labels[i] >= fit->n_clusters)
            FAIL(HUDDLE_FORMAT, "the model file is damaged: row %lld has label %d",
                 (long long)i + 1, fit->labels[i]);
    if (fit->points.values != NULL)
        TRY(huddle_points_check(NULL, &fit->points));
    if (fit->landmarks.values != NULL)
        TRY(huddle_points_check(NULL, &fit->landmarks));
    if (fit->graph.offsets != NULL)
        TRY(huddle_csr_check(&fit->graph));
    if (fit->shrink_graph.offsets != NULL)
        TRY(huddle_csr_check(&fit->shrink_graph));
done:
    return status;
}
