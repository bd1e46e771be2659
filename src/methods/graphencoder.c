/* Graph encoder, a reconstruction (after Tian, Gao, Cui, Chen and Liu, Learning deep
 * representations for graph clustering, AAAI 2014; its text was not at hand). The rows of the
 * normalised similarity matrix D^-1 S are encoded by a stack of sparse autoencoders, each trained
 * on what the one before it gives, and K-means clusters the codes of the last.
 *
 * S is the neighbour graph of sc, D its degrees. A layer minimises (steps/autoencoder.c)
 *
 *     1/n ||X - H V' - 1 d'||^2 + beta sum_k KL(rho || mean of unit k),   H = sigmoid(X U + 1 b').
 *
 * Departures from the paper, as far as it is known: the decoder is linear and has constants, so
 * that an n x n reconstruction need not be formed; the error is divided by the variance of X, so
 * that beta means the same for every graph; all rows make one step. Open, and chosen here: widths,
 * rho, beta, the start, the steps, and when to stop.
 *
 * A new point is encoded by the row that the graph would give it. Merged rows count once. */
#include "base/check.h"
#include "base/options.h"
#include "decide/eigengap.h"
#include "decide/memory.h"
#include "methods/prepare.h"
#include "methods/spectral.h"
#include "steps/autoencoder.h"
#include "steps/graph.h"
#include "steps/kmeans.h"
#include "steps/merge.h"
#include "steps/prepare.h"

#include <math.h>
#include <string.h>

/* layers = auto: so many, each as wide as there are clusters; the widest layer. */
enum { AUTO_LAYERS = 2, MAX_WIDTH = 4096 };

typedef struct graphencoder_options {
    hd_spectral_options spectral;
    huddle_numbers layers;
    double rho, beta, learning_rate, train_tol;
    int32_t epochs;
} graphencoder_options;

static const huddle_option *own_table(void) {
    static const char *const choices[] = {"auto", NULL};
    static const huddle_option table[] = {
        HD_NUMBERS(graphencoder_options, layers, "auto", choices, 1, MAX_WIDTH,
                   "hidden units of each layer, such as 128,64; auto: two layers of n_clusters"),
        HD_REAL(graphencoder_options, rho, "0.2", 1e-3, .999,
                "mean activation that the sparsity term drives every hidden unit to"),
        HD_REAL(graphencoder_options, beta, "0.01", 0, 1e6, "weight of the sparsity term"),
        HD_INT(graphencoder_options, epochs, "400", 1, INT32_MAX,
               "maximum number of epochs of a layer"),
        HD_REAL(graphencoder_options, learning_rate, "0.5", 1e-6, 1e3,
                "length of the steps; 1: about the largest that is stable near a minimum"),
        HD_REAL(graphencoder_options, train_tol, "0.01", 0, 1,
                "stop a layer when ten epochs gave less than this share of what its loss has "
                "fallen by"),
        {0}};
    return table;
}

/* The neighbours that a vertex is described by; with fewer, separate clusters were split. */
static const hd_method_rename knn_names[] = {{"knn_solver", "knn_solver", NULL, NULL},
                                             {"n_neighbors", "n_neighbors", "10", NULL},
                                             {"metric", "metric", NULL, NULL},
                                             {"recall", "recall", NULL, NULL},
                                             {0}};

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(graphencoder_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(graphencoder_options, spectral.knn), knn_names},
    {huddle_weight_options_table, offsetof(graphencoder_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(graphencoder_options, spectral.connect), NULL},
    {own_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(graphencoder_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* ---- the encoder --------------------------------------------------------------------------- */

/* Divides rows by their sums; those without entries stay 0. A row of copies would have an equal
 * share of its entry for each of them, and these the squared norm (entry)^2 / copies together. */
static void normalise_rows(const hd_fit_rows *rows, huddle_csr *x) {
    for (int64_t i = 0; i < x->rows; i++) {
        double degree = 0;
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1]; e++)
            degree += x->values[e];
        for (int64_t e = x->offsets[i]; e < x->offsets[i + 1] && degree > 0; e++)
            x->values[e] /= degree * sqrt((double)hd_fit_rows_copies(rows, x->columns[e]));
    }
}

static int32_t count_layers(const graphencoder_options *o) {
    return o->layers.name != NULL ? AUTO_LAYERS : o->layers.count;
}

/* Units of layer l. */
static int64_t width_of(const graphencoder_options *o, int64_t c, int32_t l) {
    if (o->layers.name == NULL)
        return (int64_t)o->layers.values[l];
    return c < MAX_WIDTH ? c : MAX_WIDTH;
}

static huddle_status check_layers(const graphencoder_options *o) {
    for (int32_t l = 0; l < o->layers.count; l++)
        if (o->layers.name == NULL && o->layers.values[l] != floor(o->layers.values[l]))
            return hd_fail(HUDDLE_INVALID, "layers: %g is not a number of hidden units",
                           o->layers.values[l]);
    return HUDDLE_OK;
}

/* The encoder without weights, which are 0. */
static huddle_status make_encoder(const graphencoder_options *o, int64_t n, int64_t c,
                                  hd_fit_encoder *encoder) {
    huddle_status status = HUDDLE_OK;
    int64_t rows = 0, inputs = n, widest = 0;
    int32_t count = count_layers(o);
    ALLOC(encoder->widths, count);
    encoder->n_layers = count;
    for (int32_t l = 0; l < count; l++) {
        int64_t width = width_of(o, c, l);
        encoder->widths[l] = (int32_t)width;
        widest = width > widest ? width : widest;
        rows += inputs + 1;
        inputs = width;
    }
    TRY(huddle_dense_new(rows, widest, &encoder->weights));
done:
    return status;
}

/* The weights of a layer as a matrix of their own. first: where they begin; it moves behind them.
 */
static huddle_status take_layer(const hd_fit_encoder *encoder, int32_t l, int64_t inputs,
                                int64_t *first, huddle_dense *weights) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *all = &encoder->weights;
    int64_t width = encoder->widths[l];
    TRY(huddle_dense_new(inputs + 1, width, weights));
    for (int64_t i = 0; i <= inputs; i++)
        memcpy(weights->values + i * width, all->values + (*first + i) * all->stride,
               (size_t)width * sizeof *weights->values);
    *first += inputs + 1;
done:
    return status;
}

