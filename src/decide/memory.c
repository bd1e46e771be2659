#include "decide/memory.h"

#include "base/check.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/slabs.h"
#include "embed/memory.h"
#include "kmeans/memory.h"
#include "shrink/predict.h"
#include "shrink/published.h"
#include "shrink/split.h"
#include "steps/embed.h"

#include <string.h>

/* Entries of a symmetric neighbour graph per row and neighbour: an edge counts twice, and about
 * half of all pairs of neighbours list each other. Measured between 1.3 (evenly distributed points)
 * and 1.7 (hubs in many dimensions). */
static const double graph_share = 1.4, w_share = 1.3; /* of A; of W, whose rows lie in clusters */

/* Rows by which prepare = auto judges (preparation.c), and on how many threads at most at a time;
 * the candidates of a trial have a graph, vectors and K-means each. */
enum { SAMPLE_ROWS = 10000 };

/* Rows up to which eigenvectors are verified by a factorisation, and its bytes per row. */
enum { INERTIA_ROWS = 30000, INERTIA_BYTES = 350 };

/* Points of more features are projected to this many for the search. */
enum { PROJECTED = 24 };

/* Smaller predictions are not worth a line of the log. */
static const int64_t quiet_bytes = (int64_t)1 << 30;

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A matrix of doubles, and one of floats. */
static int64_t doubles(int64_t rows, int64_t columns) {
    return rows * columns * (int64_t)sizeof(double);
}

static int64_t floats(int64_t rows, int64_t columns) {
    return rows * columns * (int64_t)sizeof(float);
}

/* A stage whose peak is `more` than what is kept, or `host` if an engine computes what it can;
 * afterwards `left` of it stays. */
static void add_shared_stage(hd_decide_memory *needed, hd_stage stage, int64_t more, int64_t host,
                             int64_t left) {
    if (needed->kept + more > needed->stages[stage]) {
        needed->stages[stage] = needed->kept + more;
        needed->freed[stage] = larger(more - host, 0);
    }
    needed->kept += left;
}

/* A stage of which an engine leaves only the results to the host. */
static void add_stage(hd_decide_memory *needed, hd_stage stage, int64_t more, int64_t left) {
    add_shared_stage(needed, stage, more, left, left);
}

/* What the fit may add to the process. A limit of the user replaces what the system has available,
 * but not what cannot be exceeded at all. Processes of one machine share what it has; a limit is
 * one for each of them. */
static int64_t find_available(const huddle_context *context, int64_t base) {
    if (context == NULL || context->memory == HUDDLE_AUTO) {
        int64_t available = hd_machine_available("");
        int32_t sharing = context != NULL && context->n_sharing > 1 ? context->n_sharing : 1;
        return available == INT64_MAX ? available : available / sharing;
    }
    int64_t own = context->memory > base ? context->memory - base : 0;
    int64_t hard = hd_machine_hard_limit("");
    return own < hard ? own : hard;
}

/* ---- an engine ------------------------------------------------------------------------------- */

/* Whether the engine has the functions that do all that is large in a stage. */
static bool has_stage(const hd_engine *engine, hd_stage stage) {
    bool graphs = engine->find_neighbors != NULL && engine->weigh != NULL;
    bool has[HD_STAGE_COUNT] = {
        [HD_STAGE_DISTINCT] = engine->find_distinct != NULL,
        [HD_STAGE_PREPARE] = graphs && engine->find_gram != NULL && engine->map_points != NULL &&
                             engine->find_eigenpairs != NULL && engine->cluster_rows != NULL,
        [HD_STAGE_GRAPH] = graphs,
        [HD_STAGE_EMBED] = engine->find_eigenpairs != NULL,
        [HD_STAGE_SHRINK_GRAPH] = graphs,
        [HD_STAGE_SHRINK] = engine->shrink != NULL,
        [HD_STAGE_KMEANS] = engine->cluster_rows != NULL,
        [HD_STAGE_REFINE] = engine->cluster_rows != NULL && engine->move_vertices != NULL};
    return engine->slabs == NULL && has[stage];
}

