/* What parses is written as text that parses to the same: the second text equals the first. */
#include "fuzz.h"

#include "archive/json.h"

static char *rewrite(const char *text, int64_t size, hd_json_style style) {
    hd_json_document document;
    hd_json_writer json = hd_json_begin(style);
    char *made = NULL;
    if (hd_json_parse(text, size, &document) != HUDDLE_OK) {
        if (huddle_last_error()[0] == '\0')
            abort();
        return NULL;
    }
    hd_json_write(&json, document.root);
    if (hd_json_finish(&json, &made) != HUDDLE_OK)
        abort();
    hd_json_document_free(&document);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 1)
        return 0;
    hd_json_style style = {.indent = bytes[0] & 3, .flat_arrays = (bytes[0] & 4) != 0};
    char *copy = malloc(size);
    memcpy(copy, bytes + 1, size - 1);
    char *first = rewrite(copy, (int64_t)size - 1, style);
    if (first != NULL) {
        char *second = rewrite(first, (int64_t)strlen(first), style);
        if (second == NULL || strcmp(first, second) != 0)
            abort();
        huddle_free(second);
    }
    huddle_free(first);
    free(copy);
    return 0;
}
