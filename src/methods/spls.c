/* Shrunk patterns of a linear subspace, a reconstruction: the original publication (Hou, Nie, Jiao,
 * Zhang and Wu, Learning a subspace for clustering via pattern shrinking, Information Processing
 * and Management 2013) was not available. docs/method.md, section 4, says what is known of it, and
 * where this differs.
 *
 *     minimise over P'P = I and G   ||X - G P'||_F^2 + gamma sum_e w_e ||g_i - g_j||
 *
 * X is centred and scaled to mean ||x_i||^2 = 1; the graph is that of the prepared points. Without
 * the constraint P'P = I the second term could be made arbitrarily small by scaling G down and P
 * up. For fixed P, ||X - G P'||^2 = ||X||^2 - ||X P||^2 + ||X P - G||^2, so the problem in G is the
 * shrinking of F = X P with squared loss. For fixed G it is the Procrustes problem of X'G.
 * With gamma = 0 it is PCA. Equal rows of X have one row of G, weighted by their number; the
 * subspace is that of all rows. */
#include "base/check.h"
#include "base/slabs.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "matrix/resident.h"
#include "methods/prepare.h"
#include "methods/reduce.h"
#include "methods/spectral.h"
#include "prepare/pca.h"
#include "shrink/published.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/merge.h"
#include "steps/prepare.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 50 };

typedef struct spls_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    huddle_knn_options knn;
    huddle_weight_options weight;
    hd_method_reduce_options reduce;
    huddle_shrink_options shrink;
    huddle_kmeans_options kmeans;
} spls_options;

static const hd_method_rename reduce_names[] = {
    {"dim", "dim", NULL, "dimension of the subspace; auto: n_clusters"}, {0}};
static const hd_method_rename shrink_names[] = {
    {"gamma", "gamma", "1", "strength of the shrinking; auto: n / n_clusters"},
    {"solver", "solver", NULL, NULL},
    {"linear_solver", "linear_solver", NULL, NULL},
    {"gap", "gap", NULL, NULL},
    {"snap", "snap", NULL, NULL},
    {"shrink_max_iter", "shrink_max_iter", NULL, NULL},
    {"shrink_start", "shrink_start", NULL, NULL},
    {"shrink_tol", "shrink_tol", NULL, NULL},
    {"shrink_epsilon", "shrink_epsilon", NULL, NULL},
    {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(spls_options, prepare), NULL},
    {huddle_knn_options_table, offsetof(spls_options, knn), NULL},
    {huddle_weight_options_table, offsetof(spls_options, weight), NULL},
    {hd_method_reduce_table, offsetof(spls_options, reduce), reduce_names},
    {huddle_shrink_options_table, offsetof(spls_options, shrink), shrink_names},
    {huddle_kmeans_options_table, offsetof(spls_options, kmeans), hd_method_kmeans_names},
    {0}};

/* ---- the subspace -------------------------------------------------------------------------- */

/* X as it enters the objective, and everything that does not depend on the number of clusters. */
typedef struct subspace {
    const spls_options *options;
    hd_prepare_centred centred; /* of all rows; offset: the mean as stored */
    huddle_points whole;        /* all rows, where the fit's points are merged */
    bool whole_borrowed;
    huddle_dense all_rows; /* then X P or G of all rows */
    double *weights;       /* of the merged rows, or NULL */
    double *mean;
    double factor; /* that makes the mean squared norm 1 */
    int64_t rank;  /* of the principal components found */
    int64_t max_dim;
    double *components; /* d x max_dim */
    double *procrustes; /* d x p */
} subspace;

static void subspace_free(subspace *s) {
    hd_prepare_centred_free(&s->centred);
    hd_fit_free_points(&s->whole, s->whole_borrowed);
    huddle_dense_free(&s->all_rows);
    FREE(s->weights, s->mean, s->components, s->procrustes);
}

/* Computes the principal components to start from, as many as the largest p; columns beyond the
 * rank are zero. For gamma = 0 they are the solution already. */
