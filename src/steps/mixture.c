/* EM for a mixture of Gaussians (Dempster, Laird and Rubin, Maximum likelihood from incomplete data
 * via the EM algorithm, Journal of the Royal Statistical Society B, 1977).
 *
 * The E step computes for every row the share r_ik of each component, the M step the weights, means
 * and covariances that maximise the likelihood of rows shared in this way. Both work on blocks of
 * rows and are products with matrices.
 *
 * The likelihood has no maximum: a component that shrinks to one row, or to a plane through few,
 * makes it infinite. Covariances are therefore restricted to those with no variance below a
 * positive number, in any direction. Of these the likeliest has the eigenvectors of the scatter,
 * and its eigenvalues raised to that number, so that the M step stays a maximum and the likelihood
 * never falls. (Adding a number to the diagonal, as is common, changes all covariances and can make
 * it fall.) */
#include "steps/mixture.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* A block of rows as doubles, of about 512 kB, stays in the second level of cache. */
enum { BLOCK_ENTRIES = 1 << 16, MAX_BLOCK_ROWS = 256, MIN_BLOCK_ROWS = 8 };

/* Sums over rows are made in at most this many parts, whose sums are added in their order: the
 * number must not depend on the threads. */
enum { MAX_PARTS = 16 };

/* Smaller shares of a row become 0: all of them together are below the rounding error of the
 * others, and rows without a share of a component need not be looked at when its scatter is summed.
 */
static const double least_share = 1e-30;

static const double log_2_pi = 1.8378770664093454836;

void hd_step_mixture_scales(const char *covariance, int32_t c, int64_t d, int64_t *rows,
                            int64_t *cols) {
    bool full = strcmp(covariance, "full") == 0, tied = strcmp(covariance, "tied") == 0;
    *rows = full ? c * d : tied ? d : c;
    *cols = strcmp(covariance, "spherical") == 0 ? 1 : d;
}

/* Weights, which add up to 1, means, and the free entries of the covariances. */
double hd_step_mixture_parameters(const char *covariance, int32_t c, int64_t d) {
    double triangle = (double)d * (double)(d + 1) / 2, own = c - 1 + (double)c * (double)d;
    if (strcmp(covariance, "full") == 0)
        return own + c * triangle;
    if (strcmp(covariance, "tied") == 0)
        return own + triangle;
    return own + (strcmp(covariance, "diagonal") == 0 ? (double)c * (double)d : c);
}

void hd_step_mixture_free(hd_step_mixture *mixture) {
    FREE(mixture->weights, mixture->means, mixture->scales);
    memset(mixture, 0, sizeof *mixture);
}

/* ---- rows and densities -------------------------------------------------------------------- */

/* What both steps read and write. */
typedef struct em {
    const huddle_points *points;
    const double *copies;
    hd_step_mixture *m;
    double least;
    bool triangular; /* B is a lower triangle */
    int64_t block;   /* rows */
    double *scratch; /* for each worker two blocks and the shares of one */
    double *offset;  /* c: log density of a row at the mean, plus the log weight */
    double *shares;  /* n x c: r_ik times the copies of the row; or NULL */
    double *sums;    /* of log-likelihoods, one for each block */
    int32_t *labels; /* or NULL */
} em;

static int64_t scratch_size(const em *e) {
    return e->block * (2 * e->m->d + e->m->c);
}

static double *scratch_of(const em *e, int32_t worker) {
    return e->scratch + worker * scratch_size(e);
}

static huddle_status begin(huddle_context *context, em *e) {
    huddle_status status = HUDDLE_OK;
    int64_t d = e->m->d, rows = d > 0 ? BLOCK_ENTRIES / d : MAX_BLOCK_ROWS;
    rows = rows < MAX_BLOCK_ROWS ? rows : MAX_BLOCK_ROWS;
    e->block = rows > MIN_BLOCK_ROWS ? rows : MIN_BLOCK_ROWS;
    e->triangular = strcmp(e->m->covariance, "full") == 0 || strcmp(e->m->covariance, "tied") == 0;
    TRY(huddle_points_fetch(e->points));
    ALLOC(e->scratch, hd_workers(context) * scratch_size(e));
    ALLOC(e->offset, e->m->c);
    ALLOC(e->sums, hd_chunks(e->points->n, e->block));
done:
    return status;
}

static void end(em *e) {
    FREE(e->scratch, e->offset, e->sums, e->shares);
}

