/* JSON on stdout, and JSON values that several commands print. */
#ifndef HUDDLE_APP_JSON_H
#define HUDDLE_APP_JSON_H

#include "report/page.h"

/* Prints a value and a line feed to stdout, and releases it: one line per member of an object,
 * arrays of plain values on one line, numbers with the fewest digits that read back as the same
 * number. */
void print_json(json_t *value);

/* An array of integers. */
json_t *integers_json(int64_t n, const int64_t *values);

/* {inside, expected, divergence, information, map, entropy, modularity, ncut}. */
json_t *graph_scores_json(const huddle_graph_scores *scores);

/* A string; bytes that are not UTF-8 become question marks. */
json_t *text_json(const char *text);

/* An array of such strings. */
json_t *texts_json(int64_t n, char *const *texts);

#endif
