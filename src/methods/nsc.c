/* Nonnegative spectral clustering (Yang, Shen, Nie, Ji and Zhou, Nonnegative spectral clustering
 * with discriminative regularization, AAAI 2011). The relaxed indicator of the clusters is kept
 * nonnegative and orthonormal, so that each row has nearly one entry only and its column is the
 * label; no K-means follows. Minimised over F >= 0 with F'F = I is
 *
 *     tr F'L F + mu tr F'R F,   R = H - H X (X'H X + ridge I)^-1 X'H.
 *
 * L is the normalised Laplacian, H = I - 1 1'/n, and tr F'R F the least squared error, ridge
 * included, of a linear regression of F on the points: clusters are to be discriminated by linear
 * functions. With the principal components Z of X, each divided by sqrt(s_k^2 + ridge), the second
 * part of R is Z Z' (as in diskmeans.c), so that nothing of size n x n is needed. F'F = I is
 * enforced by the penalty xi / 2 ||F'F - I||^2. The updates, which never raise the objective, and
 * their proof are in steps/nonnegative.c.
 *
 * The text of the paper was not at hand: objective and constraints are those of its abstract and of
 * later papers that cite it, derived anew. Open there, and chosen here: the graph and the
 * normalised Laplacian are those of sc; mu = .1, because with mu = 1 the labels were farther from
 * the classes on most data sets that were tried; ridge, a thousandth of the total
 * scatter; xi, ten times the sum of the weights of both terms, which leaves F'F within a few
 * percent of I, while larger values make the updates slow; the start, the indicator of sc's labels
 * plus .2 in every entry, so that all are positive; when to stop.
 *
 * A new point gets the row that minimises its own terms, all other rows kept: with s_xj = w_xj /
 * sqrt(d_x d_j) and the regression p(x), f = (sum_j s_xj f_j + mu p(x)) / (1 + mu). */
#include "base/blas.h"
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "decide/memory.h"
#include "methods/reduce.h"
#include "methods/spectral.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/nonnegative.h"
#include "steps/prepare.h"
#include "steps/ridge.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* The decomposition needs a matrix of the shorter side of X: 8 bytes for each entry, and time that
 * grows with its cube. ridge = auto is this fraction of the total scatter. */
enum { MAX_SIDE = 6000, AUTO_SHARE = 1000 };

/* Rows of a product after which a fit can be cancelled. */
enum { BLOCK_ROWS = 1024 };

/* Added to the indicator of the start (Ding, Li, Peng and Park, KDD 2006, start nonnegative
 * factorisations so); and xi = auto, relative to 1 + mu. */
static const double start_offset = .2, auto_orthogonality = 10;

typedef struct nsc_options {
    hd_spectral_options spectral;
    double discrimination, ridge, orthogonality, update_tol;
    int32_t update_max_iter;
} nsc_options;