/* Whether the engine computes the stage in memory of its own. host: what the CPU would need. */
static bool engine_takes(huddle_context *context, const hd_decide_sizes *x, hd_stage stage,
                         int64_t host) {
    const hd_engine *engine = hd_context_engine(context);
    hd_memory_request request = {hd_stage_name(stage), x->n,          x->d, x->nonzeros,
                                 x->graph_edges,       x->n_clusters, host};
    hd_memory_answer answer = {0};
    char needed[32], available[32];
    if (!has_stage(engine, stage) || engine->predict_memory == NULL)
        return has_stage(engine, stage);
    huddle_status status = engine->predict_memory(context, &request, &answer);
    if (status == HUDDLE_OK && answer.needed <= answer.available)
        return true;
    huddle_format_bytes(answer.needed, needed, sizeof needed);
    huddle_format_bytes(answer.available, available, sizeof available);
    if (status == HUDDLE_OK)
        (void)hd_fail(HUDDLE_UNSUPPORTED, "%s needed, %s available", needed, available);
    hd_log(context, "memory: %s is not left to the engine %s (%s)", hd_stage_name(stage),
           engine->text.name, huddle_last_error());
    return false;
}

/* ---- points -------------------------------------------------------------------------------- */

/* The prepared points; none if the preparation leaves x as it is. */
static int64_t prepared_size(const hd_decide_sizes *x, const huddle_prepare_options *options) {
    const char *rule = options->prepare.name;
    if (x->d == 0 || strcmp(rule, "none") == 0)
        return 0;
    if (strcmp(rule, "pca:R") == 0 || strcmp(rule, "whiten:R") == 0)
        return floats(x->n, options->prepare.r);
    if (x->nonzeros >= 0)
        return 3 * x->nonzeros * (int64_t)sizeof(float) + x->n * (int64_t)sizeof(int64_t);
    return floats(x->n, x->d);
}

/* The sample of prepare = auto: its points, and vectors and K-means of the candidates that are
 * evaluated at a time. */
static int64_t sample_size(const hd_decide_sizes *x, const huddle_prepare_options *options,
                           bool refines, int32_t n_candidates) {
    if (x->d == 0 || strcmp(options->prepare.name, "auto") != 0)
        return 0;
    int64_t rows = x->n < SAMPLE_ROWS ? x->n : SAMPLE_ROWS;
    int64_t columns = x->d < SAMPLE_ROWS ? x->d : SAMPLE_ROWS;
    return 2 * floats(rows, columns) +
           n_candidates * doubles(rows, (refines ? 5 : 2) * x->n_clusters);
}

/* Hash tables of rows, two numbers for each; then the preparation. Of an engine the host gets the
 * points and eigenvectors of one candidate after the other. */
static void predict_prepare(const hd_decide_sizes *x, const huddle_prepare_options *options,
                            bool refines, hd_decide_memory *needed) {
    int64_t prepared = prepared_size(x, options);
    add_stage(needed, HD_STAGE_DISTINCT, doubles(x->n, 3), 0);
    add_shared_stage(needed, HD_STAGE_PREPARE,
                     larger(prepared, sample_size(x, options, refines, x->n_threads)),
                     larger(prepared, sample_size(x, options, refines, 1)), prepared);
}

/* What the stage needs, its medoids, and the rows as floats with their weights if they are
 * doubles. */
static int64_t kmeans_size(const hd_decide_sizes *x, int64_t columns, bool of_doubles,
                           const huddle_kmeans_options *options) {
    huddle_kmeans_options own = options->init != NULL ? *options : huddle_kmeans_defaults();
    own.n_clusters = (int32_t)x->n_clusters;
    own.n_init = options->n_init > 0 ? options->n_init : own.n_init;
    columns = columns > 1 ? columns : 1; /* a given graph has no features */
    int64_t size = hd_kmeans_predict_memory(x->n, columns, &own, x->n_threads);
    return size + doubles(x->n, 1) + (of_doubles ? floats(x->n, columns) + doubles(x->n, 3) : 0);
}

