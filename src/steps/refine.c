/* Refinement of labels on the graph, as the last step of a method: which starts there are, and
 * what becomes of the fit. The algorithm itself is the stage huddle/refine.h. */
#include "steps/refine.h"

#include "base/check.h"
#include "matrix/resident.h"
#include "steps/embed.h"
#include "steps/kmeans.h"
#include "steps/medoids.h"
#include "steps/merge.h"
#include "steps/slabs.h"

#include <string.h>

/* Starts that the stage makes itself by merging, which need places among its trials. */
enum { MERGING_STARTS = 4, MAX_STARTS = HUDDLE_REFINE_MAX_TRIALS - MERGING_STARTS };

/* Restarts of K-means on commute rows: half those of the method, and no more than this. Their
 * labels are only a start, which moves of single vertices improve; rows of 2c columns make restarts
 * expensive, and with all 50 of them 54 of 56 fits (eight data sets, seven seeds) had the same
 * labels. */
enum { COMMUTE_RESTARTS = 10 };

/* ---- the option ---------------------------------------------------------------------------- */

/* The reasons are static texts, as info structs have them. */
huddle_status hd_step_settle_refine(huddle_context *context, const hd_step_job *job,
                                    hd_spectral_options *options, hd_fit_refined *refined) {
    huddle_status status = HUDDLE_OK;
    bool required = hd_spectral_refines(options) && strcmp(options->refine, "graph") == 0;
    if (!hd_spectral_refines(options) || job->embedding == NULL)
        return status;
    if (required)
        FAIL(HUDDLE_INVALID, "refine = graph needs a graph, but an embedding was given");
    refined->skipped = "an embedding was given";
    hd_log(context, "the labels are not refined: %s", refined->skipped);
    options->refine = "none";
done:
    return status;
}

/* ---- starts -------------------------------------------------------------------------------- */

/* What K-means would warn of concerns a start, not the result. */
huddle_status hd_step_cluster_commute(huddle_context *context, const hd_spectral_options *options,
                                      int32_t n_clusters, const hd_fit_rows *rows,
                                      const hd_fit_embedding *embedding,
                                      hd_fit_clusters *clusters) {
    huddle_status status = HUDDLE_OK;
    hd_fit_embedding own = {0}; /* its rows; all else belongs to the original */
    huddle_kmeans_options kmeans = hd_spectral_kmeans_options(options, n_clusters);
    kmeans.n_init = (kmeans.n_init + 1) / 2;
    if (kmeans.n_init > COMMUTE_RESTARTS)
        kmeans.n_init = COMMUTE_RESTARTS;
    TRY(huddle_dense_fetch(&embedding->f.vectors));
    own.f = embedding->f;
    memset(&own.f.rows, 0, sizeof own.f.rows);
    TRY(hd_spectral_make_rows("commute", n_clusters, &own));
    TRY_SILENT(context, hd_step_kmeans_dense(context, &own.f.rows, &kmeans, rows, clusters));
done:
    huddle_dense_free(&own.f.rows);
    return status;
}

/* The starts of a refinement. */
typedef struct start_list {
    int64_t n;          /* vertices */
    int32_t n_clusters; /* of the first start */
    int32_t *names;     /* n_clusters: its labels, in the order of their first vertices */
    int32_t *labels;    /* n for each start */
    int32_t count;
    huddle_refine_start items[MAX_STARTS];
} start_list;

/* Numbered by first members, because moves of equal gain go to the smaller number: the result must
 * not depend on numbers that K-means happened to give. Without gaps the stage numbers its clusters
 * as the first start does. A start with fewer clusters than the first is of no use. */
static huddle_status add_start(huddle_context *context, const char *name, const int32_t *labels,
                               int32_t n_labels, start_list *list) {
    huddle_status status = HUDDLE_OK;
    int32_t *numbers = NULL, *to = list->labels + list->count * list->n, count;
    ALLOC(numbers, n_labels);
    TRY(hd_fit_order_labels(context, list->n, labels, n_labels, numbers, &count));
    if (list->count == 0) {
        list->n_clusters = count;
        for (int32_t k = 0; k < n_labels; k++)
            list->names[numbers[k]] = k;
    }
    if (list->count == MAX_STARTS || count < list->n_clusters)
        goto done;
    for (int64_t i = 0; i < list->n; i++)
        to[i] = numbers[labels[i]];
    list->items[list->count++] = (huddle_refine_start){name, to};
done:
    huddle_free(numbers);
    return status;
}

/* The clusters of the first start are those that can be asked for: K-means on rows that shrinking
 * has fused may leave some empty. These stay empty. */
