/* Sparse autoencoders with a linear decoder. Let J = I - 11'/n remove the mean of each column. With
 * the optimal d, and because J J = J,
 *
 *     ||X - H V' - 1 d'||^2 = ||J X||^2 - 2 tr (X V)'J H + tr (V'V) (H'J H),
 *
 * so neither the reconstruction, which is as large as X would be if it were dense, nor d is
 * formed: an evaluation costs O(entries of X h + (n + m) h^2) time and O((n + m) h) memory. Its
 * derivatives are
 *
 *     by V   2/n (V H'J H - X'J H),
 *     by H   2/n (J H V'V - J X V) + beta/n KL'(mean of H)  =: E,
 *     by U   X'(E o H o (1 - H)),   by b   the column sums of E o H o (1 - H).
 *
 * All rows make one step: near 0, U and V grow along the singular vectors of J X, the faster the
 * larger the singular value, so that those of clusters come before those of noise, and rows of H
 * are at the distances of the rows of the first ones. (Adam and L-BFGS, which make slow directions
 * as fast as the others, lose this.) The derivative of the sigmoid is about s = rho (1 - rho) at
 * the start, and U is as large as V in its effect if it is 1/s times as large; its gradient is then
 * s times that of V, so that its steps are multiplied by 1/s^2.
 *
 * A step that would raise L is undone and the momentum forgotten (O'Donoghue and Candes, Adaptive
 * restart for accelerated gradient schemes, 2015); if there was none, the steps become shorter. */
#include "steps/autoencoder.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "fit/fit.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Chunks that are worth the start of threads: about a millisecond; hidden units per chunk of a
 * product whose result is h x h. */
enum { WORK_PER_CHUNK = 1 << 20, MAX_CHUNK = 4096, UNITS_PER_CHUNK = 32 };

/* L must have fallen enough within so many steps; rounds of the power iteration. */
enum { PATIENCE = 10, POWER_ROUNDS = 20 };

static const double momentum = .9;

/* U and V begin as normal numbers of this size. What U begins with stays in the codes as noise, so
 * that it is small beside what is learned: with .1, K-means on the codes of digits had an accuracy
 * of .4 instead of .8. A start ten times smaller takes more epochs and gives the same. */
static const double start_size = .005;

/* Steps that are so much shorter than the first lower L by no more than rounding errors. */
static const double least_rate = 1e-6;

/* Means of units are kept this far from 0 and 1, where KL is infinite. */
static const double least_mean = 1e-9;

/* A smaller share of the squares is rounding of the difference: all rows are equal. */
static const double least_share = 1e-12;

/* ---- the loss ------------------------------------------------------------------------------ */

typedef struct pass {
    const huddle_csr *x, *transpose;
    int64_t n, m, h;
    double rho, beta;
    const double *u, *v, *b; /* parameters */
    double *hidden;          /* n x h: H, */
    double *centred;         /* J H */
    double *product;         /* X V, then E o H o (1 - H) */
    double *scatter;         /* h x h: H'J H, */
    double *decoder;         /* V'V */
    double *mean, *slope;    /* h: of H; of the penalty, for each unit */
    double *product_mean;    /* h: of X V */
    double *gradient;
    double total; /* ||J X||^2 */
} pass;

static void pass_free(pass *p) {
    FREE(p->hidden, p->centred, p->product, p->scatter, p->decoder, p->mean, p->slope,
         p->product_mean);
}

/* ||J X||^2. */
static huddle_status measure_input(const huddle_csr *x, double *total) {
    huddle_status status = HUDDLE_OK;
    double *mean = NULL, square = 0, of_means = 0, n = (double)x->rows;
    ALLOC_ZERO(mean, x->cols);
    for (int64_t e = 0; e < x->offsets[x->rows]; e++) {
        mean[x->columns[e]] += x->values[e] / n;
        square += x->values[e] * x->values[e];
    }
    for (int64_t j = 0; j < x->cols; j++)
        of_means += mean[j] * mean[j];
    *total = square - n * of_means;
    *total = *total > least_share * square ? *total : 0;
done:
    huddle_free(mean);
    return status;
}