static void put_layer(const huddle_dense *weights, int64_t *first, huddle_dense *all) {
    for (int64_t i = 0; i < weights->rows; i++)
        memcpy(all->values + (*first + i) * all->stride, weights->values + i * weights->cols,
               (size_t)weights->cols * sizeof *weights->values);
    *first += weights->rows;
}

/* Codes of the rows of x, which become those of the first layer, of the second ... next: of the
 * last layer NULL. */
static huddle_status encode(huddle_context *context, const huddle_csr *x, const huddle_dense *layer,
                            huddle_csr *next, huddle_dense *codes) {
    huddle_status status = HUDDLE_OK;
    huddle_csr made = {0};
    huddle_dense_free(codes);
    TRY(hd_step_autoencoder_encode(context, x, layer, codes));
    if (next == NULL)
        goto done;
    TRY(hd_step_autoencoder_input(codes, &made));
    huddle_csr_free(next);
    *next = made;
done:
    return status;
}

/* Trains the layers one after the other. x: D^-1 S; what it is afterwards does not matter. codes:
 * of the last layer. */
static huddle_status train(const hd_method_run *run, const graphencoder_options *o, huddle_csr *x,
                           hd_fit_encoder *encoder, huddle_dense *codes,
                           huddle_alternation_info *history) {
    huddle_status status = HUDDLE_OK;
    huddle_dense layer = {0};
    int64_t first = 0;
    TRY(make_encoder(o, x->rows, run->n_clusters.last, encoder));
    for (int32_t l = 0; l < encoder->n_layers; l++) {
        const hd_step_autoencoder problem = {x, NULL, encoder->widths[l], o->rho, o->beta};
        const hd_step_training how = {.epochs = o->epochs,
                                      .learning_rate = o->learning_rate,
                                      .tol = o->train_tol,
                                      .seed = run->seed,
                                      .stream = (uint64_t)(l + 1) << 40};
        int32_t before = history->n_iter;
        TRY(hd_step_autoencoder_train(run->context, &problem, &how, &layer, history));
        hd_log(run->context, "graphencoder: layer %d, %d units, %d epochs (%s), loss %.6g", l + 1,
               encoder->widths[l], history->n_iter - before, huddle_stop_name(history->stop),
               history->objective[history->n_history - 1]);
        put_layer(&layer, &first, &encoder->weights);
        TRY(encode(run->context, x, &layer, l + 1 < encoder->n_layers ? x : NULL, codes));
        huddle_dense_free(&layer);
    }
done:
    huddle_dense_free(&layer);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* The codes are those of all numbers of clusters. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    const graphencoder_options *o = argument;
    hd_fit *fit = run->fit;
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &o->spectral.kmeans, n_clusters);
    return hd_step_kmeans_dense(run->context, &fit->embedding.f.rows, &kmeans, &fit->rows,
                                &fit->clusters);
}

/* n_clusters = auto is chosen by the eigengap of sc's graph. */
static huddle_status make_graph(hd_method_run *run, const graphencoder_options *o, huddle_csr *x) {
    huddle_status status = HUDDLE_OK;
    hd_fit *fit = run->fit;
    TRY(hd_method_prepare_shared(run, &o->spectral.prepare, &o->spectral));
    TRY(hd_decide_eigengap_of_points(run->context, &fit->prepared.points, run->seed, NULL, fit,
                                     &run->n_clusters));
    TRY(hd_step_merge(run->context, o->spectral.knn.n_neighbors, fit));
    TRY_STAGE(run->context, HD_STAGE_GRAPH,
              hd_spectral_make_graph(run->context, &o->spectral, run->n_clusters, fit));
    hd_spectral_warn_graph(run->context, &o->spectral, run->n_clusters, fit);
    TRY(huddle_csr_fetch(&fit->graph.matrix));
    TRY(huddle_csr_copy(&fit->graph.matrix, x));
    normalise_rows(&fit->rows, x);
done:
    return status;
}