static const huddle_option *own_table(void) {
    static const huddle_option table[] = {
        HD_REAL(nsc_options, discrimination, "0.1", 0, 1e6,
                "weight of the discriminative term; 0: nonnegative spectral clustering only"),
        HD_REAL_AUTO(nsc_options, ridge, "auto", 1e-12, 1e12,
                     "ridge of the regression; auto: 1/1000 of the total scatter of the points"),
        HD_REAL_AUTO(nsc_options, orthogonality, "auto", 1e-3, 1e9,
                     "weight of the penalty for columns that are not orthonormal; auto: 10 (1 + "
                     "discrimination)"),
        HD_REAL(nsc_options, update_tol, "1e-6", 0, 1,
                "stop when an update lowers the objective by less than this times n_clusters"),
        HD_INT(nsc_options, update_max_iter, "1000", 0, INT32_MAX, "maximum number of updates"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(nsc_options, spectral.prepare),
     hd_method_prepare_names},
    HD_METHOD_GRAPH_SECTIONS,
    {own_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(nsc_options, spectral.kmeans), hd_method_kmeans_names},
    {0}};

/* ---- the regression ------------------------------------------------------------------------ */

/* What the discriminative term needs: z(x) = (x - centre) * map, and Z, its rows for the points,
 * each times the root of its copies. Both are empty without the term. */
typedef struct nsc_step {
    const nsc_options *options;
    huddle_preparation map;
    huddle_dense components;
    double *copies; /* of the rows of the fit; NULL: 1 each */
} nsc_step;

static void nsc_step_free(nsc_step *step) {
    huddle_preparation_free(&step->map);
    huddle_dense_free(&step->components);
    huddle_free(step->copies);
}

/* The points with their copies: mean and scatter are those of all rows of x. */
static huddle_status expand_points(const hd_fit *fit, huddle_points *points) {
    huddle_status status = HUDDLE_OK;
    int64_t *index = NULL, n = hd_fit_rows_total(&fit->rows);
    ALLOC(index, n);
    for (int64_t i = 0; i < n; i++)
        index[i] = hd_fit_rows_node(&fit->rows, i);
    TRY(huddle_points_take(&fit->prepared.points, index, n, points));
done:
    huddle_free(index);
    return status;
}

/* Divides component k of the map by sqrt(s_k^2 + ridge), s_k^2 = n times its variance. */
static void scale_components(double ridge, int64_t n, const double *variances, double total,
                             huddle_dense *map) {
    if (ridge == HUDDLE_AUTO)
        ridge = (double)n * total / AUTO_SHARE;
    for (int64_t k = 0; k < map->cols; k++) {
        /* rounding may leave a variance below 0 */
        double divisor = sqrt((double)n * fmax(variances[k], 0) + ridge);
        for (int64_t j = 0; j < map->rows && divisor > 0; j++)
            map->values[j * map->stride + k] /= divisor;
    }
}

/* Z, in double precision from here on: Z Z' is positive semidefinite whatever the rounding. */
static huddle_status map_points(huddle_context *context, const hd_fit *fit, nsc_step *step) {
    huddle_status status = HUDDLE_OK;
    huddle_points reduced = {0};
    huddle_dense *z = &step->components;
    TRY(huddle_prepare_apply(context, &step->map, &fit->prepared.points, &reduced, NULL));
    TRY(huddle_points_fetch(&reduced));
    TRY(huddle_dense_new(reduced.n, reduced.d, z));
    for (int64_t i = 0; i < z->rows; i++) {
        double root = step->copies != NULL ? sqrt(step->copies[i]) : 1;
        for (int64_t k = 0; k < z->cols; k++)
            z->values[i * z->stride + k] = root * (double)reduced.values[i * reduced.stride + k];
    }
done:
    huddle_points_free(&reduced);
    return status;
}

static huddle_status make_components(const hd_method_run *run, nsc_step *step) {
    huddle_status status = HUDDLE_OK;
    const hd_fit *fit = run->fit;
    huddle_points owned = {0};
    const huddle_points *points = &fit->prepared.points;
    double *variances = NULL, total;
    TRY(hd_fit_rows_weights(&fit->rows, &step->copies));
    if (step->options->discrimination == 0)
        goto done;
    if (step->copies != NULL) {
        TRY(expand_points(fit, &owned));
        points = &owned;
    }
    int64_t side = points->n < points->d ? points->n : points->d;
    if (side > MAX_SIDE)
        FAIL(HUDDLE_UNSUPPORTED,
             "nsc with discrimination > 0 decomposes a matrix of %lld x %lld, the rows or features "
             "of the points; at most %d are possible: use prepare = pca:R, or discrimination = 0",
             (long long)side, (long long)side, MAX_SIDE);
    ALLOC(variances, side);
    TRY(hd_method_principal_map(run->context, points, side, run->seed, &step->map, variances,
                                &total));
    scale_components(step->options->ridge, points->n, variances, total, &step->map.projection);
    TRY(map_points(run->context, fit, step));
done:
    huddle_points_free(&owned);
    huddle_free(variances);
    return status;
}

static int64_t block_rows(int64_t n, int64_t first) {
    return n - first < BLOCK_ROWS ? n - first : BLOCK_ROWS;
}

/* Z'F and the mean of F, over all rows of x. Both are 0 before. */
static huddle_status sum_products(huddle_context *context, const nsc_step *step,
                                  const huddle_dense *f, double *zf, double *mean) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *z = &step->components;
    double *rows = NULL, total = 0;
    int64_t c = f->cols;
    ALLOC(rows, BLOCK_ROWS * c);
    for (int64_t first = 0; first < f->rows; first += BLOCK_ROWS) {
        int64_t count = block_rows(f->rows, first);
        TRY(hd_check_cancel(context));
        for (int64_t i = 0; i < count; i++) {
            double m = step->copies != NULL ? step->copies[first + i] : 1;
            total += m;
            for (int64_t k = 0; k < c; k++) {
                double value = f->values[(first + i) * c + k];
                mean[k] += m * value;
                rows[i * c + k] = sqrt(m) * value;
            }
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)z->cols, (int)c, (int)count, 1,
                    z->values + first * z->stride, (int)z->stride, rows, (int)c, 1, zf, (int)c);
    }
    for (int64_t k = 0; k < c; k++)
        mean[k] /= total;
