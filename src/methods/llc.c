/* Local learning clustering (Wu and Schoelkopf, A local learning approach for clustering, NIPS
 * 2006). The value of each point is predicted from those of its neighbours by kernel ridge
 * regression, whose coefficients are row i of A. F minimises the squared error of the predictions,
 * ||F - A F||^2: its columns are the eigenvectors of the smallest eigenvalues of T = (I - A)'(I -
 * A), computed as those of the largest eigenvalues of I - T = A + A' - A'A.
 *
 * If the neighbour graph has several components, T is block diagonal. The smallest eigenvalue of a
 * block is not 0, as for the Laplacian, but depends on the ridge and on how well the points of the
 * component predict each other. The c smallest eigenvalues of all may leave a component without a
 * vector, and its rows would be 0 up to rounding. Components are therefore treated as in the other
 * spectral methods, a departure from the paper: if there are more than clusters they are connected
 * by bridges, whose ends become neighbours and predict each other, and every component contributes
 * its own first eigenvector. */
#include "base/check.h"
#include "base/options.h"
#include "base/parallel.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "matrix/insert.h"
#include "methods/prepare.h"
#include "methods/spectral.h"
#include "steps/blocks.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/llc_matrix.h"
#include "steps/merge.h"
#include "steps/prepare.h"
#include "steps/refine.h"

#include <math.h>
#include <string.h>

typedef struct llc_options {
    hd_spectral_options spectral;
    double alpha;
} llc_options;

enum { ROWS_PER_CHUNK = 256 };

/* Entries of the kernel are at most 1: a smaller pivot is a rounding error. */
static const double min_pivot = 1e-14;

