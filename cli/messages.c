#include "cli/messages.h"

#include "report/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of the one stderr of the process. The library calls log functions from one thread at a
 * time and progress functions from the thread that called it. */
static struct {
    message_level level;
    bool terminal;
    bool silent;           /* nothing is printed */
    char last_error[1024]; /* of failed() and usage_error() */
    bool has_bar;          /* the cursor is at the end of a progress bar */
    char stage[32];        /* the stage whose progress was shown last */
    double began;          /* when it began */
    double opened;         /* when the session began */
    double not_till;       /* earliest time of the next progress line */
} state = {.level = MESSAGES_NORMAL};

/* ---- messages ------------------------------------------------------------------------------ */

void messages_set_silent(bool silent) {
    state.silent = silent;
}

const char *messages_last_error(void) {
    return state.last_error;
}

/* A bar may be on the line: it is erased, and drawn again by the next progress report. */
__attribute__((format(printf, 1, 0))) static void print_message(const char *format,
                                                                va_list arguments) {
    if (state.silent)
        return;
    clear_progress();
    fputs("huddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* Errors are printed even with -q. The message is kept for another process that prints it if this
 * one is silent. */
int print_error(int result, const char *format, ...) {
    va_list arguments, copy;
    va_start(arguments, format);
    va_copy(copy, arguments);
    vsnprintf(state.last_error, sizeof state.last_error, format, copy);
    va_end(copy);
    print_message(format, arguments);
    va_end(arguments);
    return result;
}

void print_at(message_level level, const char *format, ...) {
    va_list arguments;
    if (state.level < level)
        return;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

/* The tool has nothing to save if memory runs out, so it exits; the library never does. */
void *check_allocation(void *pointer) {
    if (pointer == NULL)
        exit(failed("no memory"));
    return pointer;
}

int close_output(void) {
    /* stdio remembers that an earlier write failed, but not why. Writing once more sets errno. */
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (lost)
        (void)(putchar('\n') == EOF || fflush(stdout) != 0);
    /* A full disk may be reported by nothing before fclose(). */
    if (fclose(stdout) != 0 || lost)
        return failed("standard output: %s", errno == 0 ? "cannot be written" : strerror(errno));
    return EXIT_DONE;
}

/* ---- progress ------------------------------------------------------------------------------ */

/* Seconds between two progress lines where stderr is not a terminal, and before the first one:
 * short runs leave no lines in log files. */
static const double line_interval = 10;

/* A session begins with a clean state. On a terminal progress is a bar that is redrawn; in a
 * log file it is a line now and then. */
void messages_set_level(message_level level) {
    clear_progress();
    state.stage[0] = '\0';
    state.level = level;
    state.terminal = isatty(STDERR_FILENO) == 1;
    state.began = state.opened = read_clock(CLOCK_MONOTONIC);
    state.not_till = state.opened + line_interval;
}

void clear_progress(void) {
    if (state.has_bar)
        fputs("\r\033[K", stderr); /* to the first column; erase to the end of the line */
    state.has_bar = false;
}

bool progress_is_shown(void) {
    return state.has_bar;
}

/* "12 s", "3 min 20 s", "2 h 5 min". */
static void format_duration(double seconds, char *text, size_t size) {
    long s = (long)(seconds + 0.5);
    if (s < 60)
        snprintf(text, size, "%ld s", s);
    else if (s < 3600)
        snprintf(text, size, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, size, "%ld h %ld min", s / 3600, s % 3600 / 60);
}

/* Redrawn in place; the escape sequence erases the rest of a longer line before it. */
static void draw_bar(double share, double rate, double remaining) {
    enum { CELLS = 30 };
    char bar[CELLS + 1], duration[32];
    for (int i = 0; i < CELLS; i++)
        bar[i] = i < (int)(share * CELLS) ? '#' : '-';
    bar[CELLS] = '\0';
    format_duration(remaining, duration, sizeof duration);
    fprintf(stderr, "\r%-8s [%s] %3.0f %%  %.3g/s  %s left\033[K", state.stage, bar, 100 * share,
            rate, duration);
    fflush(stderr);
    state.has_bar = true;
}

/* "huddle: graph 45 %, 1.2e+04/s, 32 s so far, 40 s left": the time so far is that of the whole
 * command. */
static void print_progress_line(double now, double share, double rate, double remaining) {
    char so_far[32], left[32];
    format_duration(now - state.opened, so_far, sizeof so_far);
    format_duration(remaining, left, sizeof left);
    fprintf(stderr, "huddle: %s%s %.0f %%, %.3g/s, %s so far, %s left\n", state.stage,
            strchr(state.stage, ':') == NULL ? "" : ",", 100 * share, rate, so_far, left);
    state.not_till = now + line_interval;
}

/* A new stage name starts a new estimate. */
static void begin_stage(const char *stage, double now) {
    clear_progress();
    snprintf(state.stage, sizeof state.stage, "%s", stage);
    state.began = now;
    print_detail("%s, after %.2f s", state.stage, now - state.opened);
}

/* Called about ten times a second at most, by the library. Nothing is drawn before the first unit
 * is done: there is no rate yet. */
void show_progress(const char *stage, double done, double total) {
    double now = read_clock(CLOCK_MONOTONIC);
    if (state.level == MESSAGES_QUIET || state.silent)
        return;
    /* "page: level 4 of 12" is part of the stage "page". */
    size_t name = strcspn(stage, ":");
    if (strncmp(state.stage, stage, name) != 0 || strcspn(state.stage, ":") != name)
        begin_stage(stage, now);
    snprintf(state.stage, sizeof state.stage, "%s", stage);
    /* The remaining time assumes that the rest is as fast as what is done. */
    double share = total > 0 && done < total ? done / total : 1, elapsed = now - state.began;
    double remaining = share > 0 ? elapsed * (1 - share) / share : 0;
    if (done <= 0 || elapsed <= 0)
        return;
    if (state.terminal && done >= total)
        clear_progress();
    else if (state.terminal)
        draw_bar(share, done / elapsed, remaining);
    else if (now >= state.not_till && done < total)
        print_progress_line(now, share, done / elapsed, remaining);
}
