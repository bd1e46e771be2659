/* --report: the page of a run, written by libhuddle-report, with the command lines that repeat
 * it. */
#include "cli/catalogue.h"
#include "cli/text.h"
#include "fitting.h"
#include "json.h"
#include "session.h"
#include "streams.h"

#include <huddle/report.h>

#include <stdlib.h>
#include <string.h>

/* ---- command lines ------------------------------------------------------------------------ */

/* A command line under construction. */
typedef struct command_text {
    char *text;
    size_t size;
} command_text;

/* Appends a word, in quotes if the shell would change it. A single quote becomes four bytes,
 * which bounds the room; five more are for the blank, the quotes and the zero. */
static void append_word(command_text *out, const char *dashes, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+%@";
    size_t length = strlen(word), size = strlen(dashes);
    bool quoted = word[strspn(word, plain)] != '\0' || length == 0;
    out->text = check_allocation(realloc(out->text, out->size + size + 4 * length + 5));
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

/* A switch has no value. */
static void append_option(command_text *out, const char *name, const char *value) {
    append_word(out, "--", name);
    if (value != NULL)
        append_word(out, "", streams_given(value));
}

/* The command and its operands come first, because "--" is not needed then. */
static void append_head(command_text *out, const cli_arguments *arguments) {
    append_word(out, "", "huddle");
    append_word(out, "", arguments->command->name);
    for (int i = 0; i < arguments->n_operands; i++)
        append_word(out, "", streams_given(arguments->operands[i]));
}

/* Flags that only determine where results are written: they do not change the result, so the
 * full command line omits them. */
static const char *const output_flags[] = {"output", "append", "labels",  "confidence",
                                           "save",   "dump",   "report",  "report-path",
                                           "json",   "quiet",  "verbose", NULL};

/* The command line as it was given, with long names and quoted for a shell. */
static char *given_command(const cli_arguments *arguments) {
    command_text out = {0};
    append_head(&out, arguments);
    for (int i = 0; i < arguments->n_settings; i++) {
        const cli_setting *setting = &arguments->settings[i];
        char flag[64];
        if (setting->flag == NULL) {
            option_flag(setting->option, flag, sizeof flag);
            append_option(&out, flag, setting->value);
        } else
            append_option(&out, setting->flag->name,
                          setting->flag->kind == FLAG_SWITCH ? NULL : setting->value);
    }
    return out.text;
}

/* `path` sets gamma and n_init of its fit itself and does not accept them. */
static bool is_accepted(const cli_arguments *arguments, const char *option) {
    bool is_path = strcmp(arguments->command->name, "path") == 0;
    return !is_path || (strcmp(option, "gamma") != 0 && strcmp(option, "n_init") != 0);
}

/* The command line with every option of the method at the value it had, defaults included: it
 * repeats the run even with a later version that has other defaults. */
static char *full_command(const fitting *fit) {
    const cli_arguments *arguments = fit->arguments;
    command_text out = {0};
    append_head(&out, arguments);
    if (strcmp(arguments->command->name, "cluster") == 0)
        append_option(&out, "method", huddle_model_method(fit->model));
    for (int i = 0; i < arguments->n_settings; i++) {
        const cli_flag *flag = arguments->settings[i].flag;
        if (flag != NULL && strcmp(flag->name, "method") != 0 &&
            !is_listed(flag->name, output_flags))
            append_option(&out, flag->name,
                          flag->kind == FLAG_SWITCH ? NULL : arguments->settings[i].value);
    }
    const huddle_option *option = huddle_model_options(fit->model);
    for (; option->type != HUDDLE_OPTION_END; option++) {
        char flag[64], value[128];
        if (!is_accepted(arguments, option->name) ||
            huddle_model_get_option(fit->model, option->name, value, sizeof value) != HUDDLE_OK)
            continue;
        option_flag(option->name, flag, sizeof flag);
        append_option(&out, flag, value);
    }
    return out.text;
}

/* ---- pages -------------------------------------------------------------------------------- */

/* What both pages show of the data: names of classes, and images if each point is one. */
static huddle_report_options data_options(const fitting *fit) {
    const huddle_data *data = &fit->data;
    huddle_report_options options = huddle_report_defaults();
    options.source = fit->source;
    options.feature_names = (const char *const *)data->features;
    options.row_names = (const char *const *)data->row_names;
    if (data->labels != NULL) {
        options.classes = data->labels;
        options.n_classes = data->n_classes;
        options.class_names = (const char *const *)data->classes;
    }
    /* Columns may have been selected, so that the points are no longer the file's images. */
    if (data->points.offsets == NULL &&
        data->points.d == (int64_t)data->height * data->width * data->channels) {
        options.image_height = data->height;
        options.image_width = data->width;
        options.image_column_major = data->column_major;
        options.image_planes = data->planes;
    }
    return options;
}

/* An I/O failure is about the page, any other about the data. */
int fitting_write_page(const fitting *fit, const huddle_report_walk *walk, const json_t *info) {
    const char *file = argument(fit->arguments, "report");
    if (file == NULL)
        return EXIT_DONE;
    huddle_report_options options = data_options(fit);
    char *given = given_command(fit->arguments), *full = full_command(fit);
    char *details = check_allocation(json_dumps(info, 0));
    const huddle_report_command lines[] = {{"As given", given}, {"With every option", full}};
    json_t *unused = json_array(); /* the fit has reported its warnings already */
    const char *follow = argument(fit->arguments, "report-path");
    options.follow_path = follow == NULL || strcmp(follow, "true") == 0;
    options.details = details;
    options.commands = lines;
    options.n_commands = 2;
    session_collect_warnings(unused);
    huddle_status status =
        walk == NULL
            ? huddle_report_write(fit->context, fit->model, fitting_points(fit), &options, file)
            : huddle_report_write_path(fit->context, fit->model, fitting_points(fit), walk,
                                       &options, file);
    session_collect_warnings(NULL);
    json_decref(unused);
    free(details);
    free(full);
    free(given);
    return call_result(status, status == HUDDLE_IO ? file : fit->source);
}
