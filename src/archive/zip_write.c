/* Writing zip archives. An entry is written in one pass behind a local header whose sizes and
 * CRC-32 are filled in afterwards: the content need not be in memory, and no data descriptors are
 * needed, which some readers do not accept for stored entries. */
#include "archive/zip.h"
#include "archive/zip_records.h"
#include "base/check.h"

#include <string.h>
#include <zlib.h>

enum {
    VERSION_PLAIN = 20,    /* deflate */
    VERSION_64 = 45,       /* ZIP64 */
    MADE_BY_UNIX = 3 << 8, /* so that unzip applies the file mode */
    FLAG_UTF8 = 1 << 11,   /* the name is UTF-8 */
    DATE = 1 << 5 | 1,     /* 1980-01-01, the first day of the format; 0 would be no date */
    LEVEL = 6,             /* zlib's default; higher levels cost much more than they save */
    PIECE = 1 << 17,       /* of deflated output */
    MAX_CALL = 1 << 30,    /* zlib counts in 32 bits */
    LOCAL_EXTRA_SIZE = 20  /* the ZIP64 extra field of a local header */
};

#define FILE_MODE ((uint32_t)0100644 << 16) /* a regular file, rw-r--r-- */

huddle_status hd_zip_create(const char *path, hd_zip_writer *zip) {
    *zip = (hd_zip_writer){.max_plain = (int64_t)HD_ZIP_ESCAPE_32 - 1};
    return hd_output_begin(path, true, &zip->output);
}

static huddle_status write_bytes(hd_zip_writer *zip, const void *bytes, int64_t size) {
    zip->position += size;
    return hd_output_write(&zip->output, bytes, size);
}

/* Whether the local header needs a ZIP64 field, which must be known before the content is
 * compressed. Deflate can enlarge its input, by far less than 1/1000 plus a few bytes. */
static bool entry_needs_64(const hd_zip_writer *zip, int64_t size) {
    return size > zip->max_plain - size / 1000 - 64;
}

/* The flag for UTF-8 is set only where it is needed. */
static bool is_ascii(const char *name) {
    for (; *name != '\0'; name++)
        if ((unsigned char)*name >= 0x80)
            return false;
    return true;
}

/* The fields that a local and a central header have in common, from the version needed up to the
 * length of the name. `plain` is false if the sizes are in the extra field. The date is fixed, so
 * that equal content gives equal files. */
static char *store_common(char *at, const hd_zip_entry *entry, int version, bool plain) {
    at = hd_zip_store(at, 2, (uint64_t)version);
    at = hd_zip_store(at, 2, is_ascii(entry->name) ? 0 : FLAG_UTF8);
    at = hd_zip_store(at, 2, entry->method);
    at = hd_zip_store(at, 2, 0); /* midnight */
    at = hd_zip_store(at, 2, DATE);
    at = hd_zip_store(at, 4, entry->crc);
    at = hd_zip_store(at, 4, plain ? (uint64_t)entry->packed : HD_ZIP_ESCAPE_32);
    at = hd_zip_store(at, 4, plain ? (uint64_t)entry->size : HD_ZIP_ESCAPE_32);
    return hd_zip_store(at, 2, strlen(entry->name));
}

/* The local header without the name, and the extra field that follows the name; a local ZIP64 field
 * always has both sizes. Returns the length of the extra field. Called twice per entry: before the
 * content with sizes of 0, and after it with the final ones, for which the header has the same
 * length. */
static int64_t make_local_header(const hd_zip_entry *entry, bool wide,
                                 char header[HD_ZIP_LOCAL_SIZE], char extra[LOCAL_EXTRA_SIZE]) {
    char *at = hd_zip_store(header, 4, HD_ZIP_LOCAL);
    at = store_common(at, entry, wide ? VERSION_64 : VERSION_PLAIN, !wide);
    hd_zip_store(at, 2, wide ? LOCAL_EXTRA_SIZE : 0);
    at = hd_zip_store(extra, 2, HD_ZIP_EXTRA64);
    at = hd_zip_store(at, 2, LOCAL_EXTRA_SIZE - 4);
    at = hd_zip_store(at, 8, (uint64_t)entry->size);
    hd_zip_store(at, 8, (uint64_t)entry->packed);
    return wide ? LOCAL_EXTRA_SIZE : 0;
}

static void stop_deflate(hd_zip_writer *zip) {
    if (zip->deflate != NULL)
        (void)deflateEnd(zip->deflate);
    huddle_free(zip->deflate);
    zip->deflate = NULL;
}

