/* LDA and K-means in alternation (Ding and Li, Adaptive dimension reduction using discriminant
 * analysis and K-means clustering, ICML 2007).
 *
 * S_b = B B' with one column sqrt(n_k) (m_k - m) for each cluster, where m_k is the mean of cluster
 * k and m the mean of all points. The generalised eigenproblem S_b p = mu S_t p therefore needs one
 * factorisation of S_t, which does not depend on the labels, and an eigenproblem of size c x c per
 * round. P is scaled so that P'S_t P = I.
 *
 * Beyond the alternation itself, Huddle adds a ridge to S_t, starts K-means from the clusters of
 * the previous round, and keeps the round with the largest trace, of level ones the last, instead
 * of the last of all. */
#include "methods/lda.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/options.h"
#include "base/slabs.h"
#include "decide/eigengap.h"
#include "methods/reduce.h"
#include "prepare/pca.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"
#include "steps/prepare.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Smaller eigenvalues, relative to the largest, are rounding and give no direction. */
static const double rank_tolerance = 1e-12;

/* Traces that differ by less, relative to the largest, are level: rounding must not decide between
 * rounds. Where the start has no more components than directions, it spans the same space as every
 * later P, and its trace is theirs; but its distances are not those of the method. */
static const double level_trace = 1e-10;

enum { MAX_ROUNDS = 50 };

/* Without a ridge, components of tiny variance would become the directions that separate best,
 * because mu divides by that variance. */
const huddle_option *hd_method_lda_table(void) {
    static const char *const names[] = {"best", "all", NULL};
    static const huddle_option table[] = {
        HD_REAL(hd_method_lda_options, ridge, "1e-3", 0, 1e9,
                "added to the diagonal of the total scatter, in units of its mean eigenvalue"),
        HD_CHOICE(hd_method_lda_options, alternate, "best", names,
                  "which restarts of K-means are continued by the alternation: the best one, or "
                  "all, of which the one with the largest trace is kept"),
        {0}};
    return table;
}

typedef struct lda {
    const huddle_points *y; /* n x m */
    int64_t n, m;
    int32_t c;
    double ridge;
    double *mean;      /* m */
    double *factor;    /* m x m, lower: S_t = factor factor' */
    double *b;         /* m x c */
    huddle_dense p;    /* m x r */
    int64_t first_r;   /* columns of the first P */
    double *best_p;    /* of the best round */
    double best_trace; /* of the last alternation */
    double best_inertia;
    int64_t best_r;
    int32_t *best_labels;
} lda;

/* The ends of all alternations, for the caller who wants to keep them. */
typedef struct lda_ends {
    int32_t count, best;
    int32_t *labels;  /* count x n */
    double *inertias; /* of the K-means that gave the labels */
} lda_ends;

/* The points are moved, not copied: they may be the largest array of the fit. */
huddle_status hd_method_lda_begin(hd_method_run *run, const huddle_prepare_options *prepare,
                                  int32_t dim, hd_method_lda_start *start) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepared *prepared = &run->fit->prepared;
    TRY(hd_method_pca(run, prepare, dim));
    start->points = prepared->points;
    start->map = prepared->reduction;
    memset(&prepared->points, 0, sizeof prepared->points);
    memset(&prepared->reduction, 0, sizeof prepared->reduction);
    TRY(hd_decide_eigengap_of_points(run->context, &start->points, run->seed, NULL, run->fit,
                                     &run->n_clusters));
done:
    return status;
}

void hd_method_lda_start_free(hd_method_lda_start *start) {
    huddle_points_free(&start->points);
    huddle_preparation_free(&start->map);
}

/* Factors S_t with its ridge. *flat is set if all points are equal; S_t is zero then and has no
 * factor. */
static huddle_status factor_total(huddle_context *context, lda *l, bool *flat) {
    huddle_status status = HUDDLE_OK;
    double *variance = NULL, trace = 0;
    hd_prepare_centred centred = {.x = l->y};
    ALLOC(variance, l->m);
    ALLOC(l->mean, l->m);
    ALLOC(l->factor, l->m * l->m);
    TRY(hd_prepare_column_moments(context, l->y, l->mean, variance));
    centred.offset = l->mean;
    TRY(hd_prepare_centred_gram(context, &centred, true, l->factor));
    for (int64_t j = 0; j < l->m; j++)
        trace += l->factor[j * l->m + j];
    *flat = !(trace > 0);
    for (int64_t j = 0; j < l->m; j++)
        /* trace / m is the mean eigenvalue. */
        l->factor[j * l->m + j] += l->ridge * trace / (double)l->m;
    if (!*flat && LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)l->m, l->factor, (int)l->m) != 0)
        FAIL(HUDDLE_NUMERIC,
             "ridge = %g is too small: the total scatter of %lld components cannot be factored",
             l->ridge, (long long)l->m);
