/* New points against formulas written out here: their rows in the embedding, the shrinking of those
 * rows, and the labels of rows that were in the training data. */
#include "base/rng.h"
#include "huddle/huddle.h"
#include "model/model.h"
#include "steps/place.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 240, C = 3, K = 10, SIDE = 24, QUERIES = SIDE * SIDE, SHRINK_K = 5 };

/* Three noisy arcs that touch here and there. */
static huddle_points make_arcs(double noise) {
    huddle_points x;
    assert_ok(huddle_points_new(N, 2, &x));
    for (int64_t i = 0; i < N; i++) {
        hd_rng rng = hd_rng_stream(5, (uint64_t)i);
        double radius = 1.0 + (double)(i % C), angle = 0.03 * (double)(i / C);
        x.values[2 * i] = (float)(radius * cos(angle) + noise * hd_rng_normal(&rng));
        x.values[2 * i + 1] = (float)(radius * sin(angle) + noise * hd_rng_normal(&rng));
    }
    return x;
}

/* A grid over the arcs and a little beyond. */
static huddle_points make_grid(void) {
    huddle_points x;
    assert_ok(huddle_points_new(QUERIES, 2, &x));
    for (int i = 0; i < QUERIES; i++) {
        x.values[2 * i] = (float)(-3.6 + 7.2 * (i % SIDE) / (SIDE - 1) + 0.001);
        x.values[2 * i + 1] = (float)(-0.9 + 4.6 * (double)(i / SIDE) / (SIDE - 1) + 0.001);
    }
    return x;
}

