/* The kernel of the sparse neighbour search, one version per instruction set (base/cpu.h). */
#ifndef HUDDLE_SRC_GRAPH_SPARSE_KERNELS_H
#define HUDDLE_SRC_GRAPH_SPARSE_KERNELS_H

#include "base/cpu.h"

#include <stdint.h>

/* Rows whose bounds are compared together. */
enum { HD_GRAPH_SPARSE_GROUP = 64 };

/* Bit j is set unless scores[j] + norm rest[j] < least. A sum that is not a number (0 times an
 * infinite norm) excludes nothing. */
HD_SIMD_DECLARE(uint64_t, hd_graph_sparse_possible, const double *scores, const float *rest,
                double norm, double least);
typedef uint64_t (*hd_graph_sparse_function)(const double *scores, const float *rest, double norm,
                                             double least);

#endif