static huddle_status fit_graphencoder(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    graphencoder_options o = *(const graphencoder_options *)options;
    hd_fit *fit = run->fit;
    huddle_csr x = {0};
    huddle_alternation_info history = {0};
    TRY(check_layers(&o));
    TRY(make_graph(run, &o, &x));
    TRY_STAGE(run->context, HD_STAGE_EMBED,
              train(run, &o, &x, &fit->encoder, &fit->embedding.f.rows, &history));
    hd_method_clustering how = hd_method_clustering_of(fit, cluster, &o, NULL);
    TRY(hd_method_cluster(run, &how));
    hd_fit_alternation_reset(&fit->clusters.alternation);
    fit->clusters.alternation = history;
    memset(&history, 0, sizeof history);
done:
    hd_fit_alternation_reset(&history);
    huddle_csr_free(&x);
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

/* Encodes rows of similarities to the rows of the fit. */
static huddle_status encode_new(huddle_context *context, const hd_fit_encoder *encoder,
                                huddle_csr *x, huddle_dense *codes) {
    huddle_status status = HUDDLE_OK;
    huddle_dense layer = {0};
    int64_t first = 0;
    for (int32_t l = 0; l < encoder->n_layers; l++) {
        TRY(take_layer(encoder, l, x->cols, &first, &layer));
        TRY(encode(context, x, &layer, l + 1 < encoder->n_layers ? x : NULL, codes));
        huddle_dense_free(&layer);
    }
done:
    huddle_dense_free(&layer);
    return status;
}

static huddle_status place_graphencoder(huddle_context *context, const hd_fit *fit,
                                        const void *options, const huddle_points *x,
                                        huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const graphencoder_options *o = options;
    const huddle_knn_options *knn = &o->spectral.knn;
    huddle_points owned = {0}, view;
    huddle_neighbors neighbors = {0};
    huddle_csr w = {0};
    if (fit->encoder.n_layers == 0)
        FAIL(HUDDLE_UNSUPPORTED, "a model without an encoder cannot label new points");
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(hd_spectral_query_neighbors(context, fit, &view, knn, &neighbors));
    TRY(hd_spectral_weigh_new(&neighbors, &fit->graph.scale, fit, &w));
    for (int64_t i = 0; i < x->n; i++)
        same[i] = hd_spectral_same_row(&view, i, knn, &neighbors);
    normalise_rows(&fit->rows, &w);
    TRY(encode_new(context, &fit->encoder, &w, rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&neighbors);
    huddle_csr_free(&w);
    return status;
}

/* What graph and points need; of the layer that needs most, parameters, gradient, momentum and a
 * copy, each U and V, and the weights, three matrices of codes and two of units by units, and the
 * input, given, scaled and transposed; and what remains, the encoder and the codes. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const graphencoder_options *o = options;
    int64_t word = (int64_t)sizeof(double), entry = word + (int64_t)sizeof(int32_t);
    int64_t n = x->n, inputs = n, given = 2 * n * o->spectral.knn.n_neighbors;
    int64_t rows = 0, widest = 0, most = 0;
    for (int32_t l = 0; l < count_layers(o); l++) {
        int64_t width = width_of(o, x->n_clusters, l);
        int64_t layer = (9 * inputs + 5 + 3 * n + 2 * width) * width * word + 3 * given * entry;
        most = layer > most ? layer : most;
        widest = width > widest ? width : widest;
        rows += inputs + 1;
        inputs = width;
        given = n * width;
    }
    int64_t kept = (rows * widest + n * inputs) * word;
    hd_decide_memory_of_spectral(x, options, needed);
    needed->stages[HD_STAGE_EMBED] = needed->stages[HD_STAGE_GRAPH] + most + kept;
    needed->stages[HD_STAGE_KMEANS] += kept;
    needed->kept += kept;
}

const hd_method hd_method_graphencoder = {
    .text = {.name = "graphencoder",
             .title = "graph encoder (reconstruction)",
             .reconstruction = true,
             .summary = "Reconstruction of a method whose publication was not available: encodes "
                        "the rows of the normalised neighbour graph by a stack of sparse "
                        "autoencoders and clusters the codes by K-means."},
    .options_size = sizeof(graphencoder_options),
    .sections = sections,
    .fit = fit_graphencoder,
    .place = place_graphencoder,
    .memory = {.predict = predict_memory}};
