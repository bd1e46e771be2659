#include "base/rng.h"

#include <math.h>

/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC
 * 2011), with the multipliers and key increments of the paper. */
void hd_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * x0, p1 = (uint64_t)0xCD9E8D57 * x2;
        uint32_t y0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0, y2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x0 = y0;
        x1 = (uint32_t)p1;
        x2 = y2;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

/* The seed is the key, the stream the upper half of the counter: 2^64 streams of 2^64 blocks
 * each. */
hd_rng hd_rng_stream(uint64_t seed, uint64_t stream) {
    hd_rng rng = {.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                  .counter = {0, 0, (uint32_t)stream, (uint32_t)(stream >> 32)}};
    return rng;
}

/* Philox makes four words at a time. */
static uint32_t next_word(hd_rng *rng) {
    if (rng->left == 0) {
        hd_philox(rng->counter, rng->key, rng->block);
        /* A 64-bit counter in two words. */
        if (++rng->counter[0] == 0)
            rng->counter[1]++;
        rng->left = 4;
    }
    return rng->block[4 - rng->left--];
}

uint64_t hd_rng_bits(hd_rng *rng) {
    uint64_t low = next_word(rng);
    return (uint64_t)next_word(rng) << 32 | low;
}

/* The upper 53 bits, the precision of a double: uniform on [0, 1), never 1. */
double hd_rng_uniform(hd_rng *rng) {
    return (double)(hd_rng_bits(rng) >> 11) * 0x1p-53;
}

int64_t hd_rng_below(hd_rng *rng, int64_t n) {
    /* 2^64 is no multiple of n: the last, incomplete run of n values is rejected. */
    uint64_t m = (uint64_t)n, excess = (UINT64_MAX - m + 1) % m, bits;
    do {
        bits = hd_rng_bits(rng);
    } while (bits > UINT64_MAX - excess);
    return (int64_t)(bits % m);
}

/* Takes number i with probability (still wanted) / (still left): all sets are equally likely
 * (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S). */
void hd_rng_sample(hd_rng *rng, int64_t n, int64_t count, int64_t *index) {
    for (int64_t i = 0, taken = 0; taken < count; i++)
        if (hd_rng_below(rng, n - i) < count - taken)
            index[taken++] = i;
}

double hd_rng_normal(hd_rng *rng) {
    /* Box and Muller, 1958; 1 - u is never 0. The second number of the pair is not used: keeping it
     * would make the next result depend on earlier calls. */
    double radius = sqrt(-2.0 * log(1.0 - hd_rng_uniform(rng)));
    return radius * cos(6.283185307179586 * hd_rng_uniform(rng));
}
