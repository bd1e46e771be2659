#define _XOPEN_SOURCE 700
/* The tool: finds the command, parses its arguments and runs it. */
#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "cli/documents.h"
#include "cli/messages.h"
#include "commands.h"
#include "processes.h"
#include "streams.h"

#include <huddle/base.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The order of --help: the work first, then data, then information about the tool. */
const cli_command *const commands[] = {&cluster_command,
                                       &path_command,
                                       &refine_command,
                                       &predict_command,
                                       &score_command,
                                       &experiment_command,
                                       &paper_command,
                                       &info_command,
                                       &convert_command,
                                       &generate_command,
                                       &methods_command,
                                       &engines_command,
                                       &options_command,
                                       &help_command,
                                       &man_command,
                                       &completion_command,
                                       NULL};

/* What a command prints if it is not run. --help and --version win over missing operands: see
 * arguments_parse(). */
static bool print_about(const cli_arguments *arguments) {
    if (argument(arguments, "help") != NULL)
        print_command_help(arguments->command);
    else if (argument(arguments, "version") != NULL)
        printf("huddle %s\n", huddle_version());
    else
        return false;
    return true;
}

/* Help that was asked for is printed to stdout and is a success; help after a mistake is
 * printed to stderr. */
static int run_command(int count, char **words) {
    if (count < 2) {
        print_general_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        print_general_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0) {
        printf("huddle %s\n", huddle_version());
        return EXIT_DONE;
    }
    if (words[1][0] == '-')
        return usage_error("a command must precede the options; see huddle help");
    const cli_command *command = find_command(words[1]);
    if (command == NULL)
        return EXIT_USAGE;
    cli_arguments arguments = {0};
    int result = arguments_parse(command, count - 2, words + 2, &arguments);
    if (result == EXIT_DONE && !print_about(&arguments)) {
        result = streams_begin(&arguments);
        if (result == EXIT_DONE)
            result = command->run(&arguments);
        result = streams_end(result);
    }
    arguments_free(&arguments);
    return result;
}

/* ---- the stack ------------------------------------------------------------------------------ */

typedef struct command_line {
    int count;
    char **words;
    int result;
} command_line;

static void *run_in_thread(void *argument) {
    command_line *line = argument;
    line->result = run_command(line->count, line->words);
    return NULL;
}

/* LAPACK, CHOLMOD and HDF5 expect the stack that processes usually have. Where there is less
 * (ulimit -s), the command runs in a thread, whose stack has any size. */
static int run_with_stack(int count, char **words) {
    static const size_t usual = (size_t)8 << 20, enough = (size_t)1 << 20;
    command_line line = {count, words, EXIT_FAILED};
    struct rlimit limit;
    pthread_attr_t attributes;
    pthread_t thread;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= enough)
        return run_command(count, words);
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, usual) != 0 ||
        pthread_create(&thread, &attributes, run_in_thread, &line) != 0)
        return failed(
            "the stack (ulimit -s) has less than 1 MB, and there is no memory for another");
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return line.result;
}

/* ---- the address space ---------------------------------------------------------------------- */

static bool is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* OpenBLAS starts its threads when it is loaded, before main(). Each tries forever to allocate 128
 * MB where the address space is limited (ulimit -v), and exit() waits for them. The tool does not
 * use these threads: it starts again without them. */
static void leave_blas_threads(char **words) {
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    if ((!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) ||
        (threads != NULL && strcmp(threads, "1") == 0))
        return;
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0)
        (void)execv("/proc/self/exe", words);
}

/* Closing stdout is part of the result: output lost to a full disk must not exit with 0. */
int main(int count, char **words) {
    /* A file that grows beyond what is allowed (ulimit -f) is a failing write, as on a full disk.
     */
    (void)signal(SIGXFSZ, SIG_IGN);
    leave_blas_threads(words);
    streams_reserve();
    processes_begin(count, words);
    int result = run_with_stack(count, words);
    catalogue_free();
    processes_end(result);
    int closed = close_output();
    return result != EXIT_DONE ? result : closed;
}
