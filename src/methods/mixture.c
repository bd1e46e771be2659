/* A mixture of Gaussians, fitted by EM (Dempster, Laird and Rubin, Maximum likelihood from
 * incomplete data via the EM algorithm, Journal of the Royal Statistical Society B, 1977; the
 * number of components by the criterion of Schwarz, Estimating the dimension of a model, Annals of
 * Statistics, 1978). steps/mixture.c has the algorithm.
 *
 * Maximises sum_i log sum_k w_k N(x_i; m_k, S_k); a point belongs to the component of the largest
 * share w_k N(x_i; m_k, S_k). The publications leave the start open: EM begins with the
 * clusters of each restart of K-means, and the likeliest result is kept. They also leave open
 * what to do about the infinite likelihood of singular covariances: here no variance falls below
 * `floor`, and covariance = auto takes a form with fewer parameters where clusters have too few
 * points. */
#include "steps/mixture.h"
#include "base/check.h"
#include "base/options.h"
#include "methods/cluster.h"
#include "methods/prepare.h"
#include "methods/range.h"
#include "prepare/pca.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/prepare.h"

#include <math.h>
#include <string.h>

/* n_clusters = auto tries numbers from 1 on until so many in succession have not lowered the BIC.
 */
enum { PATIENCE = 3, MAX_AUTO = 20 };

/* With fewer points per cluster the BIC, which is an approximation for many, prefers clusters of a
 * few points that happen to lie close together. */
enum { MIN_AUTO_ROWS = 10 };

/* covariance = auto: points per entry of the mean that a covariance matrix is estimated from. */
enum { ROWS_PER_FEATURE = 4 };

/* A matrix of more features would have 800 MB. */
enum { MAX_FULL_FEATURES = 10000 };

/* Log-likelihoods of restarts that differ by less, relatively, are equal: rounding, which differs
 * between CPUs, must not decide between them. */
static const double level_likelihood = 1e-9;

typedef struct mixture_options {
    hd_step_common common;
    huddle_prepare_options prepare;
    const char *covariance;
    double floor;
    huddle_kmeans_options kmeans;
    int32_t max_iter;
    double tol;
} mixture_options;

static const huddle_option *own_table(void) {
    static const char *const covariances[] = {"auto",     "full",      "tied",
                                              "diagonal", "spherical", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(mixture_options, covariance, "auto", covariances,
                  "form of the covariances: one matrix for each cluster, one for all, variances of "
                  "the features, or one variance; auto: the first of full, tied and diagonal for "
                  "which there are enough points"),
        HD_REAL(mixture_options, floor, "1e-6", 1e-12, 1,
                "smallest variance of a cluster in any direction, relative to the mean variance of "
                "the features"),
        HD_INT(mixture_options, max_iter, "300", 1, INT32_MAX,
               "maximum number of rounds of a restart"),
        HD_REAL(mixture_options, tol, "1e-4", 0, 1e6,
                "stop when the log-likelihood of a point rises by less on average"),
        {0}};
    return table;
}

static const hd_method_rename kmeans_names[] = {
    {"n_init", "n_init", "5",
     "restarts of K-means; EM begins from each, and the likeliest result is kept"},
    {"init", "init", NULL, NULL},
    {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(mixture_options, prepare), NULL},
    {own_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(mixture_options, kmeans), kmeans_names},
    {0}};

/* What is fitted: the distinct rows of the points. */
typedef struct mixture_step {
    const mixture_options *options;
    const huddle_points *points;  /* all rows */
    const huddle_points *kept;    /* the distinct ones; points if all are */
    huddle_points taken;          /* kept, if they are fewer */
    const huddle_distinct *equal; /* whose copies they are */
    double *copies;               /* of each distinct row; NULL if all are distinct */
    int64_t n_varying;            /* columns that are not constant */
    double least;                 /* variance */
} mixture_step;

