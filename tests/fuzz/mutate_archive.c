/* Mutations of zip archives: one entry is changed, and the archive is written again with sizes and
 * CRC-32 that are right. Of plain mutations nearly all end at a wrong CRC-32, before the content of
 * the archive is looked at. A quarter of the mutations is plain. */
#include "archive/zip.h"
#include "archive/zip_records.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { MAX_ENTRIES = 200, MAX_CONTENT = 1 << 20 };

/* An archive being written into `bytes`; too large if `used` exceeds `room`. */
typedef struct archive {
    char *bytes;
    size_t used, room;
} archive;

static void put(archive *to, const void *bytes, size_t size) {
    if (to->used + size <= to->room)
        memcpy(to->bytes + to->used, bytes, size);
    to->used += size;
}

/* The local header, or the record of the directory, of a stored entry. */
static void put_record(archive *to, bool central, const hd_zip_entry *entry) {
    char record[HD_ZIP_CENTRAL_SIZE] = {0};
    size_t name = strlen(entry->name);
    char *at = hd_zip_store(record, 4, central ? HD_ZIP_CENTRAL : HD_ZIP_LOCAL);
    if (central)
        at = hd_zip_store(at, 2, 20);
    at = hd_zip_store(at, 2, 20);
    at = hd_zip_store(at + 8, 4, entry->crc);
    at = hd_zip_store(at, 4, (uint64_t)entry->size);
    at = hd_zip_store(at, 4, (uint64_t)entry->size);
    (void)hd_zip_store(at, 2, name);
    if (central)
        (void)hd_zip_store(record + 42, 4, (uint64_t)entry->offset);
    put(to, record, central ? HD_ZIP_CENTRAL_SIZE : HD_ZIP_LOCAL_SIZE);
    put(to, entry->name, name);
}

static void put_end(archive *to, size_t begin, int64_t count) {
    char record[HD_ZIP_END_SIZE] = {0};
    (void)hd_zip_store(record, 4, HD_ZIP_END);
    (void)hd_zip_store(record + 8, 2, (uint64_t)count);
    (void)hd_zip_store(record + 10, 2, (uint64_t)count);
    (void)hd_zip_store(record + 12, 4, to->used - begin);
    (void)hd_zip_store(record + 16, 4, begin);
    put(to, record, sizeof record);
}

static bool begins_number(const char *text, int64_t i) {
    bool digit = isdigit((unsigned char)text[i]) || text[i] == '-';
    return digit && i > 0 && (text[i - 1] == ' ' || text[i - 1] == '[' || text[i - 1] == ',');
}

/* Replaces one number of a JSON text by another value. */
static int64_t replace_number(char *text, int64_t size, unsigned seed) {
    static const char *const values[] = {
        "0",  "-0.0", "[]",         "true",  "2147483647",
        "-1", "1",    "4294967297", "1e300", "9223372036854775807",
        "{}", "null", "\"a\"",      "2",     "-9223372036854775808"};
    int64_t count = 0, begin = 0;
    for (int64_t i = 0; i < size; i++)
        count += begins_number(text, i);
    if (count == 0)
        return size;
    int64_t chosen = seed % count;
    for (int64_t i = 0; i < size; i++)
        if (begins_number(text, i) && chosen-- == 0)
            begin = i;
    int64_t end = begin;
    while (end < size && strchr(",]}\n ", text[end]) == NULL)
        end++;
    const char *value = values[seed / 7 % (sizeof values / sizeof *values)];
    int64_t length = (int64_t)strlen(value);
    memmove(text + begin + length, text + end, (size_t)(size - end));
    memcpy(text + begin, value, (size_t)length);
    return size + length - (end - begin);
}

/* The content of an entry after a mutation, in memory with room for it to grow. */
static int64_t mutate_content(char *content, int64_t size, bool is_json, unsigned seed) {
    if (is_json && seed % 4 != 0)
        return replace_number(content, size, seed / 4);
    return (int64_t)LLVMFuzzerMutate((uint8_t *)content, (size_t)size, (size_t)size + 64);
}

/* Copies all entries; number `chosen` is mutated, or left out if `dropped`. */
static bool rewrite(const hd_zip *zip, int64_t chosen, bool dropped, unsigned seed, archive *to) {
    hd_zip_entry made[MAX_ENTRIES];
    int64_t count = 0;
    for (int64_t k = 0; k < zip->count; k++) {
        char *bytes = NULL;
        hd_zip_entry entry = zip->entries[k];
        if (entry.size > MAX_CONTENT || (k == chosen && dropped))
            continue;
        if (hd_zip_read(zip, &entry, &bytes) != HUDDLE_OK)
            continue;
        char *content = calloc(1, (size_t)entry.size + 64);
        memcpy(content, bytes, (size_t)entry.size);
        huddle_free(bytes);
        size_t length = strlen(entry.name);
        bool is_json = length > 5 && strcmp(entry.name + length - 5, ".json") == 0;
        if (k == chosen)
            entry.size = mutate_content(content, entry.size, is_json, seed);
        entry.crc = (uint32_t)crc32_z(0, (const Bytef *)content, (z_size_t)entry.size);
        entry.offset = (int64_t)to->used;
        put_record(to, false, &entry);
        put(to, content, (size_t)entry.size);
        made[count++] = entry;
        free(content);
    }
    size_t begin = to->used;
    for (int64_t k = 0; k < count; k++)
        put_record(to, true, &made[k]);
    put_end(to, begin, count);
    return count > 0 && to->used <= to->room;
}

/* The archive begins at once or after one byte of options. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    size_t skipped = size > 1 && data[0] != 'P' ? 1 : 0;
    hd_zip zip = {0};
    bool done = false;
    srand(seed);
    unsigned what = (unsigned)rand();
    if (what % 4 != 0 && size > HD_ZIP_END_SIZE &&
        hd_zip_open_memory((const char *)data + skipped, (int64_t)(size - skipped), &zip) ==
            HUDDLE_OK &&
        zip.count > 0 && zip.count <= MAX_ENTRIES) {
        archive to = {malloc(max_size), 0, max_size - skipped};
        int64_t chosen = rand() % zip.count;
        /* Half of the time the text that describes all other entries, if there is one. */
        const hd_zip_entry *json = hd_zip_find(&zip, "model.json");
        if (json != NULL && what % 8 < 4)
            chosen = json - zip.entries;
        done = rewrite(&zip, chosen, what % 64 == 1, (unsigned)rand(), &to);
        if (done) {
            memcpy(data + skipped, to.bytes, to.used);
            size = skipped + to.used;
        }
        free(to.bytes);
    }
    hd_zip_free(&zip);
    return done ? size : LLVMFuzzerMutate(data, size, max_size);
}
