#include "base/check.h"
#include "embed/chebyshev.h"

huddle_status hd_run_start(huddle_context *context, uint64_t seed, hd_run *run) {
    hd_block_randomise(&run->block, 0, 1, seed);
    return hd_run_begin(context, true, run);
}