static huddle_status find_components(huddle_context *context, subspace *s) {
    huddle_status status = HUDDLE_OK;
    int64_t max_dim = s->max_dim;
    const huddle_points *x = s->centred.x;
    double *variances = NULL, total = 0;
    ALLOC(s->mean, x->d);
    ALLOC(variances, x->d > max_dim ? x->d : max_dim);
    TRY(hd_prepare_column_moments(context, x, s->mean, variances));
    for (int64_t j = 0; j < x->d; j++)
        total += variances[j];
    /* The mean of ||x_i||^2 over centred rows is the sum of the variances. */
    s->factor = total > 0 ? 1 / sqrt(total) : 1;
    s->centred.offset = s->mean;
    ALLOC(s->components, x->d * max_dim);
    ALLOC(s->procrustes, x->d * max_dim);
    TRY(hd_prepare_pca(context, &s->centred, max_dim, false, s->options->common.seed, s->components,
                       variances, &s->rank));
done:
    huddle_free(variances);
    return status;
}

/* Dimension of the subspace: the option, or n_clusters; at most the rank of the points. Beyond it
 * the Procrustes step would be arbitrary. */
static int64_t subspace_dim(huddle_context *context, const subspace *s, int32_t n_clusters) {
    int64_t dim = s->options->reduce.dim == HUDDLE_AUTO ? n_clusters : s->options->reduce.dim;
    if (dim > s->rank && s->options->reduce.dim != HUDDLE_AUTO)
        hd_warn(context, HUDDLE_WARNING_OPTION_CLIPPED,
                "dim = %lld is clipped to %lld, the rank of the points", (long long)dim,
                (long long)s->rank);
    dim = dim < s->rank ? dim : s->rank;
    return dim < 1 ? 1 : dim;
}

/* Starts from the first p components and allocates X P. The factor that scales X is part of the
 * projection, so that new points are scaled as well. */
static huddle_status set_map(subspace *s, int64_t p, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *x = s->centred.x;
    huddle_preparation *map = &fit->prepared.reduction;
    huddle_dense *f = &fit->embedding.f.rows;
    huddle_preparation_free(map);
    map->rule = (huddle_rule){"pca:R", (int32_t)p};
    map->d_in = x->d;
    map->d_out = p;
    /* P is not a PCA once it has been updated, so that the share is not defined. */
    map->variance_kept = NAN;
    ALLOC(map->centre, x->d);
    TRY(huddle_dense_new(x->d, p, &map->projection));
    for (int64_t j = 0; j < x->d; j++) {
        map->centre[j] = s->mean[j] + (x->shift != NULL ? x->shift[j] : 0);
        for (int64_t k = 0; k < p; k++)
            map->projection.values[j * p + k] = s->factor * s->components[j * s->max_dim + k];
    }
    huddle_dense_free(f);
    TRY(huddle_dense_new(fit->rows.n, p, f));
    huddle_dense_free(&s->all_rows);
    if (fit->rows.nodes.n > 0)
        TRY(huddle_dense_new(x->n, p, &s->all_rows));
done:
    return status;
}

/* Computes X P as embedding.rows; if rows are merged, of all rows first, since the centred product
 * is defined on all rows. */
static huddle_status project_points(huddle_context *context, const subspace *s, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *p = &fit->prepared.reduction.projection;
    const huddle_distinct *nodes = &fit->rows.nodes;
    huddle_dense *f = &fit->embedding.f.rows;
    const huddle_dense *all = nodes->n > 0 ? &s->all_rows : f;
    hd_resident_invalidate(f->resident); /* its rows are written anew */
    TRY(hd_prepare_centred_times(context, &s->centred, p->values, p->cols, p->stride, all->values,
                                 all->stride));
    for (int64_t i = 0; i < f->rows && all != f; i++)
        memcpy(f->values + i * f->stride, all->values + nodes->first[i] * all->stride,
               (size_t)f->cols * sizeof *f->values);
done:
    return status;
}

/* G with a row for each row of X, in which copies count as often as they occur in X'G. */
static const huddle_dense *expand_rows(const subspace *s, const hd_fit *fit) {
    const huddle_dense *g = &fit->shrunk.g.g, *all = &s->all_rows;
    if (fit->rows.nodes.n == 0)
        return g;
    for (int64_t i = 0; i < all->rows; i++)
        memcpy(all->values + i * all->stride, g->values + fit->rows.nodes.of[i] * g->stride,
               (size_t)g->cols * sizeof *g->values);
    return all;
}

