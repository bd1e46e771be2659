#include "json.h"

#include "cli/messages.h"

#include <string.h>

static void print_value(const json_t *value, int indent);

/* A real number keeps its type in JSON: 1.0 is not printed as 1, which readers in typed
 * languages would take for an integer. */
static void print_real(double number) {
    char text[40];
    huddle_format_real(number, text, sizeof text);
    fputs(text, stdout);
    if (strpbrk(text, ".e") == NULL)
        fputs(".0", stdout);
}

/* Not json_dumpf(): its indentation breaks every array into lines, and its numbers have 17 digits.
 */
static void print_object(const json_t *object, int indent) {
    const char *key;
    json_t *member;
    bool first = true;
    if (json_object_size(object) == 0) {
        fputs("{}", stdout);
        return;
    }
    /* The macro requires an object that is not const, although it does not change it. */
    json_object_foreach((json_t *)(uintptr_t)object, key, member) {
        json_t *name = json_string(key);
        printf("%s%*s", first ? "{\n" : ",\n", indent + 2, "");
        print_value(name, 0);
        fputs(": ", stdout);
        print_value(member, indent + 2);
        json_decref(name);
        first = false;
    }
    printf("\n%*s}", indent, "");
}

/* Arrays of arrays or objects have one line per element; plain arrays stay on one line. The
 * first element decides, since arrays are of one type here. */
static void print_array(const json_t *array, int indent) {
    size_t n = json_array_size(array);
    json_t *head = json_array_get(array, 0);
    bool lines = json_is_array(head) || json_is_object(head);
    fputc('[', stdout);
    for (size_t i = 0; i < n; i++) {
        if (lines)
            printf("%s\n%*s", i == 0 ? "" : ",", indent + 2, "");
        else if (i > 0)
            fputs(", ", stdout);
        print_value(json_array_get(array, i), indent + 2);
    }
    if (lines)
        printf("\n%*s", indent, "");
    fputc(']', stdout);
}

/* json_dumps() would print 17 digits for every real number; everything else is left to it. */
static void print_value(const json_t *value, int indent) {
    if (json_is_object(value))
        print_object(value, indent);
    else if (json_is_array(value))
        print_array(value, indent);
    else if (json_is_real(value))
        print_real(json_real_value(value));
    else
        json_dumpf(value, stdout, JSON_ENCODE_ANY);
}

void print_json(json_t *value) {
    print_value(value, 0);
    fputc('\n', stdout);
    json_decref(value);
}

json_t *integers_json(int64_t n, const int64_t *values) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer((json_int_t)values[i]));
    return list;
}

json_t *graph_scores_json(const huddle_graph_scores *s) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "inside", s->inside, "expected",
                     s->expected, "divergence", s->divergence, "information", s->information, "map",
                     s->map, "entropy", s->entropy, "modularity", s->modularity, "ncut", s->ncut);
}

json_t *texts_json(int64_t n, char *const *texts) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, text_json(texts[i]));
    return list;
}

/* File names and labels may contain any bytes, but JSON must be UTF-8. */
json_t *text_json(const char *text) {
    return check_allocation(page_text(text));
}
