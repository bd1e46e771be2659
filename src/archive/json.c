/* The JSON parser (RFC 8259). Texts may come from untrusted files: depth, number of members and
 * size are limited. One pass over the text counts everything that can begin a value, so that all
 * values and all texts need two allocations in proportion to the text, whatever it contains. */
#include "archive/json.h"

#include "base/check.h"
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Far above what Huddle writes. MAX_MEMBERS bounds the quadratic check for names that occur twice,
 * MAX_NUMBER the buffer on the stack. */
enum { MAX_MEMBERS = 1000, MAX_SIZE = 1 << 28, MAX_NUMBER = 1024 };

typedef struct parser {
    const char *text;
    int64_t size, at;
    hd_json_value *values;
    int64_t n_values;
    char *texts; /* room for the texts still to come */
    int32_t depth;
} parser;

static huddle_status parse_value(parser *p, hd_json_value **value);

static huddle_status syntax_error(const parser *p, const char *what) {
    return hd_fail(HUDDLE_FORMAT, "JSON: %s at byte %lld", what, (long long)p->at);
}

/* -1 at the end, which no comparison below mistakes for a character: the text need not be
 * terminated by a zero byte. */
static int peek_byte(const parser *p) {
    return p->at < p->size ? (unsigned char)p->text[p->at] : -1;
}

static void skip_blanks(parser *p) {
    for (int c = peek_byte(p); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = peek_byte(p))
        p->at++;
}

/* Compares with what is left, so that nothing beyond the end is read. */
static bool accept_word(parser *p, const char *word) {
    int64_t length = (int64_t)strlen(word);
    if (length > p->size - p->at || memcmp(p->text + p->at, word, (size_t)length) != 0)
        return false;
    p->at += length;
    return true;
}

/* ---- strings ------------------------------------------------------------------------------ */

