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

static int n_open;   /* engines that have not been closed */
static bool started; /* MPI was started here */

/* ---- start and end of MPI ------------------------------------------------------------------ */

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
    started = true;
    atexit(end_mpi);
done:
    return status;
}

/* ---- options ------------------------------------------------------------------------------- */

/* "" is MPI_COMM_WORLD; "comm=N" the communicator whose Fortran handle is N, which is how Python
 * and others pass one on. */
static huddle_status parse_options(const char *options, MPI_Comm *comm) {
    huddle_status status = HUDDLE_OK;
    char *end = NULL;
    *comm = MPI_COMM_WORLD;
    if (options[0] == '\0')
        goto done;
    if (strncmp(options, "comm=", 5) == 0) {
        long handle = strtol(options + 5, &end, 10);
        if (end != options + 5 && *end == '\0' && handle >= 0) {
            *comm = MPI_Comm_f2c((MPI_Fint)handle);
            goto done;
        }
    }
    FAIL(HUDDLE_INVALID,
         "engine mpi takes the option comm=HANDLE, a communicator's Fortran "
         "handle, not '%s'",
         options);
done:
    return status;
}

/* ---- open and close ------------------------------------------------------------------------ */

/* Processes of one machine share its memory, and those with the same CPUs, which mpirun may bind
 * them to, share these: each gets its part of the threads. */
static huddle_status share_machine(huddle_context *context, hd_mpi *m) {
    huddle_status status = HUDDLE_OK;
    MPI_Comm machine;
    int neighbors = 1;
    int32_t same = 0;
    cpu_set_t own, *all = NULL;
    MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &neighbors);
    CPU_ZERO(&own);
    (void)sched_getaffinity(0, sizeof own, &own);
    ALLOC(all, neighbors);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine);
    for (int k = 0; k < neighbors; k++)
        same += CPU_EQUAL(&own, &all[k]) != 0;
    context->n_sharing = neighbors;
    context->n_threads = context->n_threads > same ? context->n_threads / same : 1;
done:
    huddle_free(all);
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
    hd_mpi *m = NULL;
    TRY(start_mpi());
    TRY(parse_options(options, &comm));
    /* Starting PETSc is collective. The communicator may lack processes of MPI_COMM_WORLD, and the
     * next engine may have another one. */
    TRY(hd_mpi_petsc_begin(MPI_COMM_SELF));
    ALLOC_ZERO(m, 1);
    MPI_Comm_dup(comm, &m->comm);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->count);
    TRY(share_machine(context, m));
    n_open++;
    *state = m;
    m = NULL;
done:
    huddle_free(m);
    return status;
}

MPI_Comm hd_mpi_communicator(const huddle_context *context) {
    const hd_mpi *m = hd_context_engine_state(context);
    return m->comm;
}

/* ---- the table ----------------------------------------------------------------------------- */

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
                                      .partition = hd_mpi_partition};

static const hd_engine engine = {.text = {"mpi", "several processes (MPI, PETSc)"},
                                 .open = open_engine,
                                 .close = close_engine,
                                 .slabs = &slabs,
                                 .linear_solver = &hd_mpi_linear_solver};

HD_ENGINE_MODULE(engine)
