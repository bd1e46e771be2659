#define _DEFAULT_SOURCE /* flock() */
#include "streams.h"

#include "cli/messages.h"
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char input_path[] = "/dev/stdin";

/* There is one stdin and one stdout in a process. */
static struct {
    bool reads, quiet;
    int output;      /* the stdout that the process was started with; 0: it is not replaced */
    char path[4200]; /* the file that stands for it, or "" */
} streams;

/* ---- closed streams ------------------------------------------------------------------------- */

/* The lowest free descriptor is the one that open() returns. Reading from a file that is open for
 * writing fails with EBADF, as it should, and the other way round. */
void streams_reserve(void) {
    for (int k = STDIN_FILENO; k <= STDERR_FILENO; k++)
        if (fcntl(k, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", k == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* They are in a folder that nobody else can read, made when it is first asked for. Folders are
 * numbered, each in use by one process, which holds a lock on it. A process that is killed loses
 * its lock but leaves its folder; it is recognised by that. */
static struct {
    char folder[4096]; /* or "" */
    int lock;
} scratch;

/* Where temporary folders are made. */
static const char *scratch_base(void) {
    const char *base = getenv("TMPDIR");
    return base == NULL || base[0] == '\0' ? "/tmp" : base;
}

/* With the name of the machine: others that share the file system may not see its locks. */
static void write_name(char *name, size_t size, int number) {
    char host[65] = "";
    (void)gethostname(host, sizeof host - 1);
    snprintf(name, size, "%s/huddle-%lu-%s-%d", scratch_base(), (unsigned long)geteuid(), host,
             number);
}

/* A descriptor that holds the lock of the folder, or -1 if it is another user's or in use. The name
 * is compared while the lock is held: the folder may have been removed since it was opened. */
static int lock_folder(const char *name) {
    struct stat own, named;
    int descriptor = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor >= 0 && fstat(descriptor, &own) == 0 && own.st_uid == geteuid() &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 && lstat(name, &named) == 0 &&
        own.st_dev == named.st_dev && own.st_ino == named.st_ino)
        return descriptor;
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

static void remove_folder(const char *name) {
    DIR *folder = opendir(name);
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." are no files */
    closedir(folder);
    (void)rmdir(name);
}

/* Numbers are used from 0 on, so that those of abandoned folders are small. */
static void remove_abandoned(void) {
    enum { MAX_ABANDONED = 16 };
    char name[sizeof scratch.folder];
    for (int k = 0; k < MAX_ABANDONED; k++) {
        write_name(name, sizeof name, k);
        int lock = lock_folder(name);
        if (lock < 0)
            continue;
        remove_folder(name);
        close(lock);
    }
}

/* Also called at exit. */
static void scratch_remove(void) {
    if (scratch.folder[0] == '\0')
        return;
    remove_folder(scratch.folder);
    if (scratch.lock >= 0)
        close(scratch.lock);
    scratch.folder[0] = '\0';
}

/* mkdir() refuses existing names and links, so that names need not be unpredictable. Another
 * process may take the folder for abandoned before it is locked: the next number is tried then.
 * Where the file system has no locks, none is needed: nobody else can lock the folder either. NULL
 * after a message. */
static const char *scratch_folder(void) {
    enum { MAX_NUMBER = 1000 };
    char name[sizeof scratch.folder];
    if (scratch.folder[0] != '\0')
        return scratch.folder;
    remove_abandoned();
    for (int k = 0; k < MAX_NUMBER; k++) {
        write_name(name, sizeof name, k);
        if (mkdir(name, S_IRWXU) != 0) {
            if (errno == EEXIST)
                continue;
            break;
        }
        errno = 0;
        scratch.lock = lock_folder(name);
        if (scratch.lock < 0 && errno != ENOLCK && errno != EOPNOTSUPP)
            continue;
        memcpy(scratch.folder, name, sizeof name);
        (void)atexit(scratch_remove);
        return scratch.folder;
    }
    (void)failed("%s: cannot create a temporary folder: %s", name, strerror(errno));
    return NULL;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_stream(const char *value) {
    return strcmp(value, "-") == 0 || strcmp(value, input_path) == 0 ||
           strcmp(value, "/dev/stdout") == 0;
}

/* Commands that write to stdout unless -o names a file. */
static bool prints_by_default(const cli_arguments *arguments) {
    return argument(arguments, "output") == NULL &&
           (argument(arguments, "append") != NULL ||
            strcmp(arguments->command->name, "generate") == 0);
}

/* A file in the place of stdout, and from here on stdio's stdout is stderr. Files of a format that
 * the user chooses are named after it. */
static int replace_stdout(const char *name, const char *format) {
    const char *folder = scratch_folder();
    if (folder == NULL)
        return EXIT_FAILED;
    snprintf(streams.path, sizeof streams.path, "%s/%s%s", folder, format == NULL ? name : "data.",
             format == NULL ? "" : format);
    (void)fflush(stdout);
    int silence = streams.quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
    streams.output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (streams.output < 0 || silence < 0 || dup2(silence, STDOUT_FILENO) < 0)
        return failed("standard output: %s", strerror(errno));
    return EXIT_DONE;
}

/* Replaces a "-" that was given at `word`: for stdout, whose files have this name, or for stdin if
 * name is NULL. */
static int replace(const cli_arguments *arguments, const char **value, const char *word,
                   const char *name) {
    if (name == NULL ? streams.reads : streams.output != 0)
        return usage_error("%s: standard %s can be %s only once", word,
                           name == NULL ? "input" : "output", name == NULL ? "read" : "written");
    streams.reads = streams.reads || name == NULL;
    *value = name == NULL ? input_path : streams.path;
    return name == NULL ? EXIT_DONE : replace_stdout(name, argument(arguments, "format"));
}

static int replace_operands(cli_arguments *arguments) {
    const cli_command *command = arguments->command;
    char word[32];
    int result = EXIT_DONE;
    for (int i = 0; i < arguments->n_operands; i++) {
        const char *name = i + 1 == command->max_operands ? command->stream : NULL;
        snprintf(word, sizeof word, "argument %d", i + 1);
        if (is_stream(arguments->operands[i]) && (name != NULL || command->reads))
            STEP(replace(arguments, &arguments->operands[i], word, name));
    }
    return result;
}

static int replace_settings(cli_arguments *arguments) {
    char word[80];
    int result = EXIT_DONE;
    for (int i = 0; i < arguments->n_settings; i++) {
        cli_setting *setting = &arguments->settings[i];
        const cli_flag *flag = setting->flag;
        if (flag == NULL || !is_stream(setting->value))
            continue;
        snprintf(word, sizeof word, "--%s", flag->name);
        if (flag->stream != NULL || flag->reads)
            STEP(replace(arguments, &setting->value, word, flag->stream));
        else if (flag->kind == FLAG_FILE || flag->kind == FLAG_FOLDER)
            STEP(usage_error("%s cannot be standard output; give it a name", word));
    }
    return result;
}

/* mpirun gives stdin to process 0 only. */
int streams_begin(cli_arguments *arguments) {
    const char *engine = argument(arguments, "engine");
    streams.quiet = argument(arguments, "quiet") != NULL;
    if (prints_by_default(arguments))
        arguments_add(arguments, "output", "-");
    int result = replace_operands(arguments);
    STEP(replace_settings(arguments));
    if (result == EXIT_DONE && streams.output != 0 && argument(arguments, "json") != NULL)
        result = usage_error(
            "--json needs standard output for itself; write the other output to a file");
    if (result == EXIT_DONE && streams.reads && engine != NULL && strncmp(engine, "mpi", 3) == 0)
        result = usage_error("standard input cannot be read with --engine mpi; give a file");
    return result;
}

const char *streams_shown(const char *path) {
    return path == streams.path ? "standard output" : path;
}

const char *streams_given(const char *value) {
    return value == streams.path || value == input_path ? "-" : value;
}

/* ---- input ---------------------------------------------------------------------------------- */

/* write() may write less than it was given. */
static bool write_all(int to, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(to, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* A device but a terminal may have no end. */
static bool is_device(int descriptor) {
    struct stat about;
    return isatty(descriptor) != 1 && fstat(descriptor, &about) == 0 && S_ISCHR(about.st_mode);
}

static int copy_input(int to) {
    static char block[1 << 16];
    for (;;) {
        ssize_t size = read(STDIN_FILENO, block, sizeof block);
        if (size < 0 && errno == EINTR && !session_cancelled())
            continue;
        if (session_cancelled())
            return failed("cancelled");
        if (size < 0)
            return failed("standard input: cannot be read: %s", strerror(errno));
        if (size == 0)
            return EXIT_DONE;
        if (is_device(STDIN_FILENO))
            return failed("standard input: is a device, not a file");
        if (!write_all(to, block, (size_t)size))
            return failed("standard input: cannot be copied to %s: %s", scratch_base(),
                          strerror(errno));
    }
}

/* True if /dev/stdin can be opened as often as it is needed: a file from its beginning. */
static bool can_be_reread(void) {
    struct stat about;
    if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode) ||
        lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
        return false;
    int again = open(input_path, O_RDONLY | O_CLOEXEC);
    if (again >= 0)
        close(again);
    return again >= 0;
}

/* The copy keeps its name until the end, because HDF5 opens files by name. */
int streams_read_input(void) {
    char path[sizeof streams.path];
    if (!streams.reads || can_be_reread())
        return EXIT_DONE;
    if (isatty(STDIN_FILENO) == 1)
        print_note("standard input is this terminal: type or paste the data, then press Ctrl-D");
    const char *folder = scratch_folder();
    if (folder == NULL)
        return EXIT_FAILED;
    snprintf(path, sizeof path, "%s/stdin", folder);
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (made < 0)
        return failed("%s: cannot create a temporary file: %s", path, strerror(errno));
    int result = copy_input(made);
    if (result == EXIT_DONE && dup2(made, STDIN_FILENO) < 0)
        result = failed("standard input: %s", strerror(errno));
    close(made);
    return result;
}

/* ---- output --------------------------------------------------------------------------------- */

/* The files are removed first: a broken pipe ends the process. */
static int copy_output(void) {
    static char block[1 << 16];
    int result = EXIT_DONE;
    ssize_t size = 0;
    int from = open(streams.path, O_RDONLY | O_CLOEXEC);
    if (from < 0 && errno == ENOENT) /* of several processes the first writes */
        return EXIT_DONE;
    if (from < 0)
        return failed("%s: cannot be read: %s", streams.path, strerror(errno));
    scratch_remove();
    while (result == EXIT_DONE && (size = read(from, block, sizeof block)) > 0)
        if (!write_all(streams.output, block, (size_t)size))
            result = failed("standard output: %s", strerror(errno));
    if (size < 0)
        result = failed("standard output: its copy in %s cannot be read: %s", scratch_base(),
                        strerror(errno));
    close(from);
    return result;
}

int streams_end(int result) {
    if (streams.path[0] != '\0')
        (void)fflush(stdout);
    if (streams.path[0] != '\0' && result == EXIT_DONE)
        result = copy_output();
    scratch_remove();
    if (streams.output > 0 && close(streams.output) != 0 && result == EXIT_DONE)
        result = failed("standard output: %s", strerror(errno));
    return result;
}
