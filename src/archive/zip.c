/* Reading zip archives from memory, files from untrusted sources included.
 *
 * The central directory determines what an archive contains; local headers are only used to find
 * where the content begins. Every offset and size is compared with the size of the file before it
 * is used, by subtractions that cannot overflow. Nothing is allocated from a size that the file
 * claims before the file has been checked to be able to contain that much, so that memory is at
 * most about a thousand times the size of the file, the limit of deflate itself. Entries that
 * overlap, which allow archives of a few kilobytes to unpack to terabytes, are refused, as are
 * names that occur twice. */
#include "archive/zip.h"

#include "archive/zip_records.h"
#include "base/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* APPNOTE.TXT of PKWARE describes the format; numbers below are offsets of its records. */
enum {
    FLAG_ENCRYPTED = 1,
    MAX_COMMENT = 65535,
    MAX_RATIO = 1032,   /* deflate cannot compress further: zlib.net/zlib_tech.html */
    MAX_CALL = 1 << 30, /* zlib counts in 32 bits */
    SKIP = 1 << 14      /* bytes at a time when content is only checked */
};

/* Where the directory is, according to its end record. */
typedef struct directory {
    int64_t begin, size, count;
} directory;

bool hd_zip_is(const char *bytes, int64_t size) {
    return size >= HD_ZIP_END_SIZE &&
           (hd_zip_number(bytes, 4) == HD_ZIP_LOCAL || hd_zip_number(bytes, 4) == HD_ZIP_END);
}

/* ---- directory ---------------------------------------------------------------------------- */

/* The end record is the last one in the file, followed only by a comment whose length it contains.
 * Comparing this length refuses an end record inside the comment, which could show another
 * directory. */
static const char *find_end(const char *bytes, int64_t size) {
    int64_t first = size - HD_ZIP_END_SIZE - MAX_COMMENT;
    for (int64_t at = size - HD_ZIP_END_SIZE; at >= 0 && at >= first; at--)
        if (hd_zip_number(bytes + at, 4) == HD_ZIP_END &&
            (int64_t)hd_zip_number(bytes + at + 20, 2) == size - HD_ZIP_END_SIZE - at)
            return bytes + at;
    return NULL;
}

/* A number of 64 bits that must not exceed `limit`; -1 if it does. A negative limit, the difference
 * of two positions that are in the wrong order, admits no number. Sums of such numbers and sizes of
 * records cannot overflow. */
static int64_t bounded_number(const char *at, int64_t limit) {
    uint64_t value = hd_zip_number(at, 8);
    return limit >= 0 && value <= (uint64_t)limit ? (int64_t)value : -1;
}

/* Reads the ZIP64 end record, to which the locator in front of the plain one refers. Archives
 * without a locator have none. */
static huddle_status read_end64(const char *bytes, int64_t end, directory *d) {
    int64_t locator = end - HD_ZIP_LOCATOR64_SIZE;
    if (locator < 0 || hd_zip_number(bytes + locator, 4) != HD_ZIP_LOCATOR64)
        return HUDDLE_OK;
    int64_t at = bounded_number(bytes + locator + 8, locator - HD_ZIP_END64_SIZE);
    if (at < 0 || hd_zip_number(bytes + at, 4) != HD_ZIP_END64)
        return hd_fail(HUDDLE_FORMAT, "the archive is damaged: its ZIP64 directory is missing");
    if (hd_zip_number(bytes + at + 16, 4) != 0 || hd_zip_number(bytes + at + 20, 4) != 0)
        return hd_fail(HUDDLE_UNSUPPORTED, "the archive is split into several files");
    d->count = bounded_number(bytes + at + 32, at);
    d->size = bounded_number(bytes + at + 40, at);
    d->begin = bounded_number(bytes + at + 48, at);
    return HUDDLE_OK;
}

/* Every record takes at least HD_ZIP_CENTRAL_SIZE bytes, which bounds the count, and with it the
 * allocation of the entries, by the size of the file. */