/* Row i as doubles, without the points' shift. */
static void load_row(const huddle_points *x, int64_t i, double *to) {
    if (x->offsets == NULL) {
        for (int64_t j = 0; j < x->d; j++)
            to[j] = (double)x->values[i * x->stride + j];
        return;
    }
    memset(to, 0, (size_t)x->d * sizeof *to);
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
        to[x->columns[e]] = (double)x->values[e];
}

/* B of component k. */
static double *scale_of(const hd_step_mixture *m, int32_t k) {
    int64_t rows, cols;
    hd_step_mixture_scales(m->covariance, m->c, m->d, &rows, &cols);
    return strcmp(m->covariance, "tied") == 0 ? m->scales : m->scales + k * (rows / m->c) * cols;
}

/* offset[k] = log w_k - (d log 2 pi - log det B'B) / 2; minus infinity for a component without
 * rows, so that its share is 0. */
static void set_offsets(em *e) {
    const hd_step_mixture *m = e->m;
    int64_t step = e->triangular ? m->d + 1 : strcmp(m->covariance, "spherical") == 0 ? 0 : 1;
    for (int32_t k = 0; k < m->c; k++) {
        const double *b = scale_of(m, k);
        double sum = log(m->weights[k]) - (double)m->d / 2 * log_2_pi;
        for (int64_t j = 0; j < m->d && m->weights[k] > 0; j++)
            sum += log(b[j * step]);
        e->offset[k] = sum;
    }
}

/* white = (rows - m_k) B', whose squared norms are the squared distances of Mahalanobis. */
static void whiten(const em *e, int32_t k, int64_t count, const double *rows, double *white) {
    const hd_step_mixture *m = e->m;
    const double *mean = m->means + k * m->d, *b = scale_of(m, k);
    bool spherical = strcmp(m->covariance, "spherical") == 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m->d; j++)
            white[i * m->d + j] = rows[i * m->d + j] - mean[j];
    if (e->triangular) {
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)count,
                    (int)m->d, 1, b, (int)m->d, white, (int)m->d);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m->d; j++)
            white[i * m->d + j] *= b[spherical ? 0 : j];
}

/* logs (count x c): the log of weight times density of each component. */
static void measure_rows(const em *e, hd_chunk chunk, double *logs) {
    const hd_step_mixture *m = e->m;
    int64_t count = chunk.end - chunk.begin;
    double *rows = scratch_of(e, chunk.worker), *white = rows + e->block * m->d;
    for (int64_t i = 0; i < count; i++)
        load_row(e->points, chunk.begin + i, rows + i * m->d);
    for (int32_t k = 0; k < m->c; k++) {
        if (m->weights[k] > 0)
            whiten(e, k, count, rows, white);
        for (int64_t i = 0; i < count; i++) {
            const double *y = white + i * m->d;
            double square = m->weights[k] > 0 ? cblas_ddot((int)m->d, y, 1, y, 1) : 0;
            logs[i * m->c + k] = e->offset[k] - square / 2;
        }
    }
}

/* ---- E step -------------------------------------------------------------------------------- */

/* Turns the logs of a row into shares and returns the log of their sum. The largest is taken out
 * first, so that no exponential overflows and not all of them become 0. */
static double share_row(int32_t c, double *logs) {
    double largest = logs[0], sum;
    for (int32_t k = 1; k < c; k++)
        largest = fmax(largest, logs[k]);
    sum = logs[0] = exp(logs[0] - largest);
    for (int32_t k = 1; k < c; k++)
        sum += logs[k] = exp(logs[k] - largest);
    for (int32_t k = 0; k < c; k++) {
        double share = logs[k] / sum;
        logs[k] = share < least_share ? 0 : share;
    }
    return largest + log(sum);
}

static int32_t largest_of(int32_t c, const double *logs) {
    int32_t best = 0;
    for (int32_t k = 1; k < c; k++)
        best = logs[k] > logs[best] ? k : best;
    return best;
}

static huddle_status expect_rows(void *argument, hd_chunk chunk) {
    const em *e = argument;
    int32_t c = e->m->c;
    double *logs = scratch_of(e, chunk.worker) + 2 * e->block * e->m->d, sum = 0;
    measure_rows(e, chunk, logs);
    for (int64_t i = chunk.begin; i < chunk.end; i++, logs += c) {
        double copies = e->copies != NULL ? e->copies[i] : 1;
        if (e->labels != NULL)
            e->labels[i] = largest_of(c, logs);
        sum += copies * share_row(c, logs);
        for (int32_t k = 0; k < c && e->shares != NULL; k++)
            e->shares[i * c + k] = copies * logs[k];
    }
    e->sums[chunk.index] = sum;
    return HUDDLE_OK;
}

