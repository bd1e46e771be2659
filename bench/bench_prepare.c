/* Measures the time of the preparations: bench_prepare [n d rule ...]
 *
 * Without arguments: the shapes and rules of the documentation. Points are generated with a few
 * strong directions and noise, like images. Prints one line per rule: shape, rule, the minimum wall
 * and CPU time of several runs, and the share of variance kept. */
#include "base/rng.h"
#include "huddle/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of the given clock: wall time, or CPU time over all threads. */
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A benchmark has nothing to clean up: it prints the message and ends. */
static void check(huddle_status status) {
    if (status == HUDDLE_OK)
        return;
    fprintf(stderr, "bench_prepare: %s\n", huddle_last_error());
    exit(1);
}

/* Noise plus 60 directions whose sizes fall like 1 / k: a spectrum that decays as that of images,
 * so that the number of iterations of a truncated PCA is realistic. */
static void make_points(int64_t n, int64_t d, huddle_points *x) {
    enum { DIRECTIONS = 60 };
    hd_rng rng = hd_rng_stream(1, 0);
    float *directions = malloc((size_t)(DIRECTIONS * d) * sizeof *directions);
    check(huddle_points_new(n, d, x));
    for (int64_t e = 0; e < DIRECTIONS * d; e++)
        directions[e] = (float)(hd_rng_uniform(&rng) - 0.5);
    for (int64_t i = 0; i < n; i++) {
        float *row = x->values + i * d;
        for (int64_t j = 0; j < d; j++)
            row[j] = (float)hd_rng_uniform(&rng);
        for (int64_t k = 0; k < DIRECTIONS; k++) {
            float size = (float)(20 * hd_rng_normal(&rng) / (double)(k + 1));
            for (int64_t j = 0; j < d; j++)
                row[j] += size * directions[k * d + j];
        }
    }
    free(directions);
}

/* Fit and application together, the minimum over several runs. */
static void measure(huddle_context *context, const huddle_points *x, const char *rule) {
    enum { RUNS = 3 };
    huddle_prepare_options options = huddle_prepare_defaults();
    huddle_prepare_info info;
    double wall = 1e30, cpu = 1e30;
    check(huddle_options_set(huddle_prepare_options_table(), &options, "prepare", rule));
    for (int run = 0; run < RUNS; run++) {
        huddle_preparation p;
        huddle_points y;
        double w = seconds(CLOCK_MONOTONIC), c = seconds(CLOCK_PROCESS_CPUTIME_ID);
        check(huddle_prepare_fit(context, x, &options, &p, NULL));
        check(huddle_prepare_apply(context, &p, x, &y, &info));
        w = seconds(CLOCK_MONOTONIC) - w;
        c = seconds(CLOCK_PROCESS_CPUTIME_ID) - c;
        wall = w < wall ? w : wall;
        cpu = c < cpu ? c : cpu;
        huddle_points_free(&y);
        huddle_preparation_free(&p);
    }
    /* The variance kept shows that a faster PCA has found the same directions. */
    printf("%7lld x %-5lld %-15s wall %7.3f s  cpu %7.3f s  variance kept %.4f\n", (long long)x->n,
           (long long)x->d, rule, wall, cpu, info.variance_kept);
}

/* The same points for all rules of a shape. */
static void measure_all(huddle_context *context, int64_t n, int64_t d, int count, char **rules) {
    huddle_points x;
    make_points(n, d, &x);
    for (int k = 0; k < count; k++)
        measure(context, &x, rules[k]);
    huddle_points_free(&x);
}

int main(int count, char **arguments) {
    /* The shapes of MNIST (10,000 rows), of the faces of Extended Yale B, and of a wide matrix. */
    static char *small[] = {"standard", "unit", "center-rows", "center-columns", "pca:40"};
    static char *faces[] = {"whiten:150"}, *large[] = {"pca:40"};
    huddle_context *context;
    check(huddle_context_new(&context));
    if (count > 3) {
        measure_all(context, atoll(arguments[1]), atoll(arguments[2]), count - 3, arguments + 3);
    } else {
        measure_all(context, 10000, 784, 5, small);
        measure_all(context, 2414, 1024, 1, faces);
        measure_all(context, 6000, 5000, 1, large);
    }
    huddle_context_free(context);
    return 0;
}