void hd_decide_memory_of_points(const hd_decide_sizes *x, const void *options,
                                hd_decide_memory *needed) {
    huddle_prepare_options prepare = huddle_prepare_defaults();
    huddle_kmeans_options kmeans = huddle_kmeans_defaults();
    (void)options;
    predict_prepare(x, &prepare, false, needed);
    add_stage(needed, HD_STAGE_KMEANS, kmeans_size(x, x->d, false, &kmeans), doubles(x->n, 1));
}

/* ---- from points to an embedding ------------------------------------------------------------- */

static int64_t graph_size(int64_t n, int64_t entries) {
    return entries * (int64_t)(sizeof(double) + sizeof(int32_t)) + doubles(n, 1);
}

/* Of A; views share few of their edges. */
static int64_t count_entries(const hd_decide_sizes *x, int64_t k) {
    int64_t n_views = x->n_views > 1 ? x->n_views : 1;
    return (int64_t)(graph_share * (double)(x->n * k * n_views));
}

/* Lists of neighbours, the packed points of the search, the graph and what makes it symmetric. */
static void predict_graph(const hd_decide_sizes *x, const hd_spectral_options *options,
                          hd_decide_memory *needed) {
    int64_t k = options->knn.n_neighbors;
    int64_t entries = count_entries(x, k);
    int64_t lists = x->n * k * (int64_t)(sizeof(double) + sizeof(int32_t));
    int64_t search = x->nonzeros >= 0 ? 2 * x->nonzeros * (int64_t)sizeof(double)
                                      : floats(x->n, x->d) +
                                            doubles(x->n, 4 + (x->d > PROJECTED ? PROJECTED : 0));
    int64_t graph = graph_size(x->n, x->graph_edges > 0 ? x->graph_edges : entries);
    if (options->affinity != NULL && strcmp(options->affinity, "features") != 0 && x->d > 0)
        /* All pairs, as a sparse and as a dense matrix. */
        search = x->nonzeros >= 0 ? 2 * graph_size(x->n, x->nonzeros)
                                  : graph_size(x->n, x->n * x->n) + doubles(x->n, x->n);
    if (x->d == 0)
        lists = search = 0;
    add_stage(needed, HD_STAGE_GRAPH, lists + larger(search, 2 * graph), graph);
    add_stage(needed, HD_STAGE_CONNECT, graph + doubles(x->n, 6), doubles(x->n, 1));
}

/* Methods leave options empty that they do not have. */
static hd_spectral_options complete_options(const hd_spectral_options *options) {
    hd_spectral_options o = *options, all = hd_spectral_defaults(o.common.n_clusters, 0);
    if (o.prepare.prepare.name == NULL)
        o.prepare = all.prepare;
    if (o.knn.n_neighbors < 1)
        o.knn = all.knn;
    if (o.embed.rows == NULL)
        o.embed = all.embed;
    return o;
}

