#include "embed/verify.h"

huddle_status hd_verify(huddle_context *context, const hd_problem *problem, hd_pairs *pairs,
                        hd_block *probe, bool *missed) {
    (void)context;
    (void)problem;
    (void)probe;
    pairs->verified = "none";
    *missed = false;
    return HUDDLE_OK;
}
