/* huddle methods, engines and options: what this build offers, from the tables of the library. */
#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "cli/documents.h"
#include "cli/text.h"
#include "commands.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_flag list_flags[] = {{"json", 0, FLAG_SWITCH, NULL, "print JSON instead of text"},
                                      {0}};

/* ---- methods ------------------------------------------------------------------------------ */

/* A row of a list, or an object of `json` unless that is NULL. Engines have no title. */
static void list_row(json_t *json, const char *name, const char *title, const char *summary) {
    if (json != NULL) {
        json_array_append_new(
            json, json_pack("{s:s, s:s*, s:s}", "name", name, "title", title, "summary", summary));
        return;
    }
    printf("%-12s", name);
    if (title != NULL)
        printf("%s%s\n%12s", title, strcmp(name, huddle_default_method()) == 0 ? " (default)" : "",
               "");
    print_wrapped(summary, 12);
}

static int run_methods(const cli_arguments *arguments) {
    json_t *json = argument(arguments, "json") != NULL ? json_array() : NULL;
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        list_row(json, (*method)->name, (*method)->title, (*method)->summary);
    if (json != NULL)
        print_json(json_pack("{s:s, s:o}", "default", huddle_default_method(), "methods", json));
    return EXIT_DONE;
}

const cli_command methods_command = {
    {"methods", "", 0, 0, "list the clustering methods", run_methods},
    .groups = {{"Options", list_flags}, {"Other options", common_flags}}};

/* ---- engines ------------------------------------------------------------------------------ */

/* FLAG_CHOICE wants a list of texts that ends with NULL; the static array begins as all NULL. */
const char *const *engine_names(void) {
    enum { MAX_ENGINES = 64 };
    static const char *names[MAX_ENGINES + 1];
    const huddle_engine_text *const *engines = huddle_engines();
    for (int k = 0; k < MAX_ENGINES && engines[k] != NULL; k++)
        names[k] = engines[k]->name;
    return names;
}

static int run_engines(const cli_arguments *arguments) {
    json_t *json = argument(arguments, "json") != NULL ? json_array() : NULL;
    for (const huddle_engine_text *const *engine = huddle_engines(); *engine != NULL; engine++)
        list_row(json, (*engine)->name, NULL, (*engine)->summary);
    if (json != NULL)
        print_json(json_pack("{s:s, s:o}", "default", engine_names()[0], "engines", json));
    return EXIT_DONE;
}

const cli_command engines_command = {
    {"engines", "", 0, 0, "list the compute engines", run_engines},
    .text = "An engine is selected by --engine NAME, or NAME:OPTIONS if it takes options. "
            "Operations that an engine does not implement are computed by cpu, the default.",
    .groups = {{"Options", list_flags}, {"Other options", common_flags}}};

/* ---- options ------------------------------------------------------------------------------ */

/* In the order of huddle_option_type. */
static const char *const type_names[] = {"",       "int",  "seed",  "real",   "bool",
                                         "choice", "rule", "range", "numbers"};

/* The default as a number or a boolean where it is one; "auto" and names stay texts. A choice
 * stays a text even if it looks like a number. */
static json_t *default_json(const huddle_option *option) {
    char *end;
    if (option->type == HUDDLE_OPTION_BOOL)
        return json_boolean(strcmp(option->default_text, "true") == 0);
    double number = strtod(option->default_text, &end);
    if (option->choices != NULL || *end != '\0' || end == option->default_text)
        return json_string(option->default_text);
    return option->type == HUDDLE_OPTION_REAL ? json_real(number)
                                              : json_integer((json_int_t)number);
}

/* INT32_MAX as a bound means "no bound" in the tables. */
static json_t *bound_json(const huddle_option *option, double bound) {
    bool real = option->type == HUDDLE_OPTION_REAL;
    if (!isfinite(bound) || (!real && bound >= INT32_MAX))
        return json_null();
    return real ? json_real(bound) : json_integer((json_int_t)bound);
}