void hd_decide_memory_of_embedding(const hd_decide_sizes *x, const hd_spectral_options *given,
                                   hd_decide_memory *needed) {
    const hd_spectral_options own = complete_options(given), *options = &own;
    hd_fit_rows rows = {.n = x->n};
    huddle_range range = {(int32_t)x->n_clusters, (int32_t)x->n_clusters};
    int64_t columns = hd_spectral_count_columns(options->embed.rows, (int32_t)x->n_clusters);
    int64_t vectors = hd_spectral_count_vectors(options, range, &rows);
    predict_prepare(x, &options->prepare, hd_spectral_refines(options), needed);
    predict_graph(x, options, needed);
    columns = columns < vectors ? columns : vectors;
    huddle_embed_options embed = options->embed;
    embed.n_components = (int32_t)vectors;
    embed.n_rows = (int32_t)columns;
    int64_t entries = count_entries(x, options->knn.n_neighbors);
    int64_t solving =
        hd_embed_predict_memory(x->n, x->graph_edges > 0 ? x->graph_edges : entries, &embed);
    if (x->n < INERTIA_ROWS)
        solving += x->n * INERTIA_BYTES;
    add_stage(needed, HD_STAGE_EMBED, solving, doubles(x->n, vectors));
    if (embed.embed_solver != NULL && strcmp(embed.embed_solver, "auto") != 0)
        needed->freed[HD_STAGE_EMBED] = 0; /* likewise (hd_decide_memory_of_shrink) */
    add_stage(needed, HD_STAGE_ROWS, doubles(x->n, columns), doubles(x->n, columns));
}

/* ---- the shrink step ------------------------------------------------------------------------- */

/* The stage solves large problems component by component, in the few directions in which the rows
 * of a component differ. Neither is known before the embedding is there, and the memory can differ
 * by a factor of 5 with them, so that the first prediction uses values in between: half of the rows
 * in the largest component, and so many directions (4 to 8 in most components of the embeddings of
 * 300,000 points). hd_decide_settle_shrink() predicts again when W is known. */
enum { DIRECTIONS = 8 };

/* The share of hd_shrink_predict_memory(), which is an upper bound, that is used at a time, fitted
 * to the cases of tests/unit/test_model_memory.c. */
static const double bound_share = .85;

/* What the stage needs beside F and W, in at most so many directions. */
static int64_t shrink_size(hd_shrink_extent extent, int64_t directions,
                           const huddle_shrink_options *options) {
    int64_t columns = extent.c;
    if (!hd_shrink_is_large(extent.n, extent.edges, columns) || columns <= directions ||
        hd_shrink_is_published(options->solver)) /* which solves whole problems */
        return (int64_t)(bound_share * hd_shrink_predict_memory(&extent, options));
    extent.c = directions;
    return (int64_t)(bound_share * hd_shrink_predict_memory(&extent, options)) +
           doubles(extent.n, columns - directions);
}

void hd_decide_memory_of_shrink(const hd_decide_sizes *x, int64_t columns, int32_t n_neighbors,
                                const huddle_shrink_options *options, hd_decide_memory *needed) {
    int64_t entries = (int64_t)(w_share * (double)(x->n * n_neighbors));
    int64_t rows = doubles(x->n, columns), graph = graph_size(x->n, entries);
    int64_t lists = x->n * n_neighbors * (int64_t)(sizeof(double) + sizeof(int32_t));
    add_stage(needed, HD_STAGE_SHRINK_GRAPH, lists + larger(2 * rows, 2 * graph), graph);
    int64_t edges = entries / 2, share = hd_shrink_is_large(x->n, edges, columns) ? 2 : 1;
    hd_shrink_extent extent = {x->n, edges, columns, x->n / share, edges / share, x->n_threads};
    add_stage(needed, HD_STAGE_SHRINK, shrink_size(extent, DIRECTIONS, options),
              rows + doubles(x->n, 1));
    if (strcmp(options->solver, "auto") != 0)
        needed->freed[HD_STAGE_SHRINK] = 0; /* a solver of the CPU, whatever the engine */
}

/* The largest component of a graph, by its rows. */
static huddle_status measure_largest(huddle_context *context, const huddle_csr *w,
                                     hd_shrink_extent *extent) {
    huddle_status status = HUDDLE_OK;
    int32_t *component = NULL, count = 0;
    int64_t *sizes = NULL;
    ALLOC(component, w->rows);
    TRY(huddle_graph_components(context, w, component, &count));
    ALLOC_ZERO(sizes, count);
    for (int64_t i = 0; i < w->rows; i++)
        sizes[component[i]]++;
    for (int32_t k = 0; k < count; k++)
        extent->largest_n = larger(extent->largest_n, sizes[k]);
    extent->largest_edges =
        (int64_t)((double)extent->edges * (double)extent->largest_n / (double)larger(w->rows, 1));
done:
    FREE(component, sizes);
    return status;
}