static huddle_status pass_new(const hd_step_autoencoder *layer, pass *p) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *x = layer->x;
    int64_t n = x->rows, h = layer->width;
    *p = (pass){.x = x, .transpose = layer->transpose, .n = n, .m = x->cols, .h = h};
    p->rho = layer->rho;
    p->beta = layer->beta;
    ALLOC(p->hidden, n * h);
    ALLOC(p->centred, n * h);
    ALLOC(p->product, n * h);
    ALLOC(p->scatter, h * h);
    ALLOC(p->decoder, h * h);
    ALLOC(p->mean, h);
    ALLOC(p->slope, h);
    ALLOC(p->product_mean, h);
    TRY(measure_input(x, &p->total));
done:
    return status;
}

/* Rows of a sparse matrix in a chunk. */
static int64_t grain_of(const huddle_csr *x, int64_t h) {
    int64_t work = (x->offsets[x->rows] / (x->rows > 0 ? x->rows : 1) + h + 1) * h;
    int64_t rows = WORK_PER_CHUNK / work + 1;
    return rows < MAX_CHUNK ? rows : MAX_CHUNK;
}

/* Adds row i of x times a matrix of h columns to row. */
static void add_product(const huddle_csr *x, int64_t i, int64_t h, const double *matrix,
                        double *row) {
    for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++) {
        const double *from = matrix + x->columns[e] * h;
        double value = x->values[e];
        for (int64_t k = 0; k < h; k++)
            row[k] += value * from[k];
    }
}

/* Row i of H. */
static void encode_row(const huddle_csr *x, int64_t i, int64_t h, const double *u, const double *b,
                       double *row) {
    memcpy(row, b, (size_t)h * sizeof *row);
    add_product(x, i, h, u, row);
    for (int64_t k = 0; k < h; k++)
        row[k] = 1 / (1 + exp(-row[k]));
}

/* H and X V. */
static huddle_status encode_rows(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    for (int64_t i = chunk.begin; i < chunk.end; i++) {
        double *product = p->product + i * p->h;
        encode_row(p->x, i, p->h, p->u, p->b, p->hidden + i * p->h);
        memset(product, 0, (size_t)p->h * sizeof *product);
        add_product(p->x, i, p->h, p->v, product);
    }
    return HUDDLE_OK;
}

/* Column means of rows x h numbers. */
static void average(int64_t rows, int64_t h, const double *values, double *mean) {
    memset(mean, 0, (size_t)h * sizeof *mean);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < h; k++)
            mean[k] += values[i * h + k];
    for (int64_t k = 0; k < h; k++)
        mean[k] /= (double)rows;
}

static void subtract(int64_t rows, int64_t h, const double *values, const double *mean,
                     double *centred) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < h; k++)
            centred[i * h + k] = values[i * h + k] - mean[k];
}

/* Rows of H'J H and V'V. */
static huddle_status multiply_units(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    int units = (int)(chunk.end - chunk.begin), h = (int)p->h;
    int64_t at = chunk.begin;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, units, h, (int)p->n, 1, p->centred + at, h,
                p->centred, h, 0, p->scatter + at * h, h);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, units, h, (int)p->m, 1, p->v + at, h, p->v,
                h, 0, p->decoder + at * h, h);
    return HUDDLE_OK;
}

/* beta sum_k KL, and its derivatives by the entries of H: slope. */
static double penalty(const pass *p) {
    double sum = 0, r = p->rho;
    for (int64_t k = 0; k < p->h; k++) {
        double q = fmin(fmax(p->mean[k], least_mean), 1 - least_mean);
        sum += r * log(r / q) + (1 - r) * log((1 - r) / (1 - q));
        p->slope[k] = p->beta / (double)p->n * ((1 - r) / (1 - q) - r / q);
    }
    return p->beta * sum;
}

/* E o H o (1 - H), in the place of X V. */
static huddle_status backward_rows(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    int64_t h = p->h, at = chunk.begin * h, count = chunk.end - chunk.begin;
    double *out = p->product + at, factor = 2 / (double)p->n;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)h, (int)h, factor,
                p->centred + at, (int)h, p->decoder, (int)h, -factor, out, (int)h);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < h; k++) {
            double active = p->hidden[at + i * h + k];
            double by_h = out[i * h + k] + factor * p->product_mean[k] + p->slope[k];
            out[i * h + k] = by_h * active * (1 - active);
        }
    return HUDDLE_OK;
}

