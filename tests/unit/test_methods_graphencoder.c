/* Sparse autoencoders against NumPy, and the method that stacks them. */
#include "base/rng.h"
#include "clouds.h"
#include "fit/fit.h"
#include "model/model.h"
#include "steps/autoencoder.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers ---------------------------------------------------------------------------------- */

/* The entries of n x m numbers that are not 0, times a factor, and the transpose. */
static void sparse(int64_t n, int64_t m, const double *values, double factor, huddle_csr *x,
                   huddle_csr *transpose) {
    int64_t count = 0;
    for (int64_t e = 0; e < n * m; e++)
        count += values[e] != 0;
    assert_ok(huddle_csr_new(n, m, count, x));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++)
            if (values[i * m + j] != 0) {
                x->columns[count] = (int32_t)j;
                x->values[count++] = factor * values[i * m + j];
            }
        x->offsets[i + 1] = count;
    }
    assert_ok(huddle_csr_transpose(x, transpose));
}

/* n rows of m numbers, of c kinds: rows of a kind are near each other. */
static double *kinds(int64_t n, int64_t m, int64_t c, double noise, uint64_t seed) {
    double *values = malloc((size_t)(n * m) * sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < m; j++)
            values[i * m + j] = (double)(j % c == i % c) + noise * hd_rng_uniform(&rng);
    }
    return values;
}

enum { PROBLEMS = 3 };

/* The decoder's constants, the sums and the derivatives of graphencoder.txt come from elsewhere. */
static void losses_and_gradients_are_those_of_numpy(void **state) {
    (void)state;
    int64_t count;
    double *numbers = test_golden("graphencoder.txt", &count), loss;
    const double *at = numbers;
    for (int k = 0; k < PROBLEMS; k++) {
        int64_t n = (int64_t)at[0], m = (int64_t)at[1], h = (int64_t)at[2];
        int64_t size = (2 * m + 1) * h;
        huddle_csr x, transpose;
        huddle_dense weights, codes;
        double *gradient = malloc((size_t)size * sizeof *gradient);
        sparse(n, m, at + 5, 1, &x, &transpose);
        const hd_step_autoencoder layer = {&x, &transpose, h, at[3], at[4]};
        const double *parameters = at + 5 + n * m, *expected = parameters + size;
        assert_int_equal(hd_step_autoencoder_size(&layer), size);
        assert_ok(hd_step_autoencoder_loss(NULL, &layer, parameters, &loss, gradient));
        assert_close(loss, *expected++, 1e-12);
        for (int64_t e = 0; e < size; e++)
            assert_close(gradient[e], expected[e], 1e-9);
        expected += size;
        assert_ok(huddle_dense_new(m + 1, h, &weights));
        memcpy(weights.values, parameters, (size_t)(m * h) * sizeof *parameters);
        memcpy(weights.values + m * h, parameters + 2 * m * h, (size_t)h * sizeof *parameters);
        assert_ok(hd_step_autoencoder_encode(NULL, &x, &weights, &codes));
        for (int64_t e = 0; e < n * h; e++)
            assert_close(codes.values[e], expected[e], 1e-13);
        at = expected + n * h;
        free(gradient);
        huddle_csr_free(&x);
        huddle_csr_free(&transpose);
        huddle_dense_free(&weights);
        huddle_dense_free(&codes);
    }
    assert_int_equal(at - numbers, count);
    free(numbers);
}

/* What the training of a layer gives. */
typedef struct trained {
    huddle_dense weights, codes;
    huddle_alternation_info history;
} trained;

static void trained_free(trained *t) {
    huddle_dense_free(&t->weights);
    huddle_dense_free(&t->codes);
    hd_fit_alternation_reset(&t->history);
}

static trained train(huddle_context *context, int64_t n, int64_t m, const double *values,
                     double factor, int64_t width, double rho, double beta, hd_step_training how) {
    trained t = {0};
    huddle_csr x, transpose;
    sparse(n, m, values, factor, &x, &transpose);
    const hd_step_autoencoder layer = {&x, NULL, width, rho, beta};
    assert_ok(hd_step_autoencoder_train(context, &layer, &how, &t.weights, &t.history));
    assert_ok(hd_step_autoencoder_encode(context, &x, &t.weights, &t.codes));
    huddle_csr_free(&x);
    huddle_csr_free(&transpose);
    return t;
}

