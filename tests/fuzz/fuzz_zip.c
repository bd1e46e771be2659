/* Any bytes are an archive: listing it and reading every entry ends in content whose CRC-32 is
 * right, or in a message. */
#include "fuzz.h"

#include "archive/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    hd_zip zip;
    char *copy = malloc(size + 1); /* of the exact size but for one byte: malloc(0) may be NULL */
    if (size > 0)
        memcpy(copy, bytes, size);
    if (hd_zip_open_memory(copy, (int64_t)size, &zip) != HUDDLE_OK && huddle_last_error()[0] == 0)
        abort();
    for (int64_t k = 0; k < zip.count; k++) {
        const hd_zip_entry *entry = &zip.entries[k];
        char *content = NULL, *elements = NULL;
        hd_npy npy;
        if (hd_zip_find(&zip, entry->name) != entry)
            abort();
        if (hd_zip_read(&zip, entry, &content) == HUDDLE_OK &&
            strlen(content) > (size_t)entry->size)
            abort();
        (void)hd_npy_read(&zip, entry, &npy, &elements);
        huddle_free(content);
        huddle_free(elements);
    }
    hd_zip_free(&zip);
    free(copy);
    return 0;
}
