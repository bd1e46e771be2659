/* One layer of a stacked sparse autoencoder (methods/graphencoder.c). */
#ifndef HUDDLE_SRC_STEPS_AUTOENCODER_H
#define HUDDLE_SRC_STEPS_AUTOENCODER_H

#include "huddle/fit.h"
#include "huddle/matrix.h"

/* Rows of X (n x m, sparse) are encoded to h numbers and decoded again:
 *
 *     H = sigmoid(X U + 1 b'),   X ~ H V' + 1 d',
 *     L(U, V, b) = 1/n ||X - H V' - 1 d'||_F^2 + beta sum_k KL(rho || mean of column k of H),
 *
 * KL(r || p) = r log(r / p) + (1 - r) log((1 - r) / (1 - p)). d is not a parameter: it has the
 * value that minimises L, the mean of X - H V'. */
typedef struct hd_step_autoencoder {
    const huddle_csr *x, *transpose; /* X and X' */
    int64_t width;                   /* h */
    double rho, beta;
} hd_step_autoencoder;

/* How a layer is trained, by gradient steps with momentum on all rows at once. */
typedef struct hd_step_training {
    int32_t epochs;       /* at most: evaluations of L */
    double learning_rate; /* 1: about the largest that is stable near a minimum */
    double tol; /* stop when the last epochs gave less than this share of what L has fallen by */
    uint64_t seed, stream; /* of the random numbers that U and V begin with */
} hd_step_training;

/* Parameters: U (m x h), V (m x h), b (h), in this order. */
int64_t hd_step_autoencoder_size(const hd_step_autoencoder *layer);

/* L and its gradient. */
huddle_status hd_step_autoencoder_loss(huddle_context *context, const hd_step_autoencoder *layer,
                                       const double *parameters, double *loss, double *gradient);

/* Trains a layer, whose transpose may be NULL. X is scaled to variance 1 first. weights receives U
 * for X as it was given and, as its last row, b. L at the accepted steps, each lower than the one
 * before, is added to *history. */
huddle_status hd_step_autoencoder_train(huddle_context *context, const hd_step_autoencoder *layer,
                                        const hd_step_training *training, huddle_dense *weights,
                                        huddle_alternation_info *history);

/* hidden becomes sigmoid(X U + 1 b'). */
huddle_status hd_step_autoencoder_encode(huddle_context *context, const huddle_csr *x,
                                         const huddle_dense *weights, huddle_dense *hidden);

/* All entries of a matrix as a sparse one: the input of the next layer. */
huddle_status hd_step_autoencoder_input(const huddle_dense *hidden, huddle_csr *x);

#endif