/* P <- U V' of X'G = U S V', the solution of the Procrustes problem. The stored projection is P
 * times the factor of X; the factor does not change U and V. */
static huddle_status update_subspace(huddle_context *context, subspace *s, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_dense *p = &fit->prepared.reduction.projection;
    const huddle_dense *g = expand_rows(s, fit);
    int d = (int)p->rows, k = (int)p->cols;
    double *u = NULL, *vt = NULL, *values = NULL;
    ALLOC(u, (int64_t)d * k);
    ALLOC(vt, (int64_t)k * k);
    ALLOC(values, k);
    TRY(hd_prepare_centred_times_transpose(context, &s->centred, g->values, k, g->stride,
                                           s->procrustes, k));
    if (LAPACKE_dgesdd(LAPACK_ROW_MAJOR, 'S', d, k, s->procrustes, k, values, u, k, vt, k) != 0)
        FAIL(HUDDLE_NUMERIC, "the singular values of a subspace of %d dimensions did not converge",
             k);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, k, k, s->factor, u, k, vt, k, 0,
                p->values, (int)p->stride);
done:
    FREE(u, vt, values);
    return status;
}

/* ---- the alternation ----------------------------------------------------------------------- */

/* ||X||^2 - ||X P||^2, the part of the objective that does not depend on G. With mean ||x_i||^2 = 1
 * the first term is n. Rounding can make the difference slightly negative. */
static huddle_status compute_left_out(huddle_context *context, const subspace *s,
                                      const huddle_dense *f, double *left_out) {
    huddle_status status = HUDDLE_OK;
    double kept = 0, n = (double)s->centred.x->n;
    for (int64_t i = 0; i < f->rows; i++)
        for (int64_t k = 0; k < f->cols; k++)
            kept += f->values[i * f->stride + k] * f->values[i * f->stride + k];
    TRY(hd_reduce_sum(context, 1, &kept));
    TRY(hd_reduce_sum(context, 1, &n));
    *left_out = fmax(n - kept, 0);
done:
    return status;
}

/* G <- the shrunk rows of X P, starting from the previous G, since P changes little. */
static huddle_status update_rows(huddle_context *context, const subspace *s,
                                 const huddle_shrink_options *options, hd_fit *fit,
                                 double *objective) {
    huddle_status status = HUDDLE_OK;
    hd_fit_shrunk *shrunk = &fit->shrunk;
    huddle_shrink_options warm = *options;
    huddle_dense last = shrunk->g.g;
    double rest;
    /* The previous G is moved out, so that freeing the rest of the result keeps it as the start. */
    memset(&shrunk->g.g, 0, sizeof last);
    /* The published iteration starts anew: it does not leave a solution (shrink/path.c). */
    bool is_warm = hd_dense_present(&last) && !hd_shrink_is_published(warm.solver);
    warm.start = is_warm ? &last : NULL;
    warm.weights = s->weights;
    huddle_shrunk_free(&shrunk->g);
    huddle_shrink_info_free(&shrunk->info);
    TRY(project_points(context, s, fit));
    TRY(huddle_shrink(context, &fit->embedding.f.rows, &shrunk->w.matrix, &warm, &shrunk->g,
                      &shrunk->info));
    TRY(huddle_dense_fetch(&shrunk->g.g));
    TRY(compute_left_out(context, s, fit->rows.nodes.n > 0 ? &s->all_rows : &fit->embedding.f.rows,
                         &rest));
    *objective = rest + shrunk->info.objective;
    TRY(hd_fit_alternation_add(&fit->clusters.alternation, *objective));
done:
    huddle_dense_free(&last);
    return status;
}

/* Alternates both steps. Neither increases the objective, so it converges; the shrink step is
 * solved to a relative gap only, and smaller decreases than that gap are not meaningful. */