static huddle_model *fit(const char *method, const huddle_points *x, const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_neighbors", "10"));
    assert_ok(huddle_model_set_option(model, "refine", "none"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* The k nearest of n rows of d doubles, the nearest first. */
static void find_nearest(const double *rows, int64_t n, int64_t d, const double *query, int k,
                         int64_t *index, double *distance) {
    for (int taken = 0; taken < k; taken++) {
        distance[taken] = INFINITY;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            bool used = false;
            for (int64_t j = 0; j < d; j++)
                sum += (rows[i * d + j] - query[j]) * (rows[i * d + j] - query[j]);
            for (int t = 0; t < taken; t++)
                used = used || index[t] == i;
            if (!used && sqrt(sum) < distance[taken]) {
                distance[taken] = sqrt(sum);
                index[taken] = i;
            }
        }
    }
}

static double weight_of(double distance, double scale2) {
    return distance == 0 ? 1 : exp(-fmin(distance * distance / scale2, 20));
}

/* f(x)_l = sum_j w_j v_jl / sqrt(d_j) / sqrt(d_x) / (1 - lambda_l), then the row rule; all columns
 * of the rows. */
static void place(const hd_fit *f, const char *rule, const double *query, double *row) {
    double training[2 * N], scale[N], distance[K], degree = 0, squares = 0;
    int64_t index[K];
    for (int e = 0; e < 2 * N; e++)
        training[e] = (double)f->prepared.points.values[e];
    /* A point's own scale is the distance to its tenth neighbour, itself not counted. */
    for (int64_t i = 0; i < N; i++) {
        int64_t near[K + 1];
        double far[K + 1];
        find_nearest(training, N, 2, training + 2 * i, K + 1, near, far);
        scale[i] = far[K];
    }
    find_nearest(training, N, 2, query, K, index, distance);
    int64_t columns = f->embedding.f.rows.cols;
    const double *lambda = f->embedding.f.eigenvalues;
    bool commute = strcmp(rule, "commute") == 0;
    memset(row, 0, (size_t)columns * sizeof *row);
    for (int t = 0; t < K; t++) {
        double w = weight_of(distance[t], scale[index[t]] * distance[K - 1]);
        degree += w;
        for (int l = 0; l < columns; l++)
            row[l] += w *
                      f->embedding.f.vectors.values[index[t] * f->embedding.f.vectors.stride + l] /
                      sqrt(f->embedding.f.degrees[index[t]]);
    }
    for (int l = 0; l < columns; l++) {
        row[l] /= sqrt(degree) * (1 - lambda[l]);
        if (commute)
            row[l] /= sqrt(fmax(lambda[l], .1 * lambda[C - 1]));
        squares += row[l] * row[l];
    }
    for (int l = 0; l < columns; l++)
        row[l] /= commute || strcmp(rule, "unit") == 0 ? sqrt(squares)
                  : strcmp(rule, "rw") == 0            ? sqrt(degree)
                                                       : 1;
}

/* The nearest centre; *margin is how much farther the next one is. */
static int32_t nearest_centre(const huddle_dense *centres, const double *row, double *margin) {
    int32_t best = 0;
    double least = INFINITY, second = INFINITY;
    for (int32_t k = 0; k < centres->rows; k++) {
        double sum = 0;
        for (int64_t j = 0; j < centres->cols; j++)
            sum += pow(row[j] - centres->values[k * centres->stride + j], 2);
        if (sqrt(sum) < least) {
            second = least;
            least = sqrt(sum);
            best = k;
        } else {
            second = fmin(second, sqrt(sum));
        }
    }
    *margin = second - least;
    return best;
}

static void new_rows_are_placed_by_the_formula(void **state) {
    (void)state;
    static const char *const rules[] = {"sym", "rw", "unit", "commute"};
    huddle_points x = make_arcs(0.3), grid = make_grid();
    for (int r = 0; r < 4; r++) {
        int columns = r == 3 ? 2 * C : C;
        huddle_model *model =
            fit("sc", &x, (const char *const[]){"rows", rules[r], "tol", "1e-9", NULL});
        const hd_fit *f = &model->fit;
        huddle_dense rows = {0};
        int64_t same[QUERIES];
        int32_t labels[QUERIES];
        /* The test would see nothing of 1 / (1 - lambda) if all lambda were alike. */
        assert_true(f->embedding.f.eigenvalues[C - 1] > 0.01);
        assert_ok(hd_spectral_place(NULL, f, model->fitted_options, &grid, &rows, same));
        assert_ok(huddle_model_predict(NULL, model, &grid, labels));
        assert_int_equal(rows.cols, columns);
        for (int i = 0; i < QUERIES; i += 5) {
            double expected[2 * C],
                query[2] = {(double)grid.values[2 * i], (double)grid.values[2 * i + 1]};
            double largest = 0, margin;
            place(f, rules[r], query, expected);
            for (int l = 0; l < columns; l++)
                largest = fmax(largest, fabs(expected[l]));
            for (int l = 0; l < columns; l++)
                assert_close(rows.values[i * rows.stride + l] / largest, expected[l] / largest,
                             1e-5);
            int32_t label = nearest_centre(&f->clusters.centres, expected, &margin);
            if (margin > 1e-4 * largest)
                assert_int_equal(labels[i], label);
        }
        huddle_dense_free(&rows);
        huddle_model_free(model);
    }
    huddle_points_free(&x);
    huddle_points_free(&grid);
}

/* Of ncut's clusters each is a direction, and a row belongs to the one it is most along. */
static void ncut_labels_new_rows_by_their_direction(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.3), grid = make_grid();
    huddle_model *model = fit("ncut", &x, (const char *const[]){"tol", "1e-9", NULL});
    const hd_fit *f = &model->fit;
    int32_t labels[QUERIES];
    int counts[C] = {0};
    assert_ok(huddle_model_predict(NULL, model, &grid, labels));
    for (int i = 0; i < QUERIES; i += 5) {
        double row[C], along[C], length = 0;
        double query[2] = {(double)grid.values[2 * i], (double)grid.values[2 * i + 1]};
        place(f, "rw", query, row);
        for (int k = 0; k < C; k++) {
            along[k] = 0;
            length += row[k] * row[k];
            for (int j = 0; j < C; j++)
                along[k] += row[j] * f->clusters.centres.values[k * f->clusters.centres.stride + j];
        }
        for (int k = 0; k < C; k++)
            assert_true(along[labels[i]] >= along[k] - 1e-4 * sqrt(length));
        counts[labels[i]]++;
    }
    for (int k = 0; k < C; k++)
        assert_true(counts[k] > 0);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&grid);
}

