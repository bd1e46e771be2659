/* The product for one number type: included once for each, with NUMBER, LANES, REGISTER, PASS and
 * HD_EMBED_PRODUCT defined. The rows that an entry refers to are read in strips of up to STRIP
 * registers of columns, so that the sums stay in registers and the product, which is limited by
 * memory, reads each row once per strip. */

typedef NUMBER REGISTER __attribute__((vector_size(LANES * sizeof(NUMBER))));

/* One strip of `count` registers of columns. count is a constant wherever this is inlined, so that
 * the sums are kept in registers. The row of an entry further on is requested ahead of its use: its
 * place is known from the matrix, but not to the prefetcher of the hardware. */
static inline __attribute__((always_inline)) void
PASS(const int64_t *offsets, const int32_t *columns, const NUMBER *values, int64_t begin,
     int64_t end, int64_t stride, NUMBER alpha, NUMBER beta, NUMBER gamma, const NUMBER *x,
     NUMBER *z, const int count) {
    int64_t last = offsets[end] - 1;
    for (int64_t i = begin; i < end; i++) {
        REGISTER sum[STRIP];
        for (int k = 0; k < count; k++)
            sum[k] = (REGISTER){0};
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) {
            int64_t later = e + AHEAD < last ? e + AHEAD : last;
            const char *coming = (const char *)(x + (int64_t)columns[later] * stride);
            const REGISTER *row = (const REGISTER *)(x + (int64_t)columns[e] * stride);
            for (int at = 0; at < count * (int)sizeof(REGISTER); at += 64)
                __builtin_prefetch(coming + at);
            for (int k = 0; k < count; k++)
                sum[k] += values[e] * row[k];
        }
        const REGISTER *own = (const REGISTER *)(x + i * stride);
        REGISTER *out = (REGISTER *)(z + i * stride);
        for (int k = 0; k < count; k++)
            out[k] = alpha * sum[k] + beta * own[k] + gamma * out[k];
    }
}

/* Strips of equal width, as few as the registers allow. */
void HD_EMBED_PRODUCT(const int64_t *offsets, const int32_t *columns, const NUMBER *values,
                      int64_t begin, int64_t end, int64_t width, int64_t stride, NUMBER alpha,
                      NUMBER beta, NUMBER gamma, const NUMBER *x, NUMBER *z) {
    int64_t left = width / LANES, strips = (left + STRIP - 1) / STRIP;
    for (; strips > 0; strips--) {
        int64_t count = (left + strips - 1) / strips;
        switch (count) {
#define HD_EMBED_CASE(number)                                                                      \
    case number:                                                                                   \
        PASS(offsets, columns, values, begin, end, stride, alpha, beta, gamma, x, z, number);      \
        break
            HD_EMBED_CASE(1);
            HD_EMBED_CASE(2);
            HD_EMBED_CASE(3);
            HD_EMBED_CASE(4);
            HD_EMBED_CASE(5);
            HD_EMBED_CASE(6);
            HD_EMBED_CASE(7);
            HD_EMBED_CASE(8);
            HD_EMBED_CASE(9);
            HD_EMBED_CASE(10);
            HD_EMBED_CASE(11);
            HD_EMBED_CASE(12);
#undef HD_EMBED_CASE
        }
        x += count * LANES;
        z += count * LANES;
        left -= count;
    }
}
