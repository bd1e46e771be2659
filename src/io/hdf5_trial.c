/* HDF5 trusts what it reads: a damaged file may crash it, or keep it in an endless loop. A file is
 * therefore first tried in a process of its own, which lists it and reads what is small in it. */
#define _GNU_SOURCE
#include "io/hdf5.h"

#include "base/memory.h"
#include "io/container.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the trial reads (elements of a variable) and may use (seconds of CPU time, bytes beyond
 * what the process already has). */
enum { SMALL = 1 << 17, MAX_SECONDS = 20, MAX_BYTES = 1 << 30 };

/* A crash is silent, leaves no core file, and cannot exhaust the machine's memory. Handlers
 * that the calling program installed (Python's faulthandler, a debugger's) must not run in the
 * child. The memory limit counts from the data size of the process, field 6 of
 * /proc/self/statm, because the child inherits all of it. */
static void confine_process(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        (void)signal(signals[k], SIG_DFL);
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (quiet >= 0)
        (void)dup2(quiet, 2);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){MAX_SECONDS, MAX_SECONDS});
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return;
    if (fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) == 1) {
        rlim_t max_bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MAX_BYTES;
        (void)setrlimit(RLIMIT_DATA, &(struct rlimit){max_bytes, max_bytes});
    }
    fclose(file);
}

static bool is_small(const hd_io_variable *variable) {
    int64_t limit = SMALL * hd_io_element_size(variable->array.element);
    return variable->kind != HD_IO_OTHER && hd_io_array_count(&variable->array, limit) >= 0;
}

/* Small variables are read as well: a damaged file often opens and lists, and fails in its
 * data. */
static bool try_to_read(const hd_file *file, hd_io_hdf5_opener open_it) {
    hd_io_container container = {.file = file};
    bool good = open_it(file, &container) == HUDDLE_OK;
    for (int64_t k = 0; good && k < container.count; k++) {
        hd_io_variable *variable = &container.variables[k];
        if (is_small(variable)) /* a failure is reported when the variable is used */
            (void)hd_io_variable_load(&container, variable);
        hd_io_variable_unload(&container, variable);
    }
    hd_io_container_close(&container);
    return good;
}

bool hd_io_hdf5_try(const hd_file *file, hd_io_hdf5_opener open_it) {
    int status = 0;
    hd_io_hdf5_lock(); /* no other thread is inside HDF5 at the moment of the fork, so the child's
                          copy is consistent */
    pid_t child = fork();
    hd_io_hdf5_unlock();
    if (child == 0) {
        confine_process();
        /* Tests that make allocations fail count those of the parent only. */
        (void)hd_memory_fail_at(0);
        _exit(try_to_read(file, open_it) ? 0 : 1);
    }
    if (child < 0)
        return true; /* no process to spare: take the risk */
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return true; /* somebody else took the child's end */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
