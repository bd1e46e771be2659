/* Landmark-based spectral clustering (Chen and Cai, Large scale spectral clustering with
 * landmark-based representation, AAAI 2011). Each point is a weighted mean of its nearest
 * landmarks; the weights are row i of Z and sum to 1. With D the diagonal matrix of the column sums
 * of Z, the graph Z D^-1 Z' connects points that share landmarks. Its degrees are 1, and its
 * eigenvectors are the left singular vectors of Z D^-1/2, which follow from a matrix of landmarks x
 * landmarks. Time and memory are linear in n. */
#include "base/check.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/slabs.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "methods/prepare.h"
#include "methods/spectral.h"
#include "steps/embed.h"
#include "steps/kmeans.h"
#include "steps/prepare.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct lsc_options {
    hd_spectral_options spectral;
    const char *landmarks;
    int32_t n_landmarks, landmark_neighbors;
} lsc_options;

/* 1000 landmarks are the default of the paper. Landmarks need not be good clusters: K-means on a
 * sample of a few points per landmark, stopped early, is sufficient and keeps the time linear in
 * n. */
enum {
    MAX_LANDMARKS = 1000,
    POINTS_PER_LANDMARK = 20,
    LANDMARK_ITERATIONS = 10,
    ROWS_PER_CHUNK = 256
};

/* Eigenvalues below these are rounding errors: of the Gram matrix, whose largest eigenvalue is 1,
 * and of the Laplacian 1 - mu. The map divides by the root of the former. */
static const double rank_tolerance = 1e-12, component_tolerance = 1e-10;

static const huddle_option *landmark_table(void) {
    static const char *const ways[] = {"k-means", "random", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(lsc_options, landmarks, "k-means", ways, "how the landmarks are chosen"),
        HD_INT_AUTO(lsc_options, n_landmarks, "auto", 1, INT32_MAX,
                    "number of landmarks; auto: half the points, at most 1000"),
        HD_INT(lsc_options, landmark_neighbors, "5", 1, INT32_MAX,
               "number of landmarks that represent each point"),
        {0}};
    return table;
}

static const hd_method_rename knn_names[] = {{"metric", "metric", NULL, NULL}, {0}};
static const hd_method_rename embed_names[] = {{"rows", "rows", NULL, NULL}, {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(lsc_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(lsc_options, spectral.knn), knn_names},
    {landmark_table, 0, NULL},
    {huddle_embed_options_table, offsetof(lsc_options, spectral.embed), embed_names},
    {huddle_kmeans_options_table, offsetof(lsc_options, spectral.kmeans), hd_method_kmeans_names},
    {0}};

/* ---- landmarks ----------------------------------------------------------------------------- */

/* The option, or half of the points up to the default; never fewer than clusters, because the
 * embedding has at most as many columns as landmarks. */
static huddle_status count_landmarks(const lsc_options *options, huddle_range n_clusters, int64_t n,
                                     int64_t *count) {
    int64_t min_count = n_clusters.first == HUDDLE_AUTO ? 1 : n_clusters.last;
    *count = options->n_landmarks;
    if (options->n_landmarks == HUDDLE_AUTO) {
        *count = (n + 1) / 2 < MAX_LANDMARKS ? (n + 1) / 2 : MAX_LANDMARKS;
        *count = *count < min_count ? min_count : *count;
    }
    if (*count < min_count)
        return hd_fail(HUDDLE_INVALID, "n_landmarks = %lld is fewer than n_clusters = %lld",
                       (long long)*count, (long long)min_count);
    *count = *count < n ? *count : n;
    return HUDDLE_OK;
}

/* Draws `count` different rows of the points, or of the distinct ones, uniformly, in ascending
 * order; all of them if there are fewer. Equal landmarks would share the weight of their region
 * without representing anything new. Stream UINT64_MAX is not used by the restarts of K-means. */
static huddle_status sample_points(const huddle_points *points, const huddle_distinct *distinct,
                                   int64_t count, uint64_t seed, huddle_points *some) {
    huddle_status status = HUDDLE_OK;
    hd_rng rng = hd_rng_stream(seed, UINT64_MAX);
    int64_t *index = NULL, rows = distinct != NULL ? distinct->count : points->n;
    count = count < rows ? count : rows;
    ALLOC(index, count);
    hd_rng_sample(&rng, rows, count, index);
    for (int64_t i = 0; i < count && distinct != NULL && distinct->first != NULL; i++)
        index[i] = distinct->first[index[i]];
    TRY(huddle_points_take(points, index, count, some));
done:
    huddle_free(index);
    return status;
}

/* The centres of K-means on a sample; fewer if there are fewer distinct points, because empty
 * clusters have no centre. */
static huddle_status take_centres(huddle_context *context, const huddle_points *points,
                                  int64_t count, uint64_t seed, huddle_points *landmarks) {
    huddle_status status = HUDDLE_OK;
    huddle_points sample = {0};
    huddle_kmeans_result result = {0};
    huddle_kmeans_info info = {0};
    huddle_kmeans_options kmeans = huddle_kmeans_defaults();
    int64_t rows = POINTS_PER_LANDMARK * count;
    kmeans.n_clusters = (int32_t)count;
    /* One start: the landmarks only have to cover the points. */
    kmeans.n_init = 1;
    kmeans.max_iter = LANDMARK_ITERATIONS;
    kmeans.seed = seed;
    TRY(sample_points(points, NULL, rows, seed, &sample));
    TRY(huddle_kmeans(context, &sample, NULL, &kmeans, &result, &info));
    TRY(huddle_points_from_double(context, info.n_distinct < count ? info.n_distinct : count,
                                  points->d, result.centres.values, result.centres.stride, 1,
                                  landmarks));
done:
    huddle_points_free(&sample);
    huddle_kmeans_result_free(&result);
    huddle_kmeans_info_free(&info);
    return status;
}

/* K-means centres represent dense regions better than random points (section 4 of the paper). */
static huddle_status choose_landmarks(huddle_context *context, const huddle_points *points,
                                      const lsc_options *options, int64_t count, hd_fit *fit) {
    huddle_points *landmarks = &fit->embedding.landmarks;
    uint64_t seed = options->spectral.common.seed;
    if (points->offsets != NULL) /* centres would be dense */
        hd_log(context, "the points are sparse: landmarks are chosen at random");
    if (points->offsets != NULL || strcmp(options->landmarks, "random") == 0)
        return sample_points(points, &fit->rows.equal, count, seed, landmarks);
    return take_centres(context, points, count, seed, landmarks);
}

/* ---- Z ------------------------------------------------------------------------------------- */

/* Finds the nearest landmarks of each point. Lists are complete: a list is limited to the number of
 * landmarks. */
static huddle_status find_landmarks(huddle_context *context, const hd_fit *fit,
                                    const lsc_options *options, const huddle_points *points,
                                    huddle_neighbors *z) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options knn = huddle_knn_defaults();
    knn.metric = options->spectral.knn.metric;
    knn.n_neighbors = options->landmark_neighbors;
    TRY(huddle_graph_query(context, &fit->embedding.landmarks, points, &knn, z, NULL));
    TRY(huddle_neighbors_fetch(z));
done:
    return status;
}

