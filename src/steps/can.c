/* Clustering with adaptive neighbours (steps of src/methods/can.c, which has the publication).
 *
 * Row i of S are the weights of point i's neighbours. With the squared distances d^x of the points
 * and d^f of the rows of F, and L the Laplacian of (S + S') / 2,
 *
 *     minimise  sum_ij (d^x_ij s_ij + gamma_i s_ij^2) + 2 lambda trace F'L F
 *
 * over S with rows >= 0 that add up to 1, and F with F'F = I. For fixed F the rows are independent
 * projections of -(d^x_i + lambda d^f_i) / 2 gamma_i onto the simplex; for fixed S, F are the c
 * eigenvectors of the smallest eigenvalues of L. L has as many zero eigenvalues as the graph has
 * components, so that a large lambda forces c of them. */
#include "steps/can.h"

#include "base/check.h"
#include "base/context.h"
#include "base/parallel.h"
#include "steps/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_CHUNK = 256 };

/* Each row chooses its neighbours among this many times k nearest points. All others are farther in
 * the points than k that were not chosen, and in tests no row ever wanted one of them. */
enum { CANDIDATES = 2 };

/* Smaller gamma, relative to the mean distance of a neighbour, are those of a point whose
 * neighbours are all equally far; any small number divides its weight among them. */
static const double least_gamma = 1e-9;

/* Smaller weights are rounding: with lambda = 0 the distance of the next point is exactly where
 * weights end. */
static const double least_weight = 1e-12;

void hd_step_can_free(hd_step_can *can) {
    huddle_free(can->component);
    huddle_dense_free(&can->f);
    huddle_csr_free(&can->s);
    memset(can, 0, sizeof *can);
}

/* ---- projection ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* s_j = (eta - d_j)_+ / 2 gamma, where eta gives the sum 1: with the r nearest it is (2 gamma + the
 * sum of their distances) / r, and r is the largest number for which the r-th still has weight. */
void hd_step_can_project(int32_t m, const double *d, double gamma, double *order, double *s) {
    double sum = 0, eta = 0, total = 0;
    memcpy(order, d, (size_t)m * sizeof *order);
    qsort(order, (size_t)m, sizeof *order, compare);
    for (int32_t r = 0; r < m; r++) {
        sum += order[r] - order[0]; /* differences: gamma may be tiny beside the distances */
        double next = (2 * gamma + sum) / (r + 1);
        if (next <= order[r] - order[0])
            break;
        eta = next;
    }
    for (int32_t j = 0; j < m; j++) {
        s[j] = eta - (d[j] - order[0]);
        s[j] = s[j] > 2 * gamma * least_weight ? s[j] : 0;
        total += s[j];
    }
    for (int32_t j = 0; j < m; j++)
        s[j] /= total;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* The m nearest points of each point, by ascending number. */
typedef struct lists {
    int64_t n;
    int32_t m;
    int32_t *index;
    double *distance; /* squared, d^x */
    double *gamma;    /* n */
    double mean_gamma;
} lists;

static void lists_free(lists *l) {
    FREE(l->index, l->distance, l->gamma);
    memset(l, 0, sizeof *l);
}

typedef struct entry {
    int32_t index;
    double distance;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* gamma_i = (k d_{i,k+1} - sum_{h <= k} d_ih) / 2, with which exactly the k nearest have weight
 * when lambda is 0. */
static void set_gammas(const huddle_neighbors *near, int32_t k, lists *l) {
    double mean_distance = 0;
    l->mean_gamma = 0;
    for (int64_t i = 0; i < l->n; i++) {
        const double *d = near->distance + i * near->k;
        double sum = 0;
        for (int32_t h = 0; h < k; h++)
            sum += d[h] * d[h];
        l->gamma[i] = (k * d[k] * d[k] - sum) / 2;
        mean_distance += d[k] * d[k] / (double)l->n;
    }
    for (int64_t i = 0; i < l->n; i++) {
        l->gamma[i] = fmax(l->gamma[i], mean_distance > 0 ? least_gamma * mean_distance : 1);
        l->mean_gamma += l->gamma[i] / (double)l->n;
    }
}

static int64_t list_length(int64_t n, int64_t k) {
    return CANDIDATES * k < n - 1 ? CANDIDATES * k : n - 1;
}

static huddle_status find_candidates(huddle_context *context, const huddle_points *points,
                                     int32_t k, lists *l) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options knn = huddle_knn_defaults();
    huddle_neighbors near = {0};
    entry *row = NULL;
    lists_free(l);
    l->n = points->n;
    l->m = (int32_t)list_length(points->n, k);
    knn.n_neighbors = l->m;
    TRY(huddle_graph_knn(context, points, &knn, &near, NULL));
    TRY(huddle_neighbors_fetch(&near));
    ALLOC(l->index, l->n * l->m);
    ALLOC(l->distance, l->n * l->m);
    ALLOC(l->gamma, l->n);
    ALLOC(row, l->m);
    set_gammas(&near, k, l);
    for (int64_t i = 0; i < l->n; i++) {
        for (int32_t j = 0; j < l->m; j++)
            row[j] = (entry){near.index[i * l->m + j], near.distance[i * l->m + j]};
        qsort(row, (size_t)l->m, sizeof *row, compare_entries);
        for (int32_t j = 0; j < l->m; j++) {
            l->index[i * l->m + j] = row[j].index;
            l->distance[i * l->m + j] = row[j].distance * row[j].distance;
        }
    }
done:
    huddle_neighbors_free(&near);
    huddle_free(row);
    return status;
}

/* ---- S ------------------------------------------------------------------------------------- */

typedef struct weighing {
    const lists *l;
    const huddle_dense *f; /* NULL: lambda is 0 */
    double lambda;
    double *scratch; /* 2 m for each worker */
    double *s;       /* n x m */
} weighing;

static huddle_status weigh_rows(void *argument, hd_chunk chunk) {
    const weighing *w = argument;
    const lists *l = w->l;
    double *d = w->scratch + 2 * (int64_t)chunk.worker * l->m;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        for (int32_t j = 0; j < l->m; j++) {
            double square = 0;
            int64_t other = l->index[i * l->m + j];
            for (int64_t q = 0; w->f != NULL && q < w->f->cols; q++) {
                double difference =
                    w->f->values[i * w->f->stride + q] - w->f->values[other * w->f->stride + q];
                square += difference * difference;
            }
            d[j] = l->distance[i * l->m + j] + w->lambda * square;
        }
        hd_step_can_project(l->m, d, l->gamma[i], d + l->m, w->s + i * l->m);
    }
    return HUDDLE_OK;
}

