/* Fits of methods whose embedding belongs to another matrix than the graph: problems that NumPy has
 * solved (tests/golden/blocks.py), and points at the edges of what a method can be given. */
#ifndef HUDDLE_TESTS_EMBEDDING_FITS_H
#define HUDDLE_TESTS_EMBEDDING_FITS_H

#include "method_fits.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* n points in d dimensions, c clusters, k neighbours, two parameters of the method, and as many new
 * points; the c smallest eigenvalues, their vectors, and the rows of the new points. */
typedef struct numpy_problem {
    int64_t n, d, c, k, queries;
    double parameters[2];
    const double *points, *new_points, *values, *vectors, *rows;
} numpy_problem;

static inline const double *read_problem(const double *at, numpy_problem *p) {
    *p = (numpy_problem){.n = (int64_t)at[0],
                         .d = (int64_t)at[1],
                         .c = (int64_t)at[2],
                         .k = (int64_t)at[3],
                         .queries = (int64_t)at[6],
                         .parameters = {at[4], at[5]},
                         .points = at + 7};
    p->new_points = p->points + p->n * p->d;
    p->values = p->new_points + p->queries * p->d;
    p->vectors = p->values + p->c;
    p->rows = p->vectors + p->n * p->c;
    return p->rows + p->queries * p->c;
}

/* All problems of a file; their number. */
static inline int64_t for_each_problem(const char *file, void (*check)(const numpy_problem *p)) {
    int64_t count, problems = 0;
    double *numbers = test_golden(file, &count);
    const double *at = numbers;
    for (numpy_problem p; at < numbers + count; problems++) {
        at = read_problem(at, &p);
        check(&p);
    }
    assert_true(at == numbers + count);
    free(numbers);
    return problems;
}

/* A row of b (m x c) in the basis of the fit's vectors U: b V'U, where V are NumPy's. */
static inline double rotated(const numpy_problem *p, const huddle_dense *u, const double *b,
                             int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t j = 0; j < p->c; j++) {
        double product = 0;
        for (int64_t i = 0; i < p->n; i++)
            product += p->vectors[i * p->c + j] * u->values[i * u->stride + column];
        sum += b[row * p->c + j] * product;
    }
    return sum;
}

/* Fits the problem by a method and options, with rows as the vectors have them, and compares: the
 * vectors span the same space, U = V V'U, and new points have the same rows. */
static inline void check_numpy_problem(const numpy_problem *p, const char *method, double tolerance,
                                       const char *const *options) {
    huddle_points x, y;
    huddle_dense rows = {0};
    char clusters[32];
    snprintf(clusters, sizeof clusters, "%d", (int)p->c);
    assert_ok(huddle_points_from_double(NULL, p->n, p->d, p->points, p->d, 1, &x));
    assert_ok(huddle_points_from_double(NULL, p->queries, p->d, p->new_points, p->d, 1, &y));
    huddle_model *model = fit(method, &x, clusters, options);
    const huddle_embedding *e = &model->fit.embedding.f;
    assert_int_equal(model->fit.embedding.info.components, 1);
    for (int64_t k = 0; k < p->c; k++) {
        double square = 0;
        assert_close(e->eigenvalues[k], p->values[k], tolerance * model->fit.embedding.info.unit);
        for (int64_t i = 0; i < p->n; i++) {
            double value = e->vectors.values[i * e->vectors.stride + k];
            square += value * value;
            assert_close(value, rotated(p, &e->vectors, p->vectors, i, k), 1e-6);
        }
        assert_close(square, 1, 1e-10);
    }
    assert_ok(huddle_model_transform(NULL, model, &y, &rows));
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t k = 0; k < p->c; k++)
            assert_close(rows.values[i * rows.stride + k], rotated(p, &e->vectors, p->rows, i, k),
                         1e-5);
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&y);
}

/* One cluster, two, as many as points, columns that say nothing, two points, all points equal. */
static inline void check_degenerate_points(const char *method, int64_t d) {
    static const char *const numbers[] = {"1", "2", "29", "30"};
    huddle_points x;
    assert_ok(huddle_points_new(30, d, &x));
    for (int64_t i = 0; i < 30; i++)
        x.values[i * x.stride] = (float)(i * i); /* the others stay 0 */
    for (int k = 0; k < 4; k++) {
        huddle_model *model = fit(method, &x, numbers[k], (const char *const[]){NULL});
        const huddle_dense *f[] = {&model->fit.embedding.f.vectors, &model->fit.embedding.f.rows};
        assert_int_equal(model->fit.clusters.n_clusters, atoi(numbers[k]));
        for (int m = 0; m < 2; m++)
            for (int64_t e = 0; e < f[m]->rows * f[m]->cols; e++)
                assert_true(isfinite(f[m]->values[e]));
        huddle_model_free(model);
    }
    for (int64_t i = 0; i < 30; i++)
        x.values[i * x.stride] = 7;
    huddle_model_free(fit(method, &x, "2", (const char *const[]){"prepare", "none", NULL}));
    x.n = 2;
    x.values[0] = 1;
    huddle_model_free(fit(method, &x, "2", (const char *const[]){"prepare", "none", NULL}));
    huddle_points_free(&x);
}

#endif
