/* Spectral shrunk clustering (Chang, Nie, Ma, Yang and Zhou, AAAI 2015). The rows of F are shrunk
 * along a neighbour graph W of F to rows G, the solution of (6), and G is clustered by K-means.
 * docs/method.md describes the method and where it departs from the publication; src/shrink/ solves
 * the convex problem. */
#include "base/check.h"
#include "base/options.h"
#include "base/slabs.h"
#include "decide/count.h"
#include "decide/memory.h"
#include "matrix/resident.h"
#include "methods/spectral.h"
#include "methods/views.h"
#include "steps/embed.h"
#include "steps/kmeans.h"
#include "steps/near.h"
#include "steps/refine.h"

#include <math.h>
#include <string.h>

/* Normalised entropy (1: all clusters equally large) that the clusters of G may lose against those
 * of F before those of F are used instead (docs/method.md, "The guard"). */
static const double max_entropy_loss = 0.1;

typedef struct ssc_options {
    hd_spectral_options spectral;
    const char *preset; /* for the model, which has set the options of the preset */
    huddle_knn_options shrink_knn;
    huddle_weight_options shrink_weight;
    huddle_shrink_options shrink;
    bool guard;
} ssc_options;

/* The paper to the letter (docs/method.md, section 4). It names no delta, and no gamma that would
 * not be tuned by labels: `mean`, one delta for all edges, and the 1 of its figures are our
 * choices. */
static const huddle_setting published[] = {
    {"prepare", "none"},       {"duplicates", "keep"},   {"n_neighbors", "5"},
    {"scale", "mean"},         {"connect", "false"},     {"rows", "sym"},
    {"shrink_neighbors", "5"}, {"shrink_scale", "mean"}, {"gamma", "1"},
    {"loss", "l21"},           {"solver", "published"},  {"snap", "false"},
    {"guard", "false"},        {"n_init", "50"},         {"init", "sample"},
    {"full_restarts", "true"}, {"refine", "none"},       {0}};

static const huddle_preset presets[] = {
    {"published", "the paper to the letter, without what was added to it since", published}, {0}};

static const huddle_option *preset_table(void) {
    static const char *const names[] = {"none", "published", NULL};
    static const huddle_option table[] = {
        HD_CHOICE(ssc_options, preset, "none", names,
                  "sets options that belong together; published: the paper to the letter. Options "
                  "that are given as well keep their values"),
        {0}};
    return table;
}

static const huddle_option *guard_table(void) {
    static const huddle_option table[] = {
        HD_BOOL(ssc_options, guard, "true",
                "with gamma = auto: cluster the embedding itself if shrinking makes the cluster "
                "sizes much more unbalanced"),
        {0}};
    return table;
}

/* The graph W has options of its own, which must not be confused with those of A. */
static const hd_method_rename shrink_knn_names[] = {
    {"n_neighbors", "shrink_neighbors", "5", "number of neighbours per row of the embedding"}, {0}};
static const hd_method_rename shrink_weight_names[] = {
    {"scale", "shrink_scale", "mean", "how weights are computed from distances in the embedding"},
    {"delta", "shrink_delta", NULL,
     "weights in the embedding are exp(-d^2 / delta^2) with this number; auto: by shrink_scale"},
    {0}};

static const hd_method_section sections[] = {
    {preset_table, 0, NULL},
    HD_METHOD_SPECTRAL_SECTIONS,
    {hd_method_views_table, 0, NULL},
    {huddle_knn_options_table, offsetof(ssc_options, shrink_knn), shrink_knn_names},
    {huddle_weight_options_table, offsetof(ssc_options, shrink_weight), shrink_weight_names},
    {huddle_shrink_options_table, offsetof(ssc_options, shrink), NULL},
    {guard_table, 0, NULL},
    {huddle_kmeans_options_table, offsetof(ssc_options, spectral.kmeans), hd_method_kmeans_names},
    {hd_method_refine_table, 0, NULL},
    {0}};

