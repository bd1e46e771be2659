/* Measures the neighbour search of sparse points:
 *
 *     bench_text FILE.csr [K] [METRIC] [THREADS] [LISTS]
 *
 * FILE.csr contains n, d and the number of values as 64-bit integers, then n + 1 offsets (64 bits),
 * the columns (32 bits) and the values (float). Prints CPU seconds, wall seconds, and per point the
 * multiplications of inner products, those of all common columns of all pairs, and the distances by
 * differences. LISTS, if given, receives the neighbours (32 bits). */
#include "base/check.h"
#include "base/context.h"
#include "graph/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_array(FILE *file, void *to, size_t size, int64_t count) {
    if (fread(to, size, (size_t)count, file) != (size_t)count) {
        fprintf(stderr, "bench_text: the file is too short\n");
        exit(1);
    }
}

static huddle_points read_points(const char *path) {
    huddle_points x;
    int64_t sizes[3];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "bench_text: cannot open %s\n", path);
        exit(1);
    }
    read_array(file, sizes, sizeof *sizes, 3);
    if (huddle_points_new_sparse(sizes[0], sizes[1], sizes[2], &x) != HUDDLE_OK)
        exit(1);
    read_array(file, x.offsets, sizeof *x.offsets, x.n + 1);
    read_array(file, x.columns, sizeof *x.columns, sizes[2]);
    read_array(file, x.values, sizeof *x.values, sizes[2]);
    fclose(file);
    return x;
}

/* The products that an index without bounds computes. */
static double count_all(const huddle_points *x) {
    double *count = calloc((size_t)x->d, sizeof *count), sum = 0;
    for (int64_t e = 0; e < x->offsets[x->n]; e++)
        count[x->columns[e]]++;
    for (int64_t f = 0; f < x->d; f++)
        sum += count[f] * count[f];
    free(count);
    return sum;
}

static huddle_status run(huddle_context *context, const huddle_points *x, int32_t k, bool cosine,
                         const char *lists) {
    huddle_status status = HUDDLE_OK;
    hd_graph_search s = {.self = true, .k = k};
    FILE *file = NULL;
    double cpu = cpu_seconds(), wall = hd_seconds(), n = (double)x->n;
    ALLOC(s.index, x->n * k);
    ALLOC(s.distance2, x->n * k);
    TRY(hd_graph_search_sparse(context, x, x, cosine, &s));
    printf("%lld x %lld  cpu %.3f  wall %.3f  products %.0f  of %.0f  distances %.1f\n",
           (long long)x->n, (long long)x->d, cpu_seconds() - cpu, hd_seconds() - wall,
           (double)s.n_products / n, count_all(x) / n, (double)s.n_distances / n);
    if (lists != NULL && (file = fopen(lists, "wb")) != NULL) {
        fwrite(s.index, sizeof *s.index, (size_t)(x->n * k), file);
        fclose(file);
    }
done:
    huddle_free(s.index);
    huddle_free(s.distance2);
    return status;
}

int main(int argc, char **argv) {
    huddle_context *context;
    if (argc < 2 || huddle_context_new(&context) != HUDDLE_OK)
        return 2;
    huddle_points x = read_points(argv[1]);
    huddle_context_set_threads(context, argc > 4 ? atoi(argv[4]) : 0);
    huddle_status status =
        run(context, &x, argc > 2 ? atoi(argv[2]) : 5, argc > 3 && strcmp(argv[3], "cosine") == 0,
            argc > 5 ? argv[5] : NULL);
    if (status != HUDDLE_OK)
        fprintf(stderr, "bench_text: %s\n", huddle_last_error());
    huddle_points_free(&x);
    huddle_context_free(context);
    return status == HUDDLE_OK ? 0 : 1;
}
