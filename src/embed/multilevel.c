#include "base/check.h"
#include "embed/chebyshev.h"

huddle_status hd_run_start(huddle_context *context, uint64_t seed, hd_run *run) {
    return hd_run_begin_random(context, seed, run);
}