/* W: neighbours among the rows of F, with one scale for all edges by default. Multiplicities have
 * no loops here (n_neighbors = 0): an edge from a row to itself would contribute 0 to (6). */
static huddle_status make_shrink_graph(const hd_method_run *run, const ssc_options *options) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    const huddle_dense *f = &run->fit->embedding.f.rows;
    const huddle_distinct *nodes = &run->fit->rows.nodes;
    hd_fit_graph *w = &run->fit->shrunk.w;
    huddle_neighbors neighbors = {0};
    huddle_weight_options weight = options->shrink_weight;
    huddle_knn_options knn = huddle_knn_defaults();
    knn.n_neighbors = options->shrink_knn.n_neighbors;
    knn.seed = run->seed;
    TRY(huddle_graph_knn_dense(context, f, &knn, &neighbors, &w->knn));
    if (strcmp(weight.scale, "global") == 0)
        TRY(huddle_graph_mean_distance_dense(context, f, knn.seed, &weight.mean_distance));
    TRY(huddle_graph_weigh(context, &neighbors, &weight, &w->matrix, &w->scale));
    if (nodes->n > 0)
        TRY(huddle_graph_weigh_copies(context, nodes->copies, 0, &w->matrix));
    w->present = true;
done:
    huddle_neighbors_free(&neighbors);
    return status;
}

/* W depends on the embedding, on how many of its columns are used, and on its own two options. It
 * does not depend on gamma, so that all values of a grid share it. W of the previous number of
 * clusters is freed first: the walk of the cache copies into empty parts. */
static huddle_status share_shrink_graph(const hd_method_run *run, const ssc_options *options,
                                        int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const hd_cache_part part = {&run->fit->shrunk.w, &hd_fit_graph_copier};
    hd_cache_key key = run->key; /* of the embedding */
    hd_cache_key_add(&key, "shrink;%d;%d", n_clusters, options->shrink_knn.n_neighbors);
    hd_cache_key_add_options(&key, huddle_weight_options_table(), &options->shrink_weight);
    hd_fit_graph_free(&run->fit->shrunk.w);
    HD_CACHE_TRY(&key, &part, 1, make_shrink_graph(run, options));
done:
    return status;
}

/* Entropy of the cluster sizes, divided by its maximum log(c). Sizes are summed over processes
 * first, so that all of them make the same decision. */
static huddle_status compute_evenness(huddle_context *context, const hd_fit_rows *rows,
                                      const hd_fit_clusters *clusters, double *entropy) {
    huddle_status status = HUDDLE_OK;
    double *sizes = NULL, n = (double)hd_fit_rows_total(rows);
    int32_t c = clusters->n_clusters;
    *entropy = 1;
    /* The maximum log(c) of the entropy is 0. */
    if (c == 1)
        return status;
    ALLOC_ZERO(sizes, c);
    for (int64_t i = 0; i < rows->n; i++)
        sizes[clusters->labels[i]] += (double)hd_fit_rows_copies(rows, i);
    TRY(hd_reduce_sum(context, c, sizes));
    TRY(hd_reduce_sum(context, 1, &n));
    *entropy = 0;
    for (int32_t k = 0; k < c; k++)
        if (sizes[k] > 0)
            *entropy -= sizes[k] / n * log(sizes[k] / n) / log(c);
done:
    huddle_free(sizes);
    return status;
}

/* K-means on the shrunk rows and on the embedding. The fit gets the first result unless its
 * clusters are much less even than those of the second; `plain` gets the other one. */
