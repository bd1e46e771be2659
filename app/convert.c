/* huddle convert: writes a data set in another format; huddle generate: points of a known shape. */
#include "cli/text.h"
#include "commands.h"
#include "input.h"
#include "output.h"
#include "session.h"
#include "streams.h"

/* The formats of data on stdout: endings without the dot. */
#define FORMAT_FLAG                                                                                \
    {                                                                                              \
        "format", 0, FLAG_CHOICE, "NAME",                                                          \
            "the format on stdout; that of a file is determined by its extension",                 \
            .values = {"csv", "tsv", "npy", "npz", "mat", "h5", "svm"}, .default_text = "csv"      \
    }

static int check_target(const cli_arguments *arguments, const char *path) {
    static const char *const endings[] = {".csv", ".tsv",  ".txt", ".npy",    ".npz", ".mat",
                                          ".h5",  ".hdf5", ".svm", ".libsvm", NULL};
    int result = output_check_ending(path, "data", endings);
    if (result == EXIT_DONE && argument(arguments, "format") != NULL && streams_shown(path) == path)
        result = usage_error("%s: --format is for stdout; the extension determines the format of a "
                             "file",
                             path);
    STEP(outputs_check(arguments, NULL));
    return result;
}

/* "moons.csv: 1000 points, 2 features, 2 classes". */
static void print_data_note(const huddle_data *data, const char *name) {
    char classes[48] = "";
    if (data->labels != NULL)
        snprintf(classes, sizeof classes, ", %d class%s", data->n_classes,
                 data->n_classes == 1 ? "" : "es");
    print_note("%s: %lld point%s, %lld feature%s%s", name, (long long)data->total_rows,
               plural(data->total_rows), (long long)data->points.d, plural(data->points.d),
               classes);
}

/* Both ends are checked before anything is read. A target that is also the source would be
 * replaced while it is mapped. Generated points need no note if they are written to stdout. */
static int write_data(const cli_arguments *arguments, const char *source, const char *target,
                      const huddle_read_options *options, bool generated) {
    huddle_data data = {0};
    huddle_context *context = NULL;
    int result = check_target(arguments, target);
    STEP(session_begin(arguments, &context));
    STEP(streams_read_input());
    STEP(input_read(context, arguments, source, options, &data));
    clear_progress();
    STEP(call_result(huddle_data_write(context, &data, target), target));
    if (result == EXIT_DONE && (!generated || streams_shown(target) == target))
        print_data_note(&data, streams_shown(target));
    huddle_data_free(&data);
    session_end(context);
    return result;
}

static int run_convert(const cli_arguments *arguments) {
    huddle_read_options options = {.exact = argument(arguments, "float32") == NULL};
    return write_data(arguments, arguments->operands[0], arguments->operands[1], &options, false);
}

static const cli_flag convert_flags[] = {
    FORMAT_FLAG,
    {"float32", 0, FLAG_SWITCH, NULL,
     "round to float32, the precision that huddle computes with: half the size, and .npy is read "
     "without a copy; columns that would lose their digits stay float64"},
    {0}};

const cli_command convert_command = {
    {"convert", "IN OUT", 2, 2, "write a data set in another format", run_convert},
    .reads = true,
    .stream = "data.csv",
    .text = "IN is any data set that huddle reads (see huddle help info). The extension of OUT "
            "determines the format: .csv, .tsv, .txt, .npy (points only), .npz, .mat, .h5, .hdf5, "
            ".svm or .libsvm. IN may be -, stdin, and OUT may be -, stdout. Numbers keep all their "
            "digits: doubles and 32-bit and 64-bit integers are written as float64, smaller types "
            "and images as float32, text as float64 unless float32 contains all its numbers.",
    .words = huddle_data_kinds,
    .groups = {{"Options", convert_flags},
               {"Input", input_flags},
               {"Generators", seeded_flags},
               {"Other options", quiet_flags}},
    .examples = {"huddle convert faces.mat faces.csv",
                 "huddle convert digits threes.npz --classes 3 --per-class 50",
                 "huddle convert faces.mat - | head"}};

/* Generated points are read like any data set, so that seed, noise and number mean the same
 * everywhere. */
static int run_generate(const cli_arguments *arguments) {
    const char *kind = arguments->operands[0];
    if (find_name("kind", kind, huddle_data_kinds(), "help generate") < 0)
        return EXIT_USAGE;
    return write_data(arguments, kind, argument(arguments, "output"), NULL, true);
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
    {"generate", "KIND", 1, 1, "generate points of a known shape", run_generate},
    .text = "KIND is moons, rings, spirals, blobs, unequal (a large and two small discs) or "
            "swissroll, or the built-in data set digits.",
    .words = huddle_data_kinds,
    .groups = {{"Options", generate_flags}, {"Other options", quiet_flags}},
    .examples = {"huddle generate moons > moons.csv",
                 "huddle generate rings --n 3000 --noise 0.1 -o rings.npz"}};