/* Rows on other processes are not known here; an engine's W may not be on the host. The bound with
 * all columns decides between solvers. The leanest one is refused only if it does not fit even in
 * few directions. */
huddle_status hd_decide_settle_shrink(huddle_context *context, const huddle_csr *w, int64_t columns,
                                      huddle_shrink_options *options, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    int64_t edges = w->offsets != NULL ? w->offsets[w->rows] / 2 : 0;
    hd_shrink_extent extent = {.n = w->rows, .edges = edges, .c = columns};
    char needed[32], allowed[32];
    if (hd_slabs_distributed(context) || hd_parallel_inside() ||
        !hd_shrink_is_large(w->rows, edges, columns))
        return status;
    extent.threads = huddle_context_threads(context);
    TRY(measure_largest(context, w, &extent));
    int64_t available = find_available(context, hd_machine_private(""));
    int64_t size = shrink_size(extent, columns, options);
    hd_decide_sizes sizes = {w->rows, 0, -1, 2 * edges, columns, extent.threads};
    if (strcmp(options->solver, "auto") == 0 &&
        engine_takes(context, &sizes, HD_STAGE_SHRINK, size))
        goto done;
    if (size > available && strcmp(options->solver, "auto") == 0) {
        if (strcmp(options->linear_solver, "auto") == 0)
            options->linear_solver = "approximate";
        if (shrink_size(extent, columns, options) > available)
            options->solver = "pdhg";
        size = shrink_size(extent, columns, options);
        hd_log(context, "to save memory, the shrink step uses %s",
               strcmp(options->solver, "pdhg") == 0 ? "pdhg" : "the approximate linear solver");
    }
    fit->memory.stages[HD_STAGE_SHRINK] = hd_memory_live() - fit->stages.live + size;
    huddle_format_bytes(size, needed, sizeof needed);
    huddle_format_bytes(available, allowed, sizeof allowed);
    if (shrink_size(extent, DIRECTIONS, options) > available)
        FAIL(HUDDLE_NO_MEMORY,
             "the shrink step would need up to %s more memory, but only %s are left; a method "
             "without a shrink step, such as sc, needs less",
             needed, allowed);
done:
    return status;
}

/* ---- labels ---------------------------------------------------------------------------------- */

void hd_decide_memory_of_labels(const hd_decide_sizes *x, int64_t columns,
                                const hd_spectral_options *options, hd_decide_memory *needed) {
    int64_t c = x->n_clusters, k = options->knn.n_neighbors;
    hd_fit_rows rows = {.n = x->n};
    huddle_range range = {(int32_t)c, (int32_t)c};
    add_stage(needed, HD_STAGE_KMEANS, kmeans_size(x, columns, true, &options->kmeans),
              doubles(x->n, 1));
    if (!hd_spectral_refines(options))
        return;
    /* Commute rows and K-means on them, which an engine computes; the tree of merges; labels of
     * the trials. */
    int64_t vectors = hd_spectral_count_vectors(options, range, &rows);
    int64_t graph = graph_size(x->n, count_entries(x, k));
    int64_t rows_size = doubles(x->n, vectors), trees = 3 * graph;
    int64_t commute = rows_size + kmeans_size(x, vectors, true, &options->kmeans);
    add_shared_stage(needed, HD_STAGE_REFINE, doubles(x->n, 3) + larger(commute, trees),
                     doubles(x->n, 3) + larger(rows_size, trees), doubles(x->n, 1));
    add_stage(needed, HD_STAGE_MEDOIDS, doubles(x->n, 2), 0);
}

