/* huddle convert: writes a data set in another format. */
#include "commands.h"
#include "input.h"
#include "output.h"
#include "session.h"
#include "streams.h"

/* Both ends are checked before anything is read. A target that is also the source would be
 * replaced while it is mapped. */
static int run_convert(const cli_arguments *arguments) {
    const char *source = arguments->operands[0], *target = arguments->operands[1];
    input_choice choice = {.exact = argument(arguments, "float32") == NULL};
    huddle_data data = {0};
    huddle_context *context = NULL;
    int result = output_check_data(arguments, target);
    STEP(session_begin(arguments, &context));
    STEP(streams_read_input());
    STEP(input_read(context, arguments, source, &choice, &data));
    STEP(call_result(huddle_data_write(context, &data, target), target));
    if (result == EXIT_DONE)
        input_note(&data, streams_shown(target));
    huddle_data_free(&data);
    session_end(context);
    return result;
}

static const cli_flag convert_flags[] = {
    FORMAT_FLAG,
    {"float32", 0, FLAG_SWITCH, NULL,
     "round to float32, the precision that huddle computes with: half the size, and .npy is read "
     "without a copy; columns that would lose their digits stay float64"},
    {0}};

const cli_command convert_command = {
    .name = "convert",
    .operands = "IN OUT",
    .min_operands = 2,
    .max_operands = 2,
    .reads = true,
    .stream = "data.csv",
    .summary = "write a data set in another format",
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
                 "huddle convert faces.mat - | head"},
    .run = run_convert};