static huddle_status alternate_steps(huddle_context *context, subspace *s,
                                     const huddle_shrink_options *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_alternation_info *alternation = &fit->clusters.alternation;
    double before, now = 0;
    hd_fit_alternation_reset(alternation);
    huddle_shrunk_free(&fit->shrunk.g);
    TRY(update_rows(context, s, options, fit, &before));
    alternation->stop = HUDDLE_STOP_MAX_ITER;
    for (int round = 0; round < MAX_ROUNDS; round++, before = now) {
        TRY(hd_progress(context, "spls", round, MAX_ROUNDS));
        TRY(update_subspace(context, s, fit));
        TRY(update_rows(context, s, options, fit, &now));
        /* Also if the objective rose slightly, which an inexact shrink step can cause. */
        if (before - now <= options->gap * before) {
            alternation->stop = HUDDLE_STOP_CONVERGED;
            break;
        }
    }
done:
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* Each number of clusters starts anew from principal components: the dimension of the subspace
 * depends on it. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    subspace *s = argument;
    huddle_shrink_options shrinking = s->options->shrink;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &s->options->kmeans, n_clusters);
    double start = hd_seconds();
    shrinking.loss = "l2";
    shrinking.n_clusters = n_clusters;
    shrinking.seed = run->seed;
    TRY(set_map(s, subspace_dim(context, s, n_clusters), fit));
    TRY_STAGE(context, HD_STAGE_SHRINK, alternate_steps(context, s, &shrinking, fit));
    fit->shrunk.present = true;
    fit->shrunk.seconds = hd_seconds() - start;
    TRY(hd_step_kmeans_dense(context, &fit->shrunk.g.g, &kmeans, &fit->rows, &fit->clusters));
done:
    return status;
}

/* W connects neighbours among the prepared points, not among the rows of X P, so that it does not
 * change with P: the objective would otherwise change between rounds. */
static huddle_status make_graph(const hd_method_run *run, const spls_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    hd_fit_graph *w = &fit->shrunk.w;
    huddle_knn_options knn = options->knn;
    knn.seed = run->seed;
    TRY(hd_spectral_weigh_points(run->context, fit, &knn, &options->weight, w));
    if (fit->rows.nodes.n > 0)
        TRY(huddle_graph_weigh_copies(run->context, fit->rows.nodes.copies, 0, &w->matrix));
    w->present = true;
done:
    return status;
}

/* The key contains the prepared points already; W depends on nothing else but its own options. */
static huddle_status share_graph(hd_method_run *run, const spls_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_cache_key *key = &run->key;
    const hd_cache_part part = {&run->fit->shrunk.w, &hd_fit_graph_copier};
    hd_cache_key_add_options(key, huddle_knn_options_table(), &options->knn);
    hd_cache_key_add_options(key, huddle_weight_options_table(), &options->weight);
    HD_CACHE_TRY(key, &part, 1, make_graph(run, options));
done:
    return status;
}

/* Components are computed once, for the largest number of clusters, and each trial uses the first
 * columns of them. */
static huddle_status fit_spls(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const spls_options *o = options;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    const huddle_points *points = &fit->prepared.points;
    subspace s = {.options = o, .centred = {.x = points}};
    hd_method_clustering how = {.cluster = cluster, .argument = &s, .points = points};
    TRY(hd_method_prepare_shared(run, &o->prepare, NULL));
    TRY(hd_decide_eigengap_of_points(context, points, run->seed, NULL, fit, &run->n_clusters));
    TRY(hd_step_merge_keeping(context, o->knn.n_neighbors, fit, &s.whole, &s.whole_borrowed));
    TRY(hd_fit_rows_weights(&fit->rows, &s.weights));
    if (fit->rows.nodes.n > 0)
        /* The fit's points are the merged ones now, but the subspace is that of all rows. */
        s.centred.x = &s.whole;
    TRY_STAGE(context, HD_STAGE_SHRINK_GRAPH, share_graph(run, o));
    int64_t max_dim = o->reduce.dim == HUDDLE_AUTO ? run->n_clusters.last : o->reduce.dim;
    int64_t rows = hd_fit_rows_everywhere(&fit->rows),
            shorter = rows < points->d ? rows : points->d;
    s.max_dim = max_dim < shorter ? max_dim : shorter;
    TRY_STAGE(context, HD_STAGE_PREPARE, find_components(context, &s));
    TRY(hd_method_cluster(run, &how));
done:
    subspace_free(&s);
    return status;
}

