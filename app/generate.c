/* huddle generate: points of a known shape. */
#include "commands.h"
#include "input.h"
#include "output.h"
#include "session.h"
#include "streams.h"

/* Generated points are read like any data set, so that seed, noise and number mean the same
 * everywhere. The note is on stderr; data on stdout need none. */
static int run_generate(const cli_arguments *arguments) {
    const char *kind = arguments->operands[0], *path = argument(arguments, "output");
    huddle_data data = {0};
    huddle_context *context = NULL;
    if (find_name("kind", kind, huddle_data_kinds(), "help generate") < 0)
        return EXIT_USAGE;
    int result = output_check_data(arguments, path);
    STEP(session_begin(arguments, &context));
    STEP(input_read(context, arguments, kind, NULL, &data));
    clear_progress();
    STEP(call_result(huddle_data_write(context, &data, path), path));
    if (result == EXIT_DONE && streams_shown(path) == path)
        input_note(&data, path);
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
