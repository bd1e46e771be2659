#define _XOPEN_SOURCE 700
#include "processes.h"

#include "cli/messages.h"
#include "cli/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of this process as the launcher sets it: Open MPI, PMIx, MPICH and Slurm. */
static bool is_other_process(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *rank = getenv(names[k]);
        if (rank != NULL)
            return strcmp(rank, "0") != 0;
    }
    return false;
}

/* "mpi", or "mpi:OPTIONS". */
static bool is_mpi(const char *engine) {
    return strncmp(engine, "mpi", 3) == 0 && (engine[3] == '\0' || engine[3] == ':');
}

/* The command line is not parsed yet: its mistakes too should be reported once. */
static bool chooses_mpi(int count, char **words) {
    for (int k = 1; k < count && words[k] != NULL; k++) {
        const char *value = NULL;
        if (strcmp(words[k], "--engine") == 0 && k + 1 < count)
            value = words[k + 1];
        else if (strncmp(words[k], "--engine=", 9) == 0)
            value = words[k] + 9;
        if (value != NULL && is_mpi(value))
            return true;
    }
    return false;
}

static struct {
    bool silent;  /* process 0 speaks for this one */
    bool started; /* and knows its failures */
} process;

void processes_begin(int count, char **words) {
    if (!chooses_mpi(count, words) || !is_other_process())
        return;
    messages_set_silent(true);
    process.silent = true;
    if (freopen("/dev/null", "w", stdout) == NULL)
        exit(EXIT_FAILED);
}

/* Process 0 makes the same mistake and reports it, unless mpirun was given several command lines:
 * the number of them is set by Open MPI. */
void processes_end(int result) {
    const char *lines = getenv("OMPI_NUM_APP_CTX");
    if (result == EXIT_DONE || !process.silent || process.started || lines == NULL ||
        strcmp(lines, "1") == 0)
        return;
    char message[1024];
    snprintf(message, sizeof message, "%s", messages_last_error()); /* failed() replaces it */
    messages_set_silent(false);
    (void)failed("%s", message);
}

/* ---- the start ------------------------------------------------------------------------------ */

/* MPI starts when all processes start it, and cannot be interrupted: all that is left is to say so
 * and to exit, which makes the launcher end the others. */
static void on_alarm(int number) {
    static const char text[] = "huddle: waited too long for the other processes to start MPI: all "
                               "processes of mpirun must run the same command with --engine mpi\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)number;
    (void)written; /* the compiler warns of a result that is ignored */
    _exit(EXIT_FAILED);
}

/* Thousands of processes take less than a minute to start. */
static unsigned start_seconds(void) {
    enum { USUAL = 180, MOST = 1000000 };
    const char *text = getenv("HUDDLE_MPI_START_SECONDS");
    long seconds = text == NULL ? 0 : strtol(text, NULL, 10);
    return seconds > 0 && seconds < MOST ? (unsigned)seconds : USUAL;
}

huddle_status processes_set_engine(huddle_context *context, const char *engine) {
    struct sigaction action = {.sa_handler = on_alarm}, before;
    if (!is_mpi(engine))
        return huddle_context_set_engine(context, engine);
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, &before);
    (void)alarm(start_seconds());
    huddle_status status = huddle_context_set_engine(context, engine);
    (void)alarm(0);
    process.started = status == HUDDLE_OK;
    sigaction(SIGALRM, &before, NULL);
    return status;
}

/* Flags that change no call of a process that all must make together. */
static const char *const free_flags[] = {"engine", "n-threads", "memory", "quiet", "verbose", NULL};

/* What decides which calls a process makes: the command, its method, the options of that, and which
 * files there are. Their names may differ. */
static void describe_command(const cli_arguments *arguments, char *text, size_t size) {
    snprintf(text, size, "huddle %s", arguments->command->name);
    for (int i = 0; i < arguments->n_settings; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if (setting->option != NULL)
            append_text(text, size, " %s=%s", setting->option, setting->value);
        else if (strcmp(setting->flag->name, "method") == 0)
            append_text(text, size, " -m %s", setting->value);
        else if (!is_listed(setting->flag->name, free_flags))
            append_text(text, size, " --%s", setting->flag->name);
    }
}

int processes_check_command(huddle_context *context, const cli_arguments *arguments) {
    enum { SIZE = 400 };
    char own[SIZE] = "", first[SIZE] = "";
    int result = EXIT_DONE;
    if (huddle_context_processes(context) == 1)
        return EXIT_DONE;
    describe_command(arguments, own, sizeof own);
    memcpy(first, own, sizeof own);
    if (huddle_context_share(context, 0, sizeof first, first) != HUDDLE_OK)
        return failed("%s", huddle_last_error());
    if (strcmp(own, first) != 0)
        result = failed("processes run different commands: '%s', but process 0 '%s'", own, first);
    return processes_agree(context, result);
}

/* ---- results -------------------------------------------------------------------------------- */

bool processes_first(const huddle_context *context) {
    return huddle_context_process(context) == 0;
}

/* What a process tells the first one. */
typedef struct outcome {
    int result;
    char message[1020];
} outcome;

int processes_agree(huddle_context *context, int result) {
    int32_t count = huddle_context_processes(context);
    outcome own = {.result = result};
    void *all = NULL;
    int decided = result;
    if (count == 1)
        return result;
    snprintf(own.message, sizeof own.message, "%s", messages_last_error());
    if (huddle_context_gather(context, sizeof own, &own, NULL, &all) != HUDDLE_OK)
        return result == EXIT_DONE ? failed("%s", huddle_last_error()) : result;
    if (processes_first(context)) {
        const outcome *outcomes = all;
        for (int32_t r = 0; r < count && decided == EXIT_DONE; r++) {
            decided = outcomes[r].result;
            if (decided != EXIT_DONE)
                (void)failed("%s (process %d of %d)", outcomes[r].message, r, count);
        }
    }
    huddle_free(all);
    if (huddle_context_share(context, 0, sizeof decided, &decided) != HUDDLE_OK)
        return result == EXIT_DONE ? failed("%s", huddle_last_error()) : result;
    return decided;
}

int processes_refuse(const huddle_context *context, const cli_arguments *arguments,
                     const char *const *flags) {
    if (!is_mpi(huddle_context_engine(context)))
        return EXIT_DONE;
    const char *given = argument_any(arguments, flags);
    return given == NULL ? EXIT_DONE
                         : usage_error("--%s needs all rows on one process and is not available "
                                       "with --engine mpi",
                                       given);
}

huddle_status processes_gather(huddle_context *context, int64_t *n, const int32_t *labels,
                               int32_t **all) {
    int32_t count = huddle_context_processes(context);
    int64_t *sizes = check_allocation(calloc((size_t)count, sizeof *sizes));
    void *bytes = NULL;
    huddle_status status =
        huddle_context_gather(context, *n * (int64_t)sizeof *labels, labels, sizes, &bytes);
    *n = 0;
    for (int32_t r = 0; r < count; r++)
        *n += sizes[r] / (int64_t)sizeof *labels;
    *all = bytes;
    free(sizes);
    return status;
}
