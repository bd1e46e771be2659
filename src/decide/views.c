#include "decide/views.h"

#include "base/check.h"
#include "base/engine.h"
#include "base/parallel.h"
#include "decide/candidate.h"
#include "decide/count.h"

#include <math.h>
#include <string.h>

/* Numbers of a range at which views are compared. */
enum { MAX_NUMBERS = 5 };

/* Weights are this power of the scores. */
static const double score_power = 4;

/* ---- the score of one view ----------------------------------------------------------------- */

/* The mean divergence J over up to five evenly spaced numbers of a range, both ends included. */
static huddle_status score_range(huddle_context *context, uint64_t seed, huddle_range range,
                                 hd_fit *alone, double *score) {
    huddle_status status = HUDDLE_OK;
    int32_t width = range.last - range.first;
    int32_t count = width + 1 < MAX_NUMBERS ? width + 1 : MAX_NUMBERS;
    *score = 0;
    for (int32_t k = 0; k < count; k++) {
        int32_t number =
            range.first + (count > 1 ? (int32_t)((int64_t)width * k / (count - 1)) : 0);
        huddle_graph_scores scores = {0};
        if (number > 1) /* one cluster has a divergence of 0 */
            TRY(hd_decide_score_merged(context, seed, number, alone, &scores));
        *score += scores.divergence / count;
    }
done:
    return status;
}

/* Without a number: the largest modularity over all of them, as the preparation is chosen. */
static huddle_status score_all(huddle_context *context, const hd_spectral_options *options,
                               hd_fit *alone, double *score) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_trials *trials = &alone->trials;
    TRY(hd_decide_score_numbers(context, options, hd_decide_all_numbers(alone->rows.n), false,
                                alone));
    *score = 0;
    for (int32_t k = 0; k < trials->count; k++)
        *score = fmax(*score, trials->items[k].modularity);
done:
    return status;
}

typedef struct scoring {
    huddle_context *context;
    const hd_spectral_options *options;
    huddle_range n_clusters;
    hd_fit *fit;
} scoring;

/* Clusters of the view's own graph are found by merging and moves: that needs neither eigenvectors
 * nor K-means. Only what is made here is freed. */
static huddle_status score_view(void *argument, hd_chunk chunk) {
    huddle_status status = HUDDLE_OK;
    const scoring *s = argument;
    hd_fit_one_view *view = &s->fit->views.items[chunk.begin];
    hd_fit alone = {.rows = s->fit->rows, .graph = view->graph};
    uint64_t seed = s->options->common.seed;
    TRY(huddle_refine_merge(s->context, &alone.graph.matrix, &alone.refined.tree));
    if (s->n_clusters.first == HUDDLE_AUTO)
        TRY(score_all(s->context, s->options, &alone, &view->score));
    else
        TRY(score_range(s->context, seed, s->n_clusters, &alone, &view->score));
done:
    alone.rows = (hd_fit_rows){0};
    alone.graph = (hd_fit_graph){0};
    hd_fit_free(&alone);
    return status;
}

/* ---- the weights --------------------------------------------------------------------------- */

static huddle_status take_given(const huddle_numbers *given, hd_fit *fit) {
    int32_t count = fit->views.count;
    double largest = 0;
    if (given->count != count)
        return hd_fail(HUDDLE_INVALID, "view_weights has %d numbers for %d views", given->count,
                       count);
    for (int32_t v = 0; v < count; v++) {
        fit->views.items[v].weight = given->values[v];
        largest = fmax(largest, given->values[v]);
    }
    if (!(largest > 0))
        return hd_fail(HUDDLE_INVALID, "view_weights = 0 for all %d views", count);
    return HUDDLE_OK;
}

/* Weights that add up to 1; equal ones if they are all 0. A power of 2 is divided out first,
 * without rounding, so that the sum of very large weights is finite. */
static void scale_to_one(hd_fit_views *views) {
    double largest = 0, sum = 0;
    int exponent;
    for (int32_t v = 0; v < views->count; v++)
        largest = fmax(largest, views->items[v].weight);
    (void)frexp(largest, &exponent);
    for (int32_t v = 0; v < views->count; v++) {
        views->items[v].weight = ldexp(views->items[v].weight, -exponent);
        sum += views->items[v].weight;
    }
    for (int32_t v = 0; v < views->count; v++)
        views->items[v].weight = sum > 0 ? views->items[v].weight / sum : 1.0 / views->count;
}

huddle_status hd_decide_view_weights(huddle_context *context, const hd_spectral_options *options,
                                     huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_numbers *given = &options->view_weights;
    hd_fit_views *views = &fit->views;
    scoring s = {context, options, n_clusters, fit};
    bool is_auto = given->name != NULL && strcmp(given->name, "auto") == 0;
    for (int32_t v = 0; v < views->count; v++) {
        views->items[v].weight = 1;
        views->items[v].score = NAN;
    }
    if (given->name == NULL)
        TRY(take_given(given, fit));
    if (is_auto)
        TRY(hd_engine_loop(context, "views", views->count, score_view, &s));
    for (int32_t v = 0; v < views->count && is_auto; v++)
        views->items[v].weight = pow(fmax(views->items[v].score, 0), score_power);
    scale_to_one(views);
done:
    return status;
}