static const huddle_option *alpha_table(void) {
    static const huddle_option table[] = {HD_REAL(llc_options, alpha, "1", 1e-12, 1e12,
                                                  "regularisation of the kernel ridge regression"),
                                          {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(llc_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(llc_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(llc_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(llc_options, spectral.connect), NULL},
    {alpha_table, 0, NULL},
    {huddle_embed_options_table, offsetof(llc_options, spectral.embed), NULL},
    {huddle_kmeans_options_table, offsetof(llc_options, spectral.kmeans), hd_method_kmeans_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* ---- distances between neighbours ---------------------------------------------------------- */

/* Sums of products of two rows, and of their squared differences, which are accurate where aa - 2
 * ab + bb would cancel. Without `shifted` the values are as stored: the shift cancels in
 * differences. */
typedef struct products {
    double aa, ab, bb, difference;
} products;

/* In double precision: distances between neighbours are small differences of the stored floats. */
static products dense_products(const huddle_points *x, int64_t a, int64_t b, bool shifted) {
    products p = {0};
    const float *u = x->values + a * x->stride, *v = x->values + b * x->stride;
    for (int64_t j = 0; j < x->d; j++) {
        double shift = shifted && x->shift != NULL ? x->shift[j] : 0;
        double s = (double)u[j] + shift, t = (double)v[j] + shift;
        p.aa += s * s;
        p.ab += s * t;
        p.bb += t * t;
        p.difference += (s - t) * (s - t);
    }
    return p;
}

/* Merges two rows with ascending columns; INT32_MAX marks the end of a row. */
static products sparse_products(const huddle_points *x, int64_t a, int64_t b) {
    products p = {0};
    int64_t e = x->offsets[a], f = x->offsets[b];
    while (e < x->offsets[a + 1] || f < x->offsets[b + 1]) {
        int32_t left = e < x->offsets[a + 1] ? x->columns[e] : INT32_MAX;
        int32_t right = f < x->offsets[b + 1] ? x->columns[f] : INT32_MAX;
        double s = left <= right ? (double)x->values[e++] : 0;
        double t = right <= left ? (double)x->values[f++] : 0;
        p.aa += s * s;
        p.ab += s * t;
        p.bb += t * t;
        p.difference += (s - t) * (s - t);
    }
    return p;
}

/* Distance as the graph stage defines it: Euclidean, or 1 - cos with the shift added back.
 * Neighbours of a point need not be neighbours of each other, so their distances are not in the
 * lists. */
static double point_distance(const huddle_points *x, const char *metric, int64_t a, int64_t b) {
    bool cosine = strcmp(metric, "cosine") == 0;
    products p = x->offsets != NULL ? sparse_products(x, a, b) : dense_products(x, a, b, cosine);
    if (!cosine)
        return sqrt(p.difference);
    if (p.aa == 0 || p.bb == 0)
        return p.aa == p.bb ? 0 : 1;
    return fmax(1 - p.ab / sqrt(p.aa * p.bb), 0);
}

/* ---- kernel ridge regression --------------------------------------------------------------- */

/* Solves m v = b by Gaussian elimination with partial pivoting; m (k x k) and b are destroyed, b
 * becomes v. With local scales the kernel need not be positive definite, so Cholesky factorisation
 * could fail. k is about 5: calling LAPACK would cost more than the elimination. */
static void solve_system(int32_t k, double *m, double *b) {
    for (int32_t c = 0; c < k; c++) {
        int32_t pivot = c;
        for (int32_t r = c + 1; r < k; r++)
            if (fabs(m[r * k + c]) > fabs(m[pivot * k + c]))
                pivot = r;
        for (int32_t j = c; j < k && pivot != c; j++) {
            double held = m[c * k + j];
            m[c * k + j] = m[pivot * k + j];
            m[pivot * k + j] = held;
        }
        double held = b[c];
        b[c] = b[pivot];
        b[pivot] = held;
        if (fabs(m[c * k + c]) < min_pivot) /* equal neighbours: any split of the weight will do */
            m[c * k + c] = copysign(min_pivot, m[c * k + c]);
        for (int32_t r = c + 1; r < k; r++) {
            double factor = m[r * k + c] / m[c * k + c];
            b[r] -= factor * b[c];
            for (int32_t j = c + 1; j < k; j++)
                m[r * k + j] -= factor * m[c * k + j];
        }
    }
    for (int32_t c = k - 1; c >= 0; c--) {
        for (int32_t j = c + 1; j < k; j++)
            b[c] -= m[c * k + j] * b[j];
        b[c] /= m[c * k + c];
    }
}

/* Predictors of many points from their neighbours among the training points. Rows are computed in
 * parallel; everything but scratch and a is read only. */
typedef struct learning {
    const huddle_points *points; /* training */
    const huddle_scale *scale;
    const huddle_neighbors *neighbors;
    const huddle_csr *bridges; /* more neighbours and their distances, or NULL */
    const char *metric;
    double alpha;
    int64_t max_neighbors; /* of any row */
    double *scratch;       /* max_neighbors^2 for each worker */
    huddle_csr *a;
} learning;

/* The neighbours of a row and their distances, followed by those over bridges. */
static int32_t list_neighbors(const learning *l, int64_t row, int32_t *index, double *distances) {
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

/* Row i of A: the solution of (K + alpha I) a = k, where K is the kernel between the neighbours of
 * point i and k the kernel between them and the point. The kernel is (1), so its diagonal is 1. The
 * space of a contains the distances first. K is filled symmetrically from its lower half: the
 * weight of an edge does not depend on its direction. */
static void learn_row(const learning *l, int64_t i, double *kernel) {
    int64_t begin = l->a->offsets[i];
    int32_t *index = l->a->columns + begin;
    double *a = l->a->values + begin;
    int32_t k = list_neighbors(l, i, index, a);
    /* Without the bridges, which are not shorter than the distances to the neighbours and would
     * widen the kernel of the point. */
    double scale = hd_spectral_own_scale(l->scale, a, l->neighbors->k);
    for (int32_t r = 0; r < k; r++) {
        double local = l->scale->local != NULL ? l->scale->local[index[r]] : 0;
        a[r] = huddle_graph_weight(l->scale, index[r], scale, a[r]);
        /* exp(0) on the diagonal, plus the ridge. */
        kernel[r * k + r] = 1 + l->alpha;
        for (int32_t c = 0; c < r; c++) {
            double d = point_distance(l->points, l->metric, index[r], index[c]);
            double weight = huddle_graph_weight(l->scale, index[c], local, d);
            kernel[r * k + c] = kernel[c * k + r] = weight;
        }
    }
    solve_system(k, kernel, a);
    for (int64_t e = begin; e < begin + k;) /* sorts the row by column */
        hd_csr_insert(l->a, i, &e, l->a->columns[e], l->a->values[e]);
}

/* Rows are independent; the scratch space belongs to a worker, not to a chunk. */
static huddle_status learn_rows(void *argument, hd_chunk chunk) {
    const learning *l = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        learn_row(l, i, l->scratch + chunk.worker * l->max_neighbors * l->max_neighbors);
    return HUDDLE_OK;
}

/* Computes A, with one row for each list of neighbours and one column for each training point.
 * Offsets are known in advance, so that all rows can be written in parallel. */
static huddle_status learn_predictors(huddle_context *context, const hd_fit *fit,
                                      const llc_options *options, const huddle_neighbors *neighbors,
                                      const huddle_csr *bridges, huddle_csr *a) {
    huddle_status status = HUDDLE_OK;
    learning l = {.points = &fit->prepared.points,
                  .scale = &fit->graph.scale,
                  .neighbors = neighbors,
                  .bridges = bridges,
                  .metric = options->spectral.knn.metric,
                  .alpha = options->alpha,
                  .a = a};
    int64_t n = neighbors->n, k = neighbors->k;
    TRY(huddle_points_fetch(l.points));
    TRY(huddle_csr_new(n, fit->rows.n, n * k + (bridges != NULL ? bridges->offsets[n] : 0), a));
    for (int64_t i = 0; i < n; i++) {
        int64_t more = bridges != NULL ? bridges->offsets[i + 1] - bridges->offsets[i] : 0;
        a->offsets[i + 1] = a->offsets[i] + k + more;
        l.max_neighbors = k + more > l.max_neighbors ? k + more : l.max_neighbors;
    }
    ALLOC(l.scratch, l.max_neighbors * l.max_neighbors * hd_workers(context));
    TRY(hd_parallel(context, "learn", n, ROWS_PER_CHUNK, learn_rows, &l));
done:
    huddle_free(l.scratch);
    return status;
}

/* ---- the embedding ------------------------------------------------------------------------- */

/* The largest absolute row sum of I - M, whose norm it bounds. With that of the transpose, ||T||_2
 * = ||I - A||_2^2 <= ||I - A||_inf ||I - A||_1, so the spectrum of I - T is above 1 minus this
 * product. The Chebyshev filter of the eigensolver needs a rigorous bound: the spectrum extends
 * below -1, unlike that of D^-1/2 A D^-1/2. */
static double largest_row(const huddle_csr *m) {
    double largest = 1;
    for (int64_t i = 0; i < m->rows; i++) {
        double sum = 1;
        for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
            sum += fabs(m->values[e]);
        largest = fmax(largest, sum);
    }
    return largest;
}

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
            bridges->values[count++] = point_distance(&fit->prepared.points, metric, i, j);
        }
        bridges->offsets[i + 1] = count;
    }
done:
    return status;
}

/* Connects the components of the fit's graph as the other spectral methods do, and lists the
 * bridges: the ends of a bridge must also predict each other, or T would remain block diagonal. */
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

/* Computes the neighbour graph, which only determines components and scores; predictors use the
 * lists and the bridges. Rows of merged points use their k nearest distinct neighbours without
 * ties, so that the regression problems remain small. */
static huddle_status make_graph(huddle_context *context, const llc_options *options,
                                int32_t n_clusters, hd_fit *fit, huddle_neighbors *neighbors,
                                huddle_csr *bridges) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *o = &options->spectral;
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

/* Converts eigenvalues of I - T to those of T. Degrees of 1 make the row rule `rw` equal to
 * `sym`. */
static huddle_status set_eigenvalues(int64_t n, hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding *e = &embedding->f;
    for (int32_t k = 0; k < e->n_eigenvalues; k++)
        e->eigenvalues[k] = fmax(1 - e->eigenvalues[k], 0);
    ALLOC(e->degrees, n);
    for (int64_t i = 0; i < n; i++)
        e->degrees[i] = 1;
    embedding->present = true;
done:
    return status;
}

/* Eigenvalues of T whose difference is below this share of their value, or of the width of the
 * spectrum if that is smaller (a large ridge), have no reliable order. */
static const double equal_share = 1e-3;

/* Computes the predictors, their matrix, and its eigenvectors component by component. */
static huddle_status find_vectors(huddle_context *context, const llc_options *options,
                                  const huddle_neighbors *neighbors, const huddle_csr *bridges,
                                  huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_csr a = {0}, transpose = {0}, matrix = {0};
    int32_t *component = NULL, count = 0;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_embed_info *info = &embedding->info;
    huddle_embed_options embed = options->spectral.embed;
    int64_t n = fit->rows.n;
    bool commute = strcmp(embed.rows, "commute") == 0;
    int64_t columns = hd_spectral_count_columns(embed.rows, n_clusters.last);
    embed.n_components = (int32_t)(columns < n ? columns : n);
    embed.rows = commute ? "sym" : embed.rows;
    embed.seed = options->spectral.common.seed;
    TRY(learn_predictors(context, fit, options, neighbors, bridges, &a));
    TRY(huddle_csr_transpose(&a, &transpose));
    TRY(hd_step_llc_matrix(context, &a, &transpose, &matrix));
    /* T is positive semidefinite, so 1 is an upper bound of the spectrum of I - T. */
    double lower = 1 - largest_row(&a) * largest_row(&transpose);
    ALLOC(component, n);
    TRY(huddle_graph_components(context, &fit->graph.matrix, component, &count));
    TRY(hd_spectral_embed_blocks(context, &matrix, component, count, lower, 1, &embed,
                                 n_clusters.first < n_clusters.last, &embedding->f, info));
    info->components = count;
    TRY(set_eigenvalues(n, embedding));
    /* Commute rows need eigenvalues of T in place of those of the Laplacian, which are known only
     * now: hd_spectral_make_rows() makes them. */
    if (commute)
        huddle_dense_free(&embedding->f.rows);
    /* Arbitrary if the next eigenvalue is too close. A small ridge in few dimensions predicts every
     * smooth function, and all small eigenvalues of T are nearly 0. */
    double next = embedding->f.eigenvalues[embed.n_components - 1] + info->gap;
    if (info->gap <= equal_share * fmin(next, info->unit))
        info->cuts_cluster = true;
    hd_spectral_warn_embedding(context, &options->spectral.embed, info, n_clusters);
done:
    huddle_free(component);
    huddle_csr_free(&a);
    huddle_csr_free(&transpose);
    huddle_csr_free(&matrix);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* The argument of cluster(). */
typedef struct llc_step {
    const hd_spectral_options *options;
    const hd_fit_embedding *laplacian; /* eigenvectors of the graph; empty without refinement */
} llc_step;

/* Rows of F, then K-means on them. Refinement works on the neighbour graph, so that its commute
 * rows come from the Laplacian of the graph, not from T. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const llc_step *step = argument;
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

/* n_clusters = auto is chosen by the eigengaps of the graph of sc, never by modularity: the
 * eigengaps of T have no comparable meaning, and its labels are not clusters of that graph. It is
 * chosen before the points are merged, which hd_decide_eigengap_of_points() does for itself. */
static huddle_status fit_llc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    llc_options o = *(const llc_options *)options;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    huddle_range *n_clusters = &run->n_clusters;
    huddle_neighbors neighbors = {0};
    huddle_csr bridges = {0};
    hd_fit_embedding laplacian = {0};
    llc_step step = {&o.spectral, &laplacian};
    TRY(hd_step_settle_refine(context, run->job, &o.spectral, &fit->refined));
    TRY(hd_method_prepare_shared(run, &o.spectral.prepare, &o.spectral));
    TRY(hd_decide_eigengap_of_points(context, &fit->prepared.points, run->seed, o.spectral.refine,
                                     fit, n_clusters));
    TRY(hd_step_merge(context, o.spectral.knn.n_neighbors, fit));
    TRY_STAGE(context, HD_STAGE_GRAPH,
              make_graph(context, &o, n_clusters->first, fit, &neighbors, &bridges));
    TRY_STAGE(context, HD_STAGE_EMBED,
              find_vectors(context, &o, &neighbors, &bridges, *n_clusters, fit));
    TRY_STAGE(context, HD_STAGE_EMBED,
              embed_graph(context, &o.spectral, *n_clusters, fit, &laplacian));
    hd_method_clustering how = hd_method_clustering_of(fit, cluster, &step, &o.spectral);
    how.laplacian = &laplacian;
    how.measures_stability = false;
    TRY(hd_method_cluster(run, &how));
done:
    hd_fit_embedding_free(&laplacian);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&bridges);
    return status;
}

/* New rows are predicted from the training rows around them, as these are from each other. There
 * are no bridges for new points, and (15) does not apply. */
static huddle_status place_llc(huddle_context *context, const hd_fit *fit, const void *options,
                               const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const llc_options *o = options;
    const huddle_dense *vectors = &fit->embedding.f.vectors;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_csr a = {0};
    if (!fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    TRY(huddle_dense_fetch(vectors));
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(huddle_graph_query(context, &fit->prepared.points, &view, &o->spectral.knn, &neighbors,
                           NULL));
    TRY(huddle_neighbors_fetch(&neighbors));
    TRY(learn_predictors(context, fit, o, &neighbors, NULL, &a));
    TRY(huddle_dense_new(x->n, fit->embedding.f.rows.cols, rows));
    for (int64_t i = 0; i < x->n; i++) {
        same[i] = hd_spectral_same_row(&view, i, &o->spectral.knn, &neighbors);
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++)
            for (int64_t k = 0; k < rows->cols; k++)
                rows->values[i * rows->stride + k] +=
                    a.values[e] * vectors->values[a.columns[e] * vectors->stride + k];
    }
    TRY(hd_spectral_apply_rule(o->spectral.embed.rows, rows, NULL, fit->embedding.f.eigenvalues,
                               rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&a);
    return status;
}

const hd_method hd_method_llc = {
    .text = {"llc", "local learning clustering",
             "The cluster of a point should be predictable from its neighbours by kernel ridge "
             "regression: embeds the points by the eigenvectors with the smallest prediction error "
             "and clusters the embedding by K-means."},
    .options_size = sizeof(llc_options),
    .sections = sections,
    .fit = fit_llc,
    .place = place_llc,
    .memory = {hd_decide_memory_of_spectral, hd_decide_economise_spectral}};
