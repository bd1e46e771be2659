/* Robust multi-view spectral clustering (Xia, Pan, Du and Yin, Robust multi-view spectral
 * clustering via low-rank and sparse decomposition, AAAI 2014), a reconstruction: the text of the
 * publication was not at hand. The transition matrix P_v = D_v^-1 A_v of each view's graph is taken
 * to be the sum of a common chain, which has low rank because clusters are few, and of errors of
 * the view, which are sparse:
 *
 *     minimise over P, E_v   ||P||_* + lambda sum_v ||E_v||_1
 *     subject to P_v = P + E_v, P >= 0, P 1 = 1.
 *
 * steps/chain.c solves it. The clusters are those of the chain: with its stationary distribution
 * pi, Pi = diag(pi), K-means on the eigenvectors of the smallest eigenvalues of
 *
 *     L u = lambda Pi u,   L = Pi - (Pi P + P' Pi) / 2,
 *
 * which is spectral clustering of the graph (Pi P + P' Pi) / 2, whose degrees are pi. With one view
 * and a large lambda P = P_1, and the graph is A_1: the method is then sc without refinement.
 *
 * Chosen here: A_v is the neighbour graph of sc; lambda = auto; mu begins near the inverse of the
 * singular values of a chain, as smaller ones cut off all of them, and grows slowly, as the rounds
 * otherwise end far from the optimum; Q begins as the mean of the P_v; pi of a chain that is not
 * irreducible. New points are not in the paper: they have edges to their neighbours in every view,
 * as in sc, and are placed by the eigenvectors of the chain. */
#include "base/check.h"
#include "base/context.h"
#include "base/options.h"
#include "decide/memory.h"
#include "huddle/graph.h"
#include "methods/spectral.h"
#include "steps/chain.h"
#include "steps/views.h"

/* A round decomposes an n x n matrix, and there are about 80: half an hour at this size. */
enum { MAX_ROWS = 5000 };

/* Matrices of n x n numbers besides one for each view: P, Q, Z, the rest, and three that the
 * eigenvectors of a round take. */
enum { MATRICES = 7 };

typedef struct rmsc_options {
    hd_spectral_options spectral;
    double sparsity, penalty, penalty_growth, chain_tol;
    int32_t chain_max_iter;
} rmsc_options;

