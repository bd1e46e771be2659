/* huddle generate: points of a known shape. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "output.h"
#include "session.h"
#include "streams.h"

/* The note is on stderr; data on stdout need none. */
static int write_data(huddle_context *context, const huddle_data *data, const char *path) {
    huddle_status status = huddle_data_write(context, data, path);
    if (status != HUDDLE_OK)
        return failed_call(status, path);
    char text[128];
    input_describe(data, text, sizeof text);
    if (streams_shown(path) == path)
        print_note("%s: %s", path, text);
    return EXIT_DONE;
}

/* Generated points are read like any data set, so that seed, noise and number mean the same
 * everywhere. */
static int run_generate(const cli_arguments *arguments) {
    const char *kind = arguments->operands[0], *path = argument(arguments, "output");
    huddle_data data = {0};
    if (find_name("kind", kind, huddle_data_kinds(), "help generate") < 0)
        return EXIT_USAGE;
    int result = output_check_ending(path, "data", data_endings);
    STEP(output_check_format(arguments, path));
    STEP(outputs_check(arguments, NULL));
    huddle_context *context = result == EXIT_DONE ? session_begin(arguments, &result) : NULL;
    if (context == NULL)
        return result;
    result = input_read(context, arguments, kind, NULL, &data);
    clear_progress();
    STEP(write_data(context, &data, path));
    huddle_data_free(&data);
    session_end(context);
    return result;
}

/* The help texts repeat those of input_flags in the words of this command. */
static const cli_flag generate_flags[] = {
    {"n", 0, FLAG_COUNT, "N", "number of points to generate", .min = 1, .default_text = "1000"},
    {"noise", 0, FLAG_NUMBER, "NUMBER", "noise; default: depends on KIND"},
    {"seed", 0, FLAG_COUNT, "N", "seed of the random numbers", .default_text = "0"},
    {"output", 'o', FLAG_FILE, "FILE",
     "write to this file, in the format of its extension (.csv, .tsv, .txt, .npy, .npz, .mat, .h5, "
     ".hdf5, .svm or .libsvm); -: stdout",
     .stream = "data.csv", .default_text = "-"},
    FORMAT_FLAG,
    {0}};

const cli_command generate_command = {
    .name = "generate",
    .operands = "KIND",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "generate points of a known shape",
    .text = "KIND is moons, rings, spirals, blobs, unequal (a large and two small discs) or "
            "swissroll, or the built-in data set digits.",
    .words = huddle_data_kinds,
    .groups = {{"Options", generate_flags}, {"Other options", quiet_flags}},
    .examples = {"huddle generate moons > moons.csv",
                 "huddle generate rings --n 3000 --noise 0.1 -o rings.npz"},
    .run = run_generate};
