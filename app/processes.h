/* Several processes (mpirun with --engine mpi): all run the command, process 0 speaks for all. */
#ifndef HUDDLE_APP_PROCESSES_H
#define HUDDLE_APP_PROCESSES_H

#include "cli/arguments.h"

#include <huddle/base.h>

/* Before anything is printed: if the words of the command line choose the engine mpi, and the
 * launcher says that this is not process 0, nothing is printed by this process from now on. */
void processes_begin(int count, char **words);

/* At the end of the process: prints the failure of a process that process 0 could not know of. */
void processes_end(int result);

/* huddle_context_set_engine(). The engine mpi starts when all processes have started it; if they do
 * not within HUDDLE_MPI_START_SECONDS, this process exits with a message, and the launcher ends
 * the others. */
huddle_status processes_set_engine(huddle_context *context, const char *engine);

/* EXIT_FAILED on all processes, after a message of process 0, unless all run the same command with
 * the same options of methods. */
int processes_check_command(huddle_context *context, const cli_arguments *arguments);

/* Whether this process writes files: the only one, or process 0. */
bool processes_first(const huddle_context *context);

/* The exit status of the first process that failed, on all of them; process 0 prints its message
 * unless it printed one itself. A NULL context is one process. */
int processes_agree(huddle_context *context, int result);

/* A usage error if one of these flags is given and rows are distributed over processes; the names
 * end with NULL. */
int processes_refuse(const huddle_context *context, const cli_arguments *arguments,
                     const char *const *flags);

/* The labels of all rows on process 0, *n of them; NULL and 0 on the others. To be freed by
 * huddle_free(). */
huddle_status processes_gather(huddle_context *context, int64_t *n, const int32_t *labels,
                               int32_t **all);

#endif
