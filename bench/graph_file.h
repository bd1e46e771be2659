/* What the benchmarks of graphs share: CPU time, and the files that bench/embed.py writes. */
#ifndef HUDDLE_BENCH_GRAPH_FILE_H
#define HUDDLE_BENCH_GRAPH_FILE_H

#include "huddle/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU time over all threads: unlike wall time it does not depend on the load of the machine. */
static inline double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A benchmark has nothing to clean up: it prints the message and ends. */
static inline void stop_on(huddle_status status) {
    if (status == HUDDLE_OK)
        return;
    fprintf(stderr, "bench: %s\n", huddle_last_error());
    exit(1);
}

/* Reads count items or ends: a short file would give a wrong graph, not an error later. */
static inline void read_exactly(FILE *file, void *to, size_t size, int64_t count) {
    if (fread(to, size, (size_t)count, file) == (size_t)count)
        return;
    fprintf(stderr, "bench: the graph file is too short\n");
    exit(1);
}

/* No checks beyond the length: the file comes from bench/embed.py. */
static inline huddle_csr read_graph(const char *path) {
    huddle_csr graph;
    int64_t sizes[2];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    read_exactly(file, sizes, sizeof *sizes, 2);
    stop_on(huddle_csr_new(sizes[0], sizes[0], sizes[1], &graph));
    read_exactly(file, graph.offsets, sizeof *graph.offsets, sizes[0] + 1);
    read_exactly(file, graph.columns, sizeof *graph.columns, sizes[1]);
    read_exactly(file, graph.values, sizeof *graph.values, sizes[1]);
    fclose(file);
    return graph;
}

#endif
