/* Spectral embedded clustering (Nie, Xu, Tsang and Zhang, Spectral embedded clustering, IJCAI 2009;
 * Nie, Zeng, Tsang, Xu and Zhang, Spectral embedded clustering: a framework for in-sample and
 * out-of-sample spectral clustering, IEEE Transactions on Neural Networks 2011), a reconstruction
 * from the abstract and from programs of others, which agree on the objective; what they leave open
 * is in docs/method.md, section 8. The eigenvectors should also be linear in the points X (n x d,
 * centred):
 *
 *     minimise over F'F = I, W, b   tr F'LF + mu (||X W + 1 b' - F||^2 + gamma ||W||^2)
 *
 * For fixed F, W and b are a ridge regression, whose residual is tr F' L_g F with L_g = I - 11'/n -
 * X (X'X + gamma I)^-1 X'. F consists of the eigenvectors of the smallest eigenvalues of L + mu
 * L_g, and the rows of new points are W'x + b.
 *
 * L is the normalised Laplacian of the neighbour graph, as in sc. The largest eigenvalues of (2 +
 * mu) I - L - mu L_g are computed, a sum of matrices that are positive semidefinite; L_g is never
 * formed: it is multiplied by its factors (steps/ridge.c). The paper leaves mu and gamma to a
 * search; here gamma is a share of the total scatter. Merged rows count once. K-means on the rows
 * of F gives the labels. */
#include "base/check.h"
#include "base/options.h"
#include "base/parallel.h"
#include "decide/memory.h"
#include "methods/local.h"
#include "methods/prepare.h"
#include "steps/embed.h"
#include "steps/filtered.h"
#include "steps/graph.h"
#include "steps/prepare.h"
#include "steps/ridge.h"

#include <math.h>
#include <string.h>

typedef struct sec_options {
    hd_spectral_options spectral;
    double mu, gamma;
} sec_options;

enum { ROWS_PER_CHUNK = 1024, KRYLOV_COLUMNS = 16 };

static const huddle_option *own_table(void) {
    static const huddle_option table[] = {
        HD_REAL(sec_options, mu, "1", 0, 1e9, "weight of the linear regression on the points"),
        HD_REAL_AUTO(sec_options, gamma, "auto", 1e-12, 1e15,
                     "ridge of the regression; auto: 1/10000 of the total scatter of the points"),
        {0}};
    return table;
}

