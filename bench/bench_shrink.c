/* Measures the time of the shrink step: a solver beside `reweighted`, which is irls without
 * acceleration, with the same linear solver, in one run, so that their ratio does not depend on the
 * load of the machine.
 *
 *     bench_shrink [FILE] [gamma=auto] [n=100000] [repeat=3] [solver=auto] [linear=auto]
 *                  [alone=1e-4]
 *
 * alone: only that solver, to that gap, without the other beside it.
 *
 * FILE contains, in the byte order of the machine: n, c, nonzeros (int64), F (n x c double), and
 * the graph W by rows: offsets (n + 1 int64), columns (int32), values (double). bench/shrink.py
 * writes one from points. Without a FILE, n points on c noisy filaments are generated. */
#include "base/rng.h"
#include "huddle/shrink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct input {
    huddle_dense f;
    huddle_csr w;
} input;

/* A benchmark has nothing to clean up: it prints the reason and ends. */
static void stop_if(int failed, const char *what) {
    if (failed) {
        fprintf(stderr, "bench_shrink: %s\n", what);
        exit(1);
    }
}

/* CPU time over all threads. */
static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* No checks beyond the length: huddle_shrink() checks the graph itself. */
static input read_input(const char *name) {
    input x;
    int64_t sizes[3];
    FILE *file = fopen(name, "rb");
    stop_if(file == NULL, name);
    stop_if(fread(sizes, sizeof *sizes, 3, file) != 3, "the file is too short");
    stop_if(huddle_dense_new(sizes[0], sizes[1], &x.f) != HUDDLE_OK ||
                huddle_csr_new(sizes[0], sizes[0], sizes[2], &x.w) != HUDDLE_OK,
            huddle_last_error());
    size_t n = (size_t)sizes[0], c = (size_t)sizes[1], nonzeros = (size_t)sizes[2];
    stop_if(fread(x.f.values, sizeof(double), n * c, file) != n * c ||
                fread(x.w.offsets, sizeof(int64_t), n + 1, file) != n + 1 ||
                fread(x.w.columns, sizeof(int32_t), nonzeros, file) != nonzeros ||
                fread(x.w.values, sizeof(double), nonzeros, file) != nonzeros,
            "the file is too short");
    fclose(file);
    return x;
}

/* Rows of norm 1, as those of an embedding. Point i lies on filament i / (n / c), which stays near
 * one axis for most of its length (t^60 is near 0) and then turns to the next, so that clusters are
 * connected by few points. */
static void make_rows(int64_t n, int64_t c, huddle_dense *f) {
    hd_rng rng = hd_rng_stream(1, 0);
    int64_t each = n / c;
    for (int64_t i = 0; i < n; i++) {
        int64_t q = i / each < c ? i / each : c - 1;
        double t = (double)(i - q * each) / (double)each, sum = 0, *row = f->values + i * c;
        for (int64_t k = 0; k < c; k++)
            row[k] = .1 / sqrt((double)c) * hd_rng_normal(&rng);
        double turn = pow(t, 60);
        row[q] += 1 - turn;
        row[(q + 1) % c] += turn;
        for (int64_t k = 0; k < c; k++)
            sum += row[k] * row[k];
        for (int64_t k = 0; k < c; k++)
            row[k] /= sqrt(sum);
    }
}

/* Neighbours of each point, and how far along the filament they are searched. */
enum { NEIGHBOURS = 5, WINDOW = 24 };

static double distance(const huddle_dense *f, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < f->cols; k++) {
        double d = f->values[i * f->cols + k] - f->values[j * f->cols + k];
        sum += d * d;
    }
    return sqrt(sum);
}

/* The nearest points within the window, as steps along the order: an approximation of the neighbour
 * graph in linear time. */
static void find_neighbours(const huddle_dense *f, int64_t i, int32_t *step, double *length) {
    int count = 0;
    for (int32_t s = -WINDOW; s <= WINDOW; s++) {
        if (s == 0 || i + s < 0 || i + s >= f->rows)
            continue;
        double d = distance(f, i, i + s);
        /* Insertion into a sorted list of fixed length. */
        int at = count < NEIGHBOURS ? count++ : NEIGHBOURS;
        if (at == NEIGHBOURS && d >= length[NEIGHBOURS - 1])
            continue;
        if (at == NEIGHBOURS)
            at--;
        for (; at > 0 && length[at - 1] > d; at--) {
            length[at] = length[at - 1];
            step[at] = step[at - 1];
        }
        length[at] = d;
        step[at] = s;
    }
}

/* The graph as a band matrix of lengths: entry (i, WINDOW + s) is the edge from i to i + s, and 0
 * means none. Writing both directions makes it symmetric. Weights follow (1) with scale = mean, and
 * exponents are limited to -20 as there. */
