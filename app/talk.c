#include "talk.h"

#include "text.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One line at a time on stderr, and one computation to cancel: there is one of each in a process,
 * and a signal handler can reach nothing else. */
static struct talk {
    huddle_context *context;
    json_t *warnings; /* where warnings go, or NULL */
    bool quiet, terminal;
    bool bar;       /* a progress bar stands on the current line */
    char stage[32]; /* what the progress is about */
    double began;   /* when that began */
    double next;    /* earliest moment of the next plain line */
} talk;

static atomic_int interrupted; /* set by a signal, read by every thread */

double talk_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- sentences ---------------------------------------------------------------------------- */

void talk_clear(void) {
    if (talk.bar)
        fputs("\r\033[K", stderr);
    talk.bar = false;
}

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list arguments) {
    talk_clear();
    fputs("huddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int failed(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

void note(const char *format, ...) {
    va_list arguments;
    if (talk.quiet)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int failed_call(huddle_status status, const char *about) {
    const char *sentence = huddle_last_error();
    if (status == HUDDLE_CANCELLED || talk_cancelled())
        return failed("cancelled");
    if (about == NULL || strncmp(sentence, about, strlen(about)) == 0)
        return failed("%s", sentence);
    return failed("%s: %s", about, sentence);
}

void *must(void *pointer) {
    if (pointer == NULL)
        exit(failed("no memory"));
    return pointer;
}

int close_output(void) {
    bool broken = ferror(stdout) != 0;
    errno = 0;
    if (broken) /* why, is long forgotten; once more, to learn it */
        (void)(putchar('\n') == EOF || fflush(stdout) != 0);
    if (fclose(stdout) != 0 || broken)
        return failed("standard output: %s", errno == 0 ? "cannot be written" : strerror(errno));
    return EXIT_DONE;
}

/* ---- warnings and progress ---------------------------------------------------------------- */

static void on_log(void *user, huddle_log_level level, huddle_warning_code code, const char *text) {
    (void)user;
    (void)code;
    if (level == HUDDLE_LOG_WARNING && talk.warnings != NULL)
        json_array_append_new(talk.warnings, json_string(text));
    else
        note("%s%s", level == HUDDLE_LOG_WARNING ? "warning: " : "", text);
}

void talk_collect(json_t *warnings) {
    talk.warnings = warnings;
}

/* "12 s", "3 min 20 s", "2 h 5 min". */
static void format_wait(double seconds, char *text, size_t size) {
    long s = (long)(seconds + 0.5);
    if (s < 60)
        snprintf(text, size, "%ld s", s);
    else if (s < 3600)
        snprintf(text, size, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, size, "%ld h %ld min", s / 3600, s % 3600 / 60);
}

static void draw_bar(double share, double rate, double left) {
    enum { CELLS = 30 };
    char bar[CELLS + 1], wait[32];
    for (int i = 0; i < CELLS; i++)
        bar[i] = i < (int)(share * CELLS) ? '#' : '-';
    bar[CELLS] = '\0';
    format_wait(left, wait, sizeof wait);
    fprintf(stderr, "\r%-8s [%s] %3.0f %%  %.3g/s  %s left\033[K", talk.stage, bar, 100 * share,
            rate, wait);
    fflush(stderr);
    talk.bar = true;
}

static int on_progress(void *user, const char *stage, double done, double total) {
    double now = talk_seconds();
    (void)user;
    if (talk.quiet)
        return interrupted;
    if (strncmp(talk.stage, stage, sizeof talk.stage - 1) != 0) {
        talk_clear();
        snprintf(talk.stage, sizeof talk.stage, "%s", stage);
        talk.began = now;
    }
    double share = total > 0 && done < total ? done / total : 1, spent = now - talk.began;
    double left = share > 0 ? spent * (1 - share) / share : 0;
    if (done <= 0 || spent <= 0)
        return interrupted;
    if (talk.terminal && done >= total)
        talk_clear();
    else if (talk.terminal)
        draw_bar(share, done / spent, left);
    else if (now >= talk.next && spent >= 1 && done < total) {
        char wait[32];
        format_wait(left, wait, sizeof wait);
        fprintf(stderr, "huddle: %s %.0f %%, %s left\n", stage, 100 * share, wait);
        talk.next = now + 1;
    }
    return interrupted;
}

void talk_progress(const char *stage, double done, double total) {
    (void)on_progress(NULL, stage, done, total);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------- */

/* The first signal asks for a clean stop. One that comes more than a second later means it: the
 * default action follows. (Some programs send the same signal twice at once.) */
static void on_signal(int number) {
    static struct timespec first;
    struct timespec now;
    int error = errno; /* the interrupted code may be about to read it */
    clock_gettime(CLOCK_MONOTONIC, &now);
    errno = error;
    if (!interrupted) {
        interrupted = 1;
        first = now;
        huddle_context_cancel(talk.context);
        return;
    }
    if (now.tv_sec > first.tv_sec + 1) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
        raise(number);
    }
}

bool talk_cancelled(void) {
    return interrupted != 0;
}

static void catch_signals(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}, before;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* ---- beginning and end -------------------------------------------------------------------- */

static huddle_status configure(huddle_context *context, const app_arguments *arguments) {
    const char *engine = argument(arguments, "engine"), *threads = argument(arguments, "n-threads");
    huddle_status status = HUDDLE_OK;
    int64_t n = argument_count(arguments, "n-threads", HUDDLE_AUTO);
    if (threads != NULL)
        status = huddle_context_set_threads(context, n > INT32_MAX ? INT32_MAX : (int32_t)n);
    if (status == HUDDLE_OK && engine != NULL)
        status = huddle_context_set_engine(context, engine);
    return status;
}

huddle_context *talk_begin(const app_arguments *arguments, int *result) {
    huddle_context *context = NULL;
    huddle_status status = huddle_context_new(&context);
    if (status != HUDDLE_OK) {
        *result = failed_call(status, NULL);
        return NULL;
    }
    if (configure(context, arguments) != HUDDLE_OK) {
        *result = usage_error("%s", huddle_last_error());
        huddle_context_free(context);
        return NULL;
    }
    talk.quiet = argument(arguments, "quiet") != NULL;
    talk.terminal = isatty(STDERR_FILENO) == 1;
    talk.next = talk_seconds() + 1;
    talk.context = context;
    huddle_context_set_log(context, on_log, NULL);
    huddle_context_set_progress(context, on_progress, NULL);
    catch_signals(on_signal);
    return context;
}

void talk_end(huddle_context *context) {
    talk_clear();
    if (context != NULL)
        catch_signals(SIG_DFL);
    talk = (struct talk){0};
    huddle_context_free(context);
}
