/* The end of a page: the time of each stage, the commands that repeat the run, and every option. */
#include "report/run.h"

#include <stdio.h>
#include <string.h>

/* Bars of the stages in the order in which they ran; the total is in the text. */
static void add_seconds(report_run *run) {
    const json_t *times = json_object_get(run->info, "seconds");
    const char *stage;
    json_t *value, *bars = json_array();
    json_object_foreach((json_t *)(uintptr_t)times, stage, value) {
        char text[40];
        /* A bar for the total would make all others look short. */
        if (strcmp(stage, "total") == 0)
            continue;
        snprintf(text, sizeof text, "%.3f s", json_number_value(value));
        page_append(bars,
                    json_pack("{s:s, s:O, s:s}", "label", stage, "value", value, "text", text));
    }
    char lead[128];
    snprintf(lead, sizeof lead, "%.2f seconds in total%s. Writing this page is not included.",
             number_of(times, "total"),
             json_object_get(times, "read") != NULL ? ", including reading the data" : "");
    page_add(page_section(run->page, "time", "Time", lead), "bars",
             json_pack("{s:o}", "bars", bars));
}

/* The command lines come from the caller: the library does not know how it was called. */
static void add_commands(report_run *run, report_section *section) {
    const huddle_report_options *options = run->options;
    if (options->n_commands == 0)
        return;
    json_t *lines = json_array();
    for (int32_t i = 0; i < options->n_commands; i++)
        page_append(lines, json_pack("{s:o, s:o}", "label", page_text(options->commands[i].label),
                                     "text", page_text(options->commands[i].text)));
    page_add(section, "command", json_pack("{s:o}", "commands", lines));
}

/* One row per option: name, value, default, meaning. The page emphasises values that differ
 * from the default (type "changed"). */
static json_t *options_json(const report_run *run, const char *const *hidden) {
    json_t *rows = json_array();
    const huddle_option *option = huddle_model_options(run->model);
    for (; option->type != HUDDLE_OPTION_END; option++) {
        char value[HUDDLE_OPTION_TEXT];
        if (is_listed(option->name, hidden) ||
            huddle_model_get_option(run->model, option->name, value, sizeof value) != HUDDLE_OK)
            continue;
        page_append(rows, json_pack("[s, s, s, s]", option->name, value, option->default_text,
                                    option->help));
    }
    return rows;
}

/* Version and options are enough to compute the same labels again: nothing else, such as the number
 * of threads, has an influence. */
void report_add_repeat(report_run *run, const char *const *hidden) {
    char lead[160];
    add_seconds(run);
    snprintf(lead, sizeof lead, "Huddle %s. The labels do not depend on the number of threads.",
             huddle_version());
    report_section *section = page_section(run->page, "repeat", "Repeat this run", lead);
    add_commands(run, section);
    page_add(section, "table",
             json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:o, s:s}", "columns",
                       "label", "option", "type", "code", "label", "value", "type", "changed",
                       "label", "default", "type", "code", "label", "meaning", "type", "text",
                       "rows", options_json(run, hidden), "caption", "All options of the method"));
}
