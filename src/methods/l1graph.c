/* Laplacian-regularised L1 graph (Yang, Wang, Yang, Wang, Chang and Huang, Data clustering by
 * Laplacian regularized l1-graph, AAAI 2014), a reconstruction: of the publication only the
 * abstract was available. It says that every point is coded sparsely by the other points, that the
 * codes are regularised by a graph Laplacian, and that the graph of the codes of one round gives
 * the Laplacian of the next. So, with one round for each Laplacian,
 *
 *     minimise over A   sum_i ||x_i - sum_k a_ik x_k||^2 + lambda sum_ik |a_ik|
 *                           + beta sum_(i,j) w_ij ||a_i - a_j||^2,   a_ii = 0,
 *
 * over the points scaled to norm 1, as in the L1 graph (lambda is the option sparsity); then
 * spectral clustering of the graph (|A| + |A'|) / 2. The last sum is over unordered pairs: beta
 * tr(A'L A) for rows of A that are codes. With beta = 0 the graph is the L1 graph (Cheng, Yang,
 * Yan, Fu and Huang, Learning with l1-graph for image analysis, IEEE Transactions on Image
 * Processing 2010).
 *
 * Chosen here: the first Laplacian is that of sc's neighbour graph, not normalised; the dictionary
 * of a point has its nearest others only, which limits time and memory and keeps codes local; the
 * solver (steps/l1_codes.c); bridges between components; lambda and beta. New points are coded
 * without the coupling, by the nearest training points. */
#include "base/check.h"
#include "base/options.h"
#include "decide/memory.h"
#include "methods/prepare.h"
#include "methods/spectral.h"
#include "steps/embed.h"
#include "steps/graph.h"
#include "steps/l1_codes.h"
#include "steps/merge.h"
#include "steps/prepare.h"

#include <math.h>
#include <string.h>

typedef struct l1graph_options {
    hd_spectral_options spectral;
    double sparsity, beta, codes_tol;
    int32_t dictionary, laplacians, codes_max_iter;
} l1graph_options;

/* Dictionaries of MAX_ROWS points and a row of the graph for each fit into some hundred MB. */
enum { MAX_ROWS = 20000 };

static const huddle_option *codes_table(void) {
    static const huddle_option table[] = {
        HD_INT(l1graph_options, dictionary, "50", 1, 2000,
               "number of nearest other points that a point is coded by"),
        HD_REAL(l1graph_options, sparsity, "0.1", 1e-9, 1e9, "weight of the L1 norm of the codes"),
        HD_REAL(l1graph_options, beta, "0.1", 0, 1e9,
                "weight of the differences between codes of neighbours; 0: the plain L1 graph"),
        HD_INT(l1graph_options, laplacians, "1", 1, 100,
               "rounds; the first has the Laplacian of the neighbour graph, each further one that "
               "of the codes before"),
        HD_REAL(l1graph_options, codes_tol, "1e-6", 1e-12, 0.1,
                "relative duality gap of a code, and decrease of the objective at which a round "
                "ends"),
        HD_INT(l1graph_options, codes_max_iter, "100", 1, INT32_MAX,
               "maximum number of passes over the codes in a round"),
        {0}};
    return table;
}

static const hd_method_section sections[] = {
    {huddle_prepare_options_table, offsetof(l1graph_options, spectral.prepare),
     hd_method_prepare_names},
    {huddle_knn_options_table, offsetof(l1graph_options, spectral.knn), NULL},
    {huddle_weight_options_table, offsetof(l1graph_options, spectral.weight), NULL},
    {codes_table, 0, NULL},
    {huddle_connect_options_table, offsetof(l1graph_options, spectral.connect), NULL},
    {huddle_embed_options_table, offsetof(l1graph_options, spectral.embed), NULL},
    {huddle_kmeans_options_table, offsetof(l1graph_options, spectral.kmeans),
     hd_method_kmeans_names},
    {0}};

/* ---- the graph ----------------------------------------------------------------------------- */

static hd_step_l1_problem problem_of(const l1graph_options *o, const hd_fit *fit) {
    return (hd_step_l1_problem){.points = &fit->prepared.points,
                                .weights = &fit->graph.matrix,
                                .lambda = o->sparsity,
                                .beta = o->beta,
                                .tol = o->codes_tol,
                                .max_passes = o->codes_max_iter};
}

