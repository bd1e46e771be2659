/* Rayleigh-Ritz: the best approximate eigenpairs in the span of a block, computed in double
 * whatever the block contains. */
#ifndef HUDDLE_SRC_EMBED_RAYLEIGH_H
#define HUDDLE_SRC_EMBED_RAYLEIGH_H

#include "embed/vectors.h"

typedef struct hd_embed_ritz {
    int64_t width;
    int64_t rank;     /* independent columns; the others are zero after the step */
    double *theta;    /* width: Ritz values, descending */
    double *residual; /* width: ||op x - theta x|| for each column */
    double *rotation; /* width x width: old columns to new */
} hd_embed_ritz;

huddle_status hd_embed_ritz_new(int64_t width, hd_embed_ritz *ritz);
void hd_embed_ritz_free(hd_embed_ritz *ritz);

/* Bytes of the Gram matrices that a step keeps for its chunks. */
int64_t hd_embed_ritz_memory(int64_t n, int64_t width);

/* On entry y = op x. Rotates both so that the columns of x are Ritz vectors of norm 1 and y is
 * still op x. */
huddle_status hd_embed_rayleigh_ritz(huddle_context *context, hd_embed_block *block,
                                     hd_embed_ritz *ritz);

/* The same without touching the block and with products in double: Ritz values and rotation of its
 * x, from which hd_embed_ritz_vectors() makes the first vectors->cols vectors, as the
 * operator orders them. */
huddle_status hd_embed_ritz_exact(huddle_context *context, const hd_embed_operator *op,
                                  const hd_embed_block *block, hd_embed_ritz *ritz);
huddle_status hd_embed_ritz_vectors(huddle_context *context, const hd_embed_operator *op,
                                    const hd_embed_block *block, const hd_embed_ritz *ritz,
                                    huddle_dense *vectors);

/* Largest ||op v - theta v|| over the columns of vectors, in double. */
huddle_status hd_embed_largest_residual(huddle_context *context, const hd_embed_operator *op,
                                        const huddle_dense *vectors, const double *theta,
                                        double *residual);

#endif
