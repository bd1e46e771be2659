/* Measures the time of the neighbour search, compared with sgemm on the same machine:
 *
 *     bench_graph [FILE.f32 N D] [K]
 *
 * FILE contains N x D floats, row by row; without it the program generates clustered points of four
 * sizes. Each line is one solver: CPU seconds (the minimum of three runs), and for brute force the
 * rate of the fused kernel, 2 n (n - 1) / 2 d operations, divided by that of OpenBLAS's sgemm on
 * one thread in the same run. sgemm is the limit for any method that computes all products. */
#include "base/blas.h"
#include "base/context.h"
#include "base/rng.h"
#include "huddle/graph.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 3 };

/* CPU time over all threads, which the load of the machine disturbs less than wall time. */
static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Operations per second of C = A B' with the inner dimension d, the product that contains all
 * distances. One run more than for the solvers: the first one warms up caches and pages. */
static double sgemm_rate(int d) {
    enum { M = 1536 };
    float *a = calloc((size_t)M * (size_t)d, sizeof *a), *c = calloc((size_t)M * M, sizeof *c);
    double best = INFINITY;
    for (int e = 0; e < M * d; e++)
        a[e] = (float)(e % 17) - 8;
    /* One BLAS thread, as inside the library. */
    hd_blas_enter();
    for (int run = 0; run < RUNS + 1; run++) {
        double start = cpu_seconds();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, M, M, d, 1, a, d, a, d, 0, c, M);
        best = fmin(best, cpu_seconds() - start);
    }
    hd_blas_leave();
    free(a);
    free(c);
    return 2.0 * M * M * d / best;
}

/* The minimum over the runs. Every pair is computed once, n (n - 1) / 2 products of d
 * multiplications and additions. */
static int run_solver(huddle_context *context, const huddle_points *x, const char *solver,
                      int32_t k, int runs, double gemm) {
    huddle_knn_options options = huddle_knn_defaults();
    huddle_neighbors out;
    huddle_knn_info info = {0};
    double best = INFINITY, wall = INFINITY;
    options.knn_solver = solver;
    options.n_neighbors = k;
    for (int run = 0; run < runs; run++) {
        double start = cpu_seconds();
        if (huddle_graph_knn(context, x, &options, &out, &info) != HUDDLE_OK) {
            fprintf(stderr, "bench_graph: %s\n", huddle_last_error());
            return 1;
        }
        best = fmin(best, cpu_seconds() - start);
        wall = fmin(wall, info.seconds);
        huddle_neighbors_free(&out);
    }
    double n = (double)x->n, rate = n * (n - 1) * (double)x->d / best;
    printf("%8lld x %-5lld %-9s cpu %8.3f s  wall %8.3f s  distances/point %7.1f  repeated %lld",
           (long long)x->n, (long long)x->d, info.solver, best, wall, (double)info.n_distances / n,
           (long long)info.n_repeated);
    if (strcmp(info.solver, "brute") == 0)
        printf("  %.0f GFLOPS, sgemm %.0f: %.0f %%", 1e-9 * rate, 1e-9 * gemm, 100 * rate / gemm);
    printf("\n");
    fflush(stdout);
    return 0;
}

/* Points between random pairs of 200 centres. */
static huddle_points make_points(int64_t n, int64_t d) {
    huddle_points x, centres;
    hd_rng rng = hd_rng_stream(1, 0);
    if (huddle_points_new(n, d, &x) != HUDDLE_OK ||
        huddle_points_new(200, d, &centres) != HUDDLE_OK)
        exit(1);
    for (int64_t e = 0; e < 200 * d; e++)
        centres.values[e] = (float)hd_rng_normal(&rng);
    /* Between two centres, with a little noise: of low intrinsic dimension, as real data are, which
     * the PCA bound relies on. */
    for (int64_t i = 0; i < n; i++) {
        int64_t a = hd_rng_below(&rng, 200), b = hd_rng_below(&rng, 200);
        double t = hd_rng_uniform(&rng);
        for (int64_t j = 0; j < d; j++)
            x.values[i * d + j] =
                (float)(t * (double)centres.values[a * d + j] +
                        (1 - t) * (double)centres.values[b * d + j] + 0.1 * hd_rng_uniform(&rng));
    }
    huddle_points_free(&centres);
    return x;
}

/* Raw floats, as NumPy's tofile() writes them. */
static huddle_points read_points(const char *path, int64_t n, int64_t d) {
    huddle_points x;
    FILE *file = fopen(path, "rb");
    if (file == NULL || huddle_points_new(n, d, &x) != HUDDLE_OK ||
        fread(x.values, sizeof *x.values, (size_t)(n * d), file) != (size_t)(n * d)) {
        fprintf(stderr, "bench_graph: cannot read %lld x %lld floats from %s\n", (long long)n,
                (long long)d, path);
        exit(1);
    }
    fclose(file);
    return x;
}

/* The kd-tree is only meant for few dimensions, and takes very long beyond. */
static int run_all(huddle_context *context, huddle_points *x, int32_t k) {
    static const char *const solvers[] = {"brute", "pcabound", "kdtree"};
    /* Large data take long enough for one run to be meaningful. */
    int runs = x->n > 20000 ? 1 : RUNS, failed = 0;
    double gemm = sgemm_rate((int)x->d);
    for (int s = 0; s < (x->d <= 16 ? 3 : 2); s++)
        failed |= run_solver(context, x, solvers[s], k, runs, gemm);
    huddle_points_free(x);
    return failed;
}

int main(int argc, char **argv) {
    /* The numbers of features of PenDigits, USPS and MNIST, and one between. */
    static const int64_t sizes[][2] = {{6000, 16}, {6000, 256}, {6000, 512}, {6000, 784}};
    huddle_context *context;
    int failed = 0;
    if (huddle_context_new(&context) != HUDDLE_OK)
        return 1;
    /* K is the last argument, with or without a file before it. */
    int32_t k = argc == 2 || argc > 4 ? atoi(argv[argc - 1]) : 5;
    if (argc >= 4) {
        huddle_points x = read_points(argv[1], atoll(argv[2]), atoll(argv[3]));
        failed = run_all(context, &x, k);
    } else {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            huddle_points x = make_points(sizes[s][0], sizes[s][1]);
            failed |= run_all(context, &x, k);
        }
    }
    /* Over all runs of the process, in kilobytes on Linux. */
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %.0f MB\n", (double)usage.ru_maxrss / 1024);
    huddle_context_free(context);
    return failed;
}
