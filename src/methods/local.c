/* Clustering by local learning: neighbours and bridges, eigenvectors of T, clusters, new points.
 *
 * If the neighbour graph has several components, T is block diagonal, and the c smallest
 * eigenvalues of all may leave a component without a vector: unlike that of the Laplacian, the
 * smallest eigenvalue of a block need not be 0. The rows of such a component would be 0 up to
 * rounding. Components are therefore treated as in the other spectral methods: if there are more
 * than clusters they are connected by bridges, whose ends become neighbours and learn from each
 * other, and every component contributes its own first eigenvector. */
#include "methods/local.h"

#include "base/check.h"
#include "base/parallel.h"
#include "decide/eigengap.h"
#include "matrix/insert.h"
#include "methods/prepare.h"
#include "steps/blocks.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/merge.h"
#include "steps/pairs.h"
#include "steps/prepare.h"
#include "steps/refine.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_CHUNK = 256 };

/* ---- what a point learns from -------------------------------------------------------------- */

int32_t hd_method_local_neighbors(const hd_method_learning *l, int64_t row, int32_t *index,
                                  double *distances) {
    int32_t count = l->neighbors->k;
    memcpy(index, l->neighbors->index + row * count, (size_t)count * sizeof *index);
    memcpy(distances, l->neighbors->distance + row * count, (size_t)count * sizeof *distances);
    if (l->bridges == NULL)
        return count;
    for (int64_t e = l->bridges->offsets[row]; e < l->bridges->offsets[row + 1]; e++) {
        index[count] = l->bridges->columns[e];
        distances[count++] = l->bridges->values[e];
    }
    return count;
}

int64_t hd_method_local_count(const hd_method_learning *l, int64_t row) {
    const huddle_csr *bridges = l->bridges;
    return l->neighbors->k +
           (bridges != NULL ? bridges->offsets[row + 1] - bridges->offsets[row] : 0);
}

int64_t hd_method_local_most(const hd_method_learning *l) {
    int64_t most = 0;
    for (int64_t i = 0; i < l->neighbors->n; i++) {
        int64_t count = hd_method_local_count(l, i);
        most = count > most ? count : most;
    }
    return most;
}

/* The argument of learn_rows(). */
typedef struct rows_task {
    const hd_method_learning *learning;
    hd_method_local_row *rule;
    double *scratch;
    int64_t scratch_each;
    huddle_csr *a;
} rows_task;

/* Rows are independent; the scratch space belongs to a worker, not to a chunk. */
static huddle_status learn_rows(void *argument, hd_chunk chunk) {
    const rows_task *t = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t begin = t->a->offsets[i];
        int32_t *index = t->a->columns + begin;
        double *values = t->a->values + begin;
        int32_t count = hd_method_local_neighbors(t->learning, i, index, values);
        t->rule(t->learning, i, count, index, values, t->scratch + chunk.worker * t->scratch_each);
        for (int64_t e = begin; e < begin + count;) /* sorts the row by column */
            hd_csr_insert(t->a, i, &e, t->a->columns[e], t->a->values[e]);
    }
    return HUDDLE_OK;
}

/* Offsets are known in advance, so that all rows can be written in parallel. */
huddle_status hd_method_local_predictors(huddle_context *context, const hd_method_learning *l,
                                         hd_method_local_row *rule, huddle_csr *a) {
    huddle_status status = HUDDLE_OK;
    rows_task t = {.learning = l, .rule = rule, .a = a};
    int64_t n = l->neighbors->n, k = l->neighbors->k, most = hd_method_local_most(l) + 1;
    TRY(huddle_points_fetch(l->points));
    TRY(huddle_csr_new(n, l->points->n, n * k + (l->bridges != NULL ? l->bridges->offsets[n] : 0),
                       a));
    for (int64_t i = 0; i < n; i++)
        a->offsets[i + 1] = a->offsets[i] + hd_method_local_count(l, i);
    t.scratch_each = most * most;
    ALLOC(t.scratch, t.scratch_each * hd_workers(context));
    TRY(hd_parallel(context, "learn", n, ROWS_PER_CHUNK, learn_rows, &t));
done:
    huddle_free(t.scratch);
    return status;
}

/* ---- the neighbour graph ------------------------------------------------------------------- */

/* Lists the edges between different components of the graph before it was connected, with their
 * distances. Only bridges are such edges. */
static huddle_status list_bridges(const hd_fit *fit, const char *metric, const int32_t *component,
                                  huddle_csr *bridges) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = &fit->graph.matrix;
    int64_t count = 0, n = fit->rows.n;
    TRY(huddle_csr_fetch(graph));
    TRY(huddle_csr_new(n, n, 2 * (int64_t)fit->graph.connect.bridges, bridges));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            int32_t j = graph->columns[e];
            if (component[i] == component[j])
                continue;
            bridges->columns[count] = j;
            bridges->values[count++] = hd_step_pair_distance(&fit->prepared.points, metric, i, j);
        }
        bridges->offsets[i + 1] = count;
    }
done:
    return status;
}

/* Connects the components of the fit's graph as the other spectral methods do, and lists the
 * bridges: the ends of a bridge must also learn from each other, or T would remain block
 * diagonal. */
