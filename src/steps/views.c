#include "steps/views.h"

#include "base/check.h"
#include "steps/graph.h"

#include <math.h>
#include <string.h>

/* ---- sums ---------------------------------------------------------------------------------- */

/* Adds the next column of a row: the smallest that any matrix has at its place `at`. */
static int32_t next_column(int32_t count, const huddle_csr *matrices, int64_t i,
                           const int64_t *at) {
    int32_t column = INT32_MAX;
    for (int32_t v = 0; v < count; v++)
        if (at[v] < matrices[v].offsets[i + 1] && matrices[v].columns[at[v]] < column)
            column = matrices[v].columns[at[v]];
    return column;
}

/* Row i of the sum, merged from the rows of the matrices, whose columns ascend. The factors are
 * multiplied with each other first, so that the sum of symmetric matrices is symmetric to the last
 * bit. */
static void sum_row(int32_t count, const huddle_csr *matrices, double *const *row,
                    double *const *column, int64_t i, huddle_csr *sum) {
    int64_t at[HD_FIT_MAX_VIEWS], end = sum->offsets[i];
    for (int32_t v = 0; v < count; v++)
        at[v] = matrices[v].offsets[i];
    for (int32_t j; (j = next_column(count, matrices, i, at)) != INT32_MAX; end++) {
        double value = 0;
        for (int32_t v = 0; v < count; v++)
            if (at[v] < matrices[v].offsets[i + 1] && matrices[v].columns[at[v]] == j)
                value += matrices[v].values[at[v]++] * (row[v][i] * column[v][j]);
        sum->columns[end] = j;
        sum->values[end] = value;
    }
    sum->offsets[i + 1] = end;
}

huddle_status hd_step_sum_scaled(int32_t count, const huddle_csr *matrices, double *const *row,
                                 double *const *column, huddle_csr *sum) {
    huddle_status status = HUDDLE_OK;
    huddle_csr roomy = {0};
    int64_t rows = matrices[0].rows, entries = 0;
    for (int32_t v = 0; v < count; v++)
        entries += matrices[v].offsets[rows];
    TRY(huddle_csr_new(rows, matrices[0].cols, entries, &roomy));
    for (int64_t i = 0; i < rows; i++)
        sum_row(count, matrices, row, column, i, &roomy);
    TRY(huddle_csr_copy(&roomy, sum)); /* without the room of entries that were added up */
done:
    huddle_csr_free(&roomy);
    return status;
}

/* ---- the graphs ---------------------------------------------------------------------------- */

/* The smallest vertex of a set of joined ones. */
static int32_t find_root(int32_t *parent, int32_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Components of the union of the graphs. */
static huddle_status count_components(hd_fit *fit, int32_t *count) {
    huddle_status status = HUDDLE_OK;
    int64_t n = fit->rows.n;
    int32_t *parent = NULL;
    ALLOC(parent, n);
    for (int64_t i = 0; i < n; i++)
        parent[i] = (int32_t)i;
    *count = (int32_t)n;
    for (int32_t v = 0; v < fit->views.count; v++) {
        const huddle_csr *graph = &fit->views.items[v].graph.matrix;
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
                int32_t a = find_root(parent, (int32_t)i);
                int32_t b = find_root(parent, graph->columns[e]);
                *count -= a != b;
                parent[a > b ? a : b] = a > b ? b : a;
            }
    }
done:
    huddle_free(parent);
    return status;
}

/* Degrees of single copies: of a vertex that stands for m rows, each has a share of 1 / m. */
static huddle_status measure_degrees(const hd_fit *fit, hd_fit_one_view *view) {
    huddle_status status = HUDDLE_OK;
    const huddle_csr *graph = &view->graph.matrix;
    ALLOC_ZERO(view->degrees, fit->rows.n);
    for (int64_t i = 0; i < fit->rows.n; i++) {
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++)
            view->degrees[i] += graph->values[e];
        view->degrees[i] /= (double)hd_fit_rows_copies(&fit->rows, i);
    }
done:
    return status;
}

static huddle_status weigh_views(huddle_context *context, const hd_spectral_options *options,
                                 hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_knn_options knn = options->knn;
    knn.seed = options->common.seed;
    for (int32_t v = 0; v < fit->views.count; v++) {
        hd_fit_graph *graph = &fit->views.items[v].graph;
        const hd_fit alone = hd_fit_of_view(fit, v);
        TRY(hd_spectral_weigh_points(context, &alone, &knn, &options->weight, graph));
        TRY(huddle_csr_fetch(&graph->matrix));
    }
done:
    return status;
}

