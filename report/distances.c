/* Distances between the points of a small sample, ordered by cluster, and silhouettes. */
#include "report/arrays.h"
#include "report/run.h"

#include <math.h>
#include <stdlib.h>

/* Points in the matrix: at 1200 screen pixels two per point, and 40 kB in the file. */
enum { MAX_MATRIX = 280, MIN_PER_CLUSTER = 2 };

/* Points whose silhouettes are computed: at most so many, and so many products in all (a second or
 * two). */
enum { MAX_SILHOUETTES = 3000 };
static const double max_products = 2e9;

/* A sampled point: its row, its cluster, and its mean distance from the others of its cluster. */
typedef struct matrix_point {
    int64_t row;
    int32_t cluster, place; /* place: in the table of distances */
    double spread;
} matrix_point;

typedef struct distance_matrix {
    const report_run *run;
    huddle_points x;
    int64_t count;
    matrix_point *points; /* by cluster, the most typical ones first */
    double *table;        /* count x count, in the order of `place` */
} distance_matrix;

/* Shares of the sample in proportion to the sizes of the clusters, and at least a few of each. The
 * rows are in random order, so that the first ones of a cluster are a sample of it. */
static void choose_points(distance_matrix *m, int64_t *quota) {
    const report_run *run = m->run;
    int64_t max = run->n < MAX_MATRIX ? run->n : MAX_MATRIX;
    for (int32_t k = 0; k < run->n_clusters; k++) {
        int64_t size = run->sizes[k], least = size < MIN_PER_CLUSTER ? size : MIN_PER_CLUSTER;
        int64_t share = (int64_t)floor((double)size * (double)max / (double)run->n);
        quota[k] = share > least ? share : least;
    }
    for (int64_t i = 0; i < run->n; i++) {
        int32_t cluster = run->labels[run->rows[i]];
        if (quota[cluster]-- <= 0)
            continue;
        m->points[m->count] = (matrix_point){run->rows[i], cluster, (int32_t)m->count, 0};
        m->count++;
    }
}

/* A row of sparse points minus another: both lists are in ascending order. */
static double sparse_distance(const huddle_points *x, int64_t a, int64_t b) {
    int64_t i = x->offsets[a], j = x->offsets[b];
    double sum = 0;
    while (i < x->offsets[a + 1] || j < x->offsets[b + 1]) {
        int64_t left = i < x->offsets[a + 1] ? x->columns[i] : INT64_MAX;
        int64_t right = j < x->offsets[b + 1] ? x->columns[j] : INT64_MAX;
        double u = left <= right ? (double)x->values[i++] : 0;
        double v = right <= left ? (double)x->values[j++] : 0;
        sum += (u - v) * (u - v);
    }
    return sqrt(sum);
}

static double distance(const huddle_points *x, int64_t a, int64_t b) {
    if (x->offsets != NULL)
        return sparse_distance(x, a, b);
    const float *u = x->values + a * x->stride, *v = x->values + b * x->stride;
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++)
        sum += ((double)u[j] - (double)v[j]) * ((double)u[j] - (double)v[j]);
    return sqrt(sum);
}

static int compare_points(const void *a, const void *b) {
    const matrix_point *p = a, *q = b;
    if (p->cluster != q->cluster)
        return p->cluster < q->cluster ? -1 : 1;
    if (p->spread != q->spread)
        return p->spread < q->spread ? -1 : 1;
    return p->row < q->row ? -1 : 1;
}

static void fill_matrix(distance_matrix *m) {
    int64_t count = m->count;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++) {
            double far = distance(&m->x, m->points[i].row, m->points[j].row);
            m->table[i * count + j] = m->table[j * count + i] = far;
            if (m->points[i].cluster != m->points[j].cluster)
                continue;
            m->points[i].spread += far;
            m->points[j].spread += far;
        }
    qsort(m->points, (size_t)count, sizeof *m->points, compare_points);
}

int report_compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* {total, index, clusters, high, data}: a byte per pair i > j, 255 for `high` and beyond, which is
 * the 98 % quantile. */
static json_t *matrix_json(const distance_matrix *m) {
    size_t count = (size_t)m->count, n_pairs = count * (count - 1) / 2, at = 0;
    double *sorted = malloc((n_pairs + 1) * sizeof *sorted);
    unsigned char *bytes = calloc(n_pairs + 1, 1);
    json_t *made = NULL;
    if (sorted == NULL || bytes == NULL)
        goto done;
    json_t *index = json_array(), *clusters = json_array();
    for (size_t i = 0; i < count; i++) {
        page_append(index, json_integer((json_int_t)m->points[i].row));
        page_append(clusters, json_integer(m->points[i].cluster));
        for (size_t j = 0; j < i; j++)
            sorted[at++] =
                m->table[(size_t)m->points[i].place * count + (size_t)m->points[j].place];
    }
    qsort(sorted, n_pairs, sizeof *sorted, report_compare_doubles);
    double high = sorted[n_pairs - 1 - n_pairs / 50];
    for (size_t i = at = 0; i < count; i++)
        for (size_t j = 0; j < i; j++, at++) {
            double far = m->table[(size_t)m->points[i].place * count + (size_t)m->points[j].place];
            bytes[at] = (unsigned char)lrint(255 * (high > 0 ? fmin(far / high, 1) : 0));
        }
    made = json_pack("{s:I, s:o, s:o, s:o, s:o}", "total", (json_int_t)m->run->n, "index", index,
                     "clusters", clusters, "high", page_real(high), "data",
                     page_bytes(bytes, n_pairs));
done:
    FREE(bytes, sorted);
    return made;
}