static const hd_step_training usual = {400, .5, .01, 0, 1};

/* Of rows of c kinds c - 1 directions contain nearly all of the variance, which is 1. */
static void the_loss_falls_to_what_no_direction_contains(void **state) {
    (void)state;
    for (int s = 0; s < 6; s++) {
        hd_step_training how = usual;
        int64_t c = 2 + s % 3;
        double *values = kinds(60, 12, c, .1, (uint64_t)s);
        how.seed = (uint64_t)s;
        how.tol = 1e-4;
        trained t = train(NULL, 60, 12, values, 1, c, .5, s < 3 ? 0 : .05, how);
        const huddle_alternation_info *a = &t.history;
        assert_close(a->objective[0], 1, .01);
        for (int32_t k = 1; k < a->n_history; k++)
            assert_true(a->objective[k] < a->objective[k - 1]);
        assert_true(a->objective[a->n_history - 1] < .1);
        assert_int_equal(a->stop, HUDDLE_STOP_CONVERGED);
        assert_true(a->n_iter >= a->n_history && a->n_iter < 400);
        trained_free(&t);
        free(values);
    }
}

/* The sparsity term pulls the mean of every unit to rho. */
static void units_are_active_as_often_as_asked_for(void **state) {
    (void)state;
    static const double wanted[] = {.1, .3};
    double *values = kinds(60, 12, 3, .1, 3);
    for (int k = 0; k < 2; k++) {
        hd_step_training how = usual;
        how.tol = 1e-6;
        trained t = train(NULL, 60, 12, values, 1, 3, wanted[k], 5, how);
        for (int64_t u = 0; u < 3; u++) {
            double mean = 0;
            for (int64_t i = 0; i < 60; i++)
                mean += t.codes.values[i * 3 + u] / 60;
            assert_close(mean, wanted[k], .03);
        }
        trained_free(&t);
    }
    free(values);
}

/* The input is scaled: its unit does not matter, and the weights are for the input as given. */
static void the_unit_of_the_input_does_not_matter(void **state) {
    (void)state;
    double *values = kinds(40, 9, 3, .2, 5);
    hd_step_training how = usual;
    how.epochs = 30;
    trained one = train(NULL, 40, 9, values, 1, 3, .4, .1, how);
    trained two = train(NULL, 40, 9, values, 8, 3, .4, .1, how);
    for (int64_t e = 0; e < 120; e++)
        assert_close(two.codes.values[e], one.codes.values[e], 1e-9);
    for (int64_t e = 0; e < 27; e++)
        assert_close(8 * two.weights.values[e], one.weights.values[e], 1e-9);
    trained_free(&one);
    trained_free(&two);
    free(values);
}

/* The parameters that remain are those of the last value of the loss: after one epoch, the start.
 */
static void a_step_that_was_not_evaluated_is_not_made(void **state) {
    (void)state;
    double *values = kinds(40, 9, 3, .2, 5);
    hd_step_training how = usual;
    how.epochs = 1;
    trained one = train(NULL, 40, 9, values, 1, 3, .5, .1, how);
    how.learning_rate = .1;
    trained two = train(NULL, 40, 9, values, 1, 3, .5, .1, how);
    assert_memory_equal(one.weights.values, two.weights.values, 30 * sizeof(double));
    assert_int_equal(one.history.n_history, 1);
    assert_int_equal(one.history.stop, HUDDLE_STOP_MAX_ITER);
    trained_free(&one);
    trained_free(&two);
    free(values);
}

/* Steps that are too long are undone and become shorter. */
static void long_steps_do_no_harm(void **state) {
    (void)state;
    double *values = kinds(60, 12, 3, .1, 1);
    hd_step_training how = usual;
    how.learning_rate = 300;
    trained t = train(NULL, 60, 12, values, 1, 3, .5, .01, how);
    const huddle_alternation_info *a = &t.history;
    for (int32_t k = 1; k < a->n_history; k++)
        assert_true(a->objective[k] < a->objective[k - 1]);
    assert_true(a->n_iter > a->n_history);
    assert_true(a->objective[a->n_history - 1] < .5);
    trained_free(&t);
    free(values);
}