void hd_decide_memory_of_spectral(const hd_decide_sizes *x, const void *options,
                                  hd_decide_memory *needed) {
    const hd_spectral_options o = complete_options(options);
    int64_t columns = hd_spectral_count_columns(o.embed.rows, (int32_t)x->n_clusters);
    hd_decide_memory_of_embedding(x, &o, needed);
    hd_decide_memory_of_labels(x, columns < x->n ? columns : x->n, &o, needed);
}

const char *hd_decide_economise_spectral(void *options, int32_t step) {
    hd_spectral_options *o = options;
    if (step > 0)
        return NULL;
    if (o->few_vectors || !hd_spectral_refines(o) || strcmp(o->refine, "auto") != 0)
        return "";
    o->few_vectors = true;
    return "the refinement starts from half as many eigenvectors";
}

/* ---- settling -------------------------------------------------------------------------------- */

/* The points of all views are there at a time, and the mean of their graphs has nearly the entries
 * of all. Of dense and sparse views each is counted as it is stored. */
static void describe_views(const hd_step_job *job, hd_decide_sizes *x) {
    for (int32_t v = 1; v < job->n_views; v++) {
        const huddle_points *view = &job->x[v];
        if ((x->nonzeros >= 0) != (view->offsets != NULL)) {
            x->nonzeros = (x->nonzeros >= 0 ? x->nonzeros : x->n * x->d) +
                          (view->offsets != NULL ? view->offsets[x->n] : x->n * view->d);
        } else if (x->nonzeros >= 0) {
            x->nonzeros += view->offsets[x->n];
        }
        x->d += view->d;
    }
    x->n_views = job->n_views > 1 ? job->n_views : 1;
}

static hd_decide_sizes describe_case(const huddle_context *context, const hd_step_job *job) {
    huddle_range range = job->common.n_clusters;
    hd_decide_sizes x = {
        .n = hd_step_job_rows(job), .nonzeros = -1, .n_threads = huddle_context_threads(context)};
    if (job->x != NULL && job->graph == NULL && job->embedding == NULL) {
        x.d = job->x->d;
        x.nonzeros = job->x->offsets != NULL ? job->x->offsets[x.n] : -1;
        describe_views(job, &x);
    }
    if (job->graph != NULL && job->graph->offsets != NULL)
        x.graph_edges = job->graph->offsets[x.n];
    x.n_clusters = range.first == HUDDLE_AUTO ? huddle_embed_max_clusters(x.n) : range.last;
    return x;
}

/* If rows are distributed over processes, x has those of this one, and the numbers are those of the
 * process that needs most: all must change the same options. */
static huddle_status predict(huddle_context *context, const hd_decide_memory_needs *needs,
                             const hd_decide_sizes *x, const void *options, hd_fit_memory *memory,
                             hd_stage *peak) {
    huddle_status status = HUDDLE_OK;
    hd_decide_memory needed = {0};
    double stages[HD_STAGE_COUNT];
    (needs->predict != NULL ? needs->predict : hd_decide_memory_of_points)(x, options, &needed);
    for (int k = 0; k < HD_STAGE_COUNT; k++)
        if (needed.freed[k] > 0 && engine_takes(context, x, (hd_stage)k, needed.freed[k]))
            needed.stages[k] -= needed.freed[k];
    memcpy(memory->stages, needed.stages, sizeof memory->stages);
    if (hd_slabs_distributed(context)) {
        for (int k = 0; k < HD_STAGE_COUNT; k++)
            stages[k] = (double)memory->stages[k];
        TRY(hd_reduce_max(context, HD_STAGE_COUNT, stages));
        for (int k = 0; k < HD_STAGE_COUNT; k++)
            memory->stages[k] = (int64_t)stages[k];
    }
    *peak = hd_fit_memory_peak(memory);
done:
    return status;
}

/* What the process with the least memory may add. INT64_MAX, where nothing is known, is rounded up
 * as a double. */
