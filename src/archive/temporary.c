#define _DEFAULT_SOURCE
/* Temporary files are numbered: TARGET.huddle-tmp-0 and so on, each in use by one process, which
 * holds a lock on it. A process that is killed loses its locks but leaves its files; they are
 * recognised by that and removed when the same output is written again. Locks, unlike process
 * numbers in the names, also tell the processes of other containers and machines apart. */
#include "archive/temporary.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

int hd_output_list(const char *name) {
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

void hd_output_unlist(int place) {
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

/* ---- creating ------------------------------------------------------------------------------- */

/* The directory of the target, since rename() does not work across file systems, and as much of its
 * name as leaves room for the rest in the 255 bytes that a name may have. */
static int temporary_prefix(const char *target) {
    enum { MAX_PREFIX = 230 };
    const char *slash = strrchr(target, '/'), *base = slash == NULL ? target : slash + 1;
    size_t length = strlen(base);
    return (int)(base - target) + (int)(length > MAX_PREFIX ? MAX_PREFIX : length);
}

enum { SUFFIX_SIZE = 32 };

static void write_name(char *name, const char *target, int prefix, int number) {
    snprintf(name, (size_t)prefix + SUFFIX_SIZE, "%.*s.huddle-tmp-%d", prefix, target, number);
}

/* Numbers are used from 0 on, so that those of abandoned files are small: MAX_ABANDONED outputs of
 * one name have to be written at the same time before one is overlooked. */
int hd_output_create_temporary(const char *target, mode_t mode, char **name) {
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
