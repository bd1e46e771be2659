/* Measures the time and the memory of the refinement of one graph.
 *
 *     bench_refine [GRAPH] [c] [repeats] [d]
 *
 * GRAPH is a file as bench/embed.py writes it (n, the number of entries (int64), n + 1 offsets
 * (int64), columns (int32) and values (double)), or a number of points: their graph is then that of
 * the 5 nearest neighbours in a mixture of c Gaussians in d dimensions that overlap a little. The
 * three starts are the merge tree cut at c, with 5, 10 and 20 % of the labels replaced. Prints
 * one line of name=value pairs; times are CPU seconds, the minimum over the repeats. */
#define _GNU_SOURCE
#include "base/rng.h"
#include "graph_file.h"
#include "huddle/graph.h"
#include "huddle/refine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { STARTS = 3 };

static double peak_megabytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Centres of standard deviation 3, points of standard deviation 1 around them. */
static huddle_csr make_graph(int64_t n, int32_t c, int64_t d) {
    huddle_points x;
    huddle_neighbors lists;
    huddle_csr graph;
    huddle_knn_options nearest = huddle_knn_defaults();
    huddle_weight_options weights = huddle_weight_defaults();
    hd_rng rng = hd_rng_stream(1, 0);
    double *centres = malloc((size_t)(c * d) * sizeof *centres);
    stop_on(huddle_points_new(n, d, &x));
    for (int64_t e = 0; e < c * d; e++)
        centres[e] = 3 * hd_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = hd_rng_below(&rng, c);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] = (float)(centres[k * d + j] + hd_rng_normal(&rng));
    }
    free(centres);
    stop_on(huddle_graph_knn(NULL, &x, &nearest, &lists, NULL));
    huddle_points_free(&x);
    stop_on(huddle_graph_weigh(NULL, &lists, &weights, &graph, NULL));
    huddle_neighbors_free(&lists);
    return graph;
}

/* Labels of the tree with the given share replaced at random. */
static int32_t *make_start(const huddle_refine_tree *tree, int32_t c, double share) {
    int32_t *labels = malloc((size_t)tree->n * sizeof *labels);
    hd_rng rng = hd_rng_stream(2, 0);
    stop_on(huddle_refine_cut_tree(tree, c, labels));
    for (int64_t i = 0; i < tree->n; i++)
        if (hd_rng_uniform(&rng) < share)
            labels[i] = (int32_t)hd_rng_below(&rng, c);
    return labels;
}

/* Arguments are positional: the k-th, or its default. */
static const char *argument(int argc, char **argv, int k, const char *default_text) {
    return k < argc ? argv[k] : default_text;
}

int main(int argc, char **argv) {
    const char *source = argument(argc, argv, 1, "10000");
    int32_t c = atoi(argument(argc, argv, 2, "40"));
    int repeats = atoi(argument(argc, argv, 3, "3"));
    int64_t n = atoll(source);
    huddle_csr graph =
        n > 0 ? make_graph(n, c, atoll(argument(argc, argv, 4, "3"))) : read_graph(source);
    huddle_refine_tree tree;
    huddle_refine_options options = huddle_refine_defaults();
    huddle_refine_info info;
    huddle_refine_start starts[STARTS];
    int32_t *labels = malloc((size_t)graph.rows * sizeof *labels);
    static const double shares[STARTS] = {.05, .1, .2};
    double merging = INFINITY, whole = INFINITY, before = peak_megabytes();
    stop_on(huddle_refine_merge(NULL, &graph, &tree));
    for (int k = 0; k < STARTS; k++)
        starts[k] = (huddle_refine_start){"start", make_start(&tree, c, shares[k])};
    huddle_refine_tree_free(&tree);
    options.n_clusters = c;
    for (int run = 0; run < repeats; run++) {
        double begun = cpu_seconds();
        stop_on(huddle_refine_merge(NULL, &graph, &tree));
        double merged = cpu_seconds();
        stop_on(
            huddle_refine_with_tree(NULL, &graph, &tree, STARTS, starts, &options, labels, &info));
        merging = fmin(merging, merged - begun);
        whole = fmin(whole, cpu_seconds() - begun);
        huddle_refine_tree_free(&tree);
    }
    int32_t sweeps = 0;
    for (int32_t k = 0; k < info.n_trials; k++)
        sweeps += info.trials[k].n_sweeps;
    printf("n=%lld entries=%lld c=%d tree=%.4f whole=%.4f sweeps=%d best=%s map=%.6f ncut=%.4f "
           "graph_mb=%.0f peak_mb=%.0f\n",
           (long long)graph.rows, (long long)graph.offsets[graph.rows], c, merging, whole, sweeps,
           info.trials[info.best].name, info.trials[info.best].scores.map,
           info.trials[info.best].scores.ncut, before, peak_megabytes());
    return 0;
}