/* The nearest points of each row of x among those of the fit, which are x if it is NULL. */
static huddle_status find_nearest(huddle_context *context, const hd_fit *fit,
                                  const l1graph_options *o, const huddle_points *x,
                                  huddle_neighbors *lists) {
    huddle_status status = HUDDLE_OK;
    const huddle_points *points = &fit->prepared.points;
    huddle_knn_options knn = o->spectral.knn;
    knn.n_neighbors = o->dictionary;
    knn.seed = o->spectral.common.seed;
    TRY(x == NULL ? huddle_graph_knn(context, points, &knn, lists, NULL)
                  : huddle_graph_query(context, points, x, &knn, lists, NULL));
    TRY(huddle_neighbors_fetch(lists));
done:
    return status;
}

/* Codes that know nothing of each other, then a round for each Laplacian. The graph of the fit is
 * the neighbour graph before, that of the codes afterwards. */
static huddle_status code_points(huddle_context *context, const l1graph_options *o, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors lists = {0};
    huddle_csr codes = {0}, *graph = &fit->graph.matrix;
    const huddle_points *points = &fit->prepared.points;
    hd_step_l1_problem problem = problem_of(o, fit);
    TRY(huddle_points_fetch(points));
    TRY(huddle_csr_fetch(graph));
    TRY(find_nearest(context, fit, o, NULL, &lists));
    TRY(hd_step_l1_dictionaries(&lists, o->dictionary, points->n, &codes));
    huddle_neighbors_free(&lists);
    TRY(hd_step_l1_encode(context, &problem, points, &codes));
    for (int32_t round = 0; round < o->laplacians; round++) {
        if (o->beta > 0)
            TRY(hd_step_l1_couple(context, &problem, &codes, &fit->clusters.alternation));
        huddle_csr_free(graph);
        TRY(hd_step_l1_graph(&codes, graph));
    }
done:
    huddle_neighbors_free(&lists);
    huddle_csr_free(&codes);
    return status;
}

/* Bridges are weighted as edges of the neighbour graph are. A point whose code is 0 and that is in
 * no other code is a component of its own until then. */
static huddle_status make_graph(hd_method_run *run, const l1graph_options *o) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    hd_fit_graph *graph = &fit->graph;
    huddle_knn_options knn = o->spectral.knn;
    double begin = hd_seconds();
    knn.seed = run->seed;
    TRY_STAGE(context, HD_STAGE_GRAPH,
              hd_spectral_weigh_points(context, fit, &knn, &o->spectral.weight, graph));
    TRY_STAGE(context, HD_STAGE_GRAPH, code_points(context, o, fit));
    TRY(hd_spectral_connect_graph(context, &o->spectral, run->n_clusters, fit));
    graph->seconds = hd_seconds() - begin;
done:
    return status;
}

/* ---- the method ---------------------------------------------------------------------------- */

/* The graph depends on options that sc's does not have, so that nothing after the preparation is
 * shared with other fits. */
