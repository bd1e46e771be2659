/* JSON (RFC 8259): a writer into a growing buffer, and a strict parser into a tree. */
#ifndef HUDDLE_SRC_ARCHIVE_JSON_H
#define HUDDLE_SRC_ARCHIVE_JSON_H

#include "huddle/base.h"

enum { HD_JSON_MAX_DEPTH = 64 };

/* ---- writing ------------------------------------------------------------------------------ */

/* Zeroed: everything on one line, reals as the shortest text that reads back. Members are written
 * in the order of the calls. {.indent = 2, .digits = 15} prints what jansson's
 * json_dumps(JSON_INDENT(2) | JSON_REAL_PRECISION(15)) does. */
typedef struct hd_json_style {
    int32_t indent;   /* blanks per level; 0: one line */
    int32_t digits;   /* significant digits of a real; 0: as many as it needs to read back */
    bool flat_arrays; /* arrays of numbers and texts on one line, whatever the indentation */
} hd_json_style;

/* Failures, of which lack of memory is the only one, are reported by hd_json_finish(): no call in
 * between needs a check. */
typedef struct hd_json_writer {
    hd_json_style style;
    char *text;
    int64_t length, capacity;
    int32_t depth;
    bool after_key; /* a value follows on the same line */
    bool failed;
    struct {
        bool array, flat;
        int64_t count; /* of members so far */
    } levels[HD_JSON_MAX_DEPTH];
} hd_json_writer;

hd_json_writer hd_json_begin(hd_json_style style);

/* The text, to be freed by huddle_free(). HUDDLE_NO_MEMORY, and *text NULL, if there was none;
 * HUDDLE_INTERNAL if objects or arrays are open. */
huddle_status hd_json_finish(hd_json_writer *json, char **text);
void hd_json_discard(hd_json_writer *json);

/* A member's name; its value follows. */
void hd_json_key(hd_json_writer *json, const char *name);

void hd_json_open_object(hd_json_writer *json);
void hd_json_close_object(hd_json_writer *json);
void hd_json_open_array(hd_json_writer *json);
void hd_json_close_array(hd_json_writer *json);

void hd_json_null(hd_json_writer *json);
void hd_json_bool(hd_json_writer *json, bool value);
void hd_json_integer(hd_json_writer *json, int64_t value);
/* Reals keep a point or an exponent (1.0), so that they read back as reals. What is not finite is
 * null. */
void hd_json_real(hd_json_writer *json, double value);
/* NULL is null. If the text is not UTF-8, every byte above 127 becomes '?'. */
void hd_json_string(hd_json_writer *json, const char *text);

/* A name and a value in one call; of an object or an array its beginning. */
static inline void hd_json_set_bool(hd_json_writer *json, const char *name, bool value) {
    hd_json_key(json, name);
    hd_json_bool(json, value);
}

static inline void hd_json_set_integer(hd_json_writer *json, const char *name, int64_t value) {
    hd_json_key(json, name);
    hd_json_integer(json, value);
}

static inline void hd_json_set_real(hd_json_writer *json, const char *name, double value) {
    hd_json_key(json, name);
    hd_json_real(json, value);
}

static inline void hd_json_set_string(hd_json_writer *json, const char *name, const char *text) {
    hd_json_key(json, name);
    hd_json_string(json, text);
}

static inline void hd_json_set_object(hd_json_writer *json, const char *name) {
    hd_json_key(json, name);
    hd_json_open_object(json);
}

static inline void hd_json_set_array(hd_json_writer *json, const char *name) {
    hd_json_key(json, name);
    hd_json_open_array(json);
}

/* True if the text is well-formed UTF-8. */
bool hd_json_is_utf8(const char *text);

/* ---- reading ------------------------------------------------------------------------------ */

typedef enum hd_json_type {
    HD_JSON_NULL,
    HD_JSON_BOOL,
    HD_JSON_INTEGER,
    HD_JSON_REAL,
    HD_JSON_STRING,
    HD_JSON_ARRAY,
    HD_JSON_OBJECT
} hd_json_type;

typedef struct hd_json_value hd_json_value;

struct hd_json_value {
    hd_json_type type;
    const char *name;                  /* of a member of an object; else NULL */
    const char *text;                  /* HD_JSON_STRING, without zero bytes; else NULL */
    int64_t integer;                   /* HD_JSON_INTEGER; HD_JSON_BOOL: 0 or 1 */
    double real;                       /* HD_JSON_REAL, and the value of an integer */
    int64_t count;                     /* members of an array or object */
    const hd_json_value *first, *next; /* its members; the next member of what this belongs to */
};

/* A parsed text; it owns all values. */
typedef struct hd_json_document {
    hd_json_value *root; /* NULL if parsing failed */
    char *texts;
} hd_json_document;

/* Parses `size` bytes. HUDDLE_FORMAT, with the offset, for anything but one value of RFC 8259 in
 * UTF-8: no comments, no trailing commas, no \u0000, no lone surrogates. Depth is limited to
 * HD_JSON_MAX_DEPTH, integers to 64 bits, reals to finite doubles, an object to 1000 members of
 * different names, the text to 256 MB. */
huddle_status hd_json_parse(const char *text, int64_t size, hd_json_document *document);
void hd_json_document_free(hd_json_document *document);

/* The member of that name, or NULL; also if object is NULL or not an object. */
const hd_json_value *hd_json_get(const hd_json_value *object, const char *name);

/* Lookups that return a default if there is no such member or it has another type. */
int64_t hd_json_get_integer(const hd_json_value *object, const char *name, int64_t otherwise);
const char *hd_json_get_string(const hd_json_value *object, const char *name,
                               const char *otherwise);

/* Writes a parsed value, with its members in their order. */
void hd_json_write(hd_json_writer *json, const hd_json_value *value);

/* The same as a text of its own, to be freed by huddle_free(); NULL is null. */
huddle_status hd_json_print(const hd_json_value *value, hd_json_style style, char **text);

#endif
