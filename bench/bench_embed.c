/* Measures the time of the embedding of one graph by a given solver.
 *
 *     bench_embed [GRAPH] [c] [tol] [solver] [verify] [threads] [repeats] [n_exact]
 *
 * GRAPH holds n, the number of entries (int64), n + 1 offsets (int64), columns (int32) and values
 * (double), as bench/embed.py writes it; "-" or nothing means a synthetic graph. Prints one line
 * of name=value pairs; times are the minimum over the repeats. */
#define _GNU_SOURCE
#include "base/rng.h"
#include "graph_file.h"
#include "huddle/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twelve clusters in a row: each vertex has an edge to the next one and to a few others within
 * reach; few edges lead from one cluster to another, so that the eigenvalues have a gap after the
 * twelfth. Upper triangle first; the transpose makes it symmetric, and since it holds the smaller
 * columns of each row, concatenation keeps columns sorted. */
static huddle_csr synthetic_graph(int64_t n) {
    enum { CLUSTERS = 12, EDGES = 4 };
    huddle_csr half, other, graph;
    hd_rng rng = hd_rng_stream(1, 0);
    /* Edges span up to about a quarter of a cluster, so that clusters are well connected inside. */
    int64_t reach = n / CLUSTERS / 4 + 1;
    stop_on(huddle_csr_new(n, n, n * EDGES, &half));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i + 1, count = half.offsets[i];
        for (int k = 0; k < EDGES && at < n; k++, at += 1 + hd_rng_below(&rng, reach)) {
            bool crosses = at * CLUSTERS / n != i * CLUSTERS / n;
            if (k > 0 && crosses && hd_rng_uniform(&rng) > .005)
                continue;
            half.columns[count] = (int32_t)at;
            half.values[count++] = .2 + hd_rng_uniform(&rng);
        }
        half.offsets[i + 1] = count;
    }
    stop_on(huddle_csr_transpose(&half, &other));
    stop_on(huddle_csr_new(n, n, 2 * half.offsets[n], &graph));
    for (int64_t i = 0, count = 0; i < n; i++) {
        const huddle_csr *parts[] = {&other, &half};
        for (int p = 0; p < 2; p++)
            for (int64_t e = parts[p]->offsets[i]; e < parts[p]->offsets[i + 1]; e++) {
                graph.columns[count] = parts[p]->columns[e];
                graph.values[count++] = parts[p]->values[e];
            }
        graph.offsets[i + 1] = count;
    }
    huddle_csr_free(&half);
    huddle_csr_free(&other);
    return graph;
}

/* Arguments are positional: the k-th, or its default. */
static const char *argument(int argc, char **argv, int k, const char *default_text) {
    return k < argc ? argv[k] : default_text;
}

int main(int argc, char **argv) {
    const char *path = argument(argc, argv, 1, "-");
    huddle_csr graph = strcmp(path, "-") == 0 ? synthetic_graph(20000) : read_graph(path);
    huddle_embed_options options = huddle_embed_defaults();
    huddle_embed_info info;
    huddle_embedding embedding;
    huddle_context *context;
    int repeats = atoi(argument(argc, argv, 7, "5"));
    /* Minima over the repeats: the run that other processes disturbed least. */
    double wall = 1e9, cpu = 1e9;
    options.n_components = atoi(argument(argc, argv, 2, "10"));
    options.tol = atof(argument(argc, argv, 3, "1e-4"));
    options.embed_solver = argument(argc, argv, 4, "auto");
    options.verify = argument(argc, argv, 5, "auto");
    options.n_exact = atoi(argument(argc, argv, 8, "0"));
    stop_on(huddle_context_new(&context));
    stop_on(huddle_context_set_threads(context, atoi(argument(argc, argv, 6, "1"))));
    /* The last embedding is kept for the report. */
    for (int i = 0; i < repeats; i++) {
        double begun = cpu_seconds();
        stop_on(huddle_embed(context, &graph, &options, &embedding, &info));
        double used = cpu_seconds() - begun;
        cpu = used < cpu ? used : cpu;
        wall = info.seconds < wall ? info.seconds : wall;
        if (i + 1 < repeats)
            huddle_embedding_free(&embedding);
    }
    /* The residual and the c-th eigenvalue are printed so that a faster run can be seen to be as
     * accurate. */
    printf("n=%lld entries=%lld c=%d wall=%.5f cpu=%.5f residual=%.2e gap=%.2e iterations=%d "
           "products=%lld components=%d solver=%s verified=%s stop=%s lambda_c=%.9f\n",
           (long long)graph.rows, (long long)graph.offsets[graph.rows], options.n_components, wall,
           cpu, info.residual, info.gap, info.n_iter, (long long)info.n_products, info.components,
           info.solver, info.verified, huddle_stop_name(info.stop),
           embedding.eigenvalues[options.n_components - 1]);
    huddle_embedding_free(&embedding);
    huddle_context_free(context);
    huddle_csr_free(&graph);
    return 0;
}
