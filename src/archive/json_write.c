/* The JSON writer. Values are appended to one growing text; commas, line breaks and indentation
 * follow from the levels that are open. A failed allocation is recorded and reported once, by
 * hd_json_finish(), so that the code that writes values needs no checks. */
#include "archive/json.h"
#include "base/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Longer than any number: 17 digits, sign, point and exponent, or 20 digits of an integer. */
enum { NUMBER = 48 };

hd_json_writer hd_json_begin(hd_json_style style) {
    return (hd_json_writer){.style = style};
}

void hd_json_discard(hd_json_writer *json) {
    huddle_free(json->text);
    *json = (hd_json_writer){0};
}

/* An unclosed array or object is a mistake of the caller, not of the data. */
huddle_status hd_json_finish(hd_json_writer *json, char **text) {
    bool failed = json->failed || json->text == NULL, open = json->depth != 0;
    *text = failed || open ? NULL : json->text;
    if (*text == NULL)
        huddle_free(json->text);
    *json = (hd_json_writer){0};
    if (failed)
        return hd_fail(HUDDLE_NO_MEMORY, "no memory for a JSON text");
    return open ? hd_fail(HUDDLE_INTERNAL, "a JSON text was not completed") : HUDDLE_OK;
}

/* ---- buffer and layout -------------------------------------------------------------------- */

/* Appends bytes; the text always ends with a zero byte. */
static void append_bytes(hd_json_writer *json, const char *bytes, int64_t size) {
    if (json->failed || !hd_grow(&json->text, &json->capacity, json->length + size + 1, 1)) {
        json->failed = true;
        return;
    }
    memcpy(json->text + json->length, bytes, (size_t)size);
    json->length += size;
    json->text[json->length] = '\0';
}

static void append_text(hd_json_writer *json, const char *text) {
    append_bytes(json, text, (int64_t)strlen(text));
}

static void append_line(hd_json_writer *json, int32_t depth) {
    append_bytes(json, "\n", 1);
    for (int32_t k = 0; k < depth * json->style.indent; k++)
        append_bytes(json, " ", 1);
}

/* Writes comma and line break before a member. Whether an array is written on one line is decided
 * by its first member: arrays of arrays or objects have lines. */
static void begin_member(hd_json_writer *json, bool nested) {
    /* A value after its key is on the same line, and the outermost value has nothing before it. */
    if (json->after_key || json->depth == 0) {
        json->after_key = false;
        return;
    }
    bool first = json->levels[json->depth - 1].count++ == 0;
    if (first)
        json->levels[json->depth - 1].flat =
            json->levels[json->depth - 1].array && json->style.flat_arrays && !nested;
    bool lines = json->style.indent > 0 && !json->levels[json->depth - 1].flat;
    if (!first)
        append_text(json, lines ? "," : ", ");
    if (lines)
        append_line(json, json->depth);
}

static void append_member(hd_json_writer *json, const char *text) {
    begin_member(json, false);
    append_text(json, text);
}

/* The limit is that of the parser: what is written can be read again. */
static void open_level(hd_json_writer *json, bool array) {
    begin_member(json, true);
    if (json->depth == HD_JSON_MAX_DEPTH) {
        json->failed = true;
        return;
    }
    append_text(json, array ? "[" : "{");
    json->levels[json->depth].array = array;
    json->levels[json->depth].flat = false;
    json->levels[json->depth++].count = 0;
}

/* Empty arrays and objects remain on one line. */
static void close_level(hd_json_writer *json, const char *bracket) {
    if (json->depth == 0)
        return;
    json->depth--;
    if (json->levels[json->depth].count > 0 && json->style.indent > 0 &&
        !json->levels[json->depth].flat)
        append_line(json, json->depth);
    append_text(json, bracket);
}

void hd_json_open_object(hd_json_writer *json) {
    open_level(json, false);
}

void hd_json_close_object(hd_json_writer *json) {
    close_level(json, "}");
}

void hd_json_open_array(hd_json_writer *json) {
    open_level(json, true);
}

void hd_json_close_array(hd_json_writer *json) {
    close_level(json, "]");
}

/* ---- values ------------------------------------------------------------------------------- */

void hd_json_null(hd_json_writer *json) {
    append_member(json, "null");
}

void hd_json_bool(hd_json_writer *json, bool value) {
    append_member(json, value ? "true" : "false");
}

void hd_json_integer(hd_json_writer *json, int64_t value) {
    char text[NUMBER];
    snprintf(text, sizeof text, "%lld", (long long)value);
    append_member(json, text);
}

