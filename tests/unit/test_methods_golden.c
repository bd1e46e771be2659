/* The methods against NumPy, SciPy, scikit-learn and their own definitions. */
#include "base/rng.h"
#include "huddle/metrics.h"
#include "model/model.h"
#include "steps/rotation.h"
#include "support/support.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 8, C = 3 };

/* The blocks of methods.txt, in their order. */
typedef struct golden {
    double *numbers;
    const double *points, *components, *variance_kept, *inertia, *kernel;
    const double *mean_values, *mean_vectors, *tuned_values, *tuned_vectors;
    const double *spls_objective, *lsc_values, *lsc_vectors;
    const double *vectors, *discretised, *alignment;
} golden;

static golden g;
static huddle_points points;

static int read_golden(void **state) {
    (void)state;
    int64_t count;
    const double **blocks[] = {
        &g.points,      &g.components,   &g.variance_kept, &g.inertia,       &g.kernel,
        &g.mean_values, &g.mean_vectors, &g.tuned_values,  &g.tuned_vectors, &g.spls_objective,
        &g.lsc_values,  &g.lsc_vectors,  &g.vectors,       &g.discretised,   &g.alignment};
    const int64_t sizes[] = {N * D, N * 3, 1, 1,     N * N, C, N * C, C,
                             N * C, 1,     C, N * C, N * 4, N, 3};
    g.numbers = test_golden("methods.txt", &count);
    int64_t at = 0;
    for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++) {
        *blocks[b] = g.numbers + at;
        at += sizes[b];
    }
    assert_int_equal(at, count);
    assert_ok(huddle_points_from_double(NULL, N, D, g.points, D, 1, &points));
    return 0;
}

static int free_golden(void **state) {
    (void)state;
    free(g.numbers);
    huddle_points_free(&points);
    return 0;
}

/* A fitted model; options is a list of names and values that ends with NULL. */
static huddle_model *fit(const char *method, const huddle_points *x, const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new(method, &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "3"));
    /* Others have the published methods, without refinement. */
    if (huddle_option_find(huddle_model_options(model), "refine") != NULL)
        assert_ok(huddle_model_set_option(model, "refine", "none"));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* || A'B ||_F^2 for orthonormal columns: c if they span the same space. */
static double overlap(const huddle_dense *a, const double *b, int64_t c) {
    double sum = 0;
    for (int64_t j = 0; j < c; j++)
        for (int64_t k = 0; k < c; k++) {
            double product = 0;
            for (int64_t i = 0; i < a->rows; i++)
                product += a->values[i * a->stride + j] * b[i * c + k];
            sum += product * product;
        }
    return sum;
}

/* ---- PCA ----------------------------------------------------------------------------------- */

static void pca_projects_as_the_svd_does(void **state) {
    (void)state;
    const char *const methods[] = {"pca-kmeans", "pca-sc"};
    for (int m = 0; m < 2; m++) {
        huddle_model *model = fit(methods[m], &points, (const char *const[]){"dim", "3", NULL});
        const hd_fit *f = &model->fit;
        assert_int_equal(f->prepared.points.d, 3);
        for (int64_t e = 0; e < N * 3; e++)
            assert_close((double)f->prepared.points.values[e], g.components[e], 1e-5);
        assert_close(f->prepared.reduction.variance_kept, *g.variance_kept, 1e-6);
        huddle_model_free(model);
    }
}

static void pca_kmeans_reaches_the_least_inertia(void **state) {
    (void)state;
    huddle_model *model = fit("pca-kmeans", &points, (const char *const[]){"dim", "3", NULL});
    assert_close(model->fit.clusters.kmeans.inertia, *g.inertia, 1e-5);
    huddle_model_free(model);
}

static void dim_is_clipped_and_chosen(void **state) {
    (void)state;
    huddle_model *model = fit("pca-kmeans", &points, (const char *const[]){"dim", "20", NULL});
    assert_int_equal(model->fit.prepared.reduction.d_out, D);
    assert_int_equal(model->fit.warnings.count, 1);
    assert_non_null(strstr(model->fit.warnings.items[0].text, "dim = 20 is clipped to 8"));
    assert_close(model->fit.prepared.reduction.variance_kept, 1, 1e-6);
    huddle_model_free(model);
    model = fit("pca-kmeans", &points, (const char *const[]){NULL});
    assert_in_range(model->fit.prepared.reduction.d_out, 2, D);
    assert_true(model->fit.prepared.reduction.variance_kept >= 0.9);
    assert_int_equal(model->fit.warnings.count, 0);
    huddle_model_free(model);
}

