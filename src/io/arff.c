/* The declarations of ARFF files. */
#include "io/arff.h"

#include "base/check.h"
#include "base/text.h"
#include "io/container.h"
#include "io/formats.h"
#include "io/number.h"

#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && is_blank(*p))
        p++;
    return p;
}

const char *hd_io_arff_line(const char *p, const char *end) {
    const char *feed = memchr(p, '\n', (size_t)(end - p));
    return feed == NULL ? end : feed;
}

/* True if the line at p begins with that keyword, in any case; *p is moved past it. */
static bool take_keyword(const char **p, const char *end, const char *keyword) {
    size_t length = strlen(keyword);
    char word[16];
    if (end - *p < (ptrdiff_t)length)
        return false;
    memcpy(word, *p, length);
    word[length] = '\0';
    if (!hd_same_word(word, keyword) ||
        (*p + length < end && !is_blank((*p)[length]) && (*p)[length] != '\n'))
        return false;
    *p += length;
    return true;
}

bool hd_io_arff_next(const char **p, const char *end, bool blanks_belong, hd_io_arff_value *value) {
    const char *q = skip_blanks(*p, end);
    *value = (hd_io_arff_value){q, q, false};
    if (q < end && (*q == '\'' || *q == '"')) {
        char quote = *q++;
        value->quoted = true;
        value->begin = q;
        while (q < end && *q != quote && *q != '\n')
            q += *q == '\\' && q + 1 < end && q[1] != '\n' ? 2 : 1;
        if (q >= end || *q == '\n')
            return false;
        value->end = q++;
    } else {
        while (q < end && *q != ',' && *q != '\n' && *q != '}' && *q != '{' && *q != '\t' &&
               (blanks_belong || *q != ' '))
            q++;
        value->end = q;
        while (value->end > value->begin && is_blank(value->end[-1]))
            value->end--;
    }
    *p = skip_blanks(q, end);
    return true;
}

char *hd_io_arff_unescape(const hd_io_arff_value *value, char *to) {
    for (const char *p = value->begin; p < value->end; p++) {
        if (value->quoted && *p == '\\' && p + 1 < value->end)
            p++;
        *to++ = *p;
    }
    return to;
}