static void step_free(mixture_step *step) {
    huddle_points_free(&step->taken);
    huddle_free(step->copies);
}

/* Copies are weights: equal rows have the same shares, and computing them once is enough. */
static huddle_status take_distinct(const hd_fit_rows *rows, mixture_step *step) {
    huddle_status status = HUDDLE_OK;
    const huddle_distinct *equal = &rows->equal;
    step->kept = step->points;
    if (equal->of == NULL || equal->n != step->points->n)
        return status;
    TRY(huddle_points_take(step->points, equal->first, equal->count, &step->taken));
    ALLOC(step->copies, equal->count);
    for (int64_t k = 0; k < equal->count; k++)
        step->copies[k] = (double)equal->copies[k];
    step->kept = &step->taken;
    step->equal = equal;
done:
    return status;
}

/* The mean variance of the features is that of the points, so that the floor changes with their
 * unit. Points that are all equal have none; any will do. */
static huddle_status measure_columns(huddle_context *context, mixture_step *step) {
    huddle_status status = HUDDLE_OK;
    int64_t d = step->points->d;
    double *mean = NULL, *variance = NULL, sum = 0;
    ALLOC(mean, d);
    ALLOC(variance, d);
    TRY(huddle_points_fetch(step->points));
    TRY(hd_prepare_column_moments(context, step->points, mean, variance));
    for (int64_t j = 0; j < d; j++) {
        sum += variance[j];
        step->n_varying += variance[j] > 0;
    }
    step->least = sum > 0 ? step->options->floor * sum / (double)d : 1;
done:
    FREE(mean, variance);
    return status;
}

/* ---- one number of clusters ------------------------------------------------------------------ */

/* A matrix per cluster where each has enough points on average, one for all where all have. */
static huddle_status choose_covariance(const mixture_step *step, int32_t c,
                                       const char **covariance) {
    int64_t needed = ROWS_PER_FEATURE * step->n_varying, n = step->points->n, d = step->points->d;
    const char *asked = step->options->covariance;
    bool matrix = strcmp(asked, "full") == 0 || strcmp(asked, "tied") == 0;
    *covariance = asked;
    if (matrix && d > MAX_FULL_FEATURES)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "covariance = %s: a matrix for %lld features is too large, at most %d are "
                       "allowed; reduce the points (prepare = pca:R) or use diagonal",
                       asked, (long long)d, MAX_FULL_FEATURES);
    if (strcmp(asked, "auto") != 0)
        return HUDDLE_OK;
    *covariance = d > MAX_FULL_FEATURES ? "diagonal"
                  : n >= c * needed     ? "full"
                  : n >= needed         ? "tied"
                                        : "diagonal";
    return HUDDLE_OK;
}

/* Keeps one restart of K-means of several with the same labels. Worse ones are kept: K-means may be
 * far from the likeliest mixture, and near it only where it failed by its own objective. */
static void select_starts(int64_t n, huddle_kmeans_info *info) {
    int32_t *labels = info->start_labels, count = 0;
    for (int32_t r = 0; r < info->n_restarts; r++) {
        bool is_new = true;
        for (int32_t k = 0; k < count && is_new; k++)
            is_new = memcmp(labels + k * n, labels + r * n, (size_t)n * sizeof *labels) != 0;
        if (is_new)
            memmove(labels + count++ * n, labels + r * n, (size_t)n * sizeof *labels);
    }
    info->n_restarts = count;
}

/* The labels of K-means of the distinct rows. */
static huddle_status find_starts(hd_method_run *run, const mixture_step *step, int32_t c,
                                 huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    huddle_kmeans_result result = {0};
    huddle_kmeans_options kmeans = huddle_kmeans_defaults();
    int64_t n = step->kept->n;
    kmeans.n_clusters = c < n ? c : (int32_t)n;
    kmeans.n_init = step->options->kmeans.n_init;
    kmeans.init = step->options->kmeans.init;
    kmeans.seed = run->seed;
    kmeans.keep_starts = true;
    TRY(huddle_kmeans(run->context, step->kept, step->copies, &kmeans, &result, info));
    for (int32_t r = 0; r < info->n_restarts; r++)
        TRY(hd_fit_number_labels(run->context, n, c, info->start_labels + r * n));
    select_starts(n, info);
done:
    huddle_kmeans_result_free(&result);
    return status;
}

