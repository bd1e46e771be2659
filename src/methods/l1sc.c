/* Spectral clustering of the l1-norm graph (Nie, Wang, Huang and Ding, Unsupervised and
 * semi-supervised learning via l1-norm graph, ICCV 2011). The rows q_i of Q, n x c, minimise the
 * sum of their distances over the edges of a graph, where spectral clustering has squared
 * distances:
 *
 *     minimise over Q'Q = I   sum_(i,j) w_ij ||q_i - q_j||.
 *
 * A sum of distances is least where many are 0 and few are large, as in an indicator of clusters;
 * squares are least where all are small. steps/l1_rows.c has the iteration and the proof that it
 * lowers the objective. The sum is over unordered pairs, half of that over ordered ones.
 *
 * The text of the paper was not at hand: objective, constraint and iterative reweighting are those
 * of its abstract and of later papers that cite it, derived anew. Open there, and chosen here: the
 * graph and its weights are those of sc; distances are smoothed, by a share epsilon of their root
 * mean square, so that the objective has a gradient and weights are bounded; the distances
 * of the first step are those between the rows of sc, eigenvectors of the random-walk Laplacian; a
 * merged row counts as the points for which it stands, also in the constraint; when to stop;
 * K-means on the rows of Q gives the labels. Only the unsupervised part is here.
 *
 * A new point gets the row that minimises its own terms, all other rows kept: the weighted
 * geometric median of its neighbours' rows. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "base/parallel.h"
#include "decide/memory.h"
#include "methods/spectral.h"
#include "prepare/eigen.h"
#include "steps/kmeans.h"
#include "steps/l1_rows.h"
#include "steps/prepare.h"

#include <math.h>

/* Each step factors a matrix of n rows, whose fill grows faster than n: a step took .2 s for 10,000
 * points of MNIST, .7 s for 20,000 points of overlapping Gaussians, and 17 s for 50,000. */
enum { MAX_ROWS = 20000 };

typedef struct l1sc_options {
    hd_spectral_options spectral;
    double epsilon, step_tol;
    int32_t step_max_iter;
} l1sc_options;

static const huddle_option *own_table(void) {
    static const huddle_option table[] = {
        HD_REAL(l1sc_options, epsilon, "1e-3", 1e-6, 1,
                "smoothing of the distances, relative to the root mean square of all"),
        HD_REAL(l1sc_options, step_tol, "1e-4", 0, 1,
                "stop when a step lowers the objective by less than this share"),
        HD_INT(l1sc_options, step_max_iter, "100", 0, INT32_MAX,
               "maximum number of steps after the first"),
        {0}};
    return table;
}

/* Rows of Q are clustered as they are, so that there is no row rule. */
static const hd_method_rename embed_names[] = {{"embed_solver", "embed_solver", NULL, NULL},
                                               {"embed_max_iter", "embed_max_iter", NULL, NULL},
                                               {"tol", "tol", NULL, NULL},
                                               {"verify", "verify", NULL, NULL},
                                               {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(l1sc_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(l1sc_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(l1sc_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(l1sc_options, spectral.connect), NULL},
    {huddle_embed_options_table, offsetof(l1sc_options, spectral.embed), embed_names},
    {own_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(l1sc_options, spectral.kmeans), hd_method_kmeans_names},
    {0}};

/* ---- clusters ------------------------------------------------------------------------------ */

/* The rows of the random-walk Laplacian, in which the constant vector is one: of c columns, scaled
 * to tr Q'M Q = c. */
static huddle_status make_start(const hd_fit *fit, int64_t c, huddle_dense *q) {
    huddle_status status = HUDDLE_OK;
    const huddle_embedding *e = &fit->embedding.f;
    const huddle_dense *v = &e->vectors;
    double sum = 0;
    TRY(huddle_dense_fetch(v));
    TRY(huddle_dense_new(v->rows, c, q));
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t k = 0; k < c; k++) {
            double root = e->degrees[i] > 0 ? sqrt(e->degrees[i]) : 1;
            double value = q->values[i * q->stride + k] = v->values[i * v->stride + k] / root;
            sum += (double)hd_fit_rows_copies(&fit->rows, i) * value * value;
        }
    for (int64_t at = 0; at < q->rows * q->stride; at++)
        q->values[at] *= sqrt((double)c / sum);
done:
    return status;
}

/* Q takes the place of the rows of the embedding. It has fewer columns than clusters if there are
 * fewer distinct points. What an earlier number of clusters left is replaced. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const l1sc_options *o = argument;
    hd_fit *fit = run->fit;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &o->spectral.kmeans, n_clusters);
    huddle_dense q = {0};
    double *copies = NULL;
    int64_t vectors = embedding->f.vectors.cols;
    TRY(make_start(fit, n_clusters < vectors ? n_clusters : vectors, &q));
    TRY(hd_fit_rows_weights(&fit->rows, &copies));
    const hd_step_l1_rows problem = {.graph = &fit->graph.matrix,
                                     .copies = copies,
                                     .epsilon = o->epsilon,
                                     .tol = o->step_tol,
                                     .max_iter = o->step_max_iter,
                                     .seed = run->seed,
                                     .linear_solver = "auto"};
    TRY_STAGE(run->context, HD_STAGE_EMBED,
              hd_step_l1_rows_minimise(run->context, &problem, &q, &fit->clusters.alternation));
    huddle_dense_free(&embedding->f.rows);
    embedding->f.rows = q;
    q = (huddle_dense){0};
    TRY(hd_step_kmeans_dense(run->context, &embedding->f.rows, &kmeans, &fit->rows,
                             &fit->clusters));
done:
    huddle_dense_free(&q);
    huddle_free(copies);
    return status;
}

/* Graph and eigenvectors are those of sc, by whose eigengaps n_clusters = auto is chosen. Labels
 * are not refined: they are to be those of Q. */
static huddle_status fit_l1sc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    l1sc_options o = *(const l1sc_options *)options;
    int64_t n = hd_fit_rows_everywhere(&run->fit->rows);
    if (n > MAX_ROWS)
        FAIL(HUDDLE_UNSUPPORTED,
             "l1sc is for at most %d points, not %lld: each step factors a matrix of them; sc has "
             "no limit",
             MAX_ROWS, (long long)n);
    o.spectral.affinity = "features";
    o.spectral.embed.rows = "sym";
    TRY(hd_method_prepare_graph(run, &o.spectral));
    TRY(hd_method_embed(run, &o.spectral));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &o, NULL);
    TRY(hd_method_cluster(run, &how));
    const huddle_alternation_info *steps = &run->fit->clusters.alternation;
    if (steps->stop == HUDDLE_STOP_MAX_ITER && o.step_max_iter > 0)
        hd_warn(run->context, HUDDLE_WARNING_NOT_CONVERGED,
                "the objective still falls after %d steps by more than step_tol = %g: try a larger "
                "step_max_iter",
                steps->n_iter, o.step_tol);
done:
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

typedef struct placing {
    const huddle_dense *q;
    const huddle_csr *w;
    double eps;
    huddle_dense *rows;
    double *scratch; /* a row for each worker */
} placing;

static huddle_status place_rows(void *argument, hd_chunk chunk) {
    const placing *p = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t begin = p->w->offsets[i], count = p->w->offsets[i + 1] - begin;
        hd_step_l1_rows_place(p->q, p->eps, count, p->w->columns + begin, p->w->values + begin,
                              p->rows->values + i * p->rows->stride,
                              p->scratch + chunk.worker * p->q->cols);
    }
    return HUDDLE_OK;
}