static const huddle_option *chain_table(void) {
    static const huddle_option table[] = {
        HD_REAL_AUTO(rmsc_options, sparsity, "auto", 1e-9, 1e9,
                     "weight of the L1 norm of the errors of the views; auto: from the number of "
                     "views and of neighbours"),
        HD_REAL(rmsc_options, penalty, "1", 1e-9, 1e5,
                "penalty of violated constraints in the first round of the decomposition"),
        HD_REAL(rmsc_options, penalty_growth, "1.1", 1, 10,
                "factor of the penalty after each round; large ones end sooner and farther from "
                "the optimum"),
        HD_REAL(rmsc_options, chain_tol, "1e-5", 1e-12, 0.1,
                "largest violation of a constraint at which the decomposition ends"),
        HD_INT(rmsc_options, chain_max_iter, "200", 1, INT32_MAX,
               "maximum number of rounds of the decomposition"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(rmsc_options, spectral.prepare),
     hd_method_prepare_names},
    {hd_method_duplicates_table, 0, NULL},
    {huddle_knn_options_table, offsetof(rmsc_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(rmsc_options, spectral.weight), NULL},
    {huddle_connect_options_table, offsetof(rmsc_options, spectral.connect), NULL},
    {chain_table, 0, NULL},
    {huddle_embed_options_table, offsetof(rmsc_options, spectral.embed), NULL},
    {huddle_kmeans_options_table, offsetof(rmsc_options, spectral.kmeans), hd_method_kmeans_names},
    {0}};

/* ---- the graph of the chain ---------------------------------------------------------------- */

static void report(huddle_context *context, const rmsc_options *o, const hd_step_chain *chain,
                   const huddle_alternation_info *rounds, int32_t count) {
    double violation = rounds->objective[rounds->n_iter], objective = chain->nuclear;
    for (int32_t v = 0; v < count; v++) {
        objective += chain->sparsity * chain->deviation[v] * (double)chain->n;
        hd_log(context, "rmsc: %.0f %% of the transitions of view %d are errors",
               50 * chain->deviation[v], v + 1);
    }
    hd_log(context,
           "rmsc: sparsity %.4g, rank %lld, objective %.6g, violation %.2g after %d rounds",
           chain->sparsity, (long long)chain->rank, objective, violation, rounds->n_iter);
    if (rounds->stop == HUDDLE_STOP_MAX_ITER)
        hd_warn(context, HUDDLE_WARNING_NOT_CONVERGED,
                "the decomposition violates a constraint by %.2g after %d rounds, more than "
                "chain_tol = %g: try a larger chain_max_iter or penalty_growth",
                violation, rounds->n_iter, o->chain_tol);
}

/* The start of the chain: rows of x are equally likely. */
static huddle_status find_distribution(const hd_fit_rows *rows, const hd_step_chain *chain,
                                       double *pi) {
    huddle_status status = HUDDLE_OK;
    double *start = NULL;
    ALLOC(start, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        start[i] = (double)hd_fit_rows_copies(rows, i) / (double)hd_fit_rows_total(rows);
    TRY(hd_step_chain_stationary(chain, start, pi));
done:
    huddle_free(start);
    return status;
}

/* The weights of the graph add up to those of the only view, or, as in the mean of several, to the
 * number of rows: new points, whose edges are those of sc, have degrees on the same scale. */
static double total_weight(const hd_fit *fit) {
    double total = 0;
    if (fit->views.count > 0)
        return (double)hd_fit_rows_total(&fit->rows);
    for (int64_t e = 0; e < fit->graph.matrix.offsets[fit->rows.n]; e++)
        total += fit->graph.matrix.values[e];
    return total > 0 ? total : 1;
}

/* Of several views hd_spectral_finish_views() counts them. */
static huddle_status count_components(huddle_context *context, hd_fit_graph *graph) {
    huddle_status status = HUDDLE_OK;
    int32_t *component = NULL;
    ALLOC(component, graph->matrix.rows);
    TRY(huddle_graph_components(context, &graph->matrix, component, &graph->connect.after));
done:
    huddle_free(component);
    return status;
}

/* Puts the graph of the chain in place of those of the views. */
static huddle_status make_chain(huddle_context *context, const rmsc_options *o, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_fit_count_views(fit);
    const hd_step_chain_options how = {o->sparsity, o->penalty, o->penalty_growth, o->chain_tol,
                                       o->chain_max_iter};
    huddle_csr transitions[HD_FIT_MAX_VIEWS] = {0}, *graph = &fit->graph.matrix;
    huddle_alternation_info *rounds = &fit->clusters.alternation;
    hd_step_chain chain = {0};
    double *pi = NULL, total;
    if (fit->views.count == 0)
        TRY(huddle_csr_fetch(graph));
    for (int32_t v = 0; v < count; v++)
        TRY(hd_step_chain_transitions(
            fit->views.count == 0 ? graph : &fit->views.items[v].graph.matrix, &transitions[v]));
    TRY(hd_step_chain_find(context, count, transitions, &how, &chain, rounds));
    report(context, o, &chain, rounds, count);
    ALLOC(pi, chain.n);
    TRY(hd_check_cancel(context));
    TRY(find_distribution(&fit->rows, &chain, pi));
    total = total_weight(fit);
    huddle_csr_free(graph);
    TRY(hd_step_chain_graph(&chain, pi, total, graph));
    if (fit->views.count > 0)
        TRY(hd_spectral_finish_views(context, fit));
    else
        TRY(count_components(context, &fit->graph));
done:
    for (int32_t v = 0; v < count; v++)
        huddle_csr_free(&transitions[v]);
    huddle_free(pi);
    hd_step_chain_free(&chain);
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

static huddle_status check_size(const hd_method_run *run) {
    int64_t n = run->job->x->n;
    int32_t matrices = MATRICES + (run->job->n_views > 1 ? run->job->n_views : 1);
    double bytes = (double)n * (double)n * matrices * sizeof(double);
    char needed[32];
    huddle_format_bytes(bytes < 0x1p62 ? (int64_t)bytes : INT64_MAX, needed, sizeof needed);
    if (n > MAX_ROWS)
        return hd_fail(HUDDLE_UNSUPPORTED,
                       "rmsc is limited to %d points, not %lld, for which it would decompose "
                       "matrices of %lld x %lld in each of dozens of rounds and need %s of memory; "
                       "sc takes views of any number",
                       MAX_ROWS, (long long)n, (long long)n, (long long)n, needed);
    return HUDDLE_OK;
}

/* The graphs of the views are shared with other fits; nothing after them is, as it depends on
 * options that others do not have. The views are equal: it is the errors that weigh them. */
static huddle_status fit_rmsc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    rmsc_options o = *(const rmsc_options *)options;
    o.spectral.affinity = "features";
    o.spectral.view_weights.name = "equal";
    TRY(check_size(run));
    TRY(hd_method_prepare_graph(run, &o.spectral));
    run->key.cache = NULL;
    TRY_STAGE(run->context, HD_STAGE_GRAPH, make_chain(run->context, &o, run->fit));
    TRY(hd_method_embed(run, &o.spectral));
    hd_method_clustering how =
        hd_method_clustering_of(run->fit, hd_method_cluster_rows, &o.spectral, NULL);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* The chain in addition to what sc needs with a graph of as many entries as the chain may have.
 * Fits of more points are refused by their number, whatever memory there is. */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    hd_decide_sizes dense = *x;
    int64_t views = x->n_views > 1 ? x->n_views : 1;
    if (x->n > MAX_ROWS) {
        hd_decide_memory_of_points(x, options, needed);
        return;
    }
    dense.graph_edges = x->n * x->n;
    hd_decide_memory_of_spectral(&dense, options, needed);
    needed->stages[HD_STAGE_GRAPH] += (MATRICES + views) * x->n * x->n * (int64_t)sizeof(double);
}

const hd_method hd_method_rmsc = {
    .text = {.name = "rmsc",
             .title = "robust multi-view spectral clustering (reconstruction)",
             .reconstruction = true,
             .summary = "Divides the transitions between neighbours of each of several views into "
                        "a Markov chain of low rank, which all views share, and sparse errors, and "
                        "clusters the chain as sc does a graph; for up to 5000 points. "
                        "Reconstructed without the text of its publication."},
    .options_size = sizeof(rmsc_options),
    .sections = sections,
    .views = HD_METHOD_VIEW_GRAPHS,
    .fit = fit_rmsc,
    .place = hd_spectral_place,
    .memory = {.predict = predict_memory}};
