#define _DEFAULT_SOURCE /* flock() */
/* Folders are numbered, each in use by one process, which holds a lock on it. A process that is
 * killed loses its lock but leaves its folder; it is recognised by that. */
#include "scratch.h"

#include "cli/messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char folder[4096]; /* or "" */
    int lock;
} scratch;

const char *scratch_base(void) {
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

/* mkdir() refuses existing names and links, so that names need not be unpredictable. Another
 * process may take the folder for abandoned before it is locked: the next number is tried then.
 * Where the file system has no locks, none is needed: nobody else can lock the folder either. */
const char *scratch_folder(void) {
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

void scratch_remove(void) {
    if (scratch.folder[0] == '\0')
        return;
    remove_folder(scratch.folder);
    if (scratch.lock >= 0)
        close(scratch.lock);
    scratch.folder[0] = '\0';
}