/* printf() pads exponents to two digits and writes a plus sign, 1e+05; this makes it 1e5. */
static void shorten_exponent(char *text) {
    char *to = strchr(text, 'e');
    if (to == NULL)
        return;
    const char *from = ++to;
    if (*from == '-')
        to++;
    from += *from == '-' || *from == '+';
    while (*from == '0' && from[1] != '\0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

/* printf() uses the decimal point of the process's locale, JSON always a point. */
static void use_decimal_point(char *text) {
    char *foreign = strchr(text, localeconv()->decimal_point[0]);
    if (foreign != NULL)
        *foreign = '.';
}

/* NaN and infinity, which JSON does not have, become null. ".0" is appended to whole numbers, so
 * that a reader sees that the value is real. */
void hd_json_real(hd_json_writer *json, double value) {
    char text[NUMBER];
    if (!isfinite(value)) {
        hd_json_null(json);
        return;
    }
    if (json->style.digits > 0)
        snprintf(text, sizeof text, "%.*g", json->style.digits < 17 ? json->style.digits : 17,
                 value);
    else
        huddle_format_real(value, text, sizeof text);
    use_decimal_point(text);
    shorten_exponent(text);
    append_member(json, text);
    if (strpbrk(text, ".e") == NULL)
        append_text(json, ".0");
}

/* Number of bytes of the UTF-8 character at p, or 0 if it is invalid: overlong forms, surrogates
 * and values above U+10FFFF are not characters. A zero byte is no continuation byte, so that
 * nothing is read beyond the end of the text. */
static int utf8_length(const unsigned char *p) {
    int length = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (length == 1)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    for (int k = 1; k < length; k++)
        if ((p[k] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return length;
}

/* Also used by the parser, so that both accept the same texts. */
bool hd_json_is_utf8(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p != '\0') {
        int length = utf8_length(p);
        if (length == 0)
            return false;
        p += length;
    }
    return true;
}

/* A text that is not UTF-8 is written with "?" for all bytes above 127: file names may have any
 * encoding, and an invalid byte would make the whole document unreadable. */
static void append_string(hd_json_writer *json, const char *text) {
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    bool utf8 = hd_json_is_utf8(text);
    append_bytes(json, "\"", 1);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        const char *special = strchr(plain, c);
        char escape[8] = {'\\', 0};
        if (special != NULL) {
            escape[1] = letters[special - plain];
            append_bytes(json, escape, 2);
        } else if (c < 32) {
            snprintf(escape, sizeof escape, "\\u%04X", c);
            append_bytes(json, escape, 6);
        } else {
            append_bytes(json, c >= 0x80 && !utf8 ? "?" : text, 1);
        }
    }
    append_bytes(json, "\"", 1);
}

void hd_json_string(hd_json_writer *json, const char *text) {
    if (text == NULL) {
        hd_json_null(json);
        return;
    }
    begin_member(json, false);
    append_string(json, text);
}

void hd_json_key(hd_json_writer *json, const char *name) {
    begin_member(json, false);
    append_string(json, name);
    append_text(json, ": ");
    json->after_key = true;
}

/* Recursion is limited by the depth that the parser accepts. */
void hd_json_write(hd_json_writer *json, const hd_json_value *value) {
    switch (value->type) {
    case HD_JSON_NULL:
        hd_json_null(json);
        break;
    case HD_JSON_BOOL:
        hd_json_bool(json, value->integer != 0);
        break;
    case HD_JSON_INTEGER:
        hd_json_integer(json, value->integer);
        break;
    case HD_JSON_REAL:
        hd_json_real(json, value->real);
        break;
    case HD_JSON_STRING:
        hd_json_string(json, value->text);
        break;
    case HD_JSON_ARRAY:
    case HD_JSON_OBJECT:
        open_level(json, value->type == HD_JSON_ARRAY);
        for (const hd_json_value *member = value->first; member != NULL; member = member->next) {
            if (member->name != NULL)
                hd_json_key(json, member->name);
            hd_json_write(json, member);
        }
        close_level(json, value->type == HD_JSON_ARRAY ? "]" : "}");
        break;
    }
}

huddle_status hd_json_print(const hd_json_value *value, hd_json_style style, char **text) {
    hd_json_writer json = hd_json_begin(style);
    if (value != NULL)
        hd_json_write(&json, value);
    else
        hd_json_null(&json);
    huddle_status status = hd_json_finish(&json, text);
    hd_json_discard(&json);
    return status;
}
