/* Numbers as text, and suggestions for misspelt names. The tool and the Python package use these
 * too, so that a number and a suggestion read the same everywhere. */
#include "base/text.h"

#include "base/check.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Options, JSON and saved values have a decimal point whatever the locale of the program that uses
 * the library. uselocale() concerns the calling thread only. */
static locale_t c_locale;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t hd_enter_c_locale(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale == (locale_t)0 ? (locale_t)0 : uselocale(c_locale);
}

void hd_leave_c_locale(locale_t before) {
    if (before != (locale_t)0)
        uselocale(before);
}

/* The shortest of a few precisions that reads back as the same number: an option that was set as
 * 0.1 is shown as 0.1, and a saved value is restored exactly. */
void huddle_format_real(double number, char *text, size_t size) {
    /* 17 digits always identify a double (IEEE 754); most numbers that people write need 6. */
    static const int digits[] = {6, 9, 12, 15, 16, 17};
    locale_t before = hd_enter_c_locale();
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        snprintf(text, size, "%.*g", digits[i], number);
        if (strtod(text, NULL) == number)
            break;
    }
    hd_leave_c_locale(before);
}

/* Units are powers of 1024: what a limit of 4G leaves is compared with what the system and control
 * groups report, which count in these. */
static const char units[] = "BKMGT";

/* The rest after the unit's letter: nothing, "B" or "iB". */
static bool ends_unit(const char *rest) {
    if (tolower((unsigned char)*rest) == 'i' && rest[1] != '\0')
        rest++;
    return rest[0] == '\0' || (tolower((unsigned char)rest[0]) == 'b' && rest[1] == '\0');
}

huddle_status huddle_parse_bytes(const char *text, int64_t *bytes) {
    locale_t before = hd_enter_c_locale();
    char *end;
    double number = strtod(text, &end);
    hd_leave_c_locale(before);
    /* Neither signs nor exponents nor hexadecimal numbers. */
    bool valid = end != text && isdigit((unsigned char)text[0]) != 0 &&
                 strspn(text, "0123456789.") == (size_t)(end - text);
    while (*end == ' ')
        end++;
    const char *unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : &units[0];
    if (unit != NULL)
        for (const char *u = units; u < unit; u++)
            number *= 1024;
    valid = valid && unit != NULL && (*end == '\0' || ends_unit(end + 1));
    /* Written so that NaN fails. */
    if (!valid || !(number >= 1 && number < 0x1p62))
        return hd_fail(
            HUDDLE_INVALID,
            "memory = %.50s: expected a number and a unit (K, M, G, T), such as 500M or 4G", text);
    *bytes = (int64_t)number;
    return HUDDLE_OK;
}

void huddle_format_bytes(int64_t bytes, char *text, size_t size) {
    double number = (double)bytes;
    const char *unit = units;
    /* 999.5 would be printed as 1e+03. */
    for (; number >= 999.5 && unit[1] != '\0'; unit++)
        number /= 1024;
    locale_t before = hd_enter_c_locale();
    snprintf(text, size, "%.3g %c%s", number, *unit, unit == units ? "" : "B");
    hd_leave_c_locale(before);
}

/* Longer words are not compared: no option, method or command has a name of that length. */
enum { MAX_WORD = 40 };

static int minimum(int a, int b) {
    return a < b ? a : b;
}

/* The number of insertions, deletions, changes and swaps of adjacent letters that turn a into b
 * (optimal string alignment, a restricted form of Damerau's distance). table[i][j] is the distance
 * between the first i letters of a and the first j of b. */
static int edit_distance(const char *a, const char *b) {
    int table[MAX_WORD + 1][MAX_WORD + 1];
    size_t n = strlen(a), m = strlen(b);
    /* The table is on the stack. */
    if (n > MAX_WORD || m > MAX_WORD)
        return MAX_WORD;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (int)(i + j);
                continue;
            }
            int changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int shifted = minimum(table[i - 1][j], table[i][j - 1]) + 1;
            table[i][j] = minimum(changed, shifted);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                table[i][j] = minimum(table[i][j], table[i - 2][j - 2] + 1);
        }
    return table[n][m];
}

/* Called for each candidate in turn; the first of equally similar ones is kept. */
void huddle_suggest_name(const char *word, const char *candidate, int *distance,
                         const char **nearest) {
    int found = edit_distance(word, candidate);
    /* A word that is the beginning of a name is taken for an abbreviation of it, whatever the
     * length of the rest. */
    if (strlen(word) >= HUDDLE_SUGGEST_DISTANCE && strncmp(word, candidate, strlen(word)) == 0)
        found = minimum(found, HUDDLE_SUGGEST_DISTANCE - 1);
    /* A short name all of whose letters would have to be replaced is not similar. */
    if (found < *distance && found < (int)strlen(candidate)) {
        *distance = found;
        *nearest = candidate;
    }
}

/* For names and file extensions, which are ASCII. */
bool hd_same_word(const char *a, const char *b) {
    return strcasecmp(a, b) == 0;
}

bool hd_has_extension(const char *path, const char *extension) {
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && path[length - tail - 1] == '.' &&
           hd_same_word(path + length - tail, extension);
}

int hd_cut_text(const char *text, int64_t length, int limit) {
    int shown = length < limit ? (int)length : limit;
    /* Bytes 10xxxxxx continue a character. */
    while (shown < length && shown > 0 && (text[shown] & 0xC0) == 0x80)
        shown--;
    return shown;
}

char *hd_copy_part(const char *text, int64_t length) {
    char *copy = hd_alloc(length + 1, 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    return copy;
}

char *hd_copy_text(const char *text) {
    return hd_copy_part(text, (int64_t)strlen(text));
}

char *hd_join_text(const char *first, const char *second) {
    size_t head = strlen(first), tail = strlen(second);
    char *text = hd_alloc((int64_t)(head + tail + 1), 1);
    if (text == NULL)
        return NULL;
    memcpy(text, first, head);
    memcpy(text + head, second, tail + 1);
    return text;
}

/* RFC 3629: 7, 11, 16 or 21 bits in one to four bytes. */
char *hd_put_utf8(uint32_t c, char *to) {
    static const uint32_t marks[] = {0, 0xC0, 0xE0, 0xF0}, bits[] = {0x7F, 0x1F, 0x0F, 0x07};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)(marks[more] | (c >> 6 * more & bits[more]));
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return to;
}