static json_t *option_json(const huddle_option *option) {
    char allowed[512];
    huddle_option_allowed(option, allowed, sizeof allowed);
    json_t *made =
        json_pack("{s:s, s:s, s:o, s:s}", "name", option->name, "type", type_names[option->type],
                  "default", default_json(option), "allowed", allowed);
    if (option->type == HUDDLE_OPTION_INT || option->type == HUDDLE_OPTION_REAL ||
        option->type == HUDDLE_OPTION_RANGE || option->type == HUDDLE_OPTION_NUMBERS) {
        json_object_set_new(made, "min", bound_json(option, option->min));
        json_object_set_new(made, "max", bound_json(option, option->max));
        json_object_set_new(made, "auto", json_boolean(option->allows_auto));
    }
    if (option->choices != NULL) {
        json_t *choices = json_array();
        for (const char *const *choice = option->choices; *choice != NULL; choice++)
            json_array_append_new(choices, json_string(*choice));
        json_object_set_new(made, "choices", choices);
    }
    json_object_set_new(made, "help", json_string(option->help));
    return made;
}

/* NULL, which json_pack() leaves out, for a method without presets. */
static json_t *presets_json(const huddle_preset *preset) {
    json_t *presets = preset != NULL ? json_array() : NULL;
    for (; preset != NULL && preset->name != NULL; preset++) {
        json_t *settings = json_object();
        for (const huddle_setting *s = preset->settings; s->option != NULL; s++)
            json_object_set_new(settings, s->option, json_string(s->value));
        json_array_append_new(presets, json_pack("{s:s, s:s, s:o}", "name", preset->name, "summary",
                                                 preset->summary, "settings", settings));
    }
    return presets;
}

/* The table of the method as a model has it, with its own defaults. */
static json_t *method_json(int method) {
    const catalogue_of_methods *all = catalogue();
    json_t *options = json_array();
    for (const huddle_option *row = all->tables[method]; row->type != HUDDLE_OPTION_END; row++)
        json_array_append_new(options, option_json(row));
    return json_pack("{s:s, s:s, s:o, s:o*}", "method", all->names[method], "title",
                     all->methods[method]->title, "options", options, "presets",
                     presets_json(huddle_method_presets(all->names[method])));
}

static json_t *methods_json(void) {
    json_t *list = json_array();
    for (int i = 0; i < catalogue()->n_methods; i++)
        json_array_append_new(list, method_json(i));
    return json_pack("{s:o}", "methods", list);
}

/* Each with the flags that it stands for. */
static void print_presets(const huddle_preset *preset) {
    char text[1024];
    for (; preset != NULL && preset->name != NULL; preset++) {
        preset_flags(preset, text, sizeof text);
        printf("\n--preset %s: %s\n  ", preset->name, preset->summary);
        print_wrapped(text, 2);
    }
}

/* A single method shows its own defaults, where --help shows those of all. */
static void print_options(int method) {
    const catalogue_of_methods *all = catalogue();
    cli_entry entry;
    printf("%s: %s\n\n", all->names[method], all->methods[method]->title);
    for (const huddle_option *row = all->tables[method]; row->type != HUDDLE_OPTION_END; row++) {
        method_entry(row, &entry);
        print_entry(&entry);
    }
    print_presets(huddle_method_presets(all->names[method]));
}

/* Without a method all of them are listed, in the order of `huddle methods`. */
static int run_options(const cli_arguments *arguments) {
    int method = -1;
    if (arguments->n_operands == 1) {
        method = find_name("method", arguments->operands[0], catalogue()->names, "methods");
        if (method < 0)
            return EXIT_USAGE;
    }
    if (argument(arguments, "json") != NULL)
        print_json(method >= 0 ? method_json(method) : methods_json());
    else if (argument(arguments, "markdown") != NULL)
        print_options_markdown();
    else
        for (int i = 0; i < catalogue()->n_methods; i++)
            if (method < 0 || i == method) {
                printf("%s", method < 0 && i > 0 ? "\n" : "");
                print_options(i);
            }
    return EXIT_DONE;
}

static const cli_flag options_flags[] = {
    {"json", 0, FLAG_SWITCH, NULL, "print JSON instead of text"},
    {"markdown", 0, FLAG_SWITCH, NULL, "print the options of all methods as a Markdown page"},
    {0}};

const cli_command options_command = {
    {"options", "[METHOD]", 0, 1, "list the options of one method or of all", run_options},
    .words = method_names,
    .groups = {{"Options", options_flags}, {"Other options", common_flags}}};