/* Rows that are all equal, or 0, leave nothing to learn, and training ends soon. What rounding
 * leaves of their variance is not enlarged. */
static void equal_rows_end_the_training(void **state) {
    (void)state;
    double values[40];
    for (int k = 0; k < 4; k++) {
        for (int e = 0; e < 40; e++)
            values[e] = k % 2 == 0 ? 0 : e % 4;
        trained t = train(NULL, 10, 4, values, 1, 2, .5, k < 2 ? .1 : 0, usual);
        if (k < 2) /* without the sparsity term the loss is rounding, which may fall for long */
            assert_true(t.history.n_iter < 100);
        else
            assert_close(t.history.objective[0], 0, 1e-6);
        for (int e = 0; e < 8; e++)
            assert_true(fabs(t.weights.values[e]) < 1);
        for (int e = 2; e < 20; e++)
            assert_close(t.codes.values[e], t.codes.values[e - 2], 1e-12);
        trained_free(&t);
    }
}

/* Many rows in several chunks. */
static void threads_change_no_bit(void **state) {
    (void)state;
    enum { ROWS = 9000, COLS = 6 };
    double *values = kinds(ROWS, COLS, 3, .3, 9);
    hd_step_training how = usual;
    huddle_context *context;
    how.epochs = 5;
    assert_ok(huddle_context_new(&context));
    assert_ok(huddle_context_set_threads(context, 1));
    trained one = train(context, ROWS, COLS, values, 1, 40, .5, .1, how);
    assert_ok(huddle_context_set_threads(context, 3));
    trained two = train(context, ROWS, COLS, values, 1, 40, .5, .1, how);
    assert_memory_equal(one.codes.values, two.codes.values, ROWS * 40 * sizeof(double));
    assert_memory_equal(one.history.objective, two.history.objective,
                        (size_t)one.history.n_history * sizeof(double));
    trained_free(&one);
    trained_free(&two);
    huddle_context_free(context);
    free(values);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* A model; options is a list of names and values that ends with NULL. */
static huddle_model *new_model(const char *n_clusters, const char *const *options) {
    huddle_model *model;
    assert_ok(huddle_model_new("graphencoder", &model));
    assert_ok(huddle_model_set_option(model, "prepare", "none"));
    assert_ok(huddle_model_set_option(model, "n_clusters", n_clusters));
    for (; *options != NULL; options += 2)
        assert_ok(huddle_model_set_option(model, options[0], options[1]));
    return model;
}

static huddle_model *fit(const huddle_points *x, const char *n_clusters,
                         const char *const *options) {
    huddle_model *model = new_model(n_clusters, options);
    assert_ok(huddle_model_fit(NULL, model, x));
    return model;
}

/* Whether the graph is connected or not. */
static void separate_clouds_are_found(void **state) {
    (void)state;
    static const char *const layers[] = {"auto", "4", "8,4"}, *const connects[] = {"false", "true"};
    for (int t = 0; t < 6; t++) {
        huddle_points x = clouds(120, 6, 4, .3, 1, (uint64_t)t), fresh = clouds(40, 6, 4, .3, 1, 0);
        int32_t labels[40];
        huddle_model *model =
            fit(&x, "4",
                (const char *const[]){"layers", layers[t % 3], "connect", connects[t / 3], NULL});
        assert_close(cloud_accuracy(120, 4, huddle_model_labels(model, NULL)), 1, 0);
        /* New points of the same clouds. */
        for (int64_t e = 0; e < 240; e++) {
            hd_rng noise = hd_rng_stream(1234, (uint64_t)e);
            fresh.values[e] = x.values[e] + .05F * (float)hd_rng_normal(&noise);
        }
        assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
        assert_close(cloud_accuracy(40, 4, labels), 1, 0);
        huddle_model_free(model);
        huddle_points_free(&x);
        huddle_points_free(&fresh);
    }
}

static void clouds_that_touch_are_found_about_as_well_as_by_their_centres(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        huddle_points x = clouds(300, 8, 3, 1.4, 1, seed);
        huddle_model *model = fit(&x, "3", (const char *const[]){NULL});
        assert_true(cloud_accuracy(300, 3, huddle_model_labels(model, NULL)) > .9);
        /* Training rows are recognised. */
        int32_t labels[300];
        assert_ok(huddle_model_predict(NULL, model, &x, labels));
        assert_memory_equal(labels, huddle_model_labels(model, NULL), sizeof labels);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* Codes of the training rows, by the definition. */
static void check_codes(const hd_fit *f, int64_t n_first, int64_t n_second) {
    const huddle_csr *a = &f->graph.matrix;
    const huddle_dense *w = &f->encoder.weights, *rows = &f->embedding.f.rows;
    int64_t n = f->rows.n;
    assert_int_equal(f->encoder.n_layers, 2);
    assert_int_equal(w->rows, n + 1 + n_first + 1);
    assert_int_equal(rows->cols, n_second);
    for (int64_t i = 0; i < n; i++) {
        double degree = 0, first[8], second;
        for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            degree += a->values[e];
        for (int64_t k = 0; k < n_first; k++) {
            first[k] = w->values[n * w->stride + k];
            for (int64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
                double copies = (double)hd_fit_rows_copies(&f->rows, a->columns[e]);
                first[k] +=
                    a->values[e] / degree / sqrt(copies) * w->values[a->columns[e] * w->stride + k];
            }
            first[k] = 1 / (1 + exp(-first[k]));
        }
        for (int64_t k = 0; k < n_second; k++) {
            second = w->values[(n + 1 + n_first) * w->stride + k];
            for (int64_t l = 0; l < n_first; l++)
                second += first[l] * w->values[(n + 1 + l) * w->stride + k];
            assert_close(rows->values[i * rows->stride + k], 1 / (1 + exp(-second)), 1e-12);
        }
    }
}

/* Without copies and with so many that they are merged. */
static void codes_are_those_of_the_layers(void **state) {
    (void)state;
    for (int t = 0; t < 2; t++) {
        huddle_points x = clouds(90, 4, 3, .8, 1, 2);
        for (int64_t i = 40; i < 90 && t == 1; i++)
            memcpy(x.values + i * 4, x.values + i % 3 * 4, 4 * sizeof(float));
        huddle_model *model = fit(&x, "3", (const char *const[]){"layers", "5,3", NULL});
        assert_int_equal(model->fit.rows.n, t == 0 ? 90 : 40);
        check_codes(&model->fit, 5, 3);
        huddle_model_free(model);
        huddle_points_free(&x);
    }
}

/* New points get the codes of the rows that the graph would give them: their distances to k
 * neighbours weighted with both scales, divided by the sum. */
static void new_points_get_the_codes_of_their_similarities(void **state) {
    (void)state;
    enum { ROWS = 80, K = 5, NEW = 50 };
    huddle_points x = clouds(ROWS, 4, 3, 1.2, 1, 4), fresh = clouds(NEW, 4, 3, 1.8, 1, 4);
    huddle_model *model =
        fit(&x, "3", (const char *const[]){"layers", "3", "n_neighbors", "5", NULL});
    const hd_fit *f = &model->fit;
    const huddle_dense *w = &f->encoder.weights, *centres = &f->clusters.centres;
    int32_t labels[NEW];
    assert_ok(huddle_model_predict(NULL, model, &fresh, labels));
    for (int64_t p = 0; p < NEW; p++) {
        int64_t nearest[K];
        double distance[K], total = 0, code[3], least = INFINITY;
        int32_t label = -1;
        for (int k = 0; k < K; k++) {
            distance[k] = INFINITY;
            for (int64_t i = 0; i < ROWS; i++) {
                double square = 0;
                bool taken = false;
                for (int64_t j = 0; j < 4; j++)
                    square += pow((double)(fresh.values[p * 4 + j] - x.values[i * 4 + j]), 2);
                for (int l = 0; l < k; l++)
                    taken = taken || nearest[l] == i;
                if (!taken && sqrt(square) < distance[k]) {
                    distance[k] = sqrt(square);
                    nearest[k] = i;
                }
            }
        }
        for (int64_t u = 0; u < 3; u++) {
            total = 0;
            code[u] = 0;
            for (int k = 0; k < K; k++) {
                double weight = exp(-distance[k] * distance[k] /
                                    (distance[K - 1] * f->graph.scale.local[nearest[k]]));
                total += weight;
                code[u] += weight * w->values[nearest[k] * w->stride + u];
            }
            code[u] = 1 / (1 + exp(-code[u] / total - w->values[ROWS * w->stride + u]));
        }
        for (int32_t c = 0; c < 3; c++) {
            double square = 0;
            for (int64_t u = 0; u < 3; u++)
                square += pow(code[u] - centres->values[c * centres->stride + u], 2);
            if (square < least) {
                least = square;
                label = c;
            }
        }
        assert_int_equal(labels[p], label);
    }
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void equal_rows_have_equal_labels(void **state) {
    (void)state;
    huddle_points x = clouds(120, 5, 3, .4, 1, 7);
    for (int64_t i = 60; i < 120; i++) /* each of three rows has 20 copies, others two */
        memcpy(x.values + i * 5, x.values + (i < 90 ? i % 3 : i - 90 + 3) * 5, 5 * sizeof(float));
    huddle_model *model = fit(&x, "3", (const char *const[]){NULL});
    const int32_t *labels = huddle_model_labels(model, NULL);
    for (int64_t i = 60; i < 120; i++)
        assert_int_equal(labels[i], labels[i < 90 ? i % 3 : i - 90 + 3]);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* One cluster; as many as points; only equal points; one point; more components than clusters. */
static void small_cases_are_solved(void **state) {
    (void)state;
    huddle_points x = clouds(12, 3, 12, 0, 1, 1), one = clouds(1, 3, 1, 0, 1, 1),
                  far = clouds(90, 3, 6, .05, 1, 3);
    huddle_model *model = fit(&x, "1", (const char *const[]){NULL});
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
    huddle_model_free(model);
    model = fit(&x, "12", (const char *const[]){NULL});
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], i);
    huddle_model_free(model);
    model = fit(&one, "1", (const char *const[]){NULL});
    assert_int_equal(huddle_model_labels(model, NULL)[0], 0);
    huddle_model_free(model);
    for (int64_t e = 3; e < 36; e++)
        x.values[e] = x.values[e % 3];
    model = fit(&x, "2", (const char *const[]){NULL});
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i], 0);
    huddle_model_free(model);
    model = fit(&far, "2", (const char *const[]){"connect", "false", NULL});
    for (int64_t i = 6; i < 90; i++)
        assert_int_equal(huddle_model_labels(model, NULL)[i],
                         huddle_model_labels(model, NULL)[i % 6]);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&one);
    huddle_points_free(&far);
}

