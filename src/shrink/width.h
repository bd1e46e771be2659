/* Kernels for rows of a known number of columns: loops over 4, 8, 10, 12, 16, 20 or 24 numbers
 * become a few vector operations, while one whose length the compiler does not know spends more
 * time on its ends than on its body. Components are solved in a multiple of four directions
 * (part.h) for this; 10 is the number of digits.
 *
 * Only *.simd.c files include this header. Sums over a row are marked `omp simd`, which permits the
 * compiler to add in another order, the same each time. */
#ifndef HUDDLE_SRC_SHRINK_WIDTH_H
#define HUDDLE_SRC_SHRINK_WIDTH_H

#define HD_SHRINK_INLINE static inline __attribute__((always_inline))

/* Calls body(c, ...) with c as a constant where it is one of those above. */
#define HD_SHRINK_BY_WIDTH(body, c, ...)                                                           \
    do {                                                                                           \
        switch (c) {                                                                               \
        case 4:                                                                                    \
            body(4, __VA_ARGS__);                                                                  \
            break;                                                                                 \
        case 8:                                                                                    \
            body(8, __VA_ARGS__);                                                                  \
            break;                                                                                 \
        case 10:                                                                                   \
            body(10, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        case 12:                                                                                   \
            body(12, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        case 16:                                                                                   \
            body(16, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        case 20:                                                                                   \
            body(20, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        case 24:                                                                                   \
            body(24, __VA_ARGS__);                                                                 \
            break;                                                                                 \
        default:                                                                                   \
            body(c, __VA_ARGS__);                                                                  \
        }                                                                                          \
    } while (0)

/* The pass `name` (block.h), whose argument `q` is of this type: body(c, q, begin, end, sums) for
 * rows of c numbers. */
#define HD_SHRINK_DEFINE_PASS(name, type, body, c)                                                 \
    void HD_SIMD(name)(const void *argument, int64_t begin, int64_t end, double *sums) {           \
        const type *q = argument;                                                                  \
        HD_SHRINK_BY_WIDTH(body, c, q, begin, end, sums);                                          \
    }

#endif
