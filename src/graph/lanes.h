/* The larger value of each lane of two registers, by one instruction where the instruction set has
 * it: comparing and masking would take several. suffix: ps for floats, pd for doubles. `lanes` and
 * `mask` are the kernel's own types of a register of HD_LANES floats or half as many doubles. */
#ifndef HUDDLE_SRC_GRAPH_LANES_H
#define HUDDLE_SRC_GRAPH_LANES_H

#include "base/cpu.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if HD_LANES == 16
#define HD_GRAPH_MAX(suffix, a, b) _mm512_max_##suffix(a, b)
#elif HD_LANES == 8
#define HD_GRAPH_MAX(suffix, a, b) _mm256_max_##suffix(a, b)
#elif defined(__SSE2__)
#define HD_GRAPH_MAX(suffix, a, b) _mm_max_##suffix(a, b)
#else
#define HD_GRAPH_MAX(suffix, a, b) ((lanes)(((mask)(a) & ((a) > (b))) | ((mask)(b) & ~((a) > (b)))))
#endif

#endif