/* Cancels in the first report of a training. */
static int stop_training(void *user, const char *stage, double done, double total) {
    (void)done;
    (void)total;
    int64_t *calls = user;
    *calls += strcmp(stage, "train") == 0;
    return strcmp(stage, "train") == 0;
}

/* Reports are rare: the training is made long enough for one. */
static void training_can_be_cancelled(void **state) {
    (void)state;
    huddle_points x = clouds(300, 3, 3, .4, 1, 1);
    huddle_context *context;
    huddle_model *model = new_model(
        "3", (const char *const[]){"epochs", "1000000", "train_tol", "0", "layers", "20", NULL});
    int64_t calls = 0;
    assert_ok(huddle_context_new(&context));
    huddle_context_set_progress(context, stop_training, &calls);
    assert_refused(huddle_model_fit(context, model, &x), HUDDLE_CANCELLED, "cancelled");
    assert_int_equal(calls, 1);
    huddle_model_free(model);
    huddle_context_free(context);
    huddle_points_free(&x);
}

static void options_are_checked_and_obeyed(void **state) {
    (void)state;
    huddle_points x = clouds(60, 3, 3, .4, 1, 1);
    huddle_model *model = new_model("3", (const char *const[]){"layers", "4.5", NULL});
    assert_refused(huddle_model_fit(NULL, model, &x), HUDDLE_INVALID, "layers: 4.5");
    assert_refused(huddle_model_set_option(model, "layers", "0"), HUDDLE_INVALID, "layers");
    assert_refused(huddle_model_set_option(model, "rho", "1"), HUDDLE_INVALID, "rho");
    huddle_model_free(model);
    model = fit(&x, "3", (const char *const[]){"epochs", "7", "train_tol", "0", NULL});
    assert_int_equal(model->fit.clusters.alternation.n_iter, 14); /* of two layers */
    assert_int_equal(model->fit.embedding.f.rows.cols, 3);
    huddle_model_free(model);
    huddle_points_free(&x);
}