static huddle_status find_directory(const char *bytes, int64_t size, directory *d) {
    huddle_status status = HUDDLE_OK;
    const char *end = find_end(bytes, size);
    if (end == NULL)
        FAIL(HUDDLE_FORMAT, "the archive is damaged: it has no directory");
    d->count = (int64_t)hd_zip_number(end + 10, 2);
    d->size = (int64_t)hd_zip_number(end + 12, 4);
    d->begin = (int64_t)hd_zip_number(end + 16, 4);
    /* Numbers of this disk and of the disk on which the directory begins. */
    if (hd_zip_number(end + 4, 2) != 0 || hd_zip_number(end + 6, 2) != 0)
        FAIL(HUDDLE_UNSUPPORTED, "the archive is split into several files");
    TRY(read_end64(bytes, end - bytes, d));
    if (d->count < 0 || d->size < 0 || d->begin < 0 || d->begin > end - bytes ||
        d->size > end - bytes - d->begin || d->count > d->size / HD_ZIP_CENTRAL_SIZE)
        FAIL(HUDDLE_FORMAT, "the archive is damaged: its directory does not fit into the file");
done:
    return status;
}

/* Replaces sizes and offset that the plain record leaves to the ZIP64 extra field. The field
 * contains only those, in a fixed order. Negative numbers, for values out of bounds, are refused by
 * check_entry(). */
static bool read_extra64(const char *extra, int64_t length, hd_zip_entry *entry) {
    int64_t *fields[] = {&entry->size, &entry->packed, &entry->offset};
    while (length >= 4) {
        int64_t size = (int64_t)hd_zip_number(extra + 2, 2);
        if (size > length - 4)
            return false;
        const char *at = extra + 4, *end = at + size;
        if (hd_zip_number(extra, 2) == HD_ZIP_EXTRA64) {
            for (int k = 0; k < 3; k++) {
                if (*fields[k] != (int64_t)HD_ZIP_ESCAPE_32)
                    continue;
                if (end - at < 8)
                    return false;
                /* Sums of a few such numbers do not overflow. */
                *fields[k] = bounded_number(at, INT64_MAX / 4);
                at += 8;
            }
            return true;
        }
        extra = end;
        length -= 4 + size;
    }
    return true;
}

/* True for a relative path without "..". Nothing here extracts to the disk, but a caller may use
 * names for files later. Control characters could hide a name in a message on a terminal. */
static bool is_safe_name(const char *name, int64_t length) {
    if (length == 0 || name[0] == '/')
        return false;
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 32 || name[i] == 127 || name[i] == '\\')
            return false;
    for (int64_t begin = 0, i = 0; i <= length; i++)
        if (i == length || name[i] == '/') {
            if (i - begin == 2 && memcmp(name + begin, "..", 2) == 0)
                return false;
            begin = i + 1;
        }
    return true;
}

/* Checks that the content of an entry lies in the file, before the directory, and that it can have
 * the size that it claims: deflate cannot compress by more than MAX_RATIO, so that a larger claim
 * is an attempt to cause a large allocation. 64 bytes allow for tiny streams. */
static huddle_status check_entry(const char *bytes, const directory *d, const hd_zip_entry *entry) {
    const char *name = entry->name;
    if (entry->size < 0 || entry->packed < 0 || entry->offset < 0 ||
        entry->offset > d->begin - HD_ZIP_LOCAL_SIZE ||
        hd_zip_number(bytes + entry->offset, 4) != HD_ZIP_LOCAL)
        return hd_fail(HUDDLE_FORMAT, "the archive is damaged: entry '%s' is not where it says",
                       name);
    if (entry->method != HD_ZIP_STORED && entry->method != HD_ZIP_DEFLATED)
        return hd_fail(HUDDLE_UNSUPPORTED, "entry '%s' is compressed by method %d, not by deflate",
                       name, (int)entry->method);
    if (entry->packed > d->begin - entry->offset - HD_ZIP_LOCAL_SIZE)
        return hd_fail(HUDDLE_FORMAT, "entry '%s' claims %lld bytes, more than the file has", name,
                       (long long)entry->packed);
    if (entry->method == HD_ZIP_STORED ? entry->size != entry->packed
                                       : entry->size / MAX_RATIO > entry->packed + 64)
        return hd_fail(HUDDLE_FORMAT, "entry '%s' cannot unpack to %lld bytes", name,
                       (long long)entry->size);
    return HUDDLE_OK;
}

