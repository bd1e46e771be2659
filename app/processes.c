#include "processes.h"

#include "cli/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    for (int k = 1; k < count; k++) {
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

void processes_begin(int count, char **words) {
    if (!chooses_mpi(count, words) || !is_other_process())
        return;
    messages_set_silent(true);
    if (freopen("/dev/null", "w", stdout) == NULL)
        exit(EXIT_FAILED);
}

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
    for (; *flags != NULL; flags++)
        if (argument(arguments, *flags) != NULL)
            return usage_error("--%s needs all rows on one process and is not available with "
                               "--engine mpi",
                               *flags);
    return EXIT_DONE;
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
