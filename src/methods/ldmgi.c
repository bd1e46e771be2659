/* Local discriminant models and global integration (Yang, Xu, Nie, Yan and Zhuang, Image clustering
 * using local discriminant models and global integration, IEEE Transactions on Image Processing
 * 2010), a reconstruction from the abstract and from programs of others, which agree on the
 * objective but not on all of the protocol (docs/method.md, section 8). A point and its k nearest
 * neighbours are a clique, in which a regularised linear discriminant model says how well scaled
 * cluster indicators G_i separate its points: with the centred points X_i and H = I - 11'/m, it
 * loses
 *
 *     tr G_i' L_i G_i,   L_i = H (X_i' X_i + lambda I)^-1 H.
 *
 * The losses of all cliques are added. L = sum_i S_i L_i S_i' puts the members of clique i in their
 * rows, and the minimum of tr G'L G over G'G = I are the eigenvectors of the smallest eigenvalues.
 *
 * The products X_i' X_i come from the distances within a clique, so that cosine distances stand for
 * rows of norm 1. The paper leaves the size of lambda to a search and reads labels off by a
 * rotation; here lambda is the option alpha and, if auto, is the total variance, K-means on the
 * rows of G gives the labels, as in the other spectral methods, and the components of the graph are
 * treated as methods/local.c says. L is multiplied by lambda plus the variance, which changes no
 * eigenvector and keeps its entries near 1. New points are not mentioned there: their rows are
 * predicted by the model of their neighbours, as the ridge regression that the discriminant model
 * is. */
#include "base/check.h"
#include "base/options.h"
#include "base/parallel.h"
#include "decide/memory.h"
#include "matrix/insert.h"
#include "methods/local.h"
#include "prepare/pca.h"
#include "steps/ldmgi_matrix.h"
#include "steps/pairs.h"

#include <math.h>
#include <string.h>

typedef struct ldmgi_options {
    hd_spectral_options spectral;
    double alpha;
} ldmgi_options;

enum { ROWS_PER_CHUNK = 256 };

