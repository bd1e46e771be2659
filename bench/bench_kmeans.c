/* Measures the time of K-means:
 *
 *     bench_kmeans DATA [start=FILE] [threads=N] [runs=N] [OPTION=VALUE ...]
 *
 * DATA is an .npy file of floats or a shape such as 100000x10, for which groups are generated.
 * start is an .npy file of doubles with the starting centres. OPTION is an option of K-means.
 * Without arguments a few shapes are run. Prints one line per data set: the minimum wall and CPU
 * seconds, iterations, inertia, and the peak memory of the process beside the size of the data. */
#include "base/rng.h"
#include "huddle/kmeans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(huddle_status status) {
    if (status == HUDDLE_OK)
        return;
    fprintf(stderr, "bench_kmeans: %s\n", huddle_last_error());
    exit(1);
}

/* A benchmark has nothing to clean up: it prints the reason and ends. */
static void quit(const char *what, const char *which) {
    fprintf(stderr, "bench_kmeans: %s: %s\n", which, what);
    exit(1);
}

/* Of the given clock: wall time, or CPU time over all threads. */
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Opens an .npy file of version 1 with a matrix in C order whose elements are of the given kind
 * ("<f4"). The header is a Python literal; searching it for the kind, the order and the shape is
 * enough for files that NumPy wrote. */
static FILE *open_npy(const char *path, const char *kind, int64_t *rows, int64_t *cols) {
    unsigned char front[10];
    char header[65536];
    long long r, c;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        quit("cannot open", path);
    if (fread(front, 1, 10, file) != 10 || memcmp(front, "\x93NUMPY\x01", 7) != 0)
        quit("not an .npy file of version 1", path);
    size_t length = front[8] + 256u * front[9];
    if (fread(header, 1, length, file) != length)
        quit("cut short", path);
    header[length] = '\0';
    const char *shape = strchr(header, '(');
    if (strstr(header, kind) == NULL || strstr(header, "True") != NULL || shape == NULL ||
        sscanf(shape, "(%lld, %lld)", &r, &c) != 2)
        quit("not a matrix of the expected kind", path);
    *rows = r;
    *cols = c;
    return file;
}

static void read_values(FILE *file, const char *path, void *values, size_t size, int64_t count) {
    if (fread(values, size, (size_t)count, file) != (size_t)count)
        quit("cut short", path);
    fclose(file);
}

/* Ten normal groups. Each row has its own random streams, so that a prefix of a larger data set is
 * the smaller one. */
static void make_groups(int64_t n, int64_t d, huddle_points *x) {
    check(huddle_points_new(n, d, x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng centre = hd_rng_stream(1, (uint64_t)(i % 10)), noise = hd_rng_stream(2, (uint64_t)i);
        for (int64_t j = 0; j < d; j++)
            x->values[i * d + j] = (float)(hd_rng_normal(&centre) + hd_rng_normal(&noise));
    }
}

/* A shape, or the name of a file. */
static void read_points(const char *name, huddle_points *x) {
    long long n, d;
    if (sscanf(name, "%lldx%lld", &n, &d) == 2) {
        make_groups(n, d, x);
        return;
    }
    int64_t rows, cols;
    FILE *file = open_npy(name, "<f4", &rows, &cols);
    check(huddle_points_new(rows, cols, x));
    read_values(file, name, x->values, sizeof *x->values, rows * cols);
}

/* Given centres make runs comparable with other programs: all start at the same point. */
static void read_start(const char *name, huddle_kmeans_options *options, huddle_dense *start) {
    int64_t rows, cols;
    FILE *file = open_npy(name, "<f8", &rows, &cols);
    check(huddle_dense_new(rows, cols, start));
    read_values(file, name, start->values, sizeof *start->values, rows * cols);
    options->n_clusters = (int32_t)rows;
    options->start = start;
}

/* The peak of the resident memory of this process in bytes. getrusage() would include that of the
 * parent before exec. */
static double peak_memory(void) {
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %lf", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return 1024 * kilobytes;
}

/* The data set and its size are printed beside the peak, because most of it is the data
 * themselves. */
static void measure(huddle_context *context, const char *name, int runs, const huddle_points *x,
                    const huddle_kmeans_options *options) {
    double wall = 1e30, cpu = 1e30, inertia = 0;
    int n_iter = 0;
    for (int run = 0; run < runs; run++) {
        huddle_kmeans_result result;
        huddle_kmeans_info info;
        double w = seconds(CLOCK_MONOTONIC), p = seconds(CLOCK_PROCESS_CPUTIME_ID);
        check(huddle_kmeans(context, x, NULL, options, &result, &info));
        w = seconds(CLOCK_MONOTONIC) - w;
        p = seconds(CLOCK_PROCESS_CPUTIME_ID) - p;
        wall = w < wall ? w : wall;
        cpu = p < cpu ? p : cpu;
        inertia = info.inertia;
        n_iter = info.n_iter;
        huddle_kmeans_info_free(&info);
        huddle_kmeans_result_free(&result);
    }
    /* Iterations and inertia show whether two programs did the same work. */
    printf("%s c %d: wall %.4f cpu %.4f n_iter %d inertia %.10g data_mb %.1f peak_mb %.1f\n", name,
           options->n_clusters, wall, cpu, n_iter, inertia,
           (double)(x->n * x->d) * sizeof(float) / 1e6, peak_memory() / 1e6);
}

/* Runs one data set with its options; argv[0] is the name of the data. */
static void run(int argc, char **argv) {
    huddle_context *context;
    huddle_points x;
    huddle_dense start = {0};
    huddle_kmeans_options options = huddle_kmeans_defaults();
    int runs = 3;
    check(huddle_context_new(&context));
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL)
            quit("not NAME=VALUE", argv[i]);
        *value++ = '\0';
        if (strcmp(argv[i], "start") == 0)
            read_start(value, &options, &start);
        else if (strcmp(argv[i], "threads") == 0)
            check(huddle_context_set_threads(context, (int32_t)atoi(value)));
        else if (strcmp(argv[i], "runs") == 0)
            runs = atoi(value);
        else
            check(huddle_options_set(huddle_kmeans_options_table(), &options, argv[i], value));
    }
    read_points(argv[0], &x);
    measure(context, argv[0], runs, &x, &options);
    huddle_points_free(&x);
    huddle_dense_free(&start);
    huddle_context_free(context);
}

int main(int argc, char **argv) {
    /* Many rows; long rows; restarts in parallel; many centres. With tol = 0 a run ends when no
     * label changes. */
    static const char *const shapes[][4] = {{"1000000x10", "n_clusters=10", "n_init=1", "tol=0"},
                                            {"20000x784", "n_clusters=10", "n_init=1", "tol=0"},
                                            {"2000x10", "n_clusters=10", "n_init=50", "runs=3"},
                                            {"20000x40", "n_clusters=40", "n_init=10", "runs=1"}};
    if (argc > 1) {
        run(argc - 1, argv + 1);
        return 0;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        /* run() splits its arguments in place, so they are copied. */
        char words[4][32], *arguments[4];
        for (int j = 0; j < 4; j++) {
            strcpy(words[j], shapes[i][j]);
            arguments[j] = words[j];
        }
        run(4, arguments);
    }
    return 0;
}
