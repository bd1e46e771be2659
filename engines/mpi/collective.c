/* One status for all processes. A collective call of MPI waits for all processes, so none may leave
 * the common sequence of calls alone: a failure is told to the others in the first message of
 * whatever they do next. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024 };

/* Remembers a failure that all processes know, after hd_fail(). */
static huddle_status keep_failure(hd_mpi *m, huddle_status status) {
    m->agreed = status;
    snprintf(m->message, sizeof m->message, "%s", huddle_last_error());
    return status;
}

/* Whether the present failure is that one: callers may have put the name of a file before the
 * message. */
static bool is_known(const hd_mpi *m, huddle_status status) {
    const char *message = huddle_last_error();
    size_t length = strlen(message), known = strlen(m->message);
    return status == m->agreed && length >= known &&
           strcmp(message + length - known, m->message) == 0;
}

/* The failure of process `from`, on all processes. It is named unless all failed. */
static huddle_status tell_failure(hd_mpi *m, int from, bool all, huddle_status status) {
    char message[MESSAGE_SIZE] = "";
    int code = (int)status;
    if (m->rank == from)
        snprintf(message, sizeof message, "%s", huddle_last_error());
    MPI_Bcast(&code, 1, MPI_INT, from, m->comm);
    MPI_Bcast(message, MESSAGE_SIZE, MPI_CHAR, from, m->comm);
    status = (huddle_status)code;
    if (all || status == HUDDLE_CANCELLED)
        (void)hd_fail(status, "%s", message);
    else
        (void)hd_fail(status, "%s (process %d of %d)", message, from, m->count);
    return keep_failure(m, status);
}

static const char *const call_names[] = {
    [HD_MPI_AGREE] = "agree",       [HD_MPI_LOCATE] = "locate",      [HD_MPI_REDUCE] = "reduce",
    [HD_MPI_EXCHANGE] = "exchange", [HD_MPI_PASS] = "pass",          [HD_MPI_HALO] = "halo",
    [HD_MPI_FETCH] = "fetch",       [HD_MPI_PARTITION] = "partition"};

/* One message: minima over the processes of the first one that failed, of whether all did, and of
 * the call and its count and their negatives. A process that failed is in any call. */
static huddle_status enter(hd_mpi *m, huddle_status status, hd_mpi_call call, int64_t count) {
    bool failed = status != HUDDLE_OK;
    int64_t facts[6] = {m->count, failed, call, -(int64_t)call, count, -count};
    if (failed) {
        facts[0] = m->rank;
        for (int k = 2; k < 6; k++)
            facts[k] = INT64_MAX;
    }
    m->agreed = HUDDLE_OK;
    MPI_Allreduce(MPI_IN_PLACE, facts, 6, MPI_INT64_T, MPI_MIN, m->comm);
    if (facts[0] < m->count)
        return tell_failure(m, (int)facts[0], facts[1] == 1, status);
    if (facts[2] == -facts[3] && facts[4] == -facts[5])
        return HUDDLE_OK;
    (void)hd_fail(HUDDLE_INTERNAL, "processes are out of step: this one is in %s of %lld",
                  call_names[call], (long long)count);
    return keep_failure(m, HUDDLE_INTERNAL);
}

huddle_status hd_mpi_enter(hd_mpi *m, hd_mpi_call call, int64_t count) {
    return enter(m, HUDDLE_OK, call, count);
}

huddle_status hd_mpi_leave(hd_mpi *m, huddle_status status) {
    return status == HUDDLE_OK ? status : hd_mpi_agree(m, status);
}

/* A failure that all know of passes through the callers on its way up, each of which agrees again:
 * nothing is left to tell then, and the number of callers may differ between processes. */
huddle_status hd_mpi_agree(void *state, huddle_status status) {
    hd_mpi *m = state;
    if (status != HUDDLE_OK && is_known(m, status))
        return status;
    return enter(m, status, HD_MPI_AGREE, 0);
}
