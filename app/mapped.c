#define _DEFAULT_SOURCE
/* The system reports a page of a mapped file that does not exist any more by SIGBUS, in the thread
 * that reads it, and the instruction cannot be completed. So all that is left is to say what
 * happened and to exit. The handler calls async-signal-safe functions only. */
#include "mapped.h"

#include "cli/messages.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More inputs than this are not named in the message. */
enum { MAX_WATCHED = 32 };

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

/* A failing write to stderr leaves nothing else to do. */
static void print_text(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

/* The input that is shorter than it was, or NULL. */
static const char *find_shrunk(void) {
    struct stat about;
    for (int k = 0; k < watched.count; k++)
        if (stat(watched.paths[k], &about) != 0 || about.st_size < watched.sizes[k])
            return watched.paths[k];
    return NULL;
}

/* Several threads may read such a page at the same time: the first one reports it and exits. */
static void on_fault(int number) {
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    (void)number;
    while (atomic_flag_test_and_set(&reported))
        pause();
    const char *path = find_shrunk();
    print_text(progress_is_shown() ? "\r\033[Khuddle: " : "huddle: ");
    print_text(path != NULL ? path : "an input file");
    print_text(path != NULL ? ": the file became shorter while it was read\n"
                            : ": a part of it that was mapped into memory cannot be read\n");
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
