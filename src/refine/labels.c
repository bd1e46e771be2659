/* Numbers of clusters: back to those of a reference labelling, so that a refined label means what
 * it meant before wherever it is still the same. */
#include "matrix/labels.h"
#include "base/check.h"
#include "refine/refine.h"

/* The order in which a fit numbers clusters, those of all processes: by their first vertices. The
 * labels are below n_labels; those that do not occur come last. All processes see the same minima,
 * and rank them alike without another message. */
static huddle_status number_by_occurrence(huddle_context *context, int64_t n, int64_t n_labels,
                                          int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    double *first = NULL;
    int32_t *number = NULL;
    int64_t different;
    ALLOC(first, n_labels);
    ALLOC(number, n_labels);
    TRY(hd_find_first_rows(context, n, labels, n_labels, first));
    for (int64_t k = 0; k < n_labels; k++)
        number[k] = first[k] < INT32_MAX ? (int32_t)first[k] : INT32_MAX;
    TRY(hd_rank_labels(NULL, n_labels, number, number, &different, NULL));
    for (int64_t i = 0; i < n; i++)
        labels[i] = number[labels[i]];
done:
    FREE(first, number);
    return status;
}

/* Clusters are matched by ranks, which any reference has. Its own numbers are kept if they are
 * exactly 0 .. n_clusters - 1; otherwise clusters are numbered as after a fit. */
huddle_status hd_refine_number(huddle_context *context, int64_t n, int32_t n_clusters,
                               const int32_t *reference, int32_t *labels, int64_t *n_changed) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL, *names = NULL;
    int64_t count;
    *n_changed = 0;
    ALLOC(ranks, n);
    TRY(hd_rank_labels(context, n, reference, ranks, &count, &names));
    TRY(huddle_metrics_renumber(context, n, ranks, labels));
    /* Counted while clusters have the numbers of their matches: a vertex whose cluster only gets
     * another number has not changed. */
    for (int64_t i = 0; i < n; i++)
        *n_changed += labels[i] != ranks[i];
    TRY(hd_reduce_count(context, n_changed));
    if (count != n_clusters || names[0] != 0 || names[count - 1] != n_clusters - 1)
        TRY(number_by_occurrence(context, n, count, labels));
done:
    FREE(ranks, names);
    return status;
}