/* Layers without units or without weights; without layers the model has its labels but no others.
 */
static void check_broken_encoders(huddle_model *model, const huddle_points *fresh) {
    hd_fit_encoder *encoder = &model->fit.encoder;
    const char *path = test_path_of("graphencoder.huddle");
    int32_t labels[50], *widths = encoder->widths, first = widths[0];
    huddle_model *loaded;
    widths[0] = 0;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "encoder_widths.npy");
    widths[0] = first;
    encoder->widths = NULL;
    assert_refused(hd_fit_check(&model->fit), HUDDLE_FORMAT, "encoder_widths.npy or encoder.npy");
    encoder->widths = widths;
    encoder->n_layers = 0;
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_refused(huddle_model_predict(NULL, loaded, fresh, labels), HUDDLE_UNSUPPORTED,
                   "without an encoder");
    huddle_model_free(loaded);
}

/* A saved model labels new points as before; one whose layers do not fit together is refused. */
static void files_keep_the_encoder(void **state) {
    (void)state;
    huddle_points x = clouds(60, 4, 3, .5, 1, 1), fresh = clouds(50, 4, 3, 1.5, 1, 1);
    huddle_model *model = fit(&x, "3", (const char *const[]){"layers", "5,3", NULL}), *loaded;
    hd_fit_encoder *encoder = &model->fit.encoder;
    const char *path = test_path_of("graphencoder.huddle");
    int32_t before[50], after[50];
    assert_ok(huddle_model_predict(NULL, model, &fresh, before));
    assert_ok(huddle_model_save(model, path));
    assert_ok(huddle_model_load(path, &loaded));
    assert_ok(huddle_model_predict(NULL, loaded, &fresh, after));
    assert_memory_equal(before, after, sizeof before);
    huddle_model_free(loaded);
    encoder->weights.rows--;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "rows of encoder.npy");
    encoder->weights.rows++;
    encoder->widths[1] = 6;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "encoder_widths.npy");
    encoder->widths[1] = 2;
    assert_ok(huddle_model_save(model, path));
    assert_refused(huddle_model_load(path, &loaded), HUDDLE_FORMAT, "columns of embedding.npy");
    encoder->widths[1] = 3;
    check_broken_encoders(model, &fresh);
    huddle_model_free(model);
    huddle_points_free(&x);
    huddle_points_free(&fresh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_gradients_are_those_of_numpy),
        cmocka_unit_test(the_loss_falls_to_what_no_direction_contains),
        cmocka_unit_test(units_are_active_as_often_as_asked_for),
        cmocka_unit_test(the_unit_of_the_input_does_not_matter),
        cmocka_unit_test(a_step_that_was_not_evaluated_is_not_made),
        cmocka_unit_test(long_steps_do_no_harm),
        cmocka_unit_test(equal_rows_end_the_training),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(separate_clouds_are_found),
        cmocka_unit_test(clouds_that_touch_are_found_about_as_well_as_by_their_centres),
        cmocka_unit_test(codes_are_those_of_the_layers),
        cmocka_unit_test(new_points_get_the_codes_of_their_similarities),
        cmocka_unit_test(equal_rows_have_equal_labels),
        cmocka_unit_test(small_cases_are_solved),
        cmocka_unit_test(training_can_be_cancelled),
        cmocka_unit_test(options_are_checked_and_obeyed),
        cmocka_unit_test(files_keep_the_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
