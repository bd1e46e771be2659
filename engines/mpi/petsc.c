/* PETSc itself: it is started without command line, configuration files and signal handlers, since
 * the program belongs to someone else, and its errors become failures of the library. */
#include "base/check.h"
#include "engines/mpi/mpi_engine.h"

#include <stdio.h>

/* The message of the last error. PETSc calls the handler for every function on the way up, the
 * innermost first. */
static char last_error[512];

static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *function, const char *file,
                                 PetscErrorCode code, PetscErrorType type, const char *message,
                                 void *user) {
    (void)comm, (void)line, (void)file, (void)user;
    if (type == PETSC_ERROR_INITIAL)
        snprintf(last_error, sizeof last_error, "%s: %s", function, message);
    return code;
}

huddle_status hd_mpi_petsc_begin(MPI_Comm comm) {
    huddle_status status = HUDDLE_OK;
    static bool begun; /* here; the program may have started PETSc itself */
    PetscBool started = PETSC_FALSE;
    const char *what = "starting PETSc";
    if (begun)
        goto done;
    TRY_PETSC(PetscInitialized(&started), what);
    if (!started) {
        PETSC_COMM_WORLD = comm;
        TRY_PETSC(PetscOptionsSetValue(NULL, "-no_signal_handler", "1"), what);
        TRY_PETSC(PetscOptionsSetValue(NULL, "-skip_petscrc", "1"), what);
        TRY_PETSC(PetscInitializeNoArguments(), what);
    }
    TRY_PETSC(PetscPushErrorHandler(keep_error, NULL), what);
    begun = true;
done:
    return status;
}

huddle_status hd_mpi_petsc_status(PetscErrorCode code, const char *what) {
    if (code == 0)
        return HUDDLE_OK;
    huddle_status status = code == PETSC_ERR_MEM ? HUDDLE_NO_MEMORY : HUDDLE_NUMERIC;
    (void)hd_fail(status, "%s failed: PETSc error %d%s%s", what, (int)code,
                  last_error[0] != '\0' ? ", " : "", last_error);
    last_error[0] = '\0';
    return status;
}