/* The bandwidth of the kernel: the mean distance between a point and its landmarks. */
static huddle_status set_scale(huddle_context *context, const huddle_neighbors *z,
                               huddle_scale *scale) {
    huddle_status status = HUDDLE_OK;
    double sum = 0, count = (double)z->n * z->k;
    for (int64_t e = 0; e < z->n * z->k; e++)
        sum += z->distance[e];
    TRY(hd_reduce_sum(context, 1, &sum));
    TRY(hd_reduce_sum(context, 1, &count));
    scale->rule = "mean";
    scale->delta2 = sum / count * (sum / count);
done:
    return status;
}

/* Converts distances to Nadaraya-Watson weights: kernel values divided by their sum. They are
 * written over the distances, which are not needed any more. */
static void normalise_shares(const huddle_scale *scale, huddle_neighbors *z) {
    for (int64_t i = 0; i < z->n; i++) {
        double *share = z->distance + i * z->k, sum = 0;
        for (int32_t j = 0; j < z->k; j++) {
            share[j] = huddle_graph_weight(scale, 0, 0, share[j]);
            sum += share[j];
        }
        for (int32_t j = 0; j < z->k; j++)
            share[j] /= sum;
    }
}

/* ---- the embedding ------------------------------------------------------------------------- */

/* gram (p x p) = D^-1/2 Z'Z D^-1/2, and roots[l] = D_l^-1/2, 0 for a landmark that no point uses.
 * Points are added in their order, then processes, so that the sums do not depend on the number of
 * threads. Z is sparse: a point contributes k^2 products. */
static huddle_status landmark_gram(huddle_context *context, const huddle_neighbors *z, int64_t p,
                                   double *gram, double *roots) {
    huddle_status status = HUDDLE_OK;
    memset(gram, 0, (size_t)(p * p) * sizeof *gram);
    memset(roots, 0, (size_t)p * sizeof *roots);
    for (int64_t i = 0; i < z->n; i++) {
        const int32_t *index = z->index + i * z->k;
        const double *share = z->distance + i * z->k;
        for (int32_t a = 0; a < z->k; a++) {
            roots[index[a]] += share[a];
            for (int32_t b = 0; b < z->k; b++)
                gram[index[a] * p + index[b]] += share[a] * share[b];
        }
    }
    TRY(hd_reduce_sum(context, p * p, gram));
    TRY(hd_reduce_sum(context, p, roots));
    for (int64_t l = 0; l < p; l++)
        roots[l] = roots[l] > 0 ? 1 / sqrt(roots[l]) : 0;
    for (int64_t l = 0; l < p; l++)
        for (int64_t m = 0; m < p; m++)
            gram[l * p + m] *= roots[l] * roots[m];
done:
    return status;
}