static huddle_status join_components(huddle_context *context, const hd_spectral_options *options,
                                     int32_t n_clusters, hd_fit *fit, huddle_csr *bridges) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options connect = options->connect;
    hd_fit_graph *graph = &fit->graph;
    int32_t *component = NULL, count = 0;
    connect.n_clusters = n_clusters;
    connect.metric = options->knn.metric;
    connect.copies = fit->rows.nodes.copies;
    ALLOC(component, fit->rows.n);
    TRY(huddle_graph_components(context, &graph->matrix, component, &count));
    TRY(huddle_graph_connect(context, &fit->prepared.points, &connect, &graph->scale,
                             &graph->matrix, &graph->connect));
    TRY(list_bridges(fit, connect.metric, component, bridges));
    hd_spectral_warn_components(context, &graph->connect, n_clusters);
done:
    huddle_free(component);
    return status;
}

/* Computes the neighbour graph, which only determines components and scores; learning uses the
 * lists and the bridges. Rows of merged points use their k nearest distinct neighbours without
 * ties, so that the local problems remain small. */
static huddle_status make_graph(huddle_context *context, const hd_spectral_options *o,
                                int32_t n_clusters, hd_fit *fit, huddle_neighbors *neighbors,
                                huddle_csr *bridges) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points = &fit->prepared.points;
    const huddle_distinct *nodes = &fit->rows.nodes;
    hd_fit_graph *graph = &fit->graph;
    huddle_knn_options knn = o->knn;
    huddle_weight_options weight = o->weight;
    double begin = hd_seconds();
    knn.seed = o->common.seed;
    TRY(huddle_graph_knn(context, points, &knn, neighbors, &graph->knn));
    if (strcmp(weight.scale, "global") == 0)
        TRY(huddle_graph_mean_distance(context, points, knn.metric, knn.seed,
                                       &weight.mean_distance));
    TRY(huddle_graph_weigh(context, neighbors, &weight, &graph->matrix, &graph->scale));
    TRY(join_components(context, o, n_clusters, fit, bridges));
    if (nodes->n > 0)
        TRY(huddle_graph_weigh_copies(context, nodes->copies, knn.n_neighbors, &graph->matrix));
    TRY(huddle_neighbors_fetch(neighbors));
    graph->present = true;
    graph->seconds = hd_seconds() - begin;
done:
    return status;
}

/* ---- the embedding ------------------------------------------------------------------------- */

huddle_status hd_method_local_set_eigenvalues(double upper, hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding *e = &embedding->f;
    for (int32_t k = 0; k < e->n_eigenvalues; k++)
        e->eigenvalues[k] = fmax(upper - e->eigenvalues[k], 0);
    ALLOC(e->degrees, e->vectors.rows);
    for (int64_t i = 0; i < e->vectors.rows; i++)
        e->degrees[i] = 1;
    embedding->present = true;
done:
    return status;
}

/* Eigenvalues of T whose difference is below this share of their value, or of the width of the
 * spectrum if that is smaller (a large ridge), have no reliable order. */
static const double equal_share = 1e-3;

/* The matrix and its eigenvectors, component by component. T is positive semidefinite, so 1 is an
 * upper bound of the spectrum of I - T. */
static huddle_status find_vectors(huddle_context *context, const hd_method_local *how,
                                  const hd_method_learning *learning, huddle_range n_clusters,
                                  hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_csr matrix = {0};
    int32_t *component = NULL, count = 0;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_embed_info *info = &embedding->info;
    const hd_spectral_options *options = learning->options;
    huddle_embed_options embed = options->embed;
    int64_t n = fit->rows.n;
    bool commute = strcmp(embed.rows, "commute") == 0;
    int64_t columns = hd_spectral_count_columns(embed.rows, n_clusters.last);
    double lower = 0;
    embed.n_components = (int32_t)(columns < n ? columns : n);
    embed.rows = commute ? "sym" : embed.rows;
    embed.seed = options->common.seed;
    TRY(how->matrix(context, learning, &matrix, &lower));
    ALLOC(component, n);
    TRY(huddle_graph_components(context, &fit->graph.matrix, component, &count));
    TRY(hd_spectral_embed_blocks(context, &matrix, component, count, lower, 1, &embed,
                                 n_clusters.first < n_clusters.last, &embedding->f, info));
    info->components = count;
    TRY(hd_method_local_set_eigenvalues(1, embedding));
    /* Commute rows need eigenvalues of T in place of those of the Laplacian, which are known only
     * now: hd_spectral_make_rows() makes them. */
    if (commute)
        huddle_dense_free(&embedding->f.rows);
    /* Arbitrary if the next eigenvalue is too close. A small ridge in few dimensions predicts every
     * smooth function, and all small eigenvalues of T are nearly 0. */
    double next = embedding->f.eigenvalues[embed.n_components - 1] + info->gap;
    if (info->gap <= equal_share * fmin(next, info->unit))
        info->cuts_cluster = true;
    hd_spectral_warn_embedding(context, &options->embed, info, n_clusters);
done:
    huddle_free(component);
    huddle_csr_free(&matrix);
    return status;
}

