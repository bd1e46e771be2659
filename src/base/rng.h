/* Counter-based random numbers: number k of stream s of a seed is a pure function of (seed, s, k),
 * so every item of work has its own stream, and results do not depend on the number of threads. The
 * function is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). */
#ifndef HUDDLE_SRC_RNG_H
#define HUDDLE_SRC_RNG_H

#include <stdint.h>

typedef struct hd_rng {
    uint32_t key[2];     /* the seed */
    uint32_t counter[4]; /* position (64 bits), stream (64 bits) */
    uint32_t block[4];   /* the last words computed */
    int left;            /* of them, not used yet */
} hd_rng;

/* Stream `stream` of `seed`, from its beginning. */
hd_rng hd_rng_stream(uint64_t seed, uint64_t stream);

/* 64 random bits. */
uint64_t hd_rng_bits(hd_rng *rng);

/* Uniform in [0, 1), 53 bits. */
double hd_rng_uniform(hd_rng *rng);

/* Uniform in 0 .. n - 1, without bias; n >= 1. */
int64_t hd_rng_below(hd_rng *rng, int64_t n);

/* `count` different ones of 0 .. n - 1 in ascending order, every such set equally likely;
 * 0 <= count <= n. */
void hd_rng_sample(hd_rng *rng, int64_t n, int64_t count, int64_t *index);

/* Standard normal. */
double hd_rng_normal(hd_rng *rng);

/* The generator itself: four words from a counter and a key. */
void hd_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