static const hd_method_rename embed_names[] = {
    {"tol", "tol", NULL, NULL}, {"rows", "rows", NULL, NULL}, {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(sec_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(sec_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(sec_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(sec_options, spectral.connect), NULL},
    {own_table, 0, NULL},
    {huddle_embed_options_table, offsetof(sec_options, spectral.embed), embed_names},
    {huddle_kmeans_options_table, offsetof(sec_options, spectral.kmeans), hd_method_kmeans_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* ---- the operator -------------------------------------------------------------------------- */

typedef struct embedded {
    const huddle_csr *graph;
    const double *root; /* n: 1 / root of the degree */
    const hd_step_ridge *ridge;
    double mu;
} embedded;

/* A product of the operator with b vectors. */
typedef struct product {
    const embedded *of;
    const double *v, *mean;
    int64_t b, ldv, ldo;
    double *out; /* fitted values of v before */
} product;

/* (2 + mu) I - L - mu L_g = I + N + mu (11'/n + X (X'X + gamma I)^-1 X'), N = D^-1/2 A D^-1/2. */
static huddle_status add_rows(void *argument, hd_chunk chunk) {
    const product *p = argument;
    const huddle_csr *a = p->of->graph;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        const double *v = p->v + i * p->ldv;
        double *out = p->out + i * p->ldo;
        for (int64_t k = 0; k < p->b; k++)
            out[k] = v[k] + p->of->mu * (out[k] + p->mean[k]);
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            int32_t j = a->columns[e];
            double weight = p->of->root[i] * a->values[e] * p->of->root[j];
            for (int64_t k = 0; k < p->b; k++)
                out[k] += weight * p->v[j * p->ldv + k];
        }
    }
    return HUDDLE_OK;
}

static huddle_status times(huddle_context *context, void *self, const double *v, int64_t b,
                           int64_t ldv, double *out, int64_t ldo) {
    huddle_status status = HUDDLE_OK;
    const embedded *of = self;
    double *mean = NULL, *half = NULL;
    int64_t n = of->graph->rows;
    ALLOC_ZERO(mean, b);
    ALLOC(half, hd_step_ridge_half(of->ridge) * b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < b; k++)
            mean[k] += v[i * ldv + k] / (double)n;
    TRY(hd_step_ridge_project(context, of->ridge, v, b, ldv, half, out, ldo));
    product p = {of, v, mean, b, ldv, ldo, out};
    TRY(hd_parallel(context, NULL, n, ROWS_PER_CHUNK, add_rows, &p));
done:
    FREE(mean, half);
    return status;
}

/* ---- the embedding ------------------------------------------------------------------------- */

/* 1 / root of the degrees; a vertex without edges counts as one of degree 1. */
static huddle_status degree_roots(const huddle_csr *graph, double **root) {
    huddle_status status = HUDDLE_OK;
    ALLOC(*root, graph->rows);
    for (int64_t i = 0; i < graph->rows; i++) {
        double degree = 0;
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            degree += graph->values[e];
        (*root)[i] = degree > 0 ? 1 / sqrt(degree) : 1;
    }
done:
    return status;
}

/* The eigenvectors, and the regression of all of them on the points. */
static huddle_status find_vectors(hd_method_run *run, const sec_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_embed_info *info = &embedding->info;
    const hd_spectral_options *o = &options->spectral;
    hd_step_ridge ridge = {0};
    double *root = NULL, upper = 2 + options->mu;
    int64_t n = fit->rows.n, c = hd_spectral_count_columns(o->embed.rows, run->n_clusters.last);
    TRY(huddle_csr_fetch(&fit->graph.matrix));
    TRY(degree_roots(&fit->graph.matrix, &root));
    TRY(hd_step_ridge_new(context, &fit->prepared.points, options->gamma, &ridge));
    embedded of = {&fit->graph.matrix, root, &ridge, options->mu};
    const hd_prepare_operator a = {n, times, &of};
    TRY(hd_step_filtered_pairs(context, &a, upper, c < n ? c : n, o->embed.tol, run->seed,
                               &embedding->f, info));
    info->components = fit->graph.connect.after;
    TRY(hd_method_local_set_eigenvalues(upper, embedding));
    TRY(hd_step_ridge_fit(context, &ridge, &embedding->f.vectors, &embedding->linear_map));
    hd_spectral_warn_embedding(context, &o->embed, info, run->n_clusters);
done:
    huddle_free(root);
    hd_step_ridge_free(&ridge);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* The options of the eigensolver of a graph are the refinement's. Eigengaps cannot choose the
 * number of clusters: with small gamma the d + 1 linear functions cost nothing, whatever the
 * clusters. */
static huddle_status fit_sec(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    sec_options o = *(const sec_options *)options;
    hd_spectral_options *spectral = &o.spectral;
    huddle_embed_options embed = huddle_embed_defaults();
    embed.tol = spectral->embed.tol;
    embed.rows = spectral->embed.rows;
    embed.verify = "none";
    spectral->embed = embed;
    TRY(hd_method_local_begin(run, spectral));
    TRY_STAGE(run->context, HD_STAGE_GRAPH,
              hd_spectral_make_graph(run->context, spectral, run->n_clusters, run->fit));
    hd_spectral_warn_graph(run->context, spectral, run->n_clusters, run->fit);
    TRY_STAGE(run->context, HD_STAGE_EMBED, find_vectors(run, &o));
    TRY(hd_method_local_cluster(run, spectral, false));
done:
    return status;
}

/* Rows of new points are W'x + b; one that equals a training row is recognised by its nearest
 * neighbour. */
static huddle_status place_sec(huddle_context *context, const hd_fit *fit, const void *options,
                               const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const sec_options *o = options;
    const hd_fit_embedding *e = &fit->embedding;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_knn_options nearest = o->spectral.knn;
    nearest.n_neighbors = 1;
    if (!e->present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    if (e->linear_map.values == NULL)
        FAIL(HUDDLE_UNSUPPORTED, "a model without a linear map cannot label new points");
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(huddle_graph_query(context, &fit->prepared.points, &view, &nearest, &neighbors, NULL));
    TRY(huddle_neighbors_fetch(&neighbors));
    for (int64_t i = 0; i < x->n; i++)
        same[i] = hd_spectral_same_row(&view, i, &nearest, &neighbors);
    TRY(huddle_dense_new(x->n, e->f.rows.cols, rows));
    TRY(hd_step_ridge_apply(context, &e->linear_map, &view, rows));
    TRY(hd_spectral_apply_rule(o->spectral.embed.rows, rows, NULL, e->f.eigenvalues, rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    return status;
}

/* Beside what the other spectral methods need: the factor and a copy, and the Krylov basis with
 * its images and a filter, columns for each eigenvector. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    int64_t m = x->d < x->n ? x->d : x->n, c = x->n_clusters + KRYLOV_COLUMNS;
    hd_decide_memory_of_spectral(x, options, needed);
    if (m <= HD_STEP_RIDGE_MOST)
        needed->stages[HD_STAGE_EMBED] +=
            (2 * m * m + x->n * c * KRYLOV_COLUMNS) * (int64_t)sizeof(double);
}

const hd_method hd_method_sec = {
    .text = {.name = "sec",
             .title = "spectral embedded clustering (reconstruction)",
             .reconstruction = true,
             .summary = "Spectral clustering whose eigenvectors should also be linear in the "
                        "points: embeds them by a graph and a ridge regression together, clusters "
                        "the embedding by K-means, and maps new points linearly. Reconstructed "
                        "from the abstract and from programs of others."},
    .options_size = sizeof(sec_options),
    .sections = sections,
    .fit = fit_sec,
    .place = place_sec,
    .memory = {predict_memory, hd_decide_economise_spectral}};