done:
    huddle_free(variance);
    return status;
}

/* Computes B. The sum of the centred rows of a cluster is n_k (m_k - m), so dividing by sqrt(n_k)
 * gives the column of B. Rows are added in order and processes are summed by hd_reduce_sum(), so
 * that the result does not depend on the number of threads. */
static huddle_status set_between(huddle_context *context, lda *l, const int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    double *sizes = NULL;
    ALLOC_ZERO(sizes, l->c);
    memset(l->b, 0, (size_t)(l->m * l->c) * sizeof *l->b);
    for (int64_t i = 0; i < l->n; i++) {
        const float *row = l->y->values + i * l->y->stride;
        sizes[labels[i]]++;
        for (int64_t j = 0; j < l->m; j++)
            l->b[j * l->c + labels[i]] += (double)row[j] - l->mean[j];
    }
    TRY(hd_reduce_sum(context, l->m * l->c, l->b));
    TRY(hd_reduce_sum(context, l->c, sizes));
    for (int64_t j = 0; j < l->m; j++)
        for (int32_t k = 0; k < l->c; k++)
            l->b[j * l->c + k] /= sizes[k] > 0 ? sqrt(sizes[k]) : 1;
done:
    huddle_free(sizes);
    return status;
}

/* Computes the trace of (P'S_t P)^-1 P'S_b P, which does not depend on the scale of P: the first P,
 * principal components, is not scaled like the later ones. With the factor L of S_t, P'S_t P =
 * (L'P)'(L'P) = T T', and the trace is ||T^-1 P'B||_F^2. */
static huddle_status trace_objective(const lda *l, double *trace) {
    huddle_status status = HUDDLE_OK;
    int r = (int)l->p.cols, m = (int)l->m, c = l->c;
    double *root = NULL, *total = NULL, *pb = NULL;
    ALLOC(root, m * r);
    ALLOC(total, r * r);
    ALLOC(pb, r * c);
    memcpy(root, l->p.values, (size_t)(m * r) * sizeof *root);
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, m, r, 1, l->factor,
                m, root, r);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, r, m, 1, root, r, 0, total, r);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, c, m, 1, l->p.values, r, l->b, c, 0, pb,
                c);
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', r, total, r) != 0)
        FAIL(HUDDLE_NUMERIC, "the scatter of %d discriminant directions cannot be factored", r);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, r, c, 1, total, r,
                pb, c);
    *trace = cblas_ddot(r * c, pb, 1, pb, 1);
done:
    FREE(root, total, pb);
    return status;
}

/* P <- the leading generalised eigenvectors for the current B. With Q = L^-1 B they are L^-T Q v /
 * sqrt(mu), where (mu, v) are the eigenpairs of Q'Q. *found is false if B vanishes. */
static huddle_status find_directions(lda *l, bool *found) {
    huddle_status status = HUDDLE_OK;
    int m = (int)l->m, c = l->c, r = 0;
    double *q = NULL, *small = NULL, *mu = NULL;
    ALLOC(q, m * c);
    ALLOC(small, c * c);
    ALLOC(mu, c);
    memcpy(q, l->b, (size_t)(m * c) * sizeof *q);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, m, c, 1,
                l->factor, m, q, c);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, c, m, 1, q, c, 0, small, c);
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', c, small, c, mu) != 0)
        FAIL(HUDDLE_NUMERIC, "the eigensolver failed on the scatter between %d clusters", c);
    /* The columns of B, times sqrt(n_k), sum to zero: its rank is at most c - 1. Smaller
     * eigenvalues are rounding errors, whose vectors would be divided by their tiny square
     * roots. */
    while (r < c - 1 && r < m && mu[c - 1 - r] > rank_tolerance * mu[c - 1] && mu[c - 1] > 0)
        r++;
    *found = r > 0;
    if (r == 0)
        goto done;
    huddle_dense_free(&l->p);
    TRY(huddle_dense_new(m, r, &l->p));
    for (int k = 0; k < r; k++) /* the largest come last */
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, c, 1 / sqrt(mu[c - 1 - k]), q, c,
                    small + c - 1 - k, c, 0, l->p.values + k, r);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, m, r, 1, l->factor,
                m, l->p.values, r);
