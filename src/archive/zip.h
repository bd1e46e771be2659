/* Zip archives, written and read with zlib alone. Model files and .npz files are zip archives of
 * NPY arrays; NumPy, Python's zipfile and unzip open what is written here.
 *
 * Entries are stored or deflated. ZIP64 records are written only where an entry or the archive
 * needs them. Time stamps are fixed at 1980-01-01, so that equal content gives equal files. */
#ifndef HUDDLE_SRC_ARCHIVE_ZIP_H
#define HUDDLE_SRC_ARCHIVE_ZIP_H

#include "archive/output.h"

typedef enum hd_zip_method { HD_ZIP_STORED = 0, HD_ZIP_DEFLATED = 8 } hd_zip_method;

typedef struct hd_zip_entry {
    const char *name;
    hd_zip_method method;
    uint32_t crc;
    int64_t size;   /* of the content */
    int64_t packed; /* of the content as it is in the file */
    int64_t offset; /* of the local header */
} hd_zip_entry;

/* ---- writing ------------------------------------------------------------------------------ */

typedef struct hd_zip_writer {
    hd_output output;
    hd_zip_entry *entries;
    int64_t count, capacity;
    int64_t position;           /* bytes written so far */
    int64_t max_plain;          /* the largest size or offset in plain records; tests lower it */
    struct z_stream_s *deflate; /* of the entry being written, or NULL */
    bool open;                  /* between hd_zip_begin() and hd_zip_end() */
    int64_t promised;           /* the size given to hd_zip_begin() */
} hd_zip_writer;

/* Creates an archive. Every writer that was created, even unsuccessfully, ends with
 * hd_zip_close(). Messages contain the file's name. */
huddle_status hd_zip_create(const char *path, hd_zip_writer *zip);

/* Adds an entry of exactly `size` bytes, in any number of pieces. The name is a relative path in
 * UTF-8. */
huddle_status hd_zip_begin(hd_zip_writer *zip, const char *name, hd_zip_method method,
                           int64_t size);
huddle_status hd_zip_write(hd_zip_writer *zip, const void *bytes, int64_t size);
huddle_status hd_zip_end(hd_zip_writer *zip);

/* Adds an entry in one call. */
huddle_status hd_zip_add(hd_zip_writer *zip, const char *name, hd_zip_method method,
                         const void *bytes, int64_t size);

/* Writes the directory and renames the file to its place if status is HUDDLE_OK; removes it
 * otherwise. Returns status, or why the last step failed. */
huddle_status hd_zip_close(hd_zip_writer *zip, huddle_status status);

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct hd_zip {
    const char *bytes; /* of the file; not owned */
    int64_t size;
    hd_zip_entry *entries; /* in the order of the directory */
    int64_t count;
    const hd_zip_entry **by_name; /* sorted by name */
    char *names;
} hd_zip;

/* True if the bytes begin like a zip archive. */
bool hd_zip_is(const char *bytes, int64_t size);

/* Reads the directory. HUDDLE_FORMAT for a damaged archive, HUDDLE_UNSUPPORTED for an encrypted or
 * split one or another compression. Every size in the directory is checked against the file, and
 * names that are absolute, contain "..", backslashes or control characters, or occur twice, are
 * refused. The bytes must outlive the archive. */
huddle_status hd_zip_open_memory(const char *bytes, int64_t size, hd_zip *zip);
void hd_zip_free(hd_zip *zip);

/* The entry of that name, or NULL. */
const hd_zip_entry *hd_zip_find(const hd_zip *zip, const char *name);

/* The content of an entry, followed by a zero byte, in memory to be freed by huddle_free(). Its
 * CRC-32 has been checked. */
huddle_status hd_zip_read(const hd_zip *zip, const hd_zip_entry *entry, char **bytes);

/* Bytes from .. from + size - 1 of the content, for several readers of which each takes a part. Of
 * a stored entry only these are read and, unless they are all, not checked: the readers compute the
 * CRC-32 of their parts, which together are the content, and join them in order, beginning with 0,
 * until they have that of the entry. A deflated entry is unpacked and checked as a whole. */
huddle_status hd_zip_read_part(const hd_zip *zip, const hd_zip_entry *entry, int64_t from,
                               int64_t size, void *to);
huddle_status hd_zip_part_crc(const hd_zip *zip, const hd_zip_entry *entry, int64_t from,
                              int64_t size, uint32_t *crc);
uint32_t hd_zip_join_crc(uint32_t before, uint32_t crc, int64_t size);
huddle_status hd_zip_check_crc(const hd_zip_entry *entry, uint32_t crc);

/* Reads the content in pieces, so that an array can be unpacked into its final place. Nothing that
 * hd_zip_stream_read() delivers may be used before hd_zip_stream_finish() has returned HUDDLE_OK:
 * that unpacks what is left and checks the CRC-32. The only exception is a look at a file header
 * to list what an archive contains. */
typedef struct hd_zip_stream {
    const hd_zip_entry *entry;
    const char *at; /* the next packed byte */
    int64_t left;   /* packed bytes from there on */
    int64_t unread; /* bytes of the content not yet delivered */
    uint32_t crc;   /* of those delivered */
    struct z_stream_s *inflate;
} hd_zip_stream;

huddle_status hd_zip_stream_open(const hd_zip *zip, const hd_zip_entry *entry,
                                 hd_zip_stream *stream);
/* Exactly `size` bytes; HUDDLE_FORMAT if the entry has fewer. */
huddle_status hd_zip_stream_read(hd_zip_stream *stream, void *to, int64_t size);
huddle_status hd_zip_stream_finish(hd_zip_stream *stream);
void hd_zip_stream_free(hd_zip_stream *stream);

/* Unpacks up to `size` bytes with a stream of zlib and returns how many there were: fewer if the
 * *left packed bytes from *at on, both of which are advanced, end before or are damaged. */
int64_t hd_zip_inflate(struct z_stream_s *z, const char **at, int64_t *left, char *to,
                       int64_t size);

#endif