done:
    huddle_free(rows);
    return status;
}

/* The regression of F on the points, in the form of steps/ridge.h: p(x) = mean of F + z(x)'Z'F has
 * the coefficients map Z'F. */
static huddle_status fit_regression(huddle_context *context, const nsc_step *step,
                                    const huddle_dense *f, huddle_dense *linear) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *map = &step->map.projection;
    double *zf = NULL, *mean = NULL;
    int64_t c = f->cols, d = map->rows, r = map->cols;
    hd_blas_enter();
    ALLOC_ZERO(zf, r * c);
    ALLOC_ZERO(mean, c);
    TRY(huddle_dense_new(d + 1, c + 1, linear));
    TRY(sum_products(context, step, f, zf, mean));
    for (int64_t j = 0; j < d; j += BLOCK_ROWS) {
        TRY(hd_check_cancel(context));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)block_rows(d, j), (int)c,
                    (int)r, 1, map->values + j * map->stride, (int)map->stride, zf, (int)c, 0,
                    linear->values + j * linear->stride, (int)linear->stride);
    }
    for (int64_t j = 0; j < d; j++)
        linear->values[j * linear->stride + c] = step->map.centre[j];
    memcpy(linear->values + d * linear->stride, mean, (size_t)c * sizeof *mean);
done:
    hd_blas_leave();
    FREE(zf, mean);
    return status;
}

/* ---- labels -------------------------------------------------------------------------------- */

/* The indicator of labels plus an offset; columns of norm 1. Rows are multiplied by the root of
 * their copies: F'F then counts all rows of x. */
static huddle_status make_start(const nsc_step *step, int64_t n, int64_t c, const int32_t *labels,
                                huddle_dense *f) {
    huddle_status status = HUDDLE_OK;
    TRY(huddle_dense_new(n, c, f));
    for (int64_t k = 0; k < c; k++) {
        double square = 0;
        for (int64_t i = 0; i < n; i++) {
            double root = step->copies != NULL ? sqrt(step->copies[i]) : 1;
            f->values[i * c + k] = root * (start_offset + (labels[i] == k));
            square += f->values[i * c + k] * f->values[i * c + k];
        }
        for (int64_t i = 0; i < n; i++)
            f->values[i * c + k] /= sqrt(square);
    }
done:
    return status;
}

static int32_t largest_entry(int64_t c, const double *row) {
    int32_t largest = 0;
    for (int32_t k = 1; k < c; k++)
        if (row[k] > row[largest])
            largest = k;
    return largest;
}

/* Reads the labels off F, then orders its columns as the clusters are numbered in the end, by first
 * member, because the columns are used by number in prediction. */
static huddle_status read_labels(huddle_context *context, const hd_fit_rows *rows, huddle_dense *f,
                                 hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    int64_t n = f->rows, c = f->cols;
    int32_t *numbers = NULL;
    double *row = NULL;
    ALLOC(numbers, c);
    ALLOC(row, c);
    for (int64_t i = 0; i < n; i++)
        clusters->labels[i] = largest_entry(c, f->values + i * c);
    hd_step_unify_labels(rows, clusters);
    TRY(hd_fit_order_labels(context, n, clusters->labels, (int32_t)c, numbers, NULL));
    for (int64_t i = 0; i < n; i++) {
        clusters->labels[i] = numbers[clusters->labels[i]];
        memcpy(row, f->values + i * c, (size_t)c * sizeof *row);
        for (int64_t k = 0; k < c; k++)
            f->values[i * c + numbers[k]] = row[k];
    }
done:
    FREE(numbers, row);
    return status;
}

