#define _DEFAULT_SOURCE
/* Files as bytes in memory. Regular files are mapped, so that reading begins at once and pages can
 * be dropped under memory pressure; pipes are read to their end. HD_FILE_PADDING zero bytes
 * follow the content, so that vectorised parsers may read beyond its end. */
#include "archive/file.h"

#include "base/check.h"
#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a pipe or a terminal, which has no size and cannot be mapped. A read that a signal
 * interrupts is repeated. A pipe may never end: the array, which is doubled when it is full, does
 * not become larger than what the machine has available. */
static huddle_status read_stream(int descriptor, hd_file *file) {
    enum { STEP = 1 << 20 };
    huddle_status status = HUDDLE_OK;
    char *bytes = NULL, text[32];
    int64_t capacity = 0, size = 0, most = hd_machine_available("");
    for (;;) {
        if (size + STEP + HD_FILE_PADDING > capacity && capacity > most / 3) {
            huddle_format_bytes(most, text, sizeof text);
            FAIL(HUDDLE_IO, "is too long for the memory that is available (%s)", text);
        }
        /* Room for the next piece and for the padding behind the last one. */
        if (!hd_grow(&bytes, &capacity, size + STEP + HD_FILE_PADDING, 1))
            FAIL(HUDDLE_NO_MEMORY, "no memory for %lld bytes", (long long)size + STEP);
        ssize_t got = read(descriptor, bytes + size, STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            FAIL(HUDDLE_IO, "cannot be read: %s", strerror(errno));
        if (got == 0)
            break;
        size += got;
    }
    memset(bytes + size, 0, HD_FILE_PADDING);
    file->text = bytes;
    file->size = size;
    bytes = NULL;
done:
    huddle_free(bytes);
    return status;
}

/* The size of the mapping for a file of that size: whole pages, and one more page for the
 * padding. */
static size_t mapped_size(int64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return ((size_t)size + page - 1) / page * page + page;
}

/* Maps the file over an anonymous mapping that is one page longer: beyond the last page of a file,
 * reading would raise SIGBUS. Bytes between the end of the file and the end of its last page are
 * zero by definition of mmap(). */
static huddle_status map_file(int descriptor, int64_t size, hd_file *file) {
    if (size == 0)
        return HUDDLE_OK;
    void *room = mmap(NULL, mapped_size(size), PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return hd_fail(HUDDLE_IO, "cannot be mapped: %s", strerror(errno));
    void *bytes = mmap(room, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    if (bytes == MAP_FAILED) {
        munmap(room, mapped_size(size));
        return hd_fail(HUDDLE_IO, "cannot be mapped: %s", strerror(errno));
    }
    file->text = bytes;
    file->size = size;
    file->descriptor = descriptor;
    return HUDDLE_OK;
}

/* Messages do not contain the path: callers that know it prepend it. The descriptor of a mapped
 * file remains open, that of a stream is closed. */
huddle_status hd_file_open(const char *path, hd_file *file) {
    huddle_status status = HUDDLE_OK;
    struct stat about;
    *file = (hd_file){.path = path, .descriptor = -1};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        FAIL(HUDDLE_IO, "cannot be opened: %s", strerror(errno));
    if (fstat(descriptor, &about) != 0)
        FAIL(HUDDLE_IO, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        FAIL(HUDDLE_IO, "is a directory");
    /* /dev/zero and its like never end; of terminals the user is the end. */
    if (S_ISBLK(about.st_mode) || (S_ISCHR(about.st_mode) && isatty(descriptor) == 0))
        FAIL(HUDDLE_IO, "is a device, not a file");
    if (S_ISREG(about.st_mode))
        TRY(map_file(descriptor, about.st_size, file));
    else
        TRY(read_stream(descriptor, file));
    /* No format has an empty file, and a mapping of 0 bytes does not exist. */
    if (file->size == 0)
        FAIL(HUDDLE_FORMAT, "the file is empty");
done:
    if (descriptor >= 0 && file->descriptor < 0)
        close(descriptor);
    if (status != HUDDLE_OK)
        hd_file_close(file);
    return status;
}

/* Both mappings show the same pages, so that nothing is read twice. The size is compared because
 * reading beyond the end of a file that has shrunk raises SIGBUS; it may still shrink later. */
huddle_status hd_file_map_again(const hd_file *file, hd_file *again) {
    huddle_status status = HUDDLE_OK;
    struct stat about;
    int descriptor = -1;
    *again = (hd_file){.descriptor = -1};
    if (file->descriptor < 0)
        FAIL(HUDDLE_UNSUPPORTED, "cannot be mapped: it is not a plain file");
    descriptor = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0 || fstat(descriptor, &about) != 0)
        FAIL(HUDDLE_IO, "cannot be mapped: %s", strerror(errno));
    if (about.st_size < file->size)
        FAIL(HUDDLE_IO, "the file became shorter while it was read");
    TRY(map_file(descriptor, file->size, again));
done:
    if (descriptor >= 0 && again->descriptor < 0)
        close(descriptor);
    return status;
}

/* The descriptor distinguishes a mapping from memory of read_stream(). */
void hd_file_close(hd_file *file) {
    if (file->descriptor >= 0) {
        munmap((void *)(uintptr_t)file->text, mapped_size(file->size));
        close(file->descriptor);
    } else {
        huddle_free((void *)(uintptr_t)file->text);
    }
    *file = (hd_file){.descriptor = -1};
}

void hd_file_replace(hd_file *file, char *bytes, int64_t size) {
    const char *path = file->path;
    memset(bytes + size, 0, HD_FILE_PADDING);
    hd_file_close(file);
    *file = (hd_file){.path = path, .text = bytes, .size = size, .descriptor = -1};
}

/* pread() may return less than asked for, and a signal may interrupt it. */
int64_t hd_file_read_at(int descriptor, void *to, int64_t size, int64_t offset) {
    int64_t done = 0;
    for (ssize_t got = 1; done < size && got != 0;) {
        got = pread(descriptor, (char *)to + done, (size_t)(size - done), (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? got : 0;
    }
    return done;
}