/* Rows of the gradient by U and V. */
static huddle_status derive_rows(void *argument, hd_chunk chunk) {
    const pass *p = argument;
    int64_t h = p->h, count = chunk.end - chunk.begin;
    double *by_u = p->gradient + chunk.begin * h, *by_v = by_u + p->m * h;
    double factor = 2 / (double)p->n;
    memset(by_u, 0, (size_t)(count * h) * sizeof *by_u);
    memset(by_v, 0, (size_t)(count * h) * sizeof *by_v);
    for (int64_t j = 0; j < count; j++) {
        add_product(p->transpose, chunk.begin + j, h, p->product, by_u + j * h);
        add_product(p->transpose, chunk.begin + j, h, p->centred, by_v + j * h);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)h, (int)h, factor,
                p->v + chunk.begin * h, (int)h, p->scatter, (int)h, -factor, by_v, (int)h);
    return HUDDLE_OK;
}

/* L and its gradient at the parameters. */
static huddle_status evaluate(huddle_context *context, pass *p, const double *parameters,
                              double *loss, double *gradient) {
    huddle_status status = HUDDLE_OK;
    int64_t n = p->n, m = p->m, h = p->h;
    double common = 0, own = 0, *by_b = gradient + 2 * m * h;
    p->u = parameters;
    p->v = p->u + m * h;
    p->b = p->v + m * h;
    p->gradient = gradient;
    TRY(hd_parallel(context, NULL, n, grain_of(p->x, h), encode_rows, p));
    average(n, h, p->hidden, p->mean);
    average(n, h, p->product, p->product_mean);
    subtract(n, h, p->hidden, p->mean, p->centred);
    TRY(hd_parallel(context, NULL, h, UNITS_PER_CHUNK, multiply_units, p));
    for (int64_t e = 0; e < n * h; e++)
        common += p->product[e] * p->centred[e];
    for (int64_t e = 0; e < h * h; e++)
        own += p->scatter[e] * p->decoder[e];
    *loss = (p->total - 2 * common + own) / (double)n + penalty(p);
    TRY(hd_parallel(context, NULL, n, grain_of(p->x, h), backward_rows, p));
    TRY(hd_parallel(context, NULL, m, grain_of(p->transpose, h), derive_rows, p));
    average(n, h, p->product, by_b);
    for (int64_t k = 0; k < h; k++)
        by_b[k] *= (double)n;
done:
    return status;
}

int64_t hd_step_autoencoder_size(const hd_step_autoencoder *layer) {
    return (2 * layer->x->cols + 1) * layer->width;
}

huddle_status hd_step_autoencoder_loss(huddle_context *context, const hd_step_autoencoder *layer,
                                       const double *parameters, double *loss, double *gradient) {
    huddle_status status = HUDDLE_OK;
    pass p = {0};
    hd_blas_enter();
    TRY(pass_new(layer, &p));
    TRY(evaluate(context, &p, parameters, loss, gradient));
done:
    hd_blas_leave();
    pass_free(&p);
    return status;
}

/* ---- training ------------------------------------------------------------------------------ */

typedef struct trainer {
    const hd_step_training *how;
    pass pass;
    int64_t size;   /* of each of the following */
    double *now;    /* parameters, */
    double *before; /* and where the last step began */
    double *velocity, *gradient;
    double rate;      /* of steps in V and b, */
    double rate_of_u; /* times this in U */
    double least_rate;
    bool has_momentum;
} trainer;

static void trainer_free(trainer *t) {
    pass_free(&t->pass);
    FREE(t->now, t->before, t->velocity, t->gradient);
}

/* J X y. */
static void times(const huddle_csr *x, const double *y, double *out) {
    double mean = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        out[i] = 0;
        add_product(x, i, 1, y, out + i);
        mean += out[i] / (double)x->rows;
    }
    for (int64_t i = 0; i < x->rows; i++)
        out[i] -= mean;
}