/* The value as text of its own, or NULL. */
static char *copy_value(const hd_io_arff_value *value) {
    char *copy = hd_copy_part(value->begin, value->end - value->begin);
    if (copy != NULL)
        *hd_io_arff_unescape(value, copy) = '\0';
    return copy;
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* "{red, 'light blue', 3}": at p, after the brace. The values themselves are those of the rows;
 * only the first is kept, and whether all are numbers. */
static huddle_status parse_values(const char *p, const char *end, int64_t line,
                                  hd_io_attribute *attribute) {
    huddle_status status = HUDDLE_OK;
    hd_io_arff_value value;
    attribute->numbers = true;
    for (;;) {
        char number[40];
        double ignored;
        if (!hd_io_arff_next(&p, end, true, &value) || p == end || (*p != ',' && *p != '}'))
            FAIL(HUDDLE_FORMAT, "line %lld: the values of attribute '%.100s' are not closed by }",
                 (long long)line, attribute->name);
        if (attribute->first == NULL)
            attribute->first = copy_value(&value);
        if (attribute->first == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a value");
        int64_t length = value.end - value.begin;
        bool fits = length > 0 && length < (int64_t)sizeof number;
        memcpy(number, value.begin, fits ? (size_t)length : 0);
        number[fits ? length : 0] = '\0';
        attribute->numbers = attribute->numbers && fits && !value.quoted &&
                             hd_io_number(number, &ignored) == number + length;
        if (*p++ == '}')
            break;
    }
done:
    return status;
}

/* "@attribute NAME TYPE", at p after the keyword. */
static huddle_status parse_attribute(const char *p, const char *end, int64_t line,
                                     hd_io_arff *arff) {
    huddle_status status = HUDDLE_OK;
    static const struct {
        const char *word;
        hd_io_attribute_kind kind;
    } types[] = {{"numeric", HD_IO_ATTRIBUTE_NUMERIC},
                 {"real", HD_IO_ATTRIBUTE_NUMERIC},
                 {"integer", HD_IO_ATTRIBUTE_NUMERIC},
                 {"string", HD_IO_ATTRIBUTE_STRING},
                 {"date", HD_IO_ATTRIBUTE_DATE}};
    hd_io_arff_value name;
    if (!hd_io_arff_next(&p, end, false, &name) || (name.begin == name.end && !name.quoted))
        FAIL(HUDDLE_FORMAT, "line %lld: the attribute has no name", (long long)line);
    if (!hd_grow(&arff->attributes, &arff->capacity, arff->count + 1, sizeof *arff->attributes))
        FAIL(HUDDLE_NO_MEMORY, "no memory for %lld attributes", (long long)arff->count + 1);
    hd_io_attribute *attribute = &arff->attributes[arff->count];
    *attribute = (hd_io_attribute){.name = copy_value(&name)};
    if (attribute->name == NULL)
        FAIL(HUDDLE_NO_MEMORY, "no memory for a name");
    arff->count++;
    if (p < end && *p == '{') {
        attribute->kind = HD_IO_ATTRIBUTE_NOMINAL;
        TRY(parse_values(p + 1, end, line, attribute));
        goto done;
    }
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (take_keyword(&p, end, types[k].word)) {
            attribute->kind = types[k].kind;
            goto done;
        }
    FAIL(HUDDLE_UNSUPPORTED,
         "line %lld: attribute '%.100s' is of type '%.*s'; numeric, nominal, string and date are "
         "read",
         (long long)line, attribute->name, (int)(end - p < 40 ? end - p : 40), p);
done:
    return status;
}

void hd_io_arff_free(hd_io_arff *arff) {
    for (int64_t k = 0; k < arff->count; k++) {
        FREE(arff->attributes[k].name, arff->attributes[k].first);
    }
    huddle_free(arff->attributes);
    memset(arff, 0, sizeof *arff);
}

static const char *skip_mark(const hd_file *file) {
    bool marked = file->size >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0;
    return file->text + (marked ? 3 : 0);
}

huddle_status hd_io_arff_header(const hd_file *file, hd_io_arff *arff) {
    huddle_status status = HUDDLE_OK;
    const char *next = skip_mark(file);
    memset(arff, 0, sizeof *arff);
    arff->end = file->text + file->size;
    for (int64_t line = 1; next < arff->end; line++) {
        const char *stop = hd_io_arff_line(next, arff->end), *p = skip_blanks(next, stop);
        next = stop + (stop < arff->end);
        if (p == stop || *p == '%' || take_keyword(&p, stop, "@relation"))
            continue;
        if (take_keyword(&p, stop, "@attribute")) {
            TRY(parse_attribute(p, stop, line, arff));
        } else if (take_keyword(&p, stop, "@data")) {
            arff->data = next;
            arff->data_line = line + 1;
            break;
        } else {
            FAIL(HUDDLE_FORMAT, "line %lld: '%.*s' is neither @attribute nor @data",
                 (long long)line, (int)(stop - p < 40 ? stop - p : 40), p);
        }
    }
    if (arff->data == NULL)
        FAIL(HUDDLE_FORMAT, "there is no @data in it: it is cut short");
    if (arff->count == 0)
        FAIL(HUDDLE_FORMAT, "line %lld: @data comes before any @attribute",
             (long long)arff->data_line - 1);
done:
    return status;
}

/* ---- recognition ---------------------------------------------------------------------------- */

/* The first line that is neither blank nor a comment is @relation. */
static const char *find_relation(const hd_file *file) {
    const char *p = skip_mark(file), *end = file->text + file->size;
    while (p < end) {
        const char *stop = hd_io_arff_line(p, end), *q = skip_blanks(p, stop);
        if (q < stop && *q != '%')
            return take_keyword(&q, stop, "@relation") ? q : NULL;
        p = stop + (stop < end);
    }
    return NULL;
}

bool hd_io_arff_is(const hd_file *file) {
    return find_relation(file) != NULL;
}

/* The first row begins with a brace. */
bool hd_io_arff_sparse_is(const hd_file *file) {
    const char *p = find_relation(file), *end = file->text + file->size;
    bool data = false;
    while (p != NULL && p < end) {
        const char *stop = hd_io_arff_line(p, end), *q = skip_blanks(p, stop);
        if (data && q < stop && *q != '%')
            return *q == '{';
        data = data || take_keyword(&q, stop, "@data");
        p = stop + (stop < end);
    }
    return false;
}

int64_t hd_io_arff_class(const hd_io_arff *arff) {
    int64_t best = -1;
    int32_t best_rank = INT32_MAX;
    for (int64_t k = 0; k < arff->count; k++) {
        int32_t rank = hd_io_label_name_rank(arff->attributes[k].name);
        if (arff->attributes[k].kind == HD_IO_ATTRIBUTE_NOMINAL && rank >= 0 && rank < best_rank) {
            best = k;
            best_rank = rank;
        }
    }
    if (best < 0 && arff->attributes[arff->count - 1].kind == HD_IO_ATTRIBUTE_NOMINAL)
        best = arff->count - 1;
    return best;
}
