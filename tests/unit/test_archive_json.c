/* archive: JSON written and read. */
#include "archive/json.h"
#include "base/memory.h"
#include "support/support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hd_json_style jansson = {.indent = 2, .digits = 15};

static void write_sample(hd_json_writer *json) {
    hd_json_open_object(json);
    hd_json_set_integer(json, "n", 150);
    hd_json_set_real(json, "third", 1.0 / 3);
    hd_json_set_real(json, "one", 1);
    hd_json_set_real(json, "small", 1.5e-7);
    hd_json_set_real(json, "large", 1e22);
    hd_json_set_real(json, "nan", NAN);
    hd_json_set_bool(json, "yes", true);
    hd_json_set_string(json, "none", NULL);
    hd_json_key(json, "empty");
    hd_json_open_array(json);
    hd_json_close_array(json);
    hd_json_key(json, "object");
    hd_json_open_object(json);
    hd_json_close_object(json);
    hd_json_key(json, "list");
    hd_json_open_array(json);
    hd_json_integer(json, 1);
    hd_json_string(json, "a\"\\\n\x01\xc3\xa4/");
    hd_json_close_array(json);
    hd_json_key(json, "rows");
    hd_json_open_array(json);
    hd_json_open_object(json);
    hd_json_set_string(json, "k", NULL);
    hd_json_close_object(json);
    hd_json_close_array(json);
    hd_json_close_object(json);
}

/* Printed by jansson 2.14: json_dumps(JSON_INDENT(2) | JSON_REAL_PRECISION(15)). */
static const char by_jansson[] = "{\n"
                                 "  \"n\": 150,\n"
                                 "  \"third\": 0.333333333333333,\n"
                                 "  \"one\": 1.0,\n"
                                 "  \"small\": 1.5e-7,\n"
                                 "  \"large\": 1e22,\n"
                                 "  \"nan\": null,\n"
                                 "  \"yes\": true,\n"
                                 "  \"none\": null,\n"
                                 "  \"empty\": [],\n"
                                 "  \"object\": {},\n"
                                 "  \"list\": [\n"
                                 "    1,\n"
                                 "    \"a\\\"\\\\\\n\\u0001\xc3\xa4/\"\n"
                                 "  ],\n"
                                 "  \"rows\": [\n"
                                 "    {\n"
                                 "      \"k\": null\n"
                                 "    }\n"
                                 "  ]\n"
                                 "}";

static char *dump(const hd_json_value *value, hd_json_style style) {
    hd_json_writer json = hd_json_begin(style);
    char *text;
    if (value != NULL)
        hd_json_write(&json, value);
    else
        write_sample(&json);
    assert_ok(hd_json_finish(&json, &text));
    return text;
}

static void test_layout(void **state) {
    (void)state;
    char *text = dump(NULL, jansson);
    assert_string_equal(text, by_jansson);
    huddle_free(text);
    text = dump(NULL, (hd_json_style){0});
    assert_string_equal(text,
                        "{\"n\": 150, \"third\": 0.3333333333333333, \"one\": 1.0, \"small\": "
                        "1.5e-7, \"large\": 1e22, \"nan\": null, \"yes\": true, \"none\": "
                        "null, \"empty\": [], \"object\": {}, \"list\": [1, "
                        "\"a\\\"\\\\\\n\\u0001\xc3\xa4/\"], \"rows\": [{\"k\": null}]}");
    huddle_free(text);
    text = dump(NULL, (hd_json_style){.indent = 2, .flat_arrays = true});
    assert_non_null(strstr(text, "\"list\": [1, \"a"));
    assert_non_null(strstr(text, "\"rows\": [\n    {\n"));
    huddle_free(text);
}

/* Reading and writing again changes nothing. */
static void test_rewrite(void **state) {
    (void)state;
    hd_json_document document;
    assert_ok(hd_json_parse(by_jansson, (int64_t)strlen(by_jansson), &document));
    char *text = dump(document.root, jansson);
    assert_string_equal(text, by_jansson);
    huddle_free(text);
    hd_json_document_free(&document);
}

