/* huddle methods: the clustering methods of this build. */
#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "cli/text.h"
#include "commands.h"
#include "json.h"

#include <string.h>

/* From the library's table: methods are not listed in the tool. */
static json_t *methods_json(void) {
    json_t *list = json_array();
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", (*method)->name, "title",
                                              (*method)->title, "summary", (*method)->summary));
    return json_pack("{s:s, s:o}", "default", huddle_default_method(), "methods", list);
}

static int run_methods(const cli_arguments *arguments) {
    if (argument(arguments, "json") != NULL) {
        print_json(methods_json());
        return EXIT_DONE;
    }
    for (const huddle_method_text *const *method = huddle_methods(); *method != NULL; method++) {
        bool chosen = strcmp((*method)->name, huddle_default_method()) == 0;
        printf("%-12s%s%s\n%12s", (*method)->name, (*method)->title, chosen ? " (default)" : "",
               "");
        print_wrapped(stdout, (*method)->summary, 12, 12);
    }
    return EXIT_DONE;
}

static const cli_flag methods_flags[] = {
    {"json", 0, FLAG_SWITCH, NULL, "print JSON instead of text"}, {0}};

const cli_command methods_command = {
    .name = "methods",
    .operands = "",
    .summary = "list the clustering methods",
    .groups = {{"Options", methods_flags}, {"Other options", common_flags}},
    .run = run_methods};