/* The weight of an edge is exp(-d^2 / (s_i s_j)), s the distance to the seventh neighbour. */
static void selftune_weighs_edges_by_both_scales(void **state) {
    (void)state;
    enum { SEVEN = 7 };
    huddle_points x = make_arcs(0.1);
    huddle_model *model;
    double rows[2 * N], scale[N];
    int64_t edges = 0;
    assert_ok(huddle_model_new("selftune-sc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "connect", "false"));
    assert_ok(huddle_model_fit(NULL, model, &x));
    const huddle_csr *a = &model->fit.graph.matrix;
    for (int e = 0; e < 2 * N; e++)
        rows[e] = (double)x.values[e];
    for (int64_t i = 0; i < N; i++) {
        int64_t near[SEVEN + 1];
        double far[SEVEN + 1];
        find_nearest(rows, N, 2, rows + 2 * i, SEVEN + 1, near, far);
        scale[i] = far[SEVEN];
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++, edges++) {
            int64_t j = a->columns[e];
            double distance = hypot(rows[2 * i] - rows[2 * j], rows[2 * i + 1] - rows[2 * j + 1]);
            assert_close(a->values[e], weight_of(distance, scale[i] * scale[j]), 1e-5);
        }
    assert_true(edges >= N * SEVEN);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* argmin_g ||g - f|| + gamma sum_k w_k ||g - a_k|| by plain descent from several places: slow, and
 * nothing like the library's way. */
static void shrink_row(const double *f, int64_t c, const double *anchors, const double *w, int k,
                       double gamma, double *g) {
    double best = INFINITY, at[8], direction[8];
    for (int start = -1; start < k; start++) {
        memcpy(at, start < 0 ? f : anchors + start * c, (size_t)c * sizeof *at);
        double step = 1, last = INFINITY;
        for (int round = 0; round < 4000 && step > 1e-12; round++) {
            double objective = 0, squares = 0, trial[8], value = 0;
            memset(direction, 0, sizeof direction);
            for (int t = -1; t < k; t++) {
                const double *point = t < 0 ? f : anchors + t * c;
                double weight = t < 0 ? 1 : gamma * w[t], sum = 1e-20;
                for (int64_t j = 0; j < c; j++)
                    sum += (at[j] - point[j]) * (at[j] - point[j]);
                objective += weight * sqrt(sum);
                for (int64_t j = 0; j < c; j++)
                    direction[j] += weight * (at[j] - point[j]) / sqrt(sum);
            }
            last = objective;
            for (int64_t j = 0; j < c; j++)
                squares += direction[j] * direction[j];
            for (int64_t j = 0; j < c; j++)
                trial[j] = at[j] - step * direction[j] / fmax(sqrt(squares), 1e-300);
            for (int t = -1; t < k; t++) {
                const double *point = t < 0 ? f : anchors + t * c;
                double sum = 1e-20;
                for (int64_t j = 0; j < c; j++)
                    sum += (trial[j] - point[j]) * (trial[j] - point[j]);
                value += (t < 0 ? 1 : gamma * w[t]) * sqrt(sum);
            }
            if (value < objective) {
                memcpy(at, trial, (size_t)c * sizeof *at);
                step *= 1.2;
            } else {
                step /= 2;
            }
        }
        if (last < best) {
            best = last;
            memcpy(g, at, (size_t)c * sizeof *g);
        }
    }
}

static void new_rows_are_shrunk_before_they_are_labelled(void **state) {
    (void)state;
    huddle_points x = make_arcs(0.3), grid = make_grid();
    huddle_model *model = fit("ssc", &x, (const char *const[]){"gamma", "3", "gap", "1e-7", NULL});
    const hd_fit *f = &model->fit;
    huddle_dense rows = {0};
    int64_t same[QUERIES];
    int32_t labels[QUERIES];
    double *training = malloc(N * C * sizeof *training), delta2 = 0;
    int compared = 0, moved = 0;
    assert_false(f->shrunk.labels_from_embedding);
    for (int64_t i = 0; i < N; i++)
        memcpy(training + i * C, f->embedding.f.rows.values + i * f->embedding.f.rows.stride,
               C * sizeof *training);
    /* W's scale is the mean distance to the five nearest rows. */
    for (int64_t i = 0; i < N; i++) {
        int64_t near[SHRINK_K + 1];
        double far[SHRINK_K + 1];
        find_nearest(training, N, C, training + i * C, SHRINK_K + 1, near, far);
        for (int t = 1; t <= SHRINK_K; t++)
            delta2 += far[t] / (N * SHRINK_K);
    }
    delta2 *= delta2;
    assert_ok(hd_spectral_place(NULL, f, model->fitted_options, &grid, &rows, same));
    assert_ok(huddle_model_predict(NULL, model, &grid, labels));
    for (int i = 0; i < QUERIES; i++) {
        const double *row = rows.values + i * rows.stride;
        double distance[SHRINK_K], w[SHRINK_K], anchors[SHRINK_K * C], g[C], margin, plain_margin;
        int64_t index[SHRINK_K];
        find_nearest(training, N, C, row, SHRINK_K, index, distance);
        for (int t = 0; t < SHRINK_K; t++) {
            w[t] = weight_of(distance[t], delta2);
            memcpy(anchors + t * C, f->shrunk.g.g.values + index[t] * f->shrunk.g.g.stride,
                   C * sizeof *anchors);
        }
        shrink_row(row, C, anchors, w, SHRINK_K, 3, g);
        int32_t expected = nearest_centre(&f->clusters.centres, g, &margin);
        int32_t plain = nearest_centre(&f->clusters.centres, row, &plain_margin);
        if (margin < 1e-3)
            continue;
        compared++;
        moved += plain != expected && plain_margin > 1e-3;
        assert_int_equal(labels[i], expected);
    }
    assert_true(compared > QUERIES * 9 / 10);
    assert_true(moved > 0); /* else labels without shrinking would pass */
    free(training);
    huddle_dense_free(&rows);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&grid);
}

/* Training rows that would change their label if they were placed like new ones. */
static int count_changing(const huddle_model *model, const huddle_points *x) {
    const hd_fit *f = &model->fit;
    int32_t placed[N];
    int64_t same[N];
    int count = 0;
    huddle_dense rows = {0};
    huddle_points points;
    assert_ok(hd_spectral_place(NULL, f, model->fitted_options, x, &rows, same));
    assert_ok(huddle_points_from_double(NULL, N, rows.cols, rows.values, rows.stride, 1, &points));
    assert_ok(huddle_kmeans_assign(NULL, &points, &f->clusters.centres, placed));
    for (int i = 0; i < N; i++) {
        assert_int_equal(same[i], i);
        count += placed[i] != f->clusters.labels[i];
    }
    huddle_points_free(&points);
    huddle_dense_free(&rows);
    return count;
}

/* Placed as if it were new, a row near a border may land on the other side. It keeps its label. */
static void a_training_row_keeps_its_label(void **state) {
    (void)state;
    static const char *const methods[] = {"sc", "ssc", "ncut"};
    static const double noises[] = {0.4, 0.6, 0.8, 1};
    int changing = 0;
    for (int k = 0; k < 12; k++) {
        huddle_points x = make_arcs(noises[k / 3]);
        huddle_model *model = fit(methods[k % 3], &x, (const char *const[]){"tol", "1e-9", NULL});
        int32_t labels[N];
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        assert_memory_equal(labels, model->fit.clusters.labels, sizeof labels);
        changing += k % 3 == 0 ? count_changing(model, &x) : 0;
        huddle_model_free(model);
        huddle_points_free(&x);
    }
    assert_true(changing > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_rows_are_placed_by_the_formula),
        cmocka_unit_test(ncut_labels_new_rows_by_their_direction),
        cmocka_unit_test(selftune_weighs_edges_by_both_scales),
        cmocka_unit_test(new_rows_are_shrunk_before_they_are_labelled),
        cmocka_unit_test(a_training_row_keeps_its_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
