/* A weighted neighbour graph, how its neighbours were found, and how its components were connected.
 *
 * Both A and W are such graphs, under different prefixes. The scale is kept after the fit, because
 * new points get edges with the weights (1) that they would have had in training; a method may keep
 * it without the graph, as lsc does. Matrices are symmetric and store each edge twice. */
#include "fit/fit.h"

#include "base/check.h"
#include "base/slabs.h"

#include <string.h>

/* ---- walk ---------------------------------------------------------------------------------- */

static void walk_knn(hd_walk *walk, const char *prefix, huddle_knn_info *info) {
    char name[HD_WALK_NAME];
    hd_walk_text(walk, hd_walk_join(name, prefix, "solver"), &info->solver);
    hd_walk_real(walk, hd_walk_join(name, prefix, "recall"), &info->recall);
    hd_walk_real(walk, hd_walk_join(name, prefix, "recall_low"), &info->recall_low);
    hd_walk_real(walk, hd_walk_join(name, prefix, "recall_high"), &info->recall_high);
    hd_walk_int32(walk, hd_walk_join(name, prefix, "n_rounds"), &info->n_rounds);
    hd_walk_int(walk, hd_walk_join(name, prefix, "n_distances"), &info->n_distances);
    hd_walk_int(walk, hd_walk_join(name, prefix, "n_repeated"), &info->n_repeated);
    hd_walk_real(walk, hd_walk_join(name, prefix, "knn_seconds"), &info->seconds);
}

static void walk_connect(hd_walk *walk, const char *prefix, huddle_connect_info *info) {
    char name[HD_WALK_NAME];
    hd_walk_int32(walk, hd_walk_join(name, prefix, "components_before"), &info->before);
    hd_walk_int32(walk, hd_walk_join(name, prefix, "components"), &info->after);
    hd_walk_int32(walk, hd_walk_join(name, prefix, "bridges"), &info->bridges);
    hd_walk_real(walk, hd_walk_join(name, prefix, "connect_seconds"), &info->seconds);
}

/* All names have the prefix, since A and W are in the same file. */
void hd_fit_graph_walk(hd_walk *walk, const char *prefix, hd_fit_graph *graph) {
    char name[HD_WALK_NAME];
    hd_walk_bool(walk, hd_walk_join(name, prefix, "present"), &graph->present);
    hd_walk_row_csr(walk, prefix, &graph->matrix);
    hd_walk_scale(walk, hd_walk_join(name, prefix, "scale"), &graph->scale);
    walk_knn(walk, prefix, &graph->knn);
    walk_connect(walk, prefix, &graph->connect);
    hd_walk_real(walk, hd_walk_join(name, prefix, "seconds"), &graph->seconds);
}

/* The prefix of A; the copier and hd_fit_graph_free() use it for W as well, where names do not
 * matter. */
static void walk_a(hd_walk *walk, hd_fit_graph *graph) {
    hd_fit_graph_walk(walk, "graph", graph);
}

static void walk_part(hd_walk *walk, hd_fit *fit) {
    walk_a(walk, &fit->graph);
}

HD_FIT_COPIER(hd_fit_graph, walk_a);

huddle_status hd_fit_graph_count(huddle_context *context, hd_fit_graph *graph) {
    const huddle_csr *m = &graph->matrix;
    int64_t own = m->offsets != NULL ? m->offsets[m->rows] : 0, all = own;
    huddle_status status = hd_reduce_count(context, &all);
    graph->elsewhere = all - own;
    return status;
}

/* ---- a loaded file ------------------------------------------------------------------------- */

/* The rule selftune has one scale per point, the others none. Prediction reads local[j] for every
 * neighbour j if the rule is selftune. */
static bool scale_fits(const huddle_scale *scale, int64_t n) {
    bool local = scale->rule != NULL && strcmp(scale->rule, "selftune") == 0;
    return local ? scale->local != NULL && scale->n == n : scale->local == NULL;
}

/* A graph between other numbers of points would lead out of the labels when cuts are computed. A
 * method may keep the scale of its weights without the graph. */
huddle_status hd_fit_graph_fits(const char *prefix, const hd_fit_graph *graph,
                                const hd_fit_rows *rows) {
    const huddle_csr *m = &graph->matrix;
    char name[HD_WALK_NAME];
    int64_t n = rows->n;
    HD_FIT_REQUIRE(m->offsets == NULL || m->rows == n, hd_walk_join(name, prefix, "rows"), m->rows);
    HD_FIT_REQUIRE(m->offsets == NULL || m->cols == n + rows->elsewhere,
                   hd_walk_join(name, prefix, "cols"), m->cols);
    HD_FIT_REQUIRE(scale_fits(&graph->scale, n), hd_walk_join(name, prefix, "scale_n"),
                   graph->scale.n);
    return HUDDLE_OK;
}

static huddle_status sizes_fit(const hd_fit *fit) {
    return hd_fit_graph_fits("graph", &fit->graph, &fit->rows);
}

static huddle_status check_graph(const hd_fit *fit) {
    return fit->graph.matrix.offsets != NULL ? huddle_csr_check(&fit->graph.matrix) : HUDDLE_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Every edge is stored twice. Entries on the diagonal are not edges: they are the loops of rows
 * with copies (docs/method.md, "Duplicate points") and of the chain of rmsc. Distributed rows have
 * none.
 */
static int64_t count_edges(const hd_fit *fit) {
    const huddle_csr *m = &fit->graph.matrix;
    if (huddle_csr_fetch(m) != HUDDLE_OK || m->offsets == NULL)
        return 0;
    int64_t entries = m->offsets[m->rows] + fit->graph.elsewhere;
    for (int64_t i = 0; i < m->rows && fit->rows.elsewhere == 0; i++)
        for (int64_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
            entries -= m->columns[e] == i;
    return entries / 2;
}

/* "vertices" is reported only if it is not the number of points. */
static void write_graph(const hd_fit *fit, hd_json_writer *json) {
    const hd_fit_graph *graph = &fit->graph;
    if (!graph->present)
        return;
    hd_json_set_object(json, "graph");
    hd_json_set_integer(json, "components", graph->connect.after);
    hd_json_set_integer(json, "components_before", graph->connect.before);
    hd_json_set_integer(json, "bridges", graph->connect.bridges);
    if (fit->rows.nodes.n > 0)
        hd_json_set_integer(json, "vertices", fit->rows.nodes.count);
    hd_json_set_integer(json, "edges", count_edges(fit));
    hd_json_set_real(json, "recall", graph->knn.recall);
    hd_json_set_real(json, "recall_low", graph->knn.recall_low);
    hd_json_set_real(json, "recall_high", graph->knn.recall_high);
    hd_json_set_string(json, "solver", graph->knn.solver);
    hd_json_close_object(json);
}

const hd_fit_part hd_fit_part_graph = {
    .walk = walk_part, .fits = sizes_fit, .check = check_graph, .write_json = write_graph};
