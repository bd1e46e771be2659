/* Replaces hd_io_hdf5_try() in fuzz targets. That starts a process for each file, which costs more
 * than ten times as much as reading the file. Here one process tries many files; only one that a
 * file has killed is replaced. */
#define hd_io_hdf5_try hd_io_hdf5_try_once
#include "io/hdf5_trial.c" /* try_to_read() and confine_process() are what is fuzzed */
#undef hd_io_hdf5_try

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Files per process: HDF5 leaks when it refuses a file, and the process has MAX_SECONDS of CPU time
 * in all. A file that takes longer than MAX_WAIT ms is refused: some keep HDF5 busy for ever. */
enum { MAX_FILES = 1000, MAX_WAIT = 200 };

typedef struct question {
    char path[256];
    huddle_status (*open_it)(const hd_file *file, hd_io_container *container);
} question;

static struct {
    pid_t process;
    int to, from, files;
} server = {.process = -1};

static bool answer(const question *asked) {
    hd_file file;
    bool good = hd_file_open(asked->path, &file) == HUDDLE_OK && try_to_read(&file, asked->open_it);
    hd_file_close(&file);
    return good;
}

/* Answers questions until there are no more. What the sanitizers say of a file that kills the
 * process is added to the file named by HUDDLE_FUZZ_TRIALS: HDF5 may be to blame, or Huddle. */
static void serve(int from, int to) {
    question asked;
    const char *log = getenv("HUDDLE_FUZZ_TRIALS");
    confine_process();
    int file = log != NULL ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file >= 0)
        (void)dup2(file, 2);
    while (read(from, &asked, sizeof asked) == (ssize_t)sizeof asked) {
        char good = answer(&asked) ? 1 : 0;
        if (write(to, &good, 1) != 1)
            break;
    }
    _exit(0);
}

static void stop_server(void) {
    close(server.to);
    close(server.from);
    kill(server.process, SIGKILL);
    waitpid(server.process, NULL, 0);
    server.process = -1;
}

static void start_server(void) {
    int questions[2], answers[2];
    if (pipe(questions) != 0 || pipe(answers) != 0)
        abort();
    server.process = fork();
    if (server.process < 0)
        abort();
    if (server.process == 0) {
        close(questions[1]);
        close(answers[0]);
        serve(questions[0], answers[1]);
    }
    close(questions[0]);
    close(answers[1]);
    server.to = questions[1];
    server.from = answers[0];
    server.files = 0;
}

bool hd_io_hdf5_try(const hd_file *file,
                    huddle_status (*open_it)(const hd_file *file, hd_io_container *container)) {
    question asked = {.open_it = open_it};
    char good = 0;
    if (server.process >= 0 && server.files++ == MAX_FILES)
        stop_server();
    if (server.process < 0)
        start_server();
    snprintf(asked.path, sizeof asked.path, "%s", file->path);
    struct pollfd end = {.fd = server.from, .events = POLLIN};
    bool answered = write(server.to, &asked, sizeof asked) == (ssize_t)sizeof asked &&
                    poll(&end, 1, MAX_WAIT) == 1 && read(server.from, &good, 1) == 1;
    if (!answered)
        stop_server();
    return answered && good != 0;
}
