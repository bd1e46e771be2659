/* The page writer: builds one self-contained HTML file (no network, no framework) from sections and
 * blocks.
 *
 * A page has a title, sections, and blocks in each section. A block is a JSON object with a kind;
 * the script of the page (the files of report/page/) has a function for each kind, which draws the
 * block from its other members. docs/page.md lists the kinds and their members. These kinds are
 * general:
 *
 *   text     {html}                          paragraphs
 *   facts    {facts: [{value, label, note}]} large numbers
 *   table    {columns, rows}                 sorted by a click on a column heading
 *   lines    {series, x, y, marks}           a line chart, axes linear or logarithmic
 *   bars     {bars: [{label, value, text}]}  horizontal bars
 *   command  {commands: [{label, text}]}     text with a copy button
 *   warnings {warnings: [...]}
 *   figure   {svg, caption}                  an SVG picture drawn elsewhere
 *
 *     report_page *page = page_new("digits", "nine methods, 50 seeds");
 *     report_section *section = page_section(page, "table", "Accuracy", "Each cell is ...");
 *     page_add(section, "table", json_pack("{s:o, s:o}", "columns", columns, "rows", rows));
 *     huddle_status status = page_write(page, "index.html");
 *     json_decref(page);
 *
 * Failed allocations are reported once, by page_write(): every function here accepts NULL where
 * another one, or jansson, would have returned an object, and remembers that something is missing.
 */
#ifndef HUDDLE_REPORT_PAGE_H
#define HUDDLE_REPORT_PAGE_H

#include <huddle/metrics.h>
#include <huddle/model.h>
#include <jansson.h>

/* Both are JSON: {title, subtitle, version, shared, sections}, and the list of the blocks. */
typedef json_t report_page;
typedef json_t report_section;

/* An empty page, freed by json_decref(); the subtitle may be "". A thread builds one at a time. */
report_page *page_new(const char *title, const char *subtitle);

/* Appends a section. The lead, which may be NULL, is a paragraph below the title. A section whose
 * title is "" has no heading and no entry in the table of contents. Owned by the page. */
report_section *page_section(report_page *page, const char *id, const char *title,
                             const char *lead);

/* Appends a block to a section and takes ownership of it. */
void page_add(report_section *section, const char *kind, json_t *block);

/* Stores a value that several blocks use under a name, and takes ownership of it. */
void page_share(report_page *page, const char *name, json_t *value);

/* Writes the file completely or not at all. HUDDLE_NO_MEMORY if any part of the page is missing
 * because an allocation failed, HUDDLE_IO if the file cannot be written. */
huddle_status page_write(const report_page *page, const char *path);

/* json_array_append_new() and json_object_set_new() for the parts of a block: a failure makes
 * page_write() of the page that this thread builds fail. */
void page_append(json_t *array, json_t *value);
void page_set(json_t *object, const char *name, json_t *value);

/* How often these two have failed in this thread since page_new(): for JSON of no page. */
unsigned long page_failures(void);

/* Bytes as base64, for arrays too large to be written as numbers. NULL if there is no memory. */
json_t *page_bytes(const void *bytes, size_t size);

/* The same of `count` integers of `size` bytes, little-endian on any machine. */
json_t *page_integers(const void *values, size_t count, size_t size);

/* A number, or null if it is not finite; an array of these: the first column of an array. */
json_t *page_real(double number);
json_t *page_reals(const huddle_array *array);

/* A member of an object as a number, or NAN; as a text, or "". */
double number_of(const json_t *object, const char *name);
const char *text_of(const json_t *object, const char *name);

/* A string; if the text is not valid UTF-8, every byte beyond ASCII becomes "?". NULL if there is
 * no memory. */
json_t *page_text(const char *text);

/* The text of a method, or NULL. */
const huddle_method_text *find_method(const char *name);

/* The columns of a confusion table in the order of the classes they are matched to, the others
 * last: the matched counts are then on the diagonal, where the eye expects them. Freed by free();
 * NULL without memory. */
int64_t *matched_order(const huddle_confusion *table);

/* {acc, nmi, ari, purity}: the names of the scores are the same in pages and in all commands. */
json_t *scores_json(const huddle_scores *scores);

/* What huddle_model_info_json() writes as an object. */
huddle_status model_info(const huddle_model *model, json_t **info);

#endif
