#define _DEFAULT_SOURCE
/* Files are written under a temporary name and renamed when they are complete: readers see the old
 * file or the new one, never a part of it, and a failure leaves the old one. Pipes and devices,
 * such as /dev/stdout, are written directly.
 *
 * Temporary files are numbered: TARGET.huddle-tmp-0 and so on, each in use by one process, which
 * holds a lock on it. A process that is killed loses its locks but leaves its files; they are
 * recognised by that and removed when the same output is written again. Locks, unlike process
 * numbers in the names, also tell the processes of other containers and machines apart. */
#include "archive/output.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough that system calls do not show in a profile of writing text. */
enum { BUFFER = 1 << 18 };

/* ---- targets -------------------------------------------------------------------------------- */

/* The file that an output replaces or creates: links are kept, as by programs that open their
 * output, and the file that they lead to is written, also if it does not exist yet. */

/* Bytes of the path up to its last slash. */
static int64_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : slash + 1 - path;
}

/* Makes *path the first `length` bytes of `begin`, which may be a part of it, and the rest. */
static huddle_status set_path(char **path, const char *begin, int64_t length, const char *rest) {
    huddle_status status = HUDDLE_OK;
    int64_t size = (int64_t)strlen(rest) + 1;
    char *joined = NULL;
    ALLOC(joined, length + size);
    memcpy(joined, begin, (size_t)length);
    memcpy(joined + length, rest, (size_t)size);
    huddle_free(*path);
    *path = joined;
done:
    return status;
}

/* Replaces *path, if it is a link, by the path in it, which is relative to the folder of the
 * link. */
static huddle_status follow_link(char **path, bool *followed) {
    char text[PATH_MAX];
    ssize_t length = readlink(*path, text, sizeof text - 1);
    *followed = length >= 0;
    if (!*followed)
        return HUDDLE_OK;
    text[length] = '\0';
    return set_path(path, *path, text[0] == '/' ? 0 : folder_length(*path), text);
}

/* Resolves the links of the folder. One that does not exist is left for open() to report. */
static huddle_status resolve_folder(char **path) {
    huddle_status status = HUDDLE_OK;
    int64_t length = folder_length(*path);
    char *folder = NULL, *real = NULL;
    TRY(set_path(&folder, *path, length, length == 0 ? "./" : ""));
    real = realpath(folder, NULL);
    if (real == NULL)
        goto done;
    TRY(set_path(&folder, real, (int64_t)strlen(real), strcmp(real, "/") == 0 ? "" : "/"));
    TRY(set_path(path, folder, (int64_t)strlen(folder), *path + length));
done:
    free(real);
    huddle_free(folder);
    return status;
}

huddle_status huddle_file_target(const char *path, char **target) {
    enum { MAX_LINKS = 40 }; /* as in Linux */
    huddle_status status = HUDDLE_OK;
    struct stat about;
    bool followed = true;
    *target = NULL;
    char *real = realpath(path, NULL);
    /* A descriptor's link (/dev/fd/3) to a removed file exists, but leads nowhere. */
    if (real == NULL && (errno != ENOENT || stat(path, &about) == 0))
        FAIL(HUDDLE_IO, "%s: cannot be written: %s", path, strerror(errno));
    TRY(set_path(target, "", 0, real != NULL ? real : path));
    for (int k = 0; k < MAX_LINKS && real == NULL && followed; k++)
        TRY(follow_link(target, &followed));
    if (real == NULL)
        TRY(resolve_folder(target));
done:
    free(real);
    if (status != HUDDLE_OK) {
        huddle_free(*target);
        *target = NULL;
    }
    return status;
}

bool huddle_file_same(const char *a, const char *b) {
    struct stat first, second;
    char *first_target = NULL, *second_target = NULL;
    bool first_exists = stat(a, &first) == 0, second_exists = stat(b, &second) == 0;
    if (first_exists && second_exists)
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    bool same = !first_exists && !second_exists &&
                huddle_file_target(a, &first_target) == HUDDLE_OK &&
                huddle_file_target(b, &second_target) == HUDDLE_OK &&
                strcmp(first_target, second_target) == 0;
    FREE(first_target, second_target);
    return same;
}

/* ---- names in use --------------------------------------------------------------------------- */

/* The names of temporary files, for a handler of a fatal signal, which can neither allocate nor
 * wait for a lock. More outputs at the same time, or longer names, than fit are not listed: their
 * files stay behind after such a signal. */
enum { MAX_LISTED = 16, MAX_NAME = 1024 };

typedef struct listed_name {
    atomic_int state; /* one of the enum below */
    char name[MAX_NAME];
} listed_name;

enum { LISTED_FREE, LISTED_BUSY, LISTED_COMPLETE };

static listed_name listed[MAX_LISTED];

/* Lists the name for huddle_file_abandon_all() until it is unlisted; the place in the list, or
 * -1. */