/* ---- LDA ----------------------------------------------------------------------------------- */

/* The sum of the c - 1 largest mu of S_b p = mu S_t p by LAPACK's generalised solver. */
static double sum_of_mu(const huddle_points *y, const int32_t *labels) {
    int m = (int)y->d;
    double *total = calloc((size_t)(m * m), sizeof *total), *mu = malloc((size_t)m * sizeof *mu);
    double *between = calloc((size_t)(m * m), sizeof *between), trace = 0, sum = 0;
    double *means = calloc((size_t)(m * (C + 1)), sizeof *means), sizes[C + 1] = {0};
    for (int64_t i = 0; i < y->n; i++)
        for (int which = 0; which < 2; which++) { /* the cluster's mean, and that of all */
            int k = which == 0 ? labels[i] : C;
            sizes[k]++;
            for (int j = 0; j < m; j++)
                means[k * m + j] += (double)y->values[i * y->stride + j];
        }
    for (int k = 0; k <= C; k++)
        for (int j = 0; j < m; j++)
            means[k * m + j] /= sizes[k];
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) {
            for (int64_t i = 0; i < y->n; i++)
                total[a * m + b] += ((double)y->values[i * y->stride + a] - means[C * m + a]) *
                                    ((double)y->values[i * y->stride + b] - means[C * m + b]);
            for (int k = 0; k < C; k++)
                between[a * m + b] += sizes[k] * (means[k * m + a] - means[C * m + a]) *
                                      (means[k * m + b] - means[C * m + b]);
        }
    for (int a = 0; a < m; a++)
        trace += total[a * m + a];
    for (int a = 0; a < m; a++)
        total[a * m + a] += 1e-3 * trace / m;
    assert_int_equal(LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'N', 'L', m, between, m, total, m, mu), 0);
    for (int k = 0; k < C - 1; k++)
        sum += mu[m - 1 - k];
    free(total), free(between), free(means), free(mu);
    return sum;
}

static void lda_solves_the_generalised_problem(void **state) {
    (void)state;
    huddle_model *pca = fit("pca-kmeans", &points, (const char *const[]){"dim", "5", NULL});
    huddle_model *lda = fit("lda-kmeans", &points, (const char *const[]){"dim", "5", NULL});
    const huddle_alternation_info *a = &lda->fit.clusters.alternation;
    assert_true(a->n_iter >= 1);
    assert_int_equal(a->stop, HUDDLE_STOP_CONVERGED);
    assert_close(a->objective[a->n_history - 1],
                 sum_of_mu(&pca->fit.prepared.points, lda->fit.clusters.labels), 1e-6);
    for (int32_t t = 1; t < a->n_history; t++)
        assert_true(a->objective[t] >= a->objective[t - 1] * (1 - 1e-9));
    assert_int_equal(lda->fit.prepared.points.d, C - 1);
    huddle_model_free(pca);
    huddle_model_free(lda);
}

/* Three weak clusters in many dimensions, where any labelling of few points can be separated. */
static huddle_points weak_clusters(int64_t n, int64_t d) {
    huddle_points x;
    hd_rng rng = hd_rng_stream(8, 0);
    assert_ok(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < n * d; e++)
        x.values[e] = (float)hd_rng_normal(&rng) + (e / d % C + 3 == e % d ? 3.0f : 0.0f);
    return x;
}

/* P'S_t P = I, up to the ridge of 1e-3: K-means must not see one direction larger than another. */
static void check_scatter_of_one(const huddle_points *x, const char *dim) {
    huddle_model *lda = fit("lda-kmeans", x, (const char *const[]){"dim", dim, NULL});
    const huddle_points *y = &lda->fit.prepared.points;
    assert_int_equal(y->d, C - 1);
    for (int64_t a = 0; a < y->d; a++)
        for (int64_t b = 0; b <= a; b++) {
            double product = 0, mean_a = 0, mean_b = 0;
            for (int64_t i = 0; i < y->n; i++) {
                double u = (double)y->values[i * y->stride + a];
                double v = (double)y->values[i * y->stride + b];
                product += u * v;
                mean_a += u / (double)y->n;
                mean_b += v / (double)y->n;
            }
            assert_close(product - (double)y->n * mean_a * mean_b, a == b, 0.01);
        }
    huddle_model_free(lda);
}

