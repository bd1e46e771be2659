#define _GNU_SOURCE /* sched_getaffinity */
/* The table of the engine, and how it starts and ends. MPI may have been started by the program
 * (mpi4py, an application of the library), which then also ends it. */
#include "base/check.h"
#include "base/context.h"
#include "engines/module.h"
#include "engines/mpi/mpi_engine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int n_open; /* engines that have not been closed */

/* Called by exit(). An engine that is still open means that this process leaves alone, in the
 * middle of a computation: the others would wait for it forever. */
static void end_mpi(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended)
        return;
    if (n_open > 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    (void)PetscFinalize();
    MPI_Finalize();
}

static huddle_status start_mpi(void) {
    huddle_status status = HUDDLE_OK;
    int before = 0, ended = 0, provided = 0;
    MPI_Initialized(&before);
    MPI_Finalized(&ended);
    if (ended)
        FAIL(HUDDLE_UNSUPPORTED, "engine mpi: the program has ended MPI already");
    if (before)
        goto done;
    /* Python calls the library from a thread of its own while the main thread waits for signals. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        FAIL(HUDDLE_UNSUPPORTED, "engine mpi: MPI could not be started");
    atexit(end_mpi);
done:
    return status;
}

/* The default of few_rows: an embedding of that many rows takes about half a second. */
static const int64_t usual_few_rows = 1 << 15;

/* A number after `name=`, up to a comma or the end; *text moves behind it. */
static bool read_number(const char **text, const char *name, long *number) {
    size_t length = strlen(name);
    char *end = NULL;
    if (strncmp(*text, name, length) != 0 || (*text)[length] != '=')
        return false;
    *number = strtol(*text + length + 1, &end, 10);
    if (end == *text + length + 1 || *number < 0 || (*end != '\0' && *end != ','))
        return false;
    *text = *end == ',' ? end + 1 : end;
    return true;
}

/* comm=N: the communicator whose Fortran handle is N, which is how Python and others pass one on,
 * instead of MPI_COMM_WORLD. few_rows=N: 0 makes small problems use all processes, for tests. */
static huddle_status parse_options(const char *text, MPI_Comm *comm, int64_t *few_rows) {
    huddle_status status = HUDDLE_OK;
    long number;
    *comm = MPI_COMM_WORLD;
    *few_rows = usual_few_rows;
    while (text[0] != '\0') {
        if (read_number(&text, "comm", &number))
            *comm = MPI_Comm_f2c((MPI_Fint)number);
        else if (read_number(&text, "few_rows", &number))
            *few_rows = number;
        else
            FAIL(HUDDLE_INVALID,
                 "engine mpi takes the options comm=N, a communicator's Fortran "
                 "handle, and few_rows=N, separated by a comma, not '%s'",
                 text);
    }
done:
    return status;
}

/* How many of the processes of a machine have the same CPUs as this one, which mpirun may bind them
 * to; 0 if there is no memory, on all of them. */
static int32_t count_same(MPI_Comm machine, int neighbors) {
    cpu_set_t own, *all = hd_alloc(neighbors, sizeof own);
    int allocated = all != NULL;
    int32_t same = 0;
    CPU_ZERO(&own);
    (void)sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(MPI_IN_PLACE, &allocated, 1, MPI_INT, MPI_MIN, machine);
    if (allocated) {
        MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine);
        for (int k = 0; k < neighbors; k++)
            same += CPU_EQUAL(&own, &all[k]) != 0;
    }
    huddle_free(all);
    return same;
}

/* Processes of one machine share its memory, and those with the same CPUs share these: each gets
 * its part of the threads. A context that had this engine before has its part already. */
static huddle_status share_machine(huddle_context *context, hd_mpi *m) {
    huddle_status status = HUDDLE_OK;
    MPI_Comm machine;
    int neighbors = 1;
    MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &neighbors);
    int32_t same = count_same(machine, neighbors), threads = huddle_context_threads(context);
    if (same > 0 && context->n_sharing == 0)
        TRY(huddle_context_set_threads(context, threads > same ? threads / same : 1));
    context->n_sharing = neighbors;
done:
    MPI_Comm_free(&machine);
    return status;
}

static void close_engine(void *state) {
    hd_mpi *m = state;
    int ended = 0;
    if (m == NULL)
        return;
    n_open--;
    MPI_Finalized(&ended);
    if (!ended)
        MPI_Comm_free(&m->comm);
    huddle_free(m);
}

static huddle_status open_engine(huddle_context *context, const char *options, void **state) {
    huddle_status status = HUDDLE_OK;
    MPI_Comm comm;
    int64_t few_rows;
    hd_mpi *m = NULL;
    TRY(start_mpi());
    TRY(parse_options(options, &comm, &few_rows));
    /* Starting PETSc is collective. The communicator may lack processes of MPI_COMM_WORLD, and the
     * next engine may have another one. */
    TRY(hd_mpi_petsc_begin(MPI_COMM_SELF));
    if (comm == MPI_COMM_NULL)
        FAIL(HUDDLE_INVALID, "engine mpi: '%s' is no communicator", options);
    ALLOC_ZERO(m, 1);
    m->few_rows = few_rows;
    MPI_Comm_dup(comm, &m->comm);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->count);
    TRY(share_machine(context, m));
    n_open++;
    *state = m;
    m = NULL;
done:
    if (m != NULL)
        MPI_Comm_free(&m->comm);
    huddle_free(m);
    return status;
}

MPI_Comm hd_mpi_communicator(const huddle_context *context) {
    const hd_mpi *m = hd_context_engine_state(context);
    return m->comm;
}

static int64_t few_rows_of(const void *state) {
    return ((const hd_mpi *)state)->few_rows;
}

static const hd_engine_slabs slabs = {.place = hd_mpi_place,
                                      .locate = hd_mpi_locate,
                                      .reduce = hd_mpi_reduce,
                                      .agree = hd_mpi_agree,
                                      .open_halo = hd_mpi_open_halo,
                                      .fetch_halo = hd_mpi_fetch_halo,
                                      .close_halo = hd_mpi_close_halo,
                                      .exchange = hd_mpi_exchange,
                                      .start_pass = hd_mpi_start_pass,
                                      .finish_pass = hd_mpi_finish_pass,
                                      .few_rows = few_rows_of,
                                      .partition = hd_mpi_partition};

static const hd_engine engine = {.text = {"mpi", "several processes (MPI, PETSc)"},
                                 .open = open_engine,
                                 .close = close_engine,
                                 .slabs = &slabs,
                                 .linear_solver = &hd_mpi_linear_solver};

HD_ENGINE_MODULE(engine)
