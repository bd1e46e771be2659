#define _DEFAULT_SOURCE
#include "session.h"

#include "cli/text.h"
#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* There is one session in a process, and a signal handler has no argument to find it by. */
static struct {
    huddle_context *context;
    json_t *warnings; /* receives warnings, or NULL */
} session;

static atomic_int interrupted; /* set by the signal handler, read by the callbacks */

/* ---- messages of the library --------------------------------------------------------------- */

/* Warnings are collected while a command asks for it (they become part of its info);
 * everything else is a note on stderr. The library calls this under a lock, one line at a
 * time. */
static void on_log(void *user, huddle_log_level level, huddle_warning_code code, const char *text) {
    (void)user;
    (void)code;
    if (level == HUDDLE_LOG_WARNING && session.warnings != NULL)
        json_array_append_new(session.warnings, json_string(text));
    else
        print_note("%s%s", level == HUDDLE_LOG_WARNING ? "warning: " : "", text);
}

/* A result other than 0 cancels the computation. The library calls this from the thread that
 * called it, about ten times a second, so that a signal takes effect within that time even
 * where no loop tests the context. */
static int on_progress(void *user, const char *stage, double done, double total) {
    (void)user;
    show_progress(stage, done, total);
    return interrupted;
}

void session_collect_warnings(json_t *warnings) {
    session.warnings = warnings;
}

/* A failure after Ctrl-C is its consequence, whatever the status. */
int call_result(huddle_status status, const char *source) {
    const char *message = huddle_last_error();
    if (status == HUDDLE_OK)
        return EXIT_DONE;
    if (status == HUDDLE_CANCELLED || session_cancelled())
        return failed("cancelled");
    if (source == NULL || strncmp(message, source, strlen(source)) == 0)
        return failed("%s", message);
    return failed("%s: %s", source, message);
}

/* ---- Ctrl-C -------------------------------------------------------------------------------- */

/* The first signal asks the computation to stop, which it does at its next check, without
 * leaving half-written files. Another one, more than a second later, ends the process at once
 * by the default action. Earlier ones are ignored because some programs send the same signal
 * twice: to the process and to its group. */
static void on_signal(int number) {
    static struct timespec first;
    struct timespec now;
    int saved = errno; /* the interrupted code may be about to read it */
    clock_gettime(CLOCK_MONOTONIC, &now);
    errno = saved;
    if (!interrupted) {
        interrupted = 1;
        first = now;
        huddle_context_cancel(session.context);
        return;
    }
    if (now.tv_sec > first.tv_sec + 1) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
        huddle_file_abandon_all();
        raise(number);
    }
}

/* Also true if the computation ended before it noticed. */
bool session_cancelled(void) {
    return interrupted != 0;
}

/* Signals that the parent process ignores, as nohup does with SIGHUP, stay ignored. The
 * handler is removed in the same way at the end of the session. */
static void set_signal_handler(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}, before;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* ---- mapped inputs ------------------------------------------------------------------------- */

/* The system reports a page of a mapped file that does not exist any more by SIGBUS, in the thread
 * that reads it, and the instruction cannot be completed. So all that is left is to say what
 * happened and to exit. The handler calls async-signal-safe functions only. */
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
    (void)!write(STDERR_FILENO, line, length);
    huddle_file_abandon_all();
    _exit(EXIT_FAILED);
}

/* From now on such a fault ends the process with a message that names the file and with
 * EXIT_FAILED; incomplete outputs are removed. */
static void watch_inputs(const cli_arguments *arguments) {
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

/* ---- begin and end ------------------------------------------------------------------------- */

static huddle_status configure_context(huddle_context *context, const cli_arguments *arguments) {
    const char *engine = argument(arguments, "engine"), *threads = argument(arguments, "n-threads");
    const char *memory = argument(arguments, "memory");
    huddle_status status = HUDDLE_OK;
    int64_t bytes = HUDDLE_AUTO;
    if (memory != NULL)
        status = huddle_parse_bytes(memory, &bytes);
    if (status == HUDDLE_OK && memory != NULL)
        status = huddle_context_set_memory(context, bytes);
    if (status == HUDDLE_OK && engine != NULL)
        status = processes_set_engine(context, engine);
    /* After the engine, which shares the CPUs of a machine among its processes. */
    if (status == HUDDLE_OK && threads != NULL)
        status = huddle_context_set_threads(
            context, (int32_t)argument_count(arguments, "n-threads", HUDDLE_AUTO));
    return status;
}

/* The context is configured before the handler is set, so that the handler always finds a
 * complete one. */
int session_begin(const cli_arguments *arguments, huddle_context **out) {
    huddle_context *context = NULL;
    int result = call_result(huddle_context_new(&context), NULL);
    if (result == EXIT_DONE && configure_context(context, arguments) != HUDDLE_OK)
        result = usage_error("%s", huddle_last_error());
    STEP(processes_check_command(context, arguments));
    if (result != EXIT_DONE) {
        huddle_context_free(context);
        return result;
    }
    messages_set_level(argument(arguments, "quiet") != NULL     ? MESSAGES_QUIET
                       : argument(arguments, "verbose") != NULL ? MESSAGES_VERBOSE
                                                                : MESSAGES_NORMAL);
    print_detail("huddle %s, engine %s, %d thread%s", huddle_version(),
                 huddle_context_engine(context), huddle_context_threads(context),
                 plural(huddle_context_threads(context)));
    *out = session.context = context;
    huddle_context_set_log(context, on_log, NULL);
    huddle_context_set_progress(context, on_progress, NULL);
    set_signal_handler(on_signal);
    watch_inputs(arguments);
    return EXIT_DONE;
}

/* context may be NULL, after session_begin() failed. */
void session_end(huddle_context *context) {
    messages_set_level(MESSAGES_NORMAL);
    /* The handler uses the context, so it is removed before the context is freed. */
    if (context != NULL)
        set_signal_handler(SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    watched.count = 0;
    memset(&session, 0, sizeof session);
    huddle_context_free(context);
}