/* S, of which only positive entries are kept, and the objective without the trace. */
static huddle_status find_weights(huddle_context *context, const lists *l, const huddle_dense *f,
                                  double lambda, hd_step_can *can) {
    huddle_status status = HUDDLE_OK;
    weighing w = {.l = l, .f = f, .lambda = lambda};
    int64_t count = 0;
    huddle_csr_free(&can->s);
    can->objective = 0;
    ALLOC(w.s, l->n * l->m);
    ALLOC(w.scratch, 2 * (int64_t)hd_workers(context) * l->m);
    TRY(hd_parallel(context, "can", l->n, ROWS_PER_CHUNK, weigh_rows, &w));
    for (int64_t e = 0; e < l->n * l->m; e++)
        count += w.s[e] > 0;
    TRY(huddle_csr_new(l->n, l->n, count, &can->s));
    count = 0;
    for (int64_t i = 0; i < l->n; i++) {
        for (int64_t e = i * l->m; e < (i + 1) * l->m; e++) {
            if (w.s[e] <= 0)
                continue;
            can->s.columns[count] = l->index[e];
            can->s.values[count++] = w.s[e];
            can->objective += w.s[e] * (l->distance[e] + l->gamma[i] * w.s[e]);
        }
        can->s.offsets[i + 1] = count;
    }
done:
    FREE(w.s, w.scratch);
    return status;
}

/* ---- F ------------------------------------------------------------------------------------- */

/* -L: (S + S') / 2 less its row sums on the diagonal, columns ascending. *most: the largest of the
 * sums, half of which bounds the spectrum. */
static huddle_status make_laplacian(const huddle_csr *s, huddle_csr *minus, double *most) {
    huddle_status status = HUDDLE_OK;
    huddle_csr t = {0};
    int64_t count = 0, n = s->rows;
    *most = 0;
    TRY(huddle_csr_transpose(s, &t));
    TRY(huddle_csr_new(n, n, 2 * s->offsets[n] + n, minus));
    for (int64_t i = 0; i < n; i++) {
        int64_t a = s->offsets[i], b = t.offsets[i], diagonal = -1;
        double sum = 0;
        while (a < s->offsets[i + 1] || b < t.offsets[i + 1] || diagonal < 0) {
            int64_t left = a < s->offsets[i + 1] ? s->columns[a] : INT64_MAX;
            int64_t right = b < t.offsets[i + 1] ? t.columns[b] : INT64_MAX;
            int64_t own = diagonal < 0 ? i : INT64_MAX, column = left < right ? left : right;
            column = column < own ? column : own;
            double value = 0;
            value += left == column ? s->values[a++] / 2 : 0;
            value += right == column ? t.values[b++] / 2 : 0;
            diagonal = column == i ? count : diagonal;
            sum += value;
            minus->columns[count] = (int32_t)column;
            minus->values[count++] = value;
        }
        minus->values[diagonal] = -sum;
        minus->offsets[i + 1] = count;
        *most = fmax(*most, sum);
    }
done:
    huddle_csr_free(&t);
    return status;
}