done:
    FREE(q, small, mu);
    return status;
}

/* Composes the map of the fit, the principal components followed by P, into one projection. New
 * points then take a single product, and a saved model needs only one map. */
static huddle_status set_reduction(const hd_method_lda_start *start, const huddle_dense *p,
                                   huddle_preparation *map) {
    huddle_status status = HUDDLE_OK;
    const huddle_preparation *pca = &start->map;
    huddle_preparation_free(map);
    map->rule = (huddle_rule){"pca:R", (int32_t)p->cols};
    map->d_in = pca->d_in;
    map->d_out = p->cols;
    map->variance_kept = pca->variance_kept;
    ALLOC(map->centre, pca->d_in);
    memcpy(map->centre, pca->centre, (size_t)pca->d_in * sizeof *map->centre);
    TRY(huddle_dense_new(pca->d_in, p->cols, &map->projection));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)pca->d_in, (int)p->cols,
                (int)p->rows, 1, pca->projection.values, (int)pca->projection.stride, p->values,
                (int)p->stride, 0, map->projection.values, (int)map->projection.stride);
done:
    return status;
}

/* X P as points, by the same code that will map new points. */
static huddle_status project_points(huddle_context *context, const lda *l, huddle_points *points) {
    huddle_preparation map = {.rule = {"pca:R", (int32_t)l->p.cols},
                              .d_in = l->m,
                              .d_out = l->p.cols,
                              .centre = l->mean,
                              .projection = l->p};
    huddle_points_free(points);
    return huddle_prepare_apply(context, &map, l->y, points, NULL);
}

/* Means of the clusters in the current projection, from which K-means starts. Empty clusters start
 * at the origin. */
static huddle_status find_centres(huddle_context *context, const huddle_points *points,
                                  const int32_t *labels, int32_t c, huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_rows rows = {.n = points->n};
    double *means;
    TRY(huddle_points_fetch(points));
    TRY(hd_step_cluster_means(context, &rows, labels, NULL, points, c, &means));
    *centres = (huddle_dense){.rows = c, .cols = points->d, .stride = points->d, .values = means};
done:
    return status;
}

/* The clusters of the current round, and the points that were clustered. */
typedef struct lda_round {
    hd_fit_rows rows;
    huddle_points points; /* X P */
    hd_fit_clusters clusters;
} lda_round;

/* Keeps P and the labels of the best round. The last round need not be the best: K-means minimises
 * distances in X P, not the trace. */
static void keep_round(lda *l, const lda_round *now) {
    l->best_r = l->p.cols;
    memcpy(l->best_p, l->p.values, (size_t)(l->m * l->p.cols) * sizeof *l->best_p);
    memcpy(l->best_labels, now->clusters.labels, (size_t)l->n * sizeof *l->best_labels);
    l->best_inertia = now->clusters.kmeans.inertia;
}

/* Records the objective of the current clusters, and keeps them if it is the best so far; of level
 * ones, the last. */
static huddle_status record_round(huddle_context *context, lda *l, const lda_round *now,
                                  huddle_alternation_info *alternation, double *best) {
    huddle_status status = HUDDLE_OK;
    double trace = 0;
    TRY(set_between(context, l, now->clusters.labels));
    TRY(trace_objective(l, &trace));
    TRY(hd_fit_alternation_add(alternation, trace));
    if (trace > *best - level_trace * fabs(*best))
        keep_round(l, now);
    *best = fmax(*best, trace);
done:
    return status;
}

/* One round after the first: P from the labels, then K-means from their centres. *is_unchanged if
 * the labels did not change; the next P would be the same. */