/* The best of several fits. */
typedef struct best_fit {
    hd_step_mixture mixture;
    huddle_alternation_info history;
    double log_likelihood;
} best_fit;

static void best_free(best_fit *best) {
    hd_step_mixture_free(&best->mixture);
    hd_fit_alternation_reset(&best->history);
}

static bool is_better(double log_likelihood, double best) {
    return !(log_likelihood <= best + level_likelihood * fabs(best));
}

/* EM from each of the starts. info, of K-means before, has the restarts of EM afterwards: their
 * negative log-likelihoods take the place of the inertias. */
static huddle_status run_restarts(hd_method_run *run, const mixture_step *step, int32_t c,
                                  const char *covariance, huddle_kmeans_info *info,
                                  best_fit *best) {
    huddle_status status = HUDDLE_OK;
    const mixture_options *o = step->options;
    hd_step_mixture_options em = {covariance, step->least, o->tol, o->max_iter};
    best_fit now = {0};
    int64_t n = step->kept->n;
    best->log_likelihood = -INFINITY;
    for (int32_t r = 0; r < info->n_restarts; r++) {
        TRY(hd_step_mixture_fit(run->context, step->kept, step->copies, c,
                                info->start_labels + r * n, &em, &now.mixture, &now.history));
        now.log_likelihood = now.history.objective[now.history.n_history - 1];
        info->inertias[r] = -now.log_likelihood;
        if (r == 0 || is_better(now.log_likelihood, best->log_likelihood)) {
            best_free(best);
            *best = now;
            memset(&now, 0, sizeof now);
            info->best = r;
        }
        best_free(&now);
    }
    info->inertia = -best->log_likelihood;
    info->n_iter = best->history.n_iter;
    info->stop = best->history.stop;
done:
    best_free(&now);
    return status;
}

static huddle_status fit_number(hd_method_run *run, const mixture_step *step, int32_t c,
                                huddle_kmeans_info *info, best_fit *best) {
    huddle_status status = HUDDLE_OK;
    const char *covariance;
    TRY(choose_covariance(step, c, &covariance));
    TRY(find_starts(run, step, c, info));
    TRY(run_restarts(run, step, c, covariance, info, best));
done:
    return status;
}