huddle_status hd_step_refine_labels(huddle_context *context, const hd_spectral_options *options,
                                    int32_t n_clusters, const hd_fit_rows *rows,
                                    const huddle_csr *graph, const hd_fit_embedding *embedding,
                                    const huddle_refine_tree *tree, int32_t n_own,
                                    const huddle_refine_start *own, int32_t *labels,
                                    huddle_refine_info *info) {
    huddle_status status = HUDDLE_OK;
    hd_fit_clusters commute = {0};
    huddle_refine_options refine = huddle_refine_defaults();
    start_list starts = {.n = rows->n};
    memset(info, 0, sizeof *info);
    memmove(labels, own[0].labels, (size_t)rows->n * sizeof *labels);
    ALLOC(starts.names, n_clusters);
    ALLOC(starts.labels, ((int64_t)n_own + 1) * rows->n);
    for (int32_t k = 0; k < n_own; k++)
        TRY(add_start(context, own[k].name, own[k].labels, n_clusters, &starts));
    if (starts.n_clusters < 2)
        goto done;
    refine.n_clusters = starts.n_clusters;
    refine.seed = options->common.seed;
    if (embedding != NULL && hd_dense_present(&embedding->f.vectors)) {
        TRY(hd_step_cluster_commute(context, options, refine.n_clusters, rows, embedding,
                                    &commute));
        TRY(add_start(context, "commute", commute.labels, refine.n_clusters, &starts));
    }
    TRY(huddle_refine_with_tree(context, graph, tree, starts.count, starts.items, &refine, labels,
                                info));
    for (int64_t i = 0; i < rows->n; i++)
        labels[i] = starts.names[labels[i]];
done:
    FREE(starts.names, starts.labels);
    hd_fit_clusters_free(&commute);
    return status;
}

/* ---- the fit ------------------------------------------------------------------------------- */

/* The stage numbers clusters as its first start, which need not have the labels of the method.
 * Without this users would see changes where only numbers differ. */
static huddle_status number_alike(huddle_context *context, const hd_fit_clusters *clusters,
                                  int64_t n, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    int32_t *space = NULL, count, own_count;
    ALLOC(space, clusters->n_clusters);
    TRY(hd_fit_order_labels(context, n, labels, clusters->n_clusters, space, &count));
    TRY(hd_fit_order_labels(context, n, clusters->labels, clusters->n_clusters, space, &own_count));
    if (count <= own_count)
        TRY(huddle_metrics_renumber(context, n, clusters->labels, labels));
done:
    huddle_free(space);
    return status;
}

/* The tree is made once for all numbers of a range. */
static huddle_status refine_on_graph(huddle_context *context, const hd_spectral_options *options,
                                     const hd_fit_embedding *embedding, int32_t n_own,
                                     const huddle_refine_start *own, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_refined *refined = &fit->refined;
    const huddle_csr *graph = &fit->graph.matrix;
    bool distributed = hd_slabs_distributed(context); /* then the stage makes a tree on process 0 */
    int32_t *labels = NULL;
    ALLOC(labels, fit->rows.n);
    TRY(huddle_csr_fetch(graph));
    if (!distributed && refined->tree.n != fit->rows.n)
        TRY(huddle_refine_merge(context, graph, &refined->tree));
    TRY(hd_step_refine_labels(context, options, fit->clusters.n_clusters, &fit->rows, graph,
                              embedding, distributed ? NULL : &refined->tree, n_own, own, labels,
                              &refined->info));
    if (refined->info.n_trials == 0)
        goto done;
    TRY(number_alike(context, &fit->clusters, fit->rows.n, labels));
    refined->own = fit->clusters.labels;
    fit->clusters.labels = labels;
    labels = NULL;
    hd_step_unify_labels(&fit->rows, &fit->clusters);
    refined->from = "graph";
    refined->info.n_changed = hd_fit_refined_changed(fit);
    TRY(hd_reduce_count(context, &refined->info.n_changed));
    refined->present = true;
done:
    huddle_free(labels);
    return status;
}

/* What an earlier number of clusters left is replaced. */
huddle_status hd_step_refine(huddle_context *context, const hd_spectral_options *options,
                             const hd_fit_embedding *embedding, int32_t n_own,
                             const huddle_refine_start *own, const huddle_dense *clustered,
                             hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    double begin = hd_seconds();
    hd_fit_refined_reset(&fit->refined);
    if (!hd_spectral_refines(options) || !fit->graph.present)
        return status;
    /* The refined labels are matched to the method's own, whose numbers must not be arbitrary. */
    TRY(hd_fit_number_clusters(context, fit));
    hd_stage before = hd_stage_enter(context, HD_STAGE_REFINE);
    TRY(refine_on_graph(context, options, embedding, n_own, own, fit));
    if (fit->refined.present)
        TRY(hd_step_medoids_of_rows(context, &fit->rows, clustered, &fit->clusters));
    fit->refined.seconds = hd_seconds() - begin;
    hd_stage_leave(context, before);
done:
    return status;
}