static double read_back(double number) {
    hd_json_writer json = hd_json_begin((hd_json_style){0});
    hd_json_document document;
    char *text;
    hd_json_real(&json, number);
    assert_ok(hd_json_finish(&json, &text));
    assert_ok(hd_json_parse(text, (int64_t)strlen(text), &document));
    assert_int_equal(document.root->type, HD_JSON_REAL);
    double real = document.root->real;
    hd_json_document_free(&document);
    huddle_free(text);
    return real;
}

static void test_reals(void **state) {
    (void)state;
    static const double numbers[] = {0,       -0.0,    1,      0.1,     1.0 / 3, 1e300,
                                     DBL_MAX, DBL_MIN, 5e-324, -123.25, 1e15,    1e17};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        double back = read_back(numbers[k]);
        assert_memory_equal(&back, &numbers[k], sizeof back);
    }
}

/* A host may have chosen a locale with a decimal comma. Skipped where there is none. */
static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool found = false;
    for (size_t k = 0; k < 4 && !found; k++)
        found = setlocale(LC_NUMERIC, names[k]) != NULL;
    if (!found)
        skip();
    double back = read_back(0.25);
    char *text = dump(NULL, jansson);
    setlocale(LC_NUMERIC, "C");
    assert_true(back == 0.25);
    assert_string_equal(text, by_jansson);
    huddle_free(text);
}

static void test_texts(void **state) {
    (void)state;
    hd_json_writer json = hd_json_begin((hd_json_style){0});
    char *text;
    hd_json_open_array(&json);
    hd_json_string(&json, "f\xfcr");                 /* Latin-1 */
    hd_json_string(&json, "\xed\xa0\x80");           /* a surrogate */
    hd_json_string(&json, "\xf0\x9f\x98\x80\t\x7f"); /* U+1F600 */
    hd_json_close_array(&json);
    assert_ok(hd_json_finish(&json, &text));
    assert_string_equal(text, "[\"f?r\", \"\?\?\?\", \"\xf0\x9f\x98\x80\\t\x7f\"]");
    huddle_free(text);
    assert_true(hd_json_is_utf8("\xc2\x80\xe0\xa0\x80\xf4\x8f\xbf\xbf"));
    assert_false(hd_json_is_utf8("\xc1\x80"));
    assert_false(hd_json_is_utf8("\xe0\x9f\x80"));
    assert_false(hd_json_is_utf8("\xf0\x8f\x80\x80"));
    assert_false(hd_json_is_utf8("\xf4\x90\x80\x80"));
    assert_false(hd_json_is_utf8("\xe2\x82"));
}

static void test_lookups(void **state) {
    (void)state;
    static const char text[] = " {\"a\": -7, \"b\": 2.5, \"c\": [1, {\"d\": true}], "
                               "\"e\": \"\\u00e4\\ud83d\\ude00\\/\\b\", \"f\": null} ";
    hd_json_document document;
    assert_ok(hd_json_parse(text, sizeof text - 1, &document));
    const hd_json_value *root = document.root, *c = hd_json_get(root, "c");
    assert_int_equal(root->count, 5);
    assert_int_equal(hd_json_get_integer(root, "a", 1), -7);
    assert_int_equal(hd_json_get_integer(root, "b", 1), 1);
    assert_true(hd_json_get(root, "a")->real == -7);
    assert_true(hd_json_get(root, "b")->type == HD_JSON_REAL &&
                hd_json_get(root, "b")->real == 2.5);
    assert_int_equal(c->count, 2);
    assert_int_equal(hd_json_get(c->first->next, "d")->type, HD_JSON_BOOL);
    assert_int_equal(hd_json_get(c->first->next, "d")->integer, 1);
    assert_null(hd_json_get(c->first, "d"));
    assert_string_equal(hd_json_get_string(root, "e", ""), "\xc3\xa4\xf0\x9f\x98\x80/\b");
    assert_null(hd_json_get_string(root, "f", NULL));
    assert_int_equal(hd_json_get(root, "f")->type, HD_JSON_NULL);
    assert_null(hd_json_get(root, "z"));
    assert_null(hd_json_get(NULL, "z"));
    hd_json_document_free(&document);
}