/* The means of the rows of F of each cluster, and from them the medoids. */
static huddle_status set_centres(huddle_context *context, const hd_fit_rows *rows,
                                 const huddle_dense *f, hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    double *sizes = NULL;
    int64_t c = f->cols;
    huddle_dense_free(&clusters->centres);
    TRY(huddle_dense_new(c, c, &clusters->centres));
    ALLOC_ZERO(sizes, c);
    for (int64_t i = 0; i < f->rows; i++) {
        double copies = (double)hd_fit_rows_copies(rows, i);
        sizes[clusters->labels[i]] += copies;
        for (int64_t k = 0; k < c; k++)
            clusters->centres.values[clusters->labels[i] * c + k] += copies * f->values[i * c + k];
    }
    for (int64_t e = 0; e < c * c; e++)
        clusters->centres.values[e] /= fmax(sizes[e / c], 1);
    TRY(hd_step_medoids_of_rows(context, rows, f, clusters));
done:
    huddle_free(sizes);
    return status;
}

static huddle_status minimise(hd_method_run *run, const nsc_step *step, huddle_dense *f) {
    const nsc_options *o = step->options;
    const hd_step_nonnegative problem = {.graph = &run->fit->graph.matrix,
                                         .components = &step->components,
                                         .copies = step->copies,
                                         .discrimination = o->discrimination,
                                         .orthogonality =
                                             o->orthogonality == HUDDLE_AUTO
                                                 ? auto_orthogonality * (1 + o->discrimination)
                                                 : o->orthogonality,
                                         .tol = o->update_tol,
                                         .max_iter = o->update_max_iter};
    huddle_status status = huddle_csr_fetch(problem.graph);
    return status == HUDDLE_OK ? hd_step_nonnegative_minimise(run->context, &problem, f,
                                                              &run->fit->clusters.alternation)
                               : status;
}

/* F takes the place of the rows of the embedding. It has fewer columns than clusters if there are
 * fewer distinct points. What an earlier number of clusters left is replaced. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const nsc_step *step = argument;
    hd_spectral_options sc = step->options->spectral;
    hd_fit *fit = run->fit;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_dense f = {0};
    int64_t n = fit->rows.n, vectors = embedding->f.vectors.cols;
    huddle_dense_free(&embedding->f.rows);
    huddle_dense_free(&embedding->linear_map);
    TRY(hd_method_cluster_rows(run, &sc, n_clusters));
    TRY(make_start(step, n, n_clusters < vectors ? n_clusters : vectors, fit->clusters.labels, &f));
    TRY_STAGE(run->context, HD_STAGE_KMEANS, minimise(run, step, &f));
    for (int64_t e = 0; e < n * f.cols && step->copies != NULL; e++)
        f.values[e] /= sqrt(step->copies[e / f.cols]);
    TRY(read_labels(run->context, &fit->rows, &f, &fit->clusters));
    TRY(set_centres(run->context, &fit->rows, &f, &fit->clusters));
    if (step->components.values != NULL)
        TRY(fit_regression(run->context, step, &f, &embedding->linear_map));
    huddle_dense_free(&embedding->f.rows);
    embedding->f.rows = f;
    memset(&f, 0, sizeof f);
done:
    huddle_dense_free(&f);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* A range shares graph, eigenvectors and components. Labels are not refined: they are to be those
 * of F. */
static huddle_status fit_nsc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    nsc_options o = *(const nsc_options *)options;
    nsc_step step = {.options = &o};
    o.spectral.affinity = "features";
    TRY(hd_method_prepare_graph(run, &o.spectral));
    TRY(hd_method_embed(run, &o.spectral));
    TRY_STAGE(run->context, HD_STAGE_PREPARE, make_components(run, &step));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &step, NULL);
    TRY(hd_method_cluster(run, &how));
done:
    nsc_step_free(&step);
    return status;
}

/* sum_j s_xj f_j over the entries of row i of W; F in the fit is that of single points, and a row
 * of copies counts as in the graph. */
