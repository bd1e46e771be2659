/* One thread at a time inside HDF5, which prints nothing meanwhile. */
#include "io/hdf5.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t callers_printer; /* guarded by library */
static void *callers_stream;
static bool failed; /* a call inside HDF5 has failed; guarded by library */

/* Called by HDF5 for every error; nothing is printed, but end_quietly() has to know. */
static herr_t record_failure(hid_t stack, void *unused) {
    (void)stack;
    (void)unused;
    failed = true;
    return 0;
}

/* HDF5 leaks identifiers when it fails on a damaged file, and prints "infinite loop closing
 * library" when the process ends unless the printing of errors is off. Exit handlers run in
 * reverse order: HDF5's own was registered before, so this one runs first. */
static void end_quietly(void) {
    if (failed)
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The caller's program may use HDF5 too: its error printer is restored by hd_io_hdf5_unlock().
 * H5Eget_auto2() also initialises HDF5, before atexit() is called. */
void hd_io_hdf5_lock(void) {
    static bool registered;
    pthread_mutex_lock(&library);
    H5Eget_auto2(H5E_DEFAULT, &callers_printer, &callers_stream);
    H5Eset_auto2(H5E_DEFAULT, record_failure, NULL);
    if (!registered)
        registered = atexit(end_quietly) == 0;
}

void hd_io_hdf5_unlock(void) {
    H5Eset_auto2(H5E_DEFAULT, callers_printer, callers_stream);
    pthread_mutex_unlock(&library);
}