bool report_find_points(const report_run *run, huddle_points *x) {
    huddle_array kept = report_array(run, "points");
    if (kept.type == HUDDLE_ARRAY_F32)
        *x = array_points(&kept);
    else if (report_has_features(run))
        *x = *run->x;
    return kept.type == HUDDLE_ARRAY_F32;
}

/* ---- silhouettes -------------------------------------------------------------------------- */

/* Sorts values downwards. */
static int compare_down(const void *a, const void *b) {
    return report_compare_doubles(b, a);
}

/* {cluster, count, mean, data}: the silhouettes of one cluster in descending order, a byte each:
 * 0 is -1, 254 is 1. `values` and `bytes` are room for all points. */
static json_t *cluster_silhouettes(const int32_t *labels, const double *silhouettes, int64_t count,
                                   int32_t cluster, double *values, unsigned char *bytes) {
    size_t own = 0;
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (labels[i] == cluster) {
            values[own++] = silhouettes[i];
            sum += silhouettes[i];
        }
    qsort(values, own, sizeof *values, compare_down);
    for (size_t i = 0; i < own; i++)
        bytes[i] = (unsigned char)lrint(127 * (fmin(fmax(values[i], -1), 1) + 1));
    return json_pack("{s:i, s:I, s:o, s:o}", "cluster", cluster, "count", (json_int_t)own, "mean",
                     page_real(own > 0 ? sum / (double)own : NAN), "data", page_bytes(bytes, own));
}

/* Adds {total, count, mean, clusters}: the silhouettes of the first rows of the sample, among these
 * rows. */
static huddle_status add_silhouettes(const report_run *run, const huddle_points *x, json_t *block) {
    huddle_points taken = {0};
    huddle_status status = HUDDLE_OK;
    int32_t *labels = NULL;
    unsigned char *bytes = NULL;
    double *silhouettes = NULL, *values = NULL, sum = 0;
    double most = sqrt(max_products / (double)(x->d > 0 ? x->d : 1));
    int64_t count = run->n < MAX_SILHOUETTES ? run->n : MAX_SILHOUETTES;
    count = (double)count > most ? (int64_t)most : count;
    NEW(labels, count);
    NEW(silhouettes, count);
    NEW(values, count);
    NEW(bytes, count);
    for (int64_t i = 0; i < count; i++)
        labels[i] = run->labels[run->rows[i]];
    TRY(huddle_points_take(x, run->rows, count, &taken));
    TRY(huddle_metrics_silhouette_samples(run->context, &taken, labels, silhouettes));
    for (int64_t i = 0; i < count; i++)
        sum += silhouettes[i];
    json_t *clusters = json_array();
    for (int32_t k = 0; k < run->n_clusters; k++)
        page_append(clusters, cluster_silhouettes(labels, silhouettes, count, k, values, bytes));
    page_set(block, "silhouettes",
             json_pack("{s:I, s:I, s:o, s:o}", "total", (json_int_t)run->n, "count",
                       (json_int_t)count, "mean", page_real(sum / (double)count), "clusters",
                       clusters));
done:
    huddle_points_free(&taken);
    FREE(bytes, values, silhouettes, labels);
    return status;
}

/* Clusters that would have less than a pixel each are not shown. */
huddle_status report_add_distances(report_run *run) {
    static const char lead[] =
        "Distances between points, ordered by cluster: strong blocks on the diagonal are compact "
        "clusters, strong rectangles beside them are clusters that are close to each other.";
    distance_matrix m = {.run = run};
    int64_t *quota = NULL;
    json_t *block = NULL;
    huddle_status status = HUDDLE_OK;
    (void)report_find_points(run, &m.x);
    if (m.x.n != run->n || run->n_clusters > MAX_MATRIX / MIN_PER_CLUSTER || run->n < 3)
        return HUDDLE_OK;
    size_t room = 2 * MAX_MATRIX;
    NEW(quota, run->n_clusters);
    NEW(m.points, room);
    NEW(m.table, room * room);
    choose_points(&m, quota);
    fill_matrix(&m);
    block = matrix_json(&m);
    if (run->n_clusters > 1)
        TRY(add_silhouettes(run, &m.x, block));
    page_add(page_section(run->page, "distances", "Distances and silhouettes", lead), "distances",
             json_incref(block));
done:
    json_decref(block);
    FREE(m.table, m.points, quota);
    return status;
}
