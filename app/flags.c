/* Flags that several commands share. */
#include "commands.h"

/* The flags mirror huddle_read_options. */
const cli_flag input_flags[] = {
    {"x", 0, FLAG_TEXT, "NAME",
     "the points: arrays of a container, which are concatenated, or columns of a table, by name or "
     "position, such as a,b,c or 2-64; put a name that contains a comma in double quotes, or "
     "repeat --x",
     .repeats = true},
    {"y", 0, FLAG_TEXT, "NAME", "the labels: likewise, or a file of labels, or none",
     .repeats = true, .reads = true},
    {"transpose", 0, FLAG_SWITCH, NULL, "samples are columns, not rows"},
    {"header", 0, FLAG_CHOICE, "RULE",
     "whether the first row of a table has the names of the columns; auto: as it looks",
     .values = {"auto", "yes", "no"}, .default_text = "auto"},
    {"missing", 0, FLAG_CHOICE, "RULE",
     "missing values of a table (empty, NA, ?): refuse them, drop their rows, or replace them by "
     "the mean or median of the column",
     .values = {"error", "drop", "mean", "median"}, .default_text = "error"},
    {"encode", 0, FLAG_SWITCH, NULL,
     "encode the text columns of a table as features, one per distinct text (one-hot)"},
    {"gray", 0, FLAG_SWITCH, NULL, "read colour images as gray ones"},
    {"image", 0, FLAG_TEXT, "SIZE",
     "what each row shows, for reports: HEIGHTxWIDTH, HEIGHTxWIDTHx3, or 3xHEIGHTxWIDTH (all red "
     "values first), with :rows or :columns after it if pixels run that way; none; default: "
     "inferred"},
    {"classes", 0, FLAG_TEXT, "LIST",
     "keep only these classes, given by their values in the file, such as 11-36,40"},
    {"per-class", 0, FLAG_COUNT, "N", "keep only the first N points of each class", .min = 1},
    {"n", 0, FLAG_COUNT, "N", "number of points to generate", .min = 1, .default_text = "1000"},
    {"noise", 0, FLAG_NUMBER, "NUMBER",
     "noise of generated points; default: depends on the generator"},
    {0}};

/* Only for commands that run no method: methods have an option of the same name. */
const cli_flag seeded_flags[] = {
    {"seed", 0, FLAG_COUNT, "N", "seed of generated points", .default_text = "0"}, {0}};

#define HELP_FLAG                                                                                  \
    { "help", 'h', FLAG_SWITCH, NULL, "print this help and exit" }
#define VERSION_FLAG                                                                               \
    { "version", 'V', FLAG_SWITCH, NULL, "print the version and exit" }

const cli_flag common_flags[] = {HELP_FLAG, VERSION_FLAG, {0}};

const cli_flag quiet_flags[] = {
    {"quiet", 'q', FLAG_SWITCH, NULL, "print only errors on stderr: no progress and no notes"},
    {"verbose", 'v', FLAG_SWITCH, NULL,
     "print more on stderr: the version, threads and engine, when each stage begins, and the files "
     "that are written"},
    HELP_FLAG,
    VERSION_FLAG,
    {0}};

const char data_text[] =
    "DATA is a file (CSV or TSV, ARFF, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX; all but "
    "HDF5 also compressed by gzip, bzip2, xz or zstd), a folder of PGM, PPM, PNG, JPEG, BMP or "
    "TIFF images with one subfolder per class, a TIFF file of several pages, the built-in data set "
    "digits, a generator (moons, rings, spirals, blobs, unequal, swissroll), or - for stdin, whose "
    "content determines the format. In a container, arrays with conventional names (X, fea, data "
    "... and y, gnd, labels ...) are used unless --x and --y name others.";