/* Shares and labels, where wanted, and the log-likelihood. */
static huddle_status expect(huddle_context *context, em *e, double *log_likelihood) {
    huddle_status status = HUDDLE_OK;
    int64_t n = e->points->n;
    set_offsets(e);
    TRY(hd_parallel(context, NULL, n, e->block, expect_rows, e));
    *log_likelihood = 0;
    for (int64_t b = 0; b < hd_chunks(n, e->block); b++)
        *log_likelihood += e->sums[b];
done:
    return status;
}

huddle_status hd_step_mixture_label(huddle_context *context, const huddle_points *points,
                                    const hd_step_mixture *mixture, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_step_mixture view = *mixture;
    em e = {.points = points, .m = &view, .labels = labels};
    double unused;
    hd_blas_enter();
    TRY(begin(context, &e));
    TRY(expect(context, &e, &unused));
done:
    hd_blas_leave();
    end(&e);
    return status;
}

/* ---- M step: weights and means --------------------------------------------------------------- */

/* Sums over the rows of a part: c x d of shares times rows, then c of shares. */
typedef struct mean_sums {
    const em *e;
    double *sums;
} mean_sums;

static huddle_status sum_means(void *argument, hd_chunk chunk) {
    const mean_sums *s = argument;
    const em *e = s->e;
    int64_t d = e->m->d, c = e->m->c;
    double *sums = s->sums + chunk.index * c * (d + 1), *rows = scratch_of(e, chunk.worker);
    for (int64_t first = chunk.begin; first < chunk.end; first += e->block) {
        int64_t count = chunk.end - first < e->block ? chunk.end - first : e->block;
        const double *shares = e->shares + first * c;
        for (int64_t i = 0; i < count; i++)
            load_row(e->points, first + i, rows + i * d);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)c, (int)d, (int)count, 1, shares,
                    (int)c, rows, (int)d, 1, sums, (int)d);
        for (int64_t i = 0; i < count * c; i++)
            sums[c * d + i % c] += shares[i];
    }
    return HUDDLE_OK;
}

/* Weights are sizes until the scatters are divided by them. A component without rows keeps its
 * mean, which is not used. */
static huddle_status find_means(huddle_context *context, em *e) {
    huddle_status status = HUDDLE_OK;
    hd_step_mixture *m = e->m;
    int64_t n = e->points->n, d = m->d, c = m->c, length = c * (d + 1);
    int64_t grain = (n + MAX_PARTS - 1) / MAX_PARTS, parts;
    mean_sums s = {.e = e};
    grain = grain > e->block ? grain : e->block;
    parts = hd_chunks(n, grain);
    ALLOC_ZERO(s.sums, parts * length);
    TRY(hd_parallel(context, NULL, n, grain, sum_means, &s));
    for (int64_t part = 1; part < parts; part++)
        cblas_daxpy((int)length, 1, s.sums + part * length, 1, s.sums, 1);
    for (int64_t k = 0; k < c; k++) {
        m->weights[k] = s.sums[c * d + k];
        for (int64_t j = 0; j < d && m->weights[k] > 0; j++)
            m->means[k * d + j] = s.sums[k * d + j] / m->weights[k];
    }
done:
    huddle_free(s.sums);
    return status;
}

/* ---- M step: covariances --------------------------------------------------------------------- */

/* Replaces the eigenvalues of s (lower triangle) that are below the least by it. */
static huddle_status raise_variances(int64_t d, double least, double *s) {
    huddle_status status = HUDDLE_OK;
    double *vectors = NULL, *variances = NULL;
    ALLOC(vectors, d * d);
    ALLOC(variances, d);
    memcpy(vectors, s, (size_t)(d * d) * sizeof *vectors);
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'L', (int)d, vectors, (int)d, variances) != 0)
        FAIL(HUDDLE_NUMERIC, "the eigensolver failed on a covariance of %lld features",
             (long long)d);
    for (int64_t j = 0; j < d; j++)
        cblas_dscal((int)d, sqrt(fmax(variances[j], least)), vectors + j, (int)d);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)d, (int)d, 1, vectors, (int)d, 0, s,
                (int)d);