static void add_neighbors(const hd_fit *fit, const huddle_csr *w, int64_t i, double *row) {
    const huddle_embedding *e = &fit->embedding.f;
    double degree = 0;
    for (int64_t k = w->offsets[i]; k < w->offsets[i + 1]; k++)
        degree += w->values[k];
    for (int64_t k = w->offsets[i]; k < w->offsets[i + 1]; k++) {
        int64_t j = w->columns[k];
        double root = sqrt(degree * e->degrees[j]);
        double share = root > 0 ? w->values[k] / root : 0; /* a model of one point has no edges */
        share *= sqrt((double)hd_fit_rows_copies(&fit->rows, j));
        for (int64_t l = 0; l < e->rows.cols; l++)
            row[l] += share * e->rows.values[j * e->rows.stride + l];
    }
}

/* The factor 1 / (1 + mu), which all entries have, is left out. */
static huddle_status place_nsc(huddle_context *context, const hd_fit *fit, const void *options,
                               const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const nsc_options *o = options;
    const huddle_dense *linear = &fit->embedding.linear_map;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_csr w = {0};
    if (!fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    /* A column is the number of a cluster. */
    if (fit->embedding.f.rows.cols > fit->clusters.n_clusters)
        FAIL(HUDDLE_FORMAT, "the model file is damaged: %lld indicators of %d clusters",
             (long long)fit->embedding.f.rows.cols, fit->clusters.n_clusters);
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(hd_spectral_query_neighbors(context, fit, &view, &o->spectral.knn, &neighbors));
    TRY(hd_spectral_weigh_new(&neighbors, &fit->graph.scale, fit, &w));
    TRY(huddle_dense_new(x->n, fit->embedding.f.rows.cols, rows));
    if (linear->values != NULL)
        TRY(hd_step_ridge_apply(context, linear, &view, rows));
    for (int64_t i = 0; i < x->n; i++) {
        double *row = rows->values + i * rows->stride;
        same[i] = hd_spectral_same_row(&view, i, &o->spectral.knn, &neighbors);
        for (int64_t k = 0; k < rows->cols; k++)
            row[k] *= o->discrimination;
        add_neighbors(fit, &w, i, row);
    }
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&w);
    return status;
}

static huddle_status assign_nsc(huddle_context *context, const hd_fit *fit, const void *options,
                                huddle_dense *rows, const int64_t *same, int32_t *labels) {
    (void)context;
    (void)options;
    for (int64_t i = 0; i < rows->rows; i++)
        labels[i] = same[i] >= 0 ? fit->clusters.labels[same[i]]
                                 : largest_entry(rows->cols, rows->values + i * rows->stride);
    return HUDDLE_OK;
}

/* Beside what sc needs: Z, as floats too while it is made, with the map and the matrix that is
 * decomposed; then F, S F and Z Z'F. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const nsc_options *o = options;
    int64_t side = o->discrimination == 0 ? 0 : x->n < x->d ? x->n : x->d;
    int64_t word = (int64_t)sizeof(double);
    hd_decide_memory_of_spectral(x, options, needed);
    int64_t components = (x->n + x->d) * side * word, squares = 2 * side * side * word;
    int64_t rows = 3 * x->n * x->n_clusters * word;
    int64_t needed_here =
        needed->kept + components + (components / 2 > squares ? components / 2 : squares);
    if (needed->stages[HD_STAGE_PREPARE] < needed_here)
        needed->stages[HD_STAGE_PREPARE] = needed_here;
    needed->stages[HD_STAGE_KMEANS] += components + rows;
    needed->kept += x->n * x->n_clusters * word;
}

const hd_method hd_method_nsc = {
    .text =
        {.name = "nsc",
         .title = "nonnegative spectral clustering (reconstruction)",
         .reconstruction = true,
         .summary =
             "Reconstruction of a method whose publication was not available: indicators of the "
             "clusters that are nonnegative and orthonormal, vary little between neighbours and "
             "are discriminated by linear functions of the points. Labels are read off them."},
    .options_size = sizeof(nsc_options),
    .sections = sections,
    .fit = fit_nsc,
    .place = place_nsc,
    .assign = assign_nsc,
    .memory = {.predict = predict_memory}};
