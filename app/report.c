#include "report.h"

#include "command.h"
#include "output.h"
#include "talk.h"

#include <huddle/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* page_shell, page_style and page_script: the files of page/, made into arrays by the build. */
#include "page.inc"

/* ---- the tree of a page ------------------------------------------------------------------- */

json_t *page_new(const char *title, const char *subtitle) {
    return json_pack("{s:o, s:o, s:s, s:{}, s:[]}", "title", text_json(title), "subtitle",
                     text_json(subtitle), "version", huddle_version(), "shared", "sections");
}

json_t *page_section(json_t *page, const char *id, const char *title, const char *lead) {
    json_t *section = json_pack("{s:s, s:o, s:o, s:[]}", "id", id, "title", text_json(title),
                                "lead", text_json(lead == NULL ? "" : lead), "blocks");
    json_array_append_new(json_object_get(page, "sections"), section);
    return section;
}

void page_add(json_t *section, const char *kind, json_t *block) {
    json_object_set_new(block, "kind", json_string(kind));
    json_array_append_new(json_object_get(section, "blocks"), block);
}

void page_share(json_t *page, const char *name, json_t *value) {
    json_object_set_new(json_object_get(page, "shared"), name, value);
}

json_t *page_real(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

/* ---- bytes -------------------------------------------------------------------------------- */

json_t *page_bytes(const void *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    size_t length = 0;
    char *text = must(malloc((size + 2) / 3 * 4 + 1));
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)in[i] << 16;
        three |= i + 1 < size ? (uint32_t)in[i + 1] << 8 : 0;
        three |= i + 2 < size ? in[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            text[length++] = i + (size_t)k > size ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    json_t *made = json_stringn_nocheck(text, length);
    free(text);
    return must(made);
}

json_t *page_uint16(const uint16_t *values, size_t count) {
    unsigned char *bytes = must(malloc(2 * count + 1));
    for (size_t i = 0; i < count; i++) {
        bytes[2 * i] = (unsigned char)(values[i] & 255);
        bytes[2 * i + 1] = (unsigned char)(values[i] >> 8);
    }
    json_t *made = page_bytes(bytes, 2 * count);
    free(bytes);
    return made;
}

json_t *page_int32(const int32_t *values, size_t count) {
    unsigned char *bytes = must(malloc(4 * count + 1));
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++)
            bytes[4 * i + (size_t)k] = (unsigned char)((uint32_t)values[i] >> 8 * k & 255);
    json_t *made = page_bytes(bytes, 4 * count);
    free(bytes);
    return made;
}

/* ---- the file ----------------------------------------------------------------------------- */

/* A text that grows. */
typedef struct buffer {
    char *text;
    size_t size, room;
} buffer;

static void put(buffer *out, const char *text, size_t size) {
    if (out->size + size > out->room) {
        out->room = 2 * (out->size + size);
        out->text = must(realloc(out->text, out->room));
    }
    memcpy(out->text + out->size, text, size);
    out->size += size;
}

static void put_text(buffer *out, const char *text) {
    put(out, text, strlen(text));
}

/* Text inside an element. */
static void put_escaped(buffer *out, const char *text) {
    for (; *text != '\0'; text++)
        if (*text == '<')
            put_text(out, "&lt;");
        else if (*text == '&')
            put_text(out, "&amp;");
        else
            put(out, text, 1);
}

static int put_chunk(const char *text, size_t size, void *data) {
    buffer *out = data;
    size_t start = 0;
    /* A "<" stands only inside strings; as an escape it cannot end the script element. */
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<') {
            put(out, text + start, i - start);
            put_text(out, "\\u003c");
            start = i + 1;
        }
    put(out, text + start, size - start);
    return 0;
}

/* What a marker of the shell, such as {{title}}, stands for. */
static void fill(buffer *out, const json_t *page, const char *marker, size_t length) {
    if (strncmp(marker, "title", length) == 0)
        put_escaped(out, json_string_value(json_object_get(page, "title")));
    else if (strncmp(marker, "style", length) == 0)
        put(out, (const char *)page_style, sizeof page_style);
    else if (strncmp(marker, "script", length) == 0)
        put(out, (const char *)page_script, sizeof page_script);
    else
        json_dump_callback(page, put_chunk, out, JSON_COMPACT | JSON_REAL_PRECISION(8));
}

int page_write(const json_t *page, const char *path) {
    buffer out = {0};
    const char *at = (const char *)page_shell, *end = at + sizeof page_shell;
    while (at < end) {
        const char *mark = at;
        while (mark < end && !(end - mark > 4 && mark[0] == '{' && mark[1] == '{'))
            mark++;
        put(&out, at, (size_t)(mark - at));
        if (mark == end)
            break;
        const char *close = mark + 2;
        while (*close != '}')
            close++;
        fill(&out, page, mark + 2, (size_t)(close - mark - 2));
        at = close + 2;
    }
    huddle_status status = huddle_file_write(path, out.text, out.size);
    free(out.text);
    return status == HUDDLE_OK ? EXIT_DONE : failed_call(status, path);
}