/* The largest eigenvalue of X'J X / n, about, by the power method: the curvature of L. */
static huddle_status measure_curvature(const trainer *t, double *curvature) {
    huddle_status status = HUDDLE_OK;
    const pass *p = &t->pass;
    double *left = NULL, *right = NULL;
    hd_rng rng = hd_rng_stream(t->how->seed, t->how->stream);
    *curvature = 0;
    ALLOC(left, p->n);
    ALLOC(right, p->m);
    for (int64_t j = 0; j < p->m; j++)
        right[j] = hd_rng_normal(&rng);
    for (int round = 0; round < POWER_ROUNDS; round++) {
        double norm = cblas_dnrm2((int)p->m, right, 1);
        if (!(norm > 0))
            break;
        *curvature = round > 0 ? norm / (double)p->n : 0;
        cblas_dscal((int)p->m, 1 / norm, right, 1);
        times(p->x, right, left);
        memset(right, 0, (size_t)p->m * sizeof *right);
        for (int64_t j = 0; j < p->m; j++)
            add_product(p->transpose, j, 1, left, right + j);
    }
done:
    FREE(left, right);
    return status;
}

/* Every unit begins with the mean rho. */
static huddle_status trainer_new(const hd_step_autoencoder *layer, const hd_step_training *how,
                                 trainer *t) {
    huddle_status status = HUDDLE_OK;
    double slope = layer->rho * (1 - layer->rho), curvature;
    int64_t inputs = layer->x->cols * layer->width;
    t->how = how;
    t->size = hd_step_autoencoder_size(layer);
    TRY(pass_new(layer, &t->pass));
    ALLOC(t->now, t->size);
    ALLOC(t->before, t->size);
    ALLOC_ZERO(t->velocity, t->size);
    ALLOC(t->gradient, t->size);
    for (int64_t e = 0; e < t->size; e++) {
        hd_rng rng = hd_rng_stream(how->seed, how->stream + 1 + (uint64_t)e);
        t->now[e] =
            e < 2 * inputs ? start_size * hd_rng_normal(&rng) : log(layer->rho / (1 - layer->rho));
        if (e < inputs)
            t->now[e] /= slope;
    }
    TRY(measure_curvature(t, &curvature));
    /* Else all rows are equal, there is nothing to learn, and the curvature is rounding. */
    bool varies = t->pass.total > 0 && curvature > 0;
    t->rate = how->learning_rate / (varies ? 2 * curvature : 1);
    t->least_rate = least_rate * t->rate;
    t->rate_of_u = 1 / (slope * slope);
done:
    return status;
}

static void step(trainer *t) {
    int64_t inputs = t->pass.m * t->pass.h;
    memcpy(t->before, t->now, (size_t)t->size * sizeof *t->now);
    for (int64_t e = 0; e < t->size; e++) {
        double rate = e < inputs ? t->rate * t->rate_of_u : t->rate;
        t->velocity[e] = momentum * t->velocity[e] - rate * t->gradient[e];
        t->now[e] += t->velocity[e];
    }
}

/* L did not fall. */
static void undo(trainer *t) {
    memcpy(t->now, t->before, (size_t)t->size * sizeof *t->now);
    memset(t->velocity, 0, (size_t)t->size * sizeof *t->velocity);
    if (!t->has_momentum)
        t->rate /= 2;
    t->has_momentum = false;
}

/* Whether the last steps lowered L by little, compared with all of the layer. */
static bool has_converged(const huddle_alternation_info *history, int32_t first, double tol) {
    const double *loss = history->objective + first;
    int32_t last = history->n_history - first - 1;
    return last >= PATIENCE && loss[last - PATIENCE] - loss[last] <= tol * (loss[0] - loss[last]);
}

