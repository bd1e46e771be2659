#define _XOPEN_SOURCE 700
/* Files are written under a temporary name and renamed when they are complete: readers see the old
 * file or the new one, never a part of it, and a failure leaves the old one. Pipes and devices,
 * such as /dev/stdout, are written directly. */
#include "archive/output.h"

#include "archive/file.h"
#include "base/check.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough that system calls do not show in a profile of writing text. */
enum { BUFFER = 1 << 18, MAX_ATTEMPTS = 100 };

/* ---- outputs in progress -------------------------------------------------------------------- */

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

/* The place of the name, or -1. */
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

/* ---- writing -------------------------------------------------------------------------------- */

static huddle_status system_failure(const hd_output *output) {
    /* The bytes to write are in a mapped file (huddle/io.h), which has become shorter. */
    if (errno == EFAULT)
        return hd_fail(HUDDLE_IO, "%s: cannot be written: its values cannot be read any more",
                       output->path);
    return hd_fail(HUDDLE_IO, "%s: cannot be written: %s", output->path, strerror(errno));
}

/* Creates the temporary file, in the same directory as the target, since rename() does not work
 * across file systems. mkstemp() would create it with mode 0600, and the mode that the umask gives
 * a new file can only be learnt by setting the umask, which other threads would see; open() applies
 * it itself. O_EXCL refuses existing names and links, so that the name need not be unpredictable.
 * An existing file keeps its mode. */
static huddle_status open_temporary(hd_output *output, const struct stat *old) {
    huddle_status status = HUDDLE_OK;
    output->temporary = hd_join_text(output->target, ".XXXXXX");
    if (output->temporary == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a file's name");
    char *suffix = output->temporary + strlen(output->target) + 1;
    for (int attempt = 0; attempt < MAX_ATTEMPTS && output->descriptor < 0; attempt++) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        /* Different for processes and for outputs of one process; collisions are resolved by
         * O_EXCL. */
        uint64_t number =
            (uint64_t)getpid() * 1000003 + (uint64_t)(uintptr_t)output + (uint64_t)attempt * 7919;
        for (int k = 0; k < 6; k++, number /= 32)
            suffix[k] = letters[number % 32];
        output->descriptor = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->descriptor < 0 && errno != EEXIST)
            break;
    }
    if (output->descriptor < 0) {
        status = system_failure(output);
        huddle_free(output->temporary);
        output->temporary = NULL;
    } else {
        output->place = list_name(output->temporary);
        if (old != NULL)
            (void)fchmod(output->descriptor, old->st_mode & 07777);
    }
done:
    return status;
}

/* regular_only is for formats that are patched after writing, which a pipe does not allow. */
huddle_status hd_output_begin(const char *path, bool regular_only, hd_output *output) {
    huddle_status status = HUDDLE_OK;
    struct stat about;
    char *real = NULL;
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
        real = realpath(path, NULL); /* a link is kept, and the file that it points to replaced */
        output->target = hd_copy_text(real != NULL ? real : path);
        if (output->target == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a file's name");
        TRY(open_temporary(output, exists ? &about : NULL));
    }
    ALLOC(output->buffer, BUFFER);
done:
    free(real);
    return status;
}

/* write() may write less than it was given, to a pipe or a disk that is nearly full. */
static huddle_status write_unbuffered(hd_output *output, const char *bytes, int64_t size) {
    while (size > 0) {
        ssize_t written = write(output->descriptor, bytes, (size_t)size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return system_failure(output);
        bytes += written;
        size -= written;
    }
    return HUDDLE_OK;
}

static huddle_status flush_buffer(hd_output *output) {
    huddle_status status = write_unbuffered(output, output->buffer, output->used);
    output->used = 0;
    return status;
}

huddle_status hd_output_write(hd_output *output, const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    if (output->used + size > BUFFER)
        TRY(flush_buffer(output));
    /* Large arrays are not copied to the buffer first. */
    if (size > BUFFER)
        return write_unbuffered(output, bytes, size);
    if (size > 0)
        memcpy(output->buffer + output->used, bytes, (size_t)size);
    output->used += size;
done:
    return status;
}

/* pwrite() leaves the position at the end, where the next bytes are appended. */
huddle_status hd_output_patch(hd_output *output, int64_t offset, const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    const char *from = bytes;
    TRY(flush_buffer(output));
    while (size > 0) {
        ssize_t written = pwrite(output->descriptor, from, (size_t)size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return system_failure(output);
        from += written;
        offset += written;
        size -= written;
    }
done:
    return status;
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
 * final name. It is opened again because a library may have replaced the file under its temporary
 * name. */
static huddle_status rename_to_target(hd_output *output) {
    int descriptor = open(output->temporary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return system_failure(output);
    int failed = fsync(descriptor);
    huddle_status status = failed != 0 ? system_failure(output) : HUDDLE_OK;
    close(descriptor);
    if (status == HUDDLE_OK && rename(output->temporary, output->target) != 0)
        status = system_failure(output);
    return status;
}

/* close() is checked as well: some file systems, NFS for one, report a full disk only then. */
huddle_status hd_output_end(hd_output *output, huddle_status status) {
    if (status == HUDDLE_OK)
        status = flush_buffer(output);
    if (output->descriptor >= 0 && close(output->descriptor) != 0 && status == HUDDLE_OK)
        status = system_failure(output);
    if (output->temporary != NULL && status == HUDDLE_OK)
        status = rename_to_target(output);
    if (output->temporary != NULL && status != HUDDLE_OK)
        unlink(output->temporary);
    unlist_name(output->place);
    huddle_free(output->temporary);
    huddle_free(output->target);
    huddle_free(output->buffer);
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