/* Reads the record at *at, which is advanced to the next one; its name is copied to *names. */
static huddle_status read_central(const char *bytes, const directory *d, int64_t *at, char **names,
                                  hd_zip_entry *entry) {
    huddle_status status = HUDDLE_OK;
    const char *record = bytes + *at;
    int64_t left = d->begin + d->size - *at;
    if (left < HD_ZIP_CENTRAL_SIZE || hd_zip_number(record, 4) != HD_ZIP_CENTRAL)
        FAIL(HUDDLE_FORMAT, "the archive is damaged: its directory is cut short");
    int64_t name = (int64_t)hd_zip_number(record + 28, 2);
    int64_t extra = (int64_t)hd_zip_number(record + 30, 2);
    int64_t comment = (int64_t)hd_zip_number(record + 32, 2);
    if (name + extra + comment > left - HD_ZIP_CENTRAL_SIZE)
        FAIL(HUDDLE_FORMAT, "the archive is damaged: its directory is cut short");
    if (!is_safe_name(record + HD_ZIP_CENTRAL_SIZE, name))
        FAIL(HUDDLE_FORMAT, "the archive has an entry whose name is not a plain relative path");
    /* Names in the file have no zero byte at their end. */
    memcpy(*names, record + HD_ZIP_CENTRAL_SIZE, (size_t)name);
    (*names)[name] = '\0';
    *entry = (hd_zip_entry){.name = *names,
                            .method = (hd_zip_method)hd_zip_number(record + 10, 2),
                            .crc = (uint32_t)hd_zip_number(record + 16, 4),
                            .packed = (int64_t)hd_zip_number(record + 20, 4),
                            .size = (int64_t)hd_zip_number(record + 24, 4),
                            .offset = (int64_t)hd_zip_number(record + 42, 4)};
    if (!read_extra64(record + HD_ZIP_CENTRAL_SIZE + name, extra, entry))
        FAIL(HUDDLE_FORMAT, "entry '%s' has a damaged ZIP64 record", entry->name);
    if ((hd_zip_number(record + 8, 2) & FLAG_ENCRYPTED) != 0)
        FAIL(HUDDLE_UNSUPPORTED, "entry '%s' is encrypted", entry->name);
    TRY(check_entry(bytes, d, entry));
    *names += name + 1;
    *at += HD_ZIP_CENTRAL_SIZE + name + extra + comment;
done:
    return status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const hd_zip_entry *const *)a)->name, (*(const hd_zip_entry *const *)b)->name);
}

/* Sorts the entries by name for hd_zip_find(). Names that occur twice are refused: readers differ
 * in which entry they use. */
static huddle_status index_names(hd_zip *zip) {
    huddle_status status = HUDDLE_OK;
    ALLOC(zip->by_name, zip->count);
    for (int64_t k = 0; k < zip->count; k++)
        zip->by_name[k] = &zip->entries[k];
    qsort(zip->by_name, (size_t)zip->count, sizeof *zip->by_name, compare_names);
    for (int64_t k = 1; k < zip->count; k++)
        if (compare_names(&zip->by_name[k - 1], &zip->by_name[k]) == 0)
            FAIL(HUDDLE_FORMAT, "the archive has two entries '%s'", zip->by_name[k]->name);
done:
    return status;
}

