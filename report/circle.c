/* A linear projection of the embedding that shows all clusters: each is mapped as near as possible
 * to its own place on a circle. Two principal components do not separate ten clusters. */
#include "report/arrays.h"
#include "report/run.h"

#include <math.h>

/* Fewer clusters are a line; more cannot be distinguished on a circle. */
enum { MIN_CENTRES = 3, MAX_CENTRES = 256 };

/* Weight of the ridge, relative to the mean square of a column: directions that hardly vary must
 * not blow up the projection. */
static const double ridge = 1e-3;

bool report_has_circle(const report_run *run) {
    return run->embedding.type == HUDDLE_ARRAY_F64 && run->n_clusters >= MIN_CENTRES &&
           run->n_clusters <= MAX_CENTRES;
}

/* Means of the rows of F in each cluster; zero for a cluster without points. */
static void find_centres(const report_run *run, const huddle_dense *f, double *centres) {
    for (int64_t i = 0; i < f->rows; i++) {
        int32_t k = run->labels[i];
        for (int64_t j = 0; j < f->cols; j++)
            centres[k * f->cols + j] += f->values[i * f->stride + j] / (double)run->sizes[k];
    }
}

/* Second moments of the rows of F, the clusters weighted equally whatever their sizes. */
static void find_moments(const report_run *run, const huddle_dense *f, double *moments) {
    for (int64_t i = 0; i < f->rows; i++) {
        const double *row = f->values + i * f->stride;
        for (int64_t a = 0; a < f->cols; a++) {
            double left = row[a] / (double)run->sizes[run->labels[i]];
            for (int64_t b = 0; b <= a; b++)
                moments[a * f->cols + b] += left * row[b];
        }
    }
}

/* Inner products of the centres. */
static void find_products(const double *centres, int32_t count, int64_t cols, double *gram) {
    for (int32_t a = 0; a < count; a++)
        for (int32_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int64_t j = 0; j < cols; j++)
                sum += centres[a * cols + j] * centres[b * cols + j];
            gram[a * count + b] = gram[b * count + a] = sum;
        }
}

/* The cosine of the angle between two centres. */
static double likeness(const double *gram, int32_t count, int32_t a, int32_t b) {
    double size = sqrt(gram[a * count + a] * gram[b * count + b]);
    return size > 0 ? gram[a * count + b] / size : 0;
}

/* A circular order in which similar clusters are neighbours: each is followed by the most similar
 * one left, and then any stretch is reversed that improves the sum (2-opt). */
static void order_centres(const double *gram, int32_t count, int32_t *order) {
    for (int32_t k = 0; k < count; k++)
        order[k] = k;
    for (int32_t k = 1; k < count; k++) {
        int32_t best = k;
        for (int32_t j = k + 1; j < count; j++)
            if (likeness(gram, count, order[k - 1], order[j]) >
                likeness(gram, count, order[k - 1], order[best]))
                best = j;
        int32_t swap = order[k];
        order[k] = order[best];
        order[best] = swap;
    }
    bool changed = true;
    for (int32_t round = 0; round < 20 && changed; round++) {
        changed = false;
        for (int32_t i = 0; i + 2 < count; i++)
            for (int32_t j = i + 2; j < count; j++) {
                int32_t a = order[i], b = order[i + 1], c = order[j], d = order[(j + 1) % count];
                double now = likeness(gram, count, a, b) + likeness(gram, count, c, d);
                double then = likeness(gram, count, a, c) + likeness(gram, count, b, d);
                if (d == a || then <= now + 1e-12)
                    continue;
                for (int32_t l = i + 1, r = j; l < r; l++, r--) {
                    int32_t swap = order[l];
                    order[l] = order[r];
                    order[r] = swap;
                }
                changed = true;
            }
    }
}

/* Solves (moments + ridge) y = y in place for two right-hand sides, by Cholesky's factorisation in
 * the lower triangle. */
static void solve_ridge(double *moments, int64_t size, double *y) {
    double trace = 0;
    for (int64_t k = 0; k < size; k++)
        trace += moments[k * size + k];
    double weight = ridge * trace / (double)size + 1e-300;
    for (int64_t k = 0; k < size; k++) {
        double *row = moments + k * size;
        row[k] += weight;
        for (int64_t j = 0; j < k; j++) {
            for (int64_t i = 0; i < j; i++)
                row[j] -= row[i] * moments[j * size + i];
            row[j] /= moments[j * size + j];
            row[k] -= row[j] * row[j];
        }
        row[k] = sqrt(fmax(row[k], weight * 1e-6));
    }
    for (int side = 0; side < 2; side++) {
        for (int64_t k = 0; k < size; k++) {
            for (int64_t j = 0; j < k; j++)
                y[2 * k + side] -= moments[k * size + j] * y[2 * j + side];
            y[2 * k + side] /= moments[k * size + k];
        }
        for (int64_t k = size - 1; k >= 0; k--) {
            for (int64_t j = k + 1; j < size; j++)
                y[2 * k + side] -= moments[j * size + k] * y[2 * j + side];
            y[2 * k + side] /= moments[k * size + k];
        }
    }
}

/* Least squares: the axes that bring every point as near as possible to the place of its cluster,
 * axes = (F' D F + ridge)^-1 F' D T, with D the weights of the points. F' D T is the sum of the
 * centres times the places. (To map the centres exactly, as pinv(C) T would, sends points far away
 * where a cluster has parts that are far from each other.) */
huddle_status report_circle_axes(const report_run *run, double **out) {
    huddle_status status = HUDDLE_OK;
    huddle_dense f = array_dense(&run->embedding);
    int32_t count = run->n_clusters, order[MAX_CENTRES];
    double *axes = NULL, *centres = NULL, *gram = NULL, *moments = NULL;
    NEW(axes, 2 * f.cols);
    NEW(centres, count * f.cols);
    NEW(gram, count * count);
    NEW(moments, f.cols * f.cols);
    find_centres(run, &f, centres);
    find_products(centres, count, f.cols, gram);
    order_centres(gram, count, order);
    for (int32_t k = 0; k < count; k++) {
        double angle = 2 * acos(-1) * k / count; /* clockwise from the top */
        for (int64_t j = 0; j < f.cols; j++) {
            axes[2 * j] += centres[order[k] * f.cols + j] * sin(angle);
            axes[2 * j + 1] += centres[order[k] * f.cols + j] * cos(angle);
        }
    }
    find_moments(run, &f, moments);
    solve_ridge(moments, f.cols, axes);
    *out = axes;
    axes = NULL;
done:
    FREE(axes, moments, gram, centres);
    return status;
}
