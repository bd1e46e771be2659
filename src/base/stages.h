/* Where the time and the memory of a fit go. A fit that is being timed has a table of stages in its
 * context; the code of a stage is between hd_stage_enter() and hd_stage_leave(). Stages do not
 * nest: of a stage inside another (the K-means of the refinement, the graphs of samples by which a
 * preparation is chosen) the outer one counts. What is in none is HD_STAGE_OTHER, so that the times
 * add up to that of the whole fit. */
#ifndef HUDDLE_SRC_STAGES_H
#define HUDDLE_SRC_STAGES_H

#include "base/check.h"

/* In the order of the info. */
typedef enum hd_stage {
    HD_STAGE_CHECK, /* of the points that were given */
    HD_STAGE_DISTINCT,
    HD_STAGE_PREPARE,
    HD_STAGE_GRAPH,
    HD_STAGE_CONNECT,
    HD_STAGE_EMBED,
    HD_STAGE_ROWS, /* of the embedding, from the eigenvectors */
    HD_STAGE_SHRINK_GRAPH,
    HD_STAGE_SHRINK,
    HD_STAGE_KMEANS,
    HD_STAGE_GUARD,  /* K-means on rows that were not shrunk */
    HD_STAGE_CHOOSE, /* the number of clusters */
    HD_STAGE_REFINE,
    HD_STAGE_DECIDE, /* between labels of the graph and of K-means */
    HD_STAGE_MEDOIDS,
    HD_STAGE_FINISH, /* the model takes over the results */
    HD_STAGE_OTHER,
    HD_STAGE_COUNT
} hd_stage;

/* "check", "distinct", ... */
const char *hd_stage_name(hd_stage stage);

/* Of a fit; begins zeroed, then hd_stages_begin(). */
typedef struct hd_stages {
    hd_stage current;
    double since;                   /* when it was entered */
    int64_t live;                   /* bytes in use at the beginning */
    double seconds[HD_STAGE_COUNT]; /* wall time */
    int64_t peak[HD_STAGE_COUNT];   /* the most bytes of arrays in use (base/memory.h) */
    /* From other processes (base/slabs.h): bytes, and calls that waited for them. */
    int64_t received[HD_STAGE_COUNT], calls[HD_STAGE_COUNT];
    int32_t processes;
} hd_stages;

void hd_stages_begin(hd_stages *stages);

/* Adds the time since the last change to the current stage; for the end, and for the info. */
void hd_stages_update(hd_stages *stages);

/* Counts a call that received that many bytes from other processes. */
void hd_stages_received(huddle_context *context, int64_t bytes);

/* Returns the stage to give back to hd_stage_leave(). Does nothing inside a stage, without a table
 * in the context, and inside a parallel loop. */
hd_stage hd_stage_enter(huddle_context *context, hd_stage stage);
void hd_stage_leave(huddle_context *context, hd_stage before);

/* TRY() for a call that is a stage. */
#define TRY_STAGE(context, stage, call)                                                            \
    do {                                                                                           \
        hd_stage hd_before = hd_stage_enter((context), (stage));                                   \
        status = (call);                                                                           \
        hd_stage_leave((context), hd_before);                                                      \
        if (status != HUDDLE_OK)                                                                   \
            goto done;                                                                             \
    } while (0)

#endif