/* New points in the subspace, with their neighbours among the training points. */
static huddle_status map_new(huddle_context *context, const hd_fit *fit, const spls_options *o,
                             const huddle_points *x, huddle_neighbors *neighbors,
                             huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_prepared *maps = &fit->prepared;
    huddle_points prepared = {0}, prepared_view, reduced = {0};
    if (x->d != maps->preparation.d_in)
        FAIL(HUDDLE_INVALID, "the points have %lld features, the model was fitted to %lld",
             (long long)x->d, (long long)maps->preparation.d_in);
    TRY(hd_step_apply_map(context, &maps->preparation, x, &prepared, &prepared_view));
    TRY(huddle_prepare_apply(context, &maps->reduction, &prepared_view, &reduced, NULL));
    TRY(huddle_points_fetch(&reduced));
    TRY(hd_spectral_query_neighbors(context, fit, &prepared_view, &o->knn, neighbors));
    TRY(huddle_dense_new(x->n, reduced.d, rows));
    for (int64_t i = 0; i < x->n; i++) {
        same[i] = hd_spectral_same_row(&prepared_view, i, &o->knn, neighbors);
        for (int64_t k = 0; k < reduced.d; k++)
            rows->values[i * rows->stride + k] = (double)reduced.values[i * reduced.stride + k];
    }
done:
    huddle_points_free(&prepared);
    huddle_points_free(&reduced);
    return status;
}

static huddle_status place_spls(huddle_context *context, const hd_fit *fit, const void *options,
                                const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_neighbors neighbors = {0};
    huddle_status status = map_new(context, fit, options, x, &neighbors, rows, same);
    huddle_neighbors_free(&neighbors);
    return status;
}

/* New points are mapped into the subspace, then shrunk towards the training points around them by
 * (16) with squared loss; P and G do not change. */
static huddle_status predict_spls(huddle_context *context, const hd_fit *fit, const void *options,
                                  const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    huddle_csr w = {0};
    huddle_dense rows = {0};
    int64_t *same = NULL;
    ALLOC(same, x->n);
    TRY(map_new(context, fit, options, x, &neighbors, &rows, same));
    TRY(hd_spectral_weigh_new(&neighbors, &fit->shrunk.w.scale, fit, &w));
    TRY(huddle_shrink_points(context, &rows, &w, &fit->shrunk.g.g, fit->shrunk.info.gamma, "l2",
                             &rows));
    TRY(hd_spectral_assign(context, fit, options, &rows, same, labels));
done:
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&w);
    huddle_dense_free(&rows);
    huddle_free(same);
    return status;
}

/* W is a graph of the points; rows of X P take the place of an embedding. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const spls_options *o = options;
    hd_spectral_options like = hd_spectral_defaults(o->common.n_clusters, o->common.seed);
    int64_t columns = o->reduce.dim == HUDDLE_AUTO ? x->n_clusters : o->reduce.dim;
    like.prepare = o->prepare;
    hd_decide_memory_of_points(x, options, needed);
    hd_decide_memory_of_shrink(x, columns < x->d ? columns : x->d, o->knn.n_neighbors, &o->shrink,
                               needed);
    hd_decide_memory_of_labels(x, columns < x->d ? columns : x->d, &like, needed);
}

const hd_method hd_method_spls = {
    .text =
        {.name = "spls",
         .title = "shrunk patterns of a linear subspace (reconstruction)",
         .reconstruction = true,
         .summary =
             "Reconstruction of a method whose publication was not available: estimates a linear "
             "subspace and points in it simultaneously, pulls neighbouring points together as in "
             "convex clustering, and clusters the points by K-means. gamma = 0 gives PCA."},
    .options_size = sizeof(spls_options),
    .sections = sections,
    .fit = fit_spls,
    .predict = predict_spls,
    .place = place_spls,
    .memory = {.predict = predict_memory}};