static const huddle_option *alpha_table(void) {
    static const huddle_option table[] = {
        HD_REAL_AUTO(ldmgi_options, alpha, "auto", 1e-12, 1e12,
                     "regularisation of the local models; auto: the total variance of the points"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {HD_METHOD_LOCAL_SECTIONS(alpha_table), {0}};

/* ---- alpha -------------------------------------------------------------------------------- */

/* The mean squared distance of a row from the mean of all; of cosine distances, whose rows have
 * norm 1, the largest that it can be. Never 0. */
static huddle_status find_variance(huddle_context *context, const hd_method_learning *learning,
                                   double *variance) {
    huddle_status status = HUDDLE_OK;
    const ldmgi_options *o = learning->options;
    const huddle_points *x = learning->points;
    double *mean = NULL, *spread = NULL, total = 0;
    *variance = 1;
    if (strcmp(o->spectral.knn.metric, "cosine") == 0)
        return HUDDLE_OK;
    ALLOC(mean, x->d);
    ALLOC(spread, x->d);
    TRY(hd_prepare_column_moments(context, x, mean, spread));
    for (int64_t j = 0; j < x->d; j++)
        total += spread[j];
    *variance = total > 0 ? total : 1;
done:
    FREE(mean, spread);
    return status;
}

static double choose_alpha(const ldmgi_options *options, double variance) {
    return options->alpha == HUDDLE_AUTO ? variance : options->alpha;
}

/* Of a distance of the graph: a cosine distance 1 - cos is half the square between unit rows. */
static double square_of(const ldmgi_options *options, double distance) {
    return strcmp(options->spectral.knn.metric, "cosine") == 0 ? 2 * distance : distance * distance;
}

/* The squared distances between the rows of a list. */
static void fill_squares(const hd_method_learning *l, int32_t m, const int32_t *index,
                         double *squares) {
    const ldmgi_options *o = l->options;
    for (int32_t r = 0; r < m; r++) {
        squares[r * m + r] = 0;
        for (int32_t c = 0; c < r; c++) {
            double d = hd_step_pair_distance(l->points, o->spectral.knn.metric, index[r], index[c]);
            squares[r * m + c] = squares[c * m + r] = square_of(o, d);
        }
    }
}

/* ---- L ------------------------------------------------------------------------------------- */

/* The argument of model_cliques(). */
typedef struct modelling {
    const hd_method_learning *learning;
    double alpha, unit;
    int64_t most; /* members of a clique */
    int32_t *index;
    double *scratch; /* most for each worker */
    hd_step_cliques *cliques;
} modelling;

/* The members of each clique in ascending order, and its Laplacian. */
static huddle_status model_cliques(void *argument, hd_chunk chunk) {
    const modelling *t = argument;
    huddle_csr *members = &t->cliques->members;
    int32_t *index = t->index + chunk.worker * t->most;
    double *scratch = t->scratch + chunk.worker * t->most;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        int64_t begin = members->offsets[i], end = begin;
        double *block = t->cliques->blocks + t->cliques->begin[i];
        int32_t count = hd_method_local_neighbors(t->learning, i, index, scratch);
        hd_csr_insert(members, i, &end, (int32_t)i, 1);
        for (int32_t j = 0; j < count; j++)
            hd_csr_insert(members, i, &end, index[j], 1);
        fill_squares(t->learning, count + 1, members->columns + begin, block);
        hd_step_ldmgi_block(count + 1, t->alpha, t->unit, block, scratch);
    }
    return HUDDLE_OK;
}

/* Models of all cliques: a point, its neighbours, and the other ends of its bridges. */
static huddle_status make_cliques(huddle_context *context, const hd_method_learning *learning,
                                  hd_step_cliques *cliques) {
    huddle_status status = HUDDLE_OK;
    modelling t = {.learning = learning, .cliques = cliques};
    int64_t n = learning->neighbors->n, total = 0, squares = 0;
    int64_t workers = hd_workers(context);
    double variance;
    t.most = hd_method_local_most(learning) + 1;
    TRY(huddle_points_fetch(learning->points));
    TRY(find_variance(context, learning, &variance));
    t.alpha = choose_alpha(learning->options, variance);
    t.unit = t.alpha + variance;
    for (int64_t i = 0; i < n; i++)
        total += hd_method_local_count(learning, i) + 1;
    TRY(huddle_csr_new(n, n, total, &cliques->members));
    ALLOC(cliques->begin, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t m = hd_method_local_count(learning, i) + 1;
        cliques->members.offsets[i + 1] = cliques->members.offsets[i] + m;
        cliques->begin[i] = squares;
        squares += m * m;
    }
    ALLOC(cliques->blocks, squares);
    ALLOC(t.index, t.most * workers);
    ALLOC(t.scratch, t.most * workers);
    TRY(hd_parallel(context, "learn", n, ROWS_PER_CHUNK, model_cliques, &t));
done:
    FREE(t.index, t.scratch);
    return status;
}

/* The largest absolute row sum of L = I - M, but at least 1: it bounds the largest eigenvalue. Of a
 * single point L is 0. */
static double largest_row(const huddle_csr *m) {
    double largest = 1;
    for (int64_t i = 0; i < m->rows; i++) {
        double sum = 0;
        for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
            sum += fabs((m->columns[e] == i) - m->values[e]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* I - L and the bound. */
static huddle_status make_matrix(huddle_context *context, const hd_method_learning *learning,
                                 huddle_csr *matrix, double *lower) {
    huddle_status status = HUDDLE_OK;
    hd_step_cliques cliques = {0};
    TRY(make_cliques(context, learning, &cliques));
    TRY(hd_step_ldmgi_matrix(context, &cliques, matrix));
    *lower = 1 - largest_row(matrix);
done:
    hd_step_cliques_free(&cliques);
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

/* The model of the neighbours is a ridge regression: f(x) = mean of g_j + k' (K + lambda I)^-1 H G,
 * where k are the products of the centred neighbours with x. Its coefficients add up to 1. lambda
 * is a number here. */
static void predict_row(const hd_method_learning *l, int64_t row, int32_t count,
                        const int32_t *index, double *values, double *scratch) {
    (void)row;
    const ldmgi_options *o = l->options;
    double *inverse = scratch, *means = scratch + (int64_t)count * count, mean = 0, total = 0;
    fill_squares(l, count, index, inverse);
    hd_step_ldmgi_invert(count, o->alpha, inverse, means);
    for (int32_t j = 0; j < count; j++) {
        values[j] = square_of(o, values[j]);
        mean += values[j] / count;
        total += means[j] / count;
    }
    for (int32_t j = 0; j < count; j++)
        values[j] = (means[j] - total + mean - values[j]) / 2;
    for (int32_t r = 0; r < count; r++) {
        double sum = 0;
        for (int32_t c = 0; c < count; c++)
            sum += inverse[r * count + c] * values[c];
        means[r] = 1.0 / count + sum;
    }
    memcpy(values, means, (size_t)count * sizeof *values);
}

/* The variance is that of the training points, which the fit keeps. */
static huddle_status learn_predictors(huddle_context *context, const hd_method_learning *learning,
                                      huddle_csr *a) {
    ldmgi_options o = *(const ldmgi_options *)learning->options;
    hd_method_learning settled = *learning;
    double variance;
    huddle_status status = find_variance(context, learning, &variance);
    if (status != HUDDLE_OK)
        return status;
    o.alpha = choose_alpha(&o, variance);
    settled.options = &o;
    return hd_method_local_predictors(context, &settled, predict_row, a);
}

/* ---- the method ---------------------------------------------------------------------------- */

static const hd_method_local local = {make_matrix, learn_predictors};

static huddle_status fit_ldmgi(hd_method_run *run, const void *options) {
    ldmgi_options o = *(const ldmgi_options *)options;
    return hd_method_local_fit(run, &local, &o);
}

static huddle_status place_ldmgi(huddle_context *context, const hd_fit *fit, const void *options,
                                 const huddle_points *x, huddle_dense *rows, int64_t *same) {
    return hd_method_local_place(context, fit, &local, options, x, rows, same);
}

/* Beside what the other spectral methods need: the blocks, and a matrix that has, in a row, the
 * members of all cliques of a point, of which about a half are different. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const ldmgi_options *o = options;
    int64_t m = (int64_t)o->spectral.knn.n_neighbors + 1, entry = sizeof(double) + sizeof(int32_t);
    m = m < x->n ? m : x->n;
    hd_decide_memory_of_spectral(x, options, needed);
    needed->stages[HD_STAGE_EMBED] +=
        x->n * (m * m * ((int64_t)sizeof(double) + entry / 2) + 2 * m * entry);
}

const hd_method hd_method_ldmgi = {
    .text = {.name = "ldmgi",
             .title = "local discriminant models and global integration (reconstruction)",
             .reconstruction = true,
             .summary = "In every small neighbourhood a discriminant model says how well a "
                        "labelling separates the points: embeds the points by the eigenvectors of "
                        "the sum of these models and clusters the embedding by K-means. "
                        "Reconstructed from the abstract and from programs of others."},
    .options_size = sizeof(ldmgi_options),
    .sections = sections,
    .fit = fit_ldmgi,
    .place = place_ldmgi,
    .memory = {predict_memory, hd_decide_economise_spectral}};