static void test_refused_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "a value was expected at byte 0"},
        {"[1,]", "a value was expected at byte 3"},
        {"[1 2]", "',' or a closing bracket was expected at byte 3"},
        {"{\"a\" 1}", "':' was expected at byte 5"},
        {"{a: 1}", "a string was expected at byte 1"},
        {"{\"a\": 1, \"a\": 2}", "a name that occurs twice"},
        {"1 2", "continues after its end at byte 2"},
        {"01", "a value was expected"},
        {"+1", "a value was expected"},
        {".5", "a value was expected"},
        {"1.", "a value was expected"},
        {"1e", "a value was expected"},
        {"-", "a value was expected"},
        {"NaN", "a value was expected"},
        {"nul", "an unknown word"},
        {"tru", "an unknown word"},
        {"1e999", "out of range"},
        {"9223372036854775808", "out of range"},
        {"\"abc", "an unfinished string at byte 4"},
        {"\"a\nb\"", "a control character"},
        {"\"\\x\"", "an unknown escape"},
        {"\"\\u12g4\"", "damaged \\u escape"},
        {"\"\\ud800\"", "half a surrogate pair"},
        {"\"\\udc00\"", "damaged \\u escape"},
        {"\"\\u0000\"", "\\u0000"},
        {"\"\xff\"", "not UTF-8"},
        {"// comment\n1", "a value was expected"},
    };
    hd_json_document document;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        size_t size = strlen(bad[k].text);
        char *exact = malloc(size + 1); /* so that reading past the end shows */
        memcpy(exact, bad[k].text, size);
        exact[size] = '7';
        assert_refused(hd_json_parse(exact, (int64_t)size, &document), HUDDLE_FORMAT, bad[k].part);
        assert_null(document.root);
        free(exact);
    }
    hd_json_document least;
    assert_ok(hd_json_parse("-9223372036854775808", 20, &least));
    assert_true(least.root->integer == INT64_MIN);
    hd_json_document_free(&least);
}

static void test_limits(void **state) {
    (void)state;
    char text[20000];
    hd_json_document document;
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_ok(hd_json_parse(text + 1, 128, &document));
    hd_json_document_free(&document);
    assert_refused(hd_json_parse(text, 130, &document), HUDDLE_FORMAT, "too many levels");
    size_t used = 1;
    strcpy(text, "{");
    for (int k = 0; k < 1001; k++)
        used += (size_t)sprintf(text + used, "%s\"%d\":0", k > 0 ? "," : "", k);
    strcpy(text + used, "}");
    assert_refused(hd_json_parse(text, (int64_t)used + 1, &document), HUDDLE_FORMAT,
                   "too many members");
    memset(text, '1', 2000);
    text[1] = '.';
    assert_refused(hd_json_parse(text, 2000, &document), HUDDLE_FORMAT, "too many digits");
    assert_refused(hd_json_parse(text, (int64_t)1 << 40, &document), HUDDLE_FORMAT,
                   "1099511627776 bytes");
}

static huddle_status parse_and_write(void *argument) {
    hd_json_document document;
    char *text = NULL;
    huddle_status status = hd_json_parse(argument, (int64_t)strlen(argument), &document);
    if (status == HUDDLE_OK) {
        hd_json_writer json = hd_json_begin(jansson);
        hd_json_write(&json, document.root);
        status = hd_json_finish(&json, &text);
    }
    huddle_free(text);
    hd_json_document_free(&document);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    char text[] = "{\"a\": [1, 2.5, \"text\"], \"b\": {\"c\": null}}";
    test_each_allocation(parse_and_write, text);
    hd_json_writer json = hd_json_begin(jansson);
    char *unfinished;
    hd_json_open_array(&json);
    assert_refused(hd_json_finish(&json, &unfinished), HUDDLE_INTERNAL, "not completed");
    assert_null(unfinished);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),    cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_reals),     cmocka_unit_test(test_locale),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_refused_texts),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
