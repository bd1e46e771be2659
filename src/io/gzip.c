/* Files packed by gzip, unpacked into memory. */
#include "base/check.h"
#include "io/formats.h"
#include "io/number.h"

#include <string.h>
#include <zlib.h>

/* Deflate makes nothing smaller than this part of it. */
enum { MOST_RATIO = 1032, STEP = 1 << 30 };

static bool is_packed(const char *bytes, int64_t size) {
    return size >= 18 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

/* The last four bytes tell the size, if there is one part and it is below 4 GB. */
static int64_t likely_size(const hd_file *file) {
    const unsigned char *b = (const unsigned char *)file->text + file->size - 4;
    int64_t size = (int64_t)b[0] | (int64_t)b[1] << 8 | (int64_t)b[2] << 16 | (int64_t)b[3] << 24;
    return size <= file->size * MOST_RATIO ? size : file->size;
}

/* Unpacks all parts of a file, one after the other; *size bytes of *bytes are in use. */
static huddle_status inflate_all(const hd_file *file, z_stream *stream, char **bytes,
                                 int64_t *capacity, int64_t *size) {
    int64_t eaten = 0;
    for (;;) {
        if (!hd_grow(bytes, capacity, *size + 1 + HD_FILE_PADDING, 1))
            return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack more than %lld bytes",
                           (long long)*size);
        int64_t in = file->size - eaten, out = *capacity - HD_FILE_PADDING - *size;
        stream->next_in = (unsigned char *)(uintptr_t)(file->text + eaten);
        stream->avail_in = (unsigned)(in < STEP ? in : STEP);
        stream->next_out = (unsigned char *)*bytes + *size;
        stream->avail_out = (unsigned)(out < STEP ? out : STEP);
        unsigned offered = stream->avail_in, room = stream->avail_out;
        int code = inflate(stream, Z_NO_FLUSH);
        eaten += offered - stream->avail_in;
        *size += room - stream->avail_out;
        if (code == Z_STREAM_END && !is_packed(file->text + eaten, file->size - eaten))
            return HUDDLE_OK;
        if (code == Z_STREAM_END)
            code = inflateReset(stream);
        else if (offered == stream->avail_in && room == stream->avail_out)
            code = Z_BUF_ERROR;
        if (code == Z_MEM_ERROR)
            return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack");
        if (code != Z_OK)
            return hd_fail(HUDDLE_FORMAT, "what gzip packed is %s",
                           eaten == file->size ? "cut short" : "damaged");
    }
}

huddle_status hd_file_unpack(hd_file *file) {
    huddle_status status = HUDDLE_OK;
    z_stream stream = {0};
    char *bytes = NULL;
    int64_t capacity = 0, size = 0;
    if (!is_packed(file->text, file->size) || hd_idx_is(file))
        return HUDDLE_OK;
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory to unpack");
    if (!hd_grow(&bytes, &capacity, likely_size(file) + 1 + HD_FILE_PADDING, 1))
        FAIL(HUDDLE_NO_MEMORY, "no memory to unpack %lld bytes", (long long)likely_size(file));
    TRY(inflate_all(file, &stream, &bytes, &capacity, &size));
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