static int list_name(const char *name) {
    if (strlen(name) >= MAX_NAME)
        return -1;
    for (int k = 0; k < MAX_LISTED; k++) {
        int free_state = LISTED_FREE;
        if (!atomic_compare_exchange_strong(&listed[k].state, &free_state, LISTED_BUSY))
            continue;
        memcpy(listed[k].name, name, strlen(name) + 1);
        atomic_store(&listed[k].state, LISTED_COMPLETE);
        return k;
    }
    return -1;
}

static void unlist_name(int place) {
    if (place >= 0)
        atomic_store(&listed[place].state, LISTED_FREE);
}

void huddle_file_abandon_all(void) {
    for (int k = 0; k < MAX_LISTED; k++)
        if (atomic_load(&listed[k].state) == LISTED_COMPLETE)
            (void)unlink(listed[k].name);
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* Whether the open file is still the one of that name. */
static bool is_named(int descriptor, const char *name) {
    struct stat own, named;
    return fstat(descriptor, &own) == 0 && lstat(name, &named) == 0 && S_ISREG(own.st_mode) &&
           own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* A file whose lock is free belongs to nobody. Where the file system has no locks none is free, and
 * everything stays. The name is compared while the lock is held: the file may have been renamed to
 * its target, or removed and its name used again, since it was opened. */
static void remove_abandoned(const char *name) {
    int descriptor = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(descriptor, name))
        (void)unlink(name);
    close(descriptor);
}

/* O_EXCL refuses existing names and links, so that names need not be unpredictable. Another process
 * may see the file before it is locked here, take it for abandoned, and hold its lock or have
 * removed it: the next name is tried then. */
static int create_locked(const char *name, mode_t mode) {
    int descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0)
        return -1;
    bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(descriptor, name))
        return descriptor;
    close(descriptor);
    errno = EEXIST;
    return -1;
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* The directory of the target, since rename() does not work across file systems, and as much of its
 * name as leaves room for the rest in the 255 bytes that a name may have. */
static int temporary_prefix(const char *target) {
    enum { MAX_PREFIX = 230 };
    int64_t folder = folder_length(target);
    size_t length = strlen(target + folder);
    return (int)folder + (int)(length > MAX_PREFIX ? MAX_PREFIX : length);
}

enum { SUFFIX_SIZE = 32 };

static void write_name(char *name, const char *target, int prefix, int number) {
    snprintf(name, (size_t)prefix + SUFFIX_SIZE, "%.*s.huddle-tmp-%d", prefix, target, number);
}

/* Creates a temporary file for an output and removes those that processes which no longer live have
 * left beside it. Returns its descriptor, whose lock shows other processes that the file is in use,
 * and its name; -1 with errno if that fails. Numbers are used from 0 on, so that those of abandoned
 * files are small: MAX_ABANDONED outputs of one name have to be written at the same time before one
 * is overlooked. */
static int create_temporary(const char *target, mode_t mode, char **name) {
    enum { MAX_NUMBER = 1000, MAX_ABANDONED = 16 };
    int descriptor = -1, prefix = temporary_prefix(target);
    *name = hd_alloc((int64_t)prefix + SUFFIX_SIZE, 1);
    if (*name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int k = 0; k < MAX_ABANDONED; k++) {
        write_name(*name, target, prefix, k);
        remove_abandoned(*name);
    }
    for (int k = 0; k < MAX_NUMBER && descriptor < 0; k++) {
        write_name(*name, target, prefix, k);
        descriptor = create_locked(*name, mode);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0) {
        int reason = errno; /* of the last attempt */
        huddle_free(*name);
        *name = NULL;
        errno = reason;
    }
    return descriptor;
}

/* ---- writing -------------------------------------------------------------------------------- */

static huddle_status system_failure(const hd_output *output) {
    /* The bytes to write are in a mapped file (huddle/io.h), which has become shorter. */
    if (errno == EFAULT)
        return hd_fail(HUDDLE_IO, "%s: cannot be written: its values cannot be read any more",
                       output->path);
    return hd_fail(HUDDLE_IO, "%s: cannot be written: %s", output->path, strerror(errno));
}

/* A temporary file beside the target. It is for its owner alone if it replaces a file, whose mode
 * it gets at the end: what it contains may be secret, and the mode may forbid writing. A new file
 * has the mode that the umask gives, which open() applies. */
static huddle_status open_temporary(hd_output *output, const struct stat *old) {
    output->mode = old != NULL ? (int)(old->st_mode & 07777) : -1;
    output->descriptor =
        create_temporary(output->target, old != NULL ? 0600 : 0666, &output->temporary);
    if (output->descriptor < 0 && errno == ENOMEM)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a file's name");
    if (output->descriptor < 0)
        return system_failure(output);
    output->place = list_name(output->temporary);
    return HUDDLE_OK;
}

huddle_status hd_output_begin(const char *path, bool regular_only, hd_output *output) {
    huddle_status status = HUDDLE_OK;
    struct stat about;
    *output = (hd_output){.path = path, .descriptor = -1, .place = -1};
    bool exists = stat(path, &about) == 0;
    if (exists && S_ISDIR(about.st_mode))
        FAIL(HUDDLE_IO, "%s: cannot be written: it is a directory", path);
    if (exists && !S_ISREG(about.st_mode)) {
        if (regular_only)
            FAIL(HUDDLE_IO, "%s: cannot be written: this format needs a file", path);
        output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        if (output->descriptor < 0)
            TRY(system_failure(output));
    } else {
        TRY(huddle_file_target(path, &output->target));
        TRY(open_temporary(output, exists ? &about : NULL));
    }
    ALLOC(output->buffer, BUFFER);
done:
    return status;
}

