/* Candidate lists: the k points of smallest distance by the kernel, in float, sorted by (value,
 * index). */
#ifndef HUDDLE_SRC_GRAPH_CANDIDATES_H
#define HUDDLE_SRC_GRAPH_CANDIDATES_H

#include "base/check.h"

#include <float.h>

typedef struct hd_graph_candidates {
    int32_t k;
    float *value;
    int32_t *index; /* INT32_MAX in empty places */
} hd_graph_candidates;

static inline huddle_status hd_graph_candidates_new(int64_t n, int32_t k,
                                                    hd_graph_candidates *lists) {
    huddle_status status = HUDDLE_OK;
    *lists = (hd_graph_candidates){.k = k};
    ALLOC(lists->value, n * k);
    ALLOC(lists->index, n * k);
    for (int64_t e = 0; e < n * k; e++) {
        lists->value[e] = FLT_MAX;
        lists->index[e] = INT32_MAX;
    }
done:
    return status;
}

static inline void hd_graph_candidates_free(hd_graph_candidates *lists) {
    huddle_free(lists->value);
    huddle_free(lists->index);
    *lists = (hd_graph_candidates){0};
}

/* Inserts j into list i if it belongs there; returns the last value of the list, above which
 * nothing can enter it any more. */
static inline float hd_graph_candidates_insert(const hd_graph_candidates *lists, int64_t i,
                                               float value, int64_t j) {
    float *values = lists->value + i * lists->k;
    int32_t *index = lists->index + i * lists->k, at = lists->k - 1, id = (int32_t)j;
    if (value > values[at] || (value == values[at] && id >= index[at]))
        return values[at];
    for (; at > 0 && (value < values[at - 1] || (value == values[at - 1] && id < index[at - 1]));
         at--) {
        values[at] = values[at - 1];
        index[at] = index[at - 1];
    }
    values[at] = value;
    index[at] = id;
    return values[lists->k - 1];
}

#endif
