/* Local learning clustering (Wu and Schoelkopf, A local learning approach for clustering, NIPS
 * 2006). The value of each point is predicted from those of its neighbours by kernel ridge
 * regression, whose coefficients are row i of A. F minimises the squared error of the predictions,
 * ||F - A F||^2: its columns are the eigenvectors of the smallest eigenvalues of T = (I - A)'(I -
 * A), computed as those of the largest eigenvalues of I - T = A + A' - A'A. How the components of
 * the graph are treated (methods/local.c) is a departure from the paper. */
#include "base/check.h"
#include "base/options.h"
#include "decide/memory.h"
#include "methods/local.h"
#include "steps/llc_matrix.h"
#include "steps/pairs.h"

#include <math.h>

typedef struct llc_options {
    hd_spectral_options spectral;
    double alpha;
} llc_options;

/* Entries of the kernel are at most 1: a smaller pivot is a rounding error. */
static const double min_pivot = 1e-14;

static const huddle_option *alpha_table(void) {
    static const huddle_option table[] = {HD_REAL(llc_options, alpha, "1", 1e-12, 1e12,
                                                  "regularisation of the kernel ridge regression"),
                                          {0}};
    return table;
}

static const hd_method_section sections[] = {HD_METHOD_LOCAL_SECTIONS(alpha_table), {0}};

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

/* The number of rows of A is that of the lists. Row i: the solution of (K + alpha I) a = k, where K
 * is the kernel between the neighbours of point i and k the kernel between them and the point. The
 * kernel is (1), so its diagonal is 1. a contains the distances first. K is filled symmetrically
 * from its lower half: the weight of an edge does not depend on its direction. */
static void learn_row(const hd_method_learning *l, int64_t i, int32_t k, const int32_t *index,
                      double *a, double *kernel) {
    (void)i;
    const llc_options *o = l->options;
    /* Without the bridges, which are not shorter than the distances to the neighbours and would
     * widen the kernel of the point. */
    double scale = hd_spectral_own_scale(l->scale, a, l->neighbors->k);
    for (int32_t r = 0; r < k; r++) {
        double local = l->scale->local != NULL ? l->scale->local[index[r]] : 0;
        a[r] = huddle_graph_weight(l->scale, index[r], scale, a[r]);
        /* exp(0) on the diagonal, plus the ridge. */
        kernel[r * k + r] = 1 + o->alpha;
        for (int32_t c = 0; c < r; c++) {
            double d = hd_step_pair_distance(l->points, o->spectral.knn.metric, index[r], index[c]);
            double weight = huddle_graph_weight(l->scale, index[c], local, d);
            kernel[r * k + c] = kernel[c * k + r] = weight;
        }
    }
    solve_system(k, kernel, a);
}

/* The predictors of each point from its neighbours among the training points. */
static huddle_status learn_predictors(huddle_context *context, const hd_method_learning *learning,
                                      huddle_csr *a) {
    return hd_method_local_predictors(context, learning, learn_row, a);
}

/* ---- T ------------------------------------------------------------------------------------- */

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

/* I - T and the bound. */
static huddle_status make_matrix(huddle_context *context, const hd_method_learning *learning,
                                 huddle_csr *matrix, double *lower) {
    huddle_status status = HUDDLE_OK;
    huddle_csr a = {0}, transpose = {0};
    TRY(learn_predictors(context, learning, &a));
    TRY(huddle_csr_transpose(&a, &transpose));
    TRY(hd_step_llc_matrix(context, &a, &transpose, matrix));
    *lower = 1 - largest_row(&a) * largest_row(&transpose);
done:
    huddle_csr_free(&a);
    huddle_csr_free(&transpose);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

static const hd_method_local local = {make_matrix, learn_predictors};

static huddle_status fit_llc(hd_method_run *run, const void *options) {
    llc_options o = *(const llc_options *)options;
    return hd_method_local_fit(run, &local, &o);
}

/* New rows are predicted from the training rows around them, as these are from each other. */
static huddle_status place_llc(huddle_context *context, const hd_fit *fit, const void *options,
                               const huddle_points *x, huddle_dense *rows, int64_t *same) {
    return hd_method_local_place(context, fit, &local, options, x, rows, same);
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
