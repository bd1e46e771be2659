#define _DEFAULT_SOURCE
/* The system reports a page of a mapped file that does not exist any more by SIGBUS, in the thread
 * that reads it, and the instruction cannot be completed. So all that is left is to say what
 * happened and to exit. The handler calls async-signal-safe functions only. */
#include "mapped.h"

#include "cli/messages.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_WATCHED = 32, /* more inputs are not named in the message */
    MAX_LINE = 8192   /* longer than any path that the system opens */
};

/* There is one set of inputs in a process, and a signal handler has no argument to find it by. */
static struct {
    int count;
    const char *paths[MAX_WATCHED];
    off_t sizes[MAX_WATCHED]; /* when the command began */
} watched;

/* Names that are no files, such as those of generators, are ignored. */
static void watch(const char *path) {
    struct stat about;
    if (watched.count == MAX_WATCHED || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    watched.paths[watched.count] = path;
    watched.sizes[watched.count++] = about.st_size;
}

/* Appends as much of the text as there is room for; there is no async-signal-safe snprintf(). */
static size_t append(char *line, size_t length, const char *text) {
    while (*text != '\0' && length < MAX_LINE)
        line[length++] = *text++;
    return length;
}

/* The input that is shorter than it was, or NULL. */
static const char *find_shrunk(void) {
    struct stat about;
    for (int k = 0; k < watched.count; k++)
        if (stat(watched.paths[k], &about) != 0 || about.st_size < watched.sizes[k])
            return watched.paths[k];
    return NULL;
}

/* Several threads may read the same file, and others print progress: the first thread writes one
 * line at once, and ends the process while the others wait. */
static void on_fault(int number) {
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    static char line[MAX_LINE];
    (void)number;
    while (atomic_flag_test_and_set(&reported))
        pause();
    const char *path = find_shrunk();
    size_t length = append(line, 0, progress_is_shown() ? "\r\033[Khuddle: " : "huddle: ");
    length = append(line, length, path != NULL ? path : "an input file");
    length = append(line, length,
                    path != NULL ? ": the file became shorter while it was read\n"
                                 : ": a part of it that was mapped into memory cannot be read\n");
    /* A failing write leaves nothing else to do. */
    (void)!write(STDERR_FILENO, line, length);
    huddle_file_abandon_all();
    _exit(EXIT_FAILED);
}

void mapped_watch(const cli_arguments *arguments) {
    struct sigaction action = {.sa_handler = on_fault};
    watched.count = 0;
    for (int i = 0; i < arguments->n_operands; i++)
        watch(arguments->operands[i]);
    for (int i = 0; i < arguments->n_settings; i++)
        if (arguments->settings[i].flag != NULL && arguments->settings[i].flag->reads)
            watch(arguments->settings[i].value);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void mapped_unwatch(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    watched.count = 0;
}