/* The components of the graph. */
static huddle_status find_components(huddle_context *context, huddle_csr *minus, double *most,
                                     hd_step_can *can) {
    huddle_status status = HUDDLE_OK;
    huddle_csr_free(minus);
    TRY(make_laplacian(&can->s, minus, most));
    TRY(huddle_graph_components(context, minus, can->component, &can->n_components));
done:
    return status;
}

/* F: one eigenvector for each component, and the next ones of all. */
static huddle_status find_vectors(huddle_context *context, const hd_step_can_options *options,
                                  const huddle_csr *minus, double most, hd_step_can *can) {
    huddle_status status = HUDDLE_OK;
    huddle_embedding embedding = {0};
    huddle_embed_info info;
    huddle_embed_options embed = huddle_embed_defaults();
    embed.n_components = options->n_clusters;
    embed.embed_solver = options->embed_solver;
    embed.rows = "sym";
    embed.verify = "none"; /* of an intermediate result: the next round corrects what is missed */
    embed.seed = options->seed;
    TRY(hd_spectral_embed_blocks(context, minus, can->component, can->n_components, -2 * most, 0,
                                 &embed, false, &embedding, &info));
    TRY(huddle_dense_fetch(&embedding.vectors));
    huddle_dense_free(&can->f);
    can->f = embedding.vectors;
    memset(&embedding.vectors, 0, sizeof embedding.vectors);
done:
    huddle_embedding_free(&embedding);
    return status;
}

/* ---- the alternation ----------------------------------------------------------------------- */

/* Doubles k, up to the limit. */
static huddle_status raise_neighbors(int64_t n, int64_t limit, const hd_step_can_options *options,
                                     const hd_step_can *can, int64_t *k) {
    int64_t next = 2 * *k < limit ? 2 * *k : limit;
    if (n * list_length(n, next) > options->max_entries)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "with %lld neighbours of each of %lld points the graph has %d components, "
                       "more than %d clusters, and can has no room for lists of more neighbours; "
                       "use fewer points, more clusters, or sc",
                       (long long)*k, (long long)n, can->n_components, options->n_clusters);
    *k = next;
    return HUDDLE_OK;
}

/* lambda can only divide components. If there are too many already, every point gets more
 * neighbours; with all others as neighbours the graph is connected. */
static huddle_status begin(huddle_context *context, const huddle_points *points,
                           const hd_step_can_options *options, lists *l, huddle_csr *minus,
                           double *most, hd_step_can *can) {
    huddle_status status = HUDDLE_OK;
    int64_t k = options->n_neighbors, limit = points->n - 2;
    ALLOC(can->component, points->n);
    k = k < limit ? k : limit;
    for (;;) {
        TRY(find_candidates(context, points, (int32_t)k, l));
        TRY(find_weights(context, l, NULL, 0, can));
        TRY(find_components(context, minus, most, can));
        if (can->n_components <= options->n_clusters || k == limit)
            break;
        TRY(raise_neighbors(points->n, limit, options, can, &k));
    }
    can->n_neighbors = (int32_t)k;
    if (k > options->n_neighbors)
        hd_log(context, "can: %lld neighbours of each point, with %d there are too many components",
               (long long)k, options->n_neighbors);
done:
    return status;
}

/* lambda is doubled while there are too few components. When there are too many it was too much:
 * S begins again from the same F with less, and further steps are smaller. */
huddle_status hd_step_can_run(huddle_context *context, const huddle_points *points,
                              const hd_step_can_options *options, hd_step_can *can) {
    huddle_status status = HUDDLE_OK;
    lists l = {0};
    huddle_csr minus = {0};
    double most = 0, step = 2;
    int32_t c = options->n_clusters;
    bool was_few = true;
    TRY(begin(context, points, options, &l, &minus, &most, can));
    can->lambda = l.mean_gamma;
    while (can->n_components != c && can->n_iter < options->max_iter) {
        bool few = can->n_components < c;
        TRY(hd_progress(context, "can", can->n_iter, options->max_iter));
        if (few)
            TRY(find_vectors(context, options, &minus, most, can));
        step = few == was_few ? step : sqrt(step);
        was_few = few;
        if (can->n_iter > 0)
            can->lambda *= few ? step : 1 / step;
        if (can->f.values == NULL) { /* too many components even with all neighbours */
            TRY(find_vectors(context, options, &minus, most, can));
            break;
        }
        TRY(find_weights(context, &l, &can->f, can->lambda, can));
        TRY(find_components(context, &minus, &most, can));
        can->n_iter++;
    }
done:
    lists_free(&l);
    huddle_csr_free(&minus);
    return status;
}
