/* One status for all processes. A collective call of MPI waits for all processes, so none may leave
 * the common sequence of calls alone: a failure is told to the others in the first message of
 * whatever they do next. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCE = 1024 };

/* The failure of process `from`, on all processes. It is named unless all failed. */
static huddle_status tell_failure(hd_mpi *m, int from, bool all, huddle_status status) {
    char sentence[SENTENCE] = "";
    int code = (int)status;
    if (m->rank == from)
        snprintf(sentence, sizeof sentence, "%s", huddle_last_error());
    MPI_Bcast(&code, 1, MPI_INT, from, m->comm);
    MPI_Bcast(sentence, SENTENCE, MPI_CHAR, from, m->comm);
    m->agreed = (huddle_status)code;
    if (all || m->agreed == HUDDLE_CANCELLED)
        return hd_fail(m->agreed, "%s", sentence);
    return hd_fail(m->agreed, "%s (process %d of %d)", sentence, from, m->count);
}

huddle_status hd_mpi_meet(hd_mpi *m, huddle_status status) {
    int failed = status != HUDDLE_OK;
    /* The first process that failed, and whether all did. */
    int facts[2] = {failed ? m->rank : m->count, failed};
    m->agreed = HUDDLE_OK;
    MPI_Allreduce(MPI_IN_PLACE, facts, 2, MPI_INT, MPI_MIN, m->comm);
    return facts[0] == m->count ? HUDDLE_OK : tell_failure(m, facts[0], facts[1] == 1, status);
}

/* A failure that all know of passes through the callers on its way up, each of which agrees again:
 * nothing is left to tell then, and the number of callers may differ between processes. */
huddle_status hd_mpi_agree(void *state, huddle_status status) {
    hd_mpi *m = state;
    if (status != HUDDLE_OK && status == m->agreed)
        return status;
    return hd_mpi_meet(m, status);
}