static huddle_status next_round(huddle_context *context, lda *l,
                                const huddle_kmeans_options *kmeans, lda_round *now,
                                bool *is_unchanged) {
    huddle_status status = HUDDLE_OK;
    huddle_dense centres = {0};
    huddle_kmeans_options warm = *kmeans;
    int32_t *before = NULL;
    bool found;
    TRY(find_directions(l, &found));
    *is_unchanged = !found;
    if (!found)
        goto done;
    TRY(project_points(context, l, &now->points));
    TRY(find_centres(context, &now->points, now->clusters.labels, l->c, &centres));
    /* hd_step_kmeans() frees the labels that it finds. */
    before = now->clusters.labels;
    now->clusters.labels = NULL;
    warm.start = &centres;
    TRY(hd_step_kmeans(context, &now->points, &warm, &now->rows, &now->clusters));
    *is_unchanged = memcmp(before, now->clusters.labels, (size_t)l->n * sizeof *before) == 0;
done:
    huddle_free(before);
    huddle_dense_free(&centres);
    return status;
}

/* The start: the first principal components, in the coordinates of which P is the identity. */
static huddle_status set_first_directions(lda *l) {
    huddle_status status = HUDDLE_OK;
    int64_t r = l->first_r;
    huddle_dense_free(&l->p);
    TRY(huddle_dense_new(l->m, r, &l->p));
    for (int64_t k = 0; k < r; k++)
        l->p.values[k * r + k] = 1;
done:
    return status;
}

/* Rounds from the present labels until they no longer change. */
static huddle_status alternate_from(huddle_context *context, lda *l,
                                    const huddle_kmeans_options *kmeans, lda_round *now,
                                    huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    bool is_unchanged = false;
    l->best_trace = -INFINITY;
    TRY(record_round(context, l, now, alternation, &l->best_trace));
    for (int round = 0; round < MAX_ROUNDS && !is_unchanged; round++) {
        TRY(hd_progress(context, "lda", round, MAX_ROUNDS));
        TRY(next_round(context, l, kmeans, now, &is_unchanged));
        TRY(record_round(context, l, now, alternation, &l->best_trace));
    }
    alternation->stop = is_unchanged ? HUDDLE_STOP_CONVERGED : HUDDLE_STOP_MAX_ITER;
done:
    return status;
}

/* The alternation from the labels of a restart of the first K-means. */
static huddle_status alternate_restart(huddle_context *context, lda *l,
                                       const huddle_kmeans_options *kmeans, const int32_t *labels,
                                       lda_round *now, huddle_alternation_info *alternation) {
    huddle_status status = HUDDLE_OK;
    hd_fit_alternation_reset(alternation);
    TRY(set_first_directions(l));
    memcpy(now->clusters.labels, labels, (size_t)l->n * sizeof *labels);
    TRY(alternate_from(context, l, kmeans, now, alternation));
done:
    return status;
}

/* An alternation from every restart. The best one is run again, as its rounds are not kept: less
 * than a restart more. */
static huddle_status alternate_all(huddle_context *context, lda *l,
                                   const huddle_kmeans_options *kmeans, lda_round *now,
                                   huddle_alternation_info *alternation, lda_ends *ends) {
    huddle_status status = HUDDLE_OK;
    double best = -INFINITY;
    int32_t *starts = now->clusters.kmeans.start_labels;
    double *inertias = now->clusters.kmeans.inertias;
    now->clusters.kmeans.start_labels = NULL; /* rounds free those of the K-means before */
    now->clusters.kmeans.inertias = NULL;
    if (starts == NULL)
        FAIL(HUDDLE_UNSUPPORTED, "alternate = all needs all rows in one process");
    ends->count = now->clusters.kmeans.n_restarts;
    ALLOC(ends->labels, ends->count * l->n);
    ALLOC(ends->inertias, ends->count);
    for (int32_t k = 0; k < ends->count; k++) {
        now->clusters.kmeans.inertia = inertias[k];
        TRY(alternate_restart(context, l, kmeans, starts + k * l->n, now, alternation));
        memcpy(ends->labels + k * l->n, l->best_labels, (size_t)l->n * sizeof *l->best_labels);
        ends->inertias[k] = l->best_inertia;
        /* Of level ones the first: rounding must not decide between restarts either. */
        if (k == 0 || l->best_trace > best + level_trace * fabs(best)) {
            ends->best = k;
            best = l->best_trace;
        }
    }
    TRY(alternate_restart(context, l, kmeans, starts + ends->best * l->n, now, alternation));
done:
    FREE(starts, inertias);
    return status;
}

/* K-means on the first principal components, then the alternation from its labels. With one
 * cluster, or if all points are equal, there is nothing to discriminate. */