/* `size` decides about ZIP64 only; sizes and CRC are patched by hd_zip_end(). */
huddle_status hd_zip_begin(hd_zip_writer *zip, const char *name, hd_zip_method method,
                           int64_t size) {
    huddle_status status = HUDDLE_OK;
    char header[HD_ZIP_LOCAL_SIZE], extra[LOCAL_EXTRA_SIZE];
    int64_t length = (int64_t)strlen(name);
    if (length > HD_ZIP_MAX_NAME)
        FAIL(HUDDLE_INVALID, "%s: the name of an entry has %lld bytes", zip->output.path,
             (long long)length);
    if (!hd_grow(&zip->entries, &zip->capacity, zip->count + 1, sizeof *zip->entries))
        FAIL(HUDDLE_NO_MEMORY, "no memory for the directory of an archive");
    hd_zip_entry *entry = &zip->entries[zip->count];
    *entry = (hd_zip_entry){.name = hd_copy_text(name), .method = method};
    if (entry->name == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    zip->count++;
    entry->offset = zip->position;
    zip->promised = size;
    zip->open = true;
    if (method == HD_ZIP_DEFLATED) {
        ALLOC_ZERO(zip->deflate, 1);
        /* A negative window size: raw deflate, without zlib's own header. */
        if (deflateInit2(zip->deflate, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
            Z_OK)
            FAIL(HUDDLE_NO_MEMORY, "no memory for compressing a file");
    }
    int64_t more = make_local_header(entry, entry_needs_64(zip, size), header, extra);
    TRY(write_bytes(zip, header, sizeof header));
    TRY(write_bytes(zip, name, length));
    TRY(write_bytes(zip, extra, more));
done:
    return status;
}

/* Deflates a piece and writes the output. A full output buffer means that zlib may have more. */
static huddle_status write_deflated(hd_zip_writer *zip, const char *bytes, int64_t size,
                                    int flush) {
    huddle_status status = HUDDLE_OK;
    hd_zip_entry *entry = &zip->entries[zip->count - 1];
    z_stream *z = zip->deflate;
    char *piece = NULL;
    ALLOC(piece, PIECE);
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)size;
    do {
        z->next_out = (Bytef *)piece;
        z->avail_out = PIECE;
        if (deflate(z, flush) == Z_STREAM_ERROR)
            FAIL(HUDDLE_INTERNAL, "%s: zlib failed", zip->output.path);
        int64_t made = PIECE - (int64_t)z->avail_out;
        entry->packed += made;
        TRY(write_bytes(zip, piece, made));
    } while (z->avail_out == 0);
done:
    huddle_free(piece);
    return status;
}

huddle_status hd_zip_write(hd_zip_writer *zip, const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    hd_zip_entry *entry = &zip->entries[zip->count - 1];
    entry->size += size;
    /* crc32_z(crc, NULL, 0) would start again from 0. */
    if (size > 0)
        entry->crc = (uint32_t)crc32_z(entry->crc, bytes, (z_size_t)size);
    if (entry->method == HD_ZIP_STORED) {
        entry->packed += size;
        return write_bytes(zip, bytes, size);
    }
    for (const char *from = bytes; size > 0;) {
        int64_t part = size < MAX_CALL ? size : MAX_CALL;
        TRY(write_deflated(zip, from, part, Z_NO_FLUSH));
        from += part;
        size -= part;
    }
done:
    return status;
}

/* A different size than announced is a mistake of the caller: the header may have the wrong
 * form. */
huddle_status hd_zip_end(hd_zip_writer *zip) {
    huddle_status status = HUDDLE_OK;
    hd_zip_entry *entry = &zip->entries[zip->count - 1];
    char header[HD_ZIP_LOCAL_SIZE], extra[LOCAL_EXTRA_SIZE];
    if (entry->method == HD_ZIP_DEFLATED)
        TRY(write_deflated(zip, NULL, 0, Z_FINISH));
    if (entry->size != zip->promised)
        FAIL(HUDDLE_INTERNAL, "%s: entry '%s': expected %lld bytes, got %lld", zip->output.path,
             entry->name, (long long)zip->promised, (long long)entry->size);
    int64_t more = make_local_header(entry, entry_needs_64(zip, entry->size), header, extra);
    TRY(hd_output_patch(&zip->output, entry->offset, header, sizeof header));
    TRY(hd_output_patch(&zip->output,
                        entry->offset + (int64_t)sizeof header + (int64_t)strlen(entry->name),
                        extra, more));
    zip->open = false;
done:
    stop_deflate(zip);
    return status;
}

huddle_status hd_zip_add(hd_zip_writer *zip, const char *name, hd_zip_method method,
                         const void *bytes, int64_t size) {
    huddle_status status = HUDDLE_OK;
    TRY(hd_zip_begin(zip, name, method, size));
    TRY(hd_zip_write(zip, bytes, size));
    TRY(hd_zip_end(zip));
done:
    return status;
}

/* Writes one record of the central directory. Its ZIP64 field contains only what does not fit into
 * the plain fields: both sizes if one is too large, and the offset. */
static huddle_status write_central(hd_zip_writer *zip, const hd_zip_entry *entry) {
    huddle_status status = HUDDLE_OK;
    char record[HD_ZIP_CENTRAL_SIZE], extra[32];
    /* Final sizes are known here, so that an entry with a local ZIP64 field may do without one. */
    bool wide = entry->size > zip->max_plain || entry->packed > zip->max_plain;
    bool far = entry->offset > zip->max_plain;
    char *end = extra + 4;
    if (wide) {
        end = hd_zip_store(end, 8, (uint64_t)entry->size);
        end = hd_zip_store(end, 8, (uint64_t)entry->packed);
    }
    if (far)
        end = hd_zip_store(end, 8, (uint64_t)entry->offset);
    int64_t length = wide || far ? end - extra : 0;
    hd_zip_store(hd_zip_store(extra, 2, HD_ZIP_EXTRA64), 2, (uint64_t)(end - extra - 4));

    int version = length > 0 ? VERSION_64 : VERSION_PLAIN;
    char *at = hd_zip_store(record, 4, HD_ZIP_CENTRAL);
    at = hd_zip_store(at, 2, (uint64_t)(MADE_BY_UNIX | version));
    at = store_common(at, entry, version, !wide);
    at = hd_zip_store(at, 2, (uint64_t)length);
    at = hd_zip_store(at, 6, 0); /* comment, disc, internal attributes */
    at = hd_zip_store(at, 4, FILE_MODE);
    hd_zip_store(at, 4, far ? HD_ZIP_ESCAPE_32 : (uint64_t)entry->offset);
    TRY(write_bytes(zip, record, sizeof record));
    TRY(write_bytes(zip, entry->name, (int64_t)strlen(entry->name)));
    TRY(write_bytes(zip, extra, length));
done:
    return status;
}

/* The ZIP64 end of the directory and the record that locates it. */
static huddle_status write_end64(hd_zip_writer *zip, int64_t begin, int64_t size) {
    char record[HD_ZIP_END64_SIZE + HD_ZIP_LOCATOR64_SIZE];
    int64_t here = zip->position;
    char *at = hd_zip_store(record, 4, HD_ZIP_END64);
    at = hd_zip_store(at, 8, HD_ZIP_END64_SIZE - 12); /* what follows this field */
    at = hd_zip_store(at, 2, MADE_BY_UNIX | VERSION_64);
    at = hd_zip_store(at, 2, VERSION_64);
    at = hd_zip_store(at, 8, 0); /* this disc, that of the directory */
    at = hd_zip_store(at, 8, (uint64_t)zip->count);
    at = hd_zip_store(at, 8, (uint64_t)zip->count);
    at = hd_zip_store(at, 8, (uint64_t)size);
    at = hd_zip_store(at, 8, (uint64_t)begin);
    at = hd_zip_store(at, 4, HD_ZIP_LOCATOR64);
    at = hd_zip_store(at, 4, 0);
    at = hd_zip_store(at, 8, (uint64_t)here);
    hd_zip_store(at, 4, 1); /* discs */
    return write_bytes(zip, record, sizeof record);
}

/* The ZIP64 end record is added only where a plain field overflows, because old readers do not know
 * it. */
static huddle_status write_directory(hd_zip_writer *zip) {
    huddle_status status = HUDDLE_OK;
    char record[HD_ZIP_END_SIZE];
    int64_t begin = zip->position;
    for (int64_t k = 0; k < zip->count; k++)
        TRY(write_central(zip, &zip->entries[k]));
    int64_t size = zip->position - begin;
    bool many = zip->count >= (int64_t)HD_ZIP_ESCAPE_16, wide = size > zip->max_plain;
    bool far = begin > zip->max_plain;
    if (many || wide || far)
        TRY(write_end64(zip, begin, size));
    uint64_t count = many ? HD_ZIP_ESCAPE_16 : (uint64_t)zip->count;
    char *at = hd_zip_store(record, 4, HD_ZIP_END);
    at = hd_zip_store(at, 4, 0); /* this disc, that of the directory */
    at = hd_zip_store(at, 2, count);
    at = hd_zip_store(at, 2, count);
    at = hd_zip_store(at, 4, wide ? HD_ZIP_ESCAPE_32 : (uint64_t)size);
    at = hd_zip_store(at, 4, far ? HD_ZIP_ESCAPE_32 : (uint64_t)begin);
    hd_zip_store(at, 2, 0); /* comment */
    TRY(write_bytes(zip, record, sizeof record));
done:
    return status;
}

huddle_status hd_zip_close(hd_zip_writer *zip, huddle_status status) {
    if (status == HUDDLE_OK && zip->open)
        status = hd_fail(HUDDLE_INTERNAL, "%s: an entry was not ended", zip->output.path);
    if (status == HUDDLE_OK)
        status = write_directory(zip);
    stop_deflate(zip);
    for (int64_t k = 0; k < zip->count; k++)
        huddle_free((void *)(uintptr_t)zip->entries[k].name);
    huddle_free(zip->entries);
    zip->entries = NULL;
    zip->count = zip->capacity = 0;
    return hd_output_end(&zip->output, status);
}
