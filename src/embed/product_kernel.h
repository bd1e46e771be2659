/* The product for one number type: included once for each, with NUMBER, LANES, REGISTER, PASS and
 * HD_EMBED_PRODUCT defined. The rows that an entry refers to are read in strips of up to four
 * registers of columns, so that the sums stay in registers and the product, which is limited by
 * memory, reads each row once per strip. */

typedef NUMBER REGISTER __attribute__((vector_size(LANES * sizeof(NUMBER))));

/* One strip of `count` registers of columns. count is a constant wherever this is inlined, so that
 * the sums are kept in registers. */
static inline __attribute__((always_inline)) void
PASS(const int64_t *offsets, const int32_t *columns, const NUMBER *values, int64_t begin,
     int64_t end, int64_t width, NUMBER alpha, NUMBER beta, NUMBER gamma, const NUMBER *x,
     NUMBER *z, const int count) {
    for (int64_t i = begin; i < end; i++) {
        REGISTER sum[4];
        for (int k = 0; k < count; k++)
            sum[k] = (REGISTER){0};
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) {
            const REGISTER *row = (const REGISTER *)(x + (int64_t)columns[e] * width);
            for (int k = 0; k < count; k++)
                sum[k] += values[e] * row[k];
        }
        const REGISTER *own = (const REGISTER *)(x + i * width);
        REGISTER *out = (REGISTER *)(z + i * width);
        for (int k = 0; k < count; k++)
            out[k] = alpha * sum[k] + beta * own[k] + gamma * out[k];
    }
}

void HD_EMBED_PRODUCT(const int64_t *offsets, const int32_t *columns, const NUMBER *values,
                      int64_t begin, int64_t end, int64_t width, NUMBER alpha, NUMBER beta,
                      NUMBER gamma, const NUMBER *x, NUMBER *z) {
    int64_t left = width / LANES;
    for (; left >= 4; left -= 4, x += 4 * LANES, z += 4 * LANES)
        PASS(offsets, columns, values, begin, end, width, alpha, beta, gamma, x, z, 4);
    if (left == 3)
        PASS(offsets, columns, values, begin, end, width, alpha, beta, gamma, x, z, 3);
    else if (left == 2)
        PASS(offsets, columns, values, begin, end, width, alpha, beta, gamma, x, z, 2);
    else if (left == 1)
        PASS(offsets, columns, values, begin, end, width, alpha, beta, gamma, x, z, 1);
}