static huddle_status cluster_both(huddle_context *context, const huddle_kmeans_options *kmeans,
                                  hd_fit *fit, hd_fit_clusters *plain, double *shrunk,
                                  double *unshrunk) {
    huddle_status status = HUDDLE_OK;
    const hd_fit_rows *rows = &fit->rows;
    TRY(hd_step_kmeans_dense(context, &fit->shrunk.g.g, kmeans, rows, &fit->clusters));
    TRY_STAGE(context, HD_STAGE_GUARD,
              hd_step_kmeans_dense(context, &fit->embedding.f.rows, kmeans, rows, plain));
    TRY(compute_evenness(context, rows, &fit->clusters, shrunk));
    TRY(compute_evenness(context, rows, plain, unshrunk));
    /* One-sided: more even clusters than those of F are no reason for doubt. */
    fit->shrunk.labels_from_embedding = *shrunk < *unshrunk - max_entropy_loss;
    if (fit->shrunk.labels_from_embedding) {
        const hd_fit_clusters of_g = fit->clusters;
        fit->clusters = *plain;
        *plain = of_g;
    }
done:
    return status;
}

/* If n / c is too large a gamma for the data, clusters that are close together fuse and the others
 * are split into tiny ones, which the cluster sizes reveal. The labels of F are then better.
 * Warnings of both runs are suppressed; only those about the chosen clusters are repeated. */
static huddle_status cluster_with_guard(huddle_context *context,
                                        const huddle_kmeans_options *kmeans, bool refined,
                                        hd_fit *fit, hd_fit_clusters *plain) {
    huddle_status status = HUDDLE_OK;
    double shrunk, unshrunk;
    TRY_SILENT(context, cluster_both(context, kmeans, fit, plain, &shrunk, &unshrunk));
    hd_step_warn_few_distinct(context, &fit->clusters);
    if (fit->shrunk.labels_from_embedding)
        hd_warn(
            context, HUDDLE_WARNING_GUARDED,
            "shrinking unbalanced the clusters (normalised entropy %.2f; %.2f without): the labels "
            "%sare those of the embedding, not of the certified shrink step",
            shrunk, unshrunk, refined ? "before refinement " : "");
done:
    return status;
}

/* Refinement with the labels of G and of F as starts; if the guard has not computed the latter,
 * K-means does it here. Of starts with equal cuts the first is the reference that another has to
 * surpass clearly. With gamma = auto that is F's: on 48 samples of eight data sets it gave .007
 * (standard error .003) more ACC than G's (docs/results.md, "The shrink step and refined labels").
 * A gamma that the user has chosen asks for the labels of G. */
static huddle_status refine_labels(huddle_context *context, const hd_spectral_options *options,
                                   const huddle_kmeans_options *kmeans, bool f_first,
                                   hd_fit_clusters *plain, hd_fit *fit) {
    huddle_status status = HUDDLE_OK;
    const huddle_dense *f = &fit->embedding.f.rows;
    bool from_f = fit->shrunk.labels_from_embedding;
    double begin = hd_seconds();
    if (hd_spectral_refines(options) && !from_f && plain->labels == NULL)
        TRY_SILENT(context, hd_step_kmeans_dense(context, f, kmeans, &fit->rows, plain));
    const huddle_refine_start of_g = {"shrunk", fit->clusters.labels},
                              of_f = {"embedding", from_f ? of_g.labels : plain->labels};
    /* G's first, if K-means did not find as many clusters in its rows as it was asked for. */
    bool all_of_g = fit->clusters.kmeans.n_distinct >= fit->clusters.n_clusters;
    f_first = from_f || (f_first && all_of_g);
    const huddle_refine_start own[] = {f_first ? of_f : of_g, f_first ? of_g : of_f};
    double seconds = hd_seconds() - begin;
    TRY(hd_step_refine(context, options, &fit->embedding, from_f ? 1 : 2, own,
                       from_f ? f : &fit->shrunk.g.g, fit));
    fit->refined.seconds += seconds;
done:
    return status;
}

