/* A model whose rows are spread over processes in one file: process 0 collects the rows of all. */
#include "model/model.h"

#include "base/check.h"
#include "base/slabs.h"
#include "matrix/collect.h"

#include <math.h>
#include <string.h>

/* The fit of all rows, on process 0; members that every process has are those of the original. The
 * arrays that were collected are freed by free_whole(). */
typedef struct collector {
    huddle_context *context;
    hd_fit *whole;
    huddle_status status;
} collector;

/* A vector of n elements; NULL where no process has one. */
static void collect_vector(collector *c, int64_t n, size_t size, void *member) {
    void *own, *all = NULL;
    int64_t total;
    memcpy(&own, member, sizeof own);
    double present = own != NULL;
    if (c->status == HUDDLE_OK)
        c->status = hd_reduce_max(c->context, 1, &present);
    if (c->status == HUDDLE_OK && present > 0)
        c->status = hd_collect_rows(c->context, 0, n, own, size, &total, &all);
    memcpy(member, &all, sizeof all);
}

static void collect_dense(collector *c, huddle_dense *matrix) {
    huddle_dense own = {0}, original = *matrix;
    void *all = NULL;
    int64_t total = 0;
    double cols = (double)matrix->cols;
    memset(matrix, 0, sizeof *matrix);
    if (c->status == HUDDLE_OK)
        c->status = hd_reduce_max(c->context, 1, &cols);
    if (c->status != HUDDLE_OK || cols == 0)
        return;
    c->status = huddle_dense_copy(&original, &own); /* without gaps */
    if (c->status == HUDDLE_OK)
        c->status = hd_collect_rows(c->context, 0, own.rows, own.values,
                                    (size_t)cols * sizeof *own.values, &total, &all);
    *matrix = (huddle_dense){
        .rows = total, .cols = (int64_t)cols, .stride = (int64_t)cols, .values = all};
    huddle_dense_free(&own);
}

static void collect_graph(collector *c, hd_fit_graph *graph) {
    huddle_csr original = graph->matrix;
    memset(&graph->matrix, 0, sizeof graph->matrix);
    if (c->status == HUDDLE_OK && graph->present)
        c->status = hd_collect_csr(c->context, &original, 0, &graph->matrix);
    int64_t n = graph->scale.n;
    collect_vector(c, n, sizeof(double), &graph->scale.local);
    graph->scale.n = graph->scale.local != NULL ? graph->matrix.rows : 0;
}

static void collect_points(collector *c, huddle_points *points) {
    huddle_points original = *points;
    double present = points->values != NULL || points->resident != NULL;
    memset(points, 0, sizeof *points);
    if (c->status == HUDDLE_OK)
        c->status = hd_reduce_max(c->context, 1, &present);
    if (c->status == HUDDLE_OK && present > 0)
        c->status = hd_collect_points(c->context, &original, NULL, 0, 0, points);
}

/* Medoids by their numbers among all rows; one process has each. */
static void collect_medoids(collector *c, const hd_fit *fit, int64_t first) {
    hd_fit_clusters *clusters = &c->whole->clusters;
    int64_t count = clusters->centres.rows;
    double *numbers = hd_alloc(count, sizeof *numbers);
    clusters->medoids = hd_alloc(count, sizeof *clusters->medoids);
    if (c->status == HUDDLE_OK && (numbers == NULL || clusters->medoids == NULL))
        c->status = hd_fail(HUDDLE_NO_MEMORY, "no memory for %lld medoids", (long long)count);
    for (int64_t k = 0; k < count && c->status == HUDDLE_OK; k++) {
        int64_t own = fit->clusters.medoids[k];
        numbers[k] = own < 0 ? -1 : (double)(first + own);
    }
    if (c->status == HUDDLE_OK)
        c->status = hd_reduce_max(c->context, count, numbers);
    for (int64_t k = 0; k < count && c->status == HUDDLE_OK; k++)
        clusters->medoids[k] = (int64_t)numbers[k];
    huddle_free(numbers);
}

static void free_whole(hd_fit *whole) {
    huddle_points_free(&whole->prepared.points);
    huddle_csr_free(&whole->graph.matrix);
    huddle_free(whole->graph.scale.local);
    huddle_dense_free(&whole->embedding.f.rows);
    huddle_dense_free(&whole->embedding.f.vectors);
    huddle_free(whole->embedding.f.degrees);
    huddle_csr_free(&whole->shrunk.w.matrix);
    huddle_free(whole->shrunk.w.scale.local);
    huddle_dense_free(&whole->shrunk.g.g);
    huddle_free(whole->shrunk.g.group);
    huddle_free(whole->clusters.labels);
    huddle_free(whole->clusters.medoids);
    huddle_free(whole->refined.own);
    huddle_free(whole->trials.labels);
}

/* Dual vectors and the labels of single restarts, which are kept on request only, are left out. */
static huddle_status collect_fit(huddle_context *context, const hd_fit *fit, hd_fit *whole) {
    collector c = {.context = context, .whole = whole};
    int64_t n = fit->rows.n;
    hd_slab slab;
    *whole = *fit;
    whole->clusters.kmeans.start_labels = NULL;
    memset(&whole->shrunk.g.z, 0, sizeof whole->shrunk.g.z);
    memset(&whole->rows.equal, 0, sizeof whole->rows.equal);
    c.status = hd_slab_locate(context, n, &slab);
    whole->rows.n = slab.total;
    whole->rows.elsewhere = 0;
    collect_points(&c, &whole->prepared.points);
    whole->prepared.borrows_points = false;
    collect_graph(&c, &whole->graph);
    collect_dense(&c, &whole->embedding.f.rows);
    collect_dense(&c, &whole->embedding.f.vectors);
    collect_vector(&c, n, sizeof(double), &whole->embedding.f.degrees);
    collect_graph(&c, &whole->shrunk.w);
    collect_dense(&c, &whole->shrunk.g.g);
    collect_vector(&c, n, sizeof(int32_t), &whole->shrunk.g.group);
    collect_vector(&c, n, sizeof(int32_t), &whole->clusters.labels);
    collect_medoids(&c, fit, slab.first);
    collect_vector(&c, n, sizeof(int32_t), &whole->refined.own);
    int64_t count = fit->trials.count > 0 ? fit->trials.count : 1;
    collect_vector(&c, n, (size_t)count * sizeof(int32_t), &whole->trials.labels);
    return hd_agree(context, c.status);
}

/* Process 0 writes a model that is the same but for its fit. */
huddle_status huddle_model_save_spread(huddle_context *context, const huddle_model *model,
                                       const char *path) {
    huddle_status status = HUDDLE_OK;
    huddle_model copy = *model;
    bool collected = false;
    double elsewhere = (double)model->fit.rows.elsewhere;
    TRY(hd_model_check_fitted(model));
    TRY(hd_reduce_max(context, 1, &elsewhere));
    if (elsewhere > 0) {
        collected = true;
        TRY(collect_fit(context, &model->fit, &copy.fit));
    }
    if (hd_slabs_rank(context) == 0)
        status = huddle_model_save(&copy, path);
done:
    if (collected)
        free_whole(&copy.fit);
    return hd_agree(context, status);
}
