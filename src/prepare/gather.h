/* The kernel of products with sparse points, one version per instruction set (base/cpu.h). */
#ifndef HUDDLE_SRC_PREPARE_GATHER_H
#define HUDDLE_SRC_PREPARE_GATHER_H

#include "base/cpu.h"

#include <stdint.h>

/* out (b numbers) += sum over e < count of values[e] * v[index[e]], rows of v being ldv apart. */
HD_SIMD_DECLARE(void, hd_prepare_gather, int64_t count, const int32_t *index, const float *values,
                const double *v, int64_t b, int64_t ldv, double *out);
typedef void (*hd_prepare_gather_function)(int64_t count, const int32_t *index, const float *values,
                                           const double *v, int64_t b, int64_t ldv, double *out);

#endif