done:
    FREE(vectors, variances);
    return status;
}

/* A covariance becomes B, the inverse of its Cholesky factor. That s - least I has a factor shows
 * that no variance is below the least, at a fraction of the cost of all eigenvalues. */
static huddle_status invert_full(int64_t d, double least, double *s, bool *is_floored) {
    huddle_status status = HUDDLE_OK;
    double *reduced = NULL;
    ALLOC(reduced, d * d);
    memcpy(reduced, s, (size_t)(d * d) * sizeof *reduced);
    for (int64_t j = 0; j < d; j++)
        reduced[j * d + j] -= least;
    *is_floored = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)d, reduced, (int)d) != 0;
    if (*is_floored)
        TRY(raise_variances(d, least, s));
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)d, s, (int)d) != 0 ||
        LAPACKE_dtrtri(LAPACK_ROW_MAJOR, 'L', 'N', (int)d, s, (int)d) != 0)
        FAIL(HUDDLE_NUMERIC, "a covariance of %lld features cannot be factored", (long long)d);
done:
    huddle_free(reduced);
    return status;
}

/* The same for variances of columns. */
static void invert_diagonal(int64_t d, double least, double *s, bool *is_floored) {
    *is_floored = false;
    for (int64_t j = 0; j < d; j++) {
        *is_floored = *is_floored || s[j] < least;
        s[j] = 1 / sqrt(fmax(s[j], least));
    }
}

/* The scatters of all components: c matrices, or c rows of the scatters of columns. */
typedef struct scatters {
    const em *e;
    huddle_context *context;
    double *values;
    int64_t length; /* of one */
    bool *is_floored;
} scatters;

/* Adds a block of centred rows, each times the root of its share. */
static void add_block(const em *e, int64_t count, const double *rows, double *sum) {
    int64_t d = e->m->d;
    if (e->triangular) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)count, 1, rows, (int)d, 1,
                    sum, (int)d);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < d; j++)
            sum[j] += rows[i * d + j] * rows[i * d + j];
}

/* The scatter of component k, around its new mean: only so is it accurate if the component is small
 * and far from the origin. */
static huddle_status sum_scatter(const scatters *s, int32_t k, double *rows, double *sum) {
    huddle_status status = HUDDLE_OK;
    const em *e = s->e;
    const double *mean = e->m->means + k * e->m->d;
    int64_t d = e->m->d, count = 0;
    for (int64_t i = 0; i < e->points->n; i++) {
        double root = sqrt(e->shares[i * e->m->c + k]), *row = rows + count * d;
        if (root == 0)
            continue;
        load_row(e->points, i, row);
        for (int64_t j = 0; j < d; j++)
            row[j] = root * (row[j] - mean[j]);
        if (++count == e->block) {
            add_block(e, e->block, rows, sum);
            count = 0;
            TRY(hd_check_cancel(s->context));
        }
    }
    add_block(e, count, rows, sum);
done:
    return status;
}

/* The average of the variances takes the place of each where there is only one. */
static huddle_status find_scatter(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    const scatters *s = argument;
    hd_step_mixture *m = s->e->m;
    int32_t k = (int32_t)chunk.begin;
    double *sum = s->values + k * s->length, mean = 0;
    if (m->weights[k] == 0)
        return status;
    TRY(sum_scatter(s, k, scratch_of(s->e, chunk.worker), sum));
    if (strcmp(m->covariance, "tied") == 0)
        return status;
    cblas_dscal((int)s->length, 1 / m->weights[k], sum, 1);
    if (strcmp(m->covariance, "full") == 0) {
        TRY(invert_full(m->d, s->e->least, sum, &s->is_floored[k]));
    } else if (strcmp(m->covariance, "diagonal") == 0) {
        invert_diagonal(m->d, s->e->least, sum, &s->is_floored[k]);
    } else {
        for (int64_t j = 0; j < m->d; j++)
            mean += sum[j] / (double)m->d;
        invert_diagonal(1, s->e->least, &mean, &s->is_floored[k]);
        m->scales[k] = mean;
    }
done:
    return status;
}