/* Every view is joined as it would be alone, if the views together are not joined without. */
static huddle_status connect_views(huddle_context *context, const hd_spectral_options *options,
                                   huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_connect_options connect = hd_spectral_connect_options(options, n_clusters, &fit->rows);
    int32_t together, most = connect.max_ratio > 0 ? 1 : connect.n_clusters;
    TRY(count_components(fit, &together));
    bool fine = strcmp(connect.connect, "auto") == 0 && together <= most;
    if (fine)
        connect.connect = "false";
    for (int32_t v = 0; v < fit->views.count; v++) {
        hd_fit_graph *graph = &fit->views.items[v].graph;
        TRY(huddle_graph_connect(context, &hd_fit_prepared_of(fit, v)->points, &connect,
                                 &graph->scale, &graph->matrix, &graph->connect));
        TRY(huddle_csr_fetch(&graph->matrix));
    }
    fit->graph.connect.before = together;
done:
    return status;
}

huddle_status hd_spectral_make_view_graphs(huddle_context *context,
                                           const hd_spectral_options *options,
                                           huddle_range n_clusters, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_rows *rows = &fit->rows;
    double begin = hd_seconds();
    TRY_STAGE(context, HD_STAGE_GRAPH, weigh_views(context, options, fit));
    TRY_STAGE(context, HD_STAGE_CONNECT, connect_views(context, options, n_clusters, fit));
    for (int32_t v = 0; v < fit->views.count; v++) {
        hd_fit_one_view *view = &fit->views.items[v];
        if (rows->nodes.n > 0)
            TRY(huddle_graph_weigh_copies(context, rows->nodes.copies, options->knn.n_neighbors,
                                          &view->graph.matrix));
        TRY(measure_degrees(fit, view));
    }
    fit->graph.seconds = hd_seconds() - begin;
done:
    return status;
}

/* ---- the mean ------------------------------------------------------------------------------ */

/* 1 / sqrt of the degree of a copy; 0 for a vertex without edges, which has none in the mean. */
static double inverse_root(double degree) {
    return degree > 0 ? 1 / sqrt(degree) : 0;
}

/* Bridges and time of all views, and the least accurate search. */
huddle_status hd_spectral_finish_views(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    hd_fit_graph *mean = &fit->graph;
    int32_t *component = NULL;
    mean->knn = fit->views.items[0].graph.knn;
    for (int32_t v = 0; v < fit->views.count; v++) {
        const hd_fit_graph *graph = &fit->views.items[v].graph;
        mean->connect.bridges += graph->connect.bridges;
        mean->connect.seconds += graph->connect.seconds;
        if (graph->knn.recall < mean->knn.recall)
            mean->knn = graph->knn;
    }
    mean->present = true;
    ALLOC(component, fit->rows.n);
    TRY(huddle_graph_components(context, &mean->matrix, component, &mean->connect.after));
    for (int32_t v = 0; v < fit->views.count; v++)
        huddle_csr_free(&fit->views.items[v].graph.matrix);
done:
    huddle_free(component);
    return status;
}

/* Divided by the degrees of single copies a vertex of m copies keeps about m times the degree of
 * others: the mean is that of the graphs of all rows, with the copies merged afterwards. */
huddle_status hd_spectral_take_mean_graph(huddle_context *context, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int32_t count = fit->views.count;
    double *factors[HD_FIT_MAX_VIEWS] = {0};
    huddle_csr graphs[HD_FIT_MAX_VIEWS] = {0};
    for (int32_t v = 0; v < count; v++) {
        const hd_fit_one_view *view = &fit->views.items[v];
        double root = sqrt(view->weight);
        graphs[v] = view->graph.matrix;
        ALLOC(factors[v], fit->rows.n);
        for (int64_t i = 0; i < fit->rows.n; i++)
            factors[v][i] = root * inverse_root(view->degrees[i]);
    }
    TRY(hd_step_sum_scaled(count, graphs, factors, factors, &fit->graph.matrix));
    TRY(hd_spectral_finish_views(context, fit));
done:
    for (int32_t v = 0; v < count; v++)
        huddle_free(factors[v]);
    return status;
}
