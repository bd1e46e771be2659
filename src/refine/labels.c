/* Numbers of clusters: any labels to 0 .. k - 1, and back to those of a reference labelling. */
#include "base/check.h"
#include "refine/refine.h"

#include <stdlib.h>
#include <string.h>

static int compare_labels(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Labels in a range not much larger than n, as all methods make them: an array over the range. */
static huddle_status rank_by_table(int64_t n, const int32_t *labels, int32_t least, int64_t range,
                                   int32_t *ranks, int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t *rank = NULL;
    ALLOC_ZERO(rank, range);
    *count = 0;
    for (int64_t i = 0; i < n; i++)
        rank[(int64_t)labels[i] - least] = 1;
    for (int64_t k = 0; k < range; k++)
        if (rank[k] != 0)
            rank[k] = (int32_t)(*count)++;
    for (int64_t i = 0; i < n; i++)
        ranks[i] = rank[(int64_t)labels[i] - least];
done:
    huddle_free(rank);
    return status;
}

/* Labels from elsewhere may be any numbers, and their range too large for an array. */
static huddle_status rank_by_sorting(int64_t n, const int32_t *labels, int32_t *ranks,
                                     int64_t *count) {
    huddle_status status = HUDDLE_OK;
    int32_t *sorted = NULL;
    ALLOC(sorted, n);
    memcpy(sorted, labels, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_labels);
    *count = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[*count - 1])
            sorted[(*count)++] = sorted[i];
    for (int64_t i = 0; i < n; i++) {
        const int32_t *found =
            bsearch(&labels[i], sorted, (size_t)*count, sizeof *sorted, compare_labels);
        ranks[i] = (int32_t)(found - sorted);
    }
done:
    huddle_free(sorted);
    return status;
}

huddle_status hd_refine_rank_labels(int64_t n, const int32_t *labels, int32_t *ranks,
                                    int64_t *count) {
    int32_t least = labels[0], most = labels[0];
    for (int64_t i = 1; i < n; i++) {
        least = labels[i] < least ? labels[i] : least;
        most = labels[i] > most ? labels[i] : most;
    }
    int64_t range = (int64_t)most - least + 1;
    return range <= 2 * n ? rank_by_table(n, labels, least, range, ranks, count)
                          : rank_by_sorting(n, labels, ranks, count);
}

/* The labels are below n. */
static huddle_status number_by_occurrence(int64_t n, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *new_of = NULL, count = 0;
    ALLOC(new_of, n);
    for (int64_t k = 0; k < n; k++)
        new_of[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (new_of[labels[i]] < 0)
            new_of[labels[i]] = count++;
        labels[i] = new_of[labels[i]];
    }
done:
    huddle_free(new_of);
    return status;
}

/* Exactly the values 0 .. n_clusters - 1. */
static bool has_labels(int64_t n, int32_t n_clusters, const int32_t *reference, int32_t *seen) {
    int32_t count = 0;
    memset(seen, 0, (size_t)n_clusters * sizeof *seen);
    for (int64_t i = 0; i < n; i++) {
        if (reference[i] < 0 || reference[i] >= n_clusters)
            return false;
        count += seen[reference[i]] == 0;
        seen[reference[i]] = 1;
    }
    return count == n_clusters;
}

/* Clusters are matched by ranks, which any reference has. Its own numbers are kept if they are
 * exactly 0 .. n_clusters - 1; otherwise clusters are numbered as after a fit. */
huddle_status hd_refine_number(int64_t n, int32_t n_clusters, const int32_t *reference,
                               int32_t *labels, int64_t *n_changed) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL, *scratch = NULL;
    int64_t count;
    *n_changed = 0;
    ALLOC(ranks, n);
    ALLOC(scratch, n_clusters);
    TRY(hd_refine_rank_labels(n, reference, ranks, &count));
    TRY(huddle_metrics_renumber(NULL, n, ranks, labels));
    for (int64_t i = 0; i < n; i++)
        *n_changed += labels[i] != ranks[i];
    if (!has_labels(n, n_clusters, reference, scratch))
        TRY(number_by_occurrence(n, labels));
done:
    FREE(ranks, scratch);
    return status;
}
