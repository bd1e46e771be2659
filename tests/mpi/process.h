/* A process of a test under mpirun: its number, and checks that end the job. */
#ifndef HUDDLE_TESTS_MPI_PROCESS_H
#define HUDDLE_TESTS_MPI_PROCESS_H

#include "huddle/base.h"

#include <stdio.h>
#include <stdlib.h>

static huddle_context *context;
static int32_t rank, count;

/* Ends this process; the engine is open, so that exit() ends the others too. */
static void check(bool right, const char *what, int line) {
    if (right)
        return;
    fprintf(stderr, "process %d of %d, line %d: %s (%s)\n", rank, count, line, what,
            huddle_last_error());
    exit(EXIT_FAILURE);
}

#define CHECK(condition) check((condition), #condition, __LINE__)
#define CHECK_OK(call)   check((call) == HUDDLE_OK, #call, __LINE__)

#endif