/* Four hexadecimal digits, or -1. */
static int32_t parse_hex(parser *p) {
    int32_t value = 0;
    for (int k = 0; k < 4; k++, p->at++) {
        int c = peek_byte(p);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

/* Reads what follows \u. Characters beyond U+FFFF are pairs of surrogates, D800-DBFF and DC00-DFFF.
 * U+0000 is refused: texts end with a zero byte, so that "a\u0000b" would be taken for "a". */
static huddle_status parse_unicode(parser *p) {
    int32_t c = parse_hex(p);
    if (c >= 0xD800 && c <= 0xDBFF) {
        /* The second half must follow immediately. */
        int32_t low = accept_word(p, "\\u") ? parse_hex(p) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return syntax_error(p, "half a surrogate pair");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    } else if (c < 0 || (c >= 0xDC00 && c <= 0xDFFF)) {
        return syntax_error(p, "a damaged \\u escape");
    } else if (c == 0) {
        return syntax_error(p, "\\u0000, which no text of Huddle contains,");
    }
    /* The space is sufficient: an escape of 6 bytes makes at most 3, a pair of 12 bytes makes 4. */
    p->texts = hd_put_utf8((uint32_t)c, p->texts);
    return HUDDLE_OK;
}

/* The eight escapes of RFC 8259 besides \u. */
static huddle_status parse_escape(parser *p) {
    static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    int c = peek_byte(p);
    const char *known = c > 0 ? strchr(letters, c) : NULL;
    if (c == 'u') {
        p->at++;
        return parse_unicode(p);
    }
    if (known == NULL)
        return syntax_error(p, "an unknown escape");
    *p->texts++ = plain[known - letters];
    p->at++;
    return HUDDLE_OK;
}

/* Invalid UTF-8 is refused here, so that every text that is written again is valid JSON. */
static huddle_status parse_string(parser *p, const char **text) {
    huddle_status status = HUDDLE_OK;
    if (!accept_word(p, "\""))
        return syntax_error(p, "a string was expected");
    *text = p->texts;
    for (;;) {
        int c = peek_byte(p);
        if (c < 32)
            return syntax_error(p, c < 0 ? "an unfinished string" : "a control character");
        p->at++;
        if (c == '"')
            break;
        if (c == '\\')
            TRY(parse_escape(p));
        else
            *p->texts++ = (char)c;
    }
    *p->texts++ = '\0';
    if (!hd_json_is_utf8(*text))
        return syntax_error(p, "a string that is not UTF-8 ends");
done:
    return status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static bool skip_digits(parser *p) {
    int64_t begin = p->at;
    while (peek_byte(p) >= '0' && peek_byte(p) <= '9')
        p->at++;
    return p->at > begin;
}

/* Checks the grammar before strtod(), which would also accept "0x10", "inf" and ".5": no leading
 * zeros or plus signs, digits on both sides of the point. */
static bool skip_number(parser *p, bool *real) {
    (void)accept_word(p, "-");
    int first = peek_byte(p);
    int64_t begin = p->at;
    if (!skip_digits(p) || (first == '0' && p->at - begin > 1))
        return false;
    if (accept_word(p, ".")) {
        *real = true;
        if (!skip_digits(p))
            return false;
    }
    if (accept_word(p, "e") || accept_word(p, "E")) {
        *real = true;
        if (!accept_word(p, "+"))
            (void)accept_word(p, "-");
        if (!skip_digits(p))
            return false;
    }
    return true;
}

/* The number is copied, because strtod() needs a zero byte at its end. Integers beyond 64 bits are
 * refused rather than rounded. */
static huddle_status parse_number(parser *p, hd_json_value *value) {
    char digits[MAX_NUMBER + 1];
    int64_t begin = p->at;
    bool real = false;
    if (!skip_number(p, &real))
        return syntax_error(p, "a value was expected");
    int64_t length = p->at - begin;
    if (length > MAX_NUMBER)
        return syntax_error(p, "a number of too many digits ends");
    memcpy(digits, p->text + begin, (size_t)length);
    digits[length] = '\0';
    /* strtod() expects the decimal point of the process's locale. */
    char *point = strchr(digits, '.');
    if (point != NULL)
        *point = localeconv()->decimal_point[0];
    value->type = real ? HD_JSON_REAL : HD_JSON_INTEGER;
    value->real = strtod(digits, NULL);
    errno = 0;
    if (!real)
        value->integer = strtoll(digits, NULL, 10);
    if (errno != 0 || !isfinite(value->real))
        return syntax_error(p, "a number out of range ends");
    return HUDDLE_OK;
}

/* ---- arrays and objects ------------------------------------------------------------------- */

/* Names that occur twice are refused: readers differ in which one they use, and a file could show
 * one value to a checker and another one to Huddle. */
static huddle_status parse_member(parser *p, hd_json_value *parent, hd_json_value **member) {
    huddle_status status = HUDDLE_OK;
    const char *name = NULL;
    if (parent->type == HD_JSON_OBJECT) {
        TRY(parse_string(p, &name));
        /* The limit keeps this loop, and every lookup, short. */
        if (parent->count == MAX_MEMBERS)
            return syntax_error(p, "an object of too many members");
        if (hd_json_get(parent, name) != NULL)
            return syntax_error(p, "a name that occurs twice ends");
        skip_blanks(p);
        if (!accept_word(p, ":"))
            return syntax_error(p, "':' was expected");
    }
    TRY(parse_value(p, member));
    (*member)->name = name;
    parent->count++;
done:
    return status;
}

/* The limit of the depth bounds the recursion: without it, a megabyte of "[" would overflow the
 * stack. */
static huddle_status parse_members(parser *p, hd_json_value *parent) {
    huddle_status status = HUDDLE_OK;
    const char *bracket = parent->type == HD_JSON_ARRAY ? "]" : "}";
    const hd_json_value **end = &parent->first; /* where the next member is linked */
    hd_json_value *member = NULL;
    p->at++; /* the opening bracket */
    if (++p->depth > HD_JSON_MAX_DEPTH)
        return syntax_error(p, "too many levels");
    skip_blanks(p);
    if (accept_word(p, bracket))
        goto done;
    for (;;) {
        skip_blanks(p);
        TRY(parse_member(p, parent, &member));
        *end = member;
        end = &member->next;
        skip_blanks(p);
        if (accept_word(p, bracket))
            break;
        if (!accept_word(p, ","))
            return syntax_error(p, "',' or a closing bracket was expected");
    }
done:
    p->depth--;
    return status;
}

/* The array of values is large enough by bound_values(). */
static huddle_status parse_value(parser *p, hd_json_value **value) {
    skip_blanks(p);
    /* Pointers to values remain valid: the array does not grow. */
    hd_json_value *made = &p->values[p->n_values++];
    *made = (hd_json_value){0};
    *value = made;
    switch (peek_byte(p)) {
    case '{':
    case '[':
        made->type = peek_byte(p) == '{' ? HD_JSON_OBJECT : HD_JSON_ARRAY;
        return parse_members(p, made);
    case '"':
        made->type = HD_JSON_STRING;
        return parse_string(p, &made->text);
    case 'n':
    case 't':
    case 'f':
        made->type = peek_byte(p) == 'n' ? HD_JSON_NULL : HD_JSON_BOOL;
        made->integer = peek_byte(p) == 't';
        return accept_word(p, "null") || accept_word(p, "true") || accept_word(p, "false")
                   ? HUDDLE_OK
                   : syntax_error(p, "an unknown word");
    default:
        return parse_number(p, made);
    }
}

/* An upper bound of the number of values: every value but the first follows a bracket, a comma or a
 * colon. Characters inside strings are counted too, which only wastes memory. */
static int64_t bound_values(const char *text, int64_t size) {
    int64_t count = 1;
    for (int64_t i = 0; i < size; i++)
        count += text[i] == ',' || text[i] == '[' || text[i] == ':';
    return count;
}

huddle_status hd_json_parse(const char *text, int64_t size, hd_json_document *document) {
    huddle_status status = HUDDLE_OK;
    parser p = {.text = text, .size = size};
    hd_json_value *root = NULL;
    *document = (hd_json_document){0};
    if (size > MAX_SIZE)
        FAIL(HUDDLE_FORMAT, "JSON: the text has %lld bytes, more than %d", (long long)size,
             (int)MAX_SIZE);
    ALLOC(document->root, bound_values(text, size));
    /* No text is longer than what it is written as, with a zero byte for its quotes. */
    ALLOC(document->texts, size + 1);
    p.values = document->root;
    p.texts = document->texts;
    TRY(parse_value(&p, &root));
    skip_blanks(&p);
    if (p.at < p.size)
        TRY(syntax_error(&p, "the text continues after its end"));
done:
    if (status != HUDDLE_OK)
        hd_json_document_free(document);
    return status;
}

void hd_json_document_free(hd_json_document *document) {
    FREE(document->root, document->texts);
    *document = (hd_json_document){0};
}

/* ---- lookups ------------------------------------------------------------------------------ */

/* Linear: objects have at most MAX_MEMBERS members, and names are unique. */
const hd_json_value *hd_json_get(const hd_json_value *object, const char *name) {
    if (object == NULL || object->type != HD_JSON_OBJECT)
        return NULL;
    for (const hd_json_value *member = object->first; member != NULL; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

static const hd_json_value *get_typed(const hd_json_value *object, const char *name,
                                      hd_json_type type) {
    const hd_json_value *member = hd_json_get(object, name);
    return member != NULL && member->type == type ? member : NULL;
}

int64_t hd_json_get_integer(const hd_json_value *object, const char *name, int64_t otherwise) {
    const hd_json_value *member = get_typed(object, name, HD_JSON_INTEGER);
    return member != NULL ? member->integer : otherwise;
}

const char *hd_json_get_string(const hd_json_value *object, const char *name,
                               const char *otherwise) {
    const hd_json_value *member = get_typed(object, name, HD_JSON_STRING);
    return member != NULL ? member->text : otherwise;
}
