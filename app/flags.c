/* Flags that several commands share. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

/* The values of options->missing, in the order of hd_io_missing. */
static const char *const *missing_rules(void) {
    static const char *const rules[] = {"error", "drop", "mean", "median", NULL};
    return rules;
}

static const char *const *header_rules(void) {
    static const char *const rules[] = {"auto", "yes", "no", NULL};
    return rules;
}

/* The flags mirror huddle_read_options. */
const cli_flag input_flags[] = {
    {.name = "x",
     .kind = FLAG_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "the points: arrays of a container, which are concatenated, or columns of a table, by "
             "name or position, such as a,b,c or 2-64; put a name that contains a comma in "
             "double quotes, or repeat --x"},
    {.name = "y",
     .kind = FLAG_TEXT,
     .value = "NAME",
     .repeats = true,
     .reads = true,
     .help = "the labels: likewise, or a file of labels, or none"},
    {.name = "transpose", .kind = FLAG_SWITCH, .help = "samples are columns, not rows"},
    {.name = "header",
     .kind = FLAG_CHOICE,
     .value = "RULE",
     .choices = header_rules,
     .default_text = "auto",
     .help = "whether the first row of a table has the names of the columns; auto: as it looks"},
    {.name = "missing",
     .kind = FLAG_CHOICE,
     .value = "RULE",
     .choices = missing_rules,
     .default_text = "error",
     .help = "missing values of a table (empty, NA, ?): refuse them, drop their rows, or replace "
             "them by the mean or median of the column"},
    {.name = "encode",
     .kind = FLAG_SWITCH,
     .help = "encode the text columns of a table as features, one per distinct text (one-hot)"},
    {.name = "gray", .kind = FLAG_SWITCH, .help = "read colour images as gray ones"},
    {.name = "image",
     .kind = FLAG_TEXT,
     .value = "SIZE",
     .help =
         "what each row shows, for reports: HEIGHTxWIDTH, HEIGHTxWIDTHx3, or 3xHEIGHTxWIDTH (all "
         "red values first), with :rows or :columns after it if pixels run that way; none; "
         "default: inferred"},
    {.name = "classes",
     .kind = FLAG_TEXT,
     .value = "LIST",
     .help = "keep only these classes, given by their values in the file, such as 11-36,40"},
    {.name = "per-class",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .help = "keep only the first N points of each class"},
    {.name = "n",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .default_text = "1000",
     .help = "number of points to generate"},
    {.name = "noise",
     .kind = FLAG_NUMBER,
     .value = "NUMBER",
     .help = "noise of generated points; default: depends on the generator"},
    {0}};

/* Only for commands that run no method: methods have an option of the same name. */
const cli_flag seeded_flags[] = {{.name = "seed",
                                  .kind = FLAG_COUNT,
                                  .value = "N",
                                  .default_text = "0",
                                  .help = "seed of generated points"},
                                 {0}};

#define HELP_FLAG                                                                                  \
    { .name = "help", .letter = 'h', .kind = FLAG_SWITCH, .help = "print this help and exit" }
#define VERSION_FLAG                                                                               \
    { .name = "version", .letter = 'V', .kind = FLAG_SWITCH, .help = "print the version and exit" }

const cli_flag common_flags[] = {HELP_FLAG, VERSION_FLAG, {0}};

const cli_flag quiet_flags[] = {
    {.name = "quiet",
     .letter = 'q',
     .kind = FLAG_SWITCH,
     .help = "print only errors on stderr: no progress and no notes"},
    {.name = "verbose",
     .letter = 'v',
     .kind = FLAG_SWITCH,
     .help = "print more on stderr: the version, threads and engine, when each stage begins, and "
             "the files that are written"},
    HELP_FLAG,
    VERSION_FLAG,
    {0}};

/* A paragraph of the help of every command that reads DATA. */
const char data_text[] =
    "DATA is a file (CSV or TSV, ARFF, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX; all but "
    "HDF5 also compressed by gzip, bzip2, xz or zstd), a folder of PGM, PPM, PNG, JPEG, BMP or "
    "TIFF images with one subfolder per class, a TIFF file of several pages, the built-in data "
    "set digits, a generator (moons, rings, spirals, blobs, unequal, swissroll), or - for stdin, "
    "whose content determines the format. In a container, arrays with conventional names (X, fea, "
    "data ... and y, gnd, labels ...) are used unless --x and --y name others.";
