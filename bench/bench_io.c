/* Measures the time of reading a file: bench_io FILE [threads=N] [runs=N]
 *
 * Prints one line: the minimum wall and CPU seconds, the rate, and the peak memory of the process
 * beside the size of the points. Without arguments, the data set digits is read. */
#include "huddle/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A benchmark has nothing to clean up: it prints the message and ends. */
static void check(huddle_status status) {
    if (status == HUDDLE_OK)
        return;
    fprintf(stderr, "bench_io: %s\n", huddle_last_error());
    exit(1);
}

/* Of the given clock: wall time, or CPU time over all threads. */
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The peak of the resident memory of this process in MB, including mapped files. */
static double peak_memory(void) {
    char line[256];
    double held = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            held = atof(line + 6) / 1e3;
    if (file != NULL)
        fclose(file);
    return held;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "digits";
    int runs = 3, threads = HUDDLE_AUTO;
    double wall = 1e300, cpu = 1e300, points = 0;
    struct stat about = {0};
    huddle_context *context;
    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i], "threads=%d", &threads) + sscanf(argv[i], "runs=%d", &runs) < 1)
            fprintf(stderr, "bench_io: '%s' is not understood\n", argv[i]);
    check(huddle_context_new(&context));
    check(huddle_context_set_threads(context, threads));
    /* A name of a built-in data set is not a file: its size is then 0. */
    (void)stat(path, &about);
    /* After the first run the file is in the page cache, so the minimum measures parsing, not the
     * disk. */
    for (int run = 0; run < runs; run++) {
        huddle_data data;
        double w = seconds(CLOCK_MONOTONIC), c = seconds(CLOCK_PROCESS_CPUTIME_ID);
        check(huddle_data_read(context, path, NULL, &data));
        w = seconds(CLOCK_MONOTONIC) - w;
        c = seconds(CLOCK_PROCESS_CPUTIME_ID) - c;
        wall = w < wall ? w : wall;
        cpu = c < cpu ? c : cpu;
        /* Sparse points: a value and a column index per entry; dense points: a float per number. */
        points = data.points.offsets != NULL ? 8.0 * (double)data.points.offsets[data.points.n]
                                             : 4.0 * (double)data.points.n * (double)data.points.d;
        huddle_data_free(&data);
    }
    double size = (double)about.st_size / 1e6;
    printf("%s: %.1f MB, wall %.4f s, cpu %.4f s, %.0f MB/s, points %.1f MB, peak %.1f MB\n", path,
           size, wall, cpu, size / wall, points / 1e6, peak_memory());
    huddle_context_free(context);
    return 0;
}
