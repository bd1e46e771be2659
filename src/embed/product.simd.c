/* The product of the operator with a block, which takes most of the time of an embedding. Both
 * precisions are generated from product_kernel.h. */
#include "embed/vectors.h"

#include <stdint.h>

/* Sums that are kept in registers at once: AVX2 has 16, and one is needed for the entry. Entries by
 * which a row is requested ahead of its use: about a hundred nanoseconds of work (`./dev bench
 * embed`, 1,000,000 vertices). */
#define STRIP 12
#define AHEAD 16

#define NUMBER           float
#define LANES            HD_LANES
#define REGISTER         float_register
#define PASS             float_pass
#define HD_EMBED_PRODUCT HD_SIMD(hd_embed_product_float)
#include "embed/product_kernel.h"

#undef NUMBER
#undef LANES
#undef REGISTER
#undef PASS
#undef HD_EMBED_PRODUCT
#define NUMBER           double
#define LANES            (HD_LANES / 2)
#define REGISTER         double_register
#define PASS             double_pass
#define HD_EMBED_PRODUCT HD_SIMD(hd_embed_product_double)
#include "embed/product_kernel.h"
