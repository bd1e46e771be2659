/* The data of an HTML page of results. */
#ifndef HUDDLE_TESTS_PAGE_DATA_H
#define HUDDLE_TESTS_PAGE_DATA_H

#include "support/support.h"

#include <jansson.h>

#include <string.h>

/* The JSON in the text of a page; the caller releases it. */
static inline json_t *parse_page(const char *text) {
    const char *start = strstr(text, "id=\"data\">");
    assert_non_null(start);
    start += strlen("id=\"data\">");
    json_t *data = json_loadb(start, (size_t)(strstr(start, "</script>") - start), 0, NULL);
    assert_non_null(data);
    return data;
}

#endif