/* ---- clusters ------------------------------------------------------------------------------ */

/* The argument of cluster(). */
typedef struct local_step {
    const hd_spectral_options *options;
    const hd_fit_embedding *laplacian; /* eigenvectors of the graph; empty without refinement */
} local_step;

/* Rows of F, then K-means on them. Refinement works on the neighbour graph, so that its commute
 * rows come from the Laplacian of the graph, not from T. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const local_step *step = argument;
    hd_fit *fit = run->fit;
    hd_spectral_options own_step = *step->options;
    own_step.refine = "none";
    TRY(hd_method_cluster_rows(run, &own_step, n_clusters));
    const huddle_refine_start own = {"embedding", fit->clusters.labels};
    TRY(hd_step_refine(run->context, step->options, step->laplacian, 1, &own,
                       &fit->embedding.f.rows, fit));
done:
    return status;
}

/* Eigenvectors of the graph for the refinement; what they would warn of concerns a start only. */
static huddle_status embed_graph(huddle_context *context, const hd_spectral_options *options,
                                 huddle_range n_clusters, const hd_fit *fit,
                                 hd_fit_embedding *laplacian) {
    hd_spectral_options start = *options;
    hd_fit view = {.rows = fit->rows, .graph = fit->graph};
    if (!hd_spectral_refines(options))
        return HUDDLE_OK;
    start.embed.verify = "none";
    start.embed.rows = "sym";
    huddle_status status = hd_spectral_find_vectors(context, &start, n_clusters, &view);
    *laplacian = view.embedding;
    return status;
}

huddle_status hd_method_local_cluster(hd_method_run *run, const hd_spectral_options *options,
                                      bool by_gap) {
    huddle_status status = HUDDLE_OK;
    hd_fit_embedding laplacian = {0};
    local_step step = {options, &laplacian};
    TRY_STAGE(run->context, HD_STAGE_EMBED,
              embed_graph(run->context, options, run->n_clusters, run->fit, &laplacian));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &step, options);
    how.laplacian = &laplacian;
    how.graph_per_trial = !by_gap;
    how.measures_stability = false;
    TRY(hd_method_cluster(run, &how));
done:
    hd_fit_embedding_free(&laplacian);
    return status;
}

/* n_clusters = auto is chosen by the eigengaps of the graph of sc, never by modularity: the
 * eigengaps of T have no comparable meaning, and its labels are not clusters of that graph. It is
 * chosen before the points are merged, which hd_decide_eigengap_of_points() does for itself. */
huddle_status hd_method_local_begin(hd_method_run *run, hd_spectral_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    TRY(hd_step_settle_refine(run->context, run->job, options, &fit->refined));
    TRY(hd_method_prepare_shared(run, &options->prepare, options));
    TRY(hd_decide_eigengap_of_points(run->context, &fit->prepared.points, run->seed,
                                     options->refine, fit, &run->n_clusters));
    TRY(hd_step_merge(run->context, options->knn.n_neighbors, fit));
done:
    return status;
}

huddle_status hd_method_local_fit(hd_method_run *run, const hd_method_local *how, void *options) {
    huddle_status status = HUDDLE_OK;
    hd_spectral_options *o = options;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    huddle_range *n_clusters = &run->n_clusters;
    huddle_neighbors neighbors = {0};
    huddle_csr bridges = {0};
    TRY(hd_method_local_begin(run, o));
    TRY_STAGE(context, HD_STAGE_GRAPH,
              make_graph(context, o, n_clusters->first, fit, &neighbors, &bridges));
    const hd_method_learning learning = {&fit->prepared.points, &fit->graph.scale, &neighbors,
                                         &bridges, options};
    TRY_STAGE(context, HD_STAGE_EMBED, find_vectors(context, how, &learning, *n_clusters, fit));
    TRY(hd_method_local_cluster(run, o, true));
done:
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&bridges);
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

/* There are no bridges for new points, and (15) does not apply. */
huddle_status hd_method_local_place(huddle_context *context, const hd_fit *fit,
                                    const hd_method_local *how, const void *options,
                                    const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *o = options;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_csr a = {0};
    if (!fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    TRY(huddle_dense_fetch(vectors));
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(huddle_graph_query(context, &fit->prepared.points, &view, &o->knn, &neighbors, NULL));
    TRY(huddle_neighbors_fetch(&neighbors));
    const hd_method_learning learning = {&fit->prepared.points, &fit->graph.scale, &neighbors, NULL,
                                         options};
    TRY(how->predictors(context, &learning, &a));
    TRY(huddle_dense_new(x->n, fit->embedding.f.rows.cols, rows));
    for (int64_t i = 0; i < x->n; i++) {
        same[i] = hd_spectral_same_row(&view, i, &o->knn, &neighbors);
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++)
            for (int64_t k = 0; k < rows->cols; k++)
                rows->values[i * rows->stride + k] +=
                    a.values[e] * vectors->values[a.columns[e] * vectors->stride + k];
    }
    TRY(hd_spectral_apply_rule(o->embed.rows, rows, NULL, fit->embedding.f.eigenvalues, rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&a);
    return status;
}
