/* Numbers of clusters: back to those of a reference labelling, so that a refined label means what
 * it meant before wherever it is still the same. */
#include "matrix/labels.h"
#include "base/check.h"
#include "refine/refine.h"

#include <string.h>

/* The order in which a fit numbers clusters. The labels are below n: ranks, or those of clusters.
 */
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

/* Clusters are matched by ranks, which any reference has. Its own numbers are kept if they are
 * exactly 0 .. n_clusters - 1; otherwise clusters are numbered as after a fit. */
huddle_status hd_refine_number(int64_t n, int32_t n_clusters, const int32_t *reference,
                               int32_t *labels, int64_t *n_changed) {
    huddle_status status = HUDDLE_OK;
    int32_t *ranks = NULL, *names = NULL;
    int64_t count;
    *n_changed = 0;
    ALLOC(ranks, n);
    TRY(hd_rank_labels(NULL, n, reference, ranks, &count, &names));
    TRY(huddle_metrics_renumber(NULL, n, ranks, labels));
    for (int64_t i = 0; i < n; i++)
        *n_changed += labels[i] != ranks[i];
    if (count != n_clusters || names[0] != 0 || names[count - 1] != n_clusters - 1)
        TRY(number_by_occurrence(n, labels));
done:
    FREE(ranks, names);
    return status;
}