static huddle_status agree_on_available(huddle_context *context, hd_fit_memory *memory) {
    double least = (double)memory->available;
    if (!hd_slabs_distributed(context))
        return HUDDLE_OK;
    huddle_status status = hd_reduce_min(context, 1, &least);
    memory->available = least < 0x1p63 ? (int64_t)least : INT64_MAX;
    return status;
}

/* Tries the economies in their order, on a copy of the options; one that does not lower the peak is
 * not kept. Several rounds, because lowering one peak makes another stage the largest. */
static huddle_status economise(huddle_context *context, const hd_decide_memory_needs *needs,
                               const hd_decide_sizes *x, void *options, size_t options_size,
                               hd_fit_memory *memory) {
    huddle_status status = HUDDLE_OK;
    hd_stage peak;
    void *trial = NULL;
    bool changed = true;
    TRY(predict(context, needs, x, options, memory, &peak));
    trial = hd_alloc(1, options_size);
    if (trial == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for the options");
    while (changed && needs->economise != NULL) {
        const char *text = "";
        changed = false;
        for (int32_t step = 0; text != NULL && memory->stages[peak] > memory->available; step++) {
            int64_t before = memory->stages[peak];
            memcpy(trial, options, options_size);
            text = needs->economise(trial, step);
            if (text == NULL || text[0] == '\0' || memory->n_economies == HD_FIT_MAX_ECONOMIES)
                continue;
            TRY(predict(context, needs, x, trial, memory, &peak));
            if (memory->stages[peak] < before) {
                memcpy(options, trial, options_size);
                memory->economies[memory->n_economies++] = text;
                hd_log(context, "to save memory, %s", text);
                changed = true;
            } else {
                TRY(predict(context, needs, x, options, memory, &peak));
            }
        }
    }
done:
    huddle_free(trial);
    return status;
}

static huddle_status refuse(const huddle_context *context, const hd_fit_memory *memory,
                            hd_stage peak) {
    char needed[32], allowed[32];
    bool given = context->memory != HUDDLE_AUTO;
    int64_t limit = memory->base + memory->available;
    /* A given limit may be below what the process has already; the message repeats it as given. */
    if (given && context->memory < limit)
        limit = context->memory;
    huddle_format_bytes(memory->base + memory->stages[peak], needed, sizeof needed);
    huddle_format_bytes(limit, allowed, sizeof allowed);
    return hd_fail(
        HUDDLE_NO_MEMORY,
        "the fit would need about %s of memory (in stage %s), but %s %s; %sfewer points, "
        "clusters or neighbours%s need less",
        needed, hd_stage_name(peak), given ? "it may use" : "there is", allowed,
        given ? "allow more, or: " : "",
        peak == HD_STAGE_SHRINK ? ", or a method without a shrink step" : "");
}

huddle_status hd_decide_settle_memory(huddle_context *context, const hd_decide_memory_needs *needs,
                                      const hd_step_job *job, void *options, size_t options_size,
                                      hd_fit_memory *memory) {
    huddle_status status = HUDDLE_OK;
    hd_decide_sizes x = describe_case(context, job);
    char predicted[32], available[32];
    memory->base = hd_machine_private("");
    memory->available = find_available(context, memory->base);
    TRY(agree_on_available(context, memory));
    TRY(economise(context, needs, &x, options, options_size, memory));
    hd_stage peak = hd_fit_memory_peak(memory);
    if (memory->stages[peak] > memory->available)
        TRY(refuse(context, memory, peak));
    huddle_format_bytes(memory->base + memory->stages[peak], predicted, sizeof predicted);
    huddle_format_bytes(memory->base + memory->available, available, sizeof available);
    if (memory->available < INT64_MAX &&
        (memory->stages[peak] >= quiet_bytes || memory->n_economies > 0))
        hd_log(context, "memory: %s predicted (%s), %s available", predicted, hd_stage_name(peak),
               available);
done:
    return status;
}