/* Computes the `n_wanted` largest eigenpairs (mu, v) of gram. The left singular vectors of Z D^-1/2
 * are Z D^-1/2 v / sqrt(mu), so column k of landmark_map is D^-1/2 v_k / sqrt(mu_k), and rows of Z,
 * those of new points included, are multiplied by it. Eigenvalues 0 have no singular vector. */
static huddle_status decompose_gram(huddle_context *context, const huddle_neighbors *z,
                                    int64_t n_wanted, hd_fit_embedding *embedding) {
    huddle_status status = HUDDLE_OK;
    huddle_dense *map = &embedding->landmark_map;
    int p = (int)embedding->landmarks.n, found = 0;
    double *gram = NULL, *roots = NULL, *mu = NULL, *v = NULL;
    int *support = NULL;
    int limit = (int)(n_wanted < p ? n_wanted : p);
    ALLOC(gram, (int64_t)p * p);
    ALLOC(roots, p);
    ALLOC(mu, p);
    ALLOC(v, (int64_t)p * limit);
    ALLOC(support, 2 * (int64_t)p);
    TRY(landmark_gram(context, z, p, gram, roots));
    /* Eigenvalues are in ascending order: the largest are those with indices p - most + 1 .. p. */
    if (LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'V', 'I', 'L', p, gram, p, 0, 0, p - limit + 1, p, 0,
                       &found, mu, v, limit, support) != 0 ||
        found != limit)
        FAIL(HUDDLE_NUMERIC, "the eigensolver failed on %d landmarks", p);
    int rank = 0;
    while (rank < limit && mu[limit - 1 - rank] > rank_tolerance)
        rank++;
    huddle_embedding *e = &embedding->f;
    TRY(huddle_dense_new(p, rank, map));
    ALLOC(e->eigenvalues, rank);
    e->n_eigenvalues = rank;
    for (int k = 0; k < rank; k++) {
        int column = limit - 1 - k; /* the largest come last */
        e->eigenvalues[k] = fmax(1 - mu[column], 0);
        for (int l = 0; l < p; l++)
            map->values[l * rank + k] = roots[l] * v[l * limit + column] / sqrt(mu[column]);
    }
done:
    FREE(gram, roots, mu, v, support);
    return status;
}

/* The argument of place_rows(). */
typedef struct placing {
    const huddle_neighbors *z;
    const huddle_dense *landmark_map;
    huddle_dense *vectors;
} placing;

/* A row of the embedding is the combination of the landmarks' rows with the weights of the
 * point. */
static huddle_status place_rows(void *argument, hd_chunk chunk) {
    const placing *p = argument;
    const huddle_dense *from = p->landmark_map;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        for (int32_t j = 0; j < p->z->k; j++) {
            const double *row = from->values + p->z->index[i * p->z->k + j] * from->stride;
            double share = p->z->distance[i * p->z->k + j];
            for (int64_t k = 0; k < p->vectors->cols; k++)
                p->vectors->values[i * p->vectors->stride + k] += share * row[k];
        }
    return HUDDLE_OK;
}

/* Multiplies the rows of Z by the first columns of the map. */
static huddle_status map_rows(huddle_context *context, const huddle_neighbors *z,
                              const huddle_dense *landmark_map, int64_t columns,
                              huddle_dense *vectors) {
    huddle_status status = HUDDLE_OK;
    placing p = {z, landmark_map, vectors};
    TRY(huddle_dense_new(z->n, columns, vectors));
    TRY(hd_parallel(context, "embed", z->n, ROWS_PER_CHUNK, place_rows, &p));
done:
    return status;
}

/* Number of eigenvalues that are 0 up to rounding, that is, of parts of the graph that share no
 * landmark. */
static int32_t count_components(const huddle_embedding *e) {
    int32_t count = 0;
    while (count < e->n_eigenvalues && e->eigenvalues[count] < component_tolerance)
        count++;
    return count;
}

/* From points to eigenvectors: landmarks, weights, a small eigenproblem, rows. Degrees are 1,
 * because Z D^-1 Z' has row sums 1. One eigenvector more than clusters shows the eigengap. */
