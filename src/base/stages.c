#include "base/stages.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

const char *hd_stage_name(hd_stage stage) {
    static const char *const names[] = {
        [HD_STAGE_CHECK] = "check",     [HD_STAGE_DISTINCT] = "distinct",
        [HD_STAGE_PREPARE] = "prepare", [HD_STAGE_GRAPH] = "graph",
        [HD_STAGE_CONNECT] = "connect", [HD_STAGE_EMBED] = "embed",
        [HD_STAGE_ROWS] = "rows",       [HD_STAGE_SHRINK_GRAPH] = "shrink_graph",
        [HD_STAGE_SHRINK] = "shrink",   [HD_STAGE_KMEANS] = "kmeans",
        [HD_STAGE_GUARD] = "guard",     [HD_STAGE_CHOOSE] = "choose",
        [HD_STAGE_REFINE] = "refine",   [HD_STAGE_DECIDE] = "decide",
        [HD_STAGE_MEDOIDS] = "medoids", [HD_STAGE_FINISH] = "finish",
        [HD_STAGE_OTHER] = "other",
    };
    return names[stage];
}

void hd_stages_begin(hd_stages *stages) {
    memset(stages, 0, sizeof *stages);
    stages->current = HD_STAGE_OTHER;
    stages->since = hd_seconds();
    (void)hd_memory_take_peak();
    stages->live = hd_memory_live();
}

void hd_stages_update(hd_stages *stages) {
    double now = hd_seconds();
    int64_t peak = hd_memory_take_peak();
    stages->seconds[stages->current] += now - stages->since;
    if (peak > stages->peak[stages->current])
        stages->peak[stages->current] = peak;
    stages->since = now;
}

void hd_stages_received(huddle_context *context, int64_t bytes) {
    hd_stages *stages = context != NULL ? context->stages : NULL;
    if (stages == NULL)
        return;
    stages->received[stages->current] += bytes;
    stages->calls[stages->current]++;
}

/* The table belongs to the thread that fits: loops do not change it. */
hd_stage hd_stage_enter(huddle_context *context, hd_stage stage) {
    hd_stages *stages = context != NULL ? context->stages : NULL;
    if (stages == NULL || hd_parallel_inside())
        return HD_STAGE_OTHER;
    hd_stage before = stages->current;
    if (before == HD_STAGE_OTHER) {
        hd_stages_update(stages);
        stages->current = stage;
    }
    return before;
}

void hd_stage_leave(huddle_context *context, hd_stage before) {
    hd_stages *stages = context != NULL ? context->stages : NULL;
    if (stages == NULL || hd_parallel_inside() || before == stages->current)
        return;
    hd_stages_update(stages);
    stages->current = before;
}