/* W and the convex step (6) on the rows of F. */
static huddle_status shrink_rows(const hd_method_run *run, const ssc_options *options,
                                 int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    hd_fit_shrunk *shrunk = &fit->shrunk;
    const huddle_dense *f = &fit->embedding.f.rows;
    huddle_shrink_options shrink = options->shrink;
    double *weights = NULL, begin = hd_seconds();
    shrink.n_clusters = n_clusters;
    shrink.seed = run->seed;
    TRY_STAGE(context, HD_STAGE_SHRINK_GRAPH, share_shrink_graph(run, options, n_clusters));
    huddle_shrunk_free(&shrunk->g);
    huddle_shrink_info_free(&shrunk->info);
    TRY(hd_fit_rows_weights(&fit->rows, &weights));
    shrink.weights = weights;
    TRY(hd_decide_settle_shrink(context, &shrunk->w.matrix, f->cols, &shrink, fit));
    TRY_STAGE(context, HD_STAGE_SHRINK,
              huddle_shrink(context, f, &shrunk->w.matrix, &shrink, &shrunk->g, &shrunk->info));
    shrunk->seconds = hd_seconds() - begin;
    shrunk->present = true;
    shrunk->labels_from_embedding = false;
done:
    huddle_free(weights);
    return status;
}

/* Rows of F, the shrink step to G, K-means on G, refinement. The guard applies to gamma = auto
 * only: a value that the user has chosen is not overruled. */
static huddle_status cluster(hd_method_run *run, void *argument, int32_t n_clusters) {
    huddle_status status = HUDDLE_OK;
    const ssc_options *o = argument;
    const hd_spectral_options *spectral = &o->spectral;
    huddle_context *context = run->context;
    hd_fit *fit = run->fit;
    bool is_auto = o->shrink.gamma == HUDDLE_AUTO, refined = hd_spectral_refines(spectral);
    huddle_kmeans_options kmeans = hd_method_kmeans_options(run, &spectral->kmeans, n_clusters);
    hd_fit_clusters plain = {0};
    TRY_STAGE(context, HD_STAGE_ROWS,
              hd_spectral_make_rows(spectral->embed.rows, n_clusters, &fit->embedding));
    hd_fit_offer(context, fit); /* the rows: for W, the shrink step and K-means */
    TRY(shrink_rows(run, o, n_clusters));
    hd_fit_offer(context, fit); /* the shrunk rows: for K-means and prediction */
    if (o->guard && is_auto)
        TRY(cluster_with_guard(context, &kmeans, refined, fit, &plain));
    else
        TRY(hd_step_kmeans_dense(context, &fit->shrunk.g.g, &kmeans, &fit->rows, &fit->clusters));
    TRY_STAGE(context, refined ? HD_STAGE_REFINE : HD_STAGE_OTHER,
              refine_labels(context, spectral, &kmeans, is_auto, &plain, fit));
done:
    hd_fit_clusters_free(&plain);
    return status;
}

/* Preparation, graph and embedding once, then shrinking, K-means and refinement for each number of
 * clusters. */
static huddle_status fit_ssc(hd_method_run *run, const void *options) {
    huddle_status status = HUDDLE_OK;
    ssc_options o = *(const ssc_options *)options;
    TRY(hd_step_settle_refine(run->context, run->job, &o.spectral, &run->fit->refined));
    TRY(hd_method_prepare_graph(run, &o.spectral));
    TRY(hd_method_embed(run, &o.spectral));
    TRY(hd_decide_count(run->context, &o.spectral, run->fit, &run->n_clusters));
    hd_method_clustering how = hd_method_clustering_of(run->fit, cluster, &o, &o.spectral);
    TRY(hd_method_cluster(run, &how));
done:
    return status;
}

/* Row i of w contains the training rows of F near new row i, with the weights w_j of (16). */
static huddle_status weigh_new_rows(huddle_context *context, const hd_fit *fit,
                                    const ssc_options *options, const huddle_dense *rows,
                                    huddle_csr *w) {
    huddle_status status = HUDDLE_OK;
    huddle_neighbors neighbors = {0};
    hd_step_near near = {0};
    huddle_knn_options knn = huddle_knn_defaults();
    knn.n_neighbors = options->shrink_knn.n_neighbors;
    TRY(huddle_graph_query_dense(context, &fit->embedding.f.rows, rows, &knn, &neighbors, NULL));
    TRY(huddle_neighbors_fetch(&neighbors));
    TRY(hd_step_near_open(context, fit, false, &neighbors, &near));
    TRY(hd_spectral_weigh_new(&neighbors, &near.view.shrunk.w.scale, &near.view, w));
    hd_step_near_number(&near, w);
done:
    hd_step_near_close(&near);
    huddle_neighbors_free(&neighbors);
    return status;
}