static huddle_status alternate_steps(huddle_context *context, lda *l,
                                     const huddle_kmeans_options *kmeans, bool all, lda_round *now,
                                     huddle_alternation_info *alternation, lda_ends *ends) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_options first = *kmeans;
    bool flat;
    first.keep_starts = all;
    TRY(set_first_directions(l));
    TRY(factor_total(context, l, &flat));
    TRY(project_points(context, l, &now->points));
    TRY(hd_step_kmeans(context, &now->points, &first, &now->rows, &now->clusters));
    /* hd_method_lda_cluster() uses the best round, so that one must exist. */
    if (flat || l->c == 1)
        keep_round(l, now);
    else if (all)
        TRY(alternate_all(context, l, kmeans, now, alternation, ends));
    else
        TRY(alternate_from(context, l, kmeans, now, alternation));
done:
    return status;
}

/* The labels of all alternations in the place of those of the last K-means, which is but one. */
static void keep_ends(lda_ends *ends, huddle_kmeans_info *info) {
    FREE(info->start_labels, info->inertias);
    ends->inertias[ends->best] = info->inertia;
    info->n_restarts = ends->count;
    info->best = ends->best;
    info->start_labels = ends->labels;
    info->inertias = ends->inertias;
    *ends = (lda_ends){0};
}

/* Clusters of the best P, on points mapped exactly as new points will be (set_reduction() rounds
 * differently from two maps in sequence). K-means continues from the labels of the best round,
 * which change by rounding effects at most. */
static huddle_status cluster_best(const hd_method_run *run, const hd_method_lda_start *start,
                                  const lda *l, const huddle_kmeans_options *kmeans) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit_prepared *prepared = &run->fit->prepared;
    huddle_dense p = {.rows = l->m, .cols = l->best_r, .stride = l->best_r, .values = l->best_p};
    huddle_dense centres = {0};
    huddle_points owned = {0}, view;
    huddle_kmeans_options warm = *kmeans;
    TRY(set_reduction(start, &p, &prepared->reduction));
    TRY(hd_step_apply_map(context, &prepared->preparation, run->job->x, &owned, &view));
    TRY(hd_method_reduce(context, &view, prepared));
    TRY(find_centres(context, &prepared->points, l->best_labels, l->c, &centres));
    warm.start = &centres;
    TRY(hd_step_kmeans(context, &prepared->points, &warm, &run->fit->rows, &run->fit->clusters));
done:
    huddle_points_free(&owned);
    huddle_dense_free(&centres);
    return status;
}

/* The labels of the restarts are kept only in the last K-means, whose clusters are those of the
 * fit, or those of all alternations. fit->clusters.alternation receives the trace of every round.
 */
huddle_status hd_method_lda_cluster(const hd_method_run *run, const hd_method_lda_start *start,
                                    const hd_method_lda_options *options,
                                    const huddle_kmeans_options *kmeans) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    int64_t m = start->points.d, max_dim = kmeans->n_clusters - 1;
    lda l = {.y = &start->points,
             .n = start->points.n,
             .m = m,
             .c = kmeans->n_clusters,
             .ridge = options->ridge};
    lda_round now = {.rows = {.n = start->points.n}};
    lda_ends ends = {0};
    huddle_alternation_info *alternation = &run->fit->clusters.alternation;
    huddle_kmeans_options search = *kmeans;
    /* S_b has rank c - 1 at most, so no round has more directions than this. */
    l.first_r = max_dim < 1 ? 1 : max_dim < m ? max_dim : m;
    search.keep_starts = false;
    hd_fit_alternation_reset(alternation);
    TRY(hd_blas_reserve(context));
    TRY(huddle_points_fetch(&start->points));
    ALLOC(l.b, m * l.c);
    ALLOC(l.best_p, m * l.first_r);
    ALLOC(l.best_labels, l.n);
    TRY_STAGE(context, HD_STAGE_KMEANS,
              alternate_steps(context, &l, &search, strcmp(options->alternate, "all") == 0, &now,
                              alternation, &ends));
    TRY(cluster_best(run, start, &l, kmeans));
    if (ends.count > 0 && kmeans->keep_starts)
        keep_ends(&ends, &run->fit->clusters.kmeans);
done:
    hd_fit_clusters_free(&now.clusters);
    huddle_points_free(&now.points);
    FREE(l.mean, l.factor, l.b, l.best_p, l.best_labels, ends.labels, ends.inertias);
    huddle_dense_free(&l.p);
    return status;
}