/* Epochs are evaluations. One that follows an undone step computes the gradient anew. */
static huddle_status run_epochs(huddle_context *context, trainer *t,
                                huddle_alternation_info *history) {
    huddle_status status = HUDDLE_OK;
    int32_t first = history->n_history, before = history->n_iter;
    double loss, last = INFINITY;
    bool undone = false;
    history->stop = HUDDLE_STOP_MAX_ITER;
    for (int32_t epoch = 0; epoch < t->how->epochs && history->stop == HUDDLE_STOP_MAX_ITER;
         epoch++) {
        TRY(hd_progress(context, "train", epoch, t->how->epochs));
        TRY(evaluate(context, &t->pass, t->now, &loss, t->gradient));
        if (!undone && !(loss < last)) {
            undo(t);
            undone = true;
            if (t->rate < t->least_rate)
                history->stop = HUDDLE_STOP_STALLED;
        } else {
            if (!undone)
                TRY(hd_fit_alternation_add(history, loss));
            if (has_converged(history, first, t->how->tol))
                history->stop = HUDDLE_STOP_CONVERGED;
            last = loss;
            t->has_momentum = !undone && epoch > 0;
            undone = false;
            step(t);
        }
        history->n_iter = before + epoch + 1;
    }
    /* The last step was not evaluated. */
    if (!undone)
        memcpy(t->now, t->before, (size_t)t->size * sizeof *t->now);
done:
    return status;
}

/* X with variance 1 (the sum over columns), so that beta and the size of the start mean the same
 * for every input. The factor, 1 if all rows are equal. */
static huddle_status scale_input(const huddle_csr *x, huddle_csr *scaled, double *factor) {
    huddle_status status = HUDDLE_OK;
    double total;
    TRY(measure_input(x, &total));
    *factor = total > 0 ? sqrt((double)x->rows / total) : 1;
    TRY(huddle_csr_copy(x, scaled));
    for (int64_t e = 0; e < x->offsets[x->rows]; e++)
        scaled->values[e] *= *factor;
done:
    return status;
}

huddle_status hd_step_autoencoder_train(huddle_context *context, const hd_step_autoencoder *layer,
                                        const hd_step_training *training, huddle_dense *weights,
                                        huddle_alternation_info *history) {
    huddle_status status = HUDDLE_OK;
    huddle_csr x = {0}, transpose = {0};
    hd_step_autoencoder own = *layer;
    trainer t = {0};
    double factor;
    int64_t m = layer->x->cols, h = layer->width;
    hd_blas_enter();
    TRY(scale_input(layer->x, &x, &factor));
    TRY(huddle_csr_transpose(&x, &transpose));
    own.x = &x;
    own.transpose = &transpose;
    TRY(trainer_new(&own, training, &t));
    TRY(run_epochs(context, &t, history));
    TRY(huddle_dense_new(m + 1, h, weights));
    for (int64_t e = 0; e < m * h; e++)
        weights->values[e] = factor * t.now[e];
    memcpy(weights->values + m * h, t.now + 2 * m * h, (size_t)h * sizeof *t.now);
done:
    hd_blas_leave();
    trainer_free(&t);
    huddle_csr_free(&x);
    huddle_csr_free(&transpose);
    return status;
}

/* ---- encoding ------------------------------------------------------------------------------ */

typedef struct encoding {
    const huddle_csr *x;
    const huddle_dense *weights;
    huddle_dense *hidden;
} encoding;

static huddle_status encode_chunk(void *argument, hd_chunk chunk) {
    const encoding *c = argument;
    int64_t h = c->weights->cols;
    const double *u = c->weights->values;
    for (int64_t i = chunk.begin; i < chunk.end; i++)
        encode_row(c->x, i, h, u, u + c->x->cols * h, c->hidden->values + i * h);
    return HUDDLE_OK;
}

huddle_status hd_step_autoencoder_encode(huddle_context *context, const huddle_csr *x,
                                         const huddle_dense *weights, huddle_dense *hidden) {
    huddle_status status = HUDDLE_OK;
    encoding c = {x, weights, hidden};
    TRY(huddle_dense_new(x->rows, weights->cols, hidden));
    TRY(hd_parallel(context, NULL, x->rows, grain_of(x, weights->cols), encode_chunk, &c));
done:
    return status;
}

huddle_status hd_step_autoencoder_input(const huddle_dense *hidden, huddle_csr *x) {
    huddle_status status = HUDDLE_OK;
    int64_t n = hidden->rows, m = hidden->cols;
    TRY(huddle_csr_new(n, m, n * m, x));
    for (int64_t i = 0; i < n; i++) {
        x->offsets[i + 1] = (i + 1) * m;
        for (int64_t j = 0; j < m; j++) {
            x->columns[i * m + j] = (int32_t)j;
            x->values[i * m + j] = hidden->values[i * hidden->stride + j];
        }
    }
done:
    return status;
}
