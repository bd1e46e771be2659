/* --report: the page of a run, written by libhuddle-report, with the command lines that repeat
 * it. */
#include "cli/catalogue.h"
#include "cli/text.h"
#include "fitting.h"
#include "report/write.h"
#include "session.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* ---- command lines ------------------------------------------------------------------------ */

/* Appends a word, in quotes if the shell would change it. */
static void append_word(FILE *out, const char *dashes, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+%@";
    const char *quote = word[strspn(word, plain)] != '\0' || word[0] == '\0' ? "'" : "";
    fprintf(out, " %s%s", dashes, quote);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputs(quote, out);
}

/* A flag or an option by its long name; a switch has no value. */
static void append_setting(FILE *out, const cli_setting *setting) {
    char flag[64];
    option_flag(setting->flag != NULL ? setting->flag->name : setting->option, flag, sizeof flag);
    append_word(out, "--", flag);
    if (setting->flag == NULL || setting->flag->kind != FLAG_SWITCH)
        append_word(out, "", streams_given(setting->value));
}

/* Flags that only determine where results are written: they do not change the result, so the
 * full command line omits them. */
static const char *const output_flags[] = {"output", "append", "labels",  "confidence",
                                           "save",   "dump",   "report",  "report-path",
                                           "json",   "quiet",  "verbose", NULL};

/* Every option of the method at the value it had, defaults included: it repeats the run even with a
 * later version that has other defaults. */
static void append_options(FILE *out, const fitting *fit) {
    const huddle_option *option = huddle_model_options(fit->model);
    bool is_path = strcmp(fit->arguments->command->name, "path") == 0;
    for (; option->type != HUDDLE_OPTION_END; option++) {
        char value[HUDDLE_OPTION_TEXT];
        cli_setting setting = {NULL, option->name, value};
        /* `path` sets gamma and n_init of its fit itself and does not accept them. */
        if (is_path && (strcmp(option->name, "gamma") == 0 || strcmp(option->name, "n_init") == 0))
            continue;
        if (huddle_model_get_option(fit->model, option->name, value, sizeof value) == HUDDLE_OK)
            append_setting(out, &setting);
    }
}

/* The command line as it was given, or with every option, with long names and quoted for a shell.
 * The command and its operands come first, because "--" is not needed then. Freed by free(). */
static char *command_line(const fitting *fit, bool full) {
    const cli_arguments *arguments = fit->arguments;
    char *text = NULL;
    size_t size = 0;
    FILE *out = check_allocation(open_memstream(&text, &size));
    fprintf(out, "huddle %s", arguments->command->name);
    for (int i = 0; i < arguments->n_operands; i++)
        append_word(out, "", streams_given(arguments->operands[i]));
    if (full && strcmp(arguments->command->name, "cluster") == 0)
        fprintf(out, " --method %s", huddle_model_method(fit->model));
    for (int i = 0; i < arguments->n_settings; i++) {
        const cli_flag *flag = arguments->settings[i].flag;
        if (!full || (flag != NULL && strcmp(flag->name, "method") != 0 &&
                      !is_listed(flag->name, output_flags)))
            append_setting(out, &arguments->settings[i]);
    }
    if (full)
        append_options(out, fit);
    return fclose(out) == 0 ? text : check_allocation(NULL);
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
int fitting_write_page(const fitting *fit, const huddle_report_walk *walk, json_t *info) {
    const char *file = argument(fit->arguments, "report");
    if (file == NULL)
        return EXIT_DONE;
    huddle_report_options options = data_options(fit);
    char *given = command_line(fit, false), *full = command_line(fit, true);
    const huddle_report_command lines[] = {{"As given", given}, {"With every option", full}};
    json_t *unused = json_array(); /* the fit has reported its warnings already */
    const char *follow = argument(fit->arguments, "report-path");
    options.follow_path = follow == NULL || strcmp(follow, "true") == 0;
    options.commands = lines;
    options.n_commands = 2;
    session_collect_warnings(unused);
    huddle_status status = huddle_report_write_info(fit->context, fit->model, fitting_points(fit),
                                                    walk, &options, info, file);
    session_collect_warnings(NULL);
    json_decref(unused);
    free(full);
    free(given);
    return call_result(status, status == HUDDLE_IO ? file : fit->source);
}
