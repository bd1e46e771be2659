#define _XOPEN_SOURCE 700
/* Files are written under a temporary name and renamed when they are complete: readers see the old
 * file or the new one, never a part of it, and a failure leaves the old one. Pipes and devices,
 * such as /dev/stdout, are written directly. */
#include "archive/output.h"

#include "archive/temporary.h"
#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough that system calls do not show in a profile of writing text. */
enum { BUFFER = 1 << 18 };

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
        hd_output_create_temporary(output->target, old != NULL ? 0600 : 0666, &output->temporary);
    if (output->descriptor < 0 && errno == ENOMEM)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a file's name");
    if (output->descriptor < 0)
        return system_failure(output);
    output->place = hd_output_list(output->temporary);
    return HUDDLE_OK;
}

/* regular_only is for formats that are patched after writing, which a pipe does not allow. */
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
    hd_output_unlist(output->place);
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
