/* The end of a page: time, every option, and the command lines that repeat the run. */
#include "catalogue.h"
#include "output.h"
#include "report_run.h"
#include "talk.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* ---- time --------------------------------------------------------------------------------- */

static void add_seconds(json_t *page, const json_t *report) {
    const char *stage;
    json_t *value, *bars = json_array();
    json_object_foreach(json_object_get(report, "seconds"), stage, value) {
        char text[40];
        if (strcmp(stage, "total") == 0)
            continue;
        snprintf(text, sizeof text, "%.3f s", json_number_value(value));
        json_array_append_new(
            bars, json_pack("{s:s, s:O, s:s}", "label", stage, "value", value, "text", text));
    }
    double total = json_number_value(json_object_get(json_object_get(report, "seconds"), "total"));
    json_t *lead = json_sprintf("%.2f seconds in all, reading included; the making of this page "
                                "is not counted.",
                                total);
    page_add(page_section(page, "time", "Time", json_string_value(lead)), "bars",
             json_pack("{s:o}", "bars", bars));
    json_decref(lead);
}

/* ---- commands ----------------------------------------------------------------------------- */

/* A command line under way. */
typedef struct command_text {
    char *text;
    size_t size;
} command_text;

static void put_word(command_text *out, const char *dashes, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,+%@";
    size_t length = strlen(word), size = strlen(dashes);
    bool quoted = word[strspn(word, plain)] != '\0' || length == 0;
    out->text = must(realloc(out->text, out->size + size + 4 * length + 5));
    char *at = out->text + out->size;
    if (out->size > 0)
        *at++ = ' ';
    memcpy(at, dashes, size);
    at += size;
    if (quoted)
        *at++ = '\'';
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else
            *at++ = *c;
    if (quoted)
        *at++ = '\'';
    *at = '\0';
    out->size = (size_t)(at - out->text);
}

static void put_option(command_text *out, const char *name, const char *value) {
    put_word(out, "--", name);
    if (value != NULL)
        put_word(out, "", value);
}

static void put_head(command_text *out, const app_arguments *arguments) {
    put_word(out, "", "huddle");
    put_word(out, "", arguments->command->name);
    for (int i = 0; i < arguments->n_operands; i++)
        put_word(out, "", arguments->operands[i]);
}

/* Where results go does not change them. */
static bool is_output(const char *name) {
    static const char *const outputs[] = {"output", "labels", "save",  "dump",
                                          "report", "json",   "quiet", NULL};
    for (const char *const *output = outputs; *output != NULL; output++)
        if (strcmp(*output, name) == 0)
            return true;
    return false;
}

static char *typed_command(const app_arguments *arguments) {
    command_text out = {0};
    put_head(&out, arguments);
    for (int i = 0; i < arguments->n_settings; i++) {
        const app_setting *setting = &arguments->settings[i];
        char flag[64];
        if (setting->flag == NULL) {
            option_flag(setting->option, flag, sizeof flag);
            put_option(&out, flag, setting->value);
        } else
            put_option(&out, setting->flag->name,
                       setting->flag->kind == FLAG_SWITCH ? NULL : setting->value);
    }
    return out.text;
}

/* The path settles some options of its fit itself, and would not take them. */
static bool is_taken(const app_arguments *arguments, const char *option) {
    bool is_path = strcmp(arguments->command->name, "path") == 0;
    return !is_path || (strcmp(option, "gamma") != 0 && strcmp(option, "n_init") != 0);
}

static char *full_command(const fitting *fit) {
    const app_arguments *arguments = fit->arguments;
    command_text out = {0};
    put_head(&out, arguments);
    if (strcmp(arguments->command->name, "cluster") == 0)
        put_option(&out, "method", huddle_model_method(fit->model));
    for (int i = 0; i < arguments->n_settings; i++) {
        const app_flag *flag = arguments->settings[i].flag;
        if (flag != NULL && strcmp(flag->name, "method") != 0 && !is_output(flag->name))
            put_option(&out, flag->name,
                       flag->kind == FLAG_SWITCH ? NULL : arguments->settings[i].value);
    }
    const huddle_option *option = huddle_model_options(fit->model);
    for (; option->type != HUDDLE_OPTION_END; option++) {
        char flag[64], value[128];
        if (!is_taken(arguments, option->name) ||
            huddle_model_get_option(fit->model, option->name, value, sizeof value) != HUDDLE_OK)
            continue;
        option_flag(option->name, flag, sizeof flag);
        put_option(&out, flag, value);
    }
    return out.text;
}

static void add_commands(json_t *section, const fitting *fit) {
    char *typed = typed_command(fit->arguments), *full = full_command(fit);
    json_t *lines =
        json_pack("[{s:s, s:o}, {s:s, s:o}]", "label", "As given", "text", text_json(typed),
                  "label", "With every option spelled out", "text", text_json(full));
    page_add(section, "command", json_pack("{s:o}", "commands", lines));
    free(full);
    free(typed);
}

/* ---- options ------------------------------------------------------------------------------ */

static json_t *option_rows(const fitting *fit) {
    json_t *rows = json_array();
    const huddle_option *option = huddle_model_options(fit->model);
    for (; option->type != HUDDLE_OPTION_END; option++) {
        char value[128];
        if (!is_taken(fit->arguments, option->name) ||
            huddle_model_get_option(fit->model, option->name, value, sizeof value) != HUDDLE_OK)
            continue;
        json_array_append_new(
            rows, json_pack("[s, s, s, s]", option->name, value, option->fallback, option->help));
    }
    return rows;
}

void add_repeat(json_t *page, const fitting *fit, const json_t *report) {
    add_seconds(page, report);
    json_t *lead = json_sprintf("Huddle %s. The same command gives the same labels on any number "
                                "of threads.",
                                huddle_version());
    json_t *section = page_section(page, "repeat", "Repeat this run", json_string_value(lead));
    add_commands(section, fit);
    page_add(section, "table",
             json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:o, s:s}", "columns",
                       "label", "option", "type", "code", "label", "value", "type", "changed",
                       "label", "default", "type", "code", "label", "meaning", "type", "text",
                       "rows", option_rows(fit), "caption", "Every option of the method"));
    json_decref(lead);
}