/* New rows of F are shrunk towards the training rows of G by (16), each on its own; training rows
 * do not move, so that labels do not depend on the batch. If the guard chose the labels of F, the
 * centres are in F, and nothing is shrunk. */
static huddle_status assign_ssc(huddle_context *context, const hd_fit *fit, const void *options,
                                huddle_dense *rows, const int64_t *same, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    const ssc_options *o = options;
    huddle_dense shrunk = {0};
    huddle_csr w = {0};
    bool shrinks = !fit->shrunk.labels_from_embedding;
    if (shrinks) {
        /* An engine is sent the rows once, for W and the shrinking, and keeps what it shrinks. */
        TRY(huddle_dense_new(rows->rows, rows->cols, &shrunk));
        hd_resident_offer(context, &rows->resident);
        hd_resident_offer(context, &shrunk.resident);
        TRY(weigh_new_rows(context, fit, o, rows, &w));
        TRY(huddle_shrink_points(context, rows, &w, &fit->shrunk.g.g, fit->shrunk.info.gamma,
                                 o->shrink.loss, &shrunk));
    }
    TRY(hd_spectral_assign(context, fit, options, shrinks ? &shrunk : rows, same, labels));
done:
    huddle_csr_free(&w);
    huddle_dense_free(&shrunk);
    return status;
}

/* ---- memory -------------------------------------------------------------------------------- */

static void predict_memory(const hd_decide_sizes *x, const void *options,
                           hd_decide_memory *needed) {
    const ssc_options *o = options;
    int64_t columns = hd_spectral_count_columns(o->spectral.embed.rows, (int32_t)x->n_clusters);
    columns = columns < x->n ? columns : x->n;
    hd_decide_memory_of_embedding(x, &o->spectral, needed);
    hd_decide_memory_of_shrink(x, columns, o->shrink_knn.n_neighbors, &o->shrink, needed);
    hd_decide_memory_of_labels(x, columns, &o->spectral, needed);
}

/* The result of the shrink step does not depend on its solver, within the certified gap, so that
 * solvers come first; then the start of the refinement. */
static const char *economise_ssc(void *options, int32_t step) {
    ssc_options *o = options;
    huddle_shrink_options *shrink = &o->shrink;
    bool is_auto = strcmp(shrink->solver, "auto") == 0;
    if (step == 0) {
        if (!is_auto || strcmp(shrink->linear_solver, "auto") != 0)
            return "";
        shrink->linear_solver = "approximate";
        return "the shrink step solves its linear systems without a factorisation";
    }
    if (step == 1) {
        if (!is_auto)
            return "";
        shrink->solver = "pdhg";
        return "the shrink step is solved by pdhg, without linear systems";
    }
    return hd_decide_economise_spectral(&o->spectral, step - 2);
}

const hd_method hd_method_ssc = {
    .text = {"ssc", "spectral shrunk clustering",
             "Spectral clustering whose embedding is shrunk by a convex program before K-means: "
             "neighbours in the embedding are pulled together until points of one cluster "
             "coincide. A certificate bounds how far the shrink step, not the clustering, is from "
             "its optimum."},
    .options_size = sizeof(ssc_options),
    .sections = sections,
    .takes_graph = true,
    .views = HD_METHOD_MEAN_GRAPH,
    .distributes = true,
    .fit = fit_ssc,
    .place = hd_spectral_place,
    .assign = assign_ssc,
    .memory = {predict_memory, economise_ssc},
    .presets = presets};
