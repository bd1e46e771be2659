/* The page: one self-contained HTML file that explains a run. No network, no framework.
 *
 * A page is a JSON object: a title, sections, and in each section blocks. A block has a kind, and a
 * function of that name in page/ draws it, from the block's other members. The kinds and what they
 * take are listed in docs/page.md; these serve any command:
 *
 *   text     {html}                          paragraphs
 *   facts    {facts: [{value, label, note}]} large numbers
 *   table    {columns, rows}                 sorts when a heading is clicked
 *   lines    {series, x, y, marks}           a chart of lines, axes plain or logarithmic
 *   bars     {bars: [{label, value, text}]}  horizontal bars
 *   command  {commands: [{label, text}]}     text to copy
 *   warnings {warnings: [...]}
 *   figure   {svg, caption}                  a picture made elsewhere
 *
 *     json_t *page = page_new("digits", "nine methods, 50 seeds");
 *     json_t *section = page_section(page, "table", "Accuracy", "Each cell is ...");
 *     page_add(section, "table", json_pack("{s:o, s:o}", "columns", columns, "rows", rows));
 *     int result = page_write(page, "index.html");
 *     json_decref(page);
 */
#ifndef HUDDLE_APP_REPORT_H
#define HUDDLE_APP_REPORT_H

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

/* An empty page. The subtitle may be "". */
json_t *page_new(const char *title, const char *subtitle);

/* A new section at the end; the lead, which may be NULL, is a paragraph below the title. Borrowed
 * from the page. A title of "" shows none and keeps the section out of the contents. */
json_t *page_section(json_t *page, const char *id, const char *title, const char *lead);

/* Adds a block to a section, and takes it over. */
void page_add(json_t *section, const char *kind, json_t *block);

/* Something that several blocks use, by name; takes it over. */
void page_share(json_t *page, const char *name, json_t *value);

/* Writes the file as a whole or not at all. EXIT_DONE, or EXIT_FAILED after a sentence. */
int page_write(const json_t *page, const char *path);

/* Bytes as base64: for arrays too large to be written as numbers. Numbers of more than one byte
 * are little-endian. */
json_t *page_bytes(const void *bytes, size_t size);
json_t *page_uint16(const uint16_t *values, size_t count);
json_t *page_int32(const int32_t *values, size_t count);

/* A number, or null if it is not finite. */
json_t *page_real(double number);

#endif
