/* Discriminative K-means (Ye, Zhao and Wu, Discriminative K-means for clustering, NIPS 2007).
 * K-means alternating with regularised LDA is equivalent to kernel K-means with the kernel I - (I +
 * X X' / alpha)^-1 of the centred points. With X = U S V' this kernel is U diag(s_k^2 / (s_k^2 +
 * alpha)) U', the Gram matrix of the principal components U S, each divided by sqrt(s_k^2 + alpha).
 * The method is therefore K-means on these components. */
#include "base/check.h"
#include "base/options.h"
#include "methods/cluster.h"
#include "methods/prepare.h"
#include "methods/reduce.h"

#include <math.h>

/* alpha = auto is this fraction of the total scatter; the paper leaves the choice open. */
enum { AUTO_SHARE = 50 };

typedef struct diskmeans_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    double alpha;
    huddle_kmeans_options kmeans;
} diskmeans_options;

static const huddle_option *alpha_table(void) {
    static const huddle_option table[] = {
        HD_REAL_AUTO(diskmeans_options, alpha, "auto", 1e-12, 1e12,
                     "regularisation; auto: 1/50 of the total scatter of the points"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(diskmeans_options, prepare), NULL},
    {alpha_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(diskmeans_options, kmeans), NULL},
    {0}};

/* Divides component k of the map by sqrt(s_k^2 + alpha), s_k^2 = n times its variance. The centre
 * is subtracted before the projection, so that only its columns are scaled. */
static void scale_components(double alpha, int64_t n, const double *variances, double total,
                             huddle_preparation *map) {
    huddle_dense *p = &map->projection;
    if (alpha == HUDDLE_AUTO)
        alpha = (double)n * total / AUTO_SHARE;
    for (int64_t k = 0; k < p->cols; k++) {
        double factor = sqrt((double)n * variances[k] + alpha);
        for (int64_t j = 0; j < p->rows && factor > 0; j++)
            p->values[j * p->stride + k] /= factor;
    }
}

/* Replaces the points by their regularised principal components. All components are needed,
 * unlike in pca-kmeans: small alpha gives components of tiny variance the same weight as the
 * first ones. */
static huddle_status reduce_points(const hd_method_run *run, const diskmeans_options *options) {
    huddle_status status = HUDDLE_OK;
    hd_fit_prepared *prepared = &run->fit->prepared;
    huddle_points points;
    double *variances = NULL, total;
    TRY(hd_method_prepare(run, &options->prepare, NULL, false, &points));
    double begin = hd_seconds();
    /* The rank is at most the shorter side. */
    int64_t r = points.n < points.d ? points.n : points.d;
    ALLOC(variances, r);
    TRY(hd_method_principal_map(run->context, &points, r, run->seed, &prepared->reduction,
                                variances, &total));
    scale_components(options->alpha, points.n, variances, total, &prepared->reduction);
    TRY(hd_method_reduce(run->context, &points, prepared));
    prepared->info.seconds += hd_seconds() - begin;
done:
    huddle_free(variances);
    return status;
}

/* The alternation of K-means and LDA is solved in closed form, so that nothing alternates here.
 * With a range, the regularised components are the same for every number of clusters. */
static huddle_status fit_diskmeans(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    const diskmeans_options *o = options;
    TRY_STAGE(run->context, HD_STAGE_PREPARE, reduce_points(run, o));
    TRY(hd_method_cluster_points(run, &run->fit->prepared.points, &o->kmeans));
done:
    return status;
}

const hd_method hd_method_diskmeans = {
    .text = {"diskmeans", "discriminative K-means",
             "K-means combined with regularised linear discriminant analysis, in closed form: "
             "K-means on principal components whose whitening is controlled by alpha."},
    .options_size = sizeof(diskmeans_options),
    .sections = sections,
    .fit = fit_diskmeans,
    .predict = hd_step_predict_centres};