/* All entries are checked before any is read. */
huddle_status hd_zip_open_memory(const char *bytes, int64_t size, hd_zip *zip) {
    huddle_status status = HUDDLE_OK;
    directory d = {0};
    int64_t packed = 0;
    *zip = (hd_zip){.bytes = bytes, .size = size};
    TRY(find_directory(bytes, size, &d));
    ALLOC(zip->entries, d.count);
    /* Every record has more bytes than its name. */
    ALLOC(zip->names, d.size);
    char *names = zip->names;
    for (int64_t k = 0, at = d.begin; k < d.count; k++) {
        TRY(read_central(bytes, &d, &at, &names, &zip->entries[k]));
        zip->count++;
        /* Without overlaps the entries fit into the file together. Archives that share bytes
         * between entries unpack to far more than their size. */
        packed += zip->entries[k].packed + HD_ZIP_LOCAL_SIZE;
        if (packed > d.begin)
            FAIL(HUDDLE_FORMAT, "the archive is damaged: its entries overlap");
    }
    TRY(index_names(zip));
done:
    if (status != HUDDLE_OK)
        hd_zip_free(zip);
    return status;
}

void hd_zip_free(hd_zip *zip) {
    FREE(zip->entries, zip->by_name, zip->names);
    *zip = (hd_zip){0};
}

/* Binary search: an archive from elsewhere may have many entries. */
const hd_zip_entry *hd_zip_find(const hd_zip *zip, const char *name) {
    const hd_zip_entry wanted = {.name = name}, *key = &wanted;
    const hd_zip_entry **found =
        bsearch(&key, zip->by_name, (size_t)zip->count, sizeof *zip->by_name, compare_names);
    return found != NULL ? *found : NULL;
}

/* ---- content ------------------------------------------------------------------------------ */

static huddle_status report_damage(const hd_zip_stream *stream) {
    return hd_fail(HUDDLE_FORMAT, "entry '%s' is damaged or cut short", stream->entry->name);
}

/* Raw deflate (negative window bits): zip has its own header and CRC. */
huddle_status hd_zip_stream_open(const hd_zip *zip, const hd_zip_entry *entry,
                                 hd_zip_stream *stream) {
    huddle_status status = HUDDLE_OK;
    const char *local = zip->bytes + entry->offset;
    *stream = (hd_zip_stream){.entry = entry, .unread = entry->size};
    /* The local name and extra field may differ in length from those of the directory. */
    int64_t begin = entry->offset + HD_ZIP_LOCAL_SIZE + (int64_t)hd_zip_number(local + 26, 2) +
                    (int64_t)hd_zip_number(local + 28, 2);
    if (entry->packed > zip->size - begin)
        TRY(report_damage(stream));
    stream->at = zip->bytes + begin;
    stream->left = entry->packed;
    if (entry->method == HD_ZIP_DEFLATED) {
        ALLOC_ZERO(stream->inflate, 1);
        if (inflateInit2(stream->inflate, -MAX_WBITS) != Z_OK)
            FAIL(HUDDLE_NO_MEMORY, "no memory for unpacking a file");
    }
done:
    return status;
}

void hd_zip_stream_free(hd_zip_stream *stream) {
    if (stream->inflate != NULL)
        (void)inflateEnd(stream->inflate);
    huddle_free(stream->inflate);
    stream->inflate = NULL;
}

/* A call without progress would repeat forever and ends the loop as well. */
int64_t hd_zip_inflate(z_stream *z, const char **at, int64_t *left, char *to, int64_t size) {
    int64_t total = 0, made = 1, consumed = 1;
    for (int code = Z_OK; total < size && code == Z_OK && made + consumed > 0;) {
        uInt in = (uInt)(*left < MAX_CALL ? *left : MAX_CALL);
        uInt out = (uInt)(size - total < MAX_CALL ? size - total : MAX_CALL);
        z->next_in = (Bytef *)(uintptr_t)*at;
        z->avail_in = in;
        z->next_out = (Bytef *)to + total;
        z->avail_out = out;
        code = inflate(z, Z_NO_FLUSH);
        consumed = (int64_t)in - z->avail_in;
        made = (int64_t)out - z->avail_out;
        *at += consumed;
        *left -= consumed;
        total += made;
    }
    return total;
}