static input make_input(int64_t n, int64_t c) {
    input x;
    int64_t width = 2 * WINDOW + 1, count = 0;
    double *band = calloc((size_t)(n * width), sizeof *band), mean = 0;
    stop_if(band == NULL || huddle_dense_new(n, c, &x.f) != HUDDLE_OK, "no memory");
    make_rows(n, c, &x.f);
    for (int64_t i = 0; i < n; i++) {
        int32_t step[NEIGHBOURS];
        double length[NEIGHBOURS];
        find_neighbours(&x.f, i, step, length);
        for (int k = 0; k < NEIGHBOURS; k++) {
            band[i * width + WINDOW + step[k]] = length[k];
            band[(i + step[k]) * width + WINDOW - step[k]] = length[k];
            mean += length[k] / (double)(n * NEIGHBOURS);
        }
    }
    for (int64_t k = 0; k < n * width; k++)
        count += band[k] > 0;
    stop_if(huddle_csr_new(n, n, count, &x.w) != HUDDLE_OK, "no memory");
    count = 0;
    for (int64_t k = 0; k < n * width; k++) {
        if (band[k] > 0) {
            x.w.columns[count] = (int32_t)(k / width + k % width - WINDOW);
            x.w.values[count++] = exp(fmax(-20, -band[k] * band[k] / (mean * mean)));
        }
        x.w.offsets[k / width + 1] = count;
    }
    free(band);
    return x;
}

/* ---- runs ---------------------------------------------------------------------------------- */

typedef struct timing {
    double wall, cpu;
} timing;

/* The minimum over `repeat` runs. Results are deterministic, so the first one is printed for
 * all. */
static timing time_shrink(huddle_context *context, const input *x,
                          const huddle_shrink_options *options, int repeat) {
    timing best = {INFINITY, INFINITY};
    for (int k = 0; k < repeat; k++) {
        huddle_shrunk out;
        huddle_shrink_info info;
        double cpu = cpu_seconds();
        stop_if(huddle_shrink(context, &x->f, &x->w, options, &out, &info) != HUDDLE_OK,
                huddle_last_error());
        best.cpu = fmin(best.cpu, cpu_seconds() - cpu);
        best.wall = fmin(best.wall, info.seconds);
        /* Iterations, solves and groups show whether two solvers reached the same solution. */
        if (k == 0)
            printf("%-7s %-11s gap %.0e: reached %.2e in %5d iterations, %6lld solves, %5d groups",
                   info.solver, info.linear_solver, options->gap, info.gap, info.n_iter,
                   (long long)info.n_solves, info.n_groups);
        huddle_shrunk_free(&out);
        huddle_shrink_info_free(&info);
    }
    printf(" | %.3f s, %.3f cpu-s\n", best.wall, best.cpu);
    return best;
}

int main(int argc, char **argv) {
    /* The default gap, and a smaller one, at which acceleration matters more. */
    static const double gaps[] = {1e-4, 1e-6};
    const char *file = NULL, *gamma = "auto", *solver = "auto";
    int64_t n = 100000;
    int repeat = 3;
    double alone = 0;
    huddle_context *context;
    huddle_shrink_options options = huddle_shrink_defaults();
    for (int k = 1; k < argc; k++) {
        if (strncmp(argv[k], "gamma=", 6) == 0)
            gamma = argv[k] + 6;
        else if (strncmp(argv[k], "n=", 2) == 0)
            n = atoll(argv[k] + 2);
        else if (strncmp(argv[k], "repeat=", 7) == 0)
            repeat = atoi(argv[k] + 7);
        else if (strncmp(argv[k], "solver=", 7) == 0)
            solver = argv[k] + 7;
        else if (strncmp(argv[k], "linear=", 7) == 0)
            options.linear_solver = argv[k] + 7;
        else if (strncmp(argv[k], "alone=", 6) == 0)
            alone = atof(argv[k] + 6);
        else
            file = argv[k];
    }
    stop_if(huddle_options_set(huddle_shrink_options_table(), &options, "gamma", gamma) !=
                HUDDLE_OK,
            huddle_last_error());
    input x = file != NULL ? read_input(file) : make_input(n, 10);
    stop_if(huddle_context_new(&context) != HUDDLE_OK, huddle_last_error());
    printf("%lld points, %lld columns, %lld edges, gamma %s, %d threads\n", (long long)x.f.rows,
           (long long)x.f.cols, (long long)x.w.offsets[x.w.rows] / 2, gamma,
           huddle_context_threads(context));
    /* Without the comparison, for profiling and for sizes at which the other takes too long. */
    if (alone > 0) {
        options.gap = alone;
        options.solver = solver;
        time_shrink(context, &x, &options, repeat);
    }
    for (int k = 0; k < 2 && alone == 0; k++) {
        options.gap = gaps[k];
        options.solver = "reweighted";
        /* The other one is slow at the small gap, so it runs once there. */
        timing other = time_shrink(context, &x, &options, k == 0 ? repeat : 1);
        options.solver = solver;
        timing ours = time_shrink(context, &x, &options, repeat);
        printf("to %.0e: %.2fx faster than reweighted (%.2fx by CPU time)\n", gaps[k],
               other.wall / ours.wall, other.cpu / ours.cpu);
    }
    huddle_context_free(context);
    huddle_dense_free(&x.f);
    huddle_csr_free(&x.w);
    return 0;
}
