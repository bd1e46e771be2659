/* Labels of points or vertices: the order of their values, their ranks, and who has which. */
#ifndef HUDDLE_SRC_MATRIX_LABELS_H
#define HUDDLE_SRC_MATRIX_LABELS_H

#include "base/slabs.h"

/* Maps int32_t to uint32_t so that the order is kept: flipping the sign bit puts negative numbers
 * below the others. */
static inline uint32_t hd_label_key(int32_t label) {
    return (uint32_t)label ^ 0x80000000u;
}

static inline int32_t hd_key_label(uint32_t key) {
    return (int32_t)(key ^ 0x80000000u);
}

/* Sorts n keys in linear time; spare has n places. */
void hd_sort_keys(int64_t n, uint64_t *keys, uint64_t *spare);

/* ranks[k]: the position of labels[k] among the sorted distinct labels of all processes, all of
 * which must call this; *count: the number of those; *names, if names is not NULL: these labels,
 * freed by huddle_free(). Without slabs, and with a NULL context, the labels are all there are.
 * ranks may be the array of the labels. */
huddle_status hd_rank_labels(huddle_context *context, int64_t n, const int32_t *labels,
                             int32_t *ranks, int64_t *count, int32_t **names);

/* The points of each label of 0 .. n_labels - 1, ascending: those of label k are members[begin[k]]
 * .. members[begin[k + 1] - 1]. begin has n_labels + 2 places. */
void hd_list_members(int64_t n, const int32_t *labels, int64_t n_labels, int64_t *begin,
                     int32_t *members);

/* The first row of each label of 0 .. n_labels - 1 among those of all processes, all of which must
 * call this; INFINITY if it has none. Row numbers are below 2^53 and exact as doubles. */
huddle_status hd_find_first_rows(huddle_context *context, int64_t n, const int32_t *labels,
                                 int64_t n_labels, double *first);

#endif
