/* Files packed by gzip, unpacked into memory. */
#include "base/check.h"
#include "io/formats.h"
#include "io/number.h"

#include <string.h>
#include <zlib.h>

/* Deflate cannot reduce data to less than 1 / 1032 of its size (258 bytes per two bits). STEP:
 * zlib counts in 32 bits, so that larger inputs are passed in parts. */
enum { MAX_RATIO = 1032, STEP = 1 << 30 };

/* The magic number 1f 8b, then method 8, deflate. 18 bytes are the header and the trailer. */
static bool is_packed(const char *bytes, int64_t size) {
    return size >= 18 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

/* The last four bytes (ISIZE, RFC 1952) are the unpacked size modulo 2^32, of the last member
 * if there are several. It is only a hint for the first allocation, and one that a damaged
 * file cannot make absurd: no more than deflate could expand to. */
static int64_t likely_size(const hd_file *file) {
    const unsigned char *b = (const unsigned char *)file->text + file->size - 4;
    int64_t size = (int64_t)b[0] | (int64_t)b[1] << 8 | (int64_t)b[2] << 16 | (int64_t)b[3] << 24;
    return size <= file->size * MAX_RATIO ? size : file->size;
}

/* Unpacks all members of a file, one after the other, as gunzip does; *size bytes of *bytes
 * are in use. Bytes after the last member that do not begin another one are ignored. The CRC
 * of each member is checked by zlib. */
static huddle_status inflate_all(const hd_file *file, z_stream *stream, char **bytes,
                                 int64_t *capacity, int64_t *size) {
    int64_t consumed = 0;
    for (;;) {
        /* One byte of room at least, so that inflate() can always make progress or report the
         * end. */
        if (!hd_grow(bytes, capacity, *size + 1 + HD_FILE_PADDING, 1))
            return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack more than %lld bytes",
                           (long long)*size);
        int64_t in = file->size - consumed, out = *capacity - HD_FILE_PADDING - *size;
        stream->next_in = (unsigned char *)(uintptr_t)(file->text + consumed);
        stream->avail_in = (unsigned)(in < STEP ? in : STEP);
        stream->next_out = (unsigned char *)*bytes + *size;
        stream->avail_out = (unsigned)(out < STEP ? out : STEP);
        unsigned offered = stream->avail_in, room = stream->avail_out;
        int code = inflate(stream, Z_NO_FLUSH);
        consumed += offered - stream->avail_in;
        *size += room - stream->avail_out;
        if (code == Z_STREAM_END && !is_packed(file->text + consumed, file->size - consumed))
            return HUDDLE_OK;
        if (code == Z_STREAM_END)
            code = inflateReset(stream);
        /* No progress although both buffers have room: the input ended inside a member. */
        else if (offered == stream->avail_in && room == stream->avail_out)
            code = Z_BUF_ERROR;
        if (code == Z_MEM_ERROR)
            return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack");
        if (code != Z_OK)
            return hd_fail(HUDDLE_FORMAT, "what gzip packed is %s",
                           consumed == file->size ? "cut short" : "damaged");
    }
}

huddle_status hd_io_gunzip_file(hd_file *file) {
    huddle_status status = HUDDLE_OK;
    z_stream stream = {0};
    char *bytes = NULL;
    int64_t capacity = 0, size = 0;
    /* The reader of IDX unpacks for itself: it knows the size of the array from the header and
     * allocates once. */
    if (!is_packed(file->text, file->size) || hd_io_idx_is(file))
        return HUDDLE_OK;
    /* 15 bits of window, the maximum; 16 selects the gzip wrapper. */
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack");
    if (!hd_grow(&bytes, &capacity, likely_size(file) + 1 + HD_FILE_PADDING, 1))
        FAIL(HUDDLE_NO_MEMORY, "no memory to unpack %lld bytes", (long long)likely_size(file));
    TRY(inflate_all(file, &stream, &bytes, &capacity, &size));
    /* A member may be valid and empty; no format is. */
    if (size == 0)
        FAIL(HUDDLE_FORMAT, "the file is empty");
    const char *path = file->path;
    hd_file_close(file);
    *file = (hd_file){.path = path, .text = bytes, .size = size, .descriptor = -1};
    bytes = NULL;
done:
    inflateEnd(&stream);
    huddle_free(bytes);
    return status;
}