static huddle_status find_vectors(hd_method_run *run, const huddle_points *points,
                                  const lsc_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    huddle_range *n_clusters = &run->n_clusters;
    hd_fit_embedding *embedding = &fit->embedding;
    huddle_embedding *e = &embedding->f;
    const huddle_dense *map = &embedding->landmark_map;
    huddle_neighbors z = {0};
    int64_t count, n = fit->rows.n;
    TRY(count_landmarks(options, *n_clusters, n, &count));
    int32_t last =
        n_clusters->first == HUDDLE_AUTO ? huddle_embed_max_clusters(INT64_MAX) : n_clusters->last;
    int64_t n_wanted = hd_spectral_count_columns(options->spectral.embed.rows, last) + 1;
    TRY(choose_landmarks(context, points, options, count, fit));
    TRY(find_landmarks(context, fit, options, points, &z));
    TRY(set_scale(context, &z, &fit->graph.scale));
    normalise_shares(&fit->graph.scale, &z);
    TRY(decompose_gram(context, &z, n_wanted, embedding));
    TRY(map_rows(context, &z, map, map->cols, &e->vectors));
    ALLOC(e->degrees, n);
    for (int64_t i = 0; i < n; i++)
        e->degrees[i] = 1;
    embedding->present = true;
    embedding->info.components = count_components(e);
    TRY(hd_spectral_measure_extents(context, fit));
    TRY(hd_decide_eigengap(fit, n_clusters));
done:
    huddle_neighbors_free(&z);
    return status;
}

/* The eigenvectors come from LAPACK on the full matrix: nothing is iterated and none can be
 * missed. */
static huddle_embed_info describe_vectors(const huddle_embedding *e, int32_t c) {
    double gap = c < e->n_eigenvalues ? e->eigenvalues[c] - e->eigenvalues[c - 1] : NAN;
    return (huddle_embed_info){.stop = HUDDLE_STOP_EXACT,
                               .unit = 1,
                               .gap = gap,
                               .cuts_cluster = gap < component_tolerance,
                               .components = count_components(e),
                               .verified = "inertia",
                               .proven_pairs = c < e->n_eigenvalues ? c : e->n_eigenvalues,
                               .solver = "landmarks"};
}

/* ---- the method ---------------------------------------------------------------------------- */

/* Rows of fewer columns than clusters are used if Z has a smaller rank. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_spectral_options *options = argument;
    hd_fit *fit = run->fit;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &options->kmeans, n_clusters);
    int64_t rank = fit->embedding.f.vectors.cols;
    TRY(hd_spectral_make_rows(options->embed.rows, n_clusters < rank ? n_clusters : (int32_t)rank,
                              &fit->embedding));
    TRY(hd_step_kmeans_dense(run->context, &fit->embedding.f.rows, &kmeans, &fit->rows,
                             &fit->clusters));
done:
    return status;
}

/* Points are not merged: equal points have equal rows of Z, and copies do not fill lists of
 * landmarks. */
static huddle_status fit_lsc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    lsc_options o = *(const lsc_options *)options;
    huddle_embed_info *info = &run->fit->embedding.info;
    huddle_points points;
    hd_method_clustering how = {.cluster = cluster, .argument = &o, .points = &points};
    TRY(hd_method_prepare(run, &o.spectral.prepare, NULL, false, &points));
    double begin = hd_seconds();
    TRY_STAGE(run->context, HD_STAGE_EMBED, find_vectors(run, &points, &o));
    *info = describe_vectors(&run->fit->embedding.f, run->n_clusters.last);
    info->seconds = hd_seconds() - begin;
    hd_spectral_warn_embedding(run->context, &o.spectral.embed, info, run->n_clusters);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* New points are treated exactly as training points were, so that a row that equals a training row
 * gets its row of the embedding without being looked up. */
static huddle_status place_lsc(huddle_context *context, const hd_fit *fit, const void *options,
                               const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const lsc_options *o = options;
    huddle_points owned = {0}, view;
    huddle_neighbors z = {0};
    if (fit->embedding.landmark_map.values == NULL)
        FAIL(HUDDLE_UNSUPPORTED, "a model without landmarks cannot label new points");
    for (int64_t i = 0; i < x->n; i++)
        same[i] = -1;
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(find_landmarks(context, fit, o, &view, &z));
    normalise_shares(&fit->graph.scale, &z);
    TRY(map_rows(context, &z, &fit->embedding.landmark_map, fit->embedding.f.rows.cols, rows));
    TRY(hd_spectral_apply_rule(o->spectral.embed.rows, rows, NULL, fit->embedding.f.eigenvalues,
                               rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&z);
    return status;
}

const hd_method hd_method_lsc = {
    .text = {"lsc", "landmark-based spectral clustering",
             "Spectral clustering for many points: each point is represented by its nearest of "
             "n_landmarks landmarks, and the eigenvectors are computed from the landmarks. Time "
             "and memory are linear in the number of points."},
    .options_size = sizeof(lsc_options),
    .sections = sections,
    .fit = fit_lsc,
    .place = place_lsc,
    .memory = {.predict = hd_decide_memory_of_spectral}};