/* Of constant columns there is nothing to estimate. Copies count as observations. */
static double bayes_criterion(const mixture_step *step, const best_fit *best,
                              double *n_parameters) {
    *n_parameters =
        hd_step_mixture_parameters(best->mixture.covariance, best->mixture.c, step->n_varying);
    return *n_parameters * log((double)step->points->n) - 2 * best->log_likelihood;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Moves row k of rows x cols numbers for each of c components to row numbers[k]. */
static huddle_status renumber(int32_t c, const int32_t *numbers, int64_t length, double *values) {
    huddle_status status = HUDDLE_OK;
    double *old = NULL;
    ALLOC(old, c * length);
    memcpy(old, values, (size_t)(c * length) * sizeof *old);
    for (int32_t k = 0; k < c; k++)
        memcpy(values + numbers[k] * length, old + k * length, (size_t)length * sizeof *old);
done:
    huddle_free(old);
    return status;
}

/* hd_method_cluster() numbers clusters by first member; the components must already be in this
 * order, or their weights and covariances would belong to other clusters. */
static huddle_status number_components(huddle_context *context, int64_t n, hd_step_mixture *m,
                                       int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *numbers = NULL;
    int64_t rows, cols;
    hd_step_mixture_scales(m->covariance, m->c, m->d, &rows, &cols);
    ALLOC(numbers, m->c);
    TRY(hd_fit_order_labels(context, n, labels, m->c, numbers, NULL));
    TRY(renumber(m->c, numbers, 1, m->weights));
    TRY(renumber(m->c, numbers, m->d, m->means));
    if (strcmp(m->covariance, "tied") != 0)
        TRY(renumber(m->c, numbers, rows / m->c * cols, m->scales));
    for (int64_t i = 0; i < n; i++)
        labels[i] = numbers[labels[i]];
done:
    huddle_free(numbers);
    return status;
}

/* The means with the points' shift. A component without rows repeats the first centre, as in
 * K-means. */
static huddle_status set_centres(const mixture_step *step, const hd_step_mixture *m,
                                 huddle_dense *centres) {
    huddle_status status = HUDDLE_OK;
    const double *shift = step->points->shift;
    TRY(huddle_dense_new(m->c, m->d, centres));
    for (int32_t k = 0; k < m->c; k++)
        for (int64_t j = 0; j < m->d; j++)
            centres->values[k * m->d + j] =
                m->means[(m->weights[k] > 0 ? k : 0) * m->d + j] + (shift != NULL ? shift[j] : 0);
done:
    return status;
}

/* Labels of all rows, from those of the distinct ones. */
static huddle_status label_rows(huddle_context *context, const mixture_step *step,
                                const hd_step_mixture *m, int32_t **labels) {
    huddle_status status = HUDDLE_OK;
    int64_t n = step->points->n;
    int32_t *kept = NULL;
    ALLOC(*labels, n);
    ALLOC(kept, step->kept->n);
    TRY(hd_step_mixture_label(context, step->kept, m, kept));
    for (int64_t i = 0; i < n; i++)
        (*labels)[i] = kept[step->equal != NULL ? step->equal->of[i] : i];
done:
    huddle_free(kept);
    return status;
}

/* Labels of every restart of all rows: those of K-means, where EM began. */
static huddle_status keep_starts(const hd_method_run *run, const mixture_step *step,
                                 huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    int64_t n = step->points->n, n_kept = step->kept->n;
    int32_t *all = NULL;
    if (run->job->keep_starts)
        ALLOC(all, info->n_restarts * n);
    for (int64_t r = 0; r < info->n_restarts && all != NULL; r++)
        for (int64_t i = 0; i < n; i++)
            all[r * n + i] =
                info->start_labels[r * n_kept + (step->equal != NULL ? step->equal->of[i] : i)];
    huddle_free(info->start_labels);
    info->start_labels = all;
done:
    return status;
}

/* What a user should know about the covariances. */
static void report(const hd_method_run *run, const mixture_step *step, const hd_step_mixture *m) {
    double least = 1;
    int64_t n = step->points->n;
    const char *asked = step->options->covariance;
    for (int32_t k = 0; k < m->c; k++)
        least = m->weights[k] > 0 ? fmin(least, m->weights[k]) : least;
    if (strcmp(asked, "auto") == 0)
        hd_log(
            run->context,
            "mixture: %s covariances, for %lld points in %d clusters and %lld features that vary",
            m->covariance, (long long)n, m->c, (long long)step->n_varying);
    if (strcmp(m->covariance, "full") == 0 && least * (double)n <= (double)step->n_varying)
        hd_warn(run->context, HUDDLE_WARNING_SINGULAR,
                "covariance = full: a cluster has only %.0f of the more than %lld points that its "
                "matrix needs; its variances were limited by floor = %g, and it may follow "
                "single points",
                least * (double)n, (long long)step->n_varying, step->options->floor);
}

/* The parameters become the fit's. */
static huddle_status set_mixture(const mixture_step *step, best_fit *best, hd_fit_mixture *to) {
    hd_step_mixture *m = &best->mixture;
    hd_fit_mixture_free(to);
    to->covariance = m->covariance;
    to->is_chosen = strcmp(step->options->covariance, "auto") == 0;
    to->log_likelihood = best->log_likelihood;
    to->bic = bayes_criterion(step, best, &to->n_parameters);
    to->n_floored = m->n_floored;
    to->weights = m->weights;
    m->weights = NULL;
    hd_step_mixture_scales(m->covariance, m->c, m->d, &to->scales.rows, &to->scales.cols);
    to->scales.stride = to->scales.cols;
    to->scales.values = m->scales;
    m->scales = NULL;
    return HUDDLE_OK;
}

static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const mixture_step *step = argument;
    hd_fit *fit = run->fit;
    hd_fit_clusters made = {.n_clusters = n_clusters};
    best_fit best = {0};
    hd_stage before = hd_stage_enter(run->context, HD_STAGE_KMEANS);
    TRY(fit_number(run, step, n_clusters, &made.kmeans, &best));
    TRY(label_rows(run->context, step, &best.mixture, &made.labels));
    TRY(number_components(run->context, step->points->n, &best.mixture, made.labels));
    TRY(set_centres(step, &best.mixture, &made.centres));
    TRY(keep_starts(run, step, &made.kmeans));
    report(run, step, &best.mixture);
    made.alternation = best.history;
    memset(&best.history, 0, sizeof best.history);
    hd_fit_clusters_free(&fit->clusters);
    fit->clusters = made;
    memset(&made, 0, sizeof made);
    TRY(set_mixture(step, &best, &fit->mixture));
    TRY(hd_step_medoids_of_points(run->context, step->points, NULL, step->points->n,
                                  &fit->clusters));
done:
    hd_stage_leave(run->context, before);
    hd_fit_clusters_free(&made);
    best_free(&best);
    return status;
}