static void lda_directions_have_a_scatter_of_one(void **state) {
    (void)state;
    huddle_points x = weak_clusters(300, 20);
    check_scatter_of_one(&x, "10");
    huddle_points_free(&x);
}

/* With as many components as directions the trace of the start, principal components, is that of
 * every later round but for rounding, which must not choose between them. */
static void lda_does_not_return_its_start(void **state) {
    (void)state;
    for (int64_t n = 90; n < 120; n++) {
        huddle_points x = weak_clusters(n, 8);
        check_scatter_of_one(&x, "2");
        huddle_points_free(&x);
    }
}

/* Agreement of LDA in so many principal components with the labels that it begins with. */
static double agreement(const huddle_points *x, const char *dim, const int32_t *first,
                        int32_t *rounds) {
    huddle_model *model = fit("lda-kmeans", x, (const char *const[]){"dim", dim, NULL});
    huddle_scores scores;
    assert_ok(huddle_metrics_scores(NULL, x->n, first, model->fit.clusters.labels, &scores));
    *rounds = model->fit.clusters.alternation.n_iter;
    huddle_model_free(model);
    return scores.ari;
}

static void lda_freezes_unless_pca_comes_first(void **state) {
    (void)state;
    huddle_points x = weak_clusters(40, 120);
    huddle_model *first = fit("pca-kmeans", &x, (const char *const[]){"dim", "2", NULL});
    const int32_t *labels = first->fit.clusters.labels;
    const char *const all[] = {"37", "38", "39"}, *const few[] = {"5", "8", "12"};
    int32_t rounds;
    int moved = 0;
    for (int i = 0; i < 3; i++) {
        assert_close(agreement(&x, all[i], labels, &rounds), 1, 1e-12);
        assert_int_equal(rounds, 1);
        moved += agreement(&x, few[i], labels, &rounds) < 1 && rounds > 1;
    }
    assert_true(moved >= 1);
    huddle_model_free(first);
    huddle_points_free(&x);
}

static void lda_sc_clusters_in_the_discriminant_directions(void **state) {
    (void)state;
    huddle_model *lda = fit("lda-kmeans", &points, (const char *const[]){"dim", "5", NULL});
    huddle_model *sc = fit("lda-sc", &points, (const char *const[]){"dim", "5", NULL});
    assert_int_equal(sc->fit.prepared.points.d, C - 1);
    assert_memory_equal(sc->fit.prepared.points.values, lda->fit.prepared.points.values,
                        (size_t)(N * (C - 1)) * sizeof(float));
    assert_int_equal(sc->fit.embedding.f.rows.cols, C);
    huddle_model_free(lda);
    huddle_model_free(sc);
}

/* ---- local learning ------------------------------------------------------------------------ */

static void llc_spans_what_t_does(void **state) {
    (void)state;
    const struct {
        const char *scale, *alpha;
        const double *values, *vectors;
    } cases[] = {{"mean", "1", g.mean_values, g.mean_vectors},
                 {"selftune", "0.1", g.tuned_values, g.tuned_vectors}};
    const char *const solvers[] = {"dense", "chebyshev"};
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < 2; s++) {
            huddle_model *model =
                fit("llc", &points,
                    (const char *const[]){"scale", cases[c].scale, "alpha", cases[c].alpha, "tol",
                                          "1e-9", "embed_solver", solvers[s], NULL});
            const huddle_embedding *e = &model->fit.embedding.f;
            for (int k = 0; k < C; k++)
                assert_close(e->eigenvalues[k], cases[c].values[k], 1e-7);
            assert_close(overlap(&e->vectors, cases[c].vectors, C), C, 1e-6);
            huddle_model_free(model);
        }
}

/* ---- the reconstruction -------------------------------------------------------------------- */

static void spls_without_pull_is_pca(void **state) {
    (void)state;
    huddle_model *model =
        fit("spls", &points, (const char *const[]){"gamma", "0", "dim", "3", NULL});
    const huddle_dense *f = &model->fit.shrunk.g.g;
    double kept = 0, total = 0;
    for (int64_t e = 0; e < N * 3; e++)
        kept += g.components[e] * g.components[e];
    total = kept / *g.variance_kept;
    double factor = sqrt(N / total);
    for (int64_t e = 0; e < N * 3; e++)
        assert_close(f->values[e], factor * g.components[e], 1e-6);
    huddle_model_free(model);
}

