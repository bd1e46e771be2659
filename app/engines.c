/* huddle engines: the compute engines of this build; also the values of --engine. */
#include "engines.h"
#include "commands.h"

#include "cli/arguments.h"
#include "cli/text.h"
#include "json.h"

#include <huddle/base.h>
#include <string.h>

/* Capacity of the list of names. */
enum { MAX_ENGINES = 64 };

/* FLAG_CHOICE wants a list of texts that ends with NULL; the static array begins as all NULL. */
const char *const *engine_names(void) {
    static const char *names[MAX_ENGINES + 1];
    const huddle_engine_text *const *engines = huddle_engines();
    for (int k = 0; k < MAX_ENGINES && engines[k] != NULL; k++)
        names[k] = engines[k]->name;
    return names;
}

/* The first engine is the default one. */
static json_t *engines_json(void) {
    json_t *list = json_array();
    for (const huddle_engine_text *const *engine = huddle_engines(); *engine != NULL; engine++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", (*engine)->name, "summary", (*engine)->summary));
    return json_pack("{s:s, s:o}", "default", huddle_engines()[0]->name, "engines", list);
}

/* Text for people: name and summary, one engine per line. */
static int run_engines(const cli_arguments *arguments) {
    if (argument(arguments, "json") != NULL) {
        print_json(engines_json());
        return EXIT_DONE;
    }
    for (const huddle_engine_text *const *engine = huddle_engines(); *engine != NULL; engine++) {
        printf("%-12s", (*engine)->name);
        print_wrapped(stdout, (*engine)->summary, 12, 12);
    }
    return EXIT_DONE;
}

static const cli_flag engines_flags[] = {
    {"json", 0, FLAG_SWITCH, NULL, "print JSON instead of text"}, {0}};

const cli_command engines_command = {
    .name = "engines",
    .operands = "",
    .summary = "list the compute engines",
    .text = "An engine is selected by --engine NAME, or NAME:OPTIONS if it takes options. "
            "Operations that an engine does not implement are computed by cpu, the default.",
    .groups = {{"Options", engines_flags}, {"Other options", common_flags}},
    .run = run_engines};
