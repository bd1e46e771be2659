#include "report/page.h"

#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* page_shell, page_style and page_script: the files of report/page/, embedded by the build.
 * The page loads nothing from elsewhere. */
#include "page.inc"

/* Parts of blocks are built without a page at hand, by functions that call each other deeply,
 * so a failed allocation is counted per thread, from page_new() on. A page with a part missing is
 * never written. */
static _Thread_local unsigned long n_failures;

/* ---- the tree of a page ------------------------------------------------------------------- */

/* jansson refuses text that is not UTF-8. File names and labels may be in any encoding, and a
 * question mark is better than no page. */
json_t *page_text(const char *text) {
    json_t *made = json_string(text);
    if (made != NULL || text == NULL)
        return made;
    char *plain = strdup(text);
    for (char *c = plain; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    made = json_string(plain);
    free(plain);
    return made;
}

/* JSON has no NaN and no infinity; the script shows null as a dash. */
json_t *page_real(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *page_reals(const huddle_array *array) {
    json_t *values = json_array();
    const double *numbers = array->values;
    for (int64_t i = 0; i < array->rows; i++)
        page_append(values, page_real(numbers[i * array->stride]));
    return values;
}

double number_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

void page_append(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0)
        n_failures++;
}

void page_set(json_t *object, const char *name, json_t *value) {
    if (json_object_set_new(object, name, value) != 0)
        n_failures++;
}

unsigned long page_failures(void) {
    return n_failures;
}

report_page *page_new(const char *title, const char *subtitle) {
    report_page *page =
        json_pack("{s:o, s:o, s:s, s:{}, s:[]}", "title", page_text(title), "subtitle",
                  page_text(subtitle), "version", huddle_version(), "shared", "sections");
    n_failures = page == NULL;
    return page;
}

report_section *page_section(report_page *page, const char *id, const char *title,
                             const char *lead) {
    json_t *made = json_pack("{s:s, s:o, s:o, s:[]}", "id", id, "title", page_text(title), "lead",
                             page_text(lead == NULL ? "" : lead), "blocks");
    if (json_array_append_new(json_object_get(page, "sections"), made) == 0)
        return json_object_get(made, "blocks");
    n_failures++;
    return NULL;
}

/* "kind" is the name of the function in the page's script that draws the block. */
void page_add(report_section *section, const char *kind, json_t *block) {
    page_set(block, "kind", json_string(kind));
    page_append(section, block);
}

/* Shared values are written once, however many blocks use them. */
void page_share(report_page *page, const char *name, json_t *value) {
    page_set(json_object_get(page, "shared"), name, value);
}

/* ---- results of the library --------------------------------------------------------------- */

const huddle_method_text *find_method(const char *name) {
    const huddle_method_text *const *method = huddle_methods();
    while (*method != NULL && strcmp((*method)->name, name) != 0)
        method++;
    return *method;
}

int64_t *matched_order(const huddle_confusion *table) {
    int64_t count = 0, *order = calloc((size_t)table->n_clusters + 1, sizeof *order);
    for (int64_t i = 0; i <= table->n_classes && order != NULL; i++)
        for (int64_t j = 0; j < table->n_clusters; j++)
            if (table->match[j] == (i < table->n_classes ? i : -1))
                order[count++] = j;
    return order;
}

json_t *scores_json(const huddle_scores *scores) {
    return json_pack("{s:f, s:f, s:f, s:f}", "acc", scores->acc, "nmi", scores->nmi, "ari",
                     scores->ari, "purity", scores->purity);
}

huddle_status model_info(const huddle_model *model, json_t **info) {
    char *text = NULL;
    huddle_status status = huddle_model_info_json(model, &text);
    *info = status == HUDDLE_OK ? json_loads(text, 0, NULL) : NULL;
    huddle_free(text);
    return status == HUDDLE_OK && *info == NULL ? set_error(HUDDLE_NO_MEMORY, "no memory") : status;
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* Base64 (RFC 4648): three bytes become four characters, padded with '='. A third of the size
 * of decimal numbers, and decoded by the browser's atob(). */
json_t *page_bytes(const void *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    size_t length = 0;
    char *text = malloc((size + 2) / 3 * 4 + 1);
    if (text == NULL)
        return NULL;
    /* Positions beyond the end count as zero bits and become '=' below: i + k > size holds
     * exactly for them. */
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)in[i] << 16;
        three |= i + 1 < size ? (uint32_t)in[i + 1] << 8 : 0;
        three |= i + 2 < size ? in[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            text[length++] = i + (size_t)k > size ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    json_t *made = json_stringn_nocheck(text, length);
    free(text);
    return made;
}

json_t *page_integers(const void *values, size_t count, size_t size) {
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    const unsigned char *in = values;
    unsigned char *bytes = malloc(count * size + 1);
    for (size_t i = 0; i < count * size && bytes != NULL; i++)
        bytes[i] = in[little ? i : i / size * size + size - 1 - i % size];
    json_t *made = bytes == NULL ? NULL : page_bytes(bytes, count * size);
    free(bytes);
    return made;
}

/* ---- the file ----------------------------------------------------------------------------- */

/* Receives the JSON from jansson, piece by piece. In JSON a "<" occurs only inside strings;
 * written as an escape it cannot close the script element that contains the JSON, so that a
 * label such as "</script>" is harmless. */
static int append_json(const char *text, size_t size, void *out) {
    size_t start = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<') {
            fwrite(text + start, 1, i - start, out);
            fputs("\\u003c", out);
            start = i + 1;
        }
    fwrite(text + start, 1, size - start, out);
    return ferror(out) ? -1 : 0;
}

/* Appends what a placeholder of the shell, such as {{title}}, is replaced by; the last one is
 * the data. Eight digits suffice for what the page shows. */
static bool append_placeholder(FILE *out, const report_page *page, const char *name) {
    if (strncmp(name, "title", 5) == 0)
        write_escaped(out, text_of(page, "title"));
    else if (strncmp(name, "style", 5) == 0)
        fputs((const char *)page_style, out);
    else if (strncmp(name, "script", 6) == 0)
        fputs((const char *)page_script, out);
    else
        return json_dump_callback(page, append_json, out, JSON_COMPACT | JSON_REAL_PRECISION(8)) ==
               0;
    return true;
}

/* The shell (page/shell.html) with every placeholder filled in. The shell is our own file, so
 * its braces are known to be balanced. */
static bool append_page(FILE *out, const report_page *page) {
    const char *at = (const char *)page_shell, *mark;
    bool complete = true;
    for (; (mark = strstr(at, "{{")) != NULL; at = strchr(mark, '}') + 2) {
        fwrite(at, 1, (size_t)(mark - at), out);
        complete &= append_placeholder(out, page, mark + 2);
    }
    fputs(at, out);
    return complete && !ferror(out);
}

/* The file is assembled in memory and written at once: huddle_file_write() replaces the old
 * one only when the new one is complete. */
huddle_status page_write(const report_page *page, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = NULL;
    bool complete = false;
    if (n_failures == 0)
        out = open_memstream(&text, &size);
    if (out != NULL) {
        complete = append_page(out, page);
        complete = fclose(out) == 0 && complete;
    }
    huddle_status status = complete ? huddle_file_write(path, text, size)
                                    : set_error(HUDDLE_NO_MEMORY, "no memory for the page");
    free(text);
    return status;
}