/* ||X - G P'||^2 + gamma sum w ||g_i - g_j|| from the definition. */
static double spls_objective(const hd_fit *f, double gamma) {
    const huddle_dense *p = &f->prepared.reduction.projection, *y = &f->shrunk.g.g;
    const huddle_csr *w = &f->shrunk.w.matrix;
    double total = 0, sum = 0, scale = 0;
    for (int64_t e = 0; e < N * D; e++)
        total += pow((double)points.values[e] - f->prepared.reduction.centre[e % D], 2);
    scale = sqrt(N / total); /* the projection is scale times P */
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++) {
            double rest =
                scale * ((double)points.values[i * D + j] - f->prepared.reduction.centre[j]);
            for (int64_t k = 0; k < y->cols; k++)
                rest -= y->values[i * y->stride + k] * p->values[j * p->stride + k] / scale;
            sum += rest * rest;
        }
        for (int64_t e = w->offsets[i]; e < w->offsets[i + 1]; e++) {
            double distance = 0;
            for (int64_t k = 0; k < y->cols; k++)
                distance +=
                    pow(y->values[i * y->stride + k] - y->values[w->columns[e] * y->stride + k], 2);
            sum += gamma * w->values[e] * sqrt(distance) / 2;
        }
    }
    return sum;
}

static void spls_lowers_its_objective_to_where_numpy_does(void **state) {
    (void)state;
    huddle_model *model = fit("spls", &points,
                              (const char *const[]){"gamma", "0.3", "dim", "3", "gap", "1e-6",
                                                    "scale", "selftune", NULL});
    const huddle_alternation_info *a = &model->fit.clusters.alternation;
    assert_int_equal(a->stop, HUDDLE_STOP_CONVERGED);
    for (int32_t t = 1; t < a->n_history; t++)
        assert_true(a->objective[t] <= a->objective[t - 1] * (1 + 1e-6));
    double last = a->objective[a->n_history - 1];
    assert_close(last, spls_objective(&model->fit, 0.3), 1e-6);
    assert_close(last, *g.spls_objective, 1e-4);
    huddle_model_free(model);
}

/* ---- discriminative K-means ---------------------------------------------------------------- */

static void diskmeans_is_kernel_kmeans(void **state) {
    (void)state;
    huddle_model *model = fit("diskmeans", &points, (const char *const[]){"alpha", "5", NULL});
    const int32_t *labels = model->fit.clusters.labels;
    double objective = 0, sizes[C] = {0}, within[C] = {0};
    for (int i = 0; i < N; i++) {
        objective += g.kernel[i * N + i];
        sizes[labels[i]]++;
        for (int j = 0; j < N; j++)
            within[labels[i]] += labels[i] == labels[j] ? g.kernel[i * N + j] : 0;
    }
    for (int k = 0; k < C; k++)
        objective -= within[k] / sizes[k];
    assert_close(model->fit.clusters.kmeans.inertia, objective, 1e-5);
    huddle_model_free(model);
}

/* ---- landmarks ----------------------------------------------------------------------------- */

static void lsc_spans_what_the_svd_does(void **state) {
    (void)state;
    huddle_model *model = fit("lsc", &points,
                              (const char *const[]){"landmarks", "random", "n_landmarks", "60",
                                                    "landmark_neighbors", "5", NULL});
    const huddle_embedding *e = &model->fit.embedding.f;
    huddle_dense first = e->vectors;
    first.cols = C;
    for (int k = 0; k < C; k++)
        assert_close(e->eigenvalues[k], 1 - g.lsc_values[k], 1e-9);
    assert_close(overlap(&first, g.lsc_vectors, C), C, 1e-9);
    huddle_model_free(model);
}

static void lsc_refuses_fewer_landmarks_than_clusters(void **state) {
    (void)state;
    huddle_model *model;
    assert_ok(huddle_model_new("lsc", &model));
    assert_ok(huddle_model_set_option(model, "n_clusters", "9"));
    assert_ok(huddle_model_set_option(model, "n_landmarks", "7"));
    assert_refused(huddle_model_fit(NULL, model, &points), HUDDLE_INVALID,
                   "n_landmarks = 7 is fewer than n_clusters = 9");
    huddle_model_free(model);
}

/* ---- rotations ----------------------------------------------------------------------------- */

static huddle_dense unit_rows(int64_t c) {
    huddle_dense vectors = {N, 4, 4, (double *)(uintptr_t)g.vectors}, rows;
    assert_ok(huddle_dense_new(N, c, &rows));
    assert_ok(huddle_embed_rows(&vectors, NULL, "unit", &rows));
    return rows;
}