/* ---- the number of clusters ------------------------------------------------------------------ */

static bool is_candidate(const huddle_embed_choice *choice, int32_t number) {
    for (int32_t k = 0; k < choice->count; k++)
        if (choice->candidates[k] == number)
            return true;
    return false;
}

/* Up to five numbers, those of the smallest BIC first. */
static void rank_numbers(hd_fit_trials *trials) {
    huddle_embed_choice *choice = &trials->choice;
    enum { MAX_CANDIDATES = sizeof choice->scores / sizeof *choice->scores };
    memset(choice, 0, sizeof *choice);
    while (choice->count < MAX_CANDIDATES && choice->count < trials->count) {
        const huddle_trial *best = trials->items, *end = best + trials->count;
        while (is_candidate(choice, best->n_clusters)) /* fewer are taken than there are trials */
            best++;
        for (const huddle_trial *trial = best + 1; trial < end; trial++)
            if (trial->bic < best->bic && !is_candidate(choice, trial->n_clusters))
                best = trial;
        choice->candidates[choice->count] = best->n_clusters;
        choice->scores[choice->count++] = best->bic;
    }
}

static huddle_status try_numbers(hd_method_run *run, const mixture_step *step) {
    huddle_status status = HUDDLE_OK;
    hd_fit_trials *trials = &run->fit->trials;
    int64_t last = step->kept->n / MIN_AUTO_ROWS;
    huddle_kmeans_info info = {0};
    best_fit best = {0};
    double unused;
    last = last > MAX_AUTO ? MAX_AUTO : last > 1 ? last : 1;
    ALLOC_ZERO(trials->items, last);
    for (int32_t c = 1; c <= last; c++) {
        TRY(hd_progress(run->context, "range", c - 1, (double)last));
        best_free(&best);
        huddle_kmeans_info_free(&info);
        TRY(fit_number(run, step, c, &info, &best));
        trials->items[trials->count++] = (huddle_trial){c,   -best.log_likelihood,
                                                        NAN, NAN,
                                                        NAN, NAN,
                                                        NAN, NAN,
                                                        NAN, bayes_criterion(step, &best, &unused)};
        if (c - 1 - hd_method_best_bic(trials->count, trials->items) >= PATIENCE)
            break;
    }
    rank_numbers(trials);
    run->n_clusters = (huddle_range){trials->choice.candidates[0], trials->choice.candidates[0]};
done:
    best_free(&best);
    huddle_kmeans_info_free(&info);
    return status;
}