enum { ROWS_PER_CHUNK = 64 };

static huddle_status place_l1sc(huddle_context *context, const hd_fit *fit, const void *options,
                                const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const l1sc_options *o = options;
    const huddle_dense *q = &fit->embedding.f.rows;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_csr w = {0};
    double *scratch = NULL;
    if (!fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    TRY(huddle_dense_fetch(q));
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(hd_spectral_query_neighbors(context, fit, &view, &o->spectral.knn, &neighbors));
    TRY(huddle_neighbors_fetch(&neighbors));
    TRY(hd_spectral_weigh_new(&neighbors, &fit->graph.scale, fit, &w));
    TRY(huddle_dense_new(x->n, q->cols, rows));
    ALLOC(scratch, q->cols * hd_workers(context));
    double points = (double)hd_fit_rows_total(&fit->rows);
    placing p = {q, &w, hd_step_l1_rows_eps(o->epsilon, q->cols, points), rows, scratch};
    TRY(hd_parallel(context, "predict", x->n, ROWS_PER_CHUNK, place_rows, &p));
    for (int64_t i = 0; i < x->n; i++)
        same[i] = hd_spectral_same_row(&view, i, &o->spectral.knn, &neighbors);
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&w);
    huddle_free(scratch);
    return status;
}

/* Entries of a factor for each row, with what CHOLMOD needs to make it: on MNIST and Gaussians. The
 * fill depends on the graph. */
enum { FACTOR_ENTRIES = 800 };

/* Beside what sc needs: the Krylov basis and its images, right-hand sides and solutions, edges
 * twice, and the factor. Fits of more points are refused by their number, whatever memory there is.
 */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const l1sc_options *o = options;
    int64_t n = x->n, c = x->n_clusters, word = (int64_t)sizeof(double);
    if (x->n > MAX_ROWS) {
        hd_decide_memory_of_points(x, options, needed);
        return;
    }
    hd_decide_memory_of_spectral(x, options, needed);
    int64_t kept = hd_prepare_eigen_block(n, c);
    int64_t most = 6 * kept < n ? 6 * kept : n;
    int64_t edges = n * o->spectral.knn.n_neighbors,
            factor = FACTOR_ENTRIES < n ? FACTOR_ENTRIES : n;
    needed->stages[HD_STAGE_EMBED] += (n * (2 * most + 5 * kept + factor) + 2 * most * most) * word;
    needed->stages[HD_STAGE_EMBED] += edges * 6 * word;
}

const hd_method hd_method_l1sc = {
    .text = {.name = "l1sc",
             .title = "spectral clustering of the l1-norm graph (reconstruction)",
             .reconstruction = true,
             .summary = "Spectral clustering that minimises distances over the edges of the graph "
                        "instead of their squares, so that the points of a cluster nearly "
                        "coincide; for up to 20000 points. Reconstructed without the text of its "
                        "publication."},
    .options_size = sizeof(l1sc_options),
    .sections = sections,
    .fit = fit_l1sc,
    .place = place_l1sc,
    .memory = {.predict = predict_memory}};
