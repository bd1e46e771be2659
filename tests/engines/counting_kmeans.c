/* Lloyd's iteration, each restart the best of several random starts. */
#include "engines/counting.h"

#include "base/check.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

/* Starts that each restart tries: on separated clusters one of them is sure to hit them all. */
enum { N_TRIES = 20 };

typedef struct data {
    int64_t n, d;
    int32_t c;
    double *rows;
    const double *weights; /* or NULL */
} data;

/* One clustering. */
typedef struct clustering {
    double *centres; /* c x d */
    int32_t *labels;
    double inertia;
    int32_t n_iter;
} clustering;

static double weight_of(const data *x, int64_t i) {
    return x->weights != NULL ? x->weights[i] : 1;
}

static huddle_status take_rows(const huddle_points *points, data *x) {
    huddle_status status = HUDDLE_OK;
    x->n = points->n;
    x->d = points->d;
    ALLOC(x->rows, x->n * x->d);
    for (int64_t i = 0; i < x->n; i++)
        counting_row(points, i, x->rows + i * x->d);
done:
    return status;
}

static int32_t nearest_centre(const double *row, const double *centres, int32_t c, int64_t d,
                              double *distance) {
    int32_t nearest = 0;
    *distance = INFINITY;
    for (int32_t k = 0; k < c; k++) {
        double to = counting_distance(row, centres + k * d, d);
        if (to < *distance) {
            *distance = to;
            nearest = k;
        }
    }
    return nearest;
}

/* The row farthest from its centre: where an empty cluster begins again. */
static int64_t farthest_row(const data *x, const clustering *k) {
    int64_t farthest = 0;
    double most = -1;
    for (int64_t i = 0; i < x->n; i++) {
        double d = counting_distance(x->rows + i * x->d, k->centres + k->labels[i] * x->d, x->d);
        if (d > most) {
            most = d;
            farthest = i;
        }
    }
    return farthest;
}

static void move_centres(const data *x, clustering *k) {
    for (int32_t q = 0; q < x->c; q++) {
        double mass = 0, *centre = k->centres + q * x->d;
        for (int64_t i = 0; i < x->n; i++)
            mass += k->labels[i] == q ? weight_of(x, i) : 0;
        if (mass == 0) {
            memcpy(centre, x->rows + farthest_row(x, k) * x->d, (size_t)x->d * sizeof(double));
            continue;
        }
        memset(centre, 0, (size_t)x->d * sizeof(double));
        for (int64_t i = 0; i < x->n; i++)
            for (int64_t j = 0; j < x->d && k->labels[i] == q; j++)
                centre[j] += weight_of(x, i) / mass * x->rows[i * x->d + j];
    }
}

/* Labels of the present centres and their inertia; true if a label changed. */
static bool assign(const data *x, clustering *k) {
    bool changed = false;
    k->inertia = 0;
    for (int64_t i = 0; i < x->n; i++) {
        double d;
        int32_t label = nearest_centre(x->rows + i * x->d, k->centres, x->c, x->d, &d);
        changed = changed || label != k->labels[i];
        k->labels[i] = label;
        k->inertia += weight_of(x, i) * d * d;
    }
    return changed;
}

static void iterate(const data *x, int32_t max_iter, clustering *k) {
    for (int64_t i = 0; i < x->n; i++)
        k->labels[i] = -1;
    (void)assign(x, k);
    for (k->n_iter = 1; k->n_iter < max_iter; k->n_iter++) {
        move_centres(x, k);
        if (!assign(x, k))
            return;
    }
}

/* Each centre a row drawn in proportion to the squared distance from those before. */
static void draw_centres(const data *x, hd_rng *rng, double *centres) {
    for (int32_t q = 0; q < x->c; q++) {
        double sum = 0, d;
        int64_t chosen = hd_rng_below(rng, x->n);
        for (int64_t i = 0; i < x->n && q > 0; i++) {
            (void)nearest_centre(x->rows + i * x->d, centres, q, x->d, &d);
            sum += d * d;
            if (hd_rng_uniform(rng) * sum < d * d)
                chosen = i;
        }
        memcpy(centres + q * x->d, x->rows + chosen * x->d, (size_t)x->d * sizeof(double));
    }
}

static huddle_status clustering_new(const data *x, clustering *k) {
    huddle_status status = HUDDLE_OK;
    ALLOC(k->centres, x->c * x->d);
    ALLOC(k->labels, x->n);
    k->inertia = INFINITY;
done:
    return status;
}

static void clustering_free(clustering *k) {
    huddle_free(k->centres);
    huddle_free(k->labels);
}

static void keep_better(const data *x, const clustering *tried, clustering *best) {
    if (tried->inertia >= best->inertia)
        return;
    memcpy(best->centres, tried->centres, (size_t)(x->c * x->d) * sizeof(double));
    memcpy(best->labels, tried->labels, (size_t)x->n * sizeof(int32_t));
    best->inertia = tried->inertia;
    best->n_iter = tried->n_iter;
}