static huddle_status fit_l1graph(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    l1graph_options o = *(const l1graph_options *)options;
    int64_t n = hd_fit_rows_everywhere(&run->fit->rows);
    if (n > MAX_ROWS)
        FAIL(HUDDLE_UNSUPPORTED,
             "l1graph is for at most %d points, not %lld: each is coded by %d "
             "others, again and again; lsc takes more",
             MAX_ROWS, (long long)n, o.dictionary);
    TRY(hd_method_prepare_shared(run, &o.spectral.prepare, NULL));
    run->key.cache = NULL;
    TRY(hd_step_merge(run->context, o.spectral.knn.n_neighbors, run->fit));
    TRY(make_graph(run, &o));
    TRY(hd_method_embed(run, &o.spectral));
    hd_method_clustering how =
        hd_method_clustering_of(run->fit, hd_method_cluster_rows, &o.spectral, NULL);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* ---- new points ---------------------------------------------------------------------------- */

/* Row i of the embedding for a new point with this code, as (15) has it for neighbours: |a_k| are
 * the weights of its edges. Without an entry the point is joined to the nearest one. */
static double place_row(const hd_fit *fit, huddle_csr *codes, int64_t i, int32_t nearest,
                        double *row, int64_t columns) {
    const huddle_embedding *f = &fit->embedding.f;
    double degree = 0;
    for (int64_t e = codes->offsets[i]; e < codes->offsets[i + 1]; e++)
        degree += fabs(codes->values[e]);
    for (int64_t e = codes->offsets[i]; e < codes->offsets[i + 1] && degree == 0; e++)
        if (codes->columns[e] == nearest)
            codes->values[e] = degree = 1;
    for (int64_t e = codes->offsets[i]; e < codes->offsets[i + 1]; e++) {
        int32_t k = codes->columns[e];
        double share =
            f->degrees[k] > 0 ? fabs(codes->values[e]) / sqrt(f->degrees[k] * degree) : 0;
        for (int64_t l = 0; l < columns; l++)
            row[l] += share * f->vectors.values[k * f->vectors.stride + l];
    }
    return degree;
}

/* Lower bound of 1 - lambda, by which (15) divides (steps/place.c). */
static const double min_similarity = 1e-9;

static huddle_status place_l1graph(huddle_context *context, const hd_fit *fit, const void *options,
                                   const huddle_points *x, huddle_dense *rows, int64_t *same) {
    huddle_status status = HUDDLE_OK;
    const l1graph_options *o = options;
    huddle_points owned = {0}, view;
    huddle_neighbors lists = {0};
    huddle_csr codes = {0};
    hd_step_l1_problem problem = problem_of(o, fit);
    double *degrees = NULL;
    int64_t columns = fit->embedding.f.rows.cols;
    if (!fit->embedding.present)
        FAIL(HUDDLE_UNSUPPORTED, "a model without eigenvectors cannot label new points");
    TRY(huddle_dense_fetch(&fit->embedding.f.vectors));
    TRY(hd_step_prepare_new(context, fit, x, &owned, &view));
    TRY(huddle_points_fetch(&view));
    TRY(find_nearest(context, fit, o, &view, &lists));
    TRY(hd_step_l1_dictionaries(&lists, o->dictionary, fit->rows.n, &codes));
    TRY(hd_step_l1_encode(context, &problem, &view, &codes));
    TRY(huddle_dense_new(x->n, columns, rows));
    ALLOC(degrees, x->n);
    for (int64_t i = 0; i < x->n; i++) {
        double *row = rows->values + i * rows->stride;
        same[i] = hd_spectral_same_row(&view, i, &o->spectral.knn, &lists);
        degrees[i] = place_row(fit, &codes, i, lists.index[i * lists.k], row, columns);
        for (int64_t l = 0; l < columns; l++)
            row[l] /= fmax(1 - fit->embedding.f.eigenvalues[l], min_similarity);
    }
    TRY(hd_spectral_apply_rule(o->spectral.embed.rows, rows, degrees, fit->embedding.f.eigenvalues,
                               rows));
done:
    huddle_points_free(&owned);
    huddle_neighbors_free(&lists);
    huddle_csr_free(&codes);
    huddle_free(degrees);
    return status;
}

/* The codes take the place of a graph with as many neighbours as the dictionaries have. Each thread
 * has a residual, a column, and the products of the points of a dictionary twice
 * (steps/l1_codes.c). */
static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const l1graph_options *o = options;
    hd_spectral_options like = o->spectral;
    int64_t others = x->n > 1 ? x->n - 1 : 1;
    like.knn.n_neighbors = o->dictionary < others ? o->dictionary : (int32_t)others;
    hd_decide_memory_of_spectral(x, &like, needed);
    int64_t k = like.knn.n_neighbors, each = 2 * x->d + 9 * k + 2 * k * k;
    needed->stages[HD_STAGE_GRAPH] += x->n_threads * each * (int64_t)sizeof(double);
}

const hd_method hd_method_l1graph = {
    .text = {.name = "l1graph",
             .title = "Laplacian-regularised L1 graph (reconstruction)",
             .reconstruction = true,
             .summary = "Codes each point sparsely by its nearest others, with similar codes for "
                        "neighbours, and clusters the graph of the codes as sc does. Reconstructed "
                        "from the abstract of its publication."},
    .options_size = sizeof(l1graph_options),
    .sections = sections,
    .fit = fit_l1graph,
    .place = place_l1graph,
    .memory = {.predict = predict_memory}};