static huddle_status choose_number(hd_method_run *run, const mixture_step *step) {
    huddle_status status = HUDDLE_OK;
    if (run->n_clusters.first != HUDDLE_AUTO)
        return status;
    TRY_SILENT(run->context, try_numbers(run, step));
done:
    return status;
}

/* ---- the method --------------------------------------------------------------------------------
 */

static huddle_status fit_mixture(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    huddle_points points;
    mixture_step step = {.options = options, .points = &points};
    hd_method_clustering how = {.cluster = cluster, .argument = &step, .points = &points};
    TRY(hd_method_prepare(run, &step.options->prepare, NULL, false, &points));
    TRY(measure_columns(run->context, &step));
    TRY(take_distinct(&run->fit->rows, &step));
    TRY_STAGE(run->context, HD_STAGE_CHOOSE, choose_number(run, &step));
    TRY(hd_method_cluster(run, &how));
    hd_step_warn_few_distinct(run->context, &run->fit->clusters);
    if (run->fit->clusters.alternation.stop == HUDDLE_STOP_MAX_ITER)
        hd_warn(run->context, HUDDLE_WARNING_NOT_CONVERGED,
                "EM has not converged after %d rounds (max_iter)",
                run->fit->clusters.alternation.n_iter);
done:
    step_free(&step);
    return status;
}

/* The component of the largest share, as for the points of the fit. */
static huddle_status predict_mixture(huddle_context *context, const hd_fit *fit,
                                     const void *options, const huddle_points *x, int32_t *labels) {
    (void)options;
    huddle_status status = HUDDLE_OK;
    huddle_points owned = {0}, view;
    const hd_fit_mixture *m = &fit->mixture;
    const huddle_dense *centres = &fit->clusters.centres;
    double *means = NULL, *norms = NULL;
    if (m->covariance == NULL)
        FAIL(HUDDLE_FORMAT, "the model file is damaged: a mixture without covariances");
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(hd_step_stored_centres(&view, centres, &means, &norms));
    hd_step_mixture mixture = {m->covariance,
                               fit->clusters.n_clusters,
                               centres->cols,
                               m->weights,
                               means,
                               m->scales.values,
                               0};
    TRY(hd_step_mixture_label(context, &view, &mixture, labels));
done:
    FREE(means, norms);
    huddle_points_free(&owned);
    return status;
}

/* Besides the points and K-means: the shares, and the covariances of two restarts. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const mixture_options *o = options;
    int64_t c = x->n_clusters, rows, cols;
    bool small = strcmp(o->covariance, "diagonal") == 0 || strcmp(o->covariance, "spherical") == 0;
    small = small || (strcmp(o->covariance, "auto") == 0 && x->n < ROWS_PER_FEATURE * x->d);
    hd_step_mixture_scales(small ? "diagonal" : "full", (int32_t)c, x->d, &rows, &cols);
    hd_decide_memory_of_points(x, options, needed);
    needed->stages[HD_STAGE_KMEANS] +=
        (int64_t)sizeof(double) * (x->n * (c + 1) + 2 * rows * cols) +
        (int64_t)sizeof(int32_t) * x->n * o->kmeans.n_init;
}

const hd_method hd_method_mixture = {
    .text = {"mixture", "mixture of Gaussians",
             "Fits a mixture of Gaussians by EM from the clusters of K-means; a point belongs to "
             "the component that most likely generated it. n_clusters = auto and ranges are "
             "chosen by the Bayesian information criterion."},
    .options_size = sizeof(mixture_options),
    .sections = sections,
    .fit = fit_mixture,
    .predict = predict_mixture,
    .memory = {.predict = predict_memory}};