static void assert_orthogonal(const double *r, int64_t c) {
    for (int64_t a = 0; a < c; a++)
        for (int64_t b = 0; b < c; b++) {
            double product = 0;
            for (int64_t k = 0; k < c; k++)
                product += r[a * c + k] * r[b * c + k];
            assert_close(product, a == b, 1e-12);
        }
}

static void ncut_rotates_and_its_objective_falls(void **state) {
    (void)state;
    huddle_model *model = fit("ncut", &points, (const char *const[]){"tol", "1e-9", NULL});
    const hd_fit *f = &model->fit;
    const huddle_alternation_info *a = &f->clusters.alternation;
    int32_t truth[N];
    huddle_scores scores;
    double objective = 0;
    assert_orthogonal(f->clusters.centres.values, C);
    assert_true(a->n_history >= 2);
    for (int32_t t = 1; t < a->n_history; t++)
        assert_true(a->objective[t] <= a->objective[t - 1] * (1 + 1e-12));
    for (int64_t i = 0; i < N; i++) {
        const double *row = f->embedding.f.rows.values + i * C;
        double length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        truth[i] = (int32_t)g.discretised[i];
        for (int k = 0; k < C; k++)
            objective +=
                pow(row[k] / length - f->clusters.centres.values[f->clusters.labels[i] * C + k], 2);
    }
    assert_close(f->clusters.rotation.objective, objective, 1e-9);
    assert_close(a->objective[a->n_history - 1], objective, 1e-9);
    assert_ok(huddle_metrics_scores(NULL, N, truth, f->clusters.labels, &scores));
    assert_close(scores.ari, 1, 1e-12);
    huddle_model_free(model);
}

static void the_alignment_is_the_least_there_is(void **state) {
    (void)state;
    for (int c = 2; c <= 4; c++) {
        huddle_dense rows = unit_rows(c), rotation = {0};
        int32_t labels[N];
        double quality;
        assert_ok(hd_step_rotation_find(NULL, &rows, 3, 0, labels, &rotation, NULL, NULL));
        assert_ok(hd_step_rotation_align(NULL, &rows, &rotation, &quality));
        assert_orthogonal(rotation.values, c);
        double cost = N * (1 + (1 - quality) * c);
        assert_close(cost, g.alignment[c - 2], 1e-4);
        huddle_dense_free(&rows);
        huddle_dense_free(&rotation);
    }
}

static void selftune_reports_the_alignment(void **state) {
    (void)state;
    huddle_model *model;
    char *info;
    assert_ok(huddle_model_new("selftune-sc", &model));
    assert_ok(huddle_model_fit(NULL, model, &points));
    const huddle_embed_choice *choice = &model->fit.trials.choice;
    assert_int_equal(choice->count, 5);
    assert_int_equal(model->fit.clusters.n_clusters, choice->candidates[0]);
    for (int i = 1; i < choice->count; i++)
        assert_true(choice->scores[i] <= choice->scores[0] + 1e-3);
    assert_ok(huddle_model_info_json(model, &info));
    assert_non_null(strstr(info, "\"alignment\""));
    huddle_free(info);
    huddle_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pca_projects_as_the_svd_does),
        cmocka_unit_test(pca_kmeans_reaches_the_least_inertia),
        cmocka_unit_test(dim_is_clipped_and_chosen),
        cmocka_unit_test(lda_solves_the_generalised_problem),
        cmocka_unit_test(lda_directions_have_a_scatter_of_one),
        cmocka_unit_test(lda_does_not_return_its_start),
        cmocka_unit_test(lda_freezes_unless_pca_comes_first),
        cmocka_unit_test(lda_sc_clusters_in_the_discriminant_directions),
        cmocka_unit_test(llc_spans_what_t_does),
        cmocka_unit_test(spls_without_pull_is_pca),
        cmocka_unit_test(spls_lowers_its_objective_to_where_numpy_does),
        cmocka_unit_test(diskmeans_is_kernel_kmeans),
        cmocka_unit_test(lsc_spans_what_the_svd_does),
        cmocka_unit_test(lsc_refuses_fewer_landmarks_than_clusters),
        cmocka_unit_test(ncut_rotates_and_its_objective_falls),
        cmocka_unit_test(the_alignment_is_the_least_there_is),
        cmocka_unit_test(selftune_reports_the_alignment),
    };
    return cmocka_run_group_tests(tests, read_golden, free_golden);
}