/* The CRC is updated piece by piece; hd_zip_stream_finish() compares it. */
huddle_status hd_zip_stream_read(hd_zip_stream *stream, void *to, int64_t size) {
    /* Never beyond the size in the directory, whatever the packed data contain. */
    if (size > stream->unread)
        return report_damage(stream);
    if (size == 0)
        return HUDDLE_OK;
    if (stream->inflate == NULL) { /* stored */
        memcpy(to, stream->at, (size_t)size);
        stream->at += size;
    } else if (hd_zip_inflate(stream->inflate, &stream->at, &stream->left, to, size) < size) {
        return report_damage(stream);
    }
    stream->crc = (uint32_t)crc32_z(stream->crc, to, (z_size_t)size);
    stream->unread -= size;
    return HUDDLE_OK;
}

/* Delivers bytes to nobody, to complete the CRC or to come to those that are wanted. */
static huddle_status skip_bytes(hd_zip_stream *stream, int64_t size) {
    huddle_status status = HUDDLE_OK;
    char bytes[SKIP];
    for (; size > 0; size -= SKIP)
        TRY(hd_zip_stream_read(stream, bytes, size < SKIP ? size : SKIP));
done:
    return status;
}

huddle_status hd_zip_check_crc(const hd_zip_entry *entry, uint32_t crc) {
    if (crc == entry->crc)
        return HUDDLE_OK;
    return hd_fail(HUDDLE_FORMAT, "entry '%s' is damaged: its CRC-32 is %08x, not %08x",
                   entry->name, (unsigned)crc, (unsigned)entry->crc);
}

huddle_status hd_zip_stream_finish(hd_zip_stream *stream) {
    huddle_status status = HUDDLE_OK;
    TRY(skip_bytes(stream, stream->unread));
    TRY(hd_zip_check_crc(stream->entry, stream->crc));
done:
    return status;
}

/* ---- parts of the content ------------------------------------------------------------------ */

/* Moves a stream that was just opened to a part of the content, which must exist. */
static huddle_status seek_part(hd_zip_stream *stream, int64_t from, int64_t size) {
    if (from < 0 || size < 0 || size > stream->unread || from > stream->unread - size)
        return report_damage(stream);
    if (stream->inflate != NULL)
        return skip_bytes(stream, from);
    stream->at += from;
    stream->unread -= from;
    return HUDDLE_OK;
}

huddle_status hd_zip_read_part(const hd_zip *zip, const hd_zip_entry *entry, int64_t from,
                               int64_t size, void *to) {
    huddle_status status = HUDDLE_OK;
    hd_zip_stream stream = {0};
    TRY(hd_zip_stream_open(zip, entry, &stream));
    TRY(seek_part(&stream, from, size));
    TRY(hd_zip_stream_read(&stream, to, size));
    if (entry->method == HD_ZIP_DEFLATED || size == entry->size)
        TRY(hd_zip_stream_finish(&stream));
done:
    hd_zip_stream_free(&stream);
    return status;
}

/* entry->size is bounded by check_entry(), so that the allocation is in proportion to the file. */
huddle_status hd_zip_read(const hd_zip *zip, const hd_zip_entry *entry, char **bytes) {
    huddle_status status = HUDDLE_OK;
    char *content = NULL;
    *bytes = NULL;
    ALLOC(content, entry->size + 1);
    TRY(hd_zip_read_part(zip, entry, 0, entry->size, content));
    content[entry->size] = '\0';
    *bytes = content;
    content = NULL;
done:
    huddle_free(content);
    return status;
}

huddle_status hd_zip_part_crc(const hd_zip *zip, const hd_zip_entry *entry, int64_t from,
                              int64_t size, uint32_t *crc) {
    huddle_status status = HUDDLE_OK;
    hd_zip_stream stream = {0};
    if (entry->method != HD_ZIP_STORED)
        FAIL(HUDDLE_INTERNAL, "a part of a deflated entry has no CRC-32");
    TRY(hd_zip_stream_open(zip, entry, &stream));
    TRY(seek_part(&stream, from, size));
    *crc = size > 0 ? (uint32_t)crc32_z(0, (const Bytef *)stream.at, (z_size_t)size) : 0;
done:
    hd_zip_stream_free(&stream);
    return status;
}

uint32_t hd_zip_join_crc(uint32_t before, uint32_t crc, int64_t size) {
    return (uint32_t)crc32_combine(before, crc, (z_off_t)size);
}
