#define _XOPEN_SOURCE 700
#include "io/output.h"

#include "base/check.h"
#include "huddle/io.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

static huddle_status refuse(const hd_output *output) {
    return hd_fail(HUDDLE_IO, "%s: cannot be written: %s", output->path, strerror(errno));
}

/* The process's mask can only be read by setting it, which other threads would see; a file made
 * the plain way shows it instead. */
static huddle_status open_temporary(hd_output *output, const struct stat *old) {
    huddle_status status = HUDDLE_OK;
    output->temporary = hd_join_text(output->target, ".XXXXXX");
    if (output->temporary == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a file's name");
    char *suffix = output->temporary + strlen(output->target) + 1;
    for (int attempt = 0; attempt < 100 && output->descriptor < 0; attempt++) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        uint64_t number =
            (uint64_t)getpid() * 1000003 + (uint64_t)(uintptr_t)output + (uint64_t)attempt * 7919;
        for (int k = 0; k < 6; k++, number /= 32)
            suffix[k] = letters[number % 32];
        output->descriptor = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->descriptor < 0 && errno != EEXIST)
            break;
    }
    if (output->descriptor < 0) {
        status = refuse(output);
        huddle_free(output->temporary);
        output->temporary = NULL;
    } else if (old != NULL) {
        (void)fchmod(output->descriptor, old->st_mode & 07777);
    }
done:
    return status;
}

huddle_status hd_output_begin(const char *path, bool by_name, hd_output *output) {
    huddle_status status = HUDDLE_OK;
    struct stat about;
    char *real = NULL;
    *output = (hd_output){.path = path, .descriptor = -1};
    bool exists = stat(path, &about) == 0;
    if (exists && S_ISDIR(about.st_mode))
        FAIL(HUDDLE_IO, "%s: cannot be written: it is a directory", path);
    if (exists && !S_ISREG(about.st_mode)) {
        if (by_name)
            FAIL(HUDDLE_IO, "%s: cannot be written: this format needs a file", path);
        output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        if (output->descriptor < 0)
            TRY(refuse(output));
    } else {
        real = realpath(path, NULL); /* a link stays, what it points to is replaced */
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

static huddle_status write_now(hd_output *output, const char *bytes, int64_t size) {
    while (size > 0) {
        ssize_t written = write(output->descriptor, bytes, (size_t)size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return refuse(output);
        bytes += written;
        size -= written;
    }
    return HUDDLE_OK;
}

static huddle_status flush(hd_output *output) {
    huddle_status status = write_now(output, output->buffer, output->used);
    output->used = 0;
    return status;
}

huddle_status hd_output_write(hd_output *output, const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    if (output->used + size > BUFFER)
        TRY(flush(output));
    if (size > BUFFER)
        return write_now(output, bytes, size);
    if (size > 0)
        memcpy(output->buffer + output->used, bytes, (size_t)size);
    output->used += size;
done:
    return status;
}

/* The bytes reach the disc before the name does. A library may have replaced the file under its
 * temporary name, so it is opened anew. */
static huddle_status settle(hd_output *output) {
    int descriptor = open(output->temporary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return refuse(output);
    int failed = fsync(descriptor);
    huddle_status status = failed != 0 ? refuse(output) : HUDDLE_OK;
    close(descriptor);
    if (status == HUDDLE_OK && rename(output->temporary, output->target) != 0)
        status = refuse(output);
    return status;
}

huddle_status hd_output_end(hd_output *output, huddle_status status) {
    if (status == HUDDLE_OK)
        status = flush(output);
    if (output->descriptor >= 0 && close(output->descriptor) != 0 && status == HUDDLE_OK)
        status = refuse(output);
    if (output->temporary != NULL && status == HUDDLE_OK)
        status = settle(output);
    if (output->temporary != NULL && status != HUDDLE_OK)
        unlink(output->temporary);
    huddle_free(output->temporary);
    huddle_free(output->target);
    huddle_free(output->buffer);
    *output = (hd_output){.descriptor = -1};
    return status;
}

huddle_status huddle_file_write(const char *path, const void *bytes, size_t size) {
    hd_output output;
    huddle_status status = hd_output_begin(path, false, &output);
    if (status == HUDDLE_OK)
        status = hd_output_write(&output, bytes, (int64_t)size);
    return hd_output_end(&output, status);
}