/* Components are summed by different threads, each of them in the order of the rows. */
static huddle_status find_covariances(huddle_context *context, em *e) {
    huddle_status status = HUDDLE_OK;
    hd_step_mixture *m = e->m;
    int64_t d = m->d, rows, cols;
    bool tied = strcmp(m->covariance, "tied") == 0;
    scatters s = {.e = e, .context = context, .length = e->triangular ? d * d : d};
    double total = 0;
    hd_step_mixture_scales(m->covariance, m->c, d, &rows, &cols);
    bool in_place = rows * cols == m->c * s.length && !tied; /* tied with one component is a copy */
    ALLOC_ZERO(s.is_floored, m->c);
    s.values = m->scales;
    if (!in_place)
        ALLOC(s.values, m->c * s.length);
    memset(s.values, 0, (size_t)(m->c * s.length) * sizeof *s.values);
    TRY(hd_parallel(context, NULL, m->c, 1, find_scatter, &s));
    for (int32_t k = 0; k < m->c; k++)
        total += m->weights[k];
    if (tied) {
        for (int32_t k = 1; k < m->c; k++)
            cblas_daxpy((int)s.length, 1, s.values + k * s.length, 1, s.values, 1);
        cblas_dscal((int)s.length, 1 / total, s.values, 1);
        memcpy(m->scales, s.values, (size_t)s.length * sizeof *m->scales);
        TRY(invert_full(d, e->least, m->scales, &s.is_floored[0]));
    }
    m->n_floored = 0;
    for (int32_t k = 0; k < m->c; k++) {
        m->n_floored += s.is_floored[k];
        m->weights[k] /= total;
    }
done:
    if (s.values != m->scales)
        huddle_free(s.values);
    huddle_free(s.is_floored);
    return status;
}

static huddle_status maximise(huddle_context *context, em *e) {
    huddle_status status = find_means(context, e);
    return status == HUDDLE_OK ? find_covariances(context, e) : status;
}

/* ---- EM ------------------------------------------------------------------------------------ */

/* Allocates the parameters, and the shares of labels: 1 for the component of a row. */
static huddle_status begin_shares(em *e, int32_t c, const int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    hd_step_mixture *m = e->m;
    int64_t n = e->points->n, rows, cols;
    hd_step_mixture_scales(m->covariance, c, m->d, &rows, &cols);
    ALLOC_ZERO(m->weights, c);
    ALLOC_ZERO(m->means, c * m->d);
    ALLOC_ZERO(m->scales, rows * cols);
    ALLOC_ZERO(e->shares, n * c);
    for (int64_t i = 0; i < n; i++)
        e->shares[i * c + labels[i]] = e->copies != NULL ? e->copies[i] : 1;
done:
    return status;
}

/* Rounds until the likelihood hardly rises; rounding may make it fall by as little. */
static huddle_status alternate(huddle_context *context, em *e,
                               const hd_step_mixture_options *options,
                               huddle_alternation_info *history) {
    huddle_status status = HUDDLE_OK;
    double before, now, total = 0;
    for (int64_t i = 0; i < e->points->n; i++)
        total += e->copies != NULL ? e->copies[i] : 1;
    hd_fit_alternation_reset(history);
    history->stop = HUDDLE_STOP_MAX_ITER;
    TRY(maximise(context, e));
    TRY(expect(context, e, &before));
    TRY(hd_fit_alternation_add(history, before));
    for (int32_t round = 0; round < options->max_iter; round++, before = now) {
        TRY(hd_progress(context, "mixture", round, options->max_iter));
        TRY(maximise(context, e));
        TRY(expect(context, e, &now));
        TRY(hd_fit_alternation_add(history, now));
        if (now - before <= options->tol * total) {
            history->stop = HUDDLE_STOP_CONVERGED;
            break;
        }
    }
done:
    return status;
}

huddle_status hd_step_mixture_fit(huddle_context *context, const huddle_points *points,
                                  const double *copies, int32_t c, const int32_t *labels,
                                  const hd_step_mixture_options *options, hd_step_mixture *mixture,
                                  huddle_alternation_info *history) {
    huddle_status status = HUDDLE_OK;
    em e = {.points = points, .copies = copies, .m = mixture, .least = options->least};
    *mixture = (hd_step_mixture){.covariance = options->covariance, .c = c, .d = points->d};
    hd_blas_enter();
    TRY(begin(context, &e));
    TRY(begin_shares(&e, c, labels));
    TRY(alternate(context, &e, options, history));
done:
    hd_blas_leave();
    end(&e);
    return status;
}