/* One restart: from the given centres, or the best of several draws. */
static huddle_status run_restart(huddle_context *context, const data *x,
                                 const huddle_kmeans_options *options, int32_t r,
                                 clustering *best) {
    huddle_status status = HUDDLE_OK;
    clustering tried = {0};
    TRY(clustering_new(x, &tried));
    best->inertia = INFINITY;
    for (int try = 0; try < (options->start != NULL ? 1 : N_TRIES); try++) {
        hd_rng rng = hd_rng_stream(options->seed + 77, (uint64_t)(r * N_TRIES + try));
        if (options->start != NULL) {
            huddle_dense start;
            TRY(counting_dense(context, options->start, &start));
            for (int32_t q = 0; q < x->c; q++)
                memcpy(tried.centres + q * x->d, start.values + (r * x->c + q) * start.stride,
                       (size_t)x->d * sizeof(double));
        } else {
            draw_centres(x, &rng, tried.centres);
        }
        iterate(x, options->max_iter, &tried);
        keep_better(x, &tried, best);
    }
done:
    clustering_free(&tried);
    return status;
}

static huddle_status run_restarts(huddle_context *context, const data *x,
                                  const huddle_kmeans_options *options, clustering *best,
                                  huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    clustering k = {0};
    TRY(clustering_new(x, &k));
    info->n_restarts = x->c == 1                ? 1
                       : options->start != NULL ? (int32_t)(options->start->rows / x->c)
                                                : options->n_init;
    ALLOC(info->inertias, info->n_restarts);
    if (options->keep_starts)
        ALLOC(info->start_labels, info->n_restarts * x->n);
    for (int32_t r = 0; r < info->n_restarts; r++) {
        TRY(run_restart(context, x, options, r, &k));
        info->inertias[r] = k.inertia;
        if (options->keep_starts)
            memcpy(info->start_labels + r * x->n, k.labels, (size_t)x->n * sizeof(int32_t));
        if (k.inertia < best->inertia)
            info->best = r;
        keep_better(x, &k, best);
    }
    info->inertia = best->inertia;
    info->n_iter = best->n_iter;
    info->stop = HUDDLE_STOP_CONVERGED;
done:
    clustering_free(&k);
    return status;
}

/* The number of different rows, up to a limit. */
static int32_t count_distinct(const data *x, int32_t limit) {
    int32_t count = 0;
    for (int64_t i = 0; i < x->n && count < limit; i++) {
        int64_t same = 0;
        while (same < i && counting_distance(x->rows + same * x->d, x->rows + i * x->d, x->d) > 0)
            same++;
        count += same == i;
    }
    return count;
}

huddle_status counting_cluster_rows(huddle_context *context, const huddle_points *x,
                                    const double *row_weights, const huddle_kmeans_options *options,
                                    huddle_kmeans_result *result, huddle_kmeans_info *info) {
    huddle_status status = HUDDLE_OK;
    data rows = {.c = options->n_clusters, .weights = row_weights};
    clustering best = {0};
    huddle_points points;
    TRY(counting_enter(context, COUNTING_CLUSTER_ROWS));
    TRY(counting_points(context, x, &points));
    TRY(take_rows(&points, &rows));
    if (x->values == NULL && count_distinct(&rows, rows.c) < rows.c)
        FAIL(HUDDLE_UNSUPPORTED, "fewer than %d distinct rows", rows.c);
    TRY(clustering_new(&rows, &best));
    TRY(run_restarts(context, &rows, options, &best, info));
    TRY(huddle_dense_new(rows.c, rows.d, &result->centres));
    memcpy(result->centres.values, best.centres, (size_t)(rows.c * rows.d) * sizeof(double));
    TRY(counting_keep_dense(context, &result->centres));
    result->labels = best.labels;
    best.labels = NULL;
done:
    clustering_free(&best);
    huddle_free(rows.rows);
    return status;
}

huddle_status counting_assign_rows(huddle_context *context, const huddle_points *x,
                                   const huddle_dense *centres, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    data rows = {0};
    huddle_points points;
    huddle_dense m;
    double distance;
    TRY(counting_enter(context, COUNTING_ASSIGN_ROWS));
    TRY(counting_points(context, x, &points));
    TRY(counting_dense(context, centres, &m));
    TRY(take_rows(&points, &rows));
    for (int64_t i = 0; i < rows.n; i++) {
        labels[i] = 0;
        distance = counting_distance(rows.rows + i * rows.d, m.values, rows.d);
        for (int32_t k = 1; k < m.rows; k++) {
            double to = counting_distance(rows.rows + i * rows.d, m.values + k * m.stride, rows.d);
            if (to < distance) {
                distance = to;
                labels[i] = k;
            }
        }
    }
done:
    huddle_free(rows.rows);
    return status;
}