/* At the end without an offset. A system call may write less than it was given, to a pipe or a disk
 * that is nearly full, and a signal may interrupt it. */
bool hd_output_write_all(int descriptor, const void *bytes, int64_t size, int64_t offset) {
    for (const char *from = bytes; size > 0;) {
        ssize_t written = offset < 0 ? write(descriptor, from, (size_t)size)
                                     : pwrite(descriptor, from, (size_t)size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        from += written;
        offset += offset < 0 ? 0 : written;
        size -= written;
    }
    return true;
}

static huddle_status write_unbuffered(hd_output *output, const void *bytes, int64_t size,
                                      int64_t offset) {
    return hd_output_write_all(output->descriptor, bytes, size, offset) ? HUDDLE_OK
                                                                        : system_failure(output);
}

static huddle_status flush_buffer(hd_output *output) {
    huddle_status status = write_unbuffered(output, output->buffer, output->used, -1);
    output->used = 0;
    return status;
}

huddle_status hd_output_write(hd_output *output, const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    if (output->used + size > BUFFER)
        TRY(flush_buffer(output));
    /* Large arrays are not copied to the buffer first. */
    if (size > BUFFER)
        return write_unbuffered(output, bytes, size, -1);
    if (size > 0)
        memcpy(output->buffer + output->used, bytes, (size_t)size);
    output->used += size;
done:
    return status;
}

/* pwrite() leaves the position at the end, where the next bytes are appended. */
huddle_status hd_output_patch(hd_output *output, int64_t offset, const void *bytes, int64_t size) {
    huddle_status status = flush_buffer(output);
    return status == HUDDLE_OK ? write_unbuffered(output, bytes, size, offset) : status;
}

huddle_status hd_output_extend(hd_output *output, int64_t size) {
    huddle_status status = HUDDLE_OK;
    TRY(flush_buffer(output));
    if (ftruncate(output->descriptor, (off_t)size) != 0)
        TRY(system_failure(output));
done:
    return status;
}

/* ---- several processes ---------------------------------------------------------------------- */

/* The size is compared because another file system might have a file of that name too, left behind
 * by a crash. */
bool hd_output_join(const char *path, const char *temporary, int64_t size, hd_output *output) {
    struct stat about;
    *output = (hd_output){.path = path, .descriptor = -1, .place = -1};
    output->descriptor = open(temporary, O_WRONLY | O_CLOEXEC);
    if (output->descriptor < 0)
        return false;
    if (fstat(output->descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == size)
        return true;
    close(output->descriptor);
    output->descriptor = -1;
    return false;
}

/* The process that ends the output can only synchronise what its own machine has written. */
huddle_status hd_output_leave(hd_output *output, huddle_status status) {
    if (output->descriptor < 0)
        return status;
    if (status == HUDDLE_OK && fsync(output->descriptor) != 0)
        status = system_failure(output);
    if (close(output->descriptor) != 0 && status == HUDDLE_OK)
        status = system_failure(output);
    output->descriptor = -1;
    return status;
}

/* ---- end ------------------------------------------------------------------------------------ */

/* Synchronises the file before it is renamed, so that a crash cannot leave an empty file under the
 * final name; NFS, for one, reports a full disk only then. The descriptor is closed after the
 * renaming: its lock is what keeps other processes from removing the file. */
static huddle_status end_temporary(hd_output *output, huddle_status status) {
    if (status == HUDDLE_OK && fsync(output->descriptor) != 0)
        status = system_failure(output);
    /* A file that remains its owner's alone is no failure. */
    if (status == HUDDLE_OK && output->mode >= 0)
        (void)fchmod(output->descriptor, (mode_t)output->mode);
    if (status == HUDDLE_OK && rename(output->temporary, output->target) != 0)
        status = system_failure(output);
    if (status != HUDDLE_OK)
        (void)unlink(output->temporary);
    close(output->descriptor);
    return status;
}

huddle_status hd_output_end(hd_output *output, huddle_status status) {
    if (status == HUDDLE_OK)
        status = flush_buffer(output);
    if (output->temporary != NULL)
        status = end_temporary(output, status);
    else if (output->descriptor >= 0 && close(output->descriptor) != 0 && status == HUDDLE_OK)
        status = system_failure(output);
    unlist_name(output->place);
    FREE(output->temporary, output->target, output->buffer);
    *output = (hd_output){.descriptor = -1, .place = -1};
    return status;
}

/* Public, so that programs built on the library replace files in the same way. */
huddle_status huddle_file_write(const char *path, const void *bytes, size_t size) {
    hd_output output;
    huddle_status status = hd_output_begin(path, false, &output);
    if (status == HUDDLE_OK)
        status = hd_output_write(&output, bytes, (int64_t)size);
    return hd_output_end(&output, status);
}
